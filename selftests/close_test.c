// SPDX-License-Identifier: GPL-2.0
/*
 * The ends of a connection: shutdown(), close(), linger, killed peers; and
 * descriptors that are shared, inherited and passed on.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "util.h"

#define SMALL_BUF	(64 * 1024)

static const char * const how_names[] = { "SHUT_RD", "SHUT_WR", "SHUT_RDWR" };

/* Sends until that fails, soon; with which error. */
static int send_until_error(int fd)
{
	long long end = now_ms() + hang_seconds() * 1000;
	char buf[100] = { };

	while (send(fd, buf, sizeof(buf), MSG_NOSIGNAL | MSG_DONTWAIT) >= 0 || errno == EAGAIN) {
		CHECK(now_ms() < end, "send() goes on and on");
		sleep_ms(1);
	}
	return errno;
}

/* --- shutdown() -------------------------------------------------------------------- */

START_TEST(shutdown_write)
{
	struct pair p = open_pair(_i);
	struct stream out = { .fd = p.c, .seed = 1 }, in = { .fd = p.s, .seed = 1 };
	char b = 0;

	send_stream(&out, 100000, 100000);
	MUST(shutdown(p.c, SHUT_WR));
	MUST_FAIL(send(p.c, &b, 1, MSG_NOSIGNAL), EPIPE);
	count_signal(SIGPIPE, 0);
	MUST_FAIL(write(p.c, &b, 1), EPIPE);
	MUST_BE(signals_seen, 1);
	MUST_FAIL(send(p.c, &b, 1, MSG_NOSIGNAL), EPIPE);
	MUST_BE(signals_seen, 1);
	/* All data, then the end, for ever. */
	MUST_BE(recv_to_end(&in, 65536), 100000);
	MUST_BE(recv(p.s, &b, 1, 0), 0);
	MUST_BE(recv(p.s, &b, 1, MSG_DONTWAIT), 0);
	MUST_BE(recv(p.s, &b, 1, MSG_PEEK), 0);
	MUST(shutdown(p.c, SHUT_WR));
	MUST_BE(get_int(p.c, SOL_SOCKET, SO_ERROR), 0);
	close_pair(&p);
}
END_TEST

static void run_sink(void *arg)
{
	struct stream *st = arg;

	recv_to_end(st, 50000);
}

/* The other direction is as good as before, for any amount of data. */
START_TEST(half_close)
{
	struct pair p = _i % 2 ? open_small_pair(IPV4, SMALL_BUF) : open_pair(IPV4);
	int first = _i < 2 ? p.c : p.s, second = _i < 2 ? p.s : p.c;
	struct stream out = { .fd = second, .seed = 2 }, in = { .fd = first, .seed = 2 };
	uint64_t len = (full_run() ? 64 : 4) * MB;
	struct worker w;

	send_all(first, "request", 7);
	MUST(shutdown(first, SHUT_WR));
	skip(second, 7);
	expect_end(second);
	expect_nothing(first);
	start(&w, run_sink, &in);
	send_stream(&out, len, 100000);
	expect_end(second);
	sleep_ms(50);
	send_stream(&out, 1000, 10);
	MUST(shutdown(second, SHUT_WR));
	join(&w);
	MUST_BE(in.pos, len + 1000);
	MUST_BE(get_int(p.c, SOL_SOCKET, SO_ERROR), 0);
	MUST_BE(get_int(p.s, SOL_SOCKET, SO_ERROR), 0);
	close_pair(&p);
}
END_TEST

/* Half-closed before the peer has accepted. */
START_TEST(half_close_before_accept)
{
	struct addr where;
	int listener = open_listener(_i, 4, &where), c = open_client(_i, &where), s;
	struct stream out, in;

	send_all(c, "request", 7);
	MUST(shutdown(c, SHUT_WR));
	s = accept_one(listener);
	skip(s, 7);
	expect_end(s);
	out = (struct stream){ .fd = s, .seed = 3 };
	in = (struct stream){ .fd = c, .seed = 3 };
	send_stream(&out, 20000, 20000);
	close(s);
	MUST_BE(recv_to_end(&in, 3000), 20000);
	close(c);
	close(listener);
}
END_TEST

START_TEST(shutdown_read)
{
	struct pair p = open_pair(_i);
	char buf[10];

	send_all(p.s, "0123456789", 10);
	wait_inq(p.c, 10);
	MUST(shutdown(p.c, SHUT_RD));
	/* What was there can still be had. */
	MUST_BE(recv(p.c, buf, 10, 0), 10);
	MUST_BE(recv(p.c, buf, 10, 0), 0);
	MUST_BE(recv(p.c, buf, 10, MSG_DONTWAIT), 0);
	/* The peer knows nothing of it, and sending works. */
	expect_nothing(p.s);
	send_all(p.c, "abc", 3);
	recv_all(p.s, buf, 3);
	MUST_BE(send(p.s, buf, 10, MSG_NOSIGNAL), 10);
	MUST_BE(get_int(p.s, SOL_SOCKET, SO_ERROR), 0);
	close_pair(&p);
}
END_TEST

START_TEST(shutdown_both)
{
	struct pair p = open_pair(_i);
	struct stream out = { .fd = p.c, .seed = 4 }, in = { .fd = p.s, .seed = 4 };
	char b = 0;

	send_stream(&out, 50000, 50000);
	MUST(shutdown(p.c, SHUT_RDWR));
	MUST_BE(recv(p.c, &b, 1, 0), 0);
	MUST_FAIL(send(p.c, &b, 1, MSG_NOSIGNAL), EPIPE);
	MUST_BE(recv_to_end(&in, 10000), 50000);
	MUST(shutdown(p.s, SHUT_WR));
	wait_exactly(p.s, POLLIN | POLLOUT | POLLRDHUP | POLLHUP);
	wait_exactly(p.c, POLLIN | POLLOUT | POLLRDHUP | POLLHUP);
	MUST_BE(get_int(p.c, SOL_SOCKET, SO_ERROR), 0);
	MUST_BE(get_int(p.s, SOL_SOCKET, SO_ERROR), 0);
	MUST_FAIL(send(p.s, &b, 1, MSG_NOSIGNAL), EPIPE);
	close_pair(&p);
}
END_TEST

/* Both at the same time, with data on the way in both directions. */
static void send_and_end(void *arg)
{
	struct stream *st = arg;

	send_stream(st, 300000, 10000);
	MUST(shutdown(st->fd, SHUT_WR));
}

START_TEST(shutdown_crossing)
{
	int round;

	for (round = 0; round < (full_run() ? 200 : 20); round++) {
		struct pair p = open_pair(IPV4);
		struct stream out[2] = { { .fd = p.c, .seed = 5 }, { .fd = p.s, .seed = 6 } };
		struct stream in[2] = { { .fd = p.s, .seed = 5 }, { .fd = p.c, .seed = 6 } };
		struct worker w[4];
		int i;

		for (i = 0; i < 2; i++) {
			start(&w[i], send_and_end, &out[i]);
			start(&w[2 + i], run_sink, &in[i]);
		}
		for (i = 0; i < 4; i++)
			join(&w[i]);
		MUST_BE(in[0].pos, 300000);
		MUST_BE(in[1].pos, 300000);
		close_pair(&p);
	}
}
END_TEST

/* --- a call that blocks, and what ends it ------------------------------------------------ */

enum block { RECV, PEEK, WAITALL, SEND, POLL_DATA, POLL_ROOM, EPOLL, BLOCKS };

static const char * const block_names[] = {
	"recv", "peek", "recv all", "send", "poll", "poll for room", "epoll",
};

struct blocked {
	enum block call;
	int fd;
	long long ret;
	int err;
	int events;
	struct worker w;
};

static void run_blocked(void *arg)
{
	struct blocked *b = arg;
	struct pollfd pfd = { .fd = b->fd };
	struct epoll_event ev = { .events = EPOLLIN | EPOLLRDHUP };
	static char big[1000000];
	char small[10];
	int ep;

	switch (b->call) {
	case RECV:
		b->ret = recv(b->fd, small, 10, 0);
		break;
	case PEEK:
		b->ret = recv(b->fd, small, 10, MSG_PEEK);
		break;
	case WAITALL:
		b->ret = recv(b->fd, small, 10, MSG_WAITALL);
		break;
	case SEND:
		b->ret = send(b->fd, big, sizeof(big), MSG_NOSIGNAL);
		break;
	case POLL_DATA:
	case POLL_ROOM:
		pfd.events = b->call == POLL_DATA ? POLLIN | POLLRDHUP : POLLOUT;
		b->ret = poll(&pfd, 1, -1);
		b->events = pfd.revents;
		break;
	case EPOLL:
		ep = epoll_create1(0);
		epoll_ctl(ep, EPOLL_CTL_ADD, b->fd, &ev);
		b->ret = epoll_wait(ep, &ev, 1, -1);
		b->events = ev.events;
		break;
	default:
		break;
	}
	b->err = errno;
}

static bool needs_full(enum block call)
{
	return call == SEND || call == POLL_ROOM;
}

/* By shutdown() in another thread. */
START_TEST(woken_by_shutdown)
{
	enum block call = _i / 3;
	int how = _i % 3;
	struct pair p = open_small_pair(IPV4, SMALL_BUF);
	struct stream out = { .fd = p.c, .seed = 7 };
	struct blocked b = { .call = call, .fd = p.c };

	/* SHUT_WR does not end reading, nor SHUT_RD writing. */
	if ((how == SHUT_WR && !needs_full(call)) || (how == SHUT_RD && needs_full(call)))
		return;
	if (needs_full(call))
		send_until_full(&out);
	start(&b.w, run_blocked, &b);
	wait_blocked(&b.w);
	MUST(shutdown(p.c, how));
	join(&b.w);
	switch (call) {
	case RECV:
	case PEEK:
	case WAITALL:
		CHECK(b.ret == 0, "%s, %s: %lld (%s)", block_names[call], how_names[how], b.ret,
		      err_name(b.err));
		break;
	case SEND:
		/* Some of it may have found room. */
		CHECK((b.ret < 0 && b.err == EPIPE) || (b.ret > 0 && b.ret < 1000000),
		      "%s: %lld (%s)", how_names[how], b.ret, err_name(b.err));
		MUST_FAIL(send(p.c, "x", 1, MSG_NOSIGNAL), EPIPE);
		break;
	case POLL_ROOM:
		CHECK(b.ret == 1 && b.events & POLLOUT, "%s: %s", how_names[how],
		      event_text(b.events));
		break;
	default:
		CHECK(b.ret == 1 && (b.events & (POLLIN | POLLRDHUP)) == (POLLIN | POLLRDHUP),
		      "%s, %s: %s", block_names[call], how_names[how], event_text(b.events));
		break;
	}
	close_pair(&p);
}
END_TEST

static void run_accept(void *arg)
{
	struct blocked *b = arg;

	b->ret = accept(b->fd, NULL, NULL);
	b->err = errno;
}

START_TEST(accept_woken_by_shutdown)
{
	static const int hows[] = { SHUT_RD, SHUT_RDWR };
	struct addr where;
	struct blocked b = { .fd = open_listener(IPV4, 4, &where) };
	int c;

	start(&b.w, run_accept, &b);
	wait_blocked(&b.w);
	MUST(shutdown(b.fd, hows[_i]));
	join(&b.w);
	CHECK(b.ret < 0 && b.err == EINVAL, "%lld (%s)", b.ret, err_name(b.err));
	c = open_socket(IPV4, 0);
	MUST_FAIL(connect(c, &where.sa, where.len), ECONNREFUSED);
	close(c);
	close(b.fd);
}
END_TEST

enum end { CLOSED, SHUT, EXITED, KILLED, KILLED_UNREAD, ENDS };

static const char * const end_names[] = {
	"close()", "shutdown()", "exit", "SIGKILL", "SIGKILL with unread data",
};

/* The peer is another process, which ends its side as told, when told. */
static pid_t peer_process(const struct addr *where, enum end end, int go)
{
	pid_t pid = fork_child();
	int fd;
	char b;

	if (pid)
		return pid;
	fd = open_client(IPV4, where);
	MUST_BE(read(go, &b, 1), 1);
	if (end == CLOSED)
		close(fd);
	else if (end == SHUT)
		shutdown(fd, SHUT_RDWR);
	else if (end == EXITED)
		_exit(0);
	/* Killed, or waiting to be allowed to exit. */
	if (end == KILLED || end == KILLED_UNREAD)
		pause();
	MUST_BE(read(go, &b, 1), 1);
	_exit(0);
}

/*
 * By what the peer does. A peer that goes away with data unread resets a TCP
 * connection; AF_RSOCK ends it in order, as if those had been read.
 */
START_TEST(woken_by_peer)
{
	enum block call = _i / ENDS;
	enum end end = _i % ENDS;
	bool unread = needs_full(call) || end == KILLED_UNREAD;
	struct addr where;
	int listener = open_listener(IPV4, 4, &where), go[2], s;
	struct stream out = { };
	struct blocked b;
	pid_t pid;

	MUST(pipe(go));
	pid = peer_process(&where, end, go[0]);
	s = accept_one(listener);
	set_int(s, SOL_SOCKET, SO_SNDBUF, SMALL_BUF);
	out = (struct stream){ .fd = s, .seed = 8 };
	if (needs_full(call))
		send_until_full(&out);
	else if (unread)
		send_stream(&out, 1000, 1000);
	b = (struct blocked){ .call = call, .fd = s };
	start(&b.w, run_blocked, &b);
	wait_blocked(&b.w);
	if (end == KILLED || end == KILLED_UNREAD)
		kill_child(pid);
	else
		MUST_BE(write(go[1], "x", 1), 1);
	if (end == SHUT && needs_full(call)) {
		/* TCP may go on sending to a peer that does not read. */
		MUST_BE(write(go[1], "x", 1), 1);
		reap(pid);
		pid = 0;
	}
	join(&b.w);
	switch (call) {
	case RECV:
	case PEEK:
	case WAITALL:
		CHECK(b.ret == 0 || (unread && b.ret < 0 && b.err == ECONNRESET),
		      "%s, %s: %lld (%s)", block_names[call], end_names[end], b.ret,
		      err_name(b.err));
		break;
	case SEND:
		/* Either it got something into the buffer before, or nothing. */
		CHECK(b.ret > 0 || (b.ret < 0 && (b.err == ECONNRESET || b.err == EPIPE)),
		      "%s, %s: %lld (%s)", block_names[call], end_names[end], b.ret,
		      err_name(b.err));
		break;
	case POLL_ROOM:
		CHECK(b.ret == 1 && b.events & (POLLOUT | POLLHUP | POLLERR), "%s: %s",
		      end_names[end], event_text(b.events));
		break;
	default:
		CHECK(b.ret == 1 && b.events & POLLIN && b.events & POLLRDHUP, "%s, %s: %s",
		      block_names[call], end_names[end], event_text(b.events));
		break;
	}
	/* From now on there is nobody to send to. */
	if (end != SHUT || !pid) {
		int err = send_until_error(s);

		CHECK(err == EPIPE || err == ECONNRESET, "%s", err_name(err));
	}
	if (pid && end != KILLED && end != KILLED_UNREAD) {
		if (end != EXITED)
			MUST_BE(write(go[1], "x", 1), 1);
		reap(pid);
	}
	close(s);
	close(listener);
}
END_TEST

/* Who accepts and goes away at once is noticed, too. */
START_TEST(peer_leaves_after_accept)
{
	struct addr where;
	int listener = open_listener(_i, 4, &where), c, err;
	pid_t pid;

	pid = fork_child();
	if (!pid) {
		accept_one(listener);
		_exit(0);
	}
	c = open_client(_i, &where);
	expect_end(c);
	reap(pid);
	err = send_until_error(c);
	CHECK(err == EPIPE || err == ECONNRESET, "%s", err_name(err));
	close(c);
	close(listener);
}
END_TEST

/* What was sent is delivered, however the sender ends. */
START_TEST(data_before_the_end)
{
	static const uint64_t lens[] = { 1, 1000, 100000, 0 };	/* 0: until full */
	enum end end = _i % (KILLED + 1);
	uint64_t len = lens[_i / (KILLED + 1)];
	struct addr where;
	int listener = open_listener(IPV4, 4, &where), s, report[2];
	struct stream in = { .seed = 9 };
	pid_t pid;

	MUST(pipe(report));
	pid = fork_child();
	if (!pid) {
		struct stream out = { .fd = open_client(IPV4, &where), .seed = 9 };

		if (len)
			send_stream(&out, len, len);
		else
			send_until_full(&out);
		MUST_BE(write(report[1], &out.pos, 8), 8);
		if (end == CLOSED)
			close(out.fd);
		else if (end == SHUT)
			shutdown(out.fd, SHUT_RDWR);
		if (end != EXITED)
			pause();
		_exit(0);
	}
	s = accept_one(listener);
	MUST_BE(read(report[0], &len, 8), 8);
	if (end == EXITED)
		reap(pid);
	else if (end == KILLED)
		kill_child(pid);
	else
		sleep_ms(20);
	in.fd = s;
	recv_stream(&in, 1, 1);
	sleep_ms(20);
	MUST_BE(recv_to_end(&in, 30000), len - 1);
	MUST_BE(get_int(s, SOL_SOCKET, SO_ERROR), 0);
	if (end == CLOSED || end == SHUT)
		kill_child(pid);
	close(s);
	close(listener);
}
END_TEST

START_TEST(kill_many)
{
	int n = full_run() ? 500 : 50, listener, i;
	struct addr where;
	int s[500];
	pid_t pid;

	listener = open_listener(IPV4, 500, &where);
	pid = fork_child();
	if (!pid) {
		for (i = 0; i < n; i++)
			send_all(open_client(IPV4, &where), "x", 1);
		pause();
	}
	for (i = 0; i < n; i++) {
		char b;

		s[i] = accept_one(listener);
		recv_all(s[i], &b, 1);
		expect_nothing(s[i]);
	}
	kill_child(pid);
	for (i = 0; i < n; i++) {
		expect_end(s[i]);
		close(s[i]);
	}
	close(listener);
}
END_TEST

/* --- close() ---------------------------------------------------------------------- */

enum lingering { NO_LINGER, LINGER, LINGER_SHORT, LINGERINGS };

static void late_reader(void *arg)
{
	struct stream *in = arg;

	sleep_ms(100);
	recv_to_end(in, 20000);
}

/*
 * All that send() took arrives after close(), which waits for it if asked to,
 * but not longer than that.
 */
START_TEST(close_with_data_unsent)
{
	struct pair p = open_small_pair(_i / LINGERINGS, SMALL_BUF);
	struct stream out = { .fd = p.c, .seed = 10 }, in = { .fd = p.s, .seed = 10 };
	int lingering = _i % LINGERINGS;
	uint64_t sent = send_until_full(&out);
	struct worker w;
	long long from;

	if (lingering == NO_LINGER) {
		MUST(close(p.c));
		MUST_BE(recv_to_end(&in, 20000), sent);
	} else if (lingering == LINGER) {
		set_linger(p.c, true, hang_seconds());
		start(&w, late_reader, &in);
		MUST(close(p.c));
		join(&w);
		MUST_BE(in.pos, sent);
	} else {
		/* Nobody reads meanwhile. */
		set_linger(p.c, true, 1);
		from = now_ms();
		MUST(close(p.c));
		CHECK(now_ms() - from < hang_seconds() * 1000, "after %lld ms", now_ms() - from);
		MUST_BE(recv_to_end(&in, 20000), sent);
	}
	close(p.s);
}
END_TEST

/* Linger with time 0 throws away, and TCP tells the peer so by a reset. */
START_TEST(close_abortive)
{
	struct pair p = open_pair(_i);
	int events, err;
	ssize_t n;
	char b;

	set_linger(p.c, true, 0);
	MUST(close(p.c));
	/* The error is there first, with TCP too: who is quick sees no more yet. */
	events = wait_events(p.s, POLLIN | POLLRDHUP);
	CHECK(events & (POLLIN | POLLERR), "%s", event_text(events));
	n = recv(p.s, &b, 1, 0);
	if (is_tcp())
		CHECK(n < 0 && errno == ECONNRESET, "%zd, %s", n, err_name(errno));
	else
		CHECK(n == 0 || (n < 0 && errno == ECONNRESET), "%zd, %s", n, err_name(errno));
	/* Told once. */
	MUST_BE(recv(p.s, &b, 1, 0), 0);
	err = send_until_error(p.s);
	CHECK(err == EPIPE || (!is_tcp() && err == ECONNRESET), "%s", err_name(err));
	MUST_BE(get_int(p.s, SOL_SOCKET, SO_ERROR), 0);
	close(p.s);
}
END_TEST

static void reset(void *arg)
{
	int fd = *(int *)arg;

	set_linger(fd, true, 0);
	MUST(close(fd));
}

/* A reset is an error to who sends, before there are EPIPE and the signal. */
START_TEST(reset_is_told_first)
{
	int rounds = full_run() ? 2000 : 200, i;
	struct worker w;
	struct pair p;

	signal(SIGPIPE, SIG_DFL);
	for (i = 0; i < rounds; i++) {
		p = open_pair(IPV4);
		start(&w, reset, &p.s);
		while (send(p.c, "x", 1, MSG_DONTWAIT) > 0 || errno == EAGAIN)
			;
		MUST_BE(errno, ECONNRESET);
		MUST_FAIL(send(p.c, "x", 1, MSG_NOSIGNAL), EPIPE);
		join(&w);
		close(p.c);
	}
}
END_TEST

/* Who may send again is told so once by mistake, as the end comes, but not until then. */
START_TEST(reset_is_polled)
{
	int rounds = full_run() ? 2000 : 200, i, refused;
	struct worker w;
	struct pair p;

	for (i = 0; i < rounds; i++) {
		p = open_pair(IPV4);
		start(&w, reset, &p.s);
		refused = 0;
		do {
			CHECK(poll_ms(p.c, POLLOUT, hang_seconds() * 1000), "never to send");
			if (send(p.c, "x", 1, MSG_DONTWAIT | MSG_NOSIGNAL) > 0)
				continue;
			if (errno != EAGAIN)
				break;
			refused++;
		} while (refused < 2);
		MUST_BE(errno, ECONNRESET);
		join(&w);
		close(p.c);
	}
}
END_TEST

/* Held back by MSG_MORE, and not to be forgotten. */
START_TEST(close_after_more)
{
	struct pair p = open_pair(IPV4);
	struct stream in = { .fd = p.s, .seed = 11 };
	char buf[100];

	pattern_fill(buf, 100, 11, 0);
	MUST_BE(send(p.c, buf, 100, MSG_MORE), 100);
	if (_i)
		MUST(shutdown(p.c, SHUT_WR));
	else
		MUST(close(p.c));
	MUST_BE(recv_to_end(&in, 1000), 100);
	close(p.s);
}
END_TEST

START_TEST(close_with_data_unread)
{
	struct pair p = open_pair(_i);
	ssize_t n;
	char b;
	int err;

	send_all(p.c, "0123456789", 10);
	wait_inq(p.s, 10);
	send_all(p.s, "x", 1);
	wait_inq(p.c, 1);
	close(p.s);
	/* TCP: a reset, which may overtake the byte. AF_RSOCK: the byte, the end. */
	sleep_ms(20);
	n = recv(p.c, &b, 1, 0);
	CHECK((is_tcp() && n < 0 && errno == ECONNRESET) || n == 1, "%zd, %s", n,
	      err_name(errno));
	n = recv(p.c, &b, 1, 0);
	CHECK(n == 0 || (n < 0 && errno == ECONNRESET), "%zd, %s", n, err_name(errno));
	err = send_until_error(p.c);
	CHECK(err == EPIPE || err == ECONNRESET, "%s", err_name(err));
	close(p.c);
}
END_TEST

START_TEST(send_to_closed_peer)
{
	struct pair p = open_pair(_i);
	int err;
	char b;

	close(p.s);
	expect_end(p.c);
	err = send_until_error(p.c);
	CHECK(err == EPIPE || err == ECONNRESET, "%s", err_name(err));
	count_signal(SIGPIPE, 0);
	if (send(p.c, "x", 1, 0) < 0 && errno == EPIPE)
		MUST_BE(signals_seen, 1);
	MUST_BE(recv(p.c, &b, 1, 0), 0);
	/* Options of a dead connection are no danger. */
	set_int(p.c, SOL_SOCKET, SO_KEEPALIVE, 1);
	set_int(p.c, SOL_SOCKET, SO_RCVBUF, 100000);
	set_int(p.c, IPPROTO_TCP, 1 /* TCP_NODELAY */, 1);
	get_int(p.c, SOL_SOCKET, SO_ERROR);
	local_name(p.c);
	close(p.c);
}
END_TEST

static void close_late(void *arg)
{
	int *fds = arg;
	char b;

	MUST_BE(read(fds[1], &b, 1), 1);
	MUST(close(fds[0]));
}

/* Both ends at once, idle or with data on the way. */
START_TEST(close_crossing)
{
	int rounds = full_run() ? 1000 : 60, i, k;

	for (i = 0; i < rounds; i++) {
		struct pair p = open_pair(IPV4);
		int gate[2], args[2][2] = { { p.c }, { p.s } };
		struct worker w[2];

		MUST(pipe(gate));
		if (i % 3 > 0)
			send_all(p.c, "0123456789", 10);
		if (i % 3 > 1)
			send_all(p.s, "0123456789", 10);
		for (k = 0; k < 2; k++) {
			args[k][1] = gate[0];
			start(&w[k], close_late, args[k]);
		}
		MUST_BE(write(gate[1], "xx", 2), 2);
		for (k = 0; k < 2; k++)
			join(&w[k]);
		close(gate[0]);
		close(gate[1]);
	}
}
END_TEST

/* Connections that come and go, in all orders, never used. */
START_TEST(open_and_close)
{
	int rounds = full_run() ? 2000 : 100, i;
	struct addr where;
	int listener = open_listener(_i, 16, &where);

	for (i = 0; i < rounds; i++) {
		int c = open_client(_i, &where), s;

		if (i % 3 == 0)
			close(c);
		s = accept_one(listener);
		if (i % 3 == 1)
			close(c);
		close(s);
		if (i % 3 == 2) {
			expect_end(c);
			close(c);
		}
	}
	close(listener);
}
END_TEST

struct storm {
	struct addr where;
	volatile bool stop;
	int made, refused, lost;
};

static void connect_storm(void *arg)
{
	struct storm *st = arg;

	while (!st->stop) {
		int c = open_socket(IPV4, 0), err;
		char b;

		if (connect(c, &st->where.sa, st->where.len)) {
			err = errno;
			CHECK(err == ECONNREFUSED || err == ECONNRESET || err == ETIMEDOUT ||
			      err == EADDRNOTAVAIL, "%s", err_name(err));
			__atomic_add_fetch(&st->refused, 1, __ATOMIC_RELAXED);
		} else {
			__atomic_add_fetch(&st->made, 1, __ATOMIC_RELAXED);
			set_timeout(c, SO_RCVTIMEO, 5);
			recv(c, &b, 1, 0);
		}
		close(c);
	}
}

/* A listener that closes while connections pour in. */
START_TEST(close_listener_in_storm)
{
	int rounds = full_run() ? 100 : 8, i, k;

	for (i = 0; i < rounds; i++) {
		struct storm st = { };
		int listener = open_listener(IPV4, 4, &st.where);
		struct worker w[4];

		for (k = 0; k < 4; k++)
			start(&w[k], connect_storm, &st);
		for (k = 0; k < 5; k++)
			close(accept_one(listener));
		sleep_ms(i % 5);
		close(listener);
		sleep_ms(5);
		st.stop = true;
		for (k = 0; k < 4; k++)
			join(&w[k]);
		CHECK(st.made >= 5, "%d connections made, %d refused", st.made, st.refused);
	}
}
END_TEST

/* --- shared descriptors -------------------------------------------------------------- */

START_TEST(dup_keeps_open)
{
	struct pair p = open_pair(IPV4);
	int copy = MUST(dup(p.c)), other = MUST(dup2(p.s, 700));

	close(p.c);
	close(p.s);
	expect_alive(copy, other);
	p.c = MUST(fcntl(copy, F_DUPFD_CLOEXEC, 800));
	close(copy);
	expect_alive(p.c, other);
	/* shutdown() is for all of them. */
	copy = MUST(dup(p.c));
	MUST(shutdown(copy, SHUT_WR));
	MUST_FAIL(send(p.c, "x", 1, MSG_NOSIGNAL), EPIPE);
	expect_end(other);
	close(copy);
	close(p.c);
	close(other);
}
END_TEST

START_TEST(fork_shares)
{
	struct pair p = open_pair(IPV4);
	char buf[8];
	pid_t pid;
	int i;

	pid = fork_child();
	if (!pid) {
		close(p.s);
		for (i = 0; i < 100; i++) {
			recv_all(p.c, buf, 4);
			CHECK(!memcmp(buf, "ping", 4), "child: %.4s", buf);
			send_all(p.c, "pong", 4);
		}
		_exit(0);
	}
	for (i = 0; i < 100; i++) {
		send_all(p.s, "ping", 4);
		recv_all(p.s, buf, 4);
		CHECK(!memcmp(buf, "pong", 4), "parent: %.4s", buf);
	}
	reap(pid);
	/* The child is gone, its end of the connection is not. */
	expect_nothing(p.s);
	expect_alive(p.c, p.s);

	/* A child with both ends. */
	pid = fork_child();
	if (!pid) {
		expect_alive(p.c, p.s);
		_exit(0);
	}
	reap(pid);
	expect_alive(p.c, p.s);

	/* The parent closes, the child goes on. */
	pid = fork_child();
	if (!pid) {
		close(p.s);
		recv_all(p.c, buf, 1);
		for (i = 0; i < 1000; i++)
			send_all(p.c, "x", 1);
		_exit(0);
	}
	close(p.c);
	expect_nothing(p.s);
	send_all(p.s, "x", 1);
	for (i = 0; i < 1000; i++)
		recv_all(p.s, buf, 1);
	expect_end(p.s);
	reap(pid);
	close(p.s);
}
END_TEST

/* A server that forks for each connection, children of which write and exit. */
START_TEST(fork_server)
{
	struct addr where;
	int listener = open_listener(IPV4, 16, &where), i, s;
	struct stream in;
	pid_t pids[10];

	for (i = 0; i < 10; i++) {
		pids[i] = fork_child();
		if (!pids[i]) {
			struct stream out;

			s = accept_one(listener);
			out = (struct stream){ .fd = s, .seed = 12 };
			send_stream(&out, 30000, 5000);
			_exit(0);
		}
	}
	for (i = 0; i < 10; i++) {
		in = (struct stream){ .fd = open_client(IPV4, &where), .seed = 12 };
		MUST_BE(recv_to_end(&in, 4000), 30000);
		close(in.fd);
	}
	for (i = 0; i < 10; i++)
		reap(pids[i]);
	close(listener);
}
END_TEST

static void run_feed(void *arg)
{
	struct stream *st = arg;

	send_stream(st, 500000, 7777);
	MUST(shutdown(st->fd, SHUT_WR));
}

/* As standard input and output of a program that knows nothing of it. */
START_TEST(exec_inherits)
{
	struct pair p = open_pair(IPV4);
	struct stream out = { .fd = p.c, .seed = 13 }, in = out;
	struct worker w;
	pid_t pid;

	pid = fork_child();
	if (!pid) {
		MUST(dup2(p.s, 0));
		MUST(dup2(p.s, 1));
		close(p.s);
		close(p.c);
		execlp("cat", "cat", NULL);
		_exit(1);
	}
	close(p.s);
	start(&w, run_feed, &out);
	MUST_BE(recv_to_end(&in, 10000), 500000);
	join(&w);
	reap(pid);
	close(p.c);

	/* Close-on-exec is obeyed. */
	p = open_pair(IPV4);
	MUST(fcntl(p.s, F_SETFD, FD_CLOEXEC));
	pid = fork_child();
	if (!pid) {
		close(p.c);
		execlp("sleep", "sleep", "1000", NULL);
		_exit(1);
	}
	close(p.s);
	expect_end(p.c);
	kill_child(pid);
	close(p.c);
}
END_TEST

static void pass_fd(int unix_fd, int fd)
{
	union {
		char buf[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = { };
	struct iovec iov = { "x", 1 };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = control.buf, .msg_controllen = sizeof(control.buf),
	};
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(&msg);

	cmsg->cmsg_level = SOL_SOCKET;
	cmsg->cmsg_type = SCM_RIGHTS;
	cmsg->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(cmsg), &fd, sizeof(int));
	MUST_BE(sendmsg(unix_fd, &msg, 0), 1);
}

static int take_fd(int unix_fd)
{
	union {
		char buf[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = { };
	char b;
	struct iovec iov = { &b, 1 };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = control.buf, .msg_controllen = sizeof(control.buf),
	};
	struct cmsghdr *cmsg;
	int fd;

	MUST_BE(recvmsg(unix_fd, &msg, 0), 1);
	cmsg = CMSG_FIRSTHDR(&msg);
	CHECK(cmsg && cmsg->cmsg_type == SCM_RIGHTS, "no descriptor");
	memcpy(&fd, CMSG_DATA(cmsg), sizeof(int));
	return fd;
}

START_TEST(descriptor_passed)
{
	struct pair p = open_pair(IPV4);
	int unix_fds[2], fd;
	char buf[4];
	pid_t pid;

	MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, unix_fds));
	pid = fork_child();
	if (!pid) {
		close(p.c);
		close(p.s);
		close(unix_fds[0]);
		fd = take_fd(unix_fds[1]);
		recv_all(fd, buf, 4);
		CHECK(!memcmp(buf, "ping", 4), "%.4s", buf);
		send_all(fd, "pong", 4);
		_exit(0);
	}
	pass_fd(unix_fds[0], p.s);
	close(p.s);
	send_all(p.c, "ping", 4);
	recv_all(p.c, buf, 4);
	CHECK(!memcmp(buf, "pong", 4), "%.4s", buf);
	expect_end(p.c);
	reap(pid);
	close(p.c);
	close(unix_fds[1]);
	close(unix_fds[0]);

	/* On its way, and never taken: the connection ends with the message. */
	p = open_pair(IPV4);
	MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, unix_fds));
	pass_fd(unix_fds[0], p.s);
	close(p.s);
	expect_nothing(p.c);
	close(unix_fds[0]);
	close(unix_fds[1]);
	expect_end(p.c);
	close(p.c);
}
END_TEST

/* A listener serves two processes, and goes on when one of them ends. */
START_TEST(listener_shared)
{
	struct addr where;
	int listener = open_listener(IPV4, 4, &where), c, s;
	pid_t pid;

	pid = fork_child();
	if (!pid) {
		s = accept_one(listener);
		send_all(s, "child", 5);
		_exit(0);
	}
	c = open_client(IPV4, &where);
	skip(c, 5);
	expect_end(c);
	reap(pid);
	close(c);
	c = open_client(IPV4, &where);
	s = accept_one(listener);
	expect_alive(c, s);
	close(c);
	close(s);
	close(listener);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("close");
	TCase *tc;

	tc = add_case(suite, "shutdown", 30);
	add_ip_test(tc, shutdown_write);
	tcase_add_loop_test(tc, half_close, 0, 4);
	add_ip_test(tc, half_close_before_accept);
	add_ip_test(tc, shutdown_read);
	add_ip_test(tc, shutdown_both);
	tcase_add_test(tc, shutdown_crossing);

	tc = add_case(suite, "woken", 30);
	tcase_add_loop_test(tc, woken_by_shutdown, 0, BLOCKS * 3);
	tcase_add_loop_test(tc, accept_woken_by_shutdown, 0, 2);
	tcase_add_loop_test(tc, woken_by_peer, 0, BLOCKS * ENDS);
	add_ip_test(tc, peer_leaves_after_accept);
	tcase_add_loop_test(tc, data_before_the_end, 0, 4 * (KILLED + 1));
	tcase_add_test(tc, kill_many);

	tc = add_case(suite, "close", 30);
	tcase_add_loop_test(tc, close_with_data_unsent, 0, ip_versions() * LINGERINGS);
	add_ip_test(tc, close_abortive);
	tcase_add_test(tc, reset_is_told_first);
	tcase_add_test(tc, reset_is_polled);
	tcase_add_loop_test(tc, close_after_more, 0, 2);
	add_ip_test(tc, close_with_data_unread);
	add_ip_test(tc, send_to_closed_peer);
	tcase_add_test(tc, close_crossing);
	add_ip_test(tc, open_and_close);
	tcase_add_test(tc, close_listener_in_storm);

	tc = add_case(suite, "shared", 30);
	tcase_add_test(tc, dup_keeps_open);
	tcase_add_test(tc, fork_shares);
	tcase_add_test(tc, fork_server);
	tcase_add_test(tc, exec_inherits);
	tcase_add_test(tc, descriptor_passed);
	tcase_add_test(tc, listener_shared);

	return run_suite(suite);
}
