/*
 * bench_op: what a BLAS back end is to compute: the key of a call with all that it leaves open
 * filled in, and the reference by which results are judged.
 *
 * Matrices are column-major. What a key does not tell: alpha 1, beta 0, the smallest leading
 * dimension and stride, increments of 1. Operand A is what the mode weights-cold rotates: a
 * framework's layer calls gemm with its weights as A (row-major y = x·Wᵀ is the column-major gemm
 * ta=T with A = W), gemv and trsm with the matrix.
 *
 *	operation	A		B	C (what is written)
 *	gemm		m×k or k×m	k×n…	m×n
 *	gemv		m×n		x	y
 *	ger		x		y	m×n, added to
 *	syrk		n×k or k×n	–	n×n, one triangle
 *	trsm		triangle	–	m×n, in place
 *	axpy, dot	x		– y	y; one scalar
 *
 * Flops and bytes of a call: the table Work in docs/library.md; Source: LAPACK Working Note 41,
 * appendix C, highest powers.
 *
 * Logs that only tell the class of a scalar have `other` in the key for one that is neither 0 nor
 * ±1, the values for which libraries have shorter ways; the call is made with 0.5.
 *
 * Values are uniform in [-1, 1], by SplitMix64 of operand and index, so that the reference needs no
 * copy of them. The triangle of a trsm has ones on its diagonal and uniform/side beside it, all
 * times alpha, so that repeated solutions neither vanish nor become denormal.
 *
 * A result is right when each entry of a sample (BENCH_SAMPLE of them, corners first, the rest at
 * places that are the same every time) differs from the reference, summed in long double, by at
 * most (16 + 2·√k)·ε·Σ|a||b|: rounding errors of sums of k terms grow as √k with such data, and the
 * bound k·ε of the worst case would miss wrong entries of long sums. A trsm is judged by its
 * residual. Source: Higham, Accuracy and Stability of Numerical Algorithms, 3.1 and 4.2.
 *
 * Products of f16 and bf16 are summed in f32, with its ε. What is stored is rounded to the type,
 * and a library that splits a sum may round its parts, which are as large as √Σ|a|²|b|². So
 * δ·(|result| + 4·√Σ|a|²|b|²) is allowed besides, δ = 2⁻¹⁰ and 2⁻⁷, and 2⁻²⁴ for f16, which is its
 * smallest step. The same with δ = 2⁻¹⁰ holds for compute=tf32, where operands are rounded.
 */
#ifndef PROFRIG_BENCH_OP_H
#define PROFRIG_BENCH_OP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profrig/base/err.h"

#define BENCH_SAMPLE 24
#define BENCH_BYTES_MAX (UINT64_C(1) << 50) /* of the operands of a call */

/* clang-format off */
#define BENCH_KINDS(X) X(gemm) X(gemv) X(ger) X(syrk) X(trsm) X(axpy) X(dot)
/* clang-format on */
#define BENCH_KIND(name) BENCH_##name,
enum bench_kind { BENCH_KINDS(BENCH_KIND) BENCH_KIND_COUNT };
enum bench_type {
	BENCH_F32,
	BENCH_F64,
	BENCH_F16, /* IEEE 754's binary16 */
	BENCH_BF16,
	BENCH_F32C, /* complex types last */
	BENCH_F64C,
	BENCH_TYPE_COUNT
};
enum { OPERAND_A, OPERAND_B, OPERAND_C, OPERANDS };

/* A scalar in both precisions, as calls take its address. */
struct bench_scalar {
	double d[2];
	float f[2];
};

struct bench_operand {
	int64_t rows, cols; /* of a vector: elements, 1; 0: the operation has no such operand */
	int64_t ld;         /* of a vector: its increment, which may be negative */
	int64_t stride;     /* elements from one of a batch to the next; 0: one for all */
	uint64_t elements;  /* with the whole batch */
};

struct bench_op {
	enum bench_kind kind;
	enum bench_type type;
	char ta, tb;           /* N T C; of gemv, syrk and trsm: ta */
	char side, uplo, diag; /* L R, U L, N U; 0: none */
	bool conj;             /* of dot: the first vector; of ger: the second */
	bool tf32;             /* of gemm in f32: products of operands rounded to 10 bits */
	int64_t m, n, k, batch;
	struct bench_operand of[OPERANDS];
	struct bench_scalar alpha, beta;
	uint64_t flops, bytes; /* of a call, with its batch */
};

/*
 * -EINVAL: the key is damaged, or no library executes such a call; -ENOTSUP: it is no operation of
 * the BLAS above, or has words that they have no place for; -ERANGE: it is too large. Of f16 and
 * bf16 there is gemm alone.
 */
int bench_op_parse(const char *key, struct bench_op *ret, struct err *err);

const char *bench_kind_name(enum bench_kind kind);
const char *bench_type_name(enum bench_type type); /* as in keys: "f32c" */
char bench_type_letter(enum bench_type type);      /* as in names of functions: 's' */
size_t bench_type_size(enum bench_type type);
static inline bool bench_type_complex(enum bench_type type)
{
	return type >= BENCH_F32C;
}
/* Types that no BLAS of a processor computes in. */
static inline bool bench_type_half(enum bench_type type)
{
	return type == BENCH_F16 || type == BENCH_BF16;
}
uint64_t bench_op_bytes(const struct bench_op *op, int operand); /* in memory */
uint64_t bench_op_all_bytes(const struct bench_op *op);
/* Numbers of rows, columns, sizes and increments fit into 32 bits. */
bool bench_op_fits_int32(const struct bench_op *op);

/* Writes all elements of an operand. */
void bench_op_fill(const struct bench_op *op, int operand, void *to);
/*
 * Compares what one call on filled operands left in C with the reference. 0 with the largest error,
 * as a part of what is allowed; -EDOM: the result is wrong, and err says where.
 */
int bench_op_check(const struct bench_op *op, const void *c, double *ret_error, struct err *err);

#endif
