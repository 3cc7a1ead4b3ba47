/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _RSOCK_WRITE_H
#define _RSOCK_WRITE_H

#include <linux/types.h>

struct rsock_ep;
struct rsock_txmsg;

bool rsock_write_is_mapped(struct rsock_ep *ep, u64 offset, u64 len);
int rsock_write_check(struct rsock_ep *ep, u64 offset, u64 len);
bool rsock_write_is_noted(struct rsock_ep *ep);
struct rsock_txmsg *rsock_write_note(struct rsock_ep *ep, u64 offset, u64 len,
				     gfp_t gfp);

#endif /* _RSOCK_WRITE_H */
