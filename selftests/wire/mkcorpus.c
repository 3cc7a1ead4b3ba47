// SPDX-License-Identifier: GPL-2.0
/*
 * Writes the unit tests' vectors as seeds for the fuzz targets, one file each:
 * mkcorpus DIR, where DIR/conn, DIR/msg and DIR/win exist.
 */

#include "checks.h"

#include <stdio.h>
#include <stdlib.h>

#define SEED_MAX	1024

struct seed {
	u8 data[SEED_MAX];
	size_t size;
};

static void put(struct seed *s, u64 v, int bytes)
{
	if (s->size + bytes > SEED_MAX)
		return;
	while (bytes--)
		s->data[s->size++] = v >> 8 * bytes;
}

static void save(const struct seed *s, const char *dir, const char *kind,
		 const char *sub, int nr)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s/%s%02d", dir, kind, sub, nr);
	f = fopen(path, "w");
	if (!f || fwrite(s->data, 1, s->size, f) != s->size || fclose(f)) {
		perror(path);
		exit(EXIT_FAILURE);
	}
}

static void conn_seed(struct seed *s, const struct vec_conn *v)
{
	s->size = v->len;
	vec_conn_bytes(v, s->data);
}

static void msg_seed(struct seed *s, const struct vec_msg *v, int i)
{
	const struct vec_iomap *e = &vec_iomaps[i % VEC_COUNT(vec_iomaps)];
	const struct vec_sge *sge = &vec_sges[i % VEC_COUNT(vec_sges)];
	const struct vec_note *note = &vec_notes[i % VEC_COUNT(vec_notes)];
	const u8 *tails[] = { e->le + 8, sge->le, note->le };
	const u8 *tail = tails[i % VEC_COUNT(tails)];

	s->size = 0;
	put(s, v->imm, 4);
	put(s, v->byte_len, 4);
	put(s, 7, 1);
	put(s, v->slots, 2);
	for (i = 0; i < RSOCK_IOMAP_LEN; i++)
		put(s, i < 8 ? e->le[i] : tail[i - 8], 1);
}

/* The head of fuzz_win.c's input: how the two windows start */
static void win_start(struct seed *s, const struct vec_txwin *tx,
		      const struct vec_rxwin *rx)
{
	s->size = 0;
	put(s, tx->credits, 2);
	put(s, rx->entries ? rx->entries - 2 : 0, 1);
	put(s, tx->addr, 8);
	put(s, VEC_KEY_FIRST, 4);
	put(s, tx->len, 4);
	put(s, rx->size - 1, 4);
	put(s, 0, 1);
	put(s, rx->first - 1, 4);
	put(s, rx->credits - 1, 2);
	put(s, 0, 2);
}

/* One of its steps */
static void win_step(struct seed *s, const struct vec_step *step)
{
	switch (step->op) {
	case VEC_CREDIT:
		put(s, 0, 1);
		put(s, step->a, 2);
		break;
	case VEC_TXGRANT:
		put(s, 3, 1);
		put(s, step->off, 8);
		put(s, VEC_KEY_GRANT, 4);
		put(s, step->a, 4);
		break;
	case VEC_TAKE:
		put(s, 5, 1);
		put(s, step->a - 1, 4);
		break;
	case VEC_TXCOUNTED:
		put(s, 16, 1);
		break;
	case VEC_DATA:
		put(s, 7, 1);
		put(s, step->a, 4);
		break;
	case VEC_COUNTED:
		put(s, 10, 1);
		break;
	case VEC_HELD:
		put(s, 17, 1);
		break;
	case VEC_RELEASE:
		put(s, 19, 1);
		put(s, 1, 2);
		break;
	case VEC_UNREAD:
		put(s, 21, 1);
		put(s, step->a, 4);
		break;
	case VEC_CONSUME:
		put(s, 11, 1);
		put(s, step->a, 4);
		break;
	case VEC_GROW:
		put(s, 23, 1);
		put(s, step->a - 1, 4);
		break;
	case VEC_RXGRANT:
		put(s, 13, 1);
		put(s, step->a - 1, 4);
		break;
	case VEC_TELL:
		put(s, 14, 1);
		break;
	}
}

static void win_steps(struct seed *s, const struct vec_step *steps, int n)
{
	u32 i;

	for (; n-- && steps->op; steps++) {
		win_step(s, steps);
		for (i = 1; i < steps->n && i < 8; i++)
			win_step(s, steps);
	}
}

int main(int argc, char **argv)
{
	struct seed s;
	int i;

	if (argc != 2) {
		fprintf(stderr, "usage: mkcorpus DIR\n");
		return EXIT_FAILURE;
	}
	for (i = 0; i < VEC_COUNT(vec_conns); i++) {
		conn_seed(&s, &vec_conns[i]);
		save(&s, argv[1], "conn", "", i);
	}
	for (i = 0; i < VEC_COUNT(vec_msgs); i++) {
		msg_seed(&s, &vec_msgs[i], i);
		save(&s, argv[1], "msg", "", i);
	}
	for (i = 0; i < VEC_COUNT(vec_txwins); i++) {
		win_start(&s, &vec_txwins[i], &vec_rxwins[0]);
		win_steps(&s, vec_txwins[i].steps,
			  VEC_COUNT(vec_txwins[i].steps));
		save(&s, argv[1], "win", "tx", i);
	}
	for (i = 0; i < VEC_COUNT(vec_rxwins); i++) {
		win_start(&s, &vec_txwins[0], &vec_rxwins[i]);
		win_steps(&s, vec_rxwins[i].steps,
			  VEC_COUNT(vec_rxwins[i].steps));
		save(&s, argv[1], "win", "rx", i);
	}
	return EXIT_SUCCESS;
}
