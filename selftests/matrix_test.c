// SPDX-License-Identifier: GPL-2.0
/*
 * TCP as an oracle: each case is run with TCP and with AF_RSOCK, and what the
 * programs saw is compared. With RSOCK_TEST_FAMILY=tcp, TCP is compared with
 * itself, which proves that the cases are deterministic.
 *
 *	matrix_test [-v] [-j JOBS] [PATTERN ...]	cases whose names match
 *	matrix_test --cases
 *	matrix_test --differences	what is intended, for Documentation/rsock.rst
 *	matrix_test --rows		the same, by cases and lines of records
 *
 * A case that differs is run some times more. -v shows the records. All cases of one name up to the first slash are one
 * result of TAP, which goes to CK_TAP_LOG_FILE_NAME or standard output.
 * MATRIX_PATIENCE is for how many ms what differs is looked at (see
 * rec_settled()).
 */
#include <fnmatch.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "matrix.h"

#define CASES_MAX	6000
#define DIFFS_MAX	400

static struct matrix_case cases[CASES_MAX];
static int nr_cases;

/* Shared with those who run the cases: which failed, and what was said of one */
static volatile bool *failed;
static volatile int *seen;	/* how often each difference occurred */

static char said[16000];

static bool verbose;
static int jobs = 8;

struct matrix_case *new_case(const char *fmt, ...)
{
	struct matrix_case *c = &cases[nr_cases];
	va_list args;

	CHECK(nr_cases < CASES_MAX, "more than %d cases", CASES_MAX);
	va_start(args, fmt);
	vsnprintf(c->name, sizeof(c->name), fmt, args);
	va_end(args);
	nr_cases++;
	return c;
}

static void run_script(const struct matrix_case *c)
{
	c->script();
}

struct matrix_case *new_script(const char *group, const struct script *script)
{
	struct matrix_case *c = new_case("%s/%s", group, script->name);

	c->run = run_script;
	c->script = script->run;
	return c;
}

void add_scripts(const char *group, const struct script *scripts, int n)
{
	int i;

	for (i = 0; i < n; i++)
		new_script(group, &scripts[i]);
}

static void *shared(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	CHECK(p != MAP_FAILED, "%s", err_name(errno));
	return p;
}

/* --- one case --------------------------------------------------------------------- */

/* In a process of its own: it may hang, and gets rid of what it leaves behind */
static void case_process(const struct matrix_case *c, bool tcp, struct record *to,
			 const struct record *hint)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	standalone();
	if (tcp)
		use_tcp();
	catch_signals();
	record_start(to, hint, c->name);
	c->run(c);
	_exit(0);
}

static void record_case(const struct matrix_case *c, bool tcp, struct record *to,
			const struct record *hint)
{
	struct pollfd ended = { .events = POLLIN };
	int status;
	pid_t pid;

	fflush(NULL);
	pid = MUST(fork());
	if (!pid)
		case_process(c, tcp, to, hint);
	ended.fd = MUST(syscall(SYS_pidfd_open, pid, 0));
	if (!MUST(poll(&ended, 1, hang_seconds() * 1000))) {
		to->hung = true;
		MUST(kill(pid, SIGKILL));
	}
	close(ended.fd);
	MUST(waitpid(pid, &status, 0));
	to->broken = status && !to->hung;
}

static void say(const char *fmt, ...)
{
	size_t used = strlen(said);
	va_list args;

	va_start(args, fmt);
	vsnprintf(said + used, sizeof(said) - used, fmt, args);
	va_end(args);
}

/* At once, since others have something to say, too */
static void speak(void)
{
	MUST(write(STDOUT_FILENO, said, strlen(said)));
	said[0] = 0;
}

static void say_record(const char *whose, const struct record *r)
{
	int i;

	for (i = 0; i < r->n; i++)
		say("#   %s: %s: %s\n", whose, r->line[i].label, r->line[i].value);
}

/* Whether they agree, or differ as intended */
static bool same_line(const char *name, const struct record *tcp, const struct record *rsock, int i)
{
	const char *label = tcp->line[i].label, *a = tcp->line[i].value, *b = rsock->line[i].value;
	int different;

	if (!strcmp(a, b))
		return true;
	different = find_difference(name, label, a, b);
	if (different >= 0) {
		__sync_fetch_and_add(&seen[different], 1);
		return true;
	}
	say("# %s: %s: %s, AF_RSOCK %s\n", name, label, a, b);
	return false;
}

static bool whole(const char *name, const char *whose, const struct record *r)
{
	if (r->hung || r->broken)
		say("# %s: %s: %s\n", name, whose, r->hung ? "hangs" : "is broken");
	return !r->hung && !r->broken;
}

static bool same(const char *name, const struct record *tcp, const struct record *rsock)
{
	bool ok = whole(name, "TCP", tcp) & whole(name, "AF_RSOCK", rsock);
	int i;

	for (i = 0; i < tcp->n && i < rsock->n; i++) {
		if (strcmp(tcp->line[i].label, rsock->line[i].label))
			break;
		ok &= same_line(name, tcp, rsock, i);
	}
	if (i < tcp->n || i < rsock->n) {
		say("# %s: of %d and %d lines the first %d can be compared\n", name, tcp->n,
		    rsock->n, i);
		ok = false;
	}
	return ok;
}

/* With TCP, then with AF_RSOCK, or TCP once more */
static bool run_both(const struct matrix_case *c, struct record *records)
{
	memset(records, 0, 2 * sizeof(*records));
	record_case(c, true, &records[0], NULL);
	record_case(c, is_tcp(), &records[1], &records[0]);
	return same(c->name, &records[0], &records[1]);
}

/*
 * On a busy machine a thread that is about to return may look as if it slept, or
 * a packet come late, to TCP as well. A difference is what is there each time.
 */
static void run_case(int index, struct record *records)
{
	const struct matrix_case *c = &cases[index];
	long long from = now_ms();
	int tries = 5;

	while (!run_both(c, records) && --tries)
		;
	failed[index] = !tries;
	if (verbose) {
		say("# %s: %lld ms\n", c->name, now_ms() - from);
		say_record("TCP", &records[0]);
		say_record("AF_RSOCK", &records[1]);
	}
	speak();
}

/* --- all cases ---------------------------------------------------------------------- */

static bool selected(const char *name, char **patterns)
{
	if (!*patterns)
		return true;
	for (; *patterns; patterns++) {
		if (!fnmatch(*patterns, name, FNM_EXTMATCH))
			return true;
	}
	return false;
}

/* Each of some processes takes the next case that nobody has taken */
static void run_cases(char **patterns)
{
	volatile int *next = shared(sizeof(*next));
	int i, status;

	for (i = 0; i < jobs; i++) {
		if (MUST(fork()))
			continue;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		standalone();
		struct record *records = shared(2 * sizeof(*records));

		while ((i = __sync_fetch_and_add(next, 1)) < nr_cases) {
			if (selected(cases[i].name, patterns))
				run_case(i, records);
		}
		_exit(0);
	}
	for (i = 0; i < jobs; i++) {
		MUST(wait(&status));
		CHECK(!status, "status 0x%x", status);
	}
}

static int group_length(const char *name)
{
	return strcspn(name, "/");
}

static bool same_group(const char *a, const char *b)
{
	return group_length(a) == group_length(b) && !strncmp(a, b, group_length(a));
}

/* The results of the cases from "i" that make a group; the first behind it */
static int report_group(FILE *tap, int i, int *results, char **patterns)
{
	const char *first = cases[i].name;
	int n = 0, bad = 0;

	for (; i < nr_cases && same_group(first, cases[i].name); i++) {
		n += selected(cases[i].name, patterns);
		bad += failed[i];
	}
	if (n)
		fprintf(tap, "%sok %d - %.*s: %d of %d cases\n", bad ? "not " : "", ++*results,
			group_length(first), first, n - bad, n);
	return i;
}

static bool all_differences_seen(void)
{
	bool all = true;
	int i;

	for (i = 0; i < count_differences(); i++) {
		if (!seen[i] && difference_must_occur(i)) {
			all = false;
			printf("# does not occur: ");
			print_difference(i);
		}
	}
	return all;
}

static bool report(char **patterns)
{
	const char *name = getenv("CK_TAP_LOG_FILE_NAME");
	FILE *tap = name ? fopen(name, "w") : stdout;
	int i = 0, results = 0;
	bool ok = true;

	CHECK(tap, "%s: %s", name, err_name(errno));
	while (i < nr_cases)
		i = report_group(tap, i, &results, patterns);
	for (i = 0; i < nr_cases; i++)
		ok &= !failed[i];
	if (!*patterns && !is_tcp()) {
		bool all = all_differences_seen();

		ok &= all;
		fprintf(tap, "%sok %d - all intended differences occur\n", all ? "" : "not ",
			++results);
	}
	fprintf(tap, "1..%d\n", results);
	fclose(tap);
	return ok;
}

static void print_cases(void)
{
	int i;

	for (i = 0; i < nr_cases; i++)
		puts(cases[i].name);
}

static void print_rows(void)
{
	int i;

	for (i = 0; i < count_differences(); i++)
		print_difference(i);
}

/* Whether the argument asks for a list */
static bool print_list(const char *what)
{
	static const struct {
		const char *name;
		void (*print)(void);
	} lists[] = {
		{ "--cases", print_cases },
		{ "--rows", print_rows },
		{ "--differences", print_differences },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(lists); i++) {
		if (!strcmp(what, lists[i].name)) {
			lists[i].print();
			return true;
		}
	}
	return false;
}

static int bad_arguments(void)
{
	fprintf(stderr, "usage: matrix_test [-v] [-j JOBS] [PATTERN ...] | --cases | --differences | --rows\n");
	return 2;
}

static void add_cases(void)
{
	add_product();
	add_waiting();
	add_scripts("names", name_scripts, nr_name_scripts);
	add_scripts("data", data_scripts, nr_data_scripts);
	add_scripts("readiness", ready_scripts, nr_ready_scripts);
	add_scripts("life", life_scripts, nr_life_scripts);
	add_options();
	add_scripts("ioctl", ioctl_scripts, nr_ioctl_scripts);
	add_uring();
}

int main(int argc, char **argv)
{
	int o;

	add_cases();
	if (argc == 2 && print_list(argv[1]))
		return 0;
	while ((o = getopt(argc, argv, "vj:")) != -1) {
		if (o == 'v')
			verbose = true;
		else if (o == 'j')
			jobs = atoi(optarg);
		else
			return bad_arguments();
	}
	standalone();
	failed = shared(sizeof(*failed) * CASES_MAX);
	seen = shared(sizeof(*seen) * DIFFS_MAX);
	CHECK(count_differences() <= DIFFS_MAX, "more than %d differences", DIFFS_MAX);
	run_cases(argv + optind);
	return !report(argv + optind);
}
