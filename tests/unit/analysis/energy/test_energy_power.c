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

/* Work on a queue, and where its energy is summed up. */
struct piece {
	double from_s, to_s;
	double *truth_j;
};

struct pieces {
	VEC(struct piece) v;
};

/* A piece that draws w over the static power, which it has alone so far. */
static void piece_add(struct program *p, struct pieces *to, double from_s, double to_s, double w,
		      double *truth_j)
{
	power_between(p, from_s, to_s, w);
	*truth_j += (w + STATIC_W) * (to_s - from_s);
	VEC_PUSH(&to->v, ((struct piece){ from_s, to_s, truth_j }));
}

/* Two queues have half of the static power each while both run. */
static void pieces_share(const struct pieces work[2])
{
	for (size_t i = 0; i < work[0].v.nr; i++) {
		for (size_t k = 0; k < work[1].v.nr; k++) {
			const struct piece *a = &work[0].v.v[i], *b = &work[1].v.v[k];
			double both_s = fmin(a->to_s, b->to_s) - fmax(a->from_s, b->from_s);

			if (both_s <= 0)
				continue;
			*a->truth_j -= STATIC_W / 2 * both_s;
			*b->truth_j -= STATIC_W / 2 * both_s;
		}
	}
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
	assert_balance(&ts);
	program_release(&p);
}

/* ---- a kernel that draws more with one grid than with the other ---- */

enum { KERNEL_F, KERNEL_G, KERNEL_H, KERNELS };
#define OTHER_W 200.0 /* of g and h */

struct launches {
	struct program p;
	double small_w, large_w;  /* of f, by its grid */
	double row_j[2][KERNELS]; /* by queue */
};

static void kernel_add(struct trace *t, track_id queue, const char *name, const char *args,
		       double from_s, double to_s)
{
	struct span_def d = { .track = queue,
			      .start_ns = ns(from_s),
			      .end_ns = ns(to_s),
			      .name = sink_puts(t->s, name),
			      .kind = SPAN_KERNEL,
			      .args = args ? sink_puts(t->s, args) : STR_NONE };

	t->s->ops->span(t->s, &d);
}

/*
 * f has large grids mostly where g runs beside it, small ones mostly where h does: with one power
 * for f, g and h seem to draw what tells its grids apart. told: recordings tell the grid.
 */
static void queue_launches(struct launches *x, int q, bool told, struct pieces *work)
{
	static const char *const names[] = { "f", "g", "h" };
	track_id queue = trace_queue(&x->p.t, "gpu0", q);
	unsigned nr = 0;

	for (double t_s = 0; t_s < x->p.end_s;) {
		double d_s = fmin(uniform(0.002, 0.006), x->p.end_s - t_s);
		bool large_phase = (int)(t_s * (q ? 3 : 2)) % 2;
		bool large = below(10) == 0 ? !large_phase : large_phase;
		int what = (int)below(5), k = what < 3      ? KERNEL_F
					      : large_phase ? KERNEL_G
							    : KERNEL_H;
		char args[96];

		snprintf(args, sizeof(args), "{\"id\":%u,\"grid\":[%d,1,1]}", nr++,
			 large ? 512 : 8);
		if (what < 4) {
			double w = k != KERNEL_F ? OTHER_W : large ? x->large_w : x->small_w;

			w *= uniform(0.95, 1.05);
			kernel_add(&x->p.t, queue, names[k], told ? args : NULL, t_s, t_s + d_s);
			piece_add(&x->p, work, t_s, t_s + d_s, w, &x->row_j[q][k]);
		}
		t_s += d_s;
	}
}

static void launches_make(struct launches *x, double small_w, double large_w, bool told)
{
	struct pieces work[2] = { { VEC_INIT }, { VEC_INIT } };

	*x = (struct launches){ .small_w = small_w, .large_w = large_w };
	program_begin(&x->p, 11);
	x->p.end_s = 20;
	power_between(&x->p, 0, x->p.end_s + 1, STATIC_W);
	for (int q = 0; q < 2; q++)
		queue_launches(x, q, told, &work[q]);
	pieces_share(work);
	VEC_RELEASE(&work[0].v);
	VEC_RELEASE(&work[1].v);
	program_sample(&x->p);
}

/* The largest relative error of a row of a queue; *ret_covered: how many intervals hold it. */
static double launches_error(const struct launches *x, const struct table *e, int *ret_covered)
{
	double worst = 0;

	*ret_covered = 0;
	for (size_t r = 0; r < table_rows(e); r++) {
		const char *track = str_of(e, r, "track"), *name = str_of(e, r, "name");
		double truth, off;

		if (strcmp(str_of(e, r, "view"), "device") != 0 || name[1])
			continue;
		truth = x->row_j[track[strlen(track) - 1] - '0'][name[0] - 'f'];
		off = fabs(num_of(e, r, "modelled_j") - truth);
		*ret_covered += off <= num_of(e, r, "modelled_uncertainty_j");
		worst = fmax(worst, off / truth);
		print_message("# %s %s: %.1f of %.1f J, width %.1f\n", track, name,
			      num_of(e, r, "modelled_j"), truth,
			      num_of(e, r, "modelled_uncertainty_j"));
	}
	return worst;
}

struct launches_outcome {
	double worst;
	int covered;
};

static struct launches_outcome launches_run(double small_w, double large_w, bool told)
{
	struct launches_outcome ret;
	struct launches x;

	launches_make(&x, small_w, large_w, told);
	CLEANUP(table_set_release) struct table_set ts = run(x.p.t.m, "energy", NULL);

	ret.worst = launches_error(&x, table_set_find(&ts, "energy"), &ret.covered);
	assert_balance(&ts);
	program_release(&x.p);
	return ret;
}

TEST(launches_of_a_kernel)
{
	struct launches_outcome untold = launches_run(100, 300, false);
	struct launches_outcome told = launches_run(100, 300, true);

	print_message("# worst row %.1f %%, with grids %.1f %%\n", 100 * untold.worst,
		      100 * told.worst);
	assert_int_equal(told.covered, 2 * KERNELS);
	assert_true(untold.covered < 2 * KERNELS);
	assert_true(told.worst < 0.03);
	assert_true(untold.worst > 5 * told.worst);
}

/* Grids that draw the same are no worse than none. */
TEST(launches_that_do_not_matter)
{
	struct launches_outcome told = launches_run(150, 150, true);

	assert_int_equal(told.covered, 2 * KERNELS);
	assert_true(told.worst < 0.02);
}
