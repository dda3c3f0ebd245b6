/*
 * ensemble: several runs of one thing (repeats) as one table: for every number of the runs' tables
 * its mean, standard deviation, the 95 % confidence interval of the mean, and the runs that stand
 * out. Columns and rules for users: docs/tables.md, `ensemble`.
 *
 *	struct ensemble *e = ensemble_new();
 *	ensemble_add(e, "run-1", &tables_of_run_1);	copies what it needs
 *	ensemble_add(e, "run-2", &tables_of_run_2);
 *	struct table *t = ensemble_table(e);		NULL when the runs had no such tables
 *	ensemble_free(e);
 *
 * Rows are joined by key: the table's identifying columns, joined by '|', with '|' and '\' inside
 * them behind a '\'. Threads are named after their process and thread ids, which are others in
 * every run: in names of tracks a number of three or more digits becomes {1}, {2}, … in the order
 * of size within the run and table. Numbers of rows of one run with equal keys add up. What a run
 * does not have, or knows as unknown (NaN), does not count: `runs` says how many had it.
 *
 * Statistics over the n values: standard deviation with n − 1; interval mean ± t·s/√n with
 * Student's t for n − 1 degrees of freedom. Both are unknown for one value. Order of rows: by
 * table, key in order of first appearance, column.
 */
#ifndef PROFRIG_ENSEMBLE_H
#define PROFRIG_ENSEMBLE_H

#include "profrig/stats/analysis.h"

struct ensemble;

struct ensemble *ensemble_new(void);
void ensemble_free(struct ensemble *e); /* NULL is fine */
/* Runs are numbered in the order of adding. */
void ensemble_add(struct ensemble *e, const char *run_id, const struct table_set *ts);
/* Owned by the caller. */
struct table *ensemble_table(struct ensemble *e);
/* In how many rows of the table made last a run has a value, and in how many it stands out. */
size_t ensemble_rows_of(const struct ensemble *e, size_t run);
size_t ensemble_outliers_of(const struct ensemble *e, size_t run);

/*
 * Which of n values stand out: those whose modified z-score 0.6745·|x − median| / MAD (Iglewicz and
 * Hoaglin, How to Detect and Handle Outliers, 1993; MAD: median absolute deviation) is above a
 * critical value. Their 3.5 is meant for large samples: of five values of a normal distribution it
 * names one in every fifth sample. So the critical value depends on n: the one at which one normal
 * sample in twenty has any value named, by simulation (ensemble_stats.c). Below 4
 * values none stands out. Where more than half of the values are equal (MAD 0) every other one
 * does. A difference below 1e-9 of the median is none. Values are finite. Returns how many.
 */
size_t ensemble_outliers(const double *v, size_t n, bool *ret);

#endif
