/*
 * Acceptance cases of attribution by what the tables show; case_NN_ in the names of other tests
 * are the same cases below the tables (docs/energy.md, "What the tests hold").
 */
#include "tables_support.h"

#include "profrig/base/sum.h"
#include "profrig/topology/topology.h"

#define COUNTER "rocm_smi:::energy_count:device=0"

static size_t row_of(const struct table *t, const char *view, const char *name)
{
	for (size_t i = 0; i < table_rows(t); i++)
		if (strcmp(str_of(t, i, "view"), view) == 0 &&
		    strcmp(str_of(t, i, "name"), name) == 0)
			return i;
	fail_msg("no row %s %s", view, name);
	return 0;
}

/* 4294967200 → 100: 196 µJ of a counter of 32 bits, else unknown, and never less than nothing. */
TEST(case_05_wrap)
{
	static const double raw[][2] = {
		{ 0, 4294967000. }, { 1, 4294967200. }, { 2, 100 }, { 3, 200 }
	};

	for (int declared = 0; declared < 2; declared++) {
		CLEANUP(counter_rules_release) struct counter_rules rules = COUNTER_RULES_INIT;
		CLEANUP(trace_release) struct trace t = trace_new();
		track_id th = trace_thread(&t, "node", 1, 1);
		struct table_set ts, counters;
		const struct table *e, *c;

		trace_samples(&t, trace_series(&t, COUNTER, "#", SERIES_CUMULATIVE), 4, raw);
		trace_call(&t, th, "before", 0, 1);
		trace_call(&t, th, "across", 1, 2);
		trace_call(&t, th, "after", 2, 3);
		trace_finish(&t);
		if (declared)
			VEC_PUSH(&rules.v, (struct counter_rule){ .match = "*energy_count*",
								  .given = RULE_MODULUS,
								  .modulus = 4294967296. });
		counters_learn(t.m, &rules);
		ts = run(t.m, "energy", NULL);
		e = table_set_find(&ts, "energy");
		size_t row = row_of(e, "host", "across");
		if (declared)
			assert_near(num_of(e, row, "exclusive_j"), 196e-6, 1e-15);
		else
			assert_true(isnan(num_of(e, row, "exclusive_j")));
		for (size_t i = 0; i < table_rows(e); i++)
			assert_false(num_of(e, i, "exclusive_j") < 0);
		counters = run(t.m, "counters", NULL);
		c = table_set_find(&counters, "counters");
		assert_near(num_of(c, 0, "wraps"), declared, 0);
		assert_near(num_of(c, 0, "resets"), !declared, 0);
		assert_near(num_of(c, 0, "unknown_ns"), declared ? 0 : 1e9, 0);
		assert_near(num_of(c, 0, "total"), declared ? 496e-6 : 300e-6, 1e-15);
		table_set_release(&ts);
		table_set_release(&counters);
	}
}

/* A kernel of 1 ms between samples that are 4 ms apart. */
TEST(case_08_below_resolution)
{
	CLEANUP(trace_release) struct trace t = trace_new();
	track_id q = trace_queue(&t, "gpu0", 0);
	series_id s = trace_series(&t, COUNTER, "#", SERIES_CUMULATIVE);
	const struct table *e;
	size_t row;

	for (int i = 0; i <= 1000; i++)
		t.s->ops->sample(t.s, s, ns(i * 0.004), i * 1.2e6);
	trace_work(&t, q, "short", 0.041, 0.042);
	trace_work(&t, q, "long", 1, 2);
	trace_finish(&t);
	CLEANUP(table_set_release) struct table_set ts = run(t.m, "energy", NULL);
	e = table_set_find(&ts, "energy");
	row = row_of(e, "device", "short");
	assert_string_equal(str_of(e, row, "flags"), "below_resolution");
	assert_near(num_of(e, row, "exclusive_j"), 0.3, 1e-9);
	assert_true(num_of(e, row, "uncertainty_j") >= num_of(e, row, "exclusive_j"));
	row = row_of(e, "device", "long");
	assert_string_equal(str_of(e, row, "flags"), "");
	assert_true(num_of(e, row, "uncertainty_j") < 0.01 * num_of(e, row, "exclusive_j"));
}

/* 90 W idle, 300 W for 10 s: 900 J and 2100 J; 60 W: 900 J and −300 J. */
TEST(case_09_idle_split)
{
	for (int low = 0; low < 2; low++) {
		struct analysis_opts o = { .idle.before = { ns(0), ns(10) } };
		double work_w = low ? 60 : 300;
		CLEANUP(trace_release) struct trace t = trace_new();
		series_id s = trace_series(&t, "energy.gpu0", "J", SERIES_CUMULATIVE);
		track_id th = trace_thread(&t, "node", 1, 1);
		const struct table *e;
		size_t row;

		for (int i = 0; i <= 200; i++)
			t.s->ops->sample(t.s, s, ns(i * 0.1),
					 i < 100 ? i * 9 : 900 + (i - 100) * work_w / 10);
		trace_call(&t, th, "work", 10, 20);
		trace_finish(&t);
		CLEANUP(table_set_release) struct table_set ts = run(t.m, "energy", &o);
		e = table_set_find(&ts, "energy");
		row = row_of(e, "host", "work");
		assert_near(num_of(e, row, "exclusive_j"), work_w * 10, 1e-6);
		assert_near(num_of(e, row, "static_j"), 900, 1e-6);
		assert_near(num_of(e, row, "dynamic_j"), work_w * 10 - 900, 1e-6);
	}
}

static struct topology *two_ranks_share(struct model *m, double second)
{
	struct topology *tp = topology_new();

	for (int64_t rank = 1; rank <= 2; rank++) {
		struct topology_rule rule;

		topology_rule_init(&rule);
		VEC_PUSH(&rule.ranks, (struct topology_range){ rank, rank });
		strvec_push(&rule.devices, "gpu0");
		rule.weight = rank == 2 ? second : 1;
		topology_add_rule(tp, &rule);
	}
	topology_resolve(tp, m);
	return tp;
}

/* Two ranks on one device: equal parts, parts by weight, and all of it to each, which is said. */
TEST(case_10_sharing)
{
	static const struct {
		double second;
		bool independent;
		double j[2];
	} want[] = {
		{ 1, false, { 500, 500 } },
		{ 3, false, { 250, 750 } },
		{ 3, true, { 1000, 1000 } },
	};

	for (size_t k = 0; k < ARRAY_LEN(want); k++) {
		struct analysis_opts o = { .energy.independent = want[k].independent };
		CLEANUP(trace_release) struct trace t = trace_new();
		series_id s = trace_series(&t, COUNTER, "#", SERIES_CUMULATIVE);
		struct topology *tp;
		const struct table *e;
		double sum = 0;

		for (int i = 0; i <= 100; i++)
			t.s->ops->sample(t.s, s, ns(i * 0.1), i * 10e6);
		trace_call(&t, trace_thread(&t, "node", 1, 1), "first", 0, 10);
		trace_call(&t, trace_thread(&t, "node", 2, 1), "second", 0, 10);
		trace_finish(&t);
		o.energy.topology = tp = two_ranks_share(t.m, want[k].second);
		CLEANUP(table_set_release) struct table_set ts = run(t.m, "energy", &o);
		e = table_set_find(&ts, "energy");
		for (int rank = 0; rank < 2; rank++) {
			size_t row = row_of(e, "host", rank ? "second" : "first");

			assert_near(num_of(e, row, "exclusive_j"), want[k].j[rank], 1e-6);
			assert_string_equal(str_of(e, row, "flags"),
					    want[k].independent ? "double_counting" : "");
			sum += num_of(e, row, "exclusive_j");
		}
		if (!want[k].independent)
			assert_near(sum, 1000, 1000e-9);
		assert_int_equal(warned(t.m, W_DOUBLE_COUNTING), want[k].independent);
		topology_free(tp);
	}
}
