/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _RSOCK_CHECKS_H
#define _RSOCK_CHECKS_H

/*
 * What is checked with the vectors of vectors.h. A check returns true, or
 * false and says in struct vec_fail what is wrong; the caller reports it in
 * the way of its framework.
 */

#include "vectors.h"

#include <linux/string.h>

#define VEC_COUNT(array)	((int)(sizeof(array) / sizeof((array)[0])))

/**
 * struct vec_fail - the first expectation that did not hold
 * @what: of which quantity
 * @step: of a script, from 0
 * @got: its value
 * @want: what it should have been
 */
struct vec_fail {
	const char *what;
	int step;
	u64 got;
	u64 want;
};

static inline bool vec_eq(struct vec_fail *f, const char *what, u64 got,
			  u64 want)
{
	if (got == want)
		return true;
	f->what = what;
	f->got = got;
	f->want = want;
	return false;
}

static inline bool vec_sge_eq(struct vec_fail *f, const struct rsock_sge *got,
			      const struct rsock_sge *want)
{
	return vec_eq(f, "sge address", got->addr, want->addr) &&
	       vec_eq(f, "sge key", got->key, want->key) &&
	       vec_eq(f, "sge length", got->len, want->len);
}

static inline bool vec_conn_eq(struct vec_fail *f,
			       const struct rsock_conn *got,
			       const struct rsock_conn *want)
{
	return vec_eq(f, "flags", got->flags, want->flags) &&
	       vec_eq(f, "credits", got->credits, want->credits) &&
	       vec_eq(f, "iomap slots", got->iomap_slots, want->iomap_slots) &&
	       vec_sge_eq(f, &got->sgl, &want->sgl) &&
	       vec_sge_eq(f, &got->buf, &want->buf) &&
	       vec_eq(f, "extension", got->has_ext, want->has_ext) &&
	       vec_eq(f, "features", got->ext_features, want->ext_features);
}

static inline bool vec_bytes_eq(struct vec_fail *f, const char *what,
				const u8 *got, const u8 *want, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++) {
		f->step = i;
		if (!vec_eq(f, what, got[i], want[i]))
			return false;
	}
	f->step = 0;
	return true;
}

static inline bool vec_host_is_be(void)
{
	const u16 one = 1;

	return !*(const u8 *)&one;
}

/* Connection data */

/* Write the v->len bytes of a vector */
static inline void vec_conn_bytes(const struct vec_conn *v, u8 *buf)
{
	int i, j, at;

	for (i = 0; i < v->len; i++)
		buf[i] = i < RSOCK_CONN_LEN ? v->base[i] : 0;
	for (i = 0; i < VEC_COUNT(v->patch); i++) {
		for (j = 0; j < v->patch[i].bytes; j++) {
			at = v->patch[i].off + v->patch[i].bytes - 1 - j;
			if (at < v->len)
				buf[at] = (u8)(v->patch[i].val >> (8 * j));
		}
	}
}

static inline bool vec_check_conn_encode(const struct rsock_conn *conn,
					 const u8 *want, struct vec_fail *f)
{
	static const u8 zeroes[RSOCK_CONN_EXT_LEN];
	size_t len = conn->has_ext ? RSOCK_CONN_EXT_LEN : RSOCK_CONN_LEN;
	u8 out[RSOCK_CONN_EXT_LEN + 1];

	memset(out, 0xa5, sizeof(out));
	return vec_eq(f, "encoded length", rsock_conn_encode(conn, out), len) &&
	       vec_bytes_eq(f, "encoded byte", out, want, len) &&
	       vec_bytes_eq(f, "byte behind", out + len, zeroes,
			    RSOCK_CONN_EXT_LEN - len) &&
	       vec_eq(f, "byte too far", out[RSOCK_CONN_EXT_LEN], 0xa5);
}

/* @in: the bytes of @v, best in an allocation of exactly their size */
static inline bool vec_check_conn(const struct vec_conn *v, const u8 *in,
				  struct vec_fail *f)
{
	struct rsock_conn poison, got, again;
	u8 out[RSOCK_CONN_EXT_LEN];
	size_t len;

	memset(&poison, 0x5a, sizeof(poison));
	poison.has_ext = true;
	got = poison;
	f->step = 0;
	if (!vec_eq(f, "fault", rsock_conn_decode(in, v->len, &got), v->fault))
		return false;
	if (v->fault)
		return vec_conn_eq(f, &got, &poison);
	if (!vec_conn_eq(f, &got, &v->want))
		return false;
	if (v->canonical && !vec_check_conn_encode(&got, in, f))
		return false;

	len = rsock_conn_encode(&got, out);
	return vec_eq(f, "second fault",
		      rsock_conn_decode(out, len, &again), 0) &&
	       vec_conn_eq(f, &again, &got);
}

/* Scale codes */

static inline bool vec_check_scale(const struct vec_scale *v,
				   struct vec_fail *f)
{
	f->step = 0;
	return vec_eq(f, "code", rsock_scale_encode(v->value), v->code) &&
	       vec_eq(f, "value", rsock_scale_decode(v->code), v->back);
}

/* All codes there are */
static inline bool vec_check_scale_codes(struct vec_fail *f)
{
	u16 value, last = 0;
	int code;

	for (code = 0; code < 256; code++) {
		f->step = code;
		value = rsock_scale_decode(code);
		if (!vec_eq(f, "value", value,
			    code <= 128 ? code : (code - 128) * 256) ||
		    !vec_eq(f, "ascends", !code || value > last, true) ||
		    !vec_eq(f, "code", rsock_scale_encode(value), code))
			return false;
		last = value;
	}
	f->step = 0;
	return true;
}

/* All values there are: rounded down to what the next code does not reach */
static inline bool vec_check_scale_values(struct vec_fail *f)
{
	u32 value, back;
	u8 code;

	for (value = 0; value < 65536; value++) {
		f->step = value;
		code = rsock_scale_encode(value);
		back = rsock_scale_decode(code);
		if (!vec_eq(f, "rounded down", back <= value, true))
			return false;
		if (code < 255 &&
		    !vec_eq(f, "but no further",
			    rsock_scale_decode(code + 1) > value, true))
			return false;
	}
	f->step = 0;
	return true;
}

/* Messages */

static inline bool vec_check_msg(const struct vec_msg *v, struct vec_fail *f)
{
	const struct rsock_msg poison = { .op = 0x5a, .slot = 0x5a5a,
					  .value = 0x5a5a5a5a };
	const struct rsock_msg *want = v->fault ? &poison : &v->want;
	struct rsock_msg got = poison;
	u32 imm = v->imm;

	f->step = 0;
	if (!vec_eq(f, "fault", rsock_msg_decode(v->imm, v->byte_len, v->slots,
						 &got), v->fault) ||
	    !vec_eq(f, "op", got.op, want->op) ||
	    !vec_eq(f, "sge", got.sge, want->sge) ||
	    !vec_eq(f, "slot", got.slot, want->slot) ||
	    !vec_eq(f, "value", got.value, want->value))
		return false;
	if (v->fault)
		return true;
	if (got.op == RSOCK_OP_SGL)
		imm &= 0xe000ffff;
	if (got.op == RSOCK_OP_CTRL)
		got.value |= (u32)got.slot << RSOCK_CTRL_SLOT_SHIFT;
	return vec_eq(f, "encoded", rsock_msg_encode(got.op, got.value), imm);
}

/* A value cannot spill into the operation */
static inline bool vec_check_msg_encode(struct vec_fail *f)
{
	f->step = 0;
	return vec_eq(f, "data", rsock_msg_encode(RSOCK_OP_DATA, 0xffffffff),
		      0x1fffffff) &&
	       vec_eq(f, "sgl", rsock_msg_encode(RSOCK_OP_SGL, 0x20000180),
		      0x80000180) &&
	       vec_eq(f, "iomap", rsock_msg_encode(RSOCK_OP_IOMAP, 1),
		      0xc0000001) &&
	       vec_eq(f, "ctrl", rsock_msg_encode(RSOCK_OP_CTRL,
						  RSOCK_CTRL_DISCONNECT),
		      0xe0000000) &&
	       vec_eq(f, "shutdown", rsock_msg_encode(RSOCK_OP_CTRL,
						      RSOCK_CTRL_SHUTDOWN),
		      0xe0000002) &&
	       vec_eq(f, "revoke", rsock_msg_encode(RSOCK_OP_CTRL,
						    RSOCK_CTRL_REVOKE |
						    255 << RSOCK_CTRL_SLOT_SHIFT),
		      0xe0ff0010) &&
	       vec_eq(f, "note", rsock_msg_encode(RSOCK_OP_NOTE, 0xe0000002),
		      0xa0000002) &&
	       vec_eq(f, "order", rsock_msg_order(0xc0000001, false),
		      0xc0000001) &&
	       vec_eq(f, "other order", rsock_msg_order(0xc0000001, true),
		      0x010000c0);
}

/* Entries, as we or a host of the other byte order has them in memory */

static inline const u8 *vec_native(const u8 *le, const u8 *be)
{
	return vec_host_is_be() ? be : le;
}

/* What was encoded; behind it @got is 0xa5 */
static inline bool vec_entry_eq(struct vec_fail *f, const u8 *got,
				const u8 *want, size_t len)
{
	return vec_bytes_eq(f, "encoded byte", got, want, len) &&
	       vec_eq(f, "byte too far", got[len], 0xa5);
}

/* SGL entries */

static inline bool vec_check_sge(const struct vec_sge *v, struct vec_fail *f)
{
	const u8 *theirs = vec_native(v->be, v->le);
	const u8 *ours = vec_native(v->le, v->be);
	const struct rsock_sge poison = { 0x5a, 0x5a, 0x5a };
	u8 out[RSOCK_SGE_LEN + 1], swapped[RSOCK_SGE_LEN + 1];
	struct rsock_sge got = poison;

	f->step = 0;
	if (!vec_eq(f, "fault", rsock_sge_decode(ours, &got), v->fault) ||
	    !vec_sge_eq(f, &got, v->fault ? &poison : &v->sge))
		return false;

	out[RSOCK_SGE_LEN] = 0xa5;
	swapped[RSOCK_SGE_LEN] = 0xa5;
	rsock_sge_encode(&v->sge, false, out);
	rsock_sge_encode(&v->sge, true, swapped);
	return vec_entry_eq(f, out, ours, RSOCK_SGE_LEN) &&
	       vec_entry_eq(f, swapped, theirs, RSOCK_SGE_LEN);
}

/* Iomap entries */

static inline bool vec_iomap_eq(struct vec_fail *f,
				const struct rsock_iomap_entry *got,
				const struct rsock_iomap_entry *want)
{
	return vec_eq(f, "iomap offset", got->offset, want->offset) &&
	       vec_sge_eq(f, &got->sge, &want->sge);
}

static inline bool vec_check_iomap(const struct vec_iomap *v,
				   struct vec_fail *f)
{
	const u8 *theirs = vec_native(v->be, v->le);
	const u8 *ours = vec_native(v->le, v->be);
	const struct rsock_iomap_entry poison = { 0x5a, { 0x5a, 0x5a, 0x5a } };
	const struct rsock_iomap_entry empty = {}, *want = &v->entry;
	u8 out[RSOCK_IOMAP_LEN + 1], swapped[RSOCK_IOMAP_LEN + 1];
	struct rsock_iomap_entry got = poison;

	if (v->fault)
		want = &poison;
	else if (!v->entry.sge.len)
		want = &empty;
	f->step = 0;
	if (!vec_eq(f, "fault", rsock_iomap_decode(ours, &got), v->fault) ||
	    !vec_iomap_eq(f, &got, want))
		return false;

	out[RSOCK_IOMAP_LEN] = 0xa5;
	swapped[RSOCK_IOMAP_LEN] = 0xa5;
	rsock_iomap_encode(&v->entry, false, out);
	rsock_iomap_encode(&v->entry, true, swapped);
	return vec_entry_eq(f, out, ours, RSOCK_IOMAP_LEN) &&
	       vec_entry_eq(f, swapped, theirs, RSOCK_IOMAP_LEN);
}

/* Notes */

static inline bool vec_check_note(const struct vec_note *v, struct vec_fail *f)
{
	const u8 *theirs = vec_native(v->be, v->le);
	const u8 *ours = vec_native(v->le, v->be);
	const struct rsock_note poison = { 0x5a, 0x5a };
	const struct rsock_note *want = v->fault ? &poison : &v->note;
	u8 out[RSOCK_NOTE_LEN + 1], swapped[RSOCK_NOTE_LEN + 1];
	struct rsock_note got = poison;

	f->step = 0;
	if (!vec_eq(f, "fault", rsock_note_decode(ours, &got), v->fault) ||
	    !vec_eq(f, "note offset", got.offset, want->offset) ||
	    !vec_eq(f, "note length", got.len, want->len))
		return false;

	out[RSOCK_NOTE_LEN] = 0xa5;
	swapped[RSOCK_NOTE_LEN] = 0xa5;
	rsock_note_encode(&v->note, false, out);
	rsock_note_encode(&v->note, true, swapped);
	return vec_entry_eq(f, out, ours, RSOCK_NOTE_LEN) &&
	       vec_entry_eq(f, swapped, theirs, RSOCK_NOTE_LEN);
}

/* Windows */

/* What is spared is not for data, but limits are told as without */
static inline bool vec_check_spare(struct vec_fail *f)
{
	const struct rsock_conn peer = {
		.credits = 10,
		.buf = { 0x1000, 1, 100 },
	};
	struct rsock_txwin w;

	f->step = 0;
	rsock_txwin_init(&w, &peer);
	w.spare = 8;
	if (!vec_eq(f, "first", rsock_txwin_counted(&w), true) ||
	    !vec_eq(f, "second", rsock_txwin_counted(&w), true) ||
	    !vec_eq(f, "spared", rsock_txwin_counted(&w), false) ||
	    !vec_eq(f, "no room", rsock_txwin_room(&w), 0) ||
	    !vec_eq(f, "fault", rsock_txwin_credit(&w, 11), 0))
		return false;
	return vec_eq(f, "room", rsock_txwin_room(&w), 100) &&
	       vec_eq(f, "third", rsock_txwin_counted(&w), true) &&
	       vec_eq(f, "spared again", rsock_txwin_counted(&w), false);
}

#define VEC_KEY_FIRST	0x11
#define VEC_KEY_GRANT	0x22

static inline bool vec_txwin_eq(struct vec_fail *f,
				const struct rsock_txwin *got,
				const struct rsock_txwin *want)
{
	int i;

	if (!vec_eq(f, "seq", got->seq, want->seq) ||
	    !vec_eq(f, "limit", got->limit, want->limit) ||
	    !vec_eq(f, "nr_grants", got->nr_grants, want->nr_grants) ||
	    !vec_eq(f, "next_entry", got->next_entry, want->next_entry))
		return false;
	for (i = 0; i < want->nr_grants; i++)
		if (!vec_sge_eq(f, &got->grants[i], &want->grants[i]))
			return false;
	return true;
}

static inline bool vec_txwin_take(struct rsock_txwin *w,
				  const struct vec_step *s, bool first_grant,
				  struct vec_fail *f)
{
	struct rsock_sge to = {};
	u16 seq = w->seq;
	u32 i;

	for (i = 0; i < s->n; i++) {
		if (!vec_eq(f, "enough room", rsock_txwin_room(w) >= s->a,
			    true))
			return false;
		rsock_txwin_take(w, s->a, &to);
	}
	return vec_eq(f, "address", to.addr, s->off) &&
	       vec_eq(f, "length", to.len, s->a) &&
	       vec_eq(f, "key", to.key,
		      first_grant ? VEC_KEY_FIRST : VEC_KEY_GRANT) &&
	       vec_eq(f, "seq", w->seq, (u16)(seq + s->n));
}

static inline bool vec_txwin_counted(struct rsock_txwin *w,
				     const struct vec_step *s,
				     struct vec_fail *f)
{
	struct rsock_txwin before = *w;
	u32 i;

	for (i = 1; i < s->n; i++)
		if (!vec_eq(f, "early credit", rsock_txwin_counted(w), true))
			return false;
	before.seq += s->n - !s->want;
	return vec_eq(f, "credit", rsock_txwin_counted(w), s->want) &&
	       vec_txwin_eq(f, w, &before);
}

static inline bool vec_txwin_step(struct rsock_txwin *w,
				  const struct vec_step *s, u64 *taken,
				  u32 first_len, struct vec_fail *f)
{
	struct rsock_sge sge = { s->off, VEC_KEY_GRANT, s->a };
	struct rsock_txwin before = *w;
	u8 entry[RSOCK_SGE_LEN];
	int fault;

	switch (s->op) {
	case VEC_CREDIT:
		fault = rsock_txwin_credit(w, s->a);
		if (!fault)
			before.limit = s->a;
		return vec_eq(f, "fault", fault, s->want) &&
		       vec_txwin_eq(f, w, &before);
	case VEC_TXGRANT:
		rsock_sge_encode(&sge, false, entry);
		fault = rsock_txwin_grant(w, entry);
		if (!vec_eq(f, "fault", fault, s->want))
			return false;
		if (!fault) {
			before.grants[before.nr_grants++] = sge;
			before.next_entry ^= 1;
		}
		return vec_txwin_eq(f, w, &before);
	case VEC_NEXT:
		return vec_eq(f, "next_entry", w->next_entry, s->want);
	case VEC_ROOM:
		return vec_eq(f, "room", rsock_txwin_room(w), s->want);
	case VEC_TAKE:
		*taken += (u64)s->n * s->a;
		return vec_txwin_take(w, s, *taken <= first_len, f);
	case VEC_TXCOUNTED:
		return vec_txwin_counted(w, s, f);
	default:
		return vec_eq(f, "operation", s->op, VEC_STOP);
	}
}

static inline bool vec_check_txwin(const struct vec_txwin *v,
				   struct vec_fail *f)
{
	struct rsock_conn peer = {
		.credits = v->credits,
		.sgl = { 0x1000, 1, 2 },
		.buf = { v->addr, VEC_KEY_FIRST, v->len },
		.ext_features = v->features,
	};
	struct rsock_txwin w;
	u64 taken = 0;
	int i;

	memset(&w, 0x5a, sizeof(w));
	rsock_txwin_init(&w, &peer);
	f->step = -1;
	if (!vec_eq(f, "seq", w.seq, 0) ||
	    !vec_eq(f, "limit", w.limit, v->credits) ||
	    !vec_eq(f, "nr_grants", w.nr_grants, 1) ||
	    !vec_eq(f, "next_entry", w.next_entry, 1) ||
	    !vec_sge_eq(f, &w.grants[0], &peer.buf))
		return false;

	for (i = 0; i < VEC_COUNT(v->steps) && v->steps[i].op; i++) {
		f->step = i;
		if (!vec_txwin_step(&w, &v->steps[i], &taken, v->len, f))
			return false;
	}
	return true;
}

static inline bool vec_rxring_eq(struct vec_fail *f,
				 const struct rsock_rxring *got,
				 const struct rsock_rxring *want)
{
	return vec_eq(f, "size", got->size, want->size) &&
	       vec_eq(f, "head", got->head, want->head) &&
	       vec_eq(f, "avail", got->avail, want->avail) &&
	       vec_eq(f, "granted", got->granted, want->granted);
}

static inline bool vec_rxwin_eq(struct vec_fail *f,
				const struct rsock_rxwin *got,
				const struct rsock_rxwin *want)
{
	int i;

	if (!vec_rxring_eq(f, &got->ring[0], &want->ring[0]) ||
	    !vec_rxring_eq(f, &got->ring[1], &want->ring[1]) ||
	    !vec_eq(f, "ring granted of", got->to, want->to) ||
	    !vec_eq(f, "nr_grants", got->nr_grants, want->nr_grants) ||
	    !vec_eq(f, "seq", got->seq, want->seq) ||
	    !vec_eq(f, "held", got->held, want->held) ||
	    !vec_eq(f, "told", got->told, want->told) ||
	    !vec_eq(f, "credits", got->credits, want->credits) ||
	    !vec_eq(f, "entry", got->entry, want->entry) ||
	    !vec_eq(f, "peer_entries", got->peer_entries, want->peer_entries))
		return false;
	for (i = 0; i < want->nr_grants; i++)
		if (!vec_eq(f, "grant", got->grants[i], want->grants[i]))
			return false;
	return true;
}

static inline bool vec_rxring_sane(const struct rsock_rxring *r,
				   struct vec_fail *f)
{
	return vec_eq(f, "head in ring", r->head < r->size, true) &&
	       vec_eq(f, "unread and granted fit",
		      (u64)r->avail + r->granted <= r->size, true);
}

/* What holds at all times, whatever the peer does */
static inline bool vec_rxwin_sane(const struct rsock_rxwin *w,
				  struct vec_fail *f)
{
	const struct rsock_rxring *first = &w->ring[0], *second = &w->ring[1];
	const struct rsock_rxring none = {};
	bool whole = !first->granted;
	u64 sum = 0;
	int i;

	if (!vec_eq(f, "nr_grants fits", w->nr_grants <= RSOCK_SGL_ENTRIES,
		    true))
		return false;
	for (i = 0; i < w->nr_grants; i++) {
		if (!vec_eq(f, "grant is not empty", w->grants[i] > 0, true))
			return false;
		sum += w->grants[i];
		whole |= sum == first->granted;
	}
	return vec_eq(f, "sum of grants", sum, rsock_rxwin_granted(w)) &&
	       vec_eq(f, "a grant is of one ring", whole, true) &&
	       vec_rxring_sane(first, f) &&
	       (w->to ? vec_rxring_sane(second, f) :
			vec_rxring_eq(f, second, &none)) &&
	       vec_eq(f, "within credits",
		      (u16)(w->seq - w->told) <= w->credits, true) &&
	       vec_eq(f, "kept are not returned",
		      w->held <= (u16)(w->seq - w->told), true) &&
	       vec_eq(f, "entry in table", w->entry < w->peer_entries, true);
}

static inline int vec_rxwin_arrive(struct rsock_rxwin *w,
				   const struct vec_step *s, u32 *off)
{
	int fault;

	if (s->op == VEC_DATA)
		return rsock_rxwin_data(w, s->a, off);
	fault = rsock_rxwin_counted(w);
	if (!fault && s->op == VEC_HELD)
		rsock_rxwin_hold(w);
	return fault;
}

static inline bool vec_rxwin_message(struct rsock_rxwin *w,
				     const struct vec_step *s,
				     struct vec_fail *f)
{
	struct rsock_rxwin before = *w;
	u32 off = 0xa5a5a5a5;
	u32 i;

	for (i = 1; i < s->n; i++)
		if (!vec_eq(f, "early fault", vec_rxwin_arrive(w, s, &off), 0))
			return false;
	if (s->want) {
		before = *w;
		return vec_eq(f, "fault", vec_rxwin_arrive(w, s, &off),
			      s->want) && vec_rxwin_eq(f, w, &before);
	}
	if (!vec_eq(f, "fault", vec_rxwin_arrive(w, s, &off), 0) ||
	    !vec_eq(f, "seq", w->seq, (u16)(before.seq + s->n)))
		return false;
	if (s->op != VEC_DATA) {
		before.seq = w->seq;
		before.held += s->op == VEC_HELD ? s->n : 0;
		return vec_rxwin_eq(f, w, &before);
	}
	return vec_eq(f, "offset", off, s->off) &&
	       vec_eq(f, "avail", rsock_rxwin_avail(w),
		      rsock_rxwin_avail(&before) + s->n * s->a) &&
	       vec_eq(f, "granted", rsock_rxwin_granted(w),
		      rsock_rxwin_granted(&before) - s->n * s->a);
}

static inline bool vec_rxwin_release(struct rsock_rxwin *w, u32 n,
				     struct vec_fail *f)
{
	struct rsock_rxwin want = *w;
	u32 i;

	want.held -= n;
	for (i = 0; i < n; i++)
		rsock_rxwin_release(w);
	return vec_rxwin_eq(f, w, &want);
}

static inline bool vec_rxwin_consume(struct rsock_rxwin *w,
				     const struct vec_step *s,
				     struct vec_fail *f)
{
	u32 want = rsock_rxwin_avail(w) - s->n * s->a;
	u32 i;

	for (i = 0; i < s->n; i++)
		rsock_rxwin_consume(w, s->a);
	return vec_eq(f, "avail", rsock_rxwin_avail(w), want);
}

static inline bool vec_rxwin_grow(struct rsock_rxwin *w, u32 size,
				  struct vec_fail *f)
{
	struct rsock_rxwin want = *w;

	want.ring[1].size = size;
	want.to = 1;
	rsock_rxwin_grow(w, size);
	return vec_rxwin_eq(f, w, &want) &&
	       vec_eq(f, "sizes", rsock_rxwin_size(w),
		      (u64)want.ring[0].size + size);
}

static inline bool vec_rxwin_step(struct rsock_rxwin *w,
				  const struct vec_step *s, struct vec_fail *f)
{
	u32 off;

	switch (s->op) {
	case VEC_DATA:
	case VEC_COUNTED:
	case VEC_HELD:
		return vec_rxwin_message(w, s, f);
	case VEC_RELEASE:
		return vec_rxwin_release(w, s->n, f);
	case VEC_UNREAD:
		return vec_eq(f, "unread", rsock_rxwin_unread(w, s->a, &off),
			      s->want) &&
		       (!s->want || vec_eq(f, "offset", off, s->off));
	case VEC_CONSUME:
		return vec_rxwin_consume(w, s, f);
	case VEC_GROW:
		return vec_rxwin_grow(w, s->a, f);
	case VEC_GRANTABLE:
		return vec_eq(f, "grantable", rsock_rxwin_grantable(w, &off),
			      s->want) &&
		       (!s->want || vec_eq(f, "offset", off, s->off));
	case VEC_RXGRANT:
		return vec_eq(f, "grantable",
			      rsock_rxwin_grantable(w, &off) >= s->a, true) &&
		       vec_eq(f, "entry", rsock_rxwin_grant(w, s->a), s->want);
	case VEC_DUE:
		return vec_eq(f, "due", rsock_rxwin_credit_due(w), s->want);
	case VEC_TELL:
		return vec_eq(f, "limit", rsock_rxwin_tell(w), s->want);
	default:
		return vec_eq(f, "operation", s->op, VEC_STOP);
	}
}

static inline bool vec_check_rxwin(const struct vec_rxwin *v,
				   struct vec_fail *f)
{
	struct rsock_conn peer = {
		.sgl = { 0x1000, 1, v->entries },
		.ext_features = v->features,
	};
	struct rsock_rxwin w;
	int i;

	memset(&w, 0x5a, sizeof(w));
	rsock_rxwin_init(&w, v->size, v->first, v->credits);
	if (v->entries)
		rsock_rxwin_peer(&w, &peer);
	f->step = -1;
	if (!vec_eq(f, "size", rsock_rxwin_size(&w), v->size) ||
	    !vec_eq(f, "avail", rsock_rxwin_avail(&w), 0) ||
	    !vec_eq(f, "held", w.held, 0) ||
	    !vec_eq(f, "granted", rsock_rxwin_granted(&w), v->first) ||
	    !vec_eq(f, "ring granted of", w.to, 0) ||
	    !vec_eq(f, "nr_grants", w.nr_grants, 1) ||
	    !vec_rxwin_sane(&w, f))
		return false;

	for (i = 0; i < VEC_COUNT(v->steps) && v->steps[i].op; i++) {
		f->step = i;
		if (!vec_rxwin_step(&w, &v->steps[i], f) ||
		    !vec_rxwin_sane(&w, f))
			return false;
	}
	return true;
}

#endif /* _RSOCK_CHECKS_H */
