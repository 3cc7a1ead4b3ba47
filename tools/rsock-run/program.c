// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What a program must be for LD_PRELOAD to reach it: else it would run without
 * RDMA, and nobody would know.
 */
#include <elf.h>
#include <err.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher.h"

/* Where execvp() would find it; NULL if nowhere */
static const char *find(const char *name)
{
	const char *path = getenv("PATH"), *end;
	static char full[PATH_MAX];

	if (strchr(name, '/'))
		return name;
	for (path = path ? path : "/bin:/usr/bin"; *path; path = end + !!*end) {
		end = path + strcspn(path, ":");
		snprintf(full, sizeof(full), "%.*s/%s", (int)(end - path), path, name);
		if (!access(full, X_OK))
			return full;
	}
	return NULL;
}

static bool has_interpreter(FILE *file, const Elf64_Ehdr *e)
{
	Elf64_Phdr p;
	int i;

	for (i = 0; i < e->e_phnum; i++) {
		if (fseek(file, e->e_phoff + (long)i * e->e_phentsize, SEEK_SET) ||
		    fread(&p, sizeof(p), 1, file) != 1)
			return false;
		if (p.p_type == PT_INTERP)
			return true;
	}
	return false;
}

/* What is no ELF file is a script: its interpreter is reached, or is not */
static void check_elf(const char *path)
{
	FILE *file = fopen(path, "re");
	Elf64_Ehdr e;

	if (!file)
		return;
	if (fread(&e, sizeof(e), 1, file) == 1 && !memcmp(e.e_ident, ELFMAG, SELFMAG)) {
		if (e.e_ident[EI_CLASS] != ELFCLASS64)
			errx(EXIT_CANNOT, "%s is a 32-bit program; only those of 64 bits can be run",
			     path);
		if (!has_interpreter(file, &e))
			errx(EXIT_CANNOT,
			     "%s is statically linked, so that LD_PRELOAD is ignored; run it with rsock-run -s",
			     path);
	}
	fclose(file);
}

static void check_set_id(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return;
	if ((st.st_mode & S_ISUID && st.st_uid != getuid()) ||
	    (st.st_mode & S_ISGID && st.st_mode & 0010 && st.st_gid != getgid()))
		errx(EXIT_CANNOT,
		     "%s is set-user-ID or set-group-ID, so that LD_PRELOAD is ignored; run it as the user that it becomes",
		     path);
}

void program_check(const char *name)
{
	const char *path = find(name);

	if (!path)
		errx(EXIT_NONE, "%s: no such program in PATH", name);
	check_set_id(path);
	check_elf(path);
}
