/*
 * power_tables: the tables `energy_fit`, `power_timeline` and `energy_calls`, of energy by power
 * (energy.h), and whether power or time divides a counter better.
 *
 *	power_tables_make(&t, m, &groups, &tracks)
 *	power_tables_add(&t, &key, fit, timeline)	for each counter and view
 *	power_tables_calls(&t, &key, &flags, values, nr)	likewise
 *	power_tables_put(&t, out)			those with rows
 *	power_tables_release(&t)
 */
#ifndef PROFRIG_POWER_TABLES_H
#define PROFRIG_POWER_TABLES_H

#include "energy_flags.h"

#include "profrig/base/table.h"
#include "profrig/energy/power_fit.h"
#include "profrig/stats/analysis.h"

/* clang-format off */
#define ENERGY_FIT(X) \
	X(STR, counter) X(STR, device) X(STR, view) X(U64, intervals) X(U64, classes) \
	X(F64, explained) X(F64, residual_w) X(U64, rounds) X(F64, lag1) X(STR, used) \
	X(F64, lag_s) X(U64, windows)
/* clang-format on */
TABLE_FORM(energy_fit, ENERGY_FIT,
	   "how well a power for each function, or kind of device work, explains the intervals of "
	   "each counter; by counter, device and view");

/* clang-format off */
#define POWER_TIMELINE(X) \
	X(STR, counter) X(STR, device) X(STR, view) X(STR, name) X(I64, t_ns) X(I64, dt_ns) \
	X(F64, modelled_w)
/* clang-format on */
TABLE_FORM(power_timeline, POWER_TIMELINE,
	   "which function, or device work, draws how much over time, by power; by counter, device "
	   "and view, then time, those with most energy first");

/* clang-format off */
#define ENERGY_CALLS(X) \
	X(STR, counter) X(STR, device) X(STR, view) X(STR, track) X(STR, name) X(I64, start_ns) \
	X(I64, duration_ns) X(F64, inclusive_j) X(F64, uncertainty_j) X(F64, modelled_j) \
	X(F64, modelled_uncertainty_j) X(F64, best_j) X(F64, best_uncertainty_j) X(STR, estimate) \
	X(F64, mean_w) X(F64, covered) X(STR, flags)
/* clang-format on */
TABLE_FORM(energy_calls, ENERGY_CALLS,
	   "energy of single long calls (host view) or pieces of device work (device view), with "
	   "what ran below them; by counter, device and view, the dearest first");

struct power_tables {
	const struct model *m;
	const struct energy_groups *g;
	const struct strvec *tracks; /* names, by track */
	uint32_t classes;
	str_id *names; /* by class */
	struct table *fits, *timeline, *calls;
};

struct power_key {
	const char *counter, *device, *view;
};

/* m, g and tracks are borrowed. */
void power_tables_make(struct power_tables *t, const struct model *m, const struct energy_groups *g,
		       const struct strvec *tracks);
void power_tables_release(struct power_tables *t);
/* fit, timeline: NULL: none */
void power_tables_add(struct power_tables *t, const struct power_key *k, const struct power_fit *f,
		      const struct power_timeline *timeline);
void power_tables_calls(struct power_tables *t, const struct power_key *k,
			const struct energy_flags *of, const struct energy_call_value *v,
			size_t nr);
void power_tables_put(struct power_tables *t, struct table_set *to);

/*
 * Which of the two divisions of a counter and view is sharper as a whole: by power where the
 * squares of its half-widths have the smaller sum, over the rows that have both. Where no row has
 * both, or the sums are equal, the one with more known half-widths; else time.
 *
 *	struct power_widths w = { .time_j2 = SUM_INIT, .power_j2 = SUM_INIT };
 *	power_widths_add(&w, time_j, power_j)	for each row; NaN: not known
 *	power_widths_narrower(&w)		true: by power
 */
struct power_widths {
	struct sum time_j2, power_j2;
	size_t time, power; /* known ones */
};

void power_widths_add(struct power_widths *w, double time_j, double power_j);
bool power_widths_narrower(const struct power_widths *w);

#endif
