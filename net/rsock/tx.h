/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _RSOCK_TX_H
#define _RSOCK_TX_H

#include "ep.h"

struct msghdr;
struct page;

/* A message is at most so long, however much the peer grants at once */
#define RSOCK_TX_MSG_MAX	65536

/* In place of an offset: bytes of the stream */
#define RSOCK_TO_STREAM		(-1)

/**
 * struct rsock_txmsg - bytes to send, in pages
 * @node: in ep->tx.unsent, then ep->tx.sent
 * @len: bytes in all fragments
 * @posted: bytes of them that were posted
 * @end_seq: sq.posted when the last of them were
 * @nr_frags: fragments in use
 * @to: RSOCK_TO_STREAM, or the offset in the peer's mappings to place it at
 * @mapped: fragments are DMA-mapped; none may be added or grow any more
 * @frag: the fragments; each holds a reference to its page
 *
 * Grows at its end as long as it has not been posted: what is written while
 * the peer grants nothing, or the send queue is full, is sent as few messages.
 */
struct rsock_txmsg {
	struct list_head node;
	u32 len;
	u32 posted;
	u32 end_seq;
	u8 nr_frags;
	bool mapped;
	s64 to;
	struct rsock_txfrag {
		struct page *page;
		u32 off;
		u32 len;
		dma_addr_t dma;
	} frag[RSOCK_TX_FRAGS];
};

int rsock_tx_sendmsg(struct sock *sk, struct msghdr *msg, s64 to);
void rsock_tx_fin(struct rsock_ep *ep, enum rsock_fin fin);
void rsock_tx_drop(struct rsock_ep *ep);
void rsock_tx_kick(struct rsock_ep *ep);
u32 rsock_tx_queued(struct rsock_ep *ep);
int rsock_tx_init(void);
void rsock_tx_exit(void);

#endif /* _RSOCK_TX_H */
