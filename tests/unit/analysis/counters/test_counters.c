#include "energy_fixture.h"

#include <fnmatch.h>

#include "profrig/counters/counters.h"

/* ---- what a name means ---- */

static const struct {
	const char *name, *unit;
	enum series_kind kind;
	enum quantity quantity;
	const char *scaled;
	double scale;
	const char *device;
} known[] = {
	{ "A2rocm_smi:::energy_count:device=3", "#", SERIES_CUMULATIVE, QUANTITY_ENERGY, "J", 1e-6,
	  "gpu3" },
	{ "A2rocm_smi:::power_average:device=6:sensor=0", "#", SERIES_GAUGE, QUANTITY_POWER, "W",
	  1e-6, "gpu6" },
	{ "A2rocm_smi:::current_socket_power:device=0", "#", SERIES_GAUGE, QUANTITY_POWER, "W",
	  1e-6, "gpu0" },
	{ "rocm_smi:::power_cap_range_max:device=0:sensor=0", "", SERIES_GAUGE, QUANTITY_OTHER, "W",
	  1e-6, "gpu0" },
	{ "A2rocm_smi:::temp_current:device=0:sensor=1", "#", SERIES_GAUGE, QUANTITY_OTHER, "degC",
	  1e-3, "gpu0" },
	{ "A2rocm_smi:::gpu_clk_freq_System:device=2:current", "#", SERIES_GAUGE, QUANTITY_OTHER,
	  "Hz", 1, "gpu2" },
	{ "A2rocm_smi:::memory_busy_percent:device=3", "#", SERIES_GAUGE, QUANTITY_OTHER, "%", 1,
	  "gpu3" },
	{ "rocm_smi:::mem_usage_VRAM:device=1", "", SERIES_GAUGE, QUANTITY_OTHER, "bytes", 1,
	  "gpu1" },
	{ "amd_smi:::energy_consumed:device=0", "", SERIES_CUMULATIVE, QUANTITY_ENERGY, "J", 1e-6,
	  "gpu0" },
	{ "amd_smi:::power_average:device=10", "", SERIES_GAUGE, QUANTITY_POWER, "W", 1, "gpu10" },
	{ "nvml:::NVIDIA_A100-SXM4-40GB:device_1:power", "", SERIES_GAUGE, QUANTITY_POWER, "W",
	  1e-3, "gpu1" },
	{ "nvml:::Tesla_V100:device_0:power_management_limit", "", SERIES_GAUGE, QUANTITY_OTHER,
	  "W", 1e-3, "gpu0" },
	{ "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", "", SERIES_CUMULATIVE, QUANTITY_ENERGY, "J", 1e-3,
	  "" },
	{ "A2coretemp:::craypm:accel2_energy", "#", SERIES_CUMULATIVE, QUANTITY_ENERGY, "J", 1,
	  "accel2" },
	{ "A2coretemp:::craypm:accel2_power", "#", SERIES_GAUGE, QUANTITY_POWER, "W", 1, "accel2" },
	{ "A2coretemp:::craypm:cpu_energy", "#", SERIES_CUMULATIVE, QUANTITY_ENERGY, "J", 1, "" },
	{ "A2coretemp:::craypm:power", "#", SERIES_GAUGE, QUANTITY_POWER, "W", 1, "" },
	{ "A2coretemp:::craypm:power_cap", "#", SERIES_GAUGE, QUANTITY_OTHER, "W", 1, "" },
	{ "A2coretemp:::craypm:freshness", "#", SERIES_CUMULATIVE, QUANTITY_OTHER, "count", 1, "" },
	{ "A2coretemp:::hwmon5:power1_input", "#", SERIES_GAUGE, QUANTITY_POWER, "W", 1e-6,
	  "hwmon5" },
	{ "A2coretemp:::hwmon2:freq1_input", "#", SERIES_GAUGE, QUANTITY_OTHER, "Hz", 1, "hwmon2" },
	{ "rapl:::PACKAGE_ENERGY:PACKAGE1", "nJ", SERIES_CUMULATIVE, QUANTITY_ENERGY, "J", 1e-9,
	  "pkg1" },
	{ "powercap:::ENERGY_UJ:ZONE0", "", SERIES_CUMULATIVE, QUANTITY_ENERGY, "J", 1e-6,
	  "zone0" },
	{ "processes.proc", "", SERIES_GAUGE, QUANTITY_OTHER, "count", 1, "" },
	{ "PAPI_TOT_CYC", "", SERIES_CUMULATIVE, QUANTITY_OTHER, "count", 1, "" },
	{ "HIP Memory", "bytes", SERIES_GAUGE, QUANTITY_OTHER, "bytes", 1, "" },
	{ "power.gpu0", "W", SERIES_GAUGE, QUANTITY_POWER, "W", 1, "gpu0" },
	{ "power.gpu1", "mW", SERIES_GAUGE, QUANTITY_POWER, "W", 1e-3, "gpu1" },
	{ "power_instant.gpu1", "W", SERIES_GAUGE, QUANTITY_POWER, "W", 1, "gpu1" },
	{ "energy.gpu2", "J", SERIES_CUMULATIVE, QUANTITY_ENERGY, "J", 1, "gpu2" },
	{ "energy.pkg0", "uJ", SERIES_CUMULATIVE, QUANTITY_ENERGY, "J", 1e-6, "pkg0" },
	/* a name of ours with another unit is not what the name says */
	{ "power.gpu0", "", SERIES_UNKNOWN, QUANTITY_OTHER, "", 1, "gpu0" },
	{ "energy", "W", SERIES_GAUGE, QUANTITY_OTHER, "W", 1, "" },
	{ "vram_used.gpu0", "bytes", SERIES_GAUGE, QUANTITY_OTHER, "bytes", 1, "gpu0" },
	{ "vram_used.gpu0", "MiB", SERIES_GAUGE, QUANTITY_OTHER, "bytes", 1048576, "gpu0" },
	{ "cpu.proc", "%", SERIES_GAUGE, QUANTITY_OTHER, "%", 1, "" },
	/* a watt that is no power drawn is shown and never integrated */
	{ "power_limit.gpu0", "W", SERIES_GAUGE, QUANTITY_OTHER, "W", 1, "gpu0" },
	{ "fan_energy_estimate", "#", SERIES_UNKNOWN, QUANTITY_OTHER, "", 1, "" },
	{ "", "", SERIES_UNKNOWN, QUANTITY_OTHER, "", 1, "" },
};

TEST(known_names)
{
	for (size_t i = 0; i < ARRAY_LEN(known); i++) {
		CLEANUP(trace_release) struct trace t = trace_new();
		/* what files claim: gauges where profrig writes them itself, else everything is
		 * accumulated */
		enum series_kind claim = strchr(known[i].name, ':') || known[i].unit[0] == '#'
						 ? SERIES_CUMULATIVE
						 : SERIES_GAUGE;
		series_id s = trace_series(&t, known[i].name, known[i].unit, claim);
		struct counter_info ci;

		trace_finish(&t);
		ci = counter_info(t.m, s);
		if (ci.kind != known[i].kind || ci.quantity != known[i].quantity ||
		    strcmp(ci.unit, known[i].scaled) != 0 ||
		    strcmp(ci.device, known[i].device) != 0)
			fail_msg("%s: kind %d quantity %d unit '%s' device '%s'", known[i].name,
				 ci.kind, ci.quantity, ci.unit, ci.device);
		assert_near(ci.scale, known[i].scale, 0);
	}
}

TEST(a_series_own_device_wins)
{
	CLEANUP(trace_release) struct trace t = trace_new();
	struct series_def d = { .name = "rocm_smi:::energy_count:device=3",
				.device = "node3:gpu2",
				.track = TRACK_NONE };
	series_id s = t.s->ops->series(t.s, &d);

	trace_finish(&t);
	assert_string_equal(counter_info(t.m, s).device, "node3:gpu2");
}

TEST(devices_in_names)
{
	static const struct {
		const char *text, *device;
	} want[] = LIST({ "HIP[1:0]", "gpu1" }, { "HIP[0:7]", "gpu0" }, { "HIP Context 2", "gpu2" },
			{ "CUDA Context 0", "gpu0" }, { "CUDA[3:14]", "gpu3" },
			{ "cuda:1", "gpu1" }, { "gpu3", "gpu3" }, { "GPU 12", "gpu12" },
			{ "gpu[5]", "gpu5" }, { "node7:gpu2", "gpu2" }, { "device=2", "gpu2" },
			{ "device_0:power", "gpu0" }, { "Device 4", "gpu4" },
			{ "x:device=3:sensor=1", "gpu3" }, { "hipMemcpy", NULL },
			{ "HIP Memory", NULL }, { "hip_1d_conv", NULL }, { "cuda 12.1", NULL },
			{ "gpu", NULL }, { "gpu1234567", NULL }, { "mygpu3", NULL },
			{ "Master thread", NULL }, { "", NULL }, { "device=", NULL },
			{ "gpu_clk:device=1", "gpu1" }, { "accel1_energy", "accel1" });

	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++) {
		const char *device = want[i].device ? want[i].device : "";
		struct series_def d = { .name = want[i].text, .track = TRACK_NONE };
		CLEANUP(trace_release) struct trace t = trace_new();
		series_id s = t.s->ops->series(t.s, &d);

		trace_finish(&t);
		if (strcmp(counter_info(t.m, s).device, device) != 0)
			fail_msg("'%s' gives '%s'", want[i].text, counter_info(t.m, s).device);
	}
}

/* ---- what a series shows ---- */

static struct counter_scan scan_of(struct trace *t, series_id s, int64_t max_gap_ns)
{
	struct counter_info ci = counter_info(t->m, s);

	return counter_scan(t->m, s, &ci, max_gap_ns);
}

static struct counter_scan samples_scan(const char *name, size_t n, const double (*tv)[2])
{
	struct trace t = trace_new();
	series_id s = trace_series(&t, name, "W", SERIES_GAUGE);
	struct counter_scan r;

	trace_samples(&t, s, n, tv);
	trace_finish(&t);
	r = scan_of(&t, s, 0);
	trace_release(&t);
	return r;
}

TEST(plain_series)
{
	static const double e[][2] = { { 0, 1e6 }, { 1, 3e6 }, { 3, 3e6 }, { 4, 9e6 } };
	static const double w[][2] = { { 0, 100 }, { 1, 300 }, { 4, 300 }, { 5, 0 } };
	static const double busy[][2] = { { 0, 0 }, { 1, 100 }, { 3, 0 } };
	struct counter_scan s = samples_scan("rocm_smi:::energy_count:device=0", 4, e);

	assert_int_equal(s.samples, 4);
	assert_int_equal(s.distinct, 3);
	assert_near(s.first, 1, 0);
	assert_near(s.last, 9, 0);
	assert_near(s.min, 1, 0);
	assert_near(s.max, 9, 0);
	assert_near(s.total, 8, 1e-12);
	assert_near(s.mean, 2, 1e-12);
	assert_int_equal(s.max_gap_ns, ns(2));
	assert_int_equal(s.median_period_ns, ns(1));
	assert_int_equal(s.flags, 0);
	s = samples_scan("power.gpu0", 4, w);
	assert_near(s.total, 200 + 900 + 150, 1e-9);
	assert_near(s.mean, 250, 1e-9);
	assert_near(s.min, 0, 0);
	assert_near(s.max, 300, 0);
	s = samples_scan("rocm_smi:::busy_percent:device=0", 3, busy);
	assert_near(s.mean, 50, 1e-9);
	assert_true(isnan(s.total)); /* percent-seconds are nothing */
}

TEST(empty_and_short_series)
{
	static const double one[][2] = { { 2, 5e6 } };
	struct counter_scan s = samples_scan("rocm_smi:::energy_count:device=0", 0, NULL);

	assert_int_equal(s.samples, 0);
	assert_int_equal(s.distinct, 0);
	assert_true(isnan(s.first) && isnan(s.mean));
	assert_int_equal(s.flags, CF_SHORT);
	s = samples_scan("rocm_smi:::energy_count:device=0", 1, one);
	assert_int_equal(s.flags, CF_SHORT);
	assert_near(s.first, 5, 0);
	assert_true(isnan(s.total) && isnan(s.mean));
	s = samples_scan("rocm_smi:::power_average:device=0", 1, one);
	assert_near(s.mean, 5, 1e-12);
}

TEST(unknown_series)
{
	static const double v[][2] = { { 0, 5 }, { 1, 3 } };
	CLEANUP(trace_release) struct trace t = trace_new();
	series_id s = trace_series(&t, "mystery", "#", SERIES_CUMULATIVE);
	struct counter_scan r;

	trace_samples(&t, s, 2, v);
	trace_finish(&t);
	r = scan_of(&t, s, 0);
	assert_int_equal(r.flags, CF_UNKNOWN);
	assert_true(isnan(r.total) && isnan(r.mean));
	assert_near(r.max, 5, 0);
}

/* A counter of 100 W every 10 ms for 2 s, held from `from` to `to`. */
static series_id held_counter(struct trace *t, double from, double to)
{
	series_id s = trace_series(t, "rocm_smi:::energy_count:device=0", "#", SERIES_CUMULATIVE);

	for (int i = 0; i <= 200; i++) {
		double at = i * 0.01;
		double energy_at = at >= from && at < to ? from : at;
		t->s->ops->sample(t->s, s, ns(at), energy_at * 100e6);
	}
	return s;
}

TEST(case_06_stuck_counter)
{
	struct counter_scan r;
	struct trace t = trace_new();
	series_id s = held_counter(&t, 0.5, 1.0);

	trace_finish(&t);
	r = scan_of(&t, s, 0);
	assert_int_equal(r.stuck, 1);
	assert_true(r.flags & CF_STUCK);
	trace_release(&t);

	/* too short a stand-still */
	t = trace_new();
	s = held_counter(&t, 0.5, 0.55);
	trace_finish(&t);
	assert_int_equal(scan_of(&t, s, 0).flags, 0);
	trace_release(&t);

	/* the device says that it drew nothing then; another device's power says nothing */
	t = trace_new();
	s = held_counter(&t, 0.5, 1.0);
	series_id p = trace_series(&t, "rocm_smi:::power_average:device=0", "#", SERIES_GAUGE);
	series_id other = trace_series(&t, "rocm_smi:::power_average:device=1", "#", SERIES_GAUGE);
	for (int i = 0; i <= 200; i++) {
		t.s->ops->sample(t.s, p, ns(i * 0.01), i >= 50 && i <= 100 ? 0 : 100e6);
		t.s->ops->sample(t.s, other, ns(i * 0.01), 100e6);
	}
	trace_finish(&t);
	assert_int_equal(scan_of(&t, s, 0).stuck, 0);
	trace_release(&t);

	/* a power reading that shows power is enough, however steady */
	t = trace_new();
	s = held_counter(&t, 0.5, 1.0);
	p = trace_series(&t, "rocm_smi:::power_average:device=0", "#", SERIES_GAUGE);
	for (int i = 0; i <= 20; i++)
		t.s->ops->sample(t.s, p, ns(i * 0.1), 100e6);
	trace_finish(&t);
	r = scan_of(&t, s, 0);
	assert_int_equal(r.stuck, 1);
	assert_int_equal(r.unknown_ns, ns(0.5)); /* to the change that ends it */
	assert_near(r.total, 200, 1e-9);
	trace_release(&t);

	/* a reading that stores its changes holds the last one all the while */
	for (int drawn = 0; drawn < 2; drawn++) {
		struct series_def d = { .name = "power.gpu0",
					.unit = "W",
					.track = TRACK_NONE,
					.change_points = true };
		const double held[][2] = { { 0, 100 }, { 0.4, drawn * 80 }, { 2, 100 } };

		t = trace_new();
		s = held_counter(&t, 0.5, 1.0);
		trace_samples(&t, t.s->ops->series(t.s, &d), 3, held);
		trace_finish(&t);
		assert_int_equal(scan_of(&t, s, 0).stuck, drawn);
		trace_release(&t);
	}

	/* never any change: the second die of a package has no counter of its own */
	static const double dead[][2] = { { 0, 0 }, { 1, 0 }, { 2, 0 }, { 3, 0 } };
	r = samples_scan("rocm_smi:::energy_count:device=1", 4, dead);
	assert_int_equal(r.flags, CF_STUCK);
	assert_true(isnan(r.total) && isnan(r.mean)); /* unknown, not 0 J */
	assert_int_equal(r.unknown_ns, ns(3));
	/* ... but a constant percentage is nothing odd */
	assert_int_equal(samples_scan("rocm_smi:::busy_percent:device=1", 4, dead).flags, 0);
}

/*
 * 400 W for 20 s, then 10 W, in steps of 20 J: an idle device's counter stands still for seconds
 * without having missed anything.
 */
TEST(coarse_counter_of_an_idle_device)
{
	for (int reading = 0; reading < 2; reading++) {
		CLEANUP(trace_release) struct trace t = trace_new();
		series_id s = trace_series(&t, "energy.gpu0", "J", SERIES_CUMULATIVE);
		series_id p = trace_series(&t, "power.gpu0", "W", SERIES_GAUGE);
		struct counter_scan r;

		(void)state;
		for (int i = 0; i <= 3000; i++) {
			double at = i * 0.01, j = at < 20 ? 400 * at : 8000 + 10 * (at - 20);

			t.s->ops->sample(t.s, s, ns(at), floor(j / 20 + 1e-9) * 20);
			if (reading)
				t.s->ops->sample(t.s, p, ns(at), at < 20 ? 400 : 10);
		}
		trace_finish(&t);
		r = scan_of(&t, s, 0);
		assert_int_equal(r.stuck, 0);
		assert_int_equal(r.unknown_ns, 0);
	}
}

TEST(stale_counter)
{
	CLEANUP(trace_release) struct trace t = trace_new();
	series_id s = trace_series(&t, "A2coretemp:::craypm:accel0_energy", "#", SERIES_CUMULATIVE);
	struct counter_scan r;

	for (int i = 0; i <= 2000; i++) { /* read at 1 kHz, refreshed ten times a second */
		int refreshed = i / 100;
		t.s->ops->sample(t.s, s, ns(i * 0.001), 40 * refreshed);
	}
	trace_finish(&t);
	r = scan_of(&t, s, 0);
	assert_int_equal(
		r.flags,
		CF_STALE); /* neither stuck nor out of range, though single steps are 40 kW */
	assert_int_equal(r.distinct, 21);
	assert_int_equal(r.median_period_ns, ns(0.001));
	assert_int_equal(r.median_change_ns, ns(0.1));
}

/* Cray PM's power is refreshed ten times a second; that it changes seldom says nothing. */
TEST(stale_by_its_known_period)
{
	static const struct {
		double period_s;
		unsigned flags;
	} cases[] = { { 0.01, CF_STALE }, { 0.049, CF_STALE }, { 0.05, 0 }, { 0.1, 0 }, { 1, 0 } };

	for (size_t k = 0; k < ARRAY_LEN(cases); k++) {
		CLEANUP(trace_release) struct trace t = trace_new();
		series_id s = trace_series(&t, "craypm:power", "#", SERIES_GAUGE);

		for (int i = 0; i < 30; i++)
			t.s->ops->sample(t.s, s, ns(i * cases[k].period_s), 100);
		trace_finish(&t);
		assert_int_equal(scan_of(&t, s, 0).flags, cases[k].flags);
	}
}

TEST(gaps)
{
	CLEANUP(trace_release) struct trace t = trace_new();
	series_id s = trace_series(&t, "rocm_smi:::energy_count:device=0", "#", SERIES_CUMULATIVE);
	struct counter_scan r;

	for (int i = 0; i < 100; i++) /* holes of exactly 10 periods and of a bit more */
		t.s->ops->sample(t.s, s, ns(i * 0.01 + (i >= 30) * 0.09 + (i >= 60) * 0.0901),
				 i * 1e6);
	trace_finish(&t);
	r = scan_of(&t, s, 0);
	assert_int_equal(r.gaps, 1);
	assert_true(r.flags & CF_GAP);
	assert_int_equal(r.max_gap_ns, ns(0.1001));
	assert_int_equal(scan_of(&t, s, ns(0.05)).gaps, 2);
}

/* A counter that is read with enter and leave has no period: a long call is no hole. */
TEST(no_gaps_in_synchronous_series)
{
	static const double v[][2] = {
		{ 0, 0 }, { 1, 1 }, { 2, 2 }, { 3, 3 }, { 4, 4 }, { 90, 9 }
	};

	for (int sync = 0; sync < 2; sync++) {
		CLEANUP(trace_release) struct trace t = trace_new();
		struct series_def d = { .name = "PAPI_TOT_CYC",
					.track = trace_thread(&t, "node", 1, 1),
					.exclusive_sync = sync };
		series_id s = t.s->ops->series(t.s, &d);
		struct counter_info ci;

		trace_samples(&t, s, 6, v);
		trace_finish(&t);
		ci = counter_info(t.m, s);
		struct counter_scan c = counter_scan(t.m, s, &ci, 0);
		assert_int_equal(c.gaps, !sync);
		assert_int_equal(!!(c.flags & CF_GAP), !sync);
	}
}

TEST(rates)
{
	static const double e[][2] = { { 0, 0 }, { 1, 100e6 }, { 1.001, 110e6 }, { 2, 200e6 } };
	static const double w[][2] = { { 0, 100 }, { 1, -5 }, { 2, 100 }, { 3, 100 } };
	struct counter_scan r = samples_scan("rocm_smi:::energy_count:device=0", 4, e);

	assert_int_equal(r.rates, 1); /* 10 J in 1 ms */
	assert_true(r.flags & CF_RATE);
	r = samples_scan("power.gpu0", 4, w);
	assert_int_equal(r.rates, 1);
}

TEST(resets_and_duplicates)
{
	static const double e[][2] = {
		{ 0, 50e6 }, { 1, 60e6 }, { 2, 5e6 }, { 2, 6e6 }, { 3, 16e6 }
	};
	struct counter_scan r = samples_scan("rocm_smi:::energy_count:device=0", 5, e);

	assert_int_equal(r.resets, 1);
	assert_int_equal(r.duplicates, 1);
	assert_near(r.total, 20, 1e-12);
	assert_near(r.min, 5, 1e-12);
	assert_true(r.flags & CF_RESET);
}

TEST(flag_names)
{
	char buf[128];

	assert_string_equal(counter_flags(0, buf), "");
	assert_string_equal(counter_flags(CF_GAP, buf), "gap");
	assert_string_equal(counter_flags(CF_WRAP | CF_RATE | CF_ESTIMATED, buf),
			    "wrap|rate_out_of_range|estimated");
	assert_string_equal(counter_flags(~0u, buf), "wrap|reset|stuck|stale|gap|rate_out_of_range|"
						     "short|unknown|estimated");
}

/* As fnmatch says, and at once where that takes hours. */
TEST(patterns)
{
	static const char letters[] = "aAb-]";
	static const char *const rows[] = { "*a*b*",  "a*",    "?b*",   "[a-b]*", "[!a]b", "*[]]",
					    "[^b]*a", "a[-]b", "*-*]*", "[b",     "",      "**",
					    "*?*?*",  "a[a-]", "B*A",   "[A-B]?", "*b",    "a" };
	CLEANUP(xfreep) char *name = xcalloc(1, 65537);

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		for (unsigned k = 0; k < 6 * 6 * 6 * 6 * 6; k++) {
			char word[6] = "";
			size_t n = 0;

			for (unsigned rest = k; rest; rest /= 6)
				if (rest % 6)
					word[n++] = letters[rest % 6 - 1];
			assert_int_equal(counter_matches(rows[i], word),
					 fnmatch(rows[i], word, FNM_CASEFOLD | FNM_NOESCAPE) == 0);
		}
	memset(name, 'a', 65536);
	assert_false(counter_matches("*a*a*a*a*a*a*a*a*b", name));
	assert_true(counter_matches("*a*a*a*a*a*a*a*a*a", name));
}
