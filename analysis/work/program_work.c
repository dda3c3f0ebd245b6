#include "profrig/work/program_work.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/mix.h"
#include "profrig/base/natural.h"
#include "profrig/base/search.h"
#include "profrig/base/u64map.h"
#include "profrig/base/xalloc.h"

#define COMPILE "XlaCompile"
#define NO_OP (U64MAP_NONE - 1)

struct owning {
	const struct model *m;
	const struct works *w;
	struct program_work *pw;
	uint32_t *row_of;       /* span → row of facts.programs; PROGRAM_NONE */
	struct u64map runs;     /* by place, module and execution */
	struct u64map on_lines; /* modules with executions on a device's line */
	struct u64map op_at;    /* by row of the range that launched: in ops */
	struct u64map last_at;  /* by queue: in ops */
	/* operations on lines of devices, by execution, name and start */
	VEC(struct line_op {
		uint64_t key;
		int64_t start_ns, end_ns;
		uint32_t row;
	}) lines;
};

static const struct program_facts *row_at(const struct owning *x, uint32_t row)
{
	return &x->m->facts.programs.v[row];
}

static bool on_host(const struct owning *x, const struct program_facts *f)
{
	enum track_kind kind = x->m->tracks.v[x->m->spans.track[f->span]].kind;

	return kind == TRACK_THREAD || kind == TRACK_PROCESS;
}

/* Where executions of a name are counted (model/facts/program_runs.h). */
static uint64_t place_of(const struct owning *x, const struct program_facts *f)
{
	track_id at = x->m->spans.track[f->span], process;
	const struct track *t = &x->m->tracks.v[at];

	if (!on_host(x, f))
		return mix64((uint64_t)(t->kind == TRACK_QUEUE && t->parent != TRACK_NONE
						? t->parent
						: at)
				     << 1 |
			     1);
	process = model_process_of(x->m, at);
	return mix64(mix64((uint64_t)(process != TRACK_NONE ? process : at) << 1) ^
		     (uint64_t)f->device);
}

/* The execution of a row, which has one. */
static uint32_t run_of(struct owning *x, const struct program_facts *f)
{
	uint64_t place = place_of(x, f);
	uint64_t key = mix64(mix64(place ^ ((uint64_t)f->module << 1 | 1)) ^ f->execution);
	uint32_t *at = u64map_at(&x->runs, key);

	if (*at == U64MAP_NONE) {
		*at = (uint32_t)x->pw->runs.nr;
		VEC_PUSH(&x->pw->runs, ((struct program_run){ .module = f->module,
							      .number = f->execution,
							      .place = place,
							      .device = PROGRAM_NONE,
							      .job_device = f->device,
							      .span = SPAN_NONE }));
	}
	return *at;
}

static void line_op_add(struct owning *x, uint32_t run, uint32_t row)
{
	const struct program_facts *f = row_at(x, row);

	if (f->kind == PROGRAM_OP && f->op != STR_NONE && !on_host(x, f))
		VEC_PUSH(&x->lines,
			 ((struct line_op){ u64map_pair(run, f->op), x->m->spans.start_ns[f->span],
					    x->m->spans.end_ns[f->span], row }));
}

static int cmp_line_op(const void *pa, const void *pb)
{
	const struct line_op *a = pa, *b = pb;

	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	return (a->row > b->row) - (a->row < b->row);
}

/* The operation on the device's line that a work of it begins in; PROGRAM_NONE. */
static uint32_t line_op_of(const struct owning *x, uint32_t run, str_id op, int64_t t_ns)
{
	uint64_t key = u64map_pair(run, op);
	size_t after = LOWER_BOUND(at, 0, x->lines.nr,
				   x->lines.v[at].key < key || (x->lines.v[at].key == key &&
								x->lines.v[at].start_ns <= t_ns));
	const struct line_op *l = after ? &x->lines.v[after - 1] : NULL;

	return l && l->key == key && t_ns < l->end_ns ? l->row : PROGRAM_NONE;
}

static void rows_take(struct owning *x)
{
	for (uint32_t i = 0; i < x->m->facts.programs.nr; i++) {
		const struct program_facts *f = row_at(x, i);
		struct program_run *r;
		uint32_t run;

		x->row_of[f->span] = i;
		if (f->execution == FACT_NONE || f->module == STR_NONE)
			continue;
		if (!on_host(x, f))
			*u64map_at(&x->on_lines, f->module) = 1;
		run = run_of(x, f); /* may move all of them */
		r = &x->pw->runs.v[run];
		r->ops += f->kind == PROGRAM_OP;
		line_op_add(x, run, i);
		if (f->kind == PROGRAM_MODULE)
			r->span = f->span;
	}
	if (x->lines.nr)
		qsort(x->lines.v, x->lines.nr, sizeof(*x->lines.v), cmp_line_op);
}

/* ---- works ---- */

/* The row that a work belongs to: its own, else the innermost around its launch. */
static uint32_t row_of_work(const struct owning *x, const struct work *o)
{
	uint32_t row = x->row_of[o->span];

	for (uint64_t s = o->launch; row == PROGRAM_NONE && s != SPAN_NONE;
	     s = x->m->spans.parent[s])
		row = x->row_of[s];
	return row != PROGRAM_NONE && row_at(x, row)->execution != FACT_NONE &&
			       row_at(x, row)->module != STR_NONE
		       ? row
		       : PROGRAM_NONE;
}

static void run_add(struct program_run *r, const struct work *o)
{
	int64_t from = o->start_ns;

	if (r->works == 0) {
		r->start_ns = r->end_ns = o->start_ns;
		r->device = o->device;
	}
	if (from < r->end_ns)
		from = r->end_ns;
	if (o->end_ns > from)
		r->union_ns += o->end_ns - from;
	if (o->end_ns > r->end_ns)
		r->end_ns = o->end_ns;
	r->sum_ns += o->end_ns - o->start_ns;
	r->works++;
}

static void op_add(struct owning *x, uint32_t run, uint32_t row, const struct work *o)
{
	const struct program_facts *f = row_at(x, row);
	bool own = f->kind == PROGRAM_WORK;
	struct program_op *op = NULL;
	uint32_t *last, line;

	if (f->op == STR_NONE)
		return;
	line = own ? line_op_of(x, run, f->op, o->start_ns) : row;
	own = line == PROGRAM_NONE;
	last = own ? u64map_at(&x->last_at, o->queue) : u64map_at(&x->op_at, line);
	if (*last < NO_OP)
		op = &x->pw->ops.v[*last];
	if (!op || (own && (op->run != run || op->name != f->op))) {
		*last = (uint32_t)x->pw->ops.nr;
		VEC_PUSH(&x->pw->ops, ((struct program_op){ run, f->op, o->start_ns, o->end_ns, 0,
							    0, o->class }));
		op = &x->pw->ops.v[*last];
	}
	op->start_ns = o->start_ns < op->start_ns ? o->start_ns : op->start_ns;
	op->end_ns = o->end_ns > op->end_ns ? o->end_ns : op->end_ns;
	op->sum_ns += o->end_ns - o->start_ns;
	op->works++;
}

/* Works are by device and start. */
static void works_take(struct owning *x)
{
	for (size_t i = 0; i < x->w->v.nr; i++) {
		const struct work *o = &x->w->v.v[i];
		uint32_t row = row_of_work(x, o), run;

		x->pw->of_work[i] = PROGRAM_NONE;
		if (row == PROGRAM_NONE) {
			/* between others of its queue */
			*u64map_at(&x->last_at, o->queue) = NO_OP;
			x->pw->unowned++;
			continue;
		}
		run = run_of(x, row_at(x, row));
		x->pw->of_work[i] = run;
		run_add(&x->pw->runs.v[run], o);
		op_add(x, run, row, o);
	}
}

/* ---- executions ---- */

/* Executions without work are on the device that others of their place have work on. */
static void devices_settle(struct owning *x)
{
	CLEANUP(u64map_release) struct u64map at = U64MAP_INIT;

	for (size_t i = 0; i < x->pw->runs.nr; i++)
		if (x->pw->runs.v[i].device != PROGRAM_NONE)
			*u64map_at(&at, x->pw->runs.v[i].place) = x->pw->runs.v[i].device;
	for (size_t i = 0; i < x->pw->runs.nr; i++)
		if (x->pw->runs.v[i].device == PROGRAM_NONE)
			x->pw->runs.v[i].device = u64map_get(&at, x->pw->runs.v[i].place);
}

static const char *device_text(const struct owning *x, const struct program_run *r)
{
	return r->device == PROGRAM_NONE ? "" : model_str(x->m, x->w->devices.v[r->device].name);
}

static int cmp_run(const void *pa, const void *pb, void *ctx)
{
	const struct owning *x = ctx;
	const struct program_run *a = &x->pw->runs.v[*(const uint32_t *)pa];
	const struct program_run *b = &x->pw->runs.v[*(const uint32_t *)pb];
	int r = natural_cmp(device_text(x, a), device_text(x, b));

	if (r == 0 && a->device == PROGRAM_NONE && a->job_device != b->job_device)
		return a->job_device < b->job_device ? -1 : 1;
	if (r == 0)
		r = strcmp(model_str(x->m, a->module), model_str(x->m, b->module));
	if (r)
		return r;
	if (a->number != b->number)
		return a->number < b->number ? -1 : 1;
	return (a->span > b->span) - (a->span < b->span);
}

static bool left_out(const struct owning *x, const struct program_run *r)
{
	return r->works == 0 && r->span != SPAN_NONE &&
	       x->m->tracks.v[x->m->spans.track[r->span]].kind == TRACK_THREAD &&
	       u64map_get(&x->on_lines, r->module) != U64MAP_NONE;
}

static void runs_sort(struct owning *x)
{
	size_t nr = x->pw->runs.nr, to = 0;
	CLEANUP(xfreep) uint32_t *order = xcalloc(nr + 1, sizeof(*order));
	CLEANUP(xfreep) uint32_t *place = xcalloc(nr + 1, sizeof(*place));
	struct program_run *v = xcalloc(nr + 1, sizeof(*v));

	for (uint32_t i = 0; i < nr; i++)
		order[i] = i;
	qsort_r(order, nr, sizeof(*order), cmp_run, x);
	for (size_t i = 0; i < nr; i++) {
		place[order[i]] = (uint32_t)to;
		if (!left_out(x, &x->pw->runs.v[order[i]]))
			v[to++] = x->pw->runs.v[order[i]];
	}
	free(x->pw->runs.v);
	x->pw->runs.v = v;
	x->pw->runs.nr = to;
	x->pw->runs.cap = nr + 1;
	for (size_t i = 0; i < x->w->v.nr; i++)
		if (x->pw->of_work[i] != PROGRAM_NONE)
			x->pw->of_work[i] = place[x->pw->of_work[i]];
	for (size_t i = 0; i < x->pw->ops.nr; i++)
		x->pw->ops.v[i].run = place[x->pw->ops.v[i].run];
}

static bool same_module(const struct program_run *a, const struct program_run *b)
{
	return a->device == b->device && a->module == b->module &&
	       (a->device != PROGRAM_NONE || a->job_device == b->job_device);
}

/* Of the runs of one module on one device. */
static void tail_cut(struct program_run *v, size_t nr)
{
	double mean = 0, squares = 0, n = (double)(nr - 1);

	if (nr < 2)
		return;
	for (size_t i = 0; i + 1 < nr; i++)
		mean += (double)v[i].ops / n;
	for (size_t i = 0; i + 1 < nr; i++)
		squares += ((double)v[i].ops - mean) * ((double)v[i].ops - mean) / n;
	v[nr - 1].cut = (double)v[nr - 1].ops < mean - sqrt(squares);
}

/* Modules that communicate, and those that were compiled: one bit each. */
static void warmup_find(const struct owning *x, struct u64map *bits)
{
	for (size_t i = 0; i < x->w->v.nr; i++)
		if (x->pw->of_work[i] != PROGRAM_NONE && x->w->v.v[i].class == WORK_COLLECTIVE)
			*u64map_at(bits, x->pw->runs.v[x->pw->of_work[i]].module) = 1;
	for (size_t i = 0; i < x->m->facts.programs.nr; i++) {
		const struct program_facts *f = &x->m->facts.programs.v[i];
		uint32_t *b;

		if (f->kind != PROGRAM_COMPILE || f->module == STR_NONE || f->op == STR_NONE ||
		    strcmp(model_str(x->m, f->op), COMPILE) != 0)
			continue;
		b = u64map_at(bits, f->module);
		*b = (*b == U64MAP_NONE ? 0 : *b) | 2;
	}
}

static void runs_judge(struct owning *x)
{
	CLEANUP(u64map_release) struct u64map bits = U64MAP_INIT;
	struct program_run *v = x->pw->runs.v;

	warmup_find(x, &bits);
	for (size_t i = 0, end; i < x->pw->runs.nr; i = end) {
		uint32_t b = u64map_get(&bits, v[i].module);
		size_t told = b == U64MAP_NONE ? 0 : (b & 1) + (b >> 1);

		for (end = i + 1; end < x->pw->runs.nr && same_module(&v[i], &v[end]); end++)
			;
		tail_cut(&v[i], end - i);
		x->pw->all_warmup |= told >= end - i;
		if (told >= end - i)
			told = 0;
		for (size_t k = i; k < end; k++)
			v[k].steady = k - i >= told;
	}
}

struct program_work *program_work_new(const struct works *w)
{
	struct owning x = { .m = w->m, .w = w };

	x.pw = xcalloc(1, sizeof(*x.pw));
	x.pw->of_work = xcalloc(w->v.nr + 1, sizeof(*x.pw->of_work));
	x.row_of = xmalloc((w->m->spans.nr + 1) * sizeof(*x.row_of));
	memset(x.row_of, 0xff, (w->m->spans.nr + 1) * sizeof(*x.row_of));
	rows_take(&x);
	works_take(&x);
	devices_settle(&x);
	runs_sort(&x);
	runs_judge(&x);
	free(x.row_of);
	u64map_release(&x.runs);
	u64map_release(&x.on_lines);
	u64map_release(&x.op_at);
	u64map_release(&x.last_at);
	VEC_RELEASE(&x.lines);
	return x.pw;
}

void program_work_free(struct program_work *pw)
{
	if (!pw)
		return;
	VEC_RELEASE(&pw->runs);
	VEC_RELEASE(&pw->ops);
	free(pw->of_work);
	free(pw);
}
