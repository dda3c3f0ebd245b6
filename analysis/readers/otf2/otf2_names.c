#include "otf2_names.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

#include "profrig/base/num.h"
#include "profrig/base/xalloc.h"

/* The digits at s as a number below 2^31, -1 when there are none or too many. */
static int64_t digits_at(const char *s)
{
	size_t n = strspn(s, "0123456789");
	int64_t v;

	return n > 0 && n < 10 && num_i64(s, n, &v) == 0 ? v : -1;
}

static int64_t digits_at_end(const char *s)
{
	size_t at = strlen(s);

	while (at > 0 && isdigit((unsigned char)s[at - 1]))
		at--;
	return digits_at(s + at);
}

int64_t otf2_name_counter_device(const char *name)
{
	const char *at = strstr(name, "device=");

	return at ? digits_at(at + strlen("device=")) : -1;
}

int64_t otf2_name_device(const char *name)
{
	int64_t v = otf2_name_counter_device(name);
	const char *bracket = strchr(name, '[');

	if (v < 0 && bracket)
		v = digits_at(bracket + 1);
	return v >= 0 ? v : digits_at_end(name);
}

int64_t otf2_name_stream(const char *name)
{
	const char *bracket = strchr(name, '[');
	const char *colon = bracket ? strchr(bracket, ':') : NULL;

	return colon ? digits_at(colon + 1) : digits_at_end(name);
}

static int has_prefix(const char *name, const char *const *prefixes, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		if (strncasecmp(name, prefixes[i], strlen(prefixes[i])) == 0)
			return 1;
	}
	return 0;
}

/* Whole words of the runtimes, so that a user's own "copy_kernel" stays a kernel. */
int otf2_name_is_copy(const char *name)
{
	static const char *const prefixes[] = {
		"hipMemcpy",         "cudaMemcpy", "cuMemcpy",     "memcpy",
		"__amd_rocclr_copy", "CopyHostTo", "CopyDeviceTo",
	};

	return has_prefix(name, prefixes, ARRAY_LEN(prefixes));
}

int otf2_name_is_fill(const char *name)
{
	static const char *const prefixes[] = {
		"hipMemset", "cudaMemset", "cuMemset", "memset", "__amd_rocclr_fill",
	};

	return has_prefix(name, prefixes, ARRAY_LEN(prefixes));
}
