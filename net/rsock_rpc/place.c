// SPDX-License-Identifier: GPL-2.0
/*
 * Direct placement, what both ends need of it: what is told of it on the wire,
 * and the parts of a message as pages.
 */

#include <linux/mm.h>
#include <linux/moduleparam.h>
#include <linux/slab.h>
#include <linux/sunrpc/xdr.h>

#include "rpc.h"

unsigned int rrpc_place = 16384;
module_param_named(place, rrpc_place, uint, 0644);
MODULE_PARM_DESC(place,
		 "Place data of so many bytes or more directly, 0: never (default 16384)");

/**
 * rrpc_is_worth_placing() - else it is copied from the stream with less work
 * @len: bytes
 */
bool rrpc_is_worth_placing(size_t len)
{
	unsigned int least = READ_ONCE(rrpc_place);

	return least && len >= least;
}

/**
 * rrpc_chunk_decode() - what the peer says of a part of a message; it may say
 * anything
 * @c: set
 * @w: as it was received
 */
void rrpc_chunk_decode(struct rrpc_chunk *c, const struct rrpc_wire_chunk *w)
{
	c->offset = be64_to_cpu(w->offset);
	c->pos = be32_to_cpu(w->pos);
	c->len = be32_to_cpu(w->len);
}

static unsigned int rrpc_chunk_encode(struct rrpc_wire_chunk *w,
				      const struct rrpc_chunk *c)
{
	w->offset = cpu_to_be64(c->offset);
	w->pos = cpu_to_be32(c->pos);
	w->len = cpu_to_be32(c->len);
	return !!c->len;
}

/**
 * rrpc_prefix_len() - bytes that are sent before a message
 * @m: message
 */
size_t rrpc_prefix_len(const struct rrpc_msg *m)
{
	return sizeof(__be32) + (!!m->placed.len + !!m->offer.len) *
				sizeof(struct rrpc_wire_chunk);
}

/**
 * rrpc_record_len() - bytes that are sent of a message, and before it
 * @m: message
 */
size_t rrpc_record_len(const struct rrpc_msg *m)
{
	return rrpc_prefix_len(m) + m->xdr->len - m->placed.len;
}

/**
 * rrpc_prefix() - what is sent before a message
 * @prefix: set; rrpc_prefix_len() bytes of it count
 * @m: message
 */
void rrpc_prefix(struct rrpc_prefix *prefix, const struct rrpc_msg *m)
{
	u32 marker = RPC_LAST_STREAM_FRAGMENT | (m->xdr->len - m->placed.len);
	struct rrpc_wire_chunk *w = prefix->chunk;

	if (m->placed.len)
		marker |= RRPC_PLACED;
	if (m->offer.len)
		marker |= RRPC_OFFER;
	prefix->marker = cpu_to_be32(marker);
	w += rrpc_chunk_encode(w, &m->placed);
	rrpc_chunk_encode(w, &m->offer);
}

/**
 * rrpc_is_hello() - can the other end place?
 * @begin: of a message
 * @len: its bytes
 */
bool rrpc_is_hello(const struct rrpc_begin *begin, size_t len)
{
	return len == sizeof(*begin) && begin->dir == cpu_to_be32(RPC_REPLY) &&
	       begin->xid == cpu_to_be32(RRPC_HELLO);
}

/* A part of head or tail, which are in pages, too. Returns how many. */
static unsigned int rrpc_bvecs_of_vec(struct bio_vec *bv,
				      const struct kvec *vec)
{
	void *at = vec->iov_base, *end = at + vec->iov_len;
	unsigned int nr;

	for (nr = 0; at < end; at += bv[nr++].bv_len) {
		bv[nr].bv_page = virt_to_page(at);
		bv[nr].bv_offset = offset_in_page(at);
		bv[nr].bv_len = min_t(size_t, end - at,
				      PAGE_SIZE - offset_in_page(at));
	}
	return nr;
}

/**
 * rrpc_bvecs() - a part of a message, as pages
 * @xdr: the message, whose head and tail are in memory of the page allocator
 * @pos: where the part begins
 * @len: its bytes, which the message has
 * @nr: set to how many there are
 *
 * Return: them, to be freed by kfree(), or NULL if there is no memory.
 */
struct bio_vec *rrpc_bvecs(struct xdr_buf *xdr, size_t pos, size_t len,
			   unsigned int *nr)
{
	size_t end = pos + len;
	struct rrpc_piece p;
	struct bio_vec *bv;

	/* Each of its three parts may begin and end within a page */
	bv = kmalloc_array(len / PAGE_SIZE + 6, sizeof(*bv), RRPC_GFP);
	if (!bv)
		return NULL;
	for (*nr = 0; pos < end; pos += iov_iter_count(&p.iter)) {
		if (rrpc_piece_of(&p, ITER_SOURCE, xdr, pos, end - pos)) {
			kfree(bv);
			return NULL;
		}
		if (iov_iter_is_bvec(&p.iter)) {
			memcpy(bv + *nr, p.bvec, p.iter.nr_segs * sizeof(*bv));
			*nr += p.iter.nr_segs;
		} else {
			*nr += rrpc_bvecs_of_vec(bv + *nr, p.vec);
		}
	}
	return bv;
}

/* What is on its way */

/**
 * rrpc_placer_init() - nothing is on its way
 * @p: one who places
 * @less: as in struct rrpc_placer
 */
void rrpc_placer_init(struct rrpc_placer *p,
		      void (*less)(struct rrpc_placer *p, u32 was, int err))
{
	spin_lock_init(&p->lock);
	INIT_LIST_HEAD(&p->list);
	init_waitqueue_head(&p->wait);
	p->less = less;
}

/**
 * struct rrpc_placing - a part of a message that is being placed
 * @write: must stay until it is done
 * @placer: who does; it stays, too
 * @node: in its list
 * @xdr: tells the message from others; it need not stay
 * @len: bytes
 * @late: the connection has ended, and its placer goes on with another one
 */
struct rrpc_placing {
	struct rsock_write write;
	struct rrpc_placer *placer;
	struct list_head node;
	const struct xdr_buf *xdr;
	u32 len;
	bool late;
};

static bool rrpc_placer_has(struct rrpc_placer *p, const struct xdr_buf *xdr,
			    bool late)
{
	struct rrpc_placing *pl;
	bool busy = false;

	spin_lock_bh(&p->lock);
	list_for_each_entry(pl, &p->list, node)
		busy |= (!xdr || pl->xdr == xdr) && (late || !pl->late);
	spin_unlock_bh(&p->lock);
	return busy;
}

/**
 * rrpc_placer_is_busy() - is anything on its way?
 * @p: one who places
 * @xdr: of this message, or NULL for all
 *
 * Return: if false, what was has left @p alone for good.
 */
bool rrpc_placer_is_busy(struct rrpc_placer *p, const struct xdr_buf *xdr)
{
	return rrpc_placer_has(p, xdr, true);
}

/**
 * rrpc_placer_may_succeed() - is anything on its way, on the connection that is?
 * @p: one who places
 * @xdr: of this message
 */
bool rrpc_placer_may_succeed(struct rrpc_placer *p, const struct xdr_buf *xdr)
{
	return rrpc_placer_has(p, xdr, false);
}

/**
 * rrpc_placer_forget() - the connection ends, and what is on its way has failed
 * @p: one who places, and goes on with another connection
 *
 * Return: true if anything is on its way.
 */
bool rrpc_placer_forget(struct rrpc_placer *p)
{
	struct rrpc_placing *pl;
	bool busy;

	spin_lock_bh(&p->lock);
	busy = !list_empty(&p->list);
	list_for_each_entry(pl, &p->list, node)
		pl->late = true;
	spin_unlock_bh(&p->lock);
	return busy;
}

/**
 * rrpc_placer_wait() - wait until nothing is on its way any more
 * @p: one who places, but nothing any more
 */
void rrpc_placer_wait(struct rrpc_placer *p)
{
	wait_event(p->wait, !rrpc_placer_is_busy(p, NULL));
}

static void rrpc_place_begin(struct rrpc_placing *pl)
{
	struct rrpc_placer *p = pl->placer;

	spin_lock_bh(&p->lock);
	list_add(&pl->node, &p->list);
	WRITE_ONCE(p->bytes, p->bytes + pl->len);
	spin_unlock_bh(&p->lock);
}

static void rrpc_place_end(struct rrpc_placing *pl, int err)
{
	struct rrpc_placer *p = pl->placer;
	u32 was;

	spin_lock_bh(&p->lock);
	list_del(&pl->node);
	was = p->bytes;
	WRITE_ONCE(p->bytes, was - pl->len);
	wake_up(&p->wait);
	p->less(p, was, pl->late ? 0 : err);
	spin_unlock_bh(&p->lock);
	kfree(pl);
}

static void rrpc_placed(struct rsock_write *w, int err)
{
	rrpc_place_end(container_of(w, struct rrpc_placing, write), err);
}

/**
 * rrpc_place_part() - place a part of a message
 * @p: who does
 * @s: its socket
 * @xdr: the message
 * @c: the part, and by what offset the peer knows where it goes
 *
 * Return: 0, or a negative errno if it is not placed.
 */
int rrpc_place_part(struct rrpc_placer *p, struct rrpc_sock *s,
		    struct xdr_buf *xdr, const struct rrpc_chunk *c)
{
	struct rrpc_placing *pl = kmalloc(sizeof(*pl), RRPC_GFP);
	int err;

	if (!pl)
		return -ENOMEM;
	pl->write.done = rrpc_placed;
	pl->placer = p;
	pl->xdr = xdr;
	pl->len = c->len;
	pl->late = false;
	rrpc_place_begin(pl);
	err = rrpc_write(s, xdr, c, &pl->write);
	if (err)
		rrpc_place_end(pl, 0);
	return err;
}
