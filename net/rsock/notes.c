// SPDX-License-Identifier: GPL-2.0
/*
 * Notes of what the peer placed, for one who asked to be told. See wire.h.
 *
 * The peer writes them to a region of ours, and each is copied from there when
 * its message arrives. It keeps the credit of the message until it is read, so
 * that there are never more of them than credits, and none is lost.
 */

#include "notes.h"

#include <linux/module.h>
#include <linux/slab.h>
#include <net/rsock.h>
#include <net/sock.h>

#include "ep.h"
#include "region.h"
#include "rsock.h"

/**
 * struct rsock_notes - those that arrived: as many as ep->rx says. ep->lock
 * @region: where the peer writes them, a reference is held; NULL until it can
 * @head: of @ring, the next to be read
 * @size: of @ring, the credits that we grant
 * @ring: the notes
 */
struct rsock_notes {
	struct rsock_region *region;
	u16 head;
	u16 size;
	struct rsock_note ring[];
};

/* Unless another call did it, or is about to */
static int rsock_notes_install(struct rsock_ep *ep, struct rsock_notes *notes)
{
	struct rsock_notes *old;
	int err = 0;

	spin_lock_bh(&ep->lock);
	old = ep->notes;
	if (!old)
		ep->notes = notes;
	else if (old->region && old->region->state == RSOCK_REGION_LIVE)
		err = -EEXIST;
	else
		err = -EALREADY;
	spin_unlock_bh(&ep->lock);
	return err;
}

/**
 * rsock_notes_free() - forget all
 * @ep: endpoint whose peer was not asked for notes, or that nobody else uses
 */
void rsock_notes_free(struct rsock_ep *ep)
{
	struct rsock_notes *notes;

	spin_lock_bh(&ep->lock);
	notes = ep->notes;
	ep->notes = NULL;
	spin_unlock_bh(&ep->lock);
	if (notes && notes->region)
		rsock_region_put(notes->region);
	kvfree(notes);
}

/**
 * rsock_notes_want() - ask the peer for notes, until the end of the connection
 * @ep: endpoint in any state
 *
 * Context: process; sleeps.
 *
 * Return: 0, -ENOTCONN, -EOPNOTSUPP if the peer does not know them or the device
 * has no memory region for so many, -EALREADY if another call is at it, -ENOMEM.
 */
int rsock_notes_want(struct rsock_ep *ep)
{
	struct rsock_notes *notes;
	u64 len;
	u16 size;
	int err;

	if (!rsock_ep_is_open(ep))
		return -ENOTCONN;
	size = ep->cfg.rq;
	len = PAGE_ALIGN(size * RSOCK_NOTE_LEN);
	if (!(ep->features & RSOCK_FEAT_NOTE) ||
	    len > rsock_region_chunk_max(ep, false))
		return -EOPNOTSUPP;
	notes = kvzalloc(struct_size(notes, ring, size), GFP_KERNEL_ACCOUNT);
	if (!notes)
		return -ENOMEM;
	notes->size = size;
	err = rsock_notes_install(ep, notes);
	if (err) {
		kvfree(notes);
		return err == -EEXIST ? 0 : err;
	}
	err = rsock_iomap_add_own(ep, RSOCK_NOTES_OFFSET, len, &notes->region);
	if (err)
		rsock_notes_free(ep);
	return err;
}

static int rsock_notes_read(const struct rsock_notes *notes, u32 entry,
			    struct rsock_note *note)
{
	u8 raw[RSOCK_NOTE_LEN];

	if (entry >= notes->region->len / RSOCK_NOTE_LEN)
		return RSOCK_FAULT_NOTE;
	rsock_buf_snapshot(&notes->region->buf, entry * RSOCK_NOTE_LEN,
			   sizeof(raw), raw);
	return rsock_note_decode(raw, note);
}

/**
 * rsock_notes_add() - a note arrived
 * @ep: endpoint, ep->lock held
 * @entry: of the region, as the peer says
 *
 * Return: 0 or a fault.
 */
int rsock_notes_add(struct rsock_ep *ep, u32 entry)
{
	struct rsock_notes *notes = ep->notes;
	unsigned int tail;
	int fault;

	lockdep_assert_held(&ep->lock);
	if (!notes || !notes->region ||
	    notes->region->state != RSOCK_REGION_LIVE)
		return RSOCK_FAULT_NOTE;
	fault = rsock_rxwin_counted(&ep->rx.win);
	if (fault)
		return fault;
	tail = (notes->head + ep->rx.nr_notes) % notes->size;
	fault = rsock_notes_read(notes, entry, &notes->ring[tail]);
	if (fault)
		return fault;
	WRITE_ONCE(ep->rx.nr_notes, ep->rx.nr_notes + 1);
	rsock_rxwin_hold(&ep->rx.win);
	ep->ops->noted(ep);
	return RSOCK_FAULT_NONE;
}

/**
 * rsock_notes_get() - read a note
 * @ep: endpoint in any state
 * @note: set to the oldest
 *
 * Return: false if there is none.
 */
bool rsock_notes_get(struct rsock_ep *ep, struct rsock_note *note)
{
	struct rsock_notes *notes;
	bool found;

	spin_lock_bh(&ep->lock);
	notes = ep->notes;
	found = ep->rx.nr_notes;
	if (found) {
		*note = notes->ring[notes->head];
		notes->head = (notes->head + 1) % notes->size;
		WRITE_ONCE(ep->rx.nr_notes, ep->rx.nr_notes - 1);
		rsock_rxwin_release(&ep->rx.win);
		rsock_rx_update(ep);
	}
	spin_unlock_bh(&ep->lock);
	return found;
}

/**
 * rsock_notify_written() - be told of what the peer places
 * @sock: connected socket of AF_RSOCK
 *
 * From here on, until the connection ends, sk_error_report() is called for each
 * write by which the peer places something, when it is there, and
 * rsock_recv_written() tells what. The peer waits, also with its stream, when as
 * many are unread as RDMA_RQSIZE grants messages.
 *
 * Context: process; sleeps. Not under lock_sock() of this socket.
 *
 * Return: 0, -ENOTCONN, -EOPNOTSUPP if the peer does not know of it, -EALREADY
 * if another call is at it, or -ENOMEM.
 */
int rsock_notify_written(struct socket *sock)
{
	struct rsock_ep *ep = rsock_sk_ep_get(sock->sk);
	unsigned long flags;
	int err;

	if (!ep)
		return -ENOTCONN;
	flags = rsock_memalloc_save(ep->gfp);
	err = rsock_notes_want(ep);
	rsock_memalloc_restore(flags);
	rsock_ep_put(ep);
	return err;
}
EXPORT_SYMBOL_GPL(rsock_notify_written);

/**
 * rsock_recv_written() - what the peer placed
 * @sock: socket of AF_RSOCK
 * @written: set to the oldest that was not read
 *
 * Context: any but hardirq; not within the callbacks of the socket.
 *
 * Return: 0, or -EAGAIN if there is none.
 */
int rsock_recv_written(struct socket *sock, struct rsock_written *written)
{
	struct rsock_ep *ep = rsock_sk_ep_get(sock->sk);
	struct rsock_note note;
	bool found;

	if (!ep)
		return -EAGAIN;
	found = rsock_notes_get(ep, &note);
	rsock_ep_put(ep);
	if (!found)
		return -EAGAIN;
	written->offset = note.offset;
	written->len = note.len;
	return 0;
}
EXPORT_SYMBOL_GPL(rsock_recv_written);
