#include "otf2_names.h"
#include "otf2_private.h"

#include <inttypes.h>
#include <string.h>

/*
 *	location group PROCESS			PROCESS track, rank from the list of locations that
 *						communicate over MPI
 *	location CPU_THREAD			THREAD track under it
 *	accelerator of the system tree		DEVICE track: one per host and index, for all
 *						contexts on it
 *	location ACCELERATOR_STREAM		QUEUE track under it
 *	location METRIC				COUNTER track under its process
 */

/* On several hosts "gpu0" alone would name more than one device. */
static bool many_hosts(const struct otf2_defs *d)
{
	const char *first = NULL;

	for (size_t i = 0; i < d->locations.nr; i++) {
		const struct def_location *l = &d->locations.v[i];
		const struct def_location_group *g = DEF_FIND(&d->location_groups, l->group);
		const char *host = g ? otf2_host(d, g->node) : "";

		if (first && strcmp(first, host) != 0)
			return true;
		first = host;
	}
	return false;
}

const char *otf2_device_id(const struct otf2_reading *r, struct pool *pool, const char *host,
			   int64_t device)
{
	if (device < 0)
		return "";
	if (r->many_hosts && *host)
		return pool_printf(pool, "%s:gpu%" PRId64, host, device);
	return pool_printf(pool, "gpu%" PRId64, device);
}

static track_id process_track(struct otf2_reading *r, struct def_location_group *g)
{
	struct track_def d = TRACK_DEF_INIT;

	d.kind = TRACK_PROCESS;
	d.host = otf2_host(&r->defs, g->node);
	d.name = otf2_string(&r->defs, g->name);
	d.key = g->ref;
	if (g->rank <= INT32_MAX)
		d.rank = (int32_t)g->rank;
	return r->s->ops->track(r->s, &d);
}

/* Streams of older archives are in their process's group, those of newer ones in a group of their
 * context below the device's node. */
static int64_t stream_device(const struct otf2_defs *d, const struct def_location *l,
			     const struct def_location_group *g)
{
	int64_t device;

	if (!g)
		return otf2_name_device(otf2_string(d, l->name));
	device = otf2_node_device(d, g->node);
	if (device < 0 && strchr(otf2_string(d, l->name), '['))
		device = otf2_name_device(otf2_string(d, l->name));
	if (device < 0 && g->type == OTF2_LOCATION_GROUP_TYPE_ACCELERATOR)
		device = otf2_name_device(otf2_string(d, g->name));
	return device;
}

/* Contexts of several processes on one device share its track: it is found by the device's id,
 * which is unique in the archive. */
static track_id device_track(struct otf2_reading *r, const char *id, const char *host,
			     const struct def_location *l)
{
	struct track_def d = TRACK_DEF_INIT;
	str_id text = sink_puts(r->s, id);

	d.kind = TRACK_DEVICE;
	d.host = host;
	d.device = id;
	d.key = otf2_native_key(r, *id ? text : (uint64_t)1 << 32 | l->group);
	d.name = *id ? id : NULL;
	return r->s->ops->track(r->s, &d);
}

/* An accelerator's group names the process' group that made it. */
static track_id stream_owner(const struct otf2_defs *d, const struct def_location_group *g)
{
	if (g && g->type == OTF2_LOCATION_GROUP_TYPE_ACCELERATOR)
		g = DEF_FIND(&d->location_groups, g->creator);
	return g && g->type != OTF2_LOCATION_GROUP_TYPE_ACCELERATOR ? g->track : TRACK_NONE;
}

static track_id queue_track(struct otf2_reading *r, const struct def_location *l,
			    const struct def_location_group *g)
{
	const char *host = g ? otf2_host(&r->defs, g->node) : "";
	const char *id = otf2_device_id(r, &r->defs.pool, host, stream_device(&r->defs, l, g));
	struct track_def d = TRACK_DEF_INIT;
	char pci[32];

	if (!*id && r->o && r->o->device)
		id = r->o->device;
	d.kind = TRACK_QUEUE;
	d.parent = device_track(r, id, host, l);
	d.host = host;
	d.device = id;
	d.name = otf2_string(&r->defs, l->name);
	d.tid = otf2_name_stream(d.name);
	if (d.tid < 0)
		d.tid = PID_NONE;
	d.key = otf2_native_key(r, l->ref);
	d.owner = l->process;
	d.pci = g ? otf2_node_pci(&r->defs, g->node, pci) : NULL;
	return r->s->ops->track(r->s, &d);
}

static track_id other_track(struct otf2_reading *r, const struct def_location *l,
			    const struct def_location_group *g)
{
	struct track_def d = TRACK_DEF_INIT;

	d.kind = l->type == OTF2_LOCATION_TYPE_METRIC ? TRACK_COUNTER : TRACK_THREAD;
	d.parent = g ? g->track : TRACK_NONE;
	d.host = g ? otf2_host(&r->defs, g->node) : NULL;
	d.name = otf2_string(&r->defs, l->name);
	d.key = otf2_native_key(r, l->ref);
	return r->s->ops->track(r->s, &d);
}

void otf2_set_process(const struct otf2_reading *r, struct def_location *l)
{
	const struct def_location_group *g = DEF_FIND(&r->defs.location_groups, l->group);
	const struct track_def *def = l->native ? &r->native.tracks.v[l->native - 1] : NULL;

	if (def)
		l->process = def->kind == TRACK_QUEUE ? def->owner : def->parent;
	else if (l->type == OTF2_LOCATION_TYPE_ACCELERATOR_STREAM)
		l->process = r->native.there ? TRACK_NONE : stream_owner(&r->defs, g);
	else
		l->process = g && !r->native.there ? g->track : TRACK_NONE;
}

track_id otf2_track_of_location(struct otf2_reading *r, const struct def_location *l,
				const struct def_location_group *g)
{
	return l->type == OTF2_LOCATION_TYPE_ACCELERATOR_STREAM ? queue_track(r, l, g)
								: other_track(r, l, g);
}

/* A region on a stream is a kernel unless it is known to be something else: tracers give kernels no
 * role. */
static enum span_kind queue_kind(const struct def_region *region, const char *name)
{
	if (otf2_name_is_fill(name))
		return SPAN_FILL;
	if (region->role == OTF2_REGION_ROLE_DATA_TRANSFER || otf2_name_is_copy(name))
		return SPAN_COPY;
	switch (region->role) {
	case OTF2_REGION_ROLE_ARTIFICIAL: /* idle phases that some tracers write */
	case OTF2_REGION_ROLE_BARRIER:
	case OTF2_REGION_ROLE_IMPLICIT_BARRIER:
	case OTF2_REGION_ROLE_ALLOCATE:
	case OTF2_REGION_ROLE_DEALLOCATE:
	case OTF2_REGION_ROLE_REALLOCATE:
		return SPAN_ANNOTATION;
	default:
		return SPAN_KERNEL;
	}
}

/* Metric locations are often nameless: then their first counter names them. */
static void counters_name(struct otf2_reading *r)
{
	struct otf2_defs *d = &r->defs;

	for (size_t i = 0; i < d->metrics.nr; i++) {
		const struct def_metric *m = &d->metrics.v[i], *class;
		const struct def_member *member;
		struct def_location *l;

		if (!m->instance)
			continue;
		class = DEF_FIND(&d->metrics, m->class_ref);
		l = DEF_FIND(&d->locations, m->recorder);
		if (!class || class->instance || class->nr == 0 || !l ||
		    l->type != OTF2_LOCATION_TYPE_METRIC || *otf2_string(d, l->name))
			continue;
		member = DEF_FIND(&d->members, class->members[0]);
		if (member)
			l->name = member->name;
	}
}

void otf2_make_tracks(struct otf2_reading *r)
{
	struct otf2_defs *d = &r->defs;

	r->many_hosts = many_hosts(d);
	if (r->native.there) {
		otf2_native_make_tracks(r);
		otf2_native_make_regions(r);
		return;
	}
	counters_name(r);
	for (size_t i = 0; i < d->location_groups.nr; i++) {
		struct def_location_group *g = &d->location_groups.v[i];

		if (g->type != OTF2_LOCATION_GROUP_TYPE_ACCELERATOR)
			g->track = process_track(r, g);
	}
	for (size_t i = 0; i < d->locations.nr; i++) {
		struct def_location *l = &d->locations.v[i];

		otf2_set_process(r, l);
		l->track = otf2_track_of_location(r, l, DEF_FIND(&d->location_groups, l->group));
	}
	for (size_t i = 0; i < d->regions.nr; i++) {
		struct def_region *region = &d->regions.v[i];
		const char *name = otf2_string(d, region->name);

		if (!*name)
			name = pool_printf(&d->pool, "region %" PRIu64, region->ref);
		region->name_id = sink_puts(r->s, name);
		region->category_id = sink_puts(r->s, otf2_paradigm(d, region->paradigm));
		region->queue_kind = queue_kind(region, name);
	}
}
