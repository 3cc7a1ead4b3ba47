// SPDX-License-Identifier: GPL-2.0
#include "iomap_util.h"

/* --- memory ------------------------------------------------------------------- */

void *memory(size_t len)
{
	void *p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(p != MAP_FAILED, "mmap of %zu: %s", len, err_name(errno));
	return p;
}

long pinned_kb(void)
{
	char line[256];
	long kb = -1;
	FILE *f = fopen("/proc/self/status", "r");

	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "VmPin: %ld", &kb) == 1)
			break;
	fclose(f);
	CHECK(kb >= 0, "no VmPin");
	return kb;
}

static bool nothing_pinned(void *arg)
{
	(void)arg;
	return !pinned_kb();
}

void must_unpin(void)
{
	CHECK(eventually(nothing_pinned, NULL), "%ld KiB are pinned", pinned_kb());
}

void must_be_all(const void *mem, size_t len, unsigned char value)
{
	const unsigned char *p = mem;
	size_t i;

	for (i = 0; i < len; i++)
		CHECK(p[i] == value, "byte %zu of %zu is %#x, not %#x", i, len, p[i], value);
}

/* --- mappings ----------------------------------------------------------------- */

struct pair pair_with_table(int size)
{
	struct pair p;
	struct addr where;
	int listener = open_listener(IPV4, 1, &where);

	p.c = open_socket(IPV4, 0);
	set_int(p.c, SOL_RSOCK, RDMA_IOMAPSIZE, size);
	MUST(connect(p.c, &where.sa, where.len));
	p.s = accept_one(listener);
	close(listener);
	return p;
}

size_t list_maps(int fd, struct rsock_iomap *m, size_t max)
{
	socklen_t len = max * sizeof(*m);

	MUST(getsockopt(fd, SOL_RSOCK, RSOCK_IOMAP, m, &len));
	CHECK(len % sizeof(*m) == 0, "%u", len);
	return len / sizeof(*m);
}

char *map_socket(int fd, size_t len, off_t offset)
{
	char *p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset);

	CHECK(p != MAP_FAILED, "mmap of %zu at %jd: %s", len, (intmax_t)offset, err_name(errno));
	return p;
}

struct probe {
	int fd;
	off_t offset;
	bool mapped;
};

/* A write of nothing would say nothing: one byte, of which the target knows. */
static bool has_become(void *arg)
{
	struct probe *p = arg;
	ssize_t n = place(p->fd, "", 1, p->offset, 0);

	CHECK(n == 1 || (n < 0 && errno == ENXIO), "%zd %s", n, err_name(errno));
	return (n == 1) == p->mapped;
}

void wait_mapped(int fd, off_t offset, bool mapped)
{
	struct probe p = { fd, offset, mapped };

	CHECK(eventually(has_become, &p), "offset %jd is still %smapped", (intmax_t)offset,
	      mapped ? "un" : "");
}

void sync_to(int from, int to)
{
	char b = 's';

	MUST_BE(send(from, &b, 1, 0), 1);
	recv_all(to, &b, 1);
	CHECK(b == 's', "%#x", b);
}

/* --- placing ------------------------------------------------------------------ */

void init_placement(struct placement *m, const void *buf, size_t len, off_t offset)
{
	__u64 to = offset;

	m->iov = (struct iovec){ (void *)buf, len };
	m->msg = (struct msghdr){
		.msg_iov = &m->iov,
		.msg_iovlen = 1,
		.msg_control = &m->control,
		.msg_controllen = sizeof(m->control.buf),
	};
	m->control.cmsg = (struct cmsghdr){
		.cmsg_level = SOL_RSOCK,
		.cmsg_type = RSOCK_CMSG_OFFSET,
		.cmsg_len = CMSG_LEN(sizeof(to)),
	};
	memcpy(CMSG_DATA(&m->control.cmsg), &to, sizeof(to));
}

ssize_t place(int fd, const void *buf, size_t len, off_t offset, int flags)
{
	return riowrite(fd, buf, len, offset, flags);
}

void place_all(int fd, const void *buf, size_t len, off_t offset)
{
	size_t done = 0;

	while (done < len)
		done += MUST(place(fd, buf + done, len - done, offset + done, 0));
}

void set_cursor(int fd, off_t at)
{
	__s64 offset = at;

	MUST(setsockopt(fd, SOL_RSOCK, RSOCK_WRITE_OFFSET, &offset, sizeof(offset)));
}

off_t get_cursor(int fd)
{
	__s64 offset;
	socklen_t len = sizeof(offset);

	MUST(getsockopt(fd, SOL_RSOCK, RSOCK_WRITE_OFFSET, &offset, &len));
	CHECK(len == sizeof(offset), "%u", len);
	return offset;
}
