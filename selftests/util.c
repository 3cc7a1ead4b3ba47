// SPDX-License-Identifier: GPL-2.0
#include <arpa/inet.h>
#include <fcntl.h>
#include <net/if.h>
#include <netdb.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <linux/sockios.h>

#include "util.h"

/* --- failing -------------------------------------------------------------- */

static pid_t test_pid;
static bool alone;

void test_fail(const char *file, int line, const char *fmt, ...)
{
	const char *base = strrchr(file, '/');
	char text[1024];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	if (alone || (test_pid && getpid() != test_pid)) {
		fprintf(stderr, "%s%s:%d: %s\n", getpid() == test_pid ? "" : "child: ",
			base ? base + 1 : file, line, text);
		_exit(1);
	}
	ck_abort_msg("%s:%d: %s", base ? base + 1 : file, line, text);
	_exit(1);
}

const char *err_name(int err)
{
	const char *name = strerrorname_np(err);

	return name ? name : "unknown error";
}

bool err_in(int err, const int *set)
{
	for (; *set; set++) {
		if (*set == err)
			return true;
	}
	return false;
}

const char *err_set(const int *set)
{
	static __thread char text[200];
	size_t used = 0;

	for (; *set && used < sizeof(text); set++)
		used += snprintf(text + used, sizeof(text) - used, "%s%s",
				 used ? " or " : "", err_name(*set));
	return text;
}

/* --- programs ---------------------------------------------------------------- */

static struct {
	int family;		/* 0: TCP */
	bool inet;		/* IPPROTO_RSOCK of AF_INET and AF_INET6 */
	const char *server[IP_VERSIONS];
	const char *client[IP_VERSIONS];
} env;

unsigned int env_number(const char *name, unsigned int dflt)
{
	const char *value = getenv(name);

	return value && *value ? strtoul(value, NULL, 0) : dflt;
}

static const char *env_text(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

static void read_env(void)
{
	const char *family = env_text("RSOCK_TEST_FAMILY");
	static bool done;
	int i;

	if (done)
		return;
	done = true;
	env.inet = family && !strcmp(family, "inet");
	if (!family || env.inet)
		env.family = AF_RSOCK;
	else if (strcmp(family, "tcp"))
		env.family = strtoul(family, NULL, 0);
	env.server[IPV4] = env_text("RSOCK_SERVER4");
	env.server[IPV6] = env_text("RSOCK_SERVER6");
	env.server[LINK_LOCAL] = env_text("RSOCK_LL6");
	env.client[IPV4] = env_text("RSOCK_CLIENT4");
	env.client[IPV6] = env_text("RSOCK_CLIENT6");
	env.client[LINK_LOCAL] = env_text("RSOCK_LL6_CLIENT");
	if (!env.family && !env.server[IPV4])
		env.server[IPV4] = "127.0.0.1";
	if (!env.family && !env.server[IPV6])
		env.server[IPV6] = "::1";
	for (i = 0; i < IP_VERSIONS; i++) {
		if (!env.client[i])
			env.client[i] = env.server[i];
	}
	if (!env.server[IPV4] || !env.server[IPV6]) {
		fprintf(stderr, "set RSOCK_SERVER4 and RSOCK_SERVER6\n");
		exit(2);
	}
}

bool is_tcp(void)
{
	read_env();
	return !env.family;
}

bool is_inet(void)
{
	read_env();
	return env.inet;
}

int test_domain(int ip)
{
	if (is_tcp() || is_inet())
		return ip == IPV4 ? AF_INET : AF_INET6;
	return env.family;
}

int test_protocol(void)
{
	return is_inet() ? IPPROTO_RSOCK : 0;
}

void use_tcp(void)
{
	read_env();
	env.family = 0;
}

bool full_run(void)
{
	return env_number("FULL", 0) != 0;
}

int hang_seconds(void)
{
	const char *mult = getenv("CK_TIMEOUT_MULTIPLIER");
	double factor = mult ? atof(mult) : 1;

	return 20 * (factor < 1 ? 1 : factor);
}

void standalone(void)
{
	read_env();
	alone = true;
	test_pid = getpid();
}

static void setup(void)
{
	test_pid = getpid();
	signal(SIGPIPE, SIG_IGN);
}

TCase *add_case(Suite *suite, const char *name, int seconds)
{
	TCase *tc = tcase_create(name);

	/* Longer than the guards inside, which tell more than a timeout. */
	tcase_set_timeout(tc, seconds + 25);
	tcase_add_checked_fixture(tc, setup, NULL);
	suite_add_tcase(suite, tc);
	return tc;
}

int run_suite(Suite *suite)
{
	struct rlimit files = { .rlim_cur = 4096, .rlim_max = 4096 };
	SRunner *sr = srunner_create(suite);
	int failed;

	read_env();
	setrlimit(RLIMIT_NOFILE, &files);
	setvbuf(stdout, NULL, _IOLBF, 0);
	srunner_run_all(sr, CK_ENV);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? 1 : 0;
}

/* --- addresses ------------------------------------------------------------------ */

int ip_versions(void)
{
	read_env();
	return env.server[LINK_LOCAL] ? IP_VERSIONS : LINK_LOCAL;
}

const char *ip_name(int ip)
{
	static const char * const names[] = { "IPv4", "IPv6", "link-local", "mapped" };

	return names[ip];
}

struct addr make_addr(const char *text, int port)
{
	struct addrinfo hints = { .ai_flags = AI_NUMERICHOST, .ai_socktype = SOCK_STREAM };
	struct addrinfo *info;
	struct addr a = { };

	if (getaddrinfo(text, NULL, &hints, &info))
		test_fail(__FILE__, __LINE__, "no address: %s", text);
	memcpy(&a.ss, info->ai_addr, info->ai_addrlen);
	a.len = info->ai_addrlen;
	freeaddrinfo(info);
	set_port(&a, port);
	return a;
}

static struct addr addr_of(const char * const *texts, int ip, int port)
{
	struct addr a = make_addr(texts[ip == MAPPED ? IPV4 : ip], port);

	return ip == MAPPED ? mapped(&a) : a;
}

struct addr server_addr(int ip, int port)
{
	read_env();
	return addr_of(env.server, ip, port);
}

struct addr client_addr(int ip, int port)
{
	read_env();
	return addr_of(env.client, ip, port);
}

struct addr target_addr(int ip, int port)
{
	struct addr a = server_addr(ip, port);

	if (ip == LINK_LOCAL)
		a.in6.sin6_scope_id = client_addr(ip, port).in6.sin6_scope_id;
	return a;
}

struct addr any_addr(int ip, int port)
{
	return make_addr(ip == IPV4 ? "0.0.0.0" : "::", port);
}

struct addr mapped(const struct addr *in)
{
	struct addr a = { .len = sizeof(a.in6) };

	a.in6.sin6_family = AF_INET6;
	a.in6.sin6_port = in->in.sin_port;
	a.in6.sin6_addr.s6_addr[10] = 0xff;
	a.in6.sin6_addr.s6_addr[11] = 0xff;
	memcpy(&a.in6.sin6_addr.s6_addr[12], &in->in.sin_addr, 4);
	return a;
}

int addr_port(const struct addr *a)
{
	return ntohs(a->sa.sa_family == AF_INET ? a->in.sin_port : a->in6.sin6_port);
}

void set_port(struct addr *a, int port)
{
	if (a->sa.sa_family == AF_INET)
		a->in.sin_port = htons(port);
	else
		a->in6.sin6_port = htons(port);
}

bool same_host(const struct addr *a, const struct addr *b)
{
	if (a->sa.sa_family != b->sa.sa_family)
		return false;
	if (a->sa.sa_family == AF_INET)
		return a->in.sin_addr.s_addr == b->in.sin_addr.s_addr;
	return !memcmp(&a->in6.sin6_addr, &b->in6.sin6_addr, sizeof(a->in6.sin6_addr));
}

bool same_addr(const struct addr *a, const struct addr *b)
{
	return same_host(a, b) && addr_port(a) == addr_port(b) && a->len == b->len;
}

const char *addr_text(const struct addr *a)
{
	static __thread char texts[4][80];
	static __thread int next;
	char *text = texts[next++ % 4];
	char host[INET6_ADDRSTRLEN];

	if (a->sa.sa_family == AF_INET)
		inet_ntop(AF_INET, &a->in.sin_addr, host, sizeof(host));
	else if (a->sa.sa_family == AF_INET6)
		inet_ntop(AF_INET6, &a->in6.sin6_addr, host, sizeof(host));
	else
		snprintf(host, sizeof(host), "family %d", a->sa.sa_family);
	snprintf(text, sizeof(texts[0]), "%s port %d (length %u)", host, addr_port(a), a->len);
	return text;
}

struct addr local_name(int fd)
{
	struct addr a = { .len = sizeof(a.ss) };

	MUST(getsockname(fd, &a.sa, &a.len));
	return a;
}

struct addr peer_name(int fd)
{
	struct addr a = { .len = sizeof(a.ss) };

	MUST(getpeername(fd, &a.sa, &a.len));
	return a;
}

struct addr closed_port(int ip)
{
	struct addr a = server_addr(ip, 0);
	int fd = open_socket(ip, 0);
	int port;

	MUST(bind(fd, &a.sa, a.len));
	a = local_name(fd);
	port = addr_port(&a);
	close(fd);
	return target_addr(ip, port);
}

/* --- sockets ------------------------------------------------------------------------ */

int open_socket(int ip, int flags)
{
	return MUST(socket(test_domain(ip), SOCK_STREAM | flags, test_protocol()));
}

static int bound_listener(int ip, int bufsize, int backlog, struct addr *where)
{
	struct addr a = server_addr(ip, 0);
	int fd = open_socket(ip, 0);

	if (bufsize) {
		set_int(fd, SOL_SOCKET, SO_SNDBUF, bufsize);
		set_int(fd, SOL_SOCKET, SO_RCVBUF, bufsize);
	}
	MUST(bind(fd, &a.sa, a.len));
	MUST(listen(fd, backlog));
	a = local_name(fd);
	CHECK(addr_port(&a) != 0, "bound to %s", addr_text(&a));
	*where = target_addr(ip, addr_port(&a));
	return fd;
}

int open_listener(int ip, int backlog, struct addr *where)
{
	return bound_listener(ip, 0, backlog, where);
}

int open_client(int ip, const struct addr *where)
{
	int fd = open_socket(ip, 0);

	if (connect(fd, &where->sa, where->len))
		test_fail(__FILE__, __LINE__, "connect to %s: %s", addr_text(where),
			  err_name(errno));
	return fd;
}

int accept_one(int listener)
{
	wait_events(listener, POLLIN);
	return MUST(accept(listener, NULL, NULL));
}

struct pair open_small_pair(int ip, int bufsize)
{
	struct addr where;
	int listener = bound_listener(ip, bufsize, 8, &where);
	struct pair p;

	p.c = open_socket(ip, 0);
	if (bufsize) {
		set_int(p.c, SOL_SOCKET, SO_SNDBUF, bufsize);
		set_int(p.c, SOL_SOCKET, SO_RCVBUF, bufsize);
	}
	MUST(connect(p.c, &where.sa, where.len));
	p.s = accept_one(listener);
	MUST(close(listener));
	return p;
}

struct pair open_pair(int ip)
{
	return open_small_pair(ip, 0);
}

void close_pair(struct pair *p)
{
	MUST(close(p->c));
	MUST(close(p->s));
}

void set_nonblock(int fd, bool on)
{
	int flags = MUST(fcntl(fd, F_GETFL));

	MUST(fcntl(fd, F_SETFL, on ? flags | O_NONBLOCK : flags & ~O_NONBLOCK));
}

void set_int(int fd, int level, int option, int value)
{
	if (setsockopt(fd, level, option, &value, sizeof(value)))
		test_fail(__FILE__, __LINE__, "setsockopt(%d, %d, %d): %s", level, option,
			  value, err_name(errno));
}

int get_int(int fd, int level, int option)
{
	socklen_t len = sizeof(int);
	int value = -1;

	if (getsockopt(fd, level, option, &value, &len))
		test_fail(__FILE__, __LINE__, "getsockopt(%d, %d): %s", level, option,
			  err_name(errno));
	CHECK(len == sizeof(int), "level %d option %d length %u", level, option, len);
	return value;
}

void set_timeout(int fd, int option, int ms)
{
	struct timeval tv = { .tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000 };

	MUST(setsockopt(fd, SOL_SOCKET, option, &tv, sizeof(tv)));
}

void set_linger(int fd, bool on, int seconds)
{
	struct linger l = { .l_onoff = on, .l_linger = seconds };

	MUST(setsockopt(fd, SOL_SOCKET, SO_LINGER, &l, sizeof(l)));
}

/* --- readiness -------------------------------------------------------------------------- */

void sleep_ms(int ms)
{
	struct timespec ts = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L };

	while (nanosleep(&ts, &ts) && errno == EINTR)
		;
}

int unsent(int fd)
{
	int n;

	MUST(ioctl(fd, SIOCOUTQNSD, &n));
	return n;
}

long long now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000LL + ts.tv_nsec / 1000000;
}

int poll_ms(int fd, short events, int ms)
{
	struct pollfd pfd = { .fd = fd, .events = events };
	int n;

	do {
		n = poll(&pfd, 1, ms);
	} while (n < 0 && errno == EINTR);
	MUST(n);
	return n ? pfd.revents : 0;
}

int wait_events(int fd, short events)
{
	int revents = poll_ms(fd, events, hang_seconds() * 1000);

	if (!revents)
		test_fail(__FILE__, __LINE__, "fd %d: no %s for %d s", fd, event_text(events),
			  hang_seconds());
	return revents;
}

const char *event_text(int events)
{
	static const struct {
		int bit;
		const char *name;
	} names[] = {
		{ POLLIN, "IN" }, { POLLOUT, "OUT" }, { POLLPRI, "PRI" }, { POLLRDHUP, "RDHUP" },
		{ POLLHUP, "HUP" }, { POLLERR, "ERR" }, { POLLNVAL, "NVAL" },
	};
	static __thread char texts[2][64];
	static __thread int next;
	char *text = texts[next++ % 2];
	size_t i;

	snprintf(text, sizeof(texts[0]), "%s", events ? "" : "nothing");
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		if (events & names[i].bit) {
			strcat(text, *text ? "|" : "");
			strcat(text, names[i].name);
		}
	}
	return text;
}

void wait_exactly(int fd, int events)
{
	long long end = now_ms() + hang_seconds() * 1000;
	int seen;

	do {
		seen = poll_ms(fd, BASIC_EVENTS, 0);
		if (seen == events)
			return;
		sleep_ms(1);
	} while (now_ms() < end);
	test_fail(__FILE__, __LINE__, "fd %d: events %s, expected %s", fd, event_text(seen),
		  event_text(events));
}

bool eventually(bool (*cond)(void *arg), void *arg)
{
	long long end = now_ms() + hang_seconds() * 1000;

	while (!cond(arg)) {
		if (now_ms() > end)
			return false;
		sleep_ms(1);
	}
	return true;
}

int inq(int fd)
{
	int n = -1;

	MUST(ioctl(fd, SIOCINQ, &n));
	return n;
}

int outq(int fd)
{
	int n = -1;

	MUST(ioctl(fd, SIOCOUTQ, &n));
	return n;
}

void wait_inq(int fd, int bytes)
{
	long long end = now_ms() + hang_seconds() * 1000;

	while (inq(fd) < bytes) {
		if (now_ms() > end)
			test_fail(__FILE__, __LINE__, "fd %d: SIOCINQ %d, expected %d", fd,
				  inq(fd), bytes);
		sleep_ms(1);
	}
	CHECK(inq(fd) == bytes, "SIOCINQ %d, expected %d", inq(fd), bytes);
}

/* --- notes of what the peer placed -------------------------------------------------------- */

void read_stats(struct stats *st)
{
	FILE *f = fopen("/proc/net/rsock_stat", "r");
	char lines[2][2000], *save, *word;
	int i;

	CHECK(f, "no counters: %s", err_name(errno));
	for (i = 0; i < 2; i++)
		CHECK(fgets(lines[i], sizeof(lines[i]), f), "line %d is missing", i);
	fclose(f);
	st->n = 0;
	strtok_r(lines[0], "\n ", &save);
	while ((word = strtok_r(NULL, "\n ", &save)) && st->n < STATS_MAX)
		snprintf(st->name[st->n++], sizeof(st->name[0]), "%s", word);
	strtok_r(lines[1], "\n ", &save);
	for (i = 0; i < st->n; i++) {
		word = strtok_r(NULL, "\n ", &save);
		CHECK(word, "%s has no value", st->name[i]);
		st->value[i] = strtoul(word, NULL, 10);
	}
}

unsigned long stat_now(const char *name)
{
	struct stats st;
	int i;

	read_stats(&st);
	for (i = 0; i < st.n; i++) {
		if (!strcmp(st.name[i], name))
			return st.value[i];
	}
	CHECK(i < st.n, "no counter %s", name);
	return 0;
}

bool read_written(int fd, struct rsock_written *w)
{
	char control[128];
	struct msghdr msg = { .msg_control = control, .msg_controllen = sizeof(control) };
	struct cmsghdr *cmsg;

	if (recvmsg(fd, &msg, MSG_ERRQUEUE) < 0) {
		CHECK(errno == EAGAIN, "%s", err_name(errno));
		return false;
	}
	CHECK(msg.msg_flags & MSG_ERRQUEUE, "flags %#x", msg.msg_flags);
	cmsg = CMSG_FIRSTHDR(&msg);
	CHECK(cmsg && cmsg->cmsg_level == SOL_RSOCK && cmsg->cmsg_type == RSOCK_CMSG_WRITTEN &&
	      cmsg->cmsg_len == CMSG_LEN(sizeof(*w)), "not that control message");
	memcpy(w, CMSG_DATA(cmsg), sizeof(*w));
	return true;
}

void expect_written(int fd, uint64_t offset, uint64_t len)
{
	struct rsock_written w;

	CHECK(wait_events(fd, 0) & POLLERR, "no POLLERR");
	CHECK(read_written(fd, &w), "nothing to read");
	CHECK(w.offset == offset && w.len == len, "%#llx, %llu, expected %#jx, %ju",
	      w.offset, w.len, (uintmax_t)offset, (uintmax_t)len);
}

/* --- data --------------------------------------------------------------------------------- */

static uint64_t pattern_word(uint32_t seed, uint64_t index)
{
	uint64_t w = (index + ((uint64_t)seed << 40) + 1) * 0x9e3779b97f4a7c15ULL;

	return w ^ w >> 29;
}

void pattern_fill(void *buf, size_t len, uint32_t seed, uint64_t pos)
{
	uint8_t *p = buf;

	while (len) {
		uint64_t w = pattern_word(seed, pos / 8);
		size_t from = pos % 8, n = 8 - from < len ? 8 - from : len;

		memcpy(p, (uint8_t *)&w + from, n);
		p += n;
		pos += n;
		len -= n;
	}
}

void pattern_check(const void *buf, size_t len, uint32_t seed, uint64_t pos)
{
	const uint8_t *p = buf;
	size_t i, n;

	for (i = 0; i < len; i += n) {
		uint64_t w = pattern_word(seed, (pos + i) / 8);
		size_t from = (pos + i) % 8, k;

		n = 8 - from < len - i ? 8 - from : len - i;
		if (!memcmp(p + i, (uint8_t *)&w + from, n))
			continue;
		for (k = 0; p[i + k] == ((uint8_t *)&w)[from + k]; k++)
			;
		test_fail(__FILE__, __LINE__,
			  "wrong data at byte %llu of stream %u (%zu of %zu received at once): 0x%02x, expected 0x%02x",
			  (unsigned long long)pos + i + k, seed, i + k, len, p[i + k],
			  ((uint8_t *)&w)[from + k]);
	}
}

/*
 * Sockets may be blocking or not, and signals may come: wait as poll() tells.
 * A blocking socket that never returns is found by the timeout of the test.
 */
void send_all(int fd, const void *buf, size_t len)
{
	const char *p = buf;
	ssize_t n;

	while (len) {
		n = send(fd, p, len, MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN) {
			wait_events(fd, POLLOUT);
			continue;
		}
		CHECK(n > 0, "send of %zu bytes: %zd (%s)", len, n, err_name(errno));
		CHECK((size_t)n <= len, "send of %zu bytes: %zd", len, n);
		p += n;
		len -= n;
	}
}

static size_t recv_some(int fd, void *buf, size_t len)
{
	ssize_t n;

	for (;;) {
		n = recv(fd, buf, len, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN) {
			wait_events(fd, POLLIN);
			continue;
		}
		CHECK(n >= 0, "recv of %zu bytes: %s", len, err_name(errno));
		CHECK((size_t)n <= len, "recv of %zu bytes: %zd", len, n);
		return n;
	}
}

void recv_all(int fd, void *buf, size_t len)
{
	size_t got = 0, n;

	while (got < len) {
		n = recv_some(fd, (char *)buf + got, len - got);
		CHECK(n > 0, "end of file after %zu of %zu bytes", got, len);
		got += n;
	}
}

void skip(int fd, size_t len)
{
	char buf[1000];

	CHECK(len <= sizeof(buf), "%zu", len);
	recv_all(fd, buf, len);
}

static void *get_buffer(size_t size)
{
	void *buf = malloc(size);

	CHECK(buf, "no memory (%zu)", size);
	return buf;
}

void send_stream(struct stream *st, uint64_t len, size_t chunk)
{
	char *buf = get_buffer(chunk);
	size_t n;

	while (len) {
		n = len < chunk ? len : chunk;
		pattern_fill(buf, n, st->seed, st->pos);
		send_all(st->fd, buf, n);
		st->pos += n;
		len -= n;
	}
	free(buf);
}

void recv_stream(struct stream *st, uint64_t len, size_t chunk)
{
	char *buf = get_buffer(chunk);
	uint64_t end = st->pos + len;
	size_t n;

	while (st->pos < end) {
		n = recv_some(st->fd, buf, end - st->pos < chunk ? end - st->pos : chunk);
		CHECK(n > 0, "end of file at byte %llu of stream %u, expected %llu",
		      (unsigned long long)st->pos, st->seed, (unsigned long long)end);
		pattern_check(buf, n, st->seed, st->pos);
		st->pos += n;
	}
	free(buf);
}

uint64_t recv_to_end(struct stream *st, size_t chunk)
{
	char *buf = get_buffer(chunk);
	uint64_t from = st->pos;
	size_t n;

	while ((n = recv_some(st->fd, buf, chunk))) {
		pattern_check(buf, n, st->seed, st->pos);
		st->pos += n;
	}
	free(buf);
	return st->pos - from;
}

static uint64_t send_until_quiet(struct stream *st, int least)
{
	size_t chunk = 16 * KB;
	char *buf = get_buffer(chunk);
	int quiet = least;	/* ms */
	uint64_t sent = 0;
	bool full = false;
	long long from;
	ssize_t n;

	for (;;) {
		pattern_fill(buf, chunk, st->seed, st->pos);
		n = send(st->fd, buf, chunk, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n < 0 && errno == EAGAIN) {
			/* There may be room that is too small for POLLOUT. */
			if (full)
				break;
			/*
			 * What is on its way may still make room, and the
			 * machine be slow: wait longer than ever before.
			 */
			from = now_ms();
			full = !poll_ms(st->fd, POLLOUT, quiet);
			if (!full && quiet < least + 10 * (now_ms() - from))
				quiet = least + 10 * (now_ms() - from);
			continue;
		}
		full = false;
		CHECK(n > 0, "send: %zd (%s)", n, err_name(errno));
		st->pos += n;
		sent += n;
		CHECK(sent < 256 * MB, "nobody reads, and %llu bytes were taken",
		      (unsigned long long)sent);
	}
	free(buf);
	return sent;
}

uint64_t send_until_full(struct stream *st)
{
	return send_until_quiet(st, 250);
}

uint64_t send_until_stuck(struct stream *st)
{
	return send_until_quiet(st, 1000);
}

void expect_end(int fd)
{
	ssize_t n;
	char c;

	wait_events(fd, POLLIN);
	n = recv(fd, &c, 1, 0);
	CHECK(n == 0, "recv: %zd (%s), expected end of file", n, n < 0 ? err_name(errno) : "-");
}

void expect_nothing(int fd)
{
	char c;

	MUST_FAIL(recv(fd, &c, 1, MSG_DONTWAIT), EAGAIN);
}

static void one_way(int from, int to, uint32_t seed)
{
	struct stream out = { .fd = from, .seed = seed }, in = { .fd = to, .seed = seed };

	send_stream(&out, 1000, 1000);
	recv_stream(&in, 1000, 1000);
	expect_nothing(to);
}

void expect_alive(int a, int b)
{
	one_way(a, b, 77);
	one_way(b, a, 78);
	one_way(a, b, 79);
}

void echo_until_end(int fd)
{
	char *buf = get_buffer(64 * KB);
	size_t n;

	while ((n = recv_some(fd, buf, 64 * KB)))
		send_all(fd, buf, n);
	free(buf);
}

uint32_t rnd(uint32_t *state)
{
	uint32_t x = *state ? *state : 1;

	x ^= x << 13;
	x ^= x >> 17;
	x ^= x << 5;
	return *state = x;
}

uint32_t rnd_range(uint32_t *state, uint32_t min, uint32_t max)
{
	return min + rnd(state) % (max - min + 1);
}

/* --- threads, processes, signals -------------------------------------------------------------- */

static void *worker_main(void *arg)
{
	struct worker *w = arg;

	w->tid = syscall(SYS_gettid);
	w->fn(w->arg);
	return NULL;
}

void start(struct worker *w, void (*fn)(void *arg), void *arg)
{
	int err;

	w->fn = fn;
	w->arg = arg;
	w->tid = 0;
	err = pthread_create(&w->thread, NULL, worker_main, w);
	CHECK(!err, "%s", err_name(err));
}

void join(struct worker *w)
{
	struct timespec end;
	int err;

	clock_gettime(CLOCK_REALTIME, &end);
	/* It may be at work, so this is not hang_seconds(). */
	end.tv_sec += full_run() ? hang_seconds() * 10 : hang_seconds() * 2;
	err = pthread_timedjoin_np(w->thread, NULL, &end);
	CHECK(!err, "a thread does not end: %s", err_name(err));
}

static bool sleeping(const char *stat_file)
{
	FILE *f = fopen(stat_file, "r");
	char line[512], *state;
	bool ret = false;

	if (!f)
		return false;
	if (fgets(line, sizeof(line), f)) {
		state = strrchr(line, ')');
		ret = state && (state[2] == 'S' || state[2] == 'D');
	}
	fclose(f);
	return ret;
}

static void wait_sleeping(const char *stat_file)
{
	long long end = now_ms() + hang_seconds() * 1000;
	int seen = 0;

	/* Not in some short sleep on its way there. */
	while (seen < 10) {
		seen = sleeping(stat_file) ? seen + 1 : 0;
		sleep_ms(5);
		CHECK(now_ms() < end, "%s: does not block", stat_file);
	}
}

void wait_blocked(struct worker *w)
{
	char name[64];

	while (!w->tid)
		sleep_ms(1);
	snprintf(name, sizeof(name), "/proc/self/task/%d/stat", w->tid);
	wait_sleeping(name);
}

void wait_pid_blocked(pid_t pid)
{
	char name[64];

	snprintf(name, sizeof(name), "/proc/%d/stat", pid);
	wait_sleeping(name);
}

pid_t fork_child(void)
{
	pid_t pid;

	fflush(NULL);
	pid = MUST(fork());
	if (!pid) {
		/* Nobody is left behind when a test ends early. */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != test_pid)
			_exit(1);
	}
	return pid;
}

static int wait_child(pid_t pid)
{
	long long end = now_ms() + hang_seconds() * 2000;
	int status;

	for (;;) {
		if (MUST(waitpid(pid, &status, WNOHANG)) == pid)
			return status;
		CHECK(now_ms() < end, "child %d does not end", pid);
		sleep_ms(1);
	}
}

void reap(pid_t pid)
{
	int status = wait_child(pid);

	CHECK(WIFEXITED(status) && !WEXITSTATUS(status),
	      "child %d: status 0x%x (its message is on standard error)", pid, status);
}

void kill_child(pid_t pid)
{
	int status;

	MUST(kill(pid, SIGKILL));
	status = wait_child(pid);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "child %d: status 0x%x", pid,
	      status);
}

volatile sig_atomic_t signals_seen;

static void on_signal(int sig)
{
	(void)sig;
	signals_seen++;
}

void count_signal(int sig, int flags)
{
	struct sigaction sa = { .sa_handler = on_signal, .sa_flags = flags };

	signals_seen = 0;
	MUST(sigaction(sig, &sa, NULL));
}

void interval_timer(int usec)
{
	struct itimerval it = {
		.it_interval = { .tv_sec = usec / 1000000, .tv_usec = usec % 1000000 },
		.it_value = { .tv_sec = usec / 1000000, .tv_usec = usec % 1000000 },
	};

	MUST(setitimer(ITIMER_REAL, &it, NULL));
}
