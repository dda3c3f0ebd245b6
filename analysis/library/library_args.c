#include "library_args.h"

#include <stdio.h>
#include <string.h>

#include "profrig/base/num.h"
#include "profrig/base/xalloc.h"

enum args_form {
	ARGS_ALL,   /* of the function, and of batches of it */
	ARGS_ALONE, /* a batch of it has other arguments */
	ARGS_EX,
	ARGS_EX_BATCHED,
	ARGS_EX_STRIDED,
};

/*
 * Arguments by name: what is lower case is read, a capital is a buffer, "." is ignored. t: whether
 * a matrix is transposed; at … dt: types; sa … sy: strides.
 *
 * Those of a batch follow the function's own: each ld and inc has its stride behind it when there
 * are strides, and the count of the batch is the last one.
 */
/* clang-format off */
static const struct signature {
	const char *function, *args;
	enum args_form form;
} signatures[] = {
	{ "gemm", "ta tb m n k alpha A lda B ldb beta C ldc", ARGS_ALL },
	{ "gemm",
	  "ta tb m n k alpha A at lda B bt ldb beta C ct ldc D dt ldd compute",
	  ARGS_EX },
	{ "gemm",
	  "ta tb m n k alpha A at lda B bt ldb beta C ct ldc D dt ldd batch compute",
	  ARGS_EX_BATCHED },
	{ "gemm",
	  "ta tb m n k alpha A at lda sa B bt ldb sb beta C ct ldc sc D dt ldd sd batch compute",
	  ARGS_EX_STRIDED },
	{ "gemv", "t m n alpha A lda X incx beta Y incy", ARGS_ALL },
	{ "ger", "m n alpha X incx Y incy A lda", ARGS_ALL },
	{ "geru", "m n alpha X incx Y incy A lda", ARGS_ALL },
	{ "gerc", "m n alpha X incx Y incy A lda", ARGS_ALL },
	{ "axpy", "n alpha X incx Y incy", ARGS_ALL },
	{ "dot", "n X incx Y incy", ARGS_ALL },
	{ "dotu", "n X incx Y incy", ARGS_ALL },
	{ "dotc", "n X incx Y incy", ARGS_ALL },
	{ "copy", "n X incx Y incy", ARGS_ALL },
	{ "swap", "n X incx Y incy", ARGS_ALL },
	{ "rot", "n X incx Y incy", ARGS_ALONE },
	{ "scal", "n alpha X incx", ARGS_ALL },
	{ "nrm2", "n X incx", ARGS_ALL },
	{ "asum", "n X incx", ARGS_ALL },
	{ "iamax", "n X incx", ARGS_ALL },
	{ "iamin", "n X incx", ARGS_ALL },
	{ "symv", "uplo n alpha A lda X incx beta Y incy", ARGS_ALL },
	{ "hemv", "uplo n alpha A lda X incx beta Y incy", ARGS_ALL },
	{ "trmv", "uplo t diag n A lda X incx", ARGS_ALL },
	{ "trsv", "uplo t diag n A lda X incx", ARGS_ALL },
	{ "syr", "uplo n alpha X incx A lda", ARGS_ALL },
	{ "her", "uplo n alpha X incx A lda", ARGS_ALL },
	{ "syr2", "uplo n alpha X incx Y incy A lda", ARGS_ALL },
	{ "her2", "uplo n alpha X incx Y incy A lda", ARGS_ALL },
	{ "syrk", "uplo t n k alpha A lda beta C ldc", ARGS_ALL },
	{ "herk", "uplo t n k alpha A lda beta C ldc", ARGS_ALL },
	{ "syr2k", "uplo t n k alpha A lda B ldb beta C ldc", ARGS_ALL },
	{ "her2k", "uplo t n k alpha A lda B ldb beta C ldc", ARGS_ALL },
	{ "symm", "side uplo m n alpha A lda B ldb beta C ldc", ARGS_ALL },
	{ "hemm", "side uplo m n alpha A lda B ldb beta C ldc", ARGS_ALL },
	{ "trmm", "side uplo t diag m n alpha A lda B ldb", ARGS_ALONE },
	{ "trsm", "side uplo t diag m n alpha A lda B ldb", ARGS_ALL },
	{ "geam", "t tb m n alpha A lda beta B ldb C ldc", ARGS_ALL },
	{ "gemmt", "uplo t tb n k alpha A lda B ldb beta C ldc", ARGS_ALL },
	{ "syrkx", "uplo t n k alpha A lda B ldb beta C ldc", ARGS_ALL },
	{ "herkx", "uplo t n k alpha A lda B ldb beta C ldc", ARGS_ALL },
	{ "dgmm", "side m n A lda X incx C ldc", ARGS_ALL },
	{ "getrf", "m n A lda", ARGS_ALONE },
	{ "gemm3m", "ta tb m n k alpha A lda B ldb beta C ldc", ARGS_ALL },
	{ "gemm_bf16bf16f32", "ta tb m n k alpha A lda B ldb beta C ldc", ARGS_ALL },
	{ "gemm_f16f16f32", "ta tb m n k alpha A lda B ldb beta C ldc", ARGS_ALL },
	{ "gemm_s8u8s32", "ta tb . m n k alpha A lda . B ldb . beta C ldc", ARGS_ALL },
	{ "gemm_s16s16s32", "ta tb . m n k alpha A lda . B ldb . beta C ldc", ARGS_ALL },
};
/* Functions of MKL that have the types of a, b and c in their names. */
static const struct {
	const char *function, *a, *b, *c;
} mixed[] = {
	{ "gemm_bf16bf16f32", "bf16", "bf16", "f32" },
	{ "gemm_f16f16f32", "f16", "f16", "f32" },
	{ "gemm_s8u8s32", "i8", "u8", "i32" },
	{ "gemm_s16s16s32", "i16", "i16", "i32" },
};
/* clang-format on */

static bool form_is_of(enum args_form form, const struct blas_name *n)
{
	switch (form) {
	case ARGS_ALL:
		return !n->ex;
	case ARGS_ALONE:
		return !n->ex && !n->batched;
	case ARGS_EX:
		return n->ex && !n->batched;
	case ARGS_EX_BATCHED:
		return n->ex && n->batched && !n->strided;
	case ARGS_EX_STRIDED:
		return n->ex && n->strided;
	}
	return false;
}

static const struct signature *signature_of(const struct blas_name *n)
{
	for (size_t i = 0; i < ARRAY_LEN(signatures); i++)
		if (!strcmp(signatures[i].function, n->function) &&
		    form_is_of(signatures[i].form, n))
			return &signatures[i];
	return NULL;
}

const char *args_of(const struct blas_name *name)
{
	const struct signature *s = signature_of(name);

	return s ? s->args : NULL;
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
	struct text_slice composite; /* instead of a type to compute with; n = 0 */
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
			if (of[i].to == &c->g.compute && type_is_composite(v))
				c->composite = v;
			return true;
		}
	return false;
}

bool type_is_composite(struct text_slice v)
{
	size_t parts = 0;

	if (element_type(v.p, v.n))
		return false; /* "f32_c" */
	for (;;) {
		const char *end = memchr(v.p, '_', v.n);
		size_t n = end ? (size_t)(end - v.p) : v.n;

		if (n < 2 || !element_type(v.p, n))
			return false;
		parts++;
		if (!end)
			return parts > 1;
		v.p += n + 1;
		v.n -= n + 1;
	}
}

void complex_fmt(char buf[32], const char *re, const char *im)
{
	snprintf(buf, 32, "%.31s", re);
	if (*im && strcmp(im, "0") != 0 && strlen(buf) + strlen(im) + 2 < 32)
		snprintf(buf + strlen(buf), 32 - strlen(buf), "+%.14si", im);
}

/* "1.5", or "(1,2)" of a complex type; false: an address. */
static bool scalar_read(struct text_slice v, char ret[32])
{
	char re[40], im[40] = "";
	const char *comma = memchr(v.p, ',', v.n);
	double d;

	if (v.n > 2 && comma && *v.p == '(' && v.p[v.n - 1] == ')') {
		size_t n = (size_t)(v.p + v.n - 1 - (comma + 1));

		if (num_f64(comma + 1, n, &d) < 0)
			return false;
		num_fmt_f64(im, d);
		v.n = (size_t)(comma - ++v.p);
	}
	if (num_f64(v.p, v.n, &d) < 0)
		return false;
	num_fmt_f64(re, d);
	complex_fmt(ret, re, im);
	return true;
}

static bool scalar_is(const char *name, struct text_slice v, struct call *c)
{
	bool alpha = !strcmp(name, "alpha"), beta = !strcmp(name, "beta");
	char *to = alpha ? c->g.alpha : c->g.beta, *other = alpha ? c->b.alpha : c->b.beta;

	if (!alpha && !beta)
		return false;
	if (scalar_read(v, to)) /* else an address */
		memcpy(other, to, sizeof(c->b.alpha));
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

static bool arg_read(const char *name, struct text_slice v, struct call *c)
{
	return letter_is(name, v, c) || type_is(name, v, c) || scalar_is(name, v, c) ||
	       size_read(name, v, c);
}

/* "sa" behind "lda", "sx" behind "incx". */
static bool stride_read(const char *name, struct text_slice v, struct call *c)
{
	char stride[3] = { 's', name[strlen(name) - 1], 0 };

	return size_read(stride, v, c);
}

static bool args_read(const struct signature *s, const struct blas_name *of,
		      const struct text_slice *v, size_t nr, struct call *c)
{
	bool strided = of->strided && s->form == ARGS_ALL;
	const char *args = s->args;
	char name[16];
	size_t i = 0;

	for (; *args; i++) {
		size_t n = strcspn(args, " ");

		if (i >= nr || n >= sizeof(name))
			return false;
		memcpy(name, args, n);
		name[n] = 0;
		args += n + (args[n] == ' ');
		if (!arg_read(name, v[i], c))
			return false;
		if (!strided || (strncmp(name, "ld", 2) != 0 && strncmp(name, "inc", 3) != 0))
			continue;
		if (++i >= nr || !stride_read(name, v[i], c))
			return false;
	}
	return !of->batched || s->form != ARGS_ALL || (i < nr && size_read("batch", v[i], c));
}

static void types_of_name(const struct blas_name *name, struct call *c)
{
	c->g.a = c->g.b = c->g.c = c->g.d = c->g.compute = c->b.type = name->type;
	for (size_t i = 0; i < ARRAY_LEN(mixed); i++) {
		if (strcmp(mixed[i].function, name->function) != 0)
			continue;
		c->g.a = element_type(mixed[i].a, strlen(mixed[i].a));
		c->g.b = element_type(mixed[i].b, strlen(mixed[i].b));
		c->g.c = element_type(mixed[i].c, strlen(mixed[i].c));
		c->g.d = c->g.compute = c->g.c;
	}
}

static enum record_is product_key(const struct call *c, const char *operation,
				  struct library_key *k)
{
	enum record_is is = gemm_key(&c->g, operation, k);

	if (is != RECORD_CALL)
		return is;
	if (!strcmp(c->b.function, "gemm3m"))
		key_word(k, "algorithm", "3m");
	key_wordn(k, "composite_compute_type", c->composite.p, c->composite.n);
	return is;
}

static enum record_is other_key(const struct call *c, const char *operation, struct library_key *k)
{
	const char tb[2] = { c->g.tb, 0 };
	enum record_is is = blas_key(&c->b, operation, k);

	if (is == RECORD_CALL)
		key_word(k, "transposeB", tb);
	return is;
}

/* The transpose of a product of two matrices is that of theirs in the other order. */
static void call_row_major(struct call *c)
{
	char trans = c->b.trans;
	int64_t lda = c->b.lda;

	gemm_row_major(&c->g);
	blas_row_major(&c->b);
	if (strcmp(c->b.function, "gemmt") != 0)
		return;
	c->b.trans = c->g.ta; /* that of b, which gemm_row_major has moved */
	c->g.tb = trans;
	c->b.lda = c->b.ldb;
	c->b.ldb = lda;
}

enum record_is args_key(const struct blas_name *name, const struct text_slice *args, size_t nr,
			const char *operation, struct library_key *k)
{
	const struct signature *s = signature_of(name);
	struct call c = { .composite = { "", 0 } };

	if (!s)
		return RECORD_FOREIGN;
	gemm_init(&c.g);
	blas_init(&c.b);
	if (!name->ex)
		types_of_name(name, &c);
	c.g.pointers = c.b.pointers = name->batched && !name->strided;
	memcpy(c.b.function, name->function, sizeof(c.b.function));
	if (!args_read(s, name, args, nr, &c))
		return RECORD_TORN;
	if (!name->ex) {
		c.g.ldd = c.g.ldc;
		c.g.stride_d = c.g.stride_c;
	}
	if (name->row_major)
		call_row_major(&c);
	return strncmp(s->args, "ta ", 3) != 0 ? other_key(&c, operation, k)
					       : product_key(&c, operation, k);
}

/* The comma behind an argument; NULL: it is the last one. */
static const char *arg_end(struct text_slice t)
{
	size_t depth = 0;

	for (size_t i = 0; i < t.n; i++) {
		if (t.p[i] == ',' && depth == 0)
			return t.p + i;
		depth += t.p[i] == '(';
		depth -= t.p[i] == ')' && depth > 0;
	}
	return NULL;
}

size_t args_split(struct text_slice text, struct text_slice *ret, size_t max)
{
	size_t n = 0;

	for (;;) {
		const char *comma = arg_end(text);
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
