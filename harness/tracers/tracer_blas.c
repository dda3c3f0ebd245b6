/*
 * libprofrig_blas.so: one span per call of the gemm, gemv, axpy, dot, syrk and trsm families of any
 * BLAS, by LD_PRELOAD.
 *
 * It defines the Fortran (sgemm_) and CBLAS (cblas_sgemm) entry points, those for 64-bit integers
 * (OpenBLAS: sgemm_64_, cblas_sgemm64_; MKL, reference: sgemm_64, cblas_sgemm_64) and those of the
 * OpenBLAS in Python wheels (scipy_ before either), and passes calls on to the next definition. A
 * BLAS that implements one entry point by calling another gives one span: the outermost. The
 * complex dot functions of Fortran return their value in a compiler-dependent way and are left
 * alone; their CBLAS forms (…_sub) are traced.
 *
 * flops: gemm 2mnk, gemv 2mn, axpy and dot 2n, syrk n²k, trsm m²n or mn² (times 4 for complex
 * types). bytes: every operand read once, results written once.
 *
 * What a span has behind them is what a replay needs, as the call has it: leading dimensions and
 * increments, order (row, col), side, uplo, diag, classes of alpha and beta (0, 1, -1, x for all
 * else) and the bits of an integer, by the name that was called.
 */
#include "record.h"
#include "spool.h"

#include <complex.h>
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * dlsym and friends moved from libdl to libc in glibc 2.34; bind the old version, which both have.
 */
#if defined(__x86_64__)
#define OLD_VERSION "GLIBC_2.2.5"
#elif defined(__aarch64__)
#define OLD_VERSION "GLIBC_2.17"
#endif
__asm__(".symver dlsym,dlsym@" OLD_VERSION);
__asm__(".symver dlopen,dlopen@" OLD_VERSION);
__asm__(".symver dlclose,dlclose@" OLD_VERSION);
__asm__(".symver dladdr,dladdr@" OLD_VERSION);

static __thread int inside __attribute__((tls_model("initial-exec")));

__attribute__((constructor)) static void begin(void)
{
	record_setup();
	spool_setup("blas", "PROFRIG_BLAS_OUT");
}

/* The paths of loaded objects, one after the other, each with a NUL behind it. */
struct objects {
	char *text;
	size_t len;
};

static int note_object(struct dl_phdr_info *info, size_t size, void *ctx)
{
	struct objects *o = ctx;
	size_t n = strlen(info->dlpi_name) + 1;
	char *text = n > 1 ? realloc(o->text, o->len + n) : NULL;

	(void)size;
	if (!text)
		return 0;
	memcpy(text + o->len, info->dlpi_name, n);
	o->text = text;
	o->len += n;
	return 0;
}

static bool is_blas(const char *path)
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;

	return strstr(base, "blas") || strstr(base, "mkl") || strstr(base, "flexi") ||
	       strstr(base, "armpl");
}

/* Whether f belongs to this library, which must not call itself. */
static bool is_ours(void *f)
{
	Dl_info at, self;

	return dladdr(f, &at) && dladdr((void *)&spool_commit, &self) &&
	       at.dli_fbase == self.dli_fbase;
}

static void *search_object(const char *path, const char *name)
{
	void *h = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
	void *f = h ? dlsym(h, name) : NULL;

	if (f && !is_ours(f))
		return f; /* the object stays loaded while it is used */
	if (h)
		dlclose(h);
	return NULL;
}

/*
 * Searches objects loaded with RTLD_LOCAL (Python extensions), which RTLD_NEXT does not find: first
 * those with the name of a BLAS, then all. Paths are collected first and opened afterwards: the
 * walk holds a lock of the loader, and a dlopen of another thread may wait for it while it holds
 * the lock that this dlopen needs.
 */
static void *search_objects(const char *name)
{
	struct objects o = { NULL, 0 };
	void *f = NULL;

	dl_iterate_phdr(note_object, &o);
	for (int likely = 1; likely >= 0; likely--)
		for (size_t at = 0; at < o.len && !f; at += strlen(o.text + at) + 1)
			if (is_blas(o.text + at) == (bool)likely)
				f = search_object(o.text + at, name);
	free(o.text);
	return f;
}

/* The next definition. */
static void *resolve_symbol(const char *name)
{
	void *f = dlsym(RTLD_NEXT, name);

	if (!f)
		f = search_objects(name);
	if (!f) {
		char text[256];
		int n = snprintf(text, sizeof(text),
				 "profrig blas tracer: the program calls %s, which no loaded "
				 "library defines\n",
				 name);
		if (n > 0 && write(2, text, (size_t)n) < 0)
			_exit(127);
		_exit(127);
	}
	return f;
}

/* Returns the start, 0 when this call is not recorded. */
static inline int64_t call_enter(void)
{
	return inside++ || !record_on() || !spool_enabled() ? 0 : spool_now_ns();
}

#pragma GCC diagnostic ignored "-Wfloat-equal"
#pragma GCC diagnostic ignored "-Woverride-init" /* DETAIL's defaults */

#define NONE INT64_MIN /* the call has no such argument; increments may be negative */

struct call {
	const char *name;
	int64_t start;
	int64_t m, n, k; /* < 0: the call has no such dimension */
	char ta, tb;     /* 0: none */
	double flops, bytes;
};

/* What a replay needs, too. */
struct detail {
	int64_t lda, ldb, ldc, incx, incy;
	char order, side, uplo, diag; /* 0: none; order: R, C */
	const char *alpha, *beta;     /* NULL: none */
	int bits;
};
#define DETAIL(...) \
	((struct detail){ \
		.lda = NONE, .ldb = NONE, .ldc = NONE, .incx = NONE, .incy = NONE, __VA_ARGS__ })

static void line_letter(struct spool_line *l, const char *key, char c)
{
	const char one[2] = { c, 0 };

	if (c)
		spool_str(l, key, one);
}

static void line_size(struct spool_line *l, const char *key, int64_t v)
{
	if (v != NONE)
		spool_int(l, key, v);
}

static void line_detail(struct spool_line *l, const struct detail *d)
{
	line_size(l, "lda", d->lda);
	line_size(l, "ldb", d->ldb);
	line_size(l, "ldc", d->ldc);
	line_size(l, "incx", d->incx);
	line_size(l, "incy", d->incy);
	if (d->order)
		spool_str(l, "order", d->order == 'R' ? "row" : "col");
	line_letter(l, "side", d->side);
	line_letter(l, "uplo", d->uplo);
	line_letter(l, "diag", d->diag);
	if (d->alpha)
		spool_str(l, "alpha", d->alpha);
	if (d->beta)
		spool_str(l, "beta", d->beta);
	spool_int(l, "int", d->bits);
}

static void call_leave(const struct call *c, const struct detail *d)
{
	int64_t end = spool_now_ns();
	struct spool_line l;

	spool_begin(&l, 'X', c->start, end - c->start);
	spool_str(&l, "name", c->name);
	spool_str(&l, "cat", "blas");
	spool_args(&l);
	if (c->m >= 0)
		spool_int(&l, "m", c->m);
	spool_int(&l, "n", c->n);
	if (c->k >= 0)
		spool_int(&l, "k", c->k);
	line_letter(&l, "ta", c->ta);
	line_letter(&l, "tb", c->tb);
	spool_int(&l, "flops", (int64_t)c->flops);
	spool_int(&l, "bytes", (int64_t)c->bytes);
	line_detail(&l, d);
	spool_commit(&l);
}

static char char_upper(char c)
{
	return c >= 'a' && c <= 'z' ? (char)(c - 32) : c;
}

/* CBLAS constants: NoTrans 111, Trans 112, ConjTrans 113, ConjNoTrans 114; Left 141, Right 142 */
static char cblas_trans(int t)
{
	return t == 111 ? 'N' : t == 112 ? 'T' : t == 113 ? 'C' : t == 114 ? 'R' : '?';
}

static char cblas_order(int o)
{
	return o == 101 ? 'R' : o == 102 ? 'C' : '?';
}

/* Upper 121, Lower 122; NonUnit 131, Unit 132 */
static char cblas_uplo(int u)
{
	return u == 121 ? 'U' : u == 122 ? 'L' : '?';
}

static char cblas_diag(int d)
{
	return d == 131 ? 'N' : d == 132 ? 'U' : '?';
}

static const char *scalar_class(double re, double im)
{
	if (im != 0)
		return "x";
	return re == 0 ? "0" : re == 1 ? "1" : re == -1 ? "-1" : "x";
}

static double as_double(int64_t v)
{
	return v > 0 ? (double)v : 0;
}

static struct call gemm_call(const char *name, char ta, char tb, int64_t m, int64_t n, int64_t k,
			     double size, double mul, int reads_c)
{
	return (struct call){
		.name = name,
		.m = m,
		.n = n,
		.k = k,
		.ta = ta,
		.tb = tb,
		.flops = mul * 2 * as_double(m) * as_double(n) * as_double(k),
		.bytes = size * (as_double(m) * as_double(k) + as_double(k) * as_double(n) +
				 as_double(m) * as_double(n) * (reads_c ? 2 : 1)),
	};
}

static struct call gemv_call(const char *name, char t, int64_t m, int64_t n, double size,
			     double mul, int reads_y)
{
	bool plain = t == 'N' || t == 'R';
	double out = as_double(plain ? m : n), in = as_double(plain ? n : m);

	return (struct call){
		.name = name,
		.m = m,
		.n = n,
		.k = -1,
		.ta = t,
		.flops = mul * 2 * as_double(m) * as_double(n),
		.bytes = size * (as_double(m) * as_double(n) + in + out * (reads_y ? 2 : 1)),
	};
}

static struct call vector_call(const char *name, int64_t n, double size, double mul, double touches)
{
	return (struct call){
		.name = name,
		.m = -1,
		.n = n,
		.k = -1,
		.flops = mul * 2 * as_double(n),
		.bytes = size * touches * as_double(n),
	};
}

static struct call trsm_call(const char *name, char side, char ta, int64_t m, int64_t n,
			     double size, double mul)
{
	double a = as_double(side == 'L' ? m : n);

	return (struct call){
		.name = name,
		.m = m,
		.n = n,
		.k = -1,
		.ta = ta,
		.tb = 0,
		.flops = mul * as_double(m) * as_double(n) * a,
		.bytes = size * (a * a / 2 + 2 * as_double(m) * as_double(n)),
	};
}

static struct call syrk_call(const char *name, char ta, int64_t n, int64_t k, double size,
			     double mul, int reads_c)
{
	double c = as_double(n) * as_double(n) / 2;

	return (struct call){
		.name = name,
		.m = -1,
		.n = n,
		.k = k,
		.ta = ta,
		.flops = mul * as_double(n) * as_double(n) * as_double(k),
		.bytes = size * (as_double(n) * as_double(k) + c * (reads_c ? 2 : 1)),
	};
}

/*
 * s(p) is non-zero when the scalar at p (real, or complex pair) is: with beta = 0 the result is not
 * read.
 */
#define NZ_R(T, p) (*(const T *)(p) != 0)
#define NZ_C(T, p) (((const T *)(p))[0] != 0 || ((const T *)(p))[1] != 0)
#define CLASS_R(T, p) scalar_class(*(const T *)(p), 0)
#define CLASS_C(T, p) scalar_class(((const T *)(p))[0], ((const T *)(p))[1])

/*
 * Defines F, which passes ARGS on to the next definition and records a span. RESULT keeps the value
 * of that call, RETURN returns it; both are empty for a void function.
 */
#define TRACED(R, F, PARAMS, ARGS, RESULT, RETURN, CALL, ...) \
	R F PARAMS; \
	R F PARAMS \
	{ \
		static __typeof__(F) *real; \
		__typeof__(F) *fn = __atomic_load_n(&real, __ATOMIC_RELAXED); \
		if (!fn) { \
			fn = (__typeof__(F) *)resolve_symbol(#F); \
			__atomic_store_n(&real, fn, __ATOMIC_RELAXED); \
		} \
		int64_t t = call_enter(); \
		RESULT fn ARGS; \
		inside--; \
		if (t) { \
			struct call r = CALL; \
			struct detail d = DETAIL(__VA_ARGS__); \
			r.start = t; \
			call_leave(&r, &d); \
		} \
		RETURN; \
	}
#define TRACED_CALL(F, PARAMS, ARGS, CALL, ...) TRACED(void, F, PARAMS, ARGS, , , CALL, __VA_ARGS__)
#define TRACED_VALUE(R, F, PARAMS, ARGS, CALL, ...) \
	TRACED(R, F, PARAMS, ARGS, R v =, return v, CALL, __VA_ARGS__)

/*
 * One set of definitions per (letter, element type, bytes, flop factor) and per naming scheme:
 * prefix P and suffix SUF, which depends on the width of integers. Fortran passes all by address,
 * and the lengths of character arguments behind the rest. C callers leave the lengths out; passing
 * on the words in their place is harmless. CS: how CBLAS passes scalars: by value for real types,
 * by address for complex ones.
 */
#define BITS(I) ((int)sizeof(I) * 8)

#define FORTRAN(P, L, T, SIZE, MUL, NZ, CL, I, SUF) \
	TRACED_CALL(P##L##gemm##SUF, \
		    (const char *ta, const char *tb, const I *m, const I *n, const I *k, \
		     const T *al, const T *a, const I *lda, const T *b, const I *ldb, const T *be, \
		     T *c, const I *ldc, size_t l1, size_t l2), \
		    (ta, tb, m, n, k, al, a, lda, b, ldb, be, c, ldc, l1, l2), \
		    gemm_call(#L "gemm", char_upper(*ta), char_upper(*tb), *m, *n, *k, SIZE, MUL, \
			      NZ(T, be)), \
		    .order = 'C', .lda = *lda, .ldb = *ldb, .ldc = *ldc, .alpha = CL(T, al), \
		    .beta = CL(T, be), .bits = BITS(I)) \
	TRACED_CALL(P##L##gemv##SUF, \
		    (const char *ta, const I *m, const I *n, const T *al, const T *a, \
		     const I *lda, const T *x, const I *incx, const T *be, T *y, const I *incy, \
		     size_t l1), \
		    (ta, m, n, al, a, lda, x, incx, be, y, incy, l1), \
		    gemv_call(#L "gemv", char_upper(*ta), *m, *n, SIZE, MUL, NZ(T, be)), \
		    .order = 'C', .lda = *lda, .incx = *incx, .incy = *incy, .alpha = CL(T, al), \
		    .beta = CL(T, be), .bits = BITS(I)) \
	TRACED_CALL(P##L##axpy##SUF, \
		    (const I *n, const T *al, const T *x, const I *incx, T *y, const I *incy), \
		    (n, al, x, incx, y, incy), vector_call(#L "axpy", *n, SIZE, MUL, 3), \
		    .incx = *incx, .incy = *incy, .alpha = CL(T, al), .bits = BITS(I)) \
	TRACED_CALL(P##L##syrk##SUF, \
		    (const char *up, const char *ta, const I *n, const I *k, const T *al, \
		     const T *a, const I *lda, const T *be, T *c, const I *ldc, size_t l1, \
		     size_t l2), \
		    (up, ta, n, k, al, a, lda, be, c, ldc, l1, l2), \
		    syrk_call(#L "syrk", char_upper(*ta), *n, *k, SIZE, MUL, NZ(T, be)), \
		    .order = 'C', .uplo = char_upper(*up), .lda = *lda, .ldc = *ldc, \
		    .alpha = CL(T, al), .beta = CL(T, be), .bits = BITS(I)) \
	TRACED_CALL(P##L##trsm##SUF, \
		    (const char *si, const char *up, const char *ta, const char *di, const I *m, \
		     const I *n, const T *al, const T *a, const I *lda, T *b, const I *ldb, \
		     size_t l1, size_t l2, size_t l3, size_t l4), \
		    (si, up, ta, di, m, n, al, a, lda, b, ldb, l1, l2, l3, l4), \
		    trsm_call(#L "trsm", char_upper(*si), char_upper(*ta), *m, *n, SIZE, MUL), \
		    .order = 'C', .side = char_upper(*si), .uplo = char_upper(*up), \
		    .diag = char_upper(*di), .lda = *lda, .ldb = *ldb, .alpha = CL(T, al), \
		    .bits = BITS(I))

#define FORTRAN_DOT(P, NAME, T, R, SIZE, I, SUF) \
	TRACED_VALUE(R, P##NAME##SUF, \
		     (const I *n, const T *x, const I *incx, const T *y, const I *incy), \
		     (n, x, incx, y, incy), vector_call(#NAME, *n, SIZE, 1, 2), .incx = *incx, \
		     .incy = *incy, .bits = BITS(I))

/*
 * CBLAS integers are passed on as whole 64-bit words, of which a 32-bit argument is the lower half
 * (both ABIs give each a word of its own). Some libraries have 64-bit integers under the plain
 * names too (Debian's libblas64, MKL's ilp64), and a stride of -1 must not be cut. The figures take
 * integers under plain names for 32 bits.
 */
typedef int64_t W;

#define CBLAS(P, L, T, SIZE, MUL, CS, NZP, CL, I, SUF) \
	TRACED_CALL(P##cblas_##L##gemm##SUF, \
		    (int o, int ta, int tb, W m, W n, W k, CS al, const T *a, W lda, const T *b, \
		     W ldb, CS be, T *c, W ldc), \
		    (o, ta, tb, m, n, k, al, a, lda, b, ldb, be, c, ldc), \
		    gemm_call(#L "gemm", cblas_trans(ta), cblas_trans(tb), (I)m, (I)n, (I)k, SIZE, \
			      MUL, NZP(T, be)), \
		    .order = cblas_order(o), .lda = (I)lda, .ldb = (I)ldb, .ldc = (I)ldc, \
		    .alpha = CL(T, al), .beta = CL(T, be), .bits = BITS(I)) \
	TRACED_CALL(P##cblas_##L##gemv##SUF, \
		    (int o, int ta, W m, W n, CS al, const T *a, W lda, const T *x, W incx, CS be, \
		     T *y, W incy), \
		    (o, ta, m, n, al, a, lda, x, incx, be, y, incy), \
		    gemv_call(#L "gemv", cblas_trans(ta), (I)m, (I)n, SIZE, MUL, NZP(T, be)), \
		    .order = cblas_order(o), .lda = (I)lda, .incx = (I)incx, .incy = (I)incy, \
		    .alpha = CL(T, al), .beta = CL(T, be), .bits = BITS(I)) \
	TRACED_CALL(P##cblas_##L##axpy##SUF, (W n, CS al, const T *x, W incx, T *y, W incy), \
		    (n, al, x, incx, y, incy), vector_call(#L "axpy", (I)n, SIZE, MUL, 3), \
		    .incx = (I)incx, .incy = (I)incy, .alpha = CL(T, al), .bits = BITS(I)) \
	TRACED_CALL( \
		P##cblas_##L##syrk##SUF, \
		(int o, int up, int ta, W n, W k, CS al, const T *a, W lda, CS be, T *c, W ldc), \
		(o, up, ta, n, k, al, a, lda, be, c, ldc), \
		syrk_call(#L "syrk", cblas_trans(ta), (I)n, (I)k, SIZE, MUL, NZP(T, be)), \
		.order = cblas_order(o), .uplo = cblas_uplo(up), .lda = (I)lda, .ldc = (I)ldc, \
		.alpha = CL(T, al), .beta = CL(T, be), .bits = BITS(I)) \
	TRACED_CALL(P##cblas_##L##trsm##SUF, \
		    (int o, int si, int up, int ta, int di, W m, W n, CS al, const T *a, W lda, \
		     T *b, W ldb), \
		    (o, si, up, ta, di, m, n, al, a, lda, b, ldb), \
		    trsm_call(#L "trsm", si == 141 ? 'L' : 'R', cblas_trans(ta), (I)m, (I)n, SIZE, \
			      MUL), \
		    .order = cblas_order(o), .side = si == 141 ? 'L' : 'R', \
		    .uplo = cblas_uplo(up), .diag = cblas_diag(di), .lda = (I)lda, .ldb = (I)ldb, \
		    .alpha = CL(T, al), .bits = BITS(I))

#define CBLAS_DOT(P, NAME, T, R, SIZE, I, SUF) \
	TRACED_VALUE(R, P##cblas_##NAME##SUF, (W n, const T *x, W incx, const T *y, W incy), \
		     (n, x, incx, y, incy), vector_call(#NAME, (I)n, SIZE, 1, 2), .incx = (I)incx, \
		     .incy = (I)incy, .bits = BITS(I))

/* The start value is the second argument. */
#define FORTRAN_SDSDOT(P, I, SUF) \
	TRACED_VALUE(float, P##sdsdot##SUF, \
		     (const I *n, const float *b, const float *x, const I *incx, const float *y, \
		      const I *incy), \
		     (n, b, x, incx, y, incy), vector_call("sdsdot", *n, 4, 1, 2), .incx = *incx, \
		     .incy = *incy, .bits = BITS(I))

#define CBLAS_SDSDOT(P, I, SUF) \
	TRACED_VALUE(float, P##cblas_sdsdot##SUF, \
		     (W n, float b, const float *x, W incx, const float *y, W incy), \
		     (n, b, x, incx, y, incy), vector_call("sdsdot", (I)n, 4, 1, 2), \
		     .incx = (I)incx, .incy = (I)incy, .bits = BITS(I))

#define CBLAS_DOT_SUB(P, NAME, SIZE, I, SUF) \
	TRACED_CALL(P##cblas_##NAME##_sub##SUF, \
		    (W n, const void *x, W incx, const void *y, W incy, void *ret), \
		    (n, x, incx, y, incy, ret), vector_call(#NAME, (I)n, SIZE, 4, 2), \
		    .incx = (I)incx, .incy = (I)incy, .bits = BITS(I))

#define NZV(T, v) ((v) != 0)
#define CLASS_V(T, v) scalar_class((v), 0)

#define ALL_FORTRAN(P, I, SUF) \
	FORTRAN(P, s, float, 4, 1, NZ_R, CLASS_R, I, SUF) \
	FORTRAN(P, d, double, 8, 1, NZ_R, CLASS_R, I, SUF) \
	FORTRAN(P, c, float, 8, 4, NZ_C, CLASS_C, I, SUF) \
	FORTRAN(P, z, double, 16, 4, NZ_C, CLASS_C, I, SUF) \
	FORTRAN_DOT(P, sdot, float, float, 4, I, SUF) \
	FORTRAN_DOT(P, ddot, double, double, 8, I, SUF) \
	FORTRAN_DOT(P, dsdot, float, double, 4, I, SUF) \
	FORTRAN_SDSDOT(P, I, SUF)

#define ALL_CBLAS(P, I, SUF) \
	CBLAS(P, s, float, 4, 1, float, NZV, CLASS_V, I, SUF) \
	CBLAS(P, d, double, 8, 1, double, NZV, CLASS_V, I, SUF) \
	CBLAS(P, c, float, 8, 4, const void *, NZ_C, CLASS_C, I, SUF) \
	CBLAS(P, z, double, 16, 4, const void *, NZ_C, CLASS_C, I, SUF) \
	CBLAS_DOT(P, sdot, float, float, 4, I, SUF) \
	CBLAS_DOT(P, ddot, double, double, 8, I, SUF) \
	CBLAS_DOT(P, dsdot, float, double, 4, I, SUF) \
	CBLAS_SDSDOT(P, I, SUF) \
	CBLAS_DOT_SUB(P, cdotu, 8, I, SUF) \
	CBLAS_DOT_SUB(P, cdotc, 8, I, SUF) \
	CBLAS_DOT_SUB(P, zdotu, 16, I, SUF) \
	CBLAS_DOT_SUB(P, zdotc, 16, I, SUF)

ALL_FORTRAN(, int32_t, _)
ALL_FORTRAN(, int64_t, _64_)
ALL_FORTRAN(, int64_t, _64)
ALL_FORTRAN(scipy_, int32_t, _)
ALL_FORTRAN(scipy_, int64_t, _64_)
ALL_CBLAS(, int32_t, )
ALL_CBLAS(, int64_t, 64_)
ALL_CBLAS(, int64_t, _64)
ALL_CBLAS(scipy_, int32_t, )
ALL_CBLAS(scipy_, int64_t, 64_)
