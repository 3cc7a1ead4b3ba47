// SPDX-License-Identifier: GPL-2.0
/*
 * A peer that does not keep to the protocol: user space on plain verbs, which
 * sends what no rsocket would, against an AF_RSOCK socket in the same process.
 *
 * What a peer says wrongly resets the connection and is counted, once and
 * under its name; what it said before is still read. What is only unusual is
 * borne. Nothing that a peer does, or fails to do, holds up a close().
 *
 * With iWARP (RDMA_DRIVER=siw) what is said is a SEND of four bytes, behind what
 * is written. How long that was nobody can tell, and the receiver of a request
 * is silent until it has heard something.
 */
#include <endian.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <rdma/rdma_cma.h>

#include "../tools/librsock/rsock.h"

#include "util.h"

/* What crosses the wire. */
#define OP(op, value)	((uint32_t)(op) << 29 | (value))
#define DATA(value)	OP(0, value)
#define SGL(value)	OP(4, value)
#define NOTE(value)	OP(5, value)
#define IOMAP(value)	OP(6, value)
#define CTRL(value)	OP(7, value)
enum { DISCONNECT, KEEPALIVE, SHUTDOWN };
#define REVOKE(slot)	CTRL((slot) << 16 | 16)
#define REVOKED(slot)	CTRL((slot) << 16 | 17)
#define VALUE_MAX	0x1fffffffU

#define F_NET		1	/* a big-endian host */
#define F_IOMAP		2

#define ENTRY_LEN	16U
#define IOMAP_LEN	24U
#define FIRST_RING	(4 * KB)	/* of AF_RSOCK; with iWARP half is granted at first */
#define IOMAP_SLOTS	128	/* that AF_RSOCK offers, and the peer too */
#define IOMAP_AT(slot)	(2 * ENTRY_LEN + (slot) * IOMAP_LEN)
#define NOTE_LEN	16U
#define NOTES_AT	(1ULL << 63)	/* the offset of memory for notes */

/* The private data, big endian. */
struct conn_data {
	uint8_t version;
	uint8_t flags;
	uint16_t credits;
	uint8_t reserved[3];
	uint8_t iomap;
	uint64_t sgl_addr;
	uint32_t sgl_key;
	uint32_t sgl_len;	/* entries */
	uint64_t buf_addr;
	uint32_t buf_key;
	uint32_t buf_len;
};

struct extension {
	uint32_t magic;
	uint8_t version;
	uint8_t reserved[3];
	uint32_t features;
	uint32_t reserved2;
};

struct private_data {
	struct conn_data conn;
	struct extension ext;
};

struct entry {
	uint64_t addr;
	uint32_t key;
	uint32_t len;
};

struct mapping {
	uint64_t offset;
	struct entry at;
};

struct note {
	uint64_t offset;
	uint64_t len;
};

/* The peer's memory: its table, its receive buffer, what it sends. */
#define TABLE		0
#define RX		(4 * KB)
#define RX_LEN		(256 * KB)
#define SCRATCH		(RX + RX_LEN)
#define SCRATCH_LEN	(4 * KB)
#define TX		(SCRATCH + SCRATCH_LEN)
#define TX_LEN		(4 * MB)
#define HEARD		(TX + TX_LEN)	/* iWARP: messages */
#define HEARD_LEN	(4 * KB)
#define MEM_LEN		(HEARD + HEARD_LEN)
#define MSG_BYTES	4U

#define CREDITS		100
#define SEED		50
#define MAX_SENDS	128

/* What a peer knows: just rsockets, the extension block, and one thing more of it each. */
enum kind { PLAIN, EXTENDED, REVOKING, NOTING, SPANNING, HINTING, KINDS };

/* How a peer is to connect, where it differs from a good one. */
struct plan {
	int len;		/* of the private data, + 1 */
	int at, size;		/* these bytes of it are replaced */
	uint64_t value;
	bool deaf;		/* posts no receives */
	int receives;		/* posts so many; 0: enough */
	bool by_hand;		/* its QP is its own, and no RTU is sent */
	enum kind kind;
};

static bool knows_revoke(const struct plan *plan)
{
	return plan->kind >= REVOKING;
}

struct peer {
	struct plan plan;
	struct rdma_event_channel *channel;
	struct rdma_cm_id *listener;
	struct rdma_cm_id *id;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct ibv_cq *scq;
	struct ibv_cq *rcq;
	struct ibv_qp *qp;
	uint8_t *mem;
	struct private_data ours;
	struct conn_data theirs;	/* in host order */
	int pending;			/* sends not known complete */
	enum ibv_wc_status status;	/* of the first that failed */
	int entries;			/* scratch in use */
	uint64_t pos;			/* bytes of the stream sent */
	/* iWARP */
	unsigned int posted;		/* receives */
	unsigned int heard;
	struct entry granted[2];	/* as seen last */
	int grant;			/* entry of the next one */
};

static bool iwarp;

/* --- counters --- */

static bool is_fault(const char *name)
{
	return !strncmp(name, "Fault", 5) || !strcmp(name, "AccessErrors");
}

/* Of the faults just this one was counted, or none (NULL). */
static void check_faults(const struct stats *before, const char *name)
{
	struct stats now;
	bool known = !name;
	int i;

	read_stats(&now);
	for (i = 0; i < now.n; i++) {
		long more = now.value[i] - before->value[i];
		bool is_it = name && !strcmp(now.name[i], name);

		known |= is_it;
		if (is_fault(now.name[i]))
			CHECK(more == (is_it ? 1 : 0), "%s went up by %ld, expected is %s",
			      now.name[i], more, name ? name : "no fault");
	}
	CHECK(known, "no counter %s", name);
}

struct awaited {
	const char *name;
	unsigned long from;
};

static bool counted(void *arg)
{
	struct awaited *a = arg;

	return stat_now(a->name) != a->from;
}

/* --- the peer: connecting --- */

static void peer_start(struct peer *p, const struct plan *plan)
{
	*p = (struct peer){ };
	if (plan)
		p->plan = *plan;
	p->channel = rdma_create_event_channel();
	CHECK(p->channel, "%s", err_name(errno));
	MUST(fcntl(p->channel->fd, F_SETFL, O_NONBLOCK));
}

/* The next event, of which only the private data is of interest. */
static int next_event(struct peer *p)
{
	struct rdma_cm_event *event;
	const void *data;
	int type;

	/* Some are dealt with inside the library. */
	while (rdma_get_cm_event(p->channel, &event)) {
		CHECK(errno == EAGAIN, "%s", err_name(errno));
		wait_events(p->channel->fd, POLLIN);
	}
	type = event->event;
	if (type == RDMA_CM_EVENT_CONNECT_REQUEST)
		p->id = event->id;
	data = event->param.conn.private_data;
	if ((type == RDMA_CM_EVENT_CONNECT_REQUEST || type == RDMA_CM_EVENT_CONNECT_RESPONSE ||
	     type == RDMA_CM_EVENT_ESTABLISHED) && data &&
	    event->param.conn.private_data_len >= sizeof(p->theirs)) {
		struct conn_data *t = &p->theirs;

		memcpy(t, data, sizeof(*t));
		t->credits = be16toh(t->credits);
		t->sgl_addr = be64toh(t->sgl_addr);
		t->sgl_key = be32toh(t->sgl_key);
		t->sgl_len = be32toh(t->sgl_len);
		t->buf_addr = be64toh(t->buf_addr);
		t->buf_key = be32toh(t->buf_key);
		t->buf_len = be32toh(t->buf_len);
		CHECK(t->buf_len * 2 + MB < TX_LEN, "a ring of 2 * %u bytes", t->buf_len);
	}
	rdma_ack_cm_event(event);
	return type;
}

static void expect_event(struct peer *p, enum rdma_cm_event_type wanted)
{
	int type = next_event(p);

	CHECK(type == (int)wanted, "%s, expected %s", rdma_event_str(type),
	      rdma_event_str(wanted));
}

static void post_receives(struct peer *p, int n)
{
	struct ibv_sge sge = { .length = MSG_BYTES, .lkey = p->mr->lkey };
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = iwarp }, *bad;

	while (n--) {
		sge.addr = (uintptr_t)p->mem + HEARD + p->posted++ * MSG_BYTES % HEARD_LEN;
		MUST(-ibv_post_recv(p->qp, &wr, &bad));
	}
}

static void modify_by_hand(struct peer *p, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state };
	int mask;

	MUST(rdma_init_qp_attr(p->id, &attr, &mask));
	if (state == IBV_QPS_RTS)
		attr.max_rd_atomic = 1;		/* whatever was agreed on */
	MUST(-ibv_modify_qp(p->qp, &attr, mask));
}

static void make_data(struct peer *p)
{
	static const uint32_t features[KINDS] = {
		[REVOKING] = 1, [NOTING] = 1 | 2, [SPANNING] = 1 | 2 | 4,
		[HINTING] = 1 | 2 | 4 | 8,
	};
	uint8_t *bytes = (uint8_t *)&p->ours;
	int i;

	p->ours.conn = (struct conn_data){
		.version = 1,
		.flags = F_IOMAP,
		.credits = htobe16(CREDITS),
		.iomap = IOMAP_SLOTS,
		.sgl_addr = htobe64((uintptr_t)p->mem + TABLE),
		.sgl_key = htobe32(p->mr->rkey),
		.sgl_len = htobe32(2),
		.buf_addr = htobe64((uintptr_t)p->mem + RX),
		.buf_key = htobe32(p->mr->rkey),
		.buf_len = htobe32(RX_LEN / 2),
	};
	p->ours.ext = (struct extension){
		.magic = htobe32(0x72736b78),
		.version = 1,
		.features = htobe32(features[p->plan.kind]),
	};
	for (i = 0; i < p->plan.size; i++)
		bytes[p->plan.at + i] = p->plan.value >> 8 * (p->plan.size - 1 - i);
}

/* All that the peer needs of its device, up to a QP in INIT. */
static void peer_open(struct peer *p)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.cap = {
			.max_send_wr = MAX_SENDS, .max_recv_wr = 1000,
			.max_send_sge = 1, .max_recv_sge = 1,
			.max_inline_data = iwarp ? MSG_BYTES : 0,
		},
	};

	p->mem = mmap(NULL, MEM_LEN, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(p->mem != MAP_FAILED, "%s", err_name(errno));
	p->pd = ibv_alloc_pd(p->id->verbs);
	CHECK(p->pd, "%s", err_name(errno));
	p->mr = ibv_reg_mr(p->pd, p->mem, MEM_LEN,
			   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	CHECK(p->mr, "%s", err_name(errno));
	p->scq = ibv_create_cq(p->id->verbs, MAX_SENDS + 1, NULL, NULL, 0);
	p->rcq = ibv_create_cq(p->id->verbs, 1001, NULL, NULL, 0);
	CHECK(p->scq && p->rcq, "%s", err_name(errno));
	attr.send_cq = p->scq;
	attr.recv_cq = p->rcq;
	if (p->plan.by_hand) {
		p->qp = ibv_create_qp(p->pd, &attr);
		CHECK(p->qp, "%s", err_name(errno));
		modify_by_hand(p, IBV_QPS_INIT);
	} else {
		MUST(rdma_create_qp(p->id, p->pd, &attr));
		p->qp = p->id->qp;
	}
	if (!p->plan.deaf)
		post_receives(p, p->plan.receives ? p->plan.receives : 500);
	make_data(p);
}

static struct rdma_conn_param peer_param(struct peer *p)
{
	size_t len = p->plan.kind == PLAIN ? sizeof(p->ours.conn) : sizeof(p->ours);

	return (struct rdma_conn_param){
		.private_data = &p->ours,
		.private_data_len = p->plan.len ? p->plan.len - 1 : (int)len,
		.initiator_depth = iwarp,
		.responder_resources = iwarp,
		.flow_control = 1,
		.retry_count = 7,
		.rnr_retry_count = 7,
		.qp_num = p->qp->qp_num,
	};
}

/* As a client, up to its request. */
static void peer_request(struct peer *p, const struct addr *where)
{
	struct addr from = client_addr(IPV4, 0), to = *where;
	struct rdma_conn_param param;

	MUST(rdma_create_id(p->channel, &p->id, NULL, RDMA_PS_TCP));
	MUST(rdma_resolve_addr(p->id, &from.sa, &to.sa, 5000));
	expect_event(p, RDMA_CM_EVENT_ADDR_RESOLVED);
	MUST(rdma_resolve_route(p->id, 5000));
	expect_event(p, RDMA_CM_EVENT_ROUTE_RESOLVED);
	peer_open(p);
	param = peer_param(p);
	MUST(rdma_connect(p->id, &param));
}

/* As a server, up to where it listens. */
static struct addr peer_listen(struct peer *p)
{
	struct addr a = server_addr(IPV4, 0);

	MUST(rdma_create_id(p->channel, &p->listener, NULL, RDMA_PS_TCP));
	MUST(rdma_bind_addr(p->listener, &a.sa));
	MUST(rdma_listen(p->listener, 4));
	return target_addr(IPV4, ntohs(rdma_get_src_port(p->listener)));
}

/*
 * Soft-iWARP does not see what arrives between its answer and its taking over the
 * connection, until more does: nobody else is to run meanwhile.
 */
static void accept_undisturbed(struct peer *p, struct rdma_conn_param *param)
{
	struct sched_param first = { .sched_priority = 1 }, as_all = { };

	MUST(sched_setscheduler(0, SCHED_FIFO, &first));
	MUST(rdma_accept(p->id, param));
	MUST(sched_setscheduler(0, SCHED_OTHER, &as_all));
}

static void peer_accept(struct peer *p)
{
	struct rdma_conn_param param;

	expect_event(p, RDMA_CM_EVENT_CONNECT_REQUEST);
	peer_open(p);
	param = peer_param(p);
	if (iwarp)
		accept_undisturbed(p, &param);
	else
		MUST(rdma_accept(p->id, &param));
}

/* Without a word: no DISCONNECT. */
static void peer_leave(struct peer *p)
{
	if (p->qp && p->plan.by_hand)
		MUST(-ibv_destroy_qp(p->qp));
	else if (p->qp)
		rdma_destroy_qp(p->id);
	p->qp = NULL;
	if (p->id)
		MUST(rdma_destroy_id(p->id));
	p->id = NULL;
}

static void peer_end(struct peer *p)
{
	peer_leave(p);
	if (p->mr)
		MUST(-ibv_dereg_mr(p->mr));
	if (p->scq)
		MUST(-ibv_destroy_cq(p->scq));
	if (p->rcq)
		MUST(-ibv_destroy_cq(p->rcq));
	if (p->pd)
		MUST(-ibv_dealloc_pd(p->pd));
	if (p->listener)
		MUST(rdma_destroy_id(p->listener));
	rdma_destroy_event_channel(p->channel);
	if (p->mem)
		munmap(p->mem, MEM_LEN);
}

static int begin_connect(const struct addr *where)
{
	int fd = open_socket(IPV4, SOCK_NONBLOCK);

	MUST_FAIL(connect(fd, &where->sa, where->len), EINPROGRESS);
	return fd;
}

/* How a connect() that was begun ends. */
static int connect_result(int fd)
{
	wait_events(fd, POLLOUT);
	set_nonblock(fd, false);
	return get_int(fd, SOL_SOCKET, SO_ERROR);
}

/* --- the peer: talking --- */

static bool reap_send(struct peer *p)
{
	struct ibv_wc wc;

	if (!MUST(ibv_poll_cq(p->scq, 1, &wc)))
		return false;
	p->pending--;
	if (wc.status && !p->status)
		p->status = wc.status;
	return true;
}

static void reap_sends(struct peer *p, int until)
{
	long long end = now_ms() + hang_seconds() * 1000;

	while (p->pending > until) {
		if (reap_send(p))
			continue;
		CHECK(now_ms() < end, "%d sends do not complete", p->pending);
		sleep_ms(1);
	}
}

static void post_wr(struct peer *p, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;

	reap_sends(p, MAX_SENDS / 2);
	MUST(-ibv_post_send(p->qp, wr, &bad));
	p->pending++;
}

static uint32_t in_order_of(const struct peer *p, uint32_t msg)
{
	return p->ours.conn.flags & F_NET ? htobe32(msg) : htole32(msg);
}

/* iWARP: in the order of the one who says it. */
static void post_msg(struct peer *p, uint32_t msg)
{
	struct ibv_sge sge = { .addr = (uintptr_t)&msg, .length = MSG_BYTES };
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE,
		.sg_list = &sge, .num_sge = 1,
	};

	msg = in_order_of(p, msg);
	post_wr(p, &wr);
}

static void post(struct peer *p, enum ibv_wr_opcode opcode, uint32_t imm, uint64_t addr,
		 uint32_t key, size_t from, uint32_t len)
{
	bool split = iwarp && opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
	struct ibv_sge sge = {
		.addr = (uintptr_t)p->mem + from, .length = len, .lkey = p->mr->lkey,
	};
	struct ibv_send_wr wr = {
		.opcode = split ? IBV_WR_RDMA_WRITE : opcode,
		.send_flags = IBV_SEND_SIGNALED, .imm_data = htobe32(imm),
		.sg_list = &sge, .num_sge = len ? 1 : 0,
		.wr.rdma = { .remote_addr = addr, .rkey = key },
	};

	if (!split || len)
		post_wr(p, &wr);
	if (split)
		post_msg(p, imm);
}

static void say(struct peer *p, uint32_t imm)
{
	post(p, IBV_WR_RDMA_WRITE_WITH_IMM, imm, 0, 0, 0, 0);
}

/* The stream goes on with "len" bytes, called "imm" whatever they are. */
static void say_bytes(struct peer *p, enum ibv_wr_opcode opcode, uint32_t imm, uint32_t len)
{
	pattern_fill(p->mem + TX + p->pos, len, SEED, p->pos);
	post(p, opcode, imm, p->theirs.buf_addr + p->pos, p->theirs.buf_key, TX + p->pos, len);
}

static void say_data(struct peer *p, uint32_t len)
{
	say_bytes(p, IBV_WR_RDMA_WRITE_WITH_IMM, DATA(len), len);
	p->pos += len;
}

static void say_at(struct peer *p, uint32_t imm, uint64_t addr, uint32_t key, const void *entry,
		   uint32_t len)
{
	size_t scratch = SCRATCH + p->entries++ % 64 * 64;

	CHECK(len <= 64, "%u", len);
	/* Of those before, none of which this takes the place. */
	reap_sends(p, MAX_SENDS / 2 - 1);
	memcpy(p->mem + scratch, entry, len);
	post(p, IBV_WR_RDMA_WRITE_WITH_IMM, imm, addr, key, scratch, len);
}

/* Into the table of the other end. */
static void say_entry(struct peer *p, uint32_t imm, int offset, const void *entry, uint32_t len)
{
	say_at(p, imm, p->theirs.sgl_addr + offset, p->theirs.sgl_key, entry, len);
}

static void say_grant(struct peer *p, int slot, uint32_t limit)
{
	struct entry e = {
		.addr = (uintptr_t)p->mem + RX + slot * RX_LEN / 2, .key = p->mr->rkey,
		.len = RX_LEN / 2,
	};

	say_entry(p, SGL(limit), slot * ENTRY_LEN, &e, sizeof(e));
}

/* iWARP: how many bytes came along shows in the message, or in the table. */
static uint32_t heard_len(struct peer *p, uint32_t msg)
{
	struct entry now;

	switch (msg >> 29) {
	case 0:
		return msg & VALUE_MAX;
	case 4:
		memcpy(&now, p->mem + TABLE + !p->grant * ENTRY_LEN, sizeof(now));
		if (!memcmp(&now, &p->granted[!p->grant], sizeof(now)))
			return 0;
		p->granted[!p->grant] = now;
		p->grant = !p->grant;
		return ENTRY_LEN;
	case 5:
		return NOTE_LEN;
	case 6:
		return IOMAP_LEN;
	}
	return 0;
}

static uint32_t heard_msg(struct peer *p, const struct ibv_wc *wc, uint32_t *len)
{
	uint32_t msg;

	CHECK(wc->opcode == IBV_WC_RECV && wc->byte_len == MSG_BYTES, "opcode %d, %u bytes",
	      wc->opcode, wc->byte_len);
	memcpy(&msg, p->mem + HEARD + p->heard++ * MSG_BYTES % HEARD_LEN, MSG_BYTES);
	msg = in_order_of(p, msg);
	*len = heard_len(p, msg);
	return msg;
}

/* What the other end says next; how many bytes came along. */
static uint32_t hear(struct peer *p, uint32_t *len)
{
	long long end = now_ms() + hang_seconds() * 1000;
	struct ibv_wc wc;

	while (!MUST(ibv_poll_cq(p->rcq, 1, &wc))) {
		CHECK(now_ms() < end, "nothing heard");
		sleep_ms(1);
	}
	CHECK(!wc.status, "%s", ibv_wc_status_str(wc.status));
	if (iwarp)
		return heard_msg(p, &wc, len);
	CHECK(wc.opcode == IBV_WC_RECV_RDMA_WITH_IMM, "opcode %d", wc.opcode);
	*len = wc.byte_len;
	return be32toh(wc.imm_data);
}

/* The next message that is not just credit. */
static uint32_t hear_news(struct peer *p, uint32_t *len)
{
	uint32_t msg;

	do {
		msg = hear(p, len);
	} while (msg >> 29 == 4);
	return msg;
}

static void expect_control(struct peer *p, uint32_t wanted)
{
	uint32_t len, msg = hear_news(p, &len);

	CHECK(msg == wanted && !len, "message 0x%x with %u bytes, expected 0x%x", msg, len,
	      wanted);
}

/* What the other end has mapped, or has not any more; to which slot. */
static uint32_t hear_mapping(struct peer *p, struct mapping *m)
{
	uint32_t len, msg = hear_news(p, &len), slot = msg & VALUE_MAX;

	CHECK(msg >> 29 == 6 && len == IOMAP_LEN, "message 0x%x with %u bytes", msg, len);
	CHECK(slot < IOMAP_SLOTS, "slot %u", slot);
	memcpy(m, p->mem + TABLE + IOMAP_AT(slot), sizeof(*m));
	return slot;
}

static bool silent(struct peer *p)
{
	struct ibv_wc wc;

	sleep_ms(50);
	return !MUST(ibv_poll_cq(p->rcq, 1, &wc));
}

/* Data of the other end, which say the same pattern; credit is passed over. */
static uint32_t hear_data(struct peer *p)
{
	uint32_t len, msg = hear_news(p, &len);

	CHECK(msg >> 29 == 0, "message 0x%x", msg);
	CHECK(msg == len, "message 0x%x with %u bytes", msg, len);
	return len;
}

/* Both ways, with the AF_RSOCK end having sent nothing before. */
static void check_alive(struct peer *p, int fd)
{
	struct stream out = { .fd = fd, .seed = 60 };
	struct stream in = { .fd = fd, .seed = SEED, .pos = p->pos };
	uint32_t got = 0;

	say_data(p, 1000);
	recv_stream(&in, 1000, 1000);
	send_stream(&out, 1000, 1000);
	while (got < 1000)
		got += hear_data(p);
	pattern_check(p->mem + RX, 1000, 60, 0);
	expect_nothing(fd);
	reap_sends(p, 0);
	CHECK(!p->status, "the peer's sends: %s", ibv_wc_status_str(p->status));
}

/* --- the peer: meeting --- */

enum { PEER_CONNECTS, PEER_ACCEPTS, ROLES };

/* Connect both, one way or the other; the AF_RSOCK end, and what it is told. */
static int meet_any(struct peer *p, int role, const struct plan *plan, int *err)
{
	struct addr where;
	int listener, fd;

	peer_start(p, plan);
	if (role == PEER_CONNECTS) {
		listener = open_listener(IPV4, 4, &where);
		peer_request(p, &where);
		expect_event(p, RDMA_CM_EVENT_ESTABLISHED);
		if (iwarp)
			say(p, CTRL(KEEPALIVE));	/* the first word is the client's */
		fd = accept_one(listener);
		close(listener);
		*err = 0;
	} else {
		where = peer_listen(p);
		fd = begin_connect(&where);
		peer_accept(p);
		*err = connect_result(fd);
		expect_event(p, RDMA_CM_EVENT_ESTABLISHED);
	}
	return fd;
}

static int meet(struct peer *p, int role, const struct plan *plan)
{
	int err, fd = meet_any(p, role, plan, &err);

	CHECK(!err, "connect: %s", err_name(err));
	return fd;
}

/* The response has come: a QP driven by hand may go to RTS. */
static void ready_by_hand(struct peer *p)
{
	/* INIT once more: what access there is shows only now. */
	modify_by_hand(p, IBV_QPS_INIT);
	modify_by_hand(p, IBV_QPS_RTR);
	modify_by_hand(p, IBV_QPS_RTS);
}

/* A client whose QP is driven by hand, which alone may send RDMA reads. */
static int meet_by_hand(struct peer *p, enum kind kind)
{
	struct plan plan = { .by_hand = true, .kind = kind };
	struct addr where;
	int listener, fd;

	listener = open_listener(IPV4, 4, &where);
	peer_start(p, &plan);
	peer_request(p, &where);
	expect_event(p, RDMA_CM_EVENT_CONNECT_RESPONSE);
	ready_by_hand(p);
	MUST(rdma_establish(p->id));
	fd = accept_one(listener);
	close(listener);
	return fd;
}

/* --- the socket --- */

static bool hung_up(void *arg)
{
	return poll_ms(*(int *)arg, 0, 0) & POLLHUP;
}

static void wait_hup(int fd)
{
	CHECK(eventually(hung_up, &fd), "the connection goes on");
}

/* It ended with an error after bytes that can be read; how many. */
static uint64_t check_error_any(int fd, int err)
{
	uint64_t len = 0;
	char buf[5000];
	ssize_t n;

	wait_hup(fd);
	while ((n = recv(fd, buf, sizeof(buf), MSG_DONTWAIT)) > 0) {
		pattern_check(buf, n, SEED, len);
		len += n;
	}
	CHECK(n < 0 && errno == err, "after %llu bytes: %zd (%s), expected %s",
	      (unsigned long long)len, n, n < 0 ? err_name(errno) : "end of file", err_name(err));
	/* Told once. */
	MUST_BE(recv(fd, buf, 1, MSG_DONTWAIT), 0);
	MUST_FAIL(send(fd, buf, 1, MSG_NOSIGNAL), EPIPE);
	MUST_BE(get_int(fd, SOL_SOCKET, SO_ERROR), 0);
	return len;
}

static void check_error(int fd, uint64_t len, int err)
{
	uint64_t got = check_error_any(fd, err);

	CHECK(got == len, "%llu bytes could be read, expected %llu", (unsigned long long)got,
	      (unsigned long long)len);
}

static void check_reset(int fd, uint64_t len)
{
	check_error(fd, len, ECONNRESET);
}

static void check_end(int fd, uint64_t len)
{
	struct stream in = { .fd = fd, .seed = SEED };

	MUST_BE(recv_to_end(&in, 5000), len);
	MUST_BE(get_int(fd, SOL_SOCKET, SO_ERROR), 0);
}

static int module_refs(void)
{
	FILE *f = fopen("/sys/module/rsock/refcnt", "r");
	int n = -1;

	CHECK(f && fscanf(f, "%d", &n) == 1, "no count of references");
	fclose(f);
	return n;
}

static bool refs_are(void *arg)
{
	return module_refs() == *(int *)arg;
}

/* References of the module at the start of a test, those of the last one gone. */
static int first_refs(void)
{
	int none = 0;

	CHECK(eventually(refs_are, &none), "%d references from before", module_refs());
	return none;
}

static void set_fin_timeout(int seconds)
{
	FILE *f = fopen("/proc/sys/net/rsock/fin_timeout", "w");

	CHECK(f && fprintf(f, "%d\n", seconds) > 0 && !fclose(f), "%s", err_name(errno));
}

/* --- connecting --- */

/*
 * InfiniBand's and RoCE's connection manager pads private data with zeroes,
 * so that what is short lacks a version, a table or a buffer. That of iWARP
 * tells how long it is.
 */
static const struct forgery {
	const char *name;
	const char *counter;
	int err;
	struct plan plan;
} forgeries[] = {
	{ "none", "FaultConnVersion", EPROTONOSUPPORT, { .len = 1 + 0 } },
	{ "8 bytes", "FaultConnSgl", EPROTO, { .len = 1 + 8 } },
	{ "24 bytes", "FaultConnBuf", EPROTO, { .len = 1 + 24 } },
	{ "version 0", "FaultConnVersion", EPROTONOSUPPORT, { .at = 0, .size = 1, .value = 0 } },
	{ "version 2", "FaultConnVersion", EPROTONOSUPPORT, { .at = 0, .size = 1, .value = 2 } },
	{ "no table", "FaultConnSgl", EPROTO, { .at = 20, .size = 4, .value = 0 } },
	{ "table of one", "FaultConnSgl", EPROTO, { .at = 20, .size = 4, .value = 1 } },
	{ "table of 65", "FaultConnSgl", EPROTO, { .at = 20, .size = 4, .value = 65 } },
	{ "table of 2^32 - 1", "FaultConnSgl", EPROTO, { .at = 20, .size = 4, .value = ~0 } },
	{ "table that wraps", "FaultConnSgl", EPROTO, { .at = 8, .size = 8, .value = ~7ULL } },
	{ "empty buffer", "FaultConnBuf", EPROTO, { .at = 36, .size = 4, .value = 0 } },
	{ "buffer that wraps", "FaultConnBuf", EPROTO, { .at = 24, .size = 8, .value = ~7ULL } },
};

static const char *forgery_counter(const struct forgery *f)
{
	return iwarp && f->plan.len ? "FaultConnShort" : f->counter;
}

static int forgery_error(const struct forgery *f)
{
	return iwarp && f->plan.len ? EPROTO : f->err;
}

START_TEST(request_forged)
{
	const struct forgery *f = &forgeries[_i];
	struct peer bad, good;
	struct stats before;
	struct addr where;
	int listener, s;

	listener = open_listener(IPV4, 4, &where);
	read_stats(&before);
	peer_start(&bad, &f->plan);
	peer_request(&bad, &where);
	expect_event(&bad, RDMA_CM_EVENT_REJECTED);
	check_faults(&before, forgery_counter(f));
	peer_end(&bad);
	/* The listener has seen nothing of it. */
	MUST_BE(poll_ms(listener, POLLIN, 0), 0);
	peer_start(&good, NULL);
	peer_request(&good, &where);
	expect_event(&good, RDMA_CM_EVENT_ESTABLISHED);
	s = accept_one(listener);
	check_alive(&good, s);
	close(s);
	close(listener);
	peer_end(&good);
}
END_TEST

START_TEST(answer_forged)
{
	const struct forgery *f = &forgeries[_i];
	struct stats before;
	struct addr where;
	struct peer p;
	int fd, err;

	peer_start(&p, &f->plan);
	where = peer_listen(&p);
	read_stats(&before);
	fd = begin_connect(&where);
	peer_accept(&p);
	err = connect_result(fd);
	CHECK(err == forgery_error(f), "%s: connect: %s, expected %s", f->name, err_name(err),
	      err_name(forgery_error(f)));
	MUST_FAIL(send(fd, "x", 1, MSG_NOSIGNAL), EPIPE, ENOTCONN);
	check_faults(&before, forgery_counter(f));
	if (iwarp)
		expect_event(&p, RDMA_CM_EVENT_ESTABLISHED);
	expect_event(&p, iwarp ? RDMA_CM_EVENT_DISCONNECTED : RDMA_CM_EVENT_REJECTED);
	close(fd);
	peer_end(&p);
}
END_TEST

START_TEST(request_rejected)
{
	struct addr where;
	struct peer p;
	int fd, err;

	peer_start(&p, NULL);
	where = peer_listen(&p);
	fd = begin_connect(&where);
	expect_event(&p, RDMA_CM_EVENT_CONNECT_REQUEST);
	MUST(rdma_reject(p.id, NULL, 0));
	err = connect_result(fd);
	CHECK(err == ECONNREFUSED, "%s", err_name(err));
	close(fd);
	peer_end(&p);
}
END_TEST

/* A server that does not answer: who gives up is gone at once. */
START_TEST(request_ignored)
{
	int refs = first_refs(), fd;
	struct addr where;
	struct peer p;
	long long from;

	peer_start(&p, NULL);
	where = peer_listen(&p);
	fd = begin_connect(&where);
	expect_event(&p, RDMA_CM_EVENT_CONNECT_REQUEST);
	MUST_BE(poll_ms(fd, POLLOUT, 300), 0);
	MUST_FAIL(connect(fd, &where.sa, where.len), EALREADY);
	from = now_ms();
	MUST(close(fd));
	CHECK(now_ms() - from < hang_seconds() * 1000, "%lld ms", now_ms() - from);
	CHECK(eventually(refs_are, &refs), "%d references, %d before", module_refs(), refs);
	peer_end(&p);
}
END_TEST

/*
 * A client that never sends its RTU is nobody to accept, and holds up nobody.
 * Its first message is as good as the RTU.
 */
START_TEST(no_rtu)
{
	static const struct plan plan = { .by_hand = true };
	int refs = first_refs(), listener, s;
	struct peer bad, good;
	struct addr where;

	listener = open_listener(IPV4, 4, &where);
	peer_start(&bad, &plan);
	peer_request(&bad, &where);
	expect_event(&bad, RDMA_CM_EVENT_CONNECT_RESPONSE);
	MUST_BE(poll_ms(listener, POLLIN, 200), 0);
	peer_start(&good, NULL);
	peer_request(&good, &where);
	expect_event(&good, RDMA_CM_EVENT_ESTABLISHED);
	s = accept_one(listener);
	check_alive(&good, s);
	close(s);
	if (_i == 1) {
		ready_by_hand(&bad);
		say_data(&bad, 1000);
		s = accept_one(listener);
		say(&bad, CTRL(DISCONNECT));
		check_end(s, 1000);
		close(s);
	} else if (_i == 2) {
		peer_leave(&bad);
		MUST_BE(poll_ms(listener, POLLIN, 100), 0);
	}
	MUST(close(listener));
	CHECK(eventually(refs_are, &refs), "%d references, %d before", module_refs(), refs);
	peer_end(&bad);
	peer_end(&good);
}
END_TEST

/* Half of the first ring is read, and granted again. */
static void have_granted(struct peer *p, int fd)
{
	struct stream in = { .fd = fd, .seed = SEED, .pos = p->pos };

	say_data(p, FIRST_RING / 2 - p->pos);
	recv_stream(&in, p->pos - in.pos, p->pos - in.pos);
}

/* It says that it has memory, which it has not: only writing shows that. */
START_TEST(memory_pretended)
{
	static const struct plan plans[] = {
		{ .at = 16, .size = 4, .value = 0x12345678 },	/* table: key */
		{ .at = 8, .size = 8, .value = 0x1000 },	/* table: address */
		{ .at = 32, .size = 4, .value = 0x12345678 },	/* buffer: key */
		{ .at = 24, .size = 8, .value = 0x1000 },	/* buffer: address */
	};
	unsigned long refused = stat_now("PeerRefuses");
	struct stats before;
	struct peer p;
	int s, err;

	read_stats(&before);
	s = meet_any(&p, _i % ROLES, &plans[_i / ROLES], &err);
	if (_i / ROLES >= 2)
		send(s, "x", 1, MSG_NOSIGNAL);
	else if (!iwarp)
		have_granted(&p, s);
	/* With iWARP, a buffer that is granted may come back before connect() does. */
	if (err)
		CHECK(err == ECONNRESET, "connect: %s", err_name(err));
	else
		check_reset(s, 0);
	check_faults(&before, NULL);
	if (!iwarp)
		MUST_BE(stat_now("PeerRefuses"), refused + 1);
	close(s);
	peer_end(&p);
}
END_TEST

/* With iWARP half of its ring is granted only now. */
static void hear_first(struct peer *p)
{
	uint32_t len;

	if (!iwarp)
		return;
	hear(p, &len);
	MUST_BE(len, ENTRY_LEN);
}

/* No credit, or no more than one message, until told otherwise. */
START_TEST(no_credit)
{
	static const struct plan plan = { .at = 2, .size = 2, .value = 0 };
	struct peer p;
	int s;

	s = meet(&p, _i, &plan);
	say(&p, CTRL(KEEPALIVE));
	hear_first(&p);
	send_all(s, "0123456789", 10);
	CHECK(silent(&p), "sent without credit");
	say(&p, SGL(1));
	MUST_BE(hear_data(&p), 10);
	send_all(s, "0123456789", 10);
	CHECK(silent(&p), "sent without credit");
	say(&p, SGL(0x10000 + 2));	/* as if it had carried */
	MUST_BE(hear_data(&p), 10);
	CHECK(!memcmp(p.mem + RX, "01234567890123456789", 20), "%.20s", p.mem + RX);
	close(s);
	peer_end(&p);
}
END_TEST

/* A big-endian host finds its table in its own order, and writes ours in ours. */
START_TEST(other_byte_order)
{
	static const struct plan plan = { .at = 1, .size = 1, .value = F_NET | F_IOMAP };
	struct stream out = { .seed = 60 };
	uint32_t len, got = 0;
	struct entry e;
	struct peer p;

	out.fd = meet(&p, _i, &plan);
	check_alive(&p, out.fd);
	have_granted(&p, out.fd);
	do
		MUST_BE(hear(&p, &len) >> 29, 4);
	while (!len);
	MUST_BE(len, ENTRY_LEN);
	memcpy(&e, p.mem + TABLE + ENTRY_LEN, sizeof(e));
	MUST_BE(be64toh(e.addr), p.theirs.buf_addr + (iwarp ? FIRST_RING / 2 : 0));
	MUST_BE(be32toh(e.key), p.theirs.buf_key);
	MUST_BE(be32toh(e.len), FIRST_RING / 2);
	/* Past the end of the first buffer. */
	say_grant(&p, 1, CREDITS);
	out.pos = 1000;
	send_stream(&out, RX_LEN - 1000, 10000);
	while (got < RX_LEN - 1000)
		got += hear_data(&p);
	pattern_check(p.mem + RX, RX_LEN, 60, 0);
	close(out.fd);
	peer_end(&p);
}
END_TEST

/* --- lies --- */

static void beyond_grant(struct peer *p, int fd)
{
	static const char zeroes[11];

	(void)fd;
	say_data(p, p->theirs.buf_len - p->pos - 10);
	/* Where the device lets it write. */
	say_entry(p, DATA(11), IOMAP_AT(IOMAP_SLOTS), zeroes, 11);
}

static void fill_grant(struct peer *p, uint64_t addr, uint32_t key, uint32_t room)
{
	uint32_t len;

	for (; room; room -= len, addr += len, p->pos += len) {
		len = room < 60000 ? room : 60000;
		pattern_fill(p->mem + TX + p->pos, len, SEED, p->pos);
		post(p, IBV_WR_RDMA_WRITE_WITH_IMM, DATA(len), addr, key, TX + p->pos, len);
	}
}

/* The rest of a small ring, and all of the one that takes its place. */
static void beyond_all_grants(struct peer *p, int fd)
{
	uint32_t len, slot, rest = get_int(fd, SOL_SOCKET, SO_RCVBUF);
	struct entry e;

	if (iwarp)
		rest += FIRST_RING / 2;

	fill_grant(p, p->theirs.buf_addr + p->pos, p->theirs.buf_key,
		   p->theirs.buf_len - p->pos);
	for (slot = 1; rest; slot++, rest -= e.len) {
		do
			hear(p, &len);
		while (!len);
		memcpy(&e, p->mem + TABLE + slot % 2 * ENTRY_LEN, sizeof(e));
		CHECK(e.len <= rest && (e.key != p->theirs.buf_key) == (!iwarp || slot > 1),
		      "grant %u: %u bytes of %u, key %u", slot, e.len, rest, e.key);
		fill_grant(p, e.addr, e.key, e.len);
	}
	say_entry(p, DATA(1), IOMAP_AT(IOMAP_SLOTS), "", 1);
}

/* All of the first ring is read in small steps, so that it stays, and granted by halves. */
static void have_halves(struct peer *p, int fd)
{
	uint32_t len, half = FIRST_RING / 2, left, grants = iwarp ? 3 : 2;
	struct stream in = { .fd = fd, .seed = SEED };

	while (p->pos < FIRST_RING) {
		left = half - p->pos % half;
		len = left < half / 4 ? left : half / 4;
		say_data(p, len);
		recv_stream(&in, len, len);
	}
	while (grants) {
		hear(p, &len);
		grants -= len == ENTRY_LEN;
	}
}

/* Two grants that lie behind each other are one, to those who both know that. */
START_TEST(span_taken)
{
	const struct plan plan = { .kind = _i / ROLES ? SPANNING : NOTING };
	uint32_t room = RX_LEN / 2 - 1000, got = 0;
	struct stream in = { .seed = SEED }, out = { .seed = 70 };
	struct peer p;

	in.fd = out.fd = meet(&p, _i % ROLES, &plan);
	say_grant(&p, 1, CREDITS);
	have_halves(&p, in.fd);
	if (plan.kind == SPANNING) {
		in.pos = p.pos;
		fill_grant(&p, p.theirs.buf_addr, p.theirs.buf_key, FIRST_RING - 1);
		recv_stream(&in, FIRST_RING - 1, FIRST_RING - 1);
	}
	send_stream(&out, room, room);
	while (got < room)
		got += hear_data(&p);
	send_stream(&out, 2000, 2000);
	MUST_BE(hear_data(&p), plan.kind == SPANNING ? 2000 : 1000);
	if (plan.kind != SPANNING)
		MUST_BE(hear_data(&p), 1000);
	pattern_check(p.mem + RX, out.pos, 70, 0);
	close(out.fd);
	peer_end(&p);
}
END_TEST

static const struct span {
	enum kind kind;
	uint32_t before, len;
} bad_spans[] = {
	{ NOTING, 0, FIRST_RING / 2 + 1 },			/* said not to know it */
	{ SPANNING, 0, FIRST_RING + 1 },			/* more than both */
	{ SPANNING, FIRST_RING - 1000, 1001 },			/* around the ring's end */
};

START_TEST(span_refused)
{
	const struct span *span = &bad_spans[_i / ROLES];
	const struct plan plan = { .kind = span->kind };
	struct stats before;
	struct stream in = { .seed = SEED };
	struct peer p;
	uint32_t len;

	in.fd = meet(&p, _i % ROLES, &plan);
	have_halves(&p, in.fd);
	if (span->before) {
		in.pos = p.pos;
		fill_grant(&p, p.theirs.buf_addr, p.theirs.buf_key, span->before);
		recv_stream(&in, span->before, span->before);
		do
			hear(&p, &len);
		while (len != ENTRY_LEN);
	}
	read_stats(&before);
	/* Where the device lets it write. */
	post(&p, IBV_WR_RDMA_WRITE_WITH_IMM, DATA(span->len), p.theirs.sgl_addr, p.theirs.sgl_key,
	     TX, span->len);
	check_reset(in.fd, 0);
	check_faults(&before, "FaultOverrun");
	close(in.fd);
	peer_end(&p);
}
END_TEST

#define MORE(value)	OP(1, value)

/* All but the last that is sent at once say that more is, to one who knows that. */
START_TEST(more_said)
{
	const struct plan plan = {
		.kind = _i / ROLES ? HINTING : SPANNING, .at = 2, .size = 2, .value = 0,
	};
	struct stream out = { .seed = 71 };
	uint32_t len, msg, got = 0, more = 0, bytes = 3 * 65536 + 100;
	struct peer p;

	out.fd = meet(&p, _i % ROLES, &plan);
	say_grant(&p, 1, 0);
	send_stream(&out, bytes, bytes);
	say(&p, SGL(CREDITS));
	while (got < bytes) {
		msg = hear_news(&p, &len);
		CHECK((msg & VALUE_MAX) == len && msg >> 29 <= 1, "message 0x%x, %u bytes", msg, len);
		got += len;
		more += msg >> 29;
		CHECK(!(msg >> 29) || bytes - got > 100, "more is said of the last %u", bytes - got);
	}
	MUST_BE(more, plan.kind == HINTING ? 2 : 0);
	pattern_check(p.mem + RX, bytes, 71, 0);
	close(out.fd);
	peer_end(&p);
}
END_TEST

static void say_more(struct peer *p, uint32_t len)
{
	say_bytes(p, IBV_WR_RDMA_WRITE_WITH_IMM, MORE(len), len);
	p->pos += len;
}

static bool inq_is(void *arg)
{
	struct stream *in = arg;

	return inq(in->fd) == (int)in->pos;
}

/* What is said to be followed by more is told of, whether that comes or not. */
enum { MORE_COMES, MORE_DOES_NOT, MORE_LEAVES, MORE_CANNOT, MORES };

START_TEST(more_heard)
{
	static const struct plan plan = { .kind = HINTING };
	uint32_t len = _i == MORE_CANNOT ? FIRST_RING : 1000;
	struct stream in = { .seed = SEED };
	struct epoll_event ev = { .events = EPOLLIN | EPOLLET };
	struct stream wanted = { .pos = len };
	struct peer p;
	int ep;

	in.fd = wanted.fd = meet(&p, PEER_CONNECTS, &plan);
	ep = MUST(epoll_create1(0));
	MUST(epoll_ctl(ep, EPOLL_CTL_ADD, in.fd, &ev));
	MUST_BE(epoll_wait(ep, &ev, 1, 0), 0);
	if (iwarp && len > p.theirs.buf_len) {
		say_more(&p, p.theirs.buf_len);
		hear_first(&p);
		len -= p.theirs.buf_len;
	}
	say_more(&p, len);
	CHECK(eventually(inq_is, &wanted), "%d bytes", inq(in.fd));
	MUST_BE(poll_ms(in.fd, POLLIN, 0), POLLIN);
	if (_i == MORE_COMES)
		say_data(&p, 500);
	else if (_i == MORE_LEAVES)
		MUST(rdma_disconnect(p.id));
	MUST_BE(epoll_wait(ep, &ev, 1, hang_seconds() * 1000), 1);
	recv_stream(&in, p.pos, p.pos);
	if (_i == MORE_LEAVES)
		MUST_FAIL(recv(in.fd, &len, 1, 0), ECONNRESET);
	close(ep);
	close(in.fd);
	peer_end(&p);
}
END_TEST

/* It cannot be told of new credit, and sends all the same. */
static void beyond_credit(struct peer *p, int fd)
{
	unsigned long faults = stat_now("FaultFlood");
	long long end = now_ms() + hang_seconds() * 1000;
	int i;

	for (i = 0; i < 5000 && stat_now("FaultFlood") == faults; i++) {
		say_data(p, 1);
		while ((unsigned int)inq(fd) < p->pos && stat_now("FaultFlood") == faults)
			CHECK(now_ms() < end, "message %d is neither taken nor refused", i);
	}
	CHECK(i > p->theirs.credits - 2, "%d messages of %d", i, p->theirs.credits);
	p->pos--;
}

/* Has it noticed? Once it has, what is on its way may never complete. */
static bool flooded(struct peer *p, unsigned long faults)
{
	while (p->pending >= MAX_SENDS / 2 - 1 && stat_now("FaultFlood") == faults)
		reap_send(p);
	return stat_now("FaultFlood") != faults;
}

/* Entries of a mapping take credit as well. */
static void mappings_beyond_credit(struct peer *p, int fd)
{
	unsigned long faults = stat_now("FaultFlood");
	struct mapping m = { .at = { (uintptr_t)p->mem + RX, p->mr->rkey, 1 } };
	int i;

	(void)fd;
	for (i = 0; i < 5000 && !flooded(p, faults); i++) {
		m.offset = i;
		say_entry(p, IOMAP(i % IOMAP_SLOTS), IOMAP_AT(i % IOMAP_SLOTS), &m, sizeof(m));
	}
	CHECK(i > p->theirs.credits - 2, "%d messages of %d", i, p->theirs.credits);
}

static void third_grant(struct peer *p, int fd)
{
	(void)fd;
	say_grant(p, 1, CREDITS);
	say_grant(p, 0, CREDITS);
}

static void limit_back_later(struct peer *p, int fd)
{
	(void)fd;
	say(p, SGL(CREDITS + 10));
	say(p, SGL(CREDITS + 9));
}

#define WWI	IBV_WR_RDMA_WRITE_WITH_IMM

/* Where it is written to: the table, from here on, or the ring (0). */
#define AT(offset)	(1 + (offset))

static const struct lie {
	const char *name;
	const char *counter;	/* NULL: none, the device says no */
	enum ibv_wr_opcode opcode;
	uint32_t imm;
	uint32_t len;
	int where;
	const void *bytes;	/* zeroes */
	void (*tell)(struct peer *p, int fd);
	bool deaf;
	enum kind kind;
	enum { ANY, ROCE, IWARP } only;		/* where it is one */
} lies[] = {
	{ "no data", "FaultLength", WWI, DATA(0), 0 },
	{ "no data, but written", "FaultLength", WWI, DATA(0), 100 },
	{ "data not written", "FaultLength", WWI, DATA(100), 0, .only = ROCE },
	{ "more data than written", "FaultLength", WWI, DATA(101), 100, .only = ROCE },
	{ "less data than written", "FaultLength", WWI, DATA(99), 100, .only = ROCE },
	{ "2^29 - 1 bytes of data", "FaultLength", WWI, DATA(VALUE_MAX), 100, .only = ROCE },
	{ "data beyond the grant", "FaultOverrun", .tell = beyond_grant },
	{ "data without a grant", "FaultOverrun", .tell = beyond_all_grants },
	{ "data without credit", "FaultFlood", .tell = beyond_credit, .deaf = true,
	  .only = ROCE },
	{ "limit goes back", "FaultCredit", WWI, SGL(CREDITS - 1), 0 },
	{ "limit goes back later", "FaultCredit", .tell = limit_back_later },
	{ "limit goes to 0", "FaultCredit", WWI, SGL(0), 0 },
	{ "limit goes too far", "FaultCredit", WWI, SGL(0xffff), 0 },
	{ "entry of 8 bytes", "FaultLength", WWI, SGL(CREDITS), 8, AT(ENTRY_LEN),
	  .only = ROCE },
	{ "entry of 24 bytes", "FaultLength", WWI, SGL(CREDITS), 24, AT(ENTRY_LEN),
	  .only = ROCE },
	/* To iWARP that is one that has not come yet. */
	{ "entry of length 0", "FaultSge", WWI, SGL(CREDITS), 16, AT(ENTRY_LEN),
	  &(struct entry){ 0x10000, 1, 0 }, .only = ROCE },
	{ "entry that wraps", "FaultSge", WWI, SGL(CREDITS), 16, AT(ENTRY_LEN),
	  &(struct entry){ ~15ULL, 1, 32 } },
	{ "entry in the wrong slot", "FaultSge", WWI, SGL(CREDITS), 16, AT(0),
	  &(struct entry){ 0x10000, 1, 1000 }, .only = ROCE },
	{ "third grant", "FaultGrant", .tell = third_grant },
	{ "more, not agreed on", "FaultOp", WWI, OP(1, 100), 100 },
	{ "more, but not of this kind", "FaultOp", WWI, OP(1, 100), 100, .kind = SPANNING },
	{ "more, but nothing", "FaultLength", WWI, OP(1, 0), 0, .kind = HINTING },
	{ "more than written", "FaultLength", WWI, OP(1, 101), 100, .kind = HINTING,
	  .only = ROCE },
	{ "operation 2", "FaultOp", WWI, OP(2, 100), 100 },
	{ "operation 3", "FaultOp", WWI, OP(3, 100), 100 },
	{ "note, not asked for", "FaultNote", WWI, NOTE(0), NOTE_LEN, AT(2 * ENTRY_LEN),
	  .kind = NOTING },
	{ "note, not known", "FaultNote", WWI, NOTE(0), NOTE_LEN, AT(2 * ENTRY_LEN) },
	{ "note, not written", "FaultLength", WWI, NOTE(0), 0, .kind = NOTING, .only = ROCE },
	{ "note of 15 bytes", "FaultLength", WWI, NOTE(0), 15, AT(2 * ENTRY_LEN),
	  .kind = NOTING, .only = ROCE },
	{ "note of 24 bytes", "FaultLength", WWI, NOTE(0), 24, AT(2 * ENTRY_LEN),
	  .kind = NOTING, .only = ROCE },
	{ "note 100 of 100 bytes", "FaultLength", WWI, NOTE(100), 100, .only = ROCE },
	{ "mapping beyond the table", "FaultIomap", WWI, IOMAP(IOMAP_SLOTS), IOMAP_LEN,
	  AT(2 * ENTRY_LEN) },
	{ "mapping 2^29 - 1", "FaultIomap", WWI, IOMAP(VALUE_MAX), IOMAP_LEN, AT(2 * ENTRY_LEN) },
	{ "mapping with offsets that wrap", "FaultIomap", WWI, IOMAP(3), IOMAP_LEN,
	  AT(IOMAP_AT(3)), &(struct mapping){ ~0ULL, { 0x10000, 1, 2 } } },
	{ "mapping with offsets up to 2^64", "FaultIomap", WWI, IOMAP(3), IOMAP_LEN,
	  AT(IOMAP_AT(3)), &(struct mapping){ ~0ULL, { 0x10000, 1, 1 } } },
	{ "mapping with addresses that wrap", "FaultIomap", WWI, IOMAP(0), IOMAP_LEN,
	  AT(IOMAP_AT(0)), &(struct mapping){ 0, { ~0ULL, 1, ~0U } }, .kind = REVOKING },
	{ "mappings without credit", "FaultFlood", .tell = mappings_beyond_credit, .deaf = true,
	  .only = ROCE },
	{ "mappings without credit, extended", "FaultFlood", .tell = mappings_beyond_credit,
	  .deaf = true, .kind = REVOKING, .only = ROCE },
	{ "revoking beyond the table", "FaultIomap", WWI, REVOKE(IOMAP_SLOTS), 0,
	  .kind = REVOKING },
	{ "revoking slot 8191", "FaultIomap", WWI, REVOKE(8191), 0, .kind = REVOKING },
	{ "revoking with bytes", "FaultLength", WWI, REVOKE(0), IOMAP_LEN, AT(IOMAP_AT(0)),
	  .kind = REVOKING, .only = ROCE },
	{ "revoked, not asked", "FaultRevoked", WWI, REVOKED(0), 0, .kind = REVOKING },
	{ "revoked slot 8191", "FaultRevoked", WWI, REVOKED(8191), 0, .kind = REVOKING },
	{ "mapping of 16 bytes", "FaultLength", WWI, IOMAP(0), 16, AT(2 * ENTRY_LEN),
	  .only = ROCE },
	{ "mapping not written", "FaultLength", WWI, IOMAP(0), 0, .only = ROCE },
	{ "control message with bytes", "FaultLength", WWI, CTRL(KEEPALIVE), 4,
	  AT(2 * ENTRY_LEN), .only = ROCE },
	{ "SEND, empty", "FaultOpcode", IBV_WR_SEND, 0, 0 },
	{ "SEND with an immediate", "FaultOpcode", IBV_WR_SEND_WITH_IMM, CTRL(KEEPALIVE), 0,
	  .only = ROCE },
	{ "SEND with bytes", NULL, IBV_WR_SEND, 0, 100 },
	{ "SEND of 3 bytes", "FaultOpcode", IBV_WR_SEND, 0, 3, .only = IWARP },
	{ "2^29 - 1 bytes, not written", "FaultOverrun", WWI, DATA(VALUE_MAX), 0, .only = IWARP },
	{ "note, not asked for nor written", "FaultNote", WWI, NOTE(0), 0, .kind = NOTING,
	  .only = IWARP },
};

static void tell_lie(struct peer *p, int fd, const struct lie *lie)
{
	static const char zeroes[64];

	if (lie->tell)
		lie->tell(p, fd);
	else if (lie->where)
		say_entry(p, lie->imm, lie->where - 1, lie->bytes ? lie->bytes : zeroes,
			  lie->len);
	else
		say_bytes(p, lie->opcode, lie->imm, lie->len);
}

START_TEST(lie_told)
{
	const struct lie *lie = &lies[_i / ROLES];
	struct plan plan = { .deaf = lie->deaf, .kind = lie->kind };
	struct stats before;
	struct peer p;
	int s;

	s = meet(&p, _i % ROLES, &plan);
	read_stats(&before);
	say_data(&p, 1000);
	tell_lie(&p, s, lie);
	check_reset(s, p.pos);
	check_faults(&before, lie->counter);
	/* The other end is told. */
	expect_event(&p, RDMA_CM_EVENT_DISCONNECTED);
	close(s);
	peer_end(&p);
}
END_TEST

/*
 * Who has lied is not listened to any more: what follows is neither counted
 * nor delivered, since something is missing before it, nor is it an end in
 * good order.
 */
START_TEST(lie_then_more)
{
	int rounds = full_run() ? 200 : 20, i, k;

	for (i = 0; i < rounds; i++) {
		struct stats before;
		struct peer p;
		uint64_t pos;
		int s;

		s = meet(&p, i % ROLES, NULL);
		read_stats(&before);
		say_data(&p, 1000);
		reap_sends(&p, 0);
		pos = p.pos;
		/* All at once, so that it arrives before the end. */
		say(&p, OP(2, 0));
		for (k = 0; k < 20; k++) {
			if (_i == 0)
				say_data(&p, 10);
			else if (_i == 1)
				say(&p, OP(3, 0));
			else
				say(&p, CTRL(k ? SHUTDOWN : DISCONNECT));
		}
		check_reset(s, pos);
		check_faults(&before, "FaultOp");
		close(s);
		peer_end(&p);
	}
}
END_TEST

/* The device of the other end says no, and says so to the peer. */
enum { BEYOND, BEFORE, WRONG_KEY, READ, TRESPASSES };

/*
 * It has tried, and everybody gets to know. rxe tells the peer, or its own
 * user, who may be so fast to destroy the QP that the peer is told nothing: it
 * would try for ever. The other end's user may be "told" of it, or just of the end.
 */
static void check_refused(struct peer *p, int fd, uint64_t len, const struct stats *before,
			  bool told)
{
	long long end = now_ms() + hang_seconds() * 1000;

	while (!hung_up(&fd)) {
		CHECK(now_ms() < end, "nobody notices");
		reap_send(p);
		sleep_ms(1);
	}
	reap_send(p);
	CHECK(iwarp || p->pending || p->status == IBV_WC_REM_ACCESS_ERR ||
	      p->status == IBV_WC_REM_INV_REQ_ERR || p->status == IBV_WC_REM_OP_ERR,
	      "%s", ibv_wc_status_str(p->status));
	peer_leave(p);
	check_reset(fd, len);
	check_faults(before, told ? "AccessErrors" : NULL);
}

START_TEST(trespass)
{
	struct stats before;
	struct peer p;
	uint64_t ring;
	int s;

	s = iwarp ? meet(&p, PEER_CONNECTS, NULL) : meet_by_hand(&p, PLAIN);
	read_stats(&before);
	say_data(&p, 1000);
	reap_sends(&p, 0);
	MUST_BE(p.status, 0);
	ring = p.theirs.buf_addr;
	switch (_i / 2) {
	case BEYOND:
		post(&p, _i % 2 ? WWI : IBV_WR_RDMA_WRITE, DATA(100),
		     ring + FIRST_RING - 50, p.theirs.buf_key, TX, 100);
		break;
	case BEFORE:
		post(&p, _i % 2 ? WWI : IBV_WR_RDMA_WRITE, DATA(100), p.theirs.sgl_addr - 50,
		     p.theirs.sgl_key, TX, 100);
		break;
	case WRONG_KEY:
		post(&p, _i % 2 ? WWI : IBV_WR_RDMA_WRITE, DATA(100), ring,
		     p.theirs.buf_key ^ 1, TX, 100);
		break;
	default:
		post(&p, IBV_WR_RDMA_READ, 0, _i % 2 ? p.theirs.sgl_addr : ring,
		     p.theirs.buf_key, TX, 100);
		break;
	}
	/* Of a key that is wrong soft-iWARP tells the peer only. */
	check_refused(&p, s, 1000, &before, !iwarp || _i / 2 != WRONG_KEY);
	close(s);
	peer_end(&p);
}
END_TEST

/* --- unusual, but borne --- */

static void many_keepalives(struct peer *p)
{
	int n = full_run() ? 50000 : 2000;

	while (n--)
		say(p, CTRL(KEEPALIVE));
}

static void many_writes(struct peer *p)
{
	int n = full_run() ? 50000 : 2000;

	while (n--)
		post(p, IBV_WR_RDMA_WRITE, 0, 0, 0, 0, 0);
}

static void many_limits(struct peer *p)
{
	int n = full_run() ? 50000 : 2000;

	while (n--)
		say(p, SGL(CREDITS));
}

static void unknown_controls(struct peer *p)
{
	say(p, CTRL(3));
	say(p, CTRL(100));
	say(p, CTRL(VALUE_MAX));
}

/* To who has not said that it knows more, these are unknown as well. */
static void unknown_revocations(struct peer *p)
{
	say(p, REVOKE(0));
	say(p, REVOKE(IOMAP_SLOTS - 1));
	say(p, REVOKED(0));
	say(p, REVOKED(8191));
}

/* Of what was never mapped: there is nothing to do, but that is answered. */
static void revoke_nothing(struct peer *p)
{
	int i;

	say(p, REVOKE(5));
	expect_control(p, REVOKED(5));
	say(p, REVOKE(5));
	expect_control(p, REVOKED(5));
	for (i = 0; i < IOMAP_SLOTS; i++)
		say(p, REVOKE(i));
	for (i = 0; i < IOMAP_SLOTS; i++)
		expect_control(p, REVOKED(i));
}

/* All that was asked for is answered, if not each time that it was. */
static void revoke_often(struct peer *p)
{
	uint32_t len, msg;
	int i;

	for (i = 0; i < 200; i++)
		say(p, REVOKE(7));
	say(p, REVOKE(8));
	while ((msg = hear_news(p, &len)) != REVOKED(8))
		CHECK(msg == REVOKED(7), "message 0x%x", msg);
}

static void limit_carries(struct peer *p)
{
	say(p, SGL(0x10000 + CREDITS));
	say(p, SGL(0xfffe));
	say(p, SGL(VALUE_MAX - 1));
}

static void mappings(struct peer *p)
{
	static const char zeroes[IOMAP_LEN];

	say_entry(p, IOMAP(0), 2 * ENTRY_LEN, zeroes, IOMAP_LEN);
	say_entry(p, IOMAP(IOMAP_SLOTS - 1), 2 * ENTRY_LEN + (IOMAP_SLOTS - 1) * IOMAP_LEN,
		  zeroes, IOMAP_LEN);
}

/* Of what was granted, the table can be written at any time. */
static void table_rewritten(struct peer *p)
{
	struct entry e = { .addr = 0x1000, .key = 1, .len = ~0U };
	int i;

	say_grant(p, 1, CREDITS);
	memcpy(p->mem + SCRATCH + SCRATCH_LEN - 64, &e, sizeof(e));
	for (i = 0; i < 2; i++)
		post(p, IBV_WR_RDMA_WRITE, 0, p->theirs.sgl_addr + i * ENTRY_LEN,
		     p->theirs.sgl_key, SCRATCH + SCRATCH_LEN - 64, sizeof(e));
}

static const struct {
	void (*tell)(struct peer *p);
	enum kind kind;
} oddities[] = {
	{ many_keepalives }, { many_writes }, { many_limits }, { unknown_controls },
	{ limit_carries }, { mappings }, { mappings, REVOKING }, { table_rewritten },
	{ unknown_revocations }, { unknown_revocations, EXTENDED }, { revoke_nothing, REVOKING },
	{ revoke_often, REVOKING },
};

START_TEST(borne)
{
	struct plan plan = { };
	struct stats before;
	struct peer p;
	int s;

	plan.kind = oddities[_i / ROLES].kind;
	s = meet(&p, _i % ROLES, &plan);
	read_stats(&before);
	oddities[_i / ROLES].tell(&p);
	check_alive(&p, s);
	check_faults(&before, NULL);
	close(s);
	peer_end(&p);
}
END_TEST

/* What is announced but was written elsewhere: zeroes, nobody else's bytes. */
START_TEST(data_never_written)
{
	uint8_t buf[1000], all = 0;
	struct stats before;
	struct peer p;
	int s, i;

	s = meet(&p, _i, NULL);
	read_stats(&before);
	post(&p, WWI, DATA(sizeof(buf)), p.theirs.sgl_addr, p.theirs.sgl_key, TX, sizeof(buf));
	recv_all(s, buf, sizeof(buf));
	for (i = 0; i < (int)sizeof(buf); i++)
		all |= buf[i];
	CHECK(!all, "bytes out of nowhere");
	p.pos = sizeof(buf);
	check_alive(&p, s);
	check_faults(&before, NULL);
	close(s);
	peer_end(&p);
}
END_TEST

/* Nothing counts after DISCONNECT: neither bytes nor lies. */
START_TEST(after_disconnect)
{
	struct stats before;
	struct peer p;
	int s, i;

	s = meet(&p, _i, NULL);
	read_stats(&before);
	say_data(&p, 1000);
	say(&p, CTRL(DISCONNECT));
	for (i = 0; i < 5; i++) {
		say_bytes(&p, WWI, DATA(100), 100);
		say_grant(&p, 1, CREDITS);
		say(&p, OP(2, 0));
		say(&p, SGL(0));
		say(&p, CTRL(DISCONNECT));
		say(&p, CTRL(SHUTDOWN));
	}
	check_end(s, 1000);
	check_faults(&before, NULL);
	close(s);
	peer_end(&p);
}
END_TEST

START_TEST(shutdown_repeated)
{
	struct stream in = { .seed = SEED }, out = { .seed = 60 };
	struct stats before;
	uint32_t got = 0;
	struct peer p;
	int i;

	in.fd = meet(&p, _i, NULL);
	out.fd = in.fd;
	read_stats(&before);
	say_data(&p, 1000);
	for (i = 0; i < 100; i++)
		say(&p, CTRL(SHUTDOWN));
	MUST_BE(recv_to_end(&in, 1000), 1000);
	/* The other direction goes on. */
	send_stream(&out, 1000, 1000);
	while (got < 1000)
		got += hear_data(&p);
	pattern_check(p.mem + RX, 1000, 60, 0);
	/* Nobody should, but it is not worth a reset. */
	say_data(&p, 100);
	say(&p, CTRL(SHUTDOWN));
	reap_sends(&p, 0);
	MUST_BE(p.status, 0);
	MUST_BE(get_int(in.fd, SOL_SOCKET, SO_ERROR), 0);
	check_faults(&before, NULL);
	close(in.fd);
	peer_end(&p);
}
END_TEST

/* --- placement: memory that is mapped for the peer --- */

/*
 * What is mapped begins and ends within a page, with other memory around it.
 * The peer alone may change what is mapped, nobody the rest.
 */
#define AROUND		5000U
#define MAPPED		6001U
#define TARGET_LEN	(4 * 4096U)
#define OFFSET		1000

struct target {
	int fd;
	uint8_t *mem;
	uint32_t len;
	struct mapping known;	/* to the peer */
	uint32_t slot;
};

static void target_fill(struct target *t, uint8_t byte)
{
	memset(t->mem, byte, TARGET_LEN);
}

/* Its length tells what the peer may not write to from what it may. */
static void target_map(struct target *t, int fd, int prot)
{
	t->fd = fd;
	t->len = prot ? MAPPED : MAPPED + 1;
	t->mem = mmap(NULL, TARGET_LEN, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		      0);
	CHECK(t->mem != MAP_FAILED, "%s", err_name(errno));
	target_fill(t, 0xa5);
	MUST(riomap(fd, t->mem + AROUND, t->len, prot, 0, prot ? OFFSET : 0x100000));
}

/* Bytes from "from" on are "byte", up to "to"; all others are as they were. */
static void target_check(struct target *t, uint32_t from, uint32_t to, uint8_t byte)
{
	uint32_t i;

	for (i = 0; i < TARGET_LEN; i++) {
		uint8_t wanted = i >= AROUND + from && i < AROUND + to ? byte : 0xa5;

		CHECK(t->mem[i] == wanted, "byte %d of the mapping is 0x%x, expected 0x%x",
		      (int)i - (int)AROUND, t->mem[i], wanted);
	}
}

static void unmap(void *arg)
{
	struct target *t = arg;

	MUST(riounmap(t->fd, t->mem + AROUND, t->len));
}

/* The peer gets to know of it, and that it is what it should be. */
static void target_offer(struct target *t, struct peer *p, int fd)
{
	target_map(t, fd, PROT_WRITE);
	t->slot = hear_mapping(p, &t->known);
	CHECK(t->known.offset == OFFSET && t->known.at.len == MAPPED, "offset %llu, length %u",
	      (unsigned long long)t->known.offset, t->known.at.len);
}

/* It is taken back, as the peer's kind has it. */
static void target_withdraw(struct target *t, struct peer *p)
{
	struct worker worker;
	struct mapping none;

	start(&worker, unmap, t);
	if (knows_revoke(&p->plan)) {
		expect_control(p, REVOKE(t->slot));
		say(p, REVOKED(t->slot));
	} else {
		MUST_BE(hear_mapping(p, &none), t->slot);
		CHECK(!none.at.len, "length %u", none.at.len);
	}
	join(&worker);
}

static void write_to(struct peer *p, enum ibv_wr_opcode opcode, uint64_t addr, uint32_t key,
		     uint32_t len)
{
	size_t from = TX + TX_LEN / 2;

	memset(p->mem + from, 0xee, len);
	post(p, opcode, DATA(len), addr, key, from, len);
}

/*
 * The memory regions of this machine, a line each, into "regions". Returns the
 * key of the first that is not among the lines of "known".
 */
static uint32_t spy(char *regions, size_t size, const char *known)
{
	FILE *f = popen("rdma -d resource show mr", "r");
	char line[1000], *at;
	uint32_t key = 0;

	CHECK(f, "%s", err_name(errno));
	*regions = 0;
	while (fgets(line, sizeof(line), f)) {
		strncat(regions, line, size - strlen(regions) - 1);
		at = strstr(line, "rkey ");
		if (known && !key && at && !strstr(known, line))
			key = strtoul(at + 5, NULL, 0);
	}
	pclose(f);
	return key;
}

static const struct intrusion {
	const char *name;
	int from;		/* of the mapping's start */
	uint32_t len;
	uint32_t key;		/* xor */
	enum { THERE, ITS_PAGES, RING_KEY, UNMAPPED, LOCAL, READING } how;
} intrusions[] = {
	{ "before", -1, 1 },
	{ "begins before", -50, 100 },
	{ "begins a page before", -(int)AROUND, 10000 },
	{ "behind", MAPPED, 1 },
	{ "ends behind", MAPPED - 50, 100 },
	{ "ends far behind", 0, 1000000 },
	{ "the byte behind, of many", 0, MAPPED + 1 },
	{ "far before", -0x100000, 1 },
	{ "far behind", 0x7fffffff, 1 },
	{ "wrong key", 0, 100, .key = 1 },
	{ "next key", 0, 100, .key = 0x100 },
	{ "at its address in the process", 0, 100, .how = ITS_PAGES },
	{ "with the key of the ring", 0, 100, .how = RING_KEY },
	{ "unmapped", 0, 100, .how = UNMAPPED },
	{ "not for the peer", 0, 100, .how = LOCAL },
	{ "reading", 0, 100, .how = READING },
};

/* Nothing is changed that is not mapped, and that is the end. */
START_TEST(intrude)
{
	const struct intrusion *in = &intrusions[_i / 2];
	bool whole = in->from >= 0 && in->from + in->len <= MAPPED;
	enum ibv_wr_opcode opcode = _i % 2 ? WWI : IBV_WR_RDMA_WRITE;
	static char known[65536], regions[65536];
	struct target t, local = { };
	struct stats before;
	uint64_t addr;
	uint32_t key;
	struct peer p;
	int s;

	s = meet_by_hand(&p, (_i + _i / 2) % KINDS);
	target_offer(&t, &p, s);
	read_stats(&before);
	/* First as it should be. */
	write_to(&p, IBV_WR_RDMA_WRITE, t.known.at.addr, t.known.at.key, MAPPED);
	say_data(&p, 1000);
	reap_sends(&p, 0);
	MUST_BE(p.status, 0);
	target_check(&t, 0, MAPPED, 0xee);
	target_fill(&t, 0xa5);

	addr = t.known.at.addr + in->from;
	key = t.known.at.key ^ in->key;
	if (in->how == ITS_PAGES) {
		addr = (uintptr_t)t.mem + AROUND;
	} else if (in->how == RING_KEY) {
		key = p.theirs.buf_key;
	} else if (in->how == UNMAPPED) {
		target_withdraw(&t, &p);
	} else if (in->how == LOCAL) {
		spy(known, sizeof(known), NULL);
		target_map(&local, s, PROT_NONE);
		/* There is none to be known; Linux 6.1 would not tell */
		CHECK(!spy(regions, sizeof(regions), known), "it has a key");
		key ^= 2;
	} else if (in->how == READING) {
		opcode = IBV_WR_RDMA_READ;
	}
	write_to(&p, opcode, addr, key, in->len);
	check_refused(&p, s, 1000, &before, true);
	/* A device may have taken what was right of what was not. */
	if (whole)
		target_check(&t, 0, 0, 0);
	if (local.mem)
		target_check(&local, 0, 0, 0);
	for (addr = 0; addr < TARGET_LEN; addr++)
		CHECK((addr >= AROUND && addr < AROUND + MAPPED) || t.mem[addr] == 0xa5,
		      "byte %d of the mapping is 0x%x", (int)addr - (int)AROUND, t.mem[addr]);
	close(s);
	peer_end(&p);
}
END_TEST

/*
 * What was taken back stays as it is, and the socket's user can rely on that:
 * whether the peer says that it writes no more and yet does, or knows of no such
 * thing.
 */
START_TEST(writes_on)
{
	struct plan plan = { .kind = _i };
	struct mapping none;
	struct worker worker;
	struct stats before;
	struct target t;
	struct peer p;
	int s, i;

	s = meet(&p, PEER_CONNECTS, &plan);
	target_offer(&t, &p, s);
	read_stats(&before);
	say_data(&p, 1000);
	start(&worker, unmap, &t);
	if (knows_revoke(&plan)) {
		expect_control(&p, REVOKE(t.slot));
		say(&p, REVOKED(t.slot));
	} else {
		MUST_BE(hear_mapping(&p, &none), t.slot);
	}
	for (i = 0; i < 20; i++)
		write_to(&p, IBV_WR_RDMA_WRITE, t.known.at.addr, t.known.at.key, MAPPED);
	join(&worker);
	target_fill(&t, 0xa5);
	for (i = 0; i < 20; i++)
		write_to(&p, IBV_WR_RDMA_WRITE, t.known.at.addr, t.known.at.key, MAPPED);
	while (!hung_up(&s)) {
		reap_send(&p);
		sleep_ms(1);
	}
	peer_leave(&p);
	target_check(&t, 0, 0, 0);
	check_reset(s, 1000);
	check_faults(&before, "AccessErrors");
	close(s);
	peer_end(&p);
}
END_TEST

/* --- placement: revoking --- */

START_TEST(revoked)
{
	static const struct plan plan = { .kind = REVOKING };
	struct stats before;
	struct target t;
	struct peer p;
	int s, i;

	s = meet(&p, _i, &plan);
	read_stats(&before);
	for (i = 0; i < 3; i++) {
		target_offer(&t, &p, s);
		write_to(&p, IBV_WR_RDMA_WRITE, t.known.at.addr + 1, t.known.at.key, MAPPED - 2);
		target_withdraw(&t, &p);
		target_check(&t, 1, MAPPED - 1, 0xee);
	}
	check_alive(&p, s);
	check_faults(&before, NULL);
	close(s);
	peer_end(&p);
}
END_TEST

/* An answer to what was not asked, while another one is waited for, or before, or after. */
enum { WRONG_SLOT, OTHER_SLOT, TOO_EARLY, TWICE, ANSWERS };

START_TEST(revoked_wrongly)
{
	static const struct plan plan = { .kind = REVOKING };
	struct target t, other;
	struct worker worker;
	struct stats before;
	struct peer p;
	int s;

	s = meet(&p, _i % ROLES, &plan);
	target_offer(&t, &p, s);
	other = t;
	other.mem = mmap(NULL, MAPPED, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			 0);
	MUST(riomap(s, other.mem, MAPPED, PROT_WRITE, 0, OFFSET + MAPPED));
	other.slot = hear_mapping(&p, &other.known);
	CHECK(other.slot != t.slot, "slot %u twice", t.slot);
	read_stats(&before);
	if (_i / ROLES == TOO_EARLY) {
		say(&p, REVOKED(t.slot));
	} else {
		start(&worker, unmap, &t);
		expect_control(&p, REVOKE(t.slot));
		if (_i / ROLES == WRONG_SLOT)
			say(&p, REVOKED(77));
		else if (_i / ROLES == OTHER_SLOT)
			say(&p, REVOKED(other.slot));
		else
			say(&p, REVOKED(t.slot));
		if (_i / ROLES == TWICE)
			say(&p, REVOKED(t.slot));
		join(&worker);
	}
	check_reset(s, 0);
	check_faults(&before, "FaultRevoked");
	close(s);
	peer_end(&p);
}
END_TEST

/*
 * It does not answer, or cannot even be told: unmapping goes on for 10 seconds,
 * and then without the connection. Meanwhile all else works. A device may give
 * up sooner on a peer that takes nothing: rxe does after about 5 seconds.
 */
START_TEST(never_revoked)
{
	/* The plain one is deaf after what it has been offered and, at first, granted. */
	struct plan plan = { .kind = _i ? PLAIN : REVOKING, .receives = _i ? 1 + iwarp : 0 };
	struct stream in = { .seed = SEED };
	unsigned long timeouts = stat_now("RevokeTimeouts");
	struct worker worker;
	struct stats before;
	struct target t;
	struct peer p;
	long long from;
	int i;

	in.fd = meet(&p, PEER_CONNECTS, &plan);
	target_offer(&t, &p, in.fd);
	read_stats(&before);
	from = now_ms();
	start(&worker, unmap, &t);
	if (knows_revoke(&plan))
		expect_control(&p, REVOKE(t.slot));
	say_data(&p, 1000);
	recv_stream(&in, 1000, 1000);
	while (!hung_up(&in.fd)) {
		write_to(&p, IBV_WR_RDMA_WRITE, t.known.at.addr, t.known.at.key, MAPPED);
		CHECK(now_ms() - from < 10000 + hang_seconds() * 1000, "%lld ms",
		      now_ms() - from);
		sleep_ms(10);
	}
	join(&worker);
	if (knows_revoke(&plan)) {
		CHECK(now_ms() - from >= 9900, "%lld ms", now_ms() - from);
		MUST_BE(stat_now("RevokeTimeouts"), timeouts + 1);
	}
	target_fill(&t, 0xa5);
	for (i = 0; i < 10; i++)
		write_to(&p, IBV_WR_RDMA_WRITE, t.known.at.addr, t.known.at.key, MAPPED);
	check_error(in.fd, 0, ETIMEDOUT);
	peer_leave(&p);
	target_check(&t, 0, 0, 0);
	check_faults(&before, NULL);
	close(in.fd);
	peer_end(&p);
}
END_TEST

/* --- placement: what the peer says to have mapped --- */

static void say_mapping(struct peer *p, int slot, uint64_t offset, size_t at, uint32_t len)
{
	struct mapping m = { offset, { (uintptr_t)p->mem + at, p->mr->rkey, len } };

	say_entry(p, IOMAP(slot), IOMAP_AT(slot), &m, sizeof(m));
}

static bool place(int fd, const void *buf, size_t len, off_t offset)
{
	ssize_t n = riowrite(fd, buf, len, offset, MSG_NOSIGNAL);

	CHECK(n == (ssize_t)len || (n < 0 && errno == ENXIO), "%zd, %s", n, err_name(errno));
	return n == (ssize_t)len;
}

/* The socket knows of all mappings; or all that it has placed is there. */
static void meet_up(struct peer *p, int fd)
{
	struct stream in = { .fd = fd, .seed = SEED, .pos = p->pos };

	say_data(p, 1);
	recv_stream(&in, 1, 1);
	send_all(fd, "x", 1);
	MUST_BE(hear_data(p), 1);
}

/* It has mapped what is not there: its own device says no. */
START_TEST(nothing_there)
{
	struct mapping m = { .offset = 5 };
	struct stats before;
	struct peer p;
	int s;

	s = meet(&p, _i % ROLES, NULL);
	read_stats(&before);
	m.at = (struct entry){ (uintptr_t)p.mem + RX, p.mr->rkey, 100 };
	if (_i / ROLES == 0)
		m.at.key = 0;
	else if (_i / ROLES == 1)
		m.at.key ^= 1;
	else if (_i / ROLES == 2)
		m.at.addr = 0;
	else
		m.at.len = ~0U;
	say_entry(&p, IOMAP(0), IOMAP_AT(0), &m, sizeof(m));
	meet_up(&p, s);
	CHECK(place(s, "0123456789", 10, _i / ROLES < 3 ? 5 : 5 + 0x10000000), "not placed");
	check_reset(s, 0);
	check_faults(&before, NULL);
	close(s);
	peer_end(&p);
}
END_TEST

/* What counts is what was in the table when its message came. */
START_TEST(rewritten)
{
	static const struct plan plan = { .kind = REVOKING };
	struct mapping lies[] = {
		{ 0, { 0x1000, 1, 0 } }, { 0, { 0x1000, 0, ~0U } }, { ~0ULL, { ~0ULL, 1, ~0U } },
		{ 77, { 0, 0, 1 } },
	};
	uint32_t at = 0, len, k;
	uint8_t buf[700];
	struct stats before;
	struct peer p;
	int s, i;

	s = meet(&p, _i, &plan);
	read_stats(&before);
	say_mapping(&p, 9, 1000, RX + RX_LEN / 2, RX_LEN / 2);
	meet_up(&p, s);
	memcpy(p.mem + SCRATCH + SCRATCH_LEN - sizeof(lies), lies, sizeof(lies));
	for (i = 0; i < 40; i++) {
		for (k = 0; k < ARRAY_SIZE(lies); k++)
			post(&p, IBV_WR_RDMA_WRITE, 0, p.theirs.sgl_addr + IOMAP_AT(9),
			     p.theirs.sgl_key,
			     SCRATCH + SCRATCH_LEN - sizeof(lies) + k * sizeof(lies[0]),
			     sizeof(lies[0]));
		len = 1 + i * 17;
		pattern_fill(buf, len, 70, at);
		CHECK(place(s, buf, len, 1000 + at), "not placed");
		at += len;
	}
	CHECK(at < RX_LEN / 2, "%u", at);
	meet_up(&p, s);
	pattern_check(p.mem + RX + RX_LEN / 2, at, 70, 0);
	reap_sends(&p, 0);
	MUST_BE(p.status, 0);
	check_faults(&before, NULL);
	close(s);
	peer_end(&p);
}
END_TEST

/* Mappings may overlap: the lowest slot counts, wherever they begin. */
START_TEST(overlapping)
{
	bool low_first = _i / ROLES;
	uint8_t buf[1500], *a, *b;
	struct stats before;
	struct peer p;
	int s, i;

	s = meet(&p, _i % ROLES, NULL);
	read_stats(&before);
	a = p.mem + RX + RX_LEN / 2;
	b = a + 5000;
	say_mapping(&p, low_first ? 6 : 7, 0, a - p.mem, 1000);
	say_mapping(&p, low_first ? 7 : 6, 500, b - p.mem, 1000);
	meet_up(&p, s);
	memset(a, 0x33, 10000);
	memset(buf, 0x77, sizeof(buf));
	/* In this order they are not taken for one. */
	CHECK(place(s, buf, 1000, 500), "not placed");
	CHECK(place(s, buf, 500, 0), "not placed");
	CHECK(!place(s, buf, 1, 1500), "placed where nothing is mapped");
	meet_up(&p, s);
	for (i = 0; i < 5000; i++) {
		bool in_a = i < (low_first ? 1000 : 500);
		bool in_b = i >= (low_first ? 500 : 0) && i < 1000;

		CHECK(a[i] == (in_a ? 0x77 : 0x33), "byte %d of the first is 0x%x", i, a[i]);
		CHECK(b[i] == (in_b ? 0x77 : 0x33), "byte %d of the second is 0x%x", i, b[i]);
	}
	/* The same in each slot, and then in none. */
	for (i = 0; i < IOMAP_SLOTS; i++) {
		say_mapping(&p, i, 100, a - p.mem, 1000);
		if (i % 32 == 31)
			meet_up(&p, s);
	}
	CHECK(place(s, buf, 1000, 100), "not placed");
	for (i = 0; i < IOMAP_SLOTS; i++) {
		CHECK(place(s, buf, 1000, 100), "not placed without %d", i);
		say_mapping(&p, i, 100, 0, 0);
		if (i % 16 == 15)
			meet_up(&p, s);
	}
	CHECK(!place(s, buf, 1, 100), "placed where nothing is mapped any more");
	check_faults(&before, NULL);
	close(s);
	peer_end(&p);
}
END_TEST

/* What is revoked is not written to any more; the answer comes behind all that was. */
START_TEST(revokes)
{
	static const struct plan plan = { .kind = REVOKING };
	struct stats before;
	uint8_t buf[1000];
	struct peer p;
	int s, i;

	s = meet(&p, _i, &plan);
	read_stats(&before);
	for (i = 0; i < 10; i++) {
		say_mapping(&p, 100, 10, RX + RX_LEN / 2, 20000);
		meet_up(&p, s);
		pattern_fill(buf, sizeof(buf), i, 0);
		for (int k = 0; k < 20; k++)
			CHECK(place(s, buf, sizeof(buf), 10 + k * 1000), "not placed");
		/* What is not even on its way finds no target any more */
		while (unsent(s))
			sleep_ms(1);
		say(&p, REVOKE(100));
		expect_control(&p, REVOKED(100));
		for (int k = 0; k < 20; k++)
			pattern_check(p.mem + RX + RX_LEN / 2 + k * 1000, 1000, i, 0);
		CHECK(!place(s, buf, 1, 10), "placed where nothing is mapped any more");
	}
	meet_up(&p, s);
	check_faults(&before, NULL);
	close(s);
	peer_end(&p);
}
END_TEST

/* --- notes: what the peer says to have written --- */

/* The other end asks for notes; where it wants them. */
static void hear_notes_wanted(struct peer *p, int fd, struct mapping *notes)
{
	set_int(fd, SOL_RSOCK, RSOCK_RECV_NOTIFY, 1);
	hear_mapping(p, notes);
	CHECK(notes->offset == NOTES_AT && notes->at.len / NOTE_LEN >= p->theirs.credits,
	      "offset 0x%llx, length %u", (unsigned long long)notes->offset, notes->at.len);
}

static uint32_t notes_room(const struct mapping *notes)
{
	return notes->at.len / NOTE_LEN;
}

/* Written to where there is room, whatever the entry is called. */
static void say_note(struct peer *p, const struct mapping *notes, uint32_t entry, uint64_t offset,
		     uint64_t len)
{
	struct note note = { offset, len };

	say_at(p, NOTE(entry), notes->at.addr + entry % notes_room(notes) * NOTE_LEN,
	       notes->at.key, &note, sizeof(note));
}

static void expect_unwritten(int fd)
{
	struct rsock_written w;

	CHECK(!read_written(fd, &w), "a note of %llu bytes at %llu", (unsigned long long)w.len,
	      (unsigned long long)w.offset);
}

/* Each is told when what it tells of is there, and as it was when its message came. */
START_TEST(noted)
{
	static const struct plan plan = { .kind = NOTING };
	struct note lie = { NOTES_AT, 0 };
	struct mapping notes;
	struct stats before;
	struct target t;
	struct peer p;
	int s, i;

	s = meet(&p, _i, &plan);
	read_stats(&before);
	hear_notes_wanted(&p, s, &notes);
	target_offer(&t, &p, s);
	/* More than it grants messages, so that it has to grant them anew. */
	for (i = 0; i < 3 * p.theirs.credits; i++) {
		target_fill(&t, 0xa5);
		write_to(&p, IBV_WR_RDMA_WRITE, t.known.at.addr + i, t.known.at.key, 100);
		say_note(&p, &notes, i % p.theirs.credits, OFFSET + i, 100);
		expect_written(s, OFFSET + i, 100);
		target_check(&t, i, i + 100, 0xee);
	}
	expect_unwritten(s);
	/* What is not mapped is the peer's word as well; the last entry there is. */
	say_note(&p, &notes, notes_room(&notes) - 1, 0, NOTES_AT);
	CHECK(wait_events(s, 0) & POLLERR, "no POLLERR");
	memcpy(p.mem + SCRATCH + SCRATCH_LEN - sizeof(lie), &lie, sizeof(lie));
	post(&p, IBV_WR_RDMA_WRITE, 0,
	     notes.at.addr + (notes_room(&notes) - 1) * NOTE_LEN, notes.at.key,
	     SCRATCH + SCRATCH_LEN - sizeof(lie), sizeof(lie));
	reap_sends(&p, 0);
	expect_written(s, 0, NOTES_AT);
	expect_unwritten(s);
	check_alive(&p, s);
	check_faults(&before, NULL);
	close(s);
	peer_end(&p);
}
END_TEST

#define BEHIND	(VALUE_MAX + 1)

static const struct {
	const char *name;
	uint32_t entry;
	uint64_t offset;
	uint64_t len;
} note_lies[] = {
	{ "of nothing", 0, 5, 0 },
	{ "never written", 0, 0, 0 },
	{ "at 2^63", 0, NOTES_AT, 1 },
	{ "up to 2^63 and one more", 0, NOTES_AT - 1, 2 },
	{ "at the end of all", 0, ~0ULL, 1 },
	{ "longer than 2^63", 0, 0, NOTES_AT + 1 },
	{ "that wraps", 0, 5, ~0ULL },
	{ "behind the mapping", BEHIND, 5, 1 },
	{ "that 32 bits of bytes do not reach", 1 << 28, 5, 1 },
	{ "2^29 - 1", VALUE_MAX, 5, 1 },
};

/* What was said before is still read, what follows is not. */
START_TEST(note_forged)
{
	static const struct plan plan = { .kind = NOTING };
	uint32_t entry = note_lies[_i / ROLES].entry;
	struct mapping notes;
	struct stats before;
	struct peer p;
	int s;

	s = meet(&p, _i % ROLES, &plan);
	hear_notes_wanted(&p, s, &notes);
	read_stats(&before);
	say_data(&p, 1000);
	say_note(&p, &notes, 1, 5, 7);
	say_note(&p, &notes, entry == BEHIND ? notes_room(&notes) : entry,
		 note_lies[_i / ROLES].offset, note_lies[_i / ROLES].len);
	say_note(&p, &notes, 2, 5, 8);
	check_reset(s, 1000);
	check_faults(&before, "FaultNote");
	expect_written(s, 5, 7);
	expect_unwritten(s);
	close(s);
	peer_end(&p);
}
END_TEST

/* As many as there are credits, if none of them is read; not one more. */
START_TEST(notes_beyond_credit)
{
	static const struct plan plan = { .kind = NOTING };
	unsigned long faults = stat_now("FaultFlood");
	struct mapping notes;
	struct stats before;
	struct peer p;
	int s, i;

	s = meet(&p, _i, &plan);
	hear_notes_wanted(&p, s, &notes);
	read_stats(&before);
	for (i = 0; i < 5000 && !flooded(&p, faults); i++)
		say_note(&p, &notes, i % notes_room(&notes), i, i + 1);
	check_reset(s, 0);
	check_faults(&before, "FaultFlood");
	for (i = 0; i < p.theirs.credits; i++)
		expect_written(s, i, i + 1);
	expect_unwritten(s);
	close(s);
	peer_end(&p);
}
END_TEST

/* A peer that has not said that it knows them, or cannot be told where. */
START_TEST(notes_refused)
{
	struct plan plan = { .kind = _i };
	int s, one = 1, err = EOPNOTSUPP;
	struct stats before;
	struct peer p;

	if (plan.kind >= NOTING) {
		plan.at = 1;	/* no table for mappings */
		plan.size = 1;
		err = ENOMEM;
	}
	s = meet(&p, PEER_CONNECTS, &plan);
	read_stats(&before);
	MUST_BE(setsockopt(s, SOL_RSOCK, RSOCK_RECV_NOTIFY, &one, sizeof(one)), -1);
	CHECK(errno == err, "%s, expected %s", err_name(errno), err_name(err));
	MUST_BE(get_int(s, SOL_RSOCK, RSOCK_RECV_NOTIFY), 0);
	expect_unwritten(s);
	check_alive(&p, s);
	check_faults(&before, NULL);
	close(s);
	peer_end(&p);
}
END_TEST

/* --- notes: where the peer says to want them --- */

/* Behind the part of the peer's buffer that it grants at first. */
#define PLACED		(RX + RX_LEN / 2)	/* what is placed at offset 0 */
#define PLACED_LEN	4096
#define NOTED		(PLACED + PLACED_LEN)

static void hear_note(struct peer *p, uint32_t entry, uint64_t offset, uint64_t len)
{
	uint32_t bytes, msg = hear_news(p, &bytes);
	struct note note;

	CHECK(msg == NOTE(entry) && bytes == NOTE_LEN, "message 0x%x with %u bytes", msg, bytes);
	memcpy(&note, p->mem + NOTED + entry * NOTE_LEN, sizeof(note));
	CHECK(note.offset == offset && note.len == len, "note of %llu bytes at %llu",
	      (unsigned long long)note.len, (unsigned long long)note.offset);
}

/* The peer maps memory that it has not written to. */
static void say_placeable(struct peer *p)
{
	memset(p->mem + PLACED, 0x33, RX + RX_LEN - PLACED);
	say_mapping(p, 0, 0, PLACED, PLACED_LEN);
}

static const struct {
	const char *name;
	struct {
		uint64_t offset;
		uint32_t len;
	} map[2];
	uint32_t room;		/* for so many notes; 0: none are to be sent */
	enum kind kind;
} wishes[] = {
	{ "nothing", { { NOTES_AT, 0 } }, 0, NOTING },
	{ "1 byte", { { NOTES_AT, 1 } }, 0, NOTING },
	{ "15 bytes", { { NOTES_AT, 15 } }, 0, NOTING },
	{ "one entry", { { NOTES_AT, 16 } }, 1, NOTING },
	{ "almost two", { { NOTES_AT, 31 } }, 1, NOTING },
	{ "two", { { NOTES_AT, 32 } }, 2, NOTING },
	{ "behind the offset", { { NOTES_AT + 1, 1000 } }, 0, NOTING },
	{ "at the end of all", { { -1025ULL, 1024 } }, 0, NOTING },
	{ "in two pieces", { { NOTES_AT, 15 }, { NOTES_AT + 15, 1000 } }, 0, NOTING },
	{ "behind what is too small", { { NOTES_AT, 15 }, { NOTES_AT, 1000 } }, 0, NOTING },
	{ "hiding what is too small", { { NOTES_AT, 64 }, { NOTES_AT, 15 } }, 4, NOTING },
	{ "revoking", { { NOTES_AT, 1000 } }, 0, REVOKING },
	{ "extended", { { NOTES_AT, 1000 } }, 0, EXTENDED },
	{ "plain", { { NOTES_AT, 1000 } }, 0, PLAIN },
};

/* What there is room for is written there, and nothing elsewhere. */
START_TEST(notes_wished)
{
	struct plan plan = { .kind = wishes[_i / ROLES].kind };
	uint32_t room = wishes[_i / ROLES].room, n;
	struct stats before;
	struct peer p;
	size_t at;
	int s, i;

	s = meet(&p, _i % ROLES, &plan);
	read_stats(&before);
	say_placeable(&p);
	for (i = 0; i < 2 && wishes[_i / ROLES].map[i].offset; i++)
		say_mapping(&p, 1 + i, wishes[_i / ROLES].map[i].offset, NOTED + i * 2000,
			    wishes[_i / ROLES].map[i].len);
	meet_up(&p, s);
	for (n = 0; n < 10; n++) {
		CHECK(place(s, "0123456789", n + 1, n * 100), "not placed");
		if (room)
			hear_note(&p, n % room, n * 100, n + 1);
	}
	/* There is no other message than those. */
	meet_up(&p, s);
	for (n = 0; n < 10; n++)
		CHECK(!memcmp(p.mem + PLACED + n * 100, "0123456789", n + 1), "%u are wrong", n);
	for (at = NOTED + room * NOTE_LEN; at < RX + RX_LEN; at++)
		CHECK(p.mem[at] == 0x33, "byte %zu behind the notes is 0x%x",
		      at - NOTED - room * NOTE_LEN, p.mem[at]);
	check_faults(&before, NULL);
	close(s);
	peer_end(&p);
}
END_TEST

/* Memory for notes that is not there: the peer's own device says no. */
START_TEST(notes_nowhere)
{
	static const struct plan plan = { .kind = NOTING };
	struct mapping m = { .offset = NOTES_AT };
	struct stats before;
	struct peer p;
	int s;

	s = meet(&p, _i % ROLES, &plan);
	read_stats(&before);
	say_placeable(&p);
	m.at = (struct entry){ (uintptr_t)p.mem + NOTED, p.mr->rkey, 1024 };
	if (_i / ROLES == 0)
		m.at.key = 0;
	else if (_i / ROLES == 1)
		m.at.key ^= 1;
	else
		m.at.addr = 0;
	say_entry(&p, IOMAP(1), IOMAP_AT(1), &m, sizeof(m));
	meet_up(&p, s);
	CHECK(place(s, "0123456789", 10, 0), "not placed");
	check_reset(s, 0);
	check_faults(&before, NULL);
	close(s);
	peer_end(&p);
}
END_TEST

/* Taken back, and wanted again, some of it. */
START_TEST(notes_unwanted)
{
	static const struct plan plan = { .kind = NOTING };
	struct stats before;
	struct peer p;
	int s, i;

	s = meet(&p, _i, &plan);
	read_stats(&before);
	say_placeable(&p);
	for (i = 0; i < 3; i++) {
		say_mapping(&p, 1, NOTES_AT, NOTED, NOTE_LEN * (3 - i));
		meet_up(&p, s);
		CHECK(place(s, "0123456789", 10, 0), "not placed");
		/* Where it went on: beyond what there is now it begins anew. */
		hear_note(&p, i % 2, 0, 10);
		say(&p, REVOKE(1));
		expect_control(&p, REVOKED(1));
		CHECK(place(s, "0123456789", 10, 100), "not placed");
		meet_up(&p, s);
	}
	check_faults(&before, NULL);
	close(s);
	peer_end(&p);
}
END_TEST

/* Taken back while a note waits for credit: what follows the note does not wait for it. */
START_TEST(note_overtaken)
{
	static const struct plan plan = { .kind = NOTING, .at = 2, .size = 2, .value = 0 };
	struct stream in = { .seed = SEED };
	struct stats before;
	struct peer p;

	in.fd = meet(&p, _i, &plan);
	read_stats(&before);
	hear_first(&p);
	say_placeable(&p);
	say_mapping(&p, 1, NOTES_AT, NOTED, 1024);
	say_data(&p, 1);
	recv_stream(&in, 1, 1);
	CHECK(place(in.fd, "0123456789", 10, 0), "not placed");
	send_all(in.fd, "abc", 3);
	CHECK(silent(&p), "sent without credit");
	say(&p, REVOKE(1));
	expect_control(&p, REVOKED(1));
	say(&p, SGL(1));
	MUST_BE(hear_data(&p), 3);
	CHECK(!memcmp(p.mem + PLACED, "0123456789", 10), "not placed");
	MUST_BE(p.mem[NOTED], 0x33);
	check_faults(&before, NULL);
	close(in.fd);
	peer_end(&p);
}
END_TEST

/* --- mappings of a process that is killed, and a peer that does not mind --- */

#define MMAPS	8

static void map_until_killed(int fd)
{
	int i;

	for (i = 0; i < MMAPS; i++)
		CHECK(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, i * 4096L) !=
		      MAP_FAILED, "%s", err_name(errno));
	for (;;)
		pause();
}

/* A child maps so much of the socket, and the peer knows of it. */
static pid_t fork_mapper(struct peer *p, int fd)
{
	pid_t pid = fork_child();
	struct mapping m;
	int i;

	if (!pid)
		map_until_killed(fd);
	for (i = 0; i < MMAPS; i++) {
		hear_mapping(p, &m);
		CHECK(m.at.len == 4096, "length %u", m.at.len);
	}
	return pid;
}

/* A process that waited would be late, as the answer comes when it is gone. */
START_TEST(killed_before_answer)
{
	static const struct plan plan = { .kind = REVOKING };
	unsigned long timeouts = stat_now("RevokeTimeouts");
	struct stats before;
	uint32_t len, msg;
	struct peer p;
	int s, i;

	s = meet(&p, _i, &plan);
	read_stats(&before);
	kill_child(fork_mapper(&p, s));
	for (i = 0; i < MMAPS; i++) {
		msg = hear_news(&p, &len);
		CHECK((msg & 0xffff) == (REVOKE(0) & 0xffff) && msg >> 29 == 7, "message 0x%x",
		      msg);
		/* REVOKED is the next code, with the same slot. */
		say(&p, msg + 1);
	}
	check_alive(&p, s);
	MUST_BE(stat_now("RevokeTimeouts"), timeouts);
	check_faults(&before, NULL);
	close(s);
	peer_end(&p);
}
END_TEST

/*
 * If no answer comes, the connection ends, but later than the process. No thread
 * waits for it, lest many such peers have as many of them.
 */
START_TEST(killed_without_answer)
{
	static const struct plan plan = { .kind = REVOKING };
	unsigned long timeouts = stat_now("RevokeTimeouts");
	int refs = first_refs(), s, i;
	struct stats before;
	struct peer p;
	uint32_t len;

	s = meet(&p, PEER_CONNECTS, &plan);
	read_stats(&before);
	kill_child(fork_mapper(&p, s));
	MUST_BE(stat_now("RevokeTimeouts"), timeouts);
	MUST_BE(poll_ms(s, 0, 0), 0);
	for (i = 0; i < MMAPS; i++)
		hear_news(&p, &len);
	MUST_BE(system("! grep -qs rsock_region_wait /proc/[0-9]*/stack"), 0);
	check_error(s, 0, ETIMEDOUT);
	CHECK(stat_now("RevokeTimeouts") > timeouts, "nobody gave up");
	check_faults(&before, NULL);
	close(s);
	peer_end(&p);
	CHECK(eventually(refs_are, &refs), "%d references, %d before", module_refs(), refs);
}
END_TEST

/* The socket is gone with it, so that there is nothing to wait for. */
START_TEST(killed_with_socket)
{
	static const struct plan plan = { .kind = REVOKING };
	unsigned long timeouts = stat_now("RevokeTimeouts");
	int refs = first_refs(), s;
	struct stats before;
	struct peer p;
	pid_t pid;

	s = meet(&p, _i, &plan);
	read_stats(&before);
	pid = fork_mapper(&p, s);
	close(s);
	kill_child(pid);
	CHECK(eventually(refs_are, &refs), "%d references, %d before", module_refs(), refs);
	MUST_BE(stat_now("RevokeTimeouts"), timeouts);
	check_faults(&before, NULL);
	peer_end(&p);
}
END_TEST

/*
 * Memory for notes cannot be had either if the peer takes nothing. A device may
 * give up sooner: rxe registers again when it tries again what went before, and
 * finds that it has done so already.
 */
START_TEST(notes_never_wanted)
{
	static const struct plan plan = { .kind = NOTING, .deaf = true };
	int refs = first_refs(), one = 1, s;
	struct peer p;
	char b;

	s = meet(&p, PEER_CONNECTS, &plan);
	send_all(s, "x", 1);	/* in front of what registers memory */
	MUST_FAIL(setsockopt(s, SOL_RSOCK, RSOCK_RECV_NOTIFY, &one, sizeof(one)), ETIMEDOUT,
		  ENOTCONN);
	wait_hup(s);
	MUST_FAIL(recv(s, &b, 1, MSG_DONTWAIT), ETIMEDOUT, ECONNRESET);
	expect_unwritten(s);
	close(s);
	peer_end(&p);
	CHECK(eventually(refs_are, &refs), "%d references, %d before", module_refs(), refs);
}
END_TEST

/* --- peers that are not there --- */

/* A peer that takes nothing: what was sent is given up after fin_timeout. */
START_TEST(deaf_peer)
{
	static const struct plan plan = { .deaf = true };
	struct awaited timeout = { "LingerTimeouts" };
	struct stream out = { .seed = 60 };
	int refs = first_refs();
	struct stats before;
	long long from;
	struct peer p;

	out.fd = meet(&p, _i % ROLES, &plan);
	set_int(out.fd, SOL_SOCKET, SO_SNDBUF, 64 * KB);
	read_stats(&before);
	timeout.from = stat_now(timeout.name);
	if (_i / ROLES)
		send_until_full(&out);
	else
		send_stream(&out, 1000, 1000);
	set_fin_timeout(1);
	from = now_ms();
	MUST(close(out.fd));
	CHECK(now_ms() - from < hang_seconds() * 1000, "%lld ms", now_ms() - from);
	CHECK(eventually(counted, &timeout), "no LingerTimeouts");
	CHECK(eventually(refs_are, &refs), "%d references, %d before", module_refs(), refs);
	set_fin_timeout(60);
	expect_event(&p, RDMA_CM_EVENT_DISCONNECTED);
	check_faults(&before, NULL);
	peer_end(&p);
}
END_TEST

struct visit {
	int listener;
	int refs;	/* of the module, without the visitor */
};

static bool came_or_left(void *arg)
{
	struct visit *v = arg;

	return poll_ms(v->listener, POLLIN, 0) || refs_are(&v->refs);
}

/*
 * It is gone as soon as it is connected, whatever it was told meanwhile.
 *
 * Its request to disconnect may overtake its RTU, or that get lost: then there
 * never was a connection to accept, and the listener has forgotten it.
 */
START_TEST(gone_at_once)
{
	int rounds = full_run() ? 200 : 20, i, forgotten = 0, s;
	struct visit v = { .listener = -1 };
	struct addr where;
	struct peer p;

	first_refs();
	if (_i == PEER_CONNECTS)
		v.listener = open_listener(IPV4, 4, &where);
	v.refs = module_refs();
	for (i = 0; i < rounds; i++) {
		peer_start(&p, NULL);
		if (_i == PEER_CONNECTS) {
			peer_request(&p, &where);
			expect_event(&p, RDMA_CM_EVENT_ESTABLISHED);
			peer_leave(&p);
			CHECK(eventually(came_or_left, &v), "neither accepted nor forgotten");
			if (!poll_ms(v.listener, POLLIN, 0)) {
				forgotten++;
				peer_end(&p);
				continue;
			}
			s = accept_one(v.listener);
		} else {
			where = peer_listen(&p);
			s = begin_connect(&where);
			peer_accept(&p);
			if (i % 2)
				expect_event(&p, RDMA_CM_EVENT_ESTABLISHED);
			peer_leave(&p);
			wait_events(s, POLLOUT);
		}
		if (i % 3 == 0)
			send(s, "x", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
		wait_hup(s);
		close(s);
		peer_end(&p);
		CHECK(eventually(refs_are, &v.refs), "%d references, %d before", module_refs(),
		      v.refs);
	}
	CHECK(forgotten < rounds, "none was ever accepted");
	if (v.listener >= 0)
		close(v.listener);
}
END_TEST

/*
 * Only its QP is gone, and nobody says so: the socket that closes with data
 * for it is given up in time.
 */
START_TEST(silently_gone)
{
	int refs = first_refs(), s;
	struct peer p;

	s = meet(&p, _i, NULL);
	rdma_destroy_qp(p.id);
	p.qp = NULL;
	send_all(s, "x", 1);
	set_fin_timeout(1);
	MUST(close(s));
	CHECK(eventually(refs_are, &refs), "%d references, %d before", module_refs(), refs);
	set_fin_timeout(60);
	peer_end(&p);
}
END_TEST

/* The end of the connection, but not of the stream. */
START_TEST(end_without_disconnect)
{
	struct stats before;
	struct peer p;
	int s;

	s = meet(&p, _i % ROLES, NULL);
	read_stats(&before);
	say_data(&p, 1000);
	say_data(&p, 500);
	reap_sends(&p, 0);
	MUST_BE(p.status, 0);
	if (_i / ROLES)
		peer_leave(&p);
	else
		MUST(rdma_disconnect(p.id));
	check_reset(s, 1500);
	check_faults(&before, NULL);
	close(s);
	peer_end(&p);
}
END_TEST

static typeof(suite_create("")) suite;

static void add_lies(void)
{
	TCase *tc = add_case(suite, "lies", 30);
	int i;

	for (i = 0; i < (int)ARRAY_SIZE(lies); i++)
		if (lies[i].only != (iwarp ? ROCE : IWARP))
			tcase_add_loop_test(tc, lie_told, i * ROLES, (i + 1) * ROLES);
	tcase_add_loop_test(tc, lie_then_more, 0, 3);
	tcase_add_loop_test(tc, more_said, 0, 2 * ROLES);
	tcase_add_loop_test(tc, more_heard, 0, MORES);
	tcase_add_loop_test(tc, span_taken, 0, 2 * ROLES);
	tcase_add_loop_test(tc, span_refused, 0, ARRAY_SIZE(bad_spans) * ROLES);
	/* No device of iWARP has been told that the peer would read. */
	tcase_add_loop_test(tc, trespass, 0, (iwarp ? READ : TRESPASSES) * 2);
}

/* What does not ask for RoCE's connection manager, or for receives that wait. */
static void add_iwarp(void)
{
	TCase *tc = add_case(suite, "iwarp", 60);

	add_lies();
	tcase_add_loop_test(tc, request_forged, 0, ARRAY_SIZE(forgeries));
	tcase_add_loop_test(tc, answer_forged, 0, ARRAY_SIZE(forgeries));
	tcase_add_test(tc, request_rejected);
	tcase_add_loop_test(tc, memory_pretended, 0, 4 * ROLES);
	tcase_add_loop_test(tc, no_credit, 0, ROLES);
	tcase_add_loop_test(tc, other_byte_order, 0, ROLES);
	tcase_add_loop_test(tc, data_never_written, 0, ROLES);
	tcase_add_loop_test(tc, after_disconnect, 0, ROLES);
	tcase_add_loop_test(tc, shutdown_repeated, 0, ROLES);
	tcase_add_loop_test(tc, revoked, 0, ROLES);
	tcase_add_loop_test(tc, revoked_wrongly, 0, ANSWERS * ROLES);
	tcase_add_loop_test(tc, noted, 0, ROLES);
	tcase_add_loop_test(tc, note_forged, 0, ARRAY_SIZE(note_lies) * ROLES);
	tcase_add_loop_test(tc, gone_at_once, 0, ROLES);
	tcase_add_loop_test(tc, end_without_disconnect, 0, 2 * ROLES);
}

int main(void)
{
	const char *driver = getenv("RDMA_DRIVER");
	TCase *tc;

	suite = suite_create("hostile");
	iwarp = driver && !strcmp(driver, "siw");
	if (iwarp) {
		add_iwarp();
		return run_suite(suite);
	}
	tc = add_case(suite, "connecting", 30);
	tcase_add_loop_test(tc, request_forged, 0, ARRAY_SIZE(forgeries));
	tcase_add_loop_test(tc, answer_forged, 0, ARRAY_SIZE(forgeries));
	tcase_add_test(tc, request_rejected);
	tcase_add_test(tc, request_ignored);
	tcase_add_loop_test(tc, no_rtu, 0, 3);
	tcase_add_loop_test(tc, memory_pretended, 0, 4 * ROLES);
	tcase_add_loop_test(tc, no_credit, 0, ROLES);
	tcase_add_loop_test(tc, other_byte_order, 0, ROLES);

	add_lies();

	tc = add_case(suite, "borne", 30);
	tcase_add_loop_test(tc, borne, 0, ARRAY_SIZE(oddities) * ROLES);
	tcase_add_loop_test(tc, data_never_written, 0, ROLES);
	tcase_add_loop_test(tc, after_disconnect, 0, ROLES);
	tcase_add_loop_test(tc, shutdown_repeated, 0, ROLES);

	tc = add_case(suite, "placement", 60);
	tcase_add_loop_test(tc, intrude, 0, ARRAY_SIZE(intrusions) * 2);
	tcase_add_loop_test(tc, writes_on, 0, KINDS);
	tcase_add_loop_test(tc, revoked, 0, ROLES);
	tcase_add_loop_test(tc, revoked_wrongly, 0, ANSWERS * ROLES);
	tcase_add_loop_test(tc, nothing_there, 0, 4 * ROLES);
	tcase_add_loop_test(tc, rewritten, 0, ROLES);
	tcase_add_loop_test(tc, overlapping, 0, 2 * ROLES);
	tcase_add_loop_test(tc, revokes, 0, ROLES);

	tc = add_case(suite, "notes", 30);
	tcase_add_loop_test(tc, noted, 0, ROLES);
	tcase_add_loop_test(tc, note_forged, 0, ARRAY_SIZE(note_lies) * ROLES);
	tcase_add_loop_test(tc, notes_beyond_credit, 0, ROLES);
	tcase_add_loop_test(tc, notes_refused, 0, KINDS);
	tcase_add_loop_test(tc, notes_wished, 0, ARRAY_SIZE(wishes) * ROLES);
	tcase_add_loop_test(tc, notes_nowhere, 0, 3 * ROLES);
	tcase_add_loop_test(tc, notes_unwanted, 0, ROLES);
	tcase_add_loop_test(tc, note_overtaken, 0, ROLES);

	tc = add_case(suite, "unanswered", 60);
	tcase_add_loop_test(tc, never_revoked, 0, 2);
	tcase_add_test(tc, notes_never_wanted);

	tc = add_case(suite, "killed", 60);
	tcase_add_loop_test(tc, killed_before_answer, 0, ROLES);
	tcase_add_test(tc, killed_without_answer);
	tcase_add_loop_test(tc, killed_with_socket, 0, ROLES);

	tc = add_case(suite, "gone", 30);
	tcase_add_loop_test(tc, deaf_peer, 0, 2 * ROLES);
	tcase_add_loop_test(tc, gone_at_once, 0, ROLES);
	tcase_add_loop_test(tc, silently_gone, 0, ROLES);
	tcase_add_loop_test(tc, end_without_disconnect, 0, 2 * ROLES);

	return run_suite(suite);
}
