/*
 * library_defaults: what the commands of rocblas-bench and hipblaslt-bench leave out.
 *
 * The library logs every option; a list that is written by hand lacks those that have a default: no
 * matrix is transposed, alpha is 1 and beta 0, increments are 1, leading dimensions are the
 * smallest that fit. Sizes have none here: a command without one has lost it. Strides of a batch
 * stay unknown.
 */
#ifndef ANALYSIS_LIBRARY_DEFAULTS_H
#define ANALYSIS_LIBRARY_DEFAULTS_H

#include "library_key.h"

/* Column-major. */
void gemm_defaults(struct gemm *g);
/* Nothing for a function whose arguments are not known (library_args.h). */
void blas_defaults(struct blas *b);

#endif
