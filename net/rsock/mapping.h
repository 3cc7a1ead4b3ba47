/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _RSOCK_MAPPING_H
#define _RSOCK_MAPPING_H

#include <linux/workqueue.h>
#include <net/rsock.h>

struct rsock_ep;
struct rsock_region;

/**
 * struct rsock_mapping - a region as whoever mapped it holds it
 * @ep: endpoint; a reference is held
 * @region: likewise; NULL until it is mapped
 * @used: the peer is finished with it
 * @work: the end, for who does not wait for the peer
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
	struct work_struct work;
	void (*done)(void *arg);
	void *arg;
};

struct rsock_mapping *rsock_mapping_alloc(struct rsock_ep *ep);
void rsock_mapping_exit_process(struct rsock_mapping *map);
void rsock_mapping_free(struct rsock_mapping *map);
int rsock_mapping_init(void);
void rsock_mapping_exit(void);

#endif /* _RSOCK_MAPPING_H */
