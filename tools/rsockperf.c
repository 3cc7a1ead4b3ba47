// SPDX-License-Identifier: GPL-2.0
/*
 * Load generator: the same blocking code over AF_RSOCK, TCP and user-space
 * rsockets, so that what differs is the transport.
 *
 * The client says in a header what will happen. A stream is answered by the
 * number of bytes received when all are there, which ends the measurement; in
 * a ping-pong every message is sent back. To place, the client writes to
 * memory of the server, which sleeps meanwhile; then it says so in a message,
 * and goes on as for a stream.
 */

#include <argp.h>
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/errqueue.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <rdma/rsocket.h>
#include <linux/rsock.h>

#include "rsockperf.h"
#include "uring.h"

const char *argp_program_version = "rsockperf " VERSION;

#define MAGIC		0x72736f636b706632ULL
#define MAX_SIZE	(256U << 20)
#define MAX_MAPS	256U
#define BACKLOG		1024
#define MIN_ROOM	(64U << 10)
#define RING		(256U << 10)

/* Those of librsock have the names of librdmacm's; tools/Makefile adds "k" */
typeof(riomap) kriomap;
typeof(riounmap) kriounmap;
typeof(riowrite) kriowrite;

/* AF_RSOCK: the family is that of the socket, addresses stay AF_INET[6] */
static int rsock_socket(int domain, int type, int protocol)
{
	(void)domain;
	return socket(AF_RSOCK, type, protocol);
}

/* SMC, for IPv4 only (SMCPROTO_SMC) */
static int smc_socket(int domain, int type, int protocol)
{
	(void)domain;
	return socket(AF_SMC, type, protocol);
}

/* Not through the pointers that glibc declares as transparent unions */
static int sys_bind(int fd, const struct sockaddr *addr, socklen_t len)
{
	return bind(fd, addr, len);
}

static int sys_accept(int fd, struct sockaddr *addr, socklen_t *len)
{
	return accept(fd, addr, len);
}

static int sys_connect(int fd, const struct sockaddr *addr, socklen_t len)
{
	return connect(fd, addr, len);
}

#define SYSTEM_CALLS							\
	.bind = sys_bind, .listen = listen, .accept = sys_accept,	\
	.connect = sys_connect, .setsockopt = setsockopt,		\
	.send = send, .recv = recv, .poll = poll, .close = close

static const struct transport transports[] = {
	{
		.name = "rsock", .socket = rsock_socket, SYSTEM_CALLS,
		.riomap = kriomap, .riounmap = kriounmap, .riowrite = kriowrite
	},
	{ .name = "tcp", .socket = socket, SYSTEM_CALLS },
	{ .name = "smc", .socket = smc_socket, SYSTEM_CALLS },
	{
		.name = "rsockets", .socket = rsocket, .bind = rbind,
		.listen = rlisten, .accept = raccept, .connect = rconnect,
		.setsockopt = rsetsockopt, .send = rsend, .recv = rrecv,
		.poll = rpoll, .close = rclose, .riomap = riomap, .riounmap = riounmap,
		.riowrite = riowrite
	},
};

/* What the server found, which it says when it has the bytes and said so */
struct result {
	double cpu;		/* seconds that it has used for them */
	uint64_t filled;	/* mappings with what belongs there */
};

/* The calls with MSG_ZEROCOPY */
struct zerocopy {
	uint64_t most;		/* outstanding at a time; 0: do without */
	uint64_t pending;	/* whose memory the kernel still uses */
	uint64_t copied;	/* whose bytes were copied, after all */
};

const struct transport *t = &transports[0];
bool json, held;
static const char *file, *source;
static const char *port = "7472";
static bool last;
static struct zerocopy zc;
static unsigned int uring;	/* calls of io_uring at a time; 0: do without */

void __attribute__((noreturn)) die(const char *what)
{
	int err = errno;

	fprintf(stderr, "rsockperf: %s: %s: %s\n", t->name, what, strerror(err));
	if (err == EAFNOSUPPORT && t == &transports[0])
		fprintf(stderr, "rsockperf: is rsock.ko loaded?\n");
	exit(1);
}

double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec * 1e-9;
}

double cpu_time(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return u.ru_utime.tv_sec + u.ru_stime.tv_sec +
	       (u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e-6;
}

/*
 * Zeroed pages, for as long as the process lives. They are all there at once,
 * so that none is made while time is taken.
 */
void *alloc(size_t len)
{
	void *p = mmap(NULL, len, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	if (p == MAP_FAILED)
		die("memory");
	return p;
}

void send_all(int fd, const void *buf, size_t len)
{
	const char *p = buf;
	ssize_t n;

	for (; len; p += n, len -= n) {
		n = t->send(fd, p, len, MSG_NOSIGNAL);
		if (n <= 0)
			die("send");
	}
}

static size_t recv_some(int fd, void *buf, size_t len)
{
	ssize_t n = t->recv(fd, buf, len, 0);

	if (!n)
		errno = EPIPE;
	if (n <= 0)
		die("receive");
	return n;
}

void recv_all(int fd, void *buf, size_t len)
{
	char *p = buf;
	size_t n;

	for (; len; p += n, len -= n)
		n = recv_some(fd, p, len);
}

static bool is_notice(const struct cmsghdr *c)
{
	return c && ((c->cmsg_level == SOL_IP && c->cmsg_type == IP_RECVERR) ||
		     (c->cmsg_level == SOL_IPV6 &&
		      c->cmsg_type == IPV6_RECVERR));
}

/* Take a notice off the error queue: it is for a range of calls */
static bool take_notice(int fd)
{
	char control[128];
	struct msghdr msg = {
		.msg_control = control, .msg_controllen = sizeof(control)
	};
	const struct sock_extended_err *err;
	const struct cmsghdr *cmsg;
	uint32_t calls;

	if (recvmsg(fd, &msg, MSG_ERRQUEUE) < 0)
		return false;
	errno = EPROTO;
	cmsg = CMSG_FIRSTHDR(&msg);
	if (!is_notice(cmsg))
		return false;
	err = (const void *)CMSG_DATA(cmsg);
	calls = err->ee_data - err->ee_info + 1;
	if (err->ee_errno || err->ee_origin != SO_EE_ORIGIN_ZEROCOPY ||
	    calls > zc.pending)
		return false;
	zc.pending -= calls;
	if (err->ee_code & SO_EE_CODE_ZEROCOPY_COPIED)
		zc.copied += calls;
	return true;
}

/* Until the kernel is done with all calls but so many */
static void await_notices(int fd, uint64_t pending)
{
	struct pollfd p = { .fd = fd };

	while (zc.pending > pending) {
		if (take_notice(fd))
			continue;
		/* What poll() says without one is an error of the connection */
		if (errno != EAGAIN || poll(&p, 1, -1) < 0 || !take_notice(fd))
			die("notice of zero copy");
	}
}

static void put_by_uring(const char *p, size_t len, off_t at)
{
	if (uring_place(p, len, at))
		die("io_uring");
}

/*
 * Send a message of a stream, or place it at an offset. There is a limit to
 * what can be outstanding, of notices (sysctl optmem_max) and of memory.
 */
static void put(int fd, const struct header *h, const char *p, size_t len,
		off_t at)
{
	int flags = MSG_NOSIGNAL | (zc.most ? MSG_ZEROCOPY : 0);
	ssize_t n;

	for (; len; p += n, at += n, len -= n) {
		errno = ENXIO; /* rsockets returns 0, and does not say so */
		if (h->mode == PLACE)
			n = t->riowrite(fd, p, len, at, flags);
		else
			n = t->send(fd, p, len, flags);
		if (n < 0 && errno == ENOBUFS && zc.pending) {
			await_notices(fd, zc.pending - 1);
			n = 0;
			continue;
		}
		if (n <= 0)
			die("send");
		if (zc.most) {
			zc.pending++;
			await_notices(fd, zc.most - 1);
		}
	}
}

/*
 * What is placed in mapping i is this pattern from its word i on, so that all
 * differ and the sender's memory does not depend on how many there are.
 */
static uint64_t pattern_word(uint64_t i)
{
	return (i + 1) * 0x9e3779b97f4a7c15ULL;
}

static char *pattern(const struct header *h)
{
	size_t i, words = h->size / sizeof(uint64_t) + 1 + h->maps;
	uint64_t *p = alloc(words * sizeof(*p));

	for (i = 0; i < words; i++)
		p[i] = pattern_word(i);
	return (char *)p;
}

static struct addrinfo *lookup(const char *host, bool passive)
{
	struct addrinfo hints = {
		.ai_flags = passive ? AI_PASSIVE : 0,
		.ai_family = host ? AF_UNSPEC : AF_INET,
		.ai_socktype = SOCK_STREAM,
	}, *res;
	int err = getaddrinfo(host, port, &hints, &res);

	if (err) {
		fprintf(stderr, "rsockperf: %s: %s\n", host ?: "*", gai_strerror(err));
		exit(1);
	}
	return res;
}

static int new_socket(const struct addrinfo *ai)
{
	int fd = t->socket(ai->ai_family, SOCK_STREAM, 0);
	int one = 1;

	if (fd < 0)
		die("socket");
	t->setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	t->setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	return fd;
}

/* A stream has no messages: who reads it takes what there is */
static size_t stream_room(const struct header *h)
{
	return h->size < MIN_ROOM ? MIN_ROOM : h->size;
}

static uint64_t receive_stream(int fd, const struct header *h, char *buf)
{
	size_t n, room = stream_room(h);
	uint64_t got = 0;
	int out = -1;

	if (file) {
		out = open(file, O_WRONLY | O_CREAT | O_TRUNC, 0644);
		if (out < 0)
			die(file);
	}
	while (got < h->count) {
		n = recv_some(fd, buf, room);
		if (out >= 0 && write(out, buf, n) != (ssize_t)n)
			die(file);
		got += n;
	}
	if (out >= 0 && close(out))
		die(file);
	return got;
}

static void map_all(int fd, const struct header *h, char *mem)
{
	off_t at;

	for (at = 0; at < (off_t)(h->maps * h->size); at += h->size)
		if (t->riomap(fd, mem + at, h->size, PROT_WRITE, 0, at) < 0)
			die("mapping");
}

/* rsockets does not come back from closing what has mappings */
static void unmap_all(int fd, const struct header *h, char *mem)
{
	uint64_t i;

	for (i = 0; i < h->maps; i++)
		if (t->riounmap(fd, mem + i * h->size, h->size))
			die("unmapping");
}

static bool is_pattern(const char *p, size_t len, uint64_t i)
{
	uint64_t word;
	size_t n;

	for (; len; p += n, len -= n) {
		word = pattern_word(i++);
		n = len < sizeof(word) ? len : sizeof(word);
		if (memcmp(p, &word, n))
			return false;
	}
	return true;
}

static uint64_t count_filled(const struct header *h, const char *mem)
{
	uint64_t i, n = 0;

	for (i = 0; i < h->maps; i++)
		n += is_pattern(mem + i * h->size, h->size, i);
	return n;
}

static void serve_load(int fd, const struct header *h, char *buf)
{
	struct result r = { .cpu = -cpu_time() };
	uint64_t got;

	if (h->mode == PLACE)
		recv_all(fd, &got, sizeof(got));
	else
		got = receive_stream(fd, h, buf);
	send_all(fd, &got, sizeof(got));
	r.cpu += cpu_time();
	if (h->mode == PLACE) {
		unmap_all(fd, h, buf);
		r.filled = count_filled(h, buf);
	}
	send_all(fd, &r, sizeof(r));
}

static void serve_ping(int fd, const struct header *h, char *buf)
{
	for (uint64_t i = 0; i < h->count; i++) {
		recv_all(fd, buf, h->size);
		send_all(fd, buf, h->size);
	}
}

/* What is wrong with this, if anything */
static const char *contradiction(const struct header *h)
{
	if (h->mode > CONNECT)
		return "no such mode";
	if (h->mode == REQUEST && (!h->conns || h->count < h->conns))
		return "requests are at least one for each connection";
	if (h->mode == PLACE && !t->riowrite)
		return "this family cannot place";
	if (h->mode != STREAM && h->mode != PLACE && zc.most)
		return "only a stream and what is placed have zero copy";
	if (uring && (h->mode != PLACE || t != &transports[0]))
		return "io_uring is there to place, with AF_RSOCK";
	if (h->mode != STREAM && file)
		return "only a stream has a file";
	if (!h->maps || h->maps > MAX_MAPS)
		return "mappings are 1 to 256";
	if (!h->size || h->size > MAX_SIZE / h->maps)
		return "more than 256M at a time";
	return NULL;
}

static void server(const char *host)
{
	struct addrinfo *ai = lookup(host, true);
	int lfd = new_socket(ai), fd;
	struct header h;
	char *buf, end;

	if (t->bind(lfd, ai->ai_addr, ai->ai_addrlen))
		die("bind");
	if (t->listen(lfd, BACKLOG))
		die("listen");
	freeaddrinfo(ai);
	fd = t->accept(lfd, NULL, NULL);
	if (fd < 0)
		die("accept");
	recv_all(fd, &h, sizeof(h));
	errno = EPROTO;
	if (h.magic != MAGIC || contradiction(&h))
		die("header");
	buf = alloc(h.mode == STREAM ? stream_room(&h) : h.maps * h.size);
	if (h.mode == PLACE)
		map_all(fd, &h, buf);
	send_all(fd, &h.magic, sizeof(h.magic));
	switch (h.mode) {
	case PING:
		serve_ping(fd, &h, buf);
		break;
	case REQUEST:
		serve_requests(lfd, fd, &h);
		break;
	case CONNECT:
		serve_connects(lfd, &h);
		break;
	default:
		serve_load(fd, &h, buf);
	}
	/* The client closes first, when it has all that it was sent */
	(void)!t->recv(fd, &end, 1, 0);
	t->close(fd);
	t->close(lfd);
}

static const char *read_file(uint64_t *len)
{
	struct stat st;
	char *map;
	int fd;

	fd = open(file, O_RDONLY);
	if (fd < 0 || fstat(fd, &st))
		die(file);
	errno = ENODATA;
	if (!st.st_size)
		die(file);
	map = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
	if (map == MAP_FAILED)
		die(file);
	close(fd);
	*len = st.st_size;
	return map;
}

/* A file, or the same message all the time */
static void send_stream(int fd, const struct header *h, const char *data)
{
	uint64_t sent, n;

	for (sent = 0; sent < h->count; sent += n) {
		n = h->count - sent < h->size ? h->count - sent : h->size;
		put(fd, h, file ? data + sent : data, n, 0);
	}
}

/* Returns the number of mappings that have something in them now */
static uint64_t place(int fd, const struct header *h, const char *data)
{
	bool filled[MAX_MAPS] = { };
	uint64_t i, to, n = 0;
	const char *from;

	for (i = 0; i < h->count / h->size; i++) {
		to = last ? h->maps - 1 : random() % h->maps;
		from = data + to * sizeof(uint64_t);
		if (uring)
			put_by_uring(from, h->size, to * h->size);
		else
			put(fd, h, from, h->size, to * h->size);
		n += !filled[to];
		filled[to] = true;
	}
	/* What is sent now is to arrive last */
	if (uring && uring_drain())
		die("io_uring");
	send_all(fd, &h->count, sizeof(h->count));
	return n;
}

static void report(const struct header *h, double secs, double cpu,
		   double peer_cpu)
{
	const char *mode = h->mode == PLACE ? "place" : "stream";
	double rate = h->count / h->size / secs;
	double mib = h->count * 0x1p-20;

	printf(json ?
	       "{\"family\": \"%s\", \"mode\": \"%s\", \"size\": %ju, "
	       "\"bytes\": %ju, \"seconds\": %.6f, \"gbps\": %.4f, \"MBps\": %.1f, "
	       "\"rate\": %.1f, \"sender_us_per_mib\": %.1f, "
	       "\"receiver_us_per_mib\": %.1f" :
	       "%s: %s, %ju bytes at a time, %ju in all, in %.3f s: %.3f Gb/s, "
	       "%.1f MB/s, %.0f messages/s; CPU time, us/MiB: sender %.1f, "
	       "receiver %.1f",
	       t->name, mode, (uintmax_t)h->size, (uintmax_t)h->count, secs,
	       h->count * 8e-9 / secs, h->count * 1e-6 / secs, rate,
	       cpu * 1e6 / mib, peer_cpu * 1e6 / mib);
	if (zc.most)
		printf(json ? ", \"copied\": %ju" : "; %ju calls copied despite zero copy",
		       (uintmax_t)zc.copied);
	puts(json ? "}" : "");
}

static void send_load(int fd, const struct header *h, const char *data)
{
	double secs = -now(), cpu = -cpu_time();
	uint64_t got, filled = 0;
	struct result r;

	if (h->mode == PLACE)
		filled = place(fd, h, data);
	else
		send_stream(fd, h, data);
	await_notices(fd, 0);
	recv_all(fd, &got, sizeof(got));
	secs += now();
	cpu += cpu_time();
	recv_all(fd, &r, sizeof(r));
	errno = EPROTO;
	if (got != h->count)
		die("the peer counts other bytes");
	if (r.filled != filled)
		die("what was placed is not there");
	report(h, secs, cpu, r.cpu);
}

static int compare(const void *a, const void *b)
{
	double d = *(const double *)a - *(const double *)b;

	return (d > 0) - (d < 0);
}

/* Half of a round trip, in µs: samples are sorted seconds */
static double quantile(const double *samples, uint64_t n, double q)
{
	return samples[(uint64_t)((n - 1) * q)] * 1e6 / 2;
}

static void send_ping(int fd, const struct header *h)
{
	double *samples = alloc(h->count * sizeof(*samples));
	char *buf = alloc(h->size);
	double start, total = 0;
	uint64_t i;

	for (i = 0; i < h->count; i++) {
		start = now();
		send_all(fd, buf, h->size);
		recv_all(fd, buf, h->size);
		samples[i] = now() - start;
		total += samples[i];
	}
	qsort(samples, h->count, sizeof(*samples), compare);

	printf(json ?
	       "{\"family\": \"%s\", \"mode\": \"latency\", \"size\": %ju, \"rounds\": %ju, "
	       "\"mean\": %.2f, \"min\": %.2f, \"p50\": %.2f, \"p90\": %.2f, "
	       "\"p99\": %.2f, \"max\": %.2f}\n" :
	       "%s: %ju bytes, %ju round trips, one way in us: mean %.2f, min %.2f, p50 %.2f, p90 %.2f, p99 %.2f, max %.2f\n",
	       t->name, (uintmax_t)h->size, (uintmax_t)h->count,
	       total * 1e6 / 2 / h->count, quantile(samples, h->count, 0),
	       quantile(samples, h->count, .5), quantile(samples, h->count, .9),
	       quantile(samples, h->count, .99), quantile(samples, h->count, 1));
}

/*
 * SO_ZEROCOPY is for families that the core knows, up to Linux 6.6. What is
 * outstanding by io_uring counts against the send buffer.
 */
static void enable_zerocopy(int fd, const struct header *h)
{
	uint64_t bytes = uring * h->size;
	int one = 1, room = bytes < 1 << 30 ? bytes : 1 << 30;

	if (zc.most &&
	    t->setsockopt(fd, SOL_SOCKET, SO_ZEROCOPY, &one, sizeof(one)) &&
	    t->setsockopt(fd, SOL_RSOCK, RSOCK_ZEROCOPY, &one, sizeof(one)))
		die("zero copy");
	if (uring &&
	    t->setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof(room)))
		die("send buffer");
}

/* Whom a client connects to, and to do what */
struct peer {
	const struct header *h;
	struct addrinfo *ai, *own;
};

static int client_socket(const void *to)
{
	const struct peer *peer = to;
	const struct header *h = peer->h;
	int fd = new_socket(peer->ai);
	/* The protocol has no code for more than 128, but for 256 */
	int slots = h->maps > 128 ? 256 : h->maps;

	if (h->mode == PLACE &&
	    t->setsockopt(fd, SOL_RDMA, RDMA_IOMAPSIZE, &slots, sizeof(slots)))
		die("mappings");
	enable_zerocopy(fd, h);
	if (peer->own && t->bind(fd, peer->own->ai_addr, peer->own->ai_addrlen))
		die("own address");
	if (t->connect(fd, peer->ai->ai_addr, peer->ai->ai_addrlen))
		die("connect");
	return fd;
}

static void find_peer(struct peer *peer, const char *host)
{
	peer->ai = lookup(host, false);
	if (!source)
		return;
	port = NULL;
	peer->own = lookup(source, false);
}

static void client(const char *host, struct header *h)
{
	const char *data = file ? read_file(&h->count) : pattern(h);
	struct peer peer = { .h = h };
	uint64_t magic;
	int fd;

	find_peer(&peer, host);
	fd = client_socket(&peer);

	if (uring && uring_open(fd, uring))
		die("io_uring");
	send_all(fd, h, sizeof(*h));
	recv_all(fd, &magic, sizeof(magic));
	errno = EPROTO;
	if (magic != MAGIC)
		die("the peer is no rsockperf");
	switch (h->mode) {
	case PING:
		send_ping(fd, h);
		break;
	case REQUEST:
		send_requests(fd, h, client_socket, &peer);
		break;
	case CONNECT:
		make_connects(h, client_socket, &peer);
		break;
	default:
		send_load(fd, h, data);
	}
	t->close(fd);
}

/*
 * Each message to what is as large as a socket's buffer, and from there: the
 * copies that a stream cannot do without.
 */
static void copy_twice(const struct header *h)
{
	char *from = alloc(h->size), *to = alloc(h->size), *ring = alloc(RING);
	uint64_t done, at, n;
	double secs = -now();

	for (done = 0; done < h->count; done += h->size)
		for (at = 0; at < h->size; at += n) {
			n = h->size - at < RING ? h->size - at : RING;
			memcpy(ring, from + at, n);
			/* Not to be optimised away */
			__asm__ volatile("" : : "r" (ring) : "memory");
			memcpy(to + at, ring, n);
			__asm__ volatile("" : : "r" (to) : "memory");
		}
	secs += now();
	printf(json ? "{\"mode\": \"copy\", \"size\": %ju, \"gbps\": %.4f}\n" :
		      "two copies, %ju bytes at a time: %.3f Gb/s\n",
	       (uintmax_t)h->size, done * 8e-9 / secs);
}

static const char doc[] =
	"Measure sockets of AF_RSOCK next to those of TCP and of rsockets. Without -c: "
	"receive from one client.\v"
	"BYTES takes K, M and G for 2^10, 2^20 and 2^30. The client reports.";

static const struct argp_option options[] = {
	{ "client", 'c', "ADDRESS", 0, "Send to this server" },
	{ "family", 'f', "NAME", 0, "rsock (AF_RSOCK, default), tcp, smc, rsockets (librdmacm)" },
	{ "port", 'p', "PORT", 0, "Default 7472" },
	{ "size", 's', "BYTES", 0, "Length of a message (default 64K)" },
	{ "bytes", 'n', "BYTES", 0, "How many are sent in all (default 64M)" },
	{ "latency", 'l', "N", 0, "A ping-pong of N messages instead (default size 64)" },
	{ "requests", 'r', "N", 0,
	  "N messages that are answered by one of the same size (default 512), one at a time on "
	  "each connection" },
	{ "connections", 'C', "N", 0,
	  "Connections for requests (default 1), by epoll; with rsockets by poll" },
	{ "wait", 'w', NULL, 0, "Stop before the first request, until SIGCONT" },
	{ "connects", 'k', "N", 0, "Connect and close N times" },
	{ "copy", 'x', NULL, 0, "No transport: what it takes to copy each byte twice" },
	{ "place", 'P', NULL, 0, "Place messages in the peer's memory instead (riowrite)" },
	{ "maps", 'M', "N", 0,
	  "Mappings to place in, of a message each, picked at random (default 1, up to 256)" },
	{ "last", 'L', NULL, 0, "Place in the last of the mappings only" },
	{ "zerocopy", 'z', NULL, 0, "Send or place with MSG_ZEROCOPY" },
	{ "uring", 'u', NULL, 0, "Place by io_uring, without copying" },
	{ "outstanding", 'o', "N", 0,
	  "Calls of -z or -u that may be ahead of what is done (default 16, up to 4096)" },
	{ "file", 'F', "FILE", 0, "Send this file; or store there what is received" },
	{ "bind", 'b', "ADDRESS", 0, "The client's own address" },
	{ "json", 'j', NULL, 0, "Report as one line of JSON" },
	{ 0 }
};

/* What is asked for, besides what all of the program looks at */
struct settings {
	struct header h;
	const char *host;	/* of the server */
	const char *own;	/* address of this server */
	uint64_t outstanding;
	bool zerocopy, uring, copy;
};

static uint64_t number(struct argp_state *state, const char *arg)
{
	static const char units[] = "KMG";
	const char *unit;
	uint64_t v;
	char *end;

	v = strtoull(arg, &end, 10);
	unit = *end ? strchr(units, *end) : NULL;
	if (unit) {
		v <<= 10 * (unit - units + 1);
		end++;
	}
	if (*end || end == arg || !v)
		argp_error(state, "'%s' is no size", arg);
	return v;
}

static void set_family(struct argp_state *state, const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(transports) / sizeof(*transports); i++)
		if (!strcmp(transports[i].name, name)) {
			t = &transports[i];
			return;
		}
	argp_error(state, "family '%s' is none of rsock, tcp, smc, rsockets", name);
}

static void set_mode(struct argp_state *state, struct header *h, uint64_t mode, const char *count)
{
	h->mode = mode;
	if (count)
		h->count = number(state, count);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct settings *set = state->input;
	struct header *h = &set->h;

	switch (key) {
	case 'c':
		set->host = arg;
		break;
	case 'f':
		set_family(state, arg);
		break;
	case 'p':
		port = arg;
		break;
	case 's':
		h->size = number(state, arg);
		break;
	case 'n':
		h->count = number(state, arg);
		break;
	case 'l':
		set_mode(state, h, PING, arg);
		break;
	case 'r':
		set_mode(state, h, REQUEST, arg);
		break;
	case 'C':
		h->conns = number(state, arg);
		break;
	case 'k':
		set_mode(state, h, CONNECT, arg);
		break;
	case 'w':
		held = true;
		break;
	case 'x':
		set->copy = true;
		break;
	case 'P':
		set_mode(state, h, PLACE, NULL);
		break;
	case 'M':
		h->maps = number(state, arg);
		break;
	case 'L':
		last = true;
		break;
	case 'z':
		set->zerocopy = true;
		break;
	case 'u':
		set->uring = true;
		break;
	case 'o':
		set->outstanding = number(state, arg);
		if (set->outstanding > 4096)
			argp_error(state, "more than 4096 calls");
		break;
	case 'F':
		file = arg;
		break;
	case 'b':
		source = arg;
		break;
	case 'j':
		json = true;
		break;
	case ARGP_KEY_ARG:
		if (set->own)
			argp_usage(state);
		set->own = arg;
		break;
	case ARGP_KEY_END:
		if (set->own && set->host)
			argp_usage(state);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/* What one setting means for the others */
static void settle(struct settings *set)
{
	struct header *h = &set->h;

	if (!h->size)
		h->size = h->mode == PING ? 64 : h->mode == REQUEST ? 512 : 64 << 10;
	if (h->mode == PLACE)
		h->count = (h->count + h->size - 1) / h->size * h->size;
	if (set->uring)
		uring = set->outstanding;
	else if (set->zerocopy)
		zc.most = set->outstanding;
}

int main(int argc, char **argv)
{
	static const struct argp argp = { options, parse, "[ADDRESS]\n-c ADDRESS", doc };
	struct settings set = {
		.h = { .magic = MAGIC, .count = 64 << 20, .maps = 1, .conns = 1 },
		.outstanding = 16,
	};
	const char *wrong;

	argp_err_exit_status = 2;
	argp_parse(&argp, argc, argv, 0, NULL, &set);
	settle(&set);
	wrong = contradiction(&set.h);
	if (wrong) {
		fprintf(stderr, "rsockperf: %s\n", wrong);
		return 2;
	}
	if (set.copy)
		copy_twice(&set.h);
	else if (set.host)
		client(set.host, &set.h);
	else
		server(set.own);
	return 0;
}
