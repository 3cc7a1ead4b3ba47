#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Readiness: poll, select, epoll, SIGIO.
#
# Guest: m=1536 t=600
# Kernels: all
# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/topo.sh
. "$(dirname "$0")/topo.sh"
# shellcheck source=selftests/sock_lib.sh
. "$(dirname "$0")/sock_lib.sh"

# 2.5 MB/s: what is sent arrives by and by.
on_slow_wire() {
	topo_wire
	sock_env
	modprobe -q sch_netem
	check "a slow wire" tc qdisc add dev "$ANET" root netem rate 20mbit
	CK_RUN_CASE=slow run_check "$1"
	topo_down
}

load_rsock
on_slow_wire poll_test
unload_rsock
run_everywhere poll_test
