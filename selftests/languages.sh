#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The examples of tools/examples in Python, Go, Node.js, Java and Rust, with
# nothing but their standard libraries: a client of each with a server of each, of
# which Rust, that has no SHA-256, has none.
#
# Guest: m=2048 t=600
# Kernels: plain
# When: full
# Packages: long
# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/topo.sh
. "$(dirname "$0")/topo.sh"
# shellcheck source=selftests/programs_lib.sh
. "$(dirname "$0")/programs_lib.sh"

EXAMPLES=$TREE/tools/examples
LANGUAGES="Python Go Node Java"

# The command of a language; those that name the protocol need no rsock-run.
command_of() { # LANGUAGE
	case $1 in
	Python) digest=(python3 "$EXAMPLES/digest.py") ;;
	Go) digest=("$PROGRAMS/digest-go") ;;
	Rust) digest=("$PROGRAMS/digest-rust") ;;
	Node) digest=("${RUN[@]}" node "$EXAMPLES/digest.js") ;;
	Java) digest=("${RUN[@]}" java -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp "$PROGRAMS" Digest) ;;
	esac
}

told() { # LANGUAGE PORT: a client of it is told what it should be
	local digest
	command_of "$1"
	[ "$(timeout "$LIMIT" "${digest[@]}" "$B4" "$2" <"$DIR/file")" = "$SUM" ]
}

try_digest() {
	local server client digest pid port=7500
	have digest python3 "$PROGRAMS/digest-go" "$PROGRAMS/digest-rust" node java || return
	SUM=$(sha256sum <"$DIR/file" | cut -d ' ' -f 1)
	for server in $LANGUAGES; do
		port=$((port + 1))
		command_of "$server"
		background "${digest[@]}" serve "$B4" "$port" >"$OUT/$server.log" 2>&1
		pid=$!
		busywait 60 rdma_listening "$port" || note "no server: $(tail -n 5 "$OUT/$server.log")"
		for client in $LANGUAGES Rust; do
			check "a server in $server, a client in $client" told "$client" "$port"
		done
		stop "$pid"
	done
	by_rdma digest 20
}

http_get() { # CLIENT...: the same file twice, by one connection
	"$@" "http://$B4:8081/file" "http://$B4:8081/file" | cmp - <(cat "$DIR/file" "$DIR/file")
}

try_http() {
	have http "$PROGRAMS/http-go" curl || return
	background "${RUN[@]}" -s "$PROGRAMS/http-go" serve "$B4:8081" "$DIR" >"$OUT/http.log" 2>&1
	server=$!
	busywait 60 rdma_listening 8081 || note "no server: $(tail -n 5 "$OUT/http.log")"
	check "Go: a client of net/http" http_get timeout "$LIMIT" "${RUN[@]}" -s "$PROGRAMS/http-go"
	check "Go: curl is its client" http_get client curl -sSf
	check "Go: a file that is not there" says 1 404 \
		timeout "$LIMIT" "${RUN[@]}" -s "$PROGRAMS/http-go" "http://$B4:8081/none"
	by_rdma http 3
	stop "$server"
}

try_all digest http
