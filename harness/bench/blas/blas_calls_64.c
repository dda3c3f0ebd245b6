/* A BLAS with integers of 64 bits (ILP64). */
#define BLAS_INT int64_t
#define BLAS_CALLS bench_calls_64
#include "blas_calls.h"
