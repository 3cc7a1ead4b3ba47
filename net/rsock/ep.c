// SPDX-License-Identifier: GPL-2.0
/*
 * Endpoints: the verbs side of a connection, from queue pair to memory region,
 * and its end. See ep.h for life cycle and locks.
 *
 * Construction goes step by step into the structure; rsock_ep_release()
 * accepts what a failure leaves half-built.
 */

#include "ep.h"

#include <linux/delay.h>
#include <linux/log2.h>
#include <linux/memcontrol.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <net/sock.h>

#include "dev.h"
#include "notes.h"
#include "pernet.h"
#include "trace.h"
#include "tx.h"
#include "watch.h"

#define RSOCK_RING_MIN		(4 * PAGE_SIZE)
/* The first ring, which is all that an idle connection has */
#define RSOCK_RING_FIRST_SIZE	SZ_4K

/* An RNR NAK asks the sender to come again after 0.64 ms (IBTA, table 45) */
#define RSOCK_RNR_TIMER		12
#define RSOCK_RETRIES		6

/*
 * Soft-RoCE delivers a message before it acknowledges it, and does the latter no
 * more once the QP is in error. The peer's last one, DISCONNECT or a SHUTDOWN that
 * crossed ours, would never be acknowledged then, and user-space rsockets waits for
 * that.
 */
#define RSOCK_ACK_MS		10

struct workqueue_struct *rsock_wq;

static const char * const ep_names[] = {
	[RSOCK_EP_IDLE]		= "idle",
	[RSOCK_EP_LISTEN]	= "listen",
	[RSOCK_EP_RESOLVE]	= "resolve",
	[RSOCK_EP_CONNECT]	= "connect",
	[RSOCK_EP_REGISTER]	= "register",
	[RSOCK_EP_ACCEPT]	= "accept",
	[RSOCK_EP_OPEN]		= "open",
	[RSOCK_EP_DYING]	= "dying",
	[RSOCK_EP_DEAD]		= "dead",
};

/* Legal transitions: ep_next[from] has the bit of each state that may follow */
static const u16 ep_next[] = {
	[RSOCK_EP_IDLE]		= BIT(RSOCK_EP_LISTEN) | BIT(RSOCK_EP_RESOLVE) |
				  BIT(RSOCK_EP_REGISTER) | BIT(RSOCK_EP_DYING),
	[RSOCK_EP_LISTEN]	= BIT(RSOCK_EP_IDLE) | BIT(RSOCK_EP_DYING),
	[RSOCK_EP_RESOLVE]	= BIT(RSOCK_EP_IDLE) | BIT(RSOCK_EP_CONNECT) |
				  BIT(RSOCK_EP_REGISTER) | BIT(RSOCK_EP_DYING),
	[RSOCK_EP_CONNECT]	= BIT(RSOCK_EP_REGISTER) |
				  BIT(RSOCK_EP_OPEN) | BIT(RSOCK_EP_DYING),
	[RSOCK_EP_REGISTER]	= BIT(RSOCK_EP_ACCEPT) |
				  BIT(RSOCK_EP_CONNECT) | BIT(RSOCK_EP_DYING),
	[RSOCK_EP_ACCEPT]	= BIT(RSOCK_EP_OPEN) | BIT(RSOCK_EP_DYING),
	[RSOCK_EP_OPEN]		= BIT(RSOCK_EP_DYING),
	[RSOCK_EP_DYING]	= BIT(RSOCK_EP_DEAD),
	[RSOCK_EP_DEAD]		= 0,
};

const char *rsock_ep_state_name(enum rsock_ep_state state)
{
	return ep_names[state];
}

/**
 * rsock_ep_set_state() - the only writer of ep->state
 * @ep: endpoint, ep->lock held
 * @state: state to go to
 *
 * Return: false, and nothing changed, if that is not a legal transition.
 */
bool rsock_ep_set_state(struct rsock_ep *ep, enum rsock_ep_state state)
{
	lockdep_assert_held(&ep->lock);
	if (!(ep_next[ep->state] & BIT(state)))
		return false;
	trace_rsock_ep_state(ep, ep->state, state);
	WRITE_ONCE(ep->state, state);
	if (state >= RSOCK_EP_DYING)
		wake_up_all(&ep->io.wait);
	return true;
}

/**
 * rsock_ep_charge_as() - charge an endpoint's memory to whom another one's is
 * @ep: endpoint that nobody else knows of yet
 * @other: the other one
 */
void rsock_ep_charge_as(struct rsock_ep *ep, const struct rsock_ep *other)
{
	struct mem_cgroup *old = set_active_memcg(other->memcg);

	mem_cgroup_put(ep->memcg);
	ep->memcg = get_mem_cgroup_from_mm(NULL);
	set_active_memcg(old);
}

struct rsock_ep *rsock_ep_get(struct rsock_ep *ep)
{
	refcount_inc(&ep->ref);
	return ep;
}

void rsock_ep_put(struct rsock_ep *ep)
{
	if (!refcount_dec_and_test(&ep->ref))
		return;
	rsock_notes_free(ep);
	rsock_targets_destroy(&ep->targets);
	rsock_buf_free(&ep->buf);
	rsock_buf_free(&ep->ring.buf);
	mem_cgroup_put(ep->memcg);
	kfree_rcu(ep, rcu);	/* rsock_poll() may still look at it */
}

/**
 * rsock_ep_queue_work() - have rsock_ep_work() run for this state
 * @ep: endpoint. Context: any
 */
void rsock_ep_queue_work(struct rsock_ep *ep)
{
	rsock_ep_get(ep);
	if (!queue_work(rsock_wq, &ep->work))
		rsock_ep_put(ep);
}

/**
 * rsock_ep_kill_locked() - end a connection
 * @ep: endpoint in any state, ep->lock held
 * @err: positive errno that the socket is to show, 0 for an orderly end. Only
 *	the first caller's counts
 * @why: what to count, unless it turns out to be an orderly end after all
 *
 * Context: any but hardirq.
 */
void rsock_ep_kill_locked(struct rsock_ep *ep, int err, enum rsock_mib why)
{
	if (!rsock_ep_set_state(ep, RSOCK_EP_DYING))
		return;
	ep->err = err;
	ep->why = why;
	rsock_ep_queue_work(ep);
}

void rsock_ep_kill(struct rsock_ep *ep, int err, enum rsock_mib why)
{
	spin_lock_bh(&ep->lock);
	rsock_ep_kill_locked(ep, err, why);
	spin_unlock_bh(&ep->lock);
}

/**
 * rsock_ep_fault() - the peer broke the protocol: reset
 * @ep: endpoint, not yet DEAD; ep->lock held
 * @fault: what it did, which tells more than how the connection ended meanwhile
 */
void rsock_ep_fault(struct rsock_ep *ep, enum rsock_fault fault)
{
	trace_rsock_fault(ep, fault);
	rsock_ep_kill_locked(ep, ECONNRESET, RSOCK_MIB_NONE);
	ep->why = RSOCK_MIB_FAULTS + fault;
}

static void rsock_ep_linger_work(struct work_struct *work)
{
	struct rsock_ep *ep = container_of(to_delayed_work(work),
					   struct rsock_ep, linger_work);

	spin_lock_bh(&ep->lock);
	/* In state OPEN, and only then, there is still somebody to count for */
	if (ep->state == RSOCK_EP_OPEN && ep->iwarp && ep->rx.eof &&
	    ep->tx.fin_posted == RSOCK_FIN_DISCONNECT) {
		/* all but the peer's leaving */
		rsock_ep_kill_locked(ep, 0, RSOCK_MIB_NONE);
	} else if (ep->state == RSOCK_EP_OPEN) {
		rsock_ep_kill_locked(ep, ETIMEDOUT, RSOCK_MIB_LINGERTIMEOUTS);
	}
	spin_unlock_bh(&ep->lock);
	rsock_ep_put(ep);
}

/**
 * rsock_ep_delay() - have delayed work of an endpoint run, which puts it
 * @ep: endpoint that is not DYING: then the teardown may have cancelled it
 *	already. ep->lock held
 * @work: of @ep; with a reference while it is queued
 * @delay: from now on, also if it was queued
 */
void rsock_ep_delay(struct rsock_ep *ep, struct delayed_work *work,
		    unsigned long delay)
{
	lockdep_assert_held(&ep->lock);
	if (ep->state >= RSOCK_EP_DYING)
		return;
	rsock_ep_get(ep);
	if (mod_delayed_work(rsock_wq, work, delay))
		rsock_ep_put(ep);
}

static void rsock_ep_cancel(struct rsock_ep *ep, struct delayed_work *work)
{
	if (cancel_delayed_work(work))
		rsock_ep_put(ep);
}

/**
 * rsock_ep_start_linger() - bound the rest of a closed socket's life
 * @ep: endpoint, ep->lock held
 * @seconds: what its unsent data is given to reach the peer
 */
void rsock_ep_start_linger(struct rsock_ep *ep, unsigned int seconds)
{
	rsock_ep_delay(ep, &ep->linger_work, (unsigned long)seconds * HZ);
}

/**
 * rsock_ep_leave() - end a connection that is of no more use to either side
 * @ep: endpoint in state OPEN that has received all, ep->lock held
 *
 * To iWARP a work request is complete when TCP has it, and to close that while
 * the peer still grants and confirms would reset it, and lose what is on its
 * way. So the peer is told, and leaves first.
 */
void rsock_ep_leave(struct rsock_ep *ep)
{
	if (!ep->iwarp) {
		rsock_ep_kill_locked(ep, 0, RSOCK_MIB_NONE);
		return;
	}
	rsock_tx_fin(ep, RSOCK_FIN_DISCONNECT);
	rsock_ep_start_linger(ep, rsock_net(ep->net)->fin_timeout);
}

/* iWARP takes no receive for a write that is stopped: all that is seen is this */
static void rsock_qp_event(struct ib_event *event, void *context)
{
	struct rsock_ep *ep = context;

	trace_rsock_qp_event(ep, event->event);
	if (ep->iwarp && event->event == IB_EVENT_QP_ACCESS_ERR)
		RSOCK_INC_STATS(ep->net, RSOCK_MIB_ACCESSERRORS);
}

static void rsock_reg_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rsock_ep *ep = container_of(wc->wr_cqe, struct rsock_ep,
					   reg_cqe);

	if (wc->status == IB_WC_SUCCESS)
		rsock_ep_queue_work(ep);
	else
		rsock_ep_kill(ep, EIO, RSOCK_MIB_DEVICEERRORS);
}

/* Reduce what the socket asked for to what the device has, and what is allowed */
static void rsock_ep_clamp(struct rsock_ep *ep)
{
	const struct ib_device_attr *attr = &ep->id->device->attrs;
	/* Both queues complete to one CQ, which must be able to hold it all */
	u32 max_wr = min3((u32)attr->max_qp_wr, (u32)attr->max_cqe / 2,
			  READ_ONCE(rsock_net(ep->net)->limits->max_queue));
	u32 tables = RSOCK_SGL_ENTRIES * RSOCK_SGE_LEN +
		     ep->cfg.iomap * RSOCK_IOMAP_LEN;
	u32 max_pages = min_t(u32, attr->max_fast_reg_page_list_len,
			      RSOCK_MAX_RING / PAGE_SIZE);
	u32 ring = clamp_t(u32, ep->cfg.ring, RSOCK_RING_MIN,
			   max_pages * PAGE_SIZE);

	ep->cfg.ring = rounddown_pow_of_two(ring);
	ep->ring_off = L1_CACHE_ALIGN(tables);
	ep->cfg.sq = min_t(u32, (ep->cfg.sq + RSOCK_SQ_CTRL) *
			   rsock_wr_per_msg(ep->iwarp),
			   max_wr - RSOCK_SQ_EXTRA);
	ep->cfg.rq = min_t(u32, ep->cfg.rq,
			   max_wr - rsock_rq_slack(ep->iwarp) - 1);
	ep->max_sge = min_t(u32, attr->max_send_sge, RSOCK_TX_FRAGS);
	ep->mr_pages = attr->max_fast_reg_page_list_len;
}

static int rsock_ep_create_qp(struct rsock_ep *ep)
{
	struct ib_device *dev = ep->id->device;
	struct ib_qp_init_attr attr = {
		.event_handler	= rsock_qp_event,
		.qp_context	= ep,
		.sq_sig_type	= IB_SIGNAL_REQ_WR,
		.qp_type	= IB_QPT_RC,
		.port_num	= ep->id->port_num,
		.cap = {
			/* REG_MR and the drain marker come on top */
			.max_send_wr	= ep->cfg.sq + RSOCK_SQ_EXTRA,
			.max_recv_wr	= ep->rx.depth + 1,
			.max_send_sge	= ep->max_sge,
			.max_recv_sge	= 1,
			.max_inline_data = ep->iwarp ? RSOCK_MSG_LEN : 0,
		},
	};

	/* Each work request may complete: all of them do when the QP fails */
	ep->nr_cqe = attr.cap.max_send_wr + attr.cap.max_recv_wr;
	ep->cq = ib_cq_pool_get(dev, ep->nr_cqe, rsock_dev_vector(ep),
				IB_POLL_SOFTIRQ);
	if (IS_ERR(ep->cq))
		return PTR_ERR(ep->cq);
	attr.send_cq = ep->cq;
	attr.recv_cq = ep->cq;
	ep->qp = ib_create_qp(ep->pd, &attr);
	return PTR_ERR_OR_ZERO(ep->qp);
}

static int rsock_ep_create_ctrl(struct rsock_ep *ep)
{
	struct ib_device *dev = ep->id->device;
	size_t size = RSOCK_SQ_CTRL * RSOCK_CTRL_BUF;

	ep->ctrl = kzalloc(size, GFP_KERNEL_ACCOUNT);
	if (!ep->ctrl)
		return -ENOMEM;
	ep->ctrl_dma = ib_dma_map_single(dev, ep->ctrl, size, DMA_TO_DEVICE);
	if (!ib_dma_mapping_error(dev, ep->ctrl_dma))
		return 0;
	kfree(ep->ctrl);
	ep->ctrl = NULL;
	return -EIO;
}

static int rsock_ep_modify(struct rsock_ep *ep, enum ib_qp_state state)
{
	struct ib_qp_attr attr = { .qp_state = state };
	int mask, err;

	/* What rdma_cm says for iWARP lets the peer read, which it need not */
	if (ep->iwarp) {
		attr.qp_access_flags = IB_ACCESS_REMOTE_WRITE;
		return ib_modify_qp(ep->qp, &attr,
				    IB_QP_STATE | IB_QP_ACCESS_FLAGS);
	}
	err = rdma_init_qp_attr(ep->id, &attr, &mask);
	if (err)
		return err;
	if (state == IB_QPS_RTR)
		attr.min_rnr_timer = RSOCK_RNR_TIMER;
	/* A peer that vanished must be noticed: to rxe 7 means for ever */
	if (state == IB_QPS_RTS)
		attr.retry_cnt = min_t(u8, attr.retry_cnt, RSOCK_RETRIES);
	return ib_modify_qp(ep->qp, &attr, mask);
}

/* One more connection, if that is not too many. Returns 0 or -ENOBUFS. */
static int rsock_ep_count(struct rsock_ep *ep)
{
	struct rsock_net *rn = rsock_net(ep->net)->limits;

	ep->counted = atomic_inc_return(&rn->connections) <=
		      READ_ONCE(rn->max_connections);
	if (ep->counted)
		return 0;
	atomic_dec(&rn->connections);
	return -ENOBUFS;
}

static void rsock_ep_uncount(struct rsock_ep *ep)
{
	if (ep->counted)
		atomic_dec(&rsock_net(ep->net)->limits->connections);
}

/**
 * rsock_ep_open() - get all verbs resources, up to a QP with receives posted
 * @ep: endpoint whose cm_id has its device. Context: CM handler
 *
 * Return: 0 or a negative errno; the caller kills the endpoint then.
 */
int rsock_ep_open(struct rsock_ep *ep)
{
	struct ib_device *dev = ep->id->device;
	int err;

	/* Whoever asks it, soft-iWARP connects from the initial one */
	if (dev->ops.driver_id == RDMA_DRIVER_SIW &&
	    !net_eq(ep->net, &init_net))
		return -ENODEV;
	err = rsock_ep_count(ep);
	if (err)
		return err;
	err = rsock_dev_attach(ep);
	if (err)
		return err;
	ep->iwarp = rdma_protocol_iwarp(dev, ep->id->port_num);
	rsock_ep_clamp(ep);
	err = rsock_sq_init(ep);
	if (err)
		return err;
	ep->rx.depth = ep->cfg.rq + rsock_rq_slack(ep->iwarp);
	/* With iWARP who connects has to say something: the rest is granted */
	rsock_rxwin_init(&ep->rx.win, RSOCK_RING_FIRST_SIZE, ep->iwarp ?
			 RSOCK_RING_FIRST_SIZE / 2 : RSOCK_RING_FIRST_SIZE,
			 ep->cfg.rq);

	ep->pd = ib_alloc_pd(dev, 0);
	if (IS_ERR(ep->pd))
		return PTR_ERR(ep->pd);
	ep->mr = rsock_buf_create(&ep->buf, ep->pd,
				  ep->ring_off + RSOCK_RING_FIRST_SIZE,
				  RSOCK_IOVA, GFP_KERNEL_ACCOUNT);
	if (IS_ERR(ep->mr))
		return PTR_ERR(ep->mr);
	err = rsock_ep_create_ctrl(ep);
	if (err)
		return err;
	err = rsock_ep_create_qp(ep);
	if (err)
		return err;
	if (ep->iwarp) {
		err = rsock_iw_open(ep);
		if (err)
			return err;
	}
	err = rsock_ep_modify(ep, IB_QPS_INIT);
	if (err)
		return err;
	return rsock_rx_post(ep, ep->rx.depth);
}

/**
 * rsock_ep_reg_wr() - what registers memory that the peer writes the stream to
 * @mr: its memory region
 * @reg: filled, but for what its completion is
 */
void rsock_ep_reg_wr(struct ib_mr *mr, struct ib_reg_wr *reg)
{
	*reg = (struct ib_reg_wr){
		.wr.opcode	= IB_WR_REG_MR,
		.mr		= mr,
		.key		= mr->rkey,
		.access		= IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE,
	};
}

/**
 * rsock_ep_rts() - ready the QP and register our memory
 * @ep: endpoint in state REGISTER. Context: CM handler
 *
 * The remote key was told to the peer before, but fast registration needs a
 * QP in RTS. The peer must not hear from us (REP or RTU) before it is done:
 * rsock_cm_registered() is called then.
 *
 * Return: 0 or a negative errno; the caller kills the endpoint then.
 */
int rsock_ep_rts(struct rsock_ep *ep)
{
	struct ib_reg_wr reg;
	int err;

	/* INIT once more: access flags are known only now */
	err = rsock_ep_modify(ep, IB_QPS_INIT) ?:
	      rsock_ep_modify(ep, IB_QPS_RTR) ?:
	      rsock_ep_modify(ep, IB_QPS_RTS);
	/* What rdma_cm says when the peer has given up meanwhile */
	if (err == -EINVAL)
		return -ECONNRESET;
	if (err)
		return err;
	rsock_ep_reg_wr(ep->mr, &reg);
	reg.wr.wr_cqe = &ep->reg_cqe;
	reg.wr.send_flags = IB_SEND_SIGNALED;
	return ib_post_send(ep->qp, &reg.wr, NULL);
}

/**
 * rsock_ep_conn_data() - what to tell the peer in the REQ or REP
 * @ep: endpoint with verbs resources
 * @conn: filled
 */
void rsock_ep_conn_data(struct rsock_ep *ep, struct rsock_conn *conn)
{
	*conn = (struct rsock_conn){
		.flags = RSOCK_CONN_F_IOMAP |
			 (IS_ENABLED(CONFIG_CPU_BIG_ENDIAN) ?
			  RSOCK_CONN_F_NET : 0),
		.credits = ep->rx.win.credits,
		.iomap_slots = ep->cfg.iomap,
		.sgl = {
			.addr = RSOCK_IOVA,
			.key = ep->mr->rkey,
			.len = RSOCK_SGL_ENTRIES,
		},
		.buf = {
			.addr = RSOCK_IOVA + ep->ring_off,
			.key = ep->mr->rkey,
			.len = rsock_rxwin_granted(&ep->rx.win),
		},
		/* The one who accepts extends only what was extended to it */
		.has_ext = !ep->passive || ep->peer_ext,
		.ext_features = RSOCK_FEATURES,
	};
}

/*
 * Before any memory region: soft-RoCE's has one in use while half of a write has
 * come. After the ID: with iWARP that refers to it.
 */
static void rsock_ep_destroy_qp(struct rsock_ep *ep)
{
	if (!IS_ERR_OR_NULL(ep->qp))
		ib_destroy_qp(ep->qp);
	ep->qp = NULL;
}

/* Give back what rsock_ep_open() got, or as far as it came */
static void rsock_ep_release(struct rsock_ep *ep)
{
	rsock_ep_destroy_qp(ep);
	rsock_iomap_release(ep);
	if (!IS_ERR_OR_NULL(ep->cq))
		ib_cq_pool_put(ep->cq, ep->nr_cqe);
	if (!IS_ERR_OR_NULL(ep->mr))
		ib_dereg_mr(ep->mr);
	rsock_buf_unmap(&ep->buf);
	rsock_ring_release(ep);
	rsock_iw_release(ep);
	if (ep->ctrl) {
		ib_dma_unmap_single(ep->pd->device, ep->ctrl_dma,
				    RSOCK_SQ_CTRL * RSOCK_CTRL_BUF,
				    DMA_TO_DEVICE);
		kfree(ep->ctrl);
	}
	if (!IS_ERR_OR_NULL(ep->pd))
		ib_dealloc_pd(ep->pd);
	rsock_sq_free(&ep->sq);
	rsock_dev_detach(ep);
	rsock_ep_uncount(ep);
}

/* Was the connection open, and has all that was posted completed? */
static bool rsock_ep_is_drained(struct rsock_ep *ep)
{
	bool drained;

	spin_lock_bh(&ep->lock);
	drained = ep->tx.fin_posted && ep->sq.posted == ep->sq.done;
	spin_unlock_bh(&ep->lock);
	return drained;
}

/* Stop the QP and see all its completions. No CM handler may interfere. */
static void rsock_ep_drain(struct rsock_ep *ep)
{
	if (!ep->id)
		return;
	if (ep->rx.eof)
		msleep(RSOCK_ACK_MS);
	rdma_lock_handler(ep->id);
	if (!IS_ERR_OR_NULL(ep->qp)) {
		if (rsock_ep_is_drained(ep))
			ib_drain_rq(ep->qp);
		else
			ib_drain_qp(ep->qp);
	}
	rdma_unlock_handler(ep->id);
}

/*
 * Did the stream end in good order, whatever became of the QP since? A peer
 * that has our FIN and sent its own may leave at once, before our device heard
 * that the FIN arrived. With iWARP, it is how it acknowledges our DISCONNECT.
 */
static bool rsock_ep_was_closed(const struct rsock_ep *ep)
{
	if (ep->rx.disconnected)
		return true;
	if (ep->err != ECONNRESET || ep->rx.faulty)
		return false;
	return (ep->rx.eof && ep->tx.fin_posted) ||
	       (ep->iwarp && ep->tx.fin_posted == RSOCK_FIN_DISCONNECT);
}

/* Nothing more arrives: what has nothing to be read is of no use */
static void rsock_ep_free_rings(struct rsock_ep *ep)
{
	bool unread;

	spin_lock_bh(&ep->lock);
	unread = rsock_rxwin_avail(&ep->rx.win);
	spin_unlock_bh(&ep->lock);
	if (unread)
		return;
	rsock_buf_free(&ep->buf);
	rsock_buf_free(&ep->ring.buf);
}

/* The second part of the end: nobody works on its regions any more */
static void rsock_ep_finish(struct rsock_ep *ep)
{
	struct sock *sk = ep->sk;

	rsock_ep_release(ep);
	rsock_ep_free_rings(ep);
	sock_put(sk);
	rsock_ep_put(ep);
}

/*
 * The end of an endpoint. Nothing else uses it any more, because
 *  1. state DYING stops every user of verbs resources under ep->lock;
 *  2. draining ends completion handlers: no more WR is posted, and all that
 *     were have completed. It also brings in what the peer sent before it
 *     left, which decides between end of file and reset;
 *  3. the timers are cancelled, or run and find DYING;
 *  4. rdma_destroy_id() ends event handlers;
 *  5. this work itself does not run twice: DYING is entered once.
 * But those who map memory may still be at it: rsock_iomap_park().
 */
static void rsock_ep_teardown(struct rsock_ep *ep)
{
	int err;

	rsock_ep_cancel(ep, &ep->linger_work);
	rsock_ep_cancel(ep, &ep->watch.work);
	rsock_ep_drain(ep);

	spin_lock_bh(&ep->lock);
	rsock_ep_set_state(ep, RSOCK_EP_DEAD);
	if (rsock_ep_was_closed(ep)) {
		ep->err = 0;
		ep->why = RSOCK_MIB_NONE;
	}
	err = ep->err;
	RSOCK_INC_STATS(ep->net, ep->why);
	if (ep->id)
		trace_rsock_end(ep, ep->id);
	spin_unlock_bh(&ep->lock);
	ep->ops->closed(ep, err);
	rsock_tx_purge(ep);

	mutex_lock(&ep->id_mutex);
	if (ep->id)
		rdma_destroy_id(ep->id);
	ep->id = NULL;
	mutex_unlock(&ep->id_mutex);
	rsock_ep_destroy_qp(ep);
	rsock_iomap_return(ep);
	rsock_iomap_park(ep);
}

/* Does iwarp.c work on it? Then that has this work run again */
static bool rsock_ep_is_busy(struct rsock_ep *ep)
{
	bool busy;

	spin_lock_bh(&ep->lock);
	busy = ep->iw.busy;
	spin_unlock_bh(&ep->lock);
	return busy;
}

static void rsock_ep_work(struct work_struct *work)
{
	struct rsock_ep *ep = container_of(work, struct rsock_ep, work);
	unsigned long flags = rsock_memalloc_save(ep->gfp);
	enum rsock_ep_state state = READ_ONCE(ep->state);

	rsock_tx_reap(ep);
	if (state < RSOCK_EP_DYING)
		rsock_ring_prepare(ep);
	if (state == RSOCK_EP_RESOLVE)
		rsock_cm_retry(ep);
	else if (state == RSOCK_EP_REGISTER && !ep->iwarp)
		rsock_cm_registered(ep);
	else if (state == RSOCK_EP_DYING && !rsock_ep_is_busy(ep))
		rsock_ep_teardown(ep);
	if (rsock_iomap_unpark(ep))
		rsock_ep_finish(ep);
	rsock_memalloc_restore(flags);
	rsock_ep_put(ep);
}

/**
 * rsock_ep_alloc() - make an endpoint
 * @sk: its owner
 * @net: the owner's network namespace
 * @ops: how to tell the owner what happens
 * @cfg: sizes asked for
 *
 * Return: the endpoint or NULL. The caller has a reference; another one is the
 * connection's own, and goes when rsock_ep_kill() has done its work.
 */
struct rsock_ep *rsock_ep_alloc(struct sock *sk, struct net *net,
				const struct rsock_ep_ops *ops,
				const struct rsock_ep_cfg *cfg)
{
	struct rsock_ep *ep = kzalloc(sizeof(*ep), sk->sk_allocation);

	if (!ep)
		return NULL;
	refcount_set(&ep->ref, 2);
	ep->ops = ops;
	ep->sk = sk;
	sock_hold(sk);
	ep->net = net;
	ep->gfp = sk->sk_allocation;
	if (ep->gfp & __GFP_ACCOUNT)
		ep->memcg = get_mem_cgroup_from_mm(NULL);
	ep->cfg = *cfg;
	spin_lock_init(&ep->lock);
	mutex_init(&ep->id_mutex);
	rsock_io_init(&ep->io);
	rsock_targets_init(&ep->targets);
	INIT_LIST_HEAD(&ep->tx.unsent);
	INIT_LIST_HEAD(&ep->tx.sent);
	INIT_LIST_HEAD(&ep->tx.lost);
	INIT_WORK(&ep->work, rsock_ep_work);
	INIT_DELAYED_WORK(&ep->linger_work, rsock_ep_linger_work);
	rsock_watch_init(ep);
	rsock_iw_init(ep);
	ep->send_cqe.done = rsock_send_done;
	ep->recv_cqe.done = rsock_recv_done;
	ep->reg_cqe.done = rsock_reg_done;
	return ep;
}
