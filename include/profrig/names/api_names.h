/*
 * api_names: which calls of a GPU's runtime or driver a name is: CUDA's and HIP's, by the names
 * that tracers print. Nsight Systems' version endings (cudaMalloc_v3020) and those of per-thread
 * streams (_ptsz, _ptds) are no part of a name.
 */
#ifndef PROFRIG_API_NAMES_H
#define PROFRIG_API_NAMES_H

#include <stdbool.h>

enum api_class {
	API_NONE,  /* no call of a runtime or driver */
	API_OTHER, /* any other one */
	API_SYNC, /* returns when work has ended: synchronisations, and copies that block by name */
	API_COPY, /* another copy: it may block, which its times tell */
	API_ALLOC,       /* allocates, frees or registers memory */
	API_MODULE,      /* loads code */
	API_GRAPH_LAUNCH /* launches a graph */
};

enum api_class api_class(const char *name);
/* A call that launches one kernel: cudaLaunchKernelExC, hipModuleLaunchKernel … */
bool api_launches_kernel(const char *name);
/* A call that puts a kernel, copy or fill on a queue; copies that block by name do not. */
bool api_queues_work(const char *name);
/* Whether a trace's category says that its calls are a runtime's or driver's: "cuda_runtime". */
bool api_category(const char *category);
/*
 * What a tracer does for itself, as its own trace says: what readers of Kineto, Nsight Systems and
 * RPD put into the category "overhead", without what CUDA does by itself (lazy loading, a full
 * command buffer); calls of CUPTI, roctracer and rocprofiler, frames of PyTorch's profiler.
 */
bool name_is_of_tool(const char *name, const char *category);
/*
 * Whether a trace's category says that its ranges are the program's own: "UserMarker" (RPD),
 * "nvtx", "nvtx:DOMAIN", "user_annotation" (PyTorch), "MARKER_…", "rocTX".
 */
bool marker_category(const char *category);
/* A call, range or frame of a data loader. */
bool name_loads_data(const char *name);

#endif
