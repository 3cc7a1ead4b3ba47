// SPDX-License-Identifier: GPL-2.0
/*
 * What a connection takes at the least: rdma_cm and a queue pair, of the size
 * that a socket has, and nothing else. For tools/bench to compare with.
 *
 *	insmod rsock_bare.ko source=10.9.0.1 addr=10.9.0.2
 *	echo 100 >/sys/module/rsock_bare/parameters/connects	makes and ends so many
 *	cat /sys/module/rsock_bare/parameters/connects		so many a second
 *	echo 100 >/sys/module/rsock_bare/parameters/held	has so many open
 */

#include <linux/completion.h>
#include <linux/inet.h>
#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <net/net_namespace.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>

#include "../ep.h"

#define BARE_PORT	7999
#define BARE_BACKLOG	64
#define BARE_TIMEOUT	2000	/* ms */
/* As rsock_ep_create_qp() has them, with RoCE */
#define BARE_SEND_WR	(RSOCK_SQSIZE + RSOCK_SQ_CTRL + RSOCK_SQ_EXTRA)
#define BARE_RECV_WR	(RSOCK_RQSIZE + RSOCK_RQ_SLACK + 1)
#define BARE_CQE	(BARE_SEND_WR + BARE_RECV_WR)

static char *source, *addr;
module_param(source, charp, 0444);
module_param(addr, charp, 0444);

/**
 * struct bare - one end of a connection
 * @id: its cm_id
 * @pd: its protection domain
 * @cq: its completion queue, one of the device's
 * @step: the next step of rdma_cm is done, client only
 * @err: or has failed
 * @work: end it, server only
 * @held: one of those that are held, client only
 */
struct bare {
	struct rdma_cm_id *id;
	struct ib_pd *pd;
	struct ib_cq *cq;
	struct completion step;
	int err;
	struct work_struct work;
	struct list_head held;
};

static struct rdma_cm_id *listener;
static atomic_t ends = ATOMIC_INIT(0);	/* of the server */
static DECLARE_WAIT_QUEUE_HEAD(all_ended);
static struct workqueue_struct *ending;
static unsigned long rate;
static atomic_t opened;
static LIST_HEAD(held);			/* under the lock of parameters */
static unsigned int nr_held;

static void bare_free(struct bare *b)
{
	if (b->id && b->id->qp)
		rdma_destroy_qp(b->id);
	if (b->cq)
		ib_cq_pool_put(b->cq, BARE_CQE);
	if (b->pd)
		ib_dealloc_pd(b->pd);
	kfree(b);
}

static int bare_open(struct bare *b)
{
	struct ib_device *dev = b->id->device;
	struct ib_qp_init_attr attr = {
		.sq_sig_type	= IB_SIGNAL_REQ_WR,
		.qp_type	= IB_QPT_RC,
		.cap = {
			.max_send_wr	= BARE_SEND_WR,
			.max_recv_wr	= BARE_RECV_WR,
			.max_send_sge	= min(dev->attrs.max_send_sge, RSOCK_TX_FRAGS),
			.max_recv_sge	= 1,
		},
	};
	struct ib_cq *cq;
	struct ib_pd *pd;

	pd = ib_alloc_pd(dev, 0);
	if (IS_ERR(pd))
		return PTR_ERR(pd);
	b->pd = pd;
	/* The vectors take turns at each end, as those of AF_RSOCK do */
	cq = ib_cq_pool_get(dev, BARE_CQE, (atomic_inc_return(&opened) & INT_MAX) / 2,
			    IB_POLL_SOFTIRQ);
	if (IS_ERR(cq))
		return PTR_ERR(cq);
	b->cq = cq;
	attr.send_cq = cq;
	attr.recv_cq = cq;
	return rdma_create_qp(b->id, pd, &attr);
}

/* The server: ends a connection when the client has */

static void bare_end(struct work_struct *work)
{
	struct bare *b = container_of(work, struct bare, work);
	struct rdma_cm_id *id = b->id;

	bare_free(b);
	rdma_destroy_id(id);
	if (atomic_dec_and_test(&ends))
		wake_up(&all_ended);
}

/* A failure has rdma_cm destroy the cm_id */
static int bare_accept(struct rdma_cm_id *id)
{
	struct rdma_conn_param param = {};
	struct bare *b = kzalloc(sizeof(*b), GFP_KERNEL);
	int err;

	if (!b)
		return -ENOMEM;
	b->id = id;
	INIT_WORK(&b->work, bare_end);
	err = bare_open(b);
	if (!err) {
		id->context = b;
		atomic_inc(&ends);
		err = rdma_accept(id, &param);
		if (!err)
			return 0;
		atomic_dec(&ends);
	}
	bare_free(b);
	return err;
}

static int bare_server_event(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct bare *b = id->context;

	switch (event->event) {
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		return bare_accept(id);
	case RDMA_CM_EVENT_DISCONNECTED:
	case RDMA_CM_EVENT_CONNECT_ERROR:
	case RDMA_CM_EVENT_UNREACHABLE:
	case RDMA_CM_EVENT_REJECTED:
		queue_work(ending, &b->work);
		return 0;
	default:
		return 0;
	}
}

/* The client */

static int bare_client_event(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct bare *b = id->context;

	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
	case RDMA_CM_EVENT_ESTABLISHED:
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		return 0;
	default:
		b->err = event->status ?: -ECONNREFUSED;
	}
	complete(&b->step);
	return 0;
}

static int bare_wait(struct bare *b, int err)
{
	if (err)
		return err;
	wait_for_completion(&b->step);
	return b->err;
}

static int bare_sockaddr(const char *text, struct sockaddr_in *in)
{
	*in = (struct sockaddr_in){ .sin_family = AF_INET };
	return text && in4_pton(text, -1, (u8 *)&in->sin_addr, -1, NULL) ? 0 : -EINVAL;
}

static int bare_connect(struct bare *b)
{
	struct rdma_conn_param param = { .retry_count = 6, .rnr_retry_count = 6 };
	struct sockaddr_in from, to;
	int err;

	err = bare_sockaddr(source, &from) ?: bare_sockaddr(addr, &to);
	if (err)
		return err;
	to.sin_port = htons(BARE_PORT);
	err = bare_wait(b, rdma_resolve_addr(b->id, (struct sockaddr *)&from,
					     (struct sockaddr *)&to, BARE_TIMEOUT));
	if (!err)
		err = bare_wait(b, rdma_resolve_route(b->id, BARE_TIMEOUT));
	if (!err)
		err = bare_open(b);
	if (!err)
		err = bare_wait(b, rdma_connect(b->id, &param));
	return err;
}

static void bare_del(struct bare *b)
{
	struct rdma_cm_id *id = b->id;

	rdma_disconnect(id);
	if (id->qp)
		rdma_destroy_qp(id);
	rdma_destroy_id(id);
	b->id = NULL;
	bare_free(b);
}

/* Returns a connection or an ERR_PTR() */
static struct bare *bare_new(void)
{
	struct rdma_cm_id *id;
	struct bare *b;
	int err;

	b = kzalloc(sizeof(*b), GFP_KERNEL);
	if (!b)
		return ERR_PTR(-ENOMEM);
	init_completion(&b->step);
	id = rdma_create_id(&init_net, bare_client_event, b, RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(id)) {
		kfree(b);
		return ERR_CAST(id);
	}
	b->id = id;
	err = bare_connect(b);
	if (!err)
		return b;
	bare_del(b);
	return ERR_PTR(err);
}

static int bare_once(void)
{
	struct bare *b = bare_new();

	if (IS_ERR(b))
		return PTR_ERR(b);
	bare_del(b);
	return 0;
}

static int bare_hold(void)
{
	struct bare *b = bare_new();

	if (IS_ERR(b))
		return PTR_ERR(b);
	list_add(&b->held, &held);
	nr_held++;
	return 0;
}

static void bare_let_go(void)
{
	struct bare *b = list_first_entry(&held, struct bare, held);

	list_del(&b->held);
	nr_held--;
	bare_del(b);
}

static int connects_set(const char *val, const struct kernel_param *kp)
{
	ktime_t start = ktime_get();
	unsigned int i, nr;
	int err;

	err = kstrtouint(val, 0, &nr);
	for (i = 0; i < nr && !err; i++)
		err = bare_once();
	if (!err)
		rate = div64_u64((u64)nr * NSEC_PER_SEC,
				 max(ktime_to_ns(ktime_sub(ktime_get(), start)), 1));
	return err;
}

static const struct kernel_param_ops connects_ops = {
	.set = connects_set,
	.get = param_get_ulong,
};

module_param_cb(connects, &connects_ops, &rate, 0644);

static int held_set(const char *val, const struct kernel_param *kp)
{
	unsigned int nr;
	int err;

	err = kstrtouint(val, 0, &nr);
	while (!err && nr_held < nr)
		err = bare_hold();
	while (!err && nr_held > nr)
		bare_let_go();
	return err;
}

static const struct kernel_param_ops held_ops = {
	.set = held_set,
	.get = param_get_uint,
};

module_param_cb(held, &held_ops, &nr_held, 0644);

static int __init bare_init(void)
{
	struct sockaddr_in at;
	int err;

	err = bare_sockaddr(addr, &at);
	if (err)
		return err;
	at.sin_port = htons(BARE_PORT);
	ending = alloc_workqueue("rsock_bare", WQ_UNBOUND, 0);
	if (!ending)
		return -ENOMEM;
	listener = rdma_create_id(&init_net, bare_server_event, NULL, RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(listener)) {
		destroy_workqueue(ending);
		return PTR_ERR(listener);
	}
	err = rdma_bind_addr(listener, (struct sockaddr *)&at);
	if (!err)
		err = rdma_listen(listener, BARE_BACKLOG);
	if (err) {
		rdma_destroy_id(listener);
		destroy_workqueue(ending);
	}
	return err;
}

static void __exit bare_exit(void)
{
	while (nr_held)
		bare_let_go();
	rdma_destroy_id(listener);
	wait_event(all_ended, !atomic_read(&ends));
	destroy_workqueue(ending);
}

module_init(bare_init);
module_exit(bare_exit);
MODULE_DESCRIPTION("Connections of rdma_cm and nothing else, to measure");
MODULE_LICENSE("GPL");
