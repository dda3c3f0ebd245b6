#include "model_private.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

#include "profrig/model/library_calls.h"
#include "profrig/model/warnings.h"

/* A reader's estimate may be wrong. */
#define MAX_EXPECTED ((size_t)1 << 24)

/* An enter takes its row at once, so rows of one thread are pushed in start order and model_finish
 * has nothing to sort there. */

static input_id sink_op_input(struct sink *s, const char *path, const char *reader)
{
	struct model_priv *p = model_priv_of(s);
	struct model *m = p->model;

	assert(!m->finished);
	sink_input_close(p);
	VEC_PUSH(&m->inputs, (struct input){ .path = xstrdup(path),
					     .reader = reader,
					     .resolution_hz = 1e9,
					     .first_ns = INT64_MAX,
					     .last_ns = INT64_MIN });
	VEC_PUSH(&p->input_states, (struct input_state){ .moved_ns = 0 });
	p->current = (input_id)(m->inputs.nr - 1);
	p->in = &m->inputs.v[p->current];
	p->shift_ns = 0;
	p->in_series = (series_id)m->series.nr;
	return p->current;
}

static struct input *sink_op_current(struct sink *s)
{
	return model_priv_of(s)->in;
}

static void sink_op_clock(struct sink *s)
{
	struct model_priv *p = model_priv_of(s);

	timebase_apply(p->model, p->current);
	p->shift_ns = p->in->shift_ns;
}

static bool any_open(const struct model_priv *p)
{
	for (size_t i = 0; i < p->in_tracks.nr; i++)
		if (p->track_states.v[p->in_tracks.v[i]].open.nr > 0)
			return true;
	return false;
}

/* Samples on a track count as its events. */
static void samples_count(struct model_priv *p)
{
	const struct model *m = p->model;

	for (size_t i = p->in_series; i < m->series.nr; i++) {
		const struct series *se = &m->series.v[i];
		struct track_state *ts;

		if (se->track >= p->track_states.nr)
			continue;
		ts = &p->track_states.v[se->track];
		for (size_t k = 0; k < se->t_ns.nr; k++)
			if (se->t_ns.v[k] > ts->last_ns)
				ts->last_ns = se->t_ns.v[k];
	}
}

/* Frames still open end at the last event of their track. */
static void frames_close(struct model_priv *p, struct track_state *ts)
{
	struct model *m = p->model;

	if (ts->open.nr == 0)
		return;
	model_warn(m, p->current, W_OPEN_SPAN, ts->open.nr, SAY_OPEN,
		   model_str(m, m->spans.name[ts->open.v[ts->open.nr - 1]]), ts->open.nr - 1);
	for (size_t i = 0; i < ts->open.nr; i++) {
		uint64_t row = ts->open.v[i];

		m->spans.end_ns[row] =
			ts->last_ns > m->spans.start_ns[row] ? ts->last_ns : m->spans.start_ns[row];
	}
	VEC_CLEAR(&ts->open);
}

void sink_input_close(struct model_priv *p)
{
	if (p->current == INPUT_NONE)
		return;
	if (any_open(p))
		samples_count(p);
	for (size_t i = 0; i < p->in_tracks.nr; i++) {
		struct track_state *ts = &p->track_states.v[p->in_tracks.v[i]];

		frames_close(p, ts);
		ts->last_ns = ts->frame_ns = INT64_MIN;
	}
	VEC_CLEAR(&p->in_tracks);
	timebase_apply(p->model, p->current);
	p->input_states.v[p->current].moved_ns = p->in->shift_ns - p->shift_ns;
	p->current = INPUT_NONE;
	p->in = NULL;
}

static void sink_op_input_end(struct sink *s)
{
	sink_input_close(model_priv_of(s));
}

static void sink_op_input_again(struct sink *s)
{
	struct model_priv *p = model_priv_of(s);
	struct model *m = p->model;
	CLEANUP(xfreep) char *path = xstrdup(p->in->path), *host = NULL;
	const char *reader = p->in->reader;

	assert(m->inputs.nr == 1 && p->current == 0);
	host = xstrdup(model_str(m, p->default_host));
	model_clear(m);
	m->strings = intern_new();
	p->default_host = intern_puts(m->strings, host);
	sink_op_input(s, path, reader);
}

/* Out of line: texts are rarely long. */
static __attribute__((noinline)) void text_was_cut(struct model_priv *p, str_id id, size_t n,
						   uint64_t hash)
{
	uint32_t *known = u64map_at(&p->long_texts, id);

	model_warn(p->model, p->current, W_LONG_TEXT, 1, SAY_LONG_TEXT, n, model_str(p->model, id));
	if (*known == U64MAP_NONE) {
		CLEANUP(xfreep)
		char *args = xasprintf("{\"left_out\":\"%zu bytes, #%016" PRIx64 "\"}", n, hash);

		*known = intern_puts(p->model->strings, args);
	}
}

static inline str_id text_put(struct model_priv *p, const char *str, size_t n)
{
	uint64_t hash;
	str_id id = sink_text_put(p->model, str, n, &hash);

	if (__builtin_expect(hash != 0, 0))
		text_was_cut(p, id, n, hash);
	return id;
}

static str_id sink_op_string(struct sink *s, const char *str, size_t n)
{
	return text_put(model_priv_of(s), str, n);
}

/* A cut text is no JSON. */
static inline str_id args_of(const struct model_priv *p, str_id args)
{
	uint32_t instead = p->long_texts.nr ? u64map_get(&p->long_texts, args) : U64MAP_NONE;

	return instead == U64MAP_NONE ? args : instead;
}

static str_id intern_opt(struct model_priv *p, const char *str)
{
	return str && *str ? text_put(p, str, strlen(str)) : 0;
}

static str_id host_of(struct model_priv *p, const char *said)
{
	return said && *said && !p->host_everywhere ? text_put(p, said, strlen(said))
						    : p->default_host;
}

/* The identity of a track, as a 64-bit hash. */
struct id_key {
	uint64_t w[4];
};

static uint32_t *id_at(struct u64map *ids, const struct id_key *key)
{
	return u64map_at(ids, XXH3_64bits(key, sizeof(*key)));
}

static struct id_key track_key(const struct model_priv *p, const struct track_def *d, str_id host,
			       str_id device)
{
	bool process = d->kind == TRACK_PROCESS;
	bool known = d->pid != PID_NONE && (process || d->tid != PID_NONE);
	bool by_device = d->kind == TRACK_QUEUE || d->kind == TRACK_DEVICE;

	if (!known)
		return (struct id_key){ { (uint64_t)d->kind, p->current, d->key, 0 } };
	return (struct id_key){ { (uint64_t)d->kind | 1U << 8 |
					  (by_device ? (uint64_t)device << 32 : 0),
				  host, (uint64_t)d->pid, process ? 0 : (uint64_t)d->tid } };
}

/* The rank that a track has, or states, else the one in the name of its file. */
static int32_t rank_or_files(const struct model *m, int32_t rank, input_id input)
{
	return rank == RANK_NONE ? file_rank_of(m->inputs.v[input].path) : rank;
}

/*
 * Processes of several containers or machines may have equal ids; ranks tell them apart, also those
 * in the names of two files. *ret_rank: of the new one.
 */
static bool is_other_rank(const struct model_priv *p, track_id t, const struct track_def *d,
			  int32_t *ret_rank)
{
	const struct track *was = &p->model->tracks.v[t];
	int32_t before = was->rank, now = d->rank;

	if (was->input != p->current && (before == RANK_NONE) == (now == RANK_NONE)) {
		before = rank_or_files(p->model, before, was->input);
		now = rank_or_files(p->model, now, p->current);
	}
	*ret_rank = now;
	return before != RANK_NONE && now != RANK_NONE && before != now;
}

static void track_fill(struct track *t, const struct track_def *d, str_id host, str_id device,
		       str_id name)
{
	if (t->parent == TRACK_NONE)
		t->parent = d->parent;
	if (!t->host)
		t->host = host;
	if (t->pid == PID_NONE)
		t->pid = d->pid;
	if (t->tid == PID_NONE)
		t->tid = d->tid;
	if (t->rank == RANK_NONE)
		t->rank = d->rank;
	if (!t->device)
		t->device = device;
	if (!t->name)
		t->name = name;
	if (t->owner == TRACK_NONE && d->kind == TRACK_QUEUE)
		t->owner = d->owner;
}

static track_id sink_op_track(struct sink *s, const struct track_def *d)
{
	struct model_priv *p = model_priv_of(s);
	struct model *m = p->model;
	str_id host = host_of(p, d->host);
	str_id device = intern_opt(p, d->device);
	struct id_key key = track_key(p, d, host, device);
	uint32_t *id = id_at(&p->track_ids, &key);
	int32_t rank;

	if (*id != UINT32_MAX && !host && is_other_rank(p, *id, d, &rank)) {
		key.w[1] |= (uint64_t)((uint32_t)rank + 1) << 32;
		id = id_at(&p->track_ids, &key);
	}
	if (*id == UINT32_MAX) {
		*id = (track_id)m->tracks.nr;
		VEC_PUSH(&m->tracks, (struct track){ .kind = d->kind,
						     .parent = TRACK_NONE,
						     .pid = PID_NONE,
						     .tid = PID_NONE,
						     .rank = RANK_NONE,
						     .owner = TRACK_NONE,
						     .input = p->current });
		VEC_PUSH(&p->track_states, (struct track_state){ .frame_ns = INT64_MIN,
								 .last_ns = INT64_MIN,
								 .input = INPUT_NONE });
	}
	track_fill(&m->tracks.v[*id], d, host, device, intern_opt(p, d->name));
	if (!m->tracks.v[*id].pci)
		m->tracks.v[*id].pci = intern_opt(p, d->pci);
	if (p->track_states.v[*id].input != p->current) {
		p->track_states.v[*id].input = p->current;
		VEC_PUSH(&p->in_tracks, *id);
		p->in->tracks++;
	}
	return *id;
}

static series_id sink_op_series(struct sink *s, const struct series_def *d)
{
	struct model_priv *p = model_priv_of(s);
	struct model *m = p->model;
	str_id name = text_put(p, d->name, strlen(d->name));
	str_id device = intern_opt(p, d->device);
	struct id_key key = { { name, p->current, d->track, device } };
	uint32_t *id = id_at(&p->series_ids, &key);

	if (*id != UINT32_MAX)
		return *id;
	*id = (series_id)m->series.nr;
	VEC_PUSH(&m->series, (struct series){ .name = name,
					      .unit = intern_opt(p, d->unit),
					      .kind = d->kind,
					      .track = d->track,
					      .device = device,
					      .host = host_of(p, d->host),
					      .pci = intern_opt(p, d->pci),
					      .input = p->current,
					      .change_points = d->change_points,
					      .ends = d->ends,
					      .exclusive_sync = d->exclusive_sync,
					      .estimated = d->estimated });
	p->in->series++;
	return *id;
}

void spans_reserve(struct span_columns *c, size_t cap)
{
	c->cap = cap;
	c->track = xreallocarray(c->track, cap, sizeof(*c->track));
	c->start_ns = xreallocarray(c->start_ns, cap, sizeof(*c->start_ns));
	c->end_ns = xreallocarray(c->end_ns, cap, sizeof(*c->end_ns));
	c->name = xreallocarray(c->name, cap, sizeof(*c->name));
	c->category = xreallocarray(c->category, cap, sizeof(*c->category));
	c->kind = xreallocarray(c->kind, cap, sizeof(*c->kind));
	if (c->correlation)
		c->correlation = xreallocarray(c->correlation, cap, sizeof(*c->correlation));
	if (c->args)
		c->args = xreallocarray(c->args, cap, sizeof(*c->args));
	if (c->input)
		c->input = xreallocarray(c->input, cap, sizeof(*c->input));
}

static void sink_op_expect(struct sink *s, uint64_t spans)
{
	struct span_columns *c = &model_priv_of(s)->model->spans;
	size_t most = spans < MAX_EXPECTED ? (size_t)spans : MAX_EXPECTED;

	/* many files say it in turn: each grows the columns by a share, so that rows are not moved
	 * for each of them where moving copies (spill.h) */
	if (c->cap - c->nr < most)
		spans_reserve(c, c->nr ? vec_grow_cap(c->cap, c->nr + most) : most);
}

/* Rows whose memory is mapped at a time. */
#define ROWS_POPULATED ((size_t)1 << 15)

static __attribute__((noinline)) void rows_populate(struct model_priv *p)
{
	struct span_columns *c = &p->model->spans;
	size_t row = c->nr, n;

	if (row == c->cap)
		spans_reserve(c, vec_grow_cap(c->cap, 256));
	n = c->cap - row < ROWS_POPULATED ? c->cap - row : ROWS_POPULATED;
	p->populated = row + n;
	if (row < ROWS_POPULATED)
		return;
	xpopulate(c->track + row, n * sizeof(*c->track));
	xpopulate(c->start_ns + row, n * sizeof(*c->start_ns));
	xpopulate(c->end_ns + row, n * sizeof(*c->end_ns));
	xpopulate(c->name + row, n * sizeof(*c->name));
	xpopulate(c->category + row, n * sizeof(*c->category));
	xpopulate(c->kind + row, n * sizeof(*c->kind));
	if (c->correlation)
		xpopulate(c->correlation + row, n * sizeof(*c->correlation));
	if (c->args)
		xpopulate(c->args + row, n * sizeof(*c->args));
	if (c->input)
		xpopulate(c->input + row, n * sizeof(*c->input));
}

/* The column begins with the first text that is kept. */
static void args_put(struct model_priv *p, uint64_t row, str_id args)
{
	struct span_columns *c = &p->model->spans;

	args = args_of(p, args);
	if (args != STR_NONE && !c->args) {
		c->args = xreallocarray(NULL, c->cap, sizeof(*c->args));
		for (size_t i = 0; i < c->nr; i++)
			c->args[i] = STR_NONE;
	}
	if (c->args)
		c->args[row] = args;
}

static inline span_id row_push(struct model_priv *p, const struct span_def *d)
{
	struct span_columns *c = &p->model->spans;
	size_t row = c->nr;

	if (row == p->populated)
		rows_populate(p);
	p->track_states.v[d->track].spans++;
	p->scattered = p->scattered || d->track < p->last_track;
	p->last_track = d->track;
	if (__builtin_expect(d->correlation && !c->correlation, 0))
		c->correlation = xcalloc(c->cap, sizeof(*c->correlation));
	if (__builtin_expect(p->current && !c->input, 0))
		c->input = xcalloc(c->cap, sizeof(*c->input));
	c->nr++;
	c->track[row] = d->track;
	c->start_ns[row] = d->start_ns;
	c->end_ns[row] = d->end_ns;
	c->name[row] = d->name;
	c->category[row] = d->category;
	c->kind[row] = (uint8_t)d->kind;
	if (c->correlation)
		c->correlation[row] = d->correlation;
	if (d->args != STR_NONE || c->args)
		args_put(p, row, d->args);
	if (c->input)
		c->input[row] = p->current;
	p->in->spans++;
	return row;
}

static inline void frame_time(struct model_priv *p, struct track_state *ts, track_id t,
			      int64_t t_ns)
{
	if (__builtin_expect(t_ns < ts->frame_ns, 0))
		model_warn(p->model, p->current, W_TIME_ORDER, 1, SAY_TIME_ORDER,
			   model_str(p->model, p->model->tracks.v[t].name), ts->frame_ns - t_ns);
	ts->frame_ns = t_ns;
	if (t_ns > ts->last_ns)
		ts->last_ns = t_ns;
}

static void sink_op_enter(struct sink *s, track_id t, int64_t t_ns, str_id name, str_id category)
{
	struct model_priv *p = model_priv_of(s);
	struct track_state *ts;
	span_id row;

	if (!model_track_known(p, t))
		return;
	ts = &p->track_states.v[t];
	t_ns = model_time_take(p, t_ns);
	frame_time(p, ts, t, t_ns);
	row = row_push(p, &(struct span_def){ .track = t,
					      .start_ns = t_ns,
					      .end_ns = t_ns,
					      .name = name,
					      .category = category,
					      .kind = SPAN_HOST,
					      .args = STR_NONE });
	VEC_PUSH(&ts->open, row);
}

static span_id sink_op_leave(struct sink *s, track_id t, int64_t t_ns, str_id name)
{
	struct model_priv *p = model_priv_of(s);
	struct span_columns *c = &p->model->spans;
	struct track_state *ts;
	span_id row;

	if (!model_track_known(p, t))
		return SPAN_NONE;
	ts = &p->track_states.v[t];
	t_ns = model_time_take(p, t_ns);
	frame_time(p, ts, t, t_ns);
	if (ts->open.nr == 0) {
		model_warn(p->model, p->current, W_STRAY_LEAVE, 1, SAY_STRAY_LEAVE,
			   model_str(p->model, name),
			   model_str(p->model, p->model->tracks.v[t].name));
		return SPAN_NONE;
	}
	row = ts->open.v[--ts->open.nr];
	if (name != STR_NONE && name != c->name[row])
		model_warn(p->model, p->current, W_LEAVE_MISMATCH, 1, SAY_LEAVE_MISMATCH,
			   model_str(p->model, name), model_str(p->model, c->name[row]),
			   model_str(p->model, p->model->tracks.v[t].name));
	if (t_ns >= c->start_ns[row])
		c->end_ns[row] = t_ns;
	else
		model_warn(p->model, p->current, W_NEGATIVE_DURATION, 1, SAY_NEGATIVE,
			   model_str(p->model, c->name[row]), c->start_ns[row] - t_ns);
	return row;
}

static void sink_op_leave_args(struct sink *s, track_id t, str_id args)
{
	struct model_priv *p = model_priv_of(s);
	struct track_state *ts;

	if (!model_track_known(p, t))
		return;
	ts = &p->track_states.v[t];
	if (ts->open.nr)
		args_put(p, ts->open.v[ts->open.nr - 1], args);
}

static void sink_op_open_kind(struct sink *s, track_id t, enum span_kind kind)
{
	struct model_priv *p = model_priv_of(s);
	struct track_state *ts;

	if (!model_track_known(p, t))
		return;
	ts = &p->track_states.v[t];
	if (ts->open.nr)
		p->model->spans.kind[ts->open.v[ts->open.nr - 1]] = (uint8_t)kind;
}

static span_id sink_op_span(struct sink *s, const struct span_def *d)
{
	struct model_priv *p = model_priv_of(s);
	struct span_def row = *d;
	struct track_state *ts;

	if (!model_track_known(p, d->track))
		return SPAN_NONE;
	if (d->kind == SPAN_INSTANT) {
		p->in->instants++;
		row.end_ns = row.start_ns;
	} else if (d->end_ns < d->start_ns) {
		model_warn(p->model, p->current, W_NEGATIVE_DURATION, 1,
			   "'%s' ends before it starts", model_str(p->model, d->name));
		row.end_ns = row.start_ns;
	}
	row.start_ns = model_time_take(p, row.start_ns);
	row.end_ns = model_time_take(p, row.end_ns);
	ts = &p->track_states.v[d->track];
	if (row.end_ns > ts->last_ns)
		ts->last_ns = row.end_ns;
	return row_push(p, &row);
}

static void sink_op_sample(struct sink *s, series_id id, int64_t t_ns, double value)
{
	struct model_priv *p = model_priv_of(s);
	struct series *se;

	if (id >= p->model->series.nr) {
		model_warn(p->model, p->current, W_UNKNOWN_REFERENCE, 1, SAY_UNKNOWN_SERIES);
		return;
	}
	se = &p->model->series.v[id];
	if (__builtin_expect(!isfinite(value), 0)) {
		se->failed++;
		model_warn(p->model, p->current, isnan(value) ? W_READ_FAILED : W_BAD_NUMBER, 1,
			   isnan(value) ? SAY_READ_FAILED : SAY_INFINITE,
			   model_str(p->model, se->name));
		return;
	}
	VEC_PUSH(&se->t_ns, model_time_take(p, t_ns));
	VEC_PUSH(&se->value, value);
	p->in->samples++;
}

static void sink_op_link(struct sink *s, span_id from, span_id to, enum link_kind kind)
{
	struct model_priv *p = model_priv_of(s);
	size_t nr = p->model->spans.nr;

	if (from >= nr || to >= nr) {
		model_warn(p->model, p->current, W_UNKNOWN_REFERENCE, 1, "link to an unknown span");
		return;
	}
	links_push(p->model, from, to, kind);
	p->in->links++;
}

static void sink_op_warn(struct sink *s, const char *code, uint64_t count, const char *text)
{
	struct model_priv *p = model_priv_of(s);

	model_warn(p->model, p->current, code, count, "%s", text);
}

static void sink_op_sources(struct sink *s, struct source *const *v, size_t n)
{
	struct model_priv *p = model_priv_of(s);

	if (p->take) {
		timebase_fix(p->model, p->current);
		p->shift_ns = p->in->shift_ns;
		p->take(p->take_ctx, v, n);
		return;
	}
	for (size_t i = 0; i < n; i++)
		while (v[i]->pull(v[i], s, UINT64_MAX) > 0)
			;
}

static void sink_op_library(struct sink *s, struct library_calls *take)
{
	struct model_priv *p = model_priv_of(s);

	p->in->library += library_calls_totals(take).calls;
	library_calls_set_input(take, p->current);
	if (!p->model->library) {
		p->model->library = take;
		return;
	}
	library_calls_merge(p->model->library, take);
	library_calls_free(take);
}

const struct sink_ops model_sink_ops = {
	.input = sink_op_input,
	.current = sink_op_current,
	.clock = sink_op_clock,
	.input_end = sink_op_input_end,
	.input_again = sink_op_input_again,
	.expect = sink_op_expect,
	.string = sink_op_string,
	.track = sink_op_track,
	.series = sink_op_series,
	.enter = sink_op_enter,
	.leave = sink_op_leave,
	.leave_args = sink_op_leave_args,
	.open_kind = sink_op_open_kind,
	.span = sink_op_span,
	.sample = sink_op_sample,
	.link = sink_op_link,
	.facts = sink_op_facts,
	.operands = sink_op_operands,
	.numbers = sink_op_numbers,
	.device = sink_op_device,
	.world = sink_op_world,
	.warn = sink_op_warn,
	.library = sink_op_library,
	.sources = sink_op_sources,
};

struct sink *model_sink(struct model *m)
{
	return &m->priv->sink;
}

void model_set_sources(struct model *m, void (*take)(void *ctx, struct source *const *v, size_t n),
		       void *ctx)
{
	m->priv->take = take;
	m->priv->take_ctx = ctx;
	m->priv->sink.no_links = true;
}

void model_set_default_host(struct model *m, const char *host, bool everywhere)
{
	m->priv->default_host = intern_opt(m->priv, host);
	m->priv->host_everywhere = everywhere && m->priv->default_host;
}

void sink_warnf(struct sink *s, const char *code, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	s->ops->warn(s, code, 1, text);
}

void sink_fact(struct sink *s, const char *key, int64_t value)
{
	struct input *in = s->ops->current(s);

	for (size_t i = 0; i < in->facts.nr; i++) {
		if (strcmp(in->facts.v[i].key, key) == 0) {
			in->facts.v[i].value += value;
			return;
		}
	}
	VEC_PUSH(&in->facts, (struct input_fact){ xstrdup(key), value });
}
