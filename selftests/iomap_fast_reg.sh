#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Direct data placement with a device whose driver does not register user memory
# for the kernel: it is pinned and fast-registered.
#
# Guest: m=1536 t=400
# Kernels: stock
# When: 6.12
# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/topo.sh
. "$(dirname "$0")/topo.sh"
# shellcheck source=selftests/sock_lib.sh
. "$(dirname "$0")/sock_lib.sh"

TOPO=wire run_everywhere iomap_test fast_reg_user=1
