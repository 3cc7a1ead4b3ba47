# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# For the scripts that run programs of rsockets at both ends, each of which is
#
#   user    the program with user-space rsockets
#   kernel  the same program, its calls made system calls by rsockets_shim.so

SHIM=$PROGRAMS/rsockets_shim.so

# as user|kernel COMMAND...: in place of the shell, which "stop" would end in
# place of the command otherwise
as() {
	local kind=$1
	shift
	if [ "$kind" = kernel ]; then
		exec env LD_PRELOAD="$SHIM" "$@"
	else
		exec "$@"
	fi
}

no_faults() { # no peer was found to break the protocol, or to write astray
	awk '/^Rsock: A/ { for (i = 2; i <= NF; i++) name[i] = $i }
	     /^Rsock: [0-9]/ { for (i = 2; i <= NF; i++)
		if (name[i] ~ /^(Fault|AccessErrors|RevokeTimeouts|WritesLost)/ && $i) {
			print name[i], $i; bad = 1 } }
	     END { exit bad }' /proc/net/rsock_stat
}

[ -r "$SHIM" ] || { not_ok "$SHIM is not built"; finish; }
