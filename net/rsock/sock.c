// SPDX-License-Identifier: GPL-2.0
/*
 * A socket and its endpoint: how they come together and part, and what an
 * endpoint's events mean for the socket.
 *
 * Life of a socket. It has a reference for its file (or, before it is
 * accepted, for its listener's queue), and its endpoint holds one as long as
 * there is a connection; so a closed socket lives on until what it sent has
 * arrived, or net.rsock.fin_timeout is over.
 */

#include <net/ipv6.h>
#include <net/rsock.h>
#include <net/sock.h>

#include "cm.h"
#include "listen.h"
#include "pernet.h"
#include "rsock.h"
#include "trace.h"
#include "tx.h"
#include "watch.h"

#define RSOCK_SNDBUF	(256 * 1024)
#define RSOCK_RCVBUF	(256 * 1024)

/* By who uses it: a fault of a program under its lock may reach the kernel's */
static struct lock_class_key rsock_sk_keys[2], rsock_slock_keys[2];

/* Was it an attempt to connect that failed? */
static void rsock_count_state(struct sock *sk, int state)
{
	if (state != TCP_CLOSE)
		return;
	if (sk->sk_state == TCP_SYN_SENT)
		RSOCK_INC_STATS(sock_net(sk), RSOCK_MIB_ATTEMPTFAILS);
	else if (sk->sk_state == TCP_SYN_RECV)
		RSOCK_INC_STATS(sock_net(sk), RSOCK_MIB_PASSIVEFAILS);
}

/**
 * rsock_set_state() - the only writer of sk_state
 * @sk: socket; ep->lock is held once it has an endpoint that is in use
 * @state: one of TCP_*
 */
void rsock_set_state(struct sock *sk, int state)
{
	trace_rsock_sk_state(sk, state);
	rsock_count_state(sk, state);
	/* Pairs with rsock_poll(): who sees the state sees what led to it */
	smp_store_release(&sk->sk_state, state);
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

/* rdma_cm knows the scope, but does not keep it with the address */
static void rsock_addr_learn_scope(union rsock_addr *a, const struct rdma_addr *addr)
{
	if (a->sa.sa_family == AF_INET6 && !a->in6.sin6_scope_id &&
	    (ipv6_addr_type(&a->in6.sin6_addr) & IPV6_ADDR_LINKLOCAL))
		a->in6.sin6_scope_id = addr->dev_addr.bound_dev_if;
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
	rsock_addr_learn_scope(&rs->laddr, addr);
	rsock_addr_learn_scope(&rs->paddr, addr);
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

/* A socket that was closed has no user any more whom these could reach */
static void rsock_state_change(struct sock *sk)
{
	if (!sock_flag(sk, SOCK_DEAD))
		sk->sk_state_change(sk);
}

static void rsock_data_ready(struct sock *sk)
{
	if (!sock_flag(sk, SOCK_DEAD))
		sk->sk_data_ready(sk);
}

/* No lock held */
static void rsock_resolved(struct rsock_ep *ep)
{
	spin_lock_bh(&ep->lock);
	if (rsock_attached(ep))
		rsock_sk_addrs(ep->sk);
	spin_unlock_bh(&ep->lock);
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
	rsock_state_change(sk);
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
		rsock_ep_leave(ep);
		break;
	}
	rsock_state_change(sk);
	sk_wake_async(sk, SOCK_WAKE_WAITD, POLL_IN);
}

static void rsock_readable(struct rsock_ep *ep)
{
	if (!rsock_attached(ep))
		return;
	if (ep->rx.eof)
		rsock_got_eof(ep);
	else
		rsock_data_ready(ep->sk);
}

static void rsock_writable(struct rsock_ep *ep)
{
	/* After its end, rsock_sk_gone() has the last word */
	if (!rsock_attached(ep) || ep->state != RSOCK_EP_OPEN ||
	    sock_flag(ep->sk, SOCK_DEAD))
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
	if (rsock_attached(ep) && !sock_flag(ep->sk, SOCK_DEAD))
		sk_error_report(ep->sk);
}

static void rsock_tx_done(struct rsock_ep *ep)
{
	struct sock *sk = ep->sk;

	if (!rsock_attached(ep)) {
		rsock_ep_kill_locked(ep, 0, RSOCK_MIB_NONE);
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
		rsock_ep_leave(ep);
	rsock_state_change(sk);
}

/* States in which an end by an error counts as a reset, as TCP counts them */
#define RSOCK_COUNTED_STATES	(TCPF_ESTABLISHED | TCPF_CLOSE_WAIT)

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
	if (!err && !list_empty(&ep->tx.unsent)) {
		err = EPIPE;
		RSOCK_INC_STATS(ep->net, RSOCK_MIB_PEERCLOSES);
	}
	if (!err && sk->sk_state == TCP_SYN_SENT)
		err = ECONNRESET;
	/* Whoever waits for room waits in vain */
	WRITE_ONCE(sk->sk_wmem_queued, 0);
	if (err) {
		WRITE_ONCE(sk->sk_err, err);
		if ((1 << sk->sk_state) & RSOCK_COUNTED_STATES)
			RSOCK_INC_STATS(ep->net, RSOCK_MIB_RESETS);
	}
	if (err || sk->sk_state != TCP_CLOSE_WAIT) {
		sk->sk_shutdown = SHUTDOWN_MASK;
		rsock_set_state(sk, TCP_CLOSE);
	}
	rsock_state_change(sk);
	if (err && !sock_flag(sk, SOCK_DEAD))
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
	.resolved	= rsock_resolved,
	.connected	= rsock_connected,
	.readable	= rsock_readable,
	.writable	= rsock_writable,
	.noted		= rsock_noted,
	.tx_done	= rsock_tx_done,
	.closed		= rsock_closed,
};

/* Making */

static void rsock_sk_destruct(struct sock *sk)
{
	struct rsock_sock *rs = rsock_sk(sk);

	rsock_net_del(sk);
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

/*
 * Not by sock_lock_init_class_and_name(): that takes a reference of the module,
 * which is lost if a user in the kernel calls it again for a class of its own.
 * The socket holds us anyway.
 */
static void rsock_sk_lock_class(struct sock *sk, bool kern)
{
	lockdep_set_class_and_name(&sk->sk_lock.slock, &rsock_slock_keys[kern],
				   kern ? "k-slock-AF_RSOCK" :
					  "slock-AF_RSOCK");
	lockdep_init_map(&sk->sk_lock.dep_map,
			 kern ? "k-sk_lock-AF_RSOCK" : "sk_lock-AF_RSOCK",
			 &rsock_sk_keys[kern], 0);
}

/* Make of a socket that the core has initialised one of ours; never fails */
int rsock_sk_init(struct sock *sk)
{
	struct rsock_sock *rs = rsock_sk(sk);
	bool kern = sk->sk_kern_sock;

	rsock_sk_lock_class(sk, kern);
	sk->sk_destruct = rsock_sk_destruct;
	sk->sk_write_space = rsock_write_space;
	sk->sk_allocation = kern ? GFP_KERNEL : GFP_KERNEL_ACCOUNT;
	sk->sk_sndbuf = RSOCK_SNDBUF;
	sk->sk_rcvbuf = RSOCK_RCVBUF;
	sk->sk_type = SOCK_STREAM;
	sk->sk_state = TCP_CLOSE;
	if (sk->sk_socket)
		rsock_socket_init(sk->sk_socket);
	/* One of the kernel would not hold its namespace, but rdma_cm does */
	if (!sk->sk_net_refcnt)
		rsock_hold_net(sk);

	rs->v6 = sk->sk_family == AF_INET6;
	rs->opts.v6only = sk->sk_ipv6only;
	rs->cfg.sq = RSOCK_SQSIZE;
	rs->cfg.rq = RSOCK_RQSIZE;
	rs->cfg.iomap = RSOCK_IOMAP_DEFAULT;
	rs->write_offset = RSOCK_TO_STREAM;
	rs->inline_size = 64;
	INIT_LIST_HEAD(&rs->accept_node);
	INIT_LIST_HEAD(&rs->pending);
	INIT_LIST_HEAD(&rs->ready);
	rsock_net_add(sk);
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
		/* Others look at it without the socket's lock */
		smp_store_release(&rs->ep, rsock_ep_alloc(sk, sock_net(sk),
							  &rsock_sk_ep_ops,
							  &rs->cfg));
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
 * never notice it, so that one is told the end of the stream; unless the kernel
 * waits for pages that are being sent. ep->lock held.
 */
static void rsock_ep_abort(struct rsock_ep *ep)
{
	if (ep->state >= RSOCK_EP_RESOLVE && ep->state <= RSOCK_EP_OPEN)
		RSOCK_INC_STATS(ep->net, RSOCK_MIB_ABORTS);
	if (ep->state != RSOCK_EP_OPEN || ep->peer_ext ||
	    (ep->sk->sk_kern_sock && ep->tx.inplace)) {
		rsock_ep_kill_locked(ep, 0, RSOCK_MIB_NONE);
		return;
	}
	rsock_tx_drop(ep);
	rsock_tx_fin(ep, RSOCK_FIN_DISCONNECT);
	rsock_ep_start_linger(ep, rsock_net(ep->net)->fin_timeout);
}

/**
 * rsock_sk_reset() - part with the endpoint, for good
 * @sk: socket, locked; as new then, but for its options
 */
void rsock_sk_reset(struct sock *sk)
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

/**
 * rsock_sk_new_id() - an endpoint with a cm_id
 * @sk: socket, locked, that is neither bound nor connected; or bound, and then
 *	it has one
 */
int rsock_sk_new_id(struct sock *sk)
{
	struct rsock_ep *ep = rsock_sk(sk)->ep;
	int err;

	/* One whose connection ended was kept for what could still be read */
	if (ep && READ_ONCE(ep->state) >= RSOCK_EP_DYING)
		rsock_sk_reset(sk);
	ep = rsock_sk_ep(sk);
	if (!ep)
		return -ENOMEM;
	err = ep->id ? 0 : rsock_cm_create(ep);
	if (err)
		rsock_sk_reset(sk);
	return err;
}

/**
 * sk_is_rsock() - is it a socket of AF_RSOCK, or IPPROTO_RSOCK?
 * @sk: any socket
 */
bool sk_is_rsock(const struct sock *sk)
{
	return sk->sk_prot == &rsock_proto;
}
EXPORT_SYMBOL_GPL(sk_is_rsock);

/* The end */

/**
 * rsock_sk_fin() - send no more
 * @sk: socket that has a connection, or had; ep->lock held
 * @fin: RSOCK_FIN_SHUTDOWN or _DISCONNECT
 */
void rsock_sk_fin(struct sock *sk, enum rsock_fin fin)
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
