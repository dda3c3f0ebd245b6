#include "attribution_private.h"

#include <string.h>

bool grid_fits(const struct grid *g, const struct curve *curve)
{
	return g->n == curve->n &&
	       memcmp(g->t_ns, curve->t_ns, curve->n * sizeof(*curve->t_ns)) == 0;
}

bool grid_dead(const struct grid_counter *c, int64_t interval)
{
	return c->curve.marks && c->curve.marks[interval] & CURVE_DEAD;
}

bool grid_inside(const struct grid *g, int64_t interval)
{
	return interval >= 0 && (size_t)interval + 1 < g->n;
}

uint8_t grid_marks(const struct grid_counter *c, int64_t from, int64_t to)
{
	uint8_t marks = 0;

	if (!c->marked || c->marked[from] == c->marked[to])
		return 0;
	for (int64_t i = from; i < to; i++)
		marks |= c->curve.marks[i];
	return marks;
}

static void count_marks(struct grid_counter *c)
{
	const uint8_t *marks = c->curve.marks;

	if (!marks)
		return;
	c->marked = xcalloc(c->curve.n, sizeof(*c->marked));
	for (size_t i = 0; i + 1 < c->curve.n; i++)
		c->marked[i + 1] = c->marked[i] + (marks[i] != 0);
}

/* Of n values the sum must fit: of a million samples each may have 10^5 W. No device draws it. */
static int64_t in_units(double v, double unit, size_t n)
{
	double most = 0x1p62 / (double)n;

	return (int64_t)fmax(-most, fmin(v / unit, most));
}

static void count_whole(struct grid_counter *c)
{
	size_t n = c->curve.n;

	if (c->curve.marks) {
		c->whole = xcalloc(n, sizeof(*c->whole));
		c->live_ns = xcalloc(n, sizeof(*c->live_ns));
	}
	c->power = xcalloc(n, sizeof(*c->power));
	c->power_squared = xcalloc(n, sizeof(*c->power_squared));
	for (size_t i = 0; i + 1 < n; i++) {
		int64_t len_ns = c->curve.t_ns[i + 1] - c->curve.t_ns[i];
		double w = curve_statistic_j(&c->curve, (int64_t)i) / ((double)len_ns * 1e-9);
		bool dead = grid_dead(c, (int64_t)i);

		if (c->whole) {
			c->whole[i + 1] = c->whole[i] + !dead;
			c->live_ns[i + 1] = c->live_ns[i] + (dead ? 0 : len_ns);
		}
		c->power[i + 1] = c->power[i] + (dead ? 0 : in_units(w, POWER_UNIT, n));
		c->power_squared[i + 1] =
			c->power_squared[i] + (dead ? 0 : in_units(w * w, POWER_SQUARED_UNIT, n));
	}
}

void grid_add(struct grid *g, size_t job, struct curve *curve, double step_j, double max_w)
{
	struct grid_counter c = { .job = job, .curve = *curve, .step_j = step_j, .max_w = max_w };

	*curve = (struct curve){ 0 };
	count_whole(&c);
	count_marks(&c);
	if (g->counters.nr == 0) {
		g->n = c.curve.n;
		g->t_ns = c.curve.t_ns;
	}
	g->moments |= c.curve.p0 != NULL;
	g->marked |= c.curve.marks != NULL;
	g->lags |= c.curve.dw != NULL;
	VEC_PUSH(&g->counters, c);
}

void grid_release(struct grid *g)
{
	for (size_t i = 0; i < g->counters.nr; i++) {
		struct grid_counter *c = &g->counters.v[i];

		curve_release(&c->curve);
		free(c->whole);
		free(c->live_ns);
		free(c->marked);
		free(c->power);
		free(c->power_squared);
	}
	VEC_RELEASE(&g->counters);
	*g = (struct grid){ 0 };
}

double grid_rate(const struct grid_counter *c, int64_t interval)
{
	return c->curve.de[interval] /
	       (double)(c->curve.t_ns[interval + 1] - c->curve.t_ns[interval]);
}

fixed128 grid_energy(const struct grid_counter *c, int64_t interval, fixed128 share_time,
		     fixed128 moment)
{
	const struct curve *k = &c->curve;
	int64_t len_ns = k->t_ns[interval + 1] - k->t_ns[interval];
	double ns = fixed_time_value(share_time), slope;

	if (!k->p0 || len_ns > MOMENT_MAX_NS)
		return fixed_from(grid_rate(c, interval) * ns);
	slope = (k->p1[interval] - k->p0[interval]) / (double)len_ns;
	return fixed_from(1e-9 *
			  (k->p0[interval] * ns +
			   slope / 2 * ((double)moment * (FIXED_UNIT * (1 << MOMENT_SHIFT)))));
}
