// SPDX-License-Identifier: GPL-2.0
/*
 * Records: what a program sees of its sockets, as text.
 */
#include <signal.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <linux/sockios.h>

#include "matrix.h"

static struct record *record;
static const struct record *tcp_record;
static const char *case_name;

volatile bool in_call;

void record_start(struct record *to, const struct record *tcp, const char *name)
{
	memset(to, 0, sizeof(*to));
	record = to;
	tcp_record = tcp;
	case_name = name;
}

void rec(const char *label, const char *fmt, ...)
{
	va_list args;
	int i = record->n;

	CHECK(i < RECORD_LINES, "the record is full");
	snprintf(record->line[i].label, sizeof(record->line[i].label), "%s", label);
	va_start(args, fmt);
	vsnprintf(record->line[i].value, sizeof(record->line[i].value), fmt, args);
	va_end(args);
	record->n++;
}

/* --- signals ---------------------------------------------------------------------- */

#define WATCHED	65

static volatile sig_atomic_t caught[WATCHED];

static void on_signal(int sig)
{
	caught[sig]++;
}

void catch_signals(void)
{
	static const int plain[] = { SIGPIPE, SIGURG, SIGIO, SIGUSR1 };
	struct sigaction sa = { .sa_handler = on_signal };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(plain); i++)
		MUST(sigaction(plain[i], &sa, NULL));
	sa.sa_flags = SA_RESTART;
	MUST(sigaction(SIGUSR2, &sa, NULL));
}

/* Those that the kernel sends by itself, each time it is asked */
static const char *new_signals(void)
{
	static const struct { int sig; const char *name; } names[] = {
		{ SIGPIPE, " SIGPIPE" }, { SIGURG, " SIGURG" }, { SIGIO, " SIGIO" },
	};
	static __thread char text[40];
	size_t i;

	text[0] = 0;
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		if (caught[names[i].sig]) {
			strcat(text, names[i].name);
			caught[names[i].sig] = 0;
		}
	}
	return text;
}

void rec_result(const char *label, long long ret)
{
	if (ret < 0)
		rec(label, "%s%s", err_name(errno), new_signals());
	else
		rec(label, "%lld%s", ret, new_signals());
}

/* --- what settles late --------------------------------------------------------------- */

/*
 * What AF_RSOCK is to have in the next line of that label: the same as TCP, or
 * what the table of differences has. NULL if this is TCP.
 */
static const char *wanted_value(const char *label)
{
	const char *value;
	int i = record->n, different;

	if (!tcp_record)
		return NULL;
	while (i < tcp_record->n && strcmp(tcp_record->line[i].label, label))
		i++;
	if (i >= tcp_record->n)
		return NULL;
	value = tcp_record->line[i].value;
	different = find_difference(case_name, label, value, NULL);
	return different < 0 ? value : difference_value(different);
}

static int patience_ms(void)
{
	return env_number("MATRIX_PATIENCE", hang_seconds() * 250);
}

static const char *wait_value(const char *want, const char *(*look)(int fd), int fd)
{
	long long end = now_ms() + patience_ms();
	const char *seen = look(fd);

	while (strcmp(seen, want) && now_ms() < end) {
		sleep_ms(1);
		seen = look(fd);
	}
	return seen;
}

/* The same for some looks in a row */
static const char *wait_stable(const char *(*look)(int fd), int fd)
{
	long long end = now_ms() + patience_ms();
	char before[160] = "";
	const char *seen;
	int same = 0;

	do {
		seen = look(fd);
		same = strcmp(seen, before) ? 0 : same + 1;
		snprintf(before, sizeof(before), "%s", seen);
		sleep_ms(1);
	} while (same < 3 && now_ms() < end);
	return seen;
}

void rec_settled(const char *label, const char *(*look)(int fd), int fd)
{
	const char *want = wanted_value(label);

	rec(label, "%s", want ? wait_value(want, look, fd) : wait_stable(look, fd));
}

static const char *look_ready(int fd)
{
	static char text[100];
	struct pollfd pfd = { .fd = fd, .events = BASIC_EVENTS };
	int n = -1, err;

	MUST(poll(&pfd, 1, 0));
	err = ioctl(fd, FIONREAD, &n) ? errno : 0;
	if (err)
		snprintf(text, sizeof(text), "%s, FIONREAD %s", event_text(pfd.revents),
			 err_name(err));
	else
		snprintf(text, sizeof(text), "%s, %d bytes", event_text(pfd.revents), n);
	return text;
}

void rec_ready(const char *label, int fd)
{
	rec_settled(label, look_ready, fd);
}

/* --- others ------------------------------------------------------------------------- */

void rec_error(int fd)
{
	socklen_t len = sizeof(int);
	int err = -1;

	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &len))
		rec("SO_ERROR", "fails: %s", err_name(errno));
	else
		rec("SO_ERROR", "%s", err ? err_name(err) : "0");
}

/* A port is any but 0 */
void rec_name(const char *label, const struct addr *a)
{
	struct addr plain = *a;

	if (a->sa.sa_family == AF_INET || a->sa.sa_family == AF_INET6)
		set_port(&plain, addr_port(a) ? 1 : 0);
	rec(label, "%s", addr_text(&plain));
}

void rec_data(const char *label, const void *buf, ssize_t len)
{
	const unsigned char *p = buf;
	char text[100];
	ssize_t i;

	for (i = 0; i < len && i < (ssize_t)sizeof(text) - 1; i++)
		text[i] = p[i] >= ' ' && p[i] < 127 ? p[i] : '.';
	text[i < 0 ? 0 : i] = 0;
	rec(label, "\"%s\"", text);
}

void rec_recv(const char *label, int fd, size_t len)
{
	char buf[100] = "";
	ssize_t n;

	CHECK(len <= sizeof(buf), "%zu", len);
	n = TRY(label, recv(fd, buf, len, MSG_DONTWAIT));
	rec_data(label, buf, n);
}

/* --- calls that block ------------------------------------------------------------------ */

static bool asleep(pid_t tid)
{
	char name[64], line[512], *state;
	FILE *f;

	snprintf(name, sizeof(name), "/proc/self/task/%d/stat", tid);
	f = fopen(name, "r");
	if (!f)
		return false;
	state = fgets(line, sizeof(line), f) ? strrchr(line, ')') : NULL;
	fclose(f);
	return state && state[2] == 'S';
}

struct attempt {
	struct worker w;
	void (*fn)(void *arg);
	void *arg;
	volatile bool done;
};

static void attempt_main(void *arg)
{
	struct attempt *a = arg;

	a->fn(a->arg);
	a->done = true;
}

/* Until it is done, or sleeps in the call for so long that nothing will happen */
static bool attempt_done(struct attempt *a, int patience)
{
	int looks = (patience ? patience : 50) / 5, seen = 0;

	while (!a->done && seen < looks) {
		seen = in_call && a->w.tid && asleep(a->w.tid) ? seen + 1 : 0;
		sleep_ms(a->done ? 0 : seen ? 5 : 1);
	}
	return a->done;
}

static bool interrupt_call(struct attempt *a, int sig, int patience)
{
	int before = caught[sig];

	MUST_BE(pthread_kill(a->w.thread, sig), 0);
	while (caught[sig] == before)
		sleep_ms(1);
	return attempt_done(a, patience);
}

static const char *end_by_signals(struct attempt *a)
{
	if (interrupt_call(a, SIGUSR2, 0))
		return "by a signal with SA_RESTART";
	if (interrupt_call(a, SIGUSR1, 0))
		return "by a signal without SA_RESTART";
	return "not by any signal";
}

static void attempt_ended(struct attempt *a, const char *how)
{
	if (a->done)
		join(&a->w);
	rec("ends", "%s", how);
}

/* What is expected to end in some way is given time to. */
static int patience_for(const char *how, int otherwise)
{
	const char *want = wanted_value("ends");

	return want && !strcmp(want, how) ? patience_ms() : otherwise;
}

void rec_blocking(void (*fn)(void *arg), void *arg, int patience)
{
	static const char by_itself[] = "by itself";
	struct attempt a = { .fn = fn, .arg = arg };

	patience = patience_for(by_itself, patience);
	start(&a.w, attempt_main, &a);
	attempt_ended(&a, attempt_done(&a, patience) ? by_itself : end_by_signals(&a));
}

void rec_while_blocked(void (*fn)(void *arg), void *arg, int (*act)(void *arg))
{
	struct attempt a = { .fn = fn, .arg = arg };
	static const char by_this[] = "by this";
	int ret, err, patience = patience_for(by_this, 0);

	start(&a.w, attempt_main, &a);
	if (attempt_done(&a, 0)) {
		attempt_ended(&a, "before");
		return;
	}
	errno = 0;
	ret = act(arg);
	err = errno;
	if (attempt_done(&a, patience))
		attempt_ended(&a, by_this);
	else
		attempt_ended(&a, end_by_signals(&a));
	errno = err;
	rec_result("the other call", ret);
}
