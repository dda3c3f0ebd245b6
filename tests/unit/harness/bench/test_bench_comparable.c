/* What may be compared, what makes it unclear, and what differs between files. */
#include "compare_lines.h"

TEST_IN(other_modes_are_refused, dir)
{
	static const struct {
		struct line a, b;
		const char *why; /* NULL: they are compared */
	} cases[] = LIST(
		{ { .cache = "warm" }, { .cache = "cold" }, "cache warm against cold" },
		{ { .threads = 1 }, { .threads = 2 }, "threads 1 against 2" },
		{ { .clock_mhz = 2000 }, { .clock_mhz = 2101 }, "clock 2000 MHz against 2101" },
		{ { .clock_mhz = 2110 }, { .clock_mhz = 2000 }, "clock 2110 MHz against 2000" },
		{ { .clock_mhz = 2000 }, { .clock_mhz = 2099 }, NULL },
		{ { .clock_mhz = 2000 }, { .clock_mhz = 1904 }, NULL },
		{ { .key = "pool dir=fwd data=f32:abcd k=2" },
		  { .key = "pool dir=fwd data=bf16:abcd k=2" },
		  "types differ" },
		{ { .clock_mhz = 2000 }, { .clock_mhz = 0 }, NULL },
		{ { .key = "gemm m=8 a=f32 c=f32 alpha=1" },
		  { .key = "gemm m=8 a=f64 c=bf16 alpha=1" },
		  "types differ" });

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		for (int force = 0; force < 2; force++) {
			struct bench_compare_opts o = BENCH_COMPARE_OPTS_INIT;
			struct compared cmp = COMPARED_INIT;
			struct line a = cases[i].a, b = cases[i].b;
			const struct bench_pair *p;

			a.backend = b.backend = "x";
			a.key = a.key ? a.key : GEMM;
			b.key = b.key ? b.key : GEMM;
			a.mean = 100;
			b.mean = 120;
			o.force = force;
			compare_lines(&cmp, dir, &a, 1, &b, 1, &o);
			assert_int_equal(cmp.c.pairs.nr, 1);
			assert_int_equal(cmp.c.left.nr, 0);
			p = cmp.c.pairs.v;
			if (p->refused != (cases[i].why && !force))
				ROW_FAIL(i, "refused %d", p->refused);
			assert_int_equal(p->verdict, p->refused ? BENCH_UNCLEAR : BENCH_SLOWER);
			assert_int_equal(cmp.c.versus.v[0].comparable, !p->refused);
			assert_true(isnan(p->seconds.value) == p->refused);
			assert_int_equal(cmp.c.reasons.nr, p->refused);
			assert_true(!cases[i].why == !p->reason);
			if (cases[i].why)
				assert_has(p->reason, cases[i].why);
			compared_release(&cmp);
		}
}

/* Other work counts between files, and not between blocks that took turns. */
TEST_IN(other_work_between_files, dir)
{
	struct line a = { .backend = "x", .key = GEMM, .mean = 100, .half = 1, .others = 0.5 };
	struct line b = { .backend = "y", .key = GEMM, .mean = 112, .half = 1, .others = 0.5 };
	const struct line both[] = { a, b };
	struct bench_compare_opts o = BENCH_COMPARE_OPTS_INIT;
	struct compared cmp = COMPARED_INIT, one = COMPARED_INIT;

	compare_lines(&cmp, dir, &a, 1, &b, 1, NULL);
	assert_int_equal(cmp.c.pairs.v[0].verdict, BENCH_UNCLEAR);
	/* √2 · 0.5² · 0.3, which its own errors hardly add to */
	near(cmp.c.pairs.v[0].extra, M_SQRT2 * 0.075);
	assert_true(cmp.c.pairs.v[0].c.high > 1.12 * exp(1.95 * M_SQRT2 * 0.075));
	compared_release(&cmp);
	cmp = (struct compared)COMPARED_INIT;
	/* levels feel a third of it */
	a.level_us = "100 101 99";
	b.level_us = "112 113 111";
	compare_lines(&cmp, dir, &a, 1, &b, 1, NULL);
	near(cmp.c.pairs.v[0].extra, M_SQRT2 * 0.025);
	compared_release(&cmp);
	table_put(dir, "a.csv", both, 2);
	read_in(&one, dir, "a.csv");
	bench_compare(&one.t, &o, &one.c);
	assert_int_equal(one.c.pairs.v[0].verdict, BENCH_SLOWER);
	compared_release(&one);
}

/* A processor that was slower meanwhile may have slowed B by nothing or by all of it. */
TEST_IN(speeds_between_files, dir)
{
	static const struct {
		struct line a, b;
		double ratio; /* the larger one */
	} cases[] = LIST({ { .loop_gflops = 100 }, { .loop_gflops = 80 }, 1.25 },
			 { { .loop_gflops = 80 }, { .loop_gflops = 100 }, 1.25 },
			 { { .clock_mhz = 2000 }, { .clock_mhz = 2080 }, 1.04 },
			 { { .clock_mhz = 2000, .loop_gflops = 90 },
			   { .clock_mhz = 2080, .loop_gflops = 108 },
			   1.2 },
			 { { .loop_gflops = 100 }, { .loop_gflops = 0 }, 1 },
			 { { .loop_gflops = 100 }, { .loop_gflops = 30, .device = "other" }, 1 });

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct line a = cases[i].a, b = cases[i].b;
		struct compared cmp = COMPARED_INIT;
		const struct bench_pair *p;
		double differ = log(cases[i].ratio), own;

		a.backend = b.backend = "x";
		a.key = b.key = GEMM;
		a.mean = 100;
		b.mean = 112;
		a.half = b.half = 1;
		compare_lines(&cmp, dir, &a, 1, &b, 1, NULL);
		p = cmp.c.pairs.v;
		assert_false(p->refused);
		near(p->speed, differ);
		own = 1 / student_t(BENCH_CONFIDENCE, 2);
		near(p->m[0].error, own);
		near(p->m[1].error, own);
		near(p->extra, differ / sqrt(3));
		if (p->verdict != (differ > 0.09 ? BENCH_UNCLEAR : BENCH_SLOWER))
			ROW_FAIL(i, "%s", bench_verdict_name(p->verdict));
		if (p->verdict == BENCH_UNCLEAR)
			assert_has(p->reason, "the speed of the processor differs by");
		compared_release(&cmp);
	}
}

/* Blocks that took turns had one processor: its speed is in both. Clocks that differ all the same
 * make a pair unclear where they may be all of the difference. */
TEST_IN(speeds_of_blocks_in_turn, dir)
{
	static const struct {
		double a_mhz, b_mhz, b_mean;
		enum bench_verdict verdict;
		const char *why;
	} cases[] = LIST({ 2000, 2099, 112, BENCH_SLOWER, NULL },
			 { 2200, 2000, 110, BENCH_UNCLEAR, "clock 2200 MHz against 2000" },
			 { 2200, 2000, 140, BENCH_SLOWER, "clock 2200 MHz against 2000" },
			 { 2000, 2200, 112, BENCH_SLOWER, "clock 2000 MHz against 2200" },
			 { 2000, 2200, 91, BENCH_UNCLEAR, "clock 2000 MHz against 2200" },
			 { 2000, 2200, 80, BENCH_FASTER, "clock 2000 MHz against 2200" },
			 { 2200, 2000, 90, BENCH_FASTER, "clock 2200 MHz against 2000" },
			 { 2200, 2000, 100, BENCH_SAME, "clock 2200 MHz against 2000" });

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		for (int force = 0; force < 2; force++) {
			const struct line both[] = LIST({ .backend = "x",
							  .key = GEMM,
							  .mean = 100,
							  .half = 0.5,
							  .clock_mhz = cases[i].a_mhz,
							  .loop_gflops = 100 },
							{ .backend = "y",
							  .key = GEMM,
							  .mean = cases[i].b_mean,
							  .half = 0.5,
							  .clock_mhz = cases[i].b_mhz,
							  .loop_gflops = 60 });
			struct bench_compare_opts o = BENCH_COMPARE_OPTS_INIT;
			struct compared one = COMPARED_INIT;
			const struct bench_pair *p;

			o.force = force;
			table_put(dir, "a.csv", both, 2);
			read_in(&one, dir, "a.csv");
			bench_compare(&one.t, &o, &one.c);
			p = one.c.pairs.v;
			assert_false(p->refused);
			assert_true(one.c.versus.v[0].comparable);
			assert_int_equal(one.c.reasons.nr, 0);
			if (!force && p->verdict != cases[i].verdict)
				ROW_FAIL(i, "%s", bench_verdict_name(p->verdict));
			assert_true(!force || p->verdict != BENCH_UNCLEAR);
			if (!force && cases[i].why)
				assert_string_equal(p->reason, cases[i].why);
			near(p->seconds.value, (cases[i].b_mean - 100) * 10e-6);
			near(p->speed, 0);
			compared_release(&one);
		}
}

/* What is uncertain besides never makes a comparison surer. */
TEST_IN(doubt_widens, dir)
{
	static const struct line more[] =
		LIST({ .others = 0 }, { .others = 0.1 }, { .others = 0.3 },
		     { .others = 0.3, .clock_mhz = 2010 }, { .others = 0.3, .clock_mhz = 2090 },
		     { .others = 0.9, .clock_mhz = 2090 });

	for (uint64_t processes = 2; processes < 9; processes += 3) {
		double width = 0, p_least = 0, seconds = 0;

		for (size_t i = 0; i < ARRAY_LEN(more); i++) {
			struct line a = { .key = GEMM, .mean = 100, .half = 9, .clock_mhz = 2000 };
			struct line b = more[i];
			struct compared cmp = COMPARED_INIT;
			const struct bench_pair *p;

			a.backend = b.backend = "x";
			b.key = GEMM;
			b.mean = 120;
			b.half = 9;
			b.clock_mhz = b.clock_mhz > 0 ? b.clock_mhz : 2000;
			a.processes = b.processes = processes;
			compare_lines(&cmp, dir, &a, 1, &b, 1, NULL);
			p = cmp.c.pairs.v;
			if (!(p->c.high / p->c.low >= width && p->c.p >= p_least &&
			      p->seconds.high - p->seconds.low >= seconds))
				ROW_FAIL(i, "%g to %g, p %g", p->c.low, p->c.high, p->c.p);
			width = p->c.high / p->c.low;
			p_least = p->c.p;
			seconds = p->seconds.high - p->seconds.low;
			near(p->seconds.high, cmp.c.versus.v[0].seconds.high);
			near(p->c.high - 1, cmp.c.versus.v[0].relative.high);
			compared_release(&cmp);
		}
	}
}

/* The sum of one pair says what the pair says. */
TEST_IN(the_sum_is_no_surer, dir)
{
	static const struct {
		struct line a, b;
	} cases[] = LIST({ { .mean = 10, .half = 0.3 }, { .mean = 10.6, .half = 0.25 } },
			 { { .mean = 10, .half = 0.1, .min = 9.9 },
			   { .mean = 11, .half = 0.1, .min = 9.9 } },
			 { { .mean = 10, .half = 0.05, .clock_mhz = 2200 },
			   { .mean = 11, .half = 0.05, .clock_mhz = 2000 } });

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct line both[] = { cases[i].a, cases[i].b };
		struct bench_compare_opts o = BENCH_COMPARE_OPTS_INIT;
		struct compared one = COMPARED_INIT;

		both[0].backend = "x";
		both[1].backend = "y";
		both[0].key = both[1].key = GEMM;
		both[0].processes = both[1].processes = 9;
		table_put(dir, "a.csv", both, 2);
		read_in(&one, dir, "a.csv");
		bench_compare(&one.t, &o, &one.c);
		if (one.c.pairs.v[0].verdict != BENCH_UNCLEAR ||
		    one.c.versus.v[0].verdict != BENCH_UNCLEAR)
			ROW_FAIL(i, "%s, %s", bench_verdict_name(one.c.pairs.v[0].verdict),
				 bench_verdict_name(one.c.versus.v[0].verdict));
		compared_release(&one);
	}
}

/* Each reason once, with how many pairs it refuses, of a side that can be told from others. */
TEST_IN(each_reason_of_a_side, dir)
{
	struct line a[4], b[4];
	struct compared cmp = COMPARED_INIT;

	for (int i = 0; i < 4; i++) {
		a[i] = (struct line){ .backend = "x",
				      .key = textf("dot n=%d", i + 1),
				      .mean = 10,
				      .clock_mhz = 2000 };
		b[i] = a[i];
	}
	b[0].cache = b[1].cache = "cold";
	b[2].threads = 2;
	compare_lines(&cmp, dir, a, 4, b, 4, NULL);
	assert_int_equal(cmp.c.reasons.nr, 2);
	assert_string_equal(cmp.c.reasons.v[0],
			    "B, x of b.csv: 2 of 4 refused: cache warm against cold");
	assert_string_equal(cmp.c.reasons.v[1],
			    "B, x of b.csv: 1 of 4 refused: threads 1 against 2");
	compared_release(&cmp);
}

/* A row of the contract's columns alone, without an interval. */
TEST(without_an_interval)
{
	static const char text[] = "backend,key,status,mean_us\nx,k,ok,2\ny,k,ok,3\n";
	struct bench_compare_opts o = BENCH_COMPARE_OPTS_INIT;
	struct compared one = COMPARED_INIT;

	assert_int_equal(bench_tables_add(&one.t, "a.csv", text, strlen(text), NULL), 0);
	bench_compare(&one.t, &o, &one.c);
	assert_int_equal(one.c.pairs.v[0].verdict, BENCH_UNCLEAR);
	assert_string_equal(one.c.pairs.v[0].reason, "a mean without an interval");
	compared_release(&one);
}

/* A phase of the machine changes means more than the fastest blocks. */
TEST_IN(phases_between_files, dir)
{
	static const struct {
		double min;
		enum bench_verdict apart;
	} cases[] = LIST({ 105, BENCH_UNCLEAR }, { 108, BENCH_UNCLEAR }, { 111, BENCH_SLOWER },
			 { 120, BENCH_SLOWER });

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const struct line both[] =
			LIST({ .backend = "x", .key = GEMM, .mean = 100, .half = 1 },
			     { .backend = "y",
			       .key = GEMM,
			       .mean = 120,
			       .half = 1,
			       .min = cases[i].min });
		struct bench_compare_opts o = BENCH_COMPARE_OPTS_INIT;
		struct compared two = COMPARED_INIT, one = COMPARED_INIT;

		compare_lines(&two, dir, &both[0], 1, &both[1], 1, NULL);
		if (two.c.pairs.v[0].verdict != cases[i].apart ||
		    two.c.versus.v[0].verdict != cases[i].apart)
			ROW_FAIL(i, "%s", bench_verdict_name(two.c.pairs.v[0].verdict));
		compared_release(&two);
		table_put(dir, "a.csv", both, 2);
		read_in(&one, dir, "a.csv");
		bench_compare(&one.t, &o, &one.c);
		assert_int_equal(one.c.pairs.v[0].verdict, BENCH_SLOWER);
		compared_release(&one);
	}
}
