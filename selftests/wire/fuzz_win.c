// SPDX-License-Identifier: GPL-2.0
/*
 * Fuzz target: both windows, driven by a peer that does what it likes and by a
 * user of ours that keeps to the rules of win.h.
 *
 * Beside each window runs an account of the same events, in 64-bit numbers
 * that never wrap: positions in the stream, and messages since the start. What
 * the window says and does must agree with it at every step.
 */

#include <linux/minmax.h>

#include "fuzz.h"
#include "win.h"

/**
 * struct tx_account - what the peer allowed us
 * @sent: messages
 * @limit: messages that may be sent in all
 * @span: a message may span two buffers
 * @grants: open buffers, oldest first
 * @nr_grants: how many
 * @entries: grants that came through our table
 */
struct tx_account {
	u64 sent;
	u64 limit;
	bool span;
	struct rsock_sge grants[2];
	u32 nr_grants;
	u64 entries;
};

/**
 * struct rx_ring - which bytes of the stream go to a ring
 * @size: bytes in it
 * @from: stream position where they begin
 * @to: and where they end; both are NOWHERE as long as there is no such ring
 */
struct rx_ring {
	u64 size;
	u64 from;
	u64 to;
};

#define NOWHERE		(~0ULL)

/**
 * struct rx_account - what we allowed the peer
 * @rings: where the bytes go
 * @credits: messages that the peer may be ahead
 * @table: entries of the peer's table
 * @read: bytes consumed
 * @arrived: bytes arrived
 * @ends: stream positions where the open grants end, oldest first
 * @nr_grants: open grants
 * @granted: bytes granted in all, the end of the last grant
 * @msgs: messages arrived
 * @held: of these, messages whose credit is kept
 * @limit: messages that may arrive in all, as the peer was told
 * @updates: grants that went through the peer's table
 * @span: a message may span two grants
 */
struct rx_account {
	struct rx_ring rings[2];
	u64 credits;
	u64 table;
	u64 read;
	u64 arrived;
	u64 ends[2];
	u32 nr_grants;
	u64 granted;
	u64 msgs;
	u64 held;
	u64 limit;
	u64 updates;
	bool span;
};

struct sides {
	struct rsock_txwin tx;
	struct tx_account txa;
	struct rsock_rxwin rx;
	struct rx_account rxa;
};

/* Do the bytes of both buffers lie behind each other? */
static bool tx_spans(const struct tx_account *a)
{
	return a->span && a->nr_grants == 2 &&
	       a->grants[0].key == a->grants[1].key &&
	       a->grants[1].addr - a->grants[0].addr == a->grants[0].len;
}

static void tx_compare(const struct rsock_txwin *w, const struct tx_account *a)
{
	u64 room = 0;
	u32 i;

	require_eq(w->seq, a->sent % 0x10000, "tx seq");
	require_eq(w->limit, a->limit % 0x10000, "tx limit");
	require(a->sent <= a->limit, "sent within limit");
	require_eq(w->nr_grants, a->nr_grants, "tx grants");
	require_eq(w->next_entry, (a->entries + 1) % 2, "tx next entry");
	for (i = 0; i < a->nr_grants; i++) {
		require_sge(&w->grants[i], &a->grants[i], "tx grant");
		require(w->grants[i].len, "tx grant not empty");
		require(fits(w->grants[i].addr, w->grants[i].len),
			"tx grant within the address space");
	}
	if (a->sent < a->limit && a->nr_grants)
		room = a->grants[0].len +
		       (tx_spans(a) ? (u64)a->grants[1].len : 0);
	if (room > 0x1fffffff)
		room = 0x1fffffff;
	require_eq(rsock_txwin_room(w), room, "room");
}

static void tx_credit(struct sides *s, u16 limit)
{
	struct tx_account *a = &s->txa;
	u64 abs = a->sent + (u16)(limit - a->sent);
	bool ok = abs >= a->limit && abs - a->sent < 0xffff;

	require_eq(rsock_txwin_credit(&s->tx, limit),
		   ok ? 0 : RSOCK_FAULT_CREDIT, "credit");
	if (ok)
		a->limit = abs;
}

static void tx_grant(struct sides *s, const struct rsock_sge *sge)
{
	struct tx_account *a = &s->txa;
	u8 entry[RSOCK_SGE_LEN];
	int want = 0;

	memcpy(entry, &sge->addr, 8);
	memcpy(entry + 8, &sge->key, 4);
	memcpy(entry + 12, &sge->len, 4);
	if (a->nr_grants == 2)
		want = RSOCK_FAULT_GRANT;
	else if (!sge->len || !fits(sge->addr, sge->len))
		want = RSOCK_FAULT_SGE;
	require_eq(rsock_txwin_grant(&s->tx, entry), want, "grant");
	if (want)
		return;
	a->grants[a->nr_grants++] = *sge;
	a->entries++;
}

static void tx_take(struct sides *s, u32 n)
{
	u32 room = rsock_txwin_room(&s->tx);
	struct tx_account *a = &s->txa;
	struct rsock_sge to, want;

	if (!room)
		return;
	want = a->grants[0];
	want.len = n % room + 1;
	rsock_txwin_take(&s->tx, want.len, &to);
	require_sge(&to, &want, "where to");
	a->sent++;
	if (to.len >= a->grants[0].len) {
		to.len -= a->grants[0].len;
		a->grants[0] = a->grants[1];
		a->nr_grants--;
	}
	a->grants[0].addr += to.len;
	a->grants[0].len -= to.len;
	if (a->nr_grants && !a->grants[0].len)
		a->nr_grants--;
}

static void tx_counted(struct sides *s)
{
	struct tx_account *a = &s->txa;
	bool want = a->sent < a->limit;

	require_eq(rsock_txwin_counted(&s->tx), want, "credit taken");
	if (want)
		a->sent++;
}

static bool rx_grown(const struct rx_account *a)
{
	return a->rings[1].from != NOWHERE;
}

/* The ring that the byte at a stream position goes to */
static const struct rx_ring *rx_ring_of(const struct rx_account *a, u64 pos)
{
	return &a->rings[pos >= a->rings[1].from];
}

/* How many of the bytes before a stream position are a ring's */
static u64 rx_part(const struct rx_ring *r, u64 pos)
{
	return max(r->from, min(pos, r->to)) - r->from;
}

/* Bytes from where a stream position is in a ring up to the ring's end */
static u64 rx_to_end(const struct rx_ring *r, u64 pos)
{
	return r->size - rx_part(r, pos) % r->size;
}

/* Where the byte at a stream position goes */
static u64 rx_offset(const struct rx_account *a, u64 pos)
{
	const struct rx_ring *r = rx_ring_of(a, pos);
	u64 before = r == a->rings ? 0 : a->rings[0].size;

	return before + r->size - rx_to_end(r, pos);
}

static void rx_compare_ring(const struct rsock_rxring *got,
			    const struct rx_ring *want,
			    const struct rx_account *a)
{
	u64 read = rx_part(want, a->read);
	u64 arrived = rx_part(want, a->arrived);
	u64 granted = rx_part(want, a->granted);

	require_eq(got->size, want->size, "rx size");
	require_eq(got->head, want->size ? read % want->size : 0, "rx head");
	require_eq(got->avail, arrived - read, "rx avail");
	require_eq(got->granted, granted - arrived, "rx granted");
	require(granted - read <= want->size, "rx fits into the ring");
}

static void rx_compare(const struct rsock_rxwin *w, const struct rx_account *a)
{
	u64 done = a->msgs - a->held;
	u64 told = a->limit - a->credits;
	u64 from = a->arrived;
	u32 i;

	rx_compare_ring(&w->ring[0], &a->rings[0], a);
	rx_compare_ring(&w->ring[1], &a->rings[1], a);
	require_eq(rsock_rxwin_size(w), a->rings[0].size + a->rings[1].size,
		   "rx sizes");
	require_eq(rsock_rxwin_avail(w), a->arrived - a->read,
		   "rx avail in all");
	require_eq(rsock_rxwin_granted(w), a->granted - a->arrived,
		   "rx granted in all");
	require_eq(w->to, rx_grown(a), "rx ring granted of");
	require_eq(w->nr_grants, a->nr_grants, "rx grants");
	require(w->nr_grants <= 2, "no third grant");
	for (i = 0; i < a->nr_grants; i++) {
		require_eq(w->grants[i], a->ends[i] - from, "rx grant");
		require(w->grants[i], "rx grant not empty");
		from = a->ends[i];
	}
	require_eq(from, a->granted, "end of rx grants");
	require_eq(w->seq, a->msgs % 0x10000, "rx seq");
	require_eq((u16)(w->told + w->credits), a->limit % 0x10000, "rx limit");
	require(a->msgs <= a->limit, "arrived within limit");
	require_eq(w->held, a->held, "rx held");
	require(told <= done, "what is kept was not returned");
	require_eq(w->entry, (a->updates + 1) % a->table, "rx entry");
	require_eq(rsock_rxwin_credit_due(w), told < done &&
		   2 * (done - told) >= a->credits - a->held, "credit due");
}

/* How long the next message may be: of one grant, or up to the ring's end */
static u64 rx_room(const struct rx_account *a)
{
	const struct rx_ring *r = rx_ring_of(a, a->arrived);

	if (!a->span)
		return a->ends[0] - a->arrived;
	return min(rx_part(r, a->granted) - rx_part(r, a->arrived),
		   rx_to_end(r, a->arrived));
}

static void rx_data(struct sides *s, u32 len)
{
	struct rx_account *a = &s->rxa;
	u32 off = 0xa5a5a5a5;
	int want = 0;

	if (!a->nr_grants || len > rx_room(a))
		want = RSOCK_FAULT_OVERRUN;
	else if (a->msgs == a->limit)
		want = RSOCK_FAULT_FLOOD;
	require_eq(rsock_rxwin_data(&s->rx, len, &off), want, "data");
	if (want)
		return;
	require_eq(off, rx_offset(a, a->arrived), "offset of data");
	require(len <= rx_to_end(rx_ring_of(a, a->arrived), a->arrived),
		"data does not wrap");
	a->msgs++;
	a->arrived += len;
	while (a->nr_grants && a->arrived >= a->ends[0]) {
		a->ends[0] = a->ends[1];
		a->nr_grants--;
	}
}

static void rx_counted(struct sides *s, bool hold)
{
	struct rx_account *a = &s->rxa;
	int want = a->msgs == a->limit ? RSOCK_FAULT_FLOOD : 0;

	require_eq(rsock_rxwin_counted(&s->rx), want, "counted");
	if (want)
		return;
	a->msgs++;
	if (hold) {
		rsock_rxwin_hold(&s->rx);
		a->held++;
	}
}

static void rx_release(struct sides *s, u32 n)
{
	struct rx_account *a = &s->rxa;

	for (n = n % (a->held + 1); n; n--) {
		rsock_rxwin_release(&s->rx);
		a->held--;
	}
}

static void rx_unread(struct sides *s, u32 skip)
{
	const struct rx_account *a = &s->rxa;
	u64 pos = a->read + skip, want = 0;
	const struct rx_ring *r = rx_ring_of(a, pos);
	u32 off = 0xa5a5a5a5;

	if (pos < a->arrived)
		want = min(rx_part(r, a->arrived) - rx_part(r, pos),
			   rx_to_end(r, pos));
	require_eq(rsock_rxwin_unread(&s->rx, skip, &off), want, "unread");
	if (want)
		require_eq(off, rx_offset(a, pos), "offset of what is unread");
}

static void rx_consume(struct sides *s, u32 n)
{
	struct rx_account *a = &s->rxa;
	u64 unread = a->arrived - a->read;

	n = n % (unread + 1);
	rsock_rxwin_consume(&s->rx, n);
	a->read += n;
}

/* Once */
static void rx_grow(struct sides *s, u32 size)
{
	struct rx_account *a = &s->rxa;

	if (rx_grown(a))
		return;
	rsock_rxwin_grow(&s->rx, size);
	a->rings[0].to = a->granted;
	a->rings[1] = (struct rx_ring){ size, a->granted, NOWHERE };
}

static void rx_grant(struct sides *s, u32 n)
{
	struct rx_account *a = &s->rxa;
	const struct rx_ring *r = rx_ring_of(a, a->granted);
	u64 used = rx_part(r, a->granted) - rx_part(r, a->read);
	u64 room = min(r->size - used, rx_to_end(r, a->granted));
	u32 off = 0xa5a5a5a5;

	if (a->nr_grants == 2)
		room = 0;
	require_eq(rsock_rxwin_grantable(&s->rx, &off), room, "grantable");
	if (!room)
		return;
	require_eq(off, rx_offset(a, a->granted), "offset of grant");
	n = n % room + 1;
	require_eq(rsock_rxwin_grant(&s->rx, n), (a->updates + 1) % a->table,
		   "entry");
	a->updates++;
	a->granted += n;
	a->ends[a->nr_grants++] = a->granted;
}

static void rx_tell(struct sides *s)
{
	struct rx_account *a = &s->rxa;

	a->limit = a->msgs - a->held + a->credits;
	require_eq(rsock_rxwin_tell(&s->rx), a->limit % 0x10000, "limit told");
}

static void start(struct sides *s, struct input *in)
{
	struct rsock_conn peer = {
		.credits = input_get(in, 2),
		.sgl = { 0, 0, 2 + input_get(in, 1) % 63 },
		.buf = { input_get(in, 8), input_get(in, 4),
			 input_get(in, 4) },
	};
	u32 size = input_get(in, 4) % 0x80000000U + 1;
	u8 how = input_get(in, 1);
	u32 first;
	u16 credits;

	if (how & 1)
		size = size % 64 + 1;
	if (how & 2)
		peer.ext_features = RSOCK_FEAT_SPAN;
	first = input_get(in, 4) % size + 1;
	credits = input_get(in, 2) % 0xfffe + 1;
	if (!peer.buf.len || !fits(peer.buf.addr, peer.buf.len)) {
		peer.buf.addr = 0;
		peer.buf.len = 1;
	}
	s->txa = (struct tx_account){
		.limit = peer.credits,
		.span = how & 2,
		.grants = { peer.buf },
		.nr_grants = 1,
	};
	s->rxa = (struct rx_account){
		.rings = { { size, 0, NOWHERE }, { 0, NOWHERE, NOWHERE } },
		.credits = credits,
		.table = peer.sgl.len,
		.ends = { first },
		.nr_grants = 1,
		.granted = first,
		.limit = credits,
		.span = how & 2,
	};
	rsock_txwin_init(&s->tx, &peer);
	rsock_rxwin_init(&s->rx, size, first, credits);
	rsock_rxwin_peer(&s->rx, &peer);
}

/* As if so many messages had passed each way, to get near 2^16 */
static void skip(struct sides *s, u16 n)
{
	s->tx.seq += n;
	s->tx.limit += n;
	s->txa.sent += n;
	s->txa.limit += n;
	s->rx.seq += n;
	s->rx.told += n;
	s->rxa.msgs += n;
	s->rxa.limit += n;
}

/* Many small steps at once */
static void burst(struct sides *s, u8 n, bool hold)
{
	while (n--) {
		tx_take(s, 0);
		tx_counted(s);
		rx_counted(s, hold);
	}
}

static void step(struct sides *s, struct input *in)
{
	struct rsock_sge sge;

	switch (input_get(in, 1) % 25) {
	case 0:
		tx_credit(s, input_get(in, 2));
		break;
	case 1:		/* near what is right */
		tx_credit(s, s->tx.limit + (signed char)input_get(in, 1));
		break;
	case 2:		/* near what is too far */
		tx_credit(s, s->tx.seq + (signed char)input_get(in, 1));
		break;
	case 3:
		sge = (struct rsock_sge){ input_get(in, 8), input_get(in, 4),
					  input_get(in, 4) };
		tx_grant(s, &sge);
		break;
	case 4:
		sge = (struct rsock_sge){ input_get(in, 2), 1,
					  input_get(in, 1) };
		tx_grant(s, &sge);
		break;
	case 5:
		tx_take(s, input_get(in, 4));
		break;
	case 6:		/* all of it */
		tx_take(s, rsock_txwin_room(&s->tx) - 1);
		break;
	case 7:
		rx_data(s, input_get(in, 4));
		break;
	case 8:		/* near what is right */
		rx_data(s, s->rx.grants[0] + (signed char)input_get(in, 1));
		break;
	case 9:
		rx_data(s, input_get(in, 1));
		break;
	case 10:
		rx_counted(s, false);
		break;
	case 11:
		rx_consume(s, input_get(in, 4));
		break;
	case 12:	/* all of it */
		rx_consume(s, rsock_rxwin_avail(&s->rx));
		break;
	case 13:
		rx_grant(s, input_get(in, 4));
		break;
	case 14:
		rx_tell(s);
		break;
	case 15:
		burst(s, input_get(in, 1), false);
		break;
	case 16:
		tx_counted(s);
		break;
	case 17:
		rx_counted(s, true);
		break;
	case 18:
		burst(s, input_get(in, 1), true);
		break;
	case 19:
		rx_release(s, input_get(in, 2));
		break;
	case 20:	/* all of them */
		rx_release(s, s->rx.held);
		break;
	case 21:
		rx_unread(s, input_get(in, 4));
		break;
	case 22:	/* near where the second ring begins */
		rx_unread(s, s->rx.ring[0].avail +
			  (signed char)input_get(in, 1));
		break;
	case 23:
		rx_grow(s, input_get(in, 4) % 0x7fffffff + 1);
		break;
	case 24:
		rx_grow(s, input_get(in, 1) % 64 + 1);
		break;
	}
}

int fuzz_one(const u8 *data, size_t size)
{
	struct input in = { data, size };
	struct sides s;

	start(&s, &in);
	skip(&s, input_get(&in, 2));
	do {
		tx_compare(&s.tx, &s.txa);
		rx_compare(&s.rx, &s.rxa);
		step(&s, &in);
	} while (in.size);
	tx_compare(&s.tx, &s.txa);
	rx_compare(&s.rx, &s.rxa);
	return 0;
}
