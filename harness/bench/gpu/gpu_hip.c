/*
 * HIP by libamdhip64. rocBLAS and hipBLASLt need it, so it is the one that they have loaded, which
 * may lie in a Python wheel.
 *
 * Declarations: as hip_runtime_api.h of HIP 5.2 to 7 has them, with int for hipError_t, hipDevice_t
 * and hipDeviceAttribute_t, and void * for streams and events. Attributes have these numbers since
 * ROCm 4.3, before libamdhip64.so.5. hipGetDeviceProperties is not called: its struct changed with
 * HIP 6.
 */
#include "gpu_runtime.h"

#include <errno.h>

enum { HIP_L2_CACHE_SIZE = 19 }; /* hipDeviceAttributeL2CacheSize */
enum { HOST_TO_DEVICE = 1, DEVICE_TO_HOST, DEVICE_TO_DEVICE };
/*
 * No attribute tells of the cache in front of the memory, the Infinity Cache, of 256 MB in MI300X
 * (AMD CDNA 3 white paper) and less in others.
 */
#define MEMORY_CACHE ((uint64_t)256 << 20)

int hipInit(unsigned flags);
int hipGetDeviceCount(int *count);
int hipSetDevice(int device);
int hipDeviceGetName(char *name, int size, int device);
int hipDeviceGetAttribute(int *value, int attribute, int device);
int hipMemGetInfo(size_t *left, size_t *total);
int hipMalloc(void **at, size_t bytes);
int hipFree(void *at);
int hipMemcpy(void *to, const void *from, size_t bytes, int kind);
int hipStreamCreate(void **stream);
int hipStreamSynchronize(void *stream);
int hipEventCreate(void **event);
int hipEventRecord(void *event, void *stream);
int hipEventSynchronize(void *event);
int hipEventElapsedTime(float *ms, void *start, void *stop);
const char *hipGetErrorName(int code);

/* clang-format off */
#define HIP_SYMS(X) \
	X(hipInit) X(hipGetDeviceCount) X(hipSetDevice) X(hipDeviceGetName) \
	X(hipDeviceGetAttribute) X(hipMemGetInfo) X(hipMalloc) X(hipFree) X(hipMemcpy) \
	X(hipStreamCreate) X(hipStreamSynchronize) X(hipEventCreate) X(hipEventRecord) \
	X(hipEventSynchronize) X(hipEventElapsedTime) X(hipGetErrorName)
/* clang-format on */

struct hip {
	DYNLIB_MEMBERS(HIP_SYMS)
};
#define ROW(f) DYNLIB_SYM(struct hip, f),
static const struct dynlib_sym syms[] = { HIP_SYMS(ROW) };
static struct hip hip;

static const char *words(int code)
{
	const char *name = hip.hipGetErrorName(code);

	return name ? name : "an unknown error";
}

static int device_use(struct gpu_device *ret)
{
	int l2 = 0, code = hip.hipSetDevice(0);

	if (!code)
		code = hip.hipDeviceGetName(ret->name, sizeof(ret->name), 0);
	ret->name[sizeof(ret->name) - 1] = 0;
	if (!code)
		code = hip.hipDeviceGetAttribute(&l2, HIP_L2_CACHE_SIZE, 0);
	ret->cache_bytes = l2 > 0 && (uint64_t)l2 > MEMORY_CACHE ? (uint64_t)l2 : MEMORY_CACHE;
	return code;
}

static int hip_open(void *library, struct gpu_device *ret, struct err *err)
{
	static const char *const names[] = { "libamdhip64.so.7", "libamdhip64.so.6",
					     "libamdhip64.so.5", NULL };
	int count = 0, code;
	int r = gpu_runtime_load(library, names, syms, sizeof(syms) / sizeof(*syms), &hip, err);

	if (r < 0)
		return err_wrap(err, r, "no HIP device");
	code = hip.hipInit(0);
	if (!code)
		code = hip.hipGetDeviceCount(&count);
	if (!code && count < 1)
		return err_set(err, ENODEV, "no HIP device: none is visible");
	if (!code)
		code = device_use(ret);
	return code ? err_set(err, ENODEV, "no HIP device: %.200s", words(code)) : 0;
}

static int memory_free(size_t *ret)
{
	size_t total;

	return hip.hipMemGetInfo(ret, &total);
}

static int alloc(void **ret, size_t bytes)
{
	return hip.hipMalloc(ret, bytes);
}

static int release(void *at)
{
	return hip.hipFree(at);
}

static int to_device(void *to, const void *from, size_t bytes)
{
	return hip.hipMemcpy(to, from, bytes, HOST_TO_DEVICE);
}

static int from_device(void *to, const void *from, size_t bytes)
{
	return hip.hipMemcpy(to, from, bytes, DEVICE_TO_HOST);
}

static int copy(void *to, const void *from, size_t bytes)
{
	return hip.hipMemcpy(to, from, bytes, DEVICE_TO_DEVICE);
}

static int stream_new(void **ret)
{
	return hip.hipStreamCreate(ret);
}

static int stream_wait(void *stream)
{
	return hip.hipStreamSynchronize(stream);
}

static int event_new(void **ret)
{
	return hip.hipEventCreate(ret);
}

static int event_record(void *event, void *stream)
{
	return hip.hipEventRecord(event, stream);
}

static int event_wait(void *event)
{
	return hip.hipEventSynchronize(event);
}

static int event_elapsed(float *ret_ms, void *start, void *stop)
{
	return hip.hipEventElapsedTime(ret_ms, start, stop);
}

const struct gpu_runtime gpu_runtime_hip = { .name = "HIP",
					     .open = hip_open,
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
