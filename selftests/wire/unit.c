// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of wire.c and win.c: the vectors that KUnit runs too, and the
 * model of two connected hosts.
 */

#include "checks.h"
#include "model.h"

#include <check.h>
#include <stdlib.h>

static void expect(const char *name, bool ok, const struct vec_fail *f)
{
	if (!ok)
		ck_abort_msg("%s: %s (%d): 0x%llx, not 0x%llx", name, f->what,
			     f->step, f->got, f->want);
}

START_TEST(conn)
{
	const struct vec_conn *v = &vec_conns[_i];
	struct vec_fail f = {};
	u8 *in = malloc(v->len);	/* so that reading too far is seen */
	bool ok;

	vec_conn_bytes(v, in);
	ok = vec_check_conn(v, in, &f);
	free(in);
	expect(v->name, ok, &f);
}

START_TEST(scale)
{
	struct vec_fail f = {};

	expect(vec_scales[_i].name, vec_check_scale(&vec_scales[_i], &f), &f);
}

START_TEST(scale_codes)
{
	struct vec_fail f = {};

	expect("all codes", vec_check_scale_codes(&f), &f);
}

START_TEST(scale_values)
{
	struct vec_fail f = {};

	expect("all values", vec_check_scale_values(&f), &f);
}

START_TEST(msg)
{
	struct vec_fail f = {};

	expect(vec_msgs[_i].name, vec_check_msg(&vec_msgs[_i], &f), &f);
}

START_TEST(msg_encode)
{
	struct vec_fail f = {};

	expect("encode", vec_check_msg_encode(&f), &f);
}

START_TEST(spare)
{
	struct vec_fail f = {};

	expect("spare", vec_check_spare(&f), &f);
}

START_TEST(sge)
{
	struct vec_fail f = {};

	expect(vec_sges[_i].name, vec_check_sge(&vec_sges[_i], &f), &f);
}

START_TEST(iomap)
{
	struct vec_fail f = {};

	expect(vec_iomaps[_i].name, vec_check_iomap(&vec_iomaps[_i], &f), &f);
}

START_TEST(note)
{
	struct vec_fail f = {};

	expect(vec_notes[_i].name, vec_check_note(&vec_notes[_i], &f), &f);
}

START_TEST(txwin)
{
	struct vec_fail f = {};

	expect(vec_txwins[_i].name, vec_check_txwin(&vec_txwins[_i], &f), &f);
}

START_TEST(rxwin)
{
	struct vec_fail f = {};

	expect(vec_rxwins[_i].name, vec_check_rxwin(&vec_rxwins[_i], &f), &f);
}

#define KERNEL(_ring, _first, _credits, _max_msg, _total)		\
	.kind = MODEL_KERNEL, .ring = (_ring), .first = (_first),	\
	.credits = (_credits), .max_msg = (_max_msg), .total = (_total)
#define USER(_ring, _credits, _max_msg, _total)				\
	.kind = MODEL_USER, .ring = (_ring), .credits = (_credits),	\
	.max_msg = (_max_msg), .total = (_total)

static const struct model_cfg models[] = {
	{
		.name = "kernel kernel, defaults", .seeds = 4,
		.host = { { KERNEL(131072, 65536, 384, 65536, 700000) },
			  { KERNEL(131072, 65536, 384, 65536, 700000) } },
	}, {
		.name = "kernel kernel, tiny", .seeds = 20,
		.host = { { KERNEL(7, 3, 1, 9, 2000), .eager = true },
			  { KERNEL(1, 1, 2, 9, 2000) } },
	}, {
		.name = "kernel kernel, small", .seeds = 20,
		.host = { { KERNEL(64, 64, 3, 100, 20000) },
			  { KERNEL(61, 1, 16, 100, 20000),
			    .small_grants = true, .eager = true } },
	}, {
		.name = "kernel kernel, odd sizes", .seeds = 10,
		.host = { { KERNEL(4099, 17, 50, 1500, 200000), .eager = true },
			  { KERNEL(100003, 50000, 20, 70000, 200000),
			    .small_grants = true } },
	}, {
		.name = "kernel kernel, sequence wraps", .seeds = 1,
		.host = { { KERNEL(100000, 99999, 0xfffe, 1, 200000) },
			  { KERNEL(500, 250, 77, 2, 200000) } },
	}, {
		.name = "kernel user, defaults", .seeds = 4,
		.host = { { KERNEL(131072, 65536, 384, 65536, 700000) },
			  { USER(131072, 384, 65536, 700000) } },
	}, {
		.name = "kernel user, small", .seeds = 20,
		.host = { { KERNEL(61, 30, 3, 100, 20000), .eager = true },
			  { USER(32, 16, 100, 20000) } },
	}, {
		.name = "kernel user, tiny", .seeds = 20,
		.host = { { KERNEL(1, 1, 1, 10, 2000) },
			  { USER(2, 16, 10, 2000) } },
	}, {
		.name = "kernel user, grants in parts", .seeds = 10,
		.host = { { KERNEL(50001, 50001, 100, 5000, 200000),
			    .small_grants = true, .eager = true },
			  { USER(8192, 384, 65536, 200000) } },
	}, {
		.name = "kernel user, table of 3 entries", .seeds = 10,
		.host = { { KERNEL(1000, 500, 5, 100, 50000), .eager = true },
			  { USER(2000, 16, 300, 50000), .entries = 3 } },
	}, {
		.name = "kernel user, table of 64 entries", .seeds = 10,
		.host = { { KERNEL(999, 1, 1000, 300, 50000),
			    .small_grants = true },
			  { USER(2000, 16, 300, 50000), .entries = 64 } },
	}, {
		.name = "kernel user, sequence wraps", .seeds = 1,
		.host = { { KERNEL(60000, 30000, 0xfffe, 1, 200000) },
			  { USER(200000, 0xfffe, 1, 200000) } },
	}, {
		.name = "kernel user, other byte order", .seeds = 10,
		.host = { { KERNEL(5000, 2500, 384, 65536, 200000) },
			  { USER(4000, 384, 65536, 200000), .foreign = true } },
	}, {
		.name = "kernel user, iomap entries", .seeds = 10,
		.host = { { KERNEL(5000, 2500, 16, 300, 300000),
			    .iomaps = true },
			  { USER(4000, 16, 300, 300000), .iomaps = true } },
	}, {
		.name = "kernel kernel, iomap entries", .seeds = 10,
		.host = { { KERNEL(5000, 2500, 3, 300, 300000),
			    .iomaps = true },
			  { KERNEL(4000, 1000, 16, 300, 300000),
			    .iomaps = true } },
	}, {
		.name = "kernel kernel, notes", .seeds = 10,
		.host = { { KERNEL(5000, 2500, 3, 300, 300000),
			    .notes = true },
			  { KERNEL(4000, 1000, 16, 300, 300000),
			    .notes = true, .iomaps = true } },
	}, {
		.name = "kernel kernel, notes, tiny", .seeds = 20,
		.host = { { KERNEL(64, 64, 1, 100, 20000), .notes = true },
			  { KERNEL(61, 30, 2, 100, 20000), .notes = true } },
	}, {
		.name = "kernel kernel, notes, sequence wraps", .seeds = 1,
		.host = { { KERNEL(20000, 9999, 300, 10, 400000),
			    .notes = true },
			  { KERNEL(5000, 2500, 200, 12, 400000),
			    .notes = true } },
	}, {
		.name = "kernel user, foreign iomap entries", .seeds = 10,
		.host = { { KERNEL(5000, 2500, 16, 300, 300000),
			    .iomaps = true },
			  { USER(4000, 16, 300, 300000), .iomaps = true,
			    .foreign = true } },
	}, {
		.name = "kernel kernel, rings grow", .seeds = 10,
		.host = { { KERNEL(8192, 4096, 384, 65536, 700000),
			    .grow = 131072 },
			  { KERNEL(8192, 4096, 384, 65536, 700000),
			    .grow = 131072 } },
	}, {
		.name = "kernel kernel, rings grow, tiny", .seeds = 40,
		.host = { { KERNEL(7, 3, 1, 9, 2000), .grow = 5,
			    .eager = true },
			  { KERNEL(1, 1, 2, 9, 2000), .grow = 1 } },
	}, {
		.name = "kernel kernel, rings grow, odd sizes", .seeds = 40,
		.host = { { KERNEL(61, 30, 3, 100, 20000), .grow = 1009,
			    .small_grants = true, .eager = true },
			  { KERNEL(4099, 17, 50, 1500, 200000), .grow = 997,
			    .eager = true } },
	}, {
		.name = "kernel kernel, rings grow, notes", .seeds = 10,
		.host = { { KERNEL(100, 50, 3, 300, 100000), .grow = 5000,
			    .notes = true },
			  { KERNEL(64, 64, 16, 300, 100000), .grow = 4000,
			    .notes = true, .iomaps = true } },
	}, {
		.name = "kernel user, ring grows", .seeds = 10,
		.host = { { KERNEL(8192, 4096, 384, 65536, 700000),
			    .grow = 131072 },
			  { USER(131072, 384, 65536, 700000) } },
	}, {
		.name = "kernel user, ring grows, tiny", .seeds = 40,
		.host = { { KERNEL(1, 1, 1, 10, 2000), .grow = 3 },
			  { USER(2, 16, 10, 2000) } },
	}, {
		.name = "kernel user, ring grows, odd sizes", .seeds = 40,
		.host = { { KERNEL(61, 30, 3, 100, 20000), .grow = 1009,
			    .small_grants = true, .eager = true },
			  { USER(32, 16, 100, 20000), .entries = 3,
			    .foreign = true } },
	}, {
		/* tests the model */
		.name = "user user", .seeds = 4,
		.host = { { USER(4000, 16, 65536, 200000) },
			  { USER(131072, 384, 65536, 200000),
			    .foreign = true } },
	},
};

START_TEST(model)
{
	const struct model_cfg *cfg = &models[_i];
	const char *why;
	int seed;

	for (seed = 1; seed <= cfg->seeds; seed++)
		if (!model_run(cfg, seed, &why))
			ck_abort_msg("%s, seed %d: %s", cfg->name, seed, why);
}

static typeof(suite_create("")) suite;

/* One test case per vector, so that each is reported by its name */
static void add(typeof(conn) test, const char *name, int i)
{
	__auto_type tc = tcase_create(name);

	tcase_set_timeout(tc, 300);
	tcase_add_loop_test(tc, test, i, i + 1);
	suite_add_tcase(suite, tc);
}

int main(void)
{
	typeof(srunner_create(suite)) runner;
	int failed, i;

	suite = suite_create("wire");
	for (i = 0; i < VEC_COUNT(vec_conns); i++)
		add(conn, vec_conns[i].name, i);
	for (i = 0; i < VEC_COUNT(vec_scales); i++)
		add(scale, vec_scales[i].name, i);
	add(scale_codes, "all", 0);
	add(scale_values, "all", 0);
	for (i = 0; i < VEC_COUNT(vec_msgs); i++)
		add(msg, vec_msgs[i].name, i);
	add(msg_encode, "all", 0);
	add(spare, "all", 0);
	for (i = 0; i < VEC_COUNT(vec_sges); i++)
		add(sge, vec_sges[i].name, i);
	for (i = 0; i < VEC_COUNT(vec_iomaps); i++)
		add(iomap, vec_iomaps[i].name, i);
	for (i = 0; i < VEC_COUNT(vec_notes); i++)
		add(note, vec_notes[i].name, i);
	for (i = 0; i < VEC_COUNT(vec_txwins); i++)
		add(txwin, vec_txwins[i].name, i);
	for (i = 0; i < VEC_COUNT(vec_rxwins); i++)
		add(rxwin, vec_rxwins[i].name, i);
	for (i = 0; i < VEC_COUNT(models); i++)
		add(model, models[i].name, i);

	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
