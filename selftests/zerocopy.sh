#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Sending in place: MSG_ZEROCOPY, large blocking calls, and notes of writes.
#
# Guest: m=1536 t=600
# Kernels: all
# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/topo.sh
. "$(dirname "$0")/topo.sh"
# shellcheck source=selftests/sock_lib.sh
. "$(dirname "$0")/sock_lib.sh"

run_everywhere zerocopy_test
