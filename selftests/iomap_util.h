/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the tests of direct data placement share.
 */
#ifndef _SELFTESTS_IOMAP_UTIL_H
#define _SELFTESTS_IOMAP_UTIL_H

#include <sys/mman.h>

#include "../tools/librsock/rsock.h"
#include "util.h"

#define PAGE		4096UL
#define FREE_OFFSET	(-1)

/* --- memory --------------------------------------------------------------- */

void *memory(size_t len);		/* of the process, zeroed */
long pinned_kb(void);
void must_unpin(void);			/* guarded */
void must_be_all(const void *mem, size_t len, unsigned char value);

/* --- mappings ------------------------------------------------------------- */

/* A pair whose client has a table of so many slots for the peer's mappings. */
struct pair pair_with_table(int size);
size_t list_maps(int fd, struct rsock_iomap *m, size_t max);
/* mmap() of a socket, which must succeed. */
char *map_socket(int fd, size_t len, off_t offset);
/* The peer's mapping gets known here, or unknown, without any message. */
void wait_mapped(int fd, off_t offset, bool mapped);
/* A byte on the stream: what was mapped or placed before is known or there. */
void sync_to(int from, int to);

/* --- placing -------------------------------------------------------------- */

/* A message that is to be placed, for sendmsg() with MSG_RIOWRITE. */
struct placement {
	struct msghdr msg;
	struct iovec iov;
	union {
		char buf[CMSG_SPACE(sizeof(__u64))];
		struct cmsghdr cmsg;
	} control;
};

void init_placement(struct placement *m, const void *buf, size_t len, off_t offset);
ssize_t place(int fd, const void *buf, size_t len, off_t offset, int flags);
void place_all(int fd, const void *buf, size_t len, off_t offset);
void set_cursor(int fd, off_t at);	/* -1: none */
off_t get_cursor(int fd);

#endif /* _SELFTESTS_IOMAP_UTIL_H */
