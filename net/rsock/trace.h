/* SPDX-License-Identifier: GPL-2.0 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM rsock

#if !defined(_RSOCK_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _RSOCK_TRACE_H

/*
 * A work request and its completion match by seq: a completion stands for all
 * work requests of its endpoint with a seq up to its own.
 */

#include <linux/tracepoint.h>
#include <rdma/ib_verbs.h>

#include "ep.h"

TRACE_EVENT(rsock_sk_state,
	TP_PROTO(const struct sock *sk, int state),
	TP_ARGS(sk, state),
	TP_STRUCT__entry(
		__field(const void *, sk)
		__field(int, old)
		__field(int, new)
	),
	TP_fast_assign(
		__entry->sk = sk;
		__entry->old = sk->sk_state;
		__entry->new = state;
	),
	TP_printk("sk=%p %d -> %d", __entry->sk, __entry->old, __entry->new)
);

TRACE_EVENT(rsock_ep_state,
	TP_PROTO(const struct rsock_ep *ep, int old, int new),
	TP_ARGS(ep, old, new),
	TP_STRUCT__entry(
		__field(const void *, ep)
		__field(int, old)
		__field(int, new)
	),
	TP_fast_assign(
		__entry->ep = ep;
		__entry->old = old;
		__entry->new = new;
	),
	TP_printk("ep=%p %s -> %s", __entry->ep,
		  rsock_ep_state_name(__entry->old),
		  rsock_ep_state_name(__entry->new))
);

TRACE_EVENT(rsock_fault,
	TP_PROTO(const struct rsock_ep *ep, int fault),
	TP_ARGS(ep, fault),
	TP_STRUCT__entry(
		__field(const void *, ep)
		__field(int, fault)
	),
	TP_fast_assign(
		__entry->ep = ep;
		__entry->fault = fault;
	),
	TP_printk("ep=%p fault=%d", __entry->ep, __entry->fault)
);

TRACE_EVENT(rsock_qp_event,
	TP_PROTO(const struct rsock_ep *ep, int event),
	TP_ARGS(ep, event),
	TP_STRUCT__entry(
		__field(const void *, ep)
		__field(int, event)
	),
	TP_fast_assign(
		__entry->ep = ep;
		__entry->event = event;
	),
	TP_printk("ep=%p event=%d", __entry->ep, __entry->event)
);

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

#endif /* _RSOCK_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace

#include <trace/define_trace.h>
