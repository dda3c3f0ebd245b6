#include "collective_clocks.h"

#include <string.h>

#include "profrig/base/xalloc.h"

#define INSTANCES_MIN 3

static bool tells_clock(const struct collective_instance *ci)
{
	return ci->nr > 1 && collective_is_barrier(ci->kind) && ci->even &&
	       (ci->why == COLLECTIVE_COMPLETE || ci->why == COLLECTIVE_MISSING);
}

static bool system_clock(const struct model *m, input_id input)
{
	return m->inputs.v[input].clock != TRACE_CLOCK_OWN;
}

static bool share_clock(const struct model *m, const struct collective_rank *a,
			const struct collective_rank *b)
{
	if (a->input == b->input)
		return true;
	return system_clock(m, a->input) && system_clock(m, b->input) && *a->host &&
	       strcmp(a->host, b->host) == 0;
}

/* Of each component: whether all of its ranks share a clock. Owned. */
static bool *one_clocks(const struct collective_match *cm, const struct clock_alignment *ca)
{
	const struct collective_rank *ranks = cm->cp->ranks.v;
	CLEANUP(xfreep) size_t *first = xcalloc(ca->components.nr + 1, sizeof(*first));
	bool *one = xcalloc(ca->components.nr + 1, sizeof(*one));

	for (size_t c = 0; c < ca->components.nr; c++) {
		first[c] = SIZE_MAX;
		one[c] = true;
	}
	for (size_t r = 0; r < ca->ranks.nr; r++) {
		uint32_t c = ca->ranks.v[r].component;

		if (c == CLOCK_ALONE)
			continue;
		if (first[c] == SIZE_MAX)
			first[c] = r;
		one[c] &= share_clock(cm->cp->m, &ranks[first[c]], &ranks[r]);
	}
	return one;
}

static enum clocks_why judge(const struct clock_component *c, bool one_clock)
{
	double ranks = (double)c->ranks - 1, raw = (double)(c->events - c->instances);
	double left = raw - ranks * (c->drifts ? 2 : 1);

	if (one_clock)
		return CLOCKS_SHARED;
	if (c->instances < INSTANCES_MIN || left <= 0)
		return CLOCKS_FEW;
	if ((c->drifts ? c->drift_sum_ns : c->offset_sum_ns) / left >= c->raw_sum_ns / raw / 2)
		return CLOCKS_AGREE;
	return CLOCKS_ALIGNED;
}

void collective_clocks_find(const struct collective_match *cm, struct collective_clocks *ret)
{
	VEC(struct clock_event) events = VEC_INIT;
	CLEANUP(xfreep) bool *one = NULL;

	*ret = (struct collective_clocks){ .why = VEC_INIT };
	for (size_t i = 0; i < cm->v.nr; i++) {
		const struct collective_instance *ci = &cm->v.v[i];

		if (!tells_clock(ci))
			continue;
		for (size_t k = ci->first; k < ci->first + ci->nr; k++)
			VEC_PUSH(&events, ((struct clock_event){ (uint32_t)i, cm->parts.v[k].rank,
								 cm->parts.v[k].end_ns }));
	}
	clock_align(events.v, events.nr, (uint32_t)cm->cp->ranks.nr, &ret->ca);
	one = one_clocks(cm, &ret->ca);
	for (uint32_t c = 0; c < ret->ca.components.nr; c++)
		VEC_PUSH(&ret->why, judge(&ret->ca.components.v[c], one[c]));
	VEC_RELEASE(&events);
}

void collective_clocks_apply(const struct collective_clocks *cc, struct collective_match *cm)
{
	for (size_t i = 0; i < cm->parts.nr; i++) {
		struct collective_part *p = &cm->parts.v[i];
		const struct clock_rank *r = &cc->ca.ranks.v[p->rank];

		if (r->component == CLOCK_ALONE || cc->why.v[r->component] != CLOCKS_ALIGNED)
			continue;
		p->start_ns = clock_common_ns(r, p->start_ns);
		p->end_ns = clock_common_ns(r, p->end_ns);
	}
}

void collective_clocks_release(struct collective_clocks *cc)
{
	clock_alignment_release(&cc->ca);
	VEC_RELEASE(&cc->why);
}

const char *clocks_why_text(enum clocks_why why)
{
	static const char *const texts[] = {
		[CLOCKS_ALIGNED] = "aligned",
		[CLOCKS_SHARED] = "one clock",
		[CLOCKS_FEW] = "few instances",
		[CLOCKS_AGREE] = "clocks agree",
	};

	return texts[why];
}
