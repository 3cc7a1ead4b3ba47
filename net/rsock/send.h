/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _RSOCK_SEND_H
#define _RSOCK_SEND_H

#include <linux/types.h>

struct iov_iter;
struct msghdr;
struct rsock_ep;
struct rsock_txmsg;
struct sock;

int rsock_txmsg_fill(struct rsock_txmsg *m, struct iov_iter *from, size_t len);
bool rsock_send_can_refer(const struct iov_iter *from);
bool rsock_send_is_late(const struct sock *sk, const struct rsock_ep *ep);
int rsock_send(struct sock *sk, struct msghdr *msg, s64 to);

#endif /* _RSOCK_SEND_H */
