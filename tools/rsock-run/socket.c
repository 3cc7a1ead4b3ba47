// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What a descriptor is, which only the kernel knows for sure, and how another
 * socket takes the place of the one that it refers to.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include <linux/rsock.h>

#include "preload.h"

static int int_option(int fd, int level, int name)
{
	int val = -1;
	socklen_t len = sizeof(val);

	return real_getsockopt(fd, level, name, &val, &len) ? -1 : val;
}

static bool local_name(int fd, struct name *name)
{
	name->len = sizeof(name->ss);
	return !getsockname(fd, &name->sa, &name->len);
}

enum kind socket_kind(int fd, int *domain)
{
	*domain = int_option(fd, SOL_SOCKET, SO_DOMAIN);
	if (*domain != AF_INET && *domain != AF_INET6)
		return KIND_OTHER;
	switch (int_option(fd, SOL_SOCKET, SO_PROTOCOL)) {
	case IPPROTO_TCP:
		return KIND_TCP;
	case IPPROTO_RSOCK:
		return KIND_RSOCK;
	default:
		return KIND_OTHER;
	}
}

/* poll(), but no point of cancellation: our callers are none */
static int events(int fd)
{
	struct pollfd p = { .fd = fd };
	int cancel;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	poll(&p, 1, 0);
	pthread_setcancelstate(cancel, NULL);
	return p.revents;
}

bool socket_idle(int fd)
{
	struct name peer = { .len = sizeof(peer.ss) };

	return events(fd) & POLLHUP && getpeername(fd, &peer.sa, &peer.len);
}

static uint16_t *port_of(struct name *name)
{
	return name->sa.sa_family == AF_INET ? &name->in.sin_port :
					       &name->in6.sin6_port;
}

bool socket_bound(int fd, struct name *name)
{
	struct host h;

	/* IP_BIND_ADDRESS_NO_PORT: the port is chosen later */
	return local_name(fd, name) && host_of(&h, &name->sa, name->len) &&
	       (h.port || !host_is_any(&h));
}

int socket_new(enum kind kind, int domain)
{
	return socket(domain, SOCK_STREAM | SOCK_CLOEXEC,
		      kind == KIND_RSOCK ? IPPROTO_RSOCK : IPPROTO_TCP);
}

/* The port is one of those that the kernel chooses from */
static bool port_is_ephemeral(uint16_t port)
{
	int fd = open("/proc/sys/net/ipv4/ip_local_port_range",
		      O_RDONLY | O_CLOEXEC);
	char text[32], *end;
	ssize_t n;
	long low;

	if (fd < 0)
		return false;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return false;
	text[n] = '\0';
	low = strtol(text, &end, 10);
	return ntohs(port) >= low && ntohs(port) <= strtol(end, NULL, 10);
}

/*
 * Both kinds have ports of their own, so one that was free may not be here. If
 * the kernel chose it, any other one does as well.
 */
static int bind_as(int fd, struct name *name)
{
	uint16_t *port = port_of(name);

	if (!real_bind(fd, &name->sa, name->len))
		return 0;
	if (errno != EADDRINUSE || !port_is_ephemeral(*port))
		return -1;
	*port = 0;
	return real_bind(fd, &name->sa, name->len);
}

static int carry_options(int from, int to, enum kind kind, int domain)
{
	int fresh = socket_new(kind, domain);

	if (fresh < 0)
		return -1;
	options_carry(from, to, fresh);
	close(fresh);
	return 0;
}

/* Signals for a descriptor; O_ASYNC only where it stays, as signals tell it */
static void carry_signals(int from, int to)
{
	struct f_owner_ex owner;

	if (!fcntl(from, F_GETOWN_EX, &owner) && owner.pid)
		fcntl(to, F_SETOWN_EX, &owner);
	fcntl(to, F_SETSIG, fcntl(from, F_GETSIG));
	fcntl(to, F_SETFL, fcntl(from, F_GETFL) & ~O_ASYNC);
}

/* Put @new in the place of @fd */
static int take_place(int new, int fd)
{
	int cloexec = fcntl(fd, F_GETFD) & FD_CLOEXEC ? O_CLOEXEC : 0;
	int flags = fcntl(fd, F_GETFL);

	if (dup3(new, fd, cloexec) < 0)
		return -1;
	if (flags & O_ASYNC)
		fcntl(fd, F_SETFL, flags);
	return 0;
}

static int prepare(int fd, int new, enum kind from, int domain)
{
	struct name name;

	if (carry_options(fd, new, from, domain))
		return -1;
	if (socket_bound(fd, &name) && bind_as(new, &name))
		return -1;
	carry_signals(fd, new);
	return 0;
}

int socket_exchange(int fd, enum kind to, int domain, struct registrations *regs)
{
	enum kind from = to == KIND_RSOCK ? KIND_TCP : KIND_RSOCK;
	int new = socket_new(to, domain), ret, err;

	if (new < 0)
		return -1;
	ret = prepare(fd, new, from, domain);
	if (!ret) {
		epoll_save(fd, regs);
		ret = take_place(new, fd);
	}
	err = errno;
	close(new);
	errno = err;
	return ret;
}
