// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit suites of the wire protocol code, over the vectors of vectors.h.
 *
 * Brings copies of wire.c and win.c of its own, so that it runs in a kernel
 * without RDMA.
 */

#include "../wire.c"
#include "../win.c"
#include "checks.h"

#include <kunit/test.h>
#include <linux/module.h>

static void expect(struct kunit *test, bool ok, const struct vec_fail *f)
{
	if (ok)
		return;
	KUNIT_FAIL(test, "%s (%d): 0x%llx, not 0x%llx\n", f->what, f->step,
		   f->got, f->want);
}

static void conn_desc(const struct vec_conn *v, char *desc)
{
	strscpy(desc, v->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(conn, vec_conns, conn_desc);

static void conn_test(struct kunit *test)
{
	const struct vec_conn *v = test->param_value;
	struct vec_fail f = {};
	u8 *in;

	in = kunit_kmalloc(test, v->len ?: 1, GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, in);
	vec_conn_bytes(v, in);
	expect(test, vec_check_conn(v, in, &f), &f);
}

static void scale_desc(const struct vec_scale *v, char *desc)
{
	strscpy(desc, v->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(scale, vec_scales, scale_desc);

static void scale_test(struct kunit *test)
{
	struct vec_fail f = {};

	expect(test, vec_check_scale(test->param_value, &f), &f);
}

static void scale_codes_test(struct kunit *test)
{
	struct vec_fail f = {};

	expect(test, vec_check_scale_codes(&f), &f);
}

static void scale_values_test(struct kunit *test)
{
	struct vec_fail f = {};

	expect(test, vec_check_scale_values(&f), &f);
}

static void msg_desc(const struct vec_msg *v, char *desc)
{
	strscpy(desc, v->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(msg, vec_msgs, msg_desc);

static void msg_test(struct kunit *test)
{
	struct vec_fail f = {};

	expect(test, vec_check_msg(test->param_value, &f), &f);
}

static void msg_encode_test(struct kunit *test)
{
	struct vec_fail f = {};

	expect(test, vec_check_msg_encode(&f), &f);
}

static void spare_test(struct kunit *test)
{
	struct vec_fail f = {};

	expect(test, vec_check_spare(&f), &f);
}

static void sge_desc(const struct vec_sge *v, char *desc)
{
	strscpy(desc, v->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(sge, vec_sges, sge_desc);

static void sge_test(struct kunit *test)
{
	struct vec_fail f = {};

	expect(test, vec_check_sge(test->param_value, &f), &f);
}

static void iomap_desc(const struct vec_iomap *v, char *desc)
{
	strscpy(desc, v->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(iomap, vec_iomaps, iomap_desc);

static void iomap_test(struct kunit *test)
{
	struct vec_fail f = {};

	expect(test, vec_check_iomap(test->param_value, &f), &f);
}

static void note_desc(const struct vec_note *v, char *desc)
{
	strscpy(desc, v->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(note, vec_notes, note_desc);

static void note_test(struct kunit *test)
{
	struct vec_fail f = {};

	expect(test, vec_check_note(test->param_value, &f), &f);
}

static struct kunit_case rsock_wire_cases[] = {
	KUNIT_CASE_PARAM(conn_test, conn_gen_params),
	KUNIT_CASE_PARAM(scale_test, scale_gen_params),
	KUNIT_CASE(scale_codes_test),
	KUNIT_CASE(scale_values_test),
	KUNIT_CASE_PARAM(msg_test, msg_gen_params),
	KUNIT_CASE(msg_encode_test),
	KUNIT_CASE(spare_test),
	KUNIT_CASE_PARAM(sge_test, sge_gen_params),
	KUNIT_CASE_PARAM(iomap_test, iomap_gen_params),
	KUNIT_CASE_PARAM(note_test, note_gen_params),
	{}
};

static struct kunit_suite rsock_wire_suite = {
	.name = "rsock_wire",
	.test_cases = rsock_wire_cases,
};

static void txwin_desc(const struct vec_txwin *v, char *desc)
{
	strscpy(desc, v->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(txwin, vec_txwins, txwin_desc);

static void txwin_test(struct kunit *test)
{
	struct vec_fail f = {};

	expect(test, vec_check_txwin(test->param_value, &f), &f);
}

static void rxwin_desc(const struct vec_rxwin *v, char *desc)
{
	strscpy(desc, v->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(rxwin, vec_rxwins, rxwin_desc);

static void rxwin_test(struct kunit *test)
{
	struct vec_fail f = {};

	expect(test, vec_check_rxwin(test->param_value, &f), &f);
}

static struct kunit_case rsock_win_cases[] = {
	KUNIT_CASE_PARAM(txwin_test, txwin_gen_params),
	KUNIT_CASE_PARAM(rxwin_test, rxwin_gen_params),
	{}
};

static struct kunit_suite rsock_win_suite = {
	.name = "rsock_win",
	.test_cases = rsock_win_cases,
};

kunit_test_suites(&rsock_wire_suite, &rsock_win_suite);

MODULE_DESCRIPTION("KUnit tests of AF_RSOCK");
MODULE_LICENSE("GPL");
