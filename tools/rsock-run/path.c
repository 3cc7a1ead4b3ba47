// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Is there an RDMA device for an address? An AF_RSOCK socket can be bound to
 * those of its own that have one, and the routes tell which of them a peer is
 * reached from.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload.h"

/* Not opendir(), which takes memory from the heap */
static bool any_device(void)
{
	struct entry {
		uint64_t ino;
		int64_t off;
		unsigned short len;
		unsigned char type;
		char name[];
	};
	char buf[1024] __attribute__((aligned(8)));
	int fd = open("/sys/class/infiniband", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const struct entry *e;
	bool found = false;
	long n, at;

	if (fd < 0)
		return false;
	n = syscall(SYS_getdents64, fd, buf, sizeof(buf));
	for (at = 0; at < n && !found; at += e->len) {
		e = (const void *)(buf + at);
		found = e->name[0] != '.';
	}
	close(fd);
	return found;
}

static bool can_open(void)
{
	int fd = socket_new(KIND_RSOCK, AF_INET);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* An AF_RSOCK socket can have this address, which is one of ours */
static bool can_bind(struct name *name)
{
	int fd = socket_new(KIND_RSOCK, name->sa.sa_family);
	bool ok;

	if (fd < 0)
		return false;
	if (name->sa.sa_family == AF_INET)
		name->in.sin_port = 0;
	else
		name->in6.sin6_port = 0;
	ok = !real_bind(fd, &name->sa, name->len);
	close(fd);
	return ok;
}

/* The address from which packets go there */
static bool source_of(const struct sockaddr *addr, socklen_t len, struct name *source)
{
	int fd = socket(addr->sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool ok;

	if (fd < 0)
		return false;
	source->len = sizeof(source->ss);
	ok = !real_connect(fd, addr, len) &&
	     !getsockname(fd, &source->sa, &source->len);
	close(fd);
	return ok;
}

/* What every decision needs; it also keeps the kernel from looking for a module */
static bool usable(const char **why)
{
	if (!any_device())
		*why = "there is no RDMA device";
	else if (!can_open())
		*why = "there is no AF_RSOCK: is the module loaded?";
	else
		return true;
	return false;
}

bool path_listen(const struct sockaddr *addr, socklen_t len, const char **why)
{
	struct name name = { .len = len };
	struct host h;

	if (!usable(why) || !host_of(&h, addr, len))
		return false;
	if (host_is_any(&h)) {
		*why = "there is an RDMA device";
		return true;
	}
	memcpy(&name.ss, addr, len < sizeof(name.ss) ? len : sizeof(name.ss));
	*why = "the address has an RDMA device";
	if (can_bind(&name))
		return true;
	*why = "the address has no RDMA device";
	return false;
}

bool path_connect(const struct sockaddr *addr, socklen_t len, const char **why)
{
	struct name source;

	if (!usable(why))
		return false;
	*why = "no route";
	if (!source_of(addr, len, &source))
		return false;
	*why = "the route begins at an RDMA device";
	if (can_bind(&source))
		return true;
	*why = "the route begins at no RDMA device";
	return false;
}
