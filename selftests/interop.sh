#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Unmodified rsockets programs against AF_RSOCK: rstream and riostream (direct
# placement), which verify what they receive, and rcopy; each with either
# implementation at either end (interop_lib.sh).
#
# FULL=1 copies a file of 64 MiB and repeats the matrix with every size.
#
# Guest: m=1536 t=900
# Kernels: stock
# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/topo.sh
. "$(dirname "$0")/topo.sh"
# shellcheck source=selftests/interop_lib.sh
. "$(dirname "$0")/interop_lib.sh"

# Options that both ends of rstream are given. Sizes below and above what a
# grant holds, buffers of 2 KiB, blocking and not, poll, keepalive.
QUICK_CASES=(
	"-S 4096 -C 50 -I 5"
	"-S 4096 -C 50 -I 5 -T b"
	"-S 300000 -C 5 -I 2 -T b"
	"-S 20000 -C 5 -I 2 -B 2048"
	"-S 1 -C 200 -I 2"
	"-S 1000000 -C 3 -I 2 -T b -B 65536"
)
FULL_CASES=(
	"-S 20000 -C 5 -I 2 -B 2048 -T b"
	"-S 65537 -C 5 -I 3"
	"-S 64 -C 500 -I 4 -T b"
	"-S 1000000 -C 10 -I 3"
)

rstream_matrix() { # SERVER-KIND CLIENT-KIND
	local options
	for options in "${QUICK_CASES[@]}" ${FULL:+"${FULL_CASES[@]}"}; do
		# shellcheck disable=SC2086
		stream_case rstream "$1" "$2" "$B4" "$A4" $options
	done
	stream_case rstream "$1" "$2" "$B6" "$A6" -S 4096 -C 50 -I 5
	stream_case rstream "$1" "$2" "$B6" "$A6" -S 100000 -C 5 -I 2 -T b
	riostream_matrix "$1" "$2"
}

# rcopy_case SERVER-KIND CLIENT-KIND: rcopy's server never ends by itself
rcopy_case() {
	local pid
	PORT=$((PORT + 1))
	rm -f "$DIR/copy"
	background as "$1" rcopy -p $PORT >"$OUT/server.log" 2>&1
	pid=$!
	busywait 20 rdma_listening $PORT || note "the server does not listen"
	(as "$2" timeout 300 rcopy "$DIR/file" "$B4:$DIR/copy" -p $PORT) >"$OUT/client.log" 2>&1
	note "$(tail -n 1 "$OUT/client.log")"
	busywait 30 cmp -s "$DIR/file" "$DIR/copy"
	check "rcopy of $MIB MiB: $1 server, $2 client" cmp "$DIR/file" "$DIR/copy"
	stop $pid
}

load_rsock
topo_wire 9000
# rcopy maps its files, which not every file system that guests share allows
DIR=$(mktemp -d /dev/shm/interop.XXXXXX)
on_exit rm -rf "$DIR"
MIB=${FULL:+64}
MIB=${MIB:-8}
head -c "${MIB}M" /dev/urandom >"$DIR/file"

for ends in "kernel kernel" "user kernel" "kernel user"; do
	# shellcheck disable=SC2086
	rstream_matrix $ends
	# shellcheck disable=SC2086
	rcopy_case $ends
done
interop_end
