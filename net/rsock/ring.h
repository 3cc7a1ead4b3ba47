/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _RSOCK_RING_H
#define _RSOCK_RING_H

/*
 * Memory of the receive rings. See ring.c.
 */

#include "buf.h"

struct iov_iter;
struct rsock_ep;
struct rsock_sge;

/*
 * Life of the second ring. Whatever goes wrong, the connection has its first one.
 */
enum rsock_ring_state {
	RSOCK_RING_FIRST,	/* only the first one is there */
	RSOCK_RING_WANTED,	/* the work is to get another one */
	RSOCK_RING_READY,	/* it did, and the send queue is held: to be
				 * registered and granted of
				 */
	RSOCK_RING_FINAL,	/* granted of, or could not be had */
};

/**
 * struct rsock_ring - the second ring
 * @state: how far it is. ep->lock
 * @grants: of the first ring, since @since. ep->lock
 * @since: jiffies. ep->lock
 * @buf: its memory, empty at first: the work's up to state READY, constant then
 * @mr: its memory region, or NULL; likewise
 */
struct rsock_ring {
	enum rsock_ring_state state;
	u32 grants;
	unsigned long since;
	struct rsock_buf buf;
	struct ib_mr *mr;
};

void rsock_ring_filled(struct rsock_ep *ep);
void rsock_ring_granted(struct rsock_ep *ep);
void rsock_ring_prepare(struct rsock_ep *ep);
void rsock_ring_push(struct rsock_ep *ep);
void rsock_ring_release(struct rsock_ep *ep);

void rsock_ring_sge(const struct rsock_ep *ep, u32 offset,
		    struct rsock_sge *sge);
void rsock_ring_sync(const struct rsock_ep *ep, u32 offset, u32 len,
		     bool for_cpu);
size_t rsock_ring_to_iter(const struct rsock_ep *ep, u32 offset, u32 len,
			  struct iov_iter *to);

#endif /* _RSOCK_RING_H */
