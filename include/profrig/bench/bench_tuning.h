/*
 * bench_tuning: the fastest measured solution of each product of matrices, written in the forms
 * that PyTorch and hipBLASLt read back.
 *
 *	struct bench_tuning u = BENCH_TUNING_INIT;
 *	bench_tuning_choose(&tables, BENCH_TUNABLEOP, &u, err)
 *	… u.left says what has no line, and why …
 *	bench_tuning_write(&u, &validators, NULL, f);
 *	bench_tuning_release(&u);
 *
 * Of each key of a gemm the fastest row that is ok counts, among those of hipBLASLt and, for
 * TunableOp, rocBLAS (their libraries and benchmark programs). Rows of one cache mode are compared,
 * the first of weights-cold, cold, warm that the key has. Keys that differ in what a form has no
 * place for (alpha, beta, strides, …) would be one line: the one with the most time (calls times
 * mean) is. A line has the solution number of its row (column `solution`): a key whose fastest row
 * has none is left out and counted, and nothing is guessed. rocBLAS's own choice has none.
 *
 * A number means something for one build of hipBLASLt and one device. Rows with numbers of two are
 * refused (-EINVAL).
 *
 * TunableOp. Source: PyTorch, aten/src/ATen/cuda/tunable/ README.md, Tunable.cpp (ReadFile),
 * GemmCommon.h (Signature), TunableGemm.h (TypeName), GemmHipblaslt.h, TunableOp.h; of 2.6 and
 * later, which have leading dimensions in the parameters.
 *
 *	Validator,PT_VERSION,2.6.0
 *	GemmTunableOp_Half_TN,tn_4096_32_1024_ld_1024_1024_4096,Gemm_Hipblaslt_4993,0.0123
 *	GemmStridedBatchedTunableOp_float_NT,nt_8_8_8_B_12_ld_8_8_8,Gemm_Hipblaslt_77,0.01
 *
 * Sizes are column-major, as keys have them; the time is in ms. The operator is that of the type of
 * all operands: Half, BFloat16, float, tf32 (float where TF32 is allowed). A solution that PyTorch
 * does not find ends the program with an error, so there is no line for what it does not offer
 * hipBLASLt for (complex), or not in each version (double; float with both operands transposed).
 * Epilogues, scales and mixed types are other operators. PyTorch reads no line unless the file's
 * validators are exactly its own.
 *
 * hipBLASLt (HIPBLASLT_TUNING_OVERRIDE_FILE). Source: hipBLASLt, library/src/amd_detail/rocblaslt/
 * src/UserDrivenTuningParser.cpp, library/src/amd_detail/hipblaslt.cpp, clients/common/include/
 * argument_model.hpp.
 *
 *	Git Version: a1b2c3
 *	transA,transB,grouped_gemm,batch_count,m,n,k,…,solution_index,gcnArchName,CUs
 *	T,N,0,1,4096,32,1024,…,4993,,0
 *
 * A line of names and a line of values for each product. There were three readers: one takes 37
 * values by their place and the number from the 35th, one finds eleven columns by their names, in
 * this order, one finds them by their names in any order. Lines here have the 37 columns, so all
 * three read them. They compare transposition, sizes, batch and types; what is not known, and
 * compared by none (architecture, compute units), is empty or 0. The first line must be the
 * revision of the library that reads it. Older readers take no number 0.
 */
#ifndef PROFRIG_BENCH_TUNING_H
#define PROFRIG_BENCH_TUNING_H

#include <stdio.h>

#include "profrig/bench/bench_tables.h"

/* ---- revisions of hipBLASLt ---- */

#define BENCH_REVISION_MAX 100
/* Not empty, not too long, letters, digits, '.', '_', '+' and '-' alone. */
bool bench_revision_is_one(const char *text);

/* ---- validators of PyTorch ---- */

#define BENCH_VALIDATORS_FILE_MAX ((size_t)16 << 20)
#define BENCH_VALIDATORS_MAX 64

struct bench_validators {
	VEC(struct bench_validator { char *name, *value; }) v;
};
/* clang-format off */
#define BENCH_VALIDATORS_INIT { .v = VEC_INIT }
/* clang-format on */

/*
 * The validators of a file that TunableOp wrote; its other lines are not looked at. -EINVAL, with
 * the line: one is damaged, stands twice, or there is none; -EFBIG; or it cannot be read.
 */
int bench_validators_read(const char *path, struct bench_validators *ret, struct err *err);
/* The same of n bytes; path is for errors. */
int bench_validators_parse(const char *text, size_t n, const char *path,
			   struct bench_validators *ret, struct err *err);
const char *bench_validators_find(const struct bench_validators *v, const char *name); /* or NULL */
void bench_validators_release(struct bench_validators *v);

/* ---- tables ---- */

enum bench_tuning_form { BENCH_TUNABLEOP, BENCH_HIPBLASLT_TUNING };

struct bench_tuning_line {
	const struct bench_table_row *row; /* of the tables */
	const char *place;                 /* what the form calls this product */
};

struct bench_tuning_left {
	const char *reason; /* behind "N keys are left out: " */
	size_t keys;
	uint64_t calls;
};

struct bench_tuning {
	enum bench_tuning_form form;
	VEC(struct bench_tuning_line) lines; /* in the order of the keys */
	VEC(struct bench_tuning_left) left;
	struct intern *places;
	char revision[BENCH_REVISION_MAX + 1]; /* of the numbers; "" not told */
	char version[BENCH_REVISION_MAX + 1];  /* "1.0.1-a1b2c3"; "" not told */
};
/* clang-format off */
#define BENCH_TUNING_INIT { .lines = VEC_INIT, .left = VEC_INIT, .places = NULL }
/* clang-format on */

/* The tables must live as long as ret. */
int bench_tuning_choose(const struct bench_tables *t, enum bench_tuning_form form,
			struct bench_tuning *ret, struct err *err);
void bench_tuning_release(struct bench_tuning *u);

/*
 * TunableOp: without validators HIPBLASLT_VERSION alone is written, where it is known. hipBLASLt:
 * the revision must not be NULL. What the other form needs is not looked at.
 */
void bench_tuning_write(const struct bench_tuning *u, const struct bench_validators *validators,
			const char *revision, FILE *f);

#endif
