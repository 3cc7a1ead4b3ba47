#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The socket tests with TCP over loopback: TCP passes all of them, so they
# test for what programs are used to.
#
# Kernels: host
# Guest: t=600
# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/lib.sh"

export RSOCK_TEST_FAMILY=tcp
for program in sock_api_test stream_test close_test poll_test opt_test zerocopy_test; do
	run_check $program
done
# With itself, so that its cases are known to be the same each time
run_check matrix_test
check "conn_stress" "$PROGRAMS/conn_stress" -n 200 -m 500
finish
