/*
 * Random traces for the laws of attribution: threads of several processes, queues of two devices,
 * calls that nest, recurse, touch and overlap, one sampled series with everything that is odd, any
 * integration, sharing and limit. A case is its seed:
 *
 *	for (uint64_t k = 0; next_case(&k, 1000000, 600);) {
 *		struct random_trace x;
 *
 *		random_trace(&x);
 *		…
 *		random_trace_release(&x);
 *	}
 *
 * PROFRIG_PROPERTY_CASES says how many; PROPERTY(test) in the list of tests tells the seed of a
 * case that failed.
 */
#ifndef ENERGY_RANDOM_H
#define ENERGY_RANDOM_H

#include "energy_fixture.h"
#include "energy_spans.h"

#include <inttypes.h>

#include "profrig/topology/topology.h"

#define NO_CASE UINT64_MAX

static uint64_t seed, case_now = NO_CASE;

static inline uint64_t random_u64(void)
{
	return splitmix64(&seed);
}

static inline int64_t below(int64_t n)
{
	return (int64_t)(random_u64() % (uint64_t)n);
}

/* The cases first, first + 1, …; `usual` of them unless it is said how many. */
static inline bool next_case(uint64_t *k, uint64_t first, uint64_t usual)
{
	bool more = *k < test_cases(usual);

	seed = first + *k;
	case_now = more ? seed : NO_CASE;
	++*k;
	return more;
}

static inline int say_case(void **state)
{
	(void)state;
	if (case_now != NO_CASE)
		print_error("case %" PRIu64 "\n", case_now);
	case_now = NO_CASE;
	return 0;
}

#define PROPERTY(f) TEST_WITH(f, NULL, say_case)

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

static inline void plan_span(struct plan *p, track_id t, int64_t start, int64_t end,
			     enum span_kind kind)
{
	VEC_PUSH(&p->spans,
		 (struct planned){ t, start * p->unit, end * p->unit, (int)below(4), kind });
}

/* Calls in [from, to): nested, recursive, some of no length, some back to back. */
static inline void plan_calls(struct plan *p, track_id t, int64_t from, int64_t to, int depth)
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

static inline void plan_tracks(struct trace *t, struct plan *p)
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
static inline void plan_push(struct trace *t, const struct plan *p, bool backwards)
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

static inline void plan_samples(const struct plan *p, struct sampled *s)
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

static inline series_id push_samples(struct trace *t, const struct sampled *s)
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
	struct counter_rules rules;
};

static inline void random_rules(struct topology *tp)
{
	for (int64_t rules = below(4); rules > 0; rules--) {
		struct topology_rule rule;
		int64_t first = below(4);

		topology_rule_init(&rule);
		VEC_PUSH(&rule.ranks, (struct topology_range){ first, first + below(3) });
		strvec_push(&rule.devices, below(3) ? "gpu0" : "gpu1");
		rule.weight = (double)(1 + below(5));
		topology_add_rule(tp, &rule);
	}
}

/* Half of the traces have one: rules, a counter of two devices, or only what is discovered. */
static inline struct topology *random_topology(struct model *m)
{
	struct topology *tp = topology_new();

	random_rules(tp);
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
static inline void push_more_counters(struct random_trace *r, size_t nr)
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

static inline void random_trace_of(struct random_trace *r, size_t counters)
{
	*r = (struct random_trace){ .t = trace_new(), .rules = COUNTER_RULES_INIT };
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
	r->o.slice_changes = below(2) ? 0 : 1 + below(20);
	r->o.max_gap_ns = below(2) ? 0 : 15 * r->p.unit * (1 + below(10));
	if (below(2))
		r->o.topology = r->topology = random_topology(r->t.m);
	if (below(3) == 0) {
		r->rules.tau_s = (double)(1 + below(20)) * 1e-9 * (double)r->p.unit;
		counters_learn(r->t.m, &r->rules);
	}
}

static inline void random_trace(struct random_trace *r)
{
	random_trace_of(r, 1);
}

static inline void random_trace_release(struct random_trace *r)
{
	topology_free(r->topology);
	counter_rules_release(&r->rules);
	model_free(r->t.m);
	VEC_RELEASE(&r->p.spans);
	VEC_RELEASE(&r->s.samples);
}

/* The same tracks in the same order, and what is known of the counters; spans and samples are to
 * come. */
static inline struct trace tracks_again(const struct model *m)
{
	struct trace again = trace_new();

	for (track_id t = 0; t < m->tracks.nr; t++) {
		const struct track *tr = &m->tracks.v[t];
		struct track_def d = TRACK_DEF_INIT;

		d.kind = tr->kind;
		d.parent = tr->parent;
		d.host = model_str(m, tr->host);
		d.name = model_str(m, tr->name);
		d.pid = tr->pid;
		d.tid = tr->tid;
		d.rank = tr->rank;
		d.device = model_str(m, tr->device);
		d.key = t;
		assert_int_equal(again.s->ops->track(again.s, &d), t);
	}
	again.m->counter_rules = m->counter_rules;
	return again;
}

/* ---- comparing ---- */

static inline double tolerance_of(const struct energy_result *r, const struct model *m)
{
	double sum = fabs(r->total_j);

	for (size_t i = 0; r->exclusive_j && i < m->spans.nr; i++)
		sum += isnan(r->exclusive_j[i]) ? 0 : fabs(r->exclusive_j[i]);
	return 1e-9 * (sum + 1e-6);
}

static inline void same_value(double a, double b, double tolerance)
{
	assert_int_equal(isnan(a), isnan(b));
	if (!isnan(a))
		assert_near(a, b, tolerance);
}

#endif
