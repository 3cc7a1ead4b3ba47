/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _RSOCK_CM_H
#define _RSOCK_CM_H

#include "ep.h"

int rsock_cm_create(struct rsock_ep *ep);
int rsock_cm_bind(struct rsock_ep *ep, struct sockaddr *addr, bool reuse,
		  bool v6only);
int rsock_cm_bind4(struct rsock_ep *ep, __be16 port, bool reuse);
int rsock_cm_listen(struct rsock_ep *ep, int backlog);
int rsock_cm_connect(struct rsock_ep *ep, const struct sockaddr *addr,
		     u8 tos);
void rsock_cm_passive(struct rsock_ep *ep, const struct rsock_conn *peer);

#endif /* _RSOCK_CM_H */
