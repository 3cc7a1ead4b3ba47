# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# NFS over AF_RSOCK in one guest: server at B's address, client at A's. Source
# it after topo.sh. Nothing but modules is loaded by it; nfs_begin and nfs_end do
# the rest. The programs of NFS are not installed but unpacked (tools/vm/setup nfs).

PROGRAMS_DIR=${RSOCK_CACHE:-/var/cache/rsock}/programs
PATH=$PATH:$PROGRAMS_DIR/sbin:$PROGRAMS_DIR/usr/sbin
EXPORT=/run/export
MNT=/run/mnt
# Seconds after which something hangs
LIMIT=300

# --- the programs around the kernel's server ----------------------------------------

# Users and folders that the packages would have made.
nfs_places() {
	local user
	for user in _rpc statd; do
		grep -q "^$user:" /etc/passwd ||
			echo "$user:x:65530:65534::/nonexistent:/usr/sbin/nologin" >>/etc/passwd
	done
	mkdir -p "$EXPORT" "$MNT" /var/lib/nfs/{sm,sm.bak,nfsdcld} /run/rpcbind /run/rpc_pipefs
	touch /var/lib/nfs/{etab,rmtab,state} /etc/exports
	chown -R statd /var/lib/nfs/{sm,sm.bak,state}
	chown _rpc /run/rpcbind
	mount -t tmpfs -o mode=777 export "$EXPORT"
	mount -t nfsd nfsd /proc/fs/nfsd
	mount -t rpc_pipefs rpc_pipefs /run/rpc_pipefs
	on_exit umount "$EXPORT"
}

# NFSv3 wants rpcbind and, for locks, statd; both versions want mountd to tell
# who may have what, and nfsdcld to know who may have his locks back.
nfs_programs() {
	background rpcbind -f -w >"$OUT/rpcbind.log" 2>&1
	busywait 60 test -S /run/rpcbind.sock
	background rpc.mountd -F >"$OUT/mountd.log" 2>&1
	background rpc.statd -F --no-notify >"$OUT/statd.log" 2>&1
	background nfsdcld -F -p /run/rpc_pipefs -s /var/lib/nfs/nfsdcld >"$OUT/nfsdcld.log" 2>&1
	nfs_export
}

nfs_export() {
	exportfs -o "rw,fsid=0,no_root_squash,no_subtree_check,sync" "$A4:$EXPORT"
}

server_start() {
	# How long a restarted server waits for clients to claim what they had
	sysctl -qw fs.nfs.nlm_timeout=3 fs.nfs.nlm_grace_period=3
	echo 10 >/proc/fs/nfsd/nfsv4leasetime
	echo 10 >/proc/fs/nfsd/nfsv4gracetime
	echo rsock 20049 >/proc/fs/nfsd/portlist &&
		echo 4 >/proc/fs/nfsd/threads
}

server_stop() {
	echo 0 >/proc/fs/nfsd/threads
}

# nfs_mount NAME VERSION [OPTIONS]: at $MNT/NAME
nfs_mount() {
	local what=$B4:/
	[ "$2" != 3 ] || what=$B4:$EXPORT
	mkdir -p "$MNT/$1"
	on_exit umount -l "$MNT/$1"
	timeout "$LIMIT" mount.nfs "$what" "$MNT/$1" -o "proto=rdma,vers=$2${3:+,$3}"
}

nfs_umount() { # NAME
	timeout "$LIMIT" umount "$MNT/$1"
}

nfs_begin() {
	load_rsock
	modprobe -a sunrpc lockd nfsd nfs nfsv3 nfsv4
	check "load rsock_rpc.ko" insmod "$BUILD/net/rsock_rpc/rsock_rpc.ko"
	topo_wire 9000
	nfs_places
	nfs_programs
	check "rsock 20049 into nfsd's portlist" server_start
}

rpc_unused() {
	[ "$(cat /sys/module/rsock_rpc/refcnt)" = 0 ]
}

nfs_end() {
	server_stop
	busywait 60 rpc_unused || note "refcnt $(cat /sys/module/rsock_rpc/refcnt)"
	check "unload rsock_rpc.ko" rmmod rsock_rpc
	topo_down
	unload_rsock
	finish
}

# recipe SECTION: the commands of this section of Documentation/nfs.rst
recipe() {
	awk -v section="$1" '/^=+$/ { here = last == section }
		{ last = $0 } here && sub(/^    /, "")' "$TREE/Documentation/nfs.rst" >"$OUT/recipe"
	[ -s "$OUT/recipe" ] &&
		SERVER=$B4 CLIENT=$A4 timeout "$LIMIT" bash -euxc "modprobe() { lsmod | grep -q \"^\$1 \"; }; . $OUT/recipe"
}

# --- proof ------------------------------------------------------------------------

# How often a mount has connected, by its transport
connects_of() { # NAME
	awk -v at="$MNT/$1" '$1 == "device" { here = $5 == at }
		here && $1 == "xprt:" && $2 == "rsock" { print $5; exit }' /proc/self/mountstats
}

# How many bytes were placed for it, and by it
placed_of() { # NAME [FIELD-FROM-THE-END]
	awk -v at="$MNT/$1" -v back="${2:-1}" '$1 == "device" { here = $5 == at }
		here && $1 == "xprt:" && $2 == "rsock" { print $(NF - back); exit }' /proc/self/mountstats
}

wrote_of() { # NAME
	placed_of "$1" 0
}

# --- faults in the midst of I/O -----------------------------------------------------

# busy_begin NAME...: programs that write, read and compare, in these mounts
declare -A BUSY CONNECTS
busy_begin() {
	local name
	rm -f "$OUT/stop"
	BUSY=()
	for name; do
		CONNECTS[$name]=$(connects_of "$name")
		background timeout $((LIMIT * 2)) "$PROGRAMS/nfs_file" -u "$OUT/stop" -s "$RANDOM" \
			"$MNT/$name/busy-$name" >"$OUT/busy-$name.log" 2>&1
		BUSY[$name]=$!
		busywait 30 test -s "$EXPORT/busy-$name"
	done
}

# They go on, end, and have found what they wrote. LOST: on another connection.
busy_end() { # RESULT [LOST]
	local name status before
	before=$(sent_packets "$ADEV")
	busywait "$LIMIT" progress "$before"
	for name in "${!BUSY[@]}"; do
		[ -z "${2:-}" ] || check "$1: $name has connected again" busywait "$LIMIT" reconnected "$name"
	done
	touch "$OUT/stop"
	for name in "${!BUSY[@]}"; do
		wait "${BUSY[$name]}"
		status=$?
		note "$name: $(tail -n 2 "$OUT/busy-$name.log")"
		result "$status" "$1: $name"
	done
}

progress() { # PACKETS
	[ "$(sent_packets "$ADEV")" -gt $(($1 + 200)) ]
}

reconnected() { # NAME
	[ "$(connects_of "$1")" -gt "${CONNECTS[$1]}" ]
}

# --- memory that lacks ----------------------------------------------------------------

# As debug kernels can have it: memory_lacks TIMES FUNCTION [BUT-NOT-IN], until
# memory_is_there.
FAILSLAB=/sys/kernel/debug/failslab

# Where a function of rsock_rpc.ko begins and ends. /proc/kallsyms takes minutes there.
function_range() { # FUNCTION
	local text at size
	text=$(cat /sys/module/rsock_rpc/sections/.text)
	read -r at size < <(nm -S "$BUILD/net/rsock_rpc/rsock_rpc.ko" | sed -n "s/ [tT] $1$//p")
	echo $((text + 16#$at)) $((text + 16#$at + 16#$size))
}

memory_lacks() {
	local key from to
	for key in "require $2" ${3:+"reject $3"}; do
		read -r from to < <(function_range "${key#* }")
		echo "$from" >"$FAILSLAB/${key% *}-start"
		echo "${to:?}" >"$FAILSLAB/${key% *}-end"
	done
	echo N >"$FAILSLAB/ignore-gfp-wait"
	echo 0 >"$FAILSLAB/verbose"
	echo "$1" >"$FAILSLAB/times"
	echo 100 >"$FAILSLAB/probability"
}

memory_is_there() {
	echo 0 >"$FAILSLAB/probability"
	echo 0 | tee "$FAILSLAB"/{require,reject}-start >"$FAILSLAB/reject-end"
}
