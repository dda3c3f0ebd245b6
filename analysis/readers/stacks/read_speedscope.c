/*
 * speedscope's own file format: one JSON object, members in any order:
 *
 *	"$schema": "https://www.speedscope.app/file-format-schema.json"
 *	"shared": {"frames": [{"name": "main", "file": "a.c", "line": 3, "col": 1}, …]}
 *	"profiles": [
 *	  {"type": "evented", "name": "t1", "unit": "microseconds", "startValue": 0, "endValue": 9,
 *	   "events": [{"type": "O", "frame": 0, "at": 0}, {"type": "C", "frame": 0, "at": 9}]},
 *	  {"type": "sampled", "name": "t2", "unit": "none", "startValue": 0, "endValue": 3,
 *	   "samples": [[0, 1], [0]], "weights": [2, 1]}]
 *	"name", "exporter", "activeProfileIndex": for the viewer
 *
 * A frame is an index in shared.frames; its file, line and column are its spans' arguments. Every
 * profile is a track of its own, named after it: the file has no process or thread ids.
 *
 * evented: O and C are enters and leaves, at their own times. sampled: a stack, root first, and a
 * weight; samples follow one another from startValue on (stack_spans.h). A weight of 0 has no
 * length and is only counted (W_IGNORED_RECORD).
 *
 * unit: seconds, milliseconds, microseconds, nanoseconds are times; bytes and none are not: then 1
 * is 1 ns, or 1 ms where values of that profile have decimals, on a timeline without meaning (the
 * fact untimed_profiles counts these); the same for an unknown unit (W_BAD_EVENT). The clock is the
 * file's own.
 *
 * Damage: an enter or leave without a frame, a time or a known type, and samples without a weight,
 * are left out (W_BAD_EVENT); values that are no numbers W_BAD_NUMBER; frames that are not in the
 * list are named by their number (W_UNKNOWN_REFERENCE); the sink handles a leave of another frame
 * than the innermost, one too many and one too few (W_LEAVE_MISMATCH, W_STRAY_LEAVE, W_OPEN_SPAN).
 * A cut text is read up to the cut (W_TRUNCATED).
 */
#include "input_sink.h"
#include "readers_private.h"
#include "stack_spans.h"
#include "tally.h"
#include "text_slice.h"

#include <errno.h>
#include <inttypes.h>

#include "profrig/base/json_out.h"
#include "profrig/base/json_scan.h"
#include "profrig/base/num.h"
#include "profrig/base/strbuf.h"
#include "profrig/model/warnings.h"
#include "profrig/scan/input.h"

#define MAX_TIME_NS (INT64_C(1) << 60)
/* Tracks in a viewer's list, of people's files a few dozen. */
#define MAX_PROFILES 32768

enum speed_type { SPEED_UNKNOWN, SPEED_EVENTED, SPEED_SAMPLED };

/* A profile: its properties, and the starts of its lists (NULL: it has none). */
struct speed_profile {
	enum speed_type type;
	struct json_text name, unit, start;
	const char *at, *events, *samples, *weights;
	int shift; /* decimal places from the unit to ns */
};

struct speed_frame {
	struct json_text name, file, line, col;
};

struct speed {
	const char *path;
	const struct read_opts *opts;
	struct sink *sink;
	struct input_map map;
	struct strbuf text;
	const char *list;               /* of the file's frames; NULL: there is none */
	VEC(struct stack_frame) frames; /* of it, known to the sink */
	VEC(struct stack_frame) stack;
	size_t more; /* frames of the stack that are not in it */
	struct stack_limit limit;
	VEC(struct speed_profile) profiles;
	str_id sampled;
	bool any_profiles; /* the member is there */
	int damage;        /* 0, JSON_CUT or JSON_BAD: of the file */
	size_t damaged_at;
	uint64_t untimed, events, samples;
	struct tally bad, numbers, unknown, nothing, negative, kinds, units, crowd;
};

static void place_note(const struct speed *sp, struct tally *t, const struct json_cur *at)
{
	tally_byte(t, (uint64_t)(at->p - sp->map.data));
}

static struct json_cur cursor_at(const struct speed *sp, const char *p)
{
	return (struct json_cur){ p, sp->map.data + sp->map.len };
}

static const char *text_of(struct speed *sp, const struct json_text *t)
{
	strbuf_clear(&sp->text);
	if (t->p)
		json_decode(t, &sp->text);
	return sp->text.buf;
}

/* --- first pass: where everything is --- */

/* The first list of frames holds. */
static int take_frames(struct json_cur *c, void *to)
{
	struct speed *sp = to;

	return sp->list ? json_skip(c) : json_take_list(c, &sp->list);
}

static int take_shared(struct json_cur *c, void *to)
{
	static const struct json_known fields[] = { JSON_CALL("frames", take_frames) };

	return json_members(c, fields, ARRAY_LEN(fields), to);
}

static enum speed_type type_of(const struct json_text *t)
{
	return json_text_is(t, "evented")   ? SPEED_EVENTED
	       : json_text_is(t, "sampled") ? SPEED_SAMPLED
					    : SPEED_UNKNOWN;
}

static int take_type(struct json_cur *c, void *to)
{
	struct json_text type = { .p = NULL };
	int r = json_take_text(c, &type);

	if (r == 0 && type.p)
		*(enum speed_type *)to = type_of(&type);
	return r;
}

/* A cut profile is kept: its lists are read up to the cut. */
static int take_profile(struct json_cur *c, void *to)
{
	static const struct json_known fields[] = {
		JSON_INTO("name", json_take_text, struct speed_profile, name),
		JSON_INTO("unit", json_take_text, struct speed_profile, unit),
		JSON_INTO("startValue", json_take_text, struct speed_profile, start),
		JSON_INTO("events", json_take_list, struct speed_profile, events),
		JSON_INTO("samples", json_take_list, struct speed_profile, samples),
		JSON_INTO("weights", json_take_list, struct speed_profile, weights),
		JSON_INTO("type", take_type, struct speed_profile, type),
	};
	struct speed_profile p = { .type = SPEED_UNKNOWN, .at = c->p };
	struct speed *sp = to;
	int r;

	if (json_peek(c) != '{') {
		place_note(sp, &sp->bad, c);
		return json_skip(c);
	}
	r = json_members(c, fields, ARRAY_LEN(fields), &p);
	if (p.type == SPEED_UNKNOWN && (p.events || p.samples) && r < 0)
		p.type = p.events ? SPEED_EVENTED : SPEED_SAMPLED; /* the type was cut off */
	if (p.type == SPEED_UNKNOWN)
		place_note(sp, &sp->kinds, c);
	else if (sp->profiles.nr == MAX_PROFILES)
		place_note(sp, &sp->crowd, c);
	else
		VEC_PUSH(&sp->profiles, p);
	return r;
}

static int take_profiles(struct json_cur *c, void *to)
{
	struct speed *sp = to;

	sp->any_profiles |= json_peek(c) == '[';
	return json_elements(c, take_profile, sp);
}

static int frames_survey(struct speed *sp, struct json_cur *c)
{
	static const struct json_known fields[] = {
		JSON_CALL("shared", take_shared),
		JSON_CALL("profiles", take_profiles),
	};

	if (json_peek(c) != '{')
		return json_open(c, '{'); /* why it is none */
	return json_members(c, fields, ARRAY_LEN(fields), sp);
}

/* --- second pass --- */

static str_id name_put(struct speed *sp, const char *name, size_t n)
{
	str_id id = sp->sink->ops->string(sp->sink, name, n);

	stack_named(&sp->limit, id, n);
	return id;
}

/* The first pass only saw brackets. */
static void damaged_at(struct speed *sp, const struct json_cur *c, int r)
{
	if (sp->damage)
		return;
	sp->damage = r;
	sp->damaged_at = (size_t)(c->p - sp->map.data);
}

static struct stack_frame frame_at(struct speed *sp, const struct json_text *index,
				   const struct json_cur *c)
{
	char name[32] = "frame ";
	uint64_t i;

	if (num_u64(index->p, index->n, &i) == 0 && i < sp->frames.nr)
		return sp->frames.v[i];
	place_note(sp, &sp->unknown, c);
	for (size_t k = 0, n = 6; k < index->n && n + 1 < sizeof(name); k++, n++)
		name[n] = index->p[k] > ' ' && index->p[k] < 127 ? index->p[k] : '?';
	return (struct stack_frame){ name_put(sp, name, strlen(name)), 0, STR_NONE };
}

static bool to_ns(struct speed *sp, const struct speed_profile *p, const struct json_text *t,
		  const struct json_cur *c, int64_t *ret)
{
	if (t->p && num_decimal(t->p, t->n, p->shift, ret) == 0 && *ret <= MAX_TIME_NS &&
	    *ret >= -MAX_TIME_NS)
		return true;
	place_note(sp, &sp->numbers, c);
	return false;
}

struct speed_event {
	struct json_text type, frame, at;
};

static void push_event(struct speed *sp, const struct speed_profile *p, track_id track,
		       const struct speed_event *e, const struct json_cur *c)
{
	bool open = json_text_is(&e->type, "O"), close = json_text_is(&e->type, "C");
	struct stack_frame f;
	int64_t t_ns;

	if (!(open || close) || !e->frame.p || !e->at.p) {
		place_note(sp, &sp->bad, c);
		return;
	}
	if (!to_ns(sp, p, &e->at, c, &t_ns))
		return;
	f = frame_at(sp, &e->frame, c);
	sp->events++;
	if (open) {
		sp->sink->ops->enter(sp->sink, track, t_ns, f.name, 0);
		return;
	}
	if (f.args != STR_NONE)
		sp->sink->ops->leave_args(sp->sink, track, f.args);
	sp->sink->ops->leave(sp->sink, track, t_ns, f.name);
}

static void read_events(struct speed *sp, const struct speed_profile *p, track_id track)
{
	static const struct json_known fields[] = {
		JSON_INTO("type", json_take_text, struct speed_event, type),
		JSON_INTO("frame", json_take_text, struct speed_event, frame),
		JSON_INTO("at", json_take_text, struct speed_event, at),
	};
	struct json_cur c;
	bool some = false;
	int r;

	if (!p->events)
		return;
	c = cursor_at(sp, p->events + 1);
	while ((r = json_element(&c, &some)) > 0) {
		struct speed_event e = { .type = { .p = "" } };
		struct json_cur at = c;
		bool object = json_peek(&c) == '{';

		r = json_members(&c, fields, ARRAY_LEN(fields), &e);
		if (r < 0)
			break;
		if (object)
			push_event(sp, p, track, &e, &at);
		else
			place_note(sp, &sp->bad, &at);
	}
	if (r < 0)
		damaged_at(sp, &c, r);
}

/* A list of frame numbers, root first. */
static int take_sample(struct speed *sp, struct json_cur *c)
{
	struct json_text t;
	bool some = false;
	int r = json_open(c, '[');

	VEC_CLEAR(&sp->stack);
	sp->more = 0;
	while (r >= 0 && (r = json_element(c, &some)) > 0) {
		struct stack_frame f;

		t = (struct json_text){ .p = "", .n = 0 };
		r = json_take_text(c, &t);
		if (r < 0)
			break;
		if (sp->stack.nr == STACK_MAX_FRAMES) {
			sp->more++;
			continue;
		}
		f = frame_at(sp, &t, c);
		f.category = sp->sampled;
		VEC_PUSH(&sp->stack, f);
	}
	return r;
}

static void push_stack(struct speed *sp, struct stack_track *t, int64_t weight_ns,
		       const struct json_cur *at)
{
	sp->samples++;
	if (weight_ns < 0)
		place_note(sp, &sp->negative, at);
	else if (weight_ns == 0)
		place_note(sp, &sp->nothing, at);
	else if (stack_push(sp->sink, &sp->limit, t, t->end_ns, weight_ns, sp->stack.v,
			    sp->stack.nr, sp->more) < 0)
		place_note(sp, &sp->numbers, at);
}

/* The two lists side by side. */
static void read_samples(struct speed *sp, const struct speed_profile *p, struct stack_track *t)
{
	struct json_cur c, w;
	bool some = false, some_weights = false;
	int r, rw = 0;

	if (!p->samples)
		return;
	c = cursor_at(sp, p->samples + 1);
	w = cursor_at(sp, p->weights ? p->weights + 1 : sp->map.data + sp->map.len);
	while ((r = json_element(&c, &some)) > 0) {
		struct json_cur at = c;
		struct json_text weight = { .p = NULL };
		bool list = json_peek(&c) == '[';
		int64_t weight_ns;

		mem_budget_read(&sp->limit.memory, (size_t)(c.p - sp->map.data));
		r = list ? take_sample(sp, &c) : json_skip(&c);
		if (r < 0)
			break;
		rw = w.p < w.end ? json_element(&w, &some_weights) : 0;
		if (rw > 0)
			rw = json_take_text(&w, &weight) < 0 ? JSON_BAD : 1;
		if (rw <= 0) {
			if (rw < 0)
				damaged_at(sp, &w, rw);
			w.p = w.end; /* no more of them */
		}
		if (!list || w.p == w.end)
			place_note(sp, &sp->bad, &at);
		else if (to_ns(sp, p, &weight, &at, &weight_ns))
			push_stack(sp, t, weight_ns, &at);
	}
	if (r < 0)
		damaged_at(sp, &c, r);
	while (w.p < w.end && (rw = json_element(&w, &some_weights)) > 0) {
		place_note(sp, &sp->bad, &w);
		rw = json_skip(&w);
		if (rw < 0)
			break;
	}
	if (rw < 0)
		damaged_at(sp, &w, rw);
}

/* Whether any of the numbers in a text has a point. */
static bool list_has_decimals(const struct speed *sp, const char *list)
{
	struct json_cur c = cursor_at(sp, list ? list : sp->map.data + sp->map.len);
	const char *from = c.p;

	if (!list || json_skip(&c) < 0)
		return false;
	return memchr(from, '.', (size_t)(c.p - from)) != NULL;
}

/* Decimal places between the unit and ns. */
static int shift_of(struct speed *sp, const struct speed_profile *p)
{
	static const struct {
		const char *unit;
		int shift;
	} units[] = {
		{ "seconds", 9 }, { "milliseconds", 6 }, { "microseconds", 3 }, { "nanoseconds", 0 }
	};

	for (size_t i = 0; i < ARRAY_LEN(units); i++)
		if (p->unit.p && json_text_is(&p->unit, units[i].unit))
			return units[i].shift;
	sp->untimed++;
	if (p->unit.p && !json_text_is(&p->unit, "none") && !json_text_is(&p->unit, "bytes")) {
		struct json_cur at = cursor_at(sp, p->unit.p);

		place_note(sp, &sp->units, &at);
	}
	return list_has_decimals(sp, p->weights) || list_has_decimals(sp, p->events) ? 6 : 0;
}

static void read_profile(struct speed *sp, struct speed_profile *p, uint64_t key)
{
	struct track_def d = TRACK_DEF_INIT;
	struct stack_track t = STACK_TRACK_INIT(0);
	struct json_cur here = cursor_at(sp, p->at);

	d.kind = TRACK_THREAD;
	d.key = key;
	d.name = text_of(sp, &p->name);
	d.name = *d.name ? d.name : NULL;
	t.id = sp->sink->ops->track(sp->sink, &d);
	p->shift = shift_of(sp, p);
	if (p->start.p && !to_ns(sp, p, &p->start, &here, &t.end_ns))
		t.end_ns = 0;
	if (p->type == SPEED_EVENTED)
		read_events(sp, p, t.id);
	else
		read_samples(sp, p, &t);
	stack_close(sp->sink, &t);
}

/* --- the whole --- */

static void add_number(struct json_out *j, const char *key, const struct json_text *t)
{
	int64_t v;

	if (t->p && num_i64(t->p, t->n, &v) == 0)
		json_i64(j, key, v);
}

/* {"file": …, "line": …, "col": …} */
static str_id frame_args(struct speed *sp, const struct speed_frame *frame)
{
	CLEANUP(xfreep) char *text = NULL;
	size_t n = 0;
	struct json_out j;
	FILE *f;

	if (!sp->opts->keep_args || !frame->file.p)
		return STR_NONE;
	f = xmemstream(&text, &n);
	json_out_init(&j, f, 0);
	json_obj(&j, NULL);
	json_str(&j, "file", text_of(sp, &frame->file));
	add_number(&j, "line", &frame->line);
	add_number(&j, "col", &frame->col);
	json_end(&j);
	fclose(f);
	return sp->sink->ops->string(sp->sink, text, n);
}

static void add_frame(struct speed *sp, const struct speed_frame *raw)
{
	struct stack_frame f = { .args = frame_args(sp, raw) };

	if (raw->name.p && json_plain_len(&raw->name) == raw->name.n) {
		f.name = name_put(sp, raw->name.p, raw->name.n);
	} else {
		text_of(sp, &raw->name);
		f.name = name_put(sp, sp->text.buf, sp->text.len);
	}
	VEC_PUSH(&sp->frames, f);
	mem_budget_take(&sp->limit.memory, sizeof(f));
}

/* Frames beyond the memory budget count as not in the list. */
static void read_frames(struct speed *sp)
{
	static const struct json_known fields[] = {
		JSON_INTO("name", json_take_text, struct speed_frame, name),
		JSON_INTO("file", json_take_text, struct speed_frame, file),
		JSON_INTO("line", json_take_text, struct speed_frame, line),
		JSON_INTO("col", json_take_text, struct speed_frame, col),
	};
	struct json_cur c = cursor_at(sp, sp->list ? sp->list + 1 : sp->map.data + sp->map.len);
	bool some = false;
	int r = 0;

	while (sp->list && r >= 0 && (r = json_element(&c, &some)) > 0) {
		struct speed_frame f = { .name = { .p = NULL } };

		mem_budget_read(&sp->limit.memory, (size_t)(c.p - sp->map.data));
		if (!mem_budget_has(&sp->limit.memory, 0))
			return;
		if (json_peek(&c) != '{')
			place_note(sp, &sp->bad, &c);
		r = json_members(&c, fields, ARRAY_LEN(fields), &f);
		if (r >= 0)
			add_frame(sp, &f);
	}
	if (r < 0)
		damaged_at(sp, &c, r);
}

static void speed_begin(struct speed *sp)
{
	struct sink *s = sp->sink;

	input_format(input_begin(s, sp->path, "speedscope"), "speedscope", TRACE_CLOCK_OWN);
	s->ops->clock(s);
	sp->sampled = sp->limit.category = sink_puts(s, STACK_SAMPLED);
	read_frames(sp);
}

static int speed_finish(struct speed *sp)
{
	struct sink *s = sp->sink;

	sink_fact(s, "profiles", (int64_t)sp->profiles.nr);
	sink_fact(s, "frames", (int64_t)sp->frames.nr);
	sink_fact(s, "events", (int64_t)sp->events);
	sink_fact(s, "stack_samples", (int64_t)sp->samples);
	sink_fact(s, "untimed_profiles", (int64_t)sp->untimed);
	tally_warn(&sp->bad, s, W_BAD_EVENT, "events, samples or frames that lack what they need");
	tally_warn(&sp->units, s, W_BAD_EVENT, "profiles of an unknown unit, taken for none");
	tally_warn(&sp->numbers, s, W_BAD_NUMBER, "values that are no numbers or too large");
	tally_warn(&sp->unknown, s, W_UNKNOWN_REFERENCE, "frames that are not in the list");
	tally_warn(&sp->nothing, s, W_IGNORED_RECORD, "samples of weight 0");
	tally_warn(&sp->negative, s, W_NEGATIVE_DURATION, "negative weights");
	tally_warn(&sp->kinds, s, W_IGNORED_RECORD, "profiles of an unknown type");
	tally_warn(&sp->crowd, s, W_MEMORY_LIMIT, "profiles that there is no memory for, left out");
	stack_limit_warn(&sp->limit, s);
	if (sp->damage)
		sink_warnf(s, W_TRUNCATED, "the JSON %s at byte %zu; what stands before was read",
			   sp->damage == JSON_CUT ? "ends" : "is damaged", sp->damaged_at);
	return input_finish(s, &sp->map, sp->damage, "no calls and no samples");
}

static void speed_release(struct speed *sp)
{
	input_unmap(&sp->map);
	strbuf_release(&sp->text);
	VEC_RELEASE(&sp->frames);
	VEC_RELEASE(&sp->stack);
	VEC_RELEASE(&sp->profiles);
}

static int read_speedscope(const char *path, struct sink *s, const struct read_opts *o,
			   struct err *err)
{
	CLEANUP(speed_release)
	struct speed sp = { .path = path, .opts = o, .sink = s, .text = STRBUF_INIT };
	int r = input_map(path, 0, &sp.map, err);
	struct json_cur c;

	if (r < 0)
		return r;
	c = cursor_at(&sp, slice_behind_mark(sp.map.data, sp.map.len).p);
	sp.damage = frames_survey(&sp, &c);
	sp.damaged_at = (size_t)(c.p - sp.map.data);
	if (!sp.any_profiles)
		return err_set(err, EINVAL, "%s: offset %zu: %s before any profile", path,
			       sp.damaged_at,
			       sp.damage == JSON_BAD ? "no JSON object" : "the text ends");
	mem_budget_init(&sp.limit.memory, &sp.map);
	input_rewind(&sp.map);
	speed_begin(&sp);
	for (size_t i = 0; i < sp.profiles.nr; i++)
		read_profile(&sp, &sp.profiles.v[i], i);
	return speed_finish(&sp);
}

static int probe_speedscope(const struct probe *p)
{
	struct text_slice t = slice_behind_mark(p->head, p->head ? p->head_len : 0);

	while (t.n > 0 && *t.p && strchr(" \t\r\n", *t.p))
		t.p++, t.n--;
	if (p->is_dir || t.n == 0 || *t.p != '{')
		return 0;
	if (probe_has(p, "speedscope.app/file-format-schema"))
		return 97;
	if (probe_has(p, "\"profiles\"") &&
	    (probe_has(p, "\"evented\"") || probe_has(p, "\"sampled\"")))
		return 85;
	return probe_has(p, "\"shared\"") && probe_has(p, "\"frames\"") ? 40 : 0;
}

const struct reader reader_speedscope = {
	.name = "speedscope",
	.about = "speedscope's files, evented and sampled",
	.suffixes = ".speedscope.json[.gz|.zst]",
	.probe = probe_speedscope,
	.read = read_speedscope,
};
