/*
 * CUDA by its driver, libcuda.so.1: it is where a GPU of NVIDIA's is, also where the libraries come
 * from a Python wheel without a runtime. cuBLAS computes in the primary context of the device
 * (CUDA Runtime API, Interactions with the CUDA Driver API), which is made current here, and takes
 * streams and events of the driver as they are.
 *
 * Declarations: as cuda.h of CUDA 11 to 13 has them, with int for CUresult, CUdevice and
 * attributes, void * for contexts, streams and events, and uint64_t for CUdeviceptr. Names with _v2
 * are what the header's names without it stand for since CUDA 4.0 (the table of defines in cuda.h).
 */
#include "gpu_runtime.h"

#include <errno.h>
#include <stdio.h>

enum { CUDA_L2_CACHE_SIZE = 38 }; /* CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE */

int cuInit(unsigned flags);
int cuDeviceGetCount(int *count);
int cuDeviceGet(int *device, int ordinal);
int cuDeviceGetName(char *name, int size, int device);
int cuDeviceGetAttribute(int *value, int attribute, int device);
int cuDevicePrimaryCtxRetain(void **context, int device);
int cuCtxSetCurrent(void *context);
int cuMemGetInfo_v2(size_t *left, size_t *total);
int cuMemAlloc_v2(uint64_t *at, size_t bytes);
int cuMemFree_v2(uint64_t at);
int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t bytes);
int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes);
int cuMemcpyDtoD_v2(uint64_t to, uint64_t from, size_t bytes);
int cuStreamCreate(void **stream, unsigned flags);
int cuStreamSynchronize(void *stream);
int cuEventCreate(void **event, unsigned flags);
int cuEventRecord(void *event, void *stream);
int cuEventSynchronize(void *event);
int cuEventElapsedTime(float *ms, void *start, void *end);
int cuGetErrorName(int code, const char **name);

/* clang-format off */
#define CUDA_SYMS(X) \
	X(cuInit) X(cuDeviceGetCount) X(cuDeviceGet) X(cuDeviceGetName) X(cuDeviceGetAttribute) \
	X(cuDevicePrimaryCtxRetain) X(cuCtxSetCurrent) X(cuMemGetInfo_v2) X(cuMemAlloc_v2) \
	X(cuMemFree_v2) X(cuMemcpyHtoD_v2) X(cuMemcpyDtoH_v2) X(cuMemcpyDtoD_v2) \
	X(cuStreamCreate) X(cuStreamSynchronize) X(cuEventCreate) X(cuEventRecord) \
	X(cuEventSynchronize) X(cuEventElapsedTime) X(cuGetErrorName)
/* clang-format on */

struct cuda {
	DYNLIB_MEMBERS(CUDA_SYMS)
};
#define ROW(f) DYNLIB_SYM(struct cuda, f),
static const struct dynlib_sym syms[] = { CUDA_SYMS(ROW) };
static struct cuda cuda;

static const char *words(int code)
{
	const char *name = NULL;

	return cuda.cuGetErrorName(code, &name) == 0 && name ? name : "an unknown error";
}

static int device_use(struct gpu_device *ret)
{
	int device, l2 = 0, code;
	void *context;

	code = cuda.cuDeviceGet(&device, 0);
	if (!code)
		code = cuda.cuDeviceGetName(ret->name, sizeof(ret->name), device);
	ret->name[sizeof(ret->name) - 1] = 0;
	if (!code)
		code = cuda.cuDeviceGetAttribute(&l2, CUDA_L2_CACHE_SIZE, device);
	ret->cache_bytes = l2 > 0 ? (uint64_t)l2 : 0;
	if (!code)
		code = cuda.cuDevicePrimaryCtxRetain(&context, device);
	return code ? code : cuda.cuCtxSetCurrent(context);
}

static int cuda_open(void *library, struct gpu_device *ret, struct err *err)
{
	static const char *const names[] = { "libcuda.so.1", NULL };
	int count = 0, code;
	int r = gpu_runtime_load(library, names, syms, sizeof(syms) / sizeof(*syms), &cuda, err);

	if (r < 0)
		return err_wrap(err, r, "no CUDA device");
	code = cuda.cuInit(0);
	if (!code)
		code = cuda.cuDeviceGetCount(&count);
	if (!code && count < 1)
		return err_set(err, ENODEV, "no CUDA device: none is visible");
	if (!code)
		code = device_use(ret);
	return code ? err_set(err, ENODEV, "no CUDA device: %.200s", words(code)) : 0;
}

static int memory_free(size_t *ret)
{
	size_t total;

	return cuda.cuMemGetInfo_v2(ret, &total);
}

static int alloc(void **ret, size_t bytes)
{
	uint64_t at = 0;
	int code = cuda.cuMemAlloc_v2(&at, bytes);

	*ret = (void *)(uintptr_t)at;
	return code;
}

static int release(void *at)
{
	return cuda.cuMemFree_v2((uintptr_t)at);
}

static int to_device(void *to, const void *from, size_t bytes)
{
	return cuda.cuMemcpyHtoD_v2((uintptr_t)to, from, bytes);
}

static int from_device(void *to, const void *from, size_t bytes)
{
	return cuda.cuMemcpyDtoH_v2(to, (uintptr_t)from, bytes);
}

static int copy(void *to, const void *from, size_t bytes)
{
	return cuda.cuMemcpyDtoD_v2((uintptr_t)to, (uintptr_t)from, bytes);
}

static int stream_new(void **ret)
{
	return cuda.cuStreamCreate(ret, 0);
}

static int stream_wait(void *stream)
{
	return cuda.cuStreamSynchronize(stream);
}

static int event_new(void **ret)
{
	return cuda.cuEventCreate(ret, 0);
}

static int event_record(void *event, void *stream)
{
	return cuda.cuEventRecord(event, stream);
}

static int event_wait(void *event)
{
	return cuda.cuEventSynchronize(event);
}

static int event_elapsed(float *ret_ms, void *start, void *stop)
{
	return cuda.cuEventElapsedTime(ret_ms, start, stop);
}

const struct gpu_runtime gpu_runtime_cuda = { .name = "CUDA",
					      .open = cuda_open,
					      .words = words,
					      .memory_free = memory_free,
					      .alloc = alloc,
					      .release = release,
					      .to_device = to_device,
					      .from_device = from_device,
					      .copy = copy,
					      .stream_new = stream_new,
					      .stream_wait = stream_wait,
					      .event_new = event_new,
					      .event_record = event_record,
					      .event_wait = event_wait,
					      .event_elapsed = event_elapsed };
