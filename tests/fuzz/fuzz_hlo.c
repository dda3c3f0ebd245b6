/* A dump of a compiler as text, as a proto, or in a profile; then its collectives and sources. */
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "profrig/hlo/hlo.h"

static void sources_ask(const struct hlo_programs *p, const struct hlo_module *m,
			const struct hlo_instruction *i)
{
	struct intern *texts = intern_new();
	struct hlo_paths paths = { VEC_INIT };
	struct hlo_op op = { intern_str(p->texts, m->name), intern_str(p->texts, i->name), m->id };

	if (hlo_sources(p, &op, texts, &paths) == HLO_SOURCE_UNKNOWN && paths.v.nr > 0)
		abort();
	if (paths.v.nr > HLO_SOURCES_MAX)
		abort();
	VEC_RELEASE(&paths.v);
	intern_free(texts);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct hlo_programs *p = hlo_programs_new();
	struct err e = ERR_INIT;
	bool several;
	char path[64];
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	if (fd < 0 || write(fd, data, n) != (ssize_t)n)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (hlo_read(p, path, &e) < 0 && !e.msg[0])
		abort();
	hlo_read_space(p, path, NULL);
	for (size_t k = 0; k < p->v.nr; k++)
		for (size_t i = 0; i < p->v.v[k].v.nr && i < 1000; i++) {
			hlo_collective(p, &p->v.v[k], &p->v.v[k].v.v[i], &several);
			if (i < 50)
				sources_ask(p, &p->v.v[k], &p->v.v[k].v.v[i]);
		}
	hlo_programs_free(p);
	close(fd);
	return 0;
}
