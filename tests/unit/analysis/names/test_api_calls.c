#include "test.h"

#include "profrig/names/api_calls.h"

TEST(test_kinds)
{
	static const struct {
		const char *name;
		enum api_call kind;
	} cases[] = {
		{ "hipDeviceSynchronize", API_SYNC },
		{ "cudaStreamSynchronize_v3020", API_SYNC },
		{ "cudaEventSynchronize_ptsz", API_SYNC },
		{ "cuCtxSynchronize", API_SYNC },
		{ "cudaMemcpy_v3020", API_SYNC },
		{ "cudaMemcpy_v7000_ptds", API_SYNC },
		{ "hipMemcpy", API_SYNC },
		{ "hipMemcpyWithStream", API_SYNC },
		{ "hipMemcpyAsync", API_OTHER },
		{ "cuMemcpyDtoH_v2", API_OTHER },
		{ "cudaMalloc", API_ALLOC },
		{ "hipExtMallocWithFlags", API_ALLOC },
		{ "cudaHostAlloc", API_ALLOC },
		{ "hipHostMalloc", API_ALLOC },
		{ "cudaFreeHost", API_ALLOC },
		{ "hipMemAlloc", API_OTHER },
		{ "cuModuleLoadData", API_MODULE_LOAD },
		{ "cuLibraryLoadData", API_MODULE_LOAD },
		{ "cudaFuncGetAttributes", API_MODULE_LOAD },
		{ "hipModuleGetFunction", API_MODULE_LOAD },
		{ "cudaGraphLaunch_v10000", API_GRAPH_LAUNCH },
		{ "hipGraphLaunch", API_GRAPH_LAUNCH },
		{ "cudaLaunchKernel", API_OTHER },
		{ "hsa_signal_wait", API_OTHER },
		{ "aten::mm", API_NONE },
		{ "cutlass", API_NONE },
		{ "hippo", API_NONE },
		{ "cuda", API_NONE },
		{ "", API_NONE },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		if (api_call_kind(cases[i].name) != cases[i].kind)
			fail_msg("%s: %d", cases[i].name, (int)api_call_kind(cases[i].name));
}

TEST(test_base)
{
	assert_int_equal(api_name_base("cudaMemcpyAsync_v3020_ptsz"), 15);
	assert_int_equal(api_name_base("hipGetDevicePropertiesR0600"), 22);
	assert_int_equal(api_name_base("cuMemAlloc_v2"), 10);
	assert_int_equal(api_name_base("cudaD3D9Map"), 11);
	assert_int_equal(api_name_base("_v2"), 3);
	assert_int_equal(api_name_base(""), 0);
}
