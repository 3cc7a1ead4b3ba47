// SPDX-License-Identifier: GPL-2.0
/*
 * Simulation of two hosts and the wires between them. See model.h.
 *
 * A message is posted to a wire; later it is delivered: its payload is written
 * to the receiver's memory, and a completion is queued; later still the
 * receiver polls the completion. What we do is left to wire.c and win.c. What
 * the user-space implementation does is modelled after its description:
 *
 * - a receive buffer of two halves, of which the first is granted at the
 *   start, and then the halves in turn, one per SGL update, whenever the
 *   reader has consumed as many bytes;
 * - messages count as consumed when the reader has read them to the end; it
 *   tells the new limit with each grant, and without a grant after half of its
 *   receive queue; the limit may carry into bit 16;
 * - it fills the entries of its SGL table, read in place, in turn;
 * - an iomap entry takes a credit when sent, but none is given back for one
 *   that it received; so we take none towards it;
 * - at most four control messages are under way.
 *
 * Our ring grows when a random part of the stream has arrived: the second ring
 * is a memory of its own, registered before anything of it is granted.
 *
 * Notes are sent between hosts of our kind only. There is memory for as many as
 * there are credits, and the credit of each is kept until it is read.
 */

#include "model.h"

#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/swab.h>
#include <stdlib.h>

#define IOMAP_SLOTS	4
#define NOTES_ADDR	0x123456000
#define NOTES_KEY	0x8000
#define STUCK		200000		/* steps in which nothing is read */

enum cell {
	CELL_FREE,
	CELL_GRANTED,
	CELL_WRITTEN,
};

struct packet {
	struct packet *next;
	u32 imm;
	u32 len;
	u64 addr;
	u32 key;
	u8 payload[];
};

struct fifo {
	struct packet *first;
	struct packet **last;
};

/* Memory that the peer writes the stream to */
struct ring {
	u64 addr;
	u32 key;
	u32 len;
	u8 *bytes;
	u8 *cells;
	bool used;			/* something was read from it */
};

struct kernel {
	struct rsock_txwin tx;
	struct rsock_rxwin rx;
	u32 grow_at;
	u32 notes_sent;
	u32 notes_arrived;
	u32 notes_read;
};

struct user {
	/* sending */
	u16 sseq;
	u16 slimit;
	u8 target;
	u32 call_left;
	u32 chunk;
	/* receiving */
	u32 *lens;
	u32 lens_head;
	u32 nr_lens;
	u32 read_at;
	u16 rseq;
	u16 rmark;
	u8 remote;
	u32 free_at;
	u32 free_bytes;
	int ctrl;
};

enum action {
	ACT_SEND,
	ACT_DELIVER,
	ACT_POLL,
	ACT_READ,
	ACT_UPDATE,
	ACT_IOMAP,
	ACT_NOTE,
	ACT_READ_NOTE,
	ACT_GROW,
	__ACT_MAX
};

struct host {
	const struct model_host_cfg *cfg;
	struct model *model;
	struct host *peer;
	struct rsock_conn said;		/* by us */
	struct rsock_conn heard;	/* from the peer */
	struct ring ring[2];
	u8 *table;
	u32 table_len;
	u8 *notes;
	u32 notes_len;
	struct fifo wire;		/* towards us */
	struct fifo cq;
	u32 sent;
	u32 arrived;
	u32 read;
	int weight[__ACT_MAX];
	struct kernel k;
	struct user u;
};

struct model {
	struct host host[2];
	u64 rng;
	const char *why;
};

static void fail(struct host *h, const char *why)
{
	if (!h->model->why)
		h->model->why = why;
}

static u32 rnd(struct model *m, u32 below)
{
	m->rng ^= m->rng >> 12;
	m->rng ^= m->rng << 25;
	m->rng ^= m->rng >> 27;
	return (u32)((m->rng * 0x2545f4914f6cdd1dULL) >> 32) % below;
}

static void *zalloc(size_t len)
{
	void *p = calloc(1, len);

	if (!p)
		abort();
	return p;
}

static u8 stream_byte(const struct host *from, u32 pos)
{
	u32 x = pos * 2654435761U + from->cfg->total;

	return x >> 24 ^ x >> 11;
}

static void fifo_push(struct fifo *q, struct packet *p)
{
	p->next = NULL;
	*q->last = p;
	q->last = &p->next;
}

static struct packet *fifo_pop(struct fifo *q)
{
	struct packet *p = q->first;

	if (!p)
		return NULL;
	q->first = p->next;
	if (!q->first)
		q->last = &q->first;
	return p;
}

static void fifo_init(struct fifo *q)
{
	q->first = NULL;
	q->last = &q->first;
}

static void fifo_free(struct fifo *q)
{
	struct packet *p;

	while ((p = fifo_pop(q)))
		free(p);
}

/* Rings */

/* From now on the peer may write to it; which one it means is told by the key */
static void ring_register(struct ring *r, u64 addr, u32 key, u32 len)
{
	*r = (struct ring){
		.addr = addr,
		.key = key,
		.len = len,
		.bytes = zalloc(len),
		.cells = zalloc(len),
	};
}

static void ring_free(struct ring *r)
{
	free(r->bytes);
	free(r->cells);
}

/* The ring of an offset of win.h, and where in it @len bytes lie */
static struct ring *ring_at(struct host *h, u32 *off, u32 len)
{
	struct ring *r = &h->ring[0];

	if (*off >= r->len) {
		*off -= r->len;
		r = &h->ring[1];
	}
	if ((u64)*off + len <= r->len)
		return r;
	fail(h, "offset outside the rings");
	return NULL;
}

static struct ring *ring_by_key(struct host *h, u32 key)
{
	int i;

	for (i = 0; i < 2; i++)
		if (h->ring[i].len && h->ring[i].key == key)
			return &h->ring[i];
	return NULL;
}

/* The wire */

static struct packet *packet(u32 imm, u64 addr, u32 key, u32 len)
{
	struct packet *p = malloc(sizeof(*p) + len);

	if (!p)
		abort();
	p->imm = imm;
	p->addr = addr;
	p->key = key;
	p->len = len;
	return p;
}

static void post_data(struct host *h, enum rsock_op op,
		      const struct rsock_sge *to)
{
	struct packet *p;
	u32 i;

	p = packet(rsock_msg_encode(op, to->len), to->addr, to->key, to->len);
	for (i = 0; i < to->len; i++)
		p->payload[i] = stream_byte(h, h->sent + i);
	h->sent += to->len;
	fifo_push(&h->peer->wire, p);
}

static void post_grant(struct host *h, u32 limit, u32 entry, u32 off, u32 len)
{
	struct ring *r = ring_at(h, &off, len);
	struct rsock_sge sge = { .len = len };
	struct packet *p;
	u32 i;

	if (!r)
		return;
	sge.addr = r->addr + off;
	sge.key = r->key;
	for (i = off; i < off + len; i++) {
		if (r->cells[i] != CELL_FREE) {
			fail(h, "granted what is not free");
			return;
		}
		r->cells[i] = CELL_GRANTED;
	}
	p = packet((u32)RSOCK_OP_SGL << 29 | limit,
		   h->heard.sgl.addr + RSOCK_SGE_LEN * entry, h->heard.sgl.key,
		   RSOCK_SGE_LEN);
	rsock_sge_encode(&sge, h->peer->cfg->foreign, p->payload);
	fifo_push(&h->peer->wire, p);
}

static void post_credit(struct host *h, u32 limit)
{
	fifo_push(&h->peer->wire,
		  packet((u32)RSOCK_OP_SGL << 29 | limit, 0xbad, 0xbad, 0));
}

/* What a host maps to a slot: always the same, as the table is read late */
static struct rsock_iomap_entry iomap_entry(const struct host *from, u32 slot)
{
	struct rsock_iomap_entry e = {
		.offset = 0x100000000ULL * slot + from->cfg->total,
		.sge = { from->said.buf.addr + 0x1000 * slot, 0x7000 + slot,
			 0x1000 },
	};

	if (slot == IOMAP_SLOTS - 1)
		memset(&e, 0, sizeof(e));
	return e;
}

static void post_iomap(struct host *h)
{
	u32 slot = rnd(h->model, h->heard.iomap_slots);
	struct rsock_iomap_entry e = iomap_entry(h, slot);
	struct packet *p;

	p = packet(rsock_msg_encode(RSOCK_OP_IOMAP, slot),
		   h->heard.sgl.addr + RSOCK_SGE_LEN * h->heard.sgl.len +
		   RSOCK_IOMAP_LEN * slot, h->heard.sgl.key, RSOCK_IOMAP_LEN);
	rsock_iomap_encode(&e, h->peer->cfg->foreign, p->payload);
	fifo_push(&h->peer->wire, p);
}

static void place_in_ring(struct host *h, const struct packet *p,
			  struct ring *r)
{
	u64 off = p->addr - r->addr;
	u32 i;

	if (p->addr < r->addr || off + p->len > r->len) {
		fail(h, "written outside the ring");
		return;
	}
	for (i = 0; i < p->len; i++) {
		if (r->cells[off + i] != CELL_GRANTED) {
			fail(h, "written where nothing was granted");
			return;
		}
		r->cells[off + i] = CELL_WRITTEN;
		r->bytes[off + i] = p->payload[i];
	}
}

static void place_in(struct host *h, const struct packet *p, u8 *mem, u32 len,
		     u64 addr)
{
	u64 off = p->addr - addr;

	if (p->addr < addr || off + p->len > len) {
		fail(h, "written outside the table or the notes");
		return;
	}
	memcpy(mem + off, p->payload, p->len);
}

static void deliver(struct host *h)
{
	struct packet *p = fifo_pop(&h->wire);
	struct ring *r;

	if (!p)
		return;
	r = ring_by_key(h, p->key);
	if (p->len && r)
		place_in_ring(h, p, r);
	else if (p->len && p->key == h->said.sgl.key)
		place_in(h, p, h->table, h->table_len, h->said.sgl.addr);
	else if (p->len && p->key == NOTES_KEY)
		place_in(h, p, h->notes, h->notes_len, NOTES_ADDR);
	else if (p->len)
		fail(h, "written with a wrong key");
	if (p->imm >> 29 == RSOCK_OP_SGL)
		h->peer->u.ctrl--;
	fifo_push(&h->cq, p);
}

/* The reader checks its stream, and spoils what it has read */
static void read_ring(struct host *h, u32 off, u32 len)
{
	struct ring *r = ring_at(h, &off, len);
	u32 i;

	if (!r)
		return;
	r->used = true;
	for (i = off; i < off + len; i++) {
		if (r->cells[i] != CELL_WRITTEN) {
			fail(h, "read what was not written");
			return;
		}
		if (r->bytes[i] != stream_byte(h->peer, h->read)) {
			fail(h, "stream is corrupt");
			return;
		}
		r->cells[i] = CELL_FREE;
		r->bytes[i] = 0xee;
		h->read++;
	}
}

/* A host of our kind */

static void kernel_send(struct host *h)
{
	bool more = h->heard.has_ext && rnd(h->model, 2);
	u32 max = min(rsock_txwin_room(&h->k.tx),
			  min(h->cfg->total - h->sent, h->cfg->max_msg));
	struct rsock_sge to;

	if (!max)
		return;
	rsock_txwin_take(&h->k.tx, rnd(h->model, 3) ? max :
			 1 + rnd(h->model, max), &to);
	post_data(h, more ? RSOCK_OP_DATA_MORE : RSOCK_OP_DATA, &to);
}

static int kernel_data(struct host *h, u32 len)
{
	struct ring *r;
	u32 off, i;
	int fault;

	fault = rsock_rxwin_data(&h->k.rx, len, &off);
	if (fault)
		return fault;
	r = ring_at(h, &off, len);
	if (!r)
		return 0;
	for (i = 0; i < len; i++) {
		if (r->cells[off + i] != CELL_WRITTEN ||
		    r->bytes[off + i] != stream_byte(h->peer, h->arrived + i)) {
			fail(h, "arrived elsewhere");
			return 0;
		}
	}
	h->arrived += len;
	return 0;
}

static int kernel_sgl(struct host *h, const struct rsock_msg *msg)
{
	int fault;

	if (msg->sge) {
		fault = rsock_txwin_grant(&h->k.tx, h->table + RSOCK_SGE_LEN *
					  h->k.tx.next_entry);
		if (fault)
			return fault;
	}
	return rsock_txwin_credit(&h->k.tx, msg->value);
}

static int kernel_mapped(struct host *h, u16 slot)
{
	struct rsock_iomap_entry want = iomap_entry(h->peer, slot), e;
	int fault;

	fault = rsock_rxwin_counted(&h->k.rx);
	if (!fault)
		fault = rsock_iomap_decode(h->table +
					   RSOCK_SGE_LEN * h->said.sgl.len +
					   RSOCK_IOMAP_LEN * slot, &e);
	if (!fault && (e.offset != want.offset ||
		       e.sge.addr != want.sge.addr ||
		       e.sge.key != want.sge.key || e.sge.len != want.sge.len))
		fail(h, "another iomap entry than was sent");
	return fault;
}

static struct rsock_note nth_note(const struct host *from, u32 n)
{
	return (struct rsock_note){ n * 0x100000000ULL, from->cfg->total + n };
}

static int kernel_noted(struct host *h, u32 entry)
{
	struct rsock_note want = nth_note(h->peer, h->k.notes_arrived), note;
	int fault;

	fault = rsock_rxwin_counted(&h->k.rx);
	if (!fault)
		fault = rsock_note_decode(h->notes + RSOCK_NOTE_LEN * entry,
					  &note);
	if (fault)
		return fault;
	if (note.offset != want.offset || note.len != want.len)
		fail(h, "another note than was sent");
	rsock_rxwin_hold(&h->k.rx);
	h->k.notes_arrived++;
	if (h->k.notes_arrived - h->k.notes_read > h->cfg->credits)
		fail(h, "more notes than credits");
	return 0;
}

static void kernel_poll(struct host *h)
{
	struct packet *p = fifo_pop(&h->cq);
	struct rsock_msg msg;
	int fault;

	if (!p)
		return;
	fault = rsock_msg_decode(p->imm, p->len, IOMAP_SLOTS, &msg);
	if (!fault) {
		if (msg.op == RSOCK_OP_DATA || msg.op == RSOCK_OP_DATA_MORE)
			fault = kernel_data(h, msg.value);
		else if (msg.op == RSOCK_OP_SGL)
			fault = kernel_sgl(h, &msg);
		else if (msg.op == RSOCK_OP_IOMAP)
			fault = kernel_mapped(h, msg.slot);
		else if (msg.op == RSOCK_OP_NOTE)
			fault = kernel_noted(h, msg.value);
	}
	if (fault)
		fail(h, "false fault");
	free(p);
}

static void kernel_read(struct host *h)
{
	u32 len = rsock_rxwin_avail(&h->k.rx);
	u32 done, n, off;

	if (!len)
		return;
	if (rnd(h->model, 2))
		len = 1 + rnd(h->model, len);
	for (done = 0; done < len; done += n) {
		n = min(len - done, rsock_rxwin_unread(&h->k.rx, done, &off));
		if (!n) {
			fail(h, "less unread than there is");
			return;
		}
		read_ring(h, off, n);
	}
	rsock_rxwin_consume(&h->k.rx, len);
}

static void kernel_update(struct host *h)
{
	struct rsock_rxwin *w = &h->k.rx;
	u32 off, len;
	u16 entry;

	len = rsock_rxwin_grantable(w, &off);
	if (len && (h->cfg->eager || !rsock_rxwin_granted(w) ||
		    off + len == rsock_rxwin_size(w) ||
		    len >= w->ring[w->to].size / 2)) {
		if (h->cfg->small_grants)
			len = 1 + rnd(h->model, len);
		entry = rsock_rxwin_grant(w, len);
		post_grant(h, rsock_rxwin_tell(w), entry, off, len);
		return;
	}
	if (!rsock_rxwin_credit_due(w))
		return;
	post_credit(h, rsock_rxwin_tell(w));
}

/* The second ring has the same address, as each endpoint's memory has */
static void kernel_grow(struct host *h)
{
	if (h->ring[1].len || h->arrived < h->k.grow_at)
		return;
	ring_register(&h->ring[1], h->ring[0].addr, h->ring[0].key + 0x100,
		      h->cfg->grow);
	rsock_rxwin_grow(&h->k.rx, h->cfg->grow);
}

/* Peers that do not give back the credit of an iomap entry must not lose it */
static void kernel_iomap(struct host *h)
{
	if (h->peer->cfg->kind == MODEL_KERNEL &&
	    !rsock_txwin_counted(&h->k.tx))
		return;
	post_iomap(h);
}

static void kernel_note(struct host *h)
{
	struct rsock_note note = nth_note(h, h->k.notes_sent);
	u32 entry = h->k.notes_sent % h->peer->cfg->credits;
	struct packet *p;

	if (h->peer->cfg->kind != MODEL_KERNEL ||
	    !rsock_txwin_counted(&h->k.tx))
		return;
	h->k.notes_sent++;
	p = packet(rsock_msg_encode(RSOCK_OP_NOTE, entry),
		   NOTES_ADDR + RSOCK_NOTE_LEN * entry, NOTES_KEY,
		   RSOCK_NOTE_LEN);
	rsock_note_encode(&note, false, p->payload);
	fifo_push(&h->peer->wire, p);
}

static void kernel_read_note(struct host *h)
{
	if (h->k.notes_read == h->k.notes_arrived)
		return;
	h->k.notes_read++;
	rsock_rxwin_release(&h->k.rx);
}

/* A host as in user space */

static struct rsock_sge user_entry(const struct host *h, int i)
{
	struct rsock_sge s;

	memcpy(&s.addr, h->table + RSOCK_SGE_LEN * i, 8);
	memcpy(&s.key, h->table + RSOCK_SGE_LEN * i + 8, 4);
	memcpy(&s.len, h->table + RSOCK_SGE_LEN * i + 12, 4);
	if (h->cfg->foreign) {
		s.addr = swab64(s.addr);
		s.key = swab32(s.key);
		s.len = swab32(s.len);
	}
	return s;
}

static void user_set_entry(struct host *h, int i, const struct rsock_sge *s)
{
	rsock_sge_encode(s, h->cfg->foreign, h->table + RSOCK_SGE_LEN * i);
}

static bool user_can_send(const struct host *h)
{
	return h->u.sseq != h->u.slimit && user_entry(h, h->u.target).len;
}

static void user_send(struct host *h)
{
	struct user *u = &h->u;
	struct rsock_sge e = user_entry(h, u->target);
	struct rsock_sge to = e;

	if (h->sent == h->cfg->total || !user_can_send(h))
		return;
	if (!u->call_left) {
		u->call_left = 1 + rnd(h->model, h->cfg->total - h->sent);
		u->chunk = 2048;
	}
	to.len = min(min(u->chunk, u->call_left),
			 min(e.len, h->cfg->max_msg));
	if (u->chunk < u->call_left && u->chunk < 65536)
		u->chunk *= 2;
	u->sseq++;
	u->call_left -= to.len;
	e.addr += to.len;
	e.len -= to.len;
	user_set_entry(h, u->target, &e);
	if (!e.len)
		u->target = (u->target + 1) % h->said.sgl.len;
	post_data(h, RSOCK_OP_DATA, &to);
}

static void user_poll(struct host *h)
{
	struct packet *p = fifo_pop(&h->cq);
	struct user *u = &h->u;

	if (!p)
		return;
	if (p->imm >> 29 == RSOCK_OP_DATA) {
		if (!p->imm || u->nr_lens == h->cfg->credits)
			fail(h, "user-space peer loses messages");
		else
			u->lens[(u->lens_head + u->nr_lens++) %
				h->cfg->credits] = p->imm;
	} else if (p->imm >> 29 == RSOCK_OP_SGL) {
		u->slimit = p->imm & 0xffff;
	}
	free(p);
}

static void user_read(struct host *h)
{
	struct user *u = &h->u;
	u32 len;

	if (!u->nr_lens)
		return;
	len = u->lens[u->lens_head];
	if (rnd(h->model, 2))
		len = 1 + rnd(h->model, len);
	read_ring(h, u->read_at, len);
	u->read_at = (u->read_at + len) % h->cfg->ring;
	u->free_bytes += len;
	u->lens[u->lens_head] -= len;
	if (!u->lens[u->lens_head]) {
		u->lens_head = (u->lens_head + 1) % h->cfg->credits;
		u->nr_lens--;
		u->rseq++;
	}
}

static void user_update(struct host *h)
{
	u32 limit = (u32)h->u.rseq + h->cfg->credits;
	u32 half = h->cfg->ring / 2;
	struct user *u = &h->u;

	if (u->ctrl >= 4 ||
	    (u->free_bytes < half && (short)(u->rseq - u->rmark) < 0))
		return;
	u->ctrl++;
	u->rmark = u->rseq + h->cfg->credits / 2;
	if (u->free_bytes < half) {
		post_credit(h, limit);
		return;
	}
	post_grant(h, limit, u->remote, u->free_at, half);
	u->remote = (u->remote + 1) % h->heard.sgl.len;
	u->free_bytes -= half;
	u->free_at = u->free_at ? 0 : half;
}

static void user_iomap(struct host *h)
{
	if (h->peer->cfg->kind == MODEL_USER || !user_can_send(h))
		return;
	h->u.sseq++;
	post_iomap(h);
}

static void user_nothing(struct host *h)
{
	(void)h;
}

static void (* const actions[][__ACT_MAX])(struct host *h) = {
	[MODEL_KERNEL] = {
		[ACT_SEND] = kernel_send,
		[ACT_DELIVER] = deliver,
		[ACT_POLL] = kernel_poll,
		[ACT_READ] = kernel_read,
		[ACT_UPDATE] = kernel_update,
		[ACT_IOMAP] = kernel_iomap,
		[ACT_NOTE] = kernel_note,
		[ACT_READ_NOTE] = kernel_read_note,
		[ACT_GROW] = kernel_grow,
	},
	[MODEL_USER] = {
		[ACT_SEND] = user_send,
		[ACT_DELIVER] = deliver,
		[ACT_POLL] = user_poll,
		[ACT_READ] = user_read,
		[ACT_UPDATE] = user_update,
		[ACT_IOMAP] = user_iomap,
		[ACT_NOTE] = user_nothing,
		[ACT_READ_NOTE] = user_nothing,
		[ACT_GROW] = user_nothing,
	},
};

/* Setting up */

static void host_init(struct host *h, struct model *m, int i,
		      const struct model_host_cfg *cfg)
{
	u32 first = cfg->kind == MODEL_USER ? cfg->ring / 2 : cfg->first;
	u8 entries = cfg->entries ?: RSOCK_SGL_ENTRIES;

	h->cfg = cfg;
	h->model = m;
	h->peer = &m->host[!i];
	ring_register(&h->ring[0], 0x7f0000000000ULL * (i + 1), 0x6000 + i,
		      cfg->ring);
	memset(h->ring[0].cells, CELL_GRANTED, first);
	h->table_len = RSOCK_SGE_LEN * entries + RSOCK_IOMAP_LEN * IOMAP_SLOTS;
	h->table = zalloc(h->table_len);
	h->notes_len = RSOCK_NOTE_LEN * cfg->credits;
	h->notes = zalloc(h->notes_len);
	fifo_init(&h->wire);
	fifo_init(&h->cq);
	h->said = (struct rsock_conn){
		.flags = RSOCK_CONN_F_IOMAP,
		.credits = cfg->credits,
		.iomap_slots = IOMAP_SLOTS,
		.sgl = { 0x100000 * (i + 1), 0x5000 + i, entries },
		.buf = { h->ring[0].addr, h->ring[0].key, first },
		.has_ext = cfg->kind == MODEL_KERNEL,
		.ext_features = RSOCK_FEATURES,
	};
}

static void host_connect(struct host *h)
{
	const struct model_host_cfg *cfg = h->cfg;
	u8 buf[RSOCK_CONN_EXT_LEN];
	size_t len;

	len = rsock_conn_encode(&h->peer->said, buf);
	if (rsock_conn_decode(buf, len, &h->heard)) {
		fail(h, "connection data refused");
		return;
	}
	rsock_txwin_init(&h->k.tx, &h->heard);
	rsock_rxwin_init(&h->k.rx, cfg->ring, cfg->first, cfg->credits);
	rsock_rxwin_peer(&h->k.rx, &h->heard);
	/* While there is enough to come that the second ring is used, too */
	h->k.grow_at = rnd(h->model, h->peer->cfg->total / 2);

	h->u = (struct user){
		.slimit = h->heard.credits,
		.lens = zalloc(cfg->credits * sizeof(u32)),
		.rmark = cfg->credits / 2,
		.remote = 1,
		.free_at = cfg->ring / 2,
		.free_bytes = cfg->ring / 2,
	};
	if (cfg->kind == MODEL_USER)
		user_set_entry(h, 0, &h->heard.buf);
}

static void host_free(struct host *h)
{
	fifo_free(&h->wire);
	fifo_free(&h->cq);
	ring_free(&h->ring[0]);
	ring_free(&h->ring[1]);
	free(h->table);
	free(h->notes);
	free(h->u.lens);
}

/* What is likely now: so that at times a reader is slow, or a wire is */
static void set_weights(struct host *h)
{
	int i;

	for (i = 0; i < __ACT_MAX; i++)
		h->weight[i] = 1 << rnd(h->model, 6);
	h->weight[ACT_IOMAP] = h->cfg->iomaps;
	h->weight[ACT_GROW] = h->cfg->grow ? 32 : 0;
	h->weight[ACT_NOTE] *= h->cfg->notes;
	h->weight[ACT_READ_NOTE] *= h->peer->cfg->notes;
}

static void step(struct model *m)
{
	struct host *h = &m->host[rnd(m, 2)];
	int sum = 0, i, at;

	for (i = 0; i < __ACT_MAX; i++)
		sum += h->weight[i];
	at = rnd(m, sum);
	for (i = 0; at >= h->weight[i]; i++)
		at -= h->weight[i];
	actions[h->cfg->kind][i](h);
}

static bool host_done(const struct host *h)
{
	return h->read == h->peer->cfg->total &&
	       (!h->cfg->grow || h->ring[1].used);
}

static bool done(const struct model *m)
{
	return host_done(&m->host[0]) && host_done(&m->host[1]);
}

bool model_run(const struct model_cfg *cfg, u64 seed, const char **why)
{
	struct model m = { .rng = seed * 0x9e3779b97f4a7c15ULL + 1 };
	u64 n, last = 0;
	u32 pos = 0;

	host_init(&m.host[0], &m, 0, &cfg->host[0]);
	host_init(&m.host[1], &m, 1, &cfg->host[1]);
	host_connect(&m.host[0]);
	host_connect(&m.host[1]);
	for (n = 0; !m.why && !done(&m); n++) {
		if (n % 4096 == 0) {
			set_weights(&m.host[0]);
			set_weights(&m.host[1]);
		}
		step(&m);
		if (pos != m.host[0].read + m.host[1].read) {
			pos = m.host[0].read + m.host[1].read;
			last = n;
		} else if (n - last > STUCK) {
			fail(&m.host[0], "deadlock");
		}
	}
	host_free(&m.host[0]);
	host_free(&m.host[1]);
	*why = m.why;
	return !m.why;
}
