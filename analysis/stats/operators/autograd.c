#include "autograd.h"
#include "ns.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/xalloc.h"

/* An operator with shapes, or what has none. */
struct op_group {
	str_id name, shapes;
	uint64_t calls, works;
	int64_t own_ns, nested_ns;
	int64_t sequence, op_id; /* of the first call that has one */
	const char *special;     /* "[no op]", "[unlinked]"; NULL: an operator */
};

struct op_kernel {
	uint32_t group;
	str_id kernel; /* STR_NONE: the operator launched none */
	uint64_t calls;
	int64_t total_ns;
};

struct autograd {
	const struct operator_calls *oc;
	const struct model *m;
	struct u64map group_at;  /* name, shapes */
	struct u64map kernel_at; /* group, kernel */
	uint32_t *of_call;       /* group */
	VEC(struct op_group) groups;
	VEC(struct op_kernel) v;
	int64_t all_ns;
};

static void autograd_release(struct autograd *a)
{
	u64map_release(&a->group_at);
	u64map_release(&a->kernel_at);
	free(a->of_call);
	VEC_RELEASE(&a->groups);
	VEC_RELEASE(&a->v);
}

static uint32_t group_of(struct autograd *a, const struct operator_call *c)
{
	struct op_group new = { .name = c->name, .shapes = STR_NONE };
	uint32_t *at;

	if (c->operands < a->m->facts.lists.nr)
		new.shapes = a->m->facts.lists.v[c->operands].shapes;
	new.sequence = new.op_id = FACT_ABSENT;
	at = u64map_at(&a->group_at, u64map_pair(new.name, new.shapes));
	if (*at == U64MAP_NONE) {
		*at = (uint32_t)a->groups.nr;
		VEC_PUSH(&a->groups, new);
	}
	return *at;
}

static void calls_group(struct autograd *a)
{
	a->of_call = xmalloc((a->oc->v.nr + 1) * sizeof(*a->of_call));
	for (size_t i = 0; i < a->oc->v.nr; i++) {
		const struct operator_call *c = &a->oc->v.v[i];
		uint32_t at = group_of(a, c);
		struct op_group *g = &a->groups.v[at];

		a->of_call[i] = at;
		g->calls++;
		g->works += c->works;
		g->own_ns = ns_add(g->own_ns, c->own_ns);
		g->nested_ns = ns_add(g->nested_ns, c->nested_ns);
		g->sequence = g->sequence == FACT_ABSENT ? c->sequence : g->sequence;
		g->op_id = g->op_id == FACT_ABSENT ? c->op_id : g->op_id;
	}
}

static struct op_kernel *kernel_of(struct autograd *a, uint32_t group, str_id kernel)
{
	uint32_t *at = u64map_at(&a->kernel_at, u64map_pair(group, kernel));

	if (*at == U64MAP_NONE) {
		*at = (uint32_t)a->v.nr;
		VEC_PUSH(&a->v, ((struct op_kernel){ .group = group, .kernel = kernel }));
	}
	return &a->v.v[*at];
}

static uint32_t special_group(struct autograd *a, const char *name)
{
	VEC_PUSH(&a->groups, ((struct op_group){ .shapes = STR_NONE,
						 .sequence = FACT_ABSENT,
						 .op_id = FACT_ABSENT,
						 .special = name }));
	return (uint32_t)a->groups.nr - 1;
}

static void works_group(struct autograd *a)
{
	const struct works *w = a->oc->works;
	uint32_t no_op = special_group(a, "[no op]"), unlinked = special_group(a, "[unlinked]");

	for (size_t i = 0; i < w->v.nr; i++) {
		uint32_t call = a->oc->of_work[i], group = call != OPERATOR_NONE ? a->of_call[call]
							   : w->v.v[i].launch == SPAN_NONE
								   ? unlinked
								   : no_op;
		struct op_kernel *k = kernel_of(a, group, a->m->spans.name[w->v.v[i].span]);
		int64_t ns = w->v.v[i].end_ns - w->v.v[i].start_ns;

		k->calls++;
		k->total_ns = ns_add(k->total_ns, ns);
		a->all_ns = ns_add(a->all_ns, ns);
	}
	for (uint32_t g = 0; g < no_op; g++)
		if (a->groups.v[g].works == 0)
			kernel_of(a, g, STR_NONE);
	a->groups.v[no_op].own_ns = a->oc->no_op_ns;
	a->groups.v[unlinked].own_ns = a->oc->unlinked_ns;
}

/* ---- the table ---- */

static const char *text_of(const struct model *m, str_id id)
{
	return id == STR_NONE ? "" : model_str(m, id);
}

static int cmp_group(const struct autograd *a, uint32_t ia, uint32_t ib)
{
	const struct op_group *ga = &a->groups.v[ia], *gb = &a->groups.v[ib];
	int by;

	if (ia == ib)
		return 0;
	if (ga->special || gb->special)
		return !ga->special ? -1 : !gb->special ? 1 : ia < ib ? -1 : 1;
	if (ga->own_ns != gb->own_ns)
		return ga->own_ns > gb->own_ns ? -1 : 1;
	by = strcmp(text_of(a->m, ga->name), text_of(a->m, gb->name));
	return by ? by : strcmp(text_of(a->m, ga->shapes), text_of(a->m, gb->shapes));
}

static int cmp_kernel(const void *pa, const void *pb, void *ctx)
{
	const struct autograd *a = ctx;
	const struct op_kernel *ka = pa, *kb = pb;
	int by = cmp_group(a, ka->group, kb->group);

	if (by)
		return by;
	if (ka->total_ns != kb->total_ns)
		return ka->total_ns > kb->total_ns ? -1 : 1;
	return strcmp(text_of(a->m, ka->kernel), text_of(a->m, kb->kernel));
}

static double fact_f64(int64_t v)
{
	return v == FACT_ABSENT ? NAN : (double)v;
}

static struct table *autograd_table(const struct autograd *a)
{
	struct table *t = table_make(&autograd_form);

	for (size_t i = 0; i < a->v.nr; i++) {
		const struct op_kernel *k = &a->v.v[i];
		const struct op_group *g = &a->groups.v[k->group];
		double total = (double)k->total_ns;

		table_add(t, &(struct autograd_row){
				     g->special ? g->special : model_str(a->m, g->name),
				     text_of(a->m, g->shapes), text_of(a->m, k->kernel), k->calls,
				     k->calls ? total / (double)k->calls : NAN, k->total_ns,
				     a->all_ns > 0 ? total / (double)a->all_ns : NAN,
				     g->special ? NAN : (double)g->nested_ns, g->calls,
				     fact_f64(g->sequence), fact_f64(g->op_id) });
	}
	return t;
}

void autograd_add(const struct operator_calls *oc, struct table_set *out)
{
	CLEANUP(autograd_release) struct autograd a = { .oc = oc, .m = oc->m };
	int64_t sum = 0;

	calls_group(&a);
	works_group(&a);
	if (a.v.nr)
		qsort_r(a.v.v, a.v.nr, sizeof(*a.v.v), cmp_kernel, &a);
	for (size_t i = 0; i < a.groups.nr; i++)
		sum = ns_add(sum, a.groups.v[i].own_ns);
	table_set_check(out, "autograd_time", sum == a.all_ns,
			"%" PRId64 " ns of work by operator and kernel, %" PRId64 " ns in all", sum,
			a.all_ns);
	table_set_add(out, autograd_table(&a));
}
