/*
 * comparison: sets of runs against others, figure by figure: effect with interval, p, verdict.
 *
 *	struct comparison c;
 *	comparison_init(&c, &opts);
 *	comparison_add(&c, &set_a, &set_b, "A", "B");	any number; sets are borrowed until the end
 *	comparison_run(&c);
 *	… c.rows, c.versus …
 *	comparison_release(&c);
 *
 * The unit is the run. Which test: sample_verdict.h. Of figures with more than
 * COMPARE_MANY names in a table the variances are pooled (sample_pool.h), and t alone decides.
 *
 * p-values of all rows are adjusted together: by Holm where metrics are declared or a gate is
 * wanted, else by Benjamini and Hochberg. The method of a row says which. Refused rows (a hard
 * reason) are unclear. A figure of one side alone is `new` (B's) or `gone` (A's) and not tested.
 *
 * `slower` means worse: of a figure that is better when higher, a lower one. A figure that is
 * neither (a number of calls) is same or unclear. Where a value is 0 or below, there is no ratio.
 *
 * Speed: two tables of a million functions take about a second of processors, most of it waiting
 * for memory. So names are put into the table of texts in groups (intern_put_many), and slots of
 * maps are asked for ahead; rows of tables get their final places first, by sorting 16 bytes for
 * each, and are written once. Several threads make rows where there are many: the result is the
 * same with any number of them.
 *
 * Memory: 16 bytes for each value of each run, about 250 for each row, and 140 more while rows are
 * judged that both sides have 3 runs of; the figures of one run at a time besides.
 */
#ifndef PROFRIG_COMPARISON_H
#define PROFRIG_COMPARISON_H

#include "profrig/base/sample_verdict.h"
#include "profrig/compare/figures.h"
#include "profrig/compare/operands.h"
#include "profrig/compare/trace_compare.h"

#define COMPARE_MANY 20

struct compare_opts {
	double threshold;        /* 0.05 */
	double confidence;       /* 0.95 */
	struct strvec selection; /* of figures.h; borrowed */
	bool declared;           /* Holm instead of Benjamini and Hochberg */
	/* rows of tables with a smaller share of their column's sum on both sides are left out,
	 * before anything is tested */
	double min_share;
	/* thresholds of single metrics, beside their names; NaN: the one above; borrowed */
	struct strvec metrics;
	const double *thresholds;
	/* also compare traces name by name (trace_compare.h), which reads tables of all kinds */
	bool traces;
};
/* clang-format off */
#define COMPARE_OPTS_INIT \
	{ .threshold = 0.05, .confidence = 0.95, .selection = STRVEC_INIT, .metrics = STRVEC_INIT }
/* clang-format on */

enum compare_verdict {
	COMPARE_FASTER,
	COMPARE_SLOWER,
	COMPARE_SAME,
	COMPARE_UNCLEAR,
	COMPARE_NEW,
	COMPARE_GONE,
	COMPARE_VERDICTS
};
const char *compare_verdict_name(enum compare_verdict v);

struct compare_stats {
	uint32_t n, outliers;        /* outliers: flagged, and counted nevertheless */
	double mean, median, stddev; /* NaN: none, below 2 */
};

/* Of runs in their order (sample_order_check): */
#define COMPARE_DRIFT 1 /* values change from the first to the last run, p below 0.01 */
#define COMPARE_LAG 2   /* neighbours are alike */

struct compare_row {
	const char *name, *key, *unit;
	enum figure_better better;
	bool of_table;
	uint32_t versus;
	struct compare_stats a, b;
	double delta;            /* of the means; NaN: one side has none */
	double ratio, low, high; /* B over A; NaN unknown */
	double p, p_adj, p_ranks;
	double effect; /* by which rows are ranked: |log ratio| of a metric, |delta| in a table */
	double floor;  /* the least p of rearrangements; 0: t alone */
	double threshold; /* of this metric */
	enum sample_method method;
	enum compare_verdict verdict;
	uint32_t left_out;     /* values that are not above 0 */
	unsigned odd_a, odd_b; /* COMPARE_DRIFT … */
	bool refused;          /* a hard reason */
};
/* "welch-log-permutation-holm"; buf holds 64. */
const char *compare_method(const struct compare_row *r, bool declared, char *buf);

struct compare_versus {
	const struct run_set *a, *b;
	const char *name_a, *name_b;
	struct comparable comparable;
	size_t rows, of[COMPARE_VERDICTS];
	/* the worst: slower, unclear, same, faster; of traces with fewer than 3 runs on a side that
	 * of their unit of work */
	enum compare_verdict verdict;
	struct trace_compare *trace; /* owned; NULL: not wanted, or no tables of kernels */
};

struct comparison {
	struct compare_opts o;
	VEC(struct compare_versus) versus;
	VEC(struct compare_row) rows; /* ranked, those of one versus together */
	struct intern *texts;
	struct strvec problems; /* of reading */
	struct strvec notes;    /* what limits the tests */
	size_t bad;             /* values that are no finite numbers */
	size_t small;           /* rows below min_share */
};

void comparison_init(struct comparison *c, const struct compare_opts *o);
void comparison_release(struct comparison *c);
/* Names are borrowed. */
void comparison_add(struct comparison *c, const struct run_set *a, const struct run_set *b,
		    const char *name_a, const char *name_b);
/* 0, or -errno of a run that cannot be read. */
int comparison_run(struct comparison *c, struct err *err);
/* "not comparable" where one versus is not, else the worst verdict of all. */
const char *comparison_verdict(const struct comparison *c);
/* The least of all: 0 when one is refused. */
double comparison_score(const struct comparison *c);

#endif
