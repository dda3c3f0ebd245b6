/*
 * cuBLASLt and hipBLASLt: products of matrices, described by objects, with the algorithm that the
 * library thinks best and a workspace. Functions have the same arguments; attributes and numbers
 * differ.
 *
 * Sources: cublasLt.h of CUDA 11 to 13; hipblaslt.h of hipBLASLt 0.7 to 1.x (ROCm/hipBLASLt and
 * ROCm/rocm-libraries, library/include). Before 0.6 hipBLASLt had numbers of its own for types (its
 * CHANGELOG.md), and no other soname: it is refused.
 *
 * The number of an algorithm, by which PyTorch and hipBLASLt's tuning file name it, is that of
 * hipblaslt_ext::getIndexFromAlgo (hipblaslt-ext.hpp). It is a function of C++, so its name is what
 * the compilers of Linux make of it (Itanium C++ ABI), and its argument, a reference, a pointer. A
 * library that does not export this very name gives no numbers. hipblasLtGetGitRevision copies the
 * revision of the build, whatever its length: hipBLASLt itself keeps 128 bytes for it.
 */
#include "gpu_library.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "profrig/base/xalloc.h"
#include "profrig/bench/bench_tuning.h"

/* What NVIDIA recommends for Hopper (cuBLAS, cublasSetWorkspace), and enough for others. */
#define WORKSPACE ((size_t)32 << 20)
#define HIPBLASLT_OLDEST 700 /* 0.7.0, of ROCm 6.1: major · 100000 + minor · 100 + patch */

/* What a heuristic returns; only the algorithm and two fields behind it are looked at. */
struct cuda_result {
	uint64_t algo[8];
	size_t workspace;
	int state;
	float waves;
	int reserved[4];
};
struct hip_result {
	uint8_t algo[16];
	size_t most_workspace;
	size_t workspace;
	int state;
	float waves;
	int reserved[4];
};
union result {
	struct cuda_result cuda;
	struct hip_result hip;
};

struct dialect {
	const char *title, *prefix;
	const struct gpu_codes *codes;
	int compute_32, compute_tf32, compute_64;
	int desc_trans_a, desc_trans_b;
	int layout_batch, layout_stride;
	int most_workspace; /* attribute of a preference */
	size_t result_state;
};

static const struct dialect cublaslt = { .title = "cuBLASLt",
					 .prefix = "cublasLt",
					 .codes = &gpu_codes_cuda,
					 .compute_32 = 68,
					 .compute_tf32 = 77,
					 .compute_64 = 70,
					 .desc_trans_a = 3,
					 .desc_trans_b = 4,
					 .layout_batch = 5,
					 .layout_stride = 6,
					 .most_workspace = 1,
					 .result_state = offsetof(struct cuda_result, state) };
static const struct dialect hipblaslt = { .title = "hipBLASLt",
					  .prefix = "hipblasLt",
					  .codes = &gpu_codes_hip,
					  .compute_32 = 2,
					  .compute_tf32 = 6,
					  .compute_64 = 7,
					  .desc_trans_a = 0,
					  .desc_trans_b = 1,
					  .layout_batch = 0,
					  .layout_stride = 1,
					  .most_workspace = 1,
					  .result_state = offsetof(struct hip_result, state) };

#define INDEX_OF_ALGO "_ZN13hipblaslt_ext16getIndexFromAlgoER22_hipblasLtMatmulAlgo_t"
#define REVISION_ROOM 1024

typedef int create_fn(void **handle);
typedef int destroy_fn(void *object);
typedef int desc_create_fn(void **desc, int compute, int scale);
typedef int layout_create_fn(void **layout, int type, uint64_t rows, uint64_t cols, int64_t ld);
typedef int set_fn(void *object, int attribute, const void *value, size_t size);
typedef int heuristic_fn(void *handle, void *desc, void *a, void *b, void *c, void *d,
			 void *preference, int wanted, void *results, int *found);
typedef int matmul_fn(void *handle, void *desc, const void *alpha, const void *a, void *layout_a,
		      const void *b, void *layout_b, const void *beta, const void *c,
		      void *layout_c, void *d, void *layout_d, const void *algo, void *workspace,
		      size_t workspace_bytes, void *stream);

/* X(member, type, name behind the prefix) */
/* clang-format off */
#define FUNCTIONS(X) \
	X(create, create_fn, "Create") \
	X(desc_create, desc_create_fn, "MatmulDescCreate") \
	X(desc_set, set_fn, "MatmulDescSetAttribute") \
	X(desc_destroy, destroy_fn, "MatmulDescDestroy") \
	X(layout_create, layout_create_fn, "MatrixLayoutCreate") \
	X(layout_set, set_fn, "MatrixLayoutSetAttribute") \
	X(layout_destroy, destroy_fn, "MatrixLayoutDestroy") \
	X(preference_create, create_fn, "MatmulPreferenceCreate") \
	X(preference_set, set_fn, "MatmulPreferenceSetAttribute") \
	X(preference_destroy, destroy_fn, "MatmulPreferenceDestroy") \
	X(heuristic, heuristic_fn, "MatmulAlgoGetHeuristic") \
	X(matmul, matmul_fn, "Matmul")
/* clang-format on */
#define MEMBER(member, type, name) type *member;
typedef int index_fn(void *algo);

static struct {
	const struct dialect *d;
	const struct gpu_runtime *runtime;
	void *handle, *stream;
	FUNCTIONS(MEMBER)
	index_fn *index; /* NULL: algorithms have no numbers */
	/* the plan */
	void *desc, *layout[OPERANDS], *workspace;
	union result best;
} lt;

static enum bench_status failed(int code, struct err *err)
{
	err_set(err, EIO, "%s says %d", lt.d->title, code);
	return code == lt.d->codes->not_supported ? BENCH_UNSUPPORTED : BENCH_FAILED;
}

/* ---- the plan ---- */

static void drop(void)
{
	if (lt.desc)
		lt.desc_destroy(lt.desc);
	lt.desc = NULL;
	for (int i = 0; i < OPERANDS; i++) {
		if (lt.layout[i])
			lt.layout_destroy(lt.layout[i]);
		lt.layout[i] = NULL;
	}
	if (lt.workspace)
		lt.runtime->release(lt.workspace);
	lt.workspace = NULL;
}

static int desc_make(const struct bench_op *op)
{
	const struct dialect *d = lt.d;
	bool twice = op->type == BENCH_F64 || op->type == BENCH_F64C;
	int32_t ta = gpu_trans(d->codes, op, op->ta), tb = gpu_trans(d->codes, op, op->tb);
	int compute = twice ? d->compute_64 : op->tf32 ? d->compute_tf32 : d->compute_32;
	int scale = d->codes->types[bench_type_half(op->type) ? BENCH_F32 : op->type];
	int code = lt.desc_create(&lt.desc, compute, scale);

	if (!code)
		code = lt.desc_set(lt.desc, d->desc_trans_a, &ta, sizeof(ta));
	if (!code)
		code = lt.desc_set(lt.desc, d->desc_trans_b, &tb, sizeof(tb));
	return code;
}

static int layout_make(const struct bench_op *op, int operand)
{
	const struct bench_operand *o = &op->of[operand];
	int32_t batch = (int32_t)op->batch;
	int code = lt.layout_create(&lt.layout[operand], lt.d->codes->types[op->type],
				    (uint64_t)o->rows, (uint64_t)o->cols, o->ld);

	if (code || batch == 1)
		return code;
	code = lt.layout_set(lt.layout[operand], lt.d->layout_batch, &batch, sizeof(batch));
	if (!code)
		code = lt.layout_set(lt.layout[operand], lt.d->layout_stride, &o->stride,
				     sizeof(o->stride));
	return code;
}

/* The one that the library thinks fastest; found: 0 or 1. */
static int algorithm_find(int *ret_found)
{
	uint64_t most = WORKSPACE;
	void *preference = NULL;
	int code = lt.preference_create(&preference);

	*ret_found = 0;
	if (!code)
		code = lt.preference_set(preference, lt.d->most_workspace, &most, sizeof(most));
	if (!code)
		code = lt.heuristic(lt.handle, lt.desc, lt.layout[OPERAND_A], lt.layout[OPERAND_B],
				    lt.layout[OPERAND_C], lt.layout[OPERAND_C], preference, 1,
				    &lt.best, ret_found);
	if (preference)
		lt.preference_destroy(preference);
	return code;
}

static enum bench_status algorithm_choose(struct err *err)
{
	int found, state, code = algorithm_find(&found);

	if (code && code != lt.d->codes->not_supported)
		return failed(code, err);
	memcpy(&state, (const char *)&lt.best + lt.d->result_state, sizeof(state));
	if (code || found < 1 || state != 0) {
		err_set(err, ENOTSUP, "%s has no algorithm for it", lt.d->title);
		return BENCH_UNSUPPORTED;
	}
	return BENCH_OK;
}

static enum bench_status plan(const struct bench_op *op, struct err *err)
{
	int code = desc_make(op);
	enum bench_status s;

	for (int i = 0; !code && i < OPERANDS; i++)
		code = layout_make(op, i);
	if (code)
		return failed(code, err);
	s = algorithm_choose(err);
	if (s != BENCH_OK)
		return s;
	code = lt.runtime->alloc(&lt.workspace, WORKSPACE);
	if (code)
		lt.workspace = NULL;
	return gpu_failed(lt.runtime, code, "a workspace of 32 MiB", err) < 0 ? BENCH_SKIPPED
									      : BENCH_OK;
}

/* C and D are one. */
static int call(const struct bench_op *op, const void *a, const void *b, void *c)
{
	return lt.matmul(lt.handle, lt.desc, gpu_scalar(op, &op->alpha), a, lt.layout[OPERAND_A], b,
			 lt.layout[OPERAND_B], gpu_scalar(op, &op->beta), c, lt.layout[OPERAND_C],
			 c, lt.layout[OPERAND_C], &lt.best, lt.workspace, WORKSPACE, lt.stream);
}

/* ---- opening ---- */

static int function_find(void *library, const char *name, void *ret, struct err *err)
{
	dynlib_function *f;
	char full[80];

	snprintf(full, sizeof(full), "%s%s", lt.d->prefix, name);
	f = dynlib_find(library, full);
	memcpy(ret, &f, sizeof(f));
	return f ? 0 : err_set(err, ENOENT, "the library has no %s", full);
}

#define FIND(member, type, name) \
	if (function_find(library, name, &lt.member, err) < 0) \
		return -ENOENT;

static int lt_open(const struct dialect *d, const struct gpu_runtime *runtime, void *library,
		   void *stream, struct err *err)
{
	int code;

	lt.d = d;
	lt.runtime = runtime;
	lt.stream = stream;
	FUNCTIONS(FIND)
	code = lt.create(&lt.handle);
	if (!code)
		return 0;
	failed(code, err);
	return -EIO;
}

static int cublaslt_open(void *library, void *stream, char *version, size_t size, struct err *err)
{
	int r = lt_open(&cublaslt, &gpu_runtime_cuda, library, stream, err);

	gpu_cuda_version(library, "cublasLtGetProperty", "cuBLASLt", version, size);
	return r;
}

/* Behind the version, as PyTorch's HIPBLASLT_VERSION has it: "-a9c5cc7". */
static void revision_add(void *library, char *version, size_t size)
{
	dynlib_function *get = dynlib_find(library, "hipblasLtGetGitRevision");
	static char revision[REVISION_ROOM];
	size_t n = strlen(version);

	if (!get || ((int (*)(void *, char *))get)(lt.handle, revision) != 0 ||
	    !bench_revision_is_one(revision))
		return;
	snprintf(version + n, size - n, "-%s", revision);
}

static int32_t hipblaslt_solution(void)
{
	int index = lt.index && lt.workspace ? lt.index(&lt.best.hip.algo) : -1;

	return index >= 0 ? index : BENCH_SOLUTION_NONE;
}

static int hipblaslt_open(void *library, void *stream, char *version, size_t size, struct err *err)
{
	int v = 0, r = lt_open(&hipblaslt, &gpu_runtime_hip, library, stream, err);
	dynlib_function *get = dynlib_find(library, "hipblasLtGetVersion");

	if (r < 0)
		return r;
	if (!get || ((int (*)(void *, int *))get)(lt.handle, &v) != 0)
		return err_set(err, ENOENT, "the library does not tell its version");
	if (v < HIPBLASLT_OLDEST)
		return err_set(err, ENOTSUP, "hipBLASLt %d.%d.%d is older than 0.7", v / 100000,
			       v / 100 % 1000, v % 100);
	snprintf(version, size, "hipBLASLt %d.%d.%d", v / 100000, v / 100 % 1000, v % 100);
	revision_add(library, version, size);
	lt.index = (index_fn *)dynlib_find(library, INDEX_OF_ALGO);
	return 0;
}

const struct gpu_library gpu_cublaslt = { .title = "cuBLASLt",
					  .runtime = &gpu_runtime_cuda,
					  .entry = "cublasLtCreate",
					  .only_gemm = true,
					  .open = cublaslt_open,
					  .plan = plan,
					  .call = call,
					  .failed = failed,
					  .drop = drop };
const struct gpu_library gpu_hipblaslt = { .title = "hipBLASLt",
					   .runtime = &gpu_runtime_hip,
					   .entry = "hipblasLtCreate",
					   .only_gemm = true,
					   .open = hipblaslt_open,
					   .plan = plan,
					   .call = call,
					   .failed = failed,
					   .drop = drop,
					   .solution = hipblaslt_solution };
