/*
 * Walks over the events and recovers after damage; then pushes the records that need all events.
 */
#include "tef.h"

#include <errno.h>
#include <inttypes.h>

#include "profrig/base/progress.h"
#include "profrig/base/workers.h"
#include "profrig/model/warnings.h"

/* Less is read before another thread is awake. */
#define AHEAD_MIN ((size_t)32 << 10)

/* That room is made for before they come. */
#define SLICES_MAX ((size_t)1 << 24)

static size_t cursor_offset(const struct tef *t, const struct json_cur *c)
{
	return (size_t)(c->p - t->map.data);
}

/* Results of the second walk. */
struct damage {
	size_t first_at; /* byte of the first damaged place */
	uint64_t places;
	uint64_t holes; /* half-written events of a dying writer: NUL bytes instead of the rest */
	bool cut;       /* the text ends inside an event or the document */
	size_t cut_at;
	bool open_end; /* array form without its ']' */
};

static void damaged_at(struct damage *d, size_t at)
{
	if (d->places++ == 0)
		d->first_at = at;
}

bool tef_may_begin(const char *begin, const char *p)
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
		if (!tef_may_begin(begin, p))
			continue;
		c->p = p;
		if (tef_event_parse(c, ev) == 0 && ev->ph > 1)
			return true;
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
	if (r == JSON_CUT) {
		d->open_end = true;
		return -1;
	}
	/* Writers that share a file lose commas, which does no harm. */
	if (*from == '{')
		r = tef_shapes_parse(t->shapes, c, ev);
	else if (r > 0 && (r = json_skip(c)) == 0)
		*ev = (struct tef_event){ .at = from };
	if (r == 0)
		return 1;
	if (find_event(t, c, from + 1, ev)) {
		if (t->doc.array_form && memchr(from, 0, (size_t)(ev->at - from)))
			d->holes++;
		else
			damaged_at(d, (size_t)(from - t->map.data));
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

/* Members behind the events of an object. True at more events: a member may occur twice. */
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
		damaged_at(d, cursor_offset(t, c));
	}
	return false;
}

static int damage_judge(struct tef *t, const struct damage *d, struct err *err)
{
	bool partial =
		d->places > 0 || t->map.truncated || d->cut || (d->open_end && !t->doc.array_form);
	size_t at = d->places > 0 ? d->first_at : d->cut ? d->cut_at : t->map.len;
	char text[320];

	if (t->n.events == 0 && partial)
		return err_set(err, EINVAL, "%s: byte %zu: no event could be read%s%s", t->path, at,
			       t->map.truncated ? ": " : "", t->map.truncated ? t->map.why : "");
	if (d->places > 0) {
		snprintf(text, sizeof(text), "damaged at byte %zu; reading went on behind it", at);
		sink_warn(t->sink, W_BAD_EVENT, d->places, text);
		sink_warn(t->sink, W_TRUNCATED, d->places, text);
	}
	if (t->map.truncated) {
		snprintf(text, sizeof(text), "compressed data: %s", t->map.why);
		sink_warn(t->sink, W_TRUNCATED, 1, text);
	} else if (partial && d->places == 0) {
		snprintf(text, sizeof(text),
			 d->cut && t->doc.array_form ? "the last event is cut off at byte %zu"
						     : "ends early at byte %zu",
			 at);
		sink_warn(t->sink, W_TRUNCATED, 1, text);
	} else if (!partial && d->holes > 0) {
		sink_warn(t->sink, W_UNTERMINATED, d->holes,
			  "events that were not written to their end");
	} else if (!partial && d->open_end && t->doc.dialect != TEF_PROFRIG) {
		sink_warn(t->sink, W_UNTERMINATED, 1, "the array of events is never closed");
	}
	return partial ? READ_PARTIAL : 0;
}

static void counts_put(struct tef *t)
{
	char text[64];

	tally_warn(&t->n.bad_events, t->sink, W_BAD_EVENT, NULL);
	tally_warn(&t->n.bad_numbers, t->sink, W_BAD_NUMBER, NULL);
	snprintf(text, sizeof(text), "events of phase '%c'",
		 t->n.ignored_ph >= ' ' && t->n.ignored_ph < 127 ? t->n.ignored_ph : '?');
	sink_warn(t->sink, W_IGNORED_RECORD, t->n.ignored, text);
	sink_warn(t->sink, W_IGNORED_RECORD, t->doc.system_events, "system trace events");
	sink_fact(t->sink, "events", (int64_t)t->n.events);
	sink_fact(t->sink, "metadata", (int64_t)t->n.metadata);
	if (t->n.counters)
		sink_fact(t->sink, "counter_events", (int64_t)t->n.counters);
	if (t->n.flows || t->n.flows_correlated) {
		sink_fact(t->sink, "flow_points", (int64_t)(t->n.flows + t->n.flows_correlated));
		sink_fact(t->sink, "flow_points_unmatched", (int64_t)t->n.flows_unmatched);
	}
}

/* Reads names that determine the kind of events; they may be behind these. */
static void read_names(struct tef *t)
{
	struct json_cur c = { t->map.data + t->doc.events_at, t->map.data + t->map.len };
	struct damage unused = { .places = 0 };
	struct tef_event ev;
	bool some = false;

	while (next_event(t, &c, &some, &ev, &unused) > 0)
		if (ev.ph == 'M')
			tef_names_take(t, &ev);
}

/*
 * The events ended, or no more of them can be read: checks the guess of their end. If it was wrong,
 * the members behind them are read again; mostly they are the same.
 */
static bool guess_holds(struct tef *t, const struct json_cur *c, int r, const struct damage *d)
{
	struct tef_doc guessed = t->doc;

	if (guessed.events_end == 0 || (r == 0 && cursor_offset(t, c) == guessed.events_end &&
					d->places == 0 && d->holes == 0))
		return true;
	tef_doc_rest(t);
	return tef_doc_equal(&guessed, &t->doc);
}

static void walk_finish(struct tef *t, const struct json_cur *c)
{
	size_t at = cursor_offset(t, c);

	if (__builtin_expect(at >= t->walk, 0)) {
		t->walk = input_walk(&t->map, at);
		progress_update(at);
	}
}

/* Where the next element begins, or the array ends. */
static const char *element_at(struct json_cur c)
{
	while (json_peek(&c) == ',')
		c.p++;
	return c.p;
}

/* Events that another core parsed are in its cache. */
static inline void event_prefetch(const struct tef_event *v, size_t i, size_t nr)
{
	for (size_t k = 0; i + 8 < nr && k < sizeof(*v); k += 64)
		__builtin_prefetch((const char *)&v[i + 8] + k);
}

/*
 * Pushes events that others have parsed from c on; returns the end of the text to be parsed here.
 */
static const char *push_ahead(struct tef *t, struct json_cur *c, bool *some, struct tef_ahead *a)
{
	for (;;) {
		struct json_cur from = *c;
		bool after = *some;
		const struct tef_event *v;
		const char *end;
		size_t nr;

		if (json_element(&from, &after) <= 0)
			return c->p + 1;
		v = tef_ahead_get(a, from.p, t->shapes, &nr, &end);
		if (nr == 0)
			return end;
		for (size_t i = 0; i < nr && !t->again; i++) {
			event_prefetch(v, i, nr);
			tef_event_push(t, &v[i]);
		}
		if (t->again)
			return end;
		c->p = end;
		*some = true;
		walk_finish(t, c);
	}
}

/* One array of events. ahead: events of other threads; NULL. */
static int walk_array(struct tef *t, struct json_cur *c, struct damage *d, struct tef_ahead *ahead)
{
	const char *alone = ahead ? c->p : c->end;
	struct tef_event ev;
	bool some = false;
	int r;

	t->walk = input_walk(&t->map, cursor_offset(t, c));
	do {
		if (ahead && element_at(*c) >= alone)
			alone = push_ahead(t, c, &some, ahead);
		if (t->again)
			return -1;
		r = next_event(t, c, &some, &ev, d);
		if (r > 0)
			tef_event_push(t, &ev);
		walk_finish(t, c);
	} while (r > 0);
	return r;
}

/* The walk on the caller's thread, while the others parse. */
struct together {
	struct tef *t;
	struct json_cur *c;
	struct damage *d;
	struct tef_ahead *ahead;
	bool done;
	int r;
};

static void do_part(void *ctx, size_t i, unsigned worker)
{
	struct together *g = ctx;
	struct tef_shapes *shapes;

	(void)i;
	if (worker > 0) {
		shapes = tef_shapes_new(&g->t->doc, g->t->map.data, worker, g->t->facts);
		tef_ahead_help(g->ahead, shapes);
		tef_shapes_free(shapes);
	} else if (!g->done) {
		g->r = walk_array(g->t, g->c, g->d, g->ahead);
		g->done = true;
		tef_ahead_quit(g->ahead);
	}
}

/* Each thread has one part, and only the caller's, the walk, ends before all do. */
static int walk_together(struct tef *t, struct json_cur *c, struct damage *d)
{
	struct workers *w = t->opts->workers;
	struct together g = { .t = t, .c = c, .d = d };

	if (!w || workers_count(w) < 2 || t->map.len - cursor_offset(t, c) < AHEAD_MIN)
		return walk_array(t, c, d, NULL);
	g.ahead = tef_ahead_new(&t->map, cursor_offset(t, c));
	workers_run(w, workers_count(w), do_part, &g);
	tef_ahead_free(g.ahead);
	return g.r;
}

/* No other thread reads t->doc any more. */
static int walk_again(struct tef *t)
{
	bool guessed = t->doc.events_end > 0;

	if (t->again && (!guessed || !tef_doc_guess(t)))
		tef_doc_rest(t);
	return TEF_AGAIN;
}

void tef_walk_hear(struct tef *t)
{
	struct json_cur c = { t->map.data + t->doc.events_at, t->map.data + t->map.len };
	struct damage unused = { .places = 0 };
	struct tef_event ev;
	bool some = false, changed = false;
	int r;

	t->shapes = tef_shapes_new(&t->doc, t->map.data, 0, false);
	t->walk = input_walk(&t->map, cursor_offset(t, &c));
	do {
		while ((r = next_event(t, &c, &some, &ev, &unused)) > 0) {
			changed |= tef_doc_hear(t, &ev);
			walk_finish(t, &c);
		}
		some = false;
	} while (r == 0 && read_tail(t, &c, &unused));
	tef_shapes_free(t->shapes);
	t->shapes = NULL;
	if (changed)
		tef_doc_rest(t);
}

int tef_walk(struct tef *t, struct err *err)
{
	struct json_cur c = { t->map.data + t->doc.events_at, t->map.data + t->map.len };
	struct damage d = { .places = 0 };
	int r;

	progress_total(t->map.len);
	t->facts = tef_facts_wanted(t) && !t->opts->file_facts;
	t->shapes = tef_shapes_new(&t->doc, t->map.data, 0, t->facts);
	t->memo = tef_memo_new();
	tef_flex_begin(t);
	t->sink->ops->expect(t->sink, t->doc.spans);
	if (!t->sink->counts_only)
		VEC_RESERVE(&t->slices, t->doc.spans < SLICES_MAX ? t->doc.spans : SLICES_MAX);
	if (t->doc.dialect == TEF_ROCPROF || t->doc.dialect == TEF_TENSORFLOW ||
	    t->doc.dialect == TEF_ASCEND)
		read_names(t);
	r = walk_together(t, &c, &d);
	if (t->again || !guess_holds(t, &c, r, &d))
		return walk_again(t);
	while (r == 0 && read_tail(t, &c, &d))
		r = walk_array(t, &c, &d, NULL);
	if (t->again)
		return walk_again(t);
	tef_samples_push(t);
	tef_edges_push(t);
	tef_flex_push(t);
	tef_late_push(t);
	tef_asyncs_push(t);
	tef_flows_push(t);
	tef_names_apply(t);
	counts_put(t);
	return damage_judge(t, &d, err);
}
