// SPDX-License-Identifier: GPL-2.0
/*
 * What a connection is like: for a program by TCP_INFO, which has of what tcp(7)
 * tells that which RDMA knows, the rest being 0; and for operators.
 */

#include "info.h"

#include <linux/module.h>
#include <net/sock.h>
#include <uapi/linux/tcp.h>

#include <linux/rsock_diag.h>

#include "rsock.h"
#include "tx.h"

/* What rsockets says when there is no path */
#define RSOCK_NO_PATH_MTU	2048

static u32 rsock_ep_mtu(const struct rsock_ep *ep)
{
	lockdep_assert_held(&ep->lock);
	if (ep->state == RSOCK_EP_OPEN && ep->id->route.path_rec)
		return ib_mtu_enum_to_int(ep->id->route.path_rec->mtu);
	return RSOCK_NO_PATH_MTU;
}

/**
 * rsock_path_mtu() - bytes of a packet, headers not counted
 * @ep: endpoint in any state, or NULL
 */
u32 rsock_path_mtu(struct rsock_ep *ep)
{
	u32 mtu;

	if (!ep)
		return RSOCK_NO_PATH_MTU;
	spin_lock_bh(&ep->lock);
	mtu = rsock_ep_mtu(ep);
	spin_unlock_bh(&ep->lock);
	return mtu;
}

/* Messages take the place of segments, and buffers that of windows */
static void rsock_ep_info(const struct rsock_ep *ep, struct tcp_info *info)
{
	const struct rsock_tx *tx = &ep->tx;

	lockdep_assert_held(&ep->lock);
	info->tcpi_unacked = ep->sq.posted - ep->sq.done;
	info->tcpi_snd_cwnd = ep->sq.depth;
	info->tcpi_snd_wnd = rsock_txwin_room(&tx->win);
	info->tcpi_rcv_space = rsock_rxwin_size(&ep->rx.win);
	info->tcpi_rcv_ssthresh = rsock_rxwin_granted(&ep->rx.win);
	info->tcpi_notsent_bytes = rsock_tx_unsent(ep);
	info->tcpi_bytes_sent = tx->bytes_sent;
	info->tcpi_bytes_acked = tx->bytes_acked;
	info->tcpi_bytes_received = ep->rx.bytes;
	info->tcpi_segs_out = ep->sq.posted;
	info->tcpi_segs_in = ep->rx.msgs;
	info->tcpi_probes = ep->watch.probes;
}

/**
 * rsock_tcp_info() - fill what TCP_INFO returns
 * @sk: socket, locked
 * @info: filled
 */
void rsock_tcp_info(struct sock *sk, struct tcp_info *info)
{
	struct rsock_ep *ep = rsock_sk(sk)->ep;
	u32 mtu = rsock_path_mtu(ep);

	memset(info, 0, sizeof(*info));
	info->tcpi_state = sk->sk_state;
	if (sk->sk_state == TCP_LISTEN) {
		info->tcpi_unacked = READ_ONCE(sk->sk_ack_backlog);
		info->tcpi_sacked = READ_ONCE(sk->sk_max_ack_backlog);
	} else if (ep) {
		spin_lock_bh(&ep->lock);
		rsock_ep_info(ep, info);
		spin_unlock_bh(&ep->lock);
	}
	info->tcpi_pmtu = mtu;
	info->tcpi_snd_mss = mtu;
	info->tcpi_rcv_mss = mtu;
	info->tcpi_advmss = mtu;
}

static u32 rsock_ep_diag_flags(const struct rsock_ep *ep)
{
	return (ep->passive ? RSOCK_DIAG_PASSIVE : 0) |
	       (ep->peer_ext ? RSOCK_DIAG_PEER_EXT : 0) |
	       (ep->swap ? RSOCK_DIAG_SWAPPED : 0) |
	       (ep->notes ? RSOCK_DIAG_NOTIFY : 0);
}

static void rsock_ep_diag_info(const struct rsock_ep *ep,
			       struct rsock_diag_info *info)
{
	const struct rsock_tx *tx = &ep->tx;
	const struct rsock_rx *rx = &ep->rx;

	lockdep_assert_held(&ep->lock);
	info->flags = rsock_ep_diag_flags(ep);
	info->features = ep->features;
	info->mtu = rsock_ep_mtu(ep);
	info->sq_size = ep->sq.depth;
	info->sq_used = ep->sq.posted - ep->sq.done;
	info->credits = (u16)(tx->win.limit - tx->win.seq);
	info->room = rsock_txwin_room(&tx->win);
	info->rq_size = rx->win.credits;
	info->ring = rsock_rxwin_size(&rx->win);
	info->unread = rsock_rxwin_avail(&rx->win);
	info->granted = rsock_rxwin_granted(&rx->win);
	info->queued = tx->queued;
	info->unsent = rsock_tx_unsent(ep);
	info->maps = ep->io.nr;
	info->notes = rx->nr_notes;
	info->probes = ep->watch.probes;
	info->msgs_received = rx->msgs;
	info->bytes_sent = tx->bytes_sent;
	info->bytes_acked = tx->bytes_acked;
	info->bytes_received = rx->bytes;
}

/* What there is only as long as the connection is */
static void rsock_ep_diag_device(const struct rsock_ep *ep,
				 struct rsock_diag_info *info, char *device)
{
	lockdep_assert_held(&ep->lock);
	if (ep->state < RSOCK_EP_CONNECT || ep->state > RSOCK_EP_OPEN)
		return;
	info->qp = ep->qp->qp_num;
	info->port = ep->id->port_num;
	strscpy(device, dev_name(&ep->qp->device->dev), IB_DEVICE_NAME_MAX);
}

/**
 * rsock_diag_info() - what an operator wants to know of a socket
 * @sk: socket, not locked: its user can keep the lock for long
 * @info: filled
 * @addrs: filled
 * @device: room for IB_DEVICE_NAME_MAX bytes; set to the RDMA device's name, or
 *	to nothing if there is none
 */
void rsock_diag_info(struct sock *sk, struct rsock_diag_info *info,
		     struct rsock_addrs *addrs, char *device)
{
	struct rsock_ep *ep = rsock_sk_ep_get(sk);

	memset(info, 0, sizeof(*info));
	memset(addrs, 0, sizeof(*addrs));
	device[0] = '\0';
	if (!ep)
		return;
	spin_lock_bh(&ep->lock);
	if (rsock_sk(sk)->ep == ep) {
		addrs->local = rsock_sk(sk)->laddr;
		addrs->peer = rsock_sk(sk)->paddr;
	}
	rsock_ep_diag_info(ep, info);
	rsock_ep_diag_device(ep, info, device);
	spin_unlock_bh(&ep->lock);
	if (sock_flag(sk, SOCK_KEEPOPEN))
		info->flags |= RSOCK_DIAG_KEEPALIVE;
	rsock_ep_put(ep);
}
EXPORT_SYMBOL_GPL(rsock_diag_info);
