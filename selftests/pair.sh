#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Two hosts with different kernels, on a wire that loses packets, goes down, or
# ends: streams and placement, and that the host that remains is told.
#
# Guest: m=1024 t=240 n=2
# Kernels: stock
# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/topo.sh
. "$(dirname "$0")/topo.sh"
# shellcheck source=selftests/sock_lib.sh
. "$(dirname "$0")/sock_lib.sh"
# shellcheck source=selftests/pair_lib.sh
. "$(dirname "$0")/pair_lib.sh"

pair_up
note "$(uname -r) to $(peer uname -r)"
moves "a stream, no loss" stream 4 16
moves "placement, no loss" place 4 8
netem loss 1%
moves "a stream, 1 % loss" stream 6 16
moves "placement, 1 % loss" place 6 8
netem
silence "the wire is cut for a while"
goes_down "this end goes down and up" here
goes_down "that end goes down and up" peer
lost "the wire is cut, and mended when all is lost" peer "netem loss 100%" netem
lost "the other host vanishes" self peer_vanishes :
topo_down
unload_rsock
finish
