#include "energy_fixture.h"
#include "energy_spans.h"

#include "profrig/readers/reader.h"

static const struct energy_opts shared = { .integration = INTEGRATE_LINEAR };
static const struct energy_opts independent = { .integration = INTEGRATE_LINEAR,
						.independent = true };

#define ENERGY_NAME "A2rocm_smi:::energy_count:device=0"
#define POWER_NAME "A2rocm_smi:::current_socket_power:device=0"

static struct energy_result host_view(const struct model *m, series_id s,
				      const struct energy_opts *o)
{
	struct energy_result r;
	struct err err = ERR_INIT;

	assert_int_equal(energy_attribute(m, s, VIEW_HOST, o, &r, &err), 0);
	assert_true(r.error_rel <= 1e-9);
	return r;
}

static double exclusive(const struct trace *t, const struct energy_result *r, track_id track,
			const char *name, int nth)
{
	return r->exclusive_j[trace_find(t->m, track, name, nth)];
}

static double inclusive(const struct trace *t, const struct energy_result *r, track_id track,
			const char *name, int nth)
{
	return r->inclusive_j[trace_find(t->m, track, name, nth)];
}

/* ---- two ranks, one device, numbers that can be checked by hand ---- */

static struct trace two_ranks(track_id *r0, track_id *r1)
{
	struct trace t = trace_new();

	*r0 = trace_thread(&t, "node", 100, 100);
	*r1 = trace_thread(&t, "node", 101, 101);
	trace_call(&t, *r0, "main", 0, 10);
	trace_call(&t, *r0, "f", 1, 6);
	trace_call(&t, *r0, "g", 2, 4);
	trace_call(&t, *r1, "main", 0, 8);
	trace_call(&t, *r1, "h", 3, 5);
	return t;
}

static void check_two_ranks(struct trace *t, series_id s, track_id r0, track_id r1)
{
	struct energy_opts previous = shared;
	struct energy_result r;

	previous.integration = INTEGRATE_PREVIOUS;
	r = host_view(t->m, s, &previous);
	assert_near(exclusive(t, &r, r0, "main", 0), 200, 1e-9);
	assert_near(exclusive(t, &r, r0, "f", 0), 175, 1e-9);
	assert_near(exclusive(t, &r, r0, "g", 0), 175, 1e-9);
	assert_near(exclusive(t, &r, r1, "main", 0), 250, 1e-9);
	assert_near(exclusive(t, &r, r1, "h", 0), 200, 1e-9);
	assert_near(inclusive(t, &r, r0, "main", 0), 550, 1e-9);
	assert_near(inclusive(t, &r, r0, "f", 0), 350, 1e-9);
	assert_near(inclusive(t, &r, r0, "g", 0), 175, 1e-9);
	assert_near(inclusive(t, &r, r1, "main", 0), 450, 1e-9);
	assert_near(inclusive(t, &r, r1, "h", 0), 200, 1e-9);
	assert_near(r.attributed_j, 1000, 1e-9);
	assert_near(r.unattributed_j, 0, 1e-9);
	/* f: 175 J in 3 s of its own */
	assert_int_equal(r.exclusive_ns[trace_find(t->m, r0, "f", 0)], ns(3));
	energy_result_release(&r);

	previous.independent = true;
	r = host_view(t->m, s, &previous);
	assert_near(exclusive(t, &r, r0, "main", 0), 300, 1e-9);
	assert_near(exclusive(t, &r, r0, "f", 0), 350, 1e-9);
	assert_near(exclusive(t, &r, r0, "g", 0), 350, 1e-9);
	assert_near(exclusive(t, &r, r1, "main", 0), 500, 1e-9);
	assert_near(exclusive(t, &r, r1, "h", 0), 400, 1e-9);
	assert_near(r.total_j, 1000, 1e-9);
	assert_near(r.attributed_j, 1900, 1e-9);
	energy_result_release(&r);
}

TEST(two_ranks_share_a_counter)
{
	static const double e[][2] = { { 0, 0 }, { 2.5, 250e6 }, { 5, 750e6 }, { 10, 1000e6 } };
	track_id r0, r1;
	CLEANUP(trace_release) struct trace t = two_ranks(&r0, &r1);
	series_id s = trace_series(&t, ENERGY_NAME, "#", SERIES_CUMULATIVE);

	trace_samples(&t, s, 4, e);
	trace_finish(&t);
	check_two_ranks(&t, s, r0, r1);
}

TEST(two_ranks_share_a_gauge)
{
	static const double w[][2] = { { 0, 100e6 }, { 2.5, 200e6 }, { 5, 50e6 }, { 10, 70e6 } };
	track_id r0, r1;
	CLEANUP(trace_release) struct trace t = two_ranks(&r0, &r1);
	series_id s = trace_series(&t, POWER_NAME, "#", SERIES_CUMULATIVE); /* a lie */

	trace_samples(&t, s, 4, w);
	trace_finish(&t);
	check_two_ranks(&t, s, r0, r1);
}

TEST(threads_of_a_process_share_its_part)
{
	static const double e[][2] = { { 0, 0 }, { 10, 1000e6 } };
	CLEANUP(trace_release) struct trace t = trace_new();
	track_id a = trace_thread(&t, "node", 1, 1), b = trace_thread(&t, "node", 1, 2);
	track_id c = trace_thread(&t, "node", 2, 1);
	series_id s = trace_series(&t, ENERGY_NAME, "#", SERIES_CUMULATIVE);
	struct energy_result r;

	trace_samples(&t, s, 2, e);
	trace_call(&t, a, "a", 0, 8);
	trace_call(&t, b, "b", 4, 6);
	trace_call(&t, c, "c", 2, 10);
	trace_finish(&t);
	r = host_view(t.m, s, &shared);
	/* 100 W: a alone 0-2, half 2-4, a quarter 4-6, half 6-8 */
	assert_near(exclusive(&t, &r, a, "a", 0), 200 + 100 + 50 + 100, 1e-9);
	assert_near(exclusive(&t, &r, b, "b", 0), 50, 1e-9);
	assert_near(exclusive(&t, &r, c, "c", 0), 100 + 100 + 100 + 200, 1e-9);
	energy_result_release(&r);
	r = host_view(t.m, s, &independent);
	assert_near(exclusive(&t, &r, a, "a", 0), 400 + 100 + 200, 1e-9);
	assert_near(exclusive(&t, &r, b, "b", 0), 100, 1e-9);
	assert_near(exclusive(&t, &r, c, "c", 0), 800, 1e-9);
	energy_result_release(&r);
}

/* A range from roctxRangeStart to roctxRangeStop is on no stack: it takes nothing from calls. */
TEST(ranges_share_only_without_calls)
{
	static const double e[][2] = { { 0, 0 }, { 10, 1000e6 } };

	for (int calls = 0; calls < 2; calls++) {
		CLEANUP(trace_release) struct trace t = trace_new();
		track_id a = trace_thread(&t, "node", 1, 1), lane = trace_thread(&t, "node", 1, 2);
		series_id s = trace_series(&t, ENERGY_NAME, "#", SERIES_CUMULATIVE);

		trace_samples(&t, s, 2, e);
		if (calls)
			trace_call(&t, a, "a", 0, 8);
		trace_span_ns(&t, lane, "range", ns(0), ns(10), SPAN_ANNOTATION);
		trace_finish(&t);
		CLEANUP(energy_result_release) struct energy_result r = host_view(t.m, s, &shared);
		if (calls)
			assert_near(exclusive(&t, &r, a, "a", 0), 800, 1e-9);
		else
			assert_near(exclusive(&t, &r, lane, "range", 0), 1000, 1e-9);
		assert_near(r.attributed_j, calls ? 800 : 1000, 1e-9);
	}
}

/* A host may stand in the series or in the name of its device. */
TEST(other_hosts_do_not_share)
{
	static const double e[][2] = { { 0, 0 }, { 10, 1000e6 } };
	static const struct series_def defs[] = {
		{ .name = ENERGY_NAME, .track = TRACK_NONE, .host = "one" },
		{ .name = ENERGY_NAME, .track = TRACK_NONE, .device = "one:gpu0" },
	};

	for (size_t i = 0; i < ARRAY_LEN(defs); i++) {
		CLEANUP(trace_release) struct trace t = trace_new();
		track_id a = trace_thread(&t, "one", 1, 1), b = trace_thread(&t, "two", 2, 1);
		series_id s = t.s->ops->series(t.s, &defs[i]);

		trace_samples(&t, s, 2, e);
		trace_call(&t, a, "a", 0, 10);
		trace_call(&t, b, "b", 0, 10);
		trace_finish(&t);
		CLEANUP(energy_result_release) struct energy_result r = host_view(t.m, s, &shared);
		assert_near(exclusive(&t, &r, a, "a", 0), 1000, 1e-9);
		assert_true(isnan(exclusive(&t, &r, b, "b", 0)));
	}
}

/* ---- edges; samples 0, 500, 1000 J at 0, 5, 10 s ---- */

struct edge {
	const char *what;
	size_t nr;
	struct {
		const char *name;
		double start, end, inclusive, exclusive, covered;
		bool outside;
	} call[3];
	double unattributed;
};

static const struct edge edges[] = {
	{ "ends after the last sample", 1, { { "a", 1, 12, 900, 900, 9, true } }, 100 },
	{ "lies after the last sample", 1, { { "a", 11, 12, 0, 0, 0, true } }, 1000 },
	{ "lies before the first sample", 1, { { "a", -3, -1, 0, 0, 0, true } }, 1000 },
	{ "begins before the first sample", 1, { { "a", -2, 4, 400, 400, 4, true } }, 600 },
	{ "a hole between two calls",
	  2,
	  { { "a", 0, 1, 100, 100, 1, false }, { "b", 3, 5, 200, 200, 2, false } },
	  700 },
	{ "a call of no length",
	  2,
	  { { "a", 0, 10, 1000, 1000, 10, false }, { "z", 3, 3, 0, 0, 0, false } },
	  0 },
	{ "overlap",
	  2,
	  { { "a", 0, 6, 600, 400, 4, false }, { "b", 4, 10, 600, 600, 6, false } },
	  0 },
	{ "recursion",
	  3,
	  { { "a", 0, 10, 1000, 400, 4, false },
	    { "a", 2, 8, 600, 400, 4, false },
	    { "a", 4, 6, 200, 200, 2, false } },
	  0 },
};

TEST(edge_cases)
{
	static const double e[][2] = { { 0, 0 }, { 5, 500e6 }, { 10, 1000e6 } };

	for (size_t k = 0; k < sizeof(edges) / sizeof(*edges); k++) {
		const struct edge *x = &edges[k];
		CLEANUP(trace_release) struct trace t = trace_new();
		track_id th = trace_thread(&t, "node", 1, 1);
		series_id s = trace_series(&t, ENERGY_NAME, "#", SERIES_CUMULATIVE);

		trace_samples(&t, s, 3, e);
		for (size_t i = 0; i < x->nr; i++)
			trace_call(&t, th, x->call[i].name, x->call[i].start, x->call[i].end);
		trace_finish(&t);
		CLEANUP(energy_result_release) struct energy_result r = host_view(t.m, s, &shared);
		for (size_t i = 0; i < x->nr; i++) {
			assert_near(r.inclusive_j[i], x->call[i].inclusive, 1e-9);
			assert_near(r.exclusive_j[i], x->call[i].exclusive, 1e-9);
			assert_int_equal(r.exclusive_ns[i], ns(x->call[i].covered));
			assert_int_equal(!!(r.marks[i] & SPAN_OUTSIDE), x->call[i].outside);
		}
		assert_near(r.unattributed_j, x->unattributed, 1e-9);
		assert_near(r.total_j, 1000, 1e-9);
	}
}

TEST(one_sample_is_an_empty_series)
{
	static const double e[][2] = { { 5, 500e6 } };
	CLEANUP(trace_release) struct trace t = trace_new();
	track_id th = trace_thread(&t, "node", 1, 1);
	series_id s = trace_series(&t, ENERGY_NAME, "#", SERIES_CUMULATIVE);
	CLEANUP(energy_result_release) struct energy_result r;

	trace_samples(&t, s, 1, e);
	trace_call(&t, th, "a", 0, 10);
	trace_finish(&t);
	assert_int_equal(energy_attribute(t.m, s, VIEW_HOST, &shared, &r, NULL), 1);
	assert_near(r.total_j, 0, 0);
	assert_near(r.unattributed_j, 0, 0);
	assert_true(r.flags & CF_SHORT);
	assert_null(r.exclusive_j);
}

TEST(no_sharer)
{
	static const double e[][2] = { { 0, 0 }, { 10, 1000e6 } };
	CLEANUP(trace_release) struct trace t = trace_new();
	series_id s = trace_series(&t, ENERGY_NAME, "#", SERIES_CUMULATIVE);
	struct energy_result r;

	trace_samples(&t, s, 2, e);
	trace_finish(&t);
	for (int view = VIEW_HOST; view <= VIEW_DEVICE; view++) {
		assert_int_equal(
			energy_attribute(t.m, s, (enum energy_view)view, &shared, &r, NULL), 1);
		assert_near(r.unattributed_j, 1000, 1e-9);
		assert_int_equal(r.unattributed_ns, ns(10));
		energy_result_release(&r);
	}
}

TEST(unknown_counters_are_refused)
{
	static const double e[][2] = { { 0, 0 }, { 10, 1000 } };
	CLEANUP(trace_release) struct trace t = trace_new();
	series_id s = trace_series(&t, "mystery_energy", "#", SERIES_CUMULATIVE);
	struct err err = ERR_INIT;
	struct energy_result r;

	trace_samples(&t, s, 2, e);
	trace_finish(&t);
	assert_int_equal(energy_attribute(t.m, s, VIEW_HOST, &shared, &r, &err), -EINVAL);
	assert_non_null(strstr(err.msg, "mystery_energy"));
}

/* A backwards step: its interval is unattributed, counts 0 and marks the calls it touches. */
TEST(case_06_backwards_step_splits)
{
	static const double e[][2] = { { 0, 5000e6 }, { 5, 5500e6 }, { 6, 100e6 }, { 10, 500e6 } };
	CLEANUP(trace_release) struct trace t = trace_new();
	track_id th = trace_thread(&t, "node", 1, 1);
	series_id s = trace_series(&t, ENERGY_NAME, "#", SERIES_CUMULATIVE);
	size_t b;

	trace_samples(&t, s, 4, e);
	trace_call(&t, th, "a", 0, 4);
	trace_call(&t, th, "b", 5.25, 5.75);
	trace_call(&t, th, "c", 5, 8); /* encloses b */
	trace_finish(&t);
	CLEANUP(energy_result_release) struct energy_result r = host_view(t.m, s, &shared);
	assert_near(r.total_j, 900, 1e-9);
	assert_near(exclusive(&t, &r, th, "a", 0), 400, 1e-9);
	assert_near(exclusive(&t, &r, th, "c", 0), 200, 1e-9);
	b = trace_find(t.m, th, "b", 0);
	assert_near(r.exclusive_j[b], 0, 0);
	assert_int_equal(r.exclusive_ns[b], 0);
	assert_int_equal(r.marks[b], CURVE_RESET | CURVE_DEAD);
	assert_int_equal(r.marks[trace_find(t.m, th, "a", 0)], 0);
	assert_int_equal(r.exclusive_ns[trace_find(t.m, th, "c", 0)], ns(2));
	assert_near(r.unattributed_j, 300, 1e-9);
	assert_true(r.flags & CF_RESET);
}

/* A hole of 10 s over a limit of 1 s is unattributed; without one it is interpolated and flagged.
 */
TEST(case_07_gap_is_nobodys)
{
	struct energy_opts limited = { .integration = INTEGRATE_LINEAR, .max_gap_ns = ns(1) };
	CLEANUP(trace_release) struct trace t = trace_new();
	track_id th = trace_thread(&t, "node", 1, 1);
	series_id s = trace_series(&t, ENERGY_NAME, "#", SERIES_CUMULATIVE);
	struct energy_result r;

	for (int i = 0; i <= 50; i++) { /* 100 W, every 0.1 s, nothing between 2 and 12 s */
		double at = i <= 20 ? i * 0.1 : 9.9 + i * 0.1;
		t.s->ops->sample(t.s, s, ns(at), at * 100e6);
	}
	trace_call(&t, th, "a", 1, 13);
	trace_call(&t, th, "b", 14, 14.5);
	trace_finish(&t);
	r = host_view(t.m, s, &limited);
	assert_near(exclusive(&t, &r, th, "a", 0), 200, 1e-9);
	assert_int_equal(r.exclusive_ns[0], ns(2));
	assert_int_equal(r.marks[0], CURVE_GAP | CURVE_DEAD);
	assert_int_equal(r.marks[1], 0);
	assert_near(r.dead_j, 1000, 1e-9);
	assert_near(r.unattributed_j, 1000 + 100 + 100 + 40, 1e-9);
	energy_result_release(&r);
	r = host_view(t.m, s, &shared);
	assert_near(exclusive(&t, &r, th, "a", 0), 1200, 1e-9);
	assert_int_equal(r.marks[0], CURVE_GAP);
	assert_true(r.flags & CF_GAP);
	energy_result_release(&r);
}

/* ---- strictly synchronous counters ---- */

TEST(synchronous_counter_belongs_to_its_thread)
{
	static const double v[][2] = {
		{ 0, 100 }, { 1, 350 }, { 3, 1350 }, { 4, 1400 }, { 6, 1402 }
	};
	CLEANUP(trace_release) struct trace t = trace_new();
	track_id a = trace_thread(&t, "node", 1, 1), b = trace_thread(&t, "node", 1, 2);
	struct series_def d = { .name = "PAPI_TOT_CYC",
				.kind = SERIES_CUMULATIVE,
				.track = a,
				.exclusive_sync = true };
	series_id s = t.s->ops->series(t.s, &d);

	trace_samples(&t, s, 5, v);
	trace_call(&t, a, "main", 0, 6);
	trace_call(&t, a, "f", 1, 3);
	trace_call(&t, b, "other", 0, 6);
	trace_finish(&t);
	CLEANUP(energy_result_release) struct energy_result r = host_view(t.m, s, &shared);
	assert_near(inclusive(&t, &r, a, "main", 0), 1302, 1e-9);
	assert_near(exclusive(&t, &r, a, "main", 0), 302, 1e-9);
	assert_near(exclusive(&t, &r, a, "f", 0), 1000, 1e-9);
	assert_true(isnan(exclusive(&t, &r, b, "other", 0)));
}

/* ---- device view ---- */

TEST(kernels_share_a_device)
{
	static const double e[][2] = { { 0, 0 }, { 10, 1000e6 } };
	CLEANUP(trace_release) struct trace t = trace_new();
	track_id q0 = trace_queue(&t, "gpu0", 0), q1 = trace_queue(&t, "gpu0", 1);
	track_id other = trace_queue(&t, "gpu1", 0);
	series_id s = trace_series(&t, ENERGY_NAME, "#", SERIES_CUMULATIVE);
	struct energy_result r;

	trace_samples(&t, s, 2, e);
	trace_work(&t, q0, "k", 1, 5);
	trace_work(&t, q0, "k2", 2, 3); /* overlaps on its own queue: a second sharer, no child */
	trace_work(&t, q1, "copy", 4, 6);
	trace_work(&t, other, "k", 0, 10);
	trace_span_ns(&t, q0, "step", ns(0), ns(10), SPAN_ANNOTATION);
	trace_finish(&t);
	assert_int_equal(energy_attribute(t.m, s, VIEW_DEVICE, &shared, &r, NULL), 0);
	assert_string_equal(r.device, "gpu0");
	assert_near(exclusive(&t, &r, q0, "k", 0), 100 + 50 + 100 + 50, 1e-9);
	assert_near(inclusive(&t, &r, q0, "k", 0), 300, 1e-9);
	assert_near(exclusive(&t, &r, q0, "k2", 0), 50, 1e-9);
	assert_near(exclusive(&t, &r, q1, "copy", 0), 150, 1e-9);
	assert_true(isnan(exclusive(&t, &r, other, "k", 0)));
	assert_true(isnan(exclusive(&t, &r, q0, "step", 0)));
	assert_near(r.unattributed_j, 500, 1e-9);
	assert_true(r.error_rel <= 1e-9);
	energy_result_release(&r);
	assert_int_equal(energy_attribute(t.m, s, VIEW_DEVICE, &independent, &r, NULL), 0);
	assert_near(r.attributed_j, 700, 1e-9);
	assert_true(r.error_rel <= 1e-9);
	energy_result_release(&r);
}

/* ---- the recorded node: two ranks on device 0 ---- */

static const char hpl_file[] = "otf2/hpl-mxp-metrics/MPI Rank 0_metrics.csv";

/* The recording, and an input beside it for calls made by hand. */
static struct trace hpl_trace(const char *path)
{
	static const struct read_opts opts = { .keep_args = false };
	struct trace t = { .m = model_new() };
	struct err err = ERR_INIT;

	t.s = model_sink(t.m);
	if (reader_find("metrics_csv")->read(path, t.s, &opts, &err) != 0)
		fail_msg("%s", err.msg);
	t.s->ops->input(t.s, "hand-made", "test");
	t.s->ops->clock(t.s);
	return t;
}

static series_id series_named(const struct model *m, const char *name)
{
	for (series_id i = 0; i < m->series.nr; i++) {
		if (strcmp(model_str(m, m->series.v[i].name), name) == 0)
			return i;
	}
	fail_msg("no series '%s'", name);
	return 0;
}

TEST(hpl_series)
{
	static const struct {
		const char *name;
		size_t samples;
		double total, window[3]; /* 5-10, 10-20, 20-25 s */
		uint64_t rates;          /* single intervals over 1500 W */
	} want[] = {
		{ "A2rocm_smi:::energy_count:device=0",
		  10999,
		  4273.949346,
		  { 489.222457, 1086.487601, 2237.586883 },
		  0 },
		{ "A2rocm_smi:::energy_count:device=2",
		  10999,
		  4005.246886,
		  { 453.824648, 1023.756684, 2106.373174 },
		  0 },
		{ "A2rocm_smi:::energy_count:device=4",
		  10999,
		  4010.631309,
		  { 455.416137, 1035.028244, 2094.888127 },
		  0 },
		{ "A2rocm_smi:::energy_count:device=6",
		  10999,
		  4143.062311,
		  { 468.089522, 1050.014051, 2192.721009 },
		  0 },
		{ "A2coretemp:::craypm:accel0_energy", 202, 4434, { NAN, NAN, NAN }, 1 },
		{ "A2coretemp:::craypm:accel1_energy", 202, 4214, { NAN, NAN, NAN }, 0 },
		{ "A2coretemp:::craypm:accel2_energy", 202, 4041, { NAN, NAN, NAN }, 0 },
		{ "A2coretemp:::craypm:accel3_energy", 202, 4271, { NAN, NAN, NAN }, 1 },
	};
	static const double edge_s[] = { 5, 10, 20, 25 };
	CLEANUP(xfreep) char *path = test_trace(hpl_file);

	CLEANUP(trace_release) struct trace t = hpl_trace(path);
	trace_finish(&t);
	assert_int_equal(t.m->series.nr, 8);
	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++) {
		series_id s = series_named(t.m, want[i].name);
		struct counter_info ci = counter_info(t.m, s);
		struct counter_scan scan = counter_scan(t.m, s, &ci, 0);
		CLEANUP(curve_release) struct curve c;
		size_t hint = 0;

		assert_int_equal(scan.samples, want[i].samples);
		assert_near(scan.total, want[i].total, 1e-6);
		assert_int_equal(scan.rates, want[i].rates);
		assert_false(scan.flags & (CF_RESET | CF_WRAP | CF_UNKNOWN));
		assert_int_equal(curve_make(t.m, s, &ci, &shared, &c, NULL), 0);
		for (int w = 0; w < 3 && !isnan(want[i].window[w]); w++)
			assert_near(curve_at(&c, ns(edge_s[w + 1]), &hint) -
					    curve_at(&c, ns(edge_s[w]), &hint),
				    want[i].window[w], 1e-6);
	}
}

TEST(hpl_two_ranks)
{
	CLEANUP(xfreep) char *path = test_trace(hpl_file);
	struct energy_result r;
	track_id a, b;
	series_id s;

	CLEANUP(trace_release) struct trace t = hpl_trace(path);
	a = trace_thread(&t, "node", 1, 1);
	b = trace_thread(&t, "node", 2, 2);
	trace_call(&t, a, "main", 0.2, 24.9);
	trace_call(&t, a, "factor", 5, 15);
	trace_call(&t, a, "rocblas_dgemm", 6, 9);
	trace_call(&t, a, "rocblas_dgemm", 10, 14);
	trace_call(&t, a, "MPI_Waitany", 15, 20);
	trace_call(&t, b, "main", 0.2, 20);
	trace_call(&t, b, "rocblas_dgemm", 8, 18);
	trace_finish(&t);
	s = series_named(t.m, ENERGY_NAME);
	r = host_view(t.m, s, &shared);
	assert_near(exclusive(&t, &r, a, "main", 0), 2442.440553, 1e-6);
	assert_near(exclusive(&t, &r, a, "factor", 0), 144.991138, 1e-6);
	assert_near(exclusive(&t, &r, a, "rocblas_dgemm", 0), 146.654138, 1e-6);
	assert_near(exclusive(&t, &r, a, "rocblas_dgemm", 1), 198.103653, 1e-6);
	assert_near(exclusive(&t, &r, a, "MPI_Waitany", 0), 298.106100, 1e-6);
	assert_near(exclusive(&t, &r, b, "main", 0), 532.640557, 1e-6);
	assert_near(exclusive(&t, &r, b, "rocblas_dgemm", 0), 485.323015, 1e-6);
	assert_near(r.attributed_j, 4248.259154, 1e-6);
	assert_near(inclusive(&t, &r, a, "main", 0), 3230.295582, 1e-6);
	assert_near(inclusive(&t, &r, a, "factor", 0), 489.748929, 1e-6);
	assert_near(inclusive(&t, &r, b, "main", 0), 1017.963572, 1e-6);
	energy_result_release(&r);
	r = host_view(t.m, s, &independent);
	assert_near(inclusive(&t, &r, a, "main", 0), 4248.259154, 1e-6);
	assert_near(inclusive(&t, &r, b, "rocblas_dgemm", 0), 970.646029, 1e-6);
	energy_result_release(&r);
}
