/*
 * The tables of a plane: maps from a number to a row, in any order and anywhere in the plane. Texts
 * that stats repeat are rows of the table of stats, too.
 */
#include "xplane.h"

#include "profrig/base/num.h"

/* What a row of a table takes, at most, with the place in the map. */
#define ROW_BYTES 128

static enum xplane_stat stat_of(struct xplane_slice name)
{
	static const struct {
		const char *name;
		enum xplane_stat what;
	} known[] = {
		{ "correlation_id", STAT_CORRELATION },
		{ "kernel_details", STAT_KERNEL },
		{ "memcpy_details", STAT_COPY },
		{ "Memset_details", STAT_FILL },
		{ "memset_details", STAT_FILL },
		{ "memalloc_details", STAT_MEMORY },
		{ "MemFree_details", STAT_MEMORY },
		{ "MemoryResidency_details", STAT_MEMORY },
		{ "cuda_graph_id", STAT_GRAPH },
		{ "cuda_graph_node_id", STAT_GRAPH_NODE },
		{ "cuda_graph_exec_id", STAT_GRAPH_EXEC },
		{ "hlo_module", STAT_MODULE },
		{ "hlo_op", STAT_OP },
		{ "program_id", STAT_PROGRAM },
		{ "run_id", STAT_RUN },
		{ "clock_rate", STAT_CLOCK_KHZ },
		{ "core_count", STAT_CORES },
		{ "memory_bandwidth", STAT_BANDWIDTH },
		{ "memory_size", STAT_MEMORY_SIZE },
		{ "compute_cap_major", STAT_MAJOR },
		{ "compute_cap_minor", STAT_MINOR },
		{ "peak_hbm_bw_gigabytes_per_second", STAT_PEAK_GBPS },
		{ "gpu_device_name", STAT_DEVICE_NAME },
		{ "device_type_string", STAT_DEVICE_TYPE },
		{ "profile_start_time", STAT_START_TIME },
	};

	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (xplane_is(name, known[i].name))
			return known[i].what;
	return STAT_OTHER;
}

/* A field of a message that is bytes; empty: it has none. */
static struct xplane_slice bytes_of(struct xplane *x, struct xplane_slice body, uint32_t number)
{
	struct pb_cursor c = xplane_cursor(body);
	struct xplane_slice found = { body.p, 0 };
	struct pb_field f;

	while (xplane_next(x, &c, &f, true))
		if (f.number == number && pb_is_bytes(&f))
			found = xplane_slice_of(&f);
	return found;
}

static void event_row(struct xplane *x, uint64_t id, struct xplane_slice body)
{
	struct xplane_event_meta m = { .body = body, .name = STR_NONE, .known = FACT_NONE };
	uint32_t *at = u64map_at(&x->plane.event_at, id);

	if (*at == U64MAP_NONE) {
		*at = (uint32_t)x->plane.events.nr;
		VEC_PUSH(&x->plane.events, m);
	} else {
		x->plane.events.v[*at] = m;
	}
}

static void stat_row(struct xplane *x, uint64_t id, struct xplane_slice body)
{
	struct xplane_stat_meta m = { .text = STR_NONE, .details = FACT_NONE };
	uint32_t *at = u64map_at(&x->plane.stat_at, id);

	m.name = bytes_of(x, body, 2);
	m.what = stat_of(m.name);
	if (*at == U64MAP_NONE) {
		*at = (uint32_t)x->plane.stats.nr;
		VEC_PUSH(&x->plane.stats, m);
	} else {
		x->plane.stats.v[*at] = m;
	}
}

/* One entry of a map. Without its number the row has it, or it is 0. */
static void row_take(struct xplane *x, const struct pb_field *of)
{
	struct pb_cursor c = pb_inside(of);
	struct xplane_slice body = { of->data, 0 };
	uint64_t id = 0;
	struct pb_field f;

	while (xplane_next(x, &c, &f, false)) {
		if (f.number == 1 && f.wire == PB_VARINT)
			id = f.u64;
		else if (f.number == 2 && pb_is_bytes(&f))
			body = xplane_slice_of(&f);
		else if (f.number <= 2)
			tally_byte(&x->bad_stats, xplane_at(x, of->data));
	}
	if (!mem_budget_has(&x->memory, ROW_BYTES)) {
		x->left_out++;
		return;
	}
	mem_budget_take(&x->memory, ROW_BYTES);
	if (of->number == 4)
		event_row(x, id, body);
	else
		stat_row(x, id, body);
}

void xplane_plane_clear(struct xplane *x)
{
	u64map_release(&x->plane.event_at);
	u64map_release(&x->plane.stat_at);
	u64map_release(&x->plane.series);
	VEC_CLEAR(&x->plane.events);
	VEC_CLEAR(&x->plane.stats);
	VEC_CLEAR(&x->known);
	VEC_CLEAR(&x->details);
	VEC_PUSH(&x->details, (struct xplane_details){ .shape = STR_NONE }); /* of inline texts */
}

void xplane_plane_load(struct xplane *x, const struct xplane_plane *p)
{
	struct pb_cursor c = xplane_cursor(p->body);
	struct pb_field f;

	xplane_plane_clear(x);
	x->plane.def = p;
	while (xplane_next(x, &c, &f, true)) {
		bool row = (f.number == 4 || f.number == 5) && pb_is_bytes(&f);

		mem_budget_read(&x->memory, xplane_at(x, c.at));
		if (row && !x->clipped)
			row_take(x, &f);
	}
}

struct xplane_stat_meta *xplane_stat_meta(struct xplane *x, uint64_t id)
{
	uint32_t at = u64map_get(&x->plane.stat_at, id);

	return at == U64MAP_NONE ? NULL : &x->plane.stats.v[at];
}

struct xplane_event_meta *xplane_event_meta(struct xplane *x, uint64_t id)
{
	uint32_t at = u64map_get(&x->plane.event_at, id);

	return at == U64MAP_NONE ? NULL : &x->plane.events.v[at];
}

/* Copies and fills are named by what they do, unless they have details. */
static void kind_by_name(struct xplane_event_meta *m, struct xplane_slice name)
{
	static const struct {
		const char *name;
		enum copy_direction direction;
	} copies[] = {
		{ "MemcpyH2D", COPY_H2D },       { "MemcpyD2H", COPY_D2H },
		{ "MemcpyD2D", COPY_D2D },       { "MemcpyP2P", COPY_P2P },
		{ "MemcpyOther", COPY_UNKNOWN },
	};

	m->kind = xplane_is(name, "Memset") ? SPAN_FILL : SPAN_KERNEL;
	m->direction = COPY_UNKNOWN;
	for (size_t i = 0; i < ARRAY_LEN(copies); i++) {
		if (!xplane_is(name, copies[i].name))
			continue;
		m->kind = SPAN_COPY;
		m->direction = copies[i].direction;
	}
}

/* "jit_f(17)" → "jit_f" and 17 */
static void module_by_name(struct xplane *x, struct xplane_event_meta *m, struct xplane_slice name)
{
	size_t n = name.n, digits = 0;
	uint64_t v;

	m->program = FACT_ABSENT;
	m->module = m->name;
	if (n < 4 || name.p[n - 1] != ')')
		return;
	while (digits < n - 2 && name.p[n - 2 - digits] >= '0' && name.p[n - 2 - digits] <= '9')
		digits++;
	if (digits == 0 || digits > n - 3 || name.p[n - 2 - digits] != '(' ||
	    num_u64((const char *)name.p + n - 1 - digits, digits, &v) < 0)
		return;
	m->program = (int64_t)v;
	m->module = x->sink->ops->string(x->sink, (const char *)name.p, n - 2 - digits);
}

static void known_take(struct xplane *x, struct xplane_event_meta *m, const struct pb_field *f)
{
	if (m->known == FACT_NONE) {
		struct xplane_said none;

		xplane_said_clear(&none);
		m->known = (uint32_t)x->known.nr;
		VEC_PUSH(&x->known, none);
	}
	xplane_stat_take(x, &x->known.v[m->known], f);
	/* a text of its own, whose place the next event takes */
	if (x->known.v[m->known].details == 0) {
		struct xplane_details own = x->details.v[0];

		x->known.v[m->known].details = (uint32_t)x->details.nr;
		VEC_PUSH(&x->details, own);
		mem_budget_take(&x->memory, sizeof(own));
	}
}

void xplane_event_learn(struct xplane *x, struct xplane_event_meta *m)
{
	struct pb_cursor c = xplane_cursor(m->body);
	struct xplane_slice name = { m->body.p, 0 }, shown = { m->body.p, 0 };
	struct pb_field f;

	while (xplane_next(x, &c, &f, false)) {
		if (f.number == 2 && pb_is_bytes(&f))
			name = xplane_slice_of(&f);
		else if (f.number == 4 && pb_is_bytes(&f))
			shown = xplane_slice_of(&f);
		else if (f.number == 5 && pb_is_bytes(&f))
			known_take(x, m, &f);
	}
	/* cores have the whole text of an operation as its name, and a short one for people */
	if (shown.n > 0 && (name.n == 0 || x->plane.def->kind == XPLANE_CORE))
		name = shown;
	m->name = x->sink->ops->string(x->sink, (const char *)name.p, name.n);
	mem_budget_take(&x->memory, name.n);
	kind_by_name(m, name);
	module_by_name(x, m, name);
}

char *xplane_meta_text(struct xplane *x, const struct xplane_event_meta *m)
{
	struct xplane_slice name = bytes_of(x, m->body, 2);

	return xstrndup((const char *)name.p, name.n < SINK_TEXT_LONG ? name.n : SINK_TEXT_LONG);
}
