#include "energy_fixture.h"

#include "profrig/base/sum.h"

#define ENERGY_NAME "A2rocm_smi:::energy_count:device=0"
#define POWER_NAME "A2rocm_smi:::power_average:device=0:sensor=0"

struct curve_of {
	struct trace t;
	struct curve c;
};

static struct energy_opts with(enum integration i)
{
	return (struct energy_opts){ .integration = i };
}

static struct curve_of make(const char *name, bool change_points, size_t n, const double (*tv)[2],
			    const struct energy_opts *o, struct counter_info *ci)
{
	struct curve_of r = { .t = trace_new() };
	struct series_def d = { .name = name, .track = TRACK_NONE, .change_points = change_points };
	series_id s = r.t.s->ops->series(r.t.s, &d);
	struct counter_info known;

	trace_samples(&r.t, s, n, tv);
	trace_finish(&r.t);
	known = counter_info(r.t.m, s);
	assert_int_equal(curve_make(r.t.m, s, ci ? ci : &known, o, &r.c, NULL), 0);
	return r;
}

static void release(struct curve_of *r)
{
	curve_release(&r->c);
	model_free(r->t.m);
}

static double at(const struct curve *c, double seconds)
{
	size_t hint = 0;

	return curve_at(c, ns(seconds), &hint);
}

TEST(counter_is_linear_and_clamped)
{
	static const double e[][2] = { { 2, 100e6 }, { 4, 300e6 }, { 5, 350e6 } };
	struct energy_opts o = with(INTEGRATE_LINEAR);
	CLEANUP(release) struct curve_of r = make(ENERGY_NAME, false, 3, e, &o, NULL);

	assert_near(at(&r.c, -1), 0, 0);
	assert_near(at(&r.c, 2), 0, 0);
	assert_near(at(&r.c, 3), 100, 1e-12);
	assert_near(at(&r.c, 4), 200, 0);
	assert_near(at(&r.c, 4.5), 225, 1e-12);
	assert_near(at(&r.c, 5), 250, 0);
	assert_near(at(&r.c, 9), 250, 0);
	assert_near(curve_total(&r.c), 250, 0);
	assert_null(r.c.marks);
}

/* 100, 200, 300 W at 0, 5, 10 s */
/* Published every 0.1 s and read every 0.01 s: 100 W all the time, no bursts of 1 kW. */
TEST(stale_counter_is_linear_between_changes)
{
	double e[200][2];
	struct energy_opts o = with(INTEGRATE_LINEAR);

	for (int i = 0; i < 200; i++) {
		e[i][0] = i * 0.01;
		e[i][1] = floor(i * 0.1 + 1e-9) * 10e6;
	}
	CLEANUP(release) struct curve_of r = make(ENERGY_NAME, false, 200, e, &o, NULL);
	assert_true(r.c.flags & CF_STALE);
	assert_int_equal(r.c.n, 21); /* first, 19 changes, last */
	assert_near(at(&r.c, 0.15), 15, 1e-9);
	assert_near(at(&r.c, 1.234), 123.4, 1e-9);
	assert_near(at(&r.c, 1.9), 190, 1e-9);
	assert_near(curve_total(&r.c), 190, 1e-9);
}

TEST(three_ways_to_integrate)
{
	static const double w[][2] = { { 0, 100e6 }, { 5, 200e6 }, { 10, 300e6 } };
	static const struct {
		enum integration how;
		double at_2_5, total;
	} want[] = {
		{ INTEGRATE_PREVIOUS, 250, 1500 },
		{ INTEGRATE_TRAPEZOID, 375, 2000 },
		{ INTEGRATE_LINEAR, 312.5, 2000 }, /* 100·2.5 + 20·2.5²/2 */
	};

	for (size_t i = 0; i < 3; i++) {
		struct energy_opts o = with(want[i].how);
		CLEANUP(release) struct curve_of r = make(POWER_NAME, false, 3, w, &o, NULL);

		assert_near(at(&r.c, 2.5), want[i].at_2_5, 1e-9);
		assert_near(curve_total(&r.c), want[i].total, 1e-9);
	}
}

TEST(change_points_hold_their_value)
{
	/* recorded in full: 100 W for 4 s, then 300 W until 6 s; only the changes and the last
	 * sample are stored */
	static const double w[][2] = { { 0, 100e6 }, { 4, 300e6 }, { 6, 300e6 } };
	struct energy_opts o = with(INTEGRATE_LINEAR);
	CLEANUP(release) struct curve_of r = make(POWER_NAME, true, 3, w, &o, NULL);

	assert_near(curve_total(&r.c), 1000, 1e-9);
	assert_near(at(&r.c, 3), 300, 1e-9);
	assert_int_equal(r.c.flags & CF_GAP, 0);
}

TEST(case_05_wrap_of_known_width)
{
	static const double raw[][2] = {
		{ 0, 4294967000. }, { 1, 4294967200. }, { 2, 100 }, { 3, 200 }
	};
	struct counter_info ci = { .kind = SERIES_CUMULATIVE,
				   .quantity = QUANTITY_ENERGY,
				   .unit = "J",
				   .scale = 1e-6,
				   .modulus = 4294967296. };
	struct energy_opts o = with(INTEGRATE_LINEAR);
	struct curve_of r = make(ENERGY_NAME, false, 4, raw, &o, &ci);

	assert_near(r.c.de[1], 196e-6, 1e-15);
	assert_near(curve_total(&r.c), 496e-6, 1e-15);
	assert_int_equal(r.c.flags, CF_WRAP);
	release(&r);

	/* a reset of the same counter would be a wrap that no device could do */
	static const double reset[][2] = { { 0, 1000e6 }, { 1, 1001e6 }, { 2, 1e6 }, { 3, 2e6 } };
	ci.max_rate = 100;
	r = make(ENERGY_NAME, false, 4, reset, &o, &ci);
	assert_near(curve_total(&r.c), 2, 1e-12);
	assert_int_equal(r.c.flags, CF_RESET);
	release(&r);
}

TEST(case_05_wrap_of_unknown_width)
{
	static const double raw[][2] = {
		{ 0, 4294967000. }, { 1, 4294967200. }, { 2, 100 }, { 3, 200 }
	};
	struct energy_opts o = with(INTEGRATE_LINEAR);
	CLEANUP(release) struct curve_of r = make(ENERGY_NAME, false, 4, raw, &o, NULL);

	assert_near(r.c.de[1], 0, 0);
	assert_near(curve_total(&r.c), 300e-6, 1e-15);
	assert_int_equal(r.c.marks[1], CURVE_RESET | CURVE_DEAD);
	assert_int_equal(r.c.marks[0], 0);
	assert_true(r.c.flags & CF_RESET);
}

TEST(equal_times_keep_the_total)
{
	static const double e[][2] = { { 0, 0 },     { 0, 100e6 },   { 5, 500e6 },
				       { 5, 600e6 }, { 10, 1000e6 }, { 10, 1100e6 } };
	static const double w[][2] = { { 0, 100e6 }, { 5, 100e6 }, { 5, 300e6 }, { 10, 300e6 } };
	struct energy_opts o = with(INTEGRATE_LINEAR);
	struct curve_of r = make(ENERGY_NAME, false, 6, e, &o, NULL);

	assert_int_equal(r.c.n, 3);
	assert_near(curve_total(&r.c), 1100, 1e-9);
	assert_near(at(&r.c, 5), 600, 1e-9);
	release(&r);

	r = make(POWER_NAME, false, 4, w, &o, NULL); /* a step of the power itself */
	assert_near(at(&r.c, 5), 500, 1e-9);
	assert_near(curve_total(&r.c), 2000, 1e-9);
	release(&r);
}

TEST(failed_reads_leave_a_hole)
{
	static const double e[][2] = {
		{ 0, 0 }, { 1, NAN }, { 2, 200e6 }, { 3, INFINITY }, { 4, 400e6 }
	};
	struct energy_opts o = with(INTEGRATE_LINEAR);
	CLEANUP(release) struct curve_of r = make(ENERGY_NAME, false, 5, e, &o, NULL);

	assert_int_equal(r.c.n, 3);
	assert_near(curve_total(&r.c), 400, 1e-9);
}

/* A low-pass filtered reading of a step 100 → 300 W at t = 0, τ = 1.6 s, every ms for 2 s. */
TEST(case_01_one_pole_identity)
{
	static double w[2001][2];
	static const enum integration all[] = { INTEGRATE_LINEAR, INTEGRATE_PREVIOUS,
						INTEGRATE_TRAPEZOID };
	struct counter_info ci = { .kind = SERIES_GAUGE,
				   .quantity = QUANTITY_POWER,
				   .unit = "W",
				   .scale = 1e-6,
				   .tau_s = 1.6 };

	for (int i = 0; i <= 2000; i++) {
		w[i][0] = i * 1e-3;
		w[i][1] = (300 - 200 * exp(-w[i][0] / 1.6)) * 1e6;
	}
	for (size_t k = 0; k < ARRAY_LEN(all); k++) {
		struct energy_opts o = with(all[k]);
		/* a step lags half a sample behind: 0.5 ms · ΔP */
		double slack = all[k] == INTEGRATE_PREVIOUS ? 0.0716 : 1e-4;
		struct curve_of r = make(POWER_NAME, false, 2001, (const double(*)[2])w, &o, NULL);

		assert_near(curve_total(&r.c), 371.681535, slack);
		assert_near(r.c.tau_s, 0, 0);
		release(&r);
		r = make(POWER_NAME, false, 2001, (const double(*)[2])w, &o, &ci);
		assert_near(curve_total(&r.c), 600, slack);
		assert_near(r.c.tau_s, 1.6, 0);
		/* what the device drew up to any moment, not only at the end */
		for (double t = 0.0005; t < 2; t += 0.0337)
			assert_near(at(&r.c, t), 300 * t, 0.08 + slack);
		for (size_t i = 0; i + 1 < r.c.n; i++)
			assert_near(r.c.de[i], 0.3, 1e-3);
		assert_null(r.c.marks);
		release(&r);
	}
}

/* Parts of any partition add up to the whole, and the whole is ∫P dt + τ·ΔP. */
TEST(filtered_sums_telescope)
{
	static double w[501][2];
	struct counter_info ci = { .kind = SERIES_GAUGE,
				   .quantity = QUANTITY_POWER,
				   .unit = "W",
				   .scale = 1,
				   .tau_s = 0.3 };
	uint64_t seed = 7;

	for (int i = 0; i <= 500; i++) {
		w[i][0] = i * 0.01 + 0.004 * (double)(rnd(&seed) % 2);
		w[i][1] = 100 + (double)(rnd(&seed) % 5);
	}
	w[300][0] = w[299][0]; /* a jump in no time */
	w[300][1] = w[299][1] + 3;
	for (int how = INTEGRATE_LINEAR; how <= INTEGRATE_TRAPEZOID; how++) {
		struct energy_opts o = with((enum integration)how);
		struct counter_info plain = ci;
		struct curve_of r, u;
		struct sum parts = SUM_INIT;
		double before = 0;
		size_t hint = 0;

		plain.tau_s = 0;
		r = make(POWER_NAME, false, 501, (const double(*)[2])w, &o, &ci);
		u = make(POWER_NAME, false, 501, (const double(*)[2])w, &o, &plain);
		assert_near(curve_total(&r.c), curve_total(&u.c) + 0.3 * (w[500][1] - w[0][1]),
			    1e-9);
		for (int64_t t = ns(0); t < ns(6); t += 1 + (int64_t)(rnd(&seed) % 9000000)) {
			double now = curve_at(&r.c, t, &hint);

			sum_add(&parts, now - before);
			before = now;
		}
		assert_near(sum_value(&parts), curve_total(&r.c), 1e-9);
		release(&r);
		release(&u);
	}
}

/* Only changes are stored: the power rose in the last period before one, not over all of a hold. */
TEST(filtered_change_points)
{
	static const double w[][2] = { { 0, 100 },     { 10, 120 },    { 10.01, 138 },
				       { 10.02, 150 }, { 10.03, 160 }, { 20, 160 } };
	struct counter_info ci = { .kind = SERIES_GAUGE,
				   .quantity = QUANTITY_POWER,
				   .unit = "W",
				   .scale = 1,
				   .tau_s = 0.1 };
	struct energy_opts o = with(INTEGRATE_LINEAR);
	CLEANUP(release) struct curve_of r = make(POWER_NAME, true, 6, w, &o, &ci);

	assert_near(at(&r.c, 9.99), 999, 1e-9);
	assert_near(at(&r.c, 10), 1000 + 2, 1e-9);
	assert_near(curve_total(&r.c), 1000 + 1.2 + 1.38 + 1.5 + 160 * 9.97 + 0.1 * 60, 1e-9);
}

/* A step of the reading by 1 W in 1 ms is 1.6 kW at τ = 1.6 s: no figure for that millisecond. */
TEST(filtered_noise_is_marked)
{
	static const double w[][2] = { { 0, 100 }, { 0.001, 99 }, { 0.002, 100 }, { 0.003, 100 } };
	struct counter_info ci = { .kind = SERIES_GAUGE,
				   .quantity = QUANTITY_POWER,
				   .unit = "W",
				   .scale = 1,
				   .tau_s = 1.6 };
	struct energy_opts o = with(INTEGRATE_LINEAR);
	CLEANUP(release) struct curve_of r = make(POWER_NAME, false, 4, w, &o, &ci);

	assert_true(r.c.de[0] < 0);
	assert_int_equal(r.c.marks[0], CURVE_RATE);
	assert_int_equal(r.c.marks[1], 0);
	assert_true(r.c.flags & CF_RATE);
	assert_near(curve_total(&r.c), 0.3 - 0.001, 1e-9);
	struct counter_scan scan = counter_scan(r.t.m, 0, &ci, 0);
	assert_int_equal(scan.rates, 1);
	assert_int_equal(scan.flags, CF_RATE);
}

/* A counter that froze for half a second: when it counted what came after is unknown. */
TEST(case_06_stuck_time_is_unknown)
{
	static double e[201][2];
	struct energy_opts o = with(INTEGRATE_LINEAR);
	double dead = 0;

	for (int i = 0; i <= 200; i++) {
		e[i][0] = i * 0.01;
		e[i][1] = (i >= 50 && i < 100 ? 50 : i) * 1e6;
	}
	CLEANUP(release)
	struct curve_of r = make(ENERGY_NAME, false, 201, (const double(*)[2])e, &o, NULL);
	for (size_t i = 0; i + 1 < r.c.n; i++) {
		assert_int_equal(r.c.marks[i], i >= 50 && i < 100 ? CURVE_STUCK | CURVE_DEAD : 0);
		dead += r.c.marks[i] & CURVE_DEAD ? r.c.de[i] : 0;
	}
	assert_near(dead, 50, 1e-9);
	assert_near(curve_total(&r.c), 200, 1e-9);
	assert_true(r.c.flags & CF_STUCK);
}

TEST(hostile_values_stay_inside)
{
	static const double e[][2] = {
		{ 0, -1e308 }, { 1, 1e308 }, { 2, -1e308 }, { 4e9, 1 }, { -4e9, 7 }
	};
	struct energy_opts o = with(INTEGRATE_LINEAR);
	size_t hint = SIZE_MAX;
	CLEANUP(release) struct curve_of r = make(POWER_NAME, false, 5, e, &o, NULL);

	for (double t = -5e9; t < 5e9; t += 1e9)
		(void)curve_at(&r.c, ns(t), &hint);
	(void)curve_total(&r.c);
	assert_int_equal(r.c.n, 5);
}

TEST(hint_is_only_a_hint)
{
	static double e[100][2];
	struct energy_opts o = with(INTEGRATE_LINEAR);
	size_t hint = 0, order[] = { 3, 97, 5, 50, 51, 52, 99, 0, 98, 12 };

	for (int i = 0; i < 100; i++) {
		e[i][0] = i;
		e[i][1] = i * i * 1e6;
	}
	CLEANUP(release)
	struct curve_of r = make(ENERGY_NAME, false, 100, (const double(*)[2])e, &o, NULL);
	for (size_t i = 0; i < sizeof(order) / sizeof(*order); i++)
		assert_near(curve_at(&r.c, ns((double)order[i]), &hint),
			    (double)(order[i] * order[i]), 1e-9);
	hint = 12345678;
	assert_near(curve_at(&r.c, ns(10.5), &hint), 110.5, 1e-9);
}
