// SPDX-License-Identifier: GPL-2.0
/*
 * Messages where there is no RDMA write with immediate. See iwarp.h.
 */

#include "iwarp.h"

#include <linux/slab.h>

#include "ep.h"

struct workqueue_struct *rsock_iw_wq;

static void rsock_iw_work(struct work_struct *work)
{
	struct rsock_ep *ep = container_of(work, struct rsock_ep, iw.work);
	unsigned long flags = rsock_memalloc_save(ep->gfp);

	rsock_cm_register(ep);
	rsock_memalloc_restore(flags);
	spin_lock_bh(&ep->lock);
	ep->iw.busy = false;
	/* It found us busy, and left */
	if (ep->state == RSOCK_EP_DYING)
		rsock_ep_queue_work(ep);
	spin_unlock_bh(&ep->lock);
	rsock_ep_put(ep);
}

void rsock_iw_init(struct rsock_ep *ep)
{
	INIT_WORK(&ep->iw.work, rsock_iw_work);
}

/**
 * rsock_iw_queue() - have rsock_cm_register() called
 * @ep: iWARP endpoint that enters state REGISTER, ep->lock held
 */
void rsock_iw_queue(struct rsock_ep *ep)
{
	lockdep_assert_held(&ep->lock);
	ep->iw.busy = true;
	rsock_ep_get(ep);
	if (!queue_work(rsock_iw_wq, &ep->iw.work))
		rsock_ep_put(ep);
}

/**
 * rsock_iw_open() - get buffers for the messages that we receive
 * @ep: iWARP endpoint that is being opened
 */
int rsock_iw_open(struct rsock_ep *ep)
{
	struct rsock_iw *iw = &ep->iw;

	iw->bytes = ep->rx.depth * RSOCK_MSG_LEN;
	iw->msgs = kzalloc(iw->bytes, GFP_KERNEL_ACCOUNT);
	if (!iw->msgs)
		return -ENOMEM;
	iw->dma = ib_dma_map_single(ep->pd->device, iw->msgs, iw->bytes,
				    DMA_FROM_DEVICE);
	if (!ib_dma_mapping_error(ep->pd->device, iw->dma))
		return 0;
	kfree(iw->msgs);
	iw->msgs = NULL;
	return -EIO;
}

/**
 * rsock_iw_release() - undo rsock_iw_open(), if it was called
 * @ep: endpoint without a queue pair
 */
void rsock_iw_release(struct rsock_ep *ep)
{
	struct rsock_iw *iw = &ep->iw;

	if (!iw->msgs)
		return;
	ib_dma_unmap_single(ep->pd->device, iw->dma, iw->bytes,
			    DMA_FROM_DEVICE);
	kfree(iw->msgs);
	iw->msgs = NULL;
}

static u16 rsock_iw_next(const struct rsock_ep *ep, u16 at)
{
	return at + 1 == ep->rx.depth ? 0 : at + 1;
}

/**
 * rsock_iw_recv() - give a receive its buffer
 * @ep: iWARP endpoint
 * @wr: receive; they complete in the order in which they are posted
 * @sge: for @wr
 */
void rsock_iw_recv(struct rsock_ep *ep, struct ib_recv_wr *wr,
		   struct ib_sge *sge)
{
	struct rsock_iw *iw = &ep->iw;

	sge->addr = iw->dma + iw->tail * RSOCK_MSG_LEN;
	sge->length = RSOCK_MSG_LEN;
	sge->lkey = ep->pd->local_dma_lkey;
	wr->sg_list = sge;
	wr->num_sge = 1;
	ib_dma_sync_single_for_device(ep->pd->device, sge->addr, sge->length,
				      DMA_FROM_DEVICE);
	iw->tail = rsock_iw_next(ep, iw->tail);
}

/**
 * rsock_iw_heard() - a message arrived
 * @ep: iWARP endpoint, ep->lock held
 *
 * Return: false if it has to wait for ESTABLISHED, which tells who the peer is.
 */
bool rsock_iw_heard(struct rsock_ep *ep)
{
	if (!ep->peer.sgl.len) {
		ep->iw.held++;
		return false;
	}
	if (!ep->sq.usable) {
		ep->sq.usable = ep->sq.depth;
		/* Who maps memory may wait for a slot */
		wake_up_all(&ep->io.wait);
	}
	return true;
}

/**
 * rsock_iw_msg() - the message that is next in the order of arrival
 * @ep: iWARP endpoint, ep->lock held
 */
u32 rsock_iw_msg(struct rsock_ep *ep)
{
	struct rsock_iw *iw = &ep->iw;
	u32 msg;

	ib_dma_sync_single_for_cpu(ep->pd->device,
				   iw->dma + iw->head * RSOCK_MSG_LEN,
				   RSOCK_MSG_LEN, DMA_FROM_DEVICE);
	msg = iw->msgs[iw->head];
	iw->head = rsock_iw_next(ep, iw->head);
	return rsock_msg_order(msg, ep->swap);
}

/**
 * rsock_iw_granted() - is there a grant in our table?
 * @ep: iWARP endpoint, ep->lock held
 * @at: where in the buffer the entry is that the next one goes to
 *
 * It may have come with a message that is yet to arrive. So its end, the length,
 * is looked at before the rest is read.
 */
bool rsock_iw_granted(const struct rsock_ep *ep, size_t at)
{
	const u32 *page = page_address(ep->buf.pages[at >> PAGE_SHIFT]);
	u32 end;

	at += RSOCK_SGE_LEN - sizeof(end);
	rsock_buf_sync(&ep->buf, at, sizeof(end), true);
	end = READ_ONCE(page[offset_in_page(at) / sizeof(end)]);
	dma_rmb();
	return end;
}

/**
 * rsock_iw_split() - what a write with immediate becomes
 * @ep: iWARP endpoint
 * @wr: the write with immediate. If it has data it becomes the write
 * @send: for the message
 *
 * User-space rsockets does nothing about RSOCK_OP_IOMAP, and gives no credit
 * back for it: to that the message is not sent.
 *
 * Return: one work request, or two in a list.
 */
struct ib_send_wr *rsock_iw_split(struct rsock_ep *ep, struct ib_send_wr *wr,
				  struct rsock_iw_send *send)
{
	u32 msg = be32_to_cpu(wr->ex.imm_data);

	wr->opcode = IB_WR_RDMA_WRITE;
	if (msg >> RSOCK_MSG_VALUE_BITS == RSOCK_OP_IOMAP && !ep->peer_ext)
		return wr;

	send->msg = rsock_msg_order(msg, ep->swap);
	/* Of what is sent inline the driver wants the virtual address */
	send->sge = (struct ib_sge){
		.addr = (uintptr_t)&send->msg,
		.length = RSOCK_MSG_LEN,
	};
	send->wr = (struct ib_send_wr){
		.opcode = IB_WR_SEND,
		.send_flags = IB_SEND_INLINE,
		.ex.imm_data = wr->ex.imm_data,	/* to be traced */
		.sg_list = &send->sge,
		.num_sge = 1,
	};
	if (!wr->num_sge)
		return &send->wr;
	wr->next = &send->wr;
	return wr;
}
