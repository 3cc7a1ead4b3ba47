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
# shellcheck source=selftests/programs_lib.sh
. "$(dirname "$0")/programs_lib.sh"

# --- iperf3 -------------------------------------------------------------------------

iperf3_cases() {
	iperf3_case 1 16000000 "a stream" -n 16M
	iperf3_case 4 12000000 "four streams" -n 16M -P 4
	iperf3_case 2 6000000 "reverse" -n 8M -R -P 2
	iperf3_case 2 4000000 "both directions" -n 8M --bidir
}

# --- Redis --------------------------------------------------------------------------

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
	serve_redis "$B4" 6379
	check "redis: a large value" redis_value
	check "redis: its benchmark" redis_benchmark
	by_rdma redis 22
	stop "$server"
}

# --- nginx and curl -------------------------------------------------------------------

curl_files() { # URL
	client curl -sSf -o "$DIR/one" -o "$DIR/two" -w '%{num_connects} ' "$1/file" "$1/file" >"$DIR/connects" &&
		cmp "$DIR/one" "$DIR/file" && cmp "$DIR/two" "$DIR/file"
}

try_nginx() {
	local sendfile
	have nginx nginx curl || return
	for sendfile in on off; do
		serve_nginx "$sendfile"
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

try_sshd() {
	have sshd sshd ssh scp ssh-keygen || return
	serve_sshd
	# shellcheck disable=SC2016 # for the shell over there
	check "ssh: a command" says 0 '^10.9.0.1 .* 10.9.0.2 2222$' \
		client ssh "${SSH[@]}" -p 2222 "root@$B4" 'echo $SSH_CONNECTION'
	scp_both_ways "$DIR/file"
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

# What is above is for other scripts, too.
[ "$0" = "${BASH_SOURCE[0]}" ] || return 0

try_all iperf3 redis nginx sshd asyncio http_server
