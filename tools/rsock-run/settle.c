// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What a socket is to become, by the rules and by what devices there are.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "preload.h"

static enum kind choose_auto(enum rule_direction direction, const struct sockaddr *addr,
			     socklen_t len, const char **why)
{
	bool path = direction == RULE_LISTEN ? path_listen(addr, len, why) :
					       path_connect(addr, len, why);

	return path ? KIND_RSOCK : KIND_TCP;
}

static enum kind choose(const struct rules *rules, int rule, enum rule_direction direction,
			const struct sockaddr *addr, socklen_t len, const char **why)
{
	enum rule_action action = rule < 0 ? RULE_AUTO : rules->rule[rule].action;

	*why = "as it says";
	switch (action) {
	case RULE_RSOCK:
		return KIND_RSOCK;
	case RULE_TCP:
		return KIND_TCP;
	default:
		return choose_auto(direction, addr, len, why);
	}
}

static void log_choice(int fd, enum rule_direction direction, const struct host *h,
		       enum kind wanted, int rule, const char *why)
{
	char addr[INET6_ADDRSTRLEN] = "?", number[20] = "no rule";

	if (!log_wanted())
		return;
	inet_ntop(h->family, h->addr, addr, sizeof(addr));
	if (rule >= 0)
		snprintf(number, sizeof(number), "rule %d", rule + 1);
	log_line("fd %d: %s %s port %d: %s (%s: %s)", fd,
		 direction == RULE_LISTEN ? "listen" : "connect", addr, h->port,
		 wanted == KIND_RSOCK ? "AF_RSOCK" : "TCP", number, why);
}

int settle(int fd, int shown, enum rule_direction direction, const struct sockaddr *addr,
	   socklen_t len, struct registrations *regs)
{
	const struct config *c = config();
	enum kind kind, wanted;
	struct name name;
	const char *why;
	struct host h;
	int domain, rule, ret;

	if (c->broken || !host_of(&h, addr, len))
		return 0;
	kind = socket_kind(fd, &domain);
	if (kind == KIND_OTHER || domain != addr->sa_family || !socket_idle(fd))
		return 0;
	if (direction == RULE_LISTEN && socket_bound(fd, &name))
		return 0;

	rule = rules_find(&c->rules, direction, &h);
	wanted = choose(&c->rules, rule, direction, addr, len, &why);
	log_choice(shown, direction, &h, wanted, rule, why);
	if (kind == wanted)
		return 0;
	ret = socket_exchange(fd, wanted, addr->sa_family, regs);
	if (ret)
		log_line("fd %d: cannot be changed: %s", shown, strerrordesc_np(errno));
	return ret;
}
