// SPDX-License-Identifier: GPL-2.0
/*
 * The states that a socket can be in: for each, how a fresh one gets there. What
 * can be waited for is; what settles late is waited for by the first line of
 * the record.
 */
#include <fcntl.h>
#include <stdlib.h>

#include "matrix.h"

int matrix_ip = IPV4;

/* --- addresses -------------------------------------------------------------------- */

/*
 * Where nobody answers: see matrix.sh. Loopback has no such address, but TCP's
 * listener with a full backlog answers as little.
 */
struct addr dead_address(void)
{
	const char *text = getenv(matrix_ip == IPV6 ? "RSOCK_DEAD6" : "RSOCK_DEAD4");
	struct addr a;
	int i;

	if (text && *text) {
		a = make_addr(text, 7471);
		return matrix_ip == MAPPED ? mapped(&a) : a;
	}
	CHECK(is_tcp(), "RSOCK_DEAD4 or RSOCK_DEAD6 is not set");
	open_listener(matrix_ip, 0, &a);
	for (i = 0; i < 4; i++)
		connect(open_socket(matrix_ip, SOCK_NONBLOCK), &a.sa, a.len);
	return a;
}

/* The port stays taken, so that no other case listens there. */
struct addr refusing_address(void)
{
	struct addr a = server_addr(matrix_ip, 0), name;
	int fd = open_socket(matrix_ip, 0);

	MUST(bind(fd, &a.sa, a.len));
	name = local_name(fd);
	return target_addr(matrix_ip, addr_port(&name));
}

struct addr live_address(void)
{
	struct addr a;

	open_listener(matrix_ip, 8, &a);
	return a;
}

/* --- without a connection ------------------------------------------------------------ */

static void unbound(struct place *p)
{
	p->fd = open_socket(matrix_ip, 0);
}

static void bound(struct place *p)
{
	struct addr a = server_addr(matrix_ip, 0);

	p->fd = open_socket(matrix_ip, 0);
	MUST(bind(p->fd, &a.sa, a.len));
}

static void listening(struct place *p)
{
	struct addr a;

	p->fd = open_listener(matrix_ip, 8, &a);
}

static void connection_waits(struct place *p)
{
	struct addr a;

	p->fd = open_listener(matrix_ip, 8, &a);
	p->other = open_client(matrix_ip, &a);
	wait_events(p->fd, POLLIN);
}

static void listened(struct place *p)
{
	listening(p);
	MUST(shutdown(p->fd, SHUT_RDWR));
}

static void connect_to(struct place *p, struct addr a)
{
	p->fd = open_socket(matrix_ip, SOCK_NONBLOCK);
	MUST_FAIL(connect(p->fd, &a.sa, a.len), EINPROGRESS);
}

static bool has_name(void *arg)
{
	const struct place *p = arg;
	struct addr own = local_name(p->fd);

	return addr_port(&own);
}

/* AF_RSOCK has a name once the device is found, which may take a moment. */
static void connecting(struct place *p)
{
	connect_to(p, dead_address());
	CHECK(eventually(has_name, p), "no name");
}

static void refused(struct place *p)
{
	connect_to(p, refusing_address());
	wait_events(p->fd, POLLOUT);
}

static void refused_told(struct place *p)
{
	refused(p);
	MUST_BE(get_int(p->fd, SOL_SOCKET, SO_ERROR), ECONNREFUSED);
}

/* --- with one ------------------------------------------------------------------------- */

static void connected(struct place *p)
{
	struct pair pair = open_pair(matrix_ip);

	p->fd = pair.c;
	p->peer = pair.s;
}

static void accepted(struct place *p)
{
	struct pair pair = open_pair(matrix_ip);

	p->fd = pair.s;
	p->peer = pair.c;
}

static void readable(struct place *p)
{
	connected(p);
	send_all(p->peer, "hello", 5);
	wait_inq(p->fd, 5);
}

static void shut_rd(struct place *p)
{
	connected(p);
	MUST(shutdown(p->fd, SHUT_RD));
}

static void shut_wr(struct place *p)
{
	connected(p);
	MUST(shutdown(p->fd, SHUT_WR));
	wait_events(p->peer, POLLRDHUP);
}

static void shut_rdwr(struct place *p)
{
	connected(p);
	MUST(shutdown(p->fd, SHUT_RDWR));
	wait_events(p->peer, POLLRDHUP);
}

static void peer_shut_rd(struct place *p)
{
	connected(p);
	MUST(shutdown(p->peer, SHUT_RD));
}

static void peer_shut_wr(struct place *p)
{
	connected(p);
	MUST(shutdown(p->peer, SHUT_WR));
	wait_events(p->fd, POLLRDHUP);
}

static bool has_no_peer(void *arg)
{
	struct addr a = { .len = sizeof(a.ss) };
	struct place *p = arg;

	return getpeername(p->fd, &a.sa, &a.len) < 0 && errno == ENOTCONN;
}

static void both_shut_wr(struct place *p)
{
	peer_shut_wr(p);
	MUST(shutdown(p->fd, SHUT_WR));
	/* The end has arrived there. */
	CHECK(eventually(has_no_peer, p), "it does not end");
}

static void close_peer(struct place *p)
{
	MUST(close(p->peer));
	p->peer = -1;
	wait_events(p->fd, POLLRDHUP);
}

static void peer_closed(struct place *p)
{
	connected(p);
	close_peer(p);
}

static void peer_closed_readable(struct place *p)
{
	readable(p);
	close_peer(p);
}

static void reset_by_peer(struct place *p)
{
	set_linger(p->peer, true, 0);
	close_peer(p);
}

static void peer_reset(struct place *p)
{
	connected(p);
	reset_by_peer(p);
}

static void peer_reset_readable(struct place *p)
{
	readable(p);
	reset_by_peer(p);
}

static void peer_reset_told(struct place *p)
{
	peer_reset(p);
	MUST_BE(get_int(p->fd, SOL_SOCKET, SO_ERROR), ECONNRESET);
}

static void disconnected(struct place *p)
{
	struct sockaddr none = { .sa_family = AF_UNSPEC };

	connected(p);
	MUST(connect(p->fd, &none, sizeof(none)));
	wait_events(p->peer, POLLRDHUP);
}

/* Its number is one that nobody else is given. */
static void closed(struct place *p)
{
	int low;

	connected(p);
	low = p->fd;
	p->fd = MUST(fcntl(low, F_DUPFD, 500));
	MUST(close(low));
	MUST(close(p->fd));
	wait_events(p->peer, POLLRDHUP);
}

const struct state states[] = {
	{ "unbound", unbound },
	{ "bound", bound },
	{ "listening", listening, true },
	{ "connection waits", connection_waits },
	{ "listened", listened },
	{ "connecting", connecting, true },
	{ "refused", refused },
	{ "refused, told", refused_told },
	{ "connected", connected, true },
	{ "accepted", accepted },
	{ "readable", readable },
	{ "shut RD", shut_rd },
	{ "shut WR", shut_wr, true },
	{ "shut RDWR", shut_rdwr },
	{ "peer shut RD", peer_shut_rd },
	{ "peer shut WR", peer_shut_wr },
	{ "both shut WR", both_shut_wr },
	{ "peer closed", peer_closed },
	{ "peer closed, readable", peer_closed_readable },
	{ "peer reset", peer_reset },
	{ "peer reset, readable", peer_reset_readable },
	{ "peer reset, told", peer_reset_told },
	{ "disconnected", disconnected },
	{ "closed", closed },
};

const int nr_states = ARRAY_SIZE(states);

struct place make_state(const char *name)
{
	struct place p = { .fd = -1, .peer = -1, .other = -1 };
	int i;

	for (i = 0; i < nr_states; i++) {
		if (!strcmp(states[i].name, name)) {
			states[i].make(&p);
			return p;
		}
	}
	CHECK(i < nr_states, "no state \"%s\"", name);
	return p;
}
