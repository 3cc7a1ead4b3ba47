// SPDX-License-Identifier: GPL-2.0
/*
 * Load generator: the same blocking code over AF_RSOCK, TCP and user-space
 * rsockets, so that what differs is the transport. See usage() below.
 *
 * The client says in a header what will happen. A stream is answered by the
 * number of bytes received when all are there, which ends the measurement; in
 * a ping-pong every message is sent back.
 */

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <rdma/rsocket.h>

/* <linux/rsock.h> and <rdma/rsocket.h> share the names of options */
#define AF_RSOCK	22

#define MAGIC		0x72736f636b706631ULL
#define MAX_SIZE	(256U << 20)

/* A transport: rsockets has the calls of a socket under other names */
struct transport {
	const char *name;
	int (*socket)(int domain, int type, int protocol);
	int (*bind)(int fd, const struct sockaddr *addr, socklen_t len);
	int (*listen)(int fd, int backlog);
	int (*accept)(int fd, struct sockaddr *addr, socklen_t *len);
	int (*connect)(int fd, const struct sockaddr *addr, socklen_t len);
	int (*setsockopt)(int fd, int level, int name, const void *val,
			  socklen_t len);
	ssize_t (*send)(int fd, const void *buf, size_t len, int flags);
	ssize_t (*recv)(int fd, void *buf, size_t len, int flags);
	int (*close)(int fd);
};

/* AF_RSOCK: the family is that of the socket, addresses stay AF_INET[6] */
static int rsock_socket(int domain, int type, int protocol)
{
	(void)domain;
	return socket(AF_RSOCK, type, protocol);
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
	.send = send, .recv = recv, .close = close

static const struct transport transports[] = {
	{ .name = "rsock", .socket = rsock_socket, SYSTEM_CALLS },
	{ .name = "tcp", .socket = socket, SYSTEM_CALLS },
	{
		.name = "rsockets", .socket = rsocket, .bind = rbind,
		.listen = rlisten, .accept = raccept, .connect = rconnect,
		.setsockopt = rsetsockopt, .send = rsend, .recv = rrecv,
		.close = rclose
	},
};

/* What the client wants; in its own byte order, which the magic checks */
struct header {
	uint64_t magic;
	uint64_t size;		/* bytes of a message */
	uint64_t count;		/* ping-pongs, or bytes of the stream */
	uint64_t ping;		/* which of them */
};

static const struct transport *t = &transports[0];
static const char *file, *source;
static const char *port = "7472";
static bool json;

static void __attribute__((noreturn)) die(const char *what)
{
	int err = errno;

	fprintf(stderr, "rsockperf: %s: %s: %s\n", t->name, what, strerror(err));
	if (err == EAFNOSUPPORT && t == &transports[0])
		fprintf(stderr, "rsockperf: is rsock.ko loaded?\n");
	exit(1);
}

static void __attribute__((noreturn)) usage(FILE *to)
{
	fprintf(to,
		"usage: rsockperf [options] [ADDRESS]      receive, for one client\n"
		"       rsockperf [options] -c ADDRESS     send\n"
		"\n"
		"  -f, --family NAME   rsock (AF_RSOCK, default), tcp, rsockets (librdmacm)\n"
		"  -p, --port PORT     default 7472\n"
		"  -s, --size BYTES    length of a message (default 64K)\n"
		"  -n, --bytes BYTES   length of the stream (default 64M)\n"
		"  -l, --latency N     a ping-pong of N messages instead (default size 64)\n"
		"  -F, --file FILE     send this file; or store there what is received\n"
		"  -b, --bind ADDRESS  the client's own address\n"
		"  -j, --json          report as one line of JSON\n"
		"  -h, --help\n"
		"\n"
		"BYTES takes K, M and G for 2^10, 2^20 and 2^30. The client reports.\n");
	exit(to == stderr ? 2 : 0);
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec * 1e-9;
}

static void *alloc(size_t len)
{
	void *p = calloc(1, len);

	if (!p)
		die("memory");
	return p;
}

static void send_all(int fd, const void *buf, size_t len)
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

static void recv_all(int fd, void *buf, size_t len)
{
	char *p = buf;
	size_t n;

	for (; len; p += n, len -= n)
		n = recv_some(fd, p, len);
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

static void serve_stream(int fd, const struct header *h, char *buf)
{
	uint64_t got = 0;
	int out = -1;
	size_t n;

	if (file) {
		out = open(file, O_WRONLY | O_CREAT | O_TRUNC, 0644);
		if (out < 0)
			die(file);
	}
	while (got < h->count) {
		n = recv_some(fd, buf, h->size);
		if (out >= 0 && write(out, buf, n) != (ssize_t)n)
			die(file);
		got += n;
	}
	if (out >= 0 && close(out))
		die(file);
	send_all(fd, &got, sizeof(got));
}

static void serve_ping(int fd, const struct header *h, char *buf)
{
	for (uint64_t i = 0; i < h->count; i++) {
		recv_all(fd, buf, h->size);
		send_all(fd, buf, h->size);
	}
}

static void server(const char *host)
{
	struct addrinfo *ai = lookup(host, true);
	int lfd = new_socket(ai), fd;
	struct header h;
	char *buf, end;

	if (t->bind(lfd, ai->ai_addr, ai->ai_addrlen))
		die("bind");
	if (t->listen(lfd, 1))
		die("listen");
	freeaddrinfo(ai);
	fd = t->accept(lfd, NULL, NULL);
	if (fd < 0)
		die("accept");
	recv_all(fd, &h, sizeof(h));
	errno = EPROTO;
	if (h.magic != MAGIC || !h.size || h.size > MAX_SIZE)
		die("header");
	buf = alloc(h.size);
	send_all(fd, &h.magic, sizeof(h.magic));
	if (h.ping)
		serve_ping(fd, &h, buf);
	else
		serve_stream(fd, &h, buf);
	/* The client closes first, when it has all that it was sent */
	(void)!t->recv(fd, &end, 1, 0);
	t->close(fd);
	t->close(lfd);
	free(buf);
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

static void send_stream(int fd, const struct header *h, const char *data)
{
	char *buf = data ? NULL : alloc(h->size);
	uint64_t sent, got, n;
	double start, secs;

	start = now();
	for (sent = 0; sent < h->count; sent += n) {
		n = h->count - sent < h->size ? h->count - sent : h->size;
		send_all(fd, data ? data + sent : buf, n);
	}
	recv_all(fd, &got, sizeof(got));
	secs = now() - start;
	free(buf);
	errno = EPROTO;
	if (got != h->count)
		die("the peer counts other bytes");

	if (json)
		printf("{\"family\": \"%s\", \"mode\": \"stream\", \"size\": %ju, "
		       "\"bytes\": %ju, \"seconds\": %.6f, \"gbps\": %.4f}\n",
		       t->name, (uintmax_t)h->size, (uintmax_t)h->count, secs,
		       h->count * 8e-9 / secs);
	else
		printf("%s: %ju bytes, %ju at a time, in %.3f s: %.3f Gb/s, %.1f MB/s\n",
		       t->name, (uintmax_t)h->count, (uintmax_t)h->size, secs,
		       h->count * 8e-9 / secs, h->count * 1e-6 / secs);
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
	free(buf);
	free(samples);
}

static int client_socket(const char *host)
{
	struct addrinfo *ai = lookup(host, false), *own;
	int fd = new_socket(ai);

	if (source) {
		port = NULL;
		own = lookup(source, false);
		if (t->bind(fd, own->ai_addr, own->ai_addrlen))
			die(source);
		freeaddrinfo(own);
	}
	if (t->connect(fd, ai->ai_addr, ai->ai_addrlen))
		die(host);
	freeaddrinfo(ai);
	return fd;
}

static void client(const char *host, struct header *h)
{
	const char *data = file ? read_file(&h->count) : NULL;
	int fd = client_socket(host);
	uint64_t magic;

	send_all(fd, h, sizeof(*h));
	recv_all(fd, &magic, sizeof(magic));
	errno = EPROTO;
	if (magic != MAGIC)
		die("the peer is no rsockperf");
	if (h->ping)
		send_ping(fd, h);
	else
		send_stream(fd, h, data);
	t->close(fd);
}

static uint64_t number(const char *arg)
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
	if (*end || end == arg || !v) {
		fprintf(stderr, "rsockperf: '%s' is no size\n", arg);
		exit(2);
	}
	return v;
}

static void set_family(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(transports) / sizeof(*transports); i++)
		if (!strcmp(transports[i].name, name)) {
			t = &transports[i];
			return;
		}
	fprintf(stderr, "rsockperf: family '%s' is none of rsock, tcp, rsockets\n", name);
	exit(2);
}

static const struct option options[] = {
	{ "family", required_argument, NULL, 'f' },
	{ "client", required_argument, NULL, 'c' },
	{ "port", required_argument, NULL, 'p' },
	{ "size", required_argument, NULL, 's' },
	{ "bytes", required_argument, NULL, 'n' },
	{ "latency", required_argument, NULL, 'l' },
	{ "file", required_argument, NULL, 'F' },
	{ "bind", required_argument, NULL, 'b' },
	{ "json", no_argument, NULL, 'j' },
	{ "help", no_argument, NULL, 'h' },
	{ }
};

int main(int argc, char **argv)
{
	struct header h = { .magic = MAGIC, .count = 64 << 20 };
	const char *host = NULL;
	int o;

	while ((o = getopt_long(argc, argv, "f:c:p:s:n:l:F:b:jh", options, NULL)) != -1) {
		switch (o) {
		case 'f':
			set_family(optarg);
			break;
		case 'c':
			host = optarg;
			break;
		case 'p':
			port = optarg;
			break;
		case 's':
			h.size = number(optarg);
			break;
		case 'n':
			h.count = number(optarg);
			break;
		case 'l':
			h.count = number(optarg);
			h.ping = 1;
			break;
		case 'F':
			file = optarg;
			break;
		case 'b':
			source = optarg;
			break;
		case 'j':
			json = true;
			break;
		case 'h':
			usage(stdout);
		default:
			usage(stderr);
		}
	}
	if (argc - optind > !host)
		usage(stderr);
	if (!h.size)
		h.size = h.ping ? 64 : 64 << 10;
	if (h.size > MAX_SIZE || (h.ping && file)) {
		fprintf(stderr, "rsockperf: %s\n",
			h.ping && file ? "a ping-pong has no file" : "size above 256M");
		return 2;
	}
	if (host)
		client(host, &h);
	else
		server(argv[optind]);
	return 0;
}
