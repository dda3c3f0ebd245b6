/* The filter behind a power reading, found again in readings made by a known one. */
#include "energy_fixture.h"

#include "profrig/counters/tau_fit.h"

#define PERIOD_MS 4

/* A device whose power is a function of time; its counter is read every PERIOD_MS, its power
 * reading at the same moments. */
struct simulated {
	size_t n;
	int64_t *t_ns;
	double *j, *w;
};

static double square_wave(double t)
{
	return fmod(t, 4) < 2 ? 100 : 500;
}

static double constant(double t)
{
	(void)t;
	return 137;
}

/* ∫ of the square wave, from 0 */
static double square_wave_j(double t)
{
	double whole = floor(t / 4), part = t - 4 * whole;

	return whole * 1200 + (part < 2 ? part * 100 : 200 + (part - 2) * 500);
}

enum sensor { ONE_POLE, BOXCAR, AT_ONCE, NOISE };

/* The reading is floored to whole steps of step_w. */
static struct simulated filter_simulate(enum sensor sensor, double parameter_s, double seconds,
					double step_w, double (*power)(double))
{
	struct simulated s = { .n = (size_t)(seconds * 1000 / PERIOD_MS) + 1 };
	uint64_t seed = 42;
	double y = power(0);

	s.t_ns = xcalloc(s.n, sizeof(*s.t_ns));
	s.j = xcalloc(s.n, sizeof(*s.j));
	s.w = xcalloc(s.n, sizeof(*s.w));
	for (size_t i = 0; i < s.n; i++) {
		double t = (double)i * PERIOD_MS * 1e-3, dt = PERIOD_MS * 1e-3, reading;
		double before = i ? power(t - dt / 2) : power(0);

		s.t_ns[i] = 1000000000 + (int64_t)i * PERIOD_MS * 1000000;
		s.j[i] = i ? s.j[i - 1] + before * dt : 5e8;
		if (sensor == ONE_POLE && i)
			y = before + (y - before) * exp(-dt / parameter_s);
		if (sensor == BOXCAR)
			y = t < parameter_s ? power(0)
					    : (square_wave_j(t) - square_wave_j(t - parameter_s)) /
						      parameter_s;
		if (sensor == AT_ONCE)
			y = before + (double)(rnd(&seed) % 3);
		if (sensor == NOISE)
			y = 100 + (double)(rnd(&seed) % 400);
		reading = y;
		s.w[i] = step_w > 0 ? floor(reading / step_w) * step_w : reading;
	}
	return s;
}

static struct tau_fit fit_of(const struct simulated *s, const uint8_t *dead)
{
	struct tau_fit_data d = { .knots = s->n,
				  .knot_ns = s->t_ns,
				  .j = s->j,
				  .dead = dead,
				  .readings = s->n,
				  .reading_ns = s->t_ns,
				  .w = s->w };
	struct tau_fit f;

	tau_fit(&d, &f);
	return f;
}

static void done(struct simulated *s)
{
	free(s->t_ns);
	free(s->j);
	free(s->w);
}

static struct tau_fit fit(enum sensor sensor, double parameter_s, double seconds, double step_w,
			  double (*power)(double))
{
	struct simulated s = filter_simulate(sensor, parameter_s, seconds, step_w, power);
	struct tau_fit f = fit_of(&s, NULL);

	done(&s);
	return f;
}

TEST(case_02_tau_fit)
{
	struct tau_fit f = fit(ONE_POLE, 1.6, 60, 1, square_wave);

	assert_string_equal(filter_verdict_name(f.verdict), "one_pole");
	assert_near(f.tau_s, 1.6, 0.005);
	assert_near(f.gain, 1, 0);
	assert_near(f.offset_w, -0.5, 0.02);
	assert_near(f.rms_w, 0.29, 0.01);
	assert_near(f.unit_rms_w, 0.58, 0.02);
	assert_true(f.boxcar_rms_w > 10 * f.rms_w); /* no moving average does it */
	assert_true(f.face_rms_w > 10 * f.rms_w);
	assert_near(f.step_w, 1, 1e-9);
}

TEST(any_time_constant)
{
	static const double taus[] = { 0.02, 0.1, 0.35, 1.6, 5 };

	for (size_t i = 0; i < ARRAY_LEN(taus); i++) {
		struct tau_fit f = fit(ONE_POLE, taus[i], 60, 0, square_wave);

		assert_int_equal(f.verdict, FILTER_ONE_POLE);
		assert_near(f.tau_s, taus[i], 1e-3 * taus[i]);
		assert_near(f.gain, 1, 1e-4);
		assert_near(f.offset_w, 0, 0.02);
	}
}

TEST(other_sensors)
{
	struct tau_fit f = fit(BOXCAR, 1, 60, 1, square_wave);

	assert_int_equal(f.verdict, FILTER_BOXCAR);
	assert_near(f.boxcar_s, 1, 0.01);
	/* so short that a filter comes near enough too, but not as near */
	f = fit(BOXCAR, 0.008, 60, 1, square_wave);
	assert_true(f.rms_w < 4);
	assert_int_equal(f.verdict, FILTER_BOXCAR);
	f = fit(AT_ONCE, 0, 60, 1, square_wave);
	assert_int_equal(f.verdict, FILTER_NONE);
	f = fit(NOISE, 0, 60, 1, square_wave);
	assert_int_equal(f.verdict, FILTER_NOT_MODELLED);
}

TEST(case_02_no_information)
{
	struct tau_fit f = fit(ONE_POLE, 1.6, 60, 1, constant);

	assert_string_equal(filter_verdict_name(f.verdict), "no_information");
	assert_true(isnan(f.tau_s) && isnan(f.rms_w));
	f = fit(ONE_POLE, 1.6, 1.9, 1, square_wave); /* not a step yet */
	assert_int_equal(f.verdict, FILTER_NO_INFORMATION);
	f = fit(ONE_POLE, 1.6, 0.02, 1, square_wave);
	assert_int_equal(f.verdict, FILTER_NO_INFORMATION);
}

/* A reading in half the counter's unit, with an offset. */
TEST(gain_and_offset)
{
	struct simulated s = filter_simulate(ONE_POLE, 0.4, 60, 0, square_wave);
	struct tau_fit f;

	for (size_t i = 0; i < s.n; i++)
		s.w[i] = 0.5 * s.w[i] + 20;
	f = fit_of(&s, NULL);
	assert_int_equal(f.verdict, FILTER_ONE_POLE);
	/* the state at the first reading is taken from it */
	assert_near(f.tau_s, 0.4, 0.004);
	assert_near(f.gain, 0.5, 0.002);
	assert_near(f.offset_w, 20, 0.5);
	done(&s);
}

/* The counter is unknown for a while: what it says there does not count. */
TEST(holes_in_the_counter)
{
	struct simulated s = filter_simulate(ONE_POLE, 0.4, 60, 1, square_wave);
	uint8_t *dead = xcalloc(s.n, 1);
	struct tau_fit f;

	for (size_t i = 4000; i < 4100; i++) {
		dead[i] = 1;
		s.j[i + 1] = s.j[i] + 1e6;
	}
	for (size_t i = 4101; i < s.n; i++)
		s.j[i] += s.j[4100] - 5e8 - square_wave_j(4100 * PERIOD_MS * 1e-3);
	f = fit_of(&s, dead);
	assert_int_equal(f.verdict, FILTER_ONE_POLE);
	assert_near(f.tau_s, 0.4, 0.004);
	free(dead);
	done(&s);
}

/* Of more readings than are looked at, those that vary most. */
TEST(long_recordings)
{
	struct simulated s = filter_simulate(ONE_POLE, 0.4, 2000, 1, constant);
	struct simulated wave = filter_simulate(ONE_POLE, 0.4, 60, 1, square_wave);
	struct tau_fit f;

	for (size_t i = 0, at = s.n - wave.n - 1000; i < wave.n; i++) {
		s.w[at + i] = wave.w[i];
		s.j[at + i] = s.j[at - 1] + wave.j[i] - wave.j[0];
	}
	for (size_t i = s.n - 1000; i < s.n; i++)
		s.j[i] = s.j[i - 1] + 137 * PERIOD_MS * 1e-3;
	f = fit_of(&s, NULL);
	assert_int_equal(f.readings, TAU_FIT_READINGS);
	assert_int_equal(f.verdict, FILTER_ONE_POLE);
	assert_near(f.tau_s, 0.4, 0.004);
	done(&s);
	done(&wave);
}

TEST(hostile_numbers)
{
	static const double values[] = { 1e308, -1e308, 0, 5e-324, 1e300, -7, 1e308, 1, 2, 3 };
	struct simulated s = filter_simulate(ONE_POLE, 0.4, 60, 1, square_wave);

	for (size_t k = 0; k < 3; k++) {
		for (size_t i = 0; i < s.n; i++) {
			s.w[i] = values[(i * (k + 1)) % ARRAY_LEN(values)];
			s.j[i] = k == 2 ? s.w[i] : s.j[i];
			s.t_ns[i] = k == 1 ? (int64_t)i : s.t_ns[i];
		}
		assert_true(fit_of(&s, NULL).verdict != FILTER_ONE_POLE);
	}
	done(&s);
}

/* ---- in a model ---- */

#define ENERGY_NAME "A2rocm_smi:::energy_count:device=0"
#define POWER_NAME "A2rocm_smi:::power_average:device=0:sensor=0"

/* The counter in AMD's units of 15.3 µJ for 2^-16 J, the reading in µW. */
static struct trace amd_trace(const struct simulated *s)
{
	struct trace t = trace_new();
	series_id e = trace_series(&t, ENERGY_NAME, "#", SERIES_CUMULATIVE);
	series_id p = trace_series(&t, POWER_NAME, "#", SERIES_CUMULATIVE);

	trace_series(&t, "A2rocm_smi:::power_average:device=1:sensor=0", "#", SERIES_CUMULATIVE);
	for (size_t i = 0; i < s->n; i++) {
		double counts = floor((s->j[i] - 5e8) * 0x1p16);

		t.s->ops->sample(t.s, e, s->t_ns[i], floor(counts * 15.3));
		t.s->ops->sample(t.s, p, s->t_ns[i], s->w[i] * 1e6);
	}
	trace_finish(&t);
	return t;
}

TEST(learned_from_a_model)
{
	struct simulated s = filter_simulate(ONE_POLE, 0.4, 20, 1, square_wave);
	CLEANUP(trace_release) struct trace t = amd_trace(&s);
	CLEANUP(counter_rules_release) struct counter_rules rules = COUNTER_RULES_INIT;
	struct counter_info ci;

	counters_learn(t.m, &rules);
	assert_int_equal(rules.filters.nr, 2);
	assert_int_equal(rules.filters.v[0].power, 1);
	assert_int_equal(rules.filters.v[0].energy, 0);
	assert_int_equal(rules.filters.v[0].fit.verdict, FILTER_ONE_POLE);
	assert_near(rules.filters.v[0].fit.tau_s, 0.4, 0.004);
	/* against the counter's true unit, not the library's, which would be 0.9973 */
	assert_near(rules.filters.v[0].fit.gain, 1, 0.0005);
	assert_int_equal(rules.filters.v[1].energy, SERIES_NONE);
	assert_int_equal(rules.filters.v[1].fit.verdict, FILTER_NO_COUNTER);

	/* found, but not asked for */
	ci = counter_info(t.m, 1);
	assert_near(ci.tau_s, 0, 0);
	assert_near(ci.tau_hint_s, 1.6, 0);
	rules.tau_fit = true;
	ci = counter_info(t.m, 1);
	assert_near(ci.tau_s, rules.filters.v[0].fit.tau_s, 0);
	assert_int_equal(ci.tau_source, TAU_FIT);
	rules.tau_s = 0.25;
	ci = counter_info(t.m, 1);
	assert_near(ci.tau_s, 0.25, 0);
	assert_int_equal(ci.tau_source, TAU_USER);
	assert_near(counter_info(t.m, 0).tau_s, 0, 0);
	done(&s);
}
