# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# For the scripts that run programs of others by rsock-run; source it after
# topo.sh. What is checked of each: its work, and that no connection was TCP.

RUN=("$TREE/build/rsock-run/rsock-run" -l "$OUT/rsock-run.log")
UNPACKED=${RSOCK_CACHE:-/var/cache/rsock}/programs # what tools/vm/setup did not install
PATH=$PATH:$UNPACKED/usr/sbin
LIMIT=300 # seconds after which something hangs
SIZE=$((12 << 20)) # of $DIR/file

# --- proof ------------------------------------------------------------------------

packets() { # that the RDMA devices have sent
	echo $(($(sent_packets "$ADEV") + $(sent_packets "$BDEV")))
}

bytes() { # that went over the wire
	local dev sum=0
	for dev in "$ANET" "$BNET"; do
		sum=$((sum + $(cat "/sys/class/net/$dev/statistics/tx_bytes")))
	done
	echo $sum
}

have() { # NAME PROGRAM...
	local name=$1 program
	shift
	for program; do
		command -v "$program" >/dev/null || {
			skip "$name" "no $program here (tools/vm/setup programs)"
			return 1
		}
	done
	before_tcp=$(tcp_opens) before_rsock=$(stat_of ActiveOpens)
	before_packets=$(packets) before_bytes=$(bytes)
}

by_rdma() { # NAME CONNECTIONS: since have(), at least so many, and none of TCP
	local tcp=$(($(tcp_opens) - before_tcp)) rsock=$(($(stat_of ActiveOpens) - before_rsock))
	local packets=$(($(packets) - before_packets)) mb=$((($(bytes) - before_bytes) >> 20))
	note "$1: $rsock connections of AF_RSOCK, $tcp of TCP; $packets packets of RDMA, $mb MB on the wire"
	check "$1: by RDMA" test "$tcp" = 0 -a "$rsock" -ge "$2" -a "$packets" -gt "$2"
}

# serve PORT COMMAND...: in the background, until it listens; its pid is $server
# shellcheck disable=SC2034
serve() {
	local port=$1
	shift
	background "${RUN[@]}" "$@" >"$OUT/server.log" 2>&1
	server=$!
	busywait 60 rdma_listening "$port" || note "no server: $(tail -n 5 "$OUT/server.log")"
}

client() { # COMMAND...
	timeout "$LIMIT" "${RUN[@]}" "$@"
}

# --- iperf3 ------------------------------------------------------------------------

# There are so many streams, each has carried something, and all of them so much.
# (The bytes to send are for all: one that begins late may find few of them left.)
cat >"$OUT/iperf3.py" <<'EOF'
import json, sys
report = json.load(sys.stdin)
print(json.dumps(report)[:3000])
assert "error" not in report, report["error"]
streams = report["end"]["streams"]
assert len(streams) == int(sys.argv[1]), len(streams)
got = [s["receiver"]["bytes"] for s in streams]
assert min(got) > 0 and sum(got) >= int(sys.argv[2]), got
EOF

iperf3_case() { # STREAMS BYTES NAME OPTION...: adds to $connections
	local streams=$1 bytes=$2 name=$3
	shift 3
	connections=$((connections + 1 + streams))
	client iperf3 -J -c "$B4" -p 5201 "$@" >"$OUT/iperf3.json" 2>"$OUT/iperf3.log"
	check "iperf3: $name" python3 "$OUT/iperf3.py" "$streams" "$bytes" <"$OUT/iperf3.json"
}

# Which cases is for the script to say: iperf3_cases.
try_iperf3() {
	local connections=0
	have iperf3 iperf3 python3 || return
	serve 5201 iperf3 -s -B "$B4" -p 5201
	iperf3_cases
	by_rdma iperf3 "$connections"
	stop "$server"
}

# --- Redis -------------------------------------------------------------------------

serve_redis() { # ADDRESS PORT OPTION...
	local address=$1 port=$2
	shift 2
	# The server is this program by another name
	ln -sf "$(command -v redis-check-rdb)" "$DIR/redis-server"
	serve "$port" "$DIR/redis-server" --bind "$address" --port "$port" --protected-mode no --save '' \
		--dir "$DIR" "$@"
}

redis() {
	client redis-cli -h "$B4" -p 6379 "$@"
}

# --- nginx -------------------------------------------------------------------------

nginx_config() { # on|off: sendfile
	cat <<EOF
daemon off;
user root;
pid $DIR/nginx.pid;
error_log $OUT/nginx.log info;
worker_processes 2;
events { worker_connections 64; }
http {
	access_log off;
	sendfile $1;
	tcp_nopush on;
	keepalive_timeout 30;
	client_body_temp_path $DIR/body;
	proxy_temp_path $DIR/proxy;
	fastcgi_temp_path $DIR/fastcgi;
	uwsgi_temp_path $DIR/uwsgi;
	scgi_temp_path $DIR/scgi;
	server {
		listen $B4:8080;
		listen [$B6]:8080;
		root $DIR;
	}
}
EOF
}

serve_nginx() { # on|off
	nginx_config "$1" >"$DIR/nginx.conf"
	serve 8080 nginx -e "$OUT/nginx.log" -c "$DIR/nginx.conf"
}

# --- OpenSSH -----------------------------------------------------------------------

sshd_config() {
	cat <<EOF
Port 2222
ListenAddress $B4
HostKey $DIR/host_key
AuthorizedKeysFile $DIR/user_key.pub
StrictModes no
PidFile none
PermitRootLogin yes
Subsystem sftp internal-sftp
EOF
}

# It wants a user of its own, whom only this process sees, and a folder.
cat >"$OUT/sshd.sh" <<'EOF'
mount --bind "$1/passwd" /etc/passwd && mkdir -p /run/sshd && exec "$(command -v sshd)" -D -e -f "$1/sshd_config"
EOF

# Sets the options that clients need: SSH.
serve_sshd() {
	SSH=(-F none -i "$DIR/user_key" -o StrictHostKeyChecking=no -o BatchMode=yes
		-o UserKnownHostsFile=/dev/null -o LogLevel=ERROR)
	ssh-keygen -q -t ed25519 -N '' -f "$DIR/host_key"
	ssh-keygen -q -t ed25519 -N '' -f "$DIR/user_key"
	{
		grep -v '^sshd:' /etc/passwd
		echo "sshd:x:65533:65534::/run/sshd:/usr/sbin/nologin"
	} >"$DIR/passwd"
	sshd_config >"$DIR/sshd_config"
	serve 2222 unshare -m sh "$OUT/sshd.sh" "$DIR"
}

scp_both_ways() { # FILE
	check "scp: to the server" client scp "${SSH[@]}" -P 2222 "$1" "root@$B4:$DIR/there"
	check "scp: all of it" cmp "$1" "$DIR/there"
	check "scp: from the server" client scp "${SSH[@]}" -P 2222 "root@$B4:$DIR/there" "$DIR/back"
	check "scp: all of that" cmp "$1" "$DIR/back"
	rm -f "$DIR/there" "$DIR/back"
}

# --- all ---------------------------------------------------------------------------

# try_all NAME...: each is the function try_NAME; TRY says which, if it is set.
try_all() {
	local program
	load_rsock
	topo_wire 9000
	DIR=$(mktemp -d /dev/shm/programs.XXXXXX)
	on_exit rm -rf "$DIR"
	chmod 755 "$DIR"
	head -c "$SIZE" /dev/urandom >"$DIR/file"
	for program in ${TRY:-"$@"}; do
		"try_$program"
	done
	topo_down
	unload_rsock
	finish
}
