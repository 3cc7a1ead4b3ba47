// SPDX-License-Identifier: GPL-2.0
/*
 * Watching a connection that makes no progress: SO_KEEPALIVE with TCP_KEEPIDLE,
 * TCP_KEEPINTVL and TCP_KEEPCNT, TCP_USER_TIMEOUT, and one that is not there
 * yet. rdma_cm repeats its messages and gives up, but is not told when a device
 * flushes them, and waits for ever then.
 *
 * The transport repeats what is not acknowledged and gives up by itself, but
 * notices nothing as long as nothing is sent, and knows nothing of a peer whose
 * program does not read. So an idle connection is probed by a write of no
 * bytes, and so is, always, a peer that has no room for what is queued: it may
 * be gone. What is queued is looked at from time to time.
 *
 * A peer may vanish between two messages, of which the first left it to the second
 * to wake the reader.
 */

#include "watch.h"

#include <net/sock.h>
#include <net/tcp.h>

#include "pernet.h"
#include "rsock.h"
#include "tx.h"

/* Look at what is queued so many times in a user timeout */
#define RSOCK_WATCH_LOOKS	4
/* A peer without room is asked after that time, and then ever more rarely */
#define RSOCK_PERSIST_MIN	HZ
#define RSOCK_PERSIST_MAX	TCP_RTO_MAX
/* A message that was said to follow at once has come by then, or gets lost */
#define RSOCK_MORE_TIME		(HZ / 5)

static int rsock_or(int val, int otherwise)
{
	return val > 0 ? val : otherwise;
}

/* tcp(7) has one set of defaults for all that is stream */
int rsock_keepidle(const struct rsock_sock *rs)
{
	return rsock_or(READ_ONCE(rs->opts.keepidle),
			READ_ONCE(sock_net(&rs->inet.sk)->ipv4.sysctl_tcp_keepalive_time) / HZ);
}

int rsock_keepintvl(const struct rsock_sock *rs)
{
	return rsock_or(READ_ONCE(rs->opts.keepintvl),
			READ_ONCE(sock_net(&rs->inet.sk)->ipv4.sysctl_tcp_keepalive_intvl) / HZ);
}

int rsock_keepcnt(const struct rsock_sock *rs)
{
	return rsock_or(READ_ONCE(rs->opts.keepcnt),
			READ_ONCE(sock_net(&rs->inet.sk)->ipv4.sysctl_tcp_keepalive_probes));
}

/* If a time that began at @since is not over, look again then */
static bool rsock_watch_wait(unsigned long since, unsigned long time,
			     unsigned long *next)
{
	unsigned long gone = jiffies - since;

	if (gone >= time)
		return false;
	*next = min(*next, time - gone);
	return true;
}

/*
 * Has the peer been silent for too long? If not, look again after *next. It is
 * looked at more often than it is probed, also because an option was set.
 * @limit: the user timeout, which takes the place of the number of probes
 */
static bool rsock_watch_idle(struct rsock_ep *ep, unsigned long limit,
			     unsigned long *next)
{
	const struct rsock_sock *rs = rsock_sk(ep->sk);
	unsigned long idle = rsock_keepidle(rs) * (unsigned long)HZ;
	unsigned long intvl = max(rsock_keepintvl(rs), 1) * (unsigned long)HZ;
	struct rsock_watch *w = &ep->watch;
	u32 heard = ep->sq.done + ep->rx.msgs;

	if (w->heard != heard) {
		w->heard = heard;
		w->heard_at = jiffies;
		w->probes = 0;
	}
	if (rsock_watch_wait(w->heard_at, idle, next) ||
	    (w->probes && rsock_watch_wait(w->probed_at, intvl, next)))
		return false;
	if (w->probes && (limit ? jiffies - w->heard_at >= limit :
				  w->probes >= rsock_keepcnt(rs)))
		return true;
	w->probes++;
	w->probed_at = jiffies;
	rsock_tx_probe(ep);
	*next = min(*next, intvl);
	return false;
}

static u64 rsock_watch_moved(const struct rsock_ep *ep)
{
	return ep->tx.bytes_sent + ep->tx.bytes_acked;
}

/* Has what is queued not moved for @limit? */
static bool rsock_watch_stuck(struct rsock_ep *ep, unsigned long limit,
			      unsigned long *next)
{
	u64 moved = rsock_watch_moved(ep);
	struct rsock_watch *w = &ep->watch;

	*next = min(*next, max(limit / RSOCK_WATCH_LOOKS, 1UL));
	if (!ep->tx.queued) {
		w->stuck = false;
		return false;
	}
	if (!w->stuck || w->moved != moved) {
		w->stuck = true;
		w->moved = moved;
		w->moved_at = jiffies;
		/* Not to be taken as stuck for want of a completion */
		rsock_tx_probe(ep);
		return false;
	}
	return jiffies - w->moved_at >= limit;
}

/* TCP's persist timer */
static void rsock_watch_persist(struct rsock_ep *ep, unsigned long *next)
{
	u64 moved = rsock_watch_moved(ep);
	struct rsock_watch *w = &ep->watch;

	if (list_empty(&ep->tx.unsent)) {
		w->persist = 0;
		return;
	}
	if (!w->persist || w->asked != moved) {
		w->persist = RSOCK_PERSIST_MIN;
		w->asked_at = jiffies;
		w->asked = moved;
	}
	if (rsock_watch_wait(w->asked_at, w->persist, next))
		return;
	rsock_tx_probe(ep);
	w->persist = min_t(unsigned long, 2 * w->persist, RSOCK_PERSIST_MAX);
	w->asked_at = jiffies;
	*next = min(*next, w->persist);
}

/*
 * The reader was not woken since more was to follow. If that has not come, he is;
 * if it has, and again more is to follow, he may be, too.
 */
static void rsock_watch_followed(struct rsock_ep *ep, unsigned long *next)
{
	struct rsock_watch *w = &ep->watch;

	if (!w->more || rsock_watch_wait(w->more_at, RSOCK_MORE_TIME, next))
		return;
	w->more = false;
	if (ep->rx.more)
		ep->ops->readable(ep);
	ep->rx.more = false;
}

/*
 * Soft-iWARP that accepts may overlook what comes at once, until something else
 * comes. The other end says nothing before it has heard us.
 */
static void rsock_watch_deaf(struct rsock_ep *ep, unsigned long *next)
{
	if (!ep->iwarp || ep->passive || ep->iw.nudged || ep->rx.msgs ||
	    rsock_watch_wait(ep->watch.heard_at, RSOCK_IW_NUDGE, next))
		return;
	ep->iw.nudged = true;
	rsock_tx_probe(ep);
}

/* For so long TCP tries to connect: each try waits twice as long as the last */
static unsigned long rsock_connect_time(const struct rsock_ep *ep)
{
	const struct netns_ipv4 *ipv4 = &ep->net->ipv4;
	int tries = ep->passive ? READ_ONCE(ipv4->sysctl_tcp_synack_retries) :
				  READ_ONCE(ipv4->sysctl_tcp_syn_retries);
	unsigned long time = 0;

	for (; tries >= 0; tries--)
		time += min(TCP_TIMEOUT_INIT << min(tries, 8), TCP_RTO_MAX);
	return time;
}

/* Is it connecting, and for too long? */
static bool rsock_watch_connect(struct rsock_ep *ep, unsigned long limit,
				unsigned long *next)
{
	return !rsock_watch_wait(ep->watch.heard_at,
				 limit ?: rsock_connect_time(ep), next);
}

static bool rsock_watch_is_connecting(const struct rsock_ep *ep)
{
	return BIT(READ_ONCE(ep->sk->sk_state)) &
	       (TCPF_SYN_SENT | TCPF_SYN_RECV) && ep->state < RSOCK_EP_OPEN;
}

/* Look, and say when to look again: 0 for never */
static unsigned long rsock_watch_look(struct rsock_ep *ep)
{
	const struct rsock_sock *rs = rsock_sk(ep->sk);
	unsigned long next = MAX_JIFFY_OFFSET, limit;

	lockdep_assert_held(&ep->lock);
	if (rs->ep != ep)
		return 0;
	limit = msecs_to_jiffies(READ_ONCE(rs->opts.user_timeout));
	if (rsock_watch_is_connecting(ep)) {
		if (rsock_watch_connect(ep, limit, &next))
			rsock_ep_kill_locked(ep, ETIMEDOUT,
					     limit ? RSOCK_MIB_USERTIMEOUTS :
						     RSOCK_MIB_NOANSWER);
		goto out;
	}
	if (ep->state != RSOCK_EP_OPEN)
		return 0;
	rsock_watch_deaf(ep, &next);
	rsock_watch_followed(ep, &next);
	rsock_watch_persist(ep, &next);
	if (limit && rsock_watch_stuck(ep, limit, &next)) {
		rsock_ep_kill_locked(ep, ETIMEDOUT, RSOCK_MIB_USERTIMEOUTS);
	} else if (sock_flag(ep->sk, SOCK_KEEPOPEN) &&
		   rsock_watch_idle(ep, limit, &next)) {
		rsock_ep_kill_locked(ep, ETIMEDOUT, RSOCK_MIB_KEEPTIMEOUTS);
	}
out:
	return next == MAX_JIFFY_OFFSET ? 0 : next;
}

/**
 * rsock_watch() - look, since an option changed or it is time to
 * @ep: endpoint in any state, ep->lock held
 */
void rsock_watch(struct rsock_ep *ep)
{
	unsigned long next = rsock_watch_look(ep);

	if (next)
		rsock_ep_delay(ep, &ep->watch.work, next);
}

static void rsock_watch_work(struct work_struct *work)
{
	struct rsock_ep *ep = container_of(to_delayed_work(work),
					   struct rsock_ep, watch.work);

	spin_lock_bh(&ep->lock);
	rsock_watch(ep);
	spin_unlock_bh(&ep->lock);
	rsock_ep_put(ep);
}

/**
 * rsock_watch_begin() - from now on the peer is to be heard of
 * @ep: endpoint of a socket that connects, or is connected. ep->lock held
 */
void rsock_watch_begin(struct rsock_ep *ep)
{
	ep->watch.heard_at = jiffies;
	rsock_watch(ep);
}

/**
 * rsock_watch_blocked() - there is no room for what is queued
 * @ep: endpoint in state OPEN, ep->lock held
 *
 * It is asked often, and has work to do once in a while only.
 */
void rsock_watch_blocked(struct rsock_ep *ep)
{
	if (!ep->watch.persist)
		rsock_watch(ep);
}

/**
 * rsock_watch_more() - a message said that another one follows at once
 * @ep: endpoint in state OPEN, ep->lock held
 *
 * It is told often, and has work to do once in a while only.
 */
void rsock_watch_more(struct rsock_ep *ep)
{
	if (ep->watch.more)
		return;
	ep->watch.more = true;
	ep->watch.more_at = jiffies;
	rsock_watch(ep);
}

void rsock_watch_init(struct rsock_ep *ep)
{
	INIT_DELAYED_WORK(&ep->watch.work, rsock_watch_work);
}
