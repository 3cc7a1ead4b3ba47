# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Two guests, each a host (tools/vm/pair); source it after lib.sh and topo.sh.
#
#   host A, where the test script runs        host B, which does what A says
#
#      eth0  10.8.0.1  ------- control -------  eth0  10.8.0.2
#      eth1  10.9.0.1  -------- wire ---------  eth1  10.9.0.2
#        |   fd09::1                              |   fd09::2
#      rdma0                                    rdma0
#
# The shell of B has the same libraries, and keeps what it is told: variables,
# functions, processes in the background.
#
#   pair_begin            in A: wait for B
#   peer LINE             for the shell of B: output and status are the line's
#   both LINE             here and there
#
# PAIR_END (a or b) is set by tools/vm/pair.

CONTROL_A=10.8.0.1 CONTROL_B=10.8.0.2 CONTROL_PORT=700
PEER_DONE="pair: done"
PEER_PATIENCE=300 # seconds for a line

control_up() { # ADDRESS
	local i
	modprobe -q virtio_net
	# The names of User-Mode Linux
	for i in 0 1; do
		[ ! -e /sys/class/net/vec$i ] || ip link set vec$i name eth$i
	done
	busywait 60 test -e /sys/class/net/eth1 &&
		ip addr add "$1/24" dev eth0 && ip link set eth0 up
}

pair_begin() {
	local from to
	control_up "$CONTROL_A" || topo_fail "no network devices: is this one of two guests?"
	coproc busybox nc -l -p "$CONTROL_PORT"
	# Subshells have no other descriptors of it.
	from=${COPROC[0]} to=${COPROC[1]}
	exec 8<&"$from" 9>&"$to"
	peer : || topo_fail "no other guest"
}

# It is gone if it says nothing.
peer() { # LINE
	local line
	echo "$*" >&9
	while IFS= read -r -t "$PEER_PATIENCE" -u 8 line; do
		[[ $line != "$PEER_DONE "* ]] || return "${line#"$PEER_DONE "}"
		echo "$line"
	done
	echo "the other guest does not answer: $*"
	return 1
}

both() { # LINE
	eval "$1" && peer "$1"
}

# What B does until A is gone
pair_obey() {
	local line
	control_up "$CONTROL_B" || return
	busywait 300 connect_control || return
	while IFS= read -r -u 9 line; do
		eval "$line" </dev/null >&9 2>&1
		echo "$PEER_DONE $?" >&9
	done
}

connect_control() {
	exec 9<>"/dev/tcp/$CONTROL_A/$CONTROL_PORT"
}

# --- the wire --------------------------------------------------------------------

# netem OPTION...: for what leaves either host; without options: as it was
netem() {
	if [ $# = 0 ]; then
		both "tc qdisc del dev eth1 root 2>/dev/null; true"
	else
		# It must not drop for want of room.
		both "tc qdisc replace dev eth1 root netem limit 20000 $*"
	fi
}

dropped() { # packets, by netem here
	tc -s qdisc show dev eth1 | sed -n 's/.*dropped \([0-9]*\).*/\1/p;T;q'
}

# --- loads -------------------------------------------------------------------------

LOAD=$PROGRAMS/pair_load
LOAD_LIMIT=200 # seconds after which something hangs

pair_up() { # both hosts, and the server in B
	local lines=(load_rsock "topo_pair ${1:-9000}" sock_env "modprobe sch_netem")
	local line
	pair_begin
	for line in "${lines[@]}"; do
		both "$line" || topo_fail "$line"
	done
	serve_loads
}

serve_loads() {
	peer "background $LOAD serve >\$OUT/serve.log 2>&1; SERVER=\$!"
	peer busywait 20 rdma_listening 7600 || topo_fail "no server: $(peer cat "\$OUT/serve.log")"
}

# moves NAME ARGS: what the load says of itself is a note, with what the devices
# did meanwhile
moves() {
	local name=$1 text status sent there lost
	shift
	sent=$(sent_packets "$ADEV") there=$(peer sent_packets "$BDEV") lost=$(($(dropped) + $(peer dropped)))
	text=$(timeout "$LOAD_LIMIT" "$LOAD" "$@" 2>&1)
	status=$?
	sent=$(($(sent_packets "$ADEV") - sent)) there=$(($(peer sent_packets "$BDEV") - there))
	lost=$(($(dropped) + $(peer dropped) - lost))
	note "$name: $text; $sent and $there packets by RDMA, $lost lost"
	[ $status = 0 ] || note "$(peer tail -n 3 "\$OUT/serve.log")"
	result $status "$name"
}

pair_down() {
	netem
	peer "stop \$SERVER"
	check "the other host: unload rsock.ko" peer "topo_down; busywait 30 rsock_unused; rmmod rsock"
	topo_down
	unload_rsock
}

# As if its power were cut
peer_vanishes() {
	echo "echo b >/proc/sysrq-trigger" >&9
	busywait 20 peer_is_gone
}

peer_is_gone() {
	! ping -c 1 -W 1 "$CONTROL_B"
}

# during NAME LINE: a stream, in the middle of which the line is executed; sets
# $status and $text, which are the stream's
during() {
	local pid before begin
	before=$(sent_packets "$ADEV")
	timeout 90 "$LOAD" stream 4 32 >"$OUT/during" 2>&1 &
	pid=$!
	busywait 60 sent_since $((before + 200)) || note "nothing is sent"
	begin=${EPOCHREALTIME/./}
	check "$1: in the middle of a stream" still_there "$pid"
	eval "$2"
	note "$1: for $(((${EPOCHREALTIME/./} - begin) / 1000)) ms"
	wait "$pid"
	status=$?
	text=$(cat "$OUT/during")
}

# The wire carries nothing from here to there, for less than a device is patient
silence() {
	local status text
	during "$1" "tc qdisc replace dev eth1 root netem loss 100%; sleep 0.3; tc qdisc del dev eth1 root"
	result "$status" "$1: $text"
}

# A network device goes down. Soft-RoCE ends connections of which it has to send
# just then; so they end, or they do not, but not without a word.
goes_down() { # NAME here|peer
	local status text where=eval
	[ "$2" = here ] || where=peer
	during "$1" "$where 'ip link set eth1 down; sleep 1; ip link set eth1 up'"
	note "$1: $text"
	check "$1: it ends" test "$status" != 124
	revive "$2"
	moves "$1: a new one" stream 4 4
}

revive() { # here|peer
	if [ "$1" = here ]; then
		new_device rdma0 eth1 "$A4"
	else
		peer "new_device rdma0 eth1 $B4; stop \$SERVER"
		serve_loads
	fi
}

still_there() { # PID
	! gone "$1"
}

sent_since() { # PACKETS
	[ "$(sent_packets "$ADEV")" -gt "$1" ]
}

# Connections that lose their peer: which, and what they see, is in pair_load.c
lost() { # NAME peer|self CUT MEND: whom the listener is for then; lines for eval
	local name=$1 pid status
	[ -p /run/lost ] || mkfifo /run/lost
	exec 7<>/run/lost
	timeout "$LOAD_LIMIT" "$LOAD" survive 4 "$2" <&7 >"$OUT/lost" 2>&1 &
	pid=$!
	said ready "$pid"
	eval "$3"
	echo >&7
	said lost "$pid"
	eval "$4"
	echo >&7
	wait "$pid"
	status=$?
	note "$(cat "$OUT/lost")"
	result $status "$name"
}

said() { # LINE PID
	busywait "$LOAD_LIMIT" said_or_gone "$@"
}

said_or_gone() {
	grep -qx "$1" "$OUT/lost" || gone "$2"
}
