// SPDX-License-Identifier: GPL-2.0
/*
 * Exercise a file in random ways, and compare it with what it should be: what
 * fsx does, in short.
 *
 * usage: nfs_file [-n OPERATIONS] [-u STOP] [-s SEED] [-l BYTES] FILE
 *
 *   -n   so many operations (default 1000)
 *   -u   go on until there is a file of this name, however many that takes
 *   -s   of the random numbers (default 1)
 *   -l   the longest that the file gets (default 256 KiB)
 */

#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MAX_IO	(64 * 1024)

static const char *path;
static unsigned char *good;	/* what the file has */
static size_t size, limit = 256 * 1024;
static int fd;

static size_t random_below(size_t n)
{
	return n ? (size_t)random() % n : 0;
}

static void compare(const char *how, const unsigned char *got, size_t at,
		    size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (got[i] != good[at + i])
			errx(1, "%s of %zu bytes at %zu: byte %zu is %#x, not %#x",
			     how, len, at, at + i, got[i], good[at + i]);
}

/* A part of the file that is there */
static size_t random_part(size_t *at)
{
	*at = random_below(size);
	return random_below(size - *at < MAX_IO ? size - *at : MAX_IO) + 1;
}

static void do_read(void)
{
	static unsigned char buf[MAX_IO];
	size_t at, len;
	ssize_t n;

	if (!size)
		return;
	len = random_part(&at);
	n = pread(fd, buf, len, at);
	if (n != (ssize_t)len)
		err(1, "pread of %zu at %zu: %zd", len, at, n);
	compare("read", buf, at, len);
}

static void fill(size_t at, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		good[at + i] = random();
}

static void do_write(void)
{
	size_t at = random_below(limit - 1), len = random_below(MAX_IO) + 1;
	ssize_t n;

	if (len > limit - at)
		len = limit - at;
	fill(at, len);
	n = pwrite(fd, good + at, len, at);
	if (n != (ssize_t)len)
		err(1, "pwrite of %zu at %zu: %zd", len, at, n);
	if (at + len > size)
		size = at + len;
}

static void do_map(void)
{
	size_t at, len, page = getpagesize(), skip;
	unsigned char *map;

	if (!size)
		return;
	len = random_part(&at);
	skip = at % page;
	map = mmap(NULL, skip + len, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		   at - skip);
	if (map == MAP_FAILED)
		err(1, "mmap");
	compare("mapping", map + skip, at, len);
	if (random() & 1) {
		fill(at, len);
		memcpy(map + skip, good + at, len);
	}
	if (munmap(map, skip + len))
		err(1, "munmap");
}

static void do_truncate(void)
{
	size_t len = random_below(limit);

	if (ftruncate(fd, len))
		err(1, "ftruncate to %zu", len);
	if (len < size)
		memset(good + len, 0, size - len);
	size = len;
}

static void do_sync(void)
{
	if (fsync(fd))
		err(1, "fsync");
}

static void do_reopen(void)
{
	if (close(fd))
		err(1, "close");
	fd = open(path, O_RDWR);
	if (fd < 0)
		err(1, "open %s", path);
}

/* From the server, not from the cache */
static void do_direct(void)
{
	int flags = fcntl(fd, F_GETFL);
	static unsigned char *buf;
	size_t at, len;

	if (!buf && posix_memalign((void **)&buf, 4096, MAX_IO))
		errx(1, "no memory");
	do_sync();
	if (!size || fcntl(fd, F_SETFL, flags | O_DIRECT))
		return;
	at = random_below(size) & ~4095UL;
	len = size - at < MAX_IO ? size - at : MAX_IO;
	if (pread(fd, buf, MAX_IO, at) < (ssize_t)len)
		err(1, "direct read of %zu at %zu", len, at);
	compare("direct read", buf, at, len);
	fcntl(fd, F_SETFL, flags);
}

static void do_something(void)
{
	static void (*const what[])(void) = {
		do_read, do_read, do_read, do_read, do_write, do_write,
		do_write, do_write, do_map, do_map, do_truncate, do_sync,
		do_reopen, do_direct,
	};

	what[random_below(sizeof(what) / sizeof(*what))]();
}

static void check_all(void)
{
	unsigned char *buf = malloc(limit + 1);
	ssize_t n = buf ? pread(fd, buf, limit + 1, 0) : -1;

	if (n != (ssize_t)size)
		err(1, "the file has %zd bytes, not %zu", n, size);
	compare("file", buf, 0, size);
	free(buf);
}

int main(int argc, char **argv)
{
	const char *until = NULL;
	long ops = 1000, done;
	int opt;

	while ((opt = getopt(argc, argv, "n:u:s:l:")) != -1) {
		switch (opt) {
		case 'n':
			ops = atol(optarg);
			break;
		case 'u':
			until = optarg;
			break;
		case 's':
			srandom(atol(optarg));
			break;
		case 'l':
			limit = atol(optarg);
			break;
		default:
			errx(2, "see the head of %s", __FILE__);
		}
	}
	if (optind + 1 != argc || limit < 2)
		errx(2, "usage: nfs_file [options] FILE");
	path = argv[optind];
	good = calloc(1, limit);
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (!good || fd < 0)
		err(1, "%s", path);
	for (done = 0; until ? access(until, F_OK) : done < ops; done++)
		do_something();
	do_reopen();
	check_all();
	printf("%ld operations\n", done);
	return 0;
}
