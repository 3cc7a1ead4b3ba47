// SPDX-License-Identifier: GPL-2.0
/*
 * Options: each set of them is read, and written with right and wrong sizes and
 * values, in some states; and what sockets inherit that are accepted.
 */
#include <netinet/tcp.h>
#include <sys/time.h>

#include "matrix.h"

struct option_row {
	const char *name;
	int level, option;
	bool varies;		/* its value has no meaning here */
};

#define ROW(level, option)	{ #option, level, option, false }
#define VARIES(level, option)	{ #option, level, option, true }

static const struct option_row socket_rows[] = {
	ROW(SOL_SOCKET, SO_DEBUG), ROW(SOL_SOCKET, SO_REUSEADDR),
	ROW(SOL_SOCKET, SO_REUSEPORT), ROW(SOL_SOCKET, SO_TYPE),
	ROW(SOL_SOCKET, SO_ERROR), ROW(SOL_SOCKET, SO_DONTROUTE), ROW(SOL_SOCKET, SO_BROADCAST),
	VARIES(SOL_SOCKET, SO_SNDBUF), VARIES(SOL_SOCKET, SO_RCVBUF),
	ROW(SOL_SOCKET, SO_KEEPALIVE), ROW(SOL_SOCKET, SO_OOBINLINE),
	ROW(SOL_SOCKET, SO_NO_CHECK), ROW(SOL_SOCKET, SO_PRIORITY), ROW(SOL_SOCKET, SO_LINGER),
	ROW(SOL_SOCKET, SO_BSDCOMPAT), ROW(SOL_SOCKET, SO_PASSCRED),
	ROW(SOL_SOCKET, SO_PEERCRED), ROW(SOL_SOCKET, SO_RCVLOWAT),
	ROW(SOL_SOCKET, SO_SNDLOWAT), ROW(SOL_SOCKET, SO_RCVTIMEO),
	ROW(SOL_SOCKET, SO_SNDTIMEO), ROW(SOL_SOCKET, SO_BINDTODEVICE),
	ROW(SOL_SOCKET, SO_ATTACH_FILTER), ROW(SOL_SOCKET, SO_DETACH_FILTER),
	ROW(SOL_SOCKET, SO_PEERNAME), ROW(SOL_SOCKET, SO_TIMESTAMP),
	ROW(SOL_SOCKET, SO_ACCEPTCONN), ROW(SOL_SOCKET, SO_PASSSEC),
	ROW(SOL_SOCKET, SO_MARK), ROW(SOL_SOCKET, SO_PROTOCOL), VARIES(SOL_SOCKET, SO_DOMAIN),
	ROW(SOL_SOCKET, SO_RXQ_OVFL), ROW(SOL_SOCKET, SO_PEEK_OFF), ROW(SOL_SOCKET, SO_NOFCS),
	ROW(SOL_SOCKET, SO_SELECT_ERR_QUEUE), ROW(SOL_SOCKET, SO_BUSY_POLL),
	VARIES(SOL_SOCKET, SO_MAX_PACING_RATE), ROW(SOL_SOCKET, SO_BPF_EXTENSIONS),
	VARIES(SOL_SOCKET, SO_INCOMING_CPU), ROW(SOL_SOCKET, SO_ATTACH_BPF),
	VARIES(SOL_SOCKET, SO_MEMINFO), VARIES(SOL_SOCKET, SO_INCOMING_NAPI_ID),
	VARIES(SOL_SOCKET, SO_COOKIE), ROW(SOL_SOCKET, SO_PEERGROUPS),
	ROW(SOL_SOCKET, SO_TXTIME), ROW(SOL_SOCKET, SO_BINDTOIFINDEX),
	ROW(SOL_SOCKET, SO_PREFER_BUSY_POLL), VARIES(SOL_SOCKET, SO_NETNS_COOKIE),
	ROW(SOL_SOCKET, SO_BUF_LOCK), ROW(SOL_SOCKET, SO_RESERVE_MEM),
	{ "SOL_SOCKET 0", SOL_SOCKET, 0 }, { "SOL_SOCKET 9999", SOL_SOCKET, 9999 },
	{ "SOL_SOCKET -1", SOL_SOCKET, -1 }, { "level 31337", 31337, 1 },
	{ "level -1", -1, 1 }, { "of UDP", IPPROTO_UDP, 1 },
};

static const struct option_row tcp_rows[] = {
	ROW(IPPROTO_TCP, TCP_NODELAY), ROW(IPPROTO_TCP, TCP_CORK),
	ROW(IPPROTO_TCP, TCP_KEEPIDLE), ROW(IPPROTO_TCP, TCP_KEEPINTVL),
	ROW(IPPROTO_TCP, TCP_KEEPCNT), ROW(IPPROTO_TCP, TCP_SYNCNT),
	ROW(IPPROTO_TCP, TCP_LINGER2), ROW(IPPROTO_TCP, TCP_DEFER_ACCEPT),
	VARIES(IPPROTO_TCP, TCP_WINDOW_CLAMP), VARIES(IPPROTO_TCP, TCP_INFO),
	VARIES(IPPROTO_TCP, TCP_QUICKACK), VARIES(IPPROTO_TCP, TCP_CONGESTION),
	VARIES(IPPROTO_TCP, TCP_MAXSEG), ROW(IPPROTO_TCP, TCP_USER_TIMEOUT),
	ROW(IPPROTO_TCP, TCP_NOTSENT_LOWAT), ROW(IPPROTO_TCP, TCP_MD5SIG),
	ROW(IPPROTO_TCP, TCP_MD5SIG_EXT), ROW(IPPROTO_TCP, TCP_THIN_LINEAR_TIMEOUTS),
	ROW(IPPROTO_TCP, TCP_THIN_DUPACK), ROW(IPPROTO_TCP, TCP_REPAIR),
	ROW(IPPROTO_TCP, TCP_REPAIR_QUEUE), VARIES(IPPROTO_TCP, TCP_QUEUE_SEQ),
	ROW(IPPROTO_TCP, TCP_REPAIR_OPTIONS), ROW(IPPROTO_TCP, TCP_REPAIR_WINDOW),
	ROW(IPPROTO_TCP, TCP_FASTOPEN), ROW(IPPROTO_TCP, TCP_FASTOPEN_CONNECT),
	VARIES(IPPROTO_TCP, TCP_FASTOPEN_KEY), ROW(IPPROTO_TCP, TCP_FASTOPEN_NO_COOKIE),
	VARIES(IPPROTO_TCP, TCP_TIMESTAMP), VARIES(IPPROTO_TCP, TCP_CC_INFO),
	ROW(IPPROTO_TCP, TCP_SAVE_SYN), ROW(IPPROTO_TCP, TCP_SAVED_SYN),
	ROW(IPPROTO_TCP, TCP_ULP), VARIES(IPPROTO_TCP, TCP_ZEROCOPY_RECEIVE),
	ROW(IPPROTO_TCP, TCP_INQ), ROW(IPPROTO_TCP, TCP_TX_DELAY),
	{ "TCP 9999", IPPROTO_TCP, 9999 }, { "TCP -1", IPPROTO_TCP, -1 },
};

static const struct option_row ip_rows[] = {
	ROW(IPPROTO_IP, IP_TOS), ROW(IPPROTO_IP, IP_TTL), ROW(IPPROTO_IP, IP_HDRINCL),
	ROW(IPPROTO_IP, IP_OPTIONS), ROW(IPPROTO_IP, IP_ROUTER_ALERT),
	ROW(IPPROTO_IP, IP_RECVOPTS), ROW(IPPROTO_IP, IP_RETOPTS), ROW(IPPROTO_IP, IP_PKTINFO),
	ROW(IPPROTO_IP, IP_PKTOPTIONS), ROW(IPPROTO_IP, IP_MTU_DISCOVER),
	ROW(IPPROTO_IP, IP_RECVERR), ROW(IPPROTO_IP, IP_RECVTTL), ROW(IPPROTO_IP, IP_RECVTOS),
	VARIES(IPPROTO_IP, IP_MTU), ROW(IPPROTO_IP, IP_FREEBIND), ROW(IPPROTO_IP, IP_PASSSEC),
	ROW(IPPROTO_IP, IP_TRANSPARENT), ROW(IPPROTO_IP, IP_MINTTL),
	ROW(IPPROTO_IP, IP_NODEFRAG), ROW(IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT),
	ROW(IPPROTO_IP, IP_UNICAST_IF), ROW(IPPROTO_IP, IP_MULTICAST_IF),
	ROW(IPPROTO_IP, IP_MULTICAST_TTL), ROW(IPPROTO_IP, IP_MULTICAST_LOOP),
	ROW(IPPROTO_IP, IP_MULTICAST_ALL), ROW(IPPROTO_IP, IP_ADD_MEMBERSHIP),
	ROW(IPPROTO_IP, IP_RECVORIGDSTADDR), ROW(IPPROTO_IP, IP_CHECKSUM),
	ROW(IPPROTO_IP, IP_RECVFRAGSIZE),
	{ "IP_LOCAL_PORT_RANGE", IPPROTO_IP, 51 },	/* newer than the C library */
	{ "IP 9999", IPPROTO_IP, 9999 }, { "IP -1", IPPROTO_IP, -1 },
};

static const struct option_row ip6_rows[] = {
	ROW(IPPROTO_IPV6, IPV6_V6ONLY), ROW(IPPROTO_IPV6, IPV6_TCLASS),
	ROW(IPPROTO_IPV6, IPV6_UNICAST_HOPS), ROW(IPPROTO_IPV6, IPV6_RECVTCLASS),
	ROW(IPPROTO_IPV6, IPV6_RECVPKTINFO), ROW(IPPROTO_IPV6, IPV6_RECVHOPLIMIT),
	ROW(IPPROTO_IPV6, IPV6_RECVERR), ROW(IPPROTO_IPV6, IPV6_RECVRTHDR),
	ROW(IPPROTO_IPV6, IPV6_MTU_DISCOVER), VARIES(IPPROTO_IPV6, IPV6_MTU),
	ROW(IPPROTO_IPV6, IPV6_RECVPATHMTU), ROW(IPPROTO_IPV6, IPV6_DONTFRAG),
	ROW(IPPROTO_IPV6, IPV6_AUTOFLOWLABEL), ROW(IPPROTO_IPV6, IPV6_ADDR_PREFERENCES),
	ROW(IPPROTO_IPV6, IPV6_FREEBIND), ROW(IPPROTO_IPV6, IPV6_TRANSPARENT),
	ROW(IPPROTO_IPV6, IPV6_MINHOPCOUNT), ROW(IPPROTO_IPV6, IPV6_UNICAST_IF),
	ROW(IPPROTO_IPV6, IPV6_ADDRFORM), ROW(IPPROTO_IPV6, IPV6_MULTICAST_HOPS),
	ROW(IPPROTO_IPV6, IPV6_MULTICAST_IF), ROW(IPPROTO_IPV6, IPV6_MULTICAST_LOOP),
	ROW(IPPROTO_IPV6, IPV6_ADD_MEMBERSHIP), ROW(IPPROTO_IPV6, IPV6_RECVORIGDSTADDR),
	ROW(IPPROTO_IP, IP_TOS), ROW(IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT),
	{ "IPV6 9999", IPPROTO_IPV6, 9999 }, { "IPV6 -1", IPPROTO_IPV6, -1 },
};

static const struct option_set {
	const char *name;
	int ip;
	const struct option_row *rows;
	size_t n;
} sets[] = {
	{ "SOL_SOCKET", IPV4, socket_rows, ARRAY_SIZE(socket_rows) },
	{ "IPPROTO_TCP", IPV4, tcp_rows, ARRAY_SIZE(tcp_rows) },
	{ "IPPROTO_IP", IPV4, ip_rows, ARRAY_SIZE(ip_rows) },
	{ "IPPROTO_IPV6", IPV6, ip6_rows, ARRAY_SIZE(ip6_rows) },
};

static const struct option_set *set;	/* whose turn it is */

static void read_option(const struct option_row *row, int fd, socklen_t len)
{
	unsigned char value[256] = { };
	int number, n;

	errno = 0;
	n = getsockopt(fd, row->level, row->option, value, &len);
	memcpy(&number, value, sizeof(number));
	if (n)
		rec(row->name, "get: %s", err_name(errno));
	else if (row->varies)
		rec(row->name, "get: length %u", len);
	else
		rec(row->name, "get: %d, length %u", number, len);
}

static void read_options(int fd, socklen_t len)
{
	size_t i;

	for (i = 0; i < set->n; i++)
		read_option(&set->rows[i], fd, len);
}

static void read_in(const char *state)
{
	read_options(make_state(state).fd, 256);
}

static void read_unbound(void)
{
	read_in("unbound");
}

static void read_connected(void)
{
	read_in("connected");
}

static void read_listening(void)
{
	read_in("listening");
}

static void read_peer_closed(void)
{
	read_in("peer closed");
}

/* Room for less than there is */
static void read_2(void)
{
	read_options(make_state("connected").fd, 2);
}

static void read_none(void)
{
	read_options(make_state("connected").fd, 0);
}

static void write_all(int fd, const void *value, socklen_t len)
{
	const struct option_row *row;

	for (row = set->rows; row < set->rows + set->n; row++)
		TRY(row->name, setsockopt(fd, row->level, row->option, value, len));
}

/* One value after the other, and what is left of it */
static void write_options(const char *state, long long value, socklen_t len)
{
	struct place p = make_state(state);

	write_all(p.fd, &value, len);
	read_options(p.fd, 256);
}

static void write_1(void)
{
	write_options("unbound", 1, sizeof(int));
}

static void write_1_bound(void)
{
	write_options("bound", 1, sizeof(int));
}

static void write_1_listening(void)
{
	write_options("listening", 1, sizeof(int));
}

static void write_1_connected(void)
{
	write_options("connected", 1, sizeof(int));
}

static void write_1_peer_closed(void)
{
	write_options("peer closed", 1, sizeof(int));
}

static void write_0(void)
{
	write_options("unbound", 0, sizeof(int));
}

static void write_minus_1(void)
{
	write_options("unbound", -1, sizeof(int));
}

static void write_200(void)
{
	write_options("unbound", 200, sizeof(int));
}

static void write_100000(void)
{
	write_options("unbound", 100000, sizeof(int));
}

static void write_byte(void)
{
	write_options("unbound", 1, 1);
}

static void write_short(void)
{
	write_options("unbound", 1, 3);
}

static void write_nothing(void)
{
	write_options("unbound", 1, 0);
}

static void write_long(void)
{
	write_options("unbound", 1, sizeof(long long));
}

static void write_negative(void)
{
	write_options("unbound", 1, -1);
}

static void write_bad_pointer(void)
{
	write_all(make_state("unbound").fd, (void *)8, sizeof(int));
}

/* What a listener has is what the accepted socket has. */
static void inherited(void)
{
	int fd = open_socket(set->ip, 0), one = 1;
	struct addr a = server_addr(set->ip, 0);

	write_all(fd, &one, sizeof(one));
	/* It would wait for data. */
	set_int(fd, IPPROTO_TCP, TCP_DEFER_ACCEPT, 0);
	/* A device of that number would be the wrong one. */
	setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, "", 0);
	MUST(bind(fd, &a.sa, a.len));
	MUST(listen(fd, 1));
	a = local_name(fd);
	open_client(set->ip, &a);
	read_options(accept_one(fd), 256);
}

static void read_bad_pointers(void)
{
	struct place p = make_state("unbound");
	socklen_t len = 4, negative = -1;
	const struct option_row *row;
	int value;

	for (row = set->rows; row < set->rows + set->n; row += 4) {
		TRY(row->name, getsockopt(p.fd, row->level, row->option, (void *)8, &len));
		TRY(row->name, getsockopt(p.fd, row->level, row->option, &value, (void *)8));
		TRY(row->name, getsockopt(p.fd, row->level, row->option, &value, &negative));
	}
}

static const struct script sweeps[] = {
	{ "get, unbound", read_unbound },
	{ "get, connected", read_connected },
	{ "get, listening", read_listening },
	{ "get, peer closed", read_peer_closed },
	{ "get 2 bytes", read_2 },
	{ "get nothing", read_none },
	{ "get, bad pointers", read_bad_pointers },
	{ "set 1", write_1 },
	{ "set 1, bound", write_1_bound },
	{ "set 1, listening", write_1_listening },
	{ "set 1, connected", write_1_connected },
	{ "set 1, peer closed", write_1_peer_closed },
	{ "set 0", write_0 },
	{ "set -1", write_minus_1 },
	{ "set 200", write_200 },
	{ "set 100000", write_100000 },
	{ "set a byte", write_byte },
	{ "set 3 bytes", write_short },
	{ "set nothing", write_nothing },
	{ "set 8 bytes", write_long },
	{ "set, negative length", write_negative },
	{ "set, bad pointer", write_bad_pointer },
	{ "inherited", inherited },
};

/* --- values that are no int ------------------------------------------------------- */

#define TRY_SET(label, fd, level, option, ...)						\
	TRY(label, setsockopt(fd, level, option, &(__VA_ARGS__), sizeof(__VA_ARGS__)))

static void timeouts(void)
{
	int fd = open_socket(IPV4, 0);
	struct timeval tv;
	socklen_t len = sizeof(tv);

	TRY_SET("1.5 s", fd, SOL_SOCKET, SO_RCVTIMEO, (struct timeval) { 1, 500000 });
	TRY("get", getsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, &len));
	rec("time", "%ld.%06ld, length %u", (long)tv.tv_sec, (long)tv.tv_usec, len);
	TRY_SET("negative", fd, SOL_SOCKET, SO_RCVTIMEO, (struct timeval) { -1, 0 });
	TRY_SET("negative part", fd, SOL_SOCKET, SO_SNDTIMEO, (struct timeval) { 0, -1 });
	TRY_SET("a second of us", fd, SOL_SOCKET, SO_SNDTIMEO, (struct timeval) { 0, 1000000 });
	TRY_SET("for ever", fd, SOL_SOCKET, SO_SNDTIMEO, (struct timeval) { 1L << 62, 0 });
	TRY("get", getsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &tv, &len));
	rec("time", "%ld.%06ld, length %u", (long)tv.tv_sec, (long)tv.tv_usec, len);
}

static void lingers(void)
{
	static const struct linger values[] = { { 1, 5 }, { 1, 0 }, { 0, 7 }, { 1, -1 }, { -1, 9 } };
	struct linger l = { };
	socklen_t len = sizeof(l);
	int fd = open_socket(IPV4, 0);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(values); i++) {
		TRY_SET("set", fd, SOL_SOCKET, SO_LINGER, values[i]);
		TRY("get", getsockopt(fd, SOL_SOCKET, SO_LINGER, &l, &len));
		rec("linger", "%d %d, length %u", l.l_onoff, l.l_linger, len);
	}
}

static void devices(void)
{
	int fd = open_socket(IPV4, 0);
	char name[32] = "";
	socklen_t len = sizeof(name);

	TRY("no such device", setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, "nosuch", 7));
	TRY("lo", setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, "lo", 3));
	TRY("get", getsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, name, &len));
	rec("device", "%s, length %u", name, len);
	TRY("lo again", setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, "lo", 2));
	TRY("none", setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, "", 0));
	len = sizeof(name);
	TRY("get", getsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, name, &len));
	rec("length", "%u", len);
}

static void congestion(void)
{
	int fd = open_socket(IPV4, 0);
	char name[32] = "";
	socklen_t len = sizeof(name);

	TRY("no such", setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, "nosuch", 6));
	TRY("nothing", setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, "", 0));
	TRY("an empty name", setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, "", 1));
	TRY("get", getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, &len));
	TRY("its own", setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, strlen(name)));
	TRY("its own, longer", setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, sizeof(name)));
}

/* Bytes that MSG_PEEK has shown are not shown again. */
static void peek_off(void)
{
	struct place p = make_state("readable");
	char buf[16] = "";

	set_int(p.fd, SOL_SOCKET, SO_PEEK_OFF, 1);
	rec_data("peek", buf, TRY("recv", recv(p.fd, buf, 2, MSG_PEEK)));
	rec_data("peek", buf, TRY("recv", recv(p.fd, buf, 16, MSG_PEEK)));
	TRY("none left", recv(p.fd, buf, 16, MSG_PEEK | MSG_DONTWAIT));
	rec("offset", "%d", get_int(p.fd, SOL_SOCKET, SO_PEEK_OFF));
	rec_recv("take", p.fd, 3);
	rec("offset", "%d", get_int(p.fd, SOL_SOCKET, SO_PEEK_OFF));
	send_all(p.peer, "abc", 3);
	wait_inq(p.fd, 5);
	rec_data("peek", buf, TRY("recv", recv(p.fd, buf, 2, MSG_PEEK)));
	rec_recv("take", p.fd, 16);
	rec("offset", "%d", get_int(p.fd, SOL_SOCKET, SO_PEEK_OFF));
}

static const struct script typed[] = {
	{ "SO_RCVTIMEO, SO_SNDTIMEO", timeouts },
	{ "SO_LINGER", lingers },
	{ "SO_BINDTODEVICE", devices },
	{ "TCP_CONGESTION", congestion },
};

/* TCP has it since Linux 6.9. */
static const struct script peeking = { "MSG_PEEK with SO_PEEK_OFF", peek_off };

static bool tcp_has_peek_off(void)
{
	int fd = MUST(socket(AF_INET, SOCK_STREAM, 0)), off = 0;
	bool has = !setsockopt(fd, SOL_SOCKET, SO_PEEK_OFF, &off, sizeof(off));

	close(fd);
	return has;
}

static void run_sweep(const struct matrix_case *c)
{
	set = &sets[c->mode];
	matrix_ip = set->ip;
	c->script();
}

void add_options(void)
{
	struct matrix_case *c;
	size_t i, k;

	for (k = 0; k < ARRAY_SIZE(sets); k++) {
		for (i = 0; i < ARRAY_SIZE(sweeps); i++) {
			c = new_case("options/%s, %s", sweeps[i].name, sets[k].name);
			c->run = run_sweep;
			c->script = sweeps[i].run;
			c->mode = k;
		}
	}
	add_scripts("options", typed, ARRAY_SIZE(typed));
	if (tcp_has_peek_off())
		new_script("options", &peeking);
}
