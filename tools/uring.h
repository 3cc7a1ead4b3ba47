/* SPDX-License-Identifier: GPL-2.0 */
/* Placing by io_uring, for rsockperf */
#ifndef _URING_H
#define _URING_H

#include <stddef.h>
#include <sys/types.h>

/**
 * uring_open() - prepare for calls that place in the peer's memory
 * @fd: connected socket of AF_RSOCK
 * @most: calls that may be outstanding, until the kernel is done with what they
 *	send
 *
 * Return: 0, or -1 with errno set.
 */
int uring_open(int fd, unsigned int most);

/**
 * uring_place() - place @len bytes at @offset
 * @buf: not to be changed before uring_drain() returned
 * @len: bytes
 * @offset: in the peer's mappings
 *
 * Returns at once, unless too many are outstanding.
 *
 * Return: 0, or -1 with errno set.
 */
int uring_place(const void *buf, size_t len, off_t offset);

/**
 * uring_drain() - wait for all of them
 *
 * Return: 0, or -1 with errno set.
 */
int uring_drain(void);

#endif /* _URING_H */
