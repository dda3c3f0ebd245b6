/* Laws of attribution on random traces; the oracle is one global sweep. */
#include "../../../analysis/stats/energy_rows.h"
#include "energy_fixture.h"
#include "energy_spans.h"

#include "profrig/sum.h"
#include "profrig/topology.h"

#define ROUNDS 600

static uint64_t seed;

static uint64_t random_u64(void) /* splitmix64 */
{
	uint64_t z = (seed += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static int64_t below(int64_t n)
{
	return (int64_t)(random_u64() % (uint64_t)n);
}

/* ---- random traces; times are multiples of `unit` so that boundaries fall together often ---- */

struct plan {
	int64_t unit, length;
	bool overlaps;
	VEC(struct planned {
		track_id track;
		int64_t start_ns, end_ns;
		int name;
		enum span_kind kind;
	})
	spans;
};

static void plan_span(struct plan *p, track_id t, int64_t start, int64_t end, enum span_kind kind)
{
	VEC_PUSH(&p->spans,
		 (struct planned){ t, start * p->unit, end * p->unit, (int)below(4), kind });
}

/* Calls in [from, to): nested, recursive, some of no length, some back to back. */
static void plan_calls(struct plan *p, track_id t, int64_t from, int64_t to, int depth)
{
	int64_t at = from + below(8);

	while (at < to) {
		int64_t end = at + below(to - at + 1);

		plan_span(p, t, at, end, SPAN_HOST);
		if (below(8) == 0)
			plan_span(p, t, at, at, SPAN_INSTANT);
		if (depth < 5 && end > at + 1)
			plan_calls(p, t, at, end, depth + 1);
		at = below(3) ? end + below(30) : end;
		at += end == at ? below(2) : 0;
	}
	if (p->overlaps && depth == 0) {
		for (int i = 0; i < 6; i++) {
			int64_t start = from + below(to - from);
			plan_span(p, t, start, start + below(80), SPAN_HOST);
		}
	}
}

static void plan_tracks(struct trace *t, struct plan *p)
{
	int64_t processes = 1 + below(3), queues = below(4);

	for (int64_t pid = 0; pid < processes; pid++) {
		for (int64_t tid = below(3); tid >= 0; tid--) {
			track_id th = trace_thread(t, "node", pid + 1, tid + 1);

			for (int64_t bursts = below(3); bursts >= 0; bursts--) {
				int64_t from = below(p->length) - 50;
				plan_calls(p, th, from, from + 1 + below(200), 0);
			}
		}
	}
	for (int64_t q = 0; q < queues; q++) {
		track_id queue = trace_queue(t, q == 3 ? "gpu1" : "gpu0", q);

		for (int64_t at = below(50) - 20; at < p->length + 20; at += below(60)) {
			int64_t end = at + below(40);
			plan_span(p, queue, at, end, below(5) ? SPAN_KERNEL : SPAN_COPY);
			at = p->overlaps && below(2) ? at : end;
		}
	}
}

/* push_order: spans are pushed forwards or backwards; the result must not depend on it. */
static void plan_push(struct trace *t, const struct plan *p, bool backwards)
{
	static const char *const names[] = { "main", "solve", "f", "rocblas_dgemm" };

	for (size_t i = 0; i < p->spans.nr; i++) {
		const struct planned *s = &p->spans.v[backwards ? p->spans.nr - 1 - i : i];
		trace_span_ns(t, s->track, names[s->name], s->start_ns, s->end_ns, s->kind);
	}
}

struct sampled {
	const char *name;
	bool change_points;
	VEC(struct sampled_value {
		int64_t t_ns;
		double v;
	})
	samples;
};

static void plan_samples(const struct plan *p, struct sampled *s)
{
	bool gauge = below(2), odd = below(2);
	int64_t period = 1 + below(20), at = below(40) * p->unit;
	double v = 1e15 * (double)below(2);

	s->name = gauge ? "rocm_smi:::power_average:device=0" : "rocm_smi:::energy_count:device=0";
	s->change_points = below(4) == 0;
	while (at < (p->length - 30) * p->unit) {
		if (gauge)
			v = (double)below(700) * 1e6;
		else
			v += (double)below(1000) * 1e5;
		if (odd && below(12) == 0)
			v = gauge ? -1e6 : v / 2;
		VEC_PUSH(&s->samples, (struct sampled_value){ at, below(30) ? v : NAN });
		if (!odd || below(15))
			at += (period + below(3)) * p->unit + below(p->unit);
		if (odd && below(20) == 0)
			at += 12 * period * p->unit;
	}
}

static series_id push_samples(struct trace *t, const struct sampled *s)
{
	struct series_def d = { .name = s->name,
				.track = TRACK_NONE,
				.change_points = s->change_points };
	series_id id = t->s->ops->series(t->s, &d);

	for (size_t i = 0; i < s->samples.nr; i++)
		t->s->ops->sample(t->s, id, s->samples.v[i].t_ns, s->samples.v[i].v);
	return id;
}

struct random_trace {
	struct trace t;
	struct plan p;
	struct sampled s;
	series_id id;
	struct energy_opts o;
	struct topology *topology;
};

/* Half of the traces have one: rules, a counter of two devices, or only what is discovered. */
static struct topology *random_topology(struct model *m)
{
	struct topology *tp = topology_new();

	for (int64_t rules = below(4); rules > 0; rules--) {
		struct topology_rule rule;
		int64_t first = below(4);

		topology_rule_init(&rule);
		VEC_PUSH(&rule.ranks, (struct topology_range){ first, first + below(3) });
		strvec_push(&rule.devices, below(3) ? "gpu0" : "gpu1");
		rule.weight = (double)(1 + below(5));
		topology_add_rule(tp, &rule);
	}
	if (below(2)) {
		struct topology_counter c = { .device = xstrdup("gpu0"), .measures = STRVEC_INIT };

		strvec_push(&c.measures, below(2) ? "gpu0" : "gpu7");
		strvec_push(&c.measures, "gpu1");
		topology_add_counter(tp, &c);
	}
	topology_resolve(tp, m);
	return tp;
}

/* Of other devices, each sampled at its own times. Their ids follow the first one's. */
static void push_more_counters(struct random_trace *r, size_t nr)
{
	char name[64];

	for (size_t i = 1; i <= nr; i++) {
		struct sampled s = { 0 };

		plan_samples(&r->p, &s);
		snprintf(name, sizeof(name), "rocm_smi:::%s:device=%zu",
			 strstr(s.name, "power") ? "power_average" : "energy_count", i);
		s.name = name;
		assert_int_equal(push_samples(&r->t, &s), r->id + i);
		VEC_RELEASE(&s.samples);
	}
}

static void random_trace_of(struct random_trace *r, size_t counters)
{
	*r = (struct random_trace){ .t = trace_new() };
	r->p.unit = below(2) ? 1 : 1 + below(2000000);
	r->p.length = 100 + below(300);
	r->p.overlaps = below(2);
	plan_tracks(&r->t, &r->p);
	plan_samples(&r->p, &r->s);
	plan_push(&r->t, &r->p, false);
	r->id = push_samples(&r->t, &r->s);
	push_more_counters(r, counters - 1);
	trace_finish(&r->t);
	r->o.integration = (enum integration)below(3);
	r->o.independent = below(4) == 0;
	r->o.max_gap_ns = below(2) ? 0 : 15 * r->p.unit * (1 + below(10));
	if (below(2))
		r->o.topology = r->topology = random_topology(r->t.m);
}

static void random_trace(struct random_trace *r)
{
	random_trace_of(r, 1);
}

static void random_trace_release(struct random_trace *r)
{
	topology_free(r->topology);
	model_free(r->t.m);
	VEC_RELEASE(&r->p.spans);
	VEC_RELEASE(&r->s.samples);
}

static double tolerance_of(const struct energy_result *r, const struct model *m)
{
	double sum = fabs(r->total_j);

	for (size_t i = 0; r->exclusive_j && i < m->spans.nr; i++)
		sum += isnan(r->exclusive_j[i]) ? 0 : fabs(r->exclusive_j[i]);
	return 1e-9 * (sum + 1e-6);
}

static void same_value(double a, double b, double tolerance)
{
	assert_int_equal(isnan(a), isnan(b));
	if (!isnan(a))
		assert_near(a, b, tolerance);
}

static void same_result(const struct model *m, const struct energy_result *a,
			const struct energy_result *b)
{
	double tol = tolerance_of(b, m);

	assert_near(a->total_j, b->total_j, tol);
	assert_near(a->attributed_j, b->attributed_j, tol);
	assert_near(a->unattributed_j, b->unattributed_j, tol);
	assert_near(a->dead_j, b->dead_j, tol);
	assert_int_equal(a->unattributed_ns, b->unattributed_ns);
	assert_int_equal(a->exclusive_j == NULL, b->exclusive_j == NULL);
	for (size_t i = 0; a->exclusive_j && i < m->spans.nr; i++) {
		same_value(a->exclusive_j[i], b->exclusive_j[i], tol);
		same_value(a->inclusive_j[i], b->inclusive_j[i], tol);
		assert_int_equal(a->exclusive_ns[i], b->exclusive_ns[i]);
		assert_int_equal(a->marks[i], b->marks[i]);
	}
	for (size_t i = 0; a->pieces && i < m->pieces.nr; i++) {
		same_value(a->pieces[i].exclusive_j, b->pieces[i].exclusive_j, tol);
		assert_int_equal(a->pieces[i].exclusive_ns, b->pieces[i].exclusive_ns);
	}
}

static bool many_sharers(const struct model *m)
{
	size_t threads = 0;

	for (size_t t = 0; t < m->tracks.nr; t++)
		threads += m->tracks.v[t].kind == TRACK_THREAD && m->tracks.v[t].spans > 1;
	return threads > 2;
}

/* The topology takes the device from some threads and leaves it to others. */
static bool some_left_out(const struct random_trace *x)
{
	struct counter_info ci = counter_info(x->t.m, x->id);
	size_t in = 0, out = 0;

	for (track_id t = 0; t < x->t.m->tracks.nr; t++) {
		bool sees = topology_sees(x->topology, x->t.m, t, x->id, ci.device);

		if (x->t.m->tracks.v[t].kind != TRACK_THREAD)
			continue;
		in += sees;
		out += !sees;
	}
	return in > 0 && out > 0;
}

static void equals_the_global_sweep(void **state)
{
	unsigned taken = 0, pieces = 0, marked = 0, shared = 0, narrowed = 0;

	(void)state;
	for (uint64_t round = 0; round < ROUNDS; round++) {
		struct random_trace x;

		seed = round;
		random_trace(&x);
		pieces += x.t.m->pieces.nr > 0;
		for (int view = VIEW_HOST; view <= VIEW_DEVICE; view++) {
			struct energy_result fast, slow;
			int a = energy_attribute(x.t.m, x.id, (enum energy_view)view, &x.o, &fast,
						 NULL);
			int b = energy_attribute_sweep(x.t.m, x.id, (enum energy_view)view, &x.o,
						       &slow, NULL);

			assert_int_equal(a, b);
			taken += a == 0;
			marked += (fast.flags & (CF_RESET | CF_GAP)) != 0;
			shared += view == VIEW_HOST && many_sharers(x.t.m);
			narrowed += view == VIEW_HOST && some_left_out(&x);
			assert_true(fast.error_rel <= 1e-9 || fabs(fast.total_j) < 1e-3);
			same_result(x.t.m, &fast, &slow);
			energy_result_release(&fast);
			energy_result_release(&slow);
		}
		random_trace_release(&x);
	}
	/* the generator must give the cases that the laws are about */
	assert_true(taken > ROUNDS);
	assert_true(pieces > ROUNDS / 5);
	assert_true(marked > ROUNDS / 5);
	assert_true(shared > ROUNDS / 2);
	assert_true(narrowed > ROUNDS / 20);
}

static bool same_place(const struct model *a, size_t i, const struct model *b, size_t k)
{
	return a->spans.track[i] == b->spans.track[k] &&
	       a->spans.start_ns[i] == b->spans.start_ns[k] &&
	       a->spans.end_ns[i] == b->spans.end_ns[k];
}

static void order_of_input_does_not_matter(void **state)
{
	(void)state;
	for (uint64_t round = 0; round < ROUNDS / 4; round++) {
		struct random_trace x;
		struct trace again = trace_new();
		struct energy_result a, b;
		series_id id;

		seed = round + 1000000;
		random_trace(&x);
		/* the same tracks in the same order, spans in reverse */
		for (track_id t = 0; t < x.t.m->tracks.nr; t++) {
			const struct track *tr = &x.t.m->tracks.v[t];
			struct track_def d = TRACK_DEF_INIT;

			d.kind = tr->kind;
			d.parent = tr->parent;
			d.host = model_str(x.t.m, tr->host);
			d.pid = tr->pid;
			d.tid = tr->tid;
			d.device = model_str(x.t.m, tr->device);
			d.key = t;
			assert_int_equal(again.s->ops->track(again.s, &d), t);
		}
		id = push_samples(&again, &x.s);
		plan_push(&again, &x.p, true);
		trace_finish(&again);
		energy_attribute(x.t.m, x.id, VIEW_HOST, &x.o, &a, NULL);
		energy_attribute(again.m, id, VIEW_HOST, &x.o, &b, NULL);
		assert_near(a.attributed_j, b.attributed_j, tolerance_of(&a, x.t.m));
		assert_near(a.unattributed_j, b.unattributed_j, tolerance_of(&a, x.t.m));
		/* spans of equal track, start and end may swap: which of them is inside the other
		 * is not said */
		for (size_t i = 0; a.exclusive_j && i < x.t.m->spans.nr; i++) {
			assert_true(same_place(x.t.m, i, again.m, i));
			if ((i > 0 && same_place(x.t.m, i - 1, x.t.m, i)) ||
			    (i + 1 < x.t.m->spans.nr && same_place(x.t.m, i, x.t.m, i + 1)))
				continue;
			same_value(a.exclusive_j[i], b.exclusive_j[i], tolerance_of(&a, x.t.m));
			same_value(a.inclusive_j[i], b.inclusive_j[i], tolerance_of(&a, x.t.m));
		}
		energy_result_release(&a);
		energy_result_release(&b);
		model_free(again.m);
		random_trace_release(&x);
	}
}

/* On every stack: inclusive = own exclusive + inclusive of the children (well-nested traces, one
 * curve per thread). */
static void inclusive_is_exclusive_plus_children(void **state)
{
	(void)state;
	for (uint64_t round = 0; round < ROUNDS / 2; round++) {
		struct random_trace x;
		struct energy_result r;

		seed = round + 2000000;
		random_trace(&x);
		if (x.t.m->pieces.nr == 0 &&
		    energy_attribute(x.t.m, x.id, VIEW_HOST, &x.o, &r, NULL) == 0) {
			const struct model *m = x.t.m;
			struct sum *sum = xcalloc(m->spans.nr, sizeof(*sum));
			double tol = tolerance_of(&r, m);

			for (size_t i = m->spans.nr; i-- > 0;) {
				if (isnan(r.exclusive_j[i]))
					continue;
				sum_add(&sum[i], r.exclusive_j[i]);
				assert_near(r.inclusive_j[i], sum_value(&sum[i]), tol);
				if (m->spans.parent[i] != SPAN_NONE)
					sum_add(&sum[m->spans.parent[i]], r.inclusive_j[i]);
			}
			free(sum);
			energy_result_release(&r);
		}
		random_trace_release(&x);
	}
}

/* ---- rows and paths, as the tables have them ---- */

/* The oracle's spans summed up by function and by path. */
struct summed {
	double *row_inclusive, *row_exclusive, *path_exclusive;
	uint8_t *row_marks;
};

static void sum_oracle(const struct model *m, const struct energy_groups *g,
		       const struct energy_result *r, struct summed *ret)
{
	int64_t *until = xcalloc(g->groups.nr + 1, sizeof(*until));

	ret->row_inclusive = xcalloc(g->groups.nr + 1, sizeof(double));
	ret->row_exclusive = xcalloc(g->groups.nr + 1, sizeof(double));
	ret->path_exclusive = xcalloc(g->cct.nr + 1, sizeof(double));
	ret->row_marks = xcalloc(g->groups.nr + 1, 1);
	for (size_t i = 0; i <= g->groups.nr; i++)
		until[i] = INT64_MIN;
	for (size_t l = 0; l < g->lanes.nr; l++) {
		const struct track *t = &m->tracks.v[g->defs.v[l].track];

		if (g->defs.v[l].mode == LANE_COVER)
			continue;
		for (size_t i = t->first_span; i < t->first_span + t->spans; i++) {
			const struct span_piece *p = model_piece(m, i);
			double piece = p && r->pieces ? r->pieces[p - m->pieces.v].exclusive_j : 0;
			uint32_t group;
			bool fresh;

			if (!r->exclusive_j || isnan(r->exclusive_j[i]))
				continue;
			group = g->group_of_row.v[g->places.v[l].first_row + g->row_of_span[i]];
			fresh = m->spans.start_ns[i] >= until[group];
			if (m->spans.end_ns[i] > until[group])
				until[group] = m->spans.end_ns[i];
			if (r->view == VIEW_HOST && r->new_j)
				ret->row_inclusive[group] += r->new_j[i];
			else if (fresh || r->view == VIEW_DEVICE)
				ret->row_inclusive[group] += r->inclusive_j[i];
			ret->row_exclusive[group] += r->exclusive_j[i];
			ret->row_marks[group] |= r->marks[i];
			if (r->view == VIEW_DEVICE)
				continue;
			ret->path_exclusive[g->cct.node_of_span[i]] += r->exclusive_j[i] - piece;
			if (p)
				ret->path_exclusive[g->cct.node_of_piece[p - m->pieces.v]] += piece;
		}
	}
	free(until);
}

static void summed_release(struct summed *s)
{
	free(s->row_inclusive);
	free(s->row_exclusive);
	free(s->path_exclusive);
	free(s->row_marks);
}

static void same_sums(const struct energy_groups *g, const struct summed *want, double tol)
{
	for (size_t i = 0; i < g->groups.nr; i++) {
		assert_near(sum_value(&g->rows[i].exclusive_j), want->row_exclusive[i], tol);
		assert_near(sum_value(&g->rows[i].inclusive_j), want->row_inclusive[i], tol);
		assert_int_equal(g->rows[i].marks, want->row_marks[i]);
	}
	for (size_t i = 0; i < g->cct.nr; i++)
		assert_near(sum_value(&g->paths[i].exclusive_j), want->path_exclusive[i], tol);
}

static void rows_equal_the_global_sweep(void **state)
{
	(void)state;
	for (uint64_t round = 0; round < ROUNDS / 2; round++) {
		struct random_trace x;
		struct energy_groups g;

		seed = round + 5000000;
		random_trace(&x);
		energy_groups_make(x.t.m, &g);
		for (int view = VIEW_HOST; view <= VIEW_DEVICE; view++) {
			struct energy_job job = { x.id, (enum energy_view)view };
			struct energy_result slow;
			struct energy_run *run;
			struct summed want;

			energy_attribute_sweep(x.t.m, x.id, job.view, &x.o, &slow, NULL);
			assert_int_equal(energy_run_new(x.t.m, &job, 1, g.defs.v, g.defs.nr, &x.o,
							&run, NULL),
					 0);
			model_lanes_run(x.t.m, g.lanes.v, g.lanes.nr, 0, run);
			energy_pour(&g, run, 0);
			sum_oracle(x.t.m, &g, &slow, &want);
			same_sums(&g, &want, tolerance_of(&slow, x.t.m));
			summed_release(&want);
			energy_result_release(&slow);
			energy_run_free(run);
		}
		energy_groups_release(&g);
		random_trace_release(&x);
	}
}

/* To the last bit, of one job in each. Returns how many nodes have energy. */
static size_t same_bits(const struct energy_groups *g, const struct energy_run *run, size_t job,
			const struct energy_run *other, size_t other_job)
{
	size_t compared = 0;

	for (size_t l = 0; l < g->lanes.nr; l++) {
		for (uint32_t n = 0; n < g->lanes.v[l].nodes; n++) {
			struct node_energy a = energy_run_value(run, job, l, n);
			struct node_energy b = energy_run_value(other, other_job, l, n);

			assert_true(a.exclusive_j == b.exclusive_j);
			assert_true(a.share_ns == b.share_ns);
			assert_int_equal(a.exclusive_ns, b.exclusive_ns);
			assert_int_equal(a.marks, b.marks);
			compared += a.exclusive_j > 0;
		}
		for (uint32_t n = 0; n < g->lanes.v[l].rows; n++) {
			double a = energy_run_uncertainty(run, job, l, n);
			double b = energy_run_uncertainty(other, other_job, l, n);

			assert_true(a == b || (isnan(a) && isnan(b)));
		}
	}
	return compared;
}

/* How events are cut into rounds changes no bit. */
static void rounds_change_nothing(void **state)
{
	size_t compared = 0;

	(void)state;
	for (uint64_t round = 0; round < ROUNDS / 2; round++) {
		struct energy_job jobs[2];
		struct random_trace x;
		struct energy_groups g;
		struct energy_run *runs[2];

		seed = round + 6000000;
		random_trace(&x);
		energy_groups_make(x.t.m, &g);
		for (int i = 0; i < 2; i++)
			jobs[i] = (struct energy_job){ x.id, (enum energy_view)i };
		for (int i = 0; i < 2; i++) {
			energy_run_new(x.t.m, jobs, 2, g.defs.v, g.defs.nr, &x.o, &runs[i], NULL);
			model_lanes_run(x.t.m, g.lanes.v, g.lanes.nr, i ? 0 : 1 + (size_t)below(40),
					runs[i]);
		}
		for (size_t j = 0; j < 2; j++)
			compared += same_bits(&g, runs[0], j, runs[1], j);
		energy_run_free(runs[0]);
		energy_run_free(runs[1]);
		energy_groups_release(&g);
		random_trace_release(&x);
	}
	assert_true(compared > ROUNDS * 5);
}

#define COUNTERS 4

/* Nor does it matter which other counters are read in the same run, at what times. */
static void counters_do_not_matter_to_each_other(void **state)
{
	size_t compared = 0;

	(void)state;
	for (uint64_t round = 0; round < ROUNDS / 2; round++) {
		struct energy_job jobs[COUNTERS];
		struct energy_run *together, *alone;
		struct random_trace x;
		struct energy_groups g;

		seed = round + 7000000;
		random_trace_of(&x, COUNTERS);
		energy_groups_make(x.t.m, &g);
		for (series_id i = 0; i < COUNTERS; i++)
			jobs[i] = (struct energy_job){ x.id + i, VIEW_HOST };
		energy_run_new(x.t.m, jobs, COUNTERS, g.defs.v, g.defs.nr, &x.o, &together, NULL);
		model_lanes_run(x.t.m, g.lanes.v, g.lanes.nr, 1 + (size_t)below(40), together);
		for (size_t i = 0; i < COUNTERS; i++) {
			energy_run_new(x.t.m, &jobs[i], 1, g.defs.v, g.defs.nr, &x.o, &alone, NULL);
			model_lanes_run(x.t.m, g.lanes.v, g.lanes.nr, 0, alone);
			compared += same_bits(&g, together, i, alone, 0);
			energy_run_free(alone);
		}
		energy_run_free(together);
		energy_groups_release(&g);
		random_trace_release(&x);
	}
	assert_true(compared > ROUNDS * 5);
}

/* A sample on the interpolant says nothing new. */
static void samples_on_the_interpolant_change_nothing(void **state)
{
	(void)state;
	for (int round = 0; round < 100; round++) {
		struct trace t = trace_new();
		track_id th = trace_thread(&t, "node", 1, 1);
		series_id coarse = trace_series(&t, "rocm_smi:::energy_count:device=0", "#",
						SERIES_CUMULATIVE);
		series_id fine = trace_series(&t, "rocm_smi:::energy_count:device=1", "#",
					      SERIES_CUMULATIVE);
		struct energy_opts o = { .integration = INTEGRATE_LINEAR };
		struct energy_result a, b;
		double v = 0;

		seed = 3000000 + (uint64_t)round;
		for (int i = 0; i < 20; i++) {
			double step = (double)(16 * below(1000));
			for (int k = 0; k < (i < 19 ? 4 : 1); k++)
				if (k == 0 || below(2))
					t.s->ops->sample(t.s, fine, i * 400 + k * 100,
							 v + step * k / 4);
			t.s->ops->sample(t.s, coarse, i * 400, v);
			v += step;
		}
		for (int i = 0; i < 40; i++) {
			int64_t start = below(8000);
			trace_span_ns(&t, th, "f", start, start + below(500), SPAN_HOST);
		}
		trace_finish(&t);
		assert_int_equal(energy_attribute(t.m, coarse, VIEW_HOST, &o, &a, NULL), 0);
		assert_int_equal(energy_attribute(t.m, fine, VIEW_HOST, &o, &b, NULL), 0);
		for (size_t i = 0; i < t.m->spans.nr; i++)
			assert_near(a.exclusive_j[i], b.exclusive_j[i], 1e-12 * a.total_j);
		energy_result_release(&a);
		energy_result_release(&b);
		model_free(t.m);
	}
}

/* Many short calls under a counter that has counted for years: nothing gets lost in the digits. */
static void a_million_calls_keep_the_total(void **state)
{
	struct trace t = trace_new();
	track_id th = trace_thread(&t, "node", 1, 1), other = trace_thread(&t, "node", 2, 1);
	series_id s = trace_series(&t, "rocm_smi:::energy_count:device=0", "#", SERIES_CUMULATIVE);
	struct energy_opts o = { .integration = INTEGRATE_LINEAR };
	struct energy_result r;
	struct sum sum = SUM_INIT;
	int64_t at = 1000;

	(void)state;
	seed = 4;
	for (int64_t i = 0; i <= 100000; i++)
		t.s->ops->sample(t.s, s, i * 4000, 1e15 + (double)(i * 2000));
	trace_span_ns(&t, th, "main", 500, 399999999, SPAN_HOST);
	trace_span_ns(&t, other, "main", 0, 200000000, SPAN_HOST);
	for (int i = 0; i < 1000000; i++) {
		int64_t end = at + below(390);
		trace_span_ns(&t, th, "f", at, end, SPAN_HOST);
		at = end + below(3);
	}
	trace_finish(&t);
	assert_int_equal(energy_attribute(t.m, s, VIEW_HOST, &o, &r, NULL), 0);
	assert_near(r.total_j, 200, 0);
	assert_true(r.error_rel <= 1e-12);
	for (size_t i = 0; i < t.m->spans.nr; i++)
		sum_add(&sum, r.exclusive_j[i]);
	assert_near(sum_value(&sum) + r.unattributed_j, 200, 200e-12);
	/* 0.5 W per ns of a call that has the device to itself, half of that while the other
	 * process is active; sums are kept in units of 2^-60 J */
	for (size_t i = 0; i < t.m->spans.nr; i++) {
		int64_t dur = t.m->spans.end_ns[i] - t.m->spans.start_ns[i];
		if (strcmp(model_str(t.m, t.m->spans.name[i]), "f") != 0 || dur == 0)
			continue;
		if (t.m->spans.end_ns[i] <= 200000000)
			assert_near(r.exclusive_j[i] / (0.25e-6 * (double)dur), 1, 1e-11);
		else if (t.m->spans.start_ns[i] >= 200000000)
			assert_near(r.exclusive_j[i] / (0.5e-6 * (double)dur), 1, 1e-11);
	}
	energy_result_release(&r);
	model_free(t.m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equals_the_global_sweep),
		cmocka_unit_test(rows_equal_the_global_sweep),
		cmocka_unit_test(rounds_change_nothing),
		cmocka_unit_test(counters_do_not_matter_to_each_other),
		cmocka_unit_test(order_of_input_does_not_matter),
		cmocka_unit_test(inclusive_is_exclusive_plus_children),
		cmocka_unit_test(samples_on_the_interpolant_change_nothing),
		cmocka_unit_test(a_million_calls_keep_the_total),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
