// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * No descriptor of ours stays open: programs close what they do not know, and
 * put sockets and files in the place of standard error.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "preload.h"

static int told_pid;

void log_as(int pid)
{
	told_pid = pid;
}

bool log_wanted(void)
{
	return config()->log != LOG_NONE;
}

/* Standard error, if it is still what it was; -1 if there is no log */
static int log_open(const struct config *c)
{
	struct stat st;

	if (c->log == LOG_FILE)
		return open(c->log_file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC,
			    0666);
	if (c->log == LOG_STDERR && !fstat(STDERR_FILENO, &st) &&
	    st.st_ino == c->stderr_inode)
		return STDERR_FILENO;
	return -1;
}

/* What nobody takes is lost: a supervisor must not wait for its program */
static bool log_takes(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLOUT };

	return !told_pid || (poll(&p, 1, 0) == 1 && p.revents == POLLOUT);
}

void log_line(const char *fmt, ...)
{
	const struct config *c = config();
	char text[512];
	int fd, len, err = errno;
	va_list args;

	fd = log_open(c);
	if (fd < 0) {
		errno = err;
		return;
	}
	len = snprintf(text, sizeof(text), "rsock-run[%d] ", told_pid ? told_pid : (int)getpid());
	va_start(args, fmt);
	len += vsnprintf(text + len, sizeof(text) - len, fmt, args);
	va_end(args);
	if (len > (int)sizeof(text) - 1)
		len = sizeof(text) - 1;
	text[len++] = '\n';
	if (log_takes(fd) && write(fd, text, len) < 0)
		len = 0;
	if (c->log == LOG_FILE)
		close(fd);
	errno = err;
}
