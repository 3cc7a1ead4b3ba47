/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * librsock: direct data placement over AF_RSOCK sockets, with the calls of
 * user-space rsockets. A program written for <rdma/rsocket.h> includes this
 * file instead: what it calls rsocket(), rsend(), … is socket(), send(), ….
 *
 * See librsock(3).
 */
#ifndef RSOCK_H
#define RSOCK_H

#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#include <linux/rsock.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * riomap() - let the peer write to memory
 * @socket: connected AF_RSOCK socket
 * @buf: memory of this process
 * @len: bytes
 * @prot: PROT_WRITE, or PROT_NONE for use by this side only
 * @flags: 0
 * @offset: what the peer is to know it by, or -1 to have a free one chosen
 *
 * Return: the offset, or -1 and errno: see struct rsock_iomap.
 */
off_t riomap(int socket, void *buf, size_t len, int prot, int flags, off_t offset);

/**
 * riounmap() - take it back
 * @socket: the socket
 * @buf: as given to riomap()
 * @len: as given to riomap()
 *
 * When it returns the peer cannot write there any more. That it also returns
 * 0 when the connection has ended, which undoes all mappings, is as in
 * rsockets.
 *
 * Return: 0, or -1 and errno: EINVAL if there is no such mapping.
 */
int riounmap(int socket, void *buf, size_t len);

/**
 * riowrite() - write to what the peer has mapped
 * @socket: connected AF_RSOCK socket
 * @buf: what to write
 * @count: bytes
 * @offset: of the peer's mapping
 * @flags: of send(2): MSG_DONTWAIT, MSG_NOSIGNAL
 *
 * Return: bytes, fewer than @count if the socket does not block; or (size_t)-1
 * and errno: ENXIO if not all of it is mapped, and those of send(2).
 */
size_t riowrite(int socket, const void *buf, size_t count, off_t offset, int flags);

/* The other calls of rsockets are those of sockets. */
static inline int rsocket(int domain, int type, int protocol)
{
	(void)domain;	/* an AF_RSOCK socket takes addresses of either family */
	return socket(AF_RSOCK, type, protocol);
}

#define rbind		bind
#define rlisten		listen
#define raccept		accept
#define rconnect	connect
#define rshutdown	shutdown
#define rclose		close
#define rrecv		recv
#define rrecvfrom	recvfrom
#define rrecvmsg	recvmsg
#define rsend		send
#define rsendto		sendto
#define rsendmsg	sendmsg
#define rread		read
#define rreadv		readv
#define rwrite		write
#define rwritev		writev
#define rpoll		poll
#define rselect		select
#define rgetpeername	getpeername
#define rgetsockname	getsockname
#define rsetsockopt	setsockopt
#define rgetsockopt	getsockopt
#define rfcntl		fcntl

#ifdef __cplusplus
}
#endif

#endif /* RSOCK_H */
