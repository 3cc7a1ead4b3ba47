// SPDX-License-Identifier: GPL-2.0
/*
 * The same sockets by another name: IPPROTO_RSOCK of AF_INET and AF_INET6, for
 * programs that cannot name a family, or whose socket() is redirected.
 *
 * inet_create() and inet6_create() make the socket; what is special is done by
 * rsock_proto's init(). Nothing else of theirs is used: the calls are ours.
 */

#include "rsock.h"

#include <net/ipv6.h>
#include <net/protocol.h>

#include <linux/rsock.h>

/* Where inet6_create() looks for it, up to Linux 6.4 */
static_assert(offsetofend(struct rsock_sock, pinet6) ==
	      sizeof(struct rsock_sock));

static struct inet_protosw rsock_protosw = {
	.type		= SOCK_STREAM,
	.protocol	= IPPROTO_RSOCK,
	.prot		= &rsock_proto,
	.ops		= &rsock_inet_ops,
};

static struct inet_protosw rsock_protosw6 = {
	.type		= SOCK_STREAM,
	.protocol	= IPPROTO_RSOCK,
	.prot		= &rsock_proto,
	.ops		= &rsock_inet6_ops,
};

/* Without IPv6 (ipv6.disable=1) its sockets are not there to be extended */
int rsock_inet_init(void)
{
	int err = 0;

	if (ipv6_mod_enabled())
		err = inet6_register_protosw(&rsock_protosw6);
	if (!err)
		inet_register_protosw(&rsock_protosw);
	return err;
}

void rsock_inet_exit(void)
{
	inet_unregister_protosw(&rsock_protosw);
	if (ipv6_mod_enabled())
		inet6_unregister_protosw(&rsock_protosw6);
}

/* 1 is SOCK_STREAM, which as an enumerator does not become a number here */
MODULE_ALIAS_NET_PF_PROTO_TYPE(PF_INET, IPPROTO_RSOCK, 1);
MODULE_ALIAS_NET_PF_PROTO_TYPE(PF_INET6, IPPROTO_RSOCK, 1);
