#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The examples: that of placement in tools/examples, with each language at each end;
# and what README.md, rsock.rst, admin.rst and kernel.rst have, taken from there.
#
# Kernels: stock
# Guest: m=1024 t=240
# When: 6.12
# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/topo.sh
. "$(dirname "$0")/topo.sh"
# shellcheck source=selftests/doc_lib.sh
. "$(dirname "$0")/doc_lib.sh"

declare -A EXAMPLE=([C]=$PROGRAMS/place [Python]=$TREE/tools/examples/place.py)
TEXT="placed in your memory"

# place SERVER CLIENT: languages
place() {
	local pid server=${EXAMPLE[$1]} client=${EXAMPLE[$2]} status
	background timeout 200 "$server" "$B4" >"$OUT/server" 2>&1
	pid=$!
	busywait 30 rdma_listening 7471 || note "the server does not listen"
	timeout 200 "$client" "$B4" "$TEXT" >"$OUT/client" 2>&1
	status=$?
	wait $pid
	result $((status + $?)) "place: the client in $2 succeeds, and the server in $1"
	check "place: the server has the text" diff "$OUT/server" - \
		<<<"${#TEXT} bytes, announced as ${#TEXT}: $TEXT"
	check "place: the client says nothing" diff "$OUT/client" /dev/null
}

# The line of the block on standard input that has this word
line() {
	grep -m 1 -F -- "$1"
}

hello() {
	block README.md "Save this as" >"$OUT/hello.py" && [ "$(timeout 200 python3 "$OUT/hello.py")" = "b'hello'" ]
}

# How to compile it is what its first lines say
compile_doc() {
	local command
	block Documentation/rsock.rst "not to what follows" >"$OUT/place.c"
	command=$(sed -n 's/.*folder: cc //p' "$OUT/place.c")
	cd "$TREE" && bash -c "cc -Wall -Werror -o $OUT/place ${command/place.c/$OUT/place.c}"
}

place_doc() {
	local pid
	background timeout 200 "$OUT/place" >"$OUT/target"
	pid=$!
	busywait 30 rdma_listening 7471 && timeout 200 "$OUT/place" "$B4" && wait "$pid" &&
		diff "$OUT/target" - <<<placed
}

# The statements that make a socket
sockets_doc() {
	{
		echo '#include <sys/socket.h>'
		block Documentation/rsock.rst "What it is" | grep -v '^ *int'
		echo 'int main(void) {'
		block Documentation/rsock.rst "What it is" | line "int fd"
		echo '{ int other = fd;'
		block Documentation/rsock.rst "The same sockets are there" | line "int fd"
		echo 'return other < 0 || fd < 0; } }'
	} >"$OUT/sockets.c"
	cc -I"$TREE/include/uapi" -include netinet/in.h -o "$OUT/sockets" "$OUT/sockets.c" && "$OUT/sockets"
}

# A server, and each of the clients
run_doc() {
	local text="nothing is lost in speed" before
	block Documentation/rsock.rst "$text" >"$OUT/commands"
	before=$(tcp_opens)
	background bash -c "exec $(line "iperf3 -s" <"$OUT/commands")" >"$OUT/iperf3" 2>&1
	busywait 60 rdma_listening 5201 && bash -exc "$(line "iperf3 -c" <"$OUT/commands")" &&
		bash -exc "$(line nc <"$OUT/commands")" </dev/null || return
	stop "${PIDS[-1]}"
	grep -q "AF_RSOCK" "$OUT/iperf3" && [ "$(tcp_opens)" = "$before" ]
}

rules_doc() {
	block Documentation/rsock.rst "matches counts" >"$OUT/rules" &&
		rsock-run -c "$OUT/rules" true
}

# It takes two minutes to compile in a guest of QEMU; docs.sh does so every day
kernel_doc() {
	local dir before
	before=$(stat_of Iomaps)
	dir=$(mktemp -d) && build_kernel_rst "$dir" "$KVER" && insmod "$dir/example.ko" addr="$A4" &&
		rmmod example && [ "$(stat_of Iomaps)" = $((before + 1)) ]
}

nstat_doc() {
	block Documentation/admin.rst "shows all" >"$OUT/nstat" && bash -eu "$OUT/nstat" | grep 'RsockActiveOpens  *[1-9]'
}

PATH=$PATH:$TREE/build/rsock-run
for program in digest.py place.py; do
	check "$program says how it is run" says 0 "^usage: $program" python3 "$TREE/tools/examples/$program" -h
done
load_rsock
topo_wire
for server in C Python; do
	for client in C Python; do
		place $server $client
	done
done
check "each server has mapped memory" [ "$(stat_of Iomaps)" = 4 ]
check "and each client has let go of it" [ "$(stat_of RevokeTimeouts)" = 0 ]
check "README.md: hello.py" hello
check "rsock.rst: how a socket is made" sockets_doc
check "rsock.rst: place.c is compiled as it says" compile_doc
check "rsock.rst: place.c places" place_doc
check "rsock.rst: rules" rules_doc
check "rsock.rst: programs that know of TCP only" run_doc
check "admin.rst: nstat" nstat_doc
[ -z "${FULL:-}" ] || check "kernel.rst: the code places" kernel_doc
topo_down
unload_rsock
finish
