#include "collective_clocks.h"

#include <string.h>

#include "profrig/base/u64map.h"
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

static void by_ends(const struct collective_match *cm, struct collective_clocks *ret)
{
	VEC(struct clock_event) events = VEC_INIT;
	CLEANUP(xfreep) bool *one = NULL;

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

/* ---- messages ---- */

/* Where ranks with numbers stand in the list of ranks. */
static void ranks_map(const struct collective_parts *cp, struct u64map *ret)
{
	for (uint32_t r = 0; r < cp->ranks.nr; r++)
		if (cp->ranks.v[r].rank != RANK_NONE)
			*u64map_at(ret, (uint32_t)cp->ranks.v[r].rank) = r;
}

/* U64MAP_NONE: the span's rank is not known, or has no parts. */
static uint32_t rank_of_span(const struct model *m, struct u64map *ranks, uint64_t span)
{
	int32_t rank = m->tracks.v[m->spans.track[span]].rank;

	return rank == RANK_NONE ? U64MAP_NONE : *u64map_at(ranks, (uint32_t)rank);
}

static enum clocks_why judge_bounds(const struct clock_component *c)
{
	double left = c->drifts ? c->drift_sum_ns : c->offset_sum_ns;

	if (c->raw_sum_ns <= 0)
		return CLOCKS_AGREE;
	return left <= c->raw_sum_ns / 2 ? CLOCKS_ALIGNED : CLOCKS_CONTRADICT;
}

struct messages {
	VEC(struct clock_message) v;
};

static void take_flows(const struct collective_parts *cp, struct messages *ms)
{
	CLEANUP(u64map_release) struct u64map ranks = U64MAP_INIT;
	const struct model *m = cp->m;

	ranks_map(cp, &ranks);
	for (size_t i = 0; i < m->links.nr; i++) {
		uint64_t from = m->links.from[i], to = m->links.to[i];
		uint32_t a, b;

		if (m->links.kind[i] != LINK_FLOW)
			continue;
		a = rank_of_span(m, &ranks, from);
		b = rank_of_span(m, &ranks, to);
		if (a != U64MAP_NONE && b != U64MAP_NONE && a != b)
			VEC_PUSH(&ms->v, ((struct clock_message){ a, b, m->spans.start_ns[from],
								  m->spans.end_ns[to] }));
	}
}

/* Sends and receives of ranks of several inputs, which no reader can link. */
static void take_pairs(const struct collective_match *cm, struct messages *ms)
{
	for (size_t i = 0; i < cm->v.nr; i++) {
		const struct collective_instance *ci = &cm->v.v[i];
		const struct collective_part *a = &cm->parts.v[ci->first], *b = a + 1;

		if (ci->nr != 2 || ci->why != COLLECTIVE_COMPLETE)
			continue;
		if (a->kind == COLLECTIVE_RECV) {
			b = a;
			a = b + 1;
		}
		if (a->kind == COLLECTIVE_SEND && b->kind == COLLECTIVE_RECV &&
		    cm->cp->ranks.v[a->rank].input != cm->cp->ranks.v[b->rank].input)
			VEC_PUSH(&ms->v, ((struct clock_message){ a->rank, b->rank, a->start_ns,
								  b->end_ns }));
	}
}

static void by_messages(const struct collective_match *cm, struct collective_clocks *ret)
{
	struct messages ms = { VEC_INIT };

	take_flows(cm->cp, &ms);
	take_pairs(cm, &ms);
	clock_alignment_release(&ret->ca);
	clock_bounds(ms.v.v, ms.v.nr, (uint32_t)cm->cp->ranks.nr, &ret->ca);
	ret->by_messages = true;
	for (uint32_t c = 0; c < ret->ca.components.nr; c++)
		VEC_PUSH(&ret->why, judge_bounds(&ret->ca.components.v[c]));
	VEC_RELEASE(&ms.v);
}

void collective_clocks_find(const struct collective_match *cm, struct collective_clocks *ret)
{
	*ret = (struct collective_clocks){ .why = VEC_INIT };
	by_ends(cm, ret);
	if (ret->ca.components.nr == 0)
		by_messages(cm, ret);
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
		[CLOCKS_CONTRADICT] = "messages contradict",
	};

	return texts[why];
}
