#include "otf2_names.h"
#include "otf2_private.h"

#include <inttypes.h>
#include <string.h>

#include "profrig/model/warnings.h"

/*
 * A METRIC record names a class (recorded by its own location) or an instance of one (recorded by
 * the location too, on behalf of its scope: a process, a node, a device). Every member is a series
 * of the recording location's track. Kind and unit are those of the archive, a hint only: plug-ins
 * declare power, clocks and percentages alike as accumulated "#".
 */

static const struct def_metric *class_of(const struct otf2_defs *d, const struct def_metric *m)
{
	const struct def_metric *class = m->instance ? DEF_FIND(&d->metrics, m->class_ref) : m;

	return class && !class->instance ? class : NULL;
}

static const char *scope_name(const struct otf2_defs *d, const struct def_metric *m)
{
	const struct def_location *l;
	const struct def_location_group *g;
	const struct def_node *n;

	if (!m->instance)
		return "";
	switch (m->scope_kind) {
	case OTF2_SCOPE_LOCATION:
		l = DEF_FIND(&d->locations, m->scope);
		return l ? otf2_string(d, l->name) : "";
	case OTF2_SCOPE_LOCATION_GROUP:
		g = DEF_FIND(&d->location_groups, m->scope);
		return g ? otf2_string(d, g->name) : "";
	case OTF2_SCOPE_SYSTEM_TREE_NODE:
		n = DEF_FIND(&d->nodes, m->scope);
		return n ? otf2_string(d, n->name) : "";
	default:
		return "";
	}
}

static const char *metric_host(const struct otf2_location *l, const struct def_metric *m)
{
	const struct otf2_defs *d = &l->r->defs;
	const struct def_location_group *g =
		DEF_FIND(&d->location_groups, d->locations.v[l->index].group);

	if (m->instance && m->scope_kind == OTF2_SCOPE_SYSTEM_TREE_NODE) {
		const char *host = otf2_host(d, m->scope);

		if (*host)
			return host;
	}
	return g ? otf2_host(d, g->node) : "";
}

/* The device in the counter's name, else that of its scope. */
static const char *metric_device(struct otf2_location *l, const struct def_metric *m,
				 const char *name, const char *host)
{
	const struct otf2_defs *d = &l->r->defs;
	const struct def_location_group *g = NULL;
	const struct def_location *scope;
	int64_t device = otf2_name_counter_device(name);

	if (device >= 0 || !m->instance)
		return otf2_device_id(l->r, &l->pool, host, device);
	switch (m->scope_kind) {
	case OTF2_SCOPE_SYSTEM_TREE_NODE:
		device = otf2_node_device(d, m->scope);
		break;
	case OTF2_SCOPE_LOCATION_GROUP:
		g = DEF_FIND(&d->location_groups, m->scope);
		break;
	case OTF2_SCOPE_LOCATION:
		scope = DEF_FIND(&d->locations, m->scope);
		g = scope ? DEF_FIND(&d->location_groups, scope->group) : NULL;
		break;
	default:
		break;
	}
	return otf2_device_id(l->r, &l->pool, host, g ? otf2_node_device(d, g->node) : device);
}

/* A decimal exponent belongs to the unit, since values are kept as recorded. */
static const char *metric_unit(struct otf2_location *l, const struct def_member *member)
{
	const char *unit = otf2_string(&l->r->defs, member->unit);

	if (member->exponent == 0)
		return unit;
	return pool_printf(&l->pool, "%d^%" PRId64 " %s", member->base == OTF2_BASE_BINARY ? 2 : 10,
			   member->exponent, unit);
}

static enum series_kind metric_kind(OTF2_MetricMode mode)
{
	switch (mode & OTF2_METRIC_VALUE_MASK) {
	case OTF2_METRIC_VALUE_ACCUMULATED:
		return SERIES_CUMULATIVE;
	case OTF2_METRIC_VALUE_ABSOLUTE:
		return SERIES_GAUGE;
	default:
		return SERIES_UNKNOWN;
	}
}

/* A series id belongs to one member of one metric of the location: its `owner`. */
static bool series_take(struct otf2_location *l, series_id id, uint64_t owner)
{
	uint32_t *at = u64map_at(&l->owner_of, id);

	if (*at != U64MAP_NONE)
		return l->owners.v[*at] == owner;
	*at = (uint32_t)l->owners.nr;
	VEC_PUSH(&l->owners, owner);
	return true;
}

/* Two instances of one class on one location have equal names: the scope, else the reference,
 * distinguishes them. */
static series_id series_make(struct otf2_location *l, const struct def_metric *m,
			     const struct def_metric *class, uint8_t i)
{
	const struct otf2_defs *defs = &l->r->defs;
	const struct def_member *member = DEF_FIND(&defs->members, class->members[i]);
	uint64_t owner = m->ref << 8 | i;
	struct series_def d = { .track = l->track,
				.host = metric_host(l, m),
				.exclusive_sync =
					class->occurrence == OTF2_METRIC_SYNCHRONOUS_STRICT };
	const char *name = member ? otf2_string(defs, member->name) : "";
	series_id id;

	if (l->r->native.there && class->members[i] < l->r->native.series.nr)
		return l->s->ops->series(l->s, &l->r->native.series.v[class->members[i]]);
	if (!*name)
		name = pool_printf(&l->pool, "metric %" PRIu64 ".%u", m->ref, i);
	if (member) {
		d.unit = metric_unit(l, member);
		d.kind = metric_kind(member->mode);
		d.change_points =
			(member->mode & OTF2_METRIC_TIMING_MASK) == OTF2_METRIC_TIMING_NEXT;
	}
	d.device = metric_device(l, m, name, d.host);
	d.name = name;
	id = l->s->ops->series(l->s, &d);
	if (!series_take(l, id, owner) && *scope_name(defs, m)) {
		d.name = pool_printf(&l->pool, "%s [%s]", name, scope_name(defs, m));
		id = l->s->ops->series(l->s, &d);
	}
	if (!series_take(l, id, owner)) {
		d.name = pool_printf(&l->pool, "%s [%" PRIu64 ".%u]", name, m->ref, i);
		id = l->s->ops->series(l->s, &d);
		series_take(l, id, owner);
	}
	return id;
}

/* Where the ids of a metric's members begin in l->series; made at the first record of a metric. */
static size_t series_run(struct otf2_location *l, const struct def_metric *m,
			 const struct def_metric *class)
{
	const struct otf2_defs *d = &l->r->defs;
	size_t *run;

	if (!l->series_run) {
		l->series_run = xreallocarray(NULL, d->metrics.nr, sizeof(*l->series_run));
		memset(l->series_run, 0xff, d->metrics.nr * sizeof(*l->series_run));
	}
	run = &l->series_run[m - d->metrics.v];
	if (*run == NO_INDEX) {
		*run = l->series.nr;
		for (uint8_t i = 0; i < class->nr; i++)
			VEC_PUSH(&l->series, series_make(l, m, class, i));
	}
	return *run;
}

/* False for a type that is no number. */
static bool metric_value(OTF2_Type type, uint64_t bits, double *ret)
{
	switch (type) {
	case OTF2_TYPE_INT64:
		*ret = (double)(int64_t)bits;
		return true;
	case OTF2_TYPE_UINT64:
		*ret = (double)bits;
		return true;
	case OTF2_TYPE_DOUBLE:
		memcpy(ret, &bits, sizeof(*ret));
		return true;
	default:
		return false;
	}
}

/* Whether all of its values lie inside the record; before any of them is used. */
static bool values_whole(struct otf2_fields f, uint8_t nr)
{
	for (uint8_t i = 0; i < nr; i++) {
		otf2_byte(&f);
		otf2_number(&f, 8);
	}
	return !f.bad;
}

/* A record: the metric, how many values, then type and value of each. */
void otf2_metric_event(struct otf2_location *l, uint64_t ticks, struct otf2_fields *f)
{
	uint64_t ref = otf2_ref(l, OTF2_MAPPING_METRIC, f);
	uint8_t nr = otf2_byte(f);
	const struct def_metric *m = DEF_FIND(&l->r->defs.metrics, ref);
	const struct def_metric *class = m ? class_of(&l->r->defs, m) : NULL;
	int64_t t_ns;
	size_t run;

	f->bad |= !values_whole(*f, nr);
	if (f->bad)
		return;
	if (!class) {
		sink_warnf(l->s, W_UNKNOWN_REFERENCE,
			   "metric %" PRIu64 " is recorded and not defined", ref);
		return;
	}
	run = series_run(l, m, class);
	if (nr != class->nr)
		sink_warnf(l->s, W_BAD_EVENT, "metric %" PRIu64 " has %u members and %u values",
			   ref, class->nr, nr);
	t_ns = otf2_time(l, ticks);
	for (uint8_t i = 0; i < nr && i < class->nr; i++) {
		OTF2_Type type = otf2_byte(f);
		uint64_t bits = otf2_number(f, 8);
		double value;

		if (metric_value(type, bits, &value))
			l->s->ops->sample(l->s, l->series.v[run + i], t_ns, value);
		else
			sink_warnf(l->s, W_BAD_EVENT, "value %u of metric %" PRIu64 " is no number",
				   i, ref);
	}
}
