#include "../../test.h"

#include <math.h>

#include "profrig/bench/bench_stats.h"

static void near(double got, double want)
{
	if (!(fabs(got - want) <= 1e-9 * fabs(want) + 1e-12))
		fail_msg("%.12g, not %.12g", got, want);
}

TEST(known_answers)
{
	/* means of processes 2, 4, 6: s = 2, t(2) = 4.30265273 */
	static const struct bench_block blocks[] = { { 1, 0 }, { 3, 0 }, { 3, 1 },
						     { 5, 1 }, { 5, 2 }, { 7, 2 } };
	struct bench_figures f;

	bench_stats(blocks, ARRAY_LEN(blocks), &f);
	assert_int_equal(f.blocks, 6);
	assert_int_equal(f.processes, 3);
	near(f.mean, 4);
	near(f.median, 4);
	near(f.min, 1);
	near(f.stddev, sqrt(22.0 / 5));
	near(f.error, 2 / sqrt(3));
	near(f.high, 4 + 4.302652729696142 * 2 / sqrt(3));
	/* a time is not below 0 */
	near(f.low, 0);
	assert_false(f.drifts);
}

TEST(never_narrower_than_over_blocks)
{
	/* equal means of processes, blocks that differ */
	static const struct bench_block blocks[] = { { 9, 0 }, { 11, 0 }, { 9, 1 }, { 11, 1 } };
	struct bench_figures f;

	bench_stats(blocks, ARRAY_LEN(blocks), &f);
	near(f.mean, 10);
	near(f.high - f.mean, 3.182446305284263 * sqrt(4.0 / 3) / 2);
	near(f.mean - f.low, f.high - f.mean);
}

TEST(few_blocks)
{
	static const struct bench_block one[] = { { 5, 0 } };
	struct bench_figures f;

	bench_stats(NULL, 0, &f);
	assert_true(isnan(f.mean) && isnan(f.low) && isnan(f.high) && isnan(f.error));
	bench_stats(one, 1, &f);
	near(f.mean, 5);
	near(f.median, 5);
	near(f.stddev, 0);
	assert_true(isnan(f.low) && isnan(f.high) && isnan(f.error));
	assert_int_equal(f.processes, 1);
}

TEST(drift)
{
	struct bench_block blocks[30];
	struct bench_figures f;
	uint64_t seed = 7;

	for (int i = 0; i < 30; i++)
		blocks[i] = (struct bench_block){ 100 + (double)(rnd(&seed) % 1000) / 1000 +
							  (i >= 20 ? 5 : 0),
						  (unsigned)i / 10 };
	bench_stats(blocks, 30, &f);
	assert_true(f.drifts);
	assert_true(f.drift > 0.04 && f.drift < 0.06);
	for (int i = 20; i < 30; i++)
		blocks[i].us -= 5;
	bench_stats(blocks, 30, &f);
	assert_false(f.drifts);
}

/* 95 % of such intervals hold the true mean, where processes differ and where they do not. */
TEST(coverage)
{
	uint64_t seed = 11, cases = test_cases(4000), held = 0, held_alike = 0;

	for (uint64_t c = 0; c < cases; c++) {
		struct bench_block own[24], alike[24];
		struct bench_figures f;
		double of_process = 0;

		for (unsigned i = 0; i < 24; i++) {
			double noise = 0;

			if (i % 8 == 0) {
				of_process = 0;
				for (int k = 0; k < 12; k++)
					of_process += (double)(rnd(&seed) >> 11) * 0x1p-53 - 0.5;
			}
			for (int k = 0; k < 12; k++)
				noise += (double)(rnd(&seed) >> 11) * 0x1p-53 - 0.5;
			own[i] = (struct bench_block){ 100 + of_process * 3 + noise, i / 8 };
			alike[i] = (struct bench_block){ 100 + noise, i / 8 };
		}
		bench_stats(own, 24, &f);
		held += f.low <= 100 && f.high >= 100;
		bench_stats(alike, 24, &f);
		held_alike += f.low <= 100 && f.high >= 100;
	}
	assert_true((double)held / (double)cases > 0.93);
	assert_true((double)held_alike / (double)cases > 0.94);
}
