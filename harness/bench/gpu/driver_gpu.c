/*
 * The drivers of libraries of a GPU (bench_driver.h, gpu_library.h): operands are filled here and
 * copied to the device, blocks are timed by events around them on one stream, results are copied
 * back and checked here.
 *
 * Operands that change go over twice the cache of the device, and all of them take at most a
 * quarter of its free memory, which other back ends share at the same time.
 */
#include "bench_layout.h"
#include "gpu_library.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/xalloc.h"
#include "profrig/bench/bench_driver.h"

#define ALIGN ((uint64_t)256) /* bytes: what allocations of a device are aligned to */
#define MEMORY_SHARE 4

static struct {
	const struct gpu_library *lib;
	const struct gpu_runtime *rt;
	struct gpu_device device;
	void *stream, *start, *stop;
	char *path;
	char version[160];
	struct bench_op op;
	struct bench_layout layout;
	char *memory; /* of the device; NULL: no operands */
	uint64_t at;  /* set of the next call */
} gpu;

/* ---- what it is ---- */

static int work_of(const struct gpu_library *lib, const char *key, struct bench_work *ret,
		   struct err *err)
{
	struct bench_op op;
	int r = bench_op_parse(key, &op, err);

	if (r < 0)
		return r;
	if (lib->only_gemm && op.kind != BENCH_gemm)
		return err_set(err, ENOTSUP, "%s has products of matrices alone", lib->title);
	if (!op.flops)
		return err_set(err, EINVAL, "there is nothing to compute");
	*ret = (struct bench_work){ op.flops, op.bytes, BENCH_TYPE_COUNT };
	return 0;
}

/* A key says what f32 is computed as, and not who called profrig. */
static void environment_clear(void)
{
	static const char *const names[] = {
		"NVIDIA_TF32_OVERRIDE",
		"CUBLAS_EMULATE_SINGLE_PRECISION",
		"CUBLAS_EMULATE_DOUBLE_PRECISION",
		"CUBLAS_EMULATION_STRATEGY",
		"HIPBLASLT_OVERRIDE_COMPUTE_TYPE_XF32",
	};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		unsetenv(names[i]);
}

static int stream_make(struct err *err)
{
	const struct gpu_runtime *rt = gpu.rt;
	int code = rt->stream_new(&gpu.stream);

	if (!code)
		code = rt->event_new(&gpu.start);
	if (!code)
		code = rt->event_new(&gpu.stop);
	return gpu_failed(rt, code, "a stream", err);
}

static int open_of(const struct gpu_library *lib, const char *path, struct bench_hello *ret,
		   struct err *err)
{
	const char *const names[] = { path, NULL };
	void *handle;
	int r;

	environment_clear();
	gpu.lib = lib;
	gpu.rt = lib->runtime;
	r = dynlib_open(names, &handle, err);
	if (r == 0 && !dynlib_find(handle, lib->entry))
		r = err_set(err, ENOENT, "the library has no %s", lib->entry);
	if (r == 0)
		r = gpu.rt->open(handle, &gpu.device, err);
	if (r == 0)
		r = stream_make(err);
	if (r == 0)
		r = lib->open(handle, gpu.stream, gpu.version, sizeof(gpu.version), err);
	if (r < 0)
		return r;
	gpu.path = dynlib_file(dynlib_find(handle, lib->entry));
	*ret = (struct bench_hello){ .path = gpu.path ? gpu.path : path,
				     .version = gpu.version,
				     .device = gpu.device.name };
	return 0;
}

/* ---- operands ---- */

static char *operand(int which, uint64_t set)
{
	return gpu.memory + bench_layout_at(&gpu.layout, which, set);
}

static void gpu_drop(void)
{
	if (!gpu.lib)
		return;
	gpu.lib->drop();
	if (gpu.memory)
		gpu.rt->release(gpu.memory);
	gpu.memory = NULL;
}

/* The first set becomes all of them, in ever larger copies: there may be thousands. */
static int sets_fill(int which)
{
	size_t sets = gpu.layout.sets[which];
	int code = 0;

	for (size_t have = 1, n; !code && have < sets; have += n) {
		n = sets - have < have ? sets - have : have;
		code = gpu.rt->copy(operand(which, have), operand(which, 0),
				    n * gpu.layout.step[which]);
	}
	return code;
}

/* All sets of an operand, the first one filled here; host has room for one. */
static int operand_fill(int which, void *host)
{
	int code;

	if (!gpu.layout.step[which])
		return 0;
	bench_op_fill(&gpu.op, which, host);
	code = gpu.rt->to_device(operand(which, 0), host, bench_op_bytes(&gpu.op, which));
	return code ? code : sets_fill(which);
}

static size_t largest_operand(void)
{
	size_t most = 1;

	for (int i = 0; i < OPERANDS; i++)
		if (gpu.layout.step[i] > most)
			most = gpu.layout.step[i];
	return most;
}

/* NULL: there is not that much memory. */
static void *host_room(size_t bytes, uint64_t limit, struct err *err)
{
	void *host = bytes <= limit ? malloc(bytes) : NULL;

	if (!host)
		err_set(err, ENOMEM, "an operand of %.4g GB has no room in this machine's memory",
			(double)bytes / 1e9);
	return host;
}

static enum bench_status operands_make(const struct bench_request *r, struct err *err)
{
	CLEANUP(xfreep) char *host = NULL;
	struct bench_buffer_kind kinds[OPERANDS];
	uint64_t rotate = 2 * gpu.device.cache_bytes, limit;
	size_t left = 0;
	void *memory;
	int code = gpu.rt->memory_free(&left);

	if (gpu_failed(gpu.rt, code, "free memory", err) < 0)
		return BENCH_FAILED;
	limit = left / MEMORY_SHARE;
	bench_layout_kinds(&gpu.op, kinds);
	if (bench_layout_make(kinds, OPERANDS, r->cache, ALIGN,
			      rotate < limit / 2 ? rotate : limit / 2, limit, &gpu.layout, err) < 0)
		return BENCH_SKIPPED;
	host = host_room(largest_operand(), r->limit, err);
	if (!host)
		return BENCH_SKIPPED;
	code = gpu.rt->alloc(&memory, gpu.layout.bytes);
	if (gpu_failed(gpu.rt, code, "memory of the device", err) < 0)
		return BENCH_SKIPPED;
	gpu.memory = memory;
	for (int i = 0; !code && i < OPERANDS; i++)
		code = operand_fill(i, host);
	if (!code && gpu.layout.unused[OPERAND_C])
		code = gpu.rt->copy(gpu.memory + gpu.layout.unused[OPERAND_C],
				    operand(OPERAND_C, 0), bench_op_bytes(&gpu.op, OPERAND_C));
	return gpu_failed(gpu.rt, code, "copying operands", err) < 0 ? BENCH_FAILED : BENCH_OK;
}

static enum bench_status gpu_prepare(const struct bench_request *r, size_t *ret_bytes,
				     struct err *err)
{
	enum bench_status s;

	gpu_drop();
	if (bench_op_parse(r->key, &gpu.op, err) < 0)
		return BENCH_UNSUPPORTED;
	if (!bench_op_fits_int32(&gpu.op) || gpu.op.batch > INT32_MAX) {
		err_set(err, ERANGE, "its sizes need 64-bit integers");
		return BENCH_UNSUPPORTED;
	}
	s = gpu.lib->plan(&gpu.op, err);
	if (s == BENCH_OK)
		s = operands_make(r, err);
	if (s != BENCH_OK) {
		gpu_drop();
		return s;
	}
	*ret_bytes = gpu.layout.bytes;
	return BENCH_OK;
}

static int32_t gpu_solution(void)
{
	return gpu.lib->solution ? gpu.lib->solution() : BENCH_SOLUTION_NONE;
}

/* ---- calls ---- */

static int call_on(uint64_t set)
{
	return gpu.lib->call(&gpu.op, operand(OPERAND_A, set), operand(OPERAND_B, set),
			     operand(OPERAND_C, set));
}

static enum bench_status device_failed(int code, const char *what, struct err *err)
{
	return gpu_failed(gpu.rt, code, what, err) < 0 ? BENCH_FAILED : BENCH_OK;
}

static enum bench_status gpu_check(double *ret_error, struct err *err)
{
	size_t bytes = bench_op_bytes(&gpu.op, OPERAND_C);
	CLEANUP(xfreep) char *host = host_room(bytes, UINT64_MAX, err);
	enum bench_status s;
	int code;

	if (!host)
		return BENCH_SKIPPED;
	bench_op_fill(&gpu.op, OPERAND_C, host);
	s = device_failed(gpu.rt->to_device(operand(OPERAND_C, 0), host, bytes), "copying C", err);
	if (s != BENCH_OK)
		return s;
	code = call_on(0);
	if (code)
		return gpu.lib->failed(code, err);
	s = device_failed(gpu.rt->stream_wait(gpu.stream), "the call", err);
	if (s == BENCH_OK)
		s = device_failed(gpu.rt->from_device(host, operand(OPERAND_C, 0), bytes),
				  "copying C back", err);
	if (s != BENCH_OK)
		return s;
	return bench_op_check(&gpu.op, host, ret_error, err) < 0 ? BENCH_WRONG : BENCH_OK;
}

/* All Cs as they were filled, where an operation works in place. */
static int results_refresh(void)
{
	const struct bench_layout *l = &gpu.layout;
	int code;

	if (!l->unused[OPERAND_C])
		return 0;
	code = gpu.rt->copy(operand(OPERAND_C, 0), gpu.memory + l->unused[OPERAND_C],
			    bench_op_bytes(&gpu.op, OPERAND_C));
	return code ? code : sets_fill(OPERAND_C);
}

/* n calls, or the code of the first that fails. */
static int calls_make(uint64_t n)
{
	int code = 0;

	for (uint64_t i = 0; !code && i < n; i++)
		code = call_on(gpu.at++);
	return code;
}

/* The first call keeps the device busy while the next ones are handed over. */
static enum bench_status gpu_block(uint64_t n, int64_t *ret_ns, struct err *err)
{
	const struct gpu_runtime *rt = gpu.rt;
	int code = results_refresh(), called = 0;
	float ms = 0;

	if (!code)
		called = calls_make(1);
	if (!code && !called)
		code = rt->event_record(gpu.start, gpu.stream);
	if (!code && !called)
		called = calls_make(n);
	if (called)
		return gpu.lib->failed(called, err);
	if (!code)
		code = rt->event_record(gpu.stop, gpu.stream);
	if (!code)
		code = rt->event_wait(gpu.stop);
	if (!code)
		code = rt->event_elapsed(&ms, gpu.start, gpu.stop);
	*ret_ns = (int64_t)((double)ms * 1e6);
	return device_failed(code, "the calls", err);
}

/* clang-format off */
#define DRIVER(name_, node_) \
	static int name_##_work(const char *key, struct bench_work *ret, struct err *err) \
	{ \
		return work_of(&gpu_##name_, key, ret, err); \
	} \
	static int name_##_open(const char *path, struct bench_hello *ret, struct err *err) \
	{ \
		return open_of(&gpu_##name_, path, ret, err); \
	} \
	const struct bench_driver bench_driver_##name_ = { .name = #name_, \
							   .timer = "device", \
							   .energy = "auto", \
							   .node = node_, \
							   .file = "lib" #name_, \
							   .work = name_##_work, \
							   .open = name_##_open, \
							   .prepare = gpu_prepare, \
							   .solution = gpu_solution, \
							   .check = gpu_check, \
							   .block = gpu_block, \
							   .drop = gpu_drop };
/* clang-format on */
DRIVER(cublas, "/dev/nvidiactl")
DRIVER(cublaslt, "/dev/nvidiactl")
DRIVER(rocblas, "/dev/kfd")
DRIVER(hipblaslt, "/dev/kfd")
