// SPDX-License-Identifier: GPL-2.0
/*
 * The server places replies, or parts of them, where their calls offer it.
 *
 * What is placed does not count against the send buffer, so that it is bounded
 * here: a client that takes nothing holds up the replies to it, is disconnected
 * if that takes long, and is not served meanwhile.
 */

#include <linux/sunrpc/svc_xprt.h>
#include <linux/sunrpc/xdr.h>
#include <net/sock.h>

#include "rpc.h"

/*
 * Bytes of one client that are on their way. They need no consent of it but that of
 * its device, and if that is silent ours gives up within seconds, which ends the
 * connection and all that waits for it. So a wire that is too slow is what comes up
 * to this, and to wait for sk_sndtimeo besides takes one that moves less than a
 * reply in that time, which no test has: rxe loses such a connection sooner.
 */
#define RRPC_PLACING_MAX	(4 * RRPC_MAX_PAYLOAD)

/**
 * rrpc_svc_may_place() - is little enough on its way?
 * @svc: connection
 */
bool rrpc_svc_may_place(struct rrpc_svc *svc)
{
	return READ_ONCE(svc->placer.bytes) < RRPC_PLACING_MAX;
}

/**
 * rrpc_svc_placed() - some of what was on its way has been placed
 * @p: of a connection
 * @was: bytes that it was before
 * @err: if the client has withdrawn its offer, or is gone, which it knows
 */
void rrpc_svc_placed(struct rrpc_placer *p, u32 was, int err)
{
	struct rrpc_svc *svc = container_of(p, struct rrpc_svc, placer);

	/* A dead one is busy for ever, so that this does nothing */
	if (was >= RRPC_PLACING_MAX && rrpc_svc_may_place(svc))
		svc_xprt_enqueue(&svc->xprt);
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
	if (!wait_event_timeout(svc->placer.wait, rrpc_svc_may_place(svc) ||
				svc_xprt_is_dead(&svc->xprt),
				svc->s.sock->sk->sk_sndtimeo))
		return -ETIMEDOUT;
	if (svc_xprt_is_dead(&svc->xprt))
		return 0;
	/* What is not mapped, or not any more, is sent with the rest */
	if (!rrpc_place_part(&svc->placer, &svc->s, m->xdr, &c))
		m->placed = c;
	return 0;
}
