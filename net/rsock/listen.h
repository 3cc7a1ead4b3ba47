/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _RSOCK_LISTEN_H
#define _RSOCK_LISTEN_H

#include <linux/types.h>

struct proto_accept_arg;
struct rdma_cm_event;
struct rdma_cm_id;
struct rsock_ep;
struct sock;

int rsock_listen_request(struct rsock_ep *lep, struct rdma_cm_id *id,
			 struct rdma_cm_event *event);
void rsock_listen_stop(struct sock *sk);
bool rsock_listen_ready(struct sock *sk);
struct sock *rsock_listen_accept(struct sock *sk, struct proto_accept_arg *arg);
void rsock_child_connected(struct sock *sk);
bool rsock_child_closed(struct sock *sk);

#endif /* _RSOCK_LISTEN_H */
