// SPDX-License-Identifier: GPL-2.0
/*
 * Loading and unloading. Transports in use, of both ends, hold the module.
 */

#include <linux/module.h>
#include <linux/net.h>
#include <linux/rcupdate.h>

#include "rpc.h"

static bool client = true;
module_param(client, bool, 0444);
MODULE_PARM_DESC(client, "Take proto=rdma of NFS mounts (default Y)");

static int __init rrpc_init(void)
{
	int err;

	err = rrpc_bc_init();
	if (err)
		return err;
	err = rrpc_svc_init();
	if (err)
		goto exit_bc;
	if (!client)
		return 0;
	err = rrpc_xprt_init();
	if (err) {
		pr_err("rsock_rpc: proto=rdma is taken by rpcrdma: unload that, or load this with client=N\n");
		goto exit_svc;
	}
	return 0;

exit_svc:
	rrpc_svc_exit();
exit_bc:
	rrpc_bc_exit();
	return err;
}

static void __exit rrpc_exit(void)
{
	if (client)
		rrpc_xprt_exit();
	rrpc_svc_exit();
	rrpc_bc_exit();
	/* Callbacks may not have returned yet */
	rsock_flush();
	synchronize_rcu();
}

module_init(rrpc_init);
module_exit(rrpc_exit);

MODULE_DESCRIPTION("sunrpc over AF_RSOCK");
MODULE_LICENSE("GPL");
MODULE_VERSION("0.1.0");
/* What nfsd asks for */
MODULE_ALIAS("svcrsock");
MODULE_SOFTDEP("pre: rsock");
