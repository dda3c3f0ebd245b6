/*
 * bench_stats: what measured blocks say about the time of one call.
 *
 * A block is a number of calls in a row, timed as one; its value is the time of one call. Blocks
 * were measured in several processes. Mean, median, standard deviation and minimum are those of
 * blocks. The interval is the wider one of
 *
 *	mean ± t(P − 1)·s/√P	over the means of P ≥ 2 processes, s their standard deviation
 *	mean ± t(N − 1)·s/√N	over N ≥ 2 blocks
 *
 * with Student's t: blocks of one process share its memory layout, and an interval over blocks
 * alone would promise more than a new process keeps. With one block it is unknown.
 *
 * Drift: the mean of the first third of blocks, in the order in which they were measured, differs
 * from that of the last third by more than three standard errors of the difference.
 */
#ifndef PROFRIG_BENCH_STATS_H
#define PROFRIG_BENCH_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BENCH_CONFIDENCE 0.95

struct bench_block {
	double us;        /* of one call */
	unsigned process; /* ascending */
};

struct bench_figures {
	uint64_t blocks, processes;
	double mean, median, stddev, min; /* µs; NaN without blocks; stddev 0 for one */
	double error;                     /* the larger standard error of the mean; NaN unknown */
	double low, high;                 /* of the interval; NaN unknown */
	double drift;                     /* (last third − first third) / mean */
	bool drifts;
};

double bench_median(double *v, size_t nr); /* v is sorted by it; NaN without values */
void bench_stats(const struct bench_block *blocks, size_t nr, struct bench_figures *ret);

#endif
