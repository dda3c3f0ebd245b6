/*
 * One file of a small archive is replaced by the bytes after the first one, which says which: 0
 * anchor, 1 global definitions, 2 local definitions, 3 events; 4 to 7 those of an archive that
 * profrig wrote. Whatever is in it, reading ends, and what was read is sound.
 */
#include "converters_private.h"
#include "fuzz.h"
#include "fuzz_profile.h"
#include "readers_private.h"
#include "tests/fixtures/gen/otf2_gen.c"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profrig/base/fs.h"
#include "profrig/model/warnings.h"

enum { FILES = 4, ARCHIVES = 2 };

static char dir[] = "/tmp/profrig-fuzz-otf2-XXXXXX";
static const char *const names[ARCHIVES] = { "others", "ours.otf2" };
static const char *const files[ARCHIVES][FILES] = {
	{ "traces.otf2", "traces.def", "traces/7.def", "traces/7.evt" },
	{ "traces.otf2", "traces.def", "traces/0.def", "traces/0.evt" },
};
static struct archive {
	char *path;
	struct {
		char *data;
		size_t n;
	} sound[FILES];
} archives[ARCHIVES];

static void otf2_must(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "violated: %s\n", what);
	abort();
}

static void events_put(struct otf2_gen *g, OTF2_EvtWriter *w)
{
	OTF2_GlobalDefWriter_WriteParameter(otf2_gen_defs(g), 0, otf2_gen_string(g, "callsite id"),
					    OTF2_PARAMETER_TYPE_UINT64);
	OTF2_EvtWriter_Enter(w, NULL, 10, 0);
	otf2_gen_values(w, 11, 0, 2, (uint64_t[]){ 1, 2 });
	OTF2_EvtWriter_ParameterUnsignedInt(w, NULL, 12, 0, 5);
	OTF2_EvtWriter_MpiSend(w, NULL, 13, 0, 0, 1, 100);
	OTF2_EvtWriter_MpiIrecvRequest(w, NULL, 14, 9);
	OTF2_EvtWriter_MpiIrecv(w, NULL, 15, 0, 0, 1, 100, 9);
	otf2_gen_call(w, 16, 17, 300);
	OTF2_EvtWriter_Leave(w, NULL, 20, 0);
	OTF2_EvtWriter_ProgramEnd(w, NULL, 21, 0);
}

static void archives_remove(void)
{
	fs_remove_tree(dir, NULL);
	for (size_t i = 0; i < ARCHIVES; i++) {
		free(archives[i].path);
		for (size_t k = 0; k < FILES; k++)
			free(archives[i].sound[k].data);
	}
}

static void others_make(const char *path)
{
	struct otf2_gen *g = otf2_gen_open(path, 1000000000, 0, 1700000000000000000);

	otf2_gen_host(g, 0, "n");
	otf2_gen_group(g, 0, "P", OTF2_LOCATION_GROUP_TYPE_PROCESS, 0);
	otf2_gen_region(g, 0, "main", OTF2_REGION_ROLE_FUNCTION, OTF2_PARADIGM_COMPILER);
	otf2_gen_member(g, 0, "a", OTF2_METRIC_ACCUMULATED_START, OTF2_TYPE_UINT64, 0, "#");
	otf2_gen_member(g, 1, "b", OTF2_METRIC_ABSOLUTE_POINT, OTF2_TYPE_UINT64, -3, "W");
	OTF2_GlobalDefWriter_WriteMetricClass(otf2_gen_defs(g), 0, 2, (uint32_t[]){ 0, 1 },
					      OTF2_METRIC_SYNCHRONOUS_STRICT,
					      OTF2_RECORDER_KIND_CPU);
	events_put(g, otf2_gen_location(g, 7, "T", OTF2_LOCATION_TYPE_CPU_THREAD, 0));
	otf2_gen_world(g, (uint64_t[]){ 7 }, 1);
	otf2_gen_clock_offset(g, 7, 3);
	otf2_gen_close(g);
}

static span_id span_put(struct sink *s, track_id t, int64_t start, int64_t end, enum span_kind kind)
{
	return s->ops->span(s, &(struct span_def){ .track = t,
						   .start_ns = start,
						   .end_ns = end,
						   .name = sink_puts(s, "f"),
						   .category = sink_puts(s, "HIP"),
						   .correlation = 3,
						   .args = sink_puts(s, "{}"),
						   .kind = kind });
}

static void ours_make(const char *path)
{
	struct model *m = model_new();
	struct sink *s = model_sink(m);
	struct track_def d = TRACK_DEF_INIT;
	struct convert_job job = { .model = m, .path = path };
	struct convert_result res;
	track_id t, q;
	span_id from;

	s->ops->input(s, "made", "tef");
	s->ops->clock(s);
	d.kind = TRACK_THREAD;
	t = s->ops->track(s, &d);
	d.kind = TRACK_QUEUE;
	d.device = "gpu0";
	q = s->ops->track(s, &d);
	from = span_put(s, t, -5, 20, SPAN_HOST);
	span_put(s, t, -5, 20, SPAN_HOST);
	span_put(s, t, 7, 7, SPAN_INSTANT);
	s->ops->link(s, from, span_put(s, q, 1, 9, SPAN_KERNEL), LINK_LAUNCH);
	s->ops->link(s, from, span_put(s, q, 2, 8, SPAN_COPY), LINK_FLOW);
	s->ops->sample(
		s,
		s->ops->series(
			s, &(struct series_def){ .name = "p", .track = t, .exclusive_sync = true }),
		3, 0.5);
	s->ops->input_end(s);
	model_finish(m);
	otf2_must(converter_otf2.write(&job, &res, NULL) == 0, "an archive can be written");
	free(res.first);
	model_free(m);
}

static void archives_make(void)
{
	otf2_must(mkdtemp(dir) != NULL, "a folder can be made");
	for (size_t i = 0; i < ARCHIVES; i++) {
		archives[i].path = fs_join(dir, names[i]);
		(i ? ours_make : others_make)(archives[i].path);
		for (size_t k = 0; k < FILES; k++) {
			CLEANUP(xfreep) char *path = fs_join(archives[i].path, files[i][k]);

			otf2_must(fs_read(path, 1 << 20, &archives[i].sound[k].data,
					  &archives[i].sound[k].n, NULL) == 0,
				  "the archive is there");
		}
	}
	atexit(archives_remove);
}

static void file_put(const struct archive *a, size_t which, const void *data, size_t n)
{
	CLEANUP(xfreep) char *path = fs_join(a->path, files[a - archives][which]);
	CLEANUP(xfclosep) FILE *f = fopen(path, "wbe");

	otf2_must(f && fwrite(data, 1, n, f) == n, "a file can be written");
}

/* Messages become instants in a model alone, and their times may be out of range. */
static size_t warning_next(const struct model *m, size_t at)
{
	while (at < m->warnings.nr && strcmp(m->warnings.v[at].code, W_TIME_RANGE) == 0)
		at++;
	return at;
}

static void warnings_check(const struct model *a, const struct model *b)
{
	size_t i = warning_next(a, 0), k = warning_next(b, 0);

	for (; i < a->warnings.nr && k < b->warnings.nr;
	     i = warning_next(a, i + 1), k = warning_next(b, k + 1))
		otf2_must(a->warnings.v[i].code == b->warnings.v[k].code &&
				  a->warnings.v[i].count == b->warnings.v[k].count,
			  "both sinks warn of the same");
	otf2_must(i == a->warnings.nr && k == b->warnings.nr, "and as often");
}

/* Through a profile: the same result and the same warnings, and times that add up. */
static void profile_check(const char *path, int want, const struct model *other)
{
	struct read_opts o = { .keep_args = false };
	struct model *m = model_new();
	struct profile *p = profile_new(m, &(struct profile_opts){ .threads = 1 });
	struct err e = ERR_INIT;
	const char *format, *wrong;

	otf2_must(reader_otf2.read(path, model_sink(m), &o, &e) == want,
		  "both sinks read it alike");
	/* a model takes the spans of our own archives in another way */
	format = other->inputs.nr ? other->inputs.v[0].format : NULL;
	if (!format || !strstr(format, "profrig"))
		warnings_check(m, other);
	model_finish(m);
	profile_finish(p);
	wrong = fuzz_profile(p);
	otf2_must(!wrong, wrong);
	profile_free(p);
	model_free(m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct read_opts o = { .keep_args = true };
	struct err e = ERR_INIT;
	const struct archive *a;
	const char *wrong;
	struct model *m;
	size_t which;
	int r;

	if (!archives[0].path)
		archives_make();
	if (n == 0)
		return 0;
	a = &archives[data[0] / FILES % ARCHIVES];
	which = data[0] % FILES;
	file_put(a, which, data + 1, n - 1);
	m = model_new();
	r = reader_otf2.read(a->path, model_sink(m), &o, &e);
	profile_check(a->path, r, m);
	model_finish(m);
	wrong = fuzz_profile_of_model(m);
	otf2_must(!wrong, wrong);
	otf2_must(r <= READ_PARTIAL, "the result is an error, 0 or partial");
	otf2_must(r >= 0 || e.msg[0], "an error has words");
	otf2_must(r != READ_PARTIAL || m->inputs.v[0].partial, "a partial input says so");
	for (size_t i = 0; i < m->spans.nr; i++)
		otf2_must(m->spans.end_ns[i] >= m->spans.start_ns[i] &&
				  m->spans.exclusive_ns[i] >= 0,
			  "spans are ordered");
	for (size_t i = 0; i < m->links.nr; i++)
		otf2_must(m->links.from[i] < m->spans.nr && m->links.to[i] < m->spans.nr,
			  "links join spans");
	model_free(m);
	file_put(a, which, a->sound[which].data, a->sound[which].n);
	return 0;
}
