/*
 * A lane that was read by another rank, as bytes. Names go as text: each rank numbers those that it
 * met in events in its own order.
 */
#include "profile_private.h"

#include <string.h>

#include "profrig/base/xalloc.h"
#include "profrig/model/name_map.h"
#include "profrig/model/warnings.h"

static void name_save(const struct profile *p, str_id id, struct strbuf *to)
{
	serial_put_text(to, id == STR_NONE ? NULL : model_str(p->m, id));
}

static str_id name_load(struct profile *p, struct serial_in *from)
{
	CLEANUP(xfreep) char *text = serial_take_text(from);

	return text ? intern_puts(p->m->strings, text) : STR_NONE;
}

/* Names that calls had before they became others (name_map.h). */
static void names_save(const struct profile *p, struct strbuf *to)
{
	const struct name_map *map = p->m->names;
	size_t nr = 0;

	for (size_t i = 0; map && i < map->used.nr; i++)
		nr += map->used.v[i] != 0;
	SERIAL_PUT(to, nr);
	for (size_t i = 0; map && i < map->used.nr; i++)
		if (map->used.v[i])
			name_save(p, (str_id)i, to);
}

static void names_load(struct profile *p, struct serial_in *from)
{
	size_t nr = serial_take_count(from, 1);

	for (size_t i = 0; i < nr && !from->bad; i++) {
		str_id name = name_load(p, from);

		name_map_update(p->m);
		if (name != STR_NONE)
			name_map_use(p->m, name);
	}
}

/* ---- statistics of calls ---- */

void calls_save(const struct profile *p, struct strbuf *to)
{
	SERIAL_PUT(to, p->calls.nr);
	for (size_t i = 0; i < p->calls.nr; i++) {
		const struct profile_calls *c = &p->calls.v[i];

		SERIAL_PUT(to, c->device);
		SERIAL_PUT(to, c->kernel);
		name_save(p, c->name, to);
		name_save(p, c->category, to);
		SERIAL_PUT(to, c->ns);
		SERIAL_PUT(to, c->sketch.first);
		SERIAL_PUT(to, c->sketch.nr);
		SERIAL_PUT_ARRAY(to, c->sketch.counts, c->sketch.nr);
	}
	names_save(p, to);
}

static void sketch_load(struct sketch *s, struct serial_in *from)
{
	struct sketch more = SKETCH_INIT;

	SERIAL_TAKE(from, more.first);
	SERIAL_TAKE(from, more.nr);
	if (more.nr > (size_t)(from->end - from->at) / sizeof(*more.counts)) {
		from->bad = true;
		return;
	}
	more.counts = xcalloc(more.nr + 1, sizeof(*more.counts));
	serial_take(from, more.counts, more.nr * sizeof(*more.counts));
	sketch_merge(s, &more);
	sketch_release(&more);
}

uint32_t *calls_load(struct profile *p, struct serial_in *from, size_t *ret_nr)
{
	size_t nr = serial_take_count(from, 1);
	uint32_t *ids = xcalloc(nr + 1, sizeof(*ids));

	*ret_nr = nr;
	for (size_t i = 0; i < nr && !from->bad; i++) {
		struct moments ns;
		uint32_t device;
		bool kernel;
		str_id name;

		SERIAL_TAKE(from, device);
		SERIAL_TAKE(from, kernel);
		name = name_load(p, from);
		ids[i] = calls_of(p, device, kernel, name, name_load(p, from));
		SERIAL_TAKE(from, ns);
		moments_merge(&p->calls.v[ids[i]].ns, &ns);
		sketch_load(&p->calls.v[ids[i]].sketch, from);
	}
	names_load(p, from);
	return ids;
}

/* ---- samples ---- */

void lane_series_save(const struct lane *l, struct strbuf *to)
{
	SERIAL_PUT(to, l->series.nr);
	for (size_t i = 0; i < l->series.nr; i++) {
		const struct lane_series *s = &l->series.v[i];

		serial_put_text(to, s->name);
		serial_put_text(to, s->unit);
		serial_put_text(to, s->device);
		serial_put_text(to, s->host);
		serial_put_text(to, s->pci);
		SERIAL_PUT(to, s->def);
		SERIAL_PUT_VEC(to, &s->t_ns);
		SERIAL_PUT_VEC(to, &s->value);
		SERIAL_PUT(to, s->failed);
	}
}

void lane_series_load(struct lane *l, struct serial_in *from)
{
	size_t nr = serial_take_count(from, 1);

	for (size_t i = 0; i < nr && !from->bad; i++) {
		struct lane_series s = { .id = SERIES_NONE };

		s.name = serial_take_text(from);
		s.unit = serial_take_text(from);
		s.device = serial_take_text(from);
		s.host = serial_take_text(from);
		s.pci = serial_take_text(from);
		SERIAL_TAKE(from, s.def);
		s.def.name = s.name;
		s.def.unit = s.unit;
		s.def.device = s.device;
		s.def.host = s.host;
		s.def.pci = s.pci;
		SERIAL_TAKE_VEC(from, &s.t_ns);
		SERIAL_TAKE_VEC(from, &s.value);
		SERIAL_TAKE(from, s.failed);
		VEC_PUSH(&l->series, s);
	}
}

/* ---- a lane ---- */

static void nodes_save(const struct lane *l, struct strbuf *to)
{
	SERIAL_PUT_VEC(to, &l->t.nodes);
	for (size_t i = 0; i < l->t.nodes.nr; i++) {
		name_save(l->p, l->t.nodes.v[i].name, to);
		name_save(l->p, l->t.nodes.v[i].category, to);
	}
	SERIAL_PUT_VEC(to, &l->t.row_of);
	SERIAL_PUT(to, l->t.rows);
	SERIAL_PUT(to, l->t.spans);
	SERIAL_PUT(to, l->t.covered_ns);
	SERIAL_PUT_VEC(to, &l->t.longest);
	SERIAL_PUT_VEC(to, &l->t.shape_of);
	SERIAL_PUT_VEC(to, &l->t.durations);
	SERIAL_PUT_VEC(to, &l->t.unions);
}

static void nodes_load(struct lane *l, struct serial_in *from, const uint32_t *calls,
		       size_t nr_calls)
{
	SERIAL_TAKE_VEC(from, &l->t.nodes);
	for (size_t i = 0; i < l->t.nodes.nr; i++) {
		struct profile_node *n = &l->t.nodes.v[i];

		n->name = name_load(l->p, from);
		n->category = name_load(l->p, from);
		from->bad |= n->calls_id >= nr_calls;
		n->calls_id = from->bad ? 0 : calls[n->calls_id];
	}
	SERIAL_TAKE_VEC(from, &l->t.row_of);
	SERIAL_TAKE(from, l->t.rows);
	SERIAL_TAKE(from, l->t.spans);
	SERIAL_TAKE(from, l->t.covered_ns);
	SERIAL_TAKE_VEC(from, &l->t.longest);
	SERIAL_TAKE_VEC(from, &l->t.shape_of);
	SERIAL_TAKE_VEC(from, &l->t.durations);
	SERIAL_TAKE_VEC(from, &l->t.unions);
	for (size_t i = 0; i < l->t.unions.nr; i++) {
		struct profile_union *u = &l->t.unions.v[i];

		from->bad |= u->calls_id >= nr_calls;
		u->calls_id = from->bad ? 0 : calls[u->calls_id];
	}
}

static void warnings_save(const struct lane *l, struct strbuf *to)
{
	SERIAL_PUT(to, l->warnings.nr);
	for (size_t i = 0; i < l->warnings.nr; i++) {
		serial_put_text(to, l->warnings.v[i].code);
		serial_put_text(to, l->warnings.v[i].text);
		SERIAL_PUT(to, l->warnings.v[i].count);
	}
}

static void warnings_load(struct lane *l, struct serial_in *from)
{
	size_t nr = serial_take_count(from, 1);

	for (size_t i = 0; i < nr && !from->bad; i++) {
		CLEANUP(xfreep) char *code = serial_take_text(from);
		const struct warning_info *known = warning_find(code ? code : "");
		struct lane_warning w = { .code = known ? known->code : W_TRUNCATED };

		from->bad |= !known;
		w.text = serial_take_text(from);
		SERIAL_TAKE(from, w.count);
		VEC_PUSH(&l->warnings, w);
	}
}

/* The plain fields. */
#define LANE_FIELDS(X) \
	X(pieces) \
	X(work_ns) \
	X(work_first_ns) \
	X(work_last_ns) \
	X(first_ns) \
	X(last_ns) \
	X(samples) \
	X(left_open)

void lane_save(const struct lane *l, struct strbuf *to)
{
	nodes_save(l, to);
	warnings_save(l, to);
#define X(field) SERIAL_PUT(to, l->field);
	LANE_FIELDS(X)
#undef X
	name_save(l->p, l->left_open ? l->left_open_name : STR_NONE, to);
	/* all ranks have the others */
	if (!l->samples_only)
		lane_series_save(l, to);
	for (size_t i = 0; i < l->sources.nr; i++)
		l->sources.v[i]->save(l->sources.v[i], to);
}

void lane_load(struct lane *l, struct serial_in *from, const uint32_t *calls, size_t nr_calls)
{
	nodes_load(l, from, calls, nr_calls);
	warnings_load(l, from);
#define X(field) SERIAL_TAKE(from, l->field);
	LANE_FIELDS(X)
#undef X
	l->left_open_name = name_load(l->p, from);
	if (!l->samples_only)
		lane_series_load(l, from);
	for (size_t i = 0; i < l->sources.nr; i++)
		l->sources.v[i]->load(l->sources.v[i], from);
	l->here = true;
}
