#include "profrig/cost/products.h"

amount gemm_flops(int64_t m, int64_t n, int64_t k, amount batch, bool complex)
{
	amount one = amount_mul(amount_mul(amount_mul(2, m), n), k);

	return amount_mul(amount_times(one, batch), complex ? 4 : 1);
}

amount matrix_elements(int64_t rows, int64_t cols, int64_t batch, bool once)
{
	amount one = amount_mul(amount_mul(1, rows), cols);

	return once ? one : amount_mul(one, batch);
}

static amount product_of(const struct conv_size *c, const int64_t *v)
{
	amount p = 1;

	for (int i = 0; i < c->dims; i++)
		p = amount_mul(p, v[i]);
	return p;
}

amount conv_flops(const struct conv_size *c)
{
	amount taps =
		amount_times(product_of(c, c->taps), product_of(c, c->transposed ? c->in : c->out));
	amount maps = amount_mul(amount_mul(amount_mul(2, c->images), c->filters),
				 c->groups > 0 ? c->channels / c->groups : 0);

	return amount_times(maps, taps);
}

amount conv_inputs(const struct conv_size *c)
{
	return amount_mul(amount_mul(product_of(c, c->in), c->images), c->channels);
}

amount conv_weights(const struct conv_size *c)
{
	return amount_mul(amount_mul(product_of(c, c->taps), c->filters),
			  c->groups > 0 ? c->channels / c->groups : 0);
}

amount conv_outputs(const struct conv_size *c)
{
	return amount_mul(amount_mul(product_of(c, c->out), c->images), c->filters);
}

int64_t conv_extent(const struct conv_axis *a, bool transposed)
{
	__int128 reach, room, out;

	if (a->in < 0 || a->taps < 1 || a->pad < 0 || a->stride < 1 || a->dilation < 1 ||
	    a->more < 0)
		return 0;
	reach = (__int128)a->dilation * (a->taps - 1) + 1;
	room = (__int128)a->in + 2 * (__int128)a->pad;
	if (transposed)
		out = (__int128)(a->in - 1) * a->stride - 2 * (__int128)a->pad + reach + a->more;
	else if (room < reach)
		return 0;
	else
		out = (room - reach) / a->stride + 1;
	return out < 1 || out > INT64_MAX ? 0 : (int64_t)out;
}
