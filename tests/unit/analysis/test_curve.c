#include "energy_fixture.h"

#include <errno.h>

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

static void counter_is_linear_and_clamped(void **state)
{
	static const double e[][2] = { { 2, 100e6 }, { 4, 300e6 }, { 5, 350e6 } };
	struct energy_opts o = with(INTEGRATE_LINEAR);
	struct curve_of r = make(ENERGY_NAME, false, 3, e, &o, NULL);

	(void)state;
	assert_near(at(&r.c, -1), 0, 0);
	assert_near(at(&r.c, 2), 0, 0);
	assert_near(at(&r.c, 3), 100, 1e-12);
	assert_near(at(&r.c, 4), 200, 0);
	assert_near(at(&r.c, 4.5), 225, 1e-12);
	assert_near(at(&r.c, 5), 250, 0);
	assert_near(at(&r.c, 9), 250, 0);
	assert_near(curve_total(&r.c), 250, 0);
	assert_null(r.c.marks);
	release(&r);
}

/* 100, 200, 300 W at 0, 5, 10 s */
static void three_ways_to_integrate(void **state)
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

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct energy_opts o = with(want[i].how);
		struct curve_of r = make(POWER_NAME, false, 3, w, &o, NULL);

		assert_near(at(&r.c, 2.5), want[i].at_2_5, 1e-9);
		assert_near(curve_total(&r.c), want[i].total, 1e-9);
		release(&r);
	}
}

static void change_points_hold_their_value(void **state)
{
	/* recorded in full: 100 W for 4 s, then 300 W until 6 s; only the changes and the last
	 * sample are stored */
	static const double w[][2] = { { 0, 100e6 }, { 4, 300e6 }, { 6, 300e6 } };
	struct energy_opts o = with(INTEGRATE_LINEAR);
	struct curve_of r = make(POWER_NAME, true, 3, w, &o, NULL);

	(void)state;
	assert_near(curve_total(&r.c), 1000, 1e-9);
	assert_near(at(&r.c, 3), 300, 1e-9);
	assert_int_equal(r.c.flags & CF_GAP, 0);
	release(&r);
}

static void declared_modulus_unwraps(void **state)
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

	(void)state;
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

static void undeclared_wrap_splits(void **state)
{
	static const double raw[][2] = {
		{ 0, 4294967000. }, { 1, 4294967200. }, { 2, 100 }, { 3, 200 }
	};
	struct energy_opts o = with(INTEGRATE_LINEAR);
	struct curve_of r = make(ENERGY_NAME, false, 4, raw, &o, NULL);

	(void)state;
	assert_near(r.c.de[1], 0, 0);
	assert_near(curve_total(&r.c), 300e-6, 1e-15);
	assert_int_equal(r.c.marks[1], CURVE_RESET | CURVE_DEAD);
	assert_int_equal(r.c.marks[0], 0);
	assert_true(r.c.flags & CF_RESET);
	release(&r);
}

static void equal_times_keep_the_total(void **state)
{
	static const double e[][2] = { { 0, 0 },     { 0, 100e6 },   { 5, 500e6 },
				       { 5, 600e6 }, { 10, 1000e6 }, { 10, 1100e6 } };
	static const double w[][2] = { { 0, 100e6 }, { 5, 100e6 }, { 5, 300e6 }, { 10, 300e6 } };
	struct energy_opts o = with(INTEGRATE_LINEAR);
	struct curve_of r = make(ENERGY_NAME, false, 6, e, &o, NULL);

	(void)state;
	assert_int_equal(r.c.n, 3);
	assert_near(curve_total(&r.c), 1100, 1e-9);
	assert_near(at(&r.c, 5), 600, 1e-9);
	release(&r);

	r = make(POWER_NAME, false, 4, w, &o, NULL); /* a step of the power itself */
	assert_near(at(&r.c, 5), 500, 1e-9);
	assert_near(curve_total(&r.c), 2000, 1e-9);
	release(&r);
}

static void failed_reads_leave_a_hole(void **state)
{
	static const double e[][2] = {
		{ 0, 0 }, { 1, NAN }, { 2, 200e6 }, { 3, INFINITY }, { 4, 400e6 }
	};
	struct energy_opts o = with(INTEGRATE_LINEAR);
	struct curve_of r = make(ENERGY_NAME, false, 5, e, &o, NULL);

	(void)state;
	assert_int_equal(r.c.n, 3);
	assert_near(curve_total(&r.c), 400, 1e-9);
	release(&r);
}

/* A low-pass filtered reading of a step 100 → 300 W at t = 0, τ = 1.6 s, every ms for 2 s. */
static void one_pole_reading(void **state)
{
	static double w[2001][2];
	struct energy_opts o = with(INTEGRATE_TRAPEZOID);
	struct curve_of r;

	(void)state;
	for (int i = 0; i <= 2000; i++) {
		w[i][0] = i * 1e-3;
		w[i][1] = (300 - 200 * exp(-w[i][0] / 1.6)) * 1e6;
	}
	r = make(POWER_NAME, false, 2001, (const double(*)[2])w, &o, NULL);
	assert_near(curve_total(&r.c), 371.681535, 1e-4);
	/* deconvolved: + τ·ΔP is the true energy */
	assert_near(curve_total(&r.c) + 1.6 * (w[2000][1] - w[0][1]) * 1e-6, 600, 1e-4);
	release(&r);
}

static void hostile_values_stay_inside(void **state)
{
	static const double e[][2] = {
		{ 0, -1e308 }, { 1, 1e308 }, { 2, -1e308 }, { 4e9, 1 }, { -4e9, 7 }
	};
	struct energy_opts o = with(INTEGRATE_LINEAR);
	size_t hint = SIZE_MAX;
	struct curve_of r = make(POWER_NAME, false, 5, e, &o, NULL);

	(void)state;
	for (double t = -5e9; t < 5e9; t += 1e9)
		(void)curve_at(&r.c, ns(t), &hint);
	(void)curve_total(&r.c);
	assert_int_equal(r.c.n, 5);
	release(&r);
}

static void hint_is_only_a_hint(void **state)
{
	static double e[100][2];
	struct energy_opts o = with(INTEGRATE_LINEAR);
	size_t hint = 0, order[] = { 3, 97, 5, 50, 51, 52, 99, 0, 98, 12 };
	struct curve_of r;

	(void)state;
	for (int i = 0; i < 100; i++) {
		e[i][0] = i;
		e[i][1] = i * i * 1e6;
	}
	r = make(ENERGY_NAME, false, 100, (const double(*)[2])e, &o, NULL);
	for (size_t i = 0; i < sizeof(order) / sizeof(*order); i++)
		assert_near(curve_at(&r.c, ns((double)order[i]), &hint),
			    (double)(order[i] * order[i]), 1e-9);
	hint = 12345678;
	assert_near(curve_at(&r.c, ns(10.5), &hint), 110.5, 1e-9);
	release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counter_is_linear_and_clamped),
		cmocka_unit_test(three_ways_to_integrate),
		cmocka_unit_test(change_points_hold_their_value),
		cmocka_unit_test(declared_modulus_unwraps),
		cmocka_unit_test(undeclared_wrap_splits),
		cmocka_unit_test(equal_times_keep_the_total),
		cmocka_unit_test(failed_reads_leave_a_hole),
		cmocka_unit_test(one_pole_reading),
		cmocka_unit_test(hostile_values_stay_inside),
		cmocka_unit_test(hint_is_only_a_hint),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
