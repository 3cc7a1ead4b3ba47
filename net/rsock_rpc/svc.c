// SPDX-License-Identifier: GPL-2.0
/*
 * The server's transport: "rsock", for which nfsd is told
 *
 *	echo rsock 20049 >/proc/fs/nfsd/portlist
 *
 * sunrpc has a thread call us for what the bits of xpt_flags say that there is
 * to do: XPT_CONN to accept, XPT_DATA to receive, XPT_CLOSE to end. While it
 * does, XPT_BUSY keeps the others away; svc_xprt_received() lets them in.
 *
 * A record is received into the pages of the thread. If not all of it is there,
 * the transport keeps them for the next thread, so that none waits for a client.
 */

#include <linux/module.h>
#include <linux/slab.h>
#include <linux/sunrpc/addr.h>
#include <linux/sunrpc/stats.h>
#include <linux/sunrpc/svc.h>
#include <linux/sunrpc/svc_xprt.h>
#include <linux/sunrpc/xdr.h>
#include <net/ipv6.h>
#include <net/sock.h>

#include "rpc.h"

#define RRPC_BACKLOG		64
/* A client that does not read a reply within twice that is disconnected */
#define RRPC_SEND_TIMEOUT	(30 * HZ)

static struct svc_xprt_class rrpc_svc_class;

static struct rrpc_svc *rrpc_svc_alloc(void)
{
	struct rrpc_svc *svc = kzalloc(sizeof(*svc), GFP_KERNEL);

	if (!svc)
		return NULL;
	rrpc_placer_init(&svc->placer, rrpc_svc_placed);
	rrpc_windows_init(svc);
	return svc;
}

static void rrpc_svc_enqueue(struct rrpc_svc *svc, int nr)
{
	set_bit(nr, &svc->xprt.xpt_flags);
	svc_xprt_enqueue(&svc->xprt);
}

static void rrpc_svc_event(struct rrpc_sock *s, enum rrpc_event event)
{
	struct rrpc_svc *svc = container_of(s, struct rrpc_svc, s);

	switch (event) {
	case RRPC_DATA:
		rrpc_svc_enqueue(svc, XPT_DATA);
		break;
	case RRPC_STATE:
		if (!rrpc_sock_is_connected(s))
			svc_xprt_deferred_close(&svc->xprt);
		break;
	case RRPC_SPACE:
		svc_xprt_enqueue(&svc->xprt);
		break;
	}
}

static void rrpc_listener_event(struct rrpc_sock *s, enum rrpc_event event)
{
	if (event == RRPC_DATA)
		rrpc_svc_enqueue(container_of(s, struct rrpc_svc, s), XPT_CONN);
}

/* Making */

static void rrpc_svc_set_local(struct rrpc_svc *svc)
{
	struct sockaddr_storage addr;
	int len = kernel_getsockname(svc->s.sock, (struct sockaddr *)&addr);

	if (len > 0)
		svc_xprt_set_local(&svc->xprt, (struct sockaddr *)&addr, len);
}

static int rrpc_listen(struct rrpc_sock *s, struct sockaddr *sa, int salen)
{
	int err = 0;

	/* The other family has a listener of its own */
	if (sa->sa_family == AF_INET6)
		err = rsock_sock_set_opt(s->sock->sk, SOL_IPV6, IPV6_V6ONLY,
					 1);
	return err ?: kernel_bind(s->sock, sa, salen) ?:
		      kernel_listen(s->sock, RRPC_BACKLOG);
}

static struct svc_xprt *rrpc_svc_create(struct svc_serv *serv, struct net *net,
					struct sockaddr *sa, int salen,
					int flags)
{
	struct rrpc_svc *svc;
	int err;

	if (sa->sa_family != AF_INET && sa->sa_family != AF_INET6)
		return ERR_PTR(-EAFNOSUPPORT);
	svc = rrpc_svc_alloc();
	if (!svc)
		return ERR_PTR(-ENOMEM);
	err = rrpc_sock_create(&svc->s, net);
	if (err)
		goto free;
	err = rrpc_listen(&svc->s, sa, salen);
	if (err)
		goto release;
	svc_xprt_init(net, &rrpc_svc_class, &svc->xprt, serv);
	set_bit(XPT_LISTENER, &svc->xprt.xpt_flags);
	strscpy(svc->xprt.xpt_remotebuf, "listener",
		sizeof(svc->xprt.xpt_remotebuf));
	rrpc_svc_set_local(svc);
	svc->s.event = rrpc_listener_event;
	rrpc_sock_attach(&svc->s);
	/* There may be some already */
	set_bit(XPT_CONN, &svc->xprt.xpt_flags);
	return &svc->xprt;

release:
	rrpc_sock_release(&svc->s);
free:
	kfree(svc);
	return ERR_PTR(err);
}

static void rrpc_svc_set_remote(struct rrpc_svc *svc,
				const struct sockaddr *sa, int len)
{
	struct svc_xprt *xprt = &svc->xprt;

	svc_xprt_set_remote(xprt, sa, len);
	if (rpc_cmp_addr(sa, (struct sockaddr *)&xprt->xpt_local))
		set_bit(XPT_LOCAL, &xprt->xpt_flags);
}

static struct svc_xprt *rrpc_svc_accept(struct svc_xprt *listener)
{
	struct sockaddr_storage addr;
	struct rrpc_sock s = {};
	struct rrpc_svc *svc;
	int len, err;

	clear_bit(XPT_CONN, &listener->xpt_flags);
	err = rrpc_sock_accept(&s, &rrpc_svc(listener)->s);
	/* There may be more, or it is there still */
	if (!err || err == -ENOMEM)
		set_bit(XPT_CONN, &listener->xpt_flags);
	if (err)
		return NULL;
	svc = rrpc_svc_alloc();
	if (!svc)
		goto release;
	svc->s = s;
	len = kernel_getpeername(svc->s.sock, (struct sockaddr *)&addr);
	if (len < 0)
		goto free;
	svc->s.sock->sk->sk_sndtimeo = RRPC_SEND_TIMEOUT;
	svc_xprt_init(sock_net(svc->s.sock->sk), &rrpc_svc_class, &svc->xprt,
		      listener->xpt_server);
	set_bit(XPT_CACHE_AUTH, &svc->xprt.xpt_flags);
	set_bit(XPT_CONG_CTRL, &svc->xprt.xpt_flags);
	rrpc_svc_set_local(svc);
	rrpc_svc_set_remote(svc, (struct sockaddr *)&addr, len);
	svc->s.event = rrpc_svc_event;
	rrpc_sock_attach(&svc->s);
	/* What came, and what happened, before it was attached */
	set_bit(XPT_DATA, &svc->xprt.xpt_flags);
	if (!rrpc_sock_is_connected(&svc->s))
		svc_xprt_deferred_close(&svc->xprt);
	if (listener->xpt_server->sv_stats)
		listener->xpt_server->sv_stats->nettcpconn++;
	return &svc->xprt;

free:
	kfree(svc);
release:
	rrpc_sock_release(&s);
	return NULL;
}

/* Receiving */

/* The pages of the record go from the transport to the thread */
static void rrpc_svc_take_pages(struct rrpc_svc *svc, struct svc_rqst *rqstp)
{
	unsigned int i;

	for (i = 0; i < DIV_ROUND_UP(svc->len, PAGE_SIZE); i++) {
		put_page(rqstp->rq_pages[i]);
		rqstp->rq_pages[i] = svc->pages[i];
		svc->pages[i] = NULL;
	}
	rqstp->rq_arg.head[0].iov_base = page_address(rqstp->rq_pages[0]);
}

/* And back: it is for another thread to receive the rest */
static void rrpc_svc_keep_pages(struct rrpc_svc *svc, struct svc_rqst *rqstp)
{
	unsigned int i;

	for (i = 0; i < DIV_ROUND_UP(svc->len, PAGE_SIZE); i++) {
		svc->pages[i] = rqstp->rq_pages[i];
		rqstp->rq_pages[i] = NULL;
	}
}

static void rrpc_svc_drop_pages(struct rrpc_svc *svc)
{
	unsigned int i;

	for (i = 0; i < DIV_ROUND_UP(svc->len, PAGE_SIZE); i++)
		put_page(svc->pages[i]);
	svc->len = 0;
}

static bool rrpc_svc_is_last(const struct rrpc_svc *svc)
{
	return svc->prefix.marker & cpu_to_be32(RPC_LAST_STREAM_FRAGMENT);
}

/* The first marker's flags. From others they make a length that is too much. */
static u32 rrpc_svc_flags(const struct rrpc_svc *svc)
{
	if (!svc->places || svc->len || svc->have < sizeof(svc->prefix.marker))
		return 0;
	return be32_to_cpu(svc->prefix.marker) & (RRPC_PLACED | RRPC_OFFER);
}

static u32 rrpc_svc_want(const struct rrpc_svc *svc)
{
	return offsetof(struct rrpc_prefix, chunk[hweight32(rrpc_svc_flags(svc))]);
}

static int rrpc_svc_chunks(struct rrpc_svc *svc, u32 flags, u32 len)
{
	const struct rrpc_wire_chunk *w = svc->prefix.chunk;

	if (flags & RRPC_PLACED)
		rrpc_chunk_decode(&svc->claim, w++);
	if (flags & RRPC_OFFER)
		rrpc_chunk_decode(&svc->offer, w);
	if (!(flags & RRPC_PLACED))
		return 0;
	return rrpc_svc_is_last(svc) ? rrpc_window_check(svc, &svc->claim, len) :
				       -EPROTO;
}

/* Receive how a fragment begins */
static int rrpc_svc_prefix(struct rrpc_svc *svc)
{
	u32 want, len, flags;
	int err;

	while (svc->have < (want = rrpc_svc_want(svc))) {
		err = rrpc_recv_bytes(&svc->s, &svc->prefix, &svc->have, want);
		if (err)
			return err;
	}
	flags = rrpc_svc_flags(svc);
	len = be32_to_cpu(svc->prefix.marker) & RPC_FRAGMENT_SIZE_MASK & ~flags;
	err = rrpc_svc_chunks(svc, flags, len);
	if (err)
		return err;
	if (len > svc->xprt.xpt_server->sv_max_mesg - svc->len)
		return -EMSGSIZE;
	/* The thread would never come back from one who sends these */
	if (!len && !rrpc_svc_is_last(svc))
		return -EPROTO;
	svc->left = len;
	svc->body = true;
	return 0;
}

static int rrpc_svc_fragment(struct rrpc_svc *svc, struct svc_rqst *rqstp)
{
	struct bio_vec *bvec = rqstp->rq_bvec;
	u32 end = svc->len + svc->left;
	struct iov_iter to;
	unsigned int i, nr = DIV_ROUND_UP(end, PAGE_SIZE);
	ssize_t n;

	for (i = 0; i < nr; i++) {
		bvec[i].bv_page = rqstp->rq_pages[i];
		bvec[i].bv_offset = 0;
		bvec[i].bv_len = PAGE_SIZE;
	}
	while (svc->left) {
		iov_iter_bvec(&to, ITER_DEST, bvec, nr, end);
		iov_iter_advance(&to, svc->len);
		n = rrpc_recv(&svc->s, &to);
		if (n < 0)
			return n;
		svc->len += n;
		svc->left -= n;
	}
	return 0;
}

/* Is there an xid, and whether it is a call, and one that may have data placed? */
static bool rrpc_svc_begins_well(const struct rrpc_svc *svc,
				 const struct svc_rqst *rqstp)
{
	const void *begin = page_address(rqstp->rq_pages[0]);

	return svc->len >= sizeof(struct rrpc_begin) &&
	       (!svc->claim.len ||
		rrpc_window_fits(&svc->claim, begin, svc->len));
}

/* Receive up to the end of a record: 0, or -EAGAIN or another error */
static int rrpc_svc_receive(struct rrpc_svc *svc, struct svc_rqst *rqstp)
{
	int err;

	do {
		err = svc->body ? 0 : rrpc_svc_prefix(svc);
		if (!err)
			err = rrpc_svc_fragment(svc, rqstp);
		if (err)
			return err;
		svc->have = 0;
		svc->body = false;
	} while (!rrpc_svc_is_last(svc));
	return rrpc_svc_begins_well(svc, rqstp) ? 0 : -EPROTO;
}

static void rrpc_secure_port(struct svc_rqst *rqstp)
{
	unsigned short port = rpc_get_port(svc_addr(rqstp));

	if (port && port < PROT_SOCK)
		set_bit(RQ_SECURE, &rqstp->rq_flags);
	else
		clear_bit(RQ_SECURE, &rqstp->rq_flags);
}

/* What the record says of placement is the request's from here on */
static struct rrpc_call *rrpc_svc_take_call(struct rrpc_svc *svc)
{
	struct rrpc_call *call;

	if (!svc->offer.len && !svc->claim.len)
		return NULL;
	call = kzalloc(sizeof(*call), GFP_NOFS | __GFP_NOFAIL);
	call->offer = svc->offer;
	svc->offer.len = 0;
	return call;
}

/*
 * What came by the stream is in the first page, around what was placed. What is
 * behind that goes there in the pages, too, as if all had come by the stream:
 * nfsd takes data from them to its end, whatever part of it is in a tail.
 *
 * They are one more than the most that can be placed, and a reply needs those
 * that are left. So the first page is taken from the thread.
 */
static void rrpc_svc_arg_placed(struct rrpc_svc *svc, struct svc_rqst *rqstp,
				struct rrpc_call *call)
{
	struct xdr_buf *arg = &rqstp->rq_arg;
	struct rrpc_chunk *c = &svc->claim;
	u32 rest = svc->len - c->pos;

	call->head = rqstp->rq_pages[0];
	get_page(call->head);
	arg->pages = rqstp->rq_pages;
	rrpc_window_claim(svc, c, arg->pages);
	arg->head[0].iov_len = c->pos;
	arg->page_len = c->len + rest;
	arg->len = svc->len + c->len;
	write_bytes_to_xdr_buf(arg, c->pos + c->len,
			       arg->head[0].iov_base + c->pos, rest);
	c->len = 0;
}

static void rrpc_svc_arg_streamed(struct rrpc_svc *svc, struct svc_rqst *rqstp)
{
	struct xdr_buf *arg = &rqstp->rq_arg;

	arg->len = svc->len;
	arg->head[0].iov_len = min_t(size_t, PAGE_SIZE, arg->len);
	arg->page_len = arg->len - arg->head[0].iov_len;
	if (svc->places && rrpc_is_worth_placing(arg->page_len))
		rrpc_windows_want(svc);
}

/* A whole record is in the thread's pages: say so in rq_arg */
static void rrpc_svc_received(struct rrpc_svc *svc, struct svc_rqst *rqstp)
{
	struct rrpc_call *call = rrpc_svc_take_call(svc);
	struct xdr_buf *arg = &rqstp->rq_arg;

	arg->page_base = 0;
	if (svc->claim.len)
		rrpc_svc_arg_placed(svc, rqstp, call);
	else
		rrpc_svc_arg_streamed(svc, rqstp);
	rqstp->rq_respages = arg->pages + DIV_ROUND_UP(arg->page_len, PAGE_SIZE);
	rqstp->rq_next_page = rqstp->rq_respages + 1;
	rqstp->rq_xprt_ctxt = call;
	rqstp->rq_prot = IPPROTO_TCP;
	if (test_bit(XPT_LOCAL, &svc->xprt.xpt_flags))
		set_bit(RQ_LOCAL, &rqstp->rq_flags);
	else
		clear_bit(RQ_LOCAL, &rqstp->rq_flags);
	svc_xprt_copy_addrs(rqstp, &svc->xprt);
	rrpc_secure_port(rqstp);
	svc->len = 0;
}

/* A client that can place greets us first, and waits for us to do so, too */
static void rrpc_svc_greeted(struct rrpc_svc *svc)
{
	int err;

	if (svc->places || !READ_ONCE(rrpc_place))
		return;
	mutex_lock(&svc->xprt.xpt_mutex);
	err = rrpc_send_hello(&svc->s);
	mutex_unlock(&svc->xprt.xpt_mutex);
	if (err)
		svc_xprt_deferred_close(&svc->xprt);
	svc->places = true;
}

/* Is it nothing that a service has to execute? Then it is dealt with */
static bool rrpc_svc_is_reply(struct rrpc_svc *svc, struct svc_rqst *rqstp)
{
	const struct rrpc_begin *begin = rqstp->rq_arg.head[0].iov_base;

	if (begin->dir != cpu_to_be32(RPC_REPLY))
		return false;
	if (rrpc_is_hello(begin, rqstp->rq_arg.len))
		rrpc_svc_greeted(svc);
	else
		rrpc_bc_receive_reply(&svc->xprt, rqstp);
	rqstp->rq_arg.len = 0;
	return true;
}

static int rrpc_svc_recvfrom(struct svc_rqst *rqstp)
{
	struct rrpc_svc *svc = rrpc_svc(rqstp->rq_xprt);
	struct svc_xprt *xprt = &svc->xprt;
	int err;

	clear_bit(XPT_DATA, &xprt->xpt_flags);
	rqstp->rq_arg.len = 0;
	/* A thread that receives no call leaves no pages for a reply */
	rqstp->rq_respages = rqstp->rq_pages;
	rqstp->rq_next_page = rqstp->rq_respages;
	rrpc_svc_take_pages(svc, rqstp);
	err = rrpc_svc_receive(svc, rqstp);
	if (err) {
		rrpc_svc_keep_pages(svc, rqstp);
		if (err != -EAGAIN)
			svc_xprt_deferred_close(xprt);
	} else {
		/* Where there is one there may be another */
		set_bit(XPT_DATA, &xprt->xpt_flags);
		rrpc_svc_received(svc, rqstp);
		if (!rrpc_svc_is_reply(svc, rqstp) &&
		    xprt->xpt_server->sv_stats)
			xprt->xpt_server->sv_stats->nettcpcnt++;
	}
	svc_xprt_received(xprt);
	return rqstp->rq_arg.len;
}

/* Sending */

/**
 * rrpc_svc_send() - send a record, all of it
 * @svc: connection; xpt_mutex is held
 * @m: the message
 * @flags: as for rrpc_send()
 *
 * Return: 0, or an error after which there is no connection any more.
 */
int rrpc_svc_send(struct rrpc_svc *svc, const struct rrpc_msg *m, int flags)
{
	ssize_t n = -ENOTCONN;

	lockdep_assert_held(&svc->xprt.xpt_mutex);
	if (!svc_xprt_is_dead(&svc->xprt))
		n = rrpc_send(&svc->s, m, 0, flags | MSG_NOSIGNAL);
	if (n == rrpc_record_len(m))
		return 0;
	/* The rest of half a record would be taken for another */
	svc_xprt_deferred_close(&svc->xprt);
	return n < 0 ? n : -EPIPE;
}

static int rrpc_svc_sendto(struct svc_rqst *rqstp)
{
	struct rrpc_msg m = { .xdr = &rqstp->rq_res };
	struct svc_xprt *xprt = rqstp->rq_xprt;
	struct rrpc_svc *svc = rrpc_svc(xprt);
	struct rrpc_call *call = rqstp->rq_xprt_ctxt;
	int err = 0;

	mutex_lock(&xprt->xpt_mutex);
	if (call)
		err = rrpc_svc_place(svc, &call->offer, &m);
	/* The thread gives the pages of a reply away */
	if (err)
		svc_xprt_deferred_close(xprt);
	else
		err = rrpc_svc_send(svc, &m, MSG_SPLICE_PAGES);
	mutex_unlock(&xprt->xpt_mutex);
	return err ?: rqstp->rq_res.len;
}

static int rrpc_svc_has_wspace(struct svc_xprt *xprt)
{
	struct rrpc_svc *svc = rrpc_svc(xprt);

	if (test_bit(XPT_LISTENER, &xprt->xpt_flags))
		return 1;
	return !test_bit(SOCK_NOSPACE, &svc->s.sock->flags) &&
	       rrpc_svc_may_place(svc);
}

/* What of a reply is placed is for its call to say, and not for its contents */
static int rrpc_svc_result_payload(struct svc_rqst *rqstp, unsigned int offset,
				   unsigned int length)
{
	return 0;
}

static void rrpc_svc_release_ctxt(struct svc_xprt *xprt, void *ctxt)
{
	struct rrpc_call *call = ctxt;

	if (call && call->head)
		put_page(call->head);
	kfree(call);
}

/* Ending */

static void rrpc_svc_kill_temp(struct svc_xprt *xprt)
{
	sock_no_linger(rrpc_svc(xprt)->s.sock->sk);
}

static void rrpc_svc_detach(struct svc_xprt *xprt)
{
	struct rrpc_svc *svc = rrpc_svc(xprt);

	rrpc_sock_detach(&svc->s);
	if (!test_bit(XPT_LISTENER, &xprt->xpt_flags))
		kernel_sock_shutdown(svc->s.sock, SHUT_RDWR);
	wake_up(&svc->placer.wait);
	rrpc_svc_drop_pages(svc);
}

static void rrpc_svc_free(struct svc_xprt *xprt)
{
	struct rrpc_svc *svc = rrpc_svc(xprt);

	cancel_work_sync(&svc->window_work);
	/* It does not wait for a client that takes nothing */
	if (rrpc_placer_is_busy(&svc->placer, NULL))
		sock_no_linger(svc->s.sock->sk);
	rrpc_sock_release(&svc->s);
	rrpc_placer_wait(&svc->placer);
	rrpc_windows_end(svc);
	kfree(svc);
}

static const struct svc_xprt_ops rrpc_svc_ops = {
	.xpo_create		= rrpc_svc_create,
	.xpo_accept		= rrpc_svc_accept,
	.xpo_has_wspace		= rrpc_svc_has_wspace,
	.xpo_recvfrom		= rrpc_svc_recvfrom,
	.xpo_sendto		= rrpc_svc_sendto,
	.xpo_result_payload	= rrpc_svc_result_payload,
	.xpo_release_ctxt	= rrpc_svc_release_ctxt,
	.xpo_detach		= rrpc_svc_detach,
	.xpo_free		= rrpc_svc_free,
	.xpo_kill_temp_xprt	= rrpc_svc_kill_temp,
	RRPC_XPO_SECURE_PORT
};

static struct svc_xprt_class rrpc_svc_class = {
	.xcl_name	= "rsock",
	.xcl_owner	= THIS_MODULE,
	.xcl_ops	= &rrpc_svc_ops,
	.xcl_max_payload = RRPC_MAX_PAYLOAD,
	.xcl_ident	= RRPC_TRANSPORT,
};

/**
 * rrpc_svc_init() - let services have listeners of this kind
 */
int rrpc_svc_init(void)
{
	return svc_reg_xprt_class(&rrpc_svc_class);
}

/**
 * rrpc_svc_exit() - no more
 */
void rrpc_svc_exit(void)
{
	svc_unreg_xprt_class(&rrpc_svc_class);
}
