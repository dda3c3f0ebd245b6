/*
 * Acceptance cases of attribution by what the tables show; case_NN_ in the names of other tests
 * are the same cases below the tables (docs/energy.md, "What the tests hold").
 */
#include "tables_support.h"

#include "profrig/topology/topology.h"

#define COUNTER "rocm_smi:::energy_count:device=0"

/* 4294967200 → 100: 196 µJ of a counter of 32 bits, else unknown, and never less than nothing. */
TEST(case_05_wrap)
{
	static const struct {
		bool declared;
		const char *energy, *counters;
	} cases[] = {
		{ true, "view=host name=across exclusive_j\n196e-6\n",
		  "wraps resets unknown_ns total\n1 0 0 496e-6\n" },
		{ false, "view=host name=across exclusive_j\n-\n",
		  "wraps resets unknown_ns total\n0 1 1000000000 300e-6\n" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(counter_rules_release) struct counter_rules rules = COUNTER_RULES_INIT;
		CLEANUP(model_freep)
		struct model *m =
			model_of_text(1e9, "series " COUNTER
					   " # cumulative: 0 4294967000 1 4294967200 2 100 3 200\n"
					   "rank 1/1: before 0-1 across 1-2 after 2-3\n");
		const struct table *e;

		if (cases[i].declared)
			VEC_PUSH(&rules.v, (struct counter_rule){ .match = "*energy_count*",
								  .given = RULE_MODULUS,
								  .modulus = 4294967296. });
		counters_learn(m, &rules);
		CLEANUP(table_set_release) struct table_set ts = run(m, "energy", NULL);
		CLEANUP(table_set_release) struct table_set counters = run(m, "counters", NULL);
		e = table_set_find(&ts, "energy");
		expect_table(e, cases[i].energy);
		for (size_t row = 0; row < table_rows(e); row++)
			assert_false(num_of(e, row, "exclusive_j") < 0);
		expect_table(table_set_find(&counters, "counters"), cases[i].counters);
	}
}

/* A kernel of 1 ms between samples that are 4 ms apart. */
TEST(case_08_below_resolution)
{
	CLEANUP(trace_release) struct trace t = trace_new();
	series_id s = trace_series(&t, COUNTER, "#", SERIES_CUMULATIVE);
	const struct table *e;

	for (int i = 0; i <= 1000; i++)
		t.s->ops->sample(t.s, s, ns(i * 0.004), i * 1.2e6);
	trace_add(&t, "stream gpu0/0: short 0.041-0.042 long 1-2");
	trace_finish(&t);
	CLEANUP(table_set_release) struct table_set ts = run(t.m, "energy", NULL);
	e = table_set_find(&ts, "energy");
	expect_table(e, "view=device name=short flags exclusive_j\nbelow_resolution 0.3\n");
	expect_table(e, "view=device name=long flags\n-\n");
	for (size_t row = 0; row < table_rows(e); row++) {
		double j = num_of(e, row, "exclusive_j"), off = num_of(e, row, "uncertainty_j");

		if (strcmp(str_of(e, row, "name"), "short") == 0)
			assert_true(off >= j);
		if (strcmp(str_of(e, row, "name"), "long") == 0)
			assert_true(off < 0.01 * j);
	}
}

/* 90 W idle, 300 W for 10 s: 900 J and 2100 J; 60 W: 900 J and −300 J. */
TEST(case_09_idle_split)
{
	static const struct {
		double work_w;
		const char *want;
	} cases[] = {
		{ 300, "view=host name=work exclusive_j static_j dynamic_j\n3000 900 2100\n" },
		{ 60, "view=host name=work exclusive_j static_j dynamic_j\n600 900 -300\n" },
	};

	for (size_t k = 0; k < ARRAY_LEN(cases); k++) {
		struct analysis_opts o = { .idle.before = { ns(0), ns(10) } };
		CLEANUP(trace_release) struct trace t = trace_new();
		series_id s = trace_series(&t, "energy.gpu0", "J", SERIES_CUMULATIVE);

		for (int i = 0; i <= 200; i++)
			t.s->ops->sample(t.s, s, ns(i * 0.1),
					 i < 100 ? i * 9 : 900 + (i - 100) * cases[k].work_w / 10);
		trace_add(&t, "rank 1/1: work 10-20");
		trace_finish(&t);
		CLEANUP(table_set_release) struct table_set ts = run(t.m, "energy", &o);
		expect_table(table_set_find(&ts, "energy"), cases[k].want);
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
		const char *want[2];
	} cases[] = {
		{ 1, false, { "500 -\n", "500 -\n" } },
		{ 3, false, { "250 -\n", "750 -\n" } },
		{ 3, true, { "1000 double_counting\n", "1000 double_counting\n" } },
	};

	for (size_t k = 0; k < ARRAY_LEN(cases); k++) {
		struct analysis_opts o = { .energy.independent = cases[k].independent };
		CLEANUP(trace_release) struct trace t = trace_new();
		series_id s = trace_series(&t, COUNTER, "#", SERIES_CUMULATIVE);
		struct topology *tp;

		for (int i = 0; i <= 100; i++)
			t.s->ops->sample(t.s, s, ns(i * 0.1), i * 10e6);
		trace_add(&t, "rank 1/1: first 0-10\nrank 2/1: second 0-10\n");
		trace_finish(&t);
		o.energy.topology = tp = two_ranks_share(t.m, cases[k].second);
		CLEANUP(table_set_release) struct table_set ts = run(t.m, "energy", &o);
		for (int i = 0; i < 2; i++) {
			expect_table(table_set_find(&ts, "energy"),
				     textf("view=host name=%s exclusive_j flags\n%s",
					   i ? "second" : "first", cases[k].want[i]));
		}
		assert_int_equal(warned(t.m, W_DOUBLE_COUNTING), cases[k].independent);
		topology_free(tp);
	}
}
