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
 * Levels: what a host does to a process (other work, another machine below the same hypervisor, the
 * clock) comes in phases and makes blocks slower. A mean has the phases in it that happened to hit
 * it; a level leaves them out. Of sides whose blocks took turns (block k of all sides lie
 * milliseconds apart), for each process with n blocks of a side, and for windows of 1, 3 and 8
 * blocks one after the other (n/1, n/3 and n/8 of them, rounded down, at least one):
 *
 *	m(s, w)	the fastest block of side s in window w
 *	g(w)	the geometric mean of m(s, w) over the sides
 *	R(s)	the median over w of m(s, w)/g(w), by the geometric mean of these medians
 *	level	the median of the three R(s), times the median g(w) of the widest windows
 *
 * The ratio of two sides' levels is thus a median of ratios of neighbours, in which phases that are
 * longer than a window are in both, and a window with a phase in one side alone is an outlier. A
 * wide window leaves out short phases of a host that is mostly at its best, a narrow one finds
 * blocks of all sides in one state where it is mostly slow; the median of the three is never far
 * from the better one. Measured with phases of 6 ms to 1 s that slow by 25 to 80 %, and with other
 * work on two processors: ratios of processes scatter by a fifth to two thirds of what ratios of
 * means do. They do not show that a library is slow by itself in some of its blocks alone.
 *
 * Drift: the mean of the first third of blocks, in the order in which they were measured, differs
 * from that of the last third by more than three standard errors of the difference. Of more than 24
 * blocks those that follow each other are averaged to as many values, as they share phases.
 */
#ifndef PROFRIG_BENCH_STATS_H
#define PROFRIG_BENCH_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BENCH_CONFIDENCE 0.95
#define BENCH_LEVELS_TRIMMED 0.15 /* of the processes, at each end (paired.h): from 7 on one */

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

struct bench_turns {
	const struct bench_block *blocks;
	size_t nr;
};
/*
 * Levels of all processes, µs: ret[s * room + p] of side s and process p. Returns the number of
 * processes; 0: there are none, or more than room, or the sides do not have as many blocks of each.
 */
size_t bench_levels(const struct bench_turns *sides, size_t nr, double *ret, size_t room);

#endif
