// SPDX-License-Identifier: GPL-2.0
/*
 * Where AF_RSOCK is meant to differ from TCP, and why. Each line says in which
 * cases, in which line of the record, and from what to what. A difference that
 * is not here is a failure, and so is one that is here and does not occur.
 */
#include <fnmatch.h>

#include "matrix.h"

struct row {
	const char *cases;	/* patterns as of fnmatch(3), but for "rsock" */
	const char *label;
	const char *tcp;
	const char *rsock;	/* a pattern as well, but for what settles late */
	bool rare;		/* not with every kernel, or security module */
};

struct reason {
	const char *title;
	const char *text;
	const struct row *rows;
	int n;
};

#define ROWS(...) .rows = (const struct row[]) { __VA_ARGS__ },		\
	.n = sizeof((const struct row[]) { __VA_ARGS__ }) / sizeof(struct row)

static const struct reason reasons[] = {
	{
		.title = "A peer that has closed",
		.text = "The peer tells whether it has closed or shut down its side, so that the"
			" first send() fails already, with EPIPE. With TCP it succeeds, and a"
			" reset comes back. There is none here, so the socket does not change.",
		ROWS({ "peer closed*/@(send|send MSG_@(DONTWAIT|MORE)|write|writev|sendto|sendmsg|sendfile|splice to it)/*",
		       "@(send|write|writev|sendto|sendmsg|sendfile|splice)", "5", "EPIPE SIGPIPE" },
		     { "peer closed*/send MSG_OOB/*", "send", "5", "EPIPE SIGPIPE" },
		     { "peer closed*/send MSG_NOSIGNAL/*", "send", "5", "EPIPE" },
		     { "peer closed*/send, bad pointer/*", "send", "EFAULT", "EPIPE SIGPIPE" },
		     { "peer closed*/sendmmsg/*", "sendmmsg", "@(1 SIGPIPE|2)", "EPIPE SIGPIPE" },
		     { "peer closed*/sendmmsg/*", "lengths", "2 @(0|3)", "0 0" },
		     { "peer closed*/splice to it/*", "pipe", "nothing, 0 bytes", "IN, 5 bytes" },
		     { "peer closed*/*", "SO_ERROR", "EPIPE", "0" },
		     { "peer closed/*", "@(after|at last)", "IN|OUT|RDHUP|HUP*, 0 bytes",
		       "IN|OUT|RDHUP, 0 bytes" },
		     { "peer closed, readable/*", "@(after|at last)", "IN|OUT|RDHUP|HUP*, 5 bytes",
		       "IN|OUT|RDHUP, 5 bytes" },
		     { "life/send after peer's close", "send", "3", "EPIPE" },
		     { "life/send after peer's close", "@(after|at last)",
		       "IN|OUT|RDHUP|HUP*, 0 bytes", "IN|OUT|RDHUP, 0 bytes" },
		     { "waiting/send/peer closes", "send", "ECONNRESET", "EPIPE SIGPIPE" })
	},
	{
		.title = "Data that nobody read",
		.text = "TCP resets a connection that is closed before all was read, or accepted."
			" Here it ends in good order: the peer reads the end of the stream.",
		ROWS({ "readable/close*/*", "peer", "IN|OUT|RDHUP|HUP|ERR, 0 bytes",
		       "IN|OUT|RDHUP, 0 bytes" },
		     { "life/closed without reading", "@(closed|at last)",
		       "IN|OUT|RDHUP|HUP*, 0 bytes", "IN|OUT|RDHUP, 0 bytes" },
		     { "life/@(closed without reading|backlog closed)", "recv", "ECONNRESET", "0" },
		     { "life/@(backlog closed|listen again*)", "client",
		       "IN|OUT|RDHUP|HUP*, 0 bytes", "IN|OUT|RDHUP, 0 bytes" })
	},
	{
		.title = "No urgent data",
		.text = "The protocol of rsockets has none. MSG_OOB is EOPNOTSUPP.",
		ROWS({ "!(peer closed*)/send MSG_OOB/*", "send", "5", "EOPNOTSUPP" },
		     { "*/send MSG_OOB/*", "peer", "IN|OUT|PRI, 4 bytes", "OUT, 0 bytes" },
		     { "*/send MSG_OOB/*", "peer", "IN|OUT|PRI|RDHUP, 4 bytes",
		       "IN|OUT|RDHUP, 0 bytes" },
		     { "data/send, @(flags 0 to 7|combined flags)", "send", "5", "EOPNOTSUPP" },
		     { "data/send, @(flags 0 to 7|combined flags)", "peer", "IN|OUT|PRI, 4 bytes",
		       "OUT, 0 bytes" },
		     { "data/send, @(flags 0 to 7|combined flags)", "peer reads", "4", "EAGAIN" },
		     { "data/send, @(flags 0 to 7|combined flags)", "peer reads", "\"abcd\"", "\"\"" },
		     { "io_uring/bad buffers", "send MSG_OOB", "1", "EOPNOTSUPP" })
	},
	{
		.title = "No TCP Fast Open",
		.text = "MSG_FASTOPEN is EOPNOTSUPP, as with TCP if it is turned off.",
		ROWS({ "data/send, flags 24 to 31", "send", "EISCONN", "EOPNOTSUPP" })
	},
	{
		.title = "Memory that ends",
		.text = "What is before the bad address is sent, or received, and counts. TCP"
			" takes none of a piece that it cannot take as a whole; where pieces"
			" begin is up to it.",
		ROWS({ "data/*", "@(good, bad|send|recv)", "EFAULT", "3" },
		     { "data/@(readv, vectors|recvmsg, vectors|recv beyond memory)", "left", "5", "2" },
		     { "data/@(readv, vectors|recvmsg, vectors|recv beyond memory)", "left",
		       "\"hello\"", "\"lo\"" },
		     { "data/*", "@(good, bad|part)", "OUT, 0 bytes", "IN|OUT, 3 bytes" },
		     { "data/*", "@(good, bad|part)", "EAGAIN", "3" },
		     { "data/*", "good, bad", "\"\"", "\"abc\"" },
		     { "data/*", "part", "\"\"", "\"eee\"" })
	},
	{
		.title = "Names without a connection",
		.text = "A source port that the program left open is given back when the"
			" connection is given up, connect() fails, or a listening socket is shut"
			" down. getsockname() has neither port nor address then, though an address"
			" that bind() chose will be used again; with TCP it has both of old.",
		ROWS({ "@(listened|disconnected)/questions/*", "own name", "* port 1 (length 16)",
		       "0.0.0.0 port 0 (length 16)" },
		     { "@(listened|disconnected)/questions/*", "own name", "* port 1 (length 28)",
		       ":: port 0 (length 28)" })
	},
	{
		.title = "No IP version of its own",
		.text = "There is one family for both versions of IP: the address that is bound or"
			" connected to decides.",
		ROWS({ "unbound/questions/*", "own name", ":: port 0 (length 28)",
		       "0.0.0.0 port 0 (length 16)" },
		     { "names/bind, families, IPv6", "@(AF_UNSPEC|AF_INET)", "EAFNOSUPPORT", "0" },
		     { "names/connect, families, IPv6", "AF_INET", "EAFNOSUPPORT", "ENETUNREACH" },
		     /* A security module may be the first to complain, of TCP's as well. */
		     { "names/@(bind|connect), families?(, wildcard)", "AF_INET6", "EAFNOSUPPORT",
		       "EINVAL", true },
		     { "names/foreign addresses", "name", ":: port 0 (length 28)",
		       "0.0.0.0 port 0 (length 16)" })
	},
	{
		.title = "Addresses without an RDMA device",
		.text = "They cannot be bound or connected to, and a wildcard means loopback to"
			" connect(). TCP lets a socket have an address that is no host's.",
		ROWS({ "names/connect to this host", "*", "ECONNREFUSED", "ENETUNREACH" },
		     { "names/foreign addresses", "@(255.255.255.255|224.0.0.1)", "0",
		       "EADDRNOTAVAIL" },
		     { "names/foreign addresses", "name", "@(255.255.255.255|224.0.0.1) *",
		       "0.0.0.0 port 0 (length 16)" },
		     { "names/no scope", "bind, no such scope", "ENODEV", "EADDRNOTAVAIL" })
	},
	{
		.title = "Ports of rdma_cm",
		.text = "A wildcard has the port for both versions of IP. A connection does not"
			" have the port of its listener, which can be bound to at once again."
			" With SO_REUSEADDR or SO_REUSEPORT sockets share a port, but none can"
			" listen there unless it is the only one. A socket has a port from"
			" bind() on, whatever IP_BIND_ADDRESS_NO_PORT says.",
		ROWS({ "names/conflict, IPv6 and 0.0.0.0", "bind", "0", "EADDRINUSE" },
		     { "names/conflict, IPv6 and 0.0.0.0", "listen", "0", "not bound" },
		     { "names/conflict*, SO_REUSEPORT", "bind", "0", "EADDRINUSE", true },
		     { "names/conflict*, SO_REUSEPORT", "listen", "0", "not bound", true },
		     { "names/conflict*", "listen", "0", "EADDRINUSE" },
		     { "names/two listeners*", "listen*", "0", "EADDRINUSE" },
		     { "names/two listeners, SO_REUSEPORT", "second", "nothing, FIONREAD EINVAL",
		       "OUT|HUP, 0 bytes", true },
		     { "names/port later", "bound", "* port 0 (length 16)", "* port 1 (length 16)" },
		     { "names/server again", "bind", "EADDRINUSE", "0" })
	},
	{
		.title = "What a reset left",
		.text = "As long as there is something to read, bind() is EINVAL.",
		ROWS({ "peer reset, readable/bind/*", "bind", "0", "EINVAL" })
	},
	{
		.title = "Bytes to send without a connection",
		.text = "There are none, whatever TCP says of them.",
		ROWS({ "@(listened|refused*|disconnected)/questions/*", "SIOCOUTQ*", "some", "none" })
	},
	{
		.title = "mmap()",
		.text = "It maps memory for the peer, see above. TCP has another use for it.",
		ROWS({ "*/questions/*", "mmap", "0", "EINVAL" })
	},
	{
		.title = "Options",
		.text = "The protocol's number is what the protocol is not, TCP. SO_PEEK_OFF is"
			" there with kernels whose TCP lacks it; SO_REUSEPORT is not there"
			" before Linux 6.7, but with IPPROTO_RSOCK. SO_RCVLOWAT may be"
			" more than there is room for, and then a full ring is enough. An"
			" unknown level is the same to getsockopt() as to setsockopt()."
			" A negative length is EINVAL at every level."
			" TCP_DEFER_ACCEPT is not rounded. What has to do with polling of"
			" network devices is not inherited.",
		ROWS({ "options/*", "SO_PROTOCOL", "get: 6, length 4", "get: 0, length 4" },
		     { "options/*", "SO_PROTOCOL", "get: 6, length 2", "get: 0, length 2" },
		     { "options/*", "SO_PEEK_OFF", "?(get: )EOPNOTSUPP", "*", true },
		     { "options/*", "SO_REUSEPORT", "0", "EOPNOTSUPP", true },
		     { "options/*", "SO_REUSEPORT", "get: 1, length 4", "get: 0, length 4", true },
		     { "options/set @(-1|100000), SOL_SOCKET", "SO_RCVLOWAT", "get: *, length 4",
		       "get: @(2147483647|100000), length 4" },
		     { "options/get, bad pointers, IPPROTO_IPV6", "IP*", "0", "EINVAL" },
		     { "options/*", "@(level *|of UDP)", "get: EOPNOTSUPP", "get: ENOPROTOOPT" },
		     { "options/set *, IPPROTO_TCP", "TCP_DEFER_ACCEPT", "get: *, length 4",
		       "get: @(-1|200|100000), length 4" },
		     { "options/inherited, SOL_SOCKET", "SO_?(PREFER_)BUSY_POLL", "get: 1, length 4",
		       "get: 0, length 4" })
	},
	{
		.title = "Options that are not there",
		.text = "What asks for the ways of TCP, or of IP packets, is ENOPROTOOPT.",
		ROWS({ "options/*", "@(TCP_@(SYNCNT|LINGER2|WINDOW_CLAMP|MD5SIG*|THIN_*|REPAIR*|QUEUE_SEQ|FASTOPEN*|TIMESTAMP))", "*", "?(get: )ENOPROTOOPT" },
		     { "options/*", "@(TCP_@(CC_INFO|SAVE_SYN|SAVED_SYN|ULP|ZEROCOPY_RECEIVE|INQ|TX_DELAY))", "*", "?(get: )ENOPROTOOPT" },
		     { "options/*", "TCP_INFO", "@(EINVAL|EFAULT)", "ENOPROTOOPT" },
		     { "options/*", "TCP_MAXSEG", "@(0|EINVAL|EFAULT)", "ENOPROTOOPT" },
		     { "options/*", "IP_!(TOS|BIND_ADDRESS_NO_PORT)", "*", "?(get: )ENOPROTOOPT" },
		     { "options/*", "IPV6_!(V6ONLY|TCLASS)", "*", "?(get: )ENOPROTOOPT" },
		     { "options/*", "@(TCP|IP|IPV6) @(9999|-1)", "*", "?(get: )ENOPROTOOPT", true })
	},
};

static const struct row *row_at(int index, const struct reason **reason)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(reasons); i++) {
		*reason = &reasons[i];
		if (index < reasons[i].n)
			return &reasons[i].rows[index];
		index -= reasons[i].n;
	}
	return NULL;
}

static bool matches(const char *pattern, const char *text)
{
	return !fnmatch(pattern, text, FNM_EXTMATCH);
}

int find_difference(const char *case_name, const char *label, const char *tcp,
		    const char *rsock)
{
	const struct reason *reason;
	const struct row *row;
	int i;

	for (i = 0; (row = row_at(i, &reason)); i++) {
		if (matches(row->cases, case_name) && matches(row->label, label) &&
		    matches(row->tcp, tcp) && (!rsock || matches(row->rsock, rsock)))
			return i;
	}
	return -1;
}

const char *difference_value(int index)
{
	const struct reason *reason;

	return row_at(index, &reason)->rsock;
}

bool difference_must_occur(int index)
{
	const struct reason *reason;

	return !row_at(index, &reason)->rare;
}

int count_differences(void)
{
	const struct reason *reason;
	int n = 0;

	while (row_at(n, &reason))
		n++;
	return n;
}

void print_difference(int index)
{
	const struct reason *reason;
	const struct row *row = row_at(index, &reason);

	printf("%s: %s: %s: %s, AF_RSOCK %s\n", reason->title, row->cases, row->label, row->tcp,
	       row->rsock);
}

/* A paragraph, indented, in lines of at most 80 characters */
static void print_text(const char *text)
{
	int column = 0;

	while (*text) {
		int word = strcspn(text, " ");

		if (column && column + 1 + word > 80)
			column = printf("\n") - 1;
		column += printf("%s%.*s", column ? " " : "  ", word, text);
		text += word;
		text += *text == ' ';
	}
	putchar('\n');
}

void print_differences(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(reasons); i++) {
		printf("\n%s\n", reasons[i].title);
		print_text(reasons[i].text);
	}
	putchar('\n');
}
