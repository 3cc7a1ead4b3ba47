/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _RSOCK_PERNET_H
#define _RSOCK_PERNET_H

#include <net/net_namespace.h>
#include <net/netns/generic.h>
#include <net/ip.h>
#include <net/snmp.h>

#include "wire.h"

/* Counters, shown in /proc/net/rsock_stat */
enum rsock_mib {
	RSOCK_MIB_ACTIVEOPENS,		/* connect() succeeded */
	RSOCK_MIB_PASSIVEOPENS,		/* a peer's connect() succeeded */
	RSOCK_MIB_ATTEMPTFAILS,		/* connect() failed */
	RSOCK_MIB_NODEVICE,		/* of these: no RDMA device on the route */
	RSOCK_MIB_LISTENOVERFLOWS,	/* request rejected, backlog full */
	RSOCK_MIB_RESETS,		/* connection ended with an error */
	RSOCK_MIB_LINGERTIMEOUTS,	/* closed socket's data did not arrive */
	RSOCK_MIB_KEEPTIMEOUTS,		/* peer did not answer probes: reset */
	RSOCK_MIB_USERTIMEOUTS,		/* TCP_USER_TIMEOUT is over: reset */
	RSOCK_MIB_IOMAPS,		/* mappings offered to a peer */
	RSOCK_MIB_UNMAPSPLAIN,		/* taken back from one that cannot confirm */
	RSOCK_MIB_REVOKETIMEOUTS,	/* peer did not confirm: reset */
	RSOCK_MIB_INPLACE,		/* messages sent from the caller's pages */
	RSOCK_MIB_WRITESLOST,		/* placements whose target was unmapped */
	RSOCK_MIB_ACCESSERRORS,		/* peer wrote where it may not */
	RSOCK_MIB_FAULTS,		/* + enum rsock_fault: protocol faults */
	__RSOCK_MIB_MAX = RSOCK_MIB_FAULTS + __RSOCK_FAULT_MAX
};

struct rsock_stats {
	unsigned long mibs[__RSOCK_MIB_MAX];
};

/**
 * struct rsock_net - what each network namespace has
 * @stats: counters, per CPU
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
