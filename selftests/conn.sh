#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Many connections: at once, and one after the other. Nothing of them is left
# afterwards: no QP, no cm_id, no module reference. FULL=1 is 10,000 connections
# one after the other.
#
# Guest: m=2048 t=900
# Kernels: all
# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/topo.sh
. "$(dirname "$0")/topo.sh"
# shellcheck source=selftests/sock_lib.sh
. "$(dirname "$0")/sock_lib.sh"

# What says that nothing is left is worth something only if it sees a connection.
seen_while_held() {
	local ready=$OUT/ready
	rm -f "$ready"
	background "$PROGRAMS/conn_stress" --hold 1 --ready "$ready" >"$OUT/hold.log" 2>&1
	busywait 60 test -e "$ready" || note "$(cat "$OUT/hold.log")"
	check_fails "a QP is seen while there is one" no_qps
	check_fails "a cm_id is seen while there is one" no_cm_ids
	stop "${PIDS[-1]}"
	nothing_left
}

open=1000 cycles=1000
is_debug && open=150 cycles=150
[ -z "${FULL:-}" ] || cycles=10000

load_rsock
topo_wire
sock_env
seen_while_held
stress "$open connections open at once" -n $open -m 0
stress "$cycles connections, one at a time" -n 0 -m $cycles -p 1 -b 100
stress "$cycles connections, 16 at a time" -n 0 -m $cycles -p 16 -b 5000
stress "IPv6" -6 -n 20 -m 50
nothing_left
topo_down
topo_self
sock_env
stress "a device that talks to itself" -n 100 -m 100
nothing_left
topo_down
unload_rsock
finish
