/*
 * campaign_report: what a campaign has measured, out of its store, as its page, its mail and its
 * JSON need it: cells, runs, attempts, the values of chosen figures in the order of the runs,
 * failures by reason, and in what the environments of runs differ.
 *
 *	struct campaign_report r;
 *	campaign_report_read(store, &wanted, &r, &err);
 *	… r.figures.v[0].cells[k].v[i].value …
 *	campaign_report_release(&r);
 *
 * Comparisons are none of its business: the caller fills `against` of each sample.
 *
 * Cells and runs are those of the current plan, in its order. Values are those of committed
 * attempts; those of a cell are in the order in which its runs began. Intervals of means are
 * mean ± t·s/√n with n − 1 degrees of freedom (student.h).
 *
 * Texts belong to the report, which a workload can write in part: labels, reasons, units,
 * environments. They are for showing with escapes. Memory: about 120 bytes for each attempt, 24 for
 * each value.
 */
#ifndef CAMPAIGN_REPORT_H
#define CAMPAIGN_REPORT_H

#include "store.h"

#include <jansson.h>

#include "profrig/base/intern.h"
#include "profrig/base/sample_verdict.h"
#include "profrig/base/strvec.h"
#include "profrig/base/vec.h"

#define REPORT_NONE UINT32_MAX
#define REPORT_CONFIDENCE 0.95
#define REPORT_KEYS_MAX 8  /* rows of a table that a name without a key stands for */
#define REPORT_ENVS_MAX 12 /* environments that have words of their own */
#define REPORT_CLOCKS 0.05 /* a difference of mean clocks within a block that flags it */

struct report_cell {
	const char *id, *label, *model;
	bool is_baseline;
	bool compares;     /* another cell is compared with it */
	uint32_t baseline; /* place of the cell that it is compared with; REPORT_NONE */
	json_t *axes;
	uint32_t runs, committed, failed, running, left; /* failed: for good */
	uint32_t attempts, superseded, failures;         /* failures: attempts */
};

struct report_run {
	const char *id, *state; /* of the store: planned … failed */
	uint32_t cell, repeat;
	uint32_t block, order; /* order: of the campaign's runs by their begin, from 1; 0 none */
	uint32_t attempt;      /* place of the committed one; REPORT_NONE */
};

struct report_attempt {
	const char *id, *state, *class, *reason, *node; /* "" unknown */
	uint32_t run, env;                              /* env: place, REPORT_NONE */
	bool committed;
	int64_t started_ns, ended_ns; /* CLOCK_REALTIME; 0 unknown */
};

struct report_value {
	uint32_t run;
	double value;
	bool outlier;
};

/* A cell against its baseline. */
struct report_against {
	const char *verdict; /* slower, faster, same, unclear, new, gone; NULL: not compared */
	char method[64];
	double ratio, low, high; /* of the cell over its baseline; NaN unknown */
	double p, p_adj;
	uint32_t n_a, n_b; /* runs of the baseline, of the cell */
	bool refused;      /* not comparable */
};

struct report_sample {
	struct report_value *v;
	size_t nr, cap, outliers;
	double mean, median, stddev, cv; /* NaN: no value; stddev, cv: below 2 */
	double low, high;                /* interval of the mean; NaN below 2 */
	struct sample_order order;       /* NaN below 8 */
	bool drifts, clusters;           /* which warns: p below 0.01 */
	struct report_against against;
};

struct report_figure {
	const char *name, *key, *unit;
	bool higher;      /* is better */
	double threshold; /* of its gate; NaN: it has none */
	bool mixed;       /* values have other units, too */
	struct report_sample *cells;
};

/* Attempts of a cell that did not end well for one reason. */
struct report_failure {
	uint32_t cell, attempts;
	const char *state, *class, *reason, *example; /* example: the last attempt */
};

struct report_env {
	const char *sha;
	json_t *doc;
	uint32_t runs; /* committed */
};

/* A path in which environments differ. values: as JSON, one for each environment; "" none. */
struct report_difference {
	char *path;
	struct strvec values;
};

/*
 * A block in which the mean clock (clock_mhz, gpu_clock_mhz) of one run of a model is more than
 * REPORT_CLOCKS above that of another one.
 */
struct report_clock {
	const char *metric, *model;
	uint32_t block;
	double low, high; /* MHz */
	uint32_t run_low, run_high;
};

struct report_gate {
	const char *metric;
	double threshold; /* NaN: none is given */
};

struct campaign_report {
	struct intern *texts;
	const char *name, *order;
	uint32_t repeat;
	int64_t seed, created_ns, last_ns; /* last_ns: the last end of an attempt; 0 none */
	struct strvec metrics;             /* of the plan */
	VEC(struct report_gate) gates;
	VEC(struct report_cell) cells;
	VEC(struct report_run) runs;
	VEC(struct report_attempt) attempts;
	VEC(struct report_figure) figures;
	VEC(struct report_failure) failures; /* most attempts first */
	VEC(struct report_env) envs;         /* most runs first; of committed attempts */
	VEC(struct report_difference) differences;
	VEC(struct report_clock) clocks; /* by metric, model, block */
	struct strvec known;             /* names of metrics that the store has */
	struct strvec absent;            /* wanted, and no run has them */
	size_t more_keys;                /* rows of tables that are left out */
	struct store_summary sum;
};

/*
 * wanted: names of metrics, NAME:KEY for a row of a table; empty: those of the gates and of the
 * plan, else `performance`, else `duration`. `duration` is the store's `wall` where it has no such
 * metric. -errno as store_ask.
 */
int campaign_report_read(struct store *s, const struct strvec *wanted, struct campaign_report *ret,
			 struct err *err);
void campaign_report_release(struct campaign_report *r);

/* Runs that committed nothing and will not: of a cell that lost some, means are over survivors. */
bool report_cell_lost(const struct report_cell *c);
/* NULL: there is none. key NULL: the first of that name. */
struct report_figure *campaign_report_figure(const struct campaign_report *r, const char *name,
					     const char *key);
/* REPORT_NONE: there is none. */
uint32_t campaign_report_cell(const struct campaign_report *r, const char *id);
/*
 * Standard deviation of logarithms of a figure within cells, over all of them: the CV that power.h
 * takes. NaN: no cell has 2 values above 0.
 */
double report_figure_cv(const struct campaign_report *r, const struct report_figure *f);

/* In what documents differ, path by path, into r->differences. */
void report_differences_find(struct campaign_report *r);

#endif
