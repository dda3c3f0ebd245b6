/* Ranks side by side. */
#include "dice.h"
#include "energy_fixture.h"
#include "stats_test.h"

#include "profrig/base/sort.h"
#include "profrig/model/facts.h"
#include "profrig/model/warnings.h"

/* What a rank does: a kernel, a collective, an iteration around both. */
struct rank_def {
	int rank;
	int64_t compute_ns, collective_ns, gap_ns, step_ns;
	const char *kernel;
};

static struct model *model_of_ranks(const struct rank_def *v, size_t n, int64_t world)
{
	struct maker k = { .m = model_new() };

	k.s = model_sink(k.m);
	for (size_t i = 0; i < n; i++) {
		struct world_facts w = WORLD_FACTS_NONE;
		CLEANUP(xfreep) char *device = xasprintf("gpu%d", v[i].rank);
		struct track_def d = TRACK_DEF_INIT;
		track_id t, q;
		int64_t end = v[i].compute_ns, from = end + v[i].gap_ns;

		k.s->ops->input(k.s, "rank", "tef");
		k.s->ops->clock(k.s);
		w.rank = v[i].rank;
		w.size = world;
		k.s->ops->world(k.s, &w);
		d.kind = TRACK_QUEUE;
		d.rank = v[i].rank;
		d.pid = 100 + v[i].rank;
		d.device = device;
		q = k.s->ops->track(k.s, &d);
		t = make_thread(&k, 100 + v[i].rank, 1, v[i].rank, "main");
		make_call(&k, t, 0, v[i].step_ns, "ProfilerStep#1");
		make_span(&k, q, SPAN_KERNEL, 0, end, v[i].kernel, 0);
		make_span(&k, q, SPAN_KERNEL, from, from + v[i].collective_ns, "ncclKernel", 0);
		k.s->ops->input_end(k.s);
	}
	model_finish(k.m);
	return k.m;
}

static struct table_set ranks_of(struct model *m)
{
	static const struct analysis *const before[] = { &analysis_overlap,
							 &analysis_kernel_classes,
							 &analysis_collectives, &analysis_ranks };
	struct analysis_opts o = { .workload_start_ns = 0 };
	struct table_set ts = TABLE_SET_INIT;

	for (size_t i = 0; i < ARRAY_LEN(before); i++)
		assert_true(analysis_run(before[i], m, NULL, &o, &ts, NULL) >= 0);
	return ts;
}

TEST(test_outliers)
{
	static const struct rank_def v[] = {
		{ 0, 100, 50, 10, 200, "gemm" },   { 1, 101, 50, 10, 201, "gemm" },
		{ 2, 102, 50, 10, 202, "gemm" },   { 3, 400, 50, 10, 203, "gemm" },
		{ 5, 103, 50, 0, 100, "softmax" },
	};
	CLEANUP(model_freep) struct model *m = model_of_ranks(v, ARRAY_LEN(v), 8);
	CLEANUP(table_set_release) struct table_set ts = ranks_of(m);

	expect_table(table_set_find(&ts, "ranks"),
		     "rank compute_ns exposed_comm_ns idle_ns iteration_median_ns outlier\n"
		     "0 100 50 10 200 -\n"
		     "1 101 50 10 201 -\n"
		     "2 102 50 10 202 -\n"
		     "3 400 50 10 203 'compute_ns high'\n"
		     "5 103 50 0 100 'idle_ns low|iteration_median_ns low'\n");
	expect_table(table_set_find(&ts, "rank_classes"),
		     "class ranks median_ns max_ns spread max_rank\n"
		     "collective 5 50 50 1 0\n"
		     "gemm 4 101 400 * 3\n"
		     "softmax 1 0 103 - 5\n");
	for (size_t i = 0; i < m->warnings.nr; i++)
		if (strcmp(m->warnings.v[i].code, W_MISSING_RANKS) == 0) {
			assert_int_equal(m->warnings.v[i].count, 3);
			return;
		}
	fail_msg("no %s", W_MISSING_RANKS);
}

/* Three times the median absolute deviation is the border, found here with integers alone. */
TEST(test_random)
{
	struct dice d = { .x = 9 };

	for (int round = 0; round < 300; round++) {
		struct rank_def v[9];
		size_t n = 1 + below(&d, ARRAY_LEN(v));
		int64_t sorted[9], off[9], median2, mad4;

		for (size_t i = 0; i < n; i++) {
			v[i] = (struct rank_def){
				(int)i, below(&d, 4) ? 100 + below(&d, 5) : 1 + below(&d, 500),
				10,     0,
				1,      "gemm"
			};
			sorted[i] = v[i].compute_ns;
		}
		CLEANUP(model_freep) struct model *m = model_of_ranks(v, n, FACT_ABSENT);
		CLEANUP(table_set_release) struct table_set ts = ranks_of(m);
		const struct table *t = table_set_find(&ts, "ranks");

		sort_i64(sorted, n);
		median2 = sorted[(n - 1) / 2] + sorted[n / 2];
		for (size_t i = 0; i < n; i++)
			off[i] = llabs(2 * v[i].compute_ns - median2);
		sort_i64(off, n);
		mad4 = off[(n - 1) / 2] + off[n / 2];
		assert_int_equal(table_rows(t), n);
		for (size_t i = 0; i < n; i++) {
			bool out = 2 * llabs(2 * v[i].compute_ns - median2) > 3 * mad4;

			if (out != (strstr(str_of(t, i, "outlier"), "compute_ns") != NULL))
				ROW_FAIL(round, "rank %zu of %zu is '%s'", i, n,
					 str_of(t, i, "outlier"));
		}
	}
}

TEST(test_no_ranks)
{
	CLEANUP(model_freep) struct model *m = model_of_text(1, "queue gpu0/1: a 0-10\n");
	CLEANUP(table_set_release) struct table_set ts = ranks_of(m);

	assert_null(table_set_find(&ts, "ranks"));
	assert_string_equal(ts.skipped.v[ts.skipped.nr - 1].name, "ranks");
}
