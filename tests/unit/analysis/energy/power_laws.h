/* What every fit of powers must keep, whatever its data. */
#ifndef POWER_LAWS_H
#define POWER_LAWS_H

#include "power_sim.h"

#include <math.h>

#include "profrig/base/vec.h"

#define assert_near(got, want, tolerance) \
	do { \
		double got_ = (got), want_ = (want); \
		if (!(fabs(got_ - want_) <= (tolerance))) \
			fail_msg("%s:%d: got %.12g, want %.12g", __FILE__, __LINE__, got_, want_); \
	} while (0)

/* Of the intervals that are not halo. */
static inline double energy_sum(const struct power_data *d)
{
	double sum = 0;

	for (size_t i = 0; i < d->n; i++)
		sum += d->halo && d->halo[i] ? 0 : d->energy_j[i];
	return sum;
}

static inline void class_sane(const struct power_class *k, uint32_t f)
{
	assert_true(isfinite(k->energy_j) && k->energy_j >= 0);
	assert_true(isfinite(k->half_width_j) && k->half_width_j >= 0);
	assert_true(isfinite(k->own_width_j) && k->own_width_j >= 0);
	assert_true(isfinite(k->w) && k->w >= 0);
	assert_true(isfinite(k->time_s) && k->time_s >= 0);
	assert_true(k->group <= f);
}

static inline double class_sum(const struct power_data *d, const struct power_fit *fit)
{
	double sum = 0;

	for (uint32_t f = 0; f < d->classes; f++) {
		class_sane(&fit->classes[f], f);
		sum += fit->classes[f].energy_j;
	}
	return sum;
}

/* No class has more than the intervals in which it ran, and those behind them. */
static inline void assert_no_more_than_ran(const struct power_data *d, const struct power_fit *fit)
{
	CLEANUP(xfreep) double *most_j = xcalloc((size_t)d->classes + 1, sizeof(*most_j));
	CLEANUP(xfreep) size_t *next = xcalloc((size_t)d->classes + 1, sizeof(*next));

	for (size_t i = 0; i < d->n; i++) {
		for (size_t k = d->first[i]; k < d->first[i + 1]; k++) {
			uint32_t f = d->parts[k].class_id;

			for (next[f] = next[f] > i ? next[f] : i; next[f] < i + 2 && next[f] < d->n;
			     next[f]++)
				most_j[f] += d->halo && d->halo[next[f]] ? 0 : d->energy_j[next[f]];
		}
	}
	for (uint32_t f = 0; f < d->classes; f++)
		assert_true(fit->classes[f].energy_j <= 1.02 * most_j[f] + 1e-12);
}

/* A fit in which no number is odd, and the classes have what the intervals had. */
static inline struct power_fit fit_of(const struct power_data *d)
{
	struct power_fit fit;
	double all = energy_sum(d);

	power_fit_make(d, &fit);
	assert_near(class_sum(d, &fit), all, 1e-12 * all);
	assert_no_more_than_ran(d, &fit);
	for (size_t k = 0; k < d->first[d->n]; k++)
		assert_true(isfinite(fit.weight_w[k]) && fit.weight_w[k] >= 0);
	assert_true(isfinite(fit.explained) && isfinite(fit.residual_w) && isfinite(fit.lag1));
	assert_true(isfinite(fit.lag_s) && fit.windows >= 1 && fit.intervals <= d->n);
	return fit;
}

/* A program with its fit. */
struct fitted {
	struct power_sim s;
	struct power_fit fit;
};

static inline struct fitted fitted(const struct power_plan *plan)
{
	struct fitted x = { .s = power_sim_of(plan) };

	x.fit = fit_of(&x.s.data);
	return x;
}

static inline void fitted_release(struct fitted *x)
{
	power_fit_release(&x->fit);
	power_sim_release(&x->s);
}

/* Each class's energy is the truth but for a part of it. */
static inline void assert_energies(const struct power_sim *s, const struct power_fit *fit,
				   double part)
{
	for (uint32_t f = 0; f < s->classes; f++)
		assert_near(fit->classes[f].energy_j, s->truth_j[f], part * s->truth_j[f]);
}

#endif
