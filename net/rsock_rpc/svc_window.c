// SPDX-License-Identifier: GPL-2.0
/*
 * The server's memory that a client may place the data of its calls in: windows.
 *
 * One that sends long calls gets one, and more as it uses them. A work maps them,
 * since that may have to wait for what is sent before. A call claims the first, or
 * a later one and those before it are void; it is unmapped before the call is
 * executed, whose pages are those of the window from then on; and the work maps it
 * anew, with other pages in their place, at the next offset.
 *
 * The pages come zeroed, since a client can claim to have written what it did not.
 */

#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/sunrpc/svc.h>

#include "rpc.h"

/* Of all memory the part that all windows together may take */
#define RRPC_WINDOWS_SHARE	32

static atomic_long_t rrpc_nr_window_pages;

static void rrpc_window_free(struct rrpc_window *w)
{
	unsigned int i;

	for (i = 0; i < w->nr; i++)
		if (w->pages[i])
			put_page(w->pages[i]);
	atomic_long_sub(w->nr, &rrpc_nr_window_pages);
	kfree(w);
}

static struct rrpc_window *rrpc_window_alloc(const struct rrpc_svc *svc)
{
	u32 nr = min_t(u32, svc->xprt.xpt_server->sv_max_payload, RRPC_WINDOW) /
		 PAGE_SIZE;
	unsigned long max = totalram_pages() / RRPC_WINDOWS_SHARE;
	struct rrpc_window *w;

	w = kzalloc(struct_size(w, pages, nr), GFP_KERNEL);
	if (!w)
		return NULL;
	w->nr = nr;
	if (atomic_long_add_return(nr, &rrpc_nr_window_pages) <= max)
		return w;
	rrpc_window_free(w);
	return NULL;
}

/* Pages in the place of those that calls have taken */
static int rrpc_window_fill(struct rrpc_window *w)
{
	unsigned int i;

	for (i = 0; i < w->nr; i++) {
		if (!w->pages[i])
			w->pages[i] = alloc_page(GFP_KERNEL | __GFP_ZERO |
						 __GFP_NORETRY | __GFP_NOWARN);
		if (!w->pages[i])
			return -ENOMEM;
	}
	return 0;
}

static int rrpc_window_map(struct rrpc_svc *svc, struct rrpc_window *w,
			   u64 offset)
{
	u32 len = w->nr * PAGE_SIZE;
	struct rrpc_chunk c = { .offset = offset, .len = len };
	struct xdr_buf xdr = {
		.pages = w->pages,
		.page_len = len,
		.len = len,
	};
	struct rsock_mapping *map;
	int err;

	err = rrpc_window_fill(w);
	if (err)
		return err;
	map = rrpc_map(&svc->s, &xdr, &c);
	if (IS_ERR(map))
		return PTR_ERR(map);
	w->map = map;
	return 0;
}

static struct rrpc_window **rrpc_window_at(struct rrpc_svc *svc, u64 offset)
{
	return &svc->window[offset / RRPC_WINDOW % RRPC_WINDOWS];
}

/* How many are mapped, out of those that may be */
static unsigned int rrpc_nr_windows(struct rrpc_svc *svc, bool *lack)
{
	unsigned int nr;

	spin_lock_bh(&svc->window_lock);
	nr = (svc->next_window - svc->first_window) / RRPC_WINDOW;
	*lack = nr < svc->max_windows;
	spin_unlock_bh(&svc->window_lock);
	return nr;
}

/* One that is not mapped, from another slot than that of the next */
static struct rrpc_window *rrpc_window_idle(struct rrpc_svc *svc,
					    unsigned int mapped)
{
	struct rrpc_window **slot, *w = NULL;
	unsigned int i;

	for (i = 1; i < RRPC_WINDOWS - mapped && !w; i++) {
		slot = rrpc_window_at(svc, svc->next_window + i * RRPC_WINDOW);
		swap(w, *slot);
	}
	return w;
}

/* One at a time: rrpc_window_check() may wait for that */
static void rrpc_window_work(struct work_struct *work)
{
	struct rrpc_svc *svc = container_of(work, struct rrpc_svc, window_work);
	struct rrpc_window **w = rrpc_window_at(svc, svc->next_window);
	unsigned int mapped;
	bool lack;

	mapped = rrpc_nr_windows(svc, &lack);
	if (!lack)
		return;
	if (!*w)
		*w = rrpc_window_idle(svc, mapped) ?: rrpc_window_alloc(svc);
	if (!*w || rrpc_window_map(svc, *w, svc->next_window))
		return;
	spin_lock_bh(&svc->window_lock);
	svc->next_window += RRPC_WINDOW;
	spin_unlock_bh(&svc->window_lock);
	rrpc_windows_want(svc);
}

/**
 * rrpc_windows_init() - a connection begins without windows
 * @svc: connection
 */
void rrpc_windows_init(struct rrpc_svc *svc)
{
	spin_lock_init(&svc->window_lock);
	INIT_WORK(&svc->window_work, rrpc_window_work);
	svc->max_windows = 1;
}

/**
 * rrpc_windows_want() - the client has use for windows
 * @svc: connection
 */
void rrpc_windows_want(struct rrpc_svc *svc)
{
	queue_work(system_unbound_wq, &svc->window_work);
}

/* Nobody waits for the client, which has lost the connection if it minds */
static void rrpc_window_unmap(struct rrpc_window *w)
{
	rsock_mapping_set_used(w->map);
	rsock_unmap(w->map);
	w->map = NULL;
}

/**
 * rrpc_windows_end() - there is no connection any more
 * @svc: connection, whose socket was released
 */
void rrpc_windows_end(struct rrpc_svc *svc)
{
	struct rrpc_window *w;
	unsigned int i;

	for (i = 0; i < RRPC_WINDOWS; i++) {
		w = svc->window[i];
		if (!w)
			continue;
		if (w->map)
			rrpc_window_unmap(w);
		rrpc_window_free(w);
	}
}

/* Is there a window at an offset? */
static bool rrpc_window_is_mapped(struct rrpc_svc *svc, u64 offset)
{
	bool mapped;

	spin_lock_bh(&svc->window_lock);
	mapped = offset >= svc->first_window && offset < svc->next_window;
	spin_unlock_bh(&svc->window_lock);
	return mapped && !(offset % RRPC_WINDOW);
}

/* Bytes of a call's header if it is one whose data may be placed, else 0 */
static u32 rrpc_call_header(const __be32 *call, u32 len)
{
	/* xid, direction, version of RPC, program, version, procedure */
	u32 at = 6 * sizeof(*call);
	int i;

	if (len <= at + sizeof(*call) || call[1] != cpu_to_be32(RPC_CALL) ||
	    be32_to_cpu(call[6]) > RPC_AUTH_UNIX)
		return 0;
	/* Credential and verifier */
	for (i = 0; i < 2; i++) {
		const __be32 *auth = call + at / sizeof(*call);

		if (len < at + 2 * sizeof(*call) ||
		    be32_to_cpu(auth[1]) > RPC_MAX_AUTH_SIZE)
			return 0;
		at += 2 * sizeof(*call) + xdr_align_size(be32_to_cpu(auth[1]));
	}
	return len < at ? 0 : at;
}

/**
 * rrpc_window_fits() - is it a call that what was placed has a place in?
 * @c: what was
 * @call: the rest of the call
 * @len: its bytes
 *
 * What services take for granted of a call's beginning, and of credentials that
 * are a checksum of it, is all in @call.
 */
bool rrpc_window_fits(const struct rrpc_chunk *c, const void *call, u32 len)
{
	u32 header = rrpc_call_header(call, len);

	return header && c->pos >= header && IS_ALIGNED(c->pos, sizeof(__be32)) &&
	       len - c->pos >= xdr_pad_size(c->len);
}

/**
 * rrpc_window_check() - may a call claim this?
 * @svc: connection; XPT_BUSY is held
 * @c: what the client says; it may say anything
 * @len: bytes of the rest of the call
 *
 * This is where that is checked, but for rrpc_window_fits().
 *
 * Return: 0 or -EPROTO.
 */
int rrpc_window_check(struct rrpc_svc *svc, const struct rrpc_chunk *c, u32 len)
{
	if (len > RRPC_PLACED_REST || c->pos > len)
		return -EPROTO;
	/*
	 * The client may know of it before we do; what is left of the work takes no
	 * time then. One that lies has this thread wait for what it does not take
	 * itself, 20 s at most, as one has who does not read its replies.
	 */
	if (!rrpc_window_is_mapped(svc, c->offset))
		flush_work(&svc->window_work);
	if (!rrpc_window_is_mapped(svc, c->offset))
		return -EPROTO;
	if (!c->len || c->len > (*rrpc_window_at(svc, c->offset))->nr * PAGE_SIZE)
		return -EPROTO;
	return 0;
}

/**
 * rrpc_window_claim() - a call takes the pages of its window
 * @svc: connection; XPT_BUSY is held
 * @c: what it claims, checked
 * @pages: where they go; those that are there are put
 */
void rrpc_window_claim(struct rrpc_svc *svc, const struct rrpc_chunk *c,
		       struct page **pages)
{
	struct rrpc_window *w = *rrpc_window_at(svc, c->offset);
	u64 offset = svc->first_window;
	unsigned int i;

	for (; offset <= c->offset; offset += RRPC_WINDOW)
		rrpc_window_unmap(*rrpc_window_at(svc, offset));
	for (i = 0; i < DIV_ROUND_UP(c->len, PAGE_SIZE); i++) {
		put_page(pages[i]);
		pages[i] = w->pages[i];
		w->pages[i] = NULL;
	}
	spin_lock_bh(&svc->window_lock);
	svc->first_window = offset;
	svc->max_windows = min(svc->max_windows + 1, RRPC_WINDOWS);
	spin_unlock_bh(&svc->window_lock);
	rrpc_windows_want(svc);
}
