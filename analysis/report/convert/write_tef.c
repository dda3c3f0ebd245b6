/*
 * Trace Event Format, for Perfetto, Chrome and other viewers: valid JSON, numbers as numbers,
 * events in order of time (metadata first), one process per process and per device.
 *
 *	{"displayTimeUnit":"ns", "baseTimeNanoseconds":N (of real time only), "traceEvents":[
 *	{"ph":"M", "name":"profrig", "args":{native.h: file}}
 *	{"ph":"M", "name":"profrig_track", "pid":P, "tid":T, "args":{native.h: track}}	each track
 *	{"ph":"M", "name":"process_name" …}, thread_name, their sort indexes
 *	{"ph":"M", "name":"profrig_series", "pid":P, "args":{"shown":"…", "series":{native.h}}}
 *	{"ph":"M", "name":"profrig_lane", "pid":P, "tid":T, "args":{"track":n}}
 *	{"ph":"X", "name", "cat", "pid", "tid", "ts", "dur", "args", "profrig":{…}}	each span
 *	{"ph":"i", "s":"t", …}	each instant	{"ph":"C", …}	each sample
 *	{"ph":"s"|"f", "id":k, "cat":"launch"|"flow"|"stack", …}	a link of the span before it
 *
 * ts and dur are µs with three digits behind the point, from the first instant on: a double, the
 * type in most viewers, then keeps the ns of traces of 100 days.
 *
 * Viewers cannot show spans of one thread that overlap without nesting; such a span gets another
 * row, shown as a thread ("stream 7 (2)"). Work on queues never nests.
 *
 * The member "profrig" of a span has the rest of it: "kind" (unless it is work on a queue, or a
 * host span elsewhere), "correlation", and for args "none" (made up here) or "text" (no JSON in the
 * source).
 */
#include "converters_private.h"
#include "tef_out.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "profrig/base/fs.h"
#include "profrig/base/json_out.h"
#include "profrig/base/num.h"
#include "profrig/base/progress.h"
#include "profrig/base/regex.h"
#include "profrig/base/text.h"
#include "profrig/base/xalloc.h"
#include "profrig/model/nest_rows.h"
#include "profrig/model/replay.h"

#define PROGRESS_EVENTS 65536

/*
 * One JSON object by RFC 8259, in valid UTF-8. Strict, because texts of a trace go into the JSON
 * parser of another program, and readers keep arguments with raw control characters and bare words.
 * A convert takes a fifth longer for it than with a hand-written check, and a third of the time
 * with jansson.
 */
#define ARGS_MAX_DEPTH 120 /* a reader takes 128 */
#define BLANK "[ \\t\\n\\r]*+"
#define NUMBER "-?+(?:0|[1-9][0-9]*+)(?:\\.[0-9]++)?+(?:[eE][-+]?+[0-9]++)?+"
#define MORE "[\\x80-\\xbf]"
#define UTF8 \
	"[\\xc2-\\xdf]" MORE "|\\xe0[\\xa0-\\xbf]" MORE "|\\xed[\\x80-\\x9f]" MORE \
	"|[\\xe1-\\xec\\xee\\xef]" MORE "{2}|\\xf0[\\x90-\\xbf]" MORE "{2}|[\\xf1-\\xf3]" MORE \
	"{3}|\\xf4[\\x80-\\x8f]" MORE "{2}"
#define STRING "\"(?:[ !#-\\[\\]-\\x7f]++|\\\\(?:[\"\\\\/bfnrt]|u[0-9a-fA-F]{4})|" UTF8 ")*+\""
#define VALUE BLANK "(?:" STRING "|" NUMBER "|(?1)|true|false|null)" BLANK
static const char json_object[] =
	"\\A(?=\\{)(\\{" BLANK "(?:" STRING BLANK ":" VALUE "(?:," BLANK "(?=\")|(?=\\})))*+\\}|"
	"\\[(?:" BLANK "\\]|(?:" VALUE "(?:,(?!" BLANK "\\])|(?=\\])))++\\]))\\z";

/* The spans of a track or the samples of a series, up to where they are written. */
struct event_cursor {
	int64_t t_ns;
	uint64_t at, end;
	uint32_t id;
	bool samples;
};

struct tef_writer {
	const struct convert_job *job;
	const struct model *m;
	const struct tef_torch *torch; /* NULL: a plain file */
	struct tef_places places;
	struct json_names names;
	struct nest_rows rows;
	struct span_links links;
	struct regex *json_object;
	VEC(struct event_cursor) heap;
	struct text_out out;
	uint32_t part;
	uint32_t *part_of_link; /* 1 + part with its first end; 0: none yet */
	uint64_t events;
	struct convert_result *n;
};

/* ---- the order of time ---- */

static bool comes_before(const struct event_cursor *a, const struct event_cursor *b)
{
	if (a->t_ns != b->t_ns)
		return a->t_ns < b->t_ns;
	if (a->samples != b->samples)
		return b->samples;
	return a->id < b->id;
}

static void sift_down(struct tef_writer *w, size_t i)
{
	struct event_cursor *h = w->heap.v, moving = h[i];

	for (;;) {
		size_t child = 2 * i + 1;

		if (child >= w->heap.nr)
			break;
		if (child + 1 < w->heap.nr && comes_before(&h[child + 1], &h[child]))
			child++;
		if (!comes_before(&h[child], &moving))
			break;
		h[i] = h[child];
		i = child;
	}
	h[i] = moving;
}

static void heap_build(struct tef_writer *w)
{
	for (size_t i = 0; i < w->m->tracks.nr; i++) {
		const struct track *t = &w->m->tracks.v[i];

		if (t->spans)
			VEC_PUSH(&w->heap,
				 ((struct event_cursor){ w->m->spans.start_ns[t->first_span],
							 t->first_span, t->first_span + t->spans,
							 (uint32_t)i, false }));
	}
	for (size_t i = 0; i < w->m->series.nr; i++) {
		const struct series *se = &w->m->series.v[i];

		if (se->t_ns.nr)
			VEC_PUSH(&w->heap, ((struct event_cursor){ se->t_ns.v[0], 0, se->t_ns.nr,
								   (uint32_t)i, true }));
	}
	for (size_t i = w->heap.nr / 2; i-- > 0;)
		sift_down(w, i);
}

/* The top one moves on to its next. */
static void heap_advance(struct tef_writer *w)
{
	struct event_cursor *top = &w->heap.v[0];

	if (++top->at == top->end)
		*top = w->heap.v[--w->heap.nr];
	else
		top->t_ns = top->samples ? w->m->series.v[top->id].t_ns.v[top->at]
					 : w->m->spans.start_ns[top->at];
	if (w->heap.nr)
		sift_down(w, 0);
}

/* ---- texts ---- */

static void put_u32(struct strbuf *to, const char *key, uint32_t v)
{
	char number[24];

	strbuf_addstr(to, key);
	strbuf_add(to, number, num_fmt_u64(number, v));
}

/* ns as µs with three digits behind the point */
static void put_us(struct strbuf *to, const char *key, uint64_t ns)
{
	char number[32];
	size_t n = num_fmt_u64(number, ns / 1000);
	unsigned rest = (unsigned)(ns % 1000);

	number[n++] = '.';
	number[n++] = (char)('0' + rest / 100);
	number[n++] = (char)('0' + rest / 10 % 10);
	number[n++] = (char)('0' + rest % 10);
	strbuf_addstr(to, key);
	strbuf_add(to, number, n);
}

static uint64_t since_start(const struct tef_writer *w, int64_t t_ns)
{
	return (uint64_t)t_ns - (uint64_t)w->m->first_ns;
}

static void put_place(struct strbuf *to, struct tef_place at)
{
	put_u32(to, ",\"pid\":", at.pid);
	put_u32(to, ",\"tid\":", at.tid);
}

/* ---- spans ---- */

enum args_form { ARGS_THEIRS, ARGS_NONE, ARGS_TEXT };

/* Integers end at 2^63 in many a JSON parser. */
static bool put_correlation(struct strbuf *to, const char *comma, uint64_t v)
{
	if (v)
		strbuf_addf(to,
			    v > INT64_MAX ? "%s\"correlation\":\"%" PRIu64 "\""
					  : "%s\"correlation\":%" PRIu64,
			    comma, v);
	return v != 0;
}

/* Members for tools that read PyTorch's traces, where the trace has no arguments. */
static void put_made_args(const struct tef_writer *w, uint64_t i, struct strbuf *to)
{
	const struct track *t = &w->m->tracks.v[w->m->spans.track[i]];
	int64_t device = tef_device_index(model_str(w->m, t->device));
	const char *comma = "";

	strbuf_addstr(to, ",\"args\":{");
	if (t->kind == TRACK_QUEUE && device >= 0) {
		strbuf_addf(to, "\"device\":%" PRId64, device);
		comma = ",";
	}
	if (t->kind == TRACK_QUEUE && t->tid != PID_NONE) {
		strbuf_addf(to, "%s\"stream\":%" PRId64, comma, t->tid);
		comma = ",";
	}
	put_correlation(to, comma, span_correlation(&w->m->spans, i));
	strbuf_addch(to, '}');
}

/* Brackets in strings count too, which only makes a text of them. */
static bool is_too_deep(const char *text, size_t n)
{
	int depth = 0;

	for (size_t i = 0; n > 2 * ARGS_MAX_DEPTH && i < n; i++) {
		depth += (text[i] == '{' || text[i] == '[') - (text[i] == '}' || text[i] == ']');
		if (depth > ARGS_MAX_DEPTH)
			return true;
	}
	return false;
}

static bool args_are_json(const struct tef_writer *w, const char *text, size_t n)
{
	size_t start, end;

	return !is_too_deep(text, n) && regex_find(w->json_object, text, n, 0, &start, &end) > 0;
}

/* A JSON object; returns how many bytes behind its bracket are not of the trace. */
static size_t put_object(const struct tef_writer *w, uint64_t i, const char *text, size_t n,
			 struct strbuf *to)
{
	size_t from = to->len + 1, blank = 1;

	if (!w->torch) {
		strbuf_add(to, text, n);
		return 0;
	}
	strbuf_addch(to, '{');
	torch_members(w->m, i, text, n, to);
	while (blank < n && strchr(" \t\r\n", text[blank]))
		blank++;
	if (to->len > from && text[blank] == '}')
		to->len--; /* no comma in front of nothing */
	from = to->len - from;
	strbuf_add(to, text + 1, n - 1);
	return from;
}

static enum args_form put_args(const struct tef_writer *w, uint64_t i, size_t *ret_added,
			       struct strbuf *to)
{
	str_id args = span_args(&w->m->spans, i);
	const char *text = model_str(w->m, args);
	size_t n = args == STR_NONE ? 0 : intern_len(w->m->strings, args);

	*ret_added = 0;
	if (args == STR_NONE) {
		bool queue = w->m->tracks.v[w->m->spans.track[i]].kind == TRACK_QUEUE;

		if (queue || span_correlation(&w->m->spans, i))
			put_made_args(w, i, to);
		return ARGS_NONE;
	}
	if (args_are_json(w, text, n)) {
		strbuf_addstr(to, ",\"args\":");
		*ret_added = put_object(w, i, text, n, to);
		return ARGS_THEIRS;
	}
	strbuf_addstr(to, ",\"args\":{");
	if (w->torch)
		torch_members(w->m, i, NULL, 0, to);
	strbuf_addstr(to, "\"text\":");
	json_quote(to, text, n);
	strbuf_addch(to, '}');
	return ARGS_TEXT;
}

static void native_members_put(const struct tef_writer *w, uint64_t i, enum args_form args,
			       size_t added, bool other_category, struct strbuf *to)
{
	const struct track *t = &w->m->tracks.v[w->m->spans.track[i]];
	enum span_kind kind = (enum span_kind)w->m->spans.kind[i];
	enum span_kind usual = t->kind == TRACK_QUEUE ? SPAN_KERNEL : SPAN_HOST;
	const char *comma = "";

	if ((kind == usual || kind == SPAN_INSTANT) && !span_correlation(&w->m->spans, i) &&
	    args == ARGS_THEIRS && !added && !other_category)
		return;
	strbuf_addstr(to, ",\"profrig\":{");
	if (kind != usual && kind != SPAN_INSTANT) {
		strbuf_addf(to, "\"kind\":\"%s\"", native_span_kind_word(kind));
		comma = ",";
	}
	if (put_correlation(to, comma, span_correlation(&w->m->spans, i)))
		comma = ",";
	if (args != ARGS_THEIRS || added) {
		if (added)
			strbuf_addf(to, "%s\"added\":%zu", comma, added);
		else
			strbuf_addf(to, "%s\"args\":\"%s\"", comma,
				    args == ARGS_NONE ? "none" : "text");
		comma = ",";
	}
	if (other_category) {
		str_id id = w->m->spans.category[i];

		strbuf_addf(to, "%s\"cat\":", comma);
		json_quote(to, model_str(w->m, id), intern_len(w->m->strings, id));
	}
	strbuf_addch(to, '}');
}

/* A link cannot be written when its other end is in an earlier part. */
static bool link_fits(struct tef_writer *w, uint64_t link)
{
	uint32_t *part = &w->part_of_link[link];

	if (*part == 0)
		*part = 1 + w->part;
	if (*part == 1 + w->part)
		return true;
	w->n->links_between++;
	return false;
}

static void put_links(struct tef_writer *w, uint64_t i, struct tef_place at, uint64_t ts)
{
	struct strbuf *to = &w->out.text;

	for (uint64_t k = w->links.first[i]; k < w->links.first[i + 1]; k++) {
		uint64_t link = w->links.link[k] / 2;
		bool end = w->links.link[k] % 2;
		enum link_kind of = (enum link_kind)w->m->links.kind[link];
		const char *kind =
			w->torch && of == LINK_LAUNCH ? "ac2g" : native_link_kind_word(of);

		if (!link_fits(w, link))
			continue;
		strbuf_addf(to, ",\n{\"ph\":\"%s,\"id\":%" PRIu64 ",\"name\":\"%s\",\"cat\":\"%s\"",
			    end ? "f\",\"bp\":\"e\"" : "s\"", link + 1, kind, kind);
		put_place(to, at);
		put_us(to, ",\"ts\":", ts);
		strbuf_addch(to, '}');
	}
}

static bool begins_launch(const struct tef_writer *w, uint64_t i)
{
	for (uint64_t k = w->links.first ? w->links.first[i] : 0;
	     w->links.first && k < w->links.first[i + 1]; k++)
		if (w->links.link[k] % 2 == 0 &&
		    w->m->links.kind[w->links.link[k] / 2] == LINK_LAUNCH)
			return true;
	return false;
}

/* Whether the category is another one than the span's. */
static bool put_category(struct tef_writer *w, uint64_t i, struct strbuf *to)
{
	str_id id = w->m->spans.category[i];
	const char *cat, *was = model_str(w->m, id);

	if (!w->torch) {
		if (intern_len(w->m->strings, id)) {
			strbuf_addstr(to, ",\"cat\":");
			json_names_add(&w->names, id, to);
		}
		return false;
	}
	cat = torch_category(w->m, i, begins_launch(w, i));
	strbuf_addstr(to, ",\"cat\":");
	json_quote(to, cat, strlen(cat));
	return cat != was;
}

static void put_span(struct tef_writer *w, uint64_t i)
{
	const struct span_columns *c = &w->m->spans;
	struct strbuf *to = &w->out.text;
	bool instant = c->kind[i] == SPAN_INSTANT, fresh = false, other;
	uint32_t row = instant ? 0
			       : nest_rows_put(&w->rows, c->track[i], c->start_ns[i], c->end_ns[i],
					       nest_rows_nests(w->m, i));
	struct tef_place at = tef_places_row(&w->places, c->track[i], row, &fresh);
	uint64_t ts = since_start(w, c->start_ns[i]);
	enum args_form form;
	size_t added;

	if (fresh)
		tef_places_describe_row(&w->places, c->track[i], row, at, to);
	strbuf_addstr(to, instant ? ",\n{\"ph\":\"i\",\"s\":\"t\",\"name\":"
				  : ",\n{\"ph\":\"X\",\"name\":");
	json_names_add(&w->names, c->name[i], to);
	other = put_category(w, i, to);
	put_place(to, at);
	put_us(to, ",\"ts\":", ts);
	if (!instant)
		put_us(to, ",\"dur\":", (uint64_t)c->end_ns[i] - (uint64_t)c->start_ns[i]);
	form = put_args(w, i, &added, to);
	native_members_put(w, i, form, added, other, to);
	strbuf_addch(to, '}');
	if (w->links.first)
		put_links(w, i, at, ts);
}

static void put_sample(struct tef_writer *w, series_id id, uint64_t k)
{
	const struct series *se = &w->m->series.v[id];
	struct strbuf *to = &w->out.text;
	char number[32];

	strbuf_addstr(to, ",\n{\"ph\":\"C\",\"name\":");
	strbuf_addstr(to, w->places.series_name[id]);
	put_u32(to, ",\"pid\":", w->places.series_pid[id]);
	put_us(to, ",\"ts\":", since_start(w, se->t_ns.v[k]));
	strbuf_addstr(to, ",\"args\":{\"value\":");
	strbuf_add(to, number, num_fmt_f64(number, se->value.v[k]));
	strbuf_addstr(to, "}}");
}

/* ---- files ---- */

/* trace.json.gz → trace-3.json.gz */
static char *part_path(const struct convert_job *job, uint32_t part)
{
	size_t n = strlen(job->path);

	if (!job->split_bytes)
		return xstrdup(job->path);
	for (const char *const *s = converter_tef.suffixes; *s; s++)
		if (text_suffix(job->path, *s)) {
			n -= strlen(*s);
			break;
		}
	return xasprintf("%.*s-%" PRIu32 "%s", (int)n, job->path, part, job->path + n);
}

static int file_begin(struct tef_writer *w, struct err *err)
{
	CLEANUP(xfreep) char *path = part_path(w->job, w->part);
	struct strbuf *to;
	int r;

	w->out = (struct text_out)TEXT_OUT_INIT;
	r = text_out_open(path, &w->out, err);
	if (r < 0)
		return r;
	if (!w->n->first)
		w->n->first = STEAL(path);
	to = &w->out.text;
	strbuf_addch(to, '{');
	if (w->torch)
		torch_head(w->m, w->torch, to);
	strbuf_addstr(to, "\"displayTimeUnit\":\"ns\",");
	if (model_clock(w->m) == TRACE_CLOCK_REALTIME)
		strbuf_addf(to, "\"baseTimeNanoseconds\":%" PRId64 ",", w->m->first_ns);
	strbuf_addstr(to, "\"traceEvents\":[\n{\"name\":\"profrig\",\"ph\":\"M\",\"pid\":0,"
			  "\"tid\":0,\"ts\":0,\"args\":");
	native_file_text(w->m, w->m->first_ns, to);
	strbuf_addch(to, '}');
	u64map_release(&w->places.rows); /* each file describes those it has */
	tef_places_describe(&w->places, to);
	return 0;
}

static int file_end(struct tef_writer *w, struct err *err)
{
	int r;

	strbuf_addstr(&w->out.text, "\n]}\n");
	r = text_out_commit(&w->out, err);
	if (r < 0)
		return r;
	w->n->files++;
	w->n->bytes += w->out.bytes;
	w->part++;
	return 0;
}

static bool is_full(const struct tef_writer *w, uint64_t at_begin)
{
	return w->job->split_bytes && text_out_length(&w->out) >= w->job->split_bytes &&
	       w->events > at_begin;
}

/* One file's events: up to the end, or to where it is full. */
static void put_events(struct tef_writer *w)
{
	uint64_t at_begin = w->events;

	while (w->heap.nr && !is_full(w, at_begin)) {
		const struct event_cursor *top = &w->heap.v[0];

		if (top->samples)
			put_sample(w, top->id, top->at);
		else
			put_span(w, top->at);
		heap_advance(w);
		text_out_step(&w->out);
		if (++w->events % PROGRESS_EVENTS == 0)
			progress_update(w->events);
	}
}

static int write_files(struct tef_writer *w, struct err *err)
{
	int r;

	do {
		r = file_begin(w, err);
		if (r < 0)
			return r;
		put_events(w);
		r = file_end(w, err);
	} while (r == 0 && w->heap.nr);
	if (r == 0 && w->job->split_bytes)
		w->n->stale = part_path(w->job, w->part);
	if (w->n->stale && !fs_exists(w->n->stale))
		free(STEAL(w->n->stale));
	return r;
}

static uint64_t samples_of(const struct model *m)
{
	uint64_t n = 0;

	for (size_t i = 0; i < m->series.nr; i++)
		n += m->series.v[i].t_ns.nr;
	return n;
}

int tef_write(const struct convert_job *job, const struct tef_torch *torch,
	      struct convert_result *ret, struct err *err)
{
	struct tef_writer w = { .job = job,
				.m = job->model,
				.torch = torch,
				.rows = NEST_ROWS_INIT,
				.out = TEXT_OUT_INIT,
				.n = ret };
	int r = regex_new(json_object, 0, &w.json_object, err);

	if (r < 0)
		return r;
	tef_places_init(w.m, &w.places);
	json_names_init(w.m, &w.names);
	span_links_init(w.m, &w.links);
	w.part_of_link = xcalloc(w.m->links.nr + 1, sizeof(*w.part_of_link));
	heap_build(&w);
	progress_items(w.m->spans.nr + samples_of(w.m));
	r = write_files(&w, err);
	text_out_drop(&w.out);
	free(w.part_of_link);
	VEC_RELEASE(&w.heap);
	span_links_release(&w.links);
	regex_free(w.json_object);
	nest_rows_release(&w.rows);
	json_names_release(&w.names);
	tef_places_release(&w.places);
	return r;
}

static int write_tef(const struct convert_job *job, struct convert_result *ret, struct err *err)
{
	return tef_write(job, NULL, ret, err);
}

static const char *const suffixes[] = { ".json.gz", ".json.zst", ".json", NULL };

const struct converter converter_tef = {
	.name = "tef",
	.about = "Trace Event Format, for Perfetto and Chrome; holds everything",
	.suffixes = suffixes,
	.splits = true,
	.write = write_tef,
};
