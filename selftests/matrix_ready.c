// SPDX-License-Identifier: GPL-2.0
/*
 * Readiness: epoll in all its ways, select(), and signals instead.
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/select.h>

#include "matrix.h"

#define EPOLL_ALL	(EPOLLIN | EPOLLOUT | EPOLLPRI | EPOLLRDHUP)

static int new_epoll(void)
{
	return MUST(epoll_create1(0));
}

static int add(int ep, int fd, uint32_t events)
{
	struct epoll_event e = { .events = events };

	return epoll_ctl(ep, EPOLL_CTL_ADD, fd, &e);
}

static void watch(int ep, int fd, uint32_t events)
{
	MUST(add(ep, fd, events));
}

/* All that is told from now on, until nothing comes any more */
static uint32_t gathered;

static const char *look_epoll(int ep)
{
	struct epoll_event e[4];
	int i, n = MUST(epoll_wait(ep, e, 4, 0));

	for (i = 0; i < n; i++)
		gathered |= e[i].events;
	return event_text(gathered);
}

static void rec_epoll(const char *label, int ep)
{
	gathered = 0;
	rec_settled(label, look_epoll, ep);
}

static void take(int fd)
{
	char buf[100];

	MUST(recv(fd, buf, sizeof(buf), MSG_DONTWAIT));
}

/* What happens to a connection, as an epoll sees it that watches "events" */
static void through_life(uint32_t events)
{
	struct place p = make_state("connected");
	int ep = new_epoll();

	watch(ep, p.fd, events);
	rec_epoll("new", ep);
	rec_epoll("again", ep);
	send_all(p.peer, "one", 3);
	wait_inq(p.fd, 3);
	rec_epoll("data", ep);
	rec_epoll("again", ep);
	send_all(p.peer, "two", 3);
	wait_inq(p.fd, 6);
	rec_epoll("more data", ep);
	take(p.fd);
	rec_epoll("taken", ep);
	MUST(shutdown(p.peer, SHUT_WR));
	wait_events(p.fd, POLLRDHUP);
	rec_epoll("end", ep);
	rec_epoll("again", ep);
	take(p.fd);
	MUST(shutdown(p.fd, SHUT_WR));
	rec_epoll("both ends", ep);
	rec_epoll("again", ep);
}

static void epoll_level(void)
{
	through_life(EPOLL_ALL);
}

static void epoll_edge(void)
{
	through_life(EPOLL_ALL | EPOLLET);
}

static void epoll_in(void)
{
	through_life(EPOLLIN);
}

static void epoll_in_edge(void)
{
	through_life(EPOLLIN | EPOLLET);
}

static void epoll_nothing(void)
{
	through_life(0);
}

static void epoll_exclusive(void)
{
	through_life(EPOLLIN | EPOLLOUT | EPOLLEXCLUSIVE);
}

static void epoll_exclusive_edge(void)
{
	through_life(EPOLLIN | EPOLLOUT | EPOLLEXCLUSIVE | EPOLLET);
}

static void epoll_oneshot(void)
{
	struct epoll_event e = { .events = EPOLL_ALL | EPOLLONESHOT };
	struct place p = make_state("connected");
	int ep = new_epoll();

	watch(ep, p.fd, e.events);
	rec_epoll("new", ep);
	send_all(p.peer, "one", 3);
	wait_inq(p.fd, 3);
	rec_epoll("data", ep);
	MUST(epoll_ctl(ep, EPOLL_CTL_MOD, p.fd, &e));
	rec_epoll("again", ep);
	MUST(close(p.peer));
	wait_events(p.fd, POLLRDHUP);
	rec_epoll("closed", ep);
	MUST(epoll_ctl(ep, EPOLL_CTL_MOD, p.fd, &e));
	rec_epoll("again", ep);
}

static void epoll_reset(uint32_t events)
{
	struct place p = make_state("connected");
	int ep = new_epoll();

	watch(ep, p.fd, events);
	rec_epoll("new", ep);
	set_linger(p.peer, true, 0);
	MUST(close(p.peer));
	rec_epoll("reset", ep);
	rec_epoll("again", ep);
	rec_error(p.fd);
	rec_epoll("told", ep);
}

static void epoll_reset_level(void)
{
	epoll_reset(EPOLL_ALL);
}

static void epoll_reset_edge(void)
{
	epoll_reset(EPOLL_ALL | EPOLLET);
}

/* Watched from before it connects */
static void epoll_from_birth(uint32_t events, struct addr where)
{
	int ep = new_epoll(), fd = open_socket(IPV4, SOCK_NONBLOCK);

	watch(ep, fd, events);
	rec_epoll("new", ep);
	rec_epoll("again", ep);
	TRY("connect", connect(fd, &where.sa, where.len));
	rec_epoll("connected", ep);
	rec_epoll("again", ep);
	rec_error(fd);
}

static void epoll_birth_level(void)
{
	epoll_from_birth(EPOLL_ALL, live_address());
}

static void epoll_birth_edge(void)
{
	epoll_from_birth(EPOLL_ALL | EPOLLET, live_address());
}

static void epoll_birth_out(void)
{
	epoll_from_birth(EPOLLOUT | EPOLLET, live_address());
}

static void epoll_birth_refused(void)
{
	epoll_from_birth(EPOLL_ALL, refusing_address());
}

static void epoll_birth_refused_edge(void)
{
	epoll_from_birth(EPOLL_ALL | EPOLLET, refusing_address());
}

static void epoll_birth_no_answer(void)
{
	epoll_from_birth(EPOLL_ALL, dead_address());
}

static void epoll_listener(uint32_t events)
{
	int ep = new_epoll(), fd = open_socket(IPV4, 0);
	struct addr a = server_addr(IPV4, 0);

	watch(ep, fd, events);
	rec_epoll("new", ep);
	MUST(bind(fd, &a.sa, a.len));
	rec_epoll("bound", ep);
	MUST(listen(fd, 4));
	rec_epoll("listening", ep);
	a = local_name(fd);
	open_client(IPV4, &a);
	rec_epoll("connection", ep);
	rec_epoll("again", ep);
	open_client(IPV4, &a);
	rec_epoll("another", ep);
	accept_one(fd);
	rec_epoll("accepted", ep);
	accept_one(fd);
	rec_epoll("both", ep);
	MUST(shutdown(fd, SHUT_RDWR));
	rec_epoll("shut down", ep);
}

static void epoll_listener_level(void)
{
	epoll_listener(EPOLL_ALL);
}

static void epoll_listener_edge(void)
{
	epoll_listener(EPOLL_ALL | EPOLLET);
}

static void epoll_nested(void)
{
	struct place p = make_state("connected");
	int inner = new_epoll(), outer = new_epoll();

	watch(inner, p.fd, EPOLLIN);
	watch(outer, inner, EPOLLIN);
	rec_epoll("new", outer);
	send_all(p.peer, "one", 3);
	wait_inq(p.fd, 3);
	rec_epoll("data", outer);
	rec_epoll("inner", inner);
	take(p.fd);
	rec_epoll("taken", outer);
	MUST(close(p.peer));
	wait_events(p.fd, POLLRDHUP);
	rec_epoll("closed", outer);
}

static void epoll_control(void)
{
	struct epoll_event e = { .events = EPOLLIN };
	struct place p = make_state("readable");
	int ep = new_epoll(), copy = dup(p.fd);

	TRY("add", add(ep, p.fd, EPOLLIN));
	TRY("add again", add(ep, p.fd, EPOLLIN));
	TRY("add a copy", add(ep, copy, EPOLLIN));
	MUST(epoll_ctl(ep, EPOLL_CTL_DEL, copy, NULL));
	TRY("one-shot, exclusive", add(ep, copy, EPOLLIN | EPOLLONESHOT | EPOLLEXCLUSIVE));
	TRY("change", epoll_ctl(ep, EPOLL_CTL_MOD, p.fd, &e));
	rec_epoll("data", ep);
	TRY("delete", epoll_ctl(ep, EPOLL_CTL_DEL, p.fd, NULL));
	rec_epoll("deleted", ep);
	TRY("delete again", epoll_ctl(ep, EPOLL_CTL_DEL, p.fd, NULL));
	watch(ep, p.fd, EPOLLIN);
	close(p.fd);
	rec_epoll("closed, not the copy", ep);
	close(copy);
	rec_epoll("all are closed", ep);
}

/* Watched from when it connects, or is connected */
static void epoll_later(uint32_t events, struct addr where, bool ended)
{
	int ep = new_epoll(), fd = open_socket(IPV4, SOCK_NONBLOCK);

	TRY("connect", connect(fd, &where.sa, where.len));
	if (ended)
		wait_events(fd, POLLOUT);
	watch(ep, fd, events);
	rec_epoll("watched", ep);
	rec_epoll("again", ep);
	rec_error(fd);
}

static void epoll_connecting(void)
{
	epoll_later(EPOLL_ALL, live_address(), false);
}

static void epoll_connecting_edge(void)
{
	epoll_later(EPOLL_ALL | EPOLLET, live_address(), false);
}

static void epoll_connecting_refused(void)
{
	epoll_later(EPOLL_ALL | EPOLLET, refusing_address(), false);
}

static void epoll_connected_edge(void)
{
	epoll_later(EPOLL_ALL | EPOLLET, live_address(), true);
}

static void epoll_refused_edge(void)
{
	epoll_later(EPOLL_ALL | EPOLLET, refusing_address(), true);
}

static void epoll_birth_oneshot(void)
{
	epoll_from_birth(EPOLLOUT | EPOLLONESHOT, live_address());
}

static void epoll_listener_oneshot(void)
{
	epoll_listener(EPOLLIN | EPOLLONESHOT);
}

static void epoll_listener_exclusive(void)
{
	epoll_listener(EPOLLIN | EPOLLEXCLUSIVE);
}

static void epoll_rdhup(void)
{
	through_life(EPOLLRDHUP | EPOLLET);
}

/* EPOLL_CTL_MOD tells of what there is once more, edges too. */
static void epoll_rearmed(void)
{
	struct epoll_event e = { .events = EPOLL_ALL | EPOLLET };
	struct place p = make_state("readable");
	int ep = new_epoll();

	watch(ep, p.fd, e.events);
	rec_epoll("new", ep);
	rec_epoll("again", ep);
	MUST(epoll_ctl(ep, EPOLL_CTL_MOD, p.fd, &e));
	rec_epoll("changed", ep);
	e.events = EPOLLOUT | EPOLLET;
	MUST(epoll_ctl(ep, EPOLL_CTL_MOD, p.fd, &e));
	rec_epoll("to write", ep);
	MUST(shutdown(p.peer, SHUT_WR));
	wait_events(p.fd, POLLRDHUP);
	rec_epoll("end", ep);
	e.events = EPOLLIN | EPOLLET;
	MUST(epoll_ctl(ep, EPOLL_CTL_MOD, p.fd, &e));
	rec_epoll("to read", ep);
}

/* Each of two is told. */
static void epoll_two(void)
{
	struct place p = make_state("connected");
	int level = new_epoll(), edge = new_epoll();

	watch(level, p.fd, EPOLLIN);
	watch(edge, dup(p.fd), EPOLLIN | EPOLLET);
	send_all(p.peer, "one", 3);
	rec_epoll("level", level);
	rec_epoll("edge", edge);
	take(p.fd);
	rec_epoll("level, taken", level);
	rec_epoll("edge, taken", edge);
	MUST(close(p.peer));
	rec_epoll("level, closed", level);
	rec_epoll("edge, closed", edge);
}

/* An epoll in an epoll in an epoll, with edges */
static void epoll_nested_edge(void)
{
	struct place p = make_state("connected");
	int inner = new_epoll(), middle = new_epoll(), outer = new_epoll();

	watch(inner, p.fd, EPOLLIN | EPOLLET);
	watch(middle, inner, EPOLLIN | EPOLLET);
	watch(outer, middle, EPOLLIN | EPOLLET);
	rec_epoll("new", outer);
	send_all(p.peer, "one", 3);
	wait_inq(p.fd, 3);
	rec_epoll("data", outer);
	rec_epoll("again", outer);
	send_all(p.peer, "two", 3);
	wait_inq(p.fd, 6);
	rec_epoll("more data", outer);
	rec_epoll("inner", inner);
	MUST(close(p.peer));
	wait_events(p.fd, POLLRDHUP);
	rec_epoll("closed", outer);
	rec_epoll("inner", inner);
}

static void epoll_nested_listener(void)
{
	int inner = new_epoll(), outer = new_epoll(), fd;
	struct addr a;

	fd = open_listener(IPV4, 4, &a);
	watch(inner, fd, EPOLLIN);
	watch(outer, inner, EPOLLIN | EPOLLONESHOT);
	rec_epoll("new", outer);
	open_client(IPV4, &a);
	wait_events(fd, POLLIN);
	rec_epoll("connection", outer);
	rec_epoll("again", outer);
	rec_epoll("inner", inner);
}

#define SLEEPERS	4

static struct {
	struct worker w;
	int ep;
} sleepers[SLEEPERS];

static volatile int awake;

static void sleep_in_epoll(void *arg)
{
	struct epoll_event e;

	if (epoll_wait(*(int *)arg, &e, 1, -1) > 0)
		__sync_fetch_and_add(&awake, 1);
}

static const char *look_awake(int fd)
{
	static char text[20];

	(void)fd;
	snprintf(text, sizeof(text), "%d of %d", awake, SLEEPERS);
	return text;
}

/* How many who wait for one listener does a connection wake? */
static void epoll_herd(uint32_t events)
{
	struct addr a;
	int fd = open_listener(IPV4, 4, &a), i;

	for (i = 0; i < SLEEPERS; i++) {
		sleepers[i].ep = new_epoll();
		watch(sleepers[i].ep, fd, events);
		start(&sleepers[i].w, sleep_in_epoll, &sleepers[i].ep);
		wait_blocked(&sleepers[i].w);
	}
	open_client(IPV4, &a);
	wait_events(fd, POLLIN);
	rec_settled("awake", look_awake, fd);
}

static void epoll_herd_all(void)
{
	epoll_herd(EPOLLIN);
}

static void epoll_herd_exclusive(void)
{
	epoll_herd(EPOLLIN | EPOLLEXCLUSIVE);
}

/* Room to send */
static void epoll_room(uint32_t events)
{
	struct pair p = open_small_pair(IPV4, 16 * KB);
	struct stream out = { .fd = p.c, .seed = 1 }, in = { .fd = p.s, .seed = 1 };
	int ep = new_epoll();
	uint64_t sent;

	watch(ep, p.c, events);
	rec_epoll("new", ep);
	sent = send_until_full(&out);
	rec_epoll("full", ep);
	recv_stream(&in, sent, 16 * KB);
	rec_epoll("room", ep);
	sent = send_until_full(&out);
	gathered = 0;
	look_epoll(ep);
	MUST(shutdown(p.c, SHUT_WR));
	rec_epoll("full, shut down", ep);
}

static void epoll_room_level(void)
{
	epoll_room(EPOLLOUT);
}

static void epoll_room_edge(void)
{
	epoll_room(EPOLLOUT | EPOLLET);
}

/* --- poll(), select() --------------------------------------------------------------- */

static void poll_asks(const char *state)
{
	static const short asked[] = {
		0, POLLIN, POLLOUT, POLLPRI, POLLRDHUP, POLLRDNORM, POLLRDBAND, POLLWRNORM,
		POLLWRBAND, POLLERR, POLLHUP, POLLNVAL, POLLMSG, 0x7fff,
	};
	struct place p = make_state(state);
	char label[32];
	size_t i;

	rec_ready("state", p.fd);
	for (i = 0; i < ARRAY_SIZE(asked); i++) {
		struct pollfd pfd = { .fd = p.fd, .events = asked[i] };
		int n = poll(&pfd, 1, 0);

		snprintf(label, sizeof(label), "asked %#x", asked[i]);
		rec(label, "%d, %#x", n, pfd.revents);
	}
}

static void poll_unbound(void)
{
	poll_asks("unbound");
}

static void poll_listening(void)
{
	poll_asks("connection waits");
}

static void poll_readable(void)
{
	poll_asks("readable");
}

static void poll_closed(void)
{
	poll_asks("both shut WR");
}

static void poll_reset(void)
{
	poll_asks("peer reset");
}

static void select_asks(const char *state)
{
	struct timeval now = { };
	struct place p = make_state(state);
	fd_set in, out, urgent;
	int n;

	FD_ZERO(&in);
	FD_ZERO(&out);
	FD_ZERO(&urgent);
	FD_SET(p.fd, &in);
	FD_SET(p.fd, &out);
	FD_SET(p.fd, &urgent);
	n = select(p.fd + 1, &in, &out, &urgent, &now);
	rec("select", "%d%s%s%s", n, FD_ISSET(p.fd, &in) ? " in" : "",
	    FD_ISSET(p.fd, &out) ? " out" : "", FD_ISSET(p.fd, &urgent) ? " urgent" : "");
}

static void select_states(void)
{
	int i;

	/* The last one is that of a descriptor which does not exist. */
	for (i = 0; i < nr_states - 1; i++) {
		rec("state", "%s", states[i].name);
		select_asks(states[i].name);
	}
}

/* --- SIGIO ------------------------------------------------------------------------------- */

/* How many came since the last look; that some did is what counts */
static volatile sig_atomic_t signals;

static void on_sigio(int sig)
{
	(void)sig;
	signals++;
}

static const char *look_sigio(int fd)
{
	(void)fd;
	return signals ? "signals" : "none";
}

static void rec_sigio(const char *label)
{
	rec_settled(label, look_sigio, 0);
	signals = 0;
}

static void want_sigio(int fd)
{
	struct sigaction sa = { .sa_handler = on_sigio, .sa_flags = SA_RESTART };

	MUST(sigaction(SIGRTMIN, &sa, NULL));
	TRY("F_SETOWN", fcntl(fd, F_SETOWN, getpid()));
	TRY("F_GETOWN", fcntl(fd, F_GETOWN) == getpid() ? 0 : -1);
	TRY("F_SETSIG", fcntl(fd, F_SETSIG, SIGRTMIN));
	TRY("O_ASYNC", fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_ASYNC));
	rec("flags", "%d", !!(fcntl(fd, F_GETFL) & O_ASYNC));
}

static void sigio_data(void)
{
	struct place p = make_state("connected");

	want_sigio(p.fd);
	rec_sigio("new");
	send_all(p.peer, "one", 3);
	rec_sigio("data");
	wait_inq(p.fd, 3);
	send_all(p.peer, "two", 3);
	rec_sigio("more data");
	take(p.fd);
	rec_sigio("taken");
	MUST(shutdown(p.peer, SHUT_WR));
	rec_sigio("end");
}

static void sigio_reset(void)
{
	struct place p = make_state("connected");

	want_sigio(p.fd);
	set_linger(p.peer, true, 0);
	MUST(close(p.peer));
	rec_sigio("reset");
}

static void sigio_connect(struct addr where)
{
	int fd = open_socket(IPV4, SOCK_NONBLOCK);

	want_sigio(fd);
	rec_sigio("new");
	TRY("connect", connect(fd, &where.sa, where.len));
	rec_sigio("connected");
}

static void sigio_connected(void)
{
	sigio_connect(live_address());
}

static void sigio_refused(void)
{
	sigio_connect(refusing_address());
}

static void sigio_listener(void)
{
	struct addr a;
	int fd = open_listener(IPV4, 4, &a);

	want_sigio(fd);
	rec_sigio("new");
	open_client(IPV4, &a);
	rec_sigio("connection");
	fd = accept_one(fd);
	rec("inherited", "%d", !!(fcntl(fd, F_GETFL) & O_ASYNC));
}

static void sigio_ioctls(void)
{
	struct place p = make_state("connected");
	int value = getpid();

	TRY("FIOSETOWN", ioctl(p.fd, 0x8901, &value));
	TRY("FIOGETOWN", ioctl(p.fd, 0x8903, &value));
	rec("owner", "%s", value == getpid() ? "this process" : "another");
	TRY("SIOCSPGRP", ioctl(p.fd, 0x8902, &value));
	TRY("SIOCGPGRP", ioctl(p.fd, 0x8904, &value));
	value = 1;
	TRY("FIOASYNC", ioctl(p.fd, FIOASYNC, &value));
	send_all(p.peer, "one", 3);
	wait_inq(p.fd, 3);
	rec("flags", "%d", !!(fcntl(p.fd, F_GETFL) & O_ASYNC));
}

const struct script ready_scripts[] = {
	{ "epoll, level", epoll_level },
	{ "epoll, edge", epoll_edge },
	{ "epoll, EPOLLIN", epoll_in },
	{ "epoll, EPOLLIN, edge", epoll_in_edge },
	{ "epoll, nothing asked", epoll_nothing },
	{ "epoll, exclusive", epoll_exclusive },
	{ "epoll, exclusive, edge", epoll_exclusive_edge },
	{ "epoll, one-shot", epoll_oneshot },
	{ "epoll, reset", epoll_reset_level },
	{ "epoll, reset, edge", epoll_reset_edge },
	{ "epoll, connect", epoll_birth_level },
	{ "epoll, connect, edge", epoll_birth_edge },
	{ "epoll, connect, EPOLLOUT, edge", epoll_birth_out },
	{ "epoll, refused", epoll_birth_refused },
	{ "epoll, refused, edge", epoll_birth_refused_edge },
	{ "epoll, no answer", epoll_birth_no_answer },
	{ "epoll, connect, one-shot", epoll_birth_oneshot },
	{ "epoll, connecting", epoll_connecting },
	{ "epoll, connecting, edge", epoll_connecting_edge },
	{ "epoll, connecting, refused", epoll_connecting_refused },
	{ "epoll, connected, edge", epoll_connected_edge },
	{ "epoll, was refused, edge", epoll_refused_edge },
	{ "epoll, EPOLLRDHUP, edge", epoll_rdhup },
	{ "epoll, changed", epoll_rearmed },
	{ "epoll, two", epoll_two },
	{ "epoll, listener, one-shot", epoll_listener_oneshot },
	{ "epoll, listener, exclusive", epoll_listener_exclusive },
	{ "epoll, herd", epoll_herd_all },
	{ "epoll, herd, exclusive", epoll_herd_exclusive },
	{ "epoll, nested, edge", epoll_nested_edge },
	{ "epoll, nested, listener", epoll_nested_listener },
	{ "epoll, listener", epoll_listener_level },
	{ "epoll, listener, edge", epoll_listener_edge },
	{ "epoll, nested", epoll_nested },
	{ "epoll_ctl", epoll_control },
	{ "epoll, room", epoll_room_level },
	{ "epoll, room, edge", epoll_room_edge },
	{ "poll, unbound", poll_unbound },
	{ "poll, listening", poll_listening },
	{ "poll, readable", poll_readable },
	{ "poll, both ends", poll_closed },
	{ "poll, reset", poll_reset },
	{ "select", select_states },
	{ "SIGIO, data", sigio_data },
	{ "SIGIO, reset", sigio_reset },
	{ "SIGIO, connect", sigio_connected },
	{ "SIGIO, refused", sigio_refused },
	{ "SIGIO, listener", sigio_listener },
	{ "SIGIO, ioctl", sigio_ioctls },
};

const int nr_ready_scripts = ARRAY_SIZE(ready_scripts);
