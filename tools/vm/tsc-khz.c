// SPDX-License-Identifier: GPL-2.0
/*
 * Print the frequency of the time stamp counter in kHz. A guest under TCG
 * sees the host's counter; unless it is told, it calibrates against an
 * emulated timer, which fails whenever the host is busy.
 */
#include <stdio.h>
#include <time.h>
#include <x86intrin.h>

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

int main(void)
{
	struct timespec pause = { .tv_nsec = 50 * 1000 * 1000 };
	double t0 = now();
	unsigned long long c0 = __rdtsc();

	nanosleep(&pause, NULL);
	printf("%.0f\n", (__rdtsc() - c0) / (now() - t0) / 1000);
	return 0;
}
