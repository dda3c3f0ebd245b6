#include "bench_half.h"

#include <math.h>

/* Bits of an exponent and of a fraction. */
struct format {
	int exponent, fraction;
};
static const struct format f16 = { 5, 10 }, bf16 = { 8, 7 };

static uint16_t bits_of(struct format f, double v)
{
	int bias = (1 << (f.exponent - 1)) - 1, e;
	unsigned sign = signbit(v) ? 0x8000U : 0, infinite = ((1U << f.exponent) - 1) << f.fraction;
	double parts;

	if (isnan(v))
		return (uint16_t)(sign | infinite | 1U << (f.fraction - 1));
	if (isinf(v))
		return (uint16_t)(sign | infinite);
	frexp(v, &e);
	/* 1.x · 2^e; below the smallest exponent all steps are alike */
	e = v == 0 || e - 1 < 1 - bias ? 1 - bias : e - 1;
	/* in steps of the last bit, ties to even; a carry moves into the exponent by itself */
	parts = nearbyint(ldexp(fabs(v), f.fraction - e));
	if (parts >= ldexp(1, f.fraction + 1)) {
		parts /= 2;
		e++;
	}
	if (e > bias)
		return (uint16_t)(sign | infinite);
	return (uint16_t)(sign | (((unsigned)(e + bias - 1) << f.fraction) + (unsigned)parts));
}

static double value_of(struct format f, uint16_t bits)
{
	int bias = (1 << (f.exponent - 1)) - 1, top = (1 << f.exponent) - 1;
	int e = bits >> f.fraction & top;
	unsigned fraction = bits & ((1U << f.fraction) - 1);
	double v =
		ldexp(fraction + (e ? ldexp(1, f.fraction) : 0), (e ? e : 1) - bias - f.fraction);

	if (e == top)
		v = fraction ? NAN : INFINITY;
	return bits & 0x8000 ? -v : v;
}

uint16_t bench_f16_of(double v)
{
	return bits_of(f16, v);
}

uint16_t bench_bf16_of(double v)
{
	return bits_of(bf16, v);
}

double bench_f16_value(uint16_t bits)
{
	return value_of(f16, bits);
}

double bench_bf16_value(uint16_t bits)
{
	return value_of(bf16, bits);
}
