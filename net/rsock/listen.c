// SPDX-License-Identifier: GPL-2.0
/*
 * Listening sockets. A connection request makes a child socket, which is
 * pending until its connection is established and ready until it is accepted.
 * Both count against the backlog; a request beyond it is rejected, and the
 * peer's connect() says ECONNREFUSED.
 */

#include "listen.h"

#include <net/sock.h>
#include <rdma/ib_cm.h>

#include "cm.h"
#include "pernet.h"
#include "rsock.h"
#include "watch.h"

/*
 * Guards the accept queue of every listening socket. One for all: it is taken
 * a few times in the life of a connection. Softirq safe, inside ep->lock.
 */
static DEFINE_SPINLOCK(rsock_accept_lock);

/* A child leaves its listener's queue. The queue's reference is the caller's */
static void rsock_child_unlink(struct sock *sk)
{
	struct rsock_sock *rs = rsock_sk(sk);
	struct sock *lsk = rs->listener;

	lockdep_assert_held(&rsock_accept_lock);
	list_del_init(&rs->accept_node);
	rs->listener = NULL;
	sk_acceptq_removed(lsk);
	sock_put(lsk);
}

/* Flags that options have set, most of them for the program's sake */
#define RSOCK_INHERITED	(BIT(SOCK_LINGER) | BIT(SOCK_KEEPOPEN) |	\
			 BIT(SOCK_URGINLINE) | BIT(SOCK_ZEROCOPY) |	\
			 BIT(SOCK_DBG) | BIT(SOCK_LOCALROUTE) |		\
			 BIT(SOCK_BROADCAST) | BIT(SOCK_RCVTSTAMP) |	\
			 BIT(SOCK_RXQ_OVFL) | BIT(SOCK_NOFCS) |		\
			 BIT(SOCK_SELECT_ERR_QUEUE))

static struct sock *rsock_child_alloc(struct sock *lsk)
{
	struct rsock_sock *lrs = rsock_sk(lsk), *rs;
	struct sock *sk;

	sk = rsock_sk_alloc(sock_net(lsk), lsk->sk_family,
			    lsk->sk_kern_sock);
	if (!sk)
		return NULL;
	rs = rsock_sk(sk);
	rs->cfg = lrs->cfg;
	rs->v6 = lrs->v6;
	rs->opts = lrs->opts;
	rs->inline_size = lrs->inline_size;
	rs->bound = true;
	sk->sk_protocol = lsk->sk_protocol;
	sk->sk_allocation = lsk->sk_allocation;
	sk->sk_sndbuf = lsk->sk_sndbuf;
	sk->sk_rcvbuf = lsk->sk_rcvbuf;
	sk->sk_userlocks = lsk->sk_userlocks & (SOCK_SNDBUF_LOCK |
						SOCK_RCVBUF_LOCK);
	sk->sk_rcvtimeo = lsk->sk_rcvtimeo;
	sk->sk_sndtimeo = lsk->sk_sndtimeo;
	sk->sk_rcvlowat = lsk->sk_rcvlowat;
	sk_set_peek_off(sk, READ_ONCE(lsk->sk_peek_off));
	sk->sk_lingertime = lsk->sk_lingertime;
	sk->sk_reuse = lsk->sk_reuse;
	sk->sk_reuseport = lsk->sk_reuseport;
	sk->sk_mark = lsk->sk_mark;
	sk->sk_bound_dev_if = lsk->sk_bound_dev_if;
	sk->sk_no_check_tx = lsk->sk_no_check_tx;
	sk->sk_max_pacing_rate = lsk->sk_max_pacing_rate;
	sk->sk_flags |= lsk->sk_flags & RSOCK_INHERITED;
	return sk;
}

/* Put a child into the queue, if there is still one with room */
static bool rsock_child_queue(struct sock *lsk, struct sock *sk)
{
	struct rsock_sock *rs = rsock_sk(sk);
	bool ok;

	spin_lock_bh(&rsock_accept_lock);
	ok = lsk->sk_state == TCP_LISTEN && !sk_acceptq_is_full(lsk);
	if (ok) {
		sk_acceptq_added(lsk);
		sock_hold(lsk);
		rs->listener = lsk;
		rsock_set_state(sk, TCP_SYN_RECV);
		list_add_tail(&rs->accept_node, &rsock_sk(lsk)->pending);
	}
	spin_unlock_bh(&rsock_accept_lock);
	return ok;
}

/* Returns why it could not be made, RSOCK_MIB_NONE if it was */
static enum rsock_mib rsock_listen_child(struct rsock_ep *lep,
					 struct rdma_cm_id *id,
					 const struct rsock_conn *peer)
{
	struct sock *lsk = lep->sk;
	struct rsock_ep *ep;
	struct sock *sk;

	sk = rsock_child_alloc(lsk);
	if (!sk)
		return RSOCK_MIB_LISTENNOMEMORY;
	ep = rsock_sk_ep(sk);
	if (!ep) {
		sock_put(sk);
		return RSOCK_MIB_LISTENNOMEMORY;
	}
	rsock_ep_charge_as(ep, lep);
	/*
	 * Once it is queued the child can be closed by others at any time; with
	 * a cm_id, the end of its endpoint waits for this handler.
	 */
	ep->passive = true;
	ep->id = id;
	if (!rsock_child_queue(lsk, sk)) {
		ep->id = NULL;
		rsock_ep_kill(ep, 0, RSOCK_MIB_NONE);
		sock_put(sk);
		return RSOCK_MIB_LISTENOVERFLOWS;
	}
	id->context = ep;
	spin_lock_bh(&ep->lock);
	rsock_watch_begin(ep);
	spin_unlock_bh(&ep->lock);
	rsock_cm_passive(ep, peer);
	return RSOCK_MIB_NONE;
}

/* SO_BINDTODEVICE: is the request for us? */
static bool rsock_listen_hears(const struct sock *lsk,
			       const struct rdma_cm_id *id)
{
	int ifindex = READ_ONCE(lsk->sk_bound_dev_if);

	return !ifindex || ifindex == id->route.addr.dev_addr.bound_dev_if;
}

/**
 * rsock_listen_request() - a peer wants to connect
 * @lep: the listener's endpoint
 * @id: cm_id of the new connection
 * @event: the request
 *
 * Context: CM handler.
 *
 * Return: 0 if @id was taken over, else rdma_cm destroys it.
 */
int rsock_listen_request(struct rsock_ep *lep, struct rdma_cm_id *id,
			 struct rdma_cm_event *event)
{
	const struct rdma_conn_param *param = &event->param.conn;
	struct rsock_conn peer;
	enum rsock_mib why;
	int fault;

	fault = rsock_conn_decode(param->private_data, param->private_data_len,
				  &peer);
	if (fault)
		why = RSOCK_MIB_FAULTS + fault;
	else if (!rsock_listen_hears(lep->sk, id))
		why = RSOCK_MIB_LISTENOTHERDEVICE;
	else if (sk_acceptq_is_full(lep->sk))
		why = RSOCK_MIB_LISTENOVERFLOWS;
	else
		why = rsock_listen_child(lep, id, &peer);
	if (!why)
		return 0;
	RSOCK_INC_STATS(lep->net, why);
	rdma_reject(id, NULL, 0, IB_CM_REJ_CONSUMER_DEFINED);
	return -ECONNREFUSED;
}

/**
 * rsock_child_connected() - a connection is established
 * @sk: its socket; no effect if it is nobody's child. ep->lock held
 */
void rsock_child_connected(struct sock *sk)
{
	struct rsock_sock *rs = rsock_sk(sk);
	struct sock *lsk;

	spin_lock(&rsock_accept_lock);
	lsk = rs->listener;
	if (lsk) {
		list_move_tail(&rs->accept_node, &rsock_sk(lsk)->ready);
		if (!sock_flag(lsk, SOCK_DEAD))
			lsk->sk_data_ready(lsk);
	}
	spin_unlock(&rsock_accept_lock);
}

/**
 * rsock_child_closed() - a connection ended
 * @sk: its socket. One that was ready stays so, for what arrived before can
 *	still be read; one that was not is forgotten
 *
 * Return: true if the reference of the queue has become the caller's.
 */
bool rsock_child_closed(struct sock *sk)
{
	bool forget;

	spin_lock_bh(&rsock_accept_lock);
	forget = rsock_sk(sk)->listener && sk->sk_state == TCP_SYN_RECV;
	if (forget)
		rsock_child_unlink(sk);
	spin_unlock_bh(&rsock_accept_lock);
	return forget;
}

/**
 * rsock_listen_ready() - is there a connection to accept?
 * @sk: listening socket
 */
bool rsock_listen_ready(struct sock *sk)
{
	return !list_empty_careful(&rsock_sk(sk)->ready);
}

static struct sock *rsock_listen_pop(struct list_head *queue)
{
	struct rsock_sock *rs;
	struct sock *sk = NULL;

	spin_lock_bh(&rsock_accept_lock);
	rs = list_first_entry_or_null(queue, struct rsock_sock, accept_node);
	if (rs) {
		sk = &rs->inet.sk;
		rsock_child_unlink(sk);
	}
	spin_unlock_bh(&rsock_accept_lock);
	return sk;
}

/**
 * rsock_listen_stop() - close what nobody will accept any more
 * @sk: socket that was listening, locked; sk_state is not TCP_LISTEN any more
 */
void rsock_listen_stop(struct sock *sk)
{
	struct rsock_sock *rs = rsock_sk(sk);
	struct sock *child;

	while ((child = rsock_listen_pop(&rs->pending)) ||
	       (child = rsock_listen_pop(&rs->ready))) {
		lock_sock_nested(child, SINGLE_DEPTH_NESTING);
		rsock_sk_close(child);
		release_sock(child);
		sock_put(child);
	}
}

static int rsock_listen_wait(struct sock *sk, long timeo)
{
	DEFINE_WAIT(wait);
	int err = 0;

	for (;;) {
		prepare_to_wait_exclusive(sk_sleep(sk), &wait,
					  TASK_INTERRUPTIBLE);
		if (rsock_listen_ready(sk))
			break;
		err = -EINVAL;
		if (sk->sk_state != TCP_LISTEN)
			break;
		err = sock_intr_errno(timeo);
		if (signal_pending(current))
			break;
		err = -EAGAIN;
		if (!timeo)
			break;
		err = 0;
		release_sock(sk);
		timeo = schedule_timeout(timeo);
		lock_sock(sk);
	}
	finish_wait(sk_sleep(sk), &wait);
	return err;
}

/**
 * rsock_listen_accept() - take a connection from the queue
 * @sk: listening socket
 * @arg: flags in, error out
 */
struct sock *rsock_listen_accept(struct sock *sk, struct proto_accept_arg *arg)
{
	struct sock *child = NULL;
	long timeo;

	lock_sock(sk);
	arg->err = -EINVAL;
	if (sk->sk_state != TCP_LISTEN)
		goto out;
	timeo = sock_rcvtimeo(sk, arg->flags & O_NONBLOCK);
	do {
		arg->err = rsock_listen_wait(sk, timeo);
		if (arg->err)
			break;
		child = rsock_listen_pop(&rsock_sk(sk)->ready);
	} while (!child);
out:
	release_sock(sk);
	return child;
}
