#include "tables_support.h"

#include "profrig/base/sum.h"

#define COUNTER "rocm_smi:::energy_count:device=0"

/* 100 W every 10 ms for 10 s; f calls itself; two queues of gpu0 and an idle gpu1. */
static struct trace example(void)
{
	struct trace t = trace_new();
	track_id a = trace_thread(&t, "node", 1, 1), b = trace_thread(&t, "node", 2, 1);
	track_id q = trace_queue(&t, "gpu0", 0);
	series_id e0 = trace_series(&t, COUNTER, "#", SERIES_CUMULATIVE);
	series_id e1 = trace_series(&t, "rocm_smi:::energy_count:device=1", "#", SERIES_CUMULATIVE);
	series_id p = trace_series(&t, "rocm_smi:::power_average:device=0", "#", SERIES_CUMULATIVE);
	series_id node = trace_series(&t, "craypm:energy", "#", SERIES_CUMULATIVE);

	trace_series(&t, "mystery", "#", SERIES_GAUGE);
	for (int i = 0; i <= 1000; i++) {
		t.s->ops->sample(t.s, e0, ns(i * 0.01), i * 1e6);
		t.s->ops->sample(t.s, e1, ns(i * 0.01), i * 5e5);
		t.s->ops->sample(t.s, p, ns(i * 0.01), 100e6);
		t.s->ops->sample(t.s, node, ns(i * 0.01), i * 3);
	}
	trace_call(&t, a, "main", 1, 9);
	trace_call(&t, a, "f", 2, 6);
	trace_call(&t, a, "f", 3, 4);
	trace_call(&t, a, "short;one", 7, 7.001);
	trace_span_ns(&t, a, "mark", ns(5), ns(5), SPAN_INSTANT);
	trace_call(&t, b, "main", 5, 11);
	trace_work(&t, q, "k;1", 2, 3);
	trace_work(&t, q, "k;1", 4, 6);
	trace_finish(&t);
	return t;
}

TEST(energy_table)
{
	static const struct {
		const char *view, *track, *name;
		double calls, inclusive, exclusive, seconds;
		const char *flags;
	} want[] = {
		{ "device", "gpu0 queue 0", "k;1", 2, 300, 300, 3, "" },
		{ "device", "", "[unattributed]", 0, 700, 700, 7, "idle" },
		/* alone 1-5, halves 5-9; f inclusive 2-6, once although it calls itself */
		{ "host", "rank 1/thread 1", "f", 2, 350, 350, 4, "" },
		{ "host", "rank 2/thread 1", "main", 1, 300, 300, 5, "outside_samples" },
		{ "host", "rank 1/thread 1", "main", 1, 600, 249.95, 3.999, "" },
		{ "host", "rank 1/thread 1", "short;one", 1, 0.05, 0.05, 0.001,
		  "below_resolution" },
		{ "host", "", "[unattributed]", 0, 100, 100, 1, "idle" },
	};
	CLEANUP(trace_release) struct trace t = example();
	CLEANUP(table_set_release) struct table_set ts = run(t.m, "energy", NULL);
	const struct table *e = table_set_find(&ts, "energy");
	size_t row = 0;

	expect_columns(e, "counter,device,view,track,name,calls,inclusive_j,exclusive_j,"
			  "exclusive_ns,mean_w,share,flags,uncertainty_j,static_j,dynamic_j");
	/* craypm:energy comes first */
	assert_string_equal(text(e, 0, "counter"), "craypm:energy");
	assert_string_equal(text(e, 0, "view"), "host"); /* a node has no queues */
	while (strcmp(text(e, row, "counter"), COUNTER) != 0)
		row++;
	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++, row++) {
		assert_string_equal(text(e, row, "counter"), COUNTER);
		assert_string_equal(text(e, row, "device"), "gpu0");
		assert_string_equal(text(e, row, "view"), want[i].view);
		assert_string_equal(text(e, row, "track"), want[i].track);
		assert_string_equal(text(e, row, "name"), want[i].name);
		assert_near(number(e, row, "calls"), want[i].calls, 0);
		assert_near(number(e, row, "inclusive_j"), want[i].inclusive, 1e-9);
		assert_near(number(e, row, "exclusive_j"), want[i].exclusive, 1e-9);
		assert_near(number(e, row, "exclusive_ns"), want[i].seconds * 1e9, 0);
		assert_near(number(e, row, "mean_w"), want[i].exclusive / want[i].seconds, 1e-9);
		assert_near(number(e, row, "share"), want[i].exclusive / 1000, 1e-12);
		assert_string_equal(text(e, row, "flags"), want[i].flags);
		assert_true(number(e, row, "uncertainty_j") >= 0);
	}
	assert_true(warned(t.m, W_OUTSIDE_SAMPLES));
}

/* Idle power times the row's part of the time; the sum stays what it was, also below idle. */
TEST(idle_split)
{
	static const struct {
		const char *stated;
		double w;
	} cases[] = { { "50", 50 }, { "gpu0=200", 200 }, { "gpu1=50", NAN } };

	for (size_t k = 0; k < ARRAY_LEN(cases); k++) {
		CLEANUP(trace_release) struct trace t = example();
		struct analysis_opts o = { .energy.integration = INTEGRATE_LINEAR };
		const struct table *e;
		size_t split = 0;

		assert_int_equal(idle_state(&o.idle, cases[k].stated, NULL), 0);
		CLEANUP(table_set_release) struct table_set ts = run(t.m, "energy", &o);
		e = table_set_find(&ts, "energy");
		for (size_t row = 0; row < table_rows(e); row++) {
			double exclusive = number(e, row, "exclusive_j");
			double idle = number(e, row, "static_j");

			if (strcmp(text(e, row, "counter"), COUNTER) != 0)
				continue;
			assert_int_equal(isnan(idle), isnan(cases[k].w));
			if (isnan(idle))
				continue;
			split++;
			/* the example draws 100 W all the time */
			assert_near(idle, exclusive / 100 * cases[k].w, 1e-6);
			assert_near(idle + number(e, row, "dynamic_j"), exclusive, 1e-9);
		}
		assert_true(isnan(cases[k].w) || split > 4);
		idle_opts_release(&o.idle);
	}
}

TEST(totals_and_checks)
{
	static const struct {
		const char *counter, *device, *view;
		double total, attributed;
	} want[] = {
		{ "craypm:energy", "", "host", 3000, 2700 },
		{ COUNTER, "gpu0", "device", 1000, 300 },
		{ COUNTER, "gpu0", "host", 1000, 900 },
		{ "rocm_smi:::energy_count:device=1", "gpu1", "device", 500, 0 },
		{ "rocm_smi:::energy_count:device=1", "gpu1", "host", 500, 450 },
		{ "rocm_smi:::power_average:device=0", "gpu0", "device", 1000, 300 },
		{ "rocm_smi:::power_average:device=0", "gpu0", "host", 1000, 900 },
	};
	CLEANUP(trace_release) struct trace t = example();
	CLEANUP(table_set_release) struct table_set ts = run(t.m, "energy", NULL);
	const struct table *e = table_set_find(&ts, "energy_totals");

	expect_columns(e,
		       "counter,device,view,total_j,attributed_j,unattributed_j,error_rel,flags");
	assert_int_equal(table_rows(e), 7);
	assert_int_equal(ts.checks.nr, 7);
	for (size_t i = 0; i < 7; i++) {
		assert_string_equal(text(e, i, "counter"), want[i].counter);
		assert_string_equal(text(e, i, "device"), want[i].device);
		assert_string_equal(text(e, i, "view"), want[i].view);
		assert_near(number(e, i, "total_j"), want[i].total, 1e-9);
		assert_near(number(e, i, "attributed_j"), want[i].attributed, 1e-9);
		assert_near(number(e, i, "unattributed_j"), want[i].total - want[i].attributed,
			    1e-9);
		assert_true(number(e, i, "error_rel") <= 1e-9);
		assert_true(ts.checks.v[i].ok);
		assert_non_null(strstr(ts.checks.v[i].detail, "error_rel"));
	}
	assert_string_equal(ts.checks.v[0].name, "energy conservation craypm:energy host");
	assert_string_equal(ts.checks.v[1].name, "energy conservation " COUNTER " gpu0 device");
	assert_true(warned(t.m, W_NO_SHARER)); /* nothing ran on gpu1 */
}

TEST(energy_callpaths)
{
	static const struct {
		const char *view, *track, *path;
		double depth, calls, inclusive, exclusive;
	} want[] = {
		{ "device", "gpu0 queue 0", "k:1", 0, 2, 300, 300 },
		{ "device", "", "[unattributed]", 0, 0, 700, 700 },
		{ "host", "rank 1/thread 1", "main", 0, 1, 600, 249.95 },
		{ "host", "rank 1/thread 1", "main;f", 1, 1, 350, 250 },
		{ "host", "rank 1/thread 1", "main;f;f", 2, 1, 100, 100 },
		{ "host", "rank 1/thread 1", "main;short:one", 1, 1, 0.05, 0.05 },
		{ "host", "rank 2/thread 1", "main", 0, 1, 300, 300 },
		{ "host", "", "[unattributed]", 0, 0, 100, 100 },
	};
	CLEANUP(trace_release) struct trace t = example();
	CLEANUP(table_set_release) struct table_set ts = run(t.m, "energy", NULL);
	const struct table *e = table_set_find(&ts, "energy_callpaths");
	size_t row = 0;

	expect_columns(e, "counter,device,view,track,path,depth,calls,inclusive_j,exclusive_j,"
			  "exclusive_ns,flags");
	while (strcmp(text(e, row, "counter"), COUNTER) != 0)
		row++;
	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++, row++) {
		assert_string_equal(text(e, row, "view"), want[i].view);
		assert_string_equal(text(e, row, "track"), want[i].track);
		assert_string_equal(text(e, row, "path"), want[i].path);
		assert_near(number(e, row, "depth"), want[i].depth, 0);
		assert_near(number(e, row, "calls"), want[i].calls, 0);
		assert_near(number(e, row, "inclusive_j"), want[i].inclusive, 1e-9);
		assert_near(number(e, row, "exclusive_j"), want[i].exclusive, 1e-9);
	}
}

/* The second b ends after the first and still inside its own parent a: it is in one piece, and
 * only the part of it that is new counts for b's inclusive. */
TEST(overlapping_name)
{
	static const double e[][2] = { { 0, 0 }, { 20, 2000e6 } };
	CLEANUP(trace_release) struct trace t = trace_new();
	track_id a = trace_thread(&t, "node", 1, 1);
	series_id s = trace_series(&t, COUNTER, "#", SERIES_CUMULATIVE);
	const struct table *et;
	bool met = false;

	trace_samples(&t, s, 2, e);
	trace_call(&t, a, "b", 0, 10);
	trace_call(&t, a, "c", 1, 3);
	trace_call(&t, a, "a", 2, 20);
	trace_call(&t, a, "b", 8, 15);
	trace_finish(&t);
	CLEANUP(table_set_release) struct table_set ts = run(t.m, "energy", NULL);
	et = table_set_find(&ts, "energy");
	for (size_t i = 0; i < table_rows(et); i++) {
		if (strcmp(text(et, i, "name"), "b") != 0)
			continue;
		assert_near(number(et, i, "inclusive_j"), 1500, 1e-9);
		met = true;
	}
	assert_true(met);
}

/* A call that outlives its caller has two places; the sum stays, and its name's inclusive counts
 * its time once. */
TEST(overlapping_calls)
{
	static const double e[][2] = { { 0, 0 }, { 10, 1000e6 } };
	CLEANUP(trace_release) struct trace t = trace_new();
	track_id a = trace_thread(&t, "node", 1, 1);
	series_id s = trace_series(&t, COUNTER, "#", SERIES_CUMULATIVE);
	const struct table *et, *ct;

	trace_samples(&t, s, 2, e);
	trace_call(&t, a, "f", 0, 6);
	trace_call(&t, a, "c", 1, 5);
	trace_call(&t, a, "f", 4, 10);
	trace_finish(&t);
	CLEANUP(table_set_release) struct table_set ts = run(t.m, "energy", NULL);
	et = table_set_find(&ts, "energy");
	assert_string_equal(text(et, 0, "name"), "f");
	assert_near(number(et, 0, "inclusive_j"), 1000, 1e-9);
	assert_near(number(et, 0, "exclusive_j"), 700, 1e-9);
	assert_near(number(et, 1, "exclusive_j"), 300, 1e-9);
	ct = table_set_find(&ts, "energy_callpaths");
	struct sum sum = SUM_INIT;
	for (size_t i = 0; i < table_rows(ct); i++)
		sum_add(&sum, number(ct, i, "exclusive_j"));
	assert_near(sum_value(&sum), 1000, 1e-9);
	/* f 0-1 and, above c's end, 5-10; f;c 1-5 without f;c;f 4-5 */
	assert_string_equal(text(ct, 0, "path"), "f");
	assert_near(number(ct, 0, "inclusive_j"), 1000, 1e-9);
	assert_string_equal(text(ct, 1, "path"), "f;c");
	assert_near(number(ct, 1, "inclusive_j"), 400, 1e-9);
	assert_near(number(ct, 1, "exclusive_j"), 300, 1e-9);
	assert_string_equal(text(ct, 2, "path"), "f;c;f");
	assert_near(number(ct, 2, "inclusive_j"), 100, 1e-9);
}

/* Equal energies: by track, then by name. */
TEST(equal_rows_have_an_order)
{
	static const double e[][2] = { { 0, 0 }, { 10, 1000e6 } };
	static const char *const want[] = { "y", "z", "a", "b", "[unattributed]" };
	CLEANUP(trace_release) struct trace t = trace_new();
	track_id two = trace_thread(&t, "node", 2, 1), one = trace_thread(&t, "node", 1, 1);
	series_id s = trace_series(&t, COUNTER, "#", SERIES_CUMULATIVE);

	trace_samples(&t, s, 2, e);
	trace_call(&t, one, "z", 0, 2);
	trace_call(&t, one, "y", 2, 4);
	trace_call(&t, two, "b", 4, 6);
	trace_call(&t, two, "a", 6, 8);
	trace_finish(&t);
	CLEANUP(table_set_release) struct table_set ts = run(t.m, "energy", NULL);
	for (size_t i = 0; i < 5; i++)
		assert_string_equal(text(table_set_find(&ts, "energy"), i, "name"), want[i]);
}

TEST(independent_is_labelled)
{
	struct analysis_opts o = { .energy.independent = true };
	CLEANUP(trace_release) struct trace t = example();
	CLEANUP(table_set_release) struct table_set ts = run(t.m, "energy", &o);
	const struct table *e = table_set_find(&ts, "energy");

	for (size_t i = 0; i < table_rows(e); i++)
		assert_non_null(strstr(text(e, i, "flags"), "double_counting"));
	for (size_t i = 0; i < ts.checks.nr; i++)
		assert_true(ts.checks.v[i].ok);
	assert_true(warned(t.m, W_DOUBLE_COUNTING));
}

/* What a reset swallowed is unknown: an empty field and a flag, not 0 J. */
TEST(unknown_energy_is_no_zero)
{
	static const double e[][2] = { { 0, 500e6 }, { 5, 1000e6 }, { 6, 0 }, { 10, 400e6 } };
	CLEANUP(trace_release) struct trace t = trace_new();
	track_id a = trace_thread(&t, "node", 1, 1);
	series_id s = trace_series(&t, COUNTER, "#", SERIES_CUMULATIVE);
	struct table_set ts;
	const struct table *et;

	trace_samples(&t, s, 4, e);
	trace_call(&t, a, "inside", 5.2, 5.8);
	trace_call(&t, a, "across", 5.9, 7);
	trace_finish(&t);
	ts = run(t.m, "energy", NULL);
	et = table_set_find(&ts, "energy");
	assert_string_equal(text(et, 0, "name"), "across");
	assert_near(number(et, 0, "exclusive_j"), 100, 1e-9);
	assert_string_equal(text(et, 0, "flags"), "below_resolution|reset");
	assert_string_equal(text(et, 1, "name"), "inside");
	assert_true(isnan(number(et, 1, "exclusive_j")));
	assert_true(isnan(number(et, 1, "inclusive_j")));
	assert_string_equal(text(et, 1, "flags"), "below_resolution|reset");
	assert_string_equal(text(et, 2, "name"), "[unattributed]");
	assert_string_equal(text(et, 2, "flags"), "idle|reset");
	table_set_release(&ts);

	ts = run(t.m, "counters", NULL);
	assert_string_equal(text(table_set_find(&ts, "counters"), 0, "flags"), "reset");
	assert_true(warned(t.m, W_COUNTER_RESET));
	table_set_release(&ts);
}

TEST(short_and_estimated_series)
{
	static const double one[][2] = { { 1, 5 } };
	static const double w[][2] = { { 0, 50 }, { 2, 50 } };
	CLEANUP(trace_release) struct trace t = trace_new();
	track_id a = trace_thread(&t, "node", 1, 1);
	series_id s = trace_series(&t, "power.gpu0", "W", SERIES_GAUGE);
	struct series_def d = {
		.name = "power.cpu0", .unit = "W", .track = TRACK_NONE, .estimated = true
	};
	series_id guess = t.s->ops->series(t.s, &d);
	struct table_set ts;
	const struct table *et;

	trace_samples(&t, s, 1, one);
	trace_samples(&t, guess, 2, w);
	trace_call(&t, a, "main", 0, 2);
	trace_finish(&t);
	ts = run(t.m, "energy", NULL);
	et = table_set_find(&ts, "energy");
	assert_int_equal(table_rows(et), 3);
	assert_string_equal(text(et, 0, "counter"), "power.cpu0");
	assert_near(number(et, 0, "exclusive_j"), 100, 1e-9);
	assert_string_equal(text(et, 0, "flags"), "estimated|below_resolution");
	assert_string_equal(text(et, 1, "flags"), "estimated");
	assert_string_equal(text(et, 2, "name"), "[unattributed]");
	assert_string_equal(text(et, 2, "flags"), "short");
	assert_true(isnan(number(et, 2, "share")) && isnan(number(et, 2, "exclusive_j")));
	et = table_set_find(&ts, "energy_totals");
	assert_near(number(et, 0, "total_j"), 100, 1e-9);
	assert_string_equal(text(et, 0, "flags"), "estimated");
	assert_true(isnan(number(et, 1, "total_j")) && isnan(number(et, 1, "unattributed_j")));
	assert_string_equal(text(et, 1, "flags"), "short");
	assert_int_equal(ts.checks.nr, 1); /* nothing to balance in the other */
	et = table_set_find(&ts, "energy_callpaths");
	assert_true(isnan(number(et, table_rows(et) - 1, "exclusive_j")));
	table_set_release(&ts);
	ts = run(t.m, "counters", NULL);
	assert_true(warned(t.m, W_ESTIMATED));
	assert_true(warned(t.m, W_COUNTER_SHORT));
	table_set_release(&ts);
}

/* The time between two changes says nothing about what the sensor resolves. */
TEST(changes_have_no_resolution)
{
	static const double w[][2] = { { 0, 50 }, { 10, 50 } };
	struct series_def d = {
		.name = "power.cpu0", .unit = "W", .track = TRACK_NONE, .change_points = true
	};

	for (int changes = 1; changes >= 0; changes--) {
		CLEANUP(trace_release) struct trace t = trace_new();
		track_id a = trace_thread(&t, "node", 1, 1);

		d.change_points = changes;
		trace_samples(&t, t.s->ops->series(t.s, &d), 2, w);
		trace_call(&t, a, "main", 0, 2);
		trace_finish(&t);
		CLEANUP(table_set_release) struct table_set ts = run(t.m, "energy", NULL);
		assert_string_equal(text(table_set_find(&ts, "energy"), 0, "flags"),
				    changes ? "" : "below_resolution");
	}
}

TEST(counters_table)
{
	CLEANUP(trace_release) struct trace t = example();
	struct analysis_opts o = { .energy.integration = INTEGRATE_PREVIOUS };
	const struct table *c;

	CLEANUP(table_set_release) struct table_set ts = run(t.m, "counters", &o);
	c = table_set_find(&ts, "counters");
	expect_columns(c, "series,device,kind,unit,scale,samples,distinct,first_ns,last_ns,first,"
			  "last,min,max,mean,total,total_unit,max_gap_ns,median_period_ns,flags,"
			  "track,input,wraps,resets,gaps,stuck,rates,unknown_ns,period_s,tau_s");
	assert_int_equal(table_rows(c), 5);
	assert_string_equal(text(c, 1, "series"), "mystery");
	assert_string_equal(text(c, 1, "kind"), "unknown");
	assert_string_equal(text(c, 1, "flags"), "short|unknown");
	assert_string_equal(text(c, 2, "series"), COUNTER);
	assert_string_equal(text(c, 2, "kind"), "cumulative");
	assert_string_equal(text(c, 2, "unit"), "J");
	assert_near(number(c, 2, "scale"), 1e-6, 0);
	assert_near(number(c, 2, "samples"), 1001, 0);
	assert_near(number(c, 2, "first_ns"), 0, 0); /* since the earliest instant of the inputs */
	assert_near(number(c, 2, "last_ns"), 10e9, 0);
	assert_near(number(c, 2, "total"), 1000, 1e-9);
	assert_near(number(c, 2, "mean"), 100, 1e-9);
	assert_string_equal(text(c, 2, "total_unit"), "J");
	assert_string_equal(text(c, 4, "kind"), "gauge");
	assert_near(number(c, 4, "total"), 1000, 1e-9);
	assert_string_equal(text(c, 4, "total_unit"), "J");
	assert_string_equal(text(c, 4, "track"), "");
	assert_string_equal(text(c, 4, "input"), "hand-made");
	assert_true(warned(t.m, W_COUNTER_UNKNOWN));
}

/* Reads that failed were counted when they were read. */
TEST(failed_reads_count_once)
{
	CLEANUP(trace_release) struct trace t = trace_new();
	series_id s = trace_series(&t, "power.gpu0", "W", SERIES_GAUGE);

	for (int i = 0; i < 5; i++)
		t.s->ops->sample(t.s, s, i, i % 2 ? NAN : 1);
	trace_finish(&t);
	CLEANUP(table_set_release) struct table_set ts = run(t.m, "counters", NULL);
	for (size_t i = 0; i < t.m->warnings.nr; i++)
		if (strcmp(t.m->warnings.v[i].code, W_READ_FAILED) == 0)
			assert_int_equal(t.m->warnings.v[i].count, 2);
	assert_true(warned(t.m, W_READ_FAILED));
}

/*
 * Two samplers of one device, and a counter that two threads record: every row of a table of
 * energy or of a chart says which it is; counts keep their name and say their track.
 */
TEST(equal_names)
{
	static const double v[][2] = { { 0, 100 }, { 1, 100 }, { 2, 100 } };
	CLEANUP(trace_release) struct trace t = trace_new();
	track_id a = trace_thread(&t, "node", 1, 1), b = trace_thread(&t, "node", 1, 2);
	struct series_def cycles = { .name = "PAPI_TOT_CYC", .track = a, .exclusive_sync = true };
	struct series_def pkg = { .name = "rapl:::PACKAGE_ENERGY:PACKAGE0", .track = a };
	struct table_set ts;
	const struct table *c, *e;

	trace_samples(&t, t.s->ops->series(t.s, &cycles), 3, v);
	trace_samples(&t, t.s->ops->series(t.s, &pkg), 3, v);
	cycles.track = pkg.track = b;
	trace_samples(&t, t.s->ops->series(t.s, &cycles), 3, v);
	trace_samples(&t, t.s->ops->series(t.s, &pkg), 3, v);
	trace_call(&t, a, "f", 0, 2);
	trace_call(&t, b, "f", 0, 2);
	trace_samples(&t, trace_series(&t, "power.gpu0", "W", SERIES_GAUGE), 3, v);
	t.s->ops->input_end(t.s);
	t.s->ops->input(t.s, "run/samples/other.csv", "samples");
	t.s->ops->clock(t.s);
	trace_samples(&t, trace_series(&t, "power.gpu0", "W", SERIES_GAUGE), 3, v);
	trace_samples(&t, trace_series(&t, "power.gpu1", "W", SERIES_GAUGE), 3, v);
	trace_finish(&t);
	ts = run(t.m, "counters", NULL);
	c = table_set_find(&ts, "counters");
	static const struct {
		const char *series, *track, *input;
	} want[] = {
		{ "PAPI_TOT_CYC", "thread 1", "hand-made" },
		{ "PAPI_TOT_CYC", "thread 2", "hand-made" },
		{ "power.gpu0 (hand-made)", "", "hand-made" },
		{ "power.gpu0 (other.csv)", "", "other.csv" },
		{ "power.gpu1", "", "other.csv" },
		{ "rapl:::PACKAGE_ENERGY:PACKAGE0 (thread 1)", "thread 1", "hand-made" },
		{ "rapl:::PACKAGE_ENERGY:PACKAGE0 (thread 2)", "thread 2", "hand-made" },
	};
	assert_int_equal(table_rows(c), ARRAY_LEN(want));
	for (size_t i = 0; i < ARRAY_LEN(want); i++) {
		assert_string_equal(text(c, i, "series"), want[i].series);
		assert_string_equal(text(c, i, "track"), want[i].track);
		assert_string_equal(text(c, i, "input"), want[i].input);
	}
	table_set_release(&ts);
	ts = run(t.m, "energy", NULL);
	e = table_set_find(&ts, "energy_totals");
	for (size_t i = 1; i < table_rows(e); i++)
		assert_string_not_equal(text(e, i, "counter"), text(e, i - 1, "counter"));
	assert_int_equal(table_rows(e), 5);
	table_set_release(&ts);
}

/* Rows stand in the order of what they show, whichever input was named first. */
TEST(order_of_equal_names)
{
	static const double v[][2] = { { 0, 100 }, { 1, 100 } };
	static const struct {
		const char *path[2], *series[2];
	} cases[] = {
		{ { "b.csv", "a.csv" }, { "power.gpu0 (a.csv)", "power.gpu0 (b.csv)" } },
		{ { "a.csv", "b.csv" }, { "power.gpu0 (a.csv)", "power.gpu0 (b.csv)" } },
		{ { "n2/p.csv", "n1/p.csv" },
		  { "power.gpu0 (n1/p.csv)", "power.gpu0 (n2/p.csv)" } },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(trace_release) struct trace t = trace_new();
		const struct table *c;

		for (int k = 0; k < 2; k++) {
			t.s->ops->input_end(t.s);
			t.s->ops->input(t.s, cases[i].path[k], "samples");
			t.s->ops->clock(t.s);
			trace_samples(&t, trace_series(&t, "power.gpu0", "W", SERIES_GAUGE), 2, v);
		}
		trace_finish(&t);
		CLEANUP(table_set_release) struct table_set ts = run(t.m, "counters", NULL);
		c = table_set_find(&ts, "counters");
		for (size_t k = 0; k < 2; k++)
			assert_string_equal(text(c, k, "series"), cases[i].series[k]);
	}
}

/* A share of nothing is nothing, not minus nothing. */
TEST(negative_total)
{
	static const double v[][2] = { { 0, -10 }, { 10, -10 } };
	CLEANUP(trace_release) struct trace t = trace_new();
	track_id a = trace_thread(&t, "node", 1, 1);
	const struct table *e;

	trace_samples(&t, trace_series(&t, "power.gpu0", "W", SERIES_GAUGE), 2, v);
	trace_call(&t, a, "f", 0, 5);
	trace_call(&t, a, "z", 5, 5);
	trace_finish(&t);
	CLEANUP(table_set_release) struct table_set ts = run(t.m, "energy", NULL);
	e = table_set_find(&ts, "energy");
	for (size_t i = 0; i < table_rows(e); i++)
		assert_true(number(e, i, "share") != 0 || !signbit(number(e, i, "share")));
	assert_string_equal(text(e, 0, "name"), "z");
	assert_near(number(e, 0, "share"), 0, 0);
	assert_near(number(e, 1, "share"), 0.5, 1e-12);
}

TEST(timeline_table)
{
	CLEANUP(trace_release) struct trace t = trace_new();
	series_id e = trace_series(&t, COUNTER, "#", SERIES_CUMULATIVE);
	series_id g = trace_series(&t, "busy.gpu0", "%", SERIES_GAUGE);
	const struct table *tl;
	struct sum energy = SUM_INIT;
	size_t bins[2] = { 0, 0 };

	/* 10000 intervals of 1 ms: 100 W, in the second half 300 W; a shot of 4 kW in one of them
	 */
	for (int i = 0; i <= 10000; i++)
		t.s->ops->sample(t.s, e, ns(5 + i * 0.001),
				 (i <= 5000 ? i * 0.1 : 500 + (i - 5000) * 0.3) * 1e6 +
					 (i > 7000 ? 3.7e6 : 0));
	for (int i = 0; i <= 4; i++)
		t.s->ops->sample(t.s, g, ns(5 + i), i % 2 ? 100 : 0);
	trace_finish(&t);
	CLEANUP(table_set_release) struct table_set ts = run(t.m, "timeline", NULL);
	tl = table_set_find(&ts, "timeline");
	expect_columns(tl, "series,device,unit,kind,t_ns,dt_ns,mean,min,max");
	for (size_t i = 0; i < table_rows(tl); i++) {
		bool counter = strcmp(text(tl, i, "series"), COUNTER) == 0;
		double t_s = number(tl, i, "t_ns") * 1e-9, dt_s = number(tl, i, "dt_ns") * 1e-9;

		assert_string_equal(text(tl, i, "device"), "gpu0");
		bins[counter]++;
		if (!counter) {
			assert_near(dt_s, 1, 1e-9);
			assert_near(number(tl, i, "mean"), 50, 1e-9);
			assert_near(number(tl, i, "min"), 0, 1e-9);
			assert_near(number(tl, i, "max"), 100, 1e-9);
			continue;
		}
		sum_add(&energy, number(tl, i, "mean") * dt_s);
		assert_string_equal(text(tl, i, "unit"), "W");
		if (t_s > 5.01 && t_s < 6.99)
			assert_near(number(tl, i, "mean"), 300, 1e-6);
		if (t_s <= 7.0005 && t_s + dt_s > 7.0005)
			assert_near(number(tl, i, "max"), 4000, 1e-3);
	}
	assert_int_equal(bins[1], 2000);
	assert_int_equal(bins[0], 4);
	assert_near(sum_value(&energy), 2003.7, 1e-6);
}

TEST(nothing_to_say)
{
	static const char *const names[] = { "counters", "energy", "timeline" };
	CLEANUP(trace_release) struct trace t = trace_new();
	track_id a = trace_thread(&t, "node", 1, 1);

	trace_call(&t, a, "main", 0, 2);
	trace_finish(&t);
	for (size_t i = 0; i < 3; i++) {
		CLEANUP(table_set_release) struct table_set ts = run(t.m, names[i], NULL);
		assert_int_equal(ts.tables.nr, 0);
		assert_int_equal(ts.checks.nr, 0);
	}
}
