/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the files of librsock-preload share. All of it may run in a signal
 * handler, and in a child that a program with threads has forked: no locks, no
 * memory from the heap, no stdio.
 */
#ifndef RSOCK_RUN_PRELOAD_H
#define RSOCK_RUN_PRELOAD_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "rules.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/* The calls that we are in the way of */
int real_bind(int fd, const struct sockaddr *addr, socklen_t len);
int real_connect(int fd, const struct sockaddr *addr, socklen_t len);
int real_listen(int fd, int backlog);
int real_getsockopt(int fd, int level, int name, void *val, socklen_t *len);
int real_epoll_ctl(int epfd, int op, int fd, struct epoll_event *event);

/* --- config.c: what the environment says ------------------------------------ */

enum log_target { LOG_NONE, LOG_STDERR, LOG_FILE };

struct config {
	enum log_target log;
	char log_file[4096];
	uint64_t stderr_inode;		/* what standard error was at first */
	bool broken;			/* the rules make no sense: leave all alone */
	struct rules rules;
};

const struct config *config(void);

/* --- log.c ------------------------------------------------------------------- */

bool log_wanted(void);
void log_as(int pid);		/* of whom it tells, if it is not this process */
void log_line(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* --- path.c: RDMA devices ----------------------------------------------------- */

/*
 * path_*() - is there an RDMA device for it?
 * @why: receives the reason, for the log
 */
bool path_listen(const struct sockaddr *addr, socklen_t len, const char **why);
bool path_connect(const struct sockaddr *addr, socklen_t len, const char **why);

/* --- epoll.c, in the supervisor other_epoll.c ------------------------------------------------------------------- */

/* Registrations of one descriptor, which are lost as its socket is exchanged */
#define REGISTRATIONS_MAX	8

struct registrations {
	int n;
	struct {
		int epfd;
		struct epoll_event event;
	} of[REGISTRATIONS_MAX];
};

void epoll_note(int epfd);
void epoll_save(int fd, struct registrations *regs);
void epoll_restore(int fd, const struct registrations *regs);

/* --- fdinfo.c ------------------------------------------------------------------ */

/*
 * fdinfo_find() - find a registration
 * @info: the opened file of the epoll in fdinfo
 * @fd: number, and @inode of the socket that is registered
 */
bool fdinfo_find(int info, int fd, uint64_t inode, struct epoll_event *event);

/* --- options.c ------------------------------------------------------------------ */

/* Give @to the options in which @from differs from @fresh, a new one of its kind. */
void options_carry(int from, int to, int fresh);

/* --- socket.c ------------------------------------------------------------------- */

enum kind { KIND_OTHER, KIND_TCP, KIND_RSOCK };

struct name {
	union {
		struct sockaddr sa;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
		struct sockaddr_storage ss;
	};
	socklen_t len;
};

enum kind socket_kind(int fd, int *domain);
/* Neither connected, nor on the way to it, nor listening */
bool socket_idle(int fd);
/* To an address, a port, or both */
bool socket_bound(int fd, struct name *name);
int socket_new(enum kind kind, int domain);
/*
 * socket_exchange() - put a new socket in place of an idle one
 * @regs: receives what epoll_restore() takes afterwards
 *
 * Return: 0, or -1 with errno, and nothing has changed.
 */
int socket_exchange(int fd, enum kind to, int domain, struct registrations *regs);

/* --- settle.c --------------------------------------------------------------------- */

/*
 * settle() - make a socket what the rules want for an address, if it is one of
 *	TCP, or was, and can still be changed. All else is for the kernel to judge
 * @shown: what the log calls it
 * @regs: as of socket_exchange(), n is 0 before
 *
 * Return: 0, or -1 with errno: the call that @addr is for must fail.
 */
int settle(int fd, int shown, enum rule_direction direction, const struct sockaddr *addr,
	   socklen_t len, struct registrations *regs);

#endif /* RSOCK_RUN_PRELOAD_H */
