/*
 * Attention of Nq queries to Nk keys. at: is_causal, lengths of packed sequences, custom_mask_type
 * (1, 2: causal). Q, K, V follow the gradient in backward forms.
 *	pairs P: Nq·Nk; causal Nq·(2·Nk − Nq)/2 for Nq ≤ Nk, else Nk²/2: the area below the
 *		diagonal that ends in the last key (the lattice has Nq/2 more)
 *	forward		2·B·Hq·P·(D + Dv); Q, K, V once, the output once
 *	backward	2·B·Hq·P·(3·D + 2·Dv), the recomputed product among them: 2.5 times the
 *			forward where D = Dv; Q, K, V, the output, and the gradient of each
 * Packed sequences: their lengths are values of a tensor, which no trace has: no flops.
 */
#include "op_args.h"

struct attention {
	const struct op_arg *q, *k, *v;
	int64_t b, nq, nk, hq, d, dv;
	int causal; /* -1 unknown */
};

static bool attention_shapes(struct op_call *c, struct attention *a, bool packed)
{
	size_t nr = packed ? 3 : 4, seq, head;

	if (!need_tensor(c, a->q, 3) || !need_tensor(c, a->k, 3) || !need_tensor(c, a->v, 3))
		return false;
	if (a->q->nr != a->k->nr || a->q->nr != a->v->nr || a->q->nr > 4 || a->q->nr < nr - 1)
		return misfit(c);
	nr = a->q->nr;
	head = c->model->flags & OP_HEADS_LAST ? nr - 2 : nr - 3;
	seq = c->model->flags & OP_HEADS_LAST ? nr - 3 : nr - 2;
	a->b = nr == 4 ? a->q->dim[0] : 1;
	a->hq = a->q->dim[head];
	a->nq = a->q->dim[seq];
	a->nk = a->k->dim[seq];
	a->d = a->q->dim[nr - 1];
	a->dv = a->v->dim[nr - 1];
	if (a->k->dim[nr - 1] != a->d || a->v->dim[seq] != a->nk ||
	    a->k->dim[head] != a->v->dim[head] ||
	    (a->k->dim[head] != a->hq && (a->k->dim[head] < 1 || a->hq % a->k->dim[head])) ||
	    (nr == 4 && (a->k->dim[0] != a->b || a->v->dim[0] != a->b)))
		return misfit(c);
	return true;
}

/* Twice the pairs, which may be an odd number of halves. */
static amount twice_pairs(const struct attention *a)
{
	amount nq = amount_mul(1, a->nq), nk = amount_mul(1, a->nk);

	if (!a->causal)
		return amount_times(amount_mul(2, a->nq), nk);
	return nq <= nk ? amount_times(nq, amount_mul(2, a->nk) - nq) : amount_times(nk, nk);
}

static amount attention_flops(const struct attention *a, int64_t of_d, int64_t of_dv)
{
	amount width = amount_add(amount_mul(amount_mul(1, a->d), of_d),
				  amount_mul(amount_mul(1, a->dv), of_dv));
	amount heads = amount_mul(amount_mul(1, a->b), a->hq);

	return amount_times(amount_times(heads, twice_pairs(a)), width);
}

static int causal_of(const struct op_call *c)
{
	const int *at = c->model->at;
	int64_t mask;

	if (at[0] != NO_ARG)
		return arg_bool(op_arg(c, (size_t)at[0]));
	if (at[2] == NO_ARG || !arg_int(op_arg(c, (size_t)at[2]), &mask) || mask < 0 || mask > 2)
		return -1;
	return mask > 0;
}

/* first: position of Q. */
static bool attention_read(struct op_call *c, size_t first, struct attention *a)
{
	const int *at = c->model->at;
	bool packed = at[1] != NO_ARG && arg_is_tensor(op_arg(c, (size_t)at[1]));

	a->q = op_arg(c, first);
	a->k = op_arg(c, first + 1);
	a->v = op_arg(c, first + 2);
	c->type = a->q->type;
	a->causal = causal_of(c);
	c->no_flops = packed || a->causal < 0;
	return attention_shapes(c, a, packed);
}

static amount attention_output(const struct attention *a)
{
	return amount_mul(amount_mul(amount_mul(amount_mul(1, a->b), a->hq), a->nq), a->dv);
}

void cost_attention(struct op_call *c)
{
	struct attention a;

	if (!attention_read(c, 0, &a))
		return;
	if (!c->no_flops)
		c->flops = attention_flops(&a, 1, 1);
	move_arg(c, a.q);
	move_arg(c, a.k);
	move_arg(c, a.v);
	move_elements(c, attention_output(&a), a.q->type);
}

void cost_attention_backward(struct op_call *c)
{
	struct attention a;

	if (!attention_read(c, 1, &a))
		return;
	if (!c->no_flops)
		c->flops = attention_flops(&a, 3, 2);
	move_arg(c, a.q);
	move_arg(c, a.k);
	move_arg(c, a.v);
	move_elements(c, amount_mul(attention_output(&a), 2), a.q->type);
	move_elements(c, arg_elements(a.q), a.q->type);
	move_elements(c, arg_elements(a.k), a.k->type);
	move_elements(c, arg_elements(a.v), a.v->type);
}
