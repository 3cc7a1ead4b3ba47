/* SPDX-License-Identifier: GPL-2.0 */
/* TCP_INFO as the kernel has it, of which the C library's header has less. */
#ifndef _SELFTESTS_TCP_INFO_H
#define _SELFTESTS_TCP_INFO_H

#include <linux/tcp.h>

#include "util.h"

static inline struct tcp_info info_of(int fd)
{
	struct tcp_info info;
	socklen_t len = sizeof(info);

	memset(&info, 0xee, sizeof(info));
	MUST(getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len));
	CHECK(len > offsetof(struct tcp_info, tcpi_snd_wnd), "%u", len);
	return info;
}

#endif /* _SELFTESTS_TCP_INFO_H */
