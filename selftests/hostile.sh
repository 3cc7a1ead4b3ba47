#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A peer that lies, overruns, falls silent or disappears.
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

TOPO=wire run_everywhere hostile_test
