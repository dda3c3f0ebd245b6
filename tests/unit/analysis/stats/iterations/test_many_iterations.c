/* A million iterations: each is a row, and what belongs to them adds up. */
#include "stats_test.h"

#include <stdio.h>

#include "profrig/base/clock.h"

#define ITERATIONS 1000000
#define STEP_NS 100
#define WITH_WORK 10 /* one of so many launches a kernel */
#define MOST_S 60

static struct model *many(void)
{
	struct maker k = make_begin();
	track_id t = make_thread(&k, 1, 1, 0, "main"), q = make_queue(&k, "gpu0", 7);

	for (int64_t i = 0; i < ITERATIONS; i++) {
		int64_t at = i * STEP_NS;
		char name[32];

		snprintf(name, sizeof(name), "ProfilerStep#%d", (int)i);
		make_span(&k, t, SPAN_HOST, at, at + STEP_NS - 10, name, 0);
		if (i % WITH_WORK)
			continue;
		make_span(&k, t, SPAN_HOST, at + 5, at + 10, "cudaLaunchKernel", (uint64_t)i + 1);
		make_span(&k, q, SPAN_KERNEL, at + 20, at + 60, "k", (uint64_t)i + 1);
	}
	return make_end(&k);
}

TEST(a_million_of_them)
{
	int64_t began = clock_monotonic_ns();
	CLEANUP(model_freep) struct model *m = many();
	CLEANUP(table_set_release) struct table_set ts = analyse(m, &analysis_iterations_tables);
	struct table *t = table_set_find(&ts, "iterations");
	size_t works = (size_t)table_find_col(t, "works"),
	       sum = (size_t)table_find_col(t, "sum_ns");
	int64_t all = 0, ns = 0;

	assert_int_equal(table_rows(t), ITERATIONS);
	for (size_t i = 0; i < table_rows(t); i++) {
		double v = table_get_f64(t, i, sum);

		all += (int64_t)table_get_f64(t, i, works);
		ns += v > 0 ? (int64_t)v : 0;
	}
	assert_int_equal(all, ITERATIONS / WITH_WORK);
	assert_int_equal(ns, ITERATIONS / WITH_WORK * 40);
	/* what is quadratic would take days */
	assert_true(clock_monotonic_ns() - began < MOST_S * INT64_C(1000000000));
}

TEST(their_critical_paths)
{
	CLEANUP(model_freep) struct model *m = many();
	CLEANUP(table_set_release) struct table_set ts = analyse(m, &analysis_critical_path);
	struct table *t = table_set_find(&ts, "critical_path");
	size_t col = (size_t)table_find_col(t, "ns");
	int64_t ns = 0;

	for (size_t i = 0; i < table_rows(t); i++)
		ns += (int64_t)table_get_f64(t, i, col);
	assert_int_equal(ns, (int64_t)ITERATIONS * (STEP_NS - 10));
}
