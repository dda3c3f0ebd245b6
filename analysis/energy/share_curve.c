#include "attribution_private.h"

#include "profrig/base/search.h"

/* Out of line, so that the path of nearly every knot is short. */
#define RARE __attribute__((noinline))

/* Where a share curve is being made. */
struct builder {
	struct share_curve *l;
	const struct domain *d;
	const struct share_class *c;
	const struct steps *active, *parts;
	size_t at_active, at_parts; /* next step of each */
	int64_t interval;
};

/* part of whole, in FIXED_ONE */
static uint64_t fraction(uint64_t part, uint64_t whole)
{
	unsigned __int128 scaled = (unsigned __int128)part * FIXED_ONE + whole / 2;

	return whole ? (uint64_t)(scaled / whole) : 0;
}

/* The same for the curve's own class, whose few fractions repeat: no division. */
static inline uint64_t share_fraction(struct share_curve *l, uint64_t part, uint64_t whole)
{
	struct share_fraction *f = &l->fractions[whole % ARRAY_LEN(l->fractions)];

	if (f->part != part || f->whole != whole)
		*f = (struct share_fraction){ part, whole, fraction(part, whole) };
	return f->share;
}

static inline uint64_t share_of(struct share_curve *l, const struct domain *d,
				const struct share_class *c, uint32_t active, uint32_t parts)
{
	switch (c->kind) {
	case CLASS_IDLE:
		return active ? 0 : FIXED_ONE;
	case CLASS_GIVEN:
		return (FIXED_ONE >> GIVEN_SHIFT) * active;
	case CLASS_SPLIT:
		return d->independent ? share_fraction(l, active > 0, parts)
				      : share_fraction(l, c->weight, (uint64_t)active * parts);
	case CLASS_COMMON:
		break;
	}
	return share_fraction(l, 1, d->independent ? active > 0 : active);
}

static inline uint64_t share_now(const struct builder *b)
{
	return share_of(b->l, b->d, b->c, b->active->v[b->at_active], b->parts->v[b->at_parts]);
}

/* The time of the next step; moves behind all steps of that time. */
static inline int64_t step_next_ns(const struct builder *b)
{
	int64_t active = b->active->t_ns[b->at_active], parts = b->parts->t_ns[b->at_parts];

	return active < parts ? active : parts;
}

static inline void step_pass(struct builder *b, int64_t t_ns)
{
	b->at_active += b->active->t_ns[b->at_active] == t_ns;
	b->at_parts += b->parts->t_ns[b->at_parts] == t_ns;
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
	size_t steps = b->active->nr - b->at_active + b->parts->nr - b->at_parts;

	VEC_RESERVE(&l->knots, l->knots.nr + steps + 2);
	VEC_RESERVE(&l->t_ns, l->knots.nr + steps + 2);
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
 * the next knot overwrites one with the share of its predecessor, without a branch.
 */
static void knots_inside(struct builder *b, int64_t end_ns)
{
	struct builder now = *b;
	struct share_curve *l = b->l;
	size_t nr = l->knots.nr;
	struct knot k = l->knots.v[nr - 1];
	int64_t at_ns = l->t_ns.v[nr - 1], t_ns;
	/* outside there is no power, so no time is added, which could overflow */
	uint64_t counts = grid_inside(l->grid, b->interval) ? UINT64_MAX : 0;

	while ((t_ns = step_next_ns(&now)) < end_ns) {
		uint64_t share;

		step_pass(&now, t_ns);
		share = share_now(&now);
		k.share_time +=
			fixed_time((int64_t)(((uint64_t)t_ns - (uint64_t)at_ns) & counts), k.share);
		l->t_ns.v[nr] = at_ns = t_ns;
		l->knots.v[nr] = (struct knot){ k.interval, share, k.share_time };
		nr += share != k.share;
		k.share = share;
	}
	l->knots.nr = l->t_ns.nr = nr;
	b->at_active = now.at_active;
	b->at_parts = now.at_parts;
}

static void share_curve_begin(struct builder *b, const struct grid *g, int64_t from_ns)
{
	struct share_curve *l = b->l;

	l->grid = g;
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
	struct builder b = { .l = l,
			     .d = d,
			     .c = &d->classes.v[share_class],
			     .active = &s->active,
			     .parts = &s->parts.v[share_class] };

	share_curve_begin(&b, g, from_ns);
	for (;;) {
		int64_t next = b.interval + 1;
		int64_t end_ns = next < (int64_t)g->n ? g->t_ns[next] : INT64_MAX;
		bool last = end_ns >= horizon_ns;

		if (last)
			end_ns = horizon_ns;
		if (g->moments)
			knots_with_moments(&b, end_ns);
		else
			knots_inside(&b, end_ns);
		if (last)
			break;
		/* a step at the sample's own time is of the new interval */
		step_pass(&b, end_ns);
		knot_begin(&b, end_ns);
	}
}

void share_curve_release(struct share_curve *l)
{
	VEC_RELEASE(&l->knots);
	VEC_RELEASE(&l->t_ns);
	VEC_RELEASE(&l->moments);
	VEC_RELEASE(&l->first_knot);
	VEC_RELEASE(&l->before);
}
