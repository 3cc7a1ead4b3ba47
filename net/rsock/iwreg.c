// SPDX-License-Identifier: GPL-2.0
/*
 * Registering an endpoint's memory before it is connected.
 *
 * The peer is told our remote key in the REQ or REP, and may use it at once.
 * But memory can only be registered through a queue pair that is connected, and
 * with iWARP it is rdma_connect() and rdma_accept() that connect. So another one
 * does it: in the same protection domain, connected to a third over the
 * device's own address, and gone when it has done so.
 */

#include <linux/completion.h>
#include <linux/random.h>
#include <rdma/rdma_cm.h>

#include "ep.h"

#define RSOCK_LOOP_TIMEOUT	(5 * HZ)
#define RSOCK_LOOP_BACKLOG	8
#define RSOCK_LOOP_RESOLVE	1000	/* ms */

/**
 * struct rsock_loop - a connection of a device with itself
 * @ep: for whom
 * @listener: listens as long as the loop exists
 * @active: id of the queue pair that registers
 * @passive: id of the one that it is connected to. Set by @listener's handler
 * @cookie: by which the listener knows @active
 * @cqe: completion of the registration
 * @err: of the step that @done stands for
 * @done: connected, registered, or failed
 *
 * Handlers of the ids refer to it until these are destroyed.
 */
struct rsock_loop {
	struct rsock_ep *ep;
	struct rdma_cm_id *listener;
	struct rdma_cm_id *active;
	struct rdma_cm_id *passive;
	u64 cookie;
	struct ib_cqe cqe;
	int err;
	struct completion done;
};

static int rsock_loop_create_qp(struct rsock_loop *loop, struct rdma_cm_id *id)
{
	struct ib_qp_init_attr attr = {
		/* Only one work request ever completes */
		.send_cq	= loop->ep->cq,
		.recv_cq	= loop->ep->cq,
		.sq_sig_type	= IB_SIGNAL_REQ_WR,
		.qp_type	= IB_QPT_RC,
		.cap = {
			.max_send_wr	= RSOCK_SQ_EXTRA,
			.max_recv_wr	= 1,
			.max_send_sge	= 1,
			.max_recv_sge	= 1,
		},
	};

	return rdma_create_qp(id, loop->ep->pd, &attr);
}

static struct rdma_conn_param rsock_loop_param(struct rsock_loop *loop)
{
	return (struct rdma_conn_param){
		.private_data = &loop->cookie,
		.private_data_len = sizeof(loop->cookie),
		.responder_resources = 1,
		.initiator_depth = 1,
	};
}

/* Anybody can connect to @listener, but there is one that it waits for */
static int rsock_loop_request(struct rsock_loop *loop, struct rdma_cm_id *id,
			      const struct rdma_conn_param *req)
{
	struct rdma_conn_param param = rsock_loop_param(loop);
	int err;

	if (loop->passive || req->private_data_len < sizeof(loop->cookie) ||
	    memcmp(req->private_data, &loop->cookie, sizeof(loop->cookie)))
		return -ECONNREFUSED;
	err = rsock_loop_create_qp(loop, id);
	if (err)
		return err;
	loop->passive = id;
	err = rdma_accept(id, &param);
	if (err) {
		loop->passive = NULL;
		rdma_destroy_qp(id);
	}
	return err;
}

static int rsock_loop_event(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct rsock_loop *loop = id->context;
	int err = 0;

	if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST)
		return rsock_loop_request(loop, id, &event->param.conn);
	if (id != loop->active)
		return 0;
	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		err = rdma_resolve_route(id, RSOCK_LOOP_RESOLVE);
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
	case RDMA_CM_EVENT_ESTABLISHED:
		complete(&loop->done);
		break;
	default:
		err = -ENETDOWN;
	}
	if (err) {
		loop->err = err;
		complete(&loop->done);
	}
	return 0;
}

static int rsock_loop_wait(struct rsock_loop *loop)
{
	if (!wait_for_completion_timeout(&loop->done, RSOCK_LOOP_TIMEOUT))
		return -ETIMEDOUT;
	return loop->err;
}

/* Not in the handler, which all connections of the machine wait for */
static int rsock_loop_connect(struct rsock_loop *loop)
{
	struct rdma_conn_param param = rsock_loop_param(loop);
	int err;

	err = rsock_loop_create_qp(loop, loop->active);
	if (err)
		return err;
	rdma_lock_handler(loop->active);
	err = rdma_connect_locked(loop->active, &param);
	rdma_unlock_handler(loop->active);
	return err ?: rsock_loop_wait(loop);
}

static struct rdma_cm_id *rsock_loop_create_id(struct rsock_loop *loop)
{
	return rdma_create_id(loop->ep->net, rsock_loop_event, loop,
			      RDMA_PS_TCP, IB_QPT_RC);
}

static int rsock_loop_open(struct rsock_loop *loop)
{
	struct sockaddr_storage addr = loop->ep->id->route.addr.src_addr;
	struct sockaddr *sa = (struct sockaddr *)&addr;
	int err;

	/* AF_INET6 has it at the same place */
	((struct sockaddr_in *)&addr)->sin_port = 0;
	loop->listener = rsock_loop_create_id(loop);
	if (IS_ERR(loop->listener))
		return PTR_ERR(loop->listener);
	loop->active = rsock_loop_create_id(loop);
	if (IS_ERR(loop->active))
		return PTR_ERR(loop->active);
	err = rdma_bind_addr(loop->listener, sa);
	if (err)
		return err;
	/* Room for strangers, whom the cookie sorts out */
	err = rdma_listen(loop->listener, RSOCK_LOOP_BACKLOG);
	if (err)
		return err;
	err = rdma_resolve_addr(loop->active, sa, (struct sockaddr *)
				&loop->listener->route.addr.src_addr,
				RSOCK_LOOP_RESOLVE);
	return err ?: rsock_loop_wait(loop) ?: rsock_loop_connect(loop);
}

static void rsock_loop_destroy_id(struct rdma_cm_id *id)
{
	if (IS_ERR_OR_NULL(id))
		return;
	if (id->qp)
		rdma_destroy_qp(id);
	rdma_destroy_id(id);
}

/* The listener first: then @passive does not change any more */
static void rsock_loop_close(struct rsock_loop *loop)
{
	rsock_loop_destroy_id(loop->listener);
	rsock_loop_destroy_id(loop->active);
	rsock_loop_destroy_id(loop->passive);
}

static void rsock_loop_registered(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rsock_loop *loop = container_of(wc->wr_cqe, struct rsock_loop,
					       cqe);

	if (wc->status != IB_WC_SUCCESS)
		loop->err = -EIO;
	complete(&loop->done);
}

static int rsock_loop_register(struct rsock_loop *loop)
{
	struct ib_qp *qp = loop->active->qp;
	struct ib_reg_wr reg;
	int err;

	rsock_ep_reg_wr(loop->ep->mr, &reg);
	reg.wr.wr_cqe = &loop->cqe;
	reg.wr.send_flags = IB_SEND_SIGNALED;
	err = ib_post_send(qp, &reg.wr, NULL);
	if (err)
		return err;
	err = rsock_loop_wait(loop);
	/* It is complete before @loop is gone */
	if (err)
		ib_drain_sq(qp);
	return err;
}

/**
 * rsock_iw_register() - register an endpoint's memory
 * @ep: iWARP endpoint in state REGISTER, with verbs resources and an address.
 *	Context: work; sleeps
 *
 * Return: 0 or a negative errno.
 */
int rsock_iw_register(struct rsock_ep *ep)
{
	struct rsock_loop loop = {
		.ep = ep,
		.cookie = get_random_u64(),
		.cqe.done = rsock_loop_registered,
		.done = COMPLETION_INITIALIZER_ONSTACK(loop.done),
	};
	int err;

	err = rsock_loop_open(&loop);
	if (!err)
		err = rsock_loop_register(&loop);
	rsock_loop_close(&loop);
	return err;
}
