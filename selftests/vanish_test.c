// SPDX-License-Identifier: GPL-2.0
/*
 * A peer that is not there any more, or does not read: SO_KEEPALIVE and
 * TCP_USER_TIMEOUT. RSOCK_CUT is the command that cuts the wire from the client,
 * RSOCK_MEND the one that mends it; RSOCK_CUT_BACK and RSOCK_MEND_BACK, to it; and
 * RSOCK_SLOW makes it so slow that the device repeats what it sends.
 */
#include <stdlib.h>
#include <sys/mman.h>

#include "tcp_info.h"
#include "util.h"

static void wire(const char *command)
{
	const char *line = getenv(command);

	CHECK(line, "%s is not set", command);
	MUST_BE(system(line), 0);
}

static void keep(int fd)
{
	set_int(fd, IPPROTO_TCP, TCP_KEEPIDLE, 1);
	set_int(fd, IPPROTO_TCP, TCP_KEEPINTVL, 1);
	set_int(fd, IPPROTO_TCP, TCP_KEEPCNT, 2);
	set_int(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
}

/* The end by a timeout, which is counted as what it was */
static void expect_timeout(int fd, const char *counter, unsigned long before)
{
	char byte;

	wait_events(fd, POLLERR);
	MUST_BE(get_int(fd, SOL_SOCKET, SO_ERROR), ETIMEDOUT);
	MUST_BE(recv(fd, &byte, 1, 0), 0);
	MUST_FAIL(send(fd, "x", 1, MSG_NOSIGNAL), EPIPE);
	if (!is_tcp())
		MUST_BE(stat_now(counter), before + 1);
}

static unsigned long count(const char *counter)
{
	return is_tcp() ? 0 : stat_now(counter);
}

static bool no_sockets(void *arg)
{
	FILE *f = fopen("/proc/net/rsock", "r");
	int c, lines = 0;

	(void)arg;
	CHECK(f, "%s", err_name(errno));
	while ((c = fgetc(f)) != EOF)
		lines += c == '\n';
	fclose(f);
	return lines == 1;
}

/* What those of earlier tests may count as well: when they are gone */
static unsigned long count_alone(const char *counter)
{
	CHECK(eventually(no_sockets, NULL), "there are sockets from before");
	return stat_now(counter);
}

struct probes {
	int fd;
	unsigned int segs;
};

static bool three_probes(void *arg)
{
	const struct probes *p = arg;

	return info_of(p->fd).tcpi_segs_out >= p->segs + 3;
}

/*
 * Nobody sends, and both are there: probed, and let be; also if the user timeout
 * is shorter than the time that they are idle.
 */
START_TEST(idle)
{
	struct pair p = open_pair(IPV4);
	struct probes probes = { .fd = p.c };

	keep(p.c);
	/* So long an answer may take on a busy machine */
	set_int(p.c, IPPROTO_TCP, TCP_KEEPINTVL, 4);
	if (_i)
		set_int(p.c, IPPROTO_TCP, TCP_USER_TIMEOUT, 10);
	probes.segs = info_of(p.c).tcpi_segs_out;
	CHECK(eventually(three_probes, &probes), "no probes");
	expect_nothing(p.s);
	expect_alive(p.c, p.s);
	close_pair(&p);
}
END_TEST

/* 0: asked for before the connection, 1: after, 2: by what it was accepted from */
START_TEST(keepalive)
{
	unsigned long before = count("KeepTimeouts");
	struct addr where;
	int listener = open_listener(IPV4, 1, &where), c, s;

	c = open_socket(IPV4, 0);
	if (_i == 0)
		keep(c);
	if (_i == 2)
		keep(listener);
	MUST(connect(c, &where.sa, where.len));
	s = accept_one(listener);
	expect_alive(c, s);
	wire("RSOCK_CUT");
	if (_i == 1)
		keep(c);
	expect_timeout(_i == 2 ? s : c, "KeepTimeouts", before);
	wire("RSOCK_MEND");
	close(c);
	close(s);
	close(listener);
}
END_TEST

/* Options of a connection that has long been silent: each is no probe of its own */
START_TEST(set_again)
{
	struct pair p = open_pair(IPV4);
	int i;

	expect_alive(p.c, p.s);
	set_int(p.c, SOL_SOCKET, SO_KEEPALIVE, 1);
	sleep_ms(1500);
	wire("RSOCK_CUT");
	for (i = 0; i < 5; i++) {
		set_int(p.c, IPPROTO_TCP, TCP_KEEPINTVL, 30);
		set_int(p.c, IPPROTO_TCP, TCP_KEEPCNT, 2);
		set_int(p.c, IPPROTO_TCP, TCP_KEEPIDLE, 1);
	}
	wire("RSOCK_MEND");
	MUST_BE(get_int(p.c, SOL_SOCKET, SO_ERROR), 0);
	expect_alive(p.c, p.s);
	close_pair(&p);
}
END_TEST

static void set_syn_retries(int times)
{
	FILE *f = fopen("/proc/sys/net/ipv4/tcp_syn_retries", "w");

	CHECK(f && fprintf(f, "%d\n", times) > 0 && !fclose(f), "%s", err_name(errno));
}

/* Nobody answers: 0: not for longer than the user timeout, 1: than TCP would ask */
START_TEST(connecting)
{
	const char *counter = _i ? "NoAnswer" : "UserTimeouts";
	unsigned long before = count(counter);
	struct pair p = open_pair(IPV4);	/* each knows where the other is */
	struct addr where;
	int listener = open_listener(IPV4, 1, &where), c = open_socket(IPV4, 0), err;

	if (_i)
		set_syn_retries(1);
	else
		set_int(c, IPPROTO_TCP, TCP_USER_TIMEOUT, 1500);
	set_nonblock(c, true);
	wire("RSOCK_CUT");
	MUST_FAIL(connect(c, &where.sa, where.len), EINPROGRESS);
	wait_events(c, POLLERR);
	err = get_int(c, SOL_SOCKET, SO_ERROR);
	/* TCP may have been told that there is no host. */
	CHECK(err == ETIMEDOUT || (is_tcp() && err == EHOSTUNREACH), "%s", err_name(err));
	if (!is_tcp())
		MUST_BE(stat_now(counter), before + 1);
	wire("RSOCK_MEND");
	set_syn_retries(6);
	close(c);
	close(listener);
	close_pair(&p);
}
END_TEST

static bool one_user_timeout(void *arg)
{
	const unsigned long *before = arg;

	return stat_now("UserTimeouts") == *before + 1;
}

/* A connection to be accepted, whose peer is not heard of again */
START_TEST(to_be_accepted)
{
	unsigned long before = count("UserTimeouts");
	struct pair p = open_pair(IPV4);	/* each knows where the other is */
	struct addr where;
	int listener = open_listener(IPV4, 1, &where), c = open_socket(IPV4, 0);

	set_int(listener, IPPROTO_TCP, TCP_USER_TIMEOUT, 1500);
	set_nonblock(c, true);
	wire("RSOCK_CUT_BACK");
	MUST_FAIL(connect(c, &where.sa, where.len), EINPROGRESS);
	CHECK(eventually(one_user_timeout, &before), "it waits on");
	wire("RSOCK_MEND_BACK");
	close(c);
	close(listener);
	expect_alive(p.c, p.s);
	close_pair(&p);
}
END_TEST

START_TEST(unacknowledged)
{
	unsigned long before = count("UserTimeouts");
	struct pair p = open_pair(IPV4);

	expect_alive(p.c, p.s);
	set_int(p.c, IPPROTO_TCP, TCP_USER_TIMEOUT, 2000);
	wire("RSOCK_CUT");
	send_all(p.c, "x", 1);
	expect_timeout(p.c, "UserTimeouts", before);
	wire("RSOCK_MEND");
	close_pair(&p);
}
END_TEST

/* The peer is there, but its program does not read */
START_TEST(unread)
{
	unsigned long before = count("UserTimeouts");
	struct pair p = open_small_pair(IPV4, 8 * KB), idle = open_pair(IPV4);
	struct stream out = { .fd = p.c, .seed = 1 };

	/* Its answers may take so long on a busy machine */
	set_int(idle.c, IPPROTO_TCP, TCP_USER_TIMEOUT, 3000);
	send_until_full(&out);
	set_int(p.c, IPPROTO_TCP, TCP_USER_TIMEOUT, 4000);
	expect_timeout(p.c, "UserTimeouts", before);
	/* Where nothing waits there is no timeout */
	expect_alive(idle.c, idle.s);
	close_pair(&idle);
	close_pair(&p);
}
END_TEST

/*
 * The peer does not read, and so nothing can be sent, when the wire is cut: that
 * is found out without any option. (TCP would ask for a quarter of an hour.)
 */
START_TEST(no_room)
{
	unsigned long before = count_alone("PeerSilent");
	struct pair p = open_small_pair(IPV4, 8 * KB);
	struct stream out = { .fd = p.c, .seed = 1 };

	send_until_full(&out);
	wire("RSOCK_CUT");
	expect_timeout(p.c, "PeerSilent", before);
	wire("RSOCK_MEND");
	close_pair(&p);
}
END_TEST

/* Slower than the timeout, but not without progress */
START_TEST(slow_reader)
{
	struct pair p = open_small_pair(IPV4, 8 * KB);
	struct stream out = { .fd = p.c, .seed = 1 }, in = { .fd = p.s, .seed = 1 };
	long long begin = now_ms();

	set_int(p.c, IPPROTO_TCP, TCP_USER_TIMEOUT, 3000);
	set_nonblock(p.c, true);
	while (now_ms() < begin + 6000) {
		char buf[1000];
		ssize_t n;

		pattern_fill(buf, sizeof(buf), out.seed, out.pos);
		n = send(p.c, buf, sizeof(buf), MSG_NOSIGNAL);
		if (n > 0)
			out.pos += n;
		else
			MUST_BE(errno, EAGAIN);
		recv_stream(&in, 400, 400);
		sleep_ms(5);
	}
	MUST_BE(get_int(p.c, SOL_SOCKET, SO_ERROR), 0);
	MUST(shutdown(p.c, SHUT_WR));
	recv_to_end(&in, 1000);
	MUST_BE(in.pos, out.pos);
	close_pair(&p);
}
END_TEST

START_TEST(taken_back)
{
	struct pair p = open_pair(IPV4);

	keep(p.c);
	set_int(p.c, IPPROTO_TCP, TCP_USER_TIMEOUT, 500);
	set_int(p.c, SOL_SOCKET, SO_KEEPALIVE, 0);
	set_int(p.c, IPPROTO_TCP, TCP_USER_TIMEOUT, 0);
	wire("RSOCK_CUT");
	sleep_ms(4000);
	MUST_BE(get_int(p.c, SOL_SOCKET, SO_ERROR), 0);
	wire("RSOCK_MEND");
	expect_alive(p.c, p.s);
	close_pair(&p);
}
END_TEST

static void stream_on(void *arg)
{
	struct stream *out = arg;

	send_stream(out, 512 * KB, 4 * KB);
}

static void read_on(void *arg)
{
	recv_to_end(arg, 64 * KB);
}

/*
 * Memory is registered while the device repeats what it sent: it does not repeat
 * the registration, which would fail.
 */
START_TEST(map_on_a_slow_wire)
{
	struct pair p = open_pair(IPV4);
	struct stream out = { .fd = p.c, .seed = 1 }, in = { .fd = p.s, .seed = 1 };
	struct worker sender, reader;
	int i;

	wire("RSOCK_SLOW");
	start(&reader, read_on, &in);
	start(&sender, stream_on, &out);
	for (i = 0; i < 4; i++) {
		void *mem = mmap(NULL, 4 * KB, PROT_READ | PROT_WRITE, MAP_SHARED, p.c, 0);

		CHECK(mem != MAP_FAILED, "mapping %d: %s", i, err_name(errno));
		MUST(munmap(mem, 4 * KB));
	}
	join(&sender);
	MUST(shutdown(p.c, SHUT_WR));
	join(&reader);
	MUST_BE(in.pos, out.pos);
	MUST_BE(get_int(p.c, SOL_SOCKET, SO_ERROR), 0);
	wire("RSOCK_MEND");
	close_pair(&p);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("vanish");
	TCase *tc;

	tc = add_case(suite, "vanish", 60);
	tcase_add_loop_test(tc, idle, 0, 2);
	tcase_add_loop_test(tc, keepalive, 0, 3);
	tcase_add_test(tc, set_again);
	tcase_add_loop_test(tc, connecting, 0, 2);
	tcase_add_test(tc, unacknowledged);
	tcase_add_test(tc, unread);
	if (!is_tcp()) {
		tcase_add_test(tc, to_be_accepted);
		tcase_add_test(tc, no_room);
		tcase_add_test(tc, map_on_a_slow_wire);
	}
	tcase_add_test(tc, slow_reader);
	tcase_add_test(tc, taken_back);
	return run_suite(suite);
}
