#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The examples of tools/examples: that of placement with each language at each
# end.
#
# Kernels: stock
# When: 6.12
# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/topo.sh
. "$(dirname "$0")/topo.sh"

declare -A EXAMPLE=([C]=$PROGRAMS/place [Python]=$TREE/tools/examples/place.py)
TEXT="placed in your memory"

# place SERVER CLIENT: languages
place() {
	local pid server=${EXAMPLE[$1]} client=${EXAMPLE[$2]} status
	background timeout 60 "$server" "$B4" >"$OUT/server" 2>&1
	pid=$!
	busywait 30 rdma_listening 7471 || note "the server does not listen"
	timeout 60 "$client" "$B4" "$TEXT" >"$OUT/client" 2>&1
	status=$?
	wait $pid
	result $((status + $?)) "place: the client in $2 succeeds, and the server in $1"
	check "place: the server has the text" diff "$OUT/server" - \
		<<<"${#TEXT} bytes, announced as ${#TEXT}: $TEXT"
	check "place: the client says nothing" diff "$OUT/client" /dev/null
}

load_rsock
topo_wire
for server in C Python; do
	for client in C Python; do
		place $server $client
	done
done
check "each server has mapped memory" [ "$(stat_of Iomaps)" = 4 ]
check "and each client has let go of it" [ "$(stat_of RevokeTimeouts)" = 0 ]
topo_down
unload_rsock
finish
