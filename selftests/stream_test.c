// SPDX-License-Identifier: GPL-2.0
/*
 * Data: whole, in order, with all calls, sizes and flags.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/uio.h>

#include "util.h"

#define SMALL_BUF	(64 * 1024)

/* --- streams in both directions ----------------------------------------------- */

struct flow {
	struct stream st;
	uint64_t len;
	size_t chunk;
	struct worker w;
};

static void run_sender(void *arg)
{
	struct flow *f = arg;

	send_stream(&f->st, f->len, f->chunk);
}

static void run_receiver(void *arg)
{
	struct flow *f = arg;

	recv_stream(&f->st, f->len, f->chunk);
}

static void start_sender(struct flow *f, int fd, uint32_t seed, uint64_t len, size_t chunk)
{
	*f = (struct flow){ .st = { .fd = fd, .seed = seed }, .len = len, .chunk = chunk };
	start(&f->w, run_sender, f);
}

static void start_receiver(struct flow *f, int fd, uint32_t seed, uint64_t len, size_t chunk)
{
	*f = (struct flow){ .st = { .fd = fd, .seed = seed }, .len = len, .chunk = chunk };
	start(&f->w, run_receiver, f);
}

static void both_ways(struct pair *p, uint64_t len, size_t send_chunk, size_t recv_chunk)
{
	struct flow f[4];
	int i;

	start_receiver(&f[0], p->s, 1, len, recv_chunk);
	start_receiver(&f[1], p->c, 2, len, recv_chunk);
	start_sender(&f[2], p->c, 1, len, send_chunk);
	start_sender(&f[3], p->s, 2, len, send_chunk);
	for (i = 3; i >= 0; i--)
		join(&f[i].w);
	expect_nothing(p->c);
	expect_nothing(p->s);
}

static const size_t sizes[] = {
	1, 2, 7, 8, 9, 63, 64, 65, 255, 1000, 1023, 1024, 1025, 4095, 4096, 4097, 8192, 16384,
	32767, 65535, 65536, 65537, 100000, 131072, 262144, 1048575, 1048576, 1048577,
};

/* One send() of each size each way at once, a few times. */
START_TEST(size)
{
	size_t len = sizes[_i % ARRAY_SIZE(sizes)];
	struct pair p = open_pair(_i / ARRAY_SIZE(sizes));
	int round;

	for (round = 0; round < 4; round++)
		both_ways(&p, len, len, len);
	both_ways(&p, len * 3, len, len + 1);
	close_pair(&p);
}
END_TEST

static const struct {
	size_t send_chunk, recv_chunk;
} chunk_rows[] = {
	{ 65536, 65536 },
	{ 1048576, 1048576 },
	{ 10007, 4096 },
	{ 4096, 99991 },
	{ 1460, 65536 },
	{ 65536, 1499 },
	{ 1999993, 300007 },
};

START_TEST(long_stream)
{
	struct pair p = open_pair(_i % 2 ? IPV6 : IPV4);
	uint64_t len = (full_run() ? 256 : 16) * MB;

	both_ways(&p, len, chunk_rows[_i].send_chunk, chunk_rows[_i].recv_chunk);
	close_pair(&p);
}
END_TEST

/*
 * Little buffers: always full or empty. With the smallest TCP lives by its
 * timers, so that is short.
 */
START_TEST(long_stream_small_buffers)
{
	static const struct {
		int buf;
		uint64_t len;
	} rows[] = {
		{ 1, 30000 }, { 4096, 100000 }, { 16384, MB }, { 65536, MB },
	};
	struct pair p = open_small_pair(IPV4, rows[_i].buf);

	both_ways(&p, rows[_i].len * (full_run() ? 4 : 1), 30011, 20011);
	close_pair(&p);
}
END_TEST

/* Nothing flows back: what the receiver grants must not wait for data. */
START_TEST(one_way)
{
	struct pair p = open_pair(IPV4);
	int ends[2][2] = { { p.c, p.s }, { p.s, p.c } };
	struct flow out, in;

	start_receiver(&in, ends[_i][1], 3, (full_run() ? 256 : 16) * MB, 65536);
	start_sender(&out, ends[_i][0], 3, in.len, 65536);
	join(&out.w);
	join(&in.w);
	/* And then the other way. */
	start_receiver(&in, ends[_i][0], 4, 4 * MB, 65536);
	start_sender(&out, ends[_i][1], 4, in.len, 65536);
	join(&out.w);
	join(&in.w);
	close_pair(&p);
}
END_TEST

static void send_messages(void *arg)
{
	struct flow *f = arg;
	uint32_t state = 5;
	uint64_t i;

	for (i = 0; i < f->len; i++)
		send_stream(&f->st, rnd_range(&state, 1, f->chunk), f->chunk);
}

/* Thousands of small ones, whoever is faster. */
START_TEST(small_messages)
{
	struct pair p = open_pair(IPV4);
	struct flow out = {
		.st = { .fd = p.c, .seed = 6 },
		.len = full_run() ? 200000 : 10000,
		.chunk = 100,
	};
	struct stream in = { .fd = p.s, .seed = 6 };
	uint64_t total = 0, i;
	uint32_t state = 5;

	for (i = 0; i < out.len; i++)
		total += rnd_range(&state, 1, 100);
	set_int(p.c, IPPROTO_TCP, 1 /* TCP_NODELAY */, _i);
	start(&out.w, send_messages, &out);
	recv_stream(&in, total, 65536);
	join(&out.w);
	expect_nothing(p.s);
	close_pair(&p);
}
END_TEST

static void run_echo(void *arg)
{
	echo_until_end(*(int *)arg);
}

START_TEST(ping_pong)
{
	static const size_t lens[] = { 1, 64, 1000, 5000, 70000 };
	struct pair p = open_pair(IPV4);
	struct stream out = { .fd = p.c, .seed = 8 }, in = out;
	int rounds = full_run() ? 20000 : 1000, i;
	struct worker w;

	start(&w, run_echo, &p.s);
	for (i = 0; i < rounds; i++) {
		send_stream(&out, lens[_i], lens[_i]);
		recv_stream(&in, lens[_i], lens[_i]);
	}
	MUST(shutdown(p.c, SHUT_WR));
	join(&w);
	close_pair(&p);
}
END_TEST

START_TEST(byte_by_byte)
{
	struct pair p = open_pair(IPV4);
	struct flow out;
	struct stream in = { .fd = p.s, .seed = 9 };

	/* Read by bytes, written by bytes, both. */
	start_sender(&out, p.c, 9, 50000, _i == 1 ? 1 : 50000);
	recv_stream(&in, 50000, _i == 0 ? 1 : 50000);
	join(&out.w);
	start_sender(&out, p.s, 9, 5000, 1);
	in = (struct stream){ .fd = p.c, .seed = 9 };
	recv_stream(&in, 5000, 1);
	join(&out.w);
	close_pair(&p);
}
END_TEST

START_TEST(slow_reader)
{
	struct pair p = open_small_pair(IPV4, SMALL_BUF);
	struct stream in = { .fd = p.s, .seed = 10 };
	struct flow out;
	int i;

	start_sender(&out, p.c, 10, 2 * MB, 65536);
	wait_blocked(&out.w);
	for (i = 0; i < 200; i++) {
		recv_stream(&in, 1 + i * 7, 1 + i * 7);
		if (i % 4 == 0)
			sleep_ms(1);
	}
	recv_stream(&in, 2 * MB - in.pos, 65536);
	join(&out.w);
	close_pair(&p);
}
END_TEST

/* A send() that blocks because nobody reads goes on when somebody does. */
START_TEST(blocked_send_released)
{
	struct pair p = open_small_pair(IPV4, SMALL_BUF);
	struct stream in = { .fd = p.s, .seed = 11 };
	struct flow out;
	int i;

	start_sender(&out, p.c, 11, 8 * MB, 8 * MB);
	for (i = 1; i <= 3; i++) {
		wait_blocked(&out.w);
		recv_stream(&in, i * MB, 65536);
	}
	recv_stream(&in, 2 * MB, 65536);
	join(&out.w);
	expect_nothing(p.s);
	close_pair(&p);
}
END_TEST

/* Both ends full, nobody reading: no dead lock, nothing lost. */
START_TEST(both_full)
{
	struct pair p = open_small_pair(IPV4, SMALL_BUF);
	struct stream out[2] = { { .fd = p.c, .seed = 12 }, { .fd = p.s, .seed = 13 } };
	struct stream in[2] = { { .fd = p.s, .seed = 12 }, { .fd = p.c, .seed = 13 } };
	uint64_t sent[2];
	int round, i;

	for (round = 0; round < 3; round++) {
		for (i = 0; i < 2; i++) {
			sent[i] = send_until_full(&out[i]);
			CHECK(sent[i] > 0, "nothing fits");
		}
		/* Reading on one end only, then on the other. */
		for (i = 0; i < 2; i++)
			recv_stream(&in[(i + round) % 2], sent[(i + round) % 2], 10000);
		expect_nothing(p.c);
		expect_nothing(p.s);
	}
	expect_alive(p.c, p.s);
	close_pair(&p);
}
END_TEST

/*
 * A long random walk over what can be done with both ends, without blocking:
 * sizes, vectors, peeking, skipping.
 */
START_TEST(random_walk)
{
	struct pair p = _i % 2 ? open_small_pair(IPV4, 20000) : open_pair(IPV4);
	uint32_t state = env_number("RSOCK_SEED", 1) * 100 + _i;
	struct stream out[2] = { { .fd = p.c, .seed = 20 }, { .fd = p.s, .seed = 21 } };
	struct stream in[2] = { { .fd = p.s, .seed = 20 }, { .fd = p.c, .seed = 21 } };
	int steps = full_run() ? 200000 : 8000, max = _i < 2 ? 200 : 40000, i, k;
	static char buf[50000];

	for (i = 0; i < steps; i++) {
		int way = rnd(&state) % 2, len = rnd_range(&state, 1, max), cuts, done = 0;
		struct stream *o = &out[way], *s = &in[way];
		struct iovec iov[8];
		struct msghdr msg = { .msg_iov = iov };
		ssize_t n;

		cuts = rnd_range(&state, 1, 8);
		for (k = 0; k < cuts; k++) {
			int part = k == cuts - 1 ? len - done :
				(int)rnd_range(&state, 0, (len - done) / 2);

			iov[k] = (struct iovec){ buf + done, part };
			done += part;
		}
		msg.msg_iovlen = cuts;
		switch (rnd(&state) % 8) {
		case 0 ... 2:
			pattern_fill(buf, len, o->seed, o->pos);
			n = sendmsg(o->fd, &msg, MSG_DONTWAIT | MSG_NOSIGNAL);
			CHECK(n > 0 || errno == EAGAIN, "step %d: %s", i, err_name(errno));
			o->pos += n > 0 ? n : 0;
			break;
		case 3:
			pattern_fill(buf, len, o->seed, o->pos);
			n = send(o->fd, buf, len, MSG_DONTWAIT | MSG_MORE);
			CHECK(n > 0 || errno == EAGAIN, "step %d: %s", i, err_name(errno));
			o->pos += n > 0 ? n : 0;
			break;
		case 4:
			n = recv(s->fd, buf, len, MSG_DONTWAIT | MSG_PEEK);
			CHECK(n > 0 || errno == EAGAIN, "step %d: %s", i, err_name(errno));
			if (n > 0)
				pattern_check(buf, n, s->seed, s->pos);
			break;
		case 5:
			n = recv(s->fd, NULL, len / 4 + 1, MSG_DONTWAIT | MSG_TRUNC);
			CHECK(n > 0 || errno == EAGAIN, "step %d: %s", i, err_name(errno));
			s->pos += n > 0 ? n : 0;
			break;
		default:
			memset(buf, 0, len);
			n = recvmsg(s->fd, &msg, MSG_DONTWAIT);
			CHECK(n > 0 || errno == EAGAIN, "step %d: %s", i, err_name(errno));
			if (n > 0)
				pattern_check(buf, n, s->seed, s->pos);
			s->pos += n > 0 ? n : 0;
			break;
		}
		CHECK(s->pos <= o->pos, "step %d: more received than sent", i);
	}
	for (i = 0; i < 2; i++)
		recv_stream(&in[i], out[i].pos - in[i].pos, 10000);
	expect_alive(p.c, p.s);
	CHECK(in[0].pos > 10000 && in[1].pos > 10000, "hardly any data");
	close_pair(&p);
}
END_TEST

/* --- vectors --------------------------------------------------------------------- */

static void fill_iov(struct iovec *iov, int count, char *buf, size_t part, bool gaps)
{
	int i;

	for (i = 0; i < count; i++) {
		size_t n = gaps && i % 3 == 1 ? 0 : part + i % 5;

		iov[i] = (struct iovec){ n ? buf : NULL, n };
		buf += n;
	}
}

static size_t iov_total(const struct iovec *iov, int count)
{
	size_t total = 0;

	while (count--)
		total += iov[count].iov_len;
	return total;
}

START_TEST(vectors)
{
	static const struct {
		int count;
		size_t part;
		bool gaps;
	} rows[] = {
		{ 1, 100 }, { 2, 1 }, { 3, 0, true }, { 16, 1000, true }, { 64, 4096 },
		{ 1024, 1 }, { 1024, 100, true }, { 7, 30000 },
	};
	int out_count = rows[_i].count, in_count = rows[ARRAY_SIZE(rows) - 1 - _i].count, use;
	struct pair p = open_pair(IPV4);
	static struct iovec iov[1024];
	static char buf[600000];

	for (use = 0; use < 4; use++) {
		struct stream in = { .fd = p.s, .seed = 30 + use };
		struct msghdr msg = { .msg_iov = iov, .msg_iovlen = out_count };
		size_t total, sent = 0;
		ssize_t n;

		fill_iov(iov, out_count, buf, rows[_i].part, rows[_i].gaps);
		total = iov_total(iov, out_count);
		pattern_fill(buf, total, in.seed, 0);
		n = use % 2 ? writev(p.c, iov, out_count) : sendmsg(p.c, &msg, 0);
		CHECK(n == (ssize_t)total, "%zd of %zu, %s", n, total, err_name(errno));
		sent = n;
		while (in.pos < sent) {
			fill_iov(iov, in_count, buf, 97, true);
			memset(buf, 0, iov_total(iov, in_count) + 1);
			msg = (struct msghdr){ .msg_iov = iov, .msg_iovlen = in_count };
			n = use < 2 ? readv(p.s, iov, in_count) : recvmsg(p.s, &msg, 0);
			CHECK(n > 0, "%zd, %s", n, err_name(errno));
			CHECK(use < 2 || !(msg.msg_flags & ~MSG_CMSG_CLOEXEC), "flags 0x%x",
			      msg.msg_flags);
			pattern_check(buf, n, in.seed, in.pos);
			in.pos += n;
			CHECK(!buf[n] || in.pos < sent, "written beyond the end");
		}
		MUST_BE(in.pos, sent);
	}
	MUST_FAIL(sendmsg(p.c, &(struct msghdr){ .msg_iov = iov, .msg_iovlen = 1025 }, 0),
		  EMSGSIZE);
	MUST_FAIL(recvmsg(p.s, &(struct msghdr){ .msg_iov = iov, .msg_iovlen = 1025 }, 0),
		  EMSGSIZE);
	expect_alive(p.c, p.s);
	close_pair(&p);
}
END_TEST

START_TEST(many_messages_at_once)
{
	struct pair p = open_pair(IPV4);
	char out[3][1000], in[3][1000];
	struct mmsghdr msgs[3] = { };
	struct iovec iov[3];
	int i, n, got = 0;

	for (i = 0; i < 3; i++) {
		pattern_fill(out[i], 1000, 40, i * 1000);
		iov[i] = (struct iovec){ out[i], 1000 };
		msgs[i].msg_hdr = (struct msghdr){ .msg_iov = &iov[i], .msg_iovlen = 1 };
	}
	MUST_BE(sendmmsg(p.c, msgs, 3, 0), 3);
	for (i = 0; i < 3; i++)
		MUST_BE(msgs[i].msg_len, 1000);
	wait_inq(p.s, 3000);
	for (i = 0; i < 3; i++)
		iov[i] = (struct iovec){ in[i], 1000 };
	n = MUST(recvmmsg(p.s, msgs, 3, MSG_DONTWAIT, NULL));
	for (i = 0; i < n; i++) {
		pattern_check(in[i], msgs[i].msg_len, 40, got);
		got += msgs[i].msg_len;
	}
	MUST_BE(got, 3000);
	close_pair(&p);
}
END_TEST

START_TEST(no_data)
{
	struct pair p = open_pair(IPV4);
	struct iovec none[2] = { };
	char b = 0;

	MUST_BE(send(p.c, &b, 0, 0), 0);
	MUST_BE(send(p.c, NULL, 0, 0), 0);
	MUST_BE(write(p.c, &b, 0), 0);
	MUST_BE(writev(p.c, none, 2), 0);
	MUST_BE(sendmsg(p.c, &(struct msghdr){ }, 0), 0);
	MUST_BE(read(p.s, &b, 0), 0);
	sleep_ms(20);
	/* None of these is seen by the peer, as data or as an end. */
	expect_nothing(p.s);
	send_all(p.c, "x", 1);
	wait_inq(p.s, 1);
	MUST_BE(recv(p.s, &b, 0, 0), 0);
	MUST_BE(readv(p.s, none, 2), 0);
	MUST_BE(inq(p.s), 1);
	MUST_BE(recv(p.s, &b, 1, 0), 1);
	CHECK(b == 'x', "0x%02x", b);
	expect_alive(p.c, p.s);
	close_pair(&p);
}
END_TEST

/* --- flags of recv() ----------------------------------------------------------------- */

START_TEST(peek)
{
	struct pair p = open_pair(IPV4);
	struct stream out = { .fd = p.c, .seed = 50 };
	char buf[8192];
	uint64_t pos = 0;
	int i, n;

	MUST_FAIL(recv(p.s, buf, 10, MSG_PEEK | MSG_DONTWAIT), EAGAIN);
	for (i = 0; i < 20; i++) {
		/* In pieces, so that peeking has to go over borders. */
		send_stream(&out, 3000, 100 * i + 1);
		wait_inq(p.s, 3000);
		MUST_BE(recv(p.s, buf, 10, MSG_PEEK), 10);
		pattern_check(buf, 10, 50, pos);
		n = MUST_BE(recv(p.s, buf, sizeof(buf), MSG_PEEK), 3000);
		pattern_check(buf, n, 50, pos);
		memset(buf, 0, sizeof(buf));
		n = MUST_BE(recv(p.s, buf, 3000, MSG_PEEK | MSG_WAITALL), 3000);
		pattern_check(buf, n, 50, pos);
		MUST_BE(recv(p.s, buf, 1234, 0), 1234);
		pattern_check(buf, 1234, 50, pos);
		n = MUST_BE(recv(p.s, buf, sizeof(buf), MSG_PEEK), 3000 - 1234);
		pattern_check(buf, n, 50, pos + 1234);
		n = MUST_BE(recv(p.s, buf, sizeof(buf), 0), 3000 - 1234);
		pattern_check(buf, n, 50, pos + 1234);
		pos += 3000;
	}
	MUST(shutdown(p.c, SHUT_WR));
	wait_events(p.s, POLLIN);
	MUST_BE(recv(p.s, buf, 10, MSG_PEEK), 0);
	MUST_BE(recv(p.s, buf, 10, MSG_PEEK | MSG_WAITALL), 0);
	MUST_BE(recv(p.s, buf, 10, 0), 0);
	close_pair(&p);
}
END_TEST

struct call {
	int fd;
	void *buf;
	size_t len;
	int flags;
	ssize_t ret;
	int err;
	struct worker w;
};

static void run_recv(void *arg)
{
	struct call *c = arg;

	c->ret = recv(c->fd, c->buf, c->len, c->flags);
	c->err = errno;
}

/* Waiting for all of it, with and without peeking, while it comes in parts. */
START_TEST(waitall_in_parts)
{
	static const int flags[] = { MSG_WAITALL, MSG_WAITALL | MSG_PEEK };
	struct pair p = open_pair(IPV4);
	struct stream out = { .fd = p.c, .seed = 51 }, in = { .fd = p.s, .seed = 51 };
	static char buf[30000];
	struct call c = { .fd = p.s, .buf = buf, .len = sizeof(buf), .flags = flags[_i] };
	int i;

	start(&c.w, run_recv, &c);
	for (i = 0; i < 3; i++) {
		wait_blocked(&c.w);
		send_stream(&out, 10000, 10000);
	}
	join(&c.w);
	CHECK(c.ret == sizeof(buf), "%zd, %s", c.ret, err_name(c.err));
	pattern_check(buf, sizeof(buf), 51, 0);
	if (_i)
		recv_stream(&in, 30000, 30000);
	expect_nothing(p.s);
	close_pair(&p);
}
END_TEST

/* As much as can be there is all that a peek waits for. */
START_TEST(peek_all_there_can_be)
{
	struct pair p = open_small_pair(IPV4, SMALL_BUF);
	struct stream in = { .fd = p.s, .seed = 54 };
	static char buf[128 * KB];
	struct flow out;
	ssize_t n;

	start_sender(&out, p.c, 54, MB, 10000);
	recv_stream(&in, 10000, 10000);
	n = MUST(recv(p.s, buf, sizeof(buf), MSG_PEEK | MSG_WAITALL));
	pattern_check(buf, n, 54, in.pos);
	recv_stream(&in, MB - in.pos, 10000);
	join(&out.w);
	close_pair(&p);
}
END_TEST

/* More than any buffer holds. */
START_TEST(waitall_large)
{
	struct pair p = open_small_pair(IPV4, SMALL_BUF);
	struct flow out;
	size_t len = 4 * MB;
	char *buf = malloc(len);

	start_sender(&out, p.c, 52, len + 10, 100000);
	MUST_BE(recv(p.s, buf, len, MSG_WAITALL), len);
	pattern_check(buf, len, 52, 0);
	join(&out.w);
	MUST_BE(recv(p.s, buf, 10, MSG_WAITALL), 10);
	pattern_check(buf, 10, 52, len);
	free(buf);
	close_pair(&p);
}
END_TEST

enum { BY_END, BY_TIMEOUT, BY_SIGNAL, BY_PEER_CLOSE, STOPS };

/* What has come so far is returned when no more will, or waiting ends. */
START_TEST(waitall_stopped)
{
	struct pair p = open_pair(IPV4);
	struct stream out = { .fd = p.c, .seed = 53 };
	char buf[1000];

	send_stream(&out, 600, 600);
	wait_inq(p.s, 600);
	if (_i == BY_END) {
		MUST(shutdown(p.c, SHUT_WR));
	} else if (_i == BY_TIMEOUT) {
		set_timeout(p.s, SO_RCVTIMEO, 50);
	} else if (_i == BY_SIGNAL) {
		count_signal(SIGALRM, 0);
		interval_timer(20000);
	} else {
		MUST(close(p.c));
	}
	MUST_BE(recv(p.s, buf, 1000, MSG_WAITALL), 600);
	interval_timer(0);
	pattern_check(buf, 600, 53, 0);
	if (_i == BY_END || _i == BY_PEER_CLOSE)
		MUST_BE(recv(p.s, buf, 1000, MSG_WAITALL), 0);
	else
		expect_alive(p.c, p.s);
}
END_TEST

/* MSG_TRUNC throws away, as with TCP, and needs no buffer. */
START_TEST(trunc_discards)
{
	struct pair p = open_pair(IPV4);
	struct stream out = { .fd = p.c, .seed = 54 }, in = { .fd = p.s, .seed = 54 };

	send_stream(&out, 100000, 1000);
	recv_stream(&in, 10, 10);
	MUST_BE(recv(p.s, NULL, 90, MSG_TRUNC), 90);
	in.pos += 90;
	recv_stream(&in, 100, 100);
	MUST_BE(recv(p.s, NULL, 50000, MSG_TRUNC | MSG_WAITALL), 50000);
	in.pos += 50000;
	wait_inq(p.s, 100000 - in.pos);
	MUST_BE(recv(p.s, NULL, 1000, MSG_TRUNC | MSG_PEEK), 1000);
	recv_stream(&in, 100000 - in.pos, 100000);
	expect_nothing(p.s);
	MUST_FAIL(recv(p.s, NULL, 10, MSG_TRUNC | MSG_DONTWAIT), EAGAIN);
	close_pair(&p);
}
END_TEST

START_TEST(more_is_a_hint)
{
	struct pair p = open_pair(IPV4);
	struct stream out = { .fd = p.c, .seed = 55 }, in = { .fd = p.s, .seed = 55 };
	char buf[100];
	int i;

	for (i = 0; i < 10; i++) {
		pattern_fill(buf, 100, 55, out.pos);
		MUST_BE(send(p.c, buf, 100, MSG_MORE), 100);
		out.pos += 100;
	}
	send_stream(&out, 100, 100);
	recv_stream(&in, out.pos, 1000);
	/* Nothing may follow: it must not wait for ever. */
	pattern_fill(buf, 100, 55, out.pos);
	MUST_BE(send(p.c, buf, 100, MSG_MORE), 100);
	out.pos += 100;
	recv_stream(&in, 100, 100);
	close_pair(&p);
}
END_TEST

START_TEST(addresses_in_messages)
{
	struct pair p = open_pair(_i);
	struct addr a = peer_name(p.c), name;
	struct iovec iov = { .iov_base = &name, .iov_len = 4 };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_name = &name, .msg_namelen = sizeof(name.ss),
	};
	socklen_t len = sizeof(name.ss);
	char buf[16];
	ssize_t n;

	/* TCP pays no attention to an address; EISCONN would be as right. */
	n = sendto(p.c, "1234", 4, 0, &a.sa, a.len);
	CHECK(n == 4 || (!is_tcp() && errno == EISCONN), "%zd, %s", n, err_name(errno));
	if (n == 4)
		recv_all(p.s, buf, 4);
	send_all(p.c, "12345678", 8);
	wait_inq(p.s, 8);
	/* None is returned. */
	MUST_BE(recvfrom(p.s, buf, 4, 0, &name.sa, &len), 4);
	MUST_BE(len, 0);
	iov.iov_base = buf;
	MUST_BE(recvmsg(p.s, &msg, 0), 4);
	MUST_BE(msg.msg_namelen, 0);
	MUST_BE(msg.msg_controllen, 0);
	expect_alive(p.c, p.s);
	close_pair(&p);
}
END_TEST

/* --- bad memory ------------------------------------------------------------------------ */

/* Two pages, the second of which cannot be touched. */
static char *page_with_fence(void)
{
	char *p = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(p != MAP_FAILED, "mmap: %s", err_name(errno));
	MUST(mprotect(p + 4096, 4096, PROT_NONE));
	return p;
}

START_TEST(send_bad_memory)
{
	struct pair p = open_pair(IPV4);
	struct stream out = { .fd = p.c, .seed = 60 }, in = { .fd = p.s, .seed = 60 };
	char *page = page_with_fence();
	int round;
	ssize_t n;

	MUST_FAIL(send(p.c, page + 4096, 100, 0), EFAULT);
	MUST_FAIL(send(p.c, (void *)8, 1, 0), EFAULT);
	MUST_FAIL(sendmsg(p.c, (void *)8, 0), EFAULT);
	for (round = 0; round < 4; round++) {
		struct iovec iov[2] = {
			{ page + 4096 - 1000, 1000 + (round & 1 ? 1000 : 0) },
			{ page + 4096, round & 1 ? 0 : 1000 },
		};

		/* All, or some, of what could be read: what is said is sent. */
		pattern_fill(page + 4096 - 1000, 1000, out.seed, out.pos);
		n = writev(p.c, iov, 2);
		CHECK((n > 0 && n <= 1000) || (n < 0 && errno == EFAULT), "%zd, %s", n,
		      err_name(errno));
		out.pos += n > 0 ? n : 0;
		send_stream(&out, 500, 500);
		recv_stream(&in, out.pos - in.pos, 1000);
		expect_nothing(p.s);
	}
	close_pair(&p);
}
END_TEST

START_TEST(recv_bad_memory)
{
	struct pair p = open_pair(IPV4);
	struct stream out = { .fd = p.c, .seed = 61 }, in = { .fd = p.s, .seed = 61 };
	char *page = page_with_fence();
	int round;
	ssize_t n;

	for (round = 0; round < 5; round++) {
		send_stream(&out, 3000, round % 2 ? 3000 : 700);
		wait_inq(p.s, 3000);
		MUST_FAIL(recv(p.s, page + 4096, 100, 0), EFAULT);
		MUST_FAIL(recv(p.s, (void *)8, 3000, MSG_WAITALL), EFAULT);
		MUST_FAIL(recv(p.s, page + 4096, 100, MSG_PEEK), EFAULT);
		/* Partly good: nothing is lost and nothing comes twice. */
		n = recv(p.s, page + 4096 - 1000, 2000, 0);
		CHECK((n > 0 && n <= 1000) || (n < 0 && errno == EFAULT), "%zd, %s", n,
		      err_name(errno));
		if (n > 0) {
			pattern_check(page + 4096 - 1000, n, in.seed, in.pos);
			in.pos += n;
		}
		recv_stream(&in, out.pos - in.pos, 3000);
		expect_nothing(p.s);
	}
	close_pair(&p);
}
END_TEST

/* --- sendfile() and splice() ------------------------------------------------------------- */

static int pattern_file(uint32_t seed, size_t len)
{
	int fd = MUST(memfd_create("data", 0));
	char *buf = malloc(len);

	pattern_fill(buf, len, seed, 0);
	MUST_BE(write(fd, buf, len), len);
	free(buf);
	return fd;
}

struct file_job {
	int in, out, fd, pipe[2];
	size_t len;
	struct worker w;
};

static void run_sendfile(void *arg)
{
	struct file_job *j = arg;
	off_t pos = 0;
	ssize_t n;

	while ((size_t)pos < j->len) {
		n = sendfile(j->fd, j->in, &pos, j->len - pos);
		if (n < 0 && errno == EAGAIN)
			wait_events(j->fd, POLLOUT);
		else
			CHECK(n > 0, "sendfile: %zd, %s", n, err_name(errno));
	}
}

START_TEST(file_by_sendfile)
{
	struct pair p = open_small_pair(IPV4, SMALL_BUF);
	struct file_job j = { .fd = p.c, .len = 3 * MB + 12345 };
	struct stream in = { .fd = p.s, .seed = 70 };
	off_t pos = 777;

	j.in = pattern_file(70, j.len);
	set_nonblock(p.c, _i);
	start(&j.w, run_sendfile, &j);
	recv_stream(&in, j.len, 50000);
	join(&j.w);
	/* From the middle */
	set_nonblock(p.c, false);
	MUST_BE(sendfile(p.c, j.in, &pos, 10000), 10000);
	MUST_BE(pos, 10777);
	in.pos = 777;
	recv_stream(&in, 10000, 10000);
	expect_alive(p.c, p.s);
	close_pair(&p);
}
END_TEST

static void run_splice_out(void *arg)
{
	struct file_job *j = arg;
	size_t done = 0;
	ssize_t n, m;

	while (done < j->len) {
		n = splice(j->in, NULL, j->pipe[1], NULL, j->len - done, SPLICE_F_MOVE);
		CHECK(n > 0, "splice: %zd, %s", n, err_name(errno));
		for (; n > 0; n -= m) {
			m = splice(j->pipe[0], NULL, j->fd, NULL, n,
				   SPLICE_F_MOVE | (done + n < j->len ? SPLICE_F_MORE : 0));
			CHECK(m > 0 && m <= n, "splice: %zd of %zd, %s", m, n, err_name(errno));
			done += m;
		}
	}
}

START_TEST(file_by_splice)
{
	struct pair p = open_small_pair(IPV4, SMALL_BUF);
	struct file_job j = { .fd = p.c, .len = MB + 54321 };
	struct stream in = { .fd = p.s, .seed = 71 };

	j.in = pattern_file(71, j.len);
	MUST(lseek(j.in, 0, SEEK_SET));
	MUST(pipe(j.pipe));
	start(&j.w, run_splice_out, &j);
	recv_stream(&in, j.len, 50000);
	join(&j.w);
	expect_alive(p.c, p.s);
	close_pair(&p);
}
END_TEST

/*
 * From the socket into a pipe. What is in the pipe stays as it was while the
 * socket goes on receiving.
 */
START_TEST(splice_to_pipe)
{
	struct pair p = open_pair(IPV4);
	struct stream out = { .fd = p.c, .seed = 72 }, in = { .fd = p.s, .seed = 72 };
	struct stream from_pipe = { .seed = 72 };
	char buf[4096];
	int pipe_fd[2], round;
	ssize_t n;

	MUST(pipe(pipe_fd));
	/* TCP asks the file whether to block, SPLICE_F_NONBLOCK is for the pipe. */
	set_nonblock(p.s, true);
	MUST_FAIL(splice(p.s, NULL, pipe_fd[1], NULL, 100, SPLICE_F_NONBLOCK), EAGAIN);
	set_nonblock(p.s, false);
	for (round = 0; round < 50; round++) {
		send_stream(&out, 40000, 4001);
		n = MUST(splice(p.s, NULL, pipe_fd[1], NULL, 3000, 0));
		CHECK(n > 0 && n <= 3000, "%zd", n);
		from_pipe.pos = in.pos;
		in.pos += n;
		recv_stream(&in, out.pos - in.pos, 10000);
		while (n > 0) {
			ssize_t m = MUST(read(pipe_fd[0], buf, sizeof(buf)));

			pattern_check(buf, m, 72, from_pipe.pos);
			from_pipe.pos += m;
			n -= m;
		}
		MUST_BE(n, 0);
	}
	MUST(shutdown(p.c, SHUT_WR));
	wait_events(p.s, POLLIN);
	MUST_BE(splice(p.s, NULL, pipe_fd[1], NULL, 100, 0), 0);
	close_pair(&p);
}
END_TEST

static void run_splice_echo(void *arg)
{
	struct file_job *j = arg;
	ssize_t n, m;

	while ((n = MUST(splice(j->fd, NULL, j->pipe[1], NULL, 65536, SPLICE_F_MOVE)))) {
		for (; n > 0; n -= m)
			m = MUST(splice(j->pipe[0], NULL, j->fd, NULL, n, SPLICE_F_MOVE));
	}
}

/* A proxy: socket to pipe to socket. */
START_TEST(splice_echo)
{
	struct pair p = open_pair(IPV4);
	struct file_job j = { .fd = p.s };
	struct flow out;
	struct stream in = { .fd = p.c, .seed = 73 };

	MUST(pipe(j.pipe));
	start(&j.w, run_splice_echo, &j);
	start_sender(&out, p.c, 73, 4 * MB, 30000);
	recv_stream(&in, 4 * MB, 65536);
	join(&out.w);
	MUST(shutdown(p.c, SHUT_WR));
	join(&j.w);
	close_pair(&p);
}
END_TEST

/* --- timeouts and signals ------------------------------------------------------------------ */

START_TEST(recv_timeout)
{
	struct pair p = open_pair(IPV4);
	struct timeval tv = { };
	socklen_t len = sizeof(tv);
	long long from;
	char b;
	int i;

	set_timeout(p.s, SO_RCVTIMEO, 120);
	MUST(getsockopt(p.s, SOL_SOCKET, SO_RCVTIMEO, &tv, &len));
	CHECK(tv.tv_sec == 0 && tv.tv_usec >= 120000 && tv.tv_usec <= 130000, "%ld.%06ld",
	      (long)tv.tv_sec, (long)tv.tv_usec);
	for (i = 0; i < 3; i++) {
		from = now_ms();
		MUST_FAIL(recv(p.s, &b, 1, 0), EAGAIN);
		CHECK(now_ms() - from >= 100, "after %lld ms", now_ms() - from);
	}
	expect_alive(p.c, p.s);
	close_pair(&p);
}
END_TEST

START_TEST(send_timeout)
{
	struct pair p = open_small_pair(IPV4, SMALL_BUF);
	struct stream out = { .fd = p.c, .seed = 80 }, in = { .fd = p.s, .seed = 80 };
	size_t len = 64 * MB;
	char *buf = malloc(len);
	long long from;
	ssize_t n;

	set_timeout(p.c, SO_SNDTIMEO, 150);
	pattern_fill(buf, len, 80, 0);
	n = MUST(send(p.c, buf, len, 0));
	CHECK(n > 0 && n < (ssize_t)len, "%zd", n);
	out.pos = n;
	send_until_stuck(&out);
	from = now_ms();
	MUST_FAIL(send(p.c, buf, len, 0), EAGAIN);
	CHECK(now_ms() - from >= 120, "after %lld ms", now_ms() - from);
	recv_stream(&in, out.pos, 65536);
	expect_alive(p.c, p.s);
	free(buf);
	close_pair(&p);
}
END_TEST

START_TEST(recv_interrupted)
{
	struct pair p = open_pair(IPV4);
	struct call c = { .fd = p.s };
	char b;

	count_signal(SIGALRM, 0);
	interval_timer(20000);
	MUST_FAIL(recv(p.s, &b, 1, 0), EINTR);
	MUST_FAIL(recv(p.s, &b, 1, MSG_PEEK), EINTR);
	CHECK(signals_seen >= 2, "%d", (int)signals_seen);
	interval_timer(0);
	/* With SA_RESTART the call goes on. */
	count_signal(SIGUSR1, SA_RESTART);
	c.buf = &b;
	c.len = 1;
	start(&c.w, run_recv, &c);
	wait_blocked(&c.w);
	MUST(pthread_kill(c.w.thread, SIGUSR1));
	while (!signals_seen)
		sleep_ms(1);
	wait_blocked(&c.w);
	send_all(p.c, "x", 1);
	join(&c.w);
	CHECK(c.ret == 1 && b == 'x', "%zd, %s", c.ret, err_name(c.err));
	expect_alive(p.c, p.s);
	close_pair(&p);
}
END_TEST

START_TEST(send_interrupted)
{
	struct pair p = open_small_pair(IPV4, SMALL_BUF);
	struct stream out = { .fd = p.c, .seed = 81 }, in = { .fd = p.s, .seed = 81 };
	size_t len = 64 * MB;
	char *buf = malloc(len);
	ssize_t n;

	pattern_fill(buf, len, 81, 0);
	count_signal(SIGALRM, 0);
	interval_timer(200000);
	/* What went so far counts. */
	n = MUST(send(p.c, buf, len, 0));
	CHECK(n > 0 && n < (ssize_t)len, "%zd", n);
	out.pos = n;
	interval_timer(0);
	send_until_stuck(&out);
	interval_timer(20000);
	MUST_FAIL(send(p.c, buf, len, 0), EINTR);
	interval_timer(0);
	recv_stream(&in, out.pos, 65536);
	expect_alive(p.c, p.s);
	free(buf);
	close_pair(&p);
}
END_TEST

/* Signals rain down on both ends, and not a byte is lost. */
START_TEST(signal_storm)
{
	struct pair p = open_small_pair(IPV4, SMALL_BUF);

	count_signal(SIGALRM, _i ? SA_RESTART : 0);
	interval_timer(1000);
	both_ways(&p, (full_run() ? 64 : 4) * MB, 100000, 100000);
	interval_timer(0);
	CHECK(signals_seen > 0, "no signal");
	close_pair(&p);
}
END_TEST

/* --- threads on one end --------------------------------------------------------------- */

static void send_own_bytes(void *arg)
{
	struct call *c = arg;
	char buf[1000];
	size_t left;

	memset(buf, c->flags, sizeof(buf));
	for (left = c->len; left; left -= sizeof(buf))
		send_all(c->fd, buf, sizeof(buf));
}

static void recv_and_count(void *arg)
{
	struct call *c = arg;
	uint64_t *count = c->buf;
	uint8_t buf[3000];
	ssize_t n;

	while ((n = MUST(recv(c->fd, buf, sizeof(buf), 0)))) {
		while (n--)
			count[buf[n]]++;
	}
}

/* Several threads send and several receive: every byte arrives once. */
START_TEST(threads_share_a_socket)
{
	struct pair p = open_small_pair(IPV4, SMALL_BUF);
	size_t each = 1000 * (full_run() ? 10000 : 1000);
	static uint64_t counts[3][256];
	struct call tx[4], rx[3];
	int i, k;

	for (i = 0; i < 3; i++) {
		rx[i] = (struct call){ .fd = p.s, .buf = counts[i] };
		start(&rx[i].w, recv_and_count, &rx[i]);
	}
	for (i = 0; i < 4; i++) {
		tx[i] = (struct call){ .fd = p.c, .len = each, .flags = 'a' + i };
		start(&tx[i].w, send_own_bytes, &tx[i]);
	}
	for (i = 0; i < 4; i++)
		join(&tx[i].w);
	MUST(shutdown(p.c, SHUT_WR));
	for (i = 0; i < 3; i++)
		join(&rx[i].w);
	for (i = 0; i < 256; i++) {
		uint64_t sum = 0, want = i >= 'a' && i < 'a' + 4 ? each : 0;

		for (k = 0; k < 3; k++)
			sum += counts[k][i];
		CHECK(sum == want, "byte 0x%02x: %llu, expected %llu", i,
		      (unsigned long long)sum, (unsigned long long)want);
	}
	close_pair(&p);
}
END_TEST

/* --- what is queued ---------------------------------------------------------------- */

static bool outq_empty(void *arg)
{
	return outq(*(int *)arg) == 0;
}

START_TEST(queue_lengths)
{
	struct pair p = open_small_pair(IPV4, SMALL_BUF);
	struct stream out = { .fd = p.c, .seed = 90 }, in = { .fd = p.s, .seed = 90 };
	int n;

	MUST_BE(inq(p.s), 0);
	MUST_BE(outq(p.c), 0);
	MUST(ioctl(p.s, FIONREAD, &n));
	MUST_BE(n, 0);
	send_stream(&out, 1000, 300);
	wait_inq(p.s, 1000);
	recv_stream(&in, 300, 300);
	MUST_BE(inq(p.s), 700);
	MUST(ioctl(p.s, FIONREAD, &n));
	MUST_BE(n, 700);
	recv_stream(&in, 700, 700);
	MUST_BE(inq(p.s), 0);
	CHECK(eventually(outq_empty, &p.c), "SIOCOUTQ stays at %d", outq(p.c));
	send_until_full(&out);
	CHECK(outq(p.c) > 0, "full, and SIOCOUTQ is %d", outq(p.c));
	n = inq(p.s);
	CHECK(n > 0 && (uint64_t)n <= out.pos, "SIOCINQ %d", n);
	recv_stream(&in, out.pos - in.pos, 10000);
	CHECK(eventually(outq_empty, &p.c), "SIOCOUTQ stays at %d", outq(p.c));
	MUST_BE(inq(p.s), 0);
	send_stream(&out, 10, 10);
	MUST(shutdown(p.c, SHUT_WR));
	wait_inq(p.s, 10);
	recv_stream(&in, 10, 10);
	expect_end(p.s);
	/* The end is not a byte. */
	MUST_BE(inq(p.s), 0);
	close_pair(&p);
}
END_TEST

/* --- no memory, on kernels that can have it fail -------------------------------- */

#define FAILSLAB	"/sys/kernel/debug/failslab/"
#define FAIL_PAGES	"/sys/kernel/debug/fail_page_alloc/"
#define MESSAGES	"/sys/kernel/slab/rsock_txmsg/failslab"

static void put_text(const char *path, const char *text)
{
	int fd = MUST(open(path, O_WRONLY));

	MUST(write(fd, text, strlen(text)));
	MUST(close(fd));
}

static void put_fault(const char *fault, const char *name, const char *text)
{
	char path[100];

	snprintf(path, sizeof(path), "%s%s", fault, name);
	put_text(path, text);
}

/* The next @times allocations that this is about fail, in this process */
static void fail_next(const char *fault, const char *times)
{
	put_fault(fault, "task-filter", "Y");
	put_fault(fault, "ignore-gfp-wait", "N");
	put_fault(fault, "verbose", "0");
	put_fault(fault, "probability", "100");
	put_fault(fault, "times", times);
	put_text("/proc/self/make-it-fail", "1");
}

static void fail_messages(const char *times)
{
	put_text(MESSAGES, "1");
	put_text(FAILSLAB "cache-filter", "Y");
	fail_next(FAILSLAB, times);
}

/* How many of them are still to fail */
static int failures_left(const char *fault)
{
	char path[100], text[16] = "";
	int fd;

	snprintf(path, sizeof(path), "%stimes", fault);
	fd = MUST(open(path, O_RDONLY));
	MUST(read(fd, text, sizeof(text) - 1));
	MUST(close(fd));
	return atoi(text);
}

/* As with TCP: memory comes back, and is waited for like room */
START_TEST(no_memory)
{
	struct pair p = open_pair(IPV4);
	struct stream out = { .fd = p.c, .seed = 1 };
	struct stream in = { .fd = p.s, .seed = 1 };

	set_nonblock(p.c, true);
	fail_messages("1");
	MUST_FAIL(send(p.c, "x", 1, 0), EAGAIN);
	MUST_BE(failures_left(FAILSLAB), 0);
	wait_events(p.c, POLLOUT);
	send_stream(&out, 1000, 1000);
	recv_stream(&in, 1000, 1000);

	set_nonblock(p.c, false);
	fail_messages("2");
	send_stream(&out, SMALL_BUF, SMALL_BUF);
	MUST_BE(failures_left(FAILSLAB), 0);
	recv_stream(&in, SMALL_BUF, SMALL_BUF);
	close_pair(&p);
}
END_TEST

/* Nor is what the send buffer holds less afterwards */
START_TEST(no_pages)
{
	unsigned long before = stat_now("SendNoMemory");
	struct stream in = { .seed = 1 };
	static char buf[SMALL_BUF];
	struct pair p = open_pair(IPV4);
	int size = get_int(p.c, SOL_SOCKET, SO_SNDBUF);

	pattern_fill(buf, sizeof(buf), 1, 0);
	put_text(FAIL_PAGES "min-order", "0");
	fail_next(FAIL_PAGES, "8");
	MUST_BE(send(p.c, buf, sizeof(buf), 0), sizeof(buf));
	MUST_BE(failures_left(FAIL_PAGES), 0);
	CHECK(stat_now("SendNoMemory") > before, "there was memory");
	MUST_BE(get_int(p.c, SOL_SOCKET, SO_SNDBUF), size);
	in.fd = p.s;
	recv_stream(&in, sizeof(buf), sizeof(buf));
	close_pair(&p);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("stream");
	TCase *tc;

	tc = add_case(suite, "sizes", 30);
	tcase_add_loop_test(tc, size, 0, ip_versions() * (int)ARRAY_SIZE(sizes));

	tc = add_case(suite, "calls", 30);
	tcase_add_loop_test(tc, vectors, 0, 8);
	tcase_add_test(tc, many_messages_at_once);
	tcase_add_test(tc, no_data);
	tcase_add_test(tc, peek);
	tcase_add_loop_test(tc, waitall_in_parts, 0, 2);
	if (!is_tcp())
		tcase_add_test(tc, peek_all_there_can_be);
	tcase_add_test(tc, waitall_large);
	tcase_add_loop_test(tc, waitall_stopped, 0, STOPS);
	tcase_add_test(tc, trunc_discards);
	tcase_add_test(tc, more_is_a_hint);
	add_ip_test(tc, addresses_in_messages);
	tcase_add_test(tc, send_bad_memory);
	tcase_add_test(tc, recv_bad_memory);
	tcase_add_test(tc, queue_lengths);

	tc = add_case(suite, "files", 30);
	tcase_add_loop_test(tc, file_by_sendfile, 0, 2);
	tcase_add_test(tc, file_by_splice);
	tcase_add_test(tc, splice_to_pipe);
	tcase_add_test(tc, splice_echo);

	tc = add_case(suite, "waiting", 30);
	tcase_add_test(tc, recv_timeout);
	tcase_add_test(tc, send_timeout);
	tcase_add_test(tc, recv_interrupted);
	tcase_add_test(tc, send_interrupted);
	tcase_add_test(tc, slow_reader);
	tcase_add_test(tc, blocked_send_released);
	tcase_add_test(tc, both_full);

	tc = add_case(suite, "memory", 30);
	if (!is_tcp() && !access(MESSAGES, W_OK) && !access(FAILSLAB, X_OK))
		tcase_add_test(tc, no_memory);
	if (!is_tcp() && !access(FAIL_PAGES, X_OK))
		tcase_add_test(tc, no_pages);

	tc = add_case(suite, "traffic", full_run() ? 900 : 60);
	tcase_add_loop_test(tc, one_way, 0, 2);
	tcase_add_loop_test(tc, small_messages, 0, 2);
	tcase_add_loop_test(tc, ping_pong, 0, 5);
	tcase_add_loop_test(tc, byte_by_byte, 0, 3);
	tcase_add_loop_test(tc, random_walk, 0, 4);
	tcase_add_loop_test(tc, long_stream, 0, ARRAY_SIZE(chunk_rows));
	tcase_add_loop_test(tc, long_stream_small_buffers, 0, 4);
	tcase_add_loop_test(tc, signal_storm, 0, 2);
	tcase_add_test(tc, threads_share_a_socket);

	return run_suite(suite);
}
