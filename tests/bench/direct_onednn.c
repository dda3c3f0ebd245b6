/* Calls of oneDNN 2, by its C interface (oneapi/dnnl/dnnl.h of libdnnl-dev), for direct_call.h. */
#include "direct_call.h"

#include <stdlib.h>
#include <string.h>

#if __has_include(<dnnl.h>)
#include <dnnl.h>
#endif
#if defined(DNNL_VERSION_MAJOR) && DNNL_VERSION_MAJOR == 2

#include <dnnl_debug.h>

/* clang-format off */
#define FUNCTIONS(X) \
	X(dnnl_engine_create) X(dnnl_stream_create) \
	X(dnnl_memory_desc_init_by_tag) X(dnnl_memory_desc_init_by_strides) \
	X(dnnl_memory_desc_get_size) X(dnnl_memory_create) X(dnnl_fmt_tag2str) \
	X(dnnl_primitive_desc_create) X(dnnl_primitive_desc_query_md) X(dnnl_primitive_create) \
	X(dnnl_primitive_execute) X(dnnl_primitive_attr_create) \
	X(dnnl_primitive_attr_set_output_scales) X(dnnl_primitive_attr_set_post_ops) \
	X(dnnl_post_ops_create) X(dnnl_post_ops_append_sum) X(dnnl_matmul_desc_init) \
	X(dnnl_dilated_convolution_forward_desc_init) \
	X(dnnl_dilated_convolution_backward_data_desc_init) \
	X(dnnl_dilated_convolution_backward_weights_desc_init) \
	X(dnnl_inner_product_forward_desc_init) X(dnnl_inner_product_backward_data_desc_init) \
	X(dnnl_inner_product_backward_weights_desc_init)
/* clang-format on */
#define FUNCTION(name) __typeof__(name) *name;
static struct {
	FUNCTIONS(FUNCTION)
} dnn;

enum { OPERANDS_MAX = 4 };

struct onednn_call {
	struct direct_call c;
	dnnl_engine_t engine;
	dnnl_stream_t stream;
	dnnl_primitive_t primitive;
	dnnl_primitive_desc_t pd;
	dnnl_exec_arg_t args[OPERANDS_MAX];
	int nr, weights;       /* operands, and which of them are the weights */
	dnnl_memory_t *copies; /* of the weights */
};

static void done(dnnl_status_t s, const char *what)
{
	if (s != dnnl_success)
		direct_end(s == dnnl_unimplemented ? DIRECT_UNSUPPORTED : DIRECT_FAILED,
			   "oneDNN: status %d of %s", (int)s, what);
}
#define DO(call) done(dnn.call, #call)

static void once(struct direct_call *c)
{
	struct onednn_call *d = (struct onednn_call *)c;

	if (d->copies) {
		d->args[d->weights].memory = d->copies[c->at];
		c->at = (c->at + 1) % c->copies;
	}
	DO(dnnl_primitive_execute(d->primitive, d->stream, d->nr, d->args));
}

/* ---- operands ---- */

static dnnl_memory_t memory(struct onednn_call *d, const dnnl_memory_desc_t *md, float *at)
{
	dnnl_memory_t m;

	DO(dnnl_memory_create(&m, md, d->engine, at));
	return m;
}

static void copies_make(struct onednn_call *d, const dnnl_memory_desc_t *md, size_t rotate)
{
	size_t n = dnn.dnnl_memory_desc_get_size(md) / sizeof(float);
	float *all;

	d->c.copies = direct_copies(n * sizeof(*all), rotate);
	d->copies = calloc(d->c.copies, sizeof(*d->copies));
	if (!d->copies)
		direct_end(DIRECT_FAILED, "no memory");
	all = direct_copied(n, d->c.copies);
	for (size_t i = 0; i < d->c.copies; i++)
		d->copies[i] = memory(d, md, all + i * n);
	d->weights = d->nr;
}

/* In the layout that the primitive wants. */
static void operand(struct onednn_call *d, int arg, bool weights, size_t rotate)
{
	const dnnl_memory_desc_t *md =
		dnn.dnnl_primitive_desc_query_md(d->pd, dnnl_query_exec_arg_md, arg);
	size_t n;

	if (!md)
		direct_end(DIRECT_FAILED, "oneDNN has no operand %d", arg);
	n = dnn.dnnl_memory_desc_get_size(md) / sizeof(float);
	d->args[d->nr] = (dnnl_exec_arg_t){ arg, memory(d, md, direct_floats(n)) };
	if (weights && rotate)
		copies_make(d, md, rotate);
	d->nr++;
}

static void primitive(struct onednn_call *d, const_dnnl_op_desc_t op, dnnl_primitive_attr_t attr,
		      dnnl_primitive_desc_t hint)
{
	DO(dnnl_primitive_desc_create(&d->pd, op, attr, d->engine, hint));
	DO(dnnl_primitive_create(&d->primitive, d->pd));
}

static dnnl_format_tag_t tag_of(const char *name, size_t n)
{
	for (int t = 0; t < dnnl_format_tag_last; t++) {
		const char *known = dnn.dnnl_fmt_tag2str((dnnl_format_tag_t)t);

		if (strlen(known) == n && !strncmp(known, name, n))
			return (dnnl_format_tag_t)t;
	}
	direct_end(DIRECT_UNSUPPORTED, "no layout %.*s", (int)n, name);
}

/* ---- gemm ---- */

/* A column-major C = op(A) op(B) is the row-major matmul Cᵀ = op(B)ᵀ op(A)ᵀ of the same memory. */
static void strided(dnnl_memory_desc_t *md, long rows, long cols, long row, long col)
{
	dnnl_dims_t dims = { rows, cols }, strides = { row, col };

	DO(dnnl_memory_desc_init_by_strides(md, 2, dims, dnnl_f32, strides));
}

static dnnl_primitive_attr_t gemm_attr(const char *key)
{
	float alpha = direct_scalar(key, "alpha", 1), beta = direct_scalar(key, "beta", 0);
	dnnl_primitive_attr_t attr;
	dnnl_post_ops_t ops;

	DO(dnnl_primitive_attr_create(&attr));
	DO(dnnl_post_ops_create(&ops));
	DO(dnnl_primitive_attr_set_output_scales(attr, 1, 0, &alpha));
	if (beta < 0 || beta > 0)
		DO(dnnl_post_ops_append_sum(ops, beta));
	DO(dnnl_primitive_attr_set_post_ops(attr, ops));
	return attr;
}

static void gemm_make(struct onednn_call *d, const char *key, size_t rotate)
{
	char ta[8] = "N", tb[8] = "N";
	long m = direct_number(key, "m", 0), n = direct_number(key, "n", 0),
	     k = direct_number(key, "k", 0), lda, ldb;
	dnnl_memory_desc_t src, wei, dst;
	dnnl_matmul_desc_t op;

	if (direct_number(key, "batch", 1) != 1 || !strstr(key, " a=f32"))
		direct_end(DIRECT_UNSUPPORTED, "no such gemm: %s", key);
	direct_word(key, "ta", ta, sizeof(ta));
	direct_word(key, "tb", tb, sizeof(tb));
	lda = direct_number(key, "lda", *ta == 'N' ? m : k);
	ldb = direct_number(key, "ldb", *tb == 'N' ? k : n);
	strided(&src, n, k, *tb == 'N' ? ldb : 1, *tb == 'N' ? 1 : ldb);
	strided(&wei, k, m, *ta == 'N' ? lda : 1, *ta == 'N' ? 1 : lda);
	strided(&dst, n, m, direct_number(key, "ldc", m), 1);
	DO(dnnl_matmul_desc_init(&op, &src, &wei, NULL, &dst));
	primitive(d, &op, gemm_attr(key), NULL);
	operand(d, DNNL_ARG_SRC, false, rotate);
	operand(d, DNNL_ARG_WEIGHTS, true, rotate);
	operand(d, DNNL_ARG_DST, false, rotate);
}

/* ---- layers ---- */

struct layer {
	dnnl_memory_desc_t src, wei, dst, bia;
	bool biased;
	dnnl_dims_t stride, dilation, pad; /* of a convolution */
	dnnl_prop_kind_t prop;
};

/* "3x5" is two numbers. */
static void pair(const char *key, const char *name, dnnl_dim_t *ret, long minus)
{
	char text[32] = "", *end;

	direct_word(key, name, text, sizeof(text));
	ret[0] = strtol(text, &end, 10) - minus;
	if (*end != 'x')
		direct_end(DIRECT_UNSUPPORTED, "%s=%s", name, text);
	ret[1] = strtol(end + 1, &end, 10) - minus;
	if (*end || ret[0] < 0 || ret[1] < 0 || ret[0] > 1 << 20 || ret[1] > 1 << 20)
		direct_end(DIRECT_UNSUPPORTED, "%s=%s", name, text);
}

static dnnl_prop_kind_t conv_prop(const char *key)
{
	char dir[16] = "";

	direct_word(key, "dir", dir, sizeof(dir));
	if (!strcmp(dir, "bwd_data"))
		return dnnl_backward_data;
	if (!strcmp(dir, "bwd_weights"))
		return dnnl_backward_weights;
	return strstr(key, "forward_training") ? dnnl_forward_training : dnnl_forward_inference;
}

/* Of source, weights and destination: "aBcd16b.ABcd16b16a.aBcd16b"; else the library chooses. */
static void conv_tags(const char *key, dnnl_format_tag_t tags[3])
{
	char layout[128] = "any.any.any";
	const char *at = layout;

	direct_word(key, "layout", layout, sizeof(layout));
	for (int i = 0; i < 3; i++) {
		tags[i] = tag_of(at, strcspn(at, "."));
		at += strcspn(at, ".");
		at += *at == '.';
	}
}

static void conv_parse(const char *key, struct layer *l)
{
	long n = direct_number(key, "n", 0), c = direct_number(key, "c", 0),
	     k = direct_number(key, "k", 0);
	dnnl_dims_t in, filter, out;
	dnnl_format_tag_t tags[3];

	if (strstr(key, "bia") || strstr(key, "post-ops") || direct_number(key, "g", 1) != 1)
		direct_end(DIRECT_UNSUPPORTED, "no such convolution: %s", key);
	pair(key, "in", in, 0);
	pair(key, "filter", filter, 0);
	pair(key, "pad", l->pad, 0);
	pair(key, "stride", l->stride, 0);
	pair(key, "dilation", l->dilation, 1);
	if (!l->stride[0] || !l->stride[1])
		direct_end(DIRECT_UNSUPPORTED, "no such convolution: %s", key);
	for (int i = 0; i < 2; i++) {
		dnnl_dim_t reach = (filter[i] - 1) * (l->dilation[i] + 1) + 1;

		out[i] = (in[i] + 2 * l->pad[i] - reach) / l->stride[i] + 1;
	}
	conv_tags(key, tags);
	l->prop = conv_prop(key);
	DO(dnnl_memory_desc_init_by_tag(&l->src, 4, (dnnl_dims_t){ n, c, in[0], in[1] }, dnnl_f32,
					tags[0]));
	DO(dnnl_memory_desc_init_by_tag(&l->wei, 4, (dnnl_dims_t){ k, c, filter[0], filter[1] },
					dnnl_f32, tags[1]));
	DO(dnnl_memory_desc_init_by_tag(&l->dst, 4, (dnnl_dims_t){ n, k, out[0], out[1] }, dnnl_f32,
					tags[2]));
}

static dnnl_primitive_desc_t conv_forward(struct onednn_call *d, struct layer *l,
					  dnnl_prop_kind_t prop)
{
	dnnl_convolution_desc_t op;
	dnnl_primitive_desc_t pd;

	DO(dnnl_dilated_convolution_forward_desc_init(&op, prop, dnnl_convolution_direct, &l->src,
						      &l->wei, NULL, &l->dst, l->stride,
						      l->dilation, l->pad, l->pad));
	DO(dnnl_primitive_desc_create(&pd, &op, NULL, d->engine, NULL));
	return pd;
}

static void conv_make(struct onednn_call *d, struct layer *l)
{
	dnnl_convolution_desc_t op;

	if (l->prop == dnnl_backward_data)
		DO(dnnl_dilated_convolution_backward_data_desc_init(
			&op, dnnl_convolution_direct, &l->src, &l->wei, &l->dst, l->stride,
			l->dilation, l->pad, l->pad));
	else if (l->prop == dnnl_backward_weights)
		DO(dnnl_dilated_convolution_backward_weights_desc_init(
			&op, dnnl_convolution_direct, &l->src, &l->wei, NULL, &l->dst, l->stride,
			l->dilation, l->pad, l->pad));
	else {
		d->pd = conv_forward(d, l, l->prop);
		DO(dnnl_primitive_create(&d->primitive, d->pd));
		return;
	}
	primitive(d, &op, NULL, conv_forward(d, l, dnnl_forward_training));
}

/* "src=f32:ab" and "wei=f32:AB16b64a:p". */
static void ip_md(const char *key, const char *name, int nr, const dnnl_dims_t dims,
		  dnnl_memory_desc_t *md)
{
	char text[64] = "";

	if (!direct_word(key, name, text, sizeof(text)) || strncmp(text, "f32:", 4) != 0)
		direct_end(DIRECT_UNSUPPORTED, "%s=%s", name, text);
	DO(dnnl_memory_desc_init_by_tag(md, nr, dims, dnnl_f32,
					tag_of(text + 4, strcspn(text + 4, ":"))));
}

/* "mb32" in front of what is left; 0: something else is there. */
static long size_of(const char **at, const char *name)
{
	size_t n = strlen(name);
	char *end;
	long v;

	if (strncmp(*at, name, n) != 0)
		return 0;
	v = strtol(*at + n, &end, 10);
	*at = end;
	return v < 0 || v > 1 << 20 ? 0 : v;
}

static void ip_parse(const char *key, struct layer *l)
{
	char dims[64] = "", bia[32], prop[32] = "";
	const char *at = dims;
	long mb, ic, oc;

	direct_word(key, "dims", dims, sizeof(dims));
	direct_word(key, "prop", prop, sizeof(prop));
	mb = size_of(&at, "mb");
	ic = size_of(&at, "ic");
	oc = size_of(&at, "oc");
	if (!mb || !ic || !oc || *at || strstr(key, "with="))
		direct_end(DIRECT_UNSUPPORTED, "no such inner product: %s", key);
	l->prop = !strcmp(prop, "backward_data")      ? dnnl_backward_data
		  : !strcmp(prop, "backward_weights") ? dnnl_backward_weights
		  : !strcmp(prop, "forward_training") ? dnnl_forward_training
						      : dnnl_forward_inference;
	ip_md(key, "src", 2, (dnnl_dims_t){ mb, ic }, &l->src);
	ip_md(key, "wei", 2, (dnnl_dims_t){ oc, ic }, &l->wei);
	ip_md(key, "dst", 2, (dnnl_dims_t){ mb, oc }, &l->dst);
	l->biased = direct_word(key, "bia", bia, sizeof(bia));
	if (l->biased)
		ip_md(key, "bia", 1, (dnnl_dims_t){ oc }, &l->bia);
}

static dnnl_primitive_desc_t ip_forward(struct onednn_call *d, struct layer *l,
					dnnl_prop_kind_t prop)
{
	dnnl_inner_product_desc_t op;
	dnnl_primitive_desc_t pd;

	DO(dnnl_inner_product_forward_desc_init(&op, prop, &l->src, &l->wei,
						l->biased ? &l->bia : NULL, &l->dst));
	DO(dnnl_primitive_desc_create(&pd, &op, NULL, d->engine, NULL));
	return pd;
}

static void ip_make(struct onednn_call *d, struct layer *l)
{
	dnnl_inner_product_desc_t op;

	if (l->prop == dnnl_backward_data)
		DO(dnnl_inner_product_backward_data_desc_init(&op, &l->src, &l->wei, &l->dst));
	else if (l->prop == dnnl_backward_weights)
		DO(dnnl_inner_product_backward_weights_desc_init(
			&op, &l->src, &l->wei, l->biased ? &l->bia : NULL, &l->dst));
	else {
		d->pd = ip_forward(d, l, l->prop);
		DO(dnnl_primitive_create(&d->primitive, d->pd));
		return;
	}
	primitive(d, &op, NULL, ip_forward(d, l, dnnl_forward_training));
}

static void layer_operands(struct onednn_call *d, const struct layer *l, size_t rotate)
{
	bool data = l->prop == dnnl_backward_data, weights = l->prop == dnnl_backward_weights;

	operand(d, data ? DNNL_ARG_DIFF_SRC : DNNL_ARG_SRC, false, rotate);
	operand(d, weights ? DNNL_ARG_DIFF_WEIGHTS : DNNL_ARG_WEIGHTS, true, rotate);
	operand(d, data || weights ? DNNL_ARG_DIFF_DST : DNNL_ARG_DST, false, rotate);
	if (l->biased && !data)
		operand(d, weights ? DNNL_ARG_DIFF_BIAS : DNNL_ARG_BIAS, false, rotate);
}

struct direct_call *direct_onednn_make(void *lib, const char *key, size_t rotate)
{
	struct onednn_call *d = calloc(1, sizeof(*d));
	struct layer l = { .biased = false };

	if (!d)
		direct_end(DIRECT_FAILED, "no memory");
#define LOOK_UP(name) *(void **)&dnn.name = direct_symbol(lib, #name);
	FUNCTIONS(LOOK_UP)
	d->c.lib = lib;
	d->c.once = once;
	DO(dnnl_engine_create(&d->engine, dnnl_cpu, 0));
	DO(dnnl_stream_create(&d->stream, d->engine, dnnl_stream_default_flags));
	if (!strncmp(key, "gemm ", 5)) {
		gemm_make(d, key, rotate);
		return &d->c;
	}
	if (!strncmp(key, "conv ", 5)) {
		conv_parse(key, &l);
		conv_make(d, &l);
	} else if (!strncmp(key, "ip ", 3)) {
		ip_parse(key, &l);
		ip_make(d, &l);
	} else {
		direct_end(DIRECT_UNSUPPORTED, "no such call of oneDNN: %s", key);
	}
	layer_operands(d, &l, rotate);
	return &d->c;
}

#else

struct direct_call *direct_onednn_make(void *lib, const char *key, size_t rotate)
{
	(void)lib, (void)rotate;
	direct_end(DIRECT_UNSUPPORTED, "built without libdnnl-dev: %s", key);
}

#endif
