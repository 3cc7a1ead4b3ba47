# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# RDMA topologies; source it after lib.sh. Two of them are inside one kernel:
#
#   topo_wire [MTU]: two devices, and all traffic between them on the wire.
#   Client side A connects to server side B.
#
#      rdma0 (A)                          rdma1 (B)
#        |                                  |
#      v0  10.9.0.1  fd09::1  ---- veth ---- v1  10.9.0.2  fd09::2
#
#   topo_self [MTU]: one device that talks to itself; A and B are the same.
#
#      rdma0
#        |
#      d0  10.9.0.1  fd09::1  (dummy)
#
# One is between two guests (pair_lib.sh), of which A is one and B the other:
#
#   topo_pair [MTU]: called in both. The devices have the same names in both.
#
# All set A4 B4 A6 B6 (addresses), ALL BLL (link-local, with %device; these
# do not take the wire), ADEV BDEV (RDMA devices) and ANET BNET (network
# devices). rxe works in the initial network namespace only, so that is where
# everything is.
#
# The driver is rxe, or siw with RDMA_DRIVER=siw where the kernel has it (the
# stock ones do not).

RDMA_DRIVER=${RDMA_DRIVER:-rxe}

topo_modules() {
	case $RDMA_DRIVER in
	rxe) modprobe -a rdma_rxe rdma_ucm ib_uverbs ;;
	*) modprobe -a "$RDMA_DRIVER" rdma_ucm ib_uverbs ;;
	esac
	modprobe -aq veth dummy virtio_net
	return 0
}

# A RoCE device finds routes only once the address is in its table of GIDs.
gid_known() { # DEVICE IPV4
	local hex
	# shellcheck disable=SC2046,SC2086
	hex=$(printf '%02x%02x:%02x%02x' ${2//./ })
	[ "$RDMA_DRIVER" != rxe ] ||
		grep -qs "ffff:$hex" "/sys/class/infiniband/$1/ports/1/gids/"*
}

link_local() { # NETDEV
	ip -6 -o addr show dev "$1" scope link | sed -n "s/.*inet6 \([^/]*\).*/\1%$1/p;q"
}

# add_port RDMADEV NETDEV IPV4 IPV6 MTU
add_port() {
	sysctl -qw "net.ipv4.conf.$2.accept_local=1" "net.ipv4.conf.$2.rp_filter=0"
	# Addresses are usable at once: no duplicates to look for.
	sysctl -qw "net.ipv6.conf.$2.accept_dad=0"
	ip link set "$2" mtu "$5" &&
		ip addr add "$3/24" dev "$2" &&
		ip -6 addr add "$4/64" dev "$2" nodad &&
		ip link set "$2" up &&
		rdma link add "$1" type "$RDMA_DRIVER" netdev "$2"
}

# Soft-RoCE's queue pair that connections are made with is dead for good if it had
# to send while nothing could be sent, which 6.1 does not even show.
new_device() { # RDMADEV NETDEV IPV4
	rdma link del "$1" &&
		rdma link add "$1" type "$RDMA_DRIVER" netdev "$2" &&
		busywait 30 gid_known "$1" "$3"
}

topo_fail() {
	not_ok "topology: $*"
	finish
}

topo_self() {
	local mtu=${1:-1500}
	topo_modules
	ip link add d0 type dummy && add_port rdma0 d0 10.9.0.1 fd09::1 "$mtu" ||
		topo_fail "no $RDMA_DRIVER device on a dummy"
	on_exit topo_down
	busywait 30 gid_known rdma0 10.9.0.1 || topo_fail "no GID"
	A4=10.9.0.1 B4=10.9.0.1 A6=fd09::1 B6=fd09::1
	ADEV=rdma0 BDEV=rdma0 ANET=d0 BNET=d0
	topo_export
}

topo_wire() {
	local mtu=${1:-1500}
	topo_modules
	ip link add v0 type veth peer name v1 &&
		sysctl -qw net.ipv4.conf.all.rp_filter=0 &&
		add_port rdma0 v0 10.9.0.1 fd09::1 "$mtu" &&
		add_port rdma1 v1 10.9.0.2 fd09::2 "$mtu" || topo_fail "no $RDMA_DRIVER devices on a veth pair"
	on_exit topo_down
	cross_the_wire -4 10.9.0.1 10.9.0.2
	cross_the_wire -6 fd09::1 fd09::2
	busywait 30 gid_known rdma0 10.9.0.1 || topo_fail "no GID"
	busywait 30 gid_known rdma1 10.9.0.2 || topo_fail "no GID"
	A4=10.9.0.1 B4=10.9.0.2 A6=fd09::1 B6=fd09::2
	ADEV=rdma0 BDEV=rdma1 ANET=v0 BNET=v1
	topo_export
}

topo_pair() {
	local mtu=${1:-1500}
	A4=10.9.0.1 B4=10.9.0.2 A6=fd09::1 B6=fd09::2
	ADEV=rdma0 BDEV=rdma0 ANET=eth1 BNET=eth1
	topo_modules
	case $PAIR_END in
	a) pair_port "$A4" "$A6" "$mtu" ;;
	b) pair_port "$B4" "$B6" "$mtu" ;;
	esac || topo_fail "no $RDMA_DRIVER device"
	topo_export
}

pair_port() { # IPV4 IPV6 MTU
	# A link that goes down and comes back has its addresses then.
	sysctl -qw net.ipv6.conf.all.keep_addr_on_down=1
	busywait 60 test -e /sys/class/net/eth1 && add_port rdma0 eth1 "$@" && busywait 30 gid_known rdma0 "$1"
}

topo_export() {
	ALL=$(link_local "$ANET") BLL=$(link_local "$BNET")
	export A4 B4 A6 B6 ADEV BDEV ANET BNET ALL BLL RDMA_DRIVER
}

# Both addresses are local, and the kernel would short-cut between them:
# packets that come in look up local addresses first, packets that go out
# take the wire first, except for what goes to where it comes from.
cross_the_wire() { # -4|-6 A B
	local f=$1 a=$2 b=$3
	ip "$f" rule add pref 9 from "$a" to "$a" lookup local
	ip "$f" rule add pref 9 from "$b" to "$b" lookup local
	ip "$f" rule add pref 10 iif v0 lookup local
	ip "$f" rule add pref 11 iif v1 lookup local
	ip "$f" route add "$b" dev v0 src "$a" table 101
	ip "$f" route add "$a" dev v1 src "$b" table 102
	ip "$f" rule add pref 100 from "$a" to "$b" lookup 101
	ip "$f" rule add pref 101 from "$b" to "$a" lookup 102
	# A connect() without bind() has no source yet: it is A's.
	ip "$f" rule add pref 102 to "$b" iif lo lookup 101
	ip "$f" rule add pref 200 lookup local
	ip "$f" rule del pref 0
}

topo_down() {
	local f pref
	rdma link del rdma0
	rdma link del rdma1
	ip link del v0
	ip link del d0
	for f in -4 -6; do
		ip "$f" rule show | grep -q '^0:' || ip "$f" rule add pref 0 lookup local
		for pref in 9 9 10 11 100 101 102 200; do
			ip "$f" rule del pref $pref
		done
	done
	return 0
} 2>/dev/null

# Packets a device has sent, to prove that data went by RDMA.
sent_packets() { # RDMADEV
	cat "/sys/class/infiniband/$1/ports/1/hw_counters/sent_pkts"
}

# Connections of TCP that were made or accepted, to prove that there were none.
tcp_opens() {
	awk '/^Tcp: [0-9]/ { print $6 + $7 }' /proc/net/snmp
}
