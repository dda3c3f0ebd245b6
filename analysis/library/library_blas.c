/*
 * Functions of BLAS other than gemm (library_key.h). Work of each, Source: the reference BLAS's
 * operation counts (Dongarra et al., LAPACK Working Note 41, appendix C), highest powers only.
 */
#include "library_parser.h"

#include <string.h>

#include "profrig/base/xalloc.h"

/* Flops of one call by sizes; side: that of the square matrix. */
enum blas_work {
	WORK_VECTOR, /* factor · n */
	WORK_MATRIX, /* factor · m · n */
	WORK_SQUARE, /* factor · n · n */
	WORK_RANK_K, /* factor · n · n · k */
	WORK_SIDE,   /* factor · m · n · side */
	WORK_LU,     /* factor · n³ / 3, or what that is for m rows */
};

/* clang-format off */
static const struct blas_function {
	const char *name;
	enum blas_work work;
	int flops;  /* factor */
	int vectors; /* how many vectors, or of WORK_SIDE and WORK_RANK_K results, pass */
} functions[] = {
	{ "axpy", WORK_VECTOR, 2, 3 }, { "dot", WORK_VECTOR, 2, 2 }, { "dotu", WORK_VECTOR, 2, 2 },
	{ "dotc", WORK_VECTOR, 2, 2 }, { "scal", WORK_VECTOR, 1, 2 }, { "nrm2", WORK_VECTOR, 2, 1 },
	{ "asum", WORK_VECTOR, 1, 1 }, { "copy", WORK_VECTOR, 0, 2 }, { "swap", WORK_VECTOR, 0, 4 },
	{ "rot", WORK_VECTOR, 6, 4 }, { "iamax", WORK_VECTOR, 0, 1 },
	{ "iamin", WORK_VECTOR, 0, 1 },
	{ "gemv", WORK_MATRIX, 2, 0 }, { "ger", WORK_MATRIX, 2, 0 }, { "geru", WORK_MATRIX, 2, 0 },
	{ "gerc", WORK_MATRIX, 2, 0 },
	{ "symv", WORK_SQUARE, 2, 2 }, { "hemv", WORK_SQUARE, 2, 2 }, { "trmv", WORK_SQUARE, 1, 2 },
	{ "trsv", WORK_SQUARE, 1, 2 }, { "syr", WORK_SQUARE, 1, 1 }, { "her", WORK_SQUARE, 1, 1 },
	{ "syr2", WORK_SQUARE, 2, 2 }, { "her2", WORK_SQUARE, 2, 2 },
	{ "syrk", WORK_RANK_K, 1, 1 }, { "herk", WORK_RANK_K, 1, 1 },
	{ "syr2k", WORK_RANK_K, 2, 2 },
	{ "her2k", WORK_RANK_K, 2, 2 }, { "syrkx", WORK_RANK_K, 1, 2 },
	{ "herkx", WORK_RANK_K, 1, 2 },
	{ "gemmt", WORK_RANK_K, 1, 2 },
	{ "symm", WORK_SIDE, 2, 3 }, { "hemm", WORK_SIDE, 2, 3 }, { "trmm", WORK_SIDE, 1, 2 },
	{ "trsm", WORK_SIDE, 1, 2 }, { "getrf", WORK_LU, 2, 2 },
};
/* Names whose first letter is that of a type; the work is not counted. */
static const char *const unmeasured[] = {
	"gemm", "gemm3m", "geam", "dgmm", "trtri", "gbmv", "sbmv", "hbmv", "spmv", "hpmv", "spr",
	"hpr", "spr2", "hpr2", "tbmv", "tbsv", "tpmv", "tpsv", "rotg", "rotm", "rotmg",
};
/* clang-format on */

void blas_init(struct blas *b)
{
	*b = (struct blas){ .batch = 1 };
	b->m = b->n = b->k = DIM_NONE;
	b->lda = b->ldb = b->ldc = b->incx = b->incy = DIM_NONE;
	b->stride_a = b->stride_b = b->stride_c = b->stride_x = b->stride_y = DIM_NONE;
}

static void char_flip(char *c, char one, char other)
{
	*c = *c == one ? other : *c == other ? one : *c;
}

static bool begins_with(const char *s, const char *with)
{
	return strncmp(s, with, strlen(with)) == 0;
}

static void size_swap(int64_t *a, int64_t *b)
{
	int64_t v = *a;

	*a = *b;
	*b = v;
}

void blas_row_major(struct blas *b)
{
	bool hermitian = begins_with(b->function, "her");

	char_flip(&b->uplo, 'U', 'L');
	if (b->side) {
		char_flip(&b->side, 'L', 'R');
		size_swap(&b->m, &b->n);
	} else if (b->trans) {
		b->trans = b->trans != 'N' ? 'N' : hermitian ? 'C' : 'T';
		if (b->m != DIM_NONE)
			size_swap(&b->m, &b->n);
	} else if (begins_with(b->function, "ger")) { /* the transpose of x yᵀ is y xᵀ */
		size_swap(&b->m, &b->n);
		size_swap(&b->incx, &b->incy);
	}
}

static const struct blas_function *function_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(functions); i++)
		if (!strcmp(functions[i].name, name))
			return &functions[i];
	return NULL;
}

/* Of a matrix m·n with p the smaller and q the larger side: p²·(3q - p); of a square one 2·n³. */
static amount lu_of(const struct blas *b)
{
	int64_t m = b->m == DIM_NONE ? b->n : b->m;
	int64_t p = m < b->n ? m : b->n, q = m < b->n ? b->n : m;

	return amount_mul(amount_mul(amount_mul(1, p), p), 3 * q - p);
}

bool blas_is_known(const char *function)
{
	return function_find(function) != NULL;
}

static int64_t side_of(const struct blas *b)
{
	return b->side == 'R' || b->side == 'r' ? b->n : b->m;
}

/* Elements that pass between memory and device. */
static amount elements(const struct blas_function *f, const struct blas *b)
{
	switch (f->work) {
	case WORK_VECTOR:
		return amount_mul((amount)f->vectors, b->n);
	case WORK_MATRIX:
		return amount_mul(amount_mul(1, b->m), b->n) + amount_mul(1, b->m) +
		       amount_mul(1, b->n);
	case WORK_SQUARE:
		return amount_mul(amount_mul(1, b->n), b->n) / 2 +
		       amount_mul((amount)f->vectors, b->n);
	case WORK_RANK_K:
		return amount_mul(amount_mul((amount)f->vectors, b->n), b->k) +
		       amount_mul(amount_mul(1, b->n), b->n) / 2;
	case WORK_SIDE:
		return amount_mul(amount_mul(1, side_of(b)), side_of(b)) / 2 +
		       amount_mul(amount_mul((amount)f->vectors, b->m), b->n);
	case WORK_LU:
		return amount_mul(amount_mul((amount)f->vectors, b->m == DIM_NONE ? b->n : b->m),
				  b->n);
	}
	return 0;
}

static amount flops_of(const struct blas_function *f, const struct blas *b)
{
	amount one = amount_mul((amount)f->flops, b->n);

	switch (f->work) {
	case WORK_VECTOR:
		return one;
	case WORK_MATRIX:
		return amount_mul(one, b->m);
	case WORK_SQUARE:
		return amount_mul(one, b->n);
	case WORK_RANK_K:
		return amount_mul(amount_mul(one, b->n), b->k);
	case WORK_SIDE:
		return amount_mul(amount_mul(one, b->m), side_of(b));
	case WORK_LU:
		return lu_of(b) / 3;
	}
	return 0;
}

static bool has_sizes(const struct blas_function *f, const struct blas *b)
{
	return b->n != DIM_NONE &&
	       ((f->work != WORK_MATRIX && f->work != WORK_SIDE) || b->m != DIM_NONE) &&
	       (f->work != WORK_RANK_K || b->k != DIM_NONE) && (f->work != WORK_SIDE || b->side);
}

static bool sizes_are_sane(const struct blas *b, struct library_key *k)
{
	const struct {
		const char *name;
		int64_t v;
	} sizes[] = { { "m", b->m },     { "n", b->n },     { "k", b->k },        { "lda", b->lda },
		      { "ldb", b->ldb }, { "ldc", b->ldc }, { "batch", b->batch } };

	for (size_t i = 0; i < ARRAY_LEN(sizes); i++)
		if (sizes[i].v != DIM_NONE && (sizes[i].v < 0 || sizes[i].v > DIM_MAX)) {
			key_bad(k, "%s=%lld is no size", sizes[i].name, (long long)sizes[i].v);
			return false;
		}
	return true;
}

static char letter_upper(char c)
{
	return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

static void letter_word(struct library_key *k, const char *name, char c)
{
	const char word[2] = { letter_upper(c), 0 };

	if (c)
		key_word(k, name, word);
}

/* The conjugate of a real matrix is the matrix. */
static char trans_of(const struct blas *b)
{
	char trans = letter_upper(b->trans);

	return trans == 'C' && b->type && !b->type->complex ? 'T' : trans;
}

static void blas_words(const struct blas *b, struct library_key *k)
{
	letter_word(k, "side", b->side);
	letter_word(k, "uplo", b->uplo);
	letter_word(k, "trans", trans_of(b));
	letter_word(k, "diag", b->diag);
	key_int(k, "m", b->m);
	key_int(k, "n", b->n);
	key_int(k, "k", b->k);
	if (b->batch != 1)
		key_int(k, "batch", b->batch);
	if (b->pointers)
		key_word(k, "by", "pointers");
	key_word(k, "type", b->type ? b->type->name : "");
	key_int(k, "lda", b->lda);
	key_int(k, "ldb", b->ldb);
	key_int(k, "ldc", b->ldc);
	key_int(k, "incx", b->incx);
	key_int(k, "incy", b->incy);
	if (b->batch != 1) {
		key_int(k, "stride_a", b->stride_a);
		key_int(k, "stride_b", b->stride_b);
		key_int(k, "stride_c", b->stride_c);
		key_int(k, "stride_x", b->stride_x);
		key_int(k, "stride_y", b->stride_y);
	}
	key_word(k, "alpha", b->alpha);
	key_word(k, "beta", b->beta);
}

enum record_is blas_key(const struct blas *b, const char *operation, struct library_key *k)
{
	const struct blas_function *f = b->type ? function_find(b->function) : NULL;
	amount flops, bits;

	if ((!b->type && !b->untyped) || !b->function[0] || (f && !has_sizes(f, b)))
		return RECORD_TORN;
	if (!sizes_are_sane(b, k))
		return RECORD_BAD;
	key_begin(k, b->function, operation);
	blas_words(b, k);
	strbuf_addf(&k->common, "%s %s %lld %lld %lld %lld", b->function,
		    b->type ? b->type->name : "", (long long)b->m, (long long)b->n, (long long)b->k,
		    (long long)b->batch);
	if (!f)
		return RECORD_CALL;
	k->inexact = f->work == WORK_VECTOR ? b->incx == DIM_NONE : b->lda == DIM_NONE;
	flops = amount_mul(amount_mul(flops_of(f, b), b->batch), b->type->complex ? 4 : 1);
	bits = amount_mul(amount_mul(elements(f, b), b->batch), b->type->bits);
	return key_work(k, flops, bits / 8) ? RECORD_CALL : RECORD_BAD;
}

/* Cuts `tail` off a name. */
static bool tail_cut(char *name, const char *tail)
{
	size_t n = strlen(name), m = strlen(tail);

	if (n <= m || strcmp(name + n - m, tail) != 0)
		return false;
	name[n - m] = 0;
	return true;
}

static bool is_function(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(unmeasured); i++)
		if (!strcmp(unmeasured[i], name))
			return true;
	return function_find(name) != NULL;
}

/* "isamax" → iamax, "scnrm2" → nrm2 of c, "csscal" → scal: the letter is not the first alone. */
static bool name_of_two_letters(struct blas_name *b)
{
	static const struct {
		const char *name, *function;
		char letter;
	} names[] = {
		{ "scnrm2", "nrm2", 'c' }, { "dznrm2", "nrm2", 'z' }, { "scasum", "asum", 'c' },
		{ "dzasum", "asum", 'z' }, { "csscal", "scal", 'c' }, { "zdscal", "scal", 'z' },
		{ "csrot", "rot", 'c' },   { "zdrot", "rot", 'z' },
	};
	const char *s = b->function;

	if (s[0] == 'i' && s[1] && strchr("sdcz", s[1]) &&
	    (!strcmp(s + 2, "amax") || !strcmp(s + 2, "amin"))) {
		b->letter = s[1];
		memmove(b->function + 1, s + 2, strlen(s + 2) + 1);
		return true;
	}
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (!strcmp(names[i].name, s)) {
			b->letter = names[i].letter;
			memcpy(b->function, names[i].function, strlen(names[i].function) + 1);
			return true;
		}
	return false;
}

/* Cuts the letter of the type off a function's name; "bf" of bfloat16 are two. */
static void letter_cut(struct blas_name *b)
{
	size_t n = b->function[0] == 'b' && b->function[1] == 'f' ? 2 : 1;

	if (is_function(b->function) || name_of_two_letters(b))
		return;
	if (!b->function[0] || !is_function(b->function + n))
		return;
	if (n == 2)
		b->type = element_type("bf16", 4);
	else if (strchr("sdczh", b->function[0]))
		b->letter = b->function[0];
	if (b->letter || b->type)
		memmove(b->function, b->function + n, strlen(b->function + n) + 1);
}

struct blas_name blas_name(const char *s, size_t n)
{
	struct blas_name b = { 0 };
	bool cut;

	if (n >= sizeof(b.function))
		n = sizeof(b.function) - 1;
	memcpy(b.function, s, n);
	do {
		cut = tail_cut(b.function, "_64");
		b.wide |= cut;
		if (tail_cut(b.function, "_ex") || tail_cut(b.function, "_ex3"))
			cut = b.ex = true;
		if (tail_cut(b.function, "_strided_batched") ||
		    tail_cut(b.function, "_batch_strided"))
			cut = b.batched = b.strided = true;
		if (tail_cut(b.function, "_batched"))
			cut = b.batched = true;
	} while (cut);
	letter_cut(&b);
	if (b.letter)
		b.type = element_type(&b.letter, 1);
	b.known = is_function(b.function);
	return b;
}
