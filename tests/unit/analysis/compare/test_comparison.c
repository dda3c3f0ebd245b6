#include "compare_test.h"

#include <math.h>

#include "profrig/compare/comparison.h"

struct fixture {
	char *dir;
	struct compare_operand a, b;
	struct compare_opts o;
	struct comparison c;
};

static void runs_put(const char *dir, const char *side, const double *v, size_t n, bool blocks)
{
	for (size_t i = 0; i < n; i++) {
		char *labels =
			blocks ? textf("\"labels\":{\"campaign\":\"k\",\"block\":\"%zu\"},", i)
			       : textf("%s", "");

		run_put(dir, textf("%s/%zu", side, i),
			textf("%s\"clocks\":[{\"realtime_ns\":%zu}],", labels, i + 1), v[i]);
	}
}

static void sides_put(const char *dir, const double *a, size_t na, const double *b, size_t nb,
		      bool blocks)
{
	runs_put(dir, "a", a, na, blocks);
	runs_put(dir, "b", b, nb, blocks);
}

static void compared(const char *dir, struct fixture *f)
{
	struct err err = ERR_INIT;

	f->a = (struct compare_operand)OPERAND_INIT;
	f->b = (struct compare_operand)OPERAND_INIT;
	assert_int_equal(operand_read(in_dir(dir, "a"), &f->a, &err), 0);
	assert_int_equal(operand_read(in_dir(dir, "b"), &f->b, &err), 0);
	comparison_init(&f->c, &f->o);
	comparison_add(&f->c, &f->a.sets.v[0], &f->b.sets.v[0], "A", "B");
	assert_int_equal(comparison_run(&f->c, &err), 0);
}

static void fixture_release(struct fixture *f)
{
	comparison_release(&f->c);
	operand_release(&f->a);
	operand_release(&f->b);
}

static const struct compare_row *row_of(const struct fixture *f, const char *name, const char *key)
{
	for (size_t i = 0; i < f->c.rows.nr; i++)
		if (!strcmp(f->c.rows.v[i].name, name) && !strcmp(f->c.rows.v[i].key, key))
			return &f->c.rows.v[i];
	fail_msg("no row %s %s", name, key);
	return NULL;
}

static void near(double got, double want)
{
	if (!(fabs(got - want) <= 1e-6 * fabs(want)))
		fail_msg("%.12g, not %.12g", got, want);
}

/* Case 5 of the known answers: two samples that differ by nothing. */
TEST_IN(same, dir)
{
	static const double a[] = { 10.02, 9.97, 10.05, 10.01, 9.98, 10.03, 9.99, 10.04 };
	static const double b[] = { 10.06, 10.01, 9.96, 10.02, 10, 10.05, 9.98, 10.03 };
	struct fixture f = { .o = COMPARE_OPTS_INIT };
	const struct compare_row *r;
	char buf[64];

	f.o.confidence = 0.9;
	sides_put(dir, a, 8, b, 8, false);
	compared(dir, &f);
	r = row_of(&f, "speed", "");
	near(r->p, 0.8767976);
	near(r->low, 1 / 1.00252888); /* the reference has A over B */
	near(r->high, 1 / 0.99698212);
	assert_int_equal(r->verdict, COMPARE_SAME);
	assert_int_equal(r->a.n, 8);
	near(r->a.mean, 10.01125);
	near(r->a.median, 10.015);
	near(r->delta, 0.0025);
	assert_string_equal(compare_method(r, true, buf), "welch-log-holm");
	assert_string_equal(comparison_verdict(&f.c), "same");
	fixture_release(&f);
	f.o.threshold = 0.002;
	compared(dir, &f);
	assert_int_equal(row_of(&f, "speed", "")->verdict, COMPARE_UNCLEAR);
	fixture_release(&f);
}

/* Higher is better: less is slower, whichever way the two stand. */
TEST_IN(directions, dir)
{
	static const double a[] = { 100, 101, 99, 100.5, 99.5 };
	static const double b[] = { 80, 81, 79, 80.5, 79.5 };
	struct fixture f = { .o = COMPARE_OPTS_INIT };
	const struct compare_row *r;

	sides_put(dir, a, 5, b, 5, false);
	compared(dir, &f);
	r = row_of(&f, "speed", "");
	assert_int_equal(r->verdict, COMPARE_SLOWER);
	assert_true(r->ratio < 0.81 && r->low < r->ratio && r->ratio < r->high && r->high < 1);
	assert_string_equal(comparison_verdict(&f.c), "slower");
	fixture_release(&f);
	sides_put(dir, b, 5, a, 5, false);
	compared(dir, &f);
	assert_int_equal(row_of(&f, "speed", "")->verdict, COMPARE_FASTER);
	assert_string_equal(comparison_verdict(&f.c), "faster");
	fixture_release(&f);
	f.o.threshold = 0.3;
	compared(dir, &f);
	assert_int_equal(row_of(&f, "speed", "")->verdict, COMPARE_SAME);
	fixture_release(&f);
}

/* A drift that both share vanishes in pairs of a campaign's blocks, and only there. */
TEST_IN(blocks, dir)
{
	double a[6], b[6];
	struct fixture f = { .o = COMPARE_OPTS_INIT };

	for (int i = 0; i < 6; i++) {
		a[i] = 100 * pow(0.8, i);
		b[i] = a[i] * (0.9 + 0.002 * (i % 3));
	}
	sides_put(dir, a, 6, b, 6, true);
	compared(dir, &f);
	assert_int_equal(row_of(&f, "speed", "")->method, SAMPLE_PAIRED);
	assert_int_equal(row_of(&f, "speed", "")->verdict, COMPARE_SLOWER);
	fixture_release(&f);
	sides_put(dir, a, 6, b, 6, false);
	compared(dir, &f);
	assert_int_equal(row_of(&f, "speed", "")->method, SAMPLE_WELCH);
	assert_int_equal(row_of(&f, "speed", "")->verdict, COMPARE_UNCLEAR);
	fixture_release(&f);
}

TEST_IN(few_runs, dir)
{
	static const double a[] = { 100, 100 }, b[] = { 10, 10, 10 };
	struct fixture f = { .o = COMPARE_OPTS_INIT };
	const struct compare_row *r;
	char buf[64];

	sides_put(dir, a, 2, b, 3, false);
	compared(dir, &f);
	r = row_of(&f, "speed", "");
	assert_int_equal(r->verdict, COMPARE_UNCLEAR);
	near(r->ratio, 0.1);
	assert_true(isnan(r->p) && isnan(r->low));
	near(r->delta, -90);
	assert_string_equal(compare_method(r, true, buf), "few");
	assert_int_equal(f.c.notes.nr, 1);
	assert_has(f.c.notes.v[0], "1 figure has fewer than 3 runs");
	fixture_release(&f);
}

TEST_IN(refusals, dir)
{
	static const double a[] = { 100, 101, 99 }, b[] = { 10, 10.1, 9.9 };
	struct fixture f = { .o = COMPARE_OPTS_INIT };

	sides_put(dir, a, 3, b, 3, false);
	for (int i = 0; i < 3; i++)
		test_put(dir, textf("b/%d/run.json", i),
			 "{\"schema\":\"profrig.run/1\",\"status\":\"success\",\"metrics\":["
			 "{\"name\":\"speed\",\"value\":3,\"unit\":\"tokens/s\",\"source\":"
			 "\"workload\"}]}");
	compared(dir, &f);
	assert_string_equal(comparison_verdict(&f.c), "not comparable");
	assert_true(comparison_score(&f.c) <= 0);
	assert_has(f.c.versus.v[0].comparable.reasons.v[0],
		   "unit of speed: 'items/s' in A, 'tokens/s' in B");
	assert_true(row_of(&f, "speed", "")->refused);
	assert_int_equal(row_of(&f, "speed", "")->verdict, COMPARE_UNCLEAR);
	fixture_release(&f);
	for (int i = 0; i < 3; i++)
		test_put(dir, textf("b/%d/run.json", i),
			 "{\"schema\":\"profrig.run/1\",\"status\":\"timeout\"}");
	compared(dir, &f);
	assert_has(f.c.versus.v[0].comparable.reasons.v[0], "B has no run that ended well");
	fixture_release(&f);
	run_put(dir, "b/0", "\"tools\":[{\"name\":\"perf\"}],", 100);
	for (int i = 0; i < 3; i++)
		run_put(dir, textf("a/%d", i), "\"tools\":[],", 100);
	compared(dir, &f);
	assert_int_equal(f.c.versus.v[0].comparable.hard, 1);
	assert_int_equal(f.c.versus.v[0].comparable.reasons.nr, 2); /* and those that failed */
	fixture_release(&f);
}

/* ---- tables ---- */

static void table_put(const char *dir, const char *run, int rows, double scale, uint64_t *seed)
{
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;

	strbuf_addstr(&sb, "scope,name,calls,exclusive_ns\n");
	for (int i = 0; i < rows; i++)
		strbuf_addf(&sb, "host,f%d,1,%d\n", i,
			    (int)(1e6 * (i == 7 ? scale : 1) *
				  (1 + 0.02 * ((double)(rnd(seed) % 1000) / 1000 - 0.5))));
	test_put(dir, textf("%s/analysis/tables/functions.csv", run), sb.buf);
}

/* With five runs and 200 functions only pooled variances tell the one that changed. */
TEST_IN(many_rows, dir)
{
	static const double v[] = { 1, 1, 1, 1, 1 };
	struct fixture f = { .o = COMPARE_OPTS_INIT };
	const struct compare_row *r;
	uint64_t seed = 3;
	char buf[64];

	sides_put(dir, v, 5, v, 5, false);
	for (int i = 0; i < 5; i++) {
		table_put(dir, textf("a/%d", i), 200, 1, &seed);
		table_put(dir, textf("b/%d", i), 199, 1.2, &seed);
	}
	strvec_push(&f.o.selection, "functions.exclusive_ns");
	compared(dir, &f);
	assert_int_equal(f.c.rows.nr, 200);
	r = row_of(&f, "functions.exclusive_ns", "f7");
	assert_ptr_equal(r, &f.c.rows.v[1]); /* the largest difference but that of f199 */
	assert_int_equal(r->verdict, COMPARE_SLOWER);
	assert_string_equal(compare_method(r, false, buf), "welch-log-pooled-bh");
	assert_true(fabs(r->ratio - 1.2) < 0.02 && r->low > 1.15 && r->high < 1.25);
	assert_int_equal(row_of(&f, "functions.exclusive_ns", "f199")->verdict, COMPARE_GONE);
	assert_int_equal(f.c.versus.v[0].of[COMPARE_SLOWER], 1);
	assert_int_equal(f.c.versus.v[0].of[COMPARE_SAME], 198);
	assert_int_equal(f.c.versus.v[0].of[COMPARE_GONE], 1);
	strvec_release(&f.o.selection);
	fixture_release(&f);
}

/*
 * Metrics by the size of their effect, then column by column by the difference, equal ones by key:
 * whatever order the tables are in, and with more rows than one thread makes at a time.
 */
TEST_IN(ranks, dir)
{
	enum { ROWS = 10000 };
	struct fixture f = { .o = COMPARE_OPTS_INIT };
	const struct compare_row *r;

	for (int side = 0; side < 2; side++) {
		CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;

		strbuf_addstr(&sb, "scope,name,calls,exclusive_ns\n");
		for (int i = 0; i < ROWS; i++) {
			int n = (int)((unsigned)i * 7919 % ROWS);

			/* differences 0, 0, 2, 2, … of either sign */
			strbuf_addf(&sb, "host,f%05d,%d,%d\n", n, side ? 3 : 1,
				    100000 + (side ? (n % 2 ? -1 : 1) * (n / 2) * 2 : 0));
		}
		strbuf_addf(&sb, "host,%s,,500\n", side ? "new" : "gone");
		test_put(dir, textf("%s/0/analysis/tables/functions.csv", side ? "b" : "a"),
			 sb.buf);
		test_put(dir, textf("%s/0/run.json", side ? "b" : "a"),
			 textf("{\"schema\":\"profrig.run/1\",\"id\":\"%d\",\"status\":\"success\","
			       "\"metrics\":[{\"name\":\"x\",\"value\":%d},{\"name\":\"y\","
			       "\"value\":"
			       "%d},{\"name\":\"z\",\"value\":%d}]}",
			       side, side ? 11 : 10, side ? 1 : 10, side ? 30 : 10));
	}
	strvec_pushl(&f.o.selection, "metrics", "functions", NULL);
	compared(dir, &f);
	assert_int_equal(f.c.rows.nr, 3 + ROWS + ROWS + 2);
	r = f.c.rows.v;
	assert_true(!strcmp(r[0].name, "y") && !strcmp(r[1].name, "z") && !strcmp(r[2].name, "x"));
	r += 3;
	for (int i = 0; i < ROWS; i++, r++) {
		assert_string_equal(r->name, "functions.calls");
		assert_string_equal(r->key, textf("f%05d", i));
	}
	for (int i = 0, n = ROWS - 1; i < ROWS + 2; i++, r++) {
		double effect = r->verdict == COMPARE_UNCLEAR ? fabs(r->delta) : 500;

		assert_string_equal(r->name, "functions.exclusive_ns");
		near(r->effect, effect);
		if (r->verdict != COMPARE_UNCLEAR)
			assert_string_equal(r->key, r->verdict == COMPARE_NEW ? "new" : "gone");
		else
			assert_string_equal(r->key, textf("f%05d", n-- ^ 1));
		if (i)
			assert_true(r[-1].effect > r->effect ||
				    (!(r[-1].effect < r->effect) && strcmp(r[-1].key, r->key) < 0));
	}
	strvec_release(&f.o.selection);
	fixture_release(&f);
}

TEST_IN(new_rows_and_counts, dir)
{
	static const double v[] = { 1, 1, 1 };
	struct fixture f = { .o = COMPARE_OPTS_INIT };
	const struct compare_row *r;

	sides_put(dir, v, 3, v, 3, false);
	for (int i = 0; i < 3; i++) {
		test_put(dir, textf("a/%d/analysis/tables/functions.csv", i),
			 "scope,name,calls,exclusive_ns\nhost,f,10,100\nhost,z,1,0\n");
		test_put(dir, textf("b/%d/analysis/tables/functions.csv", i),
			 "scope,name,calls,exclusive_ns\nhost,f,30,100\nhost,g,1,5\nhost,z,1,0\n");
	}
	strvec_push(&f.o.selection, "functions");
	compared(dir, &f);
	r = row_of(&f, "functions.exclusive_ns", "g");
	assert_int_equal(r->verdict, COMPARE_NEW);
	assert_true(r->a.n == 0 && isnan(r->a.mean) && isnan(r->delta) && isnan(r->p_adj));
	/* three times the calls is neither better nor worse */
	assert_int_equal(row_of(&f, "functions.calls", "f")->verdict, COMPARE_UNCLEAR);
	assert_int_equal(row_of(&f, "functions.exclusive_ns", "f")->verdict, COMPARE_SAME);
	r = row_of(&f, "functions.exclusive_ns", "z");
	assert_true(isnan(r->ratio) && r->verdict == COMPARE_UNCLEAR && r->left_out == 6);
	strvec_release(&f.o.selection);
	fixture_release(&f);
}

TEST_IN(own_thresholds, dir)
{
	static const double a[] = { 100, 101, 99, 100.5, 99.5 };
	static const double b[] = { 80, 81, 79, 80.5, 79.5 };
	static const double limits[] = { 0.5 };
	struct fixture f = { .o = COMPARE_OPTS_INIT };

	strvec_push(&f.o.metrics, "speed");
	f.o.thresholds = limits;
	sides_put(dir, a, 5, b, 5, false);
	compared(dir, &f);
	assert_int_equal(row_of(&f, "speed", "")->verdict, COMPARE_SAME);
	strvec_release(&f.o.metrics);
	fixture_release(&f);
}

TEST_IN(notes, dir)
{
	double a[12], b[12];
	uint64_t seed = 7;
	struct fixture f = { .o = COMPARE_OPTS_INIT };
	size_t drift = 0, outliers = 0;

	for (int i = 0; i < 12; i++) {
		a[i] = 100 + 5 * i + (double)(rnd(&seed) % 100) / 100;
		b[i] = 100 + (double)(rnd(&seed) % 100) / 100;
	}
	b[3] = 300;
	sides_put(dir, a, 12, b, 12, false);
	compared(dir, &f);
	for (size_t i = 0; i < f.c.notes.nr; i++) {
		drift += strstr(f.c.notes.v[i], "speed of A changes from its first") != NULL;
		outliers += strstr(f.c.notes.v[i], "1 value is far from the median") != NULL;
	}
	assert_int_equal(drift, 1);
	assert_int_equal(outliers, 1);
	assert_int_equal(row_of(&f, "speed", "")->odd_a & COMPARE_DRIFT, COMPARE_DRIFT);
	assert_int_equal(row_of(&f, "speed", "")->b.outliers, 1);
	fixture_release(&f);
}
