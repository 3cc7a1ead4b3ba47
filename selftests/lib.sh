# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Library of the test scripts. A script sources it, reports results with the
# functions below, and ends by "finish". On standard output goes TAP, nothing
# else; what programs print is made comments by "note".
#
# What tests.sh hints in its header are for tools/vm/check:
#   # Guest: m=MIB t=SECONDS       memory, and a third of the time limit
#   # Kernels: stock debug         where to run it (default: both)
set -u

TREE=${TREE:-$(readlink -f "$(dirname "${BASH_SOURCE[0]}")/..")}
KVER=${KVER:-$(uname -r)}
BUILD=$TREE/build/$KVER
PROGRAMS=$TREE/build/selftests
if [ -z "${OUT:-}" ]; then
	OUT=$(mktemp -d)
fi

TAP_COUNT=0
TAP_FAILED=0
PIDS=()
CLEANUP=()

# --- results ----------------------------------------------------------------

note() {
	echo "$@" | sed 's/^/# /'
}

ok() { # NAME
	TAP_COUNT=$((TAP_COUNT + 1))
	echo "ok $TAP_COUNT $*"
}

not_ok() { # NAME
	TAP_COUNT=$((TAP_COUNT + 1))
	TAP_FAILED=$((TAP_FAILED + 1))
	echo "not ok $TAP_COUNT $*"
}

skip() { # NAME REASON
	TAP_COUNT=$((TAP_COUNT + 1))
	echo "ok $TAP_COUNT $1 # SKIP $2"
}

# result STATUS NAME: for the status of a command that ran before.
result() {
	local status=$1
	shift
	if [ "$status" = 0 ]; then
		ok "$*"
	else
		note "status $status"
		not_ok "$*"
	fi
}

# check NAME COMMAND...: the command succeeds. Its output is shown if it fails.
check() {
	local name=$1 log status
	shift
	log=$("$@" 2>&1)
	status=$?
	[ $status = 0 ] || note "$log"
	result $status "$name"
}

check_fails() { # NAME COMMAND...
	local name=$1 log
	shift
	if log=$("$@" 2>&1); then
		note "$log"
		not_ok "$name: succeeded"
	else
		ok "$name"
	fi
}

# says STATUS PATTERN COMMAND...: it ends with this status, and says that; for "check".
says() {
	local status=$1 pattern=$2 log
	shift 2
	log=$("$@" 2>&1)
	[ $? = "$status" ] || {
		echo "another status; it said: $log"
		return 1
	}
	grep -q -- "$pattern" <<<"$log" || {
		echo "it said: $log"
		return 1
	}
}

# run_check PROGRAM [ARGS]: run a libcheck program and take over its results.
# It is expected to print TAP where CK_TAP_LOG_FILE_NAME says.
run_check() {
	local program=$1 name log status before=$TAP_COUNT planned
	shift
	log=$(mktemp "$OUT/tap.XXXXXX")
	name=$(basename "$program")
	[[ $program == */* ]] || program=$PROGRAMS/$program
	CK_TAP_LOG_FILE_NAME=$log CK_VERBOSITY=silent "$program" "$@" </dev/null 2>&1 | sed -u 's/^/# /'
	status=${PIPESTATUS[0]}
	planned=$(sed -n 's/^1\.\.\([0-9]*\)$/\1/p' "$log")
	take_over "$name" <"$log"
	[ "${planned:-none}" = $((TAP_COUNT - before)) ] ||
		not_ok "$name: $((TAP_COUNT - before)) results of ${planned:-no plan} (status $status)"
	[ "$status" = 0 ] || [ $TAP_FAILED -gt 0 ] || not_ok "$name: status $status"
	rm -f "$log"
}

# take_over PREFIX: the results in someone else's TAP on standard input, as
# ours. Of libcheck's "file.c:suite:test: Passed" only the test is kept, with
# the message of a failure. No processes: they take long on a debug kernel.
take_over() {
	local prefix=$1 line name
	while read -r line; do
		[[ $line =~ ^(not )?ok\ [0-9]+\ (-\ )?(.*) ]] || {
			[[ $line != "# "* ]] || echo "$line"
			continue
		}
		name=${BASH_REMATCH[3]%: Passed}
		[[ ! $name =~ ^[^:\ ]+\.c:[^:]*:(.*) ]] || name=${BASH_REMATCH[1]}
		case $line in
		*"# SKIP"*) skip "$prefix: ${name%% # SKIP*}" "${name##*# SKIP }" ;;
		not*) not_ok "$prefix: $name" ;;
		*) ok "$prefix: $name" ;;
		esac
	done
}

finish() {
	echo "1..$TAP_COUNT"
	[ $TAP_FAILED = 0 ]
	exit
}

# --- tracing ----------------------------------------------------------------

# traces SYSTEM on|off: trace its events, and then have them in $OUT/trace.
TRACING=/sys/kernel/tracing
traces() {
	case $2 in
	on)
		mountpoint -q $TRACING || mount -t tracefs tracefs $TRACING
		echo 8192 >$TRACING/buffer_size_kb
		: >$TRACING/trace
		echo 1 >"$TRACING/events/$1/enable"
		;;
	off)
		echo 0 >"$TRACING/events/$1/enable"
		cat $TRACING/trace >"$OUT/trace"
		;;
	esac
}

# --- waiting ----------------------------------------------------------------

# busywait SECONDS COMMAND...: until the command succeeds. Never just sleep.
busywait() {
	local end=$((SECONDS + $1 + 1))
	shift
	until "$@" >/dev/null 2>&1; do
		[ $SECONDS -lt $end ] || { "$@" >/dev/null 2>&1; return; }
		sleep 0.02
	done
}

listening() { # TCP PORT
	ss -Hltn "sport = :$1" | grep -q .
}

gone() { # PID
	! kill -0 "$1" 2>/dev/null
}

# A listener of rdma_cm: user space's or ours.
rdma_listening() { # PORT
	rdma resource show cm_id | grep -q "state LISTEN.*src-addr [^ ]*:$1 "
}

# --- processes and cleaning up ----------------------------------------------

# background COMMAND...: start it; its pid is $! and is ended at the exit.
# Give it a redirection of its own: standard output is for TAP.
background() {
	"$@" &
	PIDS+=($!)
}

# stop PID: end a process started by "background".
stop() {
	kill "$1" 2>/dev/null
	wait "$1" 2>/dev/null
}

on_exit() { # COMMAND...: done at the exit, the last one first
	CLEANUP=("$*" "${CLEANUP[@]}")
}

cleanup() {
	local status=$? pid command
	trap - EXIT
	for pid in "${PIDS[@]}"; do
		stop "$pid"
	done
	for command in "${CLEANUP[@]}"; do
		eval "$command" >/dev/null 2>&1
	done
	exit $status
}
trap cleanup EXIT
trap 'exit 143' TERM INT

# --- the module -------------------------------------------------------------

is_debug() {
	[ -e /sys/kernel/debug/kmemleak ]
}

is_uml() {
	[[ $KVER == uml* ]]
}

# load_rsock [parameters]: without the module nothing can be tested: bail out.
load_rsock() {
	local log
	modprobe -a ib_core rdma_cm ib_uverbs 2>/dev/null
	if ! log=$(insmod "$BUILD/net/rsock/rsock.ko" "$@" 2>&1); then
		note "$log"
		dmesg | tail -n 5 | sed 's/^/# /'
		not_ok "load rsock.ko"
		finish
	fi
	FAMILY=$(cat /sys/module/rsock/parameters/family 2>/dev/null)
	export FAMILY
}

# A counter of /proc/net/rsock_stat
stat_of() { # NAME
	awk -v name="$1" '/^Rsock: A/ { for (i = 2; i <= NF; i++) if ($i == name) at = i }
		/^Rsock: [0-9]/ { print $at }' /proc/net/rsock_stat
}

no_faults() { # no peer was found to break the protocol, or to write astray
	awk '/^Rsock: A/ { for (i = 2; i <= NF; i++) name[i] = $i }
	     /^Rsock: [0-9]/ { for (i = 2; i <= NF; i++)
		if (name[i] ~ /^(Fault|AccessErrors|RevokeTimeouts|WritesLost)/ && $i) {
			print name[i], $i; bad = 1 } }
	     END { exit bad }' /proc/net/rsock_stat
}

rsock_unused() {
	[ "$(cat /sys/module/rsock/refcnt)" = 0 ]
}

# unload_rsock: counts as a result: nothing may hold the module any longer
# (give closing sockets up to 30 s), and a debug kernel finds no leak of it.
unload_rsock() {
	busywait 30 rsock_unused || note "refcnt $(cat /sys/module/rsock/refcnt)"
	check "unload rsock.ko" rmmod rsock
	is_debug || return 0
	check "no memory leaked" no_leaks
}

# kmemleak believes in a leak when two scans agree and the object is old
# enough (5 s). What is on the move hides from a scan, and the next one finds it.
no_leaks() {
	local kmemleak=/sys/kernel/debug/kmemleak leaks
	echo scan >$kmemleak
	for _ in {1..3}; do
		sleep 5.5
		echo scan >$kmemleak
		leaks=$(cat $kmemleak)
		[ -n "$leaks" ] || return 0
	done
	echo "$leaks" | head -n 60
	return 1
}
