#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Direct data placement to a mapping of more than 2 GiB.
#
# Guest: m=4608 t=600
# Kernels: stock
# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/topo.sh
. "$(dirname "$0")/topo.sh"
# shellcheck source=selftests/sock_lib.sh
. "$(dirname "$0")/sock_lib.sh"

TOPO=wire run_everywhere iomap_big_test
