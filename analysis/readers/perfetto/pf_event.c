/*
 * A track event begins or ends a slice of a track, is an instant, or is a value of a counter; it
 * may bring values of other counters, ids of flows, and annotations. Its track is the one that it
 * names, else its sequence's default.
 */
#include "perfetto.h"

/* Fields of TrackEvent. */
enum {
	TE_DELTA_US = 1,
	TE_CATEGORY_IID = 3,
	TE_ANNOTATION = 4,
	TE_LEGACY = 6,
	TE_TYPE = 9,
	TE_NAME_IID = 10,
	TE_TRACK = 11,
	TE_EXTRA = 12,
	TE_ABSOLUTE_US = 16,
	TE_CATEGORY = 22,
	TE_NAME = 23,
	TE_VALUE = 30,
	TE_EXTRA_TRACKS = 31,
	TE_PLACE = 33,
	TE_PLACE_IID = 34,
	TE_FLOW_OLD = 36,
	TE_FLOW_END_OLD = 42,
	TE_DOUBLE = 44,
	TE_DOUBLE_TRACKS = 45,
	TE_DOUBLES = 46,
	TE_FLOW = 47,
	TE_FLOW_END = 48,
	TE_NATIVE = 9788 /* profrig's own */
};

/* A letter of older events that begins, ends or marks a slice of a thread. */
static uint8_t type_of_phase(uint32_t phase)
{
	switch (phase) {
	case 'B':
		return PF_BEGIN;
	case 'E':
		return PF_END;
	case 'I':
	case 'i':
	case 'R':
		return PF_INSTANT;
	default:
		return 0;
	}
}

/* Of old events without a time of the packet: since the last one, or absolute, in µs. */
static bool old_time(struct pf *p, const struct pf_packet *k, int64_t *ret_ns, uint64_t *ret_clock)
{
	struct pb_cursor c = pf_cursor(k->body);
	struct pb_field f;

	*ret_clock = pf_clock_key(PF_MONOTONIC, k->seq);
	while (pb_next(&c, &f)) {
		if (!pb_is_number(&f) || (f.number != TE_DELTA_US && f.number != TE_ABSOLUTE_US))
			continue;
		*ret_ns = pb_int(&f);
		if (f.number == TE_DELTA_US) {
			if (__builtin_add_overflow(k->state->reference_us, *ret_ns, ret_ns))
				return false;
			k->state->reference_us = *ret_ns;
		}
		p->used[PF_MONOTONIC]++;
		return !__builtin_mul_overflow(*ret_ns, 1000, ret_ns);
	}
	return false;
}

static bool event_time(struct pf *p, const struct pf_packet *k, int64_t *ret_ns,
		       uint64_t *ret_clock)
{
	return k->timed ? pf_time_own(p, k, ret_ns, ret_clock) : old_time(p, k, ret_ns, ret_clock);
}

static uint64_t uuid_of(struct pf *p, const struct pf_event *e)
{
	const struct pf_seq *s = e->packet->state;
	uint64_t uuid;

	if (e->legacy.p && pf_legacy_track(p, e, &uuid))
		return uuid;
	return e->has_track ? e->track : s->has_track ? s->track : s->has_thread ? s->thread : 0;
}

static struct pf_event event_of(const struct pf_packet *k)
{
	struct pf_event e = {
		.packet = k, .body = k->body, .name = STR_NONE, .category = STR_NONE
	};

	return e;
}

void pf_event_survey(struct pf *p, const struct pf_packet *k)
{
	struct pf_event e = event_of(k);
	struct pb_cursor c = pf_cursor(k->body);
	struct pb_field f;
	uint64_t clock;
	int64_t own_ns;

	while (pb_next(&c, &f))
		if (f.number == TE_TYPE) {
			e.type = (uint8_t)f.u64;
		} else if (f.number == TE_TRACK) {
			e.track = f.u64;
			e.has_track = true;
		} else if (f.number == TE_LEGACY) {
			e.legacy = pf_bytes_of(&f);
		}
	if (e.legacy.p && !e.type)
		e.type = type_of_phase(pf_legacy_phase(e.legacy));
	if (!event_time(p, k, &own_ns, &clock) || e.type == PF_COUNTER || e.type == 0)
		return;
	pf_slice_survey(p, pf_track_of(p, uuid_of(p, &e)), e.type, own_ns, clock, k->seq);
}

/* ---- the fields of an event ---- */

static void category_join(struct pf *p, struct pf_bytes more, bool first)
{
	if (!first)
		strbuf_addch(&p->text, ',');
	strbuf_add(&p->text, more.p ? (const char *)more.p : "", more.n);
}

/* Several categories become one, with commas. */
static str_id categories_of(struct pf *p, const struct pf_event *e)
{
	struct pb_cursor c = pf_cursor(e->body);
	struct pb_field f;
	bool first = true;
	uint64_t iid;

	strbuf_clear(&p->text);
	while (pb_next(&c, &f)) {
		struct pb_packed v = pb_packed_of(&f);

		if (f.number == TE_CATEGORY && pb_is_bytes(&f)) {
			category_join(p, pf_bytes_of(&f), first);
			first = false;
		}
		while (f.number == TE_CATEGORY_IID && pb_packed_next(&v, &iid)) {
			str_id id = pf_interned(p, e->packet->state, PF_CATEGORIES, iid);
			uint32_t at = u64map_get(&p->category_text, id);
			const char *text = at == U64MAP_NONE ? "?" : p->parts.v[at];

			category_join(
				p, (struct pf_bytes){ (const unsigned char *)text, strlen(text) },
				first);
			first = false;
		}
	}
	return p->sink->ops->string(p->sink, p->text.buf, p->text.len);
}

static void category_take(struct pf *p, struct pf_event *e, const struct pb_field *f)
{
	if (e->category != STR_NONE || (f->number == TE_CATEGORY_IID && pb_is_bytes(f)))
		e->categories = true;
	else if (f->number == TE_CATEGORY)
		e->category = pf_string(p, pf_bytes_of(f));
	else
		e->category = pf_interned(p, e->packet->state, PF_CATEGORIES, f->u64);
}

static void field_take(struct pf *p, struct pf_event *e, const struct pb_field *f)
{
	switch (f->number) {
	case TE_CATEGORY_IID:
	case TE_CATEGORY:
		category_take(p, e, f);
		break;
	case TE_ANNOTATION:
	case TE_PLACE:
	case TE_PLACE_IID:
		e->args = true;
		break;
	case TE_LEGACY:
		e->legacy = pf_bytes_of(f);
		break;
	case TE_TYPE:
		e->type = (uint8_t)(f->u64 < UINT8_MAX ? f->u64 : UINT8_MAX);
		break;
	case TE_NAME_IID:
		e->name = pf_interned(p, e->packet->state, PF_NAMES, f->u64);
		break;
	case TE_NAME:
		e->name = pf_string(p, pf_bytes_of(f));
		pf_name_learn(p, e->name, pf_bytes_of(f));
		break;
	case TE_TRACK:
		e->track = f->u64;
		e->has_track = true;
		break;
	case TE_EXTRA:
	case TE_DOUBLES:
		e->extra = true;
		break;
	case TE_VALUE:
	case TE_DOUBLE:
		e->value = f->number == TE_VALUE ? (double)pb_int(f) : pb_double(f);
		e->has_value = true;
		break;
	case TE_FLOW:
	case TE_FLOW_END:
	case TE_FLOW_OLD:
	case TE_FLOW_END_OLD:
		e->flows = true;
		break;
	case TE_NATIVE:
		e->native = pf_bytes_of(f);
		break;
	default:
		break;
	}
}

/* ---- counters ---- */

void pf_count(struct pf *p, uint32_t track, const struct pf_seq *s, int64_t t_ns, double value)
{
	struct pf_track *t = &p->tracks.v[track];

	if (t->incremental) {
		if (t->sum_epoch != s->epoch)
			t->sum = 0;
		t->sum_epoch = s->epoch;
		value = t->sum += value;
	}
	if (!pf_memory(p, 2 * sizeof(double))) {
		p->n.no_memory++;
		return;
	}
	p->sink->ops->sample(p->sink, pf_model_series(p, track), t_ns,
			     value * (double)t->multiplier);
}

/* The numbers of a repeated field, single or packed, up to n. */
static size_t numbers_of(struct pf_bytes b, uint32_t field, uint64_t *v, size_t n)
{
	struct pb_cursor c = pf_cursor(b);
	struct pb_field f;
	uint64_t number;
	size_t nr = 0;

	while (pb_next(&c, &f)) {
		struct pb_packed row = pb_packed_of(&f);

		while (f.number == field && nr < n && pb_packed_next(&row, &number))
			v[nr++] = number;
	}
	return nr;
}

#define EXTRA_MAX 32

/* The n-th value belongs to the n-th track, of the event or by default. */
static void extra_push(struct pf *p, const struct pf_event *e, uint32_t values, uint32_t tracks,
		       const uint64_t *usual, size_t nr_usual)
{
	uint64_t v[EXTRA_MAX], of[EXTRA_MAX];
	size_t nr = numbers_of(e->body, values, v, EXTRA_MAX);
	size_t nr_of = nr ? numbers_of(e->body, tracks, of, EXTRA_MAX) : 0;
	const uint64_t *uuids = nr_of ? of : usual;
	double d;

	nr_of = nr_of ? nr_of : nr_usual;
	for (size_t i = 0; i < nr && i < nr_of; i++) {
		d = (double)(int64_t)v[i];
		if (values == TE_DOUBLES)
			memcpy(&d, &v[i], sizeof(d));
		pf_count(p, pf_track_of(p, uuids[i]), e->packet->state, e->t_ns, d);
	}
}

static void extras_push(struct pf *p, const struct pf_event *e)
{
	const struct pf_seq *s = e->packet->state;

	extra_push(p, e, TE_EXTRA, TE_EXTRA_TRACKS, s->counters.v, s->counters.nr);
	extra_push(p, e, TE_DOUBLES, TE_DOUBLE_TRACKS, s->doubles.v, s->doubles.nr);
}

/* ---- flows ---- */

void pf_flow_add(struct pf *p, uint64_t id, int64_t t_ns, bool ends, enum link_kind kind)
{
	if (p->sink->no_links || p->sink->counts_only || p->flows.nr == UINT32_MAX)
		return;
	if (!pf_memory(p, sizeof(struct pf_flow))) {
		p->n.no_memory++;
		return;
	}
	VEC_PUSH(&p->flows, ((struct pf_flow){ .id = id,
					       .t_ns = t_ns,
					       .span = SPAN_NONE,
					       .ends = ends,
					       .kind = (uint8_t)kind }));
}

static void flows_take(struct pf *p, const struct pf_event *e)
{
	static const struct {
		uint32_t field;
		bool ends;
	} fields[] = { { TE_FLOW, false },
		       { TE_FLOW_END, true },
		       { TE_FLOW_OLD, false },
		       { TE_FLOW_END_OLD, true } };
	struct pb_cursor c = pf_cursor(e->body);
	struct pb_field f;

	while (pb_next(&c, &f))
		for (size_t i = 0; pb_is_number(&f) && i < ARRAY_LEN(fields); i++)
			if (f.number == fields[i].field)
				pf_flow_add(p, f.u64, e->t_ns, fields[i].ends, LINK_FLOW);
}

/* ---- what an event is ---- */

enum pf_class pf_class_of(struct pf *p, str_id category)
{
	uint32_t class;

	if (category == p->last_category)
		return p->last_class;
	class = u64map_get(&p->class_of, category);
	p->last_category = category;
	return p->last_class = class == U64MAP_NONE ? PF_PLAIN : (enum pf_class) class;
}

static void slice_push(struct pf *p, struct pf_event *e, uint32_t track)
{
	struct pf_open o = { .start_ns = e->t_ns,
			     .name = e->name == STR_NONE ? p->empty : e->name,
			     .category = e->category == STR_NONE ? p->empty : e->category,
			     .flow = (uint32_t)p->flows.nr,
			     .kind = SPAN_HOST,
			     .on = TRACK_NONE };
	enum pf_class class = e->category == STR_NONE ? PF_PLAIN : pf_class_of(p, e->category);

	if (e->args && p->opts->keep_args)
		o.args = pf_args(p, e);
	if (e->flows && !p->is_native)
		flows_take(p, e);
	if (e->native.p && p->is_native)
		pf_native_event(p, e, &o);
	if (e->legacy.p && pf_legacy_push(p, e, track, &o))
		return;
	if (class != PF_PLAIN && e->type != PF_END && e->args)
		pf_device_take(p, e, track, class, &o);
	o.flows = (uint32_t)p->flows.nr - o.flow;
	if (e->type == PF_STATE && e->name == STR_NONE)
		e->type = PF_STATE_END;
	pf_slice_take(p, track, e->type, e->t_ns, &o);
}

void pf_event_push(struct pf *p, const struct pf_packet *k)
{
	struct pf_event e = event_of(k);
	struct pb_cursor c = pf_cursor(k->body);
	struct pb_field f;
	uint64_t clock;
	uint32_t track;

	while (pb_next(&c, &f))
		field_take(p, &e, &f);
	if (c.problem) {
		pf_bad(p, c.problem);
		return;
	}
	if (!event_time(p, k, &e.t_ns, &clock)) {
		pf_bad(p, "a track event without a time");
		return;
	}
	if (!pf_time_convert(p, clock, e.t_ns, &e.t_ns)) {
		p->n.no_clock++;
		return;
	}
	if (p->is_native)
		e.t_ns = time_shift(e.t_ns, p->native.file.base_ns);
	if (e.categories)
		e.category = categories_of(p, &e);
	track = pf_track_of(p, uuid_of(p, &e));
	if (e.extra)
		extras_push(p, &e);
	if (e.legacy.p && !e.type)
		e.type = type_of_phase(pf_legacy_phase(e.legacy));
	if (e.type == PF_COUNTER && e.has_value)
		pf_count(p, track, k->state, e.t_ns, e.value);
	else if ((e.type >= PF_BEGIN && e.type <= PF_INSTANT) || e.type == PF_STATE || e.legacy.p)
		slice_push(p, &e, track);
	else if (!e.extra)
		pf_bad(p, "a track event of an unknown type");
}
