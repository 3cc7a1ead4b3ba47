// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launcher.h"
#include "rules.h"

#define SYSTEM_FILE	"/etc/rsock-run.conf"

const char *file_default(void)
{
	const char *dir = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
	static char path[4096];

	if (dir && *dir)
		snprintf(path, sizeof(path), "%s/rsock-run.conf", dir);
	else
		snprintf(path, sizeof(path), "%s/.config/rsock-run.conf",
			 home ? home : "");
	if (!access(path, F_OK))
		return path;
	return access(SYSTEM_FILE, F_OK) ? NULL : SYSTEM_FILE;
}

/* The rule of a line, without comment; 0 if there is none */
static size_t rule_length(const char *line)
{
	size_t len = strcspn(line, "#\n");

	return strspn(line, " \t\r") < len ? len : 0;
}

char *file_read(const char *path)
{
	size_t size = 0, text_size;
	int number, rules = 0;
	const char *wrong;
	char *line = NULL, *text;
	struct rule rule;
	FILE *file, *out;

	file = fopen(path, "re");
	if (!file)
		err(EXIT_OURS, "%s: cannot be read; give another file with -c", path);
	out = open_memstream(&text, &text_size);
	if (!out)
		err(EXIT_OURS, "%s", path);
	for (number = 1; getline(&line, &size, file) >= 0; number++) {
		size_t len = rule_length(line);

		if (!len)
			continue;
		wrong = rule_parse(&rule, line, len);
		if (wrong)
			errx(EXIT_OURS, "%s:%d: %s\n\t%.*s", path, number, wrong,
			     (int)len, line);
		if (++rules > RULES_MAX)
			errx(EXIT_OURS, "%s:%d: more than %d rules; join some of them",
			     path, number, RULES_MAX);
		fprintf(out, "%.*s\n", (int)len, line);
	}
	if (ferror(file))
		err(EXIT_OURS, "%s", path);
	if (fclose(out))
		err(EXIT_OURS, "%s", path);
	fclose(file);
	free(line);
	return text;
}
