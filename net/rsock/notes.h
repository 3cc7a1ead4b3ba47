/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _RSOCK_NOTES_H
#define _RSOCK_NOTES_H

#include <linux/types.h>

struct rsock_ep;
struct rsock_note;

int rsock_notes_want(struct rsock_ep *ep);
void rsock_notes_free(struct rsock_ep *ep);
int rsock_notes_add(struct rsock_ep *ep, u32 entry);
bool rsock_notes_get(struct rsock_ep *ep, struct rsock_note *note);

#endif /* _RSOCK_NOTES_H */
