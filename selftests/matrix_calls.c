// SPDX-License-Identifier: GPL-2.0
/*
 * Calls on a socket, each with the arguments that make it do something, and
 * what they return.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <linux/errqueue.h>
#include <linux/sockios.h>

#include "matrix.h"

/* --- making connections ------------------------------------------------------------- */

static void do_bind(struct place *p)
{
	struct addr a = server_addr(matrix_ip, 0);

	TRY("bind", bind(p->fd, &a.sa, a.len));
}

static void do_listen(struct place *p)
{
	TRY("listen", listen(p->fd, 4));
}

static void accept_flags(struct place *p, int flags)
{
	struct addr a = { .len = sizeof(a.ss) };
	int fd = TRY("accept4", accept4(p->fd, &a.sa, &a.len, flags) < 0 ? -1 : 0);

	rec("length", "%u", fd < 0 ? 0 : a.len);
}

static void do_accept(struct place *p)
{
	accept_flags(p, 0);
}

static void do_accept4(struct place *p)
{
	accept_flags(p, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

static void do_accept4_bad(struct place *p)
{
	accept_flags(p, 0x10);
}

static void connect_to(struct place *p, struct addr a)
{
	TRY("connect", connect(p->fd, &a.sa, a.len));
}

static void do_connect(struct place *p)
{
	connect_to(p, live_address());
}

static void do_connect_refused(struct place *p)
{
	connect_to(p, refusing_address());
}

static void do_connect_dead(struct place *p)
{
	connect_to(p, dead_address());
}

static void do_connect_unspec(struct place *p)
{
	struct sockaddr none = { .sa_family = AF_UNSPEC };

	TRY("connect", connect(p->fd, &none, sizeof(none)));
}

static void do_connect_twice(struct place *p)
{
	struct addr a = live_address();

	connect(p->fd, &a.sa, a.len);
	rec_ready("between", p->fd);
	TRY("connect", connect(p->fd, &a.sa, a.len));
}

static void do_getsockname(struct place *p)
{
	struct addr a = { .len = sizeof(a.ss) };

	TRY("getsockname", getsockname(p->fd, &a.sa, &a.len));
	rec_name("own name", &a);
}

static void do_getpeername(struct place *p)
{
	struct addr a = { .len = sizeof(a.ss) };

	TRY("getpeername", getpeername(p->fd, &a.sa, &a.len));
	rec_name("peer name", &a);
}

/* --- sending --------------------------------------------------------------------------- */

static void send_flags(struct place *p, int flags)
{
	TRY("send", send(p->fd, "abcde", 5, flags));
}

static void do_send(struct place *p)
{
	send_flags(p, 0);
}

static void do_send_nosignal(struct place *p)
{
	send_flags(p, MSG_NOSIGNAL);
}

static void do_send_dontwait(struct place *p)
{
	send_flags(p, MSG_DONTWAIT);
}

static void do_send_more(struct place *p)
{
	send_flags(p, MSG_MORE);
	send_flags(p, 0);
}

static void do_send_oob(struct place *p)
{
	send_flags(p, MSG_OOB);
}

static void do_send_nothing(struct place *p)
{
	TRY("send", send(p->fd, "", 0, 0));
}

static void do_send_bad(struct place *p)
{
	TRY("send", send(p->fd, (void *)8, 5, 0));
}

static void do_write(struct place *p)
{
	TRY("write", write(p->fd, "abcde", 5));
}

static void do_write_nothing(struct place *p)
{
	TRY("write", write(p->fd, "", 0));
}

static void do_writev(struct place *p)
{
	struct iovec iov[] = { { "ab", 2 }, { NULL, 0 }, { "cde", 3 } };

	TRY("writev", writev(p->fd, iov, 3));
}

static void do_sendto(struct place *p)
{
	struct addr a = server_addr(matrix_ip, 1);

	TRY("sendto", sendto(p->fd, "abcde", 5, 0, &a.sa, a.len));
}

static void do_sendmsg(struct place *p)
{
	struct iovec iov[] = { { "ab", 2 }, { "cde", 3 } };
	struct msghdr msg = { .msg_iov = iov, .msg_iovlen = 2 };

	TRY("sendmsg", sendmsg(p->fd, &msg, 0));
}

static void do_sendmmsg(struct place *p)
{
	struct iovec iov[] = { { "ab", 2 }, { "cde", 3 } };
	struct mmsghdr msg[2] = {
		{ .msg_hdr = { .msg_iov = iov, .msg_iovlen = 1 } },
		{ .msg_hdr = { .msg_iov = iov + 1, .msg_iovlen = 1 } },
	};

	TRY("sendmmsg", sendmmsg(p->fd, msg, 2, 0));
	rec("lengths", "%u %u", msg[0].msg_len, msg[1].msg_len);
}

static int small_file(void)
{
	int fd = MUST(memfd_create("matrix", 0));

	MUST_BE(pwrite(fd, "abcde", 5, 0), 5);
	return fd;
}

static void do_sendfile(struct place *p)
{
	TRY("sendfile", sendfile(p->fd, small_file(), NULL, 5));
}

static void do_splice_in(struct place *p)
{
	int fd[2];

	MUST(pipe(fd));
	MUST_BE(write(fd[1], "abcde", 5), 5);
	TRY("splice", splice(fd[0], NULL, p->fd, NULL, 5, 0));
	rec_ready("pipe", fd[0]);
}

/* --- receiving --------------------------------------------------------------------------- */

static void recv_flags(struct place *p, size_t len, int flags)
{
	char buf[16] = "";

	rec_data("data", buf, TRY("recv", recv(p->fd, buf, len, flags)));
}

static void do_recv(struct place *p)
{
	recv_flags(p, 16, 0);
}

static void do_recv_dontwait(struct place *p)
{
	recv_flags(p, 16, MSG_DONTWAIT);
}

static void do_recv_part(struct place *p)
{
	recv_flags(p, 2, 0);
}

static void do_recv_all(struct place *p)
{
	recv_flags(p, 16, MSG_WAITALL);
}

static void do_recv_peek(struct place *p)
{
	recv_flags(p, 16, MSG_PEEK);
}

static void do_recv_trunc(struct place *p)
{
	recv_flags(p, 16, MSG_TRUNC);
}

static void do_recv_oob(struct place *p)
{
	recv_flags(p, 16, MSG_OOB);
}

static void do_recv_errqueue(struct place *p)
{
	recv_flags(p, 16, MSG_ERRQUEUE);
}

static void do_recv_nothing(struct place *p)
{
	recv_flags(p, 0, 0);
}

static void do_recv_bad(struct place *p)
{
	TRY("recv", recv(p->fd, (void *)8, 16, 0));
}

static void do_read(struct place *p)
{
	char buf[16] = "";

	rec_data("data", buf, TRY("read", read(p->fd, buf, 16)));
}

static void do_read_nothing(struct place *p)
{
	TRY("read", read(p->fd, NULL, 0));
}

static void do_readv(struct place *p)
{
	char buf[16] = "";
	struct iovec iov[] = { { buf, 2 }, { NULL, 0 }, { buf + 2, 14 } };

	rec_data("data", buf, TRY("readv", readv(p->fd, iov, 3)));
}

static void do_recvfrom(struct place *p)
{
	struct addr a = { .len = sizeof(a.ss) };
	char buf[16] = "";

	rec_data("data", buf, TRY("recvfrom", recvfrom(p->fd, buf, 16, 0, &a.sa, &a.len)));
	rec("length", "%u", a.len);
}

static void do_recvmsg(struct place *p)
{
	char buf[16] = "", control[64];
	struct sockaddr_storage name;
	struct iovec iov = { buf, 16 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control,
			      .msg_controllen = sizeof(control), .msg_name = &name,
			      .msg_namelen = sizeof(name), .msg_flags = 0x7777 };

	rec_data("data", buf, TRY("recvmsg", recvmsg(p->fd, &msg, 0)));
	rec("message", "name %u, control %zu, flags %#x", msg.msg_namelen, msg.msg_controllen,
	    msg.msg_flags);
}

static void recvmmsg_flags(struct place *p, int flags)
{
	char buf[2][3] = { "", "" };
	struct iovec iov[] = { { buf[0], 2 }, { buf[1], 2 } };
	struct mmsghdr msg[2] = {
		{ .msg_hdr = { .msg_iov = iov, .msg_iovlen = 1 } },
		{ .msg_hdr = { .msg_iov = iov + 1, .msg_iovlen = 1 } },
	};

	TRY("recvmmsg", recvmmsg(p->fd, msg, 2, flags, NULL));
	rec("messages", "%u \"%s\", %u \"%s\"", msg[0].msg_len, buf[0], msg[1].msg_len, buf[1]);
}

static void do_recvmmsg(struct place *p)
{
	recvmmsg_flags(p, 0);
}

static void do_recvmmsg_one(struct place *p)
{
	recvmmsg_flags(p, MSG_WAITFORONE);
}

static void do_splice_out(struct place *p)
{
	int fd[2];

	MUST(pipe(fd));
	TRY("splice", splice(p->fd, NULL, fd[1], NULL, 16, 0));
	rec_ready("pipe", fd[0]);
}

static void do_splice_out_nonblock(struct place *p)
{
	int fd[2];

	MUST(pipe(fd));
	TRY("splice", splice(p->fd, NULL, fd[1], NULL, 16, SPLICE_F_NONBLOCK));
}

/* --- the end ------------------------------------------------------------------------------- */

static void do_shutdown_rd(struct place *p)
{
	TRY("shutdown", shutdown(p->fd, SHUT_RD));
}

static void do_shutdown_wr(struct place *p)
{
	TRY("shutdown", shutdown(p->fd, SHUT_WR));
}

static void do_shutdown_rdwr(struct place *p)
{
	TRY("shutdown", shutdown(p->fd, SHUT_RDWR));
}

static void do_shutdown_bad(struct place *p)
{
	TRY("shutdown", shutdown(p->fd, 3));
	TRY("shutdown", shutdown(p->fd, -1));
}

static void do_close(struct place *p)
{
	TRY("close", close(p->fd));
}

static void do_close_reset(struct place *p)
{
	struct linger l = { .l_onoff = 1 };

	TRY("SO_LINGER", setsockopt(p->fd, SOL_SOCKET, SO_LINGER, &l, sizeof(l)));
	TRY("close", close(p->fd));
}

static void do_close_linger(struct place *p)
{
	struct linger l = { .l_onoff = 1, .l_linger = 1000 };

	setsockopt(p->fd, SOL_SOCKET, SO_LINGER, &l, sizeof(l));
	TRY("close", close(p->fd));
}

/* --- others ---------------------------------------------------------------------------------- */

static void ioctl_int(struct place *p, const char *name, unsigned long cmd)
{
	int value = -1;

	TRY(name, ioctl(p->fd, cmd, &value));
	rec("value", "%d", value);
}

static void do_siocinq(struct place *p)
{
	ioctl_int(p, "SIOCINQ", SIOCINQ);
}

static const char *look_outq(int fd)
{
	int n = -1;

	if (ioctl(fd, SIOCOUTQ, &n))
		return err_name(errno);
	return n ? "some" : "none";
}

static void do_siocoutq(struct place *p)
{
	rec_settled("SIOCOUTQ", look_outq, p->fd);
}

static const char *look_outqnsd(int fd)
{
	int n = -1;

	if (ioctl(fd, SIOCOUTQNSD, &n))
		return err_name(errno);
	return n ? "some" : "none";
}

static void do_siocoutqnsd(struct place *p)
{
	rec_settled("SIOCOUTQNSD", look_outqnsd, p->fd);
}

static void do_siocatmark(struct place *p)
{
	ioctl_int(p, "SIOCATMARK", SIOCATMARK);
}

static void do_fionbio(struct place *p)
{
	int on = 1;

	TRY("FIONBIO", ioctl(p->fd, FIONBIO, &on));
	rec("O_NONBLOCK", "%d", !!(fcntl(p->fd, F_GETFL) & O_NONBLOCK));
}

static void do_ioctl_unknown(struct place *p)
{
	ioctl_int(p, "unknown", 0x5fff);
	ioctl_int(p, "unknown of protocol", SIOCPROTOPRIVATE);
	ioctl_int(p, "TCGETS", 0x5401);
}

static void do_options(struct place *p)
{
	static const struct { const char *name; int option; } rows[] = {
		{ "SO_ACCEPTCONN", SO_ACCEPTCONN }, { "SO_TYPE", SO_TYPE },
		{ "SO_KEEPALIVE", SO_KEEPALIVE }, { "SO_RCVLOWAT", SO_RCVLOWAT },
	};
	socklen_t len = sizeof(int);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		int value = -1;

		TRY(rows[i].name, getsockopt(p->fd, SOL_SOCKET, rows[i].option, &value, &len));
		rec("value", "%d", value);
	}
}

static void do_file(struct place *p)
{
	struct stat st = { };

	TRY("fstat", fstat(p->fd, &st));
	rec("mode", "%o", st.st_mode);
	TRY("lseek", lseek(p->fd, 0, SEEK_CUR));
	TRY("fsync", fsync(p->fd));
	TRY("ftruncate", ftruncate(p->fd, 0));
	TRY("pread", pread(p->fd, &st, 1, 0));
	TRY("pwrite", pwrite(p->fd, &st, 1, 0));
	TRY("fallocate", fallocate(p->fd, 0, 0, 1));
	TRY("mmap", mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, p->fd, 0) == MAP_FAILED ? -1 : 0);
}

static void do_socketpair(struct place *p)
{
	int pair[2], domain = -1;
	socklen_t len = sizeof(domain);

	if (!getsockopt(p->fd, SOL_SOCKET, SO_DOMAIN, &domain, &len))
		TRY("socketpair", socketpair(domain, SOCK_STREAM, 0, pair));
}

/* What changes nothing, in one case: it is less to run */
static void do_questions(struct place *p)
{
	do_accept4_bad(p);
	do_getsockname(p);
	do_getpeername(p);
	do_shutdown_bad(p);
	do_siocinq(p);
	do_siocoutq(p);
	do_siocoutqnsd(p);
	do_siocatmark(p);
	do_ioctl_unknown(p);
	do_options(p);
	do_file(p);
	do_socketpair(p);
}

#define CONNECT_MS	1000

const struct call calls[] = {
	{ "bind", do_bind, .ip = true },
	{ "listen", do_listen, .ip = true },
	{ "accept", do_accept, true, .ip = true },
	{ "accept4", do_accept4, .ip = true },
	{ "connect", do_connect, true, CONNECT_MS, .ip = true },
	{ "connect, refused", do_connect_refused, true, CONNECT_MS, .ip = true },
	{ "connect, no answer", do_connect_dead, true, CONNECT_MS, .ip = true },
	{ "connect AF_UNSPEC", do_connect_unspec, .ip = true },
	{ "connect twice", do_connect_twice, .ip = true },
	{ "questions", do_questions, .ip = true },
	{ "send", do_send, true, .ip = true },
	{ "send MSG_NOSIGNAL", do_send_nosignal },
	{ "send MSG_DONTWAIT", do_send_dontwait, true },
	{ "send MSG_MORE", do_send_more },
	{ "send MSG_OOB", do_send_oob },
	{ "send nothing", do_send_nothing, true },
	{ "send, bad pointer", do_send_bad },
	{ "write", do_write },
	{ "write nothing", do_write_nothing },
	{ "writev", do_writev },
	{ "sendto", do_sendto, .ip = true },
	{ "sendmsg", do_sendmsg },
	{ "sendmmsg", do_sendmmsg },
	{ "sendfile", do_sendfile, true },
	{ "splice to it", do_splice_in, true },
	{ "recv", do_recv, true, .ip = true },
	{ "recv MSG_DONTWAIT", do_recv_dontwait, true },
	{ "recv part", do_recv_part },
	{ "recv MSG_WAITALL", do_recv_all, true },
	{ "recv MSG_PEEK", do_recv_peek, true },
	{ "recv MSG_TRUNC", do_recv_trunc },
	{ "recv MSG_OOB", do_recv_oob, true },
	{ "recv MSG_ERRQUEUE", do_recv_errqueue, true, .ip = true },
	{ "recv nothing", do_recv_nothing, true },
	{ "recv, bad pointer", do_recv_bad },
	{ "read", do_read },
	{ "read nothing", do_read_nothing },
	{ "readv", do_readv },
	{ "recvfrom", do_recvfrom, .ip = true },
	{ "recvmsg", do_recvmsg, .ip = true },
	{ "recvmmsg", do_recvmmsg },
	{ "recvmmsg MSG_WAITFORONE", do_recvmmsg_one, true },
	{ "splice from it", do_splice_out, true },
	{ "splice SPLICE_F_NONBLOCK", do_splice_out_nonblock, true },
	{ "shutdown RD", do_shutdown_rd },
	{ "shutdown WR", do_shutdown_wr },
	{ "shutdown RDWR", do_shutdown_rdwr, .ip = true },
	{ "close", do_close, .ip = true },
	{ "close, reset", do_close_reset },
	{ "close, linger", do_close_linger, true, CONNECT_MS },
	{ "FIONBIO", do_fionbio },
};

const int nr_calls = ARRAY_SIZE(calls);
