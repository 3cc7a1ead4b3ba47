// SPDX-License-Identifier: GPL-2.0
/*
 * Load between two hosts, each byte of which is checked.
 *
 *	pair_load serve			answers, a process for each connection
 *	pair_load stream IP MIB		both directions at once
 *	pair_load place IP MIB		each side places in memory of the other
 *	pair_load survive IP WHO	connections that lose their peer: see below
 *
 * IP is 4 or 6. The addresses are those of the tests (util.h). The client says
 * in a header what will happen, and reports what was moved, and in what time.
 */
#include <linux/tcp.h>
#include <signal.h>
#include <stdlib.h>

#include "iomap_util.h"

#define PORT		7600
#define CHUNK		(256 * KB)
#define MAX_PIECE	(128 * KB)

/* CALL: connect to the client's address, too. HOLD: do not read. */
enum what { STREAM, PLACE, HOLD, CALL };

/* The sides, which are the seeds of what they send */
enum { SERVER, CLIENT };

/* Both hosts are of the same kind. */
struct request {
	uint32_t what;
	uint32_t port;		/* CALL */
	uint64_t len;		/* STREAM, PLACE: in each direction */
};

/* --- streams ------------------------------------------------------------------ */

struct flow {
	struct stream st;
	uint64_t len;
	struct worker w;
};

static void run_sender(void *arg)
{
	struct flow *f = arg;

	send_stream(&f->st, f->len, CHUNK);
}

/* Nobody leaves while the other still looks at what it got. */
static void both_are_done(int fd)
{
	char byte = 'd';

	send_all(fd, &byte, 1);
	recv_all(fd, &byte, 1);
}

static void stream(int fd, uint64_t len, uint32_t side)
{
	struct flow out = { .st = { .fd = fd, .seed = side }, .len = len };
	struct stream in = { .fd = fd, .seed = !side };

	start(&out.w, run_sender, &out);
	recv_stream(&in, len, CHUNK);
	MUST_BE(pthread_join(out.w.thread, NULL), 0);
	both_are_done(fd);
	MUST(shutdown(fd, SHUT_WR));
	expect_end(fd);
}

/* --- direct placement ---------------------------------------------------------- */

struct piece {
	size_t at, len;
};

/* Pieces of any size in any order, which are all of it */
static size_t cut(struct piece *pieces, size_t len)
{
	uint32_t state = env_number("RSOCK_SEED", 1);
	size_t n = 0, at, size, other;
	struct piece p;

	for (at = 0; at < len; at += size) {
		size = rnd_range(&state, 1, MAX_PIECE);
		size = size < len - at ? size : len - at;
		pieces[n++] = (struct piece){ at, size };
	}
	for (at = n; at > 1; at--) {
		other = rnd_range(&state, 0, at - 1);
		p = pieces[at - 1];
		pieces[at - 1] = pieces[other];
		pieces[other] = p;
	}
	return n;
}

static void place_pieces(int fd, size_t len, off_t offset, uint32_t seed)
{
	struct piece *pieces = memory(len * sizeof(*pieces));
	char *buf = memory(MAX_PIECE);
	size_t i, n = cut(pieces, len);

	for (i = 0; i < n; i++) {
		pattern_fill(buf, pieces[i].len, seed, pieces[i].at);
		place_all(fd, buf, pieces[i].len, offset + pieces[i].at);
	}
	munmap(pieces, len * sizeof(*pieces));
	munmap(buf, MAX_PIECE);
}

static void place_both(int fd, size_t len, uint32_t side)
{
	char *mem = memory(len);
	off_t own = MUST(riomap(fd, mem, len, PROT_WRITE, 0, FREE_OFFSET)), there;

	send_all(fd, &own, sizeof(own));
	recv_all(fd, &there, sizeof(there));
	place_pieces(fd, len, there, side);
	/* What the peer placed is there before what it sends then. */
	both_are_done(fd);
	pattern_check(mem, len, !side, 0);
	both_are_done(fd);
	MUST(riounmap(fd, mem, len));
	munmap(mem, len);
}

/* --- the client ------------------------------------------------------------------ */

static int ask(int ip, struct request r)
{
	struct addr where = target_addr(ip, PORT);
	int fd = open_client(ip, &where);

	send_all(fd, &r, sizeof(r));
	return fd;
}

static void load(enum what what, int ip, uint64_t len)
{
	long long begin = now_ms();
	int fd = ask(ip, (struct request){ .what = what, .len = len });

	if (what == STREAM)
		stream(fd, len, CLIENT);
	else
		place_both(fd, len, CLIENT);
	MUST(close(fd));
	printf("%llu bytes each way in %lld ms\n", (unsigned long long)len, now_ms() - begin);
}

/*
 * "survive" opens connections of these kinds, says so, and waits for a line on
 * its standard input: then the peer is lost, and all end for that reason. It
 * says so, and waits for another line: the listener goes on, for the peer (WHO
 * is "peer") or for this host itself ("self").
 */
enum kind { IDLE, ACCEPTED, UNACKED, USER_TIMEOUT, FULL, BLOCKED, KINDS };

static const char * const kind_names[] = {
	[IDLE] = "idle, keepalive",
	[ACCEPTED] = "idle, keepalive of the listener",
	[UNACKED] = "unacknowledged data",
	[USER_TIMEOUT] = "unacknowledged data, user timeout",
	[FULL] = "the peer did not read",
	[BLOCKED] = "blocked in recv(), keepalive",
};

struct loss {
	int fd;
	int blocked_errno;
	struct worker w;
};

static void keep(int fd)
{
	set_int(fd, IPPROTO_TCP, TCP_KEEPIDLE, 2);
	set_int(fd, IPPROTO_TCP, TCP_KEEPINTVL, 1);
	set_int(fd, IPPROTO_TCP, TCP_KEEPCNT, 3);
	set_int(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
}

/* The peer calls back; what it called from stays, too. */
static int be_called(int ip, int listener)
{
	struct addr own = local_name(listener);
	char byte;
	int fd;

	ask(ip, (struct request){ .what = CALL, .port = addr_port(&own) });
	fd = accept_one(listener);
	recv_all(fd, &byte, 1);
	return fd;
}

static void run_blocked(void *arg)
{
	struct loss *l = arg;
	char byte;

	l->blocked_errno = recv(l->fd, &byte, 1, 0) < 0 ? errno : 0;
}

static void open_one(struct loss *l, enum kind kind, int ip, int listener)
{
	struct stream out = { .seed = CLIENT };

	l->fd = kind == ACCEPTED ? be_called(ip, listener) :
				   ask(ip, (struct request){ .what = HOLD });
	if (kind == IDLE || kind == FULL || kind == BLOCKED)
		keep(l->fd);
	if (kind == USER_TIMEOUT)
		set_int(l->fd, IPPROTO_TCP, TCP_USER_TIMEOUT, 3000);
	if (kind == FULL) {
		out.fd = l->fd;
		send_until_full(&out);
	}
	if (kind == BLOCKED) {
		start(&l->w, run_blocked, l);
		wait_blocked(&l->w);
	}
}

static void say_and_wait(const char *text)
{
	char line[16];

	puts(text);
	CHECK(fgets(line, sizeof(line), stdin), "no line");
}

/* TCP may have been told that there is no host any more. */
static void must_be_lost(int err)
{
	CHECK(err == ETIMEDOUT || (is_tcp() && err == EHOSTUNREACH), "%s", err_name(err));
}

static void expect_lost(struct loss *l, enum kind kind, long long since)
{
	char byte;

	wait_events(l->fd, POLLERR);
	if (kind == BLOCKED) {
		MUST_BE(pthread_join(l->w.thread, NULL), 0);
		must_be_lost(l->blocked_errno);
	} else {
		must_be_lost(get_int(l->fd, SOL_SOCKET, SO_ERROR));
	}
	/* That TCP heard of no host is an error of its own. */
	if (!is_tcp())
		MUST_BE(get_int(l->fd, SOL_SOCKET, SO_ERROR), 0);
	MUST_BE(recv(l->fd, &byte, 1, 0), 0);
	MUST_FAIL(send(l->fd, "x", 1, MSG_NOSIGNAL), EPIPE);
	close(l->fd);
	printf("%s: lost within %lld ms\n", kind_names[kind], now_ms() - since);
}

static void call_oneself(int ip, int listener)
{
	struct addr own = local_name(listener);
	struct pair p = { .c = open_client(ip, &own) };

	p.s = accept_one(listener);
	expect_alive(p.c, p.s);
}

static void survive(int ip, bool peer_returns)
{
	struct addr own = client_addr(ip, 0);
	struct loss l[KINDS];
	int listener, i;
	long long since;

	listener = open_socket(ip, 0);
	keep(listener);
	MUST(bind(listener, &own.sa, own.len));
	MUST(listen(listener, 1));
	for (i = 0; i < KINDS; i++)
		open_one(&l[i], i, ip, listener);
	say_and_wait("ready");
	since = now_ms();
	send_all(l[UNACKED].fd, "x", 1);
	send_all(l[USER_TIMEOUT].fd, "x", 1);
	for (i = 0; i < KINDS; i++)
		expect_lost(&l[i], i, since);
	say_and_wait("lost");
	if (peer_returns)
		be_called(ip, listener);
	else
		call_oneself(ip, listener);
	puts("the listener goes on");
}

/* --- the server --------------------------------------------------------------------- */

static void call(int fd, uint32_t port)
{
	struct addr where = peer_name(fd);

	set_port(&where, port);
	send_all(open_client(where.sa.sa_family == AF_INET ? IPV4 : IPV6, &where), "c", 1);
}

static void answer(int fd)
{
	struct request r;

	recv_all(fd, &r, sizeof(r));
	switch (r.what) {
	case STREAM:
		stream(fd, r.len, SERVER);
		break;
	case PLACE:
		place_both(fd, r.len, SERVER);
		break;
	case CALL:
		call(fd, r.port);
		/* fallthrough */
	case HOLD:
		/* Until there is an error, or the server is ended */
		poll_ms(fd, 0, -1);
		break;
	default:
		CHECK(false, "request %u", r.what);
	}
}

static int listen_on(int ip)
{
	struct addr a = server_addr(ip, PORT);
	int fd = open_socket(ip, 0);

	set_int(fd, SOL_SOCKET, SO_REUSEADDR, 1);
	MUST(bind(fd, &a.sa, a.len));
	MUST(listen(fd, 16));
	return fd;
}

static void serve(void)
{
	struct pollfd listeners[] = {
		{ .fd = listen_on(IPV4), .events = POLLIN },
		{ .fd = listen_on(IPV6), .events = POLLIN },
	};
	size_t i;
	int fd;

	signal(SIGCHLD, SIG_IGN);
	for (;;) {
		MUST(poll(listeners, ARRAY_SIZE(listeners), -1));
		for (i = 0; i < ARRAY_SIZE(listeners); i++) {
			if (!listeners[i].revents)
				continue;
			fd = MUST(accept(listeners[i].fd, NULL, NULL));
			if (!fork_child()) {
				answer(fd);
				_exit(0);
			}
			close(fd);
		}
	}
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	int ip = argc > 2 && atoi(argv[2]) == 6 ? IPV6 : IPV4;

	standalone();
	setvbuf(stdout, NULL, _IOLBF, 0);
	signal(SIGPIPE, SIG_IGN);
	if (argc == 2 && !strcmp(what, "serve"))
		serve();
	else if (argc == 4 && !strcmp(what, "stream"))
		load(STREAM, ip, atoll(argv[3]) * MB);
	else if (argc == 4 && !strcmp(what, "place"))
		load(PLACE, ip, atoll(argv[3]) * MB);
	else if (argc == 4 && !strcmp(what, "survive"))
		survive(ip, !strcmp(argv[3], "peer"));
	else
		CHECK(false, "see the head of pair_load.c");
	return 0;
}
