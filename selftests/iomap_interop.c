// SPDX-License-Identifier: GPL-2.0
/*
 * Direct data placement between user-space rsockets and AF_RSOCK: this program
 * is written for rsockets, and each end of it runs with either (see
 * iomap_interop.sh).
 *
 *	iomap_interop ADDRESS PORT		waits for the other end
 *	iomap_interop ADDRESS PORT FROM		connects to it
 *
 * The ends take turns: one maps, unmaps and maps again, at odd addresses, and
 * says so; the other writes into some of it, and says so; the first checks all
 * of its memory, which must be as if it had been told only.
 *
 * What rsockets cannot is left out: writes across mappings, and closing before
 * all is unmapped. Between two ends of rsockets each mapping costs a credit for
 * ever, so there may not be too many.
 */
#include <rdma/rsocket.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "util.h"

#define SLOTS		5	/* mappings at a time */
#define MAX_LEN		(200 * KB)
#define BUF_LEN		(MAX_LEN + 2 * 4096)
#define MAX_WRITES	3	/* to each in a turn */

/* What the ends tell each other. Both are on the same machine. */
struct mapped {
	uint64_t offset;
	uint64_t len;		/* 0: not mapped */
};

struct written {
	uint32_t at;
	uint32_t len;		/* 0: no write */
	uint32_t seed;
};

struct target {
	uint8_t *mem;
	size_t skip;
	struct mapped map;
};

static struct target targets[SLOTS];
static uint8_t *scratch;
static uint32_t seed;

static uint32_t any(uint32_t below)
{
	return (uint32_t)random() % below;
}

static void tell(int fd, const void *buf, size_t len)
{
	size_t done = 0;

	while (done < len)
		done += MUST(rsend(fd, buf + done, len - done, 0));
}

static void hear(int fd, void *buf, size_t len)
{
	size_t done = 0;
	ssize_t n;

	while (done < len) {
		n = MUST(rrecv(fd, buf + done, len - done, 0));
		CHECK(n, "the other end is gone");
		done += n;
	}
}

/* --- the side that maps --- */

static void unmap(int fd, struct target *t)
{
	MUST(riounmap(fd, t->mem + t->skip, t->map.len));
	t->map.len = 0;
}

/* Offsets of each slot are its own, except that it has one chosen at times. */
static void map(int fd, struct target *t, bool same_offset)
{
	off_t offset = ((off_t)(t - targets) << 32) + any(100000);

	if (same_offset)
		offset = t->map.offset;
	else if (any(8) == 0)
		offset = -1;
	t->skip = any(4096);
	t->map.len = any(3) ? 1 + any(MAX_LEN) : 1 + any(5000);
	t->map.offset = MUST(riomap(fd, t->mem + t->skip, t->map.len, PROT_WRITE, 0, offset));
	if (offset >= 0)
		MUST_BE(t->map.offset, offset);
}

static void change(int fd)
{
	struct target *t;
	bool was;

	for (t = targets; t < targets + SLOTS; t++) {
		was = t->map.len;
		if (was && any(2))
			continue;
		if (was)
			unmap(fd, t);
		if (any(3))
			map(fd, t, was && any(2));
	}
}

static void check(int fd, struct target *t)
{
	struct written w[MAX_WRITES];
	size_t i;

	hear(fd, w, sizeof(w));
	memset(scratch, 0xa5, BUF_LEN);
	for (i = 0; i < MAX_WRITES; i++)
		pattern_fill(scratch + t->skip + w[i].at, w[i].len, w[i].seed, 0);
	for (i = 0; i < BUF_LEN; i++)
		CHECK(t->mem[i] == scratch[i], "slot %zd, byte %zd of %zu is 0x%x, not 0x%x",
		      t - targets, i - t->skip, (size_t)t->map.len, t->mem[i], scratch[i]);
}

static void be_target(int fd)
{
	int i;

	change(fd);
	for (i = 0; i < SLOTS; i++) {
		memset(targets[i].mem, 0xa5, BUF_LEN);
		tell(fd, &targets[i].map, sizeof(targets[i].map));
	}
	for (i = 0; i < SLOTS; i++)
		check(fd, &targets[i]);
}

/* --- the side that writes --- */

static void write_some(int fd, const struct mapped *m, struct written *w)
{
	size_t done = 0, n;

	w->at = any(m->len);
	w->len = any(4) ? 1 + any(m->len - w->at) : m->len - w->at;
	w->seed = seed++;
	pattern_fill(scratch, w->len, w->seed, 0);
	while (done < w->len) {
		n = MUST((ssize_t)riowrite(fd, scratch + done, w->len - done,
					   m->offset + w->at + done, 0));
		CHECK(n, "offset %llu is not mapped", (unsigned long long)m->offset + w->at);
		done += n;
	}
}

static void be_writer(int fd)
{
	struct written w[SLOTS][MAX_WRITES] = { };
	struct mapped m[SLOTS];
	uint32_t i, k, n;

	hear(fd, m, sizeof(m));
	for (i = 0; i < SLOTS; i++) {
		n = m[i].len ? any(MAX_WRITES + 1) : 0;
		for (k = 0; k < n; k++)
			write_some(fd, &m[i], &w[i][k]);
	}
	tell(fd, w, sizeof(w));
}

/* --- both --- */

static int meet(int argc, char **argv)
{
	struct addr where = make_addr(argv[1], atoi(argv[2])), from;
	int size = SLOTS + 1, listener, fd;

	fd = MUST(rsocket(where.sa.sa_family, SOCK_STREAM, 0));
	MUST(rsetsockopt(fd, SOL_RDMA, RDMA_IOMAPSIZE, &size, sizeof(size)));
	if (argc > 3) {
		from = make_addr(argv[3], 0);
		MUST(rbind(fd, &from.sa, from.len));
		MUST(rconnect(fd, &where.sa, where.len));
		return fd;
	}
	listener = fd;
	MUST(rbind(listener, &where.sa, where.len));
	MUST(rlisten(listener, 1));
	fd = MUST(raccept(listener, NULL, NULL));
	rclose(listener);
	return fd;
}

int main(int argc, char **argv)
{
	int fd, i, rounds = full_run() ? 40 : 15;
	bool connects = argc > 3;
	char end;

	standalone();
	CHECK(argc == 3 || argc == 4, "usage: iomap_interop ADDRESS PORT [FROM]");
	srandom(connects + 1);
	scratch = malloc(BUF_LEN);
	for (i = 0; i < SLOTS; i++)
		targets[i].mem = malloc(BUF_LEN);
	fd = meet(argc, argv);
	for (i = 0; i < 2 * rounds; i++) {
		if (i % 2 == connects)
			be_target(fd);
		else
			be_writer(fd);
	}
	for (i = 0; i < SLOTS; i++)
		if (targets[i].map.len)
			unmap(fd, &targets[i]);
	/* One after the other: rsockets may wait for a peer that is gone. */
	tell(fd, "e", 1);
	hear(fd, &end, 1);
	if (!connects)
		MUST_BE(rrecv(fd, &end, 1, 0), 0);
	MUST(rclose(fd));
	return 0;
}
