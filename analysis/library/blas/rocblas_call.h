/*
 * rocblas_call: what all layers of rocBLAS's log have in common (parse_rocblas.c,
 * parse_rocblas_trace.c).
 */
#ifndef ANALYSIS_LIBRARY_ROCBLAS_CALL_H
#define ANALYSIS_LIBRARY_ROCBLAS_CALL_H

#include "library_parser.h"

/* Whether a function, without "rocblas_", only creates, sets, gets or queries: it is no call. */
bool rocblas_is_info(struct text_slice function);
/*
 * k->common of a call whose trace line has arguments that profrig does not know: the function and
 * its type, as no layer's sizes can be compared then. The calls of each layer are counted together.
 * type: of a name without a letter; NULL.
 */
void rocblas_common(const struct blas_name *name, const struct element_type *type,
		    struct library_key *k);

#endif
