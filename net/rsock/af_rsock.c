// SPDX-License-Identifier: GPL-2.0
/*
 * The socket family: what socket calls mean, in terms of a socket's endpoint.
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
#include "rsock.h"
#include "rx.h"
#include "send.h"
#include "tx.h"
#include "watch.h"

int rsock_family = AF_RSOCK;
EXPORT_SYMBOL_GPL(rsock_family);
module_param_named(family, rsock_family, int, 0444);
MODULE_PARM_DESC(family, "Number of the address family (default 22)");

/* Connecting: called by inet_stream_connect(), which waits and keeps state */
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
	err = rsock_sk_bind_again(sk) ?: rsock_addr_to(sk, &addr) ?:
	      rsock_sk_new_id(sk);
	if (!err && rs->bound && rs->laddr.sa.sa_family != addr.sa.sa_family)
		err = rsock_sk_bind4(sk);
	if (err)
		return err;

	rs->ep->cfg = rs->cfg;
	rs->ep->cfg.ring = sk->sk_rcvbuf;
	rs->v6 |= v6;
	spin_lock_bh(&rs->ep->lock);
	sk->sk_shutdown = 0;
	sk->sk_err = 0;
	rsock_set_state(sk, TCP_SYN_SENT);
	rsock_watch_begin(rs->ep);
	spin_unlock_bh(&rs->ep->lock);
	err = rsock_cm_connect(rs->ep, &addr.sa,
			       addr.sa.sa_family == AF_INET ? rs->opts.tos :
							      rs->opts.tclass);
	if (err)
		rsock_sk_disconnect(sk);
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

	rsock_sk_disconnect(sk);
	rsock_listen_stop(sk);
	sk->sk_wmem_queued = 0;
	sk->sk_shutdown = 0;
	sk_set_peek_off(sk, -1);
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
	err = rsock_sk_bind_again(sk);
	if (!err && !rs->bound)
		err = rsock_sk_bind(sk, &any);
	if (err)
		return err;
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

static int __rsock_sendmsg(struct socket *sock, struct msghdr *msg)
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

static int rsock_sendmsg(struct socket *sock, struct msghdr *msg, size_t len)
{
	msg->msg_flags &= ~RSOCK_MSG_KERNEL;
	return __rsock_sendmsg(sock, msg);
}

/* Before 6.5, when sendmsg() could not be given pages */
static ssize_t __maybe_unused rsock_sendpage(struct socket *sock,
					     struct page *page, int offset,
					     size_t size, int flags)
{
	struct msghdr msg = { .msg_flags = flags | MSG_SPLICE_PAGES };
	struct bio_vec bv = {
		.bv_page = page,
		.bv_offset = offset,
		.bv_len = size,
	};

	iov_iter_bvec(&msg.msg_iter, ITER_SOURCE, &bv, 1, size);
	return __rsock_sendmsg(sock, &msg);
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

/*
 * May one send, or is there a reason not to? The end of a connection is told by a
 * wake-up of its own: until then a sender would be told to try again, and do so.
 */
static bool rsock_poll_writable(const struct sock *sk, const struct rsock_ep *ep,
				int state)
{
	if (ep && ((1 << state) & (TCPF_ESTABLISHED | TCPF_CLOSE_WAIT)) &&
	    rsock_send_is_late(sk, ep))
		return false;
	return sk_stream_is_writeable(sk);
}

static __poll_t rsock_poll_send(struct sock *sk, struct rsock_ep *ep, int state,
				u8 shut)
{
	if ((shut & SEND_SHUTDOWN) || rsock_poll_writable(sk, ep, state))
		return EPOLLOUT | EPOLLWRNORM;
	sk_set_bit(SOCKWQ_ASYNC_NOSPACE, sk);
	set_bit(SOCK_NOSPACE, &sk->sk_socket->flags);
	/* Pairs with what a completion does: count, then wake */
	smp_mb__after_atomic();
	if (rsock_poll_writable(sk, ep, state))
		return EPOLLOUT | EPOLLWRNORM;
	/* Make sure that there is such a completion */
	if (ep)
		rsock_tx_kick(ep);
	return 0;
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
		mask |= rsock_poll_send(sk, ep, state, shut);
		rcu_read_unlock();
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
	.read_sock	= rsock_read_sock,	\
	RSOCK_SENDPAGE_OP			\
	.mmap		= rsock_mmap,		\
	.set_peek_off	= sk_set_peek_off,	\
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
