/* SPDX-License-Identifier: GPL-2.0 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM rsock

#if !defined(_RSOCK_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _RSOCK_TRACE_H

/*
 * What happens to one connection has the same ep. A work request and its
 * completion match by seq: a completion stands for all work requests of its
 * endpoint with a seq up to its own. Documentation/admin.rst has the list.
 */

#include <linux/tracepoint.h>
#include <rdma/ib_verbs.h>

#include "ep.h"
#include "region.h"
#include "rsock.h"

/* States */

TRACE_EVENT(rsock_sk_state,
	TP_PROTO(const struct sock *sk, int state),
	TP_ARGS(sk, state),
	TP_STRUCT__entry(
		__field(const void *, sk)
		__field(u64, net_cookie)
		__field(int, old)
		__field(int, new)
	),
	TP_fast_assign(
		__entry->sk = sk;
		__entry->net_cookie = sock_net(sk)->net_cookie;
		__entry->old = sk->sk_state;
		__entry->new = state;
	),
	TP_printk("net=%llu sk=%p %d -> %d", __entry->net_cookie, __entry->sk,
		  __entry->old, __entry->new)
);

TRACE_EVENT(rsock_ep_state,
	TP_PROTO(const struct rsock_ep *ep, int old, int new),
	TP_ARGS(ep, old, new),
	TP_STRUCT__entry(
		__field(const void *, ep)
		__field(const void *, sk)
		__field(u64, net_cookie)
		__field(int, old)
		__field(int, new)
	),
	TP_fast_assign(
		__entry->ep = ep;
		__entry->sk = ep->sk;
		__entry->net_cookie = ep->net->net_cookie;
		__entry->old = old;
		__entry->new = new;
	),
	TP_printk("net=%llu ep=%p sk=%p %s -> %s", __entry->net_cookie,
		  __entry->ep, __entry->sk,
		  rsock_ep_state_name(__entry->old),
		  rsock_ep_state_name(__entry->new))
);

/* Both are there when it is established, and when it ends */
DECLARE_EVENT_CLASS(rsock_conn_class,
	TP_PROTO(const struct rsock_ep *ep, const struct rdma_cm_id *id),
	TP_ARGS(ep, id),
	TP_STRUCT__entry(
		__field(const void *, ep)
		__field(u64, net_cookie)
		__array(u8, saddr, 16)
		__array(u8, daddr, 16)
		__field(u16, sport)
		__field(u16, dport)
		__field(bool, passive)
		__field(int, err)
		__array(char, why, 20)
		__array(char, device, IB_DEVICE_NAME_MAX)
	),
	TP_fast_assign(
		__entry->ep = ep;
		__entry->net_cookie = ep->net->net_cookie;
		__entry->sport = rsock_addr_as_v6(&id->route.addr.src_addr,
						  __entry->saddr);
		__entry->dport = rsock_addr_as_v6(&id->route.addr.dst_addr,
						  __entry->daddr);
		__entry->passive = ep->passive;
		__entry->err = ep->err;
		strscpy(__entry->why, rsock_mib_name(ep->why),
			sizeof(__entry->why));
		strscpy(__entry->device,
			id->device ? dev_name(&id->device->dev) : "",
			sizeof(__entry->device));
	),
	TP_printk("net=%llu ep=%p %pI6c.%u -> %pI6c.%u%s device=%s err=%d %s",
		  __entry->net_cookie, __entry->ep, __entry->saddr,
		  __entry->sport, __entry->daddr, __entry->dport,
		  __entry->passive ? " passive" : "", __entry->device,
		  __entry->err, __entry->why)
);

DEFINE_EVENT(rsock_conn_class, rsock_open,
	TP_PROTO(const struct rsock_ep *ep, const struct rdma_cm_id *id),
	TP_ARGS(ep, id));

DEFINE_EVENT(rsock_conn_class, rsock_end,
	TP_PROTO(const struct rsock_ep *ep, const struct rdma_cm_id *id),
	TP_ARGS(ep, id));

/* Errors */

DECLARE_EVENT_CLASS(rsock_error_class,
	TP_PROTO(const struct rsock_ep *ep, int code),
	TP_ARGS(ep, code),
	TP_STRUCT__entry(
		__field(const void *, ep)
		__field(int, code)
	),
	TP_fast_assign(
		__entry->ep = ep;
		__entry->code = code;
	),
	TP_printk("ep=%p code=%d", __entry->ep, __entry->code)
);

/* The peer broke the protocol: enum rsock_fault */
DEFINE_EVENT(rsock_error_class, rsock_fault,
	TP_PROTO(const struct rsock_ep *ep, int code),
	TP_ARGS(ep, code));

/* The device says something of the queue pair: enum ib_event_type */
DEFINE_EVENT(rsock_error_class, rsock_qp_event,
	TP_PROTO(const struct rsock_ep *ep, int code),
	TP_ARGS(ep, code));

/* Work requests */

TRACE_EVENT(rsock_post,
	TP_PROTO(const struct rsock_ep *ep, const struct ib_send_wr *wr, u32 seq),
	TP_ARGS(ep, wr, seq),
	TP_STRUCT__entry(
		__field(const void *, ep)
		__field(u32, seq)
		__field(u32, imm)
		__field(u32, flags)
		__field(int, num_sge)
	),
	TP_fast_assign(
		__entry->ep = ep;
		__entry->seq = seq;
		__entry->imm = be32_to_cpu(wr->ex.imm_data);
		__entry->flags = wr->send_flags;
		__entry->num_sge = wr->num_sge;
	),
	TP_printk("ep=%p seq=%u imm=%#x sge=%d%s", __entry->ep, __entry->seq,
		  __entry->imm, __entry->num_sge,
		  __entry->flags & IB_SEND_SIGNALED ? " signaled" : "")
);

/* seq is that of the newest work request that it stands for, if it is good */
TRACE_EVENT(rsock_send_done,
	TP_PROTO(const struct rsock_ep *ep, const struct ib_wc *wc, u32 seq),
	TP_ARGS(ep, wc, seq),
	TP_STRUCT__entry(
		__field(const void *, ep)
		__field(u32, seq)
		__field(int, status)
	),
	TP_fast_assign(
		__entry->ep = ep;
		__entry->seq = seq;
		__entry->status = wc->status;
	),
	TP_printk("ep=%p seq=%u status=%d", __entry->ep, __entry->seq,
		  __entry->status)
);

TRACE_EVENT(rsock_recv_done,
	TP_PROTO(const struct rsock_ep *ep, const struct ib_wc *wc),
	TP_ARGS(ep, wc),
	TP_STRUCT__entry(
		__field(const void *, ep)
		__field(u32, imm)
		__field(u32, len)
		__field(int, status)
	),
	TP_fast_assign(
		__entry->ep = ep;
		__entry->status = wc->status;
		__entry->imm = !wc->status && wc->wc_flags & IB_WC_WITH_IMM ?
			       be32_to_cpu(wc->ex.imm_data) : 0;
		__entry->len = wc->status ? 0 : wc->byte_len;
	),
	TP_printk("ep=%p imm=%#x len=%u status=%d", __entry->ep, __entry->imm,
		  __entry->len, __entry->status)
);

/* Credit: messages and bytes that either side may send */

DECLARE_EVENT_CLASS(rsock_credit_class,
	TP_PROTO(const struct rsock_ep *ep, u16 limit, u32 bytes),
	TP_ARGS(ep, limit, bytes),
	TP_STRUCT__entry(
		__field(const void *, ep)
		__field(u16, limit)
		__field(u32, bytes)
	),
	TP_fast_assign(
		__entry->ep = ep;
		__entry->limit = limit;
		__entry->bytes = bytes;
	),
	TP_printk("ep=%p limit=%u bytes=%u", __entry->ep, __entry->limit,
		  __entry->bytes)
);

/* We let the peer send: up to this message, and so many more bytes */
DEFINE_EVENT(rsock_credit_class, rsock_credit_give,
	TP_PROTO(const struct rsock_ep *ep, u16 limit, u32 bytes),
	TP_ARGS(ep, limit, bytes));

/* The peer lets us send: up to this message, and so many bytes in all */
DEFINE_EVENT(rsock_credit_class, rsock_credit_get,
	TP_PROTO(const struct rsock_ep *ep, u16 limit, u32 bytes),
	TP_ARGS(ep, limit, bytes));

/*
 * Something is queued and cannot be posted. Without room the peer does not read,
 * or not fast enough; with room the send queue is full of what the device, or
 * the network, has not done.
 */
TRACE_EVENT(rsock_stall,
	TP_PROTO(const struct rsock_ep *ep, u32 room),
	TP_ARGS(ep, room),
	TP_STRUCT__entry(
		__field(const void *, ep)
		__field(u32, queued)
		__field(u32, room)
		__field(u32, in_flight)
	),
	TP_fast_assign(
		__entry->ep = ep;
		__entry->queued = ep->tx.queued;
		__entry->room = room;
		__entry->in_flight = ep->sq.posted - ep->sq.done;
	),
	TP_printk("ep=%p queued=%u room=%u in_flight=%u", __entry->ep,
		  __entry->queued, __entry->room, __entry->in_flight)
);

/* The ring: bytes of the stream on our side */

DECLARE_EVENT_CLASS(rsock_ring_class,
	TP_PROTO(const struct rsock_ep *ep, u32 len),
	TP_ARGS(ep, len),
	TP_STRUCT__entry(
		__field(const void *, ep)
		__field(u32, len)
		__field(u32, unread)
		__field(u32, granted)
	),
	TP_fast_assign(
		__entry->ep = ep;
		__entry->len = len;
		__entry->unread = rsock_rxwin_avail(&ep->rx.win);
		__entry->granted = rsock_rxwin_granted(&ep->rx.win);
	),
	TP_printk("ep=%p len=%u unread=%u granted=%u", __entry->ep,
		  __entry->len, __entry->unread, __entry->granted)
);

DEFINE_EVENT(rsock_ring_class, rsock_ring_fill,
	TP_PROTO(const struct rsock_ep *ep, u32 len),
	TP_ARGS(ep, len));

DEFINE_EVENT(rsock_ring_class, rsock_ring_read,
	TP_PROTO(const struct rsock_ep *ep, u32 len),
	TP_ARGS(ep, len));

/* Mappings that we make */

DECLARE_EVENT_CLASS(rsock_map_class,
	TP_PROTO(const struct rsock_ep *ep, const struct rsock_region *r),
	TP_ARGS(ep, r),
	TP_STRUCT__entry(
		__field(const void *, ep)
		__field(u64, offset)
		__field(u64, len)
		__field(unsigned int, slots)
	),
	TP_fast_assign(
		__entry->ep = ep;
		__entry->offset = r->node.start;
		__entry->len = r->len;
		__entry->slots = r->nr;
	),
	TP_printk("ep=%p offset=%llu len=%llu slots=%u", __entry->ep,
		  __entry->offset, __entry->len, __entry->slots)
);

/* Made, and to be told to the peer */
DEFINE_EVENT(rsock_map_class, rsock_map,
	TP_PROTO(const struct rsock_ep *ep, const struct rsock_region *r),
	TP_ARGS(ep, r));

/* Taken back: the peer is asked to let go of it */
DEFINE_EVENT(rsock_map_class, rsock_map_revoke,
	TP_PROTO(const struct rsock_ep *ep, const struct rsock_region *r),
	TP_ARGS(ep, r));

/* The memory is out of the device's reach */
DEFINE_EVENT(rsock_map_class, rsock_map_gone,
	TP_PROTO(const struct rsock_ep *ep, const struct rsock_region *r),
	TP_ARGS(ep, r));

#endif /* _RSOCK_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace

#include <trace/define_trace.h>
