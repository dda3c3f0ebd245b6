#include "profrig/bench/bench_op.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/xalloc.h"
#include "profrig/bench/bench_key.h"

typedef unsigned __int128 wide;

#define SIZE_MAX_OF_KEY (INT64_C(1) << 40)
#define SCALAR_OTHER 0.5

static const struct {
	const char *name;
	char letter;
	size_t size;
} types[BENCH_TYPE_COUNT] = {
	[BENCH_F32] = { "f32", 's', 4 },   [BENCH_F64] = { "f64", 'd', 8 },
	[BENCH_F16] = { "f16", 'h', 2 },   [BENCH_BF16] = { "bf16", 'b', 2 },
	[BENCH_F32C] = { "f32c", 'c', 8 }, [BENCH_F64C] = { "f64c", 'z', 16 },
};

#define KIND_NAME(name) #name,
static const char *const kinds[] = { BENCH_KINDS(KIND_NAME) };

const char *bench_kind_name(enum bench_kind kind)
{
	return kinds[kind];
}

const char *bench_type_name(enum bench_type type)
{
	return types[type].name;
}

char bench_type_letter(enum bench_type type)
{
	return types[type].letter;
}

size_t bench_type_size(enum bench_type type)
{
	return types[type].size;
}

/* ---- words of the key ---- */

/*
 * Words that change nothing in what is computed: which kernel the library chose, and how it was
 * called.
 */
static void harmless_words(struct bench_key *k)
{
	static const char *const names[] = { "algo", "solution_index", "api",
					     "by",   "flags",          "atomics_not_allowed" };

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		bench_key_word(k, names[i]);
}

static int type_of(const char *word, enum bench_type *ret, struct err *err)
{
	for (int i = 0; i < BENCH_TYPE_COUNT; i++)
		if (word && !strcmp(types[i].name, word)) {
			*ret = (enum bench_type)i;
			return 0;
		}
	if (!word)
		return err_set(err, EINVAL, "the key has no type");
	return err_set(err, ENOTSUP, "no BLAS computes %.20s", word);
}

/* One of the letters; 0 in `otherwise`: the word must be there. */
static int letter_of(struct bench_key *k, const char *name, const char *letters, char otherwise,
		     char *ret, struct err *err)
{
	const char *v = bench_key_word(k, name);

	*ret = otherwise;
	if (!v && otherwise)
		return 0;
	if (!v || v[1] || !strchr(letters, v[0]))
		return err_set(err, EINVAL, "%s=%.20s in the key is none of %s", name, v ? v : "",
			       letters);
	*ret = v[0];
	return 0;
}

static int size_of(struct bench_key *k, const char *name, int64_t *ret, struct err *err)
{
	int r = bench_key_int(k, name, -1, ret, err);

	if (r < 0)
		return r;
	if (*ret < 0 || *ret > SIZE_MAX_OF_KEY)
		return err_set(err, EINVAL, "the key has no size %s, or one of no use", name);
	return 0;
}

static int scalar_of(struct bench_key *k, const char *name, double otherwise,
		     struct bench_scalar *ret, struct err *err)
{
	const char *v = bench_key_word(k, name);
	int r = 0;

	if (v && !strcmp(v, "other"))
		*ret = (struct bench_scalar){ .d = { SCALAR_OTHER, 0 } };
	else
		r = bench_key_number(k, name, otherwise, ret->d, err);
	ret->f[0] = (float)ret->d[0];
	ret->f[1] = (float)ret->d[1];
	return r;
}

static bool is_zero(const struct bench_scalar *s)
{
	return s->d[0] == 0 && s->d[1] == 0;
}

static bool is_trans(char t)
{
	return t != 'N';
}

/* ---- operands ---- */

/* one: elements of one of a batch; stride: the word of the distance to the next. */
static int batch_of_operand(struct bench_key *k, const struct bench_op *op, int at, wide one,
			    const char *stride, struct bench_operand *o, struct err *err)
{
	wide most = BENCH_BYTES_MAX / types[op->type].size, all;
	int r;

	if (one > most)
		return err_set(err, ERANGE,
			       "an operand of %" PRId64 " × %" PRId64 " is larger than any memory",
			       o->rows, o->cols);
	r = bench_key_int(k, stride, (int64_t)one, &o->stride, err);
	if (r < 0)
		return r;
	if (o->stride < 0 || (at == OPERAND_C && op->batch > 1 && (wide)o->stride < one))
		return err_set(err, EINVAL, "%s=%" PRId64 " lets results overlap", stride,
			       o->stride);
	all = one + (wide)o->stride * (wide)(op->batch - 1);
	if (all > most)
		return err_set(err, ERANGE, "a batch of %" PRId64 " is larger than any memory",
			       op->batch);
	o->elements = (uint64_t)all;
	return 0;
}

/* ld: the word of its leading dimension; stride: of its stride, which a batch has. */
static int matrix_of(struct bench_key *k, struct bench_op *op, int at, int64_t rows, int64_t cols,
		     const char *ld, const char *stride, struct err *err)
{
	struct bench_operand *o = &op->of[at];
	wide one;
	int r;

	*o = (struct bench_operand){ .rows = rows, .cols = cols };
	r = bench_key_int(k, ld, rows > 0 ? rows : 1, &o->ld, err);
	if (r < 0)
		return r;
	if (o->ld < rows || o->ld > SIZE_MAX_OF_KEY)
		return err_set(err, EINVAL, "%s=%" PRId64 " holds no %" PRId64 " rows", ld, o->ld,
			       rows);
	one = (wide)o->ld * (wide)cols;
	return batch_of_operand(k, op, at, one, stride, o, err);
}

static int vector_of(struct bench_key *k, struct bench_op *op, int at, int64_t n, const char *inc,
		     const char *stride, struct err *err)
{
	struct bench_operand *o = &op->of[at];
	wide one;
	int r;

	*o = (struct bench_operand){ .rows = n, .cols = 1 };
	r = bench_key_int(k, inc, 1, &o->ld, err);
	if (r < 0)
		return r;
	if (o->ld == 0)
		return err_set(err, ENOTSUP, "%s=0: one element stands for all", inc);
	if (o->ld < -SIZE_MAX_OF_KEY || o->ld > SIZE_MAX_OF_KEY)
		return err_set(err, EINVAL, "%s=%" PRId64 " is no increment", inc, o->ld);
	one = n ? 1 + (wide)(n - 1) * (wide)llabs(o->ld) : 0;
	return batch_of_operand(k, op, at, one, stride, o, err);
}

/* ---- operations ---- */

#define TRY(...) \
	do { \
		int try_ = (__VA_ARGS__); \
		if (try_ < 0) \
			return try_; \
	} while (0)

static int batch_of(struct bench_key *k, struct bench_op *op, struct err *err)
{
	TRY(bench_key_int(k, "batch", 1, &op->batch, err));
	if (op->batch < 1 || op->batch > SIZE_MAX_OF_KEY)
		return err_set(err, EINVAL, "batch=%" PRId64 " is no number of products",
			       op->batch);
	return 0;
}

/* What a product is computed in: its type, that of its parts, f32 for halves; TF32 where named. */
static int compute_type(struct bench_key *k, struct bench_op *op, struct err *err)
{
	const char *v = bench_key_word(k, "compute"), *name = types[op->type].name;
	/* some libraries say f32 for what a product of f32c is computed in */
	bool real = v && bench_type_complex(op->type) && !strncmp(v, name, 3) && !v[3];

	op->tf32 = v && op->type == BENCH_F32 && !strcmp(v, "tf32");
	if (!v || real || op->tf32 ||
	    !strcmp(v, bench_type_half(op->type) ? types[BENCH_F32].name : name))
		return 0;
	return err_set(err, ENOTSUP, "no BLAS has compute=%.20s with a=%s", v, name);
}

/* All matrices of a product are of one type. */
static int gemm_types(struct bench_key *k, struct bench_op *op, struct err *err)
{
	static const char *const others[] = { "b", "c", "d" };

	TRY(type_of(bench_key_word(k, "a"), &op->type, err));
	for (size_t i = 0; i < ARRAY_LEN(others); i++) {
		const char *v = bench_key_word(k, others[i]);

		if (v && strcmp(v, types[op->type].name) != 0)
			return err_set(err, ENOTSUP, "no BLAS has %s=%.20s with a=%s", others[i], v,
				       types[op->type].name);
	}
	return compute_type(k, op, err);
}

static int gemm_of(struct bench_key *k, struct bench_op *op, struct err *err)
{
	const char *ldc = "ldc", *stride_c = "stride_c", *v;
	int64_t c = 0, d = 0;

	TRY(gemm_types(k, op, err));
	TRY(letter_of(k, "ta", "NTC", 0, &op->ta, err));
	TRY(letter_of(k, "tb", "NTC", 0, &op->tb, err));
	TRY(size_of(k, "m", &op->m, err));
	TRY(size_of(k, "n", &op->n, err));
	TRY(size_of(k, "k", &op->k, err));
	v = bench_key_word(k, "epilogue");
	if (v && strcmp(v, "none") != 0 && strcmp(v, "DEFAULT") != 0)
		return err_set(err, ENOTSUP, "no BLAS has epilogue=%.40s", v);
	/* A BLAS has no D: with beta 0 C is only written, and stands for it. */
	TRY(bench_key_int(k, "ldc", -1, &c, err));
	TRY(bench_key_int(k, "ldd", c, &d, err));
	bench_key_word(k, "stride_c");
	if (bench_key_word(k, "stride_d"))
		stride_c = "stride_d";
	if (d >= 0) {
		if (c >= 0 && c != d && !is_zero(&op->beta))
			return err_set(err, ENOTSUP, "no BLAS reads C and writes D");
		ldc = bench_key_word(k, "ldd") ? "ldd" : ldc;
	}
	TRY(matrix_of(k, op, OPERAND_A, is_trans(op->ta) ? op->k : op->m,
		      is_trans(op->ta) ? op->m : op->k, "lda", "stride_a", err));
	TRY(matrix_of(k, op, OPERAND_B, is_trans(op->tb) ? op->n : op->k,
		      is_trans(op->tb) ? op->k : op->n, "ldb", "stride_b", err));
	return matrix_of(k, op, OPERAND_C, op->m, op->n, ldc, stride_c, err);
}

static int gemv_of(struct bench_key *k, struct bench_op *op, struct err *err)
{
	TRY(letter_of(k, "trans", "NTC", 'N', &op->ta, err));
	TRY(size_of(k, "m", &op->m, err));
	TRY(size_of(k, "n", &op->n, err));
	TRY(matrix_of(k, op, OPERAND_A, op->m, op->n, "lda", "stride_a", err));
	TRY(vector_of(k, op, OPERAND_B, is_trans(op->ta) ? op->m : op->n, "incx", "stride_x", err));
	return vector_of(k, op, OPERAND_C, is_trans(op->ta) ? op->n : op->m, "incy", "stride_y",
			 err);
}

static int ger_of(struct bench_key *k, struct bench_op *op, struct err *err)
{
	TRY(size_of(k, "m", &op->m, err));
	TRY(size_of(k, "n", &op->n, err));
	TRY(vector_of(k, op, OPERAND_A, op->m, "incx", "stride_x", err));
	TRY(vector_of(k, op, OPERAND_B, op->n, "incy", "stride_y", err));
	return matrix_of(k, op, OPERAND_C, op->m, op->n, "lda", "stride_a", err);
}

static int syrk_of(struct bench_key *k, struct bench_op *op, struct err *err)
{
	TRY(letter_of(k, "uplo", "UL", 0, &op->uplo, err));
	TRY(letter_of(k, "trans", "NTC", 0, &op->ta, err));
	if (op->ta == 'C' && bench_type_complex(op->type))
		return err_set(err, EINVAL, "a complex syrk has no trans=C");
	TRY(size_of(k, "n", &op->n, err));
	TRY(size_of(k, "k", &op->k, err));
	TRY(matrix_of(k, op, OPERAND_A, is_trans(op->ta) ? op->k : op->n,
		      is_trans(op->ta) ? op->n : op->k, "lda", "stride_a", err));
	return matrix_of(k, op, OPERAND_C, op->n, op->n, "ldc", "stride_c", err);
}

static int trsm_of(struct bench_key *k, struct bench_op *op, struct err *err)
{
	TRY(letter_of(k, "side", "LR", 0, &op->side, err));
	TRY(letter_of(k, "uplo", "UL", 0, &op->uplo, err));
	TRY(letter_of(k, "trans", "NTC", 0, &op->ta, err));
	TRY(letter_of(k, "diag", "NU", 0, &op->diag, err));
	TRY(size_of(k, "m", &op->m, err));
	TRY(size_of(k, "n", &op->n, err));
	op->k = op->side == 'L' ? op->m : op->n;
	TRY(matrix_of(k, op, OPERAND_A, op->k, op->k, "lda", "stride_a", err));
	return matrix_of(k, op, OPERAND_C, op->m, op->n, "ldb", "stride_b", err);
}

static int axpy_of(struct bench_key *k, struct bench_op *op, struct err *err)
{
	TRY(size_of(k, "n", &op->n, err));
	TRY(vector_of(k, op, OPERAND_A, op->n, "incx", "stride_x", err));
	return vector_of(k, op, OPERAND_C, op->n, "incy", "stride_y", err);
}

static int dot_of(struct bench_key *k, struct bench_op *op, struct err *err)
{
	TRY(size_of(k, "n", &op->n, err));
	TRY(vector_of(k, op, OPERAND_A, op->n, "incx", "stride_x", err));
	TRY(vector_of(k, op, OPERAND_B, op->n, "incy", "stride_y", err));
	op->of[OPERAND_C] = (struct bench_operand){
		.rows = 1, .cols = 1, .ld = 1, .stride = 1, .elements = (uint64_t)op->batch
	};
	return 0;
}

/* ---- work ---- */

static wide elements_passed(const struct bench_op *op)
{
	wide m = (wide)op->m, n = (wide)op->n, k = (wide)op->k, batch = (wide)op->batch;
	wide a, b;

	switch (op->kind) {
	case BENCH_gemm:
		a = m * k * (op->of[OPERAND_A].stride ? batch : 1);
		b = k * n * (op->of[OPERAND_B].stride ? batch : 1);
		return a + b + m * n * batch * (is_zero(&op->beta) ? 1 : 2);
	case BENCH_gemv:
	case BENCH_ger:
		return (m * n + m + n) * batch;
	case BENCH_syrk:
		return (n * k + n * n / 2) * batch;
	case BENCH_trsm:
		return (k * k / 2 + 2 * m * n) * batch;
	case BENCH_axpy:
		return 3 * n * batch;
	case BENCH_dot:
	case BENCH_KIND_COUNT:
		break;
	}
	return 2 * n * batch;
}

static wide flops_needed(const struct bench_op *op)
{
	wide m = (wide)op->m, n = (wide)op->n, k = (wide)op->k;

	switch (op->kind) {
	case BENCH_gemm:
		return 2 * m * n * k;
	case BENCH_gemv:
	case BENCH_ger:
		return 2 * m * n;
	case BENCH_syrk:
		return n * n * k;
	case BENCH_trsm:
		return m * n * k;
	case BENCH_axpy:
	case BENCH_dot:
	case BENCH_KIND_COUNT:
		break;
	}
	return 2 * n;
}

static int work_of(struct bench_op *op, struct err *err)
{
	/* operands are bounded by 2^50 bytes, so products of three sizes of them fit 128 bits */
	wide flops = flops_needed(op), bytes = elements_passed(op) * types[op->type].size;

	if (flops <= INT64_MAX)
		flops *= (wide)op->batch * (bench_type_complex(op->type) ? 4 : 1);
	if (flops > INT64_MAX || bytes > INT64_MAX)
		return err_set(err, ERANGE, "its sizes multiply to more than 2^63");
	op->flops = (uint64_t)flops;
	op->bytes = (uint64_t)bytes;
	return 0;
}

static int kind_of(struct bench_key *k, struct bench_op *op, struct err *err)
{
	const char *name = bench_key_operation(k);
	bool dot = !strcmp(name, "dotu") || !strcmp(name, "dotc");
	bool ger = !strcmp(name, "geru") || !strcmp(name, "gerc");

	op->conj = !strcmp(name, "dotc") || !strcmp(name, "gerc");
	for (int i = 0; i < BENCH_KIND_COUNT; i++)
		if (!strcmp(name, kinds[i]) || (dot && i == BENCH_dot) || (ger && i == BENCH_ger)) {
			op->kind = (enum bench_kind)i;
			return 0;
		}
	return err_set(err, ENOTSUP, "no BLAS has the operation %.40s", name);
}

int bench_op_parse(const char *key, struct bench_op *ret, struct err *err)
{
	static int (*const of[])(struct bench_key *, struct bench_op *, struct err *) = {
#define KIND_OF(name) name##_of,
		BENCH_KINDS(KIND_OF)
	};
	struct bench_op op = { .ta = 'N', .tb = 'N' };
	struct bench_key k;
	const char *left;

	TRY(bench_key_parse(key, &k, err));
	TRY(kind_of(&k, &op, err));
	TRY(batch_of(&k, &op, err));
	TRY(scalar_of(&k, "alpha", 1, &op.alpha, err));
	TRY(scalar_of(&k, "beta", 0, &op.beta, err));
	if (op.kind != BENCH_gemm)
		TRY(type_of(bench_key_word(&k, "type"), &op.type, err));
	if (op.kind != BENCH_gemm && bench_type_half(op.type))
		return err_set(err, ENOTSUP, "no BLAS has %s in %s", kinds[op.kind],
			       types[op.type].name);
	TRY(of[op.kind](&k, &op, err));
	harmless_words(&k);
	left = bench_key_unused(&k);
	if (left)
		return err_set(err, ENOTSUP, "no BLAS has a word for %.40s", left);
	if (!bench_type_complex(op.type)) {
		op.alpha.d[1] = op.beta.d[1] = 0;
		op.alpha.f[1] = op.beta.f[1] = 0;
		op.conj = false;
	}
	TRY(work_of(&op, err));
	*ret = op;
	return 0;
}

/* ---- memory ---- */

uint64_t bench_op_bytes(const struct bench_op *op, int operand)
{
	return op->of[operand].elements * types[op->type].size;
}

uint64_t bench_op_all_bytes(const struct bench_op *op)
{
	uint64_t sum = 0;

	for (int i = 0; i < OPERANDS; i++)
		sum += bench_op_bytes(op, i);
	return sum;
}

bool bench_op_fits_int32(const struct bench_op *op)
{
	int64_t most = op->m > op->n ? op->m : op->n;

	most = op->k > most ? op->k : most;
	for (int i = 0; i < OPERANDS; i++)
		most = llabs(op->of[i].ld) > most ? llabs(op->of[i].ld) : most;
	return most <= INT32_MAX;
}
