#include "library_mangle.h"

#define STAMP "[2023-04-07 04:57:13][cublasLt][8291]"
#define MATMUL(function, a, compute) \
	STAMP "[Trace][" function "] A=" a " Adesc=[type=R_16F rows=32 cols=16 ld=32] " \
	      "B=0X7F8EB6001B00 Bdesc=[type=R_16F rows=16 cols=64 ld=16] C=0X7F8EB6003200 " \
	      "Cdesc=[type=R_16F rows=32 cols=64 ld=32] D=0X7F8EB6003200 Ddesc=[type=R_16F " \
	      "rows=32 cols=64 ld=32] computeDesc=[computeType=COMPUTE_32F " \
	      "scaleType=R_32F" compute \
	      "] algo=[algoId=21 tile=MATMUL_TILE_32x32 stages=MATMUL_STAGES_64x1] workSpace=0X0 " \
	      "workSpaceSizeInBytes=0 beta=? outOfPlace=0 stream=0X7EB04D0\n"
#define KEY \
	"gemm ta=N tb=N m=32 n=64 k=16 a=f16 b=f16 c=f16 d=f16 compute=f32 lda=32 ldb=16 ldc=32 " \
	"ldd=32"
#define FLOPS 65536

TEST(functions)
{
	CLEANUP(logged_release)
	struct logged l = logged_of(
		STAMP
		"[Api][cublasLtMatmul] lightHandle=0X7 computeDesc=0X7 alpha=0X7 A=0X7F8EB6002300 "
		"Adesc=0X7\n" MATMUL("cublasLtMatmul", "0X7F8EB6002300", "") "  " MATMUL(
			"cublasLtTSTMatmul", "0X1", " smCountTarget=48")
			MATMUL("cublasLtMatmul", "0X7F8EB6002", "") STAMP
		"[Trace][cublasLtMatmulAlgoGetHeuristic] Adesc=[type=R_16F rows=1]\n" STAMP
		"[Error][cublasLtMatmulAlgoGetHeuristic] Input matrices mismatch\n");

	assert_counts(&l, 3, 0, 3, 0, 0, 0);
	assert_int_equal(l.calls->rows.nr, 1);
	assert_row(&l, KEY, "matmul", 3, FLOPS);
	assert_string_equal(l.calls->rows.v[0].library, "cublaslt");
	assert_int_equal(l.calls->rows.v[0].pid, 8291);
	assert_true(l.calls->rows.v[0].first_ns == INT64_C(1680843433000000000));
}

TEST(compute_members)
{
	static const struct {
		const char *members, *more;
	} cases[] = {
		{ " epilogue=EPILOGUE_BIAS biasPointer=0x7fb506003280", " epilogue=bias" },
		{ " epilogue=EPILOGUE_RELU_AUX_BIAS biasPointer=0x7 epilogueAuxPointer=0x8 "
		  "epilogueAuxLd=32",
		  " epilogue=relu+aux+bias epilogueAuxLd=32" },
		{ " aScalePointer=0x32ee30200 bScalePointer=0x32ee30000 dScalePointer=0x0",
		  " scale_a=1 scale_b=1" },
		{ " aScalePointer=0x7 bScalePointer=0x7 aScaleMode=VEC32_UE8M0 "
		  "bScaleMode=VEC32_UE8M0",
		  " scale_a=vec32_ue8m0 scale_b=vec32_ue8m0" },
		{ " fastAccumMode=1 newFutureField=42", " fastAccumMode=1 newFutureField=42" },
		{ " amaxDPointer=0x7", " amaxDPointer=1" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		char text[1200], key[600];

		snprintf(text, sizeof(text), MATMUL("cublasLtMatmul", "0X1", "%s"),
			 cases[i].members);
		snprintf(key, sizeof(key), KEY "%s", cases[i].more);
		CLEANUP(logged_release) struct logged l = logged_of(text);

		if (l.calls->rows.nr != 1 || strcmp(l.calls->rows.v[0].key, key) != 0)
			ROW_FAIL(i, "%s", l.calls->rows.nr ? l.calls->rows.v[0].key : "no call");
	}
}

#define LINE(a, b, d, compute) \
	STAMP "[Trace][cublasLtMatmul] A=0X1 Adesc=[" a "] B=0X1 Bdesc=[" b "] C=0X0 Cdesc=[" d \
	      "] D=0X1 Ddesc=[" d "] computeDesc=[" compute "] beta=0 stream=0X0\n"

/* Transposed, batched, row-major, tiled. */
TEST(descriptors)
{
	static const struct {
		const char *text, *key;
	} cases[] = {
		{ LINE("type=R_8F_E4M3 rows=1024 cols=2048 ld=1024",
		       "type=R_8F_E4M3 rows=1024 cols=32 ld=1024",
		       "type=R_16BF rows=2048 cols=32 ld=2048",
		       "computeType=COMPUTE_32F scaleType=R_32F transa=OP_T"),
		  "gemm ta=T tb=N m=2048 n=32 k=1024 a=f8 b=f8 c=bf16 d=bf16 compute=f32 lda=1024 "
		  "ldb=1024 ldc=2048 ldd=2048 beta=0" },
		{ LINE("type=R_32F rows=8 cols=4 ld=8 batchCount=3 stridedBatchOffset=32",
		       "type=R_32F rows=4 cols=2 ld=4 batchCount=3 stridedBatchOffset=0",
		       "type=R_32F rows=8 cols=2 ld=8 batchCount=3 stridedBatchOffset=16",
		       "computeType=COMPUTE_32F_FAST_TF32 scaleType=R_32F"),
		  "gemm ta=N tb=N m=8 n=2 k=4 batch=3 a=f32 b=f32 c=f32 d=f32 compute=tf32 lda=8 "
		  "ldb=4 ldc=8 ldd=8 stride_a=32 stride_b=0 stride_c=16 stride_d=16 beta=0" },
		{ LINE("type=R_32F rows=8 cols=4 ld=4 order=ORDER_ROW",
		       "type=R_32F rows=4 cols=2 ld=2 order=ORDER_ROW",
		       "type=R_32F rows=8 cols=2 ld=2 order=ORDER_ROW",
		       "computeType=COMPUTE_32F scaleType=R_32F"),
		  "gemm ta=N tb=N m=2 n=8 k=4 a=f32 b=f32 c=f32 d=f32 compute=f32 lda=2 ldb=4 "
		  "ldc=2 ldd=2 beta=0" },
		{ LINE("type=R_32F rows=8 cols=4 ld=4 order=ORDER_ROW",
		       "type=R_32F rows=4 cols=2 ld=4", "type=R_32F rows=8 cols=2 ld=8",
		       "computeType=COMPUTE_32F scaleType=R_32F"),
		  "gemm ta=T tb=N m=8 n=2 k=4 a=f32 b=f32 c=f32 d=f32 compute=f32 lda=4 ldb=4 "
		  "ldc=8 ldd=8 beta=0" },
		{ LINE("type=R_8I rows=32 cols=32 ld=1024 order=ORDER_COL32",
		       "type=R_8I rows=32 cols=32 ld=32", "type=R_32I rows=32 cols=32 ld=32",
		       "computeType=COMPUTE_32I scaleType=R_32F"),
		  "gemm ta=N tb=N m=32 n=32 k=32 a=i8 b=i8 c=i32 d=i32 compute=i32 ldb=32 ldc=32 "
		  "ldd=32 beta=0 scale_type=f32 a_order=ORDER_COL32" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(logged_release) struct logged l = logged_of(cases[i].text);

		if (l.calls->rows.nr != 1 || strcmp(l.calls->rows.v[0].key, cases[i].key) != 0)
			ROW_FAIL(i, "%s %s", l.calls->rows.nr ? l.calls->rows.v[0].key : "no call",
				 l.n.bad_text);
	}
}

TEST(no_calls)
{
	static const struct {
		const char *text;
		int torn, bad;
	} cases[] = {
		{ STAMP "[Trace][cublasLtMatmul] A=0X1 Adesc=[type=R_16F rows=32\n", 1, 0 },
		{ STAMP "[Trace][cublasLtMatmul] A=0X1 Adesc=[type=R_16F rows=32 cols=1 ld=32]\n",
		  1, 0 },
		{ LINE("type=R_32F rows=8 cols=x ld=8", "type=R_32F rows=4 cols=2 ld=4",
		       "type=R_32F rows=8 cols=2 ld=8", "computeType=COMPUTE_32F"),
		  1, 0 },
		{ LINE("type=R_32F rows=8 cols=5 ld=8", "type=R_32F rows=4 cols=2 ld=4",
		       "type=R_32F rows=8 cols=2 ld=8", "computeType=COMPUTE_32F"),
		  0, 1 },
		{ LINE("type=R_32F rows=8 cols=4 ld=7", "type=R_32F rows=4 cols=2 ld=4",
		       "type=R_32F rows=8 cols=2 ld=8", "computeType=COMPUTE_32F"),
		  0, 1 },
		{ LINE("type=R_32F rows=9000000000 cols=9000000000 ld=9000000000",
		       "type=R_32F rows=9000000000 cols=9000000000 ld=9000000000",
		       "type=R_32F rows=9000000000 cols=9000000000 ld=9000000000",
		       "computeType=COMPUTE_32F"),
		  0, 1 },
		{ STAMP "[Trace\n", 1, 0 },
		/* the end of the file, inside of a number */
		{ STAMP "[Trace][cublasLtMatmul] A=0X1 Adesc=[type=R_32F rows=1 cols=1 ld=1] "
			"Bdesc=[type=R_32F rows=1 cols=1 ld=1] Ddesc=[type=R_32F rows=1 cols=1 "
			"ld=1] computeDesc=[computeType=COMPUTE_32F] beta=1",
		  1, 0 },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(logged_release) struct logged l = logged_of(cases[i].text);

		if (l.n.records != 0 || (int)l.n.torn != cases[i].torn ||
		    (int)l.n.bad != cases[i].bad)
			ROW_FAIL(i, "%d torn, %d bad", (int)l.n.torn, (int)l.n.bad);
	}
}

TEST(mangled)
{
	assert_survives(MATMUL("cublasLtMatmul", "0X7F8EB6002300",
			       " transa=OP_N epilogue=EPILOGUE_BIAS aScalePointer=0x7")
				MATMUL("cublasLtSSSMatmul", "0X1", ""),
			3);
}
