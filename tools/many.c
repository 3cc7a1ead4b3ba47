// SPDX-License-Identifier: GPL-2.0
/*
 * Many connections: requests and answers on all of them at a time, by one
 * process at each end that waits for whichever is next; or one connection after
 * the other, made and closed.
 */

#include "rsockperf.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>

/* A connection at either end: a message is in the making */
struct conn {
	int fd;
	size_t got;
};

/*
 * Who is ready: by epoll, which takes the same time for any number of them, or,
 * where there is none, by poll.
 */
struct waiter {
	int epoll;
	struct epoll_event *events;
	struct pollfd *polled;
	struct conn *conns;
	size_t nr;
};

static void waiter_open(struct waiter *w, struct conn *conns, size_t nr)
{
	size_t i;

	*w = (struct waiter){ .epoll = -1, .conns = conns, .nr = nr };
	if (t->poll != poll) {
		w->polled = alloc(nr * sizeof(*w->polled));
		for (i = 0; i < nr; i++) {
			w->polled[i].fd = conns[i].fd;
			w->polled[i].events = POLLIN;
		}
		return;
	}
	w->events = alloc(nr * sizeof(*w->events));
	w->epoll = epoll_create1(0);
	for (i = 0; i < nr; i++) {
		struct epoll_event e = {
			.events = EPOLLIN, .data.ptr = &conns[i]
		};

		if (epoll_ctl(w->epoll, EPOLL_CTL_ADD, conns[i].fd, &e))
			die("epoll");
	}
}

/* The next that are ready, in place of the former ones. Returns how many. */
static size_t waiter_wait(struct waiter *w, struct conn **ready)
{
	size_t i, nr = 0;
	int n;

	if (w->epoll >= 0) {
		n = epoll_wait(w->epoll, w->events, w->nr, -1);
		if (n <= 0)
			die("epoll");
		for (i = 0; i < (size_t)n; i++)
			ready[nr++] = w->events[i].data.ptr;
		return nr;
	}
	if (t->poll(w->polled, w->nr, -1) <= 0)
		die("poll");
	for (i = 0; i < w->nr; i++)
		if (w->polled[i].revents)
			ready[nr++] = &w->conns[i];
	return nr;
}

static void close_all(struct conn *conns, size_t nr)
{
	while (nr)
		t->close(conns[--nr].fd);
}

/* When the client has, since it has all of its answers then */
static void close_after(struct conn *conns, size_t nr)
{
	size_t i;
	char end;

	for (i = 0; i < nr; i++)
		(void)!t->recv(conns[i].fd, &end, 1, 0);
	close_all(conns, nr);
}

/* Receive what there is of a message. Returns whether it is whole. */
static bool receive(struct conn *c, char *buf, size_t size)
{
	ssize_t n = t->recv(c->fd, buf, size - c->got, MSG_DONTWAIT);

	if (n < 0 && errno == EAGAIN)
		return false;
	if (!n)
		errno = EPIPE;
	if (n <= 0)
		die("receive");
	c->got += n;
	if (c->got < size)
		return false;
	c->got = 0;
	return true;
}

/* Exchange messages until so many have come, each of which is answered if asked */
static void exchange(struct conn *conns, const struct header *h, uint64_t answers)
{
	struct conn **ready = alloc(h->conns * sizeof(*ready));
	char *buf = alloc(h->size);
	uint64_t got = 0;
	struct waiter w;
	size_t i, n;

	waiter_open(&w, conns, h->conns);
	while (got < h->count) {
		n = waiter_wait(&w, ready);
		for (i = 0; i < n; i++) {
			if (!receive(ready[i], buf, h->size))
				continue;
			got++;
			if (answers) {
				answers--;
				send_all(ready[i]->fd, buf, h->size);
			}
		}
	}
}

static struct conn *open_all(int first, const struct header *h)
{
	struct conn *conns = alloc(h->conns * sizeof(*conns));

	conns[0].fd = first;
	return conns;
}

/**
 * serve_requests() - answer each message by another
 * @lfd: listens
 * @fd: the first connection; the others are still to come
 * @h: what the client wants
 */
void serve_requests(int lfd, int fd, const struct header *h)
{
	struct conn *conns = open_all(fd, h);
	size_t i;

	for (i = 1; i < h->conns; i++) {
		conns[i].fd = t->accept(lfd, NULL, NULL);
		if (conns[i].fd < 0)
			die("accept");
	}
	send_all(fd, &h->magic, sizeof(h->magic));
	exchange(conns, h, h->count);
	close_after(conns + 1, h->conns - 1);
}

static void report_requests(const struct header *h, double secs, double cpu)
{
	printf(json ?
	       "{\"family\": \"%s\", \"mode\": \"requests\", \"size\": %ju, \"connections\": %ju, "
	       "\"requests\": %ju, \"seconds\": %.6f, \"rate\": %.1f, \"us_per_request\": %.2f}\n" :
	       "%s: %ju bytes there and back, %ju connections, %ju requests in %.3f s: %.1f/s; CPU time of the client, us for each: %.2f\n",
	       t->name, (uintmax_t)h->size, (uintmax_t)h->conns,
	       (uintmax_t)h->count, secs, h->count / secs, cpu * 1e6 / h->count);
}

/**
 * send_requests() - have one request on its way on each connection
 * @fd: the first connection
 * @h: how many connections, and requests in all
 * @new: makes the others
 * @to: whom to connect them to
 */
void send_requests(int fd, const struct header *h, connect_fn new, const void *to)
{
	struct conn *conns = open_all(fd, h);
	char *buf = alloc(h->size);
	double secs, cpu;
	uint64_t magic;
	size_t i;

	for (i = 1; i < h->conns; i++)
		conns[i].fd = new(to);
	recv_all(fd, &magic, sizeof(magic));
	if (held)
		raise(SIGSTOP);
	secs = -now();
	cpu = -cpu_time();
	for (i = 0; i < h->conns; i++)
		send_all(conns[i].fd, buf, h->size);
	exchange(conns, h, h->count - h->conns);
	secs += now();
	cpu += cpu_time();
	report_requests(h, secs, cpu);
	close_all(conns + 1, h->conns - 1);
}

/**
 * serve_connects() - accept connections, and close them after the client
 * @lfd: listens
 * @h: how many
 */
void serve_connects(int lfd, const struct header *h)
{
	uint64_t i;
	char end;
	int fd;

	for (i = 0; i < h->count; i++) {
		fd = t->accept(lfd, NULL, NULL);
		if (fd < 0)
			die("accept");
		(void)!t->recv(fd, &end, 1, 0);
		t->close(fd);
	}
}

/**
 * make_connects() - connect and close, again and again
 * @h: how often
 * @new: makes a connection
 * @to: whom to
 */
void make_connects(const struct header *h, connect_fn new, const void *to)
{
	double secs = -now();
	uint64_t i;

	for (i = 0; i < h->count; i++)
		t->close(new(to));
	secs += now();
	printf(json ?
	       "{\"family\": \"%s\", \"mode\": \"connects\", \"connections\": %ju, \"seconds\": %.6f, \"rate\": %.1f}\n" :
	       "%s: %ju connections, made and closed one after the other, in %.3f s: %.1f/s\n",
	       t->name, (uintmax_t)h->count, secs, h->count / secs);
}
