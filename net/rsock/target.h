/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _RSOCK_TARGET_H
#define _RSOCK_TARGET_H

/*
 * What the peer has mapped for us to write to, found by offset. Filled from
 * our iomap table, which the peer writes to at any time: entries are copied
 * when their message arrives, and never read again.
 */

#include <linux/rbtree.h>
#include <linux/xarray.h>

#include "wire.h"

/**
 * struct rsock_targets - the peer's mappings
 * @tree: by offset. They may overlap: rsockets does not forbid it, and leaves
 *	what it has unmapped in our table
 * @slots: by slot of our table
 */
struct rsock_targets {
	struct rb_root_cached tree;
	struct xarray slots;
};

void rsock_targets_init(struct rsock_targets *t);
void rsock_targets_destroy(struct rsock_targets *t);
int rsock_targets_set(struct rsock_targets *t, u16 slot,
		      const struct rsock_iomap_entry *e);
u32 rsock_targets_find(struct rsock_targets *t, u64 offset,
		       struct rsock_sge *to);
bool rsock_targets_cover(struct rsock_targets *t, u64 offset, u64 len);

#endif /* _RSOCK_TARGET_H */
