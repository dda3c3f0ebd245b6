/* The values of operands, and functions of an element (dnn_op.h). */
#include "dnn_op.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "profrig/base/mix.h"
#include "profrig/base/xalloc.h"

/* 53 random bits to [-1, 1). */
static double uniform(uint64_t x)
{
	return (double)(int64_t)(x >> 11) * 0x1p-52 - 1;
}

static bool alg_is(const struct dnn_op *op, const char *name)
{
	return op->kind == DNN_ELTWISE && !strcmp(op->alg, name);
}

/* Inputs of functions that have no value elsewhere. */
static bool is_positive(const struct dnn_op *op, enum dnn_role role)
{
	return role == DNN_SRC && (alg_is(op, "eltwise_log") || alg_is(op, "eltwise_sqrt") ||
				   alg_is(op, "eltwise_pow"));
}

double dnn_value(const struct dnn_op *op, enum dnn_role role, uint64_t at)
{
	uint64_t seed = mix64(UINT64_C(0xd11) + (uint64_t)role);
	double v = uniform(mix64(seed + at * SPLITMIX64_STEP));

	if (role == DNN_VAR)
		return (float)(1 + v / 2);
	switch (op->of[role].type) {
	case DNN_F32:
	case DNN_F64:
		v = (float)v;
		break;
	case DNN_BF16:
	case DNN_F16:
		v = round(v * 128) / 128;
		break;
	case DNN_S32:
	case DNN_S8:
		v = round(v * 63);
		break;
	case DNN_U8:
	case DNN_TYPE_COUNT:
		return floor((v + 1) * 63.9);
	}
	if (is_positive(op, role))
		return fabs(v) > 0 ? fabs(v) : 1;
	return v;
}

void dnn_fill(const struct dnn_op *op, enum dnn_role role, float *to)
{
	uint64_t n = dnn_elements(&op->of[role]);

	for (uint64_t i = 0; i < n; i++)
		to[i] = (float)dnn_value(op, role, i);
}

/* ---- functions ---- */

static long double sigmoid(long double x)
{
	return 1 / (1 + expl(-x));
}

static long double clipped(long double x, long double low, long double high)
{
	return fminl(fmaxl(x, low), high);
}

static long double f_relu(long double x, long double a, long double b)
{
	(void)b;
	return x > 0 ? x : a * x;
}

static long double f_tanh(long double x, long double a, long double b)
{
	(void)a, (void)b;
	return tanhl(x);
}

static long double f_elu(long double x, long double a, long double b)
{
	(void)b;
	return x > 0 ? x : a * expm1l(x);
}

static long double f_square(long double x, long double a, long double b)
{
	(void)a, (void)b;
	return x * x;
}

static long double f_abs(long double x, long double a, long double b)
{
	(void)a, (void)b;
	return fabsl(x);
}

static long double f_sqrt(long double x, long double a, long double b)
{
	(void)a, (void)b;
	return sqrtl(x);
}

static long double f_linear(long double x, long double a, long double b)
{
	return a * x + b;
}

static long double f_logistic(long double x, long double a, long double b)
{
	(void)a, (void)b;
	return sigmoid(x);
}

static long double f_exp(long double x, long double a, long double b)
{
	(void)a, (void)b;
	return expl(x);
}

static long double f_log(long double x, long double a, long double b)
{
	(void)a, (void)b;
	return logl(x);
}

static long double f_gelu_tanh(long double x, long double a, long double b)
{
	(void)a, (void)b;
	return x / 2 * (1 + tanhl(sqrtl(2 / M_PIl) * (x + 0.044715L * x * x * x)));
}

static long double f_gelu_erf(long double x, long double a, long double b)
{
	(void)a, (void)b;
	return x / 2 * (1 + erfl(x / sqrtl(2)));
}

static long double f_swish(long double x, long double a, long double b)
{
	(void)b;
	return x * sigmoid(a * x);
}

static long double f_clip(long double x, long double a, long double b)
{
	return clipped(x, a, b);
}

static long double f_pow(long double x, long double a, long double b)
{
	return a * powl(x, b);
}

static long double f_round(long double x, long double a, long double b)
{
	(void)a, (void)b;
	return rintl(x);
}

static long double f_mish(long double x, long double a, long double b)
{
	(void)a, (void)b;
	return x * tanhl(log1pl(expl(x)));
}

static const struct {
	const char *name;
	long double (*f)(long double x, long double alpha, long double beta);
} functions[] = {
	{ "eltwise_relu", f_relu },
	{ "eltwise_tanh", f_tanh },
	{ "eltwise_elu", f_elu },
	{ "eltwise_square", f_square },
	{ "eltwise_abs", f_abs },
	{ "eltwise_sqrt", f_sqrt },
	{ "eltwise_linear", f_linear },
	{ "eltwise_logistic", f_logistic },
	{ "eltwise_exp", f_exp },
	{ "eltwise_log", f_log },
	{ "eltwise_gelu_tanh", f_gelu_tanh },
	{ "eltwise_gelu_erf", f_gelu_erf },
	{ "eltwise_swish", f_swish },
	{ "eltwise_clip", f_clip },
	{ "eltwise_clip_v2", f_clip },
	{ "eltwise_pow", f_pow },
	{ "eltwise_round", f_round },
	{ "eltwise_mish", f_mish },
};

int dnn_eltwise(const char *alg, long double alpha, long double beta, long double x,
		long double *ret)
{
	for (size_t i = 0; i < ARRAY_LEN(functions); i++)
		if (!strcmp(functions[i].name, alg)) {
			*ret = functions[i].f(x, alpha, beta);
			return 0;
		}
	return -ENOTSUP;
}
