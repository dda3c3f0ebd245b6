/*
 * Convolutions: (x, w, …), x [N,C,in..] or [C,in..], w [K,C/g,taps..], transposed [C,K/g,taps..].
 * at: stride, padding, dilation, groups; of the backward form: transposed, groups, output_mask.
 * A bias is the third argument where that is a tensor.
 *	forward		2·∏out·∏w[1:] + ∏out with a bias; transposed 2·∏x·∏w[1:]
 *	backward	2·∏grad·∏w[1:] for each of x and w, + ∏grad for the bias, by output_mask;
 *			reads the gradient, w for that of x, x for that of w; writes what it makes
 */
#include "op_args.h"

#include "profrig/cost/products.h"

/* One number stands for all axes. */
static bool axis_numbers(const struct op_arg *a, int dims, int64_t *ret)
{
	int nr = arg_ints(a, ret, CONV_DIMS_MAX);

	for (int i = 1; nr == 1 && i < dims; i++)
		ret[i] = ret[0];
	return nr == 1 || nr == dims;
}

/* Sizes by x and w alone. */
static bool conv_shapes(struct op_call *c, const struct op_arg *x, const struct op_arg *w,
			struct conv_size *s)
{
	size_t lead;

	if (!need_tensor(c, x, 2) || !need_tensor(c, w, 3))
		return false;
	s->dims = (int)w->nr - 2;
	if (s->dims > CONV_DIMS_MAX || (x->nr != w->nr && x->nr + 1 != w->nr))
		return misfit(c);
	lead = x->nr - (size_t)s->dims - 1; /* 1: x has images */
	s->images = lead ? x->dim[0] : 1;
	s->channels = x->dim[lead];
	for (int i = 0; i < s->dims; i++) {
		s->in[i] = x->dim[lead + 1 + (size_t)i];
		s->taps[i] = w->dim[2 + i];
	}
	return true;
}

static bool conv_filters(struct op_call *c, const struct op_arg *w, struct conv_size *s)
{
	int64_t most = INT64_MAX / (s->groups > 0 ? s->groups : 1);

	if (s->groups < 1 || s->channels % s->groups)
		return misfit(c);
	if (s->transposed && (w->dim[0] != s->channels || w->dim[1] > most))
		return misfit(c);
	if (!s->transposed && (w->dim[1] != s->channels / s->groups || w->dim[0] % s->groups))
		return misfit(c);
	s->filters = s->transposed ? w->dim[1] * s->groups : w->dim[0];
	return true;
}

static bool conv_extents(struct op_call *c, struct conv_size *s)
{
	const int *at = c->model->at;
	int64_t stride[CONV_DIMS_MAX], pad[CONV_DIMS_MAX], dilation[CONV_DIMS_MAX];
	int64_t more[CONV_DIMS_MAX] = { 0 };
	/* behind the padding of transposed ones, except in aten::convolution: behind the flag */
	size_t more_at = c->model->flags & OP_TRANSPOSED ? 5 : 7;

	if (!axis_numbers(op_arg(c, (size_t)at[0]), s->dims, stride) ||
	    !axis_numbers(op_arg(c, (size_t)at[1]), s->dims, pad) ||
	    !axis_numbers(op_arg(c, (size_t)at[2]), s->dims, dilation))
		return untold(c);
	if (c->model->flags & OP_TRANSPOSED && !(c->model->flags & OP_WRAPS))
		more_at = (size_t)at[0] - 1;
	if (s->transposed && !axis_numbers(op_arg(c, more_at), s->dims, more))
		return untold(c);
	for (int i = 0; i < s->dims; i++) {
		struct conv_axis a = {
			s->in[i], s->taps[i], pad[i], stride[i], dilation[i], more[i]
		};

		s->out[i] = conv_extent(&a, s->transposed);
		if (s->out[i] < 1)
			return misfit(c);
	}
	return true;
}

/* Of aten::convolution alone the call says whether it is transposed. */
static bool conv_transposed(struct op_call *c, size_t at, struct conv_size *s)
{
	int is = arg_bool(op_arg(c, at));

	s->transposed = is == 1;
	return is >= 0 ? true : untold(c);
}

void cost_conv(struct op_call *c)
{
	const struct op_arg *x = op_arg(c, 0), *w = op_arg(c, 1), *bias = op_arg(c, 2);
	struct conv_size s = { .transposed = c->model->flags & OP_TRANSPOSED };

	c->type = x->type;
	if (!conv_shapes(c, x, w, &s))
		return;
	if (!arg_int(op_arg(c, (size_t)c->model->at[3]), &s.groups)) {
		untold(c);
		return;
	}
	if (c->model->at[3] == 8 && !conv_transposed(c, 6, &s))
		return;
	if (!conv_filters(c, w, &s) || !conv_extents(c, &s))
		return;
	c->flops = conv_flops(&s);
	if (arg_is_tensor(bias) && (bias->bad || bias->nr != 1 || bias->dim[0] != s.filters)) {
		misfit(c);
		return;
	}
	if (arg_is_tensor(bias))
		c->flops = amount_add(c->flops, conv_outputs(&s));
	move_arg(c, x);
	move_arg(c, w);
	move_arg(c, bias);
	move_elements(c, conv_outputs(&s), c->type);
}

/* The gradient has the extents of the output. */
static bool conv_gradient(struct op_call *c, const struct op_arg *g, struct conv_size *s)
{
	size_t lead = g->nr - (size_t)s->dims - 1;

	if (!need_tensor(c, g, 1))
		return false;
	if (g->nr != op_arg(c, 1)->nr || g->dim[lead] != s->filters ||
	    (lead && g->dim[0] != s->images))
		return misfit(c);
	for (int i = 0; i < s->dims; i++)
		s->out[i] = g->dim[lead + 1 + (size_t)i];
	return true;
}

void cost_conv_backward(struct op_call *c)
{
	const int *at = c->model->at;
	const struct op_arg *g = op_arg(c, 0), *x = op_arg(c, 1), *w = op_arg(c, 2);
	struct conv_size s = { .dims = 0 };
	bool mask[3] = { false };

	c->type = g->type;
	if (!conv_shapes(c, x, w, &s))
		return;
	if (arg_bools(op_arg(c, (size_t)at[2]), mask, 3) != 3 ||
	    !arg_int(op_arg(c, (size_t)at[1]), &s.groups)) {
		untold(c);
		return;
	}
	if (!conv_transposed(c, (size_t)at[0], &s) || !conv_filters(c, w, &s) ||
	    !conv_gradient(c, g, &s))
		return;
	c->flops = amount_mul(conv_flops(&s), mask[0] + mask[1]);
	move_arg(c, g);
	if (mask[0]) {
		move_arg(c, w);
		move_elements(c, conv_inputs(&s), x->type);
	}
	if (mask[1]) {
		move_arg(c, x);
		move_elements(c, conv_weights(&s), w->type);
	}
	if (mask[2]) {
		c->flops = amount_add(c->flops, conv_outputs(&s));
		move_elements(c, amount_mul(1, s.filters), w->type);
	}
}
