// SPDX-License-Identifier: GPL-2.0
/*
 * The send queue: slots, signalling, completions, and control messages.
 *
 * Slots are reserved for control messages, so that credit can be returned
 * however much data waits. A completion costs more than the work request that
 * it belongs to, so that only every so many are asked for: half of the
 * queue, half of the control slots, or when the caller needs to know.
 */

#include "ep.h"

#include <linux/slab.h>

#include "trace.h"

/**
 * rsock_sq_init() - make the send queue
 * @ep: endpoint whose cfg is clamped
 */
int rsock_sq_init(struct rsock_ep *ep)
{
	struct rsock_sq *sq = &ep->sq;

	sq->depth = ep->cfg.sq;
	sq->usable = ep->iwarp ? 0 : sq->depth;
	sq->per_msg = rsock_wr_per_msg(ep->iwarp);
	sq->reg_alone = ep->id->device->ops.driver_id == RDMA_DRIVER_RXE;
	sq->marks = kcalloc(sq->depth, sizeof(*sq->marks), GFP_KERNEL_ACCOUNT);
	return sq->marks ? 0 : -ENOMEM;
}

void rsock_sq_free(struct rsock_sq *sq)
{
	kfree(sq->marks);
	sq->marks = NULL;
}

/* May so many data messages be posted? */
bool rsock_sq_has_room(const struct rsock_sq *sq, unsigned int msgs)
{
	return !sq->held &&
	       sq->posted - sq->done + (RSOCK_SQ_CTRL + msgs) * sq->per_msg <=
	       sq->usable;
}

static bool rsock_sq_ctrl_fits(const struct rsock_sq *sq)
{
	return sq->ctrl_posted - sq->ctrl_done < RSOCK_SQ_CTRL &&
	       sq->posted - sq->done + sq->per_msg <= sq->usable;
}

/* May a control message be posted? */
bool rsock_sq_has_ctrl(const struct rsock_sq *sq)
{
	return !sq->held && rsock_sq_ctrl_fits(sq);
}

static bool rsock_sq_signal(const struct rsock_sq *sq)
{
	const struct rsock_sq_mark *last;
	u32 ctrl_seen = sq->ctrl_done;

	if (sq->nr_marks) {
		last = &sq->marks[(sq->mark_head + sq->nr_marks - 1) %
				  sq->depth];
		ctrl_seen = last->ctrl;
	}
	return sq->unsig >= sq->depth / 2 ||
	       sq->ctrl_posted - ctrl_seen >= RSOCK_SQ_CTRL / 2;
}

static void rsock_sq_mark(struct rsock_sq *sq)
{
	u16 at = (sq->mark_head + sq->nr_marks++) % sq->depth;

	sq->marks[at].seq = sq->posted;
	sq->marks[at].ctrl = sq->ctrl_posted;
	sq->unsig = 0;
	sq->unsig_bytes = 0;
}

/* A work request takes its slot. Is a completion of it @wanted, or due? */
static void rsock_sq_count(struct rsock_ep *ep, struct ib_send_wr *wr,
			   bool wanted)
{
	struct rsock_sq *sq = &ep->sq;

	sq->wired = ++sq->posted;
	sq->unsig++;
	wr->wr_cqe = &ep->send_cqe;
	if (!wanted && !rsock_sq_signal(sq))
		return;
	wr->send_flags |= IB_SEND_SIGNALED;
	rsock_sq_mark(sq);
}

/**
 * rsock_sq_post() - post one work request
 * @ep: endpoint in state OPEN with free slots for a message, ep->lock held
 * @wr: work request; wr_cqe and, unless it is wanted for this very one,
 *	signalling are filled in here. A write with immediate becomes what the
 *	device has for it
 * @bytes: send buffer that its completion gives back
 * @force_signal: a completion is wanted for this one
 *
 * A failure to post kills the endpoint.
 */
void rsock_sq_post(struct rsock_ep *ep, struct ib_send_wr *wr, u32 bytes,
		   bool force_signal)
{
	struct ib_send_wr *last = wr;
	struct rsock_sq *sq = &ep->sq;
	struct rsock_iw_send send;
	int err;

	lockdep_assert_held(&ep->lock);
	if (ep->iwarp && wr->opcode == IB_WR_RDMA_WRITE_WITH_IMM) {
		wr = rsock_iw_split(ep, wr, &send);
		last = wr->next ?: wr;
	}
	if (last != wr)
		rsock_sq_count(ep, wr, wr->send_flags & IB_SEND_SIGNALED);
	sq->unsig_bytes += bytes;
	rsock_sq_count(ep, last, force_signal ||
		       (last->send_flags & IB_SEND_SIGNALED));
	trace_rsock_post(ep, last, sq->posted);
	err = ib_post_send(ep->qp, wr, NULL);
	/* soft-iWARP says ENOTCONN while the peer's reset is being handled */
	if (err == -ENOTCONN)
		rsock_ep_kill_locked(ep, ECONNRESET, RSOCK_MIB_PEERRESETS);
	else if (err)
		rsock_ep_kill_locked(ep, -err, RSOCK_MIB_DEVICEERRORS);
}

/**
 * rsock_sq_post_signalled() - post what is no message, and have it complete
 * @ep: endpoint in state OPEN, rsock_sq_has_ctrl(), ep->lock held
 * @wr: work request; takes a slot for control
 */
void rsock_sq_post_signalled(struct rsock_ep *ep, struct ib_send_wr *wr)
{
	ep->sq.ctrl_posted++;
	rsock_sq_post(ep, wr, 0, true);
}

/**
 * rsock_sq_hold() - post nothing more but registrations, if they must be alone
 * @sq: send queue, ep->lock held. rsock_sq_release() is due
 */
void rsock_sq_hold(struct rsock_sq *sq)
{
	sq->held += sq->reg_alone;
}

/* Whoever was the last to hold it has to see to what waited: rsock_tx_push() */
void rsock_sq_release(struct rsock_sq *sq)
{
	sq->held -= sq->reg_alone;
}

/* Is all done that can be repeated? If not, a completion comes. */
static bool rsock_sq_is_quiet(struct rsock_ep *ep)
{
	struct rsock_sq *sq = &ep->sq;

	if (!sq->reg_alone || (s32)(sq->done - sq->wired) >= 0)
		return true;
	/* If there is no slot, those before have one on its way */
	if (sq->unsig && rsock_sq_ctrl_fits(sq))
		rsock_tx_mark(ep);
	return false;
}

/**
 * rsock_sq_post_reg() - post a registration of memory
 * @ep: endpoint in state OPEN, rsock_sq_hold(), ep->lock held
 * @reg: its work request; takes a slot for control
 *
 * Return: false if it must wait for a completion.
 */
bool rsock_sq_post_reg(struct rsock_ep *ep, struct ib_reg_wr *reg)
{
	u32 wired = ep->sq.wired;

	if (!rsock_sq_is_quiet(ep) || !rsock_sq_ctrl_fits(&ep->sq))
		return false;
	rsock_sq_post_signalled(ep, &reg->wr);
	ep->sq.wired = wired;
	return true;
}

/**
 * rsock_sq_post_ctrl() - post a control message
 * @ep: endpoint in state OPEN, rsock_sq_has_ctrl(), ep->lock held
 * @msg: the immediate
 * @addr: where at the peer to write @payload
 * @key: its remote key
 * @payload: copied; NULL for none
 * @len: of the payload, at most RSOCK_CTRL_BUF; 0 for none
 * @force_signal: a completion is wanted
 */
void rsock_sq_post_ctrl(struct rsock_ep *ep, u32 msg, u64 addr, u32 key,
			const void *payload, u32 len, bool force_signal)
{
	u32 slot = ep->sq.ctrl_posted++ % RSOCK_SQ_CTRL * RSOCK_CTRL_BUF;
	struct ib_sge sge = {
		.addr = ep->ctrl_dma + slot,
		.length = len,
		.lkey = ep->pd->local_dma_lkey,
	};
	struct ib_rdma_wr wr = {
		.wr.opcode = IB_WR_RDMA_WRITE_WITH_IMM,
		.wr.ex.imm_data = cpu_to_be32(msg),
		.wr.sg_list = &sge,
		.wr.num_sge = len ? 1 : 0,
		.remote_addr = addr,
		.rkey = key,
	};

	if (len) {
		memcpy(ep->ctrl + slot, payload, len);
		ib_dma_sync_single_for_device(ep->qp->device, sge.addr, len,
					      DMA_TO_DEVICE);
	}
	rsock_sq_post(ep, &wr.wr, 0, force_signal);
}

/* A work request failed, and with it the connection: why, as tcp(7) calls it */
static void rsock_sq_failed(struct rsock_ep *ep, enum ib_wc_status status)
{
	switch (status) {
	case IB_WC_RETRY_EXC_ERR:
	case IB_WC_RNR_RETRY_EXC_ERR:
		rsock_ep_kill_locked(ep, ETIMEDOUT, RSOCK_MIB_PEERSILENT);
		break;
	case IB_WC_LOC_LEN_ERR:
	case IB_WC_LOC_QP_OP_ERR:
	case IB_WC_LOC_PROT_ERR:
		rsock_ep_kill_locked(ep, EIO, RSOCK_MIB_DEVICEERRORS);
		break;
	case IB_WC_REM_INV_REQ_ERR:
	case IB_WC_REM_ACCESS_ERR:
	case IB_WC_REM_OP_ERR:
		rsock_ep_kill_locked(ep, ECONNRESET, RSOCK_MIB_PEERREFUSES);
		break;
	default:
		rsock_ep_kill_locked(ep, ECONNRESET, RSOCK_MIB_PEERRESETS);
		break;
	}
}

/* What the oldest mark stands for is done */
static void rsock_sq_advance(struct rsock_sq *sq)
{
	sq->done = sq->marks[sq->mark_head].seq;
	sq->ctrl_done = sq->marks[sq->mark_head].ctrl;
	sq->mark_head = (sq->mark_head + 1) % sq->depth;
	sq->nr_marks--;
}

/**
 * rsock_send_done() - a signalled work request completed, or any one failed
 * @cq: completion queue
 * @wc: what completed; only wr_cqe and status are valid if it failed
 *
 * Context: softirq.
 */
void rsock_send_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rsock_ep *ep = container_of(wc->wr_cqe, struct rsock_ep,
					   send_cqe);
	struct rsock_sq *sq = &ep->sq;
	LIST_HEAD(done);

	spin_lock_bh(&ep->lock);
	if (wc->status == IB_WC_SUCCESS)
		rsock_sq_advance(sq);
	trace_rsock_send_done(ep, wc, sq->done);
	if (wc->status != IB_WC_SUCCESS) {
		rsock_sq_failed(ep, wc->status);
	} else {
		rsock_tx_complete(ep, &done);
		rsock_iomap_complete(ep);
		rsock_rx_update(ep);
		rsock_tx_push(ep);
	}
	spin_unlock_bh(&ep->lock);
	rsock_tx_free_list(&done);
}
