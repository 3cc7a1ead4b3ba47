// SPDX-License-Identifier: GPL-2.0
/*
 * Direct data placement: mappings, what is written to them, and their end.
 */
#include <fcntl.h>
#include <grp.h>
#include <linux/userfaultfd.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "iomap_util.h"

/* --- placing -------------------------------------------------------------------- */

static const struct {
	size_t skip, len;	/* of the mapping, in its memory */
	off_t offset;
	size_t at, count;	/* of the write, in the mapping */
} place_rows[] = {
	{ 0, PAGE, 0, 0, PAGE },
	{ 0, PAGE, 0, 0, 1 },
	{ 0, PAGE, 0, PAGE - 1, 1 },
	{ 0, PAGE, FREE_OFFSET, 100, 1000 },
	{ 1, 1, 0, 0, 1 },
	{ 1, 1, 12345, 0, 1 },
	{ 3, 4095, 7, 1, 4093 },
	{ 4095, 2, 1, 0, 2 },
	{ 4095, 2, 1, 1, 1 },
	{ 17, 100000, 1L << 40, 0, 100000 },
	{ 17, 100000, (1L << 62) + 5, 4097, 60000 },
	{ 0, 1 * MB, 0, 0, 1 * MB },
	{ 5, 1 * MB, 4096, 3, 1 * MB - 10 },
	{ 0, 5 * MB, 0, 1 * MB - 1, 3 * MB + 2 },
	{ 0, 64 * KB, 0x7fffffffffff0000 - 1, 0, 64 * KB },
};

/* It lands where it should, and nowhere else. */
START_TEST(lands)
{
	size_t skip = place_rows[_i].skip, len = place_rows[_i].len;
	size_t at = place_rows[_i].at, count = place_rows[_i].count;
	size_t whole = skip + len + PAGE;
	struct pair p = open_pair(IPV4);
	unsigned char *mem = memory(whole), *buf = malloc(count);
	off_t offset;

	memset(mem, 0xa5, whole);
	offset = MUST(riomap(p.s, mem + skip, len, PROT_WRITE, 0, place_rows[_i].offset));
	if (place_rows[_i].offset != FREE_OFFSET)
		MUST_BE(offset, place_rows[_i].offset);
	sync_to(p.s, p.c);
	pattern_fill(buf, count, _i, 0);
	place_all(p.c, buf, count, offset + at);
	sync_to(p.c, p.s);
	pattern_check(mem + skip + at, count, _i, 0);
	must_be_all(mem, skip + at, 0xa5);
	must_be_all(mem + skip + at + count, whole - skip - at - count, 0xa5);
	expect_alive(p.c, p.s);
	MUST(riounmap(p.s, mem + skip, len));
	close_pair(&p);
	must_unpin();
}
END_TEST

/* What is sent later arrives later. */
START_TEST(in_order)
{
	struct pair p = open_pair(IPV4);
	volatile uint32_t *word = memory(PAGE);
	uint32_t i, got;

	MUST(riomap(p.s, (void *)word, PAGE, PROT_WRITE, 0, 0));
	sync_to(p.s, p.c);
	for (i = 1; i <= 500; i++) {
		MUST_BE(place(p.c, &i, sizeof(i), 8, 0), sizeof(i));
		send_all(p.c, &i, sizeof(i));
		if (i % 3)
			continue;
		do {
			recv_all(p.s, &got, sizeof(got));
			CHECK(word[2] >= got, "%u was placed, %u received", word[2], got);
		} while (got < i);
	}
	close_pair(&p);
}
END_TEST

/* Both sides at once, with a stream between. */
START_TEST(both_ways)
{
	struct pair p = open_pair(IPV4);
	size_t len = 300000, round;
	char *at_c = memory(len), *at_s = memory(len), *buf = malloc(len);

	MUST(riomap(p.c, at_c, len, PROT_WRITE, 0, 1000));
	MUST(riomap(p.s, at_s, len, PROT_WRITE, 0, 2000));
	sync_to(p.s, p.c);
	sync_to(p.c, p.s);
	for (round = 0; round < 5; round++) {
		pattern_fill(buf, len, round, 0);
		place_all(p.c, buf, len, 2000);
		pattern_fill(buf, len, round, 7);
		place_all(p.s, buf, len, 1000);
		expect_alive(p.c, p.s);
		pattern_check(at_s, len, round, 0);
		pattern_check(at_c, len, round, 7);
	}
	close_pair(&p);
}
END_TEST

/* A range over mappings that lie side by side, in memory that does not. */
START_TEST(adjacent)
{
	struct pair p = open_pair(IPV4);
	size_t part = 10000, n = 7, i;
	char *mem = memory(n * 2 * part), *buf = malloc(n * part);

	for (i = 0; i < n; i++)
		MUST_BE(riomap(p.s, mem + (n - 1 - i) * 2 * part, part, PROT_WRITE, 0, i * part),
			i * part);
	sync_to(p.s, p.c);
	pattern_fill(buf, n * part, 1, 0);
	place_all(p.c, buf, n * part - 100, 50);
	sync_to(p.c, p.s);
	for (i = 0; i < n; i++) {
		size_t from = i ? 0 : 50, to = part - (i == n - 1 ? 50 : 0);

		pattern_check(mem + (n - 1 - i) * 2 * part + from, to - from, 1,
			      i * part + from - 50);
	}
	close_pair(&p);
}
END_TEST

/* A call that is longer than each of them, and than the send buffer. */
START_TEST(adjacent_large)
{
	static const size_t len[] = { 300001, 400003, 5 * PAGE + 399990 };
	struct pair p = open_pair(IPV4);
	size_t at = 7, whole = 0, done = 0, from, n, i;
	char *mem[3], *buf = malloc(1 * MB);

	for (i = 0; i < 3; whole += len[i++]) {
		mem[i] = memory(len[i] + 2 * i + 1) + 2 * i + 1;
		MUST_BE(riomap(p.s, mem[i], len[i], PROT_WRITE, 0, 1000 + whole), 1000 + whole);
	}
	CHECK(whole > at + 1 * MB, "%zu", whole);
	sync_to(p.s, p.c);
	pattern_fill(buf, 1 * MB, 8, 0);
	MUST_BE(place(p.c, buf, 1 * MB, 1000 + at, 0), 1 * MB);
	sync_to(p.c, p.s);
	must_be_all(mem[0], at, 0);
	for (i = 0; i < 3; done += n, i++) {
		from = i ? 0 : at;
		n = len[i] - from < 1 * MB - done ? len[i] - from : 1 * MB - done;
		pattern_check(mem[i] + from, n, 8, done);
	}
	must_be_all(mem[2] + len[2] - (whole - at - 1 * MB), whole - at - 1 * MB, 0);
	expect_alive(p.c, p.s);
	close_pair(&p);
}
END_TEST

/* Off the last of them, before the first, over a gap: nothing is written. */
START_TEST(adjacent_end)
{
	struct pair p = open_pair(IPV4);
	size_t part = 100000, i;
	char *mem = memory(3 * part), *buf = malloc(1 * MB);

	for (i = 0; i < 3; i++)
		MUST_BE(riomap(p.s, mem + i * part, part, PROT_WRITE, 0, PAGE + i * part),
			PAGE + i * part);
	sync_to(p.s, p.c);
	memset(buf, 1, 1 * MB);
	MUST_FAIL(place(p.c, buf, 3 * part + 1, PAGE, 0), ENXIO);
	MUST_FAIL(place(p.c, buf, 1 * MB, PAGE + 3, 0), ENXIO);
	MUST_FAIL(place(p.c, buf, part + 2, PAGE + 2 * part - 1, 0), ENXIO);
	MUST_FAIL(place(p.c, buf, 3 * part + 1, PAGE - 1, 0), ENXIO);
	MUST(riounmap(p.s, mem + part, part));
	MUST_FAIL(place(p.c, buf, 3 * part, PAGE, 0), ENXIO);
	MUST_FAIL(place(p.c, buf, 2, PAGE + part - 1, 0), ENXIO);
	MUST_FAIL(place(p.c, buf, 2, PAGE + 2 * part - 1, 0), ENXIO);
	sync_to(p.c, p.s);
	must_be_all(mem, 3 * part, 0);
	/* The gap is filled again, from another piece of memory */
	MUST_BE(riomap(p.s, memory(part), part, PROT_WRITE, 0, PAGE + part), PAGE + part);
	sync_to(p.s, p.c);
	MUST_BE(place(p.c, buf, 3 * part, PAGE, 0), 3 * part);
	sync_to(p.c, p.s);
	must_be_all(mem, part, 1);
	must_be_all(mem + part, part, 0);
	must_be_all(mem + 2 * part, part, 1);
	close_pair(&p);
	must_unpin();
}
END_TEST

START_TEST(vectors)
{
	struct pair p = open_pair(IPV4);
	char *mem = memory(PAGE), buf[1000];
	struct iovec iov[] = { { buf, 1 }, { buf + 1, 0 }, { buf + 1, 900 }, { buf + 901, 99 } };
	struct placement m;

	MUST(riomap(p.s, mem, PAGE, PROT_WRITE, 0, 0));
	sync_to(p.s, p.c);
	init_placement(&m, buf, sizeof(buf), 24);
	m.msg.msg_iov = iov;
	m.msg.msg_iovlen = 4;
	pattern_fill(buf, sizeof(buf), 3, 0);
	MUST_BE(sendmsg(p.c, &m.msg, MSG_RIOWRITE), sizeof(buf));
	sync_to(p.c, p.s);
	pattern_check(mem + 24, sizeof(buf), 3, 0);
	close_pair(&p);
}
END_TEST

/* Without control messages: a cursor, for write() and sendfile() too. */
START_TEST(cursor)
{
	struct pair p = open_pair(IPV4);
	size_t len = 200000, done;
	char *mem = memory(len), *buf = malloc(len);
	__s64 at = -2;
	FILE *f = tmpfile();

	MUST(riomap(p.s, mem, len, PROT_WRITE, 0, 1000));
	sync_to(p.s, p.c);
	MUST_BE(get_cursor(p.c), -1);
	set_cursor(p.c, 1000);
	pattern_fill(buf, len, 9, 0);
	MUST_BE(fwrite(buf, 1, len, f), len);
	MUST_BE(fflush(f), 0);
	for (done = 0; done < 50000; )
		done += MUST(write(p.c, buf + done, 50000 - done));
	MUST(lseek(fileno(f), 50000, SEEK_SET));
	while (done < len)
		done += MUST(sendfile(p.c, fileno(f), NULL, len - done));
	MUST_BE(get_cursor(p.c), 1000 + len);
	MUST_FAIL(write(p.c, buf, 1), ENXIO);
	set_cursor(p.c, -1);
	sync_to(p.c, p.s);
	pattern_check(mem, len, 9, 0);
	MUST_FAIL(setsockopt(p.c, SOL_RSOCK, RSOCK_WRITE_OFFSET, &at, sizeof(at)), EINVAL);
	fclose(f);
	expect_alive(p.c, p.s);
	close_pair(&p);
}
END_TEST

/* What does not fit into the send buffer is not taken, and comes with the rest. */
START_TEST(nonblocking)
{
	struct pair p = open_small_pair(IPV4, 16 * KB);
	size_t len = 4 * MB, done, stuck;
	char *mem = memory(len), *buf = malloc(len);
	ssize_t n;

	MUST(riomap(p.s, mem, len, PROT_WRITE, 0, 0));
	sync_to(p.s, p.c);
	pattern_fill(buf, len, 5, 0);
	/* More than both rings take, which goes before what is placed. */
	stuck = get_int(p.s, SOL_SOCKET, SO_RCVBUF) + 5 * KB;
	send_all(p.c, buf, stuck);
	set_nonblock(p.c, true);
	n = place(p.c, buf, len, 0, 0);
	CHECK(n < 0 ? errno == EAGAIN : (size_t)n < len, "%zd at once", n);
	recv_all(p.s, malloc(stuck), stuck);
	for (done = n < 0 ? 0 : n; done < len; ) {
		n = place(p.c, buf + done, len - done, done, 0);
		if (n < 0) {
			CHECK(errno == EAGAIN, "%s", err_name(errno));
			wait_events(p.c, POLLOUT);
			continue;
		}
		done += n;
	}
	set_nonblock(p.c, false);
	sync_to(p.c, p.s);
	pattern_check(mem, len, 5, 0);
	close_pair(&p);
}
END_TEST

/* The mapping gets known by itself, and with it gone, that too. */
START_TEST(announced)
{
	struct pair p = open_pair(_i);
	char *mem = memory(PAGE);

	MUST_FAIL(place(p.c, "x", 1, 0, 0), ENXIO);
	MUST(riomap(p.s, mem, PAGE, PROT_WRITE, 0, 0));
	wait_mapped(p.c, 0, true);
	MUST(riounmap(p.s, mem, PAGE));
	wait_mapped(p.c, 0, false);
	expect_alive(p.c, p.s);
	close_pair(&p);
}
END_TEST

/*
 * Mappings made by a side that has sent its end still are some, however many: more
 * than the messages that it may be ahead.
 */
START_TEST(after_shutdown)
{
	struct pair p = open_pair(IPV4);
	char *mem = memory(PAGE), buf[64];
	int i, rounds = 3 * get_int(p.c, SOL_RSOCK, RDMA_RQSIZE) / 2;

	MUST(shutdown(p.s, SHUT_WR));
	expect_end(p.c);
	for (i = 0; i < rounds; i++) {
		MUST(riomap(p.s, mem, PAGE, PROT_WRITE, 0, 0));
		wait_mapped(p.c, 0, true);
		pattern_fill(buf, sizeof(buf), i, 0);
		place_all(p.c, buf, sizeof(buf), 100);
		sync_to(p.c, p.s);
		pattern_check(mem + 100, sizeof(buf), i, 0);
		MUST(riounmap(p.s, mem, PAGE));
		wait_mapped(p.c, 0, false);
	}
	close_pair(&p);
}
END_TEST

/* --- errors ----------------------------------------------------------------------- */

enum kind { ANON, READ_ONLY, HOLE, PRIVATE_FILE, SHARED_FILE, SHARED_MEMORY, HUGE };

static void *memory_of(enum kind kind, size_t len)
{
	void *p;
	int fd;

	switch (kind) {
	case READ_ONLY:
		p = memory(len);
		MUST(mprotect(p, len, PROT_READ));
		return p;
	case HOLE:
		p = memory(len + PAGE);
		MUST(munmap(p + len - PAGE, PAGE));
		return p;
	case PRIVATE_FILE:
	case SHARED_FILE:
		fd = open("/proc/self/exe", O_RDONLY);
		p = kind == PRIVATE_FILE ?
		    mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0) :
		    mmap(NULL, len, PROT_READ, MAP_SHARED, fd, 0);
		break;
	case SHARED_MEMORY:
		fd = MUST(memfd_create("rsock", 0));
		MUST(ftruncate(fd, len));
		p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		break;
	case HUGE:
		p = mmap(NULL, 2 * MB, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
		return p;
	default:
		return memory(len);
	}
	CHECK(p != MAP_FAILED, "%s", err_name(errno));
	close(fd);
	return p;
}

static const struct {
	enum kind kind;
	size_t len;
	int prot, flags;
	off_t offset;
	int err;
} map_rows[] = {
	{ ANON, 0, PROT_WRITE, 0, 0, EINVAL },
	{ ANON, PAGE, PROT_READ, 0, 0, EINVAL },
	{ ANON, PAGE, PROT_WRITE | PROT_READ, 0, 0, EINVAL },
	{ ANON, PAGE, PROT_WRITE | PROT_EXEC, 0, 0, EINVAL },
	{ ANON, PAGE, PROT_WRITE, 1, 0, EINVAL },
	{ ANON, PAGE, PROT_WRITE, 0, -2, EINVAL },
	{ ANON, PAGE, PROT_WRITE, 0, 0x7fffffffffffffff, EINVAL },
	{ ANON, PAGE, PROT_WRITE, 0, 0x7ffffffffffff001, EINVAL },
	{ ANON, -1UL, PROT_WRITE, 0, 0, EINVAL },
	{ ANON, 1UL << 63, PROT_WRITE, 0, 0, EINVAL },
	{ ANON, 1UL << 62, PROT_WRITE, 0, 0, ENOMEM },
	{ READ_ONLY, PAGE, PROT_WRITE, 0, 0, EFAULT },
	{ HOLE, 2 * PAGE, PROT_WRITE, 0, 0, EFAULT },
	{ PRIVATE_FILE, PAGE, PROT_WRITE, 0, 0, 0 },
	{ SHARED_FILE, PAGE, PROT_WRITE, 0, 0, EOPNOTSUPP },
	{ SHARED_FILE, PAGE, PROT_NONE, 0, 0, EOPNOTSUPP },
	{ SHARED_MEMORY, PAGE, PROT_WRITE, 0, 0, 0 },
	{ HUGE, 2 * MB, PROT_WRITE, 0, 0, 0 },
	{ READ_ONLY, PAGE, PROT_NONE, 0, 0, 0 },
	{ ANON, PAGE, PROT_NONE, 0, FREE_OFFSET, 0 },
};

/* Clear errors, after which nothing is mapped and all still works. */
START_TEST(map_error)
{
	struct pair p = open_pair(IPV4);
	void *mem = memory_of(map_rows[_i].kind, map_rows[_i].kind == ANON ? PAGE :
			      map_rows[_i].len);
	off_t offset;
	struct rsock_iomap m;

	if (mem == MAP_FAILED) {	/* no huge pages here */
		CHECK(map_rows[_i].kind == HUGE, "%s", err_name(errno));
		close_pair(&p);
		return;
	}
	errno = 0;
	offset = riomap(p.s, mem, map_rows[_i].len, map_rows[_i].prot, map_rows[_i].flags,
			map_rows[_i].offset);
	if (!map_rows[_i].err) {
		MUST(offset);
		MUST_BE(list_maps(p.s, &m, 1), 1);
		CHECK(m.addr == (uintptr_t)mem && m.len == map_rows[_i].len &&
		      m.offset == offset && m.prot == (unsigned int)map_rows[_i].prot,
		      "%#llx %llu %lld %u", m.addr, m.len, m.offset, m.prot);
		if (m.prot == PROT_NONE)
			MUST_FAIL(place(p.c, "x", 1, offset, 0), ENXIO);
		MUST(riounmap(p.s, mem, map_rows[_i].len));
	} else {
		CHECK(offset == -1 && errno == map_rows[_i].err, "%jd, %s, expected %s",
		      (intmax_t)offset, err_name(errno), err_name(map_rows[_i].err));
	}
	MUST_BE(list_maps(p.s, NULL, 0), 0);
	must_unpin();
	mem = memory(PAGE);
	MUST_BE(riomap(p.s, mem, PAGE, PROT_WRITE, 0, 0), 0);
	wait_mapped(p.c, 0, true);
	expect_alive(p.c, p.s);
	close_pair(&p);
}
END_TEST

START_TEST(map_arguments)
{
	struct pair p = open_pair(IPV4);
	struct rsock_iomap m = { .len = PAGE, .prot = PROT_WRITE, .offset = -1 };
	void *ro = memory_of(READ_ONLY, PAGE);

	m.addr = (uintptr_t)memory(PAGE);
	MUST_FAIL(setsockopt(p.s, SOL_RSOCK, RSOCK_IOMAP, &m, sizeof(m)), EINVAL);
	MUST_FAIL(setsockopt(p.s, SOL_RSOCK, RSOCK_IOMAP, &m, sizeof(m) - 1), EINVAL);
	MUST_FAIL(setsockopt(p.s, SOL_RSOCK, RSOCK_IOMAP, (void *)1, sizeof(m)), EFAULT);
	m.result_ptr = 8;
	MUST_FAIL(setsockopt(p.s, SOL_RSOCK, RSOCK_IOMAP, &m, sizeof(m)), EFAULT);
	m.result_ptr = (uintptr_t)ro;
	MUST_FAIL(setsockopt(p.s, SOL_RSOCK, RSOCK_IOMAP, &m, sizeof(m)), EFAULT);
	MUST_BE(list_maps(p.s, NULL, 0), 0);
	must_unpin();
	m.result_ptr = 0;
	m.offset = 4096;
	MUST(setsockopt(p.s, SOL_RSOCK, RSOCK_IOMAP, &m, sizeof(m)));
	m.offset = 4097;
	MUST_FAIL(setsockopt(p.s, SOL_RSOCK, RSOCK_IOUNMAP, &m, sizeof(m)), EINVAL);
	m.offset = 4096;
	m.len--;
	MUST_FAIL(setsockopt(p.s, SOL_RSOCK, RSOCK_IOUNMAP, &m, sizeof(m)), EINVAL);
	m.len++;
	MUST(setsockopt(p.s, SOL_RSOCK, RSOCK_IOUNMAP, &m, sizeof(m)));
	MUST_FAIL(setsockopt(p.s, SOL_RSOCK, RSOCK_IOUNMAP, &m, sizeof(m)), EINVAL);
	close_pair(&p);
}
END_TEST

START_TEST(overlap)
{
	static const struct { off_t offset; size_t len; bool free; } rows[] = {
		{ 1000, 100, true }, { 1000, 100, false }, { 1099, 1, false },
		{ 999, 2, false }, { 0, 5000, false }, { 1100, 1, true }, { 999, 1, true },
		{ 0, 999, true }, { 1101, PAGE, true },
	};
	struct pair p = open_pair(IPV4);
	char *mem = memory(2 * PAGE);
	struct rsock_iomap m[9];
	size_t i, n = 0;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		if (rows[i].free) {
			MUST_BE(riomap(p.s, mem, rows[i].len, PROT_WRITE, 0, rows[i].offset),
				rows[i].offset);
			n++;
		} else {
			MUST_FAIL(riomap(p.s, mem, rows[i].len, PROT_WRITE, 0, rows[i].offset),
				  EEXIST);
		}
	}
	MUST_BE(list_maps(p.s, m, 9), n);
	for (i = 1; i < n; i++)
		CHECK(m[i - 1].offset + (off_t)m[i - 1].len <= m[i].offset, "%zu", i);
	/* A free one is none of these */
	CHECK(MUST(riomap(p.s, mem, PAGE, PROT_WRITE, 0, FREE_OFFSET)) >= 1101 + (off_t)PAGE,
	      "overlaps");
	close_pair(&p);
	must_unpin();
}
END_TEST

START_TEST(list_room)
{
	struct pair p = open_pair(IPV4);
	char *mem = memory(PAGE);
	struct rsock_iomap m[4];
	socklen_t len;

	MUST(riomap(p.s, mem, 10, PROT_WRITE, 0, FREE_OFFSET));
	MUST(riomap(p.s, mem, 20, PROT_NONE, 0, FREE_OFFSET));
	MUST(riomap(p.s, mem, 30, PROT_WRITE, 0, FREE_OFFSET));
	len = 3 * sizeof(m[0]) - 1;
	MUST_FAIL(getsockopt(p.s, SOL_RSOCK, RSOCK_IOMAP, m, &len), ENOSPC);
	MUST_BE(len, 3 * sizeof(m[0]));
	MUST_BE(list_maps(p.s, m, 4), 3);
	MUST_BE(m[0].len, 10);
	MUST_BE(m[1].len, 20);
	MUST_BE(m[2].len, 30);
	MUST_BE(m[1].prot, PROT_NONE);
	len = sizeof(m);
	MUST_FAIL(getsockopt(p.s, SOL_RSOCK, RSOCK_IOMAP, (void *)8, &len), EFAULT);
	close_pair(&p);
}
END_TEST

/* Sockets that are not connected cannot map, and do not hang. */
START_TEST(no_connection)
{
	struct addr where;
	int listener = open_listener(IPV4, 1, &where), fd = open_socket(IPV4, 0);
	struct pair p = open_pair(IPV4);
	char *mem = memory(PAGE);

	MUST_FAIL(riomap(fd, mem, PAGE, PROT_WRITE, 0, 0), ENOTCONN);
	MUST_FAIL(riomap(listener, mem, PAGE, PROT_WRITE, 0, 0), ENOTCONN);
	MUST_BE(riounmap(fd, mem, PAGE), 0);
	MUST_FAIL(place(fd, "x", 1, 0, MSG_NOSIGNAL), ENOTCONN, EPIPE);
	MUST(riomap(p.s, mem, PAGE, PROT_WRITE, 0, 0));
	close(p.c);
	expect_end(p.s);
	/* The end of the connection undoes all mappings */
	MUST_BE(riounmap(p.s, mem, PAGE), 0);
	MUST_FAIL(riomap(p.s, mem, PAGE, PROT_WRITE, 0, 0), ENOTCONN);
	must_unpin();
	close(p.s);
	close(fd);
	close(listener);
}
END_TEST

START_TEST(write_error)
{
	struct pair p = open_pair(IPV4);
	char *mem = memory(2 * PAGE), *buf = malloc(2 * PAGE);
	char control[2 * CMSG_SPACE(8)] = {};
	struct iovec iov = { buf, 1 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control,
		.msg_controllen = CMSG_SPACE(8) };
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(&msg);

	memset(mem, 0xa5, 2 * PAGE);
	MUST(riomap(p.s, mem, PAGE, PROT_WRITE, 0, 0));
	sync_to(p.s, p.c);
	memset(buf, 1, 2 * PAGE);
	/* Off its end, behind it, before it: nothing at all is written */
	MUST_FAIL(place(p.c, buf, PAGE + 1, 0, 0), ENXIO);
	MUST_FAIL(place(p.c, buf, 2, PAGE - 1, 0), ENXIO);
	MUST_FAIL(place(p.c, buf, 1, PAGE, 0), ENXIO);
	MUST_FAIL(place(p.c, buf, 1, 1UL << 62, 0), ENXIO);
	MUST_FAIL(place(p.c, buf, 1, -1, 0), EINVAL);
	MUST_FAIL(place(p.c, (void *)8, 100, 0, 0), EFAULT);
	MUST_BE(place(p.c, buf, 0, 0, 0), 0);
	MUST_BE(place(p.c, buf, 0, 1L << 50, 0), 0);
	/* Flag and control message go together, and there is one */
	MUST_FAIL(send(p.c, buf, 1, MSG_RIOWRITE), EINVAL);
	cmsg->cmsg_level = SOL_RSOCK;
	cmsg->cmsg_type = RSOCK_CMSG_OFFSET;
	cmsg->cmsg_len = CMSG_LEN(8);
	MUST_FAIL(sendmsg(p.c, &msg, 0), EINVAL);
	cmsg->cmsg_type = 77;
	MUST_FAIL(sendmsg(p.c, &msg, MSG_RIOWRITE), EINVAL);
	cmsg->cmsg_type = RSOCK_CMSG_OFFSET;
	cmsg->cmsg_len = CMSG_LEN(4);
	MUST_FAIL(sendmsg(p.c, &msg, MSG_RIOWRITE), EINVAL);
	cmsg->cmsg_len = CMSG_LEN(8);
	msg.msg_controllen = sizeof(control);
	memcpy(control + CMSG_SPACE(8), control, CMSG_SPACE(8));
	MUST_FAIL(sendmsg(p.c, &msg, MSG_RIOWRITE), EINVAL);
	sync_to(p.c, p.s);
	must_be_all(mem, 2 * PAGE, 0xa5);
	expect_alive(p.c, p.s);
	close_pair(&p);
}
END_TEST

/* --- limits ------------------------------------------------------------------------- */

static const struct { int asked, has; } table_rows[] = {
	{ 0, 0 }, { 1, 1 }, { 2, 2 }, { 127, 127 }, { 128, 128 }, { 129, 128 }, { 255, 128 },
	{ 256, 256 },
};

/* As many as the writer's table has room for; the last one is found too. */
START_TEST(table_size)
{
	int has = table_rows[_i].has, i;
	struct pair p = pair_with_table(table_rows[_i].asked);
	char *mem = memory(PAGE * (has + 1)), b;

	MUST_BE(get_int(p.c, SOL_RSOCK, RDMA_IOMAPSIZE), has);
	for (i = 0; i < has; i++)
		MUST_BE(riomap(p.s, mem + PAGE * i, PAGE, PROT_WRITE, 0, PAGE * i), PAGE * i);
	MUST_FAIL(riomap(p.s, mem, PAGE, PROT_WRITE, 0, PAGE * i), ENOMEM);
	/* Needs no room in the table */
	MUST(riomap(p.s, mem, PAGE, PROT_NONE, 0, PAGE * i));
	sync_to(p.s, p.c);
	for (i = has - 1; i >= 0; i--) {
		b = i;
		place_all(p.c, &b, 1, PAGE * i + 77);
	}
	sync_to(p.c, p.s);
	for (i = 0; i < has; i++)
		MUST_BE(mem[PAGE * i + 77], (char)i);
	/* Room comes back */
	if (has) {
		MUST(riounmap(p.s, mem + PAGE * (has / 2), PAGE));
		MUST(riomap(p.s, mem, PAGE, PROT_WRITE, 0, 1L << 40));
		sync_to(p.s, p.c);
		place_all(p.c, "x", 1, (1L << 40) + 5);
		MUST_FAIL(place(p.c, "x", 1, PAGE * (has / 2), 0), ENXIO);
		sync_to(p.c, p.s);
		MUST_BE(mem[5], 'x');
	}
	close_pair(&p);
	must_unpin();
}
END_TEST

/* What the peer is not told of takes no slot of its table, but has a limit. */
START_TEST(local_only)
{
	struct pair p = open_pair(IPV4);
	char *mem = memory(PAGE);
	int i;

	for (i = 0; i < 1024; i++)
		MUST(riomap(p.s, mem, PAGE, PROT_NONE, 0, i * PAGE));
	MUST_FAIL(riomap(p.s, mem, PAGE, PROT_NONE, 0, i * PAGE), ENOMEM);
	MUST_FAIL(riomap(p.s, mem, PAGE, PROT_WRITE, 0, i * PAGE), ENOMEM);
	MUST(riounmap(p.s, mem, PAGE));
	MUST(riomap(p.s, mem, PAGE, PROT_WRITE, 0, i * PAGE));
	close_pair(&p);
	must_unpin();
}
END_TEST

START_TEST(memlock)
{
	struct pair p = open_pair(IPV4);
	struct rlimit limit = { 64 * KB, 64 * KB };
	char *mem = memory(1 * MB);
	pid_t pid = fork_child();

	if (!pid) {
		MUST(setrlimit(RLIMIT_MEMLOCK, &limit));
		MUST(setgroups(0, NULL));
		MUST(setgid(65534));
		MUST(setuid(65534));
		MUST_FAIL(riomap(p.s, mem, 1 * MB, PROT_WRITE, 0, 0), ENOMEM);
		MUST(riomap(p.s, mem, 32 * KB, PROT_WRITE, 0, 0));
		MUST_FAIL(riomap(p.s, mem, 36 * KB, PROT_WRITE, 0, 64 * KB), ENOMEM);
		MUST(riomap(p.s, mem, 32 * KB, PROT_WRITE, 0, 64 * KB));
		MUST(riounmap(p.s, mem, 32 * KB));
		MUST(riomap(p.s, mem, 32 * KB, PROT_WRITE, 0, 128 * KB));
		_exit(0);
	}
	reap(pid);
	expect_alive(p.c, p.s);
	close_pair(&p);
}
END_TEST

/* --- the end of a mapping -------------------------------------------------------------- */

struct writer {
	int fd;
	size_t len;
	volatile bool stop;
	unsigned long placed, refused;
};

static void write_on(void *arg)
{
	struct writer *w = arg;
	char *buf = malloc(w->len);

	memset(buf, 0xee, w->len);
	while (!w->stop) {
		ssize_t n = place(w->fd, buf, w->len, 0, MSG_NOSIGNAL);

		if (n < 0 && errno != ENXIO)
			break;
		if (n < 0) {
			w->refused++;
			sleep_ms(1);
		} else {
			w->placed++;
		}
	}
	free(buf);
}

/* Under a stream of writes: nothing lands any more, and the connection lives. */
START_TEST(unmap_under_writes)
{
	struct pair p = open_pair(IPV4);
	struct writer w = { .fd = p.c, .len = _i ? 100000 : 512 };
	size_t len = 100000, i;
	unsigned char *mem = memory(len);
	struct worker worker;
	int round, rounds = full_run() ? 500 : 20;

	start(&worker, write_on, &w);
	for (round = 0; round < rounds; round++) {
		unsigned long before = w.placed;

		MUST(riomap(p.s, mem, len, PROT_WRITE, 0, 0));
		while (w.placed == before)
			sleep_ms(1);
		MUST(riounmap(p.s, mem, len));
		memset(mem, 0x55, len);
		sleep_ms(1);
		for (i = 0; i < len; i++)
			CHECK(mem[i] == 0x55, "round %d, byte %zu", round, i);
	}
	w.stop = true;
	join(&worker);
	CHECK(w.placed && w.refused, "%lu, %lu", w.placed, w.refused);
	expect_alive(p.c, p.s);
	close_pair(&p);
	must_unpin();
}
END_TEST

START_TEST(cycles)
{
	struct pair p = open_pair(IPV4);
	int i, n = full_run() ? 100000 : 2000;
	char *mem = memory(8 * PAGE), b;

	for (i = 0; i < n; i++) {
		char *at = mem + i % 7 * PAGE;

		MUST_BE(riomap(p.s, at, PAGE, PROT_WRITE, 0, i % 5 * PAGE), i % 5 * PAGE);
		if (i % 100 == 0) {
			sync_to(p.s, p.c);
			b = i / 100;
			place_all(p.c, &b, 1, i % 5 * PAGE + 9);
			sync_to(p.c, p.s);
			MUST_BE(at[9], b);
		}
		MUST(riounmap(p.s, at, PAGE));
	}
	MUST_BE(pinned_kb(), 0);
	MUST_BE(list_maps(p.s, NULL, 0), 0);
	expect_alive(p.c, p.s);
	close_pair(&p);
}
END_TEST

/* Threads that map and unmap while others write and the connection ends. */
static void map_on(void *arg)
{
	struct writer *w = arg;
	char *mem = memory(w->len);

	while (!w->stop) {
		if (riomap(w->fd, mem, w->len, PROT_WRITE, 0, FREE_OFFSET) < 0) {
			/* Fast registration waits for a peer that is gone already. */
			CHECK(errno == ENOTCONN || errno == ENOMEM || errno == ETIMEDOUT, "%s",
			      err_name(errno));
			continue;
		}
		riounmap(w->fd, mem, w->len);
	}
	munmap(mem, w->len);
}

/*
 * rdma_rxe may run a registration once more when it repeats what was lost: it
 * fails, and with it the connection.
 */
static bool by_fast_registration(void)
{
	int fd = open("/sys/module/rsock/parameters/fast_reg_user", O_RDONLY);
	char yes = 'N';

	if (fd >= 0) {
		MUST_BE(read(fd, &yes, 1), 1);
		close(fd);
	}
	return yes == 'Y';
}

START_TEST(race_with_end)
{
	int round;

	for (round = 0; round < 5; round++) {
		struct pair p = open_pair(IPV4);
		struct writer w[4] = {};
		struct worker worker[4];
		int i;

		for (i = 0; i < 4; i++) {
			w[i].fd = i < 3 ? p.s : p.c;
			w[i].len = 20000;
			start(&worker[i], i < 3 ? map_on : write_on, &w[i]);
		}
		sleep_ms(20);
		if (round % 2)
			set_linger(p.c, true, 0);
		if (shutdown(round % 3 ? p.c : p.s, SHUT_RDWR))
			CHECK(errno == ENOTCONN && by_fast_registration(), "%s", err_name(errno));
		sleep_ms(20);
		for (i = 0; i < 4; i++)
			w[i].stop = true;
		for (i = 0; i < 4; i++)
			join(&worker[i]);
		close_pair(&p);
	}
	must_unpin();
}
END_TEST

START_TEST(close_with_maps)
{
	struct pair p = open_pair(IPV4);
	char *mem = memory(1 * MB), buf[1000];
	int i;

	for (i = 0; i < 10; i++)
		MUST(riomap(p.s, mem + i * 100000, 50000, PROT_WRITE, 0, FREE_OFFSET));
	sync_to(p.s, p.c);
	pattern_fill(buf, sizeof(buf), 1, 0);
	place_all(p.c, buf, sizeof(buf), 0);
	close(p.s);
	expect_end(p.c);
	close(p.c);
	must_unpin();
}
END_TEST

/*
 * Who parts with the connection has its memory for itself, even if the
 * connection lives on because of what was sent.
 */
START_TEST(parting_with_maps)
{
	struct pair p = open_pair(IPV4);
	struct sockaddr none = { .sa_family = AF_UNSPEC };
	struct stream out = { .fd = p.s, .seed = 1 };
	struct writer w = { .fd = p.c, .len = 50000 };
	unsigned char *mem = memory(w.len);
	struct worker worker;

	MUST(riomap(p.s, mem, w.len, PROT_WRITE, 0, 0));
	sync_to(p.s, p.c);
	send_until_full(&out);
	start(&worker, write_on, &w);
	while (!w.placed)
		sleep_ms(1);
	if (_i)
		MUST(connect(p.s, &none, sizeof(none)));
	else
		close(p.s);
	memset(mem, 0x55, w.len);
	MUST_BE(pinned_kb(), 0);
	sleep_ms(100);
	must_be_all(mem, w.len, 0x55);
	w.stop = true;
	join(&worker);
	if (_i)
		close(p.s);
	close(p.c);
}
END_TEST

struct mapper {
	int fd;
	void *mem;
	volatile int err;
};

static void map_one(void *arg)
{
	struct mapper *m = arg;

	m->err = riomap(m->fd, m->mem, PAGE, PROT_WRITE, 0, 0) < 0 ? errno : 0;
}

static void map_for_long(void *arg)
{
	struct mapper *m = arg;

	while (m->err) {
		if (riomap(m->fd, m->mem, 32 * MB, PROT_WRITE, 0, 0) < 0)
			CHECK(errno == ENOTCONN || errno == EEXIST, "%s", err_name(errno));
	}
}

/* Disconnected while another thread pins memory: that is not in reach either. */
START_TEST(disconnect_during_map)
{
	struct sockaddr none = { .sa_family = AF_UNSPEC };
	struct addr where;
	int listener = open_listener(IPV4, 8, &where), fd = open_socket(IPV4, 0), i;
	struct mapper m = { fd, memory(32 * MB), -1 };
	struct worker worker;

	start(&worker, map_for_long, &m);
	for (i = 0; i < 20; i++) {
		int s;

		MUST(connect(fd, &where.sa, where.len));
		s = accept_one(listener);
		sleep_ms(i);
		MUST(connect(fd, &none, sizeof(none)));
		close(s);
	}
	m.err = 0;
	join(&worker);
	close(fd);
	close(listener);
	must_unpin();
}
END_TEST

/* Memory that is not there until its owner likes: the end does not wait for it. */
START_TEST(end_during_map)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	struct uffdio_zeropage zero = {};
	struct pair p = open_pair(IPV4), other;
	struct mapper m = { p.s, memory(PAGE), -1 };
	struct worker worker;
	int uffd = MUST(syscall(SYS_userfaultfd, O_CLOEXEC));

	MUST(ioctl(uffd, UFFDIO_API, &api));
	reg.range.start = (uintptr_t)m.mem;
	reg.range.len = PAGE;
	MUST(ioctl(uffd, UFFDIO_REGISTER, &reg));
	start(&worker, map_one, &m);
	CHECK(poll_ms(uffd, POLLIN, hang_seconds() * 1000), "nobody asks for the page");
	close(p.c);
	wait_events(p.s, POLLRDHUP);
	other = open_pair(IPV4);
	expect_alive(other.c, other.s);
	close_pair(&other);
	zero.range = reg.range;
	MUST(ioctl(uffd, UFFDIO_ZEROPAGE, &zero));
	join(&worker);
	/* Some kernels do not try again when the page is there at last. */
	CHECK(m.err == ENOTCONN || m.err == EFAULT, "%s", err_name(m.err));
	close(p.s);
	close(uffd);
	must_unpin();
}
END_TEST

/* The memory belongs to the process that mapped it, not to its children. */
START_TEST(fork_with_maps)
{
	struct pair p = open_pair(IPV4);
	char *mem = memory(PAGE);
	pid_t pid;

	MUST(riomap(p.s, mem, PAGE, PROT_WRITE, 0, 0));
	sync_to(p.s, p.c);
	pid = fork_child();
	if (!pid) {
		struct rsock_iomap m;

		MUST_BE(list_maps(p.s, &m, 1), 1);
		close(p.s);
		_exit(0);
	}
	reap(pid);
	place_all(p.c, "parent", 7, 0);
	sync_to(p.c, p.s);
	CHECK(!strcmp(mem, "parent"), "%.7s", mem);
	close_pair(&p);
	must_unpin();
}
END_TEST

/* Its memory is let go when the socket's last user is gone, not before. */
START_TEST(killed_with_maps)
{
	struct pair p = open_pair(IPV4);
	char b;
	pid_t pid = fork_child();

	if (!pid) {
		char *mem = memory(1 * MB);

		close(p.c);
		MUST(riomap(p.s, mem, 1 * MB, PROT_WRITE, 0, 0));
		MUST_BE(send(p.s, "r", 1, 0), 1);
		for (;;)
			pause();
	}
	close(p.s);
	recv_all(p.c, &b, 1);
	place_all(p.c, "x", 1, 1000);
	kill_child(pid);
	expect_end(p.c);
	close(p.c);
}
END_TEST

/* --- mmap() of the socket ---------------------------------------------------------------- */

static const struct { size_t len; off_t offset; } mmap_rows[] = {
	{ PAGE, 0 }, { PAGE, PAGE }, { 5 * PAGE, 1L << 40 }, { 2 * MB, 0 }, { 5 * MB + PAGE, PAGE },
	{ 64 * KB, 0x7fffffffffff0000 - PAGE },
};

START_TEST(mmap_lands)
{
	size_t len = mmap_rows[_i].len;
	off_t offset = mmap_rows[_i].offset;
	struct pair p = open_pair(IPV4);
	char *mem = map_socket(p.s, len, offset), *buf = malloc(len);
	struct rsock_iomap m;

	MUST_BE(list_maps(p.s, &m, 1), 1);
	CHECK(!m.addr && m.len == len && m.offset == offset && m.prot == PROT_WRITE,
	      "%#llx %llu %lld %u", m.addr, m.len, m.offset, m.prot);
	MUST_BE(pinned_kb(), 0);
	must_be_all(mem, len, 0);
	wait_mapped(p.c, offset, true);
	wait_mapped(p.c, offset + len - 1, true);
	pattern_fill(buf, len, 1, 0);
	place_all(p.c, buf, len, offset);
	MUST_FAIL(place(p.c, buf, 2, offset + len - 1, 0), ENXIO, EINVAL);
	sync_to(p.c, p.s);
	pattern_check(mem, len, 1, 0);
	/* It is memory like any other: it can be sent from */
	send_all(p.s, mem + 100, 1000);
	recv_all(p.c, buf, 1000);
	pattern_check(buf, 1000, 1, 100);
	MUST(munmap(mem, len));
	wait_mapped(p.c, offset, false);
	MUST_BE(list_maps(p.s, NULL, 0), 0);
	expect_alive(p.c, p.s);
	close_pair(&p);
}
END_TEST

/* Over each end of a memory region, of which the device needs several. */
START_TEST(mmap_regions)
{
	struct pair p = open_pair(IPV4);
	size_t len = 9 * MB + PAGE, at;
	char *mem = map_socket(p.s, len, PAGE), buf[10001];

	wait_mapped(p.c, PAGE + len - 1, true);
	for (at = 1 * MB; at < len; at += 1 * MB) {
		size_t from = at - 5001, n = len - from < sizeof(buf) ? len - from : sizeof(buf);

		pattern_fill(buf, n, 4, from);
		MUST_BE(place(p.c, buf, n, PAGE + from, 0), n);
		sync_to(p.c, p.s);
		pattern_check(mem + from, n, 4, from);
		must_be_all(mem + from - 5000, 5000, 0);
	}
	MUST(munmap(mem, len));
	wait_mapped(p.c, PAGE, false);
	wait_mapped(p.c, PAGE + len - 1, false);
	expect_alive(p.c, p.s);
	close_pair(&p);
}
END_TEST

/* Each takes a slot of the peer's table, and gives it back. */
START_TEST(mmap_slots)
{
	struct pair p = pair_with_table(13);
	size_t len = 5 * MB, round, n, before = 0;
	char *mem[13];

	for (round = 0; round < 3; round++) {
		for (n = 0; n < ARRAY_SIZE(mem); n++) {
			mem[n] = mmap(NULL, len, PROT_READ, MAP_SHARED, p.s, n * len);
			if (mem[n] == MAP_FAILED)
				break;
		}
		CHECK(n > 0 && n < ARRAY_SIZE(mem) && errno == ENOMEM, "%zu, %s", n,
		      err_name(errno));
		CHECK(!round || n == before, "%zu, %zu the round before", n, before);
		before = n;
		while (n--)
			MUST(munmap(mem[n], len));
		MUST_BE(list_maps(p.s, NULL, 0), 0);
	}
	expect_alive(p.c, p.s);
	close_pair(&p);
}
END_TEST

START_TEST(mmap_error)
{
	int rw = PROT_READ | PROT_WRITE, fd = open_socket(IPV4, 0);
	struct addr where;
	int listener = open_listener(IPV4, 1, &where);
	struct pair p = pair_with_table(1);
	void *failed = MAP_FAILED;
	char *mem;

#define NO_MMAP(fd, len, flags, offset, err)						\
	CHECK(mmap(NULL, len, rw, flags, fd, offset) == failed && errno == (err),	\
	      "%s, expected %s", err_name(errno), err_name(err))
	NO_MMAP(fd, PAGE, MAP_SHARED, 0, ENOTCONN);
	NO_MMAP(listener, PAGE, MAP_SHARED, 0, ENOTCONN);
	NO_MMAP(p.s, PAGE, MAP_PRIVATE, 0, EINVAL);
	/* More than one memory region of the device, and a table with one slot */
	NO_MMAP(p.s, 8 * MB, MAP_SHARED, 0, ENOMEM);
	NO_MMAP(p.s, 1UL << 40, MAP_SHARED, 0, ENOMEM);
	MUST_BE(list_maps(p.s, NULL, 0), 0);
	mem = map_socket(p.s, 2 * PAGE, PAGE);
	NO_MMAP(p.s, PAGE, MAP_SHARED, 0, ENOMEM);
	NO_MMAP(p.s, PAGE, MAP_SHARED, 2 * PAGE, EEXIST);
	wait_mapped(p.c, PAGE, true);
	expect_alive(p.c, p.s);
	MUST(munmap(mem, 2 * PAGE));
	close(p.c);
	expect_end(p.s);
	MUST_FAIL(recv(p.s, &fd, 1, MSG_OOB), EINVAL);
	NO_MMAP(p.s, PAGE, MAP_SHARED, 0, ENOTCONN);
	close(p.s);
	close(fd);
	close(listener);
}
END_TEST

/* The mapping does not keep the socket open, nor the socket the mapping. */
START_TEST(mmap_then_close)
{
	struct pair p = open_pair(IPV4);
	char *mem = map_socket(p.s, 4 * PAGE, 0);

	wait_mapped(p.c, 0, true);
	place_all(p.c, "before", 7, PAGE - 3);
	sync_to(p.c, p.s);
	close(p.s);
	expect_end(p.c);
	CHECK(!strcmp(mem + PAGE - 3, "before"), "%.7s", mem + PAGE - 3);
	strcpy(mem, "after");
	close(p.c);
	CHECK(!strcmp(mem, "after"), "%.7s", mem);
	MUST(munmap(mem, 4 * PAGE));
}
END_TEST

/* Its peer wants to be told of what is placed, and reads nothing of that. */
static struct pair open_noted_pair(char *mem)
{
	struct pair p = open_pair(IPV4);

	set_int(p.c, SOL_RSOCK, RSOCK_RECV_NOTIFY, 1);
	MUST(riomap(p.c, mem, PAGE, PROT_WRITE, 0, 0));
	wait_mapped(p.s, 0, true);
	return p;
}

/* Has all that was placed arrived, and the note of it, or is there no credit? */
static bool arrives(int fd, int ms)
{
	long long end = now_ms() + ms;

	while (outq(fd) && now_ms() < end)
		sleep_ms(1);
	return !outq(fd);
}

/*
 * A peer that gives no credit, since its program reads no notes, cannot be told of
 * a mapping: it hears of the end nevertheless.
 */
START_TEST(mmap_untold)
{
	unsigned long before = stat_now("LingerTimeouts");
	char *mem = memory(PAGE), *untold;
	struct pair p = open_noted_pair(mem);
	int i, notes = -1;

	do {
		MUST_BE(place(p.s, "x", 1, 0, 0), 1);
		notes++;
	} while (arrives(p.s, 1000));
	MUST(riounmap(p.c, mem, PAGE));
	close_pair(&p);
	p = open_noted_pair(mem);
	for (i = 0; i < notes; i++) {
		MUST_BE(place(p.s, "x", 1, 0, 0), 1);
		CHECK(arrives(p.s, hang_seconds() * 1000), "note %d of %d", i, notes);
	}
	untold = map_socket(p.s, PAGE, 0);
	MUST(close(p.s));
	expect_end(p.c);
	MUST_BE(stat_now("LingerTimeouts"), before);
	close(p.c);
	MUST(munmap(untold, PAGE));
}
END_TEST

/* It is offered as a whole, until no part of it is mapped any more. */
START_TEST(mmap_in_parts)
{
	struct pair p = open_pair(IPV4);
	char *mem = map_socket(p.s, 6 * PAGE, 0), *moved;
	char *room = memory(2 * PAGE);

	wait_mapped(p.c, 0, true);
	MUST(munmap(mem + 2 * PAGE, PAGE));
	place_all(p.c, "whole", 6, 2 * PAGE - 2);
	MUST(mprotect(mem, PAGE, PROT_READ));
	MUST(mprotect(mem + PAGE, PAGE, PROT_NONE));
	place_all(p.c, "read", 5, 0);
	moved = mremap(mem + 3 * PAGE, 2 * PAGE, 2 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, room);
	CHECK(moved == room, "%s", err_name(errno));
	/* What is thrown out comes back, since it is not a copy */
	MUST(madvise(mem, PAGE, MADV_DONTNEED));
	place_all(p.c, "moved", 6, 4 * PAGE);
	sync_to(p.c, p.s);
	CHECK(!strcmp(mem, "read"), "%.5s", mem);
	CHECK(!strcmp(moved + PAGE, "moved"), "%.6s", moved + PAGE);
	/* It does not grow */
	CHECK(mremap(moved, 2 * PAGE, 3 * PAGE, MREMAP_MAYMOVE) == MAP_FAILED &&
	      (errno == EFAULT || errno == EINVAL), "%s", err_name(errno));
	MUST(munmap(mem, 2 * PAGE));
	MUST(munmap(mem + 5 * PAGE, PAGE));
	place_all(p.c, "still", 6, 4 * PAGE);
	MUST(munmap(moved, 2 * PAGE));
	wait_mapped(p.c, 0, false);
	expect_alive(p.c, p.s);
	close_pair(&p);
}
END_TEST

/* A child shares it, and has it until it ends, too. */
START_TEST(mmap_fork)
{
	struct pair p = open_pair(IPV4);
	char *mem = map_socket(p.s, PAGE, 0);
	pid_t pid;

	wait_mapped(p.c, 0, true);
	/* What that tried must not land on what the child writes */
	sync_to(p.c, p.s);
	pid = fork_child();
	if (!pid) {
		strcpy(mem, "child");
		for (;;)
			pause();
	}
	while (strcmp(mem, "child"))
		sleep_ms(1);
	MUST(munmap(mem, PAGE));
	place_all(p.c, "still", 6, 0);
	expect_alive(p.c, p.s);
	kill_child(pid);
	wait_mapped(p.c, 0, false);
	expect_alive(p.c, p.s);
	close_pair(&p);
}
END_TEST

/* A new program does not have it, but may have the socket. */
START_TEST(mmap_exec)
{
	struct pair p = open_pair(IPV4);
	pid_t pid = fork_child();
	char b;

	if (!pid) {
		close(p.c);
		map_socket(p.s, PAGE, 0);
		recv_all(p.s, &b, 1);
		execl("/bin/sleep", "sleep", "1000", NULL);
		_exit(1);
	}
	wait_mapped(p.c, 0, true);
	send_all(p.c, "x", 1);
	wait_mapped(p.c, 0, false);
	expect_alive(p.c, p.s);
	kill_child(pid);
	close_pair(&p);
}
END_TEST

START_TEST(mmap_killed)
{
	struct pair p = open_pair(IPV4);
	pid_t pid = fork_child();

	if (!pid) {
		close(p.c);
		map_socket(p.s, 3 * MB, 0);
		for (;;)
			pause();
	}
	close(p.s);
	wait_mapped(p.c, 3 * MB - 1, true);
	kill_child(pid);
	expect_end(p.c);
	close(p.c);
}
END_TEST

START_TEST(mmap_cycles)
{
	struct pair p = open_pair(IPV4);
	int i, n = full_run() ? 20000 : 300;
	char *mem, b;

	for (i = 0; i < n; i++) {
		mem = map_socket(p.s, PAGE * (1 + i % 3), i % 5 * PAGE);
		if (i % 20 == 0) {
			b = i / 20;
			sync_to(p.s, p.c);
			place_all(p.c, &b, 1, i % 5 * PAGE + 9);
			sync_to(p.c, p.s);
			MUST_BE(mem[9], b);
		}
		MUST(munmap(mem, PAGE * (1 + i % 3)));
	}
	MUST_BE(list_maps(p.s, NULL, 0), 0);
	expect_alive(p.c, p.s);
	close_pair(&p);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("iomap");
	TCase *tc;

	tc = add_case(suite, "placing", 60);
	tcase_add_loop_test(tc, lands, 0, ARRAY_SIZE(place_rows));
	tcase_add_test(tc, in_order);
	tcase_add_test(tc, both_ways);
	tcase_add_test(tc, adjacent);
	tcase_add_test(tc, adjacent_large);
	tcase_add_test(tc, adjacent_end);
	tcase_add_test(tc, vectors);
	tcase_add_test(tc, cursor);
	tcase_add_test(tc, nonblocking);
	add_ip_test(tc, announced);
	tcase_add_test(tc, after_shutdown);

	tc = add_case(suite, "errors", 30);
	tcase_add_loop_test(tc, map_error, 0, ARRAY_SIZE(map_rows));
	tcase_add_test(tc, map_arguments);
	tcase_add_test(tc, overlap);
	tcase_add_test(tc, list_room);
	tcase_add_test(tc, no_connection);
	tcase_add_test(tc, write_error);

	tc = add_case(suite, "limits", 60);
	tcase_add_loop_test(tc, table_size, 0, ARRAY_SIZE(table_rows));
	tcase_add_test(tc, local_only);
	tcase_add_test(tc, memlock);

	tc = add_case(suite, "end", full_run() ? 1000 : 100);
	tcase_add_loop_test(tc, unmap_under_writes, 0, 2);
	tcase_add_test(tc, race_with_end);
	tcase_add_test(tc, close_with_maps);
	tcase_add_loop_test(tc, parting_with_maps, 0, 2);
	tcase_add_test(tc, disconnect_during_map);
	tcase_add_test(tc, end_during_map);
	tcase_add_test(tc, fork_with_maps);
	tcase_add_test(tc, killed_with_maps);

	tc = add_case(suite, "mmap", 60);
	tcase_add_loop_test(tc, mmap_lands, 0, ARRAY_SIZE(mmap_rows));
	tcase_add_test(tc, mmap_regions);
	tcase_add_test(tc, mmap_slots);
	tcase_add_test(tc, mmap_error);
	tcase_add_test(tc, mmap_then_close);
	tcase_add_test(tc, mmap_untold);
	tcase_add_test(tc, mmap_in_parts);
	tcase_add_test(tc, mmap_fork);
	tcase_add_test(tc, mmap_exec);
	tcase_add_test(tc, mmap_killed);

	tc = add_case(suite, "cycles", full_run() ? 2000 : 100);
	tcase_add_test(tc, cycles);
	tcase_add_test(tc, mmap_cycles);

	return run_suite(suite);
}
