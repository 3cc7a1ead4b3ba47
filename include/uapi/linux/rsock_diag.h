/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
#ifndef _UAPI_LINUX_RSOCK_DIAG_H
#define _UAPI_LINUX_RSOCK_DIAG_H

#include <linux/types.h>
#include <linux/inet_diag.h>

/*
 * What sock_diag(7) tells of AF_RSOCK. A program sends SOCK_DIAG_BY_FAMILY with
 * NLM_F_DUMP and a struct rsock_diag_req, and gets a struct rsock_diag_msg with
 * attributes for each socket of its network namespace, those of IPPROTO_RSOCK
 * among them.
 */

/**
 * struct rsock_diag_req - which sockets, and what of them
 * @sdiag_family: number of AF_RSOCK
 * @sdiag_protocol: 0
 * @pad: 0
 * @states: a bit for each TCP state, as 1 << TCP_LISTEN
 * @show: a bit for each attribute that is wanted, as 1 << RSOCK_DIAG_INFO
 */
struct rsock_diag_req {
	__u8 sdiag_family;
	__u8 sdiag_protocol;
	__u16 pad;
	__u32 states;
	__u32 show;
};

/**
 * struct rsock_diag_msg - a socket
 * @family: AF_INET or AF_INET6: that of the addresses
 * @state: TCP state
 * @shutdown: RCV_SHUTDOWN (1) and SEND_SHUTDOWN (2)
 * @pad: 0
 * @id: addresses, interface and cookie; ports in network byte order
 * @uid: owner
 * @inode: of the socket, 0 if no program has it
 * @rqueue: bytes to be read; of a listening socket, connections to be accepted
 * @wqueue: bytes not acknowledged; of a listening socket, its backlog
 */
struct rsock_diag_msg {
	__u8 family;
	__u8 state;
	__u8 shutdown;
	__u8 pad;
	struct inet_diag_sockid id;
	__u32 uid;
	__u32 inode;
	__u32 rqueue;
	__u32 wqueue;
};

/* Attributes */
enum {
	RSOCK_DIAG_UNSPEC,
	RSOCK_DIAG_MEMINFO,	/* array of __u32, by SK_MEMINFO_* */
	RSOCK_DIAG_INFO,	/* struct rsock_diag_info, unless it listens */
	RSOCK_DIAG_DEVICE,	/* string: name of the RDMA device */
	__RSOCK_DIAG_MAX
};

#define RSOCK_DIAG_MAX (__RSOCK_DIAG_MAX - 1)

/* Bits of struct rsock_diag_info.flags */
#define RSOCK_DIAG_PASSIVE	0x01	/* the peer connected */
#define RSOCK_DIAG_PEER_EXT	0x02	/* the peer is AF_RSOCK, not rsockets */
#define RSOCK_DIAG_SWAPPED	0x04	/* the peer has the other byte order */
#define RSOCK_DIAG_KEEPALIVE	0x08	/* SO_KEEPALIVE */
#define RSOCK_DIAG_NOTIFY	0x10	/* RSOCK_RECV_NOTIFY */

/**
 * struct rsock_diag_info - the RDMA side of a connection
 * @flags: RSOCK_DIAG_*
 * @features: extensions of the protocol that both sides have
 * @qp: number of the queue pair, 0 if there is none
 * @port: of the device
 * @mtu: bytes of a packet, headers not counted
 * @sq_size: work requests that the send queue takes
 * @sq_used: of these, not known to be complete
 * @credits: messages that may be sent now
 * @room: bytes that may be sent now
 * @rq_size: messages that the peer is allowed at once
 * @ring: bytes of the receive rings: of the first one, and of the one that
 *	follows when more is sent
 * @unread: of these, arrived and not read
 * @granted: of these, the peer may write to
 * @queued: bytes queued, not known to be at the peer (iWARP: not taken by TCP)
 * @unsent: of these, not even posted
 * @maps: mappings that this side made
 * @notes: RSOCK_CMSG_WRITTEN that were not read
 * @probes: sent by TCP_USER_TIMEOUT and keepalive, and not answered yet
 * @msgs_received: messages of the peer so far
 * @bytes_sent: posted so far
 * @bytes_acked: of these, known to be at the peer (iWARP: taken by TCP)
 * @bytes_received: of the stream so far
 */
struct rsock_diag_info {
	__u32 flags;
	__u32 features;
	__u32 qp;
	__u32 port;
	__u32 mtu;
	__u32 sq_size;
	__u32 sq_used;
	__u32 credits;
	__u32 room;
	__u32 rq_size;
	__u32 ring;
	__u32 unread;
	__u32 granted;
	__u32 queued;
	__u32 unsent;
	__u32 maps;
	__u32 notes;
	__u32 probes;
	__u64 msgs_received;
	__u64 bytes_sent;
	__u64 bytes_acked;
	__u64 bytes_received;
};

#endif /* _UAPI_LINUX_RSOCK_DIAG_H */
