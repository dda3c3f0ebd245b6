/*
 * products: what products of matrices and convolutions compute and move, for calls of libraries
 * and for operators alike. One multiplication and one addition are two flops.
 *
 *	gemm	2·m·n·k·batch; complex types count four times as many
 *	conv	2·N·K·(C/g)·taps·outputs for each direction, padding taps included; transposed:
 *		inputs instead of outputs
 * Source: the BLAS, MIOpen and oneDNN documentation of these operations; where other tools count
 * otherwise is in docs/library.md and docs/cost.md.
 *
 * A negative size counts as 0; whether sizes are any is the caller's to check.
 */
#ifndef PROFRIG_PRODUCTS_H
#define PROFRIG_PRODUCTS_H

#include "profrig/cost/amount.h"

amount gemm_flops(int64_t m, int64_t n, int64_t k, amount batch, bool complex);
/* Elements of a matrix of a batch; once: one matrix for all of the batch. */
amount matrix_elements(int64_t rows, int64_t cols, int64_t batch, bool once);

#define CONV_DIMS_MAX 3

struct conv_size {
	int dims; /* the first ones of the arrays count */
	int64_t images, channels, filters, groups;
	int64_t in[CONV_DIMS_MAX], taps[CONV_DIMS_MAX], out[CONV_DIMS_MAX];
	bool transposed;
};

/* Of one direction, without bias. */
amount conv_flops(const struct conv_size *c);
/* Elements of input, weights and output. */
amount conv_inputs(const struct conv_size *c);
amount conv_weights(const struct conv_size *c);
amount conv_outputs(const struct conv_size *c);

/*
 * Extent of the output: ⌊(in + 2·pad − dilation·(taps − 1) − 1) / stride⌋ + 1; transposed:
 * (in − 1)·stride − 2·pad + dilation·(taps − 1) + more + 1. 0: there is none.
 */
struct conv_axis {
	int64_t in, taps, pad, stride, dilation, more;
};
int64_t conv_extent(const struct conv_axis *a, bool transposed);

#endif
