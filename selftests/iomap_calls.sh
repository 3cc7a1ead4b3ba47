#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Direct data placement by sendfile(), splice() and io_uring.
#
# Guest: m=1536 t=300
# Kernels: all
# When: 6.1
# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/topo.sh
. "$(dirname "$0")/topo.sh"
# shellcheck source=selftests/sock_lib.sh
. "$(dirname "$0")/sock_lib.sh"

allow_io_uring
"$PROGRAMS/iomap_calls_test" --has-uring || skip "io_uring" "not on this kernel"
run_everywhere iomap_calls_test
