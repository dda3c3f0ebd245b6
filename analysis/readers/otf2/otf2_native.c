#include "otf2_native.h"
#include "otf2_private.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "profrig/model/warnings.h"

#define NO_ROLE UINT8_MAX

static void damage_warn(struct otf2_reading *r, uint64_t count, const char *what)
{
	char text[160];

	if (!count)
		return;
	snprintf(text, sizeof(text), "%s that profrig put into the archive is damaged", what);
	r->s->ops->warn(r->s, W_BAD_EVENT, count, text);
}

void otf2_native_open(struct otf2_reading *r, const char *text)
{
	struct otf2_native *o = &r->native;

	o->base.text = (struct strbuf)STRBUF_INIT;
	if (!text)
		return;
	o->there = native_file_take(&o->base, text, strlen(text));
	/* the origin of times; above 0 it would only be another notation */
	if (o->there && (o->base.file.base_ns > 0 || o->base.file.base_ns < TIME_MIN))
		o->there = false;
	if (!o->there)
		o->base.file = (struct native_file){ .base_ns = 0 };
	damage_warn(r, !o->there, "a description of the file");
}

bool otf2_native_exact(const struct otf2_reading *r)
{
	return r->native.there && !sink_streams(r->s);
}

/* ---- tracks ---- */

static void place_is(struct otf2_reading *r, const struct def_place_property *p, uint32_t n)
{
	struct def_location_group *g = p->group ? DEF_FIND(&r->defs.location_groups, p->ref) : NULL;
	struct def_location *l = p->group ? NULL : DEF_FIND(&r->defs.locations, p->ref);

	if (g)
		g->track = r->native.base.tracks.v[n];
	if (!l)
		return;
	l->track = r->native.base.tracks.v[n];
	l->native = n + 1;
}

static bool track_take(struct otf2_reading *r, const struct def_place_property *p)
{
	struct otf2_native *o = &r->native;
	const char *text = otf2_string(&r->defs, p->value.stringRef);
	struct track_def d;

	if (!native_track_def(&o->base, text, strlen(text), &r->defs.pool, &d) ||
	    !native_track_take(&o->base, r->s, text, strlen(text)))
		return false;
	place_is(r, p, (uint32_t)o->tracks.nr);
	VEC_PUSH(&o->tracks, d);
	return true;
}

static void tracks_take(struct otf2_reading *r)
{
	const struct otf2_defs *d = &r->defs;
	uint64_t bad = 0;

	for (size_t i = 0; i < d->place_properties.nr; i++) {
		const struct def_place_property *p = &d->place_properties.v[i];
		const char *name = otf2_string(d, p->name);

		if (p->type == OTF2_TYPE_STRING && strcmp(name, "profrig::track") == 0) {
			bad += !track_take(r, p);
		} else if (p->type == OTF2_TYPE_UINT32 && strcmp(name, "profrig::lane of") == 0) {
			if (p->value.uint32 < r->native.tracks.nr)
				place_is(r, p, p->value.uint32);
			else
				bad++;
		}
	}
	damage_warn(r, bad, "a track");
}

/* One more location of a track, for a sink that has one row of calls per track. */
static track_id row_track(struct otf2_reading *r, const struct def_location *l)
{
	struct track_def d = r->native.tracks.v[l->native - 1];

	d.name = otf2_string(&r->defs, l->name);
	d.tid = PID_NONE;
	d.key = otf2_native_key(r, l->ref);
	if (d.kind == TRACK_QUEUE)
		d.owner = l->process;
	/*
	 * spans that are neither calls nor work do not count, and one process or device is enough
	 */
	if (d.kind != TRACK_THREAD && d.kind != TRACK_QUEUE)
		d.kind = TRACK_COUNTER;
	return r->s->ops->track(r->s, &d);
}

void otf2_native_track_again(struct otf2_reading *r, const struct def_location *l)
{
	struct track_def d = r->native.tracks.v[l->native - 1];

	d.owner = l->process;
	if (l->track == r->native.base.tracks.v[l->native - 1])
		r->s->ops->track(r->s, &d);
	else
		row_track(r, l);
}

/* Samples have their track by the series, so they need none where links are kept. */
static void locations_complete(struct otf2_reading *r)
{
	struct otf2_defs *d = &r->defs;
	CLEANUP(u64map_release) struct u64map taken = U64MAP_INIT;
	bool exact = otf2_native_exact(r);

	for (size_t i = 0; i < d->locations.nr; i++) {
		struct def_location *l = &d->locations.v[i];
		const struct def_location_group *g = DEF_FIND(&d->location_groups, l->group);
		uint32_t *first = u64map_at(&taken, l->track);

		otf2_set_process(r, l);
		if (l->track == TRACK_NONE && (!exact || l->type != OTF2_LOCATION_TYPE_METRIC))
			l->track = otf2_track_of_location(r, l, g);
		else if (*first != U64MAP_NONE && !exact)
			l->track = row_track(r, l);
		*first = 1;
	}
}

static void series_take(struct otf2_reading *r)
{
	const struct otf2_defs *d = &r->defs;
	struct otf2_native *o = &r->native;
	uint64_t bad = 0;

	for (size_t i = 0; i < d->members.nr; i++) {
		const char *text = otf2_string(d, d->members.v[i].about);
		struct series_def def;

		if (d->members.v[i].ref == i && o->series.nr == i &&
		    native_series_def(&o->base, text, strlen(text), &r->defs.pool, &def) &&
		    native_series_take(&o->base, r->s, text, strlen(text)))
			VEC_PUSH(&o->series, def);
		else
			bad++;
	}
	damage_warn(r, bad, "a series");
}

/* ---- what events refer to ---- */

static uint64_t attribute_of(const struct otf2_defs *d, const char *name)
{
	for (size_t i = 0; i < d->attributes.nr; i++)
		if (strcmp(otf2_string(d, d->attributes.v[i].name), name) == 0)
			return d->attributes.v[i].ref;
	return UINT64_MAX;
}

static uint8_t role_of(const char *name)
{
	const char *space = strchr(name, ' ');
	enum link_kind kind;

	if (strcmp(name, "callsite id") == 0)
		return LINK_LAUNCH << 1;
	if (!space || strncmp(name, "profrig::", 9) != 0 ||
	    !native_link_kind(name + 9, (size_t)(space - name) - 9, &kind))
		return NO_ROLE;
	return (uint8_t)(kind << 1 | (strcmp(space, " to") == 0));
}

void otf2_native_make_tracks(struct otf2_reading *r)
{
	const struct otf2_defs *d = &r->defs;
	struct otf2_native *o = &r->native;

	o->correlation = attribute_of(d, "correlation");
	o->args = attribute_of(d, "args");
	o->roles = xcalloc(d->parameters.nr + 1, 1);
	for (size_t i = 0; i < d->parameters.nr; i++)
		o->roles[i] = role_of(otf2_string(d, d->parameters.v[i].name));
	tracks_take(r);
	locations_complete(r);
	series_take(r);
}

void otf2_native_make_regions(struct otf2_reading *r)
{
	uint64_t bad = 0;

	for (size_t i = 0; i < r->defs.regions.nr; i++) {
		struct def_region *region = &r->defs.regions.v[i];
		const char *about = otf2_string(&r->defs, region->about);
		const char *space = strchr(about, ' ');

		region->name_id = sink_puts(r->s, otf2_string(&r->defs, region->name));
		region->queue_kind = SPAN_HOST;
		if (!space ||
		    !native_span_kind(about, (size_t)(space - about), &region->queue_kind))
			bad++;
		region->category_id = sink_puts(r->s, space ? space + 1 : "");
	}
	damage_warn(r, bad, "a region");
}

/* ---- spans ---- */

static void span_push(struct otf2_location *l, const struct otf2_native_span *held)
{
	span_id span = l->s->ops->span(l->s, &held->d);

	for (size_t i = held->ends; i; i = l->native.ends.v[i - 1].next)
		l->native.ends.v[i - 1].span = span;
}

static bool starts_with(const struct otf2_native_spans *s, size_t at, size_t around)
{
	return s->held.v[at].d.start_ns == s->held.v[around].d.start_ns;
}

static void innermost_end(struct otf2_location *l, int64_t t_ns)
{
	struct otf2_native_spans *s = &l->native;
	size_t at = s->open.v[--s->open.nr];

	s->held.v[at].d.end_ns = t_ns;
	if (s->open.nr && starts_with(s, at, s->open.v[s->open.nr - 1]))
		return;
	for (size_t i = at; i < s->held.nr; i++)
		span_push(l, &s->held.v[i]);
	s->held.nr = at;
}

static void attribute_take(struct otf2_location *l, uint64_t ref, OTF2_Type type, uint64_t value,
			   struct span_def *d)
{
	const struct otf2_native *o = &l->r->native;

	if (ref == o->correlation && type == OTF2_TYPE_UINT64)
		d->correlation = value;
	else if (ref == o->args && type == OTF2_TYPE_STRING) {
		if (l->r->o && l->r->o->keep_args)
			d->args = sink_puts(l->s, otf2_string(&l->r->defs, value));
	} else {
		sink_warnf(l->s, W_BAD_EVENT, "attribute %" PRIu64 " says nothing that is known",
			   ref);
	}
}

/* How many bytes a value of a type has as they are; 0: it is a number. */
static size_t attribute_bytes(OTF2_Type type)
{
	switch (type) {
	case OTF2_TYPE_UINT8:
	case OTF2_TYPE_INT8:
		return 1;
	case OTF2_TYPE_UINT16:
	case OTF2_TYPE_INT16:
		return 2;
	case OTF2_TYPE_FLOAT:
		return 4;
	case OTF2_TYPE_DOUBLE:
		return 8;
	default:
		return 0;
	}
}

static void attributes_take(struct otf2_location *l, struct otf2_fields *f, struct span_def *d)
{
	uint64_t nr = f->p < f->end ? otf2_number(f, 4) : 0;

	for (uint64_t i = 0; i < nr && !f->bad; i++) {
		uint64_t ref = otf2_ref(l, OTF2_MAPPING_ATTRIBUTE, f);
		OTF2_Type type = otf2_byte(f);
		size_t bytes = attribute_bytes(type);
		uint64_t value = bytes ? otf2_full(f, bytes) : otf2_number(f, 8);

		if (type == OTF2_TYPE_STRING)
			value = otf2_global(l, OTF2_MAPPING_STRING, value);
		if (!f->bad)
			attribute_take(l, ref, type, value, d);
	}
}

void otf2_native_enter(struct otf2_location *l, uint64_t ticks, struct otf2_fields *f,
		       struct otf2_fields *attributes)
{
	uint64_t ref = otf2_ref(l, OTF2_MAPPING_REGION, f);
	const struct def_region *region = DEF_FIND(&l->r->defs.regions, ref);
	struct otf2_native_span held = { .d = { .track = l->track, .args = STR_NONE } };

	held.d.start_ns = held.d.end_ns = otf2_time(l, ticks);
	if (region) {
		held.d.name = region->name_id;
		held.d.category = region->category_id;
		held.d.kind = region->queue_kind;
	} else {
		sink_warnf(l->s, W_UNKNOWN_REFERENCE,
			   "region %" PRIu64 " is entered and not defined", ref);
	}
	attributes_take(l, attributes, &held.d);
	f->bad |= attributes->bad;
	VEC_PUSH(&l->native.open, l->native.held.nr);
	VEC_PUSH(&l->native.held, held);
}

void otf2_native_leave(struct otf2_location *l, uint64_t ticks, struct otf2_fields *f)
{
	uint64_t ref = otf2_ref(l, OTF2_MAPPING_REGION, f);
	const struct def_region *region = DEF_FIND(&l->r->defs.regions, ref);
	const struct span_def *d;

	if (l->native.open.nr == 0) {
		sink_warnf(l->s, W_STRAY_LEAVE, "region %" PRIu64 " is left and not entered", ref);
		return;
	}
	d = &l->native.held.v[l->native.open.v[l->native.open.nr - 1]].d;
	if (!region || region->name_id != d->name)
		sink_warnf(l->s, W_LEAVE_MISMATCH, "region %" PRIu64 " is left inside another one",
			   ref);
	innermost_end(l, otf2_time(l, ticks));
}

void otf2_native_end(struct otf2_location *l)
{
	char text[96];

	if (l->native.open.nr == 0)
		return;
	snprintf(text, sizeof(text), "%zu regions are still open at the end of location %" PRIu64,
		 l->native.open.nr, l->r->defs.locations.v[l->index].ref);
	l->s->ops->warn(l->s, W_OPEN_SPAN, l->native.open.nr, text);
	while (l->native.open.nr)
		innermost_end(l, otf2_time(l, l->found.last_ticks));
}

/* ---- links ---- */

void otf2_native_parameter(struct otf2_location *l, uint64_t ticks, struct otf2_fields *f)
{
	const struct otf2_defs *d = &l->r->defs;
	uint64_t ref = otf2_ref(l, OTF2_MAPPING_PARAMETER, f), number = otf2_number(f, 8);
	const struct def_name *p = DEF_FIND(&d->parameters, ref);
	uint8_t role = p ? l->r->native.roles[p - d->parameters.v] : NO_ROLE;
	struct otf2_native_span *held;

	(void)ticks;
	if (role == NO_ROLE || l->native.open.nr == 0) {
		sink_warnf(l->s, W_BAD_EVENT, "parameter %" PRIu64 " belongs to no span", ref);
		return;
	}
	if (l->s->no_links)
		return;
	held = &l->native.held.v[l->native.open.v[l->native.open.nr - 1]];
	VEC_PUSH(&l->native.ends,
		 (struct otf2_native_end){
			 .number = number,
			 .span = SPAN_NONE,
			 .next = held->ends,
			 .kind = (enum link_kind)(role >> 1),
			 .to = (role & 1) ||
			       (role == LINK_LAUNCH << 1 && l->queue && otf2_is_callsite(d, p)) });
	held->ends = l->native.ends.nr;
}

/* Links are numbered from 0 on, so there are more ends than numbers. */
void otf2_native_match(struct otf2_reading *r)
{
	const struct otf2_native_end *v = r->native.ends.v;
	size_t nr = r->native.ends.nr;
	CLEANUP(xfreep) size_t *at = xcalloc(nr + 1, 2 * sizeof(*at)); /* index + 1 */
	uint64_t alone = nr;

	for (size_t i = 0; i < nr; i++)
		if (v[i].number < nr)
			at[2 * v[i].number + v[i].to] = i + 1;
	for (size_t i = 0; i < nr; i++) {
		const struct otf2_native_end *from = at[2 * i] ? &v[at[2 * i] - 1] : NULL;
		const struct otf2_native_end *to = at[2 * i + 1] ? &v[at[2 * i + 1] - 1] : NULL;

		if (!from || !to || from->kind != to->kind)
			continue;
		r->s->ops->link(r->s, from->span, to->span, from->kind);
		alone -= 2;
	}
	sink_warn(r->s, W_UNKNOWN_REFERENCE, alone, "one end of a link is not in the archive");
}

void otf2_native_release(struct otf2_native *o)
{
	native_release(&o->base);
	free(o->roles);
	VEC_RELEASE(&o->tracks);
	VEC_RELEASE(&o->series);
	VEC_RELEASE(&o->ends);
}

void otf2_native_spans_release(struct otf2_native_spans *s)
{
	VEC_RELEASE(&s->held);
	VEC_RELEASE(&s->open);
	VEC_RELEASE(&s->ends);
}
