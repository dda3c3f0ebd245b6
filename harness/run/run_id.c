#include "run_priv.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "profrig/base/fs.h"
#include "profrig/base/redact.h"

#define MAX_MODEL 64

/* The id names a directory, a container and a file: only letters, digits, '_', '.' and '-'. */
static void safe_name(const char *model, char buf[MAX_MODEL + 1])
{
	size_t n = 0;

	for (; model && *model && n < MAX_MODEL; model++)
		buf[n++] = isalnum((unsigned char)*model) || strchr("_.", *model) ? *model : '-';
	if (n == 0)
		buf[n++] = '-';
	buf[n] = '\0';
}

static uint32_t random_bits(void)
{
	uint32_t v;

	if (getrandom(&v, sizeof(v), GRND_NONBLOCK) == (ssize_t)sizeof(v))
		return v;
	return (uint32_t)(clock_monotonic_ns() ^ ((uint64_t)getpid() << 12));
}

char *run_new_id(const char *model)
{
	char utc[32], name[MAX_MODEL + 1];
	CLEANUP(xfreep) char *shown = redact_str(xstrdup(model ? model : ""));

	safe_name(shown, name);
	return xasprintf("%s-%s-%06x", clock_utc_compact(clock_realtime_ns(), utc), name,
			 random_bits() & 0xffffffu);
}

char *run_lib_dir(void)
{
	CLEANUP(xfreep) char *self = fs_self_dir();
	CLEANUP(xfreep) char *agent = fs_join(self, "profrig-init");
	CLEANUP(xfreep) char *installed = fs_join(self, "../lib/profrig");

	return fs_abs(access(agent, X_OK) == 0 ? self : installed);
}
