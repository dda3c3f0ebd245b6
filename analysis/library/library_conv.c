#include "library_conv.h"

#include <stdio.h>
#include <string.h>

#include "profrig/base/xalloc.h"

#define FIRST(c) (CONV_DIMS - (c)->dims)

void conv_init(struct conv *c)
{
	*c = (struct conv){ .dims = 2, .groups = 1 };
	c->n = c->c = c->k = DIM_NONE;
	for (int i = 0; i < CONV_DIMS; i++) {
		c->in[i] = c->filter[i] = c->out[i] = DIM_NONE;
		c->stride[i] = c->dilation[i] = 1;
	}
}

static bool conv_is_whole(const struct conv *c)
{
	if (c->n == DIM_NONE || c->c == DIM_NONE || c->k == DIM_NONE || (!c->x && !c->untyped) ||
	    c->dims < 1 || c->dims > CONV_DIMS)
		return false;
	for (int i = FIRST(c); i < CONV_DIMS; i++)
		if (c->in[i] == DIM_NONE || c->filter[i] == DIM_NONE)
			return false;
	return true;
}

static bool in_range(struct library_key *k, const char *name, int64_t v, int64_t min)
{
	if (v >= min && v <= DIM_MAX)
		return true;
	key_bad(k, "%s=%lld is no size", name, (long long)v);
	return false;
}

static bool conv_is_sane(const struct conv *c, struct library_key *k)
{
	if (!in_range(k, "n", c->n, 0) || !in_range(k, "c", c->c, 1) ||
	    !in_range(k, "k", c->k, 1) || !in_range(k, "groups", c->groups, 1))
		return false;
	for (int i = FIRST(c); i < CONV_DIMS; i++)
		if (!in_range(k, "in", c->in[i], 1) || !in_range(k, "filter", c->filter[i], 1) ||
		    !in_range(k, "pad", c->pad[i], 0) || !in_range(k, "stride", c->stride[i], 1) ||
		    !in_range(k, "dilation", c->dilation[i], 1))
			return false;
	if (c->c % c->groups || c->k % c->groups) {
		key_bad(k, "%lld and %lld channels are not in %lld groups", (long long)c->c,
			(long long)c->k, (long long)c->groups);
		return false;
	}
	return true;
}

int64_t conv_output(const struct conv *c, int axis)
{
	const struct conv_axis a = { c->in[axis],     c->filter[axis],   c->pad[axis],
				     c->stride[axis], c->dilation[axis], 0 };
	int64_t out = conv_extent(&a, c->transposed);

	return out > DIM_MAX ? 0 : out;
}

/* Extents of y; false: there is none. */
static bool output_extents(const struct conv *c, int64_t out[CONV_DIMS], struct library_key *k)
{
	for (int i = FIRST(c); i < CONV_DIMS; i++) {
		out[i] = c->out[i] == DIM_NONE ? conv_output(c, i) : c->out[i];
		if (c->out[i] != DIM_NONE && !in_range(k, "out", c->out[i], 1))
			return false;
		if (out[i] < 1) {
			key_bad(k, "the filter is larger than its input");
			return false;
		}
	}
	return true;
}

static void sizes_word(const struct conv *c, struct library_key *k, const char *name,
		       const int64_t v[CONV_DIMS])
{
	char text[80];
	int n = 0;

	for (int i = FIRST(c); i < CONV_DIMS; i++)
		n += snprintf(text + n, sizeof(text) - (size_t)n, "%s%lld", i > FIRST(c) ? "x" : "",
			      (long long)v[i]);
	key_word(k, name, text);
}

/* How many directions. */
static int directions_word(const struct conv *c, struct library_key *k)
{
	static const char *const names[] = { "fwd", "bwd_data", "bwd_weights" };
	unsigned bits = c->also | 1U << c->direction;
	char text[40] = "";
	int nr = 0;

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		size_t n = strlen(text);

		if (bits >> i & 1)
			snprintf(text + n, sizeof(text) - n, "%s%s", nr++ ? "+" : "", names[i]);
	}
	key_word(k, "dir", text);
	return nr;
}

static void conv_words(const struct conv *c, struct library_key *k)
{
	if (c->transposed)
		key_word(k, "mode", "transposed");
	key_int(k, "n", c->n);
	key_int(k, "c", c->c);
	key_int(k, "k", c->k);
	key_int(k, "g", c->groups);
	sizes_word(c, k, "in", c->in);
	sizes_word(c, k, "filter", c->filter);
	sizes_word(c, k, "pad", c->pad);
	sizes_word(c, k, "stride", c->stride);
	sizes_word(c, k, "dilation", c->dilation);
	if (c->x) {
		key_word(k, "x", c->x->name);
		key_word(k, "w", c->w ? c->w->name : c->x->name);
		key_word(k, "y", c->y ? c->y->name : c->x->name);
	}
	key_word(k, "layout", c->layout);
	key_word(k, "with", c->more);
}

/* A convolution by products: of one image, or of all. */
static void conv_products(const struct conv *c, struct library_key *k, const struct conv_size *s)
{
	struct conv_size one = *s;
	amount outputs, depth, all;

	one.images = 1;
	one.filters = 1;
	outputs = conv_outputs(&one);
	depth = conv_weights(&one);
	all = amount_mul(outputs, c->n);
	if (outputs > DIM_MAX || depth > DIM_MAX || all > DIM_MAX)
		return;
	key_product(k, 0, c->k / c->groups, (int64_t)outputs, (int64_t)depth);
	key_product(k, 1, c->k / c->groups, (int64_t)all, (int64_t)depth);
}

/* Bytes of x, w and y. */
static amount conv_bytes(const struct conv *c, const struct conv_size *s)
{
	const struct element_type *w = c->w ? c->w : c->x, *y = c->y ? c->y : c->x;
	amount bits = amount_mul(conv_inputs(s), c->x->bits);

	bits = amount_add(bits, amount_mul(conv_weights(s), w->bits));
	return amount_add(bits, amount_mul(conv_outputs(s), y->bits)) / 8;
}

static struct conv_size size_of(const struct conv *c, const int64_t out[CONV_DIMS])
{
	struct conv_size s = { .dims = c->dims,
			       .images = c->n,
			       .channels = c->c,
			       .filters = c->k,
			       .groups = c->groups,
			       .transposed = c->transposed };

	for (int i = 0; i < c->dims; i++) {
		s.in[i] = c->in[FIRST(c) + i];
		s.taps[i] = c->filter[FIRST(c) + i];
		s.out[i] = out[FIRST(c) + i];
	}
	return s;
}

enum record_is conv_key(const struct conv *c, const char *operation, struct library_key *k)
{
	int64_t out[CONV_DIMS] = { 0 };
	struct conv_size size;
	int directions;

	if (!conv_is_whole(c))
		return RECORD_TORN;
	if (!conv_is_sane(c, k) || !output_extents(c, out, k))
		return RECORD_BAD;
	key_begin(k, "conv", operation);
	directions = directions_word(c, k);
	conv_words(c, k);
	size = size_of(c, out);
	if (!key_work(k, amount_mul(conv_flops(&size), directions),
		      c->x ? amount_mul(conv_bytes(c, &size), directions) : 0))
		return RECORD_BAD;
	if (!c->x) {
		k->bytes = LIBRARY_UNKNOWN;
		k->inexact = true;
	}
	if (!c->transposed)
		conv_products(c, k, &size);
	return RECORD_CALL;
}
