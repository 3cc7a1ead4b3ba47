# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What a guest has of the Debian packages (deb.sh) that are installed, upgraded
# or purged, which is its argument: whoever asks for a socket gets one, or not.
# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/topo.sh
. "$(dirname "$0")/topo.sh"

loaded() { # MODULE
	grep -q "^$1 " /proc/modules
}

# socket() alone, by a user without privileges
autoload() { # FAMILY PROTOCOL
	! loaded rsock || modprobe -r rsock_diag rsock || return
	setpriv --reuid nobody --clear-groups python3 -c 'import socket, sys
socket.socket(int(sys.argv[1]), socket.SOCK_STREAM, int(sys.argv[2]))' "$@" && loaded rsock
}

# Each name in the file, as if it were no comment
sysctls() {
	sed 's/^#net/net/' /usr/lib/sysctl.d/rsock.conf | sysctl -p -
}

# A listener, of a program that knows of TCP only
listener() {
	exec rsock-run -v python3 -c '
import signal, socket, sys
lsn = socket.create_server((sys.argv[1], 7471))
signal.pause()' "$A4"
}

shown() { # by the command that is installed
	rsockstat -l -H -P 7471 | grep -q .
}

if [ "$1" = purged ]; then
	check_fails "a socket of the family loads nothing" autoload 22 0
	check_fails "one of the protocol loads nothing" autoload 2 260
	finish
fi
check "a socket of the family loads the module" autoload 22 0
check "one of the protocol does" autoload 2 260
check "one of the protocol for IPv6 does" autoload 10 260
check "sysctls" sysctls
topo_self
background listener >"$OUT/listener" 2>&1
check "rsockstat shows a listener of rsock-run" busywait 60 shown
check "rsock_diag is loaded" loaded rsock_diag
stop "${PIDS[-1]}"
background rsockperf "$A4" >"$OUT/perf" 2>&1
check "rsockperf listens" busywait 30 rdma_listening 7472
check "rsockperf measures" timeout 60 rsockperf -c "$A4" -n 1M
finish
