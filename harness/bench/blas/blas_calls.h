/*
 * The calls of a BLAS with integers of type BLAS_INT, as the table BLAS_CALLS: taken in by
 * blas_calls_32.c and blas_calls_64.c. The types of functions are those of the reference BLAS and
 * CBLAS (netlib.org/blas); Fortran's functions get the lengths of their texts behind all else, as
 * gfortran passes them, and others ignore that.
 */
#ifndef BLAS_CALLS_H
#define BLAS_CALLS_H

#include "bench_lib.h"

#ifndef BLAS_INT
#define BLAS_INT int32_t
#define BLAS_CALLS bench_calls_none
extern const struct bench_blas_calls bench_calls_none;
#endif

enum { COL_MAJOR = 102 };

static int trans_code(char t)
{
	return t == 'N' ? 111 : t == 'T' ? 112 : 113;
}

static int uplo_code(char u)
{
	return u == 'U' ? 121 : 122;
}

static int diag_code(char d)
{
	return d == 'N' ? 131 : 132;
}

static int side_code(char s)
{
	return s == 'L' ? 141 : 142;
}

#define INT(v) ((BLAS_INT)(v))
#define LD(operand) INT(op->of[operand].ld)
#define STRIDE(operand) INT(op->of[operand].stride)
#define LD_A LD(OPERAND_A)
#define LD_B LD(OPERAND_B)
#define LD_C LD(OPERAND_C)

/* X(letter, type of a scalar, how a struct bench_scalar gives it) */
#define TYPES(X) \
	X(s, float, .f[0]) \
	X(d, double, .d[0]) \
	X(c, const void *, .f) \
	X(z, const void *, .d)

#define ARGS const struct bench_op *op, dynlib_function *fn, const void *a, const void *b, void *c

#define CBLAS_OF(t, SCALAR, OF) \
	static void t##gemm(ARGS) \
	{ \
		((void (*)(int, int, int, BLAS_INT, BLAS_INT, BLAS_INT, SCALAR, const void *, \
			   BLAS_INT, const void *, BLAS_INT, SCALAR, void *, BLAS_INT))fn)( \
			COL_MAJOR, trans_code(op->ta), trans_code(op->tb), INT(op->m), INT(op->n), \
			INT(op->k), op->alpha OF, a, LD_A, b, LD_B, op->beta OF, c, LD_C); \
	} \
	static void t##gemm_strided(ARGS) \
	{ \
		((void (*)(int, int, int, BLAS_INT, BLAS_INT, BLAS_INT, SCALAR, const void *, \
			   BLAS_INT, BLAS_INT, const void *, BLAS_INT, BLAS_INT, SCALAR, void *, \
			   BLAS_INT, BLAS_INT, BLAS_INT))fn)( \
			COL_MAJOR, trans_code(op->ta), trans_code(op->tb), INT(op->m), INT(op->n), \
			INT(op->k), op->alpha OF, a, LD_A, STRIDE(OPERAND_A), b, LD_B, \
			STRIDE(OPERAND_B), op->beta OF, c, LD_C, STRIDE(OPERAND_C), \
			INT(op->batch)); \
	} \
	static void t##gemv(ARGS) \
	{ \
		((void (*)(int, int, BLAS_INT, BLAS_INT, SCALAR, const void *, BLAS_INT, \
			   const void *, BLAS_INT, SCALAR, void *, BLAS_INT))fn)( \
			COL_MAJOR, trans_code(op->ta), INT(op->m), INT(op->n), op->alpha OF, a, \
			LD_A, b, LD_B, op->beta OF, c, LD_C); \
	} \
	static void t##ger(ARGS) \
	{ \
		((void (*)(int, BLAS_INT, BLAS_INT, SCALAR, const void *, BLAS_INT, const void *, \
			   BLAS_INT, void *, BLAS_INT))fn)(COL_MAJOR, INT(op->m), INT(op->n), \
							   op->alpha OF, a, LD_A, b, LD_B, c, \
							   LD_C); \
	} \
	static void t##syrk(ARGS) \
	{ \
		(void)b; \
		((void (*)(int, int, int, BLAS_INT, BLAS_INT, SCALAR, const void *, BLAS_INT, \
			   SCALAR, void *, BLAS_INT))fn)( \
			COL_MAJOR, uplo_code(op->uplo), trans_code(op->ta), INT(op->n), \
			INT(op->k), op->alpha OF, a, LD_A, op->beta OF, c, LD_C); \
	} \
	static void t##trsm(ARGS) \
	{ \
		(void)b; \
		((void (*)(int, int, int, int, int, BLAS_INT, BLAS_INT, SCALAR, const void *, \
			   BLAS_INT, void *, BLAS_INT))fn)( \
			COL_MAJOR, side_code(op->side), uplo_code(op->uplo), trans_code(op->ta), \
			diag_code(op->diag), INT(op->m), INT(op->n), op->alpha OF, a, LD_A, c, \
			LD_C); \
	} \
	static void t##axpy(ARGS) \
	{ \
		(void)b; \
		((void (*)(BLAS_INT, SCALAR, const void *, BLAS_INT, void *, BLAS_INT))fn)( \
			INT(op->n), op->alpha OF, a, LD_A, c, LD_C); \
	}
TYPES(CBLAS_OF)

static void sdot(ARGS)
{
	*(float *)c = ((float (*)(BLAS_INT, const void *, BLAS_INT, const void *, BLAS_INT))fn)(
		INT(op->n), a, LD_A, b, LD_B);
}

static void ddot(ARGS)
{
	*(double *)c = ((double (*)(BLAS_INT, const void *, BLAS_INT, const void *, BLAS_INT))fn)(
		INT(op->n), a, LD_A, b, LD_B);
}

static void dot_sub(ARGS)
{
	((void (*)(BLAS_INT, const void *, BLAS_INT, const void *, BLAS_INT, void *))fn)(
		INT(op->n), a, LD_A, b, LD_B, c);
}

/* ---- Fortran: all by address, so that types of scalars make no difference ---- */

#define SCALAR_AT(s) \
	(op->type == BENCH_F32 || op->type == BENCH_F32C ? (const void *)op->s.f \
							 : (const void *)op->s.d)
#define INTS(...) const BLAS_INT i[] = { __VA_ARGS__ }
typedef const BLAS_INT *blas_ints;
typedef const char *blas_text;

static void f_gemm(ARGS)
{
	INTS(INT(op->m), INT(op->n), INT(op->k), LD_A, LD_B, LD_C);

	((void (*)(blas_text, blas_text, blas_ints, blas_ints, blas_ints, const void *,
		   const void *, blas_ints, const void *, blas_ints, const void *, void *,
		   blas_ints, size_t, size_t))fn)(&op->ta, &op->tb, &i[0], &i[1], &i[2],
						  SCALAR_AT(alpha), a, &i[3], b, &i[4],
						  SCALAR_AT(beta), c, &i[5], 1, 1);
}

static void f_gemv(ARGS)
{
	INTS(INT(op->m), INT(op->n), LD_A, LD_B, LD_C);

	((void (*)(blas_text, blas_ints, blas_ints, const void *, const void *, blas_ints,
		   const void *, blas_ints, const void *, void *, blas_ints, size_t))fn)(
		&op->ta, &i[0], &i[1], SCALAR_AT(alpha), a, &i[2], b, &i[3], SCALAR_AT(beta), c,
		&i[4], 1);
}

static void f_ger(ARGS)
{
	INTS(INT(op->m), INT(op->n), LD_A, LD_B, LD_C);

	((void (*)(blas_ints, blas_ints, const void *, const void *, blas_ints, const void *,
		   blas_ints, void *, blas_ints))fn)(&i[0], &i[1], SCALAR_AT(alpha), a, &i[2], b,
						     &i[3], c, &i[4]);
}

static void f_syrk(ARGS)
{
	INTS(INT(op->n), INT(op->k), LD_A, LD_C);

	(void)b;
	((void (*)(blas_text, blas_text, blas_ints, blas_ints, const void *, const void *,
		   blas_ints, const void *, void *, blas_ints, size_t, size_t))fn)(
		&op->uplo, &op->ta, &i[0], &i[1], SCALAR_AT(alpha), a, &i[2], SCALAR_AT(beta), c,
		&i[3], 1, 1);
}

static void f_trsm(ARGS)
{
	INTS(INT(op->m), INT(op->n), LD_A, LD_C);

	(void)b;
	((void (*)(blas_text, blas_text, blas_text, blas_text, blas_ints, blas_ints, const void *,
		   const void *, blas_ints, void *, blas_ints, size_t, size_t, size_t, size_t))fn)(
		&op->side, &op->uplo, &op->ta, &op->diag, &i[0], &i[1], SCALAR_AT(alpha), a, &i[2],
		c, &i[3], 1, 1, 1, 1);
}

static void f_axpy(ARGS)
{
	INTS(INT(op->n), LD_A, LD_C);

	(void)b;
	((void (*)(blas_ints, const void *, const void *, blas_ints, void *, blas_ints))fn)(
		&i[0], SCALAR_AT(alpha), a, &i[1], c, &i[2]);
}

static void f_sdot(ARGS)
{
	INTS(INT(op->n), LD_A, LD_B);

	*(float *)c = ((float (*)(blas_ints, const void *, blas_ints, const void *, blas_ints))fn)(
		&i[0], a, &i[1], b, &i[2]);
}

static void f_ddot(ARGS)
{
	INTS(INT(op->n), LD_A, LD_B);

	*(double *)c = ((double (*)(blas_ints, const void *, blas_ints, const void *,
				    blas_ints))fn)(&i[0], a, &i[1], b, &i[2]);
}

/* With 64 bits: n is 1 below and −1 above (bench_lib.h). */
static double probe(dynlib_function *fn, enum bench_interface interface)
{
	const int64_t n = (int64_t)0xffffffff00000001, one = 1;
	const double x = 3, y = 5;

	if (interface == BENCH_CBLAS)
		return ((double (*)(int64_t, const double *, int64_t, const double *, int64_t))fn)(
			n, &x, one, &y, one);
	return ((double (*)(const int64_t *, const double *, const int64_t *, const double *,
			    const int64_t *))fn)(&n, &x, &one, &y, &one);
}

#define ROW(f) \
	{ \
		[BENCH_F32] = s##f, [BENCH_F64] = d##f, [BENCH_F32C] = c##f, [BENCH_F64C] = z##f \
	}
#define ROW_OF_ALL(f) \
	{ \
		[BENCH_F32] = f, [BENCH_F64] = f, [BENCH_F32C] = f, [BENCH_F64C] = f \
	}
/* clang-format off */
/* A row for each operation, by macros, so that one without a call does not compile. */
#define CBLAS_ROW(name) [BENCH_##name] = CBLAS_##name,
#define FORTRAN_ROW(name) [BENCH_##name] = FORTRAN_##name,
#define CBLAS_gemm ROW(gemm)
#define CBLAS_gemv ROW(gemv)
#define CBLAS_ger ROW(ger)
#define CBLAS_syrk ROW(syrk)
#define CBLAS_trsm ROW(trsm)
#define CBLAS_axpy ROW(axpy)
#define CBLAS_dot { [BENCH_F32] = sdot, [BENCH_F64] = ddot, \
	[BENCH_F32C] = dot_sub, [BENCH_F64C] = dot_sub }
#define FORTRAN_gemm ROW_OF_ALL(f_gemm)
#define FORTRAN_gemv ROW_OF_ALL(f_gemv)
#define FORTRAN_ger ROW_OF_ALL(f_ger)
#define FORTRAN_syrk ROW_OF_ALL(f_syrk)
#define FORTRAN_trsm ROW_OF_ALL(f_trsm)
#define FORTRAN_axpy ROW_OF_ALL(f_axpy)
#define FORTRAN_dot { [BENCH_F32] = f_sdot, [BENCH_F64] = f_ddot }
const struct bench_blas_calls BLAS_CALLS = {
	.of = {
		[BENCH_CBLAS] = { BENCH_KINDS(CBLAS_ROW) },
		[BENCH_FORTRAN] = { BENCH_KINDS(FORTRAN_ROW) },
	},
	.strided = ROW(gemm_strided),
	.probe = probe,
};
/* clang-format on */

#endif
