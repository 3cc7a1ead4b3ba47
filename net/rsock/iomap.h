/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _RSOCK_IOMAP_H
#define _RSOCK_IOMAP_H

/*
 * Memory that we let the peer write to: regions.
 *
 * Life of a region. It gets its offsets and its slots of the peer's table
 * first (SETUP), then its memory regions, which takes long and sleeps, and is
 * LIVE when its entries are on their way to the peer. To unmap it (GONE) empty
 * entries are sent, the peer is waited for, and then the memory is let go.
 * Whatever the peer does, its key is dead before the memory is.
 *
 * Who works on a region counts in io.users. The teardown of the endpoint lets
 * go of the regions that are left when nobody does; no thread waits for that, but
 * the one that removes the device.
 */

#include <linux/bitmap.h>
#include <linux/list.h>
#include <linux/rbtree.h>
#include <linux/wait.h>

#include "wire.h"

/* In place of an offset: choose one */
#define RSOCK_OFFSET_FREE	U64_MAX

/* How long a peer may hold up who maps or unmaps */
#define RSOCK_IOMAP_TIMEOUT	(10 * HZ)

struct bio_vec;
struct rsock_ep;
struct rsock_iomap;
struct rsock_region;

/**
 * struct rsock_io - what an endpoint has mapped
 * @regions: by offset; they do not overlap
 * @nr: how many
 * @slots: of the peer's table that are in use
 * @pending: chunks that the peer is to be told of, or that they are gone, in
 *	this order
 * @revoking: chunks that it was told are gone, but that are not yet
 * @untold: slots of regions that end without waiting for the peer, and of which
 *	it has yet to be told
 * @nr_untold: how many
 * @owed: such slots of which it was told
 * @nr_revoking: how many it was told of, and has not confirmed
 * @users: tasks that work on a region
 * @closed: the socket parted with the endpoint: nothing more is mapped
 * @parked: the teardown waits for @users to become 0
 * @wait: for chunks to be registered or revoked, for regions to be let go of
 *
 * ep->lock guards all of it.
 */
struct rsock_io {
	struct rb_root_cached regions;
	unsigned int nr;
	DECLARE_BITMAP(slots, RSOCK_IOMAP_MAX);
	struct list_head pending;
	struct list_head revoking;
	DECLARE_BITMAP(untold, RSOCK_IOMAP_MAX);
	unsigned int nr_untold;
	DECLARE_BITMAP(owed, RSOCK_IOMAP_MAX);
	unsigned int nr_revoking;
	unsigned int users;
	bool closed;
	bool parked;
	wait_queue_head_t wait;
};

void rsock_io_init(struct rsock_io *io);

int rsock_iomap_add(struct rsock_ep *ep, const struct rsock_iomap *m);
int rsock_iomap_del(struct rsock_ep *ep, const struct rsock_iomap *m);
int rsock_iomap_add_own(struct rsock_ep *ep, u64 offset, u64 len,
			struct rsock_region **region);
int rsock_iomap_add_bvec(struct rsock_ep *ep, u64 offset,
			 const struct bio_vec *bv, unsigned int nr,
			 struct rsock_region **region);
bool rsock_iomap_del_begin(struct rsock_ep *ep, struct rsock_region *r,
			   bool used);
bool rsock_iomap_del_is_due(struct rsock_ep *ep, struct rsock_region *r,
			    bool ours);
void rsock_iomap_del_end(struct rsock_ep *ep, struct rsock_region *r);
void rsock_iomap_del_region(struct rsock_ep *ep, struct rsock_region *r,
			    bool used);
unsigned int rsock_iomap_list(struct rsock_ep *ep, struct rsock_iomap *list,
			      unsigned int max);

bool rsock_iomap_push(struct rsock_ep *ep);
void rsock_iomap_complete(struct rsock_ep *ep);
int rsock_iomap_revoked(struct rsock_ep *ep, u16 slot);
void rsock_iomap_close(struct rsock_ep *ep);
void rsock_iomap_return(struct rsock_ep *ep);
void rsock_iomap_park(struct rsock_ep *ep);
bool rsock_iomap_unpark(struct rsock_ep *ep);
void rsock_iomap_release(struct rsock_ep *ep);

#endif /* _RSOCK_IOMAP_H */
