/*
 * Events have picoseconds since their line's start. Ends are rounded like starts, so what lies
 * inside another does so in nanoseconds, too.
 *
 * Work is what streams have; cores without streams (TPU) have a line of operations in which loops
 * and calls hold what they run: an event that holds the one behind it is no work. Lines that the
 * profiler derives from the work show it again, as modules, operations, steps or source lines:
 * these are annotations, and tell the program.
 */
#include "xplane.h"

#include <inttypes.h>

struct event {
	struct xplane_slice body;
	uint64_t id;
	int64_t offset_ps, duration_ps;
	bool aggregated, sound;
	struct xplane_event_meta *meta; /* NULL: the plane has no such row */
	struct xplane_said said;
};

/* A span, and what is known of it. */
struct made {
	struct span_def span;
	struct span_facts facts[2];
	size_t nr;
};

struct line {
	const struct xplane_line *def;
	enum xplane_line_kind kind;
	track_id track;
	str_id category;
	bool modules, ops; /* a line that tells the program */
	bool waits;        /* held is there */
	struct made held;  /* of XPLANE_OPS: pushed when the next one is known */
};

static bool ns_of(const struct xplane_line *l, int64_t ps, int64_t *ret)
{
	int64_t ns = ps / 1000, rest = ps % 1000;

	ns += rest >= 500 ? 1 : rest <= -500 ? -1 : 0;
	return !__builtin_add_overflow(l->start_ns, ns, ret);
}

/* A field with a key of one byte, a number or bytes: nearly all are. false: c is as it was. */
static inline bool field_short(struct pb_cursor *c, struct pb_field *f)
{
	const unsigned char *p = c->at;

	if (p == c->end || *p >= 0x80)
		return false;
	f->number = *p >> 3;
	f->wire = *p++ & 7;
	if (f->number == 0 || (f->wire != PB_VARINT && f->wire != PB_LEN) ||
	    !pb_varint(&p, c->end, &f->u64))
		return false;
	if (f->wire == PB_LEN) {
		if (f->u64 > (size_t)(c->end - p))
			return false;
		f->data = p;
		f->len = (size_t)f->u64;
		p += f->len;
	}
	c->at = p;
	return true;
}

static void event_parse(struct xplane *x, const struct pb_field *of, struct event *e)
{
	struct pb_cursor c = pb_inside(of);
	struct pb_field f;

	e->body = xplane_slice_of(of);
	e->id = 0;
	e->offset_ps = e->duration_ps = 0;
	e->aggregated = false;
	e->sound = true;
	xplane_said_clear(&e->said);
	while (field_short(&c, &f) || pb_next(&c, &f)) {
		if (f.number == 4 && pb_is_bytes(&f)) {
			xplane_stat_take(x, &e->said, &f);
			continue;
		}
		if (f.number <= 5 && f.wire != PB_VARINT)
			e->sound = false;
		else if (f.number == 1)
			e->id = f.u64;
		else if (f.number == 2)
			e->offset_ps = pb_int(&f);
		else if (f.number == 3)
			e->duration_ps = pb_int(&f);
		else if (f.number == 5)
			e->aggregated = true;
	}
	e->sound &= !c.problem;
}

/* ---- what is known of it ---- */

static struct span_facts *fact_add(struct made *m, enum facts_kind kind)
{
	struct span_facts *f = &m->facts[m->nr++];

	f->kind = kind;
	return f;
}

static void copy_fact(const struct xplane *x, const struct event *e, struct made *m)
{
	struct copy_facts *c = &fact_add(m, FACTS_COPY)->copy;

	*c = COPY_FACTS_NONE;
	if (e->said.details != FACT_NONE)
		*c = x->details.v[e->said.details].copy;
	if (e->meta && e->meta->direction != COPY_UNKNOWN)
		c->direction = e->meta->direction;
	if (m->span.kind == SPAN_FILL)
		c->direction = COPY_UNKNOWN;
	c->graph = e->said.graph;
	c->graph_node = e->said.node;
}

static void kernel_fact(const struct xplane *x, const struct event *e, struct made *m)
{
	struct kernel_facts *k;

	if (e->said.details == FACT_NONE && e->said.graph == FACT_ABSENT &&
	    e->said.exec == FACT_ABSENT)
		return;
	k = &fact_add(m, FACTS_KERNEL)->kernel;
	*k = KERNEL_FACTS_NONE;
	if (e->said.details != FACT_NONE)
		*k = x->details.v[e->said.details].kernel;
	k->graph = e->said.graph;
	k->graph_node = e->said.node;
	k->graph_exec = e->said.exec;
}

static void program_fact(const struct line *l, const struct event *e, struct made *m)
{
	struct program_facts p = PROGRAM_FACTS_NONE;

	p.module = e->said.module;
	p.op = e->said.op;
	p.program_id = e->said.program;
	p.run = e->said.run;
	if (l->modules) {
		p.kind = PROGRAM_MODULE;
		p.op = STR_NONE;
		if (p.module == STR_NONE)
			p.module = e->meta ? e->meta->module : m->span.name;
		if (p.program_id == FACT_ABSENT && e->meta)
			p.program_id = e->meta->program;
	} else if (l->ops) {
		p.kind = PROGRAM_OP;
		if (p.op == STR_NONE)
			p.op = m->span.name;
	} else if (p.op == STR_NONE) {
		return;
	} else {
		p.kind = l->kind == XPLANE_STREAM ? PROGRAM_WORK : PROGRAM_OP;
	}
	fact_add(m, FACTS_PROGRAM)->program = p;
}

static void facts_make(const struct xplane *x, const struct line *l, const struct event *e,
		       struct made *m)
{
	if (m->span.kind == SPAN_COPY || m->span.kind == SPAN_FILL)
		copy_fact(x, e, m);
	else if (m->span.kind == SPAN_KERNEL)
		kernel_fact(x, e, m);
	program_fact(l, e, m);
}

/* ---- pushing ---- */

static void made_push(struct xplane *x, const struct made *m)
{
	span_id span;

	if (!mem_budget_has(&x->memory, XPLANE_SPAN_BYTES)) {
		x->left_out++;
		return;
	}
	mem_budget_take(&x->memory, XPLANE_SPAN_BYTES);
	span = x->sink->ops->span(x->sink, &m->span);
	for (size_t i = 0; i < m->nr && span != SPAN_NONE; i++)
		x->sink->ops->facts(x->sink, span, &m->facts[i]);
}

static enum span_kind kind_of(const struct line *l, const struct event *e)
{
	if (l->kind == XPLANE_THREAD)
		return SPAN_HOST;
	if (l->kind == XPLANE_DERIVED || e->said.about == STAT_MEMORY)
		return SPAN_ANNOTATION;
	if (l->kind == XPLANE_OPS)
		return SPAN_KERNEL;
	return e->said.about == STAT_COPY     ? SPAN_COPY
	       : e->said.about == STAT_FILL   ? SPAN_FILL
	       : e->said.about == STAT_KERNEL ? SPAN_KERNEL
	       : e->meta                      ? e->meta->kind
					      : SPAN_KERNEL;
}

static str_id name_made_up(struct xplane *x, uint64_t id)
{
	char name[32];

	snprintf(name, sizeof(name), "event %" PRIu64, id);
	return sink_puts(x->sink, name);
}

static str_id category_of(const struct xplane *x, const struct line *l, enum span_kind kind)
{
	return kind == SPAN_KERNEL ? x->kernel
	       : kind == SPAN_COPY ? x->copy
	       : kind == SPAN_FILL ? x->fill
				   : l->category;
}

static void span_args_set(struct xplane *x, const struct event *e, struct span_def *d)
{
	if (x->opts->keep_args)
		d->args = xplane_args(x, e->body, e->meta);
	else if (d->kind == SPAN_KERNEL && e->said.details != FACT_NONE)
		d->args = x->details.v[e->said.details].shape;
}

static void ops_push(struct xplane *x, struct line *l, const struct made *m)
{
	struct span_def *held = &l->held.span;

	if (l->waits) {
		if (m && m->span.start_ns >= held->start_ns && m->span.start_ns < held->end_ns &&
		    m->span.end_ns <= held->end_ns)
			held->kind = SPAN_ANNOTATION;
		made_push(x, &l->held);
	}
	l->waits = m != NULL;
	if (m)
		l->held = *m;
}

static void event_push(struct xplane *x, struct line *l, struct event *e)
{
	struct made m = { .span = { .track = l->track, .args = STR_NONE }, .nr = 0 };
	int64_t end_ps;

	if (__builtin_add_overflow(e->offset_ps, e->duration_ps, &end_ps) ||
	    !ns_of(l->def, e->offset_ps, &m.span.start_ns) ||
	    !ns_of(l->def, end_ps, &m.span.end_ns)) {
		tally_byte(&x->bad_events, xplane_at(x, e->body.p));
		return;
	}
	m.span.kind = kind_of(l, e);
	m.span.name = e->meta ? e->meta->name : name_made_up(x, e->id);
	m.span.correlation = l->kind == XPLANE_DERIVED ? 0 : e->said.correlation;
	m.span.category = category_of(x, l, m.span.kind);
	span_args_set(x, e, &m.span);
	x->kernels += m.span.kind == SPAN_KERNEL;
	x->copies += m.span.kind == SPAN_COPY || m.span.kind == SPAN_FILL;
	x->derived += l->kind == XPLANE_DERIVED;
	if (x->opts->facts && !x->opts->file_facts)
		facts_make(x, l, e, &m);
	if (l->kind == XPLANE_OPS)
		ops_push(x, l, &m);
	else
		made_push(x, &m);
}

/* ---- samples ---- */

static series_id series_of(struct xplane *x, const struct event *e)
{
	uint32_t *at = u64map_at(&x->plane.series, e->meta->name);
	struct series_def d = { .device = x->plane.device, .track = x->plane.track };
	char *name;

	if (*at == U64MAP_NONE) {
		name = xplane_meta_text(x, e->meta);
		d.name = name;
		d.kind = SERIES_GAUGE;
		*at = x->sink->ops->series(x->sink, &d);
		free(name);
	}
	return *at;
}

/* The first stat that is a number is the value. */
static void counter_push(struct xplane *x, const struct line *l, const struct event *e)
{
	struct pb_cursor c = xplane_cursor(e->body);
	struct xplane_value v = { .type = VALUE_NONE };
	struct pb_field f;
	int64_t t_ns;

	while (v.type != VALUE_REAL && v.type != VALUE_NUMBER && pb_next(&c, &f))
		if (f.number == 4 && !xplane_value_counted(x, &f, &v))
			return;
	if (!e->meta || (v.type != VALUE_REAL && v.type != VALUE_NUMBER) ||
	    !ns_of(l->def, e->offset_ps, &t_ns)) {
		tally_byte(&x->bad_events, xplane_at(x, e->body.p));
		return;
	}
	if (!mem_budget_has(&x->memory, XPLANE_SPAN_BYTES)) {
		x->left_out++;
		return;
	}
	mem_budget_take(&x->memory, XPLANE_SPAN_BYTES);
	x->sink->ops->sample(x->sink, series_of(x, e), t_ns,
			     v.type == VALUE_REAL ? v.real
			     : v.is_signed        ? (double)(int64_t)v.u64
						  : (double)v.u64);
}

static void event_take(struct xplane *x, struct line *l, const struct pb_field *f)
{
	struct event e;

	event_parse(x, f, &e);
	if (!e.sound) {
		tally_byte(&x->bad_events, xplane_at(x, f->data));
		return;
	}
	if (e.aggregated) {
		tally_byte(&x->aggregated, xplane_at(x, f->data));
		return;
	}
	e.meta = xplane_event_meta(x, e.id);
	if (!e.meta)
		tally_byte(&x->no_meta, xplane_at(x, f->data));
	else if (e.meta->name == STR_NONE)
		xplane_event_learn(x, e.meta);
	if (e.meta && e.meta->known != FACT_NONE)
		xplane_said_fill(&e.said, &x->known.v[e.meta->known]);
	if (l->kind == XPLANE_COUNTERS)
		counter_push(x, l, &e);
	else
		event_push(x, l, &e);
}

static void line_begin(struct xplane *x, const struct xplane_line *def, struct line *l)
{
	struct xplane_slice name = def->name;

	l->def = def;
	l->kind = xplane_line_kind(x->plane.def, def);
	l->track = xplane_line_track(x, def, l->kind);
	l->modules = l->kind != XPLANE_THREAD &&
		     (xplane_begins(name, "XLA Modules") || xplane_is(name, "Sparse Core Modules"));
	l->ops = l->kind == XPLANE_OPS ||
		 (l->kind == XPLANE_DERIVED && xplane_begins(name, "XLA Ops")) ||
		 (l->kind == XPLANE_STREAM && xplane_is(name, "Async XLA Ops"));
	l->category = l->kind == XPLANE_DERIVED
			      ? x->sink->ops->string(x->sink, (const char *)name.p,
						     name.n < 100 ? name.n : 100)
			      : sink_puts(x->sink, "");
}

void xplane_line_read(struct xplane *x, const struct xplane_line *def)
{
	struct pb_cursor c = xplane_cursor(def->body);
	struct line l = { .waits = false };
	struct pb_field f;

	if (def->events == 0)
		return;
	line_begin(x, def, &l);
	while (xplane_next(x, &c, &f, true)) {
		if (f.number != 4 || !pb_is_bytes(&f) || x->clipped)
			continue;
		event_take(x, &l, &f);
		mem_budget_read(&x->memory, xplane_at(x, c.at));
	}
	ops_push(x, &l, NULL);
}
