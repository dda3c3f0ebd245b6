/* What runs on a device at the same time, over all its queues: a merge of their lanes, round by
 * round. Ends come before begins of the same moment, so pieces that touch do not overlap. */
#include "profile_private.h"

#include "profrig/xalloc.h"

uint32_t device_of(struct profile *p, struct lane *l)
{
	str_id device = p->m->tracks.v[l->t.track].device;
	uint32_t i;

	for (i = 0; i < p->devices.nr; i++)
		if (p->devices.v[i].device == device)
			break;
	if (i == p->devices.nr) {
		VEC_PUSH(&p->devices,
			 ((struct profile_device){
				 .device = device, .first_ns = INT64_MAX, .last_ns = INT64_MIN }));
		VEC_PUSH(&p->priv->devices, ((struct device_lanes){ .running = 0 }));
	}
	VEC_PUSH(&p->priv->devices.v[i].lanes, l);
	return i;
}

/* The lane whose next event comes first, NULL at the end. */
static struct lane *next_lane(const struct device_lanes *d)
{
	const struct lane_event *first = NULL;
	struct lane *best = NULL;

	for (size_t i = 0; i < d->lanes.nr; i++) {
		struct lane *l = d->lanes.v[i];
		const struct lane_event *e = &l->events.v[l->merged];

		if (l->merged == l->seen)
			continue;
		if (!first || e->t_ns < first->t_ns ||
		    (e->t_ns == first->t_ns && e->change < first->change)) {
			first = e;
			best = l;
		}
	}
	return best;
}

void device_round(void *profile, size_t device, unsigned worker)
{
	struct profile *p = profile;
	struct device_lanes *d = &p->priv->devices.v[device];
	struct profile_device *dev = &p->devices.v[device];
	struct lane *l;

	(void)worker;
	for (size_t i = 0; i < d->lanes.nr; i++)
		d->lanes.v[i]->merged = 0;
	while ((l = next_lane(d))) {
		const struct lane_event *e = &l->events.v[l->merged++];

		if (e->change < 0) {
			if (--d->running == 0)
				dev->union_ns += e->t_ns - d->since_ns;
			continue;
		}
		if (d->running++ == 0)
			d->since_ns = e->t_ns;
		if (d->running > dev->max_concurrency)
			dev->max_concurrency = d->running;
	}
}

void device_sum(struct profile *p)
{
	for (size_t i = 0; i < p->devices.nr; i++) {
		const struct device_lanes *d = &p->priv->devices.v[i];
		struct profile_device *dev = &p->devices.v[i];

		for (size_t k = 0; k < d->lanes.nr; k++) {
			const struct lane *l = d->lanes.v[k];

			dev->pieces += l->pieces;
			dev->sum_ns = ns_sum(dev->sum_ns, l->work_ns);
			if (l->work_first_ns < dev->first_ns)
				dev->first_ns = l->work_first_ns;
			if (l->work_last_ns > dev->last_ns)
				dev->last_ns = l->work_last_ns;
		}
		/* as qualified by the model */
		dev->device = p->m->tracks.v[d->lanes.v[0]->t.track].device;
	}
}
