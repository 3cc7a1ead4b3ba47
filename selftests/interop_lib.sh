# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# For the scripts that run programs of rsockets at both ends, each of which is
#
#   user    the program with user-space rsockets
#   kernel  the same program, its calls made system calls by rsockets_shim.so

SHIM=$PROGRAMS/rsockets_shim.so

# as user|kernel COMMAND...: in place of the shell, which "stop" would end in
# place of the command otherwise
as() {
	local kind=$1
	shift
	if [ "$kind" = kernel ]; then
		exec env LD_PRELOAD="$SHIM" "$@"
	else
		exec "$@"
	fi
}

PORT=7500

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

riostream_matrix() { # SERVER-KIND CLIENT-KIND
	local options
	for options in "${PLACE_CASES[@]}"; do
		# shellcheck disable=SC2086
		stream_case riostream "$1" "$2" "$B4" "$A4" $options
	done
	stream_case riostream "$1" "$2" "$B6" "$A6" -S 4096 -C 30 -I 3
}

kernel_sent() { # the kernel's side has opened connections by itself
	awk '/^Rsock: [0-9]/ { exit !($2 + $3 > 0) }' /proc/net/rsock_stat
}

# The end of a script that ran such programs
interop_end() {
	check "connections were made by the kernel" kernel_sent
	check "no protocol fault was counted" no_faults
	topo_down
	unload_rsock
	finish
}

[ -r "$SHIM" ] || { not_ok "$SHIM is not built"; finish; }
