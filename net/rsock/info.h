/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _RSOCK_INFO_H
#define _RSOCK_INFO_H

#include <linux/types.h>

struct rsock_ep;
struct sock;
struct tcp_info;

u32 rsock_path_mtu(struct rsock_ep *ep);
void rsock_tcp_info(struct sock *sk, struct tcp_info *info);

#endif /* _RSOCK_INFO_H */
