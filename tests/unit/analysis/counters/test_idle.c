/* Idle levels against answers worked out by hand (docs/energy.md, Idle power). */
#include "energy_fixture.h"

#include "profrig/counters/idle.h"

#define POWER_NAME "A2rocm_smi:::power_average:device=0:sensor=0"
#define ENERGY_NAME "A2rocm_smi:::energy_count:device=0"
#define TEMP_NAME "A2rocm_smi:::temp_current:device=0:sensor=1"

struct idle_case {
	struct trace t;
	series_id s;
	struct counter_info ci;
	struct curve c;
	struct idle_opts o;
	struct idle_level l;
};

static struct idle_case begin_of(const char *name, bool change_points)
{
	struct idle_case k = { .t = trace_new() };
	struct series_def d = { .name = name, .track = TRACK_NONE, .change_points = change_points };

	k.s = k.t.s->ops->series(k.t.s, &d);
	return k;
}

static struct idle_case idle_begin(const char *name)
{
	return begin_of(name, false);
}

/* W or J; the counters of the fixture count in millionths. */
static void idle_put(struct idle_case *k, double t_s, double v)
{
	k->t.s->ops->sample(k->t.s, k->s, ns(t_s), v * 1e6);
}

/* A power reading every 0.1 s from a function of time. */
static void readings(struct idle_case *k, double from_s, double to_s, double (*power)(double t_s))
{
	int n = (int)lround((to_s - from_s) * 10);

	for (int i = 0; i < n; i++)
		idle_put(k, from_s + i * 0.1, power(from_s + i * 0.1));
}

static void idle_find_in(struct idle_case *k)
{
	idle_find(k->t.m, k->s, &k->ci, &k->c, &k->o, &k->l);
	if (isnan(k->l.level_w))
		assert_true(isnan(idle_level_w(k->t.m, k->s, &k->ci, &k->c, &k->o)));
	else
		assert_true(idle_level_w(k->t.m, k->s, &k->ci, &k->c, &k->o) == k->l.level_w);
}

static void idle_finish(struct idle_case *k)
{
	struct energy_opts eo = { .integration = INTEGRATE_LINEAR };

	trace_finish(&k->t);
	k->ci = counter_info(k->t.m, k->s);
	assert_int_equal(curve_make(k->t.m, k->s, &k->ci, &eo, &k->c, NULL), 0);
}

static void between(struct idle_case *k, double b0, double b1, double a0, double a1)
{
	k->o.before = (struct idle_window){ ns(b0), ns(b1) };
	k->o.after = (struct idle_window){ ns(a0), ns(a1) };
	idle_find_in(k);
}

static void idle_end(struct idle_case *k)
{
	idle_opts_release(&k->o);
	curve_release(&k->c);
	model_free(k->t.m);
}

static void is_unknown(const struct idle_case *k, const char *reason)
{
	assert_int_equal(k->l.method, IDLE_NONE);
	assert_true(isnan(k->l.level_w) && isnan(k->l.stderr_w));
	assert_int_equal(k->l.samples, 0);
	if (!strstr(k->l.reason, reason))
		fail_msg("reason '%s' lacks '%s'", k->l.reason, reason);
}

static double ninety(double t_s)
{
	(void)t_s;
	return 90;
}

/* A counter read every 0.1 s for 30 s: 90 W, other power from 10 s to 20 s, 90 W again. */
static struct idle_case worked_at(double power_w)
{
	struct idle_case k = idle_begin(ENERGY_NAME);

	for (int i = 0; i <= 300; i++) {
		double work_s = fmin(fmax(i * 0.1 - 10, 0), 10);

		idle_put(&k, i * 0.1, 90 * (i * 0.1 - work_s) + power_w * work_s);
	}
	idle_finish(&k);
	between(&k, 0, 10, 20, 30);
	return k;
}

static double work_j(const struct idle_case *k)
{
	size_t hint = 0;
	double from = curve_at(&k->c, ns(10), &hint);

	return curve_at(&k->c, ns(20), &hint) - from;
}

/* 300 W for 10 s: 3000 J = 900 J static + 2100 J dynamic. */
TEST(case_09_idle_split)
{
	CLEANUP(idle_end) struct idle_case k = worked_at(300);

	assert_int_equal(k.l.method, IDLE_BOTH);
	assert_near(k.l.level_w, 90, 1e-9);
	assert_near(k.l.stderr_w, 0, 1e-6);
	assert_near(k.l.drift_w, 0, 1e-6);
	assert_false(k.l.unsettled);
	assert_string_equal(k.l.reason, "");
	assert_int_equal(k.l.duration_ns, ns(20));
	assert_near(work_j(&k), 3000, 1e-6);
	assert_near(k.l.level_w * 10, 900, 1e-6);
	assert_near(work_j(&k) - k.l.level_w * 10, 2100, 1e-6);
}

/* Nothing is dropped of a quiet window: all samples in it and all its time count. */
TEST(quiet_window_counts_whole)
{
	CLEANUP(idle_end) struct idle_case k = idle_begin(POWER_NAME);

	readings(&k, 0, 10.05, ninety);
	idle_finish(&k);
	between(&k, 0, 10, 0, 0);
	assert_int_equal(k.l.method, IDLE_BEFORE);
	assert_near(k.l.level_w, 90, 1e-9);
	assert_int_equal(k.l.duration_ns, ns(10));
	assert_true(k.l.samples == 100 || k.l.samples == 101);
	assert_true(isnan(k.l.after_w) && isnan(k.l.drift_w));
	assert_string_equal(k.l.reason, "");
}

/* Of a counter far from 0 differences are rounded, which drops nothing either. */
TEST(rounding_drops_nothing)
{
	CLEANUP(idle_end) struct idle_case k = idle_begin(ENERGY_NAME);

	for (int i = 0; i <= 1000; i++)
		idle_put(&k, i * 0.01, 1234567.891 + i * 0.901);
	idle_finish(&k);
	between(&k, 0, 10, 0, 0);
	assert_int_equal(k.l.duration_ns, ns(10));
}

/* A workload below idle: the level does not care, the dynamic part is negative. */
TEST(case_09_work_below_idle)
{
	CLEANUP(idle_end) struct idle_case k = worked_at(60);

	assert_near(work_j(&k) - k.l.level_w * 10, -300, 1e-6);
}

/* Energy counters: 60 J/s, then 80 J/s; read every 10 ms. */
TEST(counter)
{
	CLEANUP(idle_end) struct idle_case k = idle_begin(ENERGY_NAME);

	for (int i = 0; i <= 3000; i++)
		idle_put(&k, i * 0.01,
			 i < 1000   ? i * 0.6
			 : i < 2000 ? 600 + (i - 1000) * 4.0
				    : 4600 + (i - 2000) * 0.8);
	idle_finish(&k);
	between(&k, 0, 10, 20, 30);
	assert_int_equal(k.l.method, IDLE_BOTH);
	assert_near(k.l.before_w, 60, 1e-6);
	assert_near(k.l.after_w, 80, 1e-6);
	assert_near(k.l.level_w, 70, 1e-6);
	assert_near(k.l.drift_w, 20, 1e-6);
	assert_near(k.l.stderr_w, 20 / sqrt(12), 1e-6);
	assert_int_equal(k.l.duration_ns, ns(20));
}

/* The reading of a filter of 1.6 s after work at 500 W, 90 W before it. */
static double filtered(double t_s)
{
	return t_s < 10.05 ? 90 : t_s < 20.05 ? 500 : 90 + 410 * exp(-(t_s - 20.1) / 1.6);
}

TEST(filtered_fall_is_dropped)
{
	CLEANUP(idle_end) struct idle_case k = idle_begin(POWER_NAME);

	readings(&k, 0, 40.15, filtered);
	idle_finish(&k);
	between(&k, 0, 10, 20.1, 40.1);
	assert_int_equal(k.l.method, IDLE_BOTH);
	assert_false(k.l.unsettled);
	/* the plain mean would be 90 + 410 · 1.6/20 = 122.8 */
	assert_near(k.l.after_w, 90, 0.15);
	assert_near(k.l.before_w, 90, 1e-9);
	assert_true(k.l.duration_ns <= ns(20.5) && k.l.duration_ns >= ns(19.5));

	/* Too short to settle: the other window alone counts, and this one's figure is shown. */
	between(&k, 0, 10, 20.1, 24.1);
	assert_int_equal(k.l.method, IDLE_BEFORE);
	assert_near(k.l.level_w, 90, 1e-9);
	assert_true(k.l.after_w > 110);
	assert_has(k.l.reason, "after");
	assert_false(k.l.unsettled);

	/* Nothing better: it is used, and said. */
	between(&k, 0, 0, 20.1, 24.1);
	assert_int_equal(k.l.method, IDLE_AFTER);
	assert_true(k.l.unsettled && k.l.level_w > 110);
}

static uint32_t noise_state;
static double noise(void)
{
	noise_state = noise_state * 1664525u + 1013904223u;
	return (double)(noise_state >> 8) / (1 << 24) - 0.5;
}

/* Uniform noise of ±10 W in whole watts: the true level lies in ± 3 standard errors, which are what
 * theory says, and a stray unsettled window is rare. */
static double noisy(double t_s)
{
	(void)t_s;
	return floor(90.5 + 20 * noise());
}

TEST(noise_is_no_drift)
{
	int outside = 0, unsettled = 0;
	double se = 0;

	noise_state = 7;
	for (int i = 0; i < 200; i++) {
		CLEANUP(idle_end) struct idle_case k = idle_begin(POWER_NAME);

		readings(&k, 0, 20.1, noisy);
		idle_finish(&k);
		between(&k, 0, 20, 0, 0);
		assert_int_equal(k.l.method, IDLE_BEFORE);
		outside += fabs(k.l.level_w - 90) > 3 * k.l.stderr_w;
		unsettled += k.l.unsettled;
		se += k.l.stderr_w / 200;
	}
	/* sd 5.8 W, 200 readings: 0.41 W; a block's interpolation ties neighbours, and up to half
	 * may be dropped */
	assert_true(se > 0.35 && se < 0.6);
	assert_true(outside <= 8);
	assert_true(unsettled <= 4);
}

/* What creeps up by 2 W a second has no level. */
static double creeping(double t_s)
{
	return 90 + 2 * t_s;
}

TEST(creep_is_unsettled)
{
	CLEANUP(idle_end) struct idle_case k = idle_begin(POWER_NAME);

	readings(&k, 0, 20.1, creeping);
	idle_finish(&k);
	between(&k, 0, 20, 0, 0);
	assert_true(k.l.unsettled);
	assert_string_equal(idle_method_name(k.l.method), "before");
}

/* Only changes are stored: a window without one is known all the same. */
TEST(change_points)
{
	CLEANUP(idle_end) struct idle_case k = begin_of(POWER_NAME, true);

	idle_put(&k, 0, 90);
	idle_put(&k, 10, 300);
	idle_put(&k, 20, 94);
	idle_put(&k, 30, 94);
	idle_finish(&k);
	between(&k, 1, 9, 20, 30);
	assert_int_equal(k.l.method, IDLE_BOTH);
	assert_near(k.l.before_w, 90, 1e-9);
	assert_near(k.l.after_w, 94, 1e-9);
	assert_near(k.l.level_w, 92, 1e-9);
}

TEST(nothing_to_go_by)
{
	CLEANUP(idle_end) struct idle_case k = idle_begin(POWER_NAME);

	readings(&k, 0, 10, ninety);
	idle_finish(&k);
	idle_find_in(&k);
	is_unknown(&k, "no idle window");
	between(&k, 20, 30, 0, 0);
	is_unknown(&k, "not sampled");
	assert_false(k.l.too_few);
	between(&k, 1, 1.45, 0, 0);
	is_unknown(&k, "too few");
	assert_true(k.l.too_few);
	between(&k, 20, 30, 1, 1.3);
	is_unknown(&k, "too few");
	between(&k, 9.7, 20, 0, 0);
	is_unknown(&k, "too few");
	/* as long as five readings */
	between(&k, 1, 1.5, 0, 0);
	assert_int_equal(k.l.method, IDLE_BEFORE);
	assert_near(k.l.level_w, 90, 1e-9);
	/* one window of two */
	between(&k, 1, 2, 20, 30);
	assert_int_equal(k.l.method, IDLE_BEFORE);
	assert_has(k.l.reason, "after: not sampled");
}

TEST(other_series_have_no_level)
{
	CLEANUP(idle_end) struct idle_case k = idle_begin(TEMP_NAME);

	for (int i = 0; i < 100; i++)
		k.t.s->ops->sample(k.t.s, k.s, ns(i * 0.1), i < 50 ? 40e3 : 60e3);
	idle_finish(&k);
	between(&k, 0, 4, 6, 9);
	is_unknown(&k, "no power");
	assert_near(idle_mean(&k.c, k.o.before), 40, 1e-9);
	assert_near(idle_mean(&k.c, k.o.after), 60, 1e-9);
	/* half of it is not sampled */
	assert_true(isnan(idle_mean(&k.c, (struct idle_window){ ns(9), ns(30) })));
	assert_true(isnan(idle_mean(&k.c, (struct idle_window){ 0, 0 })));
}

/* Blocks with a reset or a gap of the counter are left out; the others tell. */
TEST(odd_blocks_are_left_out)
{
	CLEANUP(idle_end) struct idle_case k = idle_begin(ENERGY_NAME);

	for (int i = 0; i <= 1000; i++)
		if (i < 300 || i > 390)
			idle_put(&k, i * 0.01, i < 700 ? i : i - 700);
	idle_finish(&k);
	assert_true(k.c.flags & CF_RESET && k.c.flags & CF_GAP);
	between(&k, 0, 10, 0, 0);
	assert_int_equal(k.l.method, IDLE_BEFORE);
	assert_near(k.l.level_w, 100, 1e-6);
	/* 40 blocks of 0.25 s: 1 with the reset, 5 that the gap touches */
	assert_int_equal(k.l.duration_ns, ns(8.5));
}

TEST(too_short_a_series)
{
	CLEANUP(idle_end) struct idle_case k = idle_begin(POWER_NAME);

	idle_put(&k, 1, 90);
	idle_finish(&k);
	between(&k, 0, 10, 0, 0);
	is_unknown(&k, "not sampled");
}

/* On a clock of its own it is unknown what lies in the windows. */
TEST(not_aligned)
{
	CLEANUP(idle_end) struct idle_case k = idle_begin(POWER_NAME);

	readings(&k, 0, 10, ninety);
	idle_finish(&k);
	k.t.m->inputs.v[0].aligned = false;
	between(&k, 0, 9, 0, 0);
	is_unknown(&k, "clock");
	assert_int_equal(idle_state(&k.o, "70", NULL), 0);
	idle_find_in(&k);
	assert_true(k.l.level_w == 70);
}

TEST(stated)
{
	CLEANUP(idle_end) struct idle_case k = idle_begin(POWER_NAME);
	struct err err = ERR_INIT;

	readings(&k, 0, 10, ninety);
	idle_finish(&k);
	assert_int_equal(idle_state(&k.o, "70", &err), 0);
	between(&k, 0, 9.9, 0, 0);
	assert_int_equal(k.l.method, IDLE_STATED);
	assert_true(k.l.level_w == 70 && isnan(k.l.stderr_w));
	assert_near(k.l.before_w, 90, 1e-9);
	/* the closer statement wins, wherever it stands */
	assert_int_equal(idle_state(&k.o, "gpu0=55.5,gpu1=1", &err), 0);
	idle_find_in(&k);
	assert_true(k.l.level_w == 55.5);
	assert_int_equal(idle_state(&k.o, "gpu=60,cpu=5", &err), 0);
	idle_find_in(&k);
	assert_true(k.l.level_w == 55.5);
	assert_true(idle_is_about(&k.o.stated.v[0], k.t.m, k.s, &k.ci));
	assert_false(idle_is_about(&k.o.stated.v[2], k.t.m, k.s, &k.ci));
}

TEST(states_that_are_none)
{
	static const char *const bad[] =
		LIST("", ",", "x", "gpu0", "gpu0=", "=5", "gpu0=-1", "gpu0=nan", "gpu0=inf", "2e6",
		     "gpu0=5,", "gpu0=5,,cpu=2", "gpu0=1,gpu0=2", "5,6", "90W", "gpu0= 5");
	char longer[256];

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct idle_opts o = { 0 };
		struct err err = ERR_INIT;

		if (idle_state(&o, bad[i], &err) != -EINVAL)
			fail_msg("'%s' was taken", bad[i]);
		assert_true(*err.msg);
		idle_opts_release(&o);
	}
	memset(longer, 'x', sizeof(longer));
	memcpy(longer + 200, "=1", 3);
	struct idle_opts o = { 0 };
	assert_int_equal(idle_state(&o, longer, NULL), -EINVAL);
	idle_opts_release(&o);
}

/* Of a host, and of a word: only ids that are the word and a number. */
TEST(whom_a_statement_is_about)
{
	static const struct {
		const char *stated, *device;
		bool about;
	} cases[] = LIST(
		{ "", "gpu0", true }, { "", "", true }, { "gpu0", "gpu0", true },
		{ "gpu0", "gpu01", false }, { "gpu", "gpu12", true }, { "gpu", "gpux", false },
		{ "gpu", "gpu", true }, { "gpu1", "gpu12", false }, { "gpu0", "node3:gpu0", true },
		{ "node3:gpu0", "node3:gpu0", true }, { "node2:gpu0", "node3:gpu0", false },
		{ "gpu", "node3:gpu0", true }, { "cpu", "gpu0", false }, { "gpu0", "", false });
	CLEANUP(idle_end) struct idle_case k = idle_begin(POWER_NAME);

	readings(&k, 0, 1, ninety);
	idle_finish(&k);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct idle_stated st = { .power_w = 1 };

		snprintf(st.device, sizeof(st.device), "%s", cases[i].stated);
		snprintf(k.ci.device, sizeof(k.ci.device), "%s", cases[i].device);
		if (idle_is_about(&st, k.t.m, k.s, &k.ci) != cases[i].about)
			fail_msg("'%s' of '%s'", cases[i].stated, cases[i].device);
	}
}
