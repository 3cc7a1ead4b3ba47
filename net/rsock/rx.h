/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _RSOCK_RX_H
#define _RSOCK_RX_H

#include "ep.h"

struct msghdr;

int rsock_read_sock(struct sock *sk, read_descriptor_t *desc,
		    sk_read_actor_t actor);
int rsock_rx_recvmsg(struct sock *sk, struct msghdr *msg, size_t len,
		     int flags);

/* Bytes that can be read, as a hint: seen without ep->lock */
static inline u32 rsock_rx_avail(const struct rsock_ep *ep)
{
	return rsock_rxwin_avail(&ep->rx.win);
}

/*
 * Can nothing more arrive until something is read? All that was granted has, and
 * no more is granted: what is free may be less than a grant.
 */
static inline bool rsock_rx_full(const struct rsock_ep *ep)
{
	return READ_ONCE(ep->ring.state) == RSOCK_RING_FINAL &&
	       !rsock_rxwin_granted(&ep->rx.win);
}

/* Is there as much to read as @wanted, or all that there can be? */
static inline bool rsock_rx_enough(const struct rsock_ep *ep, u32 wanted)
{
	u32 avail = rsock_rx_avail(ep);

	return avail && (avail >= wanted || rsock_rx_full(ep));
}

#endif /* _RSOCK_RX_H */
