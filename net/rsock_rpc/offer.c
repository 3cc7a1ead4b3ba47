// SPDX-License-Identifier: GPL-2.0
/*
 * The client's pages that the server may place a reply in.
 *
 * With a call whose reply has many pages, those that it fills are mapped for the
 * server, and it is told of them. What it is not told of, as parts of pages, it
 * does not see. An offer is of one connection, and has offsets that no other
 * one ever has there.
 *
 * It ends when the reply has come, which its request gets only when the server
 * cannot write there any more; with the connection; or with the request, whose
 * pages are not given back before. Of these the first unmaps, and all wait. A
 * request may be sent again after its reply, which was of no use: with a new offer.
 */

#include <linux/slab.h>
#include <linux/sunrpc/xdr.h>

#include "rpc.h"

/**
 * struct rrpc_offer - pages of a request that are mapped
 * @t: transport
 * @req: request, which an xid alone does not tell: calls of the server's have
 *	theirs
 * @chunk: what the server is told
 * @map: the mapping, until @ending
 * @cookie: connect_cookie of the connection
 * @again: more than one call was sent with it
 * @ending: it is being unmapped
 * @ended: it was
 * @answered: the reply waits for that, and @req is pinned
 * @copied: bytes of the reply
 * @gone: completed last
 *
 * It is in rrpc_xprt::offers as long as its request has a buffer, or until it
 * is sent again. queue_lock guards what changes.
 */
struct rrpc_offer {
	struct rrpc_xprt *t;
	struct rpc_rqst *req;
	struct rrpc_chunk chunk;
	struct rsock_mapping *map;
	unsigned int cookie;
	bool again;
	bool ending;
	bool ended;
	bool answered;
	u32 copied;
	struct completion gone;
};

/* queue_lock */
static struct rrpc_offer *rrpc_offer_of(struct rrpc_xprt *t,
					const struct rpc_rqst *req)
{
	struct rrpc_offer *o = xa_load(&t->offers, be32_to_cpu(req->rq_xid));

	return o && o->req == req ? o : NULL;
}

/* The ending */

static void rrpc_offer_ended(void *arg)
{
	struct rrpc_offer *o = arg;
	spinlock_t *lock = &o->t->xprt.queue_lock;

	spin_lock(lock);
	o->ended = true;
	if (o->answered) {
		/* Or a reply to a later call was there before */
		if (test_bit(RPC_TASK_NEED_RECV, &o->req->rq_task->tk_runstate))
			xprt_complete_rqst(o->req->rq_task, o->copied);
		xprt_unpin_rqst(o->req);
	}
	spin_unlock(lock);
	complete(&o->gone);
}

/* queue_lock */
static void rrpc_offer_end(struct rrpc_offer *o)
{
	if (o->ending)
		return;
	o->ending = true;
	rrpc_unmap(o->map, rrpc_offer_ended, o);
}

/**
 * rrpc_offer_withdraw() - see the end of a request's offer, if it has one
 * @t: transport
 * @req: request, not pinned for the sake of a reply
 *
 * Context: process; sleeps until the server has confirmed it, or is cut off.
 */
void rrpc_offer_withdraw(struct rrpc_xprt *t, struct rpc_rqst *req)
{
	struct rrpc_offer *o;

	if (xa_empty(&t->offers))
		return;
	spin_lock(&t->xprt.queue_lock);
	o = rrpc_offer_of(t, req);
	if (o) {
		xa_erase(&t->offers, be32_to_cpu(req->rq_xid));
		rrpc_offer_end(o);
	}
	spin_unlock(&t->xprt.queue_lock);
	if (!o)
		return;
	wait_for_completion(&o->gone);
	kfree(o);
}

/**
 * rrpc_offers_end() - the connection ends, and with it what is mapped there
 * @t: transport with XPRT_LOCKED held
 *
 * Return: true if there was any.
 */
bool rrpc_offers_end(struct rrpc_xprt *t)
{
	struct rrpc_offer *o;
	unsigned long xid;

	spin_lock(&t->xprt.queue_lock);
	xa_for_each(&t->offers, xid, o)
		rrpc_offer_end(o);
	spin_unlock(&t->xprt.queue_lock);
	return !xa_empty(&t->offers);
}

/* The beginning */

/* Of a reply's pages those that are filled from their beginning to their end */
static bool rrpc_offer_find(const struct xdr_buf *buf, struct rrpc_chunk *c)
{
	size_t end = round_down(buf->page_base + buf->page_len, PAGE_SIZE);
	size_t first = PAGE_ALIGN(buf->page_base);

	if (buf->flags & XDRBUF_SPARSE_PAGES || end <= first)
		return false;
	c->pos = buf->head[0].iov_len + first - buf->page_base;
	c->len = end - first;
	return true;
}

static struct rrpc_offer *rrpc_offer_make(struct rrpc_xprt *t,
					  struct rpc_rqst *req,
					  struct rrpc_chunk *c)
{
	struct rrpc_offer *o = kzalloc(sizeof(*o), RRPC_GFP);

	if (!o)
		return NULL;
	c->offset = t->next_offset;
	o->t = t;
	o->req = req;
	o->chunk = *c;
	o->cookie = t->xprt.connect_cookie;
	/* Or without it, and the reply to that may come first */
	o->again = req->rq_ntrans > 1;
	init_completion(&o->gone);
	o->map = rrpc_map(&t->s, &req->rq_rcv_buf, c);
	if (IS_ERR(o->map)) {
		kfree(o);
		return NULL;
	}
	t->next_offset += c->len;
	return o;
}

/* Have it known, unless the reply to an earlier call has come in the meantime */
static bool rrpc_offer_insert(struct rrpc_xprt *t, struct rrpc_offer *o)
{
	u32 xid = be32_to_cpu(o->req->rq_xid);
	bool ok;

	spin_lock(&t->xprt.queue_lock);
	ok = !o->req->rq_reply_bytes_recvd &&
	     !xa_insert(&t->offers, xid, o, GFP_ATOMIC);
	if (!ok)
		rrpc_offer_end(o);
	spin_unlock(&t->xprt.queue_lock);
	if (!ok) {
		wait_for_completion(&o->gone);
		kfree(o);
	}
	return ok;
}

/* A call that is encoded anew may have its reply's pages at another position */
static bool rrpc_offer_fits(const struct rrpc_offer *o,
			    const struct xdr_buf *buf)
{
	struct rrpc_chunk c;

	return rrpc_offer_find(buf, &c) && c.pos == o->chunk.pos &&
	       c.len == o->chunk.len;
}

/* Is there one of before that the call is still to be sent with? */
static bool rrpc_offer_stands(struct rrpc_xprt *t, struct rpc_rqst *req)
{
	struct rrpc_offer *o;
	bool stands;

	spin_lock(&t->xprt.queue_lock);
	o = rrpc_offer_of(t, req);
	stands = o && o->cookie == t->xprt.connect_cookie && !o->ended &&
		 rrpc_offer_fits(o, &req->rq_rcv_buf);
	if (stands && !o->ending) {
		t->offer = o->chunk;
		o->again |= req->rq_ntrans > 1;
	}
	spin_unlock(&t->xprt.queue_lock);
	return stands;
}

/**
 * rrpc_offer_pages() - offer the pages that a reply will fill, if that is of use
 * @t: transport with XPRT_LOCKED held, which is about to send
 * @req: the call; t->offer is set to what it is to offer, if anything
 *
 * Context: process; sleeps.
 */
void rrpc_offer_pages(struct rrpc_xprt *t, struct rpc_rqst *req)
{
	struct rrpc_chunk c = {};
	struct rrpc_offer *o;

	memset(&t->offer, 0, sizeof(t->offer));
	if (rrpc_offer_stands(t, req))
		return;
	rrpc_offer_withdraw(t, req);
	if (!READ_ONCE(t->places) || !rrpc_offer_find(&req->rq_rcv_buf, &c) ||
	    !rrpc_is_worth_placing(c.len))
		return;
	o = rrpc_offer_make(t, req, &c);
	if (o && rrpc_offer_insert(t, o))
		t->offer = c;
}

/* The reply */

/**
 * rrpc_offer_check() - is a reply one to be received?
 * @t: transport; queue_lock is held
 * @req: what it answers
 * @placed: what its sender says to have placed of it
 *
 * This is where that is checked.
 */
enum rrpc_reply rrpc_offer_check(struct rrpc_xprt *t, struct rpc_rqst *req,
				 const struct rrpc_chunk *placed)
{
	struct rrpc_offer *o = rrpc_offer_of(t, req);

	/* Another one came before, and the request has yet to be told of it */
	if (o && o->answered && !o->ended)
		return RRPC_UNWANTED;
	if (!placed->len)
		return RRPC_WANTED;
	if (!o || o->ending || o->chunk.offset != placed->offset ||
	    !rrpc_offer_fits(o, &req->rq_private_buf))
		return RRPC_UNWANTED;
	if (placed->pos != o->chunk.pos || placed->len > o->chunk.len)
		return RRPC_FORGED;
	return RRPC_WANTED;
}

/**
 * rrpc_offer_answered() - a reply is there
 * @t: transport; queue_lock is held
 * @req: what it answers, pinned
 * @copied: bytes of it
 *
 * Return: true if the request is completed, and unpinned, later.
 */
bool rrpc_offer_answered(struct rrpc_xprt *t, struct rpc_rqst *req, u32 copied)
{
	struct rrpc_offer *o = rrpc_offer_of(t, req);

	if (!o || o->ended)
		return false;
	o->answered = true;
	o->copied = copied;
	/* The server places nothing any more, unless it is to answer twice */
	if (!o->ending && !o->again)
		rsock_mapping_set_used(o->map);
	rrpc_offer_end(o);
	return true;
}
