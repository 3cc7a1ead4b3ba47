/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _RSOCK_RPC_H
#define _RSOCK_RPC_H

/*
 * sunrpc over AF_RSOCK: record-marked messages on a stream, as over TCP.
 *
 *	sock	what both ends need of a socket
 *	xprt	the client's transport: connecting, sending
 *	rx	the client's receiver: replies, and the server's calls
 *	svc	the server's transport
 *	svc_bc	calls of the server to its client, on the client's connection
 */

#include <linux/sunrpc/clnt.h>
#include <linux/sunrpc/svc_xprt.h>
#include <linux/sunrpc/xprt.h>
#include <linux/uio.h>

/* Of our server, and (with XPRT_TRANSPORT_BC) of its calls to clients */
#define RRPC_TRANSPORT		22

#define RRPC_MAX_PAYLOAD	RPCSVC_MAXPAYLOAD_TCP
/* Payload, and what is around it */
#define RRPC_MAX_RECORD		(RRPC_MAX_PAYLOAD + 64 * 1024)

/* sock.c */

enum rrpc_event {
	RRPC_DATA,	/* something to read, or to accept */
	RRPC_STATE,	/* the connection is made, or ends */
	RRPC_SPACE,	/* room to send */
};

/**
 * struct rrpc_sock - a socket and who wants to know of its events
 * @sock: NULL if there is none
 * @event: called in any context, with locks of AF_RSOCK held: it must not call
 *	the socket, only look at it. Not called any more after rrpc_sock_detach()
 * @data_ready: the socket's own callbacks, which ours call
 * @state_change: likewise
 * @write_space: likewise
 * @error_report: likewise
 */
struct rrpc_sock {
	struct socket *sock;
	void (*event)(struct rrpc_sock *s, enum rrpc_event event);
	void (*data_ready)(struct sock *sk);
	void (*state_change)(struct sock *sk);
	void (*write_space)(struct sock *sk);
	void (*error_report)(struct sock *sk);
};

/* Pages of a record in one call of the socket */
#define RRPC_BVECS	16

/**
 * struct rrpc_piece - a part of a record, for one call of the socket
 * @iter: the part
 * @vec: of its head or tail
 * @bvec: of its pages
 */
struct rrpc_piece {
	struct iov_iter iter;
	struct kvec vec[2];
	struct bio_vec bvec[RRPC_BVECS];
};

int rrpc_sock_create(struct rrpc_sock *s, struct net *net);
int rrpc_sock_accept(struct rrpc_sock *s, struct rrpc_sock *listener);
void rrpc_sock_attach(struct rrpc_sock *s);
void rrpc_sock_detach(struct rrpc_sock *s);
void rrpc_sock_release(struct rrpc_sock *s);
int rrpc_sock_setopt(struct rrpc_sock *s, int level, int name, int value);
bool rrpc_sock_is_connected(const struct rrpc_sock *s);
int rrpc_piece_of(struct rrpc_piece *p, unsigned int dir, struct xdr_buf *xdr,
		  size_t pos, size_t max);
ssize_t rrpc_send(struct rrpc_sock *s, struct xdr_buf *xdr, size_t skip,
		  int flags);
ssize_t rrpc_recv(struct rrpc_sock *s, const struct iov_iter *to);

/* xprt.c */

/**
 * struct rrpc_head - how a record begins
 * @marker: length of its first fragment, and whether that is the last
 * @begin: what the record itself begins with
 * @begin.xid: of the call or reply
 * @begin.dir: which of them it is
 */
struct rrpc_head {
	__be32 marker;
	struct {
		__be32 xid;
		__be32 dir;
	} begin;
};

/**
 * struct rrpc_rx - the record that is being received
 * @head: its beginning; of later fragments, only the marker
 * @have: bytes of @head
 * @left: bytes of the fragment that are still to come
 * @copied: bytes of the record so far, @head.begin among them
 * @body: @head is complete, what comes belongs to the record
 * @started: @head.begin was copied to where the record goes
 * @skip: nobody wants the rest
 * @call: if it is a call of the server's
 */
struct rrpc_rx {
	struct rrpc_head head;
	u32 have;
	u32 left;
	u32 copied;
	bool body;
	bool started;
	bool skip;
	struct rpc_rqst *call;
};

/**
 * struct rrpc_xprt - the client's transport
 * @xprt: must be first, as it frees itself
 * @s: the socket. Changes with XPRT_LOCKED and @recv_mutex held
 * @recv_mutex: held by who receives, and by who looks at the socket without
 *	XPRT_LOCKED
 * @rx: what is being received. @recv_mutex
 * @sent: bytes of the record that is being sent. XPRT_LOCKED
 * @port: ours, to be taken again for the sake of the server's reply cache, or
 *	0. XPRT_LOCKED
 * @src: our address, or any
 * @events: bits RRPC_EV_*, set by the socket's events, for @event_work
 * @connect_work: owns XPRT_LOCKED from rrpc_connect() on
 * @recv_work: receives
 * @event_work: tells sunrpc what events mean, which takes locks that the
 *	socket's callbacks must not
 * @nr_calls: calls of the server's in our hands or the callback service's
 * @bc_slots: what rrpc_bc_setup() was told of. @recv_mutex
 * @timeout: if it is not the default
 */
struct rrpc_xprt {
	struct rpc_xprt xprt;
	struct rrpc_sock s;
	struct mutex recv_mutex;	/* see above */
	struct rrpc_rx rx;
	u32 sent;
	unsigned short port;
	struct sockaddr_storage src;
	unsigned long events;
	struct delayed_work connect_work;
	struct work_struct recv_work;
	struct work_struct event_work;
	atomic_t nr_calls;
	unsigned int bc_slots;
	struct rpc_timeout timeout;
};

static inline struct rrpc_xprt *rrpc_xprt(struct rpc_xprt *xprt)
{
	return container_of(xprt, struct rrpc_xprt, xprt);
}

int rrpc_xprt_init(void);
void rrpc_xprt_exit(void);
int rrpc_xprt_names(struct rpc_xprt *xprt);
void rrpc_xprt_free(struct rpc_xprt *xprt);
void rrpc_print_stats(struct rpc_xprt *xprt, struct seq_file *seq);
int rrpc_enable_swap(struct rpc_xprt *xprt);
void rrpc_disable_swap(struct rpc_xprt *xprt);

/* rx.c */
int rrpc_receive(struct rrpc_xprt *t);
void rrpc_rx_reset(struct rrpc_xprt *t);
int rrpc_bc_setup(struct rpc_xprt *xprt, unsigned int slots);
void rrpc_bc_destroy(struct rpc_xprt *xprt, unsigned int slots);
size_t rrpc_bc_maxpayload(struct rpc_xprt *xprt);
unsigned int rrpc_bc_num_slots(struct rpc_xprt *xprt);
void rrpc_bc_free_rqst(struct rpc_rqst *rqst);

/* svc.c */

/**
 * struct rrpc_svc - the server's transport: a listener or a connection
 * @xprt: sunrpc's part. XPT_BUSY guards what is below, xpt_mutex sending
 * @s: the socket
 * @marker: of the fragment that is being received
 * @have: bytes of @marker
 * @left: bytes of the fragment that are still to come
 * @len: bytes of the record so far
 * @pages: what has them, while no thread receives
 */
struct rrpc_svc {
	struct svc_xprt xprt;
	struct rrpc_sock s;
	__be32 marker;
	u32 have;
	u32 left;
	u32 len;
	struct page *pages[RPCSVC_MAXPAGES];
};

static inline struct rrpc_svc *rrpc_svc(struct svc_xprt *xprt)
{
	return container_of(xprt, struct rrpc_svc, xprt);
}

int rrpc_svc_init(void);
void rrpc_svc_exit(void);
int rrpc_svc_send(struct rrpc_svc *svc, struct xdr_buf *xdr, int flags);

/* svc_bc.c */
int rrpc_bc_init(void);
void rrpc_bc_exit(void);
void rrpc_bc_receive_reply(struct svc_xprt *xprt, struct svc_rqst *rqstp);

#endif /* _RSOCK_RPC_H */
