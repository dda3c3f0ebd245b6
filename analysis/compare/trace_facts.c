#include "trace_facts.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/u64map.h"

#define TOP 10

void trace_fact_say(struct trace_compare *t, const struct trace_facts_in *in, const char *fact,
		    char *a, char *b, enum trace_fact_verdict verdict, const char *reason)
{
	VEC_PUSH(&t->facts, ((struct trace_fact){ fact, a, b, verdict }));
	t->refused |= verdict == TRACE_FACT_REFUSED;
	if (verdict == TRACE_FACT_REFUSED || verdict == TRACE_FACT_NOTED)
		comparable_add(in->comparable, verdict == TRACE_FACT_REFUSED, "%s", reason);
}

void trace_fact_add(struct trace_compare *t, const struct trace_facts_in *in, const char *fact,
		    char *a, char *b, enum trace_fact_verdict verdict)
{
	CLEANUP(xfreep)
	char *reason = xasprintf("%s: %.100s in %s, %.100s in %s", fact, a, in->o->name_a, b,
				 in->o->name_b);

	trace_fact_say(t, in, fact, a, b, verdict, reason);
}

/* ---- GPU, world size: conditions, whose reasons are given there ---- */

static char *condition_text(const struct run_set *s, enum condition which)
{
	for (size_t i = 0; i < s->runs.nr; i++)
		if (s->runs.v[i].c.of[which])
			return xstrdup(s->runs.v[i].c.of[which]);
	return xstrdup("");
}

static void condition_fact(struct trace_compare *t, const struct trace_facts_in *in,
			   const char *fact, enum condition which)
{
	char *a = condition_text(in->a, which), *b = condition_text(in->b, which);
	bool exempt = in->o->exempt & (UINT32_C(1) << which);
	enum trace_fact_verdict v = !*a || !*b                    ? TRACE_FACT_UNKNOWN
				    : exempt || strcmp(a, b) == 0 ? TRACE_FACT_OK
								  : TRACE_FACT_REFUSED;

	VEC_PUSH(&t->facts, ((struct trace_fact){ fact, a, b, v }));
	t->refused |= v == TRACE_FACT_REFUSED;
}

/* ---- precision: shares of the time of products ---- */

static double sum_of(const struct trace_side *s, const char *name)
{
	double sum = 0;

	for (size_t i = 0; i < s->precisions.nr; i++)
		if (*s->precisions.v[i].name &&
		    (!name || strcmp(s->precisions.v[i].name, name) == 0))
			sum += (double)s->precisions.v[i].total_ns;
	return sum;
}

static char *precision_text(const struct trace_side *s)
{
	const char *most = "";

	for (size_t i = 0; i < s->precisions.nr; i++) {
		const char *name = s->precisions.v[i].name;

		if (*name && sum_of(s, name) > (*most ? sum_of(s, most) : 0))
			most = name;
	}
	return xasprintf("%.40s", most);
}

static void precision_fact(struct trace_compare *t, const struct trace_facts_in *in)
{
	double a = sum_of(in->side_a, NULL), b = sum_of(in->side_b, NULL), common = 0;
	bool exempt = in->o->exempt & (UINT32_C(1) << CONDITION_PRECISION);
	enum trace_fact_verdict v = TRACE_FACT_UNKNOWN;

	for (size_t i = 0; a > 0 && b > 0 && i < in->side_a->precisions.nr; i++) {
		const char *name = in->side_a->precisions.v[i].name;
		size_t first = 0;

		while (strcmp(in->side_a->precisions.v[first].name, name) != 0)
			first++;
		if (*name && first == i)
			common += fmin(sum_of(in->side_a, name) / a, sum_of(in->side_b, name) / b);
	}
	if (a > 0 && b > 0)
		v = exempt || common >= TRACE_OVERLAP ? TRACE_FACT_OK : TRACE_FACT_REFUSED;
	trace_fact_add(t, in, "dtype", precision_text(in->side_a), precision_text(in->side_b), v);
}

/* ---- shapes of the top operators ---- */

/* An operator with all of its shapes: time on each side, and of that in shapes of both. */
struct op {
	const char *name;
	size_t len;
	double a, b, shared_a, shared_b;
	bool shaped, in_a, in_b;
};

static size_t name_length(const char *key)
{
	const char *shapes = strstr(key, " [");

	return shapes ? (size_t)(shapes - key) : strlen(key);
}

static int by_op(const void *pa, const void *pb)
{
	const struct op *a = pa, *b = pb;
	int r = memcmp(a->name, b->name, a->len < b->len ? a->len : b->len);

	return r ? r : (a->len > b->len) - (a->len < b->len);
}

static int by_time_a(const void *pa, const void *pb)
{
	const struct op *a = pa, *b = pb;

	return a->a != b->a ? (a->a < b->a) - (a->a > b->a) : by_op(pa, pb);
}

static int by_time_b(const void *pa, const void *pb)
{
	const struct op *a = pa, *b = pb;

	return a->b != b->b ? (a->b < b->b) - (a->b > b->b) : by_op(pa, pb);
}

/* Operators that both sides have, with shapes; ret has as many elements as d has rows. */
static size_t ops_of(const struct trace_diff *d, struct op *ret)
{
	size_t nr = 0, kept = 0;

	for (size_t i = 0; i < d->v.nr; i++) {
		const struct trace_diff_row *r = &d->v.v[i];
		bool both = r->count_a && r->count_b;

		ret[i] = (struct op){ .name = r->name,
				      .len = name_length(r->name),
				      .a = (double)r->total_a_ns,
				      .b = (double)r->total_b_ns,
				      .shared_a = both ? (double)r->total_a_ns : 0,
				      .shared_b = both ? (double)r->total_b_ns : 0,
				      .in_a = r->count_a > 0,
				      .in_b = r->count_b > 0 };
		ret[i].shaped = r->name[ret[i].len] != '\0';
	}
	qsort(ret, d->v.nr, sizeof(*ret), by_op);
	for (size_t i = 0; i < d->v.nr; i++) {
		struct op *to = nr ? &ret[nr - 1] : NULL;

		if (!to || by_op(to, &ret[i]) != 0) {
			ret[nr++] = ret[i];
			continue;
		}
		to->a += ret[i].a;
		to->b += ret[i].b;
		to->shared_a += ret[i].shared_a;
		to->shared_b += ret[i].shared_b;
		to->shaped |= ret[i].shaped;
		to->in_a |= ret[i].in_a;
		to->in_b |= ret[i].in_b;
	}
	for (size_t i = 0; i < nr; i++)
		if (ret[i].shaped && ret[i].in_a && ret[i].in_b)
			ret[kept++] = ret[i];
	return kept;
}

static void shapes_fact(struct trace_compare *t, const struct trace_facts_in *in)
{
	const struct trace_diff *d = &t->of[TRACE_OPERATOR];
	struct op *ops = xcalloc(d->v.nr + 1, sizeof(*ops));
	size_t nr = ops_of(d, ops), top = nr < TOP ? nr : TOP;
	double a = 0, b = 0, shared_a = 0, shared_b = 0;
	bool exempt = in->o->exempt & (UINT32_C(1) << CONDITION_BATCH);
	CLEANUP(xfreep) char *reason = NULL;

	qsort(ops, nr, sizeof(*ops), by_time_a);
	for (size_t i = 0; i < top; i++) {
		a += ops[i].a;
		shared_a += ops[i].shared_a;
	}
	qsort(ops, nr, sizeof(*ops), by_time_b);
	for (size_t i = 0; i < top; i++) {
		b += ops[i].b;
		shared_b += ops[i].shared_b;
	}
	free(ops);
	if (!(a > 0 && b > 0)) {
		trace_fact_add(t, in, "shapes", xstrdup(""), xstrdup(""), TRACE_FACT_UNKNOWN);
		return;
	}
	reason = xasprintf("shapes of the top operators: %.0f %% of their time in %s, %.0f %% in "
			   "%s is of shapes that both have",
			   100 * shared_a / a, in->o->name_a, 100 * shared_b / b, in->o->name_b);
	trace_fact_say(t, in, "shapes", xasprintf("%.0f %% in common", 100 * shared_a / a),
		       xasprintf("%.0f %% in common", 100 * shared_b / b),
		       exempt || (shared_a >= TRACE_OVERLAP * a && shared_b >= TRACE_OVERLAP * b)
			       ? TRACE_FACT_OK
			       : TRACE_FACT_REFUSED,
		       reason);
}

/* ---- kinds of data, names in common ---- */

static void data_fact(struct trace_compare *t, const struct trace_facts_in *in, const char *fact,
		      enum trace_kind k, enum trace_fact_verdict lacking)
{
	bool a = t->of[k].names_a, b = t->of[k].names_b;

	trace_fact_add(t, in, fact, xstrdup(a ? "yes" : "none"), xstrdup(b ? "yes" : "none"),
		       a == b ? TRACE_FACT_OK : lacking);
}

/* fact: "kernel names" */
static void names_fact(struct trace_compare *t, const struct trace_facts_in *in, const char *fact,
		       enum trace_kind k, enum trace_fact_verdict apart)
{
	const struct trace_diff *d = &t->of[k];
	size_t all = d->names_a + d->names_b - d->common;
	CLEANUP(xfreep)
	char *reason = xasprintf("%s: %zu of %zu in common (%zu in %s, %zu in %s)", fact, d->common,
				 all, d->names_a, in->o->name_a, d->names_b, in->o->name_b);

	trace_fact_say(t, in, fact,
		       xasprintf("%zu (%zu of %zu in common)", d->names_a, d->common, all),
		       xasprintf("%zu (%zu of %zu in common)", d->names_b, d->common, all),
		       !d->names_a || !d->names_b               ? TRACE_FACT_UNKNOWN
		       : trace_diff_overlap(d) >= TRACE_OVERLAP ? TRACE_FACT_OK
								: apart,
		       reason);
}

static bool alike(const struct trace_diff *d)
{
	return trace_diff_overlap(d) >= TRACE_OVERLAP;
}

static void names_facts(struct trace_compare *t, const struct trace_facts_in *in)
{
	const struct trace_diff *kernels = &t->of[TRACE_KERNEL], *ops = &t->of[TRACE_CPU_OP];
	bool same_kernels = kernels->names_a && kernels->names_b && alike(kernels);

	data_fact(t, in, "device work", TRACE_KERNEL, TRACE_FACT_REFUSED);
	data_fact(t, in, "operators", TRACE_CPU_OP, TRACE_FACT_NOTED);
	names_fact(t, in, "kernel names", TRACE_KERNEL,
		   alike(ops) ? TRACE_FACT_NOTED : TRACE_FACT_REFUSED);
	names_fact(t, in, "operator names", TRACE_CPU_OP,
		   same_kernels ? TRACE_FACT_NOTED : TRACE_FACT_REFUSED);
	if (same_kernels)
		t->compared = TRACE_KERNEL;
	else if (alike(&t->of[TRACE_OPERATOR]))
		t->compared = TRACE_OPERATOR;
	else
		t->compared = ops->v.nr ? TRACE_CPU_OP : TRACE_KERNEL;
}

void trace_facts_find(struct trace_compare *t, const struct trace_facts_in *in)
{
	condition_fact(t, in, "GPU", CONDITION_GPU);
	condition_fact(t, in, "world size", CONDITION_WORLD);
	precision_fact(t, in);
	shapes_fact(t, in);
	names_facts(t, in);
	trace_unit_find(t, in);
}
