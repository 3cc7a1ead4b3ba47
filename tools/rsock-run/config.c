// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The environment is read once: before main(), unless a call comes first. Who
 * is first with a complete copy wins, so that nobody waits for anybody.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "preload.h"

/* In force if there is no memory for more: nothing is touched */
static const struct config nothing = {
	.broken = true,
};

static const struct config *current;

static void read_log(struct config *c)
{
	const char *where = getenv("RSOCK_RUN_LOG");
	struct stat st;

	if (!where || !*where)
		return;
	if (!strcmp(where, "stderr")) {
		if (fstat(STDERR_FILENO, &st) || S_ISSOCK(st.st_mode))
			return;
		c->log = LOG_STDERR;
		c->stderr_inode = st.st_ino;
	} else if (strlen(where) < sizeof(c->log_file)) {
		c->log = LOG_FILE;
		strcpy(c->log_file, where);
	}
}

static void read_rules(struct config *c)
{
	static const char text[] =
		"rsock-run: RSOCK_RUN_RULES makes no sense, all sockets stay as they are\n";
	const char *rules = getenv("RSOCK_RUN_RULES");

	if (!rules || rules_parse(&c->rules, rules))
		return;
	c->broken = true;
	if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
		return;
}

const struct config *config(void)
{
	const struct config *known = __atomic_load_n(&current, __ATOMIC_ACQUIRE);
	struct config *c;

	if (known)
		return known;
	c = mmap(NULL, sizeof(*c), PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (c == MAP_FAILED)
		return &nothing;
	read_log(c);
	read_rules(c);
	if (__atomic_compare_exchange_n(&current, &known, c, false,
					__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return c;
	munmap(c, sizeof(*c));
	return known;
}
