/* Keys of pooling, normalisations, softmax and functions of each element (dnn_op.h). */
#include "dnn_parse.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "profrig/base/xalloc.h"

#define WINDOW_MAX (1 << 20) /* elements */

static const char axes[] = "dhw";

int dnn_spatial(const char *dims, char letter, struct dnn_op *op, int64_t ret[DNN_SPATIAL_MAX],
		struct err *err)
{
	int64_t ignored;

	op->spatial = 0;
	for (int i = 0; i < DNN_SPATIAL_MAX && !op->spatial; i++) {
		const char name[3] = { 'i', axes[i], 0 };

		if (dnn_pair(dims, name, 1, &ignored, NULL) == 0)
			op->spatial = DNN_SPATIAL_MAX - i;
	}
	for (int i = DNN_SPATIAL_MAX - op->spatial; i < DNN_SPATIAL_MAX; i++) {
		const char name[3] = { letter, axes[i], 0 };

		if (dnn_pair(dims, name, 1, &ret[i], err) < 0)
			return -EINVAL;
	}
	return 0;
}

/* Source and result: src and dst, or data, which is both. */
static int data_mds(struct bench_key *k, struct dnn_op *op, struct err *err)
{
	struct dnn_tensor *src = &op->of[DNN_SRC], *dst = &op->of[DNN_DST];
	const char *data = bench_key_word(k, "data");

	if (!dst->nr)
		*dst = *src;
	TRY(dnn_word_md("src", data ? data : bench_key_word(k, "src"), src, err));
	TRY(dnn_word_md("dst", data ? data : bench_key_word(k, "dst"), dst, err));
	bench_key_word(k, "ws");
	TRY(dnn_bound(src, err));
	return dnn_bound(dst, err);
}

static int forward_alone(struct bench_key *k, struct dnn_op *op, struct err *err)
{
	const char *prop = bench_key_word(k, "prop");

	op->training = prop && !strcmp(prop, "forward_training");
	if (!prop)
		return err_set(err, EINVAL, "the key has no prop");
	if (!op->training && strcmp(prop, "forward_inference") != 0)
		return err_set(err, ENOTSUP, "this back end makes no %.30s of %.40s", prop,
			       bench_key_operation(k));
	return 0;
}

static int dims_word(struct bench_key *k, const char **ret, struct err *err)
{
	*ret = bench_key_word(k, "dims");
	if (!*ret)
		return err_set(err, EINVAL, "the key has no dims");
	return 0;
}

/* "4x64x56x56" */
static int dims_list(const char *dims, struct dnn_tensor *t, struct err *err)
{
	int nr = dnn_list_length(dims);

	if (nr > DNN_DIMS_MAX)
		return err_set(err, EINVAL, "dims=%.40s has more than %d dimensions", dims,
			       DNN_DIMS_MAX);
	t->nr = nr;
	return dnn_word_list("dims", dims, nr, 0, t->dims, err);
}

/* ---- pooling ---- */

static int window_of(const char *dims, struct dnn_op *op, int axis, int64_t in, int64_t out,
		     struct err *err)
{
	const struct {
		char letter;
		int64_t least, otherwise, *to;
	} words[] = { { 'k', 1, -1, &op->kernel[axis] },
		      { 's', 1, 1, &op->stride[axis] },
		      { 'd', 0, 0, &op->dilation[axis] },
		      { 'p', 0, 0, &op->pad[axis] } };
	__int128 reach, right;

	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		const char name[3] = { words[i].letter, axes[axis], 0 };
		struct err why = ERR_INIT;
		int r = dnn_pair(dims, name, words[i].least, words[i].to, &why);

		if (r == -ENOENT && words[i].otherwise >= 0)
			*words[i].to = words[i].otherwise;
		else if (r < 0)
			return err_set(err, EINVAL, "%s", why.msg);
	}
	op->dilation[axis]++;
	reach = (__int128)op->dilation[axis] * (op->kernel[axis] - 1) + 1;
	right = (__int128)(out - 1) * op->stride[axis] + reach - op->pad[axis] - in;
	if (right > DNN_SIZE_MAX || right < -DNN_SIZE_MAX)
		return err_set(err, ERANGE, "its paddings are too large");
	op->pad_right[axis] = (int64_t)right;
	/* a window that lies in the padding alone has no largest element and no mean */
	if (op->pad[axis] >= reach || right >= reach)
		return err_set(err, EINVAL, "a window of dims=%.60s is outside of its input", dims);
	return 0;
}

static int pooling_of(struct bench_key *k, struct dnn_op *op, struct err *err)
{
	struct dnn_tensor *src = &op->of[DNN_SRC], *dst = &op->of[DNN_DST];
	const char *dims, *alg = bench_key_word(k, "alg");
	unsigned __int128 taps = 1;
	int64_t mb, ic, in[DNN_SPATIAL_MAX], out[DNN_SPATIAL_MAX];

	op->kind = DNN_POOLING;
	if (!alg)
		return err_set(err, EINVAL, "the key has no alg");
	if (strcmp(alg, "pooling_max") != 0 && strcmp(alg, "pooling_avg_include_padding") != 0 &&
	    strcmp(alg, "pooling_avg_exclude_padding") != 0)
		return err_set(err, ENOTSUP, "this back end has no alg=%.40s", alg);
	snprintf(op->alg, sizeof(op->alg), "%s", alg);
	TRY(dims_word(k, &dims, err));
	TRY(dnn_pair(dims, "mb", 1, &mb, err) < 0 ? -EINVAL : 0);
	TRY(dnn_pair(dims, "ic", 1, &ic, err) < 0 ? -EINVAL : 0);
	TRY(dnn_spatial(dims, 'i', op, in, err));
	TRY(dnn_spatial(dims, 'o', op, out, err));
	if (op->spatial == 0)
		return err_set(err, EINVAL, "dims=%.40s has no ih or iw", dims);
	*src = *dst = (struct dnn_tensor){ .nr = 2, .dims = { mb, ic } };
	for (int i = DNN_SPATIAL_MAX - op->spatial; i < DNN_SPATIAL_MAX; i++) {
		TRY(window_of(dims, op, i, in[i], out[i], err));
		taps *= (unsigned __int128)op->kernel[i];
		if (taps > WINDOW_MAX)
			return err_set(err, ERANGE, "its window is too large");
		src->dims[src->nr++] = in[i];
		dst->dims[dst->nr++] = out[i];
	}
	return data_mds(k, op, err);
}

/* ---- normalisations ---- */

static int flags_of(struct bench_key *k, struct dnn_op *op, struct err *err)
{
	const char *flags = bench_key_word(k, "flags");

	for (const char *at = flags ? flags : ""; *at; at++) {
		op->stats_given |= *at == 'G';
		op->scale |= *at == 'C' || *at == 'S';
		op->shift |= *at == 'H' || *at == 'S';
		op->relu |= *at == 'R';
		if (!strchr("GCHSR", *at))
			return err_set(err, ENOTSUP, "this back end has no flags=%.20s", flags);
	}
	if (op->relu && op->training)
		return err_set(err, ENOTSUP, "this back end has no flag R in training");
	return 0;
}

/* Statistics, scale and shift, in f32; a call that neither gets nor leaves statistics has none. */
static void norm_operands(struct dnn_op *op, struct dnn_tensor stats, int64_t channels)
{
	struct dnn_tensor one = { .nr = 1, .dims = { channels }, .tag = "a" };

	if (op->stats_given || op->training)
		op->of[DNN_MEAN] = op->of[DNN_VAR] = stats;
	if (op->scale)
		op->of[DNN_SCALE] = one;
	if (op->shift)
		op->of[DNN_SHIFT] = one;
}

static int bnorm_of(struct bench_key *k, struct dnn_op *op, struct err *err)
{
	struct dnn_tensor *src = &op->of[DNN_SRC];
	struct dnn_tensor stats = { .nr = 1, .tag = "a" };
	const char *dims;
	int64_t mb, ic, in[DNN_SPATIAL_MAX];

	op->kind = DNN_BNORM;
	TRY(flags_of(k, op, err));
	TRY(dims_word(k, &dims, err));
	TRY(dnn_pair(dims, "mb", 1, &mb, err) < 0 ? -EINVAL : 0);
	TRY(dnn_pair(dims, "ic", 1, &ic, err) < 0 ? -EINVAL : 0);
	TRY(dnn_spatial(dims, 'i', op, in, err));
	*src = (struct dnn_tensor){ .nr = 2, .dims = { mb, ic } };
	for (int i = DNN_SPATIAL_MAX - op->spatial; i < DNN_SPATIAL_MAX; i++)
		src->dims[src->nr++] = in[i];
	stats.dims[0] = ic;
	norm_operands(op, stats, ic);
	return data_mds(k, op, err);
}

static int lnorm_of(struct bench_key *k, struct dnn_op *op, struct err *err)
{
	struct dnn_tensor *src = &op->of[DNN_SRC], stats;
	const char *dims, *word = bench_key_word(k, "stats");

	op->kind = DNN_LNORM;
	TRY(flags_of(k, op, err));
	TRY(dims_word(k, &dims, err));
	TRY(dims_list(dims, src, err));
	if (src->nr < 2 || src->dims[src->nr - 1] == 0)
		return err_set(err, EINVAL, "dims=%.40s has no rows to normalise", dims);
	stats = *src;
	stats.nr--;
	for (int i = 0; i < stats.nr; i++)
		stats.tag[i] = (char)('a' + i);
	if (word)
		TRY(dnn_word_md("stats", word, &stats, err));
	norm_operands(op, stats, src->dims[src->nr - 1]);
	return data_mds(k, op, err);
}

/* ---- softmax, eltwise ---- */

static int softmax_of(struct bench_key *k, struct dnn_op *op, struct err *err)
{
	const char *dims, *alg = bench_key_word(k, "alg");
	int64_t axis;

	op->kind = DNN_SOFTMAX;
	op->log |= alg && !strcmp(alg, "softmax_log");
	if (alg && !op->log && strcmp(alg, "softmax_accurate") != 0)
		return err_set(err, ENOTSUP, "this back end has no alg=%.40s", alg);
	snprintf(op->alg, sizeof(op->alg), op->log ? "softmax_log" : "softmax_accurate");
	TRY(dims_word(k, &dims, err));
	TRY(dims_list(dims, &op->of[DNN_SRC], err));
	TRY(bench_key_int(k, "axis", -1, &axis, err));
	if (axis < 0 || axis >= op->of[DNN_SRC].nr)
		return err_set(err, EINVAL, "the key has no axis of dims=%.40s", dims);
	op->axis = (int)axis;
	return data_mds(k, op, err);
}

static int eltwise_of(struct bench_key *k, struct dnn_op *op, struct err *err)
{
	const char *dims, *alg = bench_key_word(k, "alg");
	double alpha[2], beta[2];
	long double ignored;

	op->kind = DNN_ELTWISE;
	if (!alg)
		return err_set(err, EINVAL, "the key has no alg");
	snprintf(op->alg, sizeof(op->alg), "%s", alg);
	if (strlen(alg) >= sizeof(op->alg) || dnn_eltwise(alg, 0, 0, 1, &ignored) < 0)
		return err_set(err, ENOTSUP, "this back end has no alg=%.40s", alg);
	TRY(bench_key_number(k, "alpha", 0, alpha, err));
	TRY(bench_key_number(k, "beta", 0, beta, err));
	op->alpha = (float)alpha[0];
	op->beta = (float)beta[0];
	TRY(dims_word(k, &dims, err));
	TRY(dims_list(dims, &op->of[DNN_SRC], err));
	return data_mds(k, op, err);
}

int dnn_layer_of(struct bench_key *k, struct dnn_op *op, struct err *err)
{
	static const struct {
		const char *name;
		int (*of)(struct bench_key *, struct dnn_op *, struct err *);
	} layers[] = { { "pooling", pooling_of },           { "batch_normalization", bnorm_of },
		       { "layer_normalization", lnorm_of }, { "softmax", softmax_of },
		       { "logsoftmax", softmax_of },        { "eltwise", eltwise_of } };
	const char *name = bench_key_operation(k);

	for (size_t i = 0; i < ARRAY_LEN(layers); i++) {
		if (strcmp(layers[i].name, name) != 0)
			continue;
		op->log = !strcmp(name, "logsoftmax");
		TRY(forward_alone(k, op, err));
		TRY(layers[i].of(k, op, err));
		TRY(dnn_words_with(k, op, 0, NULL, err));
		if (op->posts)
			return err_set(err, ENOTSUP, "this back end has no post-operations of %s",
				       name);
		return dnn_work(op, 0, dnn_bytes_once(op), err);
	}
	return err_set(err, ENOTSUP, "this back end has no operation %.40s", name);
}
