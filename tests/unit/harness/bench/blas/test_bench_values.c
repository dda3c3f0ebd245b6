/* A plain BLAS in C against the reference of bench_op.h, and results that are wrong. */
#include "../../../test.h"
#include "bench_half.h"

#include <complex.h>
#include <math.h>

#include "profrig/bench/bench_op.h"

static double complex get(const struct bench_op *op, const void *p, int64_t at)
{
	switch (op->type) {
	case BENCH_F32:
		return ((const float *)p)[at];
	case BENCH_F64:
		return ((const double *)p)[at];
	case BENCH_F16:
		return bench_f16_value(((const uint16_t *)p)[at]);
	case BENCH_BF16:
		return bench_bf16_value(((const uint16_t *)p)[at]);
	case BENCH_F32C:
		return ((const float complex *)p)[at];
	default:
		return ((const double complex *)p)[at];
	}
}

static void put(const struct bench_op *op, void *p, int64_t at, double complex v)
{
	switch (op->type) {
	case BENCH_F32:
		((float *)p)[at] = (float)creal(v);
		break;
	case BENCH_F64:
		((double *)p)[at] = creal(v);
		break;
	case BENCH_F16:
		((uint16_t *)p)[at] = bench_f16_of(creal(v));
		break;
	case BENCH_BF16:
		((uint16_t *)p)[at] = bench_bf16_of(creal(v));
		break;
	case BENCH_F32C:
		((float complex *)p)[at] = (float complex)v;
		break;
	default:
		((double complex *)p)[at] = v;
		break;
	}
}

static double complex scalar(const struct bench_scalar *s)
{
	return CMPLX(s->d[0], s->d[1]);
}

static double complex mat(const struct bench_op *op, const void *p, int operand, char t, int64_t i,
			  int64_t j)
{
	int64_t ld = op->of[operand].ld;
	double complex v = t == 'N' ? get(op, p, i + j * ld) : get(op, p, j + i * ld);

	/* to the 10 bits that TF32 keeps */
	if (op->tf32)
		v = bench_f16_value(bench_f16_of(creal(v)));
	return t == 'C' ? conj(v) : v;
}

static int64_t vec(const struct bench_op *op, int operand, int64_t i)
{
	const struct bench_operand *o = &op->of[operand];

	return o->ld > 0 ? i * o->ld : (i + 1 - o->rows) * o->ld;
}

static void gemm(const struct bench_op *op, const void *a, const void *b, void *c)
{
	bool syrk = op->kind == BENCH_syrk;
	int64_t m = syrk ? op->n : op->m;

	for (int64_t j = 0; j < op->n; j++)
		for (int64_t i = 0; i < m; i++) {
			double complex sum = 0, old = get(op, c, i + j * op->of[OPERAND_C].ld);

			if (syrk && (op->uplo == 'U' ? i > j : i < j))
				continue;
			for (int64_t l = 0; l < op->k; l++)
				sum += mat(op, a, OPERAND_A, op->ta, i, l) *
				       (syrk ? mat(op, a, OPERAND_A, op->ta == 'N' ? 'T' : 'N', l,
						   j)
					     : mat(op, b, OPERAND_B, op->tb, l, j));
			put(op, c, i + j * op->of[OPERAND_C].ld,
			    scalar(&op->alpha) * sum + scalar(&op->beta) * old);
		}
}

static void gemv(const struct bench_op *op, const void *a, const void *b, void *c)
{
	for (int64_t i = 0; i < op->of[OPERAND_C].rows; i++) {
		int64_t at = vec(op, OPERAND_C, i);
		double complex sum = 0;

		for (int64_t l = 0; l < op->of[OPERAND_B].rows; l++)
			sum += mat(op, a, OPERAND_A, op->ta, i, l) *
			       get(op, b, vec(op, OPERAND_B, l));
		put(op, c, at, scalar(&op->alpha) * sum + scalar(&op->beta) * get(op, c, at));
	}
}

/* A + alpha·x·yᵀ */
static void ger(const struct bench_op *op, const void *a, const void *b, void *c)
{
	for (int64_t j = 0; j < op->n; j++)
		for (int64_t i = 0; i < op->m; i++) {
			int64_t at = i + j * op->of[OPERAND_C].ld;
			double complex y = get(op, b, vec(op, OPERAND_B, j));

			put(op, c, at,
			    get(op, c, at) + scalar(&op->alpha) *
						     get(op, a, vec(op, OPERAND_A, i)) *
						     (op->conj ? conj(y) : y));
		}
}

/* Column by column of op(A)·X = alpha·B, or row by row of X·op(A). */
static void trsm(const struct bench_op *op, const void *a, void *c)
{
	bool left = op->side == 'L', upper = (op->uplo == 'U') == (op->ta == 'N');
	bool backward = left == upper;
	int64_t n = left ? op->n : op->m, ld = op->of[OPERAND_C].ld;

	for (int64_t r = 0; r < n; r++)
		for (int64_t step = 0; step < op->k; step++) {
			int64_t i = backward ? op->k - 1 - step : step;
			double complex x =
				scalar(&op->alpha) * get(op, c, left ? i + r * ld : r + i * ld);

			for (int64_t l = backward ? i + 1 : 0; l < (backward ? op->k : i); l++)
				x -= (left ? mat(op, a, OPERAND_A, op->ta, i, l)
					   : mat(op, a, OPERAND_A, op->ta, l, i)) *
				     get(op, c, left ? l + r * ld : r + l * ld);
			if (op->diag == 'N')
				x /= mat(op, a, OPERAND_A, op->ta, i, i);
			put(op, c, left ? i + r * ld : r + i * ld, x);
		}
}

static void vectors(const struct bench_op *op, const void *a, const void *b, void *c)
{
	double complex sum = 0;

	for (int64_t i = 0; i < op->n; i++) {
		double complex x = get(op, a, vec(op, OPERAND_A, i));

		if (op->kind == BENCH_axpy) {
			int64_t at = vec(op, OPERAND_C, i);

			put(op, c, at, scalar(&op->alpha) * x + get(op, c, at));
		} else {
			sum += (op->conj ? conj(x) : x) * get(op, b, vec(op, OPERAND_B, i));
		}
	}
	if (op->kind == BENCH_dot)
		put(op, c, 0, sum);
}

static void compute(const struct bench_op *op, char *a, char *b, char *c)
{
	size_t size = bench_type_size(op->type);

	for (int64_t i = 0; i < op->batch; i++) {
		if (op->kind == BENCH_gemm || op->kind == BENCH_syrk)
			gemm(op, a, b, c);
		else if (op->kind == BENCH_gemv)
			gemv(op, a, b, c);
		else if (op->kind == BENCH_ger)
			ger(op, a, b, c);
		else if (op->kind == BENCH_trsm)
			trsm(op, a, c);
		else
			vectors(op, a, b, c);
		a += (size_t)op->of[OPERAND_A].stride * size;
		b += (size_t)op->of[OPERAND_B].stride * size;
		c += (size_t)op->of[OPERAND_C].stride * size;
	}
}

static const char *const keys[] = {
	"gemm ta=N tb=N m=7 n=5 k=9 a=f32 alpha=0.5 beta=2",
	"gemm ta=T tb=C m=7 n=5 k=9 a=f32c alpha=0.5+1i beta=0+-1i lda=11 ldb=7 ldc=8",
	"gemm ta=C tb=T m=70 n=1 k=300 a=f64c batch=3 stride_a=0",
	"gemm ta=T tb=N m=2 n=3 k=4000 a=f32 batch=2 stride_b=20000",
	"gemv trans=N m=31 n=17 type=f32 incx=-2 incy=3 beta=1",
	"gemv trans=C m=31 n=17 type=f64c incx=2 incy=-1 alpha=-1+1i beta=0.5",
	"ger m=31 n=17 type=f32 lda=33 incx=-2 incy=3 alpha=-1",
	"geru m=5 n=3 type=f64c alpha=0.5+1i batch=2",
	"gerc m=17 n=31 type=f32c incx=2 incy=-1 alpha=other",
	"syrk uplo=U trans=N n=40 k=13 type=f64 beta=1",
	"syrk uplo=L trans=T n=40 k=13 type=f32c ldc=50",
	"trsm side=L uplo=U trans=N diag=N m=13 n=9 type=f32 alpha=0.25",
	"trsm side=L uplo=L trans=C diag=U m=13 n=9 type=f64c alpha=2+1i ldb=20",
	"trsm side=R uplo=U trans=T diag=N m=8 n=30 type=f64 batch=2",
	"trsm side=R uplo=L trans=N diag=N m=8 n=30 type=f32c lda=33",
	"axpy n=100 type=f32 alpha=3 incy=-2",
	"axpy n=3 type=f64c alpha=1+-1i",
	"gemv trans=T m=31 n=17 type=f32 alpha=other beta=other",
	"dot n=5000 type=f32 incx=3",
	"dotu n=50 type=f64c",
	"dotc n=50 type=f32c batch=4",
	"gemm ta=N tb=T m=7 n=5 k=9 a=f16 compute=f32 alpha=0.5 beta=2",
	"gemm ta=T tb=N m=17 n=5 k=3000 a=f16",
	"gemm ta=N tb=N m=7 n=5 k=9 a=bf16 b=bf16 c=bf16 d=bf16 compute=f32 batch=2 beta=-1",
	"gemm ta=C tb=C m=7 n=15 k=3000 a=bf16 alpha=3",
	"gemm ta=T tb=N m=7 n=15 k=3000 a=f32 compute=tf32",
};

struct operands {
	char *p[OPERANDS];
};

static struct operands operands_of(const struct bench_op *op)
{
	struct operands o;

	for (int i = 0; i < OPERANDS; i++) {
		o.p[i] = xmalloc(bench_op_bytes(op, i) + 64);
		bench_op_fill(op, i, o.p[i]);
	}
	return o;
}

static void operands_free(struct operands *o)
{
	for (int i = 0; i < OPERANDS; i++)
		free(o->p[i]);
}

TEST(right_results)
{
	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		struct bench_op op;
		struct operands o;
		struct err err = ERR_INIT;
		double worst = -1;

		if (bench_op_parse(keys[i], &op, &err) < 0)
			ROW_FAIL(i, "%s", err.msg);
		o = operands_of(&op);
		compute(&op, o.p[OPERAND_A], o.p[OPERAND_B], o.p[OPERAND_C]);
		if (bench_op_check(&op, o.p[OPERAND_C], &worst, &err) < 0)
			ROW_FAIL(i, "%s: %s", keys[i], err.msg);
		assert_true(worst >= 0 && worst < 0.5);
		operands_free(&o);
	}
}

/* 1 % off is less than what bf16 keeps. */
static double off_by(const struct bench_op *op)
{
	return bench_type_half(op->type) ? 1.1 : 1.01;
}

/* 1 % off (10 % of halves), nothing computed, NaN. */
TEST(wrong_results)
{
	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		for (int how = 0; how < 3; how++) {
			struct bench_op op;
			struct operands o;
			struct err err = ERR_INIT;
			double worst;

			assert_int_equal(bench_op_parse(keys[i], &op, &err), 0);
			o = operands_of(&op);
			if (how != 1)
				compute(&op, o.p[OPERAND_A], o.p[OPERAND_B], o.p[OPERAND_C]);
			for (uint64_t e = 0; how != 1 && e < op.of[OPERAND_C].elements; e++)
				put(&op, o.p[OPERAND_C], (int64_t)e,
				    how ? NAN : get(&op, o.p[OPERAND_C], (int64_t)e) * off_by(&op));
			if (bench_op_check(&op, o.p[OPERAND_C], &worst, &err) != -EDOM)
				ROW_FAIL(i, "%s, wrong in way %d, passes", keys[i], how);
			operands_free(&o);
		}
}

TEST(values)
{
	struct bench_op op;
	double sum = 0, squares = 0;
	float *v;

	assert_int_equal(bench_op_parse("axpy n=100000 type=f32", &op, NULL), 0);
	v = xmalloc(bench_op_bytes(&op, OPERAND_A));
	bench_op_fill(&op, OPERAND_A, v);
	for (int i = 0; i < 100000; i++) {
		assert_true(v[i] >= -1 && v[i] <= 1);
		sum += v[i];
		squares += v[i] * v[i];
	}
	free(v);
	assert_true(fabs(sum / 100000) < 0.01);
	assert_true(fabs(squares / 100000 - 1.0 / 3) < 0.01);
}

/* One wrong term of a long sum is too small to be seen in bf16, a sign of many is not. */
TEST(halves_that_are_wrong_in_one_entry)
{
	static const char *const of[] = { "gemm ta=N tb=N m=8 n=8 k=512 a=f16",
					  "gemm ta=N tb=N m=8 n=8 k=512 a=bf16",
					  "gemm ta=N tb=N m=8 n=8 k=512 a=f32 compute=tf32" };

	for (size_t i = 0; i < ARRAY_LEN(of); i++) {
		struct bench_op op;
		struct operands o;
		struct err err = ERR_INIT;
		double worst;

		assert_int_equal(bench_op_parse(of[i], &op, &err), 0);
		o = operands_of(&op);
		compute(&op, o.p[OPERAND_A], o.p[OPERAND_B], o.p[OPERAND_C]);
		assert_int_equal(bench_op_check(&op, o.p[OPERAND_C], &worst, &err), 0);
		put(&op, o.p[OPERAND_C], 63, get(&op, o.p[OPERAND_C], 63) + 2);
		assert_int_equal(bench_op_check(&op, o.p[OPERAND_C], &worst, &err), -EDOM);
		operands_free(&o);
	}
}

/* Values: those of the formats' definitions; ties go to even, and what is past the largest to ∞. */
TEST(numbers_of_16_bits)
{
	static const struct {
		double v;
		uint16_t f16, bf16;
	} known[] = {
		{ 0, 0, 0 },
		{ -0.0, 0x8000, 0x8000 },
		{ 1, 0x3c00, 0x3f80 },
		{ -2, 0xc000, 0xc000 },
		{ 0.1, 0x2e66, 0x3dcd },
		{ 1.0 / 3, 0x3555, 0x3eab },
		{ 3.14159265358979, 0x4248, 0x4049 },
		{ 65504, 0x7bff, 0x4780 },
		{ 65519.999, 0x7bff, 0x4780 },
		{ 65520, 0x7c00, 0x4780 },
		{ 1e39, 0x7c00, 0x7f80 },
		{ -INFINITY, 0xfc00, 0xff80 },
		{ 0x1.fep127, 0x7c00, 0x7f7f },
		{ 0x1.ffp127, 0x7c00, 0x7f80 },
		{ 0x1p-14, 0x0400, 0x3880 },
		{ 0x1p-24, 0x0001, 0x3380 },
		{ 0x1p-25, 0x0000, 0x3300 },
		{ 0x1.0001p-25, 0x0001, 0x3300 },
		{ 0x3p-25, 0x0002, 0x33c0 },
		{ 0x1.ffcp-15, 0x0400, 0x3880 },
		{ 1 + 0x1p-11, 0x3c00, 0x3f80 },
		{ 1 + 0x3p-11, 0x3c02, 0x3f80 },
		{ 1 + 0x1p-8, 0x3c04, 0x3f80 },
		{ 1 + 0x3p-8, 0x3c0c, 0x3f82 },
		{ 0x1p-133, 0, 0x0001 },
		{ 0x1p-134, 0, 0 },
	};

	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (bench_f16_of(known[i].v) != known[i].f16 ||
		    bench_bf16_of(known[i].v) != known[i].bf16)
			ROW_FAIL(i, "%a is %04x, %04x", known[i].v, bench_f16_of(known[i].v),
				 bench_bf16_of(known[i].v));
	for (unsigned bits = 0; bits < 0x10000; bits++) {
		double f16 = bench_f16_value((uint16_t)bits),
		       bf16 = bench_bf16_value((uint16_t)bits);

		assert_true(isnan(f16) ? isnan(bench_f16_value(bench_f16_of(f16)))
				       : bench_f16_of(f16) == bits);
		assert_true(isnan(bf16) ? isnan(bench_bf16_value(bench_bf16_of(bf16)))
					: bench_bf16_of(bf16) == bits);
	}
	assert_true(bench_f16_value(0x3555) == 0x1.554p-2);
	assert_true(bench_bf16_value(0x4049) == 3.140625);
}

TEST(operands_of_16_bits)
{
	struct bench_op op;
	double squares = 0;
	uint16_t *v;

	assert_int_equal(bench_op_parse("gemm ta=N tb=N m=100 n=1 k=100 a=f16", &op, NULL), 0);
	assert_int_equal(bench_op_bytes(&op, OPERAND_A), 20000);
	assert_int_equal(op.bytes, 2 * (10000 + 100 + 100));
	v = xmalloc(bench_op_bytes(&op, OPERAND_A));
	bench_op_fill(&op, OPERAND_A, v);
	for (int i = 0; i < 10000; i++) {
		double x = bench_f16_value(v[i]);

		assert_true(x >= -1 && x <= 1);
		squares += x * x;
	}
	free(v);
	assert_true(fabs(squares / 10000 - 1.0 / 3) < 0.02);
}

/* What a key may say of types. */
TEST(types_of_products)
{
	static const struct {
		const char *types;
		int want;
	} of[] = {
		{ "a=f16 compute=f32", 0 },
		{ "a=f16 compute=f16", -ENOTSUP },
		{ "a=bf16 compute=f32", 0 },
		{ "a=bf16 c=f32", -ENOTSUP },
		{ "a=f32 compute=tf32", 0 },
		{ "a=f64 compute=tf32", -ENOTSUP },
		{ "a=f16 compute=tf32", -ENOTSUP },
		{ "a=f32c compute=f32", 0 },
		{ "a=f8", -ENOTSUP },
		{ "a=f32 b=f16", -ENOTSUP },
	};
	char key[120];
	struct bench_op op;

	for (size_t i = 0; i < ARRAY_LEN(of); i++) {
		snprintf(key, sizeof(key), "gemm ta=N tb=N m=4 n=4 k=4 %s", of[i].types);
		if (bench_op_parse(key, &op, NULL) != of[i].want)
			ROW_FAIL(i, "%s", key);
	}
	assert_int_equal(bench_op_parse("axpy n=4 type=f16", &op, NULL), -ENOTSUP);
}
