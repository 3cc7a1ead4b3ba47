#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The kernel's 9P client over AF_RSOCK, as Documentation/consumers.rst has it, to
# diod: by a socket that is handed over, and by rsock-run. A tree copied in and out,
# random writes that are verified, and servers that end meanwhile.
#
# Guest: m=1024 t=300
# When: 6.1
# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/topo.sh
. "$(dirname "$0")/topo.sh"

PATH=$PATH:$TREE/build/rsock-run:$TREE/tools/examples:${RSOCK_CACHE:-/var/cache/rsock}/programs/usr/sbin
LIMIT=300 # seconds after which something hangs

skip_all() { # REASON
	skip "9P" "$1"
	finish
}

modprobe -qa 9pnet_fd 9p || skip_all "no 9P in this kernel (CONFIG_NET_9P_FD, CONFIG_9P_FS)"
for program in diod fio python3; do
	command -v $program >/dev/null || skip_all "no $program here (tools/vm/setup programs)"
done

# --- both ends --------------------------------------------------------------------

serve() { # COMMAND...: its pid is $server
	background "$@" >"$OUT/server.log" 2>&1
	server=$!
	busywait "$LIMIT" rdma_listening 564 || note "no server: $(tail -n 5 "$OUT/server.log")"
}

serve_handed() {
	serve mount9p.py serve "$B4" "$SERVED"
}

# It asks for the name of who connects: there is one, for this process to see.
# shellcheck disable=SC2016 # for the shell there
serve_by_run() {
	(cat /etc/hosts && echo "$A4 client") >"$OUT/hosts"
	serve unshare -m sh -c 'mount --bind "$1" /etc/hosts && shift && exec "$@"' - "$OUT/hosts" \
		rsock-run diod -f -n -l "$B4:564" -e "$SERVED"
}

mounts=0
try_mount() { # NAME
	mounts=$((mounts + 1))
	check "$1: mount" timeout "$LIMIT" mount9p.py "$B4" "$SERVED" "$MOUNTED"
	# Else all that follows would do without it
	mountpoint -q "$MOUNTED" || finish
}

# Whose cache is its own: cache=0x3 or cache=loose or loose, as the kernel has it
with_options() {
	timeout "$LIMIT" mount9p.py "$B4" "$SERVED" "$MOUNTED" version=9p2000.L,cache=loose || return
	grep -E " $MOUNTED 9p [^ ]*,(cache=|loose)" /proc/mounts
	local found=$?
	unmounted && return "$found"
}

unmounted() {
	timeout "$LIMIT" umount "$MOUNTED" && ! mountpoint -q "$MOUNTED"
}

# --- what is done -------------------------------------------------------------------

contents() { # FOLDER: names, modes and checksums
	(cd "$1" && find . -printf '%P %y %m\n' | sort && find . -type f -print0 | sort -z | xargs -0 sha256sum)
}

same_tree() { # FOLDER FOLDER
	diff <(contents "$1") <(contents "$2")
}

# In by the mount, and out again: this client caches nothing.
try_tree() { # NAME
	check "$1: a tree copied in" timeout "$LIMIT" cp -a "$DIR/tree" "$MOUNTED/"
	check "$1: the server has it" same_tree "$DIR/tree" "$SERVED/tree"
	check "$1: a tree copied out" timeout "$LIMIT" cp -a "$MOUNTED/tree" "$DIR/out"
	check "$1: it is the same" same_tree "$DIR/tree" "$DIR/out"
	check "$1: removed" timeout "$LIMIT" rm -r "$MOUNTED/tree"
	check "$1: gone at the server" [ ! -e "$SERVED/tree" ]
	rm -r "$DIR/out"
}

verified() { # SIZE: written at random, and read back
	timeout "$LIMIT" fio --name=verify --directory="$MOUNTED" --size="$1" --numjobs=2 --thread \
		--ioengine=psync --rw=randwrite --bsrange=512-128k --verify=crc32c --verify_fatal=1 \
		--group_reporting --output="$OUT/fio" || return
	cat "$OUT/fio"
	# As much was read back as was written
	[ "$(sed -nE 's/^ *(READ|WRITE): .* (io=[^ ]*) .*/\2/p' "$OUT/fio" | sort | uniq -c | awk '{ print $1 }')" = 2 ]
}

# --- servers that end ---------------------------------------------------------------

big_enough() { # FILE BYTES
	[ "$(stat -c %s "$1")" -ge "$2" ]
}

# One that writes and one that reads, both without end
begin_io() {
	head -c 300000 /dev/urandom >"$SERVED/read"
	background dd if=/dev/zero of="$MOUNTED/written" bs=100000 2>"$OUT/writer"
	writer=$!
	# shellcheck disable=SC2016 # for the shell there
	background bash -c 'while cat "$1" >/dev/null; do :; done; exit 1' - "$MOUNTED/read" 2>"$OUT/reader"
	reader=$!
	busywait "$LIMIT" big_enough "$SERVED/written" 1000000 || note "nothing is written"
}

fails_soon() { # PID
	busywait "$LIMIT" gone "$1" || return 1
	! wait "$1"
}

# try_end NAME COMMAND...: the command ends the connection while there is I/O
try_end() {
	local name=$1
	shift
	serve_handed
	try_mount "$name"
	begin_io
	"$@"
	check "$name: the writer gets an error" fails_soon $writer
	check "$name: the reader gets an error" fails_soon $reader
	note "$(cat "$OUT/writer" "$OUT/reader")"
	check "$name: and so does a call that is new" says 1 "" timeout "$LIMIT" stat "$MOUNTED/read"
	check "$name: umount" unmounted
	kill_server
	rm -f "$SERVED"/*
}

kill_server() {
	kill -KILL "$server" 2>/dev/null
	stop "$server"
}

# Requests are on their way that it never reads
stop_and_kill_server() {
	kill -STOP "$server"
	sleep 1
	kill_server
}

remove_device() {
	rdma link del "$ADEV"
}

# --- all ----------------------------------------------------------------------------

load_rsock
topo_wire 9000
DIR=$(mktemp -d /dev/shm/p9.XXXXXX)
# The client is nobody when it mounts
chmod 755 "$DIR"
on_exit rm -rf "$DIR"
SERVED=$DIR/served MOUNTED=$DIR/mounted
mkdir "$SERVED" "$MOUNTED" "$DIR/tree"
if [ -n "${FULL:-}" ]; then
	cp -a "$TREE/net" "$TREE/selftests" "$DIR/tree/"
	big=64 verify=32m
else
	cp -a "$TREE/net/rsock/tests" "$DIR/tree/"
	big=2 verify=512k
fi
head -c $((big << 20)) /dev/urandom >"$DIR/tree/big"
sent=$(sent_packets "$ADEV") received=$(sent_packets "$BDEV") tcp=$(tcp_opens)

serve_handed
try_mount "diod, handed over"
try_tree "diod, handed over"
check "fio: random writes are verified" verified $verify
check "diod, handed over: umount" unmounted
check "and the server has seen it" busywait "$LIMIT" gone "$server"
rm -f "$SERVED"/*

serve_by_run
try_mount "diod by rsock-run"
[ -z "${FULL:-}" ] || try_tree "diod by rsock-run"
check "diod by rsock-run: umount" unmounted
mounts=$((mounts + 1))
check "diod by rsock-run: options" with_options
kill_server

try_end "server killed" kill_server
[ -z "${FULL:-}" ] || try_end "server stopped, then killed" stop_and_kill_server

# The tree went each way, in packets of 4096 bytes at most
packets=$((big << 20 >> 12))
check "by RDMA: what went in" [ $(($(sent_packets "$ADEV") - sent)) -ge $packets ]
check "by RDMA: what came out" [ $(($(sent_packets "$BDEV") - received)) -ge $packets ]
check "by RDMA: nothing by TCP" [ "$(tcp_opens)" = "$tcp" ]
check "by RDMA: a connection for each mount" [ "$(stat_of ActiveOpens)" = $mounts ]
check "no fault of the protocol" no_faults

try_end "device removed" remove_device
topo_down
unload_rsock
finish
