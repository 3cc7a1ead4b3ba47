// SPDX-License-Identifier: GPL-2.0
/*
 * Options, as a table. SOL_SOCKET is served by the core, but for what it has
 * only for families that it knows; an option of another level that is not in
 * the table is refused with ENOPROTOOPT.
 */

#include <linux/mm.h>
#include <linux/module.h>
#include <linux/net.h>
#include <linux/slab.h>
#include <net/inet_ecn.h>
#include <net/rsock.h>
#include <net/sock.h>
#include <net/tcp.h>

#include <linux/rsock.h>

#include "info.h"
#include "notes.h"
#include "rsock.h"
#include "watch.h"

/* Widest queue that rsockets lets one ask for */
#define RSOCK_QSIZE_MIN		16
#define RSOCK_QSIZE_MAX		0xfffe

/* Whom TCP_CONGESTION names: nobody but the receiver, and the device */
#define RSOCK_CONGESTION	"rdma"

static int put_bytes(char __user *optval, int __user *optlen, int len,
		     const void *from, size_t size)
{
	len = min_t(size_t, len, size);
	if (put_user(len, optlen) || copy_to_user(optval, from, len))
		return -EFAULT;
	return 0;
}

enum {
	OPT_BOOL	= BIT(0),	/* any value will do, and is 0 or 1 */
	OPT_BEFORE	= BIT(1),	/* can be set only until it connects */
	OPT_READ	= BIT(2),	/* can only be read */
	OPT_UNBOUND	= BIT(3),	/* can be set only until it has a port */
};

/**
 * struct rsock_opt - one option that takes an int
 * @level: of setsockopt(2)
 * @name: of setsockopt(2)
 * @min: smallest value; smaller ones are EINVAL
 * @max: largest value; larger ones are EINVAL
 * @flags: OPT_*
 * @offset: where in struct rsock_opts it is, unless there are functions for it
 * @set: store a valid value; NULL to store it there. Socket locked
 * @get: read it; NULL to read it there. Socket locked
 * @changed: act on what was stored, if need be. Socket locked
 */
struct rsock_opt {
	int level;
	int name;
	int min;
	int max;
	u16 flags;
	u16 offset;
	void (*set)(struct rsock_sock *rs, int val);
	int (*get)(const struct rsock_sock *rs);
	void (*changed)(struct rsock_sock *rs);
};

static void set_sqsize(struct rsock_sock *rs, int val)
{
	rs->cfg.sq = val;
}

static int get_sqsize(const struct rsock_sock *rs)
{
	return rs->cfg.sq;
}

static void set_rqsize(struct rsock_sock *rs, int val)
{
	rs->cfg.rq = val;
}

static int get_rqsize(const struct rsock_sock *rs)
{
	return rs->cfg.rq;
}

static void set_inline(struct rsock_sock *rs, int val)
{
	rs->inline_size = val;
}

static int get_inline(const struct rsock_sock *rs)
{
	return rs->inline_size;
}

static void set_iomapsize(struct rsock_sock *rs, int val)
{
	rs->cfg.iomap = rsock_scale_decode(rsock_scale_encode(val));
}

static int get_iomapsize(const struct rsock_sock *rs)
{
	return rs->cfg.iomap;
}

static void set_zerocopy(struct rsock_sock *rs, int val)
{
	sock_valbool_flag(&rs->inet.sk, SOCK_ZEROCOPY, val);
}

static int get_zerocopy(const struct rsock_sock *rs)
{
	return sock_flag(&rs->inet.sk, SOCK_ZEROCOPY);
}

static void set_reuseport(struct rsock_sock *rs, int val)
{
	rs->inet.sk.sk_reuseport = val;
}

static int get_reuseport(const struct rsock_sock *rs)
{
	return rs->inet.sk.sk_reuseport;
}

static int get_notify(const struct rsock_sock *rs)
{
	return rs->ep && READ_ONCE(rs->ep->notes);
}

/* The path's MTU */
static int get_maxseg(const struct rsock_sock *rs)
{
	return rsock_path_mtu(rs->ep);
}

static void set_quickack(struct rsock_sock *rs, int val)
{
	rs->opts.quickack = !val;	/* it is on unless set */
}

static int get_quickack(const struct rsock_sock *rs)
{
	return !rs->opts.quickack;
}

/* What is left of it is for congestion notification, which is the device's */
static void set_tos(struct rsock_sock *rs, int val)
{
	rs->opts.tos = (u8)val & ~INET_ECN_MASK;
}

static void set_tclass(struct rsock_sock *rs, int val)
{
	rs->opts.tclass = val < 0 ? 0 : val & ~INET_ECN_MASK;
}

static void watch_changed(struct rsock_sock *rs)
{
	struct rsock_ep *ep = rs->ep;

	if (!ep)
		return;
	spin_lock_bh(&ep->lock);
	rsock_watch(ep);
	spin_unlock_bh(&ep->lock);
}

#define OPT(field)	.offset = offsetof(struct rsock_opts, field)

static const struct rsock_opt rsock_opts[] = {
	{ SOL_RSOCK, RDMA_SQSIZE, RSOCK_QSIZE_MIN, RSOCK_QSIZE_MAX, OPT_BEFORE,
	  .set = set_sqsize, .get = get_sqsize },
	{ SOL_RSOCK, RDMA_RQSIZE, RSOCK_QSIZE_MIN, RSOCK_QSIZE_MAX, OPT_BEFORE,
	  .set = set_rqsize, .get = get_rqsize },
	{ SOL_RSOCK, RDMA_INLINE, 0, RSOCK_QSIZE_MAX, OPT_BEFORE,
	  .set = set_inline, .get = get_inline },
	{ SOL_RSOCK, RDMA_IOMAPSIZE, 0, RSOCK_IOMAP_MAX, OPT_BEFORE,
	  .set = set_iomapsize, .get = get_iomapsize },
	{ SOL_RSOCK, RSOCK_RECV_NOTIFY, 1, 1, OPT_READ, .get = get_notify },
	{ SOL_RSOCK, RSOCK_ZEROCOPY, 0, 1, 0,
	  .set = set_zerocopy, .get = get_zerocopy },
	{ SOL_SOCKET, SO_ZEROCOPY, 0, 1, 0,
	  .set = set_zerocopy, .get = get_zerocopy },
	{ SOL_SOCKET, SO_REUSEPORT, 0, 0, OPT_BOOL,
	  .set = set_reuseport, .get = get_reuseport },

	{ IPPROTO_TCP, TCP_KEEPIDLE, 1, 32767, 0, OPT(keepidle),
	  .get = rsock_keepidle, .changed = watch_changed },
	{ IPPROTO_TCP, TCP_KEEPINTVL, 1, 32767, 0, OPT(keepintvl),
	  .get = rsock_keepintvl, .changed = watch_changed },
	{ IPPROTO_TCP, TCP_KEEPCNT, 1, 127, 0, OPT(keepcnt),
	  .get = rsock_keepcnt, .changed = watch_changed },
	{ IPPROTO_TCP, TCP_USER_TIMEOUT, 0, INT_MAX, 0, OPT(user_timeout),
	  .changed = watch_changed },
	{ IPPROTO_TCP, TCP_NODELAY, 0, 0, OPT_BOOL, OPT(nodelay) },
	{ IPPROTO_TCP, TCP_CORK, 0, 0, OPT_BOOL, OPT(cork) },
	{ IPPROTO_TCP, TCP_QUICKACK, 0, 0, OPT_BOOL,
	  .set = set_quickack, .get = get_quickack },
	{ IPPROTO_TCP, TCP_MAXSEG, 0, 0, OPT_READ, .get = get_maxseg },
	{ IPPROTO_TCP, TCP_DEFER_ACCEPT, INT_MIN, INT_MAX, 0,
	  OPT(defer_accept) },
	{ IPPROTO_TCP, TCP_NOTSENT_LOWAT, INT_MIN, INT_MAX, 0,
	  OPT(notsent_lowat) },

	{ IPPROTO_IP, IP_TOS, INT_MIN, INT_MAX, 0,
	  OPT(tos), .set = set_tos },
	{ IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 0, 0, OPT_BOOL, OPT(no_port) },
	{ IPPROTO_IPV6, IPV6_V6ONLY, 0, 0, OPT_BOOL | OPT_UNBOUND,
	  OPT(v6only) },
	{ IPPROTO_IPV6, IPV6_TCLASS, -1, 255, 0,
	  OPT(tclass), .set = set_tclass },
};

static const struct rsock_opt *rsock_opt_find(int level, int name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rsock_opts); i++)
		if (rsock_opts[i].level == level && rsock_opts[i].name == name)
			return &rsock_opts[i];
	return NULL;
}

static int copy_int(int *val, sockptr_t optval, unsigned int optlen)
{
	if (optlen < sizeof(*val))
		return -EINVAL;
	return copy_from_sockptr(val, optval, sizeof(*val)) ? -EFAULT : 0;
}

/* Options of IP may be a byte, or nothing, which means 0 */
static int copy_ip_int(int *val, sockptr_t optval, unsigned int optlen)
{
	u8 byte = 0;

	if (optlen >= sizeof(*val))
		return copy_int(val, optval, optlen);
	if (optlen && copy_from_sockptr(&byte, optval, sizeof(byte)))
		return -EFAULT;
	*val = byte;
	return 0;
}

static bool opt_is_late(const struct rsock_opt *opt, const struct sock *sk)
{
	if ((opt->flags & OPT_UNBOUND) &&
	    (rsock_sk(sk)->bound || sk->sk_state != TCP_CLOSE))
		return true;
	return (opt->flags & OPT_BEFORE) && sk->sk_state != TCP_CLOSE &&
	       sk->sk_state != TCP_LISTEN;
}

static int set_opt_val(struct sock *sk, const struct rsock_opt *opt, int val)
{
	struct rsock_sock *rs = rsock_sk(sk);
	int err = 0;

	if (opt->flags & OPT_BOOL)
		val = !!val;
	else if (val < opt->min || val > opt->max)
		return -EINVAL;
	lock_sock(sk);
	if (opt_is_late(opt, sk))
		err = -EINVAL;
	else if (opt->set)
		opt->set(rs, val);
	else
		WRITE_ONCE(*(int *)((void *)&rs->opts + opt->offset), val);
	if (!err && opt->changed)
		opt->changed(rs);
	release_sock(sk);
	return err;
}

static int set_opt(struct sock *sk, const struct rsock_opt *opt,
		   sockptr_t optval, unsigned int optlen)
{
	int val, err;

	if (opt->level == IPPROTO_IP)
		err = copy_ip_int(&val, optval, optlen);
	else
		err = copy_int(&val, optval, optlen);
	return err ?: set_opt_val(sk, opt, val);
}

/**
 * rsock_sock_set_opt() - setsockopt(2) for users in the kernel
 * @sk: socket of AF_RSOCK
 * @level: SOL_RSOCK, IPPROTO_TCP, IPPROTO_IP or IPPROTO_IPV6; what is of
 *	SOL_SOCKET has sock_set_keepalive() and others
 * @optname: an option that takes an int
 * @val: its value
 *
 * Context: process; takes lock_sock().
 *
 * Return: 0 or a negative errno: what setsockopt(2) says.
 */
int rsock_sock_set_opt(struct sock *sk, int level, int optname, int val)
{
	const struct rsock_opt *opt = rsock_opt_find(level, optname);

	if (!opt || (opt->flags & OPT_READ))
		return -ENOPROTOOPT;
	return set_opt_val(sk, opt, val);
}
EXPORT_SYMBOL_GPL(rsock_sock_set_opt);

static int get_opt(struct sock *sk, const struct rsock_opt *opt,
		   char __user *optval, int __user *optlen, int len)
{
	const struct rsock_sock *rs = rsock_sk(sk);
	int val;
	u8 byte;

	lock_sock(sk);
	if (opt->get)
		val = opt->get(rs);
	else
		val = *(int *)((void *)&rs->opts + opt->offset);
	release_sock(sk);
	if (opt->level == IPPROTO_IP && len > 0 && len < sizeof(val) &&
	    val >= 0 && val <= U8_MAX) {
		byte = val;
		return put_bytes(optval, optlen, len, &byte, sizeof(byte));
	}
	return put_bytes(optval, optlen, len, &val, sizeof(val));
}

/* TCP: options that are no int */

static int set_congestion(sockptr_t optval, unsigned int optlen)
{
	char name[TCP_CA_NAME_MAX] = {};

	if (!optlen)
		return -EINVAL;
	optlen = min_t(unsigned int, optlen, sizeof(name) - 1);
	if (copy_from_sockptr(name, optval, optlen))
		return -EFAULT;
	return strcmp(name, RSOCK_CONGESTION) ? -ENOENT : 0;
}

static int get_congestion(char __user *optval, int __user *optlen, int len)
{
	static const char name[TCP_CA_NAME_MAX] = RSOCK_CONGESTION;

	return put_bytes(optval, optlen, len, name, sizeof(name));
}

static int get_info(struct sock *sk, char __user *optval, int __user *optlen,
		    int len)
{
	struct tcp_info info;

	lock_sock(sk);
	rsock_tcp_info(sk, &info);
	release_sock(sk);
	return put_bytes(optval, optlen, len, &info, sizeof(info));
}

/* Direct placement: options that take more than an int */

/* Not under the socket lock: pinning and unmapping may take long */
static int set_iomap(struct sock *sk, int optname, sockptr_t optval,
		     unsigned int optlen)
{
	struct rsock_iomap m;
	struct rsock_ep *ep;
	int err;

	if (optlen < sizeof(m))
		return -EINVAL;
	if (copy_from_sockptr(&m, optval, sizeof(m)))
		return -EFAULT;
	ep = rsock_sk_ep_get(sk);
	if (!ep)
		return -ENOTCONN;
	err = optname == RSOCK_IOMAP ? rsock_iomap_add(ep, &m) :
				       rsock_iomap_del(ep, &m);
	rsock_ep_put(ep);
	return err;
}

static int set_notify(struct sock *sk, sockptr_t optval, unsigned int optlen)
{
	struct rsock_ep *ep;
	int val, err;

	err = copy_int(&val, optval, optlen);
	if (err)
		return err;
	if (val != 1)
		return -EINVAL;
	ep = rsock_sk_ep_get(sk);
	if (!ep)
		return -ENOTCONN;
	err = rsock_notes_want(ep);
	rsock_ep_put(ep);
	return err;
}

static int set_write_offset(struct sock *sk, sockptr_t optval,
			    unsigned int optlen)
{
	s64 offset;

	if (optlen < sizeof(offset))
		return -EINVAL;
	if (copy_from_sockptr(&offset, optval, sizeof(offset)))
		return -EFAULT;
	if (offset < -1)
		return -EINVAL;
	lock_sock(sk);
	rsock_sk(sk)->write_offset = offset;
	release_sock(sk);
	return 0;
}

static int get_write_offset(struct sock *sk, char __user *optval,
			    int __user *optlen, int len)
{
	s64 offset = READ_ONCE(rsock_sk(sk)->write_offset);

	return put_bytes(optval, optlen, len, &offset, sizeof(offset));
}

static int get_iomap(struct sock *sk, char __user *optval, int __user *optlen,
		     int len)
{
	struct rsock_iomap *list;
	struct rsock_ep *ep;
	unsigned int max, n;
	int err = 0;

	ep = rsock_sk_ep_get(sk);
	if (!ep)
		return -ENOTCONN;
	n = rsock_iomap_list(ep, NULL, 0);
	max = min_t(unsigned int, n, len / sizeof(*list));
	list = kvcalloc(max, sizeof(*list), GFP_KERNEL_ACCOUNT);
	if (!list)
		err = -ENOMEM;
	else
		n = rsock_iomap_list(ep, list, max);
	rsock_ep_put(ep);
	if (!err && put_user((int)(n * sizeof(*list)), optlen))
		err = -EFAULT;
	if (!err && n > max)
		err = -ENOSPC;
	if (!err && copy_to_user(optval, list, n * sizeof(*list)))
		err = -EFAULT;
	kvfree(list);
	return err;
}

/* SO_KEEPALIVE was set or cleared: called by the core, socket locked */
void rsock_keepalive(struct sock *sk, int on)
{
	sock_valbool_flag(sk, SOCK_KEEPOPEN, on);
	watch_changed(rsock_sk(sk));
}

static int set_own(struct sock *sk, int optname, sockptr_t optval,
		   unsigned int optlen)
{
	switch (optname) {
	case RSOCK_IOMAP:
	case RSOCK_IOUNMAP:
		return set_iomap(sk, optname, optval, optlen);
	case RSOCK_WRITE_OFFSET:
		return set_write_offset(sk, optval, optlen);
	case RSOCK_RECV_NOTIFY:
		return set_notify(sk, optval, optlen);
	default:
		return -ENOPROTOOPT;
	}
}

int rsock_setsockopt(struct socket *sock, int level, int optname,
		     sockptr_t optval, unsigned int optlen)
{
	const struct rsock_opt *opt = rsock_opt_find(level, optname);
	struct sock *sk = sock->sk;

	if (opt && !(opt->flags & OPT_READ))
		return set_opt(sk, opt, optval, optlen);
	switch (level) {
	case SOL_SOCKET:
		return sock_setsockopt(sock, level, optname, optval, optlen);
	case SOL_RSOCK:
		return set_own(sk, optname, optval, optlen);
	case IPPROTO_TCP:
		if (optname == TCP_CONGESTION)
			return set_congestion(optval, optlen);
		break;
	}
	return -ENOPROTOOPT;
}

int rsock_getsockopt(struct socket *sock, int level, int optname,
		     char __user *optval, int __user *optlen)
{
	const struct rsock_opt *opt = rsock_opt_find(level, optname);
	struct sock *sk = sock->sk;
	int len;

	if (get_user(len, optlen))
		return -EFAULT;
	if (len < 0)
		return -EINVAL;
	if (opt)
		return get_opt(sk, opt, optval, optlen, len);
	if (level == SOL_RSOCK && optname == RSOCK_IOMAP)
		return get_iomap(sk, optval, optlen, len);
	if (level == SOL_RSOCK && optname == RSOCK_WRITE_OFFSET)
		return get_write_offset(sk, optval, optlen, len);
	if (level == IPPROTO_TCP && optname == TCP_INFO)
		return get_info(sk, optval, optlen, len);
	if (level == IPPROTO_TCP && optname == TCP_CONGESTION)
		return get_congestion(optval, optlen, len);
	return -ENOPROTOOPT;
}
