// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What is registered with an epoll, as the kernel tells it (/proc/PID/fdinfo).
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "preload.h"

/* The number that follows a label in a line of fdinfo */
static bool field(const char *line, const char *label, int base, uint64_t *value)
{
	const char *at = strstr(line, label);

	if (at)
		*value = strtoull(at + strlen(label), NULL, base);
	return at;
}

/* A line is about the file with this number and inode */
static bool line_matches(const char *line, int fd, uint64_t inode,
			 struct epoll_event *event)
{
	uint64_t tfd, ino, events, data;

	if (!field(line, "tfd:", 10, &tfd) || tfd != (uint64_t)fd ||
	    !field(line, "ino:", 16, &ino) || ino != inode ||
	    !field(line, "events:", 16, &events) ||
	    !field(line, "data:", 16, &data))
		return false;
	event->events = events;
	event->data.u64 = data;
	return true;
}

/* The text may be long */
bool fdinfo_find(int info, int fd, uint64_t inode, struct epoll_event *event)
{
	char buf[4097];
	size_t used = 0;
	ssize_t n;

	while ((n = read(info, buf + used, sizeof(buf) - 1 - used)) > 0) {
		char *line = buf, *end;

		used += n;
		buf[used] = '\0';
		while ((end = strchr(line, '\n'))) {
			*end = '\0';
			if (line_matches(line, fd, inode, event))
				return true;
			line = end + 1;
		}
		used -= line - buf;
		memmove(buf, line, used);
	}
	return false;
}
