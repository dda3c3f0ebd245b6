/*
 * Energy by power in the tables: programs of short calls whose powers are known, sampled by a
 * counter that is much slower than they are.
 */
#include "power_program.h"

/* A thread that calls at random, idle at times. */
static void host_program(struct program *p, uint64_t with_seed, double end_s)
{
	track_id thread;

	program_begin(p, with_seed);
	thread = trace_thread(&p->t, "n", 1, 1);
	p->end_s = end_s;
	for (double t_s = 0; t_s < end_s;) {
		int c = (int)below(CLASSES);
		double d_s = fmin(uniform(0.002, 0.006), end_s - t_s);
		double w = p->power_w[c] * uniform(0.9, 1.1);

		if (below(10) == 0) {
			power_between(p, t_s, t_s + d_s, IDLE_W);
		} else {
			trace_call(&p->t, thread, p->names[c], t_s, t_s + d_s);
			power_between(p, t_s, t_s + d_s, w);
			p->truth_j[c] += w * d_s;
		}
		t_s += d_s;
	}
	program_sample(p);
}

/* Two queues side by side over a static power. */
static void device_program(struct program *p, uint64_t with_seed, double end_s)
{
	struct pieces work[2] = { { VEC_INIT }, { VEC_INIT } };

	program_begin(p, with_seed);
	p->end_s = end_s;
	power_between(p, 0, end_s + 1, STATIC_W);
	for (int q = 0; q < 2; q++) {
		track_id queue = trace_queue(&p->t, "gpu0", q);

		for (double t_s = 0; t_s < end_s;) {
			int c = (int)below(CLASSES);
			double d_s = fmin(uniform(0.002, 0.006), end_s - t_s);

			if (below(3)) {
				trace_work(&p->t, queue, p->names[c], t_s, t_s + d_s);
				piece_add(p, &work[q], t_s, t_s + d_s, p->power_w[c],
					  &p->truth_j[c]);
			}
			t_s += d_s;
		}
	}
	pieces_share(work);
	VEC_RELEASE(&work[0].v);
	VEC_RELEASE(&work[1].v);
	program_sample(p);
}

/* ---- what the tables say ---- */

struct errors {
	double by_time, by_power; /* mean of the relative ones */
	double width;
	int rows, covered;
};

static struct errors errors_of(const struct program *p, const struct table *e, const char *view)
{
	double time_j[CLASSES] = { 0 }, power_j[CLASSES] = { 0 }, width_j[CLASSES] = { 0 };
	struct errors ret = { 0 };

	for (size_t r = 0; r < table_rows(e); r++) {
		int c = class_named(str_of(e, r, "name"));

		if (c < 0 || strcmp(str_of(e, r, "view"), view) != 0)
			continue;
		time_j[c] += num_of(e, r, "exclusive_j");
		power_j[c] += num_of(e, r, "modelled_j");
		width_j[c] += num_of(e, r, "modelled_uncertainty_j");
		assert_string_equal(str_of(e, r, "separable"), "yes");
	}
	for (int c = 0; c < CLASSES; c++) {
		ret.by_time += fabs(time_j[c] / p->truth_j[c] - 1) / CLASSES;
		ret.by_power += fabs(power_j[c] / p->truth_j[c] - 1) / CLASSES;
		ret.width += width_j[c] / p->truth_j[c] / CLASSES;
		ret.covered += fabs(power_j[c] - p->truth_j[c]) <= width_j[c];
	}
	return ret;
}

static void assert_better(const struct errors *e, double than_time)
{
	print_message("# by time %.2f %%, by power %.2f %%, width %.2f %%, covered %d of %d\n",
		      100 * e->by_time, 100 * e->by_power, 100 * e->width, e->covered, CLASSES);
	assert_true(e->by_power < than_time * e->by_time);
	assert_true(e->covered >= CLASSES - 1);
	assert_true(e->width < 0.1);
}

/* What a name draws over time comes to its energy. */
static void assert_timeline(const struct table_set *ts, const char *view)
{
	const struct table *e = table_set_find(ts, "energy");
	const struct table *t = table_set_find(ts, "power_timeline");
	double sum_j[CLASSES] = { 0 };

	for (size_t r = 0; r < table_rows(t); r++) {
		int c = class_named(str_of(t, r, "name"));

		if (c >= 0 && strcmp(str_of(t, r, "view"), view) == 0)
			sum_j[c] += num_of(t, r, "modelled_w") * 1e-9 *
				    (double)table_get_i64(t, r, (size_t)table_find_col(t, "dt_ns"));
	}
	for (size_t r = 0; r < table_rows(e); r++) {
		int c = class_named(str_of(e, r, "name"));

		if (c >= 0 && strcmp(str_of(e, r, "view"), view) == 0)
			sum_j[c] -= num_of(e, r, "modelled_j");
	}
	for (size_t r = 0; r < table_rows(e); r++) {
		int c = class_named(str_of(e, r, "name"));

		if (c >= 0 && strcmp(str_of(e, r, "view"), view) == 0)
			assert_true(fabs(sum_j[c]) < 0.01 * num_of(e, r, "modelled_j"));
	}
}

TEST(functions_of_a_thread)
{
	struct program p;

	host_program(&p, 1, 20);
	CLEANUP(table_set_release) struct table_set ts = run(p.t.m, "energy", NULL);
	const struct table *e = table_set_find(&ts, "energy");
	const struct table *fit = table_set_find(&ts, "energy_fit");
	struct errors errors = errors_of(&p, e, "host");
	size_t last = table_rows(e) - 1;

	assert_better(&errors, 0.1);
	assert_balance(&ts);
	assert_timeline(&ts, "host");
	assert_best_paths(&ts, NULL);
	assert_string_equal(str_of(table_set_find(&ts, "energy_callpaths"), 0, "estimate"),
			    "power");
	assert_string_equal(str_of(fit, 0, "used"), "power");
	assert_true(num_of(fit, 0, "explained") > 0.9);
	/* idle time is charged its own power, not that of its neighbours */
	assert_string_equal(str_of(e, last, "name"), "[unattributed]");
	assert_near(num_of(e, last, "modelled_w"), IDLE_W, 10);
	program_release(&p);
}

TEST(work_of_two_queues)
{
	struct program p;

	device_program(&p, 2, 20);
	CLEANUP(table_set_release) struct table_set ts = run(p.t.m, "energy", NULL);
	const struct table *e = table_set_find(&ts, "energy");
	struct errors errors = errors_of(&p, e, "device");

	assert_better(&errors, 0.1);
	assert_balance(&ts);
	assert_best_paths(&ts, NULL);
	assert_timeline(&ts, "device");
	for (size_t r = 0; r < table_rows(e); r++) {
		if (strcmp(str_of(e, r, "name"), "[unattributed]") == 0 &&
		    strcmp(str_of(e, r, "view"), "device") == 0)
			assert_near(num_of(e, r, "modelled_w"), STATIC_W, 8);
	}
	program_release(&p);
}

/* A sample of the intervals says the same, within what both claim, and keeps the sum. */
TEST(few_of_the_intervals)
{
	struct analysis_opts o = { .energy = { .log_entries = 500 } };
	struct program p;

	host_program(&p, 3, 40);
	CLEANUP(table_set_release) struct table_set all = run(p.t.m, "energy", NULL);
	CLEANUP(table_set_release) struct table_set few = run(p.t.m, "energy", &o);
	const struct table *a = table_set_find(&all, "energy"), *f = table_set_find(&few, "energy");
	struct errors errors = errors_of(&p, f, "host");
	const struct table *fit = table_set_find(&few, "energy_fit");

	assert_balance(&few);
	assert_better(&errors, 0.2);
	assert_int_equal(table_rows(a), table_rows(f));
	assert_true(table_get_u64(fit, 0, (size_t)table_find_col(fit, "intervals")) < 1200);
	assert_true(table_get_u64(fit, 0, (size_t)table_find_col(fit, "intervals")) > 200);
	program_release(&p);
}

TEST(only_by_time)
{
	struct analysis_opts o = { .energy = { .estimate = ESTIMATE_TIME } };
	struct program p;

	host_program(&p, 4, 2);
	CLEANUP(table_set_release) struct table_set ts = run(p.t.m, "energy", &o);
	const struct table *e = table_set_find(&ts, "energy");

	assert_null(table_set_find(&ts, "energy_fit"));
	for (size_t r = 0; r < table_rows(e); r++) {
		assert_true(isnan(num_of(e, r, "modelled_j")));
		assert_string_equal(str_of(e, r, "separable"), "");
	}
	assert_best_paths(&ts, "time");
	program_release(&p);
}

/* Calls of minutes: nothing to tell apart inside an interval, both ways agree. */
TEST(long_calls)
{
	CLEANUP(trace_release) struct trace t = trace_new();
	series_id counter = trace_series(&t, COUNTER, "#", SERIES_CUMULATIVE);

	for (int i = 0; i <= 1000; i++)
		t.s->ops->sample(t.s, counter, ns(i * 0.1),
				 (i <= 500 ? i * 10.0 : 5000 + (i - 500) * 30.0) * 1e6);
	trace_add(&t, "rank 1/1: a 0-50 b 50-100\n");
	trace_finish(&t);
	CLEANUP(table_set_release) struct table_set ts = run(t.m, "energy", NULL);
	const struct table *e = table_set_find(&ts, "energy");

	for (size_t r = 0; r < table_rows(e); r++)
		assert_near(num_of(e, r, "modelled_j"), num_of(e, r, "exclusive_j"), 1e-6 * 20000);
	assert_best_paths(&ts, NULL);
}

/* Calls that begin and end with a sample: by time nothing is open, by power calls of one name
 * differ. Power where it is asked for. */
TEST(paths_of_long_calls)
{
	struct analysis_opts o = { .energy = { .estimate = ESTIMATE_POWER } };
	struct program p;
	track_id thread;

	program_begin(&p, 11);
	thread = trace_thread(&p.t, "n", 1, 1);
	for (; p.end_s < 60; p.end_s += 1.23) {
		int c = (int)below(4);

		trace_call(&p.t, thread, p.names[c], p.end_s, p.end_s + 1.23);
		power_between(&p, p.end_s, p.end_s + 1.23, p.power_w[c] * uniform(0.7, 1.3));
	}
	program_sample(&p);
	CLEANUP(table_set_release) struct table_set ts = run(p.t.m, "energy", NULL);
	CLEANUP(table_set_release) struct table_set power = run(p.t.m, "energy", &o);

	assert_string_equal(str_of(table_set_find(&ts, "energy_fit"), 0, "used"), "power");
	assert_best_paths(&ts, "time");
	assert_best_paths(&power, "power");
	program_release(&p);
}

/* The example of docs/energy.md: f draws 100 W, g 300 W. */
TEST(example_of_the_docs)
{
	CLEANUP(trace_release) struct trace t = trace_new();
	series_id counter = trace_series(&t, COUNTER, "#", SERIES_CUMULATIVE);
	static const double counted_j[] = { 0, 1.4, 4.0, 6.0, 7.8 };

	for (int i = 0; i <= 4; i++)
		t.s->ops->sample(t.s, counter, ns(i * 0.01), counted_j[i] * 1e6);
	trace_add(&t, "rank 1/1: f 0-0.008 g 0.008-0.018 f 0.018-0.020 f 0.020-0.025 g "
		      "0.025-0.030 f 0.030-0.036 g 0.036-0.040\n");
	trace_finish(&t);
	CLEANUP(table_set_release) struct table_set ts = run(t.m, "energy", NULL);

	const struct table *e = table_set_find(&ts, "energy");

	expect_table(e, "name\ng\nf\n[unattributed]\n");
	assert_near(num_of(e, 0, "exclusive_j"), 4.08, 1e-9);
	assert_near(num_of(e, 1, "exclusive_j"), 3.72, 1e-9);
	assert_near(num_of(e, 0, "modelled_j"), 5.7, 1e-4);
	assert_near(num_of(e, 1, "modelled_j"), 2.1, 1e-4);
	assert_near(num_of(e, 0, "modelled_w"), 300, 0.01);
	assert_near(num_of(e, 1, "modelled_w"), 100, 0.01);
}

/* ---- processes that share the device ---- */

#define MS 20000
#define PROCESSES 3

/* One ms of a process: the class that runs, −1: none, and the power of that call. */
struct moment {
	int c;
	double w;
};

struct shared {
	struct program p;
	int processes, ms;
	struct moment *m; /* [process][ms] */
	double row_j[PROCESSES][CLASSES];
};

static void process_make(struct shared *x, int k, double vary, double factor)
{
	track_id thread = trace_thread(&x->p.t, "n", k + 1, 1);

	for (int at = 0, length; at < x->ms; at += length) {
		int c = (int)below(CLASSES + 2);
		double w = c < CLASSES ? factor * x->p.power_w[c] * uniform(1 - vary, 1 + vary) : 0;

		length = 2 + (int)below(5);
		length = length < x->ms - at ? length : x->ms - at;
		for (int i = 0; i < length; i++)
			x->m[k * x->ms + at + i] = (struct moment){ c < CLASSES ? c : -1, w };
		if (c < CLASSES)
			trace_call(&x->p.t, thread, x->p.names[c], at * 1e-3, (at + length) * 1e-3);
	}
}

/* Those that run share the device equally: a call draws its power times its share. */
static double moment_power(struct shared *x, int at)
{
	double w = 0;
	int active = 0;

	for (int k = 0; k < x->processes; k++)
		active += x->m[k * x->ms + at].c >= 0;
	for (int k = 0; k < x->processes; k++) {
		const struct moment *now = &x->m[k * x->ms + at];

		if (now->c < 0)
			continue;
		w += now->w / active;
		x->p.truth_j[now->c] += now->w / active * 1e-3;
		x->row_j[k][now->c] += now->w / active * 1e-3;
	}
	return active ? w : IDLE_W;
}

/* more: by how much of itself a process draws more than the one before it. */
static void shared_program(struct shared *x, uint64_t with_seed, int processes, int ms, double vary,
			   double more)
{
	CLEANUP(xfreep)
	struct moment *m = xcalloc((size_t)processes * (size_t)ms, sizeof(*m));

	*x = (struct shared){ .processes = processes, .ms = ms, .m = m };
	program_begin(&x->p, with_seed);
	x->p.end_s = ms * 1e-3;
	for (int k = 0; k < processes; k++)
		process_make(x, k, vary, 1 + k * more);
	for (int i = 0; i < ms; i++)
		power_between(&x->p, i * 1e-3, (i + 1) * 1e-3, moment_power(x, i));
	program_sample(&x->p);
	x->m = NULL;
}

TEST(two_processes)
{
	struct shared x;

	shared_program(&x, 5, 2, MS, 0, 0);
	CLEANUP(table_set_release) struct table_set ts = run(x.p.t.m, "energy", NULL);
	struct errors errors = errors_of(&x.p, table_set_find(&ts, "energy"), "host");

	assert_better(&errors, 0.05);
	assert_balance(&ts);
	assert_timeline(&ts, "host");
	program_release(&x.p);
}

/* Rows of each process: "rank 1/thread 1". */
static void count_covered(const struct shared *x, const struct table *e, int *rows, int *covered)
{
	for (size_t r = 0; r < table_rows(e); r++) {
		int c = class_named(str_of(e, r, "name"));
		const char *track = str_of(e, r, "track");
		int k = strncmp(track, "rank ", 5) == 0 ? track[5] - '1' : 0;
		double truth;

		if (c < 0)
			continue;
		truth = x->row_j[k][c];
		++*rows;
		/* by time a row of several that share the device knows nothing of the others */
		assert_string_equal(str_of(e, r, "estimate"), "power");
		*covered += fabs(num_of(e, r, "modelled_j") - truth) <=
			    num_of(e, r, "modelled_uncertainty_j");
	}
}

/*
 * Rows of one name on several tracks: each is within its own interval, not only their sum. With
 * more, the same functions draw more in one process than in the other, by a little or by much.
 */
TEST(rows_are_covered)
{
	static const struct {
		int ms;
		double vary, more;
		int runs;
	} cases[] = {
		{ MS, .17, 0, 12 },    { MS, .17, .4, 12 },   { 1500, .1, .05, 30 },
		{ 1500, .1, .4, 30 },  { 1500, .3, .2, 30 },  { 4000, .1, .05, 20 },
		{ 4000, .1, .4, 20 },  { 4000, .3, .1, 20 },  { 12000, .3, .05, 12 },
		{ 12000, .3, .4, 12 }, { 12000, .1, .2, 12 },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		int rows = 0, covered = 0, runs = cases[i].runs;

		for (int n = 0; n < runs; n++) {
			struct shared x;

			shared_program(&x, 100 + (uint64_t)n, PROCESSES, cases[i].ms, cases[i].vary,
				       cases[i].more);
			CLEANUP(table_set_release)
			struct table_set ts = run(x.p.t.m, "energy", NULL);

			int before = covered;

			count_covered(&x, table_set_find(&ts, "energy"), &rows, &covered);
			/* no run is wrong as a whole */
			if (covered - before < PROCESSES * CLASSES / 2)
				ROW_FAIL(i, "run %d: %d rows are covered", n, covered - before);
			program_release(&x.p);
		}
		print_message("# %d ms, %.0f %% from call to call, %.0f %% of processes: %d of %d "
			      "rows\n",
			      cases[i].ms, 100 * cases[i].vary, 100 * cases[i].more, covered, rows);
		if (rows != runs * PROCESSES * CLASSES || covered < rows * 0.98)
			ROW_FAIL(i, "%d of %d rows are covered", covered, rows);
	}
}
