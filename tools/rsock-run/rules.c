// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * No locks and no memory from the heap: the library may be in a signal handler,
 * or in a child that a program with threads has forked.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#include "rules.h"

#define BLANKS	" \t\r"

/* Hosts */

bool host_of(struct host *h, const struct sockaddr *addr, socklen_t len)
{
	const struct sockaddr_in *in = (const void *)addr;
	const struct sockaddr_in6 *in6 = (const void *)addr;

	memset(h, 0, sizeof(*h));
	if (!addr || len < sizeof(*in))
		return false;
	if (addr->sa_family == AF_INET) {
		memcpy(h->addr, &in->sin_addr, 4);
		h->port = ntohs(in->sin_port);
	} else if (addr->sa_family == AF_INET6 && len >= sizeof(*in6)) {
		memcpy(h->addr, &in6->sin6_addr, 16);
		h->port = ntohs(in6->sin6_port);
	} else {
		return false;
	}
	h->family = addr->sa_family;
	if (h->family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&in6->sin6_addr)) {
		h->family = AF_INET;
		memmove(h->addr, h->addr + 12, 4);
		memset(h->addr + 4, 0, 12);
	}
	return true;
}

bool host_is_any(const struct host *h)
{
	static const struct host any;

	return !memcmp(h->addr, any.addr, sizeof(any.addr));
}

/* Parsing */

struct word {
	const char *at;
	size_t len;
};

/* The next word of a line, of length 0 at its end */
static struct word next_word(const char **line, const char *end)
{
	struct word w;

	while (*line < end && strchr(BLANKS, **line))
		++*line;
	w.at = *line;
	while (*line < end && !strchr(BLANKS, **line))
		++*line;
	w.len = *line - w.at;
	return w;
}

static bool is(struct word w, const char *text)
{
	return w.len == strlen(text) && !memcmp(w.at, text, w.len);
}

/* The part before a separator; @w becomes what is behind it, if it is there */
static struct word split(struct word *w, char separator)
{
	const char *at = memchr(w->at, separator, w->len);
	struct word first = *w;

	if (at) {
		first.len = at - w->at;
		w->len -= first.len + 1;
		w->at = at + 1;
	}
	return first;
}

/* -1 if it is not a number up to @max */
static int number(struct word w, int max)
{
	int n = 0;
	size_t i;

	for (i = 0; i < w.len; i++) {
		if (w.at[i] < '0' || w.at[i] > '9')
			return -1;
		n = n * 10 + w.at[i] - '0';
		if (n > max)
			return -1;
	}
	return w.len ? n : -1;
}

static bool parse_direction(struct rule *r, struct word w)
{
	if (is(w, "connect"))
		r->directions = RULE_CONNECT;
	else if (is(w, "listen"))
		r->directions = RULE_LISTEN;
	else if (is(w, "any"))
		r->directions = RULE_CONNECT | RULE_LISTEN;
	return r->directions;
}

static bool parse_address(struct rule *r, struct word w)
{
	struct word addr = w;
	char text[INET6_ADDRSTRLEN];
	int bits, prefix;

	if (is(w, "any"))
		return true;
	addr = split(&w, '/');
	if (addr.len >= sizeof(text))
		return false;
	memcpy(text, addr.at, addr.len);
	text[addr.len] = '\0';
	r->from.family = memchr(text, ':', addr.len) ? AF_INET6 : AF_INET;
	if (inet_pton(r->from.family, text, r->from.addr) != 1)
		return false;
	bits = r->from.family == AF_INET ? 32 : 128;
	prefix = w.at == addr.at ? bits : number(w, bits);
	r->prefix = prefix;
	return prefix >= 0;
}

static bool parse_port(struct rule *r, struct word w)
{
	struct word first = w;
	int low, high;

	r->port_max = UINT16_MAX;
	if (is(w, "any"))
		return true;
	first = split(&w, '-');
	low = number(first, UINT16_MAX);
	high = number(w, UINT16_MAX);
	r->from.port = low;
	r->port_max = high;
	return low >= 0 && high >= low;
}

static bool parse_action(struct rule *r, struct word w)
{
	if (is(w, "auto"))
		r->action = RULE_AUTO;
	else if (is(w, "rsock"))
		r->action = RULE_RSOCK;
	else if (is(w, "tcp"))
		r->action = RULE_TCP;
	else
		return false;
	return true;
}

const char *rule_parse(struct rule *r, const char *line, size_t len)
{
	const char *end = line + len;

	memset(r, 0, sizeof(*r));
	if (!parse_direction(r, next_word(&line, end)))
		return "the first word must be connect, listen or any";
	if (!parse_address(r, next_word(&line, end)))
		return "the second word must be any, an address such as 10.0.0.1 or fd00::1, or a network such as 10.0.0.0/8";
	if (!parse_port(r, next_word(&line, end)))
		return "the third word must be any, a port such as 80, or a range such as 8000-8099";
	if (!parse_action(r, next_word(&line, end)))
		return "the fourth word must be rsock, tcp or auto";
	if (next_word(&line, end).len)
		return "there must be four words: direction, address, port, action";
	return NULL;
}

bool rules_parse(struct rules *rules, const char *text)
{
	for (rules->n = 0; *text; rules->n++) {
		size_t len = strcspn(text, "\n");

		if (rules->n == RULES_MAX ||
		    rule_parse(&rules->rule[rules->n], text, len))
			return false;
		text += len + (text[len] == '\n');
	}
	return true;
}

/* Matching */

static bool same_prefix(const uint8_t *a, const uint8_t *b, unsigned int bits)
{
	unsigned int bytes = bits / 8, rest = bits % 8;

	return !memcmp(a, b, bytes) &&
	       (!rest || !((a[bytes] ^ b[bytes]) >> (8 - rest)));
}

static bool rule_matches(const struct rule *r, const struct host *h)
{
	if (h->port < r->from.port || h->port > r->port_max)
		return false;
	if (!r->from.family)
		return true;
	return r->from.family == h->family &&
	       same_prefix(r->from.addr, h->addr, r->prefix);
}

int rules_find(const struct rules *rules, enum rule_direction direction,
	       const struct host *h)
{
	int i;

	for (i = 0; i < rules->n; i++) {
		if (rules->rule[i].directions & direction &&
		    rule_matches(&rules->rule[i], h))
			return i;
	}
	return -1;
}
