// SPDX-License-Identifier: GPL-2.0
/*
 * Mappings: memory of the kernel that the peer may write to, as whoever mapped
 * it holds it: a user in the kernel, or the file behind an mmap().
 */

#include "mapping.h"

#include <linux/module.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include <net/sock.h>

#include "ep.h"
#include "region.h"
#include "rsock.h"

/* Nothing there waits for a peer: what does is looked at again */
static struct workqueue_struct *rsock_unmap_wq;

static int rsock_unmap_wake(struct wait_queue_entry *wait, unsigned int mode,
			    int flags, void *key)
{
	struct rsock_mapping *map = container_of(wait, struct rsock_mapping,
						 wait);

	mod_delayed_work(rsock_unmap_wq, &map->work, 0);
	return 0;
}

static void rsock_unmap_begin(struct rsock_mapping *map)
{
	map->begun = true;
	map->ours = rsock_iomap_del_begin(map->ep, map->region, map->used);
	map->deadline = jiffies + RSOCK_IOMAP_TIMEOUT;
	init_waitqueue_func_entry(&map->wait, rsock_unmap_wake);
	add_wait_queue(&map->ep->io.wait, &map->wait);
}

/* Is it due, or overdue? Else the work runs again when that may have changed. */
static bool rsock_unmap_is_due(struct rsock_mapping *map)
{
	unsigned long now = jiffies;

	if (rsock_iomap_del_is_due(map->ep, map->region, map->ours))
		return true;
	if (!map->ours)
		return false;
	if (time_after_eq(now, map->deadline))
		return true;
	/* Without effect if it has been woken already */
	queue_delayed_work(rsock_unmap_wq, &map->work, map->deadline - now);
	return false;
}

static void rsock_unmap_end(struct rsock_mapping *map)
{
	void (*done)(void *arg) = map->done;
	void *arg = map->arg;

	remove_wait_queue(&map->ep->io.wait, &map->wait);
	cancel_delayed_work(&map->work);
	if (map->ours)
		rsock_iomap_del_end(map->ep, map->region);
	rsock_mapping_free(map);
	if (done)
		done(arg);
}

static void rsock_unmap_work(struct work_struct *work)
{
	struct rsock_mapping *map = container_of(to_delayed_work(work),
						 struct rsock_mapping, work);
	unsigned long flags = rsock_memalloc_save(map->ep->gfp);

	if (!map->begun)
		rsock_unmap_begin(map);
	if (rsock_unmap_is_due(map))
		rsock_unmap_end(map);
	rsock_memalloc_restore(flags);
}

/**
 * rsock_mapping_alloc() - a mapping without a region
 * @ep: endpoint; the mapping takes a reference
 *
 * Return: the mapping, for rsock_unmap(), or NULL.
 */
struct rsock_mapping *rsock_mapping_alloc(struct rsock_ep *ep)
{
	struct rsock_mapping *map = kzalloc(sizeof(*map), GFP_KERNEL_ACCOUNT);

	if (!map)
		return NULL;
	map->ep = rsock_ep_get(ep);
	INIT_DELAYED_WORK(&map->work, rsock_unmap_work);
	return map;
}

static struct rsock_mapping *rsock_ep_map_bvec(struct rsock_ep *ep,
					       const struct bio_vec *bv,
					       unsigned int nr, s64 offset)
{
	struct rsock_mapping *map;
	int err;

	map = rsock_mapping_alloc(ep);
	if (!map)
		return ERR_PTR(-ENOMEM);
	err = rsock_iomap_add_bvec(ep, offset, bv, nr, &map->region);
	if (!err)
		return map;
	rsock_mapping_free(map);
	return ERR_PTR(err);
}

/**
 * rsock_map_bvec() - let the peer write to pages
 * @sock: connected socket of AF_RSOCK
 * @bv: the pages, without gaps: each entry but the first begins a page, each but
 *	the last ends one. The list itself is not needed after the call
 * @nr: entries of @bv, not 0
 * @offset: what the peer is to know the first byte by; it and the last byte's
 *	lie within 0..2^63-1. RSOCK_OFFSET_ANY chooses a free one
 *
 * The peer learns of it before whatever is sent after the call. The pages stay
 * the caller's, who has to keep them until the mapping is undone, also when the
 * connection ends before. The device is given whole pages: one that needs
 * bounce buffers may spoil what the processor writes next to the mapped bytes.
 *
 * Context: process; sleeps while the device registers the memory. Not under
 * lock_sock() of this socket.
 *
 * Return: the mapping, or an ERR_PTR: -EINVAL (gaps, nothing, offsets out of
 * range), -ENOTCONN, -EEXIST (offsets in use), -ENOMEM (no memory, or the peer's
 * table is full), -ETIMEDOUT (the peer acknowledges nothing), or what the
 * device says.
 */
struct rsock_mapping *rsock_map_bvec(struct socket *sock,
				     const struct bio_vec *bv, unsigned int nr,
				     s64 offset)
{
	struct rsock_mapping *map;
	struct rsock_ep *ep;
	unsigned long flags;

	if (offset < RSOCK_OFFSET_ANY)
		return ERR_PTR(-EINVAL);
	ep = rsock_sk_ep_get(sock->sk);
	if (!ep)
		return ERR_PTR(-ENOTCONN);
	flags = rsock_memalloc_save(ep->gfp);
	map = rsock_ep_map_bvec(ep, bv, nr, offset);
	rsock_memalloc_restore(flags);
	rsock_ep_put(ep);
	return map;
}
EXPORT_SYMBOL_GPL(rsock_map_bvec);

/**
 * rsock_mapping_offset() - what the peer knows a mapping by
 * @map: mapping
 *
 * Return: the offset of its first byte.
 */
u64 rsock_mapping_offset(const struct rsock_mapping *map)
{
	return map->region->node.start;
}
EXPORT_SYMBOL_GPL(rsock_mapping_offset);

/**
 * rsock_mapping_free() - free a mapping whose region nobody has to undo
 * @map: mapping
 */
void rsock_mapping_free(struct rsock_mapping *map)
{
	if (map->region)
		rsock_region_put(map->region);
	rsock_ep_put(map->ep);
	kfree(map);
}

/**
 * rsock_mapping_set_used() - the peer is finished with a mapping
 * @map: mapping
 *
 * For protocols in which the peer says so. To undo the mapping does not wait for
 * the peer then, if it is AF_RSOCK, too. Should it write there nevertheless the
 * connection ends.
 *
 * Context: any, before rsock_unmap() or rsock_unmap_async().
 */
void rsock_mapping_set_used(struct rsock_mapping *map)
{
	map->used = true;
}
EXPORT_SYMBOL_GPL(rsock_mapping_set_used);

/**
 * rsock_unmap() - undo a mapping, and wait
 * @map: mapping, freed by this
 *
 * When it returns the peer cannot write there any more, whatever it had begun.
 * A peer that does not confirm it within 10 seconds is reset.
 *
 * Context: process; sleeps. Not under lock_sock() of its socket, which may
 * have been released before.
 */
void rsock_unmap(struct rsock_mapping *map)
{
	unsigned long flags = rsock_memalloc_save(map->ep->gfp);

	rsock_iomap_del_region(map->ep, map->region, map->used);
	rsock_mapping_free(map);
	rsock_memalloc_restore(flags);
}
EXPORT_SYMBOL_GPL(rsock_unmap);

/**
 * rsock_unmap_async() - undo a mapping without waiting
 * @map: mapping, freed by this
 * @done: called once, when rsock_unmap() would have returned, in process
 *	context where it may sleep
 * @arg: its argument
 *
 * No thread waits for the peer meanwhile.
 *
 * Context: any.
 */
void rsock_unmap_async(struct rsock_mapping *map, void (*done)(void *arg),
		       void *arg)
{
	map->done = done;
	map->arg = arg;
	queue_delayed_work(rsock_unmap_wq, &map->work, 0);
}
EXPORT_SYMBOL_GPL(rsock_unmap_async);

/**
 * rsock_flush() - see the end of callbacks that have begun
 *
 * For the exit of a module, after the last rsock_unmap_async() and rsock_write()
 * called back: their functions have returned then.
 *
 * Context: process; sleeps. Not within such a callback.
 */
void rsock_flush(void)
{
	synchronize_net();	/* those in softirq */
	flush_workqueue(rsock_wq);
	flush_workqueue(rsock_unmap_wq);
}
EXPORT_SYMBOL_GPL(rsock_flush);

int rsock_mapping_init(void)
{
	rsock_unmap_wq = alloc_workqueue("rsock_unmap",
					 WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	return rsock_unmap_wq ? 0 : -ENOMEM;
}

/**
 * rsock_mapping_exit() - see the end of what is being undone
 *
 * When there is no connection any more, all of it is due.
 */
void rsock_mapping_exit(void)
{
	destroy_workqueue(rsock_unmap_wq);
}
