#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The KUnit suites of rsock_test.ko, which Debian's kernels cannot load.
#
# Kernels: debug
# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/lib.sh"

check "load rsock_test.ko" insmod "$BUILD/net/rsock/rsock_test.ko"
# A suite's results are KTAP, indented: "    ok 1 case" above "ok 1 suite".
for suite in /sys/kernel/debug/kunit/*/; do
	take_over "$(basename "$suite")" < <(grep '^ ' "$suite/results")
done
[ $TAP_COUNT -gt 1 ] || not_ok "there are no suites"
check "unload rsock_test.ko" rmmod rsock_test
finish
