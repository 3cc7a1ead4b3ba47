/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _RSOCK_WATCH_H
#define _RSOCK_WATCH_H

struct rsock_ep;
struct rsock_sock;

void rsock_watch_init(struct rsock_ep *ep);
void rsock_watch_begin(struct rsock_ep *ep);
void rsock_watch(struct rsock_ep *ep);
void rsock_watch_blocked(struct rsock_ep *ep);
void rsock_watch_more(struct rsock_ep *ep);

/* What is in force: the option, or the default of net.ipv4.tcp_keepalive_* */
int rsock_keepidle(const struct rsock_sock *rs);
int rsock_keepintvl(const struct rsock_sock *rs);
int rsock_keepcnt(const struct rsock_sock *rs);

#endif /* _RSOCK_WATCH_H */
