// SPDX-License-Identifier: GPL-2.0
/*
 * The queue of what is to be sent.
 *
 * send.c gathers bytes in messages (struct rsock_txmsg). A message is posted as
 * one RDMA write with immediate, or as several if what the peer granted ends
 * within it, since each grant has to be filled to its last byte.
 * Pages are given back when the write is known complete, that is, in the peer's
 * memory.
 *
 * Who may push: whoever made something possible that was not before. The
 * sender after queueing, a completion that freed slots, a credit or a grant
 * that arrived. All under ep->lock, so that order is kept.
 *
 * Data that is placed (MSG_RIOWRITE) takes its turn in the same queue, but is
 * written to where the peer mapped it, and needs neither grant nor credit.
 *
 * Short writes that come faster than they complete are gathered: while two
 * completions are outstanding anyway, a short message waits for one of them.
 */

#include "tx.h"

#include <linux/skbuff.h>
#include <linux/slab.h>
#include <net/sock.h>

#include "pernet.h"
#include "rsock.h"
#include "trace.h"
#include "watch.h"

/* A message below this size may wait to be gathered */
#define RSOCK_TX_GATHER		8192
#define RSOCK_TX_GATHER_MARKS	2

static struct kmem_cache *rsock_txmsg_cache;

/**
 * rsock_txmsg_alloc() - an empty message
 * @to: RSOCK_TO_STREAM, or the offset to place it at
 * @uarg: to be told when it is done with, or NULL
 * @gfp: how to allocate
 *
 * Return: the message, which is the caller's until it is queued, or NULL.
 */
struct rsock_txmsg *rsock_txmsg_alloc(s64 to, struct ubuf_info *uarg, gfp_t gfp)
{
	struct rsock_txmsg *m = kmem_cache_zalloc(rsock_txmsg_cache, gfp);

	if (!m)
		return NULL;
	m->charge = sizeof(*m);
	m->to = to;
	m->uarg = uarg;
	if (uarg)
		net_zcopy_get(uarg);
	return m;
}

/**
 * rsock_txmsg_free() - free a message that is in no list and not mapped
 * @m: message. Context: any
 */
void rsock_txmsg_free(struct rsock_txmsg *m)
{
	while (m->nr_frags)
		put_page(m->frag[--m->nr_frags].page);
	net_zcopy_put(m->uarg);
	kmem_cache_free(rsock_txmsg_cache, m);
}

/**
 * rsock_tx_free_list() - free messages that are not mapped any more
 * @list: emptied. Context: any; no lock needed
 */
void rsock_tx_free_list(struct list_head *list)
{
	struct rsock_txmsg *m, *next;

	list_for_each_entry_safe(m, next, list, node)
		rsock_txmsg_free(m);
	INIT_LIST_HEAD(list);
}

/* A message that was sent from somebody's pages is done with */
static void rsock_write_put(struct sk_buff *skb, struct ubuf_info *ubuf,
			    bool success)
{
	struct rsock_write *w = container_of(ubuf, struct rsock_write, ubuf);

	if (refcount_dec_and_test(&ubuf->refcnt))
		w->done(w, w->err);
}

static const struct ubuf_info_ops rsock_write_ops = {
	.complete = rsock_write_put,
};

/**
 * rsock_write_init() - make messages refer to a write
 * @w: write with its @done; one reference is the caller's
 *
 * Each message that has &w->ubuf takes a reference, and w->done() is called when
 * the last one is put, by net_zcopy_put().
 */
void rsock_write_init(struct rsock_write *w)
{
	memset(&w->ubuf, 0, sizeof(w->ubuf));
	rsock_ubuf_ops(&w->ubuf, &rsock_write_ops);
	refcount_set(&w->ubuf.refcnt, 1);
	w->err = 0;
}

/* Not all of it arrived: if @uarg is a write, it is to know. ep->lock held */
static void rsock_write_failed(struct ubuf_info *uarg, int err)
{
	struct rsock_write *w;

	if (!uarg || !rsock_ubuf_is(uarg, &rsock_write_ops))
		return;
	w = container_of(uarg, struct rsock_write, ubuf);
	w->err = w->err ?: err;
}

static void rsock_txmsg_unmap(struct rsock_ep *ep, struct rsock_txmsg *m)
{
	int i;

	if (!m->mapped)
		return;
	for (i = 0; i < m->nr_frags; i++)
		ib_dma_unmap_page(ep->pd->device, m->frag[i].dma,
				  m->frag[i].len, DMA_TO_DEVICE);
	m->mapped = false;
}

static int rsock_txmsg_map(struct rsock_ep *ep, struct rsock_txmsg *m)
{
	struct ib_device *dev = ep->pd->device;
	int i;

	for (i = 0; i < m->nr_frags; i++) {
		struct rsock_txfrag *f = &m->frag[i];

		f->dma = ib_dma_map_page(dev, f->page, f->off, f->len,
					 DMA_TO_DEVICE);
		if (ib_dma_mapping_error(dev, f->dma))
			goto unmap;
	}
	m->mapped = true;
	return 0;
unmap:
	while (i--)
		ib_dma_unmap_page(dev, m->frag[i].dma, m->frag[i].len,
				  DMA_TO_DEVICE);
	return -EIO;
}

/* A message is done with, one way or the other: to be freed by way of @done */
static void rsock_txmsg_retire(struct rsock_ep *ep, struct rsock_txmsg *m,
			       struct list_head *done)
{
	rsock_txmsg_unmap(ep, m);
	ep->tx.queued -= m->len;
	ep->tx.bytes_acked += m->posted;
	ep->tx.charged -= m->charge;
	ep->tx.inplace -= !!m->uarg;
	list_move_tail(&m->node, done);
}

/*
 * Send no more of a message, because of @err. What was posted of it may be on
 * its way, so that its completion is to be seen. Returns how many bytes are not
 * sent.
 */
static u32 rsock_txmsg_cut(struct rsock_ep *ep, struct rsock_txmsg *m,
			   int err, struct list_head *done)
{
	u32 rest = m->len - m->posted;

	if (rest)
		rsock_write_failed(m->uarg, err);
	m->len = m->posted;
	m->end_seq = ep->sq.posted;
	ep->tx.queued -= rest;
	/* No completion comes that is not there already */
	if (!m->posted || ep->sq.done == ep->sq.posted)
		rsock_txmsg_retire(ep, m, done);
	else
		list_move_tail(&m->node, &ep->tx.sent);
	return rest;
}

/**
 * rsock_tx_purge() - drop all that was not sent
 * @ep: endpoint in state DEAD
 */
void rsock_tx_purge(struct rsock_ep *ep)
{
	struct rsock_txmsg *m, *next;
	LIST_HEAD(done);

	spin_lock_bh(&ep->lock);
	list_splice_tail_init(&ep->tx.unsent, &ep->tx.sent);
	list_for_each_entry_safe(m, next, &ep->tx.sent, node) {
		rsock_write_failed(m->uarg, -(ep->err ?: EPIPE));
		rsock_txmsg_retire(ep, m, &done);
	}
	spin_unlock_bh(&ep->lock);
	rsock_tx_free_list(&done);
}

/**
 * rsock_tx_reap() - free what was given up under ep->lock
 * @ep: endpoint in any state. Context: process
 */
void rsock_tx_reap(struct rsock_ep *ep)
{
	LIST_HEAD(lost);

	spin_lock_bh(&ep->lock);
	list_splice_init(&ep->tx.lost, &lost);
	spin_unlock_bh(&ep->lock);
	rsock_tx_free_list(&lost);
}

/*
 * Gather the next @room bytes of a message, or what it has, or what fits into
 * a work request. Returns how many entries; *len says how many bytes.
 */
static int rsock_txmsg_sges(struct rsock_ep *ep, const struct rsock_txmsg *m,
			    u32 room, struct ib_sge *sge, u32 *len)
{
	u32 skip = m->posted;
	int i, n = 0;

	*len = 0;
	for (i = 0; i < m->nr_frags && n < ep->max_sge && *len < room; i++) {
		const struct rsock_txfrag *f = &m->frag[i];

		if (skip >= f->len) {
			skip -= f->len;
			continue;
		}
		sge[n].addr = f->dma + skip;
		sge[n].length = min(f->len - skip, room - *len);
		sge[n].lkey = ep->pd->local_dma_lkey;
		*len += sge[n].length;
		skip = 0;
		n++;
	}
	return n;
}

/*
 * Is a completion wanted, so that memory comes back before the sender waits?
 * @frees is what the completion gives back.
 */
static bool rsock_tx_signal(const struct rsock_ep *ep, u32 frees)
{
	return ep->tx.gathered ||
	       ep->sq.unsig_bytes + frees >= READ_ONCE(ep->sk->sk_sndbuf) / 4;
}

/* Where the next note goes. Returns how long it may be, 0 if it has to wait. */
static s64 rsock_tx_note_room(struct rsock_ep *ep, struct rsock_sge *to)
{
	u32 nr;

	nr = rsock_targets_find(&ep->targets, RSOCK_NOTES_OFFSET, to) /
	     RSOCK_NOTE_LEN;
	if (!nr)
		return -ENXIO;
	if (ep->tx.note >= nr)
		ep->tx.note = 0;
	to->addr += ep->tx.note * RSOCK_NOTE_LEN;
	return rsock_txwin_has_credit(&ep->tx.win) ? RSOCK_NOTE_LEN : 0;
}

/*
 * Where the next bytes of a message may be written. Returns how many of them, 0
 * if they have to wait, or -ENXIO if the peer does not want them any more.
 */
static s64 rsock_tx_room(struct rsock_ep *ep, const struct rsock_txmsg *m,
			 struct rsock_sge *to)
{
	s64 room;

	switch (m->to) {
	case RSOCK_TO_STREAM:
		return rsock_txwin_room(&ep->tx.win);
	case RSOCK_TO_NOTES:
		return rsock_tx_note_room(ep, to);
	default:
		room = rsock_targets_find(&ep->targets, m->to + m->posted, to);
		return room ?: -ENXIO;
	}
}

/* Will more of the stream be posted at once, behind the next @len bytes? */
static bool rsock_tx_more(const struct rsock_ep *ep, const struct rsock_txmsg *m,
			  u32 len)
{
	if (!(ep->features & RSOCK_FEAT_MORE))
		return false;
	if (m->posted + len == m->len) {
		if (list_is_last(&m->node, &ep->tx.unsent))
			return false;
		/* A short one may have to wait */
		m = list_next_entry(m, node);
		if (m->to != RSOCK_TO_STREAM || m->len < RSOCK_TX_GATHER)
			return false;
	}
	return rsock_txwin_room(&ep->tx.win) && rsock_sq_has_room(&ep->sq, 2);
}

/* What the next @len bytes of a message are written as */
static void rsock_tx_wr(struct rsock_ep *ep, const struct rsock_txmsg *m,
			u32 len, struct rsock_sge *to, struct ib_rdma_wr *wr)
{
	u32 msg = 0;

	wr->wr.opcode = IB_WR_RDMA_WRITE_WITH_IMM;
	switch (m->to) {
	case RSOCK_TO_STREAM:
		rsock_txwin_take(&ep->tx.win, len, to);
		msg = rsock_msg_encode(rsock_tx_more(ep, m, len) ?
				       RSOCK_OP_DATA_MORE : RSOCK_OP_DATA, len);
		break;
	case RSOCK_TO_NOTES:
		msg = rsock_msg_encode(RSOCK_OP_NOTE, ep->tx.note++);
		rsock_txwin_counted(&ep->tx.win);
		break;
	default:
		wr->wr.opcode = IB_WR_RDMA_WRITE;
	}
	wr->wr.ex.imm_data = cpu_to_be32(msg);
	wr->remote_addr = to->addr;
	wr->rkey = to->key;
}

static void rsock_tx_post(struct rsock_ep *ep, struct rsock_txmsg *m, u32 room,
			  struct rsock_sge *to)
{
	struct ib_sge sge[RSOCK_TX_FRAGS];
	struct ib_rdma_wr wr = { .wr.sg_list = sge };
	u32 len, frees;
	bool whole;

	wr.wr.num_sge = rsock_txmsg_sges(ep, m, room, sge, &len);
	rsock_tx_wr(ep, m, len, to, &wr);
	/*
	 * The completion of a later one would do. But soft-iWARP has TCP send
	 * from the pages themselves unless this one is signalled.
	 */
	if (ep->iwarp && m->uarg)
		wr.wr.send_flags = IB_SEND_SIGNALED;
	m->posted += len;
	ep->tx.bytes_sent += len;
	/* A message is freed as a whole, when its last byte has arrived */
	whole = m->posted == m->len;
	frees = whole ? m->charge : 0;
	rsock_sq_post(ep, &wr.wr, frees,
		      (whole && m->tell) || rsock_tx_signal(ep, frees));
	ep->tx.gathered = false;
	if (whole) {
		m->end_seq = ep->sq.posted;
		list_move_tail(&m->node, &ep->tx.sent);
	}
}

/* The peer unmapped what this was for: it does not want the rest */
static void rsock_tx_lost(struct rsock_ep *ep, struct rsock_txmsg *m)
{
	RSOCK_INC_STATS(ep->net, RSOCK_MIB_WRITESLOST);
	rsock_txmsg_cut(ep, m, -ENXIO, &ep->tx.lost);
	rsock_ep_queue_work(ep);
	ep->ops->writable(ep);
}

/* May nothing be added to it any more? */
static bool rsock_txmsg_is_closed(const struct rsock_txmsg *m)
{
	return m->mapped || m->uarg || m->to == RSOCK_TO_NOTES;
}

/* Should a message wait for more to be added to it? Only the last one grows. */
static bool rsock_tx_gather(struct rsock_ep *ep, const struct rsock_txmsg *m)
{
	if (!list_is_last(&m->node, &ep->tx.unsent)) {
		ep->tx.gathered = false;
		return false;
	}
	if (rsock_txmsg_is_closed(m) || m->len >= RSOCK_TX_GATHER ||
	    ep->tx.fin || ep->sq.nr_marks < RSOCK_TX_GATHER_MARKS)
		return false;
	ep->tx.gathered = true;
	return true;
}

static void rsock_tx_post_fin(struct rsock_ep *ep)
{
	enum rsock_ctrl code = ep->tx.fin == RSOCK_FIN_DISCONNECT ?
			       RSOCK_CTRL_DISCONNECT : RSOCK_CTRL_SHUTDOWN;

	if (ep->tx.fin <= ep->tx.fin_posted || !rsock_sq_has_ctrl(&ep->sq))
		return;
	ep->tx.fin_posted = ep->tx.fin;
	rsock_sq_post_ctrl(ep, rsock_msg_encode(RSOCK_OP_CTRL, code), 0, 0,
			   NULL, 0, true);
	ep->tx.fin_seq = ep->sq.posted;
}

static void rsock_tx_post_unsent(struct rsock_ep *ep)
{
	struct rsock_tx *tx = &ep->tx;
	struct rsock_txmsg *m;
	struct rsock_sge to;
	s64 room;

	if (!rsock_iomap_push(ep))
		return;
	while (ep->state == RSOCK_EP_OPEN && !list_empty(&tx->unsent)) {
		m = list_first_entry(&tx->unsent, struct rsock_txmsg, node);
		room = rsock_tx_room(ep, m, &to);
		if (room < 0) {
			rsock_tx_lost(ep, m);
			continue;
		}
		if (!room)
			rsock_watch_blocked(ep);
		if (!room || !rsock_sq_has_room(&ep->sq, 1)) {
			trace_rsock_stall(ep, room);
			return;
		}
		if (rsock_tx_gather(ep, m))
			return;
		if (!m->mapped && rsock_txmsg_map(ep, m)) {
			rsock_ep_kill_locked(ep, EIO, RSOCK_MIB_DEVICEERRORS);
			return;
		}
		rsock_tx_post(ep, m, room, &to);
	}
	if (ep->state == RSOCK_EP_OPEN)
		rsock_tx_post_fin(ep);
}

/**
 * rsock_tx_mark() - write nothing, whose completion stands for all before it
 * @ep: endpoint in state OPEN with a free slot for control, ep->lock held
 */
void rsock_tx_mark(struct rsock_ep *ep)
{
	struct ib_rdma_wr wr = { .wr.opcode = IB_WR_RDMA_WRITE };

	rsock_sq_post_signalled(ep, &wr.wr);
}

/**
 * rsock_tx_probe() - write nothing, and have it acknowledged
 * @ep: endpoint in any state, ep->lock held; nothing is done unless it is OPEN
 *
 * If something is on its way already that will be, that is good enough.
 */
void rsock_tx_probe(struct rsock_ep *ep)
{
	lockdep_assert_held(&ep->lock);
	if (ep->state == RSOCK_EP_OPEN && !ep->sq.nr_marks &&
	    rsock_sq_has_ctrl(&ep->sq))
		rsock_tx_mark(ep);
}

/*
 * Most completions are not asked for. If none is on its way, and yet bytes
 * count as unsent, ask for one that stands for all.
 */
static void rsock_tx_flush(struct rsock_ep *ep)
{
	if (ep->tx.queued && ep->sq.unsig)
		rsock_tx_probe(ep);
}

/* Does somebody wait for room to send, or for pages to be free? */
static bool rsock_tx_awaited(const struct rsock_ep *ep)
{
	const struct socket *sock = ep->sk->sk_socket;

	if (ep->tx.inplace)
		return true;
	return rsock_sk(ep->sk)->ep == ep && sock &&
	       test_bit(SOCK_NOSPACE, &sock->flags);
}

/**
 * rsock_tx_push() - post what can be posted
 * @ep: endpoint in any state, ep->lock held
 *
 * Whoever waits for room is to learn of all there is: the last completion asked
 * for does not stand for what was posted after it.
 */
void rsock_tx_push(struct rsock_ep *ep)
{
	lockdep_assert_held(&ep->lock);
	rsock_tx_post_unsent(ep);
	if (rsock_tx_awaited(ep))
		rsock_tx_flush(ep);
}

/**
 * rsock_tx_complete() - work requests up to sq.done are complete
 * @ep: endpoint, ep->lock held
 * @done: messages to free after unlocking are added to it
 */
void rsock_tx_complete(struct rsock_ep *ep, struct list_head *done)
{
	struct rsock_tx *tx = &ep->tx;
	struct rsock_txmsg *m, *next;

	lockdep_assert_held(&ep->lock);
	list_for_each_entry_safe(m, next, &tx->sent, node) {
		if ((s32)(ep->sq.done - m->end_seq) < 0)
			break;
		rsock_txmsg_retire(ep, m, done);
	}
	if (!list_empty(done))
		ep->ops->writable(ep);
	/* That the peer has a DISCONNECT, iWARP does not say: it leaves then */
	if (tx->fin_posted && tx->fin_posted == tx->fin &&
	    (s32)(ep->sq.done - tx->fin_seq) >= 0 &&
	    !(ep->iwarp && tx->fin == RSOCK_FIN_DISCONNECT))
		ep->ops->tx_done(ep);
}

/**
 * rsock_tx_fin() - end the stream after what was sent
 * @ep: endpoint, ep->lock held
 * @fin: SHUTDOWN or DISCONNECT; the latter may follow the former
 */
void rsock_tx_fin(struct rsock_ep *ep, enum rsock_fin fin)
{
	ep->tx.fin = max(ep->tx.fin, fin);
	rsock_tx_push(ep);
}

/**
 * rsock_tx_drop() - forget what was not even begun to be sent
 * @ep: endpoint, ep->lock held
 */
void rsock_tx_drop(struct rsock_ep *ep)
{
	struct rsock_txmsg *m, *next;

	lockdep_assert_held(&ep->lock);
	list_for_each_entry_safe(m, next, &ep->tx.unsent, node)
		if (!m->mapped)
			rsock_txmsg_cut(ep, m, -EPIPE, &ep->tx.lost);
	if (!list_empty(&ep->tx.lost))
		rsock_ep_queue_work(ep);
}

/**
 * rsock_tx_cancel() - call back what was not posted
 * @ep: endpoint in any state
 * @uarg: of whom
 *
 * Return: bytes that are not sent.
 */
size_t rsock_tx_cancel(struct rsock_ep *ep, const struct ubuf_info *uarg)
{
	struct rsock_txmsg *m, *next;
	size_t rest = 0;
	LIST_HEAD(done);

	spin_lock_bh(&ep->lock);
	list_for_each_entry_safe(m, next, &ep->tx.unsent, node)
		if (m->uarg == uarg)
			rest += rsock_txmsg_cut(ep, m, -ECANCELED, &done);
	if (rest)
		ep->ops->writable(ep);
	rsock_tx_push(ep);
	spin_unlock_bh(&ep->lock);
	rsock_tx_free_list(&done);
	return rest;
}

/**
 * rsock_tx_kick() - do what can be done for one who waits for room to send
 * @ep: endpoint in any state
 */
void rsock_tx_kick(struct rsock_ep *ep)
{
	spin_lock_bh(&ep->lock);
	rsock_tx_push(ep);
	rsock_tx_flush(ep);
	spin_unlock_bh(&ep->lock);
}

/**
 * rsock_tx_queued() - bytes that are not known to be at the peer
 * @ep: endpoint
 *
 * The answer may be too large; then the next one is better.
 */
u32 rsock_tx_queued(struct rsock_ep *ep)
{
	u32 queued;

	spin_lock_bh(&ep->lock);
	queued = ep->tx.queued;
	rsock_tx_flush(ep);
	spin_unlock_bh(&ep->lock);
	return queued;
}

/* How long a message may grow: its room comes back at once, not byte by byte */
static u32 rsock_tx_msg_max(const struct rsock_ep *ep)
{
	return min(RSOCK_TX_MSG_MAX, READ_ONCE(ep->sk->sk_sndbuf) / 4);
}

/**
 * rsock_tx_unsent() - bytes that wait to be posted
 * @ep: endpoint. A guess, unless ep->lock is held
 */
u32 rsock_tx_unsent(const struct rsock_ep *ep)
{
	const struct rsock_tx *tx = &ep->tx;
	u64 posted = READ_ONCE(tx->bytes_sent) - READ_ONCE(tx->bytes_acked);
	u32 queued = READ_ONCE(tx->queued);

	return queued - min_t(u64, posted, queued);
}

/*
 * Can bytes at @off of @page, which go @to, be added to @m? And do they lie
 * behind its last fragment, so that it can grow?
 */
static bool rsock_txmsg_takes(const struct rsock_txmsg *m, struct page *page,
			      u32 off, s64 to, bool *extends)
{
	s64 end = m->to == RSOCK_TO_STREAM ? m->to : m->to + m->len;
	const struct rsock_txfrag *last;

	if (rsock_txmsg_is_closed(m) || to != end)
		return false;
	*extends = false;
	if (!m->nr_frags)
		return true;
	last = &m->frag[m->nr_frags - 1];
	*extends = last->page == page && last->off + last->len == off;
	return *extends || m->nr_frags < RSOCK_TX_FRAGS;
}

/**
 * rsock_txmsg_add() - add bytes to a message
 * @m: message that has room for them
 * @page: where they are; its reference goes to the message, unless @extends
 * @off: first byte
 * @len: bytes
 * @extends: they lie behind the last fragment
 */
void rsock_txmsg_add(struct rsock_txmsg *m, struct page *page, u32 off,
		     u32 len, bool extends)
{
	struct rsock_txfrag *f;

	m->len += len;
	m->charge = max(m->charge, m->len);
	if (extends) {
		m->frag[m->nr_frags - 1].len += len;
		return;
	}
	f = &m->frag[m->nr_frags++];
	f->page = page;
	f->off = off;
	f->len = len;
}

/* A message has become longer, or was added to the queue. ep->lock held */
static void rsock_tx_grown(struct rsock_ep *ep, u32 len, u32 charge, bool push)
{
	ep->tx.queued += len;
	ep->tx.charged += charge;
	WRITE_ONCE(ep->sk->sk_wmem_queued, ep->tx.charged);
	if (push)
		rsock_tx_push(ep);
}

/* May something be queued? A note may as long as the stream has not ended. */
static bool rsock_tx_takes(const struct rsock_ep *ep, s64 to)
{
	enum rsock_fin fin = to == RSOCK_TO_NOTES ? ep->tx.fin_posted :
						    ep->tx.fin;

	lockdep_assert_held(&ep->lock);
	return ep->state == RSOCK_EP_OPEN && !fin;
}

/**
 * rsock_tx_add() - queue a message
 * @ep: endpoint in any state
 * @m: message; taken over if it is queued
 * @push: send it now, if that is possible
 *
 * Return: 0 or -EPIPE.
 */
int rsock_tx_add(struct rsock_ep *ep, struct rsock_txmsg *m, bool push)
{
	int err = -EPIPE;

	spin_lock_bh(&ep->lock);
	if (rsock_tx_takes(ep, m->to)) {
		/* What is before it does not grow any more */
		push |= !list_empty(&ep->tx.unsent);
		list_add_tail(&m->node, &ep->tx.unsent);
		ep->tx.inplace += !!m->uarg;
		rsock_tx_grown(ep, m->len, m->charge, push);
		err = 0;
	}
	spin_unlock_bh(&ep->lock);
	return err;
}

/**
 * rsock_tx_add_list() - queue messages that are all placed
 * @ep: endpoint in any state
 * @list: messages; emptied if they are queued
 *
 * Context: any but hardirq.
 *
 * Return: 0, -EPIPE, or -ENOBUFS if far too much is queued already.
 */
int rsock_tx_add_list(struct rsock_ep *ep, struct list_head *list)
{
	u64 len = 0, charge = 0;
	struct rsock_txmsg *m;
	int err = -EPIPE;

	list_for_each_entry(m, list, node) {
		len += m->len;
		charge += m->charge;
	}
	spin_lock_bh(&ep->lock);
	if (len + ep->tx.queued > S32_MAX) {
		err = -ENOBUFS;
	} else if (rsock_tx_takes(ep, 0)) {
		list_for_each_entry(m, list, node)
			ep->tx.inplace += !!m->uarg;
		list_splice_tail_init(list, &ep->tx.unsent);
		rsock_tx_grown(ep, len, charge, true);
		err = 0;
	}
	spin_unlock_bh(&ep->lock);
	return err;
}

/* Add to the last message of the queue, if it takes it */
static bool rsock_tx_extend(struct rsock_ep *ep, struct page *page, u32 off,
			    u32 len, s64 to, bool push)
{
	struct rsock_txmsg *m;
	bool extends;
	u32 charge;

	lockdep_assert_held(&ep->lock);
	if (!rsock_tx_takes(ep, to) || list_empty(&ep->tx.unsent))
		return false;
	m = list_last_entry(&ep->tx.unsent, struct rsock_txmsg, node);
	if (m->len + len > rsock_tx_msg_max(ep) ||
	    !rsock_txmsg_takes(m, page, off, to, &extends))
		return false;
	if (!extends)
		get_page(page);
	charge = m->charge;
	rsock_txmsg_add(m, page, off, len, extends);
	rsock_tx_grown(ep, len, m->charge - charge, push);
	return true;
}

/**
 * rsock_tx_append() - queue bytes that lie in a page
 * @ep: endpoint in any state
 * @page: its reference is the caller's; the queue takes its own
 * @off: first byte
 * @len: bytes
 * @to: RSOCK_TO_STREAM, or the offset to place it at
 * @push: send it now, if that is possible
 *
 * Senders are serialised by lock_sock(), but the last message may be posted any
 * time that ep->lock is not held.
 *
 * Return: 0, -EPIPE or -ENOMEM.
 */
int rsock_tx_append(struct rsock_ep *ep, struct page *page, u32 off, u32 len,
		    s64 to, bool push)
{
	struct rsock_txmsg *m;
	bool done;
	int err;

	spin_lock_bh(&ep->lock);
	done = rsock_tx_extend(ep, page, off, len, to, push);
	spin_unlock_bh(&ep->lock);
	if (done)
		return 0;
	m = rsock_txmsg_alloc(to, NULL, ep->sk->sk_allocation);
	if (!m)
		return -ENOMEM;
	get_page(page);
	rsock_txmsg_add(m, page, off, len, false);
	err = rsock_tx_add(ep, m, push);
	if (err)
		rsock_txmsg_free(m);
	return err;
}

int rsock_tx_init(void)
{
	rsock_txmsg_cache = KMEM_CACHE(rsock_txmsg, SLAB_ACCOUNT);
	return rsock_txmsg_cache ? 0 : -ENOMEM;
}

void rsock_tx_exit(void)
{
	kmem_cache_destroy(rsock_txmsg_cache);
}
