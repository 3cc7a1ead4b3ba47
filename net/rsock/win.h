/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _RSOCK_WIN_H
#define _RSOCK_WIN_H

/*
 * Flow control, as arithmetic: what we may send (txwin), and what we allowed
 * the peer to send (rxwin). Pure code like wire.h; the caller serialises.
 *
 * Two things are granted separately. Messages: a 16-bit sequence number that
 * may be reached. Bytes: buffers, of which the writer holds at most as many as
 * its SGL table has entries (two), filled in order and each to its last byte.
 */

#include <linux/compiler.h>

#include "wire.h"

/**
 * struct rsock_txwin - what the peer allows us to send
 * @seq: messages sent so far, modulo 2^16
 * @limit: @seq may be advanced up to this
 * @spare: so many messages below it are left to those that take no credit
 * @span: a message may span two buffers, if the second lies behind the first
 * @grants: buffers that the peer granted; [0] is the one being filled
 * @nr_grants: how many of them
 * @next_entry: entry of our table that the peer's next SGL update is written to
 */
struct rsock_txwin {
	u16 seq;
	u16 limit;
	u16 spare;
	bool span;
	struct rsock_sge grants[RSOCK_SGL_ENTRIES];
	u8 nr_grants;
	u8 next_entry;
};

void rsock_txwin_init(struct rsock_txwin *w, const struct rsock_conn *peer);
int rsock_txwin_credit(struct rsock_txwin *w, u16 limit);
int rsock_txwin_grant(struct rsock_txwin *w, const u8 entry[RSOCK_SGE_LEN]);
bool rsock_txwin_has_credit(const struct rsock_txwin *w);
bool rsock_txwin_counted(struct rsock_txwin *w);
u32 rsock_txwin_room(const struct rsock_txwin *w);
void rsock_txwin_take(struct rsock_txwin *w, u32 len, struct rsock_sge *to);

/**
 * struct rsock_rxring - a receive ring
 *
 * Its bytes are, from @head on: @avail arrived and unread, @granted that the peer
 * may write, the rest free. All three wrap at @size.
 *
 * @size: bytes in the ring, 0 if there is none
 * @head: offset of the first unread byte
 * @avail: bytes that arrived and were not consumed
 * @granted: bytes granted that have not arrived
 */
struct rsock_rxring {
	u32 size;
	u32 head;
	u32 avail;
	u32 granted;
};

/**
 * struct rsock_rxwin - the receive rings and what the peer was granted of them
 *
 * There are two at most. A connection begins with the first; once there is a
 * second, that alone is granted of. What was granted before comes first, so that
 * the first ring is filled and read to its end before the second. An offset counts
 * the bytes of both, as if they lay one behind the other.
 *
 * @ring: the rings
 * @to: the one that is granted of
 * @grants: bytes still to come of each grant; [0] is filled first
 * @nr_grants: how many of them
 * @seq: messages arrived so far, modulo 2^16
 * @held: of these, messages whose credit is not to be given back yet
 * @told: @seq less @held when the limit was last told to the peer
 * @credits: messages that the peer may be ahead
 * @entry: entry of the peer's table that our next grant is written to
 * @peer_entries: size of the peer's table
 * @span: the peer's messages may span two grants that lie behind each other
 */
struct rsock_rxwin {
	struct rsock_rxring ring[2];
	u8 to;
	u32 grants[RSOCK_SGL_ENTRIES];
	u8 nr_grants;
	u16 seq;
	u16 held;
	u16 told;
	u16 credits;
	u16 entry;
	u16 peer_entries;
	bool span;
};

void rsock_rxwin_init(struct rsock_rxwin *w, u32 size, u32 first, u16 credits);
void rsock_rxwin_peer(struct rsock_rxwin *w, const struct rsock_conn *peer);
int rsock_rxwin_data(struct rsock_rxwin *w, u32 len, u32 *offset);
int rsock_rxwin_counted(struct rsock_rxwin *w);
void rsock_rxwin_hold(struct rsock_rxwin *w);
void rsock_rxwin_release(struct rsock_rxwin *w);
u32 rsock_rxwin_unread(const struct rsock_rxwin *w, u32 skip, u32 *offset);
void rsock_rxwin_consume(struct rsock_rxwin *w, u32 len);
void rsock_rxwin_grow(struct rsock_rxwin *w, u32 size);
u32 rsock_rxwin_grantable(const struct rsock_rxwin *w, u32 *offset);
u16 rsock_rxwin_grant(struct rsock_rxwin *w, u32 len);
bool rsock_rxwin_credit_due(const struct rsock_rxwin *w);
u16 rsock_rxwin_tell(struct rsock_rxwin *w);

/* Bytes in the rings */
static inline u32 rsock_rxwin_size(const struct rsock_rxwin *w)
{
	return w->ring[0].size + w->ring[1].size;
}

/* Bytes that arrived and were not consumed: without the lock a hint */
static inline u32 rsock_rxwin_avail(const struct rsock_rxwin *w)
{
	return READ_ONCE(w->ring[0].avail) + READ_ONCE(w->ring[1].avail);
}

/* Bytes granted that have not arrived: without the lock a hint */
static inline u32 rsock_rxwin_granted(const struct rsock_rxwin *w)
{
	return READ_ONCE(w->ring[0].granted) + READ_ONCE(w->ring[1].granted);
}

#endif /* _RSOCK_WIN_H */
