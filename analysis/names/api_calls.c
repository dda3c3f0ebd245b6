#include "profrig/names/api_calls.h"

#include <stdbool.h>
#include <string.h>

#include "profrig/base/text.h"

static size_t digits_before(const char *name, size_t n)
{
	size_t k = 0;

	while (k < n && name[n - 1 - k] >= '0' && name[n - 1 - k] <= '9')
		k++;
	return k;
}

/* The length of a name of n bytes without its last suffix. */
static size_t suffix_cut(const char *name, size_t n)
{
	size_t digits = digits_before(name, n);

	if (n > 5 &&
	    (memcmp(name + n - 5, "_ptsz", 5) == 0 || memcmp(name + n - 5, "_ptds", 5) == 0))
		return n - 5;
	if (digits && n > digits + 2 && memcmp(name + n - digits - 2, "_v", 2) == 0)
		return n - digits - 2;
	if (digits == 4 && n > 5 && name[n - 5] == 'R')
		return n - 5;
	return n;
}

size_t api_name_base(const char *name)
{
	size_t n = strlen(name), cut;

	while ((cut = suffix_cut(name, n)) < n)
		n = cut;
	return n;
}

/* The name behind cuda, hip or cu, which begins with a capital letter; NULL: it is no API's. */
static const char *behind_api(const char *name)
{
	static const char *const apis[] = { "cuda", "hip", "cu" };

	for (size_t i = 0; i < 3; i++) {
		size_t n = strlen(apis[i]);

		if (strncmp(name, apis[i], n) == 0 && name[n] >= 'A' && name[n] <= 'Z')
			return name + n;
	}
	return NULL;
}

static bool is_any(const char *name, size_t n, const char *const *words)
{
	for (; *words; words++)
		if (strlen(*words) == n && memcmp(name, *words, n) == 0)
			return true;
	return false;
}

static bool begins_any(const char *name, const char *const *words)
{
	for (; *words; words++)
		if (strncmp(name, *words, strlen(*words)) == 0)
			return true;
	return false;
}

static bool has_any(const char *name, const char *const *words)
{
	for (; *words; words++)
		if (strstr(name, *words))
			return true;
	return false;
}

enum api_call api_call_kind(const char *name)
{
	static const char *const syncs[] = { "DeviceSynchronize", "StreamSynchronize",
					     "CtxSynchronize",    "ContextSynchronize",
					     "EventSynchronize",  NULL };
	static const char *const copies[] = { "Memcpy", "MemcpyWithStream", NULL };
	static const char *const allocs[] = { "Malloc", "Free", "Host", "ExtMalloc", NULL };
	static const char *const loads[] = { "ModuleLoad", "LibraryLoad", "ModuleGetFunction",
					     "FuncGetAttributes", NULL };
	const char *rest = behind_api(name);
	bool driver = rest == name + 2;
	size_t n;

	if (!rest)
		return strncmp(name, "hsa_", 4) == 0 ? API_OTHER : API_NONE;
	n = api_name_base(name) - (size_t)(rest - name);
	if (is_any(rest, n, syncs) || (!driver && is_any(rest, n, copies)))
		return API_SYNC;
	if (!driver && begins_any(rest, allocs))
		return API_ALLOC;
	if (has_any(rest, loads))
		return API_MODULE_LOAD;
	if (n >= 11 && memcmp(rest + n - 11, "GraphLaunch", 11) == 0)
		return API_GRAPH_LAUNCH;
	return API_OTHER;
}
