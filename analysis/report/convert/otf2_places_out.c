#include "otf2_out.h"

#include <stdlib.h>
#include <string.h>

#include "profrig/base/xalloc.h"

/* ---- nodes of the system tree ---- */

static void pci_of_devices(struct otf2_out *o)
{
	const struct model *m = o->m;

	for (size_t i = 0; i < m->tracks.nr; i++) {
		const struct track *t = &m->tracks.v[i];

		if (t->pci && t->device)
			*u64map_at(&o->pcis, u64map_pair(t->host, t->device)) = t->pci;
	}
	for (size_t i = 0; i < m->series.nr; i++) {
		const struct series *se = &m->series.v[i];

		if (se->pci && se->device)
			*u64map_at(&o->pcis, u64map_pair(se->host, se->device)) = se->pci;
	}
}

static void node_write(struct otf2_out *o, uint32_t name, const char *class, uint32_t parent,
		       OTF2_SystemTreeDomain domain)
{
	uint32_t class_name = otf2_out_puts(o, class);

	otf2_out_ok(o, OTF2_GlobalDefWriter_WriteSystemTreeNode(o->defs, o->nodes, name, class_name,
								parent));
	otf2_out_ok(o, OTF2_GlobalDefWriter_WriteSystemTreeNodeDomain(o->defs, o->nodes, domain));
	o->nodes++;
}

/* "0:c1:0" of model_pci as Score-P's adapters write it: three properties, in decimal. */
static void pci_write(struct otf2_out *o, uint32_t node, const char *pci)
{
	static const char *const names[] = { "PCI Domain ID", "PCI Bus ID", "PCI Device ID" };

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		size_t n = strcspn(pci, ":");
		CLEANUP(xfreep) char *part = xstrndup(pci, n);
		CLEANUP(xfreep) char *number = xasprintf("%lu", strtoul(part, NULL, 16));
		uint32_t name = otf2_out_puts(o, names[i]);
		OTF2_AttributeValue v = { .stringRef = otf2_out_puts(o, number) };

		otf2_out_ok(o, OTF2_GlobalDefWriter_WriteSystemTreeNodeProperty(
				       o->defs, node, name, OTF2_TYPE_STRING, v));
		pci += n + (pci[n] == ':');
	}
}

static uint32_t host_node(struct otf2_out *o, str_id host)
{
	uint32_t *at;

	if (!host)
		return 0;
	at = u64map_at(&o->host_nodes, host);
	if (*at == U64MAP_NONE) {
		*at = o->nodes;
		node_write(o, otf2_out_string(o, host), "node", 0,
			   OTF2_SYSTEM_TREE_DOMAIN_SHARED_MEMORY);
	}
	return *at;
}

uint32_t otf2_out_node(struct otf2_out *o, str_id host, str_id device)
{
	uint32_t parent = host_node(o, host), pci;
	const char *name, *colon;
	uint32_t *at;

	if (!device)
		return parent;
	at = u64map_at(&o->device_nodes, u64map_pair(host, device));
	if (*at != U64MAP_NONE)
		return *at;
	*at = o->nodes;
	/* "node3:gpu0" is below its host already */
	name = model_str(o->m, device);
	colon = strrchr(name, ':');
	node_write(o, otf2_out_puts(o, colon ? colon + 1 : name), "device", parent,
		   OTF2_SYSTEM_TREE_DOMAIN_ACCELERATOR_DEVICE);
	pci = u64map_get(&o->pcis, u64map_pair(host, device));
	if (pci != U64MAP_NONE)
		pci_write(o, o->nodes - 1, model_str(o->m, pci));
	return o->nodes - 1;
}

/* ---- groups ---- */

static uint32_t group_push(struct otf2_out *o, uint32_t name, OTF2_LocationGroupType type,
			   uint32_t node, uint32_t creator)
{
	VEC_PUSH(&o->groups, (struct out_group){ name, node, creator, type });
	return (uint32_t)(o->groups.nr - 1);
}

static void process_groups(struct otf2_out *o)
{
	for (size_t i = 0; i < o->order.nr; i++) {
		track_id id = o->order.at[i];
		const struct track *t = &o->m->tracks.v[id];
		uint32_t *first;

		if (t->kind != TRACK_PROCESS)
			continue;
		o->group_of[id] =
			group_push(o, otf2_out_string(o, t->name), OTF2_LOCATION_GROUP_TYPE_PROCESS,
				   host_node(o, t->host), OTF2_UNDEFINED_LOCATION_GROUP);
		first = u64map_at(&o->host_groups, t->host);
		if (*first == U64MAP_NONE)
			*first = o->group_of[id];
	}
}

/* For tracks without a process: the first process of the host, else a made-up one. */
static uint32_t host_group(struct otf2_out *o, str_id host)
{
	uint32_t *at = u64map_at(&o->host_groups, host);

	if (*at == U64MAP_NONE)
		*at = group_push(o, host ? otf2_out_string(o, host) : otf2_out_puts(o, "machine"),
				 OTF2_LOCATION_GROUP_TYPE_PROCESS, host_node(o, host),
				 OTF2_UNDEFINED_LOCATION_GROUP);
	return *at;
}

static uint32_t device_group(struct otf2_out *o, track_id device, track_id owner, str_id name)
{
	const struct track *t = &o->m->tracks.v[device];
	uint32_t *at = u64map_at(&o->device_groups, u64map_pair(device, owner));
	uint32_t creator = owner == TRACK_NONE ? UINT32_MAX : o->group_of[owner];

	if (*at == U64MAP_NONE)
		*at = group_push(o, otf2_out_string(o, name), OTF2_LOCATION_GROUP_TYPE_ACCELERATOR,
				 otf2_out_node(o, t->host, t->device),
				 creator == UINT32_MAX ? OTF2_UNDEFINED_LOCATION_GROUP : creator);
	return *at;
}

/* The first owner of a queue on it: most devices have one. */
static void device_groups(struct otf2_out *o)
{
	const struct model *m = o->m;
	CLEANUP(xfreep) track_id *owner = xreallocarray(NULL, m->tracks.nr + 1, sizeof(*owner));

	for (size_t i = 0; i < m->tracks.nr; i++)
		owner[i] = TRACK_NONE;
	for (size_t i = m->tracks.nr; i-- > 0;) {
		const struct track *t = &m->tracks.v[i];

		if (t->kind == TRACK_QUEUE && t->parent != TRACK_NONE && t->owner != TRACK_NONE)
			owner[t->parent] = t->owner;
	}
	for (size_t i = 0; i < o->order.nr; i++) {
		track_id id = o->order.at[i];

		if (m->tracks.v[id].kind == TRACK_DEVICE)
			o->group_of[id] = device_group(o, id, owner[id], m->tracks.v[id].name);
	}
}

static uint32_t group_of(struct otf2_out *o, track_id id)
{
	const struct track *t = &o->m->tracks.v[id];
	track_id above;

	if (o->group_of[id] != UINT32_MAX)
		return o->group_of[id];
	if (t->kind == TRACK_QUEUE && t->parent != TRACK_NONE &&
	    (t->owner != TRACK_NONE || o->group_of[t->parent] == UINT32_MAX))
		return device_group(o, t->parent, t->owner, o->m->tracks.v[t->parent].name);
	if (t->kind == TRACK_QUEUE && t->parent == TRACK_NONE)
		return device_group(o, id, t->owner, t->device ? t->device : t->name);
	if (t->kind == TRACK_QUEUE)
		return o->group_of[t->parent];
	above = model_process_of(o->m, id);
	if (above != TRACK_NONE && o->group_of[above] != UINT32_MAX)
		return o->group_of[above];
	return host_group(o, t->host);
}

/* ---- locations ---- */

static OTF2_LocationType type_of(const struct track *t)
{
	if (t->kind == TRACK_QUEUE || t->kind == TRACK_DEVICE)
		return OTF2_LOCATION_TYPE_ACCELERATOR_STREAM;
	if (t->kind == TRACK_COUNTER && t->spans == 0)
		return OTF2_LOCATION_TYPE_METRIC;
	return OTF2_LOCATION_TYPE_CPU_THREAD;
}

/* A series recorded with the calls of a track is in the track's location. */
static uint8_t *recording_tracks(const struct model *m)
{
	uint8_t *recording = xcalloc(m->tracks.nr + 1, 1);

	for (size_t i = 0; i < m->series.nr; i++)
		if (otf2_out_recorded_here(&m->series.v[i]))
			recording[m->series.v[i].track] = 1;
	return recording;
}

/* By track: its location. Processes and devices are groups, and have a location for spans only. */
static uint32_t *track_locations(struct otf2_out *o)
{
	const struct model *m = o->m;
	uint32_t *location_of = xreallocarray(NULL, m->tracks.nr + 1, sizeof(*location_of));
	CLEANUP(xfreep) uint8_t *recording = recording_tracks(m);

	for (size_t i = 0; i < o->order.nr; i++) {
		track_id id = o->order.at[i];
		const struct track *t = &m->tracks.v[id];
		bool group = t->kind == TRACK_PROCESS || t->kind == TRACK_DEVICE;

		location_of[id] = UINT32_MAX;
		if (group && t->spans == 0 && !recording[id])
			continue;
		location_of[id] = (uint32_t)o->locations.nr;
		VEC_PUSH(&o->locations, (struct out_location){ .name = otf2_out_string(o, t->name),
							       .group = group_of(o, id),
							       .type = type_of(t),
							       .track = id,
							       .is_track = !group });
	}
	return location_of;
}

/* A location for the series of a track, or of a device or host. */
static uint32_t series_location(struct otf2_out *o, struct u64map *made, const struct series *se)
{
	const struct model *m = o->m;
	uint64_t key = se->track != TRACK_NONE ? u64map_pair(UINT32_MAX, se->track)
					       : u64map_pair(se->host, se->device);
	uint32_t *at = u64map_at(made, key);
	str_id name = se->track != TRACK_NONE ? m->tracks.v[se->track].name
		      : se->device            ? se->device
					      : se->name;

	if (*at != U64MAP_NONE)
		return *at;
	*at = (uint32_t)o->locations.nr;
	VEC_PUSH(&o->locations,
		 (struct out_location){ .name = otf2_out_string(o, name),
					.group = se->track != TRACK_NONE ? group_of(o, se->track)
									 : host_group(o, se->host),
					.type = OTF2_LOCATION_TYPE_METRIC,
					.track = TRACK_NONE });
	return *at;
}

static void series_homes(struct otf2_out *o, const uint32_t *location_of)
{
	CLEANUP(u64map_release) struct u64map made = U64MAP_INIT;
	const struct model *m = o->m;
	uint32_t metrics = (uint32_t)m->series.nr;

	for (size_t i = 0; i < m->series.nr; i++) {
		const struct series *se = &m->series.v[i];
		const struct track *t = se->track == TRACK_NONE ? NULL : &m->tracks.v[se->track];

		if (t &&
		    (otf2_out_recorded_here(se) || (t->kind == TRACK_COUNTER && t->spans == 0)))
			o->home_of[i] = location_of[se->track];
		else
			o->home_of[i] = series_location(o, &made, se);
		o->metric_of[i] = otf2_out_recorded_here(se) ? (uint32_t)i : metrics++;
	}
}

static void series_by_location(struct otf2_out *o)
{
	size_t nr = o->locations.nr, at = 0;

	o->first_series = xcalloc(nr + 2, sizeof(*o->first_series));
	o->series_at = xreallocarray(NULL, o->m->series.nr + 1, sizeof(*o->series_at));
	for (size_t i = 0; i < o->m->series.nr; i++)
		o->first_series[o->home_of[i]]++;
	for (size_t i = 0; i <= nr; i++) {
		size_t here = o->first_series[i];

		o->first_series[i] = at;
		at += here;
	}
	for (size_t i = 0; i < o->m->series.nr; i++)
		o->series_at[o->first_series[o->home_of[i]]++] = (series_id)i;
	/* each begins where the one before it ends now */
	for (size_t i = nr; i > 0; i--)
		o->first_series[i] = o->first_series[i - 1];
	o->first_series[0] = 0;
}

void otf2_out_places(struct otf2_out *o)
{
	CLEANUP(xfreep) uint32_t *location_of = NULL;

	o->group_of = xreallocarray(NULL, o->m->tracks.nr + 1, sizeof(*o->group_of));
	o->home_of = xreallocarray(NULL, o->m->series.nr + 1, sizeof(*o->home_of));
	o->metric_of = xreallocarray(NULL, o->m->series.nr + 1, sizeof(*o->metric_of));
	for (size_t i = 0; i < o->m->tracks.nr; i++)
		o->group_of[i] = UINT32_MAX;
	pci_of_devices(o);
	node_write(o, otf2_out_puts(o, "machine"), "machine", OTF2_UNDEFINED_SYSTEM_TREE_NODE,
		   OTF2_SYSTEM_TREE_DOMAIN_MACHINE);
	process_groups(o);
	device_groups(o);
	location_of = track_locations(o);
	series_homes(o, location_of);
	series_by_location(o);
}
