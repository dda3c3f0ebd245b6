/*
 * Invariants of a single counter on random samples: 4 to 6 and 11 of docs/energy.md, "What the
 * tests hold".
 */
#include "energy_random.h"
#include "tables_support.h"

#include "profrig/base/sum.h"

#define CASES 600

#define ENERGY_NAME "rocm_smi:::energy_count:device=0"
#define POWER_NAME "rocm_smi:::power_average:device=0"

/* Times that ascend, with holes and bursts. */
static int64_t later(int64_t t_ns)
{
	switch (below(12)) {
	case 0:
		return t_ns + 100000 + below(20000000);
	case 1:
	case 2:
		return t_ns + 1 + below(20);
	default:
		return t_ns + 100000 + below(5000);
	}
}

static struct sampled_value *random_values(size_t n, double (*next)(double before))
{
	struct sampled_value *v = xcalloc(n, sizeof(*v));

	v[0] = (struct sampled_value){ below(1000000), next((double)below(1000000)) };
	for (size_t i = 1; i < n; i++)
		v[i] = (struct sampled_value){ later(v[i - 1].t_ns), next(v[i - 1].v) };
	return v;
}

static double counted(double before)
{
	return before + (double)(1 + below(below(5) ? 100 : 100000));
}

static double read_w(double before)
{
	(void)before;
	return (double)(below(6) ? 100000000 + below(1000000) : below(1400000000));
}

/* One series of these values, and what is known of it. */
struct one_series {
	struct trace t;
	series_id id;
	size_t n;
	struct sampled_value *v;
	struct counter_rules rules;
	struct counter_info ci;
	struct curve c;
};

static void series_begin(struct one_series *x, const char *name, size_t n, struct sampled_value *v,
			 bool change_points)
{
	struct series_def d = { .name = name, .track = TRACK_NONE, .change_points = change_points };

	*x = (struct one_series){ .t = trace_new(), .n = n, .v = v, .rules = COUNTER_RULES_INIT };
	x->id = x->t.s->ops->series(x->t.s, &d);
	for (size_t i = 0; i < n; i++)
		x->t.s->ops->sample(x->t.s, x->id, v[i].t_ns, v[i].v);
}

static void series_finish(struct one_series *x, const struct energy_opts *o)
{
	trace_finish(&x->t);
	counters_learn(x->t.m, &x->rules);
	x->ci = counter_info(x->t.m, x->id);
	assert_int_equal(curve_make(x->t.m, x->id, &x->ci, o, &x->c, NULL), 0);
}

static void series_release(struct one_series *x)
{
	curve_release(&x->c);
	model_free(x->t.m);
	counter_rules_release(&x->rules);
	free(x->v);
}

static int64_t last_ns(const struct one_series *x)
{
	return x->v[x->n - 1].t_ns;
}

static double curve_between(const struct curve *c, int64_t from_ns, int64_t to_ns)
{
	size_t hint = (size_t)below(8), other = 0;

	return curve_at(c, to_ns, &hint) - curve_at(c, from_ns, &other);
}

/* The sample at or before t; t is inside. */
static size_t sample_before(const struct one_series *x, int64_t t_ns)
{
	size_t i = 0;

	while (i + 2 < x->n && x->v[i + 1].t_ns <= t_ns)
		i++;
	return i;
}

/* ---- 4 ---- */

/* By definition: linear between the bracketing samples, the first and the last one's outside. */
static double counter_at(const struct one_series *x, int64_t t_ns)
{
	const struct sampled_value *a, *b;

	if (t_ns <= x->v[0].t_ns)
		return 0;
	if (t_ns >= last_ns(x))
		return (x->v[x->n - 1].v - x->v[0].v) * 1e-6;
	a = &x->v[sample_before(x, t_ns)];
	b = a + 1;
	return (a->v - x->v[0].v +
		(b->v - a->v) * (double)(t_ns - a->t_ns) / (double)(b->t_ns - a->t_ns)) *
	       1e-6;
}

/* A call gets what was counted between its ends, and says how much of it was sampled. */
static void check_calls(const struct one_series *x, const struct energy_opts *o)
{
	const struct model *m = x->t.m;
	CLEANUP(energy_result_release) struct energy_result r;
	double tol = 1e-12 * counter_at(x, INT64_MAX);

	assert_int_equal(energy_attribute(m, x->id, VIEW_HOST, o, &r, NULL), 0);
	for (size_t i = 0; i < m->spans.nr; i++) {
		int64_t from = m->spans.start_ns[i], to = m->spans.end_ns[i];
		bool outside = to > from && (from < x->v[0].t_ns || to > last_ns(x));

		assert_near(r.exclusive_j[i], counter_at(x, to) - counter_at(x, from), tol + 1e-17);
		assert_int_equal(!!(r.marks[i] & SPAN_OUTSIDE), outside);
		from = from > x->v[0].t_ns ? from : x->v[0].t_ns;
		to = to < last_ns(x) ? to : last_ns(x);
		assert_int_equal(r.exclusive_ns[i], to > from ? to - from : 0);
	}
}

static void check_curve(const struct one_series *x)
{
	double total = counter_at(x, INT64_MAX), tol = 1e-12 * total;
	struct counter_scan scan = counter_scan(x->t.m, x->id, &x->ci, 0);
	int64_t gap = 0, span = last_ns(x) - x->v[0].t_ns;

	for (size_t i = 0; i < x->n; i++) {
		assert_near(curve_between(&x->c, INT64_MIN, x->v[i].t_ns),
			    (x->v[i].v - x->v[0].v) * 1e-6, tol);
		if (i > 0 && x->v[i].t_ns - x->v[i - 1].t_ns > gap)
			gap = x->v[i].t_ns - x->v[i - 1].t_ns;
	}
	for (int i = 0; i < 20; i++) {
		int64_t at = x->v[0].t_ns - span / 4 + below(span + span / 2);

		assert_near(curve_between(&x->c, INT64_MIN, at), counter_at(x, at), tol);
	}
	assert_near(curve_between(&x->c, INT64_MIN, INT64_MAX), total, tol);
	assert_int_equal(scan.max_gap_ns, gap);
}

PROPERTY(invariant_04_linear_exact_never_extrapolated)
{
	for (uint64_t k = 0; next_case(&k, 10000000, CASES);) {
		size_t n = 2 + (size_t)below(40);
		struct energy_opts o = { .integration = (enum integration)below(3) };
		CLEANUP(series_release) struct one_series x;
		int64_t at;

		series_begin(&x, ENERGY_NAME, n, random_values(n, counted), below(3) == 0);
		track_id th = trace_thread(&x.t, "node", 1, 1);
		at = x.v[0].t_ns - below(1000000);
		for (int i = 0; i < 12; i++) {
			int64_t end = below(8) ? later(at) : at;

			trace_span_ns(&x.t, th, "f", at, end, SPAN_HOST);
			at = end + below(200000);
		}
		series_finish(&x, &o);
		check_curve(&x);
		check_calls(&x, &o);
	}
}

/* ---- 5 ---- */

/* ∫ of the reading from one sample to another, by the stated rule. */
static double reading_j(const struct one_series *x, size_t from, size_t to, bool holds)
{
	struct sum sum = SUM_INIT;

	for (size_t i = from; i < to; i++)
		sum_add(&sum, (x->v[i].v + (holds ? x->v[i].v : x->v[i + 1].v)) / 2 *
				      (double)(x->v[i + 1].t_ns - x->v[i].t_ns) * 1e-15);
	return sum_value(&sum);
}

/* ∫ of the interpolated reading and the reading itself, at any time inside. */
static void linear_at(const struct one_series *x, int64_t t_ns, double *ret_j, double *ret_w)
{
	size_t i = sample_before(x, t_ns);
	const struct sampled_value *a = &x->v[i], *b = a + 1;
	double dt = (double)(t_ns - a->t_ns);

	*ret_w = (a->v + (b->v - a->v) * dt / (double)(b->t_ns - a->t_ns)) * 1e-6;
	*ret_j = reading_j(x, 0, i, false) + (a->v * 1e-6 + *ret_w) / 2 * dt * 1e-9;
}

static double largest_j(const struct one_series *x, double tau_s)
{
	double w = 0;

	for (size_t i = 0; i < x->n; i++)
		w = fmax(w, x->v[i].v * 1e-6);
	return w * (tau_s * (double)x->n + (double)(last_ns(x) - x->v[0].t_ns) * 1e-9);
}

/* E(a, b) = ∫P dt + τ·(P(b) − P(a)) */
static void check_windows(const struct one_series *x, bool holds, bool linear, double tau_s)
{
	double tol = 1e-11 * largest_j(x, tau_s);

	for (int i = 0; i < 10; i++) {
		size_t a = (size_t)below((int64_t)x->n), b = (size_t)below((int64_t)x->n);
		int64_t from = x->v[a < b ? a : b].t_ns, to = x->v[a < b ? b : a].t_ns;
		double w[2], j[2], want;

		want = reading_j(x, a < b ? a : b, a < b ? b : a, holds) +
		       tau_s * (x->v[a < b ? b : a].v - x->v[a < b ? a : b].v) * 1e-6;
		assert_near(curve_between(&x->c, from, to), want, tol);
		if (!linear)
			continue;
		from = x->v[0].t_ns + below(last_ns(x) - x->v[0].t_ns);
		to = from + below(last_ns(x) - from);
		linear_at(x, from, &j[0], &w[0]);
		linear_at(x, to, &j[1], &w[1]);
		/* inside an interval the slope of its line counts, from its start to the start of
		 * the next: no jumps here */
		assert_near(curve_between(&x->c, from, to), j[1] - j[0] + tau_s * (w[1] - w[0]),
			    tol);
	}
}

static void check_telescope(const struct one_series *x, double tau_s)
{
	int64_t at = x->v[0].t_ns, span = last_ns(x) - at;
	struct sum sum = SUM_INIT;

	while (at < last_ns(x)) {
		int64_t to = at + 1 + below(span / 5 + 1);

		sum_add(&sum, curve_between(&x->c, at, to));
		at = to;
	}
	assert_near(sum_value(&sum), curve_total(&x->c), 1e-11 * largest_j(x, tau_s));
}

PROPERTY(invariant_05_power_is_integrated_as_stated)
{
	for (uint64_t k = 0; next_case(&k, 11000000, CASES);) {
		struct energy_opts o = { .integration = (enum integration)below(3) };
		size_t n = 2 + (size_t)below(40);
		bool changes = below(4) == 0;
		bool holds = changes || o.integration == INTEGRATE_PREVIOUS;
		CLEANUP(series_release) struct one_series x;

		series_begin(&x, POWER_NAME, n, random_values(n, read_w), changes);
		x.rules.tau_s = below(2) ? (double)(1 + below(2000)) * 1e-3 : 0;
		series_finish(&x, &o);
		assert_near(x.c.tau_s, x.rules.tau_s, 0);
		check_windows(&x, holds, !holds && o.integration == INTEGRATE_LINEAR,
			      x.rules.tau_s);
		check_telescope(&x, x.rules.tau_s);
	}
}

/* ---- 6 ---- */

struct backwards {
	double modulus; /* 0: none is declared */
	double *step;   /* what was counted in each interval */
	bool *of;       /* the recorded value goes back there */
	uint64_t back;
};

/* A counter of 32 bits or fewer that wraps around, or is set back. */
static struct sampled_value *backwards_values(size_t n, struct backwards *b)
{
	struct sampled_value *v = xcalloc(n, sizeof(*v));
	double width = (double)(4000000 + below(4290000000)), at = (double)below((int64_t)width);
	bool wraps = below(2), set_back = !wraps;

	b->modulus = wraps && below(2) ? width : 0;
	b->step = xcalloc(n, sizeof(*b->step));
	b->of = xcalloc(n, sizeof(*b->of));
	b->back = 0;
	if (wraps && below(4))
		at = width - (double)(1 + below(2000000));
	v[0] = (struct sampled_value){ below(1000000), at };
	for (size_t i = 1; i < n; i++) {
		double step = (double)(1 + below(100000));

		if (set_back && below(6) == 0)
			at = -1 - step + floor(at * (double)below(1000) / 1000);
		at += step;
		if (wraps && at >= width)
			at -= width;
		at = at < 0 ? 0 : at;
		v[i] = (struct sampled_value){ v[i - 1].t_ns + 1000000 + below(1000000), at };
		b->of[i - 1] = v[i].v < v[i - 1].v;
		b->step[i - 1] = step;
		b->back += b->of[i - 1];
	}
	return v;
}

static void check_backwards(const struct one_series *x, const struct backwards *b)
{
	struct counter_scan scan = counter_scan(x->t.m, x->id, &x->ci, 0);
	bool declared = b->modulus > 0;

	assert_int_equal(scan.wraps, declared ? b->back : 0);
	assert_int_equal(scan.resets, declared ? 0 : b->back);
	assert_int_equal(!!(scan.flags & CF_WRAP), declared && b->back > 0);
	assert_int_equal(!!(x->c.flags & CF_RESET), !declared && b->back > 0);
	assert_int_equal(x->c.n, x->n);
	for (size_t i = 0; i + 1 < x->n; i++) {
		bool lost = b->of[i] && !declared;
		double raw = b->of[i] ? b->step[i] : x->v[i + 1].v - x->v[i].v;

		assert_near(x->c.de[i], lost ? 0 : raw * 1e-6, 1e-15);
		assert_int_equal(x->c.marks ? x->c.marks[i] & (CURVE_RESET | CURVE_DEAD) : 0,
				 lost ? CURVE_RESET | CURVE_DEAD : 0);
	}
}

/* No row has less than nothing, and one that lost energy says so. */
static void check_rows(const struct one_series *x, const struct backwards *b,
		       const struct energy_opts *o)
{
	const struct span_columns *sp = &x->t.m->spans;
	CLEANUP(energy_result_release) struct energy_result r;

	assert_int_equal(energy_attribute(x->t.m, x->id, VIEW_HOST, o, &r, NULL), 0);
	for (size_t s = 0; s < sp->nr; s++) {
		bool lost = false;

		for (size_t i = 0; b->modulus == 0 && i + 1 < x->n; i++)
			lost |= b->of[i] && sp->start_ns[s] < x->v[i + 1].t_ns &&
				sp->end_ns[s] > x->v[i].t_ns;
		assert_true(r.exclusive_j[s] >= 0 && r.inclusive_j[s] >= 0);
		assert_int_equal(!!(r.marks[s] & CURVE_RESET), lost);
	}
	assert_true(r.unattributed_j >= 0);
}

PROPERTY(invariant_06_wrap_and_reset)
{
	uint64_t wraps = 0, resets = 0, cases = test_cases(CASES);

	for (uint64_t k = 0; next_case(&k, 12000000, CASES);) {
		struct energy_opts o = { .independent = below(4) == 0 };
		size_t n = 3 + (size_t)below(40);
		CLEANUP(series_release) struct one_series x;
		struct backwards b;

		series_begin(&x, ENERGY_NAME, n, backwards_values(n, &b), false);
		if (b.modulus > 0)
			VEC_PUSH(&x.rules.v, (struct counter_rule){ .match = "*",
								    .given = RULE_MODULUS,
								    .modulus = b.modulus });
		for (int i = 0; i < 20; i++) {
			int64_t start = below(last_ns(&x));

			trace_span_ns(&x.t, trace_thread(&x.t, "node", 1 + i % 2, 1), "f", start,
				      start + 1 + below(4000000), SPAN_HOST);
		}
		series_finish(&x, &o);
		check_backwards(&x, &b);
		check_rows(&x, &b, &o);
		wraps += b.modulus > 0 && b.back > 0;
		resets += b.modulus <= 0 && b.back > 0;
		free(b.step);
		free(b.of);
	}
	assert_true(wraps > cases / 20 && resets > cases / 4);
}

static double read_below_zero(double before)
{
	(void)before;
	return (double)(below(300000000) - 50000000);
}

/* A reading may be negative, and one whose filter is undone may make an interval so: it is said. */
PROPERTY(invariant_06_negative_power_is_told)
{
	uint64_t negative = 0;

	for (uint64_t k = 0; next_case(&k, 13000000, CASES);) {
		struct energy_opts o = { .integration = (enum integration)below(3) };
		size_t n = 2 + (size_t)below(10);
		bool less = false;
		CLEANUP(series_release) struct one_series x;

		series_begin(&x, POWER_NAME, n,
			     random_values(n, below(2) ? read_below_zero : read_w), false);
		x.rules.tau_s = below(2) ? 0.1 : 0;
		series_finish(&x, &o);
		for (size_t i = 0; i + 1 < x.c.n; i++)
			less |= x.c.de[i] < 0;
		if (less)
			assert_true(x.c.flags & CF_RATE);
		negative += less;
	}
	assert_true(negative > test_cases(CASES) / 4);
}

/* ---- 11 ---- */

static void check_whole(const struct one_series *x)
{
	CLEANUP(table_set_release) struct table_set ts = run(x->t.m, "counters", NULL);
	const struct table *c = table_set_find(&ts, "counters");
	double min = INFINITY, max = -INFINITY;

	for (size_t i = 0; i < x->n; i++) {
		min = fmin(min, x->v[i].v * x->ci.scale);
		max = fmax(max, x->v[i].v * x->ci.scale);
	}
	assert_near(num_of(c, 0, "min"), min, 0);
	assert_near(num_of(c, 0, "max"), max, 0);
}

/* The reading at any time inside, in its unit. */
static double value_at(const struct one_series *x, int64_t t_ns, bool holds)
{
	double j, w;

	if (holds)
		return x->v[sample_before(x, t_ns)].v * x->ci.scale;
	linear_at(x, t_ns, &j, &w);
	return w * 1e6 * x->ci.scale;
}

/* Of one bin: all samples inside, and what the reading is at its ends; returns their number. */
static size_t check_bin(const struct one_series *x, const struct table *t, size_t row,
			enum integration how)
{
	int64_t from = x->t.m->first_ns + (int64_t)num_of(t, row, "t_ns");
	int64_t to = from + (int64_t)num_of(t, row, "dt_ns");
	bool holds = how == INTEGRATE_PREVIOUS;
	double min = num_of(t, row, "min"), max = num_of(t, row, "max");
	double low = value_at(x, from, holds), high = low, tol = 1e-9 * (1 + fabs(max));
	size_t inside = 0;

	if (!holds) {
		low = fmin(low, value_at(x, to, false));
		high = fmax(high, value_at(x, to, false));
	}
	for (size_t i = 0; i < x->n; i++) {
		double v = x->v[i].v * x->ci.scale;

		if (x->v[i].t_ns < from || x->v[i].t_ns >= to)
			continue;
		assert_true(min <= v + tol && max >= v - tol);
		low = fmin(low, v);
		high = fmax(high, v);
		inside++;
	}
	/* spread evenly, an interval shows its mean where it has no sample */
	if (how != INTEGRATE_TRAPEZOID) {
		assert_near(min, low, tol);
		assert_near(max, high, tol);
	}
	return inside;
}

PROPERTY(invariant_11_minmax_of_all_samples_inside)
{
	static const char *const names[] = { POWER_NAME, "rocm_smi:::temp_current:device=0",
					     "rocm_smi:::busy_percent:device=0" };
	uint64_t several = 0, bins = 0;

	for (uint64_t k = 0; next_case(&k, 14000000, CASES);) {
		struct analysis_opts o = { .energy.integration = (enum integration)below(3) };
		size_t n = 3 + (size_t)below(60);
		CLEANUP(series_release) struct one_series x;
		const struct table *t;

		series_begin(&x, names[below(3)], n, random_values(n, read_w), false);
		series_finish(&x, &o.energy);
		check_whole(&x);
		CLEANUP(table_set_release) struct table_set ts = run(x.t.m, "timeline", &o);
		t = table_set_find(&ts, "timeline");
		for (size_t row = 0; row < table_rows(t); row++, bins++)
			several += check_bin(&x, t, row, o.energy.integration) > 1;
	}
	assert_true(several > bins / 100);
}
