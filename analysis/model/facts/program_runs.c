#include "program_runs.h"
#include "model_private.h"

#include "profrig/base/mix.h"
#include "profrig/base/sort.h"
#include "profrig/base/u64map.h"
#include "profrig/base/xalloc.h"

/* An execution of a module. */
struct program_run {
	uint32_t row; /* of its module; FACT_NONE: run numbers tell it */
	uint32_t number;
	str_id module;
	int64_t end_ns;
};

struct run_counting {
	struct model *m;
	VEC(struct program_run) runs;
	struct u64map counts;  /* by place and module: executions so far */
	struct u64map by_run;  /* by place, module and run number: in runs */
	struct u64map modules; /* by place and module: there are PROGRAM_MODULE rows */
	struct u64map line_at; /* by thread or device: in lines */
	VEC(struct open_runs { VEC(uint32_t) v; }) lines;
	struct u64map ordinals; /* by execution, kind and operation: how many so far */
	uint64_t lost;
	uint32_t lost_row; /* the first one */
};

static const struct track *track_of(const struct run_counting *rc, const struct program_facts *f,
				    track_id *ret)
{
	*ret = rc->m->spans.track[f->span];
	return &rc->m->tracks.v[*ret];
}

/* The thread of a row, or its device; the lowest bit tells them apart. */
static uint64_t line_of(const struct run_counting *rc, const struct program_facts *f)
{
	track_id at;
	const struct track *t = track_of(rc, f, &at);

	if (t->kind == TRACK_THREAD || t->kind == TRACK_PROCESS)
		return (uint64_t)at << 1;
	return (uint64_t)(t->kind == TRACK_QUEUE && t->parent != TRACK_NONE ? t->parent : at) << 1 |
	       1;
}

static uint64_t place_of(const struct run_counting *rc, const struct program_facts *f)
{
	uint64_t line = line_of(rc, f);
	track_id process;

	if (line & 1)
		return mix64(line);
	process = model_process_of(rc->m, (track_id)(line >> 1));
	if (process != TRACK_NONE)
		line = (uint64_t)process << 1;
	return mix64(mix64(line) ^ (uint64_t)f->device);
}

static uint64_t module_key(uint64_t place, str_id module)
{
	return mix64(place ^ ((uint64_t)module << 1 | 1));
}

static uint64_t run_key(uint64_t place, const struct program_facts *f)
{
	return mix64(module_key(place, f->module) ^ (uint64_t)f->run);
}

static uint32_t run_add(struct run_counting *rc, uint64_t place, const struct program_facts *f,
			uint32_t row)
{
	uint32_t *count = u64map_at(&rc->counts, module_key(place, f->module)), *id;
	uint32_t at = (uint32_t)rc->runs.nr;

	*count = *count == U64MAP_NONE ? 0 : *count + 1;
	VEC_PUSH(&rc->runs,
		 ((struct program_run){ row, *count, f->module, rc->m->spans.end_ns[f->span] }));
	if (f->run == FACT_ABSENT)
		return at;
	/* of several with one number the first has it */
	id = u64map_at(&rc->by_run, run_key(place, f));
	if (*id == U64MAP_NONE)
		*id = at;
	return at;
}

/* ---- executions around a row ---- */

static struct open_runs *line_open(struct run_counting *rc, const struct program_facts *f)
{
	uint32_t *at = u64map_at(&rc->line_at, line_of(rc, f));

	if (*at == U64MAP_NONE) {
		*at = (uint32_t)rc->lines.nr;
		VEC_PUSH(&rc->lines, (struct open_runs){ VEC_INIT });
	}
	return &rc->lines.v[*at];
}

static void runs_close(struct run_counting *rc, struct open_runs *o, int64_t now_ns)
{
	while (o->v.nr > 0 && rc->runs.v[o->v.v[o->v.nr - 1]].end_ns <= now_ns)
		o->v.nr--;
}

static uint32_t run_around(struct run_counting *rc, const struct program_facts *f)
{
	struct open_runs *o = line_open(rc, f);
	int64_t now_ns = rc->m->spans.start_ns[f->span];

	runs_close(rc, o, now_ns);
	for (size_t i = o->v.nr; i > 0 && o->v.nr - i < PROGRAM_RUNS_OPEN; i--) {
		const struct program_run *r = &rc->runs.v[o->v.v[i - 1]];

		if (r->end_ns > now_ns && (f->module == STR_NONE || f->module == r->module))
			return o->v.v[i - 1];
	}
	return FACT_NONE;
}

static uint32_t run_numbered(struct run_counting *rc, uint64_t place, const struct program_facts *f)
{
	uint32_t id;

	if (f->run == FACT_ABSENT || f->module == STR_NONE)
		return FACT_NONE;
	id = u64map_get(&rc->by_run, run_key(place, f));
	if (id == U64MAP_NONE &&
	    u64map_get(&rc->modules, module_key(place, f->module)) == U64MAP_NONE)
		id = run_add(rc, place, f, FACT_NONE);
	return id;
}

/* ---- rows ---- */

static void row_inherit(const struct run_counting *rc, struct program_facts *f, uint32_t from)
{
	const struct program_facts *up;

	if (from == FACT_NONE)
		return;
	up = &rc->m->facts.programs.v[from];
	f->module = f->module == STR_NONE ? up->module : f->module;
	f->fingerprint = f->fingerprint == STR_NONE ? up->fingerprint : f->fingerprint;
	f->program_id = f->program_id == FACT_ABSENT ? up->program_id : f->program_id;
	f->run = f->run == FACT_ABSENT ? up->run : f->run;
	f->device = f->device == FACT_ABSENT ? up->device : f->device;
}

static void module_take(struct run_counting *rc, uint32_t row)
{
	struct program_facts *f = &rc->m->facts.programs.v[row];
	struct open_runs *o;
	uint32_t run;

	if (f->module == STR_NONE)
		return;
	run = run_add(rc, place_of(rc, f), f, row);
	f->execution = rc->runs.v[run].number;
	o = line_open(rc, f);
	runs_close(rc, o, rc->m->spans.start_ns[f->span]);
	VEC_PUSH(&o->v, run);
}

static void op_take(struct run_counting *rc, uint32_t row)
{
	struct program_facts *f = &rc->m->facts.programs.v[row];
	uint32_t run = run_numbered(rc, place_of(rc, f), f), *count;

	if (run == FACT_NONE)
		run = run_around(rc, f);
	if (run == FACT_NONE) {
		if (f->module == STR_NONE && rc->lost++ == 0)
			rc->lost_row = row;
		return;
	}
	row_inherit(rc, f, rc->runs.v[run].row);
	f->execution = rc->runs.v[run].number;
	if (f->op == STR_NONE)
		return;
	count = u64map_at(&rc->ordinals, mix64(u64map_pair(run, f->op) ^ mix64((uint64_t)f->kind)));
	*count = *count == U64MAP_NONE ? 0 : *count + 1;
	f->ordinal = *count;
}

static void row_take(struct run_counting *rc, uint32_t row)
{
	switch (rc->m->facts.programs.v[row].kind) {
	case PROGRAM_MODULE:
		module_take(rc, row);
		return;
	case PROGRAM_OP:
	case PROGRAM_WORK:
		op_take(rc, row);
		return;
	case PROGRAM_UNKNOWN:
	case PROGRAM_COMPILE:
		return;
	}
}

/* Rows by start, the longer first; of equal ones modules come first. Owned. */
static struct sort_span *rows_by_start(struct run_counting *rc)
{
	const struct model *m = rc->m;
	size_t nr = m->facts.programs.nr, to = 0;
	struct sort_span *v = xreallocarray(NULL, nr, sizeof(*v));

	for (int modules = 1; modules >= 0; modules--) {
		for (size_t i = 0; i < nr; i++) {
			const struct program_facts *f = &m->facts.programs.v[i];

			if ((f->kind == PROGRAM_MODULE) != modules)
				continue;
			if (modules && f->module != STR_NONE)
				*u64map_at(&rc->modules, module_key(place_of(rc, f), f->module)) =
					0;
			v[to++] = (struct sort_span){ m->spans.start_ns[f->span],
						      m->spans.end_ns[f->span], i };
		}
	}
	sort_spans(v, nr);
	return v;
}

static void counting_release(struct run_counting *rc)
{
	for (size_t i = 0; i < rc->lines.nr; i++)
		VEC_RELEASE(&rc->lines.v[i].v);
	VEC_RELEASE(&rc->lines);
	VEC_RELEASE(&rc->runs);
	u64map_release(&rc->counts);
	u64map_release(&rc->by_run);
	u64map_release(&rc->modules);
	u64map_release(&rc->line_at);
	u64map_release(&rc->ordinals);
}

void program_runs_number(struct model *m)
{
	struct run_counting rc = { .m = m };
	struct sort_span *rows;
	uint64_t span;

	if (m->facts.programs.nr == 0)
		return;
	rows = rows_by_start(&rc);
	for (size_t i = 0; i < m->facts.programs.nr; i++)
		row_take(&rc, (uint32_t)rows[i].row);
	free(rows);
	if (rc.lost) {
		span = m->facts.programs.v[rc.lost_row].span;
		model_warn(m, span_input(&m->spans, span), W_OP_WITHOUT_MODULE, rc.lost,
			   "'%s' lies in no execution of a module",
			   model_str(m, m->spans.name[span]));
	}
	counting_release(&rc);
}
