#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# rsock-run without module and devices: rules, complaints, and that programs
# run on TCP as they did.
#
# Kernels: host
# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/lib.sh"

RUN=$TREE/build/rsock-run/rsock-run
DIR=$(mktemp -d)
on_exit rm -rf "$DIR"
export XDG_CONFIG_HOME=$DIR

rules() { # FILE LINE...
	local file=$DIR/$1
	shift
	printf '%s\n' "$@" >"$file"
}

# A server and a client in one program, and what they are to themselves
cat >"$DIR/echo.py" <<'EOF'
import socket, sys
server = socket.create_server(("127.0.0.1", 0))
client = socket.create_connection(server.getsockname())
accepted = server.accept()[0]
client.sendall(b"there")
assert accepted.recv(5) == b"there"
for s in server, client, accepted:
    assert s.getsockopt(socket.SOL_SOCKET, socket.SO_DOMAIN) == socket.AF_INET
    assert s.getsockopt(socket.SOL_SOCKET, socket.SO_PROTOCOL) == socket.IPPROTO_TCP
print("done")
EOF

# Connects, and prints the name of the error
cat >"$DIR/connect.py" <<'EOF'
import errno, socket, sys
s = socket.socket()
print(errno.errorcode.get(s.connect_ex((sys.argv[1], int(sys.argv[2]))), "connected"))
EOF

RSOCK_TEST_FAMILY=tcp run_check rules_test

# --- what it says ---------------------------------------------------------------

check "--help" says 0 "usage: rsock-run" "$RUN" --help
check "no program" says 125 "usage: rsock-run" "$RUN"
check "an option that is not there" says 125 "rsock-run --help" "$RUN" --nonsense true
check "no such program" says 127 "no such program" "$RUN" no-such-program
check "no such file" says 127 "No such file" "$RUN" "$DIR/no-such-file"
check "a file that is no program" says 126 "Permission denied" "$RUN" "$DIR/echo.py"
check "a static program" says 126 "statically linked" "$RUN" busybox true
cp /bin/true "$DIR/set-id" && chown nobody "$DIR/set-id" && chmod u+s "$DIR/set-id"
check "a set-user-ID program" says 126 "set-user-ID" "$RUN" "$DIR/set-id"
check "no file of rules" says 125 "give another file with -c" "$RUN" -c "$DIR/none" true
check "a log that cannot be written" says 125 "give another file with -l" "$RUN" -l "$DIR/no/log" true

rules good '# comment' '' 'connect 10.0.0.0/8 any rsock # comment' '	any any 80-90 tcp'
check "good rules" says 0 "" "$RUN" -c "$DIR/good" true
rules bad-direction 'any any any auto' '' 'to any any auto'
check "a bad direction" says 125 "bad-direction:3: the first word must be" "$RUN" -c "$DIR/bad-direction" true
rules bad-address 'any 10.0.0.0/40 any auto'
check "a bad address" says 125 "bad-address:1: the second word must be" "$RUN" -c "$DIR/bad-address" true
rules bad-port 'any any http auto'
check "a bad port" says 125 "bad-port:1: the third word must be" "$RUN" -c "$DIR/bad-port" true
rules bad-action 'any any any always'
check "a bad action" says 125 "bad-action:1: the fourth word must be" "$RUN" -c "$DIR/bad-action" true
rules bad-end 'any any any auto please'
check "a word too many" says 125 "bad-end:1: there must be four words" "$RUN" -c "$DIR/bad-end" true
for ((i = 0; i < 257; i++)); do
	echo 'any any any auto'
done >"$DIR/long"
check "too many rules" says 125 "long:257: more than 256 rules" "$RUN" -c "$DIR/long" true
check "rules of the environment that make no sense" says 0 "RSOCK_RUN_RULES makes no sense" \
	env RSOCK_RUN_RULES=nonsense LD_PRELOAD="$TREE/build/rsock-run/librsock-preload.so" \
	python3 "$DIR/echo.py"

# --- programs -------------------------------------------------------------------

check "the status of the program" says 3 "" "$RUN" sh -c 'exit 3'
check "arguments are the program's" says 0 "^-c -v" "$RUN" echo -c -v
check "auto, without device" says 0 "^done" "$RUN" python3 "$DIR/echo.py"
rules tcp 'any any any tcp'
check "a rule for TCP" says 0 "^done" "$RUN" -c "$DIR/tcp" python3 "$DIR/echo.py"
rules rsock-run.conf 'connect 127.0.0.0/8 any tcp'
check "-v says why" says 0 "fd [0-9]*: connect 127.0.0.1 port [0-9]*: TCP (rule 1: as it says)" \
	"$RUN" -v python3 "$DIR/echo.py"
check "and of listening sockets, too" says 0 "fd [0-9]*: listen 127.0.0.1 port 0: TCP (no rule: " \
	"$RUN" -v python3 "$DIR/echo.py"
rm "$DIR/rsock-run.conf"

# -l with a name relative to where rsock-run is, and a program that goes elsewhere
log_to_file() {
	(cd "$DIR" && "$RUN" -l here.log sh -c "cd / && python3 $DIR/echo.py") &&
		[ "$(grep -c "^rsock-run\[[0-9]*\] fd " "$DIR/here.log")" = 2 ]
}
check "-l writes to a file" log_to_file
check "without standard error" says 0 "^done" sh -c "$RUN -v python3 $DIR/echo.py 2>&-"

# Whoever wants AF_RSOCK and nothing else is not given TCP
if [ -e /proc/net/rsock_stat ]; then
	skip "a rule for AF_RSOCK fails without module" "the module is loaded"
else
	rules rsock 'any any any rsock'
	check "a rule for AF_RSOCK fails without module" says 0 "^EPROTONOSUPPORT" \
		"$RUN" -c "$DIR/rsock" python3 "$DIR/connect.py" 127.0.0.1 9
	check "one for TCP does not" says 0 "^ECONNREFUSED" \
		"$RUN" -c "$DIR/tcp" python3 "$DIR/connect.py" 127.0.0.1 9
fi

# --- installed ------------------------------------------------------------------

installed() {
	make -s -C "$TREE/tools/rsock-run" install DESTDIR="$DIR/root" PREFIX=/usr &&
		says 0 "^done" "$DIR/root/usr/bin/rsock-run" python3 "$DIR/echo.py" &&
		says 0 "bind" nm -D --defined-only "$DIR/root/usr/lib/librsock-preload.so" &&
		[ -e "$DIR/root/usr/share/man/man1/rsock-run.1" ]
}
check "it runs as installed" installed
finish
