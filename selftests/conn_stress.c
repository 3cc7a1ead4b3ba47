// SPDX-License-Identifier: GPL-2.0
/*
 * Many connections: at once, one after the other, and held while something is
 * done to their device. Server and clients are processes of one program. For
 * the environment see util.h.
 */
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/resource.h>

#include "util.h"

static int opt_open = 1000;	/* connections at once */
static int opt_cycles = 1000;	/* connect, echo, close */
static int opt_threads = 8;	/* of those at a time */
static int opt_bytes = 1000;	/* echoed each time */
static int opt_rounds = 2;	/* over all open connections */
static int opt_hold;		/* connections that are held */
static int opt_ip = IPV4;
static const char *opt_ready;	/* made when all is held */

static const char usage[] =
	"usage: conn_stress [options]\n"
	"  -n, --open N      connections open at once, all echoing (1000; 0: none)\n"
	"  -m, --cycles M    times to connect, echo and close (1000; 0: none)\n"
	"  -p, --threads P   of those at a time (8)\n"
	"  -b, --bytes B     echoed each time (1000)\n"
	"  -r, --rounds R    over the open connections (2)\n"
	"  -6, --ipv6        IPv6\n"
	"  -l, --hold N      hold N connections, blocking in recv, send, poll, epoll and\n"
	"                    accept or idle, until each has ended; tell how\n"
	"  -f, --ready FILE  with --hold: make FILE when they all block\n"
	"Environment: see util.h; RSOCK_TEST_FAMILY=tcp uses TCP.\n";

/* --- echo server ------------------------------------------------------------- */

static void echo_once(int fd)
{
	char buf[16384];
	ssize_t n = recv(fd, buf, sizeof(buf), MSG_DONTWAIT);

	if (n < 0 && errno == EAGAIN)
		return;
	CHECK(n >= 0, "server: %s", err_name(errno));
	if (!n)
		MUST(close(fd));
	else
		send_all(fd, buf, n);
}

static void serve(int listener)
{
	int ep = MUST(epoll_create1(0)), i, n;
	struct epoll_event ev = { .events = EPOLLIN, .data.fd = listener }, evs[64];

	set_nonblock(listener, true);
	MUST(epoll_ctl(ep, EPOLL_CTL_ADD, listener, &ev));
	for (;;) {
		n = epoll_wait(ep, evs, ARRAY_SIZE(evs), -1);
		for (i = 0; i < n; i++) {
			int fd = evs[i].data.fd;

			if (fd != listener) {
				echo_once(fd);
				continue;
			}
			fd = accept(listener, NULL, NULL);
			if (fd < 0) {
				CHECK(errno == EAGAIN, "accept: %s", err_name(errno));
				continue;
			}
			ev.data.fd = fd;
			MUST(epoll_ctl(ep, EPOLL_CTL_ADD, fd, &ev));
		}
	}
}

/* --- clients ------------------------------------------------------------------ */

static void echo(int fd, uint32_t seed, uint64_t round)
{
	uint64_t pos = round * opt_bytes;
	struct stream out = { .fd = fd, .seed = seed, .pos = pos }, in = out;
	int left, n;

	/* Not so much that both ends could be full. */
	for (left = opt_bytes; left; left -= n) {
		n = left < 8192 ? left : 8192;
		send_stream(&out, n, n);
		recv_stream(&in, n, n);
	}
}

static void progress(const char *what, int count, int of, long long from)
{
	long long ms = now_ms() - from;

	printf("%s: %d of %d, %lld.%03lld s", what, count, of, ms / 1000, ms % 1000);
	if (ms)
		printf(", %lld/s", count * 1000LL / ms);
	printf("\n");
}

/* A line of /proc/meminfo, kB */
static long kbytes(const char *name)
{
	FILE *f = fopen("/proc/meminfo", "r");
	char line[100];
	long kb = 0;

	while (f && fgets(line, sizeof(line), f)) {
		if (!strncmp(line, name, strlen(name)) && line[strlen(name)] == ':')
			kb = atol(line + strlen(name) + 1);
	}
	if (f)
		fclose(f);
	return kb;
}

struct memory {
	long available;
	long slab;
};

static struct memory memory(void)
{
	return (struct memory){ kbytes("MemAvailable"), kbytes("Slab") };
}

/* What the machine has less since; both ends are here. */
static void memory_used(const char *when, const struct memory *before)
{
	struct memory now = memory();

	printf("memory of a connection, both ends, %s: %.1f kB, of which slab %.1f kB\n", when,
	       (double)(before->available - now.available) / opt_open,
	       (double)(now.slab - before->slab) / opt_open);
}

static void open_many(const struct addr *where)
{
	int *fds = calloc(opt_open, sizeof(*fds)), i, round;
	struct memory before = memory();
	long long from = now_ms();

	for (i = 0; i < opt_open; i++) {
		fds[i] = open_client(opt_ip, where);
		if (i % 1000 == 999)
			progress("open", i + 1, opt_open, from);
	}
	progress("open", opt_open, opt_open, from);
	memory_used("idle", &before);
	from = now_ms();
	for (round = 0; round < opt_rounds; round++) {
		for (i = 0; i < opt_open; i++)
			echo(fds[i], i, round);
	}
	progress("echo", opt_open * opt_rounds, opt_open * opt_rounds, from);
	/* All of them at once. */
	from = now_ms();
	for (i = 0; i < opt_open; i++)
		send_all(fds[i], &i, sizeof(i));
	for (i = 0; i < opt_open; i++) {
		int id;

		recv_all(fds[i], &id, sizeof(id));
		CHECK(id == i, "%d from connection %d", id, i);
	}
	progress("echo at once", opt_open, opt_open, from);
	memory_used("idle again", &before);
	from = now_ms();
	for (i = 0; i < opt_open; i++)
		MUST(close(fds[i]));
	progress("close", opt_open, opt_open, from);
	free(fds);
}

static const struct addr *cycle_addr;
static int cycles_done;
static int cycles_refused;

static void cycle(void *arg)
{
	uint32_t seed = (long)arg;
	int i, fd;

	while ((i = __atomic_fetch_add(&cycles_done, 1, __ATOMIC_RELAXED)) < opt_cycles) {
		for (;;) {
			fd = open_socket(opt_ip, 0);
			if (!connect(fd, &cycle_addr->sa, cycle_addr->len))
				break;
			/* A full backlog may refuse. */
			CHECK(errno == ECONNREFUSED, "connect: %s", err_name(errno));
			MUST(close(fd));
			__atomic_add_fetch(&cycles_refused, 1, __ATOMIC_RELAXED);
			sleep_ms(1);
		}
		echo(fd, seed, i);
		/* Closed by both in turn. */
		if (i % 2) {
			MUST(shutdown(fd, SHUT_WR));
			expect_end(fd);
		}
		MUST(close(fd));
	}
}

static void run_cycles(const struct addr *where)
{
	struct worker *w = calloc(opt_threads, sizeof(*w));
	long long from = now_ms(), next = from + 5000;
	int i, done;

	cycle_addr = where;
	for (i = 0; i < opt_threads; i++)
		start(&w[i], cycle, (void *)(long)i);
	while ((done = __atomic_load_n(&cycles_done, __ATOMIC_RELAXED)) < opt_cycles) {
		if (now_ms() > next) {
			progress("cycles", done, opt_cycles, from);
			next += 5000;
		}
		sleep_ms(1);
	}
	for (i = 0; i < opt_threads; i++)
		join(&w[i]);
	progress("cycles", opt_cycles, opt_cycles, from);
	if (cycles_refused)
		printf("refused and tried again: %d\n", cycles_refused);
	free(w);
}

/* --- holding ----------------------------------------------------------------------- */

enum hold { HOLD_RECV, HOLD_SEND, HOLD_POLL, HOLD_EPOLL, HOLD_IDLE, HOLD_ACCEPT, HOLDS };

static const char * const hold_names[] = {
	"recv", "send", "poll", "epoll", "idle", "accept",
};

struct held {
	enum hold how;
	struct pair p;
	long long ret;
	int err;
	bool ended;
	struct worker w;
};

static void run_hold(void *arg)
{
	struct held *h = arg;
	struct pollfd pfd = { .fd = h->p.c, .events = POLLIN | POLLRDHUP };
	struct epoll_event ev = { .events = EPOLLIN };
	char buf[1000] = { };
	int ep;

	errno = 0;
	switch (h->how) {
	case HOLD_RECV:
		h->ret = recv(h->p.c, buf, sizeof(buf), 0);
		break;
	case HOLD_SEND:
		while ((h->ret = send(h->p.c, buf, sizeof(buf), MSG_NOSIGNAL)) > 0)
			;
		break;
	case HOLD_POLL:
		h->ret = poll(&pfd, 1, -1);
		break;
	case HOLD_EPOLL:
		ep = MUST(epoll_create1(0));
		MUST(epoll_ctl(ep, EPOLL_CTL_ADD, h->p.c, &ev));
		h->ret = epoll_wait(ep, &ev, 1, -1);
		break;
	case HOLD_ACCEPT:
		h->ret = accept(h->p.c, NULL, NULL);
		break;
	default:
		break;
	}
	h->err = h->ret < 0 ? errno : 0;
	h->ended = true;
}

static int hold(void)
{
	struct held *held = calloc(opt_hold, sizeof(*held));
	int i, failed = 0, left;
	struct addr where;
	long long end;

	for (i = 0; i < opt_hold; i++) {
		held[i].how = i % HOLDS;
		if (held[i].how == HOLD_ACCEPT)
			held[i].p.c = open_listener(opt_ip, 4, &where);
		else
			held[i].p = open_small_pair(opt_ip, 65536);
		if (held[i].how != HOLD_IDLE)
			start(&held[i].w, run_hold, &held[i]);
	}
	for (i = 0; i < opt_hold; i++) {
		if (held[i].how != HOLD_IDLE)
			wait_blocked(&held[i].w);
		CHECK(!held[i].ended, "%s ended early: %lld, %s", hold_names[held[i].how],
		      held[i].ret, err_name(held[i].err));
	}
	printf("%d held\n", opt_hold);
	if (opt_ready)
		MUST(close(MUST(open(opt_ready, O_CREAT | O_WRONLY, 0666))));

	/* Until the first ends we wait as long as it takes, then not long. */
	for (end = 0, left = opt_hold; left && (!end || now_ms() < end); sleep_ms(5)) {
		for (i = 0, left = 0; i < opt_hold; i++) {
			if (held[i].how == HOLD_IDLE || held[i].how == HOLD_ACCEPT)
				continue;
			left += !held[i].ended;
			if (held[i].ended && !end)
				end = now_ms() + hang_seconds() * 1000;
		}
	}
	for (i = 0; i < opt_hold; i++) {
		struct held *h = &held[i];
		int events, err;

		/* A listener may outlive a device: it is for all of them. */
		if (h->how == HOLD_ACCEPT) {
			if (h->ended)
				printf("accept: %lld, %s\n", h->ret, err_name(h->err));
			else if (shutdown(h->p.c, SHUT_RD))	/* just now? */
				CHECK(errno == ENOTCONN, "shutdown: %s", err_name(errno));
			join(&h->w);
			MUST(close(h->p.c));
			continue;
		}
		if (h->how != HOLD_IDLE && !h->ended) {
			printf("FAIL %s blocks on\n", hold_names[h->how]);
			failed++;
			continue;
		}
		if (h->how != HOLD_IDLE)
			join(&h->w);
		events = poll_ms(h->p.c, BASIC_EVENTS, hang_seconds() * 1000);
		err = get_int(h->p.c, SOL_SOCKET, SO_ERROR);
		printf("%s: %lld, %s; then %s, SO_ERROR %s\n", hold_names[h->how], h->ret,
		       err_name(h->err), event_text(events), err_name(err));
		/* It is over, and each end can tell. */
		for (err = 0; err < 1000 && send(h->p.c, "x", 1, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0;
		     err++)
			sleep_ms(1);
		if (err == 1000 || errno == EAGAIN) {
			printf("FAIL %s: the socket still sends\n", hold_names[h->how]);
			failed++;
		}
		poll_ms(h->p.s, POLLIN | POLLRDHUP, hang_seconds() * 1000);
		/* And still a socket. */
		local_name(h->p.c);
		set_int(h->p.c, SOL_SOCKET, SO_KEEPALIVE, 1);
		close_pair(&h->p);
	}
	printf("%d ended, %d failed\n", opt_hold - failed, failed);
	free(held);
	if (failed)
		_exit(1);
	return 0;
}

static int number(const char *text)
{
	char *end;
	long n = strtol(text, &end, 0);

	if (*end || n < 0 || n > 10000000) {
		fprintf(stderr, "%s?\n%s", text, usage);
		exit(2);
	}
	return n;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "open", required_argument, NULL, 'n' },
		{ "cycles", required_argument, NULL, 'm' },
		{ "threads", required_argument, NULL, 'p' },
		{ "bytes", required_argument, NULL, 'b' },
		{ "rounds", required_argument, NULL, 'r' },
		{ "ipv6", no_argument, NULL, '6' },
		{ "hold", required_argument, NULL, 'l' },
		{ "ready", required_argument, NULL, 'f' },
		{ "help", no_argument, NULL, 'h' },
		{ }
	};
	struct rlimit files;
	struct addr where;
	int listener, c;
	pid_t pid;

	while ((c = getopt_long(argc, argv, "n:m:p:b:r:6l:f:h", options, NULL)) >= 0) {
		switch (c) {
		case 'n':
			opt_open = number(optarg);
			break;
		case 'm':
			opt_cycles = number(optarg);
			break;
		case 'p':
			opt_threads = number(optarg);
			break;
		case 'b':
			opt_bytes = number(optarg);
			break;
		case 'r':
			opt_rounds = number(optarg);
			break;
		case '6':
			opt_ip = IPV6;
			break;
		case 'l':
			opt_hold = number(optarg);
			break;
		case 'f':
			opt_ready = optarg;
			break;
		case 'h':
			fputs(usage, stdout);
			return 0;
		default:
			fputs(usage, stderr);
			return 2;
		}
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	signal(SIGPIPE, SIG_IGN);
	getrlimit(RLIMIT_NOFILE, &files);
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
	standalone();
	if (opt_hold)
		return hold();

	listener = open_listener(opt_ip, 4096, &where);
	pid = fork_child();
	if (!pid)
		serve(listener);
	MUST(close(listener));
	if (opt_open)
		open_many(&where);
	if (opt_cycles)
		run_cycles(&where);
	kill_child(pid);
	return 0;
}
