/*
 * A stand-in for libcublas and librocblas (fake_gpu.h) with their functions, argument orders and
 * numbers. -DLACKS_SDOT leaves out rocblas_sdot.
 */
#include "fake_gpu.h"

static const struct vendor roc = { 4,   5,   2,   111, 112,
				   113, 121, 131, 141, { 151, 152, 150, 168, 154, 155 } };
static void *the_stream;
static int pointer_mode, xf32;

static int64_t vec(int64_t i, int64_t n, int64_t inc)
{
	return inc > 0 ? i * inc : (i + 1 - n) * inc;
}

static int gemv(const struct vendor *v, enum kind k, void *h, int op, int m, int n,
		const void *alpha, const void *a, int lda, const void *x, int incx,
		const void *beta, void *y, int incy)
{
	struct matrix mat = { a, lda, trans_of(v, op) };
	int64_t rows = mat.trans == 'N' ? m : n, cols = mat.trans == 'N' ? n : m;
	int code = begin(v, h, the_stream);

	if (!code && (!mat.trans || lda < m || !on_device(a, (int64_t)lda * n, k)))
		code = v->invalid;
	for (int64_t i = 0; !code && i < rows; i++) {
		int64_t at = vec(i, rows, incy);
		number sum = 0;

		for (int64_t j = 0; j < cols; j++)
			sum += entry(k, &mat, i, j) * get(k, x, vec(j, cols, incx));
		put(k, y, at, scalar(k, alpha) * sum + scalar(k, beta) * get(k, y, at));
	}
	return code;
}

static int syrk(const struct vendor *v, enum kind k, void *h, int uplo, int op, int n, int depth,
		const void *alpha, const void *a, int lda, const void *beta, void *c, int ldc)
{
	struct matrix mat = { a, lda, trans_of(v, op) };
	int code = begin(v, h, the_stream);

	if (!code && (!mat.trans || ldc < n || (mat.trans == 'C' && k >= KIND_C)))
		code = v->invalid;
	for (int64_t j = 0; !code && j < n; j++)
		for (int64_t i = 0; i < n; i++) {
			number sum = 0;

			if (uplo == v->upper ? i > j : i < j)
				continue;
			for (int64_t l = 0; l < depth; l++)
				sum += entry(k, &mat, i, l) * entry(k, &mat, j, l);
			put(k, c, i + j * ldc,
			    scalar(k, alpha) * sum + scalar(k, beta) * get(k, c, i + j * ldc));
		}
	return code;
}

static int trsm(const struct vendor *v, enum kind k, void *h, int side, int uplo, int op, int diag,
		int m, int n, const void *alpha, const void *a, int lda, void *b, int ldb)
{
	struct matrix mat = { a, lda, trans_of(v, op) };
	int left = side == v->left, upper = (uplo == v->upper) == (mat.trans == 'N');
	int64_t depth = left ? m : n, others = left ? n : m;
	int code = begin(v, h, the_stream);

	if (!code && (!mat.trans || lda < depth || ldb < m))
		code = v->invalid;
	for (int64_t r = 0; !code && r < others; r++)
		for (int64_t step = 0; step < depth; step++) {
			int backward = left == upper;
			int64_t i = backward ? depth - 1 - step : step;
			number x = scalar(k, alpha) * get(k, b, left ? i + r * ldb : r + i * ldb);

			for (int64_t l = backward ? i + 1 : 0; l < (backward ? depth : i); l++)
				x -= (left ? entry(k, &mat, i, l) : entry(k, &mat, l, i)) *
				     get(k, b, left ? l + r * ldb : r + l * ldb);
			if (diag == v->not_unit)
				x /= entry(k, &mat, i, i);
			put(k, b, left ? i + r * ldb : r + i * ldb, x);
		}
	return code;
}

static int axpy(const struct vendor *v, enum kind k, void *h, int n, const void *alpha,
		const void *x, int incx, void *y, int incy)
{
	int code = begin(v, h, the_stream);

	for (int64_t i = 0; !code && i < n; i++)
		put(k, y, vec(i, n, incy),
		    scalar(k, alpha) * get(k, x, vec(i, n, incx)) + get(k, y, vec(i, n, incy)));
	return code;
}

static int dot(const struct vendor *v, enum kind k, int conjugate, void *h, int n, const void *x,
	       int incx, const void *y, int incy, void *result)
{
	int code = begin(v, h, the_stream);
	number sum = 0;

	if (!code && on_device(result, 1, k) != pointer_mode)
		code = v->invalid;
	for (int64_t i = 0; !code && i < n; i++) {
		number first = get(k, x, vec(i, n, incx));

		sum += (conjugate ? conj(first) : first) * get(k, y, vec(i, n, incy));
	}
	if (!code)
		put(k, result, 0, sum);
	return code;
}

/* ---- cuBLAS and rocBLAS ---- */

#define BLAS(VENDOR, NAME, k) \
	int NAME(gemv)(void *h, int op, int m, int n, const void *alpha, const void *a, int lda, \
		       const void *x, int incx, const void *beta, void *y, int incy) \
	{ \
		return gemv(&VENDOR, k, h, op, m, n, alpha, a, lda, x, incx, beta, y, incy); \
	} \
	int NAME(syrk)(void *h, int uplo, int op, int n, int depth, const void *alpha, \
		       const void *a, int lda, const void *beta, void *c, int ldc) \
	{ \
		return syrk(&VENDOR, k, h, uplo, op, n, depth, alpha, a, lda, beta, c, ldc); \
	} \
	int NAME(trsm)(void *h, int side, int uplo, int op, int diag, int m, int n, \
		       const void *alpha, const void *a, int lda, void *b, int ldb) \
	{ \
		return trsm(&VENDOR, k, h, side, uplo, op, diag, m, n, alpha, a, lda, b, ldb); \
	} \
	int NAME(axpy)(void *h, int n, const void *alpha, const void *x, int incx, void *y, \
		       int incy) \
	{ \
		return axpy(&VENDOR, k, h, n, alpha, x, incx, y, incy); \
	}
#define DOT(VENDOR, NAME, k, conjugate) \
	int NAME(void *h, int n, const void *x, int incx, const void *y, int incy, void *result) \
	{ \
		return dot(&VENDOR, k, conjugate, h, n, x, incx, y, incy, result); \
	}
#define CUBLAS_S(f) cublasS##f##_v2
#define CUBLAS_D(f) cublasD##f##_v2
#define CUBLAS_C(f) cublasC##f##_v2
#define CUBLAS_Z(f) cublasZ##f##_v2
#define ROCBLAS_S(f) rocblas_s##f
#define ROCBLAS_D(f) rocblas_d##f
#define ROCBLAS_C(f) rocblas_c##f
#define ROCBLAS_Z(f) rocblas_z##f
/* clang-format off */
BLAS(cuda, CUBLAS_S, KIND_S) BLAS(cuda, CUBLAS_D, KIND_D)
BLAS(cuda, CUBLAS_C, KIND_C) BLAS(cuda, CUBLAS_Z, KIND_Z)
BLAS(roc, ROCBLAS_S, KIND_S) BLAS(roc, ROCBLAS_D, KIND_D)
BLAS(roc, ROCBLAS_C, KIND_C) BLAS(roc, ROCBLAS_Z, KIND_Z)
DOT(cuda, cublasSdot_v2, KIND_S, 0) DOT(cuda, cublasDdot_v2, KIND_D, 0)
DOT(cuda, cublasCdotu_v2, KIND_C, 0) DOT(cuda, cublasCdotc_v2, KIND_C, 1)
DOT(cuda, cublasZdotu_v2, KIND_Z, 0) DOT(cuda, cublasZdotc_v2, KIND_Z, 1)
#ifndef LACKS_SDOT
DOT(roc, rocblas_sdot, KIND_S, 0)
#endif
DOT(roc, rocblas_ddot, KIND_D, 0)
DOT(roc, rocblas_cdotu, KIND_C, 0) DOT(roc, rocblas_cdotc, KIND_C, 1)
DOT(roc, rocblas_zdotu, KIND_Z, 0) DOT(roc, rocblas_zdotc, KIND_Z, 1)
	/* clang-format on */

	int cublasCreate_v2(void **handle)
{
	return handle_make(handle);
}

int cublasSetStream_v2(void *handle, void *stream)
{
	the_stream = stream;
	return handle == &the_handle ? 0 : 1;
}

int cublasSetPointerMode_v2(void *handle, int mode)
{
	pointer_mode = mode;
	return handle != &the_handle ? 1 : mode == 0 || mode == 1 ? 0 : cuda.invalid;
}

int cublasGetProperty(int type, int *value)
{
	return property_of(type, value);
}

const char *cublasGetStatusString(int status)
{
	return status == 13   ? "the GPU program failed to execute"
	       : status == 15 ? "the functionality requested is not supported"
			      : "an error";
}

/* CUBLAS_COMPUTE_32F 68, 64F 70, 32F_FAST_TF32 77; −1: none that goes with the type */
static int cublas_fast(enum kind k, int compute)
{
	int twice = k == KIND_D || k == KIND_Z;

	if (compute == 77)
		return k == KIND_S ? 1 : -1;
	return compute == (twice ? 70 : 68) ? 0 : -1;
}

static int cublas_gemm(void *h, int ta, int tb, int m, int n, int k, const void *alpha,
		       const void *a, int type_a, int lda, int64_t stride_a, const void *b,
		       int type_b, int ldb, int64_t stride_b, const void *beta, void *c, int type_c,
		       int ldc, int64_t stride_c, int batch, int compute, int algo)
{
	enum kind kind = kind_of(&cuda, type_a);
	int fast = cublas_fast(kind, compute);

	if (algo != -1 || type_b != type_a || type_c != type_a || fast < 0 || pointer_mode != 0)
		return cuda.invalid;
	return multiply(&cuda,
			(struct product){ .m = m,
					  .n = n,
					  .k = k,
					  .batch = batch,
					  .kind = kind,
					  .alpha = alpha,
					  .beta = beta,
					  .a = { a, lda, trans_of(&cuda, ta) },
					  .b = { b, ldb, trans_of(&cuda, tb) },
					  .c = { c, ldc, 'N' },
					  .stride_a = stride_a,
					  .stride_b = stride_b,
					  .stride_c = stride_c,
					  .d = c,
					  .fast = fast },
			h, the_stream);
}

int cublasGemmEx(void *h, int ta, int tb, int m, int n, int k, const void *alpha, const void *a,
		 int type_a, int lda, const void *b, int type_b, int ldb, const void *beta, void *c,
		 int type_c, int ldc, int compute, int algo)
{
	return cublas_gemm(h, ta, tb, m, n, k, alpha, a, type_a, lda, 0, b, type_b, ldb, 0, beta, c,
			   type_c, ldc, 0, 1, compute, algo);
}

int cublasGemmStridedBatchedEx(void *h, int ta, int tb, int m, int n, int k, const void *alpha,
			       const void *a, int type_a, int lda, long long stride_a,
			       const void *b, int type_b, int ldb, long long stride_b,
			       const void *beta, void *c, int type_c, int ldc, long long stride_c,
			       int batch, int compute, int algo)
{
	return cublas_gemm(h, ta, tb, m, n, k, alpha, a, type_a, lda, stride_a, b, type_b, ldb,
			   stride_b, beta, c, type_c, ldc, stride_c, batch, compute, algo);
}

#define SAME_AS(f) __attribute__((alias(f)))
int rocblas_create_handle(void **handle) SAME_AS("cublasCreate_v2");
int rocblas_set_stream(void *handle, void *stream) SAME_AS("cublasSetStream_v2");
int rocblas_set_pointer_mode(void *handle, int mode) SAME_AS("cublasSetPointerMode_v2");

/* rocblas_status_arch_mismatch is 15 */
int rocblas_set_math_mode(void *handle, int mode)
{
	if (mode == 1 && told("notf32"))
		return 15;
	xf32 = mode;
	return handle == &the_handle && (mode == 0 || mode == 1) ? 0 : 1;
}

int rocblas_get_version_string(char *to, size_t size)
{
	static const char text[] = "4.1.2.abcdef";

	if (size < sizeof(text))
		return roc.invalid;
	memcpy(to, text, sizeof(text));
	return 0;
}

const char *rocblas_status_to_string(int status)
{
	return status == 2 ? "rocblas_status_not_implemented" : "rocblas_status_memory_error";
}

int rocblas_gemm_strided_batched_ex(void *h, int ta, int tb, int32_t m, int32_t n, int32_t k,
				    const void *alpha, const void *a, int type_a, int32_t lda,
				    int64_t stride_a, const void *b, int type_b, int32_t ldb,
				    int64_t stride_b, const void *beta, const void *c, int type_c,
				    int32_t ldc, int64_t stride_c, void *d, int type_d, int32_t ldd,
				    int64_t stride_d, int32_t batch, int compute, int algo,
				    int32_t solution, uint32_t flags)
{
	enum kind kind = kind_of(&roc, type_a);
	int half = kind == KIND_H || kind == KIND_B;

	if (algo || solution || flags || type_b != type_a || type_c != type_a || type_d != type_a ||
	    ldd != ldc || stride_d != stride_c || pointer_mode != 0 ||
	    compute != (half ? roc.types[KIND_S] : type_a))
		return roc.invalid;
	return multiply(&roc,
			(struct product){ .m = m,
					  .n = n,
					  .k = k,
					  .batch = batch,
					  .kind = kind,
					  .alpha = alpha,
					  .beta = beta,
					  .a = { a, lda, trans_of(&roc, ta) },
					  .b = { b, ldb, trans_of(&roc, tb) },
					  .c = { c, ldc, 'N' },
					  .stride_a = stride_a,
					  .stride_b = stride_b,
					  .stride_c = stride_c,
					  .d = d,
					  .fast = xf32 && kind == KIND_S },
			h, the_stream);
}

int rocblas_gemm_ex(void *h, int ta, int tb, int32_t m, int32_t n, int32_t k, const void *alpha,
		    const void *a, int type_a, int32_t lda, const void *b, int type_b, int32_t ldb,
		    const void *beta, const void *c, int type_c, int32_t ldc, void *d, int type_d,
		    int32_t ldd, int compute, int algo, int32_t solution, uint32_t flags)
{
	return rocblas_gemm_strided_batched_ex(h, ta, tb, m, n, k, alpha, a, type_a, lda, 0, b,
					       type_b, ldb, 0, beta, c, type_c, ldc, 0, d, type_d,
					       ldd, 0, 1, compute, algo, solution, flags);
}
