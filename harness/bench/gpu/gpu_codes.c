/*
 * Sources: cublas_api.h, library_types.h of CUDA 11 to 13; rocblas-types.h of rocBLAS 3 to 5
 * (ROCm/rocBLAS, library/include/internal); hipblas-common.h 1.0 (ROCm/hipBLAS-common) and
 * library_types.h of HIP 6.
 */
#include "gpu_library.h"

#include <stdio.h>

const struct gpu_codes gpu_codes_cuda = {
	.none = 0,
	.transpose = 1,
	.conjugate = 2,
	.types = { [BENCH_F32] = 0,
		   [BENCH_F64] = 1,
		   [BENCH_F16] = 2,
		   [BENCH_BF16] = 14,
		   [BENCH_F32C] = 4,
		   [BENCH_F64C] = 5 },
	.not_supported = 15,
};

const struct gpu_codes gpu_codes_rocblas = {
	.none = 111,
	.transpose = 112,
	.conjugate = 113,
	.types = { [BENCH_F32] = 151,
		   [BENCH_F64] = 152,
		   [BENCH_F16] = 150,
		   [BENCH_BF16] = 168,
		   [BENCH_F32C] = 154,
		   [BENCH_F64C] = 155 },
	.not_supported = 2,
};

const struct gpu_codes gpu_codes_hip = {
	.none = 111,
	.transpose = 112,
	.conjugate = 113,
	.types = { [BENCH_F32] = 0,
		   [BENCH_F64] = 1,
		   [BENCH_F16] = 2,
		   [BENCH_BF16] = 14,
		   [BENCH_F32C] = 4,
		   [BENCH_F64C] = 5 },
	.not_supported = 7,
};

void gpu_cuda_version(void *library, const char *function, const char *title, char *version,
		      size_t size)
{
	dynlib_function *get = dynlib_find(library, function);
	int v[3] = { 0 }; /* MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL */

	for (int i = 0; get && i < 3; i++)
		if (((int (*)(int, int *))get)(i, &v[i]) != 0)
			get = NULL;
	if (get)
		snprintf(version, size, "%s %d.%d.%d", title, v[0], v[1], v[2]);
}

int gpu_trans(const struct gpu_codes *codes, const struct bench_op *op, char trans)
{
	if (trans == 'N')
		return codes->none;
	return trans == 'C' && bench_type_complex(op->type) ? codes->conjugate : codes->transpose;
}

const void *gpu_scalar(const struct bench_op *op, const struct bench_scalar *s)
{
	return op->type == BENCH_F64 || op->type == BENCH_F64C ? (const void *)s->d : s->f;
}
