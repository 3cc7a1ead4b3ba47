// SPDX-License-Identifier: GPL-2.0
/*
 * Receiving the stream.
 *
 * The peer writes into our ring and says so with an immediate. A completion
 * handler checks what it says, and wakes the reader, who copies out of the
 * ring; what is free again is granted back, half of the ring at a time. Credits
 * for messages are returned by the handler: nothing is kept per message, so that
 * a message is done with when it arrives.
 *
 * What the peer can write at any time (ring and tables) is never trusted: the
 * ring is only data, and table entries are copied once, then checked.
 */

#include "rx.h"

#include <net/sock.h>

#include "notes.h"
#include "pernet.h"
#include "rsock.h"
#include "trace.h"
#include "watch.h"

/*
 * Grants are such a part of a ring, or all of it. Smaller ones come earlier, but
 * take more credit messages for the same bytes, and to some peers a message ends
 * where a grant does.
 */
#define RSOCK_RX_UNITS		2

static u32 rsock_rx_unit(const struct rsock_rxwin *w)
{
	return w->ring[w->to].size / RSOCK_RX_UNITS;
}

/**
 * rsock_rx_post() - post receives, empty ones unless messages are sent
 * @ep: endpoint with a QP; ep->lock held, or nobody else knows the QP yet
 * @n: how many
 *
 * Return: 0 or a negative errno.
 */
int rsock_rx_post(struct rsock_ep *ep, unsigned int n)
{
	struct ib_recv_wr wr[RSOCK_RQ_BATCH] = {};
	struct ib_sge sge[RSOCK_RQ_BATCH];
	unsigned int i, chunk;
	int err;

	for (; n; n -= chunk) {
		chunk = min_t(unsigned int, n, RSOCK_RQ_BATCH);
		for (i = 0; i < chunk; i++) {
			wr[i].wr_cqe = &ep->recv_cqe;
			wr[i].next = i + 1 < chunk ? &wr[i + 1] : NULL;
			if (ep->iwarp)
				rsock_iw_recv(ep, &wr[i], &sge[i]);
		}
		err = ib_post_recv(ep->qp, wr, NULL);
		if (err)
			return err;
		ep->rx.posted += chunk;
	}
	return 0;
}

/* What to grant now: 0 or a multiple of the unit */
static u32 rsock_rx_grant_size(const struct rsock_rxwin *w, u32 *offset)
{
	return rounddown(rsock_rxwin_grantable(w, offset), rsock_rx_unit(w));
}

/* Credit for messages, and @len bytes: a message that tells the peer so */
static u32 rsock_rx_credit_msg(struct rsock_ep *ep, u32 len)
{
	u16 limit = rsock_rxwin_tell(&ep->rx.win);

	trace_rsock_credit_give(ep, limit, len);
	return rsock_msg_encode(RSOCK_OP_SGL, limit);
}

static void rsock_rx_grant(struct rsock_ep *ep, u32 offset, u32 len)
{
	struct rsock_rxwin *w = &ep->rx.win;
	u16 entry = rsock_rxwin_grant(w, len);
	u8 payload[RSOCK_SGE_LEN];
	struct rsock_sge sge = { .len = len };

	rsock_ring_sge(ep, offset, &sge);
	rsock_sge_encode(&sge, ep->swap, payload);
	rsock_ring_sync(ep, offset, len, false);
	rsock_sq_post_ctrl(ep, rsock_rx_credit_msg(ep, len),
			   ep->peer.sgl.addr + entry * RSOCK_SGE_LEN,
			   ep->peer.sgl.key, payload, sizeof(payload), false);
	rsock_ring_granted(ep);
}

/* Tell the peer of slots that nothing is written through any more */
static void rsock_rx_ack(struct rsock_ep *ep)
{
	u32 msg, slot;

	while (ep->rx.nr_acks && ep->state == RSOCK_EP_OPEN &&
	       rsock_sq_has_ctrl(&ep->sq)) {
		slot = find_first_bit(ep->rx.acks, RSOCK_IOMAP_MAX);
		__clear_bit(slot, ep->rx.acks);
		ep->rx.nr_acks--;
		msg = rsock_msg_encode(RSOCK_OP_CTRL, RSOCK_CTRL_REVOKED |
				       slot << RSOCK_CTRL_SLOT_SHIFT);
		rsock_sq_post_ctrl(ep, msg, 0, 0, NULL, 0, false);
	}
}

/* Room for what it sends, if it still does. Returns false if there is none to give */
static bool rsock_rx_give_room(struct rsock_ep *ep)
{
	u32 offset, len;

	if (ep->rx.eof)
		return false;
	len = rsock_rx_grant_size(&ep->rx.win, &offset);
	if (len)
		rsock_rx_grant(ep, offset, len);
	return len;
}

/* A peer that has sent its end may still map memory, which takes credit, too */
static bool rsock_rx_give_credit(struct rsock_ep *ep)
{
	if (!rsock_rxwin_credit_due(&ep->rx.win))
		return false;
	rsock_sq_post_ctrl(ep, rsock_rx_credit_msg(ep, 0), 0, 0, NULL, 0, false);
	return true;
}

/**
 * rsock_rx_update() - give the peer what can be given: answers, buffers, credit
 * @ep: endpoint in any state, ep->lock held
 */
void rsock_rx_update(struct rsock_ep *ep)
{
	lockdep_assert_held(&ep->lock);
	rsock_ring_push(ep);
	rsock_rx_ack(ep);
	while (ep->state == RSOCK_EP_OPEN && rsock_sq_has_ctrl(&ep->sq))
		if (!rsock_rx_give_room(ep) && !rsock_rx_give_credit(ep))
			break;
}

/*
 * Who sleeps until there is something to read is woken by the last of several
 * messages that follow each other; or earlier, when he could make room for a grant.
 */
static int rsock_rx_data(struct rsock_ep *ep, u32 len, bool more)
{
	const struct rsock_rxwin *w = &ep->rx.win;
	u32 offset;
	int fault;

	fault = rsock_rxwin_data(&ep->rx.win, len, &offset);
	if (fault)
		return fault;
	rsock_ring_sync(ep, offset, len, true);
	ep->rx.bytes += len;
	trace_rsock_ring_fill(ep, len);
	rsock_ring_filled(ep);
	ep->rx.more = more && rsock_rxwin_granted(w) >= rsock_rx_unit(w);
	if (ep->rx.more)
		rsock_watch_more(ep);
	else
		ep->ops->readable(ep);
	return 0;
}

static int rsock_rx_take_credit(struct rsock_ep *ep,
				const struct rsock_msg *msg)
{
	u8 entry[RSOCK_SGE_LEN];
	size_t at;
	int fault;

	fault = rsock_txwin_credit(&ep->tx.win, msg->value);
	if (fault || !msg->sge)
		return fault;
	at = ep->tx.win.next_entry * RSOCK_SGE_LEN;
	if (ep->iwarp && !rsock_iw_granted(ep, at))
		return RSOCK_FAULT_NONE;
	rsock_buf_snapshot(&ep->buf, at, sizeof(entry), entry);
	if (ep->iwarp)
		rsock_buf_clear(&ep->buf, at, sizeof(entry));
	return rsock_txwin_grant(&ep->tx.win, entry);
}

static int rsock_rx_credit(struct rsock_ep *ep, const struct rsock_msg *msg)
{
	int fault = rsock_rx_take_credit(ep, msg);

	if (trace_rsock_credit_get_enabled())
		trace_rsock_credit_get(ep, ep->tx.win.limit,
				       rsock_txwin_room(&ep->tx.win));
	return fault;
}

/* The peer mapped memory, or in place of what it had mapped nothing */
static int rsock_rx_iomap(struct rsock_ep *ep, u16 slot)
{
	struct rsock_iomap_entry e;
	u8 entry[RSOCK_IOMAP_LEN];
	int fault;

	fault = rsock_rxwin_counted(&ep->rx.win);
	if (fault)
		return fault;
	rsock_buf_snapshot(&ep->buf, RSOCK_SGL_ENTRIES * RSOCK_SGE_LEN +
			   slot * RSOCK_IOMAP_LEN, sizeof(entry), entry);
	fault = rsock_iomap_decode(entry, &e);
	if (!fault && rsock_targets_set(&ep->targets, slot, &e))
		rsock_ep_kill_locked(ep, ENOMEM, RSOCK_MIB_NOMEMORY);
	return fault;
}

/*
 * The peer takes back what it mapped. What we posted before goes before our
 * answer, and what we did not finds no target.
 */
static void rsock_rx_revoke(struct rsock_ep *ep, u16 slot)
{
	static const struct rsock_iomap_entry empty;

	if (!(ep->features & RSOCK_FEAT_REVOKE))
		return;
	rsock_targets_set(&ep->targets, slot, &empty);
	if (!__test_and_set_bit(slot, ep->rx.acks))
		ep->rx.nr_acks++;
}

static int rsock_rx_ctrl(struct rsock_ep *ep, const struct rsock_msg *msg)
{
	switch (msg->value) {
	case RSOCK_CTRL_DISCONNECT:
		WRITE_ONCE(ep->rx.disconnected, true);
		WRITE_ONCE(ep->rx.eof, true);
		ep->ops->readable(ep);
		/* The peer's QP is gone: nothing that we send can arrive */
		rsock_ep_kill_locked(ep, 0, RSOCK_MIB_NONE);
		break;
	case RSOCK_CTRL_SHUTDOWN:
		if (ep->rx.eof)
			break;
		WRITE_ONCE(ep->rx.eof, true);
		ep->ops->readable(ep);
		break;
	case RSOCK_CTRL_REVOKE:
		rsock_rx_revoke(ep, msg->slot);
		break;
	case RSOCK_CTRL_REVOKED:
		return rsock_iomap_revoked(ep, msg->slot);
	default:
		break;
	}
	return RSOCK_FAULT_NONE;
}

/* Is it what a message arrives as? */
static bool rsock_rx_is_message(const struct rsock_ep *ep,
				const struct ib_wc *wc)
{
	if (ep->iwarp)
		return wc->opcode == IB_WC_RECV &&
		       wc->byte_len == RSOCK_MSG_LEN;
	return wc->opcode == IB_WC_RECV_RDMA_WITH_IMM &&
	       (wc->wc_flags & IB_WC_WITH_IMM);
}

static int rsock_rx_message(struct rsock_ep *ep, u32 imm, u32 byte_len)
{
	struct rsock_msg msg;
	int fault;

	fault = rsock_msg_decode(imm, byte_len, ep->cfg.iomap, &msg);
	if (fault)
		return fault;
	switch (msg.op) {
	case RSOCK_OP_DATA:
		return rsock_rx_data(ep, msg.value, false);
	case RSOCK_OP_DATA_MORE:
		if (!(ep->features & RSOCK_FEAT_MORE))
			return RSOCK_FAULT_OP;
		return rsock_rx_data(ep, msg.value, true);
	case RSOCK_OP_SGL:
		return rsock_rx_credit(ep, &msg);
	case RSOCK_OP_NOTE:
		return rsock_notes_add(ep, msg.value);
	case RSOCK_OP_IOMAP:
		return rsock_rx_iomap(ep, msg.slot);
	default:
		return rsock_rx_ctrl(ep, &msg);
	}
}

static void rsock_rx_fault(struct rsock_ep *ep, int fault)
{
	ep->rx.faulty = true;
	rsock_ep_fault(ep, fault);
}

/* After a message: receives first, since credit promises them */
static void rsock_rx_respond(struct rsock_ep *ep)
{
	if (ep->state != RSOCK_EP_OPEN)
		return;
	if (ep->rx.depth - ep->rx.posted >= RSOCK_RQ_BATCH &&
	    rsock_rx_post(ep, RSOCK_RQ_BATCH)) {
		rsock_ep_kill_locked(ep, EIO, RSOCK_MIB_DEVICEERRORS);
		return;
	}
	rsock_rx_update(ep);
	rsock_tx_push(ep);
}

/*
 * A receive failed, and with it the connection. A device that stops the peer
 * from writing where it may not says so by a receive only if the write was to
 * take one; if not, all that is seen is that it flushes the receives of a
 * connection which nobody has ended.
 */
static void rsock_rx_failed(struct rsock_ep *ep, enum ib_wc_status status)
{
	enum rsock_mib why = RSOCK_MIB_PEERRESETS;

	/* iWARP flushes them when the peer refuses: rdma_cm tells why */
	if (ep->state == RSOCK_EP_CONNECT)
		return;
	if (ep->state == RSOCK_EP_OPEN && !ep->iwarp &&
	    (status == IB_WC_REM_ACCESS_ERR || status == IB_WC_WR_FLUSH_ERR))
		why = RSOCK_MIB_ACCESSERRORS;
	rsock_ep_kill_locked(ep, ECONNRESET, why);
}

/* A message arrived: what it is, and what follows from it */
static void rsock_rx_take(struct rsock_ep *ep, u32 imm, u32 byte_len)
{
	int fault;

	/* The peer has our REP or RTU, even if we do not know yet */
	if (ep->state == RSOCK_EP_ACCEPT)
		rsock_ep_opened(ep);
	ep->rx.msgs++;
	fault = rsock_rx_message(ep, imm, byte_len);
	if (fault)
		rsock_rx_fault(ep, fault);
}

static void rsock_rx_arrived(struct rsock_ep *ep, const struct ib_wc *wc)
{
	if (!rsock_rx_is_message(ep, wc))
		rsock_rx_fault(ep, RSOCK_FAULT_OPCODE);
	else if (!ep->iwarp)
		rsock_rx_take(ep, be32_to_cpu(wc->ex.imm_data), wc->byte_len);
	else if (rsock_iw_heard(ep))
		rsock_rx_take(ep, rsock_iw_msg(ep), RSOCK_LEN_UNKNOWN);
	else
		return;
	rsock_rx_respond(ep);
}

/**
 * rsock_rx_held() - take what arrived before we knew the peer
 * @ep: endpoint, ep->lock held
 */
void rsock_rx_held(struct rsock_ep *ep)
{
	for (; ep->iw.held && !ep->rx.disconnected && !ep->rx.faulty;
	     ep->iw.held--)
		rsock_rx_take(ep, rsock_iw_msg(ep), RSOCK_LEN_UNKNOWN);
	/* Their buffers are posted anew only now */
	rsock_rx_respond(ep);
}

/**
 * rsock_recv_done() - a message arrived, or a receive failed
 * @cq: completion queue
 * @wc: what completed; only wr_cqe and status are valid if it failed
 *
 * Messages count until the QP is drained, so that nothing is lost that arrived
 * before the end; those that follow a DISCONNECT do not. Context: softirq.
 */
void rsock_recv_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rsock_ep *ep = container_of(wc->wr_cqe, struct rsock_ep,
					   recv_cqe);

	spin_lock_bh(&ep->lock);
	trace_rsock_recv_done(ep, wc);
	ep->rx.posted--;
	if (wc->status != IB_WC_SUCCESS)
		rsock_rx_failed(ep, wc->status);
	else if (!ep->rx.disconnected && !ep->rx.faulty)
		rsock_rx_arrived(ep, wc);
	spin_unlock_bh(&ep->lock);
}

/*
 * Bytes to read, behind the first @skip: how many and where. The lock orders them
 * behind their count.
 */
static u32 rsock_rx_unread(struct rsock_ep *ep, u32 skip, u32 *offset)
{
	u32 len;

	spin_lock_bh(&ep->lock);
	len = rsock_rxwin_unread(&ep->rx.win, skip, offset);
	spin_unlock_bh(&ep->lock);
	return len;
}

/* The reader is done with bytes */
static void rsock_rx_consume(struct rsock_ep *ep, u32 len)
{
	spin_lock_bh(&ep->lock);
	rsock_rxwin_consume(&ep->rx.win, len);
	trace_rsock_ring_read(ep, len);
	rsock_rx_update(ep);
	spin_unlock_bh(&ep->lock);
}

/* Has the stream ended, or is there a reason not to wait for more? */
static bool rsock_rx_ended(struct sock *sk, const struct rsock_ep *ep)
{
	return READ_ONCE(ep->rx.eof) || sk->sk_err ||
	       rsock_sk(sk)->ep != ep ||	/* disconnected by another thread */
	       (sk->sk_shutdown & RCV_SHUTDOWN) || sk->sk_state == TCP_CLOSE;
}

/* Returns -EPIPE if another thread has disconnected the socket, else 0 */
static int rsock_rx_wait(struct sock *sk, struct rsock_ep *ep, u32 skip,
			 long *timeo)
{
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	int ret;

	add_wait_queue(sk_sleep(sk), &wait);
	sk_set_bit(SOCKWQ_ASYNC_WAITDATA, sk);
	ret = sk_wait_event(sk, timeo, rsock_rx_avail(ep) > skip ||
			    rsock_rx_ended(sk, ep), &wait);
	sk_clear_bit(SOCKWQ_ASYNC_WAITDATA, sk);
	remove_wait_queue(sk_sleep(sk), &wait);
	return min(ret, 0);
}

/* SO_PEEK_OFF: so many bytes were seen by MSG_PEEK already */
static u32 rsock_rx_peeked(const struct sock *sk, int flags)
{
	return max(sk_peek_offset(sk, flags), 0);
}

/* Why is there nothing to read? Call only when there is not. */
static int rsock_rx_error(struct sock *sk, const struct rsock_ep *ep)
{
	if (sock_flag(sk, SOCK_DONE) || READ_ONCE(ep->rx.eof))
		return 0;
	if (sk->sk_err)
		return sock_error(sk);
	if (sk->sk_shutdown & RCV_SHUTDOWN)
		return 0;
	return -ENOTCONN;
}

/**
 * rsock_rx_recvmsg() - recv(2) and its kin
 * @sk: socket, locked
 * @msg: where to copy to
 * @len: bytes wanted
 * @flags: MSG_PEEK, MSG_WAITALL, MSG_TRUNC, MSG_DONTWAIT as for TCP
 *
 * Return: bytes, 0 at the end of the stream, or a negative errno.
 */
int rsock_rx_recvmsg(struct sock *sk, struct msghdr *msg, size_t len,
		     int flags)
{
	long timeo = sock_rcvtimeo(sk, flags & MSG_DONTWAIT);
	struct rsock_ep *ep = rsock_ep_get(rsock_sk(sk)->ep);
	u32 target = sock_rcvlowat(sk, flags & MSG_WAITALL, len);
	struct msghdr *to = flags & MSG_TRUNC ? NULL : msg;
	u32 peeked = rsock_rx_peeked(sk, flags), offset, skip, n;
	size_t copied = 0;
	int err = 0;

	do {
		skip = flags & MSG_PEEK ? peeked + copied : 0;
		n = rsock_rx_unread(ep, skip, &offset);
		if (n) {
			if (!len)
				break;
			n = min_t(size_t, n, len - copied);
			if (to)
				n = rsock_ring_to_iter(ep, offset, n,
						       &to->msg_iter);
			if (!n) {
				err = -EFAULT;
				break;
			}
			if (flags & MSG_PEEK) {
				sk_peek_offset_fwd(sk, n);
			} else {
				sk_peek_offset_bwd(sk, n);
				rsock_rx_consume(ep, n);
			}
			copied += n;
			continue;
		}
		/* Full rings are all that a peek can ever see */
		if (copied >= target ||
		    (copied && flags & MSG_PEEK && rsock_rx_full(ep)))
			break;
		if (rsock_rx_ended(sk, ep)) {
			/* Look again: bytes come before their end */
			if (rsock_rx_unread(ep, skip, &offset))
				continue;
			err = copied ? 0 : rsock_rx_error(sk, ep);
			break;
		}
		err = timeo ? sock_intr_errno(timeo) : -EAGAIN;
		if (!timeo || signal_pending(current))
			break;
		err = rsock_rx_wait(sk, ep, skip, &timeo);
		if (err)
			break;
	} while (copied < len);
	rsock_ep_put(ep);
	return copied ?: err;
}

/* read_sock() takes the stream in pieces of so many bytes at most */
#define RSOCK_READ_MAX		SZ_16K

/* The next bytes, copied: the ring is the peer's to write to, an skb is not */
static struct sk_buff *rsock_rx_skb(struct sock *sk, struct rsock_ep *ep,
				    u32 offset, u32 len)
{
	struct sk_buff *skb;
	struct iov_iter to;
	struct kvec kvec;

	skb = alloc_skb(len, sk->sk_allocation);
	if (!skb)
		return NULL;
	kvec.iov_base = skb->data;
	kvec.iov_len = len;
	iov_iter_kvec(&to, ITER_DEST, &kvec, 1, len);
	skb_put(skb, rsock_ring_to_iter(ep, offset, len, &to));
	return skb;
}

/**
 * rsock_read_sock() - hand what arrived to a user in the kernel
 * @sk: socket, locked
 * @desc: @actor's; it ends when its count is 0
 * @actor: takes bytes of an skb, and says how many it took
 *
 * Context: process, as everything that locks the socket.
 *
 * Return: bytes taken, or a negative errno of @actor's, -ENOTCONN or -ENOMEM.
 */
int rsock_read_sock(struct sock *sk, read_descriptor_t *desc,
		    sk_read_actor_t actor)
{
	struct rsock_ep *ep = rsock_sk(sk)->ep;
	struct sk_buff *skb;
	int used, copied = 0;
	u32 offset, len;

	if (sk->sk_state == TCP_LISTEN || !ep)
		return -ENOTCONN;
	while ((len = rsock_rx_unread(ep, 0, &offset))) {
		skb = rsock_rx_skb(sk, ep, offset,
				   min_t(u32, len, RSOCK_READ_MAX));
		if (!skb)
			return copied ?: -ENOMEM;
		used = actor(desc, skb, 0, skb->len);
		consume_skb(skb);
		if (used <= 0)
			return copied ?: used;
		rsock_rx_consume(ep, used);
		copied += used;
		if (!desc->count)
			break;
	}
	return copied;
}
