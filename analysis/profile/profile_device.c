/* What runs on a device at the same time, over all its queues: a merge of their lanes, round by
 * round. Ends come before begins of the same moment, so pieces that touch do not overlap. */
#include "profile_private.h"

#include "profrig/base/xalloc.h"

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

static const struct lane_event *next_event(const struct lane *l)
{
	return &l->events.v[l->merged];
}

static bool comes_first(const struct lane *a, const struct lane *b)
{
	const struct lane_event *x = next_event(a), *y = next_event(b);

	return x->t_ns != y->t_ns ? x->t_ns < y->t_ns : x->change < y->change;
}

/* Sifts the lane at i down the heap. */
static void heap_sift(struct lane **heap, size_t n, size_t i)
{
	for (;;) {
		size_t first = i, left = 2 * i + 1;
		struct lane *l = heap[i];

		if (left < n && comes_first(heap[left], heap[first]))
			first = left;
		if (left + 1 < n && comes_first(heap[left + 1], heap[first]))
			first = left + 1;
		if (first == i)
			return;
		heap[i] = heap[first];
		heap[first] = l;
		i = first;
	}
}

static void event_take(struct device_lanes *d, struct profile_device *dev,
		       const struct lane_event *e)
{
	if (e->change < 0) {
		if (--d->running == 0)
			dev->union_ns += e->t_ns - d->since_ns;
		return;
	}
	if (d->running++ == 0)
		d->since_ns = e->t_ns;
	if (d->running > dev->max_concurrency)
		dev->max_concurrency = d->running;
}

void device_round(void *profile, size_t device, unsigned worker)
{
	struct profile *p = profile;
	struct device_lanes *d = &p->priv->devices.v[device];
	CLEANUP(xfreep) struct lane **heap = xcalloc(d->lanes.nr + 1, sizeof(struct lane *));
	size_t n = 0;

	(void)worker;
	for (size_t i = 0; i < d->lanes.nr; i++) {
		d->lanes.v[i]->merged = 0;
		if (d->lanes.v[i]->seen)
			heap[n++] = d->lanes.v[i];
	}
	for (size_t i = n / 2; i-- > 0;)
		heap_sift(heap, n, i);
	while (n) {
		event_take(d, &p->devices.v[device], next_event(heap[0]));
		if (++heap[0]->merged == heap[0]->seen)
			heap[0] = heap[--n];
		heap_sift(heap, n, 0);
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
