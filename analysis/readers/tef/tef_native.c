/*
 * The output of `profrig convert` (write_tef.c has the layout). Tracks and series are made from
 * their metadata before any event; an event's pid and tid then give its track. A span's member
 * "profrig" has its kind and correlation. A flow point belongs to the span before it in the file,
 * so links join the same spans as before.
 */
#include "tef.h"

#include "profrig/base/num.h"

static bool member_next(struct json_cur *c, bool *some, struct json_text *key,
			struct json_text *value)
{
	while (json_member(c, some, key) > 0) {
		const char *from;
		char ch = json_peek(c);

		if (ch != '{' && ch != '[')
			return json_scalar(c, value) == 0;
		from = c->p;
		if (json_skip(c) < 0)
			return false;
		*value = (struct json_text){ .p = from, .n = (size_t)(c->p - from) };
		return true;
	}
	return false;
}

static bool member_find(const struct json_text *object, const char *name, struct json_text *ret)
{
	struct json_text key;
	struct json_cur c;
	bool some = false;

	if (!json_object_of(object, &c))
		return false;
	while (member_next(&c, &some, &key, ret))
		if (json_text_is(&key, name))
			return true;
	return false;
}

/* ---- metadata ---- */

static bool take_track(struct tef *t, const struct tef_event *ev)
{
	size_t n = t->native.tracks.nr;

	if (!ev->args.p || !native_track_take(&t->native, t->sink, ev->args.p, ev->args.n))
		return false;
	tef_place_track(t, &ev->pid, &ev->tid, t->native.tracks.v[n], t->native.kinds.v[n]);
	return true;
}

static bool nest_row_take(struct tef *t, const struct tef_event *ev)
{
	struct json_text track;
	uint64_t n;

	if (!member_find(&ev->args, "track", &track) || num_u64(track.p, track.n, &n) < 0 ||
	    n >= t->native.tracks.nr)
		return false;
	tef_place_track(t, &ev->pid, &ev->tid, t->native.tracks.v[n], t->native.kinds.v[n]);
	return true;
}

static bool take_series(struct tef *t, const struct tef_event *ev)
{
	static const struct json_text value = { .p = "value", .n = 5 };
	size_t n = t->native.series.nr;
	struct json_text shown, series;

	if (!member_find(&ev->args, "shown", &shown) ||
	    !member_find(&ev->args, "series", &series) ||
	    !native_series_take(&t->native, t->sink, series.p, series.n))
		return false;
	*u64map_at(&t->series, tef_series_key(ev, &shown, &value)) = t->native.series.v[n];
	return true;
}

void tef_native_metadata(struct tef *t, const struct tef_event *ev)
{
	bool taken = true;

	if (json_text_is(&ev->name, "profrig_track"))
		taken = take_track(t, ev);
	else if (json_text_is(&ev->name, "profrig_lane"))
		taken = nest_row_take(t, ev);
	else if (json_text_is(&ev->name, "profrig_series"))
		taken = take_series(t, ev);
	if (!taken)
		tef_bad_event(t, "description of a track or a counter that does not fit");
}

/* ---- spans ---- */

static str_id args_text(struct tef *t, const struct tef_event *ev)
{
	struct json_text text;

	if (!t->opts->keep_args || !member_find(&ev->args, "text", &text))
		return STR_NONE;
	return tef_string(t, &text);
}

/* What a converter has put in front of the members of the trace goes out of the text again. */
static str_id args_without(struct tef *t, const struct tef_event *ev, enum span_kind kind,
			   uint64_t added)
{
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;
	struct json_text text = ev->args;

	if (added && text.p && added + 2 <= text.n) {
		strbuf_addch(&sb, '{');
		strbuf_add(&sb, text.p + 1 + added, text.n - 1 - (size_t)added);
		text.p = sb.buf;
		text.n = sb.len;
	}
	return kind == SPAN_KERNEL ? tef_kernel_args(t, &text) : tef_args(t, &text);
}

static void take_facts(struct tef *t, const struct tef_event *ev, struct span_def *d)
{
	struct json_cur c = { ev->native, t->map.data + t->map.len };
	struct json_text key, value;
	bool some = false, args = true;
	uint64_t added = 0;

	if (ev->native && json_open(&c, '{') == 0)
		while (member_next(&c, &some, &key, &value)) {
			if (json_text_is(&key, "kind"))
				native_span_kind(value.p, value.n, &d->kind);
			else if (json_text_is(&key, "correlation"))
				num_u64(value.p, value.n, &d->correlation);
			else if (json_text_is(&key, "added"))
				num_u64(value.p, value.n, &added);
			else if (json_text_is(&key, "cat"))
				d->category = tef_string(t, &value);
			else if (json_text_is(&key, "args")) {
				args = false;
				d->args =
					json_text_is(&value, "text") ? args_text(t, ev) : STR_NONE;
			}
		}
	if (args)
		d->args = args_without(t, ev, d->kind, added);
}

void tef_native_span(struct tef *t, const struct tef_event *ev)
{
	struct span_def d = { .args = STR_NONE };
	tef_slot slot;

	t->native_last = SPAN_NONE;
	if (ev->ph == 'X' ? !tef_extent(t, ev, &d.start_ns, &d.end_ns)
			  : !tef_time(t, ev, &d.start_ns))
		return;
	slot = tef_thread(t, &ev->pid, &ev->tid);
	d.kind = t->tracks.v[slot].def.kind == TRACK_QUEUE ? SPAN_KERNEL : SPAN_HOST;
	d.category = tef_string(t, &ev->cat);
	take_facts(t, ev, &d);
	if (ev->ph != 'X') {
		d.kind = SPAN_INSTANT;
		d.end_ns = d.start_ns;
	}
	d.name = tef_string(t, &ev->name);
	t->native_last = tef_span(t, slot, &d);
}

/* ---- links ---- */

void tef_native_flow(struct tef *t, const struct tef_event *ev)
{
	struct tef_native_end here = { t->native_last, ev->ph == 'f' };
	enum link_kind kind = LINK_FLOW;
	const struct tef_native_end *other;
	uint32_t *at;

	t->n.flows++;
	if (json_text_is(&ev->cat, "ac2g"))
		kind = LINK_LAUNCH;
	else if (!native_link_kind(ev->cat.p, ev->cat.n, &kind))
		here.span = SPAN_NONE;
	if (here.span == SPAN_NONE) {
		t->n.flows_unmatched++;
		return;
	}
	at = u64map_at(&t->native_ends, tef_id_key(&ev->id));
	if (*at == U64MAP_NONE) {
		*at = (uint32_t)t->native_end.nr;
		VEC_PUSH(&t->native_end, here);
		t->n.flows_unmatched++;
		return;
	}
	other = &t->native_end.v[*at];
	if (other->to == here.to) {
		t->n.flows_unmatched++;
		return;
	}
	t->n.flows_unmatched--;
	t->sink->ops->link(t->sink, here.to ? other->span : here.span,
			   here.to ? here.span : other->span, kind);
}
