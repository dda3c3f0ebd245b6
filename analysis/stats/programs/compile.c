/* What compilations of programs took: their parts and passes, over all threads. */
#include "analyses_private.h"
#include "compile_tree.h"
#include "ns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/strbuf.h"
#include "profrig/base/u64map.h"
#include "profrig/base/xalloc.h"
#include "profrig/model/warnings.h"
#include "profrig/names/xla_range.h"

/* clang-format off */
#define COMPILE(X) \
	X(STR, module) X(STR, name) X(I64, ranges) X(I64, given) X(I64, total_ns) \
	X(I64, self_ns) X(F64, share)
#define COMPILE_PHASES(X) \
	X(STR, module) X(STR, phase) X(I64, ranges) X(I64, self_ns) X(F64, share)
/* clang-format on */
TABLE_FORM(compile, COMPILE,
	   "one row per module and kind of range of its compilation: passes and other parts");
TABLE_FORM(compile_phases, COMPILE_PHASES,
	   "one row per module and part of its compilation, with all that is inside it");

/* Ranges of one name in compilations of one module. */
struct compile_sum {
	str_id module, name;
	int64_t ranges, given, total_ns, self_ns;
};

struct compile_sums {
	struct model *m;
	struct compile_tree ct;
	struct intern *texts; /* names of ranges, without what differs by program */
	struct u64map names;  /* by span's name: in texts */
	VEC(struct compile_sum) v;
	struct u64map at; /* by module and name */
};

/* Names as recorded hold the program's id. */
static str_id name_of(struct compile_sums *cs, uint64_t span)
{
	str_id name = cs->m->spans.name[span];
	uint32_t *known = u64map_at(&cs->names, name);

	if (*known == U64MAP_NONE) {
		CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;
		size_t n = intern_len(cs->m->strings, name);

		*known = xla_range_name(model_str(cs->m, name), n, &text)
				 ? intern_put(cs->texts, text.buf, text.len)
				 : intern_put(cs->texts, model_str(cs->m, name), n);
	}
	return *known;
}

static str_id module_of(const struct compile_sums *cs, const struct compile_range *r)
{
	const struct program_facts *f = facts_program(cs->m, cs->ct.v.v[r->root].span);

	return f && f->module != STR_NONE ? f->module : 0;
}

static void sum_add(struct compile_sums *cs, str_id module, str_id name,
		    const struct compile_range *r)
{
	uint32_t *at = u64map_at(&cs->at, u64map_pair(module, name));
	struct compile_sum *s;

	if (*at == U64MAP_NONE) {
		*at = (uint32_t)cs->v.nr;
		VEC_PUSH(&cs->v, ((struct compile_sum){ module, name, 0, 0, 0, 0 }));
	}
	s = &cs->v.v[*at];
	s->ranges++;
	s->given += r->given;
	s->total_ns = ns_add(s->total_ns, r->end_ns - r->start_ns);
	s->self_ns += r->self_ns;
}

static int cmp_sum(const void *pa, const void *pb, void *ctx)
{
	const struct compile_sum *a = pa, *b = pb;
	const struct compile_sums *cs = ctx;
	int r = strcmp(model_str(cs->m, a->module), model_str(cs->m, b->module));

	if (r == 0 && a->self_ns != b->self_ns)
		return a->self_ns > b->self_ns ? -1 : 1;
	return r ? r : strcmp(intern_str(cs->texts, a->name), intern_str(cs->texts, b->name));
}

static double share_of(const struct compile_sums *cs, const struct compile_sum *s)
{
	return cs->ct.total_ns ? (double)s->self_ns / (double)cs->ct.total_ns : NAN;
}

static void sums_sort(struct compile_sums *cs)
{
	if (cs->v.nr)
		qsort_r(cs->v.v, cs->v.nr, sizeof(*cs->v.v), cmp_sum, cs);
}

static void ranges_table(struct compile_sums *cs, struct table_set *out)
{
	struct table *t = table_make(&compile_form);
	int64_t sum = 0;

	for (size_t i = 0; i < cs->ct.v.nr; i++) {
		const struct compile_range *r = &cs->ct.v.v[i];

		if (r->root != COMPILE_NONE)
			sum_add(cs, module_of(cs, r), name_of(cs, r->span), r);
	}
	sums_sort(cs);
	for (size_t i = 0; i < cs->v.nr; i++) {
		const struct compile_sum *s = &cs->v.v[i];

		sum = ns_add(sum, s->self_ns);
		table_add(t, &(struct compile_row){ model_str(cs->m, s->module),
						    intern_str(cs->texts, s->name), s->ranges,
						    s->given, s->total_ns, s->self_ns,
						    share_of(cs, s) });
	}
	table_set_add(out, t);
	table_set_check(out, "compile: own times add up to the compilations",
			sum == cs->ct.total_ns, "%lld ns of %lld ns", (long long)sum,
			(long long)cs->ct.total_ns);
}

/* What is directly below compilations keeps the time of all that is inside it. */
static void phases_table(struct compile_sums *cs, struct table_set *out)
{
	struct compile_range *r = cs->ct.v.v;
	struct table *t = table_make(&compile_phases_form);
	uint32_t *phase = xcalloc(cs->ct.v.nr + 1, sizeof(*phase));

	VEC_CLEAR(&cs->v);
	u64map_release(&cs->at);
	for (uint32_t i = 0; i < cs->ct.v.nr; i++) {
		uint32_t up = r[i].parent, top = i;

		for (; up != COMPILE_NONE && r[up].parent != COMPILE_NONE; up = r[up].parent)
			top = up;
		phase[i] = up == COMPILE_NONE ? i : top;
	}
	for (uint32_t i = 0; i < cs->ct.v.nr; i++)
		if (phase[i] != i) {
			r[phase[i]].self_ns += r[i].self_ns;
			r[i].self_ns = 0;
		}
	for (uint32_t i = 0; i < cs->ct.v.nr; i++)
		if (r[i].root != COMPILE_NONE && phase[i] == i)
			sum_add(cs, module_of(cs, &r[i]), name_of(cs, r[i].span), &r[i]);
	sums_sort(cs);
	for (size_t i = 0; i < cs->v.nr; i++) {
		const struct compile_sum *s = &cs->v.v[i];

		table_add(t, &(struct compile_phases_row){
				     model_str(cs->m, s->module), intern_str(cs->texts, s->name),
				     s->ranges, s->self_ns, share_of(cs, s) });
	}
	table_set_add(out, t);
	free(phase);
}

static void outside_warn(struct model *m, const struct compile_tree *ct)
{
	for (size_t i = 0; ct->outside && i < ct->v.nr; i++) {
		uint64_t span = ct->v.v[i].span;

		if (ct->v.v[i].root != COMPILE_NONE)
			continue;
		model_warn(m, span_input(&m->spans, span), W_COMPILE_OUTSIDE, ct->outside,
			   "'%s' lies in no compilation", model_str(m, m->spans.name[span]));
		return;
	}
}

static int compile_run(struct model *m, const struct analysis_opts *o, struct table_set *out,
		       struct err *err)
{
	struct compile_sums cs = { .m = m, .texts = intern_new() };
	int r = 0;

	(void)o;
	(void)err;
	compile_tree_make(m, &cs.ct);
	if (cs.ct.v.nr == cs.ct.outside) {
		r = table_set_skip(out, "compile", "no range is the compilation of a program");
	} else {
		ranges_table(&cs, out);
		phases_table(&cs, out);
	}
	outside_warn(m, &cs.ct);
	compile_tree_release(&cs.ct);
	intern_free(cs.texts);
	u64map_release(&cs.names);
	u64map_release(&cs.at);
	VEC_RELEASE(&cs.v);
	return r;
}

const struct analysis analysis_compile = {
	.name = "compile",
	.about = "what compilations of programs (XLA) took: passes and other parts",
	.tables = { &compile_form, &compile_phases_form },
	.run = compile_run,
	.needs_calls = true,
};
