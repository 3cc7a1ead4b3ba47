/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MODEL_H
#define _MODEL_H

#include "win.h"

/*
 * Two hosts, connected by an RDMA-capable wire in both directions, send each
 * other a stream as the scheduling by a random number generator has it. The
 * memory that is written remotely is real, and so is the check that nobody
 * writes what was not granted.
 */

enum model_kind {
	MODEL_KERNEL,		/* our txwin and rxwin */
	MODEL_USER,		/* what the user-space implementation does */
};

/**
 * struct model_host_cfg - one host
 * @kind: whose flow control
 * @ring: bytes of its receive buffer; even for MODEL_USER
 * @grow: bytes of the ring that it gets in between (MODEL_KERNEL); 0: none
 * @first: bytes granted when connecting (MODEL_KERNEL; else half of @ring)
 * @credits: messages that it lets its peer be ahead
 * @entries: of its SGL table; 0 means 2, the only choice of MODEL_KERNEL
 * @max_msg: it sends no larger message
 * @total: bytes that it sends
 * @small_grants: grant parts of what could be granted (MODEL_KERNEL)
 * @eager: grant even a single free byte (MODEL_KERNEL)
 * @foreign: not of our byte order (MODEL_USER)
 * @iomaps: now and then it sends an iomap entry
 * @notes: it sends notes (MODEL_KERNEL, and to such a host)
 */
struct model_host_cfg {
	enum model_kind kind;
	u32 ring;
	u32 grow;
	u32 first;
	u16 credits;
	u8 entries;
	u32 max_msg;
	u32 total;
	bool small_grants;
	bool eager;
	bool foreign;
	bool iomaps;
	bool notes;
};

struct model_cfg {
	const char *name;
	int seeds;
	struct model_host_cfg host[2];
};

/* Returns whether all went well; if not, *why is set */
bool model_run(const struct model_cfg *cfg, u64 seed, const char **why);

#endif /* _MODEL_H */
