/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _NET_RSOCK_H
#define _NET_RSOCK_H

/*
 * AF_RSOCK for users in the kernel.
 *
 * The stream. A socket comes from sock_create_kern(net, rsock_family,
 * SOCK_STREAM, 0, &sock) and is used by kernel_bind(), kernel_listen(),
 * kernel_accept(), kernel_connect(), kernel_sendmsg(), kernel_recvmsg(),
 * kernel_sock_shutdown() and sock_release(), as one of TCP is. But it holds its
 * network namespace, as rdma_cm does for it: the exit of pernet operations is
 * too late to release it.
 *
 * Callbacks. sk_data_ready(), sk_write_space(), sk_state_change() and
 * sk_error_report() may be replaced, with sk_user_data, under sk_callback_lock.
 * They are called in softirq or process context WITH A SPINLOCK HELD, which the
 * functions of the socket take, too, and sock_release() waits for. So what they
 * may do is look at sk_state, sk_err, sk_shutdown and sk_stream_is_writeable(),
 * wake up, and queue work: not receive, not send, and none of what is declared
 * here.
 *
 * Sending pages without a copy: MSG_SPLICE_PAGES with an ITER_BVEC of
 * sendmsg(), before Linux 6.5 sendpage(); or, if the pages must not change hands,
 * MSG_ZEROCOPY with msg_ubuf.
 *
 * Memory. What is allocated on a socket's behalf follows sk_allocation, also
 * when that happens in rdma_cm's threads, so that it is to be set before the
 * socket is bound or connected; accepted sockets inherit it.
 *
 * Direct placement: the functions below, whose user-space counterparts are in
 * <linux/rsock.h>. Of a mapping, the peer learns in order with the stream: who
 * sends an offset after rsock_map_bvec() can rely on the peer's rsock_write().
 */

#include <linux/skbuff.h>
#include <linux/types.h>

#include <uapi/linux/rsock.h>

struct bio_vec;
struct rsock_mapping;
struct sock;
struct socket;

/* In place of an offset: choose one that is free */
#define RSOCK_OFFSET_ANY	(-1)

/* AF_RSOCK, unless the module parameter "family" says another number */
extern int rsock_family;

bool sk_is_rsock(const struct sock *sk);
int rsock_sock_set_opt(struct sock *sk, int level, int optname, int val);

/* The side that is written to */

struct rsock_mapping *rsock_map_bvec(struct socket *sock,
				     const struct bio_vec *bv, unsigned int nr,
				     s64 offset);
u64 rsock_mapping_offset(const struct rsock_mapping *map);
void rsock_mapping_set_used(struct rsock_mapping *map);
void rsock_unmap(struct rsock_mapping *map);
void rsock_unmap_async(struct rsock_mapping *map, void (*done)(void *arg),
		       void *arg);
void rsock_flush(void);
int rsock_notify_written(struct socket *sock);
int rsock_recv_written(struct socket *sock, struct rsock_written *written);

/* The side that writes */

/**
 * struct rsock_write - a write that is under way
 * @done: called once, when the pages may be used again. @err is 0 if all of it
 *	is in the peer's memory; -ENXIO if the peer unmapped what it was for
 *	before all was sent; else why the connection ended, and it is not known
 *	how much arrived. Any context but hardirq, no lock held; @w may be freed
 *	or used again in it
 * @ubuf: private
 * @err: private
 */
struct rsock_write {
	void (*done)(struct rsock_write *w, int err);
	struct ubuf_info ubuf;
	int err;
};

int rsock_write(struct socket *sock, u64 offset, const struct bio_vec *bv,
		unsigned int nr, struct rsock_write *w, gfp_t gfp);
bool rsock_peer_has_mapped(struct socket *sock, u64 offset, u64 len);

#endif /* _NET_RSOCK_H */
