// SPDX-License-Identifier: GPL-2.0
/*
 * Loading and unloading. Layers come up from below and go in reverse.
 *
 * The module cannot go while there is a socket, open or lingering: each has a
 * reference to it. What may still run then is the tail of the teardown of the
 * last ones, which destroy_workqueue() waits for.
 */

#include <linux/module.h>

#include <linux/rsock.h>

#include "dev.h"
#include "ep.h"
#include "mapping.h"
#include "pernet.h"
#include "rsock.h"
#include "tx.h"

static int __init rsock_init(void)
{
	int err;

	rsock_wq = alloc_workqueue("rsock", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	if (!rsock_wq)
		return -ENOMEM;
	rsock_iw_wq = alloc_workqueue("rsock_iw", WQ_UNBOUND, 0);
	err = rsock_iw_wq ? rsock_mapping_init() : -ENOMEM;
	if (err)
		goto destroy_wq;
	err = rsock_tx_init();
	if (err)
		goto exit_mapping;
	err = rsock_pernet_init();
	if (err)
		goto exit_tx;
	err = rsock_dev_init();
	if (err)
		goto exit_pernet;
	err = rsock_af_init();
	if (err)
		goto exit_dev;
	err = rsock_inet_init();
	if (err)
		goto exit_af;
	return 0;

exit_af:
	rsock_af_exit();
exit_dev:
	rsock_dev_exit();
exit_pernet:
	rsock_pernet_exit();
exit_tx:
	rsock_tx_exit();
exit_mapping:
	rsock_mapping_exit();
destroy_wq:
	if (rsock_iw_wq)
		destroy_workqueue(rsock_iw_wq);
	destroy_workqueue(rsock_wq);
	return err;
}

static void __exit rsock_exit(void)
{
	rsock_inet_exit();
	rsock_af_exit();
	rsock_dev_exit();
	rsock_mapping_exit();
	destroy_workqueue(rsock_iw_wq);
	destroy_workqueue(rsock_wq);
	rsock_pernet_exit();
	rsock_tx_exit();
}

module_init(rsock_init);
module_exit(rsock_exit);

MODULE_DESCRIPTION("AF_RSOCK: stream sockets over RDMA");
MODULE_LICENSE("GPL");
MODULE_VERSION("0.1.0");
MODULE_ALIAS_NETPROTO(AF_RSOCK);
