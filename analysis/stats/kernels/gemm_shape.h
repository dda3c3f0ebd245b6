/*
 * gemm_shape: the sizes of the product of matrices that an operator of a framework computes, from
 * its operands (facts.h): [M,K]·[K,N], batch times. Operators: mm, addmm, bmm, baddbmm, linear,
 * _scaled_mm and their spellings with out; strides do not matter here.
 */
#ifndef PROFRIG_GEMM_SHAPE_H
#define PROFRIG_GEMM_SHAPE_H

#include "profrig/model/model.h"

struct gemm_shape {
	int64_t m, n, k, batch;
};

/*
 * Of the innermost operator with operands around a call; false: none is known, that one is no
 * product, or its sizes do not fit together.
 */
bool gemm_shape_of(const struct model *m, uint64_t call, struct gemm_shape *ret);

#endif
