// SPDX-License-Identifier: GPL-2.0
/*
 * Memory of regions. See region.h.
 *
 * User memory is pinned and registered by the device's driver, in large
 * pieces, if the driver does that for the kernel. Else it is pinned here and, as
 * memory of the kernel, fast-registered, in pieces that the device has a page
 * list for. Memory that the peer is not offered is only pinned.
 */

#include "region.h"

#include <linux/mm.h>
#include <linux/moduleparam.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <rdma/iter.h>

#include "ep.h"

/*
 * An entry has 32 bits for its length. But soft-RoCE keeps 16 bytes for each
 * page in one piece of memory, which more than that makes hard to get.
 */
#define RSOCK_CHUNK_MAX		SZ_256M
/* Each chunk's bytes are numbered from here plus the offset in their page */
#define RSOCK_CHUNK_IOVA	0x100000

static bool rsock_fast_reg_user;
module_param_named(fast_reg_user, rsock_fast_reg_user, bool, 0444);
MODULE_PARM_DESC(fast_reg_user,
		 "Never have drivers register user memory (default N)");

#define RSOCK_REGION_ACCESS	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE)

/**
 * rsock_region_alloc() - make a region that has no offsets and no memory yet
 * @head: bytes of its first page that are not part of it
 * @len: bytes, not 0
 * @chunk_max: rsock_region_chunk_max()
 * @offered: to the peer
 *
 * Return: the region with one reference, or NULL.
 */
struct rsock_region *rsock_region_alloc(u32 head, u64 len, u64 chunk_max,
					bool offered)
{
	u64 nr = offered ? DIV_ROUND_UP_ULL(head + len, chunk_max) : 0;
	struct rsock_region *r;
	unsigned int i;

	if (nr > RSOCK_IOMAP_MAX)
		return NULL;
	r = kzalloc(struct_size(r, chunk, nr), GFP_KERNEL_ACCOUNT);
	if (!r)
		return NULL;
	refcount_set(&r->ref, 1);
	r->head = head;
	r->len = len;
	r->chunk_max = chunk_max;
	r->offered = offered;
	r->nr = nr;
	for (i = 0; i < nr; i++)
		INIT_LIST_HEAD(&r->chunk[i].node);
	return r;
}

void rsock_region_put(struct rsock_region *r)
{
	if (!refcount_dec_and_test(&r->ref))
		return;
	rsock_buf_free(&r->buf);
	kfree(r);
}

/**
 * rsock_region_place() - lay the chunks over offsets
 * @r: region
 * @offset: of its first byte. Each chunk but the first begins with a page
 */
void rsock_region_place(struct rsock_region *r, u64 offset)
{
	u64 head = r->head, left = r->len;
	struct rsock_chunk *c;

	r->node.start = offset;
	r->node.last = offset + r->len - 1;
	for (c = r->chunk; c < r->chunk + r->nr; c++) {
		c->entry.offset = offset;
		c->entry.sge.addr = RSOCK_CHUNK_IOVA + head;
		c->entry.sge.len = min(left, r->chunk_max - head);
		offset += c->entry.sge.len;
		left -= c->entry.sge.len;
		head = 0;
	}
}

/* Does ib_reg_user_mr() of the driver work for a kernel user? */
static bool rsock_can_reg_user(const struct ib_device *dev)
{
	if (rsock_fast_reg_user)
		return false;
	switch (dev->ops.driver_id) {
	case RDMA_DRIVER_RXE:
	case RDMA_DRIVER_MLX5:
		return true;
	default:
		/*
		 * Some expect what only user space passes; siw takes no
		 * address for it but the user's own
		 */
		return false;
	}
}

/**
 * rsock_region_chunk_max() - how much memory goes into one chunk
 * @ep: endpoint that is or was connected
 * @user: user memory, which only one may ask about who works on regions; else
 *	that of the kernel
 *
 * Return: bytes, a multiple of the page size.
 */
u64 rsock_region_chunk_max(const struct rsock_ep *ep, bool user)
{
	if (user && rsock_can_reg_user(ep->pd->device))
		return RSOCK_CHUNK_MAX;
	return min_t(u64, RSOCK_CHUNK_MAX, (u64)ep->mr_pages * PAGE_SIZE);
}

/* The driver pins the memory, too */
static int rsock_chunk_register_user(struct rsock_ep *ep,
				     const struct rsock_region *r,
				     struct rsock_chunk *c)
{
	u64 addr = r->addr + (c->entry.offset - r->node.start);
	struct ib_mr *mr;

	mr = ib_reg_user_mr(ep->pd, addr, c->entry.sge.len, c->entry.sge.addr,
			    RSOCK_REGION_ACCESS);
	if (IS_ERR(mr))
		return PTR_ERR(mr);
	c->mr = mr;
	return 0;
}

/**
 * rsock_region_wait() - wait until something is so
 * @ep: endpoint; ep->io.wait is where it is told
 * @r: for which region
 * @is_so: is it?
 * @arg: for @is_so
 *
 * One who is killed does not wait for its own memory; for that of users in the
 * kernel it does, since their connection is not only that task's.
 *
 * Return: false if it was not for as long as a peer may hold up anybody.
 */
bool rsock_region_wait(struct rsock_ep *ep, const struct rsock_region *r,
		       bool (*is_so)(struct rsock_ep *ep, void *arg), void *arg)
{
	if (r->buf.lent)
		return wait_event_timeout(ep->io.wait, is_so(ep, arg),
					  RSOCK_IOMAP_TIMEOUT);
	return wait_event_killable_timeout(ep->io.wait, is_so(ep, arg),
					   RSOCK_IOMAP_TIMEOUT) > 0;
}

/**
 * struct rsock_reg - a registration
 * @wr: work request
 * @seq: sq.posted after it, or sq.done if there is no connection any more
 */
struct rsock_reg {
	struct ib_reg_wr wr;
	u32 seq;
};

/* Post it, unless there is no connection. Returns false if it must wait. */
static bool rsock_reg_post(struct rsock_ep *ep, void *arg)
{
	struct rsock_reg *reg = arg;
	bool done = true;

	spin_lock_bh(&ep->lock);
	reg->seq = ep->sq.done;
	if (ep->state == RSOCK_EP_OPEN) {
		done = rsock_sq_post_reg(ep, &reg->wr);
		if (done)
			reg->seq = ep->sq.posted;
	}
	spin_unlock_bh(&ep->lock);
	return done;
}

static void rsock_reg_hold(struct rsock_ep *ep)
{
	spin_lock_bh(&ep->lock);
	rsock_sq_hold(&ep->sq);
	spin_unlock_bh(&ep->lock);
}

/* What waited meanwhile goes on */
static void rsock_reg_release(struct rsock_ep *ep)
{
	spin_lock_bh(&ep->lock);
	rsock_sq_release(&ep->sq);
	rsock_rx_update(ep);
	rsock_tx_push(ep);
	spin_unlock_bh(&ep->lock);
}

/* A dying queue pair may still look at the memory region until it is drained */
static bool rsock_reg_done(struct rsock_ep *ep, void *arg)
{
	const struct rsock_reg *reg = arg;
	bool done;

	spin_lock_bh(&ep->lock);
	done = (s32)(ep->sq.done - reg->seq) >= 0 ||
	       ep->state == RSOCK_EP_DEAD;
	spin_unlock_bh(&ep->lock);
	return done;
}

/*
 * Have it registered. mmap() holds the mmap lock, so that a peer that receives
 * nothing, and thereby holds up the send queue, must not make it wait for ever.
 */
static int rsock_reg_wait(struct rsock_ep *ep, const struct rsock_region *r,
			  struct rsock_reg *reg)
{
	bool posted;

	rsock_reg_hold(ep);
	posted = rsock_region_wait(ep, r, rsock_reg_post, reg);
	rsock_reg_release(ep);
	if (posted && rsock_region_wait(ep, r, rsock_reg_done, reg))
		return 0;
	/* Who is killed before it is posted need not have waited for long */
	if (posted || !fatal_signal_pending(current))
		rsock_ep_kill(ep, ETIMEDOUT, RSOCK_MIB_REGISTERTIMEOUTS);
	wait_event(ep->io.wait, rsock_reg_done(ep, reg));
	return -ETIMEDOUT;
}

static int rsock_chunk_fast_reg(struct rsock_ep *ep, struct rsock_region *r,
				struct rsock_chunk *c)
{
	u64 at = r->head + (c->entry.offset - r->node.start);
	u64 iova = c->entry.sge.addr, len = c->entry.sge.len;
	struct rsock_reg reg = {
		.wr.wr.opcode	= IB_WR_REG_MR,
		.wr.access	= RSOCK_REGION_ACCESS,
	};
	struct ib_mr *mr;
	int err;

	mr = ib_alloc_mr(ep->pd, IB_MR_TYPE_MEM_REG,
			 PFN_UP(offset_in_page(iova) + len));
	if (IS_ERR(mr))
		return PTR_ERR(mr);
	c->mr = mr;
	err = rsock_dma_to_mr(r->dma + at / PAGE_SIZE, len, mr, iova);
	if (err)
		return err;
	reg.wr.mr = mr;
	reg.wr.key = mr->rkey;
	return rsock_reg_wait(ep, r, &reg);
}

/* Pin user memory, and learn where the device finds its pages */
static int rsock_region_pin(struct rsock_ep *ep, struct rsock_region *r)
{
	struct ib_block_iter block;
	struct ib_umem *umem;
	size_t i = 0;

	umem = ib_umem_get(ep->pd->device, r->addr, r->len,
			   r->offered ? RSOCK_REGION_ACCESS : 0);
	if (IS_ERR(umem))
		return PTR_ERR(umem);
	r->umem = umem;
	if (!r->offered)
		return 0;
	r->dma = kvcalloc(ib_umem_num_pages(umem), sizeof(*r->dma),
			  GFP_KERNEL_ACCOUNT);
	if (!r->dma)
		return -ENOMEM;
	rdma_umem_for_each_dma_block(umem, &block, PAGE_SIZE)
		r->dma[i++] = rdma_block_iter_dma_address(&block);
	return 0;
}

/* Have the pages ready for the device, unless its driver does that */
static int rsock_region_prepare(struct rsock_ep *ep, struct rsock_region *r)
{
	int err;

	if (r->addr)
		return rsock_region_pin(ep, r);
	err = rsock_buf_map(&r->buf, ep->pd->device);
	r->dma = r->buf.dma;
	return err;
}

/**
 * rsock_region_register() - make the memory accessible
 * @ep: endpoint
 * @r: region in state SETUP with offsets; the caller is its user
 *
 * Context: process; sleeps.
 *
 * Return: 0 or a negative errno; rsock_region_unregister() is due in any case.
 */
int rsock_region_register(struct rsock_ep *ep, struct rsock_region *r)
{
	bool by_driver = r->addr && r->offered &&
			 rsock_can_reg_user(ep->pd->device);
	struct rsock_chunk *c;
	int err = 0;

	if (!by_driver)
		err = rsock_region_prepare(ep, r);
	for (c = r->chunk; c < r->chunk + r->nr && !err; c++) {
		err = by_driver ? rsock_chunk_register_user(ep, r, c) :
				  rsock_chunk_fast_reg(ep, r, c);
		if (!err)
			c->entry.sge.key = c->mr->rkey;
	}
	return err;
}

/**
 * rsock_region_unregister() - end all access to the memory
 * @r: region, registered as far as it came
 */
void rsock_region_unregister(struct rsock_region *r)
{
	struct rsock_chunk *c;

	for (c = r->chunk; c < r->chunk + r->nr; c++) {
		if (c->mr)
			ib_dereg_mr(c->mr);
		c->mr = NULL;
	}
	rsock_buf_unmap(&r->buf);
	if (r->umem) {
		kvfree(r->dma);
		ib_umem_release(r->umem);
		r->umem = NULL;
	}
	r->dma = NULL;
}
