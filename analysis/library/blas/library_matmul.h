/*
 * library_matmul: a product of matrices with an epilogue and scales, as the Lt libraries have it,
 * and their trace lines, which hipBLASLt and cuBLASLt share.
 *
 *	[2025-02-28 11:24:46][HIPBLASLT][1862601][Trace][rocblaslt_matmul] A=0x… Adesc=[type=R_16BF
 *	rows=48 cols=1024 ld=48] B=… Bdesc=[…] C=… Cdesc=[…] D=… Ddesc=[…] computeDesc=[
 *	computeType=COMPUTE_32F scaleType=R_32F transA=OP_N transB=OP_T epilogue=… …] … stream=0
 *
 * Date, process and level are in brackets; hipBLASLt on Windows leaves the process out. m and n are
 * the rows and columns of D, k the columns of A (its rows where A is transposed). Rows and columns
 * that do not fit each other are RECORD_BAD. cuBLASLt leaves defaults out: not transposed, one
 * matrix, column-major, no epilogue. Members without a place in the key of a gemm follow it by
 * their names.
 *
 * Key: that of a gemm, then compute_mode (16-bit or pedantic arithmetic), scale_type where it is
 * not that of the arithmetic, scale_a … scale_d, and the rest.
 */
#ifndef ANALYSIS_LIBRARY_MATMUL_H
#define ANALYSIS_LIBRARY_MATMUL_H

#include "library_parser.h"

struct matmul {
	struct gemm g;
	const char *mode; /* "fast_16f", "fast_16bf", "pedantic"; "" none */
	const struct element_type *scale_type;
	char scale[4][24];  /* of a, b, c, d: "1" one factor, "2" a vector, or a name; "" none */
	struct strbuf more; /* " NAME=VALUE" */
};
void matmul_init(struct matmul *m);
void matmul_release(struct matmul *m);
/* What has no place in the other members; bytes that no key has become '_'. */
void matmul_more(struct matmul *m, const char *of, struct text_slice name, struct text_slice v);
/* As gemm_key. */
enum record_is matmul_key(const struct matmul *m, const char *operation, struct library_key *k);

/*
 * Types of arithmetic: "COMPUTE_32F_FAST_16BF", "CUBLAS_COMPUTE_32F", "CUDA_R_32F", "f32_bf16_r".
 * NULL: not known. *mode: as in struct matmul.
 */
const struct element_type *compute_type(struct text_slice v, const char **mode);
/* "EPILOGUE_GELU_AUX_BIAS" → "gelu+aux+bias"; "EPILOGUE_DEFAULT" → "". */
void epilogue_name(struct text_slice v, char buf[64]);

struct matmul_trace {
	struct strbuf text; /* of the last record, without addresses */
};
void matmul_trace_release(void *state);
/* `back` of a parser: the date in front of the library's bracket. */
size_t matmul_stamp_before(struct text_slice line, size_t at);
/* split of a parser: `calls` recognises the function of a call. */
enum record_is matmul_split(struct matmul_trace *s, const struct log_record *r, struct log_facts *f,
			    bool (*calls)(struct text_slice function));
/* mask of a parser. */
bool matmul_mask(const void *state, const struct log_record *r, struct log_mask *m);
/* parse of a parser. The operation is the function in lower case, without `prefix`. */
enum record_is matmul_parse(struct text_slice text, const char *prefix, struct library_key *k);

#endif
