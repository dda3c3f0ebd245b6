/*
 * bench_lib: a BLAS in this process. Used by the child alone (bench_child.c), as a library may
 * crash, hang, end the process, or share its parts with another one.
 *
 * Integers of 32 or of 64 bits are distinguished by one call: a ddot whose n has 1 in its lower and
 * −1 in its upper half is the product of one pair for a library of 32 bits, and 0 for one of 64,
 * which reads a negative number. Functions with a suffix for 64 bits (dgemm_64_, cblas_dgemm64_)
 * are found, too.
 *
 * cblas_ functions are called where the library has them, Fortran's else. A complex dot of Fortran
 * alone is not called: compilers differ in how it returns its value.
 */
#ifndef BENCH_LIB_H
#define BENCH_LIB_H

#include <stdbool.h>

#include "profrig/base/dynlib.h"
#include "profrig/base/err.h"
#include "profrig/bench/bench_op.h"

enum bench_interface { BENCH_CBLAS, BENCH_FORTRAN, BENCH_INTERFACES };

struct bench_lib {
	void *handle;
	bool wide;          /* integers of 64 bits */
	char *path;         /* of the file that has its functions, links resolved */
	char version[160];  /* "OpenBLAS 0.3.21 …"; "" unknown */
	char core[40];      /* the kernels that it chose: "Haswell"; "" unknown */
	int threads;        /* that it will use; 0: it does not say */
	const char *suffix; /* of its functions: "" "_64" "64_" */
};

/* Stays loaded until the process ends. -ENOENT with the loader's words. */
int bench_lib_open(const char *path, struct bench_lib *ret, struct err *err);

/*
 * One product of matrices, or whatever op is; of a batch with its strides where `whole` is set.
 * With integers of 32 bits op fits them.
 */
typedef void bench_blas_fn(const struct bench_op *op, dynlib_function *fn, const void *a,
			   const void *b, void *c);
struct bench_call {
	bench_blas_fn *call;
	dynlib_function *fn;
	bool whole;
};
/* -ENOTSUP: the library lacks the function. */
int bench_lib_call(const struct bench_lib *lib, const struct bench_op *op, struct bench_call *ret,
		   struct err *err);

/* Calls by interface, kind and type (blas_calls.h); NULL: none. */
struct bench_blas_calls {
	bench_blas_fn *of[BENCH_INTERFACES][BENCH_KIND_COUNT][BENCH_TYPE_COUNT];
	bench_blas_fn *strided[BENCH_TYPE_COUNT]; /* cblas_?gemm_batch_strided */
	double (*probe)(dynlib_function *ddot, enum bench_interface i);
};
extern const struct bench_blas_calls bench_calls_32, bench_calls_64;

#endif
