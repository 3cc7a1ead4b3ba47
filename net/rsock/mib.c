// SPDX-License-Identifier: GPL-2.0
/*
 * Counters: their names, and /proc/net/rsock_stat.
 */

#include "mib.h"

#include <linux/seq_file.h>

#include "pernet.h"

/* Without a name are those that count nothing */
static const char * const rsock_mib_names[__RSOCK_MIB_MAX] = {
	[RSOCK_MIB_ACTIVEOPENS]		= "ActiveOpens",
	[RSOCK_MIB_PASSIVEOPENS]	= "PassiveOpens",
	[RSOCK_MIB_ATTEMPTFAILS]	= "AttemptFails",
	[RSOCK_MIB_PASSIVEFAILS]	= "PassiveFails",
	[RSOCK_MIB_RESETS]		= "Resets",
	[RSOCK_MIB_LISTENOVERFLOWS]	= "ListenOverflows",
	[RSOCK_MIB_LISTENNOMEMORY]	= "ListenNoMemory",
	[RSOCK_MIB_LISTENOTHERDEVICE]	= "ListenOtherDevice",
	[RSOCK_MIB_NOROUTE]		= "NoRoute",
	[RSOCK_MIB_NODEVICE]		= "NoDevice",
	[RSOCK_MIB_NOHOST]		= "NoHost",
	[RSOCK_MIB_REFUSED]		= "Refused",
	[RSOCK_MIB_NOANSWER]		= "NoAnswer",
	[RSOCK_MIB_MAXCONNECTIONS]	= "MaxConnections",
	[RSOCK_MIB_SETUPFAILS]		= "SetupFails",
	[RSOCK_MIB_ABORTS]		= "Aborts",
	[RSOCK_MIB_PEERRESETS]		= "PeerResets",
	[RSOCK_MIB_PEERCLOSES]		= "PeerCloses",
	[RSOCK_MIB_PEERREFUSES]		= "PeerRefuses",
	[RSOCK_MIB_PEERSILENT]		= "PeerSilent",
	[RSOCK_MIB_ACCESSERRORS]	= "AccessErrors",
	[RSOCK_MIB_DEVICEERRORS]	= "DeviceErrors",
	[RSOCK_MIB_DEVICEREMOVALS]	= "DeviceRemovals",
	[RSOCK_MIB_NOMEMORY]		= "NoMemory",
	[RSOCK_MIB_LINGERTIMEOUTS]	= "LingerTimeouts",
	[RSOCK_MIB_KEEPTIMEOUTS]	= "KeepTimeouts",
	[RSOCK_MIB_USERTIMEOUTS]	= "UserTimeouts",
	[RSOCK_MIB_REVOKETIMEOUTS]	= "RevokeTimeouts",
	[RSOCK_MIB_REGISTERTIMEOUTS]	= "RegisterTimeouts",
	[RSOCK_MIB_INPLACETIMEOUTS]	= "InPlaceTimeouts",
	[RSOCK_MIB_IOMAPS]		= "Iomaps",
	[RSOCK_MIB_IOMAPOVERLAPS]	= "IomapOverlaps",
	[RSOCK_MIB_IOMAPFULL]		= "IomapFull",
	[RSOCK_MIB_IOMAPFILES]		= "IomapFiles",
	[RSOCK_MIB_IOMAPBADMEMORY]	= "IomapBadMemory",
	[RSOCK_MIB_IOMAPNOMEMORY]	= "IomapNoMemory",
	[RSOCK_MIB_IOMAPTIMEOUTS]	= "IomapTimeouts",
	[RSOCK_MIB_UNMAPSPLAIN]		= "UnmapsPlain",
	[RSOCK_MIB_INPLACE]		= "InPlace",
	[RSOCK_MIB_ZEROCOPYCOPIED]	= "ZerocopyCopied",
	[RSOCK_MIB_SENDNOMEMORY]	= "SendNoMemory",
	[RSOCK_MIB_WRITESNOTARGET]	= "WritesNoTarget",
	[RSOCK_MIB_WRITESLOST]		= "WritesLost",
	[RSOCK_MIB_FAULTS + RSOCK_FAULT_CONN_SHORT]	= "FaultConnShort",
	[RSOCK_MIB_FAULTS + RSOCK_FAULT_CONN_VERSION]	= "FaultConnVersion",
	[RSOCK_MIB_FAULTS + RSOCK_FAULT_CONN_SGL]	= "FaultConnSgl",
	[RSOCK_MIB_FAULTS + RSOCK_FAULT_CONN_BUF]	= "FaultConnBuf",
	[RSOCK_MIB_FAULTS + RSOCK_FAULT_OPCODE]		= "FaultOpcode",
	[RSOCK_MIB_FAULTS + RSOCK_FAULT_OP]		= "FaultOp",
	[RSOCK_MIB_FAULTS + RSOCK_FAULT_LENGTH]		= "FaultLength",
	[RSOCK_MIB_FAULTS + RSOCK_FAULT_OVERRUN]	= "FaultOverrun",
	[RSOCK_MIB_FAULTS + RSOCK_FAULT_FLOOD]		= "FaultFlood",
	[RSOCK_MIB_FAULTS + RSOCK_FAULT_CREDIT]		= "FaultCredit",
	[RSOCK_MIB_FAULTS + RSOCK_FAULT_SGE]		= "FaultSge",
	[RSOCK_MIB_FAULTS + RSOCK_FAULT_GRANT]		= "FaultGrant",
	[RSOCK_MIB_FAULTS + RSOCK_FAULT_IOMAP]		= "FaultIomap",
	[RSOCK_MIB_FAULTS + RSOCK_FAULT_REVOKED]	= "FaultRevoked",
	[RSOCK_MIB_FAULTS + RSOCK_FAULT_NOTE]		= "FaultNote",
};

/* What a counter is called, "" if it counts nothing */
const char *rsock_mib_name(enum rsock_mib mib)
{
	return rsock_mib_names[mib] ?: "";
}

/* Two lines, names and values: the format that nstat(8) reads */
int rsock_stat_show(struct seq_file *seq, void *v)
{
	struct rsock_net *rn = rsock_net(seq->private);
	int i;

	seq_puts(seq, "Rsock:");
	for (i = 0; i < __RSOCK_MIB_MAX; i++)
		if (rsock_mib_names[i])
			seq_printf(seq, " %s", rsock_mib_names[i]);
	seq_puts(seq, "\nRsock:");
	for (i = 0; i < __RSOCK_MIB_MAX; i++)
		if (rsock_mib_names[i])
			seq_printf(seq, " %lu",
				   snmp_fold_field(rn->stats, i));
	seq_putc(seq, '\n');
	return 0;
}
