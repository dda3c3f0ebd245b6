/*
 * Clock, rank and dialect must be known before the first push. They follow from members before the
 * events, from the first events, and from members behind the events: Kineto writes its time base
 * there. A walk over all events to reach those would take a quarter of the time of reading them, so
 * the end of the events is searched from the end of the file (tef_doc_guess): the first ']' of its
 * last bytes with only members and the end of the document behind it. Hardly any other text looks
 * like that, and tef_walk checks whether the events end there. If not, tef_doc_rest walks over
 * them.
 *
 * Signs of a dialect may be anywhere: a program may run for long before it uses a device. Events
 * are searched for signs while they are read, and a late contradiction restarts the reading.
 */
#include "tef.h"
#include "text_slice.h"

#include <errno.h>
#include <inttypes.h>

#include "profrig/base/num.h"

/* Not counting metadata. */
#define SAMPLE_EVENTS 2000
/* Signals that make a dialect. */
#define SURE 2
/* Events named by phases of FLEX, without stamps. */
#define FLEX_PHASES 4
/* Reserved room for spans that do not come costs nothing. */
#define SPANS_SPARE 1.25
#define TAIL_BYTES ((size_t)1 << 16)
/* Bound of a search without a result, in bytes. */
#define TAIL_TRIES ((size_t)1 << 22)
/* µs that can only be a date: 2001 … 2100. Nothing has been up for thirty years. */
#define EPOCH_MIN_NS (INT64_C(1000000000) * INT64_C(1000000000))
#define EPOCH_MAX_NS (INT64_C(4102444800) * INT64_C(1000000000))

static size_t cursor_offset(const struct tef *t, const struct json_cur *c)
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

typedef void member_fn(struct tef *t, struct tef_signals *sg, const struct json_text *key,
		       const struct json_text *value);

/* Calls fn for the scalar members of an object. */
static int each_member(struct tef *t, struct tef_signals *sg, struct json_cur *c, member_fn *fn)
{
	struct json_text key, value;
	bool some = false;
	int r = json_open(c, '{');

	while (r >= 0 && (r = json_scalar_member(c, &some, &key, &value)) > 0)
		fn(t, sg, &key, &value);
	return r;
}

static void profrig_member(struct tef *t, struct tef_signals *sg, const struct json_text *key,
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

static void distributed_member(struct tef *t, struct tef_signals *sg, const struct json_text *key,
			       const struct json_text *value)
{
	(void)sg;
	if (json_text_is(key, "rank"))
		set_rank(t, value);
}

static void metadata_member(struct tef *t, struct tef_signals *sg, const struct json_text *key,
			    const struct json_text *value)
{
	(void)t;
	if (json_text_is(key, "clock-domain"))
		sg->clock = clock_of(value);
	else if (json_text_is(key, "version") && value->n > 8 &&
		 memcmp(value->p, "uftrace ", 8) == 0)
		sg->uftrace = true;
}

static bool is_flex(const struct tef_signals *sg)
{
	return sg->flex & TEF_FLEX_STAMPS || sg->phases >= FLEX_PHASES;
}

/* True: it is FLEX now. A name alone may be chance, and stamps are not. */
static bool flex_hear(struct tef_signals *sg, const struct tef_event *ev, bool names_only)
{
	unsigned signs = tef_flex_signal(ev, names_only);

	sg->flex |= signs;
	sg->phases += (signs & TEF_FLEX_NAMES) != 0;
	return is_flex(sg);
}

static void sample_event(struct tef *t, struct tef_signals *sg, const struct tef_event *ev)
{
	struct json_cur args = json_cur_of(&ev->args);
	int64_t t_ns;

	if (ev->ph == 'M') {
		sg->ascend |= tef_ascend_signal(t, ev);
		sg->tensorflow |= tef_tensorflow_signal(t, ev);
		if (json_text_is(&ev->name, "profrig") && ev->args.p) {
			sg->profrig = true;
			each_member(t, sg, &args, profrig_member);
			t->doc.native = strcmp(t->doc.tracer, "convert") == 0 &&
					native_file_take(&t->native, ev->args.p, ev->args.n);
		}
		return;
	}
	sg->kineto += tef_kineto_signal(ev);
	sg->rocprof += tef_rocprof_signal(ev);
	flex_hear(sg, ev, false);
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

/* Estimate of the number of spans, from the first events. */
static void expect_spans(struct tef *t, size_t spans, const struct json_cur *from,
			 const struct json_cur *to)
{
	double bytes = (double)(to->p - from->p), all = (double)(from->end - from->p);

	t->doc.spans = bytes > 0 ? (size_t)((double)spans * all / bytes * SPANS_SPARE) : 0;
}

/* The first events, on a copy of the cursor: damage is the walk's business. */
static void sample_events(struct tef *t, struct tef_signals *sg, struct json_cur c)
{
	struct json_cur from = c;
	struct tef_event ev;
	bool some = false;
	size_t spans = 0;

	for (int i = 0; i < SAMPLE_EVENTS && json_element(&c, &some) > 0; i += ev.ph != 'M') {
		if (tef_event_parse(&c, &ev) < 0)
			break;
		sample_event(t, sg, &ev);
		t->heard = c.p;
		spans += ev.ph == 'X' || ev.ph == 'B' || ev.ph == 'i';
		expect_spans(t, spans, &from, &c);
	}
}

bool tef_doc_hear(struct tef *t, const struct tef_event *ev)
{
	struct tef_signals *sg = &t->signals;
	enum tef_dialect was = t->doc.dialect;

	if (was == TEF_PROFRIG || was == TEF_ASCEND || t->opts->dialect || ev->at < t->heard)
		return false;
	t->heard = ev->at + 1;
	if (ev->ph == 'M') {
		sg->ascend = tef_ascend_signal(t, ev);
		sg->tensorflow |= tef_tensorflow_signal(t, ev);
		return sg->ascend || (sg->tensorflow && (was == TEF_PLAIN || was == TEF_UFTRACE));
	}
	if (was == TEF_KINETO)
		return false;
	sg->kineto += ev->cat.p ? tef_kineto_signal(ev) : 0;
	if (sg->kineto >= SURE)
		return true;
	if (was == TEF_ROCPROF || was == TEF_FLEX)
		return false;
	sg->rocprof += tef_rocprof_signal(ev);
	if (sg->rocprof >= SURE)
		return true;
	return flex_hear(sg, ev, true);
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

static void doc_scanned(void *ctx, const char *at)
{
	const struct tef *t = ctx;

	input_walk(&t->map, (size_t)(at - t->map.data));
}

/* The number of lines, without comments, of the kernel's trace that Chrome adds; otherwise one. */
static int count_system_events(struct tef *t, struct json_cur *c)
{
	struct json_text value;
	bool quoted = json_peek(c) == '"';
	int r = quoted ? json_scalar(c, &value) : json_skip(c);

	if (r < 0 || !quoted) {
		t->doc.system_events += r == 0;
		return r;
	}
	strbuf_clear(&t->text);
	json_decode(&value, &t->text);
	for (const char *p = t->text.buf; *p; p += *p == '\n') {
		t->doc.system_events += *p != '#' && *p != '\n';
		p += strcspn(p, "\n");
	}
	return 0;
}

/* Whether a description of devices is of AIUs. */
static bool names_aiu(const char *from, const char *to)
{
	size_t n = (size_t)(to - from);

	return memmem(from, n, "AIU", 3) || memmem(from, n, "Spyre", 5) ||
	       memmem(from, n, "spyre", 5);
}

static int object_member(struct tef *t, struct tef_signals *sg, struct json_cur *c,
			 const struct json_text *key)
{
	char ch = json_peek(c);
	struct json_text value;
	int r;

	if (json_text_is(key, "traceEvents") && ch == '[' && t->doc.events_at == 0) {
		c->p++;
		t->doc.events_at = cursor_offset(t, c);
		sample_events(t, sg, *c);
		return 0;
	}
	if (json_text_is(key, "schemaVersion") || json_text_is(key, "deviceProperties"))
		sg->kineto++;
	if (json_text_is(key, "deviceProperties") && ch == '[') {
		t->doc.devices = c->p;
		r = json_skip(c);
		sg->aiu |= r == 0 && names_aiu(t->doc.devices, c->p);
		return r;
	}
	if (json_text_is(key, "baseTimeNanoseconds") && ch != '{' && ch != '[')
		return take_base(t, c);
	if (json_text_is(key, "distributedInfo") && ch == '{') {
		sg->kineto++;
		t->doc.world = c->p;
		return each_member(t, sg, c, distributed_member);
	}
	if ((json_text_is(key, "metadata") || json_text_is(key, "otherData")) && ch == '{')
		return each_member(t, sg, c, metadata_member);
	if (json_text_is(key, "systemTraceEvents"))
		return count_system_events(t, c);
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

/* The first walk ended at damage; the time base may still be in the file's last bytes. */
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

static void dialect_decide(struct tef *t, const struct tef_signals *sg)
{
	struct tef_doc *d = &t->doc;
	bool date = sg->timed && sg->first_ns >= EPOCH_MIN_NS && sg->first_ns < EPOCH_MAX_NS;

	d->dialect = sg->profrig           ? TEF_PROFRIG
		     : sg->ascend          ? TEF_ASCEND
		     : sg->kineto >= SURE  ? TEF_KINETO
		     : sg->rocprof >= SURE ? TEF_ROCPROF
		     : is_flex(sg)         ? TEF_FLEX
		     : sg->tensorflow      ? TEF_TENSORFLOW
		     : sg->uftrace         ? TEF_UFTRACE
					   : TEF_PLAIN;
	for (int i = 0; t->opts->dialect && i < TEF_DIALECTS; i++)
		if (strcmp(t->opts->dialect, tef_dialects[i]) == 0)
			d->dialect = (enum tef_dialect)i;
	d->spyre = d->dialect == TEF_SPYRE ||
		   (d->dialect == TEF_KINETO && (sg->flex & TEF_FLEX_STAMPS || sg->aiu));
	if (d->spyre)
		d->dialect = TEF_KINETO;
	if (sg->clock != TRACE_CLOCK_OWN)
		d->clock = sg->clock;
	else if (d->has_base || date)
		d->clock = TRACE_CLOCK_REALTIME;
	else if (d->dialect == TEF_PROFRIG || d->dialect == TEF_UFTRACE)
		d->clock = TRACE_CLOCK_MONOTONIC;
	else if (d->dialect == TEF_ROCPROF)
		d->clock = TRACE_CLOCK_BOOTTIME; /* HSA's system clock */
	d->native = d->native && d->dialect == TEF_PROFRIG;
	if (d->native)
		d->base_ns = t->native.file.base_ns;
}

/* Members before the events, and the start of the events. */
static int scan_head(struct tef *t, struct tef_signals *sg, struct json_cur *c)
{
	struct json_text key;
	bool some = false;
	int r;

	while ((r = json_member(c, &some, &key)) > 0) {
		r = object_member(t, sg, c, &key);
		if (r < 0 || t->doc.events_at > 0)
			break;
	}
	return r;
}

int tef_doc_scan(struct tef *t, struct err *err)
{
	struct json_cur c = { t->map.data, t->map.data + t->map.len };
	struct tef_signals *sg = &t->signals;
	int r;
	char ch;

	*sg = (struct tef_signals){ .clock = TRACE_CLOCK_OWN };
	t->doc = (struct tef_doc){ .rank = RANK_NONE };
	c.p = slice_behind_mark(c.p, t->map.len).p;
	ch = json_peek(&c);
	if (ch == 0)
		return err_set(err, ENODATA, "%s: is empty", t->path);
	if (ch != '[' && ch != '{')
		return err_set(err, EINVAL,
			       "%s: byte %zu: a trace begins with '[' or '{', not '%c'", t->path,
			       cursor_offset(t, &c), ch >= ' ' && ch < 127 ? ch : '?');
	c.p++;
	if (ch == '[') {
		t->doc.array_form = true;
		t->doc.events_at = cursor_offset(t, &c);
		sample_events(t, sg, c);
		t->head = t->doc;
		return 0;
	}
	r = scan_head(t, sg, &c);
	if (t->doc.events_at == 0)
		return err_set(err, EINVAL, "%s: byte %zu: %s", t->path, cursor_offset(t, &c),
			       r == 0          ? "the object has no traceEvents array"
			       : r == JSON_CUT ? "ends before its traceEvents array"
					       : "damaged before its traceEvents array");
	t->head = t->doc;
	return 0;
}

/* Whether only members follow from c on, behind one that ended there. */
static bool ends_document(struct json_cur *c)
{
	struct json_text key;
	bool some = true;
	int r;

	while ((r = json_member(c, &some, &key)) > 0)
		if ((r = json_skip(c)) < 0)
			break;
	return r == 0 && json_peek(c) == 0;
}

/* Offset behind the ']' of the events, 0 not found. */
static size_t find_end(const struct tef *t)
{
	const char *data = t->map.data, *end = data + t->map.len;
	const char *from = data + t->doc.events_at;
	size_t tries = TAIL_TRIES;

	if ((size_t)(end - from) > TAIL_BYTES)
		from = end - TAIL_BYTES;
	while ((from = memchr(from, ']', (size_t)(end - from))) != NULL) {
		struct json_cur c = { ++from, end };
		size_t bytes;

		if (ends_document(&c))
			return (size_t)(from - data);
		bytes = (size_t)(c.p - from);
		if (bytes > tries)
			break;
		tries -= bytes;
	}
	return 0;
}

static void scan_tail(struct tef *t, struct tef_signals *sg, struct json_cur c)
{
	struct json_text key;
	bool some = true;
	int r;

	while ((r = json_member(&c, &some, &key)) > 0) {
		r = object_member(t, sg, &c, &key);
		if (r < 0)
			break;
	}
	if (r < 0 || json_peek(&c))
		find_base(t);
}

bool tef_doc_guess(struct tef *t)
{
	size_t at = t->head.array_form ? 0 : find_end(t);
	struct tef_signals sg = t->signals;

	t->doc = t->head;
	if (at > 0)
		scan_tail(t, &sg, (struct json_cur){ t->map.data + at, t->map.data + t->map.len });
	else if (!t->doc.array_form)
		return false;
	dialect_decide(t, &sg);
	t->doc.events_end = at;
	return true;
}

void tef_doc_rest(struct tef *t)
{
	struct json_cur c = { t->map.data + t->doc.events_at, t->map.data + t->map.len };
	struct tef_signals sg = t->signals;

	t->doc = t->head;
	if (!t->doc.array_form) {
		if (json_skip_rest(&c, '[', doc_scanned, t) == 0)
			scan_tail(t, &sg, c);
		else
			find_base(t);
	}
	dialect_decide(t, &sg);
}

bool tef_doc_equal(const struct tef_doc *a, const struct tef_doc *b)
{
	return a->dialect == b->dialect && strcmp(a->tracer, b->tracer) == 0 &&
	       strcmp(a->host, b->host) == 0 && a->rank == b->rank && a->has_base == b->has_base &&
	       a->base_ns == b->base_ns && a->clock == b->clock && a->fractions == b->fractions &&
	       a->native == b->native && a->samples == b->samples && a->frames == b->frames &&
	       a->devices == b->devices && a->world == b->world && a->spyre == b->spyre;
}
