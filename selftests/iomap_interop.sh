#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Direct data placement between user-space rsockets and AF_RSOCK: one program
# of rsockets, iomap_interop, at both ends (interop_lib.sh).
#
# Guest: m=1536 t=600
# Kernels: stock
# When: 6.12
# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/topo.sh
. "$(dirname "$0")/topo.sh"
# shellcheck source=selftests/sock_lib.sh
. "$(dirname "$0")/sock_lib.sh"
# shellcheck source=selftests/interop_lib.sh
. "$(dirname "$0")/interop_lib.sh"

PORT=7600

meet() { # SERVER-KIND CLIENT-KIND SERVER CLIENT
	local pid status program=$PROGRAMS/iomap_interop
	PORT=$((PORT + 1))
	background as "$1" timeout 150 "$program" "$3" $PORT >"$OUT/server.log" 2>&1
	pid=$!
	busywait 60 rdma_listening $PORT || note "the server does not listen"
	(as "$2" timeout 150 "$program" "$3" $PORT "$4") >"$OUT/client.log" 2>&1
	status=$?
	wait $pid
	status=$((status + $?))
	[ $status = 0 ] || note "$(tail -n 3 "$OUT/server.log" "$OUT/client.log")"
	result $status "$3: $1 server, $2 client"
}

load_rsock
topo_wire 9000
sock_env
# The program itself, before anything is told of AF_RSOCK by it
meet user user "$B4" "$A4"
meet kernel kernel "$B4" "$A4"
check "AF_RSOCK sockets ask each other" [ "$(stat_of UnmapsPlain)" = 0 ]
for ends in "user kernel" "kernel user"; do
	# shellcheck disable=SC2086
	meet $ends "$B4" "$A4"
	# shellcheck disable=SC2086
	meet $ends "$B6" "$A6"
done
check "memory was mapped by the kernel" [ "$(stat_of Iomaps)" -gt 10 ]
check "and unmapped towards rsockets" [ "$(stat_of UnmapsPlain)" -gt 10 ]
check "no fault was counted" no_faults
topo_down
unload_rsock
finish
