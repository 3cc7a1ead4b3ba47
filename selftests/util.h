/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the socket tests share.
 *
 * The programs test AF_RSOCK by default, and plain TCP with
 * RSOCK_TEST_FAMILY=tcp: what TCP does is what is expected, apart from the few
 * differences that are intended, which ask is_tcp(). So a run with TCP over
 * loopback proves the tests.
 *
 * Environment:
 *   RSOCK_TEST_FAMILY	number of the family (default 22), "tcp" or 0, or "inet"
 *			for IPPROTO_RSOCK of AF_INET and AF_INET6
 *   RSOCK_SERVER4, RSOCK_CLIENT4	addresses of the two ends
 *   RSOCK_SERVER6, RSOCK_CLIENT6	same, IPv6
 *   RSOCK_LL6		link-local address of the server, with %device
 *   RSOCK_LL6_CLIENT	link-local address of the client; its %device is
 *			where the client sends (default: RSOCK_LL6)
 *   RSOCK_DEAD4	an address where nobody answers
 *   RSOCK_SEED		seed of the random tests (default 1)
 *   FULL=1		more and longer
 *   CK_TIMEOUT_MULTIPLIER	for slow machines, stretches all guards
 */
#ifndef _SELFTESTS_UTIL_H
#define _SELFTESTS_UTIL_H

#include <check.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <linux/rsock.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define KB		1024UL
#define MB		(1024UL * 1024)

/* --- failing: also from threads and from child processes ---------------- */

void test_fail(const char *file, int line, const char *fmt, ...)
	__attribute__((noreturn, format(printf, 3, 4)));
const char *err_name(int err);
bool err_in(int err, const int *set);
const char *err_set(const int *set);

/* Write out what is expected, with the values seen. */
#define CHECK(cond, fmt, ...)						\
do {									\
	if (!(cond))							\
		test_fail(__FILE__, __LINE__, "%s: " fmt, #cond, ##__VA_ARGS__); \
} while (0)

/* The system call succeeds; its result. */
#define MUST(expr)							\
({									\
	long long _r = (long long)(expr);				\
									\
	if (_r < 0)							\
		test_fail(__FILE__, __LINE__, "%s: %s", #expr, err_name(errno)); \
	_r;								\
})

/* It fails, and with one of these errors; which one. */
#define MUST_FAIL(expr, ...)						\
({									\
	static const int _set[] = { __VA_ARGS__, 0 };			\
	long long _r = (long long)(expr);				\
	int _e = errno;							\
									\
	if (_r >= 0)							\
		test_fail(__FILE__, __LINE__, "%s: %lld, expected %s",	\
			  #expr, _r, err_set(_set));			\
	if (!err_in(_e, _set))						\
		test_fail(__FILE__, __LINE__, "%s: %s, expected %s",	\
			  #expr, err_name(_e), err_set(_set));		\
	_e;								\
})

/* It returns just this. */
#define MUST_BE(expr, value)						\
({									\
	long long _r = (long long)(expr), _v = (long long)(value);	\
									\
	if (_r != _v)							\
		test_fail(__FILE__, __LINE__, "%s: %lld (%s), expected %lld", \
			  #expr, _r, _r < 0 ? err_name(errno) : "-", _v); \
	_r;								\
})

/* --- programs ------------------------------------------------------------ */

/* A test case in which each test may take "seconds" before it counts as hung. */
struct TCase *add_case(struct Suite *suite, const char *name, int seconds);
/* Once for each IP version (see below) that has addresses; _i is the version. */
#define add_ip_test(tc, test) tcase_add_loop_test(tc, test, 0, ip_versions())
int run_suite(struct Suite *suite);
/* For programs without a suite: failing is a message and exit status 1. */
void standalone(void);

bool is_tcp(void);
bool is_inet(void);		/* AF_RSOCK by its other name, IPPROTO_RSOCK */
int test_domain(int ip);	/* what socket() is called with */
int test_protocol(void);
void use_tcp(void);		/* from here on, in this process */
bool full_run(void);
unsigned int env_number(const char *name, unsigned int dflt);
int hang_seconds(void);		/* a guard for what must happen soon */

/* --- addresses ------------------------------------------------------------ */

/* MAPPED: a socket of IPv6 with addresses of IPv4, ::ffff:a.b.c.d */
enum { IPV4, IPV6, LINK_LOCAL, IP_VERSIONS, MAPPED = IP_VERSIONS };

struct addr {
	union {
		struct sockaddr sa;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
		struct sockaddr_storage ss;
	};
	socklen_t len;
};

int ip_versions(void);
const char *ip_name(int ip);
struct addr server_addr(int ip, int port);	/* to bind */
struct addr target_addr(int ip, int port);	/* the same, to connect to */
struct addr client_addr(int ip, int port);
struct addr any_addr(int ip, int port);
struct addr make_addr(const char *text, int port);
struct addr mapped(const struct addr *in);	/* IPv4 as ::ffff:a.b.c.d */
int addr_port(const struct addr *a);
void set_port(struct addr *a, int port);
bool same_addr(const struct addr *a, const struct addr *b);
bool same_host(const struct addr *a, const struct addr *b);
const char *addr_text(const struct addr *a);
struct addr local_name(int fd);
struct addr peer_name(int fd);
struct addr closed_port(int ip);		/* nobody listens there */

/* --- sockets --------------------------------------------------------------- */

struct pair {
	int c;		/* connected */
	int s;		/* accepted */
};

int open_socket(int ip, int flags);		/* SOCK_STREAM is added */
int open_listener(int ip, int backlog, struct addr *where);
int open_client(int ip, const struct addr *where);
int accept_one(int listener);			/* guarded */
struct pair open_pair(int ip);
/* SO_SNDBUF and SO_RCVBUF of both ends are "bufsize". */
struct pair open_small_pair(int ip, int bufsize);
void close_pair(struct pair *p);
void set_nonblock(int fd, bool on);
void set_int(int fd, int level, int option, int value);
int get_int(int fd, int level, int option);
void set_timeout(int fd, int option, int ms);
void set_linger(int fd, bool on, int seconds);

/* --- readiness -------------------------------------------------------------- */

int poll_ms(int fd, short events, int ms);	/* revents, 0 at the timeout */
int wait_events(int fd, short events);		/* guarded; revents */
#define BASIC_EVENTS (POLLIN | POLLOUT | POLLPRI | POLLRDHUP)
/* Until all events are exactly these. */
void wait_exactly(int fd, int events);
const char *event_text(int events);
bool eventually(bool (*cond)(void *arg), void *arg);
int inq(int fd);
int outq(int fd);
void wait_inq(int fd, int bytes);
void sleep_ms(int ms);
int unsent(int fd);		/* bytes that are not on their way */
long long now_ms(void);

/* --- notes of what the peer placed ------------------------------------------- */

bool read_written(int fd, struct rsock_written *w);	/* false if there is none */
void expect_written(int fd, uint64_t offset, uint64_t len);	/* guarded */

/* --- data --------------------------------------------------------------------- */

/*
 * Every stream has a seed, and every byte depends on its position, so that
 * what is lost, repeated or exchanged is seen.
 */
void pattern_fill(void *buf, size_t len, uint32_t seed, uint64_t pos);
void pattern_check(const void *buf, size_t len, uint32_t seed, uint64_t pos);

struct stream {
	int fd;
	uint32_t seed;
	uint64_t pos;
};

void send_all(int fd, const void *buf, size_t len);
void recv_all(int fd, void *buf, size_t len);
void skip(int fd, size_t len);		/* received, and thrown away */
void send_stream(struct stream *st, uint64_t len, size_t chunk);
void recv_stream(struct stream *st, uint64_t len, size_t chunk);
uint64_t recv_to_end(struct stream *st, size_t chunk);	/* up to end of file */
/* Without blocking, until the socket is full and stays so; bytes sent. */
uint64_t send_until_full(struct stream *st);
/* The same, and no packet that is repeated makes room any more */
uint64_t send_until_stuck(struct stream *st);
void expect_end(int fd);
void expect_nothing(int fd);
/* Both directions still carry data, and nothing else is in them. */
void expect_alive(int a, int b);
void echo_until_end(int fd);

uint32_t rnd(uint32_t *state);
uint32_t rnd_range(uint32_t *state, uint32_t min, uint32_t max);

/* --- threads, processes, signals ------------------------------------------------ */

struct worker {
	pthread_t thread;
	void (*fn)(void *arg);
	void *arg;
	volatile pid_t tid;
};

void start(struct worker *w, void (*fn)(void *arg), void *arg);
void join(struct worker *w);			/* guarded */
void wait_blocked(struct worker *w);		/* until it sleeps in a call */
void wait_pid_blocked(pid_t pid);
pid_t fork_child(void);
void reap(pid_t pid);				/* it must end well */
void kill_child(pid_t pid);			/* SIGKILL, and reap */

extern volatile sig_atomic_t signals_seen;
void count_signal(int sig, int flags);		/* handler: counts signals_seen */
void interval_timer(int usec);			/* SIGALRM; 0 stops it */

/* --- counters of the module --------------------------------------------------------- */

#define STATS_MAX	64

struct stats {
	char name[STATS_MAX][32];
	unsigned long value[STATS_MAX];
	int n;
};

void read_stats(struct stats *st);
unsigned long stat_now(const char *name);

#endif /* _SELFTESTS_UTIL_H */
