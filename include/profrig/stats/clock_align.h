/*
 * clock_align: offsets of the clocks of ranks, and where it matters their drift, found from events
 * that end at one true moment on all ranks that take part: the ends of collectives.
 *
 *	struct clock_alignment ca;
 *	clock_align(events, nr, nr_ranks, &ca);
 *	t' = clock_common_ns(&ca.ranks.v[r], t);	rank r's time on the common clock
 *	clock_alignment_release(&ca);
 *
 * Model: t(i, r) = e(i) + offset(r) + drift(r) · (e(i) − pivot) + residual, for each event of rank
 * r in instance i. Offsets minimise Σ |residual| (least absolute deviations), so that less than
 * half of the events of a rank being late, or wrong, does not move its clock. Common time is that
 * of the mean of the ranks of a component: their offsets add up to 0, to a ns for each rank.
 *
 * Components: ranks that no chain of instances joins have no common clock. Each component is
 * solved alone; a rank that shares no instance is in none (CLOCK_ALONE) and keeps its times.
 * Ranks may be missing from any instance.
 *
 * Method
 *	1. Instances with the same ranks, the most frequent set first, join clusters of ranks by the
 *	   median of their differences: exact where there is no noise.
 *	2. Rank after rank moves to where the sum is least while all others stay. With e(i) at its
 *	   best for each offset(r) the sum is Σ dist(t − offset, [a, b]) over the instances, where
 *	   a and b are the medians of the other ranks; it is least at the median of all t − a and
 *	   t − b. Sweeps go on until nothing moves by more than 1 ns, at most CLOCK_SWEEPS_MAX, of
 *	   more than 170 000 events fewer (but 8): the last ones move clocks by next to nothing.
 *	3. The same with lines instead of medians (l1_line.h) gives drifts. A component keeps them
 *	   when they cut Σ |residual| by more than CLOCK_DRIFT_GAIN, also for each degree of
 *	   freedom, and by more than chance would: q drifts that are none, in noise of Laplace's
 *	   distribution, cut about q/2 mean residuals, and these have to cut q + 3·√(2q); and when
 *	   residuals are more than the 1 ns of the clocks' resolution.
 * A sweep takes n·log n in the events.
 *
 * The answer depends neither on the order of events nor on how instances are numbered.
 */
#ifndef PROFRIG_CLOCK_ALIGN_H
#define PROFRIG_CLOCK_ALIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profrig/base/vec.h"

#define CLOCK_SWEEPS_MAX 200
#define CLOCK_DRIFT_GAIN 0.05
#define CLOCK_ALONE UINT32_MAX

struct clock_event {
	uint32_t instance, rank; /* of one rank in an instance the earliest event counts */
	int64_t t_ns;
};

struct clock_rank {
	uint32_t component; /* CLOCK_ALONE */
	uint64_t events;    /* that it shares with others */
	/* common = t − offset − drift · (t − offset − pivot) */
	int64_t offset_ns, pivot_ns;
	double drift; /* ns/ns */
	double residual_std_ns /* divided by events */, residual_max_ns, residual_sum_ns;
	/* of clock_bounds alone: the offset is known to ±bound_ns; 0 of the rank it counts from */
	double bound_ns;
	uint64_t reversed, reversed_left; /* messages received too early: as recorded, aligned */
};

struct clock_component {
	uint64_t ranks, instances, events;
	/* Σ |residual|: of the times as they are, with offsets, with offsets and drifts */
	double raw_sum_ns, offset_sum_ns, drift_sum_ns;
	bool drifts; /* they are in the ranks' maps */
};

struct clock_alignment {
	VEC(struct clock_rank) ranks;
	VEC(struct clock_component) components; /* in the order of their lowest ranks */
};

void clock_align(const struct clock_event *v, size_t nr, uint32_t nr_ranks,
		 struct clock_alignment *ret);
void clock_alignment_release(struct clock_alignment *ca);

int64_t clock_common_ns(const struct clock_rank *r, int64_t t_ns);
/* How far the clock of the rank is ahead when it says t. */
int64_t clock_offset_at_ns(const struct clock_rank *r, int64_t t_ns);

#endif
