// SPDX-License-Identifier: GPL-2.0
/*
 * TCP_INFO: of what tcp(7) tells, that which RDMA knows. The rest is 0.
 */

#include "info.h"

#include <net/sock.h>
#include <uapi/linux/tcp.h>

#include "rsock.h"
#include "tx.h"

/* What rsockets says when there is no path */
#define RSOCK_NO_PATH_MTU	2048

/**
 * rsock_path_mtu() - bytes of a packet, headers not counted
 * @ep: endpoint in any state, or NULL
 */
u32 rsock_path_mtu(struct rsock_ep *ep)
{
	u32 mtu = RSOCK_NO_PATH_MTU;

	if (!ep)
		return mtu;
	spin_lock_bh(&ep->lock);
	if (ep->state == RSOCK_EP_OPEN && ep->id->route.path_rec)
		mtu = ib_mtu_enum_to_int(ep->id->route.path_rec->mtu);
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
	info->tcpi_rcv_space = ep->rx.win.size;
	info->tcpi_rcv_ssthresh = ep->rx.win.granted;
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
