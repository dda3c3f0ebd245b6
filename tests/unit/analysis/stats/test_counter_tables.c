/* What the tables say of odd counters and of filtered power. */
#include "tables_support.h"

#include "profrig/base/sum.h"

#define COUNTER "rocm_smi:::energy_count:device=0"

/* A hole of 10 s that is too long, and a counter that froze: unattributed energy, and how long. */
TEST(cases_06_07_unknown_time_has_a_length)
{
	CLEANUP(trace_release) struct trace t = trace_new();
	track_id a = trace_thread(&t, "node", 1, 1);
	series_id s = trace_series(&t, COUNTER, "#", SERIES_CUMULATIVE);
	struct analysis_opts o = { .energy.max_gap_ns = ns(1) };
	struct table_set ts;
	const struct table *et;

	for (int i = 0; i <= 5000; i++) { /* 100 W every 10 ms */
		double at = i * 0.01, counted = at >= 40 && at < 42 ? 40 : at;

		if (at <= 20 || at >= 30)
			t.s->ops->sample(t.s, s, ns(at), counted * 100e6);
	}
	trace_call(&t, a, "in_the_hole", 22, 28);
	trace_call(&t, a, "while_frozen", 40.5, 41.5);
	trace_call(&t, a, "well", 0, 10);
	trace_finish(&t);
	ts = run(t.m, "counters", &o);
	et = table_set_find(&ts, "counters");
	assert_string_equal(str_of(et, 0, "flags"), "stuck|gap");
	assert_near(num_of(et, 0, "gaps"), 1, 0);
	assert_near(num_of(et, 0, "stuck"), 1, 0);
	assert_near(num_of(et, 0, "max_gap_ns"), 10e9, 0);
	assert_near(num_of(et, 0, "unknown_ns"), 12e9, 0);
	assert_near(num_of(et, 0, "total"), 5000, 1e-9);
	table_set_release(&ts);
	ts = run(t.m, "energy", &o);
	et = table_set_find(&ts, "energy");
	assert_string_equal(str_of(et, 0, "name"), "well");
	assert_near(num_of(et, 0, "exclusive_j"), 1000, 1e-9);
	for (size_t i = 1; i < 3; i++) {
		assert_true(isnan(num_of(et, i, "exclusive_j")));
		assert_string_equal(str_of(et, i, "flags"),
				    strcmp(str_of(et, i, "name"), "in_the_hole") ? "stuck" : "gap");
	}
	assert_string_equal(str_of(et, 3, "name"), "[unattributed]");
	assert_near(num_of(et, 3, "exclusive_j"), 4000, 1e-9);
	table_set_release(&ts);
}

/* A reading of 100 ↔ 500 W that lags behind by 0.2 s, and one without a counter. */
TEST(power_filter_table)
{
	CLEANUP(trace_release) struct trace t = trace_new();
	series_id e = trace_series(&t, "energy.gpu0", "J", SERIES_CUMULATIVE);
	series_id p = trace_series(&t, "power.gpu0", "W", SERIES_GAUGE);
	series_id lone = trace_series(&t, "power.gpu1", "W", SERIES_GAUGE);
	CLEANUP(counter_rules_release) struct counter_rules rules = COUNTER_RULES_INIT;
	struct table_set ts;
	const struct table *f;
	double j = 0, y = 100;

	for (int i = 0; i <= 2000; i++) {
		double w = i % 500 > 0 && i % 500 <= 250 ? 100 : 500;

		j += i ? w * 0.004 : 0;
		y = i ? w + (y - w) * exp(-0.004 / 0.2) : y;
		t.s->ops->sample(t.s, e, ns(i * 0.004), j);
		t.s->ops->sample(t.s, p, ns(i * 0.004), floor(y));
		t.s->ops->sample(t.s, lone, ns(i * 0.004), floor(y));
	}
	trace_finish(&t);
	ts = run(t.m, "power_filter", NULL);
	assert_null(table_set_find(&ts, "power_filter")); /* nothing was learned */
	table_set_release(&ts);

	counters_learn(t.m, &rules);
	ts = run(t.m, "power_filter", NULL);
	f = table_set_find(&ts, "power_filter");
	expect_columns(f, "counter,device,tau_s,source,verdict,energy_counter,fit_tau_s,gain,"
			  "offset_w,rms_w,face_rms_w,boxcar_s,boxcar_rms_w,step_w,readings,"
			  "hint_tau_s");
	assert_int_equal(table_rows(f), 2);
	assert_string_equal(str_of(f, 0, "counter"), "power.gpu0");
	assert_string_equal(str_of(f, 0, "energy_counter"), "energy.gpu0");
	assert_string_equal(str_of(f, 0, "verdict"), "one_pole");
	assert_string_equal(str_of(f, 0, "source"), "none");
	assert_near(num_of(f, 0, "tau_s"), 0, 0);
	assert_near(num_of(f, 0, "fit_tau_s"), 0.2, 0.002);
	assert_string_equal(str_of(f, 1, "verdict"), "no_counter");
	assert_true(isnan(num_of(f, 1, "fit_tau_s")) && isnan(num_of(f, 1, "hint_tau_s")));
	assert_true(warned(t.m, W_POWER_FILTERED));
	assert_false(warned(t.m, W_TAU_UNKNOWN));
	table_set_release(&ts);

	rules.tau_fit = true;
	ts = run(t.m, "power_filter", NULL);
	f = table_set_find(&ts, "power_filter");
	assert_string_equal(str_of(f, 0, "source"), "fit");
	assert_near(num_of(f, 0, "tau_s"), num_of(f, 0, "fit_tau_s"), 0);
	assert_string_equal(str_of(f, 1, "source"), "none");
	assert_true(warned(t.m, W_TAU_UNKNOWN));
	table_set_release(&ts);
}

/* Whatever is undone, calls and the rest add up to the total. */
TEST(filtered_energy_is_conserved)
{
	uint64_t seed = 11;

	for (int k = 0; k < 6; k++) {
		CLEANUP(trace_release) struct trace t = trace_new();
		track_id a = trace_thread(&t, "node", 1, 1), b = trace_thread(&t, "node", 2, 1);
		struct series_def d = { .name = "power.gpu0",
					.unit = "W",
					.track = TRACK_NONE,
					.change_points = k >= 3 };
		series_id s = t.s->ops->series(t.s, &d);
		struct analysis_opts o = { .energy.integration = (enum integration)(k % 3) };
		CLEANUP(counter_rules_release) struct counter_rules rules = COUNTER_RULES_INIT;
		const struct table *e, *total;
		struct sum sum = SUM_INIT;
		int64_t at = 0;

		for (int i = 0; i < 500; i++) {
			at += 1 + (int64_t)(rnd(&seed) % (i % 50 == 7 ? 300 : 9));
			t.s->ops->sample(t.s, s, at * 1000000, 100 + (double)(rnd(&seed) % 40));
		}
		for (int i = 0; i < 100; i++) {
			double start = i * 0.03 + (double)(rnd(&seed) % 10) * 1e-3;

			trace_call(&t, i % 2 ? a : b, i % 3 ? "f" : "g", start,
				   start + (double)(rnd(&seed) % 50) * 1e-3);
		}
		trace_finish(&t);
		rules.tau_s = 0.3;
		counters_learn(t.m, &rules);
		CLEANUP(table_set_release) struct table_set ts = run(t.m, "energy", &o);
		assert_true(ts.checks.nr > 0);
		for (size_t i = 0; i < ts.checks.nr; i++)
			if (!ts.checks.v[i].ok)
				fail_msg("%s: %s", ts.checks.v[i].name, ts.checks.v[i].detail);
		total = table_set_find(&ts, "energy_totals");
		e = table_set_find(&ts, "energy");
		for (size_t i = 0; i < table_rows(e); i++)
			if (strcmp(str_of(e, i, "view"), "host") == 0)
				sum_add(&sum, num_of(e, i, "exclusive_j"));
		assert_near(sum_value(&sum), num_of(total, 0, "total_j"), 1e-7);
	}
}
