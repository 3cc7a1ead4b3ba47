// SPDX-License-Identifier: GPL-2.0
/*
 * Each call in each state, without waiting, waiting, and for some time only.
 */
#include <fcntl.h>

#include "matrix.h"

enum { NONBLOCKING, BLOCKING, TIMED, MODES };

static const char * const mode_names[] = { "nonblocking", "blocking", "timed" };

/* The descriptor may be a closed one */
static void set_mode(int fd, int mode)
{
	struct timeval tv = { .tv_usec = 30000 };
	int flags = fcntl(fd, F_GETFL);

	fcntl(fd, F_SETFL, mode == NONBLOCKING ? flags | O_NONBLOCK : flags & ~O_NONBLOCK);
	if (mode != TIMED)
		return;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof(tv));
}

struct job {
	const struct call *call;
	struct place *p;
};

static void do_job(void *arg)
{
	struct job *job = arg;

	job->call->make(job->p);
}

static void aftermath(const struct place *p)
{
	rec_ready("after", p->fd);
	rec_error(p->fd);
	rec_ready("at last", p->fd);
	if (p->peer >= 0)
		rec_ready("peer", p->peer);
}

static void run_product(const struct matrix_case *c)
{
	struct place p = make_state(c->state->name);
	struct job job = { .call = c->call, .p = &p };

	rec_ready("before", p.fd);
	set_mode(p.fd, c->mode);
	if (c->mode == BLOCKING)
		rec_blocking(do_job, &job, c->call->patience);
	else
		do_job(&job);
	aftermath(&p);
}

static bool has_mode(const struct state *state, const struct call *call, int mode)
{
	switch (mode) {
	case BLOCKING:
		return call->waits;
	case TIMED:
		/* A connection takes as long as it does. */
		return call->waits && state->waits && !call->patience;
	}
	return true;
}

void add_product(void)
{
	struct matrix_case *c;
	int s, k, mode;

	for (s = 0; s < nr_states; s++) {
		for (k = 0; k < nr_calls; k++) {
			for (mode = 0; mode < MODES; mode++) {
				if (!has_mode(&states[s], &calls[k], mode))
					continue;
				c = new_case("%s/%s/%s", states[s].name, calls[k].name,
					     mode_names[mode]);
				c->run = run_product;
				c->state = &states[s];
				c->call = &calls[k];
				c->mode = mode;
			}
		}
	}
}
