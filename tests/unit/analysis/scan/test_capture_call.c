/* Calls that capture and launch graphs: names, and handles in the text of arguments. */
#include "capture_call.h"
#include "test.h"

#include <inttypes.h>

#define NO FACT_ABSENT

TEST(test_handles)
{
	static const struct {
		const char *text;
		int64_t stream, graph, exec;
	} cases[] = {
		{ "stream = 0x5000 | mode = 0", 0x5000, NO, NO },
		{ "stream = 0x5000 | graph = 0x6000", 0x5000, 0x6000, NO },
		{ "graphExec = 0x7000 | graph = 0x6000", NO, 0x6000, 0x7000 },
		{ "graphExec=0x7000|stream=0x5000", 0x5000, NO, 0x7000 },
		{ "{\"graphExec\": \"0x7f00\", \"stream\": \"(nil)\"}", 0, NO, 0x7f00 },
		{ "{\"stream\":20480,\"mode\":1}", 20480, NO, NO },
		{ "stream = 0xffffffffffffffff | graph = 0x1", -1, 1, NO },
		{ "stream = 0x1ffffffffffffffff", NO, NO, NO },
		{ "stream = | graph = 0x6000", NO, 0x6000, NO },
		{ "stream = x | graph", NO, NO, NO },
		{ "mode = stream | graph = 0x2", NO, 2, NO },
		{ "pGraph = 0x9 | stream = 0x1 | stream = 0x2", 1, NO, NO },
		{ "", NO, NO, NO },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct capture_facts f = CAPTURE_FACTS_NONE;

		capture_call_handles(cases[i].text, strlen(cases[i].text), &f);
		if (f.stream != cases[i].stream || f.graph != cases[i].graph ||
		    f.exec != cases[i].exec)
			ROW_FAIL(i, "'%s': %" PRIx64 " %" PRIx64 " %" PRIx64, cases[i].text,
				 (uint64_t)f.stream, (uint64_t)f.graph, (uint64_t)f.exec);
	}
}
