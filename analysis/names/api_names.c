#include "profrig/names/api_names.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

/* A name without its endings. */
struct stem {
	const char *s;
	size_t n;
};

static bool is_ending(const char *s, size_t n)
{
	if (n == 5 && (memcmp(s, "_ptsz", 5) == 0 || memcmp(s, "_ptds", 5) == 0))
		return true;
	if (n < 3 || s[0] != '_' || s[1] != 'v')
		return false;
	for (size_t i = 2; i < n; i++)
		if (s[i] < '0' || s[i] > '9')
			return false;
	return true;
}

static struct stem stem_of(const char *name)
{
	struct stem st = { name, strlen(name) };
	size_t at = st.n;

	while (at-- > 0)
		if (name[at] == '_') {
			if (!is_ending(name + at, st.n - at))
				break;
			st.n = at;
		}
	return st;
}

static bool is_named(struct stem st, const char *name)
{
	return strlen(name) == st.n && memcmp(st.s, name, st.n) == 0;
}

static bool has_part(struct stem st, const char *part)
{
	return memmem(st.s, st.n, part, strlen(part)) != NULL;
}

/* Length of "cuda", "cu", "hip" or "hsa" before a capital letter or '_'; 0: another name. */
static size_t vendor_length(struct stem st)
{
	static const char *const vendors[] = { "cuda", "cu", "hip", "hsa" };

	for (size_t i = 0; i < sizeof(vendors) / sizeof(*vendors); i++) {
		size_t n = strlen(vendors[i]);

		if (st.n > n && memcmp(st.s, vendors[i], n) == 0 &&
		    ((st.s[n] >= 'A' && st.s[n] <= 'Z') || st.s[n] == '_'))
			return n;
	}
	return 0;
}

static bool is_sync(struct stem st)
{
	static const char *const parts[] = { "DeviceSynchronize", "StreamSynchronize",
					     "CtxSynchronize", "ContextSynchronize",
					     "EventSynchronize" };

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		if (has_part(st, parts[i]))
			return true;
	return is_named(st, "cudaMemcpy") || is_named(st, "hipMemcpy") ||
	       is_named(st, "hipMemcpyWithStream");
}

/* Of the runtimes: cuMemAlloc and the like are rare, and mostly inside of these. */
static bool is_alloc(struct stem st, size_t vendor)
{
	static const char *const verbs[] = { "Malloc", "Free", "Host", "ExtMalloc" };

	for (size_t i = 0; vendor >= 3 && i < sizeof(verbs) / sizeof(*verbs); i++) {
		size_t n = strlen(verbs[i]);

		if (st.n >= vendor + n && memcmp(st.s + vendor, verbs[i], n) == 0)
			return true;
	}
	return false;
}

static bool is_module(struct stem st)
{
	return has_part(st, "ModuleLoad") || has_part(st, "LibraryLoad") ||
	       has_part(st, "ModuleGetFunction") || has_part(st, "FuncGetAttributes");
}

enum api_class api_class(const char *name)
{
	struct stem st = stem_of(name);
	size_t vendor = vendor_length(st);

	if (!vendor)
		return API_NONE;
	if (is_sync(st))
		return API_SYNC;
	if (is_alloc(st, vendor))
		return API_ALLOC;
	if (is_module(st))
		return API_MODULE;
	if (st.n >= 11 && memcmp(st.s + st.n - 11, "GraphLaunch", 11) == 0)
		return API_GRAPH_LAUNCH;
	return has_part(st, "Memcpy") ? API_COPY : API_OTHER;
}

bool api_category(const char *category)
{
	static const char *const words[] = { "cuda_runtime", "cuda_driver", "hip_runtime",
					     "hip_api",      "hsa_api",     "Runtime" };

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strcasecmp(category, words[i]) == 0)
			return true;
	return false;
}

bool marker_category(const char *category)
{
	static const char *const words[] = { "UserMarker", "user_annotation", "nvtx", "rocTX" };

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strcmp(category, words[i]) == 0)
			return true;
	return strncmp(category, "nvtx:", 5) == 0 || strncmp(category, "MARKER", 6) == 0;
}

bool name_loads_data(const char *name)
{
	return strstr(name, "DataLoader") || strstr(name, "pin_memory") ||
	       strstr(name, "dataload") || strstr(name, "data_load");
}

/* What CUPTI counts as overhead and CUDA does without a tool, too. */
static bool is_of_cuda(const char *name)
{
	static const char *const names[] = { "Runtime Triggered Module Loading",
					     "Lazy Function Loading", "Command Buffer Full",
					     "Driver Compiler", "Unknown" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strcasecmp(name, names[i]) == 0)
			return true;
	return false;
}

bool name_is_of_tool(const char *name, const char *category)
{
	static const char *const fronts[] = { "cupti", "roctracer_", "rocprofiler_",
					      "torch/profiler/", "torch/autograd/profiler" };

	if (strcmp(category, "overhead") == 0)
		return !is_of_cuda(name);
	for (size_t i = 0; i < sizeof(fronts) / sizeof(*fronts); i++)
		if (strncmp(name, fronts[i], strlen(fronts[i])) == 0)
			return true;
	return false;
}

bool api_launches_kernel(const char *name)
{
	struct stem st = stem_of(name);

	return vendor_length(st) && has_part(st, "Launch") && has_part(st, "Kernel");
}

bool api_queues_work(const char *name)
{
	struct stem st = stem_of(name);

	return api_launches_kernel(name) || api_class(name) == API_COPY ||
	       (vendor_length(st) && has_part(st, "Memset"));
}
