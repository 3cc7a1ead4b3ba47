/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _RSOCK_PROC_H
#define _RSOCK_PROC_H

struct net;

int rsock_proc_add(struct net *net);
void rsock_proc_del(struct net *net);

#endif /* _RSOCK_PROC_H */
