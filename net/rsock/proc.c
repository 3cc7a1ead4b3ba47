// SPDX-License-Identifier: GPL-2.0
/*
 * /proc/net/rsock: a line for each socket of the namespace. What is in it is
 * what rsock_diag.c says at more length, read in the same way.
 */

#include "proc.h"

#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/seq_file_net.h>
#include <net/sock.h>

#include <linux/rsock_diag.h>

#include "info.h"
#include "pernet.h"

#define RSOCK_PROC_HEADING \
	"local peer st tx_queue rx_queue uid inode device qp\n"

/* A socket with a reference, for rsock_seq_next() or rsock_seq_stop() */
static void *rsock_seq_start(struct seq_file *seq, loff_t *pos)
{
	return *pos ? rsock_net_first(seq_file_net(seq), *pos - 1) :
		      SEQ_START_TOKEN;
}

static void *rsock_seq_next(struct seq_file *seq, void *v, loff_t *pos)
{
	++*pos;
	return v == SEQ_START_TOKEN ? rsock_net_first(seq_file_net(seq), 0) :
				      rsock_net_next(v);
}

static void rsock_seq_stop(struct seq_file *seq, void *v)
{
	if (v && v != SEQ_START_TOKEN)
		sock_put(v);
}

static void rsock_seq_addr(struct seq_file *seq, const union rsock_addr *addr)
{
	if (addr->sa.sa_family == AF_UNSPEC)
		seq_puts(seq, "- ");
	else
		seq_printf(seq, "%pISpc ", &addr->sa);
}

/* A listening socket has connections that wait, and how many may */
static int rsock_seq_show(struct seq_file *seq, void *v)
{
	char device[IB_DEVICE_NAME_MAX];
	struct rsock_diag_info info;
	struct rsock_addrs addrs;
	struct sock *sk = v;
	int state;

	if (v == SEQ_START_TOKEN) {
		seq_puts(seq, RSOCK_PROC_HEADING);
		return 0;
	}
	state = READ_ONCE(sk->sk_state);
	rsock_diag_info(sk, &info, &addrs, device);
	if (state == TCP_LISTEN) {
		info.unread = READ_ONCE(sk->sk_ack_backlog);
		info.queued = READ_ONCE(sk->sk_max_ack_backlog);
	}
	rsock_seq_addr(seq, &addrs.local);
	rsock_seq_addr(seq, &addrs.peer);
	seq_printf(seq, "%02X %u %u %u %lu %s %u\n", state, info.queued,
		   info.unread,
		   from_kuid_munged(seq_user_ns(seq), sock_i_uid(sk)),
		   sock_i_ino(sk), device[0] ? device : "-", info.qp);
	return 0;
}

static const struct seq_operations rsock_seq_ops = {
	.start	= rsock_seq_start,
	.next	= rsock_seq_next,
	.stop	= rsock_seq_stop,
	.show	= rsock_seq_show,
};

/**
 * rsock_proc_add() - make the files of a namespace
 * @net: network namespace
 *
 * Return: 0 or -ENOMEM, and nothing is made.
 */
int rsock_proc_add(struct net *net)
{
	if (!proc_create_net_single("rsock_stat", 0444, net->proc_net,
				    rsock_stat_show, NULL))
		return -ENOMEM;
	if (proc_create_net("rsock", 0444, net->proc_net, &rsock_seq_ops,
			    sizeof(struct seq_net_private)))
		return 0;
	remove_proc_entry("rsock_stat", net->proc_net);
	return -ENOMEM;
}

void rsock_proc_del(struct net *net)
{
	remove_proc_entry("rsock", net->proc_net);
	remove_proc_entry("rsock_stat", net->proc_net);
}
