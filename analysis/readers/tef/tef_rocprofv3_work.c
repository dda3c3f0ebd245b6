/*
 * The lists of records. An unknown list is taken for calls, as new kinds are mostly APIs. Ranges of
 * a process (roctxRangeStart) are no calls of a thread: they may end on another one, and overlap. A
 * marker whose start is its end is a mark.
 *
 * Counters of a dispatch become samples of its queue at its end, the instances of a counter summed.
 * Where dispatches were not traced, those with counters are the kernels.
 */
#include "tef_rocprofv3.h"

#include <inttypes.h>
#include <string.h>

#include "profrig/base/num.h"
#include "profrig/base/progress.h"

/* Of one dispatch. */
#define MAX_COUNTERS 256

static const struct {
	const char *word;
	enum v3_field field;
} fields[] = {
	{ "start_timestamp", V3_START },
	{ "end_timestamp", V3_END },
	{ "timestamp", V3_TIME },
	{ "thread_id", V3_THREAD },
	{ "kind", V3_KIND },
	{ "operation", V3_OPERATION },
	{ "kernel_id", V3_KERNEL },
	{ "dispatch_id", V3_DISPATCH },
	{ "internal", V3_CORRELATION },
	{ "agent_id", V3_AGENT },
	{ "queue_id", V3_QUEUE },
	{ "stream_id", V3_STREAM },
	{ "src_agent_id", V3_SOURCE },
	{ "dst_agent_id", V3_DESTINATION },
	{ "inst_index", V3_INSTRUCTION },
};

static int field_of(const struct json_text *key)
{
	for (size_t i = 0; i < ARRAY_LEN(fields); i++)
		if (json_text_is(key, fields[i].word))
			return (int)fields[i].field;
	return -1;
}

/* Objects whose members are the record's own. */
static bool is_part(const struct json_text *key)
{
	return json_text_is(key, "correlation_id") || json_text_is(key, "dispatch_info") ||
	       json_text_is(key, "dispatch_data") || json_text_is(key, "record");
}

static int take_values(struct json_cur *c, struct json_text *to)
{
	const char *from = c->p;
	int r = json_skip(c);

	*to = (struct json_text){ .p = from, .n = (size_t)(c->p - from) };
	return r;
}

static int take_members(struct json_cur *c, struct v3_record *rec, int depth)
{
	struct json_text key;
	bool some = false;
	int r;

	c->p++;
	while ((r = json_member(c, &some, &key)) > 0) {
		char ch = json_peek(c);
		int f = field_of(&key);

		if (ch == '{' && f >= 0)
			r = v3_take_handle(c, &rec->field[f]);
		else if (ch == '{' && depth < 3 && is_part(&key))
			r = take_members(c, rec, depth + 1);
		else if (ch == '[' && json_text_is(&key, "records"))
			r = take_values(c, &rec->values);
		else if (f >= 0 && ch != '[')
			r = json_scalar(c, &rec->field[f]);
		else
			r = json_skip(c);
		if (r < 0)
			return r;
	}
	return r;
}

/* 1: rec is a record; 0: another value. */
static int take_record(struct v3 *v, struct json_cur *c, struct v3_record *rec)
{
	const char *from;
	int r;

	*rec = (struct v3_record){ .raw = { .p = NULL } };
	v->t->at = (size_t)(c->p - v->t->map.data);
	if (json_peek(c) != '{') {
		tef_bad_event(v->t, "record that is no object");
		return json_skip(c);
	}
	from = c->p;
	r = take_members(c, rec, 0);
	rec->raw = (struct json_text){ .p = from, .n = (size_t)(c->p - from) };
	return r < 0 ? r : 1;
}

/* --- one record --- */

static bool time_of(struct v3 *v, const struct json_text *text, int64_t *ret)
{
	uint64_t ns;

	if (!text->p) {
		tef_bad_event(v->t, "record without a time");
		return false;
	}
	if (!v3_number(text, &ns) || ns > TIME_MAX) {
		tef_bad_number(v->t, "time", text);
		return false;
	}
	if (ns == 0) {
		tef_bad_event(v->t, "record whose time is 0");
		return false;
	}
	*ret = (int64_t)ns;
	return true;
}

static const struct v3_kind *kind_of(const struct v3 *v, const struct v3_record *rec)
{
	uint64_t i;

	return v3_number(&rec->field[V3_KIND], &i) && i < v->kinds.nr ? &v->kinds.v[i] : NULL;
}

static str_id number_name(struct v3 *v, const char *what, const struct json_text *number)
{
	uint64_t id = 0;
	char name[64];

	v3_number(number, &id);
	v3_unknown(v, what, id);
	snprintf(name, sizeof(name), "%s %" PRIu64, what, id);
	return sink_puts(v->t->sink, name);
}

static str_id operation_name(struct v3 *v, const struct v3_record *rec, const struct v3_kind *kind)
{
	uint64_t i;

	if (kind && v3_number(&rec->field[V3_OPERATION], &i) && i < kind->ops)
		return v->ops.v[kind->first_op + i].name;
	return number_name(v, "operation", &rec->field[V3_OPERATION]);
}

/* Every process counts its correlations from the start. */
static uint64_t correlation_of(const struct v3 *v, const struct v3_record *rec)
{
	uint64_t id;

	if (!v3_number(&rec->field[V3_CORRELATION], &id) || id == 0)
		return 0;
	return v->nr == 0 ? id : tef_hash(id, v->nr, 0);
}

static bool span_of(struct v3 *v, const struct v3_record *rec, struct span_def *d)
{
	const struct v3_kind *kind = kind_of(v, rec);

	if (!time_of(v, &rec->field[V3_START], &d->start_ns) ||
	    !time_of(v, &rec->field[V3_END], &d->end_ns))
		return false;
	d->category = kind ? kind->name : 0;
	d->correlation = correlation_of(v, rec);
	d->args = d->kind == SPAN_KERNEL ? tef_kernel_args(v->t, &rec->raw)
					 : tef_args(v->t, &rec->raw);
	return true;
}

static void span_push(struct v3 *v, const struct span_def *d)
{
	v->t->sink->ops->span(v->t->sink, d);
	v->records++;
}

/* A stream where there is one: queues are shared by streams. */
static const struct json_text *queue_of(const struct v3_record *rec)
{
	uint64_t stream = 0;

	v3_number(&rec->field[V3_STREAM], &stream);
	return stream != 0 || !rec->field[V3_QUEUE].p ? &rec->field[V3_STREAM]
						      : &rec->field[V3_QUEUE];
}

static const struct v3_agent *agent_of(struct v3 *v, const struct json_text *handle)
{
	const struct v3_agent *a = v3_agent(v, handle);
	uint64_t id;

	if (!a && v3_number(handle, &id))
		v3_unknown(v, "agent", id);
	return a;
}

static void push_kernel(struct v3 *v, const struct v3_record *rec)
{
	struct span_def d = { .kind = SPAN_KERNEL };
	uint64_t kernel, dispatch;

	if (!span_of(v, rec, &d))
		return;
	d.name = v3_number(&rec->field[V3_KERNEL], &kernel) ? v3_name(&v->kernels, kernel)
							    : STR_NONE;
	if (d.name == STR_NONE)
		d.name = number_name(v, "kernel", &rec->field[V3_KERNEL]);
	d.track = v3_queue(v, agent_of(v, &rec->field[V3_AGENT]), queue_of(rec));
	span_push(v, &d);
	if (!v3_number(&rec->field[V3_DISPATCH], &dispatch))
		return;
	*u64map_at(&v->dispatch_at, dispatch) = (uint32_t)v->dispatch_ends.nr;
	VEC_PUSH(&v->dispatch_ends, d.end_ns);
}

/* A copy from the host runs on the destination device, any other on the source device. */
static void push_copy(struct v3 *v, const struct v3_record *rec)
{
	const struct v3_agent *from = agent_of(v, &rec->field[V3_SOURCE]);
	const struct v3_agent *to = agent_of(v, &rec->field[V3_DESTINATION]);
	struct span_def d = { .kind = SPAN_COPY };

	if (!span_of(v, rec, &d))
		return;
	d.name = operation_name(v, rec, kind_of(v, rec));
	d.track = v3_queue(v, from && from->gpu ? from : to ? to : from, queue_of(rec));
	span_push(v, &d);
}

/* Beside the threads, in rows of their own. */
static void unlinked_push(struct v3 *v, const struct v3_record *rec, const struct span_def *d)
{
	struct tef_async a = { .t_ns = d->start_ns,
			       .group = tef_hash(v->nr, v->t->asyncs.nr, 0),
			       .pid = tef_id_of(&rec->field[V3_THREAD]),
			       .name = d->name,
			       .category = d->category,
			       .args = d->args,
			       .order = (uint32_t)v->t->asyncs.nr,
			       .ph = 'b',
			       .named = true };

	a.pid = (struct tef_id){ .type = v->pid > 0 ? TEF_ID_NUMBER : TEF_ID_NONE,
				 .number = v->pid };
	a.pid_key = tef_hash((uint64_t)v->pid, v->nr, 0);
	VEC_PUSH(&v->t->asyncs, a);
	a.t_ns = d->end_ns < d->start_ns ? d->start_ns : d->end_ns;
	a.ph = 'e';
	a.order++;
	VEC_PUSH(&v->t->asyncs, a);
	v->records++;
}

static bool is_range(const struct v3 *v, const struct v3_record *rec, const struct v3_kind *kind)
{
	uint64_t i;

	return v3_number(&rec->field[V3_OPERATION], &i) && i < kind->ops &&
	       v->ops.v[kind->first_op + i].range;
}

static void push_call(struct v3 *v, const struct v3_record *rec)
{
	const struct v3_kind *kind = kind_of(v, rec);
	struct span_def d = { .kind = SPAN_HOST };
	uint64_t id;

	if (!span_of(v, rec, &d))
		return;
	d.name = STR_NONE;
	if (kind && kind->marker) {
		if (v3_number(&rec->field[V3_CORRELATION], &id))
			d.name = v3_name(&v->markers, id);
		d.kind = d.start_ns == d.end_ns ? SPAN_INSTANT : SPAN_ANNOTATION;
	}
	if (d.name == STR_NONE)
		d.name = operation_name(v, rec, kind);
	if (d.kind == SPAN_ANNOTATION && is_range(v, rec, kind)) {
		unlinked_push(v, rec, &d);
		return;
	}
	d.track = v3_thread(v, &rec->field[V3_THREAD]);
	span_push(v, &d);
}

/* An allocation for a queue is on the queue, one by a thread on the thread. */
static void push_memory(struct v3 *v, const struct v3_record *rec)
{
	struct span_def d = { .kind = SPAN_ANNOTATION };

	if (!span_of(v, rec, &d))
		return;
	d.name = operation_name(v, rec, kind_of(v, rec));
	d.correlation = 0;
	d.track = rec->field[V3_QUEUE].p
			  ? v3_queue(v, agent_of(v, &rec->field[V3_AGENT]), queue_of(rec))
			  : v3_thread(v, &rec->field[V3_THREAD]);
	span_push(v, &d);
}

static void push_pc(struct v3 *v, const struct v3_record *rec)
{
	struct span_def d = { .kind = SPAN_INSTANT };
	uint64_t i;

	if (!time_of(v, &rec->field[V3_TIME], &d.start_ns))
		return;
	d.end_ns = d.start_ns;
	d.name = v3_number(&rec->field[V3_INSTRUCTION], &i) && i < v->instructions.nr
			 ? v->instructions.v[i]
			 : number_name(v, "instruction", &rec->field[V3_INSTRUCTION]);
	d.category = sink_puts(v->t->sink, "pc_sampling");
	d.args = tef_args(v->t, &rec->raw);
	d.track = v3_pc_track(v);
	span_push(v, &d);
}

/* --- counters --- */

struct counter {
	uint64_t id;
	double value;
};

struct counter_texts {
	struct json_text id, value;
};

/* The values of a dispatch by counter, its instances summed. */
static size_t take_counters(struct v3 *v, const struct json_text *list, struct counter *sums)
{
	static const struct json_known members[] = {
		JSON_INTO("counter_id", v3_take_handle, struct counter_texts, id),
		JSON_INTO("value", json_take_text, struct counter_texts, value),
	};
	struct json_cur c = json_cur_of(list);
	bool some = false;
	size_t nr = 0;

	if (!list->p || json_open(&c, '[') < 0)
		return 0;
	while (json_element(&c, &some) > 0) {
		struct counter_texts t = { .id = { .p = NULL } };
		struct counter one;
		size_t i = 0;

		if (json_members(&c, members, ARRAY_LEN(members), &t) < 0)
			return nr;
		if (!v3_number(&t.id, &one.id) || !t.value.p ||
		    num_f64(t.value.p, t.value.n, &one.value) < 0) {
			tef_bad_number(v->t, "value of a counter", &t.value);
			continue;
		}
		while (i < nr && sums[i].id != one.id)
			i++;
		if (i == MAX_COUNTERS) {
			tef_bad_event(v->t, "too many counters in one dispatch");
			return nr;
		}
		if (i == nr)
			sums[nr++] = (struct counter){ one.id, 0 };
		sums[i].value += one.value;
	}
	return nr;
}

static series_id series_of(struct v3 *v, const struct v3_record *rec, uint64_t counter)
{
	const struct v3_agent *a = agent_of(v, &rec->field[V3_AGENT]);
	track_id queue = v3_queue(v, a, queue_of(rec));
	uint32_t *at = u64map_at(&v->series_at, tef_hash(counter, v->nr, queue));
	uint32_t name = u64map_get(&v->counter_at, counter);
	struct series_def d = { .track = queue, .device = a ? a->device : NULL };
	struct strbuf *text = &v->t->text;

	if (*at != U64MAP_NONE)
		return *at;
	strbuf_clear(text);
	if (name != U64MAP_NONE) {
		json_decode(&v->counters.v[name], text);
	} else {
		v3_unknown(v, "counter", counter);
		strbuf_addf(text, "counter %" PRIu64, counter);
	}
	d.name = text->buf;
	d.host = v->t->doc.host[0] ? v->t->doc.host : NULL;
	return *at = v->t->sink->ops->series(v->t->sink, &d);
}

/* The end of a dispatch, from its own record or from that of the kernel trace. */
static bool end_of(const struct v3 *v, const struct v3_record *rec, int64_t *ret)
{
	uint64_t id, ns;
	uint32_t at;

	if (v3_number(&rec->field[V3_END], &ns) && ns > 0 && ns <= TIME_MAX) {
		*ret = (int64_t)ns;
		return true;
	}
	if (!v3_number(&rec->field[V3_DISPATCH], &id))
		return false;
	at = u64map_get(&v->dispatch_at, id);
	if (at == U64MAP_NONE)
		return false;
	*ret = v->dispatch_ends.v[at];
	return true;
}

static void push_counters(struct v3 *v, const struct v3_record *rec)
{
	struct counter sums[MAX_COUNTERS];
	uint64_t id;
	int64_t end_ns;
	size_t nr = take_counters(v, &rec->values, sums);

	if (!end_of(v, rec, &end_ns)) {
		v->dropped++;
		return;
	}
	if (rec->field[V3_START].p && rec->field[V3_END].p &&
	    v3_number(&rec->field[V3_DISPATCH], &id) &&
	    u64map_get(&v->dispatch_at, id) == U64MAP_NONE)
		push_kernel(v, rec);
	for (size_t i = 0; i < nr; i++)
		v->t->sink->ops->sample(v->t->sink, series_of(v, rec, sums[i].id), end_ns,
					sums[i].value);
	v->records += nr;
}

/* --- the lists --- */

typedef void record_fn(struct v3 *v, const struct v3_record *rec);

/* The records of one list. False: it could not be read to its end. */
static bool each_record(struct v3 *v, struct json_cur *c, record_fn *fn)
{
	struct v3_record rec;
	bool some = false;
	size_t walk = 0;
	int r = 0;

	c->p++;
	while (r >= 0 && (r = json_element(c, &some)) > 0) {
		size_t at = (size_t)(c->p - v->t->map.data);

		r = take_record(v, c, &rec);
		if (r > 0)
			fn(v, &rec);
		if (at >= walk) {
			walk = input_walk(&v->t->map, at);
			progress_update(at);
		}
	}
	if (r < 0)
		v3_damaged(v, c, r);
	return r >= 0;
}

static record_fn *list_fn(const struct json_text *key)
{
	static const struct {
		const char *word;
		record_fn *fn;
	} known[] = {
		{ "kernel_dispatch", push_kernel },      { "memory_copy", push_copy },
		{ "memory_allocation", push_memory },    { "scratch_memory", push_memory },
		{ "pc_sample_host_trap", push_pc },      { "pc_sample_stochastic", push_pc },
		{ "counter_collection", push_counters },
	};

	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (json_text_is(key, known[i].word))
			return known[i].fn;
	return push_call;
}

static void each_list(struct v3 *v, const char *at)
{
	struct json_cur c = v3_cursor(v, at);
	struct json_text key;
	bool some = false;
	int r;

	if (!at || json_peek(&c) != '{')
		return;
	c.p++;
	while ((r = json_member(&c, &some, &key)) > 0) {
		if (json_peek(&c) != '[')
			r = json_skip(&c);
		else if (!each_record(v, &c, list_fn(&key)))
			return;
		if (r < 0)
			break;
	}
	if (r < 0)
		v3_damaged(v, &c, r);
}

void v3_work(struct v3 *v, const struct v3_process *p)
{
	each_list(v, p->at[V3_BUFFERS]);
	each_list(v, p->at[V3_CALLBACKS]); /* they may need the times of dispatches */
}
