// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * For programs that LD_PRELOAD does not reach: the kernel stops their bind(),
 * connect() and listen() and asks a supervisor (seccomp_unotify(2)). It takes a
 * copy of the descriptor, does with it what the library does, and if another
 * socket came of it, puts that in its place. Then the call goes on.
 *
 * No other call is stopped, and the filter is not even run for them: the kernel
 * knows which ones are always allowed.
 */
#include "supervise.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <seccomp.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launcher.h"
#include "other.h"
#include "preload.h"

/* All that the supervisor has, but for the standard ones */
#define NOTIFY_FD	3

/* What socket.c and its like call is not in the way of anybody here */

int real_bind(int fd, const struct sockaddr *addr, socklen_t len)
{
	return bind(fd, addr, len);
}

int real_connect(int fd, const struct sockaddr *addr, socklen_t len)
{
	return connect(fd, addr, len);
}

int real_getsockopt(int fd, int level, int name, void *val, socklen_t *len)
{
	return getsockopt(fd, level, name, val, len);
}

int real_epoll_ctl(int epfd, int op, int fd, struct epoll_event *event)
{
	return epoll_ctl(epfd, op, fd, event);
}

/* --- the one who is stopped ----------------------------------------------------- */

/*
 * struct call - a call that is stopped
 * @notify: where the kernel asks
 * @req: what it asks
 * @fd: descriptor of the program
 * @own: our copy of it
 * @name: address, of bind() and connect()
 */
struct call {
	int notify;
	const struct seccomp_notif *req;
	int fd;
	int own;
	struct name name;
};

static bool still_there(const struct call *c)
{
	return !seccomp_notify_id_valid(c->notify, c->req->id);
}

static int copy_fd(const struct call *c)
{
	return other_fd(other_field(c->req->pid, "status", "Tgid:", 10), c->fd);
}

static bool read_name(struct call *c)
{
	const __u64 *args = c->req->data.args;
	struct iovec to = { &c->name, sizeof(c->name.ss) };
	struct iovec from = { (void *)args[1], (socklen_t)args[2] };

	if ((socklen_t)args[2] > sizeof(c->name.ss))
		return false;
	c->name.len = from.iov_len;
	return process_vm_readv(c->req->pid, &to, 1, &from, 1, 0) == (ssize_t)from.iov_len;
}

/* Our sockets would be of another network than the program's */
static bool same_network(const struct call *c)
{
	struct stat own, other;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/ns/net", c->req->pid);
	return !stat("/proc/self/ns/net", &own) && !stat(path, &other) &&
	       own.st_ino == other.st_ino;
}

/* Put our socket in the place of the program's */
static int give_back(const struct call *c)
{
	struct seccomp_notif_addfd addfd = {
		.id = c->req->id,
		.flags = SECCOMP_ADDFD_FLAG_SETFD,
		.srcfd = c->own,
		.newfd = c->fd,
	};
	char name[32];
	long flags;

	snprintf(name, sizeof(name), "fdinfo/%d", c->fd);
	flags = other_field(c->req->pid, name, "flags:", 8);
	if (flags > 0 && flags & O_CLOEXEC)
		addfd.newfd_flags = O_CLOEXEC;
	return ioctl(c->notify, SECCOMP_IOCTL_NOTIF_ADDFD, &addfd) < 0 ? -1 : 0;
}

/* --- what is done about it --------------------------------------------------------- */

/* A socket without an address would get any by listen() */
static bool any_name(struct call *c)
{
	struct name name;
	int domain;

	if (socket_kind(c->own, &domain) == KIND_OTHER || socket_bound(c->own, &name))
		return false;
	c->name.sa.sa_family = domain;
	c->name.len = domain == AF_INET ? sizeof(c->name.in) : sizeof(c->name.in6);
	return true;
}

/* Another thread may have closed the descriptor, and opened another file */
static bool is_still(const struct call *c, ino_t ino)
{
	int fd = copy_fd(c);
	struct stat st;
	bool same;

	if (fd < 0)
		return false;
	same = !fstat(fd, &st) && st.st_ino == ino;
	close(fd);
	return same;
}

static int settle_call(struct call *c, enum rule_direction direction)
{
	struct registrations regs = { };
	struct stat before, after;

	log_as(c->req->pid);
	other_epoll(c->req->pid, c->fd);
	if (fstat(c->own, &before) ||
	    settle(c->own, c->fd, direction, &c->name.sa, c->name.len, &regs))
		return errno;
	if (fstat(c->own, &after) || after.st_ino == before.st_ino ||
	    !is_still(c, before.st_ino))
		return 0;
	if (give_back(c))
		return errno;
	epoll_restore(c->own, &regs);
	return 0;
}

/* Returns the error that the call is to fail with, or 0 for it to go on */
static int answer(struct call *c)
{
	bool is_listen = c->req->data.nr == SYS_listen;
	enum rule_direction direction = RULE_LISTEN;
	int err = 0;

	c->fd = c->req->data.args[0];
	if (c->req->data.nr == SYS_connect)
		direction = RULE_CONNECT;
	if (!is_listen && !read_name(c))
		return 0;
	if (!same_network(c))
		return 0;
	c->own = copy_fd(c);
	if (c->own < 0)
		return 0;
	if (still_there(c) && (!is_listen || any_name(c)))
		err = settle_call(c, direction);
	close(c->own);
	return err;
}

static void serve(int notify)
{
	struct seccomp_notif_resp *resp;
	struct seccomp_notif *req;

	if (seccomp_notify_alloc(&req, &resp))
		errx(EXIT_OURS, "out of memory");
	for (;;) {
		struct call call = { .notify = notify, .req = req };
		struct pollfd p = { .fd = notify, .events = POLLIN };

		if (poll(&p, 1, -1) < 0 || !(p.revents & POLLIN))
			break;		/* nobody is left to ask for */
		memset(req, 0, sizeof(*req));
		if (seccomp_notify_receive(notify, req))
			continue;	/* it was killed meanwhile */
		resp->id = req->id;
		resp->val = 0;
		resp->error = -answer(&call);
		resp->flags = resp->error ? 0 : SECCOMP_USER_NOTIF_FLAG_CONTINUE;
		seccomp_notify_respond(notify, resp);
	}
	seccomp_notify_free(req, resp);
}

/* --- the beginning -------------------------------------------------------------------- */

static scmp_filter_ctx filter(void)
{
	static const int calls[] = { SCMP_SYS(bind), SCMP_SYS(connect), SCMP_SYS(listen) };
	scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_ALLOW);
	size_t i;

	if (!ctx)
		return NULL;
	for (i = 0; i < ARRAY_SIZE(calls); i++)
		if (seccomp_rule_add(ctx, SCMP_ACT_NOTIFY, calls[i], 0))
			return NULL;
	/* Calls of 32-bit programs are left alone */
	seccomp_attr_set(ctx, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ALLOW);
	seccomp_attr_set(ctx, SCMP_FLTATR_CTL_NNP, false);
	return ctx;
}

/* What the two of them tell each other at the beginning */
static void tell(int fd, int value)
{
	if (write(fd, &value, sizeof(value)) != sizeof(value))
		_exit(EXIT_OURS);
}

static int hear(int fd)
{
	int value;

	if (read(fd, &value, sizeof(value)) != sizeof(value))
		_exit(EXIT_OURS);
	return value;
}

/* The program may raise its limit; its numbers are used here */
static void all_numbers(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

/*
 * Nothing of the program's is kept open, but standard error if it is the log.
 * Who ends the program ends this one, too, but not before it.
 */
static void leave_program(int notify)
{
	int null = open("/dev/null", O_RDWR);

	setsid();
	signal(SIGPIPE, SIG_IGN);
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	if (config()->log != LOG_STDERR)
		dup2(null, STDERR_FILENO);
	dup3(notify, NOTIFY_FD, O_CLOEXEC);
	close_range(NOTIFY_FD + 1, ~0U, 0);
	all_numbers();
	if (chdir("/"))
		_exit(EXIT_OURS);
}

static void run_supervisor(int from, int to, int pid)
{
	int notify = other_fd(pid, hear(from));

	tell(to, notify < 0 ? errno : 0);
	if (notify < 0)
		_exit(EXIT_OURS);
	leave_program(notify);
	serve(NOTIFY_FD);
	_exit(0);
}

/* Not a child that the program might wait for, and without the filter */
static void start_supervisor(int from, int to, const int others[2])
{
	int pid = getpid(), child = fork();

	if (child < 0)
		err(EXIT_OURS, "fork");
	if (!child) {
		close(others[0]);
		close(others[1]);
		if (!fork())
			run_supervisor(from, to, pid);
		_exit(0);
	}
	waitpid(child, NULL, 0);
}

static int load_filter(void)
{
	scmp_filter_ctx ctx = filter();
	int fd, ret;

	if (!ctx)
		errx(EXIT_OURS, "no filter for system calls can be made");
	/* Who is privileged does without, so that set-user-ID programs work */
	ret = seccomp_load(ctx);
	if (ret == -EACCES) {
		seccomp_attr_set(ctx, SCMP_FLTATR_CTL_NNP, true);
		ret = seccomp_load(ctx);
	}
	if (ret)
		errx(EXIT_OURS, "no filter for system calls: %s; is there another one already?",
		     strerror(-ret));
	fd = seccomp_notify_fd(ctx);
	seccomp_release(ctx);
	return fd;
}

void supervise(void)
{
	int up[2], down[2], notify, error;

	if (pipe2(up, O_CLOEXEC) || pipe2(down, O_CLOEXEC))
		err(EXIT_OURS, "pipe");
	start_supervisor(down[0], up[1], (int[]){ down[1], up[0] });
	close(down[0]);
	close(up[1]);
	notify = load_filter();
	tell(down[1], notify);
	error = hear(up[0]);
	if (error)
		errx(EXIT_OURS,
		     "the supervisor may not look into the program: %s; run it as root, or set kernel.yama.ptrace_scope to 0 (sysctl)",
		     strerror(error));
	close(notify);
	close(up[0]);
	close(down[1]);
}
