#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Two hosts with different kernels: streams and placement, also on a wire that
# loses packets. What takes longer is in pair_netem.sh and pair_lost.sh.
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
pair_down
finish
