/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _RSOCK_SEND_H
#define _RSOCK_SEND_H

#include <linux/types.h>

struct msghdr;
struct sock;

int rsock_send(struct sock *sk, struct msghdr *msg, s64 to);

#endif /* _RSOCK_SEND_H */
