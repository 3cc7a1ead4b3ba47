// SPDX-License-Identifier: GPL-2.0
/*
 * rsock-run: a program that knows of TCP only is run by it, with the rules of
 * run.sh, and asks the kernel behind the library's back what it got.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include "run/early.h"
#include "util.h"

/* Ports of the rules; all others are "auto" */
#define RSOCK_PORT	7600	/* and up to 7619: AF_RSOCK */
#define TCP_PORT	7620	/* and up to 7639: TCP */

/* What the kernel says that it is */
static int protocol_of(int fd)
{
	socklen_t len = sizeof(int);
	int protocol = -1;

	MUST(syscall(SYS_getsockopt, fd, SOL_SOCKET, SO_PROTOCOL, &protocol, &len));
	return protocol;
}

static bool is_rsock(int fd)
{
	return protocol_of(fd) == IPPROTO_RSOCK;
}

static bool preloaded(void)
{
	return getenv("LD_PRELOAD");
}

static int tcp_domain(int ip)
{
	return ip == IPV4 ? AF_INET : AF_INET6;
}

static int bound(int ip, const struct addr *a)
{
	int fd = open_socket(ip, 0);

	CHECK(protocol_of(fd) == IPPROTO_TCP, "protocol %d at first", protocol_of(fd));
	MUST(bind(fd, &a->sa, a->len));
	return fd;
}

/* Another one may have been there just now: TCP remembers that. */
static int listener_at(int ip, int port)
{
	struct addr a = server_addr(ip, port);
	int fd = open_socket(ip, 0);

	set_int(fd, SOL_SOCKET, SO_REUSEADDR, 1);
	MUST(bind(fd, &a.sa, a.len));
	MUST(listen(fd, 8));
	return fd;
}

/* Connect to a listener: both ends are as expected, and carry data. */
static void expect_connection(int ip, int listener, int client, const struct addr *to, bool rsock)
{
	int server;

	MUST(connect(client, &to->sa, to->len));
	server = accept_one(listener);
	MUST_BE(is_rsock(listener), rsock);
	MUST_BE(is_rsock(client), rsock);
	MUST_BE(is_rsock(server), rsock);
	expect_alive(client, server);
	MUST_BE(get_int(client, SOL_SOCKET, SO_DOMAIN), tcp_domain(ip));
	/* A supervisor is not in the way of getsockopt(). */
	if (preloaded())
		MUST_BE(get_int(server, SOL_SOCKET, SO_PROTOCOL), IPPROTO_TCP);
	MUST_BE(peer_name(client).sa.sa_family, tcp_domain(ip));
	close(client);
	close(server);
}

static void connect_at(int ip, int port, bool rsock)
{
	struct addr to = target_addr(ip, port);
	int listener = listener_at(ip, port);

	expect_connection(ip, listener, open_socket(ip, 0), &to, rsock);
	close(listener);
}

/* --- rules ---------------------------------------------------------------------- */

START_TEST(by_rule)
{
	connect_at(_i, RSOCK_PORT, true);
	connect_at(_i, TCP_PORT, false);
}
END_TEST

START_TEST(by_device)
{
	struct addr where;
	int listener = open_listener(_i, 8, &where);

	expect_connection(_i, listener, open_socket(_i, 0), &where, true);
}
END_TEST

START_TEST(no_device)
{
	const char *loopback = _i == IPV4 ? "127.0.0.1" : "::1";
	struct addr a = make_addr(loopback, 0);
	int listener = bound(_i, &a);

	MUST(listen(listener, 8));
	a = local_name(listener);
	expect_connection(_i, listener, open_socket(_i, 0), &a, false);
}
END_TEST

/* A rule that says rsock is not ignored where that is not to be had. */
START_TEST(no_device_but_a_rule)
{
	struct addr a = make_addr(_i == IPV4 ? "127.0.0.1" : "::1", RSOCK_PORT);

	MUST_FAIL(bind(open_socket(_i, 0), &a.sa, a.len), EADDRNOTAVAIL);
	MUST_FAIL(connect(open_socket(_i, 0), &a.sa, a.len), ENETUNREACH);
}
END_TEST

START_TEST(wildcard)
{
	struct addr any = any_addr(_i, 0), name, to;
	int listener = bound(_i, &any);

	MUST(listen(listener, 8));
	name = local_name(listener);
	to = target_addr(_i, addr_port(&name));
	expect_connection(_i, listener, open_socket(_i, 0), &to, true);
}
END_TEST

START_TEST(listen_unbound)
{
	int listener = open_socket(_i, 0);
	struct addr name, to;

	MUST(listen(listener, 8));
	name = local_name(listener);
	CHECK(addr_port(&name) && name.sa.sa_family == tcp_domain(_i), "%s", addr_text(&name));
	to = target_addr(_i, addr_port(&name));
	expect_connection(_i, listener, open_socket(_i, 0), &to, true);
}
END_TEST

/* A socket of IPv6 takes peers with IPv4, and reaches them. */
START_TEST(ipv4_by_ipv6)
{
	struct addr any = any_addr(IPV6, RSOCK_PORT), to = server_addr(IPV4, RSOCK_PORT);
	int listener = bound(IPV6, &any);

	MUST(listen(listener, 8));
	to = mapped(&to);
	expect_connection(IPV6, listener, open_socket(IPV6, 0), &to, true);
}
END_TEST

START_TEST(v6only)
{
	struct addr any = any_addr(IPV6, RSOCK_PORT);
	int six = open_socket(IPV6, 0), four;

	set_int(six, IPPROTO_IPV6, IPV6_V6ONLY, 1);
	MUST(bind(six, &any.sa, any.len));
	MUST(listen(six, 8));
	MUST_BE(get_int(six, IPPROTO_IPV6, IPV6_V6ONLY), 1);
	any = any_addr(IPV4, RSOCK_PORT);
	four = bound(IPV4, &any);
	CHECK(is_rsock(six) && is_rsock(four), "not both are AF_RSOCK");
}
END_TEST

/* --- a socket that is changed back ------------------------------------------------ */

static void bound_first(int ip, int port, bool rsock_first, int to_port, bool rsock)
{
	struct addr from = client_addr(ip, port), to = target_addr(ip, to_port), name;
	int listener = listener_at(ip, to_port), client = bound(ip, &from), server;

	MUST_BE(is_rsock(client), rsock_first);
	from = local_name(client);
	set_int(client, IPPROTO_TCP, TCP_NODELAY, 1);
	MUST(connect(client, &to.sa, to.len));
	MUST_BE(is_rsock(client), rsock);
	name = local_name(client);
	CHECK(same_addr(&name, &from), "%s, was %s", addr_text(&name), addr_text(&from));
	MUST_BE(get_int(client, IPPROTO_TCP, TCP_NODELAY), 1);
	server = accept_one(listener);
	expect_alive(client, server);
	close(client);
	close(server);
	close(listener);
}

START_TEST(bound_as_rsock)
{
	bound_first(_i, RSOCK_PORT + 1, true, TCP_PORT, false);
	bound_first(_i, 0, true, TCP_PORT + 2, false);
	bound_first(_i, 0, true, RSOCK_PORT + 2, true);
}
END_TEST

START_TEST(bound_as_tcp)
{
	bound_first(_i, TCP_PORT + 1, false, RSOCK_PORT, true);
}
END_TEST

/* Bound to an address, while the port is left to connect(): it is not forgotten. */
START_TEST(bound_without_port)
{
	struct addr from = make_addr("127.0.0.1", 0), to = target_addr(IPV4, RSOCK_PORT);
	int client = open_socket(IPV4, 0);

	listener_at(IPV4, RSOCK_PORT);
	set_int(client, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1);
	/* The library does not see it. */
	MUST(syscall(SYS_bind, client, &from.sa, from.len));
	MUST_FAIL(connect(client, &to.sa, to.len), EADDRNOTAVAIL);
	CHECK(!is_rsock(client), "it was changed");
}
END_TEST

/* The kernel chose the port of TCP; the same one of AF_RSOCK is taken, or the other way. */
START_TEST(port_taken_among_the_others)
{
	struct addr from = client_addr(IPV4, 0), to = target_addr(IPV4, TCP_PORT), taken;
	int client = bound(IPV4, &from), listener = listener_at(IPV4, TCP_PORT), fd;

	taken = local_name(client);
	/* No library between: this one is of TCP. */
	fd = open_socket(IPV4, 0);
	MUST(syscall(SYS_bind, fd, &taken.sa, taken.len));
	expect_connection(IPV4, listener, client, &to, false);
}
END_TEST

START_TEST(port_taken_is_told)
{
	struct addr a = client_addr(_i, RSOCK_PORT + 3), to = target_addr(_i, TCP_PORT);
	int client = bound(_i, &a), fd = open_socket(_i, 0);

	MUST(syscall(SYS_bind, fd, &a.sa, a.len));
	listener_at(_i, TCP_PORT);
	MUST_FAIL(connect(client, &to.sa, to.len), EADDRINUSE);
	CHECK(is_rsock(client), "it was changed");
	close(fd);
	MUST(connect(client, &to.sa, to.len));
	CHECK(!is_rsock(client), "it was not changed");
}
END_TEST

/* After a failure, and after the end by AF_UNSPEC, a socket may go elsewhere. */
START_TEST(again_elsewhere)
{
	struct addr dead = target_addr(_i, RSOCK_PORT), to = target_addr(_i, TCP_PORT);
	struct sockaddr none = { .sa_family = AF_UNSPEC };
	int listener = listener_at(_i, TCP_PORT), client = open_socket(_i, 0);

	MUST_FAIL(connect(client, &dead.sa, dead.len), ECONNREFUSED);
	CHECK(is_rsock(client), "TCP");
	MUST(connect(client, &to.sa, to.len));
	CHECK(!is_rsock(client), "still AF_RSOCK");
	MUST(connect(client, &none, sizeof(none)));
	listener = listener_at(_i, RSOCK_PORT);
	expect_connection(_i, listener, client, &dead, true);
}
END_TEST

START_TEST(taken)
{
	struct addr a = server_addr(_i, RSOCK_PORT);
	int fd = open_socket(_i, 0);

	listener_at(_i, RSOCK_PORT);
	MUST_FAIL(bind(fd, &a.sa, a.len), EADDRINUSE);
	set_port(&a, RSOCK_PORT + 1);
	MUST(bind(fd, &a.sa, a.len));
	MUST_FAIL(bind(fd, &a.sa, a.len), EINVAL);
	CHECK(is_rsock(fd), "TCP");
}
END_TEST

/* --- what a socket takes along ------------------------------------------------------ */

static const struct {
	int level, option, value;
} carried[] = {
	{ SOL_SOCKET, SO_REUSEADDR, 1 },
	{ SOL_SOCKET, SO_KEEPALIVE, 1 },
	{ SOL_SOCKET, SO_RCVLOWAT, 7 },
	{ SOL_SOCKET, SO_PRIORITY, 5 },
	{ SOL_SOCKET, SO_MARK, 9 },
	{ SOL_SOCKET, SO_SNDBUF, 100000 },
	{ SOL_SOCKET, SO_RCVBUF, 70000 },
	{ IPPROTO_TCP, TCP_NODELAY, 1 },
};

START_TEST(options)
{
	struct linger l, linger = { .l_onoff = 1, .l_linger = 3 };
	struct timeval tv;
	struct addr to = target_addr(IPV4, RSOCK_PORT);
	socklen_t len = sizeof(l);
	int before[ARRAY_SIZE(carried)], fd = open_socket(IPV4, 0);
	size_t i;

	listener_at(IPV4, RSOCK_PORT);
	for (i = 0; i < ARRAY_SIZE(carried); i++) {
		set_int(fd, carried[i].level, carried[i].option, carried[i].value);
		before[i] = get_int(fd, carried[i].level, carried[i].option);
	}
	MUST(setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)));
	set_timeout(fd, SO_RCVTIMEO, 1500);
	MUST(connect(fd, &to.sa, to.len));
	CHECK(is_rsock(fd), "TCP");
	for (i = 0; i < ARRAY_SIZE(carried); i++)
		MUST_BE(get_int(fd, carried[i].level, carried[i].option), before[i]);
	MUST(getsockopt(fd, SOL_SOCKET, SO_LINGER, &l, &len));
	CHECK(l.l_onoff == 1 && l.l_linger == 3, "linger %d %d", l.l_onoff, l.l_linger);
	len = sizeof(tv);
	MUST(getsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, &len));
	CHECK(tv.tv_sec == 1 && tv.tv_usec == 500000, "%ld.%06ld", tv.tv_sec, tv.tv_usec);
}
END_TEST

/* What was not set is what AF_RSOCK has, and not what TCP has. */
START_TEST(defaults)
{
	struct addr to = target_addr(IPV4, RSOCK_PORT);
	int plain = MUST(socket(AF_RSOCK, SOCK_STREAM, 0)), fd = open_socket(IPV4, 0);

	listener_at(IPV4, RSOCK_PORT);
	MUST(connect(fd, &to.sa, to.len));
	MUST_BE(get_int(fd, SOL_SOCKET, SO_RCVBUF), get_int(plain, SOL_SOCKET, SO_RCVBUF));
	MUST_BE(get_int(fd, SOL_SOCKET, SO_SNDBUF), get_int(plain, SOL_SOCKET, SO_SNDBUF));
}
END_TEST

START_TEST(flags)
{
	int nonblock = _i & 1 ? O_NONBLOCK : 0, cloexec = _i & 2 ? FD_CLOEXEC : 0;
	struct addr a = server_addr(IPV4, RSOCK_PORT);
	int fd = open_socket(IPV4, (nonblock ? SOCK_NONBLOCK : 0) | (cloexec ? SOCK_CLOEXEC : 0));

	MUST(bind(fd, &a.sa, a.len));
	CHECK(is_rsock(fd), "TCP");
	MUST_BE(fcntl(fd, F_GETFL) & O_NONBLOCK, nonblock);
	MUST_BE(fcntl(fd, F_GETFD), cloexec);
}
END_TEST

static volatile sig_atomic_t signal_fd = -1;

static void on_signal(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)context;
	signal_fd = info->si_fd;
}

static bool signalled(void *arg)
{
	return signal_fd == *(int *)arg;
}

START_TEST(signals)
{
	struct sigaction action = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART };
	struct addr to = target_addr(IPV4, RSOCK_PORT);
	int listener = listener_at(IPV4, RSOCK_PORT), fd = open_socket(IPV4, 0), server;

	MUST(sigaction(SIGUSR1, &action, NULL));
	MUST(fcntl(fd, F_SETOWN, getpid()));
	MUST(fcntl(fd, F_SETSIG, SIGUSR1));
	MUST(fcntl(fd, F_SETFL, O_ASYNC));
	MUST(connect(fd, &to.sa, to.len));
	CHECK(is_rsock(fd), "TCP");
	MUST_BE(fcntl(fd, F_GETOWN), getpid());
	MUST_BE(fcntl(fd, F_GETSIG), SIGUSR1);
	server = accept_one(listener);
	signal_fd = -1;
	MUST_BE(send(server, "x", 1, 0), 1);
	CHECK(eventually(signalled, &fd), "si_fd %d, expected %d", signal_fd, fd);
}
END_TEST

START_TEST(errno_stays)
{
	struct addr to = target_addr(IPV4, RSOCK_PORT), a = server_addr(IPV4, RSOCK_PORT);
	int listener = open_socket(IPV4, 0), fd = open_socket(IPV4, 0);

	errno = 1234;
	MUST(bind(listener, &a.sa, a.len));
	MUST_BE(errno, 1234);
	MUST(listen(listener, 8));
	MUST_BE(errno, 1234);
	MUST(connect(fd, &to.sa, to.len));
	MUST_BE(errno, 1234);
	MUST_BE(get_int(fd, SOL_SOCKET, SO_DOMAIN), AF_INET);
	MUST_BE(errno, 1234);
	CHECK(is_rsock(fd), "TCP");
}
END_TEST

/* --- not blocking, epoll -------------------------------------------------------------- */

START_TEST(nonblocking)
{
	struct addr to = target_addr(_i, RSOCK_PORT);
	int listener = listener_at(_i, RSOCK_PORT), fd = open_socket(_i, SOCK_NONBLOCK);

	MUST_FAIL(connect(fd, &to.sa, to.len), EINPROGRESS);
	wait_events(fd, POLLOUT);
	MUST_BE(get_int(fd, SOL_SOCKET, SO_ERROR), 0);
	CHECK(is_rsock(fd), "TCP");
	MUST(connect(fd, &to.sa, to.len));
	MUST_FAIL(connect(fd, &to.sa, to.len), EISCONN);
	set_nonblock(fd, false);
	expect_alive(fd, accept_one(listener));
}
END_TEST

static int new_epoll(void)
{
	return MUST(epoll_create1(0));
}

static void epoll_add(int epoll, int fd, int events, uint64_t data)
{
	struct epoll_event e = { .events = events, .data.u64 = data };

	MUST(epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &e));
}

static void expect_event(int epoll, int events, uint64_t data)
{
	struct epoll_event e;

	MUST_BE(epoll_wait(epoll, &e, 1, hang_seconds() * 1000), 1);
	CHECK(e.events == (uint32_t)events && e.data.u64 == data, "%#x %#lx, expected %#x %#lx",
	      e.events, (long)e.data.u64, events, (long)data);
}

/* More often than needed is fine for an edge. */
static void expect_edge(int epoll, int events, uint64_t data)
{
	struct epoll_event e = { };

	while ((e.events & events) != (uint32_t)events) {
		MUST_BE(epoll_wait(epoll, &e, 1, hang_seconds() * 1000), 1);
		CHECK(e.data.u64 == data && !(e.events & EPOLLHUP), "%#x %#lx, expected %#lx",
		      e.events, (long)e.data.u64, (long)data);
	}
}

static void expect_no_event(int epoll)
{
	struct epoll_event e;

	MUST_BE(epoll_wait(epoll, &e, 1, 0), 0);
}

#define DATA	0xfedcba9876543210UL

/* As programs of Boost.Asio and Netty do */
START_TEST(registered_before_connect)
{
	struct addr to = target_addr(_i, RSOCK_PORT);
	int listener = listener_at(_i, RSOCK_PORT), fd = open_socket(_i, SOCK_NONBLOCK);
	int level = new_epoll(), edge = new_epoll(), server;

	epoll_add(level, fd, EPOLLIN, DATA);
	epoll_add(edge, fd, EPOLLIN | EPOLLOUT | EPOLLET, DATA + 1);
	MUST_FAIL(connect(fd, &to.sa, to.len), EINPROGRESS);
	CHECK(is_rsock(fd), "TCP");
	expect_edge(edge, EPOLLOUT, DATA + 1);
	expect_no_event(level);
	server = accept_one(listener);
	MUST_BE(send(server, "x", 1, 0), 1);
	expect_event(level, EPOLLIN, DATA);
	expect_event(level, EPOLLIN, DATA);
	expect_edge(edge, EPOLLIN | EPOLLOUT, DATA + 1);
	MUST(epoll_ctl(level, EPOLL_CTL_DEL, fd, NULL));
	expect_no_event(level);
}
END_TEST

START_TEST(registered_before_bind)
{
	struct addr a = server_addr(_i, RSOCK_PORT), to = target_addr(_i, RSOCK_PORT);
	int listener = open_socket(_i, 0), epoll = new_epoll();

	epoll_add(epoll, listener, EPOLLIN, DATA);
	MUST(bind(listener, &a.sa, a.len));
	MUST(listen(listener, 8));
	CHECK(is_rsock(listener), "TCP");
	expect_no_event(epoll);
	open_client(_i, &to);
	expect_event(epoll, EPOLLIN, DATA);
}
END_TEST

/* Many others are registered, so that what the kernel says of them is long. */
START_TEST(registered_among_many)
{
	struct addr to = target_addr(IPV4, RSOCK_PORT);
	int listener = listener_at(IPV4, RSOCK_PORT), epoll = new_epoll(), fd = -1, i;

	for (i = 0; i < 1000; i++) {
		int other = open_socket(IPV4, SOCK_NONBLOCK);

		epoll_add(epoll, other, EPOLLONESHOT, i);
		expect_event(epoll, EPOLLHUP, i);
		fd = i == 700 ? other : fd;
	}
	MUST(epoll_ctl(epoll, EPOLL_CTL_MOD, fd, &(struct epoll_event){ EPOLLOUT, { .u64 = DATA } }));
	MUST_FAIL(connect(fd, &to.sa, to.len), EINPROGRESS);
	CHECK(is_rsock(fd), "TCP");
	expect_event(epoll, EPOLLOUT, DATA);
	set_nonblock(fd, false);
	expect_alive(accept_one(listener), fd);
}
END_TEST

/* --- limits, and what is not ours -------------------------------------------------------- */

START_TEST(no_descriptor_left)
{
	struct addr to = target_addr(IPV4, RSOCK_PORT);
	struct rlimit limit, none;
	int fd = open_socket(IPV4, 0);

	listener_at(IPV4, RSOCK_PORT);
	MUST(getrlimit(RLIMIT_NOFILE, &limit));
	none = limit;
	none.rlim_cur = fd + 1;
	MUST(setrlimit(RLIMIT_NOFILE, &none));
	MUST_FAIL(connect(fd, &to.sa, to.len), EMFILE);
	MUST_BE(protocol_of(fd), IPPROTO_TCP);
	MUST(setrlimit(RLIMIT_NOFILE, &limit));
	MUST(connect(fd, &to.sa, to.len));
	CHECK(is_rsock(fd), "TCP");
}
END_TEST

START_TEST(no_descriptor_leaks)
{
	int last = dup(0), next;

	close(last);
	connect_at(IPV4, RSOCK_PORT, true);
	connect_at(IPV4, TCP_PORT, false);
	next = dup(0);
	MUST_BE(next, last);
}
END_TEST

START_TEST(others_are_left_alone)
{
	struct addr a = server_addr(IPV4, RSOCK_PORT);
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	int udp = MUST(socket(AF_INET, SOCK_DGRAM, 0)), local = MUST(socket(AF_UNIX, SOCK_STREAM, 0));

	MUST(bind(udp, &a.sa, a.len));
	MUST(connect(udp, &a.sa, a.len));
	MUST_BE(protocol_of(udp), IPPROTO_UDP);
	MUST(bind(local, (struct sockaddr *)&un, sizeof(un.sun_family)));
	MUST(listen(local, 1));
	MUST_BE(get_int(local, SOL_SOCKET, SO_DOMAIN), AF_UNIX);
}
END_TEST

START_TEST(bad_calls)
{
	struct addr a = server_addr(IPV4, RSOCK_PORT);
	int six = open_socket(IPV6, 0), four = open_socket(IPV4, 0), pipes[2];

	MUST(pipe(pipes));
	MUST_FAIL(connect(-1, &a.sa, a.len), EBADF);
	MUST_FAIL(bind(pipes[0], &a.sa, a.len), ENOTSOCK);
	MUST_FAIL(listen(pipes[0], 1), ENOTSOCK);
	MUST_FAIL(connect(four, NULL, a.len), EFAULT);
	MUST_FAIL(connect(four, &a.sa, 4), EINVAL);
	MUST_FAIL(connect(six, &a.sa, a.len), EINVAL);
	MUST_BE(protocol_of(six), IPPROTO_TCP);
	MUST_BE(protocol_of(four), IPPROTO_TCP);
}
END_TEST

/* --- processes, threads, libraries ----------------------------------------------------------- */

/* The socket is made by the parent, and connected by the child. */
START_TEST(in_a_child)
{
	struct addr to = target_addr(IPV4, RSOCK_PORT);
	int listener = listener_at(IPV4, RSOCK_PORT), fd = open_socket(IPV4, 0);
	pid_t pid = fork_child();

	if (!pid) {
		MUST(connect(fd, &to.sa, to.len));
		CHECK(is_rsock(fd), "TCP");
		_exit(0);
	}
	accept_one(listener);
	reap(pid);
	MUST_BE(protocol_of(fd), IPPROTO_TCP);
}
END_TEST

/* This program as another one: connect, and tell by the status what it became. */
static int as_client(const char *addr, int port)
{
	struct addr to = make_addr(addr, port);
	int fd = open_socket(IPV4, 0);

	MUST(connect(fd, &to.sa, to.len));
	return is_rsock(fd);
}

static void expect_status(pid_t pid, int expected)
{
	int status;

	MUST_BE(waitpid(pid, &status, 0), pid);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == expected, "status %#x, expected %d",
	      status, expected);
}

START_TEST(in_another_program)
{
	int port = _i ? RSOCK_PORT : TCP_PORT, listener = listener_at(IPV4, port);
	char text[10];
	pid_t pid = fork_child();

	if (!pid) {
		snprintf(text, sizeof(text), "%d", port);
		execl("/proc/self/exe", "run_test", "client", getenv("RSOCK_SERVER4"), text, NULL);
		_exit(99);
	}
	accept_one(listener);
	expect_status(pid, _i);
}
END_TEST

/* Standard error is a socket of the program by now: nothing is written to it. */
static int without_stderr(const char *addr)
{
	struct addr to = make_addr(addr, RSOCK_PORT);
	int pair[2], fd = open_socket(IPV4, 0);
	char byte;

	MUST(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair));
	MUST(dup2(pair[0], STDERR_FILENO));
	if (connect(fd, &to.sa, to.len) || !is_rsock(fd))
		return 2;
	return recv(pair[1], &byte, 1, 0) >= 0 || errno != EAGAIN;
}

START_TEST(stderr_is_another_file)
{
	pid_t pid;

	listener_at(IPV4, RSOCK_PORT);
	pid = fork_child();
	if (!pid) {
		setenv("RSOCK_RUN_LOG", "stderr", 1);
		execl("/proc/self/exe", "run_test", "without_stderr", getenv("RSOCK_SERVER4"), NULL);
		_exit(99);
	}
	expect_status(pid, 0);
}
END_TEST

#define THREADS		4
#define CONNECTS	10

static void many(void *arg)
{
	int port = *(int *)arg, i;

	for (i = 0; i < CONNECTS; i++)
		connect_at(IPV4, port, port < TCP_PORT);
}

START_TEST(in_threads)
{
	struct worker workers[THREADS];
	int ports[THREADS], i;

	for (i = 0; i < THREADS; i++) {
		ports[i] = (i % 2 ? RSOCK_PORT : TCP_PORT) + i;
		start(&workers[i], many, &ports[i]);
	}
	for (i = 0; i < THREADS; i++)
		join(&workers[i]);
}
END_TEST

/* A library bound a socket before main(), maybe before ours was there. */
START_TEST(before_main)
{
	MUST_BE(early_protocol(), IPPROTO_RSOCK);
}
END_TEST

START_TEST(in_a_plugin)
{
	void *plugin = dlopen("run_plugin.so", RTLD_NOW | RTLD_LOCAL);
	__typeof__(&early_protocol) protocol;

	CHECK(plugin, "%s", dlerror());
	protocol = (__typeof__(protocol))dlsym(plugin, "early_protocol");
	CHECK(protocol && protocol != early_protocol, "not the plugin's");
	MUST_BE(protocol(), IPPROTO_RSOCK);
}
END_TEST

int main(int argc, char **argv)
{
	Suite *suite = suite_create("run");
	TCase *tc;

	if (argc == 4 && !strcmp(argv[1], "client"))
		return as_client(argv[2], atoi(argv[3]));
	if (argc == 3 && !strcmp(argv[1], "without_stderr"))
		return without_stderr(argv[2]);

	tc = add_case(suite, "rules", 20);
	add_ip_test(tc, by_rule);
	add_ip_test(tc, by_device);
	add_ip_test(tc, no_device);
	add_ip_test(tc, no_device_but_a_rule);
	add_ip_test(tc, wildcard);
	add_ip_test(tc, listen_unbound);
	tcase_add_test(tc, ipv4_by_ipv6);
	tcase_add_test(tc, v6only);

	tc = add_case(suite, "back", 20);
	add_ip_test(tc, bound_as_rsock);
	add_ip_test(tc, bound_as_tcp);
	add_ip_test(tc, again_elsewhere);
	add_ip_test(tc, taken);

	tc = add_case(suite, "unseen", 20);
	tcase_add_test(tc, bound_without_port);
	tcase_add_test(tc, port_taken_among_the_others);
	add_ip_test(tc, port_taken_is_told);

	tc = add_case(suite, "carried", 20);
	tcase_add_test(tc, options);
	tcase_add_test(tc, defaults);
	tcase_add_loop_test(tc, flags, 0, 4);
	tcase_add_test(tc, signals);
	tcase_add_test(tc, errno_stays);
	add_ip_test(tc, nonblocking);

	tc = add_case(suite, "epoll", 20);
	add_ip_test(tc, registered_before_connect);
	add_ip_test(tc, registered_before_bind);
	tcase_add_test(tc, registered_among_many);

	tc = add_case(suite, "limits", 20);
	tcase_add_test(tc, no_descriptor_left);
	tcase_add_test(tc, no_descriptor_leaks);
	tcase_add_test(tc, others_are_left_alone);
	tcase_add_test(tc, bad_calls);

	tc = add_case(suite, "processes", 30);
	tcase_add_test(tc, in_a_child);
	tcase_add_loop_test(tc, in_another_program, 0, 2);
	tcase_add_test(tc, stderr_is_another_file);
	tcase_add_test(tc, in_threads);
	tcase_add_test(tc, before_main);
	tcase_add_test(tc, in_a_plugin);

	return run_suite(suite);
}
