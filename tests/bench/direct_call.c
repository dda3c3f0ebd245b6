#include "direct_call.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COL_MAJOR = 102, NO_TRANS = 111, TRANS = 112 };

typedef void gemm_f(int order, int ta, int tb, int m, int n, int k, float alpha, const float *a,
		    int lda, const float *b, int ldb, float beta, float *c, int ldc);
typedef void gemv_f(int order, int ta, int m, int n, float alpha, const float *a, int lda,
		    const float *x, int incx, float beta, float *y, int incy);

struct blas_call {
	struct direct_call c;
	union {
		void *symbol;
		gemm_f *gemm;
		gemv_f *gemv;
	} fn;
	int ta, tb, m, n, k, lda, ldb, ldc;
	float alpha, beta, *a, *b, *to;
	size_t a_nr; /* elements of a copy */
};

void direct_end(int status, const char *form, ...)
{
	va_list ap;

	va_start(ap, form);
	fputs("direct_calls: ", stderr);
	vfprintf(stderr, form, ap);
	fputc('\n', stderr);
	va_end(ap);
	exit(status);
}

void *direct_symbol(void *lib, const char *name)
{
	void *at = dlsym(lib, name);

	if (!at)
		direct_end(DIRECT_FAILED, "no %s in the library", name);
	return at;
}

float *direct_floats(size_t n)
{
	float *p = aligned_alloc(64, (n * sizeof(*p) + 63) / 64 * 64);

	if (!p)
		direct_end(DIRECT_FAILED, "no memory for %zu numbers", n);
	for (size_t i = 0; i < n; i++)
		p[i] = (float)(drand48() * 2 - 1);
	return p;
}

float *direct_copied(size_t n, size_t copies)
{
	float *first = direct_floats(n), *all;

	if (copies == 1)
		return first;
	all = aligned_alloc(64, (n * copies * sizeof(*all) + 63) / 64 * 64);
	if (!all)
		direct_end(DIRECT_FAILED, "no memory for %zu copies", copies);
	for (size_t i = 0; i < copies; i++)
		memcpy(all + i * n, first, n * sizeof(*all));
	free(first);
	return all;
}

bool direct_word(const char *key, const char *name, char *ret, size_t size)
{
	size_t n = strlen(name);

	for (const char *at = key; at; at = strchr(at, ' ')) {
		at += *at == ' ';
		if (strncmp(at, name, n) == 0 && at[n] == '=') {
			snprintf(ret, size, "%.*s", (int)strcspn(at + n + 1, " "), at + n + 1);
			return true;
		}
	}
	return false;
}

long direct_number(const char *key, const char *name, long absent)
{
	char text[32], *end;
	long v;

	if (!direct_word(key, name, text, sizeof(text)))
		return absent;
	v = strtol(text, &end, 10);
	if (*end || end == text || v < 1 || v > 1 << 20)
		direct_end(DIRECT_UNSUPPORTED, "%s=%s", name, text);
	return v;
}

float direct_scalar(const char *key, const char *name, float absent)
{
	char text[32], *end;
	float v;

	if (!direct_word(key, name, text, sizeof(text)))
		return absent;
	if (!strcmp(text, "other"))
		return 0.5f;
	v = strtof(text, &end);
	if (*end || end == text)
		direct_end(DIRECT_UNSUPPORTED, "%s=%s", name, text);
	return v;
}

size_t direct_copies(size_t bytes, size_t rotate)
{
	return rotate / bytes + 1;
}

/* ---- BLAS ---- */

static void gemm_once(struct direct_call *c)
{
	struct blas_call *b = (struct blas_call *)c;

	b->fn.gemm(COL_MAJOR, b->ta, b->tb, b->m, b->n, b->k, b->alpha, b->a + c->at * b->a_nr,
		   b->lda, b->b, b->ldb, b->beta, b->to, b->ldc);
	c->at = (c->at + 1) % c->copies;
}

static void gemv_once(struct direct_call *c)
{
	struct blas_call *b = (struct blas_call *)c;

	b->fn.gemv(COL_MAJOR, b->ta, b->m, b->n, b->alpha, b->a + c->at * b->a_nr, b->lda, b->b, 1,
		   b->beta, b->to, 1);
	c->at = (c->at + 1) % c->copies;
}

static int transposed(const char *key, const char *name)
{
	char text[8] = "N";

	direct_word(key, name, text, sizeof(text));
	return *text == 'N' ? NO_TRANS : TRANS;
}

static void f32_only(const char *key, const char *name)
{
	char type[8] = "";

	if (!direct_word(key, name, type, sizeof(type)) || strcmp(type, "f32") != 0)
		direct_end(DIRECT_UNSUPPORTED, "only f32: %s", key);
}

static void gemm_make(struct blas_call *b, const char *key)
{
	f32_only(key, "a");
	b->tb = transposed(key, "tb");
	b->ta = transposed(key, "ta");
	b->k = (int)direct_number(key, "k", 0);
	b->lda = (int)direct_number(key, "lda", b->ta == NO_TRANS ? b->m : b->k);
	b->ldb = (int)direct_number(key, "ldb", b->tb == NO_TRANS ? b->k : b->n);
	b->ldc = (int)direct_number(key, "ldc", b->m);
	b->a_nr = (size_t)b->lda * (size_t)(b->ta == NO_TRANS ? b->k : b->m);
	b->b = direct_floats((size_t)b->ldb * (size_t)(b->tb == NO_TRANS ? b->n : b->k));
	b->to = direct_floats((size_t)b->ldc * (size_t)b->n);
	b->fn.symbol = direct_symbol(b->c.lib, "cblas_sgemm");
	b->c.once = gemm_once;
}

static void gemv_make(struct blas_call *b, const char *key)
{
	f32_only(key, "type");
	if (direct_number(key, "incx", 1) != 1 || direct_number(key, "incy", 1) != 1)
		direct_end(DIRECT_UNSUPPORTED, "only vectors without gaps: %s", key);
	b->ta = transposed(key, "trans");
	b->lda = (int)direct_number(key, "lda", b->m);
	b->a_nr = (size_t)b->lda * (size_t)b->n;
	b->b = direct_floats((size_t)(b->ta == NO_TRANS ? b->n : b->m));
	b->to = direct_floats((size_t)(b->ta == NO_TRANS ? b->m : b->n));
	b->fn.symbol = direct_symbol(b->c.lib, "cblas_sgemv");
	b->c.once = gemv_once;
}

static struct direct_call *blas_make(void *lib, const char *key, size_t rotate)
{
	struct blas_call *b = calloc(1, sizeof(*b));

	if (!b)
		direct_end(DIRECT_FAILED, "no memory");
	b->c.lib = lib;
	b->m = (int)direct_number(key, "m", 0);
	b->n = (int)direct_number(key, "n", 0);
	b->alpha = direct_scalar(key, "alpha", 1);
	b->beta = direct_scalar(key, "beta", 0);
	if (!strncmp(key, "gemm ", 5) && direct_number(key, "batch", 1) == 1)
		gemm_make(b, key);
	else if (!strncmp(key, "gemv ", 5))
		gemv_make(b, key);
	else
		direct_end(DIRECT_UNSUPPORTED, "no such call of a BLAS: %s", key);
	b->c.copies = direct_copies(b->a_nr * sizeof(*b->a), rotate);
	b->a = direct_copied(b->a_nr, b->c.copies);
	return &b->c;
}

/* Libraries with functions of the same names live beside each other: each sees its own. */
struct direct_call *direct_call_make(const char *library, const char *key, size_t rotate)
{
	const char *file = strrchr(library, '/');
	void *lib = dlopen(library, RTLD_NOW | RTLD_LOCAL);

	if (!lib)
		direct_end(DIRECT_FAILED, "%s", dlerror());
	if (!strncmp(file ? file + 1 : library, "libdnnl", 7))
		return direct_onednn_make(lib, key, rotate);
	return blas_make(lib, key, rotate);
}
