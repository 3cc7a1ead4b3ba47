// SPDX-License-Identifier: GPL-2.0
/*
 * Fuzz target: connection data. The input is the private data as it arrives.
 */

#include "fuzz.h"

static u64 be(const u8 *p, int bytes)
{
	u64 v = 0;

	while (bytes--)
		v = v << 8 | *p++;
	return v;
}

/* What the decoder should say, in other words than its own */
static int verdict(const u8 *d, size_t size)
{
	u64 slots = 0;

	if (size < 40)
		return RSOCK_FAULT_CONN_SHORT;
	if (d[0] != 1)
		return RSOCK_FAULT_CONN_VERSION;
	if (d[1] & 2)
		slots = d[7] > 128 ? (d[7] - 128) * 256 : d[7];
	if (be(d + 20, 4) < 2 || be(d + 20, 4) > 64 ||
	    !fits(be(d + 8, 8), be(d + 20, 4) * 16 + slots * 24))
		return RSOCK_FAULT_CONN_SGL;
	if (!be(d + 36, 4) || !fits(be(d + 24, 8), be(d + 36, 4)))
		return RSOCK_FAULT_CONN_BUF;
	return RSOCK_FAULT_NONE;
}

static void check_fields(const u8 *d, size_t size, const struct rsock_conn *c)
{
	struct rsock_sge sgl = { be(d + 8, 8), be(d + 16, 4), be(d + 20, 4) };
	struct rsock_sge buf = { be(d + 24, 8), be(d + 32, 4), be(d + 36, 4) };
	bool ext = size >= 56 && be(d + 40, 4) == 0x72736b78 && d[44] == 1;

	require_eq(c->flags, d[1], "flags");
	require_eq(c->credits, be(d + 2, 2), "credits");
	require_sge(&c->sgl, &sgl, "sgl");
	require_sge(&c->buf, &buf, "buf");
	require_eq(c->has_ext, ext, "extension");
	require_eq(c->ext_features, ext ? be(d + 48, 4) : 0, "features");
	require(c->iomap_slots <= 32512, "iomap slots");
	require((c->flags & 2) || !c->iomap_slots, "iomap slots without flag");
}

static void check_again(const struct rsock_conn *c)
{
	u8 out[RSOCK_CONN_EXT_LEN], twice[RSOCK_CONN_EXT_LEN];
	struct rsock_conn again;
	size_t len;

	len = rsock_conn_encode(c, out);
	require_eq(len, c->has_ext ? 56 : 40, "encoded length");
	require_eq(verdict(out, len), RSOCK_FAULT_NONE, "encoded is valid");
	require_eq(rsock_conn_decode(out, len, &again), RSOCK_FAULT_NONE,
		   "encoded decodes");
	check_fields(out, len, &again);
	require_eq(again.iomap_slots, c->iomap_slots, "iomap slots");
	require_eq(rsock_conn_encode(&again, twice), len, "second length");
	require(!memcmp(out, twice, sizeof(out)), "encodes the same");
}

int fuzz_one(const u8 *data, size_t size)
{
	struct rsock_conn c, before;
	int fault;

	memset(&c, 0xa5, sizeof(c));
	memcpy(&before, &c, sizeof(c));
	fault = rsock_conn_decode(data, size, &c);
	require_eq(fault, verdict(data, size), "fault");
	if (fault) {
		require(!memcmp(&before, &c, sizeof(c)), "output untouched");
		return 0;
	}
	check_fields(data, size, &c);
	check_again(&c);
	return 0;
}
