#include "library_args.h"

#include <stdio.h>
#include <string.h>

#include "profrig/base/num.h"
#include "profrig/base/xalloc.h"

/*
 * Arguments by name: what is lower case is read, a capital is a buffer, "." is ignored. t: whether
 * a matrix is transposed; at … dt: types; sa … sy: strides.
 */
/* clang-format off */
static const struct signature {
	const char *function, *args;
	bool ex, batched, strided;
} signatures[] = {
	{ "gemm", "ta tb m n k alpha A lda B ldb beta C ldc", false, false, false },
	{ "gemm", "ta tb m n k alpha A lda B ldb beta C ldc batch", false, true, false },
	{ "gemm", "ta tb m n k alpha A lda sa B ldb sb beta C ldc sc batch", false, true, true },
	{ "gemm",
	  "ta tb m n k alpha A at lda B bt ldb beta C ct ldc D dt ldd compute",
	  true, false, false },
	{ "gemm",
	  "ta tb m n k alpha A at lda B bt ldb beta C ct ldc D dt ldd batch compute",
	  true, true, false },
	{ "gemm",
	  "ta tb m n k alpha A at lda sa B bt ldb sb beta C ct ldc sc D dt ldd sd batch compute",
	  true, true, true },
	{ "gemv", "t m n alpha A lda X incx beta Y incy", false, false, false },
	{ "gemv", "t m n alpha A lda X incx beta Y incy batch", false, true, false },
	{ "gemv", "t m n alpha A lda sa X incx sx beta Y incy sy batch", false, true, true },
	{ "ger", "m n alpha X incx Y incy A lda", false, false, false },
	{ "geru", "m n alpha X incx Y incy A lda", false, false, false },
	{ "gerc", "m n alpha X incx Y incy A lda", false, false, false },
	{ "axpy", "n alpha X incx Y incy", false, false, false },
	{ "dot", "n X incx Y incy", false, false, false },
	{ "dotu", "n X incx Y incy", false, false, false },
	{ "dotc", "n X incx Y incy", false, false, false },
	{ "copy", "n X incx Y incy", false, false, false },
	{ "swap", "n X incx Y incy", false, false, false },
	{ "rot", "n X incx Y incy", false, false, false },
	{ "scal", "n alpha X incx", false, false, false },
	{ "nrm2", "n X incx", false, false, false },
	{ "asum", "n X incx", false, false, false },
	{ "iamax", "n X incx", false, false, false },
	{ "iamin", "n X incx", false, false, false },
	{ "symv", "uplo n alpha A lda X incx beta Y incy", false, false, false },
	{ "hemv", "uplo n alpha A lda X incx beta Y incy", false, false, false },
	{ "trmv", "uplo t diag n A lda X incx", false, false, false },
	{ "trsv", "uplo t diag n A lda X incx", false, false, false },
	{ "syr", "uplo n alpha X incx A lda", false, false, false },
	{ "her", "uplo n alpha X incx A lda", false, false, false },
	{ "syr2", "uplo n alpha X incx Y incy A lda", false, false, false },
	{ "her2", "uplo n alpha X incx Y incy A lda", false, false, false },
	{ "syrk", "uplo t n k alpha A lda beta C ldc", false, false, false },
	{ "herk", "uplo t n k alpha A lda beta C ldc", false, false, false },
	{ "syr2k", "uplo t n k alpha A lda B ldb beta C ldc", false, false, false },
	{ "her2k", "uplo t n k alpha A lda B ldb beta C ldc", false, false, false },
	{ "symm", "side uplo m n alpha A lda B ldb beta C ldc", false, false, false },
	{ "hemm", "side uplo m n alpha A lda B ldb beta C ldc", false, false, false },
	{ "trmm", "side uplo t diag m n alpha A lda B ldb", false, false, false },
	{ "trsm", "side uplo t diag m n alpha A lda B ldb", false, false, false },
};
/* clang-format on */

static const struct signature *signature_of(const struct blas_name *n)
{
	for (size_t i = 0; i < ARRAY_LEN(signatures); i++) {
		const struct signature *s = &signatures[i];

		if (!strcmp(s->function, n->function) && s->ex == n->ex &&
		    s->batched == n->batched && s->strided == n->strided)
			return s;
	}
	return NULL;
}

bool args_has(const char *function, const char *arg)
{
	const char *at = NULL;
	size_t n = strlen(arg);

	for (size_t i = 0; i < ARRAY_LEN(signatures) && !at; i++)
		if (!strcmp(signatures[i].function, function))
			at = signatures[i].args;
	for (; at && *at; at += strspn(at, " ")) {
		size_t word = strcspn(at, " ");

		if (word == n && !memcmp(at, arg, n))
			return true;
		at += word;
	}
	return false;
}

struct call {
	struct gemm g;
	struct blas b;
};

static bool letter_is(const char *name, struct text_slice v, struct call *c)
{
	const struct {
		const char *name;
		char *to;
	} letters[] = { { "ta", &c->g.ta },     { "tb", &c->g.tb },     { "t", &c->b.trans },
			{ "uplo", &c->b.uplo }, { "side", &c->b.side }, { "diag", &c->b.diag } };

	for (size_t i = 0; i < ARRAY_LEN(letters); i++)
		if (!strcmp(letters[i].name, name)) {
			*letters[i].to = v.n == 1 ? v.p[0] : 0;
			return true;
		}
	return false;
}

static bool type_is(const char *name, struct text_slice v, struct call *c)
{
	const struct {
		const char *name;
		const struct element_type **to;
	} of[] = { { "at", &c->g.a },
		   { "bt", &c->g.b },
		   { "ct", &c->g.c },
		   { "dt", &c->g.d },
		   { "compute", &c->g.compute } };

	for (size_t i = 0; i < ARRAY_LEN(of); i++)
		if (!strcmp(of[i].name, name)) {
			*of[i].to = element_type(v.p, v.n);
			return true;
		}
	return false;
}

static bool scalar_is(const char *name, struct text_slice v, struct call *c)
{
	bool alpha = !strcmp(name, "alpha"), beta = !strcmp(name, "beta");
	char *to = alpha ? c->g.alpha : c->g.beta, *other = alpha ? c->b.alpha : c->b.beta;
	char text[40];
	double d;

	if (!alpha && !beta)
		return false;
	if (num_f64(v.p, v.n, &d) < 0 || num_fmt_f64(text, d) >= 32)
		return true; /* an address */
	memcpy(to, text, strlen(text) + 1);
	memcpy(other, text, strlen(text) + 1);
	return true;
}

/* false: no size. */
static bool size_read(const char *name, struct text_slice v, struct call *c)
{
	const struct {
		const char *name;
		int64_t *g, *b;
	} sizes[] = {
		{ "m", &c->g.m, &c->b.m },
		{ "n", &c->g.n, &c->b.n },
		{ "k", &c->g.k, &c->b.k },
		{ "lda", &c->g.lda, &c->b.lda },
		{ "ldb", &c->g.ldb, &c->b.ldb },
		{ "ldc", &c->g.ldc, &c->b.ldc },
		{ "ldd", &c->g.ldd, NULL },
		{ "incx", NULL, &c->b.incx },
		{ "incy", NULL, &c->b.incy },
		{ "sa", &c->g.stride_a, &c->b.stride_a },
		{ "sb", &c->g.stride_b, &c->b.stride_b },
		{ "sc", &c->g.stride_c, &c->b.stride_c },
		{ "sd", &c->g.stride_d, NULL },
		{ "sx", NULL, &c->b.stride_x },
		{ "sy", NULL, &c->b.stride_y },
		{ "batch", &c->g.batch, &c->b.batch },
	};
	int64_t n;

	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		if (strcmp(sizes[i].name, name) != 0)
			continue;
		if (num_i64(v.p, v.n, &n) < 0)
			return false;
		if (sizes[i].g)
			*sizes[i].g = n;
		if (sizes[i].b)
			*sizes[i].b = n;
		return true;
	}
	return true; /* a buffer */
}

static bool args_read(const char *args, const struct text_slice *v, size_t nr, struct call *c)
{
	char name[16];
	size_t i = 0;

	for (; *args; i++) {
		size_t n = strcspn(args, " ");

		if (i >= nr || n >= sizeof(name))
			return false;
		memcpy(name, args, n);
		name[n] = 0;
		args += n + (args[n] == ' ');
		if (!letter_is(name, v[i], c) && !type_is(name, v[i], c) &&
		    !scalar_is(name, v[i], c) && !size_read(name, v[i], c))
			return false;
	}
	return true;
}

enum record_is args_key(const struct blas_name *name, const struct text_slice *args, size_t nr,
			const char *operation, struct library_key *k)
{
	const struct signature *s = signature_of(name);
	const struct element_type *t = name->letter ? element_type(&name->letter, 1) : NULL;
	struct call c;

	if (!s)
		return RECORD_FOREIGN;
	gemm_init(&c.g);
	blas_init(&c.b);
	if (!s->ex)
		c.g.a = c.g.b = c.g.c = c.g.d = c.g.compute = t;
	c.b.type = t;
	c.g.pointers = c.b.pointers = name->batched && !name->strided;
	memcpy(c.b.function, name->function, sizeof(c.b.function));
	if (!args_read(s->args, args, nr, &c))
		return RECORD_TORN;
	if (!s->ex) {
		c.g.ldd = c.g.ldc;
		c.g.stride_d = c.g.stride_c;
	}
	if (name->row_major) {
		gemm_row_major(&c.g);
		blas_row_major(&c.b);
	}
	return strcmp(name->function, "gemm") ? blas_key(&c.b, operation, k)
					      : gemm_key(&c.g, operation, k);
}

size_t args_split(struct text_slice text, struct text_slice *ret, size_t max)
{
	size_t n = 0;

	for (;;) {
		const char *comma = memchr(text.p, ',', text.n);
		size_t len = comma ? (size_t)(comma - text.p) : text.n;

		if (n == max)
			return max + 1;
		ret[n++] = slice_trim((struct text_slice){ text.p, len });
		if (!comma)
			return n;
		text.p += len + 1;
		text.n -= len + 1;
	}
}
