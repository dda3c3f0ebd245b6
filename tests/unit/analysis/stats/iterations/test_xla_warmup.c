/*
 * The sixth acceptance case of nsys-jax: which executions of an XLA program are steady, by what the
 * recording has of its compilation and communication.
 */
#include "stats_test.h"

#include "profrig/model/warnings.h"

#define MODULE "TSL:XlaModule:#prefix=main,hlo_module=jit_step,program_id=7#"

static const struct warmup_case {
	const char *compile; /* NULL: none */
	bool communicates;
	int executions;
	const char *steady; /* y or n, by execution */
	bool warned;
} cases[] = {
	{ "XlaCompile:#module=jit_step,program_id=7#", true, 4, "nnyy", false },
	{ NULL, true, 4, "nyyy", false },
	{ "TSL:XlaCompile:#module=jit_step,program_id=7#", false, 4, "nyyy", false },
	{ NULL, false, 4, "yyyy", false },
	{ "XlaCompile:#module=jit_step,program_id=7#", true, 2, "yy", true },
	/* of another program */
	{ "XlaCompile:#module=jit_step,program_id=8#", false, 4, "yyyy", false },
	{ "XlaCompile:#module=jit_loss#", false, 4, "yyyy", false },
	{ "XlaCompile:#program_id=7#", false, 4, "yyyy", false },
	/* that states no number */
	{ "XlaCompile:#module=jit_step#", false, 4, "nyyy", false },
	{ "XlaCompile:#module=jit_step#", true, 3, "nny", false },
	{ NULL, true, 1, "y", true },
};

static struct model *executions(const struct warmup_case *c, const char *module)
{
	struct maker k = make_begin();
	track_id t = make_thread(&k, 1, 1, 0, "XlaLauncher"), q = make_queue(&k, "gpu0", 7);

	if (c->compile)
		make_call(&k, make_thread(&k, 1, 2, 0, "main"), 0, 50, c->compile);
	for (int64_t i = 0; i < c->executions; i++) {
		int64_t at = 100 + i * 100;

		make_call(&k, t, at, at + 90, module);
		make_span(&k, t, SPAN_HOST, at + 10, at + 12, "launch", 10 + 2 * (uint64_t)i);
		make_span(&k, q, SPAN_KERNEL, at + 20, at + 40, "fusion", 10 + 2 * (uint64_t)i);
		make_span(&k, t, SPAN_HOST, at + 13, at + 14, "launch", 11 + 2 * (uint64_t)i);
		make_span(&k, q, SPAN_KERNEL, at + 50, at + 70,
			  c->communicates ? "ncclDevKernel_AllReduce" : "gemm",
			  11 + 2 * (uint64_t)i);
	}
	return make_end(&k);
}

static uint64_t warned(const struct model *m)
{
	for (size_t i = 0; i < m->warnings.nr; i++)
		if (strcmp(m->warnings.v[i].code, W_ALL_WARMUP) == 0)
			return m->warnings.v[i].count;
	return 0;
}

static void expect_steady(size_t at, struct model *m, const char *marker, const char *want)
{
	struct analysis_opts o = { .marker = marker };
	CLEANUP(table_set_release) struct table_set ts = TABLE_SET_INIT;
	const struct table *t;
	char got[16] = "";

	assert_int_equal(analysis_run(&analysis_iterations_tables, m, NULL, &o, &ts, NULL),
			 *want ? 0 : ANALYSIS_SKIPPED);
	t = table_set_find(&ts, "iterations");
	for (size_t r = 0; t && r < table_rows(t); r++)
		got[r] = str_of(t, r, "steady")[0];
	if (strcmp(got, want) != 0)
		ROW_FAIL(at, "%s, not %s", got, want);
}

TEST(warmup)
{
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(model_freep) struct model *m = executions(&cases[i], MODULE);

		/* one execution is no iteration but where it is asked for */
		expect_steady(i, m, NULL, cases[i].executions > 1 ? cases[i].steady : "");
		expect_steady(i, m, "XlaModule", cases[i].steady);
		if (warned(m) != cases[i].warned * (cases[i].executions > 1 ? 2 : 1))
			ROW_FAIL(i, "warned %d times", (int)warned(m));
	}
}

/* Of the modules of a thread the one with the longest time; one that runs once repeats nothing. */
TEST(modules_are_iterations)
{
	static const struct {
		const char *name;
		int nr, dur;
	} modules[] = { { "XlaModule:#hlo_module=jit_convert#", 5, 1 },
			{ "XlaModule:#hlo_module=jit_step#", 3, 50 },
			{ "XlaModule:#hlo_module=jit_init#", 1, 900 } };

	for (int only = 0; only < 2; only++) {
		struct maker k = make_begin();
		struct analysis_opts o = { .marker = NULL };
		CLEANUP(table_set_release) struct table_set ts = TABLE_SET_INIT;
		track_id t, q;
		int64_t at = 0;
		const struct table *it;

		t = make_thread(&k, 1, 2, 0, "main");
		q = make_queue(&k, "gpu0", 1);
		for (size_t i = only ? 2 : 0; i < ARRAY_LEN(modules); i++)
			for (int n = 0; n < modules[i].nr; n++, at += 1000)
				make_call(&k, t, at, at + modules[i].dur, modules[i].name);
		make_span(&k, q, SPAN_KERNEL, 5, 6, "k", 0);
		CLEANUP(model_freep) struct model *m = make_end(&k);
		assert_int_equal(analysis_run(&analysis_iterations_tables, m, NULL, &o, &ts, NULL),
				 only ? ANALYSIS_SKIPPED : 0);
		it = table_set_find(&ts, "iterations");
		assert_int_equal(it ? table_rows(it) : 0, only ? 0 : 3);
		if (!only)
			assert_string_equal(str_of(it, 0, "marker"),
					    "XlaModule:#hlo_module=jit_step#");
	}
}

/* Ranges of other names have the rule of times alone. */
TEST(other_markers)
{
	CLEANUP(model_freep)
	struct model *m = executions(&cases[0], "ThunkOfXlaModule without fields");
	CLEANUP(model_freep) struct model *bad = executions(&cases[0], "XlaModule:#,,program_id=#");

	expect_steady(0, m, "XlaModule", "yyyy");
	expect_steady(1, bad, "XlaModule", "yyyy");
}
