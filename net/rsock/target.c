// SPDX-License-Identifier: GPL-2.0
/*
 * The peer's mappings. See target.h. The caller serialises.
 */

#include "target.h"

#include <linux/interval_tree.h>
#include <linux/slab.h>

/**
 * struct rsock_target - one mapping of the peer
 * @node: offsets, first to last
 * @slot: of our table
 * @sge: where it is
 */
struct rsock_target {
	struct interval_tree_node node;
	u16 slot;
	struct rsock_sge sge;
};

static_assert(sizeof(unsigned long) == sizeof(u64), "offsets have 64 bits");

/**
 * rsock_targets_init() - start with none
 * @t: targets
 */
void rsock_targets_init(struct rsock_targets *t)
{
	t->tree = RB_ROOT_CACHED;
	xa_init(&t->slots);
}

/**
 * rsock_targets_destroy() - forget all
 * @t: targets; may be used again
 */
void rsock_targets_destroy(struct rsock_targets *t)
{
	struct rsock_target *target;
	unsigned long slot;

	xa_for_each(&t->slots, slot, target)
		kfree(target);
	xa_destroy(&t->slots);
	t->tree = RB_ROOT_CACHED;
}

/**
 * rsock_targets_set() - the peer wrote an entry of our table
 * @t: targets
 * @slot: which one, within the table
 * @e: what it says, decoded; empty to forget what was there
 *
 * Context: any but hardirq.
 *
 * Return: 0 or -ENOMEM.
 */
int rsock_targets_set(struct rsock_targets *t, u16 slot,
		      const struct rsock_iomap_entry *e)
{
	struct rsock_target *target, *old;

	old = xa_erase(&t->slots, slot);
	if (old) {
		interval_tree_remove(&old->node, &t->tree);
		kfree(old);
	}
	if (!e->sge.len)
		return 0;
	target = kzalloc(sizeof(*target), GFP_ATOMIC | __GFP_ACCOUNT);
	if (!target)
		return -ENOMEM;
	target->slot = slot;
	target->node.start = e->offset;
	target->node.last = e->offset + e->sge.len - 1;
	target->sge = e->sge;
	if (xa_err(xa_store(&t->slots, slot, target, GFP_ATOMIC))) {
		kfree(target);
		return -ENOMEM;
	}
	interval_tree_insert(&target->node, &t->tree);
	return 0;
}

/*
 * Of several at an offset the lowest slot counts, as it does for rsockets. It
 * leaves what was unmapped in our table; but what it maps next takes the lowest
 * slot that is free, so that nothing stale hides it.
 */
static struct rsock_target *rsock_target_at(struct rsock_targets *t, u64 offset)
{
	struct rsock_target *target, *lowest = NULL;
	struct interval_tree_node *node;

	for (node = interval_tree_iter_first(&t->tree, offset, offset); node;
	     node = interval_tree_iter_next(node, offset, offset)) {
		target = container_of(node, struct rsock_target, node);
		if (!lowest || target->slot < lowest->slot)
			lowest = target;
	}
	return lowest;
}

/**
 * rsock_targets_find() - where to write
 * @t: targets
 * @offset: offset to look for
 * @to: set to where its byte is, and what follows it in the same mapping
 *
 * Return: bytes from there to the mapping's end, 0 if there is none.
 */
u32 rsock_targets_find(struct rsock_targets *t, u64 offset,
		       struct rsock_sge *to)
{
	struct rsock_target *target = rsock_target_at(t, offset);
	u32 skip;

	if (!target)
		return 0;
	skip = offset - target->node.start;
	*to = target->sge;
	to->addr += skip;
	to->len -= skip;
	return to->len;
}

/**
 * rsock_targets_cover() - is all of a range mapped?
 * @t: targets
 * @offset: its first byte
 * @len: bytes
 */
bool rsock_targets_cover(struct rsock_targets *t, u64 offset, u64 len)
{
	struct rsock_sge to;
	u32 n;

	if (offset + len < offset)
		return false;
	for (; len; offset += n, len -= n) {
		n = rsock_targets_find(t, offset, &to);
		if (!n)
			return false;
		if (n > len)
			n = len;
	}
	return true;
}
