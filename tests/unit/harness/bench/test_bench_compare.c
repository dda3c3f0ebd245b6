/* Two sides and more: statistics, effects, winners. */
#include "compare_lines.h"

/* By Welch's formulas, written out anew. */
TEST_IN(a_pair_by_hand, dir)
{
	const struct line a[] = {
		{ .backend = "x", .key = GEMM, .mean = 100, .half = 2, .calls = 1000 }
	};
	const struct line b[] = { { .backend = "x",
				    .key = GEMM,
				    .mean = 110,
				    .half = 1,
				    .processes = 5,
				    .energy_j = 3 } };
	struct compared cmp = COMPARED_INIT;
	double ea = 2 / student_t(0.95, 2) / 100, eb = 1 / student_t(0.95, 4) / 110;
	double df = (ea * ea + eb * eb) * (ea * ea + eb * eb) /
		    (ea * ea * ea * ea / 2 + eb * eb * eb * eb / 4);
	double half = student_t_real(0.95, df) * hypot(ea, eb);
	double va = 1e-3 * 100 * ea, vb = 1e-3 * 110 * eb;
	double df_s = (va * va + vb * vb) * (va * va + vb * vb) /
		      (va * va * va * va / 2 + vb * vb * vb * vb / 4);
	const struct bench_pair *p;
	const struct bench_versus *v;

	compare_lines(&cmp, dir, a, 1, b, 1, NULL);
	assert_int_equal(cmp.c.pairs.nr, 1);
	p = cmp.c.pairs.v;
	near(p->c.ratio, 1.1);
	near(p->c.df, df);
	near(p->c.low, 1.1 * exp(-half));
	near(p->c.high, 1.1 * exp(half));
	near(p->c.p, student_p(log(1.1) / hypot(ea, eb), df));
	near(p->p_adj, p->c.p);
	assert_int_equal(p->verdict, BENCH_SLOWER);
	assert_null(p->reason);
	near(p->seconds.value, 1000 * 10e-6);
	near(p->seconds.high - p->seconds.value, student_t_real(0.95, df_s) * hypot(va, vb));
	near(p->share, 0.1);
	assert_true(isnan(p->joules.value));
	assert_int_equal(p->winner, 0);
	assert_false(p->tied);
	v = cmp.c.versus.v;
	near(v->a_s, 0.1);
	near(v->b_s, 0.11);
	near(v->seconds.value, 0.01);
	near(v->seconds.low, p->seconds.low);
	near(v->relative.value, 0.1);
	near(v->relative.low, p->c.low - 1);
	assert_true(v->comparable);
	near(v->score, 1);
	assert_int_equal(v->verdict, BENCH_SLOWER);
	compared_release(&cmp);
}

/* A file with both modes is joined with each of them. */
TEST_IN(each_mode_with_its_own, dir)
{
	const struct line a[] = LIST({ .backend = "x", .key = GEMM, .mean = 100 },
				     { .backend = "x", .key = GEMM, .mean = 200, .cache = "cold" });
	const struct line b[] = { { .backend = "x", .key = GEMM, .mean = 200, .cache = "cold" } };
	struct compared cmp = COMPARED_INIT;

	compare_lines(&cmp, dir, a, 2, b, 1, NULL);
	assert_int_equal(cmp.c.pairs.nr, 1);
	assert_int_equal(cmp.c.pairs.v[0].verdict, BENCH_SAME);
	assert_int_equal(cmp.c.versus.v[0].left[BENCH_ONLY_A], 1);
	assert_true(cmp.c.versus.v[0].comparable);
	compared_release(&cmp);
}

TEST_IN(what_is_left_over, dir)
{
	const struct line a[] =
		LIST({ .backend = "x", .key = "k1", .mean = 1 },
		     { .backend = "x", .key = "k2", .mean = 1 },
		     { .backend = "x", .key = "k3", .status = "wrong", .reason = "off by 1" },
		     { .backend = "x", .key = "k4", .status = "crashed" },
		     { .backend = "x", .key = "k5", .status = "unsupported" });
	const struct line b[] = LIST({ .backend = "x", .key = "k2", .status = "timeout" },
				     { .backend = "x", .key = "k3", .mean = 1 },
				     { .backend = "x", .key = "k4", .status = "crashed" },
				     { .backend = "x", .key = "k6", .mean = 1 },
				     { .backend = "x", .key = "k7", .status = "skipped" });
	struct compared cmp = COMPARED_INIT;
	const struct bench_left *l;

	compare_lines(&cmp, dir, a, ARRAY_LEN(a), b, ARRAY_LEN(b), NULL);
	assert_int_equal(cmp.c.pairs.nr, 0);
	assert_int_equal(cmp.c.left.nr, 7);
	assert_int_equal(cmp.c.versus.v[0].left[BENCH_ONLY_A], 2);
	assert_int_equal(cmp.c.versus.v[0].left[BENCH_ONLY_B], 2);
	assert_int_equal(cmp.c.versus.v[0].left[BENCH_NEITHER], 3);
	assert_false(cmp.c.versus.v[0].comparable);
	assert_has(cmp.c.reasons.v[0], "no call has a time in both");
	l = cmp.c.left.v;
	assert_string_equal(l[0].row->key, "k1");
	assert_string_equal(l[0].why, "missing");
	assert_string_equal(l[1].why, "timeout");
	assert_string_equal(l[2].row->key, "k3");
	assert_string_equal(l[2].why, "wrong");
	assert_string_equal(l[2].detail, "off by 1");
	compared_release(&cmp);
}

/* The mean of one side was disturbed: its fastest blocks are those of the other. */
TEST_IN(a_disturbed_mean_is_unclear, dir)
{
	struct line a = { .backend = "x", .key = GEMM, .mean = 100, .min = 99 };
	struct line b = { .backend = "x", .key = GEMM, .mean = 115, .min = 100 };

	for (int swap = 0; swap < 2; swap++) {
		struct compared cmp = COMPARED_INIT;

		compare_lines(&cmp, dir, swap ? &b : &a, 1, swap ? &a : &b, 1, NULL);
		assert_true(cmp.c.pairs.v[0].p_adj < 0.05);
		assert_int_equal(cmp.c.pairs.v[0].verdict, BENCH_UNCLEAR);
		assert_has(cmp.c.pairs.v[0].reason, "the fastest blocks differ by");
		compared_release(&cmp);
	}
}

/* Significant, and above the threshold, but the interval nearly reaches 1. */
TEST_IN(an_interval_near_one, dir)
{
	static const double halves[] = { 3.4, 2.0 };

	for (size_t i = 0; i < ARRAY_LEN(halves); i++) {
		struct line a = {
			.backend = "x", .key = GEMM, .mean = 100, .half = halves[i], .processes = 13
		};
		struct line b = {
			.backend = "x", .key = GEMM, .mean = 107, .half = halves[i], .processes = 13
		};
		struct compared cmp = COMPARED_INIT;

		compare_lines(&cmp, dir, &a, 1, &b, 1, NULL);
		assert_true(cmp.c.pairs.v[0].p_adj < 0.01);
		assert_true((cmp.c.pairs.v[0].c.low > 1.025) == (i == 1));
		assert_int_equal(cmp.c.pairs.v[0].verdict, i == 1 ? BENCH_SLOWER : BENCH_UNCLEAR);
		compared_release(&cmp);
	}
}

/* Processes that were alive together: a phase in which all took twice as long is in none of it. */
TEST_IN(processes_in_pairs, dir)
{
	const struct line both[] = LIST({ .backend = "x",
					  .key = GEMM,
					  .mean = 150,
					  .half = 80,
					  .process_us = "100 100 200 200" },
					{ .backend = "y",
					  .key = GEMM,
					  .mean = 165,
					  .half = 80,
					  .process_us = "110 111 220 218" });
	/* logs of 1.1, 1.11, 1.1, 1.09 */
	double mean = (2 * log(1.1) + log(1.11) + log(1.09)) / 4, squares = 0, error;
	struct bench_compare_opts o = BENCH_COMPARE_OPTS_INIT;

	for (int i = 0; i < 4; i++) {
		double d = log(1.09 + 0.01 * (i == 3 ? 1 : i)) - mean;

		squares += d * d;
	}
	error = sqrt(squares / 3 / 4);
	for (int damage = 0; damage < 3; damage++) {
		struct compared cmp = COMPARED_INIT;
		struct line lines[2] = { both[0], both[1] };
		const struct bench_pair *p;

		if (damage)
			lines[1].process_us = damage == 1 ? "110 111 220" : "110 x 220 218";
		table_put(dir, "a.csv", lines, 2);
		read_in(&cmp, dir, "a.csv");
		bench_compare(&cmp.t, &o, &cmp.c);
		p = cmp.c.pairs.v;
		assert_int_equal(p->paired, !damage);
		assert_int_equal(p->verdict, damage ? BENCH_UNCLEAR : BENCH_SLOWER);
		near(p->c.ratio, damage ? 1.1 : exp(mean));
		if (!damage) {
			near(p->c.df, 3);
			near(log(p->c.high) - mean, student_t(0.95, 3) * error);
		}
		compared_release(&cmp);
	}
}

static void compare_one_file(struct compared *cmp, const char *dir, const struct line *lines,
			     size_t nr)
{
	static const struct bench_compare_opts usual = BENCH_COMPARE_OPTS_INIT;

	table_put(dir, "a.csv", lines, nr);
	read_in(cmp, dir, "a.csv");
	bench_compare(&cmp->t, &usual, &cmp->c);
}

/*
 * A phase of the host hit blocks of A: its mean and median are above those of B, which is slower in
 * each process. All figures follow the levels.
 */
TEST_IN(levels_decide, dir)
{
	const struct line both[] = LIST({ .backend = "x",
					  .key = GEMM,
					  .mean = 190,
					  .half = 80,
					  .min = 99,
					  .calls = 1000,
					  .process_us = "300 100 170",
					  .level_us = "100 100 200" },
					{ .backend = "y",
					  .key = GEMM,
					  .mean = 130,
					  .half = 30,
					  .min = 99,
					  .process_us = "110 111 169",
					  .level_us = "110 111 218" });
	double logs[] = { log(1.1), log(1.11), log(1.09) }, mean = 0, squares = 0;
	struct compared cmp = COMPARED_INIT;
	const struct bench_pair *p;
	const struct bench_versus *v;

	for (int i = 0; i < 3; i++)
		mean += logs[i] / 3;
	for (int i = 0; i < 3; i++)
		squares += (logs[i] - mean) * (logs[i] - mean);
	compare_one_file(&cmp, dir, both, 2);
	p = cmp.c.pairs.v;
	v = cmp.c.versus.v;
	assert_true(p->paired && p->levels && !p->apart);
	assert_int_equal(p->verdict, BENCH_SLOWER);
	assert_null(p->reason);
	near(p->c.ratio, exp(mean));
	near(log(p->c.high) - mean, student_t(0.95, 2) * sqrt(squares / 2 / 3));
	/* the measured mean of A, and what the ratio makes of it */
	near(p->m[0].mean, 190);
	near(p->m[1].mean, 190 * exp(mean));
	near(p->seconds.value, 1000 * 190e-6 * expm1(mean));
	near(p->share, expm1(mean));
	assert_true(p->seconds.low > 0);
	near(v->a_s, 0.19);
	near(v->b_s, 0.19 * exp(mean));
	near(v->seconds.value, p->seconds.value);
	near(v->relative.value, expm1(mean));
	assert_int_equal(v->verdict, BENCH_SLOWER);
	/* by levels, although B's mean is the smaller one */
	assert_int_equal(p->winner, 0);
	assert_false(p->tied);
	compared_release(&cmp);
}

/* Levels that are damaged, or of other processes: the means decide, with their doubt. */
TEST_IN(without_levels, dir)
{
	static const char *const levels[] = { "", "110 111", "110 x 109", "110 -1 109", NULL };

	for (size_t i = 0; i < ARRAY_LEN(levels); i++) {
		const struct line both[] = LIST({ .backend = "x",
						  .key = GEMM,
						  .mean = 100,
						  .process_us = "100 100 100",
						  .level_us = "100 100 100" },
						{ .backend = "y",
						  .key = GEMM,
						  .mean = 110,
						  .min = 100,
						  .process_us = "110 111 109",
						  .level_us = levels[i] });
		struct compared cmp = COMPARED_INIT;

		compare_one_file(&cmp, dir, both, 2);
		assert_true(cmp.c.pairs.v[0].paired);
		assert_false(cmp.c.pairs.v[0].levels);
		assert_int_equal(cmp.c.pairs.v[0].verdict, BENCH_UNCLEAR);
		assert_has(cmp.c.pairs.v[0].reason, "the fastest blocks differ by");
		assert_int_equal(cmp.c.versus.v[0].verdict, BENCH_UNCLEAR);
		compared_release(&cmp);
	}
}

/* Between files each side's levels have an error of their own, by Welch. */
TEST_IN(levels_of_two_files, dir)
{
	const struct line a = { .backend = "x",
				.key = GEMM,
				.mean = 150,
				.half = 80,
				.min = 99,
				.median = 101,
				.level_us = "100 101 99" };
	const struct line b = { .backend = "x",
				.key = GEMM,
				.mean = 112,
				.half = 3,
				.min = 110,
				.median = 111,
				.level_us = "110 110 111 109" };
	double va = (pow(log(1.01) - log(0.9999) / 3, 2) + pow(log(0.99) - log(0.9999) / 3, 2) +
		     pow(log(0.9999) / 3, 2)) /
		    2 / 3;
	double mb = (log(111.0 / 110) + log(109.0 / 110)) / 4;
	double vb = (pow(log(111.0 / 110) - mb, 2) + pow(log(109.0 / 110) - mb, 2) + 2 * mb * mb) /
		    3 / 4;
	double ratio = 1.1 * exp(mb - log(0.9999) / 3);
	double df = (va + vb) * (va + vb) / (va * va / 2 + vb * vb / 3);
	struct compared cmp = COMPARED_INIT;
	const struct bench_pair *p;

	compare_lines(&cmp, dir, &a, 1, &b, 1, NULL);
	p = cmp.c.pairs.v;
	assert_true(p->apart && p->levels && !p->paired);
	near(p->c.ratio, ratio);
	near(p->c.df, df);
	near(p->c.high, ratio * exp(student_t_real(0.95, df) * sqrt(va + vb)));
	assert_int_equal(p->verdict, BENCH_SLOWER);
	near(p->seconds.value, 10 * 150e-6 * (ratio - 1));
	compared_release(&cmp);
}

/* Files without processes: the interval of the difference is that of both half widths. */
TEST_IN(earlier_files, dir)
{
	struct bench_compare_opts o = BENCH_COMPARE_OPTS_INIT;
	struct compared cmp = COMPARED_INIT;
	const struct bench_pair *p;

	for (int i = 0; i < 2; i++)
		test_put(dir, i ? "b.csv" : "a.csv",
			 textf("backend,key,status,mean_us,ci_low_us,ci_high_us\n"
			       "one," GEMM ",ok,%d,%d,%d\n",
			       100 + i, 97 + i, 103 + i));
	read_in(&cmp, dir, "a.csv");
	read_in(&cmp, dir, "b.csv");
	bench_compare(&cmp.t, &o, &cmp.c);
	p = cmp.c.pairs.v;
	near(log(p->c.high / p->c.ratio), hypot(3.0 / 100, 3.0 / 101));
	near(p->c.df, 2);
	compared_release(&cmp);
}

TEST_IN(one_process_is_not_enough, dir)
{
	struct line a = { .backend = "x", .key = GEMM, .mean = 100, .processes = 1 };
	struct line b = { .backend = "x", .key = GEMM, .mean = 200 };
	struct compared cmp = COMPARED_INIT;

	compare_lines(&cmp, dir, &a, 1, &b, 1, NULL);
	assert_int_equal(cmp.c.pairs.v[0].verdict, BENCH_UNCLEAR);
	assert_has(cmp.c.pairs.v[0].reason, "one process");
	assert_true(isnan(cmp.c.versus.v[0].seconds.low));
	near(cmp.c.versus.v[0].seconds.value, 10 * 100e-6);
	compared_release(&cmp);
}

/* Holm over rows: what alone would be sure is not among twenty. */
TEST_IN(many_rows, dir)
{
	struct line a[20], b[20];
	struct compared one = COMPARED_INIT, all = COMPARED_INIT;

	for (int i = 0; i < 20; i++) {
		a[i] = (struct line){
			.backend = "x", .key = kept(xasprintf("k%d", i)), .mean = 100, .half = 7
		};
		b[i] = a[i];
	}
	b[7].mean = 112;
	compare_lines(&one, dir, &a[7], 1, &b[7], 1, NULL);
	assert_int_equal(one.c.pairs.v[0].verdict, BENCH_SLOWER);
	compared_release(&one);
	compare_lines(&all, dir, a, 20, b, 20, NULL);
	assert_int_equal(all.c.versus.v[0].of[BENCH_SLOWER], 0);
	/* ranked by effect: the one that costs comes last */
	assert_string_equal(all.c.pairs.v[19].a->key, "k7");
	compared_release(&all);
}

/* One file with several back ends, and a third side of another file; who wins. */
TEST_IN(three_sides, dir)
{
	const struct line a[] = LIST({ .backend = "p", .key = "k1", .mean = 100 },
				     { .backend = "q", .key = "k1", .mean = 80 },
				     { .backend = "p", .key = "k2", .mean = 50 },
				     { .backend = "q", .key = "k2", .mean = 50.01 });
	const struct line b[] = LIST({ .backend = "p", .key = "k1", .mean = 90 },
				     { .backend = "p", .key = "k2", .mean = 70 });
	struct compared cmp = COMPARED_INIT;
	const struct bench_pair *p;

	compare_lines(&cmp, dir, a, ARRAY_LEN(a), b, ARRAY_LEN(b), NULL);
	assert_int_equal(cmp.t.sides.nr, 3);
	assert_int_equal(cmp.c.versus.nr, 2);
	assert_int_equal(cmp.c.pairs.nr, 4);
	p = cmp.c.pairs.v;
	assert_int_equal(p[0].side, 1);
	assert_int_equal(p[0].winner, 1);
	assert_false(p[0].tied);
	assert_int_equal(p[0].verdict, BENCH_FASTER);
	assert_int_equal(p[1].winner, 0);
	assert_true(p[1].tied);
	assert_int_equal(p[1].verdict, BENCH_SAME);
	assert_int_equal(p[2].side, 2);
	assert_int_equal(p[2].winner, 1);
	assert_int_equal(p[3].verdict, BENCH_SLOWER);
	compared_release(&cmp);
}

TEST_IN(by_calls, dir)
{
	const struct line a[] = LIST({ .backend = "p", .key = "k1", .mean = 100, .calls = 1 },
				     { .backend = "p", .key = "k2", .mean = 1, .calls = 99 });
	const struct line b[] = LIST({ .backend = "p", .key = "k1", .mean = 10 },
				     { .backend = "p", .key = "k2", .mean = 1.2 });
	struct bench_compare_opts o = BENCH_COMPARE_OPTS_INIT;

	for (int calls = 0; calls < 2; calls++) {
		struct compared cmp = COMPARED_INIT;

		o.by_calls = calls;
		compare_lines(&cmp, dir, a, 2, b, 2, &o);
		assert_string_equal(cmp.c.pairs.v[0].a->key, calls ? "k2" : "k1");
		compared_release(&cmp);
	}
}

TEST_IN(energy, dir)
{
	const struct line a[] = LIST({ .backend = "p", .key = "k1", .mean = 100, .energy_j = 0.5 },
				     { .backend = "p", .key = "k2", .mean = 100 });
	const struct line b[] = LIST({ .backend = "p", .key = "k1", .mean = 100, .energy_j = 0.4 },
				     { .backend = "p", .key = "k2", .mean = 100, .energy_j = 1 });
	struct compared cmp = COMPARED_INIT;
	const struct bench_versus *v;
	double error = 0.01 / student_t(0.95, 2);

	compare_lines(&cmp, dir, a, 2, b, 2, NULL);
	v = cmp.c.versus.v;
	assert_int_equal(v->with_energy, 1);
	near(v->joules.value, -1);
	/* 1 % of the times is 1 % of the energies; 10 calls */
	near(v->joules.high - v->joules.value,
	     student_t_real(0.95, (5 * 5 + 4 * 4) * (5 * 5 + 4 * 4) /
					  ((5.0 * 5 * 5 * 5 + 4 * 4 * 4 * 4) / 2)) *
		     hypot(5 * error, 4 * error));
	compared_release(&cmp);
}

/* ---- laws ---- */

static double unit(uint64_t *seed)
{
	return (double)(rnd(seed) >> 11) * 0x1p-53;
}

static void lines_draw(struct line *lines, size_t nr, const char *back_end, uint64_t *seed)
{
	for (size_t i = 0; i < nr; i++) {
		lines[i] = (struct line){ .backend = back_end,
					  .key = kept(xasprintf("k%zu", i)),
					  .mean = 1 + unit(seed) * 1000,
					  .calls = 1 + rnd(seed) % 1000,
					  .processes = 2 + rnd(seed) % 11,
					  .others = unit(seed) };
		lines[i].half = lines[i].mean * (0.001 + unit(seed) * 0.2);
		if (rnd(seed) % 4 == 0)
			lines[i].status = "crashed";
	}
}

/* Effects add up; the sides swapped have reciprocal ratios and the opposite verdicts. */
TEST_IN(laws, dir)
{
	uint64_t seed = 17;

	for (uint64_t n = test_cases(40); n; n--) {
		struct compared ab = COMPARED_INIT, ba = COMPARED_INIT;
		struct line a[12], b[12];
		double sum = 0;

		lines_draw(a, 12, "x", &seed);
		lines_draw(b, 12, "y", &seed);
		for (int i = 0; i < 12; i++)
			b[i].calls = a[i].calls;
		compare_lines(&ab, dir, a, 12, b, 12, NULL);
		compare_lines(&ba, dir, b, 12, a, 12, NULL);
		assert_int_equal(ab.c.pairs.nr, ba.c.pairs.nr);
		assert_int_equal(ab.c.pairs.nr + ab.c.left.nr, 12);
		for (size_t i = 0; i < ab.c.pairs.nr; i++) {
			const struct bench_pair *p = &ab.c.pairs.v[i];
			const struct bench_pair *q =
				VEC_FIND(&ba.c.pairs, x, !strcmp(x->a->key, p->a->key));

			assert_non_null(q);
			if (!q)
				return;
			sum += p->seconds.value;
			near(p->c.ratio * q->c.ratio, 1);
			near(p->c.low * q->c.high, 1);
			near(p->p_adj, q->p_adj);
			near(p->seconds.value, -q->seconds.value);
			near(p->seconds.low, -q->seconds.high);
			assert_true((p->verdict == BENCH_SLOWER) == (q->verdict == BENCH_FASTER) ||
				    fabs(p->c.ratio - 1) < 0.06);
		}
		if (ab.c.pairs.nr) {
			assert_true(fabs(ab.c.versus.v[0].seconds.value - sum) < 1e-12);
			near(ab.c.versus.v[0].b_s, ba.c.versus.v[0].a_s);
		}
		compared_release(&ab);
		compared_release(&ba);
	}
}

/* A file against itself. */
TEST_IN(itself, dir)
{
	uint64_t seed = 23;
	struct compared cmp = COMPARED_INIT;
	struct line a[30];

	lines_draw(a, 30, "x", &seed);
	compare_lines(&cmp, dir, a, 30, a, 30, NULL);
	for (size_t i = 0; i < cmp.c.pairs.nr; i++) {
		near(cmp.c.pairs.v[i].c.ratio, 1);
		assert_true(cmp.c.pairs.v[i].verdict >= BENCH_SAME && cmp.c.pairs.v[i].tied);
	}
	near(cmp.c.versus.v[0].relative.value + 1, 1);
	compared_release(&cmp);
}
