#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Static checks: the module builds in silence with W=1 and sparse for both
# stock kernels, librsock as well, and the sources follow the kernel's style. What is
# installed is what the Debian packages have.
#
# Kernels: host
# Guest: t=1200
# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/lib.sh"

# A full build in a folder of its own: only that shows every warning.
silent_build() { # KVER
	local log status
	rm -rf "$TREE/build/static-$1"
	log=$(KVER='' tools/build -o "build/static-$1" "$1" C=1 CF=-D__CHECK_ENDIAN__ 2>&1)
	status=$?
	echo "$log"
	[ "$status" = 0 ] && [ -z "$log" ]
}

cd "$TREE" || exit 1
for kver in 6.1 6.12; do
	check "W=1 and sparse are silent for $kver" silent_build $kver
done
# A program that knows of librsock by pkg-config alone
uses_library() { # PREFIX
	local dir=$TREE/build/static-librsock prefix=$1
	rm -rf "$dir"
	make -s -C tools/librsock install DESTDIR="$dir" PREFIX="$prefix" libdir="$prefix/lib64" || return
	echo '#include <rsock.h>
	int main(void) { return riounmap(-1, 0, 0) != -1; }' >"$dir/main.c"
	PKG_CONFIG_SYSROOT_DIR=$dir PKG_CONFIG_LIBDIR=$dir$prefix/lib64/pkgconfig \
		sh -c "cc -Wall -Werror -o $dir/main $dir/main.c \$(pkg-config --cflags --libs librsock)" &&
		LD_LIBRARY_PATH=$dir$prefix/lib64 "$dir/main"
}

# Of the packages of programs, which have libraries in a folder of the machine's kind
packaged=$(sed 's|/lib/\*/|/lib/|' debian/rsock-tools.install debian/librsock*.install)

installs_programs() { # DIR
	local path missing=0
	for path in $packaged; do
		[ -e "$1/$path" ] || { echo "no $path"; missing=1; }
	done
	find "$1/usr" -not -type d -printf 'usr/%P\n' | grep -v "$(sed 's/^/^/' <<<"$packaged")" && return 1
	return "$missing"
}

installs_modules() { # DIR
	diff <(find "$1/lib/modules" -name '*.ko*' -printf '%f\n' | cut -d . -f 1 | sort) \
		<(sed -n 's/^BUILT_MODULE_NAME.*"\(.*\)"/\1/p' debian/rsock-dkms.dkms | sort)
}

installed=$TREE/build/static-installed
rm -rf "$installed"
check "make install" make -s install KVER=6.12 DESTDIR="$installed" PREFIX=/usr
check "it installs the modules that the package has" installs_modules "$installed"
check "and the programs, libraries and pages of the others" installs_programs "$installed"
for prefix in /usr/local /opt/rsock; do
	check "a program with librsock in $prefix builds and runs" uses_library $prefix
done
check "checkpatch is silent" tools/checkpatch
check "shellcheck is silent" tools/shellcheck
finish
