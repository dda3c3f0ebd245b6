#include "attribution_private.h"

#include <string.h>

/* A step function read at ascending times. */
struct step_reader {
	const struct steps *st;
	size_t next; /* first breakpoint after the last time asked for */
};

static uint32_t steps_value(const struct step_reader *r)
{
	return r->next == 0 ? 0 : r->st->count[r->next - 1];
}

/* Moves to t_ns; returns where the value changes next, INT64_MAX for never. */
static int64_t steps_move(struct step_reader *r, int64_t t_ns)
{
	while (r->next < r->st->n && r->st->t_ns[r->next] <= t_ns)
		r->next++;
	return r->next < r->st->n ? r->st->t_ns[r->next] : INT64_MAX;
}

struct share_builder {
	struct share *sh;
	size_t cap;
	const struct curve *c;
	struct step_reader active;
	bool independent;
	struct sum w;
	int64_t live_ns;
	struct share_totals *totals;
};

static void knot_push(struct share_builder *b, int64_t t_ns, uint8_t marks)
{
	struct share *sh = b->sh;

	if (sh->n == b->cap) {
		b->cap = vec_grow_cap(b->cap, sh->n + 1);
		sh->knots = xreallocarray(sh->knots, b->cap, sizeof(*sh->knots));
		if (b->c->marks)
			sh->marks = xreallocarray(sh->marks, b->cap, sizeof(*sh->marks));
	}
	sh->knots[sh->n] = (struct share_knot){
		.t_ns = t_ns,
		.w = sum_value(&b->w),
		.live_ns = b->live_ns,
	};
	if (sh->marks)
		sh->marks[sh->n] = marks;
	sh->n++;
}

/* The part [x0, x1] of interval i (ns after its start) goes to `active` sharers. */
static void add_piece(struct share_builder *b, size_t i, int64_t x0, int64_t x1, uint32_t active)
{
	const struct curve *c = b->c;
	double len = (double)(c->t_ns[i + 1] - c->t_ns[i]), x = (double)x0, dx = (double)(x1 - x0);
	uint8_t marks = c->marks ? c->marks[i] : 0;
	double a = c->de[i] / len, h = 0, e, divisor;
	struct share_knot *k;

	if (c->p0) {
		h = (c->p1[i] - c->p0[i]) * 1e-9 / (2 * len);
		a = c->p0[i] * 1e-9 + 2 * h * x; /* power at the part's own start */
	}
	e = dx * (a + h * dx);
	knot_push(b, c->t_ns[i] + x0, marks);
	k = &b->sh->knots[b->sh->n - 1];
	if (marks & CURVE_DEAD) {
		sum_add(&b->totals->dead_j, e);
		return;
	}
	k->live = 1;
	b->live_ns += x1 - x0;
	if (active == 0) {
		sum_add(&b->totals->idle_j, e);
		b->totals->idle_ns += x1 - x0;
		return;
	}
	sum_add(&b->totals->given_j, b->independent ? e * active : e);
	divisor = b->independent ? 1.0 : active;
	k->a = a / divisor;
	k->h = h / divisor;
	sum_add(&b->w, e / divisor);
}

static void add_interval(struct share_builder *b, size_t i)
{
	int64_t start = b->c->t_ns[i], end = b->c->t_ns[i + 1];

	for (int64_t t = start; t < end;) {
		int64_t change = steps_move(&b->active, t), next = change < end ? change : end;

		add_piece(b, i, t - start, next - start, steps_value(&b->active));
		t = next;
	}
}

static void count_marks(struct share *sh)
{
	uint32_t n[SHARE_MARK_BITS] = { 0 };

	if (!sh->marks)
		return;
	sh->marked = xreallocarray(NULL, sh->n, sizeof(*sh->marked));
	for (size_t i = 0; i < sh->n; i++) {
		for (int bit = 0; bit < SHARE_MARK_BITS; bit++) {
			sh->marked[i].before[bit] = n[bit];
			n[bit] += sh->marks[i] >> bit & 1;
		}
	}
}

void share_make(const struct curve *c, const struct steps *active, bool independent,
		struct share *ret, struct share_totals *totals)
{
	struct share_totals unused = { 0 };
	struct share_builder b = {
		.sh = ret,
		.c = c,
		.active = { active, 0 },
		.independent = independent,
		.totals = totals ? totals : &unused,
	};

	*ret = (struct share){ 0 };
	if (c->n < 2)
		return;
	b.cap = c->n + 1;
	ret->knots = xreallocarray(NULL, b.cap, sizeof(*ret->knots));
	if (c->marks)
		ret->marks = xmalloc(b.cap);
	for (size_t i = 0; i + 1 < c->n; i++)
		add_interval(&b, i);
	knot_push(&b, c->t_ns[c->n - 1], 0);
	count_marks(ret);
}

void share_release(struct share *sh)
{
	free(sh->knots);
	free(sh->marks);
	free(sh->marked);
	free(sh->base_at);
	*sh = (struct share){ 0 };
}

static void part_push(struct share *sh, struct share_pos base, double w, uint32_t parts)
{
	sh->knots[sh->n] = (struct share_knot){
		.t_ns = base.t_ns,
		.w = w,
		.a = parts > 1 ? 1.0 / parts : 1,
	};
	sh->base_at[sh->n++] = base.i;
}

void share_split(const struct share *base, const struct steps *parts, struct share *ret)
{
	struct share_pos at = share_begin(base);
	struct step_reader r = { parts, 0 };
	struct sum w = { 0, 0 };
	int64_t end_ns = base->knots[base->n - 1].t_ns;

	*ret = (struct share){
		.knots = xreallocarray(NULL, parts->n + 2, sizeof(*ret->knots)),
		.base = base,
		.base_at = xreallocarray(NULL, parts->n + 2, sizeof(*ret->base_at)),
	};
	while (at.t_ns < end_ns) {
		int64_t change = steps_move(&r, at.t_ns);
		struct share_pos next = share_seek(base, at, change < end_ns ? change : end_ns);

		part_push(ret, at, sum_value(&w), steps_value(&r));
		sum_add(&w, ret->knots[ret->n - 1].a * share_between(base, at, next));
		at = next;
	}
	part_push(ret, at, sum_value(&w), 1);
}

double share_between_parts(const struct share *sh, struct share_pos from, struct share_pos to)
{
	const struct share_knot *f = &sh->knots[from.i], *t = &sh->knots[to.i];
	struct share_pos a = share_base_pos(from), b = share_base_pos(to), first, last;

	if (from.i == to.i)
		return f->a * share_between(sh->base, a, b);
	first = (struct share_pos){ .i = sh->base_at[from.i + 1], .t_ns = f[1].t_ns };
	last = (struct share_pos){ .i = sh->base_at[to.i], .t_ns = t->t_ns };
	return f->a * share_between(sh->base, a, first) + (t->w - f[1].w) +
	       t->a * share_between(sh->base, last, b);
}

struct share_pos share_begin(const struct share *sh)
{
	return (struct share_pos){ .t_ns = sh->knots[0].t_ns };
}

/* The interval that holds t_ns, which is neither before interval i nor at or behind the end. */
static size_t seek_knot(const struct share *sh, size_t i, int64_t t_ns)
{
	size_t step = 1, lo, hi, last = sh->n - 1;

	/* Mostly the next boundary lies in the same interval or the one after; else gallop. */
	if (t_ns < sh->knots[i + 1].t_ns)
		return i;
	for (lo = i + 1; lo + step <= last && sh->knots[lo + step].t_ns <= t_ns; step *= 2)
		lo += step;
	hi = lo + step < last ? lo + step : last;
	while (hi - lo > 1) {
		size_t mid = lo + (hi - lo) / 2;

		if (sh->knots[mid].t_ns <= t_ns)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

struct share_pos share_seek(const struct share *sh, struct share_pos hint, int64_t t_ns)
{
	int64_t end_ns = sh->knots[sh->n - 1].t_ns;
	struct share_pos p = { .t_ns = t_ns < end_ns ? t_ns : end_ns };

	if (t_ns <= hint.t_ns)
		return hint;
	p.i = t_ns < end_ns ? seek_knot(sh, hint.i, t_ns) : sh->n - 1;
	if (sh->base)
		p.base_i = share_seek(sh->base, share_base_pos(hint), t_ns).i;
	return p;
}

uint8_t share_marks(const struct share *sh, struct share_pos from, struct share_pos to)
{
	size_t end = to.i;
	uint8_t marks = 0;

	if (sh->base)
		return share_marks(sh->base, share_base_pos(from), share_base_pos(to));
	if (!sh->marks || from.t_ns >= to.t_ns)
		return 0;
	if (to.t_ns > sh->knots[to.i].t_ns)
		end++; /* the interval of `to` is touched, not only its start */
	for (int bit = 0; bit < SHARE_MARK_BITS; bit++) {
		if (sh->marked[end].before[bit] > sh->marked[from.i].before[bit])
			marks |= (uint8_t)(1u << bit);
	}
	return marks;
}
