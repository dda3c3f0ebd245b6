/*
 * Energy tables with known answers: counters of a recorded node, two ranks that share a device, a
 * program that can be checked by hand, and an archive of two kernels, by device and by call.
 */
#include "readers_test.h"
#include "stats_test.h"
#include "tables_support.h"

#define TABLES CLEANUP(table_set_release) struct table_set
#define COUNTER "A2rocm_smi:::energy_count:device="
#define POWER "A2rocm_smi:::current_socket_power:device="

/* The cell of the only row with these texts; "" any. */
static double cell(const struct table *t, const char *counter, const char *view, const char *track,
		   const char *name, const char *column)
{
	size_t found = SIZE_MAX;

	for (size_t r = 0; r < table_rows(t); r++) {
		if (strcmp(str_of(t, r, "counter"), counter) != 0 ||
		    strcmp(str_of(t, r, "view"), view) != 0 ||
		    (*track && !strstr(str_of(t, r, "track"), track)) ||
		    strncmp(str_of(t, r, "name"), name, strlen(name)) != 0)
			continue;
		if (found != SIZE_MAX)
			fail_msg("two rows of %s, %s, %s", counter, view, name);
		found = r;
	}
	if (found == SIZE_MAX)
		fail_msg("no row of %s, %s, %s", counter, view, name);
	return num_of(t, found, column);
}

#define expect_near(got, want, tolerance) \
	do { \
		double got_ = (got), want_ = (want); \
		if (!(fabs(got_ - want_) <= (tolerance))) \
			fail_msg("%.9f is not %.9f", got_, want_); \
	} while (0)

static const char hpl_file[] = "otf2/hpl-mxp-metrics/MPI Rank 0_metrics.csv";

/* The counters of a recording, and calls beside them; seconds. */
static struct model *hpl_model(const char *calls)
{
	static const struct read_opts opts = { .keep_args = false };
	struct model *m = model_new();
	struct sink *s = model_sink(m);
	struct err err = ERR_INIT;

	if (reader_find("metrics_csv")->read(kept(test_trace(hpl_file)), s, &opts, &err) != 0)
		fail_msg("%s", err.msg);
	if (calls) {
		s->ops->input(s, "hand-made", "test");
		s->ops->clock(s);
		trace_text(s, 1e9, calls);
		s->ops->input_end(s);
	}
	model_finish(m);
	return m;
}

TEST(case_3_csv_metrics)
{
	static const struct {
		const char *series;
		double samples, total;
	} want[] = {
		{ COUNTER "0", 10999, 4273.949346 },
		{ COUNTER "2", 10999, 4005.246886 },
		{ COUNTER "4", 10999, 4010.631309 },
		{ COUNTER "6", 10999, 4143.062311 },
		{ "A2coretemp:::craypm:accel0_energy", 202, 4434 },
		{ "A2coretemp:::craypm:accel1_energy", 202, 4214 },
		{ "A2coretemp:::craypm:accel2_energy", 202, 4041 },
		{ "A2coretemp:::craypm:accel3_energy", 202, 4271 },
	};
	static const double windows[][3] = { { 5, 10, 489.222457 },
					     { 10, 20, 1086.487601 },
					     { 20, 25, 2237.586883 } };
	CLEANUP(model_freep) struct model *m = hpl_model(NULL);
	TABLES ts = run(m, "counters", NULL);
	const struct table *t = table_set_find(&ts, "counters");

	assert_int_equal(table_rows(t), 8);
	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++) {
		size_t r = row_of(t, "series", want[i].series, NULL, NULL);

		assert_true(num_of(t, r, "samples") == want[i].samples);
		expect_near(num_of(t, r, "total"), want[i].total, 1e-6);
	}
	for (size_t i = 0; i < sizeof(windows) / sizeof(*windows); i++) {
		char calls[64];

		snprintf(calls, sizeof(calls), "rank 1/1: f %g-%g\n", windows[i][0], windows[i][1]);
		CLEANUP(model_freep) struct model *with = hpl_model(calls);
		TABLES energy = run(with, "energy", NULL);

		expect_near(cell(table_set_find(&energy, "energy"), COUNTER "0", "host", "", "f",
				 "inclusive_j"),
			    windows[i][2], 1e-6);
	}
}

TEST(case_4_two_rank_sharing)
{
	static const struct {
		const char *rank, *name;
		double exclusive, inclusive, independent; /* NAN: not stated */
	} want[] = {
		{ "R0", "main", 2442.440553, 3230.295582, 4248.259154 },
		{ "R0", "factor", 144.991138, 489.748929, NAN },
		{ "R0", "rocblas_dgemm", 146.654138 + 198.103653, NAN, NAN },
		{ "R0", "MPI_Waitany", 298.106100, NAN, NAN },
		{ "R1", "main", 532.640557, 1017.963572, NAN },
		{ "R1", "rocblas_dgemm", 485.323015, NAN, 970.646029 },
	};
	static const struct analysis_opts alone = { .energy = { .independent = true } };
	CLEANUP(model_freep)
	struct model *m = hpl_model("rank 1/1 name=R0: main 0.2-24.9 factor 5-15 rocblas_dgemm 6-9 "
				    "rocblas_dgemm 10-14 MPI_Waitany 15-20\n"
				    "rank 2/2 name=R1: main 0.2-20 rocblas_dgemm 8-18\n");
	TABLES shared = run(m, "energy", NULL);
	TABLES independent = run(m, "energy", &alone);
	const struct table *t = table_set_find(&shared, "energy"),
			   *ti = table_set_find(&independent, "energy");
	double sum = 0;

	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++) {
		double own =
			cell(t, COUNTER "0", "host", want[i].rank, want[i].name, "exclusive_j");

		expect_near(own, want[i].exclusive, 1e-6);
		sum += own;
		if (!isnan(want[i].inclusive))
			expect_near(cell(t, COUNTER "0", "host", want[i].rank, want[i].name,
					 "inclusive_j"),
				    want[i].inclusive, 1e-6);
		if (!isnan(want[i].independent))
			expect_near(cell(ti, COUNTER "0", "host", want[i].rank, want[i].name,
					 "inclusive_j"),
				    want[i].independent, 1e-6);
	}
	expect_near(sum, 4248.259154, 2e-6);
}

/* The counter, and the power that makes the same energy where it holds. */
TEST(case_5_synthetic)
{
	static const char *const series[][2] = {
		{ COUNTER "0", "# cumulative: 0 0 2.5 250e6 5 750e6 10 1000e6\n" },
		{ POWER "0", "# cumulative: 0 100e6 2.5 200e6 5 50e6 10 70e6\n" },
	};
	static const struct {
		const char *rank, *name;
		double exclusive, inclusive, independent, seconds;
	} want[] = {
		{ "R0", "main", 200, 550, 300, 5 }, { "R0", "f", 175, 350, 350, 3 },
		{ "R0", "g", 175, 175, 350, 2 },    { "R1", "main", 250, 450, 500, 6 },
		{ "R1", "h", 200, 200, 400, 2 },
	};

	for (size_t k = 0; k < 2; k++) {
		struct analysis_opts o = { .energy = { .integration = INTEGRATE_PREVIOUS } };
		char text[256];

		snprintf(text, sizeof(text),
			 "rank 1/1 name=R0: main 0-10 f 1-6 g 2-4\nrank 2/2 name=R1: main 0-8 h "
			 "3-5\n"
			 "series %s %s",
			 series[k][0], series[k][1]);
		CLEANUP(model_freep)
		struct model *m = model_of_text_with(1e9, text, model_finish);
		TABLES shared = run(m, "energy", &o);
		const struct table *t = table_set_find(&shared, "energy"), *ti;

		o.energy.independent = true;
		TABLES independent = run(m, "energy", &o);
		ti = table_set_find(&independent, "energy");
		for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++) {
			const char *rank = want[i].rank, *name = want[i].name;

			expect_near(cell(t, series[k][0], "host", rank, name, "exclusive_j"),
				    want[i].exclusive, 1e-9);
			expect_near(cell(t, series[k][0], "host", rank, name, "inclusive_j"),
				    want[i].inclusive, 1e-9);
			expect_near(cell(t, series[k][0], "host", rank, name, "mean_w"),
				    want[i].exclusive / want[i].seconds, 1e-9);
			expect_near(cell(ti, series[k][0], "host", rank, name, "exclusive_j"),
				    want[i].independent, 1e-9);
		}
		/* 175 J in 3 s of its own, not in 5 s */
		expect_near(cell(t, series[k][0], "host", "R0", "f", "mean_w"), 58.3333, 1e-4);
	}
}

static const char mi300a[] = "otf2/mi300a-two-kernels/traces.otf2";
static const double mi300a_j[] = { 2237.380365, 1874.190017, 881.594227, 904.416717 };

TEST(case_6_stream_attribution)
{
	static const struct {
		int device;
		const char *kernel;
		double j, ns, w;
	} own[] = { { 0, "heavy_kernel", 1842.495723, 4735383814, 389.0911 },
		    { 1, "light_kernel", 1119.269556, 1628332847, 687.3715 } };
	CLEANUP(model_freep) struct model *m = read_recording("otf2", mi300a, false).m;
	TABLES ts = run(m, "energy", NULL);
	TABLES cs = run(m, "counters", NULL);
	const struct table *t = table_set_find(&ts, "energy"), *c = table_set_find(&cs, "counters");

	for (int d = 0; d < 4; d++) {
		char name[64];

		snprintf(name, sizeof(name), COUNTER "%d", d);
		expect_near(num_of(c, row_of(c, "series", name, NULL, NULL), "total"), mi300a_j[d],
			    1e-6);
	}
	for (size_t i = 0; i < 2; i++) {
		char name[64];

		snprintf(name, sizeof(name), COUNTER "%d", own[i].device);
		expect_near(cell(t, name, "device", "", own[i].kernel, "exclusive_j"), own[i].j,
			    1e-6);
		expect_near(cell(t, name, "device", "", own[i].kernel, "exclusive_ns"), own[i].ns,
			    1);
		expect_near(cell(t, name, "device", "", own[i].kernel, "mean_w"), own[i].w, 1e-4);
	}
}

/* The call main ends after the last sample. */
TEST(case_7_host_view)
{
	static const struct {
		int device;
		const char *name;
		double calls, j;
	} want[] = {
		{ 0, "hipEventSynchronize", 2, 2103.391704 },
		{ 0, "hipMemset", 2, 113.145195 },
		{ 0, "hipMalloc", 4, 19.597415 },
		{ 0, "hipFree", 4, 0.656040 },
		{ 0, "hipLaunchKernel", 2, 0.296198 },
		{ 0, "main", 1, 0.158021 },
		{ 1, "hipEventSynchronize", 2, 1757.976275 },
		{ 1, "hipMemset", 2, 97.656524 },
		{ 1, "hipMalloc", 4, 17.417303 },
	};
	static const double main_j[] = { 2237.285869, 1874.111329 };
	CLEANUP(model_freep) struct model *m = read_recording("otf2", mi300a, false).m;
	TABLES ts = run(m, "energy", NULL);
	TABLES fs = run(m, "callpaths", NULL);
	const struct table *t = table_set_find(&ts, "energy"),
			   *paths = table_set_find(&fs, "callpaths");
	char name[64];

	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++) {
		snprintf(name, sizeof(name), COUNTER "%d", want[i].device);
		expect_near(cell(t, name, "host", "", want[i].name, "exclusive_j"), want[i].j,
			    1e-6);
		assert_true(cell(t, name, "host", "", want[i].name, "calls") == want[i].calls);
	}
	for (int d = 0; d < 2; d++) {
		double sum = 0;

		snprintf(name, sizeof(name), COUNTER "%d", d);
		expect_near(cell(t, name, "host", "", "main", "inclusive_j"), main_j[d], 1e-6);
		for (size_t r = 0; r < table_rows(t); r++)
			if (strcmp(str_of(t, r, "counter"), name) == 0 &&
			    strcmp(str_of(t, r, "view"), "host") == 0 &&
			    strcmp(str_of(t, r, "name"), "[unattributed]") != 0)
				sum += num_of(t, r, "exclusive_j");
		expect_near(sum, main_j[d], 1e-6);
	}
	expect_near(cell(t, COUNTER "0", "host", "", "hipEventSynchronize", "exclusive_ns"),
		    6363778175, 2);
	assert_true(column_sum(paths, "calls") == 38);
	assert_true(num_of(paths, row_of(paths, "path", "main", NULL, NULL), "depth") == 0);
}

/* All samples, and those at which the value changes with the last one, make the same energy. */
TEST(case_8_deduplication)
{
	static const double want[] = { 2232.1016, 1816.8947, 879.1116, 902.1753 };
	static const double changes[] = { 517, 299, 46, 72 };
	static const struct analysis_opts o = { .energy = { .integration = INTEGRATE_PREVIOUS } };
	CLEANUP(model_freep) struct model *m = read_recording("otf2", mi300a, false).m;
	struct maker k = make_begin();

	for (size_t i = 0; i < m->series.nr; i++) {
		const struct series *se = &m->series.v[i];
		struct series_def d = { .name = model_str(m, se->name),
					.track = TRACK_NONE,
					.change_points = true };
		series_id id = k.s->ops->series(k.s, &d);

		for (size_t s = 0; s < se->t_ns.nr; s++)
			if (s == 0 || s + 1 == se->t_ns.nr || se->value.v[s] != se->value.v[s - 1])
				k.s->ops->sample(k.s, id, se->t_ns.v[s], se->value.v[s]);
	}
	CLEANUP(model_freep) struct model *few = make_end(&k);
	TABLES all = run(m, "counters", &o), kept_ones = run(few, "counters", &o);
	const struct table *a = table_set_find(&all, "counters"),
			   *b = table_set_find(&kept_ones, "counters");

	assert_true(column_sum(a, "samples") >= 72584 && column_sum(b, "samples") < 20000);
	for (int d = 0; d < 4; d++) {
		char name[64];
		size_t ra, rb;

		snprintf(name, sizeof(name), POWER "%d", d);
		ra = row_of(a, "series", name, NULL, NULL);
		rb = row_of(b, "series", name, NULL, NULL);
		expect_near(num_of(a, ra, "total"), want[d], 1e-4);
		expect_near(num_of(b, rb, "total"), want[d], 1e-4);
		assert_true(num_of(a, ra, "distinct") == changes[d]);
	}
}
