/*
 * analysis: from a finished model, or profile, to tables. The registry is analyses_private.h; each
 * analysis is one file and returns tables with the columns of docs/tables.md.
 *
 * An analysis reads the model or profile only, never depends on the trace's format, and adds no
 * table without rows (a trace without device work has no `kernels`). Rows have a defined order, so
 * output is byte-identical from run to run.
 */
#ifndef PROFRIG_ANALYSIS_H
#define PROFRIG_ANALYSIS_H

#include "profrig/base/table.h"
#include "profrig/counters/idle.h"
#include "profrig/energy/energy.h"
#include "profrig/model/model.h"
#include "profrig/profile/profile.h"

struct check {
	char *name;
	bool ok;
	char *detail;
};

/* An analysis that could not run, and why. */
struct skip {
	char *name, *reason;
};

struct table_set {
	VEC(struct table *) tables;
	VEC(struct check) checks;
	VEC(struct skip) skipped;
	/* sets in whose tables table_set_find looks, too; borrowed */
	VEC(const struct table_set *) others;
};
#define TABLE_SET_INIT \
	{ \
		VEC_INIT, VEC_INIT, VEC_INIT, VEC_INIT \
	}

void table_set_release(struct table_set *ts);
void table_set_add(struct table_set *ts, struct table *take); /* replaces one of the same name */
struct table *table_set_find(const struct table_set *ts, const char *name);
/* What another set has, behind the own; the other one is empty afterwards. */
void table_set_take(struct table_set *ts, struct table_set *from);
void table_set_check(struct table_set *ts, const char *name, bool ok, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/*
 * What an analysis returns that lacks data: return table_set_skip(out, "queue", "…"). The reason
 * reads on from "queue is skipped: ".
 */
#define ANALYSIS_SKIPPED 2
int table_set_skip(struct table_set *ts, const char *name, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * Energy of the calls that a profile reads (energy_stream.h). Made before the profile, whose lanes
 * it reads; o, rules and topology outlive it. Of a finished model it takes topology and rules from
 * o and the model, and both may be NULL.
 */
struct counter_rules;
struct topology;
struct analysis_opts;
struct energy_stream;
struct energy_stream *energy_stream_new(struct model *m, const struct analysis_opts *o,
					struct counter_rules *rules, struct topology *topology);
void energy_stream_free(struct energy_stream *es); /* NULL is fine */
struct lane_reader energy_stream_reader(struct energy_stream *es);
/* Whether the model has energy counters that came after the stream had chosen its jobs. */
bool energy_stream_lacks(const struct energy_stream *es);

/* Marks, recording windows and tool overhead of a run; common timebase, by time. */
struct analysis_marks {
	VEC(struct analysis_mark {
		char *name, *by;
		int64_t t_ns, uncertainty_ns; /* -1 unknown */
		bool made;                    /* the time was taken where it was made */
	}) marks;
	VEC(struct analysis_window {
		char *name, *by;
		struct window w;
	}) windows; /* of recordings by tools */
	/* cost of tools, from baseline.json; ratios and shares, NaN unknown */
	VEC(struct analysis_overhead {
		char *tools, *unit, *verdict;
		bool alone;
		uint64_t pairs;
		double overhead, ci_low, ci_high, baseline_s, tools_s, baseline_performance,
			tools_performance, performance_ratio, performance_low, performance_high,
			budget;
	}) overhead;
};
/* The table `overhead`, owned; NULL without data. */
struct table *analysis_overhead_table(const struct analysis_marks *am);
void analysis_marks_release(struct analysis_marks *am);

/*
 * What several analyses of one model read, each made when the first one wants it (analysis_works in
 * analyses_private.h). Made for one finished model, which outlives it and is not cut any more.
 */
struct analysis;
struct analysis_opts;
struct analysis_shared;
struct analysis_shared *analysis_shared_new(void);
/*
 * Before threads run several analyses (v) side by side, when one of them reads calls: makes
 * o->shared's works, and nests the model as far as any analysis would. The rest of it is made
 * under locks.
 */
void analysis_shared_prepare(const struct analysis *const *v, size_t nr, struct model *m,
			     const struct profile *p, const struct analysis_opts *o);
void analysis_shared_free(struct analysis_shared *as); /* NULL is fine */

struct hlo_programs;
struct ideal_cycles;
struct peaks;
struct analysis_opts {
	struct energy_opts energy;
	/* of a run directory, common timebase; 0 unknown */
	int64_t workload_start_ns, workload_end_ns;
	struct idle_opts idle;              /* windows likewise */
	struct analysis_marks *marks;       /* borrowed; NULL: not wanted, or none */
	const struct energy_stream *stream; /* that read the profile; NULL: energy is not known */
	struct peaks *peaks;                /* of devices; borrowed; NULL: those of profrig */
	struct comm *comm;                  /* ranks that read a profile together; NULL: alone */
	double soc_mhz, core_mhz; /* stated clocks of accelerators (--freq); 0: not stated */
	const struct ideal_cycles *ideal;    /* borrowed; NULL: none are given (--ideal) */
	const struct hlo_programs *programs; /* of dumps of compilers; borrowed; NULL: none */
	const char *marker;                  /* pattern of iterations; NULL: the default */
	struct analysis_shared *shared;      /* borrowed; NULL: each analysis makes its own */
	unsigned threads;                    /* 0: as many as there are processors */
};

struct analysis {
	const char *name;
	const char *about;
	/* why there is none where it made no table and did not say; NULL: it always says */
	const char *nothing;
	const struct table_form *tables[8]; /* NULL-terminated */
	/* one of the two; of_profile: all it needs is the aggregates of a profile */
	int (*run)(struct model *m, const struct analysis_opts *o, struct table_set *out,
		   struct err *err);
	int (*of_profile)(const struct profile *p, const struct analysis_opts *o,
			  struct table_set *out, struct err *err);
	/* run needs tracks and series alone, which the model of a profile has too */
	bool series_only;
	/* run is skipped without device work */
	bool needs_work;
	/* run reads single calls of hosts: skipped where they were streamed */
	bool needs_calls;
	/* run reads operators of frameworks, of which no streamed archive has any */
	bool needs_operators;
	/* analyses in whose tables it looks (table_set_find), which have ended when it begins;
	 * NULL-terminated */
	const char *after[4];
	bool after_all; /* all of them */
};
#define ANALYSIS_NO_OPERATORS "the inputs hold no operators of a framework"
/*
 * The model is const to an analysis except for model_warn, model_nest and model_nest_times:
 * `analyze` finishes it flat, so an analysis that asks for parents calls model_nest first, one that
 * reads exclusive_ns model_nest_times.
 *
 * Threads run analyses side by side (analysis_shared_prepare). Each of them has a table set and a
 * log of warnings (model_warn_into) of its own, and in the set's `others` the sets of those that it
 * comes after. Warnings of the model are complete for an analysis with after_all alone.
 */

/*
 * p: of m, whether its events were kept or not; NULL: one is made of the finished model for the
 * call. o->stream has read p.
 */
#define ANALYSIS_LEFT_OUT 1 /* it needs data that a profile does not keep */
/*
 * Also ANALYSIS_SKIPPED, with a row of out->skipped; one that makes no table has a row there in any
 * case, so that no table is missing without a reason.
 */
int analysis_run(const struct analysis *a, struct model *m, const struct profile *p,
		 const struct analysis_opts *o, struct table_set *out, struct err *err);

extern const struct analysis *const analyses[]; /* NULL-terminated, in output order */
const struct analysis *analysis_find(const char *name);

/*
 * Statistics of calls (docs/contract.md, Definitions): sorted copies are made inside. All 0 for
 * n = 0.
 */
struct call_stats {
	uint64_t calls;
	int64_t sum_ns, min_ns, max_ns;
	double mean_ns, median_ns, p95_ns, stddev_ns;
};
struct call_stats call_stats_of(const int64_t *dur_ns, size_t n); /* type 7 percentiles, n − 1 */
/* Exact except median and p95, whose relative error is at most SKETCH_ERROR. */
struct call_stats call_stats_approx(const struct moments *mo, const struct sketch *sk);

#endif
