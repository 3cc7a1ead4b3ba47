// SPDX-License-Identifier: GPL-2.0
/*
 * Sending in place: MSG_ZEROCOPY and its notices, and large blocking calls.
 */
#include <time.h>
#include <linux/errqueue.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "iomap_util.h"

/* SO_ZEROCOPY where the kernel has it for us, else our own option. */
static void zerocopy_on(int fd)
{
	int on = 1;

	if (!setsockopt(fd, SOL_SOCKET, SO_ZEROCOPY, &on, sizeof(on)))
		return;
	CHECK(errno == EOPNOTSUPP && !is_tcp(), "SO_ZEROCOPY: %s", err_name(errno));
	set_int(fd, SOL_RSOCK, RSOCK_ZEROCOPY, 1);
}

static struct pair zerocopy_pair(int ip)
{
	struct pair p = open_pair(ip);

	zerocopy_on(p.c);
	return p;
}

/* --- notices -------------------------------------------------------------------- */

struct notice {
	uint32_t lo, hi;
	bool copied;
};

static bool read_notice(int fd, int ip, struct notice *n)
{
	char control[256];
	struct msghdr msg = { .msg_control = control, .msg_controllen = sizeof(control) };
	struct sock_extended_err *ee;
	struct cmsghdr *cmsg;

	if (recvmsg(fd, &msg, MSG_ERRQUEUE) < 0) {
		CHECK(errno == EAGAIN, "%s", err_name(errno));
		return false;
	}
	CHECK(msg.msg_flags & MSG_ERRQUEUE, "flags %#x", msg.msg_flags);
	cmsg = CMSG_FIRSTHDR(&msg);
	CHECK(cmsg, "no control message");
	CHECK(ip == IPV4 ? cmsg->cmsg_level == SOL_IP && cmsg->cmsg_type == IP_RECVERR :
			   cmsg->cmsg_level == SOL_IPV6 && cmsg->cmsg_type == IPV6_RECVERR,
	      "level %d, type %d", cmsg->cmsg_level, cmsg->cmsg_type);
	ee = (struct sock_extended_err *)CMSG_DATA(cmsg);
	CHECK(ee->ee_origin == SO_EE_ORIGIN_ZEROCOPY && !ee->ee_errno, "origin %u, errno %u",
	      ee->ee_origin, ee->ee_errno);
	n->lo = ee->ee_info;
	n->hi = ee->ee_data;
	n->copied = ee->ee_code & SO_EE_CODE_ZEROCOPY_COPIED;
	return true;
}

/* Notices of the calls "first" to "last", each once, in whatever order. */
static void reap_notices(int fd, int ip, uint32_t first, uint32_t last)
{
	uint32_t left = last - first + 1;
	bool seen[64] = {};
	struct notice n;

	while (left) {
		if (!read_notice(fd, ip, &n)) {
			CHECK(wait_events(fd, 0) & POLLERR, "no POLLERR");
			continue;
		}
		CHECK(n.lo >= first && n.hi >= n.lo && n.hi <= last, "%u..%u, expected %u..%u",
		      n.lo, n.hi, first, last);
		/* TCP copies what goes to the same machine. */
		CHECK(!n.copied || is_tcp(), "copied");
		for (; n.lo <= n.hi; n.lo++, left--) {
			CHECK(!seen[n.lo - first], "%u for the second time", n.lo);
			seen[n.lo - first] = true;
		}
	}
}

static void expect_no_notice(int fd)
{
	struct notice n;

	CHECK(!(poll_ms(fd, 0, 100) & POLLERR), "POLLERR");
	CHECK(!read_notice(fd, IPV4, &n), "notice of %u..%u", n.lo, n.hi);
}

/* --- MSG_ZEROCOPY ---------------------------------------------------------------- */

START_TEST(option)
{
	struct addr where;
	int listener = open_listener(IPV4, 1, &where), c, s, on = 0;
	socklen_t len = sizeof(on);

	c = open_socket(IPV4, 0);
	if (is_tcp() || !setsockopt(c, SOL_SOCKET, SO_ZEROCOPY, &on, sizeof(on))) {
		on = 2;
		MUST_FAIL(setsockopt(c, SOL_SOCKET, SO_ZEROCOPY, &on, sizeof(on)), EINVAL);
		on = -1;
		MUST_FAIL(setsockopt(c, SOL_SOCKET, SO_ZEROCOPY, &on, sizeof(on)), EINVAL);
	}
	MUST_BE(get_int(c, SOL_SOCKET, SO_ZEROCOPY), 0);
	zerocopy_on(c);
	MUST_BE(get_int(c, SOL_SOCKET, SO_ZEROCOPY), 1);
	zerocopy_on(listener);
	MUST(connect(c, &where.sa, where.len));
	s = accept_one(listener);
	MUST(getsockopt(s, SOL_SOCKET, SO_ZEROCOPY, &on, &len));
	MUST_BE(on, 1);
	/* Other options of the level are still the kernel's own. */
	set_int(s, SOL_SOCKET, SO_RCVLOWAT, 7);
	MUST_BE(get_int(s, SOL_SOCKET, SO_RCVLOWAT), 7);
	MUST_FAIL(setsockopt(s, SOL_SOCKET, 4711, &on, sizeof(on)), ENOPROTOOPT);
	close(c);
	close(s);
	close(listener);
}
END_TEST

/* Without the option the flag has no effect. */
START_TEST(not_asked_for)
{
	struct pair p = open_pair(IPV4);
	char b;

	MUST_BE(send(p.c, "x", 1, MSG_ZEROCOPY), 1);
	recv_all(p.s, &b, 1);
	expect_no_notice(p.c);
	close_pair(&p);
}
END_TEST

/* Receives in a thread what a test sends, and checks it. */
struct reader {
	struct stream in;
	uint64_t len;
	struct worker worker;
};

static void read_on(void *arg)
{
	struct reader *r = arg;

	recv_stream(&r->in, r->len, 1 << 18);
}

static void start_reader(struct reader *r, int fd, uint32_t seed, uint64_t pos, uint64_t len)
{
	r->in = (struct stream){ fd, seed, pos };
	r->len = len;
	start(&r->worker, read_on, r);
}

static const size_t sizes[] = { 1, 100, PAGE, PAGE + 1, 65536, 65537, 200001, 1 << 20 };

/* Calls are numbered, and memory is not used any more when it is said. */
START_TEST(numbered)
{
	struct pair p = zerocopy_pair(_i);
	unsigned char *mem = memory(2 << 20);
	struct reader r;
	size_t i;

	for (i = 0; i < 2 * ARRAY_SIZE(sizes); i++) {
		size_t len = sizes[i / 2];
		unsigned char *at = mem + i % 2 * 123;

		pattern_fill(at, len, i, 0);
		start_reader(&r, p.s, i, 0, len);
		MUST_BE(send(p.c, at, len, MSG_ZEROCOPY), len);
		reap_notices(p.c, _i, i, i);
		memset(at, 0xee, len);
		join(&r.worker);
	}
	expect_no_notice(p.c);
	expect_alive(p.c, p.s);
	close_pair(&p);
}
END_TEST

/* A call that returned may still be read from: that is what the notice is for. */
START_TEST(many_outstanding)
{
	enum { CALLS = 16 };
	struct pair p = zerocopy_pair(IPV4);
	size_t len = 65536, i;
	unsigned char *mem = memory(CALLS * len);
	struct reader r;

	start_reader(&r, p.s, 1, 0, 4 * CALLS * len);
	for (i = 0; i < 4 * CALLS; i++) {
		unsigned char *at = mem + i % CALLS * len;

		if (i >= CALLS && i % CALLS == 0)
			reap_notices(p.c, IPV4, i - CALLS, i - 1);
		pattern_fill(at, len, 1, i * len);
		MUST_BE(send(p.c, at, len, MSG_ZEROCOPY), len);
	}
	reap_notices(p.c, IPV4, 3 * CALLS, 4 * CALLS - 1);
	join(&r.worker);
	close_pair(&p);
}
END_TEST

/* More pieces than a message or a work request takes; some of them empty. */
START_TEST(pieces)
{
	enum { PIECES = 200 };
	struct pair p = zerocopy_pair(IPV4);
	unsigned char *mem = memory(PIECES * 2 * PAGE);
	struct iovec iov[PIECES];
	struct msghdr msg = { .msg_iov = iov, .msg_iovlen = PIECES };
	uint64_t pos = 0;
	struct reader r;
	int i;

	for (i = 0; i < PIECES; i++) {
		iov[i].iov_base = mem + i * 2 * PAGE + i * 31;
		iov[i].iov_len = i % 5 ? i * 17 % 3000 : 0;
		pattern_fill(iov[i].iov_base, iov[i].iov_len, 7, pos);
		pos += iov[i].iov_len;
	}
	start_reader(&r, p.s, 7, 0, pos);
	MUST_BE(sendmsg(p.c, &msg, MSG_ZEROCOPY), pos);
	reap_notices(p.c, IPV4, 0, 0);
	join(&r.worker);
	close_pair(&p);
}
END_TEST

START_TEST(nothing_sent)
{
	struct pair p = zerocopy_pair(IPV4);
	unsigned char *mem = memory(2 * PAGE);
	char b;

	/* Neither counts as a call. */
	MUST_FAIL(send(p.c, (void *)8, 100, MSG_ZEROCOPY), EFAULT);
	MUST_BE(send(p.c, mem, 0, MSG_ZEROCOPY), 0);
	expect_no_notice(p.c);
	MUST_BE(send(p.c, mem, 1, MSG_ZEROCOPY), 1);
	reap_notices(p.c, IPV4, 0, 0);
	recv_all(p.s, &b, 1);

	/* Part of it is not there: what is before that is sent. Not by TCP. */
	MUST(munmap(mem + PAGE, PAGE));
	if (!is_tcp()) {
		MUST_BE(send(p.c, mem + PAGE - 10, 100, MSG_ZEROCOPY), 10);
		skip(p.s, 10);
		reap_notices(p.c, IPV4, 1, 1);
	}
	expect_alive(p.c, p.s);
	close_pair(&p);
}
END_TEST

/* Notices are an event of their own: edges, one shot, several waiters. */
START_TEST(events)
{
	struct pair p = zerocopy_pair(IPV4);
	struct epoll_event ev = { .events = EPOLLET };
	int edge = MUST(epoll_create1(0)), once = MUST(epoll_create1(0));
	char b[2];

	MUST(epoll_ctl(edge, EPOLL_CTL_ADD, p.c, &ev));
	ev.events = EPOLLONESHOT;
	MUST(epoll_ctl(once, EPOLL_CTL_ADD, p.c, &ev));
	MUST_BE(epoll_wait(edge, &ev, 1, 0), 0);
	MUST_BE(send(p.c, "x", 1, MSG_ZEROCOPY), 1);
	MUST_BE(epoll_wait(edge, &ev, 1, hang_seconds() * 1000), 1);
	CHECK(ev.events == EPOLLERR, "%s", event_text(ev.events));
	MUST_BE(epoll_wait(once, &ev, 1, hang_seconds() * 1000), 1);
	CHECK(ev.events == EPOLLERR, "%s", event_text(ev.events));
	/* The edge was seen, the shot is fired; the notice is still there. */
	MUST_BE(epoll_wait(edge, &ev, 1, 50), 0);
	MUST_BE(epoll_wait(once, &ev, 1, 50), 0);
	CHECK(poll_ms(p.c, 0, 0) & POLLERR, "no POLLERR");
	MUST_BE(send(p.c, "y", 1, MSG_ZEROCOPY), 1);
	MUST_BE(epoll_wait(edge, &ev, 1, hang_seconds() * 1000), 1);
	reap_notices(p.c, IPV4, 0, 1);
	CHECK(!(poll_ms(p.c, 0, 0) & POLLERR), "POLLERR");
	/* It is not an error of the socket. */
	MUST_BE(get_int(p.c, SOL_SOCKET, SO_ERROR), 0);
	recv_all(p.s, b, 2);
	close(edge);
	close(once);
	close_pair(&p);
}
END_TEST

/* With plain calls between them, which have no numbers. */
START_TEST(mixed)
{
	struct pair p = zerocopy_pair(IPV4);
	unsigned char *mem = memory(1 << 20);
	uint32_t seed = 3, calls = 0;
	uint64_t pos = 0, total = full_run() ? 64 << 20 : 4 << 20;
	struct reader r;

	start_reader(&r, p.s, 9, 0, total);
	while (pos < total) {
		size_t len = rnd_range(&seed, 1, 100000);
		bool zerocopy = rnd_range(&seed, 0, 1);

		if (len > total - pos)
			len = total - pos;
		pattern_fill(mem, len, 9, pos);
		MUST_BE(send(p.c, mem, len, zerocopy ? MSG_ZEROCOPY : 0), len);
		if (zerocopy) {
			reap_notices(p.c, IPV4, calls, calls);
			calls++;
		}
		pos += len;
	}
	join(&r.worker);
	CHECK(calls > 10, "%u calls", calls);
	close_pair(&p);
}
END_TEST

/* The memory is pinned, and counts against the limit of one who has one. */
START_TEST(memlock)
{
	struct rlimit limit = { 64 * KB, 64 * KB };
	struct pair p = zerocopy_pair(IPV4);
	unsigned char *mem = memory(1 << 20);
	struct reader r;
	pid_t pid;

	pid = fork_child();
	if (!pid) {
		MUST(setrlimit(RLIMIT_MEMLOCK, &limit));
		MUST(setuid(65533));
		MUST_FAIL(send(p.c, mem, 1 << 20, MSG_ZEROCOPY), ENOBUFS);
		pattern_fill(mem, 32 * KB, 5, 0);
		MUST_BE(send(p.c, mem, 32 * KB, MSG_ZEROCOPY), 32 * KB);
		reap_notices(p.c, IPV4, 0, 0);
		_exit(0);
	}
	start_reader(&r, p.s, 5, 0, 32 * KB);
	reap(pid);
	join(&r.worker);
	close_pair(&p);
}
END_TEST

/* Whatever ends the connection, memory comes back and it is said. */
START_TEST(peer_gone)
{
	struct pair p = zerocopy_pair(IPV4);
	unsigned char *mem = memory(1 << 20);
	uint32_t calls = 0;

	set_nonblock(p.c, true);
	while (calls < 8 && send(p.c, mem, 1 << 20, MSG_ZEROCOPY) > 0)
		calls++;
	CHECK(calls, "no call: %s", err_name(errno));
	set_linger(p.s, true, 0);
	close(p.s);
	reap_notices(p.c, IPV4, 0, calls - 1);
	MUST_FAIL(send(p.c, mem, 1, MSG_ZEROCOPY | MSG_NOSIGNAL), EPIPE, ECONNRESET);
	close(p.c);
}
END_TEST

START_TEST(after_shutdown)
{
	struct pair p = zerocopy_pair(IPV4);
	char b;

	MUST_BE(send(p.c, "x", 1, MSG_ZEROCOPY), 1);
	MUST(shutdown(p.c, SHUT_WR));
	MUST_FAIL(send(p.c, "y", 1, MSG_ZEROCOPY | MSG_NOSIGNAL), EPIPE);
	reap_notices(p.c, IPV4, 0, 0);
	recv_all(p.s, &b, 1);
	expect_end(p.s);
	close_pair(&p);
}
END_TEST

/* Closed with all of it outstanding: nothing is left behind (see the script). */
START_TEST(closed)
{
	struct pair p = zerocopy_pair(IPV4);
	unsigned char *mem = memory(1 << 20);

	set_nonblock(p.c, true);
	while (send(p.c, mem, 1 << 20, MSG_ZEROCOPY) == 1 << 20)
		if (outq(p.c) > 16 << 20)
			break;
	close(p.c);
	memset(mem, 0xee, 1 << 20);
	MUST(munmap(mem, 1 << 20));
	close(p.s);
}
END_TEST

/* --- large blocking calls ----------------------------------------------------------- */

/* What was sent may be overwritten when the call returns. */
START_TEST(blocking)
{
	struct pair p = open_pair(_i);
	size_t len = 3 << 20;
	unsigned char *mem = memory(len + 1);
	unsigned long before = stat_now("InPlace");
	struct reader r;
	int round;

	start_reader(&r, p.s, 4, 0, 4 * len);
	for (round = 0; round < 4; round++) {
		pattern_fill(mem + round % 2, len, 4, round * len);
		MUST_BE(send(p.c, mem + round % 2, len, 0), len);
		memset(mem, 0xee, len + 1);
	}
	join(&r.worker);
	CHECK(stat_now("InPlace") > before, "all was copied");
	expect_alive(p.c, p.s);
	close_pair(&p);
}
END_TEST

/* A call that cannot wait copies, as one does that is not worth it. */
START_TEST(not_worth_it)
{
	struct pair p = open_pair(IPV4);
	unsigned char *mem = memory(1 << 20);
	unsigned long before = stat_now("InPlace");
	struct reader r;
	uint64_t n;

	set_nonblock(p.c, true);
	pattern_fill(mem, 1 << 20, 2, 0);
	n = MUST(send(p.c, mem, 1 << 20, 0));
	memset(mem, 0xee, 1 << 20);
	start_reader(&r, p.s, 2, 0, n);
	join(&r.worker);
	set_nonblock(p.c, false);
	pattern_fill(mem, 64 * KB, 2, n);
	MUST_BE(send(p.c, mem, 64 * KB, 0), 64 * KB);
	memset(mem, 0xee, 64 * KB);
	start_reader(&r, p.s, 2, n, 64 * KB);
	join(&r.worker);
	MUST_BE(stat_now("InPlace"), before);
	close_pair(&p);
}
END_TEST

/*
 * A call that is interrupted or times out has sent just what it says: the
 * stream goes on behind that.
 */
static void cut_short(bool by_signal)
{
	struct pair p = open_pair(IPV4);
	size_t len = 8 << 20;
	unsigned char *mem = memory(len);
	uint64_t pos = 0;
	struct reader r;
	int round;

	if (by_signal)
		count_signal(SIGALRM, 0);
	else
		set_timeout(p.c, SO_SNDTIMEO, 100);
	for (round = 0; round < 4; round++) {
		ssize_t n;

		pattern_fill(mem, len, 6, pos);
		if (by_signal)
			interval_timer(100000);
		n = MUST(send(p.c, mem, len, 0));
		if (by_signal)
			interval_timer(0);
		memset(mem, 0xee, len);
		CHECK(n > 0 && n < (ssize_t)len, "%zd", n);
		start_reader(&r, p.s, 6, pos, n);
		join(&r.worker);
		expect_nothing(p.s);
		pos += n;
	}
	expect_alive(p.c, p.s);
	close_pair(&p);
}

START_TEST(interrupted)
{
	cut_short(_i);
}
END_TEST

/* The peer leaves while the call waits. */
START_TEST(blocking_peer_gone)
{
	struct pair p = open_pair(IPV4);
	size_t len = 8 << 20;
	unsigned char *mem = memory(len);
	pid_t pid;
	ssize_t n;

	pid = fork_child();
	if (!pid) {
		close(p.c);
		skip(p.s, 1000);
		sleep_ms(100);
		set_linger(p.s, true, 0);
		_exit(0);
	}
	close(p.s);
	n = send(p.c, mem, len, MSG_NOSIGNAL);
	CHECK(n < (ssize_t)len, "%zd", n);
	reap(pid);
	MUST_FAIL(send(p.c, mem, len, MSG_NOSIGNAL), EPIPE, ECONNRESET);
	close(p.c);
}
END_TEST

struct sender {
	int fd;
	unsigned char *mem;
	size_t len;
	int rounds;
};

static void send_rounds(void *arg)
{
	struct sender *s = arg;

	while (s->rounds--)
		send_all(s->fd, s->mem, s->len);
}

/* Memory that nobody but its owner may look at is copied from all the same. */
START_TEST(secret)
{
	int fd = syscall(SYS_memfd_secret, 0);
	struct pair p = open_pair(IPV4);
	size_t len = 1 << 20;
	unsigned char *mem;
	struct reader r;

	if (fd >= 0) {	/* kernels before 6.5 have to be told to have it */
		MUST(ftruncate(fd, len));
		mem = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		CHECK(mem != MAP_FAILED, "%s", err_name(errno));
		pattern_fill(mem, len, 8, 0);
		start_reader(&r, p.s, 8, 0, len);
		MUST_BE(send(p.c, mem, len, 0), len);
		join(&r.worker);
		close(fd);
	}
	close_pair(&p);
}
END_TEST

/* Two threads at once: all arrives, in whatever order. */
START_TEST(two_senders)
{
	struct pair p = open_pair(IPV4);
	size_t len = 1 << 20, i, total = 2 * 4 * len;
	unsigned char *mem = memory(2 * len), *got = malloc(total);
	struct sender a = { p.c, mem, len, 4 }, b = { p.c, mem + len, len, 4 };
	size_t counts[2] = {};
	struct worker wa, wb;

	memset(mem, 1, len);
	memset(mem + len, 2, len);
	start(&wa, send_rounds, &a);
	start(&wb, send_rounds, &b);
	recv_all(p.s, got, total);
	join(&wa);
	join(&wb);
	for (i = 0; i < total; i++) {
		CHECK(got[i] == 1 || got[i] == 2, "byte %zu is %u", i, got[i]);
		counts[got[i] - 1]++;
	}
	CHECK(counts[0] == total / 2, "%zu of %zu", counts[0], total);
	expect_nothing(p.s);
	free(got);
	close_pair(&p);
}
END_TEST

/* --- placing ----------------------------------------------------------------------- */

START_TEST(placed)
{
	struct pair p = zerocopy_pair(IPV4);
	size_t len = 3 << 20;
	unsigned char *mem = memory(len), *src = memory(len + 3);
	unsigned long before = stat_now("InPlace");
	uint32_t nr = 0, i;
	char b;

	MUST(riomap(p.s, mem, len, PROT_WRITE, 0, 0));
	sync_to(p.s, p.c);
	for (i = 0; i < 4; i++) {
		bool notice = i & 1;

		pattern_fill(src + i, len, i, 0);
		MUST_BE(riowrite(p.c, src + i, len, 0, notice ? MSG_ZEROCOPY : 0), len);
		if (notice) {
			reap_notices(p.c, IPV4, nr, nr);
			nr++;
		}
		memset(src, 0xee, len + 3);
		MUST_BE(send(p.c, "x", 1, 0), 1);
		recv_all(p.s, &b, 1);
		pattern_check(mem, len, i, 0);
	}
	CHECK(stat_now("InPlace") >= before + 4 * (len / 65536), "%lu", stat_now("InPlace") - before);
	MUST(riounmap(p.s, mem, len));
	close_pair(&p);
}
END_TEST

/* Behind what the peer does not read yet, as much as fits is queued. */
START_TEST(placed_behind_stream)
{
	struct pair p = open_pair(IPV4);
	size_t len = 200000, in = 128 * KB;
	unsigned char *mem[2] = { memory(in), memory(in) }, *src = memory(len);

	MUST(riomap(p.s, mem[0], in, PROT_WRITE, 0, 0));
	MUST(riomap(p.c, mem[1], in, PROT_WRITE, 0, 0));
	expect_alive(p.c, p.s);
	pattern_fill(src, len, 1, 0);
	MUST_BE(send(p.c, src, len, 0), len);
	MUST_BE(send(p.s, src, len, 0), len);
	MUST_BE(riowrite(p.c, src, in, 0, 0), in);
	MUST_BE(riowrite(p.s, src, in, 0, 0), in);
	recv_all(p.s, src, len);
	recv_all(p.c, src, len);
	pattern_check(src, len, 1, 0);
	expect_alive(p.c, p.s);
	pattern_check(mem[0], in, 1, 0);
	pattern_check(mem[1], in, 1, 0);
	close_pair(&p);
}
END_TEST

/* Unmapped while it is written to: the writer gets its memory back all the same. */
START_TEST(placed_and_unmapped)
{
	struct pair p = zerocopy_pair(IPV4);
	size_t len = 4 << 20;
	unsigned char *mem = memory(len), *src = memory(len);
	uint32_t calls = 0;
	int i;

	for (i = 0; i < 20; i++) {
		MUST(riomap(p.s, mem, len, PROT_WRITE, 0, 0));
		sync_to(p.s, p.c);
		while (riowrite(p.c, src, len, 0, MSG_ZEROCOPY) != len)
			CHECK(errno == ENXIO || errno == ENOBUFS, "%s", err_name(errno));
		calls++;
		MUST(riounmap(p.s, mem, len));
		memset(mem, 0x55, len);
		reap_notices(p.c, IPV4, calls - 1, calls - 1);
		MUST_BE(mem[0] == 0x55 && mem[len - 1] == 0x55, 1);
	}
	expect_alive(p.c, p.s);
	close_pair(&p);
}
END_TEST

/* --- being told --------------------------------------------------------------------- */

struct mapped_pair {
	struct pair p;
	unsigned char *mem;
	size_t len;
};

/* The server has memory at offset 0, and wants to be told. */
static struct mapped_pair told_pair(size_t len)
{
	struct mapped_pair m = { open_pair(IPV4), memory(len), len };

	set_int(m.p.s, SOL_RSOCK, RSOCK_RECV_NOTIFY, 1);
	MUST(riomap(m.p.s, m.mem, len, PROT_WRITE, 0, 0));
	sync_to(m.p.s, m.p.c);
	return m;
}

static const struct { off_t offset; ssize_t len; } written_rows[] = {
	{ 0, 1 }, { 77, 5 }, { 4095, 2 }, { 0, 65536 }, { 3, 300000 }, { 0, 1 << 20 },
};

/* Told of each write when its bytes are there, without a message. */
START_TEST(told)
{
	struct mapped_pair m = told_pair(1 << 20);
	unsigned char *src = memory(1 << 20);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(written_rows); i++) {
		ssize_t len = written_rows[i].len;
		off_t offset = written_rows[i].offset;

		pattern_fill(src, len, i, 0);
		MUST_BE(riowrite(m.p.c, src, len, offset, 0), len);
		expect_written(m.p.s, offset, len);
		pattern_check(m.mem + offset, len, i, 0);
	}
	/* The stream knows nothing of it. */
	CHECK(!(poll_ms(m.p.s, POLLIN, 0) & POLLERR), "POLLERR");
	expect_alive(m.p.c, m.p.s);
	close_pair(&m.p);
}
END_TEST

/* Of two calls in turn, and before what is sent on the stream later. */
START_TEST(told_in_order)
{
	struct mapped_pair m = told_pair(1 << 20);
	struct rsock_written w;
	int i;

	for (i = 0; i < 20; i++)
		MUST_BE(riowrite(m.p.c, "abc", 3, i * 1000, 0), 3);
	MUST_BE(send(m.p.c, "x", 1, 0), 1);
	skip(m.p.s, 1);
	for (i = 0; i < 20; i++) {
		CHECK(read_written(m.p.s, &w), "%d are missing", 20 - i);
		CHECK(w.offset == i * 1000ULL && w.len == 3, "%llu, %llu", w.offset, w.len);
	}
	CHECK(!read_written(m.p.s, &w), "%llu, %llu", w.offset, w.len);
	close_pair(&m.p);
}
END_TEST

static void write_many(void *arg)
{
	int fd = *(int *)arg, i;

	for (i = 0; i < 1000; i++)
		MUST_BE(riowrite(fd, "abcdefgh", 8, i * 8, 0), 8);
	MUST_BE(send(fd, "end", 3, 0), 3);
}

/* One who does not look holds up the peer, and loses nothing. */
START_TEST(told_late)
{
	struct mapped_pair m = told_pair(1 << 20);
	struct worker worker;
	int i;

	start(&worker, write_many, &m.p.c);
	sleep_ms(300);
	CHECK(inq(m.p.s) == 0, "the stream went on: %d", inq(m.p.s));
	for (i = 0; i < 1000; i++)
		expect_written(m.p.s, i * 8, 8);
	join(&worker);
	skip(m.p.s, 3);
	expect_alive(m.p.c, m.p.s);
	close_pair(&m.p);
}
END_TEST

/* Half of them unread, while the stream goes on and on. */
START_TEST(told_beside_stream)
{
	struct mapped_pair m = told_pair(1 << 20);
	int i, notes = 40;
	char b[1000];

	for (i = 0; i < notes; i++)
		MUST_BE(riowrite(m.p.c, "abc", 3, i, 0), 3);
	for (i = 0; i < 1000; i++) {
		MUST_BE(send(m.p.c, b, sizeof(b), 0), sizeof(b));
		skip(m.p.s, sizeof(b));
	}
	for (i = 0; i < notes; i++)
		expect_written(m.p.s, i, 3);
	close_pair(&m.p);
}
END_TEST

static void place_slowly(void *arg)
{
	int fd = *(int *)arg;
	static char buf[3 << 20];

	riowrite(fd, buf, sizeof(buf), 0, 0);
}

/* Shut down by another thread meanwhile: an end in good order all the same. */
START_TEST(told_and_shut_down)
{
	struct mapped_pair m = told_pair(3 << 20);
	struct stream out = { m.p.c, 1 }, in = { m.p.s, 1 };
	struct worker worker;
	uint64_t n;

	n = send_until_full(&out);
	set_nonblock(m.p.c, false);
	start(&worker, place_slowly, &m.p.c);
	wait_blocked(&worker);
	MUST(shutdown(m.p.c, SHUT_WR));
	recv_stream(&in, n, 65536);
	join(&worker);
	expect_end(m.p.s);
	MUST_BE(send(m.p.s, "x", 1, 0), 1);
	skip(m.p.c, 1);
	close_pair(&m.p);
}
END_TEST

/* One who has no room for it does not lose it. */
START_TEST(told_no_room)
{
	struct mapped_pair m = told_pair(PAGE);

	MUST_BE(riowrite(m.p.c, "abc", 3, 7, 0), 3);
	CHECK(wait_events(m.p.s, 0) & POLLERR, "no POLLERR");
	MUST_FAIL(recv(m.p.s, &m, 0, MSG_ERRQUEUE), EMSGSIZE);
	expect_written(m.p.s, 7, 3);
	close_pair(&m.p);
}
END_TEST

START_TEST(told_refused)
{
	int fd = open_socket(IPV4, 0), one = 1;
	struct rsock_iomap m;
	socklen_t len;
	struct pair p;

	MUST_FAIL(setsockopt(fd, SOL_RSOCK, RSOCK_RECV_NOTIFY, &one, sizeof(one)), ENOTCONN);
	close(fd);
	p = open_pair(IPV4);
	MUST_BE(get_int(p.s, SOL_RSOCK, RSOCK_RECV_NOTIFY), 0);
	one = 0;
	MUST_FAIL(setsockopt(p.s, SOL_RSOCK, RSOCK_RECV_NOTIFY, &one, sizeof(one)), EINVAL);
	one = 1;
	MUST_FAIL(setsockopt(p.s, SOL_RSOCK, RSOCK_RECV_NOTIFY, &one, 3), EINVAL);
	MUST_FAIL(setsockopt(p.s, SOL_RSOCK, RSOCK_RECV_NOTIFY, (void *)8, 4), EFAULT);
	set_int(p.s, SOL_RSOCK, RSOCK_RECV_NOTIFY, 1);
	set_int(p.s, SOL_RSOCK, RSOCK_RECV_NOTIFY, 1);
	MUST_BE(get_int(p.s, SOL_RSOCK, RSOCK_RECV_NOTIFY), 1);
	MUST_BE(get_int(p.c, SOL_RSOCK, RSOCK_RECV_NOTIFY), 0);
	/* What it maps for this is nobody's business. */
	len = sizeof(m);
	MUST(getsockopt(p.s, SOL_RSOCK, RSOCK_IOMAP, &m, &len));
	MUST_BE(len, 0);
	close(p.c);
	wait_events(p.s, POLLIN);
	close(p.s);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("zerocopy");
	TCase *tc;

	tc = add_case(suite, "notices", 60);
	tcase_add_test(tc, option);
	tcase_add_test(tc, not_asked_for);
	add_ip_test(tc, numbered);
	tcase_add_test(tc, many_outstanding);
	tcase_add_test(tc, pieces);
	tcase_add_test(tc, nothing_sent);
	tcase_add_test(tc, events);
	tcase_add_test(tc, mixed);
	tcase_add_test(tc, memlock);
	tcase_add_test(tc, peer_gone);
	tcase_add_test(tc, after_shutdown);
	tcase_add_test(tc, closed);
	if (is_tcp())
		return run_suite(suite);

	tc = add_case(suite, "blocking", 60);
	add_ip_test(tc, blocking);
	tcase_add_test(tc, not_worth_it);
	tcase_add_loop_test(tc, interrupted, 0, 2);
	tcase_add_test(tc, blocking_peer_gone);
	tcase_add_test(tc, secret);
	tcase_add_test(tc, two_senders);

	tc = add_case(suite, "placed", 60);
	tcase_add_test(tc, placed);
	tcase_add_test(tc, placed_behind_stream);
	tcase_add_test(tc, placed_and_unmapped);

	tc = add_case(suite, "told", 60);
	tcase_add_test(tc, told);
	tcase_add_test(tc, told_in_order);
	tcase_add_test(tc, told_late);
	tcase_add_test(tc, told_beside_stream);
	tcase_add_test(tc, told_and_shut_down);
	tcase_add_test(tc, told_no_room);
	tcase_add_test(tc, told_refused);

	return run_suite(suite);
}
