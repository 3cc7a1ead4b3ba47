// SPDX-License-Identifier: GPL-2.0
/*
 * Options, as a table. SOL_SOCKET is served by the core, but for what it has
 * only for families that it knows; an option of another level that is not in
 * the table is refused with ENOPROTOOPT.
 */

#include <linux/mm.h>
#include <linux/net.h>
#include <linux/slab.h>
#include <net/sock.h>

#include <linux/rsock.h>

#include "notes.h"
#include "rsock.h"

/* Widest queue that rsockets lets one ask for */
#define RSOCK_QSIZE_MIN		16
#define RSOCK_QSIZE_MAX		0xfffe

/**
 * struct rsock_opt - one option that takes an int
 * @level: of setsockopt(2)
 * @name: of setsockopt(2)
 * @min: smallest value; smaller ones are EINVAL
 * @max: largest value; larger ones are EINVAL
 * @before: can be set only until the socket connects, else EINVAL
 * @set: store a valid value; NULL if the option can only be read. Socket locked
 * @get: read it. Socket locked
 */
struct rsock_opt {
	int level;
	int name;
	int min;
	int max;
	bool before;
	void (*set)(struct rsock_sock *rs, int val);
	int (*get)(const struct rsock_sock *rs);
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

static void set_nodelay(struct rsock_sock *rs, int val)
{
	rs->nodelay = val;
}

static int get_nodelay(const struct rsock_sock *rs)
{
	return rs->nodelay;
}

/* The path's MTU, or what rsockets says when there is no path */
static int get_maxseg(const struct rsock_sock *rs)
{
	const struct rsock_ep *ep = rs->ep;
	int mtu = 2048;

	if (!ep)
		return mtu;
	spin_lock_bh((spinlock_t *)&ep->lock);
	if (ep->state == RSOCK_EP_OPEN && ep->id->route.path_rec)
		mtu = ib_mtu_enum_to_int(ep->id->route.path_rec->mtu);
	spin_unlock_bh((spinlock_t *)&ep->lock);
	return mtu;
}

static void set_v6only(struct rsock_sock *rs, int val)
{
	rs->v6only = val;
}

static int get_v6only(const struct rsock_sock *rs)
{
	return rs->v6only;
}

static void set_zerocopy(struct rsock_sock *rs, int val)
{
	sock_valbool_flag(&rs->inet.sk, SOCK_ZEROCOPY, val);
}

static int get_zerocopy(const struct rsock_sock *rs)
{
	return sock_flag(&rs->inet.sk, SOCK_ZEROCOPY);
}

static int get_notify(const struct rsock_sock *rs)
{
	return rs->ep && READ_ONCE(rs->ep->notes);
}

static const struct rsock_opt rsock_opts[] = {
	{ SOL_RSOCK, RDMA_SQSIZE, RSOCK_QSIZE_MIN, RSOCK_QSIZE_MAX, true,
	  set_sqsize, get_sqsize },
	{ SOL_RSOCK, RDMA_RQSIZE, RSOCK_QSIZE_MIN, RSOCK_QSIZE_MAX, true,
	  set_rqsize, get_rqsize },
	{ SOL_RSOCK, RDMA_INLINE, 0, RSOCK_QSIZE_MAX, true,
	  set_inline, get_inline },
	{ SOL_RSOCK, RDMA_IOMAPSIZE, 0, RSOCK_IOMAP_MAX, true,
	  set_iomapsize, get_iomapsize },
	{ SOL_RSOCK, RSOCK_RECV_NOTIFY, 1, 1, false, NULL, get_notify },
	{ SOL_RSOCK, RSOCK_ZEROCOPY, 0, 1, false, set_zerocopy, get_zerocopy },
	{ SOL_SOCKET, SO_ZEROCOPY, 0, 1, false, set_zerocopy, get_zerocopy },
	{ IPPROTO_TCP, TCP_NODELAY, INT_MIN, INT_MAX, false,
	  set_nodelay, get_nodelay },
	{ IPPROTO_TCP, TCP_MAXSEG, 0, 0, false, NULL, get_maxseg },
	{ IPPROTO_IPV6, IPV6_V6ONLY, INT_MIN, INT_MAX, true,
	  set_v6only, get_v6only },
};

static const struct rsock_opt *rsock_opt_find(int level, int name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rsock_opts); i++)
		if (rsock_opts[i].level == level && rsock_opts[i].name == name)
			return &rsock_opts[i];
	return NULL;
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

static int copy_int(int *val, sockptr_t optval, unsigned int optlen)
{
	if (optlen < sizeof(*val))
		return -EINVAL;
	return copy_from_sockptr(val, optval, sizeof(*val)) ? -EFAULT : 0;
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

	len = min_t(int, len, sizeof(offset));
	if (put_user(len, optlen) || copy_to_user(optval, &offset, len))
		return -EFAULT;
	return 0;
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

int rsock_setsockopt(struct socket *sock, int level, int optname,
		     sockptr_t optval, unsigned int optlen)
{
	const struct rsock_opt *opt = rsock_opt_find(level, optname);
	struct sock *sk = sock->sk;
	int val, err;

	if (level == SOL_SOCKET && !opt)
		return sock_setsockopt(sock, level, optname, optval, optlen);
	if (level == SOL_RSOCK) {
		switch (optname) {
		case RSOCK_IOMAP:
		case RSOCK_IOUNMAP:
			return set_iomap(sk, optname, optval, optlen);
		case RSOCK_WRITE_OFFSET:
			return set_write_offset(sk, optval, optlen);
		case RSOCK_RECV_NOTIFY:
			return set_notify(sk, optval, optlen);
		}
	}
	if (!opt || !opt->set)
		return -ENOPROTOOPT;
	err = copy_int(&val, optval, optlen);
	if (err)
		return err;
	if (val < opt->min || val > opt->max)
		return -EINVAL;
	lock_sock(sk);
	if (opt->before && sk->sk_state != TCP_CLOSE &&
	    sk->sk_state != TCP_LISTEN)
		err = -EINVAL;
	else
		opt->set(rsock_sk(sk), val);
	release_sock(sk);
	return err;
}

int rsock_getsockopt(struct socket *sock, int level, int optname,
		     char __user *optval, int __user *optlen)
{
	const struct rsock_opt *opt = rsock_opt_find(level, optname);
	struct sock *sk = sock->sk;
	int len, val;

	if (get_user(len, optlen))
		return -EFAULT;
	if (len < 0)
		return -EINVAL;
	if (level == SOL_RSOCK && optname == RSOCK_IOMAP)
		return get_iomap(sk, optval, optlen, len);
	if (level == SOL_RSOCK && optname == RSOCK_WRITE_OFFSET)
		return get_write_offset(sk, optval, optlen, len);
	if (!opt)
		return -ENOPROTOOPT;
	lock_sock(sk);
	val = opt->get(rsock_sk(sk));
	release_sock(sk);
	len = min_t(int, len, sizeof(val));
	if (put_user(len, optlen) || copy_to_user(optval, &val, len))
		return -EFAULT;
	return 0;
}
