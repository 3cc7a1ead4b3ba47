#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The documents name all counters, trace events, sysctls, module parameters and
# options that the code has, and no others; man pages have the options of their
# programs and the calls of the library, and no mistakes. The code of kernel.rst is
# compiled.
#
# Kernels: host
# Guest: t=600
# Packages: lint
# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/doc_lib.sh
. "$(dirname "$0")/doc_lib.sh"

cd "$TREE" || exit 1

# section FILE TITLE: what is below the title, up to the next one
section() {
	awk -v title="$2" '
		/^=+$/ && length(prev) == length($0) { on = prev == title }
		{ if (on) print; prev = $0 }' "$1"
}

# rows: the first words of the rows of tables on standard input. A row that goes
# on begins with a blank.
rows() {
	awk '/^=+ +=/ { line++; next } /^$/ { line = 0 } line == 2 && /^[^ ]/ { print }' |
		sed 's/   *.*//; s/ -*$//' | tr -d ' ' | tr ',' '\n'
}

# same NAME CODE DOCS: two lists of words, in any order, and not empty
same() {
	local code docs
	code=$(sort -u <<<"$2") docs=$(sort -u <<<"$3")
	[ -n "$code" ] || {
		echo "no $1 found in the code"
		return 1
	}
	diff <(echo "$code") <(echo "$docs") | sed -n 's/^</only in the code:/p; s/^>/only in the docs:/p' | grep . && return 1
	return 0
}

counters_code=$(sed -n 's/^\t\[RSOCK_MIB.*= "\(.*\)",/\1/p' net/rsock/mib.c)
counters_docs=$(section Documentation/admin.rst Counters | rows | grep -vx Counter)
check "counters" same counters "$counters_code" "$counters_docs"
# Each is in a test, or among those that cannot be
tested() {
	local name
	for name in $counters_code; do
		! grep -qrw "$name" selftests --include='*.[chs]*' --include='*.py' || echo "$name"
	done
	section Documentation/testing.rst Counters | rows | grep -vx Counter
}
check "counters that are tested" same counters "$counters_code" "$(tested)"
check "each counter has a name" same "counters" \
	"$(sed -n '/^enum rsock_mib {/,/^}/s/^\t\(RSOCK_MIB_[A-Z]*\),.*/\1/p' net/rsock/mib.h | grep -v 'MIB_NONE\|MIB_FAULTS'
		sed -n '/^enum rsock_fault {/,/^}/s/^\t\(RSOCK_FAULT_[A-Z_]*\),.*/\1/p' net/rsock/wire.h | grep -v FAULT_NONE)" \
	"$(sed -n 's/^\t\[\(RSOCK_MIB_FAULTS + \)*\(RSOCK_[A-Z_]*\)\].*/\2/p' net/rsock/mib.c)"

check "trace events" same events \
	"$(sed -n 's/^TRACE_EVENT(\([a-z_]*\),.*/\1/p; s/^DEFINE_EVENT([a-z_]*, \([a-z_]*\),.*/\1/p' net/rsock/trace.h)" \
	"$(section Documentation/admin.rst "Trace events" | rows | grep -vx Event)"

sysctls=$(sed -n 's/.*\.procname[^"]*"\([a-z_]*\)".*/\1/p' net/rsock/pernet.c)
check "sysctls" same sysctls "$sysctls" "$(section Documentation/admin.rst Sysctls | rows | grep -vx Name)"
check "sysctls that other documents name" same sysctls "$sysctls" \
	"$(grep -rhoE 'net\.rsock\.[a-z_]+' Documentation net tools README.md | sed 's/net\.rsock\.//' | cat - <(echo "$sysctls"))"

check "module parameters" same parameters \
	"$(sed -n 's/^module_param\(_named\)*(\([a-z_]*\),.*/\2/p' net/rsock/*.c)" \
	"$(section Documentation/admin.rst "Module parameters" | rows | grep -vx Name)"
check "each module parameter says what it is for" same parameters \
	"$(cat net/rsock/*.c net/rsock_rpc/*.c | grep -c '^module_param')" \
	"$(cat net/rsock/*.c net/rsock_rpc/*.c | grep -c '^MODULE_PARM_DESC')"

options=$(sed -n 's/^#define \(RSOCK_[A-Z_]*\)\t.*/\1/p; s/^\t\(RDMA_[A-Z]*\),.*/\1/p' include/uapi/linux/rsock.h |
	grep -vE 'RSOCK_CMSG')
named() { # the words of the documents that look like options
	grep -hoE '\b(RSOCK_(IO[A-Z]+|WRITE_OFFSET|RECV_NOTIFY|ZEROCOPY|[A-Z]+_[A-Z_]+)|RDMA_(SQSIZE|RQSIZE|INLINE|IOMAPSIZE|ROUTE))\b' "$@" |
		grep -vE 'RSOCK_CMSG|RSOCK_DIAG'
}
check "options in rsock.rst" same options "$options" "$(named Documentation/rsock.rst)"
check "options in rsock(7)" same options "$options" "$(named tools/rsock.7)"

check "calls in kernel.rst" same calls \
	"$(grep -oE '\b(rsock_[a-z_]+|sk_is_rsock)\(' include/net/rsock.h)" \
	"$(section Documentation/kernel.rst Placing | grep -oE '^[a-z_]+\(')"

kernel_rst() { # KVER
	local dir=$OUT/kernel_rst-$1 label
	read -r label _ < <(tools/vm/kernel "$1")
	rm -rf "$dir" && mkdir "$dir" && KVER='' tools/build "$1" && build_kernel_rst "$dir" "$label"
}
for kver in 6.1 6.12; do
	check "the code of kernel.rst is compiled for $kver" kernel_rst $kver
done

# What syzkaller knows has its value and layout from the header. Of that, aliases
# and what programs only receive are not for it.
uapi=include/uapi/linux/rsock.h fuzzer=tools/syzkaller/socket_rsock.txt
check "constants in syzkaller's descriptions" same constants \
	"$(sed -nE 's/^(#define|\t(RDMA_[A-Z]*),.*)[ \t]*([A-Z_]*).*/\2\3/p' $uapi | grep -vx '_UAPI.*\|PF_RSOCK\|SOL_RDMA\|RSOCK_CMSG_WRITTEN')" \
	"$(grep -v '^#' $fuzzer | grep -oE '\b(AF|IPPROTO|SOL|MSG|RSOCK|RDMA)_[A-Z_]+' | grep 'RSOCK\|RDMA\|RIO')"
check "struct rsock_iomap there" diff \
	<(sed -n '/^struct rsock_iomap {/,/^}/s/^\t[a-z0-9_]* \([a-z_]*\);/\1/p' $uapi) \
	<(sed -n '/^rsock_iomap {/,/^}/s/^\t\([a-z_]*\)\t.*/\1/p' $fuzzer)

# targets FILE...: what is to be made
targets() {
	grep -hoE "(^ *|\`\`)make [a-z][a-z-]*" "$@" | sed 's/.*make //' | sort -u
}
check "what make is told to make" diff /dev/null \
	<(comm -23 <(targets README.md Documentation/*) <(make help | targets -))

# Of runs with this driver and MTU
results_are() { # NAME DRIVER MTU
	[ "$(BENCH=bench RDMA_DRIVER=$2 MTU=$3 bash -c '. tools/bench_lib.sh; name_results uml; echo "$out.csv"')" = "$1" ]
}
check "speed.rst says where results are" results_are \
	"$(grep -o 'build/bench/[^ ]*\.csv' Documentation/speed.rst)" rxe 9000
check "those of another MTU are elsewhere" results_are build/bench/uml-rxe-1500.csv rxe 1500
check "and those of another driver" results_are build/bench/uml-siw-9000.csv siw 9000

version=$(sed -n '1s/.*(\(.*\)).*/\1/p' debian/changelog)
for program in rsockperf rsockstat; do
	check "$program has the version of the package" says 0 "^$program $version$" "build/tools/$program" --version
done
check "and so have the modules" same versions "$version" \
	"$(grep -rhoP '^MODULE_VERSION\("\K[^"]+' net --include='*.c')"

# switches: those at the beginning of lines, one a line, of a page or of --help
switches() {
	sed -nE 's/^ +((-[^ -]), )?(--[a-z-]+).*/\2\n\3/p' | grep .
}

for program in rsock-run/rsock-run tools/rsockperf tools/rsockstat; do
	page=$(find tools -name "${program#*/}.[18]")
	check "switches in ${page##*/}" same switches "$("build/$program" --help | switches)" \
		"$(mandoc -T ascii "$page" | col -b | switches)"
done
calls=$(grep -o 'rio[a-z]*' tools/librsock/librsock.map)
check "calls in librsock(3)" same calls "$calls" \
	"$(sed -n '/^\.SH NAME/{n;p}' tools/librsock/librsock.3 | grep -o 'rio[a-z]*')"

# Links to the page are not in the sources
each_call_has_a_page() {
	local call dir=$OUT/library
	rm -rf "$dir"
	make -s -C tools/librsock install DESTDIR="$dir" PREFIX=/usr || return
	for call in $calls; do
		MANPATH=$dir/usr/share/man man -w 3 "$call" || return
	done
}
check "each call has a page" each_call_has_a_page

pages() {
	find tools -name '*.[1-9]' | sort
}
man_warns() {
	local page
	for page in $(pages); do
		LC_ALL=C.UTF-8 MANROFFSEQ='' MANWIDTH=80 man --warnings -E UTF-8 -l -Tutf8 -Z "$page" 2>&1 >/dev/null
	done | grep . && return 1
	return 0
}
lint_warns() {
	local page
	for page in $(pages); do
		mandoc -T lint -W warning "$page"
	done | grep . && return 1
	return 0
}
# What takes two ends is not run from the text: but the text has what p9.sh and
# usbip.sh run, by other names.
# shellcheck disable=SC2016 # the dollars are the scripts'
consumers_text() {
	sed -E 's/"//g; s/\$\(ports\)/0/; s/\bclient (list|attach|detach)/rsock-run usbip \1/; s/ -l \$OUT\/[a-z]+\.run//
		s/\$B4/10.9.0.2/; s/\$SERVED/\/srv/; s/\$MOUNTED/\/mnt/; s/-b (\$2|\$busid)/-b 1-1/' \
		selftests/p9.sh selftests/usbip.sh
}

consumers_commands() {
	sed -n 's/^    //p' Documentation/consumers.rst | sed 's/ *#.*//' | grep -v '^modprobe'
}

consumers_tested() {
	local text command missing=0
	text=$(consumers_text)
	while read -r command; do
		grep -qF -- "$command" <<<"$text" || { echo "no test runs: $command"; missing=1; }
	done < <(consumers_commands)
	[ "$(consumers_commands | wc -l)" -gt 5 ] && return "$missing"
}
check "commands of consumers.rst are run by tests" consumers_tested

# In a kernel tree Sphinx knows the role "doc", too
rst_warns() {
	local file
	for file in Documentation/*.rst; do
		/usr/bin/python3 -m docutils --report=1 --writer=null "$file" 2>&1
	done | grep -v 'role.*"doc"\|^Trying' | grep . && return 1
	return 0
}
check "reStructuredText has no complaints" rst_warns
check "man(1) has no complaints about man pages" man_warns
check "mandoc(1) has none" lint_warns
finish
