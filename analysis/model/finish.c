#include "model_private.h"
#include "op_range.h"
#include "program_ranges.h"
#include "program_runs.h"

#include <assert.h>
#include <inttypes.h>

#include "profrig/base/strbuf.h"
#include "profrig/model/name_map.h"
#include "profrig/names/xla_range.h"

/* Children inherit facts of their parents. Parents may be defined after their children, so this
 * walks up from each. */
static void tracks_inherit(struct model *m)
{
	for (size_t i = 0; i < m->tracks.nr; i++) {
		struct track *t = &m->tracks.v[i];
		track_id up = t->parent;

		for (int level = 0; level < 8 && up < m->tracks.nr; level++) {
			const struct track *above = &m->tracks.v[up];

			if (!t->host)
				t->host = above->host;
			if (t->pid == PID_NONE)
				t->pid = above->pid;
			if (t->rank == RANK_NONE)
				t->rank = above->rank;
			if (!t->device)
				t->device = above->device;
			up = above->parent;
		}
	}
}

static void track_name_make(struct model *m, size_t i)
{
	static const char *const words[] = { "process", "thread", "device", "queue", "counters" };
	struct track *t = &m->tracks.v[i];
	struct strbuf sb = STRBUF_INIT;

	if (t->kind == TRACK_DEVICE && t->device)
		strbuf_addstr(&sb, model_str(m, t->device));
	else if (t->kind == TRACK_QUEUE && t->device)
		strbuf_addf(&sb, "%s queue", model_str(m, t->device));
	else
		strbuf_addstr(&sb, words[t->kind]);
	if (t->kind == TRACK_PROCESS && t->pid != PID_NONE)
		strbuf_addf(&sb, " %" PRId64, t->pid);
	else if (t->kind != TRACK_DEVICE && t->tid != PID_NONE)
		strbuf_addf(&sb, " %" PRId64, t->tid);
	else if (t->kind != TRACK_DEVICE || !t->device)
		strbuf_addf(&sb, " #%zu", i);
	t->name = intern_put(m->strings, sb.buf, sb.len);
	strbuf_release(&sb);
}

static bool has_calls(const struct model *m, const struct track *t)
{
	for (uint64_t i = t->first_span; i < t->first_span + t->spans; i++)
		if (m->spans.kind[i] == SPAN_HOST)
			return true;
	return false;
}

/* Async ranges name phases of a program, not what runs: where there are calls, only those count. */
static void beside_set(struct model *m)
{
	CLEANUP(xfreep) bool *calls = xcalloc(m->tracks.nr + 1, sizeof(*calls));

	for (size_t i = 0; i < m->tracks.nr; i++) {
		struct track *t = &m->tracks.v[i];
		track_id process = model_process_of(m, (track_id)i);

		if (t->kind != TRACK_THREAD || t->spans == 0)
			continue;
		t->beside = !has_calls(m, t);
		if (!t->beside && process != TRACK_NONE)
			calls[process] = true;
	}
	for (size_t i = 0; i < m->tracks.nr; i++) {
		track_id process = model_process_of(m, (track_id)i);

		if (process == TRACK_NONE || !calls[process])
			m->tracks.v[i].beside = false;
	}
}

static void range_set(struct model *m)
{
	int64_t first = INT64_MAX, last = INT64_MIN;

	for (size_t i = 0; i < m->inputs.nr; i++) {
		const struct input *in = &m->inputs.v[i];

		if (in->first_ns > in->last_ns)
			continue;
		if (time_shift(in->first_ns, in->shift_ns) < first)
			first = time_shift(in->first_ns, in->shift_ns);
		if (time_shift(in->last_ns, in->shift_ns) > last)
			last = time_shift(in->last_ns, in->shift_ns);
	}
	m->first_ns = first <= last ? first : 0;
	m->last_ns = first <= last ? last : 0;
}

void model_set_workers(struct model *m, struct workers *w)
{
	m->priv->workers = w;
}

void model_run(struct model *m, size_t n, void (*job)(void *ctx, size_t i, unsigned worker),
	       void *ctx)
{
	if (m->priv->workers) {
		workers_run(m->priv->workers, n, job, ctx);
		return;
	}
	for (size_t i = 0; i < n; i++)
		job(ctx, i, 0);
}

void model_settle(struct model *m)
{
	tracks_inherit(m);
	device_ids_qualify(m);
	for (size_t i = 0; i < m->tracks.nr; i++) {
		if (!m->tracks.v[i].name)
			track_name_make(m, i);
	}
	series_sort(m);
}

/* Threads that XLA names, by the device that they launch for. */
static void launchers_name(struct model *m)
{
	for (size_t i = 0; i < m->tracks.nr; i++) {
		struct track *t = &m->tracks.v[i];
		CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;

		if (t->kind == TRACK_THREAD &&
		    xla_launcher_name(model_str(m, t->name), intern_len(m->strings, t->name),
				      &text))
			t->name = intern_put(m->strings, text.buf, text.len);
	}
}

/* Names of calls and threads in their normal form; work on devices keeps its own. */
static void names_settle(struct model *m)
{
	struct span_columns *c = &m->spans;

	if (m->names)
		launchers_name(m);
	name_map_update(m);
	if (!m->names || !m->names->any)
		return;
	for (size_t i = 0; i < c->nr; i++)
		if (c->kind[i] == SPAN_HOST || c->kind[i] == SPAN_ANNOTATION ||
		    c->kind[i] == SPAN_INSTANT)
			c->name[i] = name_map_use(m, c->name[i]);
}

static void finish(struct model *m, bool nested)
{
	assert(!m->finished);
	sink_input_close(m->priv);
	timebase_settle(m);
	file_ranks_take(m);
	model_settle(m);
	facts_of_ranges(m);
	facts_of_programs(m);
	names_settle(m);
	spans_sort(m);
	facts_sort(m);
	program_runs_number(m);
	shared_devices_warn(m);
	beside_set(m);
	pieces_find(m, true);
	launch_links(m);
	range_set(m);
	if (nested)
		model_nest_times(m);
	spares_release(m);
	m->finished = true;
}

void model_finish(struct model *m)
{
	finish(m, true);
}

void model_finish_flat(struct model *m)
{
	finish(m, false);
}
