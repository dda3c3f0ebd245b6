/*
 * Recordings for the sampler `replay`: whatever the bytes are, opening ends, and what opened can be
 * played to its end, also in a loop.
 */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "profrig/base/xalloc.h"
#include "profrig/sampler/sampler.h"

#define READS 200

static void recording_play(const char *path, const char *loop)
{
	struct sampler_option options[] = { { (char[]){ "file" }, xstrdup(path) },
					    { (char[]){ "loop" }, xstrdup(loop) },
					    { (char[]){ "speed" }, (char[]){ "1e6" } } };
	struct sampler_opts o = { .options = { options, ARRAY_LEN(options), 0 } };
	const struct sampler *s = sampler_find("replay");
	const struct sampler_device *d;
	struct sampler_state *st;
	const char *reason;
	double v[SAMPLER_MAX_SERIES];

	if (s->open(&o, &st, NULL) == 0) {
		size_t nr = s->devices(st, &d);

		if (nr == 0)
			abort();
		for (int i = 0; i < READS; i++)
			if (s->read(st, (size_t)i % nr, v, &reason) < 0)
				abort();
		s->close(st);
	}
	free(options[0].value);
	free(options[1].value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	int fd = memfd_create("recording", MFD_CLOEXEC);
	CLEANUP(xfreep) char *path = xasprintf("/proc/self/fd/%d", fd);

	if (fd < 0 || write(fd, data, n) != (ssize_t)n)
		abort();
	recording_play(path, "no");
	recording_play(path, "yes");
	close(fd);
	return 0;
}
