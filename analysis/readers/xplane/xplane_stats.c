/*
 * Stats: a value that a row of the plane's table of stats names. Texts are there themselves, or as
 * the name of another such row (ref). Launches and copies are described by texts of words:
 *
 *	kernel_details	regs:32 static_shared:0 dynamic_shared:0 grid:80,1,1 block:256,1,1
 *	memcpy_details	kind_src:pinned kind_dst:device size:4096 dest:0 async:1
 *	memset_details	kind:device num_bytes:4096 async:1
 */
#include "text_slice.h"
#include "xplane.h"

#include <math.h>

#include "profrig/base/json_out.h"
#include "profrig/base/num.h"

#define ARGS_MAX ((size_t)2 * SINK_TEXT_MAX)

bool xplane_value_of(struct xplane *x, const struct pb_field *of, struct xplane_value *ret)
{
	struct pb_cursor c = pb_inside(of);
	uint64_t id = 0;
	struct pb_field f;
	bool sound = true;

	*ret = (struct xplane_value){ .type = VALUE_NONE };
	while (pb_next(&c, &f)) {
		switch (f.number) {
		case 1:
			id = f.u64;
			sound &= f.wire == PB_VARINT;
			break;
		case 2:
			ret->type = VALUE_REAL;
			ret->real = pb_double(&f);
			sound &= f.wire == PB_I64;
			break;
		case 3:
		case 4:
			ret->type = VALUE_NUMBER;
			ret->is_signed = f.number == 4;
			ret->u64 = f.u64;
			sound &= f.wire == PB_VARINT;
			break;
		case 5:
		case 6:
			ret->type = f.number == 5 ? VALUE_TEXT : VALUE_BYTES;
			ret->text = xplane_slice_of(&f);
			sound &= pb_is_bytes(&f);
			break;
		case 7:
			ret->type = VALUE_REF;
			ret->u64 = f.u64;
			sound &= f.wire == PB_VARINT;
			break;
		default:
			break;
		}
	}
	if (c.problem || !sound)
		return false;
	ret->meta = xplane_stat_meta(x, id);
	if (ret->type == VALUE_REF) {
		ret->ref = xplane_stat_meta(x, ret->u64);
		if (ret->ref)
			ret->text = ret->ref->name;
	}
	return true;
}

/* Nearly all stats are a small number behind their row's: read without the loop. */
static bool value_short(const struct pb_field *of, uint64_t *ret_id, unsigned char *ret_key,
			uint64_t *ret)
{
	const unsigned char *p = of->data, *end = p + of->len;

	if (of->len < 4 || *p++ != (1 << 3 | PB_VARINT) || !pb_varint(&p, end, ret_id) || p == end)
		return false;
	*ret_key = *p++;
	return (*ret_key == (3 << 3 | PB_VARINT) || *ret_key == (4 << 3 | PB_VARINT) ||
		*ret_key == (7 << 3 | PB_VARINT)) &&
	       pb_varint(&p, end, ret) && p == end;
}

void xplane_stat_take(struct xplane *x, struct xplane_said *s, const struct pb_field *of)
{
	struct xplane_value v = { .type = VALUE_NUMBER };
	unsigned char key;
	uint64_t id;

	if (!value_short(of, &id, &key, &v.u64)) {
		if (xplane_value_counted(x, of, &v))
			xplane_said_take(x, s, &v);
		return;
	}
	v.meta = xplane_stat_meta(x, id);
	if (!v.meta || v.meta->what == STAT_OTHER)
		return;
	v.is_signed = key == (4 << 3 | PB_VARINT);
	if (key == (7 << 3 | PB_VARINT)) {
		v.type = VALUE_REF;
		v.ref = xplane_stat_meta(x, v.u64);
		v.text = v.ref ? v.ref->name : (struct xplane_slice){ of->data, 0 };
	}
	xplane_said_take(x, s, &v);
}

bool xplane_value_counted(struct xplane *x, const struct pb_field *of, struct xplane_value *ret)
{
	if (xplane_value_of(x, of, ret))
		return true;
	tally_byte(&x->bad_stats, xplane_at(x, of->data));
	return false;
}

void xplane_said_clear(struct xplane_said *s)
{
	*s = (struct xplane_said){
		.graph = FACT_ABSENT,
		.node = FACT_ABSENT,
		.exec = FACT_ABSENT,
		.program = FACT_ABSENT,
		.run = FACT_ABSENT,
		.module = STR_NONE,
		.op = STR_NONE,
		.details = FACT_NONE,
	};
}

void xplane_said_fill(struct xplane_said *s, const struct xplane_said *other)
{
	int64_t *const to[] = { &s->graph, &s->node, &s->exec, &s->program, &s->run };
	const int64_t from[] = { other->graph, other->node, other->exec, other->program,
				 other->run };

	for (size_t i = 0; i < ARRAY_LEN(to); i++)
		if (*to[i] == FACT_ABSENT)
			*to[i] = from[i];
	if (s->module == STR_NONE)
		s->module = other->module;
	if (s->op == STR_NONE)
		s->op = other->op;
	if (s->correlation == 0)
		s->correlation = other->correlation;
	if (s->about == STAT_OTHER) {
		s->about = other->about;
		s->details = other->details;
	}
}

/* ---- the texts of launches and copies ---- */

static int64_t detail_number(struct text_slice t)
{
	int64_t v;

	return num_i64(t.p, t.n, &v) == 0 ? v : FACT_ABSENT;
}

static void detail_triple(struct text_slice t, int64_t to[3])
{
	for (int i = 0; i < 3 && t.n > 0; i++) {
		const char *comma = memchr(t.p, ',', t.n);
		struct text_slice one = { t.p, comma ? (size_t)(comma - t.p) : t.n };

		to[i] = detail_number(one);
		t.n -= one.n + (comma != NULL);
		t.p += one.n + (comma != NULL);
	}
}

static enum memory_kind detail_memory(struct text_slice t)
{
	static const struct {
		const char *word;
		enum memory_kind kind;
	} known[] = {
		{ "pageable", MEMORY_PAGEABLE }, { "pinned", MEMORY_PINNED },
		{ "device", MEMORY_DEVICE },     { "device_static", MEMORY_DEVICE },
		{ "managed", MEMORY_MANAGED },   { "managed_static", MEMORY_MANAGED },
		{ "array", MEMORY_ARRAY },
	};

	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (slice_is(t, known[i].word))
			return known[i].kind;
	return MEMORY_UNKNOWN;
}

static void detail_take(struct xplane_details *d, int64_t shared[2], struct text_slice key,
			struct text_slice value)
{
	if (slice_is(key, "regs"))
		d->kernel.registers = detail_number(value);
	else if (slice_is(key, "static_shared"))
		shared[0] = detail_number(value);
	else if (slice_is(key, "dynamic_shared"))
		shared[1] = detail_number(value);
	else if (slice_is(key, "grid"))
		detail_triple(value, d->kernel.grid);
	else if (slice_is(key, "block"))
		detail_triple(value, d->kernel.block);
	else if (slice_is(key, "size") || slice_is(key, "num_bytes"))
		d->copy.bytes = detail_number(value);
	else if (slice_is(key, "kind_src"))
		d->copy.from = detail_memory(value);
	else if (slice_is(key, "kind_dst") || slice_is(key, "kind"))
		d->copy.to = detail_memory(value);
}

static enum copy_direction direction_of(enum memory_kind from, enum memory_kind to)
{
	bool host_from = from == MEMORY_PAGEABLE || from == MEMORY_PINNED;
	bool host_to = to == MEMORY_PAGEABLE || to == MEMORY_PINNED;
	bool device_from = from == MEMORY_DEVICE || from == MEMORY_ARRAY;
	bool device_to = to == MEMORY_DEVICE || to == MEMORY_ARRAY;

	return host_from && device_to     ? COPY_H2D
	       : device_from && host_to   ? COPY_D2H
	       : device_from && device_to ? COPY_D2D
	       : host_from && host_to     ? COPY_H2H
					  : COPY_UNKNOWN;
}

static str_id shape_put(struct xplane *x, const struct kernel_facts *k)
{
	struct launch_shape shape = { { 0 } };

	for (int i = 0; i < 3; i++) {
		shape.v[LAUNCH_SHAPE_GRID + i] = k->grid[i] > 0 ? (uint64_t)k->grid[i] : 0;
		shape.v[LAUNCH_SHAPE_BLOCK + i] = k->block[i] > 0 ? (uint64_t)k->block[i] : 0;
	}
	return x->opts->keep_shapes ? launch_shapes_put(&x->shapes, x->sink, &shape) : STR_NONE;
}

static void details_read(struct xplane *x, struct xplane_slice text, struct xplane_details *ret)
{
	struct text_slice rest = { (const char *)text.p, text.n }, word;
	int64_t shared[2] = { FACT_ABSENT, 0 };

	*ret = (struct xplane_details){ .kernel = KERNEL_FACTS_NONE, .copy = COPY_FACTS_NONE };
	while (slice_word(&rest, &word)) {
		const char *colon = memchr(word.p, ':', word.n);
		struct text_slice key = { word.p, colon ? (size_t)(colon - word.p) : 0 };

		if (colon)
			detail_take(ret, shared, key,
				    (struct text_slice){ colon + 1, word.n - key.n - 1 });
	}
	if (shared[0] != FACT_ABSENT && shared[1] != FACT_ABSENT &&
	    __builtin_add_overflow(shared[0], shared[1], &ret->kernel.shared_bytes))
		ret->kernel.shared_bytes = INT64_MAX;
	ret->copy.direction = direction_of(ret->copy.from, ret->copy.to);
	ret->shape = shape_put(x, &ret->kernel);
}

/* A text that many events share is read once; that of one event is in row 0 until the next. */
static uint32_t details_of(struct xplane *x, const struct xplane_value *v)
{
	struct xplane_details d;

	if (v->type != VALUE_REF && v->type != VALUE_TEXT)
		return FACT_NONE;
	if (v->ref && v->ref->details != FACT_NONE)
		return v->ref->details;
	details_read(x, v->text, &d);
	if (!v->ref || !mem_budget_has(&x->memory, sizeof(d))) {
		x->details.v[0] = d;
		return 0;
	}
	mem_budget_take(&x->memory, sizeof(d));
	v->ref->details = (uint32_t)x->details.nr;
	VEC_PUSH(&x->details, d);
	return v->ref->details;
}

/* ---- what an event's stats say ---- */

str_id xplane_value_text(struct xplane *x, const struct xplane_value *v)
{
	if (v->type != VALUE_TEXT && v->type != VALUE_REF)
		return STR_NONE;
	if (!v->ref)
		return v->type == VALUE_REF
			       ? STR_NONE
			       : x->sink->ops->string(x->sink, (const char *)v->text.p, v->text.n);
	if (v->ref->text == STR_NONE) {
		v->ref->text = x->sink->ops->string(x->sink, (const char *)v->text.p, v->text.n);
		mem_budget_take(&x->memory, v->text.n);
	}
	return v->ref->text;
}

static int64_t value_number(const struct xplane_value *v)
{
	int64_t n;

	if (v->type == VALUE_NUMBER)
		return v->is_signed || v->u64 <= INT64_MAX ? (int64_t)v->u64 : FACT_ABSENT;
	if (v->type == VALUE_REAL)
		return v->real >= 0 && v->real < 0x1p62 ? (int64_t)v->real : FACT_ABSENT;
	return (v->type == VALUE_TEXT || v->type == VALUE_REF) &&
			       num_i64((const char *)v->text.p, v->text.n, &n) == 0
		       ? n
		       : FACT_ABSENT;
}

/* Ids of programs are hashes of 64 bits. */
static int64_t value_id(const struct xplane_value *v)
{
	uint64_t n;

	if (v->type == VALUE_NUMBER)
		return (int64_t)v->u64;
	if ((v->type == VALUE_TEXT || v->type == VALUE_REF) &&
	    num_u64((const char *)v->text.p, v->text.n, &n) == 0)
		return (int64_t)n;
	return value_number(v);
}

void xplane_said_take(struct xplane *x, struct xplane_said *s, const struct xplane_value *v)
{
	switch (v->meta ? v->meta->what : STAT_OTHER) {
	case STAT_CORRELATION:
		s->correlation = v->type == VALUE_NUMBER ? v->u64 : 0;
		break;
	case STAT_KERNEL:
	case STAT_COPY:
	case STAT_FILL:
	case STAT_MEMORY:
		s->about = v->meta->what;
		s->details = x->opts->facts || x->opts->keep_shapes ? details_of(x, v) : FACT_NONE;
		break;
	case STAT_GRAPH:
		s->graph = value_number(v);
		break;
	case STAT_GRAPH_NODE:
		s->node = value_number(v);
		break;
	case STAT_GRAPH_EXEC:
		s->exec = value_number(v);
		break;
	case STAT_MODULE:
		s->module = xplane_value_text(x, v);
		break;
	case STAT_OP:
		s->op = xplane_value_text(x, v);
		break;
	case STAT_PROGRAM:
		s->program = value_id(v);
		break;
	case STAT_RUN:
		s->run = value_id(v);
		break;
	default:
		break;
	}
}

/* ---- arguments ---- */

static void arg_put(struct strbuf *b, const struct xplane_value *v)
{
	char number[32];

	switch (v->type) {
	case VALUE_NUMBER:
		strbuf_add(b, number,
			   v->is_signed ? num_fmt_i64(number, (int64_t)v->u64)
					: num_fmt_u64(number, v->u64));
		break;
	case VALUE_REAL:
		if (isfinite(v->real))
			strbuf_add(b, number, num_fmt_f64(number, v->real));
		else
			strbuf_addstr(b, "null");
		break;
	case VALUE_TEXT:
	case VALUE_REF:
		json_quote(b, (const char *)v->text.p, v->text.n < ARGS_MAX ? v->text.n : ARGS_MAX);
		break;
	case VALUE_BYTES:
		strbuf_addf(b, "\"%zu bytes\"", v->text.n);
		break;
	case VALUE_NONE:
		strbuf_addstr(b, "null");
		break;
	}
}

static void args_of(struct xplane *x, struct xplane_slice body, uint32_t number)
{
	struct pb_cursor c = xplane_cursor(body);
	struct xplane_value v;
	struct pb_field f;

	while (pb_next(&c, &f)) {
		if (f.number != number || !pb_is_bytes(&f) || !xplane_value_of(x, &f, &v) ||
		    !v.meta || (v.type == VALUE_REF && !v.ref))
			continue;
		strbuf_addch(&x->args, x->args.len > 1 ? ',' : '{');
		json_quote(&x->args, (const char *)v.meta->name.p,
			   v.meta->name.n < 1024 ? v.meta->name.n : 1024);
		strbuf_addch(&x->args, ':');
		arg_put(&x->args, &v);
	}
}

str_id xplane_args(struct xplane *x, struct xplane_slice event, const struct xplane_event_meta *m)
{
	strbuf_clear(&x->args);
	strbuf_limit(&x->args, ARGS_MAX);
	args_of(x, event, 4);
	if (m)
		args_of(x, m->body, 5);
	if (x->args.len == 0)
		return STR_NONE;
	if (x->args.overflow || x->args.len == ARGS_MAX)
		return sink_puts(x->sink, "{\"left_out\":\"more than 128 KiB\"}");
	strbuf_addch(&x->args, '}');
	return x->sink->ops->string(x->sink, x->args.buf, x->args.len);
}

/* ---- devices ---- */

static int64_t scaled(int64_t v, int64_t by)
{
	return v == FACT_ABSENT || __builtin_mul_overflow(v, by, &v) ? FACT_ABSENT : v;
}

static void device_fact(struct xplane *x, struct device_facts *d, const struct xplane_value *v)
{
	switch (v->meta ? v->meta->what : STAT_OTHER) {
	case STAT_CLOCK_KHZ:
		d->clock_hz = scaled(value_number(v), 1000);
		break;
	case STAT_CORES:
		d->units = value_number(v);
		break;
	case STAT_BANDWIDTH:
		d->bandwidth = value_number(v);
		break;
	case STAT_PEAK_GBPS:
		if (v->type == VALUE_REAL && v->real > 0 && v->real < 1e9)
			d->bandwidth = (int64_t)llround(v->real * 1e9);
		break;
	case STAT_MEMORY_SIZE:
		d->memory = value_number(v);
		break;
	case STAT_MAJOR:
		d->capability_major = value_number(v);
		break;
	case STAT_MINOR:
		d->capability_minor = value_number(v);
		break;
	case STAT_DEVICE_NAME:
	case STAT_DEVICE_TYPE:
		d->name = xplane_value_text(x, v);
		break;
	case STAT_START_TIME:
		x->start_ns = value_number(v) == FACT_ABSENT ? 0 : value_number(v);
		break;
	default:
		break;
	}
}

void xplane_device_facts(struct xplane *x, struct xplane_slice plane, struct device_facts *ret)
{
	struct pb_cursor c = xplane_cursor(plane);
	struct xplane_value v;
	struct pb_field f;

	*ret = DEVICE_FACTS_NONE;
	while (xplane_next(x, &c, &f, true))
		if (f.number == 6 && pb_is_bytes(&f) && xplane_value_counted(x, &f, &v))
			device_fact(x, ret, &v);
}
