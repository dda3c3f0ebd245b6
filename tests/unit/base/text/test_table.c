#include "base_test.h"

#include <math.h>

#include "profrig/base/table.h"

static struct table *functions(void)
{
	struct table *t = table_new("functions");

	table_about(t, "a function");
	table_col(t, "name", TABLE_STR, NULL);
	table_col(t, "inclusive_ns", TABLE_I64, "ns");
	table_col(t, "calls", TABLE_U64, NULL);
	table_col(t, "share", TABLE_F64, "%");
	table_str(t, "main");
	table_i64(t, 1000);
	table_u64(t, 1);
	table_f64(t, 100);
	table_row(t);
	table_str(t, "gr\xc3\xb6\xc3\x9f"
		     "e");
	table_i64(t, -42);
	table_u64(t, UINT64_MAX);
	table_f64(t, NAN);
	table_row(t);
	table_str(t, "");
	table_i64(t, 7);
	table_u64(t, 3);
	table_f64(t, 12.345678);
	table_row(t);
	return t;
}

TEST(test_cells)
{
	CLEANUP(table_freep) struct table *t = functions();

	assert_string_equal(table_name(t), "functions");
	assert_string_equal(table_about_text(t), "a function");
	assert_int_equal(table_rows(t), 3);
	assert_int_equal(table_cols(t), 4);
	assert_string_equal(table_column(t, 1)->name, "inclusive_ns");
	assert_string_equal(table_column(t, 1)->unit, "ns");
	assert_null(table_column(t, 0)->unit);
	assert_int_equal(table_find_col(t, "calls"), 2);
	assert_int_equal(table_find_col(t, "call"), -1);
	assert_string_equal(table_get_str(t, 0, 0), "main");
	assert_string_equal(table_get_str(t, 2, 0), "");
	assert_int_equal(table_get_i64(t, 1, 1), -42);
	assert_true(table_get_u64(t, 1, 2) == UINT64_MAX);
	assert_true(table_get_f64(t, 1, 1) == -42.0);
	assert_true(table_get_f64(t, 1, 2) == 0x1p64);
	assert_true(isnan(table_get_f64(t, 1, 3)));
}

TEST(test_empty)
{
	CLEANUP(table_freep) struct table *t = table_new("none");
	CLEANUP(xfreep) char *text = NULL;
	size_t n;
	FILE *f = open_memstream(&text, &n);

	assert_string_equal(table_about_text(t), "");
	table_sort(t, NULL, 0);
	table_write_text(t, f, 0, 80);
	table_col(t, "a", TABLE_STR, NULL);
	table_sort(t, (const int[]){ 0 }, 1);
	table_write_csv(t, f);
	table_write_text(t, f, 0, 80);
	fclose(f);
	assert_string_equal(text, "\n\na\na\n-\n");
	table_free(NULL);
}

TEST(test_csv)
{
	CLEANUP(table_freep) struct table *t = functions();
	CLEANUP(xfreep) char *text = NULL;
	size_t n;
	FILE *f = open_memstream(&text, &n);

	table_write_csv(t, f);
	fclose(f);
	assert_string_equal(text, "name,inclusive_ns,calls,share\n"
				  "main,1000,1,100\n"
				  "gr\xc3\xb6\xc3\x9f"
				  "e,-42,18446744073709551615,\n"
				  ",7,3,12.345678\n");
}

static void assert_text(const struct table *t, size_t max_rows, size_t width, const char *want)
{
	CLEANUP(xfreep) char *text = NULL;
	size_t n;
	FILE *f = open_memstream(&text, &n);

	table_write_text(t, f, max_rows, width);
	fclose(f);
	assert_string_equal(text, want);
}

TEST(test_text)
{
	CLEANUP(table_freep) struct table *t = functions();

	assert_text(t, 0, 0,
		    "name   inclusive_ns                 calls  share [%]\n"
		    "-----  ------------  --------------------  ---------\n"
		    "main           1000                     1     100.00\n"
		    "gr\xc3\xb6\xc3\x9f"
		    "e           -42  18446744073709551615          -\n"
		    "                  7                     3      12.35\n");
	assert_text(t, 1, 0,
		    "name  inclusive_ns  calls  share [%]\n"
		    "----  ------------  -----  ---------\n"
		    "main          1000      1        100\n"
		    "\xe2\x80\xa6 2 more\n");
	/* Numbers are never cut, short strings neither. */
	assert_text(t, 1, 5,
		    "name  inclusive_ns  calls  share [%]\n"
		    "----  ------------  -----  ---------\n"
		    "main          1000      1        100\n"
		    "\xe2\x80\xa6 2 more\n");
}

TEST(test_cut)
{
	CLEANUP(table_freep) struct table *t = table_new("t");

	table_col(t, "left", TABLE_STR, NULL);
	table_col(t, "n", TABLE_I64, NULL);
	table_col(t, "right", TABLE_STR, NULL);
	table_str(
		t,
		"\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4");
	table_i64(t, 5);
	table_str(t, "0123456789012345678901234567890123456789");
	table_row(t);
	/* 10 + 2 + 1 + 2 + 40 = 55 */
	assert_text(
		t, 0, 55,
		"left        n  right\n"
		"----------  -  ----------------------------------------\n"
		"\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4"
		"  5  0123456789012345678901234567890123456789\n");
	assert_text(
		t, 0, 30,
		"left        n  right\n"
		"----------  -  ---------------\n"
		"\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4"
		"  5  012345678901234\n"
		"               567890123456789\n"
		"               0123456789\n");
	assert_text(t, 0, 10,
		    "left      n  right\n"
		    "--------  -  --------\n"
		    "\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4"
		    "  5  01234567\n"
		    "\xc3\xa4\xc3\xa4           89012345\n"
		    "             67890123\n"
		    "             45678901\n"
		    "             23456789\n");
}

TEST(test_wrap)
{
	CLEANUP(table_freep) struct table *t = table_new("t");

	table_col(t, "name", TABLE_STR, NULL);
	table_col(t, "about", TABLE_STR, NULL);
	table_col(t, "n", TABLE_I64, NULL);
	table_str(t, "one");
	table_str(t, "words that go on, and on");
	table_i64(t, 7);
	table_row(t);
	table_str(t, "");
	table_str(t, "/opt/p/two.yaml");
	table_i64(t, 8);
	table_row(t);
	table_str(t, "");
	table_str(t, "");
	table_i64(t, 9);
	table_row(t);
	assert_text(t, 0, 19,
		    "name  about       n\n"
		    "----  ----------  -\n"
		    "one   words that  7\n"
		    "      go on, and\n"
		    "      on\n"
		    "      /opt/p/     8\n"
		    "      two.yaml\n"
		    "                  9\n");
}

TEST(test_hostile_text)
{
	CLEANUP(table_freep) struct table *t = table_new("t");

	table_col(t, "a", TABLE_STR, NULL);
	table_str(t, "\033[2Jx\ny\x7f");
	table_row(t);
	assert_text(t, 0, 0, "a\n---------------\n\\x1b[2Jx\\ny\\x7f\n");
}

TEST(test_decimals)
{
	static const struct {
		double v[3];
		const char *want;
	} rows[] = {
		{ { 1, 2, 3 }, "x\n-\n1\n2\n3\n" },
		{ { 0.5, 0, 0.25 }, "x\n-------\n0.50000\n0.00000\n0.25000\n" },
		{ { 123.456, 1, NAN }, "x\n------\n123.46\n  1.00\n     -\n" },
		{ { 123456.78, -1, 1e-9 }, "x\n--------\n123456.8\n    -1.0\n1.00e-09\n" },
		{ { 1e300, INFINITY, 1 }, "x\n---------\n1.00e+300\n      inf\n        1\n" },
		{ { 9.9999e15, 5e-324, 0 }, "x\n---------\n 1.00e+16\n4.94e-324\n      0.0\n" },
		{ { -2.5e-8, 0, 0 }, "x\n---------\n-2.50e-08\n  0.00000\n  0.00000\n" },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(table_freep) struct table *t = table_new("t");

		table_col(t, "x", TABLE_F64, NULL);
		for (int k = 0; k < 3; k++) {
			table_f64(t, rows[i].v[k]);
			table_row(t);
		}
		/* The heading stands at the right too. */
		assert_text(t, 0, 0,
			    textf("%*s%s", (int)(strcspn(rows[i].want + 2, "\n") - 1), "",
				  rows[i].want));
	}
}

static void assert_order(const struct table *t, const char *want)
{
	char got[64];

	assert_true(table_rows(t) < sizeof(got));
	for (size_t r = 0; r < table_rows(t); r++)
		got[r] = table_get_str(t, r, 3)[0];
	got[table_rows(t)] = '\0';
	assert_string_equal(got, want);
}

TEST(test_sort)
{
	static const struct {
		int64_t i;
		double f;
		uint64_t u;
		const char *id;
	} rows[] = {
		{ 2, 0.5, 1, "a" },       { 1, NAN, UINT64_MAX, "b" }, { 2, -1, 5, "c" },
		{ INT64_MIN, 3, 5, "d" }, { 1, NAN, 0, "e" },          { 2, 0.5, 7, "f" },
	};
	CLEANUP(table_freep) struct table *t = table_new("t");

	table_col(t, "i", TABLE_I64, NULL);
	table_col(t, "f", TABLE_F64, NULL);
	table_col(t, "u", TABLE_U64, NULL);
	table_col(t, "id", TABLE_STR, NULL);
	for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
		table_i64(t, rows[k].i);
		table_f64(t, rows[k].f);
		table_u64(t, rows[k].u);
		table_str(t, rows[k].id);
		table_row(t);
	}
	table_sort(t, (const int[]){ 0 }, 1);
	assert_order(t, "dbeacf");
	table_sort(t, (const int[]){ ~3 }, 1);
	assert_order(t, "fedcba");
	table_sort(t, (const int[]){ 3 }, 1);
	table_sort(t, (const int[]){ ~0 }, 1);
	assert_order(t, "acfbed");
	table_sort(t, (const int[]){ 3 }, 1);
	/* Unknown comes last, both ways. */
	table_sort(t, (const int[]){ 1 }, 1);
	assert_order(t, "cafdbe");
	table_sort(t, (const int[]){ ~1, ~3 }, 2);
	assert_order(t, "dfaceb");
	table_sort(t, (const int[]){ ~2, 3 }, 2);
	assert_order(t, "bfcdae");
	table_sort(t, (const int[]){ 0, ~2 }, 2);
	assert_order(t, "dbefca");
	assert_int_equal(table_get_i64(t, 0, 0), INT64_MIN);
	assert_true(table_get_u64(t, 1, 2) == UINT64_MAX);
}

#define THINGS(X) X(STR, name) X(I64, first_ns) X(U64, calls) X(F64, power_w) X(F64, share)
TABLE_FORM(things, THINGS, "one row per thing");

TEST(test_columns_of_one_list)
{
	CLEANUP(table_freep) struct table *t = table_make(&things_form);
	static const char *const units[] = { NULL, "ns", NULL, "W", NULL };
	static const enum table_type types[] = { TABLE_STR, TABLE_I64, TABLE_U64, TABLE_F64,
						 TABLE_F64 };

	table_add(t, &(struct things_row){ "a", -7, UINT64_MAX, 1.5, NAN });
	table_add(t, &(struct things_row){ .name = "b", .calls = 2 });
	assert_string_equal(table_name(t), "things");
	assert_string_equal(table_about_text(t), "one row per thing");
	assert_int_equal(table_cols(t), 5);
	assert_int_equal(table_rows(t), 2);
	for (size_t c = 0; c < 5; c++) {
		assert_int_equal(table_column(t, c)->type, types[c]);
		assert_true(!units[c] == !table_column(t, c)->unit);
		if (units[c])
			assert_string_equal(table_column(t, c)->unit, units[c]);
	}
	assert_string_equal(table_get_str(t, 0, 0), "a");
	assert_int_equal(table_get_i64(t, 0, 1), -7);
	assert_true(table_get_u64(t, 0, 2) == UINT64_MAX);
	assert_true(table_get_f64(t, 0, 3) == 1.5);
	assert_true(isnan(table_get_f64(t, 0, 4)));
	assert_string_equal(table_get_str(t, 1, 0), "b");
	assert_int_equal(table_get_u64(t, 1, 2), 2);
	assert_string_equal(table_field_unit("baseline_s"), "s");
	assert_string_equal(table_field_unit("tokens_per_s"), "1/s");
	assert_null(table_field_unit("calls"));
	assert_null(table_field_unit("_ns"));
}
