// SPDX-License-Identifier: GPL-2.0
/*
 * Encoding, decoding and validation of what crosses the wire. See wire.h.
 *
 * Three things do: the private data of the connection handshake (big endian,
 * whatever the hosts are), the 32-bit immediate of each message, and the
 * entries that the peer writes into our tables and we into its (in the order
 * of the host that owns the table).
 */

#include "wire.h"

#include <linux/string.h>
#include <linux/swab.h>

static void put_be16(u8 *p, u16 v)
{
	p[0] = v >> 8;
	p[1] = (u8)v;
}

static void put_be32(u8 *p, u32 v)
{
	put_be16(p, v >> 16);
	put_be16(p + 2, (u16)v);
}

static void put_be64(u8 *p, u64 v)
{
	put_be32(p, v >> 32);
	put_be32(p + 4, (u32)v);
}

static u16 get_be16(const u8 *p)
{
	return (u16)(p[0] << 8 | p[1]);
}

static u32 get_be32(const u8 *p)
{
	return (u32)get_be16(p) << 16 | get_be16(p + 2);
}

static u64 get_be64(const u8 *p)
{
	return (u64)get_be32(p) << 32 | get_be32(p + 4);
}

/* Does [addr, addr + len) leave the address space? */
static bool range_wraps(u64 addr, u64 len)
{
	return addr + len < addr;
}

/**
 * rsock_scale_encode() - squeeze a table size into eight bits
 * @value: 0..32512; anything between the values that decode gives is rounded
 *	down to one of them
 *
 * The code of rsockets: up to 128 as it is, above in units of 256.
 */
u8 rsock_scale_encode(u16 value)
{
	if (value <= 128)
		return (u8)value;
	if (value < 256)
		return 128;
	if (value > 0x7f00)
		return 0xff;
	return 0x80 | value >> 8;
}

/**
 * rsock_scale_decode() - the table size that a peer's code stands for
 * @code: any
 *
 * Return: 0..128, or a multiple of 256 up to 32512.
 */
u16 rsock_scale_decode(u8 code)
{
	return code <= 128 ? code : (code & 0x7f) << 8;
}

static void conn_sge_encode(const struct rsock_sge *sge, u8 *p)
{
	put_be64(p, sge->addr);
	put_be32(p + 8, sge->key);
	put_be32(p + 12, sge->len);
}

static void conn_sge_decode(const u8 *p, struct rsock_sge *sge)
{
	sge->addr = get_be64(p);
	sge->key = get_be32(p + 8);
	sge->len = get_be32(p + 12);
}

/**
 * rsock_conn_encode() - write connection data
 * @conn: what to tell the peer; the extension block is written if has_ext
 * @buf: room for RSOCK_CONN_EXT_LEN bytes, all of which are written
 *
 * Return: how many bytes to send, RSOCK_CONN_LEN or RSOCK_CONN_EXT_LEN.
 */
size_t rsock_conn_encode(const struct rsock_conn *conn, u8 *buf)
{
	memset(buf, 0, RSOCK_CONN_EXT_LEN);
	buf[0] = RSOCK_CONN_VERSION;
	buf[1] = conn->flags;
	put_be16(buf + 2, conn->credits);
	buf[7] = rsock_scale_encode(conn->iomap_slots);
	conn_sge_encode(&conn->sgl, buf + 8);
	conn_sge_encode(&conn->buf, buf + 24);
	if (!conn->has_ext)
		return RSOCK_CONN_LEN;

	put_be32(buf + 40, RSOCK_EXT_MAGIC);
	buf[44] = RSOCK_EXT_VERSION;
	put_be32(buf + 48, conn->ext_features);
	return RSOCK_CONN_EXT_LEN;
}

/*
 * The tables that the peer offers: SGL entries, and iomap entries behind them.
 * Our writes go where these say, so the whole of it must be addressable.
 */
static bool conn_tables_valid(const struct rsock_conn *conn)
{
	u64 bytes = (u64)conn->sgl.len * RSOCK_SGE_LEN +
		    (u64)conn->iomap_slots * RSOCK_IOMAP_LEN;

	return conn->sgl.len >= RSOCK_SGL_ENTRIES &&
	       conn->sgl.len <= RSOCK_SGL_MAX &&
	       !range_wraps(conn->sgl.addr, bytes);
}

/**
 * rsock_conn_decode() - read and check connection data
 * @buf: private data of the REQ or REP
 * @len: its length; transports that pad it with zeroes are welcome
 * @conn: filled on success
 *
 * Unknown flags and reserved bytes are ignored, as rsockets does. An extension
 * block of another magic or version counts as absent.
 *
 * Return: 0 or an RSOCK_FAULT_CONN_*.
 */
int rsock_conn_decode(const u8 *buf, size_t len, struct rsock_conn *conn)
{
	struct rsock_conn c = {};

	if (len < RSOCK_CONN_LEN)
		return RSOCK_FAULT_CONN_SHORT;
	if (buf[0] != RSOCK_CONN_VERSION)
		return RSOCK_FAULT_CONN_VERSION;

	c.flags = buf[1];
	c.credits = get_be16(buf + 2);
	if (c.flags & RSOCK_CONN_F_IOMAP)
		c.iomap_slots = rsock_scale_decode(buf[7]);
	conn_sge_decode(buf + 8, &c.sgl);
	conn_sge_decode(buf + 24, &c.buf);
	if (!conn_tables_valid(&c))
		return RSOCK_FAULT_CONN_SGL;
	if (!c.buf.len || range_wraps(c.buf.addr, c.buf.len))
		return RSOCK_FAULT_CONN_BUF;

	if (len >= RSOCK_CONN_EXT_LEN &&
	    get_be32(buf + 40) == RSOCK_EXT_MAGIC &&
	    buf[44] == RSOCK_EXT_VERSION) {
		c.has_ext = true;
		c.ext_features = get_be32(buf + 48);
	}
	*conn = c;
	return RSOCK_FAULT_NONE;
}

/**
 * rsock_msg_encode() - the immediate of a message, in host order
 * @op: what it is
 * @value: up to RSOCK_MSG_VALUE_MAX
 */
u32 rsock_msg_encode(enum rsock_op op, u32 value)
{
	return (u32)op << RSOCK_MSG_VALUE_BITS | (value & RSOCK_MSG_VALUE_MAX);
}

/**
 * rsock_msg_decode() - read and check the immediate of a message
 * @imm: the immediate, in host order
 * @byte_len: bytes that were written along with it, or RSOCK_LEN_UNKNOWN
 * @iomap_slots: size of our own iomap table
 * @msg: filled on success
 *
 * Only what can be judged without the state of the connection is judged here;
 * win.c does the rest. A control code that we do not know is no fault.
 *
 * Return: 0, RSOCK_FAULT_OP, RSOCK_FAULT_LENGTH or RSOCK_FAULT_IOMAP.
 */
int rsock_msg_decode(u32 imm, u32 byte_len, u16 iomap_slots,
		     struct rsock_msg *msg)
{
	u32 value = imm & RSOCK_MSG_VALUE_MAX;
	u8 op = imm >> RSOCK_MSG_VALUE_BITS;
	bool known = byte_len != RSOCK_LEN_UNKNOWN;
	u16 code = (u16)value, slot = 0;
	bool sge = false;

	switch (op) {
	case RSOCK_OP_DATA:
	case RSOCK_OP_DATA_MORE:
		if (!value || (known && value != byte_len))
			return RSOCK_FAULT_LENGTH;
		break;
	case RSOCK_OP_SGL:
		if (known && byte_len && byte_len != RSOCK_SGE_LEN)
			return RSOCK_FAULT_LENGTH;
		sge = byte_len;
		/* rsockets adds two 16-bit numbers and may carry */
		value &= 0xffff;
		break;
	case RSOCK_OP_NOTE:
		if (known && byte_len != RSOCK_NOTE_LEN)
			return RSOCK_FAULT_LENGTH;
		break;
	case RSOCK_OP_IOMAP:
		if (known && byte_len != RSOCK_IOMAP_LEN)
			return RSOCK_FAULT_LENGTH;
		if (value >= iomap_slots)
			return RSOCK_FAULT_IOMAP;
		slot = (u16)value;
		break;
	case RSOCK_OP_CTRL:
		if (known && byte_len)
			return RSOCK_FAULT_LENGTH;
		if (code != RSOCK_CTRL_REVOKE && code != RSOCK_CTRL_REVOKED)
			break;
		slot = (u16)(value >> RSOCK_CTRL_SLOT_SHIFT);
		value = code;
		if (code == RSOCK_CTRL_REVOKE && slot >= iomap_slots)
			return RSOCK_FAULT_IOMAP;
		break;
	default:
		return RSOCK_FAULT_OP;
	}
	msg->op = op;
	msg->sge = sge;
	msg->slot = slot;
	msg->value = value;
	return RSOCK_FAULT_NONE;
}

/**
 * rsock_msg_order() - a message between host order and that on the wire, either
 *	way, where it is sent as four bytes
 * @msg: message
 * @swap: the peer's byte order is not ours
 *
 * rsockets sends it in the order of the sender and reads it in its own, so that
 * hosts of different order do not understand each other. Here it is as with
 * table entries: the other host finds its own order.
 */
u32 rsock_msg_order(u32 msg, bool swap)
{
	return swap ? swab32(msg) : msg;
}

/**
 * rsock_sge_encode() - an SGL entry as the peer wants to find it
 * @sge: the buffer to grant
 * @swap: the peer's byte order is not ours
 * @buf: written
 */
void rsock_sge_encode(const struct rsock_sge *sge, bool swap,
		      u8 buf[RSOCK_SGE_LEN])
{
	u64 addr = swap ? swab64(sge->addr) : sge->addr;
	u32 key = swap ? swab32(sge->key) : sge->key;
	u32 len = swap ? swab32(sge->len) : sge->len;

	memcpy(buf, &addr, sizeof(addr));
	memcpy(buf + 8, &key, sizeof(key));
	memcpy(buf + 12, &len, sizeof(len));
}

/**
 * rsock_sge_decode() - read and check an SGL entry that the peer wrote
 * @buf: a copy that the peer cannot change any more
 * @sge: filled on success
 *
 * Return: 0 or RSOCK_FAULT_SGE.
 */
int rsock_sge_decode(const u8 buf[RSOCK_SGE_LEN], struct rsock_sge *sge)
{
	struct rsock_sge s;

	memcpy(&s.addr, buf, sizeof(s.addr));
	memcpy(&s.key, buf + 8, sizeof(s.key));
	memcpy(&s.len, buf + 12, sizeof(s.len));
	if (!s.len || range_wraps(s.addr, s.len))
		return RSOCK_FAULT_SGE;
	*sge = s;
	return RSOCK_FAULT_NONE;
}

/**
 * rsock_iomap_encode() - an iomap entry as the peer wants to find it
 * @e: the entry; all zero for an empty one
 * @swap: the peer's byte order is not ours
 * @buf: written
 */
void rsock_iomap_encode(const struct rsock_iomap_entry *e, bool swap,
			u8 buf[RSOCK_IOMAP_LEN])
{
	u64 offset = swap ? swab64(e->offset) : e->offset;

	memcpy(buf, &offset, sizeof(offset));
	rsock_sge_encode(&e->sge, swap, buf + sizeof(offset));
}

/**
 * rsock_iomap_decode() - read and check an iomap entry that the peer wrote
 * @buf: a copy that the peer cannot change any more
 * @e: filled on success; all zero if the entry is empty
 *
 * Return: 0 or RSOCK_FAULT_IOMAP.
 */
int rsock_iomap_decode(const u8 buf[RSOCK_IOMAP_LEN],
		       struct rsock_iomap_entry *e)
{
	struct rsock_iomap_entry d = {};

	memcpy(&d.offset, buf, sizeof(d.offset));
	memcpy(&d.sge.len, buf + 20, sizeof(d.sge.len));
	if (!d.sge.len) {
		*e = (struct rsock_iomap_entry){};
		return RSOCK_FAULT_NONE;
	}
	if (range_wraps(d.offset, d.sge.len) ||
	    rsock_sge_decode(buf + sizeof(d.offset), &d.sge))
		return RSOCK_FAULT_IOMAP;
	*e = d;
	return RSOCK_FAULT_NONE;
}

/**
 * rsock_note_encode() - a note as the peer wants to find it
 * @note: the note
 * @swap: the peer's byte order is not ours
 * @buf: written
 */
void rsock_note_encode(const struct rsock_note *note, bool swap,
		       u8 buf[RSOCK_NOTE_LEN])
{
	u64 offset = swap ? swab64(note->offset) : note->offset;
	u64 len = swap ? swab64(note->len) : note->len;

	memcpy(buf, &offset, sizeof(offset));
	memcpy(buf + 8, &len, sizeof(len));
}

/**
 * rsock_note_decode() - read and check a note that the peer wrote
 * @buf: a copy that the peer cannot change any more
 * @note: filled on success. What it tells of is the peer's word only
 *
 * Return: 0 or RSOCK_FAULT_NOTE.
 */
int rsock_note_decode(const u8 buf[RSOCK_NOTE_LEN], struct rsock_note *note)
{
	struct rsock_note n;

	memcpy(&n.offset, buf, sizeof(n.offset));
	memcpy(&n.len, buf + 8, sizeof(n.len));
	if (!n.len || n.offset >= RSOCK_NOTES_OFFSET ||
	    n.len > RSOCK_NOTES_OFFSET - n.offset)
		return RSOCK_FAULT_NOTE;
	*note = n;
	return RSOCK_FAULT_NONE;
}
