/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _RSOCK_TX_H
#define _RSOCK_TX_H

#include <net/rsock.h>

#include "ep.h"

struct page;
struct ubuf_info;

/* A message is at most so long, however much the peer grants at once */
#define RSOCK_TX_MSG_MAX	65536

/* In place of an offset */
#define RSOCK_TO_STREAM		(-1)	/* bytes of the stream */
#define RSOCK_TO_NOTES		(-2)	/* a note for the peer */

/**
 * struct rsock_txmsg - bytes to send, in pages
 * @node: in ep->tx.unsent, then ep->tx.sent
 * @len: bytes in all fragments, or of them that are to be sent
 * @posted: bytes of them that were posted
 * @end_seq: sq.posted when the last of them were
 * @charge: what it takes of SO_SNDBUF: its bytes, or at least its own size, so
 *	that many short ones do not take much more memory than that
 * @nr_frags: fragments in use
 * @mapped: fragments are DMA-mapped; none may be added or grow any more
 * @tell: ask for a completion of it
 * @to: RSOCK_TO_*, or the offset in the peer's mappings to place it at
 * @uarg: the pages are the caller's, and this is told when they are free again;
 *	a reference is held. Else NULL
 * @frag: the fragments; each holds a reference to its page
 *
 * Unless it has @uarg or is a note, it grows at its end as long as it has not
 * been posted: what is written while the peer grants nothing, or the send queue
 * is full, is sent as few messages.
 */
struct rsock_txmsg {
	struct list_head node;
	u32 len;
	u32 posted;
	u32 end_seq;
	u32 charge;
	u8 nr_frags;
	bool mapped;
	bool tell;
	s64 to;
	struct ubuf_info *uarg;
	struct rsock_txfrag {
		struct page *page;
		u32 off;
		u32 len;
		dma_addr_t dma;
	} frag[RSOCK_TX_FRAGS];
};

struct rsock_txmsg *rsock_txmsg_alloc(s64 to, struct ubuf_info *uarg,
				      gfp_t gfp);
void rsock_txmsg_free(struct rsock_txmsg *m);
void rsock_txmsg_add(struct rsock_txmsg *m, struct page *page, u32 off,
		     u32 len, bool extends);
int rsock_tx_add(struct rsock_ep *ep, struct rsock_txmsg *m, bool push);
int rsock_tx_add_list(struct rsock_ep *ep, struct list_head *list);
int rsock_tx_append(struct rsock_ep *ep, struct page *page, u32 off, u32 len,
		    s64 to, bool push);
size_t rsock_tx_cancel(struct rsock_ep *ep, const struct ubuf_info *uarg);
void rsock_tx_fin(struct rsock_ep *ep, enum rsock_fin fin);
void rsock_tx_drop(struct rsock_ep *ep);
void rsock_tx_reap(struct rsock_ep *ep);
void rsock_tx_kick(struct rsock_ep *ep);
void rsock_tx_probe(struct rsock_ep *ep);
u32 rsock_tx_queued(struct rsock_ep *ep);
u32 rsock_tx_unsent(const struct rsock_ep *ep);
void rsock_write_init(struct rsock_write *w);
int rsock_tx_init(void);
void rsock_tx_exit(void);

#endif /* _RSOCK_TX_H */
