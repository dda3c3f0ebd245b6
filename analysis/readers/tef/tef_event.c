#include "tef.h"

#include <errno.h>
#include <inttypes.h>

#include "profrig/base/num.h"
#include "profrig/model/warnings.h"

static int take_ph(struct json_cur *c, struct tef_event *ev)
{
	struct json_text t;
	int r = json_scalar(c, &t);

	if (r < 0)
		return r;
	ev->ph = t.quoted && t.n == 1 ? t.p[0] : 1;
	return 0;
}

static int take_id(struct json_cur *c, struct tef_id *id)
{
	struct json_text t;
	char ch = json_peek(c);
	int r;

	if (ch == '{' || ch == '[')
		return json_skip(c);
	r = json_scalar(c, &t);
	if (r == 0)
		*id = tef_id_of(&t);
	return r;
}

/* "id2": {"local": "0x1"} or {"global": …} */
static int take_id2(struct json_cur *c, struct tef_id *id)
{
	struct json_text key;
	bool some = false;
	int r;

	if (json_peek(c) != '{')
		return take_id(c, id);
	c->p++;
	while ((r = json_member(c, &some, &key)) > 0) {
		r = take_id(c, id);
		if (r < 0)
			return r;
	}
	return r;
}

static int take_text(struct json_cur *c, struct json_text *t)
{
	char ch = json_peek(c);

	if (ch == '{' || ch == '[')
		return json_skip(c);
	return json_scalar(c, t);
}

static int take_raw(struct json_cur *c, struct json_text *t)
{
	const char *from;
	int r;

	json_peek(c);
	from = c->p;
	r = json_skip(c);
	*t = (struct json_text){ .p = from, .n = (size_t)(c->p - from) };
	return r;
}

/* Beside args it is only another member. */
static int take_attr(struct json_cur *c, struct tef_event *ev)
{
	if (ev->args.p && !ev->attr)
		return json_skip(c);
	ev->attr = true;
	return take_raw(c, &ev->args);
}

static int take_bp(struct json_cur *c, struct tef_event *ev)
{
	struct json_text t = { .p = NULL };
	int r = take_text(c, &t);

	ev->enclosing = r == 0 && json_text_is(&t, "e");
	return r;
}

static int take_us(struct json_cur *c, struct tef_us *us)
{
	struct json_text t = { .p = NULL };
	int r = take_text(c, &t);

	if (t.p)
		*us = (struct tef_us){ .p = t.p, .n = t.n };
	return r;
}

static int take_tdur(struct json_cur *c, struct tef_event *ev)
{
	struct tef_us unused;

	return take_us(c, ev->dur.p ? &unused : &ev->dur);
}

static int take_scope(struct json_cur *c, struct tef_event *ev)
{
	struct json_text t = { .p = NULL };
	int r = take_text(c, &t);

	if (t.p && r == 0)
		tef_scope_set(ev, &t);
	return r;
}

void tef_scope_set(struct tef_event *ev, const struct json_text *text)
{
	ev->scoped = true;
	ev->scope = tef_hash_text(text);
}

enum tef_member tef_member_of(const struct json_text *key)
{
	static const struct {
		char name[8];
		uint8_t n, member;
	} known[] = {
		{ "ph", 2, TEF_PH },     { "ts", 2, TEF_TS },       { "id", 2, TEF_ID },
		{ "bp", 2, TEF_BP },     { "pid", 3, TEF_PID },     { "tid", 3, TEF_TID },
		{ "cat", 3, TEF_CAT },   { "dur", 3, TEF_DUR },     { "id2", 3, TEF_ID2 },
		{ "name", 4, TEF_NAME }, { "args", 4, TEF_ARGS },   { "tdur", 4, TEF_TDUR },
		{ "attr", 4, TEF_ATTR }, { "scope", 5, TEF_SCOPE }, { "profrig", 7, TEF_NATIVE },
	};

	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (key->n == known[i].n && memcmp(key->p, known[i].name, known[i].n) == 0)
			return (enum tef_member)known[i].member;
	return TEF_OTHER;
}

static int take_member(struct json_cur *c, struct tef_event *ev, enum tef_member member)
{
	switch (member) {
	case TEF_PH:
		return take_ph(c, ev);
	case TEF_TS:
		return take_us(c, &ev->ts);
	case TEF_DUR:
		return take_us(c, &ev->dur);
	case TEF_TDUR:
		return take_tdur(c, ev);
	case TEF_ID:
		return take_id(c, &ev->id);
	case TEF_ID2:
		return take_id2(c, &ev->id);
	case TEF_BP:
		return take_bp(c, ev);
	case TEF_PID:
		return take_id(c, &ev->pid);
	case TEF_TID:
		return take_id(c, &ev->tid);
	case TEF_CAT:
		return take_text(c, &ev->cat);
	case TEF_NAME:
		return take_text(c, &ev->name);
	case TEF_ARGS:
		ev->attr = false;
		return take_raw(c, &ev->args);
	case TEF_ATTR:
		return take_attr(c, ev);
	case TEF_SCOPE:
		return take_scope(c, ev);
	case TEF_NATIVE:
		json_peek(c);
		ev->native = c->p;
		break;
	case TEF_OTHER:
		break;
	}
	return json_skip(c);
}

int tef_event_parse(struct json_cur *c, struct tef_event *ret)
{
	struct json_text key;
	bool some = false;
	int r = json_open(c, '{');

	*ret = (struct tef_event){ .at = c->p - (r == 0),
				   .known = { TEF_TEXT_NONE, TEF_TEXT_NONE, 0 } };
	while (r >= 0 && (r = json_member(c, &some, &key)) > 0)
		r = take_member(c, ret, tef_member_of(&key));
	ret->empty = !some;
	return r;
}

void tef_bad_event(struct tef *t, const char *what)
{
	tally_text(&t->n.bad_events, "%s at byte %zu", what, t->at);
}

void tef_bad_number(struct tef *t, const char *what, const struct json_text *text)
{
	int n = text->n < 40 ? (int)text->n : 40;

	tally_text(&t->n.bad_numbers, "%s '%.*s' at byte %zu", what, n, text->p ? text->p : "",
		   t->at);
}

str_id tef_string(struct tef *t, const struct json_text *text)
{
	if (!text->p)
		return t->sink->ops->string(t->sink, "", 0);
	if (json_plain_len(text) == text->n)
		return t->sink->ops->string(t->sink, text->p, text->n);
	strbuf_clear(&t->text);
	json_decode(text, &t->text);
	return t->sink->ops->string(t->sink, t->text.buf, t->text.len);
}

static str_id known_string(struct tef *t, const struct json_text *text, unsigned parser,
			   uint16_t number)
{
	str_id *id;

	if (!text->p || number == TEF_TEXT_NONE)
		return tef_string(t, text);
	id = tef_memo_text(t->memo, parser, number);
	if (*id == STR_NONE)
		*id = tef_string(t, text);
	return *id;
}

str_id tef_name_of(struct tef *t, const struct tef_event *ev)
{
	return known_string(t, &ev->name, ev->known.parser, ev->known.name);
}

str_id tef_category_of(struct tef *t, const struct tef_event *ev)
{
	return known_string(t, &ev->cat, ev->known.parser, ev->known.cat);
}

/* Arguments stay JSON text: only invalid UTF-8 is repaired, escapes stay. */
str_id tef_args(struct tef *t, const struct json_text *args)
{
	struct json_text part = *args;

	if (!t->opts->keep_args || !args->p)
		return STR_NONE;
	strbuf_clear(&t->text);
	while (part.n > 0) {
		size_t n = json_plain_len(&part);

		strbuf_add(&t->text, part.p, n);
		if (n < part.n)
			strbuf_addstr(&t->text, part.p[n] == '\\' ? "\\" : "\xef\xbf\xbd");
		n += n < part.n;
		part.p += n;
		part.n -= n;
	}
	return t->sink->ops->string(t->sink, t->text.buf, t->text.len);
}

str_id tef_kernel_args(struct tef *t, const struct json_text *args)
{
	struct launch_shape shape;

	if (t->opts->keep_args || !t->opts->keep_shapes)
		return tef_args(t, args);
	if (!args->p || !launch_shape_of(args->p, args->n, &shape))
		return STR_NONE;
	return launch_shapes_put(&t->launches, t->sink, &shape);
}

/* Plain digits of any number that 128 bits hold, in ns. */
static bool us_far(const struct tef_us *us, __int128 *ret_ns)
{
	const char *p = us->p, *end;
	unsigned __int128 v = 0;
	int after = -1;
	bool minus;

	if (us->known || us->n == 0 || us->n > 36)
		return false;
	end = p + us->n;
	minus = *p == '-';
	for (p += minus; p < end && after < 3; p++) {
		if (*p == '.' && after < 0)
			after = 0;
		else if (*p < '0' || *p > '9')
			return false;
		else
			v = v * 10 + (unsigned int)(*p - '0'), after += after >= 0;
	}
	for (after = after < 0 ? 0 : after; after < 3; after++)
		v *= 10;
	*ret_ns = minus ? -(__int128)v : (__int128)v;
	return true;
}

static bool is_number(const struct tef_us *us)
{
	double v;

	return us->known || num_f64(us->p, us->n, &v) != -EINVAL;
}

/* The first time of a file is far beyond those that fit: all of them count from it. */
static bool time_far(struct tef *t, const struct tef_us *us, int64_t *ret_ns)
{
	__int128 v;

	if (!us_far(us, &v))
		return false;
	if (!t->timed)
		t->origin_ns = v + t->doc.base_ns;
	v += t->doc.base_ns - t->origin_ns;
	*ret_ns = (int64_t)v;
	return v <= TEF_TIME_MAX && v >= -TEF_TIME_MAX;
}

static bool us_to_ns(const struct tef_us *us, int64_t add_ns, int64_t *ret_ns)
{
	if (!us->known && num_decimal(us->p, us->n, 3, ret_ns) < 0)
		return false;
	if (us->known)
		*ret_ns = us->ns;
	return !__builtin_add_overflow(*ret_ns, add_ns, ret_ns) && *ret_ns <= TEF_TIME_MAX &&
	       *ret_ns >= -TEF_TIME_MAX;
}

static bool time_absent(const struct tef_us *us)
{
	return !us->known && !us->p;
}

/* A known time is in range, so its text is not needed. */
static void bad_us(struct tef *t, const char *what, const struct tef_us *us)
{
	tef_bad_number(t, what, &(struct json_text){ .p = us->p, .n = us->n });
}

bool tef_time(struct tef *t, const struct tef_event *ev, int64_t *ret_ns)
{
	int64_t v;

	if (time_absent(&ev->ts)) {
		tef_bad_event(t, "event without a time");
		return false;
	}
	if ((t->origin_ns || !us_to_ns(&ev->ts, t->doc.base_ns, &v)) && !time_far(t, &ev->ts, &v)) {
		if (!is_number(&ev->ts)) {
			bad_us(t, "time", &ev->ts);
			return false;
		}
		sink_warnf(t->sink, W_TIME_RANGE, "time '%.*s' at byte %zu is out of range",
			   ev->ts.p ? (int)(ev->ts.n < 40 ? ev->ts.n : 40) : 0,
			   ev->ts.p ? ev->ts.p : "", t->at);
		return false;
	}
	t->timed = true;
	*ret_ns = v;
	return true;
}

bool tef_extent(struct tef *t, const struct tef_event *ev, int64_t *start_ns, int64_t *end_ns)
{
	int64_t dur = 0;

	if (!tef_time(t, ev, start_ns))
		return false;
	if (time_absent(&ev->dur)) {
		tef_bad_event(t, "complete event without a duration");
	} else if (!us_to_ns(&ev->dur, 0, &dur)) {
		bad_us(t, "duration", &ev->dur);
		return false;
	}
	*end_ns = *start_ns + dur;
	return true;
}

/* For flows, of which profrig's and uftrace's own files have none. */
static inline bool slices_wanted(const struct tef *t)
{
	return t->doc.dialect != TEF_PROFRIG && t->doc.dialect != TEF_UFTRACE &&
	       !t->sink->counts_only;
}

span_id tef_span(struct tef *t, tef_slot slot, struct span_def *d)
{
	struct tef_track *tr = &t->tracks.v[slot];
	span_id id;

	d->track = tr->id;
	id = t->sink->ops->span(t->sink, d);
	if (d->end_ns > tr->last_ns)
		tr->last_ns = d->end_ns;
	if (d->kind != SPAN_INSTANT && slices_wanted(t)) {
		if (t->slices.nr == 0)
			t->first_span = id;
		VEC_PUSH(&t->slices, (struct tef_slice){ .start_ns = d->start_ns,
							 .end_ns = d->end_ns,
							 .correlation = d->correlation,
							 .span = (uint32_t)(id - t->first_span),
							 .slot = slot });
	}
	return id;
}

static enum tef_class class_of(const struct tef *t, const struct tef_event *ev)
{
	return !t->facts ? TEF_CLASS_OTHER : ev->class ? ev->class : tef_kineto_class(&ev->cat);
}

/* Files of 2021 give it another category, or none. */
static bool is_memory(const struct tef *t, const struct tef_event *ev)
{
	return t->facts && json_text_is(&ev->name, "[memory]");
}

static void push_complete(struct tef *t, const struct tef_event *ev)
{
	struct span_def d = { .kind = SPAN_HOST };

	if (t->doc.native) {
		tef_native_span(t, ev);
		return;
	}
	if (t->doc.dialect == TEF_KINETO && tef_kineto_span(t, ev))
		return;
	if (t->doc.dialect == TEF_ROCPROF && tef_rocprof_span(t, ev))
		return;
	if (!tef_extent(t, ev, &d.start_ns, &d.end_ns))
		return;
	d.name = tef_name_of(t, ev);
	d.category = tef_category_of(t, ev);
	d.args = tef_args(t, &ev->args);
	if (t->doc.dialect == TEF_FLEX)
		tef_flex_add(t, ev, &d);
	else if (!tef_named_put(t, ev, &d))
		tef_facts_put(t, ev, class_of(t, ev), d.name,
			      tef_span(t, tef_thread(t, &ev->pid, &ev->tid), &d));
}

static void push_instant(struct tef *t, const struct tef_event *ev)
{
	struct span_def d = { .kind = SPAN_INSTANT };

	if (t->doc.native) {
		tef_native_span(t, ev);
		return;
	}
	if (!tef_time(t, ev, &d.start_ns))
		return;
	d.end_ns = d.start_ns;
	d.name = tef_name_of(t, ev);
	d.category = tef_category_of(t, ev);
	d.args = tef_args(t, &ev->args);
	tef_facts_put(t, ev, is_memory(t, ev) ? TEF_CLASS_MEMORY : TEF_CLASS_OTHER, d.name,
		      tef_span(t, tef_thread(t, &ev->pid, &ev->tid), &d));
}

/*
 * {"name": "power", "args": {"gpu0": 80, "gpu1": 75}} is the two series power.gpu0 and power.gpu1;
 * {"args": {"value": 1}} is the plain one.
 */
uint64_t tef_series_key(const struct tef_event *ev, const struct json_text *name,
			const struct json_text *key)
{
	uint64_t of = tef_hash(name->p ? tef_hash_text(name) : 0, tef_id_key(&ev->id),
			       tef_id_key(&ev->pid));

	return tef_hash(of, tef_hash_text(key), key->n);
}

static series_id counter_series(struct tef *t, const struct tef_event *ev,
				const struct json_text *key)
{
	uint32_t *at = u64map_at(&t->series, tef_series_key(ev, &ev->name, key));
	struct series_def d = { .kind = SERIES_GAUGE };
	tef_slot process;

	if (*at != U64MAP_NONE)
		return *at;
	process = tef_process(t, &ev->pid);
	strbuf_clear(&t->text);
	if (ev->name.p)
		json_decode(&ev->name, &t->text);
	if (ev->id.type != TEF_ID_NONE) {
		struct json_text id = { .p = ev->id.p, .n = ev->id.n };

		strbuf_addch(&t->text, '[');
		if (ev->id.type == TEF_ID_NUMBER)
			strbuf_addf(&t->text, "%" PRId64, ev->id.number);
		else
			json_decode(&id, &t->text);
		strbuf_addch(&t->text, ']');
	}
	if (t->text.len == 0 || (key->n > 0 && !json_text_is(key, "value"))) {
		if (t->text.len > 0)
			strbuf_addch(&t->text, '.');
		json_decode(key, &t->text);
	}
	d.name = t->text.buf;
	d.track = t->tracks.v[process].id;
	d.host = t->doc.host[0] ? t->doc.host : NULL;
	*at = t->sink->ops->series(t->sink, &d);
	return *at;
}

static void push_counter(struct tef *t, const struct tef_event *ev)
{
	struct json_text key, value;
	struct json_cur c;
	bool some = false;
	int64_t t_ns;
	double v;

	if (!tef_time(t, ev, &t_ns))
		return;
	if (!json_object_of(&ev->args, &c)) {
		tef_bad_event(t, "counter without values");
		return;
	}
	while (json_member(&c, &some, &key) > 0) {
		char ch = json_peek(&c);

		if (ch == '{' || ch == '[') {
			tef_bad_event(t, "counter whose value is no number");
			if (json_skip(&c) < 0)
				return;
			continue;
		}
		if (json_scalar(&c, &value) < 0)
			return;
		if (!value.quoted && json_text_is(&value, "null"))
			value = (struct json_text){ .p = "nan", .n = 3 };
		if (num_f64(value.p, value.n, &v) < 0) {
			tef_bad_number(t, "counter value", &value);
			continue;
		}
		t->sink->ops->sample(t->sink, counter_series(t, ev, &key), t_ns, v);
	}
	t->n.counters++;
}

static void push_metadata(struct tef *t, const struct tef_event *ev)
{
	t->n.metadata++;
	if (t->doc.native) {
		tef_native_metadata(t, ev);
		return;
	}
	tef_names_take(t, ev);
}

void tef_event_push(struct tef *t, const struct tef_event *ev)
{
	if (ev->empty)
		return; /* rocprof opens its array with one */
	if (tef_doc_hear(t, ev)) {
		t->again = true;
		return;
	}
	t->at = (size_t)(ev->at - t->map.data);
	t->n.events++;
	switch (ev->ph) {
	case 'X':
		push_complete(t, ev);
		break;
	case 'B':
	case 'E':
		tef_edge_add(t, ev);
		break;
	case 'i':
	case 'I':
	case 'R':
	case 'P':
		push_instant(t, ev);
		break;
	case 'C':
		push_counter(t, ev);
		break;
	case 'b':
	case 'n':
	case 'e':
		tef_async_add(t, ev, ev->ph);
		break;
	case 'S': /* the older words for the same */
		tef_async_add(t, ev, 'b');
		break;
	case 'T':
	case 'p':
		tef_async_add(t, ev, 'n');
		break;
	case 'F':
		tef_async_add(t, ev, 'e');
		break;
	case 's':
	case 't':
	case 'f':
		tef_flow_add(t, ev);
		break;
	case 'M':
		push_metadata(t, ev);
		break;
	case 0:
		tef_bad_event(t, "element that is no event");
		break;
	default:
		if (t->n.ignored++ == 0)
			t->n.ignored_ph = ev->ph;
		break;
	}
}
