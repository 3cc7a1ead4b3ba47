// SPDX-License-Identifier: GPL-2.0
/*
 * Direct placement to a mapping of more than 2 GiB: it takes several entries of
 * the peer's table, each with a memory region of its own.
 */
#include <stdlib.h>

#include "iomap_util.h"

#define GB		(1024 * MB)
#define SKIP		17UL		/* of the first page */
#define LEN		(2 * GB + 1 * MB + 123)
#define BASE		((1L << 40) + 5)
#define AROUND		(64 * KB)
/* One region may end, and the next begin, at a multiple of this in memory */
#define STEP		(256 * MB)

/* What is not written is left at zero, which goes fast with huge pages. */
static char *big_memory(void)
{
	size_t whole = LEN + SKIP + AROUND;
	char *mem = memory(whole);

	madvise(mem, whole, MADV_HUGEPAGE);
	return mem + SKIP;
}

/* Bytes of the memory that are mapped, or lie behind */
static void must_be_zero(const char *mem, size_t from, size_t to)
{
	must_be_all(mem + from, to - from, 0);
}

static void write_row(struct pair *p, char *mem, size_t at, size_t len)
{
	char *buf = malloc(len);

	pattern_fill(buf, len, 3, at);
	MUST_BE(place(p->c, buf, len, BASE + at, 0), len);
	sync_to(p->c, p->s);
	pattern_check(mem + at, len, 3, at);
	must_be_zero(mem, at < AROUND ? 0 : at - AROUND, at);
	must_be_zero(mem, at + len, at + len + AROUND);
	memset(mem + at, 0, len);
	free(buf);
}

/* Over each place where a region may end, with one byte and with many. */
static void write_boundaries(struct pair *p, char *mem)
{
	size_t at;

	for (at = STEP - SKIP; at < LEN; at += STEP) {
		write_row(p, mem, at - 1, 1);
		write_row(p, mem, at, 1);
		write_row(p, mem, at - 1, 2);
		write_row(p, mem, at - 50001, 100000);
	}
	write_row(p, mem, 2 * GB - 1 * MB - 1, 2 * MB);
}

START_TEST(several_entries)
{
	struct pair p = open_pair(IPV4);
	char *mem = big_memory();
	struct rsock_iomap m;

	MUST_BE(riomap(p.s, mem, LEN, PROT_WRITE, 0, BASE), BASE);
	MUST_BE(list_maps(p.s, &m, 1), 1);
	MUST_BE(m.len, LEN);
	CHECK((size_t)pinned_kb() * KB >= LEN, "%ld KiB are pinned", pinned_kb());
	sync_to(p.s, p.c);
	write_row(&p, mem, 0, 1);
	write_row(&p, mem, 0, 5000);
	write_boundaries(&p, mem);
	write_row(&p, mem, LEN - 5000, 5000);
	write_row(&p, mem, LEN - 1, 1);
	MUST_FAIL(place(p.c, "xy", 2, BASE + LEN - 1, 0), ENXIO);
	MUST_FAIL(place(p.c, "x", 1, BASE - 1, 0), ENXIO);
	must_be_zero(mem, LEN - AROUND, LEN + AROUND);
	MUST(riounmap(p.s, mem, LEN));
	must_unpin();
	MUST_FAIL(place(p.c, "x", 1, BASE, 0), ENXIO);
	MUST_FAIL(place(p.c, "x", 1, BASE + LEN - 1, 0), ENXIO);
	expect_alive(p.c, p.s);
	close_pair(&p);
}
END_TEST

/* No room in the table for its end, so that nothing of it is mapped. */
START_TEST(no_room)
{
	struct pair p = pair_with_table(1);
	char *mem = big_memory(), *page = memory(PAGE);

	MUST_FAIL(riomap(p.s, mem, LEN, PROT_WRITE, 0, BASE), ENOMEM);
	MUST_BE(list_maps(p.s, NULL, 0), 0);
	must_unpin();
	MUST_BE(riomap(p.s, page, PAGE, PROT_WRITE, 0, BASE), BASE);
	wait_mapped(p.c, BASE, true);
	expect_alive(p.c, p.s);
	close_pair(&p);
	must_unpin();
}
END_TEST

/* The end of the connection unpins it as well. */
START_TEST(end_with_map)
{
	struct pair p = open_pair(IPV4);
	char *mem = big_memory();

	MUST_BE(riomap(p.s, mem, LEN, PROT_WRITE, 0, BASE), BASE);
	sync_to(p.s, p.c);
	write_row(&p, mem, LEN - 5000, 5000);
	close_pair(&p);
	must_unpin();
}
END_TEST

int main(void)
{
	struct Suite *suite = suite_create("iomap_big");
	TCase *tc = add_case(suite, "big", 240);

	tcase_add_test(tc, several_entries);
	tcase_add_test(tc, no_room);
	tcase_add_test(tc, end_with_map);
	return run_suite(suite);
}
