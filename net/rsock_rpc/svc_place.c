// SPDX-License-Identifier: GPL-2.0
/*
 * The server places replies, or parts of them, where their calls offer it.
 *
 * What is placed does not count against the send buffer, so that it is bounded
 * here: a client that takes nothing holds up the replies to it, is disconnected
 * if that takes long, and is not served meanwhile.
 */

#include <linux/slab.h>
#include <linux/sunrpc/svc_xprt.h>
#include <linux/sunrpc/xdr.h>
#include <net/sock.h>

#include "rpc.h"

/* Bytes of one client that are on their way */
#define RRPC_PLACING_MAX	(4 * RRPC_MAX_PAYLOAD)

/**
 * struct rrpc_placing - a part of a reply that is being placed
 * @write: must stay until it is done
 * @svc: connection; it stays, too
 * @len: bytes
 */
struct rrpc_placing {
	struct rsock_write write;
	struct rrpc_svc *svc;
	u32 len;
};

/**
 * rrpc_svc_may_place() - is little enough on its way?
 * @svc: connection
 */
bool rrpc_svc_may_place(struct rrpc_svc *svc)
{
	return READ_ONCE(svc->placing) < RRPC_PLACING_MAX;
}

/**
 * rrpc_svc_is_placing() - is anything on its way?
 * @svc: connection
 *
 * Return: if false, those that were have left @svc alone for good.
 */
bool rrpc_svc_is_placing(struct rrpc_svc *svc)
{
	bool placing;

	spin_lock_bh(&svc->lock);
	placing = svc->placing;
	spin_unlock_bh(&svc->lock);
	return placing;
}

/**
 * rrpc_svc_wait_placed() - wait until nothing is on its way any more
 * @svc: connection without a socket
 */
void rrpc_svc_wait_placed(struct rrpc_svc *svc)
{
	wait_event(svc->placed, !rrpc_svc_is_placing(svc));
}

static void rrpc_svc_count(struct rrpc_svc *svc, s32 len)
{
	bool full;

	spin_lock_bh(&svc->lock);
	full = !rrpc_svc_may_place(svc);
	WRITE_ONCE(svc->placing, svc->placing + len);
	wake_up(&svc->placed);
	/* A dead one is busy for ever, so that this does nothing */
	if (full && rrpc_svc_may_place(svc))
		svc_xprt_enqueue(&svc->xprt);
	spin_unlock_bh(&svc->lock);
}

static void rrpc_svc_placed(struct rsock_write *w, int err)
{
	struct rrpc_placing *p = container_of(w, struct rrpc_placing, write);

	rrpc_svc_count(p->svc, -p->len);
	kfree(p);
}

static int rrpc_svc_write(struct rrpc_svc *svc, struct rrpc_msg *m,
			  const struct rrpc_chunk *c)
{
	struct rrpc_placing *p = kmalloc(sizeof(*p), GFP_NOFS);
	int err;

	if (!p)
		return -ENOMEM;
	p->write.done = rrpc_svc_placed;
	p->svc = svc;
	p->len = c->len;
	rrpc_svc_count(svc, c->len);
	err = rrpc_write(&svc->s, m->xdr, c, &p->write);
	if (err)
		rrpc_svc_placed(&p->write, err);
	return err;
}

/**
 * rrpc_svc_place() - place of a reply what its call offers, if that is of use
 * @svc: connection; xpt_mutex is held
 * @offer: what the client says; it may say anything
 * @m: the reply; its placed is set, to nothing if all of it is to be sent
 *
 * Return: 0, also if the connection is dead, or -ETIMEDOUT if the client takes
 * nothing.
 */
int rrpc_svc_place(struct rrpc_svc *svc, const struct rrpc_chunk *offer,
		   struct rrpc_msg *m)
{
	struct rrpc_chunk c = *offer;

	/* This is where that is checked, but for the offset: see rsock_write() */
	if (c.pos >= m->xdr->len)
		return 0;
	c.len = min(c.len, m->xdr->len - c.pos);
	if (!rrpc_is_worth_placing(c.len))
		return 0;
	if (!wait_event_timeout(svc->placed, rrpc_svc_may_place(svc) ||
				svc_xprt_is_dead(&svc->xprt),
				svc->s.sock->sk->sk_sndtimeo))
		return -ETIMEDOUT;
	if (svc_xprt_is_dead(&svc->xprt))
		return 0;
	/* What is not mapped, or not any more, is sent with the rest */
	if (!rrpc_svc_write(svc, m, &c))
		m->placed = c;
	return 0;
}
