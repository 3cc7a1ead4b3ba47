// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What the kernel lets us see and have of another process.
 */
#include "other.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

long other_field(int pid, const char *name, const char *label, int base)
{
	char path[64], line[256];
	long value = -1;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	file = fopen(path, "re");
	if (!file)
		return -1;
	while (value < 0 && fgets(line, sizeof(line), file))
		if (!strncmp(line, label, strlen(label)))
			value = strtol(line + strlen(label), NULL, base);
	fclose(file);
	return value;
}

int other_fd(int pid, int fd)
{
	int pidfd = syscall(SYS_pidfd_open, pid, 0), copy;

	if (pidfd < 0)
		return -1;
	copy = syscall(SYS_pidfd_getfd, pidfd, fd, 0);
	close(pidfd);
	return copy;
}
