/*
 * A stand-in for libcuda.so.1 and libamdhip64.so with their functions, argument orders and numbers:
 * a device whose memory is malloc's, one stream, and a clock that moves by the calls of a library
 * alone. It refuses what the real ones refuse: calls before cuInit or without a context, an
 * attribute that is none, memory that is not of the device, events that were not recorded.
 *
 * Environment:
 *	FAKE_GPU=WORDS		nodevice none (a count of 0) oom lost (a kernel has failed)
 *	FAKE_GPU_FREE=BYTES	of free memory, 268435456
 *	FAKE_GPU_CALL_NS=NS	of the device for each call of a library, 1953125: 1/512 s, which
 *				float holds as it is, also many of them
 *
 * fake_gpu_run and fake_gpu_has are for fake_gpu.h.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

enum { OK, INVALID_VALUE, OUT_OF_MEMORY, NOT_INITIALIZED };
enum { NO_DEVICE = 100, INVALID_CONTEXT = 201, INVALID_HANDLE = 400, NOT_READY = 600 };
enum { LAUNCH_FAILED = 719 };
enum { ALLOCATIONS = 64 };

static struct {
	char *at;
	size_t bytes;
} memory[ALLOCATIONS];
static int initialized, current, the_context, the_stream;
static int64_t clock_ns;
struct event {
	int64_t ns;
	int recorded, waited;
};

static int told(const char *word)
{
	const char *s = getenv("FAKE_GPU");

	return s && strstr(s, word);
}

static int64_t number(const char *name, int64_t otherwise)
{
	const char *s = getenv(name);

	return s ? strtoll(s, NULL, 10) : otherwise;
}

static int hidden(const char *variable)
{
	const char *s = getenv(variable);

	return told("nodevice") || (s && (!*s || !strcmp(s, "-1")));
}

int fake_gpu_has(const void *at, size_t bytes)
{
	const char *p = at;

	for (int i = 0; i < ALLOCATIONS; i++)
		if (memory[i].at && p >= memory[i].at &&
		    p + bytes <= memory[i].at + memory[i].bytes)
			return 1;
	return 0;
}

/* False: that is no stream. */
int fake_gpu_run(const void *stream)
{
	clock_ns += number("FAKE_GPU_CALL_NS", 1953125);
	return stream == &the_stream;
}

/* ---- what both have ---- */

static int attribute_of(int *value, int attribute, int l2, int device)
{
	if (attribute != l2 || device != 0)
		return INVALID_VALUE;
	*value = 1 << 20;
	return OK;
}

static int name_of(char *name, int size, int device, const char *text)
{
	if (device != 0 || size < 1)
		return INVALID_VALUE;
	snprintf(name, (size_t)size, "%s", text);
	return OK;
}

static int memory_info(size_t *left, size_t *total)
{
	*left = (size_t)number("FAKE_GPU_FREE", 268435456);
	*total = (size_t)1 << 34;
	return current ? OK : INVALID_CONTEXT;
}

static int memory_get(char **at, size_t bytes)
{
	if (!current)
		return INVALID_CONTEXT;
	if (told("oom"))
		return OUT_OF_MEMORY;
	for (int i = 0; i < ALLOCATIONS; i++)
		if (!memory[i].at) {
			memory[i].at = *at = aligned_alloc(256, (bytes + 255) / 256 * 256);
			memory[i].bytes = bytes;
			return *at ? OK : OUT_OF_MEMORY;
		}
	return OUT_OF_MEMORY;
}

static int memory_put(char *at)
{
	for (int i = 0; i < ALLOCATIONS; i++)
		if (at && memory[i].at == at) {
			free(at);
			memory[i].at = NULL;
			return OK;
		}
	return INVALID_VALUE;
}

static int stream_make(void **stream)
{
	*stream = &the_stream;
	return current ? OK : INVALID_CONTEXT;
}

static int stream_wait(const void *stream)
{
	if (stream != &the_stream)
		return INVALID_HANDLE;
	return told("lost") ? LAUNCH_FAILED : OK;
}

static int event_make(void **event)
{
	*event = calloc(1, sizeof(struct event));
	return current ? OK : INVALID_CONTEXT;
}

static int event_note(struct event *e, const void *stream)
{
	if (stream != &the_stream)
		return INVALID_HANDLE;
	*e = (struct event){ clock_ns, 1, 0 };
	return OK;
}

static int event_wait(struct event *e)
{
	if (!e->recorded)
		return INVALID_HANDLE;
	e->waited = 1;
	return told("lost") ? LAUNCH_FAILED : OK;
}

static int event_between(float *ms, const struct event *start, const struct event *stop)
{
	if (!start->recorded || !stop->recorded)
		return INVALID_HANDLE;
	if (!stop->waited)
		return NOT_READY;
	*ms = (float)((double)(stop->ns - start->ns) / 1e6);
	return OK;
}

/* ---- CUDA's driver ---- */

int cuInit(unsigned flags)
{
	if (flags)
		return INVALID_VALUE;
	if (hidden("CUDA_VISIBLE_DEVICES"))
		return NO_DEVICE;
	initialized = 1;
	return OK;
}

int cuDeviceGetCount(int *count)
{
	*count = told("none") ? 0 : 1;
	return initialized ? OK : NOT_INITIALIZED;
}

int cuDeviceGet(int *device, int ordinal)
{
	*device = ordinal;
	return !initialized ? NOT_INITIALIZED : ordinal ? INVALID_VALUE : OK;
}

int cuDeviceGetName(char *name, int size, int device)
{
	return name_of(name, size, device, "NVIDIA Stand-in 1");
}

int cuDeviceGetAttribute(int *value, int attribute, int device)
{
	return attribute_of(value, attribute, 38, device);
}

int cuDevicePrimaryCtxRetain(void **context, int device)
{
	*context = &the_context;
	return device ? INVALID_VALUE : OK;
}

int cuCtxSetCurrent(void *context)
{
	current = context == &the_context;
	return current ? OK : INVALID_CONTEXT;
}

int cuMemGetInfo_v2(size_t *left, size_t *total)
{
	return memory_info(left, total);
}

int cuMemAlloc_v2(unsigned long long *at, size_t bytes)
{
	char *p = NULL;
	int code = memory_get(&p, bytes);

	*at = (uintptr_t)p;
	return code;
}

int cuMemFree_v2(unsigned long long at)
{
	return memory_put((char *)(uintptr_t)at);
}

static int copied(void *to, const void *from, size_t bytes, const void *of_device)
{
	if (!fake_gpu_has(of_device, bytes))
		return INVALID_VALUE;
	memmove(to, from, bytes);
	return OK;
}

int cuMemcpyHtoD_v2(unsigned long long to, const void *from, size_t bytes)
{
	void *p = (void *)(uintptr_t)to;

	return copied(p, from, bytes, p);
}

int cuMemcpyDtoH_v2(void *to, unsigned long long from, size_t bytes)
{
	const void *p = (const void *)(uintptr_t)from;

	return copied(to, p, bytes, p);
}

int cuMemcpyDtoD_v2(unsigned long long to, unsigned long long from, size_t bytes)
{
	const void *p = (const void *)(uintptr_t)from;
	void *q = (void *)(uintptr_t)to;

	return fake_gpu_has(p, bytes) ? copied(q, p, bytes, q) : INVALID_VALUE;
}

int cuStreamCreate(void **stream, unsigned flags)
{
	return flags ? INVALID_VALUE : stream_make(stream);
}

int cuStreamSynchronize(void *stream)
{
	return stream_wait(stream);
}

int cuEventCreate(void **event, unsigned flags)
{
	return flags ? INVALID_VALUE : event_make(event);
}

int cuEventRecord(void *event, void *stream)
{
	return event_note(event, stream);
}

int cuEventSynchronize(void *event)
{
	return event_wait(event);
}

int cuEventElapsedTime(float *ms, void *start, void *end)
{
	return event_between(ms, start, end);
}

int cuGetErrorName(int code, const char **name)
{
	*name = code == OUT_OF_MEMORY   ? "CUDA_ERROR_OUT_OF_MEMORY"
		: code == NO_DEVICE     ? "CUDA_ERROR_NO_DEVICE"
		: code == LAUNCH_FAILED ? "CUDA_ERROR_LAUNCH_FAILED"
		: code == INVALID_VALUE ? "CUDA_ERROR_INVALID_VALUE"
					: NULL;
	return *name ? OK : INVALID_VALUE;
}

/* ---- HIP ---- */

int hipInit(unsigned flags)
{
	return flags ? INVALID_VALUE : OK;
}

int hipGetDeviceCount(int *count)
{
	*count = told("none") ? 0 : 1;
	return hidden("HIP_VISIBLE_DEVICES") ? NO_DEVICE : OK;
}

int hipSetDevice(int device)
{
	current = device == 0;
	return current ? OK : INVALID_VALUE;
}

int hipDeviceGetName(char *name, int size, int device)
{
	return name_of(name, size, device, "AMD Stand-in 1");
}

int hipDeviceGetAttribute(int *value, int attribute, int device)
{
	return attribute_of(value, attribute, 19, device);
}

int hipMemGetInfo(size_t *left, size_t *total)
{
	return memory_info(left, total);
}

int hipMalloc(void **at, size_t bytes)
{
	char *p = NULL;
	int code = memory_get(&p, bytes);

	*at = p;
	return code;
}

int hipFree(void *at)
{
	return memory_put(at);
}

int hipMemcpy(void *to, const void *from, size_t bytes, int kind)
{
	if (kind < 1 || kind > 3 || (kind != 1 && !fake_gpu_has(from, bytes)))
		return INVALID_VALUE;
	return copied(to, from, bytes, kind == 2 ? from : to);
}

int hipStreamCreate(void **stream)
{
	return stream_make(stream);
}

int hipStreamSynchronize(void *stream)
{
	return stream_wait(stream);
}

int hipEventCreate(void **event)
{
	return event_make(event);
}

int hipEventRecord(void *event, void *stream)
{
	return event_note(event, stream);
}

int hipEventSynchronize(void *event)
{
	return event_wait(event);
}

int hipEventElapsedTime(float *ms, void *start, void *stop)
{
	return event_between(ms, start, stop);
}

const char *hipGetErrorName(int code)
{
	return code == OUT_OF_MEMORY   ? "hipErrorOutOfMemory"
	       : code == NO_DEVICE     ? "hipErrorNoDevice"
	       : code == LAUNCH_FAILED ? "hipErrorLaunchFailure"
				       : "hipErrorUnknown";
}
