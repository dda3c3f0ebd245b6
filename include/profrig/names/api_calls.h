/*
 * api_calls: the kinds of calls of CUDA and HIP that matter to where time goes, by name.
 *
 * Suffixes of versions are no part of a name: cudaLaunchKernel_v7000 (Nsight), cudaMemcpy_ptds,
 * cuMemAlloc_v2, hipGetDevicePropertiesR0600.
 *
 *	api_call_kind("hipDeviceSynchronize")	API_SYNC
 *	api_call_kind("aten::mm")		API_NONE: no name of an API
 */
#ifndef PROFRIG_API_CALLS_H
#define PROFRIG_API_CALLS_H

#include <stddef.h>

enum api_call {
	API_NONE,
	API_OTHER,
	API_SYNC, /* cudaDeviceSynchronize, hipStreamSynchronize …, cudaMemcpy, hipMemcpyWithStream */
	API_ALLOC,        /* cudaMalloc, hipFree, cudaHostAlloc, hipExtMallocWithFlags … */
	API_MODULE_LOAD,  /* cuModuleLoadData, cudaFuncGetAttributes, cuLibraryLoadData … */
	API_GRAPH_LAUNCH, /* cudaGraphLaunch, hipGraphLaunch */
};

enum api_call api_call_kind(const char *name);
/* The length of a name without suffixes of versions. */
size_t api_name_base(const char *name);

#endif
