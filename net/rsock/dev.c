// SPDX-License-Identifier: GPL-2.0
/*
 * RDMA devices: which are there, and which endpoints use them.
 *
 * When a device goes away, every endpoint on it is killed and waited for: the
 * sockets live on with an error, what they had from the device does not, be it
 * only an address. An endpoint's teardown waits for its own queue pair, which is
 * short, but with soft-iWARP may be for TCP to connect; and for those who are just
 * mapping or unmapping memory. These can sleep for as long as the owner of the
 * memory likes, with part of it registered: then the removal is held up for as
 * long.
 */

#include "dev.h"

#include <linux/atomic.h>
#include <linux/completion.h>
#include <linux/slab.h>
#include <rdma/ib_verbs.h>

#include "ep.h"

/* Guards each device's list and @removed, and ep->dev_node. Softirq safe. */
static DEFINE_SPINLOCK(rsock_devs_lock);

/**
 * struct rsock_dev - a device that endpoints can use
 * @ibdev: the device
 * @eps: endpoints on it
 * @vectors: completion vector of the next one that connects, and that accepts
 * @removed: no more may join
 * @empty: completed when @removed and the last endpoint has left
 */
struct rsock_dev {
	struct ib_device *ibdev;
	struct list_head eps;
	atomic_t vectors[2];
	bool removed;
	struct completion empty;
};

static struct ib_client rsock_ib_client;

/*
 * With InfiniBand and RoCE, RDMA writes with immediate carry the stream; iWARP
 * lacks them, see iwarp.c. A device whose ports differ is left alone.
 */
static bool rsock_dev_usable(struct ib_device *ibdev)
{
	const struct ib_device_attr *attr = &ibdev->attrs;
	u32 port;

	if (!(attr->device_cap_flags & IB_DEVICE_MEM_MGT_EXTENSIONS) ||
	    attr->max_fast_reg_page_list_len < RSOCK_MIN_MR_PAGES ||
	    attr->max_qp_wr < RSOCK_MIN_WR || attr->max_cqe < 2 * RSOCK_MIN_WR)
		return false;
	rdma_for_each_port(ibdev, port)
		if (!rdma_cap_ib_cm(ibdev, port) &&
		    !rdma_cap_iw_cm(ibdev, port))
			return false;
	return true;
}

static int rsock_dev_add(struct ib_device *ibdev)
{
	struct rsock_dev *dev;

	if (!rsock_dev_usable(ibdev))
		return -EOPNOTSUPP;
	dev = kzalloc(sizeof(*dev), GFP_KERNEL);
	if (!dev)
		return -ENOMEM;
	dev->ibdev = ibdev;
	INIT_LIST_HEAD(&dev->eps);
	init_completion(&dev->empty);
	ib_set_client_data(ibdev, &rsock_ib_client, dev);
	return 0;
}

static void rsock_dev_remove(struct ib_device *ibdev, void *client_data)
{
	struct rsock_dev *dev = client_data;
	struct rsock_ep *ep;

	/* rdma_cm goes after us: its handlers must not find @dev any more */
	ib_set_client_data(ibdev, &rsock_ib_client, NULL);
	spin_lock_bh(&rsock_devs_lock);
	dev->removed = true;
	list_for_each_entry(ep, &dev->eps, dev_node)
		rsock_ep_kill(ep, ENETDOWN, RSOCK_MIB_DEVICEREMOVALS);
	if (list_empty(&dev->eps))
		complete(&dev->empty);
	spin_unlock_bh(&rsock_devs_lock);

	wait_for_completion(&dev->empty);
	kfree(dev);
}

static struct ib_client rsock_ib_client = {
	.name	= "rsock",
	.add	= rsock_dev_add,
	.remove	= rsock_dev_remove,
};

/**
 * rsock_dev_attach() - use a device
 * @ep: endpoint whose cm_id has its device
 *
 * From now on, until rsock_dev_detach(), the device stays. So no cm_id is left
 * when it is rdma_cm's turn to be told of the removal: that goes on when the last
 * id has given back the device, but not yet its GID.
 *
 * Return: 0, also if it does already; or -ENODEV if the device is not usable or
 * on its way out.
 */
int rsock_dev_attach(struct rsock_ep *ep)
{
	struct rsock_dev *dev;
	int err = -ENODEV;

	if (ep->dev)
		return 0;
	spin_lock_bh(&rsock_devs_lock);
	dev = ib_get_client_data(ep->id->device, &rsock_ib_client);
	if (dev && !dev->removed) {
		list_add(&ep->dev_node, &dev->eps);
		ep->dev = dev;
		err = 0;
	}
	spin_unlock_bh(&rsock_devs_lock);
	return err;
}

/**
 * rsock_dev_detach() - use a device no more
 * @ep: endpoint, attached or not, with no verbs resources left
 */
void rsock_dev_detach(struct rsock_ep *ep)
{
	struct rsock_dev *dev = ep->dev;

	if (!dev)
		return;
	spin_lock_bh(&rsock_devs_lock);
	list_del(&ep->dev_node);
	ep->dev = NULL;
	if (dev->removed && list_empty(&dev->eps))
		complete(&dev->empty);
	spin_unlock_bh(&rsock_devs_lock);
}

/**
 * rsock_dev_vector() - choose a completion vector
 * @ep: endpoint that is attached to a device
 *
 * The vectors take turns. The core's own counter is one for all: if two ends are
 * made in turn, as on one host, each has every other vector, and for the rest
 * there are completion queues in the core's pool that nobody uses.
 *
 * Return: a number that is not negative, of which a remainder counts.
 */
int rsock_dev_vector(const struct rsock_ep *ep)
{
	return atomic_inc_return(&ep->dev->vectors[ep->passive]) & INT_MAX;
}

int rsock_dev_init(void)
{
	return ib_register_client(&rsock_ib_client);
}

void rsock_dev_exit(void)
{
	ib_unregister_client(&rsock_ib_client);
}
