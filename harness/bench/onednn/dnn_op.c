/* Keys of products, inner products and convolutions, and the work of all operations (dnn_op.h). */
#include "dnn_op.h"
#include "dnn_parse.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "profrig/base/strvec.h"
#include "profrig/base/xalloc.h"

typedef unsigned __int128 wide;

#define SCALAR_OTHER 0.5

bool dnn_is_result(const struct dnn_op *op, enum dnn_role role)
{
	switch (op->direction) {
	case DNN_BWD_DATA:
		return role == DNN_SRC;
	case DNN_BWD_WEIGHTS:
		return role == DNN_WEI || role == DNN_BIA;
	case DNN_FWD:
		break;
	}
	if (role == DNN_MEAN || role == DNN_VAR)
		return !op->stats_given;
	return role == DNN_DST;
}

uint64_t dnn_elements(const struct dnn_tensor *t)
{
	uint64_t n = t->nr > 0;

	for (int i = 0; i < t->nr; i++)
		n *= (uint64_t)t->dims[i];
	return n;
}

bool dnn_accumulates(const struct dnn_op *op)
{
	for (size_t i = 0; i < op->posts; i++)
		if (op->post[i].sum)
			return true;
	return false;
}

/* ---- gemm ---- */

struct gemm {
	int64_t m, n, k, batch;
	bool ta, tb;
};

static int letter(struct bench_key *k, const char *name, bool *ret, struct err *err)
{
	const char *v = bench_key_word(k, name);

	if (!v || v[1] || !strchr("NTC", v[0]))
		return err_set(err, EINVAL, "%s=%.20s in the key is none of NTC", name, v ? v : "");
	*ret = v[0] != 'N';
	return 0;
}

static int scalar(struct bench_key *k, const char *name, double otherwise, float *ret,
		  struct err *err)
{
	const char *v = bench_key_word(k, name);
	double d[2] = { SCALAR_OTHER, 0 };
	int r = v && !strcmp(v, "other") ? 0 : bench_key_number(k, name, otherwise, d, err);

	*ret = (float)d[0];
	if (r == 0 && d[1] != 0)
		return err_set(err, ENOTSUP, "this back end has no a complex %s", name);
	return r;
}

/* A column-major matrix as the row-major one of its transpose: rows × cols of src, wei or dst. */
static int gemm_matrix(struct bench_key *k, struct dnn_op *op, enum dnn_role role,
		       const struct gemm *g, int64_t rows, int64_t cols, bool turned,
		       const char *ld_word, const char *stride_word, struct err *err)
{
	struct dnn_tensor *t = &op->of[role];
	int64_t least = turned ? rows : cols, ld, stride, one;
	int at = g->batch > 1;

	TRY(dnn_word_size(k, ld_word, least > 0 ? least : 1, least, &ld, err));
	if (__builtin_mul_overflow(ld, turned ? cols : rows, &one))
		return err_set(err, ERANGE, "a matrix is larger than any memory");
	TRY(bench_key_int(k, stride_word, one, &stride, err));
	if (stride < 0 || stride > DNN_SIZE_MAX ||
	    (role == DNN_DST && g->batch > 1 && stride < one))
		return err_set(err, EINVAL, "%s lets results overlap", stride_word);
	t->nr = 2 + at;
	t->strided = true;
	if (at) {
		t->dims[0] = stride ? g->batch : 1;
		t->strides[0] = stride ? stride : one;
	}
	t->dims[at] = rows;
	t->dims[at + 1] = cols;
	t->strides[at] = turned ? 1 : ld;
	t->strides[at + 1] = turned ? ld : 1;
	return dnn_bound(t, err);
}

static int gemm_types(struct bench_key *k, struct dnn_op *op, struct err *err)
{
	struct dnn_tensor *t = op->of;
	const char *a = bench_key_word(k, "a"), *b = bench_key_word(k, "b");
	const char *c = bench_key_word(k, "c"), *d = bench_key_word(k, "d");
	const char *compute = bench_key_word(k, "compute"), *sum;
	bool whole;

	TRY(dnn_word_type(a, &t[DNN_WEI].type, err));
	TRY(dnn_word_type(b ? b : a, &t[DNN_SRC].type, err));
	TRY(dnn_word_type(d ? d : c ? c : a, &t[DNN_DST].type, err));
	if (c && d && strcmp(c, d) != 0)
		return err_set(err, ENOTSUP,
			       "this back end does not read C as %.20s and write %.20s", c, d);
	whole = dnn_type_size(t[DNN_WEI].type) == 1;
	sum = whole ? "i32" : t[DNN_WEI].type == DNN_F64 ? "f64" : "f32";
	if (compute && strcmp(compute, sum) != 0)
		return err_set(err, ENOTSUP, "this back end does not compute %.20s in %.20s", a,
			       compute);
	return 0;
}

static int gemm_sizes(struct bench_key *k, struct gemm *g, struct err *err)
{
	TRY(letter(k, "ta", &g->ta, err));
	TRY(letter(k, "tb", &g->tb, err));
	TRY(dnn_word_size(k, "m", -1, 0, &g->m, err));
	TRY(dnn_word_size(k, "n", -1, 0, &g->n, err));
	TRY(dnn_word_size(k, "k", -1, 0, &g->k, err));
	return dnn_word_size(k, "batch", 1, 1, &g->batch, err);
}

static int gemm_scalars(struct bench_key *k, struct dnn_op *op, float beta, struct err *err)
{
	const char *v = bench_key_word(k, "epilogue");

	if (v && strcmp(v, "none") != 0 && strcmp(v, "DEFAULT") != 0)
		return err_set(err, ENOTSUP, "this back end has no epilogue=%.40s", v);
	if (beta != 0)
		op->post[op->posts++] = (struct dnn_post){ .sum = true, .scale = beta };
	return dnn_words_with(k, op, 0, NULL, err);
}

static int gemm_of(struct bench_key *k, struct dnn_op *op, struct err *err)
{
	struct gemm g = { 0 };
	const char *ldc, *stride_c;
	int64_t c, d;
	float beta;
	wide bytes, flops, batch;

	op->kind = DNN_MATMUL;
	TRY(gemm_types(k, op, err));
	TRY(gemm_sizes(k, &g, err));
	TRY(scalar(k, "alpha", 1, &op->alpha, err));
	TRY(scalar(k, "beta", 0, &beta, err));
	TRY(gemm_scalars(k, op, beta, err));
	TRY(bench_key_int(k, "ldc", -1, &c, err));
	TRY(bench_key_int(k, "ldd", c, &d, err));
	if (c >= 0 && c != d && beta != 0)
		return err_set(err, ENOTSUP, "this back end does not read C and write D");
	bench_key_word(k, "stride_c");
	ldc = bench_key_word(k, "ldd") ? "ldd" : "ldc";
	stride_c = bench_key_word(k, "stride_d") ? "stride_d" : "stride_c";
	TRY(gemm_matrix(k, op, DNN_WEI, &g, g.k, g.m, g.ta, "lda", "stride_a", err));
	TRY(gemm_matrix(k, op, DNN_SRC, &g, g.n, g.k, g.tb, "ldb", "stride_b", err));
	TRY(gemm_matrix(k, op, DNN_DST, &g, g.n, g.m, false, ldc, stride_c, err));
	batch = (wide)g.batch;
	bytes = (wide)dnn_elements(&op->of[DNN_WEI]) * dnn_type_size(op->of[DNN_WEI].type) +
		(wide)dnn_elements(&op->of[DNN_SRC]) * dnn_type_size(op->of[DNN_SRC].type) +
		(wide)dnn_elements(&op->of[DNN_DST]) * dnn_type_size(op->of[DNN_DST].type) *
			(beta != 0 ? 2 : 1);
	flops = (wide)2 * (wide)g.m * (wide)g.n * (wide)g.k;
	return dnn_work(op, flops > INT64_MAX ? flops : flops * batch, bytes, err);
}

/* ---- inner product ---- */

static int direction_of(struct bench_key *k, struct dnn_op *op, struct err *err)
{
	const char *prop = bench_key_word(k, "prop");

	if (prop && (!strcmp(prop, "forward_training") || !strcmp(prop, "forward_inference"))) {
		op->training = !strcmp(prop, "forward_training");
		return 0;
	}
	if (prop && !strcmp(prop, "backward_data"))
		op->direction = DNN_BWD_DATA;
	else if (prop && !strcmp(prop, "backward_weights"))
		op->direction = DNN_BWD_WEIGHTS;
	else
		return err_set(err, prop ? ENOTSUP : EINVAL, "this back end has no prop=%.40s",
			       prop ? prop : "");
	return 0;
}

/* "src=…" or, of a gradient, "diff_src=…". */
static int operand_md(struct bench_key *k, const char *name, struct dnn_tensor *t, struct err *err)
{
	const char *word = bench_key_word(k, name);
	char diff[16];

	snprintf(diff, sizeof(diff), "diff_%s", name);
	if (!word)
		word = bench_key_word(k, diff);
	TRY(dnn_word_md(name, word, t, err));
	return dnn_bound(t, err);
}

static int ip_of(struct bench_key *k, struct dnn_op *op, struct err *err)
{
	const char *dims = bench_key_word(k, "dims");
	struct dnn_tensor *src = &op->of[DNN_SRC], *wei = &op->of[DNN_WEI];
	struct dnn_tensor *dst = &op->of[DNN_DST];
	int64_t mb, ic, oc, in[DNN_SPATIAL_MAX];
	wide depth;

	op->kind = DNN_IP;
	TRY(direction_of(k, op, err));
	if (!dims)
		return err_set(err, EINVAL, "the key has no dims");
	TRY(dnn_pair(dims, "mb", 0, &mb, err) < 0 ? -EINVAL : 0);
	TRY(dnn_pair(dims, "ic", 1, &ic, err) < 0 ? -EINVAL : 0);
	TRY(dnn_pair(dims, "oc", 1, &oc, err) < 0 ? -EINVAL : 0);
	TRY(dnn_spatial(dims, 'i', op, in, err));
	*src = (struct dnn_tensor){ .nr = 2, .dims = { mb, ic } };
	*wei = (struct dnn_tensor){ .nr = 2, .dims = { oc, ic } };
	*dst = (struct dnn_tensor){ .nr = 2, .dims = { mb, oc } };
	for (int i = DNN_SPATIAL_MAX - op->spatial; i < DNN_SPATIAL_MAX; i++)
		src->dims[src->nr++] = wei->dims[wei->nr++] = in[i];
	TRY(operand_md(k, "src", src, err));
	TRY(operand_md(k, "wei", wei, err));
	TRY(operand_md(k, "dst", dst, err));
	if (bench_key_word(k, "bia") || bench_key_word(k, "diff_bia")) {
		op->of[DNN_BIA] = (struct dnn_tensor){ .nr = 1, .dims = { oc } };
		TRY(operand_md(k, "bia", &op->of[DNN_BIA], err));
	}
	TRY(dnn_words_with(k, op, 0, NULL, err));
	depth = (wide)dnn_elements(wei) / (wide)oc;
	return dnn_work(op, 2 * (wide)dnn_elements(dst) * depth, dnn_bytes_once(op), err);
}

/* ---- convolution ---- */

/* NCHW, NHWC … to the tag of nr dimensions; of weights with groups the first one is those. */
static bool tag_of_letters(const char *word, int spatial, bool groups, char to[40])
{
	static const char *const axes[] = { "NC", "NCW", "NCHW", "NCDHW" };
	const char *order = axes[spatial];
	size_t n = 0;

	if (strlen(word) != strlen(order))
		return false;
	if (groups)
		to[n++] = 'a';
	for (const char *at = word; *at; at++) {
		const char *is = strchr(order, *at);

		if (!is || strchr(at + 1, *at))
			return false;
		to[n++] = (char)('a' + (is - order) + groups);
	}
	to[n] = 0;
	return true;
}

static size_t tag_dims(const char *tag)
{
	unsigned seen = 0;

	for (; *tag; tag++)
		if ((*tag >= 'a' && *tag <= 'l') || (*tag >= 'A' && *tag <= 'L'))
			seen |= 1U << ((*tag | 0x20) - 'a');
	return (size_t)__builtin_popcount(seen);
}

/* "NHWC", "NHWC,NCHW,NHWC", "NHWC-NCHW-NHWC", "aBcd16b.ABcd16b16a.aBcd16b" */
static int conv_layouts(const struct strvec *parts, struct dnn_op *op, struct err *err)
{
	static const enum dnn_role roles[] = { DNN_SRC, DNN_WEI, DNN_DST };

	for (size_t i = 0; i < ARRAY_LEN(roles) && parts->nr; i++) {
		const char *word = parts->v[parts->nr == 1 ? 0 : i];
		bool groups = roles[i] == DNN_WEI && op->grouped;
		char tag[40];

		if (tag_of_letters(word, op->spatial, groups, tag))
			word = tag;
		else if (parts->nr == 1)
			return err_set(err, ENOTSUP, "this back end makes no layout %.60s of all",
				       word);
		TRY(dnn_word_layout(word, &op->of[roles[i]], err));
	}
	return 0;
}

static int conv_words_of_layout(struct bench_key *k, struct dnn_op *op, struct strvec *parts,
				struct err *err)
{
	const char *layout = bench_key_word(k, "layout");

	if (layout)
		strvec_split(parts, layout, ".,-");
	if (layout && parts->nr != 1 && parts->nr != 3)
		return err_set(err, ENOTSUP, "this back end makes no layout %.60s", layout);
	op->grouped = op->groups > 1 ||
		      (parts->nr == 3 && tag_dims(parts->v[1]) == (size_t)op->spatial + 3);
	return 0;
}

static int conv_direction(struct bench_key *k, struct dnn_op *op, struct err *err)
{
	const char *dir = bench_key_word(k, "dir"), *mode = bench_key_word(k, "mode");
	static const char *const names[] = { "fwd", "bwd_data", "bwd_weights" };

	op->transposed = mode && !strcmp(mode, "transposed");
	if (mode && !op->transposed)
		return err_set(err, ENOTSUP, "this back end has no mode=%.20s", mode);
	for (size_t i = 0; dir && i < ARRAY_LEN(names); i++)
		if (!strcmp(dir, names[i])) {
			op->direction = (enum dnn_direction)i;
			return 0;
		}
	return err_set(err, dir ? ENOTSUP : EINVAL, "this back end makes no dir=%.40s in one call",
		       dir ? dir : "");
}

static int conv_types(struct bench_key *k, struct dnn_op *op, struct err *err)
{
	const char *x = bench_key_word(k, "x"), *w = bench_key_word(k, "w");
	const char *y = bench_key_word(k, "y");

	TRY(dnn_word_type(x, &op->of[DNN_SRC].type, err));
	TRY(dnn_word_type(w ? w : x, &op->of[DNN_WEI].type, err));
	return dnn_word_type(y ? y : x, &op->of[DNN_DST].type, err);
}

struct conv {
	int64_t n, c, k, in[DNN_SPATIAL_MAX], out[DNN_SPATIAL_MAX];
	char out_word[80];
};

static int conv_sizes(struct bench_key *k, struct dnn_op *op, struct conv *c, struct err *err)
{
	const char *in = bench_key_word(k, "in");
	int64_t *lists[] = { c->in, op->kernel, op->pad, op->stride, op->dilation };
	static const char *const names[] = { "in", "filter", "pad", "stride", "dilation" };
	static const int64_t least[] = { 1, 1, 0, 1, 1 };

	TRY(dnn_word_size(k, "n", -1, 0, &c->n, err));
	TRY(dnn_word_size(k, "c", -1, 1, &c->c, err));
	TRY(dnn_word_size(k, "k", -1, 1, &c->k, err));
	TRY(dnn_word_size(k, "g", 1, 1, &op->groups, err));
	if (c->c % op->groups || c->k % op->groups)
		return err_set(err, EINVAL, "the channels are not in as many groups");
	op->spatial = in ? dnn_list_length(in) : 0;
	if (op->spatial < 1 || op->spatial > DNN_SPATIAL_MAX)
		return err_set(err, EINVAL, "the key has no in of 1 to 3 numbers");
	for (size_t i = 0; i < ARRAY_LEN(lists); i++)
		TRY(dnn_word_list(names[i], bench_key_word(k, names[i]), op->spatial, least[i],
				  lists[i] + DNN_SPATIAL_MAX - op->spatial, err));
	return 0;
}

/* Outputs and the paddings on the right that they leave. */
static int conv_outputs(struct dnn_op *op, struct conv *c, struct err *err)
{
	int first = DNN_SPATIAL_MAX - op->spatial;

	if (c->out_word[0])
		TRY(dnn_word_list("out", c->out_word, op->spatial, 1, c->out + first, err));
	for (int i = first; i < DNN_SPATIAL_MAX; i++) {
		__int128 reach = (__int128)op->dilation[i] * (op->kernel[i] - 1) + 1, out, right;

		if (op->transposed)
			out = (__int128)(c->in[i] - 1) * op->stride[i] - 2 * op->pad[i] + reach;
		else
			out = (c->in[i] + 2 * op->pad[i] - reach) / op->stride[i] + 1;
		if (c->out_word[0])
			out = c->out[i];
		if (out < 1 || out > DNN_SIZE_MAX ||
		    (!op->transposed && c->in[i] + 2 * op->pad[i] < reach && !c->out_word[0]))
			return err_set(err, EINVAL, "the filter is larger than its input");
		c->out[i] = (int64_t)out;
		right = op->transposed ? (c->in[i] - 1) * (__int128)op->stride[i] + reach -
						 op->pad[i] - out
				       : (out - 1) * op->stride[i] + reach - op->pad[i] - c->in[i];
		if (right < -DNN_SIZE_MAX || right > DNN_SIZE_MAX)
			return err_set(err, ERANGE, "its paddings are too large");
		op->pad_right[i] = (int64_t)right;
	}
	return 0;
}

static void conv_dims(struct dnn_op *op, const struct conv *c)
{
	struct dnn_tensor *src = &op->of[DNN_SRC], *wei = &op->of[DNN_WEI];
	struct dnn_tensor *dst = &op->of[DNN_DST];

	src->dims[src->nr++] = dst->dims[dst->nr++] = c->n;
	src->dims[src->nr++] = c->c;
	dst->dims[dst->nr++] = c->k;
	if (op->grouped)
		wei->dims[wei->nr++] = op->groups;
	wei->dims[wei->nr++] = c->k / op->groups;
	wei->dims[wei->nr++] = c->c / op->groups;
	for (int i = DNN_SPATIAL_MAX - op->spatial; i < DNN_SPATIAL_MAX; i++) {
		src->dims[src->nr++] = c->in[i];
		wei->dims[wei->nr++] = op->kernel[i];
		dst->dims[dst->nr++] = c->out[i];
	}
}

static int conv_work(struct dnn_op *op, const struct conv *c, struct err *err)
{
	const struct dnn_tensor *side = &op->of[op->transposed ? DNN_SRC : DNN_DST];
	wide flops = 2, over = (wide)INT64_MAX + 1;

	/* the extents of the operands are bounded, so no product of two steps wraps */
	flops *= dnn_elements(&op->of[DNN_WEI]) / (wide)(c->k / op->groups) / (wide)op->groups;
	flops *= (wide)c->k;
	if (flops <= INT64_MAX)
		flops *= (wide)dnn_elements(side) / (wide)side->dims[1];
	return dnn_work(op, flops > INT64_MAX ? over : flops, dnn_bytes_once(op), err);
}

static int conv_of(struct bench_key *k, struct dnn_op *op, struct err *err)
{
	CLEANUP(strvec_release) struct strvec layouts = STRVEC_INIT;
	struct conv c = { 0 };

	op->kind = DNN_CONV;
	TRY(conv_direction(k, op, err));
	TRY(conv_types(k, op, err));
	TRY(conv_sizes(k, op, &c, err));
	TRY(conv_words_of_layout(k, op, &layouts, err));
	snprintf(op->alg, sizeof(op->alg), "convolution_direct");
	TRY(dnn_words_with(k, op, c.k, c.out_word, err));
	if (op->transposed && !strcmp(op->alg, "convolution_direct"))
		snprintf(op->alg, sizeof(op->alg), "deconvolution_direct");
	TRY(conv_outputs(op, &c, err));
	conv_dims(op, &c);
	TRY(conv_layouts(&layouts, op, err));
	TRY(dnn_bound(&op->of[DNN_SRC], err));
	TRY(dnn_bound(&op->of[DNN_WEI], err));
	TRY(dnn_bound(&op->of[DNN_DST], err));
	return conv_work(op, &c, err);
}

/* ---- all ---- */

int dnn_work(struct dnn_op *op, wide flops, wide bytes, struct err *err)
{
	if (flops > INT64_MAX || bytes > INT64_MAX)
		return err_set(err, ERANGE, "its sizes multiply to more than 2^63");
	op->flops = (uint64_t)flops;
	op->bytes = (uint64_t)bytes;
	return 0;
}

wide dnn_bytes_once(const struct dnn_op *op)
{
	static const enum dnn_role roles[] = { DNN_SRC, DNN_WEI, DNN_DST };
	wide bytes = 0;

	for (size_t i = 0; i < ARRAY_LEN(roles); i++)
		bytes += (wide)dnn_elements(&op->of[roles[i]]) *
			 dnn_type_size(op->of[roles[i]].type);
	return bytes;
}

/* Which kernel a library chose, and how it was called. */
static void harmless_words(struct bench_key *k)
{
	static const char *const names[] = { "algo", "solution_index", "api",
					     "by",   "flags",          "atomics_not_allowed" };

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		bench_key_word(k, names[i]);
}

static int op_of(struct bench_key *k, struct dnn_op *op, struct err *err)
{
	const char *name = bench_key_operation(k);
	int r;

	if (!strcmp(name, "gemm")) {
		r = gemm_of(k, op, err);
		harmless_words(k);
		return r;
	}
	if (!strcmp(name, "ip"))
		return ip_of(k, op, err);
	if (!strcmp(name, "conv"))
		return conv_of(k, op, err);
	return dnn_layer_of(k, op, err);
}

int dnn_op_parse(const char *key, struct dnn_op *ret, struct err *err)
{
	struct dnn_op op = { .groups = 1, .alpha = 1 };
	struct bench_key k;
	const char *left;

	TRY(bench_key_parse(key, &k, err));
	TRY(op_of(&k, &op, err));
	left = bench_key_unused(&k);
	if (left)
		return err_set(err, ENOTSUP, "this back end has no a word for %.40s", left);
	*ret = op;
	return 0;
}
