/* Files library_perf.csv, read back: columns, damage, cuts. */
#include "compare_lines.h"

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

		r = bench_tables_add(&cmp.t, "a.csv", whole, n, &err);
		/* a row is there with its end, or it is not; an open quote ends the file */
		if (r < 0)
			assert_int_equal(r, -EINVAL);
		for (size_t i = 0; i < cmp.t.rows.nr; i++)
			near(cmp.t.rows.v[i].mean, lines[i].mean);
		assert_true(cmp.t.rows.nr < 2 || n == strlen(whole));
		bench_tables_release(&cmp.t);
	}
}

TEST(files_that_are_none)
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

		if (bench_tables_add(&cmp.t, "a.csv", others[i], strlen(others[i]), &err) !=
		    -EINVAL)
			ROW_FAIL(i, "is taken");
		assert_non_null(strstr(err.msg, "a.csv"));
		bench_tables_release(&cmp.t);
	}
}

/* What ends a CSV leaves the rows in front of it. */
TEST(damage_behind_rows)
{
	static const char zero[] = "x,k2\0,ok,3\nx,k3,ok,4\n";
	static const struct {
		const char *text;
		size_t n;
	} behind[] = { { "x,k2,ok,\"3\n", 11 }, { zero, sizeof(zero) - 1 } };
	static const char good[] = "backend,key,status,mean_us\nx,k,ok,2\n";

	for (size_t i = 0; i < ARRAY_LEN(behind); i++) {
		struct bench_tables t = BENCH_TABLES_INIT;
		CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;

		strbuf_addstr(&text, good);
		strbuf_add(&text, behind[i].text, behind[i].n);
		assert_int_equal(bench_tables_add(&t, "a.csv", text.buf, text.len, NULL), 0);
		assert_int_equal(t.rows.nr, 1);
		assert_int_equal(t.files.v[0].rows, 1);
		assert_int_equal(t.files.v[0].bad, 1);
		assert_has(t.files.v[0].first_bad, "what follows it is not read");
		bench_tables_release(&t);
	}
}

/* The sides of a file are in the order of its rows, whatever these are worth. */
TEST(sides_of_damaged_rows)
{
	static const char text[] = "backend,key,status,mean_us\nx,k,ok,nan\ny,k,ok,2\nx,k2,ok,3\n";
	struct bench_tables t = BENCH_TABLES_INIT;

	assert_int_equal(bench_tables_add(&t, "a.csv", text, strlen(text), NULL), 0);
	assert_int_equal(t.files.v[0].bad, 1);
	assert_string_equal(t.sides.v[0].back_end, "x");
	assert_string_equal(t.sides.v[1].back_end, "y");
	bench_tables_release(&t);
}
