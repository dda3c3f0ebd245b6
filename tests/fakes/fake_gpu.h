/*
 * What the stand-ins of libraries of a GPU share: numbers, products of matrices on the processor in
 * the memory of fake_gpu_runtime.c, and ways to fail. As the real libraries do, they find their
 * runtime under the name of its library. Arguments that the real ones refuse are refused: a pointer
 * that is not of the device, a type or number that is none, a leading dimension that is too small,
 * a stream or handle that is unknown.
 *
 * A word in the name of the file (libcublas-wrong.so) says how it fails: crash hang wrong error
 * (all calls) later (from the 30th) unsupported notf32 noalgo old (a version that is too old).
 */
#ifndef FAKE_GPU_H
#define FAKE_GPU_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <complex.h>
#include <dlfcn.h>
#include <math.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

typedef double complex number;
enum kind { KIND_S, KIND_D, KIND_H, KIND_B, KIND_C, KIND_Z, KIND_NONE };
static const size_t sizes[] = { 4, 8, 2, 2, 8, 16, 1 };

/* ---- itself ---- */

static int told(const char *word)
{
	static char base[256];
	Dl_info info;

	if (!base[0] && dladdr(sizes, &info) && strrchr(info.dli_fname, '/'))
		snprintf(base, sizeof(base), "%s", strrchr(info.dli_fname, '/') + 1);
	return strstr(base, word) != NULL;
}

static struct {
	int (*run)(const void *stream);
	int (*has)(const void *at, size_t bytes);
} runtime;
static int the_handle, calls;

/* 0: there is none. */
static int runtime_find(void)
{
	static const char *const names[] = { "libcuda.so.1", "libamdhip64.so.7", "libamdhip64.so.6",
					     "libamdhip64.so.5" };

	for (size_t i = 0; !runtime.run && i < sizeof(names) / sizeof(*names); i++) {
		void *h = dlopen(names[i], RTLD_NOW | RTLD_NOLOAD);
		void *run = h ? dlsym(h, "fake_gpu_run") : NULL;
		void *has = h ? dlsym(h, "fake_gpu_has") : NULL;

		memcpy(&runtime.run, &run, sizeof(run));
		memcpy(&runtime.has, &has, sizeof(has));
	}
	return runtime.run && runtime.has;
}

/* How each vendor numbers what a call may return. */
struct vendor {
	int invalid, failed, unsupported;
	int none, transpose, conjugate; /* operations */
	int upper, not_unit, left;
	int types[6];
};
static const struct vendor cuda = { 7, 13, 15, 0, 1, 2, 1, 0, 0, { 0, 1, 2, 14, 4, 5 } };
static enum kind kind_of(const struct vendor *v, int type)
{
	for (int i = 0; i < KIND_NONE; i++)
		if (v->types[i] == type)
			return (enum kind)i;
	return KIND_NONE;
}

/* ---- numbers ---- */

static float bf16_value(uint16_t bits)
{
	uint32_t wide = (uint32_t)bits << 16;
	float v;

	memcpy(&v, &wide, sizeof(v));
	return v;
}

static uint16_t bf16_of(float v)
{
	uint32_t wide;

	memcpy(&wide, &v, sizeof(v));
	return (uint16_t)((wide + 0x7fff + (wide >> 16 & 1)) >> 16);
}

static float f16_value(uint16_t bits)
{
	int e = bits >> 10 & 31, fraction = bits & 1023;
	float v = e == 31  ? (fraction ? NAN : INFINITY)
		  : e == 0 ? (float)fraction * 0x1p-24f
			   : ldexpf((float)(1024 + fraction), e - 25);

	return bits & 0x8000 ? -v : v;
}

static uint16_t f16_of(float v)
{
	uint32_t wide, sign;

	memcpy(&wide, &v, sizeof(v));
	sign = wide >> 16 & 0x8000;
	wide &= 0x7fffffff;
	if (wide > 0x7f800000)
		return 0x7e00;
	if (wide >= 0x477ff000) /* 65520 */
		return (uint16_t)(sign | 0x7c00);
	if (wide < 0x38800000) { /* 2⁻¹⁴: a sum with 2²³ is rounded to whole steps */
		v = (v < 0 ? -v : v) * 0x1p24f + 0x1p23f;
		memcpy(&wide, &v, sizeof(v));
		return (uint16_t)(sign | (wide - 0x4b000000));
	}
	wide += 0xfff + (wide >> 13 & 1) - (UINT32_C(112) << 23);
	return (uint16_t)(sign | wide >> 13);
}

static number get(enum kind k, const void *p, int64_t at)
{
	switch (k) {
	case KIND_S:
		return ((const float *)p)[at];
	case KIND_D:
		return ((const double *)p)[at];
	case KIND_H:
		return f16_value(((const uint16_t *)p)[at]);
	case KIND_B:
		return bf16_value(((const uint16_t *)p)[at]);
	case KIND_C:
		return ((const float complex *)p)[at];
	default:
		return ((const double complex *)p)[at];
	}
}

static void put(enum kind k, void *p, int64_t at, number v)
{
	switch (k) {
	case KIND_S:
		((float *)p)[at] = (float)creal(v);
		break;
	case KIND_D:
		((double *)p)[at] = creal(v);
		break;
	case KIND_H:
		((uint16_t *)p)[at] = f16_of((float)creal(v));
		break;
	case KIND_B:
		((uint16_t *)p)[at] = bf16_of((float)creal(v));
		break;
	case KIND_C:
		((float complex *)p)[at] = (float complex)v;
		break;
	default:
		((double complex *)p)[at] = v;
		break;
	}
}

/* A number of f32 with the 10 bits of a fraction that TF32 keeps. */
static number tf32(number v)
{
	float f = (float)creal(v);
	uint32_t bits;

	memcpy(&bits, &f, sizeof(f));
	bits = (bits + 0x1000) & ~(uint32_t)0x1fff;
	memcpy(&f, &bits, sizeof(f));
	return f;
}

/* alpha and beta of halves are f32. */
static number scalar(enum kind k, const void *p)
{
	return get(k == KIND_H || k == KIND_B ? KIND_S : k, p, 0);
}

/* ---- computing ---- */

struct matrix {
	const void *at;
	int64_t ld;
	char trans; /* N T C */
};

static char trans_of(const struct vendor *v, int op)
{
	return op == v->none ? 'N' : op == v->transpose ? 'T' : op == v->conjugate ? 'C' : 0;
}

static number entry(enum kind k, const struct matrix *m, int64_t i, int64_t j)
{
	number v = get(k, m->at, m->trans == 'N' ? i + j * m->ld : j + i * m->ld);

	return m->trans == 'C' ? conj(v) : v;
}

/* What happens before a call computes; 0: go on. */
static int begin(const struct vendor *v, const void *handle, const void *stream)
{
	if (handle != &the_handle || !runtime.run(stream))
		return v->invalid;
	if (told("crash"))
		raise(SIGSEGV);
	while (told("hang"))
		pause();
	if (told("unsupported"))
		return v->unsupported;
	return told("error") || (told("later") && ++calls > 30) ? v->failed : 0;
}

static int on_device(const void *p, int64_t elements, enum kind k)
{
	return runtime.has(p, (size_t)elements * sizes[k]);
}

struct product {
	int64_t m, n, k, batch;
	enum kind kind;
	const void *alpha, *beta;
	struct matrix a, b, c;
	int64_t stride_a, stride_b, stride_c;
	void *d;
	int fast; /* TF32 */
};

static int product_is_right(const struct product *p)
{
	int64_t cols_a = p->a.trans == 'N' ? p->k : p->m, rows_a = p->m + p->k - cols_a;
	int64_t cols_b = p->b.trans == 'N' ? p->n : p->k, rows_b = p->k + p->n - cols_b;
	int64_t last = p->batch - 1;

	return p->kind != KIND_NONE && p->a.trans && p->b.trans && p->a.ld >= rows_a &&
	       p->b.ld >= rows_b && p->c.ld >= p->m &&
	       on_device(p->a.at, p->a.ld * cols_a + last * p->stride_a, p->kind) &&
	       on_device(p->b.at, p->b.ld * cols_b + last * p->stride_b, p->kind) &&
	       on_device(p->d, p->c.ld * p->n + last * p->stride_c, p->kind) &&
	       !on_device(p->alpha, 1, KIND_S) && !on_device(p->beta, 1, KIND_S);
}

static void multiply_one(const struct product *p)
{
	number alpha = scalar(p->kind, p->alpha), beta = scalar(p->kind, p->beta);

	for (int64_t j = 0; j < p->n; j++)
		for (int64_t i = 0; i < p->m; i++) {
			int64_t at = i + j * p->c.ld;
			number sum = 0;

			for (int64_t l = 0; l < p->k; l++) {
				number x = entry(p->kind, &p->a, i, l);
				number y = entry(p->kind, &p->b, l, j);

				sum += p->fast ? tf32(x) * tf32(y) : x * y;
			}
			sum *= alpha;
			if (beta != 0)
				sum += beta * get(p->kind, p->c.at, at);
			put(p->kind, p->d, at, sum);
		}
	if (told("wrong"))
		put(p->kind, p->d, p->m - 1 + (p->n - 1) * p->c.ld, 1000);
}

static int multiply(const struct vendor *v, struct product p, const void *handle,
		    const void *stream)
{
	int code = begin(v, handle, stream);

	if (!code && !product_is_right(&p))
		code = v->invalid;
	for (int64_t i = 0; !code && i < p.batch; i++) {
		multiply_one(&p);
		p.a.at = (const char *)p.a.at + (size_t)p.stride_a * sizes[p.kind];
		p.b.at = (const char *)p.b.at + (size_t)p.stride_b * sizes[p.kind];
		p.c.at = (const char *)p.c.at + (size_t)p.stride_c * sizes[p.kind];
		p.d = (char *)p.d + (size_t)p.stride_c * sizes[p.kind];
	}
	return code;
}

/* 0, or NOT_INITIALIZED, which is 1 for all of them. */
static int handle_make(void **handle)
{
	*handle = &the_handle;
	return runtime_find() ? 0 : 1;
}

/* Of libraryPropertyType_t: major, minor, patch. */
static int property_of(int type, int *value)
{
	static const int of[] = { 12, 3, 4 };

	if (type < 0 || type > 2)
		return cuda.invalid;
	*value = of[type];
	return 0;
}

#endif
