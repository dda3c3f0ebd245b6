/*
 * clock_solver: steps 1 to 3 of clock_align.h on events that are in order: corrections of ranks
 * that minimise Σ |residual|, as offsets alone or as lines.
 *
 * Time c of an event with the time x: c = x − offset − drift · (x − pivot).
 */
#ifndef PROFRIG_CLOCK_SOLVER_H
#define PROFRIG_CLOCK_SOLVER_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Times and offsets stay inside this range, so that no sum or difference overflows. */
#define CLOCK_REACH (INT64_C(1) << 60)

/* To the nearest ns inside it; what is no number is 0. */
static inline int64_t clock_round(double ns)
{
	if (isnan(ns))
		return 0;
	return ns >= (double)CLOCK_REACH    ? CLOCK_REACH
	       : ns <= -(double)CLOCK_REACH ? -CLOCK_REACH
					    : llround(ns);
}

struct clock_solver {
	/* events by instance, then rank; each instance has at least two ranks */
	size_t nr, instances, ranks;
	const uint32_t *rank;
	const size_t *first; /* of each instance, and nr */
	int64_t *x, *c;
	bool lines;
	/* by rank */
	int64_t *offset, *pivot;
	double *drift;
	uint32_t *cluster; /* after clock_solver_join: equal for ranks that instances join */
	/* private */
	size_t *rank_first, *of_rank; /* events of each rank */
	uint32_t *instance;           /* of each event */
	int64_t *sorted;              /* c of each instance, ascending; of the last descent */
};

/* rank and first are borrowed, x is taken over. */
void clock_solver_init(struct clock_solver *s, const uint32_t *rank, const size_t *first,
		       size_t instances, size_t ranks, int64_t *x);
void clock_solver_release(struct clock_solver *s);

/* Starts from no correction and joins all ranks that it can. Afterwards c is up to date. */
void clock_solver_join(struct clock_solver *s);
/* Sweeps until nothing moves. */
void clock_solver_descend(struct clock_solver *s);
/* The best e of an instance; of an even number of ranks the middle of the median's range, twice. */
int64_t clock_solver_end_twice(const struct clock_solver *s, size_t instance);

#endif
