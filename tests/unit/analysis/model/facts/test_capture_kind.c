/* Calls that capture and launch graphs, by their names. */
#include "test.h"

#include "profrig/model/facts.h"

TEST(test_kinds)
{
	static const struct {
		const char *name;
		enum capture_kind kind;
	} cases[] = {
		{ "hipStreamBeginCapture", CAPTURE_BEGIN },
		{ "hipStreamBeginCapture_spt", CAPTURE_BEGIN },
		{ "cudaStreamBeginCapture_v10000", CAPTURE_BEGIN },
		{ "cuStreamBeginCapture_v2_ptsz", CAPTURE_BEGIN },
		{ "cudaStreamEndCapture_ptsz", CAPTURE_END },
		{ "hipGraphInstantiate", CAPTURE_INSTANTIATE },
		{ "hipGraphInstantiateWithFlags", CAPTURE_INSTANTIATE },
		{ "cudaGraphInstantiate_v12000", CAPTURE_INSTANTIATE },
		{ "cuGraphLaunch", CAPTURE_LAUNCH },
		{ "hipGraphLaunch", CAPTURE_LAUNCH },
		{ "hipGraphLaunchX", CAPTURE_UNKNOWN },
		{ "hipStreamIsCapturing", CAPTURE_UNKNOWN },
		{ "myGraphLaunch", CAPTURE_UNKNOWN },
		{ "hip", CAPTURE_UNKNOWN },
		{ "", CAPTURE_UNKNOWN },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		if (capture_kind_of(cases[i].name) != cases[i].kind)
			ROW_FAIL(i, "%s is %d", cases[i].name, (int)capture_kind_of(cases[i].name));
}
