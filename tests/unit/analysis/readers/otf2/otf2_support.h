/*
 * What the tests of the OTF2 reader share: a folder per test, reading an archive into a model,
 * looking things up in it by name.
 */
#ifndef OTF2_SUPPORT_H
#define OTF2_SUPPORT_H

#include "otf2_private.h"
#include "readers_private.h"
#include "warned.h"

#include <inttypes.h>

#include "profrig/model/warnings.h"

struct place {
	char dir[64];     /* of the test, removed afterwards */
	char archive[80]; /* dir/a */
};

static inline int place_make(void **state)
{
	struct place *p = xcalloc(1, sizeof(*p));

	snprintf(p->dir, sizeof(p->dir), "/tmp/profrig-otf2-XXXXXX");
	if (!mkdtemp(p->dir))
		return -1;
	snprintf(p->archive, sizeof(p->archive), "%s/a", p->dir);
	*state = p;
	return 0;
}

static inline int place_remove(void **state)
{
	struct place *p = *state;

	fs_remove_tree(p->dir, NULL);
	free(p);
	return 0;
}

static inline struct model *read_archive(const char *path, int want, bool args)
{
	struct model *m = model_new();
	struct read_opts o = { .keep_args = args };
	struct err err = ERR_INIT;
	int r = reader_otf2.read(path, model_sink(m), &o, &err);

	if (r != want)
		fail_msg("%s: read returned %d (%s), not %d", path, r, err.msg, want);
	if (r < 0)
		assert_true(err.msg[0]);
	model_finish(m);
	if (r >= 0)
		assert_int_equal(m->inputs.v[0].partial, want == READ_PARTIAL);
	return m;
}

static inline int64_t fact(const struct model *m, const char *key)
{
	const struct input *in = &m->inputs.v[0];

	for (size_t i = 0; i < in->facts.nr; i++) {
		if (strcmp(in->facts.v[i].key, key) == 0)
			return in->facts.v[i].value;
	}
	return 0;
}

static inline const struct track *track_named(const struct model *m, const char *name)
{
	for (size_t i = 0; i < m->tracks.nr; i++) {
		if (strcmp(model_str(m, m->tracks.v[i].name), name) == 0)
			return &m->tracks.v[i];
	}
	fail_msg("no track '%s'", name);
	abort();
}

static inline const struct series *series_named(const struct model *m, const char *name,
						const char *track)
{
	for (size_t i = 0; i < m->series.nr; i++) {
		const struct series *s = &m->series.v[i];

		if (strcmp(model_str(m, s->name), name) == 0 &&
		    (!track || strcmp(model_str(m, m->tracks.v[s->track].name), track) == 0))
			return s;
	}
	fail_msg("no series '%s'", name);
	abort();
}

static inline size_t span_named(const struct model *m, const char *name)
{
	for (size_t i = 0; i < m->spans.nr; i++) {
		if (strcmp(model_str(m, m->spans.name[i]), name) == 0)
			return i;
	}
	fail_msg("no span '%s'", name);
	abort();
}

static inline const char *name_of(const struct model *m, uint64_t span)
{
	return model_str(m, m->spans.name[span]);
}

#define IN_PLACE(f) TEST_OF(f, struct place *p, place_make, place_remove)

#endif
