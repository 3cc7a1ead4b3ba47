// SPDX-License-Identifier: GPL-2.0
/*
 * The socket family: what socket calls mean, in terms of an endpoint, and what
 * an endpoint's events mean for the socket.
 *
 * Life of a socket. It has a reference for its file (or, before it is
 * accepted, for its listener's queue), and its endpoint holds one as long as
 * there is a connection; so a closed socket lives on until what it sent has
 * arrived, or net.rsock.fin_timeout is over.
 */

#include <linux/errqueue.h>
#include <linux/module.h>
#include <linux/net.h>
#include <linux/sockios.h>
#include <asm/ioctls.h>
#include <net/inet_common.h>
#include <net/ipv6.h>
#include <net/sock.h>

#include <linux/rsock.h>

#include "cm.h"
#include "listen.h"
#include "notes.h"
#include "pernet.h"
#include "rsock.h"
#include "rx.h"
#include "send.h"
#include "trace.h"
#include "tx.h"
#include "watch.h"

#define RSOCK_SNDBUF	(256 * 1024)
#define RSOCK_RCVBUF	(128 * 1024)
#define RSOCK_QSIZE	64

int rsock_family = AF_RSOCK;
module_param_named(family, rsock_family, int, 0444);
MODULE_PARM_DESC(family, "Number of the address family (default 22)");

static struct lock_class_key rsock_sk_key, rsock_slock_key;

/**
 * rsock_set_state() - the only writer of sk_state
 * @sk: socket; ep->lock is held once it has an endpoint that is in use
 * @state: one of TCP_*
 */
void rsock_set_state(struct sock *sk, int state)
{
	trace_rsock_sk_state(sk, state);
	/* Pairs with rsock_poll(): who sees the state sees what led to it */
	smp_store_release(&sk->sk_state, state);
}

/*
 * Events of the endpoint. ep->lock is held unless noted. A socket can have
 * parted with an endpoint that still ends its connection: then they are
 * nothing to the socket.
 */

static bool rsock_attached(const struct rsock_ep *ep)
{
	lockdep_assert_held(&ep->lock);
	return rsock_sk(ep->sk)->ep == ep;
}

static void rsock_connected(struct rsock_ep *ep)
{
	struct sock *sk = ep->sk;

	if (!rsock_attached(ep))
		return;
	rsock_sk_addrs(sk);
	RSOCK_INC_STATS(ep->net, ep->passive ? RSOCK_MIB_PASSIVEOPENS :
					       RSOCK_MIB_ACTIVEOPENS);
	rsock_set_state(sk, TCP_ESTABLISHED);
	rsock_watch_begin(ep);
	rsock_child_connected(sk);
	sk->sk_state_change(sk);
	sk_wake_async(sk, SOCK_WAKE_IO, POLL_OUT);
}

/* The peer sends no more: the other half of the states of tcp(7) */
static void rsock_got_eof(struct rsock_ep *ep)
{
	struct sock *sk = ep->sk;

	sk->sk_shutdown |= RCV_SHUTDOWN;
	switch (sk->sk_state) {
	case TCP_ESTABLISHED:
		rsock_set_state(sk, TCP_CLOSE_WAIT);
		break;
	case TCP_FIN_WAIT1:
		rsock_set_state(sk, TCP_CLOSING);
		break;
	case TCP_FIN_WAIT2:
		rsock_set_state(sk, TCP_CLOSE);
		rsock_ep_kill_locked(ep, 0);
		break;
	}
	sk->sk_state_change(sk);
	sk_wake_async(sk, SOCK_WAKE_WAITD, POLL_IN);
}

static void rsock_readable(struct rsock_ep *ep)
{
	if (!rsock_attached(ep))
		return;
	if (ep->rx.eof)
		rsock_got_eof(ep);
	else
		ep->sk->sk_data_ready(ep->sk);
}

static void rsock_writable(struct rsock_ep *ep)
{
	/* After its end, rsock_sk_gone() has the last word */
	if (!rsock_attached(ep) || ep->state != RSOCK_EP_OPEN)
		return;
	WRITE_ONCE(ep->sk->sk_wmem_queued, ep->tx.charged);
	/* Pairs with rsock_poll() and rsock_send_wait(): flag, then look */
	smp_mb();
	ep->sk->sk_write_space(ep->sk);
}

/* sk_write_space(): wake those who wait for room, and found none */
static void rsock_write_space(struct sock *sk)
{
	struct socket *sock = sk->sk_socket;
	struct socket_wq *wq;

	if (!sock || !test_bit(SOCK_NOSPACE, &sock->flags) ||
	    !sk_stream_is_writeable(sk))
		return;
	clear_bit(SOCK_NOSPACE, &sock->flags);
	rcu_read_lock();
	wq = rcu_dereference(sk->sk_wq);
	if (skwq_has_sleeper(wq))
		wake_up_interruptible_poll(&wq->wait,
					   EPOLLOUT | EPOLLWRNORM | EPOLLWRBAND);
	if (wq && wq->fasync_list && !(sk->sk_shutdown & SEND_SHUTDOWN))
		sock_wake_async(wq, SOCK_WAKE_SPACE, POLL_OUT);
	rcu_read_unlock();
}

static void rsock_noted(struct rsock_ep *ep)
{
	if (rsock_attached(ep))
		sk_error_report(ep->sk);
}

static void rsock_tx_done(struct rsock_ep *ep)
{
	struct sock *sk = ep->sk;

	if (!rsock_attached(ep)) {
		rsock_ep_kill_locked(ep, 0);
		return;
	}
	switch (sk->sk_state) {
	case TCP_FIN_WAIT1:
		rsock_set_state(sk, TCP_FIN_WAIT2);
		break;
	case TCP_CLOSING:
	case TCP_LAST_ACK:
		rsock_set_state(sk, TCP_CLOSE);
		break;
	}
	if (ep->tx.fin == RSOCK_FIN_DISCONNECT)
		rsock_set_state(sk, TCP_CLOSE);
	if (sk->sk_state == TCP_CLOSE)
		rsock_ep_kill_locked(ep, 0);
	sk->sk_state_change(sk);
}

/*
 * The connection is gone. If the peer closed it in good order, a socket that
 * has not shut down its own side stays in CLOSE_WAIT, as with TCP; unless it
 * has data that was not even begun to be sent, which it must learn is lost.
 * connect() must fail, or have succeeded: no end in good order comes before.
 */
static void rsock_sk_gone(struct rsock_ep *ep, int err)
{
	struct sock *sk = ep->sk;

	spin_lock_bh(&ep->lock);
	if (!rsock_attached(ep))
		goto unlock;
	if (!err && !list_empty(&ep->tx.unsent))
		err = EPIPE;
	if (!err && sk->sk_state == TCP_SYN_SENT)
		err = ECONNRESET;
	/* Whoever waits for room waits in vain */
	WRITE_ONCE(sk->sk_wmem_queued, 0);
	if (err) {
		WRITE_ONCE(sk->sk_err, err);
		if (sk->sk_state != TCP_SYN_SENT)
			RSOCK_INC_STATS(ep->net, RSOCK_MIB_RESETS);
	}
	if (err || sk->sk_state != TCP_CLOSE_WAIT) {
		sk->sk_shutdown = SHUTDOWN_MASK;
		rsock_set_state(sk, TCP_CLOSE);
	}
	sk->sk_state_change(sk);
	if (err)
		sk_error_report(sk);
unlock:
	spin_unlock_bh(&ep->lock);
}

/* Process context, no lock held */
static void rsock_closed(struct rsock_ep *ep, int err)
{
	bool forget = rsock_child_closed(ep->sk);

	rsock_sk_gone(ep, err);
	if (forget)
		sock_put(ep->sk);
}

static const struct rsock_ep_ops rsock_sk_ep_ops = {
	.connected	= rsock_connected,
	.readable	= rsock_readable,
	.writable	= rsock_writable,
	.noted		= rsock_noted,
	.tx_done	= rsock_tx_done,
	.closed		= rsock_closed,
};

/* Addresses */

/* Take an address from the user: see include/uapi/linux/rsock.h */
static int rsock_addr_in(const struct sock *sk, const struct sockaddr *uaddr,
			 int len, union rsock_addr *addr)
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

static void rsock_addr_copy(union rsock_addr *to,
			    const struct sockaddr_storage *from)
{
	memset(to, 0, sizeof(*to));
	if (from->ss_family == AF_INET)
		memcpy(&to->in, from, sizeof(to->in));
	else if (from->ss_family == AF_INET6)
		memcpy(&to->in6, from, sizeof(to->in6));
}

/**
 * rsock_sk_addrs() - learn from the cm_id what the addresses are
 * @sk: socket whose endpoint has a cm_id, locked or with ep->lock held
 */
void rsock_sk_addrs(struct sock *sk)
{
	struct rsock_sock *rs = rsock_sk(sk);
	struct rdma_addr *addr = &rs->ep->id->route.addr;

	rsock_addr_copy(&rs->laddr, &addr->src_addr);
	rsock_addr_copy(&rs->paddr, &addr->dst_addr);
}

static int rsock_getname(struct socket *sock, struct sockaddr *uaddr, int peer)
{
	struct sock *sk = sock->sk;
	struct rsock_sock *rs = rsock_sk(sk);
	union rsock_addr addr = {};
	int err = 0;

	lock_sock(sk);
	if (!peer)
		addr = rs->laddr;
	else if ((1 << sk->sk_state) & (TCPF_CLOSE | TCPF_LISTEN |
					TCPF_SYN_SENT))
		err = -ENOTCONN;
	else
		addr = rs->paddr;
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

/* Making and binding */

static void rsock_sk_destruct(struct sock *sk)
{
	struct rsock_sock *rs = rsock_sk(sk);

	if (rs->ep)
		rsock_ep_put(rs->ep);
	/* inet_stream_connect() and others may have used these */
	__skb_queue_purge(&sk->sk_receive_queue);
	__skb_queue_purge(&sk->sk_error_queue);
	/* Of AF_INET and AF_INET6, security modules may have set some */
	if (sk->sk_family == AF_INET6)
		inet6_cleanup_sock(sk);
	kfree(rcu_dereference_protected(inet_sk(sk)->inet_opt, 1));
}

/* Make of a socket that the core has initialised one of ours; never fails */
static int rsock_sk_init(struct sock *sk)
{
	struct rsock_sock *rs = rsock_sk(sk);

	sock_lock_init_class_and_name(sk, "slock-AF_RSOCK", &rsock_slock_key,
				      "sk_lock-AF_RSOCK", &rsock_sk_key);
	sk->sk_destruct = rsock_sk_destruct;
	sk->sk_write_space = rsock_write_space;
	sk->sk_allocation = GFP_KERNEL_ACCOUNT;
	sk->sk_sndbuf = RSOCK_SNDBUF;
	sk->sk_rcvbuf = RSOCK_RCVBUF;
	sk->sk_type = SOCK_STREAM;
	sk->sk_state = TCP_CLOSE;
	if (sk->sk_socket)
		rsock_socket_init(sk->sk_socket);

	rs->v6 = sk->sk_family == AF_INET6;
	rs->opts.v6only = sk->sk_ipv6only;
	rs->cfg.sq = RSOCK_QSIZE;
	rs->cfg.rq = RSOCK_QSIZE;
	rs->cfg.iomap = RSOCK_IOMAP_DEFAULT;
	rs->write_offset = RSOCK_TO_STREAM;
	rs->inline_size = 64;
	INIT_LIST_HEAD(&rs->accept_node);
	INIT_LIST_HEAD(&rs->pending);
	INIT_LIST_HEAD(&rs->ready);
	return 0;
}

/**
 * rsock_sk_alloc() - make a socket without a file
 * @net: network namespace
 * @family: AF_RSOCK, AF_INET or AF_INET6
 * @kern: for the kernel's own use
 */
struct sock *rsock_sk_alloc(struct net *net, int family, bool kern)
{
	struct sock *sk;

	sk = sk_alloc(net, family, GFP_KERNEL, &rsock_proto, kern);
	if (!sk)
		return NULL;
	sock_init_data(NULL, sk);
	if (family == AF_INET6)
		inet_sk(sk)->pinet6 = &rsock_sk(sk)->pinet6;
	rsock_sk_init(sk);
	return sk;
}

/**
 * rsock_sk_ep() - the endpoint of a socket, made if it has none
 * @sk: socket, locked or known to nobody
 *
 * Return: the endpoint, without a cm_id if it is new, or NULL.
 */
struct rsock_ep *rsock_sk_ep(struct sock *sk)
{
	struct rsock_sock *rs = rsock_sk(sk);

	if (!rs->ep) {
		rs->cfg.ring = sk->sk_rcvbuf;
		WRITE_ONCE(rs->ep, rsock_ep_alloc(sk, sock_net(sk),
						  &rsock_sk_ep_ops, &rs->cfg));
	}
	return rs->ep;
}

/**
 * rsock_sk_ep_get() - the endpoint that a socket has now
 * @sk: socket, not locked: it may be for long, and by one who waits for the
 *	mmap lock, which mmap() holds
 *
 * Return: the endpoint with a reference, or NULL.
 */
struct rsock_ep *rsock_sk_ep_get(struct sock *sk)
{
	struct rsock_ep *ep;

	rcu_read_lock();
	ep = READ_ONCE(rsock_sk(sk)->ep);
	if (ep && !refcount_inc_not_zero(&ep->ref))
		ep = NULL;
	rcu_read_unlock();
	return ep;
}

/*
 * End a connection without waiting for what was sent to arrive. An AF_RSOCK
 * peer takes a DREQ without DISCONNECT for a reset; user-space rsockets may
 * never notice it, so that one is told the end of the stream. ep->lock held.
 */
static void rsock_ep_abort(struct rsock_ep *ep)
{
	if (ep->state != RSOCK_EP_OPEN || ep->peer_ext) {
		rsock_ep_kill_locked(ep, 0);
		return;
	}
	rsock_tx_drop(ep);
	rsock_tx_fin(ep, RSOCK_FIN_DISCONNECT);
	rsock_ep_start_linger(ep, rsock_net(ep->net)->fin_timeout);
}

/* Part with the endpoint, for good: the socket is as new then */
static void rsock_sk_reset(struct sock *sk)
{
	struct rsock_sock *rs = rsock_sk(sk);
	struct rsock_ep *ep = rs->ep;

	if (!ep)
		return;
	spin_lock_bh(&ep->lock);
	rsock_ep_abort(ep);
	WRITE_ONCE(rs->ep, NULL);
	spin_unlock_bh(&ep->lock);
	rsock_ep_put(ep);
	rs->bound = false;
	memset(&rs->laddr, 0, sizeof(rs->laddr));
	memset(&rs->paddr, 0, sizeof(rs->paddr));
}

/* An endpoint with a cm_id, for a socket that is neither bound nor connected */
static int rsock_sk_new_id(struct sock *sk)
{
	struct rsock_ep *ep = rsock_sk(sk)->ep;
	int err;

	/* One whose connection ended was kept for what could still be read */
	if (ep && READ_ONCE(ep->state) >= RSOCK_EP_DYING)
		rsock_sk_reset(sk);
	ep = rsock_sk_ep(sk);
	if (!ep)
		return -ENOMEM;
	if (ep->id)
		return 0;
	err = rsock_cm_create(ep);
	if (err)
		rsock_sk_reset(sk);
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

static int __rsock_bind(struct sock *sk, union rsock_addr *addr)
{
	struct rsock_sock *rs = rsock_sk(sk);
	bool v6 = addr->sa.sa_family == AF_INET6;
	int err;

	if (sk->sk_state != TCP_CLOSE || rs->bound || rsock_ep_in_use(rs->ep))
		return -EINVAL;
	rsock_addr_unmap(addr);
	err = rsock_sk_new_id(sk);
	if (err)
		return err;
	mutex_lock(&rs->ep->id_mutex);
	err = rsock_cm_bind(rs->ep, &addr->sa, sk->sk_reuse, rs->opts.v6only);
	if (!err)
		rsock_sk_addrs(sk);
	mutex_unlock(&rs->ep->id_mutex);
	if (err) {
		rsock_sk_reset(sk);
		return err;
	}
	rs->bound = true;
	rs->v6 = v6;
	return 0;
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

static int rsock_bind(struct socket *sock, struct sockaddr *uaddr, int len)
{
	struct sock *sk = sock->sk;
	union rsock_addr addr;
	int err;

	err = rsock_addr_is_bare_any(sk, uaddr, len, &addr) ? 0 :
	      rsock_addr_in(sk, uaddr, len, &addr);
	if (err)
		return err;
	lock_sock(sk);
	err = __rsock_bind(sk, &addr);
	release_sock(sk);
	return err;
}

/* Connecting: called by inet_stream_connect(), which waits and keeps state */

/* Why nobody can answer for an IPv6 address; rdma_cm would ask all the same */
static int rsock_addr_unreachable(const struct rsock_sock *rs,
				  const union rsock_addr *addr)
{
	int type;

	if (addr->sa.sa_family != AF_INET6)
		return 0;
	type = ipv6_addr_type(&addr->in6.sin6_addr);
	if (type & IPV6_ADDR_MULTICAST)
		return -ENETUNREACH;
	if ((type & IPV6_ADDR_LINKLOCAL) && !addr->in6.sin6_scope_id &&
	    !rs->bound)
		return -EINVAL;
	return 0;
}

static int rsock_connect(struct sock *sk, struct sockaddr *uaddr, int len)
{
	struct rsock_sock *rs = rsock_sk(sk);
	union rsock_addr addr;
	bool v6;
	int err;

	err = rsock_addr_in(sk, uaddr, len, &addr);
	if (err)
		return err;
	v6 = addr.sa.sa_family == AF_INET6;
	rsock_addr_unmap(&addr);
	err = rsock_addr_unreachable(rs, &addr);
	if (err)
		return err;
	if (rs->bound && rs->laddr.sa.sa_family != addr.sa.sa_family)
		return -EAFNOSUPPORT;
	err = rsock_sk_new_id(sk);
	if (err)
		return err;

	rs->ep->cfg = rs->cfg;
	rs->ep->cfg.ring = sk->sk_rcvbuf;
	rs->v6 |= v6;
	spin_lock_bh(&rs->ep->lock);
	sk->sk_shutdown = 0;
	sk->sk_err = 0;
	rsock_set_state(sk, TCP_SYN_SENT);
	spin_unlock_bh(&rs->ep->lock);
	err = rsock_cm_connect(rs->ep, &addr.sa,
			       addr.sa.sa_family == AF_INET ? rs->opts.tos :
							      rs->opts.tclass);
	if (err) {
		rsock_sk_reset(sk);
		rsock_set_state(sk, TCP_CLOSE);
	}
	return err;
}

/* Not under the socket's lock: it waits for the peer */
static void rsock_sk_iomap_close(struct sock *sk)
{
	struct rsock_ep *ep = rsock_sk_ep_get(sk);

	if (!ep)
		return;
	rsock_iomap_close(ep);
	rsock_ep_put(ep);
}

/*
 * A non-blocking connect() that could start says EINPROGRESS, as with TCP, even
 * if the connection was made or refused meanwhile.
 */
static int rsock_stream_connect(struct socket *sock, struct sockaddr *uaddr,
				int len, int flags)
{
	bool has_family = len >= (int)sizeof(uaddr->sa_family);
	bool disconnect = has_family && uaddr->sa_family == AF_UNSPEC;
	struct sock *sk = sock->sk;
	int err;

	if (disconnect)
		rsock_sk_iomap_close(sk);
	lock_sock(sk);
	if ((flags & O_NONBLOCK) && sock->state == SS_UNCONNECTED &&
	    sk->sk_state == TCP_CLOSE && has_family && !disconnect) {
		err = rsock_connect(sk, uaddr, len);
		if (!err) {
			sock->state = SS_CONNECTING;
			err = -EINPROGRESS;
		}
	} else {
		err = __inet_stream_connect(sock, uaddr, len, flags, 0);
	}
	release_sock(sk);
	return err;
}

/* States whose connection does not end in good order, as TCP sees it */
#define RSOCK_RESET_STATES	(TCPF_SYN_SENT | TCPF_ESTABLISHED |	\
				 TCPF_CLOSE_WAIT | TCPF_FIN_WAIT1 |	\
				 TCPF_FIN_WAIT2)

/* With an error left behind for who still waits, as with TCP */
static int rsock_disconnect(struct sock *sk, int flags)
{
	int state = sk->sk_state;

	rsock_sk_reset(sk);
	rsock_set_state(sk, TCP_CLOSE);
	rsock_listen_stop(sk);
	sk->sk_wmem_queued = 0;
	sk->sk_shutdown = 0;
	if ((1 << state) & RSOCK_RESET_STATES)
		WRITE_ONCE(sk->sk_err, ECONNRESET);
	/* Other threads may wait for what will not happen any more */
	sk->sk_state_change(sk);
	sk_error_report(sk);
	return 0;
}

/* Listening */

static int rsock_sk_listen(struct sock *sk, int backlog)
{
	struct rsock_sock *rs = rsock_sk(sk);
	union rsock_addr any = { .sa.sa_family = rs->v6 ? AF_INET6 : AF_INET };
	int err;

	if (sk->sk_state == TCP_LISTEN) {
		WRITE_ONCE(sk->sk_max_ack_backlog, backlog);
		return 0;
	}
	if (sk->sk_state != TCP_CLOSE)
		return -EINVAL;
	if (!rs->bound) {
		err = __rsock_bind(sk, &any);
		if (err)
			return err;
	}
	rsock_listen_stop(sk);
	WRITE_ONCE(sk->sk_max_ack_backlog, backlog);
	rsock_set_state(sk, TCP_LISTEN);
	err = rsock_cm_listen(rs->ep, backlog);
	if (err)
		rsock_set_state(sk, TCP_CLOSE);
	return err;
}

static int rsock_listen(struct socket *sock, int backlog)
{
	struct sock *sk = sock->sk;
	int err = -EINVAL;

	lock_sock(sk);
	if (sock->state == SS_UNCONNECTED)
		err = rsock_sk_listen(sk, backlog);
	release_sock(sk);
	return err;
}

RSOCK_PROTO_ACCEPT(rsock_accept, rsock_listen_accept)

/* Data */

/*
 * Where to place the data, as control messages say: @to stays as it is without.
 * Those of other levels are not for us; of ours there is one.
 */
static int rsock_cmsg_offset(struct msghdr *msg, s64 *to)
{
	struct cmsghdr *cmsg;
	bool found = false;

	if (msg->msg_controllen)
		for_each_cmsghdr(cmsg, msg) {
			if (!CMSG_OK(msg, cmsg))
				return -EINVAL;
			if (cmsg->cmsg_level != SOL_RSOCK)
				continue;
			if (found || cmsg->cmsg_type != RSOCK_CMSG_OFFSET ||
			    cmsg->cmsg_len != CMSG_LEN(sizeof(*to)))
				return -EINVAL;
			memcpy(to, CMSG_DATA(cmsg), sizeof(*to));
			if (*to < 0)
				return -EINVAL;
			found = true;
		}
	return found == !!(msg->msg_flags & MSG_RIOWRITE) ? 0 : -EINVAL;
}

/* Those of level SOL_SOCKET are checked, though none of them has an effect */
static int rsock_cmsg_check(struct sock *sk, struct msghdr *msg)
{
	struct sockcm_cookie cookie;

	if (!msg->msg_controllen)
		return 0;
	sockcm_init(&cookie, sk);
	return sock_cmsg_send(sk, msg, &cookie) ? -EINVAL : 0;
}

static int rsock_sendmsg(struct socket *sock, struct msghdr *msg, size_t len)
{
	struct sock *sk = sock->sk;
	struct rsock_sock *rs = rsock_sk(sk);
	s64 to = RSOCK_TO_STREAM, cursor;
	int ret;

	if (msg->msg_flags & MSG_FASTOPEN)
		return -EOPNOTSUPP;
	ret = rsock_cmsg_check(sk, msg) ?: rsock_cmsg_offset(msg, &to);
	if (ret)
		return ret;
	lock_sock(sk);
	cursor = rs->write_offset;
	if (msg->msg_flags & MSG_RIOWRITE)
		cursor = RSOCK_TO_STREAM;
	else
		to = cursor;
	ret = rsock_send(sk, msg, to);
	/* Unless it was set anew meanwhile */
	if (cursor != RSOCK_TO_STREAM && cursor == rs->write_offset && ret > 0)
		rs->write_offset += ret;
	release_sock(sk);
	return ret;
}

static int rsock_recv_note(struct sock *sk, struct msghdr *msg)
{
	struct rsock_ep *ep = rsock_sk_ep_get(sk);
	struct rsock_written written;
	struct rsock_note note;
	int err = -EAGAIN;

	if (!ep)
		return -EAGAIN;
	if (READ_ONCE(ep->rx.nr_notes) &&
	    msg->msg_controllen < CMSG_LEN(sizeof(written)))
		err = -EMSGSIZE;
	else if (rsock_notes_get(ep, &note))
		err = 0;
	rsock_ep_put(ep);
	if (err)
		return err;
	written.offset = note.offset;
	written.len = note.len;
	put_cmsg(msg, SOL_RSOCK, RSOCK_CMSG_WRITTEN, sizeof(written), &written);
	msg->msg_flags |= MSG_ERRQUEUE;
	return 0;
}

/* What is told beside the data: pages are free (as with TCP), the peer wrote */
static int rsock_recv_errqueue(struct sock *sk, struct msghdr *msg)
{
	struct {
		struct sock_extended_err ee;
		union rsock_addr offender;
	} err = {};
	struct sk_buff *skb;

	skb = sock_dequeue_err_skb(sk);
	if (!skb)
		return rsock_recv_note(sk, msg);
	err.ee = SKB_EXT_ERR(skb)->ee;
	if (rsock_sk(sk)->v6)
		put_cmsg(msg, SOL_IPV6, IPV6_RECVERR,
			 sizeof(err.ee) + sizeof(err.offender.in6), &err);
	else
		put_cmsg(msg, SOL_IP, IP_RECVERR,
			 sizeof(err.ee) + sizeof(err.offender.in), &err);
	msg->msg_flags |= MSG_ERRQUEUE;
	consume_skb(skb);
	return 0;
}

/* There is no connection, but there may have been one */
static int rsock_recv_none(struct sock *sk)
{
	if (sk->sk_err)
		return sock_error(sk);
	return sk->sk_shutdown & RCV_SHUTDOWN ? 0 : -ENOTCONN;
}

static int rsock_recvmsg(struct socket *sock, struct msghdr *msg, size_t len,
			 int flags)
{
	struct sock *sk = sock->sk;
	int ret = -ENOTCONN;

	msg->msg_namelen = 0;
	if (flags & MSG_ERRQUEUE)
		return rsock_recv_errqueue(sk, msg);
	if (flags & MSG_OOB)
		return sk->sk_state == TCP_LISTEN ? -ENOTCONN : -EINVAL;
	lock_sock(sk);
	if (sk->sk_state != TCP_LISTEN)
		ret = rsock_sk(sk)->ep ? rsock_rx_recvmsg(sk, msg, len, flags) :
					 rsock_recv_none(sk);
	release_sock(sk);
	return ret;
}

/* Make sure that a completion will tell when there is room to send */
static void rsock_poll_flush(struct sock *sk)
{
	struct rsock_ep *ep;

	rcu_read_lock();
	ep = READ_ONCE(rsock_sk(sk)->ep);
	if (ep)
		rsock_tx_kick(ep);
	rcu_read_unlock();
}

static __poll_t rsock_poll(struct file *file, struct socket *sock,
			   struct poll_table_struct *wait)
{
	struct sock *sk = sock->sk;
	struct rsock_ep *ep;
	__poll_t mask = 0;
	int state;
	u8 shut;

	sock_poll_wait(file, sock, wait);
	/* Pairs with rsock_set_state() */
	state = smp_load_acquire(&sk->sk_state);
	if (state == TCP_LISTEN)
		return rsock_listen_ready(sk) ? EPOLLIN | EPOLLRDNORM : 0;

	shut = READ_ONCE(sk->sk_shutdown);
	if (shut == SHUTDOWN_MASK || state == TCP_CLOSE)
		mask |= EPOLLHUP;
	if (shut & RCV_SHUTDOWN)
		mask |= EPOLLIN | EPOLLRDNORM | EPOLLRDHUP;
	if (state != TCP_SYN_SENT && state != TCP_SYN_RECV) {
		rcu_read_lock();
		ep = READ_ONCE(rsock_sk(sk)->ep);
		if (ep && rsock_rx_enough(ep, sock_rcvlowat(sk, 0, INT_MAX)))
			mask |= EPOLLIN | EPOLLRDNORM;
		if (ep && READ_ONCE(ep->rx.nr_notes))
			mask |= EPOLLERR;
		rcu_read_unlock();
		if ((shut & SEND_SHUTDOWN) || sk_stream_is_writeable(sk)) {
			mask |= EPOLLOUT | EPOLLWRNORM;
		} else {
			sk_set_bit(SOCKWQ_ASYNC_NOSPACE, sk);
			set_bit(SOCK_NOSPACE, &sk->sk_socket->flags);
			/* Pairs with what a completion does: count, then wake */
			smp_mb__after_atomic();
			if (sk_stream_is_writeable(sk))
				mask |= EPOLLOUT | EPOLLWRNORM;
			else
				rsock_poll_flush(sk);
		}
	}
	if (READ_ONCE(sk->sk_err) ||
	    !skb_queue_empty_lockless(&sk->sk_error_queue))
		mask |= EPOLLERR;
	return mask;
}

/* Those that ask about devices and routes are for any socket of IP */
static int rsock_ioctl(struct socket *sock, unsigned int cmd, unsigned long arg)
{
	struct sock *sk = sock->sk;
	struct rsock_ep *ep;
	int answ = 0;

	switch (cmd) {
	case SIOCATMARK:	/* there is no urgent data */
		return put_user(0, (int __user *)arg);
	case SIOCINQ:
	case SIOCOUTQ:
	case SIOCOUTQNSD:
		break;
	default:
		return sk->sk_family == AF_INET6 ? inet6_ioctl(sock, cmd, arg) :
						   inet_ioctl(sock, cmd, arg);
	}
	lock_sock(sk);
	ep = rsock_sk(sk)->ep;
	if (sk->sk_state == TCP_LISTEN)
		answ = -EINVAL;
	else if (ep && cmd == SIOCINQ)
		answ = rsock_rx_avail(ep);
	else if (ep && cmd == SIOCOUTQ)
		answ = rsock_tx_queued(ep);
	else if (ep)
		answ = rsock_tx_unsent(ep);
	release_sock(sk);
	return answ < 0 ? answ : put_user(answ, (int __user *)arg);
}

/* The end */

/* Send no more. ep->lock held, the socket has a connection */
static void rsock_sk_fin(struct sock *sk, enum rsock_fin fin)
{
	struct rsock_ep *ep = rsock_sk(sk)->ep;

	lockdep_assert_held(&ep->lock);
	sk->sk_shutdown |= SEND_SHUTDOWN;
	if (ep->state != RSOCK_EP_OPEN)
		rsock_set_state(sk, TCP_CLOSE);
	else if (sk->sk_state == TCP_ESTABLISHED)
		rsock_set_state(sk, TCP_FIN_WAIT1);
	else if (sk->sk_state == TCP_CLOSE_WAIT)
		rsock_set_state(sk, TCP_LAST_ACK);
	rsock_tx_fin(ep, fin);
}

/**
 * rsock_sk_close() - a socket without a user is left to its endpoint
 * @sk: socket, locked, in any state
 */
void rsock_sk_close(struct sock *sk)
{
	struct rsock_sock *rs = rsock_sk(sk);
	bool abort = sock_flag(sk, SOCK_LINGER) && !sk->sk_lingertime;
	struct rsock_ep *ep = rs->ep;

	if (!ep) {
		sock_orphan(sk);
		rsock_listen_stop(sk);
		return;
	}
	spin_lock_bh(&ep->lock);
	sk->sk_shutdown = SHUTDOWN_MASK;
	if (ep->state != RSOCK_EP_OPEN || abort) {
		rsock_set_state(sk, TCP_CLOSE);
		rsock_ep_abort(ep);
	} else {
		rsock_sk_fin(sk, RSOCK_FIN_DISCONNECT);
		rsock_ep_start_linger(ep, rsock_net(ep->net)->fin_timeout);
	}
	sock_orphan(sk);
	spin_unlock_bh(&ep->lock);
	rsock_listen_stop(sk);
}

/* SO_LINGER: wait until what was sent has arrived, or for so long */
static void rsock_sk_linger(struct sock *sk)
{
	struct rsock_ep *ep = rsock_sk(sk)->ep;

	if (!ep || !sock_flag(sk, SOCK_LINGER) || !sk->sk_lingertime ||
	    (current->flags & PF_EXITING))
		return;
	spin_lock_bh(&ep->lock);
	if (ep->state == RSOCK_EP_OPEN)
		rsock_sk_fin(sk, RSOCK_FIN_DISCONNECT);
	spin_unlock_bh(&ep->lock);
	sk_stream_wait_close(sk, sk->sk_lingertime);
}

/* Is there only a cm_id, so that it is for close() to give the port back? */
static bool rsock_ep_is_bare(const struct rsock_ep *ep)
{
	return ep && (ep->state == RSOCK_EP_IDLE ||
		      ep->state == RSOCK_EP_LISTEN);
}

static int rsock_release(struct socket *sock)
{
	struct sock *sk = sock->sk;
	struct rsock_ep *ep;

	if (!sk)
		return 0;
	rsock_sk_iomap_close(sk);
	lock_sock(sk);
	ep = rsock_sk(sk)->ep;
	ep = rsock_ep_is_bare(ep) ? rsock_ep_get(ep) : NULL;
	rsock_sk_linger(sk);
	rsock_sk_close(sk);
	release_sock(sk);
	/* Not under the lock: the teardown waits for event handlers */
	if (ep) {
		flush_work(&ep->work);
		rsock_ep_put(ep);
	}
	sock->sk = NULL;
	sock_put(sk);
	return 0;
}

static int rsock_sk_shutdown(struct socket *sock, int how)
{
	struct sock *sk = sock->sk;
	struct rsock_ep *ep = rsock_sk(sk)->ep;

	switch (sk->sk_state) {
	case TCP_CLOSE:
		sk->sk_shutdown |= how;
		return -ENOTCONN;
	case TCP_LISTEN:
		if (!(how & RCV_SHUTDOWN))
			return 0;
		fallthrough;
	case TCP_SYN_SENT:
		rsock_disconnect(sk, O_NONBLOCK);
		sock->state = SS_UNCONNECTED;
		return 0;
	}
	spin_lock_bh(&ep->lock);
	sk->sk_shutdown |= how;
	/* What rsockets expects once the peer has shut down its side */
	if ((how & SEND_SHUTDOWN) && !ep->tx.fin)
		rsock_sk_fin(sk, ep->rx.eof ? RSOCK_FIN_DISCONNECT :
					      RSOCK_FIN_SHUTDOWN);
	spin_unlock_bh(&ep->lock);
	return 0;
}

static int rsock_shutdown(struct socket *sock, int how)
{
	struct sock *sk = sock->sk;
	int err;

	if (how < SHUT_RD || how > SHUT_RDWR)
		return -EINVAL;
	how++;	/* SHUT_RD, SHUT_WR, SHUT_RDWR -> RCV_SHUTDOWN, SEND_, both */
	lock_sock(sk);
	err = rsock_sk_shutdown(sock, how);
	sk->sk_state_change(sk);
	release_sock(sk);
	return err;
}

/*
 * TCP_NOTSENT_LOWAT: is there room as far as that is concerned? @wake: enough of
 * it for a sleeper. Context: any.
 */
static bool rsock_memory_free(const struct sock *sk, int wake)
{
	const struct rsock_sock *rs = rsock_sk(sk);
	u32 lowat = READ_ONCE(rs->opts.notsent_lowat), unsent = 0;
	struct rsock_ep *ep;

	if (!lowat)
		return true;
	rcu_read_lock();
	ep = READ_ONCE(rs->ep);
	if (ep)
		unsent = rsock_tx_unsent(ep);
	rcu_read_unlock();
	return ((u64)unsent << wake) < lowat;
}

/* The family */

/* sk_common_release() expects one: a program of a cgroup may refuse a socket */
static void rsock_unhash(struct sock *sk)
{
}

struct proto rsock_proto = {
	.name		= "RSOCK",
	.owner		= THIS_MODULE,
	.init		= rsock_sk_init,
	.unhash		= rsock_unhash,
	.connect	= rsock_connect,
	.disconnect	= rsock_disconnect,
	.accept		= rsock_accept,
	.keepalive	= rsock_keepalive,
	.stream_memory_free = rsock_memory_free,
	.obj_size	= sizeof(struct rsock_sock),
	RSOCK_PINET6
};

#define RSOCK_PROTO_OPS(pf) {			\
	.family		= (pf),			\
	.owner		= THIS_MODULE,		\
	.release	= rsock_release,	\
	.bind		= rsock_bind,		\
	.connect	= rsock_stream_connect,	\
	.socketpair	= sock_no_socketpair,	\
	.accept		= rsock_inet_accept,	\
	.getname	= rsock_getname,	\
	.poll		= rsock_poll,		\
	.ioctl		= rsock_ioctl,		\
	.gettstamp	= sock_gettstamp,	\
	.listen		= rsock_listen,		\
	.shutdown	= rsock_shutdown,	\
	.setsockopt	= rsock_setsockopt,	\
	.getsockopt	= rsock_getsockopt,	\
	.sendmsg	= rsock_sendmsg,	\
	.recvmsg	= rsock_recvmsg,	\
	.mmap		= rsock_mmap,		\
}

static const struct proto_ops rsock_ops = RSOCK_PROTO_OPS(PF_RSOCK);
const struct proto_ops rsock_inet_ops = RSOCK_PROTO_OPS(PF_INET);
const struct proto_ops rsock_inet6_ops = RSOCK_PROTO_OPS(PF_INET6);

static int rsock_create(struct net *net, struct socket *sock, int protocol,
			int kern)
{
	struct sock *sk;

	if (sock->type != SOCK_STREAM)
		return -ESOCKTNOSUPPORT;
	if (protocol < 0 || protocol >= IPPROTO_MAX)
		return -EINVAL;
	if (protocol && protocol != IPPROTO_TCP)
		return -EPROTONOSUPPORT;
	sk = rsock_sk_alloc(net, rsock_family, kern);
	if (!sk)
		return -ENOMEM;
	sock->ops = &rsock_ops;
	sock->state = SS_UNCONNECTED;
	sock_graft(sk, sock);
	rsock_socket_init(sock);
	return 0;
}

static struct net_proto_family rsock_family_ops = {
	.create	= rsock_create,
	.owner	= THIS_MODULE,
};

int rsock_af_init(void)
{
	int err;

	rsock_family_ops.family = rsock_family;
	err = proto_register(&rsock_proto, 1);
	if (err)
		return err;
	err = sock_register(&rsock_family_ops);
	if (err)
		proto_unregister(&rsock_proto);
	return err;
}

void rsock_af_exit(void)
{
	sock_unregister(rsock_family);
	proto_unregister(&rsock_proto);
}
