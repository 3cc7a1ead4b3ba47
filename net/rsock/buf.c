// SPDX-License-Identifier: GPL-2.0
/*
 * Memory that the peer writes to: single pages, so that any amount of it can
 * be had on a fragmented machine, made contiguous for the peer by one memory
 * region. See buf.h for its life.
 */

#include "buf.h"

#include <linux/bvec.h>
#include <linux/mm.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <linux/uio.h>
#include <rdma/ib_verbs.h>

/**
 * rsock_buf_alloc() - allocate zeroed pages, charged to the cgroup of the caller or
 *	that which set_active_memcg() says
 * @buf: zeroed structure
 * @nr: pages
 * @gfp: how to allocate
 *
 * Zeroed, so that a peer which announces bytes that it did not write shows the
 * reader nothing of anybody else. Context: process.
 *
 * Return: 0 or -ENOMEM; then nothing is left allocated.
 */
int rsock_buf_alloc(struct rsock_buf *buf, unsigned int nr, gfp_t gfp)
{
	buf->pages = kvcalloc(nr, sizeof(*buf->pages), gfp);
	buf->dma = kvcalloc(nr, sizeof(*buf->dma), gfp);
	if (!buf->pages || !buf->dma)
		goto free;

	for (buf->nr = 0; buf->nr < nr; buf->nr++) {
		struct page *page = alloc_page(gfp | __GFP_ZERO);

		if (!page)
			goto free;
		buf->pages[buf->nr] = page;
	}
	return 0;
free:
	rsock_buf_free(buf);
	return -ENOMEM;
}

/**
 * rsock_bvec_len() - bytes in a list of bvecs
 * @bv: the list
 * @nr: its entries
 */
u64 rsock_bvec_len(const struct bio_vec *bv, unsigned int nr)
{
	u64 len = 0;

	while (nr--)
		len += bv[nr].bv_len;
	return len;
}

/* Pages that each entry touches, 0 if there is a gap between two of them */
static unsigned int rsock_bvec_pages(const struct bio_vec *bv, unsigned int nr)
{
	unsigned int i, pages = 0;
	size_t begin, end;

	for (i = 0; i < nr; i++) {
		begin = offset_in_page(bv[i].bv_offset);
		end = begin + bv[i].bv_len;
		if (!bv[i].bv_len || (i && begin) ||
		    (i + 1 < nr && offset_in_page(end)))
			return 0;
		pages += PFN_UP(end);
	}
	return pages;
}

static void rsock_buf_take_bvec(struct rsock_buf *buf, const struct bio_vec *bv)
{
	unsigned int first = bv->bv_offset / PAGE_SIZE;
	unsigned int n = PFN_UP((u64)bv->bv_offset + bv->bv_len);

	for (; first < n; first++)
		buf->pages[buf->nr++] = nth_page(bv->bv_page, first);
}

/**
 * rsock_buf_take() - make a buffer of somebody's pages
 * @buf: zeroed structure
 * @bv: where they are: one range, if laid behind each other page by page
 * @nr: entries of @bv
 *
 * Return: 0, -EINVAL if there are gaps, or -ENOMEM; then nothing is left.
 */
int rsock_buf_take(struct rsock_buf *buf, const struct bio_vec *bv,
		   unsigned int nr)
{
	unsigned int pages = rsock_bvec_pages(bv, nr);

	if (!pages)
		return -EINVAL;
	buf->pages = kvcalloc(pages, sizeof(*buf->pages), GFP_KERNEL);
	buf->dma = kvcalloc(pages, sizeof(*buf->dma), GFP_KERNEL);
	if (!buf->pages || !buf->dma) {
		rsock_buf_free(buf);
		return -ENOMEM;
	}
	buf->lent = true;
	for (; nr; nr--)
		rsock_buf_take_bvec(buf, bv++);
	return 0;
}

/**
 * rsock_buf_free() - free what is there of a buffer
 * @buf: unmapped, possibly never or only partly allocated
 */
void rsock_buf_free(struct rsock_buf *buf)
{
	WARN_ON_ONCE(buf->dev);
	while (buf->nr && !buf->lent)
		put_page(buf->pages[--buf->nr]);
	kvfree(buf->pages);
	kvfree(buf->dma);
	buf->pages = NULL;
	buf->dma = NULL;
}

/**
 * rsock_buf_map() - map a buffer for a device to write to
 * @buf: buffer
 * @dev: device
 *
 * Return: 0 or -EIO; then nothing is left mapped.
 */
int rsock_buf_map(struct rsock_buf *buf, struct ib_device *dev)
{
	unsigned int i;

	for (i = 0; i < buf->nr; i++) {
		buf->dma[i] = ib_dma_map_page(dev, buf->pages[i], 0, PAGE_SIZE,
					      DMA_BIDIRECTIONAL);
		if (ib_dma_mapping_error(dev, buf->dma[i]))
			goto unmap;
	}
	buf->dev = dev;
	return 0;
unmap:
	while (i--)
		ib_dma_unmap_page(dev, buf->dma[i], PAGE_SIZE,
				  DMA_BIDIRECTIONAL);
	return -EIO;
}

/**
 * rsock_buf_unmap() - undo rsock_buf_map()
 * @buf: buffer, mapped or not
 *
 * The device must not be able to write to it any more.
 */
void rsock_buf_unmap(struct rsock_buf *buf)
{
	unsigned int i;

	if (!buf->dev)
		return;
	for (i = 0; i < buf->nr; i++)
		ib_dma_unmap_page(buf->dev, buf->dma[i], PAGE_SIZE,
				  DMA_BIDIRECTIONAL);
	buf->dev = NULL;
}

/**
 * rsock_dma_to_mr() - describe mapped pages to a memory region
 * @dma: their addresses
 * @len: bytes; they begin in the first page where @iova says
 * @mr: region that can take that many pages
 * @iova: address that the peer is to know it by: neither kernel nor bus
 *	addresses are anybody else's business
 *
 * Return: 0 or a negative errno.
 */
int rsock_dma_to_mr(const dma_addr_t *dma, u64 len, struct ib_mr *mr, u64 iova)
{
	size_t off = offset_in_page(iova);
	unsigned int i, nr = PFN_UP(off + len);
	struct scatterlist *sgl;
	int n;

	sgl = kvcalloc(nr, sizeof(*sgl), GFP_KERNEL);
	if (!sgl)
		return -ENOMEM;
	sg_init_table(sgl, nr);
	for (i = 0; i < nr; i++, off = 0) {
		sg_dma_address(&sgl[i]) = dma[i] + off;
		sg_dma_len(&sgl[i]) = min_t(u64, len, PAGE_SIZE - off);
		len -= sg_dma_len(&sgl[i]);
	}
	n = ib_map_mr_sg(mr, sgl, nr, NULL, PAGE_SIZE);
	kvfree(sgl);
	if (n != nr)
		return n < 0 ? n : -EINVAL;
	mr->iova = iova;
	return 0;
}

/**
 * rsock_buf_create() - make a buffer with a memory region of its own
 * @buf: zeroed structure
 * @pd: protection domain
 * @len: bytes that the region is to have, of as many pages as they need
 * @iova: address that the peer is to know it by, a multiple of the page size
 * @gfp: how to allocate
 *
 * Context: process.
 *
 * Return: the region, to be registered, or an ERR_PTR(); then the caller still has
 * to unmap and free the buffer.
 */
struct ib_mr *rsock_buf_create(struct rsock_buf *buf, struct ib_pd *pd,
			       u32 len, u64 iova, gfp_t gfp)
{
	unsigned int nr = PFN_UP(len);
	struct ib_mr *mr;
	int err;

	err = rsock_buf_alloc(buf, nr, gfp);
	if (err)
		return ERR_PTR(err);
	err = rsock_buf_map(buf, pd->device);
	if (err)
		return ERR_PTR(err);
	mr = ib_alloc_mr(pd, IB_MR_TYPE_MEM_REG, nr);
	if (IS_ERR(mr))
		return mr;
	err = rsock_dma_to_mr(buf->dma, len, mr, iova);
	if (!err)
		return mr;
	ib_dereg_mr(mr);
	return ERR_PTR(err);
}

/**
 * rsock_buf_sync() - hand part of a mapped buffer over
 * @buf: mapped buffer
 * @off: first byte
 * @len: bytes
 * @for_cpu: to the CPU, to read what arrived; else back to the device
 */
void rsock_buf_sync(const struct rsock_buf *buf, size_t off, size_t len,
		    bool for_cpu)
{
	while (len) {
		size_t in_page = offset_in_page(off);
		size_t n = min_t(size_t, len, PAGE_SIZE - in_page);
		dma_addr_t dma = buf->dma[off >> PAGE_SHIFT] + in_page;

		if (for_cpu)
			ib_dma_sync_single_for_cpu(buf->dev, dma, n,
						   DMA_BIDIRECTIONAL);
		else
			ib_dma_sync_single_for_device(buf->dev, dma, n,
						      DMA_BIDIRECTIONAL);
		off += n;
		len -= n;
	}
}

/**
 * rsock_buf_snapshot() - copy what the peer may write to at any time
 * @buf: mapped buffer
 * @off: first byte, a multiple of 8
 * @len: bytes, a multiple of 8
 * @copy: where to; each byte is read once
 */
void rsock_buf_snapshot(const struct rsock_buf *buf, size_t off, size_t len,
			void *copy)
{
	const u64 *page;
	size_t i;
	u64 word;

	rsock_buf_sync(buf, off, len, true);
	for (i = 0; i < len; i += sizeof(word)) {
		page = page_address(buf->pages[(off + i) >> PAGE_SHIFT]);
		word = READ_ONCE(page[offset_in_page(off + i) / sizeof(word)]);
		memcpy(copy + i, &word, sizeof(word));
	}
}

/**
 * rsock_buf_clear() - make zero what the peer wrote
 * @buf: mapped buffer
 * @off: first byte, a multiple of 8
 * @len: bytes, a multiple of 8
 */
void rsock_buf_clear(const struct rsock_buf *buf, size_t off, size_t len)
{
	u64 *page;
	size_t i;

	for (i = 0; i < len; i += sizeof(*page)) {
		page = page_address(buf->pages[(off + i) >> PAGE_SHIFT]);
		WRITE_ONCE(page[offset_in_page(off + i) / sizeof(*page)], 0);
	}
	rsock_buf_sync(buf, off, len, false);
}

/**
 * rsock_buf_to_iter() - copy out of a buffer
 * @buf: buffer
 * @off: first byte
 * @len: bytes; off + len lies within the buffer
 * @to: where to
 *
 * Return: bytes copied; fewer than @len if the destination faults.
 */
size_t rsock_buf_to_iter(const struct rsock_buf *buf, size_t off, size_t len,
			 struct iov_iter *to)
{
	size_t done = 0;

	while (done < len) {
		size_t in_page = offset_in_page(off + done);
		size_t n = min_t(size_t, len - done, PAGE_SIZE - in_page);
		size_t copied;
		void *from;

		/*
		 * Not copy_page_to_iter(), which puts the very page into a
		 * pipe (before 6.5), while the peer goes on writing to it
		 */
		from = kmap_local_page(buf->pages[(off + done) >> PAGE_SHIFT]);
		copied = copy_to_iter(from + in_page, n, to);
		kunmap_local(from);
		done += copied;
		if (copied != n)
			break;
	}
	return done;
}
