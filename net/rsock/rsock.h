/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _RSOCK_H
#define _RSOCK_H

#include <linux/in.h>
#include <linux/in6.h>
#include <linux/ipv6.h>
#include <net/inet_sock.h>
#include <net/rsock.h>
#include <uapi/linux/tcp.h>

#include "ep.h"

union rsock_addr {
	struct sockaddr sa;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
};

/**
 * struct rsock_opts - options of TCP and IP, 0 unless set; inherited by what is
 *	accepted
 * @keepidle: TCP_KEEPIDLE, seconds
 * @keepintvl: TCP_KEEPINTVL, seconds
 * @keepcnt: TCP_KEEPCNT
 * @user_timeout: TCP_USER_TIMEOUT, ms
 * @tos: IP_TOS, the service type of the path to an IPv4 address
 * @tclass: IPV6_TCLASS, that to an IPv6 one
 * @v6only: IPV6_V6ONLY
 * @notsent_lowat: TCP_NOTSENT_LOWAT, bytes
 *
 * The rest are hints which have no effect: nothing waits for an acknowledgment
 * that is not on its way, a connection is there before its first byte, and a port
 * from bind() on.
 */
struct rsock_opts {
	int keepidle;
	int keepintvl;
	int keepcnt;
	int user_timeout;
	int tos;
	int tclass;
	int v6only;
	int notsent_lowat;

	int nodelay;
	int cork;
	int quickack;
	int defer_accept;
	int no_port;
};

/**
 * struct rsock_sock - an AF_RSOCK socket
 * @inet: first member, since sockets of AF_INET and AF_INET6 begin with it
 * @ep: its connection, or its bound or listening cm_id; a reference is held.
 *	Guarded by lock_sock(). NULL until bind(), connect() or listen()
 * @name: what bind() was last asked for, lock_sock(). AF_UNSPEC if it never was
 * @laddr: own address, AF_UNSPEC before it has one. lock_sock() and, once @ep
 *	is in use, ep->lock
 * @paddr: the peer's, likewise
 * @v6: an AF_INET6 address was given: IPv4 ones are shown as mapped
 * @bound: bind() was called
 * @opts: lock_sock() to write
 * @cfg: sizes for the next connection, lock_sock()
 * @write_offset: RSOCK_WRITE_OFFSET, lock_sock()
 * @inline_size: RDMA_INLINE, kept for the program's sake
 * @listener: the listening socket while this one waits to be accepted; a
 *	reference is held. rsock_accept_lock
 * @accept_node: in the listener's @pending or @ready. rsock_accept_lock
 * @pending: children not yet established, each with a reference
 * @ready: children to accept, each with a reference
 * @pinet6: last member, where inet6_create() expects it; not used
 *
 * sk_state is one of the TCP_* states, so that tools and helpers know it. It,
 * sk_err and sk_shutdown are written under ep->lock once @ep is in use: none
 * of that may wait for lock_sock(), which its holder can keep for long.
 */
struct rsock_sock {
	struct inet_sock inet;
	struct rsock_ep *ep;
	union rsock_addr name;
	union rsock_addr laddr;
	union rsock_addr paddr;
	bool v6;
	bool bound;
	struct rsock_opts opts;
	struct rsock_ep_cfg cfg;
	s64 write_offset;
	int inline_size;

	struct sock *listener;
	struct list_head accept_node;
	struct list_head pending;
	struct list_head ready;

	struct ipv6_pinfo pinet6;
};

static inline struct rsock_sock *rsock_sk(const struct sock *sk)
{
	return container_of(inet_sk(sk), struct rsock_sock, inet);
}

/* An address in the form of IPv6, :: if there is none. Returns the port. */
static inline u16 rsock_addr_as_v6(const struct sockaddr_storage *addr,
				   u8 v6[16])
{
	const union rsock_addr *a = (const void *)addr;

	memset(v6, 0, 16);
	if (a->sa.sa_family == AF_INET6)
		memcpy(v6, &a->in6.sin6_addr, 16);
	else if (a->sa.sa_family == AF_INET)
		ipv6_addr_set_v4mapped(a->in.sin_addr.s_addr,
				       (struct in6_addr *)v6);
	else
		return 0;
	return ntohs(a->in.sin_port);	/* at the same place in both */
}

extern struct proto rsock_proto;
extern const struct proto_ops rsock_inet_ops;
extern const struct proto_ops rsock_inet6_ops;

/* af_rsock.c */
int rsock_af_init(void);
void rsock_af_exit(void);

/* sock.c */
struct sock *rsock_sk_alloc(struct net *net, int family, bool kern);
int rsock_sk_init(struct sock *sk);
struct rsock_ep *rsock_sk_ep(struct sock *sk);
struct rsock_ep *rsock_sk_ep_get(struct sock *sk);
int rsock_sk_new_id(struct sock *sk);
void rsock_sk_reset(struct sock *sk);
void rsock_sk_addrs(struct sock *sk);
void rsock_sk_fin(struct sock *sk, enum rsock_fin fin);
void rsock_sk_close(struct sock *sk);
void rsock_set_state(struct sock *sk, int state);

/* addr.c */
int rsock_addr_in(const struct sock *sk, const struct sockaddr *uaddr, int len,
		  union rsock_addr *addr);
int rsock_addr_to(const struct sock *sk, union rsock_addr *addr);
int rsock_sk_bind4(struct sock *sk);
int rsock_sk_bind(struct sock *sk, union rsock_addr *addr);
int rsock_sk_bind_again(struct sock *sk);
void rsock_sk_disconnect(struct sock *sk);
int rsock_bind(struct socket *sock, struct sockaddr *uaddr, int len);
int rsock_getname(struct socket *sock, struct sockaddr *uaddr, int peer);

/* inet.c */
int rsock_inet_init(void);
void rsock_inet_exit(void);

/* sockopt.c */
int rsock_setsockopt(struct socket *sock, int level, int optname,
		     sockptr_t optval, unsigned int optlen);
int rsock_getsockopt(struct socket *sock, int level, int optname,
		     char __user *optval, int __user *optlen);
void rsock_keepalive(struct sock *sk, int on);

/* mmap.c */
int rsock_mmap(struct file *file, struct socket *sock,
	       struct vm_area_struct *vma);

#endif /* _RSOCK_H */
