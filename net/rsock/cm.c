// SPDX-License-Identifier: GPL-2.0
/*
 * Connection management: rdma_cm events drive an endpoint from IDLE to OPEN.
 *
 *   active			passive
 *   rsock_cm_connect()
 *   ADDR_RESOLVED
 *   ROUTE_RESOLVED
 *   rsock_ep_open(), REQ --->	CONNECT_REQUEST
 *				rsock_ep_open(), rsock_ep_rts()
 *				registered
 *   CONNECT_RESPONSE	 <---	REP
 *   rsock_ep_rts()
 *   registered
 *   RTU, open		 --->	ESTABLISHED (or the first message): open
 *
 * With iWARP the active side registers before its REQ, the passive one as above,
 * and the active one has the REP with ESTABLISHED: see iwarp.h.
 *
 * The QP is driven by hand, since it has to be in RTS for a while before the
 * peer may know. Handlers run under rdma_cm's handler mutex and may sleep, but
 * all connections of the machine wait for them: they wait for nothing but
 * resources.
 */

#include "cm.h"

#include <net/addrconf.h>
#include <net/route.h>
#include <net/sock.h>
#include <rdma/ib_cm.h>

#include "dev.h"
#include "listen.h"
#include "pernet.h"
#include "rsock.h"
#include "trace.h"
#include "tx.h"

/*
 * Milliseconds for the first try to resolve an address; each further one has
 * twice as many. In all 3.1 s, which is what TCP takes to give up ARP. The
 * first is short, since a neighbour that answers at once can do so before
 * rdma_cm listens, which then looks again only at the timeout.
 */
#define RSOCK_ADDR_TIMEOUT	100
#define RSOCK_ADDR_TRIES	5
#define RSOCK_ROUTE_TIMEOUT	2000	/* ms; as rsockets */

static int rsock_cm_event(struct rdma_cm_id *id, struct rdma_cm_event *event);

/* What rdma_cm says, in the words of tcp(7); and what to count for it */
static int rsock_cm_errno(int err, enum rsock_mib *why)
{
	switch (err) {
	case -ENODEV:
		*why = RSOCK_MIB_NODEVICE;
		return -ENETUNREACH;
	case -ENETUNREACH:
		*why = RSOCK_MIB_NOROUTE;
		return err;
	case -ETIMEDOUT:
	case -EAGAIN:
	case -EHOSTUNREACH:
		*why = RSOCK_MIB_NOHOST;
		return -EHOSTUNREACH;
	case -ECONNREFUSED:
		*why = RSOCK_MIB_REFUSED;
		return err;
	case -ECONNRESET:
		*why = RSOCK_MIB_PEERRESETS;
		return err;
	case -ENOBUFS:
		*why = RSOCK_MIB_MAXCONNECTIONS;
		return err;
	case -EPROTO:
	case -EPROTONOSUPPORT:	/* counted as faults */
	case -ENETDOWN:		/* counted when the endpoint ends */
		*why = RSOCK_MIB_NONE;
		return err;
	default:
		*why = RSOCK_MIB_SETUPFAILS;
		return err;
	}
}

static void rsock_cm_failed(struct rsock_ep *ep, int err)
{
	enum rsock_mib why;

	err = rsock_cm_errno(err, &why);
	rsock_ep_kill(ep, -err, why);
}

static bool rsock_addr_is_any(const struct sockaddr *addr)
{
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)addr;
	const struct sockaddr_in *in = (const struct sockaddr_in *)addr;

	return addr->sa_family == AF_INET ? !in->sin_addr.s_addr :
					    ipv6_addr_any(&in6->sin6_addr);
}

/* Is it a wildcard, or an address of this host? */
static bool rsock_addr_is_ours(struct net *net, const struct sockaddr *addr)
{
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)addr;
	const struct sockaddr_in *in = (const struct sockaddr_in *)addr;

	if (rsock_addr_is_any(addr))
		return true;
	return addr->sa_family == AF_INET ?
	       inet_addr_type(net, in->sin_addr.s_addr) == RTN_LOCAL :
	       ipv6_chk_addr(net, &in6->sin6_addr, NULL, 0);
}

/*
 * To rdma_cm these are wildcards: who is bound to one is reached by everybody,
 * and connect() takes any device, if it is not RoCE. Neither is what they mean.
 */
static bool rsock_addr_is_loopback(const struct sockaddr *addr)
{
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)addr;
	const struct sockaddr_in *in = (const struct sockaddr_in *)addr;

	return addr->sa_family == AF_INET ?
	       ipv4_is_loopback(in->sin_addr.s_addr) :
	       ipv6_addr_loopback(&in6->sin6_addr);
}

/**
 * rsock_cm_create() - give an endpoint its cm_id
 * @ep: endpoint in state IDLE
 */
int rsock_cm_create(struct rsock_ep *ep)
{
	unsigned long flags = rsock_memalloc_save(ep->gfp);
	struct rdma_cm_id *id;

	id = rdma_create_id(ep->net, rsock_cm_event, ep, RDMA_PS_TCP,
			    IB_QPT_RC);
	rsock_memalloc_restore(flags);
	if (IS_ERR(id))
		return PTR_ERR(id);
	ep->id = id;
	return 0;
}

/* SO_BINDTODEVICE. An id that is bound has its device already. */
static void rsock_cm_bind_device(struct rsock_ep *ep)
{
	int ifindex = READ_ONCE(ep->sk->sk_bound_dev_if);

	if (ifindex && !ep->id->device)
		ep->id->route.addr.dev_addr.bound_dev_if = ifindex;
}

/* Is an address that was bound to on the device that SO_BINDTODEVICE names? */
static bool rsock_cm_is_on_device(const struct rsock_ep *ep)
{
	int ifindex = READ_ONCE(ep->sk->sk_bound_dev_if);
	int own = ep->id->route.addr.dev_addr.bound_dev_if;

	return !ifindex || !own || ifindex == own;
}

/**
 * rsock_cm_bind() - bind to an address
 * @ep: endpoint in state IDLE, not bound; ep->id_mutex held
 * @addr: AF_INET or AF_INET6; port 0 chooses one
 * @reuse: SO_REUSEADDR or SO_REUSEPORT
 * @v6only: IPV6_V6ONLY
 *
 * Return: 0, -EADDRINUSE, -EADDRNOTAVAIL (no such address, or none that an
 * RDMA device has), -EACCES, or another negative errno.
 */
int rsock_cm_bind(struct rsock_ep *ep, struct sockaddr *addr, bool reuse,
		  bool v6only)
{
	unsigned long flags;
	int err;

	if (READ_ONCE(ep->state) != RSOCK_EP_IDLE)
		return -ENETDOWN;	/* its device went away */
	if (rsock_addr_is_loopback(addr))
		return -EADDRNOTAVAIL;
	rdma_set_reuseaddr(ep->id, reuse);
	if (addr->sa_family == AF_INET6)
		rdma_set_afonly(ep->id, v6only);
	flags = rsock_memalloc_save(ep->gfp);
	err = rdma_bind_addr(ep->id, addr);
	rsock_memalloc_restore(flags);
	switch (err) {
	case 0:
		if (!rsock_cm_is_on_device(ep))
			return -EADDRNOTAVAIL;
		/* If that fails, connect() will say so */
		if (ep->id->device)
			rsock_dev_attach(ep);
		return 0;
	case -EADDRNOTAVAIL:
		/* Also how rdma_cm says that a wildcard is in the way */
		return rsock_addr_is_ours(ep->net, addr) ? -EADDRINUSE : err;
	case -ENODEV:
		return -EADDRNOTAVAIL;
	default:
		return err;
	}
}

/**
 * rsock_cm_bind4() - bind to 0.0.0.0 instead of ::
 * @ep: endpoint, bound; ep->id_mutex held
 * @port: the port that it has
 * @reuse: SO_REUSEADDR or SO_REUSEPORT
 *
 * An id that is bound cannot be bound again, so a new one takes its place; it
 * has had no events yet.
 */
int rsock_cm_bind4(struct rsock_ep *ep, __be16 port, bool reuse)
{
	struct sockaddr_in any = { .sin_family = AF_INET, .sin_port = port };
	struct rdma_cm_id *old = ep->id;
	int err;

	if (READ_ONCE(ep->state) != RSOCK_EP_IDLE)
		return -ENETDOWN;	/* its device went away */
	err = rsock_cm_create(ep);
	if (err)
		return err;
	rdma_destroy_id(old);
	return rsock_cm_bind(ep, (struct sockaddr *)&any, reuse, false);
}

/**
 * rsock_cm_listen() - listen for connection requests
 * @ep: bound endpoint
 * @backlog: passed on to rdma_cm
 *
 * Return: 0, or a negative errno and the endpoint is as before.
 */
int rsock_cm_listen(struct rsock_ep *ep, int backlog)
{
	unsigned long flags = rsock_memalloc_save(ep->gfp);
	bool ok;
	int err;

	mutex_lock(&ep->id_mutex);
	/* Before it listens, since requests come at once */
	spin_lock_bh(&ep->lock);
	ok = rsock_ep_set_state(ep, RSOCK_EP_LISTEN);
	spin_unlock_bh(&ep->lock);
	err = ok ? rdma_listen(ep->id, backlog) : -ENETDOWN;
	if (ok && err) {
		spin_lock_bh(&ep->lock);
		rsock_ep_set_state(ep, RSOCK_EP_IDLE);
		spin_unlock_bh(&ep->lock);
	}
	mutex_unlock(&ep->id_mutex);
	rsock_memalloc_restore(flags);
	return err == -EADDRNOTAVAIL ? -EADDRINUSE : err;
}

static int rsock_cm_resolve(struct rsock_ep *ep, const struct sockaddr *addr,
			    u8 tos)
{
	unsigned long flags = rsock_memalloc_save(ep->gfp);
	bool ok;
	int err;

	mutex_lock(&ep->id_mutex);
	spin_lock_bh(&ep->lock);
	ok = rsock_ep_set_state(ep, RSOCK_EP_RESOLVE);
	spin_unlock_bh(&ep->lock);
	if (ok && tos)
		rdma_set_service_type(ep->id, tos);
	if (ok)
		rsock_cm_bind_device(ep);
	err = ok ? rdma_resolve_addr(ep->id, NULL, addr, RSOCK_ADDR_TIMEOUT) :
		   -ENETDOWN;
	if (ok && err) {
		spin_lock_bh(&ep->lock);
		rsock_ep_set_state(ep, RSOCK_EP_IDLE);
		spin_unlock_bh(&ep->lock);
	}
	mutex_unlock(&ep->id_mutex);
	rsock_memalloc_restore(flags);
	return err;
}

/**
 * rsock_cm_connect() - start to connect
 * @ep: endpoint in state IDLE
 * @addr: AF_INET or AF_INET6
 * @tos: service type of the path; 0 leaves it to the administrator (RoCE's
 *	default_roce_tos)
 *
 * Return: 0, then ops->connected() or ops->closed() follows; or a negative
 * errno.
 */
int rsock_cm_connect(struct rsock_ep *ep, const struct sockaddr *addr, u8 tos)
{
	enum rsock_mib why;
	int err;

	/* To connect to a wildcard means loopback, as of old */
	if (rsock_addr_is_loopback(addr) || rsock_addr_is_any(addr))
		err = -ENODEV;
	else
		err = rsock_cm_resolve(ep, addr, tos);
	if (!err)
		return 0;
	err = rsock_cm_errno(err, &why);
	RSOCK_INC_STATS(ep->net, why);
	return err;
}

/**
 * rsock_cm_retry() - try again to resolve the peer's address
 * @ep: endpoint in state RESOLVE whose last try timed out. Context: work, since
 *	rdma_cm cannot be asked from its own handler
 */
void rsock_cm_retry(struct rsock_ep *ep)
{
	struct sockaddr_storage to = ep->id->route.addr.dst_addr;
	int err;

	err = rdma_resolve_addr(ep->id, NULL, (struct sockaddr *)&to,
				RSOCK_ADDR_TIMEOUT << ep->resolve_tries);
	if (err)
		rsock_cm_failed(ep, err);
}

static int rsock_cm_addr_error(struct rsock_ep *ep, int status)
{
	if (status != -ETIMEDOUT || ++ep->resolve_tries == RSOCK_ADDR_TRIES)
		return status ?: -EHOSTUNREACH;
	rsock_ep_queue_work(ep);
	return 0;
}

static void rsock_cm_param(struct rsock_ep *ep, struct rdma_conn_param *param,
			   u8 data[RSOCK_CONN_EXT_LEN])
{
	struct rsock_conn own;

	rsock_ep_conn_data(ep, &own);
	*param = (struct rdma_conn_param){
		.private_data = data,
		.private_data_len = rsock_conn_encode(&own, data),
		/*
		 * No RDMA reads, in either direction. But some iWARP devices
		 * send an empty one to have the other side begin.
		 */
		.responder_resources = ep->iwarp && ep->passive,
		.initiator_depth = ep->iwarp && !ep->passive,
		.flow_control = 1,
		.retry_count = 7,
		.rnr_retry_count = 7,	/* for ever: credits make it rare */
		.qp_num = ep->qp->qp_num,
	};
}

static int rsock_cm_send_req(struct rsock_ep *ep)
{
	struct rdma_conn_param param;
	u8 data[RSOCK_CONN_EXT_LEN];
	bool ok;

	rsock_cm_param(ep, &param, data);
	spin_lock_bh(&ep->lock);
	ok = rsock_ep_set_state(ep, RSOCK_EP_CONNECT);
	spin_unlock_bh(&ep->lock);
	return ok ? rdma_connect_locked(ep->id, &param) : 0;
}

/* Have our memory registered by rsock_cm_register(), since that takes long */
static int rsock_cm_queue_register(struct rsock_ep *ep)
{
	spin_lock_bh(&ep->lock);
	if (rsock_ep_set_state(ep, RSOCK_EP_REGISTER))
		rsock_iw_queue(ep);
	spin_unlock_bh(&ep->lock);
	return 0;
}

static int rsock_cm_route_resolved(struct rsock_ep *ep)
{
	int err = rsock_ep_open(ep);

	if (err)
		return err;
	return ep->iwarp ? rsock_cm_queue_register(ep) : rsock_cm_send_req(ep);
}

/* Take what the peer said. ep->lock held */
static void rsock_cm_take_peer(struct rsock_ep *ep,
			       const struct rsock_conn *peer)
{
	ep->peer = *peer;
	ep->peer_ext = peer->has_ext;
	ep->features = peer->ext_features & RSOCK_FEATURES;
	ep->swap = !(peer->flags & RSOCK_CONN_F_NET) ==
		   IS_ENABLED(CONFIG_CPU_BIG_ENDIAN);
	rsock_txwin_init(&ep->tx.win, &ep->peer);
	if (ep->iwarp)
		ep->tx.win.spare = rsock_iw_spare(peer);
	rsock_rxwin_peer(&ep->rx.win, &ep->peer);
}

/* Get ready to hear from the peer */
static int rsock_cm_got_peer(struct rsock_ep *ep, const struct rsock_conn *peer)
{
	bool ok;

	spin_lock_bh(&ep->lock);
	ok = rsock_ep_set_state(ep, RSOCK_EP_REGISTER);
	if (ok)
		rsock_cm_take_peer(ep, peer);
	if (ok && ep->iwarp)
		rsock_iw_queue(ep);
	spin_unlock_bh(&ep->lock);
	return ok && !ep->iwarp ? rsock_ep_rts(ep) : 0;
}

static int rsock_cm_decode_rep(struct rsock_ep *ep,
			       const struct rdma_cm_event *event,
			       struct rsock_conn *peer)
{
	const struct rdma_conn_param *param = &event->param.conn;
	int fault;

	fault = rsock_conn_decode(param->private_data, param->private_data_len,
				  peer);
	if (!fault)
		return 0;
	RSOCK_INC_STATS(ep->net, RSOCK_MIB_FAULTS + fault);
	return fault == RSOCK_FAULT_CONN_VERSION ? -EPROTONOSUPPORT : -EPROTO;
}

static int rsock_cm_got_rep(struct rsock_ep *ep, struct rdma_cm_event *event)
{
	struct rsock_conn peer;
	int err;

	err = rsock_cm_decode_rep(ep, event, &peer);
	if (err) {
		rdma_reject(ep->id, NULL, 0, IB_CM_REJ_CONSUMER_DEFINED);
		return err;
	}
	return rsock_cm_got_peer(ep, &peer);
}

/*
 * To the active side iWARP tells of the REP when the connection is there, and
 * what the peer sent behind it may have come before.
 */
static int rsock_cm_established(struct rsock_ep *ep,
				struct rdma_cm_event *event)
{
	bool rep = ep->iwarp && !ep->passive;
	struct rsock_conn peer;
	int err = 0;

	if (rep)
		err = rsock_cm_decode_rep(ep, event, &peer);
	if (err)
		return err;
	spin_lock_bh(&ep->lock);
	if (!rep) {
		rsock_ep_opened(ep);
	} else if (ep->state == RSOCK_EP_CONNECT) {
		rsock_cm_take_peer(ep, &peer);
		ep->sq.usable = ep->sq.depth;
		rsock_ep_opened(ep);
		rsock_rx_held(ep);
	}
	spin_unlock_bh(&ep->lock);
	return 0;
}

/**
 * rsock_cm_passive() - answer a connection request
 * @ep: endpoint with the request's cm_id, IDLE or killed meanwhile; its
 *	teardown waits until the handler that this runs in has returned
 * @peer: what the peer said, decoded
 *
 * Context: CM handler. A failure kills the endpoint, which rejects.
 */
void rsock_cm_passive(struct rsock_ep *ep, const struct rsock_conn *peer)
{
	int err;

	ep->peer_ext = peer->has_ext;
	err = rsock_ep_open(ep);
	if (!err)
		err = rsock_cm_got_peer(ep, peer);
	if (err)
		rsock_cm_failed(ep, err);
}

/* Send the REP, or for an active endpoint the RTU */
static int rsock_cm_accept(struct rsock_ep *ep)
{
	struct rdma_conn_param param, *rep = NULL;
	u8 data[RSOCK_CONN_EXT_LEN];
	bool ok;
	int err;

	if (ep->passive) {
		rsock_cm_param(ep, &param, data);
		rep = &param;
	}
	/* Before the peer knows us, since its messages come at once */
	spin_lock_bh(&ep->lock);
	ok = rsock_ep_set_state(ep, RSOCK_EP_ACCEPT);
	spin_unlock_bh(&ep->lock);
	if (!ok)
		return 0;
	err = rdma_accept(ep->id, rep);
	if (err || ep->passive)
		return err;
	spin_lock_bh(&ep->lock);
	rsock_ep_opened(ep);
	spin_unlock_bh(&ep->lock);
	return 0;
}

/**
 * rsock_cm_register() - register our memory, and let the peer know us
 * @ep: iWARP endpoint, in state REGISTER when this was asked for. Context: work
 *	of its own, see iwarp.c
 */
void rsock_cm_register(struct rsock_ep *ep)
{
	int err;

	if (READ_ONCE(ep->state) != RSOCK_EP_REGISTER)
		return;
	err = rsock_iw_register(ep);
	if (err)
		rsock_ep_kill(ep, -err,
			      err == -ETIMEDOUT ? RSOCK_MIB_REGISTERTIMEOUTS :
						  RSOCK_MIB_SETUPFAILS);
	else
		rsock_cm_registered(ep);
}

/**
 * rsock_cm_registered() - our memory is registered: let the peer know us
 * @ep: endpoint, in state REGISTER when this was asked for. Context: work
 */
void rsock_cm_registered(struct rsock_ep *ep)
{
	bool req = ep->iwarp && !ep->passive;
	int err = 0;

	rdma_lock_handler(ep->id);
	if (READ_ONCE(ep->state) == RSOCK_EP_REGISTER)
		err = req ? rsock_cm_send_req(ep) : rsock_cm_accept(ep);
	rdma_unlock_handler(ep->id);
	if (err && req)
		rsock_cm_failed(ep, err);
	else if (err)	/* the peer gave up meanwhile */
		rsock_ep_kill(ep, ECONNRESET, RSOCK_MIB_PEERRESETS);
}

/**
 * rsock_ep_opened() - the connection is established
 * @ep: endpoint, ep->lock held; no change unless it was about to be
 *
 * If the first message came before the RTU, rdma_cm is left to wait for the
 * latter. To tell it (rdma_notify()) would make it forget, if the connection
 * ends soon, to cancel the REP, and rdma_destroy_id() wait for its last retry.
 */
void rsock_ep_opened(struct rsock_ep *ep)
{
	if (!rsock_ep_set_state(ep, RSOCK_EP_OPEN))
		return;
	trace_rsock_open(ep, ep->id);
	ep->ops->connected(ep);
	rsock_rx_update(ep);
	rsock_tx_push(ep);
}

/* Steps towards a connection. Returns 0 or why it failed. */
static int rsock_cm_step(struct rsock_ep *ep, struct rdma_cm_event *event)
{
	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		ep->ops->resolved(ep);
		return rsock_dev_attach(ep) ?:
		       rdma_resolve_route(ep->id, RSOCK_ROUTE_TIMEOUT);
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		return rsock_cm_route_resolved(ep);
	case RDMA_CM_EVENT_CONNECT_RESPONSE:
		return rsock_cm_got_rep(ep, event);
	case RDMA_CM_EVENT_ESTABLISHED:
		return rsock_cm_established(ep, event);
	case RDMA_CM_EVENT_ADDR_ERROR:
		return rsock_cm_addr_error(ep, event->status);
	case RDMA_CM_EVENT_ROUTE_ERROR:
	case RDMA_CM_EVENT_CONNECT_ERROR:
		return event->status ?: -ECONNABORTED;
	default:
		return 0;
	}
}

static void rsock_cm_event_of(struct rsock_ep *ep, struct rdma_cm_event *event)
{
	int err;

	if (READ_ONCE(ep->state) >= RSOCK_EP_DYING)
		return;
	switch (event->event) {
	case RDMA_CM_EVENT_DISCONNECTED:
		rsock_ep_kill(ep, ECONNRESET, RSOCK_MIB_PEERRESETS);
		break;
	case RDMA_CM_EVENT_REJECTED:
		/* Also comes late: the peer gave up before our RTU came */
		if (rsock_ep_is_open(ep))
			rsock_ep_kill(ep, ECONNRESET, RSOCK_MIB_PEERRESETS);
		else
			rsock_cm_failed(ep, -ECONNREFUSED);
		break;
	case RDMA_CM_EVENT_UNREACHABLE:
		rsock_ep_kill(ep, ETIMEDOUT, RSOCK_MIB_NOANSWER);
		break;
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		rsock_ep_kill(ep, ENETDOWN, RSOCK_MIB_DEVICEREMOVALS);
		break;
	default:
		err = rsock_cm_step(ep, event);
		if (err)
			rsock_cm_failed(ep, err);
		break;
	}
}

static int rsock_cm_event(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct rsock_ep *ep = id->context;
	unsigned long flags = rsock_memalloc_save(ep->gfp);
	int err = 0;

	if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST)
		err = rsock_listen_request(ep, id, event);
	else
		rsock_cm_event_of(ep, event);
	rsock_memalloc_restore(flags);
	return err;
}
