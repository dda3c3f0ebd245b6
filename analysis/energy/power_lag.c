#include "power_private.h"

#include <math.h>

#include "profrig/base/xalloc.h"

/* The powers of what runs in an interval: their sum, and how many there are. */
struct powers_there {
	double sum_w, nr;
};

static uint32_t class_there(const struct solution *s, const struct power_part *p)
{
	return p->t_s > 0 ? s->w->class_of[p->class_id] : POWER_NO_CLASS;
}

static struct powers_there powers_in(const struct solution *s, size_t i)
{
	const struct power_data *d = s->w->d;
	struct powers_there ret = { 0 };

	for (size_t k = d->first[i]; k < d->first[i + 1]; k++) {
		uint32_t f = class_there(s, &d->parts[k]);

		if (f == POWER_NO_CLASS)
			continue;
		ret.sum_w += s->p_w[f];
		ret.nr++;
	}
	return ret;
}

/* What some gain others lose: how much that is, gains and losses tell each in their own way. */
static void lag_balance(double *lag_j, size_t n)
{
	double gain = 0, loss = 0;

	for (size_t f = 0; f < n; f++) {
		gain += fmax(lag_j[f], 0);
		loss += fmax(-lag_j[f], 0);
	}
	for (size_t f = 0; gain > 0 && loss > 0 && f < n; f++)
		lag_j[f] *= (gain + loss) / 2 / (lag_j[f] > 0 ? gain : loss);
}

/*
 * Which call is before is known where two classes share an interval; of more, any may be. A call
 * that is shorter than the lag is moved as a whole.
 */
static double part_gains(const struct solution *s, const struct power_part *p, uint32_t f,
			 const struct powers_there *there, double call_s)
{
	double calls = fmax(1, p->t_s / call_s);
	double lag_s = fmin(fabs(s->lag_s[0]), fmax(call_s, p->t_s / calls));
	double others_w = there->nr > 1 ? (there->sum_w - s->p_w[f]) / (there->nr - 1) : s->p_w[f];

	return copysign(calls * lag_s, s->lag_s[0]) * (others_w - s->p_w[f]);
}

void lag_energies(const struct solution *s, double *to)
{
	const struct power_data *d = s->w->d;
	CLEANUP(xfreep) double *call_s = xcalloc((size_t)s->c.classes + 1, sizeof(*call_s));

	class_medians(&s->c, call_s);
	for (size_t r = 0; r < s->c.n; r++) {
		size_t i = s->c.interval[r];
		struct powers_there there = powers_in(s, i);

		for (size_t k = d->first[i]; k < d->first[i + 1]; k++) {
			const struct power_part *p = &d->parts[k];
			uint32_t f = class_there(s, p);

			if (f != POWER_NO_CLASS && p->begin < 0.5F && call_s[f] > 0)
				to[f] += part_gains(s, p, f, &there, call_s[f]);
		}
	}
	lag_balance(to, s->c.classes);
}
