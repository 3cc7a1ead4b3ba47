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

PORT=7500

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

# riostream polls memory for the last byte, so that each end keeps a processor
# busy. It maps one buffer of the size, and writes there by riowrite().
PLACE_CASES=(
	"-S 64 -C 30 -I 3"
	"-S 4096 -C 30 -I 3 -T b"
	"-S 65537 -C 10 -I 2"
	"-S 1000000 -C 3 -I 2 -T b"
)

# stream_case PROGRAM SERVER-KIND CLIENT-KIND SERVER CLIENT OPTIONS...
stream_case() {
	local program=$1 server=$2 client=$3 saddr=$4 caddr=$5 family=() status pid
	shift 5
	[[ $saddr == *:* ]] && family=(-f ipv6)
	PORT=$((PORT + 1))
	background as "$server" timeout 120 "$program" "${family[@]}" -b "$saddr" -p $PORT "$@" -T v >"$OUT/server.log" 2>&1
	pid=$!
	busywait 20 rdma_listening $PORT || note "the server does not listen"
	(as "$client" timeout 120 "$program" "${family[@]}" -s "$saddr" -b "$caddr" -p $PORT "$@" -T v) >"$OUT/client.log" 2>&1
	status=$?
	wait $pid
	status=$((status + $?))
	[ $status = 0 ] || note "$(tail -n 3 "$OUT/server.log" "$OUT/client.log")"
	result $status "$program $* $([[ $saddr == *:* ]] && echo IPv6 || echo IPv4): $server server, $client client"
}

rstream_matrix() { # SERVER-KIND CLIENT-KIND
	local options
	for options in "${QUICK_CASES[@]}" ${FULL:+"${FULL_CASES[@]}"}; do
		# shellcheck disable=SC2086
		stream_case rstream "$1" "$2" "$B4" "$A4" $options
	done
	stream_case rstream "$1" "$2" "$B6" "$A6" -S 4096 -C 50 -I 5
	stream_case rstream "$1" "$2" "$B6" "$A6" -S 100000 -C 5 -I 2 -T b
	for options in "${PLACE_CASES[@]}"; do
		# shellcheck disable=SC2086
		stream_case riostream "$1" "$2" "$B4" "$A4" $options
	done
	stream_case riostream "$1" "$2" "$B6" "$A6" -S 4096 -C 30 -I 3
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

kernel_sent() { # the kernel's side has opened connections by itself
	awk '/^Rsock: [0-9]/ { exit !($2 + $3 > 0) }' /proc/net/rsock_stat
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
check "connections were made by the kernel" kernel_sent
check "no protocol fault was counted" no_faults
topo_down
unload_rsock
finish
