/*
 * dnn_op: what a library of neural networks (oneDNN) is to compute: a call's key with all that it
 * leaves open filled in, and the reference by which results are judged.
 *
 *	key				operands (roles)	weights-cold rotates
 *	gemm				A = WEI, B = SRC, C = DST	A
 *	ip, conv (three directions)	SRC WEI BIA DST			WEI
 *	pooling, eltwise, softmax	SRC DST				nothing
 *	batch_normalization,		SRC DST MEAN VAR SCALE SHIFT	nothing
 *	layer_normalization
 *
 * A gemm is the row-major product Cᵀ = op(B)ᵀ·op(A)ᵀ of the same memory, leading dimensions as
 * strides; in a batch a stride of 0 is an extent of 1.
 *
 * Layouts. A word of the key that names one is honoured: oneDNN's tags ("abcd", "aBcd16b"), with
 * strides behind them ("ab:256x1"), and for convolutions NCHW, NHWC … of all or of x, w, y. "any",
 * "a" behind a tag and a convolution without the word let the library choose; what it chose is
 * filled before time is taken. An inner product without a tag is plain.
 *
 * What keys leave open: epsilon of normalisations 1e-5, eltwise without alpha and beta 0, a scalar
 * `other` 0.5. Flag S of oneDNN 2 (scale and shift in one array) is taken as C and H, two arrays.
 * Forward alone are pooling, normalisations, softmax and eltwise.
 *
 * Flops and bytes: the table Work in docs/library.md.
 *
 * Values are those that all types of an operand hold exactly, by SplitMix64 of role and logical
 * index: uniform in [-1, 1] (f32), its multiples of 1/128 (bf16, f16), integers in [-63, 63] and
 * [0, 127], whose products of pairs fit 16 bits, as processors without VNNI add them. Variances
 * are in [0.5, 1.5], inputs of log, sqrt and pow in (0, 1].
 *
 * A result is right when each entry of a sample (BENCH_SAMPLE, as bench_op.h) differs from the
 * reference in long double by at most
 *	(16 + 2·√k)·ε·Σ|a||b|		sums of k products; ten times as much for Winograd's
 *	5e-5·max(1, |v|)		functions, softmax, normalisations: approximations
 *	0				the largest of a window
 * and by half a step of the result's type (a step behind post-operations), which integers reach
 * saturated.
 */
#ifndef DNN_OP_H
#define DNN_OP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profrig/base/err.h"

#define DNN_DIMS_MAX 12
#define DNN_SPATIAL_MAX 3
#define DNN_POSTS_MAX 4
#define DNN_EPSILON 1e-5f
#define DNN_BYTES_MAX (UINT64_C(1) << 50) /* of an operand */

enum dnn_kind {
	DNN_MATMUL,
	DNN_IP,
	DNN_CONV,
	DNN_POOLING,
	DNN_BNORM,
	DNN_LNORM,
	DNN_SOFTMAX,
	DNN_ELTWISE
};
enum dnn_direction { DNN_FWD, DNN_BWD_DATA, DNN_BWD_WEIGHTS };
enum dnn_role {
	DNN_SRC,
	DNN_WEI,
	DNN_BIA,
	DNN_DST,
	DNN_MEAN,
	DNN_VAR,
	DNN_SCALE,
	DNN_SHIFT,
	DNN_ROLES
};
enum dnn_type { DNN_F32, DNN_BF16, DNN_F16, DNN_S32, DNN_S8, DNN_U8, DNN_F64, DNN_TYPE_COUNT };

struct dnn_tensor {
	int nr; /* of dimensions; 0: the operation has no such operand */
	int64_t dims[DNN_DIMS_MAX];
	enum dnn_type type;
	char tag[40]; /* "" and not strided: the library chooses */
	bool strided;
	int64_t strides[DNN_DIMS_MAX];
};

struct dnn_post {
	bool sum;     /* of what is in dst, times scale */
	char alg[40]; /* else: of eltwise */
	float scale, alpha, beta;
};

struct dnn_op {
	enum dnn_kind kind;
	enum dnn_direction direction;
	bool training, transposed, grouped; /* grouped: weights have a dimension of groups */
	char alg[40];                       /* by oneDNN's name: "pooling_max", "eltwise_relu" */
	struct dnn_tensor of[DNN_ROLES];
	int spatial; /* dimensions; the last ones of these arrays count */
	int64_t groups;
	int64_t kernel[DNN_SPATIAL_MAX], stride[DNN_SPATIAL_MAX];
	int64_t dilation[DNN_SPATIAL_MAX]; /* 1: dense */
	int64_t pad[DNN_SPATIAL_MAX], pad_right[DNN_SPATIAL_MAX];
	float alpha, beta; /* of eltwise; alpha of matmul, whose beta is a post-operation */
	int axis;          /* of softmax */
	bool log;          /* softmax: its logarithm */
	bool stats_given, scale, shift, relu;
	struct dnn_post post[DNN_POSTS_MAX];
	size_t posts;
	uint64_t flops, bytes;
};

/*
 * -EINVAL: the key is damaged, or no library executes such a call; -ENOTSUP: it is no operation
 * above, or has words that are not known; -ERANGE: it is too large.
 */
int dnn_op_parse(const char *key, struct dnn_op *ret, struct err *err);

const char *dnn_type_name(enum dnn_type type); /* oneDNN's: "s8" */
size_t dnn_type_size(enum dnn_type type);
static inline bool dnn_has(const struct dnn_op *op, enum dnn_role role)
{
	return op->of[role].nr > 0;
}
/* What a call writes; of backward weights the gradient of the bias, too. */
bool dnn_is_result(const struct dnn_op *op, enum dnn_role role);
uint64_t dnn_elements(const struct dnn_tensor *t);
/* Whether the call reads what is in dst. */
bool dnn_accumulates(const struct dnn_op *op);

/* The value at a logical index, in row-major order of the dimensions. */
double dnn_value(const struct dnn_op *op, enum dnn_role role, uint64_t at);
/* All of them. */
void dnn_fill(const struct dnn_op *op, enum dnn_role role, float *to);
/*
 * Compares a result that one call on filled operands left, in row-major order. 0 with the largest
 * error, as a part of what is allowed; -ENOTSUP: there is no reference for it; -EDOM: it is wrong,
 * and err says where.
 */
int dnn_check(const struct dnn_op *op, enum dnn_role role, const float *got, double *ret_error,
	      struct err *err);

/* -ENOTSUP: no such function. */
int dnn_eltwise(const char *alg, long double alpha, long double beta, long double x,
		long double *ret);

#endif
