// SPDX-License-Identifier: GPL-2.0
/*
 * What both ends need of a socket. Nothing else of this module calls one.
 *
 * The socket's callbacks come in softirqs, with locks of AF_RSOCK held, and
 * also while a user has the socket locked. What keeps them and the end of their
 * struct rrpc_sock apart is sk_callback_lock.
 */

#include <linux/net.h>
#include <linux/sunrpc/xdr.h>
#include <net/sock.h>

#include <linux/rsock.h>

#include "rpc.h"

/* Large enough for the bulk of a request; the ring is registered memory */
#define RRPC_BUF	(512 * 1024)

/* Callbacks */

static void rrpc_sk_event(struct sock *sk, enum rrpc_event event,
			  size_t callback)
{
	void (**own)(struct sock *sk);
	struct rrpc_sock *s;

	read_lock_bh(&sk->sk_callback_lock);
	s = sk->sk_user_data;
	if (s) {
		own = (void *)s + callback;
		(*own)(sk);
		s->event(s, event);
	}
	read_unlock_bh(&sk->sk_callback_lock);
}

static void rrpc_sk_data_ready(struct sock *sk)
{
	rrpc_sk_event(sk, RRPC_DATA, offsetof(struct rrpc_sock, data_ready));
}

static void rrpc_sk_state_change(struct sock *sk)
{
	rrpc_sk_event(sk, RRPC_STATE, offsetof(struct rrpc_sock, state_change));
}

static void rrpc_sk_write_space(struct sock *sk)
{
	rrpc_sk_event(sk, RRPC_SPACE, offsetof(struct rrpc_sock, write_space));
}

static void rrpc_sk_error_report(struct sock *sk)
{
	rrpc_sk_event(sk, RRPC_STATE, offsetof(struct rrpc_sock, error_report));
}

/**
 * rrpc_sock_attach() - begin to tell of events
 * @s: has a socket, and its event() is set
 *
 * What happened before is not told: look.
 */
void rrpc_sock_attach(struct rrpc_sock *s)
{
	struct sock *sk = s->sock->sk;

	write_lock_bh(&sk->sk_callback_lock);
	s->data_ready = sk->sk_data_ready;
	s->state_change = sk->sk_state_change;
	s->write_space = sk->sk_write_space;
	s->error_report = sk->sk_error_report;
	sk->sk_user_data = s;
	sk->sk_data_ready = rrpc_sk_data_ready;
	sk->sk_state_change = rrpc_sk_state_change;
	sk->sk_write_space = rrpc_sk_write_space;
	sk->sk_error_report = rrpc_sk_error_report;
	write_unlock_bh(&sk->sk_callback_lock);
}

/**
 * rrpc_sock_detach() - tell no more; no event is on its way when this returns
 * @s: attached
 */
void rrpc_sock_detach(struct rrpc_sock *s)
{
	struct sock *sk = s->sock->sk;

	write_lock_bh(&sk->sk_callback_lock);
	sk->sk_user_data = NULL;
	sk->sk_data_ready = s->data_ready;
	sk->sk_state_change = s->state_change;
	sk->sk_write_space = s->write_space;
	sk->sk_error_report = s->error_report;
	write_unlock_bh(&sk->sk_callback_lock);
}

/* Making */

#ifdef CONFIG_DEBUG_LOCK_ALLOC
static struct lock_class_key rrpc_slock_key, rrpc_key;

/* Locked on the way to freeing memory, which those of programs are not */
static void rrpc_sock_reclassify(struct sock *sk)
{
	if (!WARN_ON_ONCE(!sock_allow_reclassification(sk)))
		sock_lock_init_class_and_name(sk, "slock-AF_RSOCK-RPC",
					      &rrpc_slock_key,
					      "sk_lock-AF_RSOCK-RPC",
					      &rrpc_key);
}
#else
static void rrpc_sock_reclassify(struct sock *sk)
{
}
#endif

/**
 * rrpc_sock_create() - make a socket, to be connected or to listen
 * @s: gets it
 * @net: its network namespace, which it holds
 */
int rrpc_sock_create(struct rrpc_sock *s, struct net *net)
{
	struct sock *sk;
	int err;

	err = sock_create_kern(net, AF_RSOCK, SOCK_STREAM, 0, &s->sock);
	if (err)
		return err;
	sk = s->sock->sk;
	rrpc_sock_reclassify(sk);
	sk->sk_reuse = SK_CAN_REUSE;
	/* Writing back dirty pages must not wait for that same thing */
	sk->sk_allocation = GFP_NOFS;
	sk->sk_use_task_frag = false;
	sk->sk_sndbuf = RRPC_BUF;
	sk->sk_rcvbuf = RRPC_BUF;
	return 0;
}

/**
 * rrpc_sock_accept() - take a connection from a listener
 * @s: gets it
 * @listener: whose queue it is in
 *
 * Return: 0, -EAGAIN if there is none, or another error.
 */
int rrpc_sock_accept(struct rrpc_sock *s, struct rrpc_sock *listener)
{
	return kernel_accept(listener->sock, &s->sock, O_NONBLOCK);
}

/**
 * rrpc_sock_release() - close the socket; what was sent still arrives
 * @s: not attached
 */
void rrpc_sock_release(struct rrpc_sock *s)
{
	sock_release(s->sock);
	s->sock = NULL;
}

/**
 * rrpc_sock_setopt() - setsockopt() of a number
 * @s: socket
 * @level: of the option
 * @name: of the option
 * @value: for it
 */
int rrpc_sock_setopt(struct rrpc_sock *s, int level, int name, int value)
{
	return s->sock->ops->setsockopt(s->sock, level, name,
					KERNEL_SOCKPTR(&value), sizeof(value));
}

/**
 * rrpc_sock_is_connected() - can it be used in both directions?
 * @s: socket
 */
bool rrpc_sock_is_connected(const struct rrpc_sock *s)
{
	return READ_ONCE(s->sock->sk->sk_state) == TCP_ESTABLISHED;
}

/* Records */

static struct page *rrpc_xdr_page(struct xdr_buf *xdr, unsigned int i)
{
	if (!xdr->pages[i] && (xdr->flags & XDRBUF_SPARSE_PAGES))
		xdr->pages[i] = alloc_page(GFP_NOFS | __GFP_NORETRY |
					   __GFP_NOWARN);
	return xdr->pages[i];
}

static int rrpc_piece_of_pages(struct rrpc_piece *p, unsigned int dir,
			       struct xdr_buf *xdr, size_t pos, size_t max)
{
	struct bio_vec *bvec = p->bvec;
	size_t len = 0;
	struct page *page;

	pos += xdr->page_base;
	while (len < max && bvec < p->bvec + RRPC_BVECS) {
		page = rrpc_xdr_page(xdr, pos >> PAGE_SHIFT);
		if (!page)
			break;
		bvec->bv_page = page;
		bvec->bv_offset = offset_in_page(pos);
		bvec->bv_len = min_t(size_t, max - len,
				     PAGE_SIZE - bvec->bv_offset);
		len += bvec->bv_len;
		pos += bvec->bv_len;
		bvec++;
	}
	iov_iter_bvec(&p->iter, dir, p->bvec, bvec - p->bvec, len);
	return len ? 0 : -ENOMEM;
}

static void rrpc_piece_of_vec(struct rrpc_piece *p, unsigned int dir,
			      const struct kvec *vec, size_t pos, size_t max)
{
	p->vec[0].iov_base = vec->iov_base + pos;
	p->vec[0].iov_len = min(vec->iov_len - pos, max);
	iov_iter_kvec(&p->iter, dir, p->vec, 1, p->vec[0].iov_len);
}

/**
 * rrpc_piece_of() - the next part of a record, as large as it can be
 * @p: gets it
 * @dir: ITER_SOURCE or ITER_DEST
 * @xdr: the record; pages that it lacks are added if it wants that
 * @pos: where the part begins
 * @max: bytes it may have at most
 *
 * Return: 0, -EMSGSIZE if the record ends before @pos, or -ENOMEM.
 */
int rrpc_piece_of(struct rrpc_piece *p, unsigned int dir, struct xdr_buf *xdr,
		  size_t pos, size_t max)
{
	if (pos < xdr->head[0].iov_len) {
		rrpc_piece_of_vec(p, dir, &xdr->head[0], pos, max);
		return 0;
	}
	pos -= xdr->head[0].iov_len;
	if (pos < xdr->page_len)
		return rrpc_piece_of_pages(p, dir, xdr, pos,
					   min(max, xdr->page_len - pos));
	pos -= xdr->page_len;
	if (pos < xdr->tail[0].iov_len) {
		rrpc_piece_of_vec(p, dir, &xdr->tail[0], pos, max);
		return 0;
	}
	return -EMSGSIZE;
}

/* What a record begins with: its marker, and its head */
static void rrpc_piece_of_marked(struct rrpc_piece *p, struct xdr_buf *xdr,
				 __be32 *marker, size_t pos)
{
	*marker = cpu_to_be32(RPC_LAST_STREAM_FRAGMENT | xdr->len);
	p->vec[0].iov_base = marker;
	p->vec[0].iov_len = sizeof(*marker);
	p->vec[1] = xdr->head[0];
	iov_iter_kvec(&p->iter, ITER_SOURCE, p->vec, 2,
		      sizeof(*marker) + xdr->head[0].iov_len);
	iov_iter_advance(&p->iter, pos);
}

/**
 * rrpc_send() - send a record, or what is left of it
 * @s: socket
 * @xdr: the record
 * @skip: bytes of marker and record that were sent before
 * @flags: MSG_DONTWAIT, MSG_NOSIGNAL; MSG_SPLICE_PAGES if its pages stay as
 *	they are for as long as they are referred to
 *
 * Return: bytes sent of what was left, or a negative errno if none were.
 */
ssize_t rrpc_send(struct rrpc_sock *s, struct xdr_buf *xdr, size_t skip,
		  int flags)
{
	size_t pos = skip, marked = sizeof(__be32) + xdr->head[0].iov_len;
	size_t end = sizeof(__be32) + xdr->len, want;
	unsigned long start = jiffies;
	struct rrpc_piece p;
	__be32 marker;
	ssize_t n = 0;

	while (pos < end) {
		struct msghdr msg = { .msg_flags = flags };

		/* Who may wait does so for one record, not for each part of it */
		if (!(flags & MSG_DONTWAIT) &&
		    jiffies - start > s->sock->sk->sk_sndtimeo)
			break;
		if (pos < marked)
			rrpc_piece_of_marked(&p, xdr, &marker, pos);
		else
			n = rrpc_piece_of(&p, ITER_SOURCE, xdr,
					  pos - sizeof(marker), end - pos);
		if (n < 0)
			break;
		if (!iov_iter_is_bvec(&p.iter))
			msg.msg_flags &= ~MSG_SPLICE_PAGES;
		msg.msg_iter = p.iter;
		want = iov_iter_count(&p.iter);
		n = sock_sendmsg(s->sock, &msg);
		if (n < 0)
			break;
		pos += n;
		if (n < want)
			break;
	}
	return pos > skip ? pos - skip : n;
}

/**
 * rrpc_recv() - receive, without waiting
 * @s: socket
 * @to: where to
 *
 * Return: bytes, -EAGAIN if there are none, -ESHUTDOWN at the end of the
 * stream, or another error.
 */
ssize_t rrpc_recv(struct rrpc_sock *s, const struct iov_iter *to)
{
	struct msghdr msg = { .msg_iter = *to };

	return sock_recvmsg(s->sock, &msg, MSG_DONTWAIT) ?: -ESHUTDOWN;
}
