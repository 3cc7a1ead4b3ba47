#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What an operator sees: rsockstat, and what sock_diag tells it, and /proc/net/rsock:
# each socket once, with what is known of it, and nothing of other namespaces; the
# counters, each of which moves when its failure happens, and no other; and trace
# events; and what rsockperf reports.
#
# Guest: m=1024 t=300
# When: 6.1
# Packages: trace
# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/topo.sh
. "$(dirname "$0")/topo.sh"

STAT=$TREE/build/tools/rsockstat
CONNECTIONS=120
READY=$OUT/ready

# A listener that wants long queues, connections to it, 1000 bytes on the first that
# nobody reads, and one that is half shut down.
sockets() {
	exec python3 -c '
import signal, socket, sys
SOL_RSOCK, RDMA_SQSIZE, RDMA_RQSIZE = 0x10000, 0, 1
address, n, ready = sys.argv[1], int(sys.argv[2]), sys.argv[3]
lsn = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 260)
for queue in RDMA_SQSIZE, RDMA_RQSIZE:
    lsn.setsockopt(SOL_RSOCK, queue, 65534)
lsn.bind((address, 7471))
lsn.listen(50)
held = []
for i in range(n):
    c = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 260)
    c.connect((address, 7471))
    held += [c, lsn.accept()[0]]
held[0].sendall(b"x" * 1000)
held[2].shutdown(socket.SHUT_WR)
held[3].recv(1)
held[4].setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
unbound = socket.socket(socket.AF_INET6, socket.SOCK_STREAM, 260)
open(ready, "w").close()
signal.pause()' "$A4" "$CONNECTIONS" "$READY"
}

lines() { # ARGS: how many sockets are shown
	"$STAT" -H "$@" | wc -l
}

shows() { # NUMBER ARGS
	local want=$1 got
	shift
	got=$(lines "$@")
	[ "$got" = "$want" ] || {
		"$STAT" "$@" | head -n 20
		echo "$got sockets, not $want"
		return 1
	}
}

shows_elsewhere() { # NUMBER ARGS
	ip netns add elsewhere && ip netns exec elsewhere "$STAT" -H "${@:2}" >"$OUT/elsewhere" &&
		ip netns del elsewhere && [ "$(wc -l <"$OUT/elsewhere")" = "$1" ]
}

# by_json ARGS -- EXPRESSION: true of the list s
by_json() {
	local args=()
	while [ "$1" != -- ]; do
		args+=("$1")
		shift
	done
	"$STAT" -j "${args[@]}" | python3 -c 'import json, sys
s = json.load(sys.stdin)
assert eval(sys.argv[1]), s[:3]' "$2"
}

# As many sockets as rsockstat shows, and with the same in each column
proc_agrees() {
	"$STAT" -a -e -i -j >"$OUT/stat.json" && python3 -c '
import json, sys
shown = {x["inode"]: x for x in json.load(open(sys.argv[1]))}
heading, *lines = (line.split() for line in open("/proc/net/rsock"))
assert len(lines) == len(shown), (len(lines), len(shown))
for line in lines:
    p = dict(zip(heading, line, strict=True))
    s = shown.pop(int(p["inode"]))
    port = 0 if p["local"] == "-" else int(p["local"].rsplit(":", 1)[1])
    assert port == s["local_port"], (p, s)
    assert (p["st"] == "0A") == (s["state"] == "listening"), (p, s)
    assert [int(p["rx_queue"]), int(p["tx_queue"])] == [s["recv_q"], s["send_q"]], (p, s)
    rdma = s.get("rdma", {"qp": 0, "device": None})
    assert int(p["uid"]) == s["uid"] and int(p["qp"]) == rdma["qp"], (p, s)
    assert p["device"] == (rdma["device"] or "-"), (p, s)
' "$OUT/stat.json"
}

proc_is_empty_elsewhere() {
	ip netns add elsewhere && ip netns exec elsewhere cat /proc/net/rsock /proc/net/rsock_stat >"$OUT/elsewhere" &&
		ip netns del elsewhere || return
	[ "$(wc -l <"$OUT/elsewhere")" = 3 ] && ! sed -n 3p "$OUT/elsewhere" | grep -q '[1-9]'
}

# Each counter as /proc/net/rsock_stat has it
nstat_reads() {
	PROC_NET_NETSTAT=/proc/net/rsock_stat nstat -asz 'Rsock*' | awk '/^Rsock/ { print $1, $2 }' >"$OUT/nstat"
	python3 -c '
names, values = (line.split()[1:] for line in open("/proc/net/rsock_stat"))
print(*(f"Rsock{n} {v}" for n, v in zip(names, values, strict=True)), sep="\n")' |
		diff - "$OUT/nstat"
}

# A stream, and whether its report tells of copies
perf_tells() { # STATUS of grep, OPTIONS
	local status=$1
	shift
	background "$TREE/build/tools/rsockperf" "$B4" >"$OUT/perf-server" 2>&1
	busywait 30 rdma_listening 7472 &&
		timeout 60 "$TREE/build/tools/rsockperf" -n 1M "$@" -c "$B4" >"$OUT/perf" &&
		wait "${PIDS[-1]}" || return
	cat "$OUT/perf"
	grep -q "MB.*copied" "$OUT/perf"
	[ $? = "$status" ]
}

no_sockets() {
	[ "$(wc -l </proc/net/rsock)" = 1 ]
}

# The scripts of bpftrace know what there is. They need BTF, and take long under
# emulation, so one kernel is enough.
scripts() {
	local script
	[[ $KVER == 6.12.* ]] || return 0
	for script in "$TREE"/tools/*.bt; do
		check "$(basename "$script") is right" bpftrace -d "$script"
	done
}

check "without the module it says what to do" says 1 "modprobe rsock" "$STAT"
load_rsock
check "load rsock_diag.ko" insmod "$BUILD/net/rsock/rsock_diag.ko"
check "there is no socket" shows 0 -a
topo_self
max_queue=$(sysctl -n net.rsock.max_queue)
sysctl -qw net.rsock.max_queue=100
rm -f "$READY"
background sockets
busywait 240 test -e "$READY" || not_ok "the sockets are made"
check "connections, each end" shows $((2 * CONNECTIONS))
check "all sockets, each once" by_json -a -- "len({x['inode'] for x in s}) == len(s) == 2 * $CONNECTIONS + 2"
check "one listens" by_json -l -- "len(s) == 1 and s[0]['local_port'] == 7471 and s[0]['send_q'] == 50"
check "it has memory, and no connection to tell of" by_json -l -i -m -- \
	"s[0]['memory']['rcvbuf'] and 'rdma' not in s[0]"
check "one has neither address nor port" by_json -s close -- \
	"len(s) == 1 and s[0]['local_address'] == '::' and s[0]['local_port'] == 0"
check "one end has bytes to read" by_json -i -- \
	"[x['rdma']['unread'] for x in s if x['recv_q']] == [1000]"
check "one end has shut down, and the other knows" by_json -s fin-wait-2 -s close-wait -- \
	"sorted(x['state'] for x in s) == ['close-wait', 'fin-wait-2']"
check "one keeps alive" by_json -i -- "sum('keepalive' in x['rdma']['flags'] for x in s) == 1"
check "each connection has a queue pair" by_json -i -s established -- \
	"len({x['rdma']['qp'] for x in s} - {0}) == len(s) and all(x['rdma']['device'] == '$ADEV' for x in s)"
check "half of the ends are passive" by_json -i -- \
	"sum('passive' in x['rdma']['flags'] for x in s) == $CONNECTIONS"
check "queues as long as net.rsock.max_queue allows" by_json -i -- \
	"all(64 < x['rdma'][q] < 100 for x in s if 'passive' in x['rdma']['flags'] for q in ('sq_size', 'rq_size'))"
check "memory" by_json -m -- "all(x['memory']['rcvbuf'] > 0 for x in s)"
check "who has it open" by_json -l -p -- "'python3' in s[0]['process']"
check "by port" shows $((2 * CONNECTIONS)) -P 7471
check "by a port that nobody has" shows 0 -P 9
check "by address" shows $((2 * CONNECTIONS)) -A "$A4"
check "by an address that nobody has" shows 0 -A 10.9.0.99
check "another namespace has none" shows_elsewhere 0 -a
check "an unknown state is refused" says 64 "there are" "$STAT" -s open
check "ss works as before" ss -tan
check "/proc/net/rsock has the same" proc_agrees
check "nothing in /proc/net of another namespace" proc_is_empty_elsewhere
stop "${PIDS[-1]}"
check "they are gone" busywait 70 shows 0 -a
sysctl -qw "net.rsock.max_queue=$max_queue"
check "nstat reads the counters" nstat_reads
for format in '' -j; do
	check "rsockperf $format has nothing to tell of copies" perf_tells 1 $format
	check "rsockperf $format tells of them if there were to be none" perf_tells 0 $format --zerocopy
done
topo_down
topo_wire
traces rsock on
take_over counter < <(python3 "$TREE/selftests/counters.py" 2>&1)
# Until the last of them has ended
busywait 70 no_sockets
traces rsock off
take_over trace < <(python3 "$TREE/selftests/traces.py" "$OUT/trace" 2>&1)
topo_down
scripts
check "unload rsock_diag.ko" rmmod rsock_diag
unload_rsock
finish
