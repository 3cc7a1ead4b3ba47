/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef RSOCK_RUN_OTHER_H
#define RSOCK_RUN_OTHER_H

/* --- other.c ------------------------------------------------------------------- */

/* A number that follows a label in a file of /proc; -1 if it is not there */
long other_field(int pid, const char *name, const char *label, int base);
/* A copy of a descriptor; -1 with errno. @pid is of a process, not a thread */
int other_fd(int pid, int fd);

/* --- other_epoll.c --------------------------------------------------------------- */

/*
 * other_epoll() - from now on epoll_save() and epoll_restore() are about this
 *	process or thread, and a socket that it knows as @fd
 */
void other_epoll(int pid, int fd);

#endif /* RSOCK_RUN_OTHER_H */
