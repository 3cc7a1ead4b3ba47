/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef RSOCK_RUN_SUPERVISE_H
#define RSOCK_RUN_SUPERVISE_H

/*
 * Have the calls of this process and its descendants watched from here on, by a
 * process of its own that ends with the last of them. Exits if that cannot be.
 */
void supervise(void);

#endif /* RSOCK_RUN_SUPERVISE_H */
