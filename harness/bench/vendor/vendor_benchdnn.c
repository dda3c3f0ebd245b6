/*
 * benchdnn, of oneDNN, on processors. Source: uxlfoundation/oneDNN, tests/benchdnn/doc
 * (knobs_common, knobs_perf_report, knob_cold_cache, driver_conv, driver_matmul, driver_pool,
 * driver_eltwise …).
 *
 *	Output template: perf,%impl%,%-time%,%0time%
 *	perf,brgemm:avx512_core,0.0012207,0.00159982
 *	tests:1 passed:1 skipped:0 mistrusted:0 unimplemented:0 invalid_arguments:0 failed:0
 *
 * %0time% is the mean in ms. Products are row-major: dst of n×m = src of n×k times wei of k×m, so
 * wei is operand A of the key. Tags are those of the key; a library that chose them itself would
 * measure other kernels.
 *
 * Traps: the driver first, then options, the problem last (oneDNN#1073); a primitive that has no
 * weights is measured with warm caches by --cold-cache=wei, so it is not asked for that; that
 * option came with 3.3.
 */
#include "vendor.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "profrig/base/num.h"
#include "profrig/base/xalloc.h"

#define TEMPLATE "perf,%impl%,%-time%,%0time%"

/* ---- what all have ---- */

/* has_weights: the operation reads weights that another call has written. */
static int begin(const struct vendor_request *r, const char *driver, bool has_weights,
		 struct strvec *to, struct err *err)
{
	if (r->cache == BENCH_WEIGHTS_COLD && !has_weights)
		return vendor_lacks(r, err, "no cache mode weights-cold for what has no weights");
	strvec_push(to, "--mode=P");
	strvec_pushf(to, "--%s", driver);
	strvec_pushl(to, "--engine=cpu", "--allow-enum-tags-only=false", NULL);
	if (r->cache != BENCH_WARM)
		strvec_pushf(to, "--cold-cache=%s", r->cache == BENCH_COLD ? "all" : "wei");
	strvec_pushf(to, "--fix-times-per-prb=%" PRIu64, r->iterations);
	strvec_push(to, "--perf-template=" TEMPLATE);
	return 0;
}

/* ---- products ---- */

static const char *matrix_tag(bool transposed, bool batched)
{
	if (batched)
		return transposed ? "acb" : "abc";
	return transposed ? "ba" : "ab";
}

static void strides_push(const struct vendor_gemm *g, struct strvec *to)
{
	static const int order[] = { MATRIX_B, MATRIX_A, MATRIX_D };
	const bool plain[] = { g->tb == 'N', g->ta == 'N', true };
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;

	for (size_t i = 0; i < ARRAY_LEN(order); i++) {
		int64_t ld = g->ld[order[i]];

		strbuf_addstr(&sb, i ? ":" : "");
		if (g->batch > 1)
			strbuf_addf(&sb, "%" PRId64 "x", g->stride[order[i]]);
		strbuf_addf(&sb, plain[i] ? "%" PRId64 "x1" : "1x%" PRId64, ld);
	}
	strvec_pushf(to, "--strides=%s", sb.buf);
}

/* beta is what is added of the old result. */
static int scalars_push(const struct vendor_request *r, struct strvec *to, struct err *err)
{
	const struct vendor_gemm *g = &r->gemm;
	char beta[32];

	if (g->alpha[0] != 1)
		return vendor_lacks(r, err, "no alpha but 1");
	if (g->beta[0] == 0)
		return 0;
	num_fmt_f64(beta, g->beta[0]);
	strvec_pushf(to, "--attr-post-ops=sum:%s", beta);
	return 0;
}

static int product_check(const struct vendor_request *r, struct err *err)
{
	const struct vendor_gemm *g = &r->gemm;
	bool ints = g->type[MATRIX_A]->integer && g->type[MATRIX_B]->integer;
	const char *natural = ints                                      ? "i32"
			      : !strcmp(g->type[MATRIX_A]->name, "f64") ? "f64"
									: "f32";

	for (int i = 0; i < MATRICES; i++)
		if (!g->type[i]->dnn)
			return vendor_lacks(r, err, "no type %s", g->type[i]->name);
	if (strcmp(g->compute->name, natural) != 0)
		return vendor_lacks(r, err, "no arithmetic in %s for these types",
				    g->compute->name);
	if (g->type[MATRIX_C] != g->type[MATRIX_D] || g->ld[MATRIX_C] != g->ld[MATRIX_D])
		return vendor_lacks(r, err, "one matrix for C and D");
	if (g->lt_word)
		return vendor_lacks(r, err, "no option for '%s' here", g->lt_word);
	if (g->pointers)
		return vendor_lacks(r, err, "no batches of pointers");
	return 0;
}

/* A matrix with stride 0 is one for the whole batch. */
static void product_desc(const struct vendor_gemm *g, struct strvec *to)
{
	int64_t src = g->stride[MATRIX_B] ? g->batch : 1, wei = g->stride[MATRIX_A] ? g->batch : 1;

	if (g->batch == 1)
		strvec_pushf(to, "%" PRId64 "x%" PRId64 ":%" PRId64 "x%" PRId64, g->n, g->k, g->k,
			     g->m);
	else
		strvec_pushf(to,
			     "%" PRId64 "x%" PRId64 "x%" PRId64 ":%" PRId64 "x%" PRId64 "x%" PRId64,
			     src, g->n, g->k, wei, g->k, g->m);
}

static bool product_is_packed(const struct vendor_gemm *g)
{
	struct vendor_gemm copy = *g;

	for (int i = 0; i < MATRIX_C; i++)
		if (!copy.stride[i])
			copy.stride[i] = copy.ld[i] * vendor_gemm_cols(g, i);
	return vendor_gemm_is_packed(&copy);
}

static int product_argv(const struct vendor_request *r, struct strvec *to, struct err *err)
{
	const struct vendor_gemm *g = &r->gemm;
	int e = product_check(r, err);

	if (e == 0)
		e = begin(r, "matmul", true, to, err);
	if (e < 0)
		return e;
	strvec_pushf(to, "--dt=%s:%s:%s", g->type[MATRIX_B]->dnn, g->type[MATRIX_A]->dnn,
		     g->type[MATRIX_D]->dnn);
	if (product_is_packed(g)) {
		strvec_pushf(to, "--stag=%s", matrix_tag(g->tb != 'N', g->batch > 1));
		strvec_pushf(to, "--wtag=%s", matrix_tag(g->ta != 'N', g->batch > 1));
		strvec_pushf(to, "--dtag=%s", matrix_tag(false, g->batch > 1));
	} else {
		strides_push(g, to);
	}
	e = scalars_push(r, to, err);
	if (e == 0)
		product_desc(g, to);
	return e;
}

/* ---- convolutions ---- */

static int conv_dir(const struct vendor_request *r, const char **ret, struct err *err)
{
	const struct vendor_conv *c = &r->conv;

	switch (c->directions) {
	case DIR_FWD:
		*ret = c->inference ? "FWD_I" : c->bias ? "FWD_B" : "FWD_D";
		return 0;
	case DIR_BWD_DATA:
		*ret = "BWD_D";
		return 0;
	case DIR_BWD_WEIGHTS:
		*ret = c->bias ? "BWD_WB" : "BWD_W";
		return 0;
	default:
		return vendor_lacks(r, err, "one direction in a run");
	}
}

/* "abcd.Acdb16a.aBcd16b", or a layout that MIOpen names. */
static int conv_tags(const struct vendor_request *r, struct strvec *to, struct err *err)
{
	static const char *const options[] = { "--stag", "--wtag", "--dtag" };
	static const char *const plain[][2] = {
		{ "NCHW", "abx" }, { "NCDHW", "abx" }, { "NHWC", "axb" }, { "NDHWC", "axb" }
	};
	const char *at = r->conv.layout;
	bool dots = strchr(at, '.') != NULL;

	for (size_t i = 0; i < ARRAY_LEN(plain); i++)
		if (!strcmp(at, plain[i][0])) {
			for (size_t o = 0; o < ARRAY_LEN(options); o++)
				strvec_pushf(to, "%s=%s", options[o], plain[i][1]);
			return 0;
		}
	if (!dots || strchr(at, ','))
		return vendor_lacks(r, err, "no layout '%.40s'", at);
	for (size_t i = 0; i < ARRAY_LEN(options); i++) {
		size_t n = strcspn(at, ".");

		if (!n || (i == 2) != !at[n])
			return vendor_lacks(r, err, "no layout '%.40s'", r->conv.layout);
		strvec_pushf(to, "%s=%.*s", options[i], (int)n, at);
		at += n + (at[n] == '.');
	}
	return 0;
}

static void conv_desc(const struct vendor_conv *c, struct strvec *to)
{
	static const char letters[] = "iokspd", axes[] = "dhw";
	const int64_t *const lists[] = { c->in, c->out, c->filter, c->stride, c->pad, c->dilation };
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;

	strbuf_addf(&sb, "g%" PRId64 "mb%" PRId64 "ic%" PRId64 "oc%" PRId64, c->groups, c->n, c->c,
		    c->k);
	for (int i = VENDOR_DIMS - c->dims; i < VENDOR_DIMS; i++) {
		strbuf_addch(&sb, '_');
		for (size_t l = 0; l < ARRAY_LEN(lists); l++) /* a dilation of 0 is dense */
			strbuf_addf(&sb, "%c%c%" PRId64, letters[l], axes[i],
				    lists[l][i] - (letters[l] == 'd'));
	}
	strvec_push(to, sb.buf);
}

static int conv_argv(const struct vendor_request *r, struct strvec *to, struct err *err)
{
	const struct vendor_conv *c = &r->conv;
	const char *dir = NULL;
	int e = conv_dir(r, &dir, err);

	if (e == 0 && c->strange[0])
		e = vendor_lacks(r, err, "no option for '%s' here", c->strange);
	if (e == 0 && (!c->x->dnn || !c->w->dnn || !c->y->dnn))
		e = vendor_lacks(r, err, "no convolution of %s", c->x->name);
	if (e == 0 && c->bias && c->bias_type && !c->bias_type->dnn)
		e = vendor_lacks(r, err, "no bias of %s", c->bias_type->name);
	if (e == 0)
		e = begin(r, c->transposed ? "deconv" : "conv", c->directions != DIR_BWD_WEIGHTS,
			  to, err);
	if (e < 0)
		return e;
	strvec_pushf(to, "--dir=%s", dir);
	strvec_pushf(to, "--dt=%s:%s:%s", c->x->dnn, c->w->dnn, c->y->dnn);
	if (c->bias && c->bias_type)
		strvec_pushf(to, "--bia-dt=%s", c->bias_type->dnn);
	e = conv_tags(r, to, err);
	if (e < 0)
		return e;
	if (c->algorithm)
		strvec_pushf(to, "--alg=%s", c->algorithm);
	conv_desc(c, to);
	return 0;
}

/* ---- kinds whose keys have the words of the log ---- */

struct memory {
	const struct vendor_type *type;
	const char *tag; /* in the key */
};

/* "bf16:acdb" of the first of these words that is there. */
static int memory_read(struct vendor_request *r, const char *const *names, struct memory *ret,
		       struct err *err)
{
	const char *v = NULL;
	char type[8] = "";
	size_t n;

	for (; *names; names++) {
		const char *word = bench_key_word(&r->key, *names);

		v = v ? v : word;
	}
	n = v ? strcspn(v, ":") : 0;
	if (n < sizeof(type) && v)
		memcpy(type, v, n);
	ret->type = vendor_type(type);
	ret->tag = v && v[n] ? v + n + 1 : "";
	if (!v || !ret->type || !ret->type->dnn || !*ret->tag)
		return vendor_lacks(r, err, "no memory '%.40s'", v ? v : "");
	for (const char *c = ret->tag; *c; c++)
		if (!((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
		      (*c >= '0' && *c <= '9')))
			return vendor_lacks(r, err, "no memory '%.40s'", v);
	return 0;
}

static const char *const src_names[] = { "src", "data", "diff_src", "diff_data", "diff", NULL };
static const char *const dst_names[] = { "dst", "data", "diff_dst", "diff_data", "diff", NULL };
static const char *const wei_names[] = { "wei", "diff_wei", NULL };

/* Which --dir means a direction; NULL: the kind has none of that name. */
static int dir_read(struct vendor_request *r, const char *backward_weights, const char *backward,
		    const char **ret, struct err *err)
{
	const char *v = bench_key_word(&r->key, "prop");
	const struct {
		const char *prop, *dir;
	} dirs[] = { { "forward_training", "FWD_D" },
		     { "forward_inference", "FWD_I" },
		     { "backward_data", "BWD_D" },
		     { "backward_weights", backward_weights },
		     { "backward", backward } };

	for (size_t i = 0; v && i < ARRAY_LEN(dirs); i++)
		if (!strcmp(v, dirs[i].prop) && dirs[i].dir) {
			*ret = dirs[i].dir;
			return 0;
		}
	return vendor_lacks(r, err, "no direction '%.40s'", v ? v : "");
}

static bool pair_known(const char *s, size_t n)
{
	static const char *const names[] = { "g",  "mb", "ic", "oc", "id", "ih", "iw", "od",
					     "oh", "ow", "kd", "kh", "kw", "sd", "sh", "sw",
					     "pd", "ph", "pw", "dd", "dh", "dw" };

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (n == strlen(names[i]) && !memcmp(s, names[i], n))
			return true;
	return false;
}

#define LETTERS "abcdefghijklmnopqrstuvwxyz"
#define DIGITS "0123456789"

static bool number_add(const char *s, size_t n, struct strbuf *to)
{
	int64_t v;

	if (!n || num_i64(s, n, &v) < 0 || v < 0 || v > VENDOR_SIZE_MAX)
		return false;
	strbuf_addf(to, "%" PRId64, v);
	return true;
}

/* "mb8ic256_ih6oh6" as names of a list and numbers. */
static bool pairs_add(const char *at, struct strbuf *to)
{
	while (*at) {
		size_t name = strspn(at, LETTERS), digits = strspn(at + name, DIGITS);

		if (!pair_known(at, name))
			return false;
		strbuf_add(to, at, name);
		if (!number_add(at + name, digits, to))
			return false;
		at += name + digits;
		at += *at == '_';
	}
	return to->len > 0;
}

/* "4x64" */
static bool list_add(const char *at, struct strbuf *to)
{
	for (int nr = 0; nr < 12; nr++) {
		size_t digits = strspn(at, DIGITS);

		if (!number_add(at, digits, to) || (at[digits] && at[digits] != 'x'))
			return false;
		if (!at[digits])
			return true;
		strbuf_addch(to, 'x');
		at += digits + 1;
	}
	return false;
}

/* The problem of the key, from numbers; the last word of the command. */
static int problem_push(struct vendor_request *r, struct strvec *to, struct err *err)
{
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;
	const char *v = bench_key_word(&r->key, "dims");
	bool good = v && (strchr(DIGITS, *v) ? list_add(v, &sb) : pairs_add(v, &sb));
	int e = good ? vendor_all_read(&r->key, err) : 0;

	if (!good)
		return vendor_lacks(r, err, "no problem '%.40s'", v ? v : "");
	if (e == 0)
		strvec_push(to, sb.buf);
	return e;
}

/* An alternative of a list, as the option names it; NULL: it is none. */
static const char *alternative(struct vendor_request *r, const char *word,
			       const char *const (*list)[2], size_t nr)
{
	const char *v = bench_key_word(&r->key, word);

	for (size_t i = 0; v && i < nr; i++)
		if (!strcmp(v, list[i][0]))
			return list[i][1];
	return NULL;
}

/* A number of "mb8ic256"; 1: there is none of that name. */
static double pair_value(const char *at, const char *name)
{
	while (*at) {
		size_t letters = strspn(at, LETTERS), digits = strspn(at + letters, DIGITS);
		int64_t v;

		if (letters == strlen(name) && !memcmp(at, name, letters) &&
		    num_i64(at + letters, digits, &v) == 0)
			return (double)v;
		at += letters + digits;
		at += *at != 0 && letters + digits == 0;
		at += *at == '_';
	}
	return 1;
}

static void ip_work(struct vendor_request *r)
{
	static const char *const factors[] = { "mb", "ic", "oc", "id", "ih", "iw" };
	const char *v = bench_key_word(&r->key, "dims");

	r->flops = 2;
	for (size_t i = 0; v && i < ARRAY_LEN(factors); i++)
		r->flops *= pair_value(v, factors[i]);
}

static int ip_argv(struct vendor_request *r, struct strvec *to, struct err *err)
{
	static const char *const bia_names[] = { "bia", "diff_bia", NULL };
	struct memory src, wei, dst, bia;
	bool bias = bench_key_word(&r->key, "bia") || bench_key_word(&r->key, "diff_bia");
	const char *dir;
	int e = dir_read(r, bias ? "BWD_WB" : "BWD_W", NULL, &dir, err);

	if (e == 0)
		e = memory_read(r, src_names, &src, err);
	if (e == 0)
		e = memory_read(r, wei_names, &wei, err);
	if (e == 0)
		e = memory_read(r, dst_names, &dst, err);
	if (e == 0 && bias)
		e = memory_read(r, bia_names, &bia, err);
	if (e == 0)
		e = begin(r, "ip", strncmp(dir, "BWD_W", 5) != 0, to, err);
	if (e < 0)
		return e;
	strvec_pushf(to, "--dir=%s", bias && !strcmp(dir, "FWD_D") ? "FWD_B" : dir);
	strvec_pushf(to, "--dt=%s:%s:%s", src.type->dnn, wei.type->dnn, dst.type->dnn);
	if (bias)
		strvec_pushf(to, "--bia-dt=%s", bia.type->dnn);
	strvec_pushf(to, "--stag=%s", src.tag);
	strvec_pushf(to, "--wtag=%s", wei.tag);
	strvec_pushf(to, "--dtag=%s", dst.tag);
	ip_work(r);
	return problem_push(r, to, err);
}

static int pool_argv(struct vendor_request *r, struct strvec *to, struct err *err)
{
	static const char *const algorithms[][2] = { { "pooling_max", "max" },
						     { "pooling_avg_include_padding", "avg_p" },
						     { "pooling_avg_exclude_padding", "avg_np" } };
	const char *alg = alternative(r, "alg", algorithms, ARRAY_LEN(algorithms)), *dir;
	struct memory src, dst;
	int e = dir_read(r, NULL, NULL, &dir, err);

	bench_key_word(&r->key, "ws"); /* where max was: the driver has it where it is needed */
	if (e == 0 && !alg)
		e = vendor_lacks(r, err, "no such algorithm of pooling");
	if (e == 0)
		e = memory_read(r, src_names, &src, err);
	if (e == 0)
		e = memory_read(r, dst_names, &dst, err);
	if (e == 0 && strcmp(src.tag, dst.tag) != 0)
		e = vendor_lacks(r, err, "one tag for both memories of a pooling");
	if (e == 0)
		e = begin(r, "pool", false, to, err);
	if (e < 0)
		return e;
	strvec_pushf(to, "--dir=%s", dir);
	strvec_pushf(to, "--dt=%s:%s", src.type->dnn, dst.type->dnn);
	strvec_pushf(to, "--tag=%s", src.tag);
	strvec_pushf(to, "--alg=%s", alg);
	return problem_push(r, to, err);
}

static int bnorm_argv(struct vendor_request *r, struct strvec *to, struct err *err)
{
	const char *flags = bench_key_word(&r->key, "flags"), *dir;
	struct memory src, dst;
	int e = dir_read(r, NULL, "BWD_DW", &dir, err);

	if (e == 0 && flags && flags[strspn(flags, "GSCHRA")])
		e = vendor_lacks(r, err, "no flags '%.40s'", flags);
	if (e == 0)
		e = memory_read(r, src_names, &src, err);
	if (e == 0)
		e = memory_read(r, dst_names, &dst, err);
	if (e == 0 && (src.type != dst.type || strcmp(src.tag, dst.tag) != 0))
		e = vendor_lacks(r, err, "one memory's type and tag for a normalization");
	if (e == 0)
		e = begin(r, "bnorm", false, to, err);
	if (e < 0)
		return e;
	strvec_pushf(to, "--dir=%s", dir);
	strvec_pushf(to, "--dt=%s", src.type->dnn);
	strvec_pushf(to, "--tag=%s", src.tag);
	if (flags)
		strvec_pushf(to, "--flags=%s", flags);
	return problem_push(r, to, err);
}

static int softmax_argv(struct vendor_request *r, struct strvec *to, struct err *err)
{
	static const char *const algorithms[][2] = { { "softmax_accurate", "SOFTMAX" },
						     { "softmax_log", "LOGSOFTMAX" } };
	const char *alg = alternative(r, "alg", algorithms, ARRAY_LEN(algorithms)), *dir;
	bool told = bench_key_word(&r->key, "alg") != NULL;
	struct memory src, dst;
	int64_t axis;
	int e = dir_read(r, NULL, NULL, &dir, err);

	if (e == 0 && told && !alg)
		e = vendor_lacks(r, err, "no such algorithm of softmax");
	if (e == 0)
		e = memory_read(r, src_names, &src, err);
	if (e == 0)
		e = memory_read(r, dst_names, &dst, err);
	if (e == 0)
		e = vendor_size(&r->key, "axis", 1, 0, &axis, err);
	if (e == 0)
		e = begin(r, "softmax", false, to, err);
	if (e < 0)
		return e;
	strvec_pushf(to, "--dir=%s", dir);
	strvec_pushf(to, "--sdt=%s", src.type->dnn);
	strvec_pushf(to, "--ddt=%s", dst.type->dnn);
	strvec_pushf(to, "--stag=%s", src.tag);
	strvec_pushf(to, "--dtag=%s", dst.tag);
	strvec_pushf(to, "--alg=%s", alg ? alg : "SOFTMAX");
	strvec_pushf(to, "--axis=%" PRId64, axis);
	return problem_push(r, to, err);
}

static int scalar_push(struct vendor_request *r, const char *name, struct strvec *to,
		       struct err *err)
{
	char text[32];
	double v[2];
	int e = bench_key_number(&r->key, name, 0, v, err);

	if (e < 0)
		return e;
	num_fmt_f64(text, v[0]);
	strvec_pushf(to, "--%s=%s", name, text);
	return 0;
}

static int eltwise_argv(struct vendor_request *r, struct strvec *to, struct err *err)
{
	static const char *const algorithms[][2] = {
		{ "eltwise_relu", "relu" },
		{ "eltwise_tanh", "tanh" },
		{ "eltwise_elu", "elu" },
		{ "eltwise_square", "square" },
		{ "eltwise_abs", "abs" },
		{ "eltwise_sqrt", "sqrt" },
		{ "eltwise_linear", "linear" },
		{ "eltwise_soft_relu", "soft_relu" },
		{ "eltwise_logistic", "logistic" },
		{ "eltwise_exp", "exp" },
		{ "eltwise_gelu_tanh", "gelu_tanh" },
		{ "eltwise_gelu_erf", "gelu_erf" },
		{ "eltwise_swish", "swish" },
		{ "eltwise_log", "log" },
		{ "eltwise_clip", "clip" },
		{ "eltwise_clip_v2", "clip_v2" },
		{ "eltwise_pow", "pow" },
		{ "eltwise_round", "round" },
		{ "eltwise_mish", "mish" },
		{ "eltwise_hardswish", "hardswish" },
		{ "eltwise_hardsigmoid", "hardsigmoid" },
	};
	const char *alg = alternative(r, "alg", algorithms, ARRAY_LEN(algorithms)), *dir;
	struct memory src, dst;
	int e = dir_read(r, NULL, NULL, &dir, err);

	if (e == 0 && !alg)
		e = vendor_lacks(r, err, "no such function of single elements");
	if (e == 0)
		e = memory_read(r, src_names, &src, err);
	if (e == 0)
		e = memory_read(r, dst_names, &dst, err);
	if (e == 0 && (src.type != dst.type || strcmp(src.tag, dst.tag) != 0))
		e = vendor_lacks(r, err, "one memory's type and tag for single elements");
	if (e == 0)
		e = begin(r, "eltwise", false, to, err);
	if (e < 0)
		return e;
	strvec_pushf(to, "--dir=%s", dir);
	strvec_pushf(to, "--dt=%s", src.type->dnn);
	strvec_pushf(to, "--tag=%s", src.tag);
	strvec_pushf(to, "--alg=%s", alg);
	e = scalar_push(r, "alpha", to, err);
	if (e == 0)
		e = scalar_push(r, "beta", to, err);
	return e < 0 ? e : problem_push(r, to, err);
}

static int argv(struct vendor_request *r, struct strvec *ret, struct err *err)
{
	static const struct {
		const char *operation;
		int (*argv)(struct vendor_request *r, struct strvec *to, struct err *err);
	} kinds[] = { { "ip", ip_argv },           { "pooling", pool_argv },
		      { "pooling_v2", pool_argv }, { "batch_normalization", bnorm_argv },
		      { "softmax", softmax_argv }, { "softmax_v2", softmax_argv },
		      { "eltwise", eltwise_argv }, { "eltwise_v2", eltwise_argv } };

	if (r->family == FAMILY_GEMM)
		return product_argv(r, ret, err);
	if (r->family == FAMILY_CONV)
		return conv_argv(r, ret, err);
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (!strcmp(bench_key_operation(&r->key), kinds[i].operation))
			return kinds[i].argv(r, ret, err);
	return vendor_lacks(r, err, "no '%.40s'", bench_key_operation(&r->key));
}

/* ---- output ---- */

/* The number behind "failed:" of the last line but one; 0: there is none. */
static int64_t summary_number(const struct vendor_output *o, const char *name)
{
	char text[24];
	int64_t v;

	if (!vendor_after(o->out, name, " ", text, sizeof(text)) ||
	    num_i64(text, strlen(text), &v) < 0)
		return 0;
	return v;
}

static int perf_row(const char *at, struct vendor_table *ret, struct err *err)
{
	static const char prefix[] = "Output template: ";
	struct vendor_cell line;

	ret->names.nr = 0;
	while (vendor_line(&at, &line)) {
		if (vendor_cell_begins(line, prefix)) {
			line.s += sizeof(prefix) - 1;
			line.n -= sizeof(prefix) - 1;
			vendor_split(line, ',', &ret->names);
		} else if (ret->names.nr && vendor_cell_begins(line, "perf,")) {
			vendor_split(line, ',', &ret->values);
			if (ret->values.nr != ret->names.nr)
				return err_set(err, EPROTO, "its row is none of its template");
			return 0;
		}
	}
	return err_set(err, ENODATA, "it prints no row of figures");
}

static int read_output(const struct vendor_request *r, const struct vendor_output *o,
		       struct vendor_result *ret, struct err *err)
{
	const struct vendor_cell *mean, *impl;
	struct vendor_table t;
	double ms;
	int e;

	if (summary_number(o, " failed:"))
		return err_set(err, EIO, "it says that the problem failed");
	if (r->cache != BENCH_WARM && vendor_says(o, "cold cache"))
		return err_set(err, EPROTO, "its caches were not cold");
	e = perf_row(o->out, &t, err);
	if (e < 0 && (summary_number(o, " skipped:") || summary_number(o, " unimplemented:")))
		return err_set(err, ENOTSUP, "oneDNN has no implementation of it");
	if (e < 0)
		return e;
	mean = vendor_value(&t, "%0time%");
	if (!mean)
		return err_set(err, ENODATA, "it prints no mean");
	e = vendor_positive(*mean, "time", &ms, err);
	ret->us = ms * 1e3;
	impl = vendor_value(&t, "%impl%");
	if (impl)
		vendor_after(impl->s, "", ",", ret->version, sizeof(ret->version));
	return e;
}

static const char *const executables[] = { "benchdnn", NULL };
static const char *const folders[] = { "/usr/local/bin", NULL };

const struct bench_program bench_program_benchdnn = { .name = "benchdnn",
						      .executables = executables,
						      .folders = folders,
						      .pinned = true,
						      .timer = "host",
						      .init = "random",
						      .patience = 2,
						      .argv = argv,
						      .read = read_output };
