/*
 * Two walks. The first (tef_doc_scan) looks at the members around the events and at the first
 * events, because clock, rank and dialect must be known before the first push, and Kineto writes
 * its time base behind the events. The second (tef_doc_read) pushes.
 */
#include "tef.h"

#include <errno.h>
#include <inttypes.h>

#include "profrig/num.h"
#include "profrig/progress.h"
#include "profrig/warnings.h"

#define SAMPLE_EVENTS 2000
#define TAIL_BYTES ((size_t)1 << 16)
/* µs that can only be a date: 2001 … 2100. Nothing has been up for thirty years. */
#define EPOCH_MIN_NS (INT64_C(1000000000) * INT64_C(1000000000))
#define EPOCH_MAX_NS (INT64_C(4102444800) * INT64_C(1000000000))

struct signals {
	int kineto, rocprof;
	bool profrig, uftrace;
	enum trace_clock clock; /* said in so many words */
	int64_t first_ns;
	bool timed;
};

static size_t offset(const struct tef *t, const struct json_cur *c)
{
	return (size_t)(c->p - t->map.data);
}

static void copy_text(struct tef *t, const struct json_text *text, char *buf, size_t n)
{
	strbuf_clear(&t->text);
	json_decode(text, &t->text);
	snprintf(buf, n, "%s", t->text.buf);
}

static enum trace_clock clock_of(const struct json_text *text)
{
	static const struct {
		const char *word;
		enum trace_clock clock;
	} known[] = {
		{ "CLOCK_MONOTONIC", TRACE_CLOCK_MONOTONIC },
		{ "LINUX_CLOCK_MONOTONIC", TRACE_CLOCK_MONOTONIC },
		{ "CLOCK_REALTIME", TRACE_CLOCK_REALTIME },
		{ "CLOCK_BOOTTIME", TRACE_CLOCK_BOOTTIME },
	};

	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (json_text_is(text, known[i].word))
			return known[i].clock;
	return TRACE_CLOCK_OWN;
}

static void set_rank(struct tef *t, const struct json_text *text)
{
	int64_t rank;

	if (num_i64(text->p, text->n, &rank) == 0 && rank >= 0 && rank <= INT32_MAX)
		t->doc.rank = (int32_t)rank;
}

typedef void member_fn(struct tef *t, struct signals *sg, const struct json_text *key,
		       const struct json_text *value);

/* Calls fn for the scalar members of an object. */
static int each_member(struct tef *t, struct signals *sg, struct json_cur *c, member_fn *fn)
{
	struct json_text key, value;
	bool some = false;
	int r = json_open(c, '{');

	while (r >= 0 && (r = json_member(c, &some, &key)) > 0) {
		char ch = json_peek(c);

		if (ch == '{' || ch == '[') {
			r = json_skip(c);
			continue;
		}
		r = json_scalar(c, &value);
		if (r == 0)
			fn(t, sg, &key, &value);
	}
	return r;
}

static void profrig_member(struct tef *t, struct signals *sg, const struct json_text *key,
			   const struct json_text *value)
{
	if (json_text_is(key, "tracer"))
		copy_text(t, value, t->doc.tracer, sizeof(t->doc.tracer));
	else if (json_text_is(key, "host"))
		copy_text(t, value, t->doc.host, sizeof(t->doc.host));
	else if (json_text_is(key, "clock"))
		sg->clock = clock_of(value);
	else if (json_text_is(key, "rank"))
		set_rank(t, value);
}

static void distributed_member(struct tef *t, struct signals *sg, const struct json_text *key,
			       const struct json_text *value)
{
	(void)sg;
	if (json_text_is(key, "rank"))
		set_rank(t, value);
}

static void metadata_member(struct tef *t, struct signals *sg, const struct json_text *key,
			    const struct json_text *value)
{
	(void)t;
	if (json_text_is(key, "clock-domain"))
		sg->clock = clock_of(value);
	else if (json_text_is(key, "version") && value->n > 8 &&
		 memcmp(value->p, "uftrace ", 8) == 0)
		sg->uftrace = true;
}

static void sample_event(struct tef *t, struct signals *sg, const struct tef_event *ev)
{
	struct json_cur args = json_cur_of(&ev->args);
	int64_t t_ns;

	if (ev->ph == 'M') {
		if (json_text_is(&ev->name, "profrig") && ev->args.p) {
			sg->profrig = true;
			each_member(t, sg, &args, profrig_member);
			t->doc.own = strcmp(t->doc.tracer, "convert") == 0 &&
				     own_file_take(&t->own, ev->args.p, ev->args.n);
		}
		return;
	}
	sg->kineto += tef_kineto_signal(ev);
	if (ev->ph == 'X')
		sg->rocprof += tef_rocprof_signal(ev);
	if (!ev->ts.p)
		return;
	if (memchr(ev->ts.p, '.', ev->ts.n))
		t->doc.fractions = true;
	if (num_decimal(ev->ts.p, ev->ts.n, 3, &t_ns) == 0 && t_ns > 0 &&
	    (!sg->timed || t_ns < sg->first_ns)) {
		sg->timed = true;
		sg->first_ns = t_ns;
	}
}

/* The first events, on a copy of the cursor: damage is the second walk's business. */
static void sample_events(struct tef *t, struct signals *sg, struct json_cur c)
{
	struct tef_event ev;
	bool some = false;

	for (int i = 0; i < SAMPLE_EVENTS && json_element(&c, &some) > 0; i++) {
		if (tef_event_parse(&c, &ev) < 0)
			return;
		sample_event(t, sg, &ev);
	}
}

static int take_base(struct tef *t, struct json_cur *c)
{
	struct json_text value;
	int r = json_scalar(c, &value);

	if (r == 0 && num_i64(value.p, value.n, &t->doc.base_ns) == 0 && t->doc.base_ns > 0)
		t->doc.has_base = true;
	else
		t->doc.base_ns = 0;
	return r;
}

static void scanned(void *ctx, const char *at)
{
	const struct tef *t = ctx;

	input_walk(&t->map, (size_t)(at - t->map.data));
}

static int object_member(struct tef *t, struct signals *sg, struct json_cur *c,
			 const struct json_text *key)
{
	char ch = json_peek(c);
	struct json_text value;
	int r;

	if (json_text_is(key, "traceEvents") && ch == '[' && t->doc.events_at == 0) {
		c->p++;
		t->doc.events_at = offset(t, c);
		sample_events(t, sg, *c);
		return json_skip_rest(c, '[', scanned, t);
	}
	if (json_text_is(key, "schemaVersion") || json_text_is(key, "deviceProperties"))
		sg->kineto++;
	if (json_text_is(key, "baseTimeNanoseconds") && ch != '{' && ch != '[')
		return take_base(t, c);
	if (json_text_is(key, "distributedInfo") && ch == '{') {
		sg->kineto++;
		return each_member(t, sg, c, distributed_member);
	}
	if ((json_text_is(key, "metadata") || json_text_is(key, "otherData")) && ch == '{')
		return each_member(t, sg, c, metadata_member);
	if (json_text_is(key, "samples") && ch == '[')
		t->doc.samples = c->p;
	if (json_text_is(key, "stackFrames") && ch == '{')
		t->doc.frames = c->p;
	if (json_text_is(key, "host_name") && ch == '"') {
		r = json_scalar(c, &value);
		if (r == 0)
			copy_text(t, &value, t->doc.host, sizeof(t->doc.host));
		return r;
	}
	return json_skip(c);
}

/* The first walk ended at some damage; the time base may still stand in the file's last bytes. */
static void find_base(struct tef *t)
{
	static const char key[] = "\"baseTimeNanoseconds\"";
	size_t from = t->map.len > TAIL_BYTES ? t->map.len - TAIL_BYTES : 0;
	const char *at = memmem(t->map.data + from, t->map.len - from, key, sizeof(key) - 1);
	struct json_cur c = { at, t->map.data + t->map.len };

	if (!at || t->doc.has_base)
		return;
	c.p += sizeof(key) - 1;
	if (json_open(&c, ':') == 0)
		take_base(t, &c);
}

static void decide(struct tef *t, const struct signals *sg)
{
	struct tef_doc *d = &t->doc;
	bool date = sg->timed && sg->first_ns >= EPOCH_MIN_NS && sg->first_ns < EPOCH_MAX_NS;

	d->dialect = sg->profrig        ? TEF_PROFRIG
		     : sg->kineto >= 2  ? TEF_KINETO
		     : sg->rocprof >= 2 ? TEF_ROCPROF
		     : sg->uftrace      ? TEF_UFTRACE
					: TEF_PLAIN;
	for (int i = 0; t->opts->dialect && i < TEF_DIALECTS; i++)
		if (strcmp(t->opts->dialect, tef_dialects[i]) == 0)
			d->dialect = (enum tef_dialect)i;
	if (sg->clock != TRACE_CLOCK_OWN)
		d->clock = sg->clock;
	else if (d->has_base || date)
		d->clock = TRACE_CLOCK_REALTIME;
	else if (d->dialect == TEF_PROFRIG || d->dialect == TEF_UFTRACE)
		d->clock = TRACE_CLOCK_MONOTONIC;
	else if (d->dialect == TEF_ROCPROF)
		d->clock = TRACE_CLOCK_BOOTTIME; /* HSA's system clock */
	if (d->own)
		d->base_ns = t->own.file.base_ns;
}

int tef_doc_scan(struct tef *t, struct err *err)
{
	struct json_cur c = { t->map.data, t->map.data + t->map.len };
	struct signals sg = { .clock = TRACE_CLOCK_OWN };
	struct json_text key;
	bool some = false;
	int r;
	char ch;

	t->doc = (struct tef_doc){ .rank = RANK_NONE };
	if (t->map.len >= 3 && memcmp(c.p, "\xef\xbb\xbf", 3) == 0)
		c.p += 3;
	ch = json_peek(&c);
	if (ch == 0)
		return err_set(err, ENODATA, "%s: is empty", t->path);
	if (ch != '[' && ch != '{')
		return err_set(err, EINVAL,
			       "%s: byte %zu: a trace begins with '[' or '{', not '%c'", t->path,
			       offset(t, &c), ch >= ' ' && ch < 127 ? ch : '?');
	c.p++;
	if (ch == '[') {
		t->doc.array_form = true;
		t->doc.events_at = offset(t, &c);
		sample_events(t, &sg, c);
		decide(t, &sg);
		return 0;
	}
	while ((r = json_member(&c, &some, &key)) > 0) {
		r = object_member(t, &sg, &c, &key);
		if (r < 0)
			break;
	}
	if (t->doc.events_at == 0)
		return err_set(err, EINVAL, "%s: byte %zu: %s", t->path, offset(t, &c),
			       r == 0          ? "the object has no traceEvents array"
			       : r == JSON_CUT ? "ends before its traceEvents array"
					       : "damaged before its traceEvents array");
	if (r < 0 || json_peek(&c))
		find_base(t);
	decide(t, &sg);
	return 0;
}

/* What the second walk met. */
struct damage {
	size_t first_at; /* byte of the first damaged place */
	uint64_t places;
	uint64_t holes; /* events a dying writer left half written: NUL bytes where the rest should
			   be */
	bool cut;       /* the text ends inside an event or the document */
	size_t cut_at;
	bool open_end; /* array form without its ']' */
};

static void damaged_at(struct damage *d, size_t at)
{
	if (d->places++ == 0)
		d->first_at = at;
}

/* Could an event begin at p? Only behind a comma, a bracket, another event, or at a line's or a
 * hole's end. */
static bool event_may_begin(const char *begin, const char *p)
{
	while (p > begin) {
		char ch = *--p;

		if (ch == ',' || ch == '[' || ch == '}' || ch == '\n' || ch == 0)
			return true;
		if (ch != ' ' && ch != '\t' && ch != '\r')
			return false;
	}
	return true;
}

/* The next whole event behind `from`; false when there is none. */
static bool find_event(struct tef *t, struct json_cur *c, const char *from, struct tef_event *ev)
{
	const char *begin = t->map.data + t->doc.events_at;

	while (from < c->end) {
		const char *p = memchr(from, '{', (size_t)(c->end - from));

		if (!p)
			return false;
		from = p + 1;
		if (!event_may_begin(begin, p))
			continue;
		c->p = p;
		if (tef_event_parse(c, ev) == 0 && ev->ph > 1) {
			t->at = (size_t)(p - t->map.data);
			return true;
		}
	}
	return false;
}

/* Element by element. 1: ev is an event, 0: the array ended, < 0: nothing more can be read. */
static int next_event(struct tef *t, struct json_cur *c, bool *some, struct tef_event *ev,
		      struct damage *d)
{
	const char *from;
	int r = json_element(c, some);

	if (r == 0)
		return 0;
	from = c->p;
	t->at = offset(t, c);
	if (r == JSON_CUT) {
		d->open_end = true;
		return -1;
	}
	/* Writers that share a file lose commas; nothing else is lost by it. */
	if (*from == '{')
		r = tef_shapes_parse(t->shapes, c, ev);
	else if (r > 0 && (r = json_skip(c)) == 0)
		*ev = (struct tef_event){ .ph = 0 };
	if (r == 0)
		return 1;
	if (find_event(t, c, from + 1, ev)) {
		size_t at = (size_t)(from - t->map.data);

		if (t->doc.array_form && memchr(from, 0, t->at - at))
			d->holes++;
		else
			damaged_at(d, at);
		return 1;
	}
	if (r == JSON_BAD) {
		damaged_at(d, (size_t)(from - t->map.data));
	} else {
		d->cut = true;
		d->cut_at = (size_t)(from - t->map.data);
	}
	return -1;
}

/* What follows the events of an object. True at more events: a member may stand twice. */
static bool read_tail(struct tef *t, struct json_cur *c, struct damage *d)
{
	struct json_text key;
	bool some = true;
	int r = 0;

	if (!t->doc.array_form) {
		while ((r = json_member(c, &some, &key)) > 0) {
			if (json_text_is(&key, "traceEvents") && json_open(c, '[') == 0)
				return true;
			r = json_skip(c);
			if (r < 0)
				break;
		}
	}
	if (r == JSON_CUT) {
		d->cut = true;
		d->cut_at = t->map.len;
	} else if (r == JSON_BAD || json_peek(c)) {
		damaged_at(d, offset(t, c));
	}
	return false;
}

static void tell(struct tef *t, const char *code, uint64_t count, const char *text)
{
	if (count > 0)
		t->sink->ops->warn(t->sink, code, count, text);
}

static int judge(struct tef *t, const struct damage *d, struct err *err)
{
	bool partial = d->places > 0 || t->map.truncated || (d->cut && !t->doc.array_form) ||
		       (d->open_end && !t->doc.array_form);
	size_t at = d->places > 0 ? d->first_at : d->cut ? d->cut_at : t->map.len;
	char text[320];

	if (t->n.events == 0 && (partial || d->cut))
		return err_set(err, EINVAL, "%s: byte %zu: no event could be read%s%s", t->path, at,
			       t->map.truncated ? ": " : "", t->map.truncated ? t->map.why : "");
	if (d->places > 0) {
		snprintf(text, sizeof(text), "damaged at byte %zu; reading went on behind it", at);
		tell(t, W_BAD_EVENT, d->places, text);
		tell(t, W_TRUNCATED, d->places, text);
	}
	if (t->map.truncated) {
		snprintf(text, sizeof(text), "compressed data: %s", t->map.why);
		tell(t, W_TRUNCATED, 1, text);
	} else if (partial && d->places == 0) {
		snprintf(text, sizeof(text), "ends early at byte %zu", at);
		tell(t, W_TRUNCATED, 1, text);
	} else if (!partial && d->cut) {
		snprintf(text, sizeof(text), "the last event is cut off at byte %zu", at);
		tell(t, W_UNTERMINATED, 1 + d->holes, text);
	} else if (!partial && d->holes > 0) {
		tell(t, W_UNTERMINATED, d->holes, "events that were not written to their end");
	} else if (!partial && d->open_end && t->doc.dialect != TEF_PROFRIG) {
		tell(t, W_UNTERMINATED, 1, "the array of events is never closed");
	}
	return partial ? READ_PARTIAL : 0;
}

static void tell_counts(struct tef *t)
{
	char text[64];

	tell(t, W_BAD_EVENT, t->n.bad_events, t->n.bad_event);
	tell(t, W_BAD_NUMBER, t->n.bad_numbers, t->n.bad_number);
	snprintf(text, sizeof(text), "events of phase '%c'",
		 t->n.ignored_ph >= ' ' && t->n.ignored_ph < 127 ? t->n.ignored_ph : '?');
	tell(t, W_IGNORED_RECORD, t->n.ignored, text);
	sink_fact(t->sink, "events", (int64_t)t->n.events);
	sink_fact(t->sink, "metadata", (int64_t)t->n.metadata);
	if (t->n.counters)
		sink_fact(t->sink, "counter_events", (int64_t)t->n.counters);
	if (t->n.flows || t->n.flows_correlated) {
		sink_fact(t->sink, "flow_points", (int64_t)(t->n.flows + t->n.flows_correlated));
		sink_fact(t->sink, "flow_points_unmatched", (int64_t)t->n.flows_unmatched);
	}
}

/* What an event of rocprof is, its process' name tells, which may stand behind it. */
static void read_process_names(struct tef *t)
{
	struct json_cur c = { t->map.data + t->doc.events_at, t->map.data + t->map.len };
	struct damage unused = { .places = 0 };
	struct tef_event ev;
	bool some = false;

	while (next_event(t, &c, &some, &ev, &unused) > 0)
		if (ev.ph == 'M' && json_text_is(&ev.name, "process_name"))
			tef_name(t, &ev, true);
}

int tef_doc_read(struct tef *t, struct err *err)
{
	struct json_cur c = { t->map.data + t->doc.events_at, t->map.data + t->map.len };
	struct damage d = { .places = 0 };
	size_t walk = input_walk(&t->map, t->doc.events_at);
	struct tef_event ev;
	bool some;
	int r;

	progress_total(t->map.len);
	t->shapes = tef_shapes_new(&t->doc, t->map.data);
	if (t->doc.dialect == TEF_ROCPROF)
		read_process_names(t);
	do {
		some = false;
		while ((r = next_event(t, &c, &some, &ev, &d)) > 0) {
			tef_event_push(t, &ev);
			if (__builtin_expect(offset(t, &c) >= walk, 0)) {
				walk = input_walk(&t->map, offset(t, &c));
				progress_update(offset(t, &c));
			}
		}
	} while (r == 0 && read_tail(t, &c, &d));
	tef_late_push(t);
	tef_samples_push(t);
	tef_edges_push(t);
	tef_asyncs_push(t);
	tef_flows_push(t);
	tef_names_apply(t);
	tell_counts(t);
	return judge(t, &d, err);
}
