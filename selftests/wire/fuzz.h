/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _FUZZ_H
#define _FUZZ_H

/* What the fuzz targets share: reading from the input, and giving up */

#include "wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The Makefile gives it the name that libFuzzer looks for */
int fuzz_one(const u8 *data, size_t size);

/**
 * struct input - unread part of what the fuzzer made up
 *
 * Behind its end there are zeroes.
 */
struct input {
	const u8 *data;
	size_t size;
};

static inline u64 input_get(struct input *in, int bytes)
{
	u64 v = 0;

	while (bytes--) {
		v <<= 8;
		if (in->size) {
			v |= *in->data++;
			in->size--;
		}
	}
	return v;
}

static inline void require(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "does not hold: %s\n", what);
	abort();
}

static inline void require_eq(u64 got, u64 want, const char *what)
{
	if (got == want)
		return;
	fprintf(stderr, "%s: 0x%llx, not 0x%llx\n", what, got, want);
	abort();
}

static inline void require_sge(const struct rsock_sge *got,
			       const struct rsock_sge *want, const char *what)
{
	require_eq(got->addr, want->addr, what);
	require_eq(got->key, want->key, what);
	require_eq(got->len, want->len, what);
}

/* Does a buffer end within the address space, and its end too? */
static inline bool fits(u64 addr, u64 len)
{
	return len <= ~addr;
}

#endif /* _FUZZ_H */
