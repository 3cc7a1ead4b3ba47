// SPDX-License-Identifier: GPL-2.0
/*
 * The same calls by io_uring.
 */
#include <liburing.h>

#include "matrix.h"

static struct io_uring ring;

static bool has_uring(void)
{
	if (io_uring_queue_init(4, &ring, 0))
		return false;
	io_uring_queue_exit(&ring);
	return true;
}

static void run_with_ring(const struct matrix_case *c)
{
	int err = io_uring_queue_init(32, &ring, 0);

	CHECK(!err, "%s", err_name(-err));
	c->script();
}

static struct io_uring_sqe *new_sqe(void)
{
	return io_uring_get_sqe(&ring);
}

static void submit(struct io_uring_sqe *sqe, int id)
{
	io_uring_sqe_set_data64(sqe, id);
	MUST_BE(io_uring_submit(&ring), 1);
}

static void rec_cqe(const char *label, const struct io_uring_cqe *cqe)
{
	errno = -cqe->res;
	rec_result(label, cqe->res < 0 ? -1 : cqe->res);
	rec("more", "%d", !!(cqe->flags & IORING_CQE_F_MORE));
}

/* What the request returns; guarded */
static void rec_completion(const char *label, int id)
{
	struct __kernel_timespec guard = { .tv_sec = hang_seconds() / 2 };
	struct io_uring_cqe *cqe;
	int err = io_uring_wait_cqe_timeout(&ring, &cqe, &guard);

	CHECK(!err, "%s: nothing completes: %s", label, err_name(-err));
	CHECK((int)cqe->user_data == id, "%s: request %d", label, (int)cqe->user_data);
	rec_cqe(label, cqe);
	io_uring_cqe_seen(&ring, cqe);
}

static void rec_submitted(const char *label, struct io_uring_sqe *sqe)
{
	submit(sqe, 1);
	rec_completion(label, 1);
}

static const char *look_pending(int fd)
{
	struct io_uring_cqe *cqe;

	(void)fd;
	return io_uring_peek_cqe(&ring, &cqe) ? "pending" : "complete";
}

static void rec_pending(const char *label)
{
	rec_settled(label, look_pending, 0);
}

/* --- data ------------------------------------------------------------------------- */

static void send_recv(void)
{
	struct place p = make_state("connected");
	struct io_uring_sqe *sqe;
	char buf[16] = "";

	sqe = new_sqe();
	io_uring_prep_send(sqe, p.fd, "hello", 5, 0);
	rec_submitted("send", sqe);
	rec_ready("peer", p.peer);
	sqe = new_sqe();
	io_uring_prep_recv(sqe, p.peer, buf, 16, 0);
	rec_submitted("recv", sqe);
	rec_data("data", buf, 5);
}

/* Asked before it is there */
static void recv_waits(void)
{
	struct place p = make_state("connected");
	struct io_uring_sqe *sqe;
	char buf[16] = "";

	sqe = new_sqe();
	io_uring_prep_recv(sqe, p.fd, buf, 16, 0);
	submit(sqe, 1);
	rec_pending("nothing");
	send_all(p.peer, "later", 5);
	rec_completion("recv", 1);
	rec_data("data", buf, 5);
}

static void recv_all_waits(void)
{
	struct place p = make_state("readable");
	struct io_uring_sqe *sqe;
	char buf[16] = "";

	sqe = new_sqe();
	io_uring_prep_recv(sqe, p.fd, buf, 8, MSG_WAITALL);
	submit(sqe, 1);
	rec_pending("a part");
	send_all(p.peer, " all", 4);
	rec_completion("recv", 1);
	rec_data("data", buf, 8);
	rec_recv("left", p.fd, 8);
}

static void recv_ended_by(const char *what, void (*act)(struct place *p))
{
	struct place p = make_state("connected");
	struct io_uring_sqe *sqe;
	char buf[16] = "";

	sqe = new_sqe();
	io_uring_prep_recv(sqe, p.fd, buf, 16, 0);
	submit(sqe, 1);
	rec_pending("nothing");
	act(&p);
	rec_completion(what, 1);
	rec_ready("after", p.fd);
}

static void close_peer(struct place *p)
{
	MUST(close(p->peer));
}

static void reset_peer(struct place *p)
{
	set_linger(p->peer, true, 0);
	close_peer(p);
}

static void shut_both(struct place *p)
{
	MUST(shutdown(p->fd, SHUT_RDWR));
}

static void cancel_it(struct place *p)
{
	struct io_uring_sync_cancel_reg reg = { .addr = 1, .timeout = { -1, -1 } };

	(void)p;
	MUST_BE(io_uring_register_sync_cancel(&ring, &reg), 0);
}

static void recv_closed(void)
{
	recv_ended_by("closed", close_peer);
}

static void recv_reset(void)
{
	recv_ended_by("reset", reset_peer);
}

static void recv_shut(void)
{
	recv_ended_by("shut down", shut_both);
}

static void recv_cancelled(void)
{
	recv_ended_by("cancelled", cancel_it);
}

static void messages(void)
{
	struct place p = make_state("connected");
	struct iovec out[] = { { "ab", 2 }, { "cde", 3 } };
	char buf[16] = "";
	struct iovec in[] = { { buf, 3 }, { buf + 3, 13 } };
	struct msghdr msg = { .msg_iov = out, .msg_iovlen = 2 };
	struct io_uring_sqe *sqe;

	sqe = new_sqe();
	io_uring_prep_sendmsg(sqe, p.fd, &msg, 0);
	rec_submitted("sendmsg", sqe);
	rec_ready("peer", p.peer);
	msg.msg_iov = in;
	sqe = new_sqe();
	io_uring_prep_recvmsg(sqe, p.peer, &msg, 0);
	rec_submitted("recvmsg", sqe);
	rec_data("data", buf, 5);
}

/* --- connections --------------------------------------------------------------------- */

static void connect_with(struct addr a, int flags)
{
	int fd = open_socket(IPV4, flags);
	struct io_uring_sqe *sqe;

	sqe = new_sqe();
	io_uring_prep_connect(sqe, fd, &a.sa, a.len);
	rec_submitted("connect", sqe);
	rec_ready("after", fd);
	rec_error(fd);
}

static void connect_live(void)
{
	connect_with(live_address(), 0);
}

static void connect_live_nonblock(void)
{
	connect_with(live_address(), SOCK_NONBLOCK);
}

static void connect_refused(void)
{
	connect_with(refusing_address(), 0);
}

static void connect_cancelled(void)
{
	struct addr a = dead_address();
	int fd = open_socket(IPV4, 0);
	struct io_uring_sqe *sqe;

	sqe = new_sqe();
	io_uring_prep_connect(sqe, fd, &a.sa, a.len);
	submit(sqe, 1);
	rec_pending("no answer");
	cancel_it(NULL);
	rec_completion("cancelled", 1);
	rec_ready("after", fd);
}

static void accepts(void)
{
	struct io_uring_sqe *sqe;
	struct addr a;
	int fd = open_listener(IPV4, 4, &a);

	sqe = new_sqe();
	io_uring_prep_accept(sqe, fd, NULL, NULL, SOCK_CLOEXEC);
	submit(sqe, 1);
	rec_pending("nobody");
	open_client(IPV4, &a);
	rec_completion("accept", 1);
	sqe = new_sqe();
	io_uring_prep_accept(sqe, fd, NULL, NULL, 0);
	submit(sqe, 2);
	rec_pending("nobody");
	MUST(shutdown(fd, SHUT_RDWR));
	rec_completion("shut down", 2);
}

static void accept_multishot(void)
{
	struct io_uring_sqe *sqe;
	struct addr a;
	int fd = open_listener(IPV4, 4, &a), i;

	sqe = new_sqe();
	io_uring_prep_multishot_accept(sqe, fd, NULL, NULL, 0);
	submit(sqe, 1);
	for (i = 0; i < 3; i++) {
		rec_pending("nobody");
		open_client(IPV4, &a);
		rec_completion("accept", 1);
	}
	cancel_it(NULL);
	rec_completion("cancelled", 1);
}

/* --- readiness ---------------------------------------------------------------------------- */

static void polls(void)
{
	struct place p = make_state("connected");
	struct io_uring_sqe *sqe;

	sqe = new_sqe();
	io_uring_prep_poll_add(sqe, p.fd, POLLIN | POLLRDHUP);
	submit(sqe, 1);
	rec_pending("nothing");
	send_all(p.peer, "abc", 3);
	rec_completion("data", 1);
	rec_recv("recv", p.fd, 8);
	sqe = new_sqe();
	io_uring_prep_poll_add(sqe, p.fd, POLLIN | POLLRDHUP);
	submit(sqe, 2);
	MUST(shutdown(p.peer, SHUT_WR));
	rec_completion("end", 2);
}

/* A send waits for the one before it, and a receive fails with its chain. */
static void chain(void)
{
	struct place p = make_state("connected");
	struct io_uring_sqe *sqe;
	int i;

	for (i = 1; i <= 3; i++) {
		sqe = new_sqe();
		io_uring_prep_send(sqe, p.fd, &"123"[i - 1], 1, 0);
		io_uring_sqe_set_data64(sqe, i);
		sqe->flags |= IOSQE_IO_LINK;
	}
	sqe = new_sqe();
	io_uring_prep_shutdown(sqe, p.fd, SHUT_WR);
	io_uring_sqe_set_data64(sqe, 4);
	MUST_BE(io_uring_submit(&ring), 4);
	for (i = 1; i <= 4; i++)
		rec_completion("chain", i);
	rec_ready("peer", p.peer);
	rec_recv("peer reads", p.peer, 8);
}

static void bad_buffers(void)
{
	struct place p = make_state("readable");
	struct io_uring_sqe *sqe;

	sqe = new_sqe();
	io_uring_prep_recv(sqe, p.fd, (void *)8, 3, 0);
	rec_submitted("recv", sqe);
	sqe = new_sqe();
	io_uring_prep_send(sqe, p.fd, (void *)8, 3, 0);
	rec_submitted("send", sqe);
	sqe = new_sqe();
	io_uring_prep_recv(sqe, p.fd, NULL, 0, 0);
	rec_submitted("recv nothing", sqe);
	sqe = new_sqe();
	io_uring_prep_send(sqe, p.fd, "x", 1, MSG_OOB);
	rec_submitted("send MSG_OOB", sqe);
	rec_recv("left", p.fd, 8);
}

static const struct script uring_scripts[] = {
	{ "send, recv", send_recv },
	{ "recv waits", recv_waits },
	{ "recv MSG_WAITALL waits", recv_all_waits },
	{ "recv, closed", recv_closed },
	{ "recv, reset", recv_reset },
	{ "recv, shut down", recv_shut },
	{ "recv, cancelled", recv_cancelled },
	{ "sendmsg, recvmsg", messages },
	{ "connect", connect_live },
	{ "connect, nonblocking", connect_live_nonblock },
	{ "connect, refused", connect_refused },
	{ "connect, cancelled", connect_cancelled },
	{ "accept", accepts },
	{ "accept, multishot", accept_multishot },
	{ "poll", polls },
	{ "chain", chain },
	{ "bad buffers", bad_buffers },
};

void add_uring(void)
{
	int i;

	if (!has_uring())
		return;
	for (i = 0; i < (int)ARRAY_SIZE(uring_scripts); i++)
		new_script("io_uring", &uring_scripts[i])->run = run_with_ring;
}
