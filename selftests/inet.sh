#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# IPPROTO_RSOCK of AF_INET and AF_INET6: the same sockets by another name.
#
# Guest: m=1536 t=600
# Kernels: all
# When: 6.1
# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/topo.sh
. "$(dirname "$0")/topo.sh"
# shellcheck source=selftests/sock_lib.sh
. "$(dirname "$0")/sock_lib.sh"

load_rsock
topo_wire
sock_env
RSOCK_TEST_FAMILY=inet run_check sock_api_test
RSOCK_TEST_FAMILY=inet CK_RUN_CASE=options run_check opt_test
check "many connections" env RSOCK_TEST_FAMILY=inet "$PROGRAMS/conn_stress" -n 50 -m 50
topo_down
unload_rsock
finish
