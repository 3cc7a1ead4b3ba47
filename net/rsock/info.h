/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _RSOCK_INFO_H
#define _RSOCK_INFO_H

#include <linux/types.h>

#include "rsock.h"

struct rsock_ep;
struct rsock_diag_info;
struct sock;
struct tcp_info;

/**
 * struct rsock_addrs - the ends of a connection; AF_UNSPEC if there is none
 * @local: own address
 * @peer: the peer's
 */
struct rsock_addrs {
	union rsock_addr local;
	union rsock_addr peer;
};

u32 rsock_path_mtu(struct rsock_ep *ep);
void rsock_diag_info(struct sock *sk, struct rsock_diag_info *info,
		     struct rsock_addrs *addrs, char *device);
void rsock_tcp_info(struct sock *sk, struct tcp_info *info);

#endif /* _RSOCK_INFO_H */
