// SPDX-License-Identifier: GPL-2.0
/*
 * Each call in each state, without waiting, waiting, and for some time only; and
 * with IPv6, those for which that may matter, or all if there is time (FULL=1).
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
	struct place p;
	struct job job = { .call = c->call, .p = &p };

	matrix_ip = c->ip;
	p = make_state(c->state->name);
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

static void add_one(const struct state *state, const struct call *call, int mode, int ip)
{
	struct matrix_case *c;

	c = new_case("%s/%s/%s%s%s", state->name, call->name, mode_names[mode],
		     ip == IPV4 ? "" : ", ", ip == IPV4 ? "" : ip_name(ip));
	c->run = run_product;
	c->state = state;
	c->call = call;
	c->mode = mode;
	c->ip = ip;
}

static void add_modes(const struct state *state, const struct call *call)
{
	int mode;

	for (mode = 0; mode < MODES; mode++) {
		if (has_mode(state, call, mode))
			add_one(state, call, mode, IPV4);
	}
	if (call->ip || full_run()) {
		add_one(state, call, NONBLOCKING, IPV6);
		add_one(state, call, NONBLOCKING, MAPPED);
	}
}

void add_product(void)
{
	int s, k;

	for (s = 0; s < nr_states; s++) {
		for (k = 0; k < nr_calls; k++)
			add_modes(&states[s], &calls[k]);
	}
}
