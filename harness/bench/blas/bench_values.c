/* The values of operands, and the reference by which a result is judged (bench_op.h). */
#include "bench_half.h"

#include <errno.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "profrig/base/mix.h"
#include "profrig/bench/bench_op.h"

#define TERMS_MAX (INT64_C(1) << 25) /* of all entries of the sample */

/* Long double on both parts; complex.h's multiplication looks for NaN and is slow. */
struct number {
	long double re, im;
};

static struct number product(struct number a, struct number b)
{
	return (struct number){ a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re };
}

static struct number sum(struct number a, struct number b)
{
	return (struct number){ a.re + b.re, a.im + b.im };
}

static struct number scalar(const struct bench_op *op, const struct bench_scalar *s)
{
	bool twice = op->type == BENCH_F64 || op->type == BENCH_F64C;

	return (struct number){ twice ? s->d[0] : (double)s->f[0],
				twice ? s->d[1] : (double)s->f[1] };
}

static long double size_of(struct number a)
{
	return fabsl(a.re) + fabsl(a.im);
}

/* ---- values ---- */

/* 53 random bits to [-1, 1). */
static double uniform(uint64_t x)
{
	return (double)(int64_t)(x >> 11) * 0x1p-52 - 1;
}

static struct number rounded(const struct bench_op *op, struct number v)
{
	switch (op->type) {
	case BENCH_F16:
		return (struct number){ bench_f16_value(bench_f16_of((double)v.re)), 0 };
	case BENCH_BF16:
		return (struct number){ bench_bf16_value(bench_bf16_of((double)v.re)), 0 };
	case BENCH_F32:
	case BENCH_F32C:
		return (struct number){ (float)v.re, (float)v.im };
	case BENCH_F64:
	case BENCH_F64C:
	case BENCH_TYPE_COUNT:
		break;
	}
	return (struct number){ (double)v.re, (double)v.im };
}

static struct number triangle(const struct bench_op *op, uint64_t at, struct number v)
{
	const struct bench_operand *a = &op->of[OPERAND_A];
	uint64_t in = a->stride ? at % (uint64_t)a->stride : at;
	struct number alpha = scalar(op, &op->alpha);

	if (in % (uint64_t)a->ld == in / (uint64_t)a->ld)
		v = (struct number){ 1, 0 };
	else
		v = (struct number){ v.re / (double)op->k, v.im / (double)op->k };
	return alpha.re == 0 && alpha.im == 0 ? v : product(alpha, v);
}

/* The element of an operand at a place of its memory. */
static struct number element(const struct bench_op *op, int operand, uint64_t at)
{
	uint64_t seed = mix64(UINT64_C(0xb10c) + (uint64_t)operand);
	struct number v = { uniform(mix64(seed + at * 2 * SPLITMIX64_STEP)), 0 };

	if (bench_type_complex(op->type))
		v.im = uniform(mix64(seed + (at * 2 + 1) * SPLITMIX64_STEP));
	if (op->kind == BENCH_trsm && operand == OPERAND_A)
		v = triangle(op, at, v);
	return rounded(op, v);
}

void bench_op_fill(const struct bench_op *op, int operand, void *to)
{
	uint64_t n = op->of[operand].elements;

	for (uint64_t i = 0; i < n; i++) {
		struct number v = element(op, operand, i);

		switch (op->type) {
		case BENCH_F32:
			((float *)to)[i] = (float)v.re;
			break;
		case BENCH_F64:
			((double *)to)[i] = (double)v.re;
			break;
		case BENCH_F16:
			((uint16_t *)to)[i] = bench_f16_of((double)v.re);
			break;
		case BENCH_BF16:
			((uint16_t *)to)[i] = bench_bf16_of((double)v.re);
			break;
		case BENCH_F32C:
			((float *)to)[2 * i] = (float)v.re;
			((float *)to)[2 * i + 1] = (float)v.im;
			break;
		case BENCH_F64C:
		case BENCH_TYPE_COUNT:
			((double *)to)[2 * i] = (double)v.re;
			((double *)to)[2 * i + 1] = (double)v.im;
			break;
		}
	}
}

/* What is in memory there. */
static struct number stored(const struct bench_op *op, const void *from, uint64_t i)
{
	switch (op->type) {
	case BENCH_F32:
		return (struct number){ ((const float *)from)[i], 0 };
	case BENCH_F64:
		return (struct number){ ((const double *)from)[i], 0 };
	case BENCH_F16:
		return (struct number){ bench_f16_value(((const uint16_t *)from)[i]), 0 };
	case BENCH_BF16:
		return (struct number){ bench_bf16_value(((const uint16_t *)from)[i]), 0 };
	case BENCH_F32C:
		return (struct number){ ((const float *)from)[2 * i],
					((const float *)from)[2 * i + 1] };
	case BENCH_F64C:
	case BENCH_TYPE_COUNT:
		break;
	}
	return (struct number){ ((const double *)from)[2 * i], ((const double *)from)[2 * i + 1] };
}

/* ---- places ---- */

static bool is_vector(const struct bench_op *op, int operand)
{
	switch (op->kind) {
	case BENCH_gemv:
		return operand != OPERAND_A;
	case BENCH_ger:
		return operand != OPERAND_C;
	case BENCH_axpy:
	case BENCH_dot:
		return true;
	case BENCH_gemm:
	case BENCH_syrk:
	case BENCH_trsm:
	case BENCH_KIND_COUNT:
		break;
	}
	return false;
}

/* A matrix by row and column, a vector (cols 1) by row, of one of a batch. */
static uint64_t place(const struct bench_op *op, int operand, int64_t row, int64_t col,
		      int64_t batch)
{
	const struct bench_operand *o = &op->of[operand];
	int64_t at = batch * o->stride;

	if (is_vector(op, operand))
		return (uint64_t)(at + (o->ld > 0 ? row * o->ld : (row - o->rows + 1) * o->ld));
	return (uint64_t)(at + row + col * o->ld);
}

static struct number operand_at(const struct bench_op *op, int operand, char trans, int64_t row,
				int64_t col, int64_t batch)
{
	struct number v = trans == 'N' ? element(op, operand, place(op, operand, row, col, batch))
				       : element(op, operand, place(op, operand, col, row, batch));

	if (trans == 'C' && bench_type_complex(op->type))
		v.im = -v.im;
	return v;
}

/* ---- reference ---- */

/* A sum of products, and what its rounding errors are measured by. */
struct dot {
	struct number sum;
	long double scale, squares;
	int64_t terms;
};

static void dot_add(struct dot *d, struct number a, struct number b)
{
	d->sum = sum(d->sum, product(a, b));
	d->scale += size_of(a) * size_of(b);
	d->squares += size_of(a) * size_of(a) * size_of(b) * size_of(b);
	d->terms++;
}

/* alpha · (sum of products) + beta · c */
static void dot_scale(struct dot *d, struct number alpha, struct number beta, struct number c)
{
	d->sum = product(d->sum, alpha);
	d->scale *= size_of(alpha);
	d->squares *= size_of(alpha) * size_of(alpha);
	if (beta.re != 0 || beta.im != 0)
		dot_add(d, beta, c);
}

static struct dot gemm_entry(const struct bench_op *op, int64_t i, int64_t j, int64_t batch)
{
	bool syrk = op->kind == BENCH_syrk;
	char other = op->ta == 'N' ? 'T' : 'N';
	struct dot d = { 0 };

	for (int64_t l = 0; l < op->k; l++)
		dot_add(&d, operand_at(op, OPERAND_A, op->ta, i, l, batch),
			syrk ? operand_at(op, OPERAND_A, other, l, j, batch)
			     : operand_at(op, OPERAND_B, op->tb, l, j, batch));
	return d;
}

static struct dot gemv_entry(const struct bench_op *op, int64_t i, int64_t batch)
{
	int64_t n = op->of[OPERAND_B].rows;
	struct dot d = { 0 };

	for (int64_t l = 0; l < n; l++)
		dot_add(&d, operand_at(op, OPERAND_A, op->ta, i, l, batch),
			operand_at(op, OPERAND_B, 'N', l, 0, batch));
	return d;
}

static struct dot ger_entry(const struct bench_op *op, int64_t i, int64_t j, int64_t batch)
{
	struct number y = operand_at(op, OPERAND_B, 'N', j, 0, batch);
	struct dot d = { 0 };

	if (op->conj)
		y.im = -y.im;
	dot_add(&d, operand_at(op, OPERAND_A, 'N', i, 0, batch), y);
	return d;
}

static struct dot dot_entry(const struct bench_op *op, int64_t batch)
{
	struct dot d = { 0 };

	for (int64_t l = 0; l < op->n; l++) {
		struct number x = operand_at(op, OPERAND_A, 'N', l, 0, batch);

		if (op->conj)
			x.im = -x.im;
		dot_add(&d, x, operand_at(op, OPERAND_B, 'N', l, 0, batch));
	}
	return d;
}

/* Whether the triangle that is referenced has this element of op(A). */
static bool in_triangle(const struct bench_op *op, int64_t row, int64_t col)
{
	bool upper = (op->uplo == 'U') == (op->ta == 'N');

	return upper ? row <= col : row >= col;
}

static struct number triangle_at(const struct bench_op *op, int64_t row, int64_t col, int64_t batch)
{
	if (!in_triangle(op, row, col))
		return (struct number){ 0, 0 };
	if (row == col && op->diag == 'U')
		return (struct number){ 1, 0 };
	return operand_at(op, OPERAND_A, op->ta, row, col, batch);
}

/* op(A)·X or X·op(A), which should be alpha·B. */
static struct dot trsm_entry(const struct bench_op *op, const void *x, int64_t i, int64_t j,
			     int64_t batch)
{
	struct dot d = { 0 };

	for (int64_t l = 0; l < op->k; l++)
		if (op->side == 'L')
			dot_add(&d, triangle_at(op, i, l, batch),
				stored(op, x, place(op, OPERAND_C, l, j, batch)));
		else
			dot_add(&d, stored(op, x, place(op, OPERAND_C, i, l, batch)),
				triangle_at(op, l, j, batch));
	return d;
}

struct entry {
	int64_t i, j, batch;
	struct number got;
	struct dot want;
};

static void entry_judge(const struct bench_op *op, const void *c, struct entry *e)
{
	uint64_t at = place(op, OPERAND_C, e->i, e->j, e->batch);
	struct number alpha = scalar(op, &op->alpha), beta = scalar(op, &op->beta);
	struct number before = element(op, OPERAND_C, at);
	const struct number one = { 1, 0 };

	e->got = stored(op, c, at);
	switch (op->kind) {
	case BENCH_gemm:
		e->want = gemm_entry(op, e->i, e->j, e->batch);
		break;
	case BENCH_syrk:
		/* the other triangle stays as it is */
		if (op->uplo == 'U' ? e->i > e->j : e->i < e->j) {
			e->want = (struct dot){ .sum = before };
			return;
		}
		e->want = gemm_entry(op, e->i, e->j, e->batch);
		break;
	case BENCH_gemv:
		e->want = gemv_entry(op, e->i, e->batch);
		break;
	case BENCH_ger:
		e->want = ger_entry(op, e->i, e->j, e->batch);
		beta = one;
		break;
	case BENCH_trsm: {
		struct dot product_is = trsm_entry(op, c, e->i, e->j, e->batch);

		e->got = product_is.sum;
		e->want = (struct dot){ .scale = product_is.scale, .terms = op->k };
		dot_add(&e->want, alpha, before);
		return;
	}
	case BENCH_axpy:
		dot_add(&e->want, one, operand_at(op, OPERAND_A, 'N', e->i, 0, e->batch));
		beta = one;
		break;
	case BENCH_dot:
	case BENCH_KIND_COUNT:
		e->want = dot_entry(op, e->batch);
		return;
	}
	dot_scale(&e->want, alpha, beta, before);
}

/* Entries that are looked at: less where each is a long sum. */
static uint64_t sample_size(const struct bench_op *op)
{
	const struct bench_operand *c = &op->of[OPERAND_C];
	unsigned __int128 all = (unsigned __int128)c->rows * (uint64_t)c->cols;
	int64_t terms = op->kind == BENCH_gemv  ? op->of[OPERAND_B].rows
			: op->kind == BENCH_dot ? op->n
						: op->k;
	uint64_t most = BENCH_SAMPLE;

	all *= (uint64_t)op->batch;
	if (terms > TERMS_MAX / BENCH_SAMPLE)
		most = terms > TERMS_MAX / 4 ? 4 : (uint64_t)(TERMS_MAX / terms);
	return all < most ? (uint64_t)all : most;
}

/* The places: all of a few; corners, then places that are the same every time. */
static struct entry entry_of(const struct bench_op *op, uint64_t at, uint64_t nr)
{
	const struct bench_operand *c = &op->of[OPERAND_C];
	uint64_t rows = (uint64_t)c->rows, cols = (uint64_t)c->cols, x = mix64(at);
	struct entry e = { .i = (int64_t)(x % rows),
			   .j = (int64_t)((x >> 20) % cols),
			   .batch = (int64_t)((x >> 7) % (uint64_t)op->batch) };

	if (nr < BENCH_SAMPLE && nr == rows * cols * (uint64_t)op->batch) {
		e.i = (int64_t)(at % rows);
		e.j = (int64_t)(at / rows % cols);
		e.batch = (int64_t)(at / rows / cols);
	} else if (at < 4) {
		e.i = at & 1 ? c->rows - 1 : 0;
		e.j = at & 2 ? c->cols - 1 : 0;
		e.batch = at & 1 ? op->batch - 1 : 0;
	}
	return e;
}

/* How far an entry may be off (bench_op.h). */
static long double allowed(const struct bench_op *op, const struct dot *want)
{
	bool twice = op->type == BENCH_F64 || op->type == BENCH_F64C;
	long double most = (16 + 2 * sqrtl((long double)want->terms)) *
			   (twice ? DBL_EPSILON : FLT_EPSILON) * want->scale;
	long double delta = op->type == BENCH_BF16              ? BENCH_BF16_EPSILON
			    : op->type == BENCH_F16 || op->tf32 ? BENCH_F16_EPSILON
								: 0;

	if (delta > 0)
		most += delta * (size_of(want->sum) + 4 * sqrtl(want->squares));
	return op->type == BENCH_F16 ? most + BENCH_F16_STEP : most;
}

int bench_op_check(const struct bench_op *op, const void *c, double *ret_error, struct err *err)
{
	uint64_t nr = sample_size(op);
	long double worst = 0;

	for (uint64_t at = 0; at < nr; at++) {
		struct entry e = entry_of(op, at, nr);
		long double off, most;

		entry_judge(op, c, &e);
		off = hypotl(e.got.re - e.want.sum.re, e.got.im - e.want.sum.im);
		most = allowed(op, &e.want);
		/* NaN is wrong, too */
		if (!(off <= most))
			return err_set(err, EDOM,
				       "entry (%" PRId64 ", %" PRId64 ") of %s is %.8Lg, not %.8Lg",
				       e.i, e.j, op->kind == BENCH_trsm ? "A·X" : "C", e.got.re,
				       e.want.sum.re);
		if (most > 0 && off / most > worst)
			worst = off / most;
	}
	*ret_error = (double)worst;
	return 0;
}
