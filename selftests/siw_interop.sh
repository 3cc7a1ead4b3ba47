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
# The program and the devices, before anything is told of AF_RSOCK by them
for ends in "user user" "kernel kernel" "user kernel" "kernel user"; do
	# shellcheck disable=SC2086
	riostream_matrix $ends
done
interop_end
