// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Options that a socket takes along when another one takes its place: those in
 * which it is not like a new one. What the new socket refuses is left out.
 */
#include <linux/ipv6.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>

#include "preload.h"

enum how {
	AS_READ,
	HALVED,		/* the kernel doubles it when it is set */
	ALWAYS,		/* also if it is the default: that may differ */
};

struct option {
	int level;
	int name;
	enum how how;
	const char *text;
};

#define OPTION(level, name, how)	{ level, name, how, #name }

static const struct option options[] = {
	OPTION(SOL_SOCKET, SO_REUSEADDR, AS_READ),
	OPTION(SOL_SOCKET, SO_REUSEPORT, AS_READ),
	OPTION(SOL_SOCKET, SO_KEEPALIVE, AS_READ),
	OPTION(SOL_SOCKET, SO_LINGER, AS_READ),
	OPTION(SOL_SOCKET, SO_OOBINLINE, AS_READ),
	OPTION(SOL_SOCKET, SO_DONTROUTE, AS_READ),
	OPTION(SOL_SOCKET, SO_SNDBUF, HALVED),
	OPTION(SOL_SOCKET, SO_RCVBUF, HALVED),
	OPTION(SOL_SOCKET, SO_RCVLOWAT, AS_READ),
	OPTION(SOL_SOCKET, SO_RCVTIMEO, AS_READ),
	OPTION(SOL_SOCKET, SO_SNDTIMEO, AS_READ),
	/* Before SO_PRIORITY, which it sets as well */
	OPTION(IPPROTO_IP, IP_TOS, AS_READ),
	OPTION(SOL_SOCKET, SO_PRIORITY, AS_READ),
	OPTION(SOL_SOCKET, SO_MARK, AS_READ),
	OPTION(SOL_SOCKET, SO_BINDTODEVICE, AS_READ),
	OPTION(SOL_SOCKET, SO_BUSY_POLL, AS_READ),
	OPTION(SOL_SOCKET, SO_TIMESTAMP, AS_READ),
	OPTION(SOL_SOCKET, SO_TIMESTAMPNS, AS_READ),
	OPTION(SOL_SOCKET, SO_MAX_PACING_RATE, AS_READ),
	OPTION(SOL_SOCKET, SO_ZEROCOPY, AS_READ),
	OPTION(IPPROTO_TCP, TCP_NODELAY, AS_READ),
	OPTION(IPPROTO_TCP, TCP_CORK, AS_READ),
	OPTION(IPPROTO_TCP, TCP_KEEPIDLE, AS_READ),
	OPTION(IPPROTO_TCP, TCP_KEEPINTVL, AS_READ),
	OPTION(IPPROTO_TCP, TCP_KEEPCNT, AS_READ),
	OPTION(IPPROTO_TCP, TCP_USER_TIMEOUT, AS_READ),
	OPTION(IPPROTO_TCP, TCP_SYNCNT, AS_READ),
	OPTION(IPPROTO_TCP, TCP_DEFER_ACCEPT, AS_READ),
	OPTION(IPPROTO_TCP, TCP_LINGER2, AS_READ),
	OPTION(IPPROTO_TCP, TCP_WINDOW_CLAMP, AS_READ),
	OPTION(IPPROTO_TCP, TCP_NOTSENT_LOWAT, AS_READ),
	OPTION(IPPROTO_TCP, TCP_CONGESTION, AS_READ),
	OPTION(IPPROTO_TCP, TCP_FASTOPEN, AS_READ),
	OPTION(IPPROTO_TCP, TCP_FASTOPEN_CONNECT, AS_READ),
	OPTION(IPPROTO_IP, IP_TTL, AS_READ),
	OPTION(IPPROTO_IP, IP_MTU_DISCOVER, AS_READ),
	OPTION(IPPROTO_IP, IP_FREEBIND, AS_READ),
	OPTION(IPPROTO_IP, IP_TRANSPARENT, AS_READ),
	OPTION(IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, AS_READ),
	OPTION(IPPROTO_IPV6, IPV6_V6ONLY, ALWAYS),
	OPTION(IPPROTO_IPV6, IPV6_TCLASS, AS_READ),
	OPTION(IPPROTO_IPV6, IPV6_UNICAST_HOPS, AS_READ),
};

struct value {
	union {
		int number;
		char bytes[16];
	};
	socklen_t len;
};

static bool get(int fd, const struct option *o, struct value *v)
{
	memset(v, 0, sizeof(*v));
	v->len = sizeof(v->bytes);
	return !real_getsockopt(fd, o->level, o->name, v->bytes, &v->len);
}

static bool same(const struct value *a, const struct value *b)
{
	return a->len == b->len && !memcmp(a->bytes, b->bytes, sizeof(a->bytes));
}

void options_carry(int from, int to, int fresh)
{
	struct value v, dflt;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(options); i++) {
		const struct option *o = &options[i];

		if (!get(from, o, &v) ||
		    (o->how != ALWAYS && get(fresh, o, &dflt) && same(&v, &dflt)))
			continue;
		if (o->how == HALVED)
			v.number /= 2;
		if (setsockopt(to, o->level, o->name, v.bytes, v.len) &&
		    o->how != ALWAYS)
			log_line("option %s is not carried over", o->text);
	}
}
