/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
#ifndef _UAPI_LINUX_RSOCK_H
#define _UAPI_LINUX_RSOCK_H

/*
 * AF_RSOCK: stream sockets over RDMA.
 *
 *	int fd = socket(AF_RSOCK, SOCK_STREAM, 0);
 *
 * Addresses are struct sockaddr_in and struct sockaddr_in6. On the way in
 * sa_family may also be AF_RSOCK, the length (16 or 28, exactly) then says
 * which layout it is. Addresses that the kernel returns are always AF_INET or
 * AF_INET6.
 */

/*
 * Address and protocol family. The number is a retired one that no kernel
 * module registers; the module parameter "family" overrides it, and
 * /sys/module/rsock/parameters/family tells which is in force.
 */
#ifndef AF_RSOCK
#define AF_RSOCK	22
#endif
#ifndef PF_RSOCK
#define PF_RSOCK	AF_RSOCK
#endif

/*
 * Level of the options below for setsockopt(2) and getsockopt(2). It is the
 * level of user-space rsockets (SOL_RDMA), whose option numbers are kept, so
 * that a program written for rsockets finds them where it expects them.
 */
#define SOL_RSOCK	0x10000
#ifndef SOL_RDMA
#define SOL_RDMA	SOL_RSOCK
#endif

/*
 * Each takes an int, can be set until the socket connects, and is inherited by
 * the sockets that a listening socket accepts.
 *
 * RDMA_SQSIZE: work requests that can wait in the send queue. 16 to 65534,
 *	reduced to what the device takes. Default 64.
 * RDMA_RQSIZE: messages that the peer may send before it hears from us. 16 to
 *	65534, reduced to what the device takes. Default 64.
 * RDMA_INLINE: kept for programs written for rsockets: stored and returned.
 *	The kernel decides by itself what it sends inline.
 * RDMA_IOMAPSIZE: mappings that the peer may offer to this socket: 0 to 128.
 *	Default 128.
 */
enum {
	RDMA_SQSIZE,
	RDMA_RQSIZE,
	RDMA_INLINE,
	RDMA_IOMAPSIZE,
	RDMA_ROUTE,	/* not supported: ENOPROTOOPT */
};

#endif /* _UAPI_LINUX_RSOCK_H */
