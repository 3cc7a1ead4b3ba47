// SPDX-License-Identifier: GPL-2.0
/*
 * Memory of regions. See region.h.
 *
 * User memory is pinned and registered by the device's driver, in one piece if
 * it can. Memory of our own is fast-registered, in pieces that the device has a
 * page list for.
 */

#include "region.h"

#include <linux/mm.h>
#include <linux/slab.h>

#include "ep.h"

/* An entry has 32 bits for its length */
#define RSOCK_CHUNK_MAX		SZ_2G
/* Each chunk's bytes are numbered from here plus the offset in their page */
#define RSOCK_CHUNK_IOVA	0x100000

#define RSOCK_REGION_ACCESS	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE)

/**
 * rsock_region_alloc() - make a region that has no offsets and no memory yet
 * @addr: user address, or 0
 * @len: bytes, not 0
 * @chunk_max: rsock_region_chunk_max()
 * @offered: to the peer
 *
 * Return: the region with one reference, or NULL.
 */
struct rsock_region *rsock_region_alloc(u64 addr, u64 len, u64 chunk_max,
					bool offered)
{
	u64 nr = DIV_ROUND_UP_ULL(offset_in_page(addr) + len, chunk_max);
	struct rsock_region *r;
	unsigned int i;

	if (nr > RSOCK_IOMAP_MAX)
		return NULL;
	r = kzalloc(struct_size(r, chunk, nr), GFP_KERNEL_ACCOUNT);
	if (!r)
		return NULL;
	refcount_set(&r->ref, 1);
	r->addr = addr;
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
	u64 head = offset_in_page(r->addr), left = r->len;
	struct rsock_chunk *c;

	r->node.start = offset;
	r->node.last = offset + r->len - 1;
	for (c = r->chunk; left; c++) {
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
	switch (dev->ops.driver_id) {
	case RDMA_DRIVER_RXE:
	case RDMA_DRIVER_SIW:
	case RDMA_DRIVER_MLX5:
		return true;
	default:
		return false;	/* some expect what only user space passes */
	}
}

/**
 * rsock_region_chunk_max() - how much memory goes into one chunk
 * @ep: endpoint that is or was connected
 * @user: user memory, else our own
 *
 * Return: bytes, a multiple of the page size; 0 if the device cannot do it.
 */
u64 rsock_region_chunk_max(const struct rsock_ep *ep, bool user)
{
	const struct ib_device *dev = ep->pd->device;

	if (user)
		return rsock_can_reg_user(dev) ? RSOCK_CHUNK_MAX : 0;
	return min_t(u64, RSOCK_CHUNK_MAX,
		     (u64)dev->attrs.max_fast_reg_page_list_len * PAGE_SIZE);
}

static int rsock_chunk_register_user(struct rsock_ep *ep,
				     const struct rsock_region *r,
				     struct rsock_chunk *c)
{
	u64 addr = r->addr + (c->entry.offset - r->node.start);
	struct ib_mr *mr;

	mr = ib_reg_user_mr(ep->pd, addr, c->entry.sge.len, c->entry.sge.addr,
			    r->offered ? RSOCK_REGION_ACCESS : 0);
	if (IS_ERR(mr))
		return PTR_ERR(mr);
	c->mr = mr;
	return 0;
}

/* Post it if there is a slot for it. Returns false if it must wait. */
static bool rsock_reg_post(struct rsock_ep *ep, struct ib_reg_wr *reg, u32 *seq)
{
	bool done = true;

	spin_lock_bh(&ep->lock);
	*seq = ep->sq.done;
	if (ep->state == RSOCK_EP_OPEN) {
		done = rsock_sq_has_ctrl(&ep->sq);
		if (done) {
			ep->sq.ctrl_posted++;
			rsock_sq_post(ep, &reg->wr, 0, true);
			*seq = ep->sq.posted;
		}
	}
	spin_unlock_bh(&ep->lock);
	return done;
}

/* A dying queue pair may still look at the memory region until it is drained */
static bool rsock_reg_done(struct rsock_ep *ep, u32 seq)
{
	bool done;

	spin_lock_bh(&ep->lock);
	done = (s32)(ep->sq.done - seq) >= 0 || ep->state == RSOCK_EP_DEAD;
	spin_unlock_bh(&ep->lock);
	return done;
}

/*
 * Have it registered. mmap() holds the mmap lock, so that a peer that receives
 * nothing, and thereby holds up the send queue, must not make it wait for ever.
 */
static int rsock_reg_wait(struct rsock_ep *ep, struct ib_reg_wr *reg)
{
	u32 seq;

	if (wait_event_killable_timeout(ep->io.wait,
					rsock_reg_post(ep, reg, &seq),
					RSOCK_IOMAP_TIMEOUT) <= 0)
		return -ETIMEDOUT;
	if (wait_event_killable_timeout(ep->io.wait, rsock_reg_done(ep, seq),
					RSOCK_IOMAP_TIMEOUT) > 0)
		return 0;
	rsock_ep_kill(ep, ETIMEDOUT);
	wait_event(ep->io.wait, rsock_reg_done(ep, seq));
	return -ETIMEDOUT;
}

static int rsock_chunk_register_own(struct rsock_ep *ep,
				    struct rsock_region *r,
				    struct rsock_chunk *c)
{
	unsigned int first = (c->entry.offset - r->node.start) / PAGE_SIZE;
	unsigned int nr = c->entry.sge.len / PAGE_SIZE;
	struct ib_reg_wr reg = {
		.wr.opcode	= IB_WR_REG_MR,
		.access		= RSOCK_REGION_ACCESS,
	};
	struct ib_mr *mr;
	int err;

	mr = ib_alloc_mr(ep->pd, IB_MR_TYPE_MEM_REG, nr);
	if (IS_ERR(mr))
		return PTR_ERR(mr);
	c->mr = mr;
	err = rsock_buf_to_mr(&r->buf, first, nr, mr, c->entry.sge.addr);
	if (err)
		return err;
	reg.mr = mr;
	reg.key = mr->rkey;
	return rsock_reg_wait(ep, &reg);
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
	struct rsock_chunk *c;
	int err = 0;

	if (!r->addr)
		err = rsock_buf_map(&r->buf, ep->pd->device);
	for (c = r->chunk; c < r->chunk + r->nr && !err; c++) {
		err = r->addr ? rsock_chunk_register_user(ep, r, c) :
				rsock_chunk_register_own(ep, r, c);
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
}
