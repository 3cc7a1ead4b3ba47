#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Build and run the tests of the wire protocol code; TAP on stdout.
#
#	BUILD		where to build (../../build/wire); what made a fuzz
#			target fail is kept there, and so is its corpus
#	FUZZ_SECONDS	for each fuzz target (5); 0: only try the seeds

cd "$(dirname "$0")" || exit 1
BUILD=${BUILD:-../../build/wire}
FUZZ_SECONDS=${FUZZ_SECONDS:-5}
mkdir -p "$BUILD" && BUILD=$(cd "$BUILD" && pwd) || exit 1

echo "TAP version 13"
if ! make -s BUILD="$BUILD" all >"$BUILD/make.log" 2>&1; then
	sed 's/^/# /' "$BUILD/make.log"
	echo "Bail out! build failed, see $BUILD/make.log"
	exit 1
fi

nr=0
failed=0

# result STATUS NAME
result()
{
	nr=$((nr + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $nr - $2"
	else
		echo "not ok $nr - $2"
		failed=$((failed + 1))
	fi
}

# The log's lines are "ok 1 - unit.c:CASE:TEST: Passed" or, with what is wrong
# in the place of "Passed", "not ok ...".
unit()
{
	log=$BUILD/unit.tap
	rm -f "$log"
	# Every test is a process, and leak detection is slow at exit
	ASAN_OPTIONS=detect_leaks=0 CK_TAP_LOG_FILE_NAME="$log" \
		"$BUILD/unit" >"$BUILD/unit.log" 2>&1
	status=$?
	ran=0
	plan=-1
	while IFS=: read -r verdict case test message; do
		case $verdict in
		"ok "*)
			result 0 "unit: $test: $case"
			ran=$((ran + 1))
			;;
		"not ok "*)
			result 1 "unit: $test: $case"
			echo "#$message"
			ran=$((ran + 1))
			;;
		1..*)
			plan=${verdict#1..}
			;;
		esac
	done <"$log"
	[ "$ran" -eq "$plan" ] && [ "$status" -eq "$((failed > 0))" ]
	result $? "unit: all ran"
	[ "$status" -eq 0 ] || sed 's/^/# /' "$BUILD/unit.log"
}

# fuzz TARGET LARGEST_INPUT
fuzz()
{
	log=$BUILD/fuzz_$1.log
	limit=-max_total_time=$FUZZ_SECONDS
	[ "$FUZZ_SECONDS" -gt 0 ] || limit=-runs=0
	mkdir -p "$BUILD/corpus/$1"
	"$BUILD/fuzz_$1" "$limit" -max_len="$2" -print_final_stats=1 \
		-artifact_prefix="$BUILD/fuzz_$1-" \
		"$BUILD/corpus/$1" "$BUILD/seeds/$1" >"$log" 2>&1
	status=$?
	result $status "fuzz_$1"
	if [ $status -eq 0 ]; then
		sed -n 's/^stat::\(number_of_executed_units\|average_exec_per_sec\)/# \1/p' \
			"$log"
	else
		grep -v '^#' "$log" | tail -n 60 | sed 's/^/# /'
		sed -n 's/.*written to /# input: /p' "$log"
	fi
}

unit
fuzz conn 256
fuzz msg 48
fuzz win 512
echo "1..$nr"
[ "$failed" -eq 0 ]
