/*
 * stats_test: small models pushed through the sink, and cells of tables by name, for the tests of
 * statistics and reports.
 */
#ifndef PROFRIG_STATS_TEST_H
#define PROFRIG_STATS_TEST_H

#include "analyses_private.h"
#include "expect_table.h"
#include "trace_text.h"

#include <math.h>

#include "profrig/model/sink.h"

struct maker {
	struct model *m;
	struct sink *s;
};

static inline struct maker make_begin(void)
{
	struct maker k = { .m = model_new() };

	k.s = model_sink(k.m);
	k.s->ops->input(k.s, "test", "tef");
	k.s->ops->clock(k.s);
	return k;
}

static inline struct model *make_end(struct maker *k)
{
	k->s->ops->input_end(k->s);
	model_finish(k->m);
	return k->m;
}

static inline track_id make_thread(struct maker *k, int64_t pid, int64_t tid, int32_t rank,
				   const char *name)
{
	struct track_def d = TRACK_DEF_INIT;

	d.kind = TRACK_THREAD;
	d.pid = pid;
	d.tid = tid;
	d.rank = rank;
	d.name = name;
	return k->s->ops->track(k->s, &d);
}

static inline track_id make_queue(struct maker *k, const char *device, int64_t stream)
{
	struct track_def d = TRACK_DEF_INIT;

	d.kind = TRACK_QUEUE;
	d.pid = 1;
	d.tid = stream;
	d.device = device;
	return k->s->ops->track(k->s, &d);
}

static inline span_id make_span(struct maker *k, track_id t, enum span_kind kind, int64_t start,
				int64_t end, const char *name, uint64_t correlation)
{
	struct span_def d = { .track = t,
			      .kind = kind,
			      .start_ns = start,
			      .end_ns = end,
			      .name = sink_puts(k->s, name),
			      .category = 0,
			      .correlation = correlation,
			      .args = STR_NONE };

	return k->s->ops->span(k->s, &d);
}

static inline span_id make_call(struct maker *k, track_id t, int64_t start, int64_t end,
				const char *name)
{
	return make_span(k, t, SPAN_HOST, start, end, name, 0);
}

static inline struct table_set analyse(struct model *m, const struct analysis *a)
{
	struct analysis_opts o = { .workload_start_ns = 0 };
	struct table_set ts = TABLE_SET_INIT;

	assert_int_equal(analysis_run(a, m, NULL, &o, &ts, NULL), 0);
	return ts;
}

/* The tables of one analysis, owned, of a model written as text (trace_text.h; times in ns). */
static inline struct table_set analyse_text(const char *trace, const struct analysis *a)
{
	CLEANUP(model_freep) struct model *m = model_of_text_with(1, trace, model_finish_flat);

	return analyse(m, a);
}

/* What the table that bears the name of the analysis has (expect_table.h). */
#define expect_analysis(trace, a, want) \
	do { \
		CLEANUP(table_set_release) struct table_set ts_ = analyse_text(trace, a); \
		expect_table(table_set_find(&ts_, (a)->name), want); \
	} while (0)

/* The row whose cells of the named columns are these; fails when there is none or more than one. */
static inline size_t row_of(const struct table *t, const char *col, const char *value,
			    const char *col2, const char *value2)
{
	int c = table_find_col(t, col), c2 = col2 ? table_find_col(t, col2) : -1;
	size_t found = SIZE_MAX;

	assert_true(c >= 0 && (!col2 || c2 >= 0));
	for (size_t r = 0; r < table_rows(t); r++) {
		if (strcmp(table_get_str(t, r, (size_t)c), value) != 0 ||
		    (col2 && strcmp(table_get_str(t, r, (size_t)c2), value2) != 0))
			continue;
		if (found != SIZE_MAX)
			fail_msg("two rows %s = '%s'", col, value);
		found = r;
	}
	if (found == SIZE_MAX)
		fail_msg("no row %s = '%s'", col, value);
	return found;
}

static inline double column_sum(const struct table *t, const char *col)
{
	double sum = 0;

	for (size_t r = 0; r < table_rows(t); r++)
		sum += num_of(t, r, col);
	return sum;
}

#endif
