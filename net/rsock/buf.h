/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _RSOCK_BUF_H
#define _RSOCK_BUF_H

#include <linux/types.h>

struct bio_vec;
struct ib_device;
struct ib_mr;
struct ib_pd;
struct iov_iter;
struct page;

/**
 * struct rsock_buf - memory that the peer writes to
 * @pages: the pages, zeroed when allocated
 * @dma: their DMA addresses, while mapped
 * @nr: how many pages
 * @dev: device that they are mapped for, NULL while they are not
 * @lent: the pages are somebody's who gets them back: no references are held
 *
 * That of an endpoint begins with the tables, then comes the first receive
 * ring. Allocated and mapped when the endpoint gets its verbs resources;
 * unmapped when it loses them; the pages stay until the endpoint is freed, since
 * the reader may come for what arrived before.
 */
struct rsock_buf {
	struct page **pages;
	dma_addr_t *dma;
	unsigned int nr;
	struct ib_device *dev;
	bool lent;
};

int rsock_buf_alloc(struct rsock_buf *buf, unsigned int nr, gfp_t gfp);
u64 rsock_bvec_len(const struct bio_vec *bv, unsigned int nr);
int rsock_buf_take(struct rsock_buf *buf, const struct bio_vec *bv,
		   unsigned int nr);
void rsock_buf_free(struct rsock_buf *buf);
int rsock_buf_map(struct rsock_buf *buf, struct ib_device *dev);
void rsock_buf_unmap(struct rsock_buf *buf);
int rsock_dma_to_mr(const dma_addr_t *dma, u64 len, struct ib_mr *mr,
		    u64 iova);
struct ib_mr *rsock_buf_create(struct rsock_buf *buf, struct ib_pd *pd,
			       u32 len, u64 iova, gfp_t gfp);
void rsock_buf_sync(const struct rsock_buf *buf, size_t off, size_t len,
		    bool for_cpu);
void rsock_buf_snapshot(const struct rsock_buf *buf, size_t off, size_t len,
			void *copy);
void rsock_buf_clear(const struct rsock_buf *buf, size_t off, size_t len);
size_t rsock_buf_to_iter(const struct rsock_buf *buf, size_t off, size_t len,
			 struct iov_iter *to);

#endif /* _RSOCK_BUF_H */
