// SPDX-License-Identifier: GPL-2.0
/*
 * Sending: from the caller's memory to the queue of tx.c.
 *
 * Most of what is sent is copied into page fragments, as much as the send
 * buffer takes, and the call returns. Data is sent in place, from the pages
 * that it lies in,
 *
 *  - with MSG_ZEROCOPY: the call returns, and the error queue tells when the
 *    pages may be used again;
 *  - with MSG_SPLICE_PAGES: they are given away;
 *  - in a blocking call with as much as net.rsock.inplace_min: the call returns
 *    when they are free again. What would fit into the send buffer is copied,
 *    since TCP does not wait for that either; but not what is placed, which the
 *    peer's program need not read, unless it has to queue behind something else.
 */

#include "send.h"

#include <linux/completion.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/skbuff.h>
#include <net/sock.h>

#include "iomap.h"
#include "pernet.h"
#include "rsock.h"
#include "tx.h"
#include "write.h"

/**
 * struct rsock_send - a call that sends
 * @msg: what to send; MSG_DONTWAIT, MSG_NOSIGNAL, MSG_ZEROCOPY
 * @to: RSOCK_TO_STREAM, or the offset to place the next byte at
 * @uarg: to be told when pages are free again, or NULL
 * @inplace: send from the pages, do not copy
 * @accounted: the pages count against the memlock limit, and so not against the
 *	send buffer, but for what is pinned besides the data
 * @timeo: how long it may still wait
 * @queued: bytes so far
 */
struct rsock_send {
	struct msghdr *msg;
	s64 to;
	struct ubuf_info *uarg;
	bool inplace;
	bool accounted;
	long timeo;
	int queued;
};

/* Copy as much as a page fragment and the send buffer take. Returns how much. */
static int rsock_send_copy(struct sock *sk, struct rsock_ep *ep,
			   struct rsock_send *s, size_t left)
{
	struct iov_iter *from = &s->msg->msg_iter;
	struct page_frag *pfrag = sk_page_frag(sk);
	size_t n, copied;
	int err;

	/* Not sk_page_frag_refill(): that shrinks a send buffer which TCP widens */
	if (!skb_page_frag_refill(32, pfrag, sk->sk_allocation))
		return -ENOMEM;
	n = min3(left, (size_t)(pfrag->size - pfrag->offset),
		 (size_t)max(sk->sk_sndbuf - READ_ONCE(sk->sk_wmem_queued), 1));
	copied = copy_page_from_iter(pfrag->page, pfrag->offset, n, from);
	if (!copied)
		return -EFAULT;
	err = rsock_tx_append(ep, pfrag->page, pfrag->offset, copied, s->to,
			      copied == left);
	if (err) {
		iov_iter_revert(from, copied);
		return err;
	}
	pfrag->offset += copied;
	return copied;
}

/* Takes over a reference to @page. One is enough for all of a compound page. */
static void rsock_txmsg_add_page(struct rsock_txmsg *m, struct page *page,
				 u32 off, u32 len)
{
	struct page *head = compound_head(page);
	struct rsock_txfrag *last = m->frag + m->nr_frags - 1;
	bool extends;

	off += (page_to_pfn(page) - page_to_pfn(head)) << PAGE_SHIFT;
	extends = m->nr_frags && last->page == head &&
		  last->off + last->len == off;
	rsock_txmsg_add(m, head, off, len, extends);
	if (extends)
		put_page(head);
}

/**
 * rsock_txmsg_fill() - fill a message
 * @m: empty message
 * @from: pages
 * @len: bytes of them, at most; as many fragments as it has bound it, too
 *
 * Return: 0, or a negative errno if there was nothing to take.
 */
int rsock_txmsg_fill(struct rsock_txmsg *m, struct iov_iter *from, size_t len)
{
	struct page *pages[RSOCK_TX_FRAGS];
	size_t off, n;
	ssize_t got;
	int i;

	while (m->len < len && m->nr_frags < RSOCK_TX_FRAGS) {
		got = iov_iter_get_pages2(from, pages, len - m->len,
					  RSOCK_TX_FRAGS - m->nr_frags, &off);
		if (got <= 0)
			return m->len ? 0 : got ?: -EFAULT;
		for (i = 0; got; i++, got -= n, off = 0) {
			n = min_t(size_t, got, PAGE_SIZE - off);
			rsock_txmsg_add_page(m, pages[i], off, n);
		}
	}
	return 0;
}

/* A page that is given away joins what waits before it. Returns how many bytes. */
static int rsock_send_page(struct rsock_ep *ep, struct rsock_send *s,
			   size_t left)
{
	struct iov_iter *from = &s->msg->msg_iter;
	struct page *page;
	size_t off;
	ssize_t n;
	int err;

	n = iov_iter_get_pages2(from, &page, left, 1, &off);
	if (n <= 0)
		return n ?: -EFAULT;
	err = rsock_tx_append(ep, page, off, n, s->to, n == left);
	put_page(page);
	if (err) {
		iov_iter_revert(from, n);
		return err;
	}
	RSOCK_INC_STATS(ep->net, RSOCK_MIB_INPLACE);
	return n;
}

/* Bytes that are pinned: whole pages */
static u32 rsock_txmsg_pinned(const struct rsock_txmsg *m)
{
	u32 pinned = 0;
	int i;

	for (i = 0; i < m->nr_frags; i++)
		pinned += PAGE_ALIGN(offset_in_page(m->frag[i].off) +
				     m->frag[i].len);
	return pinned;
}

/* Queue pages, as many as a message takes. Returns how many bytes. */
static int rsock_send_pages(struct sock *sk, struct rsock_ep *ep,
			    struct rsock_send *s, size_t left)
{
	struct iov_iter *from = &s->msg->msg_iter;
	struct rsock_txmsg *m;
	u32 len;
	int err;

	if (!s->uarg && left <= PAGE_SIZE)
		return rsock_send_page(ep, s, left);
	m = rsock_txmsg_alloc(s->to, s->uarg, sk->sk_allocation);
	if (!m)
		return -ENOMEM;
	err = rsock_txmsg_fill(m, from, min_t(size_t, left, RSOCK_TX_MSG_MAX));
	len = m->len;
	m->charge = max_t(u32, sizeof(*m), rsock_txmsg_pinned(m) -
					   (s->accounted ? len : 0));
	m->tell = len == left;
	if (!err)
		err = rsock_tx_add(ep, m, true);
	if (err) {
		iov_iter_revert(from, len);
		rsock_txmsg_free(m);
		return err;
	}
	RSOCK_INC_STATS(ep->net, RSOCK_MIB_INPLACE);
	return len;
}

/* @ep: the endpoint when the call began; the socket may have another by now */
static bool rsock_send_broken(const struct sock *sk, const struct rsock_ep *ep)
{
	return sk->sk_err || (sk->sk_shutdown & SEND_SHUTDOWN) ||
	       rsock_sk(sk)->ep != ep || !rsock_ep_is_open(ep);
}

/**
 * rsock_send_is_late() - is a connection ending, and not known yet what to tell?
 * @sk: socket
 * @ep: its endpoint. Without its lock a hint; the end wakes who waits for it
 */
bool rsock_send_is_late(const struct sock *sk, const struct rsock_ep *ep)
{
	return READ_ONCE(ep->state) >= RSOCK_EP_DYING &&
	       !READ_ONCE(ep->rx.disconnected) && !READ_ONCE(sk->sk_err) &&
	       !(READ_ONCE(sk->sk_shutdown) & SEND_SHUTDOWN) &&
	       READ_ONCE(rsock_sk(sk)->ep) == ep;
}

/*
 * Wait until it is, if it is not. Returns -EPIPE then, for which sk_stream_error()
 * has what was told, or why it could not wait.
 */
static int rsock_send_wait_end(struct sock *sk, const struct rsock_ep *ep, long *timeo)
{
	DEFINE_WAIT_FUNC(wait, woken_wake_function);

	add_wait_queue(sk_sleep(sk), &wait);
	while (rsock_send_is_late(sk, ep) && *timeo && !signal_pending(current))
		sk_wait_event(sk, timeo, !rsock_send_is_late(sk, ep), &wait);
	remove_wait_queue(sk_sleep(sk), &wait);
	if (!rsock_send_is_late(sk, ep))
		return -EPIPE;
	return *timeo ? sock_intr_errno(*timeo) : -EAGAIN;
}

/*
 * Can more be sent? The end is an error first, as with TCP, which EPIPE and the
 * signal that goes with it must not overtake.
 */
static int rsock_send_check(struct sock *sk, const struct rsock_ep *ep, long *timeo)
{
	if (!rsock_send_broken(sk, ep))
		return 0;
	return rsock_send_wait_end(sk, ep, timeo);
}

/* A peer that has closed takes no bytes; but none can be sent, as with TCP */
static bool rsock_send_is_nothing(const struct sock *sk, struct msghdr *msg)
{
	return !msg_data_left(msg) && !sk->sk_err &&
	       !(sk->sk_shutdown & SEND_SHUTDOWN);
}

/*
 * Wait for room in the send buffer or, if there was, for memory: a moment, as
 * TCP does. Users in the kernel give up a connection that has another error
 * than EAGAIN.
 */
static int rsock_send_wait(struct sock *sk, struct rsock_ep *ep, bool memory,
			   long *timeo)
{
	set_bit(SOCK_NOSPACE, &sk->sk_socket->flags);
	rsock_tx_kick(ep);
	/* Pairs with rsock_writable(): the flag is set, look once more */
	smp_mb__after_atomic();
	if (!memory && sk_stream_memory_free(sk))
		return 0;
	return sk_stream_wait_memory(sk, timeo);
}

/* Queue the next @left bytes. Returns 0 or why it could not queue all. */
static int rsock_send_queue(struct sock *sk, struct rsock_ep *ep,
			    struct rsock_send *s, size_t left)
{
	int n = 0, err;

	while (left) {
		if (n == -ENOMEM)
			RSOCK_INC_STATS(sock_net(sk), RSOCK_MIB_SENDNOMEMORY);
		if (n == -ENOMEM || !sk_stream_memory_free(sk)) {
			err = rsock_send_wait(sk, ep, n == -ENOMEM, &s->timeo);
			if (err)
				return err;
		}
		err = rsock_send_check(sk, ep, &s->timeo);
		if (err)
			return err;
		n = s->inplace ? rsock_send_pages(sk, ep, s, left) :
				 rsock_send_copy(sk, ep, s, left);
		/* The end came in between: look what it is */
		if (n == -ENOMEM || n == -EPIPE)
			continue;
		if (n < 0)
			return n;
		left -= n;
		s->queued += n;
		if (s->to != RSOCK_TO_STREAM)
			s->to += n;
	}
	return 0;
}

/* In place, and wait */

/**
 * struct rsock_send_waiter - one who waits for its pages
 * @write: what holds them
 * @free: nothing does
 */
struct rsock_send_waiter {
	struct rsock_write write;
	struct completion free;
};

static void rsock_send_waiter_done(struct rsock_write *write, int err)
{
	complete(&container_of(write, struct rsock_send_waiter, write)->free);
}

/*
 * Wait until no page is in use. One who cannot wait any longer calls back what
 * was not posted. What was must arrive soon, or it is taken away from the
 * device by force.
 */
static int rsock_send_drain(struct rsock_ep *ep, struct rsock_send *s,
			    struct rsock_send_waiter *w, int err)
{
	size_t rest;
	long left;

	net_zcopy_put(&w->write.ubuf);
	left = wait_for_completion_interruptible_timeout(&w->free,
							 err ? 0 : s->timeo);
	if (left > 0) {
		if (!err)
			s->timeo = left;
		return err;
	}
	rest = rsock_tx_cancel(ep, &w->write.ubuf);
	iov_iter_revert(&s->msg->msg_iter, rest);
	s->queued -= rest;
	if (wait_for_completion_killable_timeout(&w->free,
						 RSOCK_IOMAP_TIMEOUT) <= 0) {
		rsock_ep_kill(ep, ETIMEDOUT, RSOCK_MIB_INPLACETIMEOUTS);
		wait_for_completion(&w->free);
	}
	return err ?: left ? sock_intr_errno(s->timeo) : -EAGAIN;
}

/* How much of what there is to send is to be sent in place, and waited for */
static size_t rsock_send_inplace_len(const struct sock *sk,
				     const struct rsock_ep *ep,
				     const struct rsock_send *s)
{
	const struct iov_iter *from = &s->msg->msg_iter;
	size_t len = iov_iter_count(from);

	if (!s->timeo || s->inplace || !user_backed_iter(from) ||
	    len < READ_ONCE(rsock_net(sock_net(sk))->inplace_min) ||
	    len / PAGE_SIZE < from->nr_segs)
		return 0;
	/* What is before it in the queue may wait for the peer's program */
	if (s->to == RSOCK_TO_STREAM || !list_empty(&ep->tx.unsent))
		len -= min_t(size_t, len, READ_ONCE(sk->sk_sndbuf));
	return len;
}

static int rsock_send_inplace(struct sock *sk, struct rsock_ep *ep,
			      struct rsock_send *s, size_t len)
{
	struct rsock_send_waiter w = { .write.done = rsock_send_waiter_done };
	int err;

	rsock_write_init(&w.write);
	init_completion(&w.free);
	s->uarg = &w.write.ubuf;
	s->inplace = true;
	err = rsock_send_queue(sk, ep, s, len);
	s->uarg = NULL;
	s->inplace = false;
	release_sock(sk);
	err = rsock_send_drain(ep, s, &w, err);
	lock_sock(sk);
	return err;
}

/* MSG_ZEROCOPY, MSG_SPLICE_PAGES */

/* Those of a slab are not to be referred to, nor all but the first of a block */
static bool rsock_bvec_can_refer(const struct bio_vec *bv)
{
	size_t off;

	for (off = bv->bv_offset & PAGE_MASK; off < bv->bv_offset + bv->bv_len; off += PAGE_SIZE)
		if (!sendpage_ok(nth_page(bv->bv_page, off / PAGE_SIZE)))
			return false;
	return bv->bv_len;
}

/**
 * rsock_send_can_refer() - can what is to be sent be sent in place?
 * @from: what
 *
 * Return: true for pages of the kernel that can be referred to.
 */
bool rsock_send_can_refer(const struct iov_iter *from)
{
	size_t left = from->iov_offset + iov_iter_count(from);
	const struct bio_vec *bv;

	if (!iov_iter_is_bvec(from))
		return false;
	/* Of a registered buffer, @from may have more than is to be sent */
	for (bv = from->bvec; left; bv++) {
		if (!rsock_bvec_can_refer(bv))
			return false;
		left -= min_t(size_t, left, bv->bv_len);
	}
	return true;
}

static int rsock_send_begin(struct sock *sk, struct rsock_send *s)
{
	struct msghdr *msg = s->msg;
	struct iov_iter *from = &msg->msg_iter;

	if (!iov_iter_count(from))
		return 0;
	if (msg->msg_flags & MSG_SPLICE_PAGES) {
		s->inplace = rsock_send_can_refer(from);
		return 0;
	}
	if (!(msg->msg_flags & MSG_ZEROCOPY))
		return 0;
	s->inplace = user_backed_iter(from) || rsock_send_can_refer(from);
	if (msg->msg_ubuf) {
		s->uarg = msg->msg_ubuf;
		net_zcopy_get(s->uarg);
	} else if (sock_flag(sk, SOCK_ZEROCOPY)) {
		s->uarg = msg_zerocopy_realloc(sk, iov_iter_count(from), NULL);
		if (!s->uarg)
			return -ENOBUFS;
		uarg_to_msgzc(s->uarg)->zerocopy = s->inplace;
		if (!s->inplace)
			RSOCK_INC_STATS(sock_net(sk), RSOCK_MIB_ZEROCOPYCOPIED);
		s->accounted = true;
	} else {
		s->inplace = false;
	}
	return 0;
}

static void rsock_send_end(struct rsock_send *s)
{
	if (s->queued)
		net_zcopy_put(s->uarg);
	else
		net_zcopy_put_abort(s->uarg, true);
}

/*
 * Have a note follow what was placed, if the peer wants to be told. If there is
 * no memory for it, better an end than a receiver that waits.
 */
static void rsock_send_placed(struct sock *sk, struct rsock_ep *ep, s64 to,
			      int len)
{
	struct rsock_txmsg *m;

	if (!len || to == RSOCK_TO_STREAM || !rsock_write_is_noted(ep))
		return;
	m = rsock_write_note(ep, to, len, sk->sk_allocation);
	if (!m)
		rsock_ep_kill(ep, ENOMEM, RSOCK_MIB_NOMEMORY);
	else if (rsock_tx_add(ep, m, true))
		rsock_txmsg_free(m);
}

static int __rsock_send(struct sock *sk, struct rsock_ep *ep,
			struct rsock_send *s)
{
	size_t len;
	int err;

	err = rsock_send_begin(sk, s);
	if (err)
		return err;
	len = rsock_send_inplace_len(sk, ep, s);
	if (len)
		err = rsock_send_inplace(sk, ep, s, len);
	/* There is memory that can be copied from, but not be pinned */
	if (err == -EFAULT)
		err = 0;
	if (!err)
		err = rsock_send_queue(sk, ep, s, msg_data_left(s->msg));
	if (err && s->queued)
		rsock_tx_kick(ep);
	rsock_send_end(s);
	return err;
}

/* It lacked memory, and no completion will tell that there is some: do so now */
static void rsock_send_retry(struct sock *sk, struct rsock_ep *ep)
{
	spin_lock_bh(&ep->lock);
	if (list_empty(&ep->tx.unsent) && list_empty(&ep->tx.sent))
		sk->sk_write_space(sk);
	spin_unlock_bh(&ep->lock);
}

static int rsock_ep_send(struct sock *sk, struct rsock_ep *ep,
			 struct rsock_send *s)
{
	struct msghdr *msg = s->msg;
	s64 to = s->to;
	int err;

	err = rsock_send_check(sk, ep, &s->timeo);
	if (err)
		return rsock_send_is_nothing(sk, msg) ? 0 : err;
	if (msg->msg_flags & MSG_OOB)
		return -EOPNOTSUPP;
	if (to != RSOCK_TO_STREAM) {
		err = rsock_write_check(ep, to, msg_data_left(msg));
		if (err)
			return err;
	}
	err = __rsock_send(sk, ep, s);
	rsock_send_placed(sk, ep, to, s->queued);
	if (err == -EAGAIN)
		rsock_send_retry(sk, ep);
	return err;
}

/**
 * rsock_send() - send(2) and its kin
 * @sk: socket, locked
 * @msg: what to send; MSG_DONTWAIT, MSG_NOSIGNAL, MSG_ZEROCOPY
 * @to: RSOCK_TO_STREAM, or the offset to place it at
 *
 * Return: bytes queued, or a negative errno if none were.
 */
int rsock_send(struct sock *sk, struct msghdr *msg, s64 to)
{
	struct rsock_send s = {
		.msg = msg,
		.to = to,
		.timeo = sock_sndtimeo(sk, msg->msg_flags & MSG_DONTWAIT),
	};
	struct rsock_ep *ep;
	int err;

	if ((1 << sk->sk_state) & ~(TCPF_ESTABLISHED | TCPF_CLOSE_WAIT)) {
		err = sk_stream_wait_connect(sk, &s.timeo);
		if (err)
			goto out;
	}
	sk_clear_bit(SOCKWQ_ASYNC_NOSPACE, sk);
	ep = rsock_sk(sk)->ep;
	if (!ep) {
		err = -EPIPE;
		goto out;
	}
	rsock_ep_get(ep);
	err = rsock_ep_send(sk, ep, &s);
	rsock_ep_put(ep);
out:
	if (s.queued)
		return s.queued;
	return err ? sk_stream_error(sk, msg->msg_flags, err) : 0;
}
