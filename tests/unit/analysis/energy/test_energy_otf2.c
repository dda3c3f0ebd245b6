/* Known answers of recorded archives, through the reader. */
#include "energy_fixture.h"
#include "energy_spans.h"
#include "tables_support.h"

#include "profrig/counters/tau_fit.h"
#include "profrig/readers/reader.h"
#include "profrig/stats/analysis.h"

static const struct energy_opts linear = { .integration = INTEGRATE_LINEAR };

static struct model *archive(const char *name)
{
	const struct reader *reader = reader_find("otf2");
	struct read_opts o = { 0 };
	struct err err = ERR_INIT;
	struct model *m;
	CLEANUP(xfreep) char *path = test_trace(textf("otf2/%s/traces.otf2", name));

	assert_non_null(reader);
	m = model_new();
	if (reader->read(path, model_sink(m), &o, &err) != 0)
		fail_msg("%s", err.msg);
	model_finish(m);
	return m;
}

static series_id series_of(const struct model *m, const char *name, int device)
{
	char full[128];

	snprintf(full, sizeof(full), "A2rocm_smi:::%s:device=%d", name, device);
	for (series_id i = 0; i < m->series.nr; i++) {
		if (strcmp(model_str(m, m->series.v[i].name), full) == 0)
			return i;
	}
	fail_msg("no series '%s'", full);
	return 0;
}

/* Σ over all calls of a name. */
struct named {
	double inclusive, exclusive;
	uint64_t calls;
	int64_t exclusive_ns;
};

static struct named sum_of(const struct model *m, const struct energy_result *r, const char *name)
{
	struct named n = { 0 };

	for (size_t i = 0; r->exclusive_j && i < m->spans.nr; i++) {
		if (isnan(r->exclusive_j[i]) || strcmp(model_str(m, m->spans.name[i]), name) != 0)
			continue;
		n.calls++;
		n.inclusive += r->inclusive_j[i];
		n.exclusive += r->exclusive_j[i];
		n.exclusive_ns += r->exclusive_ns[i];
	}
	return n;
}

#define ENERGY_COUNT "energy_count"
#define SOCKET_POWER "current_socket_power"

static const double total_j[] = { 2237.380365, 1874.190017, 881.594227, 904.416717 };

TEST(mi300a_counters)
{
	CLEANUP(model_freep) struct model *m = archive("mi300a-two-kernels");

	for (int d = 0; d < 4; d++) {
		series_id s = series_of(m, ENERGY_COUNT, d);
		struct counter_info ci = counter_info(m, s);
		struct counter_scan scan = counter_scan(m, s, &ci, 0);

		assert_int_equal(scan.samples, 1740);
		assert_int_equal(scan.distinct, 1740);
		assert_near(scan.total, total_j[d], 1e-6);
		assert_near((double)scan.median_period_ns * 1e-6, 4.002, 0.0006);
		assert_near((double)scan.max_gap_ns * 1e-6, 5.592, 0.0006);
		assert_int_equal(scan.flags, 0);
		assert_int_equal(ci.device[3], '0' + d);
	}
}

TEST(mi300a_device_view)
{
	static const double own_j[] = { 1842.495723, 1119.269556, 0, 0 };
	static const char *const kernel[] = { "heavy_kernel", "light_kernel" };
	CLEANUP(model_freep) struct model *m = archive("mi300a-two-kernels");
	double attributed = 0, unattributed = 0;

	for (int d = 0; d < 4; d++) {
		CLEANUP(energy_result_release) struct energy_result r;
		int taken = energy_attribute(m, series_of(m, ENERGY_COUNT, d), VIEW_DEVICE, &linear,
					     &r, NULL);

		assert_int_equal(taken, d < 2 ? 0 : 1);
		assert_near(r.total_j, total_j[d], 1e-6);
		assert_near(r.attributed_j, own_j[d], 1e-6);
		assert_near(r.unattributed_j, total_j[d] - own_j[d], 1e-6);
		assert_true(r.error_rel <= 1e-9);
		attributed += r.attributed_j;
		unattributed += r.unattributed_j;
		for (size_t i = 0; r.exclusive_j && i < m->spans.nr; i++) {
			if (!isnan(r.exclusive_j[i]))
				assert_has(model_str(m, m->spans.name[i]), kernel[d]);
		}
	}
	assert_near(attributed, 2961.765279, 2e-6);
	assert_near(unattributed, 2935.816047, 4e-6);
}

/* What every device burnt while one of them worked: the curve read over the kernels' windows. */
TEST(case_04_mi300a_counters)
{
	static const double heavy_j[] = { 1842.495723, 638.695732, 581.453098, 595.525015 };
	static const double light_j[] = { 260.885345, 1119.269556, 199.425674, 205.331975 };
	CLEANUP(model_freep) struct model *m = archive("mi300a-two-kernels");
	size_t heavy = SIZE_MAX, light = SIZE_MAX;

	for (size_t i = 0; i < m->spans.nr; i++) {
		if (!span_is_work(m, i))
			continue;
		if (strstr(model_str(m, m->spans.name[i]), "heavy_kernel"))
			heavy = i;
		else
			light = i;
	}
	assert_true(heavy != SIZE_MAX && light != SIZE_MAX);
	for (int d = 0; d < 4; d++) {
		series_id s = series_of(m, ENERGY_COUNT, d);
		struct counter_info ci = counter_info(m, s);
		CLEANUP(curve_release) struct curve c;
		size_t hint = 0;

		assert_int_equal(curve_make(m, s, &ci, &linear, &c, NULL), 0);
		assert_near(curve_at(&c, m->spans.end_ns[heavy], &hint) -
				    curve_at(&c, m->spans.start_ns[heavy], &hint),
			    heavy_j[d], 1e-6);
		assert_near(curve_at(&c, m->spans.end_ns[light], &hint) -
				    curve_at(&c, m->spans.start_ns[light], &hint),
			    light_j[d], 1e-6);
	}
}

TEST(mi300a_host_view)
{
	static const struct {
		int device;
		const char *name;
		uint64_t calls;
		double exclusive;
	} want[] = LIST({ 0, "hipEventSynchronize", 2, 2103.391704 },
			{ 0, "hipMemset", 2, 113.145195 }, { 0, "hipMalloc", 4, 19.597415 },
			{ 0, "hipFree", 4, 0.656040 }, { 0, "hipLaunchKernel", 2, 0.296198 },
			{ 0, "main", 1, 0.158021 }, { 1, "hipEventSynchronize", 2, 1757.976275 },
			{ 1, "hipMemset", 2, 97.656524 }, { 1, "hipMalloc", 4, 17.417303 },
			{ 1, "hipFree", 4, 0.623688 }, { 1, "hipLaunchKernel", 2, 0.289886 },
			{ 1, "main", 1, 0.114074 });
	static const double main_j[] = { 2237.285869, 1874.111329, 881.528579, 904.349089 };
	CLEANUP(model_freep) struct model *m = archive("mi300a-two-kernels");
	struct energy_result r[4];

	for (int d = 0; d < 4; d++) {
		struct named n;

		assert_int_equal(energy_attribute(m, series_of(m, ENERGY_COUNT, d), VIEW_HOST,
						  &linear, &r[d], NULL),
				 0);
		n = sum_of(m, &r[d], "main");
		assert_near(n.inclusive, main_j[d], 1e-6);
		assert_near(r[d].attributed_j, main_j[d], 1e-6);
		assert_true(r[d].error_rel <= 1e-9);
	}
	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++) {
		struct named n = sum_of(m, &r[want[i].device], want[i].name);

		assert_int_equal(n.calls, want[i].calls);
		assert_near(n.exclusive, want[i].exclusive, 1e-6);
	}
	assert_near((double)sum_of(m, &r[0], "hipEventSynchronize").exclusive_ns * 1e-9,
		    6.363778175, 2e-9);
	/* main ends 3 ms after the last sample */
	for (size_t i = 0; i < m->spans.nr; i++) {
		if (strcmp(model_str(m, m->spans.name[i]), "main") == 0)
			assert_true(r[0].marks[i] & SPAN_OUTSIDE);
	}
	for (int d = 0; d < 4; d++)
		energy_result_release(&r[d]);
}

TEST(mi300a_power)
{
	static const double step_j[] = { 2232.101606, 1816.894714, 879.111577, 902.175293 };
	static const double trapezoid_j[] = { 2232.073162, 1817.949207, 879.113456, 902.172932 };
	static const uint64_t runs[] = { 517, 299, 46, 72 };
	CLEANUP(model_freep) struct model *m = archive("mi300a-two-kernels");
	struct energy_opts o = linear;

	for (int d = 0; d < 4; d++) {
		series_id s = series_of(m, SOCKET_POWER, d);
		struct counter_info ci = counter_info(m, s);
		struct counter_scan scan = counter_scan(m, s, &ci, 0);
		struct curve c;

		assert_int_equal(scan.samples, 1740);
		assert_int_equal(scan.distinct, runs[d]);
		for (int how = INTEGRATE_LINEAR; how <= INTEGRATE_TRAPEZOID; how++) {
			o.integration = (enum integration)how;
			assert_int_equal(curve_make(m, s, &ci, &o, &c, NULL), 0);
			assert_near(curve_total(&c),
				    how == INTEGRATE_PREVIOUS ? step_j[d] : trapezoid_j[d], 1e-6);
			curve_release(&c);
		}
	}
}

static const struct known_window {
	int device;
	const char *kernel;
	double exact_j; /* of the counter, at 2^-16 J for 15.3 µJ */
} windows[] = { { 0, "heavy_kernel", 1837.532915 }, { 1, "light_kernel", 1116.254775 } };

static double window_j(const struct model *m, series_id s, const struct counter_info *ci,
		       const char *kernel)
{
	struct curve c;
	double j = NAN;
	size_t hint = 0;

	assert_int_equal(curve_make(m, s, ci, &linear, &c, NULL), 0);
	for (size_t i = 0; i < m->spans.nr; i++)
		if (span_is_work(m, i) && strstr(model_str(m, m->spans.name[i]), kernel))
			j = curve_at(&c, m->spans.end_ns[i], &hint) -
			    curve_at(&c, m->spans.start_ns[i], &hint);
	curve_release(&c);
	return j;
}

/*
 * What the power reading alone gives for a kernel: at face value, with the filter's time constant
 * as published for this machine, and with the one that profrig finds.
 */
TEST(case_04_mi300a_filtered_power)
{
	static const double face_j[] = { 1810.36, 1063.28 }, published_j[] = { 1837.71, 1115.77 };
	CLEANUP(model_freep) struct model *m = archive("mi300a-two-kernels");
	CLEANUP(counter_rules_release) struct counter_rules rules = COUNTER_RULES_INIT;

	counters_learn(m, &rules);
	for (size_t i = 0; i < ARRAY_LEN(windows); i++) {
		const struct known_window *w = &windows[i];
		series_id e = series_of(m, ENERGY_COUNT, w->device);
		series_id p = series_of(m, SOCKET_POWER, w->device);
		struct counter_info ci;
		double face, given, fitted;

		rules.exact_units = true;
		ci = counter_info(m, e);
		/* the library's factor is a float, 1.2e-8 above 15.3 */
		assert_near(window_j(m, e, &ci, w->kernel), w->exact_j, 1e-4);
		ci = counter_info(m, p);
		assert_near(ci.tau_s, 0, 0);
		face = window_j(m, p, &ci, w->kernel);
		assert_near(face, face_j[i], 0.01);
		rules.tau_s = 0.1;
		ci = counter_info(m, p);
		given = window_j(m, p, &ci, w->kernel);
		assert_near(given, published_j[i], 0.01);
		assert_near(given, w->exact_j, 0.001 * w->exact_j);
		rules.tau_s = 0;
		rules.tau_fit = true;
		ci = counter_info(m, p);
		assert_near(ci.tau_s, 0.1, 0.005);
		fitted = window_j(m, p, &ci, w->kernel);
		assert_near(fitted, w->exact_j, 0.0025 * w->exact_j);
		rules.tau_fit = false;
		print_message("%s: counter %.3f J; power at face value %+.3f %%, tau 0.100 s "
			      "%+.3f %%, tau fitted (%.4f s) %+.3f %%\n",
			      w->kernel, w->exact_j, (face / w->exact_j - 1) * 100,
			      (given / w->exact_j - 1) * 100, ci.tau_s,
			      (fitted / w->exact_j - 1) * 100);
	}
}

TEST(mi300a_fits)
{
	CLEANUP(model_freep) struct model *m = archive("mi300a-two-kernels");
	CLEANUP(counter_rules_release) struct counter_rules rules = COUNTER_RULES_INIT;
	size_t power = 0;

	counters_learn(m, &rules);
	for (series_id s = 0; s < m->series.nr; s++)
		assert_int_equal(rules.learned[s].step_raw > 0,
				 strstr(model_str(m, m->series.v[s].name), ENERGY_COUNT) != NULL);
	for (size_t i = 0; i < rules.filters.nr; i++) {
		const struct power_filter *f = &rules.filters.v[i];
		const char *name = model_str(m, m->series.v[f->power].name);
		int device = name[strlen(name) - 1] - '0';

		if (!strstr(name, SOCKET_POWER)) {
			assert_int_equal(f->fit.verdict, FILTER_NO_COUNTER);
			continue;
		}
		power++;
		assert_int_equal(f->energy, series_of(m, ENERGY_COUNT, device));
		/* nothing ran on the other two */
		assert_int_equal(f->fit.verdict,
				 device < 2 ? FILTER_ONE_POLE : FILTER_NO_INFORMATION);
		if (device >= 2)
			continue;
		assert_near(f->fit.gain, 1, 0.002);
		assert_true(f->fit.rms_w < 1.3 && f->fit.face_rms_w > 40);
		assert_near(f->fit.step_w, 1, 1e-9);
	}
	assert_int_equal(power, 4);
}

/*
 * The same readings stored as a recorder does that keeps changes and the last sample: nothing is
 * lost.
 */
TEST(only_change_points)
{
	static const double step_j[] = { 2232.101606, 1816.894714, 879.111577, 902.175293 };
	CLEANUP(model_freep) struct model *m = archive("mi300a-two-kernels");
	CLEANUP(trace_release) struct trace t = trace_new();
	series_id changes[4];

	for (int d = 0; d < 4; d++) {
		const struct series *full = &m->series.v[series_of(m, SOCKET_POWER, d)];
		struct series_def def = { .track = TRACK_NONE, .change_points = true };
		size_t last = full->t_ns.nr - 1;

		def.name = model_str(m, full->name);
		changes[d] = t.s->ops->series(t.s, &def);
		for (size_t i = 0; i <= last; i++)
			if (i == 0 || i == last || full->value.v[i] != full->value.v[i - 1])
				t.s->ops->sample(t.s, changes[d], full->t_ns.v[i],
						 full->value.v[i]);
	}
	trace_finish(&t);
	for (int d = 0; d < 4; d++) {
		struct counter_info ci = counter_info(t.m, changes[d]);
		struct counter_scan scan = counter_scan(t.m, changes[d], &ci, 0);

		assert_true(scan.samples < 600);
		assert_near(scan.total, step_j[d], 1e-6);
		assert_int_equal(scan.flags, 0);
		/* and the filter is undone as in the full series */
		ci.tau_s = 0.1;
		scan = counter_scan(t.m, changes[d], &ci, 0);
		assert_near(scan.total, step_j[d] + 0.1 * (scan.last - scan.first), 1e-6);
	}
}

TEST(mi300a_tables)
{
	static const char *const names[] = { "counters", "energy", "timeline" };
	static const struct analysis_opts o;
	CLEANUP(model_freep) struct model *m = archive("mi300a-two-kernels");
	CLEANUP(table_set_release) struct table_set ts = TABLE_SET_INIT;
	const struct table *t;
	int unknown = 0;

	for (size_t i = 0; i < 3; i++)
		assert_int_equal(analysis_run(analysis_find(names[i]), m, NULL, &o, &ts, NULL), 0);
	for (size_t i = 0; i < ts.checks.nr; i++)
		if (!ts.checks.v[i].ok)
			fail_msg("%s: %s", ts.checks.v[i].name, ts.checks.v[i].detail);
	/* 8 counters of the library in both views, 4 of hwmon in the host view */
	assert_int_equal(ts.checks.nr, 8 * 2 + 4);
	t = table_set_find(&ts, "energy");
	for (size_t i = 0; i < table_rows(t); i++) {
		bool kernel = strstr(table_get_str(t, i, 4), "heavy_kernel") &&
			      strcmp(table_get_str(t, i, 2), "device") == 0 &&
			      strstr(table_get_str(t, i, 0), "energy_count");
		if (!kernel)
			continue;
		assert_string_equal(table_get_str(t, i, 1), "gpu0");
		assert_near(table_get_f64(t, i, 7), 1842.495723, 1e-6);
		assert_near(table_get_f64(t, i, 9), 389.091106, 1e-6);
		assert_string_equal(table_get_str(t, i, 11), "");
	}
	t = table_set_find(&ts, "counters");
	assert_int_equal(table_rows(t), m->series.nr);
	for (size_t i = 0; i < table_rows(t); i++)
		unknown += strcmp(table_get_str(t, i, 2), "unknown") == 0;
	assert_int_equal(unknown, 0);
}

TEST(papi_counters)
{
	static const struct {
		int32_t rank;
		const char *name;
		double want[3]; /* cycles, L2 misses, mispredictions */
	} want[] = {
		{ 0, "main", { 1198202, 11175, 798 } },
		{ 0, "MPI_Init", { 87875176, 464699, 179630 } },
		{ 0, "MPI_Send", { 6383893, 4815, 194 } },
		{ 0, "MPI_Recv", { 258976, 4422, 174 } },
		{ 0, "MPI_Finalize", { 258499, 1360, 147 } },
		{ 0, "MPI_Comm_size", { 6752, 72, 18 } },
		{ 0, "MPI_Comm_rank", { 4540, 37, 12 } },
		{ 1, "main", { 1255991, 5729, 429 } },
		{ 1, "MPI_Init", { 52345908, 166390, 101904 } },
		{ 1, "MPI_Send", { 6068947, 3375, 167 } },
		{ 1, "MPI_Recv", { 349625, 6058, 200 } },
		{ 1, "MPI_Finalize", { 86916, 1250, 141 } },
		{ 1, "MPI_Comm_size", { 48175, 68, 22 } },
		{ 1, "MPI_Comm_rank", { 5753, 40, 12 } },
	};
	static const double inclusive[2][3] = { { 95986038, 486580, 180973 },
						{ 60161315, 182910, 102875 } };
	static const char *const names[] = { "PAPI_TOT_CYC", "PAPI_L2_TCM", "PAPI_BR_MSP" };
	CLEANUP(model_freep) struct model *m = archive("ping-pong-papi");
	int seen = 0;

	for (series_id s = 0; s < m->series.nr; s++) {
		const struct series *se = &m->series.v[s];
		int32_t rank = m->tracks.v[se->track].rank;
		struct energy_result r;
		int c = 0;

		assert_true(se->exclusive_sync);
		while (strcmp(model_str(m, se->name), names[c]) != 0)
			c++;
		assert_int_equal(energy_attribute(m, s, VIEW_HOST, &linear, &r, NULL), 0);
		assert_near(r.total_j, inclusive[rank][c], 1e-6);
		for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++) {
			const char *name = want[i].name;
			if (want[i].rank != rank)
				continue;
			if (strcmp(name, "main") == 0)
				name = "int main(int, char**)";
			assert_near(sum_of(m, &r, name).exclusive, want[i].want[c], 1e-6);
		}
		energy_result_release(&r);
		seen++;
	}
	assert_int_equal(seen, 6);
}

/* Every n-th sample, and the last. */
static void thin(struct model *m, size_t n)
{
	for (size_t s = 0; s < m->series.nr; s++) {
		struct series *se = &m->series.v[s];
		size_t kept = 0;

		for (size_t i = 0; i < se->t_ns.nr; i++) {
			if (i % n && i + 1 < se->t_ns.nr)
				continue;
			se->t_ns.v[kept] = se->t_ns.v[i];
			se->value.v[kept++] = se->value.v[i];
		}
		se->t_ns.nr = se->value.nr = kept;
	}
}

static size_t kernel_row(const struct table *e, int d)
{
	static const char *const kernel[] = { "heavy_kernel", "light_kernel" };
	char counter[64];

	snprintf(counter, sizeof(counter), "A2rocm_smi:::energy_count:device=%d", d);
	for (size_t r = 0; r < table_rows(e); r++) {
		if (strcmp(str_of(e, r, "counter"), counter) == 0 &&
		    strcmp(str_of(e, r, "view"), "device") == 0 &&
		    strstr(str_of(e, r, "name"), kernel[d]))
			return r;
	}
	fail_msg("no row of %s", kernel[d]);
	return 0;
}

/* A counter that is read every 40, 120, 400 ms tells the kernels' energy of 4 ms. */
TEST(mi300a_thinned)
{
	static const struct {
		size_t n;
		double within;
	} cases[] = { { 1, 0.001 }, { 10, 0.01 }, { 30, 0.02 }, { 100, 0.05 } };
	static const double own_j[] = { 1842.495723, 1119.269556 };

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(model_freep) struct model *m = archive("mi300a-two-kernels");

		thin(m, cases[i].n);
		CLEANUP(table_set_release) struct table_set ts = run(m, "energy", NULL);
		const struct table *e = table_set_find(&ts, "energy");

		for (int d = 0; d < 2; d++) {
			size_t r = kernel_row(e, d);
			double power = num_of(e, r, "modelled_j") / own_j[d] - 1;
			double time = num_of(e, r, "exclusive_j") / own_j[d] - 1;

			print_message(
				"# every %zu. sample, device %d: by power %+.3f %% ± %.3f %%, "
				"by time %+.3f %%\n",
				cases[i].n, d, 100 * power,
				100 * num_of(e, r, "modelled_uncertainty_j") / own_j[d],
				100 * time);
			assert_true(fabs(power) <= cases[i].within);
		}
	}
}

/* Both kernels, and what waits for them, as single calls. */
TEST(mi300a_single_calls)
{
	static const struct {
		const char *counter, *view, *name;
		double j;
	} known[] = {
		{ "A2rocm_smi:::energy_count:device=0", "device", "heavy_kernel", 1842.495723 },
		{ "A2rocm_smi:::energy_count:device=1", "device", "light_kernel", 1119.269556 },
		{ "A2rocm_smi:::energy_count:device=0", "host", "main", 2237.285869 },
		{ "A2rocm_smi:::energy_count:device=1", "host", "main", 1874.111329 },
	};
	CLEANUP(model_freep) struct model *m = archive("mi300a-two-kernels");
	CLEANUP(table_set_release) struct table_set ts = run(m, "energy", NULL);
	const struct table *c = table_set_find(&ts, "energy_calls");

	for (size_t i = 0; i < ARRAY_LEN(known); i++) {
		size_t r = 0;

		while (strcmp(str_of(c, r, "counter"), known[i].counter) != 0 ||
		       strcmp(str_of(c, r, "view"), known[i].view) != 0 ||
		       strncmp(str_of(c, r, "name"), known[i].name, strlen(known[i].name)) != 0)
			r++;
		assert_near(num_of(c, r, "inclusive_j"), known[i].j, 2e-6);
		assert_near(num_of(c, r, "modelled_j"), known[i].j, 0.001 * known[i].j);
		assert_true(num_of(c, r, "modelled_uncertainty_j") < 0.003 * known[i].j);
		assert_near(num_of(c, r, "covered"), 1, 1e-9);
	}
}
