/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _RSOCK_COMPAT_H
#define _RSOCK_COMPAT_H

/*
 * The only place that knows of kernel versions. The code is written for the
 * newest kernel; older ones are given here what they lack.
 *
 * Force-included before every file of the module (Kbuild).
 */

#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 1, 0)
#error "rsock needs Linux 6.1 or newer"
#endif

#ifndef __RSOCK_PURE__
#include <linux/mm.h>
#include <linux/net.h>
#include <net/inet_common.h>
#include <net/sock.h>
#include <net/net_namespace.h>
#include <linux/sysctl.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 10, 0)
/* accept() took its arguments one by one */
struct proto_accept_arg {
	int flags;
	int err;
	bool kern;
};

#define RSOCK_PROTO_ACCEPT(name, impl)					\
static struct sock *name(struct sock *sk, int flags, int *err, bool kern) \
{									\
	struct proto_accept_arg arg = { .flags = flags, .kern = kern };	\
	struct sock *newsk = impl(sk, &arg);				\
									\
	*err = arg.err;							\
	return newsk;							\
}
#else
#define RSOCK_PROTO_ACCEPT(name, impl)					\
static struct sock *name(struct sock *sk, struct proto_accept_arg *arg)	\
{									\
	return impl(sk, arg);						\
}
#endif

/* What the core must know of each of our sockets */
static inline void rsock_socket_init(struct socket *sock)
{
	set_bit(SOCK_SUPPORT_ZC, &sock->flags);
#ifdef SOCK_CUSTOM_SOCKOPT
	set_bit(SOCK_CUSTOM_SOCKOPT, &sock->flags);
#endif
}

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 10, 0)
static inline int rsock_inet_accept(struct socket *sock, struct socket *newsock,
				    int flags, bool kern)
{
	rsock_socket_init(newsock);
	return inet_accept(sock, newsock, flags, kern);
}
#else
static inline int rsock_inet_accept(struct socket *sock, struct socket *newsock,
				    struct proto_accept_arg *arg)
{
	rsock_socket_init(newsock);
	return inet_accept(sock, newsock, arg);
}
#endif

/* A socket of the kernel's gets a reference to its namespace */
static inline void rsock_hold_net(struct sock *sk)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
	sk_net_refcnt_upgrade(sk);
#else
	sk->sk_net_refcnt = 1;
	get_net_track(sock_net(sk), &sk->ns_tracker, GFP_KERNEL);
	sock_inuse_add(sock_net(sk), 1);
#endif
}

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 5, 0)
#define RSOCK_PINET6		/* it is where the structure ends */
#else
#define RSOCK_PINET6	.ipv6_pinfo_offset = offsetof(struct rsock_sock, pinet6),
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0)
static inline void vm_flags_set(struct vm_area_struct *vma, vm_flags_t flags)
{
	vma->vm_flags |= flags;
}
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 5, 0)
/* sendpage() was a call of its own, and no program could ask for it */
#define MSG_SPLICE_PAGES	0x8000000
#define RSOCK_MSG_KERNEL	MSG_SPLICE_PAGES
#define RSOCK_SENDPAGE_OP	.sendpage = rsock_sendpage,
#else
#define RSOCK_MSG_KERNEL	0	/* the core sees to it */
#define RSOCK_SENDPAGE_OP
#endif

/* Pages given away, as users in the kernel do it (for tests) */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 5, 0)
static inline int rsock_test_splice(struct socket *sock, struct bio_vec *bv,
				    unsigned int nr)
{
	int ret = 0, done = 0;

	for (; nr && ret >= 0; nr--, bv++) {
		ret = kernel_sendpage(sock, bv->bv_page, bv->bv_offset,
				      bv->bv_len, nr > 1 ? MSG_MORE : 0);
		if (ret > 0)
			done += ret;
	}
	return done ?: ret;
}
#else
static inline int rsock_test_splice(struct socket *sock, struct bio_vec *bv,
				    unsigned int nr)
{
	struct msghdr msg = { .msg_flags = MSG_SPLICE_PAGES };
	size_t len = 0;
	unsigned int i;

	for (i = 0; i < nr; i++)
		len += bv[i].bv_len;
	iov_iter_bvec(&msg.msg_iter, ITER_SOURCE, bv, nr, len);
	return sock_sendmsg(sock, &msg);
}
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 10, 0)
/* there was only this one */
struct ubuf_info_ops {
	void (*complete)(struct sk_buff *skb, struct ubuf_info *ubuf,
			 bool success);
};

#define rsock_ubuf_ops(ubuf, ops)	((ubuf)->callback = (ops)->complete)
#define rsock_ubuf_is(ubuf, ops)	((ubuf)->callback == (ops)->complete)
#else
#define rsock_ubuf_ops(ubuf, o)		((ubuf)->ops = (o))
#define rsock_ubuf_is(ubuf, o)		((ubuf)->ops == (o))
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 6, 0)
/* tables ended with an empty entry and had no size */
static inline struct ctl_table_header *
rsock_register_sysctl(struct net *net, const char *path,
		      struct ctl_table *table, size_t entries)
{
	return register_net_sysctl(net, path, table);
}
#else
static inline struct ctl_table_header *
rsock_register_sysctl(struct net *net, const char *path,
		      struct ctl_table *table, size_t entries)
{
	return register_net_sysctl_sz(net, path, table, entries);
}
#endif
#endif /* __RSOCK_PURE__ */

#endif /* _RSOCK_COMPAT_H */
