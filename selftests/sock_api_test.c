// SPDX-License-Identifier: GPL-2.0
/*
 * socket(), bind(), listen(), accept(), connect(): arguments, errors, names.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include "util.h"

/* Reported where an address cannot be reached. */
static const int unreachable[] = {
	EHOSTUNREACH, ENETUNREACH, ETIMEDOUT, EADDRNOTAVAIL, ENODEV, 0
};

/* connect() fails, by one of those or by "also"; with which error. */
static int connect_fails(int fd, const struct addr *a, int also)
{
	int n = connect(fd, &a->sa, a->len), err = errno;

	CHECK(n < 0 && (err == also || err_in(err, unreachable)), "%s: %d, %s, expected %s or %s",
	      addr_text(a), n, err_name(err), err_name(also), err_set(unreachable));
	return err;
}

/* --- socket() ---------------------------------------------------------------- */

static const struct {
	int type, protocol;
	int err;
	bool rsock_only;
} socket_rows[] = {
	{ SOCK_STREAM, 0 },
	{ SOCK_STREAM, IPPROTO_TCP },
	{ SOCK_STREAM | SOCK_NONBLOCK, 0 },
	{ SOCK_STREAM | SOCK_CLOEXEC, 0 },
	{ SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP },
	{ SOCK_STREAM, IPPROTO_UDP, EPROTONOSUPPORT },
	{ SOCK_STREAM, IPPROTO_ICMP, EPROTONOSUPPORT },
	{ SOCK_STREAM, 255, EPROTONOSUPPORT },
	{ SOCK_SEQPACKET, 0, ESOCKTNOSUPPORT },
	{ SOCK_RDM, 0, ESOCKTNOSUPPORT },
	{ SOCK_DGRAM, 0, ESOCKTNOSUPPORT, true },
	{ SOCK_DGRAM, IPPROTO_UDP, ESOCKTNOSUPPORT, true },
	{ SOCK_RAW, 0, ESOCKTNOSUPPORT, true },
};

START_TEST(socket_types)
{
	int type = socket_rows[_i].type, err = socket_rows[_i].err;
	int fd;

	/* With TCP's families, these are other protocols */
	if ((is_tcp() || is_inet()) && socket_rows[_i].rsock_only)
		return;
	fd = socket(test_domain(IPV4), type, socket_rows[_i].protocol);
	if (err) {
		/* A protocol that is no such type may be refused as either. */
		CHECK(fd < 0 && (errno == err || errno == EPROTOTYPE ||
				 (err == ESOCKTNOSUPPORT && errno == EPROTONOSUPPORT)),
		      "type 0x%x protocol %d: %d, %s, expected %s", type,
		      socket_rows[_i].protocol, fd, err_name(errno), err_name(err));
		return;
	}
	CHECK(fd >= 0, "type 0x%x protocol %d: %s", type, socket_rows[_i].protocol,
	      err_name(errno));
	MUST_BE(!!(MUST(fcntl(fd, F_GETFL)) & O_NONBLOCK), !!(type & SOCK_NONBLOCK));
	MUST_BE(!!(MUST(fcntl(fd, F_GETFD)) & FD_CLOEXEC), !!(type & SOCK_CLOEXEC));
	MUST(close(fd));
}
END_TEST

START_TEST(socket_is_a_file)
{
	int fd = open_socket(IPV4, 0), on, pair[2];
	struct stat st;

	MUST(fstat(fd, &st));
	CHECK(S_ISSOCK(st.st_mode), "mode 0%o", st.st_mode);
	MUST_FAIL(lseek(fd, 0, SEEK_SET), ESPIPE);
	MUST_FAIL(ioctl(fd, 0x5fff, &on), ENOTTY, EINVAL);
	MUST_FAIL(socketpair(test_domain(IPV4), SOCK_STREAM, test_protocol(), pair), EOPNOTSUPP);
	MUST(close(fd));
	MUST_FAIL(listen(fd, 1), EBADF);
}
END_TEST

/* F_SETFL replaces the flags, and leaves those of the descriptor alone. */
START_TEST(blocking_and_back)
{
	struct pair p = open_pair(IPV4);
	int on = 1, off = 0;
	char c;

	MUST(fcntl(p.s, F_SETFD, FD_CLOEXEC));
	set_nonblock(p.s, true);
	MUST_FAIL(recv(p.s, &c, 1, 0), EAGAIN);
	set_nonblock(p.s, false);
	MUST_BE(MUST(fcntl(p.s, F_GETFL)) & O_NONBLOCK, 0);
	MUST_BE(fcntl(p.s, F_GETFD), FD_CLOEXEC);
	set_timeout(p.s, SO_RCVTIMEO, 30);
	MUST_FAIL(recv(p.s, &c, 1, 0), EAGAIN);
	MUST(ioctl(p.s, FIONBIO, &on));
	MUST(fcntl(p.s, F_GETFL) & O_NONBLOCK);
	MUST_FAIL(recv(p.s, &c, 1, 0), EAGAIN);
	MUST(ioctl(p.s, FIONBIO, &off));
	set_timeout(p.s, SO_RCVTIMEO, 0);
	expect_alive(p.c, p.s);
	close_pair(&p);
}
END_TEST

/* --- bind() -------------------------------------------------------------------- */

/* What bind() and connect() both refuse; IPv4 sockets unless ip says. */
static const struct {
	const char *name;
	int ip;
	int len;		/* 0: as it is */
	int family;		/* 0: as it is */
	int err;
} bad_address_rows[] = {
	{ "empty", IPV4, -1, 0, EINVAL },
	{ "one byte", IPV4, 1, 0, EINVAL },
	{ "no address", IPV4, 8, 0, EINVAL },
	{ "one byte short", IPV4, 15, 0, EINVAL },
	{ "IPv6, one byte short", IPV6, 23, 0, EINVAL },
	{ "longer than any address", IPV4, sizeof(struct sockaddr_storage) + 1, 0, EINVAL },
	{ "AF_UNIX", IPV4, 0, AF_UNIX, EAFNOSUPPORT },
	{ "AF_NETLINK", IPV6, 0, AF_NETLINK, EAFNOSUPPORT },
	{ "AF_IB", IPV4, 0, 27, EAFNOSUPPORT },
	{ "family 255", IPV4, 0, 255, EAFNOSUPPORT },
};

/*
 * TCP's IPv6 sockets take addresses of 24 bytes (RFC 2133, without scope);
 * AF_RSOCK wants all 28.
 */
START_TEST(bind_bad_address)
{
	int ip = bad_address_rows[_i].ip, len = bad_address_rows[_i].len;
	struct {
		struct addr a;
		char room[64];
	} big = { .a = server_addr(ip, 0) };
	int fd = open_socket(ip, 0);

	if (bad_address_rows[_i].family)
		big.a.sa.sa_family = bad_address_rows[_i].family;
	if (len)
		big.a.len = len < 0 ? 0 : len;
	CHECK(bind(fd, &big.a.sa, big.a.len) < 0 && errno == bad_address_rows[_i].err,
	      "%s: %s, expected %s", bad_address_rows[_i].name, err_name(errno),
	      err_name(bad_address_rows[_i].err));
	/* The socket is none the worse for it. */
	big.a = server_addr(ip, 0);
	MUST(bind(fd, &big.a.sa, big.a.len));
	MUST(listen(fd, 1));
	close(fd);
}
END_TEST

START_TEST(connect_bad_address)
{
	int ip = bad_address_rows[_i].ip, len = bad_address_rows[_i].len;
	int err = bad_address_rows[_i].err;
	struct {
		struct addr a;
		char room[64];
	} big;
	struct addr where;
	int listener = open_listener(ip, 4, &where);
	int fd = open_socket(ip, 0);

	big.a = where;
	if (bad_address_rows[_i].family)
		big.a.sa.sa_family = bad_address_rows[_i].family;
	if (len)
		big.a.len = len < 0 ? 0 : len;
	CHECK(connect(fd, &big.a.sa, big.a.len) < 0 && errno == err, "%s: %s, expected %s",
	      bad_address_rows[_i].name, err_name(errno), err_name(err));
	MUST(connect(fd, &where.sa, where.len));
	close(accept_one(listener));
	close(fd);
	close(listener);
}
END_TEST

START_TEST(bind_not_local)
{
	static const char * const texts[] = { "198.51.100.1", "2001:db8:77::1" };
	struct addr a = make_addr(texts[_i], 0);
	int fd = open_socket(_i, 0);

	MUST_FAIL(bind(fd, &a.sa, a.len), EADDRNOTAVAIL);
	MUST_FAIL(bind(fd, NULL, 16), EFAULT);
	a = server_addr(_i, 0);
	MUST(bind(fd, &a.sa, a.len));
	close(fd);
}
END_TEST

START_TEST(bind_ephemeral)
{
	struct addr a = server_addr(_i, 0), name;
	int fd = open_socket(_i, 0), other = open_socket(_i, 0);

	MUST(bind(fd, &a.sa, a.len));
	name = local_name(fd);
	CHECK(same_host(&name, &a) && addr_port(&name), "bound to %s", addr_text(&name));
	MUST_BE(name.len, a.len);
	if (_i == LINK_LOCAL)
		MUST_BE(name.in6.sin6_scope_id, a.in6.sin6_scope_id);
	MUST(bind(other, &a.sa, a.len));
	a = local_name(other);
	CHECK(addr_port(&a) != addr_port(&name), "port %d twice", addr_port(&a));
	MUST_FAIL(bind(other, &a.sa, a.len), EINVAL);
	close(fd);
	close(other);
}
END_TEST

START_TEST(bind_conflict)
{
	struct addr a = server_addr(_i, 0), any;
	int fd = open_socket(_i, 0), other = open_socket(_i, 0);

	MUST(bind(fd, &a.sa, a.len));
	a = local_name(fd);
	MUST_FAIL(bind(other, &a.sa, a.len), EADDRINUSE);
	any = any_addr(_i, addr_port(&a));
	MUST_FAIL(bind(other, &any.sa, any.len), EADDRINUSE);
	MUST(listen(fd, 4));
	MUST_FAIL(bind(other, &a.sa, a.len), EADDRINUSE);
	/* Free as soon as it is closed. */
	MUST(close(fd));
	MUST(bind(other, &a.sa, a.len));
	MUST(listen(other, 4));
	close(other);
}
END_TEST

START_TEST(bind_reuse)
{
	struct addr a = server_addr(_i, 0);
	int fd = open_socket(_i, 0), other = open_socket(_i, 0);

	set_int(fd, SOL_SOCKET, SO_REUSEADDR, 1);
	set_int(other, SOL_SOCKET, SO_REUSEADDR, 1);
	MUST(bind(fd, &a.sa, a.len));
	a = local_name(fd);
	MUST(bind(other, &a.sa, a.len));
	/* Only one of them can listen; with RDMA only one that is alone. */
	if (is_tcp()) {
		MUST(listen(fd, 4));
		MUST_FAIL(listen(other, 4), EADDRINUSE);
	} else {
		MUST_FAIL(listen(fd, 4), EADDRINUSE);
		MUST(close(other));
		other = -1;
		MUST(listen(fd, 4));
	}
	close(fd);
	close(other);
}
END_TEST

/* A server that restarts gets its port back while old connections linger. */
START_TEST(bind_after_restart)
{
	struct addr where, a;
	int round;

	a = server_addr(_i, 0);
	for (round = 0; round < 3; round++) {
		int listener = open_socket(_i, 0), c, s;

		set_int(listener, SOL_SOCKET, SO_REUSEADDR, 1);
		MUST(bind(listener, &a.sa, a.len));
		MUST(listen(listener, 4));
		a = local_name(listener);
		where = target_addr(_i, addr_port(&a));
		c = open_client(_i, &where);
		s = accept_one(listener);
		expect_alive(c, s);
		/* The server closes first: TCP's TIME_WAIT is on its side. */
		close(s);
		close(listener);
		expect_end(c);
		close(c);
	}
}
END_TEST

START_TEST(bind_any)
{
	struct addr a = any_addr(_i, 0), name, peer;
	int listener = open_socket(_i, 0), c, s;

	MUST(bind(listener, &a.sa, a.len));
	MUST(listen(listener, 4));
	name = local_name(listener);
	CHECK(same_host(&name, &a) && addr_port(&name), "bound to %s", addr_text(&name));
	a = target_addr(_i, addr_port(&name));
	c = open_client(_i, &a);
	s = accept_one(listener);
	/* The accepted socket knows which address it is. */
	name = local_name(s);
	CHECK(same_addr(&name, &a), "%s, expected %s", addr_text(&name), addr_text(&a));
	peer = peer_name(c);
	CHECK(same_addr(&peer, &a), "%s, expected %s", addr_text(&peer), addr_text(&a));
	expect_alive(c, s);
	close(c);
	close(s);
	close(listener);
}
END_TEST

/* One listener at :: serves IPv4 as well, with IPv4-mapped names. */
START_TEST(bind_any_both_versions)
{
	struct addr a = any_addr(IPV6, 0), name, want;
	int listener = open_socket(IPV6, 0), c, s, ip;

	MUST(bind(listener, &a.sa, a.len));
	MUST(listen(listener, 4));
	name = local_name(listener);
	for (ip = IPV4; ip <= IPV6; ip++) {
		a = target_addr(ip, addr_port(&name));
		c = open_client(ip, &a);
		s = accept_one(listener);
		want = local_name(c);
		if (ip == IPV4)
			want = mapped(&want);
		a = peer_name(s);
		CHECK(same_addr(&a, &want), "%s, expected %s", addr_text(&a), addr_text(&want));
		expect_alive(c, s);
		close(c);
		close(s);
	}
	close(listener);
}
END_TEST

/* AF_RSOCK in sa_family: the length says which layout follows. */
START_TEST(bind_own_family)
{
	static const int bad[] = { 2, 15, 17, 24, 27, 29, sizeof(struct sockaddr_storage) };
	struct addr a, name, where;
	int fd, c, ip;
	size_t i;

	if (is_tcp() || is_inet())
		return;
	for (ip = IPV4; ip <= IPV6; ip++) {
		a = server_addr(ip, 0);
		a.sa.sa_family = test_domain(ip);
		fd = open_socket(ip, 0);
		for (i = 0; i < ARRAY_SIZE(bad); i++)
			MUST_FAIL(bind(fd, &a.sa, bad[i]), EINVAL);
		MUST(bind(fd, &a.sa, a.len));
		MUST(listen(fd, 1));
		name = local_name(fd);
		a = server_addr(ip, addr_port(&name));
		CHECK(same_addr(&name, &a), "%s, expected %s", addr_text(&name), addr_text(&a));

		where = target_addr(ip, addr_port(&name));
		where.sa.sa_family = test_domain(ip);
		c = open_socket(ip, 0);
		for (i = 0; i < ARRAY_SIZE(bad); i++)
			MUST_FAIL(connect(c, &where.sa, bad[i]), EINVAL);
		MUST(connect(c, &where.sa, where.len));
		where = target_addr(ip, addr_port(&name));
		name = peer_name(c);
		CHECK(same_addr(&name, &where), "%s", addr_text(&name));
		close(accept_one(fd));
		close(c);
		close(fd);
	}
}
END_TEST

/* A socket of AF_INET has no addresses of AF_INET6, nor of AF_RSOCK */
START_TEST(bind_other_family)
{
	struct addr a = server_addr(IPV6, 0);
	int fd;

	if (!is_tcp() && !is_inet())
		return;
	fd = open_socket(IPV4, 0);
	MUST_FAIL(bind(fd, &a.sa, a.len), EAFNOSUPPORT);
	MUST_FAIL(connect(fd, &a.sa, a.len), EAFNOSUPPORT);
	a = server_addr(IPV4, 0);
	a.sa.sa_family = AF_RSOCK;
	MUST_FAIL(bind(fd, &a.sa, a.len), EAFNOSUPPORT);
	close(fd);
	a = server_addr(IPV4, 0);
	fd = open_socket(IPV6, 0);
	MUST_FAIL(bind(fd, &a.sa, a.len), EAFNOSUPPORT, EINVAL);
	MUST_FAIL(connect(fd, &a.sa, a.len), EAFNOSUPPORT, EINVAL);
	close(fd);
}
END_TEST

START_TEST(bind_long_address)
{
	/* More than a sockaddr_in is as good. */
	struct addr a = server_addr(IPV4, 0);
	int fd = open_socket(IPV4, 0);

	MUST(bind(fd, &a.sa, sizeof(a.ss)));
	a = local_name(fd);
	MUST_BE(a.len, sizeof(a.in));
	close(fd);
}
END_TEST

START_TEST(bind_privileged)
{
	struct addr a = server_addr(_i, 7);
	FILE *f = fopen("/proc/sys/net/ipv4/ip_unprivileged_port_start", "r");
	int first = 1024;
	pid_t pid;

	if (f) {
		CHECK(fscanf(f, "%d", &first) == 1, "unreadable");
		fclose(f);
	}
	if (getuid() || first <= 7)
		return;		/* nothing to give up */
	pid = fork_child();
	if (!pid) {
		int fd = open_socket(_i, 0);

		MUST(setresuid(65534, 65534, 65534));
		MUST_FAIL(bind(fd, &a.sa, a.len), EACCES);
		a = server_addr(_i, 0);
		MUST(bind(fd, &a.sa, a.len));
		_exit(0);
	}
	reap(pid);
}
END_TEST

/* --- names ------------------------------------------------------------------------ */

START_TEST(names_of_new_socket)
{
	int fd = open_socket(_i, 0);
	struct addr a = local_name(fd), any;
	socklen_t len = sizeof(a.ss);

	/* AF_RSOCK has no IP version yet: it says 0.0.0.0. */
	any = any_addr(is_tcp() || is_inet() ? _i : IPV4, 0);
	CHECK(same_addr(&a, &any), "%s", addr_text(&a));
	MUST_FAIL(getpeername(fd, &a.sa, &len), ENOTCONN);
	a = server_addr(_i, 0);
	MUST(bind(fd, &a.sa, a.len));
	MUST_FAIL(getpeername(fd, &a.sa, &len), ENOTCONN);
	MUST(listen(fd, 1));
	MUST_FAIL(getpeername(fd, &a.sa, &len), ENOTCONN);
	close(fd);
}
END_TEST

START_TEST(names_of_both_ends)
{
	struct addr where, a, b;
	int listener = open_listener(_i, 4, &where);
	int c = open_client(_i, &where), s = accept_one(listener);
	struct addr want = client_addr(_i, 0);

	a = local_name(c);
	b = peer_name(s);
	CHECK(same_addr(&a, &b), "%s and %s", addr_text(&a), addr_text(&b));
	CHECK(same_host(&a, &want), "%s, expected %s", addr_text(&a), addr_text(&want));
	CHECK(addr_port(&a), "%s", addr_text(&a));
	MUST_BE(a.sa.sa_family, _i == IPV4 ? AF_INET : AF_INET6);
	a = peer_name(c);
	b = local_name(s);
	CHECK(same_addr(&a, &b), "%s and %s", addr_text(&a), addr_text(&b));
	CHECK(same_addr(&a, &where), "%s, expected %s", addr_text(&a), addr_text(&where));
	close(c);
	close(s);
	close(listener);
}
END_TEST

START_TEST(names_in_short_buffers)
{
	struct pair p = open_pair(_i);
	struct addr full = peer_name(p.c), a;
	socklen_t len;

	for (len = 0; len < full.len; len++) {
		socklen_t got = len;

		memset(&a, 0xee, sizeof(a));
		MUST(getpeername(p.c, &a.sa, &got));
		MUST_BE(got, full.len);
		CHECK(!memcmp(&a.ss, &full.ss, len), "length %u", len);
		CHECK(((uint8_t *)&a)[len] == 0xee, "written beyond length %u", len);
	}
	len = -1;
	MUST_FAIL(getpeername(p.c, &a.sa, &len), EINVAL);
	len = sizeof(a.ss);
	MUST_FAIL(getsockname(p.c, NULL, &len), EFAULT);
	close_pair(&p);
}
END_TEST

/* A client with an address and a port of its own choice. */
START_TEST(bind_before_connect)
{
	struct addr where, mine = client_addr(_i, 0), seen = { .len = sizeof(seen.ss) };
	int listener = open_listener(_i, 4, &where);
	int c = open_socket(_i, 0), s;

	MUST(bind(c, &mine.sa, mine.len));
	mine = local_name(c);
	MUST(connect(c, &where.sa, where.len));
	s = MUST(accept(listener, &seen.sa, &seen.len));
	if (_i == LINK_LOCAL)
		seen.in6.sin6_scope_id = mine.in6.sin6_scope_id;
	CHECK(same_addr(&seen, &mine), "%s, expected %s", addr_text(&seen), addr_text(&mine));
	seen = local_name(c);
	CHECK(same_addr(&seen, &mine), "%s, expected %s", addr_text(&seen), addr_text(&mine));
	expect_alive(c, s);
	close(c);
	close(s);
	close(listener);
}
END_TEST

/* --- listen() and accept() -------------------------------------------------------------- */

START_TEST(listen_states)
{
	struct pair p = open_pair(_i);
	struct addr where;
	int fd = open_listener(_i, 1, &where), c, s;

	MUST_FAIL(listen(p.c, 1), EINVAL);
	MUST_FAIL(listen(p.s, 1), EINVAL);
	MUST(listen(fd, 5));
	MUST(listen(fd, -1));
	MUST(listen(fd, 100000));
	MUST_FAIL(connect(fd, &where.sa, where.len), EISCONN);
	MUST_FAIL(bind(fd, &where.sa, where.len), EINVAL);
	c = open_client(_i, &where);
	s = accept_one(fd);
	expect_alive(c, s);
	expect_alive(p.c, p.s);
	close_pair(&p);
	close(c);
	close(s);
	close(fd);
}
END_TEST

/* Without bind() a port is chosen, for all addresses. */
START_TEST(listen_unbound)
{
	int fd = open_socket(IPV4, 0), c, s;
	struct addr name, where;

	MUST(listen(fd, 2));
	name = local_name(fd);
	CHECK(addr_port(&name), "%s", addr_text(&name));
	where = target_addr(IPV4, addr_port(&name));
	c = open_client(IPV4, &where);
	s = accept_one(fd);
	expect_alive(c, s);
	close(c);
	close(s);
	close(fd);
}
END_TEST

START_TEST(accept_states)
{
	struct pair p = open_pair(_i);
	struct addr where;
	int fd = open_socket(_i, 0), listener = open_listener(_i, 1, &where);

	MUST_FAIL(accept(fd, NULL, NULL), EINVAL);
	MUST_FAIL(accept(p.c, NULL, NULL), EINVAL);
	MUST_FAIL(accept(p.s, NULL, NULL), EINVAL);
	MUST_FAIL(accept4(listener, NULL, NULL, 0x1), EINVAL);
	set_nonblock(listener, true);
	MUST_FAIL(accept(listener, NULL, NULL), EAGAIN);
	set_nonblock(listener, false);
	set_timeout(listener, SO_RCVTIMEO, 30);
	MUST_FAIL(accept(listener, NULL, NULL), EAGAIN);
	close_pair(&p);
	close(fd);
	close(listener);
}
END_TEST

/* Flags of the new socket are those of accept4(), not of the listener. */
START_TEST(accept_flags)
{
	static const int flags[] = {
		0, SOCK_NONBLOCK, SOCK_CLOEXEC, SOCK_NONBLOCK | SOCK_CLOEXEC
	};
	struct addr where, seen = { .len = sizeof(seen.ss) }, name;
	int listener = open_listener(IPV4, 4, &where), c, s;

	set_nonblock(listener, true);
	MUST(fcntl(listener, F_SETFD, FD_CLOEXEC));
	c = open_client(IPV4, &where);
	wait_events(listener, POLLIN);
	s = MUST(accept4(listener, &seen.sa, &seen.len, flags[_i]));
	MUST_BE(!!(MUST(fcntl(s, F_GETFL)) & O_NONBLOCK), !!(flags[_i] & SOCK_NONBLOCK));
	MUST_BE(!!(MUST(fcntl(s, F_GETFD)) & FD_CLOEXEC), !!(flags[_i] & SOCK_CLOEXEC));
	name = local_name(c);
	CHECK(same_addr(&seen, &name), "%s, expected %s", addr_text(&seen), addr_text(&name));
	expect_alive(c, s);
	close(c);
	close(s);
	close(listener);
}
END_TEST

/*
 * A connection is made, and carries data, before anybody accepts it: a single
 * thread can talk to itself.
 */
START_TEST(connect_before_accept)
{
	struct addr where;
	int listener = open_listener(_i, 8, &where), c[3], s, i;
	struct stream out, in;

	for (i = 0; i < 3; i++) {
		c[i] = open_client(_i, &where);
		out = (struct stream){ .fd = c[i], .seed = 10 + i };
		send_stream(&out, 5000, 777);
	}
	close(c[1]);	/* gone before it is accepted, its data are not */
	for (i = 0; i < 3; i++) {
		s = accept_one(listener);
		in = (struct stream){ .fd = s, .seed = 10 + i };
		recv_stream(&in, 5000, 1000);
		if (i == 1)
			expect_end(s);
		else
			expect_alive(c[i], s);
		close(s);
	}
	close(c[0]);
	close(c[2]);
	close(listener);
}
END_TEST

/*
 * Connections wait in the backlog, more do not get in: TCP leaves them
 * trying, AF_RSOCK refuses them.
 */
START_TEST(backlog_is_bounded)
{
	struct addr where;
	int listener = open_listener(_i, 2, &where);
	int c[12], made = 0, refused = 0, i, err;

	for (i = 0; i < 12; i++) {
		c[i] = open_socket(_i, SOCK_NONBLOCK);
		if (!connect(c[i], &where.sa, where.len)) {
			made++;
			continue;
		}
		if (errno == EINPROGRESS) {
			if (!poll_ms(c[i], POLLOUT, is_tcp() ? 20 : hang_seconds() * 1000))
				continue;
			err = get_int(c[i], SOL_SOCKET, SO_ERROR);
		} else {
			err = errno;
		}
		CHECK(!err || err == ECONNREFUSED, "connection %d: %s", i, err_name(err));
		made += !err;
		refused += !!err;
	}
	/* TCP takes one more than it says. */
	CHECK(made >= 2 && made <= 3, "%d connections made, %d refused", made, refused);
	if (is_tcp())
		CHECK(!refused, "%d refused", refused);
	else
		CHECK(refused == 12 - made, "%d made, %d refused", made, refused);
	for (i = 0; i < made; i++)
		close(accept_one(listener));
	for (i = 0; i < 12; i++)
		close(c[i]);
	close(listener);
}
END_TEST

START_TEST(backlog_has_room_again)
{
	struct addr where;
	int listener = open_listener(_i, 1, &where), round;

	for (round = 0; round < 10; round++) {
		int c = open_client(_i, &where), s = accept_one(listener);

		expect_alive(c, s);
		close(c);
		close(s);
	}
	close(listener);
}
END_TEST

START_TEST(connections_are_told_apart)
{
	struct addr where;
	int listener = open_listener(_i, 64, &where);
	int c[40], s, i, id;

	for (i = 0; i < 40; i++) {
		c[i] = open_client(_i, &where);
		send_all(c[i], &i, sizeof(i));
	}
	for (i = 0; i < 40; i++) {
		struct addr a, b;

		s = accept_one(listener);
		recv_all(s, &id, sizeof(id));
		CHECK(id >= 0 && id < 40 && c[id] >= 0, "connection %d twice or unknown", id);
		a = local_name(c[id]);
		b = peer_name(s);
		CHECK(same_addr(&a, &b), "%s and %s", addr_text(&a), addr_text(&b));
		expect_alive(c[id], s);
		close(s);
		close(c[id]);
		c[id] = -1;
	}
	close(listener);
}
END_TEST

/* Those who wait in the backlog learn that the listener is gone. */
START_TEST(listener_closed)
{
	struct addr where;
	int listener = open_listener(_i, 8, &where), c[3], i;
	ssize_t n;
	char b;

	for (i = 0; i < 3; i++)
		c[i] = open_client(_i, &where);
	wait_events(listener, POLLIN);
	close(listener);
	for (i = 0; i < 3; i++) {
		wait_events(c[i], POLLIN);
		/* TCP resets them; AF_RSOCK may as well end them in order. */
		n = recv(c[i], &b, 1, 0);
		CHECK((n < 0 && errno == ECONNRESET) || (!is_tcp() && n == 0), "%zd, %s", n,
		      err_name(errno));
		close(c[i]);
	}
	i = open_socket(_i, 0);
	MUST_FAIL(connect(i, &where.sa, where.len), ECONNREFUSED);
	close(i);
}
END_TEST

static void accept_into(void *arg)
{
	int *fd = arg, s = MUST(accept(fd[0], NULL, NULL));

	fd[1] = s;
}

START_TEST(accept_in_threads)
{
	struct worker w[4];
	int fds[4][2], c[4], i;
	struct addr where;
	int listener = open_listener(IPV4, 8, &where);

	for (i = 0; i < 4; i++) {
		fds[i][0] = listener;
		start(&w[i], accept_into, fds[i]);
		wait_blocked(&w[i]);
	}
	for (i = 0; i < 4; i++) {
		c[i] = open_client(IPV4, &where);
		send_all(c[i], "x", 1);
	}
	for (i = 0; i < 4; i++)
		join(&w[i]);
	for (i = 0; i < 4; i++) {
		char b;

		recv_all(fds[i][1], &b, 1);
		expect_nothing(fds[i][1]);
	}
	for (i = 0; i < 4; i++) {
		close(fds[i][1]);
		close(c[i]);
	}
	close(listener);
}
END_TEST

START_TEST(accept_interrupted)
{
	struct addr where;
	int listener = open_listener(IPV4, 8, &where), c, s;

	count_signal(SIGALRM, 0);
	interval_timer(20000);
	MUST_FAIL(accept(listener, NULL, NULL), EINTR);
	interval_timer(0);
	CHECK(signals_seen, "no signal");
	c = open_client(IPV4, &where);
	s = accept_one(listener);
	expect_alive(c, s);
	close(c);
	close(s);
	close(listener);
}
END_TEST

/* --- connect() ---------------------------------------------------------------------- */

START_TEST(connect_blocking)
{
	struct pair p = open_pair(_i);
	struct addr a = peer_name(p.c);

	MUST_BE(get_int(p.c, SOL_SOCKET, SO_ERROR), 0);
	MUST_FAIL(connect(p.c, &a.sa, a.len), EISCONN);
	MUST_FAIL(connect(p.s, &a.sa, a.len), EISCONN);
	MUST_FAIL(bind(p.c, &a.sa, a.len), EINVAL);
	expect_alive(p.c, p.s);
	close_pair(&p);
}
END_TEST

START_TEST(connect_nonblocking)
{
	struct addr where, a;
	int listener = open_listener(_i, 8, &where);
	int c = open_socket(_i, SOCK_NONBLOCK), s, n;

	MUST_FAIL(connect(c, &where.sa, where.len), EINPROGRESS);
	/* Whether it is still at it now depends on how fast it is. */
	n = connect(c, &where.sa, where.len);
	CHECK(!n || errno == EALREADY || errno == EISCONN, "%s", err_name(errno));
	MUST_BE(wait_events(c, POLLOUT), POLLOUT);
	MUST_BE(get_int(c, SOL_SOCKET, SO_ERROR), 0);
	/* The first to ask is told that it went well, as with TCP. */
	if (n) {
		n = connect(c, &where.sa, where.len);
		CHECK(!n || errno == EISCONN, "%s", err_name(errno));
	}
	MUST_FAIL(connect(c, &where.sa, where.len), EISCONN);
	a = peer_name(c);
	CHECK(same_addr(&a, &where), "%s", addr_text(&a));
	s = accept_one(listener);
	expect_alive(c, s);
	close(c);
	close(s);
	close(listener);
}
END_TEST

/* The kernel goes on connecting without calls of the program. */
START_TEST(connect_nonblocking_unattended)
{
	struct addr where;
	int listener = open_listener(_i, 8, &where);
	int c = open_socket(_i, SOCK_NONBLOCK), s;

	MUST_FAIL(connect(c, &where.sa, where.len), EINPROGRESS);
	s = accept_one(listener);
	send_all(s, "hello", 5);
	wait_inq(c, 5);
	MUST_BE(get_int(c, SOL_SOCKET, SO_ERROR), 0);
	close(c);
	close(s);
	close(listener);
}
END_TEST

/* A blocking send() waits for a connection that is being made. */
START_TEST(send_while_connecting)
{
	struct addr where;
	int listener = open_listener(_i, 8, &where);
	int c = open_socket(_i, SOCK_NONBLOCK), s;
	char buf[5], b;
	ssize_t n;

	MUST_FAIL(connect(c, &where.sa, where.len), EINPROGRESS);
	n = recv(c, &b, 1, 0);
	CHECK(n < 0 && (errno == EAGAIN || errno == ENOTCONN), "%zd, %s", n, err_name(errno));
	set_nonblock(c, false);
	MUST_BE(send(c, "hello", 5, 0), 5);
	s = accept_one(listener);
	recv_all(s, buf, 5);
	CHECK(!memcmp(buf, "hello", 5), "wrong data");
	expect_alive(c, s);
	close(c);
	close(s);
	close(listener);
}
END_TEST

START_TEST(connect_refused)
{
	struct addr nobody = closed_port(_i), where;
	int c = open_socket(_i, 0), listener, s;

	MUST_FAIL(connect(c, &nobody.sa, nobody.len), ECONNREFUSED);
	MUST_BE(get_int(c, SOL_SOCKET, SO_ERROR), 0);
	MUST_FAIL(connect(c, &nobody.sa, nobody.len), ECONNREFUSED);
	/* The socket can try again, and elsewhere. */
	listener = open_listener(_i, 8, &where);
	MUST(connect(c, &where.sa, where.len));
	s = accept_one(listener);
	expect_alive(c, s);
	close(c);
	close(s);
	close(listener);
}
END_TEST

enum asking { ASK_SO_ERROR, ASK_CONNECT, ASK_RECV, ASK_SEND, ASKINGS };

/* The error is told once, to whoever asks first. */
START_TEST(connect_nonblocking_refused)
{
	int ip = _i / ASKINGS;
	struct addr nobody = closed_port(ip);
	int c = open_socket(ip, SOCK_NONBLOCK), events;
	char b = 0;

	MUST_FAIL(connect(c, &nobody.sa, nobody.len), EINPROGRESS);
	events = wait_events(c, POLLOUT);
	CHECK(events & POLLERR && events & POLLHUP, "%s", event_text(events));
	switch (_i % ASKINGS) {
	case ASK_SO_ERROR:
		MUST_BE(get_int(c, SOL_SOCKET, SO_ERROR), ECONNREFUSED);
		break;
	case ASK_CONNECT:
		MUST_FAIL(connect(c, &nobody.sa, nobody.len), ECONNREFUSED);
		break;
	case ASK_RECV:
		MUST_FAIL(recv(c, &b, 1, 0), ECONNREFUSED);
		break;
	case ASK_SEND:
		MUST_FAIL(send(c, &b, 1, MSG_NOSIGNAL), ECONNREFUSED);
		break;
	}
	MUST_BE(get_int(c, SOL_SOCKET, SO_ERROR), 0);
	events = poll_ms(c, POLLOUT, 0);
	CHECK(!(events & POLLERR), "%s", event_text(events));
	close(c);
}
END_TEST

/*
 * Where nobody answers: another host of the subnet, that does not exist. TCP's
 * loopback has none, but a listener whose backlog is full answers as little.
 */
static struct addr dead_address(void)
{
	const char *text = getenv("RSOCK_DEAD4");
	struct addr a;
	int i;

	if (text && *text)
		return make_addr(text, 7471);
	if (is_tcp()) {
		open_listener(IPV4, 0, &a);
		for (i = 0; i < 4; i++)
			connect(open_socket(IPV4, SOCK_NONBLOCK), &a.sa, a.len);
		return a;
	}
	a = server_addr(IPV4, 7471);
	a.in.sin_addr.s_addr = (a.in.sin_addr.s_addr & htonl(0xffffff00)) | htonl(213);
	return a;
}

/* An error, or the timeout, but in any case an end. */
START_TEST(connect_dead_address)
{
	struct addr a = dead_address();
	int c = open_socket(IPV4, 0);

	set_timeout(c, SO_SNDTIMEO, 300);
	connect_fails(c, &a, EINPROGRESS);
	MUST(close(c));

	/* A signal ends the wait. */
	c = open_socket(IPV4, 0);
	count_signal(SIGALRM, 0);
	interval_timer(100000);
	connect_fails(c, &a, EINTR);
	interval_timer(0);
	MUST(close(c));
}
END_TEST

START_TEST(calls_while_connecting)
{
	struct addr a = dead_address(), name;
	int c = open_socket(IPV4, SOCK_NONBLOCK);
	socklen_t len = sizeof(name.ss);
	char b = 0;

	if (connect_fails(c, &a, EINPROGRESS) != EINPROGRESS)
		return;
	MUST_FAIL(connect(c, &a.sa, a.len), EALREADY);
	MUST_FAIL(recv(c, &b, 1, 0), EAGAIN, ENOTCONN);
	MUST_FAIL(send(c, &b, 1, MSG_NOSIGNAL), EAGAIN, ENOTCONN);
	MUST_FAIL(listen(c, 1), EINVAL);
	MUST_FAIL(bind(c, &a.sa, a.len), EINVAL);
	MUST_FAIL(accept(c, NULL, NULL), EINVAL);
	MUST_FAIL(getpeername(c, &name.sa, &len), ENOTCONN);
	MUST_BE(get_int(c, SOL_SOCKET, SO_ERROR), 0);
	MUST_BE(poll_ms(c, BASIC_EVENTS, 0), 0);
	/* close() does not wait for an answer. */
	MUST(close(c));

	/* shutdown() gives it up. */
	c = open_socket(IPV4, SOCK_NONBLOCK);
	MUST_FAIL(connect(c, &a.sa, a.len), EINPROGRESS);
	MUST(shutdown(c, SHUT_RDWR));
	wait_events(c, POLLIN);
	close(c);
}
END_TEST

/* shutdown() ends the wait of another thread. */
static void connect_until_shutdown(void *arg)
{
	struct addr a = dead_address();
	int fd = *(int *)arg;

	MUST_FAIL(connect(fd, &a.sa, a.len), ECONNABORTED, ECONNRESET, ECONNREFUSED, EPIPE,
		  ENOTCONN, EHOSTUNREACH, ENETUNREACH, ETIMEDOUT);
}

START_TEST(shutdown_while_connecting)
{
	int c = open_socket(IPV4, 0);
	struct worker w;

	start(&w, connect_until_shutdown, &c);
	wait_blocked(&w);
	/* It may have given up by itself. */
	if (shutdown(c, SHUT_RDWR))
		MUST_BE(errno, ENOTCONN);
	join(&w);
	close(c);
}
END_TEST

/* There is no RDMA device on the way: an error, and soon. */
START_TEST(connect_no_device)
{
	static const char * const texts[] = { "127.0.0.1", "::1" };
	struct addr a = make_addr(texts[_i], 7471);
	int c = open_socket(_i, 0);

	if (is_tcp())
		return;
	connect_fails(c, &a, ENODEV);
	/* The socket is still good for an address that has one. */
	close(c);
	c = open_socket(_i, SOCK_NONBLOCK);
	if (connect(c, &a.sa, a.len) < 0 && errno == EINPROGRESS) {
		int err;

		wait_events(c, POLLOUT);
		err = get_int(c, SOL_SOCKET, SO_ERROR);
		CHECK(err_in(err, unreachable), "%s", err_name(err));
	}
	close(c);
}
END_TEST

/* Who wants to be reached from this machine only must not be by others. */
START_TEST(bind_loopback)
{
	static const char * const texts[] = {
		"127.0.0.1", "::1", "127.255.0.1", "::ffff:127.0.0.1",
	};
	struct addr a = make_addr(texts[_i], 0);
	int s = open_socket(_i % 2, 0);

	if (is_tcp()) {
		MUST(bind(s, &a.sa, a.len));
	} else {
		MUST_FAIL(bind(s, &a.sa, a.len), EADDRNOTAVAIL);
		/* The socket is as new. */
		a = server_addr(_i % 2, 0);
		MUST(bind(s, &a.sa, a.len));
	}
	close(s);
}
END_TEST

START_TEST(connect_odd_addresses)
{
	struct addr a = target_addr(_i, 0);
	int c = open_socket(_i, 0);

	/* Port 0 */
	MUST_FAIL(connect(c, &a.sa, a.len), ECONNREFUSED, EADDRNOTAVAIL, EINVAL, ENETUNREACH);
	MUST_FAIL(connect(c, NULL, sizeof(a.in)), EFAULT);
	close(c);

	/* The other IP version, once one is chosen */
	if (_i == LINK_LOCAL)
		return;
	c = open_socket(_i, 0);
	a = server_addr(_i, 0);
	MUST(bind(c, &a.sa, a.len));
	a = server_addr(_i == IPV4 ? IPV6 : IPV4, 7471);
	if (_i == IPV4)
		MUST_FAIL(connect(c, &a.sa, a.len), EAFNOSUPPORT, EINVAL);
	else
		MUST_FAIL(connect(c, &a.sa, a.len), EAFNOSUPPORT, EINVAL, ENETUNREACH);
	close(c);
}
END_TEST

/* IPv4 by an IPv4-mapped address. */
START_TEST(connect_mapped)
{
	struct addr where, a, want;
	int listener = open_listener(IPV4, 8, &where);
	int c = open_socket(IPV6, 0), s;

	where = mapped(&where);
	MUST(connect(c, &where.sa, where.len));
	s = accept_one(listener);
	a = peer_name(c);
	CHECK(same_addr(&a, &where), "%s, expected %s", addr_text(&a), addr_text(&where));
	/* The other end sees IPv4. */
	a = peer_name(s);
	MUST_BE(a.sa.sa_family, AF_INET);
	want = local_name(c);
	a = mapped(&a);
	CHECK(same_addr(&a, &want), "%s, expected %s", addr_text(&a), addr_text(&want));
	expect_alive(c, s);
	close(c);
	close(s);
	close(listener);
}
END_TEST

/* --- not connected -------------------------------------------------------------------- */

enum { NEW, BOUND, LISTENING, REFUSED, STATES };

START_TEST(unconnected_io)
{
	static const char * const names[] = { "new", "bound", "listening", "refused" };
	struct addr a = server_addr(IPV4, 0), nobody = closed_port(IPV4);
	int fd = open_socket(IPV4, 0), err;
	struct iovec iov = { .iov_base = &a, .iov_len = 1 };
	char b = 0;

	if (_i == REFUSED)
		MUST_FAIL(connect(fd, &nobody.sa, nobody.len), ECONNREFUSED);
	if (_i == BOUND || _i == LISTENING)
		MUST(bind(fd, &a.sa, a.len));
	if (_i == LISTENING)
		MUST(listen(fd, 1));
	set_timeout(fd, SO_RCVTIMEO, 5000);
	set_timeout(fd, SO_SNDTIMEO, 5000);
	MUST_FAIL(recv(fd, &b, 1, 0), ENOTCONN);
	MUST_FAIL(recv(fd, &b, 1, MSG_PEEK | MSG_DONTWAIT), ENOTCONN);
	MUST_FAIL(readv(fd, &iov, 1), ENOTCONN);
	/* TCP says EPIPE where ENOTCONN would be as clear. */
	MUST_FAIL(send(fd, &b, 1, MSG_NOSIGNAL), EPIPE, ENOTCONN);
	MUST_FAIL(writev(fd, &iov, 1), EPIPE, ENOTCONN);
	MUST_FAIL(send(fd, &b, 1, MSG_NOSIGNAL | MSG_DONTWAIT), EPIPE, ENOTCONN);
	if (_i != LISTENING)
		MUST_FAIL(shutdown(fd, SHUT_RDWR), ENOTCONN);
	MUST_FAIL(shutdown(fd, 3), EINVAL);
	MUST_FAIL(shutdown(fd, -1), EINVAL);

	/* EPIPE comes with a signal, unless that is not wanted. */
	count_signal(SIGPIPE, 0);
	MUST_FAIL(send(fd, &b, 1, MSG_NOSIGNAL), EPIPE, ENOTCONN);
	CHECK(!signals_seen, "%s: SIGPIPE in spite of MSG_NOSIGNAL", names[_i]);
	err = MUST_FAIL(send(fd, &b, 1, 0), EPIPE, ENOTCONN);
	CHECK(signals_seen == (err == EPIPE), "%s: %d SIGPIPE with %s", names[_i],
	      (int)signals_seen, err_name(err));
	MUST_BE(get_int(fd, SOL_SOCKET, SO_ERROR), 0);
	close(fd);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sock_api");
	TCase *tc;

	tc = add_case(suite, "socket", 20);
	tcase_add_loop_test(tc, socket_types, 0, ARRAY_SIZE(socket_rows));
	tcase_add_test(tc, socket_is_a_file);
	tcase_add_test(tc, blocking_and_back);

	tc = add_case(suite, "bind", 20);
	tcase_add_loop_test(tc, bind_bad_address, 0, ARRAY_SIZE(bad_address_rows));
	tcase_add_loop_test(tc, bind_not_local, IPV4, IPV6 + 1);
	add_ip_test(tc, bind_ephemeral);
	add_ip_test(tc, bind_conflict);
	add_ip_test(tc, bind_reuse);
	add_ip_test(tc, bind_after_restart);
	tcase_add_loop_test(tc, bind_any, IPV4, IPV6 + 1);
	tcase_add_test(tc, bind_any_both_versions);
	tcase_add_test(tc, bind_own_family);
	tcase_add_test(tc, bind_other_family);
	tcase_add_test(tc, bind_long_address);
	tcase_add_loop_test(tc, bind_privileged, IPV4, IPV6 + 1);
	add_ip_test(tc, bind_before_connect);

	tc = add_case(suite, "names", 20);
	add_ip_test(tc, names_of_new_socket);
	add_ip_test(tc, names_of_both_ends);
	add_ip_test(tc, names_in_short_buffers);

	tc = add_case(suite, "listen", 30);
	add_ip_test(tc, listen_states);
	tcase_add_test(tc, listen_unbound);
	add_ip_test(tc, accept_states);
	tcase_add_loop_test(tc, accept_flags, 0, 4);
	add_ip_test(tc, connect_before_accept);
	add_ip_test(tc, backlog_is_bounded);
	add_ip_test(tc, backlog_has_room_again);
	add_ip_test(tc, connections_are_told_apart);
	add_ip_test(tc, listener_closed);
	tcase_add_test(tc, accept_in_threads);
	tcase_add_test(tc, accept_interrupted);

	tc = add_case(suite, "connect", 30);
	add_ip_test(tc, connect_blocking);
	add_ip_test(tc, connect_nonblocking);
	add_ip_test(tc, connect_nonblocking_unattended);
	add_ip_test(tc, send_while_connecting);
	add_ip_test(tc, connect_refused);
	tcase_add_loop_test(tc, connect_nonblocking_refused, 0, ip_versions() * ASKINGS);
	tcase_add_loop_test(tc, connect_bad_address, 0, ARRAY_SIZE(bad_address_rows));
	tcase_add_test(tc, connect_dead_address);
	tcase_add_test(tc, calls_while_connecting);
	tcase_add_test(tc, shutdown_while_connecting);
	tcase_add_loop_test(tc, connect_no_device, IPV4, IPV6 + 1);
	tcase_add_loop_test(tc, bind_loopback, 0, 4);
	add_ip_test(tc, connect_odd_addresses);
	tcase_add_test(tc, connect_mapped);

	tc = add_case(suite, "unconnected", 20);
	tcase_add_loop_test(tc, unconnected_io, 0, STATES);

	return run_suite(suite);
}
