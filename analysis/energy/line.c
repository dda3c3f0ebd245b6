#include "attribution_private.h"

/* Beside the way of nearly every knot, which is faster for being short. */
#define RARE __attribute__((noinline))

/* Where a line is being extended. */
struct builder {
	struct line *l;
	const struct domain *d;
	const struct share_class *c;
	size_t active, parts; /* next step of each */
	int64_t sample;       /* next sample of the grid */
};

/* part of whole, in FIXED_ONE */
static uint64_t fraction(uint64_t part, uint64_t whole)
{
	unsigned __int128 scaled = (unsigned __int128)part * FIXED_ONE + whole / 2;

	return whole ? (uint64_t)(scaled / whole) : 0;
}

/* The same of the line's own class, whose few fractions come again and again: no division. */
static inline uint64_t line_fraction(struct line *l, uint64_t part, uint64_t whole)
{
	struct line_fraction *f = &l->fractions[whole % ARRAY_LEN(l->fractions)];

	if (f->part != part || f->whole != whole)
		*f = (struct line_fraction){ part, whole, fraction(part, whole) };
	return f->share;
}

static inline uint64_t share_of(struct line *l, const struct domain *d, const struct share_class *c,
				uint32_t active, uint32_t parts)
{
	switch (c->kind) {
	case CLASS_IDLE:
		return active ? 0 : FIXED_ONE;
	case CLASS_GIVEN:
		return (FIXED_ONE >> GIVEN_SHIFT) * active;
	case CLASS_SPLIT:
		return d->independent ? line_fraction(l, active > 0, parts)
				      : line_fraction(l, c->weight, (uint64_t)active * parts);
	case CLASS_COMMON:
		break;
	}
	return line_fraction(l, 1, d->independent ? active > 0 : active);
}

static uint32_t step_before(const struct steps *st, size_t next)
{
	return next ? st->value.v[next - 1] : st->before;
}

static int64_t step_time(const struct steps *st, size_t next)
{
	return next < st->t_ns.nr ? st->t_ns.v[next] : INT64_MAX;
}

static inline uint64_t share_now(const struct builder *b)
{
	return share_of(b->l, b->d, b->c, step_before(&b->d->active, b->active),
			b->c->kind == CLASS_SPLIT ? step_before(&b->c->parts, b->parts) : 1);
}

/* Share-time and moment of the last knot's interval up to t_ns. */
static void until(const struct line *l, int64_t t_ns, fixed128 *share_time, fixed128 *moment)
{
	const struct knot *k = &l->knots.v[l->knots.nr - 1];
	int64_t from_ns = l->t_ns.v[l->knots.nr - 1];
	const struct grid *g = l->grid;

	*share_time = *moment = 0;
	if (!grid_inside(g, k->interval))
		return;
	*share_time = k->share_time + fixed_time(t_ns - from_ns, k->share);
	if (!g->moments || g->t_ns[k->interval + 1] - g->t_ns[k->interval] > MOMENT_MAX_NS)
		return;
	*moment = k->moment +
		  moment_of(from_ns - g->t_ns[k->interval], t_ns - g->t_ns[k->interval], k->share);
}

/* An interval begins: what the one before it gave is known now. */
static void interval_begin(struct line *l, int64_t interval, fixed128 share_time, fixed128 moment)
{
	size_t counters = l->grid->counters.nr, at = l->before.nr;

	VEC_PUSH(&l->first_knot, l->knots.nr);
	for (size_t c = 0; c < counters; c++) {
		const struct grid_counter *gc = &l->grid->counters.v[c];
		struct line_sum s = { 0, 0, 0 };

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

static inline struct knot *knot_new(struct line *l, int64_t t_ns, int64_t interval, uint64_t share)
{
	struct knot *k;

	VEC_RESERVE(&l->knots, l->knots.nr + 1);
	VEC_PUSH(&l->t_ns, t_ns);
	k = &l->knots.v[l->knots.nr++];
	k->interval = interval;
	k->share = share;
	return k;
}

/* The first knot of an interval. */
static RARE void knot_begin(struct line *l, int64_t t_ns, int64_t interval, uint64_t share)
{
	fixed128 share_time, moment;
	struct knot *k;

	until(l, t_ns, &share_time, &moment);
	interval_begin(l, interval, share_time, moment);
	k = knot_new(l, t_ns, interval, share);
	k->share_time = k->moment = 0;
}

/*
 * The share changes inside an interval. The sum goes from one knot to the next as two words and
 * never through a copy of it, which would have to wait for both.
 */
static inline void knot_inside(struct line *l, int64_t t_ns, int64_t interval, uint64_t share)
{
	struct knot *k = knot_new(l, t_ns, interval, share);
	int64_t from_ns = l->t_ns.v[l->t_ns.nr - 2];

	if (!grid_inside(l->grid, interval))
		k->share_time = 0;
	else
		k->share_time = k[-1].share_time + fixed_time(t_ns - from_ns, k[-1].share);
	k->moment = 0;
}

static RARE void knot_inside_moment(struct line *l, int64_t t_ns, int64_t interval, uint64_t share)
{
	fixed128 share_time, moment;
	struct knot *k;

	until(l, t_ns, &share_time, &moment);
	k = knot_new(l, t_ns, interval, share);
	k->share_time = share_time;
	k->moment = moment;
}

static void knot_put(struct builder *b, int64_t t_ns)
{
	struct line *l = b->l;
	const struct knot *last = &l->knots.v[l->knots.nr - 1];
	int64_t interval = b->sample - 1;
	uint64_t share = share_now(b);

	if (interval != last->interval)
		knot_begin(l, t_ns, interval, share);
	else if (share == last->share)
		return;
	else if (l->grid->moments)
		knot_inside_moment(l, t_ns, interval, share);
	else
		knot_inside(l, t_ns, interval, share);
}

void line_init(struct line *l, const struct grid *g, const struct domain *d,
	       const struct share_class *c)
{
	struct builder b = { .l = l, .d = d, .c = c };
	struct knot *k;

	*l = (struct line){ .grid = g };
	k = knot_new(l, INT64_MIN, OUTSIDE_BEFORE, share_now(&b));
	k->share_time = k->moment = 0;
}

static void line_restart(struct line *l)
{
	l->knots.v[0] = l->knots.v[l->knots.nr - 1];
	l->t_ns.v[0] = l->t_ns.v[l->knots.nr - 1];
	l->knots.nr = l->t_ns.nr = 1;
	l->first_interval = l->knots.v[0].interval + 1;
	VEC_CLEAR(&l->first_knot);
	VEC_CLEAR(&l->before);
}

void line_extend(struct line *l, const struct domain *d, const struct share_class *c,
		 int64_t horizon_ns)
{
	struct builder b = { .l = l, .d = d, .c = c };
	const struct grid *g = l->grid;

	line_restart(l);
	b.sample = l->first_interval;
	for (;;) {
		int64_t sample = b.sample < (int64_t)g->n ? g->t_ns[b.sample] : INT64_MAX;
		int64_t active = step_time(&d->active, b.active);
		int64_t parts = c->kind == CLASS_SPLIT ? step_time(&c->parts, b.parts) : INT64_MAX;
		int64_t t = sample < active ? sample : active;

		t = parts < t ? parts : t;
		if (t >= horizon_ns || t == INT64_MAX)
			break;
		b.sample += sample == t;
		b.active += active == t;
		b.parts += parts == t;
		knot_put(&b, t);
	}
}

void line_release(struct line *l)
{
	VEC_RELEASE(&l->knots);
	VEC_RELEASE(&l->t_ns);
	VEC_RELEASE(&l->first_knot);
	VEC_RELEASE(&l->before);
}
