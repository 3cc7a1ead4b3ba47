/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of matrix_test share. A case does something with sockets and
 * writes a record: lines of a label and a value, of all that a program can see.
 * It is run with TCP first and then with AF_RSOCK, and the records are compared.
 */
#ifndef _SELFTESTS_MATRIX_H
#define _SELFTESTS_MATRIX_H

#include "util.h"

/* --- records (matrix_record.c) ----------------------------------------------- */

#define RECORD_LINES	144

struct record {
	int n;
	bool hung, broken;
	struct {
		char label[32];
		char value[160];
	} line[RECORD_LINES];
};

/* Start a record; "tcp" is TCP's if this one is AF_RSOCK's, else NULL. */
void record_start(struct record *to, const struct record *tcp, const char *case_name);
void rec(const char *label, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The result of a call, with the error and the signals that came. */
void rec_result(const char *label, long long ret);
/*
 * What may settle late is looked at until it is what TCP said, or what the table
 * of differences has for it. With TCP, until it stays the same.
 */
void rec_settled(const char *label, const char *(*look)(int fd), int fd);
void rec_ready(const char *label, int fd);	/* poll() and FIONREAD */
void rec_error(int fd);				/* SO_ERROR */
void rec_name(const char *label, const struct addr *a);
void rec_data(const char *label, const void *buf, ssize_t len);
/* Without waiting: the result of recv(), and what came. */
void rec_recv(const char *label, int fd, size_t len);
void catch_signals(void);

/* Make a call, and record its result. It may be made by another thread. */
extern volatile bool in_call;
#define TRY(label, expr)						\
({									\
	long long _ret;							\
									\
	in_call = true;							\
	errno = 0;							\
	_ret = (long long)(expr);					\
	in_call = false;						\
	rec_result(label, _ret);					\
	_ret;								\
})

/*
 * Have a thread call fn(arg), which has one TRY(). If that blocks, it is sent a
 * signal with SA_RESTART, and then one without. Recorded is what ended it.
 */
void rec_blocking(void (*fn)(void *arg), void *arg, int patience);
/* The same, but once it is blocked, another thread makes the call act(arg). */
void rec_while_blocked(void (*fn)(void *arg), void *arg, int (*act)(void *arg));

/* --- intended differences (matrix_diff.c) -------------------------------------- */

/* The index of the difference that says so, or -1; "rsock" NULL: any */
int find_difference(const char *case_name, const char *label, const char *tcp,
		    const char *rsock);
const char *difference_value(int index);	/* what AF_RSOCK has instead */
bool difference_must_occur(int index);
int count_differences(void);
void print_difference(int index);
void print_differences(void);			/* the reasons, for the documentation */

/* --- cases ------------------------------------------------------------------- */

struct matrix_case {
	char name[80];
	void (*run)(const struct matrix_case *c);
	const struct state *state;
	const struct call *call;
	int mode;
	int ip;
	const struct waiter *waiter;
	const struct action *action;
	void (*script)(void);
};

struct script {
	const char *name;
	void (*run)(void);
};

void add_product(void);				/* matrix_product.c */
void add_waiting(void);				/* matrix_wait.c */
void add_options(void);				/* matrix_options.c */
void add_uring(void);				/* matrix_uring.c, if the kernel has it */
struct matrix_case *new_script(const char *group, const struct script *script);
void add_scripts(const char *group, const struct script *scripts, int n);
extern const struct script name_scripts[], data_scripts[], ready_scripts[], life_scripts[],
	ioctl_scripts[];
extern const int nr_name_scripts, nr_data_scripts, nr_ready_scripts, nr_life_scripts,
	nr_ioctl_scripts;
struct matrix_case *new_case(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* --- sockets in a state (matrix_states.c) ---------------------------------------- */

extern int matrix_ip;		/* their version of IP; IPV4 unless set */

struct place {
	int fd;			/* the socket in question */
	int peer;		/* its peer, or -1 */
	int other;		/* one that keeps it in this state */
};

struct state {
	const char *name;
	void (*make)(struct place *p);
	bool waits;		/* there are calls that wait for something */
};

extern const struct state states[];
extern const int nr_states;

struct place make_state(const char *name);
struct addr dead_address(void);			/* nobody answers there */
struct addr refusing_address(void);		/* nobody listens there */
struct addr live_address(void);			/* somebody does */

/* --- calls (matrix_calls.c) -------------------------------------------------------- */

struct call {
	const char *name;
	void (*make)(struct place *p);
	bool waits;		/* may wait, so that it is tried with a blocking socket */
	int patience;		/* ms that it may sleep on its way, 0: few */
	bool ip;		/* the version of IP may matter */
};

extern const struct call calls[];
extern const int nr_calls;

#endif /* _SELFTESTS_MATRIX_H */
