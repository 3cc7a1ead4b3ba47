#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# AF_RSOCK against TCP: the same calls in the same states, and what programs see
# of them. Documentation/rsock.rst has the differences that are intended.
#
# usage: matrix.sh [PATTERN ...]	(cases, as for matrix_test)
#
# Guest: m=1536 t=900
# Kernels: stock
# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/topo.sh
. "$(dirname "$0")/topo.sh"
# shellcheck source=selftests/sock_lib.sh
. "$(dirname "$0")/sock_lib.sh"

# An address whose host is known, so that it can be asked, but does not exist:
# a connect() to it goes on for as long as a test may take.
dead_host() {
	local dev address
	for dev in "$ANET" "$BNET"; do
		for address in "$RSOCK_DEAD4" "$RSOCK_DEAD6"; do
			ip neigh replace "$address" lladdr 02:00:00:00:02:13 dev "$dev" \
				nud permanent || return
		done
	done
}

# What the documentation says is intended is what the program takes for it.
documented() {
	sed -n '/^\.\. differences begin$/,/^\.\. differences end$/{/^\.\. differences/d;p}' \
		"$TREE/Documentation/rsock.rst" | diff -u - <("$PROGRAMS/matrix_test" --differences)
}

# A debug kernel is slow: unless there is time, not every state there.
cases=("$@")
is_debug && [ $# = 0 ] && [ -z "${FULL:-}" ] &&
	cases=('@(connected|connecting|disconnected|waiting|names|data|readiness|life|options|ioctl)/*')

allow_io_uring
check "intended differences are documented" documented
load_rsock
topo_wire
sock_env
export RSOCK_DEAD4=10.9.0.213 RSOCK_DEAD6=fd09::213 RSOCK_BIND_LL6=$BLL
check "a dead host" dead_host
run_check matrix_test "${cases[@]}"
topo_down
# Link-local addresses of two ends in one kernel do not take the wire.
if [ $# = 0 ]; then
	topo_self
	sock_env
	run_check matrix_test 'names/link-local, connect'
	topo_down
fi
unload_rsock
finish
