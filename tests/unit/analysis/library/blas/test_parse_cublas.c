#include "library_mangle.h"

#include "profrig/base/strbuf.h"

#define OPEN_OF(function) "I! cuBLAS (v13.4.1) function cublasStatus_t " function "(…, int) called:"
#define OPEN(function) OPEN_OF(function) "\n"
#define HANDLE "i!  handle: type=cublasHandle_t; val=POINTER (IN HEX:0x0x2d3c1100)\n"
#define PROCESS_OF(pid, mode) \
	"i! Time: 2026-09-11T18:38:49 elapsed from start 0.016667 minutes or 1.000000 seconds\n" \
	"i!Process=" pid "; Thread=129943171284992; GPU=0; Handle=POINTER (IN HEX:0x0x2d3c1100); " \
	"StreamId=POINTER (IN HEX:0x(nil)) (defaultStream); MathMode=" mode
#define CLOSE_OF(pid, mode) \
	PROCESS_OF(pid, mode) \
	"\ni! COMPILED WITH: GNU GCC/G++ / 8.5.0 20210514 (Red Hat 8.5.0-26)\n"
#define CLOSE CLOSE_OF("14102", "CUBLAS_DEFAULT_MATH")
#define INT(name, v) "i!  " name ": type=int; val=" v "\n"
#define POINTER(name, type, v) "i!  " name ": type=" type "; val=POINTER (IN HEX:0x0x" v ")\n"
#define ENUM(name, v) "i!  " name ": type=cublasOperation_t; val=" v "\n"
#define TN ENUM("transa", "CUBLAS_OP_T(1)") ENUM("transb", "CUBLAS_OP_N(0)")
#define SGEMM_ARGS(a) \
	HANDLE TN INT("m", "64") INT("n", "32") INT("k", "16") POINTER("alpha", "float", "7ffd") \
		POINTER("A", "float", a) INT("lda", "16") POINTER("B", "float", "5") \
			INT("ldb", "16") POINTER("beta", "float", "7ffe") \
				POINTER("C", "float", "6") INT("ldc", "64")
#define SGEMM OPEN("cublasSgemm_v2") SGEMM_ARGS("504e20400") CLOSE
#define SGEMM_LINES 18
#define KEY_OF(compute) \
	"gemm ta=T tb=N m=64 n=32 k=16 a=f32 b=f32 c=f32 d=f32 compute=" compute \
	" lda=16 ldb=16 ldc=64 ldd=64"
#define KEY KEY_OF("f32")
#define FLOPS 65536
#define INFO_BLOCK(function) OPEN(function) HANDLE CLOSE

TEST(blocks)
{
	CLEANUP(logged_release)
	struct logged l = logged_of(
		INFO_BLOCK("cublasCreate_v2") SGEMM OPEN("cublasSgemm_v2_64") SGEMM_ARGS("1")
			CLOSE_OF("7", "CUBLAS_DEFAULT_MATH") "training step 1\n" OPEN(
				"cublasSgemm_v2") SGEMM_ARGS("2")
				CLOSE_OF("7", "CUBLAS_TF32_TENSOR_OP_MATH") OPEN("cublasSgemm_v2")
					SGEMM_ARGS("2") CLOSE_OF("7", "CUBLAS_PEDANTIC_MATH")
						INFO_BLOCK("cublasSetStream_v2")
							INFO_BLOCK("cublasDestroy_v2"));

	assert_int_equal(l.n.records, 4);
	assert_int_equal(l.n.foreign, 1);
	assert_int_equal(l.n.torn + l.n.bad + l.n.doubled, 0);
	assert_int_equal(l.n.info, l.n.lines - 5);
	assert_row(&l, KEY, "sgemm", 2, FLOPS);
	assert_row(&l, KEY_OF("tf32"), "sgemm", 1, FLOPS);
	assert_row(&l, KEY " math=CUBLAS_PEDANTIC_MATH", "sgemm", 1, FLOPS);
	assert_string_equal(l.calls->rows.v[0].library, "cublas");
	assert_true(l.calls->rows.v[0].several_pids);
	assert_int_equal(l.calls->rows.v[1].pid, 7);
	assert_true(l.calls->rows.v[0].first_ns == INT64_C(1789151929000000000));
}

/* The text of a row is one line, which is a record again. */
TEST(config_is_a_record)
{
	CLEANUP(logged_release) struct logged l = logged_of(SGEMM);
	char text[2000];

	snprintf(text, sizeof(text), "%s\n", l.calls->rows.v[0].config);
	assert_null(memchr(l.calls->rows.v[0].config, '\n', strlen(l.calls->rows.v[0].config)));
	CLEANUP(logged_release) struct logged again = logged_of(text);
	assert_int_equal(again.n.records, 1);
	assert_row(&again, KEY, "sgemm", 1, FLOPS);
}

#define DATA(name, v) "i!  " name ": type=cudaDataType_t; val=" v "\n"
#define SIZES INT("m", "8") INT("n", "4") INT("k", "2")
#define EX(compute) \
	OPEN("cublasGemmEx") \
	HANDLE TN SIZES DATA("Atype", "CUDA_R_16F(2)") INT("lda", "2") \
		DATA("Btype", "CUDA_R_16F(2)") INT("ldb", "2") DATA("Ctype", "CUDA_R_32F(0)") \
			INT("ldc", "8") compute \
		"i!  algo: type=SOME TYPE; val=CUBLAS_GEMM_DEFAULT(-1)\n" CLOSE
#define STRIDED \
	TN SIZES INT("lda", "2") "i!  strideA: type=long long; val=16\n" INT( \
		"ldb", \
		"2") "i!  strideB: type=long long; val=0\n" INT("ldc", \
								"8") "i!  strideC: type=long " \
								     "long; val=32\n" INT("batchC" \
											  "ount", \
											  "3")
#define SIDE(name, v) "i!  " name ": type=cublasX_t; val=" v "\n"

TEST(families)
{
	static const struct {
		const char *text, *key, *operation;
		int64_t flops; /* -1: unknown */
	} cases[] = {
		{ EX("i!  computeType: type=cublasComputeType_t; val=CUBLAS_COMPUTE_32F(68)\n"),
		  "gemm ta=T tb=N m=8 n=4 k=2 a=f16 b=f16 c=f32 d=f32 compute=f32 lda=2 ldb=2 "
		  "ldc=8 "
		  "ldd=8",
		  "gemm_ex", 128 },
		{ EX("i!  computeType: type=cudaDataType_t; val=CUDA_R_32F(0)\n"),
		  "gemm ta=T tb=N m=8 n=4 k=2 a=f16 b=f16 c=f32 d=f32 compute=f32 lda=2 ldb=2 "
		  "ldc=8 "
		  "ldd=8",
		  "gemm_ex", 128 },
		{ EX("i!  computeType: type=cublasComputeType_t; "
		     "val=CUBLAS_COMPUTE_32F_FAST_16F(74)\n"),
		  "gemm ta=T tb=N m=8 n=4 k=2 a=f16 b=f16 c=f32 d=f32 compute=f32 lda=2 ldb=2 "
		  "ldc=8 "
		  "ldd=8 compute_mode=fast_16f",
		  "gemm_ex", 128 },
		{ OPEN("cublasDgemmStridedBatched") STRIDED CLOSE,
		  "gemm ta=T tb=N m=8 n=4 k=2 batch=3 a=f64 b=f64 c=f64 d=f64 compute=f64 lda=2 "
		  "ldb=2 ldc=8 ldd=8 stride_a=16 stride_b=0 stride_c=32 stride_d=32",
		  "dgemm_strided_batched", 384 },
		{ OPEN("cublasCgemmBatched") TN SIZES INT("lda", "2") INT("ldb", "2")
			  INT("ldc", "8") INT("batchCount", "3") CLOSE,
		  "gemm ta=T tb=N m=8 n=4 k=2 batch=3 by=pointers a=f32c b=f32c c=f32c d=f32c "
		  "compute=f32c lda=2 ldb=2 ldc=8 ldd=8",
		  "cgemm_batched", 1536 },
		{ OPEN("cublasSgemv_v2") ENUM("trans", "CUBLAS_OP_N(0)") INT("m", "8") INT("n", "4")
			  INT("lda", "8") INT("incx", "1") INT("incy", "1") CLOSE,
		  "gemv trans=N m=8 n=4 type=f32 lda=8 incx=1 incy=1", "sgemv", 64 },
		{ OPEN("cublasDtrsm_v2") SIDE("side", "CUBLAS_SIDE_LEFT(0)")
			  SIDE("uplo", "CUBLAS_FILL_MODE_UPPER(1)") SIDE("trans", "CUBLAS_OP_N(0)")
				  SIDE("diag", "CUBLAS_DIAG_NON_UNIT(0)") INT("m", "8")
					  INT("n", "4") INT("lda", "8") INT("ldb", "8") CLOSE,
		  "trsm side=L uplo=U trans=N diag=N m=8 n=4 type=f64 lda=8 ldb=8", "dtrsm", 256 },
		{ OPEN("cublasScnrm2_v2") INT("n", "100") INT("incx", "2") CLOSE,
		  "nrm2 n=100 type=f32c incx=2", "scnrm2", 800 },
		{ OPEN("cublasIsamax_v2") INT("n", "100") INT("incx", "1") CLOSE,
		  "iamax n=100 type=f32 incx=1", "isamax", 0 },
		{ OPEN("cublasAxpyEx") INT("n", "100") DATA("alphaType", "CUDA_R_32F(0)")
			  DATA("xType", "CUDA_R_16F(2)") INT("incx", "1") INT("incy", "1") CLOSE,
		  "axpy n=100 type=f16 incx=1 incy=1 alphaType=CUDA_R_32F", "axpy_ex", 200 },
		{ OPEN("cublasSgeam") TN INT("m", "8") INT("n", "4") INT("lda", "8") INT("ldb", "8")
			  INT("ldc", "8") CLOSE,
		  "geam trans=T m=8 n=4 type=f32 lda=8 ldb=8 ldc=8", "sgeam", -1 },
		{ OPEN("cublasSgemmGroupedBatched") INT("group_count", "3") CLOSE,
		  "gemm sizes=unknown a=f32 group_count=3", "sgemm_grouped_batched", -1 },
		/* old releases log no arguments */
		{ "I! cuBLAS (v10.0) function cublasSgemm called:\n" CLOSE,
		  "gemm sizes=unknown a=f32", "sgemm", -1 },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(logged_release) struct logged l = logged_of(cases[i].text);
		const struct library_row *r = l.calls->rows.v;

		if (l.calls->rows.nr != 1 || strcmp(r->key, cases[i].key) != 0 ||
		    strcmp(r->operation, cases[i].operation) != 0 ||
		    r->flops != (cases[i].flops < 0 ? LIBRARY_UNKNOWN : (uint64_t)cases[i].flops))
			ROW_FAIL(i, "%s '%s' %s", l.calls->rows.nr ? r->operation : "no call",
				 l.calls->rows.nr ? r->key : "", l.n.torn_text);
	}
}

/* What begins or ends inside of a block, and what two ranks wrote at the same time. */
TEST(torn)
{
#define HALF OPEN("cublasSgemm_v2") HANDLE TN INT("m", "64") INT("n", "32")
#define HALF_END INT("k", "16") INT("lda", "16") INT("ldb", "16") INT("ldc", "64") CLOSE
	static const struct {
		const char *text;
		int records, torn;
	} cases[] = {
		{ HALF_END SGEMM, 1, 1 },
		{ CLOSE SGEMM, 1, 1 },
		{ SGEMM HALF, 1, 1 },
		{ HALF SGEMM, 1, 1 },
		{ HALF OPEN("cublasSgemm_v2"), 0, 2 },
		/* all sizes, then the end: whole */
		{ OPEN("cublasSgemm_v2") SGEMM_ARGS("1"), 1, 0 },
		/* the last number may have lost digits */
		{ OPEN("cublasSgemm_v2") TN INT("m", "64") INT("n", "32") INT("k", "16")
			  INT("lda", "16") INT("ldb", "16") "i!  ldc: type=int; val=64",
		  0, 1 },
		/* the rest of the first is inside of the second, or behind it */
		{ HALF OPEN("cublasSgemm_v2") HALF_END SGEMM_ARGS("1") CLOSE, 0, 3 },
		{ HALF SGEMM HALF_END, 1, 2 },
		{ HALF OPEN("cublasSgemm_v2") SGEMM_ARGS("1") INT("k", "16") CLOSE, 0, 2 },
		/* of another precision */
		{ OPEN("cublasDgemm_v2") SGEMM_ARGS("1") CLOSE, 0, 1 },
		{ OPEN("cublasSgemm_v2") HANDLE CLOSE, 0, 1 },
		/* no arguments, in a log that has them */
		{ SGEMM OPEN("cublasSgemm_v2") CLOSE, 1, 1 },
		{ "I! cuBLAS (v13.4.1) function cublasStatus_t cubl\n" SGEMM, 1, 1 },
		{ HALF "i!  k: type=int; val=\n" HALF_END, 0, 1 },
		{ HALF INT("k", "1,6") INT("lda", "64") INT("ldb", "64") INT("ldc", "64") CLOSE, 0,
		  1 },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(logged_release) struct logged l = logged_of(cases[i].text);

		if ((int)l.n.records != cases[i].records || (int)l.n.torn != cases[i].torn ||
		    l.n.bad + l.n.doubled + l.n.foreign != 0 ||
		    l.n.records + l.n.torn + l.n.info != l.n.lines)
			ROW_FAIL(i, "%d records, %d torn, %d foreign: %s", (int)l.n.records,
				 (int)l.n.torn, (int)l.n.foreign, l.n.torn_text);
	}
}

TEST(bad_sizes)
{
	CLEANUP(logged_release)
	struct logged l =
		logged_of(OPEN("cublasSgemm_v2") TN INT("m", "-64") INT("n", "32") INT("k", "16")
				  INT("lda", "16") INT("ldb", "16") INT("ldc", "64")
					  CLOSE OPEN("cublasSgemm_v2") TN INT("m", "64")
						  INT("n", "32") INT("k", "16") INT("lda", "15")
							  INT("ldb", "16") INT("ldc", "64") CLOSE);

	assert_int_equal(l.n.bad, 2);
	assert_int_equal(l.calls->rows.nr, 0);
	assert_has(l.n.bad_text, "line 1: m=-64 is no size: I! cuBLAS");
}

/* CR LF, stamps of a build server in front, other text between; "i!" in prose is none of it. */
TEST(surroundings)
{
#define CI "2025-01-06T09:18:22.6647785Z "
	CLEANUP(logged_release)
	struct logged l = logged_of(
		"Hi! this is\n  say i! and w! and go\n" CI
		"I! cuBLAS (v11.0) function cublasStatus_t cublasSgemm_v2(...) called:\r\n" CI
		"i!  transa: type=cublasOperation_t; val=CUBLAS_OP_T(1)\r\n" CI
		"i!  transb: type=cublasOperation_t; val=CUBLAS_OP_N(0)\r\n" CI
		"i!  m: type=int; val=64\r\n" CI "i!  n: type=int; val=32\r\nprogress 10 %\r\n" CI
		"i!  k: type=int; val=16\r\n" CI "i!  lda: type=int; val=16\r\n" CI
		"i!  ldb: type=int; val=16\r\n" CI "i!  ldc: type=int; val=64\r\n" CI
		"i! Time: 2025-01-06T09:16:35 elapsed\r\n" CI
		"E! cuBLAS (v11.0) function x() called:\r\n" CI "e!  Error: y\r\n");

	assert_counts(&l, 1, 0, 11, 0, 0, 3);
	assert_row(&l, KEY, "sgemm", 1, FLOPS);
}

/* What cuBLAS hands on is logged behind its block, before the next one begins. */
TEST(handed_on)
{
	CLEANUP(logged_release)
	struct logged l = logged_of(
		SGEMM
		"[2023-04-07 04:57:13][cublasLt][8291][Trace][cublasLtSSSMatmul] A=0X1 "
		"Adesc=[type=R_32F rows=16 cols=64 ld=16] B=0X1 Bdesc=[type=R_32F rows=16 cols=32 "
		"ld=16] C=0X1 Cdesc=[type=R_32F rows=64 cols=32 ld=64] D=0X1 Ddesc=[type=R_32F "
		"rows=64 cols=32 ld=64] computeDesc=[computeType=COMPUTE_32F scaleType=R_32F "
		"transa=OP_T] beta=0 outOfPlace=0 stream=0X7EB04D0\n" SGEMM);

	assert_int_equal(l.n.records, 3);
	assert_int_equal(library_calls_totals(l.calls).nested, 1);
	assert_int_equal(library_calls_totals(l.calls).flops, 2 * FLOPS);
	assert_string_equal(l.calls->rows.v[1].library, "cublaslt");
	assert_string_equal(l.calls->rows.v[1].operation, "sssmatmul");
	assert_int_equal(l.calls->rows.v[1].caller, 0);
}

TEST(recordings)
{
	static const struct {
		const char *name;
		int records, flops, pid;
	} cases[] = { { "liblog/cublas-lora/lora-cublas.log", 3, 16, 14102 },
		      { "liblog/cublas-lora/qlora-cublas.log", 2, 20, 14151 } };

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(logged_release) struct logged l = { .calls = library_calls_new() };

		CLEANUP(xfreep) char *path = test_trace(cases[i].name);

		assert_int_equal(library_log_read(path, l.calls, &l.n, NULL), 0);
		assert_int_equal(l.n.records, cases[i].records);
		assert_int_equal(l.n.records + l.n.info, l.n.lines);
		assert_int_equal(l.calls->rows.nr, cases[i].records);
		assert_int_equal(library_calls_totals(l.calls).flops, cases[i].flops);
		for (size_t k = 0; k < l.calls->rows.nr; k++) {
			assert_string_equal(l.calls->rows.v[k].operation, "sgemm");
			assert_int_equal(l.calls->rows.v[k].pid, cases[i].pid);
		}
	}
}

TEST(mangled)
{
	assert_survives(SGEMM INFO_BLOCK("cublasDestroy_v2"), 3);
}

/* Each line of a block behind a prefix. */
static char *prefixed_by(const char *prefix, const char *text)
{
	struct strbuf sb = STRBUF_INIT;

	for (const char *line = text; *line;) {
		size_t n = strcspn(line, "\n") + 1;

		strbuf_addstr(&sb, prefix);
		strbuf_add(&sb, line, n);
		line += n;
	}
	return sb.buf;
}

/* What launchers and progress bars leave in front of a line does not always end in a blank. */
TEST(prefixes)
{
	static const char *const prefixes[] = { "[1,0]<stderr>:", "loss 0.5", "\x1b[A\x1b[2K",
						"rank0>",         "step",     "7%| |" };

	for (size_t i = 0; i < ARRAY_LEN(prefixes); i++) {
		CLEANUP(xfreep) char *text = prefixed_by(prefixes[i], SGEMM SGEMM);
		CLEANUP(logged_release) struct logged l = logged_of(text);

		if (l.n.records != 2 || l.n.info != l.n.lines - 2)
			ROW_FAIL(i, "%d records, %d info, %d torn", (int)l.n.records, (int)l.n.info,
				 (int)l.n.torn);
		assert_row(&l, KEY, "sgemm", 2, FLOPS);
		assert_int_equal(l.calls->rows.v[0].pid, 14102);
	}
}

/* A block that begins at the end of a line, wherever the block before is. */
TEST(glued_blocks)
{
	static const struct {
		const char *text;
		int records, torn;
	} cases[] = {
		{ "loss 0.5" SGEMM, 1, 0 },
		{ "i! COMPILED WITH: GNU GCC/G++ / 8.5.0 20210514 (Red Hat 8.5.0-26)" SGEMM, 1, 0 },
		{ OPEN_OF("cublasSgemm_v2") SGEMM, 1, 1 },
		{ OPEN("cublasSgemm_v2") "i!  m: type=int; val=64" SGEMM, 1, 1 },
		{ OPEN("cublasSgemm_v2") SGEMM_ARGS("2") PROCESS_OF("7", "CUBLAS_DEFAULT_MATH")
			  SGEMM,
		  2, 0 },
		{ "hi! there: x\nHi! cuBLAS is fast: 5\n<b>hi! x=5\nAhoi!  name: y\n", 0, 0 },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(logged_release) struct logged l = logged_of(cases[i].text);

		if ((int)l.n.records != cases[i].records || (int)l.n.torn != cases[i].torn)
			ROW_FAIL(i, "%d records, %d torn", (int)l.n.records, (int)l.n.torn);
		if (cases[i].records)
			assert_row(&l, KEY, "sgemm", cases[i].records, FLOPS);
		else
			assert_int_equal(l.n.foreign, l.n.lines);
	}
}

/* The mode of arithmetic is known where another block is glued to it. */
TEST(glued_mode)
{
	CLEANUP(logged_release)
	struct logged l = logged_of(OPEN("cublasSgemm_v2") SGEMM_ARGS("2")
					    PROCESS_OF("7", "CUBLAS_TF32_TENSOR_OP_MATH") SGEMM);

	assert_row(&l, KEY, "sgemm", 1, FLOPS);
	assert_row(&l, KEY_OF("tf32"), "sgemm", 1, FLOPS);
}

/* The batch of a factorisation has another name. */
TEST(factorisation)
{
	CLEANUP(logged_release)
	struct logged l = logged_of(OPEN("cublasSgetrfBatched") HANDLE INT("n", "30")
					    INT("lda", "30") INT("batchSize", "2") CLOSE);

	assert_row(&l, "getrf n=30 batch=2 by=pointers type=f32 lda=30", "sgetrf_batched", 1,
		   36000);
}
