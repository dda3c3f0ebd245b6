#include "test.h"

#include "profrig/names/api_names.h"

static const struct {
	const char *name;
	enum api_class want;
} names[] = {
	{ "", API_NONE },
	{ "cu", API_NONE },
	{ "cuda", API_NONE },
	{ "cudagraph step", API_NONE },
	{ "custom op", API_NONE },
	{ "hipster", API_NONE },
	{ "aten::mm", API_NONE },
	{ "DeviceSynchronize", API_NONE },
	{ "cudaLaunchKernel", API_OTHER },
	{ "cudaLaunchKernel_v7000", API_OTHER },
	{ "cuLaunchKernelEx", API_OTHER },
	{ "hipExtModuleLaunchKernel", API_OTHER },
	{ "cuModuleGetLoadingMode", API_OTHER },
	{ "hsa_amd_memory_async_copy", API_OTHER },
	{ "cudaMemsetAsync_v3020", API_OTHER },
	{ "cudaDeviceSynchronize", API_SYNC },
	{ "hipDeviceSynchronize", API_SYNC },
	{ "cudaStreamSynchronize_v3020", API_SYNC },
	{ "cudaStreamSynchronize_ptsz", API_SYNC },
	{ "cuCtxSynchronize", API_SYNC },
	{ "cudaEventSynchronize_v3020_ptsz", API_SYNC },
	{ "cudaMemcpy", API_SYNC },
	{ "cudaMemcpy_v3020", API_SYNC },
	{ "cudaMemcpy_v3020_ptds", API_SYNC },
	{ "hipMemcpy", API_SYNC },
	{ "hipMemcpyWithStream", API_SYNC },
	{ "cudaMemcpyAsync", API_COPY },
	{ "cudaMemcpy_x", API_COPY },
	{ "cudaMemcpy_v", API_COPY },
	{ "hipMemcpyAsync", API_COPY },
	{ "cuMemcpyHtoDAsync_v2", API_COPY },
	{ "cudaMalloc_v3020", API_ALLOC },
	{ "cudaMallocAsync", API_ALLOC },
	{ "cudaFree", API_ALLOC },
	{ "cudaHostAlloc_v3020", API_ALLOC },
	{ "hipHostMalloc", API_ALLOC },
	{ "hipExtMallocWithFlags", API_ALLOC },
	{ "cuFree", API_OTHER },
	{ "hipModuleLoadData", API_MODULE },
	{ "cuModuleLoadDataEx", API_MODULE },
	{ "cuLibraryLoadData", API_MODULE },
	{ "hipModuleGetFunction", API_MODULE },
	{ "cudaFuncGetAttributes", API_MODULE },
	{ "cudaGraphLaunch", API_GRAPH_LAUNCH },
	{ "cudaGraphLaunch_v10000_ptsz", API_GRAPH_LAUNCH },
	{ "hipGraphLaunch", API_GRAPH_LAUNCH },
	{ "cudaGraphLaunchable", API_OTHER },
};

TEST(test_api_class)
{
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (api_class(names[i].name) != names[i].want)
			ROW_FAIL(i, "%s: %d", names[i].name, api_class(names[i].name));
}

TEST(test_api_category)
{
	assert_true(api_category("cuda_runtime") && api_category("Runtime") &&
		    api_category("cuda_driver"));
	assert_false(api_category("") || api_category("cpu_op") || api_category("runtime of x"));
}

TEST(test_name_loads_data)
{
	assert_true(name_loads_data("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"));
	assert_true(name_loads_data("pin_memory thread") && name_loads_data("my dataloader") &&
		    name_loads_data("data_load"));
	assert_false(name_loads_data("data") || name_loads_data("load") || name_loads_data(""));
}

TEST(test_name_is_of_tool)
{
	assert_true(name_is_of_tool("Activity Buffer Request", "overhead") &&
		    name_is_of_tool("CUPTI Buffer flush", "overhead") &&
		    name_is_of_tool("OpTable::writeRows", "overhead"));
	assert_true(name_is_of_tool("cuptiActivityFlushAll", "") &&
		    name_is_of_tool("rocprofiler_flush_buffer", "hip_api") &&
		    name_is_of_tool("torch/profiler/profiler.py(220): stop", "python_function"));
	assert_false(name_is_of_tool("Lazy Function Loading", "overhead") ||
		     name_is_of_tool("Command buffer full", "overhead"));
	assert_false(name_is_of_tool("Buffer Flush", "cpu_op") || name_is_of_tool("", "") ||
		     name_is_of_tool("my/torch/profiler/", ""));
}

TEST(test_api_launches_kernel)
{
	static const struct {
		const char *name;
		bool launches;
	} cases[] = LIST({ "cudaLaunchKernel", true }, { "cudaLaunchKernelExC_v11060", true },
			 { "cudaLaunchCooperativeKernel_ptsz", true }, { "cuLaunchKernel", true },
			 { "hipModuleLaunchKernel", true }, { "hipExtLaunchKernel", true },
			 { "cudaGraphLaunch", false }, { "cudaLaunchHostFunc", false },
			 { "LaunchKernel", false }, { "curandLaunchKernel", false }, { "", false });

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		if (api_launches_kernel(cases[i].name) != cases[i].launches)
			ROW_FAIL(i, "%s", cases[i].name);
}

TEST(test_queued_work)
{
	static const struct {
		const char *name;
		bool queues;
	} cases[] = {
		{ "cudaLaunchKernel_v7000", true },
		{ "cuLaunchKernelEx", true },
		{ "hipExtModuleLaunchKernel", true },
		{ "cudaMemcpyAsync_v3020", true },
		{ "hipMemcpyHtoDAsync", true },
		{ "cudaMemsetAsync_ptsz", true },
		{ "hipMemset", true },
		{ "cudaMemcpy", false }, /* blocks: no capture allows it */
		{ "cudaGraphLaunch", false },
		{ "cudaStreamSynchronize", false },
		{ "cudaMalloc", false },
		{ "myMemset", false },
		{ "", false },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		if (api_queues_work(cases[i].name) != cases[i].queues)
			ROW_FAIL(i, "%s", cases[i].name);
}
