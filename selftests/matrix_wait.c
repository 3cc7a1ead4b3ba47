// SPDX-License-Identifier: GPL-2.0
/*
 * A thread is blocked in a call when another thread, or the peer, does
 * something: each call with each of what can be done.
 */
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/select.h>

#include "matrix.h"

struct scene {
	struct place p;
	struct addr where;	/* the listener */
};

struct waiter {
	const char *name;
	void (*prepare)(struct scene *s);
	void (*call)(void *arg);
};

struct action {
	const char *name;
	int (*act)(void *arg);
	bool by_peer;		/* it takes a peer */
};

/* --- calls that block ------------------------------------------------------------- */

static void in_state(struct scene *s, const char *state)
{
	s->p = make_state(state);
	fcntl(s->p.fd, F_SETFL, fcntl(s->p.fd, F_GETFL) & ~O_NONBLOCK);
}

static void be_connected(struct scene *s)
{
	in_state(s, "connected");
}

static void be_full(struct scene *s)
{
	struct pair p = open_small_pair(IPV4, 16 * KB);
	struct stream out = { .fd = p.c, .seed = 1 };

	s->p = (struct place) { .fd = p.c, .peer = p.s, .other = -1 };
	send_until_full(&out);
	/* POLLOUT stands for more room than a byte takes. */
	while (send(p.c, "x", 1, MSG_DONTWAIT) > 0)
		;
}

static void be_listening(struct scene *s)
{
	in_state(s, "listening");
	s->where = local_name(s->p.fd);
}

static void be_connecting(struct scene *s)
{
	in_state(s, "connecting");
}

static void wait_recv(void *arg)
{
	struct scene *s = arg;
	char buf[16] = "";
	ssize_t n = TRY("recv", recv(s->p.fd, buf, 16, 0));

	rec_data("data", buf, n);
}

static void wait_recv_all(void *arg)
{
	struct scene *s = arg;
	char buf[16] = "";
	ssize_t n = TRY("recv", recv(s->p.fd, buf, 8, MSG_WAITALL));

	rec_data("data", buf, n);
}

static void wait_peek(void *arg)
{
	struct scene *s = arg;

	TRY("recv", recv(s->p.fd, s, 1, MSG_PEEK));
}

static void wait_send(void *arg)
{
	struct scene *s = arg;
	static char buf[100000];
	ssize_t n;

	in_call = true;
	n = send(s->p.fd, buf, sizeof(buf), 0);
	in_call = false;
	/* If some bytes found room, the next one is told why no more did. */
	if (n > 0 && n < (ssize_t)sizeof(buf) && send(s->p.fd, "x", 1, MSG_DONTWAIT) < 0 &&
	    errno != EAGAIN)
		n = -1;
	rec_result("send", n < 0 ? n : n > 0);
}

static void wait_send_byte(void *arg)
{
	struct scene *s = arg;

	TRY("send", send(s->p.fd, "x", 1, 0));
}

static void wait_accept(void *arg)
{
	struct scene *s = arg;

	TRY("accept", accept(s->p.fd, NULL, NULL) < 0 ? -1 : 0);
}

static void wait_connect(void *arg)
{
	struct scene *s = arg;
	struct addr a = dead_address();

	TRY("connect", connect(s->p.fd, &a.sa, a.len));
}

static void poll_for(struct scene *s, short events)
{
	struct pollfd pfd = { .fd = s->p.fd, .events = events };

	/* There may be more to come, so what it says is looked at once more. */
	TRY("poll", poll(&pfd, 1, -1));
	rec_ready("events", s->p.fd);
}

static void wait_poll_in(void *arg)
{
	poll_for(arg, POLLIN | POLLRDHUP);
}

static void wait_poll_out(void *arg)
{
	poll_for(arg, POLLOUT);
}

static void wait_poll_nothing(void *arg)
{
	poll_for(arg, 0);
}

static void wait_select(void *arg)
{
	struct scene *s = arg;
	fd_set in;

	FD_ZERO(&in);
	FD_SET(s->p.fd, &in);
	TRY("select", select(s->p.fd + 1, &in, NULL, NULL, NULL));
}

static void wait_epoll(void *arg)
{
	struct scene *s = arg;
	struct epoll_event e = { .events = EPOLLIN | EPOLLRDHUP | EPOLLET };
	int ep = MUST(epoll_create1(0));

	MUST(epoll_ctl(ep, EPOLL_CTL_ADD, s->p.fd, &e));
	/* What is there already, as POLLHUP of a new socket */
	epoll_wait(ep, &e, 1, 0);
	TRY("epoll_wait", epoll_wait(ep, &e, 1, -1));
	rec_ready("events", s->p.fd);
}

static void wait_splice(void *arg)
{
	struct scene *s = arg;
	int fd[2];

	MUST(pipe(fd));
	TRY("splice", splice(s->p.fd, NULL, fd[1], NULL, 16, 0));
}

static const struct waiter waiters[] = {
	{ "recv", be_connected, wait_recv },
	{ "recv MSG_WAITALL", be_connected, wait_recv_all },
	{ "recv MSG_PEEK", be_connected, wait_peek },
	{ "splice", be_connected, wait_splice },
	{ "poll POLLIN", be_connected, wait_poll_in },
	{ "poll nothing", be_connected, wait_poll_nothing },
	{ "select", be_connected, wait_select },
	{ "epoll", be_connected, wait_epoll },
	{ "send", be_full, wait_send },
	{ "poll POLLOUT", be_full, wait_poll_out },
	{ "accept", be_listening, wait_accept },
	{ "poll POLLIN, listener", be_listening, wait_poll_in },
	{ "epoll, listener", be_listening, wait_epoll },
	{ "connect", be_connecting, wait_connect },
	{ "send, connecting", be_connecting, wait_send_byte },
	{ "recv, connecting", be_connecting, wait_recv },
	{ "poll POLLOUT, connecting", be_connecting, wait_poll_out },
};

/* --- what ends them, or not ----------------------------------------------------------- */

static int act_shut(void *arg, int how)
{
	struct scene *s = arg;

	return shutdown(s->p.fd, how);
}

static int act_shut_rd(void *arg)
{
	return act_shut(arg, SHUT_RD);
}

static int act_shut_wr(void *arg)
{
	return act_shut(arg, SHUT_WR);
}

static int act_shut_rdwr(void *arg)
{
	return act_shut(arg, SHUT_RDWR);
}

static int act_close(void *arg)
{
	struct scene *s = arg;

	return close(s->p.fd);
}

static int act_disconnect(void *arg)
{
	struct sockaddr none = { .sa_family = AF_UNSPEC };
	struct scene *s = arg;

	return connect(s->p.fd, &none, sizeof(none));
}

static int act_send_some(void *arg)
{
	struct scene *s = arg;

	return send(s->p.peer, "abc", 3, 0);
}

static int act_send_more(void *arg)
{
	struct scene *s = arg;

	return send(s->p.peer, "abcdefgh", 8, 0);
}

static int act_peer_reads(void *arg)
{
	struct scene *s = arg;
	char buf[1000];

	while (recv(s->p.peer, buf, sizeof(buf), MSG_DONTWAIT) > 0)
		;
	return 0;
}

static int act_peer_shut(void *arg)
{
	struct scene *s = arg;

	return shutdown(s->p.peer, SHUT_WR);
}

static int act_peer_close(void *arg)
{
	struct scene *s = arg;

	return close(s->p.peer);
}

static int act_peer_reset(void *arg)
{
	struct scene *s = arg;

	set_linger(s->p.peer, true, 0);
	return act_peer_close(arg);
}

static const struct action actions[] = {
	{ "shutdown RD", act_shut_rd },
	{ "shutdown WR", act_shut_wr },
	{ "shutdown RDWR", act_shut_rdwr },
	{ "close", act_close },
	{ "disconnect", act_disconnect },
	{ "peer sends less", act_send_some, true },
	{ "peer sends all", act_send_more, true },
	{ "peer reads", act_peer_reads, true },
	{ "peer shuts down", act_peer_shut, true },
	{ "peer closes", act_peer_close, true },
	{ "peer resets", act_peer_reset, true },
};

static void run_waiting(const struct matrix_case *c)
{
	struct scene s = { .p = { .fd = -1, .peer = -1, .other = -1 } };

	c->waiter->prepare(&s);
	rec_while_blocked(c->waiter->call, &s, c->action->act);
}

static bool has_peer(const struct waiter *w)
{
	return w->prepare == be_connected || w->prepare == be_full;
}

void add_waiting(void)
{
	struct matrix_case *c;
	size_t w, a;

	for (w = 0; w < ARRAY_SIZE(waiters); w++) {
		for (a = 0; a < ARRAY_SIZE(actions); a++) {
			if (actions[a].by_peer && !has_peer(&waiters[w]))
				continue;
			c = new_case("waiting/%s/%s", waiters[w].name, actions[a].name);
			c->run = run_waiting;
			c->waiter = &waiters[w];
			c->action = &actions[a];
		}
	}
}
