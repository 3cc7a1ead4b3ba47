/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _RSOCKPERF_H
#define _RSOCKPERF_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

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
	int (*poll)(struct pollfd *fds, nfds_t nfds, int timeout);
	int (*close)(int fd);
	off_t (*riomap)(int fd, void *buf, size_t len, int prot, int flags,
			off_t offset);
	int (*riounmap)(int fd, void *buf, size_t len);
	size_t (*riowrite)(int fd, const void *buf, size_t len, off_t offset,
			   int flags);
};

/* What the client wants; in its own byte order, which the magic checks */
struct header {
	uint64_t magic;
	uint64_t mode;
	uint64_t size;		/* bytes of a message */
	uint64_t count;		/* ping-pongs, requests, connections, or bytes */
	uint64_t maps;		/* mappings to place in, of a message each */
	uint64_t conns;		/* connections at a time */
};

enum { STREAM, PING, PLACE, REQUEST, CONNECT };

extern const struct transport *t;
extern bool json;
extern bool held;	/* to begin when told to: SIGCONT */

void __attribute__((noreturn)) die(const char *what);
double now(void);
double cpu_time(void);
void *alloc(size_t len);
void send_all(int fd, const void *buf, size_t len);
void recv_all(int fd, void *buf, size_t len);

/* many.c */
typedef int (*connect_fn)(const void *to);

void serve_requests(int lfd, int fd, const struct header *h);
void send_requests(int fd, const struct header *h, connect_fn new, const void *to);
void serve_connects(int lfd, const struct header *h);
void make_connects(const struct header *h, connect_fn new, const void *to);

#endif
