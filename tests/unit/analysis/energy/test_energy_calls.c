/*
 * Energy of single long calls: phases of random short calls, and long kernels beside short ones,
 * whose energy is known, sampled by a counter that is slower than the short ones.
 */
#include "energy_random.h"
#include "tables_support.h"

#define COUNTER "rocm_smi:::energy_count:device=0"
#define CLASSES 6
#define MS 20000 /* of a program, in moments of a ms */
#define PERIOD_MS 10
#define IDLE_W 40.0
#define STATIC_W 80.0
#define LANES 2
#define MOST_CALLS 400

static int phase_ms; /* the shortest phase; the longest is eleven times as long */

static double uniform(double from, double to)
{
	return from + (to - from) * (double)(random_u64() >> 11) * 0x1p-53;
}

/* ---- a program ---- */

/* What a lane does in a ms: its power when it has the device for itself, and the long call. */
struct moment {
	double w; /* < 0: nothing runs */
	int call; /* −1: none */
};

struct long_call {
	int lane, from_ms, to_ms;
	double truth_j;
};

struct program {
	struct trace t;
	series_id counter;
	double power_w[CLASSES];
	struct moment *at; /* [lane][ms] */
	struct long_call calls[MOST_CALLS];
	int nr_calls;
};

static void program_begin(struct program *p, uint64_t with_seed)
{
	*p = (struct program){ .t = trace_new() };
	seed = with_seed;
	p->counter = trace_series(&p->t, COUNTER, "#", SERIES_CUMULATIVE);
	p->at = xcalloc((size_t)LANES * MS, sizeof(*p->at));
	for (int c = 0; c < CLASSES; c++)
		p->power_w[c] = uniform(60, 500);
}

static void program_release(struct program *p)
{
	trace_release(&p->t);
	free(p->at);
}

static int call_begin(struct program *p, int lane, int from_ms, int to_ms)
{
	assert_true(p->nr_calls < MOST_CALLS);
	p->calls[p->nr_calls] = (struct long_call){ lane, from_ms, to_ms, 0 };
	return p->nr_calls++;
}

static void moments_set(struct program *p, int lane, int from_ms, int to_ms, double w, int call)
{
	for (int i = from_ms; i < to_ms; i++)
		p->at[lane * MS + i] = (struct moment){ w, call };
}

/* A short call of a random class, from ms on; returns its end. */
static int short_call(struct program *p, track_id track, int lane, int ms, int end_ms, int call,
		      bool work)
{
	int c = (int)below(CLASSES), to = ms + 2 + (int)below(5);
	char name[8];

	to = to < end_ms ? to : end_ms;
	snprintf(name, sizeof(name), "f%d", c);
	if (work)
		trace_work(&p->t, track, name, ms * 1e-3, to * 1e-3);
	else
		trace_call(&p->t, track, name, ms * 1e-3, to * 1e-3);
	moments_set(p, lane, ms, to, p->power_w[c] * uniform(0.9, 1.1), call);
	return to;
}

/* Phases of short calls, and between them long copies and pauses. */
static void host_lane(struct program *p, int lane)
{
	track_id thread = trace_thread(&p->t, "n", lane + 1, 1);

	for (int ms = 0, to; ms < MS; ms = to) {
		unsigned what = below(4);
		int call;

		to = ms + phase_ms + (int)below(10 * (unsigned)phase_ms);
		to = to < MS ? to : MS;
		if (what == 0) {
			to = ms + 20 < MS ? ms + 20 : MS;
			moments_set(p, lane, ms, to, -1, -1);
			continue;
		}
		call = call_begin(p, lane, ms, to);
		trace_call(&p->t, thread, what == 1 ? "copy" : "phase", ms * 1e-3, to * 1e-3);
		if (what == 1)
			moments_set(p, lane, ms, to, 90 * uniform(0.9, 1.1), call);
		else
			for (int at = ms; at < to;)
				at = short_call(p, thread, lane, at, to, call, false);
	}
}

/* A queue of long kernels, and one of short ones with pauses. */
static void device_lane(struct program *p, int lane)
{
	track_id queue = trace_queue(&p->t, "gpu0", lane);

	for (int ms = 0, to; ms < MS; ms = to) {
		if (lane == 0 && below(3)) {
			to = ms + phase_ms + (int)below(10 * (unsigned)phase_ms);
			to = to < MS ? to : MS;
			trace_work(&p->t, queue, "long", ms * 1e-3, to * 1e-3);
			moments_set(p, lane, ms, to, 200 * uniform(0.9, 1.1),
				    call_begin(p, lane, ms, to));
		} else if (below(3)) {
			to = short_call(p, queue, lane, ms, MS, -1, true);
		} else {
			to = ms + 5 < MS ? ms + 5 : MS;
			moments_set(p, lane, ms, to, -1, -1);
		}
	}
}

/* Host: those that run share the device equally. Device: powers add up over a static one. */
static double moment_truth(struct program *p, int ms, bool device)
{
	int active = 0;
	double w = device ? STATIC_W : 0;

	for (int l = 0; l < LANES; l++)
		active += p->at[l * MS + ms].w >= 0;
	for (int l = 0; l < LANES; l++) {
		const struct moment *m = &p->at[l * MS + ms];
		double mine;

		if (m->w < 0)
			continue;
		mine = device ? m->w + STATIC_W / active : m->w / active;
		w += device ? m->w : mine;
		if (m->call >= 0)
			p->calls[m->call].truth_j += mine * 1e-3;
	}
	return active || device ? w : IDLE_W;
}

static void program_finish(struct program *p, bool device)
{
	double j = 0;

	for (int ms = 0; ms < MS; ms++) {
		if (ms % PERIOD_MS == 0)
			p->t.s->ops->sample(p->t.s, p->counter, ns(ms * 1e-3), j * 1e6);
		j += moment_truth(p, ms, device) * 1e-3;
	}
	p->t.s->ops->sample(p->t.s, p->counter, ns(MS * 1e-3), j * 1e6);
	trace_finish(&p->t);
}

static void host_program(struct program *p, uint64_t with_seed)
{
	program_begin(p, with_seed);
	for (int l = 0; l < LANES; l++)
		host_lane(p, l);
	program_finish(p, false);
}

static void device_program(struct program *p, uint64_t with_seed)
{
	program_begin(p, with_seed);
	for (int l = 0; l < LANES; l++)
		device_lane(p, l);
	program_finish(p, true);
}

/* ---- what the table says ---- */

struct score {
	int rows, by_time, by_power;
	double time_error, power_error, power_width; /* relative, sums */
};

static const struct long_call *call_of(const struct program *p, const struct table *t, size_t r)
{
	int64_t start_ns = table_get_i64(t, r, (size_t)table_find_col(t, "start_ns"));
	int64_t ns = table_get_i64(t, r, (size_t)table_find_col(t, "duration_ns"));

	for (int i = 0; i < p->nr_calls; i++) {
		const struct long_call *c = &p->calls[i];

		if (c->from_ms * INT64_C(1000000) == start_ns &&
		    (c->to_ms - c->from_ms) * INT64_C(1000000) == ns)
			return c;
	}
	return NULL;
}

static void score_add(struct score *s, const struct program *p, const struct table *t,
		      const char *view)
{
	for (size_t r = 0; r < table_rows(t); r++) {
		const struct long_call *c = call_of(p, t, r);
		double time_j = num_of(t, r, "inclusive_j"), power_j = num_of(t, r, "modelled_j");

		if (strcmp(str_of(t, r, "view"), view) != 0)
			continue;
		assert_non_null(c);
		s->rows++;
		s->by_time += fabs(time_j - c->truth_j) <= num_of(t, r, "uncertainty_j");
		s->by_power += fabs(power_j - c->truth_j) <= num_of(t, r, "modelled_uncertainty_j");
		s->time_error += fabs(time_j / c->truth_j - 1);
		s->power_error += fabs(power_j / c->truth_j - 1);
		s->power_width += num_of(t, r, "modelled_uncertainty_j") / c->truth_j;
	}
}

static struct score score_of(void (*make)(struct program *p, uint64_t with_seed), const char *view,
			     size_t log_entries)
{
	struct analysis_opts o = { .energy = { .log_entries = log_entries } };
	struct score s = { 0 };

	for (uint64_t n = 0; n < 12; n++) {
		struct program p;

		make(&p, 1000 + n);
		CLEANUP(table_set_release) struct table_set ts = run(p.t.m, "energy", &o);

		score_add(&s, &p, table_set_find(&ts, "energy_calls"), view);
		program_release(&p);
	}
	s.time_error /= s.rows;
	s.power_error /= s.rows;
	s.power_width /= s.rows;
	print_message("# %s: %d calls; in their interval by time %d, by power %d; error by time "
		      "%.2f %%, by power %.2f %%, half-width by power %.2f %%\n",
		      view, s.rows, s.by_time, s.by_power, 100 * s.time_error, 100 * s.power_error,
		      100 * s.power_width);
	return s;
}

TEST(phases_of_two_processes)
{
	phase_ms = 60;
	struct score s = score_of(host_program, "host", 0);

	assert_true(s.rows >= 12 * 30);
	assert_true(s.by_time >= 0.935 * s.rows);
	assert_true(s.by_power >= 0.935 * s.rows);
	assert_true(s.power_error < 0.5 * s.time_error);
	assert_true(s.power_width < 0.15);
}

TEST(kernels_beside_others)
{
	phase_ms = 60;
	struct score s = score_of(device_program, "device", 0);

	assert_true(s.rows >= 12 * 15);
	assert_true(s.by_time >= 0.935 * s.rows);
	assert_true(s.by_power >= 0.935 * s.rows);
	assert_true(s.power_error < s.time_error);
	assert_true(s.power_width < 0.15);
}

/* Of a sample of the intervals: short phases are left out, of long ones it tells the rest. */
TEST(few_of_the_intervals)
{
	phase_ms = 1500;
	struct score all = score_of(host_program, "host", 0);
	struct score few = score_of(host_program, "host", 800);

	assert_true(few.rows < all.rows);
	assert_true(few.rows >= 12);
	assert_true(few.by_time >= 0.935 * few.rows);
	assert_true(few.by_power >= 0.935 * few.rows);
	assert_true(few.power_width < 0.3);
}

/* A counter that is sampled from one time to another, at 100 W. */
static struct trace sampled_trace(double from_s, double to_s, double period_s)
{
	struct trace t = trace_new();
	series_id counter = trace_series(&t, COUNTER, "#", SERIES_CUMULATIVE);

	for (double t_s = from_s; t_s <= to_s + period_s / 2; t_s += period_s)
		t.s->ops->sample(t.s, counter, ns(t_s), 1e8 * t_s);
	return t;
}

/* What the table holds of the longest calls: how many, which, in which order. */
TEST(which_calls)
{
	CLEANUP(trace_release) struct trace t = sampled_trace(0, 10, 0.01);
	track_id thread = trace_thread(&t, "n", 1, 1);

	trace_call(&t, thread, "main", 0, 10);
	for (int i = 0; i < 40; i++) {
		trace_call(&t, thread, "step", i * 0.25, i * 0.25 + 0.1 + i * 0.001);
		trace_call(&t, thread, "tick", i * 0.25 + 0.2, i * 0.25 + 0.239);
	}
	trace_finish(&t);
	CLEANUP(table_set_release) struct table_set ts = run(t.m, "energy", NULL);
	const struct table *c = table_set_find(&ts, "energy_calls");

	/* main, the 20 longest steps; ticks last less than four periods */
	assert_int_equal(table_rows(c), 21);
	assert_string_equal(str_of(c, 0, "name"), "main");
	assert_near(num_of(c, 0, "best_j"), 1000, 1e-6);
	assert_near(num_of(c, 0, "best_uncertainty_j"), 0, 1e-6);
	assert_near(num_of(c, 0, "mean_w"), 100, 1e-6);
	for (size_t r = 1; r < table_rows(c); r++) {
		assert_string_equal(str_of(c, r, "name"), "step");
		assert_near(num_of(c, r, "best_j"), 100 * 0.139 - 0.1 * (double)(r - 1), 0.2);
		assert_near(num_of(c, r, "covered"), 1, 1e-9);
	}
}

/* A call that begins before the first sample has what was sampled, and says so. */
TEST(outside_the_samples)
{
	CLEANUP(trace_release) struct trace t = sampled_trace(5, 10, 0.01);

	trace_call(&t, trace_thread(&t, "n", 1, 1), "main", 0, 8);
	trace_finish(&t);
	CLEANUP(table_set_release) struct table_set ts = run(t.m, "energy", NULL);
	const struct table *c = table_set_find(&ts, "energy_calls");

	assert_int_equal(table_rows(c), 1);
	assert_near(num_of(c, 0, "inclusive_j"), 300, 1e-6);
	assert_near(num_of(c, 0, "mean_w"), 100, 1e-6);
	assert_string_equal(str_of(c, 0, "flags"), "outside_samples");
}

/* Calls that overlap partly: what outlives its caller belongs to the call, too. */
TEST(calls_that_outlive_their_caller)
{
	CLEANUP(trace_release) struct trace t = sampled_trace(0, 10, 0.1);
	track_id thread = trace_thread(&t, "n", 1, 1);

	trace_call(&t, thread, "a", 0, 6);
	trace_call(&t, thread, "b", 2, 9);
	trace_finish(&t);
	CLEANUP(table_set_release) struct table_set ts = run(t.m, "energy", NULL);
	const struct table *c = table_set_find(&ts, "energy_calls");

	assert_int_equal(table_rows(c), 2);
	assert_string_equal(str_of(c, 0, "name"), "b");
	assert_near(num_of(c, 0, "inclusive_j"), 700, 1e-6);
	/* what ran below a while it was open: all of its time */
	assert_near(num_of(c, 1, "inclusive_j"), 600, 1e-6);
}
