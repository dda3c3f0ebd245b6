#include "program_sources.h"
#include "ns.h"

#include <inttypes.h>
#include <string.h>

#include "profrig/base/mix.h"
#include "profrig/base/u64map.h"
#include "profrig/base/xalloc.h"
#include "profrig/hlo/hlo.h"

/* The stacks of an operation: in telling.stacks. */
struct op_stacks {
	size_t first, nr;
};

struct telling {
	const struct model *m;
	const struct program_work *pw;
	const struct hlo_programs *programs;
	struct intern *texts;
	struct u64map known; /* by module, operation and program id: in ops */
	VEC(struct op_stacks) ops;
	VEC(str_id) stacks;
	struct u64map row_of; /* by stack: in rows */
	VEC(struct program_sources_row) rows;
	int64_t ops_ns, runs_ns, all_ns; /* (1), (2), (3) */
};

static bool counts(const struct program_run *r)
{
	return r->steady && !r->cut && r->works > 0;
}

/* ---- stacks ---- */

static int64_t program_id_of(const struct telling *t, const struct program_run *r)
{
	const struct program_facts *f = r->span == SPAN_NONE ? NULL : facts_program(t->m, r->span);

	return f && f->program_id != FACT_ABSENT ? f->program_id : HLO_ABSENT;
}

static void stack_add(struct telling *t, const char *source, const char *op)
{
	CLEANUP(xfreep) char *name = xstrdup(op);
	CLEANUP(xfreep) char *text = NULL;

	for (char *c = name; *c; c++)
		*c = *c == ';' ? ':' : *c;
	text = xasprintf("[GPU active];%s;%s", source, name);
	VEC_PUSH(&t->stacks, intern_puts(t->texts, text));
}

static struct op_stacks stacks_learn(struct telling *t, const struct hlo_op *of)
{
	struct op_stacks s = { .first = t->stacks.nr };
	struct hlo_paths paths = { VEC_INIT };
	enum hlo_source known = HLO_SOURCE_UNKNOWN;

	if (t->programs)
		known = hlo_sources(t->programs, of, t->texts, &paths);
	for (size_t i = 0; known == HLO_SOURCE_KNOWN && i < paths.v.nr; i++)
		stack_add(t, intern_str(t->texts, paths.v.v[i]), of->op);
	if (known == HLO_SOURCE_DIFFERS)
		stack_add(t, "[inconsistent metadata]", of->op);
	else if (known == HLO_SOURCE_UNKNOWN)
		stack_add(t, "[Unknown]", of->op);
	VEC_RELEASE(&paths.v);
	s.nr = t->stacks.nr - s.first;
	return s;
}

static struct op_stacks stacks_of(struct telling *t, const struct program_op *op)
{
	const struct program_run *r = &t->pw->runs.v[op->run];
	int64_t id = program_id_of(t, r);
	uint64_t key = mix64(mix64(u64map_pair(r->module, op->name)) ^ (uint64_t)id);
	uint32_t *at = u64map_at(&t->known, key);

	if (*at == U64MAP_NONE) {
		*at = (uint32_t)t->ops.nr;
		VEC_PUSH(&t->ops,
			 stacks_learn(t, &(struct hlo_op){ model_str(t->m, r->module),
							   model_str(t->m, op->name), id }));
	}
	return t->ops.v[*at];
}

/* ---- time ---- */

static void time_add(struct telling *t, str_id stack, int64_t ns)
{
	uint32_t *at = u64map_at(&t->row_of, stack);
	struct program_sources_row *row;

	if (*at == U64MAP_NONE) {
		*at = (uint32_t)t->rows.nr;
		VEC_PUSH(&t->rows,
			 ((struct program_sources_row){ .path = intern_str(t->texts, stack) }));
	}
	row = &t->rows.v[*at];
	row->calls++;
	row->total_ns = ns_add(row->total_ns, ns);
}

/* In whole nanoseconds: the first ones have what is left. */
static void op_add(struct telling *t, const struct program_op *op)
{
	struct op_stacks s = stacks_of(t, op);
	int64_t ns = op->end_ns - op->start_ns, nr = (int64_t)s.nr;

	t->ops_ns = ns_add(t->ops_ns, ns);
	for (int64_t i = 0; i < nr; i++)
		time_add(t, t->stacks.v[s.first + (size_t)i], ns / nr + (i < ns % nr));
}

/* Runs of a device follow each other. */
static void runs_add(struct telling *t)
{
	const struct program_run *v = t->pw->runs.v;

	for (size_t i = 0, end; i < t->pw->runs.nr; i = end) {
		int64_t first = INT64_MAX, last = INT64_MIN;

		for (end = i; end < t->pw->runs.nr && v[end].device == v[i].device; end++) {
			if (!counts(&v[end]) || v[end].device == PROGRAM_NONE)
				continue;
			first = v[end].start_ns < first ? v[end].start_ns : first;
			last = v[end].end_ns > last ? v[end].end_ns : last;
			t->runs_ns = ns_add(t->runs_ns, v[end].end_ns - v[end].start_ns);
		}
		if (first <= last)
			t->all_ns = ns_add(t->all_ns, last - first);
	}
}

static void idle_add(struct telling *t, const char *name, int64_t ns)
{
	if (ns > 0)
		time_add(t, intern_puts(t->texts, name), ns);
}

static int by_time(const void *pa, const void *pb)
{
	const struct program_sources_row *a = pa, *b = pb;

	if (a->total_ns != b->total_ns)
		return a->total_ns < b->total_ns ? 1 : -1;
	return strcmp(a->path, b->path);
}

static void table_fill(struct telling *t, struct table_set *out)
{
	struct table *table = table_make(&program_sources_form);
	int64_t sum = 0, during = t->runs_ns - t->ops_ns, between = t->all_ns - t->runs_ns;
	int64_t want =
		ns_add(t->ops_ns, ns_add(during > 0 ? during : 0, between > 0 ? between : 0));

	qsort(t->rows.v, t->rows.nr, sizeof(*t->rows.v), by_time);
	for (size_t i = 0; i < t->rows.nr; i++)
		sum = ns_add(sum, t->rows.v[i].total_ns);
	for (size_t i = 0; i < t->rows.nr; i++) {
		t->rows.v[i].share = sum ? (double)t->rows.v[i].total_ns / (double)sum : 0;
		table_add(table, &t->rows.v[i]);
	}
	table_set_add(out, table);
	table_set_check(out, "program_sources: all rows are operations and idle time", sum == want,
			"%" PRId64 " ns of %" PRId64 ": operations %" PRId64 ", modules %" PRId64
			", from first to last %" PRId64,
			sum, want, t->ops_ns, t->runs_ns, t->all_ns);
}

void program_sources_add(const struct model *m, const struct program_work *pw,
			 const struct hlo_programs *programs, struct table_set *out)
{
	struct telling t = { .m = m, .pw = pw, .programs = programs, .texts = intern_new() };

	for (size_t i = 0; i < pw->ops.nr; i++)
		if (counts(&pw->runs.v[pw->ops.v[i].run]))
			op_add(&t, &pw->ops.v[i]);
	runs_add(&t);
	idle_add(&t, "[GPU idle during module execution]", t.runs_ns - t.ops_ns);
	idle_add(&t, "[GPU idle between module executions]", t.all_ns - t.runs_ns);
	if (t.rows.nr)
		table_fill(&t, out);
	VEC_RELEASE(&t.ops);
	VEC_RELEASE(&t.stacks);
	VEC_RELEASE(&t.rows);
	u64map_release(&t.known);
	u64map_release(&t.row_of);
	intern_free(t.texts);
}
