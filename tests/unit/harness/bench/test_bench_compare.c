#include "../../test.h"
#include "bench_rows.h"

#include <math.h>

#include "profrig/base/strbuf.h"
#include "profrig/base/strvec.h"
#include "profrig/base/student.h"
#include "profrig/bench/bench_compare.h"

#define GEMM "gemm ta=N tb=N m=8 n=8 k=8 a=f32"

static void near(double got, double want)
{
	if (!(fabs(got - want) <= 1e-9 * fabs(want) + 1e-300))
		fail_msg("%.12g, not %.12g", got, want);
}

/* A row of library_perf.csv as a test wants it; what is 0 gets a usual value. */
struct line {
	const char *backend, *key, *status, *reason, *cache, *process_us, *device;
	uint64_t calls, processes;
	double mean, half, min, energy_j, clock_mhz, loop_gflops, others;
	unsigned threads, measured_ms;
};

static void line_add(struct strbuf *to, const struct line *l)
{
	double half = l->half > 0 ? l->half : l->mean * 0.01, least = l->min > 0 ? l->min : l->mean;
	bool ok = !l->status;

	strbuf_addf(to, "lib,\"config, of %s\",%s,%s,%llu,100,", l->key, l->backend,
		    l->device ? l->device : "a cpu",
		    (unsigned long long)(l->calls ? l->calls : 10));
	if (ok)
		strbuf_addf(to, "%.17g,%.17g,%.17g,%.17g,1,1,", l->mean, l->mean, half, least);
	else
		strbuf_addstr(to, ",,,,,,");
	if (l->energy_j > 0)
		strbuf_addf(to, "%.17g", l->energy_j);
	strbuf_addf(to, ",%s,%s,%s,v1,/x.so,%u,%s,uniform,host,", ok ? "ok" : l->status,
		    l->reason ? l->reason : "", l->key, l->threads ? l->threads : 1,
		    l->cache ? l->cache : "warm");
	if (ok)
		strbuf_addf(to, "%.17g,%.17g,", fmax(l->mean - half, 0), l->mean + half);
	else
		strbuf_addstr(to, ",,");
	if (l->clock_mhz > 0)
		strbuf_addf(to, "%.17g", l->clock_mhz);
	strbuf_addf(
		to, ",,,%llu,%u,%.17g,%s,", (unsigned long long)(l->processes ? l->processes : 3),
		l->measured_ms ? l->measured_ms : 1, l->others, l->process_us ? l->process_us : "");
	if (l->loop_gflops > 0)
		strbuf_addf(to, "%.17g", l->loop_gflops);
	strbuf_addstr(to, ",\n");
}

static void table_put(const char *dir, const char *name, const struct line *lines, size_t nr)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;

	strbuf_addstr(&text, BENCH_COLUMNS "\n");
	for (size_t i = 0; i < nr; i++)
		line_add(&text, &lines[i]);
	test_put(dir, name, text.buf);
}

struct compared {
	struct bench_tables t;
	struct bench_comparison c;
};

static void read_in(struct compared *cmp, const char *dir, const char *name)
{
	struct err err = ERR_INIT;

	if (bench_tables_add(&cmp->t, in_dir(dir, name), &err) < 0)
		fail_msg("%s", err.msg);
}

static void compared_release(struct compared *cmp)
{
	bench_comparison_release(&cmp->c);
	bench_tables_release(&cmp->t);
}

#define COMPARED_INIT \
	{ \
		.t = BENCH_TABLES_INIT \
	}

/* Two files of these lines. */
static void compare_lines(struct compared *cmp, const char *dir, const struct line *a, size_t na,
			  const struct line *b, size_t nb, const struct bench_compare_opts *o)
{
	static const struct bench_compare_opts usual = BENCH_COMPARE_OPTS_INIT;

	table_put(dir, "a.csv", a, na);
	table_put(dir, "b.csv", b, nb);
	read_in(cmp, dir, "a.csv");
	read_in(cmp, dir, "b.csv");
	bench_compare(&cmp->t, o ? o : &usual, &cmp->c);
}

/* ---- reading ---- */

TEST_IN(columns_by_name, dir)
{
	struct compared cmp = COMPARED_INIT;
	const struct bench_table_row *r;

	test_put(dir, "a.csv",
		 "new,status,mean_us,key,backend\n1,ok,2.5," GEMM ",x\n,failed,," GEMM ",y\n");
	read_in(&cmp, dir, "a.csv");
	assert_int_equal(cmp.t.rows.nr, 2);
	assert_int_equal(cmp.t.sides.nr, 2);
	r = &cmp.t.rows.v[0];
	near(r->mean, 2.5);
	assert_true(isnan(r->low) && isnan(r->energy_j) && !r->processes);
	assert_string_equal(r->key, GEMM);
	assert_string_equal(cmp.t.sides.v[1].back_end, "y");
	assert_int_equal(cmp.t.rows.v[1].status, BENCH_FAILED);
	assert_int_equal(r->line, 2);
	bench_tables_release(&cmp.t);
}

TEST_IN(the_last_row_counts, dir)
{
	struct compared cmp = COMPARED_INIT;
	const struct line lines[] =
		LIST({ .backend = "x", .key = GEMM, .mean = 1 },
		     { .backend = "y", .key = GEMM, .mean = 2 },
		     { .backend = "x", .key = GEMM, .mean = 3 },
		     { .backend = "x", .key = GEMM, .mean = 4, .cache = "cold" },
		     { .backend = "x", .key = GEMM, .mean = 5, .threads = 2 });
	const struct bench_table_row *r;

	table_put(dir, "a.csv", lines, ARRAY_LEN(lines));
	read_in(&cmp, dir, "a.csv");
	r = cmp.t.rows.v;
	assert_false(bench_tables_counts(&cmp.t, &r[0]));
	for (int i = 1; i < 5; i++)
		assert_true(bench_tables_counts(&cmp.t, &r[i]));
	assert_ptr_equal(bench_tables_find(&cmp.t, r->id, BENCH_WARM, 1, 0), &r[2]);
	assert_ptr_equal(bench_tables_find(&cmp.t, r->id, BENCH_COLD, 1, 0), &r[3]);
	assert_null(bench_tables_find(&cmp.t, r->id, BENCH_COLD, 2, 0));
	bench_tables_release(&cmp.t);
}

TEST_IN(damaged_rows_are_counted, dir)
{
	static const char *const damaged[] = {
		"ok,-1,k,x,1,1,2,3",
		"ok,nan,k,x,1,1,2,3",
		"ok,inf,k,x,1,1,2,3",
		"ok,0,k,x,1,1,2,3",
		"ok,,k,x,1,1,2,3",
		"ok,=1+1,k,x,1,1,2,3",
		"fine,2,k,x,1,1,2,3",
		",2,k,x,1,1,2,3",
		"ok,2,k,,1,1,2,3",
		"ok,2,k,x,-5,1,2,3",
		"ok,2,k,x,99999999999999999999,1,2,3",
		"ok,2,k,x,1,3,4,3",
		"ok,2,k,x,1,0,1,3",
		"ok,2,k,x,1,1",
		"ok,2,k,x,1,1,2,3,4",
		"ok,2,k,x,1,-1,3,3",
		"ok,2,k,x,1,1,3,-3",
		"ok,2,k,x,1,1,1e400,3",
	};

	for (size_t i = 0; i < ARRAY_LEN(damaged); i++) {
		struct compared cmp = COMPARED_INIT;

		test_put(dir, "a.csv",
			 textf("status,mean_us,key,backend,calls,ci_low_us,ci_high_us,processes\n"
			       "ok,2,k,x,1,1,3,3\n%s\nok,2,l,x,1,1,3,3\n",
			       damaged[i]));
		read_in(&cmp, dir, "a.csv");
		if (cmp.t.rows.nr != 2 || cmp.t.files.v[0].bad != 1)
			ROW_FAIL(i, "%zu rows, %zu damaged", cmp.t.rows.nr, cmp.t.files.v[0].bad);
		assert_has(cmp.t.files.v[0].first_bad, "line 3: ");
		bench_tables_release(&cmp.t);
	}
}

TEST_IN(cut_at_every_byte, dir)
{
	const struct line lines[] = LIST({ .backend = "x", .key = GEMM, .mean = 1 },
					 { .backend = "x", .key = "dot n=12", .mean = 123.456 });
	CLEANUP(xfreep) char *whole = NULL;

	table_put(dir, "a.csv", lines, ARRAY_LEN(lines));
	whole = test_get(dir, "a.csv");
	for (size_t n = strlen(whole); n > 0; n--) {
		struct compared cmp = COMPARED_INIT;
		struct err err = ERR_INIT;
		int r;

		test_put(dir, "a.csv", textf("%.*s", (int)n, whole));
		r = bench_tables_add(&cmp.t, in_dir(dir, "a.csv"), &err);
		/* a row is there with its end, or it is not; an open quote ends the file */
		if (r < 0)
			assert_int_equal(r, -EINVAL);
		for (size_t i = 0; i < cmp.t.rows.nr; i++)
			near(cmp.t.rows.v[i].mean, lines[i].mean);
		assert_true(cmp.t.rows.nr < 2 || n == strlen(whole));
		bench_tables_release(&cmp.t);
	}
}

TEST_IN(files_that_are_none, dir)
{
	static const char *const others[] = { "",
					      "\n",
					      "hello\n",
					      "backend,key,status\nx,k,ok\n",
					      "library,config,calls,key\na,b,1,k\n",
					      "backend,key,status,mean_us\n\"open\n" };

	for (size_t i = 0; i < ARRAY_LEN(others); i++) {
		struct compared cmp = COMPARED_INIT;
		struct err err = ERR_INIT;

		test_put(dir, "a.csv", others[i]);
		if (bench_tables_add(&cmp.t, in_dir(dir, "a.csv"), &err) != -EINVAL)
			ROW_FAIL(i, "is taken");
		bench_tables_release(&cmp.t);
	}
	struct compared cmp = COMPARED_INIT;

	assert_true(bench_tables_add(&cmp.t, in_dir(dir, "none.csv"), NULL) == -ENOENT);
	assert_true(bench_tables_add(&cmp.t, dir, NULL) < 0);
	bench_tables_release(&cmp.t);
}

/* ---- comparing ---- */

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

TEST_IN(other_modes_are_refused, dir)
{
	static const struct {
		struct line a, b;
		const char *why; /* NULL: they are compared */
	} cases[] = LIST(
		{ { .cache = "warm" }, { .cache = "cold" }, "cache warm against cold" },
		{ { .threads = 1 }, { .threads = 2 }, "1 threads against 2" },
		{ { .clock_mhz = 2000 }, { .clock_mhz = 2101 }, "clock 2000 MHz against 2101" },
		{ { .clock_mhz = 2101 }, { .clock_mhz = 2000 }, "clock 2101 MHz against 2000" },
		{ { .clock_mhz = 2000 }, { .clock_mhz = 2099 }, NULL },
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
	assert_true(cmp.c.pairs.v[0].c.high > 1.12 * exp(1.95 * M_SQRT2 * 0.075));
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
		near(p->m[1].error, hypot(own, 112 * differ / sqrt(3)));
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
		near(p->c.ratio, 1.1);
		if (!damage) {
			near(p->c.df, 3);
			near(log(p->c.high / 1.1), student_t(0.95, 3) * error);
		}
		compared_release(&cmp);
	}
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
