/*
 * Energy by power where a function, or kernel, has several: by call path, by launch, and in the
 * calls that were not sampled.
 */
#include "power_program.h"

#define PART_RUNS 60

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
