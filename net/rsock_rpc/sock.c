// SPDX-License-Identifier: GPL-2.0
/*
 * What both ends need of a socket. Nothing else of this module calls one.
 *
 * The socket's callbacks come in softirqs, with locks of AF_RSOCK held, and
 * also while a user has the socket locked. What keeps them and the end of their
 * struct rrpc_sock apart is sk_callback_lock.
 */

#include <linux/net.h>
#include <linux/slab.h>
#include <linux/sunrpc/xdr.h>
#include <net/rsock.h>
#include <net/sock.h>

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

	err = sock_create_kern(net, rsock_family, SOCK_STREAM, 0, &s->sock);
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

/* Bytes of the head that are sent with what is before it */
static size_t rrpc_head_len(const struct rrpc_msg *m)
{
	size_t len = m->xdr->head[0].iov_len;

	return m->placed.len ? min_t(size_t, len, m->placed.pos) : len;
}

/* The next part of what is sent, as rrpc_piece_of() */
static int rrpc_piece_of_msg(struct rrpc_piece *p, const struct rrpc_msg *m,
			     size_t pos)
{
	size_t prefix = rrpc_prefix_len(m), head = rrpc_head_len(m);
	size_t end = m->xdr->len;

	if (pos < prefix + head) {
		rrpc_prefix(&p->prefix, m);
		p->vec[0].iov_base = &p->prefix;
		p->vec[0].iov_len = prefix;
		p->vec[1].iov_base = m->xdr->head[0].iov_base;
		p->vec[1].iov_len = head;
		iov_iter_kvec(&p->iter, ITER_SOURCE, p->vec, 2, prefix + head);
		iov_iter_advance(&p->iter, pos);
		return 0;
	}
	pos -= prefix;
	if (m->placed.len) {
		if (pos < m->placed.pos)
			end = m->placed.pos;
		else
			pos += m->placed.len;
	}
	return rrpc_piece_of(p, ITER_SOURCE, m->xdr, pos, end - pos);
}

/**
 * rrpc_send() - send a record, or what is left of it
 * @s: socket
 * @m: the message
 * @skip: bytes of the record that were sent before
 * @flags: MSG_DONTWAIT, MSG_NOSIGNAL; MSG_SPLICE_PAGES if its pages stay as
 *	they are for as long as they are referred to
 *
 * Return: bytes sent of what was left, or a negative errno if none were.
 */
ssize_t rrpc_send(struct rrpc_sock *s, const struct rrpc_msg *m, size_t skip,
		  int flags)
{
	size_t pos = skip, end = rrpc_record_len(m), want;
	unsigned long start = jiffies;
	struct rrpc_piece p;
	ssize_t n = 0;

	while (pos < end) {
		struct msghdr msg = { .msg_flags = flags };

		/* Who may wait does so for one record, not for each part of it */
		if (!(flags & MSG_DONTWAIT) &&
		    jiffies - start > s->sock->sk->sk_sndtimeo)
			break;
		n = rrpc_piece_of_msg(&p, m, pos);
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
 * rrpc_send_hello() - greet the other end: we can place
 * @s: socket on which nothing is half sent, and that has room
 */
int rrpc_send_hello(struct rrpc_sock *s)
{
	struct rrpc_begin hello = {
		.xid = cpu_to_be32(RRPC_HELLO),
		.dir = cpu_to_be32(RPC_REPLY),
	};
	struct xdr_buf xdr = {
		.head = { { .iov_base = &hello, .iov_len = sizeof(hello) } },
		.len = sizeof(hello),
	};
	struct rrpc_msg m = { .xdr = &xdr };
	ssize_t n = rrpc_send(s, &m, 0, MSG_DONTWAIT | MSG_NOSIGNAL);

	if (n == rrpc_record_len(&m))
		return 0;
	return n < 0 ? n : -EPIPE;
}

/* Placement */

/**
 * rrpc_map() - let the peer place a part of a message
 * @s: socket
 * @xdr: where the message will be
 * @c: the part, and by what offset the peer knows it
 *
 * Return: the mapping, for rrpc_unmap(), or an ERR_PTR.
 */
struct rsock_mapping *rrpc_map(struct rrpc_sock *s, struct xdr_buf *xdr,
			       const struct rrpc_chunk *c)
{
	struct rsock_mapping *map;
	struct bio_vec *bv;
	unsigned int nr;

	bv = rrpc_bvecs(xdr, c->pos, c->len, &nr);
	if (!bv)
		return ERR_PTR(-ENOMEM);
	map = rsock_map_bvec(s->sock, bv, nr, c->offset);
	kfree(bv);
	return map;
}

/**
 * rrpc_unmap() - take that back
 * @map: mapping
 * @done: called in a work when the peer cannot write there any more
 * @arg: for @done
 *
 * Context: any.
 */
void rrpc_unmap(struct rsock_mapping *map, void (*done)(void *arg), void *arg)
{
	rsock_unmap_async(map, done, arg);
}

/**
 * rrpc_write() - place a part of a message
 * @s: socket
 * @xdr: the message, whose pages do not change until it is done
 * @c: the part, and by what offset the peer knows where it goes
 * @w: tells when it is done
 *
 * Return: 0, or a negative errno if nothing was written, and it is not told.
 */
int rrpc_write(struct rrpc_sock *s, struct xdr_buf *xdr,
	       const struct rrpc_chunk *c, struct rsock_write *w)
{
	struct bio_vec *bv;
	unsigned int nr;
	int err;

	bv = rrpc_bvecs(xdr, c->pos, c->len, &nr);
	if (!bv)
		return -ENOMEM;
	err = rsock_write(s->sock, c->offset, bv, nr, w, RRPC_GFP);
	kfree(bv);
	return err;
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

/**
 * rrpc_recv_bytes() - receive a few bytes, in as many calls as it takes
 * @s: socket
 * @buf: where to
 * @have: bytes that are there, of calls before
 * @want: bytes that have to be
 *
 * Return: 0, or -EAGAIN or another error, as rrpc_recv().
 */
int rrpc_recv_bytes(struct rrpc_sock *s, void *buf, u32 *have, u32 want)
{
	struct iov_iter to;
	struct kvec vec;
	ssize_t n;

	while (*have < want) {
		vec.iov_base = buf + *have;
		vec.iov_len = want - *have;
		iov_iter_kvec(&to, ITER_DEST, &vec, 1, vec.iov_len);
		n = rrpc_recv(s, &to);
		if (n < 0)
			return n;
		*have += n;
	}
	return 0;
}
