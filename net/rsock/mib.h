/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _RSOCK_MIB_H
#define _RSOCK_MIB_H

#include "wire.h"

struct seq_file;

/*
 * Counters, shown in /proc/net/rsock_stat. Nothing counts on the data path of a
 * connection that works.
 */
enum rsock_mib {
	RSOCK_MIB_NONE,			/* nothing to count */

	/* Connections: each is made or fails, and of some more is to be said */
	RSOCK_MIB_ACTIVEOPENS,		/* connect() succeeded */
	RSOCK_MIB_PASSIVEOPENS,		/* a peer's connect() succeeded */
	RSOCK_MIB_ATTEMPTFAILS,		/* connect() failed */
	RSOCK_MIB_PASSIVEFAILS,		/* a peer's did, after its request was taken */
	RSOCK_MIB_RESETS,		/* an established one ended with an error */

	/* Requests that are not taken */
	RSOCK_MIB_LISTENOVERFLOWS,	/* backlog full */
	RSOCK_MIB_LISTENNOMEMORY,	/* no memory for a socket */
	RSOCK_MIB_LISTENOTHERDEVICE,	/* SO_BINDTODEVICE */

	/*
	 * Why a connection failed or ended: enum rsock_mib of rsock_ep_kill().
	 * Of a socket that is closed, too
	 */
	RSOCK_MIB_NOROUTE,		/* no route to the address */
	RSOCK_MIB_NODEVICE,		/* no RDMA device on the route */
	RSOCK_MIB_NOHOST,		/* nobody answers for the address */
	RSOCK_MIB_REFUSED,		/* peer rejected the request or answer */
	RSOCK_MIB_NOANSWER,		/* peer did not answer these */
	RSOCK_MIB_MAXCONNECTIONS,	/* net.rsock.max_connections */
	RSOCK_MIB_SETUPFAILS,		/* no memory, or nothing left of the device */
	RSOCK_MIB_ABORTS,		/* program did not wait for its end */
	RSOCK_MIB_PEERRESETS,		/* peer left without saying so */
	RSOCK_MIB_PEERCLOSES,		/* peer closed, not all was sent to it */
	RSOCK_MIB_PEERREFUSES,		/* peer's device refused what we wrote */
	RSOCK_MIB_PEERSILENT,		/* peer's device acknowledges no more */
	RSOCK_MIB_ACCESSERRORS,		/* peer wrote where it may not */
	RSOCK_MIB_DEVICEERRORS,		/* our device failed */
	RSOCK_MIB_DEVICEREMOVALS,	/* or went away */
	RSOCK_MIB_NOMEMORY,		/* for what the peer mapped, or for a note */
	RSOCK_MIB_LINGERTIMEOUTS,	/* closed socket's data did not arrive */
	RSOCK_MIB_KEEPTIMEOUTS,		/* peer did not answer probes */
	RSOCK_MIB_USERTIMEOUTS,		/* TCP_USER_TIMEOUT is over */
	RSOCK_MIB_REVOKETIMEOUTS,	/* peer did not confirm that it unmaps */
	RSOCK_MIB_REGISTERTIMEOUTS,	/* a registration did not complete */
	RSOCK_MIB_INPLACETIMEOUTS,	/* nor did what a caller cannot wait for */

	/* Mappings */
	RSOCK_MIB_IOMAPS,		/* made */
	RSOCK_MIB_IOMAPOVERLAPS,	/* not made: the offsets are in use */
	RSOCK_MIB_IOMAPFULL,		/* no slot of the peer's table, or too many */
	RSOCK_MIB_IOMAPFILES,		/* memory of a file */
	RSOCK_MIB_IOMAPBADMEMORY,	/* not the caller's, or not writable */
	RSOCK_MIB_IOMAPNOMEMORY,	/* a limit, or nothing left of the device */
	RSOCK_MIB_IOMAPTIMEOUTS,	/* the peer acknowledges nothing */
	RSOCK_MIB_UNMAPSPLAIN,		/* taken back from one that cannot confirm */

	/* Messages */
	RSOCK_MIB_INPLACE,		/* sent from the caller's pages */
	RSOCK_MIB_ZEROCOPYCOPIED,	/* a call with MSG_ZEROCOPY copied */
	RSOCK_MIB_SENDNOMEMORY,		/* a call waited for memory */
	RSOCK_MIB_WRITESNOTARGET,	/* placement refused: nothing mapped there */
	RSOCK_MIB_WRITESLOST,		/* queued one dropped: unmapped meanwhile */

	RSOCK_MIB_FAULTS,		/* + enum rsock_fault: protocol faults */
	__RSOCK_MIB_MAX = RSOCK_MIB_FAULTS + __RSOCK_FAULT_MAX
};

struct rsock_stats {
	unsigned long mibs[__RSOCK_MIB_MAX];
};

const char *rsock_mib_name(enum rsock_mib mib);
int rsock_stat_show(struct seq_file *seq, void *v);

#endif /* _RSOCK_MIB_H */
