#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# NFS over AF_RSOCK, at length: trees, archives, git, fio, and what must not
# lose data or hang: a server that restarts, a wire that is cut, a server that
# stays away, a client that is killed.
#
# Guest: m=2048 t=900
# Kernels: all
# When: full
# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/topo.sh
. "$(dirname "$0")/topo.sh"
# shellcheck source=selftests/nfs_lib.sh
. "$(dirname "$0")/nfs_lib.sh"

for program in mount.nfs exportfs fio git; do
	command -v $program >/dev/null || {
		skip "NFS" "no $program here (tools/vm/setup nfs)"
		finish
	}
done

# What is copied: sources, some hundred files.
SOURCES=(net selftests tools Documentation)

sums() { # DIR
	(cd "$1" && find . -type f -print0 | sort -z | xargs -0 sha256sum)
}

same_tree() { # DIR DIR
	diff <(sums "$1") <(sums "$2") && [ "$(sums "$1" | wc -l)" -gt 100 ]
}

# From the server, not from the cache
afresh() { # NAME VERSION
	nfs_umount "$1" && nfs_mount "$1" "$2"
}

tree_copied() { # NAME VERSION
	local at=$MNT/$1
	rm -rf "$EXPORT/in" /run/out
	mkdir "$at/in" && (cd "$TREE" && cp -r "${SOURCES[@]}" "$at/in") && afresh "$1" "$2" &&
		cp -r "$at/in" /run/out && same_tree "$EXPORT/in" /run/out
}

archived() { # NAME VERSION
	local at=$MNT/$1
	tar -C "$at/in" -cf "$at/in.tar" . && mkdir "$at/untarred" && tar -C "$at/untarred" -xf "$at/in.tar" &&
		afresh "$1" "$2" && same_tree "$EXPORT/in" "$at/untarred" && rm -r "$at/untarred" "$at/in.tar"
}

cloned() { # NAME VERSION
	local at=$MNT/$1 git=(git -c user.name=n -c user.email=e -c core.fsync=all)
	export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0='*'
	"${git[@]}" init -q "$at/in" && "${git[@]}" -C "$at/in" add . &&
		"${git[@]}" -C "$at/in" commit -qm all && "${git[@]}" clone -q "$at/in" "$at/clone" &&
		afresh "$1" "$2" && "${git[@]}" -C "$at/clone" fsck --full && rm -rf "$at/in/.git" "$at/clone/.git" &&
		same_tree "$at/in" "$at/clone" && rm -r "$at/clone"
}

verified() { # NAME FIO-OPTION...
	local at=$MNT/$1
	shift
	timeout "$LIMIT" fio --name=verify --directory="$at" --size=8m --bsrange=512-128k --rw=randrw \
		--verify=crc32c --verify_fatal=1 --numjobs=3 --group_reporting --output="$OUT/fio" "$@" ||
		{ cat "$OUT/fio" && false; }
	rm -f "$at"/verify.*
}

nfs_begin

# --- what the documentation says -----------------------------------------------------

server_stop
exportfs -ua
mkdir -p /srv/nfs
mount -t tmpfs export /srv/nfs
ln -sf "$(command -v mount.nfs)" "$(command -v umount.nfs)" /sbin/
check "the recipe for the server" recipe "On the server"
check "the recipe for the client" recipe "On the client"
check "rpc.nfsd 0" rpc.nfsd 0
exportfs -ua
nfs_export
check "back to our own server" server_start

# --- files, for both versions ----------------------------------------------------------

for version in 4.2 3; do
	name=v${version%.*}
	check "NFSv$version: mount" nfs_mount "$name" $version
	check "NFSv$version: a tree in and out" tree_copied "$name" $version
	check "NFSv$version: tar and untar" archived "$name" $version
	check "NFSv$version: git: init, commit, clone, fsck" cloned "$name" $version
	check "NFSv$version: fio, buffered" verified "$name"
	check "NFSv$version: fio, direct" verified "$name" --direct=1 --bsrange=4k-128k
	check "NFSv$version: fio, by mmap" verified "$name" --ioengine=mmap
	check "NFSv$version: random work" "$PROGRAMS/nfs_file" -n 3000 -s 7 -l 3000000 "$MNT/$name/file"
done

# --- a server that restarts ------------------------------------------------------------

restart() {
	server_stop && sleep 1 && server_start
}

busy_begin v4 v3
check "the server restarts" restart
busy_end "nothing lost by a restart" lost

# --- a wire that is cut ------------------------------------------------------------------

modprobe -q sch_netem
if tc qdisc add dev "$ANET" root netem loss 0% 2>/dev/null; then
	busy_begin v4 v3
	tc qdisc change dev "$ANET" root netem loss 100%
	sleep 12
	tc qdisc del dev "$ANET" root
	busy_end "nothing lost by a cut"
else
	skip "nothing lost by a cut" "no netem here"
fi

# --- the server's device goes away -----------------------------------------------------------

busy_begin v4 v3
check "the server's device goes away" rdma link del "$BDEV"
check "and comes back" rdma link add "$BDEV" type "$RDMA_DRIVER" netdev "$BNET"
busywait 5 gid_known "$BDEV" "$B4"
busy_end "nothing lost by that" lost

# --- a server that stays away ------------------------------------------------------------------

stuck() { # PID: it waits for the server
	! gone "$1" && sleep 2 && ! gone "$1"
}

for name in v4 v3; do
	server_stop
	background dd if=/dev/zero of="$MNT/$name/never" bs=64k count=16 conv=fsync status=none
	pid=$!
	check "$name: a program waits for the server" stuck $pid
	kill -9 $pid
	check "$name: and can be killed" busywait 20 gone $pid
	background dd if=/dev/zero of="$MNT/$name/never" bs=64k count=16 conv=fsync status=none 2>"$OUT/never"
	pid=$!
	stuck $pid
	check "$name: umount -f ends its calls" busywait 60 eval "umount -f '$MNT/$name' || gone $pid"
	kill -9 $pid 2>/dev/null
	check "$name: unmounted" busywait 60 eval "! mountpoint -q '$MNT/$name' || umount -f '$MNT/$name'"
	server_start
done

check "NFSv4.2 mounts again" nfs_mount v4 4.2
check "and works" "$PROGRAMS/nfs_file" -n 100 "$MNT/v4/file"
check "and is unmounted" nfs_umount v4
nfs_end
