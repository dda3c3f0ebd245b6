#include "collective_parts.h"
#include "collective_exposed.h"
#include "collective_logs.h"

#include <stdlib.h>
#include <string.h>

#include "profrig/base/natural.h"
#include "profrig/base/u64map.h"
#include "profrig/base/xalloc.h"

struct gathering {
	const struct model *m;
	const struct works *w;
	struct collective_parts *cp;
	struct u64map kinds;   /* by string: a kind */
	struct u64map bits;    /* by string: bits of a type */
	struct u64map rank_at; /* by rank and device: in ranks */
	struct u64map part_of; /* by rank and call with facts: in v */
	int64_t *exposed;      /* by row of works */
};

/* ---- facts of a kernel ---- */

static enum collective_kind kind_of(struct gathering *g, str_id name)
{
	uint32_t *k = u64map_at(&g->kinds, name);

	if (*k == U64MAP_NONE)
		*k = collective_kind_of(model_str(g->m, name));
	return (enum collective_kind) * k;
}

static unsigned bits_of(struct gathering *g, str_id dtype)
{
	uint32_t *b;

	if (dtype == STR_NONE)
		return 0;
	b = u64map_at(&g->bits, dtype);
	if (*b == U64MAP_NONE)
		*b = collective_type_bits(model_str(g->m, dtype));
	return *b;
}

/* The facts of the innermost call around a launch that has any; *ret_call: its span. */
static const struct collective_facts *facts_around(const struct model *m, uint64_t launch,
						   uint64_t *ret_call)
{
	for (uint64_t s = launch; s != SPAN_NONE; s = span_parent(&m->spans, s)) {
		const struct collective_facts *f = facts_collective(m, s);

		*ret_call = s;
		if (f)
			return f;
	}
	*ret_call = SPAN_NONE;
	return NULL;
}

int64_t collective_bytes(int64_t count, unsigned bits)
{
	int64_t all;

	if (count == FACT_ABSENT || bits == 0 || __builtin_mul_overflow(count, bits, &all))
		return FACT_ABSENT;
	return all / 8 + (all % 8 != 0);
}

static bool has_numbers(const struct model *m, uint32_t id)
{
	size_t n;

	facts_numbers(m, id, &n);
	return n > 0;
}

static void take_facts(struct gathering *g, struct collective_part *p,
		       const struct collective_facts *f)
{
	size_t members;

	facts_numbers(g->m, f->ranks, &members);
	p->known = f->group != STR_NONE || members > 0 || f->group_size != FACT_ABSENT;
	p->group = f->group;
	p->members = members ? f->ranks : FACT_NONE;
	p->size = f->group_size > 0 ? f->group_size : members ? (int64_t)members : FACT_ABSENT;
	p->sequence = f->sequence;
	p->from = f->from;
	p->to = f->to;
	p->dtype = model_str(g->m, f->dtype);
	if (f->name != STR_NONE) {
		p->name = model_str(g->m, f->name);
		p->kind = kind_of(g, f->name);
	}
	p->uneven = has_numbers(g->m, f->in_split) || has_numbers(g->m, f->out_split);
	if (p->kind == COLLECTIVE_BARRIER)
		return;
	p->count = collective_size(p->kind, f->in_elements, f->out_elements,
				   p->size == FACT_ABSENT ? 1 : p->size);
	p->bytes = collective_bytes(p->count, bits_of(g, f->dtype));
	if (p->bytes == FACT_ABSENT && f->bytes != FACT_ABSENT)
		p->bytes = f->bytes;
}

/* ---- programs ---- */

/* The operation that a kernel belongs to; NULL: none is known, or not in which execution. */
static const struct program_facts *program_of(const struct model *m, const struct work *w)
{
	const struct program_facts *f = facts_program(m, w->span);

	for (uint64_t s = w->launch; !f && s != SPAN_NONE; s = span_parent(&m->spans, s))
		f = facts_program(m, s);
	return f && f->execution != FACT_NONE && f->module != STR_NONE && f->op != STR_NONE ? f
											    : NULL;
}

static void take_program(const struct model *m, struct collective_part *p, const struct work *w)
{
	const struct program_facts *f = m->facts.programs.nr && !p->known ? program_of(m, w) : NULL;

	if (!f)
		return;
	p->known = true;
	p->group = f->module;
	p->op = f->op;
	p->sequence = f->execution;
}

/* ---- ranks ---- */

static int64_t world_of(const struct model *m, input_id input)
{
	for (size_t i = 0; i < m->facts.worlds.nr; i++)
		if (m->facts.worlds.v[i].input == input && m->facts.worlds.v[i].size > 0)
			return m->facts.worlds.v[i].size;
	return FACT_ABSENT;
}

static uint32_t rank_of_work(struct gathering *g, const struct work *w)
{
	const struct work_device *d = &g->w->devices.v[w->device];
	const struct track *queue = &g->m->tracks.v[w->queue];
	int32_t rank = queue->rank != RANK_NONE ? queue->rank : d->rank;
	track_id at = queue->owner != TRACK_NONE ? queue->owner : w->queue;
	input_id input = span_input(&g->m->spans, w->span);
	uint32_t *i = u64map_at(&g->rank_at, rank != RANK_NONE ? u64map_pair((uint32_t)rank, 0)
							       : u64map_pair(w->device, 1));

	if (*i == U64MAP_NONE) {
		*i = (uint32_t)g->cp->ranks.nr;
		VEC_PUSH(&g->cp->ranks,
			 ((struct collective_rank){ rank, d->name, input, model_host_of(g->m, at),
						    world_of(g->m, input) }));
	}
	return *i;
}

/* ---- rows ---- */

/* A kernel and the call around its launch tell of one collective. */
static bool same_call(const struct collective_facts *a, const struct collective_facts *b)
{
	return a->name == b->name && a->sequence == b->sequence && a->group == b->group;
}

static void add_work(struct gathering *g, size_t row)
{
	const struct model *m = g->m;
	const struct work *w = &g->w->v.v[row];
	uint64_t call = SPAN_NONE;
	const struct collective_facts *around = facts_around(m, w->launch, &call);
	const struct collective_facts *f = facts_collective(m, w->span);
	uint32_t rank = rank_of_work(g, w), *at;
	struct collective_part p = { .rank = rank,
				     .start_ns = w->start_ns,
				     .end_ns = w->end_ns,
				     .kernels_ns = w->end_ns - w->start_ns,
				     .exposed_ns = g->exposed[row],
				     .span = w->span,
				     .order_ns = w->launch == SPAN_NONE
							 ? w->start_ns
							 : m->spans.start_ns[w->launch],
				     .kind = kind_of(g, m->spans.name[w->span]),
				     .dtype = "",
				     .count = FACT_ABSENT,
				     .bytes = FACT_ABSENT,
				     .group = STR_NONE,
				     .op = STR_NONE,
				     .members = FACT_NONE,
				     .size = FACT_ABSENT,
				     .sequence = FACT_ABSENT,
				     .from = FACT_ABSENT,
				     .to = FACT_ABSENT };

	p.name = collective_kind_name(p.kind);
	if (around && (!f || same_call(f, around))) {
		at = u64map_at(&g->part_of, call << 24 | (rank & 0xffffff));
		if (*at != U64MAP_NONE) {
			struct collective_part *same = &g->cp->v.v[*at];
			same->start_ns =
				w->start_ns < same->start_ns ? w->start_ns : same->start_ns;
			same->end_ns = w->end_ns > same->end_ns ? w->end_ns : same->end_ns;
			same->kernels_ns += p.kernels_ns;
			same->exposed_ns += p.exposed_ns;
			return;
		}
		*at = (uint32_t)g->cp->v.nr;
	}
	if (!f)
		f = around;
	if (f)
		take_facts(g, &p, f);
	take_program(m, &p, w);
	p.told = f != NULL;
	p.source = p.bytes != FACT_ABSENT ? COLLECTIVE_FROM_TRACE : COLLECTIVE_FROM_NOTHING;
	VEC_PUSH(&g->cp->v, p);
}

static int cmp_rank(const void *pa, const void *pb, void *ctx)
{
	const struct collective_parts *cp = ctx;
	const struct collective_rank *a = &cp->ranks.v[*(const uint32_t *)pa];
	const struct collective_rank *b = &cp->ranks.v[*(const uint32_t *)pb];

	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return natural_cmp(model_str(cp->m, a->device), model_str(cp->m, b->device));
}

/* Ranks in their order, and parts by them. */
static void sort_ranks(struct collective_parts *cp)
{
	CLEANUP(xfreep) uint32_t *order = xcalloc(cp->ranks.nr + 1, sizeof(*order));
	CLEANUP(xfreep) uint32_t *place = xcalloc(cp->ranks.nr + 1, sizeof(*place));
	struct collective_rank *to = xcalloc(cp->ranks.nr + 1, sizeof(*to));

	for (uint32_t i = 0; i < cp->ranks.nr; i++)
		order[i] = i;
	qsort_r(order, cp->ranks.nr, sizeof(*order), cmp_rank, cp);
	for (uint32_t i = 0; i < cp->ranks.nr; i++) {
		to[i] = cp->ranks.v[order[i]];
		place[order[i]] = i;
	}
	for (size_t i = 0; i < cp->v.nr; i++)
		cp->v.v[i].rank = place[cp->v.v[i].rank];
	free(cp->ranks.v);
	cp->ranks.v = to;
}

static int cmp_part(const void *pa, const void *pb)
{
	const struct collective_part *a = pa, *b = pb;

	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	if (a->order_ns != b->order_ns)
		return a->order_ns < b->order_ns ? -1 : 1;
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	return (a->span > b->span) - (a->span < b->span);
}

struct collective_parts *collective_parts_new(const struct model *m, const struct works *w)
{
	struct gathering g = { .m = m, .w = w };

	g.cp = xcalloc(1, sizeof(*g.cp));
	g.cp->m = m;
	g.exposed = collective_exposed(w);
	for (size_t i = 0; i < w->v.nr; i++)
		if (w->v.v[i].class == WORK_COLLECTIVE)
			add_work(&g, i);
	if (g.cp->v.nr) {
		sort_ranks(g.cp);
		qsort(g.cp->v.v, g.cp->v.nr, sizeof(*g.cp->v.v), cmp_part);
		collective_logs_take(g.cp);
	}
	u64map_release(&g.kinds);
	u64map_release(&g.bits);
	u64map_release(&g.rank_at);
	u64map_release(&g.part_of);
	free(g.exposed);
	return g.cp;
}

void collective_parts_free(struct collective_parts *cp)
{
	if (!cp)
		return;
	VEC_RELEASE(&cp->v);
	VEC_RELEASE(&cp->ranks);
	free(cp->unsized);
	free(cp);
}
