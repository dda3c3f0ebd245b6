/* Rows of readings against a rendering of their own, values that stand still and come back too. */
#include "sample_rows.h"
#include "test.h"

#include <math.h>

/* Two devices, of three series and of one. */
static const struct sampler_device devices[] = { { .nr = 3 }, { .nr = 1 } };

/* What a device may say; the third is among the longest numbers there are. */
static const double values[] = { 0,          -0.0, -1.2345678901234567e-308, 1.0 / 3, 300, 300,
				 1234567.25, -1,   SAMPLER_ABSENT,           NAN,     1e15 };

static double value_at(unsigned k)
{
	return values[k % ARRAY_LEN(values)];
}

static void expect_field(struct strbuf *to, double v)
{
	char text[32];

	strbuf_addch(to, ',');
	if (v == SAMPLER_ABSENT)
		return;
	num_fmt_f64(text, v);
	strbuf_addstr(to, isnan(v) ? "NA" : text);
}

static void rows_check(struct strbuf *got, struct strbuf *expected)
{
	assert_string_equal(got->buf, expected->buf);
	strbuf_clear(got);
	strbuf_clear(expected);
}

/* Every read is a row; each value follows each other one, and itself, in some series. */
TEST(every_read)
{
	CLEANUP(strbuf_release) struct strbuf got = STRBUF_INIT, expected = STRBUF_INIT;
	struct sample_rows r;
	unsigned rows = 0;

	sample_rows_init(&r, devices, 2, false);
	for (unsigned a = 0; a < ARRAY_LEN(values); a++)
		for (unsigned b = 0; b < ARRAY_LEN(values); b++) {
			const double v[] = { value_at(a), value_at(b), value_at(a + b) };

			strbuf_addf(&expected, "%u", ++rows);
			for (size_t i = 0; i < 3; i++)
				expect_field(&expected, v[i]);
			strbuf_addstr(&expected, ",\n");
			assert_true(sample_rows_put(&r, 0, rows, v, &got));
			rows_check(&got, &expected);
			strbuf_addf(&expected, "%u,,,", ++rows);
			expect_field(&expected, v[b % 3]);
			strbuf_addstr(&expected, "\n");
			assert_true(sample_rows_put(&r, 1, rows, &v[b % 3], &got));
			rows_check(&got, &expected);
		}
	assert_int_equal(r.rows, rows);
	sample_rows_release(&r);
}

/* Only what changed, everything after a refresh, and the end of what stood still. */
TEST(changes)
{
	CLEANUP(strbuf_release) struct strbuf got = STRBUF_INIT, expected = STRBUF_INIT;
	struct sample_rows r;

	sample_rows_init(&r, devices, 2, true);
	assert_true(sample_rows_put(&r, 0, 1, (double[]){ 0.5, NAN, 7 }, &got));
	assert_false(sample_rows_put(&r, 0, 2, (double[]){ 0.5, NAN, 7 }, &got));
	assert_true(sample_rows_put(&r, 0, 3, (double[]){ 0.5, 2, 7 }, &got));
	assert_true(sample_rows_put(&r, 0, 4, (double[]){ 0.25, NAN, 7 }, &got));
	assert_true(sample_rows_put(&r, 1, 5, (double[]){ 0.25 }, &got));
	strbuf_addstr(&expected, "1,0.5,NA,7,\n3,,2,,\n4,0.25,NA,,\n5,,,,0.25\n");
	rows_check(&got, &expected);
	sample_rows_refresh(&r);
	assert_true(sample_rows_put(&r, 0, 6, (double[]){ 0.25, NAN, 7 }, &got));
	assert_false(sample_rows_put(&r, 0, 7, (double[]){ 0.25, SAMPLER_ABSENT, 7 }, &got));
	sample_rows_end(&r, &got);
	strbuf_addstr(&expected, "6,0.25,NA,7,\n7,0.25,,7,\n");
	rows_check(&got, &expected);
	sample_rows_release(&r);
}
