#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Data through AF_RSOCK: sizes, calls, flags, signals, long streams.
#
# Guest: m=1536 t=1200
# Kernels: all
# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/topo.sh
. "$(dirname "$0")/topo.sh"
# shellcheck source=selftests/sock_lib.sh
. "$(dirname "$0")/sock_lib.sh"

run_everywhere stream_test
