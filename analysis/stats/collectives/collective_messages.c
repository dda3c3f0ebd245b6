#include "collective_messages.h"
#include "ns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/xalloc.h"

struct message {
	str_id group;
	int64_t sequence;
	const struct collective_instance *ci;
	uint32_t from, to; /* ranks of the match */
};

struct message_list {
	VEC(struct message) v;
};

static void take_message(const struct collective_match *cm, const struct collective_instance *ci,
			 struct message_list *ms)
{
	const struct collective_part *p = &cm->parts.v[ci->first];
	bool first_sends = p->kind == COLLECTIVE_SEND;
	enum collective_kind other = first_sends ? COLLECTIVE_RECV : COLLECTIVE_SEND;

	if (ci->nr != 2 || ci->why != COLLECTIVE_COMPLETE || ci->group == STR_NONE ||
	    (!first_sends && p->kind != COLLECTIVE_RECV) || p[1].kind != other)
		return;
	switch (collective_kind_of(model_str(cm->cp->m, ci->group))) {
	case COLLECTIVE_OTHER:
	case COLLECTIVE_PERMUTE:
	case COLLECTIVE_SEND:
	case COLLECTIVE_RECV:
		return;
	default:
		VEC_PUSH(&ms->v, ((struct message){ ci->group, ci->sequence, ci,
						    p[first_sends ? 0 : 1].rank,
						    p[first_sends ? 1 : 0].rank }));
	}
}

static int cmp_message(const void *pa, const void *pb, void *ctx)
{
	const struct model *m = ctx;
	const struct message *a = pa, *b = pb;
	int d = a->group == b->group ? 0 : strcmp(model_str(m, a->group), model_str(m, b->group));

	if (d)
		return d;
	if (a->sequence != b->sequence)
		return a->sequence < b->sequence ? -1 : 1;
	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	return (a->to > b->to) - (a->to < b->to);
}

static int cmp_u32(const void *pa, const void *pb)
{
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;

	return (a > b) - (a < b);
}

/* How many ranks send or receive. */
static size_t ranks_of(const struct message *v, size_t n)
{
	CLEANUP(xfreep) uint32_t *ranks = xcalloc(2 * n + 1, sizeof(*ranks));
	size_t nr = 0;

	for (size_t i = 0; i < n; i++) {
		ranks[2 * i] = v[i].from;
		ranks[2 * i + 1] = v[i].to;
	}
	qsort(ranks, 2 * n, sizeof(*ranks), cmp_u32);
	for (size_t i = 0; i < 2 * n; i++)
		nr += i == 0 || ranks[i] != ranks[i - 1];
	return nr;
}

/* Messages are by sender: the last run of them that goes to all other ranks is the result's. */
static const char *algorithm_of(const struct message *v, size_t n, size_t ranks)
{
	CLEANUP(xfreep) uint32_t *to = xcalloc(n + 1, sizeof(*to));
	size_t root = n, nr = 0;

	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && v[end].from == v[i].from; end++)
			;
		if (end - i == ranks - 1)
			root = i;
	}
	if (root == n)
		return "";
	for (size_t i = 0; i < n; i++)
		if (v[i].from != v[root].from)
			to[nr++] = v[i].to;
	qsort(to, nr, sizeof(*to), cmp_u32);
	for (size_t i = 1; i < nr; i++)
		if (to[i] == to[i - 1])
			return "tree";
	return nr == ranks - 1 ? "chain" : "";
}

static void row_add(const struct collective_match *cm, const struct message *v, size_t n,
		    struct table *table)
{
	const struct model *m = cm->cp->m;
	const char *group = model_str(m, v->group);
	size_t ranks = ranks_of(v, n);
	int64_t start = INT64_MAX, end = INT64_MIN;
	double moved = 0, most = 0;

	for (size_t i = 0; i < n; i++) {
		const struct collective_part *p = &cm->parts.v[v[i].ci->first];
		double bytes = v[i].ci->bytes == FACT_ABSENT ? NAN : (double)v[i].ci->bytes;

		moved += bytes;
		most = bytes > most || isnan(bytes) ? bytes : most;
		for (size_t k = 0; k < 2; k++) {
			start = p[k].start_ns < start ? p[k].start_ns : start;
			end = p[k].end_ns > end ? p[k].end_ns : end;
		}
	}
	table_add(table,
		  &(struct message_collectives_row){
			  group, v->sequence, collective_kind_name(collective_kind_of(group)),
			  algorithm_of(v, n, ranks), (int64_t)ranks, (int64_t)n,
			  isnan(moved) ? NAN : most, moved, start - m->first_ns, end - start,
			  end > start ? moved / (double)(end - start) : NAN });
}

struct table *collective_messages_table(const struct collective_match *cm)
{
	struct message_list ms = { VEC_INIT };
	struct table *table = NULL;

	for (size_t i = 0; i < cm->v.nr; i++)
		take_message(cm, &cm->v.v[i], &ms);
	if (ms.v.nr) {
		table = table_make(&message_collectives_form);
		qsort_r(ms.v.v, ms.v.nr, sizeof(*ms.v.v), cmp_message, (void *)cm->cp->m);
	}
	for (size_t i = 0, end; i < ms.v.nr; i = end) {
		for (end = i + 1; end < ms.v.nr && ms.v.v[end].group == ms.v.v[i].group &&
				  ms.v.v[end].sequence == ms.v.v[i].sequence;
		     end++)
			;
		row_add(cm, &ms.v.v[i], end - i, table);
	}
	VEC_RELEASE(&ms.v);
	return table;
}
