#include "ncu_csv.h"
#include "readers_test.h"

#include <math.h>

#define FIX "tests/fixtures/ncu_csv/"
#define WIDE \
	"\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Stream\"," \
	"\"Device\","
#define LONG \
	"\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Device\"," \
	"\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n"

static struct csv_text text(const char *s)
{
	return (struct csv_text){ s, strlen(s) };
}

/* ---- numbers ---- */

TEST(decimal_separators)
{
	static const struct {
		const char *numbers[4];
		char decimal;
	} cases[] =
		LIST({ { "12" }, '.' }, { { "1,234" }, '.' }, { { "1.234" }, '.' },
		     { { "1,234", "2,5" }, ',' }, { { "1,234,567" }, '.' },
		     { { "1.234.567" }, ',' }, { { "1.234,5" }, ',' }, { { "1,234.5" }, '.' },
		     { { "0,125" }, ',' }, { { "0.125" }, '.' }, { { "65,77", "117.344" }, ',' },
		     { { "1 234,5" }, ',' }, { { "12345,678" }, ',' },
		     { { "(256, 1)", "n/a", "" }, '.' }, { { "1,5", "2.5", "3.5" }, '.' },
		     { { "-1,25" }, ',' }, { { "1,234 (1,5; 2,5)" }, '.' });

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct ncu_votes v = { 0 };

		for (size_t k = 0; k < 4 && cases[i].numbers[k]; k++)
			ncu_vote(&v, text(cases[i].numbers[k]));
		if (ncu_decimal(&v) != cases[i].decimal)
			ROW_FAIL(i, "%c", ncu_decimal(&v));
	}
}

TEST(numbers)
{
	static const struct {
		const char *s;
		char decimal;
		enum ncu_value is;
		double v;
	} cases[] = LIST(
		{ "1,234.5", '.', NCU_NUMBER, 1234.5 }, { "1.234,5", ',', NCU_NUMBER, 1234.5 },
		{ "27.595.520", ',', NCU_NUMBER, 27595520 }, { "117.344", ',', NCU_NUMBER, 117344 },
		{ "1 234 567", '.', NCU_NUMBER, 1234567 }, { "1'234.5", '.', NCU_NUMBER, 1234.5 },
		{ "1\xe2\x80\xaf"
		  "234,5",
		  ',', NCU_NUMBER, 1234.5 },
		{ "1\xc2\xa0"
		  "234",
		  ',', NCU_NUMBER, 1234 },
		{ "-5", '.', NCU_NUMBER, -5 }, { "+.5", '.', NCU_TEXT, 0 },
		{ ".5", '.', NCU_NUMBER, 0.5 }, { "1.5e+06", '.', NCU_NUMBER, 1.5e6 },
		{ "12 (1; 2; 3)", '.', NCU_NUMBER, 12 }, { "0", '.', NCU_NUMBER, 0 },
		{ "", '.', NCU_ABSENT, 0 }, { "n/a", '.', NCU_ABSENT, 0 },
		{ "nan", '.', NCU_ABSENT, 0 }, { "inf", '.', NCU_ABSENT, 0 },
		{ "CachePreferNone", '.', NCU_TEXT, 0 }, { "(1, 2)", '.', NCU_TEXT, 0 },
		{ "1,23", '.', NCU_BAD, 0 }, { "1,,234", '.', NCU_BAD, 0 },
		{ "1.2.3", '.', NCU_BAD, 0 }, { "12x", '.', NCU_BAD, 0 },
		{ "1e999", '.', NCU_BAD, 0 }, { "12345,678", '.', NCU_BAD, 0 });

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		double v = 0;
		enum ncu_value is = ncu_number(text(cases[i].s), cases[i].decimal, &v);

		if (is != cases[i].is || (is == NCU_NUMBER && v != cases[i].v))
			ROW_FAIL(i, "%d %.17g", is, v);
	}
}

TEST(units)
{
	static const struct {
		const char *s, *base;
		double factor;
	} cases[] =
		LIST({ "byte", "byte", 1 }, { "Kbyte", "byte", 1e3 }, { "Mbyte", "byte", 1e6 },
		     { "Gbyte/second", "byte/s", 1e9 }, { "byte/s", "byte/s", 1 },
		     { "Tbyte/s", "byte/s", 1e12 }, { "usecond", "ns", 1e3 }, { "us", "ns", 1e3 },
		     { "ms", "ns", 1e6 }, { "s", "ns", 1e9 }, { "nsecond", "ns", 1 },
		     { "cycle/nsecond", "cycle/s", 1e9 }, { "cycle/usecond", "cycle/s", 1e6 },
		     { "Ghz", "hz", 1e9 }, { "MHz", "hz", 1e6 }, { "hz", "hz", 1 }, { "%", "%", 1 },
		     { "Kbyte/block", "byte/block", 1e3 }, { "inst/cycle", "inst/cycle", 1 },
		     { "", "", 1 }, { "register/thread", "register/thread", 1 }, { "K", "K", 1 },
		     { "/", "/", 1 });

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		char base[64];
		double factor;

		ncu_unit(text(cases[i].s), base, &factor);
		if (strcmp(base, cases[i].base) != 0 || factor != cases[i].factor)
			ROW_FAIL(i, "%s %g", base, factor);
	}
}

/* ---- files ---- */

static double value_of(const struct model *m, const char *series, int64_t t_ns)
{
	const struct series *s = series_named(m, series);

	for (size_t i = 0; i < s->t_ns.nr; i++)
		if (s->t_ns.v[i] == t_ns)
			return s->value.v[i];
	return NAN;
}

TEST(raw_page)
{
	READING rd = read_path("ncu_csv", FIX "raw.csv", false);
	const struct model *m = rd.m;
	const struct kernel_facts *f =
		facts_kernel(m, span_at(m, "saxpy(int, float, float *, float *)"));

	expect_read(&rd, 0, "clock=own spans=3 series=6");
	assert_int_equal(m->spans.start_ns[0], 0);
	assert_int_equal(m->spans.end_ns[0], 12500);
	assert_int_equal(m->spans.start_ns[1], 12500);
	assert_int_equal(m->spans.end_ns[2], 27700);
	assert_true(value_of(m, "dram__bytes.sum", 12500) == 1200.5e6);
	assert_true(value_of(m, "dram__bytes.sum", 15700) == 0.25e6);
	assert_true(value_of(m, "sm__throughput.avg.pct_of_peak_sustained_elapsed", 12500) ==
		    55.25);
	assert_true(isnan(value_of(m, "sm__throughput.avg.pct_of_peak_sustained_elapsed", 27700)));
	assert_string_equal(model_str(m, series_named(m, "dram__bytes.sum")->unit), "byte");
	assert_int_equal(f->grid[0], 4096);
	assert_int_equal(f->block[0], 256);
	assert_int_equal(f->registers, 32);
	assert_int_equal(f->shared_bytes, 1036);
	assert_string_equal(model_str(m, facts_device(m, 0, 0)->name), "NVIDIA Made Up");
	assert_int_equal(facts_device(m, 0, 0)->capability_major, 8);
	assert_int_equal(warned(m, W_NO_TIMES), 1);
	assert_int_equal(warned(m, W_BAD_NUMBER), 0);
}

TEST(details_page)
{
	READING rd = read_path("ncu_csv", FIX "details.csv", false);
	const struct model *m = rd.m;

	expect_read(&rd, 0, "spans=3 series=9");
	assert_int_equal(m->spans.end_ns[0], 2848500); /* us */
	assert_true(value_of(m, "Duration", 2848500) == 2848500);
	assert_true(value_of(m, "GPU Speed Of Light Throughput: Memory Throughput", 2848500) ==
		    45.7);
	assert_true(value_of(m, "Memory Workload Analysis: Memory Throughput", 2848500) == 12.94e9);
	assert_true(value_of(m, "sm__inst_executed.sum", 2848500) ==
		    1024); /* once, of two sections */
	assert_int_equal(facts_kernel(m, 0)->registers, 18);
	assert_int_equal(facts_kernel(m, 0)->shared_bytes, 4100);
	assert_true(span_at(m, "nothing(int *)") == 2); /* no length: none, behind the others */
	assert_int_equal(m->spans.start_ns[2], m->spans.end_ns[2]);
	assert_int_equal(m->spans.end_ns[2], 4348501);
}

TEST(decimal_comma)
{
	READING rd = read_path("ncu_csv", FIX "comma.csv", false);

	expect_read(&rd, 0, "spans=1");
	assert_int_equal(rd.m->spans.end_ns[0], 117344);
	assert_true(value_of(rd.m, "dram__bytes.sum", 117344) == 27595520);
}

/* Rows of two kernels in turn, of two processes with the same numbers, without quotes. */
TEST(rows_in_any_order)
{
	READING rd = read_text("ncu_csv",
			       "==PROF== x\nID,Process ID,Kernel Name,Metric Name,Metric Unit,"
			       "Metric Value\n"
			       "0,1,a,gpu__time_duration.sum,ns,10\n"
			       "0,2,b,gpu__time_duration.sum,ns,20\n"
			       "0,1,a,m__x,,1\n0,2,b,m__x,,2\n");

	expect_read(&rd, 0, "spans=2");
	assert_true(value_of(rd.m, "m__x", 10) == 1);
	assert_string_equal(model_str(rd.m, rd.m->spans.name[span_at(rd.m, "b")]), "b");
	assert_int_equal(rd.m->spans.end_ns[span_at(rd.m, "b")], 30);
}

TEST(lines_of_the_program)
{
	READING rd = read_text("ncu_csv",
			       "hello \"world\n" WIDE "\"a__b\"\n"
			       "\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\"\n"
			       "==PROF== Profiling \"k\"\nodd \" quote\n"
			       "\"0\",\"1\",\"p\",\"h\",\"k\",\"1\",\"0\",\"5\"\nlast, line\n");

	expect_read(&rd, 0, "spans=1");
	assert_int_equal(warned(rd.m, W_BAD_EVENT), 0);
}

TEST(bad_rows)
{
	READING rd = read_text(
		"ncu_csv",
		LONG "\"x\",\"1\",\"p\",\"h\",\"k\",\"0\",\"s\",\"m\",\"\",\"1\"\n"
		     "\"0\",\"1\",\"p\",\"h\",\"k\",\"0\",\"s\",\"m\",\"\",\"1\",\"2\"\n"
		     "\"0\",\"1\",\"p\",\"h\",\"k\",\"0\",\"s\",\"m\",\"\",\"1,2\"\n"
		     "\"0\",\"1\",\"p\",\"h\",\"k\",\"0\",\"s\",\"gpu__time_duration.sum\",\"ns\","
		     "\"-4\"\n"
		     "\"1\",\"1\",\"p\",\"h\",\"k\",\"0\",\"s\",\"gpu__time_duration.sum\",\"s\","
		     "\"1e300\"\n"
		     "\"1\",\"1\",\"p\",\"h\",\"k\",\"0\",\"s\",\"n\",\"\",\"7");

	expect_read(&rd, READ_PARTIAL, "spans=2");
	assert_int_equal(warned(rd.m, W_BAD_EVENT), 2);
	assert_int_equal(warned(rd.m, W_BAD_NUMBER),
			 1); /* 1e309 ns; 1,2 is 1.2, as nothing says otherwise */
	assert_int_equal(warned(rd.m, W_TRUNCATED), 1);
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(rd.m->spans.start_ns[i], rd.m->spans.end_ns[i]);
}

TEST(what_is_refused)
{
	static const struct refused cases[] = {
		{ "\"ID\",\"Process\"\n", -EINVAL, "no header line of Nsight Compute" },
		{ "\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Invocations\"\n",
		  -EINVAL, "export with --page raw" },
		{ "", -EINVAL, "no header line" },
	};

	expect_refused("ncu_csv", cases, ARRAY_LEN(cases));
}
