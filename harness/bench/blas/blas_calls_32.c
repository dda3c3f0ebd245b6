/* A BLAS with integers of 32 bits (LP64). */
#define BLAS_INT int32_t
#define BLAS_CALLS bench_calls_32
#include "blas_calls.h"
