/*
 * What the tests of the OTF2 reader share: a folder per test, reading an archive into a model,
 * looking things up in it by name.
 */
#ifndef OTF2_SUPPORT_H
#define OTF2_SUPPORT_H

#include "expect_model.h"
#include "otf2_private.h"
#include "readers_private.h"

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

#define IN_PLACE(f) TEST_OF(f, struct place *p, place_make, place_remove)
/* A test whose body writes the simple archive g, with w for its events (otf2_gen.h). */
#define IN_ARCHIVE(f) \
	static void f##_with(struct place *, struct otf2_gen *, OTF2_EvtWriter *); \
	IN_PLACE(f) \
	{ \
		struct otf2_gen *g; \
		OTF2_EvtWriter *w = otf2_gen_simple(&g, p->archive, 1000000000); \
\
		f##_with(p, g, w); \
	} \
	static void f##_with(struct place *p, struct otf2_gen *g, OTF2_EvtWriter *w UNUSED)
#define close_and_read(p, g, want) (otf2_gen_close(g), read_archive((p)->archive, (want), false))

#endif
