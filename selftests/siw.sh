#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# AF_RSOCK over iWARP (soft-iWARP), where messages are sent: the tests of the
# stream, of its ends and of placement, peers that lie in such messages, and
# that nothing is left of many connections. A debug kernel runs a part of each
# program, unless there is time (FULL=1).
#
# Guest: m=1536 t=600
# Kernels: uml
# When: full
# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/lib.sh"
export RDMA_DRIVER=siw
# shellcheck source=selftests/topo.sh
. "$(dirname "$0")/topo.sh"
# shellcheck source=selftests/sock_lib.sh
. "$(dirname "$0")/sock_lib.sh"

# Programs, with the case of libcheck if it is only one
PROGRAMS_RUN=(stream_test close_test poll_test iomap_test zerocopy_test hostile_test)
if is_debug && [ -z "${FULL:-}" ]; then
	PROGRAMS_RUN=(stream_test:calls close_test:close iomap_test:placing zerocopy_test:blocking
		hostile_test:lies)
fi

load_rsock
topo_wire
sock_env
for run in ${SIW_RUN:-"${PROGRAMS_RUN[@]}"}; do
	case $run in
	*:*) CK_RUN_CASE=${run#*:} run_check "${run%:*}" ;;
	*) run_check "$run" ;;
	esac
done
stress "50 connections open at once" -n 50 -m 0
stress "100 connections, one at a time" -n 0 -m 100 -p 1 -b 10
stress "IPv6" -6 -n 10 -m 20
nothing_left
topo_down
unload_rsock
finish
