#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# More of what programs.sh does, longer: more programs, more connections, more
# bytes.
#
# Guest: m=3072 t=1800
# Kernels: plain
# When: full
# Packages: long
# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/topo.sh
. "$(dirname "$0")/topo.sh"
# shellcheck source=selftests/programs_lib.sh
. "$(dirname "$0")/programs_lib.sh"

SIZE=$((64 << 20))
LIMIT=300

# --- bulk -----------------------------------------------------------------------

iperf3_cases() {
	iperf3_case 1 1000000000 "a stream" -n 1000M
	iperf3_case 8 900000000 "eight streams" -n 1000M -P 8
	iperf3_case 4 450000000 "reverse" -n 500M -R -P 4
	iperf3_case 8 250000000 "both directions" -n 500M -P 4 --bidir
}

try_scp() {
	have scp sshd ssh scp ssh-keygen || return
	serve_sshd
	scp_both_ways "$DIR/file"
	by_rdma scp 2
	stop "$server"
}

try_nc() {
	have nc nc.openbsd || return
	# shellcheck disable=SC2016
	serve 7200 sh -c 'exec nc.openbsd -l "$0" 7200 >"$1"' "$B4" "$DIR/back"
	check "nc: sends a file" client nc.openbsd -N "$B4" 7200 <"$DIR/file"
	wait "$server"
	check "nc: all of it is there" cmp "$DIR/file" "$DIR/back"
	by_rdma nc 1
}

# --- many to one -------------------------------------------------------------------

RELAYS=4 CLIENTS=24

# Each client's bytes go by a relay to the one echo, and back.
relayed() { # CLIENT
	head -c $((1000000 + $1 * 1000)) "$DIR/file" >"$DIR/sent.$1"
	client socat -t 30 - "TCP:$B4:$((7300 + $1 % RELAYS))" <"$DIR/sent.$1" >"$DIR/back.$1" &&
		cmp "$DIR/sent.$1" "$DIR/back.$1"
}

all_relayed() {
	local i pids=() failed=0
	for ((i = 0; i < CLIENTS; i++)); do
		relayed "$i" &
		pids+=($!)
	done
	for i in "${pids[@]}"; do
		wait "$i" || failed=$((failed + 1))
	done
	rm -f "$DIR"/sent.* "$DIR"/back.*
	[ "$failed" = 0 ] || echo "$failed of $CLIENTS failed"
	return "$failed"
}

try_socat() {
	local i servers=()
	have socat socat || return
	serve 7400 socat -t 30 "TCP-LISTEN:7400,bind=$B4,fork,reuseaddr,backlog=64" EXEC:cat
	servers+=("$server")
	for ((i = 0; i < RELAYS; i++)); do
		serve $((7300 + i)) socat -t 30 "TCP-LISTEN:$((7300 + i)),bind=$B4,fork,reuseaddr,backlog=64" \
			"TCP:$B4:7400"
		servers+=("$server")
	done
	check "socat: $CLIENTS clients, $RELAYS relays, one echo" all_relayed
	for server in "${servers[@]}"; do
		stop "$server"
	done
	by_rdma socat $((2 * CLIENTS))
}

# --- servers of data ----------------------------------------------------------------

replica() {
	client redis-cli -h "$B4" -p 6380 "$@"
}

caught_up() {
	local digest
	digest=$(redis debug digest)
	[ "${#digest}" = 40 ] && [ "$digest" = "$(replica debug digest)" ]
}

linked() {
	replica info replication | grep -q '^master_link_status:up'
}

redis_load() { # KEYS
	client redis-benchmark -h "$B4" -p 6379 -q -n "$1" -r 1000000 -d 2000 -c 20 -P 8 -t set,lpush,hset
}

try_replication() {
	local master
	have replication redis-cli redis-benchmark redis-check-rdb || return
	serve_redis "$B4" 6379 --enable-debug-command yes
	master=$server
	redis_load 5000 >/dev/null
	serve_redis "$B4" 6380 --enable-debug-command yes --replicaof "$B4 6379"
	check "redis: a replica is linked" busywait 60 linked
	check "redis: it has what was there before" busywait 30 caught_up
	check "redis: more is written" redis_load 5000
	check "redis: the replica has that, too" busywait 30 caught_up
	note "redis: $(redis dbsize) keys, $(redis info memory | sed -n 's/^used_memory_human:\([^\r]*\).*/\1/p') at either end"
	check "redis: that are many" test "$(replica dbsize)" -gt 9000
	by_rdma replication 41
	stop "$server"
	stop "$master"
}

WRK_CONNECTIONS=32

# No errors, and each connection has had an answer.
wrk_run() { # URL OPTION...
	local url=$1 requests
	shift
	client wrk -t 2 -c "$WRK_CONNECTIONS" -d 4s "$@" "$url" >"$OUT/wrk" 2>&1 || return
	cat "$OUT/wrk"
	requests=$(sed -n 's/^ *\([0-9]*\) requests in .*/\1/p' "$OUT/wrk")
	! grep -E 'Socket errors|Non-2xx' "$OUT/wrk" && [ "${requests:-0}" -ge "$WRK_CONNECTIONS" ]
}

try_wrk() {
	local sendfile
	have wrk wrk nginx || return
	head -c 20000 "$DIR/file" >"$DIR/small"
	for sendfile in on off; do
		serve_nginx "$sendfile"
		check "wrk: sendfile $sendfile, keepalive" wrk_run "http://$B4:8080/small"
		note "$(grep requests "$OUT/wrk")"
		check "wrk: sendfile $sendfile, a connection for each" \
			wrk_run "http://$B4:8080/small" -H 'Connection: close'
		note "$(grep requests "$OUT/wrk")"
		stop "$server"
	done
	check "wrk: nginx has nothing to complain about" [ -z "$(grep -E '\[(error|crit|alert|emerg)\]' "$OUT/nginx.log")" ]
	by_rdma wrk $((4 * WRK_CONNECTIONS))
}

memaslap_verified() {
	client memcaslap -s "$B4:11211" -T 2 -c 32 -x 30000 -v 1.0 >"$OUT/memaslap" 2>&1
	cat "$OUT/memaslap"
	grep -q '^verify_misses: 0' "$OUT/memaslap" && grep -q '^verify_failed: 0' "$OUT/memaslap" &&
		grep -q '^cmd_get: [1-9]' "$OUT/memaslap"
}

try_memcached() {
	have memcached memcached memcaslap memccp memccat || return
	serve 11211 memcached -u root -l "$B4" -p 11211 -U 0 -m 512 -I 64m -c 256
	head -c 10000000 "$DIR/file" >"$DIR/value"
	check "memcached: a large value is stored" client memccp --servers="$B4:11211" "$DIR/value"
	client memccat --servers="$B4:11211" value 2>/dev/null | head -c 10000000 >"$DIR/back"
	check "memcached: it comes back" cmp "$DIR/value" "$DIR/back"
	check "memcached: memaslap, all of it verified" memaslap_verified
	note "$(grep -E '^Run time' "$OUT/memaslap")"
	by_rdma memcached 34
	stop "$server"
}

# It is never root.
postgres_user() {
	setpriv --reuid=nobody --regid=nogroup --clear-groups env HOME="$DIR/pg" PATH="$PATH" "$@"
}

query() { # SQL
	client psql -AtX -c "$1"
}

pgbench_run() { # CLIENTS TRANSACTIONS OPTION...
	local clients=$1 each=$2
	shift 2
	client pgbench -n -j 2 -c "$clients" -t "$each" "$@" >"$OUT/pgbench" 2>&1
	cat "$OUT/pgbench"
	grep -q "^number of transactions actually processed: $((clients * each))/$((clients * each))" "$OUT/pgbench" &&
		grep -q '^number of failed transactions: 0 ' "$OUT/pgbench"
}

# Each transaction has added the same to an account, a teller and a branch.
balances() {
	local sums
	sums=$(query 'SELECT (SELECT sum(abalance) FROM pgbench_accounts),
		(SELECT sum(tbalance) FROM pgbench_tellers), (SELECT sum(bbalance) FROM pgbench_branches),
		(SELECT sum(delta) FROM pgbench_history), (SELECT count(*) FROM pgbench_history)')
	echo "$sums"
	[[ $sums =~ ^(-?[0-9]+)\|(-?[0-9]+)\|(-?[0-9]+)\|(-?[0-9]+)\|$1$ ]] &&
		[ "${BASH_REMATCH[1]}" = "${BASH_REMATCH[2]}" ] && [ "${BASH_REMATCH[1]}" = "${BASH_REMATCH[3]}" ] &&
		[ "${BASH_REMATCH[1]}" = "${BASH_REMATCH[4]}" ]
}

copied_sum() {
	[ "$(query 'COPY pgbench_accounts TO STDOUT' | wc -l)" = 200000 ]
}

try_postgres() {
	have postgres initdb postgres pgbench psql || return
	export PGHOST=$B4 PGUSER=postgres PGDATABASE=postgres
	install -d -o nobody "$DIR/pg"
	check "postgres: initdb" postgres_user initdb -D "$DIR/pg/data" -U postgres -A trust --no-sync
	# It lets in localhost only.
	echo "host all all $A4/32 trust" >>"$DIR/pg/data/pg_hba.conf"
	serve 5432 setpriv --reuid=nobody --regid=nogroup --clear-groups \
		"$(command -v postgres)" -D "$DIR/pg/data" -h "$B4" -k "$DIR/pg" -c fsync=off -c jit=off
	check "pgbench: 200000 accounts" client pgbench -i -q -s 2
	check "pgbench: select only" pgbench_run 8 500 -S
	note "$(grep '^tps' "$OUT/pgbench")"
	check "pgbench: as TPC-B" pgbench_run 8 100
	note "$(grep '^tps' "$OUT/pgbench")"
	check "pgbench: a connection for each" pgbench_run 8 5 -C
	check "pgbench: the balances agree" balances 840
	check "psql: all accounts come out" copied_sum
	by_rdma postgres 59
	stop "$server"
}

# --- latency -----------------------------------------------------------------------

sockperf_run() { # MODE OPTION...
	local mode=$1
	shift
	client sockperf "$mode" --tcp -i "$B4" -p 11111 -t 3 "$@" >"$OUT/sockperf" 2>&1 || return
	cat "$OUT/sockperf"
	grep -q 'dropped messages = 0; # duplicated messages = 0; # out-of-order messages = 0' "$OUT/sockperf" &&
		grep -q 'ReceivedMessages=[1-9]' "$OUT/sockperf"
}

try_sockperf() {
	have sockperf sockperf || return
	serve 11111 sockperf server --tcp -i "$B4" -p 11111
	check "sockperf: ping-pong" sockperf_run ping-pong
	note "$(grep 'Summary' "$OUT/sockperf")"
	check "sockperf: what comes back is what was sent" sockperf_run ping-pong -m 4000 --data-integrity
	check "sockperf: under load" sockperf_run under-load --mps 2000
	by_rdma sockperf 3
	stop "$server"
}

try_qperf() {
	have qperf qperf || return
	serve 19765 qperf -lp 19765
	check "qperf: bandwidth and latency" says 0 'latency *= *[0-9.]' client qperf -lp 19765 -ip 19766 -t 2 "$B4" tcp_bw tcp_lat
	by_rdma qperf 3
	stop "$server"
}

# --- stress --------------------------------------------------------------------------

# Its workers talk to themselves, at the wildcard address whatever --sock-if says.
stress_run() { # OPTION...
	# shellcheck disable=SC2016
	client sh -c 'LD_PRELOAD=$0:$LD_PRELOAD exec "$@"' "$PROGRAMS/wildcard_shim.so" \
		stress-ng --temp-path "$DIR" --verify --metrics-brief --timeout 5 "$@" >"$OUT/stress" 2>&1 || return
	cat "$OUT/stress"
	! grep -qE '(fail|warn|error): ' "$OUT/stress" && grep -qE '\] [a-z]+ +[1-9][0-9]* ' "$OUT/stress"
}

stress() { # NAME OPTION...
	local name=$1
	shift
	check "stress-ng: $name" stress_run "$@"
	note "$(sed -nE 's/.*\] ([a-z]+) +([0-9]+) .*/\1: \2 operations/p' "$OUT/stress")"
}

try_stress() {
	local how
	have stress-ng stress-ng || return
	for how in send sendmsg sendmmsg; do
		stress "sock, $how" --sock 2 --sock-port 8200 --sock-opts "$how"
	done
	stress "sock, IPv6" --sock 2 --sock-port 8300 --sock-domain ipv6 --sock-nodelay
	stress "sock, zero copy" --sock 2 --sock-port 8400 --sock-zerocopy
	stress "sockmany" --sockmany 2 --sockmany-port 8500
	stress "epoll" --epoll 2 --epoll-port 8600 --epoll-domain ipv4
	stress "sockabuse" --sockabuse 2 --sockabuse-port 8700
	by_rdma stress-ng 16
}

# --- all -------------------------------------------------------------------------------

PATH=$PATH:$UNPACKED/usr/bin:$UNPACKED/usr/lib/postgresql/15/bin
try_all iperf3 scp nc socat replication wrk memcached postgres sockperf qperf stress
