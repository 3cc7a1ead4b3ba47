#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The test bed itself: do both topologies carry RDMA, without our module?
#
# Guest: m=1024 t=240
# When: 6.1
# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/topo.sh
. "$(dirname "$0")/topo.sh"

# ping_pong NAME SERVER-ADDRESS CLIENT-ADDRESS
rping_pair() {
	local name=$1 server=$2 client=$3
	background timeout 200 rping -s -a "$server" -C 5 -p 7174 >"$OUT/rping.log" 2>&1
	busywait 20 rdma_listening 7174 || note "rping does not listen"
	check "$name" timeout 200 rping -c -a "$server" -I "$client" -C 5 -p 7174
	stop "${PIDS[-1]}"
}

rstream_pair() {
	local name=$1 server=$2 client=$3
	background timeout 200 rstream -T b -b "$server" -p 7471 -S 4096 -I 10 -C 5 >"$OUT/rstream.log" 2>&1
	busywait 20 rdma_listening 7471 || note "rstream does not listen"
	check "$name" timeout 200 rstream -T b -s "$server" -b "$client" -p 7471 -S 4096 -I 10 -C 5
	stop "${PIDS[-1]}"
}

# sends NAME DEVICE COMMAND...: the command makes the device send packets.
sends() {
	local name=$1 device=$2 before after
	shift 2
	before=$(sent_packets "$device")
	"$@"
	after=$(sent_packets "$device")
	check "$name: $device sent $((after - before)) packets" [ "$after" -gt "$before" ]
}

on_wire() {
	local received
	received=$(cat "/sys/class/net/$BNET/statistics/rx_packets")
	"$@"
	check "packets crossed the wire" \
		[ "$(cat "/sys/class/net/$BNET/statistics/rx_packets")" -gt $((received + 10)) ]
}

topo_wire 9000
on_wire sends "IPv4" "$ADEV" rping_pair "rping over IPv4, A to B" "$B4" "$A4"
sends "IPv4" "$BDEV" rping_pair "rping over IPv4, B to A" "$A4" "$B4"
on_wire sends "IPv6" "$ADEV" rping_pair "rping over IPv6, A to B" "$B6" "$A6"
sends "stream" "$ADEV" rstream_pair "user-space rsockets over IPv4" "$B4" "$A4"
on_wire check "TCP takes the wire as well" ping -q -c 20 -i 0.01 -I "$A4" "$B4"
topo_down

topo_self
sends "self" "$ADEV" rping_pair "rping to itself over IPv4" "$B4" "$A4"
sends "self" "$ADEV" rping_pair "rping to itself over IPv6" "$B6" "$A6"
finish
