/*
 * cuBLASLt, by CUBLASLT_LOG_LEVEL or CUBLASLT_LOG_MASK; a line for each call of a function:
 *
 *	[2023-04-07 04:57:13][cublasLt][8291][Trace][cublasLtMatmul] A=0X7F… Adesc=[type=R_16F
 *	rows=32 cols=16 ld=32] B=… Bdesc=[…] C=… Cdesc=[…] D=… Ddesc=[…] computeDesc=[
 *	computeType=COMPUTE_32F scaleType=R_32F transa=OP_T epilogue=EPILOGUE_BIAS …] algo=[…]
 *	workSpace=0X0 workSpaceSizeInBytes=0 beta=? outOfPlace=0 stream=0X7EB04D0
 *
 * Members with their default are left out (library_matmul.h). cuBLAS calls the functions
 * cublasLtTSTMatmul, cublasLtSSSMatmul …, whose letters are types; they are products, too. Lines of
 * the levels Error, Hint, Info and Api, and those of other functions, execute nothing: an Api line
 * has the addresses of the call whose Trace line follows.
 *
 * algo (the kernel), the workspace and smCountTarget are not of the configuration. Scales are, by
 * their mode (VEC32_UE8M0), or as "1" where only their address is logged.
 */
#include "library_matmul.h"

#include <string.h>

static bool cublaslt_is_matmul(struct text_slice f)
{
	static const char tail[] = "Matmul";
	size_t n = sizeof(tail) - 1;

	return slice_begins(f, "cublasLt") && f.n >= strlen("cublasLt") + n &&
	       !memcmp(f.p + f.n - n, tail, n);
}

static enum record_is cublaslt_split(struct library_log *log, void *state,
				     const struct log_record *r, struct log_facts *f)
{
	(void)log;
	return matmul_split(state, r, f, cublaslt_is_matmul);
}

static enum record_is cublaslt_parse(struct text_slice text, struct library_key *k)
{
	return matmul_parse(text, "cublasLt", k);
}

const struct library_parser library_parser_cublaslt = {
	.name = "cuBLASLt",
	.library = "cublaslt",
	.markers = { { "[cublasLt][", false, false } },
	.back = matmul_stamp_before,
	.split = cublaslt_split,
	.mask = matmul_mask,
	.parse = cublaslt_parse,
	.state_size = sizeof(struct matmul_trace),
	.release = matmul_trace_release,
};
