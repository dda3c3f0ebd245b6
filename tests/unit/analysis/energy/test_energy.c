#include "energy_fixture.h"
#include "energy_spans.h"

#include "profrig/base/strvec.h"
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

/*
 * What a text says of single spans: lines "TRACK NAME:NTH EXCLUSIVE INCLUSIVE", in J to 1e-9;
 * TRACK counts those that have calls or work, "-" is unknown and "*" anything.
 */
#define expect_spans(m, r, text) expect_spans_to(m, r, 1e-9, text, __LINE__)

static bool same_energy(double got, const char *want, double tolerance)
{
	double v = NAN;

	if (strcmp(want, "*") == 0)
		return true;
	if (strcmp(want, "-") == 0)
		return isnan(got);
	assert_int_equal(num_f64(want, strlen(want), &v), 0);
	return fabs(got - v) <= tolerance;
}

static track_id nth_track(const struct model *m, size_t n)
{
	for (track_id t = 0; t < m->tracks.nr; t++)
		if (m->tracks.v[t].spans > 0 && n-- == 0)
			return t;
	fail_msg("too few tracks");
	return TRACK_NONE;
}

static void expect_spans_to(const struct model *m, const struct energy_result *r, double tolerance,
			    const char *text, int line)
{
	CLEANUP(strvec_release) struct strvec lines = STRVEC_INIT;

	strvec_split(&lines, text, "\n");
	for (size_t i = 0; i < lines.nr; i++) {
		CLEANUP(strvec_release) struct strvec cells = STRVEC_INIT;
		size_t span;

		strvec_split(&cells, lines.v[i], " ");
		assert_int_equal(cells.nr, 4);
		char *nth = strchr(cells.v[1], ':');
		if (nth)
			*nth++ = '\0';
		span = trace_find(m, nth_track(m, (size_t)(*cells.v[0] - '0')), cells.v[1],
				  nth ? *nth - '0' : 0);
		if (!same_energy(r->exclusive_j[span], cells.v[2], tolerance) ||
		    !same_energy(r->inclusive_j[span], cells.v[3], tolerance))
			fail_msg("line %d, row %zu: %s has %.12g J exclusive, %.12g J inclusive, "
				 "not %s, %s",
				 line, i, cells.v[1], r->exclusive_j[span], r->inclusive_j[span],
				 cells.v[2], cells.v[3]);
	}
}

#define COUNTER_100W "series " ENERGY_NAME " # cumulative: 0 0 10 1000e6\n"

/* ---- two ranks, one device, numbers that can be checked by hand ---- */

TEST(two_ranks_share_a_counter_and_a_gauge)
{
	/* the kind that the gauge's file claims is wrong */
	static const char *const series[] = {
		"series " ENERGY_NAME " # cumulative: 0 0 2.5 250e6 5 750e6 10 1000e6\n",
		"series " POWER_NAME " # cumulative: 0 100e6 2.5 200e6 5 50e6 10 70e6\n",
	};

	for (size_t i = 0; i < ARRAY_LEN(series); i++) {
		struct energy_opts previous = { .integration = INTEGRATE_PREVIOUS };
		CLEANUP(trace_release) struct trace t = trace_new();
		struct energy_result r;

		trace_add(&t,
			  "rank 100/100: main 0-10 f 1-6 g 2-4\nrank 101/101: main 0-8 h 3-5\n");
		trace_add(&t, series[i]);
		trace_finish(&t);
		r = host_view(t.m, 0, &previous);
		expect_spans(t.m, &r,
			     "0 main 200 550\n0 f 175 350\n0 g 175 175\n"
			     "1 main 250 450\n1 h 200 200");
		assert_near(r.attributed_j, 1000, 1e-9);
		assert_near(r.unattributed_j, 0, 1e-9);
		/* f: 175 J in 3 s of its own */
		assert_int_equal(r.exclusive_ns[trace_find(t.m, nth_track(t.m, 0), "f", 0)], ns(3));
		energy_result_release(&r);

		previous.independent = true;
		r = host_view(t.m, 0, &previous);
		expect_spans(t.m, &r,
			     "0 main 300 *\n0 f 350 *\n0 g 350 *\n1 main 500 *\n1 h 400 *");
		assert_near(r.total_j, 1000, 1e-9);
		assert_near(r.attributed_j, 1900, 1e-9);
		energy_result_release(&r);
	}
}

/* ---- who shares: samples of 100 W for 10 s ---- */

/* NULL: not asked with this option. */
static const struct {
	const char *what, *trace, *shared, *independent;
	double attributed;
} sharing[] = {
	/* a alone 0-2, half 2-4, a quarter 4-6, half 6-8 */
	{ "threads of a process share its part",
	  COUNTER_100W "rank 1/1: a 0-8\nrank 1/2: b 4-6\nrank 2/1: c 2-10\n",
	  "0 a 450 *\n1 b 50 *\n2 c 500 *", "0 a 700 *\n1 b 100 *\n2 c 800 *", 1000 },
	/* a range from roctxRangeStart to roctxRangeStop is on no stack: it takes nothing */
	{ "a range without calls", COUNTER_100W "rank 1/1:\nrank 1/2: range!a 0-10\n",
	  "0 range 1000 *", NULL, 1000 },
	{ "a range beside calls", COUNTER_100W "rank 1/1: a 0-8\nrank 1/2: range!a 0-10\n",
	  "0 a 800 *", NULL, 800 },
	/* a host may stand in the series or in the name of its device */
	ROW("a series of another host",
	    "series " ENERGY_NAME " host=one: 0 0 10 1000e6\n"
	    "rank 1/1 host=one: a 0-10\nrank 2/1 host=two: b 0-10\n",
	    "0 a 1000 *\n1 b - *", NULL, 1000),
	ROW("a device of another host",
	    "series " ENERGY_NAME " device=one:gpu0: 0 0 10 1000e6\n"
	    "rank 1/1 host=one: a 0-10\nrank 2/1 host=two: b 0-10\n",
	    "0 a 1000 *\n1 b - *", NULL, 1000),
};

TEST(who_shares)
{
	for (size_t i = 0; i < ARRAY_LEN(sharing); i++) {
		CLEANUP(model_freep) struct model *m = model_of_text(1e9, sharing[i].trace);
		struct energy_result r = host_view(m, 0, &shared);

		print_message("# %s\n", sharing[i].what);
		expect_spans(m, &r, sharing[i].shared);
		assert_near(r.attributed_j, sharing[i].attributed, 1e-9);
		energy_result_release(&r);
		if (!sharing[i].independent)
			continue;
		r = host_view(m, 0, &independent);
		expect_spans(m, &r, sharing[i].independent);
		energy_result_release(&r);
	}
}

/* ---- edges; samples 0, 500, 1000 J at 0, 5, 10 s ---- */

static const struct {
	const char *what, *calls, *want;
	double covered_s[3];
	bool outside;
	double unattributed;
} edges[] = {
	{ "ends after the last sample", "a 1-12", "0 a 900 900", { 9 }, true, 100 },
	{ "lies after the last sample", "a 11-12", "0 a 0 0", { 0 }, true, 1000 },
	{ "lies before the first sample", "a -3--1", "0 a 0 0", { 0 }, true, 1000 },
	{ "begins before the first sample", "a -2-4", "0 a 400 400", { 4 }, true, 600 },
	ROW("a hole between two calls", "a 0-1 b 3-5", "0 a 100 100\n0 b 200 200", { 1, 2 }, false,
	    700),
	{ "a call of no length", "a 0-10 z 3-3", "0 a 1000 1000\n0 z 0 0", { 10, 0 }, false, 0 },
	{ "overlap", "a 0-6 b 4-10", "0 a 400 600\n0 b 600 600", { 4, 6 }, false, 0 },
	ROW("recursion", "a 0-10 a 2-8 a 4-6", "0 a:0 400 1000\n0 a:1 400 600\n0 a:2 200 200",
	    { 4, 4, 2 }, false, 0),
};

TEST(edge_cases)
{
	for (size_t k = 0; k < ARRAY_LEN(edges); k++) {
		CLEANUP(xfreep)
		char *text = xasprintf("series " ENERGY_NAME
				       " # cumulative: 0 0 5 500e6 10 1000e6\nrank 1/1: %s\n",
				       edges[k].calls);
		CLEANUP(model_freep) struct model *m = model_of_text(1e9, text);
		CLEANUP(energy_result_release) struct energy_result r = host_view(m, 0, &shared);

		print_message("# %s\n", edges[k].what);
		expect_spans(m, &r, edges[k].want);
		for (size_t i = 0; i < m->spans.nr; i++) {
			assert_int_equal(r.exclusive_ns[i], ns(edges[k].covered_s[i]));
			assert_int_equal(!!(r.marks[i] & SPAN_OUTSIDE), edges[k].outside);
		}
		assert_near(r.unattributed_j, edges[k].unattributed, 1e-9);
		assert_near(r.total_j, 1000, 1e-9);
	}
}

TEST(one_sample_is_an_empty_series)
{
	CLEANUP(model_freep)
	struct model *m = model_of_text(1e9, "series " ENERGY_NAME " # cumulative: 5 500e6\n"
					     "rank 1/1: a 0-10\n");
	CLEANUP(energy_result_release) struct energy_result r;

	assert_int_equal(energy_attribute(m, 0, VIEW_HOST, &shared, &r, NULL), 1);
	assert_near(r.total_j, 0, 0);
	assert_near(r.unattributed_j, 0, 0);
	assert_true(r.flags & CF_SHORT);
	assert_null(r.exclusive_j);
}

TEST(no_sharer)
{
	CLEANUP(model_freep) struct model *m = model_of_text(1e9, COUNTER_100W);

	for (int view = VIEW_HOST; view <= VIEW_DEVICE; view++) {
		CLEANUP(energy_result_release) struct energy_result r;

		assert_int_equal(energy_attribute(m, 0, (enum energy_view)view, &shared, &r, NULL),
				 1);
		assert_near(r.unattributed_j, 1000, 1e-9);
		assert_int_equal(r.unattributed_ns, ns(10));
	}
}

TEST(unknown_counters_are_refused)
{
	CLEANUP(model_freep)
	struct model *m = model_of_text(1e9, "series mystery_energy # cumulative: 0 0 10 1000\n");
	struct err err = ERR_INIT;
	struct energy_result r;

	assert_int_equal(energy_attribute(m, 0, VIEW_HOST, &shared, &r, &err), -EINVAL);
	assert_has(err.msg, "mystery_energy");
}

/* A backwards step: its interval is unattributed, counts 0 and marks the calls it touches. */
TEST(case_06_backwards_step_splits)
{
	/* c encloses b */
	CLEANUP(model_freep)
	struct model *m = model_of_text(1e9, "series " ENERGY_NAME
					     " # cumulative: 0 5000e6 5 5500e6 6 100e6 10 500e6\n"
					     "rank 1/1: a 0-4 b 5.25-5.75 c 5-8\n");
	CLEANUP(energy_result_release) struct energy_result r = host_view(m, 0, &shared);
	track_id th = nth_track(m, 0);
	size_t b = trace_find(m, th, "b", 0);

	assert_near(r.total_j, 900, 1e-9);
	expect_spans(m, &r, "0 a 400 *\n0 c 200 *\n0 b 0 *");
	assert_int_equal(r.exclusive_ns[b], 0);
	assert_int_equal(r.marks[b], CURVE_RESET | CURVE_DEAD);
	assert_int_equal(r.marks[trace_find(m, th, "a", 0)], 0);
	assert_int_equal(r.exclusive_ns[trace_find(m, th, "c", 0)], ns(2));
	assert_near(r.unattributed_j, 300, 1e-9);
	assert_true(r.flags & CF_RESET);
}

/* A hole of 10 s over a limit of 1 s is unattributed; without one it is interpolated and flagged.
 */
TEST(case_07_gap_is_unattributed)
{
	struct energy_opts limited = { .integration = INTEGRATE_LINEAR, .max_gap_ns = ns(1) };
	CLEANUP(trace_release) struct trace t = trace_new();
	series_id s = trace_series(&t, ENERGY_NAME, "#", SERIES_CUMULATIVE);
	struct energy_result r;

	for (int i = 0; i <= 50; i++) { /* 100 W, every 0.1 s, nothing between 2 and 12 s */
		double at = i <= 20 ? i * 0.1 : 9.9 + i * 0.1;
		t.s->ops->sample(t.s, s, ns(at), at * 100e6);
	}
	trace_add(&t, "rank 1/1: a 1-13 b 14-14.5");
	trace_finish(&t);
	r = host_view(t.m, s, &limited);
	expect_spans(t.m, &r, "0 a 200 *");
	assert_int_equal(r.exclusive_ns[0], ns(2));
	assert_int_equal(r.marks[0], CURVE_GAP | CURVE_DEAD);
	assert_int_equal(r.marks[1], 0);
	assert_near(r.dead_j, 1000, 1e-9);
	assert_near(r.unattributed_j, 1000 + 100 + 100 + 40, 1e-9);
	energy_result_release(&r);
	r = host_view(t.m, s, &shared);
	expect_spans(t.m, &r, "0 a 1200 *");
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
	struct series_def d = { .name = "PAPI_TOT_CYC",
				.kind = SERIES_CUMULATIVE,
				.track = trace_add(&t, "rank 1/1: main 0-6 f 1-3"),
				.exclusive_sync = true };
	series_id s = t.s->ops->series(t.s, &d);

	trace_samples(&t, s, 5, v);
	trace_add(&t, "rank 1/2: other 0-6");
	trace_finish(&t);
	CLEANUP(energy_result_release) struct energy_result r = host_view(t.m, s, &shared);
	expect_spans(t.m, &r, "0 main 302 1302\n0 f 1000 *\n1 other - *");
}

/* ---- device view ---- */

TEST(kernels_share_a_device)
{
	/* k2 overlaps on its own queue: a second sharer, no child */
	CLEANUP(model_freep)
	struct model *m =
		model_of_text(1e9, COUNTER_100W "stream gpu0/0: k 1-5 k2 2-3 step!a 0-10\n"
						"stream gpu0/1: copy 4-6\nstream gpu1/0: k 0-10\n");
	struct energy_result r;

	assert_int_equal(energy_attribute(m, 0, VIEW_DEVICE, &shared, &r, NULL), 0);
	assert_string_equal(r.device, "gpu0");
	/* k: 100 + 50 + 100 + 50 */
	expect_spans(m, &r, "0 k 300 300\n0 k2 50 *\n1 copy 150 *\n2 k - *\n0 step - *");
	assert_near(r.unattributed_j, 500, 1e-9);
	assert_true(r.error_rel <= 1e-9);
	energy_result_release(&r);
	assert_int_equal(energy_attribute(m, 0, VIEW_DEVICE, &independent, &r, NULL), 0);
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
		ROW("A2rocm_smi:::energy_count:device=0", 10999, 4273.949346,
		    { 489.222457, 1086.487601, 2237.586883 }, 0),
		ROW("A2rocm_smi:::energy_count:device=2", 10999, 4005.246886,
		    { 453.824648, 1023.756684, 2106.373174 }, 0),
		ROW("A2rocm_smi:::energy_count:device=4", 10999, 4010.631309,
		    { 455.416137, 1035.028244, 2094.888127 }, 0),
		ROW("A2rocm_smi:::energy_count:device=6", 10999, 4143.062311,
		    { 468.089522, 1050.014051, 2192.721009 }, 0),
		{ "A2coretemp:::craypm:accel0_energy", 202, 4434, { NAN, NAN, NAN }, 1 },
		{ "A2coretemp:::craypm:accel1_energy", 202, 4214, { NAN, NAN, NAN }, 0 },
		{ "A2coretemp:::craypm:accel2_energy", 202, 4041, { NAN, NAN, NAN }, 0 },
		{ "A2coretemp:::craypm:accel3_energy", 202, 4271, { NAN, NAN, NAN }, 1 },
	};
	static const double edge_s[] = { 5, 10, 20, 25 };

	CLEANUP(trace_release) struct trace t = hpl_trace(kept(test_trace(hpl_file)));
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
	CLEANUP(trace_release) struct trace t = hpl_trace(kept(test_trace(hpl_file)));
	struct energy_result r;
	series_id s;

	trace_add(&t, "rank 1/1: main 0.2-24.9 factor 5-15 rocblas_dgemm 6-9 rocblas_dgemm 10-14 "
		      "MPI_Waitany 15-20\n"
		      "rank 2/2: main 0.2-20 rocblas_dgemm 8-18\n");
	trace_finish(&t);
	s = series_named(t.m, ENERGY_NAME);
	r = host_view(t.m, s, &shared);
	expect_spans_to(t.m, &r, 1e-6,
			"0 main 2442.440553 3230.295582\n0 factor 144.991138 489.748929\n"
			"0 rocblas_dgemm:0 146.654138 *\n0 rocblas_dgemm:1 198.103653 *\n"
			"0 MPI_Waitany 298.106100 *\n1 main 532.640557 1017.963572\n"
			"1 rocblas_dgemm 485.323015 *",
			__LINE__);
	assert_near(r.attributed_j, 4248.259154, 1e-6);
	energy_result_release(&r);
	r = host_view(t.m, s, &independent);
	expect_spans_to(t.m, &r, 1e-6, "0 main * 4248.259154\n1 rocblas_dgemm * 970.646029",
			__LINE__);
	energy_result_release(&r);
}
