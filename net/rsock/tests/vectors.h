/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _RSOCK_VECTORS_H
#define _RSOCK_VECTORS_H

/*
 * Test vectors for wire.c and win.c, shared by the KUnit suites and by the
 * user-space tests in selftests/wire. What is checked with them: checks.h.
 */

#include "../win.h"

#define VEC_END		(~0ULL)			/* the last byte */
#define VEC_LAST(n)	(VEC_END - (n) + 1)	/* the last n bytes */
#define VEC_2_63	0x8000000000000000ULL	/* what no program can map */

/*
 * Connection data
 *
 * @len bytes: those of @base, then zeroes, with big-endian numbers patched in.
 */

#define VEC_CONN_MAX	196	/* private data of a REP event */

/* As seen on the wire between two hosts of the user-space implementation */
static const u8 vec_req[RSOCK_CONN_LEN] = {
	0x01, 0x02, 0x01, 0x80, 0x00, 0x00, 0x00, 0x02,
	0x00, 0x00, 0x55, 0xa5, 0x3f, 0xb2, 0xf0, 0x00,
	0x00, 0x00, 0x0a, 0x2f, 0x00, 0x00, 0x00, 0x02,
	0x00, 0x00, 0x55, 0xa5, 0x3f, 0xb3, 0x10, 0x00,
	0x00, 0x00, 0x0b, 0x7f, 0x00, 0x01, 0x00, 0x00,
};

static const u8 vec_rep[RSOCK_CONN_LEN] = {
	0x01, 0x02, 0x01, 0x80, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x7f, 0x63, 0x88, 0x02, 0x60, 0x00,
	0x00, 0x00, 0x0d, 0xaf, 0x00, 0x00, 0x00, 0x02,
	0x00, 0x00, 0x7f, 0x63, 0x88, 0x02, 0x80, 0x00,
	0x00, 0x00, 0x0e, 0x0b, 0x00, 0x01, 0x00, 0x00,
};

#define VEC_REQ_SGL	{ 0x55a53fb2f000ULL, 0x0a2f, 2 }
#define VEC_REQ_BUF	{ 0x55a53fb31000ULL, 0x0b7f, 0x10000 }
#define VEC_REP_SGL	{ 0x7f6388026000ULL, 0x0daf, 2 }
#define VEC_REP_BUF	{ 0x7f6388028000ULL, 0x0e0b, 0x10000 }
#define VEC_REQ_SGL_AT(_addr, _len)	{ (_addr), 0x0a2f, (_len) }
#define VEC_REQ_BUF_AT(_addr, _len)	{ (_addr), 0x0b7f, (_len) }

#define VEC_REQ_CONN(_flags, _credits, _slots)				\
	{ .flags = (_flags), .credits = (_credits),			\
	  .iomap_slots = (_slots), .sgl = VEC_REQ_SGL, .buf = VEC_REQ_BUF }
#define VEC_REQ_CONN_SGL(_slots, _addr, _len)				\
	{ .flags = 2, .credits = 384, .iomap_slots = (_slots),		\
	  .sgl = VEC_REQ_SGL_AT(_addr, _len), .buf = VEC_REQ_BUF }
#define VEC_REQ_CONN_BUF(_addr, _len)					\
	{ .flags = 2, .credits = 384, .iomap_slots = 2,			\
	  .sgl = VEC_REQ_SGL, .buf = VEC_REQ_BUF_AT(_addr, _len) }
#define VEC_REQ_CONN_EXT(_features)					\
	{ .flags = 2, .credits = 384, .iomap_slots = 2,			\
	  .sgl = VEC_REQ_SGL, .buf = VEC_REQ_BUF,			\
	  .has_ext = true, .ext_features = (_features) }

struct vec_patch {
	u8 off;
	u8 bytes;
	u64 val;
};

struct vec_conn {
	const char *name;
	const u8 *base;
	u16 len;
	bool canonical;			/* encoding @want gives these bytes */
	struct vec_patch patch[4];
	int fault;
	struct rsock_conn want;		/* if there is no fault */
};

static const struct vec_conn vec_conns[] = {
	{
		.name = "captured REQ", .base = vec_req, .len = 40,
		.canonical = true, .want = VEC_REQ_CONN(2, 384, 2),
	}, {
		.name = "captured REP", .base = vec_rep, .len = 40,
		.canonical = true,
		.want = { .flags = 2, .credits = 384,
			  .sgl = VEC_REP_SGL, .buf = VEC_REP_BUF },
	}, {
		.name = "REQ padded to 56", .base = vec_req, .len = 56,
		.want = VEC_REQ_CONN(2, 384, 2),
	}, {
		.name = "REP padded to 196", .base = vec_rep, .len = 196,
		.want = { .flags = 2, .credits = 384,
			  .sgl = VEC_REP_SGL, .buf = VEC_REP_BUF },
	},
	/* length */
	{
		.name = "empty", .base = vec_req, .len = 0,
		.fault = RSOCK_FAULT_CONN_SHORT,
	}, {
		.name = "one byte", .base = vec_req, .len = 1,
		.fault = RSOCK_FAULT_CONN_SHORT,
	}, {
		.name = "39 bytes", .base = vec_req, .len = 39,
		.fault = RSOCK_FAULT_CONN_SHORT,
	}, {
		.name = "41 bytes", .base = vec_req, .len = 41,
		.want = VEC_REQ_CONN(2, 384, 2),
	}, {
		.name = "short beats bad version", .base = vec_req, .len = 39,
		.patch = { { 0, 1, 9 } },
		.fault = RSOCK_FAULT_CONN_SHORT,
	},
	/* version */
	{
		.name = "version 0", .base = vec_req, .len = 40,
		.patch = { { 0, 1, 0 } },
		.fault = RSOCK_FAULT_CONN_VERSION,
	}, {
		.name = "version 2", .base = vec_req, .len = 40,
		.patch = { { 0, 1, 2 } },
		.fault = RSOCK_FAULT_CONN_VERSION,
	}, {
		.name = "version 255", .base = vec_req, .len = 56,
		.patch = { { 0, 1, 255 } },
		.fault = RSOCK_FAULT_CONN_VERSION,
	}, {
		.name = "version beats bad SGL", .base = vec_req, .len = 40,
		.patch = { { 0, 1, 2 }, { 20, 4, 0 } },
		.fault = RSOCK_FAULT_CONN_VERSION,
	},
	/* flags and reserved bytes */
	{
		.name = "big-endian peer", .base = vec_req, .len = 40,
		.canonical = true, .patch = { { 1, 1, 3 } },
		.want = VEC_REQ_CONN(3, 384, 2),
	}, {
		.name = "no iomap flag", .base = vec_req, .len = 40,
		.patch = { { 1, 1, 0 } },
		.want = VEC_REQ_CONN(0, 384, 0),
	}, {
		.name = "no iomap flag, size ignored", .base = vec_req,
		.len = 40, .patch = { { 1, 1, 1 }, { 7, 1, 255 } },
		.want = VEC_REQ_CONN(1, 384, 0),
	}, {
		.name = "unknown flags", .base = vec_req, .len = 40,
		.canonical = true, .patch = { { 1, 1, 0xfe } },
		.want = VEC_REQ_CONN(0xfe, 384, 2),
	}, {
		.name = "reserved bytes", .base = vec_req, .len = 40,
		.patch = { { 4, 2, 0xffff }, { 6, 1, 0xff } },
		.want = VEC_REQ_CONN(2, 384, 2),
	},
	/* credits */
	{
		.name = "no credits", .base = vec_req, .len = 40,
		.canonical = true, .patch = { { 2, 2, 0 } },
		.want = VEC_REQ_CONN(2, 0, 2),
	}, {
		.name = "credits in byte order", .base = vec_req, .len = 40,
		.canonical = true, .patch = { { 2, 2, 0x1234 } },
		.want = VEC_REQ_CONN(2, 0x1234, 2),
	}, {
		.name = "credits 0xfffe", .base = vec_req, .len = 40,
		.canonical = true, .patch = { { 2, 2, 0xfffe } },
		.want = VEC_REQ_CONN(2, 0xfffe, 2),
	},
	/* iomap table size */
	{
		.name = "iomap 128", .base = vec_req, .len = 40,
		.canonical = true, .patch = { { 7, 1, 128 } },
		.want = VEC_REQ_CONN(2, 384, 128),
	}, {
		.name = "iomap 256", .base = vec_req, .len = 40,
		.canonical = true, .patch = { { 7, 1, 129 } },
		.want = VEC_REQ_CONN(2, 384, 256),
	}, {
		.name = "iomap 32512", .base = vec_req, .len = 40,
		.canonical = true, .patch = { { 7, 1, 255 } },
		.want = VEC_REQ_CONN(2, 384, 32512),
	},
	/* SGL table */
	{
		.name = "SGL 0", .base = vec_req, .len = 40,
		.patch = { { 20, 4, 0 } },
		.fault = RSOCK_FAULT_CONN_SGL,
	}, {
		.name = "SGL 1", .base = vec_req, .len = 40,
		.patch = { { 20, 4, 1 } },
		.fault = RSOCK_FAULT_CONN_SGL,
	}, {
		.name = "SGL 3", .base = vec_req, .len = 40,
		.canonical = true, .patch = { { 20, 4, 3 } },
		.want = VEC_REQ_CONN_SGL(2, 0x55a53fb2f000ULL, 3),
	}, {
		.name = "SGL 64", .base = vec_req, .len = 40,
		.canonical = true, .patch = { { 20, 4, 64 } },
		.want = VEC_REQ_CONN_SGL(2, 0x55a53fb2f000ULL, 64),
	}, {
		.name = "SGL 65", .base = vec_req, .len = 40,
		.patch = { { 20, 4, 65 } },
		.fault = RSOCK_FAULT_CONN_SGL,
	}, {
		.name = "SGL 2 and 2^16", .base = vec_req, .len = 40,
		.patch = { { 20, 4, 0x10002 } },
		.fault = RSOCK_FAULT_CONN_SGL,
	}, {
		.name = "SGL 2^28", .base = vec_req, .len = 40,
		.patch = { { 20, 4, 0x10000000 } },
		.fault = RSOCK_FAULT_CONN_SGL,
	}, {
		.name = "SGL 2^32-1", .base = vec_req, .len = 40,
		.patch = { { 20, 4, 0xffffffff } },
		.fault = RSOCK_FAULT_CONN_SGL,
	}, {
		.name = "SGL at 0", .base = vec_req, .len = 40,
		.canonical = true, .patch = { { 8, 8, 0 } },
		.want = VEC_REQ_CONN_SGL(2, 0, 2),
	},
	/* Two entries, no iomap: 32 bytes. The end must be representable. */
	{
		.name = "SGL ends one before 2^64", .base = vec_req, .len = 40,
		.canonical = true,
		.patch = { { 7, 1, 0 }, { 8, 8, VEC_LAST(33) } },
		.want = VEC_REQ_CONN_SGL(0, VEC_LAST(33), 2),
	}, {
		.name = "SGL ends at 2^64", .base = vec_req, .len = 40,
		.patch = { { 7, 1, 0 }, { 8, 8, VEC_LAST(32) } },
		.fault = RSOCK_FAULT_CONN_SGL,
	}, {
		.name = "SGL wraps", .base = vec_req, .len = 40,
		.patch = { { 7, 1, 0 }, { 8, 8, VEC_LAST(31) } },
		.fault = RSOCK_FAULT_CONN_SGL,
	}, {
		.name = "SGL at last byte", .base = vec_req, .len = 40,
		.patch = { { 8, 8, VEC_END } },
		.fault = RSOCK_FAULT_CONN_SGL,
	},
	/* 64 entries and 32512 slots: 1024 + 780288 bytes */
	{
		.name = "largest tables fit", .base = vec_req, .len = 40,
		.canonical = true,
		.patch = { { 7, 1, 255 }, { 8, 8, VEC_LAST(781313) },
			   { 20, 4, 64 } },
		.want = VEC_REQ_CONN_SGL(32512, VEC_LAST(781313), 64),
	}, {
		.name = "iomap ends at 2^64", .base = vec_req, .len = 40,
		.patch = { { 7, 1, 255 }, { 8, 8, VEC_LAST(781312) },
			   { 20, 4, 64 } },
		.fault = RSOCK_FAULT_CONN_SGL,
	}, {
		.name = "iomap wraps", .base = vec_req, .len = 40,
		.patch = { { 7, 1, 1 }, { 8, 8, VEC_LAST(33) } },
		.fault = RSOCK_FAULT_CONN_SGL,
	}, {
		.name = "iomap without flag cannot wrap", .base = vec_req,
		.len = 40,
		.patch = { { 1, 1, 0 }, { 7, 1, 255 }, { 8, 8, VEC_LAST(33) } },
		.want = { .credits = 384,
			  .sgl = VEC_REQ_SGL_AT(VEC_LAST(33), 2),
			  .buf = VEC_REQ_BUF },
	},
	/* receive buffer */
	{
		.name = "buffer empty", .base = vec_req, .len = 40,
		.patch = { { 36, 4, 0 } },
		.fault = RSOCK_FAULT_CONN_BUF,
	}, {
		.name = "SGL beats buffer", .base = vec_req, .len = 40,
		.patch = { { 20, 4, 1 }, { 36, 4, 0 } },
		.fault = RSOCK_FAULT_CONN_SGL,
	}, {
		.name = "buffer 1 byte at 0", .base = vec_req, .len = 40,
		.canonical = true, .patch = { { 24, 8, 0 }, { 36, 4, 1 } },
		.want = VEC_REQ_CONN_BUF(0, 1),
	}, {
		.name = "buffer 2^32-1", .base = vec_req, .len = 40,
		.canonical = true, .patch = { { 36, 4, 0xffffffff } },
		.want = VEC_REQ_CONN_BUF(0x55a53fb31000ULL, 0xffffffff),
	}, {
		.name = "buffer ends one before 2^64", .base = vec_req,
		.len = 40, .canonical = true,
		.patch = { { 24, 8, VEC_LAST(0x10001) } },
		.want = VEC_REQ_CONN_BUF(VEC_LAST(0x10001), 0x10000),
	}, {
		.name = "buffer ends at 2^64", .base = vec_req, .len = 40,
		.patch = { { 24, 8, VEC_LAST(0x10000) } },
		.fault = RSOCK_FAULT_CONN_BUF,
	}, {
		.name = "buffer wraps", .base = vec_req, .len = 40,
		.patch = { { 24, 8, VEC_LAST(0xffff) } },
		.fault = RSOCK_FAULT_CONN_BUF,
	}, {
		.name = "buffer at last byte", .base = vec_req, .len = 40,
		.patch = { { 24, 8, VEC_END }, { 36, 4, 1 } },
		.fault = RSOCK_FAULT_CONN_BUF,
	},
	/* each byte of an address has its place */
	{
		.name = "distinct bytes", .base = vec_req, .len = 40,
		.canonical = true,
		.patch = { { 8, 8, 0x0102030405060708ULL },
			   { 16, 4, 0x090a0b0c },
			   { 24, 8, 0x1112131415161718ULL },
			   { 32, 8, 0x191a1b1c1d1e1f20ULL } },
		.want = { .flags = 2, .credits = 384, .iomap_slots = 2,
			  .sgl = { 0x0102030405060708ULL, 0x090a0b0c, 2 },
			  .buf = { 0x1112131415161718ULL, 0x191a1b1c,
				   0x1d1e1f20 } },
	},
	/* extension block */
	{
		.name = "extension", .base = vec_req, .len = 56,
		.canonical = true,
		.patch = { { 40, 4, RSOCK_EXT_MAGIC }, { 44, 1, 1 },
			   { 48, 4, 0x01020304 } },
		.want = VEC_REQ_CONN_EXT(0x01020304),
	}, {
		.name = "extension spelt out, no features", .base = vec_req,
		.len = 56, .canonical = true,
		.patch = { { 40, 8, 0x72736b7801000000ULL } },
		.want = VEC_REQ_CONN_EXT(0),
	}, {
		.name = "extension padded to 196", .base = vec_req, .len = 196,
		.patch = { { 40, 4, RSOCK_EXT_MAGIC }, { 44, 1, 1 },
			   { 48, 4, 0xffffffff } },
		.want = VEC_REQ_CONN_EXT(0xffffffff),
	}, {
		.name = "extension, reserved bytes set", .base = vec_req,
		.len = 56,
		.patch = { { 40, 4, RSOCK_EXT_MAGIC }, { 44, 4, 0x01ffffff },
			   { 48, 4, 7 }, { 52, 4, 0xffffffff } },
		.want = VEC_REQ_CONN_EXT(7),
	}, {
		.name = "extension truncated to 55", .base = vec_req, .len = 55,
		.patch = { { 40, 4, RSOCK_EXT_MAGIC }, { 44, 1, 1 } },
		.want = VEC_REQ_CONN(2, 384, 2),
	}, {
		.name = "extension truncated to magic", .base = vec_req,
		.len = 44, .patch = { { 40, 4, RSOCK_EXT_MAGIC } },
		.want = VEC_REQ_CONN(2, 384, 2),
	}, {
		.name = "extension magic off by one", .base = vec_req,
		.len = 56,
		.patch = { { 40, 4, RSOCK_EXT_MAGIC + 1 }, { 44, 1, 1 },
			   { 48, 4, 7 } },
		.want = VEC_REQ_CONN(2, 384, 2),
	}, {
		.name = "extension magic swapped", .base = vec_req, .len = 56,
		.patch = { { 40, 4, 0x786b7372 }, { 44, 1, 1 }, { 48, 4, 7 } },
		.want = VEC_REQ_CONN(2, 384, 2),
	}, {
		.name = "extension version 0", .base = vec_req, .len = 56,
		.patch = { { 40, 4, RSOCK_EXT_MAGIC }, { 44, 1, 0 },
			   { 48, 4, 7 } },
		.want = VEC_REQ_CONN(2, 384, 2),
	}, {
		.name = "extension version 2", .base = vec_req, .len = 56,
		.patch = { { 40, 4, RSOCK_EXT_MAGIC }, { 44, 1, 2 },
			   { 48, 4, 7 } },
		.want = VEC_REQ_CONN(2, 384, 2),
	}, {
		.name = "extension does not excuse", .base = vec_req, .len = 56,
		.patch = { { 40, 4, RSOCK_EXT_MAGIC }, { 44, 1, 1 },
			   { 36, 4, 0 } },
		.fault = RSOCK_FAULT_CONN_BUF,
	},
};

/* Scale codes: @value is encoded as @code, which decodes to @back */

struct vec_scale {
	const char *name;
	u16 value;
	u8 code;
	u16 back;
};

static const struct vec_scale vec_scales[] = {
	{ "0", 0, 0x00, 0 },
	{ "1", 1, 0x01, 1 },
	{ "127", 127, 0x7f, 127 },
	{ "128", 128, 0x80, 128 },
	{ "129", 129, 0x80, 128 },
	{ "255", 255, 0x80, 128 },
	{ "256", 256, 0x81, 256 },
	{ "257", 257, 0x81, 256 },
	{ "511", 511, 0x81, 256 },
	{ "512", 512, 0x82, 512 },
	{ "32511", 32511, 0xfe, 32256 },
	{ "32512", 32512, 0xff, 32512 },
	{ "32513", 32513, 0xff, 32512 },
	{ "32767", 32767, 0xff, 32512 },
	{ "32768", 32768, 0xff, 32512 },
	{ "65535", 65535, 0xff, 32512 },
};

/* Messages */

struct vec_msg {
	const char *name;
	u32 imm;
	u32 byte_len;
	u16 slots;
	int fault;
	struct rsock_msg want;
};

#define VEC_MSG(_name, _imm, _len, _slots, _op, _sge, _value)		\
	{ .name = (_name), .imm = (_imm), .byte_len = (_len),		\
	  .slots = (_slots),						\
	  .want = { .op = (_op), .sge = (_sge), .value = (_value) } }
#define VEC_SLOT_MSG(_name, _imm, _len, _slots, _op, _slot, _value)	\
	{ .name = (_name), .imm = (_imm), .byte_len = (_len),		\
	  .slots = (_slots),						\
	  .want = { .op = (_op), .slot = (_slot), .value = (_value) } }
#define VEC_BAD_MSG(_name, _imm, _len, _slots, _fault)			\
	{ .name = (_name), .imm = (_imm), .byte_len = (_len),		\
	  .slots = (_slots), .fault = (_fault) }

static const struct vec_msg vec_msgs[] = {
	/* data */
	VEC_MSG("data 1", 0x00000001, 1, 0, 0, false, 1),
	VEC_MSG("data 100", 0x00000064, 100, 2, 0, false, 100),
	VEC_MSG("data 65536", 0x00010000, 0x10000, 2, 0, false, 0x10000),
	VEC_MSG("data 2^29-1", 0x1fffffff, 0x1fffffff, 0, 0, false, 0x1fffffff),
	VEC_BAD_MSG("data 0", 0x00000000, 0, 2, RSOCK_FAULT_LENGTH),
	VEC_BAD_MSG("data 0, 1 written", 0, 1, 2, RSOCK_FAULT_LENGTH),
	VEC_BAD_MSG("data, none written", 100, 0, 2, RSOCK_FAULT_LENGTH),
	VEC_BAD_MSG("data, one more", 100, 99, 2, RSOCK_FAULT_LENGTH),
	VEC_BAD_MSG("data, one less", 100, 101, 2, RSOCK_FAULT_LENGTH),
	VEC_BAD_MSG("data, high bits", 0x1fffffff, 0x3fffffff, 2,
		    RSOCK_FAULT_LENGTH),
	VEC_BAD_MSG("data, 2^29 written", 0x00000000, 0x20000000, 2,
		    RSOCK_FAULT_LENGTH),
	/* data, and more */
	VEC_MSG("more 1", 0x20000001, 1, 0, 1, false, 1),
	VEC_MSG("more 2^29-1", 0x3fffffff, 0x1fffffff, 0, 1, false, 0x1fffffff),
	VEC_BAD_MSG("more 0", 0x20000000, 0, 2, RSOCK_FAULT_LENGTH),
	VEC_BAD_MSG("more, less written", 0x20000064, 99, 2, RSOCK_FAULT_LENGTH),
	VEC_BAD_MSG("more, nothing written", 0x20000064, 0, 2,
		    RSOCK_FAULT_LENGTH),
	VEC_MSG("more, sent", 0x20000001, RSOCK_LEN_UNKNOWN, 2, 1, false, 1),
	/* reserved operations: whatever was written, whatever the value */
	VEC_BAD_MSG("op 2", 0x40000064, 100, 2, RSOCK_FAULT_OP),
	VEC_BAD_MSG("op 2, value 0", 0x40000000, 0, 2, RSOCK_FAULT_OP),
	VEC_BAD_MSG("op 3", 0x60000064, 100, 2, RSOCK_FAULT_OP),
	VEC_BAD_MSG("op 3, largest", 0x7fffffff, 0x1fffffff, 2, RSOCK_FAULT_OP),
	/* credit and grant */
	VEC_MSG("captured SGL", 0x80000180, 16, 2, 4, true, 0x180),
	VEC_MSG("credit only", 0x80000188, 0, 2, 4, false, 0x188),
	VEC_MSG("credit 0", 0x80000000, 0, 0, 4, false, 0),
	VEC_MSG("credit 0xffff", 0x8000ffff, 16, 0, 4, true, 0xffff),
	VEC_MSG("credit carried", 0x8001017f, 16, 2, 4, true, 0x017f),
	VEC_MSG("credit carried, no grant", 0x8001017f, 0, 2, 4, false, 0x017f),
	VEC_MSG("credit, all bits", 0x9fffffff, 0, 2, 4, false, 0xffff),
	VEC_BAD_MSG("SGL 1", 0x80000180, 1, 2, RSOCK_FAULT_LENGTH),
	VEC_BAD_MSG("SGL 15", 0x80000180, 15, 2, RSOCK_FAULT_LENGTH),
	VEC_BAD_MSG("SGL 17", 0x80000180, 17, 2, RSOCK_FAULT_LENGTH),
	VEC_BAD_MSG("SGL 24", 0x80000180, 24, 2, RSOCK_FAULT_LENGTH),
	VEC_BAD_MSG("SGL 32", 0x80000180, 32, 2, RSOCK_FAULT_LENGTH),
	VEC_BAD_MSG("SGL 2^31", 0x80000180, 0x80000000, 2, RSOCK_FAULT_LENGTH),
	/* notes: an entry, of how many is not known here */
	VEC_MSG("note 0", 0xa0000000, 16, 0, 5, false, 0),
	VEC_MSG("note 63", 0xa000003f, 16, 2, 5, false, 63),
	VEC_MSG("note 2^16", 0xa0010000, 16, 2, 5, false, 0x10000),
	VEC_MSG("note 2^29-1", 0xbfffffff, 16, 2, 5, false, 0x1fffffff),
	VEC_BAD_MSG("note not written", 0xa0000000, 0, 2, RSOCK_FAULT_LENGTH),
	VEC_BAD_MSG("note 1", 0xa0000001, 1, 2, RSOCK_FAULT_LENGTH),
	VEC_BAD_MSG("note 15", 0xa0000000, 15, 2, RSOCK_FAULT_LENGTH),
	VEC_BAD_MSG("note 17", 0xa0000000, 17, 2, RSOCK_FAULT_LENGTH),
	VEC_BAD_MSG("note 24", 0xa0000000, 24, 2, RSOCK_FAULT_LENGTH),
	VEC_BAD_MSG("note 32", 0xa0000000, 32, 2, RSOCK_FAULT_LENGTH),
	VEC_BAD_MSG("note 100 of 100", 0xa0000064, 100, 2, RSOCK_FAULT_LENGTH),
	VEC_BAD_MSG("note 2^31 + 16", 0xa0000000, 0x80000010, 2,
		    RSOCK_FAULT_LENGTH),
	/* iomap */
	VEC_SLOT_MSG("captured iomap", 0xc0000000, 24, 2, 6, 0, 0),
	VEC_SLOT_MSG("iomap last slot", 0xc0000001, 24, 2, 6, 1, 1),
	VEC_SLOT_MSG("iomap slot 127", 0xc000007f, 24, 128, 6, 127, 127),
	VEC_SLOT_MSG("iomap slot 255", 0xc00000ff, 24, 256, 6, 255, 255),
	VEC_SLOT_MSG("iomap slot 65534", 0xc000fffe, 24, 0xffff, 6, 0xfffe, 0xfffe),
	VEC_BAD_MSG("iomap slot = size", 0xc0000002, 24, 2, RSOCK_FAULT_IOMAP),
	VEC_BAD_MSG("iomap slot 128", 0xc0000080, 24, 128, RSOCK_FAULT_IOMAP),
	VEC_BAD_MSG("iomap, no table", 0xc0000000, 24, 0, RSOCK_FAULT_IOMAP),
	VEC_BAD_MSG("iomap slot 2^16", 0xc0010000, 24, 2, RSOCK_FAULT_IOMAP),
	VEC_BAD_MSG("iomap slot 2^29-1", 0xdfffffff, 24, 0xffff,
		    RSOCK_FAULT_IOMAP),
	VEC_BAD_MSG("iomap 0 bytes", 0xc0000000, 0, 2, RSOCK_FAULT_LENGTH),
	VEC_BAD_MSG("iomap 16", 0xc0000000, 16, 2, RSOCK_FAULT_LENGTH),
	VEC_BAD_MSG("iomap 23", 0xc0000000, 23, 2, RSOCK_FAULT_LENGTH),
	VEC_BAD_MSG("iomap 25", 0xc0000000, 25, 2, RSOCK_FAULT_LENGTH),
	VEC_BAD_MSG("iomap 48", 0xc0000000, 48, 2, RSOCK_FAULT_LENGTH),
	/* control */
	VEC_MSG("disconnect", 0xe0000000, 0, 2, 7, false, 0),
	VEC_MSG("keepalive", 0xe0000001, 0, 2, 7, false, 1),
	VEC_MSG("shutdown", 0xe0000002, 0, 2, 7, false, 2),
	VEC_MSG("unknown control", 0xe0000003, 0, 2, 7, false, 3),
	VEC_MSG("control, not truncated", 0xe0010002, 0, 2, 7, false, 0x10002),
	VEC_MSG("control, all bits", 0xffffffff, 0, 2, 7, false, 0x1fffffff),
	VEC_BAD_MSG("disconnect, 1 written", 0xe0000000, 1, 2,
		    RSOCK_FAULT_LENGTH),
	VEC_BAD_MSG("shutdown, 16 written", 0xe0000002, 16, 2,
		    RSOCK_FAULT_LENGTH),
	VEC_SLOT_MSG("code 15, with a slot", 0xe001000f, 0, 0, 7, 0, 0x1000f),
	VEC_SLOT_MSG("code 18, with a slot", 0xffff0012, 0, 0, 7, 0, 0x1fff0012),
	VEC_SLOT_MSG("code 0x110", 0xe0000110, 0, 0, 7, 0, 0x110),
	/* revoking: a slot of ours, which must exist */
	VEC_SLOT_MSG("revoke slot 0", 0xe0000010, 0, 1, 7, 0, 16),
	VEC_SLOT_MSG("revoke last slot", 0xe0010010, 0, 2, 7, 1, 16),
	VEC_SLOT_MSG("revoke slot 255", 0xe0ff0010, 0, 256, 7, 255, 16),
	VEC_SLOT_MSG("revoke slot 8191", 0xffff0010, 0, 8192, 7, 8191, 16),
	VEC_BAD_MSG("revoke slot = size", 0xe0020010, 0, 2, RSOCK_FAULT_IOMAP),
	VEC_BAD_MSG("revoke slot 256", 0xe1000010, 0, 256, RSOCK_FAULT_IOMAP),
	VEC_BAD_MSG("revoke slot 8191 of 128", 0xffff0010, 0, 128,
		    RSOCK_FAULT_IOMAP),
	VEC_BAD_MSG("revoke, no table", 0xe0000010, 0, 0, RSOCK_FAULT_IOMAP),
	VEC_BAD_MSG("revoke, 24 written", 0xe0000010, 24, 2,
		    RSOCK_FAULT_LENGTH),
	VEC_BAD_MSG("revoke beyond, 1 written", 0xe0020010, 1, 2,
		    RSOCK_FAULT_LENGTH),
	/* revoked: a slot of the peer's, of which nothing is known here */
	VEC_SLOT_MSG("revoked slot 0", 0xe0000011, 0, 2, 7, 0, 17),
	VEC_SLOT_MSG("revoked slot 127", 0xe07f0011, 0, 0, 7, 127, 17),
	VEC_SLOT_MSG("revoked slot 8191", 0xffff0011, 0, 2, 7, 8191, 17),
	VEC_BAD_MSG("revoked, 1 written", 0xe0000011, 1, 2,
		    RSOCK_FAULT_LENGTH),
	/* sent as such: nobody knows what was written along with it */
	VEC_MSG("data, sent", 0x00000064, RSOCK_LEN_UNKNOWN, 0, 0, false, 100),
	VEC_BAD_MSG("data 0, sent", 0, RSOCK_LEN_UNKNOWN, 2,
		    RSOCK_FAULT_LENGTH),
	VEC_MSG("credit, sent", 0x80000180, RSOCK_LEN_UNKNOWN, 0, 4, true,
		0x180),
	VEC_MSG("note, sent", 0xa0000007, RSOCK_LEN_UNKNOWN, 0, 5, false, 7),
	VEC_BAD_MSG("iomap, sent, beyond", 0xc0000002, RSOCK_LEN_UNKNOWN, 2,
		    RSOCK_FAULT_IOMAP),
	VEC_MSG("disconnect, sent", 0xe0000000, RSOCK_LEN_UNKNOWN, 0, 7, false,
		0),
	VEC_BAD_MSG("revoke, sent, beyond", 0xe0020010, RSOCK_LEN_UNKNOWN, 2,
		    RSOCK_FAULT_IOMAP),
	VEC_BAD_MSG("operation 2, sent", 0x40000001, RSOCK_LEN_UNKNOWN, 2,
		    RSOCK_FAULT_OP),
};

/* SGL entries, as either kind of host has them in memory */

struct vec_sge {
	const char *name;
	struct rsock_sge sge;
	u8 le[RSOCK_SGE_LEN];
	u8 be[RSOCK_SGE_LEN];
	int fault;
};

static const struct vec_sge vec_sges[] = {
	{
		.name = "captured grant",
		.sge = { 0x7f6388038000ULL, 0x0e0b, 0x10000 },
		.le = { 0x00, 0x80, 0x03, 0x88, 0x63, 0x7f, 0, 0,
			0x0b, 0x0e, 0, 0, 0, 0, 1, 0 },
		.be = { 0, 0, 0x7f, 0x63, 0x88, 0x03, 0x80, 0x00,
			0, 0, 0x0e, 0x0b, 0, 1, 0, 0 },
	}, {
		.name = "distinct bytes",
		.sge = { 0x0102030405060708ULL, 0x090a0b0c, 0x0d0e0f10 },
		.le = { 8, 7, 6, 5, 4, 3, 2, 1, 12, 11, 10, 9, 16, 15, 14, 13 },
		.be = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 },
	}, {
		.name = "empty",
		.sge = { 0x7f6388038000ULL, 0x0e0b, 0 },
		.le = { 0x00, 0x80, 0x03, 0x88, 0x63, 0x7f, 0, 0,
			0x0b, 0x0e },
		.be = { 0, 0, 0x7f, 0x63, 0x88, 0x03, 0x80, 0x00,
			0, 0, 0x0e, 0x0b },
		.fault = RSOCK_FAULT_SGE,
	}, {
		.name = "all zero",
		.fault = RSOCK_FAULT_SGE,
	}, {
		.name = "1 byte at 0",
		.sge = { 0, 0, 1 },
		.le = { [12] = 1 },
		.be = { [15] = 1 },
	}, {
		.name = "largest at 0",
		.sge = { 0, 0xffffffff, 0xffffffff },
		.le = { [8] = 255, 255, 255, 255, 255, 255, 255, 255 },
		.be = { [8] = 255, 255, 255, 255, 255, 255, 255, 255 },
	}, {
		.name = "ends one before 2^64",
		.sge = { VEC_LAST(3), 0, 2 },
		.le = { 0xfd, 255, 255, 255, 255, 255, 255, 255, [12] = 2 },
		.be = { 255, 255, 255, 255, 255, 255, 255, 0xfd, [15] = 2 },
	}, {
		.name = "ends at 2^64",
		.sge = { VEC_LAST(2), 0, 2 },
		.le = { 0xfe, 255, 255, 255, 255, 255, 255, 255, [12] = 2 },
		.be = { 255, 255, 255, 255, 255, 255, 255, 0xfe, [15] = 2 },
		.fault = RSOCK_FAULT_SGE,
	}, {
		.name = "wraps",
		.sge = { VEC_LAST(1), 0, 2 },
		.le = { 255, 255, 255, 255, 255, 255, 255, 255, [12] = 2 },
		.be = { 255, 255, 255, 255, 255, 255, 255, 255, [15] = 2 },
		.fault = RSOCK_FAULT_SGE,
	}, {
		.name = "wraps, largest",
		.sge = { VEC_END, 0, 0xffffffff },
		.le = { 255, 255, 255, 255, 255, 255, 255, 255,
			[12] = 255, 255, 255, 255 },
		.be = { 255, 255, 255, 255, 255, 255, 255, 255,
			[12] = 255, 255, 255, 255 },
		.fault = RSOCK_FAULT_SGE,
	},
};

/* Iomap entries, as either kind of host has them in memory */

struct vec_iomap {
	const char *name;
	struct rsock_iomap_entry entry;	/* decoded, it is all zero if empty */
	u8 le[RSOCK_IOMAP_LEN];
	u8 be[RSOCK_IOMAP_LEN];
	int fault;
};

static const struct vec_iomap vec_iomaps[] = {
	{
		.name = "as rsockets maps",
		.entry = { 0x1000, { 0x55a53fb2f000ULL, 0x0a2f, 0x2000 } },
		.le = { 0x00, 0x10, 0, 0, 0, 0, 0, 0,
			0x00, 0xf0, 0xb2, 0x3f, 0xa5, 0x55, 0, 0,
			0x2f, 0x0a, 0, 0, 0x00, 0x20, 0, 0 },
		.be = { 0, 0, 0, 0, 0, 0, 0x10, 0x00,
			0, 0, 0x55, 0xa5, 0x3f, 0xb2, 0xf0, 0x00,
			0, 0, 0x0a, 0x2f, 0, 0, 0x20, 0x00 },
	}, {
		.name = "distinct bytes",
		.entry = { 0x0102030405060708ULL,
			   { 0x090a0b0c0d0e0f10ULL, 0x11121314, 0x15161718 } },
		.le = { 8, 7, 6, 5, 4, 3, 2, 1, 16, 15, 14, 13, 12, 11, 10, 9,
			20, 19, 18, 17, 24, 23, 22, 21 },
		.be = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16,
			17, 18, 19, 20, 21, 22, 23, 24 },
	}, {
		.name = "all zero",
	}, {
		.name = "empty, but not zero",
		.entry = { 0x1000, { 0x2000, 0x33, 0 } },
		.le = { 0x00, 0x10, 0, 0, 0, 0, 0, 0,
			0x00, 0x20, 0, 0, 0, 0, 0, 0, 0x33 },
		.be = { 0, 0, 0, 0, 0, 0, 0x10, 0x00,
			0, 0, 0, 0, 0, 0, 0x20, 0x00, 0, 0, 0, 0x33 },
	}, {
		.name = "empty, at the end of all",
		.entry = { VEC_END, { VEC_END, 0xffffffff, 0 } },
		.le = { 255, 255, 255, 255, 255, 255, 255, 255,
			255, 255, 255, 255, 255, 255, 255, 255,
			255, 255, 255, 255 },
		.be = { 255, 255, 255, 255, 255, 255, 255, 255,
			255, 255, 255, 255, 255, 255, 255, 255,
			255, 255, 255, 255 },
	}, {
		.name = "1 byte at 0, key 0",
		.entry = { 0, { 0, 0, 1 } },
		.le = { [20] = 1 },
		.be = { [23] = 1 },
	}, {
		.name = "largest at 0",
		.entry = { 0, { 0, 0xffffffff, 0xffffffff } },
		.le = { [16] = 255, 255, 255, 255, 255, 255, 255, 255 },
		.be = { [16] = 255, 255, 255, 255, 255, 255, 255, 255 },
	}, {
		.name = "offset ends before 2^64",
		.entry = { VEC_LAST(3), { 0, 0, 2 } },
		.le = { 0xfd, 255, 255, 255, 255, 255, 255, 255, [20] = 2 },
		.be = { 255, 255, 255, 255, 255, 255, 255, 0xfd, [23] = 2 },
	}, {
		.name = "offset ends at 2^64",
		.entry = { VEC_LAST(2), { 0, 0, 2 } },
		.le = { 0xfe, 255, 255, 255, 255, 255, 255, 255, [20] = 2 },
		.be = { 255, 255, 255, 255, 255, 255, 255, 0xfe, [23] = 2 },
		.fault = RSOCK_FAULT_IOMAP,
	}, {
		.name = "offset wraps",
		.entry = { VEC_END, { 0, 0, 0xffffffff } },
		.le = { 255, 255, 255, 255, 255, 255, 255, 255,
			[20] = 255, 255, 255, 255 },
		.be = { 255, 255, 255, 255, 255, 255, 255, 255,
			[20] = 255, 255, 255, 255 },
		.fault = RSOCK_FAULT_IOMAP,
	}, {
		.name = "address ends before 2^64",
		.entry = { 0, { VEC_LAST(3), 0, 2 } },
		.le = { [8] = 0xfd, 255, 255, 255, 255, 255, 255, 255,
			[20] = 2 },
		.be = { [8] = 255, 255, 255, 255, 255, 255, 255, 0xfd,
			[23] = 2 },
	}, {
		.name = "address ends at 2^64",
		.entry = { 0, { VEC_LAST(2), 0, 2 } },
		.le = { [8] = 0xfe, 255, 255, 255, 255, 255, 255, 255,
			[20] = 2 },
		.be = { [8] = 255, 255, 255, 255, 255, 255, 255, 0xfe,
			[23] = 2 },
		.fault = RSOCK_FAULT_IOMAP,
	}, {
		.name = "address wraps",
		.entry = { 0x1000, { VEC_END, 1, 0x1000 } },
		.le = { 0x00, 0x10, [8] = 255, 255, 255, 255, 255, 255, 255,
			255, 1, 0, 0, 0, 0x00, 0x10 },
		.be = { [6] = 0x10, [8] = 255, 255, 255, 255, 255, 255, 255,
			255, 0, 0, 0, 1, 0, 0, 0x10, 0x00 },
		.fault = RSOCK_FAULT_IOMAP,
	},
};

/* Notes, as either kind of host has them in memory */

struct vec_note {
	const char *name;
	struct rsock_note note;
	u8 le[RSOCK_NOTE_LEN];
	u8 be[RSOCK_NOTE_LEN];
	int fault;
};

static const struct vec_note vec_notes[] = {
	{
		.name = "distinct bytes",
		.note = { 0x0102030405060708ULL, 0x090a0b0c0d0e0f10ULL },
		.le = { 8, 7, 6, 5, 4, 3, 2, 1, 16, 15, 14, 13, 12, 11, 10, 9 },
		.be = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 },
	}, {
		.name = "1 byte at 0",
		.note = { 0, 1 },
		.le = { [8] = 1 },
		.be = { [15] = 1 },
	}, {
		.name = "all zero",
		.fault = RSOCK_FAULT_NOTE,
	}, {
		.name = "empty",
		.note = { 0x1000, 0 },
		.le = { 0x00, 0x10 },
		.be = { [6] = 0x10 },
		.fault = RSOCK_FAULT_NOTE,
	}, {
		.name = "empty at 2^63",
		.note = { VEC_2_63, 0 },
		.le = { [7] = 0x80 },
		.be = { 0x80 },
		.fault = RSOCK_FAULT_NOTE,
	}, {
		.name = "1 byte before 2^63",
		.note = { VEC_2_63 - 1, 1 },
		.le = { 255, 255, 255, 255, 255, 255, 255, 0x7f, 1 },
		.be = { 0x7f, 255, 255, 255, 255, 255, 255, 255, [15] = 1 },
	}, {
		.name = "1 byte at 2^63",
		.note = { VEC_2_63, 1 },
		.le = { [7] = 0x80, 1 },
		.be = { 0x80, [15] = 1 },
		.fault = RSOCK_FAULT_NOTE,
	}, {
		.name = "1 byte beyond 2^63",
		.note = { VEC_2_63 + 1, 1 },
		.le = { 1, [7] = 0x80, 1 },
		.be = { 0x80, [7] = 1, [15] = 1 },
		.fault = RSOCK_FAULT_NOTE,
	}, {
		.name = "1 byte at the last",
		.note = { VEC_END, 1 },
		.le = { 255, 255, 255, 255, 255, 255, 255, 255, 1 },
		.be = { 255, 255, 255, 255, 255, 255, 255, 255, [15] = 1 },
		.fault = RSOCK_FAULT_NOTE,
	}, {
		.name = "ends at 2^63",
		.note = { VEC_2_63 - 0x1000, 0x1000 },
		.le = { 0, 0xf0, 255, 255, 255, 255, 255, 0x7f, 0, 0x10 },
		.be = { 0x7f, 255, 255, 255, 255, 255, 0xf0, 0,
			[14] = 0x10 },
	}, {
		.name = "ends one beyond 2^63",
		.note = { VEC_2_63 - 0x1000, 0x1001 },
		.le = { 0, 0xf0, 255, 255, 255, 255, 255, 0x7f, 1, 0x10 },
		.be = { 0x7f, 255, 255, 255, 255, 255, 0xf0, 0,
			[14] = 0x10, 1 },
		.fault = RSOCK_FAULT_NOTE,
	}, {
		.name = "all there is",
		.note = { 0, VEC_2_63 },
		.le = { [15] = 0x80 },
		.be = { [8] = 0x80 },
	}, {
		.name = "all there is and one",
		.note = { 0, VEC_2_63 + 1 },
		.le = { [8] = 1, [15] = 0x80 },
		.be = { [8] = 0x80, [15] = 1 },
		.fault = RSOCK_FAULT_NOTE,
	}, {
		.name = "largest at 0",
		.note = { 0, VEC_END },
		.le = { [8] = 255, 255, 255, 255, 255, 255, 255, 255 },
		.be = { [8] = 255, 255, 255, 255, 255, 255, 255, 255 },
		.fault = RSOCK_FAULT_NOTE,
	}, {
		.name = "wraps to 0",
		.note = { 1, VEC_END },
		.le = { 1, [8] = 255, 255, 255, 255, 255, 255, 255, 255 },
		.be = { [7] = 1, 255, 255, 255, 255, 255, 255, 255, 255 },
		.fault = RSOCK_FAULT_NOTE,
	}, {
		.name = "wraps",
		.note = { 0x1000, VEC_END },
		.le = { 0, 0x10, [8] = 255, 255, 255, 255, 255, 255, 255, 255 },
		.be = { [6] = 0x10, [8] = 255, 255, 255, 255, 255, 255, 255,
			255 },
		.fault = RSOCK_FAULT_NOTE,
	},
};

/*
 * Windows: scripts of steps, each with its expected result. A step that ends
 * in a fault must leave the window as it was. With @n > 1 a step is repeated;
 * @want and @off are those of the last time, and no earlier one may fail.
 */

enum vec_op {
	VEC_STOP,
	/* sender */
	VEC_CREDIT,		/* limit @a: fault @want */
	VEC_TXGRANT,		/* buffer at @off, @a bytes: fault @want */
	VEC_NEXT,		/* next_entry is @want */
	VEC_ROOM,		/* room is @want */
	VEC_TAKE,		/* @a bytes, to be written at @off */
	VEC_TXCOUNTED,		/* there was a credit: @want */
	/* receiver */
	VEC_DATA,		/* @a bytes: fault @want, or placed at @off */
	VEC_COUNTED,		/* fault @want */
	VEC_HELD,		/* fault @want, or counted and its credit kept */
	VEC_RELEASE,		/* a credit that was kept */
	VEC_UNREAD,		/* behind @a bytes: @want bytes at @off */
	VEC_CONSUME,		/* @a bytes */
	VEC_GROW,		/* by a ring of @a bytes */
	VEC_GRANTABLE,		/* @want bytes at @off */
	VEC_RXGRANT,		/* @a bytes: goes to entry @want */
	VEC_DUE,		/* credit is due: @want */
	VEC_TELL,		/* limit told is @want */
};

struct vec_step {
	u8 op;
	u32 n;
	u32 a;
	u64 off;
	u32 want;
};

#define VEC_S_CREDIT(_limit, _fault)					\
	{ .op = VEC_CREDIT, .a = (_limit), .want = (_fault) }
#define VEC_S_TXGRANT(_addr, _len, _fault)				\
	{ .op = VEC_TXGRANT, .off = (_addr), .a = (_len), .want = (_fault) }
#define VEC_S_NEXT(_entry)	{ .op = VEC_NEXT, .want = (_entry) }
#define VEC_S_ROOM(_len)	{ .op = VEC_ROOM, .want = (_len) }
#define VEC_S_TAKE(_n, _len, _addr)					\
	{ .op = VEC_TAKE, .n = (_n), .a = (_len), .off = (_addr) }
#define VEC_S_TXCOUNTED(_n, _ok)					\
	{ .op = VEC_TXCOUNTED, .n = (_n), .want = (_ok) }
#define VEC_S_DATA(_n, _len, _off)					\
	{ .op = VEC_DATA, .n = (_n), .a = (_len), .off = (_off) }
#define VEC_S_BAD_DATA(_n, _len, _fault)				\
	{ .op = VEC_DATA, .n = (_n), .a = (_len), .want = (_fault) }
#define VEC_S_COUNTED(_n, _fault)					\
	{ .op = VEC_COUNTED, .n = (_n), .want = (_fault) }
#define VEC_S_HELD(_n, _fault)						\
	{ .op = VEC_HELD, .n = (_n), .want = (_fault) }
#define VEC_S_RELEASE(_n)	{ .op = VEC_RELEASE, .n = (_n) }
#define VEC_S_UNREAD(_skip, _len, _off)					\
	{ .op = VEC_UNREAD, .a = (_skip), .want = (_len), .off = (_off) }
#define VEC_S_CONSUME(_n, _len)						\
	{ .op = VEC_CONSUME, .n = (_n), .a = (_len) }
#define VEC_S_GROW(_size)	{ .op = VEC_GROW, .a = (_size) }
#define VEC_S_GRANTABLE(_len, _off)					\
	{ .op = VEC_GRANTABLE, .want = (_len), .off = (_off) }
#define VEC_S_RXGRANT(_len, _entry)					\
	{ .op = VEC_RXGRANT, .a = (_len), .want = (_entry) }
#define VEC_S_DUE(_due)		{ .op = VEC_DUE, .want = (_due) }
#define VEC_S_TELL(_limit)	{ .op = VEC_TELL, .want = (_limit) }

struct vec_txwin {
	const char *name;
	u16 credits;
	u64 addr;
	u32 len;
	u32 features;
	struct vec_step steps[32];
};

static const struct vec_txwin vec_txwins[] = {
	{
		.name = "as captured", .credits = 384,
		.addr = 0x7f6388028000ULL, .len = 0x10000,
		.steps = {
			VEC_S_ROOM(0x10000),
			VEC_S_NEXT(1),
			VEC_S_TXGRANT(0x7f6388038000ULL, 0x10000, 0),
			VEC_S_CREDIT(384, 0),
			VEC_S_NEXT(0),
			VEC_S_TAKE(1, 100, 0x7f6388028000ULL),
			VEC_S_TAKE(1, 2048, 0x7f6388028064ULL),
			VEC_S_TAKE(1, 4096, 0x7f6388028864ULL),
			VEC_S_TAKE(1, 8192, 0x7f6388029864ULL),
			VEC_S_TAKE(1, 16384, 0x7f638802b864ULL),
			VEC_S_TAKE(1, 32768, 0x7f638802f864ULL),
			VEC_S_ROOM(1948),
			VEC_S_TAKE(1, 1948, 0x7f6388037864ULL),
			VEC_S_ROOM(0x10000),
			VEC_S_TAKE(1, 0x10000, 0x7f6388038000ULL),
			VEC_S_ROOM(0),
			VEC_S_TXGRANT(0x7f6388028000ULL, 0x10000, 0),
			VEC_S_CREDIT(0x188, 0),
			VEC_S_NEXT(1),
			VEC_S_TXGRANT(0x7f6388038000ULL, 0x10000, 0),
			VEC_S_CREDIT(0x188, 0),
			VEC_S_NEXT(0),
			VEC_S_TAKE(1, 0x10000, 0x7f6388028000ULL),
			VEC_S_TAKE(1, 8292, 0x7f6388038000ULL),
			VEC_S_TXGRANT(0x7f6388028000ULL, 0x10000, 0),
			VEC_S_CREDIT(0x189, 0),
			VEC_S_NEXT(1),
			VEC_S_ROOM(57244),
			VEC_S_TAKE(1, 1, 0x7f638803a064ULL),
		},
	}, {
		.name = "messages without bytes", .credits = 5,
		.addr = 0x1000, .len = 100,
		.steps = {
			VEC_S_TXCOUNTED(1, 1),
			VEC_S_ROOM(100),
			VEC_S_TAKE(1, 10, 0x1000),
			VEC_S_TXCOUNTED(2, 1),
			VEC_S_TAKE(1, 10, 0x100a),
			VEC_S_ROOM(0),
			VEC_S_TXCOUNTED(1, 0),
			VEC_S_TXCOUNTED(1, 0),
			VEC_S_CREDIT(6, 0),
			VEC_S_ROOM(80),
			VEC_S_TXCOUNTED(1, 1),
			VEC_S_TXCOUNTED(1, 0),
			VEC_S_CREDIT(8, 0),
			VEC_S_TAKE(1, 80, 0x1014),
			/* needs no grant */
			VEC_S_ROOM(0),
			VEC_S_TXCOUNTED(1, 1),
			VEC_S_TXCOUNTED(1, 0),
			VEC_S_TXGRANT(0x2000, 10, 0),
			VEC_S_ROOM(0),
			VEC_S_CREDIT(9, 0),
			VEC_S_TAKE(1, 10, 0x2000),
		},
	}, {
		.name = "messages without bytes wrap", .credits = 0xfffe,
		.addr = 0x1000, .len = 100,
		.steps = {
			VEC_S_TXCOUNTED(0xfffe, 1),
			VEC_S_TXCOUNTED(1, 0),
			VEC_S_CREDIT(3, 0),
			VEC_S_TXCOUNTED(5, 1),
			VEC_S_TXCOUNTED(1, 0),
			VEC_S_ROOM(0),
			VEC_S_CREDIT(4, 0),
			VEC_S_ROOM(100),
		},
	}, {
		.name = "no credit at first", .credits = 0,
		.addr = 0x1000, .len = 100,
		.steps = {
			VEC_S_ROOM(0),
			VEC_S_CREDIT(0, 0),
			VEC_S_ROOM(0),
			VEC_S_CREDIT(1, 0),
			VEC_S_ROOM(100),
			VEC_S_TAKE(1, 1, 0x1000),
			VEC_S_ROOM(0),
		},
	}, {
		.name = "limit is reached by equality", .credits = 3,
		.addr = 0x1000, .len = 100,
		.steps = {
			VEC_S_TAKE(2, 10, 0x100a),
			VEC_S_ROOM(80),
			VEC_S_TAKE(1, 10, 0x1014),
			VEC_S_ROOM(0),
			VEC_S_CREDIT(3, 0),
			VEC_S_ROOM(0),
			VEC_S_CREDIT(4, 0),
			VEC_S_ROOM(70),
		},
	}, {
		.name = "limit may not move back", .credits = 10,
		.addr = 0x1000, .len = 100,
		.steps = {
			VEC_S_CREDIT(9, RSOCK_FAULT_CREDIT),
			VEC_S_CREDIT(0, RSOCK_FAULT_CREDIT),
			VEC_S_CREDIT(0xffff, RSOCK_FAULT_CREDIT),
			VEC_S_TAKE(10, 1, 0x1009),
			VEC_S_CREDIT(9, RSOCK_FAULT_CREDIT),
			VEC_S_CREDIT(10, 0),
			VEC_S_CREDIT(20, 0),
			VEC_S_TAKE(1, 1, 0x100a),
			VEC_S_CREDIT(11, RSOCK_FAULT_CREDIT),
			VEC_S_CREDIT(19, RSOCK_FAULT_CREDIT),
			VEC_S_CREDIT(20, 0),
		},
	}, {
		.name = "limit may be 65534 ahead, not 65535", .credits = 1,
		.addr = 0x1000, .len = 100,
		.steps = {
			VEC_S_CREDIT(0xfffe, 0),
			VEC_S_CREDIT(0xffff, RSOCK_FAULT_CREDIT),
			VEC_S_TAKE(1, 1, 0x1000),
			VEC_S_CREDIT(0xffff, 0),
			VEC_S_CREDIT(0, RSOCK_FAULT_CREDIT),
			VEC_S_CREDIT(1, RSOCK_FAULT_CREDIT),
			VEC_S_TAKE(1, 1, 0x1001),
			VEC_S_CREDIT(0, 0),
			VEC_S_CREDIT(0, 0),
			VEC_S_CREDIT(1, RSOCK_FAULT_CREDIT),
		},
	}, {
		.name = "sequence wraps", .credits = 0xfffe,
		.addr = 0x100000, .len = 0x100000,
		.steps = {
			VEC_S_TAKE(0xfffd, 1, 0x10fffc),
			VEC_S_ROOM(0xf0003),
			VEC_S_TAKE(1, 1, 0x10fffd),
			VEC_S_ROOM(0),
			VEC_S_CREDIT(0xfffd, RSOCK_FAULT_CREDIT),
			VEC_S_CREDIT(0x17e, 0),
			VEC_S_ROOM(0xf0002),
			VEC_S_CREDIT(0xffff, RSOCK_FAULT_CREDIT),
			VEC_S_CREDIT(0x17d, RSOCK_FAULT_CREDIT),
			VEC_S_TAKE(3, 1, 0x110000),
			VEC_S_CREDIT(0x17d, RSOCK_FAULT_CREDIT),
			VEC_S_CREDIT(0x180, 0),
			VEC_S_CREDIT(0xffff, 0),
			VEC_S_TAKE(0xfffe, 1, 0x11fffe),
			VEC_S_ROOM(0),
			VEC_S_CREDIT(0, 0),
			VEC_S_TAKE(1, 1, 0x11ffff),
			VEC_S_ROOM(0),
		},
	}, {
		.name = "third grant", .credits = 10,
		.addr = 0x1000, .len = 4,
		.steps = {
			VEC_S_TXGRANT(0x2000, 4, 0),
			VEC_S_TXGRANT(0x3000, 4, RSOCK_FAULT_GRANT),
			VEC_S_NEXT(0),
			VEC_S_TAKE(1, 3, 0x1000),
			VEC_S_TXGRANT(0x3000, 4, RSOCK_FAULT_GRANT),
			VEC_S_TAKE(1, 1, 0x1003),
			VEC_S_TXGRANT(0x3000, 5, 0),
			VEC_S_NEXT(1),
			VEC_S_TXGRANT(0x4000, 4, RSOCK_FAULT_GRANT),
			VEC_S_TAKE(1, 4, 0x2000),
			VEC_S_ROOM(5),
			VEC_S_TAKE(1, 5, 0x3000),
			VEC_S_ROOM(0),
			VEC_S_TXGRANT(0x4000, 6, 0),
			VEC_S_NEXT(0),
			VEC_S_ROOM(6),
			VEC_S_TXGRANT(0x5000, 7, 0),
			VEC_S_NEXT(1),
			VEC_S_TAKE(1, 6, 0x4000),
			VEC_S_TAKE(1, 7, 0x5000),
			VEC_S_ROOM(0),
		},
	}, {
		.name = "bad grants", .credits = 10,
		.addr = 0x1000, .len = 4,
		.steps = {
			VEC_S_TXGRANT(0x2000, 0, RSOCK_FAULT_SGE),
			VEC_S_NEXT(1),
			VEC_S_TXGRANT(VEC_END, 2, RSOCK_FAULT_SGE),
			VEC_S_NEXT(1),
			VEC_S_TAKE(1, 4, 0x1000),
			VEC_S_TXGRANT(0x2000, 0, RSOCK_FAULT_SGE),
			VEC_S_ROOM(0),
			VEC_S_TXGRANT(0x2000, 1, 0),
			VEC_S_NEXT(0),
			VEC_S_ROOM(1),
		},
	}, {
		.name = "grant larger than a message", .credits = 10,
		.addr = 0x1000, .len = 0xffffffff,
		.steps = {
			VEC_S_ROOM(0x1fffffff),
			VEC_S_TAKE(1, 0x1fffffff, 0x1000),
			VEC_S_TAKE(7, 0x1fffffff, 0xe0000ff9),
			VEC_S_ROOM(7),
			VEC_S_TAKE(1, 7, 0x100000ff8),
			VEC_S_ROOM(0),
		},
	}, {
		.name = "grant of one message, and one byte less and more",
		.credits = 10, .addr = 0, .len = 0x20000000,
		.steps = {
			VEC_S_ROOM(0x1fffffff),
			VEC_S_TAKE(1, 1, 0),
			VEC_S_ROOM(0x1fffffff),
			VEC_S_TAKE(1, 1, 1),
			VEC_S_ROOM(0x1ffffffe),
		},
	}, {
		.name = "message that spans two grants",
		.credits = 10, .addr = 0x1000, .len = 10,
		.features = RSOCK_FEAT_SPAN,
		.steps = {
			/* of another key: no span */
			VEC_S_TXGRANT(0x100a, 10, 0),
			VEC_S_ROOM(10),
			VEC_S_TAKE(1, 10, 0x1000),
			VEC_S_TXGRANT(0x1014, 10, 0),
			VEC_S_ROOM(20),
			VEC_S_TAKE(1, 11, 0x100a),
			VEC_S_ROOM(9),
			/* not behind it, but before: no span */
			VEC_S_TXGRANT(0x100b, 10, 0),
			VEC_S_ROOM(9),
			VEC_S_TAKE(1, 9, 0x1015),
			VEC_S_TXGRANT(0x1015, 0x20000000, 0),
			VEC_S_ROOM(0x1fffffff),
			VEC_S_TAKE(1, 0x1fffffff, 0x100b),
			VEC_S_ROOM(11),
			VEC_S_TXGRANT(0x20001015, 1, 0),
			VEC_S_TAKE(1, 12, 0x2000100a),
			VEC_S_ROOM(0),
			VEC_S_TXGRANT(0xffffffffffffff00, 0x80, 0),
			VEC_S_TXGRANT(0xffffffffffffff80, 0x7f, 0),
			VEC_S_ROOM(0xff),
			VEC_S_TAKE(1, 0xff, 0xffffffffffffff00),
			VEC_S_ROOM(0),
		},
	}, {
		.name = "no span of a peer that does not know",
		.credits = 10, .addr = 0x1000, .len = 10,
		.features = RSOCK_FEATURES & ~RSOCK_FEAT_SPAN,
		.steps = {
			VEC_S_TAKE(1, 10, 0x1000),
			VEC_S_TXGRANT(0x100a, 10, 0),
			VEC_S_TXGRANT(0x1014, 10, 0),
			VEC_S_ROOM(10),
		},
	},
};

struct vec_rxwin {
	const char *name;
	u32 size;
	u32 first;
	u16 credits;
	u16 entries;		/* of the peer's table; 0: not told */
	u32 features;
	struct vec_step steps[36];
};

static const struct vec_rxwin vec_rxwins[] = {
	{
		.name = "as captured", .size = 0x20000, .first = 0x10000,
		.credits = 384, .entries = 2,
		.steps = {
			VEC_S_DUE(false),
			VEC_S_GRANTABLE(0x10000, 0x10000),
			VEC_S_RXGRANT(0x10000, 1),
			VEC_S_TELL(0x180),
			VEC_S_GRANTABLE(0, 0),
			VEC_S_DATA(1, 100, 0),
			VEC_S_DATA(1, 2048, 0x64),
			VEC_S_DATA(1, 4096, 0x864),
			VEC_S_DATA(1, 8192, 0x1864),
			VEC_S_DATA(1, 16384, 0x3864),
			VEC_S_DATA(1, 32768, 0x7864),
			VEC_S_DATA(1, 1948, 0xf864),
			VEC_S_DATA(1, 0x10000, 0x10000),
			VEC_S_GRANTABLE(0, 0),
			VEC_S_CONSUME(1, 0x10000),
			VEC_S_GRANTABLE(0x10000, 0),
			VEC_S_RXGRANT(0x10000, 0),
			VEC_S_TELL(0x188),
			VEC_S_GRANTABLE(0, 0),
			VEC_S_CONSUME(1, 0x10000),
			VEC_S_GRANTABLE(0x10000, 0x10000),
			VEC_S_RXGRANT(0x10000, 1),
			VEC_S_TELL(0x188),
			VEC_S_DATA(1, 0x10000, 0),
			VEC_S_DATA(1, 8292, 0x10000),
			VEC_S_CONSUME(1, 0x10000),
			VEC_S_GRANTABLE(0x10000, 0),
			VEC_S_RXGRANT(0x10000, 0),
			VEC_S_TELL(0x18a),
			VEC_S_DATA(1, 1, 0x12064),
		},
	}, {
		.name = "overrun by one", .size = 100, .first = 10,
		.credits = 100,
		.steps = {
			VEC_S_BAD_DATA(1, 11, RSOCK_FAULT_OVERRUN),
			VEC_S_DATA(1, 10, 0),
			VEC_S_BAD_DATA(1, 1, RSOCK_FAULT_OVERRUN),
			VEC_S_RXGRANT(5, 1),
			VEC_S_RXGRANT(5, 0),
			VEC_S_BAD_DATA(1, 6, RSOCK_FAULT_OVERRUN),
			VEC_S_BAD_DATA(1, 10, RSOCK_FAULT_OVERRUN),
			VEC_S_BAD_DATA(1, 0x1fffffff, RSOCK_FAULT_OVERRUN),
			VEC_S_BAD_DATA(1, 0xffffffff, RSOCK_FAULT_OVERRUN),
			VEC_S_DATA(1, 4, 10),
			VEC_S_BAD_DATA(1, 2, RSOCK_FAULT_OVERRUN),
			VEC_S_DATA(1, 1, 14),
			VEC_S_BAD_DATA(1, 6, RSOCK_FAULT_OVERRUN),
			VEC_S_DATA(1, 5, 15),
			VEC_S_BAD_DATA(1, 1, RSOCK_FAULT_OVERRUN),
			VEC_S_CONSUME(1, 20),
			VEC_S_BAD_DATA(1, 1, RSOCK_FAULT_OVERRUN),
		},
	}, {
		.name = "flood by one", .size = 100, .first = 100,
		.credits = 5,
		.steps = {
			VEC_S_DATA(3, 1, 2),
			VEC_S_COUNTED(2, 0),
			VEC_S_COUNTED(1, RSOCK_FAULT_FLOOD),
			VEC_S_BAD_DATA(1, 1, RSOCK_FAULT_FLOOD),
			VEC_S_TELL(10),
			VEC_S_BAD_DATA(6, 1, RSOCK_FAULT_FLOOD),
			VEC_S_CONSUME(8, 1),
			VEC_S_BAD_DATA(1, 1, RSOCK_FAULT_FLOOD),
			VEC_S_TELL(15),
			VEC_S_COUNTED(6, RSOCK_FAULT_FLOOD),
		},
	}, {
		.name = "overrun beats flood", .size = 100, .first = 10,
		.credits = 1,
		.steps = {
			VEC_S_DATA(1, 9, 0),
			VEC_S_BAD_DATA(1, 2, RSOCK_FAULT_OVERRUN),
			VEC_S_BAD_DATA(1, 1, RSOCK_FAULT_FLOOD),
		},
	}, {
		.name = "one credit", .size = 100, .first = 100, .credits = 1,
		.steps = {
			VEC_S_DUE(false),
			VEC_S_DATA(1, 1, 0),
			VEC_S_DUE(true),
			VEC_S_TELL(2),
			VEC_S_DUE(false),
			VEC_S_DATA(1, 1, 1),
			VEC_S_TELL(3),
		},
	}, {
		.name = "credit is due after half, odd", .size = 100,
		.first = 100, .credits = 5,
		.steps = {
			VEC_S_COUNTED(2, 0),
			VEC_S_DUE(false),
			VEC_S_COUNTED(1, 0),
			VEC_S_DUE(true),
			VEC_S_TELL(8),
			VEC_S_DUE(false),
		},
	}, {
		.name = "credit is due after half, even", .size = 100,
		.first = 100, .credits = 6,
		.steps = {
			VEC_S_COUNTED(2, 0),
			VEC_S_DUE(false),
			VEC_S_COUNTED(1, 0),
			VEC_S_DUE(true),
			VEC_S_COUNTED(3, 0),
			VEC_S_DUE(true),
			VEC_S_TELL(12),
			VEC_S_DUE(false),
		},
	}, {
		.name = "sequence wraps", .size = 100, .first = 100,
		.credits = 0xfffe,
		.steps = {
			VEC_S_COUNTED(0x7ffe, 0),
			VEC_S_DUE(false),
			VEC_S_COUNTED(1, 0),
			VEC_S_DUE(true),
			VEC_S_COUNTED(0x7fff, 0),
			VEC_S_COUNTED(1, RSOCK_FAULT_FLOOD),
			VEC_S_TELL(0xfffc),
			VEC_S_DUE(false),
			VEC_S_COUNTED(0x7ffe, 0),
			VEC_S_DUE(false),
			VEC_S_COUNTED(1, 0),
			VEC_S_DUE(true),
			VEC_S_COUNTED(0x8000, RSOCK_FAULT_FLOOD),
			VEC_S_TELL(0xfffa),
			VEC_S_COUNTED(0xffff, RSOCK_FAULT_FLOOD),
		},
	}, {
		.name = "limit told wraps", .size = 100, .first = 100,
		.credits = 0x7000,
		.steps = {
			VEC_S_COUNTED(0x7000, 0),
			VEC_S_TELL(0xe000),
			VEC_S_COUNTED(0x7001, RSOCK_FAULT_FLOOD),
			VEC_S_TELL(0x5000),
			VEC_S_COUNTED(1, 0),
			VEC_S_TELL(0x5001),
			VEC_S_COUNTED(0x7001, RSOCK_FAULT_FLOOD),
		},
	}, {
		.name = "one credit, kept", .size = 100, .first = 100,
		.credits = 1,
		.steps = {
			VEC_S_HELD(1, 0),
			VEC_S_DUE(false),
			VEC_S_HELD(1, RSOCK_FAULT_FLOOD),
			VEC_S_BAD_DATA(1, 1, RSOCK_FAULT_FLOOD),
			VEC_S_RELEASE(1),
			VEC_S_DUE(true),
			VEC_S_COUNTED(1, RSOCK_FAULT_FLOOD),
			VEC_S_TELL(2),
			VEC_S_DUE(false),
			VEC_S_HELD(1, 0),
			VEC_S_TELL(2),
			VEC_S_RELEASE(1),
			VEC_S_TELL(3),
		},
	}, {
		.name = "all credits kept", .size = 100, .first = 100,
		.credits = 4,
		.steps = {
			VEC_S_HELD(4, 0),
			VEC_S_DUE(false),
			VEC_S_COUNTED(1, RSOCK_FAULT_FLOOD),
			VEC_S_HELD(1, RSOCK_FAULT_FLOOD),
			/* told all the same: nothing new */
			VEC_S_TELL(4),
			VEC_S_DUE(false),
			VEC_S_COUNTED(1, RSOCK_FAULT_FLOOD),
			VEC_S_RELEASE(1),
			VEC_S_DUE(true),
			VEC_S_TELL(5),
			VEC_S_DUE(false),
			VEC_S_HELD(1, 0),
			VEC_S_DUE(false),
			VEC_S_HELD(1, RSOCK_FAULT_FLOOD),
			VEC_S_RELEASE(4),
			VEC_S_DUE(true),
			VEC_S_TELL(9),
			VEC_S_COUNTED(5, RSOCK_FAULT_FLOOD),
		},
	}, {
		.name = "half kept, the rest is returned", .size = 100,
		.first = 100, .credits = 8,
		.steps = {
			VEC_S_HELD(4, 0),
			VEC_S_DUE(false),
			VEC_S_COUNTED(1, 0),
			VEC_S_DUE(false),
			VEC_S_COUNTED(1, 0),
			VEC_S_DUE(true),
			VEC_S_TELL(10),
			VEC_S_DUE(false),
			VEC_S_DATA(2, 10, 10),
			VEC_S_DUE(true),
			VEC_S_TELL(12),
			VEC_S_COUNTED(4, 0),
			VEC_S_COUNTED(1, RSOCK_FAULT_FLOOD),
			VEC_S_DUE(true),
			VEC_S_TELL(16),
			VEC_S_COUNTED(5, RSOCK_FAULT_FLOOD),
			VEC_S_RELEASE(4),
			VEC_S_TELL(24),
			VEC_S_COUNTED(9, RSOCK_FAULT_FLOOD),
		},
	}, {
		.name = "half of what is not kept, odd", .size = 100,
		.first = 100, .credits = 8,
		.steps = {
			VEC_S_HELD(3, 0),
			VEC_S_COUNTED(2, 0),
			VEC_S_DUE(false),
			VEC_S_COUNTED(1, 0),
			VEC_S_DUE(true),
			VEC_S_TELL(11),
			VEC_S_DUE(false),
		},
	}, {
		.name = "all but one kept", .size = 100, .first = 100,
		.credits = 4,
		.steps = {
			VEC_S_HELD(2, 0),
			VEC_S_COUNTED(1, 0),
			VEC_S_DUE(true),
			VEC_S_HELD(1, 0),
			VEC_S_DUE(true),
			VEC_S_TELL(5),
			VEC_S_DUE(false),
			VEC_S_DATA(1, 1, 0),
			VEC_S_DUE(true),
			VEC_S_TELL(6),
			VEC_S_DATA(1, 1, 1),
			VEC_S_BAD_DATA(1, 1, RSOCK_FAULT_FLOOD),
		},
	}, {
		/* that may make more due, or what was due not enough any more */
		.name = "released", .size = 100, .first = 100, .credits = 8,
		.steps = {
			VEC_S_HELD(3, 0),
			VEC_S_RELEASE(2),
			VEC_S_DUE(false),
			VEC_S_RELEASE(1),
			VEC_S_DUE(false),
			VEC_S_COUNTED(1, 0),
			VEC_S_DUE(true),
			VEC_S_TELL(12),
			VEC_S_HELD(8, 0),
			VEC_S_DUE(false),
			VEC_S_RELEASE(1),
			VEC_S_DUE(true),
			VEC_S_TELL(13),
			VEC_S_RELEASE(3),
			VEC_S_DUE(true),
			VEC_S_TELL(16),
			VEC_S_RELEASE(2),
			VEC_S_DUE(false),
			VEC_S_RELEASE(2),
			VEC_S_DUE(true),
			VEC_S_TELL(20),
		},
	}, {
		.name = "kept while the sequence wraps", .size = 100,
		.first = 100, .credits = 0x7000,
		.steps = {
			VEC_S_HELD(0x7000, 0),
			VEC_S_DUE(false),
			VEC_S_RELEASE(0x7000),
			VEC_S_TELL(0xe000),
			VEC_S_HELD(0x7000, 0),
			VEC_S_RELEASE(0x6fff),
			VEC_S_TELL(0x4fff),
			VEC_S_HELD(0x6fff, 0),
			VEC_S_DUE(false),
			VEC_S_HELD(1, RSOCK_FAULT_FLOOD),
			VEC_S_RELEASE(1),
			VEC_S_DUE(true),
			VEC_S_TELL(0x5000),
			VEC_S_RELEASE(0x6fff),
			VEC_S_DUE(true),
			VEC_S_TELL(0xbfff),
		},
	}, {
		.name = "as many kept as can be", .size = 100, .first = 100,
		.credits = 0xfffe,
		.steps = {
			VEC_S_HELD(0xfffe, 0),
			VEC_S_DUE(false),
			VEC_S_HELD(1, RSOCK_FAULT_FLOOD),
			VEC_S_TELL(0xfffe),
			VEC_S_RELEASE(1),
			VEC_S_DUE(true),
			VEC_S_TELL(0xffff),
			VEC_S_HELD(1, 0),
			VEC_S_DUE(false),
			VEC_S_RELEASE(0xfffe),
			VEC_S_DUE(true),
			VEC_S_TELL(0xfffd),
			VEC_S_COUNTED(0xffff, RSOCK_FAULT_FLOOD),
		},
	}, {
		.name = "entries 1 0 1 0", .size = 1000, .first = 1,
		.credits = 1000,
		.steps = {
			VEC_S_RXGRANT(1, 1),
			VEC_S_GRANTABLE(0, 0),
			VEC_S_DATA(1, 1, 0),
			VEC_S_GRANTABLE(998, 2),
			VEC_S_RXGRANT(1, 0),
			VEC_S_DATA(1, 1, 1),
			VEC_S_RXGRANT(1, 1),
			VEC_S_DATA(2, 1, 3),
			VEC_S_RXGRANT(1, 0),
			VEC_S_RXGRANT(1, 1),
			VEC_S_GRANTABLE(0, 0),
		},
	}, {
		.name = "entries 1 2 0 1 2, of three", .size = 1000, .first = 1,
		.credits = 1000, .entries = 3,
		.steps = {
			VEC_S_RXGRANT(1, 1),
			VEC_S_GRANTABLE(0, 0),
			VEC_S_DATA(1, 1, 0),
			VEC_S_RXGRANT(1, 2),
			VEC_S_DATA(1, 1, 1),
			VEC_S_RXGRANT(1, 0),
			VEC_S_DATA(1, 1, 2),
			VEC_S_RXGRANT(1, 1),
			VEC_S_DATA(1, 1, 3),
			VEC_S_RXGRANT(1, 2),
		},
	}, {
		.name = "ring wraps", .size = 10, .first = 6, .credits = 100,
		.steps = {
			VEC_S_GRANTABLE(4, 6),
			VEC_S_DATA(1, 6, 0),
			VEC_S_GRANTABLE(4, 6),
			VEC_S_CONSUME(1, 5),
			/* contiguous: up to the end of the ring, no further */
			VEC_S_GRANTABLE(4, 6),
			VEC_S_RXGRANT(4, 1),
			VEC_S_GRANTABLE(5, 0),
			VEC_S_RXGRANT(5, 0),
			VEC_S_GRANTABLE(0, 0),
			VEC_S_DATA(1, 4, 6),
			/* full: nothing to grant though an entry is unused */
			VEC_S_GRANTABLE(0, 5),
			VEC_S_BAD_DATA(1, 6, RSOCK_FAULT_OVERRUN),
			VEC_S_DATA(1, 2, 0),
			VEC_S_DATA(1, 3, 2),
			VEC_S_BAD_DATA(1, 1, RSOCK_FAULT_OVERRUN),
			VEC_S_GRANTABLE(0, 5),
			VEC_S_CONSUME(1, 1),
			VEC_S_GRANTABLE(1, 5),
			VEC_S_CONSUME(1, 4),
			VEC_S_GRANTABLE(5, 5),
			VEC_S_CONSUME(1, 5),
			VEC_S_GRANTABLE(5, 5),
			VEC_S_RXGRANT(5, 1),
			VEC_S_GRANTABLE(5, 0),
			VEC_S_DATA(1, 5, 5),
			VEC_S_CONSUME(1, 5),
			VEC_S_GRANTABLE(10, 0),
			VEC_S_RXGRANT(10, 0),
			VEC_S_GRANTABLE(0, 0),
			VEC_S_DATA(1, 10, 0),
			VEC_S_GRANTABLE(0, 0),
			VEC_S_CONSUME(1, 10),
			VEC_S_GRANTABLE(10, 0),
		},
	}, {
		.name = "ring of one byte", .size = 1, .first = 1, .credits = 9,
		.steps = {
			VEC_S_GRANTABLE(0, 0),
			VEC_S_DATA(1, 1, 0),
			VEC_S_GRANTABLE(0, 0),
			VEC_S_CONSUME(1, 1),
			VEC_S_GRANTABLE(1, 0),
			VEC_S_RXGRANT(1, 1),
			VEC_S_DATA(1, 1, 0),
			VEC_S_CONSUME(1, 1),
			VEC_S_RXGRANT(1, 0),
		},
	}, {
		.name = "largest ring", .size = 0x80000000, .first = 0x80000000,
		.credits = 9,
		.steps = {
			VEC_S_GRANTABLE(0, 0),
			VEC_S_DATA(4, 0x1fffffff, 0x5ffffffd),
			VEC_S_DATA(1, 3, 0x7ffffffc),
			VEC_S_DATA(1, 1, 0x7fffffff),
			VEC_S_GRANTABLE(0, 0),
			VEC_S_CONSUME(1, 0x7fffffff),
			VEC_S_GRANTABLE(0x7fffffff, 0),
			VEC_S_RXGRANT(0x7fffffff, 1),
			VEC_S_GRANTABLE(0, 0x7fffffff),
			VEC_S_CONSUME(1, 1),
			VEC_S_GRANTABLE(1, 0x7fffffff),
			VEC_S_RXGRANT(1, 0),
		},
	}, {
		.name = "unread bytes", .size = 10, .first = 10, .credits = 9,
		.steps = {
			VEC_S_UNREAD(0, 0, 0),
			VEC_S_DATA(1, 10, 0),
			VEC_S_UNREAD(0, 10, 0),
			VEC_S_UNREAD(1, 9, 1),
			VEC_S_UNREAD(9, 1, 9),
			VEC_S_UNREAD(10, 0, 0),
			VEC_S_UNREAD(0xffffffff, 0, 0),
			VEC_S_CONSUME(1, 6),
			VEC_S_RXGRANT(6, 1),
			VEC_S_DATA(1, 5, 0),
			VEC_S_UNREAD(0, 4, 6),
			VEC_S_UNREAD(3, 1, 9),
			VEC_S_UNREAD(4, 5, 0),
			VEC_S_UNREAD(8, 1, 4),
			VEC_S_UNREAD(9, 0, 0),
			VEC_S_CONSUME(1, 9),
			VEC_S_UNREAD(0, 0, 0),
		},
	}, {
		.name = "grown before anything came", .size = 10, .first = 6,
		.credits = 100,
		.steps = {
			VEC_S_GROW(20),
			VEC_S_UNREAD(0, 0, 0),
			VEC_S_GRANTABLE(20, 10),
			VEC_S_RXGRANT(12, 1),
			VEC_S_GRANTABLE(0, 0),
			/* what is left of the first ring, and a byte or all */
			VEC_S_BAD_DATA(1, 7, RSOCK_FAULT_OVERRUN),
			VEC_S_BAD_DATA(1, 18, RSOCK_FAULT_OVERRUN),
			VEC_S_DATA(1, 4, 0),
			VEC_S_BAD_DATA(1, 3, RSOCK_FAULT_OVERRUN),
			VEC_S_BAD_DATA(1, 12, RSOCK_FAULT_OVERRUN),
			VEC_S_DATA(1, 2, 4),
			VEC_S_GRANTABLE(8, 22),
			VEC_S_BAD_DATA(1, 13, RSOCK_FAULT_OVERRUN),
			VEC_S_DATA(1, 12, 10),
			VEC_S_BAD_DATA(1, 1, RSOCK_FAULT_OVERRUN),
			VEC_S_UNREAD(0, 6, 0),
			VEC_S_UNREAD(5, 1, 5),
			VEC_S_UNREAD(6, 12, 10),
			VEC_S_UNREAD(7, 11, 11),
			VEC_S_UNREAD(17, 1, 21),
			VEC_S_UNREAD(18, 0, 0),
			VEC_S_UNREAD(0xffffffff, 0, 0),
			VEC_S_CONSUME(1, 6),
			VEC_S_UNREAD(0, 12, 10),
			VEC_S_GRANTABLE(8, 22),
			VEC_S_RXGRANT(8, 0),
			VEC_S_GRANTABLE(0, 0),
			VEC_S_CONSUME(1, 12),
			VEC_S_GRANTABLE(12, 10),
		},
	}, {
		.name = "grown while empty", .size = 10, .first = 6,
		.credits = 100,
		.steps = {
			VEC_S_DATA(1, 6, 0),
			VEC_S_CONSUME(1, 6),
			VEC_S_GRANTABLE(4, 6),
			VEC_S_GROW(3),
			VEC_S_GRANTABLE(3, 10),
			VEC_S_BAD_DATA(1, 1, RSOCK_FAULT_OVERRUN),
			VEC_S_RXGRANT(3, 1),
			VEC_S_GRANTABLE(0, 0),
			VEC_S_DATA(1, 2, 10),
			VEC_S_UNREAD(0, 2, 10),
			VEC_S_DATA(1, 1, 12),
			VEC_S_UNREAD(1, 2, 11),
			VEC_S_CONSUME(1, 2),
			VEC_S_GRANTABLE(2, 10),
			VEC_S_RXGRANT(2, 0),
			VEC_S_DATA(1, 2, 10),
			VEC_S_UNREAD(0, 1, 12),
			VEC_S_UNREAD(1, 2, 10),
			VEC_S_UNREAD(3, 0, 0),
			VEC_S_CONSUME(1, 3),
			VEC_S_GRANTABLE(1, 12),
		},
	}, {
		.name = "grown while full", .size = 10, .first = 10,
		.credits = 100,
		.steps = {
			VEC_S_DATA(1, 10, 0),
			VEC_S_GRANTABLE(0, 0),
			VEC_S_GROW(5),
			VEC_S_GRANTABLE(5, 10),
			VEC_S_UNREAD(0, 10, 0),
			VEC_S_UNREAD(10, 0, 0),
			VEC_S_RXGRANT(5, 1),
			VEC_S_DATA(1, 5, 10),
			VEC_S_GRANTABLE(0, 0),
			/* of both */
			VEC_S_CONSUME(1, 13),
			VEC_S_UNREAD(0, 2, 13),
			VEC_S_GRANTABLE(3, 10),
			VEC_S_RXGRANT(3, 0),
			VEC_S_DATA(1, 3, 10),
			VEC_S_GRANTABLE(0, 0),
			VEC_S_UNREAD(0, 2, 13),
			VEC_S_UNREAD(2, 3, 10),
			VEC_S_CONSUME(1, 5),
			VEC_S_GRANTABLE(2, 13),
		},
	}, {
		.name = "grown while wrapped", .size = 10, .first = 10,
		.credits = 100,
		.steps = {
			VEC_S_DATA(1, 10, 0),
			VEC_S_CONSUME(1, 7),
			VEC_S_RXGRANT(7, 1),
			VEC_S_DATA(1, 5, 0),
			VEC_S_GROW(6),
			VEC_S_UNREAD(0, 3, 7),
			VEC_S_UNREAD(3, 5, 0),
			VEC_S_GRANTABLE(6, 10),
			VEC_S_RXGRANT(4, 0),
			VEC_S_BAD_DATA(1, 3, RSOCK_FAULT_OVERRUN),
			VEC_S_DATA(1, 2, 5),
			VEC_S_GRANTABLE(2, 14),
			VEC_S_RXGRANT(2, 1),
			VEC_S_BAD_DATA(1, 6, RSOCK_FAULT_OVERRUN),
			VEC_S_DATA(1, 4, 10),
			VEC_S_DATA(1, 2, 14),
			VEC_S_GRANTABLE(0, 0),
			VEC_S_UNREAD(2, 1, 9),
			VEC_S_UNREAD(3, 7, 0),
			VEC_S_UNREAD(9, 1, 6),
			VEC_S_UNREAD(10, 6, 10),
			VEC_S_UNREAD(15, 1, 15),
			VEC_S_UNREAD(16, 0, 0),
			/* the end of the first ring, its begin, the second */
			VEC_S_CONSUME(1, 11),
			VEC_S_UNREAD(0, 5, 11),
			VEC_S_GRANTABLE(1, 10),
			VEC_S_RXGRANT(1, 0),
			VEC_S_DATA(1, 1, 10),
			VEC_S_UNREAD(4, 1, 15),
			VEC_S_UNREAD(5, 1, 10),
		},
	}, {
		.name = "grown with two grants under way", .size = 10,
		.first = 5, .credits = 100,
		.steps = {
			VEC_S_RXGRANT(4, 1),
			VEC_S_GROW(3),
			VEC_S_GRANTABLE(0, 0),
			VEC_S_DATA(1, 5, 0),
			VEC_S_GRANTABLE(3, 10),
			VEC_S_RXGRANT(3, 0),
			VEC_S_BAD_DATA(1, 5, RSOCK_FAULT_OVERRUN),
			VEC_S_BAD_DATA(1, 7, RSOCK_FAULT_OVERRUN),
			VEC_S_DATA(2, 1, 6),
			/* read before the rest of it came */
			VEC_S_CONSUME(1, 7),
			VEC_S_UNREAD(0, 0, 0),
			VEC_S_GRANTABLE(0, 0),
			VEC_S_DATA(1, 2, 7),
			VEC_S_UNREAD(0, 2, 7),
			VEC_S_DATA(1, 3, 10),
			VEC_S_UNREAD(2, 3, 10),
		},
	}, {
		.name = "rings of one byte", .size = 1, .first = 1,
		.credits = 100,
		.steps = {
			VEC_S_GROW(1),
			VEC_S_GRANTABLE(1, 1),
			VEC_S_RXGRANT(1, 1),
			VEC_S_BAD_DATA(1, 2, RSOCK_FAULT_OVERRUN),
			VEC_S_DATA(2, 1, 1),
			VEC_S_GRANTABLE(0, 0),
			VEC_S_UNREAD(0, 1, 0),
			VEC_S_UNREAD(1, 1, 1),
			VEC_S_UNREAD(2, 0, 0),
			VEC_S_CONSUME(1, 2),
			VEC_S_GRANTABLE(1, 1),
			VEC_S_RXGRANT(1, 0),
			VEC_S_GRANTABLE(0, 0),
			VEC_S_DATA(1, 1, 1),
			VEC_S_CONSUME(1, 1),
			VEC_S_RXGRANT(1, 1),
		},
	}, {
		/* as large as they may be: an offset of both has 32 bits */
		.name = "largest rings", .size = 0x80000000,
		.first = 0x1fffffff, .credits = 100,
		.steps = {
			VEC_S_GROW(0x7fffffff),
			VEC_S_GRANTABLE(0x7fffffff, 0x80000000),
			VEC_S_RXGRANT(0x7fffffff, 1),
			VEC_S_DATA(1, 0x1fffffff, 0),
			VEC_S_DATA(4, 0x1fffffff, 0xdffffffd),
			VEC_S_DATA(1, 2, 0xfffffffc),
			VEC_S_DATA(1, 1, 0xfffffffe),
			VEC_S_UNREAD(0x1fffffff, 0x7fffffff, 0x80000000),
			VEC_S_UNREAD(0x9ffffffd, 1, 0xfffffffe),
			VEC_S_UNREAD(0x9ffffffe, 0, 0),
			VEC_S_CONSUME(1, 0x9ffffffd),
			VEC_S_UNREAD(0, 1, 0xfffffffe),
			VEC_S_GRANTABLE(0x7ffffffe, 0x80000000),
			VEC_S_RXGRANT(0x7ffffffe, 0),
			VEC_S_CONSUME(1, 1),
			VEC_S_GRANTABLE(1, 0xfffffffe),
		},
	}, {
		.name = "message that spans two grants", .size = 100,
		.first = 50, .credits = 100, .features = RSOCK_FEAT_SPAN,
		.entries = 2,
		.steps = {
			VEC_S_BAD_DATA(1, 51, RSOCK_FAULT_OVERRUN),
			VEC_S_RXGRANT(50, 1),
			VEC_S_BAD_DATA(1, 101, RSOCK_FAULT_OVERRUN),
			VEC_S_DATA(1, 40, 0),
			VEC_S_BAD_DATA(1, 61, RSOCK_FAULT_OVERRUN),
			VEC_S_DATA(1, 59, 40),
			VEC_S_CONSUME(1, 99),
			VEC_S_RXGRANT(50, 0),
			/* the ring's end is no span */
			VEC_S_BAD_DATA(1, 2, RSOCK_FAULT_OVERRUN),
			VEC_S_DATA(1, 1, 99),
			VEC_S_RXGRANT(30, 1),
			/* nor are two rings */
			VEC_S_DATA(1, 80, 0),
			VEC_S_CONSUME(1, 81),
			VEC_S_RXGRANT(20, 0),
			VEC_S_GROW(10),
			VEC_S_RXGRANT(10, 1),
			VEC_S_BAD_DATA(1, 21, RSOCK_FAULT_OVERRUN),
			VEC_S_DATA(1, 20, 80),
			VEC_S_DATA(1, 10, 100),
			VEC_S_BAD_DATA(1, 1, RSOCK_FAULT_OVERRUN),
		},
	}, {
		.name = "no span by a peer that does not know", .size = 100,
		.first = 50, .credits = 100, .entries = 2,
		.features = RSOCK_FEATURES & ~RSOCK_FEAT_SPAN,
		.steps = {
			VEC_S_RXGRANT(50, 1),
			VEC_S_BAD_DATA(1, 51, RSOCK_FAULT_OVERRUN),
			VEC_S_DATA(1, 50, 0),
		},
	},
};

#endif /* _RSOCK_VECTORS_H */
