#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# NFS over AF_RSOCK with the kernel's own server and client, unchanged: files,
# locks, what the server has to tell its client, lost connections, peers that
# speak no RPC. nfs_full.sh has the rest.
#
# Guest: m=1536 t=400
# Kernels: all
# When: 6.1
# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/topo.sh
. "$(dirname "$0")/topo.sh"
# shellcheck source=selftests/nfs_lib.sh
. "$(dirname "$0")/nfs_lib.sh"

command -v mount.nfs exportfs >/dev/null || {
	skip "NFS" "no programs of NFS here (tools/vm/setup nfs)"
	finish
}

nfs_begin

# --- files ----------------------------------------------------------------------------

SOURCE=$TREE/net/rsock_rpc

copied() { # NAME
	cp -r "$SOURCE" "$MNT/$1/tree" && nfs_umount "$1" && nfs_mount "$1" "$2" &&
		diff -r "$SOURCE" "$MNT/$1/tree" && diff -r "$SOURCE" "$EXPORT/tree" && rm -r "$MNT/$1/tree"
}

# There are packets for all of it, and of TCP no connection: NFSv4 needs one only.
by_rdma() {
	local packets tcp
	packets=$(sent_packets "$ADEV") tcp=$(tcp_opens)
	dd if=/dev/urandom of="$MNT/four/big" bs=64k count=64 conv=fsync status=none &&
		cmp "$MNT/four/big" "$EXPORT/big" && rm "$MNT/four/big" || return
	packets=$(($(sent_packets "$ADEV") - packets)) tcp=$(($(tcp_opens) - tcp))
	echo "$packets packets, $tcp connections of TCP"
	[ "$packets" -ge $((4 * 1024 * 1024 / 4096)) ] && [ "$tcp" = 0 ]
}

tcp=$(tcp_opens)
check "mount NFSv4.2" nfs_mount four 4.2
check "no connection of TCP for it" test "$(tcp_opens)" = "$tcp"
check "mount NFSv3" nfs_mount three 3
check "4 MiB went by RDMA" by_rdma
check "NFSv4.2: a tree, there and back" copied four 4.2
check "NFSv3: a tree, there and back" copied three 3
check "NFSv4.2: random work" "$PROGRAMS/nfs_file" -n 150 "$MNT/four/file"
check "NFSv3: random work" "$PROGRAMS/nfs_file" -n 150 "$MNT/three/file"

# --- direct placement -------------------------------------------------------------------

PLACE=/sys/module/rsock_rpc/parameters/place
dd if=/dev/urandom of="$EXPORT/placed" bs=1111 count=3000 status=none

# Nothing from a cache, and all but what fills no page. (Pages that are in use
# stay in the cache: then once more.)
read_placed() { # NAME
	local placed size
	size=$(stat -c %s "$EXPORT/placed")
	for _ in {1..5}; do
		echo 3 >/proc/sys/vm/drop_caches
		placed=$(placed_of "$1")
		cmp "$EXPORT/placed" "$MNT/$1/placed" || return
		placed=$(($(placed_of "$1") - placed))
		echo "$placed of $size bytes"
		[ "$placed" -le $((size - $(getconf PAGESIZE))) ] || return 0
	done
	return 1
}

# Any offset, size and buffer, and nothing is written around it.
cat >"$OUT/direct.py" <<'EOF'
import mmap, os, random, sys
random.seed(1)
data = open(sys.argv[1], "rb").read()
fd = os.open(sys.argv[2], os.O_RDONLY | os.O_DIRECT)
for i in range(12):
    at, size = random.randrange(len(data)), random.randrange(1, 400000)
    skip = random.choice([0, 0, 8, 100, 4095])
    buf = mmap.mmap(-1, (skip + size + 8191) & ~4095)
    buf.write(b"#" * len(buf))
    want = data[at:at + size]
    got = os.preadv(fd, [memoryview(buf)[skip:skip + size]], at)
    assert got == len(want) and buf[skip:skip + got] == want, (at, size, skip, got)
    assert buf[:skip] == b"#" * skip and not buf[skip + size:].strip(b"#"), (at, size, skip)
EOF

read_direct() { # NAME
	local placed
	placed=$(placed_of "$1")
	timeout "$LIMIT" python3 "$OUT/direct.py" "$EXPORT/placed" "$MNT/$1/placed" &&
		[ "$(placed_of "$1")" -gt "$placed" ]
}

killed() { # PID...: in the midst of it, and at once
	local pid
	sleep 0.3
	kill -9 "$@"
	for pid; do
		busywait 20 gone "$pid" || return
	done
}

# Who waits for a reply can be killed while it is placed, and others go on.
read_killed() { # NAME
	local pids=()
	for _ in {1..6}; do
		background dd if="$MNT/$1/placed" of=/dev/null bs=256k iflag=direct status=none
		pids+=($!)
	done
	killed "${pids[@]}" || return
	read_placed "$1"
}

read_unplaced() { # NAME
	local least placed status
	least=$(cat "$PLACE")
	echo 0 >"$PLACE"
	echo 3 >/proc/sys/vm/drop_caches
	placed=$(placed_of "$1")
	cmp "$EXPORT/placed" "$MNT/$1/placed" && [ "$(placed_of "$1")" = "$placed" ]
	status=$?
	echo "$least" >"$PLACE"
	return "$status"
}

# What was offered before it is turned off has its reply after that.
read_switched() { # NAME
	local least pid status
	least=$(cat "$PLACE")
	background bash -c "while :; do echo 0 >$PLACE; echo $least >$PLACE; done"
	pid=$!
	for _ in {1..3}; do
		echo 3 >/proc/sys/vm/drop_caches
		timeout "$LIMIT" cmp "$EXPORT/placed" "$MNT/$1/placed"
		status=$?
		[ "$status" = 0 ] || break
	done
	stop "$pid"
	echo "$least" >"$PLACE"
	return "$status"
}

# The server has room for it once it knows that there is much. How much finds
# room depends on who is faster.
write_placed() { # NAME
	local size wrote
	size=$(stat -c %s "$EXPORT/placed")
	for _ in {1..8}; do
		rm -f "$MNT/$1/written"
		wrote=$(wrote_of "$1")
		dd if="$EXPORT/placed" of="$MNT/$1/written" bs=1M conv=fsync status=none &&
			cmp "$EXPORT/placed" "$EXPORT/written" || return
		wrote=$(($(wrote_of "$1") - wrote))
		echo "$wrote of $size bytes"
		[ "$wrote" -lt $((size / 2)) ] || return 0
	done
	return 1
}

# Any offset, size and buffer.
cat >"$OUT/write.py" <<'EOF'
import mmap, os, random, sys
random.seed(2)
fd = os.open(sys.argv[2], os.O_WRONLY | os.O_CREAT | os.O_DIRECT)
model = bytearray()
for i in range(12):
    at, size = random.randrange(500000), random.randrange(1, 400000)
    skip = random.choice([0, 0, 8, 100, 4095])
    buf = mmap.mmap(-1, skip + size)
    buf.write(random.randbytes(skip + size))
    assert os.pwritev(fd, [memoryview(buf)[skip:]], at) == size
    model.extend(bytes(max(0, at + size - len(model))))
    model[at:at + size] = buf[skip:]
assert open(sys.argv[1], "rb").read() == model
EOF

write_direct() { # NAME
	local wrote
	rm -f "$EXPORT/direct"
	wrote=$(wrote_of "$1")
	timeout "$LIMIT" python3 "$OUT/write.py" "$EXPORT/direct" "$MNT/$1/direct" &&
		[ "$(wrote_of "$1")" -gt "$wrote" ]
}

write_killed() { # NAME
	local i pids=()
	for i in {1..6}; do
		background dd if="$EXPORT/placed" of="$MNT/$1/killed-$i" bs=256k oflag=direct status=none
		pids+=($!)
	done
	killed "${pids[@]}" || return
	rm "$MNT/$1"/killed-*
	write_placed "$1"
}

write_unplaced() { # NAME
	local least wrote status
	least=$(cat "$PLACE")
	echo 0 >"$PLACE"
	wrote=$(wrote_of "$1")
	dd if="$EXPORT/placed" of="$MNT/$1/written" bs=1M conv=fsync status=none &&
		cmp "$EXPORT/placed" "$EXPORT/written" && [ "$(wrote_of "$1")" = "$wrote" ]
	status=$?
	echo "$least" >"$PLACE"
	return "$status"
}

# relay MODE COMMAND...: do it with a mount "relay" through a relay of this kind
relay() {
	local mode=$1 pid status
	shift
	background python3 "$TREE/selftests/nfs_relay.py" "$mode" "$B4:20052" "$B4:20049" "$A4" >"$OUT/relay-$mode.log" 2>&1
	pid=$!
	busywait 20 rdma_listening 20052 &&
		nfs_mount relay 3 "port=20052,rsize=32768,wsize=32768" && "$@"
	status=$?
	nfs_umount relay
	stop "$pid"
	cat "$OUT/relay-$mode.log"
	return "$status"
}

relay_reads() {
	timeout "$LIMIT" cmp "$EXPORT/placed" "$MNT/relay/placed" && [ "$(placed_of relay)" = 0 ]
}

# Each of the relay's forgeries of this kind ended a connection
all_noticed() { # MODE END DICTIONARY
	local nr
	nr=$(sed -n "/^$3 = {/,/^}/s/ lambda / /p" "$TREE/selftests/nfs_relay.py" | wc -l)
	! grep "did not mind" "$OUT/relay-$1.log" && [ "$nr" -gt 0 ] &&
		[ "$(grep -c "^[a-z].*: the $2 hung up" "$OUT/relay-$1.log")" = "$nr" ]
}

replies_forged() {
	relay forge relay_reads && all_noticed forge client FORGERIES
}

# The last claim is good, but nothing was placed, and of the data 2048 bytes were
# sent: the file has zeroes and these, and no memory of the server's is shown.
cat >"$OUT/zeroes.py" <<'EOF'
import sys
want, got = (open(f, "rb").read() for f in sys.argv[1:])
parts = [(want[i:i + 32768], got[i:i + 32768]) for i in range(0, len(want), 32768)]
sent = [bytes(30720) + a[30720:] for a, b in parts]
assert len(want) == len(got) and all(b in (a, z) for (a, b), z in zip(parts, sent))
assert sum(b == z for (a, b), z in zip(parts, sent)) == 1
EOF

relay_writes() {
	yes 'the quick brown fox' | head -c 655360 >"$OUT/relayed"
	timeout "$LIMIT" dd if="$OUT/relayed" of="$MNT/relay/relayed" bs=32k oflag=direct status=none &&
		python3 "$OUT/zeroes.py" "$OUT/relayed" "$EXPORT/relayed"
}

claims_forged() {
	relay claim relay_writes && all_noticed claim server CLAIMS
}

# What has been opened is not to be read any more: the call is sent again, and that
# has an answer, too.
read_unexported() {
	local status
	exec 8<"$MNT/three/placed"
	exportfs -ua
	timeout "$LIMIT" dd bs=64k iflag=direct of=/dev/null <&8
	status=$?
	exec 8<&-
	nfs_export
	[ "$status" = 1 ]
}

check "NFSv4.2: what is read is placed" read_placed four
check "NFSv3: what is read is placed" read_placed three
check "any part of it, into any memory" read_direct three
check "readers are killed" read_killed four
check "placement can be turned off" read_unplaced three
check "and while something is placed" read_switched four
check "an answer that is of no use" read_unexported
check "with a peer that cannot place" relay hide relay_reads
check "offers that make no sense" relay twist relay_reads
check "replies that were not placed as they say" replies_forged
check "NFSv4.2: what is written is placed" write_placed four
check "NFSv3: what is written is placed" write_placed three
check "any part of a file, from any memory" write_direct three
check "writers are killed" write_killed four
check "that can be turned off, too" write_unplaced three
check "calls that were not placed as they say" claims_forged

# A call of a client that is not ours says that as much as can be was placed, though
# nothing was, and has the rest of the data in the stream: the file has that, and not
# what the server's page had before, or its reply.
cat >"$OUT/most.py" <<'EOF'
import ctypes, random, socket, struct, sys
server, client, most, family = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
LAST, PLACED = 1 << 31, 1 << 30
HELLO = struct.pack(">III", LAST | 8, 0x72736f63, 1)
s = socket.socket(socket.AF_INET, socket.SOCK_STREAM, fileno=ctypes.CDLL(None).socket(family, 1, 0))
s.settimeout(60)
s.bind((client, random.randint(600, 1000)))
s.connect((server, 20049))
s.sendall(HELLO)
assert s.recv(12, socket.MSG_WAITALL) == HELLO

def write(xid, size):           # NFSv4.0: PUTROOTFH, LOOKUP "most", WRITE at 0, FILE_SYNC
    return struct.pack(">8I20x2I", xid, 0, 2, 100003, 4, 1, 1, 20, 0, 0) + \
           struct.pack(">4I", 0, 0, 3, 24) + struct.pack(">2I4s", 15, 4, b"most") + \
           struct.pack(">I16xQ2I", 38, 0, 2, size)

def send(record):
    s.sendall(record)
    marker = struct.unpack(">I", s.recv(4, socket.MSG_WAITALL))[0]
    reply = s.recv(marker & ~LAST, socket.MSG_WAITALL)
    return struct.unpack(">I", reply[24:28])[0]

# One that is long has the server map a window
call = write(1, 1 << 15) + bytes(1 << 15)
assert send(struct.pack(">I", LAST | len(call)) + call) == 0
rest = b"#" * 2048
call = write(2, most + len(rest))
assert send(struct.pack(">IQII", LAST | PLACED | len(call + rest), 0, len(call), most) + call + rest) == 0
with open(sys.argv[5], "rb") as f:
    assert f.read() == bytes(most) + rest
EOF

write_most() {
	local most window=$((1 << 20))
	most=$(cat /proc/fs/nfsd/max_block_size)
	install -m 666 /dev/null "$EXPORT/most"
	timeout "$LIMIT" python3 "$OUT/most.py" "$B4" "$A4" $((most < window ? most : window)) "$FAMILY" "$EXPORT/most"
}

check "a call of more than can be placed" write_most

# --- what the server tells its client ---------------------------------------------------

# A client that reads a file may keep it, until somebody changes it: here, one
# at the server. Without a way to tell the client that takes the lease, 10 s, and
# the client gives nothing back.
recalls() {
	local returned
	echo old >"$EXPORT/recall"
	exec 8<"$MNT/four/recall"
	cat <&8
	grep -q 'type: deleg' /proc/fs/nfsd/clients/*/states || {
		echo "it was not given"
		return 1
	}
	returned=$(returned_by four)
	timeout "$LIMIT" bash -c "echo new >$EXPORT/recall"
	exec 8<&-
	busywait 30 given_back "$returned" && grep new "$MNT/four/recall"
}

returned_by() { # NAME
	awk -v at="$MNT/$1" '$1 == "device" { here = $5 == at }
		here && $1 == "DELEGRETURN:" { print $2 }' /proc/self/mountstats
}

given_back() { # HOW-MANY-BEFORE
	[ "$(returned_by four)" -gt "$1" ]
}

check "the server can call its client" grep -q 'callback state: UP' /proc/fs/nfsd/clients/*/info
check "a delegation is recalled" recalls

# --- locks ----------------------------------------------------------------------------------

# Each version is a client of its own for the server, and all share its locks.
cat >"$OUT/locks.py" <<'EOF'
import fcntl, os, sys
a, b = (open(p + "/locked", "r+b", buffering=0) for p in sys.argv[1:3])
def denied(f, *what):
    try:
        fcntl.lockf(f, *what)
    except OSError:
        return True
EX, SH, NB, UN = fcntl.LOCK_EX, fcntl.LOCK_SH, fcntl.LOCK_NB, fcntl.LOCK_UN
fcntl.lockf(a, EX, 100, 0)
assert denied(b, EX | NB, 10, 95) and denied(b, SH | NB, 1, 0)
fcntl.lockf(b, EX | NB, 100, 100)
assert denied(a, SH | NB, 1, 150)
fcntl.lockf(a, UN, 50, 0)
fcntl.lockf(b, SH | NB, 50, 0)
fcntl.lockf(a, SH | NB, 50, 0)
assert denied(b, EX | NB, 50, 50)
if os.fork() == 0:                  # waits for it, and gets it
    fcntl.lockf(b, EX, 50, 50)
    os._exit(0)
fcntl.lockf(a, UN)
assert os.wait()[1] == 0
EOF

check "mount NFSv4.1" nfs_mount one 4.1
touch "$EXPORT/locked"
check "locks of NFSv4.2 against NFSv4.1" timeout "$LIMIT" python3 "$OUT/locks.py" "$MNT/four" "$MNT/one"
check "locks of NFSv3 against NFSv4.2" timeout "$LIMIT" python3 "$OUT/locks.py" "$MNT/three" "$MNT/four"
check "unmount NFSv4.1" nfs_umount one

# --- lost connections --------------------------------------------------------------------------

check_fails "unload rsock_rpc.ko while it is mounted" rmmod rsock_rpc
busy_begin four three
check "a device goes away" rdma link del "$ADEV"
check "and comes back" rdma link add "$ADEV" type "$RDMA_DRIVER" netdev "$ANET"
busywait 30 gid_known "$ADEV" "$A4"
busy_end "nothing lost" lost

# --- peers that speak no RPC --------------------------------------------------------------------

cat >"$OUT/hostile.py" <<'EOF'
import ctypes, os, socket, struct, sys
libc = ctypes.CDLL(None)
def connect():
    s = socket.socket(socket.AF_INET, socket.SOCK_STREAM, fileno=libc.socket(22, 1, 0))
    s.settimeout(60)
    s.connect((sys.argv[1], 20049))
    return s
LAST = 0x80000000
OFFER, HELLO = 1 << 29, struct.pack(">III", LAST | 8, 0x72736f63, 1)
for name, data in {
    "an offer without a greeting": struct.pack(">IQII", LAST | OFFER | 40, 0, 0, 4096) + bytes(40),
    "something placed": HELLO + struct.pack(">IQII", LAST | 1 << 30 | 40, 0, 0, 4096) + bytes(40),
    "an offer with the second part": HELLO + struct.pack(">III", 8, 9, 0) + struct.pack(">I", LAST | OFFER | 40) + bytes(56),
    "no length": struct.pack(">I", LAST),
    "a short record": struct.pack(">II", LAST | 4, 1),
    "the longest record": struct.pack(">I", LAST | 0x7fffffff),
    "fragments that add up": b"".join(struct.pack(">I", 500000) + bytes(500000) for i in range(4)),
}.items():
    s = connect()
    try:
        s.sendall(data)
        if data.startswith(HELLO):
            assert s.recv(12, socket.MSG_WAITALL) == HELLO, name
        got = s.recv(1)
    except (ConnectionError, BrokenPipeError):
        got = b""
    assert got == b"", name
    print(name)
# An answer to nobody is of no interest, and a call may come in parts
s = connect()
s.sendall(struct.pack(">IIII", LAST | 12, 7, 1, 0))
null = struct.pack(">10I", 9, 0, 2, 100003, 3, 0, 0, 0, 0, 0)
for part in (null[:6], null[6:24]):
    s.sendall(struct.pack(">I", len(part)) + part)
s.sendall(struct.pack(">I", LAST | len(null[24:])) + null[24:])
assert s.recv(28, socket.MSG_WAITALL)[4:8] == struct.pack(">I", 9)
print("a call in three fragments")
# Greetings are answered once, and an offer does not have to be of use
s.sendall(HELLO * 3 + struct.pack(">IQII", LAST | OFFER | len(null), 1 << 63, 1 << 31, 1 << 31) + null)
assert s.recv(12, socket.MSG_WAITALL) == HELLO
assert s.recv(8, socket.MSG_WAITALL)[4:] == struct.pack(">I", 9)
print("an offer")
connect().sendall(struct.pack(">I", LAST | 1000) + bytes(500))
EOF

# A server that answers a call in a hostile way: to mount fails, in bounded time.
cat >"$OUT/server.py" <<'EOF'
import ctypes, os, socket, struct, sys
libc = ctypes.CDLL(None)
l = socket.socket(socket.AF_INET, socket.SOCK_STREAM, fileno=libc.socket(22, 1, 0))
l.bind((sys.argv[1], 20050))
l.listen()
LAST = 0x80000000
answers = [
    lambda xid: struct.pack(">I", LAST),
    lambda xid: struct.pack(">I", LAST | 0x7fffffff) + xid,
    lambda xid: struct.pack(">I", LAST | 8) + xid + struct.pack(">I", 2),
    lambda xid: struct.pack(">I", LAST | 40) + xid + struct.pack(">I", 0) + bytes(32),
    lambda xid: struct.pack(">I", 600000) + xid + struct.pack(">I", 1) + bytes(599992) +
                struct.pack(">I", 600000) + bytes(600000),
    lambda xid: struct.pack(">I", LAST | 8) + xid + struct.pack(">I", 1),
    lambda xid: struct.pack(">I", LAST | 100000) + xid + struct.pack(">I", 1) + bytes(99992),
]
for n in range(1000):
    s = l.accept()[0]
    try:
        call = s.recv(8, socket.MSG_WAITALL)
        s.sendall(answers[n % len(answers)](call[4:8]))
        print(n, flush=True)
        while s.recv(65536): pass
    except OSError:
        pass
    s.close()
EOF

# One that greets, and hangs up: who connects again takes time for that. The port is
# closed after that, so that to mount fails.
cat >"$OUT/greets.py" <<'EOF'
import ctypes, socket, sys, time
l = socket.socket(socket.AF_INET, socket.SOCK_STREAM, fileno=ctypes.CDLL(None).socket(int(sys.argv[2]), 1, 0))
l.bind((sys.argv[1], 20053))
l.listen()
times = []
for i in range(3):
    s = l.accept()[0]
    times.append(time.monotonic())
    s.sendall(s.recv(12, socket.MSG_WAITALL))
    s.close()
    print(times[-1] - times[0], flush=True)
assert times[-1] - times[0] >= int(sys.argv[3])
EOF

greets_only() {
	local pause pid
	pause=$(sed -n 's/^#define RRPC_REESTABLISH\s*(\([0-9]*\) \* HZ)$/\1/p' "$TREE/net/rsock_rpc/xprt.c")
	background timeout "$LIMIT" python3 "$OUT/greets.py" "$B4" "$FAMILY" "${pause:?}"
	pid=$!
	busywait 20 rdma_listening 20053 && mkdir -p "$MNT/greets" || return
	timeout "$LIMIT" mount.nfs "$B4:/" "$MNT/greets" -o proto=rdma,port=20053,vers=4.2,retry=0
	wait "$pid"
}

# Who connects as memory lacks has an answer, or a reset
cat >"$OUT/null.py" <<'EOF'
import ctypes, socket, struct, sys
NULL = struct.pack(">11I", 0x80000028, 9, 0, 2, 100003, 3, 0, 0, 0, 0, 0)
s = socket.socket(socket.AF_INET, socket.SOCK_STREAM, fileno=ctypes.CDLL(None).socket(int(sys.argv[2]), 1, 0))
s.settimeout(60)
try:
    s.connect((sys.argv[1], 20049))
    s.sendall(NULL)
    print(s.recv(28, socket.MSG_WAITALL))
except ConnectionError as e:
    print(e)
EOF

accepts() { # [BUT-NOT-IN]: as memory lacks once
	local status
	memory_lacks 1 rrpc_svc_accept "$@"
	timeout "$LIMIT" python3 "$OUT/null.py" "$B4" "$FAMILY"
	status=$?
	[ "$(cat "$FAILSLAB/times")" = 0 ] || status=1
	memory_is_there
	return "$status"
}

hostile_server() {
	local status
	background python3 "$OUT/server.py" "$B4" >"$OUT/server.log" 2>&1
	busywait 20 rdma_listening 20050 || return
	mkdir -p "$MNT/hostile"
	timeout "$LIMIT" mount.nfs "$B4:/" "$MNT/hostile" \
		-o "proto=rdma,port=20050,vers=4.2,soft,timeo=20,retrans=1,retry=0"
	status=$?
	stop $!
	cat "$OUT/server.log"
	[ "$status" != 0 ] && [ "$status" != 124 ] && [ -s "$OUT/server.log" ]
}

mkdir -p "$MNT/none"
check "a server that does not listen" says 32 "Connection refused" timeout "$LIMIT" \
	mount.nfs "$B4:/" "$MNT/none" -o proto=rdma,port=20051,vers=4.2,retry=0
check "clients that speak no RPC" timeout "$LIMIT" python3 "$OUT/hostile.py" "$B4"
check "a server that speaks no RPC" hostile_server
check "a server that greets, and hangs up" greets_only
[ ! -d "$FAILSLAB" ] || {
	check "no memory to accept" accepts
	check "no memory for what is accepted" accepts rrpc_sock_accept
}
check "NFSv4.2 still works" "$PROGRAMS/nfs_file" -n 20 "$MNT/four/file"

check "unmount NFSv3" nfs_umount three
check "unmount NFSv4.2" nfs_umount four
nfs_end
