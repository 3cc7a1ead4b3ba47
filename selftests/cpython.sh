#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# CPython's own tests of sockets by rsock-run, next to the same on TCP. What may
# differ is in cpython/expected, with reasons.
#
# They talk to localhost, which has no RDMA device: in a copy of theirs that
# becomes the address of one, and localhost has that address.
#
# Guest: m=2048 t=2400
# Kernels: plain
# When: full
# Packages: long
# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/topo.sh
. "$(dirname "$0")/topo.sh"
# shellcheck source=selftests/programs_lib.sh
. "$(dirname "$0")/programs_lib.sh"

ORIGINAL=/usr/lib/python3.11/test
HERE=$TREE/selftests/cpython
# Those that open sockets
ASYNCIO=(test_base_events test_buffered_proto test_events test_selector_events test_sendfile
	test_server test_sock_lowlevel test_ssl test_sslproto test_streams)

# Not where an address is parsed, or named by a certificate. Clients with TLS are
# fewer at once: User-Mode Linux takes long, and the tests give up.
copy_tests() {
	[ ! -d "$DIR/test" ] || return 0
	mkdir "$DIR/test" &&
		(cd "$ORIGINAL" && cp -r --parents __init__.py support test_asyncio test_socket.py \
			test_ssl.py ssl_servers.py ./*.pem ./*.crl capath "$DIR/test") || return
	find "$DIR/test" -name '*.py' -exec sed -i -E "/x00|IP Address|inet_aton/!{
		s/127\\.0\\.0\\.1/$A4/g
		s/(['\"])::1(['\"])/\\1$A6\\2/g
	}
	s/TOTAL_CNT = 25/TOTAL_CNT = 4/" {} +
	printf '%s localhost\n' "$A4" "$A6" >"$DIR/hosts"
	echo "$A4 $(hostname)" >>"$DIR/hosts"
}

# suite FILE MODULES [COMMAND...]: its results go to a file
suite() {
	local file=$1 modules=$2
	shift 2
	# shellcheck disable=SC2016,SC2086
	unshare -m sh -c 'mount --bind "$0/hosts" /etc/hosts && cd "$0" && exec "$@"' "$DIR" \
		env PYTHONPATH="$DIR" TMPDIR="$DIR" "$@" \
		/usr/bin/python3 "$HERE/run.py" "$HERE/expected" "$file" $modules >"$file.log" 2>&1
}

outcomes() { # FILE
	awk '{ n[$2]++ } END { printf "%d ok, %d skipped, %d failed, %d errors, %d hang\n",
		n["ok"], n["skip"], n["FAIL"], n["ERROR"], n["HANG"] }' "$1"
}

differences() { # TCP RSOCK
	join <(sort "$1") <(sort "$2") | awk '$2 != $3 { print $1 ": " $3 " with AF_RSOCK, " $2 " with TCP" }'
}

compare() { # NAME CONNECTIONS MODULE...
	local name=$1 connections=$2 modules
	shift 2
	modules=$(printf 'test.%s ' "$@")
	check "$name: the tests are there" copy_tests
	suite "$OUT/$name.tcp" "$modules"
	result $? "$name: runs with TCP"
	have "$name" python3 || return
	suite "$OUT/$name.rsock" "$modules" "${RUN[@]}"
	result $? "$name: runs with AF_RSOCK"
	note "$name, TCP:      $(outcomes "$OUT/$name.tcp")"
	note "$name, AF_RSOCK: $(outcomes "$OUT/$name.rsock")"
	differences "$OUT/$name.tcp" "$OUT/$name.rsock" | sed 's/^/# /'
	check "$name: as with TCP, but for what is expected" \
		python3 "$HERE/judge.py" "$HERE/expected" "$OUT/$name.tcp" "$OUT/$name.rsock" "$@"
	by_rdma "$name" "$connections"
}

try_socket() {
	compare socket 150 test_socket
}

try_ssl() {
	compare ssl 100 test_ssl
}

try_asyncio() {
	compare asyncio 100 "${ASYNCIO[@]/#/test_asyncio.}"
}

try_all socket ssl asyncio
