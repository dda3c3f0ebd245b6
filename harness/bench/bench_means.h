/*
 * bench_means: the means of two rows of library_perf.csv with the standard errors that their
 * comparison gives them (bench_compare.h).
 *
 * In this order, by what the rows tell:
 *	- levels of processes that were alive together: their paired ratio (paired.h); the error
 *	  is B's
 *	- the same of means of processes, which an earlier profrig wrote alone
 *	- levels of processes that were not: the ratio of geometric means, each with its own error
 *	- the means and intervals of the rows
 * With processes A's mean is that of its row, and B's is A's times the ratio, so that all that
 * follows from the two agrees with the ratio.
 */
#ifndef BENCH_MEANS_H
#define BENCH_MEANS_H

#include <stdbool.h>

#include "profrig/base/contrast.h"
#include "profrig/bench/bench_tables.h"

struct bench_means {
	struct contrast_mean a, b;
	bool paired, levels; /* as in bench_pair */
	double speed, extra;
};

/* Whether the blocks of both took turns. */
bool bench_together(const struct bench_tables *t, const struct bench_table_row *a,
		    const struct bench_table_row *b);
struct bench_means bench_means(const struct bench_tables *t, const struct bench_table_row *a,
			       const struct bench_table_row *b);

#endif
