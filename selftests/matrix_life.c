// SPDX-License-Identifier: GPL-2.0
/*
 * Sockets that are made, shared, passed on, and closed while data is on its way.
 */
#include <fcntl.h>
#include <sys/un.h>

#include "matrix.h"

/* --- making ------------------------------------------------------------------------ */

static void socket_flags(void)
{
	static const int flags[] = { 0, SOCK_NONBLOCK, SOCK_CLOEXEC, SOCK_NONBLOCK | SOCK_CLOEXEC };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(flags); i++) {
		int fd = open_socket(IPV4, flags[i]);

		rec("flags", "%d %d", !!(fcntl(fd, F_GETFL) & O_NONBLOCK),
		    !!(fcntl(fd, F_GETFD) & FD_CLOEXEC));
	}
}

static void make_socket(const char *label, int type, int protocol)
{
	int fd, domain = get_int(open_socket(IPV4, 0), SOL_SOCKET, SO_DOMAIN);

	errno = 0;
	fd = socket(domain, type, protocol);
	rec_result(label, fd < 0 ? -1 : 0);
}

static void socket_arguments(void)
{
	make_socket("TCP", SOCK_STREAM, IPPROTO_TCP);
	make_socket("UDP", SOCK_STREAM, IPPROTO_UDP);
	make_socket("protocol -1", SOCK_STREAM, -1);
	make_socket("protocol 300", SOCK_STREAM, 300);
	make_socket("SEQPACKET", SOCK_SEQPACKET, 0);
	make_socket("RDM", SOCK_RDM, 0);
	make_socket("type 0", 0, 0);
	make_socket("type 11", 11, 0);
	make_socket("bad flags", SOCK_STREAM | 0x10, 0);
}

/* What an accepted socket has of its listener: flags of the file, options */
static void accept_inherits(int flags)
{
	struct addr a;
	int fd = open_listener(IPV4, 4, &a), s;
	socklen_t len;
	struct timeval tv = { };
	struct linger l = { };

	set_nonblock(fd, true);
	set_int(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
	set_int(fd, SOL_SOCKET, SO_RCVLOWAT, 5);
	set_int(fd, SOL_SOCKET, SO_PRIORITY, 3);
	set_int(fd, SOL_SOCKET, SO_OOBINLINE, 1);
	set_timeout(fd, SO_RCVTIMEO, 3000);
	set_timeout(fd, SO_SNDTIMEO, 4000);
	set_linger(fd, true, 7);
	open_client(IPV4, &a);
	wait_events(fd, POLLIN);
	s = MUST(accept4(fd, NULL, NULL, flags));
	rec("flags", "%d %d", !!(fcntl(s, F_GETFL) & O_NONBLOCK), fcntl(s, F_GETFD));
	rec("SO_KEEPALIVE", "%d", get_int(s, SOL_SOCKET, SO_KEEPALIVE));
	rec("SO_RCVLOWAT", "%d", get_int(s, SOL_SOCKET, SO_RCVLOWAT));
	rec("SO_PRIORITY", "%d", get_int(s, SOL_SOCKET, SO_PRIORITY));
	rec("SO_OOBINLINE", "%d", get_int(s, SOL_SOCKET, SO_OOBINLINE));
	rec("SO_REUSEADDR", "%d", get_int(s, SOL_SOCKET, SO_REUSEADDR));
	rec("SO_ACCEPTCONN", "%d", get_int(s, SOL_SOCKET, SO_ACCEPTCONN));
	len = sizeof(tv);
	MUST(getsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &tv, &len));
	rec("SO_RCVTIMEO", "%ld", (long)tv.tv_sec);
	MUST(getsockopt(s, SOL_SOCKET, SO_SNDTIMEO, &tv, &len));
	rec("SO_SNDTIMEO", "%ld", (long)tv.tv_sec);
	len = sizeof(l);
	MUST(getsockopt(s, SOL_SOCKET, SO_LINGER, &l, &len));
	rec("SO_LINGER", "%d %d", l.l_onoff, l.l_linger);
}

static void accept_plain(void)
{
	accept_inherits(0);
}

static void accept_nonblock(void)
{
	accept_inherits(SOCK_NONBLOCK);
}

static void accept_cloexec(void)
{
	accept_inherits(SOCK_CLOEXEC);
}

/* None but those two mean anything. */
static void accept_each_flag(void)
{
	struct place p = make_state("listening");
	int bit;

	set_nonblock(p.fd, true);
	for (bit = 0; bit < 32; bit++)
		TRY("accept4", accept4(p.fd, NULL, NULL, 1U << bit));
	TRY("both", accept4(p.fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC));
}

static int try_accept(int fd)
{
	int s = accept(fd, NULL, NULL);

	rec_result("accept", s < 0 ? -1 : 0);
	return s;
}

static void accept_order(void)
{
	struct addr a;
	int fd = open_listener(IPV4, 8, &a), i, c[4], s;

	for (i = 0; i < 4; i++) {
		c[i] = open_client(IPV4, &a);
		MUST_BE(send(c[i], &"0123"[i], 1, 0), 1);
	}
	for (i = 0; i < 4; i++) {
		s = accept_one(fd);
		wait_events(s, POLLIN);
		rec_recv("recv", s, 1);
	}
	set_nonblock(fd, true);
	try_accept(fd);
}

/* The peer has gone before it is accepted */
static void accept_gone(bool reset)
{
	struct addr a;
	int fd = open_listener(IPV4, 8, &a), c = open_client(IPV4, &a), s;

	wait_events(fd, POLLIN);
	send_all(c, "left", 4);
	set_linger(c, reset, 0);
	MUST(close(c));
	rec_ready("listener", fd);
	s = try_accept(fd);
	rec_ready("accepted", s);
	rec_recv("recv", s, 8);
	rec_recv("recv", s, 8);
	rec_error(s);
}

static void accept_closed(void)
{
	accept_gone(false);
}

static void accept_reset(void)
{
	accept_gone(true);
}

static void backlog_closed(void)
{
	struct addr a;
	int fd = open_listener(IPV4, 8, &a), c = open_client(IPV4, &a);

	wait_events(fd, POLLIN);
	MUST(close(fd));
	rec_ready("client", c);
	rec_recv("recv", c, 1);
	rec_ready("client", c);
	c = open_socket(IPV4, 0);
	TRY("connect", connect(c, &a.sa, a.len));
}

static void connect_again(void)
{
	struct addr a = live_address(), none = { .sa = { .sa_family = AF_UNSPEC } };
	struct place p = make_state("peer closed");

	TRY("connect", connect(p.fd, &a.sa, a.len));
	TRY("disconnect", connect(p.fd, &none.sa, sizeof(none.sa)));
	rec_ready("disconnected", p.fd);
	TRY("connect", connect(p.fd, &a.sa, a.len));
	rec_ready("connected", p.fd);
	TRY("send", send(p.fd, "abc", 3, 0));
}

static void connect_after_refusal(void)
{
	struct addr bad = refusing_address(), good = live_address();
	int fd = open_socket(IPV4, 0);

	TRY("refused", connect(fd, &bad.sa, bad.len));
	rec_ready("then", fd);
	rec_error(fd);
	TRY("again", connect(fd, &bad.sa, bad.len));
	TRY("good", connect(fd, &good.sa, good.len));
	rec_ready("then", fd);
	TRY("send", send(fd, "abc", 3, 0));
}

static void rec_port(const char *label, int fd, int port)
{
	struct addr name = local_name(fd);

	rec(label, "%d", addr_port(&name) == port);
}

/*
 * What bind() chose stays, whatever becomes of the connections: the address, and
 * the port if it was not left to the kernel.
 */
static void bound_at(int port)
{
	struct addr own = server_addr(IPV4, port), bad = refusing_address(), good, peer;
	int fd = open_socket(IPV4, 0), lsn = open_listener(IPV4, 8, &good);
	struct addr none = { .sa = { .sa_family = AF_UNSPEC } };

	MUST(bind(fd, &own.sa, own.len));
	TRY("refused", connect(fd, &bad.sa, bad.len));
	if (port)
		rec_port("after a refusal", fd, port);
	TRY("connect", connect(fd, &good.sa, good.len));
	peer.len = sizeof(peer.ss);
	MUST(close(MUST(accept(lsn, &peer.sa, &peer.len))));
	rec("address", "%d", peer.in.sin_addr.s_addr == own.in.sin_addr.s_addr);
	if (port)
		rec("port", "%d", addr_port(&peer) == port);
	wait_events(fd, POLLRDHUP);
	TRY("disconnect", connect(fd, &none.sa, sizeof(none.sa)));
	if (port)
		rec_port("disconnected", fd, port);
	TRY("bind", bind(fd, &own.sa, own.len));
	TRY("listen", listen(fd, 4));
	own = local_name(fd);
	if (port)
		rec_port("listening", fd, port);
	TRY("connect to it", connect(open_socket(IPV4, 0), &own.sa, own.len) ? -1 : 0);
}

static void bound_address(void)
{
	bound_at(0);
}

static void bound_port(void)
{
	bound_at(7481);
}

/* A listener is shut down, and listens once more */
static void listen_at(int port)
{
	struct addr a = server_addr(IPV4, port), name;
	int fd = open_socket(IPV4, 0), c;

	MUST(bind(fd, &a.sa, a.len));
	MUST(listen(fd, 4));
	a = local_name(fd);
	c = open_client(IPV4, &a);
	TRY("shutdown", shutdown(fd, SHUT_RDWR));
	rec_ready("client", c);
	TRY("listen", listen(fd, 4));
	name = local_name(fd);
	rec("same port", "%d", addr_port(&name) == addr_port(&a));
	rec_ready("listener", fd);
	set_port(&a, addr_port(&name));
	TRY("connect", connect(open_socket(IPV4, 0), &a.sa, a.len) ? -1 : 0);
}

static void listen_again(void)
{
	listen_at(0);
}

static void listen_again_there(void)
{
	listen_at(7480);
}

/* --- sharing -------------------------------------------------------------------------- */

static void dup_close(void)
{
	struct place p = make_state("connected");
	int copy = MUST(dup(p.fd));

	MUST(close(p.fd));
	rec_ready("peer", p.peer);
	TRY("send", send(copy, "abc", 3, 0));
	rec_ready("peer", p.peer);
	TRY("recv", recv(p.fd, &copy, 1, 0));
	MUST(close(copy));
	rec_ready("peer", p.peer);
}

static void dup_shutdown(void)
{
	struct place p = make_state("connected");
	int copy = MUST(dup(p.fd));

	MUST(shutdown(p.fd, SHUT_WR));
	TRY("send", send(copy, "abc", 3, 0));
	rec_ready("copy", copy);
	rec_ready("peer", p.peer);
}

static void fork_share(void)
{
	struct place p = make_state("connected");
	pid_t pid = fork_child();

	if (!pid) {
		MUST_BE(send(p.fd, "child", 5, 0), 5);
		_exit(0);
	}
	reap(pid);
	rec_ready("peer", p.peer);
	TRY("send", send(p.fd, " parent", 7, 0));
	rec_ready("peer", p.peer);
	rec_recv("peer reads", p.peer, 16);
	MUST(close(p.fd));
	rec_ready("peer", p.peer);
}

static void fork_killed(void)
{
	struct place p = make_state("connected");
	pid_t pid = fork_child();

	if (!pid) {
		pause();
		_exit(0);
	}
	MUST(close(p.fd));
	rec_ready("peer", p.peer);
	kill_child(pid);
	rec_ready("peer", p.peer);
	rec_recv("peer reads", p.peer, 16);
}

static void send_fd(int over, int fd)
{
	char control[CMSG_SPACE(sizeof(int))] = { 0 };
	struct iovec iov = { "x", 1 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control,
			      .msg_controllen = sizeof(control) };
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(&msg);

	cmsg->cmsg_level = SOL_SOCKET;
	cmsg->cmsg_type = SCM_RIGHTS;
	cmsg->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(cmsg), &fd, sizeof(int));
	TRY("SCM_RIGHTS", sendmsg(over, &msg, 0));
}

static int recv_fd(int over)
{
	char control[CMSG_SPACE(sizeof(int))], byte;
	struct iovec iov = { &byte, 1 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control,
			      .msg_controllen = sizeof(control) };
	int fd;

	MUST_BE(recvmsg(over, &msg, 0), 1);
	CHECK(CMSG_FIRSTHDR(&msg), "no descriptor came");
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(int));
	return fd;
}

static void pass_fd(void)
{
	struct place p = make_state("readable");
	int over[2], fd;

	MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, over));
	send_fd(over[0], p.fd);
	MUST(close(p.fd));
	rec_ready("peer", p.peer);
	fd = recv_fd(over[1]);
	rec_recv("recv", fd, 16);
	TRY("send", send(fd, "passed", 6, 0));
	rec_ready("peer", p.peer);
	/* And lost with the socket that it is in */
	send_fd(over[0], fd);
	MUST(close(fd));
	MUST(close(over[1]));
	MUST(close(over[0]));
	rec_ready("peer", p.peer);
}

static void pass_fd_over_itself(void)
{
	struct place p = make_state("connected");

	send_fd(p.fd, 0);
	rec_ready("peer", p.peer);
}

/* --- closing with data on its way -------------------------------------------------------- */

static void close_with_data(bool on, int seconds, int flags)
{
	struct place p = make_state("connected");
	struct stream out = { .fd = p.fd, .seed = 1 }, in = { .fd = p.peer, .seed = 1 };

	send_stream(&out, 50000, 10000);
	set_linger(p.fd, on, seconds);
	fcntl(p.fd, F_SETFL, flags);
	TRY("close", close(p.fd));
	rec("arrives", "%llu", (unsigned long long)recv_to_end(&in, 10000));
	rec_ready("peer", p.peer);
}

static void close_plain(void)
{
	close_with_data(false, 0, 0);
}

static void close_linger(void)
{
	close_with_data(true, 10, 0);
}

static void close_linger_nonblock(void)
{
	close_with_data(true, 10, O_NONBLOCK);
}

/* The peer does not read, so that not all of it can arrive */
static void close_full(bool on, int seconds)
{
	struct pair p = open_small_pair(IPV4, 16 * KB);
	struct stream out = { .fd = p.c, .seed = 1 }, in = { .fd = p.s, .seed = 1 };
	uint64_t sent = send_until_full(&out);

	set_linger(p.c, on, seconds);
	TRY("close", close(p.c));
	rec("all arrives", "%d", recv_to_end(&in, 10000) == sent);
	rec_ready("peer", p.s);
}

static void close_full_plain(void)
{
	close_full(false, 0);
}

static void close_full_linger(void)
{
	close_full(true, 1);
}

/* What the peer sees of a reset with data on its way to it, which may be lost */
static void close_full_reset(void)
{
	struct pair p = open_small_pair(IPV4, 16 * KB);
	struct stream out = { .fd = p.c, .seed = 1 };
	char buf[1000];
	int err;

	send_until_full(&out);
	set_linger(p.c, true, 0);
	TRY("close", close(p.c));
	wait_events(p.s, POLLRDHUP);
	do
		err = recv(p.s, buf, sizeof(buf), 0) > 0 ? 0 : errno;
	while (!err);
	rec("error", "%s", err_name(err));
	rec_ready("peer", p.s);
}

static void crossing_shutdowns(void)
{
	struct place p = make_state("connected");

	TRY("send", send(p.fd, "abc", 3, 0));
	TRY("send", send(p.peer, "def", 3, 0));
	TRY("shutdown", shutdown(p.fd, SHUT_WR));
	TRY("shutdown", shutdown(p.peer, SHUT_WR));
	rec_ready("this", p.fd);
	rec_ready("peer", p.peer);
	rec_recv("reads", p.fd, 8);
	rec_recv("peer reads", p.peer, 8);
	rec_recv("reads", p.fd, 8);
	rec_recv("peer reads", p.peer, 8);
	rec_ready("this", p.fd);
	rec_ready("peer", p.peer);
	TRY("send", send(p.fd, "abc", 3, 0));
}

/* After the peer's close: the first that is sent may be taken, the next not */
static void send_after_close(const char *state)
{
	struct place p = make_state(state);

	rec_ready("before", p.fd);
	TRY("send", send(p.fd, "abc", 3, MSG_NOSIGNAL));
	rec_ready("after", p.fd);
	TRY("send", send(p.fd, "abc", 3, MSG_NOSIGNAL));
	rec_error(p.fd);
	TRY("send", send(p.fd, "abc", 3, 0));
	rec_recv("recv", p.fd, 8);
	rec_recv("recv", p.fd, 8);
	rec_ready("at last", p.fd);
}

static void send_after_peer_close(void)
{
	send_after_close("peer closed");
}

static void send_after_peer_reset(void)
{
	send_after_close("peer reset");
}

/* It has not read all: TCP resets. */
static void peer_closed_unread(void)
{
	struct place p = make_state("connected");

	send_all(p.fd, "unread", 6);
	wait_inq(p.peer, 6);
	MUST(close(p.peer));
	wait_events(p.fd, POLLRDHUP);
	rec_ready("closed", p.fd);
	rec_recv("recv", p.fd, 8);
	rec_recv("recv", p.fd, 8);
	TRY("send", send(p.fd, "abc", 3, 0));
	rec_ready("at last", p.fd);
}

static void send_to_shut_reader(void)
{
	send_after_close("peer shut RD");
}

static void shut_rd_then_data(void)
{
	struct place p = make_state("shut RD");

	rec_recv("recv", p.fd, 8);
	TRY("peer sends", send(p.peer, "abc", 3, 0));
	rec_ready("after", p.fd);
	rec_recv("recv", p.fd, 8);
	rec_recv("recv", p.fd, 8);
	TRY("send", send(p.fd, "def", 3, 0));
	rec_ready("peer", p.peer);
}

const struct script life_scripts[] = {
	{ "socket, flags", socket_flags },
	{ "socket, arguments", socket_arguments },
	{ "accept", accept_plain },
	{ "accept4 SOCK_NONBLOCK", accept_nonblock },
	{ "accept4 SOCK_CLOEXEC", accept_cloexec },
	{ "accept4, each flag", accept_each_flag },
	{ "accept, order", accept_order },
	{ "accept, closed", accept_closed },
	{ "accept, reset", accept_reset },
	{ "backlog closed", backlog_closed },
	{ "connect again", connect_again },
	{ "connect after a refusal", connect_after_refusal },
	{ "connect, bound address", bound_address },
	{ "connect, bound port", bound_port },
	{ "listen again", listen_again },
	{ "listen again, chosen port", listen_again_there },
	{ "dup, close", dup_close },
	{ "dup, shutdown", dup_shutdown },
	{ "fork", fork_share },
	{ "fork, killed", fork_killed },
	{ "SCM_RIGHTS", pass_fd },
	{ "SCM_RIGHTS over it", pass_fd_over_itself },
	{ "close with data", close_plain },
	{ "close with data, SO_LINGER", close_linger },
	{ "close with data, SO_LINGER, O_NONBLOCK", close_linger_nonblock },
	{ "close when full", close_full_plain },
	{ "close when full, SO_LINGER", close_full_linger },
	{ "close when full, reset", close_full_reset },
	{ "both shut down", crossing_shutdowns },
	{ "send after peer's close", send_after_peer_close },
	{ "send after peer's reset", send_after_peer_reset },
	{ "closed without reading", peer_closed_unread },
	{ "send to one who shut RD", send_to_shut_reader },
	{ "shut RD, then data", shut_rd_then_data },
};

const int nr_life_scripts = ARRAY_SIZE(life_scripts);
