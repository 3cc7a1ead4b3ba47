// SPDX-License-Identifier: GPL-2.0
/*
 * Calls of the server to its client (NFSv4.1 and later), on the connection that
 * the client made: a transport of the client's kind, as far as sunrpc can see,
 * that sends with the svc_xprt's mutex held. What answers comes in among the
 * client's calls.
 *
 * The svc_xprt holds a reference to the transport, until the connection ends;
 * that has none to the svc_xprt.
 */

#include <linux/module.h>
#include <linux/sunrpc/clnt.h>
#include <linux/sunrpc/sched.h>
#include <linux/sunrpc/svc.h>
#include <linux/sunrpc/svc_xprt.h>
#include <linux/sunrpc/xdr.h>

#include "rpc.h"

static const struct rpc_timeout rrpc_bc_timeout = {
	.to_initval	= 60 * HZ,
	.to_maxval	= 60 * HZ,
};

/**
 * rrpc_bc_receive_reply() - hand an answer to who waits for it
 * @xprt: the connection it came on
 * @rqstp: has it in rq_arg, which is empty on return: there is no call in it
 */
void rrpc_bc_receive_reply(struct svc_xprt *xprt, struct svc_rqst *rqstp)
{
	const struct kvec *src = &rqstp->rq_arg.head[0];
	struct rpc_xprt *bc = xprt->xpt_bc_xprt;
	struct rpc_rqst *req;
	struct kvec *dst;

	if (!bc)
		goto out;
	spin_lock(&bc->queue_lock);
	req = xprt_lookup_rqst(bc, *(__be32 *)src->iov_base);
	if (req) {
		req->rq_private_buf = req->rq_rcv_buf;
		dst = &req->rq_private_buf.head[0];
		/* Answers to what we ask are short: one that is not is cut */
		memcpy(dst->iov_base, src->iov_base,
		       min(dst->iov_len, src->iov_len));
		xprt_complete_rqst(req->rq_task,
				   min(dst->iov_len, src->iov_len));
	}
	spin_unlock(&bc->queue_lock);
out:
	rqstp->rq_arg.len = 0;
}

static int rrpc_bc_send_request(struct rpc_rqst *req)
{
	struct rrpc_msg m = { .xdr = &req->rq_snd_buf };
	struct svc_xprt *xprt = req->rq_xprt->bc_xprt;
	int err;

	req->rq_xtime = ktime_get();
	mutex_lock(&xprt->xpt_mutex);
	err = rrpc_svc_send(rrpc_svc(xprt), &m, 0);
	mutex_unlock(&xprt->xpt_mutex);
	return err ? -ENOTCONN : 0;
}

static void rrpc_bc_close(struct rpc_xprt *xprt)
{
	xprt_disconnect_done(xprt);
}

static const struct rpc_xprt_ops rrpc_bc_ops = {
	.reserve_xprt		= xprt_reserve_xprt,
	.release_xprt		= xprt_release_xprt,
	.alloc_slot		= xprt_alloc_slot,
	.free_slot		= xprt_free_slot,
	.buf_alloc		= rpc_malloc,
	.buf_free		= rpc_free,
	.send_request		= rrpc_bc_send_request,
	.wait_for_reply_request	= xprt_wait_for_reply_request_def,
	.close			= rrpc_bc_close,
	.destroy		= rrpc_xprt_free,
	.print_stats		= rrpc_print_stats,
	.enable_swap		= rrpc_enable_swap,
	.disable_swap		= rrpc_disable_swap,
	.inject_disconnect	= rrpc_bc_close,
};

static struct rpc_xprt *rrpc_bc_setup_xprt(struct xprt_create *args);

static struct xprt_class rrpc_bc_class = {
	.list	= LIST_HEAD_INIT(rrpc_bc_class.list),
	.name	= "rsock backchannel",
	.owner	= THIS_MODULE,
	.ident	= RRPC_TRANSPORT | XPRT_TRANSPORT_BC,
	.setup	= rrpc_bc_setup_xprt,
	.netid	= { "" },
};

static struct rpc_xprt *rrpc_bc_setup_xprt(struct xprt_create *args)
{
	struct rpc_xprt *xprt;

	if (args->addrlen > sizeof(xprt->addr))
		return ERR_PTR(-EBADF);
	xprt = xprt_alloc(args->net, sizeof(*xprt), RPC_MIN_SLOT_TABLE,
			  RPC_MIN_SLOT_TABLE);
	if (!xprt)
		return ERR_PTR(-ENOMEM);
	__module_get(THIS_MODULE);
	memcpy(&xprt->addr, args->dstaddr, args->addrlen);
	xprt->addrlen = args->addrlen;
	xprt->ops = &rrpc_bc_ops;
	xprt->xprt_class = &rrpc_bc_class;
	xprt->prot = IPPROTO_TCP;
	xprt->max_payload = RRPC_MAX_PAYLOAD;
	xprt->timeout = &rrpc_bc_timeout;
	if (rrpc_xprt_names(xprt)) {
		rrpc_xprt_free(xprt);
		return ERR_PTR(-ENOMEM);
	}
	/*
	 * It stays for as long as the connection does, which may be used for
	 * calls again: svc_xprt_free() gives this reference back.
	 */
	xprt_get(xprt);
	args->bc_xprt->xpt_bc_xprt = xprt;
	xprt->bc_xprt = args->bc_xprt;
	xprt_set_bound(xprt);
	xprt_set_connected(xprt);
	return xprt;
}

/**
 * rrpc_bc_init() - let nfsd call its clients
 */
int rrpc_bc_init(void)
{
	return xprt_register_transport(&rrpc_bc_class);
}

/**
 * rrpc_bc_exit() - no more
 */
void rrpc_bc_exit(void)
{
	xprt_unregister_transport(&rrpc_bc_class);
}
