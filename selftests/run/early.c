// SPDX-License-Identifier: GPL-2.0
/*
 * A library that uses a socket as it is loaded, for run_test.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "early.h"

static int protocol;

int early_protocol(void)
{
	return protocol;
}

__attribute__((constructor)) static void early(void)
{
	struct sockaddr_in in = { .sin_family = AF_INET };
	const char *addr = getenv("RSOCK_SERVER4");
	socklen_t len = sizeof(protocol);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (addr && inet_pton(AF_INET, addr, &in.sin_addr) == 1 &&
	    !bind(fd, (struct sockaddr *)&in, sizeof(in)))
		syscall(SYS_getsockopt, fd, SOL_SOCKET, SO_PROTOCOL, &protocol, &len);
	close(fd);
}
