/* What programs print, in the formats that their files name as sources, and what it means. */
#include "../../../test.h"
#include "vendor.h"

#include <math.h>

static char path[] = "/opt/x/all_reduce_perf";

struct printed {
	const struct bench_program *p;
	const char *key;
	enum bench_cache cache;
	const char *out;
	int want;         /* 0, -ENOTSUP, -EDOM, 1: any other error */
	double us;        /* of 0 */
	const char *text; /* the version, or a part of the error */
};

#define GEMM "gemm ta=N tb=T m=64 n=32 k=16 a=f32 b=f32 c=f32 d=f32 compute=f32"
#define BATCH GEMM " batch=2"
#define CONV(dir) \
	"conv dir=" dir " n=1 c=3 k=64 g=1 in=224x224 filter=3x3 pad=1x1 stride=1x1 dilation=1x1 " \
	"x=f32 w=f32 y=f32"
#define ROCBLAS &bench_program_rocblas_bench
#define LT &bench_program_hipblaslt_bench
#define MIOPEN &bench_program_miopen_driver
#define RCCL &bench_program_rccl_tests
#define DNN &bench_program_benchdnn
#define CUTLASS &bench_program_cutlass_profiler

#define ROCBLAS_HEAD \
	"Query device success: there are 1 devices\n" \
	"Device ID 0 : AMD Instinct MI300X gfx942:sramecc+:xnack-\n" \
	"rocBLAS version: 4.3.0.6a1b2c3-dirty\n\n"
#define LT_HEAD "hipBLASLt version: 1000\nhipBLASLt git version: a1b2c3\nQuery device success\n\n"
#define LT_NAMES \
	"[0]:transA,transB,grouped_gemm,batch_count,m,n,k,alpha,lda,stride_a,beta,ldb,stride_b," \
	"ldc,stride_c,ldd,stride_d,a_type,bias_type,rotating_buffer,flush,use_gpu_timer," \
	"hipblaslt-Gflops,hipblaslt-GB/s,us\n"
#define FWD \
	"MIOpen Forward Conv. Algorithm: 1, Solution: 137/ConvBinWinograd\n" \
	"GPU Kernel Time Forward Conv. Elapsed: 0.056871 ms (average)\n" \
	"stats: name, n, c, ho, wo, x, y, k, flopCnt, timeMs\n" \
	"stats: fwd-conv3x3u1, 1, 3, 224, 224, 3, 3, 64,  173408256, 0.056871\n"
#define WRW \
	"MIOpen Backward Weights Conv. Algorithm: 5, Solution: 110/ConvAsm\n" \
	"GPU Kernel Time Backward Weights Conv. Elapsed: 0.100000 ms (average)\n"
#define RANK(n) "#  Rank  " n " Group  0 Pid   5092 on host device  0 [0000:05:00] AMD Instinct\n"
#define RANKS RANK("0") RANK("1")
#define NCCL_NAMES \
	"#\n#                                   out-of-place                       in-place\n" \
	"#       size         count      type   redop    root     time   algbw   busbw #wrong    " \
	" " \
	"time   algbw   busbw #wrong\n" \
	"#        (B)    (elements)                               (us)  (GB/s)  (GB/s)           " \
	" " \
	"(us)  (GB/s)  (GB/s)\n"
#define NCCL_ROW(count, wrong) \
	"     4194304       " count \
	"     float     sum      -1    105.9    9.90   17.33      " wrong \
	"    105.7    9.92   17.37      0\n# Out of bounds values : 0 OK\n"
#define SUM2 "AllReduce count=1048576 dtype=f32 op=sum nranks=2"
#define CSV_NAMES \
	"=============================\n\nCSV " \
	"Results:\n\nProblem,Provider,OperationKind,Operation," \
	"Disposition,Status,gemm_kind,m,n,k,A,B,C,alpha,beta,batch_count,Bytes,Flops,Flops/Byte," \
	"Runtime,GB/s,GFLOPs\n"
#define CSV_ROW(kernel, disposition, m, ms) \
	"1,CUTLASS,gemm," kernel "," disposition ",success,universal," m \
	",32,16,f32:column,f32:row," \
	"f32:column,1,0,1,3221225472,8796629893120,2730," ms ",6.23,18287.4\n"
#define DNN_OUT(row, summary) \
	"Output template: perf,%impl%,%-time%,%0time%\n" row "tests:1 " summary " listed:0\n" \
	"total perf: min(ms):0.0012207 avg(ms):0.00159982\n"
#define PASSED "passed:1 skipped:0 mistrusted:0 unimplemented:0 invalid_arguments:0 failed:0"

static const struct printed prints[] = {
	{ ROCBLAS, GEMM, BENCH_WARM,
	  ROCBLAS_HEAD "transA,transB,M,N,K,alpha,lda,beta,ldb,ldc,rocblas-Gflops,us\n"
		       "N,T,64,32,16,1,64,0,32,64, 8.09086, 8.1\n",
	  0, 8.1, "4.3.0.6a1b2c3-dirty" },
	/* another order, more columns, CR LF, a cell with a blank */
	{ ROCBLAS, GEMM, BENCH_WARM,
	  "us,new,transB,transA,K,N,M,CPU-us\r\n 2.5, x y ,T,N,16,32,64,nan\r\n", 0, 2.5, "" },
	{ ROCBLAS, GEMM, BENCH_WARM, "rocblas-Gflops,us\n1,1e3\n", 0, 1000, "" },
	{ ROCBLAS, BATCH, BENCH_WARM,
	  ROCBLAS_HEAD "rocblas-bench INFO: stride_c < min_stride_c, set stride_c = 2048\n"
		       "transA,transB,M,N,K,stride_c,batch_count,us\nN,T,64,32,16,2048,2,8.1\n",
	  1, 0, "another problem: stride_c < min_stride_c, set stride_c = 2048" },
	{ ROCBLAS, BATCH, BENCH_WARM, "M,N,K,stride_a,batch_count,us\n64,32,16,9999,2,8.1\n", 1, 0,
	  "another problem: stride_a is 9999 and not 1024" },
	{ ROCBLAS, GEMM, BENCH_WARM, "M,N,K,us\n65,32,16,8.1\n", 1, 0, "M is 65 and not 64" },
	{ ROCBLAS, GEMM, BENCH_WARM, "transA,us\nT,8.1\n", 1, 0, "transA is T and not N" },
	{ ROCBLAS, GEMM, BENCH_WARM, "M,us\n64\n", 1, 0, "1 cells below 2 names" },
	{ ROCBLAS, GEMM, BENCH_WARM, "M,us\n", 1, 0, "no row" },
	{ ROCBLAS, GEMM, BENCH_WARM, "M,us\n64,nan\n", 1, 0, "its us is 'nan'" },
	{ ROCBLAS, GEMM, BENCH_WARM, "M,us\n64,inf\n", 1, 0, "its us is 'inf'" },
	{ ROCBLAS, GEMM, BENCH_WARM, "M,us\n64,-1\n", 1, 0, "its us is '-1'" },
	{ ROCBLAS, GEMM, BENCH_WARM, "M,us\n64,0\n", 1, 0, "its us is '0'" },
	{ ROCBLAS, GEMM, BENCH_WARM, "M,us\n64,8,1\n", 1, 0, "3 cells below 2 names" },
	{ ROCBLAS, GEMM, BENCH_WARM, "", 1, 0, "no column 'us'" },
	{ ROCBLAS, GEMM, BENCH_WARM,
	  "rocBLAS status error: Expected rocblas_status_success, received "
	  "rocblas_status_not_implemented\n",
	  -ENOTSUP, 0, "no such call" },

	{ LT, GEMM, BENCH_WARM,
	  LT_HEAD LT_NAMES "    N,T,0,1,64,32,16,1,64,1024,0,32,512,64,2048,64,2048,f32_r,"
			   "non-supported type,0,0,1,403.298,17.6063,10.4\n",
	  0, 10.4, "1000-a1b2c3" },
	{ LT, GEMM, BENCH_COLD,
	  LT_NAMES "    N,T,0,1,64,32,16,1,64,1024,0,32,512,64,2048,64,2048,f32_r,f32_r,512,0,1,1,"
		   "1,10.4\n",
	  0, 10.4, "" },
	{ LT, GEMM, BENCH_COLD,
	  LT_NAMES "    N,T,0,1,64,32,16,1,64,1024,0,32,512,64,2048,64,2048,f32_r,f32_r,0,0,1,1,1,"
		   "10.4\n",
	  1, 0, "rotating_buffer is 0 and not 512" },
	/* replaced without a word */
	{ LT, BATCH " stride_c=64 stride_d=64", BENCH_WARM,
	  LT_NAMES "    N,T,0,2,64,32,16,1,64,1024,0,32,512,64,2048,64,2048,f32_r,f32_r,0,0,1,1,1,"
		   "10.4\n",
	  1, 0, "stride_c is 2048 and not 64" },
	{ LT, GEMM " lda=70", BENCH_WARM,
	  LT_NAMES "    N,T,0,1,64,32,16,1,64,1024,0,32,512,64,2048,64,2048,f32_r,f32_r,0,0,1,1,1,"
		   "10.4\n",
	  1, 0, "lda is 64 and not 70" },
	{ LT, GEMM, BENCH_WARM, LT_HEAD "NO solution found!\n", -ENOTSUP, 0, "no kernel" },

	{ MIOPEN, CONV("fwd"), BENCH_WARM,
	  "MIOpenDriver conv -n 1\nPRNG seed: 12345678\nTimestamp: x; MIOpen Driver: 3.5.1; CPU "
	  "Vendor: AMD\n" FWD,
	  0, 56.871, "3.5.1, 137/ConvBinWinograd" },
	{ MIOPEN, CONV("fwd+bwd_weights"), BENCH_WARM, FWD WRW, 0, 156.871, "137/ConvBinWinograd" },
	{ MIOPEN, CONV("bwd_data"), BENCH_WARM, FWD WRW, 1, 0, "no time of 'Backward Data Conv.'" },
	{ MIOPEN, CONV("fwd"), BENCH_WARM, "RunForwardGPU() FAILED, rc = 0x7\n" FWD, 1, 0,
	  "failed" },
	{ MIOPEN, CONV("fwd"), BENCH_WARM,
	  "The supplied solution id is not applicable to the current problem\n", -ENOTSUP, 0,
	  "no algorithm" },
	{ MIOPEN, CONV("fwd"), BENCH_WARM,
	  "GPU Kernel Time Forward Conv. Elapsed: -nan ms (average)\n", 1, 0,
	  "its time is '-nan'" },

	{ RCCL, SUM2, BENCH_WARM,
	  RANKS "RCCL version : 2.27.7\n" NCCL_NAMES NCCL_ROW("1048576", "0"), 0, 105.9, "2.27.7" },
	{ RCCL, SUM2, BENCH_WARM, RANKS NCCL_NAMES NCCL_ROW("1048576", "N/A"), 0, 105.9, "" },
	{ RCCL, SUM2, BENCH_WARM, RANKS NCCL_NAMES NCCL_ROW("1048576", "17"), -EDOM, 0,
	  "17 elements are wrong" },
	{ RCCL, SUM2, BENCH_WARM, RANKS NCCL_NAMES NCCL_ROW("1048572", "0"), 1, 0,
	  "count is 1048572 and not 1048576" },
	{ RCCL, SUM2, BENCH_WARM, RANK("0") NCCL_NAMES NCCL_ROW("1048576", "0"), 1, 0,
	  "other ranks than the 2" },
	/* a build without MPI under mpirun */
	{ RCCL, SUM2, BENCH_WARM,
	  RANK("0") RANK("0") NCCL_NAMES NCCL_ROW("1048576", "0")
		  NCCL_NAMES NCCL_ROW("1048576", "0"),
	  1, 0, "2 tests instead of one" },
	{ RCCL, SUM2, BENCH_WARM, RANK("0") RANK("0") NCCL_NAMES NCCL_ROW("1048576", "0"), 1, 0,
	  "other ranks" },
	{ RCCL, SUM2, BENCH_WARM,
	  RANKS NCCL_NAMES "# Reducing maxBytes to 1024 due to memory limitation\n", 1, 0,
	  "no result" },
	{ RCCL, SUM2, BENCH_WARM, "Invalid number of GPUs: 2 requested but only 1 were found.\n",
	  -ENOTSUP, 0, "2 ranks cannot be had" },
	/* of 2019: other columns */
	{ RCCL, "AllGather count=1024 dtype=f32 nranks=2", BENCH_WARM,
	  "#   Rank  0 Pid 1 on h device 0 [0x05] X\n#   Rank  1 Pid 1 on h device 1 [0x06] X\n"
	  "#       size         count    type     time   algbw   busbw  error     time   algbw   "
	  "busbw  "
	  "error\n       8192          1024   float    12.50    0.65    0.33  0e+00    12.40    "
	  "0.66    "
	  "0.33  0e+00\n",
	  0, 12.5, "" },

	{ DNN, GEMM, BENCH_WARM, DNN_OUT("perf,brgemm:avx512_core,0.0012207,0.00159982\n", PASSED),
	  0, 1.59982, "brgemm:avx512_core" },
	{ DNN, GEMM, BENCH_COLD,
	  DNN_OUT("perf,ref:any,1,2\n", PASSED) "warning: cold cache is not enabled\n", 1, 0,
	  "were not cold" },
	{ DNN, GEMM, BENCH_WARM,
	  DNN_OUT("",
		  "passed:0 skipped:1 mistrusted:0 unimplemented:0 invalid_arguments:0 failed:0"),
	  -ENOTSUP, 0, "no implementation" },
	{ DNN, GEMM, BENCH_WARM,
	  DNN_OUT("perf,ref:any,1,2\n",
		  "passed:0 skipped:0 mistrusted:0 unimplemented:0 invalid_arguments:0 failed:1"),
	  1, 0, "failed" },
	{ DNN, GEMM, BENCH_WARM, DNN_OUT("perf,ref:any,1\n", PASSED), 1, 0,
	  "none of its template" },
	{ DNN, GEMM, BENCH_WARM, DNN_OUT("perf,ref:any,1,0\n", PASSED), 1, 0, "its time is '0'" },
	{ DNN, GEMM, BENCH_WARM, "perf,ref:any,1,2\n", 1, 0, "no row of figures" },

	{ CUTLASS, GEMM, BENCH_WARM,
	  CSV_NAMES CSV_ROW("cutlass_simt_sgemm_nn", "passed", "64", "0.5")
		  CSV_ROW("cutlass_simt_sgemm_best", "not_verified", "64", "0.25")
			  CSV_ROW("cutlass_simt_sgemm_bad", "incorrect", "64", "0.1"),
	  0, 250, "cutlass_simt_sgemm_best" },
	{ CUTLASS, GEMM, BENCH_WARM,
	  CSV_NAMES CSV_ROW("cutlass_simt_sgemm_bad", "incorrect", "64", "0.1"), -EDOM, 0,
	  "not that of the reference" },
	{ CUTLASS, GEMM, BENCH_WARM, CSV_NAMES, -ENOTSUP, 0, "without a kernel" },
	{ CUTLASS, GEMM, BENCH_WARM, CSV_NAMES CSV_ROW("k", "not_supported", "64", "0"), -ENOTSUP,
	  0, "without a kernel" },
	{ CUTLASS, GEMM, BENCH_WARM, CSV_NAMES CSV_ROW("k", "passed", "128", "0.5"), 1, 0,
	  "m is 128 and not 64" },
	{ CUTLASS, GEMM, BENCH_WARM, CSV_NAMES CSV_ROW("k$(id)", "passed", "64", "0.5"), -ENOTSUP,
	  0, "without a kernel" },
	{ CUTLASS, GEMM, BENCH_WARM, CSV_NAMES CSV_ROW("k", "passed", "64", "0"), 1, 0,
	  "its Runtime is '0'" },
	{ CUTLASS, GEMM, BENCH_WARM, "usage:", 1, 0, "no table" },
};

static int read_printed(const struct printed *p, const char *out, struct vendor_result *ret,
			struct err *err)
{
	struct bench_vendor_end end = { .program = p->p, .path = path, .gpus = 8 };
	struct vendor_output o = { out, "" };
	struct vendor_request r;

	*ret = (struct vendor_result){ 0 };
	assert_int_equal(vendor_request_read(p->key, &r, err), 0);
	r.end = &end;
	r.cache = p->cache;
	return p->p->read(&r, &o, ret, err);
}

TEST(outputs)
{
	for (size_t i = 0; i < ARRAY_LEN(prints); i++) {
		const struct printed *p = &prints[i];
		struct vendor_result got;
		struct err err = ERR_INIT;
		int r = read_printed(p, p->out, &got, &err);
		bool good = p->want == 0 ? r == 0 && fabs(got.us - p->us) < 1e-9 * p->us &&
						   !strcmp(got.version, p->text)
			    : p->want == 1 ? r < 0 && r != -ENOTSUP && r != -EDOM &&
						     strstr(err.msg, p->text)
					   : r == p->want && strstr(err.msg, p->text);

		if (!good)
			ROW_FAIL(i, "%s: %d %g '%s' '%s'", p->p->name, r, got.us, got.version,
				 err.msg);
	}
}

/* Cut anywhere, and with a byte changed: never more than an error. */
TEST(mangled_outputs)
{
	for (size_t i = 0; i < ARRAY_LEN(prints); i++)
		for (size_t at = 0; prints[i].out[at]; at++) {
			CLEANUP(xfreep) char *out = xstrdup(prints[i].out);
			struct vendor_result got;
			char byte = out[at];
			int r;

			out[at] = 0;
			r = read_printed(&prints[i], out, &got, NULL);
			if (r == 0 && !(isfinite(got.us) && got.us > 0))
				ROW_FAIL(i, "cut at %zu: %g", at, got.us);
			out[at] = byte == ',' ? '\n' : ',';
			r = read_printed(&prints[i], out, &got, NULL);
			if (r == 0 && !(isfinite(got.us) && got.us > 0))
				ROW_FAIL(i, "changed at %zu: %g", at, got.us);
		}
}

/* A line of a million cells, and a million lines. */
TEST(much_output)
{
	size_t n = (size_t)1 << 20;
	CLEANUP(xfreep) char *out = xcalloc(n + 1, 1);
	static const char fills[] = ", \n9[";

	for (size_t f = 0; fills[f]; f++)
		for (size_t i = 0; i < ARRAY_LEN(prints); i += 3) {
			struct vendor_result got;

			memset(out, fills[f], n);
			assert_true(read_printed(&prints[i], out, &got, NULL) < 0);
		}
}

/* The fastest kernel of the first run is the one that others measure. */
TEST(kernel)
{
	static const char out[] = CSV_NAMES CSV_ROW("a_1", "passed", "64", "0.25")
		CSV_ROW("a_2", "passed", "64", "0.5");
	struct bench_vendor_end end = { .program = CUTLASS, .path = path };
	struct vendor_output o = { out, "" };
	struct vendor_result got = { 0 };
	struct vendor_request r;

	assert_int_equal(vendor_request_read(GEMM, &r, NULL), 0);
	r.end = &end;
	assert_int_equal(r.end->program->read(&r, &o, &got, NULL), 0);
	assert_string_equal(got.kernel, "a_1");
	memcpy(r.kernel, "a_2", 4);
	assert_int_equal(r.end->program->read(&r, &o, &got, NULL), 0);
	assert_true(got.us == 500);
}

/* Of hipblaslt-bench: what is no number of a solution is none. */
TEST(solution)
{
	static const struct {
		const char *lines;
		int32_t want;
	} cases[] = LIST(
		{ "", -1 }, { "    --Solution index: 4993\n", 4993 },
		{ "    --Solution index: 0\r\n    --Solution name:  Cijk\n", 0 },
		{ "    --Solution index: 2147483647\n", INT32_MAX },
		{ "    --Solution index: 2147483648\n", -1 }, { "    --Solution index: -1\n", -1 },
		{ "    --Solution index: 1e9\n", -1 }, { "    --Solution index: 12 of 13\n", -1 },
		{ "    --Solution index:\n5\n", -1 },
		{ "    --Solution index: 000000000000000000000000000001\n", -1 });
	struct bench_vendor_end end = { .program = LT, .path = path };

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(xfreep)
		char *out = xasprintf(LT_HEAD "m,n,k,us\n64,32,16,8.1\n%s", cases[i].lines);
		struct vendor_output o = { out, "" };
		struct vendor_result got = { .solution = BENCH_SOLUTION_NONE };
		struct vendor_request r;

		assert_int_equal(vendor_request_read(GEMM, &r, NULL), 0);
		r.end = &end;
		assert_int_equal(end.program->read(&r, &o, &got, NULL), 0);
		if (got.solution != cases[i].want)
			ROW_FAIL(i, "%d", got.solution);
		assert_string_equal(got.version, "1000-a1b2c3");
	}
}

TEST(what_it_said)
{
	static const struct {
		const char *out, *err, *want;
	} cases[] = LIST({ "a\nError: no memory\nb\n", "c\n", "Error: no memory" },
			 { "a\n", "terminate\nwhat(): Invalid value for -m\n",
			   "what(): Invalid value for -m" },
			 { "a\nlast\n\n", "", "last" }, { "a\n", "b\x1b[2J\n", "b [2J" },
			 { "", "", "" });

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct vendor_output o = { cases[i].out, cases[i].err };
		char said[80];

		vendor_said(&o, said, sizeof(said));
		if (strcmp(said, cases[i].want) != 0)
			ROW_FAIL(i, "'%s'", said);
	}
}

/* The table Work of docs/library.md. */
TEST(work)
{
	static const struct {
		const char *key;
		double flops, bytes;
	} cases[] = LIST(
		{ GEMM, 2 * 64 * 32 * 16, 4 * (64 * 16 + 32 * 16 + 64 * 32) },
		{ "gemm ta=N tb=N m=2 n=3 k=4 batch=5 a=f16 b=f16 c=f32 d=f32 compute=f32 "
		  "stride_a=0 beta=1",
		  2 * 2 * 3 * 4 * 5, 2 * 8 + 5 * (2 * 12 + 4 * 6 + 4 * 6) },
		{ "gemm ta=N tb=N m=2 n=2 k=2 a=f32c", 8 * 8, 8 * 12 },
		{ CONV("fwd"), 173408256, 4 * (3 * 50176 + 64 * 27 + 64 * 50176) },
		{ CONV("fwd+bwd_data"), 2 * 173408256, 8 * (3 * 50176 + 64 * 27 + 64 * 50176) },
		{ SUM2, 0, 4194304 }, { "AllGather count=1024 dtype=bf16 nranks=8", 0, 8 * 2048 });

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct vendor_request r;

		assert_int_equal(vendor_request_read(cases[i].key, &r, NULL), 0);
		if (r.flops != cases[i].flops || r.bytes != cases[i].bytes)
			ROW_FAIL(i, "%s: %g flops, %g bytes", cases[i].key, r.flops, r.bytes);
	}
}
