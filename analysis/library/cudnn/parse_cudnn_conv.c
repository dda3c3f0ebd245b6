/*
 * Convolutions of cuDNN (parse_cudnn.c): a block's tensors, filter and convolution descriptor to
 * the key that all libraries share. Sizes that no convolution has are RECORD_BAD; a descriptor that
 * is missing, or there twice, is RECORD_TORN.
 */
#include "cudnn_tree.h"

#include <stdio.h>
#include <string.h>

#include "profrig/base/num.h"
#include "profrig/base/xalloc.h"

struct cudnn_conv {
	struct conv c;
	struct cudnn_tensor x, w, y;
	bool has_x, has_w, has_y, has_conv;
	bool wrong; /* a part is there twice, or is none */
};

/* The tensor of a descriptor's name; "gradDesc" is that of x where it is no filter. */
static void conv_tensor(struct cudnn_conv *v, const struct cudnn_tree *t, size_t node)
{
	static const char *const x[] = { "xDesc", "srcDesc", "dxDesc", "gradDesc" };
	static const char *const y[] = { "yDesc", "destDesc", "dyDesc", "diffDesc" };
	const struct block_argument *a = &t->v[node].a;
	struct cudnn_tensor *to = NULL;
	bool *has = NULL;

	if (slice_is(a->type, "cudnnFilterDescriptor_t")) {
		to = &v->w;
		has = &v->has_w;
	}
	for (size_t i = 0; i < ARRAY_LEN(x) && slice_is(a->type, "cudnnTensorDescriptor_t"); i++) {
		if (slice_is(a->name, x[i])) {
			to = &v->x;
			has = &v->has_x;
		} else if (slice_is(a->name, y[i])) {
			to = &v->y;
			has = &v->has_y;
		}
	}
	if (!to)
		return;
	v->wrong |= *has || !cudnn_tensor_read(t, node, to);
	*has = true;
}

static void with_add(struct conv *c, const char *name, const char *value)
{
	size_t n = strlen(c->more);

	snprintf(c->more + n, sizeof(c->more) - n, "%s%s%s%s", n ? "+" : "", name,
		 *value ? ":" : "", value);
}

/* The arithmetic that a type has unless a program asks for another one. */
static bool compute_is_usual(const struct element_type *x, const struct element_type *compute)
{
	const char *usual = strstr("f32 f16 bf16 f8 bf8", x->name) ? "f32"
			    : !strcmp(x->name, "f64")              ? "f64"
								   : "i32";

	return !strcmp(compute->name, usual);
}

static bool spatial_read(const struct block_argument *a, int dims, int64_t to[CONV_DIMS])
{
	int64_t v[CONV_DIMS];
	int n = a ? cudnn_list(a->value, v, CONV_DIMS) : 0;

	if (n == 0 || n != dims)
		return false;
	for (int i = 0; i < n; i++)
		to[CONV_DIMS - n + i] = v[i];
	return true;
}

/* The arithmetic of a convolution, where it is not the usual one. */
static void conv_arithmetic(struct cudnn_conv *v, const struct cudnn_tree *t, size_t node)
{
	bool twice = false;
	const struct block_argument *type = cudnn_member(t, node, "dataType", &twice);
	const struct block_argument *math = cudnn_member(t, node, "mathType", &twice);
	const struct block_argument *mode = cudnn_member(t, node, "mode", &twice);
	const struct element_type *compute = type ? cudnn_type(type->value) : NULL;
	char word[48];

	v->wrong |= twice || (type && !compute);
	if (compute && v->x.type && !compute_is_usual(v->x.type, compute))
		with_add(&v->c, "compute", compute->name);
	if (math && !slice_is(block_word(math->value), "CUDNN_DEFAULT_MATH")) {
		struct text_slice m = block_word(math->value);

		snprintf(word, sizeof(word), "%.*s", (int)(m.n < 47 ? m.n : 47), m.p);
		with_add(&v->c, "math", word);
	}
	if (mode && slice_is(block_word(mode->value), "CUDNN_CONVOLUTION"))
		with_add(&v->c, "flipped", "");
}

static void conv_parameters(struct cudnn_conv *v, const struct cudnn_tree *t, size_t node)
{
	bool twice = false;
	const struct block_argument *groups = cudnn_member(t, node, "groupCount", &twice);
	const struct block_argument *pad = cudnn_member(t, node, "padA", &twice);
	const struct block_argument *stride = cudnn_member(t, node, "strideA", &twice);
	const struct block_argument *dilation = cudnn_member(t, node, "dilationA", &twice);
	struct conv *c = &v->c;

	v->wrong |= v->has_conv;
	v->has_conv = true;
	if (twice || !spatial_read(pad, c->dims, c->pad) ||
	    !spatial_read(stride, c->dims, c->stride) ||
	    (dilation && !spatial_read(dilation, c->dims, c->dilation)) ||
	    (groups && num_i64(groups->value.p, groups->value.n, &c->groups) < 0))
		v->wrong = true;
	conv_arithmetic(v, t, node);
}

/* alpha is 1, beta and the factor of z are 0 unless the call says something else. */
static void conv_scalar(struct cudnn_conv *v, const struct block_argument *a)
{
	bool none = slice_is(a->name, "beta") || slice_is(a->name, "alpha2");
	const char *usual = none ? "0" : "1";
	char name[16], text[40];
	double d;

	if (num_f64(a->value.p, a->value.n, &d) < 0)
		return;
	num_fmt_f64(text, d);
	snprintf(name, sizeof(name), "%.*s", (int)(a->name.n < 15 ? a->name.n : 15), a->name.p);
	if (strcmp(text, usual) != 0)
		with_add(&v->c, name, text);
}

static void conv_activation(struct cudnn_conv *v, const struct cudnn_tree *t, size_t node)
{
	bool twice = false;
	const struct block_argument *mode = cudnn_member(t, node, "mode", &twice);
	struct text_slice m = mode ? block_word(mode->value) : (struct text_slice){ "", 0 };
	char word[32];

	if (slice_begins(m, "CUDNN_ACTIVATION_"))
		m.p += strlen("CUDNN_ACTIVATION_"), m.n -= strlen("CUDNN_ACTIVATION_");
	snprintf(word, sizeof(word), "%.*s", (int)(m.n < 31 ? m.n : 31), m.p);
	with_add(&v->c, "bias", "");
	with_add(&v->c, "activation", word);
}

static void conv_read(struct cudnn_conv *v, const struct cudnn_tree *t)
{
	for (size_t i = 0; i < t->nr; i++)
		if (t->v[i].parent == NODES_MAX)
			conv_tensor(v, t, i);
	v->c.dims = v->x.dims - 2;
	if (v->wrong || v->c.dims < 1 || v->c.dims > CONV_DIMS)
		return;
	for (size_t i = 0; i < t->nr; i++) {
		const struct block_argument *a = &t->v[i].a;

		if (t->v[i].parent != NODES_MAX)
			continue;
		if (slice_is(a->type, "cudnnConvolutionDescriptor_t"))
			conv_parameters(v, t, i);
		else if (slice_is(a->type, "cudnnActivationDescriptor_t"))
			conv_activation(v, t, i);
		else if (slice_begins(a->name, "alpha") || slice_is(a->name, "beta"))
			conv_scalar(v, a);
	}
}

/* Layouts of x, w and y: one word where they are equal. */
static void conv_layout(struct cudnn_conv *v)
{
	char x[48], w[48], y[48];

	cudnn_layout(&v->x, x, sizeof(x));
	cudnn_layout(&v->w, w, sizeof(w));
	cudnn_layout(&v->y, y, sizeof(y));
	if (!strcmp(x, w) && !strcmp(x, y))
		snprintf(v->c.layout, sizeof(v->c.layout), "%s", x);
	else
		snprintf(v->c.layout, sizeof(v->c.layout), "%.31s-%.31s-%.31s", x, w, y);
}

/* Sizes of x, w and y that no convolution has. */
static enum record_is conv_fits(const struct cudnn_conv *v, struct library_key *k)
{
	const struct conv *c = &v->c;

	if (v->w.dims != v->x.dims || v->y.dims != v->x.dims)
		return key_bad(k, "its tensors have different numbers of dimensions");
	if (v->y.dim[0] != v->x.dim[0] || v->y.dim[1] != v->w.dim[0] || v->w.dim[1] < 1 ||
	    (amount)v->x.dim[1] != amount_mul(amount_mul(1, v->w.dim[1]), c->groups))
		return key_bad(k, "images or channels of x, w and y do not fit each other");
	for (int i = 0; i < c->dims; i++) {
		int at = CONV_DIMS - c->dims + i;
		amount need = amount_mul(amount_mul(1, v->w.dim[2 + i] - 1), c->dilation[at]);
		amount have = (amount)v->x.dim[2 + i] + amount_mul(2, c->pad[at]);

		if (v->x.dim[2 + i] < 1 || v->w.dim[2 + i] < 1 || c->stride[at] < 1 ||
		    have < need + 1 || v->y.dim[2 + i] < 1 ||
		    (have - need - 1) / (amount)c->stride[at] + 1 != (amount)v->y.dim[2 + i])
			return key_bad(k, "y is not as large as the convolution of x and w");
	}
	return RECORD_CALL;
}

static void conv_sizes(struct cudnn_conv *v)
{
	struct conv *c = &v->c;

	c->n = v->x.dim[0];
	c->c = v->x.dim[1];
	c->k = v->w.dim[0];
	for (int i = 0; i < c->dims; i++) {
		c->in[CONV_DIMS - c->dims + i] = v->x.dim[2 + i];
		c->filter[CONV_DIMS - c->dims + i] = v->w.dim[2 + i];
	}
	c->x = v->x.type;
	c->w = v->w.type;
	c->y = v->y.type;
}

enum record_is cudnn_conv_key(const struct cudnn_tree *t, enum conv_direction direction,
			      const char *operation, struct library_key *k)
{
	struct cudnn_conv v = { .wrong = false };

	conv_init(&v.c);
	v.c.direction = direction;
	conv_read(&v, t);
	if (v.wrong || !v.has_x || !v.has_w || !v.has_y || !v.has_conv)
		return RECORD_TORN;
	if (conv_fits(&v, k) == RECORD_BAD)
		return RECORD_BAD;
	conv_sizes(&v);
	conv_layout(&v);
	return conv_key(&v.c, operation, k);
}
