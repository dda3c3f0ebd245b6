/*
 * One scanner (scan_decimal) checks the shape of a decimal and notes where its parts are. num_f64
 * and num_decimal each have an exact fast path for values that fit 64 bits, and a general path
 * behind it.
 */
#include "profrig/base/num.h"

#include <assert.h>
#include <errno.h>
#include <float.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/digits.h"
#include "profrig/base/xalloc.h"

#define F64_MAX_TEXT 512
/* Larger exponents are all alike: no text is long enough to bring them back into range. */
#define EXP_LIMIT INT64_C(1000000000000000)

static const uint64_t pow10_u64[] = {
	1u,
	10u,
	100u,
	1000u,
	10000u,
	100000u,
	1000000u,
	10000000u,
	100000000u,
	1000000000u,
	10000000000u,
	100000000000u,
	1000000000000u,
	10000000000000u,
	100000000000000u,
	1000000000000000u,
	10000000000000000u,
	100000000000000000u,
	1000000000000000000u,
	10000000000000000000u,
};

/* Every power of ten that a double holds exactly. */
static const double pow10_f64[] = {
	1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
	1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
};

static inline bool is_digit(char c)
{
	return (unsigned char)(c - '0') < 10;
}

/* At most 19 digits, which cannot overflow; the first ones singly, the rest by eights. */
static inline int digits_short(const char *s, size_t n, uint64_t *ret)
{
	size_t head = n % 8;
	uint64_t v = 0;

	for (size_t i = 0; i < head; i++) {
		if (!is_digit(s[i]))
			return -EINVAL;
		v = v * 10 + (uint64_t)(s[i] - '0');
	}
	for (size_t i = head; i < n; i += 8) {
		uint64_t word;

		memcpy(&word, s + i, 8);
		if (!digits_are(word))
			return -EINVAL;
		v = v * 100000000 + digits_value(word);
	}
	*ret = v;
	return 0;
}

static int digits_u64(const char *s, size_t n, uint64_t *ret)
{
	uint64_t v = 0;
	bool over = false;

	if (n == 0)
		return -EINVAL;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	if (n <= 19)
		return digits_short(s, n, ret);
#endif
	for (size_t i = 0; i < n; i++) {
		if (!is_digit(s[i]))
			return -EINVAL;
		over |= __builtin_mul_overflow(v, (uint64_t)10, &v);
		over |= __builtin_add_overflow(v, (uint64_t)(s[i] - '0'), &v);
	}
	if (over)
		return -ERANGE;
	*ret = v;
	return 0;
}

/* The sign goes on last, so that INT64_MIN is reached without passing INT64_MAX. */
static int signed_i64(uint64_t magnitude, bool negative, int64_t *ret)
{
	if (magnitude > (uint64_t)INT64_MAX + negative)
		return -ERANGE;
	*ret = (int64_t)(negative ? 0 - magnitude : magnitude);
	return 0;
}

static bool take_sign(const char **s, size_t *n)
{
	bool negative = false;

	if (*n > 0 && (**s == '-' || **s == '+')) {
		negative = **s == '-';
		(*s)++;
		(*n)--;
	}
	return negative;
}

int num_i64(const char *s, size_t n, int64_t *ret)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	/* the usual case: no sign, and too short to overflow */
	if (n > 0 && n <= 18 && is_digit(*s)) {
		uint64_t u;
		int e = digits_short(s, n, &u);

		if (e == 0)
			*ret = (int64_t)u;
		return e;
	}
#endif
	bool negative = take_sign(&s, &n);
	uint64_t v;
	int r = digits_u64(s, n, &v);

	return r < 0 ? r : signed_i64(v, negative, ret);
}

int num_u64(const char *s, size_t n, uint64_t *ret)
{
	if (n > 0 && *s == '+')
		take_sign(&s, &n);
	return digits_u64(s, n, ret);
}

int num_range(const char *s, uint64_t most, uint64_t *ret_first, uint64_t *ret_last)
{
	const char *dash = strchr(s, '-');

	if (num_u64(s, dash ? (size_t)(dash - s) : strlen(s), ret_first) < 0)
		return -EINVAL;
	*ret_last = *ret_first;
	if (dash && num_u64(dash + 1, strlen(dash + 1), ret_last) < 0)
		return -EINVAL;
	return *ret_last < *ret_first || *ret_last > most ? -EINVAL : 0;
}

/* [+-] digits [. digits] [e [+-] digits], with a digit before or behind the point. */
struct decimal {
	bool negative;
	const char *digits; /* first digit or the point */
	size_t n;           /* of digits and point */
	size_t point;       /* digits before the point */
	int64_t exp;
	uint64_t mantissa; /* all digits, when there are at most 19 significant ones */
	bool fits;
};

static int scan_exponent(const char *s, size_t n, int64_t *ret)
{
	bool negative = take_sign(&s, &n);
	int64_t v = 0;

	if (n == 0)
		return -EINVAL;
	for (size_t i = 0; i < n; i++) {
		if (!is_digit(s[i]))
			return -EINVAL;
		v = v * 10 + (s[i] - '0');
		if (v > EXP_LIMIT)
			v = EXP_LIMIT;
	}
	*ret = negative ? -v : v;
	return 0;
}

static int scan_decimal(const char *s, size_t n, struct decimal *d)
{
	size_t i = 0, zeros = 0, before;
	uint64_t m = 0;

	d->negative = take_sign(&s, &n);
	d->digits = s;
	while (i < n && s[i] == '0')
		i++;
	zeros = i;
	for (; i < n && is_digit(s[i]); i++)
		m = m * 10 + (uint64_t)(s[i] - '0');
	before = d->point = i;
	if (i < n && s[i] == '.') {
		i++;
		if (before == zeros) {
			/* 0.000…: zeros behind the point are not significant either. */
			while (i < n && s[i] == '0') {
				i++;
				zeros++;
			}
		}
		for (; i < n && is_digit(s[i]); i++)
			m = m * 10 + (uint64_t)(s[i] - '0');
		if (i - 1 == 0)
			return -EINVAL;
		d->fits = i - 1 - zeros <= 19;
	} else {
		if (i == 0)
			return -EINVAL;
		d->fits = i - zeros <= 19;
	}
	d->n = i;
	d->mantissa = m;
	d->exp = 0;
	if (i == n)
		return 0;
	if (s[i] != 'e' && s[i] != 'E')
		return -EINVAL;
	return scan_exponent(s + i + 1, n - i - 1, &d->exp);
}

static size_t fraction_len(const struct decimal *d)
{
	return d->n > d->point ? d->n - d->point - 1 : 0;
}

static locale_t c_locale;

static void c_locale_make(void)
{
	c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	if (!c_locale)
		xalloc_failed();
}

static int f64_general(const char *s, size_t n, double *ret)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	char text[F64_MAX_TEXT];
	char *end;
	double v;

	pthread_once(&once, c_locale_make);
	memcpy(text, s, n);
	text[n] = '\0';
	v = strtod_l(text, &end, c_locale);
	if (end != text + n)
		return -EINVAL;
	if (isinf(v))
		return -ERANGE;
	*ret = v;
	return 0;
}

static bool is_word(const char *s, size_t n, const char *word)
{
	return strlen(word) == n && !strncasecmp(s, word, n);
}

static int f64_word(const char *s, size_t n, double *ret)
{
	bool negative = take_sign(&s, &n);
	double v;

	if (is_word(s, n, "nan"))
		v = NAN;
	else if (is_word(s, n, "inf") || is_word(s, n, "infinity"))
		v = INFINITY;
	else
		return -EINVAL;
	*ret = negative ? -v : v;
	return 0;
}

int num_f64(const char *s, size_t n, double *ret)
{
	struct decimal d;

	if (n == 0 || n >= F64_MAX_TEXT)
		return -EINVAL;
	if (scan_decimal(s, n, &d) < 0)
		return f64_word(s, n, ret);
#if FLT_EVAL_METHOD == 0
	/* Two exact doubles and one operation give one rounding, which is the correct one
	 * (Clinger). */
	if (d.fits && d.mantissa <= UINT64_C(1) << DBL_MANT_DIG && d.exp > -64 && d.exp < 64) {
		int64_t e = d.exp - (int64_t)fraction_len(&d);
		double v = (double)d.mantissa;

		if (e >= -22 && e <= 22) {
			v = e < 0 ? v / pow10_f64[-e] : v * pow10_f64[e];
			*ret = d.negative ? -v : v;
			return 0;
		}
	}
#endif
	return f64_general(s, n, ret);
}

/* mantissa × 10^e, rounded. */
static int decimal_short(const struct decimal *d, int64_t e, int64_t *ret)
{
	uint64_t v = d->mantissa;

	if (e < 0) {
		uint64_t p, rest;

		if (e < -19) {
			v = 0; /* below 10^19 / 10^20 = 0.1 */
		} else {
			p = pow10_u64[-e];
			rest = v % p;
			v /= p;
			v += rest >= p - rest;
		}
	} else if (v) {
		if (e > 19 || __builtin_mul_overflow(v, pow10_u64[e], &v))
			return -ERANGE;
	}
	return signed_i64(v, d->negative, ret);
}

/* Any number of digits: those up to the unit place make the value, the next digit rounds it. */
static int decimal_long(const struct decimal *d, int64_t e, int64_t *ret)
{
	int64_t places = (int64_t)d->point + e; /* digits that stand before the shifted point */
	uint64_t v = 0;
	int64_t seen = 0;
	size_t i;

	for (i = 0; i < d->n && seen < places; i++) {
		if (i == d->point)
			continue;
		if (__builtin_mul_overflow(v, (uint64_t)10, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(d->digits[i] - '0'), &v))
			return -ERANGE;
		seen++;
	}
	if (i < d->n && i == d->point)
		i++;
	if (i < d->n && seen == places && d->digits[i] >= '5' &&
	    __builtin_add_overflow(v, (uint64_t)1, &v))
		return -ERANGE;
	for (; v && seen < places; seen++)
		if (__builtin_mul_overflow(v, (uint64_t)10, &v))
			return -ERANGE;
	return signed_i64(v, d->negative, ret);
}

int num_decimal(const char *s, size_t n, int shift, int64_t *ret)
{
	struct decimal d;
	int64_t e;
	int r = scan_decimal(s, n, &d);

	if (r < 0)
		return r;
	e = d.exp + shift;
	if (d.fits)
		return decimal_short(&d, e - (int64_t)fraction_len(&d), ret);
	return decimal_long(&d, e, ret);
}

int num_seconds(const char *s, size_t n, double *ret)
{
	static const struct {
		const char *suffix;
		double mul, div;
	} units[] = {
		{ "", 1, 1 },     { "s", 1, 1 },     { "ms", 1, 1000 },  { "m", 60, 1 },
		{ "h", 3600, 1 }, { "d", 86400, 1 }, { "w", 604800, 1 },
	};
	size_t digits = n;
	double v;
	int r;

	while (digits > 0 && !is_digit(s[digits - 1]) && s[digits - 1] != '.')
		digits--;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strlen(units[i].suffix) != n - digits ||
		    memcmp(units[i].suffix, s + digits, n - digits) != 0)
			continue;
		r = num_f64(s, digits, &v);
		if (r < 0)
			return r;
		v = v * units[i].mul / units[i].div;
		if (v < 0 || !isfinite(v))
			return -ERANGE;
		*ret = v;
		return 0;
	}
	return -EINVAL;
}

int num_percent(const char *s, size_t n, double *ret)
{
	double v;
	int r = n < 2 || s[n - 1] != '%' ? -EINVAL : num_f64(s, n - 1, &v);

	if (r < 0)
		return r;
	if (!(v >= 0) || !isfinite(v))
		return -ERANGE;
	*ret = v / 100;
	return 0;
}

int num_bytes(const char *s, size_t n, int64_t *ret)
{
	static const char prefixes[] = "kmgt";
	size_t digits = n, at = 0;
	double v, unit = 1;
	int r;

	while (digits > 0 && !is_digit(s[digits - 1]) && s[digits - 1] != '.')
		digits--;
	at = digits;
	for (size_t i = 0; at < n && at == digits && prefixes[i]; i++)
		if ((s[at] | 0x20) == prefixes[i]) {
			unit = (double)(UINT64_C(1) << 10 * (i + 1));
			at++;
		}
	if (at > digits && at + 1 < n && s[at] == 'i' && s[at + 1] == 'B')
		at++;
	if (at < n && s[at] == 'B')
		at++;
	if (at != n)
		return -EINVAL;
	r = num_f64(s, digits, &v);
	if (r < 0)
		return r;
	if (v < 0 || !(v * unit < 0x1p62))
		return -ERANGE;
	*ret = (int64_t)(v * unit);
	return 0;
}

size_t num_fmt_u64(char *buf, uint64_t v)
{
	static const char pairs[] = "00010203040506070809101112131415161718192021222324"
				    "25262728293031323334353637383940414243444546474849"
				    "50515253545556575859606162636465666768697071727374"
				    "75767778798081828384858687888990919293949596979899";
	char tmp[20];
	size_t at = sizeof(tmp);
	size_t n;

	while (v >= 100) {
		at -= 2;
		memcpy(tmp + at, pairs + v % 100 * 2, 2);
		v /= 100;
	}
	if (v >= 10) {
		at -= 2;
		memcpy(tmp + at, pairs + v * 2, 2);
	} else {
		tmp[--at] = (char)('0' + v);
	}
	n = sizeof(tmp) - at;
	memcpy(buf, tmp + at, n);
	buf[n] = '\0';
	return n;
}

size_t num_fmt_i64(char *buf, int64_t v)
{
	if (v >= 0)
		return num_fmt_u64(buf, (uint64_t)v);
	*buf = '-';
	return 1 + num_fmt_u64(buf + 1, 0 - (uint64_t)v);
}

/* printf writes the locale's decimal point, of one or more bytes; all other bytes are ASCII. */
static size_t fix_point(char *buf, size_t n)
{
	size_t to = 0;
	bool in_point = false;

	for (size_t i = 0; i < n; i++) {
		char c = buf[i];

		if (is_digit(c) || c == '-' || c == '+' || c == 'e') {
			buf[to++] = c;
			in_point = false;
		} else if (!in_point) {
			buf[to++] = '.';
			in_point = true;
		}
	}
	buf[to] = '\0';
	return to;
}

/* D with P digits, the first of which stands for 10^exp10; -5 < exp10 < P. */
static size_t put_digits(char *buf, uint64_t digits, int exp10)
{
	char d[24];
	size_t n = num_fmt_u64(d, digits);
	size_t whole = exp10 < 0 ? 0 : (size_t)exp10 + 1;
	size_t to = 0;

	while (n > 1 && n > whole && d[n - 1] == '0')
		n--;
	if (whole == 0) {
		buf[to++] = '0';
	} else {
		memcpy(buf, d, whole);
		to = whole;
	}
	if (n > whole) {
		buf[to++] = '.';
		for (int e = -1; e > exp10; e--)
			buf[to++] = '0';
		memcpy(buf + to, d + whole, n - whole);
		to += n - whole;
	}
	buf[to] = '\0';
	return to;
}

/* m × 2^e, exact */
struct binary {
	uint64_t m;
	int e;
};

/*
 * The digits of %.*e with precision p - 1, and whether they read back as the value. v × 10^k = m ×
 * 5^k / 2^s, and m × 5^k fits 128 bits, so all is exact: the rounding (half to even, as printf),
 * and the comparison of the decimal's distance from v with half the distance to the next double,
 * which is 5^k / 2 in units of 2^-s (below a power of two: half of that).
 */
static bool exact_digits(struct binary v, int p, int exp10, uint64_t *ret, bool *ret_back)
{
	static const uint64_t pow5[] = {
		1u,
		5u,
		25u,
		125u,
		625u,
		3125u,
		15625u,
		78125u,
		390625u,
		1953125u,
		9765625u,
		48828125u,
		244140625u,
		1220703125u,
		6103515625u,
		30517578125u,
		152587890625u,
		762939453125u,
		3814697265625u,
		19073486328125u,
		95367431640625u,
	};
	int k = p - 1 - exp10;
	int s = -(v.e + k);
	unsigned __int128 t, rest, one = 1;
	uint64_t d;
	bool below = true;

	if (k < 0 || k >= (int)(sizeof(pow5) / sizeof(pow5[0])) || s < 1 || s > 100)
		return false;
	t = (unsigned __int128)v.m * pow5[k];
	d = (uint64_t)(t >> s);
	rest = t & ((one << s) - 1);
	if (rest > one << (s - 1) || (rest == one << (s - 1) && d % 2)) {
		d++;
		rest = (one << s) - rest;
		below = false;
	}
	/* A carry into one more digit, or a wrong exp10: printf does it. */
	if (d < pow10_u64[p - 1] || d >= pow10_u64[p])
		return false;
	rest *= below && v.m == UINT64_C(1) << (DBL_MANT_DIG - 1) ? 4 : 2;
	*ret_back = rest < pow5[k] || (rest == pow5[k] && v.m % 2 == 0);
	*ret = d;
	return true;
}

/* The common magnitudes without printf and strtod; returns 0 for any other. */
static size_t fmt_common(char *buf, double v)
{
	double a = fabs(v);
	size_t sign = v < 0;
	struct binary b;
	uint64_t bits, digits;
	int exp10 = 0;
	bool back = false;

	if (!(a >= 1e-4 && a < 1e15))
		return 0;
	*buf = '-';
	if (a == (double)(uint64_t)a)
		return sign + num_fmt_u64(buf + sign, (uint64_t)a);
	while (a >= pow10_f64[exp10 + 1])
		exp10++;
	for (double low = 1; a < low; low /= 10)
		exp10--;
	memcpy(&bits, &a, sizeof(bits));
	b.m = (bits & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1) << 52;
	b.e = (int)(bits >> 52) - 1075;
	for (int p = 15; p <= 17; p++) {
		if (!exact_digits(b, p, exp10, &digits, &back))
			return 0;
		if (back || p == 17)
			return sign + put_digits(buf + sign, digits, exp10);
	}
	return 0;
}

static size_t put_word(char *buf, const char *word)
{
	size_t n = strlen(word);

	memcpy(buf, word, n + 1);
	return n;
}

static size_t fmt_non_finite(char *buf, double v)
{
	if (isnan(v))
		return put_word(buf, "nan");
	return put_word(buf, v < 0 ? "-inf" : "inf");
}

size_t num_fmt_f64(char *buf, double v)
{
	size_t n;

	if (!isfinite(v))
		return fmt_non_finite(buf, v);
	if (v == 0)
		return put_word(buf, signbit(v) ? "-0" : "0");
	n = fmt_common(buf, v);
	if (n)
		return n;
	for (int precision = 15; precision <= 17; precision++) {
		double back;

		n = (size_t)snprintf(buf, 32, "%.*g", precision, v);
		n = fix_point(buf, n);
		if (precision < 17 && num_f64(buf, n, &back) == 0 && back == v)
			break;
	}
	return n;
}

size_t num_fmt_exp(char *buf, double v, int decimals)
{
	assert(decimals >= 0 && decimals <= 17);
	if (!isfinite(v))
		return fmt_non_finite(buf, v);
	return fix_point(buf, (size_t)snprintf(buf, 32, "%.*e", decimals, v));
}

size_t num_fmt_fixed(char *buf, double v, int decimals)
{
	assert(decimals >= 0 && decimals <= 17);
	if (!isfinite(v))
		return fmt_non_finite(buf, v);
	return fix_point(buf, (size_t)snprintf(buf, 344, "%.*f", decimals, v));
}
