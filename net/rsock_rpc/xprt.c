// SPDX-License-Identifier: GPL-2.0
/*
 * The client's transport: connecting, sending, and what the socket's events
 * mean. sunrpc does the rest: which calls to send again on a new connection,
 * timeouts, and when to give up.
 *
 * XPRT_LOCKED, a bit of sunrpc's, is held by who sends, connects or closes.
 *
 * The stock NFS client knows of three transports by name. This one answers to
 * the third, "rdma", in the place of rpcrdma, which speaks another protocol.
 */

#include <linux/module.h>
#include <linux/random.h>
#include <linux/sched/mm.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/sunrpc/addr.h>
#include <linux/sunrpc/clnt.h>
#include <linux/sunrpc/sched.h>
#include <linux/sunrpc/xprtsock.h>
#include <net/sock.h>

#include "rpc.h"

#define RRPC_BIND_TIMEOUT	(60 * HZ)
#define RRPC_IDLE_TIMEOUT	(5 * 60 * HZ)
/* After a failure; it doubles with each */
#define RRPC_REESTABLISH	(3 * HZ)
/* The longest that one attempt may take */
#define RRPC_CONNECT_TIMEOUT	(10 * HZ)

#define RRPC_MIN_SLOTS		RPC_MIN_SLOT_TABLE
#define RRPC_MAX_SLOTS		RPC_MAX_SLOT_TABLE

enum {
	RRPC_EV_GONE,		/* the connection ended */
	RRPC_EV_SPACE,		/* there is room to send */
	RRPC_EV_WANT_SPACE,	/* somebody wants to know of that */
};

static const struct rpc_timeout rrpc_timeout = {
	.to_initval	= 60 * HZ,
	.to_maxval	= 60 * HZ,
	.to_retries	= 2,
};

/* Events */

static void rrpc_raise(struct rrpc_xprt *t, int nr)
{
	set_bit(nr, &t->events);
	queue_work(xprtiod_workqueue, &t->event_work);
}

static void rrpc_xprt_event(struct rrpc_sock *s, enum rrpc_event event)
{
	struct rrpc_xprt *t = container_of(s, struct rrpc_xprt, s);

	switch (event) {
	case RRPC_DATA:
		queue_work(xprtiod_workqueue, &t->recv_work);
		break;
	case RRPC_STATE:
		if (xprt_connected(&t->xprt) && !rrpc_sock_is_connected(s))
			rrpc_raise(t, RRPC_EV_GONE);
		break;
	case RRPC_SPACE:
		if (sk_stream_is_writeable(s->sock->sk) &&
		    test_and_clear_bit(RRPC_EV_WANT_SPACE, &t->events))
			rrpc_raise(t, RRPC_EV_SPACE);
		break;
	}
}

/* A window that is not there any more: who has the call must not execute it */
static void rrpc_xprt_placed(struct rrpc_placer *p, u32 was, int err)
{
	if (err == -ENXIO)
		rrpc_raise(container_of(p, struct rrpc_xprt, placer),
			   RRPC_EV_GONE);
}

static void rrpc_event_work(struct work_struct *work)
{
	struct rrpc_xprt *t = container_of(work, struct rrpc_xprt, event_work);

	mutex_lock(&t->recv_mutex);
	if (test_and_clear_bit(RRPC_EV_GONE, &t->events))
		xprt_force_disconnect(&t->xprt);
	mutex_unlock(&t->recv_mutex);
	if (test_and_clear_bit(RRPC_EV_SPACE, &t->events))
		xprt_write_space(&t->xprt);
}

static void rrpc_recv_work(struct work_struct *work)
{
	struct rrpc_xprt *t = container_of(work, struct rrpc_xprt, recv_work);
	unsigned int nofs = memalloc_nofs_save();
	int err = 0;

	mutex_lock(&t->recv_mutex);
	if (t->s.sock)
		err = rrpc_receive(t);
	if (err < 0)
		xprt_force_disconnect(&t->xprt);
	mutex_unlock(&t->recv_mutex);
	if (err > 0)
		queue_work(xprtiod_workqueue, work);
	memalloc_nofs_restore(nofs);
}

/* Connecting */

static int rrpc_bind_port(struct rrpc_xprt *t, unsigned short port)
{
	struct sockaddr_storage src = t->src;

	src.ss_family = t->xprt.addr.ss_family;
	rpc_set_port((struct sockaddr *)&src, port);
	return kernel_bind(t->s.sock, (struct sockaddr *)&src, t->xprt.addrlen);
}

#define RRPC_NR_RESVPORTS	(RPC_DEF_MAX_RESVPORT - RPC_DEF_MIN_RESVPORT + 1)

/* Bind to the port of before, or to a reserved one, or to our address only */
static int rrpc_bind(struct rrpc_xprt *t)
{
	unsigned int i, first = get_random_u32() % RRPC_NR_RESVPORTS;
	int err = -EADDRINUSE;

	if (t->port)
		err = rrpc_bind_port(t, t->port);
	if (err != -EADDRINUSE)
		return err;
	t->port = 0;
	if (!t->xprt.resvport)
		return t->src.ss_family ? rrpc_bind_port(t, 0) : 0;
	for (i = 0; err == -EADDRINUSE && i < RRPC_NR_RESVPORTS; i++)
		err = rrpc_bind_port(t, RPC_DEF_MIN_RESVPORT +
					(first + i) % RRPC_NR_RESVPORTS);
	return err;
}

static unsigned short rrpc_sock_port(struct rrpc_sock *s)
{
	struct sockaddr_storage addr;

	if (kernel_getsockname(s->sock, (struct sockaddr *)&addr) < 0)
		return 0;
	return rpc_get_port((struct sockaddr *)&addr);
}

/* Notice a server that is gone as soon as a call over TCP would */
static void rrpc_set_timeouts(struct rrpc_xprt *t)
{
	struct sock *sk = t->s.sock->sk;
	unsigned int idle, count;

	spin_lock(&t->xprt.transport_lock);
	idle = DIV_ROUND_UP(t->xprt.timeout->to_initval, HZ);
	count = t->xprt.timeout->to_retries + 1;
	spin_unlock(&t->xprt.transport_lock);
	sock_set_keepalive(sk);
	rsock_sock_set_opt(sk, SOL_TCP, TCP_KEEPIDLE, idle);
	rsock_sock_set_opt(sk, SOL_TCP, TCP_KEEPINTVL, idle);
	rsock_sock_set_opt(sk, SOL_TCP, TCP_KEEPCNT, count);
	rsock_sock_set_opt(sk, SOL_TCP, TCP_USER_TIMEOUT,
			   idle * count * MSEC_PER_SEC);
}

/*
 * The transport is without a connection, and what was to end that one is void: who
 * wants it ended without XPRT_LOCKED says so with recv_mutex held, as it is here.
 */
static void rrpc_disconnected(struct rpc_xprt *xprt)
{
	rrpc_xprt(xprt)->events = 0;
	xprt->connect_cookie++;
	xprt_clear_connected(xprt);
	clear_bit(XPRT_CLOSE_WAIT, &xprt->state);
	clear_bit(XPRT_CLOSING, &xprt->state);
}

/* XPRT_LOCKED */
static void rrpc_disconnect(struct rrpc_xprt *t)
{
	struct rpc_xprt *xprt = &t->xprt;
	struct rrpc_sock s = t->s;
	bool busy;

	if (!s.sock)
		return;
	kernel_sock_shutdown(s.sock, SHUT_RDWR);
	mutex_lock(&t->recv_mutex);
	rrpc_sock_detach(&t->s);
	t->s.sock = NULL;
	t->places = false;
	rrpc_rx_reset(t);
	busy = rrpc_placer_forget(&t->placer);
	rrpc_disconnected(xprt);
	mutex_unlock(&t->recv_mutex);
	/*
	 * Who sends again waits for what is mapped, and who gives up for what is
	 * placed: let it not linger
	 */
	if (rrpc_offers_end(t) || busy)
		sock_no_linger(s.sock->sk);
	t->sent = 0;
	t->placed.len = 0;
	t->next_window = 0;
	rrpc_sock_release(&s);
	xprt_disconnect_done(xprt);
}

static int rrpc_connect_sock(struct rrpc_xprt *t)
{
	struct rpc_xprt *xprt = &t->xprt;
	struct rrpc_sock s = { .event = rrpc_xprt_event };
	int err;

	err = rrpc_sock_create(&s, xprt->xprt_net);
	if (err)
		return err;
	mutex_lock(&t->recv_mutex);
	t->s = s;
	rrpc_sock_attach(&t->s);
	mutex_unlock(&t->recv_mutex);
	err = rrpc_bind(t);
	if (err)
		return err;
	rrpc_set_timeouts(t);
	s.sock->sk->sk_sndtimeo = min_t(unsigned long, xprt->connect_timeout,
					RRPC_CONNECT_TIMEOUT);
	err = kernel_connect(s.sock, (struct sockaddr *)&xprt->addr,
			     xprt->addrlen, 0);
	if (err)
		return err;
	if (xprt->reuseport)
		t->port = rrpc_sock_port(&t->s);
	return READ_ONCE(rrpc_place) ? rrpc_send_hello(&t->s) : 0;
}

/* Errors that those who wait to send know, see call_connect_status() */
static int rrpc_connect_error(struct rrpc_xprt *t, int err)
{
	switch (err) {
	case -EADDRINUSE:
	case -EADDRNOTAVAIL:
		/* Another port next time */
		t->port = 0;
		return -EAGAIN;
	case -EINPROGRESS:
		return -ETIMEDOUT;
	case -ECONNREFUSED:
	case -ECONNRESET:
	case -ENETDOWN:
	case -ENETUNREACH:
	case -EHOSTUNREACH:
	case -ENOBUFS:
	case -ETIMEDOUT:
		return err;
	case -ENOMEM:
		return -ENOBUFS;
	default:
		return -EHOSTUNREACH;
	}
}

static void rrpc_connected(struct rrpc_xprt *t)
{
	struct rpc_xprt *xprt = &t->xprt;

	xprt->connect_cookie++;
	xprt->stat.connect_count++;
	xprt->stat.connect_time += (long)jiffies - xprt->stat.connect_start;
	xprt_set_connected(xprt);
	/* Pairs with rrpc_xprt_event(), which looks in the other order */
	smp_mb__after_atomic();
	if (!rrpc_sock_is_connected(&t->s))
		rrpc_raise(t, RRPC_EV_GONE);
}

static void rrpc_connect_work(struct work_struct *work)
{
	struct rrpc_xprt *t = container_of(work, struct rrpc_xprt,
					   connect_work.work);
	unsigned int nofs = memalloc_nofs_save();
	struct rpc_xprt *xprt = &t->xprt;
	int err;

	rrpc_disconnect(t);
	xprt->stat.connect_start = jiffies;
	/* One that ends before it was of use is a failure, too */
	xprt_reconnect_backoff(xprt, RRPC_REESTABLISH);
	err = rrpc_connect_sock(t);
	if (!err)
		rrpc_connected(t);
	/* Before rrpc_disconnect(), which wakes them with an error of its own */
	xprt_wake_pending_tasks(xprt, err ? rrpc_connect_error(t, err) :
					    -EAGAIN);
	if (err)
		rrpc_disconnect(t);
	xprt_clear_connecting(xprt);
	xprt_unlock_connect(xprt, t);
	memalloc_nofs_restore(nofs);
}

static void rrpc_connect(struct rpc_xprt *xprt, struct rpc_task *task)
{
	struct rrpc_xprt *t = rrpc_xprt(xprt);

	WARN_ON_ONCE(!xprt_lock_connect(xprt, task, t));
	queue_delayed_work(xprtiod_workqueue, &t->connect_work,
			   xprt_reconnect_delay(xprt));
}

static void rrpc_close(struct rpc_xprt *xprt)
{
	rrpc_disconnect(rrpc_xprt(xprt));
}

static void rrpc_inject_disconnect(struct rpc_xprt *xprt)
{
	xprt_force_disconnect(xprt);
}

static void rrpc_set_connect_timeout(struct rpc_xprt *xprt,
				     unsigned long connect_timeout,
				     unsigned long reconnect_timeout)
{
	struct rrpc_xprt *t = rrpc_xprt(xprt);

	spin_lock(&xprt->transport_lock);
	if (reconnect_timeout < xprt->max_reconnect_timeout)
		xprt->max_reconnect_timeout = reconnect_timeout;
	if (connect_timeout < xprt->connect_timeout) {
		t->timeout = *xprt->timeout;
		t->timeout.to_initval = max_t(unsigned long, connect_timeout,
					      RRPC_REESTABLISH);
		t->timeout.to_maxval = t->timeout.to_initval;
		t->timeout.to_retries = 0;
		xprt->timeout = &t->timeout;
		xprt->connect_timeout = connect_timeout;
	}
	spin_unlock(&xprt->transport_lock);
}

/* Sending */

static int rrpc_wait_for_space(struct rrpc_xprt *t)
{
	struct rpc_xprt *xprt = &t->xprt;
	struct socket *sock = t->s.sock;
	bool connected;

	spin_lock(&xprt->transport_lock);
	connected = xprt_connected(xprt);
	if (connected)
		xprt_wait_for_buffer_space(xprt);
	spin_unlock(&xprt->transport_lock);
	if (!connected)
		return -ENOTCONN;
	set_bit(RRPC_EV_WANT_SPACE, &t->events);
	set_bit(SOCK_NOSPACE, &sock->flags);
	/* Pairs with what makes room: count, then tell */
	smp_mb__after_atomic();
	if (sk_stream_is_writeable(sock->sk) &&
	    test_and_clear_bit(RRPC_EV_WANT_SPACE, &t->events))
		rrpc_raise(t, RRPC_EV_SPACE);
	return -EAGAIN;
}

/**
 * rrpc_send_request() - send a call, or a reply to the server's
 * @req: it
 *
 * Context: XPRT_LOCKED is held.
 *
 * Return: 0 if all of it was sent; -EAGAIN if it has to wait for room,
 * -ENOTCONN for another connection, -ENOBUFS for memory.
 */
static int rrpc_send_request(struct rpc_rqst *req)
{
	struct rpc_xprt *xprt = req->rq_xprt;
	struct rrpc_xprt *t = rrpc_xprt(xprt);
	struct rrpc_msg m = { .xdr = &req->rq_snd_buf };
	size_t len;
	bool room;
	ssize_t n;

	if (!t->s.sock)
		return -ENOTCONN;
	/* A record that was left half sent has spoilt the stream */
	if (t->sent && !req->rq_bytes_sent)
		goto broken;
	room = sk_stream_is_writeable(t->s.sock->sk);
	if (!t->sent) {
		/* A window is for a call that is sent */
		if (!room)
			return rrpc_wait_for_space(t);
		rrpc_offer_pages(t, req);
		rrpc_window_use(t, req);
	}
	m.offer = t->offer;
	m.placed = t->placed;
	len = rrpc_record_len(&m);
	req->rq_xtime = ktime_get();
	n = rrpc_send(&t->s, &m, t->sent, MSG_DONTWAIT | MSG_NOSIGNAL);
	/* There was room, so that it was memory that it lacked */
	if (n == -EAGAIN && room)
		return -ENOBUFS;
	if (n > 0) {
		if (!t->sent)
			rrpc_window_used(t);
		t->sent += n;
		req->rq_bytes_sent = t->sent;
		n = -EAGAIN;
	}
	if (t->sent == len) {
		req->rq_xmit_bytes_sent += len;
		t->sent = 0;
		t->placed.len = 0;
		return 0;
	}
	if (n == -EAGAIN)
		return rrpc_wait_for_space(t);
broken:
	xprt_force_disconnect(xprt);
	return -ENOTCONN;
}

/* The pages of a request are given back after its buffer */
static void rrpc_buf_free(struct rpc_task *task)
{
	struct rpc_rqst *req = task->tk_rqstp;
	struct rrpc_xprt *t = rrpc_xprt(req->rq_xprt);

	rrpc_offer_withdraw(t, req);
	rrpc_window_withdraw(t, req);
	rpc_free(task);
}

/* Names and numbers */

static void rrpc_free_names(struct rpc_xprt *xprt)
{
	kfree(xprt->address_strings[RPC_DISPLAY_ADDR]);
	kfree(xprt->address_strings[RPC_DISPLAY_HEX_ADDR]);
	kfree(xprt->address_strings[RPC_DISPLAY_PORT]);
	kfree(xprt->address_strings[RPC_DISPLAY_HEX_PORT]);
}

static int rrpc_name_port(struct rpc_xprt *xprt)
{
	unsigned short port = rpc_get_port((struct sockaddr *)&xprt->addr);
	const char **names = xprt->address_strings;

	kfree(names[RPC_DISPLAY_PORT]);
	kfree(names[RPC_DISPLAY_HEX_PORT]);
	names[RPC_DISPLAY_PORT] = kasprintf(GFP_KERNEL, "%u", port);
	names[RPC_DISPLAY_HEX_PORT] = kasprintf(GFP_KERNEL, "%4hx", port);
	return names[RPC_DISPLAY_PORT] && names[RPC_DISPLAY_HEX_PORT] ? 0 :
								       -ENOMEM;
}

/**
 * rrpc_xprt_names() - what tools are shown of a transport
 * @xprt: transport, with the peer's address
 */
int rrpc_xprt_names(struct rpc_xprt *xprt)
{
	const struct sockaddr *sap = (struct sockaddr *)&xprt->addr;
	const char **names = xprt->address_strings;
	char buf[INET6_ADDRSTRLEN + 16];

	names[RPC_DISPLAY_PROTO] = "rsock";
	rpc_ntop(sap, buf, sizeof(buf));
	names[RPC_DISPLAY_ADDR] = kstrdup(buf, GFP_KERNEL);
	if (sap->sa_family == AF_INET6) {
		names[RPC_DISPLAY_NETID] = RPCBIND_NETID_RDMA6;
		names[RPC_DISPLAY_HEX_ADDR] =
			kasprintf(GFP_KERNEL, "%pi6",
				  &((struct sockaddr_in6 *)sap)->sin6_addr);
	} else {
		names[RPC_DISPLAY_NETID] = RPCBIND_NETID_RDMA;
		names[RPC_DISPLAY_HEX_ADDR] =
			kasprintf(GFP_KERNEL, "%08x",
				  ntohl(((struct sockaddr_in *)sap)->sin_addr.s_addr));
	}
	if (!names[RPC_DISPLAY_ADDR] || !names[RPC_DISPLAY_HEX_ADDR])
		return -ENOMEM;
	return rrpc_name_port(xprt);
}

static void rrpc_set_port(struct rpc_xprt *xprt, unsigned short port)
{
	rpc_set_port((struct sockaddr *)&xprt->addr, port);
	rrpc_name_port(xprt);
}

static unsigned short rrpc_get_srcport(struct rpc_xprt *xprt)
{
	struct rrpc_xprt *t = rrpc_xprt(xprt);
	unsigned short port = 0;

	mutex_lock(&t->recv_mutex);
	if (t->s.sock)
		port = rrpc_sock_port(&t->s);
	mutex_unlock(&t->recv_mutex);
	return port;
}

static int rrpc_get_srcaddr(struct rpc_xprt *xprt, char *buf, size_t len)
{
	struct rrpc_xprt *t = rrpc_xprt(xprt);
	struct sockaddr_storage addr;
	int ret = -ENOTCONN;

	mutex_lock(&t->recv_mutex);
	if (t->s.sock)
		ret = kernel_getsockname(t->s.sock, (struct sockaddr *)&addr);
	mutex_unlock(&t->recv_mutex);
	return ret < 0 ? ret : snprintf(buf, len, "%pISc", &addr);
}

/**
 * rrpc_print_stats() - a line of /proc/self/mountstats, as TCP has it, and
 * at its end the bytes that the server has placed, and that we have
 * @xprt: transport
 * @seq: where it goes
 */
void rrpc_print_stats(struct rpc_xprt *xprt, struct seq_file *seq)
{
	struct rrpc_xprt *t = xprt->bc_xprt ? NULL : rrpc_xprt(xprt);
	long idle = 0;

	if (xprt_connected(xprt))
		idle = (long)(jiffies - xprt->last_used) / HZ;
	seq_printf(seq, "\txprt:\trsock %u %lu %lu %lu %ld %lu %lu %lu %llu %llu %lu %llu %llu %llu %llu\n",
		   t ? t->port : 0,
		   xprt->stat.bind_count,
		   xprt->stat.connect_count, xprt->stat.connect_time / HZ, idle,
		   xprt->stat.sends, xprt->stat.recvs, xprt->stat.bad_xids,
		   xprt->stat.req_u, xprt->stat.bklog_u, xprt->stat.max_slots,
		   xprt->stat.sending_u, xprt->stat.pending_u,
		   t ? READ_ONCE(t->nr_placed) : 0,
		   t ? READ_ONCE(t->nr_wrote) : 0);
}

/**
 * rrpc_enable_swap() - no swapping over this transport: rdma_cm and drivers
 * allocate memory to connect
 * @xprt: transport
 */
int rrpc_enable_swap(struct rpc_xprt *xprt)
{
	return -EINVAL;
}

/**
 * rrpc_disable_swap() - nothing to do, since it is never enabled
 * @xprt: transport
 */
void rrpc_disable_swap(struct rpc_xprt *xprt)
{
}

/* Making and ending */

/**
 * rrpc_xprt_free() - the last of a transport, of either kind
 * @xprt: transport without a socket of its own
 */
void rrpc_xprt_free(struct rpc_xprt *xprt)
{
	rrpc_free_names(xprt);
	xprt_free(xprt);
	module_put(THIS_MODULE);
}

static void rrpc_destroy(struct rpc_xprt *xprt)
{
	struct rrpc_xprt *t = rrpc_xprt(xprt);

	cancel_delayed_work_sync(&t->connect_work);
	rrpc_disconnect(t);
	cancel_work_sync(&t->recv_work);
	cancel_work_sync(&t->event_work);
	rrpc_placer_wait(&t->placer);
	xa_destroy(&t->offers);
	rrpc_xprt_free(xprt);
}

static const struct rpc_xprt_ops rrpc_xprt_ops = {
	.reserve_xprt		= xprt_reserve_xprt,
	.release_xprt		= xprt_release_xprt,
	.alloc_slot		= xprt_alloc_slot,
	.free_slot		= xprt_free_slot,
	.rpcbind		= rpcb_getport_async,
	.set_port		= rrpc_set_port,
	.connect		= rrpc_connect,
	.get_srcaddr		= rrpc_get_srcaddr,
	.get_srcport		= rrpc_get_srcport,
	.buf_alloc		= rpc_malloc,
	.buf_free		= rrpc_buf_free,
	.send_request		= rrpc_send_request,
	.wait_for_reply_request	= xprt_wait_for_reply_request_def,
	.close			= rrpc_close,
	.destroy		= rrpc_destroy,
	.set_connect_timeout	= rrpc_set_connect_timeout,
	.print_stats		= rrpc_print_stats,
	.enable_swap		= rrpc_enable_swap,
	.disable_swap		= rrpc_disable_swap,
	.inject_disconnect	= rrpc_inject_disconnect,
	.bc_setup		= rrpc_bc_setup,
	.bc_destroy		= rrpc_bc_destroy,
	.bc_maxpayload		= rrpc_bc_maxpayload,
	.bc_num_slots		= rrpc_bc_num_slots,
	.bc_free_rqst		= rrpc_bc_free_rqst,
};

static struct rpc_xprt *rrpc_xprt_setup(struct xprt_create *args);

static struct xprt_class rrpc_xprt_class = {
	.list	= LIST_HEAD_INIT(rrpc_xprt_class.list),
	.name	= "rsock",
	.owner	= THIS_MODULE,
	.ident	= XPRT_TRANSPORT_RDMA,
	.setup	= rrpc_xprt_setup,
	.netid	= { "rdma", "rdma6", "" },
};

static void rrpc_xprt_defaults(struct rpc_xprt *xprt)
{
	xprt->ops = &rrpc_xprt_ops;
	xprt->xprt_class = &rrpc_xprt_class;
	xprt->prot = IPPROTO_TCP;
	xprt->max_payload = RRPC_MAX_PAYLOAD;
	xprt->timeout = &rrpc_timeout;
	xprt->bind_timeout = RRPC_BIND_TIMEOUT;
	xprt->idle_timeout = RRPC_IDLE_TIMEOUT;
	xprt->connect_timeout = rrpc_timeout.to_initval *
				(rrpc_timeout.to_retries + 1);
	xprt->max_reconnect_timeout = rrpc_timeout.to_maxval;
}

static struct rpc_xprt *rrpc_xprt_setup(struct xprt_create *args)
{
	struct rpc_xprt *xprt;
	struct rrpc_xprt *t;

	if (args->dstaddr->sa_family != AF_INET &&
	    args->dstaddr->sa_family != AF_INET6)
		return ERR_PTR(-EAFNOSUPPORT);
	if (args->addrlen > sizeof(xprt->addr))
		return ERR_PTR(-EBADF);
	xprt = xprt_alloc(args->net, sizeof(*t), RRPC_MIN_SLOTS,
			  args->flags & XPRT_CREATE_INFINITE_SLOTS ?
			  RPC_MAX_SLOT_TABLE_LIMIT : RRPC_MAX_SLOTS);
	if (!xprt)
		return ERR_PTR(-ENOMEM);
	__module_get(THIS_MODULE);
	t = rrpc_xprt(xprt);
	mutex_init(&t->recv_mutex);
	xa_init(&t->offers);
	rrpc_placer_init(&t->placer, rrpc_xprt_placed);
	INIT_DELAYED_WORK(&t->connect_work, rrpc_connect_work);
	INIT_WORK(&t->recv_work, rrpc_recv_work);
	INIT_WORK(&t->event_work, rrpc_event_work);
	if (args->srcaddr)
		memcpy(&t->src, args->srcaddr, args->addrlen);
	memcpy(&xprt->addr, args->dstaddr, args->addrlen);
	xprt->addrlen = args->addrlen;
	rrpc_xprt_defaults(xprt);
	if (rpc_get_port(args->dstaddr))
		xprt_set_bound(xprt);
	if (rrpc_xprt_names(xprt)) {
		rrpc_xprt_free(xprt);
		return ERR_PTR(-ENOMEM);
	}
	return xprt;
}

/**
 * rrpc_xprt_init() - answer to proto=rdma
 *
 * Return: 0, or -EEXIST if another module does.
 */
int rrpc_xprt_init(void)
{
	return xprt_register_transport(&rrpc_xprt_class);
}

/**
 * rrpc_xprt_exit() - do so no more
 */
void rrpc_xprt_exit(void)
{
	xprt_unregister_transport(&rrpc_xprt_class);
}
