#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# USB/IP over AF_RSOCK, as Documentation/consumers.rst has it: usbipd and usbip by
# rsock-run, which hand the connection to the drivers of both ends. A disk that is
# a gadget is exported once as such, by usbip-vudc, and once as a device of this
# machine, by usbip-host.
#
# Kernels: stock
# When: full
# Guest: m=1024 t=300
# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/topo.sh
. "$(dirname "$0")/topo.sh"

PATH=$PATH:$TREE/build/rsock-run:${RSOCK_CACHE:-/var/cache/rsock}/programs/usr/sbin
LIMIT=60 # seconds after which something hangs
GADGET=/sys/kernel/config/usb_gadget/disk
modules=(libcomposite usb_f_mass_storage usbip-vudc dummy_hcd usbip-host vhci-hcd usb-storage sd_mod)

skip_all() { # REASON
	skip "USB/IP" "$1"
	finish
}

command -v usbipd >/dev/null || skip_all "no usbipd here (tools/vm/setup programs)"
modprobe -qa "${modules[@]}" || skip_all "this kernel lacks one of ${modules[*]}"

# --- the gadget ---------------------------------------------------------------------

make_gadget() { # UDC
	mountpoint -q /sys/kernel/config || mount -t configfs configfs /sys/kernel/config
	mkdir -p "$GADGET/configs/c.1" "$GADGET/functions/mass_storage.0"
	echo 0x1d6b >$GADGET/idVendor
	echo 0x0104 >$GADGET/idProduct
	echo "$DIR/image" >$GADGET/functions/mass_storage.0/lun.0/file
	ln -s $GADGET/functions/mass_storage.0 $GADGET/configs/c.1/
	echo "$1" >$GADGET/UDC
}

drop_gadget() {
	echo >$GADGET/UDC
	rm -f $GADGET/configs/c.1/mass_storage.0
	rmdir $GADGET/functions/mass_storage.0 $GADGET/configs/c.1 $GADGET
}

# --- both ends ----------------------------------------------------------------------

serve() { # OPTION...: of usbipd, whose pid is $server
	background rsock-run -l "$OUT/usbipd.run" usbipd -4 "$@" >"$OUT/usbipd.log" 2>&1
	server=$!
	busywait "$LIMIT" rdma_listening 3240 || note "no server: $(tail -n 5 "$OUT/usbipd.log")"
}

client() { # ARGUMENT...: of usbip
	timeout "$LIMIT" rsock-run -l "$OUT/usbip.run" usbip "$@"
}

ports() { # in use
	usbip port 2>/dev/null | sed -n 's/^Port 0*\([0-9]*\):.*/\1/p'
}

disk() { # the only one there is
	find /sys/block -name 'sd*' -printf '%f\n'
}

disk_ready() {
	[ -b "/dev/$(disk)" ] && [ "$(blockdev --getsize64 "/dev/$(disk)")" = "$SIZE" ]
}

no_disk() {
	[ -z "$(disk)" ]
}

attaches=0
try_attach() { # NAME BUSID
	attaches=$((attaches + 1))
	check "$1: attach" client attach -r "$B4" -b "$2"
	check "$1: there is a disk" busywait "$LIMIT" disk_ready
	# Else all that follows would do without it
	disk_ready || finish
}

is_available() { # FOLDER: of a device in sysfs that is exported, to nobody
	[ "$(cat "$1/usbip_status")" = 1 ]
}

# --- what is done -------------------------------------------------------------------

written() {
	head -c "$SIZE" /dev/urandom >"$DIR/data"
	timeout "$LIMIT" dd if="$DIR/data" of="/dev/$(disk)" bs=100k oflag=direct conv=fsync &&
		cmp "$DIR/data" "$DIR/image"
}

read_back() {
	timeout "$LIMIT" dd if="/dev/$(disk)" of="$DIR/back" bs=100k iflag=direct &&
		cmp "$DIR/data" "$DIR/back"
}

try_disk() { # NAME BUSID FOLDER
	check "$1: it can be listed" says 0 "$2" client list -r "$B4"
	try_attach "$1" "$2"
	check "$1: what is written to it is on the gadget" written
	check "$1: what is on the gadget is read from it" read_back
	check "$1: detach" client detach -p "$(ports)"
	check "$1: then there is no disk" busywait "$LIMIT" no_disk
	check "$1: the device is available again" busywait "$LIMIT" is_available "$3"
}

# One that writes until there is an error
begin_io() {
	# shellcheck disable=SC2016 # for the shell there
	background bash -c 'while dd if="$1" of="$2" bs=64k oflag=direct conv=nocreat,notrunc; do :; done; exit 1' \
		- "$DIR/data" "/dev/$(disk)" 2>"$OUT/writer"
	writer=$!
	busywait "$LIMIT" grep -q copied "$OUT/writer" || note "nothing is written"
}

fails_soon() { # PID
	busywait "$LIMIT" gone "$1" || return 1
	! wait "$1"
}

# try_end NAME BUSID FOLDER COMMAND...: the command ends the connection while there is I/O
try_end() {
	local name=$1 busid=$2 folder=$3
	shift 3
	try_attach "$name" "$busid"
	begin_io
	check "$name: done" "$@"
	check "$name: the writer gets an error" fails_soon $writer
	check "$name: the disk is gone" busywait "$LIMIT" no_disk
	check "$name: no port is in use" [ -z "$(ports)" ]
	check "$name: the device is available again" busywait "$LIMIT" is_available "$folder"
}

end_export() { # FOLDER
	echo -1 >"$1/usbip_sockfd"
}

remove_device() {
	rdma link del "$ADEV"
}

# --- all ----------------------------------------------------------------------------

load_rsock
topo_wire 9000
DIR=$(mktemp -d /dev/shm/usbip.XXXXXX)
on_exit rm -rf "$DIR"
SIZE=$((2 << 20))
[ -z "${FULL:-}" ] || SIZE=$((32 << 20))
truncate -s "$SIZE" "$DIR/image"
sent=$(sent_packets "$ADEV") received=$(sent_packets "$BDEV") tcp=$(tcp_opens)

vudc=/sys/devices/platform/usbip-vudc.0
make_gadget usbip-vudc.0
serve --device
try_disk "usbip-vudc" usbip-vudc.0 $vudc
[ -z "${FULL:-}" ] || try_end "usbip-vudc, export ended" usbip-vudc.0 $vudc end_export $vudc
stop "$server"
drop_gadget

make_gadget dummy_udc.0
check "usbip-host: there is a disk" busywait "$LIMIT" disk_ready
busid=$(basename "$(dirname "$(grep -lx 0104 /sys/bus/usb/devices/*/idProduct)")")
host=/sys/bus/usb/devices/$busid
check "usbip-host: bind" usbip bind -b "$busid"
check "usbip-host: then there is none" busywait "$LIMIT" no_disk
serve
try_disk "usbip-host" "$busid" "$host"

# All of the disk went each way twice, in packets of 4096 bytes at most
packets=$((SIZE >> 12 << 1))
check "by RDMA: what went in" [ $(($(sent_packets "$ADEV") - sent)) -ge $packets ]
check "by RDMA: what came out" [ $(($(sent_packets "$BDEV") - received)) -ge $packets ]
check "by RDMA: nothing by TCP" [ "$(tcp_opens)" = "$tcp" ]
# Each has a connection, and so does each list
check "by RDMA: all of the connections" [ "$(stat_of ActiveOpens)" = $((attaches + 2)) ]
check "no fault of the protocol" no_faults

try_end "usbip-host, device removed" "$busid" "$host" remove_device
stop "$server"
check "usbip-host: unbind" usbip unbind -b "$busid"
drop_gadget
topo_down
unload_rsock
finish
