/* A log of sink_record.c, pushed into a sink. */
#include "facts_private.h"
#include "sink_log_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/reader_names.h"
#include "profrig/base/serial.h"
#include "profrig/base/xalloc.h"
#include "profrig/model/library_calls.h"
#include "profrig/model/warnings.h"

struct player {
	struct serial_in in;
	struct sink *to;
	VEC(str_id) texts; /* by the writer's ids; STR_NONE: it has none */
	VEC(track_id) tracks;
	VEC(series_id) series;
	VEC(uint32_t) operands, numbers;
	uint64_t first_span, spans; /* of the model, and how many the log has had */
	int64_t t_ns;
	bool begun; /* an input */
};

/* ---- values ---- */

static uint64_t take_number(struct player *p)
{
	return log_take_number(&p->in);
}

static int64_t take_signed(struct player *p)
{
	uint64_t v = take_number(p);

	return (int64_t)(v >> 1 ^ (0 - (v & 1)));
}

static int64_t take_time(struct player *p)
{
	p->t_ns = (int64_t)((uint64_t)p->t_ns + (uint64_t)take_signed(p));
	return p->t_ns;
}

static const char *take_bytes(struct player *p, size_t *ret_n)
{
	uint64_t n = take_number(p);
	const char *at = p->in.at;

	if (n > (size_t)(p->in.end - p->in.at)) {
		p->in.bad = true;
		n = 0;
	}
	p->in.at += n;
	*ret_n = (size_t)n;
	return at;
}

/* Owned; NULL where the writer had NULL. */
static char *take_text(struct player *p)
{
	uint64_t n = take_number(p);
	char *text;

	if (n == 0)
		return NULL;
	if (n - 1 > (size_t)(p->in.end - p->in.at)) {
		p->in.bad = true;
		return NULL;
	}
	text = xstrndup(p->in.at, (size_t)n - 1);
	p->in.at += n - 1;
	return text;
}

static unsigned take_below(struct player *p, unsigned end)
{
	uint64_t v = take_number(p);

	p->in.bad |= v >= end;
	return p->in.bad ? 0 : (unsigned)v;
}

/* ---- ids ---- */

static str_id take_id(struct player *p)
{
	uint64_t id = take_number(p);

	if (id == STR_NONE || id == 0)
		return (str_id)id;
	if (id < p->texts.nr && p->texts.v[id] != STR_NONE)
		return p->texts.v[id];
	p->in.bad = true;
	return 0;
}

/* A number that the reader made up stays one that the sink does not know. */
static track_id take_track(struct player *p)
{
	uint64_t id = take_number(p);

	return id < p->tracks.nr ? p->tracks.v[id] : TRACK_NONE;
}

/* Both sides number spans in the order in which they are pushed. */
static span_id take_span(struct player *p)
{
	uint64_t id = take_number(p);

	return id < p->spans ? p->first_span + id : SPAN_NONE;
}

/* The writer numbers what it gets a number for: one more each time. */
#define MAP_SET(p, vec, id, value) \
	do { \
		if ((id) < (vec)->nr) \
			(vec)->v[id] = (value); \
		else if ((id) == (vec)->nr) \
			VEC_PUSH((vec), (value)); \
		else \
			(p)->in.bad = true; \
	} while (0)

/* ---- the calls ---- */

static const char *reader_name(const char *name)
{
#define X(reader) #reader,
	static const char *const names[] = { READERS(X) };
#undef X

	for (size_t i = 0; name && i < ARRAY_LEN(names); i++)
		if (!strcmp(names[i], name))
			return names[i];
	return NULL;
}

static void play_input(struct player *p)
{
	CLEANUP(xfreep) char *path = take_text(p);
	CLEANUP(xfreep) char *reader = take_text(p);
	const char *name = reader_name(reader);

	p->in.bad |= !path || !name;
	if (p->in.bad)
		return;
	p->begun = true;
	p->to->ops->input(p->to, path, name);
}

static void take_facts(struct player *p, bool put)
{
	uint64_t n = take_number(p);

	for (uint64_t i = 0; i < n && !p->in.bad; i++) {
		CLEANUP(xfreep) char *key = take_text(p);
		int64_t value = take_signed(p);

		p->in.bad |= !key;
		if (put && key)
			sink_fact(p->to, key, value);
	}
}

/* Spans and samples had widened the writer's times as they do here. */
static void play_input_fields(struct player *p, enum sink_log_record r)
{
	struct input *in = p->begun ? p->to->ops->current(p->to) : NULL;
	bool partial;

	if (!in) {
		p->in.bad = true;
		return;
	}
	partial = in->partial;
#define X(field) SERIAL_TAKE(&p->in, in->field);
	LOG_INPUT_FIELDS(X)
#undef X
#define X(flag) in->flag = take_below(p, 2);
	LOG_INPUT_FLAGS(X)
#undef X
	in->clock = (enum trace_clock)take_below(p, TRACE_CLOCK_BOOTTIME + 1);
	in->partial |= partial;
	free(in->format);
	in->format = take_text(p);
	SERIAL_TAKE(&p->in, in->first_ns);
	SERIAL_TAKE(&p->in, in->last_ns);
	take_facts(p, r != LOG_CLOCK);
	if (r == LOG_END)
		p->to->ops->input_end(p->to);
	else if (r == LOG_CLOCK)
		p->to->ops->clock(p->to);
	p->begun &= r != LOG_END;
}

static void play_string(struct player *p)
{
	uint64_t id = take_number(p);
	size_t n;
	const char *text = take_bytes(p, &n);

	/* ids of hosts and devices lie between those of texts */
	if (p->in.bad || id >= UINT32_MAX - 1 || id > p->texts.nr + ((uint64_t)1 << 24)) {
		p->in.bad = true;
		return;
	}
	while (p->texts.nr <= id)
		VEC_PUSH(&p->texts, STR_NONE);
	p->texts.v[id] = p->to->ops->string(p->to, text, n);
}

static void play_track(struct player *p)
{
	uint64_t id = take_number(p);
	struct track_def d = TRACK_DEF_INIT;

	d.kind = (enum track_kind)take_below(p, TRACK_COUNTER + 1);
	d.parent = take_track(p);
	d.owner = take_track(p);
	d.pid = take_signed(p);
	d.tid = take_signed(p);
	d.rank = (int32_t)take_signed(p);
	d.key = take_number(p);
	CLEANUP(xfreep) char *host = take_text(p);
	CLEANUP(xfreep) char *device = take_text(p);
	CLEANUP(xfreep) char *name = take_text(p);
	CLEANUP(xfreep) char *pci = take_text(p);
	d.host = host;
	d.device = device;
	d.name = name;
	d.pci = pci;
	if (!p->in.bad)
		MAP_SET(p, &p->tracks, id, p->to->ops->track(p->to, &d));
}

static void play_series(struct player *p)
{
	uint64_t id = take_number(p);
	struct series_def d = { .kind = (enum series_kind)take_below(p, SERIES_GAUGE + 1) };

	d.track = take_track(p);
	d.change_points = take_number(p);
	d.ends = take_number(p);
	d.exclusive_sync = take_number(p);
	d.estimated = take_number(p);
	CLEANUP(xfreep) char *name = take_text(p);
	CLEANUP(xfreep) char *unit = take_text(p);
	CLEANUP(xfreep) char *device = take_text(p);
	CLEANUP(xfreep) char *host = take_text(p);
	CLEANUP(xfreep) char *pci = take_text(p);
	d.name = name;
	d.unit = unit;
	d.device = device;
	d.host = host;
	d.pci = pci;
	p->in.bad |= !name;
	if (!p->in.bad)
		MAP_SET(p, &p->series, id, p->to->ops->series(p->to, &d));
}

static void play_enter(struct player *p)
{
	track_id t = take_track(p);
	int64_t t_ns = take_time(p);
	str_id name = take_id(p), category = take_id(p);

	if (p->in.bad)
		return;
	p->to->ops->enter(p->to, t, t_ns, name, category);
	p->spans += t != TRACK_NONE;
}

static void play_span(struct player *p)
{
	struct span_def d = { .track = take_track(p) };

	d.start_ns = take_time(p);
	d.end_ns = (int64_t)((uint64_t)d.start_ns + (uint64_t)take_signed(p));
	d.name = take_id(p);
	d.category = take_id(p);
	d.correlation = take_number(p);
	d.kind = (enum span_kind)take_below(p, SPAN_INSTANT + 1);
	d.args = take_id(p);
	if (p->in.bad)
		return;
	p->to->ops->span(p->to, &d);
	p->spans += d.track != TRACK_NONE;
}

static void play_leave(struct player *p)
{
	track_id t = take_track(p);
	int64_t t_ns = take_time(p);
	str_id name = take_id(p);

	if (!p->in.bad)
		p->to->ops->leave(p->to, t, t_ns, name);
}

static void play_args(struct player *p)
{
	track_id t = take_track(p);
	str_id args = take_id(p);

	if (!p->in.bad)
		p->to->ops->leave_args(p->to, t, args);
}

static void play_kind(struct player *p)
{
	track_id t = take_track(p);
	unsigned kind = take_below(p, SPAN_INSTANT + 1);

	if (!p->in.bad)
		p->to->ops->open_kind(p->to, t, (enum span_kind)kind);
}

static void play_sample(struct player *p)
{
	uint64_t id = take_number(p);
	int64_t t_ns = take_time(p);
	double value;

	SERIAL_TAKE(&p->in, value);
	if (!p->in.bad)
		p->to->ops->sample(p->to, id < p->series.nr ? p->series.v[id] : SERIES_NONE, t_ns,
				   value);
}

static void play_link(struct player *p)
{
	span_id from = take_span(p), to = take_span(p);
	unsigned kind = take_below(p, LINK_STACK + 1);

	if (!p->in.bad)
		p->to->ops->link(p->to, from, to, (enum link_kind)kind);
}

/* ---- facts ---- */

static struct log_fact_ids fact_ids(const struct player *p)
{
	return (struct log_fact_ids){ { p->texts.v, p->texts.nr },
				      { p->operands.v, p->operands.nr },
				      { p->numbers.v, p->numbers.nr } };
}

static void take_row(struct player *p, unsigned form, void *row)
{
	struct log_fact_ids ids = fact_ids(p);

	log_take_row(&p->in, form, row, &ids);
}

static void play_facts(struct player *p)
{
	struct span_facts row = { .kind = (enum facts_kind)take_below(p, FACTS_LAST + 1) };
	span_id span = take_span(p);

	take_row(p, row.kind, &row.op);
	if (!p->in.bad)
		p->to->ops->facts(p->to, span, &row);
}

static void play_operands(struct player *p)
{
	uint64_t id = take_number(p);
	struct operand_texts t;

	log_take_operands(&p->in, &t);
	if (!p->in.bad)
		MAP_SET(p, &p->operands, id, p->to->ops->operands(p->to, &t));
}

static void play_numbers(struct player *p)
{
	uint64_t id = take_number(p), n = take_number(p);
	VEC(int64_t) v = VEC_INIT;

	p->in.bad |= n > (size_t)(p->in.end - p->in.at);
	for (uint64_t i = 0; i < n && !p->in.bad; i++)
		VEC_PUSH(&v, log_take_fact(&p->in));
	if (!p->in.bad)
		MAP_SET(p, &p->numbers, id, p->to->ops->numbers(p->to, v.v, v.nr));
	VEC_RELEASE(&v);
}

static void play_device(struct player *p)
{
	struct device_facts d = DEVICE_FACTS_NONE;

	take_row(p, FACT_FORM_DEVICE, &d);
	if (!p->in.bad)
		p->to->ops->device(p->to, &d);
}

static void play_world(struct player *p)
{
	struct world_facts w = WORLD_FACTS_NONE;

	take_row(p, FACT_FORM_WORLD, &w);
	if (!p->in.bad)
		p->to->ops->world(p->to, &w);
}

static void play_warn(struct player *p)
{
	CLEANUP(xfreep) char *code = take_text(p);
	uint64_t count = take_number(p);
	CLEANUP(xfreep) char *text = take_text(p);
	const struct warning_info *known = code ? warning_find(code) : NULL;

	p->in.bad |= !known || !text;
	if (!p->in.bad)
		p->to->ops->warn(p->to, known->code, count, text);
}

static void play_library(struct player *p)
{
	CLEANUP(library_calls_freep) struct library_calls *calls = NULL;
	size_t n;
	const char *at = take_bytes(p, &n);
	struct serial_in in = { at, at + n, p->in.bad };

	calls = library_calls_load(&in);
	p->in.bad |= in.bad || in.at != in.end;
	if (!p->in.bad)
		p->to->ops->library(p->to, STEAL(calls));
}

static void play_record(struct player *p)
{
	enum sink_log_record r = (enum sink_log_record) * p->in.at++;
	uint64_t spans;

	/* All others belong to an input. */
	if (!p->begun && r != LOG_INPUT) {
		p->in.bad = true;
		return;
	}
	switch (r) {
	case LOG_INPUT:
		play_input(p);
		return;
	case LOG_CLOCK:
	case LOG_END:
	case LOG_FIELDS:
		play_input_fields(p, r);
		return;
	case LOG_EXPECT:
		spans = take_number(p);
		if (!p->in.bad)
			p->to->ops->expect(p->to, spans);
		return;
	case LOG_STRING:
		play_string(p);
		return;
	case LOG_TRACK:
		play_track(p);
		return;
	case LOG_SERIES:
		play_series(p);
		return;
	case LOG_ENTER:
		play_enter(p);
		return;
	case LOG_LEAVE:
		play_leave(p);
		return;
	case LOG_ARGS:
		play_args(p);
		return;
	case LOG_KIND:
		play_kind(p);
		return;
	case LOG_SPAN:
		play_span(p);
		return;
	case LOG_SAMPLE:
		play_sample(p);
		return;
	case LOG_LINK:
		play_link(p);
		return;
	case LOG_FACTS:
		play_facts(p);
		return;
	case LOG_OPERANDS:
		play_operands(p);
		return;
	case LOG_NUMBERS:
		play_numbers(p);
		return;
	case LOG_DEVICE:
		play_device(p);
		return;
	case LOG_WORLD:
		play_world(p);
		return;
	case LOG_WARN:
		play_warn(p);
		return;
	case LOG_LIBRARY:
		play_library(p);
		return;
	}
	p->in.bad = true;
}

static int player_end(struct player *p, struct err *err)
{
	VEC_RELEASE(&p->texts);
	VEC_RELEASE(&p->tracks);
	VEC_RELEASE(&p->series);
	VEC_RELEASE(&p->operands);
	VEC_RELEASE(&p->numbers);
	return p->in.bad ? err_set(err, EBADMSG, "what was sent of an input is damaged") : 0;
}

int sink_log_play_tracks(const char *bytes, size_t n, struct model *m, struct sink_log_tracks *ret,
			 struct err *err)
{
	struct player p = { .in = { bytes, bytes + n, false },
			    .to = model_sink(m),
			    .first_span = m->spans.nr };

	while (p.in.at < p.in.end && !p.in.bad)
		play_record(&p);
	for (size_t i = 0; ret && i < p.tracks.nr; i++)
		VEC_PUSH(&ret->v, p.tracks.v[i]);
	return player_end(&p, err);
}

int sink_log_play(const char *bytes, size_t n, struct model *m, struct err *err)
{
	return sink_log_play_tracks(bytes, n, m, NULL, err);
}

/* ---- without spans ---- */

static void skip_bytes(struct player *p, size_t n)
{
	p->in.bad |= n > (size_t)(p->in.end - p->in.at);
	p->in.at += p->in.bad ? 0 : n;
}

static void skip_text(struct player *p)
{
	uint64_t n = take_number(p);

	skip_bytes(p, n ? (size_t)n - 1 : 0);
}

static void skip_numbers(struct player *p, unsigned n)
{
	while (n-- > 0)
		take_number(p);
}

static void skip_fields(struct player *p)
{
	const struct input *in = NULL;
	size_t n = sizeof(in->first_ns) + sizeof(in->last_ns);
	uint64_t facts;

#define X(field) skip_bytes(p, sizeof(in->field));
	LOG_INPUT_FIELDS(X)
#undef X
#define X(flag) skip_numbers(p, 1);
	LOG_INPUT_FLAGS(X)
#undef X
	skip_numbers(p, 1);
	skip_text(p);
	skip_bytes(p, n);
	facts = take_number(p);
	for (uint64_t i = 0; i < facts && !p->in.bad; i++) {
		skip_text(p);
		take_number(p);
	}
}

static void skip_texts(struct player *p, unsigned numbers, unsigned texts)
{
	skip_numbers(p, numbers);
	while (texts-- > 0)
		skip_text(p);
}

static void skip_facts(struct player *p, enum sink_log_record r)
{
	uint64_t numbers;
	unsigned form;

	switch (r) {
	case LOG_OPERANDS:
		skip_texts(p, 1, 4);
		return;
	case LOG_NUMBERS:
		take_number(p);
		numbers = take_number(p);
		for (uint64_t i = 0; i < numbers && !p->in.bad; i++)
			take_number(p);
		return;
	case LOG_FACTS:
		form = take_below(p, FACTS_LAST + 1);
		take_number(p);
		break;
	default:
		form = r == LOG_DEVICE ? FACT_FORM_DEVICE : FACT_FORM_WORLD;
		break;
	}
	skip_numbers(p, (unsigned)fact_forms[form].nr);
}

/* The number of the track that has a call of this record; UINT64_MAX: none. *ret_keep: it stays. */
static uint64_t record_skip(struct player *p, enum sink_log_record r, bool *ret_keep)
{
	uint64_t track = UINT64_MAX;
	size_t n;

	*ret_keep = true;
	switch (r) {
	case LOG_INPUT:
		skip_texts(p, 0, 2);
		return track;
	case LOG_CLOCK:
	case LOG_END:
	case LOG_FIELDS:
		skip_fields(p);
		return track;
	case LOG_TRACK:
		skip_texts(p, 8, 4);
		return track;
	case LOG_SERIES:
		skip_texts(p, 7, 5);
		return track;
	case LOG_WARN:
		skip_text(p);
		take_number(p);
		skip_text(p);
		return track;
	case LOG_LIBRARY:
		take_bytes(p, &n);
		return track;
	case LOG_DEVICE:
	case LOG_WORLD:
		skip_facts(p, r);
		return track;
	default:
		break;
	}
	*ret_keep = false;
	switch (r) {
	case LOG_ENTER:
	case LOG_SPAN:
		track = take_number(p);
		take_time(p);
		skip_numbers(p, r == LOG_ENTER ? 2 : 6);
		return track;
	case LOG_LEAVE:
		take_number(p);
		take_time(p);
		take_number(p);
		return track;
	case LOG_ARGS:
	case LOG_KIND:
		skip_numbers(p, 2);
		return track;
	case LOG_LINK:
		skip_numbers(p, 3);
		return track;
	case LOG_FACTS:
	case LOG_OPERANDS:
	case LOG_NUMBERS:
		skip_facts(p, r);
		return track;
	case LOG_EXPECT:
		take_number(p);
		return track;
	case LOG_STRING:
		take_number(p);
		take_bytes(p, &n);
		return track;
	default:
		p->in.bad = true;
		return track;
	}
}

/* Its time is a difference to that of a record which may be left out. */
static void sample_copy(struct player *p, struct strbuf *to, int64_t *before)
{
	uint64_t id = take_number(p);
	int64_t t_ns = take_time(p);
	double value;

	SERIAL_TAKE(&p->in, value);
	strbuf_addch(to, LOG_SAMPLE);
	log_put_number(to, id);
	log_put_time(to, before, t_ns);
	strbuf_add(to, &value, sizeof(value));
}

int sink_log_definitions(const char *bytes, size_t n, struct strbuf *to,
			 struct sink_log_tracks *ret, struct err *err)
{
	struct player p = { .in = { bytes, bytes + n, false } };
	VEC(bool) has = VEC_INIT;
	const char *texts = NULL; /* that stand right in front of a record */
	int64_t before = 0;

	while (p.in.at < p.in.end && !p.in.bad) {
		const char *at = p.in.at++;
		uint64_t track;
		bool keep;

		if (*at == LOG_STRING)
			texts = texts ?: at;
		else if (*at != LOG_DEVICE && *at != LOG_WORLD)
			texts = NULL;

		if (*at == LOG_SAMPLE) {
			sample_copy(&p, to, &before);
			continue;
		}
		track = record_skip(&p, (enum sink_log_record) * at, &keep);
		if (keep) {
			const char *from = texts ?: at; /* a device needs its texts */

			strbuf_add(to, from, (size_t)(p.in.at - from));
			texts = NULL;
		}
		while (track < UINT32_MAX && has.nr <= track && track < has.nr + ((size_t)1 << 20))
			VEC_PUSH(&has, false);
		if (track < has.nr)
			has.v[track] = true;
	}
	for (size_t i = 0; i < has.nr; i++)
		if (has.v[i])
			VEC_PUSH(&ret->v, (uint32_t)i);
	VEC_RELEASE(&has);
	return player_end(&p, err);
}
