/*
 * Folded stacks of a whole trace in one file: the call paths of threads with their exclusive time,
 * and work on the queues of devices by its name. Each thread and each queue is a root where there
 * are several, so concurrent times are not added up. Values are ns. The format cannot hold times of
 * events, instants, counters and links.
 */
#include "converters_private.h"
#include "folded_lines.h"

#include <stdlib.h>
#include <string.h>

#include "profrig/base/u64map.h"
#include "profrig/base/vec.h"
#include "profrig/base/xalloc.h"

struct sum {
	str_id name;
	int64_t ns;
};

static void stack_row_add(struct table *to, const char *track, const char *path, int64_t ns)
{
	table_str(to, track);
	table_str(to, path);
	table_i64(to, ns);
	table_row(to);
}

static void add_host(const struct table *callpaths, struct table *to)
{
	int track = table_find_col(callpaths, "track"), path = table_find_col(callpaths, "path");
	int ns = table_find_col(callpaths, "exclusive_ns");

	for (size_t i = 0; i < table_rows(callpaths); i++)
		stack_row_add(to, table_get_str(callpaths, i, (size_t)track),
			      table_get_str(callpaths, i, (size_t)path),
			      table_get_i64(callpaths, i, (size_t)ns));
}

static void add_name(const struct model *m, const struct sum *sum, const char *track,
		     struct table *to)
{
	CLEANUP(xfreep) char *frame = xstrdup(model_str(m, sum->name));

	for (char *c = frame; *c; c++)
		*c = *c == ';' ? ':' : *c;
	stack_row_add(to, track, frame, sum->ns);
}

/* What ran on a queue, by name: such stacks have one frame. */
static void add_queue(const struct model *m, const struct track *t, struct table *to)
{
	CLEANUP(u64map_release) struct u64map row_of = U64MAP_INIT;
	const char *device = model_str(m, t->device), *name = model_str(m, t->name);
	CLEANUP(xfreep)
	char *track = strstr(name, device) ? xstrdup(name) : xasprintf("%s %s", device, name);
	VEC(struct sum) sums = VEC_INIT;

	for (uint64_t i = t->first_span; i < t->first_span + t->spans; i++) {
		int64_t ns = m->spans.end_ns[i] - m->spans.start_ns[i];
		uint32_t *at = u64map_at(&row_of, m->spans.name[i]);

		if (*at == U64MAP_NONE) {
			*at = (uint32_t)sums.nr;
			VEC_PUSH(&sums, (struct sum){ m->spans.name[i], 0 });
		}
		if (__builtin_add_overflow(sums.v[*at].ns, ns, &sums.v[*at].ns))
			sums.v[*at].ns = INT64_MAX;
	}
	for (size_t i = 0; i < sums.nr; i++)
		add_name(m, &sums.v[i], track, to);
	VEC_RELEASE(&sums);
}

static struct table *stacks_of(const struct convert_job *job)
{
	struct table *t = table_new("stacks");

	table_col(t, "track", TABLE_STR, NULL);
	table_col(t, "path", TABLE_STR, NULL);
	table_col(t, "value", TABLE_I64, "ns");
	if (job->callpaths)
		add_host(job->callpaths, t);
	for (size_t i = 0; i < job->model->tracks.nr; i++)
		if (job->model->tracks.v[i].kind == TRACK_QUEUE)
			add_queue(job->model, &job->model->tracks.v[i], t);
	return t;
}

static void count_left_out(const struct model *m, struct convert_result *ret)
{
	for (size_t i = 0; i < m->spans.nr; i++) {
		enum track_kind kind = m->tracks.v[m->spans.track[i]].kind;

		ret->spans_out += m->spans.kind[i] == SPAN_INSTANT ||
				  (kind != TRACK_THREAD && kind != TRACK_QUEUE);
	}
	for (size_t i = 0; i < m->series.nr; i++)
		ret->samples_out += m->series.v[i].t_ns.nr;
	ret->links_out = m->links.nr;
}

static int write_stacks(const struct convert_job *job, struct convert_result *ret, struct err *err)
{
	CLEANUP(text_out_drop) struct text_out out = TEXT_OUT_INIT;
	CLEANUP(table_freep) struct table *stacks = stacks_of(job);
	int r = text_out_open(job->path, &out, err);

	if (r < 0)
		return r;
	folded_lines(stacks, &out);
	r = text_out_commit(&out, err);
	if (r < 0)
		return r;
	ret->files = 1;
	ret->bytes = out.bytes;
	ret->first = xstrdup(job->path);
	count_left_out(job->model, ret);
	return 0;
}

static const char *const suffixes[] = { ".folded.gz", ".folded.zst", ".folded", NULL };

const struct converter converter_folded = {
	.name = "folded",
	.about = "folded stacks with their time in ns, for flame graph tools",
	.suffixes = suffixes,
	.wants_paths = true,
	.write = write_stacks,
};
