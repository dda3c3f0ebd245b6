/*
 * What is done element by element. Flops are nominal: 1 for an element of the result, 5 in a
 * softmax, 8 in a norm, 1 for an element that is reduced, none where data only moves.
 *	elementwise	at: inputs. They are read, and the shape that they broadcast to is written
 *	softmax		at: inputs, where its result is stated to be f32. In and out
 *	norm		at: first and last parameter, whether it trains. In, out and parameters; a
 *			batch norm that trains reads its input twice
 *	reduce		at: dim, dtype, least arguments of the form that has a dim
 *	embedding	rows are read and written, indices read. at: table, indices
 *	select		likewise along a dimension. at: table, dimension, indices
 */
#include "op_args.h"

#include <string.h>

#include "profrig/base/xalloc.h"

enum kind_of_number { NUMBER_BOOL, NUMBER_INT, NUMBER_REAL, NUMBER_COMPLEX };

static enum kind_of_number number_kind(const struct element_type *t)
{
	if (t->complex)
		return NUMBER_COMPLEX;
	if (strcmp(t->name, "bool") == 0)
		return NUMBER_BOOL;
	return t->name[0] == 'i' || t->name[0] == 'u' ? NUMBER_INT : NUMBER_REAL;
}

/* PyTorch's promotion among tensors; NULL: one is unknown. */
static const struct element_type *wider(const struct element_type *a, const struct element_type *b)
{
	if (number_kind(a) != number_kind(b))
		return number_kind(a) > number_kind(b) ? a : b;
	if (a->bits == b->bits && a != b && number_kind(a) == NUMBER_REAL)
		return a->bits == 16 ? element_type("f32", 3) : a; /* f16 with bf16 */
	return a->bits >= b->bits ? a : b;
}

/* What broadcasts together: tensors with dimensions decide the type before those without. */
struct inputs {
	struct op_shape shape;
	const struct element_type *type, *scalar;
	bool any, untyped;
};

static bool input_join(struct op_call *c, const struct op_arg *a, struct inputs *in)
{
	const struct element_type **type = a->nr ? &in->type : &in->scalar;

	if (!arg_is_tensor(a))
		return true; /* a scalar */
	if (a->bad || !shape_join(&in->shape, a->dim, a->nr))
		return misfit(c);
	in->any = true;
	in->untyped |= !a->type;
	if (a->type)
		*type = *type ? wider(*type, a->type) : a->type;
	return true;
}

static const struct element_type *inputs_type(const struct op_call *c, const struct inputs *in)
{
	const struct element_type *t = in->type ? in->type : in->scalar;

	if (in->untyped || !t)
		return NULL;
	if (in->type && in->scalar && number_kind(in->scalar) > number_kind(t))
		t = in->scalar;
	if (c->model->flags & OP_BOOL)
		return element_type("bool", 4);
	if (c->model->flags & OP_REAL && number_kind(t) < NUMBER_REAL)
		return element_type("f32", 3);
	return t;
}

/* In place the first one is the result. aten::where's first input is a condition. */
void cost_elementwise(struct op_call *c)
{
	struct inputs in = { .any = false };
	bool where = strcmp(c->model->name, "aten::where") == 0;

	for (size_t i = 0; i < (size_t)c->model->at[0]; i++) {
		struct inputs condition = { .shape = in.shape };

		if (!input_join(c, op_arg(c, i), where && !i ? &condition : &in))
			return;
		if (where && !i)
			in.shape = condition.shape;
		move_arg(c, op_arg(c, i));
	}
	if (!in.any) {
		untold(c);
		return;
	}
	c->type = inputs_type(c, &in);
	c->flops = shape_elements(&in.shape);
	if (c->model->flags & OP_IN_PLACE)
		c->type = op_arg(c, 0)->type;
	if (c->model->flags & OP_IN_PLACE && arg_elements(op_arg(c, 0)) != c->flops)
		misfit(c);
	move_elements(c, c->flops, c->type);
}

/* Lists of tensors: all are read, those of the first one written. */
void cost_foreach(struct op_call *c)
{
	bool any = false;

	for (size_t i = 0; i < c->nr; i++) {
		uint32_t at = c->v[i].at;
		struct op_arg a;

		while (c->v[i].kind == OPERAND_LIST && list_tensor(c, &at, &a)) {
			move_arg(c, &a);
			if (i || !arg_is_tensor(&a) || a.bad)
				continue;
			any = true;
			c->type = a.type;
			c->flops = amount_add(c->flops, arg_elements(&a));
			move_elements(c, arg_elements(&a), a.type);
		}
	}
	if (!any && c->state == COST_KNOWN)
		untold(c);
}

void cost_softmax(struct op_call *c)
{
	const struct op_arg *a = op_arg(c, 0);
	bool f32 = c->model->at[1] != NO_ARG && arg_bool(op_arg(c, (size_t)c->model->at[1])) == 1;

	c->type = a->type;
	for (size_t i = 0; i < (size_t)c->model->at[0]; i++) {
		if (!need_tensor(c, op_arg(c, i), 0))
			return;
		move_arg(c, op_arg(c, i));
	}
	c->flops = amount_mul(arg_elements(a), 5);
	move_elements(c, arg_elements(a), f32 ? element_type("f32", 3) : a->type);
}

void cost_norm(struct op_call *c)
{
	const int *at = c->model->at;
	const struct op_arg *x = op_arg(c, 0);
	int trains = at[2] == NO_ARG ? 0 : arg_bool(op_arg(c, (size_t)at[2]));

	c->type = x->type;
	if (!need_tensor(c, x, 1))
		return;
	c->flops = amount_mul(arg_elements(x), 8);
	move_elements(c, amount_mul(arg_stored(x), trains == 1 ? 2 : 1), x->type);
	move_elements(c, arg_elements(x), x->type);
	for (int i = at[0]; i <= at[1]; i++)
		move_arg(c, op_arg(c, (size_t)i));
	c->no_bytes |= trains < 0;
}

/* Elements of what is left when the dimensions of the argument are gone. */
static bool reduce_left(struct op_call *c, const struct op_arg *x, const struct op_arg *which,
			amount *ret)
{
	int64_t dims[FACT_DIMS_MAX];
	int nr = arg_ints(which, dims, FACT_DIMS_MAX);
	bool gone[FACT_DIMS_MAX] = { false };

	if (!c->told || (nr < 0 && *which->text))
		return untold(c);
	for (int i = 0; i < nr; i++) {
		int64_t d = dims[i] < 0 ? dims[i] + (int64_t)x->nr : dims[i];

		if (x->nr == 0 && (dims[i] == 0 || dims[i] == -1))
			continue;
		if (d < 0 || d >= (int64_t)x->nr || gone[d])
			return misfit(c);
		gone[d] = true;
	}
	*ret = 1;
	for (size_t i = 0; nr > 0 && i < x->nr; i++)
		if (!gone[i])
			*ret = amount_mul(*ret, x->dim[i]);
	return true;
}

static const struct op_model larger_of_two = {
	"aten::maximum", COST_ELEMENTWISE, cost_elementwise, { 2 }, 0
};

/* keepdim leaves dimensions of one element behind: no elements more. */
static const struct element_type *reduced_type(const struct op_call *c, const struct op_arg *x)
{
	const char *name = c->model->name;
	int at = c->nr >= (size_t)c->model->at[2] ? c->model->at[1]
		 : c->model->at[1] >= 0           ? 1
						  : NO_ARG;
	bool sums = strstr(name, "sum") || strstr(name, "prod");
	int64_t number;

	if (c->model->flags & OP_BOOL)
		return element_type("bool", 4);
	if (arg_int(op_arg(c, (size_t)at), &number) && element_type_number(number))
		return element_type_number(number);
	if (x->type && sums && number_kind(x->type) < NUMBER_REAL)
		return element_type("i64", 3);
	return x->type;
}

void cost_reduce(struct op_call *c)
{
	const int *at = c->model->at;
	const struct op_arg *x = op_arg(c, 0);
	bool index = c->model->flags & OP_INDEX, values = !index || c->model->flags & OP_VALUES;
	amount left = 1;

	if (arg_is_tensor(op_arg(c, 1)) && index) { /* of two tensors */
		c->model = &larger_of_two;
		cost_elementwise(c);
		return;
	}
	c->type = x->type;
	if (!need_tensor(c, x, 0) ||
	    (c->nr >= (size_t)at[2] && !reduce_left(c, x, op_arg(c, (size_t)at[0]), &left)))
		return;
	c->flops = arg_elements(x);
	move_arg(c, x);
	if (values)
		move_elements(c, left, reduced_type(c, x));
	if (index && (!values || c->nr >= (size_t)at[2]))
		move_elements(c, left, element_type("i64", 3));
}

void cost_embedding(struct op_call *c)
{
	const struct op_arg *w = op_arg(c, 0), *ids = op_arg(c, 1);

	c->type = w->type;
	if (!need_tensor(c, w, 2) || !need_tensor(c, ids, 0))
		return;
	if (w->nr != 2) {
		misfit(c);
		return;
	}
	move_elements(c, amount_mul(amount_mul(arg_elements(ids), w->dim[1]), 2), w->type);
	move_arg(c, ids);
}

void cost_select(struct op_call *c)
{
	const struct op_arg *x = op_arg(c, 0), *ids = op_arg(c, 2);
	amount rest = 1;
	int64_t dim;

	c->type = x->type;
	if (!need_tensor(c, x, 1) || !need_tensor(c, ids, 0))
		return;
	if (!arg_int(op_arg(c, 1), &dim)) {
		untold(c);
		return;
	}
	dim += dim < 0 ? (int64_t)x->nr : 0;
	if (dim < 0 || dim >= (int64_t)x->nr) {
		misfit(c);
		return;
	}
	for (size_t i = 0; i < x->nr; i++)
		if ((int64_t)i != dim)
			rest = amount_mul(rest, x->dim[i]);
	move_elements(c, amount_mul(amount_times(rest, arg_elements(ids)), 2), x->type);
	move_arg(c, ids);
}

/* at: what is read. The first argument is written, or the result, which has its size. */
void cost_copy(struct op_call *c)
{
	const struct op_arg *to = op_arg(c, 0);

	c->type = to->type;
	if (!need_tensor(c, to, 0) ||
	    (c->model->at[0] != NO_ARG && !need_tensor(c, op_arg(c, (size_t)c->model->at[0]), 0)))
		return;
	move_arg(c, op_arg(c, (size_t)c->model->at[0]));
	move_elements(c, arg_elements(to), to->type);
}

void cost_cat(struct op_call *c)
{
	const struct op_arg *list = op_arg(c, 0);
	uint32_t at = list->at;
	bool any = false;
	struct op_arg a;

	while (list->kind == OPERAND_LIST && list_tensor(c, &at, &a)) {
		any = true;
		c->type = a.type;
		move_arg(c, &a);
		if (!a.bad)
			move_elements(c, arg_elements(&a), a.type);
	}
	if (!any)
		untold(c);
}
