// SPDX-License-Identifier: GPL-2.0
/*
 * Options: reading, writing, sizes and values, on a new socket and on one that
 * is connected.
 */
#include <netinet/tcp.h>

#include "matrix.h"

struct option_row {
	const char *name;
	int level, option;
	bool varies;		/* its value has no meaning here */
};

#define ROW(level, option)	{ #option, level, option, false }
#define VARIES(level, option)	{ #option, level, option, true }

static const struct option_row rows[] = {
	ROW(SOL_SOCKET, SO_DEBUG), ROW(SOL_SOCKET, SO_REUSEADDR), ROW(SOL_SOCKET, SO_TYPE),
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
	ROW(IPPROTO_TCP, TCP_NODELAY),
};

static void read_option(const struct option_row *row, int fd)
{
	unsigned char value[256] = { };
	socklen_t len = sizeof(value);
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

static void read_options(int fd)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		read_option(&rows[i], fd);
}

static void read_unbound(void)
{
	read_options(make_state("unbound").fd);
}

static void read_connected(void)
{
	read_options(make_state("connected").fd);
}

static void read_listening(void)
{
	read_options(make_state("listening").fd);
}

/* One value after the other, and what is left of it */
static void write_options(const char *state, long long value, socklen_t len)
{
	struct place p = make_state(state);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		TRY(rows[i].name, setsockopt(p.fd, rows[i].level, rows[i].option, &value, len));
	read_options(p.fd);
}

static void write_1(void)
{
	write_options("unbound", 1, sizeof(int));
}

static void write_1_connected(void)
{
	write_options("connected", 1, sizeof(int));
}

static void write_0(void)
{
	write_options("unbound", 0, sizeof(int));
}

static void write_minus_1(void)
{
	write_options("unbound", -1, sizeof(int));
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
	struct place p = make_state("unbound");
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		TRY(rows[i].name, setsockopt(p.fd, rows[i].level, rows[i].option, (void *)8, 4));
}

static void read_bad_pointers(void)
{
	struct place p = make_state("unbound");
	socklen_t len = 4, negative = -1;
	int value;
	size_t i;

	for (i = 0; i < 50; i += 5) {
		TRY(rows[i].name, getsockopt(p.fd, rows[i].level, rows[i].option, (void *)8, &len));
		TRY(rows[i].name, getsockopt(p.fd, rows[i].level, rows[i].option, &value,
					     (void *)8));
		TRY(rows[i].name, getsockopt(p.fd, rows[i].level, rows[i].option, &value,
					     &negative));
	}
}

/* Room for less than there is */
static void read_short(void)
{
	static const int names[] = { SO_KEEPALIVE, SO_LINGER, SO_RCVTIMEO, SO_TYPE };
	struct place p = make_state("connected");
	char value[16];
	socklen_t len;
	size_t i;
	int room;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		for (room = 0; room < 20; room += 3) {
			len = room;
			TRY("getsockopt", getsockopt(p.fd, SOL_SOCKET, names[i], value, &len));
			rec("length", "%u", len);
		}
	}
}

const struct script option_scripts[] = {
	{ "get, unbound", read_unbound },
	{ "get, connected", read_connected },
	{ "get, listening", read_listening },
	{ "set 1", write_1 },
	{ "set 1, connected", write_1_connected },
	{ "set 0", write_0 },
	{ "set -1", write_minus_1 },
	{ "set 3 bytes", write_short },
	{ "set nothing", write_nothing },
	{ "set 8 bytes", write_long },
	{ "set, negative length", write_negative },
	{ "set, bad pointer", write_bad_pointer },
	{ "get, bad pointers", read_bad_pointers },
	{ "get, short", read_short },
};

const int nr_option_scripts = ARRAY_SIZE(option_scripts);
