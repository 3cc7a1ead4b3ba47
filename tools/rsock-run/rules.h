/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Rules: which sockets become AF_RSOCK. The launcher checks those of a file,
 * and the library obeys them.
 */
#ifndef RSOCK_RUN_RULES_H
#define RSOCK_RUN_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#define RULES_MAX	256

enum rule_direction {
	RULE_CONNECT	= 1,
	RULE_LISTEN	= 2,
};

enum rule_action {
	RULE_AUTO,		/* AF_RSOCK if the address has an RDMA device */
	RULE_RSOCK,		/* AF_RSOCK, or the call fails */
	RULE_TCP,
};

/* An address and port without the difference of IPv4 and IPv4 in IPv6 */
struct host {
	int family;		/* AF_INET or AF_INET6 */
	uint8_t addr[16];	/* of AF_INET the first four */
	uint16_t port;
};

struct rule {
	int directions;
	enum rule_action action;
	struct host from;	/* family 0: any address; port is the lowest */
	unsigned int prefix;	/* bits of the address that count */
	uint16_t port_max;
};

struct rules {
	int n;
	struct rule rule[RULES_MAX];
};

/* False for what is no address of IP. */
bool host_of(struct host *h, const struct sockaddr *addr, socklen_t len);
bool host_is_any(const struct host *h);

/*
 * rule_parse() - understand "direction address port action"
 * @line: without comment and newline, not terminated
 *
 * Return: NULL, or what is wrong with it.
 */
const char *rule_parse(struct rule *r, const char *line, size_t len);

/* Lines of rules, as in the environment; false if one of them is wrong. */
bool rules_parse(struct rules *rules, const char *text);

/* The first rule that matches, or -1. */
int rules_find(const struct rules *rules, enum rule_direction direction,
	       const struct host *h);

#endif /* RSOCK_RUN_RULES_H */
