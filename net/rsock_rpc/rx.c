// SPDX-License-Identifier: GPL-2.0
/*
 * The client's receiver. A record is a reply, which is copied to where the
 * call that it answers wants it, or a call of the server's (NFSv4.1 and later:
 * what it has to tell comes on the client's own connection), which goes to the
 * callback service.
 *
 * The call that waits for a reply can be given up at any time: so it is looked
 * up anew whenever there is more of its reply, and is pinned meanwhile.
 *
 * What comes is not trusted: a record of no sensible length ends the
 * connection, and one that is longer than there is room for is cut.
 */

#include <linux/gfp.h>
#include <linux/slab.h>
#include <linux/sunrpc/svc.h>
#include <linux/sunrpc/xdr.h>

#include "rpc.h"

/* Bytes of a message that are in its record's struct rrpc_head */
#define RRPC_HEAD_BYTES	sizeof(struct rrpc_begin)

/* Calls of the server's at a time, in our hands and the service's */
#define RRPC_BC_SLOTS	64

/* Replies that free memory may come behind such a call: do not wait for it */
#define RRPC_BC_GFP	(GFP_NOFS | __GFP_NORETRY | __GFP_NOWARN)

/* The callback service is given so long to answer what it was given */
#define RRPC_BC_TIMEOUT	(10 * HZ)

/* Fragments received in one go, before others get at the socket */
#define RRPC_RX_BUDGET	64

static bool rrpc_rx_is_last(const struct rrpc_rx *rx)
{
	return rx->head.marker & cpu_to_be32(RPC_LAST_STREAM_FRAGMENT);
}

/* Does a chunk follow the first marker? From others such a length is too much. */
static bool rrpc_rx_is_placed(const struct rrpc_xprt *t)
{
	const struct rrpc_rx *rx = &t->rx;

	return t->places && !rx->copied && rx->have >= sizeof(rx->head.marker) &&
	       rx->head.marker & cpu_to_be32(RRPC_PLACED);
}

static u32 rrpc_rx_want(const struct rrpc_xprt *t)
{
	if (t->rx.copied)
		return sizeof(t->rx.head.marker);
	if (rrpc_rx_is_placed(t))
		return offsetofend(struct rrpc_head, placed);
	return offsetofend(struct rrpc_head, begin);
}

/* The first fragment: has what of it is in its head. Returns what is left. */
static int rrpc_rx_begin(struct rrpc_xprt *t, u32 len)
{
	struct rrpc_rx *rx = &t->rx;

	if (len < RRPC_HEAD_BYTES)
		return -EPROTO;
	rx->begin = rx->head.begin;
	if (rrpc_rx_is_placed(t)) {
		rrpc_chunk_decode(&rx->placed, &rx->head.placed.chunk);
		if (rx->placed.len > RRPC_MAX_RECORD - len)
			return -EMSGSIZE;
		rx->begin = rx->head.placed.begin;
	}
	rx->copied = RRPC_HEAD_BYTES;
	return len - RRPC_HEAD_BYTES;
}

/* Receive how a fragment begins */
static int rrpc_rx_head(struct rrpc_xprt *t)
{
	struct rrpc_rx *rx = &t->rx;
	u32 want, len;
	int n;

	while (rx->have < (want = rrpc_rx_want(t))) {
		n = rrpc_recv_bytes(&t->s, &rx->head, &rx->have, want);
		if (n)
			return n;
	}
	len = be32_to_cpu(rx->head.marker) & RPC_FRAGMENT_SIZE_MASK;
	if (rrpc_rx_is_placed(t))
		len &= ~(u32)RRPC_PLACED;
	if (len > RRPC_MAX_RECORD - rx->copied - rx->placed.len)
		return -EMSGSIZE;
	/* It could go on for ever */
	if (!len && !rrpc_rx_is_last(rx))
		return -EPROTO;
	n = rx->copied ? len : rrpc_rx_begin(t, len);
	if (n < 0)
		return n;
	rx->left = n;
	rx->body = true;
	return 0;
}

/* How much can be received, up to what was placed? Pass over that. */
static u32 rrpc_rx_room(struct rrpc_xprt *t)
{
	struct rrpc_rx *rx = &t->rx;

	if (rx->placed.len && rx->copied == rx->placed.pos) {
		rx->copied += rx->placed.len;
		t->nr_placed += rx->placed.len;
		rx->placed.len = 0;
	}
	return rx->placed.len ? min(rx->left, rx->placed.pos - rx->copied) :
				rx->left;
}

/* Receive what is left of a fragment into @buf, or as much as fits */
static int rrpc_rx_fill(struct rrpc_xprt *t, struct xdr_buf *buf)
{
	struct rrpc_rx *rx = &t->rx;
	struct rrpc_piece p;
	ssize_t n;
	u32 room;

	if (!rx->started) {
		if (buf->head[0].iov_len < RRPC_HEAD_BYTES) {
			rx->skip = true;
			return 0;
		}
		memcpy(buf->head[0].iov_base, &rx->begin, RRPC_HEAD_BYTES);
		rx->started = true;
	}
	while ((room = rrpc_rx_room(t))) {
		if (rrpc_piece_of(&p, ITER_DEST, buf, rx->copied, room)) {
			rx->skip = true;
			return 0;
		}
		n = rrpc_recv(&t->s, &p.iter);
		if (n < 0)
			return n;
		rx->left -= n;
		rx->copied += n;
	}
	/* It ends before what was placed */
	return rx->placed.len && rrpc_rx_is_last(rx) ? -EPROTO : 0;
}

/* The request that a reply is for, pinned; NULL if it is to be skipped */
static struct rpc_rqst *rrpc_rx_rqst(struct rrpc_xprt *t, int *err)
{
	struct rpc_xprt *xprt = &t->xprt;
	struct rrpc_rx *rx = &t->rx;
	enum rrpc_reply what = RRPC_UNWANTED;
	struct rpc_rqst *req;

	spin_lock(&xprt->queue_lock);
	req = xprt_lookup_rqst(xprt, rx->begin.xid);
	/* It may have been given up, and may be waiting anew */
	if (req && !rx->started)
		what = rrpc_offer_check(t, req, &rx->placed);
	else if (req && req->rq_private_buf.len)
		what = RRPC_WANTED;
	if (what == RRPC_WANTED)
		xprt_pin_rqst(req);
	spin_unlock(&xprt->queue_lock);

	*err = what == RRPC_FORGED ? -EPROTO : 0;
	return what == RRPC_WANTED ? req : NULL;
}

static int rrpc_rx_reply(struct rrpc_xprt *t)
{
	struct rpc_xprt *xprt = &t->xprt;
	struct rrpc_rx *rx = &t->rx;
	struct rpc_rqst *req;
	int err;

	req = rrpc_rx_rqst(t, &err);
	if (!req) {
		rx->skip = true;
		return err;
	}
	/* The connection is of use: no need to wait should it end */
	xprt->reestablish_timeout = 0;
	err = rrpc_rx_fill(t, &req->rq_private_buf);

	spin_lock(&xprt->queue_lock);
	if (err || !(rx->skip || rrpc_rx_is_last(rx)))
		req->rq_private_buf.len = rx->copied;
	else if (rrpc_offer_answered(t, req, rx->copied))
		goto out;
	else
		xprt_complete_rqst(req->rq_task, rx->copied);
	xprt_unpin_rqst(req);
out:
	spin_unlock(&xprt->queue_lock);
	return err;
}

/* Calls of the server's */

static void rrpc_bc_free(struct rpc_rqst *rqst)
{
	atomic_t *nr_calls = &rrpc_xprt(rqst->rq_xprt)->nr_calls;

	if (atomic_dec_and_test(nr_calls))
		wake_up_var(nr_calls);
	free_page((unsigned long)rqst->rq_rcv_buf.head[0].iov_base);
	free_page((unsigned long)rqst->rq_snd_buf.head[0].iov_base);
	kfree(rqst);
}

static struct rpc_rqst *rrpc_bc_alloc(struct rrpc_xprt *t)
{
	struct rpc_rqst *rqst;
	void *call, *reply;

	if (atomic_read(&t->nr_calls) >= RRPC_BC_SLOTS)
		return NULL;
	rqst = kzalloc(sizeof(*rqst), RRPC_BC_GFP);
	call = (void *)__get_free_page(RRPC_BC_GFP);
	reply = (void *)__get_free_page(RRPC_BC_GFP);
	if (!rqst || !call || !reply) {
		free_page((unsigned long)call);
		free_page((unsigned long)reply);
		kfree(rqst);
		return NULL;
	}
	atomic_inc(&t->nr_calls);
	rqst->rq_xprt = &t->xprt;
	rqst->rq_xid = t->rx.begin.xid;
	rqst->rq_connect_cookie = t->xprt.connect_cookie;
	INIT_LIST_HEAD(&rqst->rq_list);
	INIT_LIST_HEAD(&rqst->rq_bc_pa_list);
	__set_bit(RPC_BC_PA_IN_USE, &rqst->rq_bc_pa_state);
	xdr_buf_init(&rqst->rq_rcv_buf, call, PAGE_SIZE);
	xdr_buf_init(&rqst->rq_snd_buf, reply, PAGE_SIZE);
	return rqst;
}

/**
 * rrpc_bc_free_rqst() - sunrpc has done with a call
 * @rqst: it
 */
void rrpc_bc_free_rqst(struct rpc_rqst *rqst)
{
	struct rpc_xprt *xprt = rqst->rq_xprt;

	rrpc_bc_free(rqst);
	xprt_put(xprt);
}

static int rrpc_bc_deliver(struct rrpc_xprt *t)
{
	struct rpc_rqst *rqst = t->rx.call;

	/* On its way out */
	if (!xprt_get(&t->xprt))
		return -EPROTO;
	t->rx.call = NULL;
	rqst->rq_private_buf.len = t->rx.copied;
	/* The service counts it out when it has been executed */
	atomic_inc(&t->xprt.bc_slot_count);
	rrpc_bc_enqueue(t->xprt.bc_serv, rqst);
	return 0;
}

static int rrpc_rx_call(struct rrpc_xprt *t)
{
	struct rrpc_rx *rx = &t->rx;
	int err;

	if (!t->xprt.bc_serv || !t->bc_slots || rx->placed.len)
		return -EPROTO;
	if (!rx->call)
		rx->call = rrpc_bc_alloc(t);
	if (!rx->call)
		return -ENOBUFS;
	err = rrpc_rx_fill(t, &rx->call->rq_rcv_buf);
	if (err)
		return err;
	/* Longer than we said it may be */
	if (rx->skip)
		return -EMSGSIZE;
	return rrpc_rx_is_last(rx) ? rrpc_bc_deliver(t) : 0;
}

/**
 * rrpc_bc_setup() - there will be calls of the server's: memory for one is
 * allocated when it comes
 * @xprt: transport
 * @slots: how many at a time
 */
int rrpc_bc_setup(struct rpc_xprt *xprt, unsigned int slots)
{
	struct rrpc_xprt *t = rrpc_xprt(xprt);

	mutex_lock(&t->recv_mutex);
	t->bc_slots += slots;
	mutex_unlock(&t->recv_mutex);
	return 0;
}

/**
 * rrpc_bc_destroy() - there will be none any more
 * @xprt: transport
 * @slots: as for rrpc_bc_setup()
 *
 * The callback service goes next. Its threads still run, and are waited for to
 * have done with what they were given.
 */
void rrpc_bc_destroy(struct rpc_xprt *xprt, unsigned int slots)
{
	struct rrpc_xprt *t = rrpc_xprt(xprt);
	bool last;

	mutex_lock(&t->recv_mutex);
	t->bc_slots -= min(slots, t->bc_slots);
	last = !t->bc_slots;
	if (last && t->rx.call) {
		rrpc_bc_free(t->rx.call);
		t->rx.call = NULL;
		t->rx.skip = true;
	}
	mutex_unlock(&t->recv_mutex);
	if (last)
		wait_var_event_timeout(&t->nr_calls, !atomic_read(&t->nr_calls),
				       RRPC_BC_TIMEOUT);
}

/**
 * rrpc_bc_maxpayload() - the longest call that the server may send
 * @xprt: transport
 */
size_t rrpc_bc_maxpayload(struct rpc_xprt *xprt)
{
	return PAGE_SIZE;
}

/**
 * rrpc_bc_num_slots() - how many of them at a time
 * @xprt: transport
 */
unsigned int rrpc_bc_num_slots(struct rpc_xprt *xprt)
{
	return RRPC_BC_SLOTS;
}

/* All */

static int rrpc_rx_skip(struct rrpc_xprt *t)
{
	struct rrpc_rx *rx = &t->rx;
	struct iov_iter to;
	ssize_t n;

	while (rx->left) {
		iov_iter_discard(&to, ITER_DEST, rx->left);
		n = rrpc_recv(&t->s, &to);
		if (n < 0)
			return n;
		rx->left -= n;
		rx->copied += n;
	}
	return 0;
}

static int rrpc_rx_fragment(struct rrpc_xprt *t)
{
	struct rrpc_rx *rx = &t->rx;
	int err = 0;

	if (rx->skip)
		goto skip;
	if (rrpc_is_hello(&rx->begin, rx->copied + rx->left)) {
		t->places = true;
		return 0;
	}
	switch (be32_to_cpu(rx->begin.dir)) {
	case RPC_REPLY:
		err = rrpc_rx_reply(t);
		break;
	case RPC_CALL:
		err = rrpc_rx_call(t);
		break;
	default:
		return -EPROTO;
	}
	if (err)
		return err;
skip:
	return rrpc_rx_skip(t);
}

/**
 * rrpc_rx_reset() - forget the record that is being received
 * @t: transport; recv_mutex is held
 */
void rrpc_rx_reset(struct rrpc_xprt *t)
{
	if (t->rx.call)
		rrpc_bc_free(t->rx.call);
	memset(&t->rx, 0, sizeof(t->rx));
}

/**
 * rrpc_receive() - receive all that has come
 * @t: transport with a socket; recv_mutex is held
 *
 * Return: 0; 1 if there may be more, since a peer that sends without end must not
 * keep others from the socket; or an error that ends the connection.
 */
int rrpc_receive(struct rrpc_xprt *t)
{
	struct rrpc_rx *rx = &t->rx;
	int i, err;

	for (i = 0; i < RRPC_RX_BUDGET; i++) {
		err = rx->body ? 0 : rrpc_rx_head(t);
		if (!err)
			err = rrpc_rx_fragment(t);
		if (err)
			return err == -EAGAIN ? 0 : err;
		rx->have = 0;
		rx->body = false;
		if (rrpc_rx_is_last(rx))
			rrpc_rx_reset(t);
		cond_resched();
	}
	return 1;
}
