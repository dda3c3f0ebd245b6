/*
 * trace_compare: two sets of runs by the tables of their traces: what changed, name by name
 * (trace_diff.h), whether the two compare, and whether a unit of work takes longer.
 *
 *	struct trace_compare *t;
 *	trace_compare_new(&a, &b, &opts, &comparable, &t, &err);
 *	… t->of[TRACE_KERNEL], t->facts, trace_compare_verdict(t) …
 *	trace_compare_free(t);
 *
 * Kinds
 *	kernel		names of kernels over all devices, by their durations
 *	cpu_op		operators of a framework on the host, by their exclusive time
 *	operator	operators with the shapes and types of their arguments, by the device work
 *			that they launched themselves; calls, or pieces of work where there are none
 *	path		call paths of all threads, by their exclusive time; B's path stands for both
 *			where one of A is the same but for wrappers (path_tree.h)
 *	device_path	the same by the device work that was launched there
 * Of sets of several runs as many runs of each count as the smaller set has, in their order.
 *
 * The unit of work decides the verdict, not the totals: two windows of equal length hold equal
 * time. It is the iteration (table `iterations`: steady ones, by the span of their device work,
 * else by the host range), of a kind that both sides have: markers of one name without its digits,
 * or periods with about as many works. Of several ranks the slowest one counts. The interval is
 * median_ratio's. Where the host's ranges are longer than the spans on both sides, the device waits
 * for the host, whose ranges have a say then: they decide where the spans tell no difference, and
 * the verdict is unclear where the two contradict each other. With TRACE_RUNS and more runs a side
 * the run is the unit, and comparison.h judges.
 *
 * Facts that make the two not comparable: other GPU or world size (conditions.h), other precision
 * of products (less than half of their time in common), other shapes (less than half of the time
 * of the top operators that both have), device work on one side alone, less than half of the names
 * of kernels and of operators in common, and of traces that are no runs: no common unit of work, or
 * fewer than three iterations of it. Where the names of kernels have little in common and those of
 * operators do (the GPUs are of two makers), operators are what is compared.
 *
 * All texts are borrowed from opts.texts or owned. Memory: some 100 bytes for each name.
 */
#ifndef PROFRIG_TRACE_COMPARE_H
#define PROFRIG_TRACE_COMPARE_H

#include "profrig/base/intern.h"
#include "profrig/base/median_ratio.h"
#include "profrig/base/table.h"
#include "profrig/compare/operands.h"
#include "profrig/compare/trace_diff.h"

#define TRACE_RUNS 3 /* from so many runs a side they are the unit */
#define TRACE_OVERLAP 0.5
#define TRACE_PERIOD "period"

enum trace_kind {
	TRACE_KERNEL,
	TRACE_CPU_OP,
	TRACE_OPERATOR,
	TRACE_PATH,
	TRACE_DEVICE_PATH,
	TRACE_KINDS
};
/* "kernel", "cpu_op", "operator", "path", "device_path". */
const char *trace_kind_name(enum trace_kind k);

enum trace_fact_verdict {
	TRACE_FACT_OK,
	TRACE_FACT_NOTED,   /* less sure */
	TRACE_FACT_REFUSED, /* not comparable */
	TRACE_FACT_UNKNOWN  /* a side does not tell */
};
/* "ok", "noted", "refused", "unknown". */
const char *trace_fact_verdict_name(enum trace_fact_verdict v);

struct trace_fact {
	const char *fact; /* "world size" */
	char *a, *b;      /* "" not known */
	enum trace_fact_verdict verdict;
};

struct trace_compare {
	size_t runs;                       /* of each side that count */
	struct trace_diff of[TRACE_KINDS]; /* of texts in opts.texts */
	enum trace_kind compared;          /* what of it tells: kernels, else operators */
	VEC(struct trace_fact) facts;
	const char *unit;         /* "ProfilerStep#", TRACE_PERIOD, "run"; NULL: none */
	struct median_ratio time; /* of the unit, ns; n_a 0: not by iterations */
	struct median_ratio host; /* of its ranges on the host; n_a 0: they do not count */
	bool refused;
	bool judged; /* by iterations: */
	enum sample_verdict verdict;
};

struct trace_compare_opts {
	const char *name_a, *name_b; /* "A", "B" */
	uint32_t exempt;             /* run_sets_exempt */
	double threshold, confidence;
	struct intern *texts;    /* outlives the result */
	struct strvec *problems; /* files that cannot be read are added */
	struct strvec *notes;    /* what limits the interval is added */
};

/*
 * *ret: NULL where neither side has kernels or operators in its tables. Reasons, but for those of
 * conditions.h, are added to *comparable. 0, or -errno of a directory that cannot be read.
 */
int trace_compare_new(const struct run_set *a, const struct run_set *b,
		      const struct trace_compare_opts *o, struct comparable *comparable,
		      struct trace_compare **ret, struct err *err);
void trace_compare_free(struct trace_compare *t); /* NULL is fine */

/* "not comparable", "faster", "slower", "same", "unclear". */
const char *trace_compare_verdict(const struct trace_compare *t);
/* The tables `diff` and `comparability` (docs/tables.md), empty; owned. */
struct table *trace_diff_table(void);
struct table *trace_facts_table(void);
/* Adds the rows of one comparison of side against another. */
void trace_diff_rows(struct table *to, const struct trace_compare *t, const char *side,
		     const char *against);
void trace_facts_rows(struct table *to, const struct trace_compare *t, const char *side,
		      const char *against);

#endif
