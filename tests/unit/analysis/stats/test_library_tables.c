#include "stats_test.h"

#include "profrig/model/library_calls.h"

struct given {
	const char *library, *operation, *key;
	uint64_t flops, calls, nested;
	int64_t dur_ns; /* of all; -1 unknown */
};

static uint32_t given_add(struct library_calls *lc, const struct given *g, uint32_t caller)
{
	struct library_call c = { .library = g->library,
				  .operation = g->operation,
				  .key = g->key,
				  .config = g->key,
				  .config_n = strlen(g->key),
				  .flops = g->flops,
				  .bytes = LIBRARY_UNKNOWN,
				  .level = LEVEL_BENCH };
	struct library_when w = LIBRARY_WHEN_INIT;
	uint32_t row = library_calls_row(lc, &c);

	w.calls = g->calls;
	w.dur_ns = g->dur_ns;
	w.caller = caller;
	w.rank = 3;
	library_calls_count(lc, row, c.flops, c.bytes, &w);
	return row;
}

/* A model with the calls of two logs. */
static struct model *library_model(const struct given *g, size_t n)
{
	struct maker k = make_begin();

	for (int log = 0; log < 2; log++) {
		CLEANUP(library_calls_freep) struct library_calls *lc = library_calls_new();

		for (size_t i = 0; i < n; i++)
			given_add(lc, &g[i], g[i].nested ? 0 : LIBRARY_ROW_NONE);
		library_calls_settle(lc);
		k.s->ops->library(k.s, STEAL(lc));
	}
	return make_end(&k);
}

static struct table_set library_run(struct model *m)
{
	struct table_set ts = TABLE_SET_INIT;
	struct analysis_opts o = { 0 };
	struct err err = ERR_INIT;

	assert_int_equal(analysis_run(analysis_find("library"), m, NULL, &o, &ts, &err), 0);
	return ts;
}

TEST(rows_by_work)
{
	static const struct given g[] = {
		{ "miopen", "conv", "conv n=1", 1000, 2, 0, -1 },
		{ "rocblas", "gemm_ex", "gemm m=1", 400, 4, 4, -1 },
		{ "onednn", "reorder", "reorder 1", 0, 1, 0, 700 },
		{ "onednn", "matmul", "matmul 1", 3000, 1, 0, 3000 },
		{ "other", "what", "what", LIBRARY_UNKNOWN, 9, 0, -1 },
	};
	CLEANUP(model_freep) struct model *m = library_model(g, ARRAY_LEN(g));
	CLEANUP(table_set_release) struct table_set ts = library_run(m);
	const struct table *t = table_set_find(&ts, "library_calls");

	assert_int_equal(m->inputs.v[0].library, 2 * (2 + 4 + 1 + 1 + 9));
	assert_int_equal(table_rows(t), 5);
	assert_string_equal(table_get_str(t, 0, 1), "matmul");
	assert_string_equal(table_get_str(t, 1, 1), "conv");
	assert_string_equal(table_get_str(t, 2, 1), "gemm_ex");
	assert_string_equal(table_get_str(t, 3, 1), "reorder");
	assert_string_equal(table_get_str(t, 4, 1), "what");
	assert_int_equal(table_get_u64(t, 1, 2), 4);
	assert_int_equal(table_get_u64(t, 1, 3), 1);
	/* 2 × (2 · 1000 + 3000), of which the product of rocBLAS is no part */
	assert_true(fabs(table_get_f64(t, 0, 7) - 0.6) < 1e-12);
	assert_true(fabs(table_get_f64(t, 2, 7)) < 1e-12);
	/* 3000 flops in 3000 ns: 1 Gflop/s */
	assert_true(fabs(table_get_f64(t, 0, 8) - 1e-3) < 1e-15);
	assert_true(isnan(table_get_f64(t, 1, 8)));
	assert_true(isnan(table_get_f64(t, 4, 4)));
}

TEST(layers)
{
	static const struct given g[] = {
		{ "miopen", "conv", "conv n=1", 1000, 2, 0, -1 },
		{ "rocblas", "gemm_ex", "gemm m=1", 500, 4, 4, -1 },
		{ "rocblas", "gemm_ex", "gemm m=2", 700, 1, 0, -1 },
	};
	CLEANUP(model_freep) struct model *m = library_model(g, ARRAY_LEN(g));
	CLEANUP(table_set_release) struct table_set ts = library_run(m);
	const struct table *t = table_set_find(&ts, "library_layers");

	assert_int_equal(table_rows(t), 3);
	assert_string_equal(table_get_str(t, 0, 0), "");
	assert_string_equal(table_get_str(t, 0, 1), "miopen");
	assert_string_equal(table_get_str(t, 1, 1), "rocblas");
	assert_int_equal(table_get_u64(t, 1, 4), 2);
	assert_string_equal(table_get_str(t, 2, 0), "miopen");
	assert_int_equal(table_get_u64(t, 2, 4), 8);
	assert_true(fabs(table_get_f64(t, 2, 5) - 4000) < 1e-9);
}

TEST(no_logs_no_tables)
{
	struct maker k = make_begin();
	CLEANUP(model_freep) struct model *m = make_end(&k);
	CLEANUP(table_set_release) struct table_set ts = library_run(m);

	assert_int_equal(ts.tables.nr, 0);
}

/* Graphs that are launched more often than made: the log has their calls once. */
TEST(graphs)
{
	static const struct given g[] = { { "cublas", "sgemm", "gemm m=1", 10, 1, 0, -1 } };
	static const struct {
		int made, launched;
		const char *words;
	} cases[] = { { 0, 0, NULL },
		      { 2, 2, NULL },
		      { 2, 100, "100 launches of 2 graphs" },
		      { 0, 3, "up to 3 times too low" } };

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct maker k = make_begin();
		track_id t = make_thread(&k, 1, 1, RANK_NONE, "main");
		CLEANUP(library_calls_freep) struct library_calls *lc = library_calls_new();
		const char *text = NULL;

		given_add(lc, &g[0], LIBRARY_ROW_NONE);
		k.s->ops->library(k.s, STEAL(lc));
		for (int n = 0; n < cases[i].made + cases[i].launched; n++)
			k.s->ops->span(k.s,
				       &(struct span_def){
					       .track = t,
					       .start_ns = n * 10,
					       .end_ns = n * 10 + 5,
					       .name = sink_puts(
						       k.s, n < cases[i].made
								    ? "cudaGraphInstantiate_v12000"
								    : "hipGraphLaunch"),
					       .category = STR_NONE,
					       .args = STR_NONE });
		CLEANUP(model_freep) struct model *m = make_end(&k);
		CLEANUP(table_set_release) struct table_set ts = library_run(m);

		for (size_t w = 0; w < m->warnings.nr; w++)
			if (!strcmp(m->warnings.v[w].code, "W_LIBRARY_GRAPHS"))
				text = m->warnings.v[w].text;
		if (!text != !cases[i].words || (text && !strstr(text, cases[i].words)))
			ROW_FAIL(i, "%s", text ? text : "no warning");
	}
}
