#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What make demo has its guest do, with the file that it sends if it is told of none.
#
# Guest: m=1024 t=240
# When: 6.12
# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/lib.sh"

cd "$TREE" || exit 1
unset FILE
check "make demo: each copy is what was sent, by RDMA where it says so" tools/demo --inside
unload_rsock
finish
