#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# tools/upstream puts the modules into a kernel source tree where they build in
# silence, as modules and as a part of the kernel, and which checkpatch takes.
#
# Kernels: host
# Guest: t=600
# Packages: build uml lint
# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/lib.sh"

cd "$TREE" || exit 1
DIR=$OUT/linux
SOURCE=$(tools/vm/uml-build source)
OPTIONS=(RSOCK RSOCK_DIAG RSOCK_KUNIT_TEST SUNRPC_XPRT_RSOCK)
export MAKEFLAGS=

# The source, of which nothing is copied but what changes, and what is near it
links() {
	local file
	rm -rf "$DIR" "$OUT/build"
	mkdir -p "$DIR/Documentation"
	for file in "$SOURCE"/* "$SOURCE"/Documentation/*; do
		case ${file#"$SOURCE/"} in
		Documentation) ;;
		net | include | MAINTAINERS | Documentation/networking) cp -a "$file" "$DIR/${file#"$SOURCE"}" ;;
		*) ln -s "$file" "$DIR/${file#"$SOURCE"}" ;;
		esac || return
	done
}

apply() {
	tools/upstream "$DIR" >"$OUT/files"
}

kmake() { # ARGS
	nice make -s -C "$DIR" ARCH=um O="$OUT/build" -j"${JOBS:-$(nproc)}" "$@"
}

# configure VALUE: as User-Mode Linux is elsewhere, and with ours
configure() {
	local option want=()
	for option in "${OPTIONS[@]}"; do
		want+=("CONFIG_$option=$1")
	done
	mkdir -p "$OUT/build" &&
		printf '%s\n' "${want[@]}" "CONFIG_SUNRPC=$1" "CONFIG_NFS_FS=$1" "CONFIG_NFSD=$1" >"$OUT/ours" &&
		kmake defconfig && (cd "$OUT/build" &&
		"$DIR/scripts/kconfig/merge_config.sh" -m .config "$TREE/tools/vm/uml.config" ../ours) &&
		kmake olddefconfig || return
	for option in "${want[@]}"; do
		grep -qx "$option" "$OUT/build/.config" || {
			echo "$option did not stick"
			return 1
		}
	done
}

# builds OBJECT...: these are there, and there is nothing to say of them
builds() {
	local log status object
	log=$(kmake modules_prepare && kmake W=1 net/rsock/ net/sunrpc/xprtrsock/ 2>&1)
	status=$?
	echo "$log"
	for object; do
		[ -e "$OUT/build/net/$object" ] || {
			echo "no $object"
			return 1
		}
	done
	[ "$status" = 0 ] && [ -z "$log" ]
}

# A patch of each file, as one would send it
patch_of() { # FILE
	if [ -e "$SOURCE/$1" ]; then
		diff -u --label "a/$1" --label "b/$1" "$SOURCE/$1" "$DIR/$1"
	else
		diff -u --label /dev/null --label "b/$1" /dev/null "$DIR/$1"
	fi
}

# tools/checkpatch looks at the sources. The exit status does not count "CHECK",
# but the output does.
style() {
	local file
	grep -v '\.[ch]$' "$OUT/files" | while read -r file; do
		patch_of "$file"
	done >"$OUT/patch"
	[ -s "$OUT/patch" ] && ! GIT_DIR=none perl "$DIR/scripts/checkpatch.pl" --root="$DIR" --strict --quiet \
		--no-signoff --ignore COMMIT_MESSAGE --no-summary --terse --show-types - <"$OUT/patch" 2>&1 | grep .
}

check "a copy of the source" links
check "tools/upstream" apply
check_fails "a second time" tools/upstream "$DIR"
check "as modules: configure" configure m
check "as modules: they build in silence" builds rsock/rsock.o rsock/rsock_diag.o rsock/rsock_test.o \
	sunrpc/xprtrsock/rsock_rpc.o
check "in the kernel: configure" configure y
check "in the kernel: they build in silence" builds rsock/built-in.a sunrpc/xprtrsock/built-in.a
check "checkpatch" style
finish
