#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Two hosts with different kernels, on a wire that is silent for a while, goes
# down, or ends, and a host that vanishes: who remains is told.
#
# Guest: m=1024 t=300 n=2
# Kernels: stock
# When: full
# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/topo.sh
. "$(dirname "$0")/topo.sh"
# shellcheck source=selftests/sock_lib.sh
. "$(dirname "$0")/sock_lib.sh"
# shellcheck source=selftests/pair_lib.sh
. "$(dirname "$0")/pair_lib.sh"

pair_up
silence "the wire is cut for a while"
goes_down "this end goes down and up" here
goes_down "that end goes down and up" peer
lost "the wire is cut, and mended when all is lost" peer "netem loss 100%" netem
lost "the other host vanishes" self peer_vanishes :
topo_down
unload_rsock
finish
