# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# For the scripts that run the socket tests; source it after topo.sh.

# Stock kernels run under emulation, debug kernels check everything.
if is_debug; then
	export CK_TIMEOUT_MULTIPLIER=${CK_TIMEOUT_MULTIPLIER:-10}
else
	export CK_TIMEOUT_MULTIPLIER=${CK_TIMEOUT_MULTIPLIER:-4}
fi

# Tell the programs about the topology that is up.
sock_env() {
	export RSOCK_TEST_FAMILY=${FAMILY:-22}
	export RSOCK_SERVER4=$B4 RSOCK_CLIENT4=$A4
	export RSOCK_SERVER6=$B6 RSOCK_CLIENT6=$A6
	export RSOCK_SERVER_DEV=$BNET RSOCK_CLIENT_DEV=$ANET
	# Link-local addresses of two ends in one kernel do not take the wire.
	if [ "$A4" = "$B4" ]; then
		export RSOCK_LL6=$BLL
	else
		unset RSOCK_LL6
	fi
}

# io_uring_disabled VALUE: Linux 6.1 does not know it
io_uring_disabled() {
	local file=/proc/sys/kernel/io_uring_disabled
	[ -e $file ] || return 0
	on_exit "echo $(cat $file) >$file"
	echo "$1" >$file
}

# KASAN keeps notes in free memory, which includes what io_uring of Linux 6.12
# has in its caches and expects to find unchanged: that ends in a panic.
allow_io_uring() {
	io_uring_disabled "$(is_debug && echo 2 || echo 0)"
}

# stress NAME ARGS: what the program prints is worth seeing.
stress() {
	local name=$1 status
	shift
	"$PROGRAMS/conn_stress" "$@" 2>&1 | sed 's/^/# /'
	status=${PIPESTATUS[0]}
	result "$status" "$name"
}

# QP 1 of a device is there for ever, for the connection manager.
no_qps() {
	! rdma resource show qp | grep -v 'type GSI\|type SMI' | grep -q 'lqpn'
}

no_cm_ids() {
	! rdma resource show cm_id | grep -q 'cm-idn'
}

nothing_left() {
	check "no QP is left" busywait 70 no_qps
	check "no cm_id is left" busywait 70 no_cm_ids
}

# run_everywhere PROGRAM [module parameters]: over the wire, and with a device that talks to
# itself, which a debug kernel leaves out unless there is time (FULL=1);
# TOPO=wire or TOPO=self for only one of them.
run_everywhere() {
	local program=$1 topo topologies=${TOPO:-wire self}
	shift
	is_debug && [ -z "${TOPO:-}${FULL:-}" ] && topologies=wire
	load_rsock "$@"
	for topo in $topologies; do
		note "topology: $topo"
		"topo_$topo"
		sock_env
		run_check "$program"
		topo_down
	done
	unload_rsock
	finish
}
