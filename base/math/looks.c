#include "profrig/base/looks.h"
#include "quadrature.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "profrig/base/bootstrap.h"
#include "profrig/base/xalloc.h"

#define PANELS_LEAST 6
#define PANELS_MOST 64
#define STEPS 50
#define Z_MAX 40.0

/* What has not stopped: a density of the sum at these points, which weigh so much each. */
struct going_on {
	double *at, *density, *weight;
	size_t nr;
};

static void going_on_release(struct going_on *g)
{
	free(g->at);
	free(g->density);
	free(g->weight);
}

/* Points on (−limit, limit), several in each deviation of what the next runs add. */
static struct going_on points_make(double limit, double step)
{
	double wanted = fmin(fmax(ceil(limit / step), PANELS_LEAST), PANELS_MOST);
	size_t panels = (size_t)wanted, nr = panels * QUADRATURE_NODES;
	struct going_on g = { xcalloc(nr, sizeof(double)), xcalloc(nr, sizeof(double)),
			      xcalloc(nr, sizeof(double)), nr };
	double width = 2 * limit / wanted;

	for (size_t i = 0; i < nr; i++) {
		size_t panel = i / QUADRATURE_NODES;
		double begin = -limit + width * (double)panel;

		g.at[i] = quadrature_at(begin, begin + width, (int)(i % QUADRATURE_NODES),
					&g.weight[i]);
	}
	return g;
}

static double normal_density(double x, double variance)
{
	return exp(-x * x / (2 * variance)) / sqrt(2 * M_PI * variance);
}

/* g of the look before, which is released; added: runs since. */
static void look_next(struct going_on *g, struct going_on next, double added)
{
	for (size_t i = 0; i < next.nr; i++)
		for (size_t k = 0; k < g->nr; k++)
			next.density[i] += g->weight[k] * g->density[k] *
					   normal_density(next.at[i] - g->at[k], added);
	going_on_release(g);
	*g = next;
}

/* What is left within the limit after the runs of the last look. */
static double look_last(const struct going_on *g, double limit, double added)
{
	double left = 0, deviation = sqrt(added);

	for (size_t k = 0; k < g->nr; k++)
		left += g->weight[k] * g->density[k] *
			(normal_below((limit - g->at[k]) / deviation) -
			 normal_below((-limit - g->at[k]) / deviation));
	return left;
}

static bool looks_count(const double *n, size_t looks)
{
	for (size_t k = 0; k < looks; k++)
		if (!(n[k] > (k > 0 ? n[k - 1] : 0)) || !isfinite(n[k]))
			return false;
	return looks > 0;
}

static double z_of(double level)
{
	return fmin(-normal_quantile(level / 2), Z_MAX);
}

double looks_error(const double *n, const double *level, size_t looks)
{
	struct going_on g = { 0 };
	double limit, left;

	if (!looks_count(n, looks))
		return NAN;
	for (size_t k = 0; k < looks; k++)
		if (!(level[k] >= 0 && level[k] < 1))
			return NAN;
	if (looks == 1)
		return level[0];
	for (size_t k = 0; k + 1 < looks; k++) {
		/* beyond 10 deviations there is nothing, whatever the limit */
		limit = fmin(z_of(level[k]), 10) * sqrt(n[k]);
		struct going_on next = points_make(limit, sqrt(n[k + 1] - n[k]));

		if (k > 0)
			look_next(&g, next, n[k] - n[k - 1]);
		else
			g = next;
		for (size_t i = 0; k == 0 && i < g.nr; i++)
			g.density[i] = normal_density(g.at[i], n[0]);
	}
	limit = z_of(level[looks - 1]) * sqrt(n[looks - 1]);
	left = look_last(&g, limit, n[looks - 1] - n[looks - 2]);
	going_on_release(&g);
	return 1 - left;
}

/* ---- levels ---- */

enum shape { EVEN, LATE };

/* z: at the last look. */
static void levels_fill(enum shape shape, const double *n, size_t looks, double z, double *level)
{
	for (size_t k = 0; k < looks; k++)
		level[k] = 2 * normal_below(shape == EVEN ? -z : -z * sqrt(n[looks - 1] / n[k]));
}

static void levels_find(enum shape shape, const double *n, size_t looks, double alpha,
			double *level)
{
	double lo = z_of(alpha), hi = lo + 10;

	for (int i = 0; i < STEPS; i++) {
		double z = lo + (hi - lo) / 2;

		levels_fill(shape, n, looks, z, level);
		if (looks_error(n, level, looks) > alpha)
			lo = z;
		else
			hi = z;
	}
	levels_fill(shape, n, looks, hi, level);
}

double looks_level_even(const double *n, size_t looks, double alpha)
{
	double *level, found;

	if (!looks_count(n, looks) || !(alpha > 0 && alpha < 1))
		return NAN;
	level = xcalloc(looks, sizeof(*level));
	levels_find(EVEN, n, looks, alpha, level);
	found = level[0];
	free(level);
	return found;
}

void looks_level_late(const double *n, size_t looks, double alpha, double *ret_level)
{
	if (looks_count(n, looks) && alpha > 0 && alpha < 1)
		levels_find(LATE, n, looks, alpha, ret_level);
	else
		for (size_t k = 0; k < looks; k++)
			ret_level[k] = NAN;
}
