#include "collective_alignment.h"

#include <math.h>
#include <stdlib.h>

#include "profrig/base/xalloc.h"

static int cmp_component(const void *pa, const void *pb, void *ctx)
{
	const struct clock_alignment *ca = ctx;
	size_t a = *(const size_t *)pa, b = *(const size_t *)pb;
	uint32_t ca_a = ca->ranks.v[a].component, ca_b = ca->ranks.v[b].component;

	if (ca_a != ca_b)
		return ca_a < ca_b ? -1 : 1;
	return (a > b) - (a < b);
}

struct telling {
	const struct collective_match *cm;
	const struct collective_clocks *cc;
	const struct strvec *labels;
};

static char *track_text(const struct telling *t, size_t r)
{
	bool ranked = t->cm->cp->ranks.v[r].rank != RANK_NONE;

	return xasprintf("%s%s", ranked ? "rank " : "", t->labels->v[r]);
}

static void aligned_row_add(const struct telling *t, size_t r, struct table *table)
{
	const struct clock_rank *cr = &t->cc->ca.ranks.v[r];
	const struct clock_component *c = &t->cc->ca.components.v[cr->component];
	enum clocks_why why = t->cc->why.v[cr->component];
	bool by = t->cc->by_messages;
	CLEANUP(xfreep) char *track = track_text(t, r);
	CLEANUP(xfreep) char *group = xasprintf("%u", cr->component);

	table_add(table,
		  &(struct alignment_row){
			  group, track, (double)clock_offset_at_ns(cr, t->cm->cp->m->first_ns),
			  cr->drift * 1e6, cr->residual_std_ns, cr->residual_max_ns,
			  (int64_t)cr->events, why == CLOCKS_ALIGNED ? "yes" : "no",
			  clocks_why_text(why), cr->residual_sum_ns, c->raw_sum_ns,
			  c->drifts ? c->drift_sum_ns : c->offset_sum_ns,
			  by ? "messages" : "collectives",
			  by && isfinite(cr->bound_ns) ? cr->bound_ns : NAN,
			  by ? (double)cr->reversed : NAN, by ? (double)cr->reversed_left : NAN });
}

static void alone_row_add(const struct telling *t, size_t r, struct table *table)
{
	CLEANUP(xfreep) char *track = track_text(t, r);

	table_add(table, &(struct alignment_row){ "", track, NAN, NAN, NAN, NAN, 0, "no",
						  t->cc->by_messages ? "no messages"
								     : "no shared collectives",
						  NAN, NAN, NAN, "", NAN, NAN, NAN });
}

void collective_alignment(const struct collective_match *cm, const struct collective_clocks *cc,
			  const struct strvec *labels, struct table_set *out)
{
	const struct telling t = { cm, cc, labels };
	const struct clock_alignment *ca = &cc->ca;
	CLEANUP(xfreep) size_t *order = xcalloc(ca->ranks.nr + 1, sizeof(*order));
	struct table *table;

	if (ca->components.nr == 0) {
		table_set_skip(out, "alignment",
			       "no two ranks of the inputs share a collective "
			       "that ends on all of them at once, or send each other messages");
		return;
	}
	table = table_make(&alignment_form);
	for (size_t r = 0; r < ca->ranks.nr; r++)
		order[r] = r;
	/* CLOCK_ALONE is the largest */
	qsort_r(order, ca->ranks.nr, sizeof(*order), cmp_component, (void *)ca);
	for (size_t i = 0; i < ca->ranks.nr; i++) {
		if (ca->ranks.v[order[i]].component == CLOCK_ALONE)
			alone_row_add(&t, order[i], table);
		else
			aligned_row_add(&t, order[i], table);
	}
	table_set_add(out, table);
}
