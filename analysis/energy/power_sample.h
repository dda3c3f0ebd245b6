/*
 * power_sample: the interval logs of a share group's lanes on one grid, as data of a power fit.
 *
 *	sample_make(&s, group, g, level, classes)	entries by interval
 *	sample_data_make(&d, &s, counter)		for a counter of the grid
 *	sample_data_release(&d), sample_release(&s)
 *
 * Host view: a class has its share of the device's time, the base class (number s.classes) the time
 * when no process is active. Device view: a class has its own running time, the base class is the
 * static power, of which a class is charged for its share of the time.
 */
#ifndef POWER_SAMPLE_H
#define POWER_SAMPLE_H

#include "energy_run_private.h"

struct sample_item {
	uint32_t lane; /* of the domain */
	uint32_t node;
	uint32_t class_id, leaf_id;
	float time_ns;  /* that its class runs: own time (device view), share-time (host view) */
	float share_ns; /* share-time */
	float own_ns;   /* own time */
	float at_end;   /* its share of the device where the interval ends; 0: it does not run */
};

struct sample {
	const struct grid *grid;
	enum energy_view view;
	uint32_t classes, leaves;
	size_t n;
	uint64_t *number; /* of the intervals, ascending */
	bool *near;       /* it is not of the sample, but its neighbour is */
	size_t *first;    /* [n + 1]: the first item of an interval */
	struct sample_item *items;
};

/* Entries of intervals below a level are left out. */
void sample_make(struct sample *s, const struct share_group *t, size_t g, unsigned level,
		 const struct energy_classes *classes);
void sample_release(struct sample *s);

struct sample_data {
	struct power_data d; /* whose arrays are these */
	double *energy_j, *length_s;
	bool *halo;
	size_t *first;
	VEC(struct power_part) parts;
};

/*
 * idle_w: power of the base class where it is known (W); else NaN. leaves: classes are the finer
 * ones, the base class is behind them.
 */
void sample_data_make(struct sample_data *ret, const struct sample *s, const struct grid_counter *c,
		      double idle_w, bool leaves);
/* Whole blocks become halo, until at most so many parts are left that count. */
void sample_data_thin(struct sample_data *d, const struct sample *s, size_t parts);
void sample_data_release(struct sample_data *d);

/* whole − taken; 0 where it is less than a part of the whole that rounding leaves. */
static inline double left_of(double whole, double taken, double rounding)
{
	return whole - taken > rounding * whole ? whole - taken : 0;
}

#endif
