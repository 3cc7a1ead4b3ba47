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

for program in mount.nfs exportfs fio git stress-ng dbench; do
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

# Debian has neither fsx nor fsstress, see Documentation/nfs.rst
stressed() { # NAME
	# Some end long after that
	timeout $((LIMIT * 3)) stress-ng --temp-path "$MNT/$1" --verify --timeout 10 \
		--chmod 1 --dentry 1 --dentries 64 --dir 1 --dir-dirs 64 --fallocate 1 --fallocate-bytes 2m \
		--fcntl 1 --flock 1 --hdd 1 --hdd-bytes 2m --iomix 1 --iomix-bytes 2m --lockf 1 \
		--mmap 1 --mmap-bytes 1m --mmap-file --readahead 1 --readahead-bytes 2m \
		--rename 1 --seek 1 --seek-size 2m --sync-file 1 --sync-file-bytes 2m --touch 1 --utime 1
}

loaded() { # NAME: by what an office does to a file server
	timeout "$LIMIT" dbench -D "$MNT/$1" -t 10 4 && rm -r "$MNT/$1/clients"
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
	check "NFSv$version: stress-ng" stressed "$name"
	check "NFSv$version: dbench" loaded "$name"
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
netem=
if tc qdisc add dev "$ANET" root netem loss 0% 2>/dev/null; then
	netem=y
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
busywait 30 gid_known "$BDEV" "$B4"
busy_end "nothing lost by that" lost

# --- a server that is silent -----------------------------------------------------------

# Who waits for it can be killed, and "umount -f" has him fail; as over TCP, by which
# the same is done. Without a cache, since what is in it has to be written, and waits
# once more, as it is unmounted; and by one process each, since whoever has a file
# open for writing does that.
cat >"$OUT/io.py" <<'EOF'
import mmap, os, sys
fd = os.open(sys.argv[2], os.O_RDWR | os.O_CREAT | os.O_DIRECT)
buf = mmap.mmap(-1, 1 << 16)
io = {"reader": os.preadv, "writer": os.pwritev}[sys.argv[1]]
os.pwritev(fd, [buf], 0)
try:
    while True:
        io(fd, [buf], 0)
        os.write(1, b".")
except OSError as e:
    print("failed", e.errno)
EOF

IO=()
io_begin() { # in the mount "quiet"
	local program
	IO=()
	for program in {reader,writer}-{1..4}; do
		background python3 "$OUT/io.py" "${program%-*}" "$MNT/quiet/$program" >"$OUT/$program" 2>&1
		IO+=($!)
	done
	for program in {reader,writer}-{1..4}; do
		busywait "$LIMIT" test -s "$OUT/$program" || return
	done
}

sizes() {
	stat -c %s "$OUT"/{reader,writer}-?
}

all_wait() {
	local before
	before=$(sizes)
	sleep 2
	[ "$(sizes)" = "$before" ] && kill -0 "${IO[@]}"
}

all_gone() { # COMMAND...: which ends them, if not all at once
	local pid
	"$@"
	for pid in "${IO[@]}"; do
		gone "$pid" || return
	done
}

all_failed() {
	local program
	for program in {reader,writer}-{1..4}; do
		tr -d . <"$OUT/$program"
		grep -q failed "$OUT/$program" || return
	done
}

# What it still has to tell the server, once nobody can reach it, waits, too, and can
# be killed. Neither umount.nfs nor mountpoint(1) is of use here: they ask the server.
force() {
	timeout -s KILL 3 umount -if "$MNT/quiet"
	! grep -q " $MNT/quiet " /proc/self/mounts
}

# Clients are found again by their server, whatever its port
no_client() {
	[ "$(wc -l </proc/fs/nfsfs/servers)" -le 1 ]
}

listen_tcp() {
	echo tcp 2049 >/proc/fs/nfsd/portlist
}

# The ways of a server: it stops; its wire is cut; or it takes all that it is sent.
falls_silent() { # WAY
	case $1 in
	stopped) server_stop ;;
	cut) tc qdisc add dev "$ANET" root netem loss 100% ;;
	frozen) kill -STOP "$RELAY" ;;
	esac
}

speaks() { # WAY
	case $1 in
	stopped) server_start && listen_tcp ;;
	cut) tc qdisc del dev "$ANET" root && new_device "$ADEV" "$ANET" "$A4" ;;
	frozen) kill -CONT "$RELAY" ;;
	esac
}

silence() { # WAY VERSION PROTO PORT
	local what="$3, NFSv$2, a server that is $1"
	check "$what" nfs_mount quiet "$2" "proto=$3,port=$4"
	io_begin
	result $? "$what: programs work"
	falls_silent "$1"
	check "$what: and wait" busywait "$LIMIT" all_wait
	check "$what: and can be killed" busywait "$LIMIT" all_gone kill -9 "${IO[@]}"
	speaks "$1"
	io_begin
	result $? "$what: others work"
	falls_silent "$1"
	check "$what: and wait" busywait "$LIMIT" all_wait
	check "$what: and end by umount -f" busywait "$LIMIT" all_gone force
	check "$what: which has them fail" all_failed
	check "$what: unmounted" busywait "$LIMIT" force
	speaks "$1"
	check "$what: nothing is left" busywait "$LIMIT" no_client
}

frozen() { # VERSION PROTO PORT FAMILY
	FAMILY=$4 background python3 "$TREE/selftests/nfs_relay.py" hide "$B4:20052" "$B4:$3" "$A4" >"$OUT/relay-$2.log" 2>&1
	RELAY=$!
	busywait 20 eval "rdma_listening 20052 || listening 20052"
	silence frozen "$1" "$2" 20052
	stop "$RELAY"
}

check "NFSv4.2: unmount" nfs_umount v4
check "NFSv3: unmount" nfs_umount v3
check "the server listens at TCP, too" listen_tcp
for version in 4.2 3; do
	for proto in "tcp 2049 2" "rdma 20049 $FAMILY"; do
		read -r proto port family <<<"$proto"
		silence stopped $version "$proto" "$port"
		[ -z "$netem" ] || silence cut $version "$proto" "$port"
		frozen $version "$proto" "$port" "$family"
	done
done

check "NFSv4.2 mounts again" nfs_mount v4 4.2
check "and works" "$PROGRAMS/nfs_file" -n 100 "$MNT/v4/file"
check "and is unmounted" nfs_umount v4
nfs_end
