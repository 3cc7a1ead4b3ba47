// SPDX-License-Identifier: GPL-2.0
/*
 * Fuzz target: messages, entries of tables and notes. The input is, all big
 * endian: immediate (4), written length (4), what to make of that length (1),
 * slots of our iomap table (2), iomap entry (24), of which the last 16 are the
 * SGL entry and the note.
 */

#include "fuzz.h"

static int verdict(u32 imm, u32 len, u16 slots)
{
	bool unknown = len == 0xffffffff;
	u32 value = imm % 0x20000000;

	switch (imm / 0x20000000) {
	case 0:
	case 1:
		return value && (unknown || value == len) ? 0 :
		       RSOCK_FAULT_LENGTH;
	case 4:
		return unknown || len == 0 || len == 16 ? 0 :
		       RSOCK_FAULT_LENGTH;
	case 5:
		return unknown || len == 16 ? 0 : RSOCK_FAULT_LENGTH;
	case 6:
		if (!unknown && len != 24)
			return RSOCK_FAULT_LENGTH;
		return value < slots ? 0 : RSOCK_FAULT_IOMAP;
	case 7:
		if (!unknown && len)
			return RSOCK_FAULT_LENGTH;
		return value % 0x10000 == 16 && value / 0x10000 >= slots ?
		       RSOCK_FAULT_IOMAP : 0;
	}
	return RSOCK_FAULT_OP;
}

/* Mostly a length that some message may have */
static u32 likely_len(u32 imm, u32 len, u8 mode)
{
	switch (mode % 8) {
	case 0:
	case 1:
		return imm % 0x20000000;
	case 2:
		return 0;
	case 3:
		return RSOCK_SGE_LEN;
	case 4:
		return RSOCK_IOMAP_LEN;
	case 5:
		return imm;
	case 6:
		return 0xffffffff;
	}
	return len;
}

static void check_msg(u32 imm, u32 len, u16 slots)
{
	struct rsock_msg msg = { .op = 0xa5, .slot = 0xa5a5,
				 .value = 0xa5a5a5a5 };
	u32 op = imm / 0x20000000;
	u32 value = imm % 0x20000000;
	u32 slot = 0;
	int fault;

	fault = rsock_msg_decode(imm, len, slots, &msg);
	require_eq(fault, verdict(imm, len, slots), "fault");
	if (fault) {
		require_eq(msg.op, 0xa5, "op untouched");
		require_eq(msg.sge, false, "sge untouched");
		require_eq(msg.slot, 0xa5a5, "slot untouched");
		require_eq(msg.value, 0xa5a5a5a5, "value untouched");
		return;
	}
	if (op == 4)
		value %= 0x10000;
	if (op == 6)
		slot = value;
	if (op == 7 && (value % 0x10000 == 16 || value % 0x10000 == 17)) {
		slot = value / 0x10000;
		value %= 0x10000;
	}
	require_eq(msg.op, op, "op");
	require_eq(msg.sge, op == 4 && (len == 16 || len == 0xffffffff),
		   "sge");
	require_eq(msg.slot, slot, "slot");
	require_eq(msg.value, value, "value");
	require(op != 6 || slot < slots, "slot within the table");
	require_eq(rsock_msg_encode(msg.op, msg.value), op * 0x20000000 + value,
		   "encoded");
}

static void check_sge(const u8 *entry)
{
	const struct rsock_sge untouched = { 1, 2, 3 };
	struct rsock_sge raw, sge = untouched;
	u8 out[RSOCK_SGE_LEN], swapped[RSOCK_SGE_LEN];
	int fault, i;

	memcpy(&raw.addr, entry, 8);
	memcpy(&raw.key, entry + 8, 4);
	memcpy(&raw.len, entry + 12, 4);
	fault = rsock_sge_decode(entry, &sge);
	require_eq(fault, raw.len && fits(raw.addr, raw.len) ? 0 :
		   RSOCK_FAULT_SGE, "sge fault");
	require_sge(&sge, fault ? &untouched : &raw, "sge");

	rsock_sge_encode(&raw, false, out);
	require(!memcmp(out, entry, sizeof(out)), "encodes the same");
	rsock_sge_encode(&raw, true, swapped);
	for (i = 0; i < 16; i++)
		require_eq(swapped[i], entry[i < 8 ? 7 - i : i < 12 ? 19 - i :
			   27 - i], "swapped byte");
}

static void check_iomap(const u8 *entry)
{
	const struct rsock_iomap_entry untouched = { 1, { 2, 3, 4 } };
	struct rsock_iomap_entry raw, e = untouched, want = untouched;
	u8 out[RSOCK_IOMAP_LEN], swapped[RSOCK_IOMAP_LEN];
	int fault, i;

	memcpy(&raw.offset, entry, 8);
	memcpy(&raw.sge.addr, entry + 8, 8);
	memcpy(&raw.sge.key, entry + 16, 4);
	memcpy(&raw.sge.len, entry + 20, 4);
	fault = rsock_iomap_decode(entry, &e);
	require_eq(fault, fits(raw.offset, raw.sge.len) &&
		   fits(raw.sge.addr, raw.sge.len) ? 0 : RSOCK_FAULT_IOMAP,
		   "iomap fault");
	if (!fault && raw.sge.len)
		want = raw;
	else if (!fault)
		memset(&want, 0, sizeof(want));
	require_eq(e.offset, want.offset, "iomap offset");
	require_sge(&e.sge, &want.sge, "iomap sge");

	rsock_iomap_encode(&raw, false, out);
	require(!memcmp(out, entry, sizeof(out)), "encodes the same");
	rsock_iomap_encode(&raw, true, swapped);
	for (i = 0; i < 24; i++)
		require_eq(swapped[i], entry[i < 8 ? 7 - i : i < 16 ? 23 - i :
			   i < 20 ? 35 - i : 43 - i], "swapped byte");
}

static void check_note(const u8 *entry)
{
	const struct rsock_note untouched = { 1, 2 };
	const u64 top = 1ULL << 63;
	struct rsock_note raw, note = untouched, want;
	u8 out[RSOCK_NOTE_LEN], swapped[RSOCK_NOTE_LEN];
	bool ok;
	int i;

	memcpy(&raw.offset, entry, 8);
	memcpy(&raw.len, entry + 8, 8);
	/* Neither its first byte nor its last has the highest bit set */
	ok = raw.len && raw.len <= top &&
	     !((raw.offset | (raw.offset + raw.len - 1)) & top);
	want = ok ? raw : untouched;
	require_eq(rsock_note_decode(entry, &note), ok ? 0 : RSOCK_FAULT_NOTE,
		   "note fault");
	require_eq(note.offset, want.offset, "note offset");
	require_eq(note.len, want.len, "note length");

	rsock_note_encode(&raw, false, out);
	require(!memcmp(out, entry, sizeof(out)), "encodes the same");
	rsock_note_encode(&raw, true, swapped);
	for (i = 0; i < 16; i++)
		require_eq(swapped[i], entry[i < 8 ? 7 - i : 23 - i],
			   "swapped byte");
}

int fuzz_one(const u8 *data, size_t size)
{
	struct input in = { data, size };
	u32 imm = input_get(&in, 4);
	u32 len = input_get(&in, 4);
	u8 mode = input_get(&in, 1);
	u16 slots = input_get(&in, 2);
	u8 *entry = malloc(RSOCK_IOMAP_LEN);	/* its bounds are watched */
	int i;

	for (i = 0; i < RSOCK_IOMAP_LEN; i++)
		entry[i] = input_get(&in, 1);
	check_msg(imm, likely_len(imm, len, mode), slots);
	check_iomap(entry);
	check_sge(entry + RSOCK_IOMAP_LEN - RSOCK_SGE_LEN);
	check_note(entry + RSOCK_IOMAP_LEN - RSOCK_NOTE_LEN);
	free(entry);
	return 0;
}
