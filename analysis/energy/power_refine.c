#include "power_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/xalloc.h"

#define REFINE_ROUNDS 12
#define HOPELESS_GAIN 0.5   /* of what chance gains */
#define REFINE_SETTLED 1e-3 /* Σ T·|ΔP| / ΣE, of parents */

struct refinement {
	const struct power_window *w;
	const uint32_t *parent; /* by class of the data */
	double *given_w;        /* by class of the window, as the next */
	double *fine_w, *error_w;
	double *sum_j, *sum_s; /* by parent */
	double lag_s;
	double gain, chance; /* over the parents' powers of the fit */
};

/* Parents become the mean powers of their parts. Returns Σ T·|ΔP|. */
static double parents_mean(struct refinement *r, const struct solution *s)
{
	const struct power_window *w = r->w;
	double moved = 0;

	memset(r->sum_j, 0, w->d->classes * sizeof(*r->sum_j));
	memset(r->sum_s, 0, w->d->classes * sizeof(*r->sum_s));
	for (uint32_t c = 0; c < w->d->classes; c++) {
		uint32_t f = w->class_of[c];

		if (f == POWER_NO_CLASS)
			continue;
		r->sum_j[r->parent[c]] += s->p_w[f] * s->t_s[f];
		r->sum_s[r->parent[c]] += s->t_s[f];
	}
	for (uint32_t c = 0; c < w->d->classes; c++) {
		uint32_t f = w->class_of[c];
		double mean_w;

		if (f == POWER_NO_CLASS || r->sum_s[r->parent[c]] <= 0)
			continue;
		mean_w = r->sum_j[r->parent[c]] / r->sum_s[r->parent[c]];
		moved += fabs(mean_w - r->given_w[f]) * s->t_s[f];
		r->given_w[f] = mean_w;
	}
	return moved;
}

/* Returns whether parents moved. */
static bool refine_round(struct refinement *r, struct solution *s, double *coarse)
{
	double before;

	solution_refine(s, r->error_w);
	memcpy(r->fine_w, s->p_w, r->w->classes * sizeof(*r->fine_w));
	r->chance = power_chance_gain(s->parameters, 0);
	before = misfit_of(s, r->fine_w);
	if (*coarse < 0)
		*coarse = misfit_of(s, r->given_w);
	r->gain = (*coarse - before) / s->phi;
	memcpy(s->p_w, r->fine_w, r->w->classes * sizeof(*r->fine_w));
	return parents_mean(r, s) > REFINE_SETTLED * power_energy_counted(r->w->d);
}

/* Later rounds only move the parents: what gains too little in the first will not gain enough. */
static bool is_hopeless(const struct refinement *r)
{
	return r->gain < r->chance * HOPELESS_GAIN;
}

static bool refine_window(struct refinement *r)
{
	CLEANUP(solution_release) struct solution s;
	double coarse = -1;

	solution_refine_begin(&s, r->w, r->given_w, r->lag_s);
	for (int k = 0; k < REFINE_ROUNDS; k++) {
		if (!refine_round(r, &s, &coarse) || is_hopeless(r))
			break;
	}
	for (uint32_t f = 0; f < r->w->classes; f++) {
		if (!isfinite(r->fine_w[f]) || !(r->fine_w[f] >= 0))
			return false;
	}
	return isfinite(r->gain) && r->gain > r->chance;
}

bool power_fit_refine(const struct power_data *d, const uint32_t *parent, const double *parent_w,
		      double lag_s, double *power_w, double *error_w)
{
	uint32_t *class_of = xcalloc((size_t)d->classes + 1, sizeof(*class_of));
	uint32_t classes = power_classes_of(d, 0, d->n, class_of);
	CLEANUP(power_window_release) struct power_window w = { 0 };
	CLEANUP(xfreep) double *v = xcalloc(5 * (size_t)d->classes + 1, sizeof(*v));
	struct refinement r = { .w = &w,
				.parent = parent,
				.given_w = v,
				.fine_w = v + d->classes,
				.sum_j = v + 2 * (size_t)d->classes,
				.sum_s = v + 3 * (size_t)d->classes,
				.error_w = v + 4 * (size_t)d->classes,
				.lag_s = lag_s };
	bool better;

	power_window_make(&w, d, 0, d->n, class_of, classes);
	for (uint32_t c = 0; c < d->classes; c++) {
		power_w[c] = parent_w[parent[c]];
		error_w[c] = 0;
		if (class_of[c] != POWER_NO_CLASS)
			r.given_w[class_of[c]] = power_w[c];
	}
	if (classes == 0 || (classes > POWER_DENSE && classes > w.intervals))
		return false;
	better = refine_window(&r);
	for (uint32_t c = 0; c < d->classes; c++) {
		if (class_of[c] == POWER_NO_CLASS)
			continue;
		error_w[c] = isfinite(r.error_w[class_of[c]]) ? r.error_w[class_of[c]] : 0;
		if (better)
			power_w[c] = r.fine_w[class_of[c]];
	}
	return better;
}
