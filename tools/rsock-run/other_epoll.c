// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * As epoll.c, for a program that is stopped. Which of its descriptors are of
 * epoll nobody has noted, so all are looked at.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "other.h"
#include "preload.h"

static struct {
	int pid;
	int fd;
} stopped;

void other_epoll(int pid, int fd)
{
	stopped.pid = pid;
	stopped.fd = fd;
}

static bool is_epoll(int dir, const char *name)
{
	static const char epoll[] = "anon_inode:[eventpoll]";
	char target[sizeof(epoll)];

	return readlinkat(dir, name, target, sizeof(target)) == sizeof(epoll) - 1 &&
	       !memcmp(target, epoll, sizeof(epoll) - 1);
}

static bool registered(int epfd, uint64_t inode, struct epoll_event *event)
{
	char path[64];
	bool found;
	int info;

	snprintf(path, sizeof(path), "/proc/%d/fdinfo/%d", stopped.pid, epfd);
	info = open(path, O_RDONLY | O_CLOEXEC);
	if (info < 0)
		return false;
	found = fdinfo_find(info, stopped.fd, inode, event);
	close(info);
	return found;
}

static void find_all(DIR *dir, uint64_t inode, struct registrations *regs)
{
	struct dirent *entry;

	while (regs->n < REGISTRATIONS_MAX && (entry = readdir(dir))) {
		int epfd = atoi(entry->d_name);

		if (!is_epoll(dirfd(dir), entry->d_name))
			continue;
		regs->of[regs->n].epfd = epfd;
		regs->n += registered(epfd, inode, &regs->of[regs->n].event);
	}
}

void epoll_save(int fd, struct registrations *regs)
{
	struct stat st;
	char path[64];
	DIR *dir;

	regs->n = 0;
	snprintf(path, sizeof(path), "/proc/%d/fd", stopped.pid);
	dir = opendir(path);
	if (!dir)
		return;
	if (!fstat(fd, &st))
		find_all(dir, st.st_ino, regs);
	closedir(dir);
}

/*
 * Epoll knows a socket by its file and its number, and the program will name it
 * by the number that it has there. Here that may be in use: so a child does it.
 */
static bool add(int epfd, int sock, struct epoll_event event)
{
	int child = fork(), status = -1;

	if (!child) {
		if (epfd == stopped.fd)
			epfd = dup(epfd);
		dup2(sock, stopped.fd);
		_exit(!!epoll_ctl(epfd, EPOLL_CTL_ADD, stopped.fd, &event));
	}
	return child > 0 && waitpid(child, &status, 0) == child && !status;
}

void epoll_restore(int fd, const struct registrations *regs)
{
	int i;

	for (i = 0; i < regs->n; i++) {
		int epfd = other_fd(other_field(stopped.pid, "status", "Tgid:", 10),
				    regs->of[i].epfd);

		if (epfd < 0 || !add(epfd, fd, regs->of[i].event))
			log_line("fd %d: cannot be registered with epoll again", stopped.fd);
		close(epfd);
	}
}
