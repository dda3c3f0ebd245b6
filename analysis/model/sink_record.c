/* A sink that writes down what a reader pushes. */
#include "model_private.h"
#include "sink_log_private.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "profrig/base/serial.h"
#include "profrig/base/strbuf.h"
#include "profrig/base/xalloc.h"
#include "profrig/model/counts.h"
#include "profrig/model/library_calls.h"

struct sink_log {
	struct sink sink;
	struct counter *counter;
	struct sink *to; /* the counter's */
	struct strbuf bytes;
	VEC(bool) known; /* by id of a text: it has a record */
	/* by a hash: their numbers here, as a counting model has none */
	struct u64map operands, numbers;
	int64_t t_ns; /* the time written last */
	bool again;   /* the reader began anew */
};

static struct sink_log *log_of(struct sink *s)
{
	return (struct sink_log *)((char *)s - offsetof(struct sink_log, sink));
}

/* ---- values ---- */

static void put_number(struct sink_log *l, uint64_t v)
{
	log_put_number(&l->bytes, v);
}

static void put_signed(struct sink_log *l, int64_t v)
{
	log_put_signed(&l->bytes, v);
}

static void put_time(struct sink_log *l, int64_t t_ns)
{
	log_put_time(&l->bytes, &l->t_ns, t_ns);
}

static void put_bytes(struct sink_log *l, const void *data, size_t n)
{
	put_number(l, n);
	strbuf_add(&l->bytes, data, n);
}

/* NULL is 0, a text its length and 1. */
static void put_text(struct sink_log *l, const char *text)
{
	size_t n = text ? strlen(text) : 0;

	put_number(l, text ? n + 1 : 0);
	strbuf_add(&l->bytes, text ? text : "", n);
}

static void put_record(struct sink_log *l, enum sink_log_record r)
{
	strbuf_addch(&l->bytes, (int)r);
}

static void text_record(struct sink_log *l, str_id id, const char *text, size_t n)
{
	while (l->known.nr <= id)
		VEC_PUSH(&l->known, false);
	l->known.v[id] = true;
	put_record(l, LOG_STRING);
	put_number(l, id);
	put_bytes(l, text, n);
}

/* An id that the sink returned for another thing than a text has its text here. */
static void text_need(struct sink_log *l, str_id id)
{
	const char *text;

	if (id == STR_NONE || id == 0 || (id < l->known.nr && l->known.v[id]))
		return;
	text = model_str(model_priv_of(l->to)->model, id);
	text_record(l, id, text, strlen(text));
}

/* ---- the calls ---- */

static void put_input(struct sink_log *l, enum sink_log_record r)
{
	const struct input *in = l->to->ops->current(l->to);

	put_record(l, r);
#define X(field) strbuf_add(&l->bytes, &in->field, sizeof(in->field));
	LOG_INPUT_FIELDS(X)
#undef X
#define X(flag) put_number(l, in->flag);
	LOG_INPUT_FLAGS(X)
#undef X
	put_number(l, in->clock);
	put_text(l, in->format);
	strbuf_add(&l->bytes, &in->first_ns, sizeof(in->first_ns));
	strbuf_add(&l->bytes, &in->last_ns, sizeof(in->last_ns));
	put_number(l, in->facts.nr);
	for (size_t i = 0; i < in->facts.nr; i++) {
		put_text(l, in->facts.v[i].key);
		put_signed(l, in->facts.v[i].value);
	}
}

/* Never 0: an input that is not the first takes no guesses that it would have to take back. */
static input_id record_input(struct sink *s, const char *path, const char *reader)
{
	struct sink_log *l = log_of(s);

	put_record(l, LOG_INPUT);
	put_text(l, path);
	put_text(l, reader);
	return l->to->ops->input(l->to, path, reader) + 1;
}

static struct input *record_current(struct sink *s)
{
	struct sink_log *l = log_of(s);

	return l->to->ops->current(l->to);
}

static void record_clock(struct sink *s)
{
	struct sink_log *l = log_of(s);

	put_input(l, LOG_CLOCK);
	l->to->ops->clock(l->to);
}

static void record_input_end(struct sink *s)
{
	struct sink_log *l = log_of(s);

	put_input(l, LOG_END);
	l->to->ops->input_end(l->to);
}

static void record_input_again(struct sink *s)
{
	struct sink_log *l = log_of(s);

	l->again = true;
	l->to->ops->input_again(l->to);
}

static void record_expect(struct sink *s, uint64_t spans)
{
	put_record(log_of(s), LOG_EXPECT);
	put_number(log_of(s), spans);
}

/* A long text is cut by what others there are, so every call has it whole. */
static str_id record_string(struct sink *s, const char *str, size_t n)
{
	struct sink_log *l = log_of(s);
	str_id id = l->to->ops->string(l->to, str, n);

	if (n > SINK_TEXT_LONG || id >= l->known.nr || !l->known.v[id])
		text_record(l, id, str, n);
	return id;
}

static track_id record_track(struct sink *s, const struct track_def *d)
{
	struct sink_log *l = log_of(s);
	track_id id = l->to->ops->track(l->to, d);

	put_record(l, LOG_TRACK);
	put_number(l, id);
	put_number(l, d->kind);
	put_number(l, d->parent);
	put_number(l, d->owner);
	put_signed(l, d->pid);
	put_signed(l, d->tid);
	put_signed(l, d->rank);
	put_number(l, d->key);
	put_text(l, d->host);
	put_text(l, d->device);
	put_text(l, d->name);
	put_text(l, d->pci);
	return id;
}

static series_id record_series(struct sink *s, const struct series_def *d)
{
	struct sink_log *l = log_of(s);
	series_id id = l->to->ops->series(l->to, d);

	put_record(l, LOG_SERIES);
	put_number(l, id);
	put_number(l, d->kind);
	put_number(l, d->track);
	put_number(l, d->change_points);
	put_number(l, d->ends);
	put_number(l, d->exclusive_sync);
	put_number(l, d->estimated);
	put_text(l, d->name);
	put_text(l, d->unit);
	put_text(l, d->device);
	put_text(l, d->host);
	put_text(l, d->pci);
	return id;
}

static void record_enter(struct sink *s, track_id t, int64_t t_ns, str_id name, str_id category)
{
	struct sink_log *l = log_of(s);

	text_need(l, name);
	text_need(l, category);
	put_record(l, LOG_ENTER);
	put_number(l, t);
	put_time(l, t_ns);
	put_number(l, name);
	put_number(l, category);
	l->to->ops->enter(l->to, t, t_ns, name, category);
}

static span_id record_leave(struct sink *s, track_id t, int64_t t_ns, str_id name)
{
	struct sink_log *l = log_of(s);

	text_need(l, name);
	put_record(l, LOG_LEAVE);
	put_number(l, t);
	put_time(l, t_ns);
	put_number(l, name);
	return l->to->ops->leave(l->to, t, t_ns, name);
}

static void record_leave_args(struct sink *s, track_id t, str_id args)
{
	struct sink_log *l = log_of(s);

	text_need(l, args);
	put_record(l, LOG_ARGS);
	put_number(l, t);
	put_number(l, args);
	l->to->ops->leave_args(l->to, t, args);
}

static void record_open_kind(struct sink *s, track_id t, enum span_kind kind)
{
	struct sink_log *l = log_of(s);

	put_record(l, LOG_KIND);
	put_number(l, t);
	put_number(l, kind);
	l->to->ops->open_kind(l->to, t, kind);
}

static span_id record_span(struct sink *s, const struct span_def *d)
{
	struct sink_log *l = log_of(s);

	text_need(l, d->name);
	text_need(l, d->category);
	text_need(l, d->args);
	put_record(l, LOG_SPAN);
	put_number(l, d->track);
	put_time(l, d->start_ns);
	put_signed(l, (int64_t)((uint64_t)d->end_ns - (uint64_t)d->start_ns));
	put_number(l, d->name);
	put_number(l, d->category);
	put_number(l, d->correlation);
	put_number(l, d->kind);
	put_number(l, d->args);
	return l->to->ops->span(l->to, d);
}

static void record_sample(struct sink *s, series_id id, int64_t t_ns, double value)
{
	struct sink_log *l = log_of(s);

	put_record(l, LOG_SAMPLE);
	put_number(l, id);
	put_time(l, t_ns);
	strbuf_add(&l->bytes, &value, sizeof(value));
	l->to->ops->sample(l->to, id, t_ns, value);
}

static void record_link(struct sink *s, span_id from, span_id to, enum link_kind kind)
{
	struct sink_log *l = log_of(s);

	put_record(l, LOG_LINK);
	put_number(l, from);
	put_number(l, to);
	put_number(l, kind);
	l->to->ops->link(l->to, from, to, kind);
}

/* again: also those that stand in the log already, as it may be cut to its definitions. */
static void texts_need(struct sink_log *l, unsigned form, const void *row, bool again)
{
	const struct fact_form *ff = &fact_forms[form];

	for (size_t i = 0; i < ff->nr; i++) {
		str_id id;

		if (ff->fields[i].type != FACT_TEXT)
			continue;
		fact_take(row, &ff->fields[i], &id, sizeof(id));
		if (again && id < l->known.nr)
			l->known.v[id] = false;
		text_need(l, id);
	}
}

static void record_facts(struct sink *s, span_id span, const struct span_facts *f)
{
	struct sink_log *l = log_of(s);

	texts_need(l, f->kind, &f->op, false);
	put_record(l, LOG_FACTS);
	put_number(l, f->kind);
	put_number(l, span);
	log_put_row(&l->bytes, f->kind, &f->op);
}

/* Whether it is met for the first time; *ret_id is its number. */
static bool is_new(struct u64map *map, uint64_t hash, uint32_t *ret_id)
{
	uint32_t next = (uint32_t)map->nr, *id = u64map_at(map, hash);
	bool first = *id == U64MAP_NONE;

	if (first)
		*id = next;
	*ret_id = *id;
	return first;
}

static uint32_t record_operands(struct sink *s, const struct operand_texts *t)
{
	struct sink_log *l = log_of(s);
	uint32_t id;

	if (!operand_texts_any(t))
		return FACT_NONE;
	if (!is_new(&l->operands, operand_texts_hash(t), &id))
		return id;
	put_record(l, LOG_OPERANDS);
	put_number(l, id);
	log_put_operands(&l->bytes, t);
	return id;
}

static uint32_t record_numbers(struct sink *s, const int64_t *v, size_t n)
{
	struct sink_log *l = log_of(s);
	uint32_t id;

	if (!is_new(&l->numbers, XXH3_64bits(v, n * sizeof(*v)), &id))
		return id;
	put_record(l, LOG_NUMBERS);
	put_number(l, id);
	put_number(l, n);
	for (size_t i = 0; i < n; i++)
		log_put_fact(&l->bytes, v[i]);
	return id;
}

static void record_device(struct sink *s, const struct device_facts *d)
{
	struct sink_log *l = log_of(s);

	texts_need(l, FACT_FORM_DEVICE, d, true);
	put_record(l, LOG_DEVICE);
	log_put_row(&l->bytes, FACT_FORM_DEVICE, d);
}

static void record_world(struct sink *s, const struct world_facts *w)
{
	struct sink_log *l = log_of(s);

	texts_need(l, FACT_FORM_WORLD, w, true);
	put_record(l, LOG_WORLD);
	log_put_row(&l->bytes, FACT_FORM_WORLD, w);
}

static void record_warn(struct sink *s, const char *code, uint64_t count, const char *text)
{
	struct sink_log *l = log_of(s);

	put_record(l, LOG_WARN);
	put_text(l, code);
	put_number(l, count);
	put_text(l, text);
	l->to->ops->warn(l->to, code, count, text);
}

static void record_library(struct sink *s, struct library_calls *take)
{
	struct sink_log *l = log_of(s);
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;

	library_calls_save(take, &sb);
	put_record(l, LOG_LIBRARY);
	put_bytes(l, sb.buf, sb.len);
	l->to->ops->library(l->to, take);
}

static void record_sources(struct sink *s, struct source *const *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		while (v[i]->pull(v[i], s, UINT64_MAX) > 0)
			;
}

static const struct sink_ops record_ops = {
	.input = record_input,
	.current = record_current,
	.clock = record_clock,
	.input_end = record_input_end,
	.input_again = record_input_again,
	.expect = record_expect,
	.string = record_string,
	.track = record_track,
	.series = record_series,
	.enter = record_enter,
	.leave = record_leave,
	.leave_args = record_leave_args,
	.open_kind = record_open_kind,
	.span = record_span,
	.sample = record_sample,
	.link = record_link,
	.facts = record_facts,
	.operands = record_operands,
	.numbers = record_numbers,
	.device = record_device,
	.world = record_world,
	.warn = record_warn,
	.library = record_library,
	.sources = record_sources,
};

/* ---- life ---- */

struct sink_log *sink_log_new(const char *host, bool everywhere)
{
	struct sink_log *l = xcalloc(1, sizeof(*l));

	l->sink.ops = &record_ops;
	l->counter = counter_new();
	l->to = counter_sink(l->counter);
	model_set_default_host(model_priv_of(l->to)->model, host, everywhere);
	strbuf_init(&l->bytes);
	strbuf_limit(&l->bytes, SINK_LOG_MAX);
	return l;
}

void sink_log_free(struct sink_log *l)
{
	if (!l)
		return;
	counter_free(l->counter);
	strbuf_release(&l->bytes);
	VEC_RELEASE(&l->known);
	u64map_release(&l->operands);
	u64map_release(&l->numbers);
	free(l);
}

void sink_log_freep(struct sink_log **l)
{
	sink_log_free(*l);
	*l = NULL;
}

struct sink *sink_log_sink(struct sink_log *l)
{
	return &l->sink;
}

void sink_log_failed(struct sink_log *l)
{
	if (l->to->ops->current(l->to))
		put_input(l, LOG_FIELDS);
}

const char *sink_log_bytes(const struct sink_log *l, size_t *ret_n)
{
	*ret_n = l->bytes.len;
	return l->again || l->bytes.overflow ? NULL : l->bytes.buf;
}
