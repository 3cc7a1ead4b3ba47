#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Two hosts with different kernels, on a wire that loses, delays and reorders:
# streams, placement, and programs of others by rsock-run.
#
# Guest: m=1024 t=600 n=2
# Kernels: stock
# When: full
# shellcheck source=selftests/programs.sh
. "$(dirname "$0")/programs.sh"
# shellcheck source=selftests/sock_lib.sh
. "$(dirname "$0")/sock_lib.sh"
# shellcheck source=selftests/pair_lib.sh
. "$(dirname "$0")/pair_lib.sh"

# The servers are over there.
serve_there() { # PORT COMMAND...
	peer "serve $(printf '%q ' "$@")"
}

iperf3_there() { # HOW
	local connections=0
	have "iperf3, $1" iperf3 python3 || return
	serve_there 5201 iperf3 -s -B "$B4" -p 5201
	iperf3_case 1 4000000 "a stream, $1" -n 4M
	# All streams together end it, and one that has lost something is behind
	iperf3_case 2 3000000 "reverse, $1" -n 4M -R -P 2
	by_rdma "iperf3, $1" "$connections"
	peer "stop \$server"
}

redis_there() { # HOW
	have "redis, $1" redis-cli redis-benchmark redis-check-rdb || return
	serve_there 6379 "$DIR/redis-server" --bind "$B4" --port 6379 --protected-mode no --save ''
	check "redis: a large value, $1" redis_value
	check "redis: its benchmark, $1" redis_benchmark
	note "$(sed 's/^/redis: /' "$OUT/redis-benchmark")"
	by_rdma "redis, $1" 22
	peer "stop \$server"
}

nginx_there() { # HOW
	have "nginx, $1" nginx curl || return
	serve_there 8080 nginx -e /dev/null -c "$DIR/nginx.conf"
	check "nginx: two files, $1" curl_files "http://$B4:8080"
	check "nginx: two files, IPv6, $1" curl_files "http://[$B6]:8080"
	by_rdma "nginx, $1" 2
	peer "stop \$server"
}

# Both have the same files.
programs_begin() {
	SIZE=$((4 << 20))
	both "DIR=/dev/shm/programs; mkdir -p \$DIR; yes 'the quick brown fox' | head -c $SIZE >\$DIR/file"
	peer "nginx_config on >\$DIR/nginx.conf; ln -sf \"\$(command -v redis-check-rdb)\" \$DIR/redis-server"
}

disturbed() { # HOW [OPTION...]
	local how=$1 start=$SECONDS
	shift
	netem "$@"
	moves "a stream, $how" stream 4 16
	moves "a stream, IPv6, $how" stream 6 4
	moves "placement, $how" place 4 16
	iperf3_there "$how"
	redis_there "$how"
	nginx_there "$how"
	note "$how: $((SECONDS - start)) s, $(dropped) and $(peer dropped) packets lost"
}

# What is expected of a host that vanished is what TCP says.
tcp_oracle() {
	sysctl -qw net.ipv4.tcp_retries2=3
	peer "RSOCK_TEST_FAMILY=tcp background $LOAD serve >\$OUT/tcp.log 2>&1"
	peer busywait 20 listening 7600 || note "no server of TCP"
	RSOCK_TEST_FAMILY=tcp lost "TCP: the wire is cut" peer "netem loss 100%" netem
}

pair_up
programs_begin
disturbed "no loss"
disturbed "0.1 % loss" loss 0.1%
disturbed "1 % loss" loss 1%
disturbed "delay" delay 10ms
disturbed "reordering" delay 5ms reorder 75% 50%
tcp_oracle
pair_down
finish
