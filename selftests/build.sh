#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Static checks: the module builds in silence with W=1 and sparse for both
# stock kernels, and the sources follow the kernel's style.
#
# Kernels: host
# Guest: t=1200
# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/lib.sh"

# A full build in a folder of its own: only that shows every warning.
silent_build() { # KVER
	local log status
	rm -rf "$TREE/build/static-$1"
	log=$(KVER='' tools/build -o "build/static-$1" "$1" C=1 CF=-D__CHECK_ENDIAN__ 2>&1)
	status=$?
	echo "$log"
	[ "$status" = 0 ] && [ -z "$log" ]
}

cd "$TREE" || exit 1
for kver in 6.1 6.12; do
	check "W=1 and sparse are silent for $kver" silent_build $kver
done
check "checkpatch is silent" tools/checkpatch
check "shellcheck is silent" tools/shellcheck
finish
