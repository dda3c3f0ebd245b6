/*
 * sum: adding many numbers without losing the small ones (Neumaier's compensated sum). Energies of
 * a million short calls add up to the counter's total to the last digits, in any order.
 *
 *	struct sum s = SUM_INIT;
 *	sum_add(&s, v); …
 *	sum_value(&s)
 */
#ifndef PROFRIG_SUM_H
#define PROFRIG_SUM_H

#include <math.h>

struct sum {
	double hi, lo;
};
#define SUM_INIT \
	{ \
		0, 0 \
	}

static inline void sum_add(struct sum *s, double v)
{
	double t = s->hi + v;

	s->lo += fabs(s->hi) >= fabs(v) ? (s->hi - t) + v : (v - t) + s->hi;
	s->hi = t;
}

static inline double sum_value(const struct sum *s)
{
	return s->hi + s->lo;
}

#endif
