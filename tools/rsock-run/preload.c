// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The calls by which a socket of TCP gets an address. If the rules say so, an
 * AF_RSOCK socket takes its place there, or the other way round. No call that
 * carries data is in our way, and what a descriptor is the kernel knows.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "preload.h"

/* --- the calls of the C library ----------------------------------------------- */

/* Found before main(), since finding takes locks; earlier callers do it themselves */
static struct {
	__typeof__(&bind) bind;
	__typeof__(&connect) connect;
	__typeof__(&listen) listen;
	__typeof__(&getsockopt) getsockopt;
	__typeof__(&epoll_ctl) epoll_ctl;
} real;

#define FIND(name)							\
({									\
	__typeof__(real.name) _fn;					\
									\
	_fn = __atomic_load_n(&real.name, __ATOMIC_RELAXED);		\
	if (!_fn) {							\
		_fn = (__typeof__(_fn))dlsym(RTLD_NEXT, #name);		\
		__atomic_store_n(&real.name, _fn, __ATOMIC_RELAXED);	\
	}								\
	_fn;								\
})

int real_bind(int fd, const struct sockaddr *addr, socklen_t len)
{
	return FIND(bind)(fd, addr, len);
}

int real_connect(int fd, const struct sockaddr *addr, socklen_t len)
{
	return FIND(connect)(fd, addr, len);
}

int real_listen(int fd, int backlog)
{
	return FIND(listen)(fd, backlog);
}

int real_getsockopt(int fd, int level, int name, void *val, socklen_t *len)
{
	return FIND(getsockopt)(fd, level, name, val, len);
}

int real_epoll_ctl(int epfd, int op, int fd, struct epoll_event *event)
{
	return FIND(epoll_ctl)(epfd, op, fd, event);
}

__attribute__((constructor)) static void init(void)
{
	FIND(bind);
	FIND(connect);
	FIND(listen);
	FIND(getsockopt);
	FIND(epoll_ctl);
	config();
}

/* --- before the calls --------------------------------------------------------------- */

/* Not to be cancelled half-way; and what succeeds leaves errno alone */
static int settle_safely(int fd, enum rule_direction direction, const struct sockaddr *addr,
			 socklen_t len, struct registrations *regs)
{
	int err = errno, cancel, ret;

	regs->n = 0;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	ret = settle(fd, fd, direction, addr, len, regs);
	pthread_setcancelstate(cancel, NULL);
	if (!ret)
		errno = err;
	return ret;
}

/* After the call, so that epoll sees what came of it, and not an idle socket */
static int register_again(int fd, const struct registrations *regs, int ret)
{
	int err = errno;

	epoll_restore(fd, regs);
	errno = err;
	return ret;
}

/* --- the calls ------------------------------------------------------------------- */

int connect(int fd, const struct sockaddr *addr, socklen_t len)
{
	struct registrations regs;

	if (settle_safely(fd, RULE_CONNECT, addr, len, &regs))
		return -1;
	return register_again(fd, &regs, real_connect(fd, addr, len));
}

int bind(int fd, const struct sockaddr *addr, socklen_t len)
{
	struct registrations regs;

	if (settle_safely(fd, RULE_LISTEN, addr, len, &regs))
		return -1;
	return register_again(fd, &regs, real_bind(fd, addr, len));
}

/* A socket without an address would get any by listen(): that is as bind() to it. */
static int bind_unbound(int fd)
{
	struct name name, any = { };
	int domain;

	if (socket_kind(fd, &domain) == KIND_OTHER || socket_bound(fd, &name) ||
	    !socket_idle(fd))
		return 0;
	any.sa.sa_family = domain;
	any.len = domain == AF_INET ? sizeof(any.in) : sizeof(any.in6);
	return bind(fd, &any.sa, any.len);
}

int listen(int fd, int backlog)
{
	int err = errno;

	if (bind_unbound(fd))
		return -1;
	errno = err;
	return real_listen(fd, backlog);
}

/* To a program that has made a TCP socket it is one. */
int getsockopt(int fd, int level, int name, void *restrict val, socklen_t *restrict len)
{
	int ret = real_getsockopt(fd, level, name, val, len), err = errno, domain;

	if (ret || level != SOL_SOCKET || name != SO_PROTOCOL)
		return ret;
	if (socket_kind(fd, &domain) == KIND_RSOCK && *len == sizeof(int))
		memcpy(val, &(int){ IPPROTO_TCP }, *len);
	errno = err;
	return ret;
}

int epoll_ctl(int epfd, int op, int fd, struct epoll_event *event)
{
	int ret = real_epoll_ctl(epfd, op, fd, event), err = errno, domain;

	if (!ret && op == EPOLL_CTL_ADD && socket_kind(fd, &domain) == KIND_TCP &&
	    socket_idle(fd))
		epoll_note(epfd);
	errno = err;
	return ret;
}
