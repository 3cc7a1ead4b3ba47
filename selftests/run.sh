#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# rsock-run: a program that knows of TCP only, on AF_RSOCK. See run_host.sh for
# what needs no module, programs.sh for programs of others.
#
# Guest: m=1024 t=480
# When: 6.1
# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/topo.sh
. "$(dirname "$0")/topo.sh"
# shellcheck source=selftests/sock_lib.sh
. "$(dirname "$0")/sock_lib.sh"

RUN=$TREE/build/rsock-run/rsock-run
cat >"$OUT/rules" <<'EOF'
any  any  7600-7619  rsock
any  any  7620-7639  tcp
EOF

# Debian's busybox is linked statically.
static_program() {
	local pid
	head -c 3000000 /dev/urandom >"$OUT/data"
	# It would end the connection when there is nothing to send any more.
	mkfifo /run/silence
	background bash -c 'exec "$@" <>/run/silence' - \
		"$RUN" -s -c "$OUT/rules" busybox nc -l -p 7610 >"$OUT/copy"
	pid=$!
	busywait 20 rdma_listening 7610 || return 1
	timeout 60 "$RUN" -s -c "$OUT/rules" busybox nc "$B4" 7610 <"$OUT/data" &&
		wait "$pid" && cmp "$OUT/data" "$OUT/copy"
}

no_supervisors() {
	! pgrep -x rsock-run
}

status_is_passed_on() {
	"$RUN" -s sh -c 'exit 42'
	[ $? = 42 ]
}

load_rsock
topo_wire
sock_env
# The same ports again and again
sysctl -qw net.ipv4.tcp_max_tw_buckets=0
export RSOCK_TEST_FAMILY=tcp RSOCK_RUN_LOG=$OUT/log
run_check "$RUN" -c "$OUT/rules" "$PROGRAMS/run_test"
for case in rules back epoll processes; do
	CK_RUN_CASE=$case run_check "$RUN" -s -c "$OUT/rules" "$PROGRAMS/run_test"
done
check "a program without the C library" static_program
check "the supervisors are gone" busywait 20 no_supervisors
check "rsock-run -s has the program's status" status_is_passed_on
topo_down
unload_rsock
finish
