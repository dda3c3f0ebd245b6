/* Plain loops in C against the reference of dnn_op.h, results that are wrong, and keys. */
#include "../../../test.h"
#include "dnn_op.h"

#include <errno.h>
#include <math.h>

#define CONV "x=f32 w=f32 y=f32"

static struct dnn_op parsed(const char *key)
{
	struct err err = ERR_INIT;
	struct dnn_op op;

	if (dnn_op_parse(key, &op, &err) < 0)
		fail_msg("%s: %s", key, err.msg);
	return op;
}

struct arrays {
	float *of[DNN_ROLES];
};

static struct arrays filled(const struct dnn_op *op)
{
	struct arrays a = { 0 };

	for (int i = 0; i < DNN_ROLES; i++)
		if (op->of[i].nr) {
			a.of[i] = xcalloc(dnn_elements(&op->of[i]), sizeof(float));
			dnn_fill(op, (enum dnn_role)i, a.of[i]);
		}
	return a;
}

static void arrays_release(struct arrays *a)
{
	for (int i = 0; i < DNN_ROLES; i++)
		free(a->of[i]);
}

/* The right result is taken, one wrong element is not, nor is what was there before. */
static void judged(const struct dnn_op *op, enum dnn_role role, const float *right, const char *key)
{
	uint64_t n = dnn_elements(&op->of[role]);
	float *wrong = xcalloc(n, sizeof(*wrong));
	struct err err = ERR_INIT;
	double error;

	if (dnn_check(op, role, right, &error, &err) < 0)
		fail_msg("%s: %s", key, err.msg);
	assert_true(error <= 1);
	memcpy(wrong, right, n * sizeof(*wrong));
	wrong[n - 1] += 0.01F + 0.01F * fabsf(wrong[n - 1]);
	if (op->of[role].type != DNN_F32)
		wrong[n - 1] = right[n - 1] + 2;
	assert_int_equal(dnn_check(op, role, wrong, &error, &err), -EDOM);
	wrong[n - 1] = NAN;
	assert_int_equal(dnn_check(op, role, wrong, &error, &err), -EDOM);
	dnn_fill(op, role, wrong);
	assert_int_equal(dnn_check(op, role, wrong, &error, &err), -EDOM);
	free(wrong);
}

/* ---- products ---- */

TEST(products)
{
	static const char *const keys[] = {
		"gemm ta=N tb=T m=5 n=4 k=3 a=f32 lda=7 alpha=-1 beta=0.5",
		"gemm ta=T tb=N m=5 n=4 k=300 a=f32 batch=3 stride_b=0",
		"gemm ta=N tb=N m=3 n=2 k=9 a=i8 b=u8 c=i32",
	};

	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		struct dnn_op op = parsed(keys[i]);
		struct arrays a = filled(&op);
		const struct dnn_tensor *dst = &op.of[DNN_DST], *src = &op.of[DNN_SRC];
		int at = dst->nr - 2;
		int64_t batch = at ? dst->dims[0] : 1, n = dst->dims[at], m = dst->dims[at + 1];
		int64_t k = src->dims[at + 1];
		bool one_src = at && src->dims[0] == 1;

		for (int64_t b = 0; b < batch; b++)
			for (int64_t r = 0; r < n; r++)
				for (int64_t c = 0; c < m; c++) {
					float *to = &a.of[DNN_DST][(b * n + r) * m + c];
					double sum = 0;

					for (int64_t l = 0; l < k; l++)
						sum += (double)a
							       .of[DNN_SRC]
								  [((one_src ? 0 : b) * n + r) * k +
								   l] *
						       a.of[DNN_WEI][(b * k + l) * m + c];
					*to = (float)(sum * op.alpha +
						      (op.posts ? op.post[0].scale * *to : 0));
				}
		judged(&op, DNN_DST, a.of[DNN_DST], keys[i]);
		arrays_release(&a);
	}
}

/* A column-major product is the row-major one of the same memory. */
TEST(a_gemm_by_strides)
{
	struct dnn_op op = parsed("gemm ta=N tb=T m=33 n=17 k=65 a=f32 lda=40 ldb=18 ldc=35");
	struct dnn_op batch = parsed("gemm ta=T tb=N m=3 n=4 k=5 a=bf16 batch=6 stride_a=0");

	assert_int_equal(op.of[DNN_WEI].dims[0], 65);
	assert_int_equal(op.of[DNN_WEI].dims[1], 33);
	assert_int_equal(op.of[DNN_WEI].strides[0], 40);
	assert_int_equal(op.of[DNN_WEI].strides[1], 1);
	assert_int_equal(op.of[DNN_SRC].strides[0], 1);
	assert_int_equal(op.of[DNN_SRC].strides[1], 18);
	assert_int_equal(op.of[DNN_DST].strides[0], 35);
	assert_int_equal(batch.of[DNN_WEI].dims[0], 1);
	assert_int_equal(batch.of[DNN_SRC].strides[0], 20);
	assert_int_equal(batch.of[DNN_WEI].type, DNN_BF16);
}

static float *ip_plain(const struct dnn_op *op, const struct arrays *a, enum dnn_role role)
{
	int64_t mb = op->of[DNN_DST].dims[0], oc = op->of[DNN_DST].dims[1];
	int64_t depth = (int64_t)dnn_elements(&op->of[DNN_WEI]) / oc;
	float *to = xcalloc(dnn_elements(&op->of[role]), sizeof(*to));

	for (int64_t n = 0; n < mb; n++)
		for (int64_t o = 0; o < oc; o++) {
			float *y = &a->of[DNN_DST][n * oc + o];

			for (int64_t l = 0; l < depth; l++) {
				float x = a->of[DNN_SRC][n * depth + l];
				float w = a->of[DNN_WEI][o * depth + l];

				if (role == DNN_DST)
					to[n * oc + o] += x * w;
				else if (role == DNN_SRC)
					to[n * depth + l] += *y * w;
				else if (role == DNN_WEI)
					to[o * depth + l] += *y * x;
			}
			if (role == DNN_DST && a->of[DNN_BIA])
				to[n * oc + o] += a->of[DNN_BIA][o];
			else if (role == DNN_BIA)
				to[o] += *y;
		}
	return to;
}

TEST(inner_products)
{
	static const struct {
		const char *key;
		enum dnn_role role;
	} of[] = {
		{ "ip prop=forward_training src=f32:abcd wei=f32:any bia=f32:a dst=f32:ab "
		  "dims=mb3ic4ih2iw3oc5",
		  DNN_DST },
		{ "ip prop=backward_data diff_src=f32:ab wei=f32:ba diff_dst=f32:ab dims=mb3ic4oc5",
		  DNN_SRC },
		{ "ip prop=backward_weights src=f32:ab wei=f32:ab dst=f32:ab dims=mb3ic4oc5",
		  DNN_WEI },
		{ "ip prop=backward_weights src=f32:ab diff_wei=f32:ab bia=f32:a dst=f32:ab "
		  "dims=mb3ic4oc5",
		  DNN_BIA },
	};

	for (size_t i = 0; i < ARRAY_LEN(of); i++) {
		struct dnn_op op = parsed(of[i].key);
		struct arrays a = filled(&op);
		float *right = ip_plain(&op, &a, of[i].role);

		assert_true(dnn_is_result(&op, of[i].role));
		judged(&op, of[i].role, right, of[i].key);
		free(right);
		arrays_release(&a);
	}
}

/* ---- convolutions: each product is added where it belongs ---- */

struct plain {
	const struct dnn_op *op;
	const struct arrays *a;
	enum dnn_role role;
	float *to;
};

/* Three spatial dimensions; missing ones are of extent 1. */
static void extents(const struct dnn_op *op, enum dnn_role role, int64_t ret[3])
{
	for (int i = 0; i < 3; i++)
		ret[i] = i < 3 - op->spatial ? 1 : op->of[role].dims[i - 3 + op->of[role].nr];
}

static int64_t lies(const int64_t e[3], int64_t n, int64_t channels, int64_t c, const int64_t at[3])
{
	return (((n * channels + c) * e[0] + at[0]) * e[1] + at[1]) * e[2] + at[2];
}

static void term(const struct plain *p, int64_t n, int64_t k, int64_t c, const int64_t x_at[3],
		 const int64_t y_at[3], const int64_t tap[3])
{
	const struct dnn_op *op = p->op;
	int64_t xs[3], ys[3], ws[3];
	int64_t in = op->of[DNN_SRC].dims[1], out = op->of[DNN_DST].dims[1];
	int64_t x, y, w;

	extents(op, DNN_SRC, xs);
	extents(op, DNN_DST, ys);
	extents(op, DNN_WEI, ws);
	x = lies(xs, n, in, c, x_at);
	y = lies(ys, n, out, k, y_at);
	w = lies(ws, k, in / op->groups, c % (in / op->groups), tap);
	if (p->role == DNN_DST)
		p->to[y] += p->a->of[DNN_SRC][x] * p->a->of[DNN_WEI][w];
	else if (p->role == DNN_SRC)
		p->to[x] += p->a->of[DNN_DST][y] * p->a->of[DNN_WEI][w];
	else
		p->to[w] += p->a->of[DNN_DST][y] * p->a->of[DNN_SRC][x];
}

static void places(const struct plain *p, int64_t n, int64_t k, int64_t c)
{
	const struct dnn_op *op = p->op;
	int64_t small[3], big[3], taps[3], at[3], tap[3], there[3];

	extents(op, op->transposed ? DNN_SRC : DNN_DST, small);
	extents(op, op->transposed ? DNN_DST : DNN_SRC, big);
	extents(op, DNN_WEI, taps);
	for (int64_t i = 0; i < small[0] * small[1] * small[2]; i++)
		for (int64_t j = 0; j < taps[0] * taps[1] * taps[2]; j++) {
			bool inside = true;

			at[0] = i / small[2] / small[1], at[1] = i / small[2] % small[1];
			at[2] = i % small[2];
			tap[0] = j / taps[2] / taps[1], tap[1] = j / taps[2] % taps[1];
			tap[2] = j % taps[2];
			for (int d = 0; d < 3; d++) {
				bool there_is = d >= 3 - op->spatial;

				there[d] = there_is ? at[d] * op->stride[d] +
							      tap[d] * op->dilation[d] - op->pad[d]
						    : 0;
				inside &= there[d] >= 0 && there[d] < big[d];
			}
			if (inside)
				term(p, n, k, c, op->transposed ? at : there,
				     op->transposed ? there : at, tap);
		}
}

static float *conv_plain(const struct dnn_op *op, const struct arrays *a, enum dnn_role role)
{
	int64_t in = op->of[DNN_SRC].dims[1] / op->groups;
	int64_t out = op->of[DNN_DST].dims[1] / op->groups;
	struct plain p = { op, a, role, xcalloc(dnn_elements(&op->of[role]), sizeof(float)) };

	for (int64_t n = 0; n < op->of[DNN_SRC].dims[0]; n++)
		for (int64_t g = 0; g < op->groups; g++)
			for (int64_t k = 0; k < out; k++)
				for (int64_t c = 0; c < in; c++)
					places(&p, n, g * out + k, g * in + c);
	return p.to;
}

TEST(convolutions)
{
	static const char *const shapes[] = {
		"n=2 c=6 k=4 g=2 in=7x6 filter=3x2 pad=1x1 stride=2x1 dilation=1x2 " CONV,
		"n=1 c=3 k=2 g=1 in=9 filter=3 pad=2 stride=3 dilation=2 " CONV,
		"n=2 c=2 k=3 g=1 in=4x5x3 filter=2x3x1 pad=1x0x0 stride=1x2x1 dilation=1x1x1 " CONV,
		"n=1 c=4 k=4 g=4 in=5x5 filter=3x3 pad=1x1 stride=1x1 dilation=1x1 " CONV,
		"n=1 c=2 k=2 g=1 in=6x6 filter=3x3 pad=0x0 stride=2x2 dilation=1x1 " CONV
		" with=out:3x3",
	};
	static const struct {
		const char *dir;
		enum dnn_role role;
	} of[] = { { "fwd", DNN_DST }, { "bwd_data", DNN_SRC }, { "bwd_weights", DNN_WEI } };

	for (size_t i = 0; i < ARRAY_LEN(shapes) * ARRAY_LEN(of) * 2; i++) {
		size_t d = i / 2 % ARRAY_LEN(of), s = i / 2 / ARRAY_LEN(of);
		char key[300];

		if (i % 2 && strstr(shapes[s], "out:"))
			continue;
		snprintf(key, sizeof(key), "conv dir=%s %s%s", of[d].dir,
			 i % 2 ? "mode=transposed " : "", shapes[s]);
		struct dnn_op op = parsed(key);
		struct arrays a = filled(&op);
		float *right = conv_plain(&op, &a, of[d].role);

		judged(&op, of[d].role, right, key);
		free(right);
		arrays_release(&a);
	}
}

TEST(what_follows_a_convolution)
{
	const char *key = "conv dir=fwd n=2 c=3 k=4 g=1 in=5x5 filter=3x3 pad=1x1 stride=1x1 "
			  "dilation=1x1 " CONV " with=forward_inference,bia:f32:a,"
			  "post-ops:sum:0.5+eltwise_relu:0.25";
	struct dnn_op op = parsed(key);
	struct arrays a = filled(&op);
	float *right = conv_plain(&op, &a, DNN_DST);

	for (int64_t i = 0; i < 2 * 4 * 25; i++) {
		float v = right[i] + a.of[DNN_BIA][i / 25 % 4] + 0.5F * a.of[DNN_DST][i];

		right[i] = v > 0 ? v : v / 4;
	}
	assert_true(dnn_accumulates(&op));
	judged(&op, DNN_DST, right, key);
	free(right);
	arrays_release(&a);
}

/* ---- layers ---- */

#define POOL_DIMS "mb2ic3_ih7oh4kh3sh2dh0ph1_iw6ow3kw2sw2dw0pw0"

static float pooled(const float *x, int64_t r, int64_t c, int how)
{
	float v = how == 0 ? -INFINITY : 0;
	int taps = 0;

	for (int64_t i = 2 * r - 1; i < 2 * r + 2; i++)
		for (int64_t j = 2 * c; j < 2 * c + 2; j++) {
			if (i < 0 || i > 6)
				continue;
			taps++;
			v = how == 0 ? fmaxf(v, x[i * 6 + j]) : v + x[i * 6 + j];
		}
	return how == 0 ? v : v / (how == 1 ? 6.F : (float)taps);
}

TEST(pooling)
{
	static const char *const algs[] = { "max", "avg_include_padding", "avg_exclude_padding" };

	for (int how = 0; how < 3; how++) {
		char key[200];

		snprintf(key, sizeof(key),
			 "pooling prop=forward_inference alg=pooling_%s src=f32:abcd dst=f32:abcd "
			 "dims=" POOL_DIMS,
			 algs[how]);
		struct dnn_op op = parsed(key);
		struct arrays a = filled(&op);

		for (int64_t p = 0; p < 6; p++)
			for (int64_t i = 0; i < 12; i++)
				a.of[DNN_DST][p * 12 + i] =
					pooled(a.of[DNN_SRC] + p * 42, i / 3, i % 3, how);
		judged(&op, DNN_DST, a.of[DNN_DST], key);
		arrays_release(&a);
	}
}

static void batch_norm(const struct dnn_op *op, const struct arrays *a)
{
	for (int c = 0; c < 3; c++) {
		double mean = 0, var = 0;

		for (int i = 0; i < 2 * 20; i++)
			mean += a->of[DNN_SRC][(i / 20 * 3 + c) * 20 + i % 20] / 40;
		for (int i = 0; i < 2 * 20; i++)
			var += pow(a->of[DNN_SRC][(i / 20 * 3 + c) * 20 + i % 20] - mean, 2) / 40;
		if (op->stats_given) {
			mean = a->of[DNN_MEAN][c];
			var = a->of[DNN_VAR][c];
		} else if (a->of[DNN_MEAN]) {
			a->of[DNN_MEAN][c] = (float)mean;
			a->of[DNN_VAR][c] = (float)var;
		}
		for (int i = 0; i < 2 * 20; i++) {
			int at = (i / 20 * 3 + c) * 20 + i % 20;
			double v = (a->of[DNN_SRC][at] - mean) / sqrt(var + 1e-5);

			if (op->scale)
				v = v * a->of[DNN_SCALE][c] + a->of[DNN_SHIFT][c];
			a->of[DNN_DST][at] = (float)(op->relu && v < 0 ? 0 : v);
		}
	}
}

TEST(batch_normalisation)
{
	static const char *const keys[] = {
		"batch_normalization prop=forward_inference flags=GSR data=f32:abcd "
		"dims=mb2ic3ih4iw5",
		"batch_normalization prop=forward_training flags=CH data=f32:abcd "
		"dims=mb2ic3ih4iw5",
		"batch_normalization prop=forward_inference data=f32:abcd dims=mb2ic3ih4iw5",
	};

	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		struct dnn_op op = parsed(keys[i]);
		struct arrays a = filled(&op);

		batch_norm(&op, &a);
		if (!op.relu)
			judged(&op, DNN_DST, a.of[DNN_DST], keys[i]);
		if (i == 1) {
			judged(&op, DNN_MEAN, a.of[DNN_MEAN], keys[i]);
			judged(&op, DNN_VAR, a.of[DNN_VAR], keys[i]);
		}
		assert_int_equal(dnn_is_result(&op, DNN_MEAN), !op.stats_given);
		arrays_release(&a);
	}
}

TEST(rows)
{
	const char *key = "layer_normalization prop=forward_inference flags=CH data=f32:abc "
			  "dims=2x3x8";
	struct dnn_op op = parsed(key), soft, logs;
	struct arrays a = filled(&op);

	for (int r = 0; r < 6; r++) {
		float *x = a.of[DNN_SRC] + r * 8L;
		double mean = 0, var = 0;

		for (int i = 0; i < 8; i++)
			mean += x[i] / 8;
		for (int i = 0; i < 8; i++)
			var += (x[i] - mean) * (x[i] - mean) / 8;
		for (int i = 0; i < 8; i++)
			a.of[DNN_DST][r * 8 + i] =
				(float)((x[i] - mean) / sqrt(var + 1e-5) * a.of[DNN_SCALE][i] +
					a.of[DNN_SHIFT][i]);
	}
	judged(&op, DNN_DST, a.of[DNN_DST], key);
	arrays_release(&a);

	soft = parsed("softmax prop=forward_inference alg=softmax_accurate axis=1 src=f32:abc "
		      "dst=f32:abc dims=2x3x8");
	logs = parsed("logsoftmax prop=forward_inference axis=1 data=f32:abc dims=2x3x8");
	a = filled(&soft);
	for (int at = 0; at < 48; at++) {
		const float *x = a.of[DNN_SRC] + at / 24 * 24 + at % 8;

		a.of[DNN_DST][at] =
			(float)(exp(a.of[DNN_SRC][at]) / (exp(x[0]) + exp(x[8]) + exp(x[16])));
	}
	judged(&soft, DNN_DST, a.of[DNN_DST], "softmax");
	for (int at = 0; at < 48; at++)
		a.of[DNN_DST][at] = logf(a.of[DNN_DST][at]);
	judged(&logs, DNN_DST, a.of[DNN_DST], "logsoftmax");
	arrays_release(&a);
}

/* Known values. Source: oneDNN's table of functions, computed by hand. */
TEST(functions)
{
	static const struct {
		const char *alg;
		double alpha, beta, x, want;
	} of[] = {
		{ "eltwise_relu", 0.5, 0, -2, -1 },
		{ "eltwise_tanh", 0, 0, 1, 0.7615941559557649 },
		{ "eltwise_elu", 2, 0, -1, -1.2642411176571153 },
		{ "eltwise_square", 0, 0, -3, 9 },
		{ "eltwise_abs", 0, 0, -3, 3 },
		{ "eltwise_sqrt", 0, 0, 9, 3 },
		{ "eltwise_linear", 2, 1, 3, 7 },
		{ "eltwise_logistic", 0, 0, 1, 0.7310585786300049 },
		{ "eltwise_exp", 0, 0, 1, 2.718281828459045 },
		{ "eltwise_log", 0, 0, 2, 0.6931471805599453 },
		{ "eltwise_gelu_tanh", 0, 0, 1, 0.8411919906082768 },
		{ "eltwise_gelu_erf", 0, 0, 1, 0.8413447460685429 },
		{ "eltwise_swish", 1, 0, 1, 0.7310585786300049 },
		{ "eltwise_clip", -1, 1, 3, 1 },
		{ "eltwise_clip_v2", -1, 1, -3, -1 },
		{ "eltwise_pow", 2, 3, 2, 16 },
		{ "eltwise_round", 0, 0, 2.5, 2 },
		{ "eltwise_mish", 0, 0, 1, 0.8650983882673103 },
	};
	long double v;

	for (size_t i = 0; i < ARRAY_LEN(of); i++) {
		assert_int_equal(dnn_eltwise(of[i].alg, of[i].alpha, of[i].beta, of[i].x, &v), 0);
		if (fabsl(v - of[i].want) > 1e-12L)
			fail_msg("%s: %.17Lg", of[i].alg, v);
	}
	assert_int_equal(dnn_eltwise("eltwise_frob", 0, 0, 1, &v), -ENOTSUP);
}

/* ---- keys ---- */

TEST(layouts)
{
	struct dnn_op op = parsed("conv dir=fwd n=2 c=6 k=4 g=2 in=7x6 filter=3x2 pad=1x1 "
				  "stride=2x1 dilation=1x2 " CONV " layout=NHWC");

	assert_string_equal(op.of[DNN_SRC].tag, "acdb");
	assert_string_equal(op.of[DNN_WEI].tag, "abdec");
	op = parsed("conv dir=fwd n=2 c=6 k=4 g=1 in=7x6 filter=3x2 pad=1x1 stride=2x1 "
		    "dilation=1x2 " CONV " layout=NHWC,NCHW,NCHW");
	assert_string_equal(op.of[DNN_WEI].tag, "abcd");
	op = parsed("conv dir=fwd n=2 c=6 k=4 g=1 in=7x6 filter=3x2 pad=1x1 stride=2x1 "
		    "dilation=1x2 " CONV " layout=aBcd16b.Abcde16a:p.abcd:a");
	assert_string_equal(op.of[DNN_WEI].tag, "Abcde16a");
	assert_true(op.grouped);
	assert_string_equal(op.of[DNN_DST].tag, "");
	op = parsed("eltwise prop=forward_inference alg=eltwise_relu src=f32:ab:8x1 "
		    "dst=f32:ab:8x1 dims=2x5");
	assert_true(op.of[DNN_SRC].strided);
	assert_int_equal(op.of[DNN_SRC].strides[0], 8);
}

TEST(keys_that_are_not_taken)
{
#define C "conv dir=fwd n=1 c=4 k=4 g=1 in=5x5 filter=3x3 pad=1x1 stride=1x1 dilation=1x1 "
#define P "pooling prop=forward_inference alg=pooling_max src=f32:abcd dst=f32:abcd dims="
	static const struct {
		const char *key;
		int want;
	} of[] = {
		{ "", -EINVAL },
		{ "reorder src=f32:ab dst=f32:ba dims=4x4", -ENOTSUP },
		{ "conv dir=fwd n=4", -EINVAL },
		{ C, -EINVAL },
		{ C "x=f8", -ENOTSUP },
		{ C "x=f32 layout=aBcd16b", -ENOTSUP },
		{ C "x=f32 layout=wino.ab.abcd", -ENOTSUP },
		{ C "x=f32 with=post-ops:binary_add:f32", -ENOTSUP },
		{ C "x=f32 with=fpmath:bf16", -ENOTSUP },
		{ C "x=f32 frob=1", -ENOTSUP },
		{ C "x=f32 with=out:99999999999999999999", -EINVAL },
		{ "conv dir=fwd+bwd_data n=1 c=4 k=4 g=1 in=5 filter=3 pad=1 stride=1 dilation=1 "
		  "x=f32",
		  -ENOTSUP },
		{ "conv dir=fwd n=1 c=4 k=4 g=3 in=5 filter=3 pad=1 stride=1 dilation=1 x=f32",
		  -EINVAL },
		{ "conv dir=fwd n=1 c=4 k=4 g=1 in=5 filter=9 pad=1 stride=1 dilation=1 x=f32",
		  -EINVAL },
		{ "conv dir=fwd n=1 c=4 k=4 g=1 in=5 filter=-3 pad=1 stride=1 dilation=1 x=f32",
		  -EINVAL },
		{ "conv dir=fwd n=1099511627776 c=1099511627776 k=4 g=1 in=5 filter=3 pad=1 "
		  "stride=1 dilation=1 x=f32",
		  -ERANGE },
		{ "gemm ta=N tb=N m=4 n=4 k=4 a=f32 lda=3", -EINVAL },
		{ "gemm ta=N tb=N m=4 n=4 k=4 a=f32 alpha=1+2i", -ENOTSUP },
		{ "gemm ta=N tb=N m=4 n=4 k=4 a=f32 compute=tf32", -ENOTSUP },
		{ "gemm ta=N tb=N m=4 n=4 k=4 a=f32c", -ENOTSUP },
		{ "gemm ta=N tb=N m=4 n=4 k=4 a=f32 epilogue=GELU", -ENOTSUP },
		{ "gemm ta=N tb=N m=4 n=4 k=4 a=f32 with=bia:f32:ab", -ENOTSUP },
		{ "gemm ta=N tb=N m=4 n=4 k=4 a=f32 batch=2 stride_c=1", -EINVAL },
		{ P "mb2ic3ih7oh4kh3sh2ph1", -EINVAL },
		{ P "mb2ic3_iw7ow4kw3sw2pw3", -EINVAL },
		{ "pooling prop=backward_data alg=pooling_max src=f32:abc dst=f32:abc "
		  "dims=mb2ic3_iw7ow4kw3sw2dw0pw1",
		  -ENOTSUP },
		{ "softmax prop=forward_inference axis=2 data=f32:ab dims=4x4", -EINVAL },
		{ "softmax prop=forward_inference axis=1 data=f32:abc dims=4x4", -ENOTSUP },
		{ "eltwise prop=forward_inference alg=eltwise_frob data=f32:a dims=4", -ENOTSUP },
		{ "eltwise prop=forward_inference alg=eltwise_relu data=f32:a dims=-4", -EINVAL },
		{ "eltwise prop=forward_inference alg=eltwise_relu data=f32:a dims=4x", -EINVAL },
		{ "batch_normalization prop=forward_inference flags=Q data=f32:ab dims=mb4ic4",
		  -ENOTSUP },
		{ "layer_normalization prop=forward_inference data=f32:a dims=4", -EINVAL },
	};

	for (size_t i = 0; i < ARRAY_LEN(of); i++) {
		struct err err = ERR_INIT;
		struct dnn_op op;

		if (dnn_op_parse(of[i].key, &op, &err) != of[i].want || !err.msg[0])
			fail_msg("'%s': %d, not %d: %s", of[i].key, err.code, of[i].want, err.msg);
	}
}

/* Each type holds its values exactly, and pairs of products of bytes fit 16 bits. */
TEST(values)
{
	struct dnn_op op = parsed("gemm ta=N tb=N m=40 n=40 k=40 a=i8 b=u8 c=i32");
	struct dnn_op half = parsed("gemm ta=N tb=N m=40 n=40 k=40 a=bf16");
	struct dnn_op logs = parsed("eltwise prop=forward_inference alg=eltwise_log data=f32:a "
				    "dims=1600");
	double least = 1, most = -1;

	for (uint64_t i = 0; i < 1600; i++) {
		double a = dnn_value(&op, DNN_WEI, i), b = dnn_value(&op, DNN_SRC, i);
		double h = dnn_value(&half, DNN_SRC, i);

		assert_true(a == rint(a) && fabs(a) <= 63 && b == rint(b) && b >= 0 && b <= 127);
		assert_true(h * 128 == rint(h * 128) && fabs(h) <= 1);
		assert_true(dnn_value(&logs, DNN_SRC, i) > 0);
		least = h < least ? h : least;
		most = h > most ? h : most;
	}
	assert_true(least < -0.95 && most > 0.95);
}
