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
		k.s->ops->library(k.s, lc);
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
