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

/* One side alone: the median of the fastest blocks of windows of 8, of an even number geometric. */
TEST(levels_by_hand)
{
	const struct {
		size_t blocks;
		double level;
	} cases[] = {
		{ 1, 10 }, { 7, 10 }, { 23, sqrt(22 * 10) }, { 24, 18 }, { 39, sqrt(30 * 20) },
		{ 40, 26 }
	};
	struct bench_block blocks[1 + 7 + 23 + 24 + 39 + 40];
	double levels[ARRAY_LEN(cases)] = { 0 };
	struct bench_turns side = { blocks, 0 };

	for (unsigned c = 0; c < ARRAY_LEN(cases); c++)
		for (size_t i = 0; i < cases[c].blocks; i++)
			/* … 12, 11, 10 */
			blocks[side.nr++] =
				(struct bench_block){ 9 + (double)(cases[c].blocks - i), c * 3 };
	assert_int_equal(bench_levels(&side, 1, levels, ARRAY_LEN(levels)), ARRAY_LEN(cases));
	for (size_t c = 0; c < ARRAY_LEN(cases); c++)
		near(levels[c], cases[c].level);
	/* no room, no blocks, no sides */
	assert_int_equal(bench_levels(&side, 1, levels, ARRAY_LEN(cases) - 1), 0);
	side.nr = 0;
	assert_int_equal(bench_levels(&side, 1, levels, 1), 0);
	assert_int_equal(bench_levels(&side, 0, levels, 1), 0);
}

/* Sides that do not have as many blocks of each process did not take turns. */
TEST(levels_of_unequal_sides)
{
	static const struct bench_block x[] = { { 1, 0 }, { 2, 0 }, { 3, 1 } };
	static const struct bench_block y[] = { { 1, 0 }, { 2, 1 }, { 3, 1 } };
	double levels[4];

	for (size_t n = 1; n <= 3; n++) {
		struct bench_turns sides[] = { { x, n }, { y, 3 } };

		assert_int_equal(bench_levels(sides, 2, levels, 2), 0);
	}
	assert_int_equal(bench_levels((struct bench_turns[]){ { x, 3 }, { x, 3 } }, 2, levels, 2),
			 2);
}

/*
 * Three windows of 8 blocks. A phase slows blocks of B alone in the first, one of nearly all of the
 * second leaves A's last block out, and the third has a block of B 100 times as slow.
 */
TEST(levels_leave_phases_out)
{
	struct bench_block a[24], b[24];
	const struct bench_turns sides[] = { { a, 24 }, { b, 24 } };
	double levels[2];

	for (unsigned i = 0; i < 24; i++) {
		a[i] = (struct bench_block){ 106, 4 };
		b[i] = (struct bench_block){ 116.6, 4 };
	}
	for (int i = 0; i < 7; i++)
		b[i].us *= 1.8;
	for (int i = 8; i < 16; i++) {
		a[i].us *= i == 15 ? 1 : 1.8;
		b[i].us *= 1.8;
	}
	b[20].us *= 100;
	assert_int_equal(bench_levels(sides, 2, levels, 1), 1);
	near(levels[1] / levels[0], 1.1);
	near(levels[0], 106);
	/* all of the process: slow is what all are */
	for (int i = 0; i < 24; i++) {
		a[i].us = 190;
		b[i].us = 209;
	}
	b[3].us = 116.6;
	assert_int_equal(bench_levels(sides, 2, levels, 1), 1);
	near(levels[0], 190);
	near(levels[1], 209);
}

static double unit(uint64_t *seed)
{
	return (double)(rnd(seed) >> 11) * 0x1p-53;
}

/*
 * Two and three sides whose blocks take turns on a host that slows down by 80 % in phases which
 * begin and end at any time: ratios of levels are those of the sides, ratios of means are not.
 */
TEST(levels_of_sides_in_turn)
{
	static const double speed[] = { 1, 1, 1.1 };
	uint64_t seed = 5, cases = test_cases(200), wrong = 0, wrong_means = 0;

	for (uint64_t c = 0; c < cases; c++) {
		struct bench_block blocks[3][24];
		struct bench_turns turns[3];
		size_t sides = 2 + c % 2;
		double level[3], mean[3] = { 0 }, left = 0;
		bool slow = false;

		for (unsigned k = 0; k < 24; k++)
			for (size_t i = 0; i < sides; i++) {
				size_t s = k % 2 ? sides - 1 - i : i;
				double us = 100 * speed[3 - sides + s] * (1 + 0.01 * unit(&seed));

				if (left-- <= 0) {
					slow = unit(&seed) < 0.4;
					left = 8 * unit(&seed);
				}
				blocks[s][k] = (struct bench_block){ slow ? us * 1.8 : us, 0 };
				mean[s] += blocks[s][k].us;
			}
		for (size_t s = 0; s < sides; s++)
			turns[s] = (struct bench_turns){ blocks[s], 24 };
		assert_int_equal(bench_levels(turns, sides, level, 1), 1);
		wrong += fabs(level[sides - 1] / level[0] / 1.1 - 1) > 0.02;
		wrong_means += fabs(mean[sides - 1] / mean[0] / 1.1 - 1) > 0.02;
	}
	assert_true((double)wrong / (double)cases < 0.02);
	assert_true((double)wrong_means / (double)cases > 0.5);
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

/* Phases of 12 blocks are no drift of 240. A step of 5 % behind two thirds is one. */
TEST(drift_and_phases)
{
	uint64_t seed = 3, cases = test_cases(500), noted = 0;

	for (uint64_t c = 0; c < cases; c++) {
		struct bench_block blocks[240];
		struct bench_figures f;
		double phase = 0;

		for (unsigned i = 0; i < 240; i++) {
			if (i % 12 == c % 12)
				phase = 4 * unit(&seed);
			blocks[i] = (struct bench_block){ 100 + phase + unit(&seed), i / 24 };
		}
		bench_stats(blocks, 240, &f);
		noted += f.drifts;
		for (unsigned i = 160; i < 240; i++)
			blocks[i].us += 5;
		bench_stats(blocks, 240, &f);
		assert_true(f.drift > 0.02 && f.drift < 0.08);
	}
	assert_true((double)noted / (double)cases < 0.1);
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
