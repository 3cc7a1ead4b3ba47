/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _RSOCK_WIRE_H
#define _RSOCK_WIRE_H

/*
 * The wire protocol of rsockets: every byte that crosses the wire is encoded,
 * decoded and validated in wire.c and win.c, and nowhere else.
 *
 * Pure code: fixed-width types only, no allocation, no lock, no socket. The
 * same files are compiled into the module, into the KUnit suites and, for unit
 * tests and fuzzing, into user-space programs.
 *
 * A decoder returns 0 and fills its output, or returns one of enum
 * rsock_fault and leaves its output untouched.
 */

#include <linux/types.h>

/* What a peer did wrong. Each has a counter of the same name (mib.c). */
enum rsock_fault {
	RSOCK_FAULT_NONE,
	RSOCK_FAULT_CONN_SHORT,		/* private data shorter than 40 bytes */
	RSOCK_FAULT_CONN_VERSION,	/* protocol version is not 1 */
	RSOCK_FAULT_CONN_SGL,		/* SGL table too small or address overflow */
	RSOCK_FAULT_CONN_BUF,		/* receive buffer empty or address overflow */
	RSOCK_FAULT_OPCODE,		/* completion is not that of a message */
	RSOCK_FAULT_OP,			/* reserved operation in the immediate */
	RSOCK_FAULT_LENGTH,		/* immediate and written length disagree */
	RSOCK_FAULT_OVERRUN,		/* more bytes than were granted */
	RSOCK_FAULT_FLOOD,		/* more messages than were granted */
	RSOCK_FAULT_CREDIT,		/* credit limit moves back or too far */
	RSOCK_FAULT_SGE,		/* granted buffer empty or address overflow */
	RSOCK_FAULT_GRANT,		/* third buffer granted while two are open */
	RSOCK_FAULT_IOMAP,		/* iomap slot outside our table, or overflow */
	RSOCK_FAULT_REVOKED,		/* acknowledges what was not asked */
	RSOCK_FAULT_NOTE,		/* note not asked for, or of nothing */
	__RSOCK_FAULT_MAX
};

/* Connection data: REQ and REP private data */

#define RSOCK_CONN_VERSION	1
#define RSOCK_CONN_F_NET	0x01	/* sender is a big-endian host */
#define RSOCK_CONN_F_IOMAP	0x02	/* byte 7 is valid */
#define RSOCK_CONN_LEN		40	/* what every rsockets peer sends */
#define RSOCK_CONN_EXT_LEN	56	/* with our extension block behind it */

#define RSOCK_EXT_MAGIC		0x72736b78	/* "rskx" */
#define RSOCK_EXT_VERSION	1

#define RSOCK_SGL_ENTRIES	2	/* entries in the target SGL we offer */
#define RSOCK_SGL_MAX		64	/* largest that we accept from a peer */
#define RSOCK_SGE_LEN		16	/* bytes of an SGL entry on the wire */
#define RSOCK_IOMAP_LEN		24	/* bytes of an iomap entry on the wire */
#define RSOCK_IOMAP_MAX		256	/* iomap slots that we offer or use at most */
#define RSOCK_IOMAP_DEFAULT	128	/* what fits into a page with the SGL */

/* Features: in force if both sides say them */
#define RSOCK_FEAT_REVOKE	0x00000001	/* REVOKE and REVOKED are understood */
#define RSOCK_FEAT_NOTE		0x00000002	/* NOTE is understood */
#define RSOCK_FEAT_SPAN		0x00000004	/* a message may span two grants */
#define RSOCK_FEAT_MORE		0x00000008	/* DATA_MORE is understood */
#define RSOCK_FEATURES \
	(RSOCK_FEAT_REVOKE | RSOCK_FEAT_NOTE | RSOCK_FEAT_SPAN | \
	 RSOCK_FEAT_MORE)

/**
 * struct rsock_sge - a buffer at the peer, in host order
 * @addr: address (iova) of its first byte
 * @key: remote key
 * @len: bytes
 */
struct rsock_sge {
	u64 addr;
	u32 key;
	u32 len;
};

/**
 * struct rsock_conn - what one side tells the other when connecting
 * @flags: RSOCK_CONN_F_*
 * @credits: messages that the receiver of this may send at first
 * @iomap_slots: size of the sender's iomap table, in entries
 * @sgl: the sender's target SGL table; len counts entries, not bytes
 * @buf: the first buffer that the receiver of this may write to
 * @has_ext: the extension block is there, and @ext_features is valid
 * @ext_features: feature bits of the extension block
 */
struct rsock_conn {
	u8 flags;
	u16 credits;
	u16 iomap_slots;
	struct rsock_sge sgl;
	struct rsock_sge buf;
	bool has_ext;
	u32 ext_features;
};

size_t rsock_conn_encode(const struct rsock_conn *conn, u8 *buf);
int rsock_conn_decode(const u8 *buf, size_t len, struct rsock_conn *conn);

u8 rsock_scale_encode(u16 value);
u16 rsock_scale_decode(u8 code);

/*
 * Messages: the 32-bit immediate of an RDMA write. Where there is none (iWARP),
 * a SEND of four bytes behind the write.
 */

enum rsock_op {
	RSOCK_OP_DATA	   = 0,	/* value: bytes just written */
	RSOCK_OP_DATA_MORE = 1,	/* ours; likewise, and more follow at once */
	RSOCK_OP_SGL	   = 4,	/* value: credit limit */
	RSOCK_OP_NOTE	   = 5,	/* ours; value: entry of the notes just written */
	RSOCK_OP_IOMAP	   = 6,	/* value: slot just written */
	RSOCK_OP_CTRL	   = 7,	/* value: enum rsock_ctrl */
};

enum rsock_ctrl {
	RSOCK_CTRL_DISCONNECT	= 0,
	RSOCK_CTRL_KEEPALIVE	= 1,
	RSOCK_CTRL_SHUTDOWN	= 2,
	/* Ours, with a slot above RSOCK_CTRL_SLOT_SHIFT */
	RSOCK_CTRL_REVOKE	= 16,	/* of your table: write there no more */
	RSOCK_CTRL_REVOKED	= 17,	/* of my table: nothing more will come */
};

#define RSOCK_CTRL_SLOT_SHIFT	16

#define RSOCK_MSG_VALUE_BITS	29
#define RSOCK_MSG_VALUE_MAX	((1U << RSOCK_MSG_VALUE_BITS) - 1)
#define RSOCK_MSG_LEN		4	/* bytes of a message that is sent */

/* In place of a length: nobody can tell what was written along with a message */
#define RSOCK_LEN_UNKNOWN	0xffffffffU

/**
 * struct rsock_msg - a decoded message
 * @op: enum rsock_op
 * @value: its meaning depends on @op; validated against the written length, but
 *	for RSOCK_OP_NOTE not against the number of entries
 * @sge: RSOCK_OP_SGL only: a buffer was written along with the credit, or may
 *	have been if nobody can tell
 * @slot: of our iomap table, for RSOCK_OP_IOMAP and RSOCK_CTRL_REVOKE; of the
 *	peer's, and not validated, for RSOCK_CTRL_REVOKED; else 0
 */
struct rsock_msg {
	u8 op;
	bool sge;
	u16 slot;
	u32 value;
};

u32 rsock_msg_encode(enum rsock_op op, u32 value);
int rsock_msg_decode(u32 imm, u32 byte_len, u16 iomap_slots,
		     struct rsock_msg *msg);
u32 rsock_msg_order(u32 msg, bool swap);

/* Table entries, in the byte order of the host that owns the table */

void rsock_sge_encode(const struct rsock_sge *sge, bool swap,
		      u8 buf[RSOCK_SGE_LEN]);
int rsock_sge_decode(const u8 buf[RSOCK_SGE_LEN], struct rsock_sge *sge);

/**
 * struct rsock_iomap_entry - memory that its owner lets the other side write
 * @offset: what the other side's program knows its first byte by
 * @sge: where it is; len is 0 in an empty entry
 */
struct rsock_iomap_entry {
	u64 offset;
	struct rsock_sge sge;
};

void rsock_iomap_encode(const struct rsock_iomap_entry *e, bool swap,
			u8 buf[RSOCK_IOMAP_LEN]);
int rsock_iomap_decode(const u8 buf[RSOCK_IOMAP_LEN],
		       struct rsock_iomap_entry *e);

/*
 * Notes. One who wants to be told of each write to its mappings maps memory for
 * this at an offset that no program can map, as many entries as it grants
 * messages. They are written in turn, each with an RSOCK_OP_NOTE that takes a
 * credit, behind the write that it tells of.
 */
#define RSOCK_NOTES_OFFSET	0x8000000000000000ULL
#define RSOCK_NOTE_LEN		16	/* bytes of a note on the wire */

/**
 * struct rsock_note - what a write covered
 * @offset: of its first byte
 * @len: bytes
 */
struct rsock_note {
	u64 offset;
	u64 len;
};

void rsock_note_encode(const struct rsock_note *note, bool swap,
		       u8 buf[RSOCK_NOTE_LEN]);
int rsock_note_decode(const u8 buf[RSOCK_NOTE_LEN], struct rsock_note *note);

#endif /* _RSOCK_WIRE_H */
