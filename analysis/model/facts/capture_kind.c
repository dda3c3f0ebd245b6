#include <string.h>

#include "profrig/model/facts.h"

enum capture_kind capture_kind_of(const char *name)
{
	static const char *const vendors[] = { "hip", "cuda", "cu" };
	static const struct {
		const char *call;
		enum capture_kind kind;
	} calls[] = {
		{ "StreamBeginCapture", CAPTURE_BEGIN },
		{ "StreamEndCapture", CAPTURE_END },
		{ "GraphInstantiate", CAPTURE_INSTANTIATE },
		{ "GraphInstantiateWithFlags", CAPTURE_INSTANTIATE },
		{ "GraphInstantiateWithParams", CAPTURE_INSTANTIATE },
		{ "GraphLaunch", CAPTURE_LAUNCH },
	};

	for (size_t v = 0; v < sizeof(vendors) / sizeof(*vendors); v++) {
		size_t n = strlen(vendors[v]);

		if (strncmp(name, vendors[v], n) != 0)
			continue;
		for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
			size_t len = strlen(calls[i].call);

			if (strncmp(name + n, calls[i].call, len) == 0 &&
			    (name[n + len] == '\0' || name[n + len] == '_'))
				return calls[i].kind;
		}
	}
	return CAPTURE_UNKNOWN;
}
