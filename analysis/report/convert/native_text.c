#include "native_text.h"

#include <inttypes.h>
#include <string.h>
#include <xxhash.h>

#include "profrig/base/json_out.h"
#include "profrig/base/num.h"
#include "profrig/base/u64map.h"
#include "profrig/base/xalloc.h"
#include "profrig/model/replay.h"

static uint64_t numbers_key(const struct track *t)
{
	uint64_t v[5] = { t->kind, t->host, (uint64_t)t->pid, (uint64_t)t->tid,
			  t->kind == TRACK_QUEUE || t->kind == TRACK_DEVICE ? t->device : 0 };

	return XXH3_64bits(v, sizeof(v));
}

static bool has_pid_of_parent(const struct model *m, const struct track *t)
{
	return t->parent != TRACK_NONE && m->tracks.v[t->parent].pid == t->pid;
}

static bool has_numbers(const struct track *t)
{
	return t->kind != TRACK_PROCESS && t->pid != PID_NONE && t->tid != PID_NONE;
}

static void inherited_set(const struct model *m, struct native_order *o)
{
	CLEANUP(u64map_release) struct u64map count = U64MAP_INIT;

	o->pid_inherited = xcalloc(o->nr + 1, sizeof(*o->pid_inherited));
	for (size_t i = 0; i < o->nr; i++)
		if (has_numbers(&m->tracks.v[i])) {
			uint32_t *at = u64map_at(&count, numbers_key(&m->tracks.v[i]));

			*at = *at == U64MAP_NONE ? 1 : 2;
		}
	for (size_t i = 0; i < o->nr; i++) {
		const struct track *t = &m->tracks.v[i];

		o->pid_inherited[i] = has_numbers(t) && has_pid_of_parent(m, t) &&
				      u64map_get(&count, numbers_key(t)) > 1;
	}
}

void native_order_init(const struct model *m, struct native_order *ret)
{
	*ret = (struct native_order){ .nr = m->tracks.nr };
	ret->at = xreallocarray(NULL, ret->nr + 1, sizeof(*ret->at));
	ret->number_of = xreallocarray(NULL, ret->nr + 1, sizeof(*ret->number_of));
	for (size_t i = 0, n = 0, turn = 0; turn < 2; turn++)
		for (i = 0; i < m->tracks.nr; i++) {
			enum track_kind kind = m->tracks.v[i].kind;
			bool above = kind == TRACK_PROCESS || kind == TRACK_DEVICE;

			if (above != (turn == 0))
				continue;
			ret->at[n] = (track_id)i;
			ret->number_of[i] = (uint32_t)n++;
		}
	inherited_set(m, ret);
}

void native_order_release(struct native_order *o)
{
	free(o->pid_inherited);
	free(o->at);
	free(o->number_of);
}

const char *native_span_kind_word(enum span_kind kind)
{
	static const char *const words[] = { "host", "kernel",     "copy",
					     "fill", "annotation", "instant" };

	return words[kind];
}

const char *native_link_kind_word(enum link_kind kind)
{
	static const char *const words[] = { "launch", "flow", "stack" };

	return words[kind];
}

/* ---- objects, member by member; default values are left out ---- */

static void put_key(struct strbuf *to, const char *key)
{
	if (to->buf[to->len - 1] != '{')
		strbuf_addch(to, ',');
	strbuf_addf(to, "\"%s\":", key);
}

static void put_text(struct strbuf *to, const char *key, const struct model *m, str_id id)
{
	if (id == STR_NONE || !intern_len(m->strings, id))
		return;
	put_key(to, key);
	json_quote(to, model_str(m, id), intern_len(m->strings, id));
}

static void put_word(struct strbuf *to, const char *key, const char *word)
{
	put_key(to, key);
	strbuf_addf(to, "\"%s\"", word);
}

static void put_number(struct strbuf *to, const char *key, int64_t v)
{
	put_key(to, key);
	strbuf_addf(to, "%" PRId64, v);
}

static void put_truth(struct strbuf *to, const char *key, bool v)
{
	if (!v)
		return;
	put_key(to, key);
	strbuf_addstr(to, "true");
}

uint64_t native_group(const struct model *m)
{
	uint64_t v[4] = { (uint64_t)m->first_ns, (uint64_t)m->last_ns, m->spans.nr, m->series.nr };
	const struct input *in = m->inputs.nr ? &m->inputs.v[0] : NULL;

	uint64_t group = in ? in->group : 0;

	if (!group)
		group = XXH3_64bits_withSeed(v, sizeof(v),
					     in ? XXH3_64bits(in->path, strlen(in->path)) : 0);
	/* JSON parsers count to here */
	return (group & INT64_MAX) | 1;
}

void native_file_text(const struct model *m, int64_t base_ns, struct strbuf *to)
{
	static const char *const clocks[] = { "own", "CLOCK_MONOTONIC", "CLOCK_REALTIME",
					      "CLOCK_BOOTTIME" };
	const struct input *in = m->inputs.nr ? &m->inputs.v[0] : NULL;
	char number[32];

	strbuf_addch(to, '{');
	put_word(to, "tracer", "convert");
	put_word(to, "clock", clocks[model_clock(m)]);
	put_number(to, "base_ns", base_ns);
	if (in && in->has_realtime_anchor) {
		put_number(to, "anchor_own_ns", in->anchor_own_ns);
		put_number(to, "anchor_realtime_ns", in->anchor_realtime_ns);
	}
	put_truth(to, "driver_numbers", in && in->driver_numbers);
	put_key(to, "group");
	strbuf_addf(to, "%" PRIu64, native_group(m));
	if (in) {
		put_key(to, "resolution_hz");
		num_fmt_f64(number, in->resolution_hz);
		strbuf_addstr(to, number);
	}
	strbuf_addch(to, '}');
}

void native_track_text(const struct model *m, const struct native_order *o, track_id id,
		       struct strbuf *to)
{
	static const char *const kinds[] = { "process", "thread", "device", "queue", "counter" };
	const struct track *t = &m->tracks.v[id];

	strbuf_addch(to, '{');
	put_number(to, "n", o->number_of[id]);
	put_word(to, "kind", kinds[t->kind]);
	if (t->parent != TRACK_NONE)
		put_number(to, "parent", o->number_of[t->parent]);
	if (t->owner != TRACK_NONE)
		put_number(to, "owner", o->number_of[t->owner]);
	put_text(to, "host", m, t->host);
	if (t->pid != PID_NONE && !o->pid_inherited[id])
		put_number(to, "pid", t->pid);
	if (t->tid != PID_NONE)
		put_number(to, "tid", t->tid);
	if (t->rank != RANK_NONE)
		put_number(to, "rank", t->rank);
	put_text(to, "device", m, t->device);
	put_text(to, "pci", m, t->pci);
	put_text(to, "name", m, t->name);
	strbuf_addch(to, '}');
}

void native_series_text(const struct model *m, const struct native_order *o, series_id id,
			struct strbuf *to)
{
	static const char *const kinds[] = { "unknown", "cumulative", "gauge" };
	const struct series *se = &m->series.v[id];

	strbuf_addch(to, '{');
	put_number(to, "n", id);
	put_text(to, "name", m, se->name);
	put_text(to, "unit", m, se->unit);
	put_word(to, "kind", kinds[se->kind]);
	if (se->track != TRACK_NONE)
		put_number(to, "track", o->number_of[se->track]);
	put_text(to, "device", m, se->device);
	put_text(to, "host", m, se->host);
	put_text(to, "pci", m, se->pci);
	put_truth(to, "change_points", se->change_points);
	put_truth(to, "ends", se->ends);
	put_truth(to, "exclusive_sync", se->exclusive_sync);
	put_truth(to, "estimated", se->estimated);
	if (se->failed)
		put_number(to, "failed", (int64_t)(se->failed > INT64_MAX ? 0 : se->failed));
	strbuf_addch(to, '}');
}
