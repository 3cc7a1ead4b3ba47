// SPDX-License-Identifier: GPL-2.0
/*
 * Placing by io_uring: many calls are handed over and waited for at a time, and
 * the pages are sent in place (IORING_OP_SENDMSG_ZC).
 */

#include "uring.h"

#include <errno.h>
#include <liburing.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <linux/rsock.h>

/* A call, from when it is made until the kernel is done with its pages */
struct call {
	struct call *next;	/* of those that are free */
	struct msghdr msg;
	struct iovec iov;
	union {
		char buf[CMSG_SPACE(sizeof(uint64_t))];
		struct cmsghdr cmsg;
	} control;
};

static struct io_uring ring;
static struct call *free_calls;
static unsigned int nr_calls, nr_busy;
static int sock = -1;

static int fail(int err)
{
	errno = err;
	return -1;
}

static void set_offset(struct call *c, uint64_t offset)
{
	struct cmsghdr *cmsg = &c->control.cmsg;

	c->msg.msg_control = &c->control;
	c->msg.msg_controllen = sizeof(c->control.buf);
	cmsg->cmsg_level = SOL_RSOCK;
	cmsg->cmsg_type = RSOCK_CMSG_OFFSET;
	cmsg->cmsg_len = CMSG_LEN(sizeof(offset));
	memcpy(CMSG_DATA(cmsg), &offset, sizeof(offset));
}

static uint64_t get_offset(const struct call *c)
{
	uint64_t offset;

	memcpy(&offset, CMSG_DATA(&c->control.cmsg), sizeof(offset));
	return offset;
}

static void put_call(struct call *c)
{
	c->next = free_calls;
	free_calls = c;
	nr_busy--;
}

static void queue(struct call *c)
{
	/* There are as many entries as calls */
	struct io_uring_sqe *sqe = io_uring_get_sqe(&ring);

	io_uring_prep_sendmsg_zc(sqe, sock, &c->msg,
				 MSG_RIOWRITE | MSG_NOSIGNAL);
	io_uring_sqe_set_data(sqe, c);
}

/*
 * A call tells first how much it placed, and, if that is something, once more
 * when the pages are free. What is left then is another call.
 */
static int reap(const struct io_uring_cqe *cqe)
{
	struct call *c = io_uring_cqe_get_data(cqe);
	size_t n = cqe->res;

	if (!(cqe->flags & IORING_CQE_F_NOTIF)) {
		if (cqe->res < 0)
			return fail(-cqe->res);
		c->iov.iov_base = (char *)c->iov.iov_base + n;
		c->iov.iov_len -= n;
		set_offset(c, get_offset(c) + n);
	}
	if (cqe->flags & IORING_CQE_F_MORE)
		return 0;
	if (c->iov.iov_len)
		queue(c);
	else
		put_call(c);
	return 0;
}

/* Hand over what is queued, until so many calls are outstanding at most */
static int wait_busy(unsigned int most)
{
	struct io_uring_cqe *cqe;
	unsigned int head, n;
	int err = 0;

	while (nr_busy > most && !err) {
		/* Each call has two results, the first of them at once */
		err = io_uring_submit_and_wait(&ring, nr_busy - most);
		if (err == -EINTR)
			err = 0;
		if (err < 0)
			return fail(-err);
		n = err = 0;
		io_uring_for_each_cqe(&ring, head, cqe) {
			n++;
			err = reap(cqe);
			if (err)
				break;
		}
		io_uring_cq_advance(&ring, n);
	}
	return err;
}

int uring_open(int fd, unsigned int most)
{
	struct call *calls = calloc(most, sizeof(*calls));
	unsigned int i;
	int err;

	if (!calls)
		return -1;
	err = io_uring_queue_init(most, &ring, IORING_SETUP_SINGLE_ISSUER |
					       IORING_SETUP_DEFER_TASKRUN);
	if (err)
		return fail(-err);
	sock = fd;
	nr_calls = nr_busy = most;
	for (i = 0; i < most; i++)
		put_call(&calls[i]);
	return 0;
}

int uring_place(const void *buf, size_t len, off_t offset)
{
	struct call *c = free_calls;

	free_calls = c->next;
	nr_busy++;
	c->iov.iov_base = (void *)buf;
	c->iov.iov_len = len;
	c->msg.msg_iov = &c->iov;
	c->msg.msg_iovlen = 1;
	set_offset(c, offset);
	queue(c);
	return free_calls ? 0 : wait_busy(nr_calls / 2);
}

int uring_drain(void)
{
	return wait_busy(0);
}
