/*
 * moments: count, sum, sum of squares and range of non-negative integers, exact:
 * any order of additions and merges gives the same numbers to the last bit.
 *
 *	struct moments m = MOMENTS_INIT;
 *	moments_add(&m, ns); …
 *	moments_mean(&m), moments_stddev(&m)
 *
 * Sums of 128 bits hold 2^22 durations of 104 days squared; beyond that they stay at their largest.
 */
#ifndef PROFRIG_MOMENTS_H
#define PROFRIG_MOMENTS_H

#include <stdint.h>

struct moments {
	uint64_t n;
	int64_t min, max; /* 0 while n is 0 */
	unsigned __int128 sum, squares;
};
#define MOMENTS_INIT \
	{ \
		0, 0, 0, 0, 0 \
	}

/* v below 0 counts as 0 */
static inline void moments_add(struct moments *m, int64_t v)
{
	uint64_t u = v < 0 ? 0 : (uint64_t)v;

	if (m->n == 0 || (int64_t)u < m->min)
		m->min = (int64_t)u;
	if ((int64_t)u > m->max)
		m->max = (int64_t)u;
	m->n++;
	m->sum += u;
	if (__builtin_expect(
		    __builtin_add_overflow(m->squares, (unsigned __int128)u * u, &m->squares), 0))
		m->squares = ~(unsigned __int128)0;
}

void moments_merge(struct moments *m, const struct moments *more);
double moments_mean(const struct moments *m);   /* 0 for none */
double moments_stddev(const struct moments *m); /* of a sample (n − 1); 0 below two */
int64_t moments_sum(const struct moments *m);   /* at most INT64_MAX */

#endif
