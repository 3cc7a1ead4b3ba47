// SPDX-License-Identifier: GPL-2.0
/*
 * Addresses: what is taken, who is in whose way, and what names are told.
 */
#include <arpa/inet.h>
#include <net/if.h>
#include <stdlib.h>
#include <sys/utsname.h>

#include "matrix.h"

/* --- lengths ---------------------------------------------------------------------- */

static const int lengths[] = { -1, 0, 1, 2, 8, 15, 16, 17, 24, 27, 28, 29, 128, 129, 0x7fffffff };

/* bind() or connect() with the first "len" bytes of a good address */
static void in_lengths(int ip, int (*call)(int fd, const struct sockaddr *a, socklen_t len),
		       struct addr a)
{
	char label[32];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(lengths); i++) {
		int fd = open_socket(ip, 0);

		snprintf(label, sizeof(label), "length %d", lengths[i]);
		TRY(label, call(fd, &a.sa, lengths[i]));
		close(fd);
	}
}

static void bind_lengths(void)
{
	in_lengths(IPV4, bind, server_addr(IPV4, 0));
}

static void bind_lengths6(void)
{
	in_lengths(IPV6, bind, server_addr(IPV6, 0));
}

static void connect_lengths(void)
{
	struct addr a;

	open_listener(IPV4, 100, &a);
	in_lengths(IPV4, connect, a);
}

static void connect_lengths6(void)
{
	struct addr a;

	open_listener(IPV6, 100, &a);
	in_lengths(IPV6, connect, a);
}

/* How much is written where there is room for "len" bytes, and what is told */
static void out_lengths(int (*call)(int fd, struct sockaddr *a, socklen_t *len), int fd)
{
	unsigned char buf[160];
	size_t i, written;
	char label[32];

	for (i = 0; i < ARRAY_SIZE(lengths); i++) {
		socklen_t len = lengths[i];

		memset(buf, 0xee, sizeof(buf));
		snprintf(label, sizeof(label), "length %d", lengths[i]);
		TRY(label, call(fd, (struct sockaddr *)buf, &len));
		for (written = sizeof(buf); written && buf[written - 1] == 0xee; written--)
			;
		rec("told, written", "%d, %zu", len, written);
	}
	TRY("bad length", call(fd, (struct sockaddr *)buf, (void *)8));
	i = 16;
	TRY("bad address", call(fd, (void *)8, (socklen_t *)&i));
	TRY("no address", call(fd, NULL, (socklen_t *)&i));
}

static void getsockname_lengths(void)
{
	out_lengths(getsockname, make_state("connected").fd);
}

static void getpeername_lengths(void)
{
	out_lengths(getpeername, make_state("connected").fd);
}

static void getsockname6_lengths(void)
{
	out_lengths(getsockname, open_pair(IPV6).c);
}

static void getpeername6_lengths(void)
{
	out_lengths(getpeername, open_pair(IPV6).s);
}

static int accept_fresh(int fd, struct sockaddr *a, socklen_t *len)
{
	struct addr where = local_name(fd);
	int c = open_client(IPV4, &where), s, err;

	wait_events(fd, POLLIN);
	s = accept(fd, a, len);
	err = errno;
	close(c);
	if (s >= 0)
		close(s);
	errno = err;
	return s < 0 ? s : 0;
}

static void accept_lengths(void)
{
	struct addr a;

	out_lengths(accept_fresh, open_listener(IPV4, 100, &a));
}

/* --- families ------------------------------------------------------------------------ */

static const struct { const char *name; int family; } families[] = {
	{ "AF_UNSPEC", AF_UNSPEC }, { "AF_UNIX", AF_UNIX }, { "AF_INET", AF_INET },
	{ "AF_INET6", AF_INET6 }, { "AF_NETLINK", AF_NETLINK }, { "-1", 0xffff },
};

static void in_families(int ip, int (*call)(int fd, const struct sockaddr *a, socklen_t len),
			struct addr a)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(families); i++) {
		int fd = open_socket(ip, 0);

		a.sa.sa_family = families[i].family;
		TRY(families[i].name, call(fd, &a.sa, a.len));
		close(fd);
	}
}

static void bind_families(void)
{
	in_families(IPV4, bind, server_addr(IPV4, 0));
}

static void bind_families6(void)
{
	in_families(IPV6, bind, server_addr(IPV6, 0));
}

static void bind_any_families(void)
{
	in_families(IPV4, bind, any_addr(IPV4, 0));
}

static void connect_families(void)
{
	in_families(IPV4, connect, live_address());
}

static void connect_families6(void)
{
	struct addr a;

	open_listener(IPV6, 8, &a);
	in_families(IPV6, connect, a);
}

static void bad_pointers(void)
{
	int fd = open_socket(IPV4, 0);

	TRY("bind", bind(fd, (void *)8, 16));
	TRY("bind NULL", bind(fd, NULL, 16));
	TRY("bind NULL, 0", bind(fd, NULL, 0));
	TRY("connect", connect(fd, (void *)8, 16));
	TRY("connect NULL", connect(fd, NULL, 16));
	TRY("connect NULL, 0", connect(fd, NULL, 0));
	rec_ready("then", fd);
}

/* --- which addresses -------------------------------------------------------------------- */

static void bind_text(const char *text, int port, int ip)
{
	struct addr a = make_addr(text, port);
	int fd = open_socket(ip, 0);

	TRY(text, bind(fd, &a.sa, a.len));
	a = local_name(fd);
	rec_name("name", &a);
	TRY("listen", listen(fd, 1));
	close(fd);
}

static void foreign_addresses(void)
{
	bind_text("192.0.2.1", 0, IPV4);
	bind_text("2001:db8::1", 0, IPV6);
	bind_text("::ffff:192.0.2.1", 0, IPV6);
	bind_text("255.255.255.255", 0, IPV4);
	bind_text("224.0.0.1", 0, IPV4);
	bind_text("ff02::1", 0, IPV6);
}

static void wildcards(void)
{
	bind_text("0.0.0.0", 0, IPV4);
	bind_text("::", 0, IPV6);
	bind_text("::ffff:0.0.0.0", 0, IPV6);
}

/* Link-local addresses without a scope */
static void no_scope(void)
{
	struct addr a = make_addr("fe80::1", 7471);
	int fd = open_socket(IPV6, 0);

	TRY("bind", bind(fd, &a.sa, a.len));
	TRY("connect", connect(fd, &a.sa, a.len));
	a.in6.sin6_scope_id = 0x7fffffff;
	TRY("bind, no such scope", bind(fd, &a.sa, a.len));
	TRY("connect, no such scope", connect(fd, &a.sa, a.len));
}

static void connect_text(const char *text, int port, int ip)
{
	struct addr a = make_addr(text, port);
	int fd = open_socket(ip, 0);

	TRY(text, connect(fd, &a.sa, a.len));
	rec_ready("then", fd);
	close(fd);
}

static void connect_nowhere(void)
{
	connect_text("255.255.255.255", 7471, IPV4);
	connect_text("224.0.0.1", 7471, IPV4);
	connect_text("ff02::1", 7471, IPV6);
}

/* To connect to a wildcard is to connect to this host. */
static void connect_to_self(void)
{
	connect_text("0.0.0.0", 7471, IPV4);
	connect_text("::", 7471, IPV6);
	connect_text("::ffff:0.0.0.0", 7471, IPV6);
	connect_text("127.0.0.1", 7471, IPV4);
	connect_text("::1", 7471, IPV6);
}

static void connect_port_0(void)
{
	struct addr a = server_addr(IPV4, 0), a6 = server_addr(IPV6, 0);

	connect_text(strtok(strdup(addr_text(&a)), " "), 0, IPV4);
	connect_text(strtok(strdup(addr_text(&a6)), " "), 0, IPV6);
}

static void privileged_ports(void)
{
	struct addr a = server_addr(IPV4, 1017);
	int fd = open_socket(IPV4, 0);

	MUST(setuid(65534));
	TRY("bind", bind(fd, &a.sa, a.len));
	set_port(&a, 0);
	TRY("bind, any port", bind(fd, &a.sa, a.len));
}

/* --- a listener of one kind, a peer of the other --------------------------------------------- */

static void names_of(int fd)
{
	struct addr a = local_name(fd);

	rec_name("own name", &a);
	a = peer_name(fd);
	rec_name("peer name", &a);
}

static void connect_between(struct addr bind_to, struct addr where, int ip)
{
	int listener = open_socket(bind_to.sa.sa_family == AF_INET ? IPV4 : IPV6, 0), c;
	struct addr name;

	MUST(bind(listener, &bind_to.sa, bind_to.len));
	MUST(listen(listener, 4));
	name = local_name(listener);
	rec_name("listener", &name);
	set_port(&where, addr_port(&name));
	c = open_socket(ip, 0);
	if (TRY("connect", connect(c, &where.sa, where.len)))
		return;
	names_of(c);
	name.len = sizeof(name.ss);
	TRY("accept", (c = accept(listener, &name.sa, &name.len)) < 0 ? -1 : 0);
	rec_name("accepted", &name);
	names_of(c);
}

static void any_v4(void)
{
	connect_between(any_addr(IPV4, 0), target_addr(IPV4, 0), IPV4);
}

static void any_v6(void)
{
	connect_between(any_addr(IPV6, 0), target_addr(IPV6, 0), IPV6);
}

static void any_v6_from_v4(void)
{
	connect_between(any_addr(IPV6, 0), target_addr(IPV4, 0), IPV4);
}

static void any_v6_from_mapped(void)
{
	struct addr a = target_addr(IPV4, 0);

	connect_between(any_addr(IPV6, 0), mapped(&a), IPV6);
}

static void mapped_from_v4(void)
{
	struct addr a = server_addr(IPV4, 0);

	connect_between(mapped(&a), target_addr(IPV4, 0), IPV4);
}

static void v4_from_mapped(void)
{
	struct addr a = target_addr(IPV4, 0);

	connect_between(server_addr(IPV4, 0), mapped(&a), IPV6);
}

static void v6_only(void)
{
	struct addr a = any_addr(IPV6, 0), where = target_addr(IPV4, 0);
	int listener = open_socket(IPV6, 0), c = open_socket(IPV4, 0);

	set_int(listener, IPPROTO_IPV6, IPV6_V6ONLY, 1);
	MUST(bind(listener, &a.sa, a.len));
	MUST(listen(listener, 4));
	a = local_name(listener);
	set_port(&where, addr_port(&a));
	TRY("connect", connect(c, &where.sa, where.len));
}

static void bound_client(void)
{
	struct addr a = client_addr(IPV4, 0), where = live_address();
	int c = open_socket(IPV4, 0), port;

	MUST(bind(c, &a.sa, a.len));
	a = local_name(c);
	port = addr_port(&a);
	MUST(connect(c, &where.sa, where.len));
	a = local_name(c);
	rec("same port", "%d", addr_port(&a) == port);
	names_of(c);
}

/* A socket that is bound to one kind of address connects to another. */
static void bound_to(struct addr from, struct addr to, bool v6only)
{
	int c = open_socket(IPV6, 0), port;

	set_int(c, IPPROTO_IPV6, IPV6_V6ONLY, v6only);
	if (TRY("bind", bind(c, &from.sa, from.len)))
		return;
	from = local_name(c);
	port = addr_port(&from);
	if (TRY("connect", connect(c, &to.sa, to.len)))
		return;
	from = local_name(c);
	rec("same port", "%d", addr_port(&from) == port);
	names_of(c);
}

static struct addr live_of(int ip)
{
	matrix_ip = ip;
	return live_address();
}

static void bound_any_to_mapped(void)
{
	bound_to(any_addr(IPV6, 0), live_of(MAPPED), false);
}

static void bound_any_to_v6(void)
{
	bound_to(any_addr(IPV6, 0), live_of(IPV6), false);
}

static void bound_v6only_to_mapped(void)
{
	bound_to(any_addr(IPV6, 0), live_of(MAPPED), true);
}

static void bound_v6_to_mapped(void)
{
	bound_to(client_addr(IPV6, 0), live_of(MAPPED), false);
}

static void bound_mapped_to_v6(void)
{
	bound_to(client_addr(MAPPED, 0), live_of(IPV6), false);
}

static void bound_mapped_to_mapped(void)
{
	bound_to(client_addr(MAPPED, 0), live_of(MAPPED), false);
}

static void v6only_mapped(void)
{
	bound_to(client_addr(MAPPED, 0), live_of(MAPPED), true);
}

static void v6only_unbound(void)
{
	struct addr a = live_of(MAPPED);
	int c = open_socket(IPV6, 0);

	set_int(c, IPPROTO_IPV6, IPV6_V6ONLY, 1);
	TRY("connect", connect(c, &a.sa, a.len));
}

/* --- scopes ----------------------------------------------------------------------- */

static void rec_scope(int fd)
{
	struct addr a = local_name(fd);
	char name[IF_NAMESIZE] = "none";

	rec_name("name", &a);
	if_indextoname(a.in6.sin6_scope_id, name);
	rec("scope", "%s", name);
}

/* With or without a scope, by the address or by SO_BINDTODEVICE */
static void bind_scoped(const char *label, struct addr a, int scope, const char *device)
{
	int fd = open_socket(IPV6, 0);

	if (device)
		MUST(setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, device, strlen(device)));
	a.in6.sin6_scope_id = scope;
	if (!TRY(label, bind(fd, &a.sa, a.len)))
		rec_scope(fd);
	close(fd);
}

/* RSOCK_BIND_LL6: a link-local address of this host with its scope */
static void bind_link_local(void)
{
	const char *text = getenv("RSOCK_BIND_LL6");
	char device[IF_NAMESIZE];
	struct addr a;
	int scope;

	if (!text)
		return;
	a = make_addr(text, 0);
	scope = a.in6.sin6_scope_id;
	CHECK(if_indextoname(scope, device), "%s", text);
	bind_scoped("scope", a, scope, NULL);
	bind_scoped("no scope", a, 0, NULL);
	bind_scoped("device", a, 0, device);
	bind_scoped("both", a, scope, device);
	bind_scoped("another scope", a, if_nametoindex("lo"), NULL);
	bind_scoped("another device", a, 0, "lo");
}

/* Between link-local addresses, where that is possible */
static void connect_link_local(void)
{
	struct addr a, none;
	struct pair p;
	int fd;

	if (ip_versions() <= LINK_LOCAL)
		return;
	p = open_pair(LINK_LOCAL);
	rec_scope(p.c);
	rec_scope(p.s);
	open_listener(LINK_LOCAL, 8, &a);
	none = a;
	none.in6.sin6_scope_id = 0;
	fd = open_socket(IPV6, 0);
	TRY("connect, no scope", connect(fd, &none.sa, none.len));
	MUST(setsockopt(fd, SOL_SOCKET, SO_BINDTOIFINDEX, &a.in6.sin6_scope_id, 4));
	TRY("connect, device", connect(fd, &none.sa, none.len));
	rec_scope(fd);
}

/* --- in the way --------------------------------------------------------------------------------- */

enum { REUSE_A = 1, REUSE_B = 2, LISTEN_A = 4, V6ONLY = 8, PORT = 16 };

/* Before 6.7 the kernel has it for families only that it knows */
static bool has_reuseport(void)
{
	struct utsname u;
	int major, minor;

	MUST(uname(&u));
	CHECK(sscanf(u.release, "%d.%d", &major, &minor) == 2, "%s", u.release);
	return is_inet() || major > 6 || (major == 6 && minor >= 7);
}

/* Does "b" get the port that "a" has? */
static void conflict(struct addr a, struct addr b, int how)
{
	int option = how & PORT ? SO_REUSEPORT : SO_REUSEADDR;
	int first = open_socket(a.sa.sa_family == AF_INET ? IPV4 : IPV6, 0);
	int second = open_socket(b.sa.sa_family == AF_INET ? IPV4 : IPV6, 0);
	struct addr name;
	int one = 1;

	if (option == SO_REUSEPORT && !has_reuseport())
		return;
	set_int(first, SOL_SOCKET, option, !!(how & REUSE_A));
	set_int(second, SOL_SOCKET, option, !!(how & REUSE_B));
	if (how & V6ONLY) {
		setsockopt(first, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof(one));
		setsockopt(second, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof(one));
	}
	MUST(bind(first, &a.sa, a.len));
	if (how & LISTEN_A)
		MUST(listen(first, 1));
	name = local_name(first);
	set_port(&b, addr_port(&name));
	if (TRY("bind", bind(second, &b.sa, b.len)))
		rec("listen", "not bound");
	else
		TRY("listen", listen(second, 1));
	close(first);
	close(second);
}

static void conflicts_with(struct addr a, struct addr b, int with)
{
	int how;

	for (how = with; how < with + 8; how++) {
		rec("how", "%s%s%s", how & REUSE_A ? "SO_REUSEADDR " : "",
		    how & LISTEN_A ? "listening " : "", how & REUSE_B ? "SO_REUSEADDR" : "");
		conflict(a, b, how);
	}
}

static void conflicts(struct addr a, struct addr b)
{
	conflicts_with(a, b, 0);
}

static void conflict_same(void)
{
	conflicts(server_addr(IPV4, 0), server_addr(IPV4, 0));
}

static void conflict_any_one(void)
{
	conflicts(any_addr(IPV4, 0), server_addr(IPV4, 0));
}

static void conflict_one_any(void)
{
	conflicts(server_addr(IPV4, 0), any_addr(IPV4, 0));
}

static void conflict_any6_any(void)
{
	conflicts(any_addr(IPV6, 0), any_addr(IPV4, 0));
}

static void conflict_any_any6(void)
{
	conflicts(any_addr(IPV4, 0), any_addr(IPV6, 0));
}

static void conflict_one6_any(void)
{
	conflicts(server_addr(IPV6, 0), any_addr(IPV4, 0));
}

static void conflict_mapped(void)
{
	struct addr a = server_addr(IPV4, 0);

	conflicts(server_addr(IPV4, 0), mapped(&a));
}

static void conflict_same6(void)
{
	conflicts(server_addr(IPV6, 0), server_addr(IPV6, 0));
}

static void conflict_any6_one6(void)
{
	conflicts(any_addr(IPV6, 0), server_addr(IPV6, 0));
}

static void conflict_any6_one(void)
{
	conflicts(any_addr(IPV6, 0), server_addr(IPV4, 0));
}

static void conflict_any6_only(void)
{
	conflicts_with(any_addr(IPV6, 0), any_addr(IPV4, 0), V6ONLY);
}

static void conflict_any_only6(void)
{
	conflicts_with(any_addr(IPV4, 0), any_addr(IPV6, 0), V6ONLY);
}

static void conflict_versions(void)
{
	conflicts(server_addr(IPV4, 0), server_addr(IPV6, 0));
}

static void conflict_hosts(void)
{
	conflicts(server_addr(IPV4, 0), client_addr(IPV4, 0));
}

static void conflict_port(void)
{
	conflicts_with(server_addr(IPV4, 0), server_addr(IPV4, 0), PORT);
}

static void conflict_port_any(void)
{
	conflicts_with(any_addr(IPV4, 0), server_addr(IPV4, 0), PORT);
}

/* Both are bound before either listens. */
static void two_listeners(int option)
{
	int first = open_socket(IPV4, 0), second = open_socket(IPV4, 0);
	struct addr a = server_addr(IPV4, 0);

	if (option == SO_REUSEPORT && !has_reuseport())
		return;
	set_int(first, SOL_SOCKET, option, 1);
	set_int(second, SOL_SOCKET, option, 1);
	MUST(bind(first, &a.sa, a.len));
	a = local_name(first);
	TRY("bind", bind(second, &a.sa, a.len));
	TRY("listen", listen(first, 1));
	TRY("listen, too", listen(second, 1));
	rec_ready("second", second);
}

static void two_listeners_addr(void)
{
	two_listeners(SO_REUSEADDR);
}

static void two_listeners_port(void)
{
	two_listeners(SO_REUSEPORT);
}

/* A port is free again when the socket is closed. */
static void port_freed(void)
{
	int fd = open_socket(IPV4, 0);
	struct addr a = server_addr(IPV4, 0);

	MUST(bind(fd, &a.sa, a.len));
	a = local_name(fd);
	close(fd);
	fd = open_socket(IPV4, 0);
	TRY("bind", bind(fd, &a.sa, a.len));
	TRY("listen", listen(fd, 1));
	close(fd);
	TRY("bind again", bind(open_socket(IPV4, 0), &a.sa, a.len));
}

static void port_later(void)
{
	struct addr a = client_addr(IPV4, 0), where = live_address();
	int fd = open_socket(IPV4, 0);

	set_int(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1);
	MUST(bind(fd, &a.sa, a.len));
	a = local_name(fd);
	rec_name("bound", &a);
	MUST(connect(fd, &where.sa, where.len));
	names_of(fd);
}

/* A server starts again while a connection of the one before is still there. */
static void server_again(int reuse)
{
	struct addr where;
	int listener = open_socket(IPV4, 0), again = open_socket(IPV4, 0), c;

	where = server_addr(IPV4, 0);
	set_int(listener, SOL_SOCKET, SO_REUSEADDR, reuse);
	set_int(again, SOL_SOCKET, SO_REUSEADDR, reuse);
	MUST(bind(listener, &where.sa, where.len));
	MUST(listen(listener, 4));
	where = local_name(listener);
	c = open_client(IPV4, &where);
	accept_one(listener);
	MUST(close(listener));
	TRY("bind", bind(again, &where.sa, where.len));
	TRY("listen", listen(again, 4));
	rec_ready("connection", c);
}

static void server_again_plain(void)
{
	server_again(0);
}

static void server_again_reuse(void)
{
	server_again(1);
}

static void ephemeral_of(int ip)
{
	struct addr a[50];
	int i, k, same = 0, low = 0;

	for (i = 0; i < 50; i++) {
		a[i] = server_addr(ip, 0);
		k = open_socket(ip, 0);
		MUST(bind(k, &a[i].sa, a[i].len));
		a[i] = local_name(k);
		low += addr_port(&a[i]) < 32768;
		for (k = 0; k < i; k++)
			same += addr_port(&a[i]) == addr_port(&a[k]);
	}
	rec("ports", "%d twice, %d outside of the range", same, low);
}

static void ephemeral(void)
{
	ephemeral_of(IPV4);
}

static void ephemeral6(void)
{
	ephemeral_of(IPV6);
}

/* Sockets that connect() has bound are told apart by their ports. */
static void ephemeral_clients(void)
{
	struct addr where, a[20];
	int i, k, same = 0;

	open_listener(IPV4, 32, &where);
	for (i = 0; i < 20; i++) {
		a[i] = local_name(open_client(IPV4, &where));
		for (k = 0; k < i; k++)
			same += addr_port(&a[i]) == addr_port(&a[k]);
	}
	rec("ports", "%d twice", same);
}

static void twice(void)
{
	struct addr a = server_addr(IPV4, 0);
	int fd = open_socket(IPV4, 0);

	TRY("bind", bind(fd, &a.sa, a.len));
	TRY("again", bind(fd, &a.sa, a.len));
	TRY("listen", listen(fd, 1));
	TRY("bind", bind(fd, &a.sa, a.len));
}

static void listen_backlogs(void)
{
	static const int backlogs[] = { 0, 1, -1, 0x7fffffff, -0x7fffffff - 1 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(backlogs); i++) {
		struct addr a = server_addr(IPV4, 0);
		int fd = open_socket(IPV4, 0);

		MUST(bind(fd, &a.sa, a.len));
		TRY("listen", listen(fd, backlogs[i]));
		a = local_name(fd);
		TRY("connect", connect(open_socket(IPV4, 0), &a.sa, a.len));
		wait_events(fd, POLLIN);
		TRY("again", listen(fd, backlogs[i]));
	}
}

const struct script name_scripts[] = {
	{ "bind, lengths", bind_lengths },
	{ "bind, lengths, IPv6", bind_lengths6 },
	{ "connect, lengths", connect_lengths },
	{ "connect, lengths, IPv6", connect_lengths6 },
	{ "getsockname, lengths", getsockname_lengths },
	{ "getpeername, lengths", getpeername_lengths },
	{ "getsockname, lengths, IPv6", getsockname6_lengths },
	{ "getpeername, lengths, IPv6", getpeername6_lengths },
	{ "accept, lengths", accept_lengths },
	{ "bind, families", bind_families },
	{ "bind, families, IPv6", bind_families6 },
	{ "bind, families, wildcard", bind_any_families },
	{ "connect, families", connect_families },
	{ "connect, families, IPv6", connect_families6 },
	{ "bad pointers", bad_pointers },
	{ "foreign addresses", foreign_addresses },
	{ "wildcards", wildcards },
	{ "no scope", no_scope },
	{ "connect to nowhere", connect_nowhere },
	{ "connect to this host", connect_to_self },
	{ "connect to port 0", connect_port_0 },
	{ "privileged ports", privileged_ports },
	{ "0.0.0.0", any_v4 },
	{ "::", any_v6 },
	{ ":: from IPv4", any_v6_from_v4 },
	{ ":: from mapped", any_v6_from_mapped },
	{ "mapped from IPv4", mapped_from_v4 },
	{ "IPv4 from mapped", v4_from_mapped },
	{ "IPV6_V6ONLY", v6_only },
	{ "bound client", bound_client },
	{ ":: to mapped", bound_any_to_mapped },
	{ ":: to IPv6", bound_any_to_v6 },
	{ ":: to mapped, IPV6_V6ONLY", bound_v6only_to_mapped },
	{ "IPv6 to mapped", bound_v6_to_mapped },
	{ "mapped to IPv6", bound_mapped_to_v6 },
	{ "mapped to mapped", bound_mapped_to_mapped },
	{ "mapped, IPV6_V6ONLY", v6only_mapped },
	{ "to mapped, IPV6_V6ONLY", v6only_unbound },
	{ "link-local, bind", bind_link_local },
	{ "link-local, connect", connect_link_local },
	{ "conflict, same", conflict_same },
	{ "conflict, 0.0.0.0 and one", conflict_any_one },
	{ "conflict, one and 0.0.0.0", conflict_one_any },
	{ "conflict, :: and 0.0.0.0", conflict_any6_any },
	{ "conflict, 0.0.0.0 and ::", conflict_any_any6 },
	{ "conflict, IPv6 and 0.0.0.0", conflict_one6_any },
	{ "conflict, mapped", conflict_mapped },
	{ "conflict, same IPv6", conflict_same6 },
	{ "conflict, :: and IPv6", conflict_any6_one6 },
	{ "conflict, :: and IPv4", conflict_any6_one },
	{ "conflict, :: and 0.0.0.0, IPV6_V6ONLY", conflict_any6_only },
	{ "conflict, 0.0.0.0 and ::, IPV6_V6ONLY", conflict_any_only6 },
	{ "conflict, IPv4 and IPv6", conflict_versions },
	{ "conflict, two addresses", conflict_hosts },
	{ "conflict, SO_REUSEPORT", conflict_port },
	{ "conflict, 0.0.0.0 and one, SO_REUSEPORT", conflict_port_any },
	{ "two listeners, SO_REUSEADDR", two_listeners_addr },
	{ "two listeners, SO_REUSEPORT", two_listeners_port },
	{ "port freed", port_freed },
	{ "port later", port_later },
	{ "server again", server_again_plain },
	{ "server again, SO_REUSEADDR", server_again_reuse },
	{ "ephemeral ports", ephemeral },
	{ "ephemeral ports, IPv6", ephemeral6 },
	{ "ephemeral ports of clients", ephemeral_clients },
	{ "bind twice", twice },
	{ "listen, backlogs", listen_backlogs },
};

const int nr_name_scripts = ARRAY_SIZE(name_scripts);
