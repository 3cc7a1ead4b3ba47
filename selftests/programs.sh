#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Programs of others, unchanged, on AF_RSOCK by rsock-run: iperf3, Redis, nginx
# and curl, OpenSSH, Python. Each has its work checked, and that no connection
# of it was TCP.
#
# The servers among them are not installed but unpacked (tools/vm/setup).
#
# Guest: m=1536 t=480
# Kernels: stock
# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/topo.sh
. "$(dirname "$0")/topo.sh"

RUN=("$TREE/build/rsock-run/rsock-run" -l "$OUT/rsock-run.log")
PATH=$PATH:${RSOCK_CACHE:-/var/cache/rsock}/programs/usr/sbin
LIMIT=100 # seconds after which something hangs

# --- proof ------------------------------------------------------------------------

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
}

by_rdma() { # NAME CONNECTIONS: since have(), at least so many, and none of TCP
	local tcp=$(($(tcp_opens) - before_tcp)) rsock=$(($(stat_of ActiveOpens) - before_rsock))
	note "$1: $rsock connections of AF_RSOCK, $tcp of TCP"
	check "$1: by RDMA" test "$tcp" = 0 -a "$rsock" -ge "$2"
}

# serve PORT COMMAND...: in the background, until it listens; its pid is $server
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

# --- iperf3 -------------------------------------------------------------------------

# There are so many streams, and each has carried so much. (Both directions end
# at once, so that one of them may have done little.)
cat >"$OUT/iperf3.py" <<'EOF'
import json, sys
report = json.load(sys.stdin)
print(json.dumps(report)[:3000])
assert "error" not in report, report["error"]
streams = report["end"]["streams"]
assert len(streams) == int(sys.argv[1]), len(streams)
for s in streams:
    assert s["receiver"]["bytes"] >= int(sys.argv[2]), s
EOF

iperf3_case() { # STREAMS BYTES NAME OPTION...
	local streams=$1 bytes=$2 name=$3
	shift 3
	client iperf3 -J -c "$B4" -p 5201 "$@" >"$OUT/iperf3.json" 2>"$OUT/iperf3.log"
	check "iperf3: $name" python3 "$OUT/iperf3.py" "$streams" "$bytes" <"$OUT/iperf3.json"
}

try_iperf3() {
	have iperf3 iperf3 python3 || return
	serve 5201 iperf3 -s -B "$B4" -p 5201
	iperf3_case 1 16000000 "a stream" -n 16M
	iperf3_case 4 1000000 "four streams" -n 16M -P 4
	iperf3_case 2 1000000 "reverse" -n 8M -R -P 2
	iperf3_case 2 10000 "both directions" -n 8M --bidir
	by_rdma iperf3 13
	stop "$server"
}

# --- Redis --------------------------------------------------------------------------

redis() {
	client redis-cli -h "$B4" -p 6379 "$@"
}

redis_value() {
	redis -x set value <"$DIR/file" && redis --raw get value | head -c "$SIZE" | cmp - "$DIR/file"
}

redis_benchmark() {
	client redis-benchmark -h "$B4" -p 6379 -q -n 2000 -c 20 -d 1000 -P 4 \
		-t ping,set,get,lpush,lrange_100 --csv >"$OUT/redis-benchmark" 2>&1
	cat "$OUT/redis-benchmark"
	[ "$(grep -c '^"[A-Z].*","[0-9.]*",' "$OUT/redis-benchmark")" = 7 ] &&
		! grep -i error "$OUT/redis-benchmark" && redis info stats | grep -q '^total_error_replies:0'
}

try_redis() {
	have redis redis-cli redis-benchmark redis-check-rdb || return
	# The server is this program by another name
	ln -sf "$(command -v redis-check-rdb)" "$DIR/redis-server"
	serve 6379 "$DIR/redis-server" --bind "$B4" --port 6379 --protected-mode no --save '' --dir "$DIR"
	check "redis: a large value" redis_value
	check "redis: its benchmark" redis_benchmark
	by_rdma redis 22
	stop "$server"
}

# --- nginx and curl -------------------------------------------------------------------

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

curl_files() { # URL
	client curl -sSf -o "$DIR/one" -o "$DIR/two" -w '%{num_connects} ' "$1/file" "$1/file" >"$DIR/connects" &&
		cmp "$DIR/one" "$DIR/file" && cmp "$DIR/two" "$DIR/file"
}

try_nginx() {
	local sendfile
	have nginx nginx curl || return
	for sendfile in on off; do
		nginx_config "$sendfile" >"$DIR/nginx.conf"
		serve 8080 nginx -e "$OUT/nginx.log" -c "$DIR/nginx.conf"
		check "nginx: sendfile $sendfile" curl_files "http://$B4:8080"
		check "nginx: sendfile $sendfile, one connection for both" grep -q '^1 0 $' "$DIR/connects"
		check "nginx: sendfile $sendfile, IPv6" curl_files "http://[$B6]:8080"
		check "nginx: sendfile $sendfile, a file that is not there" \
			says 22 404 client curl -sSf "http://$B4:8080/none"
		stop "$server"
	done
	by_rdma nginx 6
}

# --- OpenSSH ----------------------------------------------------------------------------

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

try_sshd() {
	local options=(-F none -i "$DIR/user_key" -o StrictHostKeyChecking=no -o BatchMode=yes
		-o UserKnownHostsFile=/dev/null -o LogLevel=ERROR)
	have sshd sshd ssh scp ssh-keygen || return
	ssh-keygen -q -t ed25519 -N '' -f "$DIR/host_key"
	ssh-keygen -q -t ed25519 -N '' -f "$DIR/user_key"
	{
		grep -v '^sshd:' /etc/passwd
		echo "sshd:x:65533:65534::/run/sshd:/usr/sbin/nologin"
	} >"$DIR/passwd"
	sshd_config >"$DIR/sshd_config"
	serve 2222 unshare -m sh "$OUT/sshd.sh" "$DIR"
	# shellcheck disable=SC2016 # for the shell over there
	check "ssh: a command" says 0 '^10.9.0.1 .* 10.9.0.2 2222$' \
		client ssh "${options[@]}" -p 2222 "root@$B4" 'echo $SSH_CONNECTION'
	check "scp: to the server" client scp "${options[@]}" -P 2222 "$DIR/file" "root@$B4:$DIR/there"
	check "scp: all of it" cmp "$DIR/file" "$DIR/there"
	check "scp: from the server" client scp "${options[@]}" -P 2222 "root@$B4:$DIR/there" "$DIR/back"
	check "scp: all of that" cmp "$DIR/file" "$DIR/back"
	by_rdma ssh 3
	stop "$server"
}

# --- Python -------------------------------------------------------------------------------

# Both ends in one program: each of the clients gets back what it sends.
cat >"$OUT/echo.py" <<'EOF'
import asyncio, hashlib, os, sys
CLIENTS, SIZE = 20, 300000

async def echo(reader, writer):
    while data := await reader.read(65536):
        writer.write(data)
        await writer.drain()
    writer.close()

async def client(address, port):
    reader, writer = await asyncio.open_connection(address, port)
    sent = os.urandom(SIZE)
    async def send():
        writer.write(sent)
        await writer.drain()
        writer.write_eof()
    _, received = await asyncio.gather(send(), reader.read(-1))
    writer.close()
    assert received == sent, len(received)

async def main(address):
    server = await asyncio.start_server(echo, address, 0)
    port = server.sockets[0].getsockname()[1]
    async with server:
        await asyncio.gather(*(client(address, port) for _ in range(CLIENTS)))

asyncio.run(main(sys.argv[1]))
EOF

try_asyncio() {
	have asyncio python3 || return
	check "asyncio: 20 clients" client python3 "$OUT/echo.py" "$B4"
	check "asyncio: 20 clients with IPv6" client python3 "$OUT/echo.py" "$B6"
	by_rdma asyncio 40
}

cat >"$OUT/get.py" <<'EOF'
import shutil, sys, urllib.request
shutil.copyfileobj(urllib.request.urlopen(sys.argv[1]), open(sys.argv[2], "wb"))
EOF

try_http_server() {
	have http.server python3 || return
	serve 8000 python3 -m http.server --bind "$B4" --directory "$DIR" 8000
	check "http.server: a file" client python3 "$OUT/get.py" "http://$B4:8000/file" "$DIR/get"
	check "http.server: all of it" cmp "$DIR/file" "$DIR/get"
	by_rdma http.server 1
	stop "$server"
}

# --- all ------------------------------------------------------------------------------------

load_rsock
topo_wire 9000
DIR=$(mktemp -d /dev/shm/programs.XXXXXX)
on_exit rm -rf "$DIR"
SIZE=$((12 << 20))
head -c $SIZE /dev/urandom >"$DIR/file"

for program in ${TRY:-iperf3 redis nginx sshd asyncio http_server}; do
	"try_$program"
done
topo_down
unload_rsock
finish
