/*
 * gpu_library: the calls of a library of a GPU. All else, operands and time, is in driver_gpu.c.
 *
 *	open	once; functions that all calls need are found, a handle is made on the stream
 *	plan	which call an operation is; the plan before it is gone
 *	call	one call, or one for each of a batch; it returns before the device is done
 *	drop	what plan has allocated is free
 *	solution the library's number of what the plan computes with (bench_driver.h); NULL: none
 *
 * call returns 0 or the library's code, of which `failed` says what it means.
 *
 * f32 is never computed as TF32 or emulated unless the key says so: variables of the environment
 * that would do so are removed before the library loads.
 */
#ifndef GPU_LIBRARY_H
#define GPU_LIBRARY_H

#include "gpu_runtime.h"

#include <stddef.h>

#include "profrig/bench/bench.h"
#include "profrig/bench/bench_op.h"

struct gpu_library {
	const char *title; /* "cuBLAS" */
	const struct gpu_runtime *runtime;
	const char *entry; /* a function by which the library's file is known */
	bool only_gemm;
	int (*open)(void *handle, void *stream, char *version, size_t size, struct err *err);
	enum bench_status (*plan)(const struct bench_op *op, struct err *err);
	int (*call)(const struct bench_op *op, const void *a, const void *b, void *c);
	enum bench_status (*failed)(int code, struct err *err);
	void (*drop)(void);
	int32_t (*solution)(void);
};

extern const struct gpu_library gpu_cublas, gpu_rocblas, gpu_cublaslt, gpu_hipblaslt;

/* What both kinds of libraries of a vendor number alike. */
struct gpu_codes {
	int none, transpose, conjugate;
	int types[BENCH_TYPE_COUNT];
	int not_supported; /* the status that means: this library has no such call */
};
extern const struct gpu_codes gpu_codes_cuda, gpu_codes_rocblas, gpu_codes_hip;

/*
 * "cuBLAS 13.1.0" by a function of a library's property; nothing where there is none. The number of
 * cublasGetVersion_v2 does not tell 11.11.3 from 12.1.3.
 */
void gpu_cuda_version(void *library, const char *function, const char *title, char *version,
		      size_t size);
/* Of a real type C is T, which not all libraries take. */
int gpu_trans(const struct gpu_codes *codes, const struct bench_op *op, char trans);
/* alpha or beta in the precision in which op is computed. */
const void *gpu_scalar(const struct bench_op *op, const struct bench_scalar *s);

#endif
