// SPDX-License-Identifier: GPL-2.0
/*
 * Runs programs that were written for user-space rsockets on AF_RSOCK:
 *
 *	LD_PRELOAD=rsockets_shim.so rstream ...
 *
 * Each call of rsockets becomes the system call of the same name, or that of
 * librsock, which is part of this library. The programs
 * themselves, and the data verification in them, are not changed.
 */
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <linux/rsock.h>

int rsocket(int domain, int type, int protocol)
{
	(void)domain;
	(void)protocol;
	return socket(AF_RSOCK, type, 0);
}

int rbind(int fd, const struct sockaddr *addr, socklen_t len)
{
	return bind(fd, addr, len);
}

int rlisten(int fd, int backlog)
{
	return listen(fd, backlog);
}

int raccept(int fd, struct sockaddr *addr, socklen_t *len)
{
	return accept(fd, addr, len);
}

int rconnect(int fd, const struct sockaddr *addr, socklen_t len)
{
	return connect(fd, addr, len);
}

int rshutdown(int fd, int how)
{
	return shutdown(fd, how);
}

int rclose(int fd)
{
	return close(fd);
}

ssize_t rrecv(int fd, void *buf, size_t len, int flags)
{
	return recv(fd, buf, len, flags);
}

ssize_t rsend(int fd, const void *buf, size_t len, int flags)
{
	return send(fd, buf, len, flags);
}

ssize_t rread(int fd, void *buf, size_t len)
{
	return read(fd, buf, len);
}

ssize_t rwrite(int fd, const void *buf, size_t len)
{
	return write(fd, buf, len);
}

int rpoll(struct pollfd *fds, nfds_t n, int timeout)
{
	return poll(fds, n, timeout);
}

int rgetpeername(int fd, struct sockaddr *addr, socklen_t *len)
{
	return getpeername(fd, addr, len);
}

int rgetsockname(int fd, struct sockaddr *addr, socklen_t *len)
{
	return getsockname(fd, addr, len);
}

int rsetsockopt(int fd, int level, int name, const void *val, socklen_t len)
{
	return setsockopt(fd, level, name, val, len);
}

int rgetsockopt(int fd, int level, int name, void *val, socklen_t *len)
{
	return getsockopt(fd, level, name, val, len);
}

int rfcntl(int fd, int cmd, ...)
{
	va_list args;
	long arg;

	va_start(args, cmd);
	arg = va_arg(args, long);
	va_end(args);
	return fcntl(fd, cmd, arg);
}
