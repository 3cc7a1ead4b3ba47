/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _RSOCK_EP_H
#define _RSOCK_EP_H

/*
 * struct rsock_ep: one connection's verbs side, or a listener's cm_id.
 *
 * Life. Allocated by the socket (bind, connect, listen) or by a connection
 * request; reference-counted. Its owner (struct sock *sk) is held from
 * rsock_ep_alloc() until its teardown has reported the end of the connection,
 * and holds the endpoint in turn; that cycle is always broken, since every way
 * that a connection can end leads to rsock_ep_kill():
 *
 *	close()			-> DISCONNECT acknowledged, or fin_timeout
 *	peer's DISCONNECT	-> at once
 *	failed work request, protocol fault, CM event, device removal -> at once
 *
 * rsock_ep_kill() may be called from any context; what must sleep is done by
 * rsock_ep_work(). After it the endpoint is a passive container: state DEAD,
 * no verbs resources, but what arrived can still be read from its ring.
 *
 * Locks, outermost first:
 *	lock_sock()		the socket's, see rsock.h
 *	id_mutex		keeps the cm_id from being destroyed while
 *				bind(), listen() or connect() are inside
 *				rdma_cm; handlers do not take it
 *	handler mutex		rdma_cm's, per cm_id: held in event handlers, by
 *				rdma_lock_handler(), and within rdma_connect()
 *				and rdma_destroy_id(). NEVER taken, directly or
 *				by these, under lock_sock(), except on a cm_id
 *				that cannot have events yet. Handlers do not
 *				take lock_sock().
 *	rsock_devs_lock		dev.c
 *	ep->lock		softirq safe; the hot path's only lock
 *	accept_lock		rsock.h
 *
 * Unless noted otherwise ep->lock guards each field below it.
 */

#include "buf.h"
#include "iomap.h"
#include "iwarp.h"
#include "mib.h"
#include "ring.h"
#include "target.h"
#include "win.h"

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>

struct mem_cgroup;
struct rsock_dev;
struct rsock_ep;
struct rsock_notes;
struct sock;

/*
 * Where the peer sees our memory: tables at this address, the first ring behind
 * them. Each endpoint has a protection domain of its own, so that
 * they may all use the same; the second ring's region has it, too.
 */
#define RSOCK_IOVA		0x10000

/*
 * States. Which may follow which is ep_next[] in ep.c.
 *
 * active:  IDLE -> RESOLVE -> CONNECT -> REGISTER -> ACCEPT -> OPEN
 * active, iWARP: IDLE -> RESOLVE -> REGISTER -> CONNECT -> OPEN
 * passive: IDLE -> REGISTER -> ACCEPT -> OPEN
 * listener: IDLE -> LISTEN
 * LISTEN and RESOLVE go back to IDLE if rdma_cm refuses
 * all end: any -> DYING -> DEAD
 */
enum rsock_ep_state {
	RSOCK_EP_IDLE,		/* cm_id exists, possibly bound */
	RSOCK_EP_LISTEN,
	RSOCK_EP_RESOLVE,	/* address, then route */
	RSOCK_EP_CONNECT,	/* REQ sent */
	RSOCK_EP_REGISTER,	/* memory being registered; QP in RTS, if IB */
	RSOCK_EP_ACCEPT,	/* REP sent, waiting for RTU; or sending RTU */
	RSOCK_EP_OPEN,
	RSOCK_EP_DYING,		/* rsock_ep_kill() was called */
	RSOCK_EP_DEAD,		/* no verbs resources left */
	__RSOCK_EP_MAX
};

/**
 * struct rsock_ep_ops - what an endpoint tells its owner
 * @resolved: the own address and port are known. No lock held, CM handler
 * @connected: state is OPEN now. ep->lock is not held; any context but hardirq
 * @readable: bytes or the end of the stream arrived; once for several messages
 *	that follow each other. ep->lock held, softirq
 * @writable: room to send. ep->lock held, softirq
 * @noted: a note arrived. ep->lock held, softirq
 * @tx_done: all that was queued including the FIN is acknowledged. ep->lock
 *	held, softirq
 * @closed: the connection is gone, exactly once and as the last call; @err is
 *	a positive errno or 0 if the peer closed in good order. Process context
 */
struct rsock_ep_ops {
	void (*resolved)(struct rsock_ep *ep);
	void (*connected)(struct rsock_ep *ep);
	void (*readable)(struct rsock_ep *ep);
	void (*writable)(struct rsock_ep *ep);
	void (*noted)(struct rsock_ep *ep);
	void (*tx_done)(struct rsock_ep *ep);
	void (*closed)(struct rsock_ep *ep, int err);
};

/*
 * Send queue. Slots are counted, not managed: posted - done of them are in
 * use. Only some work requests are signalled; completions of an RC queue come
 * in order, so that a completion stands for all posted before it. marks[] is a
 * FIFO of the signalled ones. A message takes per_msg slots at most, and usable
 * is depth, or 0 as long as nothing may be sent.
 *
 * reg_alone: the device executes a registration once more that is behind a work
 * request which it repeats, and fails. Those who have one to post hold the queue
 * until all is done that can be repeated: up to wired.
 */
#define RSOCK_SQ_CTRL		8	/* slots (and bounce buffers) for control */
#define RSOCK_SQ_EXTRA		2	/* REG_MR, and one for ib_drain_qp() */
#define RSOCK_CTRL_BUF		32	/* bytes of a control bounce buffer */

struct rsock_sq {
	u32 posted;
	u32 done;
	u32 ctrl_posted;
	u32 ctrl_done;
	u32 unsig_bytes;
	u16 unsig;
	u16 depth;
	u16 usable;
	u16 held;
	u32 wired;
	u8 per_msg;
	bool reg_alone;
	struct rsock_sq_mark {
		u32 seq;
		u32 ctrl;
	} *marks;
	u16 mark_head;
	u16 nr_marks;
};

enum rsock_fin {
	RSOCK_FIN_NONE,
	RSOCK_FIN_SHUTDOWN,	/* we send no more, but go on receiving */
	RSOCK_FIN_DISCONNECT,	/* both directions */
};

struct rsock_tx {
	struct rsock_txwin win;
	struct list_head unsent;	/* struct rsock_txmsg */
	struct list_head sent;		/* posted, not known complete */
	struct list_head lost;		/* given up, to be freed by the work */
	u32 queued;			/* bytes in both */
	u32 charged;			/* what they take of the send buffer */
	u32 inplace;			/* messages in both whose pages somebody
					 * waits for
					 */
	bool gathered;			/* the next message waited for others */
	enum rsock_fin fin;		/* to be sent once unsent is empty */
	enum rsock_fin fin_posted;
	u32 fin_seq;			/* sq.posted after it */
	u32 note;			/* entry for the next note */
	u64 bytes_sent;			/* posted so far */
	u64 bytes_acked;		/* known to be at the peer */
};

/* Fragments of a message: scatter-gather entries of a work request */
#define RSOCK_TX_FRAGS		16

/*
 * The least that a device must offer: work requests in each queue of a QP, and
 * pages in a fast-registered memory region (the tables' and four of a ring).
 */
#define RSOCK_MIN_WR		64
#define RSOCK_MIN_MR_PAGES	6
/* The most that is asked of one, whatever the socket and net.rsock.max_queue say */
#define RSOCK_MAX_WR		4096
#define RSOCK_MAX_RING		(16 * 1024 * 1024)

/*
 * Messages in the queues of a socket that asks for nothing else. With what ep.c adds
 * these are less than 32 and 64 work requests, which drivers round up to.
 */
#define RSOCK_SQSIZE		20
#define RSOCK_RQSIZE		44
/* Receives beyond the credits we grant, for the peer's control messages */
#define RSOCK_RQ_SLACK		16
/* Receives are reposted so many at a time */
#define RSOCK_RQ_BATCH		16

static inline unsigned int rsock_rq_slack(bool iwarp)
{
	return RSOCK_RQ_SLACK + (iwarp ? RSOCK_IW_SLACK : 0);
}

struct rsock_rx {
	struct rsock_rxwin win;
	u16 depth;
	u16 posted;
	bool eof;			/* the peer sends no more */
	bool disconnected;		/* and receives no more */
	bool faulty;			/* broke the protocol: hear no more */
	bool more;			/* another message is to wake the reader */
	u16 nr_notes;			/* unread */
	u32 msgs;			/* arrived so far */
	u64 bytes;			/* of the stream, arrived so far */
	/* Slots of our iomap table for which REVOKED is to be sent */
	DECLARE_BITMAP(acks, RSOCK_IOMAP_MAX);
	u16 nr_acks;
};

/**
 * struct rsock_watch - what watch.c saw when it looked last
 * @work: look again; holds a reference while queued
 * @heard: messages from the peer and acknowledgements, by then
 * @heard_at: jiffies when that was new
 * @probes: sent since
 * @probed_at: jiffies of the last of them
 * @stuck: something was queued
 * @moved: bytes posted and acknowledged by then
 * @moved_at: jiffies when that was new
 * @persist: what is queued could not be posted, and the peer is asked whether
 *	it is still there, so many jiffies after @asked_at. 0: it could
 * @asked: bytes posted and acknowledged by then
 * @asked_at: jiffies when @persist began, or the last time it was asked
 * @more: a message has said that another one follows, whose coming is watched
 * @more_at: jiffies when that began
 */
struct rsock_watch {
	struct delayed_work work;
	u32 heard;
	unsigned long heard_at;
	u32 probes;
	unsigned long probed_at;
	bool stuck;
	u64 moved;
	unsigned long moved_at;
	unsigned long persist;
	u64 asked;
	unsigned long asked_at;
	bool more;
	unsigned long more_at;
};

/**
 * struct rsock_ep_cfg - sizes, as the socket asks for them; clamped when the
 *	device is known
 * @sq: send queue depth, work requests
 * @rq: credits to grant, messages
 * @ring: bytes of the second receive ring
 * @iomap: slots of the iomap table
 */
struct rsock_ep_cfg {
	u16 sq;
	u16 rq;
	u16 iomap;
	u32 ring;
};

struct rsock_ep {
	refcount_t ref;
	const struct rsock_ep_ops *ops;	/* constant */
	struct sock *sk;		/* constant; held until closed() */
	struct net *net;		/* constant; held by sk */
	spinlock_t lock;
	enum rsock_ep_state state;
	int err;			/* first reason to die, positive errno */
	enum rsock_mib why;		/* what to count for it, at the end */
	gfp_t gfp;			/* constant: the socket's sk_allocation */
	struct mem_cgroup *memcg;	/* constant: the owner's, or NULL */
	bool passive;			/* constant */
	u8 resolve_tries;		/* CM handler, then work */
	bool counted;			/* in rsock_net.connections: CM handler,
					 * then teardown
					 */
	bool swap;			/* peer has the other byte order */
	bool iwarp;			/* messages are sent: constant once
					 * there is a QP
					 */
	bool peer_ext;			/* peer is an AF_RSOCK socket */
	u32 features;			/* RSOCK_FEAT_* that both sides have */

	struct rsock_sq sq;
	struct rsock_tx tx;
	struct rsock_rx rx;
	struct rsock_watch watch;
	struct rsock_io io;		/* what we mapped for the peer */
	struct rsock_notes *notes;	/* NULL if none are wanted */
	struct rsock_targets targets;	/* what the peer mapped for us */
	struct rsock_conn peer;		/* constant once the state is OPEN */

	/*
	 * Verbs resources: made before the QP leaves INIT, in the CM handler;
	 * constant until rsock_ep_work() has drained the QP. Used under
	 * ep->lock only in states that have them, CONNECT to OPEN.
	 */
	struct rdma_cm_id *id;		/* also IDLE to RESOLVE, LISTEN */
	struct mutex id_mutex;		/* see above */
	struct rsock_dev *dev;
	struct list_head dev_node;	/* rsock_devs_lock */
	struct ib_pd *pd;
	struct ib_cq *cq;
	struct ib_qp *qp;
	struct ib_mr *mr;
	unsigned int nr_cqe;
	unsigned int max_sge;
	u32 mr_pages;			/* of a fast-registered region */
	struct rsock_buf buf;
	u32 ring_off;			/* where in it the first ring begins */
	struct rsock_ring ring;		/* the second one */
	u8 *ctrl;			/* RSOCK_SQ_CTRL bounce buffers */
	dma_addr_t ctrl_dma;
	struct ib_cqe send_cqe;
	struct ib_cqe recv_cqe;
	struct ib_cqe reg_cqe;
	struct rsock_iw iw;		/* unused unless iwarp */
	struct rsock_ep_cfg cfg;	/* clamped by rsock_ep_open() */

	struct work_struct work;	/* holds a reference while queued */
	struct delayed_work linger_work;	/* likewise */
	struct rcu_head rcu;
};

#define RSOCK_PF_MEMALLOC (PF_MEMALLOC | PF_MEMALLOC_NOIO | PF_MEMALLOC_NOFS)

/*
 * From here to rsock_memalloc_restore(), allocate as the socket's owner has to:
 * rdma_cm and the device's driver know nothing of sk_allocation.
 */
static inline unsigned long rsock_memalloc_save(gfp_t gfp)
{
	unsigned long old = current->flags;

	if (gfp & __GFP_MEMALLOC)
		current->flags |= PF_MEMALLOC;
	if (!(gfp & __GFP_IO))
		current->flags |= PF_MEMALLOC_NOIO;
	if (!(gfp & __GFP_FS))
		current->flags |= PF_MEMALLOC_NOFS;
	return old;
}

static inline void rsock_memalloc_restore(unsigned long old)
{
	current_restore_flags(old, RSOCK_PF_MEMALLOC);
}

extern struct workqueue_struct *rsock_wq;

struct rsock_ep *rsock_ep_alloc(struct sock *sk, struct net *net,
				const struct rsock_ep_ops *ops,
				const struct rsock_ep_cfg *cfg);
void rsock_ep_charge_as(struct rsock_ep *ep, const struct rsock_ep *other);
struct rsock_ep *rsock_ep_get(struct rsock_ep *ep);
void rsock_ep_put(struct rsock_ep *ep);
bool rsock_ep_set_state(struct rsock_ep *ep, enum rsock_ep_state state);
const char *rsock_ep_state_name(enum rsock_ep_state state);

int rsock_ep_open(struct rsock_ep *ep);
int rsock_ep_rts(struct rsock_ep *ep);
void rsock_ep_reg_wr(struct ib_mr *mr, struct ib_reg_wr *reg);
void rsock_ep_leave(struct rsock_ep *ep);
void rsock_ep_conn_data(struct rsock_ep *ep, struct rsock_conn *conn);
void rsock_ep_fault(struct rsock_ep *ep, enum rsock_fault fault);
void rsock_ep_kill(struct rsock_ep *ep, int err, enum rsock_mib why);
void rsock_ep_kill_locked(struct rsock_ep *ep, int err, enum rsock_mib why);
void rsock_ep_delay(struct rsock_ep *ep, struct delayed_work *work,
		    unsigned long delay);
void rsock_ep_start_linger(struct rsock_ep *ep, unsigned int seconds);
void rsock_ep_queue_work(struct rsock_ep *ep);

static inline bool rsock_ep_is_open(const struct rsock_ep *ep)
{
	return READ_ONCE(ep->state) == RSOCK_EP_OPEN;
}

/* sq.c */
int rsock_sq_init(struct rsock_ep *ep);
void rsock_sq_free(struct rsock_sq *sq);
bool rsock_sq_has_room(const struct rsock_sq *sq, unsigned int msgs);
bool rsock_sq_has_ctrl(const struct rsock_sq *sq);
void rsock_sq_post(struct rsock_ep *ep, struct ib_send_wr *wr, u32 bytes,
		   bool force_signal);
void rsock_sq_post_signalled(struct rsock_ep *ep, struct ib_send_wr *wr);
void rsock_sq_hold(struct rsock_sq *sq);
void rsock_sq_release(struct rsock_sq *sq);
bool rsock_sq_post_reg(struct rsock_ep *ep, struct ib_reg_wr *reg);
void rsock_sq_post_ctrl(struct rsock_ep *ep, u32 msg, u64 addr, u32 key,
			const void *payload, u32 len, bool force_signal);
void rsock_send_done(struct ib_cq *cq, struct ib_wc *wc);

/* tx.c */
void rsock_tx_mark(struct rsock_ep *ep);
void rsock_tx_push(struct rsock_ep *ep);
void rsock_tx_complete(struct rsock_ep *ep, struct list_head *done);
void rsock_tx_free_list(struct list_head *list);
void rsock_tx_purge(struct rsock_ep *ep);

/* rx.c */
int rsock_rx_post(struct rsock_ep *ep, unsigned int n);
void rsock_rx_update(struct rsock_ep *ep);
void rsock_rx_held(struct rsock_ep *ep);
void rsock_recv_done(struct ib_cq *cq, struct ib_wc *wc);

/* cm.c */
void rsock_cm_retry(struct rsock_ep *ep);
void rsock_cm_register(struct rsock_ep *ep);
void rsock_cm_registered(struct rsock_ep *ep);
void rsock_ep_opened(struct rsock_ep *ep);

#endif /* _RSOCK_EP_H */
