/*
 * gpu_runtime: what a driver needs of a GPU: memory, copies, one stream, events. One table for CUDA
 * and one for HIP.
 *
 * Life cycle, in a process of its own: open, which makes device 0 of those that are visible
 * (CUDA_VISIBLE_DEVICES, HIP_VISIBLE_DEVICES) the current one; the rest until the process ends.
 *
 * Functions that return int return the runtime's code, which is 0 when all is well and else has
 * words in `words`. Work runs behind the call: an error of a kernel may be told by a later call.
 * Copies wait for what is in the stream and have ended when they return, but for copy, within the
 * device, which later work in the stream waits for.
 *
 * Events have a resolution of about 0.5 µs and float milliseconds (CUDA Driver API,
 * cuEventElapsedTime).
 */
#ifndef GPU_RUNTIME_H
#define GPU_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

#include "profrig/base/dynlib.h"
#include "profrig/base/err.h"

struct gpu_device {
	char name[128];
	uint64_t cache_bytes; /* of its last level, at least what the runtime tells */
};

struct gpu_runtime {
	const char *name; /* "CUDA" */
	/*
	 * library: whose runtime is meant. One that it has brought along is taken, else that of the
	 * system. -ENOENT: there is none; -ENODEV: "no CUDA device: …".
	 */
	int (*open)(void *library, struct gpu_device *ret, struct err *err);
	const char *(*words)(int code);
	int (*memory_free)(size_t *ret);
	int (*alloc)(void **ret, size_t bytes);
	int (*release)(void *at);
	int (*to_device)(void *to, const void *from, size_t bytes);
	int (*from_device)(void *to, const void *from, size_t bytes);
	int (*copy)(void *to, const void *from, size_t bytes);
	int (*stream_new)(void **ret);
	int (*stream_wait)(void *stream);
	int (*event_new)(void **ret);
	int (*event_record)(void *event, void *stream);
	int (*event_wait)(void *event);
	int (*event_elapsed)(float *ret_ms, void *start, void *stop);
};

extern const struct gpu_runtime gpu_runtime_cuda, gpu_runtime_hip;

/* Functions of the runtime that came with the library, else of the first name that opens. */
int gpu_runtime_load(void *library, const char *const *names, const struct dynlib_sym *syms,
		     size_t n, void *into, struct err *err);
/* 0 → 0; else -EIO with "what: WORDS" of the runtime. */
int gpu_failed(const struct gpu_runtime *rt, int code, const char *what, struct err *err);

#endif
