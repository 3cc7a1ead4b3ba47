/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _RSOCK_MAPPING_H
#define _RSOCK_MAPPING_H

#include <linux/wait.h>
#include <linux/workqueue.h>
#include <net/rsock.h>

struct rsock_ep;
struct rsock_region;

/**
 * struct rsock_mapping - a region as whoever mapped it holds it
 * @ep: endpoint; a reference is held
 * @region: likewise; NULL until it is mapped
 * @used: the peer is finished with it
 * @work: its end, if nobody waits for that
 * @wait: has it run when there is something to look at
 * @begun: it has run before
 * @ours: it was for us to end it
 * @deadline: what is waited for the peer, in jiffies
 * @done: to be called then, or NULL
 * @arg: its argument
 *
 * It is its holder's alone, who ends it by rsock_unmap() or
 * rsock_unmap_async().
 */
struct rsock_mapping {
	struct rsock_ep *ep;
	struct rsock_region *region;
	bool used;
	struct delayed_work work;
	struct wait_queue_entry wait;
	bool begun;
	bool ours;
	unsigned long deadline;
	void (*done)(void *arg);
	void *arg;
};

struct rsock_mapping *rsock_mapping_alloc(struct rsock_ep *ep);
void rsock_mapping_free(struct rsock_mapping *map);
int rsock_mapping_init(void);
void rsock_mapping_exit(void);

#endif /* _RSOCK_MAPPING_H */
