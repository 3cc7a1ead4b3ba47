#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A device goes away under sockets that are in use: the removal ends soon,
# every call that blocks returns, mappings are undone, the sockets live on as
# sockets, and new connections work once there is a device again.
#
# Guest: m=1536 t=600
# Kernels: all
# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/topo.sh
. "$(dirname "$0")/topo.sh"
# shellcheck source=selftests/sock_lib.sh
. "$(dirname "$0")/sock_lib.sh"

LIMIT=180

# hold PROGRAM [OPTIONS]: it makes a file when all is held, which is added
declare -A HOLDER
hold() {
	local name=$1
	shift
	rm -f "$OUT/$name.ready"
	background timeout $((LIMIT * 3)) "$PROGRAMS/$name" "$@" "$OUT/$name.ready" \
		>"$OUT/$name.log" 2>&1
	HOLDER[$name]=$!
	busywait $LIMIT test -e "$OUT/$name.ready" && return
	note "$(cat "$OUT/$name.log")"
	stop "${HOLDER[$name]}"
	return 1
}

# held PROGRAM RESULT: it ends, and well
held() {
	local status
	wait "${HOLDER[$1]}"
	status=$?
	note "$(sort "$OUT/$1.log" | uniq -c)"
	result $status "$2"
}

# rdma_cm, which is told after us, has no id any more that it would have to tell
none_is_left() {
	grep -q cm_id_destroy "$OUT/trace" && ! grep DEVICE_REMOVAL "$OUT/trace"
}

# removal NAME COMMAND...: under sockets whose calls block, and mappings.
removal() {
	local name=$1
	shift
	hold conn_stress --hold "${HELD:-18}" --ready && hold iomap_hold || {
		not_ok "$name: sockets are held"
		return
	}
	traces rdma_cma on
	check "$name: in bounded time" timeout $LIMIT "$@"
	traces rdma_cma off
	check "$name: nothing is left to rdma_cm" none_is_left
	held conn_stress "$name: every call returns"
	held iomap_hold "$name: mappings are gone, and memory is not"
}

works() {
	"$PROGRAMS/conn_stress" -n 5 -m 20 -p 2
}

load_rsock
# A removal that waited for connections to end by themselves would be late
sysctl -qw net.rsock.fin_timeout=$((LIMIT * 10))
for device in A B; do
	topo_wire
	sock_env
	check "connections work, round $device" works
	[ $device = A ] && rdma=$ADEV net=$ANET || rdma=$BDEV net=$BNET
	removal "rdma link del $rdma" rdma link del "$rdma"
	check "device comes back" rdma link add "$rdma" type "$RDMA_DRIVER" netdev "$net"
	busywait 30 gid_known rdma0 "$A4"
	busywait 30 gid_known rdma1 "$B4"
	check "connections work again" works
	topo_down
done

topo_self
sock_env
removal "the only device is removed" rdma link del "$ADEV"
topo_down

topo_self
sock_env
removal "its network device is removed" ip link del "$ANET"
topo_down

unload_rsock
finish
