// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A program may have registered a TCP socket with epoll before it binds or
 * connects it. The registration ends when another socket takes its place, so
 * it is made anew. The kernel is asked for it (/proc/self/fdinfo); noted is
 * only which descriptors of epoll have ever been used this way, as most
 * programs do it never.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "preload.h"

#define FDS_MAX		(1 << 20)
#define BITS		64

static uint64_t noted[FDS_MAX / BITS];
static int words_used;

void epoll_note(int epfd)
{
	int word = epfd / BITS, used;

	if (epfd >= FDS_MAX)
		return;
	__atomic_fetch_or(&noted[word], 1ULL << epfd % BITS, __ATOMIC_RELAXED);
	used = __atomic_load_n(&words_used, __ATOMIC_RELAXED);
	while (used <= word &&
	       !__atomic_compare_exchange_n(&words_used, &used, word + 1, false,
					    __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		;
}

static void forget(int epfd)
{
	__atomic_fetch_and(&noted[epfd / BITS], ~(1ULL << epfd % BITS),
			   __ATOMIC_RELAXED);
}

static bool registered(int epfd, int fd, struct epoll_event *event)
{
	struct stat st;
	char path[40];
	bool found;
	int info;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", epfd);
	info = open(path, O_RDONLY | O_CLOEXEC);
	if (info < 0) {
		if (errno == ENOENT)
			forget(epfd);
		return false;
	}
	found = !fstat(fd, &st) && fdinfo_find(info, fd, st.st_ino, event);
	close(info);
	return found;
}

void epoll_save(int fd, struct registrations *regs)
{
	int word, words = __atomic_load_n(&words_used, __ATOMIC_ACQUIRE);

	regs->n = 0;
	for (word = 0; word < words; word++) {
		uint64_t bits = __atomic_load_n(&noted[word], __ATOMIC_RELAXED);

		for (; bits && regs->n < REGISTRATIONS_MAX; bits &= bits - 1) {
			int epfd = word * BITS + __builtin_ctzll(bits);

			regs->of[regs->n].epfd = epfd;
			regs->n += registered(epfd, fd, &regs->of[regs->n].event);
		}
	}
}

void epoll_restore(int fd, const struct registrations *regs)
{
	struct epoll_event event;
	int i;

	for (i = 0; i < regs->n; i++) {
		event = regs->of[i].event;
		if (real_epoll_ctl(regs->of[i].epfd, EPOLL_CTL_ADD, fd, &event))
			log_line("fd %d: cannot be registered with epoll again", fd);
	}
}
