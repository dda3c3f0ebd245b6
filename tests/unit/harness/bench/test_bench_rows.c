#include "../../test.h"
#include "bench_rows.h"
#include "bench_set.h"

#include <math.h>
#include <sys/stat.h>

#include "profrig/base/csv.h"
#include "profrig/base/strbuf.h"

#define KEY "gemm ta=N tb=N m=1 n=1 k=1 a=f32"
#define HEAD BENCH_COLUMNS "\n"

static char a_key[] = KEY, a_library[] = "rocblas", a_config[] = "./x -f gemm", empty[] = "";

static struct bench_config config(char *key, char *text)
{
	return (struct bench_config){
		.library = a_library, .config = text, .key = key, .calls = 3, .flops = NAN
	};
}

static struct bench_row row(const struct bench_config *c, const char *back_end)
{
	struct bench_row r = { .config = c,
			       .timer = "host",
			       .back_end = back_end,
			       .status = BENCH_SKIPPED,
			       .reason = "why,\nso",
			       .gflops = NAN,
			       .energy_j = NAN,
			       .temperature_c = NAN,
			       .gbps = NAN,
			       .clock_mhz = NAN,
			       .loop_gflops = NAN,
			       .others = NAN,
			       .peak_share = NAN,
			       .solution = BENCH_SOLUTION_NONE };

	bench_stats(NULL, 0, &r.figures);
	return r;
}

static void opened(const char *path, struct bench_rows *rows)
{
	struct err err = ERR_INIT;

	if (bench_rows_open(path, "a cpu", BENCH_WARM, 2, rows, &err) < 0)
		fail_msg("%s", err.msg);
}

static size_t lines(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += *text == '\n';
	return n;
}

TEST_IN(appends_and_goes_on, dir)
{
	const char *path = in_dir(dir, "p.csv");
	struct bench_config c = config(a_key, a_config);
	struct bench_row r = row(&c, "x-serial");
	struct bench_rows rows;
	CLEANUP(xfreep) char *text = NULL;

	opened(path, &rows);
	assert_int_equal(bench_rows_status(&rows, &c, "x-serial"), BENCH_ROW_NONE);
	assert_int_equal(bench_rows_add(&rows, &r, NULL), 0);
	bench_rows_close(&rows);
	text = test_get(dir, "p.csv");
	assert_string_equal(text, HEAD
			    "rocblas,./x -f gemm,x-serial,a cpu,3,0,,,,,,,,skipped,\"why, so\"," KEY
			    ",,,2,warm,uniform,host,,,,,,,,,,,,\n");
	opened(path, &rows);
	assert_int_equal(bench_rows_status(&rows, &c, "x-serial"), BENCH_SKIPPED);
	assert_int_equal(bench_rows_status(&rows, &c, "x-openmp"), BENCH_ROW_NONE);
	bench_rows_close(&rows);
	assert_int_equal(bench_rows_open(path, "", BENCH_COLD, 2, &rows, NULL), 0);
	assert_int_equal(bench_rows_status(&rows, &c, "x-serial"), BENCH_ROW_NONE);
	bench_rows_close(&rows);
	assert_int_equal(bench_rows_open(path, "", BENCH_WARM, 1, &rows, NULL), 0);
	assert_int_equal(bench_rows_status(&rows, &c, "x-serial"), BENCH_ROW_NONE);
	bench_rows_close(&rows);
}

/* The first `columns` ones of the table. */
static const char *columns_cut(size_t columns)
{
	const char *end = BENCH_COLUMNS;

	while (columns--)
		end = strchrnul(end, ',') + 1;
	return textf("%.*s", (int)(end - 1 - BENCH_COLUMNS), BENCH_COLUMNS);
}

/* A file of a profrig that had fewer columns keeps its columns. */
TEST_IN(goes_on_with_an_earlier_file, dir)
{
	static const char *const cells[] = {
		"", ",4", ",77", ",0.25", ",5 6", ",3.5", ",", ",4 5"
	};
	const char *path = in_dir(dir, "p.csv");
	struct bench_config c = config(a_key, a_config), other = config(empty, a_config);
	struct bench_row r = row(&other, "two");

	r.figures.processes = 4;
	r.measured_ms = 77;
	r.others = 0.25;
	r.process_us = "5 6";
	r.loop_gflops = 3.5;
	r.level_us = "4 5";
	for (size_t more = 0; more < ARRAY_LEN(cells); more++) {
		const char *before, *commas = ",,,,,,," + (7 - more);
		CLEANUP(strbuf_release) struct strbuf after = STRBUF_INIT;
		CLEANUP(xfreep) char *text = NULL;
		struct bench_rows rows;

		before = textf("%s\nx,y,one,cpu,3,9,5,5,1,4,,,,ok,," KEY
			       ",,,2,warm,uniform,host,4,6,,,%s\n",
			       columns_cut(27 + more), commas);
		strbuf_addf(&after,
			    "%srocblas,./x -f gemm,two,a cpu,3,0,,,,,,,,skipped,\"why, so\",,,,2,"
			    "warm,uniform,host,,,,,",
			    before);
		for (size_t i = 0; i <= more; i++)
			strbuf_addstr(&after, cells[i]);
		strbuf_addch(&after, '\n');
		test_put(dir, "p.csv", textf("%sx,y,torn", before));
		opened(path, &rows);
		assert_true(bench_rows_status(&rows, &c, "one") != BENCH_ROW_NONE);
		assert_int_equal(bench_rows_add(&rows, &r, NULL), 0);
		bench_rows_close(&rows);
		text = test_get(dir, "p.csv");
		assert_string_equal(text, after.buf);
		opened(path, &rows);
		assert_true(bench_rows_status(&rows, &other, "two") != BENCH_ROW_NONE);
		bench_rows_close(&rows);
		/* rows of both kinds in one file */
		test_put(dir, "p.csv",
			 textf("%sx,y,one,cpu,3,9,5,5,1,4,,,,ok,,k,,,2,warm,uniform,host,4,6,,,%s,"
			       "\n",
			       before, commas));
		assert_int_equal(bench_rows_open(path, "", BENCH_WARM, 2, &rows, NULL), -EINVAL);
	}
}

/* No profrig wrote fewer ones, and none in the middle of a name. */
TEST_IN(other_columns_are_left_alone, dir)
{
	const char *const heads[] = { columns_cut(26), textf("%s,others", columns_cut(27)),
				      textf("%s,proc", columns_cut(27)),
				      textf("%s,", columns_cut(28)),
				      textf("%s,more", BENCH_COLUMNS) };

	for (size_t i = 0; i < ARRAY_LEN(heads); i++) {
		CLEANUP(xfreep) char *text = NULL;
		struct bench_rows rows;

		test_put(dir, "p.csv", textf("%s\n", heads[i]));
		if (bench_rows_open(in_dir(dir, "p.csv"), "", BENCH_WARM, 2, &rows, NULL) !=
		    -EINVAL)
			ROW_FAIL(i, "it is opened");
		text = test_get(dir, "p.csv");
		assert_string_equal(text, textf("%s\n", heads[i]));
	}
}

/* A number of a solution, 0 among them, and none. */
TEST_IN(solutions, dir)
{
	static const int32_t numbers[] = { 0, 4993, INT32_MAX, BENCH_SOLUTION_NONE };
	struct bench_config c = config(a_key, a_config);
	struct bench_row r = row(&c, "x");
	struct bench_rows rows;
	CLEANUP(xfreep) char *text = NULL;

	opened(in_dir(dir, "p.csv"), &rows);
	for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
		r.solution = numbers[i];
		bench_rows_add(&rows, &r, NULL);
	}
	bench_rows_close(&rows);
	text = test_get(dir, "p.csv");
	assert_has(text, ",,,,0,\n", ",,,,4993,\n", ",,,,2147483647,\n", ",,,,,\n");
}

/* A writer that was killed after any byte of the file. */
TEST_IN(torn_at_every_byte, dir)
{
	const char *path = in_dir(dir, "p.csv");
	struct bench_config c = config(a_key, a_config), other = config(empty, a_config);
	struct bench_row r = row(&c, "one"), s = row(&other, "one");
	CLEANUP(xfreep) char *whole = NULL;
	struct bench_rows rows;
	size_t first = strlen(HEAD), second;

	opened(path, &rows);
	bench_rows_add(&rows, &r, NULL);
	second = (size_t)fs_size(path);
	bench_rows_add(&rows, &s, NULL);
	bench_rows_close(&rows);
	whole = test_get(dir, "p.csv");
	for (size_t n = 0; n <= strlen(whole); n++) {
		/* each takes some fsync: of the middle of lines every 17th */
		bool edge =
			n < 2 || strlen(whole) - n < 2 || n - first + 2 < 4 || n - second + 2 < 4;

		if (!edge && n % 17)
			continue;
		CLEANUP(xfreep) char *cut = xstrndup(whole, n), *now = NULL;

		test_put(dir, "p.csv", cut);
		opened(path, &rows);
		assert_int_equal(bench_rows_status(&rows, &c, "one") >= 0, n >= second);
		assert_int_equal(bench_rows_status(&rows, &other, "one") >= 0, n == strlen(whole));
		if (n < second)
			bench_rows_add(&rows, &r, NULL);
		if (n < strlen(whole))
			bench_rows_add(&rows, &s, NULL);
		bench_rows_close(&rows);
		now = test_get(dir, "p.csv");
		assert_string_equal(now, whole);
		assert_int_equal(lines(now), 3);
		assert_true(n < first || !strncmp(now, cut, first));
	}
}

TEST_IN(files_of_others_stay, dir)
{
	static const char *const others[] = { "hello", "a,b\n1,2\n", HEAD "1,2\n",
					      HEAD "\"open\n" };
	const char *path = in_dir(dir, "p.csv");
	struct bench_rows rows, more;
	struct err err = ERR_INIT;

	for (size_t i = 0; i < ARRAY_LEN(others); i++) {
		CLEANUP(xfreep) char *now = NULL;

		test_put(dir, "p.csv", others[i]);
		if (bench_rows_open(path, "", BENCH_WARM, 1, &rows, &err) != -EINVAL)
			ROW_FAIL(i, "is taken");
		now = test_get(dir, "p.csv");
		assert_string_equal(now, others[i]);
	}
	assert_true(bench_rows_open(dir, "", BENCH_WARM, 1, &rows, &err) < 0);
	assert_true(bench_rows_open(in_dir(dir, "no/p.csv"), "", BENCH_WARM, 1, &rows, &err) ==
		    -ENOENT);
	opened(in_dir(dir, "q.csv"), &rows);
	assert_int_equal(bench_rows_open(in_dir(dir, "q.csv"), "", BENCH_WARM, 1, &more, &err),
			 -EBUSY);
	bench_rows_close(&rows);
}

/* Cells that a spreadsheet would compute, and names that are known again. */
TEST_IN(formulas, dir)
{
	char formula[] = "=cmd|' /C calc'!A0", key[] = "@gemm\rm=1";
	struct bench_config a = { .library = formula, .config = formula, .key = empty, .calls = 1 };
	struct bench_config b = { .library = formula, .config = formula, .key = key, .calls = 1 };
	struct bench_set set = { .v = VEC_INIT };
	struct bench_row r;
	struct bench_rows rows;
	CLEANUP(xfreep) char *text = NULL;

	assert_true(bench_config_add(&set, &a) && bench_config_add(&set, &b));
	opened(in_dir(dir, "p.csv"), &rows);
	for (size_t i = 0; i < set.v.nr; i++) {
		r = row(&set.v.v[i], "+end");
		r.reason = "-1+1";
		bench_rows_add(&rows, &r, NULL);
	}
	bench_rows_close(&rows);
	text = test_get(dir, "p.csv");
	assert_has(text, "'=cmd", "'+end", "'-1+1", "'@gemm m=1");
	assert_lacks(text, ",=cmd", ",+end", "\r");
	opened(in_dir(dir, "p.csv"), &rows);
	for (size_t i = 0; i < set.v.nr; i++)
		assert_true(bench_rows_status(&rows, &set.v.v[i], "+end") != BENCH_ROW_NONE);
	bench_rows_close(&rows);
	bench_set_release(&set);
}

TEST(order_and_cuts)
{
	char keys[][64] = { "axpy n=10 type=f32", "gemm ta=N tb=N m=9 n=9 k=9 a=f32", "conv n=1",
			    "axpy n=100 type=f32" };
	struct bench_set set = { .v = VEC_INIT };
	struct bench_choice all = { VEC_INIT }, few = { VEC_INIT }, heavy = { VEC_INIT };

	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		struct bench_config c = config(keys[i], a_config);

		c.calls = i + 1;
		assert_true(bench_config_add(&set, &c));
	}
	/* the same key again adds up */
	struct bench_config again = config(keys[0], a_config);

	again.calls = 1000;
	assert_true(bench_config_add(&set, &again));
	assert_int_equal(set.v.nr, 4);
	assert_int_equal(set.v.v[0].calls, 1001);
	bench_set_choose(&set, 0, 0, &all);
	assert_int_equal(all.v.nr, 4);
	assert_string_equal(all.v.v[0]->key, keys[0]);
	assert_string_equal(all.v.v[1]->key, keys[1]);
	assert_string_equal(all.v.v[2]->key, keys[3]);
	assert_string_equal(all.v.v[3]->key, keys[2]);
	bench_set_choose(&set, 2, 0, &few);
	assert_int_equal(few.v.nr, 2);
	bench_set_choose(&set, 0, 0.1, &heavy);
	assert_int_equal(heavy.v.nr, 2);
	VEC_RELEASE(&all.v);
	VEC_RELEASE(&few.v);
	VEC_RELEASE(&heavy.v);
	bench_set_release(&set);
}
