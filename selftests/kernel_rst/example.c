// SPDX-License-Identifier: GPL-2.0
/*
 * The code of kernel.rst at work: examples.sh takes place.c from the text, and
 * this has one end of a connection fetch a page from the other. The module is
 * loaded if the page came.
 */

#include "place.c"

#include <linux/in.h>
#include <linux/inet.h>
#include <linux/module.h>
#include <linux/workqueue.h>

static char *addr;
module_param(addr, charp, 0444);
MODULE_PARM_DESC(addr, "IPv4 address of an RDMA device");

struct ends {
	struct socket *lsn;
	struct socket *client;
	struct socket *server;
	struct work_struct work;
	struct page *page;	/* the server's */
	int err;
};

static int connect_ends(struct ends *e)
{
	struct sockaddr_in in = {
		.sin_family = AF_INET,
		.sin_port = htons(7471),
		.sin_addr.s_addr = in_aton(addr),
	};
	struct sockaddr *sa = (struct sockaddr *)&in;

	return new_socket(&init_net, &e->lsn) ?:
	       kernel_bind(e->lsn, sa, sizeof(in)) ?:
	       kernel_listen(e->lsn, 1) ?:
	       new_socket(&init_net, &e->client) ?:
	       kernel_connect(e->client, sa, sizeof(in), 0) ?:
	       kernel_accept(e->lsn, &e->server, 0);
}

static void close_ends(struct ends *e)
{
	if (e->server)
		sock_release(e->server);
	if (e->client)
		sock_release(e->client);
	if (e->lsn)
		sock_release(e->lsn);
}

static void serve_work(struct work_struct *work)
{
	struct ends *e = container_of(work, struct ends, work);

	e->err = serve(e->server, e->page);
}

static int fetch_page(struct ends *e, struct page *page)
{
	int err;

	memset(page_address(e->page), 0xa5, PAGE_SIZE);
	INIT_WORK_ONSTACK(&e->work, serve_work);
	schedule_work(&e->work);
	err = fetch(e->client, page);
	flush_work(&e->work);
	destroy_work_on_stack(&e->work);
	if (err || e->err)
		return err ?: e->err;
	return memchr_inv(page_address(page), 0xa5, PAGE_SIZE) ? -EIO : 0;
}

static int __init example_init(void)
{
	struct page *page = alloc_page(GFP_KERNEL | __GFP_ZERO);
	struct ends e = { .page = alloc_page(GFP_KERNEL) };
	int err = -ENOMEM;

	if (page && e.page)
		err = connect_ends(&e) ?: fetch_page(&e, page);
	close_ends(&e);
	rsock_flush();
	if (page)
		__free_page(page);
	if (e.page)
		__free_page(e.page);
	return err;
}

static void __exit example_exit(void)
{
	rsock_flush();
}

module_init(example_init);
module_exit(example_exit);
MODULE_DESCRIPTION("The code of kernel.rst at work");
MODULE_LICENSE("GPL");
