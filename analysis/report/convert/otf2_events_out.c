#include "otf2_out.h"

#include <math.h>

#include "profrig/base/xalloc.h"
#include "profrig/model/nest_rows.h"

/* ---- ends of links, by span ---- */

/* A launch for Score-P's parameter: from a call to work on a queue. */
static bool is_callsite(const struct model *m, uint64_t link)
{
	const struct link_columns *l = &m->links;
	enum track_kind from = m->tracks.v[m->spans.track[l->from[link]]].kind;
	enum track_kind to = m->tracks.v[m->spans.track[l->to[link]]].kind;

	return l->kind[link] == LINK_LAUNCH && from != TRACK_QUEUE && from != TRACK_DEVICE &&
	       to == TRACK_QUEUE;
}

static void ends_index(struct otf2_out *o)
{
	const struct link_columns *l = &o->m->links;
	size_t spans = o->m->spans.nr, nr = l->nr;
	uint64_t *first;

	if (nr == 0)
		return;
	/* an end has 31 bits for its link */
	if (nr > INT32_MAX) {
		o->links_out = nr - INT32_MAX;
		nr = INT32_MAX;
	}
	first = o->first_end = xcalloc(spans + 2, sizeof(*first));
	o->ends = xreallocarray(NULL, 2 * nr, sizeof(*o->ends));
	for (size_t i = 0; i < nr; i++) {
		first[l->from[i] + 2]++;
		first[l->to[i] + 2]++;
	}
	for (size_t i = 2; i < spans + 2; i++)
		first[i] += first[i - 1];
	for (size_t i = 0; i < nr; i++) {
		o->ends[first[l->from[i] + 1]++] = (uint32_t)i << 1;
		o->ends[first[l->to[i] + 1]++] = (uint32_t)i << 1 | 1;
	}
}

/* ---- samples of a location, in time order ---- */

struct cursor {
	int64_t t_ns;
	series_id series;
	size_t at;
};

struct sample_merge {
	VEC(struct cursor) heap; /* the earliest first, of equal times the first series */
};

static bool cursor_before(const struct cursor *a, const struct cursor *b)
{
	return a->t_ns != b->t_ns ? a->t_ns < b->t_ns : a->series < b->series;
}

static void sample_merge_sift(struct sample_merge *s, size_t i)
{
	struct cursor *v = s->heap.v, moved = v[i];

	for (size_t child; (child = 2 * i + 1) < s->heap.nr; i = child) {
		if (child + 1 < s->heap.nr && cursor_before(&v[child + 1], &v[child]))
			child++;
		if (!cursor_before(&v[child], &moved))
			break;
		v[i] = v[child];
	}
	v[i] = moved;
}

static void sample_merge_open(struct sample_merge *s, const struct otf2_out *o, size_t location)
{
	for (size_t i = o->first_series[location]; i < o->first_series[location + 1]; i++) {
		const struct series *se = &o->m->series.v[o->series_at[i]];

		if (se->t_ns.nr)
			VEC_PUSH(&s->heap, (struct cursor){ se->t_ns.v[0], o->series_at[i], 0 });
	}
	for (size_t i = s->heap.nr / 2; i-- > 0;)
		sample_merge_sift(s, i);
}

static void sample_merge_release(struct sample_merge *s)
{
	VEC_RELEASE(&s->heap);
}

/* ---- one location ---- */

struct writing {
	struct otf2_out *o;
	OTF2_EvtWriter *out;
	OTF2_AttributeList *attributes;
	struct sample_merge samples;
	VEC(uint64_t) open; /* spans */
};

static void sample_put(struct writing *w, const struct cursor *c)
{
	struct otf2_out *o = w->o;
	const struct series *se = &o->m->series.v[c->series];
	double value = se->value.v[c->at];
	OTF2_Type type = o->integers[c->series] ? OTF2_TYPE_INT64 : OTF2_TYPE_DOUBLE;
	OTF2_MetricValue v;

	if (o->integers[c->series])
		v.signed_int = (int64_t)value;
	else
		v.floating_point = value;
	otf2_out_ok(o, OTF2_EvtWriter_Metric(w->out, NULL, otf2_out_time(o, c->t_ns),
					     o->metric_of[c->series], 1, &type, &v));
}

/* A sample at the time of an enter or leave is written before it. */
static void samples_until(struct writing *w, int64_t t_ns)
{
	while (w->samples.heap.nr && w->samples.heap.v[0].t_ns <= t_ns &&
	       w->o->failed == OTF2_SUCCESS) {
		struct cursor *c = &w->samples.heap.v[0];
		const struct series *se = &w->o->m->series.v[c->series];

		sample_put(w, c);
		if (++c->at < se->t_ns.nr)
			c->t_ns = se->t_ns.v[c->at];
		else
			*c = w->samples.heap.v[--w->samples.heap.nr];
		if (w->samples.heap.nr)
			sample_merge_sift(&w->samples, 0);
	}
}

static void leaves_until(struct writing *w, int64_t t_ns)
{
	struct otf2_out *o = w->o;
	const struct span_columns *c = &o->m->spans;

	while (w->open.nr && o->failed == OTF2_SUCCESS) {
		uint64_t span = w->open.v[w->open.nr - 1];

		if (c->end_ns[span] > t_ns)
			break;
		samples_until(w, c->end_ns[span]);
		otf2_out_ok(o, OTF2_EvtWriter_Leave(w->out, NULL, otf2_out_time(o, c->end_ns[span]),
						    otf2_out_region(o, span)));
		w->open.nr--;
	}
}

static void links_put(struct writing *w, uint64_t span, OTF2_TimeStamp time)
{
	struct otf2_out *o = w->o;

	for (uint64_t i = o->first_end[span]; i < o->first_end[span + 1]; i++) {
		uint32_t link = o->ends[i] >> 1, to = o->ends[i] & 1;
		uint32_t parameter = PARAMETER_CALLSITE;

		if (!is_callsite(o->m, link))
			parameter = PARAMETER_LINK + 2 * (uint32_t)o->m->links.kind[link] + to;
		otf2_out_ok(o, OTF2_EvtWriter_ParameterUnsignedInt(w->out, NULL, time, parameter,
								   link));
	}
}

static bool too_long(const struct otf2_out *o, str_id id)
{
	return id != STR_NONE && intern_len(o->m->strings, id) > o->string_max;
}

static void attributes_put(struct writing *w, uint64_t span)
{
	struct otf2_out *o = w->o;
	const struct span_columns *c = &o->m->spans;
	bool lost = o->long_strings && too_long(o, span_args(c, span));

	if (span_correlation(c, span))
		otf2_out_ok(o, OTF2_AttributeList_AddUint64(w->attributes, ATTRIBUTE_CORRELATION,
							    span_correlation(c, span)));
	if (span_args(c, span) != STR_NONE && !lost)
		otf2_out_ok(
			o, OTF2_AttributeList_AddStringRef(w->attributes, ATTRIBUTE_ARGS,
							   otf2_out_string(o, span_args(c, span))));
	o->spans_out += lost || (o->long_strings &&
				 (too_long(o, c->name[span]) || too_long(o, c->category[span])));
}

static void span_put(struct writing *w, uint64_t span)
{
	struct otf2_out *o = w->o;
	OTF2_TimeStamp time = otf2_out_time(o, o->m->spans.start_ns[span]);

	leaves_until(w, o->m->spans.start_ns[span]);
	samples_until(w, o->m->spans.start_ns[span]);
	attributes_put(w, span);
	/* the list is empty afterwards */
	otf2_out_ok(o, OTF2_EvtWriter_Enter(w->out, w->attributes, time, otf2_out_region(o, span)));
	if (o->first_end)
		links_put(w, span, time);
	VEC_PUSH(&w->open, span);
}

/* The spans of a row: at[from … to), or where there is but one row, from … to themselves. */
static void location_write(struct writing *w, size_t location, const uint64_t *at, uint64_t from,
			   uint64_t to)
{
	struct otf2_out *o = w->o;

	if (o->failed != OTF2_SUCCESS)
		return;
	w->out = OTF2_Archive_GetEvtWriter(o->archive, location);
	if (!w->out) {
		otf2_out_ok(o, OTF2_ERROR_PROCESSED_WITH_FAULTS);
		return;
	}
	for (uint64_t i = from; i < to && o->failed == OTF2_SUCCESS; i++)
		span_put(w, at ? at[i] : i);
	leaves_until(w, INT64_MAX);
	samples_until(w, INT64_MAX);
	VEC_CLEAR(&w->open);
	VEC_CLEAR(&w->samples.heap);
	if (o->failed != OTF2_SUCCESS)
		return;
	otf2_out_ok(o, OTF2_EvtWriter_GetNumberOfEvents(w->out, &o->locations.v[location].events));
	otf2_out_ok(o, OTF2_Archive_CloseEvtWriter(o->archive, w->out));
}

/* ---- rows of a track ---- */

static size_t row_location(struct otf2_out *o, size_t first, uint32_t row)
{
	struct out_location l = o->locations.v[first];
	CLEANUP(xfreep) char *name = NULL;

	if (row == 0)
		return first;
	name = xasprintf("%s (%u)", model_str(o->m, o->m->tracks.v[l.track].name), row + 1);
	l.name = otf2_out_puts(o, name);
	l.is_track = false;
	VEC_PUSH(&o->locations, l);
	return o->locations.nr - 1;
}

/* The spans of a track by row: first[k] is where those of row k begin in at. */
static void rows_sort(const struct track *t, const uint32_t *row_of, uint64_t *at, uint64_t *first,
		      uint32_t rows)
{
	for (uint64_t i = 0; i < t->spans; i++)
		first[row_of[i] + 2]++;
	for (uint32_t k = 2; k < rows + 2; k++)
		first[k] += first[k - 1];
	for (uint64_t i = 0; i < t->spans; i++)
		at[first[row_of[i] + 1]++] = t->first_span + i;
}

static void track_write(struct writing *w, size_t location)
{
	const struct model *m = w->o->m;
	const struct span_columns *c = &m->spans;
	track_id id = w->o->locations.v[location].track;
	const struct track *t = &m->tracks.v[id];
	CLEANUP(nest_rows_release) struct nest_rows l = NEST_ROWS_INIT;
	CLEANUP(xfreep) uint32_t *row_of = xreallocarray(NULL, t->spans + 1, sizeof(*row_of));
	CLEANUP(xfreep) uint64_t *at = NULL, *first = NULL;
	uint32_t rows;

	for (uint64_t i = 0; i < t->spans; i++) {
		uint64_t span = t->first_span + i;

		row_of[i] = nest_rows_put(&l, 0, c->start_ns[span], c->end_ns[span],
					  nest_rows_nests(m, span));
	}
	rows = nest_rows_count(&l, 0);
	if (rows <= 1) {
		location_write(w, location, NULL, t->first_span, t->first_span + t->spans);
		return;
	}
	at = xreallocarray(NULL, t->spans, sizeof(*at));
	first = xcalloc(rows + 2, sizeof(*first));
	rows_sort(t, row_of, at, first, rows);
	for (uint32_t k = 0; k < rows; k++)
		location_write(w, row_location(w->o, location, k), at, first[k], first[k + 1]);
}

/* ---- all ---- */

/* Whole numbers come back as they were; −0 does not. */
static bool only_integers(const struct series *se)
{
	for (size_t i = 0; i < se->value.nr; i++) {
		double v = se->value.v[i];

		if (!(fabs(v) < 9.2e18) || v != (double)(int64_t)v || (v == 0 && signbit(v)))
			return false;
	}
	return true;
}

/* Readers need local definitions of every location, here empty ones. */
static void locals_write(struct otf2_out *o)
{
	if (o->failed != OTF2_SUCCESS || !otf2_out_ok(o, OTF2_Archive_OpenDefFiles(o->archive)))
		return;
	for (size_t i = 0; i < o->locations.nr && o->failed == OTF2_SUCCESS; i++) {
		OTF2_DefWriter *w = OTF2_Archive_GetDefWriter(o->archive, i);

		otf2_out_ok(o, w ? OTF2_Archive_CloseDefWriter(o->archive, w)
				 : OTF2_ERROR_PROCESSED_WITH_FAULTS);
	}
	if (o->failed == OTF2_SUCCESS)
		otf2_out_ok(o, OTF2_Archive_CloseDefFiles(o->archive));
}

void otf2_out_events(struct otf2_out *o)
{
	struct writing w = { .o = o, .attributes = OTF2_AttributeList_New() };
	size_t places = o->locations.nr;

	o->integers = xcalloc(o->m->series.nr + 1, 1);
	for (size_t i = 0; i < o->m->series.nr; i++)
		o->integers[i] = only_integers(&o->m->series.v[i]);
	ends_index(o);
	if (!w.attributes)
		otf2_out_ok(o, OTF2_ERROR_MEM_FAULT);
	else
		otf2_out_ok(o, OTF2_Archive_OpenEvtFiles(o->archive));
	for (size_t i = 0; i < places && o->failed == OTF2_SUCCESS; i++) {
		sample_merge_open(&w.samples, o, i);
		if (o->locations.v[i].track == TRACK_NONE)
			location_write(&w, i, NULL, 0, 0);
		else
			track_write(&w, i);
	}
	if (o->failed == OTF2_SUCCESS)
		otf2_out_ok(o, OTF2_Archive_CloseEvtFiles(o->archive));
	locals_write(o);
	if (w.attributes)
		OTF2_AttributeList_Delete(w.attributes);
	sample_merge_release(&w.samples);
	VEC_RELEASE(&w.open);
}

void otf2_out_release(struct otf2_out *o)
{
	native_order_release(&o->order);
	free(o->string_of);
	u64map_release(&o->pairs);
	VEC_RELEASE(&o->region_of);
	u64map_release(&o->host_nodes);
	u64map_release(&o->device_nodes);
	u64map_release(&o->pcis);
	u64map_release(&o->host_groups);
	u64map_release(&o->device_groups);
	free(o->group_of);
	VEC_RELEASE(&o->groups);
	VEC_RELEASE(&o->locations);
	free(o->home_of);
	free(o->metric_of);
	free(o->integers);
	free(o->first_series);
	free(o->series_at);
	free(o->first_end);
	free(o->ends);
}
