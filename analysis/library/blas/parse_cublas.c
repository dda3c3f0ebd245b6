/*
 * cuBLAS, by CUBLAS_LOGINFO_DBG=1: a block of lines for each call (library_block.h).
 *
 *	cublasSgemm_v2, cublasSgemm_v2_64, cublasSgemmStridedBatched, cublasSgemmBatched
 *	cublasGemmEx, cublasSgemmEx, cublasGemmStridedBatchedEx, cublasGemmBatchedEx
 *	cublasIsamax_v2, cublasScnrm2_v2, cublasStrsm_v2, cublasAxpyEx …
 *
 * Arguments have the names of the prototype: transa m lda strideA batchCount Atype computeType.
 * Enumerations are CUBLAS_OP_T(1), CUDA_R_16F(2), CUBLAS_COMPUTE_32F(68); older releases have a
 * data type for the arithmetic. alpha and beta are addresses, so unknown. D is C.
 *
 * Operations are named as rocBLAS's: sgemm, gemm_strided_batched_ex. With the mode
 * CUBLAS_TF32_TENSOR_OP_MATH a product of f32 is computed as tf32; another mode than the default
 * follows the key as math=…. Old releases log no arguments at all: such a call has a row with
 * unknown flops, by its function. Grouped products have their sizes in arrays, so theirs are
 * unknown, too. algo (the kernel) is not of the configuration.
 */
#include "library_block.h"
#include "library_matmul.h"

#include <string.h>

#include "profrig/base/num.h"
#include "profrig/base/xalloc.h"

/* ---- names ---- */

struct cublas_function {
	struct blas_name name;
	char operation[64];
	bool grouped;
};

static bool tail_cut(struct text_slice *t, const char *tail)
{
	size_t n = strlen(tail);

	if (t->n <= n || memcmp(t->p + t->n - n, tail, n) != 0)
		return false;
	t->n -= n;
	return true;
}

static void operation_add(char *to, size_t size, const char *tail)
{
	size_t n = strlen(to), m = strlen(tail);

	if (n + m < size)
		memcpy(to + n, tail, m + 1);
}

static struct cublas_function cublas_function(struct text_slice f)
{
	struct cublas_function c = { .grouped = false };
	bool wide, ex, grouped, strided, batched;
	char lower[48];
	size_t n;

	f.p += strlen("cublas");
	f.n -= strlen("cublas");
	if (slice_begins(f, "Xt"))
		f.p += 2, f.n -= 2;
	wide = tail_cut(&f, "_64");
	tail_cut(&f, "_v2");
	ex = tail_cut(&f, "Ex");
	grouped = tail_cut(&f, "GroupedBatched");
	strided = !grouped && tail_cut(&f, "StridedBatched");
	batched = grouped || strided || tail_cut(&f, "Batched");
	n = f.n < sizeof(lower) ? f.n : sizeof(lower) - 1;
	for (size_t i = 0; i < n; i++)
		lower[i] = f.p[i] >= 'A' && f.p[i] <= 'Z' ? (char)(f.p[i] + 32) : f.p[i];
	lower[n] = 0;
	c.name = blas_name(lower, n);
	memcpy(c.operation, lower, n + 1);
	if (!c.name.known && !ex && n > 1 && strchr("sdczh", lower[0])) {
		c.name.letter = lower[0]; /* a function that BLAS does not have: "Smatinv" */
		memmove(c.name.function, c.name.function + 1, n);
	}
	c.name.ex = ex;
	c.name.batched = batched;
	c.name.strided = strided;
	c.name.wide = wide;
	c.grouped = grouped;
	operation_add(c.operation, sizeof(c.operation),
		      grouped   ? "_grouped_batched"
		      : strided ? "_strided_batched"
		      : batched ? "_batched"
				: "");
	operation_add(c.operation, sizeof(c.operation), ex ? "_ex" : "");
	return c;
}

bool cublas_is_info(struct text_slice f)
{
	static const char *const begins[] = { "cublasCreate",   "cublasDestroy", "cublasSet",
					      "cublasGet",      "cublasLogger",  "cublasInit",
					      "cublasShutdown", "cublasAlloc",   "cublasFree",
					      "cublasXtCreate", "cublasXtSet",   "cublasXtGet",
					      "cublasXtDestroy" };

	for (size_t i = 0; i < ARRAY_LEN(begins); i++)
		if (slice_begins(f, begins[i]))
			return true;
	return false;
}

/* ---- arguments ---- */

struct cublas_call {
	struct gemm g;
	struct blas b;
	const struct element_type *type[4]; /* of a, b, c and x, where an argument tells */
	struct matmul m;                    /* mode, and what has no place elsewhere */
	const char *math;
	size_t args;
	bool wrong;
};

static void call_release(struct cublas_call *c)
{
	matmul_release(&c->m);
}

static bool size_take(struct cublas_call *c, struct text_slice name, struct text_slice v)
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
		{ "incx", NULL, &c->b.incx },
		{ "incy", NULL, &c->b.incy },
		{ "strideA", &c->g.stride_a, &c->b.stride_a },
		{ "strideB", &c->g.stride_b, &c->b.stride_b },
		{ "strideC", &c->g.stride_c, &c->b.stride_c },
		{ "stridex", NULL, &c->b.stride_x },
		{ "stridey", NULL, &c->b.stride_y },
		{ "batchCount", &c->g.batch, &c->b.batch },
		{ "batchSize", &c->g.batch, &c->b.batch },
	};
	int64_t n;

	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		if (!slice_is(name, sizes[i].name))
			continue;
		c->wrong |= num_i64(v.p, v.n, &n) < 0;
		if (!c->wrong && sizes[i].g)
			*sizes[i].g = n;
		if (!c->wrong && sizes[i].b)
			*sizes[i].b = n;
		return true;
	}
	return false;
}

/* "CUBLAS_OP_T(1)" and others: the letter that BLAS has for it; 0: not known. */
static char letter_of(struct text_slice v)
{
	static const struct {
		const char *name;
		char letter;
	} letters[] = {
		{ "CUBLAS_OP_N", 'N' },
		{ "CUBLAS_OP_T", 'T' },
		{ "CUBLAS_OP_C", 'C' },
		{ "CUBLAS_OP_CONJG", 'J' },
		{ "CUBLAS_OP_HERMITAN", 'C' },
		{ "CUBLAS_FILL_MODE_LOWER", 'L' },
		{ "CUBLAS_FILL_MODE_UPPER", 'U' },
		{ "CUBLAS_SIDE_LEFT", 'L' },
		{ "CUBLAS_SIDE_RIGHT", 'R' },
		{ "CUBLAS_DIAG_NON_UNIT", 'N' },
		{ "CUBLAS_DIAG_UNIT", 'U' },
	};

	v = block_word(v);
	for (size_t i = 0; i < ARRAY_LEN(letters); i++)
		if (slice_is(v, letters[i].name))
			return letters[i].letter;
	return 0;
}

static bool letter_take(struct cublas_call *c, struct text_slice name, struct text_slice v)
{
	const struct {
		const char *name;
		char *to;
	} letters[] = { { "transa", &c->g.ta }, { "transb", &c->g.tb }, { "trans", &c->b.trans },
			{ "uplo", &c->b.uplo }, { "side", &c->b.side }, { "mode", &c->b.side },
			{ "diag", &c->b.diag } };

	for (size_t i = 0; i < ARRAY_LEN(letters); i++)
		if (slice_is(name, letters[i].name)) {
			*letters[i].to = letter_of(v);
			c->wrong |= !*letters[i].to;
			return true;
		}
	return false;
}

static bool type_take(struct cublas_call *c, struct text_slice name, struct text_slice v)
{
	static const char *const names[] = { "Atype", "Btype", "Ctype", "xType" };
	const char *mode;

	v = block_word(v);
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (slice_is(name, names[i])) {
			c->type[i] = compute_type(v, &mode);
			c->wrong |= !c->type[i];
			return true;
		}
	if (!slice_is(name, "computeType"))
		return false;
	c->g.compute = compute_type(v, &c->m.mode);
	c->wrong |= !c->g.compute;
	return true;
}

static bool scalar_take(struct cublas_call *c, const struct block_argument *a)
{
	bool alpha = slice_is(a->name, "alpha");
	char text[40];
	double d;

	if (!alpha && !slice_is(a->name, "beta"))
		return false;
	if (num_f64(a->value.p, a->value.n, &d) < 0 || num_fmt_f64(text, d) >= 32)
		return true; /* an address */
	memcpy(alpha ? c->g.alpha : c->g.beta, text, strlen(text) + 1);
	memcpy(alpha ? c->b.alpha : c->b.beta, text, strlen(text) + 1);
	return true;
}

/* An argument of another precision is of another rank's block. */
static bool type_is_of(char letter, struct text_slice type)
{
	return !(letter == 's' && slice_is(type, "double")) &&
	       !(letter == 'd' && slice_is(type, "float"));
}

static void math_take(struct cublas_call *c, struct text_slice v)
{
	if (slice_is(v, "CUBLAS_TF32_TENSOR_OP_MATH"))
		c->math = "tf32";
	else
		matmul_more(&c->m, "", (struct text_slice){ "math", 4 }, v);
}

static void arguments_read(struct cublas_call *c, struct text_slice rest, char letter)
{
	struct block_argument a;

	while (block_next(&rest, &a)) {
		if (slice_is(a.name, "MathMode")) {
			math_take(c, a.value);
			continue;
		}
		c->args++;
		c->wrong |= !type_is_of(letter, a.type);
		if (!size_take(c, a.name, a.value) && !letter_take(c, a.name, a.value) &&
		    !type_take(c, a.name, a.value) && !scalar_take(c, &a) &&
		    !slice_is(a.value, "*"))
			matmul_more(&c->m, "", a.name, block_word(a.value));
	}
}

/* ---- keys ---- */

static enum record_is more_append(struct cublas_call *c, struct library_key *k)
{
	key_word(k, "compute_mode", c->m.mode);
	strbuf_add(&k->text, c->m.more.buf, c->m.more.len);
	return RECORD_CALL;
}

static enum record_is product_key(struct cublas_call *c, const struct cublas_function *f,
				  const struct element_type *of, struct library_key *k)
{
	struct gemm *g = &c->g;
	enum record_is is;

	if (g->lda == DIM_NONE || g->ldb == DIM_NONE || g->ldc == DIM_NONE ||
	    (f->name.strided &&
	     (g->stride_a == DIM_NONE || g->stride_b == DIM_NONE || g->stride_c == DIM_NONE)) ||
	    (f->name.batched && g->batch == DIM_NONE))
		return RECORD_TORN;
	g->a = c->type[0] ? c->type[0] : of;
	g->b = c->type[1] ? c->type[1] : g->a;
	g->c = c->type[2] ? c->type[2] : g->a;
	g->d = g->c;
	if (!g->compute)
		g->compute = of ? of : g->a;
	if (c->math && g->compute && !strcmp(g->compute->name, "f32") && g->a == g->compute)
		g->compute = element_type(c->math, strlen(c->math));
	g->ldd = g->ldc;
	g->stride_d = g->stride_c;
	g->pointers = f->name.batched && !f->name.strided;
	is = gemm_key(g, f->operation, k);
	return is == RECORD_CALL ? more_append(c, k) : is;
}

static enum record_is other_key(struct cublas_call *c, const struct cublas_function *f,
				const struct element_type *of, struct library_key *k)
{
	enum record_is is;

	if (f->name.batched && c->b.batch == DIM_NONE)
		return RECORD_TORN;
	memcpy(c->b.function, f->name.function, sizeof(c->b.function));
	c->b.type = c->type[3] ? c->type[3] : c->type[0] ? c->type[0] : of;
	c->b.pointers = f->name.batched && !f->name.strided;
	if (!c->b.trans)
		c->b.trans = c->g.ta; /* of functions that are not of BLAS */
	is = blas_key(&c->b, f->operation, k);
	return is == RECORD_CALL ? more_append(c, k) : is;
}

/* A call whose sizes the log does not have. */
static enum record_is bare_key(const struct cublas_function *f, const struct element_type *of,
			       struct library_key *k)
{
	key_begin(k, f->name.function, f->operation);
	key_word(k, "sizes", "unknown");
	if (of)
		key_word(k, "a", of->name);
	k->inexact = true;
	return RECORD_CALL;
}

enum record_is cublas_block_key(struct text_slice text, struct library_key *k)
{
	CLEANUP(call_release) struct cublas_call c = { .args = 0 };
	const struct element_type *of;
	struct cublas_function f;
	struct text_slice name;
	enum record_is is;
	bool bare;

	matmul_init(&c.m);
	gemm_init(&c.g);
	blas_init(&c.b);
	name = block_function(&text, &bare);
	if (!slice_begins(name, "cublas"))
		return RECORD_TORN;
	if (cublas_is_info(name))
		return RECORD_INFO;
	f = cublas_function(name);
	if (f.name.batched)
		c.g.batch = c.b.batch = DIM_NONE;
	of = f.name.letter ? element_type(&f.name.letter, 1) : NULL;
	if (bare)
		return bare_key(&f, of, k);
	arguments_read(&c, text, f.name.letter);
	if (c.wrong || c.args == 0)
		return RECORD_TORN;
	if (f.grouped) {
		is = bare_key(&f, of, k);
		return is == RECORD_CALL ? more_append(&c, k) : is;
	}
	if (!strcmp(f.name.function, "gemm3m"))
		matmul_more(&c.m, "", (struct text_slice){ "algorithm", 9 },
			    (struct text_slice){ "3m", 2 });
	return !strcmp(f.name.function, "gemm") || !strcmp(f.name.function, "gemm3m")
		       ? product_key(&c, &f, of, k)
		       : other_key(&c, &f, of, k);
}
