#include "sim_runs.h"

#include "profrig/base/rates.h"

/* MLPerf's least numbers of queries, at 99 %. */
TEST(least_tries)
{
	assert_int_equal(rate_tries(0.9, 0.99, 0, 1000000), 44);
	assert_int_equal(rate_tries(0.9, 0.99, 1, 1000000), 64);
	assert_int_equal(rate_tries(0.99, 0.99, 0, 1000000), 459);
	assert_int_equal(rate_tries(0.99, 0.99, 1, 1000000), 662);
	assert_int_equal(rate_tries(0.99, 0.99, 1, 662), 662);
	assert_int_equal(rate_tries(0.99, 0.99, 1, 661), 0);
	assert_int_equal(rate_tries(0.5, 0.9, 7, 7), 0);
	assert_int_equal(rate_tries(1, 0.9, 0, 100), 0);
	assert_int_equal(rate_tries(NAN, 0.9, 0, 100), 0);
	assert_int_equal(rate_tries(0.9, 1, 0, 100), 0);
}

/* "20 of 20 tries" as a rate of errors. */
TEST(gates)
{
	near(rate_of_all(20, 0.95), 0.0026, 5e-5);
	near(binomial_below(0, 20, 0.05), 0.36, 5e-3);
	near(pow(1 - rate_of_all(20, 0.95), 20), 0.95, 1e-12);
	assert_true(isnan(rate_of_all(0, 0.95)) && isnan(rate_of_all(20, 1)));
}

/* By hand: C(3, 0) + C(3, 1) of 8; a share of none of 10 is below 1 − 0.025^(1/10). */
TEST(binomial)
{
	struct rate r;

	near(binomial_below(1, 3, 0.5), 0.5, 1e-12);
	near(binomial_below(2, 3, 0.5), 7 / 8.0, 1e-12);
	near(binomial_below(3, 3, 0.5), 1, 0);
	near(binomial_below(0, 3, 0), 1, 0);
	near(binomial_below(0, 3, 1), 0, 0);
	rate_interval(0, 10, 0.95, &r);
	near(r.low, 0, 0);
	near(r.high, 1 - pow(0.025, 0.1), 1e-12);
	rate_interval(10, 10, 0.95, &r);
	near(r.low, pow(0.025, 0.1), 1e-12);
	near(r.high, 1, 0);
	rate_interval(3, 20, 0.95, &r);
	near(r.share, 0.15, 1e-12);
	near(1 - binomial_below(2, 20, r.low), 0.025, 1e-9);
	near(binomial_below(3, 20, r.high), 0.025, 1e-9);
	rate_interval(0, 0, 0.95, &r);
	assert_true(isnan(r.share) && r.low <= 0 && r.high >= 1);
}

/* The exact probability that the interval covers is never below what it says. */
TEST(covers)
{
	for (double p = 0.01; p < 1; p += 0.0371) {
		double covered = 0, before = 0;

		for (uint64_t k = 0; k <= 25; k++) {
			double upto = binomial_below(k, 25, p);
			struct rate r;

			rate_interval(k, 25, 0.95, &r);
			covered += r.low <= p && p <= r.high ? upto - before : 0;
			before = upto;
		}
		assert_true(covered >= 0.95);
	}
}
