/*
 * library_key: the canonical key of a call (library_calls.h), its flops and its bytes.
 *
 *	key_begin(k, "gemm", "sgemm");			family of the key, operation of the row
 *	key_int(k, "m", 64); key_word(k, "a", "f32");	" m=64 a=f32"
 *
 * Flops and bytes are amounts (cost/amount.h); key_work sets them. A call of 2^63 or more of either
 * is RECORD_BAD: no device computes it, so its sizes are damaged or hostile.
 *
 * Formulas of products and convolutions are cost/products.h. Bytes of a gemm: each operand read
 * once (a matrix whose stride is 0 once for the batch), d written once, c read where beta is known
 * and not 0.
 * Source: the BLAS and MIOpen documentation of these operations; liblog's peers differ where
 * docs/library.md says so.
 */
#ifndef ANALYSIS_LIBRARY_KEY_H
#define ANALYSIS_LIBRARY_KEY_H

#include "text_slice.h"

#include <stdbool.h>
#include <stdint.h>

#include "profrig/base/strbuf.h"
#include "profrig/cost/amount.h"
#include "profrig/cost/element_type.h"
#include "profrig/cost/products.h"
#include "profrig/model/library_calls.h"

enum record_is;

#define DIM_NONE INT64_MIN /* the log does not tell it; an increment may be -1 */
#define DIM_MAX (INT64_C(1) << 48)

/*
 * The product of matrices that a call is, by which a call that one library hands on to another one
 * is recognised: m, n, k, sorted. A convolution may be made of one product or of one for each
 * image: two forms. All flops of the call; 0: it is no product.
 */
struct library_product {
	int64_t size[2][3]; /* a form of zeros: there is no second one */
	uint64_t flops;
};

struct library_key {
	struct strbuf text;   /* the canonical key */
	struct strbuf common; /* facts that all levels of the library's logs tell; "" one level */
	char operation[64];
	const char *library; /* NULL: the parser's */
	uint64_t calls;      /* that the text stands for; 1 */
	uint64_t flops, bytes;
	enum library_level level; /* LEVEL_BENCH */
	bool inexact;
	struct library_product product;
	struct text_slice config; /* the part of the text that a row shows; n = 0: the record */
	char why[160];            /* of RECORD_BAD */
};

void key_init(struct library_key *k);
void key_clear(struct library_key *k);
void key_release(struct library_key *k);

/* Operation: cut to its buffer, bytes that no name has become '_'. */
void key_begin(struct library_key *k, const char *family, const char *operation);
void key_int(struct library_key *k, const char *name, int64_t v);      /* nothing for DIM_NONE */
void key_word(struct library_key *k, const char *name, const char *v); /* nothing for "" */
void key_wordn(struct library_key *k, const char *name, const char *v, size_t n);
/* A number as logged ("1.000000", "-1", "1e0") in its shortest form; 0: it is none. */
bool key_number(struct library_key *k, const char *name, const char *v, size_t n);
/* Sets k->why. Returns RECORD_BAD. */
enum record_is key_bad(struct library_key *k, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* false: one of them is too large, and k->why says so. */
bool key_work(struct library_key *k, amount flops, amount bytes);
/* Sets one form of k->product, and its flops to k->flops. */
void key_product(struct library_key *k, int form, int64_t m, int64_t n, int64_t depth);

/* A product of matrices, column-major; DIM_NONE, NULL and "" where the log does not tell. */
struct gemm {
	char ta, tb; /* N T C */
	int64_t m, n, k, batch;
	int64_t lda, ldb, ldc, ldd;
	int64_t stride_a, stride_b, stride_c, stride_d;
	const struct element_type *a, *b, *c, *d, *compute;
	char alpha[32], beta[32]; /* in shortest form */
	char epilogue[64];        /* "" none */
	bool pointers;            /* batch of pointers instead of strides */
};
void gemm_init(struct gemm *g);
/* A call in row-major order as the column-major one that computes the same. */
void gemm_row_major(struct gemm *g);
/*
 * Key, common facts, flops, bytes, product. RECORD_CALL; RECORD_TORN: m, n, k or a is missing;
 * RECORD_BAD. operation: of the row.
 */
enum record_is gemm_key(const struct gemm *g, const char *operation, struct library_key *k);

/* Any other function of BLAS: vectors, matrix and vector, triangular and symmetric matrices. */
struct blas {
	char function[48]; /* without the letter of its type: "gemv", "trsm" */
	const struct element_type *type;
	char side, uplo, trans, diag; /* 0: none */
	bool untyped;                 /* the log does not tell the type: work is unknown */
	int64_t m, n, k, batch;
	int64_t lda, ldb, ldc, incx, incy;
	int64_t stride_a, stride_b, stride_c, stride_x, stride_y;
	char alpha[32], beta[32];
	bool pointers;
};
void blas_init(struct blas *b);
/*
 * As gemm_key; RECORD_TORN: a size that the function has is missing. A function whose work profrig
 * does not know has unknown flops and bytes.
 */
enum record_is blas_key(const struct blas *b, const char *operation, struct library_key *k);
/* Whether profrig knows the sizes and the work of a function. */
bool blas_is_known(const char *function);
/* A call in row-major order as the column-major one that computes the same. */
void blas_row_major(struct blas *b);
/*
 * "sgemm_strided_batched_64" → letter 's', function "gemm", batched; "gemm_ex" → letter 0. letter:
 * first of the types s d c z h, by which a function of BLAS begins, or which stands inside of its
 * name: "isamax", "scnrm2".
 */
struct blas_name {
	char letter;
	const struct element_type *type; /* by the letter, or "bf"; NULL */
	bool known;                      /* function is one of BLAS */
	char function[48];
	bool ex, batched, strided, wide; /* wide: 64-bit integers */
	bool row_major;                  /* by the caller: blas_name does not tell */
};
struct blas_name blas_name(const char *s, size_t n);

#endif
