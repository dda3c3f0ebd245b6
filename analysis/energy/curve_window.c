/* Cuts a curve to windows of time. */
#include "attribution_private.h"

#include <string.h>

struct cutter {
	const struct curve *from;
	struct curve to;
	struct sum e;
};

static void knot_add(struct cutter *cu, int64_t t_ns)
{
	cu->to.t_ns[cu->to.n] = t_ns;
	cu->to.e[cu->to.n] = sum_value(&cu->e);
	cu->to.n++;
}

/* The part of interval i from a to b, behind the last knot, which is at a. */
static void part_add(struct cutter *cu, size_t i, int64_t a, int64_t b)
{
	const struct curve *c = cu->from;
	size_t k = cu->to.n - 1;
	double len = (double)(c->t_ns[i + 1] - c->t_ns[i]), share = (double)(b - a) / len;
	double de = c->de[i] * share;

	if (c->p0) {
		double slope = (c->p1[i] - c->p0[i]) / len;

		cu->to.p0[k] = c->p0[i] + slope * (double)(a - c->t_ns[i]);
		cu->to.p1[k] = c->p0[i] + slope * (double)(b - c->t_ns[i]);
		if (b - a < c->t_ns[i + 1] - c->t_ns[i])
			de = (cu->to.p0[k] + cu->to.p1[k]) / 2 * (double)(b - a) * 1e-9;
	}
	if (cu->to.dw)
		cu->to.dw[k] = c->dw[i] * share;
	cu->to.marks[k] = c->marks ? c->marks[i] : 0;
	cu->to.de[k] = de;
	sum_add(&cu->e, de);
	knot_add(cu, b);
}

/* From the end of the window before; nothing of that time counts. */
static void hole_add(struct cutter *cu, int64_t to_ns)
{
	cu->to.marks[cu->to.n - 1] = CURVE_DEAD;
	knot_add(cu, to_ns);
}

static void window_take(struct cutter *cu, const struct window *w, size_t *at)
{
	const struct curve *c = cu->from;
	int64_t a = w->from_ns > c->t_ns[0] ? w->from_ns : c->t_ns[0];
	int64_t b = w->to_ns < c->t_ns[c->n - 1] ? w->to_ns : c->t_ns[c->n - 1];

	if (a >= b)
		return;
	if (cu->to.n > 0 && a > cu->to.t_ns[cu->to.n - 1])
		hole_add(cu, a);
	else if (cu->to.n == 0)
		knot_add(cu, a);
	while (c->t_ns[*at + 1] <= a)
		(*at)++;
	while (a < b) {
		int64_t end = c->t_ns[*at + 1] < b ? c->t_ns[*at + 1] : b;

		part_add(cu, *at, a, end);
		a = end;
		if (a < b)
			(*at)++;
	}
}

void curve_window(struct curve *c, const struct window *w, size_t nr)
{
	size_t most = c->n + 2 * nr + 1, at = 0;
	struct cutter cu = { .from = c, .to = *c };

	cu.to.n = 0;
	cu.to.t_ns = xcalloc(most, sizeof(*cu.to.t_ns));
	cu.to.e = xcalloc(most, sizeof(*cu.to.e));
	cu.to.de = xcalloc(most, sizeof(*cu.to.de));
	cu.to.marks = xcalloc(most, 1);
	cu.to.p0 = c->p0 ? xcalloc(most, sizeof(*cu.to.p0)) : NULL;
	cu.to.p1 = c->p1 ? xcalloc(most, sizeof(*cu.to.p1)) : NULL;
	cu.to.dw = c->dw ? xcalloc(most, sizeof(*cu.to.dw)) : NULL;
	for (size_t i = 0; c->n > 1 && i < nr; i++)
		window_take(&cu, &w[i], &at);
	if (cu.to.n < 2)
		cu.to.flags |= CF_SHORT;
	curve_release(c);
	*c = cu.to;
}
