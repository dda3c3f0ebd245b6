/*
 * What one traced call costs: the same loop of tiny ddot calls and of roctx pushes with and without
 * the tracers. Run by `make bench`.
 */
#include <cblas.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

extern int roctxRangePushA(const char *) __attribute__((weak));
extern int roctxRangePop(void) __attribute__((weak));

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double ns_per_dot(int n)
{
	double x[4] = { 1, 2, 3, 4 }, sum = 0, t0 = now();

	for (int i = 0; i < n; i++)
		sum += cblas_ddot(4, x, 1, x, 1);
	double t = (now() - t0) * 1e9 / n;
	return sum > 0 ? t : 0;
}

static double ns_per_range(int n)
{
	double t0 = now();

	for (int i = 0; i < n && roctxRangePushA; i++) {
		roctxRangePushA("range");
		roctxRangePop();
	}
	return (now() - t0) * 1e9 / n / 2;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* Prints the median of `rounds` rounds: "<ns per BLAS call> <ns per roctx call>". */
int main(void)
{
	enum { ROUNDS = 7, N = 200000 };
	double dot[ROUNDS], range[ROUNDS];

	ns_per_dot(N);
	for (int i = 0; i < ROUNDS; i++) {
		dot[i] = ns_per_dot(N);
		range[i] = ns_per_range(N);
	}
	qsort(dot, ROUNDS, sizeof(*dot), by_value);
	qsort(range, ROUNDS, sizeof(*range), by_value);
	printf("%.1f %.1f\n", dot[ROUNDS / 2], range[ROUNDS / 2]);
	return 0;
}
