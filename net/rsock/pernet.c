// SPDX-License-Identifier: GPL-2.0
/*
 * Per network namespace: its sockets, net.rsock.* sysctls.
 */

#include "pernet.h"

#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/sysctl.h>

#include "ep.h"
#include "proc.h"

unsigned int rsock_net_id;
EXPORT_SYMBOL_GPL(rsock_net_id);

/* All sockets of a namespace, for those who list them */

void rsock_net_add(struct sock *sk)
{
	struct rsock_net *rn = rsock_net(sock_net(sk));

	spin_lock_bh(&rn->lock);
	hlist_add_head(&sk->sk_node, &rn->socks);
	spin_unlock_bh(&rn->lock);
}

/* Context: the socket's destructor */
void rsock_net_del(struct sock *sk)
{
	struct rsock_net *rn = rsock_net(sock_net(sk));

	spin_lock_bh(&rn->lock);
	hlist_del_init(&sk->sk_node);
	spin_unlock_bh(&rn->lock);
}

/**
 * rsock_net_first() - begin with a list of sockets, or go on with it
 * @net: network namespace
 * @skip: sockets to leave out
 *
 * Return: a socket with a reference, for rsock_net_next(), or NULL.
 */
struct sock *rsock_net_first(struct net *net, unsigned int skip)
{
	struct rsock_net *rn = rsock_net(net);
	struct sock *sk, *found = NULL;

	spin_lock_bh(&rn->lock);
	hlist_for_each_entry(sk, &rn->socks, sk_node) {
		if (!refcount_read(&sk->sk_refcnt) || (skip && skip--))
			continue;
		if (refcount_inc_not_zero(&sk->sk_refcnt)) {
			found = sk;
			break;
		}
	}
	spin_unlock_bh(&rn->lock);
	return found;
}
EXPORT_SYMBOL_GPL(rsock_net_first);

/**
 * rsock_net_next() - the socket behind another one
 * @sk: that one; its reference is given up
 *
 * Return: a socket with a reference, or NULL at the end.
 */
struct sock *rsock_net_next(struct sock *sk)
{
	struct rsock_net *rn = rsock_net(sock_net(sk));
	struct sock *next = sk, *found = NULL;

	spin_lock_bh(&rn->lock);
	hlist_for_each_entry_continue(next, sk_node) {
		if (refcount_inc_not_zero(&next->sk_refcnt)) {
			found = next;
			break;
		}
	}
	spin_unlock_bh(&rn->lock);
	sock_put(sk);
	return found;
}
EXPORT_SYMBOL_GPL(rsock_net_next);

/* A closed socket keeps its memory, also of a program that has ended */
#define RSOCK_FIN_TIMEOUT_MAX	3600
/* By default, so much of all memory for each connection: idle ones take less */
#define RSOCK_MEM_PER_CONN	(128 * 1024)
#define RSOCK_CONNS_MAX		65536
/* What the device has for a work request is charged to nobody */
#define RSOCK_QUEUE_MAX		512

static unsigned int rsock_fin_timeout_max = RSOCK_FIN_TIMEOUT_MAX;
static unsigned int rsock_queue_min = RSOCK_MIN_WR;
static unsigned int rsock_queue_max = RSOCK_MAX_WR;

static const struct ctl_table rsock_sysctls[] = {
	{
		.procname	= "fin_timeout",
		.maxlen		= sizeof(unsigned int),
		.mode		= 0644,
		.proc_handler	= proc_douintvec_minmax,
		.extra1		= SYSCTL_ONE,
		.extra2		= &rsock_fin_timeout_max,
	},
	{
		.procname	= "inplace_min",
		.maxlen		= sizeof(unsigned int),
		.mode		= 0644,
		.proc_handler	= proc_douintvec_minmax,
		.extra1		= SYSCTL_ZERO,
		.extra2		= SYSCTL_INT_MAX,
	},
	{
		.procname	= "max_connections",
		.maxlen		= sizeof(int),
		.mode		= 0644,
		.proc_handler	= proc_dointvec_minmax,
		.extra1		= SYSCTL_ZERO,
		.extra2		= SYSCTL_INT_MAX,
	},
	{
		.procname	= "max_queue",
		.maxlen		= sizeof(unsigned int),
		.mode		= 0644,
		.proc_handler	= proc_douintvec_minmax,
		.extra1		= &rsock_queue_min,
		.extra2		= &rsock_queue_max,
	},
};

static int rsock_sysctl_add(struct net *net, struct rsock_net *rn)
{
	size_t n = ARRAY_SIZE(rsock_sysctls);

	/* One more, left empty: the end, for kernels that look for it */
	rn->table = kcalloc(n + 1, sizeof(*rn->table), GFP_KERNEL);
	if (!rn->table)
		return -ENOMEM;
	memcpy(rn->table, rsock_sysctls, sizeof(rsock_sysctls));
	rn->table[0].data = &rn->fin_timeout;
	rn->table[1].data = &rn->inplace_min;
	rn->table[2].data = &rn->limits->max_connections;
	rn->table[3].data = &rn->limits->max_queue;
	if (rn->limits != rn) {
		rn->table[2].mode = 0444;
		rn->table[3].mode = 0444;
	}
	rn->sysctl = rsock_register_sysctl(net, "net/rsock", rn->table, n);
	if (rn->sysctl)
		return 0;
	kfree(rn->table);
	return -ENOMEM;
}

static int __net_init rsock_net_init(struct net *net)
{
	struct rsock_net *rn = rsock_net(net);
	int err;

	spin_lock_init(&rn->lock);
	INIT_HLIST_HEAD(&rn->socks);
	rn->fin_timeout = 60;
	rn->inplace_min = 128 * 1024;
	rn->max_connections = min_t(unsigned long, RSOCK_CONNS_MAX,
				    totalram_pages() /
				    (RSOCK_MEM_PER_CONN / PAGE_SIZE));
	rn->max_queue = RSOCK_QUEUE_MAX;
	rn->limits = net->user_ns == &init_user_ns ? rn : rsock_net(&init_net);
	rn->stats = alloc_percpu(struct rsock_stats);
	if (!rn->stats)
		return -ENOMEM;
	err = rsock_proc_add(net);
	if (err)
		goto free_stats;
	err = rsock_sysctl_add(net, rn);
	if (err)
		goto remove_proc;
	return 0;

remove_proc:
	rsock_proc_del(net);
free_stats:
	free_percpu(rn->stats);
	return err;
}

static void __net_exit rsock_net_exit(struct net *net)
{
	struct rsock_net *rn = rsock_net(net);

	unregister_net_sysctl_table(rn->sysctl);
	kfree(rn->table);
	rsock_proc_del(net);
	free_percpu(rn->stats);
}

static struct pernet_operations rsock_net_ops = {
	.init	= rsock_net_init,
	.exit	= rsock_net_exit,
	.id	= &rsock_net_id,
	.size	= sizeof(struct rsock_net),
};

int rsock_pernet_init(void)
{
	return register_pernet_subsys(&rsock_net_ops);
}

void rsock_pernet_exit(void)
{
	unregister_pernet_subsys(&rsock_net_ops);
}
