// SPDX-License-Identifier: GPL-2.0
/*
 * Mappings that are held while the device of one of their ends goes away: of
 * user memory and by mmap(), idle, under writes, and while others are made and
 * undone. Both ends are in this process. For the environment see util.h.
 *
 *	iomap_hold FILE		makes FILE when all is mapped
 */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>

#include "iomap_util.h"

#define USER_AT		0
#define USER_LEN	100000UL
#define OWN_AT		(1L << 40)
#define OWN_LEN		(2 * MB + 5 * PAGE)	/* more than one memory region */
#define OWN_SEED	7

enum load { IDLE, WRITES, MAPS, LOADS };

static const char * const load_names[] = { "idle", "writes", "maps" };

/* What one end has mapped, and what it does. */
struct end {
	int fd;
	char *user;
	char *own;
	enum load load;
	struct worker worker;
};

static struct end ends[2 * LOADS];

/* EIO: rxe finds that it cannot send before it is told that it is to go. */
static bool is_end_error(int err)
{
	static const int set[] = {
		ENETDOWN, EPIPE, ECONNRESET, ENOTCONN, ETIMEDOUT, EIO, 0
	};

	return err_in(err, set);
}

/* --- load --------------------------------------------------------------------- */

/* To the lower half of the peer's pages; the upper one stays as it is. */
static void run_writes(void *arg)
{
	struct end *e = arg;
	char *buf = calloc(1, OWN_LEN / 2);

	while (place(e->fd, buf, OWN_LEN / 2, OWN_AT, 0) >= 0)
		;
	CHECK(is_end_error(errno) || errno == ENXIO, "place: %s", err_name(errno));
	free(buf);
}

static void run_maps(void *arg)
{
	struct end *e = arg;
	char *mem = memory(USER_LEN), *own;

	while (riomap(e->fd, mem, USER_LEN, PROT_WRITE, 0, FREE_OFFSET) >= 0) {
		own = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, e->fd, OWN_AT + OWN_LEN);
		if (own == MAP_FAILED)
			break;
		MUST(munmap(own, PAGE));
		MUST(riounmap(e->fd, mem, USER_LEN));
	}
	CHECK(is_end_error(errno), "mapping: %s", err_name(errno));
	MUST(riounmap(e->fd, mem, USER_LEN));
	MUST(munmap(mem, USER_LEN));
}

/* --- before ------------------------------------------------------------------- */

static void map_end(struct end *e, int fd, enum load load)
{
	e->fd = fd;
	e->load = load;
	e->user = memory(USER_LEN + 3) + 3;
	MUST_BE(riomap(fd, e->user, USER_LEN, PROT_WRITE, 0, USER_AT), USER_AT);
	e->own = map_socket(fd, OWN_LEN, OWN_AT);
}

static void fill_peer(int from, int to)
{
	char *buf = malloc(OWN_LEN);

	pattern_fill(buf, OWN_LEN, OWN_SEED, 0);
	sync_to(to, from);
	place_all(from, buf, OWN_LEN, OWN_AT);
	place_all(from, buf, USER_LEN, USER_AT);
	sync_to(from, to);
	free(buf);
}

static void map_pair(struct end *e, enum load load)
{
	struct pair p = open_pair(IPV4);

	map_end(&e[0], p.c, load);
	map_end(&e[1], p.s, load);
	fill_peer(p.c, p.s);
	fill_peer(p.s, p.c);
	if (load != IDLE) {
		start(&e[0].worker, load == MAPS ? run_maps : run_writes, &e[0]);
		start(&e[1].worker, load == MAPS ? run_maps : run_writes, &e[1]);
	}
}

/* --- after -------------------------------------------------------------------- */

static bool is_over(int fd)
{
	return poll_ms(fd, POLLIN, 0) & (POLLERR | POLLHUP);
}

static bool one_is_over(void *arg)
{
	struct end *e = arg;

	return is_over(e[0].fd) || is_over(e[1].fd);
}

/* Nobody waits for the device for ever, so this is without a guard. */
static void wait_removed(void)
{
	while (!one_is_over(&ends[0]))
		sleep_ms(10);
}

/* The mappings have gone with the connection, and no new ones are made. */
static void check_over(struct end *e)
{
	struct rsock_iomap m = { .addr = (uintptr_t)e->user, .len = USER_LEN, .offset = -1 };
	char *buf = memory(PAGE);

	MUST_FAIL(setsockopt(e->fd, SOL_RSOCK, RSOCK_IOUNMAP, &m, sizeof(m)), ENOTCONN);
	MUST_BE(list_maps(e->fd, NULL, 0), 0);
	MUST_FAIL(riomap(e->fd, buf, PAGE, PROT_WRITE, 0, FREE_OFFSET), ENOTCONN);
	CHECK(mmap(NULL, PAGE, PROT_READ, MAP_SHARED, e->fd, 0) == MAP_FAILED &&
	      errno == ENOTCONN, "mmap: %s", err_name(errno));
	while (place(e->fd, buf, 1, OWN_AT, 0) >= 0)
		;
	CHECK(is_end_error(errno), "place: %s", err_name(errno));
	printf("%s: over, placing says %s\n", load_names[e->load], err_name(errno));
	MUST(munmap(buf, PAGE));
}

/* Pages of the socket's are memory like any other, for as long as one likes. */
static void check_own(struct end *e)
{
	size_t from = e->load == WRITES ? OWN_LEN / 2 : 0;

	pattern_check(e->own + from, OWN_LEN - from, OWN_SEED, from);
	pattern_check(e->user, USER_LEN, OWN_SEED, 0);
	memset(e->own + from, 1, OWN_LEN - from);
	must_be_all(e->own + from, OWN_LEN - from, 1);
}

/* Of an end whose device is still there: it lets go, whatever its peer says. */
static void check_pair(struct end *e)
{
	int i;

	CHECK(eventually(one_is_over, e), "no end of it is over");
	for (i = 0; i < 2; i++) {
		if (is_over(e[i].fd))
			check_over(&e[i]);
	}
	for (i = 0; i < 2; i++) {
		MUST(riounmap(e[i].fd, e[i].user, USER_LEN));
		if (e[i].load != IDLE)
			join(&e[i].worker);
		check_own(&e[i]);
	}
}

int main(int argc, char **argv)
{
	size_t i;

	if (argc != 2) {
		fprintf(stderr, "usage: iomap_hold FILE\n");
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	signal(SIGPIPE, SIG_IGN);
	standalone();
	for (i = 0; i < LOADS; i++)
		map_pair(&ends[2 * i], i);
	CHECK((size_t)pinned_kb() * KB >= 2 * LOADS * USER_LEN, "%ld KiB are pinned", pinned_kb());
	MUST(close(MUST(open(argv[1], O_CREAT | O_WRONLY, 0666))));

	wait_removed();
	for (i = 0; i < LOADS; i++)
		check_pair(&ends[2 * i]);
	must_unpin();
	for (i = 0; i < ARRAY_SIZE(ends); i++) {
		MUST(munmap(ends[i].own, OWN_LEN));
		MUST(close(ends[i].fd));
	}
	return 0;
}
