// SPDX-License-Identifier: GPL-2.0
/*
 * Where AF_RSOCK is meant to differ from TCP, and why. Each line says in which
 * cases, in which line of the record, and from what to what. A difference that
 * is not here is a failure, and so is one that is here and does not occur.
 */
#include <fnmatch.h>

#include "matrix.h"

struct row {
	const char *cases;	/* patterns, but for "rsock" */
	const char *label;
	const char *tcp;
	const char *rsock;
};

struct reason {
	const char *title;
	const char *text;
	const struct row *rows;
	int n;
};

#define ROWS(...) .rows = (const struct row[]) { __VA_ARGS__ },		\
	.n = sizeof((const struct row[]) { __VA_ARGS__ }) / sizeof(struct row)

static const struct reason reasons[] = {
	{
		.title = "No urgent data",
		.text = "The protocol of rsockets has no way to send it.",
		ROWS({ "connected/send MSG_OOB/nonblocking", "send", "5", "EOPNOTSUPP" })
	},
};

static const struct row *row_at(int index, const struct reason **reason)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(reasons); i++) {
		*reason = &reasons[i];
		if (index < reasons[i].n)
			return &reasons[i].rows[index];
		index -= reasons[i].n;
	}
	return NULL;
}

static bool matches(const char *pattern, const char *text)
{
	return !fnmatch(pattern, text, FNM_EXTMATCH);
}

int find_difference(const char *case_name, const char *label, const char *tcp,
		    const char *rsock)
{
	const struct reason *reason;
	const struct row *row;
	int i;

	for (i = 0; (row = row_at(i, &reason)); i++) {
		if (matches(row->cases, case_name) && matches(row->label, label) &&
		    matches(row->tcp, tcp) && (!rsock || !strcmp(row->rsock, rsock)))
			return i;
	}
	return -1;
}

const char *difference_value(int index)
{
	const struct reason *reason;

	return row_at(index, &reason)->rsock;
}

int count_differences(void)
{
	const struct reason *reason;
	int n = 0;

	while (row_at(n, &reason))
		n++;
	return n;
}

void print_difference(int index)
{
	const struct reason *reason;
	const struct row *row = row_at(index, &reason);

	printf("# %s: %s, %s: %s, AF_RSOCK %s\n", reason->title, row->cases, row->label,
	       row->tcp, row->rsock);
}

/* A paragraph, indented, in lines of at most 80 characters */
static void print_text(const char *text)
{
	int column = 0;

	while (*text) {
		int word = strcspn(text, " ");

		if (column && column + 1 + word > 80)
			column = printf("\n") - 1;
		column += printf("%s%.*s", column ? " " : "  ", word, text);
		text += word;
		text += *text == ' ';
	}
	putchar('\n');
}

void print_differences(void)
{
	const struct row *row;
	size_t i;
	int k;

	for (i = 0; i < ARRAY_SIZE(reasons); i++) {
		printf("\n%s\n", reasons[i].title);
		print_text(reasons[i].text);
		printf("\n  ::\n\n");
		for (k = 0; k < reasons[i].n; k++) {
			row = &reasons[i].rows[k];
			printf("    %s: %s: %s, here %s\n", row->cases, row->label, row->tcp,
			       row->rsock);
		}
	}
	putchar('\n');
}
