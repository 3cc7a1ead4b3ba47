// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Run a program with librsock-preload: check the rules, tell the library of
 * them by the environment, and become the program.
 */
#include <err.h>
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/rsock.h>

#include "launcher.h"
#include "supervise.h"

#define LIBRARY		"librsock-preload.so"

static const char usage_text[] =
	"usage: rsock-run [-s] [-c FILE] [-v | -l FILE] PROGRAM [ARGUMENT...]\n"
	"\n"
	"Run a program with AF_RSOCK (RDMA) sockets in the place of those of TCP.\n"
	"\n"
	"  -s, --supervise    for programs that LD_PRELOAD does not reach: static ones, those\n"
	"                     written in Go\n"
	"  -c, --config FILE  rules that say which sockets; default: the first of\n"
	"                     ~/.config/rsock-run.conf and /etc/rsock-run.conf that is\n"
	"                     there; else all whose address has an RDMA device\n"
	"  -v, --verbose      say on standard error what each socket became, and why\n"
	"  -l, --log FILE     the same, appended to a file\n"
	"  -h, --help         this text\n"
	"\n"
	"A rule is a line \"direction address port action\", the first that matches counts:\n"
	"\n"
	"  connect  10.0.0.0/8  any        rsock   AF_RSOCK, or the call fails\n"
	"  listen   any         8000-8099  auto    AF_RSOCK if there is an RDMA device\n"
	"  any      fd00::/8    80         tcp     TCP\n"
	"\n"
	"rsock-run(1) tells more.\n";

static void set(const char *name, const char *value)
{
	if (setenv(name, value, 1))
		err(EXIT_OURS, "%s", name);
}

/* The folder of this program, with a slash */
static void own_folder(char *path, size_t size)
{
	ssize_t len = readlink("/proc/self/exe", path, size - 1);

	if (len < 0)
		err(EXIT_OURS, "/proc/self/exe: mount /proc");
	path[len] = '\0';
	strrchr(path, '/')[1] = '\0';
	if (strpbrk(path, " :"))
		errx(EXIT_OURS, "%s: LD_PRELOAD takes no names with blanks or colons; move it elsewhere",
		     path);
}

/* Next to this program, or in the lib next to its bin */
static void set_library(void)
{
	const char *others = getenv("LD_PRELOAD");
	char folder[PATH_MAX], *path, *preload;

	own_folder(folder, sizeof(folder));
	if (asprintf(&path, "%s" LIBRARY, folder) < 0)
		err(EXIT_OURS, LIBRARY);
	if (access(path, R_OK) && asprintf(&path, "%s../lib/" LIBRARY, folder) < 0)
		err(EXIT_OURS, LIBRARY);
	if (access(path, R_OK))
		errx(EXIT_OURS, "no %s in %s or in ../lib from there; build or install both",
		     LIBRARY, folder);
	if (asprintf(&preload, "%s%s%s", path, others ? ":" : "", others ? others : "") < 0)
		err(EXIT_OURS, "LD_PRELOAD");
	set("LD_PRELOAD", preload);
}

/* The file may be named from where we are, but the program may go elsewhere */
static void set_log(const char *file)
{
	char dir[PATH_MAX], path[2 * PATH_MAX];
	FILE *test = fopen(file, "ae");

	if (!test)
		err(EXIT_OURS, "%s: cannot be written; give another file with -l", file);
	fclose(test);
	if (*file == '/' || !getcwd(dir, sizeof(dir)))
		strcpy(dir, "");
	snprintf(path, sizeof(path), "%s%s%s", dir, *dir ? "/" : "", file);
	set("RSOCK_RUN_LOG", path);
}

static void warn_without_module(void)
{
	int fd = socket(AF_INET, SOCK_STREAM, IPPROTO_RSOCK);

	if (fd >= 0)
		close(fd);
	else if (errno == EPROTONOSUPPORT)
		warnx("the module rsock is not loaded (\"modprobe rsock\" as root): where a rule says auto, TCP is used");
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "supervise", no_argument, NULL, 's' },
		{ "config", required_argument, NULL, 'c' },
		{ "verbose", no_argument, NULL, 'v' },
		{ "log", required_argument, NULL, 'l' },
		{ "help", no_argument, NULL, 'h' },
		{ }
	};
	const char *config = NULL;
	bool by_supervisor = false;
	int option;

	while ((option = getopt_long(argc, argv, "+sc:vl:h", options, NULL)) >= 0) {
		switch (option) {
		case 's':
			by_supervisor = true;
			break;
		case 'c':
			config = optarg;
			break;
		case 'v':
			set("RSOCK_RUN_LOG", "stderr");
			break;
		case 'l':
			set_log(optarg);
			break;
		case 'h':
			fputs(usage_text, stdout);
			return 0;
		default:
			fputs("Try rsock-run --help.\n", stderr);
			return EXIT_OURS;
		}
	}
	if (optind == argc) {
		fputs(usage_text, stderr);
		return EXIT_OURS;
	}
	config = config ? config : file_default();
	if (config)
		set("RSOCK_RUN_RULES", file_read(config));
	warn_without_module();
	if (by_supervisor) {
		supervise();
	} else {
		program_check(argv[optind]);
		set_library();
	}
	execvp(argv[optind], argv + optind);
	err(errno == ENOENT ? EXIT_NONE : EXIT_CANNOT, "%s", argv[optind]);
}
