/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _RSOCK_PERNET_H
#define _RSOCK_PERNET_H

#include <net/net_namespace.h>
#include <net/netns/generic.h>
#include <net/ip.h>
#include <net/snmp.h>

#include "mib.h"

/**
 * struct rsock_net - what each network namespace has
 * @stats: counters, per CPU
 * @limits: where the connections of this one are counted and limited: here, or in
 *	the initial namespace if users can write what they like to this one's
 *	sysctls. The next three are of use only there
 * @connections: how many have resources of a device, or are about to
 * @max_connections: how many may (net.rsock.max_connections)
 * @max_queue: work requests in a queue (net.rsock.max_queue)
 * @fin_timeout: seconds that a closed socket is given (net.rsock.fin_timeout)
 * @inplace_min: bytes from which on a blocking call sends in place
 *	(net.rsock.inplace_min)
 * @sysctl: registered table
 * @table: this namespace's copy of it
 * @lock: guards @socks
 * @socks: all sockets, from their making until they are destructed
 */
struct rsock_net {
	DEFINE_SNMP_STAT(struct rsock_stats, stats);
	struct rsock_net *limits;
	atomic_t connections;
	int max_connections;
	unsigned int max_queue;
	unsigned int fin_timeout;
	unsigned int inplace_min;
	struct ctl_table_header *sysctl;
	struct ctl_table *table;
	spinlock_t lock;	/* see above */
	struct hlist_head socks;
};

extern unsigned int rsock_net_id;

static inline struct rsock_net *rsock_net(const struct net *net)
{
	return net_generic(net, rsock_net_id);
}

#define RSOCK_INC_STATS(net, field) \
	SNMP_INC_STATS(rsock_net(net)->stats, field)

void rsock_net_add(struct sock *sk);
void rsock_net_del(struct sock *sk);
struct sock *rsock_net_first(struct net *net, unsigned int skip);
struct sock *rsock_net_next(struct sock *sk);
int rsock_pernet_init(void);
void rsock_pernet_exit(void);

#endif /* _RSOCK_PERNET_H */
