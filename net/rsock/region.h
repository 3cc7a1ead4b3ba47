/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _RSOCK_REGION_H
#define _RSOCK_REGION_H

/*
 * Memory that a socket has mapped to a range of offsets, and the verbs memory
 * regions that make it accessible to the peer. See iomap.h for its life.
 */

#include <linux/interval_tree.h>
#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/types.h>

#include "buf.h"
#include "wire.h"

struct ib_mr;
struct ib_umem;
struct rsock_ep;

/**
 * struct rsock_chunk - part of a region that has a memory region of its own
 * @node: in io.pending or io.revoking. ep->lock, as @told, @gone and @seq
 * @mr: its memory region; NULL until it is registered
 * @slot: of the peer's table
 * @told: the peer was told of it, but not that it is gone
 * @gone: the peer will not write to it any more
 * @owed: the region ends without waiting for that; the slot is io.owed's, or
 *	io.untold's
 * @seq: sq.posted after it was told so
 * @entry: what the peer is told
 */
struct rsock_chunk {
	struct list_head node;
	struct ib_mr *mr;
	u16 slot;
	bool told;
	bool gone;
	bool owed;
	u32 seq;
	struct rsock_iomap_entry entry;
};

enum rsock_region_state {
	RSOCK_REGION_SETUP,	/* its user registers memory */
	RSOCK_REGION_LIVE,
	RSOCK_REGION_GONE,	/* its user takes it away */
	RSOCK_REGION_ENDED,	/* no device has it any more, and no offset */
};

/**
 * struct rsock_region - memory mapped to a range of offsets
 * @ref: the endpoint's, and that of a struct rsock_mapping
 * @node: in io.regions: offsets, first to last. ep->lock, as @state
 * @state: who may do what with it
 * @gone: a list of whoever takes it away
 * @addr: in the address space of the process that mapped it; 0 for memory of
 *	the kernel
 * @head: bytes of its first page that are not part of it
 * @len: bytes
 * @buf: memory of the kernel, else empty
 * @umem: user memory that we have pinned; NULL while the device's driver has
 * @dma: where the device finds the pages of @buf or @umem
 * @offered: to the peer, which may write to it (PROT_WRITE)
 * @chunk_max: bytes of a chunk, a multiple of the page size
 * @nr: chunks; none unless it is offered
 * @chunk: the chunks, by offset
 */
struct rsock_region {
	refcount_t ref;
	struct interval_tree_node node;
	enum rsock_region_state state;
	struct list_head gone;
	u64 addr;
	u32 head;
	u64 len;
	struct rsock_buf buf;
	struct ib_umem *umem;
	dma_addr_t *dma;
	bool offered;
	u64 chunk_max;
	unsigned int nr;
	struct rsock_chunk chunk[];
};

struct rsock_region *rsock_region_alloc(u32 head, u64 len, u64 chunk_max,
					bool offered);
void rsock_region_put(struct rsock_region *r);
void rsock_region_place(struct rsock_region *r, u64 offset);
u64 rsock_region_chunk_max(const struct rsock_ep *ep, bool user);
bool rsock_region_wait(struct rsock_ep *ep, const struct rsock_region *r,
		       bool (*is_so)(struct rsock_ep *ep, void *arg), void *arg);
int rsock_region_register(struct rsock_ep *ep, struct rsock_region *r);
void rsock_region_unregister(struct rsock_region *r);

#endif /* _RSOCK_REGION_H */
