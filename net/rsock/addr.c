// SPDX-License-Identifier: GPL-2.0
/*
 * Addresses: what users may say, what they are told, and binding. A socket of
 * AF_RSOCK takes those of both versions of IP; the wire below knows IPv4 and
 * IPv6, and v4-mapped addresses are for users only.
 */

#include <net/ipv6.h>
#include <net/sock.h>

#include "cm.h"
#include "rsock.h"
#include "rx.h"

/**
 * rsock_addr_in() - take an address from the user
 * @sk: socket
 * @uaddr: see include/uapi/linux/rsock.h
 * @len: bytes of it
 * @addr: what it is, of family AF_INET or AF_INET6
 */
int rsock_addr_in(const struct sock *sk, const struct sockaddr *uaddr, int len,
		  union rsock_addr *addr)
{
	int family;

	if (len < (int)sizeof(uaddr->sa_family))
		return -EINVAL;
	family = uaddr->sa_family;
	if (sk->sk_family != rsock_family) {
		if (family != sk->sk_family)
			return -EAFNOSUPPORT;
	} else if (family == rsock_family) {
		if (len == sizeof(addr->in))
			family = AF_INET;
		else if (len == sizeof(addr->in6))
			family = AF_INET6;
		else
			return -EINVAL;
	}
	memset(addr, 0, sizeof(*addr));
	switch (family) {
	case AF_INET:
		if (len < (int)sizeof(addr->in))
			return -EINVAL;
		memcpy(&addr->in, uaddr, sizeof(addr->in));
		break;
	case AF_INET6:
		/* As of old, without a scope */
		if (len < SIN6_LEN_RFC2133)
			return -EINVAL;
		memcpy(&addr->in6, uaddr,
		       min_t(size_t, len, sizeof(addr->in6)));
		break;
	default:
		return -EAFNOSUPPORT;
	}
	addr->sa.sa_family = family;
	return 0;
}

/* A v4-mapped address is IPv4 to rdma_cm; the socket remembers who asked */
static void rsock_addr_unmap(union rsock_addr *addr)
{
	struct sockaddr_in in = {
		.sin_family = AF_INET,
		.sin_port = addr->in6.sin6_port,
	};

	if (addr->sa.sa_family != AF_INET6 ||
	    !ipv6_addr_v4mapped(&addr->in6.sin6_addr))
		return;
	in.sin_addr.s_addr = addr->in6.sin6_addr.s6_addr32[3];
	memset(addr, 0, sizeof(*addr));
	addr->in = in;
}

static void rsock_addr_map(union rsock_addr *addr)
{
	struct sockaddr_in6 in6 = {
		.sin6_family = AF_INET6,
		.sin6_port = addr->in.sin_port,
	};

	ipv6_addr_set_v4mapped(addr->in.sin_addr.s_addr, &in6.sin6_addr);
	addr->in6 = in6;
}

/* SO_BINDTODEVICE is a link-local address's scope if it has none */
static void rsock_addr_scope(const struct sock *sk, union rsock_addr *addr)
{
	if (addr->sa.sa_family == AF_INET6 && !addr->in6.sin6_scope_id)
		addr->in6.sin6_scope_id =
			ipv6_iface_scope_id(&addr->in6.sin6_addr,
					    READ_ONCE(sk->sk_bound_dev_if));
}

/* Why nobody can answer for an IPv6 address; rdma_cm would ask all the same */
static int rsock_addr_unreachable(const struct rsock_sock *rs,
				  const union rsock_addr *addr)
{
	int type = ipv6_addr_type(&addr->in6.sin6_addr);

	if (type & IPV6_ADDR_MULTICAST)
		return -ENETUNREACH;
	if ((type & IPV6_ADDR_LINKLOCAL) && !addr->in6.sin6_scope_id &&
	    !rs->bound)
		return -EINVAL;
	return 0;
}

/**
 * rsock_addr_to() - can a socket connect to an address?
 * @sk: socket, locked, without a connection
 * @addr: of rsock_addr_in(); v4-mapped ones are made IPv4
 *
 * Return: 0, or as TCP says why not: a negative errno.
 */
int rsock_addr_to(const struct sock *sk, union rsock_addr *addr)
{
	const struct rsock_sock *rs = rsock_sk(sk);
	bool v6 = addr->sa.sa_family == AF_INET6, mapped;

	rsock_addr_unmap(addr);
	rsock_addr_scope(sk, addr);
	mapped = v6 && addr->sa.sa_family == AF_INET;
	if (mapped && rs->opts.v6only)
		return -ENETUNREACH;
	/* Mapped and not IPV6_V6ONLY: it is bound to :: */
	if (rs->bound && rs->laddr.sa.sa_family != addr->sa.sa_family &&
	    !mapped)
		return -EAFNOSUPPORT;
	return v6 && !mapped ? rsock_addr_unreachable(rs, addr) : 0;
}

/* An endpoint that is in use may learn its addresses, and lose its peer */
static int rsock_ep_name(struct rsock_ep *ep, union rsock_addr *addr, int peer)
{
	const struct rsock_sock *rs = rsock_sk(ep->sk);
	int state, err = 0;

	spin_lock_bh(&ep->lock);
	state = 1 << ep->sk->sk_state;
	if (!peer)
		*addr = rs->laddr;
	else if (state & (TCPF_CLOSE | TCPF_LISTEN | TCPF_SYN_SENT))
		err = -ENOTCONN;
	else
		*addr = rs->paddr;
	spin_unlock_bh(&ep->lock);
	return err;
}

int rsock_getname(struct socket *sock, struct sockaddr *uaddr, int peer)
{
	struct sock *sk = sock->sk;
	struct rsock_sock *rs = rsock_sk(sk);
	union rsock_addr addr = {};
	int err;

	lock_sock(sk);
	if (rs->ep)
		err = rsock_ep_name(rs->ep, &addr, peer);
	else
		err = peer ? -ENOTCONN : 0;
	release_sock(sk);
	if (err)
		return err;

	if (addr.sa.sa_family == AF_UNSPEC)
		addr.sa.sa_family = rs->v6 ? AF_INET6 : AF_INET;
	if (addr.sa.sa_family == AF_INET && rs->v6)
		rsock_addr_map(&addr);
	err = addr.sa.sa_family == AF_INET ? sizeof(addr.in) :
					     sizeof(addr.in6);
	memcpy(uaddr, &addr, err);
	return err;
}

/* An endpoint of old is kept only as long as there is something to read */
static bool rsock_ep_in_use(struct rsock_ep *ep)
{
	int state = ep ? READ_ONCE(ep->state) : RSOCK_EP_IDLE;

	if (state == RSOCK_EP_IDLE)
		return false;
	return state < RSOCK_EP_DYING || rsock_rx_avail(ep);
}

static bool rsock_sk_reuse(const struct sock *sk)
{
	return sk->sk_reuse || sk->sk_reuseport;
}

/* Who lists sockets reads them under the endpoint's lock only */
static void rsock_sk_learn_addrs(struct sock *sk)
{
	struct rsock_ep *ep = rsock_sk(sk)->ep;

	spin_lock_bh(&ep->lock);
	rsock_sk_addrs(sk);
	spin_unlock_bh(&ep->lock);
}

/**
 * rsock_sk_bind4() - go on with IPv4
 * @sk: socket, locked, bound to ::, which keeps its port
 *
 * Return: 0, or a negative errno and it is not bound any more.
 */
int rsock_sk_bind4(struct sock *sk)
{
	struct rsock_sock *rs = rsock_sk(sk);
	int err;

	mutex_lock(&rs->ep->id_mutex);
	err = rsock_cm_bind4(rs->ep, rs->laddr.in6.sin6_port,
			     rsock_sk_reuse(sk));
	if (!err)
		rsock_sk_learn_addrs(sk);
	mutex_unlock(&rs->ep->id_mutex);
	if (err)
		rsock_sk_reset(sk);
	return err;
}

/**
 * rsock_sk_bind() - bind to an address
 * @sk: socket, locked
 * @addr: of rsock_addr_in(); v4-mapped ones are made IPv4
 */
int rsock_sk_bind(struct sock *sk, union rsock_addr *addr)
{
	struct rsock_sock *rs = rsock_sk(sk);
	bool v6 = addr->sa.sa_family == AF_INET6;
	union rsock_addr name = *addr;
	int err;

	if (sk->sk_state != TCP_CLOSE || rs->bound || rsock_ep_in_use(rs->ep))
		return -EINVAL;
	rsock_addr_unmap(addr);
	rsock_addr_scope(sk, addr);
	if (v6 && addr->sa.sa_family == AF_INET && rs->opts.v6only)
		return -EINVAL;
	err = rsock_sk_new_id(sk);
	if (err)
		return err;
	mutex_lock(&rs->ep->id_mutex);
	err = rsock_cm_bind(rs->ep, &addr->sa, rsock_sk_reuse(sk),
			    rs->opts.v6only);
	if (!err)
		rsock_sk_learn_addrs(sk);
	mutex_unlock(&rs->ep->id_mutex);
	if (err) {
		rsock_sk_reset(sk);
		return err;
	}
	rs->bound = true;
	rs->name = name;
	rs->v6 = v6;
	/* One address of IPv6 is for IPv6 only, and the option says so */
	if (addr->sa.sa_family == AF_INET6 &&
	    !ipv6_addr_any(&addr->in6.sin6_addr))
		rs->opts.v6only = 1;
	return 0;
}

/* Did bind() leave nothing to us? */
static bool rsock_sk_is_named(const struct rsock_sock *rs)
{
	const union rsock_addr *name = &rs->name;

	if (name->sa.sa_family == AF_INET)
		return name->in.sin_port || name->in.sin_addr.s_addr;
	return name->sa.sa_family == AF_INET6 &&
	       (name->in6.sin6_port || !ipv6_addr_any(&name->in6.sin6_addr));
}

/**
 * rsock_sk_bind_again() - bind to what bind() was asked for before
 * @sk: socket, locked
 *
 * Return: 0, also if there is no such name, or if it is bound; or what bind()
 * would say now.
 */
int rsock_sk_bind_again(struct sock *sk)
{
	struct rsock_sock *rs = rsock_sk(sk);
	union rsock_addr name = rs->name;

	return rs->bound || !rsock_sk_is_named(rs) ? 0 :
	       rsock_sk_bind(sk, &name);
}

/**
 * rsock_sk_disconnect() - as new, but for options and the name
 * @sk: socket, locked, in any state
 *
 * A port that the program chose is taken again at once; for that the end of the
 * old cm_id is waited for. If it has more to do, or somebody was faster,
 * rsock_sk_bind_again() says so later.
 */
void rsock_sk_disconnect(struct sock *sk)
{
	struct rsock_sock *rs = rsock_sk(sk);
	struct rsock_ep *old = NULL;

	if (rs->ep && rs->bound && rs->name.in.sin_port)
		old = rsock_ep_get(rs->ep);
	rsock_sk_reset(sk);
	rsock_set_state(sk, TCP_CLOSE);
	if (!old)
		return;
	flush_work(&old->work);
	rsock_ep_put(old);
	rsock_sk_bind_again(sk);
}

/* Old programs bind to the wildcard without a family, and TCP lets them */
static bool rsock_addr_is_bare_any(const struct sock *sk,
				   const struct sockaddr *uaddr, int len,
				   union rsock_addr *addr)
{
	const struct sockaddr_in *in = (const struct sockaddr_in *)uaddr;

	if (sk->sk_family == AF_INET6 || len < (int)sizeof(*in) ||
	    in->sin_family != AF_UNSPEC ||
	    in->sin_addr.s_addr != htonl(INADDR_ANY))
		return false;
	memset(addr, 0, sizeof(*addr));
	addr->in = *in;
	addr->in.sin_family = AF_INET;
	return true;
}

int rsock_bind(struct socket *sock, struct sockaddr *uaddr, int len)
{
	struct sock *sk = sock->sk;
	union rsock_addr addr;
	int err;

	err = rsock_addr_is_bare_any(sk, uaddr, len, &addr) ? 0 :
	      rsock_addr_in(sk, uaddr, len, &addr);
	if (err)
		return err;
	lock_sock(sk);
	err = rsock_sk_bind(sk, &addr);
	release_sock(sk);
	return err;
}
