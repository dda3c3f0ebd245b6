#include "power_tables.h"
#include "tables_support.h"

#include "profrig/base/sum.h"

#define COUNTER "rocm_smi:::energy_count:device=0"

/* 100 W every 10 ms for 10 s; f calls itself; two queues of gpu0 and an idle gpu1. */
static struct trace example(void)
{
	struct trace t = trace_new();
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
	trace_add(&t, "rank 1/1: main 1-9 f 2-6 f 3-4 short;one 7-7.001 mark!i 5\n"
		      "rank 2/1: main 5-11\n"
		      "stream gpu0/0: k;1 2-3 k;1 4-6\n");
	trace_finish(&t);
	return t;
}

TEST(energy_table)
{
	CLEANUP(trace_release) struct trace t = example();
	CLEANUP(table_set_release) struct table_set ts = run(t.m, "energy", NULL);
	const struct table *e = table_set_find(&ts, "energy");

	expect_columns(e, "counter,device,view,track,name,calls,inclusive_j,exclusive_j,"
			  "exclusive_ns,mean_w,share,flags,uncertainty_j,static_j,dynamic_j,"
			  "modelled_j,modelled_uncertainty_j,modelled_w,separable,best_j,"
			  "best_uncertainty_j,estimate");
	/* craypm:energy comes first; a node has no queues */
	expect_table(e, "counter view\ncraypm:energy host\n...");
	/* alone 1-5, halves 5-9; f inclusive 2-6, once although it calls itself */
	expect_table(e, "counter=" COUNTER
			" device view track name calls inclusive_j exclusive_j exclusive_ns mean_w "
			"share flags\n"
			"gpu0 device 'gpu0 queue 0' k;1 2 300 300 3000000000 100 0.3 -\n"
			"gpu0 device - [unattributed] 0 700 700 7000000000 100 0.7 idle\n"
			"gpu0 host 'rank 1/thread 1' f 2 350 350 4000000000 87.5 0.35 -\n"
			"gpu0 host 'rank 2/thread 1' main 1 300 300 5000000000 60 0.3 "
			"outside_samples\n"
			"gpu0 host 'rank 1/thread 1' main 1 600 249.95 3999000000 249.95/3.999 "
			"0.24995 -\n"
			"gpu0 host 'rank 1/thread 1' short;one 1 0.05 0.05 1000000 50 5e-5 "
			"below_resolution\n"
			"gpu0 host - [unattributed] 0 100 100 1000000000 100 0.1 idle\n");
	for (size_t row = 0; row < table_rows(e); row++)
		assert_true(strcmp(str_of(e, row, "counter"), COUNTER) != 0 ||
			    num_of(e, row, "uncertainty_j") >= 0);
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
			double exclusive = num_of(e, row, "exclusive_j");
			double idle = num_of(e, row, "static_j");

			if (strcmp(str_of(e, row, "counter"), COUNTER) != 0)
				continue;
			assert_int_equal(isnan(idle), isnan(cases[k].w));
			if (isnan(idle))
				continue;
			split++;
			/* the example draws 100 W all the time */
			assert_near(idle, exclusive / 100 * cases[k].w, 1e-6);
			assert_near(idle + num_of(e, row, "dynamic_j"), exclusive, 1e-9);
		}
		assert_true(isnan(cases[k].w) || split > 4);
		idle_opts_release(&o.idle);
	}
}

TEST(totals_and_checks)
{
	CLEANUP(trace_release) struct trace t = example();
	CLEANUP(table_set_release) struct table_set ts = run(t.m, "energy", NULL);
	const struct table *e = table_set_find(&ts, "energy_totals");

	expect_columns(e, "counter,device,view,total_j,attributed_j,unattributed_j,error_rel,flags,"
			  "modelled_j,modelled_unattributed_j");
	expect_table(e, "counter device view total_j attributed_j unattributed_j\n"
			"craypm:energy - host 3000 2700 300\n" COUNTER
			" gpu0 device 1000 300 700\n" COUNTER " gpu0 host 1000 900 100\n"
			"rocm_smi:::energy_count:device=1 gpu1 device 500 0 500\n"
			"rocm_smi:::energy_count:device=1 gpu1 host 500 450 50\n"
			"rocm_smi:::power_average:device=0 gpu0 device 1000 300 700\n"
			"rocm_smi:::power_average:device=0 gpu0 host 1000 900 100\n");
	assert_int_equal(ts.checks.nr, 7);
	for (size_t i = 0; i < 7; i++) {
		assert_true(num_of(e, i, "error_rel") <= 1e-9);
		assert_true(ts.checks.v[i].ok);
		assert_has(ts.checks.v[i].detail, "error_rel");
	}
	assert_string_equal(ts.checks.v[0].name, "energy conservation craypm:energy host");
	assert_string_equal(ts.checks.v[1].name, "energy conservation " COUNTER " gpu0 device");
	assert_true(warned(t.m, W_NO_SHARER)); /* nothing ran on gpu1 */
}

TEST(energy_callpaths)
{
	CLEANUP(trace_release) struct trace t = example();
	CLEANUP(table_set_release) struct table_set ts = run(t.m, "energy", NULL);
	const struct table *e = table_set_find(&ts, "energy_callpaths");

	expect_columns(e, "counter,device,view,track,path,depth,calls,inclusive_j,exclusive_j,"
			  "exclusive_ns,flags,modelled_inclusive_j,modelled_j,best_inclusive_j,"
			  "best_j,estimate");
	expect_table(e, "counter=" COUNTER " view track path depth calls inclusive_j exclusive_j\n"
			"device 'gpu0 queue 0' k:1 0 2 300 300\n"
			"device - [unattributed] 0 0 700 700\n"
			"host 'rank 1/thread 1' main 0 1 600 249.95\n"
			"host 'rank 1/thread 1' main;f 1 1 350 250\n"
			"host 'rank 1/thread 1' main;f;f 2 1 100 100\n"
			"host 'rank 1/thread 1' main;short:one 1 1 0.05 0.05\n"
			"host 'rank 2/thread 1' main 0 1 300 300\n"
			"host - [unattributed] 0 0 100 100\n");
}

/* Which division has the narrower intervals as a whole. */
TEST(narrower_of_two)
{
	static const struct {
		double time_j[3], power_j[3];
		bool power;
	} cases[] = {
		{ { 3, 4, 1 }, { 5, 1, 0.5 }, false }, /* 26 and 26.25 */
		{ { 3, 4, 1 }, { 1, 1, 4.5 }, true },
		{ { 2, 2, 2 }, { 2, 2, 2 }, false },
		/* rows with one only do not count */
		{ { 3, NAN, 9 }, { 2, 99, NAN }, true },
		{ { 2, NAN, 9 }, { 3, 1, NAN }, false },
		/* but where no row has both, or both are alike */
		{ { NAN, NAN, 1 }, { 7, 8, NAN }, true },
		{ { NAN, 9, 1 }, { 7, NAN, NAN }, false },
		{ { 2, NAN, 2 }, { 2, 5, 2 }, true },
		{ { NAN, NAN, NAN }, { NAN, NAN, NAN }, false },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct power_widths w = { SUM_INIT, SUM_INIT, 0, 0 };

		for (size_t k = 0; k < 3; k++)
			power_widths_add(&w, cases[i].time_j[k], cases[i].power_j[k]);
		if (power_widths_narrower(&w) != cases[i].power)
			ROW_FAIL(i, "by power: %d", !cases[i].power);
	}
}

/* The second b ends after the first and still inside its own parent a: it is in one piece, and
 * only the part of it that is new counts for b's inclusive. */
TEST(overlapping_name)
{
	CLEANUP(model_freep)
	struct model *m = model_of_text(1e9, "rank 1/1: b 0-10 c 1-3 a 2-20 b 8-15\n"
					     "series " COUNTER " # cumulative: 0 0 20 2000e6\n");
	CLEANUP(table_set_release) struct table_set ts = run(m, "energy", NULL);

	expect_table(table_set_find(&ts, "energy"), "view=host name=b inclusive_j\n"
						    "1500\n");
}

/* A call that outlives its caller has two places; the sum stays, and its name's inclusive counts
 * its time once. */
TEST(overlapping_calls)
{
	CLEANUP(model_freep)
	struct model *m = model_of_text(1e9, "rank 1/1: f 0-6 c 1-5 f 4-10\n"
					     "series " COUNTER " # cumulative: 0 0 10 1000e6\n");
	CLEANUP(table_set_release) struct table_set ts = run(m, "energy", NULL);
	const struct table *ct = table_set_find(&ts, "energy_callpaths");
	struct sum sum = SUM_INIT;

	expect_table(table_set_find(&ts, "energy"), "name inclusive_j exclusive_j\n"
						    "f 1000 700\n"
						    "c * 300\n"
						    "...");
	for (size_t i = 0; i < table_rows(ct); i++)
		sum_add(&sum, num_of(ct, i, "exclusive_j"));
	assert_near(sum_value(&sum), 1000, 1e-9);
	/* f 0-1 and, above c's end, 5-10; f;c 1-5 without f;c;f 4-5 */
	expect_table(ct, "path inclusive_j exclusive_j\n"
			 "f 1000 *\n"
			 "f;c 400 300\n"
			 "f;c;f 100 *\n"
			 "...");
}

/* Equal energies: by track, then by name. */
TEST(equal_rows_have_an_order)
{
	CLEANUP(model_freep)
	struct model *m = model_of_text(1e9, "rank 2/1: b 4-6 a 6-8\n"
					     "rank 1/1: z 0-2 y 2-4\n"
					     "series " COUNTER " # cumulative: 0 0 10 1000e6\n");
	CLEANUP(table_set_release) struct table_set ts = run(m, "energy", NULL);

	expect_table(table_set_find(&ts, "energy"), "name\ny\nz\na\nb\n[unattributed]\n...");
}

TEST(independent_is_labelled)
{
	struct analysis_opts o = { .energy.independent = true };
	CLEANUP(trace_release) struct trace t = example();
	CLEANUP(table_set_release) struct table_set ts = run(t.m, "energy", &o);
	const struct table *e = table_set_find(&ts, "energy");

	for (size_t i = 0; i < table_rows(e); i++)
		assert_has(str_of(e, i, "flags"), "double_counting");
	for (size_t i = 0; i < ts.checks.nr; i++)
		assert_true(ts.checks.v[i].ok);
	assert_true(warned(t.m, W_DOUBLE_COUNTING));
}

/* What a reset swallowed is unknown: an empty field and a flag, not 0 J. */
TEST(unknown_energy_is_no_zero)
{
	CLEANUP(model_freep)
	struct model *m = model_of_text(1e9, "rank 1/1: inside 5.2-5.8 across 5.9-7\n"
					     "series " COUNTER
					     " # cumulative: 0 500e6 5 1000e6 6 0 10 400e6\n");
	CLEANUP(table_set_release) struct table_set ts = run(m, "energy", NULL);
	CLEANUP(table_set_release) struct table_set counters = run(m, "counters", NULL);

	expect_table(table_set_find(&ts, "energy"), "name exclusive_j inclusive_j flags\n"
						    "across 100 * below_resolution|reset\n"
						    "inside - - below_resolution|reset\n"
						    "[unattributed] * * idle|reset\n"
						    "...");
	expect_table(table_set_find(&counters, "counters"), "flags\nreset\n");
	assert_true(warned(m, W_COUNTER_RESET));
}

TEST(short_and_estimated_series)
{
	CLEANUP(model_freep)
	struct model *m = model_of_text(1e9, "rank 1/1: main 0-2\n"
					     "series power.gpu0 W gauge: 1 5\n"
					     "series power.cpu0 W unknown estimated: 0 50 2 50\n");
	CLEANUP(table_set_release) struct table_set ts = run(m, "energy", NULL);
	CLEANUP(table_set_release) struct table_set counters = run(m, "counters", NULL);
	const struct table *paths = table_set_find(&ts, "energy_callpaths");

	expect_table(table_set_find(&ts, "energy"),
		     "counter name share exclusive_j flags\n"
		     "power.cpu0 main * 100 estimated|below_resolution\n"
		     "power.cpu0 [unattributed] * * estimated\n"
		     "power.gpu0 [unattributed] - - short\n");
	expect_table(table_set_find(&ts, "energy_totals"), "total_j unattributed_j flags\n"
							   "100 * estimated\n"
							   "- - short\n");
	assert_int_equal(ts.checks.nr, 1); /* nothing to balance in the other */
	assert_true(isnan(num_of(paths, table_rows(paths) - 1, "exclusive_j")));
	assert_true(warned(m, W_ESTIMATED));
	assert_true(warned(m, W_COUNTER_SHORT));
}

/* The time between two changes says nothing about what the sensor resolves. */
TEST(changes_have_no_resolution)
{
	static const struct {
		const char *trace, *want;
	} cases[] = {
		{ "series power.cpu0 W changes: 0 50 10 50\nrank 1/1: main 0-2\n",
		  "flags\n-\n..." },
		{ "series power.cpu0 W: 0 50 10 50\nrank 1/1: main 0-2\n",
		  "flags\nbelow_resolution\n..." },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(model_freep) struct model *m = model_of_text(1e9, cases[i].trace);
		CLEANUP(table_set_release) struct table_set ts = run(m, "energy", NULL);

		expect_table(table_set_find(&ts, "energy"), cases[i].want);
	}
}

TEST(counters_table)
{
	CLEANUP(trace_release) struct trace t = example();
	struct analysis_opts o = { .energy.integration = INTEGRATE_PREVIOUS };
	CLEANUP(table_set_release) struct table_set ts = run(t.m, "counters", &o);
	const struct table *c = table_set_find(&ts, "counters");

	expect_columns(c, "series,device,kind,unit,scale,samples,distinct,first_ns,last_ns,first,"
			  "last,min,max,mean,total,total_unit,max_gap_ns,median_period_ns,flags,"
			  "track,input,wraps,resets,gaps,stuck,rates,unknown_ns,period_s,tau_s");
	/* times are since the earliest instant of the inputs */
	expect_table(c,
		     "series kind unit scale samples first_ns last_ns total mean total_unit flags "
		     "track input\n"
		     "* * * * * * * * * * * * *\n"
		     "mystery unknown * * * * * * * * short|unknown * *\n" COUNTER
		     " cumulative J 1e-6 1001 0 10000000000 1000 100 J * * *\n"
		     "* * * * * * * * * * * * *\n"
		     "* gauge * * * * * 1000 * J * - hand-made\n");
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
	const struct table *e;

	for (int i = 0; i < 2; i++) {
		track_id a = trace_add(&t, i ? "rank 1/2 host=node: f 0-2" : "rank 1/1: f 0-2");
		struct series_def cycles = { .name = "PAPI_TOT_CYC",
					     .track = a,
					     .exclusive_sync = true };
		struct series_def pkg = { .name = "rapl:::PACKAGE_ENERGY:PACKAGE0", .track = a };

		trace_samples(&t, t.s->ops->series(t.s, &cycles), 3, v);
		trace_samples(&t, t.s->ops->series(t.s, &pkg), 3, v);
	}
	trace_add(&t, "series power.gpu0 W gauge: 0 100 1 100 2 100");
	t.s->ops->input_end(t.s);
	t.s->ops->input(t.s, "run/samples/other.csv", "samples");
	t.s->ops->clock(t.s);
	trace_add(&t, "series power.gpu0 W gauge: 0 100 1 100 2 100\n"
		      "series power.gpu1 W gauge: 0 100 1 100 2 100\n");
	trace_finish(&t);
	CLEANUP(table_set_release) struct table_set counters = run(t.m, "counters", NULL);
	CLEANUP(table_set_release) struct table_set ts = run(t.m, "energy", NULL);

	expect_table(table_set_find(&counters, "counters"),
		     "series track input\n"
		     "PAPI_TOT_CYC 'thread 1' hand-made\n"
		     "PAPI_TOT_CYC 'thread 2' hand-made\n"
		     "'power.gpu0 (hand-made)' - hand-made\n"
		     "'power.gpu0 (other.csv)' - other.csv\n"
		     "power.gpu1 - other.csv\n"
		     "'rapl:::PACKAGE_ENERGY:PACKAGE0 (thread 1)' 'thread 1' hand-made\n"
		     "'rapl:::PACKAGE_ENERGY:PACKAGE0 (thread 2)' 'thread 2' hand-made\n");
	e = table_set_find(&ts, "energy_totals");
	for (size_t i = 1; i < table_rows(e); i++)
		assert_string_not_equal(str_of(e, i, "counter"), str_of(e, i - 1, "counter"));
	assert_int_equal(table_rows(e), 5);
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
			assert_string_equal(str_of(c, k, "series"), cases[i].series[k]);
	}
}

/* A share of nothing is nothing, not minus nothing. */
TEST(negative_total)
{
	CLEANUP(model_freep)
	struct model *m = model_of_text(1e9, "rank 1/1: f 0-5 z 5-5\n"
					     "series power.gpu0 W gauge: 0 -10 10 -10\n");
	CLEANUP(table_set_release) struct table_set ts = run(m, "energy", NULL);
	const struct table *e = table_set_find(&ts, "energy");

	for (size_t i = 0; i < table_rows(e); i++)
		assert_true(num_of(e, i, "share") != 0 || !signbit(num_of(e, i, "share")));
	expect_table(e, "name share\nz 0\n* 0.5\n...");
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
		bool counter = strcmp(str_of(tl, i, "series"), COUNTER) == 0;
		double t_s = num_of(tl, i, "t_ns") * 1e-9, dt_s = num_of(tl, i, "dt_ns") * 1e-9;

		assert_string_equal(str_of(tl, i, "device"), "gpu0");
		bins[counter]++;
		if (!counter) {
			assert_near(dt_s, 1, 1e-9);
			assert_near(num_of(tl, i, "mean"), 50, 1e-9);
			assert_near(num_of(tl, i, "min"), 0, 1e-9);
			assert_near(num_of(tl, i, "max"), 100, 1e-9);
			continue;
		}
		sum_add(&energy, num_of(tl, i, "mean") * dt_s);
		assert_string_equal(str_of(tl, i, "unit"), "W");
		if (t_s > 5.01 && t_s < 6.99)
			assert_near(num_of(tl, i, "mean"), 300, 1e-6);
		if (t_s <= 7.0005 && t_s + dt_s > 7.0005)
			assert_near(num_of(tl, i, "max"), 4000, 1e-3);
	}
	assert_int_equal(bins[1], 2000);
	assert_int_equal(bins[0], 4);
	assert_near(sum_value(&energy), 2003.7, 1e-6);
}

TEST(nothing_to_say)
{
	static const char *const names[] = { "counters", "energy", "timeline" };
	CLEANUP(model_freep) struct model *m = model_of_text(1e9, "rank 1/1: main 0-2");

	for (size_t i = 0; i < 3; i++) {
		CLEANUP(table_set_release) struct table_set ts = run(m, names[i], NULL);
		assert_int_equal(ts.tables.nr, 0);
		assert_int_equal(ts.checks.nr, 0);
	}
}
