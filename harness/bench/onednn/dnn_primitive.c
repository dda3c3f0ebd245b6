/* Operations as primitives of oneDNN 2 and 3 (dnn_lib.h). */
#include "dnn_lib.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "profrig/base/text.h"
#include "profrig/base/xalloc.h"

#define PROP_TRAINING 64
#define PROP_INFERENCE 96
#define QUERY_IMPLEMENTATION 8
#define QUERY_WORKSPACE 135
#define QUERY_ARGUMENT 255
#define DESC_BYTES 65536 /* more than any struct of an operation in oneDNN 2 */

typedef const int64_t *dims_t;
typedef const void *md_t;

struct window {
	int64_t kernel[DNN_DIMS_MAX], stride[DNN_DIMS_MAX], dilation[DNN_DIMS_MAX];
	int64_t left[DNN_DIMS_MAX], right[DNN_DIMS_MAX];
};

struct making {
	const struct dnn_lib *lib;
	const struct dnn_op *op;
	void *md[DNN_ROLES], *attr, *desc, *hint;
	void *pd;   /* what becomes of it */
	int status; /* of the library; -1: err is set */
	int prop, alg;
	struct window w;
	struct err *err;
};

/* NULL: the library has none, and err says so. */
static dynlib_function *function(struct making *m, const char *two, const char *three)
{
	const char *name = m->lib->described ? two : three;
	dynlib_function *f = dynlib_find(m->lib->handle, name);

	if (!f) {
		err_set(m->err, ENOTSUP, "the library has no %s", name);
		m->status = -1;
	}
	return f;
}

/* ---- attributes ---- */

typedef int scales_2(void *attr, int64_t count, int mask, const float *scales);
typedef int eltwise_post_2(void *posts, float scale, int alg, float alpha, float beta);
typedef int eltwise_post_3(void *posts, int alg, float alpha, float beta);
typedef int sum_post_2(void *posts, float scale);
typedef int sum_post_3(void *posts, float scale, int32_t zero_point, int type);

static int post_eltwise(struct making *m, void *posts, const struct dnn_post *p)
{
	const char *name = "dnnl_post_ops_append_eltwise";
	dynlib_function *f = function(m, name, name);
	int alg, r = f ? dnn_lib_alg(m->lib, p->alg, &alg, m->err) : -ENOTSUP;

	if (r < 0)
		return r;
	if (m->lib->described)
		r = ((eltwise_post_2 *)f)(posts, p->scale, alg, p->alpha, p->beta);
	else if (p->scale != 1)
		return err_set(m->err, ENOTSUP, "oneDNN 3 has no scale of %s", p->alg);
	else
		r = ((eltwise_post_3 *)f)(posts, alg, p->alpha, p->beta);
	return r ? err_set(m->err, ENOTSUP, "the library has no post-operation %s", p->alg) : 0;
}

static int post_sum(struct making *m, void *posts, float scale)
{
	const char *name = "dnnl_post_ops_append_sum";
	dynlib_function *f = function(m, name, name);
	int r;

	if (!f)
		return -ENOTSUP;
	r = m->lib->described ? ((sum_post_2 *)f)(posts, scale)
			      : ((sum_post_3 *)f)(posts, scale, 0, 0);
	return r ? err_set(m->err, ENOTSUP, "the library has no post-operation sum") : 0;
}

static int posts_append(struct making *m, void *posts)
{
	const struct dnn_op *op = m->op;
	const struct dnn_post scale = { .alg = "eltwise_linear", .scale = 1, .alpha = op->alpha };
	int r = 0;

	if (op->kind == DNN_MATMUL && op->alpha != 1 && !m->lib->described)
		r = post_eltwise(m, posts, &scale);
	for (size_t i = 0; r == 0 && i < op->posts; i++)
		r = op->post[i].sum ? post_sum(m, posts, op->post[i].scale)
				    : post_eltwise(m, posts, &op->post[i]);
	return r;
}

/* alpha: a scale of the output in oneDNN 2, a linear function in 3. */
static int attr_make(struct making *m)
{
	const struct dnn_op *op = m->op;
	bool scaled = op->kind == DNN_MATMUL && op->alpha != 1;
	void *posts = NULL;
	int r = m->lib->dnnl_primitive_attr_create(&m->attr);

	if (r == 0)
		r = m->lib->dnnl_post_ops_create(&posts);
	if (r)
		return err_set(m->err, ENOMEM, "attributes: %s", m->lib->dnnl_status2str(r));
	if (scaled && m->lib->described) {
		dynlib_function *f = function(m, "dnnl_primitive_attr_set_output_scales", "");

		if (!f || ((scales_2 *)f)(m->attr, 1, 0, &op->alpha) != 0)
			r = err_set(m->err, ENOTSUP, "the library has no alpha");
	}
	if (r == 0)
		r = posts_append(m, posts);
	if (r == 0 && m->lib->dnnl_primitive_attr_set_post_ops(m->attr, posts) != 0)
		r = err_set(m->err, ENOTSUP, "the library takes no such post-operations");
	m->lib->dnnl_post_ops_destroy(posts);
	return r;
}

/* ---- operations ---- */

typedef int desc_create_2(void **pd, const void *desc, const void *attr, void *engine,
			  const void *hint);

/* What desc describes, in oneDNN 2. */
static void pd_of_desc(struct making *m)
{
	dynlib_function *f = function(m, "dnnl_primitive_desc_create", "");

	if (f && m->status == 0)
		m->status = ((desc_create_2 *)f)(&m->pd, m->desc, m->attr, m->lib->engine, m->hint);
}

typedef int matmul_2(void *, md_t, md_t, md_t, md_t);
typedef int matmul_3(void **, void *, md_t, md_t, md_t, md_t, const void *);

static void matmul_make(struct making *m)
{
	dynlib_function *f =
		function(m, "dnnl_matmul_desc_init", "dnnl_matmul_primitive_desc_create");
	void **md = m->md;

	if (!f)
		return;
	if (m->lib->described)
		m->status = ((matmul_2 *)f)(m->desc, md[DNN_SRC], md[DNN_WEI], NULL, md[DNN_DST]);
	else
		m->status = ((matmul_3 *)f)(&m->pd, m->lib->engine, md[DNN_SRC], md[DNN_WEI], NULL,
					    md[DNN_DST], m->attr);
}

typedef int ip_fwd_2(void *, int, md_t, md_t, md_t, md_t);
typedef int ip_fwd_3(void **, void *, int, md_t, md_t, md_t, md_t, const void *);
typedef int ip_data_2(void *, md_t, md_t, md_t);
typedef int ip_data_3(void **, void *, md_t, md_t, md_t, const void *, const void *);
typedef int ip_weights_2(void *, md_t, md_t, md_t, md_t);
typedef int ip_weights_3(void **, void *, md_t, md_t, md_t, md_t, const void *, const void *);

static void ip_make(struct making *m)
{
	static const char *const two[] = { "dnnl_inner_product_forward_desc_init",
					   "dnnl_inner_product_backward_data_desc_init",
					   "dnnl_inner_product_backward_weights_desc_init" };
	static const char *const three[] = {
		"dnnl_inner_product_forward_primitive_desc_create",
		"dnnl_inner_product_backward_data_primitive_desc_create",
		"dnnl_inner_product_backward_weights_primitive_desc_create"
	};
	dynlib_function *f = function(m, two[m->op->direction], three[m->op->direction]);
	void *src = m->md[DNN_SRC], *wei = m->md[DNN_WEI], *bia = m->md[DNN_BIA];
	void *dst = m->md[DNN_DST], *engine = m->lib->engine;
	bool described = m->lib->described;

	if (!f)
		return;
	switch (m->op->direction) {
	case DNN_FWD:
		m->status = described ? ((ip_fwd_2 *)f)(m->desc, m->prop, src, wei, bia, dst)
				      : ((ip_fwd_3 *)f)(&m->pd, engine, m->prop, src, wei, bia, dst,
							m->attr);
		break;
	case DNN_BWD_DATA:
		m->status = described ? ((ip_data_2 *)f)(m->desc, src, wei, dst)
				      : ((ip_data_3 *)f)(&m->pd, engine, src, wei, dst, m->hint,
							 m->attr);
		break;
	case DNN_BWD_WEIGHTS:
		m->status = described ? ((ip_weights_2 *)f)(m->desc, src, wei, bia, dst)
				      : ((ip_weights_3 *)f)(&m->pd, engine, src, wei, bia, dst,
							    m->hint, m->attr);
		break;
	}
}

typedef int conv_fwd_2(void *, int, int, md_t, md_t, md_t, md_t, dims_t, dims_t, dims_t, dims_t);
typedef int conv_fwd_3(void **, void *, int, int, md_t, md_t, md_t, md_t, dims_t, dims_t, dims_t,
		       dims_t, const void *);
typedef int conv_data_2(void *, int, md_t, md_t, md_t, dims_t, dims_t, dims_t, dims_t);
typedef int conv_data_3(void **, void *, int, md_t, md_t, md_t, dims_t, dims_t, dims_t, dims_t,
			const void *, const void *);
typedef int conv_weights_2(void *, int, md_t, md_t, md_t, md_t, dims_t, dims_t, dims_t, dims_t);
typedef int conv_weights_3(void **, void *, int, md_t, md_t, md_t, md_t, dims_t, dims_t, dims_t,
			   dims_t, const void *, const void *);

static void conv_make(struct making *m)
{
	static const char *const directions[] = { "forward", "backward_data", "backward_weights" };
	const char *kind = m->op->transposed ? "deconvolution" : "convolution";
	const char *direction = directions[m->op->direction];
	void *src = m->md[DNN_SRC], *wei = m->md[DNN_WEI], *bia = m->md[DNN_BIA];
	void *dst = m->md[DNN_DST], *engine = m->lib->engine;
	const struct window *w = &m->w;
	bool described = m->lib->described;
	dynlib_function *f;
	char two[80], three[80];

	snprintf(two, sizeof(two), "dnnl_dilated_%s_%s_desc_init", kind, direction);
	snprintf(three, sizeof(three), "dnnl_%s_%s_primitive_desc_create", kind, direction);
	f = function(m, two, three);
	if (!f)
		return;
	switch (m->op->direction) {
	case DNN_FWD:
		m->status =
			described ? ((conv_fwd_2 *)f)(m->desc, m->prop, m->alg, src, wei, bia, dst,
						      w->stride, w->dilation, w->left, w->right)
				  : ((conv_fwd_3 *)f)(&m->pd, engine, m->prop, m->alg, src, wei,
						      bia, dst, w->stride, w->dilation, w->left,
						      w->right, m->attr);
		break;
	case DNN_BWD_DATA:
		m->status = described
				    ? ((conv_data_2 *)f)(m->desc, m->alg, src, wei, dst, w->stride,
							 w->dilation, w->left, w->right)
				    : ((conv_data_3 *)f)(&m->pd, engine, m->alg, src, wei, dst,
							 w->stride, w->dilation, w->left, w->right,
							 m->hint, m->attr);
		break;
	case DNN_BWD_WEIGHTS:
		m->status =
			described ? ((conv_weights_2 *)f)(m->desc, m->alg, src, wei, bia, dst,
							  w->stride, w->dilation, w->left, w->right)
				  : ((conv_weights_3 *)f)(&m->pd, engine, m->alg, src, wei, bia,
							  dst, w->stride, w->dilation, w->left,
							  w->right, m->hint, m->attr);
		break;
	}
}

typedef int pool_2(void *, int, int, md_t, md_t, dims_t, dims_t, dims_t, dims_t, dims_t);
typedef int pool_3(void **, void *, int, int, md_t, md_t, dims_t, dims_t, dims_t, dims_t, dims_t,
		   const void *);

static void pooling_make(struct making *m)
{
	dynlib_function *f = function(m, "dnnl_pooling_v2_forward_desc_init",
				      "dnnl_pooling_forward_primitive_desc_create");
	const struct window *w = &m->w;

	if (!f)
		return;
	if (m->lib->described)
		m->status = ((pool_2 *)f)(m->desc, m->prop, m->alg, m->md[DNN_SRC], m->md[DNN_DST],
					  w->stride, w->kernel, w->dilation, w->left, w->right);
	else
		m->status = ((pool_3 *)f)(&m->pd, m->lib->engine, m->prop, m->alg, m->md[DNN_SRC],
					  m->md[DNN_DST], w->stride, w->kernel, w->dilation,
					  w->left, w->right, m->attr);
}

/* In oneDNN 2 source and result have one description. false: they differ, and err says so. */
static bool one_data(struct making *m)
{
	const struct dnn_tensor *src = &m->op->of[DNN_SRC], *dst = &m->op->of[DNN_DST];

	if (!m->lib->described || (src->type == dst->type && !strcmp(src->tag, dst->tag) &&
				   !src->strided && !dst->strided))
		return true;
	err_set(m->err, ENOTSUP, "oneDNN 2 has one layout and type for source and result");
	m->status = -1;
	return false;
}

static unsigned norm_flags(const struct making *m)
{
	const struct dnn_op *op = m->op;
	bool two = m->lib->described;

	return (op->stats_given ? 1U : 0) | (op->scale ? (two ? 8U : 2U) : 0) |
	       (op->shift ? (two ? 16U : 4U) : 0) | (op->relu ? (two ? 4U : 8U) : 0);
}

typedef int bnorm_2(void *, int, md_t, float, unsigned);
typedef int bnorm_3(void **, void *, int, md_t, md_t, float, unsigned, const void *);

static void bnorm_make(struct making *m)
{
	dynlib_function *f = function(m, "dnnl_batch_normalization_forward_desc_init",
				      "dnnl_batch_normalization_forward_primitive_desc_create");

	if (!f || !one_data(m))
		return;
	if (m->lib->described)
		m->status = ((bnorm_2 *)f)(m->desc, m->prop, m->md[DNN_SRC], DNN_EPSILON,
					   norm_flags(m));
	else
		m->status = ((bnorm_3 *)f)(&m->pd, m->lib->engine, m->prop, m->md[DNN_SRC],
					   m->md[DNN_DST], DNN_EPSILON, norm_flags(m), m->attr);
}

typedef int lnorm_2(void *, int, md_t, md_t, float, unsigned);
typedef int lnorm_3(void **, void *, int, md_t, md_t, md_t, float, unsigned, const void *);

static void lnorm_make(struct making *m)
{
	dynlib_function *f = function(m, "dnnl_layer_normalization_forward_desc_init",
				      "dnnl_layer_normalization_forward_primitive_desc_create");

	if (!f || !one_data(m))
		return;
	if (m->lib->described)
		m->status = ((lnorm_2 *)f)(m->desc, m->prop, m->md[DNN_SRC], m->md[DNN_MEAN],
					   DNN_EPSILON, norm_flags(m));
	else
		m->status = ((lnorm_3 *)f)(&m->pd, m->lib->engine, m->prop, m->md[DNN_SRC],
					   m->md[DNN_DST], m->md[DNN_MEAN], DNN_EPSILON,
					   norm_flags(m), m->attr);
}

typedef int softmax_2(void *, int, int, md_t, md_t, int);
typedef int softmax_3(void **, void *, int, int, md_t, md_t, int, const void *);

static void softmax_make(struct making *m)
{
	dynlib_function *f = function(m, "dnnl_softmax_v2_forward_desc_init",
				      "dnnl_softmax_forward_primitive_desc_create");

	if (!f)
		return;
	if (m->lib->described)
		m->status = ((softmax_2 *)f)(m->desc, m->prop, m->alg, m->md[DNN_SRC],
					     m->md[DNN_DST], m->op->axis);
	else
		m->status = ((softmax_3 *)f)(&m->pd, m->lib->engine, m->prop, m->alg,
					     m->md[DNN_SRC], m->md[DNN_DST], m->op->axis, m->attr);
}

typedef int eltwise_2(void *, int, int, md_t, float, float);
typedef int eltwise_3(void **, void *, int, int, md_t, md_t, float, float, const void *);

static void eltwise_make(struct making *m)
{
	dynlib_function *f = function(m, "dnnl_eltwise_forward_desc_init",
				      "dnnl_eltwise_forward_primitive_desc_create");

	if (!f || !one_data(m))
		return;
	if (m->lib->described)
		m->status = ((eltwise_2 *)f)(m->desc, m->prop, m->alg, m->md[DNN_SRC], m->op->alpha,
					     m->op->beta);
	else
		m->status =
			((eltwise_3 *)f)(&m->pd, m->lib->engine, m->prop, m->alg, m->md[DNN_SRC],
					 m->md[DNN_DST], m->op->alpha, m->op->beta, m->attr);
}

/* ---- making ---- */

static void window_of(const struct dnn_op *op, struct window *w)
{
	int first = DNN_SPATIAL_MAX - op->spatial;

	for (int i = 0; i < op->spatial; i++) {
		w->kernel[i] = op->kernel[first + i];
		w->stride[i] = op->stride[first + i];
		w->dilation[i] = op->dilation[first + i] - 1;
		w->left[i] = op->pad[first + i];
		w->right[i] = op->pad_right[first + i];
	}
}

static int making_begin(struct making *m)
{
	const struct dnn_op *op = m->op;
	bool named = op->kind != DNN_MATMUL && op->kind != DNN_IP && op->kind != DNN_BNORM &&
		     op->kind != DNN_LNORM;
	int r = named ? dnn_lib_alg(m->lib, op->alg, &m->alg, m->err) : 0;

	for (int i = 0; r == 0 && i < DNN_ROLES; i++)
		if (op->of[i].nr)
			r = dnn_lib_md(m->lib, &op->of[i], false, &m->md[i], m->err);
	if (r == 0)
		r = attr_make(m);
	m->prop = op->training ? PROP_TRAINING : PROP_INFERENCE;
	m->desc = xcalloc(1, DESC_BYTES);
	window_of(op, &m->w);
	return r;
}

static void making_end(struct making *m)
{
	for (int i = 0; i < DNN_ROLES; i++)
		dnn_lib_md_free(m->lib, m->md[i]);
	if (m->attr)
		m->lib->dnnl_primitive_attr_destroy(m->attr);
	free(m->desc);
}

/* hint: the forward one of a backward operation; NULL. */
static int pd_make(const struct dnn_lib *lib, const struct dnn_op *op, void *hint, void **ret,
		   struct err *err)
{
	static void (*const of[])(struct making *) = {
		[DNN_MATMUL] = matmul_make,   [DNN_IP] = ip_make,          [DNN_CONV] = conv_make,
		[DNN_POOLING] = pooling_make, [DNN_BNORM] = bnorm_make,    [DNN_LNORM] = lnorm_make,
		[DNN_SOFTMAX] = softmax_make, [DNN_ELTWISE] = eltwise_make
	};
	struct making m = { .lib = lib, .op = op, .hint = hint, .err = err };
	int r = making_begin(&m);

	if (r == 0) {
		of[op->kind](&m);
		if (m.status == 0 && lib->described)
			pd_of_desc(&m);
		if (m.status < 0)
			r = -ENOTSUP;
		else if (m.status > 0)
			r = err_set(err, ENOTSUP, "the library has no implementation of it (%s)",
				    lib->dnnl_status2str(m.status));
	}
	making_end(&m);
	*ret = m.pd;
	return r;
}

/* Backward operations may ask what the forward one chose. NULL: there is none. */
static void *hint_make(const struct dnn_lib *lib, const struct dnn_op *op)
{
	struct dnn_op forward = *op;
	void *pd = NULL;

	if (op->direction == DNN_FWD)
		return NULL;
	forward.direction = DNN_FWD;
	forward.training = true;
	for (int i = 0; i < DNN_ROLES; i++) {
		forward.of[i].tag[0] = 0;
		forward.of[i].strided = false;
	}
	forward.of[DNN_BIA].nr = 0;
	return pd_make(lib, &forward, NULL, &pd, NULL) < 0 ? NULL : pd;
}

int dnn_primitive_make(const struct dnn_lib *lib, const struct dnn_op *op,
		       struct dnn_primitive *ret, struct err *err)
{
	struct dnn_primitive p = { 0 };
	void *hint = hint_make(lib, op);
	const char *chosen = NULL;
	int r = pd_make(lib, op, hint, &p.pd, err);

	if (r == 0) {
		int s = lib->dnnl_primitive_create(&p.primitive, p.pd);

		if (s)
			r = err_set(err, ENOTSUP, "the library makes no primitive of it (%s)",
				    lib->dnnl_status2str(s));
	}
	if (r == 0 &&
	    lib->dnnl_primitive_desc_query(p.pd, QUERY_IMPLEMENTATION, 0, (void *)&chosen) == 0 &&
	    chosen)
		snprintf(p.chosen, sizeof(p.chosen), "%s", chosen);
	text_no_controls(p.chosen, ' ');
	if (hint)
		lib->dnnl_primitive_desc_destroy(hint);
	if (r < 0)
		dnn_primitive_free(lib, &p);
	else
		*ret = p;
	return r;
}

void dnn_primitive_free(const struct dnn_lib *lib, struct dnn_primitive *p)
{
	if (p->primitive)
		lib->dnnl_primitive_destroy(p->primitive);
	if (p->pd)
		lib->dnnl_primitive_desc_destroy(p->pd);
	*p = (struct dnn_primitive){ 0 };
}

int dnn_argument_of(const struct dnn_op *op, enum dnn_role role)
{
	static const int forward[DNN_ROLES] = { DNN_ARG_SRC,   DNN_ARG_WEIGHTS, DNN_ARG_BIAS,
						DNN_ARG_DST,   DNN_ARG_MEAN,    DNN_ARG_VARIANCE,
						DNN_ARG_SCALE, DNN_ARG_SHIFT };

	if (op->direction == DNN_FWD)
		return forward[role];
	if (role == DNN_DST)
		return DNN_ARG_DIFF_DST;
	if (!dnn_is_result(op, role))
		return forward[role];
	return role == DNN_SRC   ? DNN_ARG_DIFF_SRC
	       : role == DNN_WEI ? DNN_ARG_DIFF_WEIGHTS
				 : DNN_ARG_DIFF_BIAS;
}

const void *dnn_primitive_md(const struct dnn_lib *lib, const struct dnn_primitive *p, int arg)
{
	const void *md = arg == DNN_ARG_WORKSPACE
				 ? lib->dnnl_primitive_desc_query_md(p->pd, QUERY_WORKSPACE, 0)
				 : lib->dnnl_primitive_desc_query_md(p->pd, QUERY_ARGUMENT, arg);

	return md && lib->dnnl_memory_desc_get_size(md) ? md : NULL;
}
