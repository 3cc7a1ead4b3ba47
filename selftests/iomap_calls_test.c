// SPDX-License-Identifier: GPL-2.0
/*
 * Direct placement by calls other than send() and sendmsg(): sendfile() and
 * splice(), which have no control messages and so use the cursor; and io_uring.
 *
 *	iomap_calls_test		the tests
 *	iomap_calls_test --has-uring	status 0 if those of io_uring are among them
 */
#include <fcntl.h>
#include <liburing.h>
#include <stdlib.h>
#include <sys/sendfile.h>
#include <sys/uio.h>

#include "iomap_util.h"

#define BASE	1000		/* offset of the mapping */
#define SEED	11

/* A connection, with memory at the server and what is to be placed there. */
struct setup {
	struct pair p;
	size_t len;
	char *mem;
};

static struct setup prepare(size_t len, int bufsize)
{
	struct setup t = { .p = open_small_pair(IPV4, bufsize), .len = len, .mem = memory(len) };

	MUST_BE(riomap(t.p.s, t.mem, len, PROT_WRITE, 0, BASE), BASE);
	sync_to(t.p.s, t.p.c);
	set_cursor(t.p.c, BASE);
	return t;
}

/* All is there, and then the stream is a stream again. */
static void finish(struct setup *t)
{
	MUST_BE(get_cursor(t->p.c), BASE + t->len);
	set_cursor(t->p.c, -1);
	set_nonblock(t->p.c, false);
	sync_to(t->p.c, t->p.s);
	pattern_check(t->mem, t->len, SEED, 0);
	expect_alive(t->p.c, t->p.s);
	close_pair(&t->p);
	must_unpin();
}

/* A file in tmpfs */
static int pattern_file(size_t len)
{
	int fd = MUST(memfd_create("rsock", 0));
	char *p;

	MUST(ftruncate(fd, len));
	p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(p != MAP_FAILED, "%s", err_name(errno));
	pattern_fill(p, len, SEED, 0);
	MUST(munmap(p, len));
	return fd;
}

/* How much of it goes at a time, from where: whole, in pieces, odd. */
static const struct { size_t len, chunk; int bufsize; bool nonblock; } rows[] = {
	{ 1, 1, 0, false },
	{ 4096, 4096, 0, false },
	{ 200000, 200000, 0, false },
	{ 200001, 777, 0, false },
	{ 3 * MB + 5, 3 * MB + 5, 0, false },
	{ 1 * MB + 3, 1 * MB + 3, 16 * KB, false },
	{ 1 * MB + 3, 1 * MB + 3, 16 * KB, true },
	{ 300000, 60001, 16 * KB, true },
};

static size_t at_most(size_t a, size_t b)
{
	return a < b ? a : b;
}

/*
 * A result of a call that sent: the cursor has advanced by it. Whether it was
 * EAGAIN, after which there is room.
 */
static size_t sent(struct setup *t, ssize_t n, size_t done)
{
	CHECK(n > 0 || (n < 0 && errno == EAGAIN), "%zd, %s", n, err_name(errno));
	if (n < 0) {
		wait_events(t->p.c, POLLOUT);
		n = 0;
	}
	MUST_BE(get_cursor(t->p.c), BASE + done + n);
	return n;
}

START_TEST(file)
{
	size_t len = rows[_i].len, done = 0;
	struct setup t = prepare(len, rows[_i].bufsize);
	int fd = pattern_file(len);

	set_nonblock(t.p.c, rows[_i].nonblock);
	while (done < len)
		done += sent(&t, sendfile(t.p.c, fd, NULL, at_most(len - done, rows[_i].chunk)),
			     done);
	MUST_BE(sendfile(t.p.c, fd, NULL, 1), 0);
	close(fd);
	finish(&t);
}
END_TEST

START_TEST(file_at_offset)
{
	struct setup t = prepare(100000, 0);
	int fd = pattern_file(t.len);
	off_t at;

	/* From its end to its beginning, to where the cursor is set */
	for (at = t.len - 10000; at >= 0; at -= 10000) {
		off_t from = at;

		set_cursor(t.p.c, BASE + at);
		MUST_BE(sendfile(t.p.c, fd, &from, 10000), 10000);
		MUST_BE(from, at + 10000);
	}
	set_cursor(t.p.c, BASE + t.len);
	close(fd);
	finish(&t);
}
END_TEST

/* The rest of what is in the pipe, and more when it is empty */
static size_t fill_pipe(int fd, size_t len, size_t pos)
{
	char buf[10000];
	size_t n = at_most(len, sizeof(buf));

	pattern_fill(buf, n, SEED, pos);
	return MUST(write(fd, buf, n));
}

START_TEST(pipe_writes)
{
	size_t len = rows[_i].len, done = 0, filled = 0;
	struct setup t = prepare(len, rows[_i].bufsize);
	int fd[2];

	MUST(pipe(fd));
	set_nonblock(t.p.c, rows[_i].nonblock);
	while (done < len) {
		if (filled == done) {
			while (filled < len && filled - done < 50000)
				filled += fill_pipe(fd[1], len - filled, filled);
		}
		done += sent(&t, splice(fd[0], NULL, t.p.c, NULL,
					at_most(len - done, rows[_i].chunk), SPLICE_F_MORE), done);
	}
	close(fd[0]);
	close(fd[1]);
	finish(&t);
}
END_TEST

/* Pages of the process, in a pipe */
START_TEST(pipe_pages)
{
	struct setup t = prepare(16 * PAGE - 5, 0);
	char *buf = memory(t.len);
	struct iovec iov = { buf + 3, t.len };
	size_t done = 0;
	int fd[2];

	iov.iov_len -= 3;
	pattern_fill(buf, t.len, SEED, 0);
	MUST(pipe(fd));
	MUST_BE(write(t.p.c, buf, 3), 3);
	MUST_BE(vmsplice(fd[1], &iov, 1, 0), iov.iov_len);
	while (done < iov.iov_len)
		done += sent(&t, splice(fd[0], NULL, t.p.c, NULL, iov.iov_len - done, 0), done + 3);
	close(fd[0]);
	close(fd[1]);
	finish(&t);
}
END_TEST

/* What is left in the pipe when the mapping is full is still in it. */
START_TEST(beyond_the_end)
{
	struct setup t = prepare(2 * PAGE, 0);
	char byte;
	int fd[2];

	MUST(pipe(fd));
	MUST_BE(fill_pipe(fd[1], 10000, 0), 10000);
	MUST_BE(splice(fd[0], NULL, t.p.c, NULL, t.len, 0), t.len);
	MUST_FAIL(splice(fd[0], NULL, t.p.c, NULL, 1, 0), ENXIO);
	MUST_BE(get_cursor(t.p.c), BASE + t.len);
	MUST_BE(read(fd[0], &byte, 1), 1);
	pattern_check(&byte, 1, SEED, t.len);
	close(fd[0]);
	close(fd[1]);
	finish(&t);
}
END_TEST

/* Of a file that is longer than the mapping nothing lands behind it. */
START_TEST(file_too_long)
{
	struct setup t = prepare(1 * MB, 0);
	int fd = pattern_file(2 * MB);
	struct rsock_iomap m;
	ssize_t n;

	MUST(riounmap(t.p.s, t.mem, 1 * MB));
	MUST_BE(riomap(t.p.s, t.mem, 100000, PROT_WRITE, 0, BASE), BASE);
	MUST_BE(list_maps(t.p.s, &m, 1), 1);
	sync_to(t.p.s, t.p.c);
	n = sendfile(t.p.c, fd, NULL, 2 * MB);
	CHECK(n <= 100000, "%zd", n);
	if (n < 0)
		MUST_BE(errno, ENXIO);
	n = n < 0 ? 0 : n;
	MUST_BE(get_cursor(t.p.c), BASE + n);
	MUST_FAIL(sendfile(t.p.c, fd, NULL, 2 * MB), ENXIO);
	MUST_BE(get_cursor(t.p.c), BASE + n);
	set_cursor(t.p.c, -1);
	sync_to(t.p.c, t.p.s);
	pattern_check(t.mem, n, SEED, 0);
	must_be_all(t.mem + n, t.len - n, 0);
	expect_alive(t.p.c, t.p.s);
	close(fd);
	close_pair(&t.p);
}
END_TEST

/* --- io_uring ------------------------------------------------------------------ */

static struct io_uring ring;

static bool has_uring(void)
{
	int err = io_uring_queue_init(4, &ring, 0);

	if (!err)
		io_uring_queue_exit(&ring);
	return !err;
}

static void ring_setup(void)
{
	int err = io_uring_queue_init(32, &ring, 0);

	CHECK(!err, "%s", err_name(-err));
}

static void ring_teardown(void)
{
	io_uring_queue_exit(&ring);
}

/* What the next one that completes returns, -errno if it fails */
static int completion(void)
{
	struct __kernel_timespec guard = { .tv_sec = hang_seconds() };
	struct io_uring_cqe *cqe;
	int err = io_uring_wait_cqe_timeout(&ring, &cqe, &guard), res;

	CHECK(!err, "nothing completes: %s", err_name(-err));
	res = cqe->res;
	io_uring_cqe_seen(&ring, cqe);
	return res;
}

static int submit(void)
{
	MUST_BE(io_uring_submit(&ring), 1);
	return completion();
}

static struct io_uring_sqe *prep_place(struct placement *m, int fd, int flags)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&ring);

	io_uring_prep_sendmsg(sqe, fd, &m->msg, MSG_RIOWRITE | flags);
	return sqe;
}

static int uring_place(int fd, const void *buf, size_t len, off_t offset, int flags,
		       int sqe_flags)
{
	struct placement m;

	init_placement(&m, buf, len, offset);
	prep_place(&m, fd, flags)->flags |= sqe_flags;
	return submit();
}

static struct io_uring_sqe *prep_send(int fd, const void *buf, size_t len, int flags)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&ring);

	io_uring_prep_send(sqe, fd, buf, len, flags);
	return sqe;
}

/* Several at once, one after the other, and a byte on the stream at last. */
START_TEST(uring_chain)
{
	size_t part = 5001, i;
	struct setup t = prepare(8 * part, 0);
	char *buf = memory(t.len), byte = 'u';
	struct placement m[8];

	set_cursor(t.p.c, -1);
	pattern_fill(buf, t.len, SEED, 0);
	for (i = 0; i < 8; i++) {
		/* The last bytes first */
		init_placement(&m[i], buf + (7 - i) * part, part, BASE + (7 - i) * part);
		prep_place(&m[i], t.p.c, 0)->flags |= IOSQE_IO_LINK;
	}
	prep_send(t.p.c, &byte, 1, 0);
	MUST_BE(io_uring_submit(&ring), 9);
	for (i = 0; i < 8; i++)
		MUST_BE(completion(), part);
	MUST_BE(completion(), 1);
	byte = 0;
	recv_all(t.p.s, &byte, 1);
	MUST_BE(byte, 'u');
	pattern_check(t.mem, t.len, SEED, 0);
	set_cursor(t.p.c, BASE + t.len);
	finish(&t);
}
END_TEST

/*
 * More than the send buffer takes: it ends short, as without io_uring, which
 * has no control message any more to try the rest, also not with MSG_WAITALL.
 */
static const struct { int flags, sqe_flags; } short_rows[] = {
	{ 0, 0 }, { MSG_WAITALL, 0 }, { MSG_WAITALL, IOSQE_ASYNC },
};

START_TEST(uring_short)
{
	struct setup t = prepare(1 * MB + 1, 16 * KB);
	char *buf = memory(t.len);
	size_t done = 0;
	int res;

	set_cursor(t.p.c, -1);
	pattern_fill(buf, t.len, SEED, 0);
	while (done < t.len) {
		res = uring_place(t.p.c, buf + done, t.len - done, BASE + done,
				  short_rows[_i].flags, short_rows[_i].sqe_flags);
		CHECK(res > 0 && res <= (int)(t.len - done), "%d", res);
		done += res;
	}
	set_cursor(t.p.c, BASE + t.len);
	finish(&t);
}
END_TEST

/* No room at all: it is tried again when there is, with the control message. */
START_TEST(uring_full)
{
	struct setup t = prepare(10000, 16 * KB);
	struct stream out = { .fd = t.p.c, .seed = 5 }, in = { .fd = t.p.s, .seed = 5 };
	struct io_uring_cqe *cqe;
	struct placement m;
	char *buf = memory(t.len);
	uint64_t before;
	int res;

	set_cursor(t.p.c, -1);
	pattern_fill(buf, t.len, SEED, 0);
	before = send_until_stuck(&out);
	init_placement(&m, buf, t.len, BASE);
	prep_place(&m, t.p.c, 0);
	MUST_BE(io_uring_submit(&ring), 1);
	MUST_BE(io_uring_peek_cqe(&ring, &cqe), -EAGAIN);
	recv_stream(&in, before, 16 * KB);
	res = completion();
	CHECK(res > 0, "%s", err_name(-res));
	expect_nothing(t.p.s);
	place_all(t.p.c, buf + res, t.len - res, BASE + res);
	set_cursor(t.p.c, BASE + t.len);
	finish(&t);
}
END_TEST

/* With a cursor it finds its way, whatever it takes at a time. */
START_TEST(uring_cursor)
{
	struct setup t = prepare(rows[_i].len, rows[_i].bufsize);
	char *buf = memory(t.len);
	size_t done = 0, n;

	pattern_fill(buf, t.len, SEED, 0);
	while (done < t.len) {
		n = at_most(t.len - done, rows[_i].chunk);
		prep_send(t.p.c, buf + done, n, MSG_WAITALL);
		MUST_BE(submit(), n);
		done += n;
		MUST_BE(get_cursor(t.p.c), BASE + done);
	}
	finish(&t);
}
END_TEST

/* The request is answered at once, and once more when the memory is free. */
static void expect_zerocopy(int len)
{
	struct __kernel_timespec guard = { .tv_sec = hang_seconds() };
	struct io_uring_cqe *cqe;
	unsigned int flags;
	int i;

	MUST_BE(io_uring_submit(&ring), 1);
	for (i = 0; i < 2; i++) {
		MUST_BE(io_uring_wait_cqe_timeout(&ring, &cqe, &guard), 0);
		flags = cqe->flags & (IORING_CQE_F_MORE | IORING_CQE_F_NOTIF);
		MUST_BE(flags, i ? IORING_CQE_F_NOTIF : IORING_CQE_F_MORE);
		if (!i)
			MUST_BE(cqe->res, len);
		io_uring_cqe_seen(&ring, cqe);
	}
}

/* Without copying: of any memory, of registered memory, and placed. */
START_TEST(uring_zerocopy)
{
	struct setup t = prepare(60000, 0);
	unsigned char *mem = memory(t.len), *back = malloc(t.len);
	struct iovec iov = { mem, t.len };
	struct placement m;
	int use;

	set_cursor(t.p.c, -1);
	MUST_BE(io_uring_register_buffers(&ring, &iov, 1), 0);
	for (use = 0; use < 3; use++) {
		struct io_uring_sqe *sqe = io_uring_get_sqe(&ring);

		pattern_fill(mem, t.len, use, 0);
		init_placement(&m, mem, t.len, BASE);
		if (use == 0)
			io_uring_prep_send_zc(sqe, t.p.c, mem, t.len, 0, 0);
		else if (use == 1)
			io_uring_prep_send_zc_fixed(sqe, t.p.c, mem, t.len, 0, 0, 0);
		else
			io_uring_prep_sendmsg_zc(sqe, t.p.c, &m.msg, MSG_RIOWRITE);
		expect_zerocopy(t.len);
		memset(mem, 0xee, t.len);
		if (use < 2) {
			recv_all(t.p.s, back, t.len);
			pattern_check(back, t.len, use, 0);
		}
	}
	sync_to(t.p.c, t.p.s);
	pattern_check(t.mem, t.len, 2, 0);
	free(back);
	close_pair(&t.p);
}
END_TEST

START_TEST(uring_error)
{
	struct setup t = prepare(PAGE, 0);
	char *buf = memory(2 * PAGE);
	struct placement m;

	memset(buf, 1, 2 * PAGE);
	MUST_BE(uring_place(t.p.c, buf, PAGE + 1, BASE, 0, 0), -ENXIO);
	MUST_BE(uring_place(t.p.c, buf, 1, BASE + PAGE, MSG_WAITALL, 0), -ENXIO);
	MUST_BE(uring_place(t.p.c, buf, 1, BASE - 1, 0, 0), -ENXIO);
	MUST_BE(uring_place(t.p.c, buf, 1, -1, 0, 0), -EINVAL);
	init_placement(&m, buf, 1, BASE);
	io_uring_prep_sendmsg(io_uring_get_sqe(&ring), t.p.c, &m.msg, 0);
	MUST_BE(submit(), -EINVAL);
	prep_send(t.p.c, buf, 1, MSG_RIOWRITE);
	MUST_BE(submit(), -EINVAL);
	prep_send(t.p.c, buf, PAGE + 1, MSG_WAITALL);
	MUST_BE(submit(), -ENXIO);
	MUST_BE(get_cursor(t.p.c), BASE);
	set_cursor(t.p.c, -1);
	sync_to(t.p.c, t.p.s);
	must_be_all(t.mem, PAGE, 0);
	expect_alive(t.p.c, t.p.s);
	close_pair(&t.p);
}
END_TEST

static void add_uring_case(struct Suite *suite)
{
	TCase *tc = add_case(suite, "io_uring", 60);

	tcase_add_checked_fixture(tc, ring_setup, ring_teardown);
	tcase_add_test(tc, uring_chain);
	tcase_add_loop_test(tc, uring_short, 0, ARRAY_SIZE(short_rows));
	tcase_add_test(tc, uring_full);
	tcase_add_loop_test(tc, uring_cursor, 0, ARRAY_SIZE(rows));
	tcase_add_test(tc, uring_zerocopy);
	tcase_add_test(tc, uring_error);
}

int main(int argc, char **argv)
{
	struct Suite *suite = suite_create("iomap_calls");
	TCase *tc;

	if (argc > 1 && !strcmp(argv[1], "--has-uring"))
		return !has_uring();
	tc = add_case(suite, "sendfile", 60);
	tcase_add_loop_test(tc, file, 0, ARRAY_SIZE(rows));
	tcase_add_test(tc, file_at_offset);
	tcase_add_test(tc, file_too_long);

	tc = add_case(suite, "splice", 60);
	tcase_add_loop_test(tc, pipe_writes, 0, ARRAY_SIZE(rows));
	tcase_add_test(tc, pipe_pages);
	tcase_add_test(tc, beyond_the_end);

	if (has_uring())
		add_uring_case(suite);
	return run_suite(suite);
}
