/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _RSOCK_RPC_H
#define _RSOCK_RPC_H

/*
 * sunrpc over AF_RSOCK: record-marked messages on a stream, as over TCP.
 *
 *	sock	what both ends need of a socket
 *	place	direct placement, what both ends need of it
 *	xprt	the client's transport: connecting, sending
 *	offer	the client's pages that the server may place a reply in
 *	window	how the client places the data of its calls
 *	rx	the client's receiver: replies, and the server's calls
 *	svc	the server's transport
 *	svc_place  how it places replies
 *	svc_window  its memory that clients may place the data of calls in
 *	svc_bc	calls of the server to its client, on the client's connection
 */

#include <linux/bits.h>
#include <linux/sizes.h>
#include <linux/spinlock.h>
#include <linux/sunrpc/clnt.h>
#include <linux/sunrpc/svc_xprt.h>
#include <linux/sunrpc/xprt.h>
#include <linux/uio.h>
#include <linux/wait.h>
#include <linux/xarray.h>

#include <net/rsock.h>

/* Of our server, and (with XPRT_TRANSPORT_BC) of its calls to clients */
#define RRPC_TRANSPORT		22

#define RRPC_MAX_PAYLOAD	RPCSVC_MAXPAYLOAD_TCP
/* Payload, and what is around it */
#define RRPC_MAX_RECORD		(RRPC_MAX_PAYLOAD + 64 * 1024)

/*
 * The wire. See Documentation/nfs.rst, "On the wire".
 */

/* Of a record's first marker, which RFC 5531 has for its length: see there */
#define RRPC_PLACED		BIT(30)
#define RRPC_OFFER		BIT(29)

/* The xid of a reply without a body, by which one end greets the other */
#define RRPC_HELLO		0x72736f63

/* Offsets of the server's windows are multiples of it, and none is larger */
#define RRPC_WINDOW		((u64)SZ_1M)
/* A call whose data is placed has so many bytes besides, at most */
#define RRPC_PLACED_REST	4096U

/**
 * struct rrpc_wire_chunk - struct rrpc_chunk behind a marker
 * @offset: of it
 * @pos: of it
 * @len: of it
 */
struct rrpc_wire_chunk {
	__be64 offset;
	__be32 pos;
	__be32 len;
} __packed;

/**
 * struct rrpc_begin - how a message begins
 * @xid: of the call or reply
 * @dir: which of them it is
 */
struct rrpc_begin {
	__be32 xid;
	__be32 dir;
} __packed;

/**
 * struct rrpc_prefix - what is sent before a message
 * @marker: of its only fragment
 * @chunk: with RRPC_PLACED what is, then with RRPC_OFFER what may be
 */
struct rrpc_prefix {
	__be32 marker;
	struct rrpc_wire_chunk chunk[2];
} __packed;

/* place.c */

/* To place is an option: what that takes is not worth to wait for */
#define RRPC_GFP	(GFP_NOFS | __GFP_NORETRY | __GFP_NOWARN)

/**
 * struct rrpc_chunk - a part of a message that is or may be placed
 * @offset: of its first byte, in the mappings of who receives it
 * @pos: of its first byte, in the message
 * @len: bytes, or 0 if there is no such part
 */
struct rrpc_chunk {
	u64 offset;
	u32 pos;
	u32 len;
};

/**
 * struct rrpc_msg - a message on its way out
 * @xdr: all of it
 * @placed: what of it was placed, and is not sent with the rest
 * @offer: what of the reply to it may be
 */
struct rrpc_msg {
	struct xdr_buf *xdr;
	struct rrpc_chunk placed;
	struct rrpc_chunk offer;
};

/**
 * struct rrpc_placer - one who places, and how much of it is on its way
 * @lock: of @bytes
 * @list: parts of messages. @lock
 * @bytes: of these
 * @wait: where to wait for them to become less
 * @less: called when they have, and were @was bytes before, with @lock held; with
 *	an error if what was placed is nowhere, on the connection that is
 */
struct rrpc_placer {
	spinlock_t lock;	/* see above */
	struct list_head list;
	u32 bytes;
	wait_queue_head_t wait;
	void (*less)(struct rrpc_placer *p, u32 was, int err);
};

struct rrpc_sock;

extern unsigned int rrpc_place;

bool rrpc_is_worth_placing(size_t len);
void rrpc_chunk_decode(struct rrpc_chunk *c, const struct rrpc_wire_chunk *w);
size_t rrpc_prefix_len(const struct rrpc_msg *m);
size_t rrpc_record_len(const struct rrpc_msg *m);
void rrpc_prefix(struct rrpc_prefix *prefix, const struct rrpc_msg *m);
bool rrpc_is_hello(const struct rrpc_begin *begin, size_t len);
void rrpc_placer_init(struct rrpc_placer *p,
		      void (*less)(struct rrpc_placer *p, u32 was, int err));
bool rrpc_placer_is_busy(struct rrpc_placer *p, const struct xdr_buf *xdr);
bool rrpc_placer_may_succeed(struct rrpc_placer *p, const struct xdr_buf *xdr);
bool rrpc_placer_forget(struct rrpc_placer *p);
void rrpc_placer_wait(struct rrpc_placer *p);
struct bio_vec *rrpc_bvecs(struct xdr_buf *xdr, size_t pos, size_t len,
			   unsigned int *nr);
int rrpc_place_part(struct rrpc_placer *p, struct rrpc_sock *s,
		    struct xdr_buf *xdr, const struct rrpc_chunk *c);

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
 * @prefix: what is before its head
 * @vec: of that and of its head or tail
 * @bvec: of its pages
 */
struct rrpc_piece {
	struct iov_iter iter;
	struct rrpc_prefix prefix;
	struct kvec vec[2];
	struct bio_vec bvec[RRPC_BVECS];
};

int rrpc_sock_create(struct rrpc_sock *s, struct net *net);
int rrpc_sock_accept(struct rrpc_sock *s, struct rrpc_sock *listener);
void rrpc_sock_attach(struct rrpc_sock *s);
void rrpc_sock_detach(struct rrpc_sock *s);
void rrpc_sock_release(struct rrpc_sock *s);
bool rrpc_sock_is_connected(const struct rrpc_sock *s);
int rrpc_piece_of(struct rrpc_piece *p, unsigned int dir, struct xdr_buf *xdr,
		  size_t pos, size_t max);
ssize_t rrpc_send(struct rrpc_sock *s, const struct rrpc_msg *m, size_t skip,
		  int flags);
int rrpc_send_hello(struct rrpc_sock *s);
ssize_t rrpc_recv(struct rrpc_sock *s, const struct iov_iter *to);
int rrpc_recv_bytes(struct rrpc_sock *s, void *buf, u32 *have, u32 want);
struct rsock_mapping *rrpc_map(struct rrpc_sock *s, struct xdr_buf *xdr,
			       const struct rrpc_chunk *c);
void rrpc_unmap(struct rsock_mapping *map, void (*done)(void *arg), void *arg);
int rrpc_write(struct rrpc_sock *s, struct xdr_buf *xdr,
	       const struct rrpc_chunk *c, struct rsock_write *w);

/* xprt.c */

/**
 * struct rrpc_head - how a record begins
 * @marker: length of its first fragment, and whether that is the last
 * @begin: what the record itself begins with
 * @placed: if the marker tells of it, what was placed, and then the beginning
 */
struct rrpc_head {
	__be32 marker;
	union {
		struct rrpc_begin begin;
		struct {
			struct rrpc_wire_chunk chunk;
			struct rrpc_begin begin;
		} __packed placed;
	};
} __packed;

/**
 * struct rrpc_rx - the record that is being received
 * @head: its beginning; of later fragments, only the marker
 * @begin: from there
 * @placed: what was placed of it, until @copied has come there
 * @have: bytes of @head
 * @left: bytes of the fragment that are still to come
 * @copied: bytes of the message so far, @begin and those placed among them
 * @body: @head is complete, what comes belongs to the record
 * @started: @begin was copied to where the record goes
 * @skip: nobody wants the rest
 * @call: if it is a call of the server's
 */
struct rrpc_rx {
	struct rrpc_head head;
	struct rrpc_begin begin;
	struct rrpc_chunk placed;
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
 * @recv_mutex: held by who receives, and by who looks at the socket, or has the
 *	connection ended, without XPRT_LOCKED
 * @rx: what is being received. @recv_mutex
 * @sent: bytes of the record that is being sent. XPRT_LOCKED
 * @offer: what it offers. XPRT_LOCKED
 * @places: the server has greeted us. Set with @recv_mutex held, cleared with
 *	XPRT_LOCKED, too
 * @offers: struct rrpc_offer of requests, by xid. queue_lock
 * @next_offset: for the next of them: each has its own for ever, so that none
 *	gets what was meant for another. XPRT_LOCKED
 * @nr_placed: bytes that the server has placed. @recv_mutex
 * @placer: what we place
 * @next_window: offset of the server's next window for it. XPRT_LOCKED
 * @placed: what was placed of the record that is being sent. XPRT_LOCKED
 * @placed_xid: of that record. XPRT_LOCKED
 * @nr_wrote: bytes of calls that we have placed. XPRT_LOCKED
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
	struct rrpc_chunk offer;
	bool places;
	struct xarray offers;
	u64 next_offset;
	u64 nr_placed;
	struct rrpc_placer placer;
	u64 next_window;
	struct rrpc_chunk placed;
	__be32 placed_xid;
	u64 nr_wrote;
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

/* offer.c */

/**
 * enum rrpc_reply - what to do with a reply
 * @RRPC_WANTED: receive it
 * @RRPC_UNWANTED: skip it
 * @RRPC_FORGED: end the connection
 */
enum rrpc_reply {
	RRPC_WANTED,
	RRPC_UNWANTED,
	RRPC_FORGED,
};

void rrpc_offer_pages(struct rrpc_xprt *t, struct rpc_rqst *req);
void rrpc_offer_withdraw(struct rrpc_xprt *t, struct rpc_rqst *req);
bool rrpc_offers_end(struct rrpc_xprt *t);
enum rrpc_reply rrpc_offer_check(struct rrpc_xprt *t, struct rpc_rqst *req,
				 const struct rrpc_chunk *placed);
bool rrpc_offer_answered(struct rrpc_xprt *t, struct rpc_rqst *req,
			 u32 copied);

/* window.c */
void rrpc_window_use(struct rrpc_xprt *t, struct rpc_rqst *req);
void rrpc_window_used(struct rrpc_xprt *t);
void rrpc_window_withdraw(struct rrpc_xprt *t, struct rpc_rqst *req);

/* rx.c */
int rrpc_receive(struct rrpc_xprt *t);
void rrpc_rx_reset(struct rrpc_xprt *t);
int rrpc_bc_setup(struct rpc_xprt *xprt, unsigned int slots);
void rrpc_bc_destroy(struct rpc_xprt *xprt, unsigned int slots);
size_t rrpc_bc_maxpayload(struct rpc_xprt *xprt);
unsigned int rrpc_bc_num_slots(struct rpc_xprt *xprt);
void rrpc_bc_free_rqst(struct rpc_rqst *rqst);

/* svc.c */

/* Of a connection, mapped at the same time */
#define RRPC_WINDOWS		8U

/**
 * struct rrpc_window - memory that the client may place the data of a call in
 * @map: the mapping, or NULL
 * @nr: pages
 * @pages: NULL where calls have taken them
 */
struct rrpc_window {
	struct rsock_mapping *map;
	unsigned int nr;
	struct page *pages[];
};

/**
 * struct rrpc_call - what is kept of a call until it is answered
 * @offer: what of the reply may be placed
 * @head: what came by the stream of a call whose data was placed, or NULL
 */
struct rrpc_call {
	struct rrpc_chunk offer;
	struct page *head;
};

/**
 * struct rrpc_svc - the server's transport: a listener or a connection
 * @xprt: sunrpc's part. XPT_BUSY guards what is below, xpt_mutex sending
 * @s: the socket
 * @prefix: of the fragment that is being received
 * @have: bytes of @prefix
 * @left: bytes of the fragment that are still to come
 * @len: bytes of the record so far
 * @body: @prefix is complete, what comes belongs to the record
 * @claim: what of the record was placed
 * @offer: what of the reply may be placed
 * @places: the client has greeted us
 * @placer: what we place
 * @window_work: maps windows
 * @window_lock: of @first_window, @next_window and @max_windows
 * @first_window: offset of the first that is mapped. XPT_BUSY, too
 * @next_window: offset of the next to be mapped. @window_work
 * @max_windows: how many it may have
 * @window: by offset, wrapping around. XPT_BUSY for those from the first to the
 *	next, @window_work for the others
 * @pages: what has the record, while no thread receives
 */
struct rrpc_svc {
	struct svc_xprt xprt;
	struct rrpc_sock s;
	struct rrpc_prefix prefix;
	u32 have;
	u32 left;
	u32 len;
	bool body;
	struct rrpc_chunk claim;
	struct rrpc_chunk offer;
	bool places;
	struct rrpc_placer placer;
	struct work_struct window_work;
	spinlock_t window_lock;	/* see above */
	u64 first_window;
	u64 next_window;
	unsigned int max_windows;
	struct rrpc_window *window[RRPC_WINDOWS];
	struct page *pages[RPCSVC_MAXPAGES];
};

static inline struct rrpc_svc *rrpc_svc(struct svc_xprt *xprt)
{
	return container_of(xprt, struct rrpc_svc, xprt);
}

int rrpc_svc_init(void);
void rrpc_svc_exit(void);
int rrpc_svc_send(struct rrpc_svc *svc, const struct rrpc_msg *m, int flags);

/* svc_place.c */
bool rrpc_svc_may_place(struct rrpc_svc *svc);
int rrpc_svc_place(struct rrpc_svc *svc, const struct rrpc_chunk *offer,
		   struct rrpc_msg *m);
void rrpc_svc_placed(struct rrpc_placer *p, u32 was, int err);

/* svc_window.c */
void rrpc_windows_init(struct rrpc_svc *svc);
void rrpc_windows_want(struct rrpc_svc *svc);
void rrpc_windows_end(struct rrpc_svc *svc);
int rrpc_window_check(struct rrpc_svc *svc, const struct rrpc_chunk *c, u32 len);
bool rrpc_window_fits(const struct rrpc_chunk *c, const void *call, u32 len);
void rrpc_window_claim(struct rrpc_svc *svc, const struct rrpc_chunk *c,
		       struct page **pages);

/* svc_bc.c */
int rrpc_bc_init(void);
void rrpc_bc_exit(void);
void rrpc_bc_receive_reply(struct svc_xprt *xprt, struct svc_rqst *rqstp);

#endif /* _RSOCK_RPC_H */
