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
	return READ_ONCE(ep->rx.win.avail);
}

/* Is there as much to read as @wanted, or all that the ring can hold? */
static inline bool rsock_rx_enough(const struct rsock_ep *ep, u32 wanted)
{
	u32 avail = rsock_rx_avail(ep);

	return avail && (avail >= wanted || avail == ep->rx.win.size);
}

#endif /* _RSOCK_RX_H */
