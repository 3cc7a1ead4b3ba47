#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Peers that vanish, or do not read: keepalive and the user timeout, also of
# TCP over the same wire.
#
# Guest: m=1024 t=300
# Kernels: stock
# When: 6.12
# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/topo.sh
. "$(dirname "$0")/topo.sh"
# shellcheck source=selftests/sock_lib.sh
. "$(dirname "$0")/sock_lib.sh"

load_rsock
topo_wire
sock_env
modprobe -q sch_netem
export RSOCK_CUT="tc qdisc add dev $ANET root netem loss 100%"
# More than the half second that soft-RoCE waits for an acknowledgment
export RSOCK_SLOW="tc qdisc add dev $ANET root netem delay 700ms"
export RSOCK_MEND="tc qdisc del dev $ANET root"
export RSOCK_CUT_BACK="tc qdisc add dev $BNET root netem loss 100%"
export RSOCK_MEND_BACK="tc qdisc del dev $BNET root"
run_check vanish_test
tc qdisc del dev "$ANET" root 2>/dev/null
is_debug || RSOCK_TEST_FAMILY=tcp run_check vanish_test
topo_down
unload_rsock
finish
