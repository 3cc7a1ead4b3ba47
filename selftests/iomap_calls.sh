#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Direct data placement by sendfile(), splice() and io_uring.
#
# Guest: m=1536 t=300
# Kernels: all
# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/topo.sh
. "$(dirname "$0")/topo.sh"
# shellcheck source=selftests/sock_lib.sh
. "$(dirname "$0")/sock_lib.sh"

# io_uring_disabled VALUE: Linux 6.1 does not know it
io_uring_disabled() {
	local file=/proc/sys/kernel/io_uring_disabled
	[ -e $file ] || return 0
	on_exit "echo $(cat $file) >$file"
	echo "$1" >$file
}

# KASAN keeps notes in free memory, which includes what io_uring of Linux 6.12
# has in its caches and expects to find unchanged: that ends in a panic.
io_uring_disabled "$(is_debug && echo 2 || echo 0)"
"$PROGRAMS/iomap_calls_test" --has-uring || skip "io_uring" "not on this kernel"
run_everywhere iomap_calls_test
