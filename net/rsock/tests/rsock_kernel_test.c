// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of AF_RSOCK for users in the kernel (include/net/rsock.h). They run
 * when the module is loaded, between sockets at the address that it is given,
 * and are told in the kernel's log as TAP, each line after "rsock_kernel_test: ".
 */

#include <linux/bvec.h>
#include <linux/delay.h>
#include <linux/in.h>
#include <linux/inet.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/net.h>
#include <linux/nsproxy.h>
#include <linux/slab.h>
#include <linux/timer.h>
#include <linux/vmalloc.h>
#include <net/rsock.h>
#include <net/sock.h>
#include <net/tcp_states.h>

#define TEST_PORT	7471
#define TEST_TIMEOUT	(20 * HZ)
#define TEST_PAGES	16

static char *addr = "10.9.0.1";
module_param(addr, charp, 0444);
MODULE_PARM_DESC(addr, "IPv4 address of an RDMA device");

static int family = AF_RSOCK;
module_param(family, int, 0444);
MODULE_PARM_DESC(family, "number of the address family");

static bool test_failed;

#define tap(fmt, ...)	pr_info("rsock_kernel_test: " fmt, ##__VA_ARGS__)

#define EXPECT(cond) ({							\
	bool __ok = (cond);						\
									\
	if (!__ok) {							\
		test_failed = true;					\
		tap("# line %d: %s\n", __LINE__, #cond);		\
	}								\
	__ok;								\
})

/* For those calls that answer 0 or a negative errno */
#define EXPECT_ERR(call, want) ({					\
	long __err = (call), __want = (want);				\
									\
	if (__err != __want) {						\
		test_failed = true;					\
		tap("# line %d: %s: %ld, not %ld\n", __LINE__,	\
		    #call, __err, __want);				\
	}								\
	__err == __want;						\
})

static bool wait_for_zero(atomic_t *n)
{
	return wait_var_event_timeout(n, !atomic_read(n), TEST_TIMEOUT);
}

static void dec_and_wake(atomic_t *n)
{
	if (atomic_dec_and_test(n))
		wake_up_var(n);
}

static u8 pattern(size_t i)
{
	return i * 7 + (i >> 8) + (i >> 16);
}

static void fill(u8 *buf, size_t len, size_t at)
{
	size_t i;

	for (i = 0; i < len; i++)
		buf[i] = pattern(at + i);
}

static bool matches(const u8 *buf, size_t len, size_t at)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (buf[i] != pattern(at + i))
			return false;
	return true;
}

static bool all_are(const u8 *buf, size_t len, u8 value)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (buf[i] != value)
			return false;
	return true;
}

/* Sockets */

/**
 * struct pair - a connection
 * @lsn: who listens
 * @a: who connected
 * @b: who was accepted
 */
struct pair {
	struct socket *lsn;
	struct socket *a;
	struct socket *b;
};

static int new_socket(struct socket **sock)
{
	return sock_create_kern(&init_net, family, SOCK_STREAM, 0, sock);
}

static void test_addr(struct sockaddr_in *in)
{
	memset(in, 0, sizeof(*in));
	in->sin_family = AF_INET;
	in->sin_port = htons(TEST_PORT);
	in->sin_addr.s_addr = in_aton(addr);
}

static int listen_at(struct socket *sock)
{
	struct sockaddr_in in;

	test_addr(&in);
	sock_set_reuseaddr(sock->sk);
	return kernel_bind(sock, (struct sockaddr *)&in, sizeof(in)) ?:
	       kernel_listen(sock, 8);
}

static int connect_to(struct socket *sock, int flags)
{
	struct sockaddr_in in;

	test_addr(&in);
	return kernel_connect(sock, (struct sockaddr *)&in, sizeof(in), flags);
}

static void close_socket(struct socket **sock)
{
	if (*sock)
		sock_release(*sock);
	*sock = NULL;
}

/* Without waiting for what was sent */
static void abort_socket(struct socket **sock)
{
	if (*sock)
		sock_no_linger((*sock)->sk);
	close_socket(sock);
}

static void pair_down(struct pair *p)
{
	abort_socket(&p->a);
	abort_socket(&p->b);
	close_socket(&p->lsn);
}

/* @slots: of a's table for what b maps, or 0 for the usual one */
static bool pair_up_with(struct pair *p, int slots)
{
	memset(p, 0, sizeof(*p));
	if (EXPECT_ERR(new_socket(&p->lsn), 0) &&
	    EXPECT_ERR(listen_at(p->lsn), 0) &&
	    EXPECT_ERR(new_socket(&p->a), 0) &&
	    (!slots || EXPECT_ERR(rsock_sock_set_opt(p->a->sk, SOL_RSOCK, RDMA_IOMAPSIZE,
						     slots), 0)) &&
	    EXPECT_ERR(connect_to(p->a, 0), 0) &&
	    EXPECT_ERR(kernel_accept(p->lsn, &p->b, 0), 0)) {
		p->a->sk->sk_rcvtimeo = TEST_TIMEOUT;
		p->b->sk->sk_rcvtimeo = TEST_TIMEOUT;
		return true;
	}
	pair_down(p);
	return false;
}

static bool pair_up(struct pair *p)
{
	return pair_up_with(p, 0);
}

static int send_buf(struct socket *sock, void *buf, size_t len, int flags)
{
	struct msghdr msg = { .msg_flags = flags };
	struct kvec vec = { .iov_base = buf, .iov_len = len };

	return kernel_sendmsg(sock, &msg, &vec, 1, len);
}

static int recv_buf(struct socket *sock, void *buf, size_t len, int flags)
{
	struct kvec vec = { .iov_base = buf, .iov_len = len };
	struct msghdr msg = {};

	return kernel_recvmsg(sock, &msg, &vec, 1, len, flags);
}

/* Pages */

static void free_pages_of(struct page **pages)
{
	int i;

	for (i = 0; i < TEST_PAGES; i++)
		if (pages[i])
			__free_page(pages[i]);
}

static bool alloc_pages_of(struct page **pages)
{
	int i;

	memset(pages, 0, TEST_PAGES * sizeof(*pages));
	for (i = 0; i < TEST_PAGES; i++) {
		pages[i] = alloc_page(GFP_KERNEL | __GFP_ZERO);
		if (!EXPECT(pages[i])) {
			free_pages_of(pages);
			return false;
		}
	}
	return true;
}

/* @len bytes from byte @head of the first page. Returns how many entries. */
static unsigned int bvec_of(struct page **pages, size_t head, size_t len,
			    struct bio_vec *bv)
{
	unsigned int n = 0;

	for (; len; len -= bv[n++].bv_len, head = 0) {
		bv[n].bv_page = pages[n];
		bv[n].bv_offset = head;
		bv[n].bv_len = min_t(size_t, len, PAGE_SIZE - head);
	}
	return n;
}

static void fill_pages(struct page **pages, size_t head, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		((u8 *)page_address(pages[(head + i) / PAGE_SIZE]))
			[(head + i) % PAGE_SIZE] = pattern(i);
}

static bool pages_match(struct page **pages, size_t head, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (((u8 *)page_address(pages[(head + i) / PAGE_SIZE]))
			[(head + i) % PAGE_SIZE] != pattern(i))
			return false;
	return true;
}

/* The stream */

struct sender {
	struct socket *sock;
	u8 *buf;
	size_t len;
	int ret;
	struct completion done;
};

static int sender_thread(void *arg)
{
	struct sender *s = arg;

	s->ret = send_buf(s->sock, s->buf, s->len, MSG_NOSIGNAL);
	complete(&s->done);
	return 0;
}

static void test_stream_size(struct pair *p, u8 *out, u8 *in, size_t len)
{
	struct sender s = { .sock = p->a, .buf = out, .len = len };
	struct task_struct *task;

	fill(out, len, len);
	memset(in, 0, len);
	init_completion(&s.done);
	task = kthread_run(sender_thread, &s, "rsock_sender");
	if (!EXPECT(!IS_ERR(task)))
		return;
	EXPECT_ERR(recv_buf(p->b, in, len, MSG_WAITALL), len);
	wait_for_completion(&s.done);
	EXPECT_ERR(s.ret, len);
	EXPECT(matches(in, len, len));
}

static void test_stream(void)
{
	static const size_t sizes[] = { 1, 4095, 65537, 1000000 };
	u8 *out = vmalloc(1000000), *in = vmalloc(1000000);
	struct pair p;
	int i;

	if (EXPECT(out && in) && pair_up(&p)) {
		for (i = 0; i < ARRAY_SIZE(sizes); i++)
			test_stream_size(&p, out, in, sizes[i]);
		EXPECT_ERR(recv_buf(p.b, in, 1, MSG_DONTWAIT), -EAGAIN);
		EXPECT_ERR(kernel_sock_shutdown(p.a, SHUT_WR), 0);
		EXPECT_ERR(recv_buf(p.b, in, 1, 0), 0);
		EXPECT_ERR(send_buf(p.a, out, 1, MSG_NOSIGNAL), -EPIPE);
		pair_down(&p);
	}
	vfree(out);
	vfree(in);
}

static void test_names(void)
{
	struct sockaddr_storage a, b;
	struct pair p;

	if (!pair_up(&p))
		return;
	EXPECT(sk_is_rsock(p.a->sk));
	EXPECT(kernel_getsockname(p.a, (struct sockaddr *)&a) > 0);
	EXPECT(kernel_getpeername(p.b, (struct sockaddr *)&b) > 0);
	EXPECT(!memcmp(&a, &b, sizeof(struct sockaddr_in)));
	EXPECT_ERR(connect_to(p.a, 0), -EISCONN);
	pair_down(&p);
}

static void test_options(void)
{
	struct socket *sock;

	if (!EXPECT_ERR(new_socket(&sock), 0))
		return;
	EXPECT_ERR(rsock_sock_set_opt(sock->sk, SOL_RSOCK, RDMA_SQSIZE, 128), 0);
	EXPECT_ERR(rsock_sock_set_opt(sock->sk, SOL_RSOCK, RDMA_SQSIZE, 1),
		   -EINVAL);
	EXPECT_ERR(rsock_sock_set_opt(sock->sk, SOL_RSOCK, 99, 1),
		   -ENOPROTOOPT);
	EXPECT_ERR(rsock_sock_set_opt(sock->sk, SOL_RSOCK, RSOCK_RECV_NOTIFY, 1),
		   -ENOPROTOOPT);
	close_socket(&sock);
}

static bool pages_are_free(struct page **pages)
{
	int i;

	for (i = 0; i < TEST_PAGES; i++)
		if (page_count(pages[i]) != 1)
			return false;
	return true;
}

/* Given away, and given back when they have arrived */
static void test_splice(void)
{
	size_t head = 100, len = TEST_PAGES * PAGE_SIZE - 300;
	struct page *pages[TEST_PAGES];
	struct bio_vec bv[TEST_PAGES];
	unsigned int n;
	struct pair p;
	u8 *in;
	int i;

	in = vmalloc(len);
	if (!EXPECT(in) || !alloc_pages_of(pages))
		goto free;
	if (pair_up(&p)) {
		fill_pages(pages, head, len);
		n = bvec_of(pages, head, len, bv);
		EXPECT_ERR(rsock_test_splice(p.a, bv, n), len);
		EXPECT_ERR(recv_buf(p.b, in, len, MSG_WAITALL), len);
		EXPECT(matches(in, len, 0));
		EXPECT_ERR(kernel_sock_shutdown(p.a, SHUT_WR), 0);
		for (i = 0; i < 2000 && !pages_are_free(pages); i++)
			msleep(20);
		EXPECT(pages_are_free(pages));
		pair_down(&p);
	}
	free_pages_of(pages);
free:
	vfree(in);
}

/* What is no page is copied, and counted, whatever the flag says */
static void test_zerocopy_copied(void)
{
	u8 out[100], in[sizeof(out)];
	struct pair p;

	if (!pair_up(&p))
		return;
	fill(out, sizeof(out), 0);
	EXPECT_ERR(rsock_sock_set_opt(p.a->sk, SOL_RSOCK, RSOCK_ZEROCOPY, 1), 0);
	EXPECT_ERR(send_buf(p.a, out, sizeof(out), MSG_ZEROCOPY), sizeof(out));
	EXPECT_ERR(recv_buf(p.b, in, sizeof(in), MSG_WAITALL), sizeof(in));
	EXPECT(matches(in, sizeof(in), 0));
	pair_down(&p);
}

/* Callbacks */

struct calls {
	atomic_t data;
	atomic_t space;
	atomic_t state;
	atomic_t error;
	bool had_lock;
};

static void count_call(struct sock *sk, size_t which)
{
	struct calls *c;

	read_lock_bh(&sk->sk_callback_lock);
	c = sk->sk_user_data;
	if (c)
		atomic_inc((atomic_t *)((void *)c + which));
	read_unlock_bh(&sk->sk_callback_lock);
}

static void count_data(struct sock *sk)
{
	count_call(sk, offsetof(struct calls, data));
}

static void count_space(struct sock *sk)
{
	count_call(sk, offsetof(struct calls, space));
}

static void count_state(struct sock *sk)
{
	count_call(sk, offsetof(struct calls, state));
}

static void count_error(struct sock *sk)
{
	count_call(sk, offsetof(struct calls, error));
}

static void count_calls(struct socket *sock, struct calls *c)
{
	struct sock *sk = sock->sk;

	memset(c, 0, sizeof(*c));
	write_lock_bh(&sk->sk_callback_lock);
	sk->sk_user_data = c;
	sk->sk_data_ready = count_data;
	sk->sk_write_space = count_space;
	sk->sk_state_change = count_state;
	sk->sk_error_report = count_error;
	write_unlock_bh(&sk->sk_callback_lock);
}

static bool comes(atomic_t *n)
{
	int i;

	for (i = 0; i < 2000 && !atomic_read(n); i++)
		msleep(20);
	return atomic_read(n);
}

static void test_callbacks(void)
{
	struct calls c, a;
	struct pair p;
	u8 buf[16] = {};

	if (!pair_up(&p))
		return;
	count_calls(p.b, &c);
	count_calls(p.a, &a);
	EXPECT_ERR(send_buf(p.a, buf, sizeof(buf), 0), sizeof(buf));
	EXPECT(comes(&c.data));
	EXPECT(!atomic_read(&c.state));
	EXPECT_ERR(kernel_sock_shutdown(p.a, SHUT_WR), 0);
	EXPECT(comes(&c.state));
	EXPECT(comes(&a.space));
	EXPECT(!atomic_read(&c.error));
	abort_socket(&p.a);
	EXPECT(comes(&c.error));
	pair_down(&p);
}

/* After sock_release() nobody calls what may be gone */
static void test_no_late_calls(void)
{
	u8 *buf = vzalloc(SZ_1M);
	struct calls c, before;
	struct pair p;
	int i;

	if (!EXPECT(buf))
		return;
	if (pair_up(&p)) {
		count_calls(p.a, &c);
		EXPECT(send_buf(p.a, buf, SZ_64K, 0) > 0);
		close_socket(&p.a);
		before = c;
		/* Its connection lingers, and goes through all its states */
		EXPECT(recv_buf(p.b, buf, SZ_64K, MSG_WAITALL) > 0);
		EXPECT(send_buf(p.b, buf, 100, MSG_NOSIGNAL) != 0);
		close_socket(&p.b);
		for (i = 0; i < 20; i++)
			msleep(20);
		EXPECT(!memcmp(&before, &c, sizeof(c)));
		pair_down(&p);
	}
	vfree(buf);
}

/* Non-blocking, as those who connect from a workqueue do it */
static void test_connect_nonblock(void)
{
	struct socket *lsn, *sock = NULL, *child = NULL, *none;
	struct calls c;

	if (!EXPECT_ERR(new_socket(&lsn), 0))
		return;
	if (EXPECT_ERR(listen_at(lsn), 0) && EXPECT_ERR(new_socket(&sock), 0)) {
		count_calls(sock, &c);
		EXPECT_ERR(connect_to(sock, O_NONBLOCK), -EINPROGRESS);
		EXPECT(comes(&c.state));
		EXPECT(sock->sk->sk_state == TCP_ESTABLISHED);
		EXPECT_ERR(kernel_accept(lsn, &child, 0), 0);
		EXPECT_ERR(kernel_accept(lsn, &none, O_NONBLOCK), -EAGAIN);
	}
	close_socket(&sock);
	close_socket(&child);
	close_socket(&lsn);
}

static void test_refused(void)
{
	struct socket *sock;

	if (!EXPECT_ERR(new_socket(&sock), 0))
		return;
	EXPECT_ERR(connect_to(sock, 0), -ECONNREFUSED);
	close_socket(&sock);
}

/* read_sock() */

struct taker {
	u8 *buf;
	size_t len;
	size_t most;	/* at a time */
	int calls;
};

static int take(read_descriptor_t *desc, struct sk_buff *skb,
		unsigned int offset, size_t len)
{
	struct taker *t = desc->arg.data;
	size_t n = min3(len, t->most, desc->count);

	t->calls++;
	if (skb_copy_bits(skb, offset, t->buf + t->len, n))
		return -EFAULT;
	t->len += n;
	desc->count -= n;
	return n;
}

static int read_some(struct socket *sock, struct taker *t, size_t count)
{
	read_descriptor_t desc = { .arg.data = t, .count = count };
	int ret;

	lock_sock(sock->sk);
	ret = sock->ops->read_sock(sock->sk, &desc, take);
	release_sock(sock->sk);
	return ret;
}

static void test_read_sock(void)
{
	struct taker t = { .most = 1000 };
	u8 *out = vmalloc(50000);
	struct pair p;
	int ret, i;

	t.buf = vzalloc(50000);
	if (EXPECT(out && t.buf) && pair_up(&p)) {
		fill(out, 50000, 3);
		EXPECT_ERR(read_some(p.b, &t, 50000), 0);
		EXPECT_ERR(send_buf(p.a, out, 50000, 0), 50000);
		for (i = 0; i < 2000 && t.len < 100; i++) {
			EXPECT(read_some(p.b, &t, 100 - t.len) >= 0);
			msleep(20);
		}
		EXPECT(t.len == 100);
		for (i = 0; i < 2000 && t.len < 50000; i++) {
			ret = read_some(p.b, &t, 50000 - t.len);
			if (!EXPECT(ret >= 0))
				break;
			msleep(20);
		}
		EXPECT(t.len == 50000);
		EXPECT(t.calls >= 50);
		EXPECT(matches(t.buf, 50000, 3));
		EXPECT_ERR(read_some(p.lsn, &t, 1), -ENOTCONN);
		pair_down(&p);
	}
	vfree(out);
	vfree(t.buf);
}

/* sk_allocation */

static void test_allocation(void)
{
	struct socket *lsn, *sock = NULL, *child = NULL;
	u8 buf[64] = {};

	if (!EXPECT_ERR(new_socket(&lsn), 0))
		return;
	EXPECT(lsn->sk->sk_allocation == GFP_KERNEL);
	lsn->sk->sk_allocation = GFP_NOIO;
	if (EXPECT_ERR(listen_at(lsn), 0) && EXPECT_ERR(new_socket(&sock), 0)) {
		sk_set_memalloc(sock->sk);
		EXPECT_ERR(connect_to(sock, 0), 0);
		if (EXPECT_ERR(kernel_accept(lsn, &child, 0), 0)) {
			EXPECT(child->sk->sk_allocation == GFP_NOIO);
			EXPECT(child->sk->sk_kern_sock);
			EXPECT_ERR(send_buf(child, buf, sizeof(buf), 0),
				   sizeof(buf));
			EXPECT_ERR(recv_buf(sock, buf, sizeof(buf), MSG_WAITALL),
				   sizeof(buf));
		}
		sk_clear_memalloc(sock->sk);
	}
	EXPECT(!(current->flags & (PF_MEMALLOC | PF_MEMALLOC_NOIO |
				   PF_MEMALLOC_NOFS)));
	close_socket(&sock);
	close_socket(&child);
	close_socket(&lsn);
}

/* Direct placement */

/**
 * struct places - two sets of pages, and a connection
 * @p: a writes, b is written to
 * @from: a's
 * @to: b's
 * @bv: for use at once
 */
struct places {
	struct pair p;
	struct page *from[TEST_PAGES];
	struct page *to[TEST_PAGES];
	struct bio_vec bv[TEST_PAGES];
};

static struct places *places_up_with(int slots)
{
	struct places *pl = kzalloc(sizeof(*pl), GFP_KERNEL);

	if (!EXPECT(pl))
		return NULL;
	if (!alloc_pages_of(pl->from))
		goto free;
	if (!alloc_pages_of(pl->to))
		goto free_from;
	if (pair_up_with(&pl->p, slots))
		return pl;
	free_pages_of(pl->to);
free_from:
	free_pages_of(pl->from);
free:
	kfree(pl);
	return NULL;
}

static struct places *places_up(void)
{
	return places_up_with(0);
}

static void places_down(struct places *pl)
{
	pair_down(&pl->p);
	free_pages_of(pl->to);
	free_pages_of(pl->from);
	kfree(pl);
}

struct one_write {
	struct rsock_write w;
	struct completion done;
	atomic_t calls;
	int err;
};

static void one_write_done(struct rsock_write *w, int err)
{
	struct one_write *one = container_of(w, struct one_write, w);

	one->err = err;
	atomic_inc(&one->calls);
	complete(&one->done);
}

static void one_write_init(struct one_write *one)
{
	one->w.done = one_write_done;
	init_completion(&one->done);
	atomic_set(&one->calls, 0);
	one->err = 1;
}

static void wait_mapped(struct socket *sock, u64 offset, u64 len)
{
	int i;

	for (i = 0; i < 2100; i++) {
		if (rsock_peer_has_mapped(sock, offset, len))
			return;
		fsleep(i < 100 ? 50 : 20000);
	}
	EXPECT(!"mapped");
}

/* Write @len bytes from byte @head of the pages, and see them arrive */
static void write_and_wait(struct places *pl, u64 offset, size_t head,
			   size_t len)
{
	struct one_write one;
	unsigned int n;

	one_write_init(&one);
	fill_pages(pl->from, head, len);
	n = bvec_of(pl->from, head, len, pl->bv);
	if (!EXPECT_ERR(rsock_write(pl->p.a, offset, pl->bv, n, &one.w,
				    GFP_KERNEL), 0))
		return;
	if (!EXPECT(wait_for_completion_timeout(&one.done, TEST_TIMEOUT)))
		wait_for_completion(&one.done);
	EXPECT_ERR(one.err, 0);
	EXPECT(atomic_read(&one.calls) == 1);
}

/* Map the first @len bytes of the pages, and have the other end know of it */
static struct rsock_mapping *map_pages(struct places *pl, size_t len,
				       u64 offset)
{
	struct rsock_mapping *map;

	map = rsock_map_bvec(pl->p.b, pl->bv,
			     bvec_of(pl->to, 0, len, pl->bv), offset);
	if (!EXPECT(!IS_ERR(map)))
		return NULL;
	wait_mapped(pl->p.a, offset, len);
	return map;
}

static void test_place_at(struct places *pl, size_t head, size_t len,
			  s64 offset)
{
	struct rsock_mapping *map;
	u64 at;

	map = rsock_map_bvec(pl->p.b, pl->bv,
			     bvec_of(pl->to, head, len, pl->bv), offset);
	if (!EXPECT(!IS_ERR(map)))
		return;
	at = rsock_mapping_offset(map);
	EXPECT(offset == RSOCK_OFFSET_ANY || at == offset);
	wait_mapped(pl->p.a, at, len);
	EXPECT(!rsock_peer_has_mapped(pl->p.a, at, len + 1));
	write_and_wait(pl, at, 17, len);
	rsock_unmap(map);
	EXPECT(pages_match(pl->to, head, len));
	/* What is beside it in the same pages is as it was */
	EXPECT(all_are(page_address(pl->to[0]), head, 0));
	EXPECT(!rsock_peer_has_mapped(pl->p.a, at, 1));
}

static void test_place(void)
{
	static const struct {
		size_t head, len;
		s64 offset;
	} v[] = {
		{ 0, 1, 0 },
		{ 100, PAGE_SIZE - 100, 5 },
		{ 4000, 5000, 1000000 },
		{ 1, (TEST_PAGES - 1) * PAGE_SIZE, S64_MAX - SZ_1M },
		{ 0, (TEST_PAGES - 1) * PAGE_SIZE, RSOCK_OFFSET_ANY },
	};
	struct places *pl;
	int i;

	for (i = 0; i < ARRAY_SIZE(v); i++) {
		pl = places_up();
		if (!pl)
			return;
		test_place_at(pl, v[i].head, v[i].len, v[i].offset);
		places_down(pl);
	}
}

static void test_map_errors(void)
{
	struct places *pl = places_up();
	struct socket *fresh = NULL;
	struct rsock_mapping *map;
	struct bio_vec *bv;

	if (!pl)
		return;
	bv = pl->bv;
	bvec_of(pl->to, 0, 3 * PAGE_SIZE, bv);
	EXPECT_ERR(PTR_ERR(rsock_map_bvec(pl->p.b, bv, 1, -2)), -EINVAL);
	EXPECT_ERR(PTR_ERR(rsock_map_bvec(pl->p.b, bv, 0, 0)), -EINVAL);
	EXPECT_ERR(PTR_ERR(rsock_map_bvec(pl->p.b, bv, 3,
					  S64_MAX - PAGE_SIZE)), -EINVAL);
	bv[1].bv_offset = 8;
	EXPECT_ERR(PTR_ERR(rsock_map_bvec(pl->p.b, bv, 3, 0)), -EINVAL);
	bv[1].bv_offset = 0;
	bv[1].bv_len = 100;
	EXPECT_ERR(PTR_ERR(rsock_map_bvec(pl->p.b, bv, 3, 0)), -EINVAL);
	bv[1].bv_len = PAGE_SIZE;
	map = rsock_map_bvec(pl->p.b, bv, 3, 0);
	if (EXPECT(!IS_ERR(map))) {
		EXPECT_ERR(PTR_ERR(rsock_map_bvec(pl->p.b, bv, 1,
						  2 * PAGE_SIZE)), -EEXIST);
		EXPECT_ERR(PTR_ERR(rsock_map_bvec(pl->p.lsn, bv, 1, 0)),
			   -ENOTCONN);
		rsock_unmap(map);
	}
	if (EXPECT_ERR(new_socket(&fresh), 0))
		EXPECT_ERR(PTR_ERR(rsock_map_bvec(fresh, bv, 1, 0)), -ENOTCONN);
	close_socket(&fresh);
	places_down(pl);
}

static void test_write_errors(void)
{
	struct places *pl = places_up();
	struct rsock_mapping *map;
	struct one_write one;
	struct bio_vec slab;
	void *mem;

	if (!pl)
		return;
	one_write_init(&one);
	mem = kzalloc(64, GFP_KERNEL);
	slab.bv_page = virt_to_page(mem);
	slab.bv_offset = offset_in_page(mem);
	slab.bv_len = 64;
	bvec_of(pl->from, 0, 100, pl->bv);
	EXPECT_ERR(rsock_write(pl->p.a, 0, pl->bv, 1, &one.w, GFP_KERNEL),
		   -ENXIO);
	EXPECT_ERR(rsock_write(pl->p.lsn, 0, pl->bv, 1, &one.w, GFP_KERNEL),
		   -EPIPE);
	/* Not those that stand for something else */
	EXPECT_ERR(rsock_write(pl->p.a, -1, pl->bv, 1, &one.w, GFP_KERNEL),
		   -EINVAL);
	EXPECT_ERR(rsock_write(pl->p.a, -2, pl->bv, 1, &one.w, GFP_KERNEL),
		   -EINVAL);
	EXPECT_ERR(rsock_write(pl->p.a, S64_MAX - 50, pl->bv, 1, &one.w,
			       GFP_KERNEL), -EINVAL);
	map = map_pages(pl, 100, 50);
	if (map) {
		EXPECT_ERR(rsock_write(pl->p.a, 50, &slab, 1, &one.w,
				       GFP_KERNEL), -EINVAL);
		EXPECT_ERR(rsock_write(pl->p.a, 50, pl->bv, 0, &one.w,
				       GFP_KERNEL), -EINVAL);
		EXPECT_ERR(rsock_write(pl->p.a, 51, pl->bv, 1, &one.w,
				       GFP_KERNEL), -ENXIO);
		kernel_sock_shutdown(pl->p.a, SHUT_WR);
		EXPECT_ERR(rsock_write(pl->p.a, 50, pl->bv, 1, &one.w,
				       GFP_KERNEL), -EPIPE);
		rsock_unmap(map);
	}
	/* None of them was accepted */
	EXPECT(!atomic_read(&one.calls));
	kfree(mem);
	places_down(pl);
}

/* Placed, then sent: whoever reads the latter finds the former */
static void test_order(void)
{
	struct places *pl = places_up();
	struct rsock_mapping *map;
	struct one_write one[8];
	unsigned int n;
	u8 byte;
	int i;

	if (!pl)
		return;
	map = map_pages(pl, SZ_32K, 0);
	if (!map)
		goto down;
	fill_pages(pl->from, 0, SZ_32K);
	for (i = 0; i < ARRAY_SIZE(one); i++) {
		one_write_init(&one[i]);
		n = bvec_of(pl->from + i, 0, PAGE_SIZE, pl->bv);
		EXPECT_ERR(rsock_write(pl->p.a, i * PAGE_SIZE, pl->bv, n,
				       &one[i].w, GFP_KERNEL), 0);
	}
	byte = 1;
	EXPECT_ERR(send_buf(pl->p.a, &byte, 1, 0), 1);
	EXPECT_ERR(recv_buf(pl->p.b, &byte, 1, MSG_WAITALL), 1);
	EXPECT(pages_match(pl->to, 0, SZ_32K));
	for (i = 0; i < ARRAY_SIZE(one); i++)
		EXPECT(wait_for_completion_timeout(&one[i].done, TEST_TIMEOUT));
	rsock_unmap(map);
down:
	places_down(pl);
}

/* From a timer, and then each from the callback of the one before */
struct chain {
	struct rsock_write w;
	struct socket *sock;
	struct bio_vec bv;
	struct timer_list timer;
	atomic_t left;
	int in_softirq;
	bool in_step;
	bool nested;
	int err;
};

static void chain_step(struct chain *c)
{
	int err;

	local_bh_disable();
	c->in_step = true;
	err = rsock_write(c->sock, 0, &c->bv, 1, &c->w, GFP_ATOMIC);
	c->in_step = false;
	local_bh_enable();
	if (err) {
		c->err = err;
		atomic_set(&c->left, 0);
		wake_up_var(&c->left);
	}
}

static void chain_done(struct rsock_write *w, int err)
{
	struct chain *c = container_of(w, struct chain, w);

	c->err = c->err ?: err;
	c->in_softirq += !!in_serving_softirq();
	c->nested |= c->in_step && num_online_cpus() == 1;
	if (err)
		atomic_set(&c->left, 1);
	if (atomic_read(&c->left) > 1) {
		atomic_dec(&c->left);
		chain_step(c);
	} else {
		dec_and_wake(&c->left);
	}
}

static void chain_timer(struct timer_list *t)
{
	chain_step(container_of(t, struct chain, timer));
}

static void test_softirq(void)
{
	struct places *pl = places_up();
	struct rsock_mapping *map;
	struct chain *c;

	if (!pl)
		return;
	c = kzalloc(sizeof(*c), GFP_KERNEL);
	map = map_pages(pl, PAGE_SIZE, 0);
	if (EXPECT(c) && map) {
		fill_pages(pl->from, 0, PAGE_SIZE);
		bvec_of(pl->from, 0, PAGE_SIZE, &c->bv);
		c->sock = pl->p.a;
		c->w.done = chain_done;
		atomic_set(&c->left, 100);
		timer_setup(&c->timer, chain_timer, 0);
		mod_timer(&c->timer, jiffies + 1);
		wait_var_event(&c->left, !atomic_read(&c->left));
		EXPECT_ERR(c->err, 0);
		EXPECT(c->in_softirq);
		del_timer_sync(&c->timer);
		/* The same, begun by one who does not run in softirq */
		atomic_set(&c->left, 1000);
		chain_step(c);
		wait_var_event(&c->left, !atomic_read(&c->left));
		EXPECT_ERR(c->err, 0);
		EXPECT(!c->nested);
	}
	if (map)
		rsock_unmap(map);
	EXPECT(pages_match(pl->to, 0, PAGE_SIZE));
	places_down(pl);
	rsock_flush();
	kfree(c);
}

static void test_written(void)
{
	struct places *pl = places_up();
	struct rsock_written got;
	struct rsock_mapping *map;
	struct calls c;
	int i, ret;

	if (!pl)
		return;
	count_calls(pl->p.b, &c);
	EXPECT_ERR(rsock_recv_written(pl->p.b, &got), -EAGAIN);
	EXPECT_ERR(rsock_notify_written(pl->p.b), 0);
	EXPECT_ERR(rsock_notify_written(pl->p.lsn), -ENOTCONN);
	map = map_pages(pl, SZ_16K, 100);
	if (map) {
		write_and_wait(pl, 100, 0, 4000);
		write_and_wait(pl, 4100, 0, 1);
		for (i = 0; i < 2; i++) {
			do {
				ret = rsock_recv_written(pl->p.b, &got);
			} while (ret == -EAGAIN && (msleep(20), true));
			EXPECT_ERR(ret, 0);
			EXPECT(got.offset == (i ? 4100 : 100));
			EXPECT(got.len == (i ? 1 : 4000));
		}
		EXPECT(atomic_read(&c.error) >= 2);
		rsock_unmap(map);
	}
	places_down(pl);
}

static void unmap_done(void *arg)
{
	dec_and_wake(arg);
}

static void test_unmap_async(void)
{
	struct rsock_mapping *map[4];
	struct places *pl = places_up();
	atomic_t left = ATOMIC_INIT(0);
	unsigned int n;
	int i;

	if (!pl)
		return;
	for (i = 0; i < ARRAY_SIZE(map); i++) {
		n = bvec_of(pl->to + i, 0, PAGE_SIZE, pl->bv);
		map[i] = rsock_map_bvec(pl->p.b, pl->bv, n, RSOCK_OFFSET_ANY);
		EXPECT(!IS_ERR(map[i]));
	}
	/* Two while there is a connection, two after it */
	for (i = 0; i < ARRAY_SIZE(map); i++) {
		if (i == 2)
			abort_socket(&pl->p.b);
		if (IS_ERR(map[i]))
			continue;
		atomic_inc(&left);
		rsock_unmap_async(map[i], unmap_done, &left);
	}
	EXPECT(wait_for_zero(&left));
	places_down(pl);
}

/* More of them than the peer's table has slots, which it has to give back */
static void test_used_with(int slots)
{
	struct places *pl = places_up_with(slots);
	struct rsock_mapping *map;
	u64 at;
	int i;

	if (!pl)
		return;
	for (i = 0; i < 300 && !test_failed; i++) {
		at = (u64)i * SZ_64K;
		map = map_pages(pl, SZ_16K, at);
		if (!map)
			break;
		write_and_wait(pl, at, 0, SZ_16K);
		rsock_mapping_set_used(map);
		rsock_unmap(map);
		EXPECT(pages_match(pl->to, 0, SZ_16K));
	}
	places_down(pl);
}

static void test_used(void)
{
	test_used_with(0);
	test_used_with(1);
}

static void clear_pages_of(struct page **pages, unsigned int nr)
{
	while (nr--)
		clear_page(page_address(pages[nr]));
}

/* Several at a time: a slot is somebody else's as soon as it is given back */
#define MAPPERS		4
#define MAPPER_PAGES	4

struct mapper {
	struct places *pl;
	unsigned int nr;
	struct completion done;
};

static void mapper_once(struct mapper *u, u64 at)
{
	struct page **from = u->pl->from + u->nr * MAPPER_PAGES;
	struct page **to = u->pl->to + u->nr * MAPPER_PAGES;
	size_t len = MAPPER_PAGES * PAGE_SIZE;
	struct bio_vec bv[MAPPER_PAGES];
	struct rsock_mapping *map;
	struct one_write one;

	map = rsock_map_bvec(u->pl->p.b, bv, bvec_of(to, 0, len, bv), at);
	if (!EXPECT(!IS_ERR(map)))
		return;
	wait_mapped(u->pl->p.a, at, len);
	one_write_init(&one);
	if (EXPECT_ERR(rsock_write(u->pl->p.a, at, bv,
				   bvec_of(from, 0, len, bv), &one.w,
				   GFP_KERNEL), 0)) {
		wait_for_completion(&one.done);
		EXPECT_ERR(one.err, 0);
	}
	rsock_mapping_set_used(map);
	rsock_unmap(map);
	EXPECT(pages_match(to, 0, len));
	clear_pages_of(to, MAPPER_PAGES);
}

static int mapper_thread(void *arg)
{
	struct mapper *u = arg;
	int i;

	for (i = 0; i < 300 && !test_failed; i++)
		mapper_once(u, (u64)(u->nr * 300 + i) * SZ_64K);
	complete(&u->done);
	return 0;
}

static void test_mappers(void)
{
	struct places *pl = places_up();
	struct mapper u[MAPPERS];
	int i;

	BUILD_BUG_ON(MAPPERS * MAPPER_PAGES > TEST_PAGES);
	if (!pl)
		return;
	for (i = 0; i < MAPPERS; i++) {
		u[i].pl = pl;
		u[i].nr = i;
		init_completion(&u[i].done);
		fill_pages(pl->from + i * MAPPER_PAGES, 0, MAPPER_PAGES * PAGE_SIZE);
		if (!EXPECT(!IS_ERR(kthread_run(mapper_thread, &u[i], "rsock_mapper"))))
			complete(&u[i].done);
	}
	for (i = 0; i < MAPPERS; i++)
		wait_for_completion(&u[i].done);
	places_down(pl);
}

/* The end of a connection at any time: each write that was accepted ends once */

#define DEATH_WRITES	64

struct death {
	struct places *pl;
	struct one_write one[DEATH_WRITES];
	unsigned int accepted;
};

static void death_write(struct death *d)
{
	unsigned int i, n;

	for (i = 0; i < DEATH_WRITES; i++) {
		one_write_init(&d->one[i]);
		n = bvec_of(d->pl->from, 0, SZ_32K, d->pl->bv);
		if (rsock_write(d->pl->p.a, 0, d->pl->bv, n, &d->one[i].w,
				GFP_KERNEL))
			break;
	}
	d->accepted = i;
}

/* A mapping, and writes to it that are under way; NULL if there are none */
static struct death *death_begin(struct rsock_mapping **map)
{
	struct death *d = vzalloc(sizeof(*d));

	if (!EXPECT(d))
		return NULL;
	d->pl = places_up();
	if (!d->pl)
		goto free;
	*map = map_pages(d->pl, SZ_32K, 0);
	if (!*map)
		goto down;
	fill_pages(d->pl->from, 0, SZ_32K);
	death_write(d);
	EXPECT(d->accepted);
	return d;
down:
	places_down(d->pl);
free:
	vfree(d);
	return NULL;
}

/* A peer that is not finished with it: it loses the connection, we no memory */
static void test_used_too_early(void)
{
	struct rsock_mapping *map;
	struct death *d;
	int i;

	d = death_begin(&map);
	if (!d)
		return;
	rsock_mapping_set_used(map);
	rsock_unmap(map);
	clear_pages_of(d->pl->to, SZ_32K / PAGE_SIZE);
	for (i = 0; i < d->accepted; i++)
		wait_for_completion(&d->one[i].done);
	for (i = 0; i < SZ_32K / PAGE_SIZE; i++)
		EXPECT(all_are(page_address(d->pl->to[i]), PAGE_SIZE, 0));
	places_down(d->pl);
	vfree(d);
}

/* @how: who ends it, and how */
static void death_strike(struct places *pl, int how)
{
	switch (how) {
	case 0:
		abort_socket(&pl->p.a);
		break;
	case 1:
		abort_socket(&pl->p.b);
		break;
	case 2:
		close_socket(&pl->p.a);
		break;
	case 3:
		close_socket(&pl->p.b);
		break;
	case 4:
		kernel_sock_shutdown(pl->p.a, SHUT_RDWR);
		kernel_sock_shutdown(pl->p.b, SHUT_RDWR);
		break;
	}
}

#define DEATH_WAYS	6	/* the last one unmaps first */

static void test_death_at(int how, unsigned int delay_us)
{
	struct rsock_mapping *map;
	struct death *d;
	unsigned int i;

	d = death_begin(&map);
	if (!d)
		return;
	if (delay_us)
		usleep_range(delay_us, delay_us + 100);
	if (how == DEATH_WAYS - 1)
		rsock_unmap(map);
	death_strike(d->pl, how);
	if (how != DEATH_WAYS - 1)
		rsock_unmap(map);
	for (i = 0; i < d->accepted; i++) {
		if (!EXPECT(wait_for_completion_timeout(&d->one[i].done,
							TEST_TIMEOUT)))
			wait_for_completion(&d->one[i].done);
		EXPECT(d->one[i].err <= 0);
		if (!d->one[i].err)
			EXPECT(pages_match(d->pl->to, 0, SZ_32K));
	}
	/* Another call would come with the end of the connection at the latest */
	places_down(d->pl);
	for (i = 0; i < DEATH_WRITES; i++)
		EXPECT(atomic_read(&d->one[i].calls) == (i < d->accepted));
	vfree(d);
}

static void test_death(void)
{
	static const unsigned int delays[] = { 0, 300, 3000, 30000 };
	int how, i;

	for (how = 0; how < DEATH_WAYS; how++)
		for (i = 0; i < ARRAY_SIZE(delays); i++)
			test_death_at(how, delays[i]);
}

/*
 * Unmapped by the peer while writes wait, behind more of the stream than the peer
 * takes: they say so, and not under a lock that the functions of the socket take.
 */
struct lost {
	struct one_write one;
	struct socket *sock;
};

static void lost_done(struct rsock_write *w, int err)
{
	struct lost *lost = container_of(w, struct lost, one.w);

	rsock_peer_has_mapped(lost->sock, 0, 1);
	one_write_done(w, err);
}

#define LOST_WRITES	16
#define LOST_STREAM	SZ_1M

static void test_lost(void)
{
	struct lost *lost = vzalloc(LOST_WRITES * sizeof(*lost));
	u8 *stream = vzalloc(LOST_STREAM);
	struct places *pl = places_up();
	struct rsock_mapping *map;
	unsigned int i, n, enxio = 0;
	int sent;

	if (!pl || !EXPECT(lost && stream))
		goto free;
	map = map_pages(pl, SZ_32K, 0);
	if (!map)
		goto down;
	/* More than the peer's ring takes */
	pl->p.a->sk->sk_sndbuf = 2 * pl->p.b->sk->sk_rcvbuf;
	sent = send_buf(pl->p.a, stream, LOST_STREAM, MSG_DONTWAIT);
	EXPECT(sent > 0 && sent < LOST_STREAM);
	for (i = 0; i < LOST_WRITES; i++) {
		one_write_init(&lost[i].one);
		lost[i].one.w.done = lost_done;
		lost[i].sock = pl->p.a;
		n = bvec_of(pl->from, 0, SZ_32K, pl->bv);
		EXPECT_ERR(rsock_write(pl->p.a, 0, pl->bv, n, &lost[i].one.w,
				       GFP_KERNEL), 0);
	}
	rsock_unmap(map);
	EXPECT_ERR(recv_buf(pl->p.b, stream, sent, MSG_WAITALL), sent);
	for (i = 0; i < LOST_WRITES; i++) {
		wait_for_completion(&lost[i].one.done);
		enxio += lost[i].one.err == -ENXIO;
	}
	EXPECT(enxio == LOST_WRITES);
	/* The connection has not suffered */
	EXPECT_ERR(send_buf(pl->p.a, "x", 1, 0), 1);
down:
	places_down(pl);
free:
	vfree(stream);
	vfree(lost);
}

/* Without memory: it says so, and nothing is lost of what it did not take */
static void test_pressure(void)
{
	struct places *pl = places_up();
	struct rsock_mapping *map;
	unsigned int i, n, refused = 0;
	struct one_write one;

	if (!pl)
		return;
	map = map_pages(pl, SZ_16K, 0);
	if (!map)
		goto down;
	fill_pages(pl->from, 0, SZ_16K);
	for (i = 0; i < 200; i++) {
		one_write_init(&one);
		n = bvec_of(pl->from, 0, SZ_16K, pl->bv);
#ifdef CONFIG_FAULT_INJECTION
		current->fail_nth = 1 + i % 4;
#endif
		/* Injected are failures only of those who may fail */
		n = rsock_write(pl->p.a, 0, pl->bv, n, &one.w, GFP_NOWAIT);
#ifdef CONFIG_FAULT_INJECTION
		current->fail_nth = 0;
#endif
		if (n) {
			EXPECT((int)n == -ENOMEM);
			EXPECT(!atomic_read(&one.calls));
			refused++;
			continue;
		}
		wait_for_completion(&one.done);
		EXPECT_ERR(one.err, 0);
	}
	EXPECT(refused || !IS_ENABLED(CONFIG_FAILSLAB));
	EXPECT(refused < 200);
	EXPECT(pages_match(pl->to, 0, SZ_16K));
	rsock_unmap(map);
down:
	places_down(pl);
}

/* A namespace goes once the last socket in it was released, not before */
static int test_namespace(const char *val, const struct kernel_param *kp)
{
	struct net *net = current->nsproxy->net_ns;
	struct sockaddr_in in = { .sin_family = AF_INET };
	struct socket *sock;
	int err;

	err = sock_create_kern(net, family, SOCK_STREAM, 0, &sock);
	if (err)
		return err;
	err = kernel_bind(sock, (struct sockaddr *)&in, sizeof(in)) ?:
	      kernel_listen(sock, 1);
	if (sock->sk->sk_net_refcnt != 1)
		err = -EINVAL;
	sock_release(sock);
	return err;
}

static const struct kernel_param_ops namespace_ops = { .set = test_namespace };

module_param_cb(namespace, &namespace_ops, NULL, 0200);
MODULE_PARM_DESC(namespace,
		 "listen for a moment in the namespace of who writes this");

/* All of it */

static const struct {
	const char *name;
	void (*run)(void);
} tests[] = {
	{ "stream", test_stream },
	{ "names", test_names },
	{ "options", test_options },
	{ "splice", test_splice },
	{ "zero copy that copies", test_zerocopy_copied },
	{ "callbacks", test_callbacks },
	{ "no late calls", test_no_late_calls },
	{ "connect without blocking", test_connect_nonblock },
	{ "refused", test_refused },
	{ "read_sock", test_read_sock },
	{ "allocation", test_allocation },
	{ "place", test_place },
	{ "errors of mapping", test_map_errors },
	{ "errors of writing", test_write_errors },
	{ "order", test_order },
	{ "softirq", test_softirq },
	{ "written", test_written },
	{ "unmap_async", test_unmap_async },
	{ "used", test_used },
	{ "used, by several", test_mappers },
	{ "used too early", test_used_too_early },
	{ "lost", test_lost },
	{ "memory pressure", test_pressure },
	{ "death", test_death },
};

static int __init rsock_kernel_test_init(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(tests); i++) {
		test_failed = false;
		tests[i].run();
		tap("%sok %d - %s\n", test_failed ? "not " : "", i + 1,
		    tests[i].name);
	}
	tap("1..%d\n", i);
	return 0;
}

static void __exit rsock_kernel_test_exit(void)
{
}

module_init(rsock_kernel_test_init);
module_exit(rsock_kernel_test_exit);

MODULE_DESCRIPTION("Tests of AF_RSOCK for users in the kernel");
MODULE_LICENSE("GPL");
