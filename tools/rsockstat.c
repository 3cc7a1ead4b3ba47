// SPDX-License-Identifier: GPL-2.0
/*
 * rsockstat - show the sockets of AF_RSOCK, as ss(8) shows those of TCP
 */

#include <argp.h>
#include <arpa/inet.h>
#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <json-c/json.h>
#include <libmnl/libmnl.h>
#include <linux/rsock.h>
#include <linux/rsock_diag.h>
#include <linux/sock_diag.h>
#include <net/if.h>
#include <search.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

const char *argp_program_version = "rsockstat " VERSION;

#define STATE_NAMES "established, syn-sent, syn-recv, fin-wait-1, fin-wait-2, close, close-wait, " \
	"last-ack, listening, closing"

static const char doc[] =
	"Show sockets of AF_RSOCK and IPPROTO_RSOCK in this network namespace."
	"\vWithout -a or -l, connections are shown. Bytes in the receive queue "
	"have arrived and were not read; those in the send queue are not known "
	"to be at the peer. For a listening socket they are the connections that "
	"wait to be accepted, and how many may wait.\n\n"
	"States of -s are named as by ss(8): " STATE_NAMES ".";

static const struct argp_option options[] = {
	{ "all", 'a', NULL, 0, "All sockets" },
	{ "listening", 'l', NULL, 0, "Listening sockets only" },
	{ "state", 's', "STATE", 0, "Sockets in this state; repeatable" },
	{ "port", 'P', "PORT", 0, "Sockets with this port at either end" },
	{ "address", 'A', "ADDRESS", 0, "Sockets with this address at either end" },
	{ "processes", 'p', NULL, 0, "Show who has the socket open" },
	{ "info", 'i', NULL, 0, "Show the RDMA side" },
	{ "memory", 'm', NULL, 0, "Show memory" },
	{ "extended", 'e', NULL, 0, "Show owner and inode" },
	{ "no-header", 'H', NULL, 0, "Leave out the heading" },
	{ "json", 'j', NULL, 0, "JSON: an array of objects" },
	{ "watch", 'w', "SECONDS", OPTION_ARG_OPTIONAL, "Show it again and again (default 1)" },
	{ 0 }
};

static struct {
	unsigned int states;
	int port;
	const char *address;
	bool processes, info, memory, extended, no_header, json;
	unsigned int watch;
} opt;

/* By TCP state, from 1 on */
static const char *const states[] = {
	[1] = "established", "syn-sent", "syn-recv", "fin-wait-1", "fin-wait-2",
	"time-wait", "close", "close-wait", "last-ack", "listening", "closing",
};

static const char *const short_states[] = {
	[1] = "ESTAB", "SYN-SENT", "SYN-RECV", "FIN-WAIT-1", "FIN-WAIT-2",
	"TIME-WAIT", "UNCONN", "CLOSE-WAIT", "LAST-ACK", "LISTEN", "CLOSING",
};

#define NR_STATES	(sizeof(states) / sizeof(*states))
#define STATE_CLOSE	7
#define STATE_LISTEN	10
#define ALL_STATES	((1U << NR_STATES) - 2)
#define CONNECTIONS	(ALL_STATES & ~(1U << STATE_LISTEN | 1U << STATE_CLOSE))

static unsigned int state_bit(struct argp_state *state, const char *name)
{
	size_t i;

	for (i = 1; i < NR_STATES; i++)
		if (!strcmp(name, states[i]))
			return 1U << i;
	argp_error(state, "no state '%s'; there are: " STATE_NAMES, name);
	return 0;
}

static long parse_number(struct argp_state *state, const char *arg, long min, long max)
{
	char *end;
	long value = strtol(arg, &end, 10);

	if (!*arg || *end || value < min || value > max)
		argp_error(state, "'%s' is not a number from %ld to %ld", arg, min, max);
	return value;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	switch (key) {
	case 'a':
		opt.states = ALL_STATES;
		break;
	case 'l':
		opt.states |= 1U << STATE_LISTEN;
		break;
	case 's':
		opt.states |= state_bit(state, arg);
		break;
	case 'P':
		opt.port = parse_number(state, arg, 1, 65535);
		break;
	case 'A':
		opt.address = arg;
		break;
	case 'p':
		opt.processes = true;
		break;
	case 'i':
		opt.info = true;
		break;
	case 'm':
		opt.memory = true;
		break;
	case 'e':
		opt.extended = true;
		break;
	case 'H':
		opt.no_header = true;
		break;
	case 'j':
		opt.json = true;
		break;
	case 'w':
		opt.watch = arg ? parse_number(state, arg, 1, 86400) : 1;
		break;
	case ARGP_KEY_ARG:
		argp_error(state, "what is '%s'?", arg);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/* Processes: who has which inode open */

struct owner {
	unsigned int inode;
	char text[64];
};

static void *owners;	/* tree by inode */

static int owner_compare(const void *a, const void *b)
{
	const struct owner *x = a, *y = b;

	return (x->inode > y->inode) - (x->inode < y->inode);
}

static void owner_add(unsigned int inode, const char *comm, int pid, int fd)
{
	struct owner *o = calloc(1, sizeof(*o)), **found;

	if (!o)
		err(1, "no memory");
	o->inode = inode;
	snprintf(o->text, sizeof(o->text), "(\"%s\",pid=%d,fd=%d)", comm, pid, fd);
	found = tsearch(o, &owners, owner_compare);
	if (!found)
		err(1, "no memory");
	if (*found != o)	/* another one has it, too: one is enough */
		free(o);
}

static void scan_fds(int pid, const char *comm)
{
	char path[64], link[64];
	unsigned int inode;
	struct dirent *d;
	ssize_t n;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	dir = opendir(path);
	if (!dir)
		return;		/* gone, or none of ours */
	while ((d = readdir(dir))) {
		n = readlinkat(dirfd(dir), d->d_name, link, sizeof(link) - 1);
		if (n < 0)
			continue;
		link[n] = 0;
		if (sscanf(link, "socket:[%u]", &inode) == 1)
			owner_add(inode, comm, pid, atoi(d->d_name));
	}
	closedir(dir);
}

static void read_comm(int pid, char comm[32])
{
	char path[64];
	FILE *f;

	strcpy(comm, "?");
	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	f = fopen(path, "r");
	if (!f)
		return;
	if (fgets(comm, 32, f))
		comm[strcspn(comm, "\n")] = 0;
	fclose(f);
}

static void scan_processes(void)
{
	DIR *dir = opendir("/proc");
	struct dirent *d;
	char comm[32];
	int pid;

	tdestroy(owners, free);
	owners = NULL;
	if (!dir)
		err(1, "/proc");
	while ((d = readdir(dir))) {
		pid = atoi(d->d_name);
		if (pid <= 0)
			continue;
		read_comm(pid, comm);
		scan_fds(pid, comm);
	}
	closedir(dir);
}

static const char *owner_of(unsigned int inode)
{
	struct owner key = { .inode = inode }, **found;

	found = tfind(&key, &owners, owner_compare);
	return inode && found ? (*found)->text : NULL;
}

/* A socket */

struct sock_view {
	const struct rsock_diag_msg *msg;
	const struct rsock_diag_info *info;
	const __u32 *mem;
	size_t nr_mem;
	const char *device;
	char local[INET6_ADDRSTRLEN + 24], peer[INET6_ADDRSTRLEN + 24];
};

static int on_attr(const struct nlattr *attr, void *data)
{
	struct sock_view *v = data;
	size_t len = mnl_attr_get_payload_len(attr);

	switch (mnl_attr_get_type(attr)) {
	case RSOCK_DIAG_INFO:
		if (len >= sizeof(*v->info))
			v->info = mnl_attr_get_payload(attr);
		break;
	case RSOCK_DIAG_MEMINFO:
		v->mem = mnl_attr_get_payload(attr);
		v->nr_mem = len / sizeof(*v->mem);
		break;
	case RSOCK_DIAG_DEVICE:
		if (!mnl_attr_validate(attr, MNL_TYPE_NUL_STRING))
			v->device = mnl_attr_get_str(attr);
		break;
	}
	return MNL_CB_OK;
}

static const char *address_text(const struct rsock_diag_msg *msg, const __be32 *addr, char *buf)
{
	return inet_ntop(msg->family, addr, buf, INET6_ADDRSTRLEN) ?: "?";
}

static void end_text(const struct rsock_diag_msg *msg, const __be32 *addr, __be16 port, char *text,
		     size_t size)
{
	bool v6 = msg->family == AF_INET6;
	char buf[INET6_ADDRSTRLEN], port_text[8] = "*";

	if (port)
		snprintf(port_text, sizeof(port_text), "%u", ntohs(port));
	snprintf(text, size, "%s%s%s:%s", v6 ? "[" : "", address_text(msg, addr, buf), v6 ? "]" : "",
		 port_text);
}

static bool address_is(const struct rsock_diag_msg *msg, const __be32 *addr)
{
	char buf[INET6_ADDRSTRLEN];

	return !strcmp(address_text(msg, addr, buf), opt.address);
}

static bool wanted(const struct rsock_diag_msg *msg)
{
	const struct inet_diag_sockid *id = &msg->id;

	if (opt.port && ntohs(id->idiag_sport) != opt.port && ntohs(id->idiag_dport) != opt.port)
		return false;
	return !opt.address || address_is(msg, id->idiag_src) || address_is(msg, id->idiag_dst);
}

static const char *state_name(const char *const names[], unsigned int state)
{
	return state > 0 && state < NR_STATES ? names[state] : "?";
}

/* The RDMA side, in the order in which it is shown */

#define FIELD(name) \
	{ #name, offsetof(struct rsock_diag_info, name), \
	  sizeof(((struct rsock_diag_info *)0)->name) }

static const struct field {
	const char *name;
	size_t offset, size;
} fields[] = {
	FIELD(qp), FIELD(port), FIELD(mtu), FIELD(sq_size), FIELD(sq_used), FIELD(credits), FIELD(room),
	FIELD(rq_size), FIELD(ring), FIELD(unread), FIELD(granted), FIELD(queued), FIELD(unsent),
	FIELD(maps), FIELD(notes), FIELD(probes), FIELD(msgs_received), FIELD(bytes_sent),
	FIELD(bytes_acked), FIELD(bytes_received), FIELD(features),
};

#define NR_FIELDS	(sizeof(fields) / sizeof(*fields))

static unsigned long long field_value(const struct rsock_diag_info *info, const struct field *field)
{
	const char *at = (const char *)info + field->offset;

	return field->size == sizeof(__u64) ? *(const __u64 *)at : *(const __u32 *)at;
}

static const struct {
	unsigned int bit;
	const char *name;
} flags[] = {
	{ RSOCK_DIAG_PASSIVE, "passive" },
	{ RSOCK_DIAG_PEER_EXT, "rsock-peer" },
	{ RSOCK_DIAG_SWAPPED, "swapped" },
	{ RSOCK_DIAG_KEEPALIVE, "keepalive" },
	{ RSOCK_DIAG_NOTIFY, "notify" },
};

#define NR_FLAGS	(sizeof(flags) / sizeof(*flags))

static const char *const mem_names[] = {
	"rmem_alloc", "rcvbuf", "wmem_alloc", "sndbuf", "fwd_alloc", "wmem_queued", "optmem", "backlog",
	"drops",
};

#define NR_MEM		(sizeof(mem_names) / sizeof(*mem_names))

/* Text */

static void print_info(const struct sock_view *v)
{
	size_t i;

	printf("\n\t rdma dev:%s", v->device ?: "-");
	for (i = 0; i < NR_FLAGS; i++)
		if (v->info->flags & flags[i].bit)
			printf(" %s", flags[i].name);
	for (i = 0; i < NR_FIELDS; i++)
		printf(" %s:%llu", fields[i].name, field_value(v->info, &fields[i]));
}

static void print_sock(const struct sock_view *v)
{
	const struct rsock_diag_msg *msg = v->msg;
	const char *owner = opt.processes ? owner_of(msg->inode) : NULL;
	size_t i;

	printf("%-10s %-7u %-7u %25s %25s", state_name(short_states, msg->state), msg->rqueue, msg->wqueue,
	       v->local, v->peer);
	if (owner)
		printf(" users:(%s)", owner);
	if (opt.extended)
		printf(" uid:%u ino:%u sk:%x%08x", msg->uid, msg->inode, msg->id.idiag_cookie[1],
		       msg->id.idiag_cookie[0]);
	if (opt.memory && v->mem) {
		printf("\n\t mem");
		for (i = 0; i < v->nr_mem && i < NR_MEM; i++)
			printf(" %s:%u", mem_names[i], v->mem[i]);
	}
	if (opt.info && v->info)
		print_info(v);
	putchar('\n');
}

/* JSON */

static struct json_object *sockets;

static void put_number(struct json_object *o, const char *name, unsigned long long value)
{
	json_object_object_add(o, name, json_object_new_uint64(value));
}

static void put_text(struct json_object *o, const char *name, const char *value)
{
	json_object_object_add(o, name, value ? json_object_new_string(value) : NULL);
}

static struct json_object *json_info(const struct sock_view *v)
{
	struct json_object *o = json_object_new_object(), *list = json_object_new_array();
	size_t i;

	put_text(o, "device", v->device);
	for (i = 0; i < NR_FLAGS; i++)
		if (v->info->flags & flags[i].bit)
			json_object_array_add(list, json_object_new_string(flags[i].name));
	json_object_object_add(o, "flags", list);
	for (i = 0; i < NR_FIELDS; i++)
		put_number(o, fields[i].name, field_value(v->info, &fields[i]));
	return o;
}

static struct json_object *json_memory(const struct sock_view *v)
{
	struct json_object *o = json_object_new_object();
	size_t i;

	for (i = 0; i < v->nr_mem && i < NR_MEM; i++)
		put_number(o, mem_names[i], v->mem[i]);
	return o;
}

static void json_sock(const struct sock_view *v)
{
	const struct rsock_diag_msg *msg = v->msg;
	struct json_object *o = json_object_new_object();
	char buf[INET6_ADDRSTRLEN];

	put_text(o, "state", state_name(states, msg->state));
	put_number(o, "recv_q", msg->rqueue);
	put_number(o, "send_q", msg->wqueue);
	put_text(o, "local_address", address_text(msg, msg->id.idiag_src, buf));
	put_number(o, "local_port", ntohs(msg->id.idiag_sport));
	put_text(o, "peer_address", address_text(msg, msg->id.idiag_dst, buf));
	put_number(o, "peer_port", ntohs(msg->id.idiag_dport));
	put_number(o, "uid", msg->uid);
	put_number(o, "inode", msg->inode);
	if (opt.processes)
		put_text(o, "process", owner_of(msg->inode));
	if (opt.memory && v->mem)
		json_object_object_add(o, "memory", json_memory(v));
	if (opt.info && v->info)
		json_object_object_add(o, "rdma", json_info(v));
	json_object_array_add(sockets, o);
}

/* The kernel's answer */

static int on_sock(const struct nlmsghdr *nlh, void *data)
{
	struct sock_view v = { .msg = mnl_nlmsg_get_payload(nlh) };
	const struct inet_diag_sockid *id = &v.msg->id;

	(void)data;
	if (mnl_nlmsg_get_payload_len(nlh) < sizeof(*v.msg) || !wanted(v.msg))
		return MNL_CB_OK;
	mnl_attr_parse(nlh, sizeof(*v.msg), on_attr, &v);
	end_text(v.msg, id->idiag_src, id->idiag_sport, v.local, sizeof(v.local));
	end_text(v.msg, id->idiag_dst, id->idiag_dport, v.peer, sizeof(v.peer));
	if (opt.json)
		json_sock(&v);
	else
		print_sock(&v);
	return MNL_CB_OK;
}

/* The number of the family is the module's to say; without the module there is none */
static int family_number(void)
{
	FILE *f = fopen("/sys/module/rsock/parameters/family", "r");
	int number;

	if (!f || fscanf(f, "%d", &number) != 1)
		errx(1, "there is no AF_RSOCK here: try 'modprobe rsock'");
	fclose(f);
	return number;
}

static void request(struct mnl_socket *nl, unsigned int seq)
{
	char buf[MNL_ALIGN(sizeof(struct nlmsghdr)) + MNL_ALIGN(sizeof(struct rsock_diag_req))] = { 0 };
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	struct rsock_diag_req *req;

	nlh->nlmsg_type = SOCK_DIAG_BY_FAMILY;
	nlh->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	nlh->nlmsg_seq = seq;
	req = mnl_nlmsg_put_extra_header(nlh, sizeof(*req));
	req->sdiag_family = family_number();
	req->states = opt.states;
	req->show = 1 << RSOCK_DIAG_INFO | 1 << RSOCK_DIAG_MEMINFO | 1 << RSOCK_DIAG_DEVICE;
	if (mnl_socket_sendto(nl, nlh, nlh->nlmsg_len) < 0)
		err(1, "netlink");
}

static void dump(struct mnl_socket *nl)
{
	static unsigned int seq;
	char buf[65536];
	ssize_t n;
	int ret = MNL_CB_OK;

	request(nl, ++seq);
	while (ret > MNL_CB_STOP) {
		n = mnl_socket_recvfrom(nl, buf, sizeof(buf));
		if (n < 0)
			err(1, "netlink");
		ret = mnl_cb_run(buf, n, seq, mnl_socket_get_portid(nl), on_sock, NULL);
	}
	if (ret < 0)
		err(1, errno == ENOENT ? "no sock_diag of AF_RSOCK: try 'modprobe rsock_diag'" : "sock_diag");
}

static void show(struct mnl_socket *nl)
{
	if (opt.processes)
		scan_processes();
	if (opt.json)
		sockets = json_object_new_array();
	else if (!opt.no_header)
		printf("%-10s %-7s %-7s %25s %25s\n", "State", "Recv-Q", "Send-Q", "Local Address:Port",
		       "Peer Address:Port");
	dump(nl);
	if (opt.json) {
		puts(json_object_to_json_string_ext(sockets, JSON_C_TO_STRING_PRETTY));
		json_object_put(sockets);
	}
	if (fflush(stdout))
		err(1, "standard output");
}

int main(int argc, char **argv)
{
	static const struct argp argp = { options, parse, NULL, doc, NULL, NULL, NULL };
	struct mnl_socket *nl;

	argp_parse(&argp, argc, argv, 0, NULL, NULL);
	if (!opt.states)
		opt.states = CONNECTIONS;
	nl = mnl_socket_open(NETLINK_SOCK_DIAG);
	if (!nl || mnl_socket_bind(nl, 0, MNL_SOCKET_AUTOPID) < 0)
		err(1, "netlink");
	show(nl);
	while (opt.watch) {
		sleep(opt.watch);
		if (!opt.json)
			printf("\n");
		show(nl);
	}
	mnl_socket_close(nl);
	return 0;
}
