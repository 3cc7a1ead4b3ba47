// SPDX-License-Identifier: GPL-2.0
/*
 * Receive rings.
 *
 * A connection begins with a small one, in the buffer that has its tables, so
 * that thousands may be idle. When the peer has filled half of that before it
 * was read, or is granted of it often, a work item gets a second one of the size
 * that the socket asked for, which takes over: the peer is granted nothing of the
 * first one any more, and learns where the second is from its first grant (see
 * win.h). A grant cannot be taken back, so that a ring stays as long as the
 * connection does.
 *
 * The second one is charged to the memory cgroup of the socket's maker. The first
 * is not: it is made by threads of rdma_cm, which reclaim for one would hold up
 * for all.
 */

#include "ring.h"

#include <linux/jiffies.h>
#include <linux/sched/mm.h>

#include "ep.h"

/* It does without, and a peer must not have a process killed for memory */
#define RSOCK_RING_GFP		(GFP_KERNEL_ACCOUNT | __GFP_NORETRY | __GFP_NOWARN)
/* Who is granted of the first ring so often in a second is not idle */
#define RSOCK_RING_BUSY		8

static void rsock_ring_want(struct rsock_ep *ep)
{
	if (ep->ring.state != RSOCK_RING_FIRST)
		return;
	WRITE_ONCE(ep->ring.state, RSOCK_RING_WANTED);
	rsock_ep_queue_work(ep);
}

/**
 * rsock_ring_filled() - bytes arrived: is the ring too small?
 * @ep: endpoint in any state, ep->lock held
 */
void rsock_ring_filled(struct rsock_ep *ep)
{
	const struct rsock_rxring *first = &ep->rx.win.ring[0];

	if (first->avail >= first->size / 2)
		rsock_ring_want(ep);
}

/**
 * rsock_ring_granted() - the peer was granted of a ring: is that too small?
 * @ep: endpoint in any state, ep->lock held
 */
void rsock_ring_granted(struct rsock_ep *ep)
{
	struct rsock_ring *ring = &ep->ring;

	if (ring->state != RSOCK_RING_FIRST)
		return;
	if (time_after(jiffies, ring->since + HZ)) {
		ring->since = jiffies;
		ring->grants = 0;
	}
	if (++ring->grants >= RSOCK_RING_BUSY)
		rsock_ring_want(ep);
}

/**
 * rsock_ring_release() - let go of the second ring's verbs resources
 * @ep: endpoint without a queue pair, or whose peer does not know of the ring
 */
void rsock_ring_release(struct rsock_ep *ep)
{
	struct rsock_ring *ring = &ep->ring;

	if (!IS_ERR_OR_NULL(ring->mr))
		ib_dereg_mr(ring->mr);
	ring->mr = NULL;
	rsock_buf_unmap(&ring->buf);
}

/* The work has no memory cgroup: charge the socket's owner */
static bool rsock_ring_alloc(struct rsock_ep *ep)
{
	struct mem_cgroup *old = set_active_memcg(ep->memcg);
	struct rsock_ring *ring = &ep->ring;

	ring->mr = rsock_buf_create(&ring->buf, ep->pd, ep->cfg.ring, RSOCK_IOVA,
				    RSOCK_RING_GFP);
	set_active_memcg(old);
	if (!IS_ERR(ring->mr))
		return true;
	rsock_ring_release(ep);
	rsock_buf_free(&ring->buf);
	return false;
}

/**
 * rsock_ring_prepare() - get the second ring, if it is wanted
 * @ep: endpoint that is not DYING. Context: its work
 */
void rsock_ring_prepare(struct rsock_ep *ep)
{
	bool ready;

	if (READ_ONCE(ep->ring.state) != RSOCK_RING_WANTED)
		return;
	ready = rsock_ring_alloc(ep);
	spin_lock_bh(&ep->lock);
	if (ready) {
		WRITE_ONCE(ep->ring.state, RSOCK_RING_READY);
		rsock_sq_hold(&ep->sq);
		rsock_rx_update(ep);
	} else {
		/* Who waits for more than the first one holds waits in vain */
		WRITE_ONCE(ep->ring.state, RSOCK_RING_FINAL);
		ep->ops->readable(ep);
	}
	spin_unlock_bh(&ep->lock);
}

/**
 * rsock_ring_push() - go over to the second ring, if it is READY
 * @ep: endpoint in any state, ep->lock held
 *
 * Work requests of a queue pair are executed in order, so that the peer hears of
 * the ring only when it is registered (IBTA, "Fast Register Physical MR").
 */
void rsock_ring_push(struct rsock_ep *ep)
{
	struct ib_reg_wr reg;

	if (ep->ring.state != RSOCK_RING_READY || ep->state != RSOCK_EP_OPEN)
		return;
	rsock_ep_reg_wr(ep->ring.mr, &reg);
	if (!rsock_sq_post_reg(ep, &reg))
		return;
	rsock_sq_release(&ep->sq);
	rsock_rxwin_grow(&ep->rx.win, ep->cfg.ring);
	WRITE_ONCE(ep->ring.state, RSOCK_RING_FINAL);
}

/* The buffer that an offset of rsock_rxwin is in, and where in that */
static const struct rsock_buf *rsock_ring_buf(const struct rsock_ep *ep,
					      u32 *offset)
{
	u32 first = ep->rx.win.ring[0].size;

	if (*offset < first) {
		*offset += ep->ring_off;
		return &ep->buf;
	}
	*offset -= first;
	return &ep->ring.buf;
}

/**
 * rsock_ring_sge() - where the peer finds bytes of a ring
 * @ep: endpoint with verbs resources
 * @offset: of struct rsock_rxwin
 * @sge: address and key are filled in
 */
void rsock_ring_sge(const struct rsock_ep *ep, u32 offset,
		    struct rsock_sge *sge)
{
	const struct rsock_buf *buf = rsock_ring_buf(ep, &offset);

	sge->addr = RSOCK_IOVA + offset;
	sge->key = buf == &ep->buf ? ep->mr->rkey : ep->ring.mr->rkey;
}

/* rsock_buf_sync() for part of a ring */
void rsock_ring_sync(const struct rsock_ep *ep, u32 offset, u32 len,
		     bool for_cpu)
{
	const struct rsock_buf *buf = rsock_ring_buf(ep, &offset);

	rsock_buf_sync(buf, offset, len, for_cpu);
}

/* rsock_buf_to_iter() for part of a ring */
size_t rsock_ring_to_iter(const struct rsock_ep *ep, u32 offset, u32 len,
			  struct iov_iter *to)
{
	const struct rsock_buf *buf = rsock_ring_buf(ep, &offset);

	return rsock_buf_to_iter(buf, offset, len, to);
}
