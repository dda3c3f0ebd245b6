/*
 * cuBLAS and rocBLAS. Their BLAS functions have the same arguments in the same order, scalars by
 * address, integers of 32 bits, and return a status; names and numbers differ. Products of matrices
 * go through the functions that take types, as those of f16 and bf16 have no others.
 *
 * Sources: cublas_api.h of CUDA 11 to 13 (since 11 cublasComputeType_t is what is computed in);
 * rocblas-functions.h and rocblas-types.h of rocBLAS 3 to 5 (ROCm/rocBLAS,
 * library/include/internal).
 */
#include "gpu_library.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "profrig/base/xalloc.h"

enum { UPPER, LOWER };
enum { NOT_UNIT, UNIT };
enum { LEFT, RIGHT };
enum { POINTER_HOST, POINTER_DEVICE };

struct dialect {
	const char *title;
	const struct gpu_codes *codes;
	int uplo[2], diag[2], side[2];
	/* functions that take a type: 's' or 'S', then the name */
	const char *prefix, *suffix;
	bool capitals;
	const char *create, *set_stream, *set_pointer_mode, *status_words;
	const char *gemm, *gemm_batch;
	int (*gemm_call)(const struct bench_op *op, const void *a, const void *b, void *c);
	int (*gemm_batch_call)(const struct bench_op *op, const void *a, const void *b, void *c);
};

typedef int call_fn(const struct bench_op *op, const void *a, const void *b, void *c);
static struct {
	const struct dialect *d;
	void *library, *handle;
	dynlib_function *set_pointer_mode, *status_words;
	/* the plan */
	dynlib_function *fn;
	call_fn *call;
	bool whole; /* the call takes the batch */
} blas;

#define N32(v) ((int32_t)(v))
#define LD(operand) N32(op->of[operand].ld)
#define ALPHA gpu_scalar(op, &op->alpha)
#define BETA gpu_scalar(op, &op->beta)
#define TRANS(t) gpu_trans(blas.d->codes, op, t)
#define UPLO (blas.d->uplo[op->uplo == 'U' ? UPPER : LOWER])
#define TYPE (blas.d->codes->types[op->type])

/* ---- products, by type ---- */

enum { CUBLAS_32F = 68, CUBLAS_64F = 70, CUBLAS_32F_TF32 = 77, CUBLAS_ALGO_DEFAULT = -1 };

static int cublas_compute(const struct bench_op *op)
{
	if (op->type == BENCH_F64 || op->type == BENCH_F64C)
		return CUBLAS_64F;
	return op->tf32 ? CUBLAS_32F_TF32 : CUBLAS_32F;
}

static int cublas_gemm(const struct bench_op *op, const void *a, const void *b, void *c)
{
	int type = TYPE;

	return ((int (*)(void *, int, int, int32_t, int32_t, int32_t, const void *, const void *,
			 int, int32_t, const void *, int, int32_t, const void *, void *, int,
			 int32_t, int, int))blas.fn)(
		blas.handle, TRANS(op->ta), TRANS(op->tb), N32(op->m), N32(op->n), N32(op->k),
		ALPHA, a, type, LD(OPERAND_A), b, type, LD(OPERAND_B), BETA, c, type, LD(OPERAND_C),
		cublas_compute(op), CUBLAS_ALGO_DEFAULT);
}

static int cublas_gemm_batch(const struct bench_op *op, const void *a, const void *b, void *c)
{
	int type = TYPE;

	return ((int (*)(void *, int, int, int32_t, int32_t, int32_t, const void *, const void *,
			 int, int32_t, int64_t, const void *, int, int32_t, int64_t, const void *,
			 void *, int, int32_t, int64_t, int32_t, int, int))blas.fn)(
		blas.handle, TRANS(op->ta), TRANS(op->tb), N32(op->m), N32(op->n), N32(op->k),
		ALPHA, a, type, LD(OPERAND_A), op->of[OPERAND_A].stride, b, type, LD(OPERAND_B),
		op->of[OPERAND_B].stride, BETA, c, type, LD(OPERAND_C), op->of[OPERAND_C].stride,
		N32(op->batch), cublas_compute(op), CUBLAS_ALGO_DEFAULT);
}

enum { ROCBLAS_ALGO_STANDARD, ROCBLAS_MATH_DEFAULT = 0, ROCBLAS_MATH_XF32 = 1 };

/* rocBLAS has a type of data for what is computed in. */
static int rocblas_compute(const struct bench_op *op)
{
	return blas.d->codes->types[bench_type_half(op->type) ? BENCH_F32 : op->type];
}

/* C is read and D is written: here they are one. */
static int rocblas_gemm(const struct bench_op *op, const void *a, const void *b, void *c)
{
	int type = TYPE;

	return ((int (*)(void *, int, int, int32_t, int32_t, int32_t, const void *, const void *,
			 int, int32_t, const void *, int, int32_t, const void *, const void *, int,
			 int32_t, void *, int, int32_t, int, int, int32_t, uint32_t))blas.fn)(
		blas.handle, TRANS(op->ta), TRANS(op->tb), N32(op->m), N32(op->n), N32(op->k),
		ALPHA, a, type, LD(OPERAND_A), b, type, LD(OPERAND_B), BETA, c, type, LD(OPERAND_C),
		c, type, LD(OPERAND_C), rocblas_compute(op), ROCBLAS_ALGO_STANDARD, 0, 0);
}

static int rocblas_gemm_batch(const struct bench_op *op, const void *a, const void *b, void *c)
{
	int type = TYPE;

	return ((int (*)(void *, int, int, int32_t, int32_t, int32_t, const void *, const void *,
			 int, int32_t, int64_t, const void *, int, int32_t, int64_t, const void *,
			 const void *, int, int32_t, int64_t, void *, int, int32_t, int64_t,
			 int32_t, int, int, int32_t, uint32_t))blas.fn)(
		blas.handle, TRANS(op->ta), TRANS(op->tb), N32(op->m), N32(op->n), N32(op->k),
		ALPHA, a, type, LD(OPERAND_A), op->of[OPERAND_A].stride, b, type, LD(OPERAND_B),
		op->of[OPERAND_B].stride, BETA, c, type, LD(OPERAND_C), op->of[OPERAND_C].stride, c,
		type, LD(OPERAND_C), op->of[OPERAND_C].stride, N32(op->batch), rocblas_compute(op),
		ROCBLAS_ALGO_STANDARD, 0, 0);
}

/* ---- the others, by name ---- */

static int gemv(const struct bench_op *op, const void *a, const void *b, void *c)
{
	return ((int (*)(void *, int, int32_t, int32_t, const void *, const void *, int32_t,
			 const void *, int32_t, const void *, void *, int32_t))blas.fn)(
		blas.handle, TRANS(op->ta), N32(op->m), N32(op->n), ALPHA, a, LD(OPERAND_A), b,
		LD(OPERAND_B), BETA, c, LD(OPERAND_C));
}

static int syrk(const struct bench_op *op, const void *a, const void *b, void *c)
{
	(void)b;
	return ((int (*)(void *, int, int, int32_t, int32_t, const void *, const void *, int32_t,
			 const void *, void *, int32_t))blas.fn)(
		blas.handle, UPLO, TRANS(op->ta), N32(op->n), N32(op->k), ALPHA, a, LD(OPERAND_A),
		BETA, c, LD(OPERAND_C));
}

static int trsm(const struct bench_op *op, const void *a, const void *b, void *c)
{
	(void)b;
	return ((int (*)(void *, int, int, int, int, int32_t, int32_t, const void *, const void *,
			 int32_t, void *, int32_t))blas.fn)(
		blas.handle, blas.d->side[op->side == 'L' ? LEFT : RIGHT], UPLO, TRANS(op->ta),
		blas.d->diag[op->diag == 'N' ? NOT_UNIT : UNIT], N32(op->m), N32(op->n), ALPHA, a,
		LD(OPERAND_A), c, LD(OPERAND_C));
}

static int axpy(const struct bench_op *op, const void *a, const void *b, void *c)
{
	(void)b;
	return ((int (*)(void *, int32_t, const void *, const void *, int32_t, void *,
			 int32_t))blas.fn)(blas.handle, N32(op->n), ALPHA, a, LD(OPERAND_A), c,
					   LD(OPERAND_C));
}

/* The result stays on the device: one for the host would make each call wait. */
static int dot(const struct bench_op *op, const void *a, const void *b, void *c)
{
	return ((int (*)(void *, int32_t, const void *, int32_t, const void *, int32_t,
			 void *))blas.fn)(blas.handle, N32(op->n), a, LD(OPERAND_A), b,
					  LD(OPERAND_B), c);
}

/* ---- which call ---- */

#define CALL_OF(name) [BENCH_##name] = name,
static call_fn *const calls[BENCH_KIND_COUNT] = { CALL_OF(gemv) CALL_OF(syrk) CALL_OF(trsm)
							  CALL_OF(axpy) CALL_OF(dot) };

static const char *stem_of(const struct bench_op *op)
{
	if (op->kind != BENCH_dot || !bench_type_complex(op->type))
		return bench_kind_name(op->kind);
	return op->conj ? "dotc" : "dotu";
}

static void name_of(const struct bench_op *op, char *name, size_t size)
{
	const struct dialect *d = blas.d;
	char letter = bench_type_letter(op->type);

	if (op->kind == BENCH_gemm)
		snprintf(name, size, "%s", op->batch > 1 ? d->gemm_batch : d->gemm);
	else
		snprintf(name, size, "%s%c%s%s", d->prefix,
			 d->capitals ? (char)(letter - 'a' + 'A') : letter, stem_of(op), d->suffix);
}

/* XF32 of rocBLAS is a mode of the handle; -ENOTSUP: the device has none. */
static int math_mode_set(const struct bench_op *op, struct err *err)
{
	dynlib_function *set = dynlib_find(blas.library, "rocblas_set_math_mode");
	int mode = op->tf32 ? ROCBLAS_MATH_XF32 : ROCBLAS_MATH_DEFAULT;

	if (blas.d->codes != &gpu_codes_rocblas || (!set && !op->tf32))
		return 0;
	if (!set || ((int (*)(void *, int))set)(blas.handle, mode) != 0)
		return err_set(err, ENOTSUP, "the device does not compute in tf32");
	return 0;
}

static enum bench_status plan(const struct bench_op *op, struct err *err)
{
	const struct dialect *d = blas.d;
	bool gemm = op->kind == BENCH_gemm;
	char name[64];

	name_of(op, name, sizeof(name));
	blas.fn = dynlib_find(blas.library, name);
	blas.whole = gemm;
	blas.call = !gemm ? calls[op->kind] : op->batch > 1 ? d->gemm_batch_call : d->gemm_call;
	if (!blas.fn) {
		err_set(err, ENOTSUP, "the library has no %s", name);
		return BENCH_UNSUPPORTED;
	}
	if (math_mode_set(op, err) < 0)
		return BENCH_UNSUPPORTED;
	if (((int (*)(void *, int))blas.set_pointer_mode)(
		    blas.handle, op->kind == BENCH_dot ? POINTER_DEVICE : POINTER_HOST) != 0) {
		err_set(err, EIO, "%s failed", d->set_pointer_mode);
		return BENCH_FAILED;
	}
	return BENCH_OK;
}

static int call(const struct bench_op *op, const void *a, const void *b, void *c)
{
	size_t size = bench_type_size(op->type);

	if (blas.whole)
		return blas.call(op, a, b, c);
	for (int64_t i = 0; i < op->batch; i++) {
		int code = blas.call(op, a, b, c);

		if (code)
			return code;
		a = (const char *)a + (size_t)op->of[OPERAND_A].stride * size;
		b = (const char *)b + (size_t)op->of[OPERAND_B].stride * size;
		c = (char *)c + (size_t)op->of[OPERAND_C].stride * size;
	}
	return 0;
}

static enum bench_status failed(int code, struct err *err)
{
	const char *words = NULL;

	if (blas.status_words)
		words = ((const char *(*)(int))blas.status_words)(code);
	err_set(err, EIO, "%s says %d%s%.120s", blas.d->title, code, words ? ", " : "",
		words ? words : "");
	return code == blas.d->codes->not_supported ? BENCH_UNSUPPORTED : BENCH_FAILED;
}

static void drop(void)
{
}

/* ---- opening ---- */

static int needed(const char *name, dynlib_function **ret, struct err *err)
{
	*ret = dynlib_find(blas.library, name);
	return *ret ? 0 : err_set(err, ENOENT, "the library has no %s", name);
}

static int blas_open(const struct dialect *d, void *library, void *stream, struct err *err)
{
	dynlib_function *create, *set_stream;
	int code;

	blas.d = d;
	blas.library = library;
	blas.status_words = dynlib_find(library, d->status_words);
	if (needed(d->create, &create, err) < 0 || needed(d->set_stream, &set_stream, err) < 0 ||
	    needed(d->set_pointer_mode, &blas.set_pointer_mode, err) < 0)
		return -ENOENT;
	code = ((int (*)(void **))create)(&blas.handle);
	if (!code)
		code = ((int (*)(void *, void *))set_stream)(blas.handle, stream);
	if (!code)
		return 0;
	failed(code, err);
	return -EIO;
}

static const struct dialect cublas = {
	.title = "cuBLAS",
	.codes = &gpu_codes_cuda,
	.uplo = { [UPPER] = 1, [LOWER] = 0 },
	.diag = { [NOT_UNIT] = 0, [UNIT] = 1 },
	.side = { [LEFT] = 0, [RIGHT] = 1 },
	.prefix = "cublas",
	.suffix = "_v2",
	.capitals = true,
	.create = "cublasCreate_v2",
	.set_stream = "cublasSetStream_v2",
	.set_pointer_mode = "cublasSetPointerMode_v2",
	.status_words = "cublasGetStatusString",
	.gemm = "cublasGemmEx",
	.gemm_batch = "cublasGemmStridedBatchedEx",
	.gemm_call = cublas_gemm,
	.gemm_batch_call = cublas_gemm_batch,
};

static const struct dialect rocblas = {
	.title = "rocBLAS",
	.codes = &gpu_codes_rocblas,
	.uplo = { [UPPER] = 121, [LOWER] = 122 },
	.diag = { [NOT_UNIT] = 131, [UNIT] = 132 },
	.side = { [LEFT] = 141, [RIGHT] = 142 },
	.prefix = "rocblas_",
	.suffix = "",
	.create = "rocblas_create_handle",
	.set_stream = "rocblas_set_stream",
	.set_pointer_mode = "rocblas_set_pointer_mode",
	.status_words = "rocblas_status_to_string",
	.gemm = "rocblas_gemm_ex",
	.gemm_batch = "rocblas_gemm_strided_batched_ex",
	.gemm_call = rocblas_gemm,
	.gemm_batch_call = rocblas_gemm_batch,
};

static int cublas_open(void *library, void *stream, char *version, size_t size, struct err *err)
{
	int r = blas_open(&cublas, library, stream, err);

	gpu_cuda_version(library, "cublasGetProperty", "cuBLAS", version, size);
	return r;
}

static int rocblas_open(void *library, void *stream, char *version, size_t size, struct err *err)
{
	int r = blas_open(&rocblas, library, stream, err);
	dynlib_function *get = dynlib_find(library, "rocblas_get_version_string");
	char text[128] = "";

	if (r == 0 && get && ((int (*)(char *, size_t))get)(text, sizeof(text)) == 0)
		snprintf(version, size, "rocBLAS %.*s", (int)sizeof(text) - 1, text);
	return r;
}

const struct gpu_library gpu_cublas = { .title = "cuBLAS",
					.runtime = &gpu_runtime_cuda,
					.entry = "cublasCreate_v2",
					.open = cublas_open,
					.plan = plan,
					.call = call,
					.failed = failed,
					.drop = drop };
const struct gpu_library gpu_rocblas = { .title = "rocBLAS",
					 .runtime = &gpu_runtime_hip,
					 .entry = "rocblas_create_handle",
					 .open = rocblas_open,
					 .plan = plan,
					 .call = call,
					 .failed = failed,
					 .drop = drop };
