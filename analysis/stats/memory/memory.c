/*
 * memory: how much memory a framework's allocator held, at most and when, and which operators had
 * allocated what was live then. From the allocator's events (facts.h, struct memory_facts).
 *
 * Of each process and device, events in order of time:
 *	base		bytes that were live before the first event: its total less its own bytes
 *	peak		the largest total when it is first reached, at peak_t after the first event
 *	live_bytes	of it, in blocks whose allocation the trace has; peak − live_bytes were
 *			allocated before
 *	fragmentation	(reserved − peak) / reserved, as the allocator states both at the peak
 *	mismatches	events whose total is not the last one and their own bytes
 *	unknown_frees	frees of blocks whose allocation the trace lacks
 * Recordings of 2021 have no totals: the curve begins at 0 then, base, reserved and mismatches are
 * unknown, and peak is above the unknown base. Events without bytes do not count (bad_events).
 *
 * O(n log n).
 */
#include "analyses_private.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/u64map.h"
#include "profrig/base/xalloc.h"
#include "profrig/model/facts.h"
#include "profrig/names/api_names.h"

/* clang-format off */
#define MEMORY(X) \
	X(STR, device) X(F64, base) X(I64, peak) X(I64, peak_t) X(F64, reserved) \
	X(F64, fragmentation) X(I64, live_bytes) X(I64, live_blocks) X(I64, allocs) X(I64, frees) \
	X(I64, alloc_bytes) X(I64, free_bytes) X(F64, max_reserved) X(I64, unknown_frees) \
	X(F64, mismatches) X(I64, bad_events) X(I64, first_ns)
#define MEMORY_PEAK(X) X(STR, device) X(STR, op) X(I64, blocks) X(I64, bytes)
#define MEMORY_TIMELINE(X) \
	X(STR, device) X(I64, t_ns) X(I64, dt_ns) X(I64, allocated) X(I64, allocated_max) \
	X(F64, reserved)
/* clang-format on */
TABLE_FORM(memory, MEMORY, "one row per device: memory that the framework's allocator held");
TABLE_FORM(memory_peak, MEMORY_PEAK,
	   "blocks that were live at the peak of a device, by the operator that allocated them");

TABLE_FORM(memory_timeline, MEMORY_TIMELINE,
	   "bytes that the allocator held over time; at most 2000 parts of a device's events");

#define MAX_PARTS 2000

struct event {
	const struct memory_facts *f;
	track_id process;
	int64_t t_ns;
};

/* Host first, then devices by number. */
static int64_t device_key(const struct memory_facts *f)
{
	return !f->on_device ? -1 : f->device == FACT_ABSENT ? INT64_MAX : f->device;
}

static int cmp_event(const void *pa, const void *pb)
{
	const struct event *a = pa, *b = pb;
	int64_t da = device_key(a->f), db = device_key(b->f);

	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	if (da != db)
		return da < db ? -1 : 1;
	if (a->t_ns != b->t_ns)
		return a->t_ns < b->t_ns ? -1 : 1;
	return a->f->span < b->f->span ? -1 : a->f->span > b->f->span;
}

/* ---- the curve of one device ---- */

struct block {
	int64_t bytes;
	uint64_t span; /* of its event */
	bool live;
};

struct memory_curve {
	const struct model *m;
	const struct event *v;
	size_t nr;
	struct u64map at; /* by address: the block there last */
	VEC(struct block) blocks;
	struct memory_row row;
	size_t peak_event; /* nr: there is none */
	int64_t live_bytes, live_blocks;
	int64_t *totals; /* after each event; NULL: not wanted */
};

/* Sizes are bounded one by one; together they may be more than fits. */
static int64_t add_capped(int64_t a, int64_t b)
{
	int64_t sum;

	if (__builtin_add_overflow(a, b, &sum))
		return b < 0 ? INT64_MIN : INT64_MAX;
	return sum;
}

static void block_put(struct memory_curve *c, const struct memory_facts *f)
{
	uint32_t *at = u64map_at(&c->at, (uint64_t)f->address);

	if (*at != U64MAP_NONE && c->blocks.v[*at].live) { /* its free is missing */
		c->live_bytes -= c->blocks.v[*at].bytes;
		c->live_blocks--;
		c->blocks.v[*at].live = false;
	}
	*at = (uint32_t)c->blocks.nr;
	VEC_PUSH(&c->blocks, ((struct block){ f->bytes, f->span, true }));
	c->live_bytes = add_capped(c->live_bytes, f->bytes);
	c->live_blocks++;
}

static void block_take(struct memory_curve *c, const struct memory_facts *f)
{
	uint32_t at = u64map_get(&c->at, (uint64_t)f->address);

	if (at == U64MAP_NONE || !c->blocks.v[at].live) {
		c->row.unknown_frees++;
		return;
	}
	c->blocks.v[at].live = false;
	c->live_bytes -= c->blocks.v[at].bytes;
	c->live_blocks--;
}

static void block_change(struct memory_curve *c, const struct memory_facts *f)
{
	if (f->bytes >= 0) {
		c->row.allocs++;
		c->row.alloc_bytes = add_capped(c->row.alloc_bytes, f->bytes);
	} else {
		c->row.frees++;
		c->row.free_bytes = add_capped(c->row.free_bytes, -f->bytes);
	}
	if (f->address == FACT_ABSENT)
		return;
	if (f->bytes >= 0)
		block_put(c, f);
	else
		block_take(c, f);
}

/* The total after an event. The first one that the trace states sets the base. */
static int64_t total_after(struct memory_curve *c, size_t i, int64_t before)
{
	const struct memory_facts *f = c->v[i].f;
	int64_t sum = add_capped(before, f->bytes);

	if (f->allocated == FACT_ABSENT)
		return sum;
	if (!isnan(c->row.base)) {
		c->row.mismatches += sum != f->allocated;
		return f->allocated;
	}
	c->row.base = (double)f->allocated - (double)sum;
	c->row.mismatches = 0;
	if (c->peak_event < c->nr)
		c->row.peak = add_capped(c->row.peak, f->allocated - sum);
	for (size_t k = 0; c->totals && k < i; k++)
		c->totals[k] = add_capped(c->totals[k], f->allocated - sum);
	return f->allocated;
}

static void at_peak(struct memory_curve *c, size_t i, int64_t total)
{
	const struct memory_facts *f = c->v[i].f;

	c->peak_event = i;
	c->row.peak = total;
	c->row.peak_t = c->v[i].t_ns - c->v[0].t_ns;
	c->row.live_bytes = c->live_bytes;
	c->row.live_blocks = c->live_blocks;
	c->row.reserved = f->reserved == FACT_ABSENT ? NAN : (double)f->reserved;
	c->row.fragmentation =
		f->reserved > 0 ? (double)(f->reserved - total) / (double)f->reserved : NAN;
}

static void curve_walk(struct memory_curve *c)
{
	int64_t total = 0;

	c->peak_event = c->nr;
	for (size_t i = 0; i < c->nr; i++) {
		const struct memory_facts *f = c->v[i].f;

		if (f->bytes == FACT_ABSENT) {
			c->row.bad_events++;
			if (c->totals)
				c->totals[i] = total;
			continue;
		}
		block_change(c, f);
		total = total_after(c, i, total);
		if (c->totals)
			c->totals[i] = total;
		if (f->reserved != FACT_ABSENT && !((double)f->reserved <= c->row.max_reserved))
			c->row.max_reserved = (double)f->reserved;
		if (c->peak_event == c->nr || total > c->row.peak)
			at_peak(c, i, total);
	}
}

/* ---- the curve as a page draws it ---- */

static void timeline_add(const struct memory_curve *c, struct table *t)
{
	int64_t first = c->v[0].t_ns, length = c->v[c->nr - 1].t_ns - first;
	int64_t step = c->nr <= MAX_PARTS ? 1 : length / MAX_PARTS + 1;

	for (size_t i = 0, end; i < c->nr; i = end) {
		int64_t part = (c->v[i].t_ns - first) / step, max = c->totals[i];
		double reserved = NAN;

		for (end = i; end < c->nr && (c->v[end].t_ns - first) / step == part; end++) {
			if (c->totals[end] > max)
				max = c->totals[end];
			if (c->v[end].f->reserved != FACT_ABSENT &&
			    !((double)c->v[end].f->reserved <= reserved))
				reserved = (double)c->v[end].f->reserved;
		}
		table_add(t, &(struct memory_timeline_row){
				     c->row.device, c->v[i].t_ns - c->m->first_ns,
				     (end < c->nr ? c->v[end].t_ns : c->v[end - 1].t_ns) -
					     c->v[i].t_ns,
				     c->totals[end - 1], max, reserved });
	}
}

/* ---- which operator allocated ---- */

/* The innermost call around an allocation that is none of a GPU's API. */
static str_id op_of(const struct model *m, uint64_t span)
{
	uint64_t p = span_parent(&m->spans, span);

	while (p != SPAN_NONE && api_class(model_str(m, m->spans.name[p])) != API_NONE)
		p = span_parent(&m->spans, p);
	return p == SPAN_NONE ? STR_NONE : m->spans.name[p];
}

struct op_bytes {
	const char *op;
	int64_t blocks, bytes;
};

static int cmp_op_bytes(const void *pa, const void *pb)
{
	const struct op_bytes *a = pa, *b = pb;

	if (a->bytes != b->bytes)
		return a->bytes > b->bytes ? -1 : 1;
	return strcmp(a->op, b->op);
}

/* The blocks that are live after the peak's event: the walk again, up to there. */
static void peak_table(struct memory_curve *whole, struct table *t)
{
	struct memory_curve c = { .m = whole->m, .v = whole->v, .nr = whole->peak_event + 1 };
	struct u64map of_op = U64MAP_INIT;
	VEC(struct op_bytes) ops = VEC_INIT;

	c.row = (struct memory_row){ .base = NAN };
	curve_walk(&c);
	for (size_t i = 0; i < c.blocks.nr; i++) {
		str_id op = c.blocks.v[i].live ? op_of(c.m, c.blocks.v[i].span) : STR_NONE;
		uint32_t *at;

		if (!c.blocks.v[i].live)
			continue;
		at = u64map_at(&of_op, op);
		if (*at == U64MAP_NONE) {
			*at = (uint32_t)ops.nr;
			VEC_PUSH(&ops,
				 ((struct op_bytes){
					 op == STR_NONE ? "[no op]" : model_str(c.m, op), 0, 0 }));
		}
		ops.v[*at].blocks++;
		ops.v[*at].bytes = add_capped(ops.v[*at].bytes, c.blocks.v[i].bytes);
	}
	if (ops.nr)
		qsort(ops.v, ops.nr, sizeof(*ops.v), cmp_op_bytes);
	for (size_t i = 0; i < ops.nr; i++)
		table_add(t, &(struct memory_peak_row){ whole->row.device, ops.v[i].op,
							ops.v[i].blocks, ops.v[i].bytes });
	VEC_RELEASE(&ops);
	VEC_RELEASE(&c.blocks);
	u64map_release(&c.at);
	u64map_release(&of_op);
}

/* ---- the tables ---- */

/* "gpu0", "cpu"; before it the rank or the process where several have memory. */
static char *device_name(const struct model *m, const struct event *e, bool several)
{
	const struct track *p = e->process == TRACK_NONE ? NULL : &m->tracks.v[e->process];
	CLEANUP(xfreep)
	char *plain = !e->f->on_device              ? xstrdup("cpu")
		      : e->f->device == FACT_ABSENT ? xstrdup("gpu")
						    : xasprintf("gpu%" PRId64, e->f->device);

	if (!several || !p)
		return STEAL(plain);
	return p->rank != RANK_NONE ? xasprintf("rank %d/%s", p->rank, plain)
				    : xasprintf("process %" PRId64 "/%s", p->pid, plain);
}

static void device_add(const struct model *m, const struct event *v, size_t nr, bool several,
		       struct table *memory, struct table *peak, struct table *over_time)
{
	CLEANUP(xfreep) char *name = device_name(m, v, several);
	struct memory_curve c = { .m = m, .v = v, .nr = nr };

	c.row = (struct memory_row){ .device = name,
				     .base = NAN,
				     .reserved = NAN,
				     .fragmentation = NAN,
				     .max_reserved = NAN,
				     .mismatches = NAN,
				     .first_ns = v[0].t_ns - m->first_ns };
	c.totals = xreallocarray(NULL, nr, sizeof(*c.totals));
	curve_walk(&c);
	table_add(memory, &c.row);
	timeline_add(&c, over_time);
	if (c.peak_event < nr)
		peak_table(&c, peak);
	free(c.totals);
	VEC_RELEASE(&c.blocks);
	u64map_release(&c.at);
}

static int memory_run(struct model *m, const struct analysis_opts *o, struct table_set *out,
		      struct err *err)
{
	size_t nr = m->facts.memory.nr;
	struct event *v;
	struct table *memory, *peak, *over_time;
	bool several;

	(void)o;
	(void)err;
	if (nr == 0)
		return table_set_skip(out, "memory",
				      "the inputs have no events of an allocator (PyTorch's "
				      "profile_memory=True records them)");
	model_nest(m);
	v = xcalloc(nr, sizeof(*v));
	for (size_t i = 0; i < nr; i++) {
		const struct memory_facts *f = &m->facts.memory.v[i];

		v[i] = (struct event){ f, model_process_of(m, m->spans.track[f->span]),
				       m->spans.start_ns[f->span] };
	}
	qsort(v, nr, sizeof(*v), cmp_event);
	several = v[0].process != v[nr - 1].process;
	memory = table_make(&memory_form);
	peak = table_make(&memory_peak_form);
	over_time = table_make(&memory_timeline_form);
	for (size_t i = 0, end; i < nr; i = end) {
		for (end = i + 1; end < nr && v[end].process == v[i].process &&
				  device_key(v[end].f) == device_key(v[i].f);
		     end++)
			;
		device_add(m, v + i, end - i, several, memory, peak, over_time);
	}
	free(v);
	table_set_add(out, memory);
	table_set_add(out, peak);
	table_set_add(out, over_time);
	return 0;
}

const struct analysis analysis_memory = {
	.name = "memory",
	.about = "memory of a framework's allocator: peak, what was live then, fragmentation",
	.tables = { &memory_form, &memory_peak_form, &memory_timeline_form },
	.run = memory_run,
	.needs_calls = true,
};
