// SPDX-License-Identifier: GPL-2.0
/*
 * Flow control arithmetic. See win.h.
 */

#include "win.h"

#include <linux/minmax.h>

/**
 * rsock_txwin_init() - start from what the peer said when connecting
 * @w: window
 * @peer: its connection data, decoded
 */
void rsock_txwin_init(struct rsock_txwin *w, const struct rsock_conn *peer)
{
	*w = (struct rsock_txwin){
		.limit = peer->credits,
		.span = peer->ext_features & RSOCK_FEAT_SPAN,
		.grants = { peer->buf },
		.nr_grants = 1,
		.next_entry = 1,
	};
}

/**
 * rsock_txwin_credit() - the peer told a new limit
 * @w: window
 * @limit: sequence number that we may reach
 *
 * Sequence numbers are compared modulo 2^16, so a limit can be told from a
 * stale one only if it lies at most 2^16 - 2 ahead of what was sent, which is
 * also the most that rsockets ever grants, and it must not take back what was
 * granted before.
 *
 * Return: 0 or RSOCK_FAULT_CREDIT.
 */
int rsock_txwin_credit(struct rsock_txwin *w, u16 limit)
{
	u16 had = w->limit - w->seq;
	u16 has = limit - w->seq;

	if (has < had || has == 0xffff)
		return RSOCK_FAULT_CREDIT;
	w->limit = limit;
	return RSOCK_FAULT_NONE;
}

/**
 * rsock_txwin_grant() - the peer granted another buffer
 * @w: window
 * @entry: copy of our table's entry w->next_entry
 *
 * Return: 0, RSOCK_FAULT_GRANT or RSOCK_FAULT_SGE.
 */
int rsock_txwin_grant(struct rsock_txwin *w, const u8 entry[RSOCK_SGE_LEN])
{
	int fault;

	if (w->nr_grants == RSOCK_SGL_ENTRIES)
		return RSOCK_FAULT_GRANT;
	fault = rsock_sge_decode(entry, &w->grants[w->nr_grants]);
	if (fault)
		return fault;
	w->nr_grants++;
	w->next_entry = (w->next_entry + 1) % RSOCK_SGL_ENTRIES;
	return RSOCK_FAULT_NONE;
}

/**
 * rsock_txwin_has_credit() - may a message that takes a credit be sent?
 * @w: window
 */
bool rsock_txwin_has_credit(const struct rsock_txwin *w)
{
	return (u16)(w->limit - w->seq) > w->spare;
}

/**
 * rsock_txwin_counted() - take a credit for a message without stream bytes
 * @w: window
 *
 * Return: false if there is none.
 */
bool rsock_txwin_counted(struct rsock_txwin *w)
{
	if (!rsock_txwin_has_credit(w))
		return false;
	w->seq++;
	return true;
}

/* May a message go on from the first buffer to the second? */
static bool rsock_txwin_spans(const struct rsock_txwin *w)
{
	const struct rsock_sge *g = w->grants;

	return w->span && w->nr_grants == RSOCK_SGL_ENTRIES &&
	       g[1].key == g[0].key && g[1].addr == g[0].addr + g[0].len;
}

/**
 * rsock_txwin_room() - how long the next message may be
 * @w: window
 *
 * Return: bytes, at most RSOCK_MSG_VALUE_MAX; 0 if nothing may be sent now.
 */
u32 rsock_txwin_room(const struct rsock_txwin *w)
{
	u64 room = w->grants[0].len;

	if (!rsock_txwin_has_credit(w) || !w->nr_grants)
		return 0;
	if (rsock_txwin_spans(w))
		room += w->grants[1].len;
	return min_t(u64, room, RSOCK_MSG_VALUE_MAX);
}

/**
 * rsock_txwin_take() - use up room for one message
 * @w: window
 * @len: bytes, 1..rsock_txwin_room()
 * @to: where to write them
 */
void rsock_txwin_take(struct rsock_txwin *w, u32 len, struct rsock_sge *to)
{
	struct rsock_sge *g = &w->grants[0];
	u32 n;

	*to = *g;
	to->len = len;
	w->seq++;
	for (; len; len -= n) {
		n = min(len, g->len);
		g->addr += n;
		g->len -= n;
		if (!g->len) {
			w->grants[0] = w->grants[1];
			w->nr_grants--;
		}
	}
}

/* Where in a ring the byte @skip bytes behind the first unread one is */
static u32 rsock_rxring_at(const struct rsock_rxring *r, u32 skip)
{
	u32 at = r->head + skip;

	return at >= r->size ? at - r->size : at;
}

static u32 rsock_rxwin_offset(const struct rsock_rxwin *w,
			      const struct rsock_rxring *r, u32 at)
{
	return r == &w->ring[0] ? at : w->ring[0].size + at;
}

/**
 * rsock_rxwin_init() - start, with part of the ring granted
 * @w: window
 * @size: bytes in the first ring, at most 2^31
 * @first: bytes from its start that the connection data grants, 1..@size
 * @credits: messages that the connection data grants
 */
void rsock_rxwin_init(struct rsock_rxwin *w, u32 size, u32 first, u16 credits)
{
	*w = (struct rsock_rxwin){
		.ring = { { .size = size, .granted = first } },
		.grants = { first },
		.nr_grants = 1,
		.credits = credits,
		.entry = 1,
		.peer_entries = RSOCK_SGL_ENTRIES,
	};
}

/**
 * rsock_rxwin_peer() - learn the size of the peer's table, and what it knows of
 * @w: window
 * @peer: its connection data, decoded
 */
void rsock_rxwin_peer(struct rsock_rxwin *w, const struct rsock_conn *peer)
{
	w->peer_entries = peer->sgl.len;
	w->span = peer->ext_features & RSOCK_FEAT_SPAN;
}

/* Bytes of a grant arrived, or of two */
static void rsock_rxwin_fill(struct rsock_rxwin *w, u32 len)
{
	u32 n;

	for (; len; len -= n) {
		n = min(len, w->grants[0]);
		w->grants[0] -= n;
		if (!w->grants[0]) {
			w->grants[0] = w->grants[1];
			w->nr_grants--;
		}
	}
}

/**
 * rsock_rxwin_data() - a data message arrived
 * @w: window
 * @len: bytes, as the peer says
 * @offset: set to where in the rings they are; they do not wrap
 *
 * Return: 0, RSOCK_FAULT_OVERRUN or RSOCK_FAULT_FLOOD.
 */
int rsock_rxwin_data(struct rsock_rxwin *w, u32 len, u32 *offset)
{
	struct rsock_rxring *r = &w->ring[w->ring[0].granted ? 0 : w->to];
	u32 at = rsock_rxring_at(r, r->avail), room = w->grants[0];
	int fault;

	if (w->span)
		room = min(r->granted, r->size - at);
	if (!w->nr_grants || len > room)
		return RSOCK_FAULT_OVERRUN;
	fault = rsock_rxwin_counted(w);
	if (fault)
		return fault;

	*offset = rsock_rxwin_offset(w, r, at);
	WRITE_ONCE(r->avail, r->avail + len);
	WRITE_ONCE(r->granted, r->granted - len);
	rsock_rxwin_fill(w, len);
	return RSOCK_FAULT_NONE;
}

/**
 * rsock_rxwin_counted() - a message that takes a credit arrived
 * @w: window
 *
 * Return: 0 or RSOCK_FAULT_FLOOD.
 */
int rsock_rxwin_counted(struct rsock_rxwin *w)
{
	if ((u16)(w->seq - w->told) >= w->credits)
		return RSOCK_FAULT_FLOOD;
	w->seq++;
	return RSOCK_FAULT_NONE;
}

/**
 * rsock_rxwin_hold() - keep the credit of the message that was counted last
 * @w: window
 */
void rsock_rxwin_hold(struct rsock_rxwin *w)
{
	w->held++;
}

/**
 * rsock_rxwin_release() - the credit of one that was kept may be given back
 * @w: window with w->held > 0
 */
void rsock_rxwin_release(struct rsock_rxwin *w)
{
	w->held--;
}

/**
 * rsock_rxwin_unread() - find bytes to read
 * @w: window
 * @skip: so many of the unread ones are not wanted
 * @offset: set to where the first one that is wanted is
 *
 * Return: how many lie there behind each other, 0 if there are no more.
 */
u32 rsock_rxwin_unread(const struct rsock_rxwin *w, u32 skip, u32 *offset)
{
	const struct rsock_rxring *r = &w->ring[0];
	u32 at;

	if (skip >= r->avail) {
		skip -= r->avail;
		r = &w->ring[1];
	}
	if (skip >= r->avail)
		return 0;
	at = rsock_rxring_at(r, skip);
	*offset = rsock_rxwin_offset(w, r, at);
	return min(r->avail - skip, r->size - at);
}

static void rsock_rxring_consume(struct rsock_rxring *r, u32 len)
{
	r->head = rsock_rxring_at(r, len);
	WRITE_ONCE(r->avail, r->avail - len);
}

/**
 * rsock_rxwin_consume() - the reader is done with bytes
 * @w: window
 * @len: at most rsock_rxwin_avail()
 */
void rsock_rxwin_consume(struct rsock_rxwin *w, u32 len)
{
	u32 first = min(len, w->ring[0].avail);

	rsock_rxring_consume(&w->ring[0], first);
	rsock_rxring_consume(&w->ring[1], len - first);
}

/**
 * rsock_rxwin_grow() - grant of another ring from now on
 * @w: window that has one ring
 * @size: bytes in the other one, not 0; less than 2^32 in both
 */
void rsock_rxwin_grow(struct rsock_rxwin *w, u32 size)
{
	w->ring[1].size = size;
	w->to = 1;
}

/**
 * rsock_rxwin_grantable() - what could be granted now
 * @w: window
 * @offset: set to its place in the rings
 *
 * A grant is contiguous, and one entry of the peer's table must be unused: one
 * whose bytes have all arrived.
 *
 * Return: bytes, 0 for none.
 */
u32 rsock_rxwin_grantable(const struct rsock_rxwin *w, u32 *offset)
{
	const struct rsock_rxring *r = &w->ring[w->to];
	u32 used = r->avail + r->granted;
	u32 at = rsock_rxring_at(r, used);

	if (w->nr_grants == RSOCK_SGL_ENTRIES)
		return 0;
	*offset = rsock_rxwin_offset(w, r, at);
	return min(r->size - used, r->size - at);
}

/**
 * rsock_rxwin_grant() - grant bytes
 * @w: window
 * @len: 1..rsock_rxwin_grantable()
 *
 * Return: the entry of the peer's table to write the grant to.
 */
u16 rsock_rxwin_grant(struct rsock_rxwin *w, u32 len)
{
	u16 entry = w->entry;

	w->grants[w->nr_grants++] = len;
	WRITE_ONCE(w->ring[w->to].granted, w->ring[w->to].granted + len);
	w->entry = (entry + 1) % w->peer_entries;
	return entry;
}

/**
 * rsock_rxwin_credit_due() - should the peer be told a new limit?
 * @w: window
 *
 * Half of the credits that are not kept leaves the peer the other half to go on
 * with.
 */
bool rsock_rxwin_credit_due(const struct rsock_rxwin *w)
{
	u16 due = w->seq - w->held - w->told;

	return due && due >= (w->credits - w->held + 1) / 2;
}

/**
 * rsock_rxwin_tell() - the limit to tell the peer now
 * @w: window
 */
u16 rsock_rxwin_tell(struct rsock_rxwin *w)
{
	w->told = w->seq - w->held;
	return (u16)(w->told + w->credits);
}
