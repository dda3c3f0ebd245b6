/*
 * Energy by power in the tables: programs of short calls whose powers are known, sampled by a
 * counter that is much slower than they are.
 */
#include "energy_random.h"
#include "tables_support.h"

#define COUNTER "rocm_smi:::energy_count:device=0"
#define CLASSES 8
#define PERIOD_S 0.01
#define IDLE_W 30.0
#define STATIC_W 80.0
#define PART_RUNS 60

static double uniform(double from, double to)
{
	return from + (to - from) * (double)(random_u64() >> 11) * 0x1p-53;
}

/* ---- a program ---- */

/* Power steps: at t the power of the device changes by w. */
struct power_step {
	double t_s, w;
};

struct program {
	struct trace t;
	series_id counter;
	double power_w[CLASSES], truth_j[CLASSES];
	char names[CLASSES][16];
	VEC(struct power_step) steps;
	double end_s;
};

static void program_begin(struct program *p, uint64_t with_seed)
{
	*p = (struct program){ .t = trace_new() };
	seed = with_seed;
	p->counter = trace_series(&p->t, COUNTER, "#", SERIES_CUMULATIVE);
	for (int c = 0; c < CLASSES; c++) {
		p->power_w[c] = uniform(60, 500);
		snprintf(p->names[c], sizeof(p->names[c]), "f%d", c);
	}
}

static void power_between(struct program *p, double from_s, double to_s, double w)
{
	VEC_PUSH(&p->steps, ((struct power_step){ from_s, w }));
	VEC_PUSH(&p->steps, ((struct power_step){ to_s, -w }));
}

static int step_cmp(const void *a, const void *b)
{
	const struct power_step *x = a, *y = b;

	return (x->t_s > y->t_s) - (x->t_s < y->t_s);
}

/* Samples of the exact integral, in µJ. */
static void program_sample(struct program *p)
{
	double w = 0, j = 0, now_s = 0;
	size_t at = 0;

	qsort(p->steps.v, p->steps.nr, sizeof(*p->steps.v), step_cmp);
	for (int i = 0; i * PERIOD_S < p->end_s + PERIOD_S / 2; i++) {
		double t_s = i * PERIOD_S;

		for (; at < p->steps.nr && p->steps.v[at].t_s <= t_s; at++) {
			j += w * (p->steps.v[at].t_s - now_s);
			w += p->steps.v[at].w;
			now_s = p->steps.v[at].t_s;
		}
		j += w * (t_s - now_s);
		now_s = t_s;
		p->t.s->ops->sample(p->t.s, p->counter, ns(t_s), j * 1e6);
	}
	trace_finish(&p->t);
}

static void program_release(struct program *p)
{
	trace_release(&p->t);
	VEC_RELEASE(&p->steps);
}

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

struct piece {
	double from_s, to_s;
	int c;
};

/* Two queues side by side over a static power; each has half of it while both run. */
static void device_program(struct program *p, uint64_t with_seed, double end_s)
{
	VEC(struct piece) work[2] = { VEC_INIT, VEC_INIT };

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
				power_between(p, t_s, t_s + d_s, p->power_w[c]);
				p->truth_j[c] += (p->power_w[c] + STATIC_W) * d_s;
				VEC_PUSH(&work[q], ((struct piece){ t_s, t_s + d_s, c }));
			}
			t_s += d_s;
		}
	}
	for (size_t i = 0; i < work[0].nr; i++) {
		for (size_t k = 0; k < work[1].nr; k++) {
			double both_s = fmin(work[0].v[i].to_s, work[1].v[k].to_s) -
					fmax(work[0].v[i].from_s, work[1].v[k].from_s);

			if (both_s <= 0)
				continue;
			p->truth_j[work[0].v[i].c] -= STATIC_W / 2 * both_s;
			p->truth_j[work[1].v[k].c] -= STATIC_W / 2 * both_s;
		}
	}
	VEC_RELEASE(&work[0]);
	VEC_RELEASE(&work[1]);
	program_sample(p);
}

/* ---- what the tables say ---- */

struct errors {
	double by_time, by_power; /* mean of the relative ones */
	double width;
	int rows, covered;
};

static int class_named(const char *name)
{
	return name[0] == 'f' ? name[1] - '0' : -1;
}

/* By name: sums over tracks. */
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

static void assert_balance(const struct table_set *ts)
{
	const struct table *t = table_set_find(ts, "energy_totals");

	for (size_t r = 0; r < table_rows(t); r++) {
		double sum = num_of(t, r, "modelled_j") + num_of(t, r, "modelled_unattributed_j");

		assert_near(sum, num_of(t, r, "total_j"), 1e-9 * num_of(t, r, "total_j"));
	}
}

static bool is_of(const struct table *t, size_t r, const struct table *totals, size_t of)
{
	return strcmp(str_of(t, r, "view"), str_of(totals, of, "view")) == 0 &&
	       strcmp(str_of(t, r, "counter"), str_of(totals, of, "counter")) == 0;
}

/* By the columns of `energy`: which of the two is narrower in a counter and view. */
static const char *narrower(const struct table *e, const struct table *totals, size_t of)
{
	double time_j2 = 0, power_j2 = 0;

	for (size_t r = 0; r < table_rows(e); r++) {
		double time_j = num_of(e, r, "uncertainty_j"),
		       power_j = num_of(e, r, "modelled_uncertainty_j");

		if (!is_of(e, r, totals, of) || isnan(time_j + power_j))
			continue;
		time_j2 += time_j * time_j;
		power_j2 += power_j * power_j;
	}
	return power_j2 < time_j2 ? "power" : "time";
}

/* Best of paths: one estimate for a counter and view, whose sum is what was counted. NULL: the
 * narrower. */
static void assert_best_paths(const struct table_set *ts, const char *estimate)
{
	const struct table *e = table_set_find(ts, "energy");
	const struct table *paths = table_set_find(ts, "energy_callpaths");
	const struct table *totals = table_set_find(ts, "energy_totals");

	for (size_t of = 0; of < table_rows(totals); of++) {
		const char *want = estimate ? estimate : narrower(e, totals, of);
		bool power = strcmp(want, "power") == 0;
		double sum_j = 0, total_j = num_of(totals, of, "total_j");

		for (size_t r = 0; r < table_rows(paths); r++) {
			if (!is_of(paths, r, totals, of))
				continue;
			assert_string_equal(str_of(paths, r, "estimate"), want);
			assert_near(num_of(paths, r, "best_j"),
				    num_of(paths, r, power ? "modelled_j" : "exclusive_j"), 0);
			assert_near(
				num_of(paths, r, "best_inclusive_j"),
				num_of(paths, r, power ? "modelled_inclusive_j" : "inclusive_j"),
				0);
			sum_j += num_of(paths, r, "best_j");
		}
		assert_near(sum_j, total_j, 1e-9 * total_j);
	}
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
	double row_j[PROCESSES][CLASSES];
};

static void process_make(struct program *p, int pid, double vary, double factor, struct moment *m)
{
	track_id thread = trace_thread(&p->t, "n", pid, 1);

	for (int at = 0, length; at < MS; at += length) {
		int c = (int)below(CLASSES + 2);
		double w = c < CLASSES ? factor * p->power_w[c] * uniform(1 - vary, 1 + vary) : 0;

		length = 2 + (int)below(5);
		length = length < MS - at ? length : MS - at;
		for (int i = 0; i < length; i++)
			m[at + i] = (struct moment){ c < CLASSES ? c : -1, w };
		if (c < CLASSES)
			trace_call(&p->t, thread, p->names[c], at * 1e-3, (at + length) * 1e-3);
	}
}

/* Those that run share the device equally: a call draws its power times its share. */
static double moment_power(struct shared *x, const struct moment *m, int at, int processes)
{
	double w = 0;
	int active = 0;

	for (int k = 0; k < processes; k++)
		active += m[k * MS + at].c >= 0;
	for (int k = 0; k < processes; k++) {
		const struct moment *now = &m[k * MS + at];

		if (now->c < 0)
			continue;
		w += now->w / active;
		x->p.truth_j[now->c] += now->w / active * 1e-3;
		x->row_j[k][now->c] += now->w / active * 1e-3;
	}
	return active ? w : IDLE_W;
}

/* more: by how much of itself a process draws more than the one before it. */
static void shared_program(struct shared *x, uint64_t with_seed, int processes, double vary,
			   double more)
{
	CLEANUP(xfreep)
	struct moment *m = xcalloc((size_t)processes * MS, sizeof(*m));

	memset(x->row_j, 0, sizeof(x->row_j));
	program_begin(&x->p, with_seed);
	x->p.end_s = MS * 1e-3;
	for (int k = 0; k < processes; k++)
		process_make(&x->p, k + 1, vary, 1 + k * more, &m[k * MS]);
	for (int i = 0; i < MS; i++)
		power_between(&x->p, i * 1e-3, (i + 1) * 1e-3, moment_power(x, m, i, processes));
	program_sample(&x->p);
}

TEST(two_processes)
{
	struct shared x;

	shared_program(&x, 5, 2, 0, 0);
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
		*covered += fabs(num_of(e, r, "modelled_j") - truth) <=
			    num_of(e, r, "modelled_uncertainty_j");
	}
}

static void assert_rows_covered(double more)
{
	int rows = 0, covered = 0;

	for (uint64_t n = 0; n < 12; n++) {
		struct shared x;

		shared_program(&x, 100 + n, PROCESSES, 0.17, more);
		CLEANUP(table_set_release) struct table_set ts = run(x.p.t.m, "energy", NULL);

		count_covered(&x, table_set_find(&ts, "energy"), &rows, &covered);
		program_release(&x.p);
	}
	print_message("# %d of %d rows\n", covered, rows);
	assert_int_equal(rows, 12 * PROCESSES * CLASSES);
	assert_true(covered >= rows * 0.935);
}

/* Rows of one name on several tracks: each is within its own interval, not only their sum. */
TEST(rows_are_covered)
{
	assert_rows_covered(0);
}

/* The same functions draw more in one process than in the other. */
TEST(rows_that_differ_are_covered)
{
	assert_rows_covered(0.4);
}

/* ---- a function that draws more in one path than in the other ---- */

/* a and b call f for most of their time; f draws f_a_w in a, f_b_w in b. */
static void paths_program(struct program *p, uint64_t with_seed, double f_a_w, double f_b_w,
			  double truth_j[2])
{
	track_id thread;

	program_begin(p, with_seed);
	thread = trace_thread(&p->t, "n", 1, 1);
	p->end_s = 20;
	for (double t_s = 0; t_s < p->end_s;) {
		int k = (int)below(3);
		double d_s = fmin(uniform(0.002, 0.006), p->end_s - t_s), f_s = d_s * 0.7;
		double w = (k ? f_b_w : f_a_w) * uniform(0.95, 1.05);

		if (k == 2) {
			trace_call(&p->t, thread, "c", t_s, t_s + d_s);
			power_between(p, t_s, t_s + d_s, 150);
		} else {
			trace_call(&p->t, thread, k ? "b" : "a", t_s, t_s + d_s);
			trace_call(&p->t, thread, "f", t_s, t_s + f_s);
			power_between(p, t_s, t_s + f_s, w);
			power_between(p, t_s + f_s, t_s + d_s, 100);
			truth_j[k] += w * f_s;
		}
		t_s += d_s;
	}
	program_sample(p);
}

static double path_power_j(const struct table_set *ts, const char *path, const char *column)
{
	const struct table *t = table_set_find(ts, "energy_callpaths");

	for (size_t r = 0; r < table_rows(t); r++) {
		if (strcmp(str_of(t, r, "path"), path) == 0)
			return num_of(t, r, column);
	}
	fail_msg("no path %s", path);
	return 0;
}

TEST(paths_of_a_function)
{
	struct program p;
	double truth_j[2] = { 0 };

	paths_program(&p, 7, 400, 200, truth_j);
	CLEANUP(table_set_release) struct table_set ts = run(p.t.m, "energy", NULL);

	print_message("# a;f %.1f of %.1f J, b;f %.1f of %.1f J\n",
		      path_power_j(&ts, "a;f", "modelled_j"), truth_j[0],
		      path_power_j(&ts, "b;f", "modelled_j"), truth_j[1]);
	assert_near(path_power_j(&ts, "a;f", "modelled_j"), truth_j[0], 0.05 * truth_j[0]);
	assert_near(path_power_j(&ts, "b;f", "modelled_j"), truth_j[1], 0.05 * truth_j[1]);
	/* by time all is alike */
	assert_true(path_power_j(&ts, "a;f", "exclusive_j") < 0.9 * truth_j[0]);
	assert_near(path_power_j(&ts, "a;f", "best_j"), truth_j[0], 0.05 * truth_j[0]);
	assert_balance(&ts);
	assert_best_paths(&ts, NULL);
	program_release(&p);
}

/* ---- a long trace of which a part is sampled ---- */

struct part_case {
	double end_s, call_s;
	size_t entries;
	double step; /* of all powers, half-way */
};

/* Calls that differ by 30 %; every 7 s other classes run most. */
static void phases_program(struct program *p, uint64_t with_seed, const struct part_case *k)
{
	double often[CLASSES], phase_s = 0;
	track_id thread;

	program_begin(p, with_seed);
	thread = trace_thread(&p->t, "n", 1, 1);
	p->end_s = k->end_s;
	for (double t_s = 0; t_s < k->end_s;) {
		int c = (int)below(CLASSES);
		double d_s = fmin(uniform(k->call_s / 2, k->call_s * 1.5), k->end_s - t_s);
		double w = p->power_w[c] * uniform(0.7, 1.3) * (t_s > k->end_s / 2 ? k->step : 1);

		for (; phase_s <= t_s; phase_s += 7) {
			for (int i = 0; i < CLASSES; i++)
				often[i] = uniform(0, 1);
		}
		if (uniform(0, 1) > often[c])
			continue;
		trace_call(&p->t, thread, p->names[c], t_s, t_s + d_s);
		power_between(p, t_s, t_s + d_s, w);
		p->truth_j[c] += w * d_s;
		t_s += d_s;
	}
	program_sample(p);
}

/* How many classes are within what is stated, and within half of it. */
struct held {
	int classes, all, half;
	double intervals;
};

static void part_judge(const struct program *p, const struct analysis_opts *o, struct held *h)
{
	CLEANUP(table_set_release) struct table_set ts = run(p->t.m, "energy", o);
	const struct table *e = table_set_find(&ts, "energy");
	const struct table *fit = table_set_find(&ts, "energy_fit");

	for (size_t r = 0; r < table_rows(e); r++) {
		int c = class_named(str_of(e, r, "name"));
		double width_j = num_of(e, r, "modelled_uncertainty_j"), off_j;

		if (c < 0)
			continue;
		off_j = fabs(num_of(e, r, "modelled_j") - p->truth_j[c]);
		h->classes++;
		h->all += off_j <= width_j;
		h->half += off_j <= width_j / 2;
	}
	h->intervals += (double)table_get_u64(fit, 0, (size_t)table_find_col(fit, "intervals"));
}

/*
 * What was not sampled has calls that differ, too, and of long ones that is all there is to know.
 * Where a dozen blocks have a few calls of a class, that is too few to know it.
 */
TEST(a_part_of_a_long_trace)
{
	static const struct part_case rows[] = {
		{ 50, .004, 400, 1 }, { 50, .004, 1600, 1 }, { 100, .02, 800, 1 },
		{ 100, .07, 600, 1 }, { 100, .07, 600, 3 },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct analysis_opts o = { .energy = { .log_entries = rows[i].entries } };
		struct held h = { 0 };

		for (uint64_t n = 0; n < PART_RUNS; n++) {
			struct program p;

			phases_program(&p, 7000 + n, &rows[i]);
			part_judge(&p, &o, &h);
			program_release(&p);
		}
		print_message("# calls of %g ms, %.1f %% sampled: %.1f %% held, by half %.1f %%\n",
			      rows[i].call_s * 1e3,
			      100 * h.intervals * PERIOD_S / (PART_RUNS * rows[i].end_s),
			      100. * h.all / h.classes, 100. * h.half / h.classes);
		if (h.all < 0.935 * h.classes)
			ROW_FAIL(i, "%d of %d classes are held", h.all, h.classes);
		if (h.half >= 0.95 * h.classes)
			ROW_FAIL(i, "half the width holds %d of %d classes", h.half, h.classes);
	}
}
