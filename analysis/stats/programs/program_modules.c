/*
 * Modules of compiled programs and their operations, as devices executed them. Waits are those of
 * table collective_ranks: of each complete collective the time from a rank's own start to the last
 * start, at most its own time.
 */
#include "analyses_private.h"
#include "collective_clocks.h"
#include "ns.h"
#include "program_sources.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/natural.h"
#include "profrig/base/sort.h"
#include "profrig/base/u64map.h"
#include "profrig/base/xalloc.h"
#include "profrig/model/warnings.h"
#include "profrig/work/program_work.h"

/* clang-format off */
#define PROGRAM_MODULES(X) \
	X(STR, device) X(F64, rank) X(STR, module) X(I64, executions) X(F64, ops) X(I64, works) \
	X(I64, total_ns) X(F64, mean_ns) X(F64, stddev_ns) X(F64, min_ns) X(F64, max_ns) \
	X(I64, busy_ns) X(F64, share) X(I64, wait_ns) X(F64, wait_share) X(I64, steady) \
	X(I64, cut) X(I64, programs)
#define PROGRAM_OPS(X) \
	X(STR, module) X(STR, op) X(STR, class) X(I64, calls) X(I64, works) X(I64, total_ns) \
	X(I64, min_ns) X(F64, mean_ns) X(F64, median_ns) X(I64, max_ns) X(I64, cost_ns) \
	X(F64, share)
/* clang-format on */
TABLE_FORM(program_modules, PROGRAM_MODULES,
	   "one row per device and module of a compiled program: its executions and their time");
TABLE_FORM(program_ops, PROGRAM_OPS,
	   "one row per module and operation of a compiled program: its time on devices");

struct module_telling {
	const struct model *m;
	const struct works *w;
	struct program_work *pw;
	int64_t *wait_ns; /* by run */
};

/* ---- waits ---- */

static void waits_find(struct module_telling *t)
{
	struct collective_parts *cp = collective_parts_new(t->m, t->w);
	struct collective_match *cm = collective_match_new(cp);
	struct collective_clocks cc;

	collective_clocks_find(cm, &cc);
	collective_clocks_apply(&cc, cm);
	collective_measure(cm);
	for (size_t i = 0; i < cm->parts.nr; i++) {
		size_t row = works_find(t->w, cm->parts.v[i].span);
		uint32_t run = row == SIZE_MAX ? PROGRAM_NONE : t->pw->of_work[row];

		if (run != PROGRAM_NONE)
			t->wait_ns[run] = ns_add(t->wait_ns[run], cm->wait_ns.v[i]);
	}
	collective_clocks_release(&cc);
	collective_match_free(cm);
	collective_parts_free(cp);
}

static bool communicates(const struct works *w)
{
	for (size_t i = 0; i < w->v.nr; i++)
		if (w->v.v[i].class == WORK_COLLECTIVE)
			return true;
	return false;
}

/* ---- modules ---- */

static bool same_module(const struct program_run *a, const struct program_run *b)
{
	return a->device == b->device && a->module == b->module &&
	       (a->device != PROGRAM_NONE || a->job_device == b->job_device);
}

static int64_t run_ns(const struct program_run *r)
{
	return r->end_ns - r->start_ns;
}

/* What its programs were compiled as: different fingerprints, else ids, of one name. */
static int64_t programs_of(const struct module_telling *t, const struct program_run *v, size_t nr)
{
	CLEANUP(u64map_release) struct u64map seen = U64MAP_INIT;

	for (size_t i = 0; i < nr; i++) {
		const struct program_facts *f =
			v[i].span == SPAN_NONE ? NULL : facts_program(t->m, v[i].span);

		if (f && f->fingerprint != STR_NONE)
			*u64map_at(&seen, f->fingerprint) = 1;
		else if (f && f->program_id != FACT_ABSENT)
			*u64map_at(&seen, ~(uint64_t)f->program_id) = 1;
	}
	return (int64_t)seen.nr;
}

static double rank_of(const struct module_telling *t, const struct program_run *r)
{
	int32_t rank = r->device == PROGRAM_NONE ? RANK_NONE : t->w->devices.v[r->device].rank;

	return rank != RANK_NONE              ? rank
	       : r->job_device != FACT_ABSENT ? (double)r->job_device
					      : NAN;
}

/* Statistics are of steady executions that are whole and had work. */
static void times_of(const struct program_run *v, size_t nr, struct program_modules_row *row)
{
	double n = 0, sum = 0, squares = 0;

	for (size_t i = 0; i < nr; i++) {
		double ns = (double)run_ns(&v[i]);

		if (!v[i].steady || v[i].cut || v[i].works == 0)
			continue;
		row->min_ns = n > 0 ? fmin(row->min_ns, ns) : ns;
		row->max_ns = n > 0 ? fmax(row->max_ns, ns) : ns;
		sum += ns;
		n++;
	}
	if (n == 0)
		return;
	row->mean_ns = sum / n;
	for (size_t i = 0; i < nr; i++)
		if (v[i].steady && !v[i].cut && v[i].works)
			squares += pow((double)run_ns(&v[i]) - row->mean_ns, 2);
	row->stddev_ns = n > 1 ? sqrt(squares / (n - 1)) : 0;
}

static struct program_modules_row module_row(const struct module_telling *t, size_t first,
					     size_t nr)
{
	const struct program_run *v = &t->pw->runs.v[first];
	struct program_modules_row row = {
		.device = v->device == PROGRAM_NONE
				  ? ""
				  : model_str(t->m, t->w->devices.v[v->device].name),
		.rank = rank_of(t, v),
		.module = model_str(t->m, v->module),
		.executions = (int64_t)nr,
		.ops = NAN,
		.mean_ns = NAN,
		.stddev_ns = NAN,
		.min_ns = NAN,
		.max_ns = NAN,
		.programs = programs_of(t, v, nr)
	};
	double ops = 0;

	for (size_t i = 0; i < nr; i++) {
		row.works += (int64_t)v[i].works;
		row.total_ns = ns_add(row.total_ns, run_ns(&v[i]));
		row.busy_ns = ns_add(row.busy_ns, v[i].union_ns);
		row.wait_ns = ns_add(row.wait_ns, t->wait_ns[first + i]);
		row.steady += v[i].steady;
		row.cut += v[i].cut;
		ops += v[i].cut ? 0 : (double)v[i].ops;
	}
	if (row.cut < row.executions)
		row.ops = ops / (double)(row.executions - row.cut);
	row.wait_share = row.total_ns ? (double)row.wait_ns / (double)row.total_ns : NAN;
	times_of(v, nr, &row);
	return row;
}

static void modules_table(const struct module_telling *t, struct table_set *out)
{
	const struct program_run *v = t->pw->runs.v;
	CLEANUP(xfreep) double *all = xcalloc(t->w->devices.nr + 1, sizeof(*all));
	struct table *table = table_make(&program_modules_form);

	for (size_t i = 0; i < t->pw->runs.nr; i++)
		if (v[i].device != PROGRAM_NONE)
			all[v[i].device] += (double)run_ns(&v[i]);
	for (size_t i = 0, end; i < t->pw->runs.nr; i = end) {
		struct program_modules_row row;

		for (end = i + 1; end < t->pw->runs.nr && same_module(&v[i], &v[end]); end++)
			;
		row = module_row(t, i, end - i);
		row.share = v[i].device != PROGRAM_NONE && all[v[i].device] > 0
				    ? (double)row.total_ns / all[v[i].device]
				    : NAN;
		table_add(table, &row);
	}
	table_set_add(out, table);
}

/* ---- operations ---- */

static int cmp_op(const void *pa, const void *pb, void *ctx)
{
	const struct module_telling *t = ctx;
	const struct program_op *a = pa, *b = pb;
	int r = strcmp(model_str(t->m, t->pw->runs.v[a->run].module),
		       model_str(t->m, t->pw->runs.v[b->run].module));

	r = r ? r : natural_cmp(model_str(t->m, a->name), model_str(t->m, b->name));
	r = r ? r : strcmp(model_str(t->m, a->name), model_str(t->m, b->name));
	if (r)
		return r;
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	return (a->end_ns > b->end_ns) - (a->end_ns < b->end_ns);
}

static const char *class_text(enum work_class class)
{
	return class == WORK_COLLECTIVE ? "collective" : class == WORK_COPY ? "copy" : "compute";
}

/* Of one operation; ns has room for all. What is cut, or is warm-up, is left out. */
static bool op_row(const struct module_telling *t, const struct program_op *v, size_t nr,
		   int64_t *ns, struct program_ops_row *ret)
{
	struct program_ops_row row = { .module = model_str(t->m, t->pw->runs.v[v->run].module),
				       .op = model_str(t->m, v->name),
				       .class = class_text(v->class) };
	size_t n = 0;

	for (size_t i = 0; i < nr; i++) {
		const struct program_run *r = &t->pw->runs.v[v[i].run];

		if (!r->steady || r->cut)
			continue;
		ns[n++] = v[i].end_ns - v[i].start_ns;
		row.works += (int64_t)v[i].works;
		row.total_ns = ns_add(row.total_ns, ns[n - 1]);
	}
	if (n == 0)
		return false;
	sort_i64(ns, n);
	row.calls = (int64_t)n;
	row.min_ns = ns[0];
	row.max_ns = ns[n - 1];
	row.mean_ns = (double)row.total_ns / (double)n;
	row.median_ns = sorted_median(ns, n);
	row.cost_ns = v->class == WORK_COLLECTIVE ? row.max_ns : row.min_ns;
	*ret = row;
	return true;
}

static bool same_op(const struct module_telling *t, const struct program_op *a,
		    const struct program_op *b)
{
	return a->name == b->name && t->pw->runs.v[a->run].module == t->pw->runs.v[b->run].module;
}

static void ops_table(const struct module_telling *t, struct table_set *out)
{
	struct table *table = table_make(&program_ops_form);
	struct program_op *v = t->pw->ops.v;
	size_t nr = t->pw->ops.nr;
	CLEANUP(xfreep) int64_t *ns = xcalloc(nr + 1, sizeof(*ns));
	VEC(struct program_ops_row) rows = VEC_INIT;
	double all = 0;

	if (nr)
		qsort_r(v, nr, sizeof(*v), cmp_op, (void *)t);
	for (size_t i = 0, end; i < nr; i = end) {
		struct program_ops_row row;

		for (end = i + 1; end < nr && same_op(t, &v[i], &v[end]); end++)
			;
		if (!op_row(t, &v[i], end - i, ns, &row))
			continue;
		all += (double)row.total_ns;
		VEC_PUSH(&rows, row);
	}
	for (size_t i = 0; i < rows.nr; i++) {
		rows.v[i].share = all > 0 ? (double)rows.v[i].total_ns / all : NAN;
		table_add(table, &rows.v[i]);
	}
	VEC_RELEASE(&rows);
	table_set_add(out, table);
}

static int program_modules_run(struct model *m, const struct analysis_opts *o,
			       struct table_set *out, struct err *err)
{
	struct module_telling t = { .m = m, .w = analysis_works(m, o) };
	int r = 0;

	(void)err;
	if (m->facts.programs.nr == 0)
		return table_set_skip(out, "program_modules", "nothing tells of compiled programs");
	t.pw = program_work_new(t.w);
	t.wait_ns = xcalloc(t.pw->runs.nr + 1, sizeof(*t.wait_ns));
	if (communicates(t.w))
		waits_find(&t);
	if (t.pw->runs.nr == 0) {
		r = table_set_skip(out, "program_modules", "no execution of a module is known");
	} else {
		modules_table(&t, out);
		ops_table(&t, out);
		program_sources_add(m, t.pw, o->programs, out);
	}
	free(t.wait_ns);
	program_work_free(t.pw);
	return r;
}

const struct analysis analysis_program_modules = {
	.name = "program_modules",
	.about = "modules of compiled programs (XLA) on devices, and their operations",
	.tables = { &program_modules_form, &program_ops_form, &program_sources_form },
	.run = program_modules_run,
	.needs_work = true,
};
