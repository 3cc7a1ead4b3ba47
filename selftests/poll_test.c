// SPDX-License-Identifier: GPL-2.0
/*
 * Readiness: poll(), select(), epoll and SIGIO in all states, and that nobody
 * sleeps on when there is something to do.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/select.h>

#include "util.h"

#define SMALL_BUF	(64 * 1024)

/* --- what poll() says in each state ------------------------------------------------ */

/*
 * What is done to the two ends, as letters, and what the first then shows:
 *   w: the peer sends a byte       r: a byte is read
 *   s: the peer shuts down writing S: we do
 *   b: the peer shuts down both    B: we do
 *   R: we shut down reading        c: the peer closes
 */
static const struct {
	const char *steps;
	int events;
} state_rows[] = {
	{ "", POLLOUT },
	{ "w", POLLOUT | POLLIN },
	{ "wr", POLLOUT },
	{ "wwr", POLLOUT | POLLIN },
	{ "s", POLLOUT | POLLIN | POLLRDHUP },
	{ "ws", POLLOUT | POLLIN | POLLRDHUP },
	{ "wsr", POLLOUT | POLLIN | POLLRDHUP },
	{ "S", POLLOUT },
	{ "Sw", POLLOUT | POLLIN },
	{ "Swr", POLLOUT },
	{ "sS", POLLOUT | POLLIN | POLLRDHUP | POLLHUP },
	{ "Ss", POLLOUT | POLLIN | POLLRDHUP | POLLHUP },
	{ "wSs", POLLOUT | POLLIN | POLLRDHUP | POLLHUP },
	{ "R", POLLOUT | POLLIN | POLLRDHUP },
	{ "RS", POLLOUT | POLLIN | POLLRDHUP | POLLHUP },
	{ "B", POLLOUT | POLLIN | POLLRDHUP | POLLHUP },
	{ "bS", POLLOUT | POLLIN | POLLRDHUP | POLLHUP },
	{ "b", POLLOUT | POLLIN | POLLRDHUP },
	{ "c", POLLOUT | POLLIN | POLLRDHUP },
	{ "wc", POLLOUT | POLLIN | POLLRDHUP },
	{ "cS", POLLOUT | POLLIN | POLLRDHUP | POLLHUP },
};

START_TEST(state)
{
	const char *steps = state_rows[_i / 2].steps, *s;
	struct pair p = open_pair(IPV4);
	int me = _i % 2 ? p.s : p.c, peer = _i % 2 ? p.c : p.s;
	int want = state_rows[_i / 2].events, seen;
	long long end;
	bool gone = strpbrk(steps, "bc");

	for (s = steps; *s; s++) {
		switch (*s) {
		case 'w':
			send_all(peer, "x", 1);
			break;
		case 'r':
			skip(me, 1);
			break;
		case 's':
			MUST(shutdown(peer, SHUT_WR));
			break;
		case 'S':
			MUST(shutdown(me, SHUT_WR));
			break;
		case 'R':
			MUST(shutdown(me, SHUT_RD));
			break;
		case 'b':
			MUST(shutdown(peer, SHUT_RDWR));
			break;
		case 'B':
			MUST(shutdown(me, SHUT_RDWR));
			break;
		case 'c':
			MUST(close(peer));
			break;
		}
	}
	end = now_ms() + hang_seconds() * 1000;
	for (;;) {
		seen = poll_ms(me, BASIC_EVENTS, 0);
		/*
		 * TCP cannot tell a peer that closed from one that has only
		 * shut down writing; AF_RSOCK can, and may say that there is
		 * nobody to send to.
		 */
		if (seen == want || (!is_tcp() && gone && seen == (want | POLLHUP)))
			break;
		CHECK(now_ms() < end, "after \"%s\" %s, expected %s", steps, event_text(seen),
		      event_text(want));
		sleep_ms(1);
	}
	/* It stays so, and it is all that is reported when less is asked. */
	sleep_ms(10);
	MUST_BE(poll_ms(me, BASIC_EVENTS, 0), seen);
	MUST_BE(poll_ms(me, POLLIN, 0), seen & (POLLIN | POLLHUP));
	MUST_BE(poll_ms(me, 0, 0), seen & POLLHUP);
	MUST_BE(get_int(me, SOL_SOCKET, SO_ERROR), 0);
}
END_TEST

START_TEST(state_unconnected)
{
	struct addr a = server_addr(_i, 0);
	int fd = open_socket(_i, 0), c, s;

	MUST_BE(poll_ms(fd, BASIC_EVENTS, 0), POLLOUT | POLLHUP);
	MUST(bind(fd, &a.sa, a.len));
	MUST_BE(poll_ms(fd, BASIC_EVENTS, 0), POLLOUT | POLLHUP);
	MUST(listen(fd, 4));
	MUST_BE(poll_ms(fd, BASIC_EVENTS, 0), 0);
	a = local_name(fd);
	a = target_addr(_i, addr_port(&a));
	c = open_client(_i, &a);
	wait_exactly(fd, POLLIN);
	s = accept_one(fd);
	MUST_BE(poll_ms(fd, BASIC_EVENTS, 0), 0);
	/* Listening is over. */
	MUST(shutdown(fd, SHUT_RD));
	CHECK(poll_ms(fd, BASIC_EVENTS, 0) & POLLHUP, "%s",
	      event_text(poll_ms(fd, BASIC_EVENTS, 0)));
	expect_alive(c, s);
	close(c);
	close(s);
	close(fd);
}
END_TEST

START_TEST(room)
{
	struct pair p = open_small_pair(IPV4, SMALL_BUF);
	int me = _i ? p.s : p.c, peer = _i ? p.c : p.s, round;
	struct stream out = { .fd = me, .seed = 1 }, in = { .fd = peer, .seed = 1 };

	for (round = 0; round < 3; round++) {
		send_until_stuck(&out);
		/* Full one way is nothing to the other. */
		send_all(peer, "x", 1);
		MUST_BE(wait_events(me, POLLIN | POLLOUT), POLLIN);
		skip(me, 1);
		recv_stream(&in, out.pos - in.pos, 10000);
		wait_exactly(me, POLLOUT);
		/* POLLOUT is a promise. */
		send_stream(&out, 1000, 1000);
		recv_stream(&in, 1000, 1000);
	}
	/* Full, and the peer gone: there is an error to be had. */
	send_until_stuck(&out);
	MUST(close(peer));
	wait_events(me, POLLOUT);
	close(me);
}
END_TEST

/* --- waiting ------------------------------------------------------------------------- */

START_TEST(timeout_each_time)
{
	struct pair p = open_pair(IPV4);
	int i;

	for (i = 0; i < 20; i++) {
		long long from = now_ms();

		MUST_BE(poll_ms(p.c, POLLIN, 20), 0);
		CHECK(now_ms() - from >= 19, "round %d: %lld ms", i, now_ms() - from);
	}
	close_pair(&p);
}
END_TEST

struct waiter {
	int fd;
	short events;
	volatile int revents;
	struct worker w;
};

static void run_poll(void *arg)
{
	struct waiter *w = arg;
	struct pollfd pfd = { .fd = w->fd, .events = w->events };

	MUST_BE(poll(&pfd, 1, -1), 1);
	w->revents = pfd.revents;
}

/* Wakes for what is asked, and sleeps on for the rest. */
START_TEST(wakes_for_what_is_asked)
{
	struct pair p = open_small_pair(IPV4, SMALL_BUF);
	struct stream out = { .fd = p.c, .seed = 2 }, in = { .fd = p.s, .seed = 2 };
	struct waiter w = { .fd = p.c, .events = POLLOUT }, e = { .fd = p.c, .events = POLLRDHUP };

	send_until_stuck(&out);
	start(&w.w, run_poll, &w);
	start(&e.w, run_poll, &e);
	wait_blocked(&w.w);
	wait_blocked(&e.w);
	send_all(p.s, "x", 1);
	wait_inq(p.c, 1);
	wait_blocked(&w.w);
	recv_stream(&in, out.pos, 10000);
	join(&w.w);
	MUST_BE(w.revents, POLLOUT);
	wait_blocked(&e.w);
	MUST(shutdown(p.s, SHUT_WR));
	join(&e.w);
	MUST_BE(e.revents, POLLRDHUP);
	close_pair(&p);
}
END_TEST

/*
 * Is a socket writable, if @left of its @size bytes have not arrived? As
 * sk_stream_is_writeable() has it, but what was sent of a message that has not
 * arrived as a whole may count: up to a quarter.
 */
static bool is_room(int size, long long left)
{
	left += size / 4;
	return size - left >= left / 2;
}

/* What has to wait becomes long messages, but not too long ones. */
START_TEST(room_in_parts)
{
	struct pair p = open_small_pair(IPV4, 4 * KB);
	static char buf[30000];
	long long left = 0;
	ssize_t n;
	int size;

	set_int(p.c, SOL_SOCKET, SO_SNDBUF, SMALL_BUF);
	size = get_int(p.c, SOL_SOCKET, SO_SNDBUF);
	do {
		while ((n = send(p.c, buf, sizeof(buf), MSG_DONTWAIT)) > 0)
			left += n;
		MUST_BE(errno, EAGAIN);
	} while (poll_ms(p.c, POLLOUT, 300));
	for (; !is_room(size, left - inq(p.s)); left -= n)
		n = MUST(recv(p.s, buf, 1000, 0));
	wait_events(p.c, POLLOUT);
	close_pair(&p);
}
END_TEST

/*
 * Who waits for room is told of it, whatever is known by then of what has
 * arrived: poll() once more must not be needed. Shows on a slow wire (poll.sh).
 */
START_TEST(room_is_told)
{
	int rounds = full_run() ? 200 : 24, round;
	static char buf[64 * KB];

	for (round = 0; round < rounds; round++) {
		struct pair p = open_small_pair(IPV4, SMALL_BUF);
		int size = get_int(p.c, SOL_SOCKET, SO_SNDBUF);
		int chunk = 16000 + round * 1009 % 24000;
		long long sent = 0, left = 0, end, quiet;
		ssize_t n;

		do {
			struct waiter w = { .fd = p.c, .events = POLLOUT };

			while ((n = send(p.c, buf, chunk, MSG_DONTWAIT)) > 0)
				sent += n;
			MUST_BE(errno, EAGAIN);
			start(&w.w, run_poll, &w);
			end = now_ms() + hang_seconds() * 1000;
			quiet = now_ms() + 300;
			while (!w.revents) {
				left = sent - inq(p.s);
				if (!is_room(size, left) && now_ms() > quiet)
					break;
				CHECK(now_ms() < end, "%lld of %d bytes, and no room", left, size);
				sleep_ms(1);
			}
			if (!w.revents) {
				for (; sent > 0; sent -= n)
					n = MUST(recv(p.s, buf, sizeof(buf), 0));
			}
			join(&w.w);
		} while (sent);
		close_pair(&p);
	}
}
END_TEST

static void poll_echo(void *arg)
{
	int fd = *(int *)arg;
	char buf[100];
	ssize_t n;

	set_nonblock(fd, true);
	for (;;) {
		wait_events(fd, POLLIN);
		while ((n = recv(fd, buf, sizeof(buf), 0)) > 0)
			send_all(fd, buf, n);
		if (!n)
			return;
		MUST_BE(errno, EAGAIN);
	}
}

/* A wake-up that gets lost would hang this. */
START_TEST(wakes_each_time)
{
	struct pair p = open_pair(IPV4);
	struct stream out = { .fd = p.c, .seed = 3 }, in = out;
	int rounds = full_run() ? 100000 : 2000, i;
	struct worker w;

	start(&w, poll_echo, &p.s);
	set_nonblock(p.c, true);
	for (i = 0; i < rounds; i++) {
		send_stream(&out, 1 + i % 50, 50);
		recv_stream(&in, 1 + i % 50, 50);
	}
	MUST(shutdown(p.c, SHUT_WR));
	join(&w);
	close_pair(&p);
}
END_TEST

static void recv_one(void *arg)
{
	struct waiter *w = arg;
	char b;

	w->revents = MUST(recv(w->fd, &b, 1, 0));
	if (w->revents)
		MUST_BE(write(w->events, &b, 1), 1);
}

/* One byte is for one of those who wait, the end is for all. */
START_TEST(many_wait)
{
	struct pair p = open_pair(IPV4);
	struct waiter w[4];
	int done[2], i, got = 0;
	char b;

	MUST(pipe(done));
	for (i = 0; i < 4; i++) {
		w[i] = (struct waiter){ .fd = p.s, .events = done[1] };
		start(&w[i].w, recv_one, &w[i]);
		wait_blocked(&w[i].w);
	}
	for (i = 0; i < 2; i++) {
		send_all(p.c, "x", 1);
		wait_events(done[0], POLLIN);
		MUST_BE(read(done[0], &b, 1), 1);
	}
	MUST_BE(poll_ms(done[0], POLLIN, 30), 0);
	MUST(shutdown(p.c, SHUT_WR));
	for (i = 0; i < 4; i++) {
		join(&w[i].w);
		got += w[i].revents;
	}
	MUST_BE(got, 2);
	close_pair(&p);
}
END_TEST

START_TEST(select_sparse)
{
	struct pair p[3];
	static const int numbers[] = { 200, 700, 1000 };
	fd_set in, out, ex;
	struct timeval tv;
	int i, k;

	for (i = 0; i < 3; i++) {
		p[i] = open_pair(IPV4);
		MUST(dup2(p[i].s, numbers[i]));
		close(p[i].s);
		p[i].s = numbers[i];
	}
	for (i = -1; i < 3; i++) {
		if (i >= 0) {
			send_all(p[i].c, "x", 1);
			wait_events(p[i].s, POLLIN);
		}
		FD_ZERO(&in);
		FD_ZERO(&out);
		FD_ZERO(&ex);
		for (k = 0; k < 3; k++) {
			FD_SET(p[k].s, &in);
			FD_SET(p[k].s, &out);
			FD_SET(p[k].s, &ex);
		}
		tv = (struct timeval){ .tv_usec = 20000 };
		MUST_BE(select(1001, &in, NULL, &ex, &tv), i >= 0);
		for (k = 0; k < 3; k++) {
			CHECK(!!FD_ISSET(p[k].s, &in) == (i == k), "fd %d", p[k].s);
			CHECK(!FD_ISSET(p[k].s, &ex), "fd %d", p[k].s);
		}
		MUST_BE(select(1001, NULL, &out, NULL, NULL), 3);
		if (i >= 0)
			skip(p[i].s, 1);
	}
	for (i = 0; i < 3; i++)
		close_pair(&p[i]);
}
END_TEST

/* --- epoll --------------------------------------------------------------------------- */

static void ep_ctl(int ep, int op, int fd, unsigned int events)
{
	struct epoll_event ev = { .events = events, .data.fd = fd };

	MUST(epoll_ctl(ep, op, fd, &ev));
}

static int ep_get(int ep, int ms)
{
	struct epoll_event ev = { };
	int n;

	do {
		n = epoll_wait(ep, &ev, 1, ms);
	} while (n < 0 && errno == EINTR);
	MUST(n);
	return n ? (int)ev.events : 0;
}

static int ep_wait(int ep)
{
	int events = ep_get(ep, hang_seconds() * 1000);

	CHECK(events, "no event for %d s", hang_seconds());
	return events;
}

START_TEST(epoll_level)
{
	struct pair p = open_pair(IPV4);
	int ep = MUST(epoll_create1(0)), i;

	ep_ctl(ep, EPOLL_CTL_ADD, p.s, EPOLLIN);
	MUST_BE(ep_get(ep, 0), 0);
	for (i = 0; i < 10; i++) {
		send_all(p.c, "xyz", 3);
		MUST_BE(ep_wait(ep), EPOLLIN);
		MUST_BE(ep_get(ep, 0), EPOLLIN);
		skip(p.s, 2);
		MUST_BE(ep_get(ep, 0), EPOLLIN);
		skip(p.s, 1);
		MUST_BE(ep_get(ep, 0), 0);
	}
	ep_ctl(ep, EPOLL_CTL_MOD, p.s, EPOLLOUT);
	MUST_BE(ep_wait(ep), EPOLLOUT);
	MUST_BE(ep_get(ep, 0), EPOLLOUT);
	ep_ctl(ep, EPOLL_CTL_MOD, p.s, EPOLLIN | EPOLLRDHUP);
	MUST_BE(ep_get(ep, 0), 0);
	MUST(shutdown(p.c, SHUT_WR));
	MUST_BE(ep_wait(ep), EPOLLIN | EPOLLRDHUP);
	MUST(epoll_ctl(ep, EPOLL_CTL_DEL, p.s, NULL));
	MUST_BE(ep_get(ep, 0), 0);
	close_pair(&p);
	close(ep);
}
END_TEST

START_TEST(epoll_edge)
{
	struct pair p = open_pair(IPV4);
	int ep = MUST(epoll_create1(0)), i;
	char buf[10];

	set_nonblock(p.s, true);
	ep_ctl(ep, EPOLL_CTL_ADD, p.s, EPOLLIN | EPOLLRDHUP | EPOLLET);
	MUST_BE(ep_get(ep, 0), 0);
	for (i = 0; i < 10; i++) {
		send_all(p.c, "xyz", 3);
		MUST_BE(ep_wait(ep), EPOLLIN);
		MUST_BE(ep_get(ep, 20), 0);
		/* Not drained, but news is news. */
		recv_all(p.s, buf, 1);
		MUST_BE(ep_get(ep, 0), 0);
		send_all(p.c, "xyz", 3);
		MUST_BE(ep_wait(ep), EPOLLIN);
		recv_all(p.s, buf, 5);
		MUST_FAIL(recv(p.s, buf, 1, 0), EAGAIN);
	}
	MUST(shutdown(p.c, SHUT_WR));
	MUST_BE(ep_wait(ep), EPOLLIN | EPOLLRDHUP);
	MUST_BE(ep_get(ep, 20), 0);
	/* Changing what is asked for asks anew. */
	ep_ctl(ep, EPOLL_CTL_MOD, p.s, EPOLLIN | EPOLLET);
	MUST_BE(ep_wait(ep), EPOLLIN);
	close_pair(&p);
	close(ep);
}
END_TEST

/* A writer that relies on edges alone, as event loops do. */
static void edge_writer(void *arg)
{
	struct stream *st = arg;
	int ep = MUST(epoll_create1(0));
	uint64_t len = (full_run() ? 64 : 4) * MB;
	char buf[30000];
	ssize_t n;

	set_nonblock(st->fd, true);
	ep_ctl(ep, EPOLL_CTL_ADD, st->fd, EPOLLOUT | EPOLLET);
	while (st->pos < len) {
		size_t size = len - st->pos < sizeof(buf) ? len - st->pos : sizeof(buf);

		pattern_fill(buf, size, st->seed, st->pos);
		n = send(st->fd, buf, size, MSG_NOSIGNAL);
		if (n < 0 && errno == EAGAIN) {
			CHECK(ep_wait(ep) & EPOLLOUT, "no room?");
			continue;
		}
		CHECK(n > 0, "%zd, %s", n, err_name(errno));
		st->pos += n;
	}
	MUST(shutdown(st->fd, SHUT_WR));
	close(ep);
}

static void edge_reader(void *arg)
{
	struct stream *st = arg;
	int ep = MUST(epoll_create1(0));
	char buf[20000];
	ssize_t n;

	set_nonblock(st->fd, true);
	ep_ctl(ep, EPOLL_CTL_ADD, st->fd, EPOLLIN | EPOLLRDHUP | EPOLLET);
	for (;;) {
		n = recv(st->fd, buf, sizeof(buf), 0);
		if (n < 0 && errno == EAGAIN) {
			CHECK(ep_wait(ep) & EPOLLIN, "no data?");
			continue;
		}
		CHECK(n >= 0, "%s", err_name(errno));
		if (!n)
			break;
		pattern_check(buf, n, st->seed, st->pos);
		st->pos += n;
	}
	close(ep);
}

START_TEST(epoll_edge_traffic)
{
	struct pair p = _i ? open_pair(IPV4) : open_small_pair(IPV4, SMALL_BUF);
	struct stream out[2] = { { .fd = p.c, .seed = 4 }, { .fd = p.s, .seed = 5 } };
	struct stream in[2] = { { .fd = p.s, .seed = 4 }, { .fd = p.c, .seed = 5 } };
	struct worker w[4];
	int i;

	for (i = 0; i < 2; i++) {
		start(&w[i], edge_writer, &out[i]);
		start(&w[2 + i], edge_reader, &in[i]);
	}
	for (i = 0; i < 4; i++)
		join(&w[i]);
	for (i = 0; i < 2; i++)
		MUST_BE(in[i].pos, out[i].pos);
	close_pair(&p);
}
END_TEST

START_TEST(epoll_oneshot)
{
	struct pair p = open_pair(IPV4);
	int ep = MUST(epoll_create1(0));

	ep_ctl(ep, EPOLL_CTL_ADD, p.s, EPOLLIN | EPOLLONESHOT);
	send_all(p.c, "x", 1);
	MUST_BE(ep_wait(ep), EPOLLIN);
	send_all(p.c, "x", 1);
	wait_inq(p.s, 2);
	MUST_BE(ep_get(ep, 20), 0);
	ep_ctl(ep, EPOLL_CTL_MOD, p.s, EPOLLIN | EPOLLONESHOT);
	MUST_BE(ep_wait(ep), EPOLLIN);
	MUST_BE(ep_get(ep, 0), 0);
	close_pair(&p);
	close(ep);
}
END_TEST

/* Registered first, connected afterwards: as event loops do. */
START_TEST(epoll_before_connect)
{
	int ip = _i / 2, mode = _i % 2 ? EPOLLET : 0;
	struct addr where;
	int listener = open_listener(ip, 4, &where), ep = MUST(epoll_create1(0));
	int c = open_socket(ip, SOCK_NONBLOCK), s, events;

	ep_ctl(ep, EPOLL_CTL_ADD, c, EPOLLIN | EPOLLOUT | EPOLLRDHUP | mode);
	/* A socket that is not connected says so, once or until it connects. */
	MUST_BE(ep_get(ep, 0), EPOLLOUT | EPOLLHUP);
	MUST_FAIL(connect(c, &where.sa, where.len), EINPROGRESS);
	/* An event from before the connection may be left. */
	do {
		events = ep_wait(ep);
	} while (events & EPOLLHUP);
	MUST_BE(events, EPOLLOUT);
	MUST_BE(get_int(c, SOL_SOCKET, SO_ERROR), 0);
	s = accept_one(listener);
	send_all(s, "x", 1);
	do {
		events = ep_wait(ep);
	} while (events == EPOLLOUT);
	MUST_BE(events, EPOLLIN | EPOLLOUT);
	skip(c, 1);
	close(s);
	do {
		events = ep_wait(ep);
	} while (events == EPOLLOUT);
	CHECK(events & EPOLLIN && events & EPOLLRDHUP, "%s", event_text(events));
	close(c);
	close(ep);
	close(listener);
}
END_TEST

START_TEST(epoll_refused)
{
	int ip = _i / 2, mode = _i % 2 ? EPOLLET : 0;
	struct addr nobody = closed_port(ip);
	int ep = MUST(epoll_create1(0)), c = open_socket(ip, SOCK_NONBLOCK), events;

	MUST_FAIL(connect(c, &nobody.sa, nobody.len), EINPROGRESS);
	ep_ctl(ep, EPOLL_CTL_ADD, c, EPOLLOUT | mode);
	events = ep_wait(ep);
	CHECK(events & EPOLLERR && events & EPOLLHUP && events & EPOLLOUT, "%s",
	      event_text(events));
	MUST_BE(get_int(c, SOL_SOCKET, SO_ERROR), ECONNREFUSED);
	close(c);
	close(ep);
}
END_TEST

START_TEST(epoll_listener)
{
	struct addr where;
	int listener = open_listener(IPV4, 8, &where), ep = MUST(epoll_create1(0)), i;
	int c[3];

	set_nonblock(listener, true);
	ep_ctl(ep, EPOLL_CTL_ADD, listener, EPOLLIN | EPOLLET);
	MUST_BE(ep_get(ep, 0), 0);
	for (i = 0; i < 3; i++) {
		c[i] = open_client(IPV4, &where);
		/* Each is news. */
		MUST_BE(ep_wait(ep), EPOLLIN);
	}
	MUST_BE(ep_get(ep, 20), 0);
	for (i = 0; i < 3; i++) {
		close(MUST(accept(listener, NULL, NULL)));
		close(c[i]);
	}
	MUST_FAIL(accept(listener, NULL, NULL), EAGAIN);
	close(listener);
	MUST_BE(ep_get(ep, 0), 0);
	close(ep);
}
END_TEST

/* An epoll descriptor inside another; and one closed while watched. */
START_TEST(epoll_nested)
{
	struct pair p = open_pair(IPV4), q = open_pair(IPV4);
	int inner = MUST(epoll_create1(0)), outer = MUST(epoll_create1(0));

	ep_ctl(inner, EPOLL_CTL_ADD, p.s, EPOLLIN);
	ep_ctl(inner, EPOLL_CTL_ADD, q.s, EPOLLIN);
	ep_ctl(outer, EPOLL_CTL_ADD, inner, EPOLLIN);
	MUST_BE(ep_get(outer, 0), 0);
	send_all(p.c, "x", 1);
	MUST_BE(ep_wait(outer), EPOLLIN);
	MUST_BE(ep_wait(inner), EPOLLIN);
	close_pair(&p);
	MUST_BE(ep_get(inner, 0), 0);
	send_all(q.c, "x", 1);
	MUST_BE(ep_wait(outer), EPOLLIN);
	close(inner);
	close(q.c);
	skip(q.s, 1);
	expect_end(q.s);
	close(q.s);
	close(outer);
}
END_TEST

/* --- signals --------------------------------------------------------------------------- */

static bool signal_seen(void *arg)
{
	(void)arg;
	return signals_seen > 0;
}

START_TEST(sigio)
{
	struct addr where;
	int listener = open_listener(IPV4, 4, &where), c, s;

	count_signal(SIGIO, SA_RESTART);
	MUST(fcntl(listener, F_SETOWN, getpid()));
	MUST(fcntl(listener, F_SETFL, O_ASYNC));
	c = open_client(IPV4, &where);
	CHECK(eventually(signal_seen, NULL), "no SIGIO for a connection");
	s = accept_one(listener);

	MUST(fcntl(s, F_SETOWN, getpid()));
	MUST(fcntl(s, F_SETFL, O_ASYNC));
	signals_seen = 0;
	send_all(c, "x", 1);
	CHECK(eventually(signal_seen, NULL), "no SIGIO for data");
	skip(s, 1);
	signals_seen = 0;
	MUST(shutdown(c, SHUT_WR));
	CHECK(eventually(signal_seen, NULL), "no SIGIO for the end");
	MUST(fcntl(s, F_SETFL, 0));
	close(c);
	close(s);
	close(listener);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("poll");
	TCase *tc;

	tc = add_case(suite, "states", 30);
	tcase_add_loop_test(tc, state, 0, 2 * (int)ARRAY_SIZE(state_rows));
	add_ip_test(tc, state_unconnected);
	tcase_add_loop_test(tc, room, 0, 2);

	tc = add_case(suite, "waiting", full_run() ? 600 : 30);
	tcase_add_test(tc, timeout_each_time);
	tcase_add_test(tc, wakes_for_what_is_asked);
	tcase_add_test(tc, wakes_each_time);
	tcase_add_test(tc, many_wait);
	tcase_add_test(tc, select_sparse);
	tcase_add_test(tc, sigio);

	tc = add_case(suite, "slow", full_run() ? 600 : 60);
	if (!is_tcp()) {
		tcase_add_test(tc, room_in_parts);
		tcase_add_test(tc, room_is_told);
	}

	tc = add_case(suite, "epoll", full_run() ? 300 : 30);
	tcase_add_test(tc, epoll_level);
	tcase_add_test(tc, epoll_edge);
	tcase_add_loop_test(tc, epoll_edge_traffic, 0, 2);
	tcase_add_test(tc, epoll_oneshot);
	tcase_add_loop_test(tc, epoll_before_connect, 0, 2 * ip_versions());
	tcase_add_loop_test(tc, epoll_refused, 0, 2 * ip_versions());
	tcase_add_test(tc, epoll_listener);
	tcase_add_test(tc, epoll_nested);

	return run_suite(suite);
}
