// SPDX-License-Identifier: GPL-2.0
/*
 * Sending the stream.
 *
 * sendmsg() copies into page fragments, which are gathered into messages
 * (struct rsock_txmsg). A message is posted as one RDMA write with immediate,
 * or as several if the buffer that the peer granted ends within it, since each
 * grant has to be filled to its last byte. Pages are given back when the write
 * is known complete, that is, in the peer's memory.
 *
 * Who may push: whoever made something possible that was not before. The
 * sender after copying, a completion that freed slots, a credit or a grant
 * that arrived. All under ep->lock, so that order is kept.
 *
 * Data that is placed (MSG_RIOWRITE) takes its turn in the same queue, but is
 * written to where the peer mapped it, and needs neither grant nor credit.
 *
 * Short writes that come faster than they complete are gathered: while two
 * completions are outstanding anyway, a short message waits for one of them.
 */

#include "tx.h"

#include <linux/slab.h>
#include <net/sock.h>

#include "pernet.h"
#include "rsock.h"
#include "trace.h"

/* A message below this size may wait to be gathered */
#define RSOCK_TX_GATHER		8192
#define RSOCK_TX_GATHER_MARKS	2

static struct kmem_cache *rsock_txmsg_cache;

static void rsock_txmsg_free(struct rsock_txmsg *m)
{
	while (m->nr_frags)
		put_page(m->frag[--m->nr_frags].page);
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

/**
 * rsock_tx_purge() - drop all that was not sent
 * @ep: endpoint that nobody else uses, its QP gone or never made
 */
void rsock_tx_purge(struct rsock_ep *ep)
{
	struct rsock_txmsg *m;

	list_splice_tail_init(&ep->tx.unsent, &ep->tx.sent);
	list_for_each_entry(m, &ep->tx.sent, node)
		rsock_txmsg_unmap(ep, m);
	rsock_tx_free_list(&ep->tx.sent);
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

/* Where the next bytes of a message may be written, and how many of them */
static u32 rsock_tx_room(struct rsock_ep *ep, const struct rsock_txmsg *m,
			 struct rsock_sge *to)
{
	if (m->to == RSOCK_TO_STREAM)
		return rsock_txwin_room(&ep->tx.win);
	return rsock_targets_find(&ep->targets, m->to + m->posted, to);
}

static void rsock_tx_post(struct rsock_ep *ep, struct rsock_txmsg *m, u32 room,
			  struct rsock_sge *to)
{
	struct ib_sge sge[RSOCK_TX_FRAGS];
	struct ib_rdma_wr wr = { .wr.sg_list = sge };
	u32 len, frees;

	wr.wr.num_sge = rsock_txmsg_sges(ep, m, room, sge, &len);
	if (m->to == RSOCK_TO_STREAM) {
		wr.wr.opcode = IB_WR_RDMA_WRITE_WITH_IMM;
		wr.wr.ex.imm_data =
			cpu_to_be32(rsock_msg_encode(RSOCK_OP_DATA, len));
		rsock_txwin_take(&ep->tx.win, len, to);
	} else {
		wr.wr.opcode = IB_WR_RDMA_WRITE;
	}
	wr.remote_addr = to->addr;
	wr.rkey = to->key;
	m->posted += len;
	/* A message is freed as a whole, when its last byte has arrived */
	frees = m->posted == m->len ? m->len : 0;
	rsock_sq_post(ep, &wr.wr, frees, rsock_tx_signal(ep, frees));
	ep->tx.gathered = false;
	if (frees) {
		m->end_seq = ep->sq.posted;
		list_move_tail(&m->node, &ep->tx.sent);
	}
}

/*
 * The peer unmapped what this was for: it does not want the rest. What was
 * posted of it may be on its way, so that its completion is to be seen.
 */
static void rsock_tx_lost(struct rsock_ep *ep, struct rsock_txmsg *m)
{
	RSOCK_INC_STATS(ep->net, RSOCK_MIB_WRITESLOST);
	if (m->posted) {
		m->end_seq = ep->sq.posted;
		list_move_tail(&m->node, &ep->tx.sent);
		return;
	}
	ep->tx.queued -= m->len;
	list_del(&m->node);
	rsock_txmsg_unmap(ep, m);
	rsock_txmsg_free(m);
	ep->ops->writable(ep);
}

/* Should a message wait for more to be added to it? */
static bool rsock_tx_gather(struct rsock_ep *ep, const struct rsock_txmsg *m)
{
	if (m->mapped || m->len >= RSOCK_TX_GATHER || ep->tx.fin ||
	    ep->sq.nr_marks < RSOCK_TX_GATHER_MARKS)
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
	u32 room;

	if (!rsock_iomap_push(ep))
		return;
	while (ep->state == RSOCK_EP_OPEN && !list_empty(&tx->unsent)) {
		m = list_first_entry(&tx->unsent, struct rsock_txmsg, node);
		room = rsock_tx_room(ep, m, &to);
		if (!room && m->to != RSOCK_TO_STREAM) {
			rsock_tx_lost(ep, m);
			continue;
		}
		if (!room || !rsock_sq_has_room(&ep->sq) ||
		    rsock_tx_gather(ep, m))
			return;
		if (!m->mapped && rsock_txmsg_map(ep, m)) {
			rsock_ep_kill_locked(ep, EIO);
			return;
		}
		rsock_tx_post(ep, m, room, &to);
	}
	if (ep->state == RSOCK_EP_OPEN)
		rsock_tx_post_fin(ep);
}

/*
 * Most completions are not asked for. If none is on its way, and yet bytes
 * count as unsent, ask with an empty write for one that stands for all.
 */
static void rsock_tx_flush(struct rsock_ep *ep)
{
	struct ib_rdma_wr wr = { .wr.opcode = IB_WR_RDMA_WRITE };

	if (ep->state != RSOCK_EP_OPEN || !ep->tx.queued || !ep->sq.unsig ||
	    ep->sq.nr_marks || !rsock_sq_has_ctrl(&ep->sq))
		return;
	ep->sq.ctrl_posted++;
	rsock_sq_post(ep, &wr.wr, 0, true);
}

/* Does somebody wait for room to send? */
static bool rsock_tx_awaited(const struct rsock_ep *ep)
{
	const struct socket *sock = ep->sk->sk_socket;

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
	u32 freed = 0;

	lockdep_assert_held(&ep->lock);
	list_for_each_entry_safe(m, next, &tx->sent, node) {
		if ((s32)(ep->sq.done - m->end_seq) < 0)
			break;
		rsock_txmsg_unmap(ep, m);
		freed += m->len;
		list_move_tail(&m->node, done);
	}
	if (freed) {
		tx->queued -= freed;
		ep->ops->writable(ep);
	}
	if (tx->fin_posted && tx->fin_posted == tx->fin &&
	    (s32)(ep->sq.done - tx->fin_seq) >= 0)
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
	list_for_each_entry_safe(m, next, &ep->tx.unsent, node) {
		if (m->mapped)
			continue;
		ep->tx.queued -= m->len;
		list_del(&m->node);
		rsock_txmsg_free(m);
	}
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

/*
 * Can bytes at @off of @page, which go @to, be added to @m? And do they lie
 * behind its last fragment, so that it can grow?
 */
static bool rsock_txmsg_takes(const struct rsock_txmsg *m, struct page *page,
			      u32 off, s64 to, bool *extends)
{
	s64 end = m->to == RSOCK_TO_STREAM ? m->to : m->to + m->len;
	const struct rsock_txfrag *last;

	if (m->mapped || m->len >= RSOCK_TX_MSG_MAX || to != end)
		return false;
	*extends = false;
	if (!m->nr_frags)
		return true;
	last = &m->frag[m->nr_frags - 1];
	*extends = last->page == page && last->off + last->len == off;
	return *extends || m->nr_frags < RSOCK_TX_FRAGS;
}

static void rsock_txmsg_add(struct rsock_txmsg *m, struct page *page, u32 off,
			    u32 len, bool extends)
{
	struct rsock_txfrag *f;

	m->len += len;
	if (extends) {
		m->frag[m->nr_frags - 1].len += len;
		return;
	}
	f = &m->frag[m->nr_frags++];
	get_page(page);
	f->page = page;
	f->off = off;
	f->len = len;
}

/*
 * Queue bytes that lie in a page. Senders are serialised by lock_sock(), but
 * the last message may be posted any time that ep->lock is not held.
 */
static int rsock_tx_append(struct rsock_ep *ep, struct page *page, u32 off,
			   u32 len, s64 to, bool push)
{
	struct rsock_txmsg *m, *fresh = NULL;
	bool extends = false;
	int err = 0;

again:
	spin_lock_bh(&ep->lock);
	if (ep->state != RSOCK_EP_OPEN || ep->tx.fin) {
		err = -EPIPE;
		goto unlock;
	}
	m = list_empty(&ep->tx.unsent) ? NULL :
	    list_last_entry(&ep->tx.unsent, struct rsock_txmsg, node);
	if (!m || !rsock_txmsg_takes(m, page, off, to, &extends)) {
		if (!fresh) {
			spin_unlock_bh(&ep->lock);
			fresh = kmem_cache_zalloc(rsock_txmsg_cache,
						  ep->sk->sk_allocation);
			if (!fresh)
				return -ENOMEM;
			goto again;
		}
		m = fresh;
		fresh = NULL;
		extends = false;
		m->to = to;
		list_add_tail(&m->node, &ep->tx.unsent);
	}
	rsock_txmsg_add(m, page, off, len, extends);
	ep->tx.queued += len;
	WRITE_ONCE(ep->sk->sk_wmem_queued, ep->tx.queued);
	if (push || m->len >= RSOCK_TX_MSG_MAX)
		rsock_tx_push(ep);
unlock:
	spin_unlock_bh(&ep->lock);
	if (fresh)
		kmem_cache_free(rsock_txmsg_cache, fresh);
	return err;
}

/*
 * Copy and queue a piece of what the caller wants to send: as much as one page
 * fragment, one message and the send buffer take. Returns its length.
 */
static int rsock_tx_piece(struct sock *sk, struct rsock_ep *ep,
			  struct msghdr *msg, s64 to)
{
	struct page_frag *pfrag = sk_page_frag(sk);
	size_t left = msg_data_left(msg);
	size_t n, copied;
	int err;

	if (!sk_page_frag_refill(sk, pfrag))
		return -ENOBUFS;
	n = min3(left, (size_t)(pfrag->size - pfrag->offset),
		 (size_t)max(sk->sk_sndbuf - READ_ONCE(sk->sk_wmem_queued), 1));
	copied = copy_page_from_iter(pfrag->page, pfrag->offset, n,
				     &msg->msg_iter);
	if (!copied)
		return -EFAULT;
	err = rsock_tx_append(ep, pfrag->page, pfrag->offset, copied, to,
			      copied == left);
	if (err) {
		iov_iter_revert(&msg->msg_iter, copied);
		return err;
	}
	pfrag->offset += copied;
	return copied;
}

/* @ep: the endpoint when the call began; the socket may have another by now */
static bool rsock_tx_broken(const struct sock *sk, const struct rsock_ep *ep)
{
	return sk->sk_err || (sk->sk_shutdown & SEND_SHUTDOWN) ||
	       !ep || rsock_sk(sk)->ep != ep || !rsock_ep_is_open(ep);
}

/* Wait for room in the send buffer, or for the connection to be made */
static int rsock_tx_wait(struct sock *sk, struct rsock_ep *ep, long *timeo)
{
	set_bit(SOCK_NOSPACE, &sk->sk_socket->flags);
	rsock_tx_kick(ep);
	/* Pairs with rsock_writable(): the flag is set, look once more */
	smp_mb__after_atomic();
	if (sk_stream_memory_free(sk))
		return 0;
	return sk_stream_wait_memory(sk, timeo);
}

/* Has the peer mapped all of what is to be placed? */
static bool rsock_tx_mapped(struct rsock_ep *ep, s64 to, size_t len)
{
	bool mapped;

	if (to == RSOCK_TO_STREAM)
		return true;
	spin_lock_bh(&ep->lock);
	mapped = rsock_targets_cover(&ep->targets, to, len);
	spin_unlock_bh(&ep->lock);
	return mapped;
}

/**
 * rsock_tx_sendmsg() - send(2) and its kin
 * @sk: socket, locked
 * @msg: what to send; MSG_DONTWAIT, MSG_NOSIGNAL
 * @to: RSOCK_TO_STREAM, or the offset to place it at
 *
 * Return: bytes queued, or a negative errno if none were.
 */
int rsock_tx_sendmsg(struct sock *sk, struct msghdr *msg, s64 to)
{
	long timeo = sock_sndtimeo(sk, msg->msg_flags & MSG_DONTWAIT);
	struct rsock_ep *ep;
	int copied = 0, err = 0;

	if ((1 << sk->sk_state) & ~(TCPF_ESTABLISHED | TCPF_CLOSE_WAIT)) {
		err = sk_stream_wait_connect(sk, &timeo);
		if (err)
			goto out;
	}
	sk_clear_bit(SOCKWQ_ASYNC_NOSPACE, sk);
	err = -EPIPE;
	ep = rsock_sk(sk)->ep;
	if (rsock_tx_broken(sk, ep))
		goto out;
	err = -ENXIO;
	if (!rsock_tx_mapped(ep, to, msg_data_left(msg)))
		goto out;
	err = 0;
	rsock_ep_get(ep);
	while (msg_data_left(msg)) {
		if (!sk_stream_memory_free(sk)) {
			err = rsock_tx_wait(sk, ep, &timeo);
			if (err)
				break;
		}
		err = -EPIPE;
		if (rsock_tx_broken(sk, ep))
			break;
		err = rsock_tx_piece(sk, ep, msg, to);
		if (err < 0)
			break;
		copied += err;
		if (to != RSOCK_TO_STREAM)
			to += err;
		err = 0;
	}
	if (err && copied)
		rsock_tx_kick(ep);
	rsock_ep_put(ep);
out:
	if (copied)
		return copied;
	return err ? sk_stream_error(sk, msg->msg_flags, err) : 0;
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
