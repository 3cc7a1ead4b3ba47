// SPDX-License-Identifier: GPL-2.0
/*
 * For programs that talk to themselves at 0.0.0.0 or ::, which means loopback,
 * where there is no RDMA device: connect() takes them to $B4 or $B6 instead.
 */
#include <arpa/inet.h>
#include <dlfcn.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

static void to_device(union address *to)
{
	const char *b4 = getenv("B4"), *b6 = getenv("B6");

	if (to->any.sa_family == AF_INET && to->v4.sin_addr.s_addr == INADDR_ANY && b4)
		inet_pton(AF_INET, b4, &to->v4.sin_addr);
	if (to->any.sa_family == AF_INET6 && IN6_IS_ADDR_UNSPECIFIED(&to->v6.sin6_addr) && b6)
		inet_pton(AF_INET6, b6, &to->v6.sin6_addr);
}

int connect(int fd, const struct sockaddr *addr, socklen_t len)
{
	int (*next)(int fd, const struct sockaddr *addr, socklen_t len) = dlsym(RTLD_NEXT, "connect");
	union address to;

	if (!addr || len < sizeof(to.v4) || len > sizeof(to))
		return next(fd, addr, len);
	memset(&to, 0, sizeof(to));
	memcpy(&to, addr, len);
	to_device(&to);
	return next(fd, &to.any, len);
}
