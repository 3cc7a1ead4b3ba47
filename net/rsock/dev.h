/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _RSOCK_DEV_H
#define _RSOCK_DEV_H

#include <linux/types.h>

struct rsock_ep;

int rsock_dev_attach(struct rsock_ep *ep);
void rsock_dev_detach(struct rsock_ep *ep);
int rsock_dev_vector(const struct rsock_ep *ep);
int rsock_dev_init(void);
void rsock_dev_exit(void);

#endif /* _RSOCK_DEV_H */
