/*
 * HloProto (xla/service/hlo.proto, xla/xla_data.proto): 1 is the module.
 *
 *	HloModuleProto		1 name, 3 computations, 5 id, 15 device_assignment,
 *				17 stack_frame_index, 19 frontend_attributes
 *	HloComputationProto	1 name, 2 instructions, 5 id
 *	HloInstructionProto	1 name, 2 opcode, 3 shape, 7 metadata, 35 id, 36 operand_ids,
 *				38 called_computation_ids, 49 replica_groups,
 *				52 source_target_pairs, 87 collective_device_list
 *	ShapeProto		2 element_type, 3 dimensions, 4 tuple_shapes
 *	OpMetadata		2 op_name, 3 source_file, 4 source_line, 15 stack_frame_id
 *	ReplicaGroup		1 replica_ids
 *	CollectiveDeviceList	1 replica_groups, 2 iota: 1 groups, 2 members of each
 *	StackFrameIndexProto	1 file_names, 2 function_names, 3 file_locations (1 file,
 *				2 function, 3 line), 4 stack_frames (1 location, 2 parent); all
 *				count from 1
 *
 * Callees and operands stand before their users.
 */
#include "hlo_private.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "profrig/base/protobuf.h"

#define TUPLE_DEPTH_MAX 16

struct proto {
	struct hlo_programs *p;
	struct hlo_module *m;
	const unsigned char *begin;
	struct u64map computations, instructions; /* by id */
	const char *problem;                      /* the first */
	size_t at;
	VEC(str_id) files, functions;
	VEC(struct place {
		uint64_t file, function;
		int64_t line;
	}) places;
};

/* The next field; damage is noted, and ends the message. */
static bool next(struct proto *x, struct pb_cursor *c, struct pb_field *f)
{
	if (pb_next(c, f))
		return true;
	if (c->problem && !x->problem) {
		x->problem = c->problem;
		x->at = (size_t)(c->at - x->begin);
	}
	return false;
}

static void wrong_type(struct proto *x, const struct pb_cursor *c)
{
	if (x->problem)
		return;
	x->problem = "a field has the wrong type";
	x->at = (size_t)(c->at - x->begin);
}

static str_id text_of(struct proto *x, const struct pb_field *f)
{
	return f->len > 0 ? intern_put(x->p->texts, (const char *)f->data, f->len) : 0;
}

/* ---- shapes ---- */

static const char *type_name(uint64_t type)
{
	static const char *const names[] = {
		[1] = "pred",        [2] = "s8",          [3] = "s16",   [4] = "s32",
		[5] = "s64",         [6] = "u8",          [7] = "u16",   [8] = "u32",
		[9] = "u64",         [10] = "f16",        [11] = "f32",  [12] = "f64",
		[15] = "c64",        [16] = "bf16",       [18] = "c128", [19] = "f8e5m2",
		[20] = "f8e4m3fn",   [21] = "s4",         [22] = "u4",   [23] = "f8e4m3b11fnuz",
		[24] = "f8e5m2fnuz", [25] = "f8e4m3fnuz", [26] = "s2",   [27] = "u2",
		[28] = "f8e4m3",     [29] = "f8e3m4",     [30] = "s1",   [31] = "u1",
		[32] = "f4e2m1fn",   [33] = "f8e8m0fnu",
	};

	return type < ARRAY_LEN(names) && names[type] ? names[type] : "";
}

static void shape_add(struct proto *x, const struct pb_field *of, struct hlo_instruction *i,
		      unsigned depth)
{
	struct pb_cursor c = pb_inside(of);
	const char *type = "";
	int64_t elements = 1;
	struct pb_field f;
	uint64_t v;

	while (next(x, &c, &f)) {
		if (f.number == 2 && pb_is_number(&f)) {
			type = type_name(f.u64);
		} else if (f.number == 3) {
			for (struct pb_packed p = pb_packed_of(&f); pb_packed_next(&p, &v);)
				if ((int64_t)v < 0 || elements < 0 ||
				    __builtin_mul_overflow(elements, (int64_t)v, &elements))
					elements = -1;
		} else if (f.number == 4 && pb_is_bytes(&f) && depth < TUPLE_DEPTH_MAX) {
			shape_add(x, &f, i, depth + 1);
		} else if (f.number == 4) {
			i->bytes = HLO_ABSENT;
		}
	}
	if (!*type)
		return;
	if (i->type == 0)
		i->type = intern_puts(x->p->texts, type);
	hlo_bytes_add(&i->bytes, elements, hlo_type_bits(type, strlen(type)));
}

/* ---- groups ---- */

static void group_take(struct proto *x, const struct pb_field *of, struct hlo_instruction *i)
{
	struct pb_cursor c = pb_inside(of);
	struct pb_field f;
	int64_t n = 0;
	uint64_t v;

	while (next(x, &c, &f))
		if (f.number == 1)
			for (struct pb_packed p = pb_packed_of(&f); pb_packed_next(&p, &v);)
				n++;
	hlo_group_add(i, n);
}

static void iota_take(struct proto *x, const struct pb_field *of, struct hlo_instruction *i)
{
	struct pb_cursor c = pb_inside(of);
	uint64_t groups = 0, members = 0;
	struct pb_field f;

	while (next(x, &c, &f)) {
		if (f.number == 1 && f.wire == PB_VARINT)
			groups = f.u64;
		else if (f.number == 2 && f.wire == PB_VARINT)
			members = f.u64;
	}
	if (groups == 0 || groups > UINT32_MAX || members == 0 || members > INT32_MAX)
		return;
	i->groups = (uint32_t)groups;
	i->group_size = (int64_t)members;
}

/* Newer files list the groups here, and for older readers outside, too. */
static void devices_take(struct proto *x, const struct pb_field *of, struct hlo_instruction *i)
{
	struct pb_cursor c = pb_inside(of);
	struct pb_field f;

	i->groups = 0;
	i->mixed = false;
	while (next(x, &c, &f)) {
		if (f.number == 1 && pb_is_bytes(&f))
			group_take(x, &f, i);
		else if (f.number == 2 && pb_is_bytes(&f))
			iota_take(x, &f, i);
	}
}

/* ---- instructions ---- */

static void metadata_take(struct proto *x, const struct pb_field *of, struct hlo_instruction *i)
{
	struct pb_cursor c = pb_inside(of);
	struct pb_field f;

	while (next(x, &c, &f)) {
		if (f.number == 2 && pb_is_bytes(&f))
			i->op_name = text_of(x, &f);
		else if (f.number == 3 && pb_is_bytes(&f))
			i->file = text_of(x, &f);
		else if (f.number == 4 && f.wire == PB_VARINT)
			i->line = pb_int(&f);
		else if (f.number == 15 && f.wire == PB_VARINT && f.u64 <= UINT32_MAX)
			i->frame = (uint32_t)f.u64;
	}
}

static void operands_take(struct proto *x, const struct pb_field *f, struct hlo_instruction *i)
{
	uint64_t id;

	for (struct pb_packed p = pb_packed_of(f); pb_packed_next(&p, &id);) {
		uint32_t at = u64map_get(&x->instructions, id);

		if (at != U64MAP_NONE)
			hlo_size_add(&i->operand_bytes, x->m->v.v[at].bytes);
	}
}

static void calls_take(struct proto *x, const struct pb_field *f, struct hlo_instruction *i)
{
	uint64_t id;

	for (struct pb_packed p = pb_packed_of(f); pb_packed_next(&p, &id);) {
		uint32_t at = u64map_get(&x->computations, id);

		if (at == U64MAP_NONE)
			continue;
		if (i->nr_calls == 0)
			i->calls = (uint32_t)x->m->calls.nr;
		VEC_PUSH(&x->m->calls, at);
		i->nr_calls++;
	}
}

static void instruction_take(struct proto *x, const struct pb_field *of)
{
	struct hlo_instruction i = HLO_INSTRUCTION_NONE;
	struct pb_cursor c = pb_inside(of);
	bool pairs = false, listed = false;
	uint64_t id = 0;
	struct pb_field f;

	while (next(x, &c, &f)) {
		bool number = f.number == 35, list = f.number == 36 || f.number == 38;
		bool bytes = f.number <= 3 || f.number == 7 || f.number == 49 || f.number == 52 ||
			     f.number == 87;

		if ((number && f.wire != PB_VARINT) || (bytes && !pb_is_bytes(&f)) ||
		    (list && f.wire != PB_VARINT && f.wire != PB_LEN))
			wrong_type(x, &c);
		else if (f.number == 1)
			i.name = text_of(x, &f);
		else if (f.number == 2)
			i.opcode = text_of(x, &f);
		else if (f.number == 3)
			shape_add(x, &f, &i, 0);
		else if (f.number == 7)
			metadata_take(x, &f, &i);
		else if (number)
			id = f.u64;
		else if (f.number == 36)
			operands_take(x, &f, &i);
		else if (f.number == 38)
			calls_take(x, &f, &i);
		else if (f.number == 49 && !listed)
			group_take(x, &f, &i);
		else if (f.number == 87)
			listed = true, devices_take(x, &f, &i);
		else if (f.number == 52)
			pairs = true;
	}
	if (pairs)
		i.groups = 1, i.group_size = 2;
	else if (i.groups == 0 && !listed && hlo_is_collective(x->p, &i))
		hlo_groups_all(x->m, &i);
	if (!hlo_push(x->m, &i) && !x->problem)
		x->problem = "too many instructions";
	*u64map_at(&x->instructions, id) = (uint32_t)(x->m->v.nr - 1);
}

static void computation_take(struct proto *x, const struct pb_field *of)
{
	struct hlo_computation n = { .first = (uint32_t)x->m->v.nr };
	struct pb_cursor c = pb_inside(of);
	uint64_t id = 0;
	struct pb_field f;

	while (!x->problem && next(x, &c, &f)) {
		if (f.number <= 2 && !pb_is_bytes(&f))
			wrong_type(x, &c);
		else if (f.number == 1)
			n.name = text_of(x, &f);
		else if (f.number == 2)
			instruction_take(x, &f);
		else if (f.number == 5)
			id = f.u64;
	}
	n.nr = (uint32_t)x->m->v.nr - n.first;
	*u64map_at(&x->computations, id) = (uint32_t)x->m->computations.nr;
	VEC_PUSH(&x->m->computations, n);
}

/* ---- the module ---- */

static void place_take(struct proto *x, const struct pb_field *of)
{
	struct place l = { 0, 0, HLO_ABSENT };
	struct pb_cursor c = pb_inside(of);
	struct pb_field f;

	while (next(x, &c, &f)) {
		if (f.number == 1)
			l.file = f.u64;
		else if (f.number == 2)
			l.function = f.u64;
		else if (f.number == 3)
			l.line = pb_int(&f);
	}
	VEC_PUSH(&x->places, l);
}

static void frame_take(struct proto *x, const struct pb_field *of)
{
	struct hlo_frame n = { .line = HLO_ABSENT };
	struct pb_cursor c = pb_inside(of);
	uint64_t at = 0;
	struct pb_field f;

	while (next(x, &c, &f)) {
		if (f.number == 1)
			at = f.u64;
		else if (f.number == 2 && f.u64 <= x->m->frames.nr)
			n.parent = (uint32_t)f.u64;
	}
	if (at > 0 && at <= x->places.nr) {
		const struct place *l = &x->places.v[at - 1];

		n.line = l->line;
		if (l->file > 0 && l->file <= x->files.nr)
			n.file = x->files.v[l->file - 1];
		if (l->function > 0 && l->function <= x->functions.nr)
			n.function = x->functions.v[l->function - 1];
	}
	VEC_PUSH(&x->m->frames, n);
}

static void frames_take(struct proto *x, const struct pb_field *of)
{
	struct pb_cursor c = pb_inside(of);
	struct pb_field f;

	while (next(x, &c, &f)) {
		if (f.number <= 4 && !pb_is_bytes(&f))
			wrong_type(x, &c);
		else if (f.number == 1)
			VEC_PUSH(&x->files, text_of(x, &f));
		else if (f.number == 2)
			VEC_PUSH(&x->functions, text_of(x, &f));
		else if (f.number == 3)
			place_take(x, &f);
		else if (f.number == 4)
			frame_take(x, &f);
	}
}

static void attribute_take(struct proto *x, const struct pb_field *of)
{
	static const char key[] = "fingerprint_before_lhs";
	struct pb_cursor c = pb_inside(of);
	bool is_it = false;
	str_id value = 0;
	struct pb_field f;

	while (next(x, &c, &f)) {
		if (f.number == 1 && pb_is_bytes(&f))
			is_it = f.len == sizeof(key) - 1 && memcmp(f.data, key, f.len) == 0;
		else if (f.number == 2 && pb_is_bytes(&f))
			value = text_of(x, &f);
	}
	if (is_it)
		x->m->fingerprint = value;
}

static void attributes_take(struct proto *x, const struct pb_field *of)
{
	struct pb_cursor c = pb_inside(of);
	struct pb_field f;

	while (next(x, &c, &f))
		if (f.number == 1 && pb_is_bytes(&f))
			attribute_take(x, &f);
}

static void assignment_take(struct proto *x, const struct pb_field *of)
{
	struct pb_cursor c = pb_inside(of);
	struct pb_field f;

	while (next(x, &c, &f)) {
		if (f.number == 1 && f.wire == PB_VARINT)
			x->m->replicas = pb_int(&f);
		else if (f.number == 2 && f.wire == PB_VARINT)
			x->m->partitions = pb_int(&f);
	}
}

static void module_take(struct proto *x, const struct pb_field *of)
{
	struct pb_cursor c = pb_inside(of);
	struct pb_field f;

	/* instructions need to know how many replicas there are */
	while (next(x, &c, &f)) {
		if (f.number == 1 && pb_is_bytes(&f))
			x->m->name = text_of(x, &f);
		else if (f.number == 5 && f.wire == PB_VARINT)
			x->m->id = pb_int(&f);
		else if (f.number == 15 && pb_is_bytes(&f))
			assignment_take(x, &f);
		else if (f.number == 17 && pb_is_bytes(&f))
			frames_take(x, &f);
		else if (f.number == 19 && pb_is_bytes(&f))
			attributes_take(x, &f);
	}
	for (c = pb_inside(of); !x->problem && next(x, &c, &f);)
		if (f.number == 3 && pb_is_bytes(&f))
			computation_take(x, &f);
}

static void proto_release(struct proto *x)
{
	u64map_release(&x->computations);
	u64map_release(&x->instructions);
	VEC_RELEASE(&x->files);
	VEC_RELEASE(&x->functions);
	VEC_RELEASE(&x->places);
}

int hlo_parse_proto(struct hlo_programs *p, const char *data, size_t n, struct hlo_module *m,
		    const char *path, struct err *err)
{
	CLEANUP(proto_release)
	struct proto x = { .p = p, .m = m, .begin = (const unsigned char *)data };
	struct pb_cursor c = pb_cursor_of(data, n);
	struct pb_field f;

	while (!x.problem && next(&x, &c, &f))
		if (f.number == 1 && pb_is_bytes(&f) && m->computations.nr == 0)
			module_take(&x, &f);
	if (x.problem)
		return err_set(err, EINVAL, "%s: offset %zu: %s", path, x.at, x.problem);
	if (m->name == 0 || m->computations.nr == 0)
		return err_set(err, EINVAL, "%s: offset 0: no module of HLO in it", path);
	return 0;
}
