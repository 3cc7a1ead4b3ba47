#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# riostream of user-space rsockets against AF_RSOCK over iWARP (soft-iWARP):
# placement, and messages that are sent; each with either implementation at
# either end (interop_lib.sh). Of rsockets' programs it is the one that works
# over soft-iWARP.
#
# Guest: m=1536 t=300
# Kernels: plain
# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/lib.sh"
export RDMA_DRIVER=siw
# shellcheck source=selftests/topo.sh
. "$(dirname "$0")/topo.sh"
# shellcheck source=selftests/interop_lib.sh
. "$(dirname "$0")/interop_lib.sh"

load_rsock
topo_wire
# Calls that block do not return with rsockets at both ends over soft-iWARP: so
# they are AF_RSOCK's alone. With those that do not block, first the program and
# the devices, before anything is told of AF_RSOCK by them.
riostream_matrix kernel kernel
PLACE_CASES=("-S 64 -C 30 -I 3" "-S 4096 -C 30 -I 3" "-S 65537 -C 10 -I 2" "-S 1000000 -C 3 -I 2")
for ends in "user user" "user kernel" "kernel user"; do
	# shellcheck disable=SC2086
	riostream_matrix $ends
done
interop_end
