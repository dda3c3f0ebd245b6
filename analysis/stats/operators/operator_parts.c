#include "operator_parts.h"

#include <stdlib.h>

#include "profrig/base/xalloc.h"

/* The tracks that launched a device's work: spans [from, to). */
struct launchers {
	size_t from, to;
	uint32_t device;
};

static struct launchers launchers_of(const struct works *w, uint32_t device)
{
	const struct work_device *d = &w->devices.v[device];
	const struct model *m = w->m;
	struct launchers l = { 0, 0, device };
	uint64_t low = SPAN_NONE, high = 0;

	for (size_t i = d->first; i < d->first + d->nr; i++) {
		uint64_t launch = w->v.v[i].launch;

		if (launch == SPAN_NONE)
			continue;
		low = launch < low ? launch : low;
		high = launch > high ? launch : high;
	}
	if (low != SPAN_NONE) {
		const struct track *last = &m->tracks.v[m->spans.track[high]];

		l.from = m->tracks.v[m->spans.track[low]].first_span;
		l.to = last->first_span + last->spans;
	}
	return l;
}

static int by_from(const void *pa, const void *pb)
{
	const struct launchers *a = pa, *b = pb;

	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	return (a->device > b->device) - (a->device < b->device);
}

static int by_number(const void *pa, const void *pb)
{
	const uint32_t *a = pa, *b = pb;

	return (*a > *b) - (*a < *b);
}

/* Spans between two parts belong to the later one, those at the end to the last. */
static void parts_make(struct operator_parts *parts, const struct launchers *v, size_t nr,
		       size_t spans)
{
	struct operator_part part = { .devices = parts->devices };

	for (size_t i = 0; i < nr; i++) {
		if (part.nr && v[i].from >= part.to) {
			VEC_PUSH(&parts->v, part);
			part = (struct operator_part){ part.to, 0, part.devices + part.nr, 0 };
		}
		part.devices[part.nr++] = v[i].device;
		part.to = v[i].to > part.to ? v[i].to : part.to;
	}
	part.to = spans;
	VEC_PUSH(&parts->v, part);
	for (size_t i = 0; i < parts->v.nr; i++)
		if (parts->v.v[i].nr)
			qsort(parts->v.v[i].devices, parts->v.v[i].nr, sizeof(*parts->devices),
			      by_number);
}

struct operator_parts *operator_parts_new(const struct works *w)
{
	struct operator_parts *parts = xcalloc(1, sizeof(*parts));
	CLEANUP(xfreep) struct launchers *v = xcalloc(w->devices.nr + 1, sizeof(*v));

	for (uint32_t d = 0; d < w->devices.nr; d++)
		v[d] = launchers_of(w, d);
	if (w->devices.nr)
		qsort(v, w->devices.nr, sizeof(*v), by_from);
	parts->devices = xcalloc(w->devices.nr + 1, sizeof(*parts->devices));
	parts_make(parts, v, w->devices.nr, w->m->spans.nr);
	return parts;
}

void operator_parts_free(struct operator_parts *parts)
{
	if (!parts)
		return;
	VEC_RELEASE(&parts->v);
	free(parts->devices);
	free(parts);
}
