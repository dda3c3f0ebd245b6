/* Files that state neither host nor rank: ranks by their names, else devices that they share. */
#include "expect_model.h"
#include "test.h"

#include "profrig/model/sink.h"
#include "profrig/model/warnings.h"

struct file {
	const char *path;
	int32_t rank; /* that it states */
	const char *host;
	uint64_t group;
	const char *device;
	const char *want; /* its device; NULL: as it is */
};

static void file_add(struct sink *s, const struct file *f, int64_t pid)
{
	struct track_def p = TRACK_DEF_INIT, q = TRACK_DEF_INIT;

	s->ops->input(s, f->path, "tef");
	s->ops->current(s)->group = f->group;
	p.kind = TRACK_PROCESS;
	p.pid = pid;
	p.rank = f->rank;
	p.host = f->host;
	q.kind = TRACK_QUEUE;
	q.tid = 7;
	q.device = f->device;
	q.parent = s->ops->track(s, &p);
	s->ops->span(s, &(struct span_def){ .track = s->ops->track(s, &q),
					    .end_ns = 10,
					    .name = sink_puts(s, "k"),
					    .kind = SPAN_KERNEL,
					    .args = STR_NONE });
	s->ops->input_end(s);
}

static const struct files {
	struct file v[4];
	uint64_t warned; /* inputs that share a device */
} cases[] = {
	{ { { "a.json", RANK_NONE, NULL, 0, "gpu0", NULL },
	    { "b.json", RANK_NONE, NULL, 0, "gpu0", NULL } },
	  2 },
	{ { { "d/rank-0.json", RANK_NONE, NULL, 0, "gpu0", "rank0:gpu0" },
	    { "d/rank-1.json", RANK_NONE, NULL, 0, "gpu0", "rank1:gpu0" } },
	  0 },
	/* as profilers write them; the last "rank" counts, folders do not */
	{ { { "rank7/step_rank12.Apr_03.1102.pt.trace.json.gz", RANK_NONE, NULL, 0, "gpu0",
	      "rank12:gpu0" },
	    { "rank7/Rank_3_rank04", RANK_NONE, NULL, 0, "gpu0", "rank4:gpu0" } },
	  0 },
	/* one of them has no rank, or both the same */
	{ { { "rank0.json", RANK_NONE, NULL, 0, "gpu0", NULL },
	    { "other.json", RANK_NONE, NULL, 0, "gpu0", NULL },
	    { "rank1.json", RANK_NONE, NULL, 0, "gpu0", NULL } },
	  3 },
	{ { { "a/rank0.json", RANK_NONE, NULL, 0, "gpu0", NULL },
	    { "b/rank0.json", RANK_NONE, NULL, 0, "gpu0", NULL } },
	  2 },
	/* what a trace says comes first, and its rank is taken */
	{ { { "rank5.json", 0, NULL, 0, "gpu0", "rank0:gpu0" },
	    { "rank6.json", 1, NULL, 0, "gpu0", "rank1:gpu0" } },
	  0 },
	{ { { "x.json", 1, NULL, 0, "gpu0", NULL },
	    { "rank1.json", RANK_NONE, NULL, 0, "gpu0", NULL },
	    { "rank2.json", RANK_NONE, NULL, 0, "gpu0", NULL } },
	  2 },
	{ { { "rank0.json", RANK_NONE, "node1", 0, "gpu0", "node1:gpu0" },
	    { "rank1.json", RANK_NONE, "node2", 0, "gpu0", "node2:gpu0" } },
	  0 },
	/* devices of different numbers; files of one recording; one file */
	{ { { "a.json", RANK_NONE, NULL, 0, "gpu0", NULL },
	    { "b.json", RANK_NONE, NULL, 0, "gpu1", NULL } },
	  0 },
	{ { { "a_kernel.csv", RANK_NONE, NULL, 9, "gpu0", NULL },
	    { "a_copy.csv", RANK_NONE, NULL, 9, "gpu0", NULL } },
	  0 },
	{ { { "rank3.json", RANK_NONE, NULL, 0, "gpu0", NULL } }, 0 },
	/* no numbers of ranks */
	{ { { "rank.json", RANK_NONE, NULL, 0, "gpu0", NULL },
	    { "rank12345678.json", RANK_NONE, NULL, 0, "gpu0", NULL } },
	  2 },
};

TEST(files)
{
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(model_freep) struct model *m = model_new();
		struct sink *s = model_sink(m);
		size_t nr = 0;

		for (; nr < ARRAY_LEN(cases[i].v) && cases[i].v[nr].path; nr++)
			file_add(s, &cases[i].v[nr], 10 + (int64_t)nr);
		model_finish(m);
		for (size_t t = 0; t < m->tracks.nr; t++) {
			const struct file *f = &cases[i].v[m->tracks.v[t].input];
			const char *device = model_str(m, m->tracks.v[t].device);

			if (m->tracks.v[t].kind == TRACK_QUEUE &&
			    strcmp(device, f->want ? f->want : f->device) != 0)
				ROW_FAIL(i, "%s has %s", f->path, device);
		}
		if (warned(m, W_DEVICE_OF_SEVERAL) != cases[i].warned)
			ROW_FAIL(i, "%d share a device", (int)warned(m, W_DEVICE_OF_SEVERAL));
	}
}

/* In containers every process may be the first one. */
TEST(equal_processes)
{
	static const struct file files[] = {
		{ "rank-0.json", RANK_NONE, NULL, 0, "gpu0", NULL },
		{ "rank-1.json", RANK_NONE, NULL, 0, "gpu0", NULL },
		{ "rank-2.json", RANK_NONE, NULL, 0, "gpu0", NULL },
	};
	CLEANUP(model_freep) struct model *m = model_new();
	struct sink *s = model_sink(m);

	for (size_t i = 0; i < ARRAY_LEN(files); i++)
		file_add(s, &files[i], 1);
	model_finish(m);
	assert_int_equal(m->tracks.nr, 6);
	for (size_t i = 0; i < m->tracks.nr; i++)
		assert_int_equal(m->tracks.v[i].rank, m->tracks.v[i].input);
}
