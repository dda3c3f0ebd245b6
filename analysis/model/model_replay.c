#include <assert.h>

#include "profrig/base/u64map.h"
#include "profrig/base/xalloc.h"
#include "profrig/model/replay.h"

struct replay {
	const struct model *m;
	struct window w;
	const struct replay_pick *pick;
	bool *taken; /* by track; NULL: all are */
	struct sink *s;
	struct replayed n;
	track_id *track_of;   /* by track */
	series_id *series_of; /* by series */
	span_id *span_of;     /* by span; SPAN_NONE: left out. NULL: there are no links */
	str_id *string_of;    /* by string, STR_NONE: not met yet */
	/* correlations of several inputs: (group, number) → number */
	struct u64map number_of;
	uint64_t numbers;
	bool several;
};

/* ---- clock ---- */

static bool has_times(const struct input *in)
{
	return in->first_ns <= in->last_ns;
}

enum trace_clock model_clock(const struct model *m)
{
	const struct input *known = NULL;

	for (size_t i = 0; i < m->inputs.nr; i++) {
		const struct input *in = &m->inputs.v[i];

		if (!has_times(in) || !in->aligned)
			continue;
		if (in->shift_ns == 0)
			return in->clock;
		known = in;
	}
	if (!known)
		return TRACE_CLOCK_OWN;
	/* all were shifted: to real time by their own anchor, or to the run's clock */
	if (known->has_realtime_anchor &&
	    known->shift_ns == known->anchor_realtime_ns - known->anchor_own_ns)
		return TRACE_CLOCK_REALTIME;
	return TRACE_CLOCK_MONOTONIC;
}

static void clock_replay(struct replay *r)
{
	const struct input *first = r->m->inputs.nr ? &r->m->inputs.v[0] : NULL;
	struct input *in = r->s->ops->current(r->s);

	in->clock = model_clock(r->m);
	in->format = xstrdup(first && first->format ? first->format : "");
	if (first && r->m->inputs.nr == 1) {
		in->resolution_hz = first->resolution_hz;
		in->driver_numbers = first->driver_numbers;
	}
	/* an anchor holds for what kept its own clock */
	if (first && in->clock == TRACE_CLOCK_OWN && first->shift_ns == 0) {
		in->has_realtime_anchor = first->has_realtime_anchor;
		in->anchor_own_ns = first->anchor_own_ns;
		in->anchor_realtime_ns = first->anchor_realtime_ns;
	}
	r->s->ops->clock(r->s);
}

/* ---- strings, tracks, series ---- */

static str_id string_replay(struct replay *r, str_id id)
{
	const struct intern *in = r->m->strings;

	if (id == STR_NONE)
		return STR_NONE;
	if (r->string_of[id] == STR_NONE)
		r->string_of[id] = r->s->ops->string(r->s, intern_str(in, id), intern_len(in, id));
	return r->string_of[id];
}

/* Of the facts those of the file alone: devices, the job. */
static void file_facts_replay(struct replay *r)
{
	for (size_t i = 0; i < r->m->facts.devices.nr; i++) {
		struct device_facts d = r->m->facts.devices.v[i];

		d.name = string_replay(r, d.name);
		d.arch = string_replay(r, d.arch);
		r->s->ops->device(r->s, &d);
	}
	for (size_t i = 0; i < r->m->facts.worlds.nr; i++) {
		struct world_facts w = r->m->facts.worlds.v[i];

		w.backend = string_replay(r, w.backend);
		w.version = string_replay(r, w.version);
		r->s->ops->world(r->s, &w);
	}
}

static track_id track_moved(const struct replay *r, track_id t)
{
	return t == TRACK_NONE ? TRACK_NONE : r->track_of[t];
}

static void track_replay(struct replay *r, size_t i)
{
	const struct track *t = &r->m->tracks.v[i];
	struct track_def d = {
		.kind = t->kind,
		.parent = track_moved(r, t->parent),
		.host = model_str(r->m, t->host),
		.pid = t->pid,
		.tid = t->tid,
		.rank = t->rank,
		.device = model_str(r->m, t->device),
		.pci = model_str(r->m, t->pci),
		.owner = track_moved(r, t->owner),
		.name = model_str(r->m, t->name),
		.key = i + 1,
	};

	r->track_of[i] = r->s->ops->track(r->s, &d);
}

/* Those that are picked, and what they name as parents and owners. */
static void tracks_pick(struct replay *r)
{
	if (!r->pick || !r->pick->track)
		return;
	r->taken = xcalloc(r->m->tracks.nr + 1, sizeof(*r->taken));
	for (size_t i = 0; i < r->m->tracks.nr; i++) {
		if (!r->pick->track(r->pick->ctx, (track_id)i))
			continue;
		for (track_id t = (track_id)i; t != TRACK_NONE && !r->taken[t];) {
			track_id owner = r->m->tracks.v[t].owner;

			r->taken[t] = true;
			if (owner != TRACK_NONE)
				r->taken[owner] = true;
			t = r->m->tracks.v[t].parent;
		}
	}
}

/* Those that others name as their parents and owners come first. */
static void tracks_replay(struct replay *r)
{
	for (size_t i = 0; i < r->m->tracks.nr; i++)
		r->track_of[i] = TRACK_NONE;
	for (int turn = 0; turn < 2; turn++)
		for (size_t i = 0; i < r->m->tracks.nr; i++) {
			enum track_kind kind = r->m->tracks.v[i].kind;
			bool above = kind == TRACK_PROCESS || kind == TRACK_DEVICE;

			if (above == (turn == 0) && (!r->taken || r->taken[i]))
				track_replay(r, i);
		}
}

static void samples_replay(struct replay *r, size_t i)
{
	const struct series *se = &r->m->series.v[i];
	size_t from = 0, to = se->t_ns.nr;

	/* a sensor that had ended, or had not begun, has no value in the window */
	if (to && (se->t_ns.v[to - 1] < r->w.from_ns || se->t_ns.v[0] > r->w.to_ns))
		to = 0;
	while (from + 1 < to && se->t_ns.v[from + 1] <= r->w.from_ns)
		from++;
	while (to > from + 1 && se->t_ns.v[to - 2] >= r->w.to_ns)
		to--;
	for (size_t k = from; k < to; k++)
		r->s->ops->sample(r->s, r->series_of[i], se->t_ns.v[k], se->value.v[k]);
	r->n.samples += to - from;
	r->n.samples_out += se->t_ns.nr - (to - from);
}

static bool series_taken(const struct replay *r, size_t i)
{
	const struct series *se = &r->m->series.v[i];

	if (r->pick && r->pick->series && !r->pick->series(r->pick->ctx, (series_id)i))
		return false;
	return se->track == TRACK_NONE || r->track_of[se->track] != TRACK_NONE;
}

static void series_replay(struct replay *r)
{
	for (size_t i = 0; i < r->m->series.nr; i++) {
		const struct series *se = &r->m->series.v[i];

		if (!series_taken(r, i)) {
			r->n.samples_out += se->t_ns.nr;
			continue;
		}
		struct series_def d = {
			.name = model_str(r->m, se->name),
			.unit = model_str(r->m, se->unit),
			.device = model_str(r->m, se->device),
			.host = model_str(r->m, se->host),
			.pci = model_str(r->m, se->pci),
			.kind = se->kind,
			.track = track_moved(r, se->track),
			.change_points = se->change_points,
			.ends = se->ends,
			.exclusive_sync = se->exclusive_sync,
			.estimated = se->estimated,
		};

		r->series_of[i] = r->s->ops->series(r->s, &d);
		samples_replay(r, i);
	}
}

/* ---- spans, links ---- */

static uint64_t hash_mix(uint64_t a, uint64_t b)
{
	uint64_t h = (a ^ b * UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0xd6e8feb86659fd93);

	return h ^ h >> 32;
}

static uint64_t correlation_replay(struct replay *r, size_t i)
{
	uint64_t c = span_correlation(&r->m->spans, i);
	input_id input = span_input(&r->m->spans, i);
	uint64_t group = r->m->inputs.v[input].group;
	uint32_t *at;

	if (!r->several || c == 0)
		return c;
	at = u64map_at(&r->number_of, hash_mix(group ? group : input, c));
	if (*at == U64MAP_NONE)
		*at = (uint32_t)++r->numbers;
	return *at;
}

static span_id span_replay(struct replay *r, size_t i)
{
	const struct span_columns *c = &r->m->spans;
	struct span_def d = {
		.track = r->track_of[c->track[i]],
		.start_ns = c->start_ns[i],
		.end_ns = c->end_ns[i],
		.kind = (enum span_kind)c->kind[i],
	};

	if (d.track == TRACK_NONE ||
	    (r->pick && r->pick->span && !r->pick->span(r->pick->ctx, i))) {
		r->n.spans_out++;
		return SPAN_NONE;
	}
	if (d.end_ns < r->w.from_ns || d.start_ns > r->w.to_ns ||
	    /* a span that only touches an edge is outside, unless it has no length */
	    (d.start_ns < d.end_ns && (d.end_ns == r->w.from_ns || d.start_ns == r->w.to_ns))) {
		r->n.spans_out++;
		return SPAN_NONE;
	}
	r->n.spans_cut += d.start_ns < r->w.from_ns || d.end_ns > r->w.to_ns;
	d.start_ns = d.start_ns < r->w.from_ns ? r->w.from_ns : d.start_ns;
	d.end_ns = d.end_ns > r->w.to_ns ? r->w.to_ns : d.end_ns;
	d.name = string_replay(r, c->name[i]);
	d.category = string_replay(r, c->category[i]);
	d.args = string_replay(r, span_args(c, i));
	d.correlation = correlation_replay(r, i);
	r->n.spans++;
	return r->s->ops->span(r->s, &d);
}

static void spans_replay(struct replay *r)
{
	for (size_t i = 0; i < r->m->spans.nr; i++) {
		span_id id = span_replay(r, i);

		if (r->span_of)
			r->span_of[i] = id;
	}
}

static void links_replay(struct replay *r)
{
	const struct link_columns *l = &r->m->links;

	for (size_t i = 0; i < l->nr; i++) {
		span_id from = r->span_of[l->from[i]], to = r->span_of[l->to[i]];

		if (from == SPAN_NONE || to == SPAN_NONE) {
			r->n.links_out++;
			continue;
		}
		r->s->ops->link(r->s, from, to, (enum link_kind)l->kind[i]);
		r->n.links++;
	}
}

static void part_replay(const struct model *m, const struct window *w,
			const struct replay_pick *pick, struct sink *into, struct replayed *ret)
{
	const struct input *first = m->inputs.nr ? &m->inputs.v[0] : NULL;
	struct replay r = { .m = m, .w = *w, .pick = pick, .s = into, .several = m->inputs.nr > 1 };
	size_t strings = intern_count(m->strings);

	assert(m->finished);
	r.track_of = xreallocarray(NULL, m->tracks.nr + 1, sizeof(*r.track_of));
	r.series_of = xreallocarray(NULL, m->series.nr + 1, sizeof(*r.series_of));
	r.span_of = m->links.nr ? xreallocarray(NULL, m->spans.nr + 1, sizeof(*r.span_of)) : NULL;
	r.string_of = xreallocarray(NULL, strings + 1, sizeof(*r.string_of));
	for (size_t i = 0; i < strings; i++)
		r.string_of[i] = STR_NONE;
	into->ops->input(into, first ? first->path : "", first ? first->reader : "");
	clock_replay(&r);
	file_facts_replay(&r);
	tracks_pick(&r);
	tracks_replay(&r);
	series_replay(&r);
	spans_replay(&r);
	links_replay(&r);
	into->ops->input_end(into);
	if (ret)
		*ret = r.n;
	free(r.taken);
	free(r.track_of);
	free(r.series_of);
	free(r.span_of);
	free(r.string_of);
	u64map_release(&r.number_of);
}

void model_replay(const struct model *m, const struct window *w, struct sink *into,
		  struct replayed *ret)
{
	part_replay(m, w, NULL, into, ret);
}

struct model *model_cut(const struct model *m, const struct window *w, struct replayed *ret)
{
	return model_pick(m, w, NULL, ret);
}

struct model *model_pick(const struct model *m, const struct window *w,
			 const struct replay_pick *pick, struct replayed *ret)
{
	struct model *cut = model_new();

	part_replay(m, w, pick, model_sink(cut), ret);
	for (size_t i = 0; i < m->inputs.nr; i++)
		cut->inputs.v[0].partial |= m->inputs.v[i].partial;
	model_finish(cut);
	return cut;
}
