/*
 * vendor: what the files of this folder share: a key as typed numbers, and the contract of a
 * program.
 *
 *	key → vendor_request_read → struct vendor_request → program's argv → its output → read
 *
 * Every number in a request is in a range that was checked, and every word in it is one of a list
 * or made of letters and digits (`layout`), so that argv may print them as they are.
 *
 * Errors of vendor_request_read and argv: -EINVAL the key is damaged or no library executes such a
 * call, -ERANGE it is too large, -ENOTSUP the program has no options for it. Errors of read:
 * -ENOTSUP the program says that it has no such call, -EDOM it says that the result is wrong, any
 * other: no result, or that of another problem.
 */
#ifndef VENDOR_H
#define VENDOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profrig/base/err.h"
#include "profrig/base/strbuf.h"
#include "profrig/base/strvec.h"
#include "profrig/bench/bench_key.h"
#include "profrig/bench/bench_vendor.h"

#define VENDOR_SIZE_MAX (INT64_C(1) << 48)
#define VENDOR_RANKS_MAX 65536
#define VENDOR_DIMS 3 /* depth, height, width; the last `dims` of an array count */

/* ---- types of elements ---- */

/* Their names in keys and in the options of each program; NULL: the program has no such type. */
struct vendor_type {
	const char *name;
	unsigned bits;
	bool complex, integer;
	const char *rocblas, *hipblaslt, *miopen, *nccl, *rccl, *dnn, *cutlass;
};
const struct vendor_type *vendor_type(const char *name); /* NULL: none */

/* ---- keys ---- */

enum { MATRIX_A, MATRIX_B, MATRIX_C, MATRIX_D, MATRICES };

/* Column-major; what the key leaves open is filled in. */
struct vendor_gemm {
	char ta, tb; /* N T C */
	bool pointers;
	int64_t m, n, k, batch;
	int64_t ld[MATRICES], stride[MATRICES]; /* of a batch of 1: that of packed matrices */
	const struct vendor_type *type[MATRICES], *compute;
	double alpha[2], beta[2];
	/* of the Lt libraries */
	const char *lt_word; /* the first word of these in the key; NULL none */
	const char *activation, *mode;
	bool bias, aux, scale_alpha;
	const struct vendor_type *bias_type, *scale_type; /* NULL: not told */
	int64_t scale[MATRICES];                          /* 0 none, 1 one factor, 2 a vector */
};
int64_t vendor_gemm_rows(const struct vendor_gemm *g, int matrix); /* as stored */
int64_t vendor_gemm_cols(const struct vendor_gemm *g, int matrix);
/* Neither leading dimensions nor strides leave holes. */
bool vendor_gemm_is_packed(const struct vendor_gemm *g);
/* Its arithmetic in hipBLASLt's words: "f32_r", "xf32_r", "f32_f16_r"; NULL: it has no such. */
const char *vendor_hipblaslt_compute(const struct vendor_gemm *g);

enum { DIR_FWD = 1, DIR_BWD_DATA = 2, DIR_BWD_WEIGHTS = 4 };

struct vendor_conv {
	unsigned directions; /* a sum of these */
	bool transposed, bias, inference;
	int dims;
	int64_t n, c, k, groups;
	int64_t in[VENDOR_DIMS], filter[VENDOR_DIMS], pad[VENDOR_DIMS], stride[VENDOR_DIMS];
	int64_t dilation[VENDOR_DIMS], out[VENDOR_DIMS], out_pad[VENDOR_DIMS];
	const struct vendor_type *x, *w, *y, *bias_type;
	char layout[100];      /* letters, digits, '.' and ','; "" not told */
	const char *algorithm; /* "direct", "winograd", "auto"; NULL not told */
	char strange[48];      /* a part of `with` that has no place here; "" none */
};

struct vendor_collective {
	const char *name, *program; /* "all_reduce_perf" */
	bool reduces, root_told, of_ranks;
	int64_t count, nranks, root;
	const struct vendor_type *type;
	const char *redop; /* "sum" */
	int64_t bytes;     /* of all ranks where the tests mean that, else of one */
};

enum vendor_family { FAMILY_GEMM, FAMILY_CONV, FAMILY_COLLECTIVE, FAMILY_DNN };

struct vendor_request {
	struct bench_key key; /* its words point into it: a request is not copied */
	enum vendor_family family;
	struct vendor_gemm gemm;
	struct vendor_conv conv;
	struct vendor_collective collective;
	double flops, bytes; /* of a call; NaN unknown */
	enum bench_cache cache;
	uint64_t iterations, warmup;
	const struct bench_vendor_end *end;
	bool probe;       /* the first, short run */
	char kernel[200]; /* that the probe found the fastest; "" none. Letters, digits, '_' */
};

int vendor_request_read(const char *key, struct vendor_request *ret, struct err *err);
/* Parts of it, of keys that have been split. */
int vendor_gemm_read(struct vendor_request *r, struct err *err);
int vendor_conv_read(struct vendor_request *r, struct err *err);
int vendor_collective_read(struct vendor_request *r, struct err *err);

/* Readers of words: min to VENDOR_SIZE_MAX. */
int vendor_size(struct bench_key *k, const char *name, int64_t otherwise, int64_t min, int64_t *ret,
		struct err *err);
/* otherwise NULL: it must be there. -ENOTSUP: no such type. */
int vendor_type_read(struct bench_key *k, const char *name, const struct vendor_type *otherwise,
		     const struct vendor_type **ret, struct err *err);
/* -ENOTSUP: a word of the key was not read. */
int vendor_all_read(const struct bench_key *k, struct err *err);
int vendor_lacks(const struct vendor_request *r, struct err *err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* ---- output ---- */

struct vendor_output {
	const char *out, *err; /* NUL-terminated */
};

struct vendor_result {
	double us; /* mean of a call */
	char version[160], kernel[200];
	int32_t solution; /* BENCH_SOLUTION_NONE: it prints none */
};

#define VENDOR_CELLS 128
struct vendor_cell {
	const char *s;
	size_t n;
};
struct vendor_cells {
	size_t nr;
	struct vendor_cell v[VENDOR_CELLS];
};
struct vendor_table {
	struct vendor_cells names, values;
};

/* The next line, without its end; at is moved behind it. False: there is none. */
bool vendor_line(const char **at, struct vendor_cell *ret);
bool vendor_cell_is(struct vendor_cell c, const char *word);
bool vendor_cell_begins(struct vendor_cell c, const char *prefix);
/* Splits at commas, or at blanks (sep ' '); cells are trimmed. */
void vendor_split(struct vendor_cell line, char sep, struct vendor_cells *ret);
/*
 * The first line that has a cell `must`, as names, and the next line that is not empty, as values.
 * -ENODATA: there is none; -EPROTO: the second has another number of cells.
 */
int vendor_table_read(const char *text, const char *must, struct vendor_table *ret,
		      struct err *err);
const struct vendor_cell *vendor_value(const struct vendor_table *t,
				       const char *name); /* or NULL */
/* Finite and more than 0; -EPROTO. */
int vendor_positive(struct vendor_cell c, const char *name, double *ret, struct err *err);
/* 0 where there is no such column; -EPROTO: it has another value. */
int vendor_expect(const struct vendor_table *t, const char *name, int64_t want, struct err *err);
int vendor_expect_word(const struct vendor_table *t, const char *name, const char *want,
		       struct err *err);
/* What stands behind `prefix` on its line, up to a byte of `ends`, printable; false: no line. */
bool vendor_after(const char *text, const char *prefix, const char *ends, char *to, size_t size);
/* Without regard to case. */
bool vendor_says(const struct vendor_output *o, const char *words);
/* The line that says most of what went wrong; "" none. */
void vendor_said(const struct vendor_output *o, char *to, size_t size);

/* ---- programs ---- */

struct bench_program {
	const char *name;
	const char *const *executables; /* any of these is the program; ended by NULL */
	const char *const *folders;     /* where it lies if not in PATH; ended by NULL */
	bool amd, nvidia;               /* whose GPUs it uses */
	bool launched;                  /* by mpirun where one process is not enough */
	bool pinned;                    /* to processors, with as many threads */
	bool checks;                    /* its result */
	const char *timer, *init;
	double patience; /* times the timeout: what its start may take */
	int (*argv)(struct vendor_request *r, struct strvec *ret, struct err *err);
	int (*read)(const struct vendor_request *r, const struct vendor_output *o,
		    struct vendor_result *ret, struct err *err);
};

/* clang-format off */
#define VENDOR_DECLARE(id, name) extern const struct bench_program bench_program_##id;
BENCH_PROGRAMS(VENDOR_DECLARE)
/* clang-format on */
extern const struct bench_program *const bench_programs[]; /* ended by NULL */

/* ---- a run ---- */

/* What a program is given of an environment, with threads where it runs on processors. */
void vendor_environment(const struct bench_program *p, unsigned threads, char *const *from,
			struct strvec *to);
/* BENCH_OK with the result, else a status with its reason. */
enum bench_status vendor_run(struct vendor_request *r, const struct bench_opts *o,
			     double expected_s, struct vendor_result *ret, char *reason,
			     size_t size);

#endif
