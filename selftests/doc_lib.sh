# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What documents have, taken from there; source it after lib.sh.

# block FILE TEXT: the first block behind TEXT that is indented or between ```
block() {
	awk -v text="$2" '
		!seen { seen = index($0, text); next }
		/^```/ && on { exit }
		/^```/ { on = fence = 1; next }
		/^ / && !fence { on = 1 }
		on && /^[^ ]/ && !fence { exit }
		on { if (!fence) sub(/^    /, ""); print }' "$TREE/$1"
}

# build_kernel_rst DIR KERNEL: the module of kernel_rst/example.c with the code of
# kernel.rst, by the Kbuild and the command that it has
build_kernel_rst() {
	local dir=$1 part
	for part in "kernel-doc where it is" "says that the page is there" "arrives behind what it placed"; do
		block Documentation/kernel.rst "$part"
	done >"$dir/place.c"
	block Documentation/kernel.rst "Kbuild is" >"$dir/Kbuild"
	block Documentation/kernel.rst "it is built by" >"$dir/command"
	cp "$TREE/selftests/kernel_rst/example.c" "$dir" &&
		(cd "$dir" && KERNEL=$2 RSOCK=$TREE KCFLAGS=-Werror bash -eu command)
}
