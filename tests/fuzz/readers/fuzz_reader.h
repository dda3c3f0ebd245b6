/* A fuzz entry for a reader: the bytes as a file, read into a model that is then finished. */
#ifndef TESTS_FUZZ_READER_H
#define TESTS_FUZZ_READER_H

#include "fuzz.h"
#include "fuzz_profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "profrig/readers/reader.h"

static inline void fuzz_require(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "violated: %s\n", what);
	abort();
}

static inline int fuzz_reader(const char *name, const uint8_t *data, size_t n)
{
	const struct reader *rd = reader_find(name);
	struct read_opts o = { .keep_args = n % 2, .keep_shapes = true, .facts = true };
	struct err e = ERR_INIT;
	const char *wrong;
	struct model *m;
	char path[64];
	int fd = memfd_create("fuzz", MFD_CLOEXEC), r;

	/* now and then as a dialect that it is not */
	for (size_t i = 0; rd->dialects && rd->dialects[i]; i++)
		if (n / 2 % 16 == i)
			o.dialect = rd->dialects[i];
	if (fd < 0 || write(fd, data, n) != (ssize_t)n)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	m = model_new();
	r = rd->read(path, model_sink(m), &o, &e);
	model_finish(m);
	wrong = fuzz_profile_of_model(m);
	fuzz_require(!wrong, wrong);
	fuzz_require(r <= READ_PARTIAL, "the result is an error, 0 or partial");
	fuzz_require(r >= 0 || (e.code == -r && e.msg[0]), "an error has words");
	for (size_t i = 0; i < m->spans.nr; i++)
		fuzz_require(m->spans.end_ns[i] >= m->spans.start_ns[i] &&
				     m->spans.track[i] < m->tracks.nr,
			     "spans are ordered and on tracks");
	for (size_t i = 0; i < m->links.nr; i++)
		fuzz_require(m->links.from[i] < m->spans.nr && m->links.to[i] < m->spans.nr,
			     "links join spans");
	model_free(m);
	close(fd);
	return 0;
}

#endif
