#include "peak_loops.h"

#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* ---- multiply-adds ---- */

/*
 * More accumulators than latency times pipes, fewer than registers: x86 has a latency of 4 or 5 and
 * 2 pipes, and 16 registers up to AVX2, two of which hold the factor and the summand. AArch64 has
 * up to 4 pipes, and 32 registers.
 */
/* clang-format off */
#define EACH_12(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11)
#define EACH_24(X) \
	EACH_12(X) X(12) X(13) X(14) X(15) X(16) X(17) X(18) X(19) X(20) X(21) X(22) X(23)
#define ONE(i) + 1
#define COUNT(EACH) (0 EACH(ONE))
/* clang-format on */

/* Not known to the compiler; the accumulators stay near 1. */
static volatile double factor = 0.96875, summand = 0.03125;

#define BEGIN(i) vec a##i = begin + (i);
#define STEP(i) a##i = a##i * m + s;
#define ADD(i) sum += a##i;

#define LOOP(name, TYPE, BYTES, EACH, ...) \
	__VA_ARGS__ static double name(uint64_t n) \
	{ \
		typedef TYPE vec __attribute__((vector_size(BYTES))); \
		const vec zero = { 0 }, m = zero + (TYPE)factor, s = zero + (TYPE)summand; \
		const vec begin = s; \
		vec sum = zero; \
		double all = 0; \
\
		EACH(BEGIN) \
		for (uint64_t i = 0; i < n; i++) { \
			EACH(STEP) \
		} \
		EACH(ADD) \
		for (size_t i = 0; i < BYTES / sizeof(TYPE); i++) \
			all += (double)sum[i]; \
		return all; \
	}
#define LOOPS(unit, BYTES, EACH, ...) \
	LOOP(unit##_f32, float, BYTES, EACH, __VA_ARGS__) \
	LOOP(unit##_f64, double, BYTES, EACH, __VA_ARGS__)
#define FLOPS(TYPE, BYTES, EACH) (2 * COUNT(EACH) * (BYTES) / sizeof(TYPE))
/* clang-format off */
#define UNIT(unit, BYTES, EACH) \
	{ #unit, has_##unit, { { unit##_f32, FLOPS(float, BYTES, EACH) }, \
			       { unit##_f64, FLOPS(double, BYTES, EACH) } } }
/* clang-format on */

static bool has_it(void)
{
	return true;
}

#if defined(__x86_64__)

#define has_sse2 has_it
static bool has_avx2_fma(void)
{
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}
static bool has_avx512(void)
{
	return __builtin_cpu_supports("avx512f");
}
LOOPS(sse2, 16, EACH_12)
LOOPS(avx2_fma, 32, EACH_12, __attribute__((target("avx2,fma"))))
LOOPS(avx512, 64, EACH_24, __attribute__((target("avx512f"))))
const struct peak_unit peak_units[] = {
	UNIT(sse2, 16, EACH_12), UNIT(avx2_fma, 32, EACH_12), UNIT(avx512, 64, EACH_24), { 0 }
};

#elif defined(__aarch64__)

#define has_neon has_it
LOOPS(neon, 16, EACH_24)
const struct peak_unit peak_units[] = { UNIT(neon, 16, EACH_24), { 0 } };

#else

#define has_vector has_it
LOOPS(vector, 16, EACH_12)
const struct peak_unit peak_units[] = { UNIT(vector, 16, EACH_12), { 0 } };

#endif

size_t peak_units_choose(const struct peak_unit *ret[PEAK_UNITS_TRIED])
{
	size_t nr = 0;

	for (const struct peak_unit *u = peak_units; u->name; u++) {
		if (!u->there())
			continue;
		if (nr == PEAK_UNITS_TRIED)
			memmove(ret, ret + 1, --nr * sizeof(*ret));
		ret[nr++] = u;
	}
	return nr;
}

void peak_units_names(struct strbuf *to)
{
	const struct peak_unit *units[PEAK_UNITS_TRIED];
	size_t nr = peak_units_choose(units);

	for (size_t i = 0; i < nr; i++)
		strbuf_addf(to, "%s%s", i ? " " : "", units[i]->name);
}

/* ---- triad ---- */

static void triad_plain(double *a, const double *b, const double *c, double s, size_t n)
{
	typedef double vec __attribute__((vector_size(PEAK_TRIAD_STEP * sizeof(double))));
	vec *to = (void *)a;
	const vec *x = (const void *)b, *y = (const void *)c;

	for (size_t i = 0; i < n / PEAK_TRIAD_STEP; i++)
		to[i] = x[i] + s * y[i];
}

#ifdef __SSE2__
static void triad_streaming(double *a, const double *b, const double *c, double s, size_t n)
{
	const __m128d factors = _mm_set1_pd(s);

	for (size_t i = 0; i < n; i += 2)
		_mm_stream_pd(a + i, _mm_add_pd(_mm_load_pd(b + i),
						_mm_mul_pd(factors, _mm_load_pd(c + i))));
	_mm_sfence();
}
#endif

const struct peak_triad peak_triads[] = { { "plain", triad_plain },
#ifdef __SSE2__
					  { "streaming", triad_streaming },
#endif
					  { 0 } };
