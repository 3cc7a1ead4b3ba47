/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SELFTESTS_RUN_EARLY_H
#define _SELFTESTS_RUN_EARLY_H

int early_protocol(void);	/* of a socket that was bound as the library was loaded */

#endif /* _SELFTESTS_RUN_EARLY_H */
