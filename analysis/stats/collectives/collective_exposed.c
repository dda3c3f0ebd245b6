#include "collective_exposed.h"

#include "profrig/base/xalloc.h"

/* What of [start, end) lies in none of the intervals; *at moves to the first that ends later. */
static int64_t outside(const struct intervals *iv, size_t *at, int64_t start, int64_t end)
{
	int64_t ns = end - start;

	while (*at < iv->v.nr && iv->v.v[*at].end_ns <= start)
		++*at;
	for (size_t i = *at; i < iv->v.nr && iv->v.v[i].start_ns < end; i++) {
		int64_t from = iv->v.v[i].start_ns > start ? iv->v.v[i].start_ns : start;
		int64_t to = iv->v.v[i].end_ns < end ? iv->v.v[i].end_ns : end;

		ns -= to - from;
	}
	return ns;
}

static void device_exposed(const struct works *w, uint32_t device, int64_t *exposed)
{
	const struct work_device *d = &w->devices.v[device];
	CLEANUP(intervals_release) struct intervals compute = INTERVALS_INIT;
	int64_t covered = INT64_MIN;
	size_t at = 0;

	works_union(w, device, 1 << WORK_COMPUTE, d->first_ns, d->last_ns, &compute);
	for (size_t i = d->first; i < d->first + d->nr; i++) {
		const struct work *k = &w->v.v[i];
		int64_t start = k->start_ns > covered ? k->start_ns : covered;

		if (k->class != WORK_COLLECTIVE || k->end_ns <= start)
			continue;
		exposed[i] = outside(&compute, &at, start, k->end_ns);
		covered = k->end_ns;
	}
}

int64_t *collective_exposed(const struct works *w)
{
	int64_t *exposed = xcalloc(w->v.nr + 1, sizeof(*exposed));

	for (uint32_t d = 0; d < w->devices.nr; d++)
		device_exposed(w, d, exposed);
	return exposed;
}
