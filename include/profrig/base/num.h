/*
 * num: numbers from text, bounded and checked; the only place that turns digits into values.
 *
 * Every parser takes (s, n): at most n bytes are read, the whole of them must be the number (no
 * blanks), else -EINVAL; a value that does not fit is -ERANGE. Locale plays no part.
 */
#ifndef PROFRIG_NUM_H
#define PROFRIG_NUM_H

#include <stddef.h>
#include <stdint.h>

int num_i64(const char *s, size_t n, int64_t *ret);
int num_u64(const char *s, size_t n, uint64_t *ret);
/* "3" or "2-4", NUL-terminated, in order and at most `most`; all else is -EINVAL. */
int num_range(const char *s, uint64_t most, uint64_t *ret_first, uint64_t *ret_last);
/*
 * Decimal floating point incl. exponent; "nan", "inf" in any case and sign accepted. Correctly
 * rounded. Too large for a double is -ERANGE, too small becomes a subnormal or 0. More than 511
 * bytes are -EINVAL.
 */
int num_f64(const char *s, size_t n, double *ret);
/*
 * A decimal with optional fraction and exponent times 10^shift as an integer, rounded to nearest,
 * halves away from zero, computed in decimal: num_decimal("1712195495505582.988", 20, 3) =
 * 1712195495505582988 exactly. This is how µs become ns.
 */
int num_decimal(const char *s, size_t n, int shift, int64_t *ret);
/* "10", "1.5s", "200ms", "5m", "2h", "30d", "2w" → seconds; negative is -ERANGE. */
int num_seconds(const char *s, size_t n, double *ret);
/* "10%" → 0.1; at least 0. */
int num_percent(const char *s, size_t n, double *ret);
/*
 * The shortest of %.15g, %.16g, %.17g that reads back equal; "nan", "inf", "-inf" as such. buf
 * holds at least 32. Returns length.
 */
size_t num_fmt_f64(char *buf, double v);
/*
 * "500M", "1.5G", "4096", "10GiB" → bytes, k M G T being powers of 1024 in any case, with or
 * without B or iB behind them; negative, or 2^62 and more, is -ERANGE.
 */
int num_bytes(const char *s, size_t n, int64_t *ret);
/* Decimal digits; buf holds at least 24. Return the length. */
size_t num_fmt_u64(char *buf, uint64_t v);
size_t num_fmt_i64(char *buf, int64_t v);
/*
 * v with `decimals` digits (at most 17) behind the point, however large; buf holds at least 344.
 * Returns length.
 */
size_t num_fmt_fixed(char *buf, double v, int decimals);
/*
 * v with one digit before the point, `decimals` (at most 17) behind it and an exponent: "1.50e+20".
 * buf holds at least 32. Returns length.
 */
size_t num_fmt_exp(char *buf, double v, int decimals);

#endif
