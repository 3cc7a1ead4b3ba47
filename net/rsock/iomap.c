// SPDX-License-Identifier: GPL-2.0
/*
 * Direct placement, the side that is written to. See iomap.h for the life of a
 * region.
 *
 * A region is one or more chunks: memory regions of their own, each with a slot
 * of the peer's table, as many as its length asks for. The peer learns of them
 * by an RDMA write to its table with an immediate, before anything that is sent
 * later. That they are gone one with RSOCK_FEAT_REVOKE is told, and answers when
 * nothing can follow that it had begun. Another one gets an empty entry: what it
 * had begun may still come, and then finds a dead key, which ends the
 * connection.
 */

#include "iomap.h"

#include <linux/hugetlb.h>
#include <linux/magic.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include <linux/rsock.h>

#include "ep.h"
#include "pernet.h"
#include "region.h"
#include "trace.h"

/* Control slots that are left for credit */
#define RSOCK_CTRL_SPARE	2
/* Regions of one connection. The peer's table limits only what it is offered */
#define RSOCK_REGIONS_MAX	1024

/**
 * rsock_io_init() - nothing is mapped
 * @io: zeroed
 */
void rsock_io_init(struct rsock_io *io)
{
	io->regions = RB_ROOT_CACHED;
	INIT_LIST_HEAD(&io->pending);
	INIT_LIST_HEAD(&io->revoking);
	init_waitqueue_head(&io->wait);
}

/* The region behind @r, or the first; in the order of offsets */
static struct rsock_region *rsock_region_next(struct rsock_io *io,
					      const struct rsock_region *r)
{
	struct interval_tree_node *node;

	node = interval_tree_iter_first(&io->regions, r ? r->node.last + 1 : 0,
					ULONG_MAX);
	return node ? container_of(node, struct rsock_region, node) : NULL;
}

/* Users */

/*
 * May the caller work on regions? Then they stay until it leaves. @late: also
 * when the socket has parted with the connection.
 */
static bool __rsock_io_enter(struct rsock_ep *ep, bool late)
{
	bool ok;

	spin_lock_bh(&ep->lock);
	ok = ep->state == RSOCK_EP_OPEN && (late || !ep->io.closed);
	ep->io.users += ok;
	spin_unlock_bh(&ep->lock);
	return ok;
}

static bool rsock_io_enter(struct rsock_ep *ep)
{
	return __rsock_io_enter(ep, false);
}

static void rsock_io_leave(struct rsock_ep *ep)
{
	spin_lock_bh(&ep->lock);
	if (!--ep->io.users && ep->io.parked)
		rsock_ep_queue_work(ep);
	spin_unlock_bh(&ep->lock);
}

/**
 * rsock_iomap_park() - the teardown has come to where regions are let go of
 * @ep: endpoint in state DEAD
 *
 * A user may sleep for as long as the owner of the memory likes, so that the work
 * does not wait for it: the last one to leave has rsock_ep_work() run again. But
 * until then the device cannot be removed.
 */
void rsock_iomap_park(struct rsock_ep *ep)
{
	spin_lock_bh(&ep->lock);
	ep->io.parked = true;
	spin_unlock_bh(&ep->lock);
}

/**
 * rsock_iomap_unpark() - may the teardown go on?
 * @ep: endpoint in any state
 *
 * Return: true once, when it was parked and there are no users.
 */
bool rsock_iomap_unpark(struct rsock_ep *ep)
{
	bool go;

	spin_lock_bh(&ep->lock);
	go = ep->io.parked && !ep->io.users;
	if (go)
		ep->io.parked = false;
	spin_unlock_bh(&ep->lock);
	return go;
}

/* Telling the peer */

static void rsock_chunk_post_entry(struct rsock_ep *ep, struct rsock_chunk *c,
				   const struct rsock_iomap_entry *e)
{
	u64 table = ep->peer.sgl.addr + ep->peer.sgl.len * RSOCK_SGE_LEN;
	u8 payload[RSOCK_IOMAP_LEN];

	rsock_iomap_encode(e, ep->swap, payload);
	rsock_sq_post_ctrl(ep, rsock_msg_encode(RSOCK_OP_IOMAP, c->slot),
			   table + c->slot * RSOCK_IOMAP_LEN, ep->peer.sgl.key,
			   payload, sizeof(payload), true);
}

static void rsock_post_revoke(struct rsock_ep *ep, u16 slot)
{
	u32 value = RSOCK_CTRL_REVOKE | slot << RSOCK_CTRL_SLOT_SHIFT;

	rsock_sq_post_ctrl(ep, rsock_msg_encode(RSOCK_OP_CTRL, value),
			   0, 0, NULL, 0, false);
}

static void rsock_chunk_post_revoke(struct rsock_ep *ep, struct rsock_chunk *c)
{
	static const struct rsock_iomap_entry empty;

	if (ep->features & RSOCK_FEAT_REVOKE)
		rsock_post_revoke(ep, c->slot);
	else
		rsock_chunk_post_entry(ep, c, &empty);
	c->seq = ep->sq.posted;
}

static bool rsock_iomap_may_tell(const struct rsock_ep *ep)
{
	return ep->state == RSOCK_EP_OPEN && rsock_sq_has_ctrl(&ep->sq) &&
	       ep->sq.ctrl_posted - ep->sq.ctrl_done <
	       RSOCK_SQ_CTRL - RSOCK_CTRL_SPARE;
}

static bool rsock_iomap_may_revoke(const struct rsock_ep *ep)
{
	return rsock_iomap_may_tell(ep) &&
	       (!ep->iwarp || ep->io.nr_revoking < RSOCK_IW_REVOKES);
}

/*
 * Tell the peer of a chunk, or that it is gone. Between AF_RSOCK sockets an
 * entry takes a credit, as it does with rsockets; but that one never gives it
 * back, so there none is taken, and a queue pair that has no receive for the
 * message tries again. Returns false if it cannot be told now.
 */
static bool rsock_chunk_tell(struct rsock_ep *ep, struct rsock_chunk *c)
{
	if (!(c->told ? rsock_iomap_may_revoke(ep) : rsock_iomap_may_tell(ep)))
		return false;
	if (c->told) {
		rsock_chunk_post_revoke(ep, c);
		list_move_tail(&c->node, &ep->io.revoking);
		ep->io.nr_revoking++;
	} else {
		if (ep->peer_ext && !rsock_txwin_counted(&ep->tx.win))
			return false;
		rsock_chunk_post_entry(ep, c, &c->entry);
		list_del_init(&c->node);
	}
	c->told = !c->told;
	return true;
}

/* That a region is gone which has not waited for the peer to be told */
static void rsock_iomap_push_owed(struct rsock_ep *ep)
{
	unsigned int slot;

	for_each_set_bit(slot, ep->io.untold, RSOCK_IOMAP_MAX) {
		if (!rsock_iomap_may_revoke(ep))
			return;
		__clear_bit(slot, ep->io.untold);
		ep->io.nr_untold--;
		__set_bit(slot, ep->io.owed);
		rsock_post_revoke(ep, slot);
		ep->io.nr_revoking++;
	}
}

/**
 * rsock_iomap_push() - tell the peer what it does not know yet
 * @ep: endpoint in any state, ep->lock held
 *
 * Return: true if it has been told all, and later messages may be sent.
 */
bool rsock_iomap_push(struct rsock_ep *ep)
{
	struct rsock_chunk *c, *next;
	bool all = true;

	if (ep->io.nr_untold)
		rsock_iomap_push_owed(ep);
	/* What is mapped now may have the offset of what is gone */
	if (ep->io.nr_untold)
		return list_empty(&ep->io.pending);
	/* One that waits for credit does not hold up others that need none */
	list_for_each_entry_safe(c, next, &ep->io.pending, node)
		all &= rsock_chunk_tell(ep, c);
	return all;
}

static void rsock_chunk_gone(struct rsock_ep *ep, struct rsock_chunk *c)
{
	list_del_init(&c->node);
	ep->io.nr_revoking--;
	c->gone = true;
	wake_up_all(&ep->io.wait);
}

/**
 * rsock_iomap_complete() - work requests up to sq.done are complete
 * @ep: endpoint, ep->lock held
 *
 * A peer that cannot confirm has those empty entries that are complete.
 */
void rsock_iomap_complete(struct rsock_ep *ep)
{
	struct rsock_chunk *c, *next;

	if (ep->io.users)
		wake_up_all(&ep->io.wait);
	if (ep->features & RSOCK_FEAT_REVOKE)
		return;
	list_for_each_entry_safe(c, next, &ep->io.revoking, node)
		if ((s32)(ep->sq.done - c->seq) >= 0)
			rsock_chunk_gone(ep, c);
}

/* Nobody waits for it but the slot. Returns false if it is another one's. */
static bool rsock_iomap_settle(struct rsock_io *io, u16 slot)
{
	if (slot >= RSOCK_IOMAP_MAX || !__test_and_clear_bit(slot, io->owed))
		return false;
	__clear_bit(slot, io->slots);
	io->nr_revoking--;
	wake_up_all(&io->wait);
	return true;
}

/**
 * rsock_iomap_revoked() - the peer confirms that it writes no more
 * @ep: endpoint, ep->lock held
 * @slot: slot of its table, as the peer says
 *
 * Its answer came behind all that it had written.
 *
 * Return: 0 or RSOCK_FAULT_REVOKED.
 */
int rsock_iomap_revoked(struct rsock_ep *ep, u16 slot)
{
	struct rsock_chunk *c;

	if (!(ep->features & RSOCK_FEAT_REVOKE))
		return RSOCK_FAULT_NONE;	/* an unknown code to us */
	if (rsock_iomap_settle(&ep->io, slot))
		return RSOCK_FAULT_NONE;
	list_for_each_entry(c, &ep->io.revoking, node) {
		if (c->slot == slot) {
			rsock_chunk_gone(ep, c);
			return RSOCK_FAULT_NONE;
		}
	}
	return RSOCK_FAULT_REVOKED;
}

/* Regions */

/* The lowest offset that is free for @len bytes, RSOCK_OFFSET_FREE for none */
static u64 rsock_io_free_offset(struct rsock_io *io, u64 len)
{
	struct interval_tree_node *node;
	u64 offset = 0;

	while ((node = interval_tree_iter_first(&io->regions, offset,
						offset + len - 1))) {
		offset = PAGE_ALIGN(node->last + 1);
		if (offset + len > S64_MAX)
			return RSOCK_OFFSET_FREE;
	}
	return offset;
}

/* Slots that come back without anybody's doing: the peer has to confirm */
static unsigned int rsock_io_owed(const struct rsock_io *io)
{
	return bitmap_weight(io->owed, RSOCK_IOMAP_MAX) + io->nr_untold;
}

/* Returns -ENOSPC if there are not enough, or -EAGAIN if there will be */
static int rsock_io_take_slots(struct rsock_ep *ep, struct rsock_region *r)
{
	unsigned int max = min_t(u16, ep->peer.iomap_slots, RSOCK_IOMAP_MAX);
	unsigned long *slots = ep->io.slots;
	unsigned int i, slot, sum = bitmap_weight(slots, max) + r->nr;

	if (sum > max)
		return sum - rsock_io_owed(&ep->io) > max ? -ENOSPC : -EAGAIN;
	for (i = 0; i < r->nr; i++) {
		slot = find_first_zero_bit(slots, max);
		__set_bit(slot, slots);
		r->chunk[i].slot = slot;
	}
	return 0;
}

/* Offsets and slots for a region, or -EEXIST, -ENOSPC for too many, or -EAGAIN */
static int rsock_region_insert(struct rsock_ep *ep, struct rsock_region *r,
			       u64 offset)
{
	struct rsock_io *io = &ep->io;
	int err;

	if (io->nr == RSOCK_REGIONS_MAX)
		return -ENOSPC;
	if (offset == RSOCK_OFFSET_FREE)
		offset = rsock_io_free_offset(io, r->len);
	else if (interval_tree_iter_first(&io->regions, offset,
					  offset + r->len - 1))
		return -EEXIST;
	if (offset == RSOCK_OFFSET_FREE)
		return -ENOSPC;
	err = rsock_io_take_slots(ep, r);
	if (err)
		return err;
	rsock_region_place(r, offset);
	interval_tree_insert(&r->node, &io->regions);
	io->nr++;
	return 0;
}

static void rsock_region_remove(struct rsock_ep *ep, struct rsock_region *r)
{
	unsigned int i;

	r->state = RSOCK_REGION_ENDED;
	interval_tree_remove(&r->node, &ep->io.regions);
	ep->io.nr--;
	for (i = 0; i < r->nr; i++) {
		list_del(&r->chunk[i].node);
		if (!r->chunk[i].owed)
			__clear_bit(r->chunk[i].slot, ep->io.slots);
	}
}

/**
 * struct rsock_begin - a region that is to get offsets and slots
 * @r: region
 * @offset: of its first byte, or RSOCK_OFFSET_FREE
 * @err: whether it did
 */
struct rsock_begin {
	struct rsock_region *r;
	u64 offset;
	int err;
};

static bool rsock_region_begun(struct rsock_ep *ep, void *arg)
{
	struct rsock_begin *begin = arg;

	spin_lock_bh(&ep->lock);
	begin->err = ep->state == RSOCK_EP_OPEN ?
		     rsock_region_insert(ep, begin->r, begin->offset) :
		     -ENOTCONN;
	spin_unlock_bh(&ep->lock);
	return begin->err != -EAGAIN;
}

/* If the peer's table is full only of what it has to confirm, that is waited for */
static int rsock_region_begin(struct rsock_ep *ep, struct rsock_region *r,
			      u64 offset)
{
	struct rsock_begin begin = { .r = r, .offset = offset };

	if (!rsock_region_wait(ep, r, rsock_region_begun, &begin))
		return -ENOSPC;
	return begin.err;
}

/* Make it known, unless the socket parted with the connection meanwhile */
static int rsock_region_commit(struct rsock_ep *ep, struct rsock_region *r)
{
	int err = -ENOTCONN;
	unsigned int i;

	spin_lock_bh(&ep->lock);
	if (ep->state == RSOCK_EP_OPEN && !ep->io.closed) {
		err = 0;
		r->state = RSOCK_REGION_LIVE;
		RSOCK_INC_STATS(ep->net, RSOCK_MIB_IOMAPS);
		trace_rsock_map(ep, r);
		for (i = 0; i < r->nr; i++)
			list_add_tail(&r->chunk[i].node, &ep->io.pending);
		rsock_iomap_push(ep);
	}
	spin_unlock_bh(&ep->lock);
	return err;
}

/* The end of a region, which is the caller's */
static void rsock_region_end(struct rsock_ep *ep, struct rsock_region *r)
{
	rsock_region_unregister(r);
	trace_rsock_map_gone(ep, r);
	spin_lock_bh(&ep->lock);
	rsock_region_remove(ep, r);
	wake_up_all(&ep->io.wait);
	spin_unlock_bh(&ep->lock);
	rsock_region_put(r);
}

/*
 * Pinned for long and written by a device, pages of a file would be lost; those
 * of a private mapping are the process's own when they are pinned for writing.
 */
static bool rsock_vma_is_file(struct vm_area_struct *vma)
{
	return vma->vm_file && (vma->vm_flags & VM_MAYSHARE) &&
	       !is_vm_hugetlb_page(vma) &&
	       file_inode(vma->vm_file)->i_sb->s_magic != TMPFS_MAGIC;
}

static int rsock_user_mem_check(u64 addr, u64 len)
{
	struct mm_struct *mm = current->mm;
	struct vm_area_struct *vma;
	int err = 0;

	mmap_read_lock(mm);
	vma = find_vma(mm, addr);
	while (vma && vma->vm_start < addr + len && !err) {
		if (rsock_vma_is_file(vma))
			err = -EOPNOTSUPP;
		vma = find_vma(mm, vma->vm_end);
	}
	mmap_read_unlock(mm);
	return err;
}

static int rsock_iomap_check(const struct rsock_iomap *m)
{
	if (!m->addr || !m->len || m->flags || m->prot & ~PROT_WRITE ||
	    m->offset < -1 || (m->offset == -1 && !m->result_ptr))
		return -EINVAL;
	if (m->addr + m->len < m->addr ||
	    (u64)max_t(s64, m->offset, 0) + m->len > S64_MAX)
		return -EINVAL;
	return 0;
}

/* Count why it could not be mapped, and return that */
static int rsock_iomap_failed(struct rsock_ep *ep, int err)
{
	switch (err) {
	case -EEXIST:
		RSOCK_INC_STATS(ep->net, RSOCK_MIB_IOMAPOVERLAPS);
		break;
	case -EFAULT:
		RSOCK_INC_STATS(ep->net, RSOCK_MIB_IOMAPBADMEMORY);
		break;
	case -EOPNOTSUPP:
		RSOCK_INC_STATS(ep->net, RSOCK_MIB_IOMAPFILES);
		break;
	case -ENOSPC:
		RSOCK_INC_STATS(ep->net, RSOCK_MIB_IOMAPFULL);
		return -ENOMEM;
	case -ETIMEDOUT:
		RSOCK_INC_STATS(ep->net, RSOCK_MIB_IOMAPTIMEOUTS);
		break;
	case -ENOTCONN:		/* counted with the connection */
		break;
	default:
		RSOCK_INC_STATS(ep->net, RSOCK_MIB_IOMAPNOMEMORY);
		break;
	}
	return err;
}

/* Map it all; @result is where to write the offset, or NULL. Takes over @r. */
static int rsock_region_map(struct rsock_ep *ep, struct rsock_region *r,
			    u64 offset, s64 __user *result)
{
	int err;

	err = rsock_region_begin(ep, r, offset);
	if (err) {
		rsock_region_put(r);
		return rsock_iomap_failed(ep, err);
	}
	err = rsock_region_register(ep, r);
	if (!err && result && put_user((s64)r->node.start, result))
		err = -EFAULT;
	if (!err)
		err = rsock_region_commit(ep, r);
	if (!err)
		return 0;
	rsock_region_end(ep, r);
	return rsock_iomap_failed(ep, err);
}

static int rsock_iomap_add_user(struct rsock_ep *ep,
				const struct rsock_iomap *m)
{
	struct rsock_region *r;
	int err;

	r = rsock_region_alloc(offset_in_page(m->addr), m->len,
			       rsock_region_chunk_max(ep, true),
			       m->prot & PROT_WRITE);
	if (!r)
		return rsock_iomap_failed(ep, -ENOSPC);
	r->addr = m->addr;
	err = rsock_user_mem_check(m->addr, m->len);
	if (err) {
		rsock_region_put(r);
		return rsock_iomap_failed(ep, err);
	}
	return rsock_region_map(ep, r, m->offset,
				u64_to_user_ptr(m->result_ptr));
}

/**
 * rsock_iomap_add() - map user memory
 * @ep: endpoint in any state
 * @m: what to map; not yet checked
 *
 * Context: process, that of the memory's owner; sleeps.
 *
 * Return: 0, or a negative errno and nothing is mapped: those that struct
 * rsock_iomap tells of.
 */
int rsock_iomap_add(struct rsock_ep *ep, const struct rsock_iomap *m)
{
	int err;

	err = rsock_iomap_check(m);
	if (err)
		return err;
	if (!rsock_io_enter(ep))
		return -ENOTCONN;
	err = rsock_iomap_add_user(ep, m);
	rsock_io_leave(ep);
	return err;
}

/*
 * Map memory of the kernel; @bv is NULL if it is to be allocated. @region is set
 * before the peer can know of it.
 */
static int rsock_region_map_kernel(struct rsock_ep *ep, u64 offset, u64 len,
				   const struct bio_vec *bv, unsigned int nr,
				   struct rsock_region **region)
{
	u32 head = bv ? offset_in_page(bv->bv_offset) : 0;
	struct rsock_region *r;
	int err;

	r = rsock_region_alloc(head, len, rsock_region_chunk_max(ep, false),
			       true);
	if (!r)
		return rsock_iomap_failed(ep, -ENOSPC);
	err = bv ? rsock_buf_take(&r->buf, bv, nr) :
		   rsock_buf_alloc(&r->buf, len / PAGE_SIZE, GFP_KERNEL_ACCOUNT);
	if (err) {
		rsock_region_put(r);
		return rsock_iomap_failed(ep, err);
	}
	refcount_inc(&r->ref);
	spin_lock_bh(&ep->lock);
	*region = r;
	spin_unlock_bh(&ep->lock);
	return rsock_region_map(ep, r, offset, NULL);
}

/**
 * rsock_iomap_add_own() - map memory of our own
 * @ep: endpoint in any state
 * @offset: of its first byte; the caller has checked it
 * @len: bytes, a multiple of the page size
 * @region: set under ep->lock, before the peer can know of it, to the region,
 *	with a reference for the caller, who puts it also if this fails
 *
 * Context: process; sleeps.
 *
 * Return: 0, or a negative errno and nothing is mapped.
 */
int rsock_iomap_add_own(struct rsock_ep *ep, u64 offset, u64 len,
			struct rsock_region **region)
{
	int err;

	if (!rsock_io_enter(ep))
		return -ENOTCONN;
	err = rsock_region_map_kernel(ep, offset, len, NULL, 0, region);
	rsock_io_leave(ep);
	return err;
}

/**
 * rsock_iomap_add_bvec() - map somebody's pages
 * @ep: endpoint in any state
 * @offset: of its first byte, or RSOCK_OFFSET_FREE
 * @bv: where it is, without gaps: each but the first begins a page, each but
 *	the last ends one
 * @nr: entries of @bv
 * @region: as for rsock_iomap_add_own()
 *
 * Context: process; sleeps.
 *
 * Return: 0, or a negative errno and nothing is mapped.
 */
int rsock_iomap_add_bvec(struct rsock_ep *ep, u64 offset,
			 const struct bio_vec *bv, unsigned int nr,
			 struct rsock_region **region)
{
	u64 len = rsock_bvec_len(bv, nr);
	int err;

	if (!len || (offset != RSOCK_OFFSET_FREE &&
		     (offset > S64_MAX || len > S64_MAX - offset)))
		return -EINVAL;
	if (!rsock_io_enter(ep))
		return -ENOTCONN;
	err = rsock_region_map_kernel(ep, offset, len, bv, nr, region);
	rsock_io_leave(ep);
	return err;
}

static struct rsock_region *rsock_region_find(struct rsock_ep *ep,
					      const struct rsock_iomap *m)
{
	struct rsock_region *r = NULL;

	while ((r = rsock_region_next(&ep->io, r)))
		if (r->state == RSOCK_REGION_LIVE && r->addr &&
		    r->addr == m->addr && r->len == m->len &&
		    (m->offset == -1 || m->offset == r->node.start))
			break;
	return r;
}

/* Have the peer write no more. ep->lock held */
static void rsock_region_revoke(struct rsock_ep *ep, struct rsock_region *r)
{
	struct rsock_chunk *c;

	r->state = RSOCK_REGION_GONE;
	trace_rsock_map_revoke(ep, r);
	for (c = r->chunk; c < r->chunk + r->nr; c++) {
		list_del_init(&c->node);
		if (c->told)
			list_add_tail(&c->node, &ep->io.pending);
		else
			c->gone = true;
	}
	if (r->offered && !(ep->features & RSOCK_FEAT_REVOKE))
		RSOCK_INC_STATS(ep->net, RSOCK_MIB_UNMAPSPLAIN);
	rsock_iomap_push(ep);
}

/* Is there nothing to wait for any more? */
static bool rsock_region_is_gone(struct rsock_ep *ep, void *arg)
{
	const struct rsock_region *r = arg;
	bool gone = true;
	unsigned int i;

	spin_lock_bh(&ep->lock);
	for (i = 0; i < r->nr; i++)
		gone &= r->chunk[i].gone || r->chunk[i].owed;
	gone |= ep->state != RSOCK_EP_OPEN;
	spin_unlock_bh(&ep->lock);
	return gone;
}

/*
 * Let go of a region of which the peer was told that it is gone. One that has not
 * confirmed it is reset.
 */
static void rsock_region_let_go(struct rsock_ep *ep, struct rsock_region *r)
{
	if (!rsock_region_is_gone(ep, r))
		rsock_ep_kill(ep, ETIMEDOUT, RSOCK_MIB_REVOKETIMEOUTS);
	rsock_region_end(ep, r);
}

/* The same after some time, unless the caller is killed and cannot wait */
static void rsock_region_withdraw(struct rsock_ep *ep, struct rsock_region *r)
{
	rsock_region_wait(ep, r, rsock_region_is_gone, r);
	rsock_region_let_go(ep, r);
}

/*
 * Have only the slots of a region wait for what the peer owes us, if it can
 * answer. ep->lock held
 */
static void rsock_region_owe(struct rsock_ep *ep, struct rsock_region *r)
{
	struct rsock_chunk *c;

	if (!(ep->features & RSOCK_FEAT_REVOKE))
		return;
	for (c = r->chunk; c < r->chunk + r->nr; c++) {
		if (c->gone)
			continue;
		c->owed = true;
		list_del_init(&c->node);
		__set_bit(c->slot, c->told ? ep->io.untold : ep->io.owed);
		ep->io.nr_untold += c->told;
	}
}

/*
 * Have the peer write no more to a region, or that which @m describes, and which
 * it has @used. The caller is a user. Returns the region, which is the caller's
 * then, or NULL if there is no such mapping.
 */
static struct rsock_region *rsock_io_revoke(struct rsock_ep *ep,
					    struct rsock_region *r,
					    const struct rsock_iomap *m,
					    bool used)
{
	spin_lock_bh(&ep->lock);
	if (m)
		r = rsock_region_find(ep, m);
	else if (r->state != RSOCK_REGION_LIVE)
		r = NULL;
	if (r)
		rsock_region_revoke(ep, r);
	if (r && used)
		rsock_region_owe(ep, r);
	spin_unlock_bh(&ep->lock);
	return r;
}

/* Is no user memory within reach of the device? */
static bool rsock_io_is_clear(struct rsock_ep *ep)
{
	struct rsock_region *r = NULL;

	spin_lock_bh(&ep->lock);
	while ((r = rsock_region_next(&ep->io, r)))
		if (r->addr)
			break;
	spin_unlock_bh(&ep->lock);
	return !r;
}

/**
 * rsock_iomap_del() - unmap user memory
 * @ep: endpoint in any state
 * @m: addr, len and, unless -1, offset say which mapping
 *
 * Context: process; sleeps until the peer confirms, or is reset for not doing
 * so. When it returns the peer cannot write there any more.
 *
 * Return: 0, -EINVAL if there is no such mapping, -ENOTCONN if there is no
 * connection: its end undoes all mappings; or -ERESTARTSYS if killed.
 */
int rsock_iomap_del(struct rsock_ep *ep, const struct rsock_iomap *m)
{
	struct rsock_region *r;

	if (!rsock_io_enter(ep))
		return wait_event_killable(ep->io.wait,
					   rsock_io_is_clear(ep)) ?:
		       -ENOTCONN;
	r = rsock_io_revoke(ep, NULL, m, false);
	if (r)
		rsock_region_withdraw(ep, r);
	rsock_io_leave(ep);
	return r ? 0 : -EINVAL;
}

static bool rsock_region_has_ended(struct rsock_ep *ep,
				   const struct rsock_region *r)
{
	bool ended;

	spin_lock_bh(&ep->lock);
	ended = r->state == RSOCK_REGION_ENDED;
	spin_unlock_bh(&ep->lock);
	return ended;
}

/**
 * rsock_iomap_del_begin() - begin to unmap memory of the kernel
 * @ep: endpoint in any state
 * @r: region; no effect if it was taken away with the connection
 * @used: the peer is finished with it, and need not be waited for
 *
 * ep->io.wait tells when to look how it goes on: rsock_iomap_del_is_due().
 *
 * Return: true if it is for the caller to end it: rsock_iomap_del_end().
 */
bool rsock_iomap_del_begin(struct rsock_ep *ep, struct rsock_region *r,
			   bool used)
{
	if (!__rsock_io_enter(ep, r->buf.lent))
		return false;
	if (rsock_io_revoke(ep, r, NULL, used))
		return true;
	rsock_io_leave(ep);
	return false;
}

/**
 * rsock_iomap_del_is_due() - is there nothing to wait for any more?
 * @ep: endpoint
 * @r: region
 * @ours: what rsock_iomap_del_begin() has returned
 */
bool rsock_iomap_del_is_due(struct rsock_ep *ep, struct rsock_region *r,
			    bool ours)
{
	if (ours)
		return rsock_region_is_gone(ep, r);
	return !r->buf.lent || rsock_region_has_ended(ep, r);
}

/**
 * rsock_iomap_del_end() - let go of a region that is ours
 * @ep: endpoint
 * @r: region
 *
 * A peer that has not confirmed it is reset.
 *
 * Context: process; sleeps, but not for the peer.
 */
void rsock_iomap_del_end(struct rsock_ep *ep, struct rsock_region *r)
{
	rsock_region_let_go(ep, r);
	rsock_io_leave(ep);
}

/**
 * rsock_iomap_del_region() - unmap memory of the kernel, and wait
 * @ep: endpoint in any state
 * @r: region; no effect if it was taken away with the connection
 * @used: the peer is finished with it, and need not be waited for
 *
 * If it is somebody's, it is out of the device's reach when this returns. If
 * it is our own its pages may be so later: they are kept until then.
 *
 * Context: process; sleeps, as rsock_iomap_del().
 */
void rsock_iomap_del_region(struct rsock_ep *ep, struct rsock_region *r,
			    bool used)
{
	if (rsock_iomap_del_begin(ep, r, used)) {
		rsock_region_withdraw(ep, r);
		rsock_io_leave(ep);
	}
	if (r->buf.lent)
		wait_event(ep->io.wait, rsock_region_has_ended(ep, r));
}

/* The peer need not hear any more of what it was not told yet. ep->lock held */
static void rsock_region_hush(struct rsock_region *r)
{
	struct rsock_chunk *c;

	for (c = r->chunk; c < r->chunk + r->nr; c++)
		if (!c->told)
			list_del_init(&c->node);
}

/*
 * Nothing more is mapped, and the peer is told that user memory is gone, but of
 * nothing new, for which it may give no credit; @gone takes the regions, unless it
 * is NULL. Those that are being set up are seen to by those who do it.
 */
static void rsock_io_shut(struct rsock_ep *ep, struct list_head *gone)
{
	struct rsock_region *r = NULL;

	spin_lock_bh(&ep->lock);
	ep->io.closed = true;
	while ((r = rsock_region_next(&ep->io, r))) {
		if (r->state != RSOCK_REGION_LIVE)
			continue;
		rsock_region_hush(r);
		if (!r->addr)
			continue;
		rsock_region_revoke(ep, r);
		if (gone)
			list_add(&r->gone, gone);
	}
	spin_unlock_bh(&ep->lock);
}

/**
 * rsock_iomap_close() - the socket parts with the connection
 * @ep: endpoint in any state
 *
 * Its user's memory is nobody else's business from here on, while what was sent
 * may still be on its way. A process that exits does not wait for the peer, nor
 * does a thread of the kernel that closes for others: what is not let go of here
 * is given back with the connection.
 *
 * Context: process, without the socket's lock; sleeps, as rsock_iomap_del().
 */
void rsock_iomap_close(struct rsock_ep *ep)
{
	bool waits = !(current->flags & (PF_EXITING | PF_KTHREAD));
	struct rsock_region *r, *next;
	LIST_HEAD(gone);

	if (rsock_io_enter(ep)) {
		rsock_io_shut(ep, waits ? &gone : NULL);
		list_for_each_entry_safe(r, next, &gone, gone)
			rsock_region_withdraw(ep, r);
		rsock_io_leave(ep);
	}
	if (waits)
		wait_event_killable(ep->io.wait, rsock_io_is_clear(ep));
}

/**
 * rsock_iomap_list() - what is mapped
 * @ep: endpoint in any state; when its connection has ended there is nothing,
 *	though it may take a moment until all is let go of
 * @list: filled, in the order of offsets
 * @max: room for so many
 *
 * Return: how many there are.
 */
unsigned int rsock_iomap_list(struct rsock_ep *ep, struct rsock_iomap *list,
			      unsigned int max)
{
	struct rsock_region *r = NULL;
	unsigned int n = 0;

	spin_lock_bh(&ep->lock);
	while (ep->state == RSOCK_EP_OPEN &&
	       (r = rsock_region_next(&ep->io, r))) {
		if (r->state != RSOCK_REGION_LIVE || r->node.start > S64_MAX)
			continue;
		if (n < max)
			list[n] = (struct rsock_iomap){
				.addr = r->addr,
				.len = r->len,
				.offset = r->node.start,
				.prot = r->offered ? PROT_WRITE : PROT_NONE,
			};
		n++;
	}
	spin_unlock_bh(&ep->lock);
	return n;
}

/* One that is lent, and that nobody works on; it is the caller's then */
static struct rsock_region *rsock_io_take_lent(struct rsock_ep *ep)
{
	struct rsock_region *r = NULL;

	spin_lock_bh(&ep->lock);
	while ((r = rsock_region_next(&ep->io, r)))
		if (r->buf.lent && r->state == RSOCK_REGION_LIVE)
			break;
	if (r)
		r->state = RSOCK_REGION_GONE;
	spin_unlock_bh(&ep->lock);
	return r;
}

/**
 * rsock_iomap_return() - give back what is lent
 * @ep: endpoint in state DEAD
 *
 * Before anything that may wait for others: rsock_iomap_park().
 */
void rsock_iomap_return(struct rsock_ep *ep)
{
	struct rsock_region *r;

	while ((r = rsock_io_take_lent(ep)))
		rsock_region_end(ep, r);
}

/**
 * rsock_iomap_release() - let go of all that is still mapped
 * @ep: endpoint in state DEAD, without users: they are all the caller's
 */
void rsock_iomap_release(struct rsock_ep *ep)
{
	struct rsock_region *r;

	while ((r = rsock_region_next(&ep->io, NULL)))
		rsock_region_end(ep, r);
}
