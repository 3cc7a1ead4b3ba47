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

[ -r "$SHIM" ] || { not_ok "$SHIM is not built"; finish; }
