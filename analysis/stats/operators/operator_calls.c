#include "operator_calls.h"
#include "ns.h"
#include "operator_parts.h"

#include <stdlib.h>
#include <string.h>

#include "profrig/base/xalloc.h"

/* What is known by name, or by name and operands, once for all calls. */
struct memo {
	struct u64map models;     /* name → index in found */
	struct u64map costs;      /* name, operands → index in operator_calls.costs */
	struct u64map precisions; /* name of a kernel → enum precision */
	VEC(const struct op_model *) found;
	VEC(bool) wraps; /* by cost */
	size_t fact;     /* of facts.ops: where the next part begins */
};

static void memo_release(struct memo *memo)
{
	u64map_release(&memo->models);
	u64map_release(&memo->costs);
	u64map_release(&memo->precisions);
	VEC_RELEASE(&memo->found);
	VEC_RELEASE(&memo->wraps);
}

static const struct op_model *model_of(struct memo *memo, const struct model *m, str_id name)
{
	uint32_t *at = u64map_at(&memo->models, name);

	if (*at == U64MAP_NONE) {
		*at = (uint32_t)memo->found.nr;
		VEC_PUSH(&memo->found, op_model_find(model_str(m, name)));
	}
	return memo->found.v[*at];
}

static uint32_t cost_of(struct operator_calls *oc, struct memo *memo, str_id name, uint32_t list)
{
	const struct op_model *om = model_of(memo, oc->m, name);
	uint32_t *at;

	if (!om || list == FACT_NONE)
		return OPERATOR_NONE;
	at = u64map_at(&memo->costs, u64map_pair(name, list));
	if (*at == U64MAP_NONE) {
		*at = (uint32_t)oc->costs.nr;
		VEC_PUSH(&oc->costs, op_cost(om, &oc->m->facts, oc->m->strings, list));
		VEC_PUSH(&memo->wraps, op_model_wraps(om));
	}
	return *at;
}

/* ---- which spans are operators ---- */

struct op_categories {
	str_id word[3]; /* the last one: a range that a program marks, which has operands, too */
};

static struct op_categories categories_of(const struct model *m)
{
	static const char *const words[] = { "cpu_op", "Operator", "user_annotation" };
	struct op_categories c;

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		c.word[i] = intern_find(m->strings, words[i], strlen(words[i]));
	return c;
}

static bool is_aten(const struct model *m, str_id name)
{
	return strncmp(model_str(m, name), "aten::", 6) == 0;
}

bool operators_possible(const struct model *m)
{
	struct op_categories c = categories_of(m);

	if (m->facts.ops.nr || c.word[0] != STR_NONE || c.word[1] != STR_NONE)
		return true;
	for (str_id id = 0; id < intern_count(m->strings); id++)
		if (is_aten(m, id))
			return true;
	return false;
}

static bool is_operator(const struct model *m, const struct op_categories *c, size_t i,
			const struct op_facts *f)
{
	str_id category = m->spans.category[i];

	if (m->spans.kind[i] != SPAN_HOST || m->tracks.v[m->spans.track[i]].kind != TRACK_THREAD)
		return false;
	if (category != STR_NONE && (category == c->word[0] || category == c->word[1]))
		return true;
	/* a PyTorch without Kineto writes no categories */
	if (!*model_str(m, category) && is_aten(m, m->spans.name[i]))
		return true;
	if (f && f->name != STR_NONE)
		return true;
	return f && category != c->word[2] && f->python_id == FACT_ABSENT &&
	       (f->operands != FACT_NONE || f->sequence != FACT_ABSENT);
}

static void call_add(struct operator_calls *oc, struct memo *memo, size_t i, uint32_t around,
		     const struct op_facts *f)
{
	struct operator_call c = { .span = i,
				   .name = f && f->name != STR_NONE ? f->name
								    : oc->m->spans.name[i],
				   .around = around,
				   .cost = OPERATOR_NONE,
				   .counts = OPERATOR_NONE,
				   .operands = f ? f->operands : FACT_NONE,
				   .sequence = f ? f->sequence : FACT_ABSENT,
				   .forward_thread = f ? f->forward_thread : FACT_ABSENT,
				   .op_id = f ? f->op_id : FACT_ABSENT,
				   .device = OPERATOR_NONE };

	c.cost = cost_of(oc, memo, c.name, c.operands);
	if (c.cost != OPERATOR_NONE) {
		oc->misfits += oc->costs.v[c.cost].state == COST_MISFIT;
		oc->overflows += oc->costs.v[c.cost].state == COST_OVERFLOW;
	}
	VEC_PUSH(&oc->v, c);
}

/* Facts of spans in the order of spans; at: the row to go on from. */
static const struct op_facts *facts_next(const struct model *m, size_t i, size_t *at)
{
	while (*at < m->facts.ops.nr && m->facts.ops.v[*at].span < i)
		++*at;
	return *at < m->facts.ops.nr && m->facts.ops.v[*at].span == i ? &m->facts.ops.v[*at] : NULL;
}

/* An array that grows by copies would be written three times. */
static size_t calls_count(const struct model *m)
{
	struct op_categories categories = categories_of(m);
	size_t nr = 0, fact = 0;

	for (size_t i = 0; i < m->spans.nr; i++)
		nr += is_operator(m, &categories, i, facts_next(m, i, &fact));
	return nr;
}

/* By span of the part: the innermost operator at or around it. Parents come before children. */
static uint32_t *calls_find(struct operator_calls *oc, struct memo *memo,
			    const struct operator_part *part)
{
	const struct span_columns *s = &oc->m->spans;
	struct op_categories categories = categories_of(oc->m);
	uint32_t *at = xmalloc((part->to - part->from + 1) * sizeof(*at));

	for (size_t i = part->from; i < part->to; i++) {
		const struct op_facts *f = facts_next(oc->m, i, &memo->fact);
		uint64_t parent = span_parent(s, i);
		uint32_t *call = &at[i - part->from];

		*call = parent == SPAN_NONE ? OPERATOR_NONE : at[parent - part->from];
		if (is_operator(oc->m, &categories, i, f)) {
			call_add(oc, memo, i, *call, f);
			*call = (uint32_t)oc->v.nr - 1;
		}
		if (*call != OPERATOR_NONE)
			oc->v.v[*call].host_self_ns =
				ns_add(oc->v.v[*call].host_self_ns, s->exclusive_ns[i]);
	}
	return at;
}

/* ---- their work ---- */

static void work_share(struct operator_calls *oc, const struct operator_part *part, size_t row,
		       const uint32_t *at)
{
	const struct work *w = &oc->works->v.v[row];
	int64_t ns = w->end_ns - w->start_ns;
	struct operator_call *c;

	oc->of_work[row] = w->launch == SPAN_NONE ? OPERATOR_NONE : at[w->launch - part->from];
	if (w->launch == SPAN_NONE) {
		oc->unlinked++;
		oc->unlinked_ns = ns_add(oc->unlinked_ns, ns);
	} else if (oc->of_work[row] == OPERATOR_NONE) {
		oc->no_op++;
		oc->no_op_ns = ns_add(oc->no_op_ns, ns);
	} else {
		c = &oc->v.v[oc->of_work[row]];
		c->works++;
		c->own_ns = ns_add(c->own_ns, ns);
	}
}

static void works_share(struct operator_calls *oc, const struct operator_part *part,
			const uint32_t *at, size_t first)
{
	for (size_t k = 0; k < part->nr; k++) {
		const struct work_device *d = &oc->works->devices.v[part->devices[k]];

		for (size_t i = d->first; i < d->first + d->nr; i++)
			work_share(oc, part, i, at);
	}
	for (size_t i = oc->v.nr; i-- > first;) {
		struct operator_call *c = &oc->v.v[i];

		c->nested_ns = ns_add(c->nested_ns, c->own_ns);
		if (c->around != OPERATOR_NONE)
			oc->v.v[c->around].nested_ns =
				ns_add(oc->v.v[c->around].nested_ns, c->nested_ns);
	}
}

/* ---- which of them count ---- */

static bool known(const struct operator_calls *oc, const struct operator_call *c)
{
	return c->cost != OPERATOR_NONE && oc->costs.v[c->cost].state == COST_KNOWN;
}

static void calls_choose(struct operator_calls *oc, const struct memo *memo, size_t first)
{
	bool *below = xcalloc(oc->v.nr - first + 1, sizeof(*below));

	for (size_t i = oc->v.nr; i-- > first;) {
		const struct operator_call *c = &oc->v.v[i];

		if (c->around != OPERATOR_NONE &&
		    (below[i - first] || (known(oc, c) && !memo->wraps.v[c->cost])))
			below[c->around - first] = true;
	}
	for (uint32_t i = (uint32_t)first; i < oc->v.nr; i++) {
		struct operator_call *c = &oc->v.v[i];

		if (c->around != OPERATOR_NONE)
			c->counts = oc->v.v[c->around].counts;
		if (c->counts == OPERATOR_NONE && known(oc, c) &&
		    (!memo->wraps.v[c->cost] || !below[i - first]))
			c->counts = i;
	}
	free(below);
}

/* ---- how long they took ---- */

uint32_t operator_counting(const struct operator_calls *oc, size_t row)
{
	uint32_t c = oc->of_work[row];

	return c == OPERATOR_NONE ? OPERATOR_NONE : oc->v.v[c].counts;
}

/*
 * Rows of the part's works by counting call, the last one first; [from[c], from[c + 1]) are those
 * of call first + c.
 */
static uint32_t *works_by_call(const struct operator_calls *oc, const struct operator_part *part,
			       size_t first, size_t *from)
{
	uint32_t *rows;

	for (size_t k = 0; k < part->nr; k++) {
		const struct work_device *d = &oc->works->devices.v[part->devices[k]];

		for (size_t i = d->first; i < d->first + d->nr; i++) {
			uint32_t c = operator_counting(oc, i);

			if (c != OPERATOR_NONE)
				from[c - first + 1]++;
		}
	}
	for (size_t c = 0; c < oc->v.nr - first; c++)
		from[c + 1] += from[c];
	rows = xmalloc((from[oc->v.nr - first] + 1) * sizeof(*rows));
	for (size_t k = part->nr; k-- > 0;) {
		const struct work_device *d = &oc->works->devices.v[part->devices[k]];

		for (size_t i = d->first + d->nr; i-- > d->first;) {
			uint32_t c = operator_counting(oc, i);

			if (c != OPERATOR_NONE)
				rows[from[c - first] + oc->v.v[c].timed++] = (uint32_t)i;
		}
	}
	return rows;
}

static int by_start(const void *pa, const void *pb, void *ctx)
{
	const struct works *w = ctx;
	const struct work *a = &w->v.v[*(const uint32_t *)pa], *b = &w->v.v[*(const uint32_t *)pb];

	return (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

static int64_t union_of(const struct works *w, uint32_t *rows, size_t n)
{
	int64_t sum = 0, end = INT64_MIN;

	if (n > 1)
		qsort_r(rows, n, sizeof(*rows), by_start, (void *)w);
	for (size_t i = 0; i < n; i++) {
		const struct work *k = &w->v.v[rows[i]];
		int64_t start = k->start_ns > end ? k->start_ns : end;

		if (k->end_ns > start)
			sum = ns_add(sum, k->end_ns - start);
		end = k->end_ns > end ? k->end_ns : end;
	}
	return sum;
}

static enum precision kernel_precision(struct memo *memo, const struct model *m, str_id name)
{
	uint32_t *at = u64map_at(&memo->precisions, name);

	if (*at == U64MAP_NONE)
		*at = precision_of_kernel(model_str(m, name));
	return (enum precision) * at;
}

/* That in which most time went; unknown where no kernel tells. */
static enum precision precision_of(const struct operator_calls *oc, struct memo *memo,
				   const uint32_t *rows, size_t n)
{
	int64_t by[PRECISIONS] = { 0 };
	enum precision best = PRECISION_UNKNOWN;

	for (size_t i = 0; i < n; i++) {
		const struct work *w = &oc->works->v.v[rows[i]];
		enum precision p = kernel_precision(memo, oc->m, oc->m->spans.name[w->span]);

		if (p != PRECISION_UNKNOWN)
			by[p] = ns_add(by[p], w->end_ns - w->start_ns);
	}
	for (int p = 1; p < PRECISIONS; p++)
		if (by[p] > by[best])
			best = (enum precision)p;
	return best;
}

static void call_time(struct operator_calls *oc, struct memo *memo, struct operator_call *c,
		      uint32_t *rows, size_t n)
{
	c->timed = n;
	if (n) {
		c->time_ns = union_of(oc->works, rows, n);
		c->device = oc->works->v.v[rows[0]].device;
		c->precision = precision_of(oc, memo, rows, n);
	} else if (oc->host) {
		c->time_ns = span_ns(oc->m, c->span);
		c->timed = 1;
	}
	if (c->precision == PRECISION_UNKNOWN)
		c->precision = precision_of_type(oc->costs.v[c->cost].type);
}

static void calls_time(struct operator_calls *oc, struct memo *memo,
		       const struct operator_part *part, size_t first)
{
	size_t *from = xcalloc(oc->v.nr - first + 2, sizeof(*from));
	uint32_t *rows = works_by_call(oc, part, first, from);

	for (uint32_t i = (uint32_t)first; i < oc->v.nr; i++) {
		const size_t *at = &from[i - first];

		if (oc->v.v[i].counts == i)
			call_time(oc, memo, &oc->v.v[i], rows + at[0], at[1] - at[0]);
	}
	free(rows);
	free(from);
}

static void part_take(struct operator_calls *oc, struct memo *memo,
		      const struct operator_part *part)
{
	size_t first = oc->v.nr;
	uint32_t *at = calls_find(oc, memo, part);

	works_share(oc, part, at, first);
	free(at);
	calls_choose(oc, memo, first);
	calls_time(oc, memo, part, first);
}

struct operator_calls *operator_calls_new(const struct model *m, const struct works *works)
{
	struct operator_calls *oc = xcalloc(1, sizeof(*oc));
	struct memo memo = { .models = U64MAP_INIT };
	struct operator_parts *parts = operator_parts_new(works);

	oc->m = m;
	oc->works = works;
	oc->host = works->v.nr == 0;
	oc->of_work = xmalloc((works->v.nr + 1) * sizeof(*oc->of_work));
	VEC_RESERVE(&oc->v, calls_count(m));
	for (size_t i = 0; i < parts->v.nr; i++)
		part_take(oc, &memo, &parts->v.v[i]);
	operator_parts_free(parts);
	memo_release(&memo);
	return oc;
}

void operator_calls_free(struct operator_calls *oc)
{
	if (!oc)
		return;
	VEC_RELEASE(&oc->v);
	VEC_RELEASE(&oc->costs);
	free(oc->of_work);
	free(oc);
}

void operator_calls_freep(struct operator_calls **oc)
{
	operator_calls_free(*oc);
}

const struct operator_calls *analysis_operator_calls(struct model *m, const struct analysis_opts *o)
{
	struct analysis_shared *as = o->shared;
	const struct works *w = analysis_works(m, o);

	pthread_mutex_lock(&as->calls_lock);
	if (!as->calls) {
		if (operators_possible(m))
			model_nest_times(m);
		else
			model_nest(m);
		as->calls = operator_calls_new(m, w);
	}
	pthread_mutex_unlock(&as->calls_lock);
	return as->calls;
}
