/*
 * library_names: which names of a trace are calls of which operation of a library.
 *
 * Both a row of library_calls.h and a name of a trace get a class, a short text; they are calls of
 * one operation when the classes are equal:
 *
 *	row rocblas, gemm_strided_batched_ex	"rocblas gemmstridedbatchedex"
 *	rocblas_gemm_strided_batched_ex		the same
 *	row cublas, sgemm; cublasSgemm_v2	"cublas sgemm"
 *	row miopen, key "conv dir=fwd …"	"miopen conv fwd"
 *	miopenConvolutionForwardImmediate	the same
 *	row rccl, AllReduce; ncclAllReduce	"nccl allreduce"
 *
 * The rest of a name is compared without case and '_', and without the version that some tracers
 * add ("_v2", "_v11000", "_64"). A call that only prepares another one (a search, a query of a
 * workspace) has a name, and so a class, of its own. Functions of BLAS are taken by their C names
 * (cblas_sgemm), and by those of Fortran (sgemm_) where the trace's category says blas.
 *
 * Kernels tell an operation by their names only where they are collectives of NCCL or RCCL
 * (ncclDevKernel_AllReduce_Sum_f32_RING_LL, ncclKernel_AllReduce_RING_LL_Sum_float,
 * ncclAllReduceRingLLKernel_sum_f32: NCCL 2.19 and later, 2.12, 2.4). ncclDevKernel_Generic and
 * …_SendRecv tell none: they execute any, or several calls.
 */
#ifndef ANALYSIS_STATS_LIBRARY_NAMES_H
#define ANALYSIS_STATS_LIBRARY_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "profrig/model/library_calls.h"

#define LIBRARY_CLASS_MAX 96

/* All three: false when there is no class, else ret has it. */
bool library_class_of_row(const struct library_row *r, char ret[LIBRARY_CLASS_MAX]);
bool library_class_of_call(const char *name, const char *category, char ret[LIBRARY_CLASS_MAX]);
bool library_class_of_kernel(const char *name, char ret[LIBRARY_CLASS_MAX]);

/* Its calls compute on the threads that make them. */
bool library_is_cpu(const char *library);
/*
 * Whether an operator of a framework bears a name that fits an operation of a library of the
 * processor: a convolution has one with "conv", a product one with "mm" or "linear". Operations
 * that are not known fit none.
 */
bool library_operator_fits(const char *operation, const char *name);

#endif
