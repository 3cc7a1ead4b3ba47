#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Debian packages: they build, have what they should and no tests, and DKMS builds
# and installs the modules of the package for both stock kernels; upgrades and
# removes them. In folders of its own: nothing is installed here (but DKMS makes itself
# a key in /var/lib/dkms if there is none).
#
# Kernels: host
# Guest: t=1200
# When: full
# Packages: build deb
# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/lib.sh"

cd "$TREE" || exit 1
DEBS=$TREE/build/deb
ROOT=$OUT/root
rm -rf "$ROOT"
mkdir -p "$ROOT/dkms" "$ROOT/modules"

unpack() {
	local deb
	for deb in "$DEBS"/*.deb; do
		dpkg -x "$deb" "$ROOT" || return
	done
}

in_package() { # PATH...
	local path
	for path; do
		compgen -G "$ROOT/$path" >/dev/null || {
			echo "no $path"
			return 1
		}
	done
}

no_tests() {
	! find "$ROOT" -path '*tests*' -o -name '*rsock_test*' -o -name '*kernel_test*' | grep .
}

in_dkms() { # VERSION KVER COMMAND [ARGS]
	local version=$1 kernel=$2
	shift 2
	dkms "$@" -m rsock -v "$version" -k "$kernel" --dkmstree "$ROOT/dkms" --sourcetree "$ROOT/usr/src" \
		--installtree "$ROOT/modules" --no-depmod || {
		cat "$ROOT/dkms/rsock/$version/build/make.log"
		return 1
	} 2>/dev/null
}

installed() { # KVER: the modules that are
	find "$ROOT/modules/$1" -name 'rsock*.ko*' -printf '%f\n' 2>/dev/null | sed 's/\.ko.*//' | sort | paste -sd ' '
}

have() { # KVER MODULES
	[ "$(installed "$1")" = "$2" ] || {
		echo "there are: $(installed "$1")"
		return 1
	}
}

# Who asks for such a socket has it loaded, and modinfo tells what it is
complete() { # KVER
	local file name field
	for name in rsock rsock_diag rsock_rpc; do
		file=$(find "$ROOT/modules/$1" -name "$name.ko*")
		for field in description license version vermagic; do
			[ -n "$(modinfo -F "$field" "$file")" ] || {
				echo "$name has no $field"
				return 1
			}
		done
	done
	file=$(find "$ROOT/modules/$1" -name "rsock.ko*")
	diff <(printf '%s\n' net-pf-22 net-pf-2-proto-260-type-1 net-pf-10-proto-260-type-1 | sort) \
		<(modinfo -F alias "$file" | sort)
}

# The next version, as an upgrade has it
upgrade() { # KVER
	local next=$VERSION.1
	cp -r "$ROOT/usr/src/rsock-$VERSION" "$ROOT/usr/src/rsock-$next" &&
		sed -i "s/^PACKAGE_VERSION=.*/PACKAGE_VERSION=\"$next\"/" "$ROOT/usr/src/rsock-$next/dkms.conf" &&
		in_dkms "$VERSION" "$1" remove && have "$1" "" && in_dkms "$next" "$1" install &&
		have "$1" "rsock rsock_diag rsock_rpc" && in_dkms "$next" "$1" remove && have "$1" ""
}

check "make deb" tools/deb
check "they unpack" unpack
VERSION=$(dpkg-deb -f "$DEBS"/rsock-dkms_*.deb Version)
check "rsock-dkms" in_package "usr/src/rsock-$VERSION/dkms.conf" "etc/modprobe.d/*.conf" "usr/lib/sysctl.d/*.conf"
check "rsock-tools" in_package usr/bin/rsock-run usr/lib/librsock-preload.so usr/sbin/rsockstat \
	"usr/share/man/man[178]/rsock*" "usr/share/bash-completion/completions/rsock*" "usr/share/rsock/*.bt"
check "librsock" in_package "usr/lib/*/librsock.so.1" "usr/lib/*/pkgconfig/librsock.pc" usr/include/rsock.h \
	usr/include/linux/rsock.h "usr/share/man/man3/librsock.3*"
check "no tests" no_tests
for kver in 6.1 6.12; do
	read -r kernel _ < <(tools/vm/kernel $kver)
	mkdir -p "$ROOT/modules/$kernel"	# or DKMS takes it for no kernel
	check "DKMS installs for $kver" in_dkms "$VERSION" "$kernel" install
	check "the modules for $kver" have "$kernel" "rsock rsock_diag rsock_rpc"
	check "what modinfo says of those for $kver" complete "$kernel"
done
check "DKMS upgrades and removes" upgrade "$kernel"
finish
