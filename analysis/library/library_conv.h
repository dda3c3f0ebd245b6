/*
 * library_conv: the key of a convolution, which all libraries share. 1 to 3 spatial dimensions;
 * arrays are in the order depth, height, width, of which the last `dims` count.
 *
 *	conv dir=fwd n=4 c=64 k=128 g=1 in=56x56 filter=3x3 pad=1x1 stride=2x2 dilation=1x1 x=f32
 *	w=f32 y=f32 layout=NCHW
 *
 * Outputs: ⌊(in + 2·pad − dilation·(filter − 1) − 1) / stride⌋ + 1, unless the log tells them.
 * A record that stands for several directions is one call: dir=fwd+bwd_data, the sum of their work.
 *
 * Flops: 2·n·k·(c/g)·taps·outputs for each direction, padding taps included (as MIOpenDriver;
 * benchdnn leaves them out); transposed: inputs instead of outputs. Bytes: x, w and y once each.
 */
#ifndef ANALYSIS_LIBRARY_CONV_H
#define ANALYSIS_LIBRARY_CONV_H

#include "library_parser.h"

#define CONV_DIMS 3

enum conv_direction { CONV_FWD, CONV_BWD_DATA, CONV_BWD_WEIGHTS };

struct conv {
	enum conv_direction direction;
	unsigned also; /* 1 << direction of others that the same record stands for */
	bool transposed;
	int dims; /* 1, 2, 3 */
	int64_t n, c, k, groups;
	int64_t in[CONV_DIMS], filter[CONV_DIMS], pad[CONV_DIMS], stride[CONV_DIMS];
	int64_t dilation[CONV_DIMS]; /* 1: dense */
	int64_t out[CONV_DIMS];      /* DIM_NONE: to be computed */
	const struct element_type *x, *w, *y;
	bool untyped;    /* the log has no types: bytes are unknown, a call without x is whole */
	char layout[96]; /* "" unknown */
	char more[96];   /* what else belongs to the configuration (bias, epilogue); "" none */
};

/* 2 dimensions, groups 1, no padding, stride and dilation 1, all sizes unknown. */
void conv_init(struct conv *c);
/*
 * The extent of the output that follows from the other sizes, which conv_key has accepted; 0: there
 * is none. axis: index of the arrays.
 */
int64_t conv_output(const struct conv *c, int axis);
/* As gemm_key. RECORD_TORN: a size or the type of x is missing. */
enum record_is conv_key(const struct conv *c, const char *operation, struct library_key *k);

#endif
