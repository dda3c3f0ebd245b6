#include "program_runs.h"
#include "model_private.h"
#include "program_order.h"

#include "profrig/base/mix.h"
#include "profrig/base/u64map.h"
#include "profrig/base/xalloc.h"

/* An execution of a module. */
struct program_run {
	uint32_t row; /* of its module; FACT_NONE: run numbers tell it */
	uint32_t number, series;
	str_id module;
	int64_t end_ns;
	bool numbered; /* its rows may come at any time */
};

/* Rows so far of one kind and operation in an execution of their series, the last one that came. */
struct op_count {
	uint32_t run, nr;
};

/* What an execution that another took the place of had. */
struct op_before {
	uint32_t count, run, nr; /* count: in run_counting.ops */
};

struct run_counting {
	struct model *m;
	VEC(struct program_run) runs;
	struct u64map series_of; /* by place and module: in series */
	VEC(uint32_t) series;    /* executions so far */
	struct u64map by_run;    /* by place, module and run number: in runs */
	struct u64map modules;   /* by place and module: there are PROGRAM_MODULE rows */
	bool modules_known;      /* asked for, and so filled */
	struct track_place {     /* by track */
		uint64_t place;
		uint32_t line;   /* of its thread or device: in lines */
		bool of_devices; /* the place differs by the device that a row states */
	} * at;
	VEC(struct open_runs { VEC(uint32_t) v; }) lines;
	struct u64map op_at; /* by series, kind and operation: in ops */
	VEC(struct op_count) ops;
	VEC(struct op_before) befores; /* all that may come back; a log until the first one does */
	struct u64map before_at;       /* by count and run: in befores, the last */
	size_t mapped;                 /* of befores, are in before_at */
	uint64_t lost;
	uint32_t lost_row; /* the first one */
};

/* ---- places ---- */

static struct open_runs *line_open(struct run_counting *rc, const struct program_facts *f)
{
	return &rc->lines.v[rc->at[rc->m->spans.track[f->span]].line];
}

static uint64_t place_of(const struct run_counting *rc, const struct program_facts *f)
{
	const struct track_place *t = &rc->at[rc->m->spans.track[f->span]];

	return t->of_devices ? mix64(t->place ^ (uint64_t)f->device) : t->place;
}

/* The thread of a track, or its device; the lowest bit tells them apart. */
static uint64_t line_of(const struct model *m, track_id at)
{
	const struct track *t = &m->tracks.v[at];

	if (t->kind == TRACK_THREAD || t->kind == TRACK_PROCESS)
		return (uint64_t)at << 1;
	return (uint64_t)(t->kind == TRACK_QUEUE && t->parent != TRACK_NONE ? t->parent : at) << 1 |
	       1;
}

static void places_find(struct run_counting *rc)
{
	CLEANUP(u64map_release) struct u64map line_at = U64MAP_INIT;

	rc->at = xcalloc(rc->m->tracks.nr + 1, sizeof(*rc->at));
	for (size_t i = 0; i < rc->m->tracks.nr; i++) {
		uint64_t line = line_of(rc->m, (track_id)i);
		uint32_t *at = u64map_at(&line_at, line);
		track_id process;

		if (*at == U64MAP_NONE) {
			*at = (uint32_t)rc->lines.nr;
			VEC_PUSH(&rc->lines, (struct open_runs){ VEC_INIT });
		}
		rc->at[i].line = *at;
		rc->at[i].of_devices = !(line & 1);
		process = line & 1 ? TRACK_NONE : model_process_of(rc->m, (track_id)i);
		if (process != TRACK_NONE)
			line = (uint64_t)process << 1;
		rc->at[i].place = mix64(line);
	}
}

static uint64_t module_key(uint64_t place, str_id module)
{
	return mix64(place ^ ((uint64_t)module << 1 | 1));
}

static uint64_t run_key(uint64_t place, const struct program_facts *f)
{
	return mix64(module_key(place, f->module) ^ (uint64_t)f->run);
}

static uint32_t series_at(struct run_counting *rc, uint64_t key)
{
	uint32_t *at = u64map_at(&rc->series_of, key);

	if (*at == U64MAP_NONE) {
		*at = (uint32_t)rc->series.nr;
		VEC_PUSH(&rc->series, 0);
	}
	return *at;
}

static uint32_t run_add(struct run_counting *rc, uint64_t place, const struct program_facts *f,
			uint32_t row)
{
	uint32_t at = (uint32_t)rc->runs.nr, *id;
	struct program_run r = { .row = row,
				 .series = series_at(rc, module_key(place, f->module)),
				 .module = f->module,
				 .end_ns = rc->m->spans.end_ns[f->span],
				 .numbered = f->run != FACT_ABSENT };

	r.number = rc->series.v[r.series]++;
	VEC_PUSH(&rc->runs, r);
	if (!r.numbered)
		return at;
	/* of several with one number the first has it */
	id = u64map_at(&rc->by_run, run_key(place, f));
	if (*id == U64MAP_NONE)
		*id = at;
	return at;
}

/* ---- executions around a row ---- */

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

/* Whether the place has rows of a module. */
static bool has_module(struct run_counting *rc, uint64_t place, str_id module)
{
	const struct program_facts *v = rc->m->facts.programs.v;

	for (size_t i = 0; !rc->modules_known && i < rc->m->facts.programs.nr; i++)
		if (v[i].kind == PROGRAM_MODULE && v[i].module != STR_NONE)
			*u64map_at(&rc->modules, module_key(place_of(rc, &v[i]), v[i].module)) = 0;
	rc->modules_known = true;
	return u64map_get(&rc->modules, module_key(place, module)) != U64MAP_NONE;
}

static uint32_t run_numbered(struct run_counting *rc, const struct program_facts *f)
{
	uint64_t place;
	uint32_t id;

	if (f->run == FACT_ABSENT || f->module == STR_NONE)
		return FACT_NONE;
	place = place_of(rc, f);
	id = u64map_get(&rc->by_run, run_key(place, f));
	if (id == U64MAP_NONE && !has_module(rc, place, f->module))
		id = run_add(rc, place, f, FACT_NONE);
	return id;
}

/* ---- operations of an execution ---- */

static void befores_map(struct run_counting *rc)
{
	for (; rc->mapped < rc->befores.nr; rc->mapped++) {
		const struct op_before *b = &rc->befores.v[rc->mapped];

		*u64map_at(&rc->before_at, u64map_pair(b->count, b->run)) = (uint32_t)rc->mapped;
	}
}

/* How many rows an execution had that is older than the one that came last. */
static uint32_t count_before(struct run_counting *rc, uint32_t count, uint32_t run)
{
	uint32_t at;

	befores_map(rc);
	at = u64map_get(&rc->before_at, u64map_pair(count, run));
	return at == U64MAP_NONE ? 0 : rc->befores.v[at].nr;
}

/* Whether rows behind this time may belong to it. */
static bool may_come_back(const struct run_counting *rc, uint32_t run, int64_t now_ns)
{
	return rc->runs.v[run].numbered || rc->runs.v[run].end_ns > now_ns;
}

/* Executions mostly come one after the other: the last one's count is at hand. */
static uint32_t ordinal_next(struct run_counting *rc, const struct program_facts *f, uint32_t run)
{
	uint64_t key = mix64(u64map_pair(rc->runs.v[run].series, f->op) ^ mix64((uint64_t)f->kind));
	uint32_t *at = u64map_at(&rc->op_at, key), id = *at, before;
	struct op_count *c;

	if (id == U64MAP_NONE) {
		*at = id = (uint32_t)rc->ops.nr;
		VEC_PUSH(&rc->ops, ((struct op_count){ .run = run }));
	}
	c = &rc->ops.v[id];
	if (c->run == run)
		return c->nr++;
	before = c->run;
	if (may_come_back(rc, before, rc->m->spans.start_ns[f->span]))
		VEC_PUSH(&rc->befores, ((struct op_before){ id, before, c->nr }));
	c->nr = run < before || rc->mapped ? count_before(rc, id, run) : 0;
	c->run = run;
	return c->nr++;
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
	uint32_t run = run_numbered(rc, f);

	if (run == FACT_NONE)
		run = run_around(rc, f);
	if (run == FACT_NONE) {
		if (f->module == STR_NONE && rc->lost++ == 0)
			rc->lost_row = row;
		return;
	}
	row_inherit(rc, f, rc->runs.v[run].row);
	f->execution = rc->runs.v[run].number;
	if (f->op != STR_NONE)
		f->ordinal = ordinal_next(rc, f, run);
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

static void counting_release(struct run_counting *rc)
{
	for (size_t i = 0; i < rc->lines.nr; i++)
		VEC_RELEASE(&rc->lines.v[i].v);
	VEC_RELEASE(&rc->lines);
	VEC_RELEASE(&rc->runs);
	VEC_RELEASE(&rc->series);
	VEC_RELEASE(&rc->ops);
	VEC_RELEASE(&rc->befores);
	u64map_release(&rc->series_of);
	u64map_release(&rc->by_run);
	u64map_release(&rc->modules);
	u64map_release(&rc->op_at);
	u64map_release(&rc->before_at);
	free(rc->at);
}

void program_runs_number(struct model *m)
{
	struct run_counting rc = { .m = m };
	struct program_order order;
	uint64_t span;
	uint32_t row;

	if (m->facts.programs.nr == 0)
		return;
	places_find(&rc);
	program_order_begin(&order, m);
	while (program_order_next(&order, &row))
		row_take(&rc, row);
	program_order_release(&order);
	if (rc.lost) {
		span = m->facts.programs.v[rc.lost_row].span;
		model_warn(m, span_input(&m->spans, span), W_OP_WITHOUT_MODULE, rc.lost,
			   "'%s' lies in no execution of a module",
			   model_str(m, m->spans.name[span]));
	}
	counting_release(&rc);
}
