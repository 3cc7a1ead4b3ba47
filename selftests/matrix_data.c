// SPDX-License-Identifier: GPL-2.0
/*
 * Data: flags, vectors, pieces.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <linux/sockios.h>

#include "matrix.h"

#define PAGE	4096

static struct pair pair_of(const char *state)
{
	struct place p = make_state(state);

	return (struct pair) { .c = p.fd, .s = p.peer };
}

/* Two pages, of which the second cannot be accessed; the last bytes of the first */
static char *edge(size_t before)
{
	char *p = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(p != MAP_FAILED, "%s", err_name(errno));
	MUST(mprotect(p + PAGE, PAGE, PROT_NONE));
	memset(p, 'e', PAGE);
	return p + PAGE - before;
}

/* What the peer has got, all of it */
static void rec_arrived(int fd)
{
	rec_ready("peer", fd);
	rec_recv("peer reads", fd, 60);
}

/* The same in lines of a label of its own, that an intended difference can name */
static void rec_arrived_as(const char *label, int fd)
{
	rec_ready(label, fd);
	rec_recv(label, fd, 60);
}

/* --- flags -------------------------------------------------------------------------- */

static void send_with(int flags)
{
	struct pair p = pair_of("connected");

	TRY("send", send(p.c, "abcde", 5, flags));
	rec_ready("after", p.c);
	/* For how long it is held back is not told. */
	if (flags & MSG_MORE)
		TRY("more", send(p.c, "f", 1, 0));
	rec_arrived(p.s);
	close_pair(&p);
}

static void recv_with(int flags, size_t len)
{
	struct pair p = pair_of("readable");
	char buf[16] = "";

	rec_data("data", buf, TRY("recv", recv(p.c, buf, len, flags)));
	rec_recv("then", p.c, 16);
	rec_data("data", buf, TRY("nothing left", recv(p.c, buf, len, flags | MSG_DONTWAIT)));
	rec_ready("after", p.c);
	close_pair(&p);
}

static void recvmsg_with(int flags)
{
	struct pair p = pair_of("readable");
	char buf[16] = "", control[32];
	struct iovec iov = { buf, 3 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control,
			      .msg_controllen = sizeof(control) };

	rec_data("data", buf, TRY("recvmsg", recvmsg(p.c, &msg, flags | MSG_DONTWAIT)));
	rec("flags", "%#x, control %zu", msg.msg_flags, msg.msg_controllen);
	close_pair(&p);
}

/* Each bit by itself: those that mean something here, and those that do not */
static void each_flag(void (*fn)(int flags), int from, int to)
{
	int bit;

	for (bit = from; bit < to; bit++) {
		rec("flag", "%#x", 1U << bit);
		/* Ours is for AF_RSOCK only. */
		if (1U << bit != MSG_RIOWRITE)
			fn(1U << bit);
	}
}

static void send_flags_low(void)
{
	each_flag(send_with, 0, 8);
}

static void send_flags_mid(void)
{
	each_flag(send_with, 8, 16);
}

static void send_flags_upper(void)
{
	each_flag(send_with, 16, 24);
}

static void send_flags_high(void)
{
	each_flag(send_with, 24, 32);
}

static void recv_one(int flags)
{
	/* This would wait for all. */
	recv_with(flags, flags & MSG_WAITALL ? 5 : 16);
}

static void recv_flags_low(void)
{
	each_flag(recv_one, 0, 8);
}

static void recv_flags_mid(void)
{
	each_flag(recv_one, 8, 16);
}

static void recv_flags_upper(void)
{
	each_flag(recv_one, 16, 24);
}

static void recv_flags_high(void)
{
	each_flag(recv_one, 24, 32);
}

static void recvmsg_flags_low(void)
{
	each_flag(recvmsg_with, 0, 16);
}

static void recvmsg_flags_high(void)
{
	each_flag(recvmsg_with, 16, 32);
}

static void send_combinations(void)
{
	static const int sets[] = {
		MSG_DONTWAIT | MSG_NOSIGNAL, MSG_DONTWAIT | MSG_MORE, MSG_NOSIGNAL | MSG_EOR,
		MSG_OOB | MSG_DONTWAIT, MSG_MORE | MSG_ZEROCOPY, MSG_CONFIRM | MSG_NOSIGNAL,
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sets); i++) {
		rec("flags", "%#x", sets[i]);
		send_with(sets[i]);
	}
}

static void recv_combinations(void)
{
	static const int sets[] = {
		MSG_PEEK | MSG_DONTWAIT, MSG_PEEK | MSG_TRUNC, MSG_TRUNC | MSG_DONTWAIT,
		MSG_WAITALL | MSG_DONTWAIT, MSG_PEEK | MSG_WAITALL | MSG_DONTWAIT,
		MSG_OOB | MSG_PEEK, MSG_OOB | MSG_DONTWAIT, MSG_ERRQUEUE | MSG_PEEK,
		MSG_ERRQUEUE | MSG_DONTWAIT,
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sets); i++) {
		rec("flags", "%#x", sets[i]);
		recv_with(sets[i], 16);
	}
}

/* Those of "bits" that the number names, one bit of it for each */
static int flag_set(const int *bits, unsigned int number)
{
	int flags = 0;

	for (; number; number >>= 1, bits++)
		flags |= number & 1 ? *bits : 0;
	return flags;
}

/* All combinations from one number to another */
static void send_sets(int from, int to)
{
	static const int bits[] = {
		MSG_MORE, MSG_DONTWAIT, MSG_NOSIGNAL, MSG_EOR, MSG_ZEROCOPY,
	};
	int i;

	for (i = from; i < to; i++) {
		rec("flags", "%#x", flag_set(bits, i));
		send_with(flag_set(bits, i));
	}
}

static void send_sets_low(void)
{
	send_sets(0, 16);
}

static void send_sets_high(void)
{
	send_sets(16, 32);
}

/* With room for less than there is, as much, more */
static void recv_sets(size_t len)
{
	static const int bits[] = { MSG_PEEK, MSG_TRUNC, MSG_WAITALL, MSG_DONTWAIT };
	int i, flags;

	for (i = 0; i < 16; i++) {
		flags = flag_set(bits, i);
		/* It would wait for more. */
		if (len > 5 && (flags & MSG_WAITALL))
			flags |= MSG_DONTWAIT;
		rec("flags", "%#x", flags);
		recv_with(flags, len);
	}
}

static void recv_sets_less(void)
{
	recv_sets(2);
}

static void recv_sets_all(void)
{
	recv_sets(5);
}

static void recv_sets_more(void)
{
	recv_sets(16);
}

/* --- vectors -------------------------------------------------------------------------- */

static char here[64] = "abcdefghijklmnopqrstuvwxyz";

static const struct {
	const char *name;
	struct iovec iov[3];
	int n;
} vectors[] = {
	{ "none", { }, 0 },
	{ "-1", { { here, 1 } }, -1 },
	{ "empty", { { here, 0 } }, 1 },
	{ "empty, nowhere", { { NULL, 0 } }, 1 },
	{ "empty, bad", { { (void *)8, 0 } }, 1 },
	{ "nowhere", { { NULL, 3 } }, 1 },
	{ "bad", { { (void *)8, 3 } }, 1 },
	{ "good, bad", { { here, 3 }, { (void *)8, 3 } }, 2 },
	{ "bad, good", { { (void *)8, 3 }, { here, 3 } }, 2 },
	{ "good, empty, good", { { here, 3 }, { NULL, 0 }, { here + 10, 3 } }, 3 },
	{ "the same twice", { { here, 3 }, { here, 3 } }, 2 },
	{ "overlapping", { { here, 5 }, { here + 2, 5 } }, 2 },
	{ "length -1", { { here, -1UL } }, 1 },
	{ "good, length -1", { { here, 3 }, { here, -1UL } }, 2 },
	{ "more than SSIZE_MAX", { { here, SSIZE_MAX }, { here, SSIZE_MAX } }, 2 },
	{ "address and length wrap", { { (void *)-4096L, 3 } }, 1 },
};

static void send_vectors(ssize_t (*call)(int fd, const struct iovec *iov, int n))
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(vectors); i++) {
		struct pair p = pair_of("connected");

		TRY(vectors[i].name, call(p.c, vectors[i].iov, vectors[i].n));
		rec_arrived_as(vectors[i].name, p.s);
		close_pair(&p);
	}
}

static void recv_vectors(ssize_t (*call)(int fd, const struct iovec *iov, int n))
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(vectors); i++) {
		struct pair p = pair_of("readable");

		strcpy(here, "abcdefghijklmnopqrstuvwxyz");
		TRY(vectors[i].name, call(p.c, vectors[i].iov, vectors[i].n));
		rec_data("memory", here, 20);
		rec_recv("left", p.c, 16);
		close_pair(&p);
	}
}

static ssize_t call_sendmsg(int fd, const struct iovec *iov, int n)
{
	struct msghdr msg = { .msg_iov = (struct iovec *)iov, .msg_iovlen = n };

	return sendmsg(fd, &msg, 0);
}

static ssize_t call_recvmsg(int fd, const struct iovec *iov, int n)
{
	struct msghdr msg = { .msg_iov = (struct iovec *)iov, .msg_iovlen = n };

	return recvmsg(fd, &msg, MSG_DONTWAIT);
}

static void writev_vectors(void)
{
	send_vectors(writev);
}

static void sendmsg_vectors(void)
{
	send_vectors(call_sendmsg);
}

static void readv_vectors(void)
{
	recv_vectors(readv);
}

static void recvmsg_vectors(void)
{
	recv_vectors(call_recvmsg);
}

static void many_parts(void)
{
	static struct iovec iov[IOV_MAX + 1];
	struct pair p = pair_of("connected");
	size_t i;

	for (i = 0; i <= IOV_MAX; i++)
		iov[i] = (struct iovec) { here + i % 26, 1 };
	TRY("writev", writev(p.c, iov, IOV_MAX));
	TRY("writev, one more", writev(p.c, iov, IOV_MAX + 1));
	TRY("sendmsg, one more", call_sendmsg(p.c, iov, IOV_MAX + 1));
	rec_ready("peer", p.s);
	TRY("readv, one more", readv(p.s, iov, IOV_MAX + 1));
	TRY("recvmsg, one more", call_recvmsg(p.s, iov, IOV_MAX + 1));
	TRY("readv", readv(p.s, iov, IOV_MAX));
	rec_recv("left", p.s, 16);
}

/* --- memory that ends ---------------------------------------------------------------------- */

static void send_over_edge(void)
{
	struct pair p = pair_of("connected");

	TRY("send", send(p.c, edge(3), 10, 0));
	rec_arrived_as("part", p.s);
	TRY("write", write(p.c, edge(0), 10));
	rec_arrived(p.s);
}

static void recv_over_edge(void)
{
	struct pair p = pair_of("readable");
	char *buf = edge(3);

	TRY("recv", recv(p.c, buf, 10, 0));
	rec_recv("left", p.c, 16);
	send_all(p.s, "world", 5);
	rec_ready("more", p.c);
	TRY("recv", recv(p.c, buf + 3, 10, 0));
	rec_recv("left", p.c, 16);
}

static void huge_lengths(void)
{
	struct pair p = pair_of("readable");
	volatile size_t huge = -1UL;	/* the compiler knows better */

	TRY("recv", recv(p.c, here, huge, 0));
	rec_data("memory", here, 5);
	TRY("recv", recv(p.c, here, SSIZE_MAX, MSG_DONTWAIT));
	TRY("read", read(p.c, here, huge));
	TRY("write", write(p.c, (void *)8, huge));
}

/* --- messages ----------------------------------------------------------------------------------- */

static void bad_messages(void)
{
	struct iovec iov = { here, 3 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	struct pair p = pair_of("readable");

	TRY("sendmsg NULL", sendmsg(p.c, NULL, 0));
	TRY("sendmsg bad", sendmsg(p.c, (void *)8, 0));
	TRY("recvmsg bad", recvmsg(p.c, (void *)8, 0));
	msg.msg_name = (void *)8;
	msg.msg_namelen = 16;
	TRY("sendmsg, bad name", sendmsg(p.c, &msg, 0));
	TRY("recvmsg, bad name", recvmsg(p.c, &msg, MSG_PEEK));
	msg.msg_namelen = -1;
	TRY("sendmsg, negative name", sendmsg(p.c, &msg, 0));
	TRY("recvmsg, negative name", recvmsg(p.c, &msg, MSG_PEEK));
	msg.msg_name = NULL;
	msg.msg_namelen = 16;
	TRY("sendmsg, no name", sendmsg(p.c, &msg, 0));
	msg.msg_namelen = 0;
	msg.msg_control = (void *)8;
	msg.msg_controllen = 32;
	TRY("sendmsg, bad control", sendmsg(p.c, &msg, 0));
	TRY("recvmsg, bad control", recvmsg(p.c, &msg, MSG_PEEK));
	msg.msg_controllen = -1;
	TRY("sendmsg, negative control", sendmsg(p.c, &msg, 0));
	TRY("recvmsg, negative control", recvmsg(p.c, &msg, MSG_PEEK));
	rec_arrived(p.s);
}

static const struct { const char *name; size_t len; int level, type; } controls[] = {
	{ "short", 4, SOL_SOCKET, SCM_RIGHTS },
	{ "length 0", 0, SOL_SOCKET, 1 },
	{ "too long", 1000, SOL_SOCKET, 1 },
	{ "empty SCM_RIGHTS", CMSG_LEN(0), SOL_SOCKET, SCM_RIGHTS },
	{ "unknown of SOL_SOCKET", CMSG_LEN(4), SOL_SOCKET, 9999 },
	{ "unknown level", CMSG_LEN(4), 31337, 1 },
	{ "of IP", CMSG_LEN(4), IPPROTO_IP, IP_TTL },
	{ "SO_MARK", CMSG_LEN(4), SOL_SOCKET, SO_MARK },
	{ "SO_MARK, short", CMSG_LEN(2), SOL_SOCKET, SO_MARK },
	{ "SO_TIMESTAMPING", CMSG_LEN(4), SOL_SOCKET, SO_TIMESTAMPING },
};

static void control_messages(void)
{
	struct { struct cmsghdr h; char data[64]; } control;
	struct iovec iov = { here, 3 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control };
	struct pair p = pair_of("connected");
	size_t i;

	for (i = 0; i < ARRAY_SIZE(controls); i++) {
		memset(&control, 0, sizeof(control));
		control.h.cmsg_len = controls[i].len;
		control.h.cmsg_level = controls[i].level;
		control.h.cmsg_type = controls[i].type;
		msg.msg_controllen = CMSG_SPACE(4);
		TRY(controls[i].name, sendmsg(p.c, &msg, 0));
		rec_arrived(p.s);
	}
}

static void sendto_names(void)
{
	struct addr a = server_addr(IPV4, 1);
	struct pair p = pair_of("connected");

	TRY("a name", sendto(p.c, "a", 1, 0, &a.sa, a.len));
	TRY("short", sendto(p.c, "a", 1, 0, &a.sa, 1));
	TRY("length 0", sendto(p.c, "a", 1, 0, &a.sa, 0));
	TRY("negative", sendto(p.c, "a", 1, 0, &a.sa, -1));
	TRY("too long", sendto(p.c, "a", 1, 0, &a.sa, 129));
	TRY("bad", sendto(p.c, "a", 1, 0, (void *)8, 16));
	a.sa.sa_family = AF_UNIX;
	TRY("another family", sendto(p.c, "a", 1, 0, &a.sa, a.len));
	rec_arrived(p.s);
}

/* --- several messages ------------------------------------------------------------------------------ */

static void sendmmsg_rows(void)
{
	struct iovec iov[3] = { { here, 2 }, { (void *)8, 2 }, { here + 4, 2 } };
	struct pair p = pair_of("connected");
	struct mmsghdr msg[3] = { };
	int i;

	for (i = 0; i < 3; i++)
		msg[i].msg_hdr = (struct msghdr) { .msg_iov = &iov[i], .msg_iovlen = 1 };
	TRY("none", sendmmsg(p.c, msg, 0, 0));
	TRY("second is bad", sendmmsg(p.c, msg, 3, 0));
	TRY("first is bad", sendmmsg(p.c, msg + 1, 2, 0));
	TRY("no messages", sendmmsg(p.c, NULL, 1, 0));
	TRY("bad messages", sendmmsg(p.c, (void *)8, 1, 0));
	TRY("bad descriptor", sendmmsg(-1, msg, 1, 0));
	rec_arrived(p.s);
}

static void recvmmsg_rows(void)
{
	char buf[3][4] = { "", "", "" };
	struct iovec iov[3] = { { buf[0], 2 }, { buf[1], 2 }, { buf[2], 2 } };
	struct timespec now = { }, bad = { .tv_nsec = -1 };
	struct pair p = pair_of("readable");
	struct mmsghdr msg[3] = { };
	int i;

	for (i = 0; i < 3; i++)
		msg[i].msg_hdr = (struct msghdr) { .msg_iov = &iov[i], .msg_iovlen = 1 };
	TRY("none", recvmmsg(p.c, msg, 0, 0, NULL));
	TRY("bad time", recvmmsg(p.c, msg, 1, 0, &bad));
	TRY("bad messages", recvmmsg(p.c, (void *)8, 1, 0, NULL));
	TRY("no time", recvmmsg(p.c, msg, 1, 0, &now));
	TRY("MSG_WAITFORONE", recvmmsg(p.c, msg, 3, MSG_WAITFORONE, NULL));
	TRY("MSG_DONTWAIT", recvmmsg(p.c, msg, 3, MSG_DONTWAIT, NULL));
	rec("data", "%s %s %s", buf[0], buf[1], buf[2]);
	send_all(p.s, "xy", 2);
	rec_ready("more", p.c);
	iov[0].iov_base = (void *)8;
	TRY("bad buffer", recvmmsg(p.c, msg, 1, 0, NULL));
}

static void recvmmsg_end(void)
{
	char buf[3][4] = { "", "", "" };
	struct iovec iov[3] = { { buf[0], 3 }, { buf[1], 3 }, { buf[2], 3 } };
	struct place p = make_state("peer closed, readable");
	struct mmsghdr msg[3] = { };
	int i;

	for (i = 0; i < 3; i++)
		msg[i].msg_hdr = (struct msghdr) { .msg_iov = &iov[i], .msg_iovlen = 1 };
	TRY("recvmmsg", recvmmsg(p.fd, msg, 3, 0, NULL));
	rec("lengths", "%u %u %u", msg[0].msg_len, msg[1].msg_len, msg[2].msg_len);
}

/* --- low water mark --------------------------------------------------------------------------------- */

static void low_water(void)
{
	struct pair p = pair_of("connected");
	char buf[16];

	set_int(p.c, SOL_SOCKET, SO_RCVLOWAT, 4);
	send_all(p.s, "abc", 3);
	rec_ready("3 of 4", p.c);
	TRY("without waiting", recv(p.c, buf, 2, MSG_DONTWAIT));
	send_all(p.s, "defg", 4);
	rec_ready("5 of 4", p.c);
	TRY("recv", recv(p.c, buf, 16, 0));
	send_all(p.s, "h", 1);
	MUST(shutdown(p.s, SHUT_WR));
	rec_ready("the end", p.c);
	TRY("recv", recv(p.c, buf, 16, 0));
}

/* --- files and pipes ---------------------------------------------------------------------------------- */

static int file_of(size_t len)
{
	int fd = MUST(memfd_create("matrix", 0));
	char *buf = malloc(len + 1);

	memset(buf, 'f', len);
	MUST_BE(pwrite(fd, buf, len, 0), len);
	free(buf);
	return fd;
}

static void sendfile_rows(void)
{
	int file = file_of(10), dir = open("/", O_RDONLY);
	struct pair p = pair_of("connected");
	off_t at = 8;

	TRY("nothing", sendfile(p.c, file, NULL, 0));
	TRY("from an offset", sendfile(p.c, file, &at, 100));
	rec("offset", "%ld", (long)at);
	TRY("at the end", sendfile(p.c, file, &at, 100));
	at = -1;
	TRY("before the file", sendfile(p.c, file, &at, 1));
	TRY("all", sendfile(p.c, file, NULL, -1UL));
	TRY("of a folder", sendfile(p.c, dir, NULL, 1));
	TRY("of a socket", sendfile(p.c, p.s, NULL, 1));
	TRY("bad offset", sendfile(p.c, file, (void *)8, 1));
	TRY("bad descriptor", sendfile(p.c, -1, NULL, 1));
	rec_arrived(p.s);
}

static void splice_rows(void)
{
	struct pair p = pair_of("readable");
	loff_t at = 0;
	int fd[2];

	MUST(pipe(fd));
	TRY("neither is a pipe", splice(p.c, NULL, p.s, NULL, 1, 0));
	TRY("an offset", splice(p.c, &at, fd[1], NULL, 1, 0));
	TRY("bad flags", splice(p.c, NULL, fd[1], NULL, 1, 0x8000));
	TRY("nothing", splice(p.c, NULL, fd[1], NULL, 0, 0));
	TRY("a part", splice(p.c, NULL, fd[1], NULL, 2, 0));
	rec_ready("pipe", fd[0]);
	TRY("the rest", splice(p.c, NULL, fd[1], NULL, 100, SPLICE_F_MOVE | SPLICE_F_MORE));
	rec_ready("pipe", fd[0]);
	/* SPLICE_F_NONBLOCK is for the pipe only. */
	set_nonblock(p.c, true);
	TRY("without waiting", splice(p.c, NULL, fd[1], NULL, 100, 0));
	TRY("back", splice(fd[0], NULL, p.c, NULL, 100, 0));
	rec_arrived(p.s);
	TRY("the pipe is empty", splice(fd[0], NULL, p.c, NULL, 100, SPLICE_F_NONBLOCK));
	TRY("an offset", splice(fd[0], NULL, p.c, &at, 1, 0));
	close(fd[1]);
	TRY("the pipe has ended", splice(fd[0], NULL, p.c, NULL, 100, 0));
}

static void tee_and_vmsplice(void)
{
	struct pair p = pair_of("readable");
	struct iovec iov = { "vmsplice", 8 };
	int a[2], b[2];

	MUST(pipe(a));
	MUST(pipe(b));
	TRY("tee from a socket", tee(p.c, a[1], 10, 0));
	TRY("tee to a socket", tee(a[0], p.c, 10, 0));
	TRY("vmsplice", vmsplice(p.c, &iov, 1, 0));
	TRY("splice", splice(p.c, NULL, a[1], NULL, 10, 0));
	TRY("tee", tee(a[0], b[1], 10, 0));
	TRY("vmsplice to a pipe", vmsplice(b[1], &iov, 1, 0));
	TRY("splice", splice(b[0], NULL, p.c, NULL, 100, 0));
	TRY("splice", splice(b[0], NULL, p.c, NULL, 100, SPLICE_F_NONBLOCK));
	rec_arrived(p.s);
	TRY("copy_file_range", copy_file_range(p.c, NULL, file_of(1), NULL, 1, 0));
}

const struct script data_scripts[] = {
	{ "send, flags 0 to 7", send_flags_low },
	{ "send, flags 8 to 15", send_flags_mid },
	{ "send, flags 16 to 23", send_flags_upper },
	{ "send, flags 24 to 31", send_flags_high },
	{ "recv, flags 0 to 7", recv_flags_low },
	{ "recv, flags 8 to 15", recv_flags_mid },
	{ "recv, flags 16 to 23", recv_flags_upper },
	{ "recv, flags 24 to 31", recv_flags_high },
	{ "recvmsg, flags 0 to 15", recvmsg_flags_low },
	{ "recvmsg, flags 16 to 31", recvmsg_flags_high },
	{ "send, combined flags", send_combinations },
	{ "recv, combined flags", recv_combinations },
	{ "send, sets of flags", send_sets_low },
	{ "send, sets of flags, MSG_ZEROCOPY", send_sets_high },
	{ "recv, sets of flags, less", recv_sets_less },
	{ "recv, sets of flags, all", recv_sets_all },
	{ "recv, sets of flags, more", recv_sets_more },
	{ "writev, vectors", writev_vectors },
	{ "sendmsg, vectors", sendmsg_vectors },
	{ "readv, vectors", readv_vectors },
	{ "recvmsg, vectors", recvmsg_vectors },
	{ "IOV_MAX", many_parts },
	{ "send beyond memory", send_over_edge },
	{ "recv beyond memory", recv_over_edge },
	{ "huge lengths", huge_lengths },
	{ "bad messages", bad_messages },
	{ "control messages", control_messages },
	{ "sendto, names", sendto_names },
	{ "sendmmsg", sendmmsg_rows },
	{ "recvmmsg", recvmmsg_rows },
	{ "recvmmsg at the end", recvmmsg_end },
	{ "SO_RCVLOWAT", low_water },
	{ "sendfile", sendfile_rows },
	{ "splice", splice_rows },
	{ "tee, vmsplice", tee_and_vmsplice },
};

const int nr_data_scripts = ARRAY_SIZE(data_scripts);
