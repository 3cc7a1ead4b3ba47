#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Users in the kernel: the calls of sockets, and direct placement by those of
# include/net/rsock.h, from a module; and namespaces that go with their sockets.
#
# Guest: m=1024 t=150
# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/topo.sh
. "$(dirname "$0")/topo.sh"
# shellcheck source=selftests/sock_lib.sh
. "$(dirname "$0")/sock_lib.sh"

MODULE=$BUILD/net/rsock/rsock_kernel_test.ko

# When a namespace goes, so does the veth pair with an end in it.
namespace_goes() {
	ip netns add gone && ip link add gone0 type veth peer gone1 netns gone &&
		ip netns exec gone sh -c 'echo 1 >/sys/module/rsock_kernel_test/parameters/namespace' &&
		ip netns del gone && busywait 20 no_gone0
}

no_gone0() {
	! ip link show gone0 >/dev/null 2>&1
}

load_rsock
topo_self
before=$(wc -l < <(dmesg)) inplace=$(stat_of InPlace)
check "load the module" insmod "$MODULE" addr="$A4" family="$(cat /sys/module/rsock/parameters/family)"
log=$(dmesg | tail -n +$((before + 1)) | sed -n 's/.*rsock_kernel_test: //p')
take_over kernel <<<"$log"
planned=$(sed -n 's/^1\.\.//p' <<<"$log")
check "all tests ran" [ "$(grep -c '^\(not \)\?ok ' <<<"$log")" = "${planned:-none}" ]
check "pages were sent in place" [ "$(stat_of InPlace)" -gt "$inplace" ]
check "what could not be was counted" [ "$(stat_of ZerocopyCopied)" = 1 ]
check "a namespace in which the kernel listened goes" namespace_goes
check "unload the module" rmmod rsock_kernel_test
unload_rsock
finish
