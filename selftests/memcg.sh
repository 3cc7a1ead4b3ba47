#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Memory cgroups are charged for the rings of their processes' connections.
#
# Guest: m=1024 t=120
# Kernels: all
# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/topo.sh
. "$(dirname "$0")/topo.sh"

make_cgroup() {
	mkdir -p "$ROOT" && mount -t cgroup2 none "$ROOT" &&
		echo +memory >"$ROOT/cgroup.subtree_control" && mkdir "$ROOT/rsock"
}

ROOT=/run/cgroup
load_rsock
topo_self
on_exit "rmdir $ROOT/rsock; umount $ROOT"
check "a memory cgroup" make_cgroup
python3 "$TREE/selftests/memcg.py" "$ROOT/rsock" "$A4" >"$OUT/memcg" 2>&1
status=$?
[ $status = 0 ] || note "$(cat "$OUT/memcg")"
take_over memcg <"$OUT/memcg"
result $status "memcg.py"
topo_down
unload_rsock
finish
