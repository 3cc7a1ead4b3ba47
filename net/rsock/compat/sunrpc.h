/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _RSOCK_COMPAT_SUNRPC_H
#define _RSOCK_COMPAT_SUNRPC_H

/* What older kernels lack of sunrpc; force-included before rsock_rpc's files */

#include <linux/sunrpc/svc.h>
#include <linux/sunrpc/svc_xprt.h>
#include <linux/sunrpc/xprt.h>
#include <linux/version.h>
#include <net/sock.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 12, 0)
/* the core asked for it, after each request */
#define RRPC_XPO_SECURE_PORT	.xpo_secure_port = rrpc_secure_port,
#else
#define RRPC_XPO_SECURE_PORT
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 7, 0)
/* there was a list with a lock and a queue to sleep in */
static inline void rrpc_bc_enqueue(struct svc_serv *serv, struct rpc_rqst *rqst)
{
	spin_lock(&serv->sv_cb_lock);
	list_add(&rqst->rq_bc_list, &serv->sv_cb_list);
	spin_unlock(&serv->sv_cb_lock);
	wake_up(&serv->sv_cb_waitq);
}
#else
static inline void rrpc_bc_enqueue(struct svc_serv *serv, struct rpc_rqst *rqst)
{
	lwq_enqueue(&rqst->rq_bc_list, &serv->sv_cb_list);
	svc_pool_wake_idle_thread(&serv->sv_pools[0]);
}
#endif

#endif /* _RSOCK_COMPAT_SUNRPC_H */
