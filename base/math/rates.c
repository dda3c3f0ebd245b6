#include "profrig/base/rates.h"

#include <math.h>

#define STEPS 60

static double log_choose(double n, double k)
{
	int sign;

	return lgamma_r(n + 1, &sign) - lgamma_r(k + 1, &sign) - lgamma_r(n - k + 1, &sign);
}

double binomial_below(uint64_t k, uint64_t n, double p)
{
	double sum = 0;

	if (k >= n || p <= 0)
		return 1;
	if (p >= 1)
		return 0;
	for (uint64_t i = 0; i <= k; i++)
		sum += exp(log_choose((double)n, (double)i) + (double)i * log(p) +
			   (double)(n - i) * log1p(-p));
	return fmin(sum, 1);
}

/* The p at which P(X <= k) is `below`; it falls with p. */
static double share_where(uint64_t k, uint64_t n, double below)
{
	double lo = 0, hi = 1;

	for (int i = 0; i < STEPS; i++) {
		double p = lo + (hi - lo) / 2;

		if (binomial_below(k, n, p) > below)
			lo = p;
		else
			hi = p;
	}
	return lo + (hi - lo) / 2;
}

void rate_interval(uint64_t hits, uint64_t tries, double confidence, struct rate *ret)
{
	double tail = (1 - confidence) / 2;

	*ret = (struct rate){ NAN, 0, 1 };
	if (tries == 0)
		return;
	ret->share = (double)hits / (double)tries;
	if (hits > 0)
		ret->low = share_where(hits - 1, tries, 1 - tail);
	if (hits < tries)
		ret->high = share_where(hits, tries, tail);
}

uint64_t rate_tries(double share, double confidence, uint64_t misses, uint64_t most)
{
	uint64_t lo = misses, hi = most;

	if (!(share > 0 && share < 1) || !(confidence > 0 && confidence < 1) || most <= misses ||
	    binomial_below(misses, most, 1 - share) > 1 - confidence)
		return 0;
	/* lo are too few, hi are enough */
	while (hi - lo > 1) {
		uint64_t n = lo + (hi - lo) / 2;

		if (binomial_below(misses, n, 1 - share) <= 1 - confidence)
			hi = n;
		else
			lo = n;
	}
	return hi;
}

double rate_of_all(uint64_t tries, double wanted)
{
	return tries > 0 && wanted > 0 && wanted < 1 ? -expm1(log(wanted) / (double)tries) : NAN;
}
