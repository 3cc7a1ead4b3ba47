// SPDX-License-Identifier: GPL-2.0
/*
 * The rules of rsock-run: what is understood, and which one matches.
 */
#include "../tools/rsock-run/rules.h"
#include "util.h"

static const char * const bad[] = {
	"",
	"connect",
	"connect any",
	"connect any any",
	"connect any any rsock more",
	"both any any rsock",
	"Connect any any rsock",
	"connect 10.0.0.300 any rsock",
	"connect 10.0.0 any rsock",
	"connect 10.0.0.0/33 any rsock",
	"connect 10.0.0.0/ any rsock",
	"connect 10.0.0.0/x any rsock",
	"connect 10.0.0.0/-1 any rsock",
	"connect fd00::/129 any rsock",
	"connect fd00:::1 any rsock",
	"connect host.name any rsock",
	"connect any 65536 rsock",
	"connect any -1 rsock",
	"connect any 1- rsock",
	"connect any -2 rsock",
	"connect any 2-1 rsock",
	"connect any 1-2-3 rsock",
	"connect any 99999999999999999999 rsock",
	"connect any http rsock",
	"connect any any udp",
	"connect any any rsockets",
	"listen 1111:2222:3333:4444:5555:6666:7777:8888:9999:aaaa:bbbb any tcp",
};

START_TEST(refused)
{
	struct rule r;

	CHECK(rule_parse(&r, bad[_i], strlen(bad[_i])), "'%s' is understood", bad[_i]);
}
END_TEST

/* Which rule of a text matches: the first is 0; -1 for none */
static const struct {
	const char *rules;
	enum rule_direction direction;
	const char *addr;
	int port, match;
} rows[] = {
	{ "", RULE_CONNECT, "10.0.0.1", 80, -1 },
	{ "any any any tcp", RULE_CONNECT, "10.0.0.1", 80, 0 },
	{ "any any any tcp", RULE_LISTEN, "fd00::1", 0, 0 },
	{ "  any\tany any  tcp ", RULE_LISTEN, "fd00::1", 65535, 0 },
	{ "connect any any tcp\nlisten any any auto\n", RULE_LISTEN, "10.0.0.1", 80, 1 },
	{ "connect any any tcp\nlisten any any auto", RULE_CONNECT, "10.0.0.1", 80, 0 },
	{ "any any 80 tcp\nany any 80 rsock", RULE_CONNECT, "10.0.0.1", 80, 0 },
	{ "any any 80 tcp", RULE_CONNECT, "10.0.0.1", 81, -1 },
	{ "any any 80-90 tcp", RULE_CONNECT, "10.0.0.1", 79, -1 },
	{ "any any 80-90 tcp", RULE_CONNECT, "10.0.0.1", 90, 0 },
	{ "any any 80-90 tcp", RULE_CONNECT, "10.0.0.1", 91, -1 },
	{ "any any 0-65535 tcp", RULE_CONNECT, "10.0.0.1", 65535, 0 },
	{ "any 10.0.0.1 any tcp", RULE_CONNECT, "10.0.0.1", 80, 0 },
	{ "any 10.0.0.1 any tcp", RULE_CONNECT, "10.0.0.2", 80, -1 },
	{ "any 10.0.0.0/8 any tcp", RULE_CONNECT, "10.255.255.255", 80, 0 },
	{ "any 10.0.0.0/8 any tcp", RULE_CONNECT, "11.0.0.0", 80, -1 },
	{ "any 10.0.0.0/31 any tcp", RULE_CONNECT, "10.0.0.1", 80, 0 },
	{ "any 10.0.0.0/31 any tcp", RULE_CONNECT, "10.0.0.2", 80, -1 },
	{ "any 10.1.2.3/0 any tcp", RULE_CONNECT, "99.0.0.2", 80, 0 },
	{ "any 0.0.0.0/0 any tcp", RULE_CONNECT, "fd00::1", 80, -1 },
	{ "any ::/0 any tcp", RULE_CONNECT, "fd00::1", 80, 0 },
	{ "any ::/0 any tcp", RULE_CONNECT, "10.0.0.1", 80, -1 },
	{ "any 0.0.0.0 any tcp", RULE_LISTEN, "0.0.0.0", 80, 0 },
	{ "any :: any tcp", RULE_LISTEN, "::", 80, 0 },
	{ "any fd00::/13 any tcp", RULE_CONNECT, "fd07::1", 80, 0 },
	{ "any fd00::/13 any tcp", RULE_CONNECT, "fd08::1", 80, -1 },
	{ "any fd00::1 any tcp", RULE_CONNECT, "fd00::1", 80, 0 },
	{ "any fd00::1 any tcp", RULE_CONNECT, "fd00::2", 80, -1 },
	{ "any 10.0.0.0/8 any tcp", RULE_CONNECT, "::ffff:10.0.0.1", 80, 0 },
	{ "any ::/0 any tcp", RULE_CONNECT, "::ffff:10.0.0.1", 80, -1 },
};

START_TEST(match)
{
	struct addr a = make_addr(rows[_i].addr, rows[_i].port);
	static struct rules rules;
	struct host h;
	int rule;

	CHECK(rules_parse(&rules, rows[_i].rules), "'%s' is not understood", rows[_i].rules);
	CHECK(host_of(&h, &a.sa, a.len), "no host: %s", rows[_i].addr);
	rule = rules_find(&rules, rows[_i].direction, &h);
	CHECK(rule == rows[_i].match, "'%s' for %s port %d: %d, expected %d", rows[_i].rules,
	      rows[_i].addr, rows[_i].port, rule, rows[_i].match);
}
END_TEST

START_TEST(actions)
{
	static struct rules rules;

	CHECK(rules_parse(&rules, "any any any rsock\nany any any tcp\nany any any auto\n"),
	      "not understood");
	MUST_BE(rules.n, 3);
	MUST_BE(rules.rule[0].action, RULE_RSOCK);
	MUST_BE(rules.rule[1].action, RULE_TCP);
	MUST_BE(rules.rule[2].action, RULE_AUTO);
}
END_TEST

START_TEST(as_many_as_there_may_be)
{
	static char text[RULES_MAX * 20 + 20];
	static struct rules rules;
	int i;

	for (i = 0; i < RULES_MAX; i++)
		strcat(text, "any any any tcp\n");
	CHECK(rules_parse(&rules, text), "not understood");
	MUST_BE(rules.n, RULES_MAX);
	strcat(text, "any any any tcp\n");
	CHECK(!rules_parse(&rules, text), "understood");
}
END_TEST

START_TEST(no_host)
{
	struct addr a = make_addr("10.0.0.1", 80), six = make_addr("fd00::1", 80);
	struct host h;

	CHECK(!host_of(&h, NULL, a.len), "without address");
	CHECK(!host_of(&h, &a.sa, a.len - 1), "too short");
	CHECK(!host_of(&h, &six.sa, a.len), "too short for IPv6");
	a.sa.sa_family = AF_UNIX;
	CHECK(!host_of(&h, &a.sa, a.len), "of another family");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("rules");
	TCase *tc = add_case(suite, "rules", 10);

	tcase_add_loop_test(tc, refused, 0, ARRAY_SIZE(bad));
	tcase_add_loop_test(tc, match, 0, ARRAY_SIZE(rows));
	tcase_add_test(tc, actions);
	tcase_add_test(tc, as_many_as_there_may_be);
	tcase_add_test(tc, no_host);
	return run_suite(suite);
}
