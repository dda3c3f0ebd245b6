/*
 * Products of matrices. at: the two factors, what is added, dimensions of the factors (0: any).
 *	mm [M,K]·[K,N]		2MNK; MK + KN + MN elements
 *	… with a summand	+ MN (each batch); + its elements
 *	linear			x [..,K], weights [N,K], bias [N]
 *	scaled			each operand by its own type, the scales, too
 *	grouped			2·K·N·ΣM, whatever the split is
 *	moe, gated		6·T·k·H·I (not gated: 4·T·k·H·I); weights of at most T·k experts
 */
#include "op_args.h"

#include <string.h>

#include "profrig/base/xalloc.h"
#include "profrig/cost/products.h"

/* A vector is a row on the left, a column on the right. */
static bool product_of(struct op_call *c, const struct op_arg *a, const struct op_arg *b,
		       struct op_product *p)
{
	struct op_shape batch = { .nr = 0 };
	bool row = a->nr == 1, column = b->nr == 1;

	if (!need_tensor(c, a, 1) || !need_tensor(c, b, 1))
		return false;
	p->m = row ? 1 : a->dim[a->nr - 2];
	p->k = a->dim[a->nr - 1];
	p->n = column ? 1 : b->dim[b->nr - 1];
	if ((column ? b->dim[0] : b->dim[b->nr - 2]) != p->k)
		return misfit(c);
	if ((!row && !shape_join(&batch, a->dim, a->nr - 2)) ||
	    (!column && !shape_join(&batch, b->dim, b->nr - 2)))
		return misfit(c);
	p->batch = shape_elements(&batch);
	return true;
}

static amount result_elements(const struct op_product *p)
{
	return amount_times(amount_mul(amount_mul(1, p->m), p->n), p->batch);
}

/* Whether a summand broadcasts to [batch.., m, n]. */
static bool summand_fits(const struct op_arg *a, const struct op_product *p)
{
	const int64_t want[] = { p->n, p->m };

	if (a->bad)
		return false;
	for (size_t i = 0; i < ARRAY_LEN(want) && i < a->nr; i++)
		if (a->dim[a->nr - 1 - i] != 1 && a->dim[a->nr - 1 - i] != want[i])
			return false;
	return true;
}

static void product_work(struct op_call *c, const struct op_product *p, const struct op_arg *plus)
{
	c->product = *p;
	c->flops = gemm_flops(p->m, p->n, p->k, p->batch, c->type && c->type->complex);
	if (!arg_is_tensor(plus))
		return;
	if (!summand_fits(plus, p)) {
		misfit(c);
		return;
	}
	c->flops = amount_add(c->flops, result_elements(p));
	move_arg(c, plus);
}

/* A product of bytes ends in 32 bits. */
static const struct element_type *result_type(const struct op_call *c)
{
	bool small = c->type && !c->type->complex && c->type->bits == 8 && c->type->name[0] == 'i';

	return small && strstr(c->model->name, "int_mm") ? element_type("i32", 3) : c->type;
}

void cost_product(struct op_call *c)
{
	const int *at = c->model->at;
	const struct op_arg *a = op_arg(c, (size_t)at[0]), *b = op_arg(c, (size_t)at[1]);
	const struct op_arg *plus = op_arg(c, (size_t)at[2]); /* NO_ARG is past the end */
	struct op_product p;

	c->type = a->type;
	if (!product_of(c, a, b, &p))
		return;
	if (at[3] && (a->nr != (size_t)at[3] || b->nr != (size_t)at[3])) {
		misfit(c);
		return;
	}
	product_work(c, &p, plus);
	move_arg(c, a);
	move_arg(c, b);
	move_elements(c, result_elements(&p), result_type(c));
}

/* Product of the first n dimensions; a linear layer has no matrix of 2^63 rows or more. */
static bool leading(const struct op_arg *a, size_t n, int64_t *ret)
{
	amount rows = 1;

	for (size_t i = 0; i < n; i++)
		rows = amount_mul(rows, a->dim[i]);
	*ret = rows > INT64_MAX ? INT64_MAX : (int64_t)rows;
	return rows <= INT64_MAX;
}

void cost_linear(struct op_call *c)
{
	const struct op_arg *x = op_arg(c, 0), *w = op_arg(c, 1);
	struct op_product p = { .batch = 1 };

	c->type = x->type;
	if (!need_tensor(c, x, 1) || !need_tensor(c, w, 1))
		return;
	p.k = x->dim[x->nr - 1];
	p.n = w->nr == 1 ? 1 : w->dim[0];
	if (w->nr > 2 || w->dim[w->nr - 1] != p.k) {
		misfit(c);
		return;
	}
	if (!leading(x, x->nr - 1, &p.m)) {
		c->state = COST_OVERFLOW;
		return;
	}
	product_work(c, &p, op_arg(c, 2));
	move_arg(c, x);
	move_arg(c, w);
	move_elements(c, result_elements(&p), c->type);
}

/* The type that argument i states by its number, else the one that is given. */
static const struct element_type *stated_type(const struct op_call *c, int i,
					      const struct element_type *otherwise)
{
	const struct element_type *t;
	int64_t number;

	if (!arg_int(op_arg(c, (size_t)i), &number))
		return otherwise;
	t = element_type_number(number);
	return t ? t : otherwise;
}

/*
 * Two schemas: (a, b, scale_a, scale_b, bias, scale_result, out_dtype, …) and, before PyTorch 2.5,
 * (a, b, bias, out_dtype, scale_a, scale_b, scale_result, …).
 */
void cost_scaled(struct op_call *c)
{
	const struct op_arg *a = op_arg(c, 0), *b = op_arg(c, 1);
	bool now = arg_is_tensor(op_arg(c, 2)) && arg_is_tensor(op_arg(c, 3));
	const struct op_arg *bias = op_arg(c, now ? 4 : 2);
	struct op_product p;

	c->type = a->type;
	if (!product_of(c, a, b, &p))
		return;
	product_work(c, &p, bias);
	move_arg(c, a);
	move_arg(c, b);
	move_arg(c, op_arg(c, now ? 2 : 4));
	move_arg(c, op_arg(c, now ? 3 : 5));
	move_elements(c, result_elements(&p), stated_type(c, now ? 6 : 3, c->type));
}

/* What [..] of a and b have: 2 and 3, 3 and 2, 3 and 3, or 2 and 2 dimensions. */
static bool grouped_product(struct op_call *c, const struct op_arg *a, const struct op_arg *b,
			    int64_t groups, struct op_product *p, amount *ret_results)
{
	*p = (struct op_product){ a->dim[a->nr - 2], b->dim[b->nr - 1], a->dim[a->nr - 1], 1 };
	if (b->dim[b->nr - 2] != p->k)
		return misfit(c);
	if (a->nr == 3 && b->nr == 3) {
		p->batch = amount_mul(1, a->dim[0]);
		if (a->dim[0] != b->dim[0])
			return misfit(c);
	}
	*ret_results = result_elements(p);
	if (a->nr == 2 && b->nr == 2)
		*ret_results = amount_mul(*ret_results, groups);
	return true;
}

/* at: offsets, scales, type of the result. */
void cost_grouped(struct op_call *c)
{
	const struct op_arg *a = op_arg(c, 0), *b = op_arg(c, 1);
	const struct op_arg *offs = op_arg(c, (size_t)c->model->at[0]);
	struct op_product p;
	amount results = 0;

	c->type = a->type;
	if (!need_tensor(c, a, 2) || !need_tensor(c, b, 2))
		return;
	if (a->nr > 3 || b->nr > 3 || (arg_is_tensor(offs) && (offs->bad || offs->nr != 1))) {
		misfit(c);
		return;
	}
	if (a->nr == 2 && b->nr == 2 && !arg_is_tensor(offs)) {
		untold(c);
		return;
	}
	if (!grouped_product(c, a, b, arg_is_tensor(offs) ? offs->dim[0] : 1, &p, &results))
		return;
	c->flops = gemm_flops(p.m, p.n, p.k, p.batch, false);
	move_arg(c, a);
	move_arg(c, b);
	move_arg(c, offs);
	move_arg(c, op_arg(c, (size_t)c->model->at[1]));
	move_arg(c, op_arg(c, (size_t)c->model->at[2]));
	move_elements(c, results, stated_type(c, c->model->at[3], c->type));
}

/* at: tokens [T,H], weights [E,2I,H] and [E,H,I], the experts of each token [T,k]. */
void cost_moe(struct op_call *c)
{
	const int *at = c->model->at;
	const struct op_arg *x = op_arg(c, (size_t)at[0]), *up = op_arg(c, (size_t)at[1]);
	const struct op_arg *down = op_arg(c, (size_t)at[2]), *ids = op_arg(c, (size_t)at[3]);
	int64_t h, inner, experts;
	amount picked;
	bool gated;

	c->type = up->type;
	if (!need_tensor(c, x, 2) || !need_tensor(c, up, 3) || !need_tensor(c, down, 3) ||
	    !need_tensor(c, ids, 2))
		return;
	h = x->dim[1];
	inner = down->dim[2];
	experts = down->dim[0];
	gated = inner <= INT64_MAX / 2 && up->dim[1] == 2 * inner;
	if (x->nr != 2 || up->nr != 3 || down->nr != 3 || ids->nr != 2 || up->dim[0] != experts ||
	    up->dim[2] != h || down->dim[1] != h || ids->dim[0] != x->dim[0] ||
	    (!gated && up->dim[1] != inner)) {
		misfit(c);
		return;
	}
	picked = amount_mul(amount_mul(1, ids->dim[0]), ids->dim[1]);
	c->flops = amount_mul(amount_mul(amount_mul(picked, h), inner), gated ? 6 : 4);
	c->estimate = true;
	if (picked < (amount)experts)
		experts = (int64_t)picked;
	move_elements(c, amount_mul(amount_mul(amount_mul(1, experts), up->dim[1]), h), up->type);
	move_elements(c, amount_mul(amount_mul(amount_mul(1, experts), h), inner), down->type);
	move_elements(c, amount_mul(arg_stored(x), 2), x->type); /* in and out */
	move_arg(c, ids);
	move_arg(c, op_arg(c, (size_t)at[3] - 1));
}
