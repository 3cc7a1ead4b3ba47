/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _RSOCK_IWARP_H
#define _RSOCK_IWARP_H

/*
 * What differs with iWARP. It has no RDMA write with immediate, so that a
 * message is a SEND of four bytes, behind an RDMA write if something is written
 * along with it; TCP keeps their order. Elsewhere ep->iwarp tells.
 *
 *  - A message takes two slots of the send queue, and a receive a buffer.
 *  - Nothing tells what was written along with a message: a grant is there if
 *    the entry of our table is not empty, which it is made when it was taken.
 *  - A message that finds no receive ends the connection. So those that take no
 *    credit are bounded: see RSOCK_IW_SLACK.
 *  - The driver readies the queue pair, in rdma_connect() or rdma_accept(). Our
 *    memory has to be registered before: iwreg.c.
 *  - The active side speaks first, which it does by granting the rest of its
 *    ring. The passive one has no slots (sq.usable) until it has heard of it.
 *  - A work request is complete when TCP has it: rsock_ep_leave().
 */

#include <linux/minmax.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>

#include "wire.h"

struct rsock_ep;

/*
 * Messages without credit that an AF_RSOCK peer may have on their way: grants
 * (2), credit (3), the end (2), revocations and as many answers to ours. What
 * rsockets has is less, but then it has no receives for what we have: those are
 * taken from the credits that it grants (txwin.spare).
 */
#define RSOCK_IW_REVOKES	8
#define RSOCK_IW_SLACK		32
#define RSOCK_IW_SPARE		8

/* A peer that has not been heard of by then is written to once more */
#define RSOCK_IW_NUDGE		(HZ / 10)

/**
 * struct rsock_iw - receive buffers for messages
 * @msgs: one for each receive, used in turn; NULL unless iWARP
 * @dma: their address
 * @bytes: their size
 * @tail: the next to be posted
 * @head: the next to arrive
 * @held: messages that arrived before we knew the peer
 * @nudged: see rsock_watch_deaf()
 * @work: registers and connects, which may take TCP's time, on a queue of its
 *	own; holds a reference while queued
 * @busy: it is queued or runs: the teardown waits for it to queue ep->work
 *
 * @tail to @nudged, @busy: ep->lock, or nobody else knows the queue pair yet
 */
struct rsock_iw {
	u32 *msgs;
	dma_addr_t dma;
	size_t bytes;
	u16 tail;
	u16 head;
	u16 held;
	bool nudged;
	struct work_struct work;
	bool busy;
};

/**
 * struct rsock_iw_send - a message while it is posted
 * @wr: work request
 * @sge: of @wr, to @msg
 * @msg: what is sent
 */
struct rsock_iw_send {
	struct ib_send_wr wr;
	struct ib_sge sge;
	u32 msg;
};

/* Work requests for each message */
static inline unsigned int rsock_wr_per_msg(bool iwarp)
{
	return iwarp ? 2 : 1;
}

/* Credits of the peer that are not for data */
static inline u16 rsock_iw_spare(const struct rsock_conn *peer)
{
	return peer->has_ext ? 0 : min_t(u16, RSOCK_IW_SPARE,
					 peer->credits / 2);
}

extern struct workqueue_struct *rsock_iw_wq;

void rsock_iw_init(struct rsock_ep *ep);
void rsock_iw_queue(struct rsock_ep *ep);
int rsock_iw_open(struct rsock_ep *ep);
void rsock_iw_release(struct rsock_ep *ep);
void rsock_iw_recv(struct rsock_ep *ep, struct ib_recv_wr *wr,
		   struct ib_sge *sge);
bool rsock_iw_heard(struct rsock_ep *ep);
u32 rsock_iw_msg(struct rsock_ep *ep);
bool rsock_iw_granted(const struct rsock_ep *ep, size_t at);
struct ib_send_wr *rsock_iw_split(struct rsock_ep *ep, struct ib_send_wr *wr,
				  struct rsock_iw_send *send);

/* iwreg.c */
int rsock_iw_register(struct rsock_ep *ep);

#endif /* _RSOCK_IWARP_H */
