/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef RSOCK_RUN_LAUNCHER_H
#define RSOCK_RUN_LAUNCHER_H

/* Exit statuses, as of env(1) */
#define EXIT_OURS	125	/* rsock-run itself failed */
#define EXIT_CANNOT	126	/* the program cannot be run */
#define EXIT_NONE	127	/* there is no such program */

/* --- file.c: the rules of a file ------------------------------------------------ */

/* The file that is read if none is given; NULL if there is none. */
const char *file_default(void);
/* Check the rules of a file, or exit; they are returned as lines. */
char *file_read(const char *path);

/* --- program.c ------------------------------------------------------------------- */

/* Exit if LD_PRELOAD would not reach the program. */
void program_check(const char *name);

#endif /* RSOCK_RUN_LAUNCHER_H */
