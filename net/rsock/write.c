// SPDX-License-Identifier: GPL-2.0
/*
 * Direct placement, the side that writes: what the peer has mapped, the note
 * that tells it what was placed, and writes by users in the kernel, who do not
 * wait. What programs write takes its way through send.c.
 */

#include "write.h"

#include <linux/bvec.h>
#include <linux/module.h>
#include <linux/skbuff.h>
#include <net/sock.h>

#include "pernet.h"
#include "rsock.h"
#include "send.h"
#include "tx.h"

/**
 * rsock_write_is_mapped() - has the peer mapped all of a range?
 * @ep: endpoint in any state
 * @offset: its first byte
 * @len: bytes
 */
bool rsock_write_is_mapped(struct rsock_ep *ep, u64 offset, u64 len)
{
	bool mapped;

	spin_lock_bh(&ep->lock);
	mapped = rsock_targets_cover(&ep->targets, offset, len);
	spin_unlock_bh(&ep->lock);
	return mapped;
}

/**
 * rsock_write_check() - may something be placed there?
 * @ep: endpoint in any state
 * @offset: of its first byte
 * @len: bytes
 *
 * Return: 0 or -ENXIO.
 */
int rsock_write_check(struct rsock_ep *ep, u64 offset, u64 len)
{
	if (rsock_write_is_mapped(ep, offset, len))
		return 0;
	RSOCK_INC_STATS(ep->net, RSOCK_MIB_WRITESNOTARGET);
	return -ENXIO;
}

/**
 * rsock_write_is_noted() - does the peer want to be told of what is placed?
 * @ep: endpoint in any state
 */
bool rsock_write_is_noted(struct rsock_ep *ep)
{
	return (ep->features & RSOCK_FEAT_NOTE) &&
	       rsock_write_is_mapped(ep, RSOCK_NOTES_OFFSET, RSOCK_NOTE_LEN);
}

/**
 * rsock_write_note() - tell the peer what was placed
 * @ep: endpoint
 * @offset: of its first byte
 * @len: bytes
 * @gfp: how to allocate
 *
 * Return: a message to queue behind it, or NULL if there is no memory.
 */
struct rsock_txmsg *rsock_write_note(struct rsock_ep *ep, u64 offset, u64 len,
				     gfp_t gfp)
{
	struct rsock_note note = { .offset = offset, .len = len };
	struct rsock_txmsg *m;
	void *frag;

	m = rsock_txmsg_alloc(RSOCK_TO_NOTES, NULL, gfp);
	if (!m)
		return NULL;
	frag = netdev_alloc_frag(RSOCK_NOTE_LEN);
	if (!frag) {
		rsock_txmsg_free(m);
		return NULL;
	}
	rsock_note_encode(&note, ep->swap, frag);
	rsock_txmsg_add(m, virt_to_head_page(frag),
			frag - page_address(virt_to_head_page(frag)),
			RSOCK_NOTE_LEN, false);
	return m;
}

/* Messages for all of @from, and a note if the peer wants one */
static int rsock_write_gather(struct rsock_ep *ep, u64 offset,
			      struct iov_iter *from, struct rsock_write *w,
			      gfp_t gfp, struct list_head *list)
{
	u64 to = offset, len = iov_iter_count(from);
	struct rsock_txmsg *m;
	int err;

	while (iov_iter_count(from)) {
		m = rsock_txmsg_alloc(to, &w->ubuf, gfp);
		if (!m)
			return -ENOMEM;
		list_add_tail(&m->node, list);
		err = rsock_txmsg_fill(m, from, min_t(size_t, RSOCK_TX_MSG_MAX,
						      iov_iter_count(from)));
		if (err)
			return err;
		m->charge = 0;
		m->tell = !iov_iter_count(from);
		to += m->len;
	}
	if (!rsock_write_is_noted(ep))
		return 0;
	m = rsock_write_note(ep, offset, len, gfp);
	if (!m)
		return -ENOMEM;
	list_add_tail(&m->node, list);
	return 0;
}

static int rsock_ep_write(struct rsock_ep *ep, u64 offset,
			  struct iov_iter *from, struct rsock_write *w,
			  gfp_t gfp)
{
	LIST_HEAD(list);
	int err;

	if (!rsock_ep_is_open(ep))
		return -EPIPE;
	err = rsock_write_check(ep, offset, iov_iter_count(from));
	if (err)
		return err;
	rsock_write_init(w);
	err = rsock_write_gather(ep, offset, from, w, gfp, &list);
	if (!err) {
		/* From here on it may be done, but never in this very call */
		refcount_dec(&w->ubuf.refcnt);
		err = rsock_tx_add_list(ep, &list);
		if (err)
			refcount_inc(&w->ubuf.refcnt);
	}
	rsock_tx_free_list(&list);
	return err;
}

/**
 * rsock_write() - place pages at an offset of the peer's
 * @sock: socket of AF_RSOCK
 * @offset: of the first byte, in the peer's mappings; may be the peer's word
 * @bv: the pages; the list itself is not needed after the call
 * @nr: entries of @bv, not 0
 * @w: with its @done; must stay until that is called
 * @gfp: how to allocate
 *
 * As with MSG_RIOWRITE, it is placed in order with what is sent before and
 * after, and the peer is told if it asked to be. It is not copied: the pages
 * must not change until @w->done is called. Nor does it count against the send
 * buffer: it is for the caller to bound how much of it there is, 2 GiB at most.
 *
 * Context: any but hardirq, with @gfp to match; not within the callbacks of the
 * socket (see include/net/rsock.h), but well within @w->done.
 *
 * Return: 0, then @w->done is called once. Else -EINVAL (nothing, an entry
 * without bytes, 2 GiB, an offset out of range, or pages of a slab), -EPIPE (no
 * connection, or it was shut down), -ENXIO (not all of it is mapped by the
 * peer), -ENOBUFS (too much is queued) or -ENOMEM; then it is not called, and
 * nothing was written.
 */
int rsock_write(struct socket *sock, u64 offset, const struct bio_vec *bv,
		unsigned int nr, struct rsock_write *w, gfp_t gfp)
{
	struct iov_iter from;
	struct rsock_ep *ep;
	u64 len = rsock_bvec_len(bv, nr);
	int err;

	iov_iter_bvec(&from, ITER_SOURCE, bv, nr, len);
	if (!len || len > S32_MAX || offset > S64_MAX - len ||
	    !rsock_send_can_refer(&from))
		return -EINVAL;
	ep = rsock_sk_ep_get(sock->sk);
	if (!ep)
		return -EPIPE;
	err = rsock_ep_write(ep, offset, &from, w, gfp);
	rsock_ep_put(ep);
	return err;
}
EXPORT_SYMBOL_GPL(rsock_write);

/**
 * rsock_peer_has_mapped() - would rsock_write() find where to place it?
 * @sock: socket of AF_RSOCK
 * @offset: of the first byte, in the peer's mappings
 * @len: bytes
 *
 * Context: as rsock_write().
 *
 * Return: true if all of it is mapped now. The peer may unmap it any time.
 */
bool rsock_peer_has_mapped(struct socket *sock, u64 offset, u64 len)
{
	struct rsock_ep *ep = rsock_sk_ep_get(sock->sk);
	bool mapped;

	if (!ep)
		return false;
	mapped = rsock_write_is_mapped(ep, offset, len);
	rsock_ep_put(ep);
	return mapped;
}
EXPORT_SYMBOL_GPL(rsock_peer_has_mapped);
