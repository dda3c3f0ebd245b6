#include "hlo_private.h"

#include <string.h>

unsigned hlo_type_bits(const char *type, size_t n)
{
	size_t at = 0;
	unsigned bits = 0;

	if (n == 4 && memcmp(type, "pred", 4) == 0)
		return 8;
	if (n > 0 && *type == 'b')
		at++;
	if (at == n || !strchr("sufc", type[at]))
		return 0;
	for (at++; at < n && type[at] >= '0' && type[at] <= '9' && bits < 1000; at++)
		bits = bits * 10 + (unsigned)(type[at] - '0');
	return bits <= 128 ? bits : 0;
}

void hlo_size_add(int64_t *bytes, int64_t more)
{
	if (*bytes == HLO_ABSENT || more == HLO_ABSENT || more < 0 ||
	    __builtin_add_overflow(*bytes, more, bytes))
		*bytes = HLO_ABSENT;
}

void hlo_bytes_add(int64_t *bytes, int64_t elements, unsigned bits)
{
	int64_t all;

	if (elements < 0 || __builtin_mul_overflow(elements, (int64_t)bits, &all))
		*bytes = HLO_ABSENT;
	else
		hlo_size_add(bytes, all / 8 + (all % 8 != 0));
}

void hlo_group_add(struct hlo_instruction *i, int64_t n)
{
	if (i->groups > 0 && i->group_size != n)
		i->mixed = true;
	i->groups++;
	i->group_size = i->mixed ? HLO_ABSENT : n;
}

void hlo_groups_all(const struct hlo_module *m, struct hlo_instruction *i)
{
	int64_t n = m->replicas != HLO_ABSENT && m->replicas > 1 ? m->replicas : m->partitions;

	if (n != HLO_ABSENT && n > 0)
		hlo_group_add(i, n);
}

bool hlo_push(struct hlo_module *m, const struct hlo_instruction *i)
{
	uint32_t *at;

	if (m->v.nr >= HLO_INSTRUCTIONS_MAX)
		return false;
	at = u64map_at(&m->by_name, i->name);
	if (*at == U64MAP_NONE)
		*at = (uint32_t)m->v.nr;
	VEC_PUSH(&m->v, *i);
	return true;
}

const struct hlo_instruction *hlo_instruction(const struct hlo_module *m, str_id name)
{
	uint32_t at = u64map_get(&m->by_name, name);

	return at == U64MAP_NONE ? NULL : &m->v.v[at];
}

void hlo_module_release(struct hlo_module *m)
{
	VEC_RELEASE(&m->v);
	VEC_RELEASE(&m->computations);
	VEC_RELEASE(&m->calls);
	VEC_RELEASE(&m->frames);
	u64map_release(&m->by_name);
}

/* ---- collectives ---- */

#define DEPTH_MAX 8
#define VISITS_MAX 100000

struct search {
	const struct hlo_programs *p;
	const struct hlo_module *m;
	const struct hlo_instruction *found;
	unsigned nr, visits;
};

bool hlo_is_collective(const struct hlo_programs *p, const struct hlo_instruction *i)
{
	static const char *const names[] = { "all-gather",         "all-reduce",
					     "all-to-all",         "collective-broadcast",
					     "collective-permute", "reduce-scatter" };
	const char *opcode = intern_str(p->texts, i->opcode);

	for (size_t k = 0; k < ARRAY_LEN(names); k++) {
		size_t n = strlen(names[k]);

		if (strncmp(opcode, names[k], n) == 0 &&
		    (!opcode[n] || strcmp(opcode + n, "-start") == 0))
			return true;
	}
	return false;
}

static void collective_search(struct search *s, const struct hlo_instruction *i, unsigned depth)
{
	const char *opcode = intern_str(s->p->texts, i->opcode);

	if (hlo_is_collective(s->p, i)) {
		s->nr += s->found != i;
		s->found = i;
		return;
	}
	if (depth == DEPTH_MAX || (strcmp(opcode, "async-start") != 0 &&
				   strcmp(opcode, "fusion") != 0 && strcmp(opcode, "call") != 0))
		return;
	for (uint32_t c = 0; c < i->nr_calls; c++) {
		const struct hlo_computation *of =
			&s->m->computations.v[s->m->calls.v[i->calls + c]];

		for (uint32_t k = 0; k < of->nr && s->visits < VISITS_MAX; k++, s->visits++)
			collective_search(s, &s->m->v.v[of->first + k], depth + 1);
	}
}

const struct hlo_instruction *hlo_collective(const struct hlo_programs *p,
					     const struct hlo_module *m,
					     const struct hlo_instruction *i, bool *ret_several)
{
	struct search s = { .p = p, .m = m };

	collective_search(&s, i, 0);
	*ret_several = s.nr > 1;
	return s.nr == 1 ? s.found : NULL;
}
