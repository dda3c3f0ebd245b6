/*
 * ensemble: repeats of a run as one table: for every number of the runs' tables its mean, standard
 * deviation, the 95 % confidence interval of the mean, and the outlier runs. Columns and rules for
 * users: docs/tables.md, `ensemble`.
 *
 *	struct ensemble *e = ensemble_new();
 *	ensemble_add(e, "run-1", &tables_of_run_1);	copies what it needs
 *	ensemble_add(e, "run-2", &tables_of_run_2);
 *	struct table *t = ensemble_table(e);		NULL when the runs had no such tables
 *	ensemble_free(e);
 *
 * Rows are joined by key: the table's identifying columns, joined by '|', with '|' and '\' inside
 * them escaped by '\'. Names of threads hold process and thread ids, which differ in every run, so
 * in names of tracks a number of three or more digits becomes {1}, {2}, … in order of size within
 * the run and table. Numbers of rows of one run with equal keys add up. Missing and unknown values
 * (NaN) do not count; `runs` is the number of runs with a value.
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
/*
 * The runs' own numbers, but for those of paths; the numbers in which one stands out, and why.
 * Owned by the caller; NULL when there are none.
 */
struct table *ensemble_runs_table(struct ensemble *e);
struct table *ensemble_outliers_table(struct ensemble *e);
/* The number of rows of the last table in which a run has a value, and is an outlier. */
size_t ensemble_rows_of(const struct ensemble *e, size_t run);
size_t ensemble_outliers_of(const struct ensemble *e, size_t run);

/*
 * Outliers among n finite values: those whose modified z-score 0.6745·|x − median| / MAD (Iglewicz
 * and Hoaglin, How to Detect and Handle Outliers, 1993; MAD: median absolute deviation) is above a
 * critical value. Their 3.5 is for large samples: of five values of a normal distribution it names
 * one in every fifth sample. So the critical value depends on n, such that one normal sample in
 * twenty has an outlier, by simulation. Below 4 values there is none. Where more than half of the
 * values are equal (MAD 0) every other value is one. A difference below 1e-9 of the median is
 * ignored. Returns the number of outliers.
 */
size_t ensemble_outliers(const double *v, size_t n, bool *ret);

#endif
