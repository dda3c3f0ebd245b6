#include "otf2_private.h"

#include <string.h>

#include "profrig/base/search.h"
#include "profrig/model/warnings.h"

bool otf2_is_callsite(const struct otf2_defs *d, const struct def_name *parameter)
{
	return strcmp(otf2_string(d, parameter->name), "callsite id") == 0;
}

bool otf2_has_callsites(const struct otf2_defs *d)
{
	for (size_t i = 0; i < d->parameters.nr; i++)
		if (otf2_is_callsite(d, &d->parameters.v[i]))
			return true;
	return false;
}

/* Native archives number links across processes. */
uint32_t otf2_callsite_process(const struct otf2_reading *r, size_t location)
{
	const struct def_location *l = &r->defs.locations.v[location];

	if (r->native.there)
		return 0;
	if (l->process == TRACK_NONE)
		return l->type == OTF2_LOCATION_TYPE_ACCELERATOR_STREAM ? CALLSITE_NOBODY
									: l->track;
	return l->process;
}

/* ---- the processes of queues ---- */

static bool is_orphan(const struct def_location *l)
{
	return l->type == OTF2_LOCATION_TYPE_ACCELERATOR_STREAM && l->process == TRACK_NONE;
}

static void owner_set(struct otf2_reading *r, struct def_location *l, track_id process)
{
	l->process = process;
	if (l->native)
		otf2_native_track_again(r, l);
	else
		otf2_track_of_location(r, l, DEF_FIND(&r->defs.location_groups, l->group));
}

/* The one process that has threads; TRACK_NONE: there are more, or it has no name. */
static track_id only_process(const struct otf2_reading *r)
{
	track_id only = TRACK_NONE;

	for (size_t i = 0; i < r->defs.locations.nr; i++) {
		const struct def_location *l = &r->defs.locations.v[i];

		if (l->type != OTF2_LOCATION_TYPE_CPU_THREAD)
			continue;
		if (l->process == TRACK_NONE || (only != TRACK_NONE && l->process != only))
			return TRACK_NONE;
		only = l->process;
	}
	return only;
}

bool otf2_owners_wanted(struct otf2_reading *r)
{
	track_id only = only_process(r);
	bool wanted = false;

	if (!otf2_has_callsites(&r->defs))
		return false;
	for (size_t i = 0; i < r->defs.locations.nr; i++) {
		struct def_location *l = &r->defs.locations.v[i];

		if (!is_orphan(l))
			continue;
		if (only != TRACK_NONE)
			owner_set(r, l, only);
		wanted |= only == TRACK_NONE;
	}
	return wanted;
}

static int by_id_and_process(const void *pa, const void *pb)
{
	const struct otf2_callsite *a = pa, *b = pb;

	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	return (a->process > b->process) - (a->process < b->process);
}

static int by_location_and_id(const void *pa, const void *pb)
{
	const struct otf2_callsite *a = pa, *b = pb;

	if (a->location != b->location)
		return a->location < b->location ? -1 : 1;
	return (a->id > b->id) - (a->id < b->id);
}

/* Processes by place: each (id, process) once, sorted by it. */
struct places {
	VEC(struct otf2_callsite) v;
	size_t processes; /* that launch at all */
	/* by track: how many of a queue's places it launches at */
	uint32_t *hits;
	size_t tracks;
};

static void places_release(struct places *p)
{
	VEC_RELEASE(&p->v);
	free(p->hits);
}

static void places_make(struct otf2_reading *r, struct places *p)
{
	for (size_t i = 0; i < r->found.launches.nr; i++) {
		struct otf2_callsite c = r->found.launches.v[i];

		c.process = r->defs.locations.v[c.location].process;
		if (c.process == TRACK_NONE)
			continue;
		if (c.process >= p->tracks)
			p->tracks = (size_t)c.process + 1;
		VEC_PUSH(&p->v, c);
	}
	if (p->v.nr)
		qsort(p->v.v, p->v.nr, sizeof(*p->v.v), by_id_and_process);
	p->hits = xcalloc(p->tracks + 1, sizeof(*p->hits));
	for (size_t i = 0; i < p->v.nr; i++)
		p->processes += p->hits[p->v.v[i].process]++ == 0;
	memset(p->hits, 0, p->tracks * sizeof(*p->hits));
}

/* [*ret_from, returned): the launches of a call site, which are adjacent. */
static size_t place_find(const struct places *p, uint64_t id, size_t *ret_from)
{
	size_t to = LOWER_BOUND(i, 0, p->v.nr, p->v.v[i].id < id);

	*ret_from = to;
	while (to < p->v.nr && p->v.v[to].id == id)
		to++;
	return to;
}

/* Counts the processes that launch at one more place of a queue. false: no process does. */
static bool place_count(struct places *p, uint64_t id)
{
	size_t from, to = place_find(p, id, &from);

	for (size_t i = from; i < to; i++)
		if (i == from || p->v.v[i].process != p->v.v[i - 1].process)
			p->hits[p->v.v[i].process]++;
	return to > from;
}

/* The only process that launches at all of them; TRACK_NONE: several, or none. */
static track_id owner_take(struct places *p, uint32_t places)
{
	track_id owner = TRACK_NONE;
	size_t nr = 0;

	for (size_t i = 0; i < p->tracks; i++) {
		if (places && p->hits[i] == places) {
			owner = (track_id)i;
			nr++;
		}
		p->hits[i] = 0;
	}
	return nr == 1 ? owner : TRACK_NONE;
}

void otf2_find_owners(struct otf2_reading *r)
{
	const struct otf2_callsite *work = r->found.work.v;
	size_t nr = r->found.work.nr;
	CLEANUP(places_release) struct places p = { .v = VEC_INIT };

	if (nr == 0)
		return;
	places_make(r, &p);
	qsort(r->found.work.v, nr, sizeof(*work), by_location_and_id);
	for (size_t i = 0, end; i < nr; i = end) {
		struct def_location *l = &r->defs.locations.v[work[i].location];
		bool orphan = is_orphan(l);
		track_id owner;
		uint32_t places = 0;

		for (end = i; end < nr && work[end].location == work[i].location; end++)
			if (orphan && (end == i || work[end].id != work[end - 1].id))
				places += place_count(&p, work[end].id);
		if (!orphan)
			continue;
		owner = owner_take(&p, places);
		if (owner != TRACK_NONE)
			owner_set(r, l, owner);
	}
}

/* ---- what belongs together ---- */

/*
 * Launches and device work of one place of one process carry one number, as often as the place is
 * passed. The work of a place runs in the order it was launched in, so the first is tied to the
 * first, the second to the second; work never starts before its launch.
 */
static int by_place_and_time(const void *pa, const void *pb)
{
	const struct otf2_callsite *a = pa, *b = pb;

	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	return (a->t_ns > b->t_ns) - (a->t_ns < b->t_ns);
}

static void processes_set(const struct otf2_reading *r, struct otf2_callsite *v, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		v[i].process = otf2_callsite_process(r, v[i].location);
	if (nr)
		qsort(v, nr, sizeof(*v), by_place_and_time);
}

static int place_cmp(const struct otf2_callsite *a, const struct otf2_callsite *b)
{
	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	return (a->id > b->id) - (a->id < b->id);
}

void otf2_match_callsites(struct otf2_reading *r)
{
	const struct otf2_callsite *launch, *end;
	uint64_t alone = 0;
	int64_t tied = 0;

	if (r->found.work.nr == 0)
		return;
	otf2_find_owners(r);
	processes_set(r, r->found.launches.v, r->found.launches.nr);
	processes_set(r, r->found.work.v, r->found.work.nr);
	launch = r->found.launches.v;
	end = launch + r->found.launches.nr;
	for (size_t w = 0; w < r->found.work.nr; w++) {
		const struct otf2_callsite *work = &r->found.work.v[w];

		while (launch < end && place_cmp(launch, work) < 0)
			launch++;
		if (launch == end || work->process == CALLSITE_NOBODY ||
		    place_cmp(launch, work) > 0 || launch->t_ns > work->t_ns) {
			alone++;
			continue;
		}
		r->s->ops->link(r->s, launch->span, work->span, LINK_LAUNCH);
		tied++;
		launch++;
	}
	sink_fact(r->s, "launches", tied);
	sink_warn(r->s, W_UNLINKED_WORK, alone, SAY_UNLINKED_WORK);
}
