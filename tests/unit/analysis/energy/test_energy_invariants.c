/*
 * Invariants of attribution on random traces: 1 to 3 and 7 of docs/energy.md, "What the tests
 * hold". Those of a single counter are in test_energy_invariants_counter.c, those of the tables in
 * test_energy_invariants_tables.c.
 */
#include "energy_random.h"
#include "energy_read.h"

#include "profrig/base/sort.h"
#include "profrig/base/sum.h"

#define CASES 600

/* A trace without spans that outlive their parents: one stack on every thread. */
static void random_nested_trace(struct random_trace *x)
{
	random_trace(x);
	while (x->t.m->pieces.nr > 0) {
		random_trace_release(x);
		random_trace(x);
	}
}

/* ---- 1 ---- */

/* What the counter itself says, from the samples as they were written. */
static double recorded_j(const struct random_trace *x)
{
	struct counter_info ci = counter_info(x->t.m, x->id);
	bool gauge = ci.kind == SERIES_GAUGE, filtered = gauge && ci.tau_s > 0;
	bool holds = x->s.change_points || x->o.integration == INTEGRATE_PREVIOUS;
	const struct sampled_value *first = NULL, *before = NULL, *v;
	struct sum sum = SUM_INIT;

	for (size_t i = 0; i < x->s.samples.nr; i++) {
		v = &x->s.samples.v[i];
		if (!isfinite(v->v))
			continue;
		/* of equal times a counter has the last value, at the very start the first */
		for (size_t k = i + 1; !gauge && before && k < x->s.samples.nr; k++)
			if (x->s.samples.v[k].t_ns == v->t_ns && isfinite(x->s.samples.v[k].v))
				v = &x->s.samples.v[k];
		if (!first || (gauge && v->t_ns == first->t_ns))
			first = v;
		if (!gauge && before && v->t_ns == before->t_ns)
			continue;
		if (before && gauge)
			sum_add(&sum, (before->v + (holds ? before->v : v->v)) / 2 *
					      (double)(v->t_ns - before->t_ns) * 1e-9);
		else if (before && v->v >= before->v)
			sum_add(&sum, v->v - before->v);
		before = v;
	}
	if (filtered && before)
		sum_add(&sum, ci.tau_s * (before->v - first->v));
	return sum_value(&sum) * 1e-6;
}

static void check_conservation(const struct random_trace *x, enum energy_view view)
{
	double recorded = recorded_j(x), tol;
	struct sum sum = SUM_INIT;
	CLEANUP(energy_result_release) struct energy_result r;

	energy_attribute(x->t.m, x->id, view, &x->o, &r, NULL);
	for (size_t i = 0; r.exclusive_j && i < x->t.m->spans.nr; i++)
		if (!isnan(r.exclusive_j[i]))
			sum_add(&sum, r.exclusive_j[i]);
	tol = tolerance_of(&r, x->t.m);
	assert_near(r.total_j, recorded, tol);
	assert_near(r.attributed_j, sum_value(&sum), tol);
	assert_near(sum_value(&sum) + r.unattributed_j, recorded, tol);
	assert_true(r.error_rel <= 1e-9 || fabs(r.total_j) < 1e-3);
}

/* Σ exclusive + unattributed = E(last) − E(first) */
PROPERTY(invariant_01_conservation)
{
	for (uint64_t k = 0; next_case(&k, 1000000, CASES);) {
		CLEANUP(random_trace_release) struct random_trace x;

		random_trace(&x);
		x.o.independent = false;
		check_conservation(&x, VIEW_HOST);
		check_conservation(&x, VIEW_DEVICE);
	}
}

/* ---- 2 ---- */

static void check_stacks(const struct random_trace *x, const struct energy_result *r)
{
	const struct model *m = x->t.m;
	struct sum *sum = xcalloc(m->spans.nr, sizeof(*sum)), roots = SUM_INIT;
	double tol = tolerance_of(r, m);

	for (size_t i = m->spans.nr; i-- > 0;) {
		uint64_t parent;

		if (isnan(r->exclusive_j[i]))
			continue;
		sum_add(&sum[i], r->exclusive_j[i]);
		assert_near(r->inclusive_j[i], sum_value(&sum[i]), tol);
		parent = span_parent(&m->spans, i);
		sum_add(parent == SPAN_NONE ? &roots : &sum[parent], r->inclusive_j[i]);
	}
	if (!x->o.independent)
		assert_near(sum_value(&roots) + r->unattributed_j, r->total_j, tol);
	free(sum);
}

/* Inclusive = own exclusive + inclusive of the children; the roots and the rest are the total. */
PROPERTY(invariant_02_inclusive_is_exclusive_plus_children)
{
	uint64_t checked = 0;

	for (uint64_t k = 0; next_case(&k, 2000000, CASES);) {
		CLEANUP(random_trace_release) struct random_trace x;
		CLEANUP(energy_result_release) struct energy_result r;

		random_nested_trace(&x);
		if (energy_attribute(x.t.m, x.id, VIEW_HOST, &x.o, &r, NULL) == 0) {
			check_stacks(&x, &r);
			checked++;
		}
	}
	assert_true(checked > test_cases(CASES) / 2);
}

/* ---- 3 ---- */

#define NAMES 4

/* Of the spans of each name on each track. */
static double *sums_by_name(const struct model *m, const double *j)
{
	double *sums = xcalloc(m->tracks.nr * NAMES, sizeof(*sums));

	for (size_t i = 0; j && i < m->spans.nr; i++) {
		const char *name = model_str(m, m->spans.name[i]);
		size_t k = strcmp(name, "main") == 0    ? 0
			   : strcmp(name, "solve") == 0 ? 1
			   : strcmp(name, "f") == 0     ? 2
							: 3;

		if (!isnan(j[i]))
			sums[m->spans.track[i] * NAMES + k] += j[i];
	}
	return sums;
}

static void same_by_name(const struct model *a, const double *ja, const struct model *b,
			 const double *jb, double tol)
{
	CLEANUP(xfreep) double *sa = sums_by_name(a, ja), *sb = sums_by_name(b, jb);

	for (size_t i = 0; i < a->tracks.nr * NAMES; i++)
		assert_near(sa[i], sb[i], tol);
}

/* Every span that is open at a moment ends and begins again there, callers before callees. */
static struct trace cut_at(const struct random_trace *x, int64_t t_ns)
{
	const struct span_columns *sp = &x->t.m->spans;
	struct trace again = tracks_again(x->t.m);

	for (size_t i = 0; i < sp->nr; i++) {
		const char *name = model_str(x->t.m, sp->name[i]);
		bool cut = sp->start_ns[i] < t_ns && sp->end_ns[i] > t_ns;

		trace_span_ns(&again, sp->track[i], name, sp->start_ns[i],
			      cut ? t_ns : sp->end_ns[i], (enum span_kind)sp->kind[i]);
		if (cut)
			trace_span_ns(&again, sp->track[i], name, t_ns, sp->end_ns[i],
				      (enum span_kind)sp->kind[i]);
	}
	assert_int_equal(push_samples(&again, &x->s), x->id);
	trace_finish(&again);
	return again;
}

/* E[a, c] = E[a, b] + E[b, c], of every function and of the rest. */
PROPERTY(invariant_03_additivity)
{
	for (uint64_t k = 0; next_case(&k, 3000000, CASES);) {
		CLEANUP(random_trace_release) struct random_trace x;

		random_nested_trace(&x);
		CLEANUP(trace_release)
		struct trace cut = cut_at(&x, below(x.p.length) * x.p.unit + below(x.p.unit));
		for (int view = VIEW_HOST; view <= VIEW_DEVICE; view++) {
			struct energy_result a, b;
			double tol;

			energy_attribute(x.t.m, x.id, (enum energy_view)view, &x.o, &a, NULL);
			energy_attribute(cut.m, x.id, (enum energy_view)view, &x.o, &b, NULL);
			tol = tolerance_of(&a, x.t.m);
			same_by_name(x.t.m, a.exclusive_j, cut.m, b.exclusive_j, tol);
			same_by_name(x.t.m, a.inclusive_j, cut.m, b.inclusive_j, 10 * tol);
			assert_near(a.unattributed_j, b.unattributed_j, tol);
			energy_result_release(&a);
			energy_result_release(&b);
		}
	}
}

static bool same_place(const struct model *a, size_t i, const struct model *b, size_t k)
{
	return a->spans.track[i] == b->spans.track[k] &&
	       a->spans.start_ns[i] == b->spans.start_ns[k] &&
	       a->spans.end_ns[i] == b->spans.end_ns[k];
}

static void same_but_for_twins(const struct model *m, const struct energy_result *a,
			       const struct model *again, const struct energy_result *b)
{
	double tol = tolerance_of(a, m);

	assert_near(a->attributed_j, b->attributed_j, tol);
	assert_near(a->unattributed_j, b->unattributed_j, tol);
	/* spans of equal track, start and end may swap: which of them is inside the other is not
	 * said */
	for (size_t i = 0; a->exclusive_j && i < m->spans.nr; i++) {
		assert_true(same_place(m, i, again, i));
		if ((i > 0 && same_place(m, i - 1, m, i)) ||
		    (i + 1 < m->spans.nr && same_place(m, i, m, i + 1)))
			continue;
		same_value(a->exclusive_j[i], b->exclusive_j[i], tol);
		same_value(a->inclusive_j[i], b->inclusive_j[i], tol);
	}
}

PROPERTY(invariant_03_order_of_events)
{
	for (uint64_t k = 0; next_case(&k, 4000000, CASES);) {
		CLEANUP(random_trace_release) struct random_trace x;

		random_trace(&x);
		CLEANUP(trace_release) struct trace again = tracks_again(x.t.m);
		assert_int_equal(push_samples(&again, &x.s), x.id);
		plan_push(&again, &x.p, true);
		trace_finish(&again);
		for (int view = VIEW_HOST; view <= VIEW_DEVICE; view++) {
			struct energy_result a, b;

			energy_attribute(x.t.m, x.id, (enum energy_view)view, &x.o, &a, NULL);
			energy_attribute(again.m, x.id, (enum energy_view)view, &x.o, &b, NULL);
			same_but_for_twins(x.t.m, &a, again.m, &b);
			energy_result_release(&a);
			energy_result_release(&b);
		}
	}
}

/* Of one job in each. Returns how many nodes have energy. */
static size_t same_bits(const struct energy_read *run, size_t job, const struct energy_read *other,
			size_t other_job)
{
	CLEANUP(energy_groups_release) struct energy_groups g;
	size_t compared = 0;

	energy_groups_make(run->p, run->lanes.v, run->lanes.nr, &g);
	for (size_t l = 0; l < g.places.nr; l++) {
		const struct lane_place *p = &g.places.v[l];

		for (uint32_t n = 0; n < (p->mode == LANE_COVER ? p->rows : p->nodes); n++) {
			struct node_energy a = energy_run_value(run->run, job, l, n);
			struct node_energy b = energy_run_value(other->run, other_job, l, n);

			assert_true(a.exclusive_j == b.exclusive_j);
			assert_true(a.share_ns == b.share_ns);
			assert_int_equal(a.exclusive_ns, b.exclusive_ns);
			assert_int_equal(a.marks, b.marks);
			compared += a.exclusive_j > 0;
		}
		for (uint32_t n = 0; n < p->rows; n++) {
			double a = energy_run_uncertainty(run->run, job, l, n);
			double b = energy_run_uncertainty(other->run, other_job, l, n);

			assert_true(a == b || (isnan(a) && isnan(b)));
		}
	}
	return compared;
}

#define COUNTERS 4

/* Which other counters are read in the same run, and when they were sampled, changes no bit. */
PROPERTY(invariant_03_other_counters)
{
	size_t compared = 0;

	for (uint64_t k = 0; next_case(&k, 7000000, CASES / 2);) {
		struct energy_job jobs[COUNTERS];
		struct energy_read together, alone;
		CLEANUP(random_trace_release) struct random_trace x;

		random_trace_of(&x, COUNTERS);
		for (series_id i = 0; i < COUNTERS; i++)
			jobs[i] = (struct energy_job){ x.id + i, VIEW_HOST };
		energy_read(x.t.m, jobs, COUNTERS, &x.o, 1 + (size_t)below(40), &together);
		for (size_t i = 0; i < COUNTERS; i++) {
			energy_read(x.t.m, &jobs[i], 1, &x.o, 0, &alone);
			compared += same_bits(&together, i, &alone, 0);
			energy_read_release(&alone);
		}
		energy_read_release(&together);
	}
	assert_true(compared > test_cases(CASES / 2) * 10);
}

/* How events are cut into rounds changes no bit. */
PROPERTY(invariant_03_partition)
{
	size_t compared = 0;

	for (uint64_t k = 0; next_case(&k, 6000000, CASES);) {
		struct energy_read runs[2];
		CLEANUP(random_trace_release) struct random_trace x;

		random_trace(&x);
		struct energy_job jobs[] = { { x.id, VIEW_HOST }, { x.id, VIEW_DEVICE } };
		for (int i = 0; i < 2; i++)
			energy_read(x.t.m, jobs, 2, &x.o, i ? 0 : 1 + (size_t)below(40), &runs[i]);
		for (size_t j = 0; j < 2; j++)
			compared += same_bits(&runs[0], j, &runs[1], j);
		energy_read_release(&runs[0]);
		energy_read_release(&runs[1]);
	}
	assert_true(compared > test_cases(CASES) * 5);
}

/* Two series, of which the second has more samples, on the interpolant of the first. */
static void push_coarse_and_fine(struct trace *t, bool gauge, bool holds, series_id ids[2])
{
	static const char *const names[2][2] = {
		{ "rocm_smi:::energy_count:device=0", "rocm_smi:::energy_count:device=1" },
		{ "rocm_smi:::power_average:device=0", "rocm_smi:::power_average:device=1" },
	};
	double v = 0;

	for (int i = 0; i < 2; i++)
		ids[i] = trace_series(t, names[gauge][i], "#", SERIES_CUMULATIVE);
	for (int i = 0; i < 20; i++) {
		double step = (double)(16 * below(1000)) - (gauge ? v : 0);

		for (int k = 0; k < (i < 19 ? 4 : 1); k++)
			if (k == 0 || below(2))
				t->s->ops->sample(t->s, ids[1], i * 400 + k * 100,
						  v + (gauge && holds ? 0 : step * k / 4));
		t->s->ops->sample(t->s, ids[0], i * 400, v);
		v += step;
	}
}

/* A sample on the interpolant says nothing new. */
PROPERTY(invariant_03_sample_on_the_interpolant)
{
	for (uint64_t k = 0; next_case(&k, 7000000, CASES);) {
		struct energy_opts o = { .integration =
						 k % 2 ? INTEGRATE_LINEAR : INTEGRATE_PREVIOUS,
					 .independent = below(4) == 0 };
		CLEANUP(trace_release) struct trace t = trace_new();
		struct energy_result a, b;
		series_id ids[2];

		push_coarse_and_fine(&t, below(2), o.integration == INTEGRATE_PREVIOUS, ids);
		for (int th = 0; th < 2; th++) {
			track_id track = trace_thread(&t, "node", 1 + th, 1);

			for (int i = 0; i < 20; i++) {
				int64_t start = below(8000);

				trace_span_ns(&t, track, "f", start, start + below(500), SPAN_HOST);
			}
		}
		trace_finish(&t);
		assert_int_equal(energy_attribute(t.m, ids[0], VIEW_HOST, &o, &a, NULL), 0);
		assert_int_equal(energy_attribute(t.m, ids[1], VIEW_HOST, &o, &b, NULL), 0);
		for (size_t i = 0; i < t.m->spans.nr; i++)
			assert_near(a.exclusive_j[i], b.exclusive_j[i], 1e-12 * a.total_j + 1e-17);
		energy_result_release(&a);
		energy_result_release(&b);
	}
}

/* ---- 7 ---- */

#define WINDOWS 4

/*
 * A plan whose device draws 1 W, sampled at both ends of some elementary intervals (between two
 * boundaries that follow each other), each as a series of its own: energies are shares of time.
 */
struct shared_trace {
	struct trace t;
	struct plan p;
	struct energy_opts o;
	struct topology *topology;
	struct elementary {
		int64_t from_ns, to_ns;
		series_id id;
	} window[WINDOWS];
};

static struct elementary random_interval(const struct plan *p)
{
	struct elementary e = { 0 };
	VEC(int64_t) times = VEC_INIT;

	for (size_t i = 0; i < p->spans.nr; i++) {
		VEC_PUSH(&times, p->spans.v[i].start_ns);
		VEC_PUSH(&times, p->spans.v[i].end_ns);
	}
	sort_i64(times.v, times.nr);
	while (e.from_ns == e.to_ns) {
		size_t i = (size_t)below((int64_t)times.nr - 1);

		e = (struct elementary){ .from_ns = times.v[i], .to_ns = times.v[i + 1] };
	}
	VEC_RELEASE(&times);
	return e;
}

static void shared_trace(struct shared_trace *x)
{
	*x = (struct shared_trace){ .t = trace_new() };
	x->p.unit = 1 + below(2000000);
	x->p.length = 100 + below(300);
	x->p.overlaps = below(4) > 0;
	plan_tracks(&x->t, &x->p);
	plan_push(&x->t, &x->p, false);
	for (int i = 0; i < WINDOWS; i++) {
		struct elementary *w = &x->window[i];

		*w = random_interval(&x->p);
		w->id = trace_series(&x->t, textf("rocm_smi:::power_average:device=0:sensor=%d", i),
				     "#", SERIES_GAUGE);
		x->t.s->ops->sample(x->t.s, w->id, w->from_ns, 1e6);
		x->t.s->ops->sample(x->t.s, w->id, w->to_ns, 1e6);
	}
	trace_finish(&x->t);
	x->o.integration = (enum integration)below(3);
	x->o.independent = below(3) == 0;
	if (below(2))
		x->o.topology = x->topology = random_topology(x->t.m);
}

/* Of a track with a call open (host view), or of a piece of work. */
struct share {
	track_id track, sharer;
	double weight, ns;
};

struct shares {
	VEC(struct share) v;
};

static struct share *share_at(struct shares *s, enum energy_view view, track_id track)
{
	for (size_t i = 0; view == VIEW_HOST && i < s->v.nr; i++)
		if (s->v.v[i].track == track)
			return &s->v.v[i];
	VEC_PUSH(&s->v, (struct share){ .track = track, .sharer = (track_id)s->v.nr, .weight = 1 });
	return &s->v.v[s->v.nr - 1];
}

static void find_shares(const struct shared_trace *x, const struct elementary *w,
			const struct energy_result *r, struct shares *ret)
{
	const struct model *m = x->t.m;

	for (size_t i = 0; r->exclusive_j && i < m->spans.nr; i++) {
		track_id t = m->spans.track[i];
		struct share *s;

		if (m->spans.start_ns[i] > w->from_ns || m->spans.end_ns[i] < w->to_ns ||
		    isnan(r->exclusive_j[i]))
			continue;
		s = share_at(ret, r->view, t);
		s->ns += r->exclusive_j[i] * 1e9;
		if (r->view == VIEW_DEVICE)
			continue;
		s->sharer = model_process_of(m, t);
		s->weight = topology_weight(x->o.topology, m, t, w->id);
	}
}

/* Every share is what the rule says, and together they are all of the time. Returns how many. */
static size_t check_shares(const struct shared_trace *x, const struct elementary *w,
			   const struct energy_result *r)
{
	double dt = (double)(w->to_ns - w->from_ns), weights = 0, sum = 0, tol = 1e-9 * dt + 1e-8;
	struct shares s = { VEC_INIT };
	size_t sharers = 0;

	find_shares(x, w, r, &s);
	for (size_t i = 0; i < s.v.nr; i++) {
		bool first = true;

		for (size_t k = 0; k < i; k++)
			first &= s.v.v[k].sharer != s.v.v[i].sharer;
		sharers += first;
		weights += first ? s.v.v[i].weight : 0;
		sum += s.v.v[i].ns;
	}
	for (size_t i = 0; i < s.v.nr; i++) {
		double part = x->o.independent ? 1 : s.v.v[i].weight / weights;
		size_t tracks = 0;

		for (size_t k = 0; k < s.v.nr; k++)
			tracks += s.v.v[k].sharer == s.v.v[i].sharer;
		assert_near(s.v.v[i].ns, dt * part / (double)tracks, tol);
	}
	assert_near(sum, x->o.independent ? dt * (double)sharers : sharers ? dt : 0, tol * 10);
	assert_near(r->unattributed_j * 1e9, sharers ? 0 : dt, tol);
	VEC_RELEASE(&s.v);
	return sharers;
}

static int by_start(const void *pa, const void *pb)
{
	const struct planned *a = pa, *b = pb;

	return (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

/* Durations of all work over the time in which there was any. */
static double concurrency(const struct plan *p)
{
	VEC(struct planned) work = VEC_INIT;
	int64_t sum = 0, together = 0, end = INT64_MIN;

	for (size_t i = 0; i < p->spans.nr; i++)
		if (p->spans.v[i].kind == SPAN_KERNEL || p->spans.v[i].kind == SPAN_COPY)
			VEC_PUSH(&work, p->spans.v[i]);
	if (work.nr > 0)
		qsort(work.v, work.nr, sizeof(*work.v), by_start);
	for (size_t i = 0; i < work.nr; i++) {
		int64_t from = work.v[i].start_ns > end ? work.v[i].start_ns : end;

		sum += work.v[i].end_ns - work.v[i].start_ns;
		together += work.v[i].end_ns > from ? work.v[i].end_ns - from : 0;
		end = work.v[i].end_ns > end ? work.v[i].end_ns : end;
	}
	VEC_RELEASE(&work);
	return together > 0 ? (double)sum / (double)together : 0;
}

/* In every elementary interval the shares sum to 1, whichever process runs; independent: to their
 * number. */
PROPERTY(invariant_07_shares_sum_to_one)
{
	uint64_t together[2] = { 0, 0 }, concurrent = 0, n = test_cases(CASES);

	for (uint64_t k = 0; next_case(&k, 8000000, CASES);) {
		struct shared_trace x;

		shared_trace(&x);
		concurrent += concurrency(&x.p) > 1.3;
		for (int i = 0; i < 2 * WINDOWS; i++) {
			const struct elementary *w = &x.window[i / 2];
			CLEANUP(energy_result_release) struct energy_result r;

			energy_attribute(x.t.m, w->id, (enum energy_view)(i % 2), &x.o, &r, NULL);
			together[i % 2] += check_shares(&x, w, &r) > 1;
		}
		topology_free(x.topology);
		model_free(x.t.m);
		VEC_RELEASE(&x.p.spans);
	}
	/* the generator must give the cases that the law is about */
	assert_true(together[VIEW_HOST] > n / 2 && together[VIEW_DEVICE] > n / 2);
	assert_true(concurrent > n / 3);
}
