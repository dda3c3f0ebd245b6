#include "base_test.h"

#include <float.h>
#include <locale.h>
#include <math.h>

#include "profrig/base/digits.h"

TEST(test_i64)
{
	static const struct {
		const char *s;
		int r;
		int64_t v;
	} rows[] = LIST(
		{ "0", 0, 0 }, { "-0", 0, 0 }, { "+7", 0, 7 }, { "007", 0, 7 },
		{ "9223372036854775807", 0, INT64_MAX }, { "-9223372036854775808", 0, INT64_MIN },
		{ "9223372036854775808", -ERANGE, 0 }, { "-9223372036854775809", -ERANGE, 0 },
		{ "18446744073709551616", -ERANGE, 0 },
		{ "99999999999999999999999999", -ERANGE, 0 },
		{ "99999999999999999999999999x", -EINVAL, 0 }, { "", -EINVAL, 0 },
		{ "-", -EINVAL, 0 }, { "--1", -EINVAL, 0 }, { "+-1", -EINVAL, 0 },
		{ " 1", -EINVAL, 0 }, { "1 ", -EINVAL, 0 }, { "1.0", -EINVAL, 0 },
		{ "0x10", -EINVAL, 0 }, { "1e3", -EINVAL, 0 }, { "\xd9\xa1", -EINVAL, 0 });

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		int64_t v = 12345;
		int r = num_i64(rows[i].s, strlen(rows[i].s), &v);

		if (r != rows[i].r || v != (r ? 12345 : rows[i].v))
			ROW_FAIL(i, "'%s' gave %d, %lld", rows[i].s, r, (long long)v);
	}
}

TEST(test_u64)
{
	static const struct {
		const char *s;
		int r;
		uint64_t v;
	} rows[] = LIST({ "0", 0, 0 }, { "+1", 0, 1 }, { "18446744073709551615", 0, UINT64_MAX },
			{ "18446744073709551616", -ERANGE, 0 },
			{ "18446744073709551620", -ERANGE, 0 }, { "-0", -EINVAL, 0 },
			{ "-1", -EINVAL, 0 }, { "", -EINVAL, 0 }, { "+", -EINVAL, 0 });

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		uint64_t v = 12345;
		int r = num_u64(rows[i].s, strlen(rows[i].s), &v);

		if (r != rows[i].r || v != (r ? 12345 : rows[i].v))
			ROW_FAIL(i, "'%s' gave %d, %llu", rows[i].s, r, (unsigned long long)v);
	}
}

/* Not a byte past n is read: the sanitizer watches the end of the block. */
TEST(test_bounded)
{
	static const char text[] = "-123.5e1";
	size_t n = sizeof(text) - 1;
	CLEANUP(xfreep) char *s = xmemdup(text, n);
	int64_t i;
	double d;

	assert_int_equal(num_i64(s, 4, &i), 0);
	assert_int_equal(i, -123);
	assert_int_equal(num_f64(s, n, &d), 0);
	assert_true(d == -1235.0);
	assert_int_equal(num_decimal(s, n, 0, &i), 0);
	assert_int_equal(i, -1235);
	assert_int_equal(num_decimal(s, 6, 1, &i), 0);
	assert_int_equal(i, -1235);
	assert_int_equal(num_f64(s, n - 1, &d), -EINVAL);
	assert_int_equal(num_seconds(s + 1, 5, &d), 0);
	assert_true(d == 123.5);
}

TEST(test_f64)
{
	static const struct {
		const char *s;
		int r;
		double v;
	} rows[] = LIST(
		{ "0", 0, 0 }, { "-0", 0, -0.0 }, { "1", 0, 1 }, { ".5", 0, 0.5 }, { "5.", 0, 5 },
		{ "+1.5e3", 0, 1500 }, { "1E-3", 0, 0.001 }, { "0.1", 0, 0.1 }, { "1e22", 0, 1e22 },
		{ "1e23", 0, 1e23 }, { "9007199254740993", 0, 9007199254740992.0 },
		{ "9007199254740993.00000000000000000000000001", 0, 9007199254740994.0 },
		{ "123456789012345678901234567890", 0, 123456789012345678901234567890.0 },
		{ "1.7976931348623157e308", 0, DBL_MAX }, { "1.7976931348623159e308", -ERANGE, 0 },
		{ "1e309", -ERANGE, 0 }, { "-1e999999999999999999999", -ERANGE, 0 },
		{ "0e999999999999999999999", 0, 0 },
		{ "4.9406564584124654e-324", 0, 4.9406564584124654e-324 },
		{ "2.2250738585072011e-308", 0, 2.2250738585072011e-308 }, { "1e-400", 0, 0 },
		{ "1e-99999999999999999999999", 0, 0 }, { "inf", 0, INFINITY },
		{ "-Inf", 0, -INFINITY }, { "+INFINITY", 0, INFINITY }, { "nan", 0, NAN },
		{ "NaN", 0, NAN }, { "-nan", 0, NAN }, { "", -EINVAL, 0 }, { ".", -EINVAL, 0 },
		{ "-", -EINVAL, 0 }, { "-.", -EINVAL, 0 }, { "e5", -EINVAL, 0 },
		{ ".e5", -EINVAL, 0 }, { "1e", -EINVAL, 0 }, { "1e+", -EINVAL, 0 },
		{ "1e5.0", -EINVAL, 0 }, { "1.2.3", -EINVAL, 0 }, { "1,5", -EINVAL, 0 },
		{ " 1", -EINVAL, 0 }, { "1 ", -EINVAL, 0 }, { "0x1p3", -EINVAL, 0 },
		{ "infx", -EINVAL, 0 }, { "nan(1)", -EINVAL, 0 }, { "--1", -EINVAL, 0 },
		{ "1_000", -EINVAL, 0 });

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		double v = 12345;
		int r = num_f64(rows[i].s, strlen(rows[i].s), &v);
		double want = r ? 12345 : rows[i].v;

		if (r != rows[i].r || isnan(v) != isnan(want) ||
		    (!isnan(v) && (v != want || signbit(v) != signbit(want))))
			ROW_FAIL(i, "'%s' gave %d, %g", rows[i].s, r, v);
	}
	assert_int_equal(num_f64("1\0", 2, &(double){ 0 }), -EINVAL);
}

TEST(test_f64_length)
{
	char s[600];
	double v;

	memset(s, '0', sizeof(s));
	s[510] = '7';
	assert_int_equal(num_f64(s, 511, &v), 0);
	assert_true(v == 7);
	assert_int_equal(num_f64(s, 512, &v), -EINVAL);
	memset(s, '9', sizeof(s));
	assert_int_equal(num_f64(s, 300, &v), 0);
	assert_true(v == 1e300);
	assert_int_equal(num_f64(s, 400, &v), -ERANGE);
}

/* Short and long decimals, against the C library. */
TEST(test_f64_random)
{
	uint64_t seed = 3;

	for (int i = 0; i < 200000; i++) {
		char s[64];
		uint64_t m = rnd(&seed) >> (rnd(&seed) % 64);
		int e = (int)(rnd(&seed) % 60) - 30;
		int n = snprintf(s, sizeof(s), "%llu.%llue%d", (unsigned long long)m,
				 (unsigned long long)(rnd(&seed) % 10000), e);
		double want = strtod(s, NULL), v;

		assert_int_equal(num_f64(s, (size_t)n, &v), 0);
		if (v != want)
			ROW_FAIL(i, "'%s' gave %.17g instead of %.17g", s, v, want);
	}
}

TEST(test_decimal)
{
	static const struct {
		const char *s;
		int shift, r;
		int64_t v;
	} rows[] = LIST(
		{ "1712195495505582.988", 3, 0, 1712195495505582988 },
		{ "1712195495505582.9885", 3, 0, 1712195495505582989 },
		{ "1712195495505582.98849999999999999", 3, 0, 1712195495505582988 },
		{ "1712195495505582.98850000000000000", 3, 0, 1712195495505582989 },
		{ "0", 3, 0, 0 }, { "-0.0", 3, 0, 0 }, { "12", 3, 0, 12000 }, { ".5", 0, 0, 1 },
		{ "-.5", 0, 0, -1 }, { "0.49999999999999999999999999", 0, 0, 0 },
		{ "1.5", 0, 0, 2 }, { "2.5", 0, 0, 3 }, { "-2.5", 0, 0, -3 }, { "2.4", 0, 0, 2 },
		{ "1e3", 0, 0, 1000 }, { "1.2345e2", 2, 0, 12345 }, { "12345e-2", 0, 0, 123 },
		{ "12350e-2", 0, 0, 124 }, { "5e-1", 0, 0, 1 }, { "4e-1", 0, 0, 0 },
		{ "5e-2", 0, 0, 0 }, { "9999999999999999999e-19", 0, 0, 1 },
		{ "4999999999999999999e-19", 0, 0, 0 }, { "9999999999999999999e-20", 0, 0, 0 },
		{ "1e-1000000000000000000000", 0, 0, 0 }, { "0e1000000000000000000000", 0, 0, 0 },
		{ "1e1000000000000000000000", 0, -ERANGE, 0 }, { "123456", -3, 0, 123 },
		{ "123500", -3, 0, 124 }, { "00000000000000000000000000000000012.5", 1, 0, 125 },
		{ "0.00000000000000000000000000000000125", 34, 0, 13 },
		{ "0.00000000000000000000000000000000125", 35, 0, 125 },
		{ "123456789012345678901234567890e-20", 0, 0, 1234567890 },
		{ "155555555555555555555555555555e-29", 0, 0, 2 },
		{ "0.000000000000000000012345678901234567890", 20, 0, 1 },
		{ "1000000000000000000000e-21", 0, 0, 1 },
		{ "1.0000000000000000000000", 3, 0, 1000 },
		{ "9223372036854775807", 0, 0, INT64_MAX },
		{ "9223372036854775807.4", 0, 0, INT64_MAX },
		{ "9223372036854775807.5", 0, -ERANGE, 0 },
		{ "-9223372036854775808.4", 0, 0, INT64_MIN },
		{ "-9223372036854775808.5", 0, -ERANGE, 0 },
		{ "9223372036854775.807", 3, 0, INT64_MAX },
		{ "9223372036854775.808", 3, -ERANGE, 0 },
		{ "18446744073709551615", 0, -ERANGE, 0 },
		{ "18446744073709551615.9", 0, -ERANGE, 0 },
		{ "100000000000000000000", 0, -ERANGE, 0 }, { "1", 19, -ERANGE, 0 },
		{ "1", 18, 0, 1000000000000000000 }, { "", 0, -EINVAL, 0 }, { ".", 0, -EINVAL, 0 },
		{ "1e", 0, -EINVAL, 0 }, { "inf", 0, -EINVAL, 0 }, { "nan", 0, -EINVAL, 0 },
		{ "1 ", 0, -EINVAL, 0 }, { "1..2", 0, -EINVAL, 0 });

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		int64_t v = 12345;
		int r = num_decimal(rows[i].s, strlen(rows[i].s), rows[i].shift, &v);

		if (r != rows[i].r || v != (r ? 12345 : rows[i].v))
			ROW_FAIL(i, "'%s' shifted by %d gave %d, %lld", rows[i].s, rows[i].shift, r,
				 (long long)v);
	}
	assert_int_equal(num_decimal("1712195495505582.988", 20, 3, &(int64_t){ 0 }), 0);
}

/* The short way and the long way agree: zeros in front and behind change nothing but the way taken.
 */
TEST(test_decimal_ways)
{
	uint64_t seed = 5;

	for (int i = 0; i < 100000; i++) {
		uint64_t whole = rnd(&seed) >> (rnd(&seed) % 40 + 14);
		unsigned frac = (unsigned)(rnd(&seed) % 1000000);
		int shift = (int)(rnd(&seed) % 12) - 4;
		char s[64], padded[128];
		int64_t a = 0, b = 0;
		int n = snprintf(s, sizeof(s), "%s%llu.%06u", i % 2 ? "-" : "",
				 (unsigned long long)whole, frac);
		int m = snprintf(padded, sizeof(padded), "%s00000%llu.%06u0000000000000000000000",
				 i % 2 ? "-" : "", (unsigned long long)whole, frac);
		int ra = num_decimal(s, (size_t)n, shift, &a);
		int rb = num_decimal(padded, (size_t)m, shift, &b);

		if (ra != rb || a != b)
			ROW_FAIL(i, "'%s' shifted by %d: %d %lld, %d %lld", s, shift, ra,
				 (long long)a, rb, (long long)b);
	}
}

TEST(test_seconds)
{
	static const struct {
		const char *s;
		int r;
		double v;
	} rows[] = {
		{ "10", 0, 10 },         { "1.5s", 0, 1.5 },       { "200ms", 0, 0.2 },
		{ "5m", 0, 300 },        { "2h", 0, 7200 },        { "0", 0, 0 },
		{ "1e1s", 0, 10 },       { ".5m", 0, 30 },         { "1.h", 0, 3600 },
		{ "-1s", -ERANGE, 0 },   { "1e308h", -ERANGE, 0 }, { "", -EINVAL, 0 },
		{ "s", -EINVAL, 0 },     { "5 s", -EINVAL, 0 },    { "5S", -EINVAL, 0 },
		{ "5us", -EINVAL, 0 },   { "inf", -EINVAL, 0 },    { "nan", -EINVAL, 0 },
		{ "1h30m", -EINVAL, 0 }, { "5mss", -EINVAL, 0 },   { "30d", 0, 2592000 },
		{ "1.5w", 0, 907200 },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		double v = 12345;
		int r = num_seconds(rows[i].s, strlen(rows[i].s), &v);

		if (r != rows[i].r || v != (r ? 12345 : rows[i].v))
			ROW_FAIL(i, "'%s' gave %d, %.17g", rows[i].s, r, v);
	}
}

TEST(test_bytes)
{
	static const struct {
		const char *s;
		int r;
		int64_t v;
	} rows[] = LIST({ "0", 0, 0 }, { "4096", 0, 4096 }, { "4k", 0, 4096 }, { "1.5K", 0, 1536 },
			{ "500M", 0, INT64_C(500) << 20 }, { "10G", 0, INT64_C(10) << 30 },
			{ "10GB", 0, INT64_C(10) << 30 }, { "10GiB", 0, INT64_C(10) << 30 },
			{ "2t", 0, INT64_C(2) << 40 }, { "7B", 0, 7 }, { "", -EINVAL, 0 },
			{ "G", -EINVAL, 0 }, { "10Gi", -EINVAL, 0 }, { "10X", -EINVAL, 0 },
			{ "10 G", -EINVAL, 0 }, { "1iB", -EINVAL, 0 }, { "10MG", -EINVAL, 0 },
			{ "-1k", -ERANGE, 0 }, { "9e9G", -ERANGE, 0 }, { "nan", -EINVAL, 0 });

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		int64_t v = 12345;
		int r = num_bytes(rows[i].s, strlen(rows[i].s), &v);

		if (r != rows[i].r || v != (r ? 12345 : rows[i].v))
			ROW_FAIL(i, "'%s' gave %d, %lld", rows[i].s, r, (long long)v);
	}
}

TEST(test_fmt_integers)
{
	static const uint64_t edges[] = { 0,   1,    9,     10,       99,        100,       101,
					  999, 1000, 12345, 1u << 31, INT64_MAX, UINT64_MAX };
	uint64_t seed = 9;
	char got[24], want[24];

	for (size_t i = 0; i < 10000; i++) {
		uint64_t v = i < ARRAY_LEN(edges) ? edges[i] : rnd(&seed) >> (i % 64);

		snprintf(want, sizeof(want), "%llu", (unsigned long long)v);
		assert_int_equal(num_fmt_u64(got, v), strlen(want));
		assert_string_equal(got, want);
		snprintf(want, sizeof(want), "%lld", (long long)(0 - v));
		assert_int_equal(num_fmt_i64(got, (int64_t)(0 - v)), strlen(want));
		assert_string_equal(got, want);
	}
	num_fmt_i64(got, INT64_MIN);
	assert_string_equal(got, "-9223372036854775808");
}

static void reference(char *buf, double v)
{
	for (int p = 15; p <= 17; p++) {
		snprintf(buf, 64, "%.*g", p, v);
		if (strtod(buf, NULL) == v)
			return;
	}
}

static void check_fmt(double v)
{
	char got[32], want[64];
	double back;
	size_t n = num_fmt_f64(got, v);

	reference(want, v);
	if (strcmp(got, want) != 0 || n != strlen(want))
		ROW_FAIL(0, "%a is '%s', not '%s'", v, got, want);
	assert_int_equal(num_f64(got, n, &back), 0);
	assert_memory_equal(&back, &v, sizeof(v));
}

TEST(test_fmt_f64)
{
	static const double values[] = {
		0.0,          -0.0,     1,        -1,
		0.1,          0.5,      1.0 / 3,  0.1 + 0.2,
		1e-4,         9.9e-5,   1e-5,     0.001,
		0.000123,     1e14,     1e15,     999999999999999,
		1e15 - 0.125, 1e16,     1e17,     123456.789,
		999.999999,   0.999999, 1e21,     1e22,
		1e23,         1e-7,     1e-300,   DBL_MIN,
		DBL_MAX,      -DBL_MAX, 4.9e-324, 2.5e-310,
		100,          1000000,  1.05,     1.000001,
		1.0000001,    5e-324,   M_PI,     -M_E,
	};
	uint64_t seed = 13;
	char buf[32];

	for (size_t i = 0; i < ARRAY_LEN(values); i++)
		check_fmt(values[i]);
	for (int i = 0; i < 100000; i++) {
		uint64_t bits = rnd(&seed);
		double v;

		memcpy(&v, &bits, sizeof(v));
		if (isfinite(v))
			check_fmt(v);
		/* Decimals, as people and tools write them. */
		check_fmt((double)(int64_t)(bits >> (bits % 50 + 10)) / 1e3);
		check_fmt((double)(int64_t)(bits >> 24) / 1e6);
		check_fmt((double)(int64_t)(bits >> 20) / 1e9);
	}
	assert_int_equal(num_fmt_f64(buf, NAN), 3);
	assert_string_equal(buf, "nan");
	num_fmt_f64(buf, -NAN);
	assert_string_equal(buf, "nan");
	num_fmt_f64(buf, INFINITY);
	assert_string_equal(buf, "inf");
	num_fmt_f64(buf, -INFINITY);
	assert_string_equal(buf, "-inf");
}

/* Around the powers of two, where the distance to the next double changes, and of ten, where the
 * number of digits does. */
TEST(test_fmt_f64_edges)
{
	uint64_t seed = 19;

	for (int e = -20; e <= 60; e++) {
		double v = ldexp(1, e);

		for (int i = 0; i < 50; i++) {
			check_fmt(-ldexp(1 + (double)(rnd(&seed) >> 12) * 0x1p-52, e));
			/* few bits: ties in the rounding to digits */
			check_fmt(v + ldexp((double)(rnd(&seed) % 256), e - 8));
		}
		v = nextafter(ldexp(1, e), 0);
		for (int i = 0; i < 10; i++, v = nextafter(v, INFINITY))
			check_fmt(v);
	}
	for (int e = -8; e <= 18; e++) {
		double v = pow(10, e);

		for (int i = 0; i < 10; i++)
			v = nextafter(v, 0);
		for (int i = 0; i < 20; i++, v = nextafter(v, INFINITY))
			check_fmt(v);
	}
	for (int i = 0; i < 300000; i++)
		check_fmt(ldexp(1 + (double)(rnd(&seed) >> 12) * 0x1p-52,
				(int)(rnd(&seed) % 64) - 14));
}

TEST(test_fmt_fixed)
{
	static const struct {
		double v;
		int decimals;
		const char *want;
	} rows[] = LIST({ 0, 0, "0" }, { 1.005, 2, "1.00" }, { 2.5, 0, "2" }, { -1.25, 1, "-1.2" },
			{ 12345.678, 1, "12345.7" }, { NAN, 3, "nan" }, { -INFINITY, 3, "-inf" },
			{ 1e20, 2, "100000000000000000000.00" });
	char buf[344];

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		assert_int_equal(num_fmt_fixed(buf, rows[i].v, rows[i].decimals),
				 strlen(rows[i].want));
		assert_string_equal(buf, rows[i].want);
	}
	assert_int_equal(num_fmt_exp(buf, -DBL_MAX, 17), 1 + 1 + 1 + 17 + 5);
	num_fmt_exp(buf, 9.996e-5, 2);
	assert_string_equal(buf, "1.00e-04");
	num_fmt_exp(buf, NAN, 2);
	assert_string_equal(buf, "nan");
	assert_int_equal(num_fmt_fixed(buf, -DBL_MAX, 17), 1 + 309 + 1 + 17);
}

/* Whatever stands before the digits, and whatever else a byte may be. */
TEST(test_digits_before)
{
	for (size_t n = 0; n <= DIGITS_MAX + 2; n++) {
		for (int before = 0; before < 256; before++) {
			char text[] = "................009876543210987654321";
			char *end = text + sizeof(text) - 1;
			int64_t got = -1, want = -1;
			bool ok = n > 0 && n <= DIGITS_MAX;

			memset(text, before, (size_t)(end - text) - n);
			assert_int_equal(digits_before(end, n, &got), ok);
			if (ok) {
				assert_int_equal(num_i64(end - n, n, &want), 0);
				assert_int_equal(got, want);
			}
			if (ok && (before < '0' || before > '9')) {
				end[-1 - (int)(n / 2)] = (char)before;
				assert_false(digits_before(end, n, &got));
			}
		}
	}
}

/* A locale with a decimal comma, for this thread only. */
TEST(test_locale)
{
	static const char *const names[] = { "de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE" };
	locale_t l = (locale_t)0, old;
	char buf[344];
	double v;

	for (size_t i = 0; i < ARRAY_LEN(names) && !l; i++)
		l = newlocale(LC_ALL_MASK, names[i], (locale_t)0);
	if (!l)
		test_lacks("locale", "no locale with a decimal comma is installed");
	old = uselocale(l);
	num_fmt_f64(buf, 1.0 / 3);
	num_f64("2.2250738585072011e-308", 23, &v);
	uselocale(old);
	assert_string_equal(buf, "0.3333333333333333");
	assert_true(v == 2.2250738585072011e-308);
	uselocale(l);
	num_fmt_fixed(buf, 1.5, 1);
	uselocale(old);
	assert_string_equal(buf, "1.5");
	freelocale(l);
}

TEST(test_ranges)
{
	static const struct {
		const char *text;
		uint64_t first, last;
	} good[] = { { "3", 3, 3 }, { "2-4", 2, 4 }, { "0-7", 0, 7 }, { "5-5", 5, 5 } };
	static const char *const bad[] = { "", "-", "3-", "-3", "4-2", "8", "0-8", "1-2-3", "a" };
	uint64_t first, last;

	for (size_t i = 0; i < ARRAY_LEN(good); i++) {
		assert_int_equal(num_range(good[i].text, 7, &first, &last), 0);
		assert_int_equal(first, good[i].first);
		assert_int_equal(last, good[i].last);
	}
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		assert_int_equal(num_range(bad[i], 7, &first, &last), -EINVAL);
}
