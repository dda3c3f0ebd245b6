/*
 * A model whose sink keeps definitions and warnings, and only counts everything else (struct
 * input). The open calls of a track (track_state.open) hold the number of the span and its kind
 * instead of a row of the columns.
 */
#include "profrig/model/counts.h"
#include "model_private.h"

#include <inttypes.h>
#include <math.h>

#include "profrig/model/warnings.h"

#define KIND_BITS 3

struct counter {
	struct model *m;
	struct sink_ops ops; /* those of the model's sink, except for counted records */
	uint64_t spans, work;
};

static struct counter *counter_of(const struct sink *s)
{
	return (struct counter *)((char *)s->ops - offsetof(struct counter, ops));
}

static bool is_work(enum span_kind kind)
{
	return kind == SPAN_KERNEL || kind == SPAN_COPY || kind == SPAN_FILL;
}

/* Calls that are still open have been counted; the model would look for their rows. */
static void open_forget(struct model_priv *p)
{
	for (size_t i = 0; i < p->in_tracks.nr; i++)
		VEC_CLEAR(&p->track_states.v[p->in_tracks.v[i]].open);
}

static input_id count_input(struct sink *s, const char *path, const char *reader)
{
	open_forget(model_priv_of(s));
	return model_sink_ops.input(s, path, reader);
}

static void count_input_end(struct sink *s)
{
	open_forget(model_priv_of(s));
	model_sink_ops.input_end(s);
}

static void count_input_again(struct sink *s)
{
	struct counter *c = counter_of(s);

	c->spans = c->work = 0;
	model_sink_ops.input_again(s);
}

static void count_expect(struct sink *s, uint64_t spans)
{
	(void)s, (void)spans;
}

static span_id span_count(struct sink *s, enum span_kind kind)
{
	struct counter *c = counter_of(s);

	c->work += is_work(kind);
	model_priv_of(s)->in->spans++;
	return c->spans++;
}

static void count_enter(struct sink *s, track_id t, int64_t t_ns, str_id name, str_id category)
{
	struct model_priv *p = model_priv_of(s);

	(void)name, (void)category;
	if (!model_track_known(p, t))
		return;
	model_time_take(p, t_ns);
	VEC_PUSH(&p->track_states.v[t].open, span_count(s, SPAN_HOST) << KIND_BITS | SPAN_HOST);
}

static span_id count_leave(struct sink *s, track_id t, int64_t t_ns, str_id name)
{
	struct model_priv *p = model_priv_of(s);
	struct track_state *ts;

	(void)name;
	if (!model_track_known(p, t))
		return SPAN_NONE;
	model_time_take(p, t_ns);
	ts = &p->track_states.v[t];
	return ts->open.nr ? ts->open.v[--ts->open.nr] >> KIND_BITS : SPAN_NONE;
}

static void count_leave_args(struct sink *s, track_id t, str_id args)
{
	(void)args;
	model_track_known(model_priv_of(s), t);
}

static void count_open_kind(struct sink *s, track_id t, enum span_kind kind)
{
	struct model_priv *p = model_priv_of(s);
	struct counter *c = counter_of(s);
	uint64_t *open;

	if (!model_track_known(p, t) || !p->track_states.v[t].open.nr)
		return;
	open = &p->track_states.v[t].open.v[p->track_states.v[t].open.nr - 1];
	c->work -= is_work(*open & ((1U << KIND_BITS) - 1));
	c->work += is_work(kind);
	*open = *open >> KIND_BITS << KIND_BITS | kind;
}

static span_id count_span(struct sink *s, const struct span_def *d)
{
	struct model_priv *p = model_priv_of(s);
	bool no_length = d->kind == SPAN_INSTANT || d->end_ns < d->start_ns;

	if (!model_track_known(p, d->track))
		return SPAN_NONE;
	p->in->instants += d->kind == SPAN_INSTANT;
	model_time_take(p, d->start_ns);
	model_time_take(p, no_length ? d->start_ns : d->end_ns);
	return span_count(s, d->kind);
}

static void count_sample(struct sink *s, series_id id, int64_t t_ns, double value)
{
	struct model_priv *p = model_priv_of(s);

	if (id >= p->model->series.nr) {
		model_warn(p->model, p->current, W_UNKNOWN_REFERENCE, 1, SAY_UNKNOWN_SERIES);
		return;
	}
	if (!isfinite(value))
		return;
	model_time_take(p, t_ns);
	p->in->samples++;
}

static void count_link(struct sink *s, span_id from, span_id to, enum link_kind kind)
{
	(void)s, (void)from, (void)to, (void)kind;
}

static void count_facts(struct sink *s, span_id span, const struct span_facts *f)
{
	(void)s, (void)span, (void)f;
}

static uint32_t count_operands(struct sink *s, const struct operand_texts *t)
{
	(void)s, (void)t;
	return FACT_NONE;
}

static uint32_t count_numbers(struct sink *s, const int64_t *v, size_t n)
{
	(void)s, (void)v, (void)n;
	return FACT_NONE;
}

static void count_callsite(struct sink *s, track_id t, int64_t t_ns, uint32_t process, uint64_t id)
{
	(void)s, (void)t, (void)t_ns, (void)process, (void)id;
}

struct counter *counter_new(void)
{
	struct counter *c = xcalloc(1, sizeof(*c));
	struct sink *s;

	c->m = model_new();
	c->ops = model_sink_ops;
	c->ops.input = count_input;
	c->ops.input_end = count_input_end;
	c->ops.input_again = count_input_again;
	c->ops.expect = count_expect;
	c->ops.enter = count_enter;
	c->ops.leave = count_leave;
	c->ops.leave_args = count_leave_args;
	c->ops.open_kind = count_open_kind;
	c->ops.span = count_span;
	c->ops.sample = count_sample;
	c->ops.link = count_link;
	c->ops.facts = count_facts;
	c->ops.operands = count_operands;
	c->ops.numbers = count_numbers;
	c->ops.callsite = count_callsite;
	s = model_sink(c->m);
	s->ops = &c->ops;
	s->no_links = s->counts_only = true;
	return c;
}

void counter_free(struct counter *c)
{
	if (!c)
		return;
	model_free(c->m);
	free(c);
}

void counter_freep(struct counter **c)
{
	counter_free(*c);
	*c = NULL;
}

struct sink *counter_sink(struct counter *c)
{
	return model_sink(c->m);
}

static const char *first_error(const struct model *m)
{
	for (size_t i = 0; i < m->warnings.nr; i++)
		if (m->warnings.v[i].severity == SEV_ERROR)
			return m->warnings.v[i].text;
	return NULL;
}

void counter_get(const struct counter *c, struct counts *ret)
{
	*ret = (struct counts){ .work = c->work,
				.first_ns = INT64_MAX,
				.last_ns = INT64_MIN,
				.error = first_error(c->m) };
	for (size_t i = 0; i < c->m->inputs.nr; i++) {
		const struct input *in = &c->m->inputs.v[i];

		ret->spans += in->spans;
		ret->instants += in->instants;
		ret->samples += in->samples;
		ret->library += in->library;
		ret->series += in->series;
		ret->tracks += in->tracks;
		ret->partial = ret->partial || in->partial;
		if (in->first_ns < ret->first_ns)
			ret->first_ns = in->first_ns;
		if (in->last_ns > ret->last_ns)
			ret->last_ns = in->last_ns;
	}
}
