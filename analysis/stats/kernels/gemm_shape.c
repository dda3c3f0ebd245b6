#include "gemm_shape.h"

#include <string.h>

#include "profrig/base/xalloc.h"
#include "profrig/model/facts.h"

#define SIZE_MOST (INT64_C(1) << 31)
#define LEVELS_MOST 64 /* between a launch and its operator */

static const struct {
	const char *name;
	unsigned first; /* tensor that is the left factor */
	bool linear;    /* the right one is [N,K] */
} operators[] = { { "aten::mm", 0, false },
		  { "aten::addmm", 1, false },
		  { "aten::bmm", 0, false },
		  { "aten::baddbmm", 1, false },
		  { "aten::linear", 0, true },
		  { "aten::_scaled_mm", 0, false },
		  { "aten::_addmm_activation", 1, false } };

/* Sizes of the nth tensor; NULL: there is none. */
static const int64_t *tensor_dims(const struct model *m, const struct operand_list *l, unsigned nth,
				  size_t *ret_nr)
{
	for (uint32_t i = l->first; i < l->first + l->nr; i++) {
		const struct operand *o = &m->facts.operands.v[i];

		if (o->kind == OPERAND_TENSOR && !o->in && nth-- == 0)
			return facts_numbers(m, o->dims, ret_nr);
	}
	*ret_nr = 0;
	return NULL;
}

static bool sizes_fit(const struct gemm_shape *s)
{
	return s->m > 0 && s->n > 0 && s->k > 0 && s->batch > 0 && s->m < SIZE_MOST &&
	       s->n < SIZE_MOST && s->batch < SIZE_MOST;
}

static bool shape_of_sizes(const int64_t *a, size_t na, const int64_t *b, size_t nb, bool linear,
			   struct gemm_shape *ret)
{
	if (na < 2 || nb < 2 || nb > 3 || (!linear && na != nb))
		return false;
	*ret = (struct gemm_shape){ .m = a[na - 2], .n = b[nb - 1], .k = a[na - 1], .batch = 1 };
	if (linear) {
		ret->n = b[nb - 2];
		for (size_t i = 0; i + 2 < na; i++)
			if (a[i] <= 0 || __builtin_mul_overflow(ret->m, a[i], &ret->m))
				return false;
		return nb == 2 && b[1] == ret->k && sizes_fit(ret);
	}
	if (na == 3)
		ret->batch = a[0];
	return b[nb - 2] == ret->k && (nb == 2 || b[0] == ret->batch) && sizes_fit(ret);
}

static bool shape_of_operator(const struct model *m, uint64_t span, const struct operand_list *l,
			      struct gemm_shape *ret)
{
	const char *name = model_str(m, m->spans.name[span]);

	for (size_t i = 0; i < ARRAY_LEN(operators); i++) {
		size_t na, nb;
		const int64_t *a, *b;

		if (strcmp(name, operators[i].name) != 0)
			continue;
		a = tensor_dims(m, l, operators[i].first, &na);
		b = tensor_dims(m, l, operators[i].first + 1, &nb);
		return a && b && shape_of_sizes(a, na, b, nb, operators[i].linear, ret);
	}
	return false;
}

bool gemm_shape_of(const struct model *m, uint64_t call, struct gemm_shape *ret)
{
	uint64_t s = call;

	for (unsigned up = 0; s != SPAN_NONE && up < LEVELS_MOST; up++, s = m->spans.parent[s]) {
		const struct op_facts *op = facts_op(m, s);

		if (op && op->operands < m->facts.lists.nr)
			return shape_of_operator(m, s, &m->facts.lists.v[op->operands], ret);
	}
	return false;
}
