#include "attribution_private.h"

#include <string.h>

#include "profrig/base/search.h"

/* Out of line, so that the path of nearly every knot is short. */
#define RARE __attribute__((noinline))

/* Where a share curve is being made. */
struct builder {
	struct share_curve *l;
	const struct share_class *c;
	const struct step *active, *threads; /* of each the next one */
	const struct step *active_end, *threads_end;
	const struct step *steps; /* of the class, from the first one on */
	int64_t interval;
};

/* part of whole, in FIXED_ONE */
static uint64_t fraction(uint64_t part, uint64_t whole)
{
	unsigned __int128 scaled = (unsigned __int128)part * FIXED_ONE + whole / 2;

	return whole ? (uint64_t)(scaled / whole) : 0;
}

/* The class's part of `whole`. Few fractions occur, again and again: no division. */
static inline uint64_t share_fraction(struct share_curve *l, uint64_t whole)
{
	struct share_fraction *f = &l->fractions[whole % ARRAY_LEN(l->fractions)];

	if (__builtin_expect(f->whole != whole, 0))
		*f = (struct share_fraction){ whole, fraction(l->part, whole) };
	return f->share;
}

/* kind: of the curve's class */
static inline uint64_t share_of(struct share_curve *l, enum share_class_kind kind, uint32_t active,
				uint32_t threads)
{
	switch (kind) {
	case CLASS_COMMON:
		return share_fraction(l, active);
	case CLASS_SPLIT:
		return share_fraction(l, (uint64_t)active * threads);
	case CLASS_IDLE:
		return active ? 0 : FIXED_ONE;
	case CLASS_ALONE:
		return active ? FIXED_ONE : 0;
	case CLASS_THREADS:
		return share_fraction(l, threads);
	case CLASS_GIVEN:
		break;
	}
	return (FIXED_ONE >> GIVEN_SHIFT) * active;
}

/* The class's steps so far. */
static inline size_t step_now(const struct builder *b)
{
	return (size_t)((class_has_threads(b->c->kind) ? b->threads : b->active) - b->steps);
}

static inline uint64_t share_now(const struct builder *b)
{
	return share_of(b->l, b->c->kind, b->active->value, b->threads->value);
}

/* The time of the next step. */
static inline int64_t step_next_ns(const struct builder *b)
{
	return b->active->until_ns < b->threads->until_ns ? b->active->until_ns
							  : b->threads->until_ns;
}

/* Of each the next step, if it is at that time. */
static inline void step_pass(struct builder *b, int64_t t_ns)
{
	b->active += b->active->until_ns == t_ns;
	b->threads += b->threads->until_ns == t_ns;
}

/* Where moments of an interval are kept: they are too large for a long one. */
static bool has_moments(const struct grid *g, int64_t interval)
{
	return g->moments && g->t_ns[interval + 1] - g->t_ns[interval] <= MOMENT_MAX_NS;
}

/* Share-time and moment of the last knot's interval up to t_ns. */
static void curve_until(const struct share_curve *l, int64_t t_ns, fixed128 *share_time,
			fixed128 *moment)
{
	const struct knot *k = &l->knots.v[l->knots.nr - 1];
	int64_t from_ns = l->t_ns.v[l->knots.nr - 1];
	const struct grid *g = l->grid;

	*share_time = *moment = 0;
	if (!grid_inside(g, k->interval))
		return;
	*share_time = k->share_time + fixed_time(t_ns - from_ns, k->share);
	if (has_moments(g, k->interval))
		*moment = l->moments.v[l->moments.nr - 1] +
			  moment_of(from_ns - g->t_ns[k->interval], t_ns - g->t_ns[k->interval],
				    k->share);
}

/* An interval begins: the sums of the one before it are complete. */
static void interval_begin(struct share_curve *l, int64_t interval, fixed128 share_time,
			   fixed128 moment)
{
	size_t counters = l->grid->counters.nr, at = l->before.nr;

	VEC_PUSH(&l->first_knot, l->knots.nr);
	for (size_t c = 0; c < counters; c++) {
		const struct grid_counter *gc = &l->grid->counters.v[c];
		struct share_sum s = { 0, 0, 0 };

		if (at >= counters)
			s = l->before.v[at - counters + c];
		if (grid_inside(l->grid, interval - 1) && !grid_dead(gc, interval - 1)) {
			s.energy += grid_energy(gc, interval - 1, share_time, moment);
			s.share_time += share_time;
			s.change += grid_change(gc, interval - 1, fixed_time_value(share_time));
		}
		VEC_PUSH(&l->before, s);
	}
}

/* The first knot of an interval or of the curve; there is room for it and all steps to come. */
static void knot_first(struct builder *b, int64_t t_ns)
{
	struct share_curve *l = b->l;
	size_t steps = (size_t)(b->active_end - b->active + b->threads_end - b->threads);

	VEC_RESERVE(&l->knots, l->knots.nr + steps + 2);
	VEC_RESERVE(&l->t_ns, l->knots.nr + steps + 2 + KNOTS_AT_ONCE);
	VEC_PUSH(&l->t_ns, t_ns);
	VEC_PUSH(&l->knots, ((struct knot){ b->interval, share_now(b), 0 }));
	if (l->grid->moments)
		VEC_PUSH(&l->moments, 0);
}

static void knot_begin(struct builder *b, int64_t t_ns)
{
	fixed128 share_time, moment;

	curve_until(b->l, t_ns, &share_time, &moment);
	interval_begin(b->l, ++b->interval, share_time, moment);
	knot_first(b, t_ns);
}

static RARE void knots_with_moments(struct builder *b, int64_t end_ns)
{
	struct share_curve *l = b->l;
	int64_t t_ns;

	while ((t_ns = step_next_ns(b)) < end_ns) {
		fixed128 share_time, moment;

		step_pass(b, t_ns);
		curve_until(l, t_ns, &share_time, &moment);
		VEC_PUSH(&l->t_ns, t_ns);
		VEC_PUSH(&l->knots, ((struct knot){ b->interval, share_now(b), share_time }));
		VEC_PUSH(&l->moments, moment);
	}
}

/*
 * The share changes inside an interval. State that passes from knot to knot stays in registers, and
 * the next knot overwrites one with the share of its predecessor, without a branch. Made once per
 * kind, so that the loop does not ask for it. (Outside the grid the sum means nothing, and wraps.)
 */
static inline __attribute__((always_inline)) void knots_of_kind(struct builder *b,
								enum share_class_kind kind,
								int64_t end_ns)
{
	const struct step *active = b->active, *threads = b->threads;
	struct share_curve *l = b->l;
	size_t nr = l->knots.nr;
	uint32_t *knot_of = l->knot_of.v + step_now(b);
	struct knot *knots = l->knots.v;
	int64_t *times_ns = l->t_ns.v, at_ns = times_ns[nr - 1], interval = b->interval;
	unsigned __int128 before = (unsigned __int128)knots[nr - 1].share_time;
	/* the sum in two words, or it is kept as a vector, which is read back slowly */
	uint64_t low = (uint64_t)before, high = (uint64_t)(before >> 64);
	uint64_t now = knots[nr - 1].share;

	for (;;) {
		int64_t t_ns = active->until_ns;
		unsigned __int128 added;
		uint64_t share;
		size_t passed;

		if (class_has_threads(kind) && threads->until_ns < t_ns)
			t_ns = threads->until_ns;
		if (t_ns >= end_ns)
			break;
		passed = active->until_ns == t_ns;
		active += passed;
		if (class_has_threads(kind)) {
			passed = threads->until_ns == t_ns;
			threads += passed;
		}
		share = share_of(l, kind, active->value, threads->value);
		added = (unsigned __int128)((uint64_t)t_ns - (uint64_t)at_ns) * now;
		low += (uint64_t)added;
		high += (uint64_t)(added >> 64) + (low < (uint64_t)added);
		times_ns[nr] = at_ns = t_ns;
		knots[nr].interval = interval;
		knots[nr].share = share;
		knots[nr].share_time = (fixed128)((unsigned __int128)high << 64 | low);
		nr += share != now;
		now = share;
		knot_of[1] = (uint32_t)nr - 1; /* the next step's, if this was one */
		knot_of += passed;
	}
	l->knots.nr = l->t_ns.nr = nr;
	b->active = active;
	b->threads = threads;
}

#define KNOTS_OF(name, kind) \
	static RARE void name(struct builder *b, int64_t end_ns) \
	{ \
		knots_of_kind(b, kind, end_ns); \
	}
KNOTS_OF(knots_common, CLASS_COMMON)
KNOTS_OF(knots_split, CLASS_SPLIT)
KNOTS_OF(knots_idle, CLASS_IDLE)
KNOTS_OF(knots_alone, CLASS_ALONE)
KNOTS_OF(knots_threads, CLASS_THREADS)
KNOTS_OF(knots_given, CLASS_GIVEN)

static void (*const knots_inside[])(struct builder *b, int64_t end_ns) = {
	[CLASS_COMMON] = knots_common, [CLASS_SPLIT] = knots_split,     [CLASS_IDLE] = knots_idle,
	[CLASS_ALONE] = knots_alone,   [CLASS_THREADS] = knots_threads, [CLASS_GIVEN] = knots_given,
};

static void share_curve_begin(struct builder *b, const struct grid *g, int64_t from_ns)
{
	struct share_curve *l = b->l;
	uint64_t part = b->c->kind == CLASS_SPLIT ? b->c->weight : 1;

	l->grid = g;
	if (l->part != part) {
		memset(l->fractions, 0, sizeof(l->fractions));
		l->part = part;
	}
	VEC_CLEAR(&l->knots);
	VEC_CLEAR(&l->t_ns);
	VEC_CLEAR(&l->moments);
	VEC_CLEAR(&l->first_knot);
	VEC_CLEAR(&l->before);
	l->first_interval = (int64_t)LOWER_BOUND(i, 0, g->n, g->t_ns[i] <= from_ns);
	b->interval = l->first_interval - 1;
	knot_first(b, from_ns);
}

void share_curve_make(struct share_curve *l, const struct grid *g, const struct domain *d,
		      size_t share_class, const struct sharing *s, int64_t from_ns,
		      int64_t horizon_ns)
{
	const struct steps *active = &s->active, *threads = &s->threads.v[share_class];
	struct builder b = { .l = l,
			     .c = &d->classes.v[share_class],
			     .active = active->v,
			     .threads = threads->v,
			     .active_end = active->v + active->nr,
			     .threads_end = threads->v + threads->nr };

	b.steps = class_has_threads(b.c->kind) ? b.threads : b.active;
	VEC_RESERVE(&l->knot_of, 2 + (class_has_threads(b.c->kind) ? threads->nr : active->nr));
	l->knot_of.v[0] = 0;
	share_curve_begin(&b, g, from_ns);
	for (;;) {
		int64_t next = b.interval + 1;
		int64_t end_ns = next < (int64_t)g->n ? g->t_ns[next] : INT64_MAX;
		bool last = end_ns >= horizon_ns;
		size_t step;

		if (last)
			end_ns = horizon_ns;
		if (g->moments)
			knots_with_moments(&b, end_ns);
		else
			knots_inside[b.c->kind](&b, end_ns);
		if (last)
			break;
		/* a step at the sample's own time is of the new interval */
		step = step_now(&b);
		step_pass(&b, end_ns);
		if (step_now(&b) != step)
			l->knot_of.v[step + 1] = (uint32_t)l->knots.nr - 1;
		knot_begin(&b, end_ns);
	}
	for (size_t i = 0; i < KNOTS_AT_ONCE; i++)
		l->t_ns.v[l->t_ns.nr + i] = INT64_MAX;
}

void share_curve_release(struct share_curve *l)
{
	VEC_RELEASE(&l->knots);
	VEC_RELEASE(&l->t_ns);
	VEC_RELEASE(&l->moments);
	VEC_RELEASE(&l->first_knot);
	VEC_RELEASE(&l->knot_of);
	VEC_RELEASE(&l->before);
}
