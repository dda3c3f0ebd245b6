#include "library_mangle.h"

#define KEY \
	"gemm ta=N tb=T m=48 n=176 k=1024 a=bf16 b=bf16 c=bf16 d=bf16 compute=f32 lda=48 ldb=176 " \
	"ldc=48 ldd=48 alpha=1 beta=0"
#define FLOPS 17301504
#define SIZES "-m 48 -n 176 -k 1024 --lda 48 --ldb 176 --ldc 48 --ldd 48 "
#define TYPES "--a_type bf16_r --b_type bf16_r --c_type bf16_r --d_type bf16_r "
#define BENCH \
	"hipblaslt-bench --api_method c " SIZES " --stride_a 0 --stride_b 0 --stride_c 0 " \
	"--stride_d 0  --alpha 1.000000 --beta 0.000000 --transA N --transB T --batch_count 1 " \
	"--scaleA 0 --scaleB 0  " TYPES "--scale_type f32_r --bias_type f32_r   --compute_type " \
	"f32_r --algo_method index --solution_index 218160 --activation_type none "
#define STAMP "[2025-02-28 11:24:46][HIPBLASLT][1862601]"
#define API \
	STAMP "[Api][rocblaslt_matmul] A=0x7f66 Adesc=0x2f1f B=0x7f66 Bdesc=0x2f1f C=0x7f66 " \
	      "Cdesc=0x3227 D=0x7f66 Ddesc=0x3227 computeDesc=0x31fe algo=0 workSpace=0 " \
	      "workSpaceSizeInBytes=0 stream=0 \n"
#define TRACE_OF(a, epilogue) \
	STAMP "[Trace][rocblaslt_matmul] A=" a " Adesc=[type=R_16BF rows=48 cols=1024 ld=48] " \
	      "B=0x7f667d718000 Bdesc=[type=R_16BF rows=176 cols=1024 ld=176] C=0x7f667d770000 " \
	      "Cdesc=[type=R_16BF rows=48 cols=176 ld=48] D=0x7f667d775000 Ddesc=[type=R_16BF " \
	      "rows=48 cols=176 ld=48] computeDesc=[computeType=COMPUTE_32F scaleType=R_32F " \
	      "transA=OP_N transB=OP_T epilogue=" epilogue " biasPointer=0x0] workSpace=0 " \
	      "workSpaceSizeInBytes=0 alpha=1 beta=0 stream=0 \n"
#define TRACE TRACE_OF("0x7f667d700000", "EPILOGUE_DEFAULT")

/* One configuration by every spelling. */
TEST(bench_of_one_configuration)
{
	CLEANUP(logged_release)
	struct logged l = logged_of(
		BENCH
		"\n" BENCH "\r\n"
		"/opt/rocm/bin/hipblaslt-bench.exe " SIZES "--alpha 1 --beta 0 --transB T " TYPES
		"--compute_type f32_r --scaleA s --rotating 0 --cold_iters 0 --iters 0 -i 1 -j 2\n"
		"step 3 hipblaslt-bench " TYPES SIZES "--compute_type f32_r --alpha 1e0 --beta 0 "
		"--transB T --initialization trig_float\n");

	assert_counts(&l, 4, 0, 0, 0, 0, 0);
	assert_int_equal(l.n.prefixed, 1);
	assert_row(&l, KEY, "matmul", 3, FLOPS);
	assert_row(&l, KEY " scale_a=1", "matmul", 1, FLOPS);
	assert_string_equal(l.calls->rows.v[0].library, "hipblaslt");
}

/* What a list leaves out has the benchmark's defaults, and what a shell adds is no part of it. */
TEST(lists)
{
	static const char *const lines[] = {
		"hipblaslt-bench -m 4 -n 8 -k 2\n",
		"hipblaslt-bench -m 4 -n 8 -k 2 -r f16_r\n",
		"hipblaslt-bench --precision=f16_r --transA=N -m 4 -n 8 -k 2 --lda=4 --alpha=1\n",
		"hipblaslt-bench -m 4 -n 8 -k 2 --compute_type f32_r 2>&1 | tee -a log\n",
		"time hipblaslt-bench -m 4 -n 8 -k 2  # the first\n",
		"echo 'hipblaslt-bench -m 4 -n 8 -k 2'\n",
		"hipblaslt-bench -m 4 -n 8 -k 2 --bias_type f32_r  50%|###   | 2/4\n",
		"hipblaslt-bench -m 4 -n 8 -k 2 Epoch 3 -0.5\n",
		"hipblaslt-bench -m 4 -n 8 -k 2 \\\n",
	};

	for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
		CLEANUP(logged_release) struct logged l = logged_of(lines[i]);

		if (l.n.records != 1)
			ROW_FAIL(i, "%d torn", (int)l.n.torn);
		assert_row(&l,
			   "gemm ta=N tb=N m=4 n=8 k=2 a=f16 b=f16 c=f16 d=f16 compute=f32 lda=4 "
			   "ldb=2 ldc=4 ldd=4 alpha=1 beta=0",
			   "matmul", 1, 2 * 4 * 8 * 2);
	}
	CLEANUP(logged_release)
	struct logged two = logged_of("hipblaslt-bench -m 4 -n 8 -k 2 --new 1 --other\n"
				      "hipblaslt-bench -m 4 -n 8 -k 2 --other --new 1\n");

	assert_counts(&two, 2, 0, 0, 0, 0, 0);
	assert_int_equal(two.calls->distinct, 1);
}

TEST(scales_flags_and_epilogues)
{
	static const struct {
		const char *options, *more;
	} cases[] = {
		{ "--scaleA --scaleB --any_stride", " scale_a=1 scale_b=1" },
		{ "--scaleA s --scaleB v", " scale_a=1 scale_b=2" },
		{ "--scaleA 1 --scaleB 2 --scaleC 0", " scale_a=1 scale_b=2" },
		{ "--scaleA 3 --scaleD 1", " scale_a=3 scale_d=1" },
		{ "--scaleAlpha_vector", " scaleAlpha_vector=1" },
		{ "--activation_type none --bias_vector --bias_source d --bias_type bf16_r",
		  " epilogue=bias bias_type=bf16_r" },
		{ "--activation_type gelu --bias_vector --bias_type f32_r",
		  " epilogue=gelu+bias bias_type=f32_r" },
		{ "--use_e --activation_type gelu --bias_vector --bias_type f32_r",
		  " epilogue=gelu+aux+bias bias_type=f32_r" },
		{ "--gradient --use_e --activation_type gelu --bias_vector --bias_type f32_r",
		  " epilogue=dgelu+bgrad bias_type=f32_r" },
		{ "--activation_type relu --aux_type bf16_r", " epilogue=relu" },
		{ "--bias_vector --bias_source a", " epilogue=bias bias_source=a" },
		{ "--swizzleA --new_option 7", " new_option=7 swizzleA=1" },
		{ "--scale_type f16_r", " scale_type=f16" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		char text[1000], key[600];

		snprintf(text, sizeof(text),
			 "hipblaslt-bench " SIZES "--alpha 1 --beta 0 --transA N --transB T " TYPES
			 "--compute_type f32_r %s\n",
			 cases[i].options);
		snprintf(key, sizeof(key), KEY "%s", cases[i].more);
		CLEANUP(logged_release) struct logged l = logged_of(text);

		if (l.calls->rows.nr != 1 || strcmp(l.calls->rows.v[0].key, key) != 0)
			ROW_FAIL(i, "%s", l.calls->rows.nr ? l.calls->rows.v[0].key : "no call");
	}
}

TEST(grouped)
{
	CLEANUP(logged_release)
	struct logged l = logged_of(
		"hipblaslt-bench --api_method cpp --grouped_gemm -m 8 -n 4 -k 2 --lda 8 --ldb 2 "
		"--ldc 8 --ldd 8 -m 16 -n 4 -k 2 --lda 16 --ldb 2 --ldc 16 --ldd 16 --alpha 1 "
		"--beta 0 --transA N --transB N --batch_count 1 --a_type f16_r --b_type f16_r "
		"--c_type f16_r --d_type f16_r --compute_type f32_r --solution_index 3\n"
		"hipblaslt-bench --grouped_gemm -m 8 -n 4 -k 2 -m 16 -n 4 --a_type f16_r "
		"--compute_type f32_r\n"
		"hipblaslt-bench --grouped_gemm -m 8 -n 4 -k 2 -m 16 -n 4 -k -2 --a_type f16_r "
		"--compute_type f32_r\n");

	assert_counts(&l, 1, 0, 0, 1, 1, 0);
	assert_int_equal(l.calls->rows.v[0].flops, 2 * 8 * 4 * 2 + 2 * 16 * 4 * 2);
	assert_string_equal(l.calls->rows.v[0].operation, "grouped_matmul");
	assert_has(l.calls->rows.v[0].key, " groups=2 m=8,16 n=4,4 k=2,2 lda=8,16 ");
	assert_has(l.n.bad_text, "k=-2 is no size");
}

/* Two commands in a line, also without a blank between them; the last word of the first may then
 * have lost its end. */
TEST(several_in_a_line)
{
	CLEANUP(logged_release) struct logged l = logged_of(BENCH BENCH "\n");
	CLEANUP(logged_release)
	struct logged glued = logged_of("hipblaslt-bench " TYPES
					"--compute_type f32_r -n 4 -k 2 -m 4hipblaslt-bench " TYPES
					"--compute_type f32_r -n 4 -k 2 -m 48\n");

	assert_counts(&l, 2, 0, 0, 0, 0, 0);
	assert_counts(&glued, 1, 0, 0, 1, 0, 0);
}

/* The trace and the benchmark line tell one call; the Api line tells none. */
TEST(levels_tell_one_call)
{
	CLEANUP(logged_release) struct logged l = logged_of(API TRACE BENCH "\n");
	CLEANUP(logged_release)
	struct logged t = logged_of(API TRACE API TRACE_OF("0x1", "EPILOGUE_DEFAULT"));

	assert_counts(&l, 1, 1, 1, 0, 0, 0);
	assert_row(&l, KEY, "matmul", 1, FLOPS);
	assert_counts(&t, 2, 0, 2, 0, 0, 0);
	assert_row(&t, KEY, "matmul", 2, FLOPS);
	assert_int_equal(t.calls->rows.v[0].pid, 1862601);
	assert_true(t.calls->rows.v[0].first_ns == INT64_C(1740741886000000000));
}

TEST(trace_variants)
{
	CLEANUP(logged_release)
	struct logged l = logged_of(
		/* Windows: no process */
		"[2026-01-16 01:55:05][HIPBLASLT][Trace][rocblaslt_matmul] Adesc=[type=R_32F "
		"rows=64 cols=48 ld=48] Bdesc=[type=R_32F rows=48 cols=32 ld=48] Cdesc=[type=R_32F "
		"rows=64 cols=32 ld=64] Ddesc=[type=R_32F rows=64 cols=32 ld=64] "
		"computeDesc=[computeType=COMPUTE_32F scaleType=R_32F transA=OP_N transB=OP_N "
		"epilogue=EPILOGUE_DEFAULT] alpha=1 beta=0 stream=0\n"
		"[2026-01-16 01:55:05][HIPBLASLT][Info][initialize] Using library: "
		"C:\\x\n" TRACE_OF("0x1", "EPILOGUE_GELU_AUX_BIAS") STAMP
		"[Trace][rocblaslt_matmul] A=0x7f\n" STAMP "[Trace]\n"
		"  A=[type=R_32F rows=64 cols=48 ld=48]\n");

	assert_counts(&l, 1, 0, 1, 2, 1, 1);
	assert_has(l.n.bad_text, "lda=48 is less than 64 rows");
	assert_row(&l, KEY " epilogue=gelu+aux+bias", "matmul", 1, FLOPS);
}

/* Equal products of two libraries are not one call. */
TEST(levels_are_of_one_library)
{
	CLEANUP(logged_release)
	struct logged l = logged_of(
		"rocblas_sgemm,N,T,48,176,1024,1,0x7b,48,0x7b,176,0,0x7b,48,atomics_allowed\n"
		"hipblaslt-bench " SIZES "--alpha 1 --beta 0 --transB T --a_type f32_r --b_type "
		"f32_r --c_type f32_r --d_type f32_r --compute_type f32_r\n");

	assert_counts(&l, 2, 0, 0, 0, 0, 0);
	assert_int_equal(library_calls_totals(l.calls).nested, 1);
	assert_int_equal(library_calls_totals(l.calls).flops, FLOPS);
}

TEST(no_calls)
{
	static const struct {
		const char *text;
		int torn, bad, foreign;
	} cases[] = {
		{ "hipblaslt-bench -m 4 -n 4 --a_type f32_r\n", 1, 0, 0 },
		{ "hipblaslt-bench -m 4 -n 4\n", 1, 0, 0 },
		{ "hipblaslt-bench --api_method c " SIZES "--transA N --transB N\n", 1, 0, 0 },
		{ "hipblaslt-bench -m 4 -n 4 -k 4 -\n", 1, 0, 0 },
		{ "hipblaslt-bench -m 4 -n 4 -k 4 --bias_vector --\n", 1, 0, 0 },
		{ "hipblaslt-bench -m 4 -n 4 -k 4 --transA\n", 1, 0, 0 },
		{ "hipblaslt-bench -m 4 -n 4 -k 4 --compute_type f3\n", 1, 0, 0 },
		{ "# hipblaslt-bench -m 4 -n 4 -k 4\n", 0, 0, 1 },
		{ "#/opt/rocm/bin/hipblaslt-bench -m 4 -n 4 -k 4\n", 0, 0, 1 },
		{ "hipblaslt-bench -m 4,0 -n 4 -k 4 --a_type f32_r\n", 1, 0, 0 },
		{ "hipblaslt-bench -m 4 -n 4 -k 4 --a_type f32_x\n", 1, 0, 0 },
		{ "hipblaslt-bench -m 4 -n 4 -k 4 --a_type f32_r --transA Q\n", 1, 0, 0 },
		{ "hipblaslt-bench -m 4 -n 4 -k 4 --a_type f32_r --alpha 1,5\n", 1, 0, 0 },
		{ "hipblaslt-bench -m 4 -n 4 -k 99999999999999999999 --a_type f32_r\n", 1, 0, 0 },
		{ "hipblaslt-bench -m 4 -n 4 -k 999999999999999999 --a_type f32_r\n", 0, 1, 0 },
		{ "hipblaslt-bench -m 4 -n 4 -k -4 --a_type f32_r\n", 0, 1, 0 },
		{ "hipblaslt-bench -m 4 -m 5 -n 4 -k 4 --a_type f32_r\n", 0, 1, 0 },
		{ "hipblaslt-bench -m 4 -n 4 -k 4 --lda 3 --a_type f32_r\n", 0, 1, 0 },
		{ "run hipblaslt-bench, then\nhipblaslt-bench\n", 0, 0, 2 },
		{ "hipblaslt-bench -m 4 -n 4 -k 1", 1, 0, 0 },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(logged_release) struct logged l = logged_of(cases[i].text);

		if (l.n.records != 0 || (int)l.n.torn != cases[i].torn ||
		    (int)l.n.bad != cases[i].bad || (int)l.n.foreign != cases[i].foreign)
			ROW_FAIL(i, "%d torn, %d bad, %d foreign", (int)l.n.torn, (int)l.n.bad,
				 (int)l.n.foreign);
	}
}

TEST(recording)
{
	CLEANUP(logged_release) struct logged l = { .calls = library_calls_new() };

	CLEANUP(xfreep) char *path = test_trace("liblog/hipblaslt/bench-lstm.log");

	assert_int_equal(library_log_read(path, l.calls, &l.n, NULL), 0);
	assert_counts(&l, 15, 0, 0, 0, 0, 0);
	assert_int_equal(l.calls->rows.nr, 3);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(l.calls->rows.v[i].calls, 5);
		assert_int_equal(l.calls->rows.v[i].flops, 131072);
	}
	assert_int_equal(library_calls_totals(l.calls).flops, 1966080);
}

TEST(mangled)
{
	assert_survives(BENCH "\n" API TRACE BENCH BENCH "\n", 3);
	assert_survives(
		"hipblaslt-bench --grouped_gemm -m 8 -n 4 -k 2 -m 16 -n 4 -k 2 --a_type f16_r "
		"--batch_count 2 --stride_a 1 --stride_a 2 --compute_type f32_r\n",
		3);
}
