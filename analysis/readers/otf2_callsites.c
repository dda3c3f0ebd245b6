#include "otf2_private.h"

#include <string.h>

#include "profrig/warnings.h"

bool otf2_is_callsite(const struct otf2_defs *d, const struct def_name *parameter)
{
	return strcmp(otf2_string(d, parameter->name), "callsite id") == 0;
}

/*
 * Launches and device work of one place of the program carry one number, as often as the place is
 * passed. The work of a place runs in the order it was launched in, so the first is tied to the
 * first, the second to the second; work never starts before its launch.
 */
static int by_id_and_time(const void *pa, const void *pb)
{
	const struct otf2_callsite *a = pa, *b = pb;

	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	return (a->t_ns > b->t_ns) - (a->t_ns < b->t_ns);
}

void otf2_match_callsites(struct otf2_reading *r)
{
	uint64_t alone = 0;
	int64_t tied = 0;
	size_t l = 0;

	if (r->found.work.nr == 0)
		return;
	qsort(r->found.work.v, r->found.work.nr, sizeof(*r->found.work.v), by_id_and_time);
	if (r->found.launches.nr)
		qsort(r->found.launches.v, r->found.launches.nr, sizeof(*r->found.launches.v),
		      by_id_and_time);
	for (size_t w = 0; w < r->found.work.nr; w++) {
		const struct otf2_callsite *work = &r->found.work.v[w];

		while (l < r->found.launches.nr && r->found.launches.v[l].id < work->id)
			l++;
		if (l == r->found.launches.nr || r->found.launches.v[l].id != work->id ||
		    r->found.launches.v[l].t_ns > work->t_ns) {
			alone++;
			continue;
		}
		r->s->ops->link(r->s, r->found.launches.v[l].span, work->span, LINK_LAUNCH);
		tied++;
		l++;
	}
	sink_fact(r->s, "launches", tied);
	if (alone)
		r->s->ops->warn(r->s, W_UNLINKED_WORK, alone, SAY_UNLINKED_WORK);
}
