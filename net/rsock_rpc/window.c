// SPDX-License-Identifier: GPL-2.0
/*
 * The client places the data of its calls, as that of a WRITE, in windows: memory
 * that the server has mapped for it. Each has an offset of its own, and is used
 * for one call, in order. That there is one the client learns from AF_RSOCK; if
 * there is none, or it is too small, all of the call goes by the stream.
 */

#include <linux/sunrpc/auth.h>
#include <linux/sunrpc/xdr.h>

#include "rpc.h"

/*
 * Is there data, and is it as it is in memory? With Kerberos it may not be, and a
 * server wants to see all of a call's beginning.
 */
static bool rrpc_window_find(const struct rpc_rqst *req, struct rrpc_chunk *c)
{
	const struct xdr_buf *buf = &req->rq_snd_buf;

	if (!(buf->flags & XDRBUF_WRITE) ||
	    req->rq_cred->cr_auth->au_flavor > RPC_AUTH_UNIX)
		return false;
	c->pos = buf->head[0].iov_len;
	c->len = buf->page_len;
	return c->len <= RRPC_WINDOW && buf->len - c->len <= RRPC_PLACED_REST;
}

/* Was it placed before, and there was no room to send the rest? */
static bool rrpc_window_was_used(const struct rrpc_xprt *t,
				 const struct rpc_rqst *req,
				 const struct rrpc_chunk *c)
{
	return t->placed_xid == req->rq_xid && t->placed.pos == c->pos &&
	       t->placed.len == c->len;
}

/**
 * rrpc_window_use() - place the data of a call, if that is of use
 * @t: transport with XPRT_LOCKED held, which is about to send
 * @req: the call; t->placed is set to what was placed of it, if anything
 */
void rrpc_window_use(struct rrpc_xprt *t, struct rpc_rqst *req)
{
	struct rrpc_chunk c = {};
	bool worth;

	worth = READ_ONCE(t->places) && rrpc_window_find(req, &c) &&
		rrpc_is_worth_placing(c.len);
	if (worth && rrpc_window_was_used(t, req, &c))
		return;
	t->placed.len = 0;
	c.offset = t->next_window;
	if (!worth || rrpc_place_part(&t->placer, &t->s, &req->rq_snd_buf, &c))
		return;
	t->placed = c;
	t->placed_xid = req->rq_xid;
}

/**
 * rrpc_window_used() - a record is on its way, by which the server knows of the
 * window that its data is in
 * @t: transport with XPRT_LOCKED held
 *
 * Until then the window is free for another call, which may come first: its
 * data goes there behind this one's.
 */
void rrpc_window_used(struct rrpc_xprt *t)
{
	if (!t->placed.len)
		return;
	t->next_window += RRPC_WINDOW;
	t->nr_wrote += t->placed.len;
}

/**
 * rrpc_window_withdraw() - see the end of what a request places, if it does
 * @t: transport
 * @req: request that is over, and whose pages are given back next
 *
 * If it was given up its data may not have been read yet, and the call claims that
 * it is there: what has its memory next is not for the server. So the connection
 * ends.
 *
 * Context: process; sleeps.
 */
void rrpc_window_withdraw(struct rrpc_xprt *t, struct rpc_rqst *req)
{
	struct xdr_buf *xdr = &req->rq_snd_buf;

	if (!rrpc_placer_is_busy(&t->placer, xdr))
		return;
	mutex_lock(&t->recv_mutex);
	if (!req->rq_reply_bytes_recvd &&
	    rrpc_placer_may_succeed(&t->placer, xdr))
		xprt_force_disconnect(&t->xprt);
	mutex_unlock(&t->recv_mutex);
	wait_event(t->placer.wait, !rrpc_placer_is_busy(&t->placer, xdr));
}
