/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
#ifndef _UAPI_LINUX_RSOCK_H
#define _UAPI_LINUX_RSOCK_H

#include <linux/types.h>

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
 * The same sockets as a protocol of AF_INET and AF_INET6, each with addresses of
 * its family only, for programs that cannot name another family:
 *
 *	int fd = socket(AF_INET, SOCK_STREAM, IPPROTO_RSOCK);
 */
#ifndef IPPROTO_RSOCK
#define IPPROTO_RSOCK	260
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
 *	reduced to what the device takes and net.rsock.max_queue. Default 20.
 * RDMA_RQSIZE: messages that the peer may send before it hears from us. 16 to
 *	65534, reduced likewise. Default 44.
 * RDMA_INLINE: kept for programs written for rsockets: stored and returned.
 *	The kernel decides by itself what it sends inline.
 * RDMA_IOMAPSIZE: mappings that the peer may offer to this socket: 0 to 256;
 *	from 129 to 255 it means 128, as the protocol has no code for these.
 *	Default 128.
 * RDMA_ROUTE is not supported: ENOPROTOOPT.
 *
 * <rdma/rsocket.h> has the same names for the same values.
 */
#ifndef RSOCKET_H
enum {
	RDMA_SQSIZE,
	RDMA_RQSIZE,
	RDMA_INLINE,
	RDMA_IOMAPSIZE,
	RDMA_ROUTE,
};
#endif

/*
 * Direct data placement. One side maps memory to an offset; the other writes to
 * it by that offset, and what it writes is placed there, in order with the
 * stream, without the first side's help.
 *
 * RSOCK_IOMAP (set: struct rsock_iomap) maps. RSOCK_IOMAP (get: array of struct
 *	rsock_iomap) lists what is mapped, in the order of offsets; ENOSPC if
 *	the array is too short, and the length that it should have is returned.
 * RSOCK_IOUNMAP (set: struct rsock_iomap) undoes the mapping with this addr and
 *	len and, unless it is -1, this offset. When it returns the peer cannot
 *	write there any more, whatever it had begun.
 * RSOCK_WRITE_OFFSET (__s64): unless it is -1 (default), everything that is
 *	sent is placed at this offset of the peer's, which advances by what was
 *	sent: for calls that have no control messages.
 * RSOCK_RECV_NOTIFY (int, 1): from here on, until the connection ends, each
 *	call by which the peer writes to our mappings is told of when what it
 *	wrote is there: poll(2) says POLLERR, and recvmsg(2) with MSG_ERRQUEUE
 *	returns a control message of level SOL_RSOCK and type RSOCK_CMSG_WRITTEN
 *	(struct rsock_written). None is lost: the peer waits, also with its
 *	stream, when as many are unread as RDMA_RQSIZE grants messages. ENOTCONN
 *	without a connection; EOPNOTSUPP with a peer that is not AF_RSOCK.
 * RSOCK_ZEROCOPY (int, 0 or 1): the same as SO_ZEROCOPY of SOL_SOCKET, which
 *	kernels before 6.7 have only for families that they know.
 */
#define RSOCK_IOMAP		64
#define RSOCK_IOUNMAP		65
#define RSOCK_WRITE_OFFSET	66
#define RSOCK_RECV_NOTIFY	67
#define RSOCK_ZEROCOPY		68

/**
 * struct rsock_iomap - memory mapped for direct placement
 * @addr: its address, in the calling process
 * @len: bytes, not 0
 * @offset: what the peer knows its first byte by; it and the last byte's lie
 *	within 0..2^63-1. -1 chooses a free one
 * @result_ptr: address of an __s64 that the offset is written to; may be 0 if
 *	@offset is not -1
 * @prot: PROT_WRITE: the peer may write to it. PROT_NONE: pinned for use by
 *	this side only, the peer is told nothing
 * @flags: 0
 *
 * The memory is pinned, and counts against RLIMIT_MEMLOCK, until it is unmapped
 * or the connection ends.
 *
 * Errors: EINVAL (zero length, overflow, unknown prot or flags), EFAULT (not
 * the caller's memory, or not writable), ENOTCONN, EEXIST (offsets in use),
 * EOPNOTSUPP (shared memory of a file), EPERM (memlock limit of 0), ENOMEM
 * (memlock limit, or the peer's table is full), ETIMEDOUT (the peer acknowledges
 * nothing).
 */
struct rsock_iomap {
	__aligned_u64 addr;
	__aligned_u64 len;
	__aligned_s64 offset;
	__aligned_u64 result_ptr;
	__u32 prot;
	__u32 flags;
};

/*
 * A flag of sendmsg(2), with a control message of level SOL_RSOCK and type
 * RSOCK_CMSG_OFFSET (__u64) that says where in the peer's mappings to place the
 * data. ENXIO: not all of it is mapped, and nothing was written.
 */
#define MSG_RIOWRITE		0x10000000
#define RSOCK_CMSG_OFFSET	1

/**
 * struct rsock_written - what the peer placed (RSOCK_CMSG_WRITTEN)
 * @offset: of the first byte, in the mappings of the one who is told
 * @len: bytes
 */
struct rsock_written {
	__aligned_u64 offset;
	__aligned_u64 len;
};

#define RSOCK_CMSG_WRITTEN	2

#endif /* _UAPI_LINUX_RSOCK_H */
