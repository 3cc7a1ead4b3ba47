#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Debian packages: they build, have what they should and no tests, and are
# installed, upgraded, removed and purged, on a machine with each of the stock
# kernels. Its root is this one's under a throw-away overlay, where dpkg and DKMS
# run at full speed; then a guest boots from it, which deb_guest.sh looks at.
#
# Kernels: host
# Guest: t=1200
# When: full
# Packages: build vm deb
[ -n "${IN_NAMESPACE:-}" ] || IN_NAMESPACE=1 exec unshare -m "$0"
# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/lib.sh"

cd "$TREE" || exit 1
PACKAGES=(rsock-dkms rsock-tools librsock1 librsock-dev)
MODULES="rsock rsock_diag rsock_rpc"
CONF=/etc/modprobe.d/rsock-dkms.conf
VERSION=$(sed -n '1s/.*(\(.*\)).*/\1/p' debian/changelog)
NEXT=$VERSION.1

# --- what is in them ----------------------------------------------------------

in_package() { # PACKAGE PATH...
	local list path
	list=$(dpkg-deb -c build/deb/"$1"_*.deb | sed 's|.* \./|/|')
	echo "$1:" >>"$OUT/contents"
	echo "$list" >>"$OUT/contents"
	for path in "${@:2}"; do
		grep -qx "$path" <<<"$list" || {
			echo "no $path"
			return 1
		}
	done
}

no_tests() {
	! grep 'tests\|rsock_test\|kernel_test' "$OUT/contents"
}

# --- a machine ------------------------------------------------------------------

# It has $KERNEL only, which runs, as far as it is asked
new_machine() { # DIR
	local file dir=$1
	rm -rf "$dir" && mkdir -p "$ROOT" "$dir/over" &&
		mount -t tmpfs tmpfs "$dir/over" && mkdir "$dir/over"/{data,work} &&
		mount -t overlay -o "lowerdir=/,upperdir=$dir/over/data,workdir=$dir/over/work" overlay "$ROOT" ||
		return
	for file in proc dev; do
		mount --rbind "/$file" "$ROOT/$file" || return
	done
	for file in "$ROOT"/boot/config-*; do
		[[ $file == *"/config-$KERNEL" ]] || rm "$file"
	done
	printf '#!/bin/sh\n[ "$*" != -r ] || exec echo %s\nexec /usr/bin/uname "$@"\n' "$KERNEL" \
		>"$ROOT/usr/local/bin/uname" && chmod +x "$ROOT/usr/local/bin/uname"
}

there() { # COMMAND...
	chroot "$ROOT" env -i HOME=/root LANG=C.UTF-8 \
		PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"
}

# debs DIR: packages of it, without those of debug symbols
debs() {
	find "$TREE/build/$1" -name '*.deb' -not -name '*dbgsym*'
}

run_dpkg() { # ARGS
	echo "# $KERNEL: dpkg $*" >>"$OUT/dpkg"
	there dpkg "$@" </dev/null >>"$OUT/dpkg" 2>&1 || {
		tail -n 20 "$OUT/dpkg"
		return 1
	}
}

# What is there of the packages, of what they have made, and of their state
ours() {
	local deb
	for deb in $(debs deb); do
		dpkg-deb -c "$deb" | sed -n 's|.* \.\(/.*[^/]\)$|\1|p'
	done | sed 's/ -> .*//' | while read -r file; do
		[ ! -e "$ROOT$file" ] || echo "$file"
	done
	there find /etc "/lib/modules/$KERNEL" /usr/src /var/lib/dkms -regex '.*/\(lib\)?rsock\([-_.0-9].*\)?'
	there grep -l '\<rsock\>' -r "/lib/modules/$KERNEL" --include='modules.*'
	there dpkg -l "${PACKAGES[@]}" | grep '^[a-z][a-z] ' | grep -v '^un'
} 2>/dev/null

nothing_of_ours() {
	! ours | grep .
}

only_settings() {
	diff <(ours | cut -d ' ' -f 1 | sort -u) <(printf '%s\n' "$CONF" rc | sort)
}

# For this kernel DKMS has these, of this version and no other
in_dkms() { # VERSION
	local status
	status=$(there dkms status -m rsock)
	[[ $status == "rsock/$1, $KERNEL, "*": installed" ]] || {
		echo "$status"
		return 1
	}
}

# modinfo tells what they are, and who asks for which socket has them loaded
described() {
	local name field
	for name in $MODULES; do
		[[ $(there modinfo -k "$KERNEL" -n "$name") == "/lib/modules/$KERNEL/updates/"* ]] || {
			echo "$name is not there"
			return 1
		}
		for field in description license version vermagic; do
			there modinfo -k "$KERNEL" -F "$field" "$name" | grep -q . || {
				echo "$name has no $field"
				return 1
			}
		done
	done
	diff <(printf '%s\n' net-pf-22 net-pf-2-proto-260-type-1 net-pf-10-proto-260-type-1 | sort) \
		<(there modinfo -k "$KERNEL" -F alias rsock | sort)
}

library() {
	cat >"$ROOT/tmp/main.c" <<-'END' &&
		#include <rsock.h>
		int main(void) { return riounmap(-1, 0, 1) != -1; }
	END
	there sh -c "cc -Wall -Werror -o /tmp/main /tmp/main.c \$(pkg-config --cflags --libs librsock) && /tmp/main"
}

pages() {
	local page
	for page in rsock.7 rsockstat.8 rsock-run.1 rsockperf.1 librsock.3 riowrite.3; do
		there man -w "$page" || return
	done
}

# boot NAME: it, and what deb_guest.sh says of it, which is "$1"
boot() {
	local status
	there "$TREE/tools/vm/run" -k "$KERNEL" -m 1024 -t 300 -o "/tmp/$1" \
		bash "$TREE/selftests/deb_guest.sh" "$1" >"$OUT/$KERNEL-$1" 2>&1
	status=$?
	take_over "$kver, $1" <"$OUT/$KERNEL-$1"
	result $status "$kver, $1: the guest comes to its end"
}

check "make deb" tools/deb
check "packages of the next version" tools/deb "$NEXT" build/deb-next
rm -f "$OUT/contents" "$OUT/dpkg"
check "rsock-dkms" in_package rsock-dkms "/usr/src/rsock-$VERSION/dkms.conf" "$CONF" /usr/lib/sysctl.d/rsock.conf
check "rsock-tools" in_package rsock-tools /usr/bin/rsock-run /usr/bin/rsockperf /usr/lib/librsock-preload.so \
	/usr/sbin/rsockstat "/usr/share/bash-completion/completions/rsock.*" "/usr/share/rsock/.*\.bt"
check "librsock1" in_package librsock1 "/usr/lib/.*/librsock\.so\.1"
check "librsock-dev" in_package librsock-dev "/usr/lib/.*/librsock\.a" "/usr/lib/.*/pkgconfig/librsock\.pc" \
	/usr/include/rsock.h /usr/include/linux/rsock.h
check "no tests" no_tests

for kver in 6.1 6.12; do
	read -r KERNEL _ < <(tools/vm/kernel $kver)
	ROOT=$OUT/$kver/root
	check "$kver: a machine" new_machine "$OUT/$kver"
	check "$kver: nothing is there" nothing_of_ours
	mapfile -t files < <(debs deb)
	check "$kver: install" run_dpkg -i "${files[@]}"
	check "$kver: DKMS has built it" in_dkms "$VERSION"
	check "$kver: what modinfo says" described
	check "$kver: a program with librsock" library
	check "$kver: man pages" pages
	boot installed
	echo "options rsock family=22" >>"$ROOT$CONF"
	mapfile -t files < <(debs deb-next)
	check "$kver: upgrade" run_dpkg -i "${files[@]}"
	check "$kver: DKMS has the new one only" in_dkms "$NEXT"
	check "$kver: what the admin has set is still there" grep -q "^options rsock family=22" "$ROOT$CONF"
	boot upgraded
	check "$kver: remove" run_dpkg -r "${PACKAGES[@]}"
	check "$kver: settings are left" only_settings
	check "$kver: purge" run_dpkg -P "${PACKAGES[@]}"
	check "$kver: nothing is left" nothing_of_ours
	boot purged
	umount -R "$ROOT" "$OUT/$kver/over"
done
finish
