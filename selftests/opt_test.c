// SPDX-License-Identifier: GPL-2.0
/*
 * Options: those of sockets, of TCP, of IP, and our own.
 */
#include <stdlib.h>
#include <sys/ioctl.h>

#include "tcp_info.h"
#include "util.h"

enum { UNBOUND, LISTENER, CONNECTED, ACCEPTED, KINDS };

static const char * const kind_names[] = { "new", "listening", "connected", "accepted" };

/* One socket of each kind; the rest of them stays open. */
static int socket_of_kind(int ip, int kind)
{
	struct addr where;
	struct pair p;

	if (kind == UNBOUND)
		return open_socket(ip, 0);
	if (kind == LISTENER)
		return open_listener(ip, 4, &where);
	p = open_pair(ip);
	return kind == CONNECTED ? p.c : p.s;
}

/* --- read only ------------------------------------------------------------------- */

START_TEST(identity)
{
	int kind = _i % KINDS, ip = _i / KINDS, fd = socket_of_kind(ip, kind), value;

	MUST_BE(get_int(fd, SOL_SOCKET, SO_TYPE), SOCK_STREAM);
	MUST_BE(get_int(fd, SOL_SOCKET, SO_DOMAIN), test_domain(ip));
	value = get_int(fd, SOL_SOCKET, SO_PROTOCOL);
	/* The number we were asked for, or none. */
	CHECK(value == (is_tcp() ? IPPROTO_TCP : test_protocol()), "%s: protocol %d",
	      kind_names[kind], value);
	MUST_BE(get_int(fd, SOL_SOCKET, SO_ACCEPTCONN), kind == LISTENER);
	MUST_BE(get_int(fd, SOL_SOCKET, SO_ERROR), 0);
	value = 1;
	MUST_FAIL(setsockopt(fd, SOL_SOCKET, SO_TYPE, &value, sizeof(value)), ENOPROTOOPT);
	MUST_FAIL(setsockopt(fd, SOL_SOCKET, SO_DOMAIN, &value, sizeof(value)), ENOPROTOOPT);
	MUST_FAIL(setsockopt(fd, SOL_SOCKET, SO_ERROR, &value, sizeof(value)), ENOPROTOOPT);
	MUST_FAIL(setsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &value, sizeof(value)), ENOPROTOOPT);
}
END_TEST

/* --- what is set is what is read ----------------------------------------------------- */

static const struct {
	const char *name;
	int level, option;
	int set, get;		/* -1 for get: any */
} value_rows[] = {
	{ "SO_REUSEADDR", SOL_SOCKET, SO_REUSEADDR, 1, 1 },
	{ "SO_REUSEADDR off", SOL_SOCKET, SO_REUSEADDR, 0, 0 },
	{ "SO_KEEPALIVE", SOL_SOCKET, SO_KEEPALIVE, 1, 1 },
	{ "SO_KEEPALIVE off", SOL_SOCKET, SO_KEEPALIVE, 0, 0 },
	{ "SO_SNDBUF", SOL_SOCKET, SO_SNDBUF, 50000, 100000 },
	{ "SO_RCVBUF", SOL_SOCKET, SO_RCVBUF, 60000, 120000 },
	{ "SO_RCVLOWAT", SOL_SOCKET, SO_RCVLOWAT, 10, 10 },
	{ "SO_RCVLOWAT 0", SOL_SOCKET, SO_RCVLOWAT, 0, 1 },
	{ "SO_OOBINLINE", SOL_SOCKET, SO_OOBINLINE, 1, 1 },
	{ "SO_PRIORITY", SOL_SOCKET, SO_PRIORITY, 3, 3 },
	{ "SO_MARK", SOL_SOCKET, SO_MARK, 7, 7 },
	{ "SO_DEBUG off", SOL_SOCKET, SO_DEBUG, 0, 0 },
	{ "TCP_NODELAY", IPPROTO_TCP, TCP_NODELAY, 1, 1 },
	{ "TCP_NODELAY 5", IPPROTO_TCP, TCP_NODELAY, 5, 1 },
	{ "TCP_NODELAY off", IPPROTO_TCP, TCP_NODELAY, 0, 0 },
	{ "TCP_CORK", IPPROTO_TCP, TCP_CORK, 3, 1 },
	{ "TCP_QUICKACK off", IPPROTO_TCP, TCP_QUICKACK, 0, 0 },
	{ "TCP_KEEPIDLE", IPPROTO_TCP, TCP_KEEPIDLE, 100, 100 },
	{ "TCP_KEEPINTVL", IPPROTO_TCP, TCP_KEEPINTVL, 20, 20 },
	{ "TCP_KEEPCNT", IPPROTO_TCP, TCP_KEEPCNT, 5, 5 },
	{ "TCP_USER_TIMEOUT", IPPROTO_TCP, TCP_USER_TIMEOUT, 50000, 50000 },
	{ "TCP_USER_TIMEOUT off", IPPROTO_TCP, TCP_USER_TIMEOUT, 0, 0 },
	{ "TCP_NOTSENT_LOWAT", IPPROTO_TCP, TCP_NOTSENT_LOWAT, 100000, 100000 },
	{ "IP_TOS", IPPROTO_IP, IP_TOS, 0x10, 0x10 },
	{ "IP_TOS with ECN", IPPROTO_IP, IP_TOS, 0x13, 0x10 },
	{ "IP_BIND_ADDRESS_NO_PORT", IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1, 1 },
};

START_TEST(value)
{
	int row = _i / KINDS, kind = _i % KINDS, fd = socket_of_kind(IPV4, kind), got;
	int level = value_rows[row].level, option = value_rows[row].option;

	if (setsockopt(fd, level, option, &value_rows[row].set, sizeof(int)))
		test_fail(__FILE__, __LINE__, "%s, %s socket: set: %s", value_rows[row].name,
			  kind_names[kind], err_name(errno));
	got = get_int(fd, level, option);
	CHECK(got == value_rows[row].get, "%s, %s socket: %d, expected %d",
	      value_rows[row].name, kind_names[kind], got, value_rows[row].get);
}
END_TEST

/* --- what is refused -------------------------------------------------------------------- */

static const struct {
	const char *name;
	int level, option;
	int value, len;
	int err;
} refused_rows[] = {
	{ "SO_SNDBUF of 2 bytes", SOL_SOCKET, SO_SNDBUF, 1, 2, EINVAL },
	{ "SO_REUSEADDR, empty", SOL_SOCKET, SO_REUSEADDR, 1, 0, EINVAL },
	{ "SO_LINGER of 4 bytes", SOL_SOCKET, SO_LINGER, 1, 4, EINVAL },
	{ "SO_RCVTIMEO of 4 bytes", SOL_SOCKET, SO_RCVTIMEO, 1, 4, EINVAL },
	{ "TCP_NODELAY, empty", IPPROTO_TCP, TCP_NODELAY, 1, 0, EINVAL },
	{ "TCP_NODELAY of 3 bytes", IPPROTO_TCP, TCP_NODELAY, 1, 3, EINVAL },
	{ "TCP_KEEPIDLE 0", IPPROTO_TCP, TCP_KEEPIDLE, 0, 4, EINVAL },
	{ "TCP_KEEPIDLE 32768", IPPROTO_TCP, TCP_KEEPIDLE, 32768, 4, EINVAL },
	{ "TCP_KEEPINTVL 0", IPPROTO_TCP, TCP_KEEPINTVL, 0, 4, EINVAL },
	{ "TCP_KEEPCNT 128", IPPROTO_TCP, TCP_KEEPCNT, 128, 4, EINVAL },
	{ "TCP_USER_TIMEOUT -1", IPPROTO_TCP, TCP_USER_TIMEOUT, -1, 4, EINVAL },
	{ "TCP_CONGESTION, empty", IPPROTO_TCP, TCP_CONGESTION, 0, 0, EINVAL },
	{ "unknown of SOL_SOCKET", SOL_SOCKET, 9999, 1, 4, ENOPROTOOPT },
	{ "unknown of IPPROTO_TCP", IPPROTO_TCP, 9999, 1, 4, ENOPROTOOPT },
	{ "unknown of IPPROTO_IP", IPPROTO_IP, 9999, 1, 4, ENOPROTOOPT },
	{ "unknown level", 31337, 1, 1, 4, ENOPROTOOPT },
	{ "option of UDP", IPPROTO_UDP, 1, 1, 4, ENOPROTOOPT },
	{ "negative option", SOL_SOCKET, -1, 1, 4, ENOPROTOOPT },
};

START_TEST(refused)
{
	int row = _i / KINDS, kind = _i % KINDS, fd = socket_of_kind(IPV4, kind);
	int level = refused_rows[row].level, option = refused_rows[row].option, n;

	n = setsockopt(fd, level, option, &refused_rows[row].value, refused_rows[row].len);
	CHECK(n < 0 && errno == refused_rows[row].err, "%s, %s socket: %d, %s, expected %s",
	      refused_rows[row].name, kind_names[kind], n, err_name(errno),
	      err_name(refused_rows[row].err));
	if (refused_rows[row].err == ENOPROTOOPT) {
		int got = 0;
		socklen_t len = sizeof(got);

		/* An unknown level may as well be unsupported. */
		n = getsockopt(fd, level, option, &got, &len);
		CHECK(n < 0 && (errno == ENOPROTOOPT || errno == EOPNOTSUPP),
		      "%s, %s socket: get: %d, %s", refused_rows[row].name, kind_names[kind], n,
		      err_name(errno));
	}
}
END_TEST

START_TEST(bad_memory)
{
	int fd = socket_of_kind(IPV4, _i), value = 1;
	socklen_t len = sizeof(int), negative = -1;

	MUST_FAIL(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, (void *)8, 4), EFAULT);
	MUST_FAIL(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, (void *)8, 4), EFAULT);
	MUST_FAIL(getsockopt(fd, IPPROTO_TCP, TCP_NODELAY, (void *)8, &len), EFAULT);
	MUST_FAIL(getsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &value, (void *)8), EFAULT);
	MUST_FAIL(getsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &value, &negative), EINVAL);
	MUST_FAIL(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &value, -1), EINVAL);
}
END_TEST

/* As much as there is room for. */
START_TEST(short_get)
{
	int fd = socket_of_kind(IPV4, _i);
	unsigned char buf[8];
	socklen_t len;

	for (len = 0; len <= 8; len++) {
		socklen_t got = len;

		memset(buf, 0xee, sizeof(buf));
		set_int(fd, IPPROTO_TCP, TCP_NODELAY, 1);
		MUST(getsockopt(fd, IPPROTO_TCP, TCP_NODELAY, buf, &got));
		MUST_BE(got, len < 4 ? len : 4);
		CHECK(len == 0 || buf[0] == 1, "%d", buf[0]);
		CHECK(got == 8 || buf[got] == 0xee, "written beyond %u", got);
	}
}
END_TEST

/* --- options of some size of their own ----------------------------------------------------- */

START_TEST(linger)
{
	int fd = socket_of_kind(IPV4, _i);
	struct linger l = { .l_onoff = 9, .l_linger = 9 };
	socklen_t len = sizeof(l);

	MUST(getsockopt(fd, SOL_SOCKET, SO_LINGER, &l, &len));
	MUST_BE(len, sizeof(l));
	MUST_BE(l.l_onoff, 0);
	set_linger(fd, true, 7);
	MUST(getsockopt(fd, SOL_SOCKET, SO_LINGER, &l, &len));
	MUST_BE(l.l_onoff, 1);
	MUST_BE(l.l_linger, 7);
}
END_TEST

START_TEST(buffers)
{
	int fd = socket_of_kind(IPV4, _i), option, value;

	for (option = 0; option < 2; option++) {
		int opt = option ? SO_SNDBUF : SO_RCVBUF;

		/* There is a least and a greatest size, and no error. */
		set_int(fd, SOL_SOCKET, opt, 0);
		value = get_int(fd, SOL_SOCKET, opt);
		CHECK(value > 0 && value < 100000, "%d", value);
		set_int(fd, SOL_SOCKET, opt, 1);
		MUST_BE(get_int(fd, SOL_SOCKET, opt), value);
		set_int(fd, SOL_SOCKET, opt, 0x7fffffff);
		value = get_int(fd, SOL_SOCKET, opt);
		CHECK(value > 100000 && value < 0x7fffffff, "%d", value);
		set_int(fd, SOL_SOCKET, opt, 40000);
		MUST_BE(get_int(fd, SOL_SOCKET, opt), 80000);
	}
}
END_TEST

/* Whatever the sizes, set before or after, data go through. */
START_TEST(buffers_carry_data)
{
	static const int bufs[] = { 1, 5000, 100000, 1000000 };
	struct pair p = _i < 4 ? open_small_pair(IPV4, bufs[_i]) : open_pair(IPV4);
	struct stream out = { .fd = p.c, .seed = 1 }, in = { .fd = p.s, .seed = 1 };
	int i;

	for (i = 0; i < 20; i++) {
		if (_i >= 4) {
			set_int(p.c, SOL_SOCKET, SO_SNDBUF, bufs[i % 4]);
			set_int(p.s, SOL_SOCKET, SO_RCVBUF, bufs[(i / 2) % 4]);
		}
		send_stream(&out, 1000, 1000);
		recv_stream(&in, 1000, 1000);
	}
	close_pair(&p);
}
END_TEST

static void recv_ten(void *arg)
{
	int *args = arg;
	char buf[100];

	args[1] = MUST(recv(args[0], buf, sizeof(buf), 0));
}

/* Less than SO_RCVLOWAT is not worth waking for, the end always is. */
START_TEST(low_water_mark)
{
	struct pair p = open_pair(IPV4);
	int args[2] = { p.s, -1 };
	struct worker w;

	set_int(p.s, SOL_SOCKET, SO_RCVLOWAT, 10);
	send_all(p.c, "123", 3);
	wait_inq(p.s, 3);
	MUST_BE(poll_ms(p.s, POLLIN, 20), 0);
	start(&w, recv_ten, args);
	wait_blocked(&w);
	/*
	 * A TCP reader has taken the first three, and sleeps until there are
	 * ten more.
	 */
	send_all(p.c, "4567890123", 10);
	join(&w);
	CHECK(args[1] >= 10, "%d", args[1]);
	skip(p.s, 13 - args[1]);
	send_all(p.c, "123", 3);
	wait_inq(p.s, 3);
	MUST(shutdown(p.c, SHUT_WR));
	wait_events(p.s, POLLIN);
	skip(p.s, 3);
	expect_end(p.s);
	close_pair(&p);
}
END_TEST

static void send_mib(void *arg)
{
	struct stream *out = arg;

	send_stream(out, MB, 10000);
	MUST(shutdown(out->fd, SHUT_WR));
}

/* However high it is, what can be there without more being read is enough. */
START_TEST(high_water_mark)
{
	static const int marks[] = { 70000, 100000, MB };
	struct pair p = open_small_pair(IPV4, 64 * KB);
	struct stream out = { .fd = p.c, .seed = 1 }, in = { .fd = p.s, .seed = 1 };
	struct worker w;

	set_int(p.s, SOL_SOCKET, SO_RCVLOWAT, marks[_i]);
	start(&w, send_mib, &out);
	while (in.pos < MB) {
		wait_events(p.s, POLLIN);
		recv_stream(&in, in.pos + 10000 < MB ? 10000 : MB - in.pos, 10000);
	}
	join(&w);
	expect_end(p.s);
	close_pair(&p);
}
END_TEST

/* An accepted socket begins with what its listener had. */
START_TEST(inherited)
{
	struct addr where;
	int listener = open_listener(IPV4, 4, &where), c, s;
	struct linger l = { };
	socklen_t len = sizeof(l);

	set_int(listener, SOL_SOCKET, SO_KEEPALIVE, 1);
	set_int(listener, SOL_SOCKET, SO_RCVBUF, 40000);
	set_int(listener, SOL_SOCKET, SO_SNDBUF, 50000);
	set_int(listener, IPPROTO_TCP, TCP_NODELAY, 1);
	set_int(listener, IPPROTO_TCP, TCP_KEEPIDLE, 77);
	set_int(listener, IPPROTO_TCP, TCP_USER_TIMEOUT, 70000);
	set_int(listener, IPPROTO_IP, IP_TOS, 8);
	set_linger(listener, true, 3);
	c = open_client(IPV4, &where);
	s = accept_one(listener);
	MUST_BE(get_int(s, SOL_SOCKET, SO_KEEPALIVE), 1);
	MUST_BE(get_int(s, SOL_SOCKET, SO_RCVBUF), 80000);
	MUST_BE(get_int(s, SOL_SOCKET, SO_SNDBUF), 100000);
	MUST_BE(get_int(s, IPPROTO_TCP, TCP_NODELAY), 1);
	MUST_BE(get_int(s, IPPROTO_TCP, TCP_KEEPIDLE), 77);
	MUST_BE(get_int(s, IPPROTO_TCP, TCP_USER_TIMEOUT), 70000);
	MUST_BE(get_int(s, IPPROTO_IP, IP_TOS), 8);
	MUST(getsockopt(s, SOL_SOCKET, SO_LINGER, &l, &len));
	CHECK(l.l_onoff == 1 && l.l_linger == 3, "%d %d", l.l_onoff, l.l_linger);
	MUST_BE(get_int(s, SOL_SOCKET, SO_ACCEPTCONN), 0);
	expect_alive(c, s);
	close(c);
	close(s);
	close(listener);
}
END_TEST

START_TEST(segment_size)
{
	int fd = socket_of_kind(IPV4, _i), value = get_int(fd, IPPROTO_TCP, TCP_MAXSEG);

	CHECK(value >= 256 && value < 1 << 30, "%d", value);
}
END_TEST

/* Options of IP may be a byte */
START_TEST(byte)
{
	int fd = socket_of_kind(IPV4, _i);
	unsigned char value = 0x20;
	socklen_t len = 1;

	MUST(setsockopt(fd, IPPROTO_IP, IP_TOS, &value, 1));
	MUST_BE(get_int(fd, IPPROTO_IP, IP_TOS), 0x20);
	value = 0;
	MUST(getsockopt(fd, IPPROTO_IP, IP_TOS, &value, &len));
	MUST_BE(len, 1);
	MUST_BE(value, 0x20);
	MUST_FAIL(setsockopt(fd, IPPROTO_TCP, TCP_CORK, &value, 1), EINVAL);
}
END_TEST

START_TEST(congestion)
{
	int fd = socket_of_kind(IPV4, _i);
	char name[16] = "";
	socklen_t len = sizeof(name);

	MUST(getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, &len));
	MUST_BE(len, sizeof(name));
	CHECK(name[0], "no name");
	MUST(setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, strlen(name)));
	MUST_FAIL(setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, "no_such", 7), ENOENT);
	MUST_FAIL(setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, (void *)8, 7), EFAULT);
}
END_TEST

static bool all_acked(void *arg)
{
	const struct pair *p = arg;
	struct tcp_info info = info_of(p->c);

	outq(p->c);	/* which also asks for what is not known yet */
	return info.tcpi_bytes_acked >= 10000 && !info.tcpi_notsent_bytes;
}

START_TEST(info)
{
	struct addr where;
	int listener = open_listener(IPV4, 4, &where);
	struct pair p = { .c = open_client(IPV4, &where) };
	struct stream out = { .fd = p.c, .seed = 1 }, in = out;
	struct tcp_info info;
	socklen_t len = 1;
	int fd;

	MUST_BE(info_of(listener).tcpi_state, 10);	/* LISTEN */
	MUST_BE(info_of(listener).tcpi_sacked, 4);	/* its backlog */
	in.fd = p.s = accept_one(listener);
	send_stream(&out, 10000, 1000);
	recv_stream(&in, 10000, 1000);
	CHECK(eventually(all_acked, &p), "%llu acked, %u not sent",
	      (unsigned long long)info_of(p.c).tcpi_bytes_acked, info_of(p.c).tcpi_notsent_bytes);
	info = info_of(p.s);
	MUST_BE(info.tcpi_state, 1);			/* ESTABLISHED */
	MUST_BE(info.tcpi_bytes_received, 10000);
	CHECK(info.tcpi_segs_in > 0, "no messages");
	CHECK(info.tcpi_snd_mss >= 256, "%u", info.tcpi_snd_mss);
	MUST(shutdown(p.c, SHUT_WR));
	expect_end(p.s);
	MUST_BE(info_of(p.s).tcpi_state, 8);		/* CLOSE_WAIT */
	close_pair(&p);
	close(listener);
	/* As much as there is room for */
	fd = open_socket(IPV4, 0);
	memset(&info, 0xee, sizeof(info));
	MUST(getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len));
	MUST_BE(len, 1);
	MUST_BE(info.tcpi_state, 7);			/* CLOSE */
	MUST_BE(info.tcpi_ca_state, 0xee);
	close(fd);
}
END_TEST

/* Less waits to be sent if less is asked to, and then there is room again */
START_TEST(notsent_lowat)
{
	unsigned int waiting[2];
	int i;

	for (i = 0; i < 2; i++) {
		struct pair p = open_pair(IPV4);
		struct stream out = { .fd = p.c, .seed = 1 }, in = { .fd = p.s, .seed = 1 };

		if (i)
			set_int(p.c, IPPROTO_TCP, TCP_NOTSENT_LOWAT, 4096);
		send_until_stuck(&out);
		MUST_BE(poll_ms(p.c, POLLOUT, 0), 0);
		waiting[i] = info_of(p.c).tcpi_notsent_bytes;
		recv_stream(&in, out.pos, 10000);
		wait_events(p.c, POLLOUT);
		expect_alive(p.c, p.s);
		close_pair(&p);
	}
	CHECK(waiting[1] < waiting[0] / 2, "%u of %u bytes", waiting[1], waiting[0]);
}
END_TEST

static void bind_device(int fd, const char *name)
{
	MUST(setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, name, strlen(name)));
}

/* Who is bound to a device sends by it, and hears nobody by another */
START_TEST(device)
{
	const char *own = getenv("RSOCK_CLIENT_DEV") ?: "lo";
	const char *peer = getenv("RSOCK_SERVER_DEV") ?: "lo";
	struct addr any = any_addr(IPV4, 0), where;
	int listener = open_socket(IPV4, 0), c, s;

	bind_device(listener, peer);
	MUST(bind(listener, &any.sa, any.len));
	MUST(listen(listener, 4));
	where = local_name(listener);
	where = target_addr(IPV4, addr_port(&where));
	c = open_socket(IPV4, 0);
	bind_device(c, own);
	MUST(connect(c, &where.sa, where.len));
	s = accept_one(listener);
	expect_alive(c, s);
	close(c);
	close(s);
	if (strcmp(own, peer)) {
		bind_device(listener, own);
		c = open_socket(IPV4, 0);
		MUST_FAIL(connect(c, &where.sa, where.len), ECONNREFUSED);
		close(c);
	}
	close(listener);
}
END_TEST

START_TEST(error_is_told_once)
{
	struct addr nobody = closed_port(IPV4);
	int fd = open_socket(IPV4, SOCK_NONBLOCK);

	MUST_FAIL(connect(fd, &nobody.sa, nobody.len), EINPROGRESS);
	wait_events(fd, POLLERR);
	MUST_BE(get_int(fd, SOL_SOCKET, SO_ERROR), ECONNREFUSED);
	MUST_BE(get_int(fd, SOL_SOCKET, SO_ERROR), 0);
	close(fd);
}
END_TEST

/* --- our own ---------------------------------------------------------------------------- */

static const struct {
	const char *name;
	int option;
	int good[3];
	int bad;		/* refused, or reduced */
} own_rows[] = {
	{ "RDMA_SQSIZE", RDMA_SQSIZE, { 16, 64, 384 }, -1 },
	{ "RDMA_RQSIZE", RDMA_RQSIZE, { 16, 64, 384 }, -1 },
	{ "RDMA_INLINE", RDMA_INLINE, { 0, 16, 64 }, -1 },
	{ "RDMA_IOMAPSIZE", RDMA_IOMAPSIZE, { 0, 16, 128 }, -1 },
};

START_TEST(own_option)
{
	int option = own_rows[_i].option, before, i, value = 64;
	struct addr where;
	int listener, c, s;

	if (is_tcp())
		return;
	for (i = 0; i < 3; i++) {
		listener = open_listener(IPV4, 4, &where);
		c = open_socket(IPV4, 0);
		before = get_int(c, SOL_RSOCK, option);
		CHECK(before >= 0, "%s: %d", own_rows[_i].name, before);
		MUST_FAIL(setsockopt(c, SOL_RSOCK, option, &own_rows[_i].bad, 4), EINVAL);
		MUST_FAIL(setsockopt(c, SOL_RSOCK, option, &value, 2), EINVAL);
		MUST_FAIL(setsockopt(c, SOL_RSOCK, option, &value, 0), EINVAL);
		MUST_FAIL(setsockopt(c, SOL_RSOCK, option, (void *)8, 4), EFAULT);
		MUST_BE(get_int(c, SOL_RSOCK, option), before);
		set_int(c, SOL_RSOCK, option, own_rows[_i].good[i]);
		MUST_BE(get_int(c, SOL_RSOCK, option), own_rows[_i].good[i]);
		set_int(listener, SOL_RSOCK, option, own_rows[_i].good[i]);
		MUST(connect(c, &where.sa, where.len));
		s = accept_one(listener);
		/* Fixed by now. */
		MUST_FAIL(setsockopt(c, SOL_RSOCK, option, &value, 4), EINVAL, EISCONN);
		MUST_FAIL(setsockopt(s, SOL_RSOCK, option, &value, 4), EINVAL, EISCONN);
		/* Inherited; what is in force may be rounded. */
		value = get_int(s, SOL_RSOCK, option);
		CHECK(value >= own_rows[_i].good[i], "%s: %d, expected %d", own_rows[_i].name,
		      value, own_rows[_i].good[i]);
		expect_alive(c, s);
		close(c);
		close(s);
		close(listener);
	}
}
END_TEST

static void run_sender(void *arg)
{
	send_stream(arg, 2 * MB, 10000);
}

/* Queues of any size carry data, also when the two ends differ. */
START_TEST(own_sizes_carry_data)
{
	static const int sizes[] = { 16, 17, 64, 1000, 65534 };
	int a = sizes[_i % ARRAY_SIZE(sizes)], b = sizes[_i / ARRAY_SIZE(sizes)];
	struct stream out, in;
	struct addr where;
	struct worker w;
	int listener, c, s;

	if (is_tcp())
		return;
	listener = open_listener(IPV4, 4, &where);
	c = open_socket(IPV4, 0);
	set_int(listener, SOL_RSOCK, RDMA_RQSIZE, a);
	set_int(listener, SOL_RSOCK, RDMA_SQSIZE, b);
	set_int(c, SOL_RSOCK, RDMA_SQSIZE, a);
	set_int(c, SOL_RSOCK, RDMA_RQSIZE, b);
	MUST(connect(c, &where.sa, where.len));
	s = accept_one(listener);
	out = (struct stream){ .fd = c, .seed = 2 };
	in = (struct stream){ .fd = s, .seed = 2 };
	start(&w, run_sender, &out);
	recv_stream(&in, 2 * MB, 10000);
	join(&w);
	expect_alive(c, s);
	close(c);
	close(s);
	close(listener);
}
END_TEST

START_TEST(own_unknown)
{
	int fd = socket_of_kind(IPV4, _i), value = 0;
	socklen_t len = sizeof(value);

	if (is_tcp())
		return;
	MUST_FAIL(setsockopt(fd, SOL_RSOCK, 9999, &value, 4), ENOPROTOOPT);
	MUST_FAIL(getsockopt(fd, SOL_RSOCK, 9999, &value, &len), ENOPROTOOPT);
	MUST_FAIL(setsockopt(fd, SOL_RSOCK, RDMA_ROUTE, &value, 4), ENOPROTOOPT);
	MUST_FAIL(getsockopt(fd, SOL_RSOCK, RDMA_ROUTE, &value, &len), ENOPROTOOPT);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("opt");
	TCase *tc;

	tc = add_case(suite, "options", 20);
	tcase_add_loop_test(tc, identity, 0, KINDS * 2);
	tcase_add_loop_test(tc, value, 0, KINDS * (int)ARRAY_SIZE(value_rows));
	tcase_add_loop_test(tc, refused, 0, KINDS * (int)ARRAY_SIZE(refused_rows));
	tcase_add_loop_test(tc, bad_memory, 0, KINDS);
	tcase_add_loop_test(tc, short_get, 0, KINDS);
	tcase_add_loop_test(tc, linger, 0, KINDS);
	tcase_add_loop_test(tc, buffers, 0, KINDS);
	tcase_add_loop_test(tc, buffers_carry_data, 0, 5);
	tcase_add_test(tc, low_water_mark);
	tcase_add_loop_test(tc, high_water_mark, 0, 3);
	tcase_add_test(tc, inherited);
	tcase_add_loop_test(tc, segment_size, 0, KINDS);
	tcase_add_loop_test(tc, byte, 0, KINDS);
	tcase_add_loop_test(tc, congestion, 0, KINDS);
	tcase_add_test(tc, info);
	tcase_add_test(tc, notsent_lowat);
	tcase_add_test(tc, device);
	tcase_add_test(tc, error_is_told_once);

	tc = add_case(suite, "own", 30);
	tcase_add_loop_test(tc, own_option, 0, ARRAY_SIZE(own_rows));
	tcase_add_loop_test(tc, own_sizes_carry_data, 0, 25);
	tcase_add_loop_test(tc, own_unknown, 0, KINDS);

	return run_suite(suite);
}
