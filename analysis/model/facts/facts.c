#include "profrig/model/facts.h"
#include "model_private.h"

#include <inttypes.h>
#include <xxhash.h>

#include "profrig/base/search.h"

/* ---- the fields ---- */

/* clang-format off */
#define N(row, member) { FACT_NUMBER, offsetof(struct row, member), 0 }
#define S(row, member) { FACT_SIZE, offsetof(struct row, member), 0 }
#define T(row, member) { FACT_TEXT, offsetof(struct row, member), 0 }
#define L(row, member) { FACT_NUMBERS, offsetof(struct row, member), 0 }
#define F(row, member) { FACT_FLAG, offsetof(struct row, member), 0 }
#define W(row, member, last) { FACT_WORD, offsetof(struct row, member), (unsigned)(last) + 1 }

static const struct fact_field op_fields[] = {
	{ FACT_OPERANDS, offsetof(struct op_facts, operands), 0 },
	N(op_facts, sequence), N(op_facts, forward_thread), N(op_facts, python_id),
	N(op_facts, python_parent), N(op_facts, module_id), T(op_facts, call_stack),
	T(op_facts, name), N(op_facts, op_id),
};

static const struct fact_field kernel_fields[] = {
	S(kernel_facts, grid[0]), S(kernel_facts, grid[1]), S(kernel_facts, grid[2]),
	S(kernel_facts, block[0]), S(kernel_facts, block[1]), S(kernel_facts, block[2]),
	F(kernel_facts, grid_items), S(kernel_facts, registers), S(kernel_facts, shared_bytes),
	S(kernel_facts, local_bytes), N(kernel_facts, graph), N(kernel_facts, graph_node),
	N(kernel_facts, graph_exec),
};

static const struct fact_field copy_fields[] = {
	S(copy_facts, bytes), W(copy_facts, direction, COPY_P2P),
	W(copy_facts, from, MEMORY_ARRAY), W(copy_facts, to, MEMORY_ARRAY),
	N(copy_facts, graph), N(copy_facts, graph_node),
};

static const struct fact_field sync_fields[] = {
	W(sync_facts, kind, SYNC_RECORD_EVENT), N(sync_facts, stream), N(sync_facts, event),
	N(sync_facts, event_stream), N(sync_facts, call), N(sync_facts, record),
};

static const struct fact_field collective_fields[] = {
	T(collective_facts, name), T(collective_facts, dtype),
	S(collective_facts, in_elements), S(collective_facts, out_elements),
	L(collective_facts, in_split), L(collective_facts, out_split),
	L(collective_facts, ranks), T(collective_facts, group),
	T(collective_facts, group_about), S(collective_facts, group_size),
	N(collective_facts, sequence), N(collective_facts, root), N(collective_facts, from),
	N(collective_facts, to), S(collective_facts, bytes), N(collective_facts, channel),
};

static const struct fact_field memory_fields[] = {
	F(memory_facts, on_device), N(memory_facts, device), N(memory_facts, address),
	{ FACT_CHANGE, offsetof(struct memory_facts, bytes), 0 },
	S(memory_facts, allocated), S(memory_facts, reserved),
};

static const struct fact_field capture_fields[] = {
	W(capture_facts, kind, CAPTURE_NODE), N(capture_facts, stream), N(capture_facts, graph),
	N(capture_facts, exec), T(capture_facts, name),
};

/* execution and ordinal are no part of it: readers do not state them */
static const struct fact_field program_fields[] = {
	W(program_facts, kind, PROGRAM_COMPILE), T(program_facts, module),
	T(program_facts, fingerprint), T(program_facts, op), N(program_facts, program_id),
	N(program_facts, run), S(program_facts, device),
};

static const struct fact_field stamp_fields[] = {
	W(stamp_facts, phase, PHASE_DMA_OUT), N(stamp_facts, cycles[0]), N(stamp_facts, cycles[1]),
	N(stamp_facts, cycles[2]), N(stamp_facts, cycles[3]), N(stamp_facts, cycles[4]),
	N(stamp_facts, host_ns), N(stamp_facts, order),
};

static const struct fact_field device_fields[] = {
	N(device_facts, number), T(device_facts, name), S(device_facts, units),
	S(device_facts, warp), S(device_facts, clock_hz), S(device_facts, memory_clock_hz),
	S(device_facts, bus_bits), S(device_facts, bandwidth), S(device_facts, memory),
	S(device_facts, capability_major), S(device_facts, capability_minor),
	T(device_facts, arch),
};

static const struct fact_field world_fields[] = {
	S(world_facts, rank), S(world_facts, size), T(world_facts, backend),
	T(world_facts, version),
};

#define FORM(fields, row) { fields, ARRAY_LEN(fields), sizeof(struct row) }
const struct fact_form fact_forms[FACT_FORMS] = {
	[FACTS_OP] = FORM(op_fields, op_facts),
	[FACTS_KERNEL] = FORM(kernel_fields, kernel_facts),
	[FACTS_COPY] = FORM(copy_fields, copy_facts),
	[FACTS_SYNC] = FORM(sync_fields, sync_facts),
	[FACTS_COLLECTIVE] = FORM(collective_fields, collective_facts),
	[FACTS_MEMORY] = FORM(memory_fields, memory_facts),
	[FACTS_CAPTURE] = FORM(capture_fields, capture_facts),
	[FACTS_PROGRAM] = FORM(program_fields, program_facts),
	[FACTS_STAMP] = FORM(stamp_fields, stamp_facts),
	[FACT_FORM_DEVICE] = FORM(device_fields, device_facts),
	[FACT_FORM_WORLD] = FORM(world_fields, world_facts),
};
/* clang-format on */

/* ---- checks ---- */

static bool number_is_bad(enum fact_type type, int64_t v)
{
	if (v == FACT_ABSENT || type == FACT_NUMBER)
		return false;
	return v > FACT_SIZE_MAX || v < (type == FACT_CHANGE ? -FACT_SIZE_MAX : 0);
}

/* Takes out what cannot be; returns how much. */
static unsigned field_check(const struct model *m, void *row, const struct fact_field *f)
{
	static const int64_t absent = FACT_ABSENT;
	static const uint32_t none = FACT_NONE;
	int64_t v;
	uint32_t id;

	switch (f->type) {
	case FACT_NUMBER:
	case FACT_TEXT:
	case FACT_FLAG:
		return 0;
	case FACT_SIZE:
	case FACT_CHANGE:
		fact_take(row, f, &v, sizeof(v));
		if (!number_is_bad(f->type, v))
			return 0;
		fact_put(row, f, &absent, sizeof(absent));
		return 1;
	case FACT_OPERANDS:
	case FACT_NUMBERS:
		fact_take(row, f, &id, sizeof(id));
		if (id == FACT_NONE ||
		    id < (f->type == FACT_OPERANDS ? m->facts.lists.nr : m->facts.numbers.nr))
			return 0;
		fact_put(row, f, &none, sizeof(none));
		return 1;
	case FACT_WORD:
		fact_take(row, f, &id, sizeof(id));
		if (id < f->end)
			return 0;
		id = 0;
		fact_put(row, f, &id, sizeof(id));
		return 1;
	}
	return 0;
}

static void row_check(struct model_priv *p, unsigned form, void *row)
{
	const struct fact_form *ff = &fact_forms[form];
	unsigned bad = 0;

	for (size_t i = 0; i < ff->nr; i++)
		bad += field_check(p->model, row, &ff->fields[i]);
	if (bad)
		model_warn(p->model, p->current, W_BAD_FACT, bad,
			   "a number of what a span states cannot be");
}

/* ---- the sink ---- */

void sink_op_facts(struct sink *s, span_id span, const struct span_facts *f)
{
	struct model_priv *p = model_priv_of(s);
	struct facts *to = &p->model->facts;
	struct span_facts row = *f;

	if (span >= p->model->spans.nr || (unsigned)f->kind > FACTS_LAST) {
		model_warn(p->model, p->current, W_UNKNOWN_REFERENCE, 1,
			   "facts of an unknown span");
		return;
	}
	row_check(p, row.kind, &row.op);
	row.op.span = span;
	switch (row.kind) {
	case FACTS_OP:
		VEC_PUSH(&to->ops, row.op);
		return;
	case FACTS_KERNEL:
		VEC_PUSH(&to->kernels, row.kernel);
		return;
	case FACTS_COPY:
		VEC_PUSH(&to->copies, row.copy);
		return;
	case FACTS_SYNC:
		VEC_PUSH(&to->syncs, row.sync);
		return;
	case FACTS_COLLECTIVE:
		VEC_PUSH(&to->collectives, row.collective);
		return;
	case FACTS_MEMORY:
		VEC_PUSH(&to->memory, row.memory);
		return;
	case FACTS_CAPTURE:
		VEC_PUSH(&to->captures, row.capture);
		return;
	case FACTS_PROGRAM:
		row.program.execution = row.program.ordinal = FACT_NONE;
		VEC_PUSH(&to->programs, row.program);
		return;
	case FACTS_STAMP:
		VEC_PUSH(&to->stamps, row.stamp);
		return;
	}
}

/* Lists of different inputs share no state, so that a rank with only some of them counts alike. */
static void bad_list_count(struct model_priv *p, uint32_t list)
{
	struct fact_list_state *ls = &p->facts.lists.v[list];

	if (ls->input == p->current)
		return;
	ls->input = p->current;
	if (ls->bad)
		model_warn(p->model, p->current, W_BAD_FACT, ls->bad,
			   "operands of a call are no lists of sizes, or too many");
}

bool operand_texts_any(const struct operand_texts *t)
{
	return t->shapes.p || t->types.p || t->strides.p || t->concrete.p;
}

uint64_t operand_texts_hash(const struct operand_texts *t)
{
	const struct fact_text *texts[] = { &t->shapes, &t->types, &t->strides, &t->concrete };
	uint64_t h = 0;

	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		h = XXH3_64bits_withSeed(texts[i]->p ? texts[i]->p : "",
					 texts[i]->p ? texts[i]->n : 0,
					 h * 3 + (texts[i]->p != NULL));
	return h;
}

uint32_t facts_operands(struct model_priv *p, const struct operand_texts *t, uint64_t *ret_bad)
{
	uint32_t *id = u64map_at(&p->facts.list_ids, operand_texts_hash(t)), list = *id;

	*ret_bad = 0;
	if (list == U64MAP_NONE) {
		*id = list = (uint32_t)p->model->facts.lists.nr;
		facts_parse(p, t, ret_bad);
		VEC_PUSH(&p->facts.lists, (struct fact_list_state){ *ret_bad, INPUT_NONE });
	}
	return list;
}

uint32_t sink_op_operands(struct sink *s, const struct operand_texts *t)
{
	struct model_priv *p = model_priv_of(s);
	uint32_t list;
	uint64_t bad;

	if (!operand_texts_any(t))
		return FACT_NONE;
	list = facts_operands(p, t, &bad);
	bad_list_count(p, list);
	return list;
}

uint32_t facts_numbers_put(struct model_priv *p, const int64_t *v, size_t n)
{
	struct facts *f = &p->model->facts;
	uint64_t hash = XXH3_64bits(v, n * sizeof(*v));
	uint32_t id = u64map_get(&p->facts.number_ids, hash);

	if (id != U64MAP_NONE)
		return id;
	if (f->values.nr + n > FACT_ALL_MAX)
		return FACT_NONE;
	*u64map_at(&p->facts.number_ids, hash) = (uint32_t)f->numbers.nr;
	VEC_PUSH(&f->numbers, (struct fact_numbers){ (uint32_t)f->values.nr, (uint32_t)n });
	for (size_t i = 0; i < n; i++)
		VEC_PUSH(&f->values, v[i]);
	return (uint32_t)(f->numbers.nr - 1);
}

uint32_t sink_op_numbers(struct sink *s, const int64_t *v, size_t n)
{
	struct model_priv *p = model_priv_of(s);
	uint32_t id = n > FACT_NUMBERS_MAX ? FACT_NONE : facts_numbers_put(p, v, n);

	if (id == FACT_NONE)
		model_warn(p->model, p->current, W_BAD_FACT, 1, "a list of %zu numbers is too long",
			   n);
	return id;
}

void sink_op_device(struct sink *s, const struct device_facts *d)
{
	struct model_priv *p = model_priv_of(s);
	struct device_facts row = *d;

	row_check(p, FACT_FORM_DEVICE, &row);
	row.input = p->current;
	if (!VEC_FIND(&p->model->facts.devices, had,
		      had->input == row.input && had->number == row.number))
		VEC_PUSH(&p->model->facts.devices, row);
}

void sink_op_world(struct sink *s, const struct world_facts *w)
{
	struct model_priv *p = model_priv_of(s);
	struct world_facts row = *w;

	row_check(p, FACT_FORM_WORLD, &row);
	row.input = p->current;
	if (!VEC_FIND(&p->model->facts.worlds, had, had->input == row.input))
		VEC_PUSH(&p->model->facts.worlds, row);
}

/* ---- life ---- */

void facts_drop_spans(struct model *m)
{
#define X(one, all) VEC_RELEASE(&m->facts.all);
	FACT_ROWS(X)
#undef X
}

void facts_release(struct model *m)
{
	struct facts_state *st = &m->priv->facts;

	facts_drop_spans(m);
	VEC_RELEASE(&m->facts.devices);
	VEC_RELEASE(&m->facts.worlds);
	VEC_RELEASE(&m->facts.lists);
	VEC_RELEASE(&m->facts.operands);
	VEC_RELEASE(&m->facts.numbers);
	VEC_RELEASE(&m->facts.values);
	u64map_release(&st->list_ids);
	u64map_release(&st->number_ids);
	VEC_RELEASE(&st->lists);
	VEC_RELEASE(&st->values);
	VEC_RELEASE(&st->operands);
	strbuf_release(&st->text);
}

/* ---- look-ups ---- */

#define X(one, all) \
	const struct one##_facts *facts_##one(const struct model *m, uint64_t span) \
	{ \
		size_t at = LOWER_BOUND(i, 0, m->facts.all.nr, m->facts.all.v[i].span < span); \
\
		return at < m->facts.all.nr && m->facts.all.v[at].span == span \
			       ? &m->facts.all.v[at] \
			       : NULL; \
	}
FACT_ROWS(X)
#undef X

const int64_t *facts_numbers(const struct model *m, uint32_t id, size_t *ret_nr)
{
	const struct fact_numbers *n = NULL;

	if (id < m->facts.numbers.nr)
		n = &m->facts.numbers.v[id];
	*ret_nr = n ? n->nr : 0;
	return n && n->nr ? &m->facts.values.v[n->first] : NULL;
}

const struct device_facts *facts_device(const struct model *m, uint32_t input, int64_t number)
{
	const struct device_facts *first = NULL;
	bool alike = true;

	for (size_t i = 0; i < m->facts.devices.nr; i++) {
		const struct device_facts *d = &m->facts.devices.v[i];

		if (d->input != input)
			continue;
		if (d->number == number)
			return d;
		first = first ? first : d;
		alike = alike && d->name == first->name && d->units == first->units &&
			d->memory == first->memory;
	}
	return alike ? first : NULL;
}
