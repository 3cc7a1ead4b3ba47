# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What tools/bench and tools/bench-* have in common: sourced in the folder of the tree,
# with BENCH set to the name of the program. A part of each runs outside of the guest,
# and the other, which it starts with --inside, there.

say() {
	echo "$BENCH: $*"
}

fail() { # WHAT HINT
	echo "$BENCH: $1" >&2
	echo "$BENCH: $2" >&2
	exit 1
}

# The head of the program
usage() {
	sed -n '/^# usage/,/^set/{/^set/d;s/^# \{0,1\}//;p}' "tools/$BENCH"
	exit 2
}

# --- outside ----------------------------------------------------------------

# Runs that differ in driver or MTU are kept apart: sets out, the folder of results
name_results() { # LABEL
	out=${BENCH#bench}
	out=build/bench/${out:+${out#-}-}$1-${RDMA_DRIVER:-rxe}-$MTU
}

# What the guest needs: sets label and out
prepare() { # KVER GROUP... (of tools/vm/setup, besides what all need)
	local kver=$1 groups=(build vm "${@:2}") resolved
	[[ $kver != uml* ]] || groups+=(uml)
	[ "$(id -u)" = 0 ] || fail "booting a guest from this root file system needs root" "try sudo"
	tools/vm/setup "${groups[@]}" || fail "packages are missing" "try: make setup"
	resolved=$(tools/vm/kernel "$kver") || fail "no kernel $kver" "try: tools/vm/uml-build plain"
	label=${resolved%% *}
	tools/build "$kver" && make -s -C tools && make -s -C selftests ../build/selftests/rsockets_shim.so ||
		fail "building failed" "try: make setup"
	name_results "$label"
	mkdir -p "$out"
	rm -f "$out/csv" "$out/failures"
	say "booting $label; load of this machine $(cut -d ' ' -f 1 /proc/loadavg)"
}

# What the guest found, with a head: sets csv
collect() {
	csv=$out.csv
	{
		echo round,test,tool,transport,value,sender,receiver
		cat "$out/csv"
	} >"$csv" || fail "nothing was measured" "look at $out/failures"
}

# Of all figures, by a program of awk that calls what bench.awk has
tables() { # PROGRAM
	tail -n +2 "$csv" | awk -F, -v all="$TESTS" "$(cat tools/bench.awk)
	{
		add(\"value\", \$1, \$2, \$3 \":\" \$4, \$5)
		add(\"sender\", \$1, \$2, \$3 \":\" \$4, \$6)
		add(\"receiver\", \$1, \$2, \$3 \":\" \$4, \$7)
	}
	$1"
}

conclude() {
	say "medians of $ROUNDS rounds, and half of their range; ratios are of the same round"
	say "all figures: $csv"
	[ ! -s "$out/failures" ] || say "some runs failed: $out/failures"
}

# --- inside the guest -------------------------------------------------------

PERF=build/tools/rsockperf
PINGS=2000
REQUESTS=8192
CONNECTS=100
MAX_CONNECTIONS=256
FIRST_PORT=7500 PORTS=$((96 * MAX_CONNECTIONS))
PORT=$FIRST_PORT

# Bytes in all, by the size of a message. A system call of User-Mode Linux takes
# some 10 us or more.
declare -A total=([64]=$((1 << 20)) [512]=$((4 << 20)) [4096]=$((16 << 20))
	[16384]=$((32 << 20)) [65536]=$((64 << 20)) [262144]=$((128 << 20))
	[1048576]=$((128 << 20)) [67108864]=$((1 << 30)))

# Of what is placed four times as many, as far as 1 GiB: that has to take many of the
# ticks in which CPU time is told.
bytes_of() { # TEST
	local n=${total[${1#place-}]}
	[[ $1 != place-* || $n -ge $((1 << 30)) ]] || n=$((4 * n))
	echo "$n"
}

# Where the server is: here, unless the program says otherwise
there() { # COMMAND...
	"$@"
}

serve_start() { # COMMAND...
	background timeout 120 "$@" >"$OUT/server.log" 2>&1
	SERVER=$!
}

serve_end() { # STATUS of the client
	[ "$1" = 0 ] && wait "$SERVER" || stop "$SERVER"
	unset 'PIDS[-1]'
}

serve_log() {
	cat "$OUT/server.log"
}

next_port() {
	PORT=$((FIRST_PORT + (PORT - FIRST_PORT + MAX_CONNECTIONS) % PORTS))
}

# pair READY PORT SERVER... -- CLIENT...: run both, print what the client does.
# READY says whether the server listens, for the port that follows it.
pair() {
	local ready=$1 port=$2 server=() status
	shift 2
	while [ "$1" != -- ]; do
		server+=("$1")
		shift
	done
	shift
	there serve_start "${server[@]}"
	status=1
	if busywait 10 there "$ready" "$port"; then
		timeout 100 "$@" >"$OUT/client.log" 2>&1
		status=$?
		cat "$OUT/client.log"
	fi
	there serve_end $status
	return $status
}

ready_of() { # FAMILY
	[[ $1 = @(tcp|smc) ]] && echo listening || echo rdma_listening
}

# Each prints the value of the test, and what it knows of the sender's and the
# receiver's CPU time; or nothing.

rsockperf_run() { # FAMILY TEST [OPTION...]
	local family=$1 test=$2 size=${2#place-} load
	shift 2
	case $test in
	ping-*) load=(-s "${test#ping-}" -l "$PINGS") ;;
	maps-*) load=(-s 64 -n "${total[64]}") ;;
	requests-*) load=(-r "$REQUESTS" -C "${test#*-}") ;;
	connects) load=(-k "$CONNECTS") ;;
	*) load=(-s "$size" -n "$(bytes_of "$test")") ;;
	esac
	pair "$(ready_of "$family")" "$PORT" $PERF -f "$family" -p "$PORT" "$B4" -- \
		$PERF -f "$family" -p "$PORT" -b "$A4" -j "${load[@]}" "$@" -c "$B4" |
		figures "$test"
}

# From the JSON of rsockperf
figures() { # TEST
	awk -v RS='[{},]' -F '": ' -v test="$1" '
	{ sub(/^ *"/, ""); v[$1] = $2 }
	END {
		value = test ~ /^ping/ ? "p50" : test ~ /^(maps-|requests-|connects)/ ? "rate" : "gbps"
		if (value in v)
			print v[value], v["sender_us_per_mib"], v["receiver_us_per_mib"]
	}'
}

# A process for each connection, at both ends

processes_serve() { # FAMILY PORT NUMBER
	local i
	servers=()
	for ((i = 0; i < $3; i++)); do
		background timeout 300 $PERF -f "$1" -p $(($2 + i)) "$B4" >"$OUT/server.log" 2>&1
		servers+=($!)
	done
	busywait 30 all_listen "$@"
}

processes_end() {
	local pid
	for pid in "${servers[@]}"; do
		stop "$pid"
		unset 'PIDS[-1]'
	done
}

# All connect, and have their clients wait
processes_open() { # FAMILY NUMBER REQUESTS
	local i
	clients=()
	there processes_serve "$1" "$PORT" "$2" || return
	for ((i = 0; i < $2; i++)); do
		$PERF -f "$1" -p $((PORT + i)) -b "$A4" -j -w -r "$3" -c "$B4" \
			>"$OUT/client.$i" 2>"$OUT/client.log" &
		clients+=($!)
	done
	busywait 60 all_stopped "$2"
}

processes_go() {
	pkill -CONT -x rsockperf
	wait "${clients[@]}"
}

processes_close() {
	local pid
	for pid in "${clients[@]}"; do
		stop "$pid"
	done
	there processes_end
}

all_stopped() { # NUMBER
	[ "$(pgrep -c -r T -x rsockperf)" = "$1" ]
}

all_listen() { # FAMILY PORT NUMBER
	if [ "$1" = tcp ]; then
		ss -Hltn "sport >= :$2 and sport < :$(($2 + $3))"
	else
		rdma resource show cm_id | awk -v from="$2" -v to=$(($2 + $3)) '
		/state LISTEN/ && match($0, /src-addr [^ ]*:[0-9]+/) {
			n = split(substr($0, RSTART, RLENGTH), port, ":")
			if (port[n] >= from && port[n] < to)
				print port[n]
		}'
	fi | awk -v n="$3" 'END { exit NR != n }'
}

# rsockets, where one process hangs after some connections
processes_run() { # FAMILY requests-N
	local n=${2#*-} i
	! processes_open "$1" "$n" $((REQUESTS / n)) || processes_go
	processes_close
	# All have the same number to do: the last one has taken as long as all of them
	for ((i = 0; i < n; i++)); do
		figures "$2" <"$OUT/client.$i"
		rm "$OUT/client.$i"
	done | awk -v n="$n" 'NR == 1 || $1 < least { least = $1 } END { if (NR == n) print n * least }'
}

# Whether it went where it should; the function before is called before it begins
# Soft-iWARP counts no packets: all that is proven of it is that they went over the wire
proof() { # TRANSPORT
	sent_packets "$ADEV" 2>/dev/null || cat "/sys/class/net/$ANET/statistics/tx_packets"
}

proven() { # TRANSPORT PROOF
	[[ $1 = @(tcp|memory) ]] || [ "$(proof "$1")" -gt $(($2 + 10)) ]
}

# All tests, each by what runs() has, in turns
round() { # NUMBER
	local test run tool transport value sender receiver before
	for test in $TESTS; do
		printf '%s: round %d of %d, %s' "$BENCH" "$1" "$ROUNDS" "$test"
		for run in $(runs "$test"); do
			tool=${run%:*} transport=${run#*:}
			next_port
			before=$(proof "$transport")
			read -r value sender receiver <<<"$("${tool}_run" "$transport" "$test" 2>/dev/null)"
			proven "$transport" "$before" || value=
			printf ' %s' "${value:--}"
			[ -z "$value" ] || echo "$1,$test,$tool,$transport,$value,$sender,$receiver" >>"$OUT/csv"
			[ -n "$value" ] || failed "$test $run"
		done
		echo
	done
}

failed() { # WHAT
	{
		echo "$1"
		there serve_log | tail -n 3
		tail -n 3 "$OUT/client.log"
	} >>"$OUT/failures"
}

rounds() {
	local i
	for ((i = 1; i <= ROUNDS; i++)); do
		round $i
	done
}
