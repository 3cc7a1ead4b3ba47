// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Thin wrappers over the options and flags of AF_RSOCK.
 */
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "rsock.h"

off_t riomap(int socket, void *buf, size_t len, int prot, int flags, off_t offset)
{
	__s64 result = -1;
	struct rsock_iomap m = {
		.addr = (uintptr_t)buf,
		.len = len,
		.offset = offset,
		.result_ptr = (uintptr_t)&result,
		.prot = prot,
		.flags = flags,
	};

	if (setsockopt(socket, SOL_RSOCK, RSOCK_IOMAP, &m, sizeof(m)))
		return -1;
	return result;
}

int riounmap(int socket, void *buf, size_t len)
{
	struct rsock_iomap m = {
		.addr = (uintptr_t)buf,
		.len = len,
		.offset = -1,
	};

	if (!setsockopt(socket, SOL_RSOCK, RSOCK_IOUNMAP, &m, sizeof(m)))
		return 0;
	return errno == ENOTCONN ? 0 : -1;
}

size_t riowrite(int socket, const void *buf, size_t count, off_t offset, int flags)
{
	union {
		char buf[CMSG_SPACE(sizeof(__u64))];
		struct cmsghdr align;
	} control = {};
	struct iovec iov = { (void *)buf, count };
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control.buf,
		.msg_controllen = sizeof(control.buf),
	};
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(&msg);
	__u64 to = offset;

	cmsg->cmsg_level = SOL_RSOCK;
	cmsg->cmsg_type = RSOCK_CMSG_OFFSET;
	cmsg->cmsg_len = CMSG_LEN(sizeof(to));
	memcpy(CMSG_DATA(cmsg), &to, sizeof(to));
	return sendmsg(socket, &msg, flags | MSG_RIOWRITE);
}
