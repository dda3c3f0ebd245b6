#include "library_mangle.h"

#define TAIL " CNR:OFF Dyn:1 FastMM:1 TID:3  NThr:1\n"
#define SGEMM "MKL_VERBOSE SGEMM(T,N,64,3072,3072,0x7ffd1,0x7f1,3072,0x7f2,3072,0x7ffd2,0x7f3,64) "
#define SGEMM_KEY \
	"gemm ta=T tb=N m=64 n=3072 k=3072 a=f32 b=f32 c=f32 d=f32 compute=f32 lda=3072 ldb=3072 " \
	"ldc=64 ldd=64"
#define SGEMM_FLOPS (2LL * 64 * 3072 * 3072)

TEST(one_configuration)
{
	CLEANUP(logged_release)
	struct logged l = logged_of(
		"MKL_VERBOSE Intel(R) MKL 2019.0 Update 3 Product build 20190125 for Intel(R) 64 "
		"architecture, Lnx 2.40GHz lp64 intel_thread NMICDev:0\n"
		"MKL_VERBOSE oneMKL 2025 Update 1 Product build 20250306, Lnx lp64 "
		"gnu_thread\n" SGEMM "13.17ms" TAIL
		"MKL_VERBOSE SGEMM(T,N,64,3072,3072,0x1,0x2,3072,0x3,3072,0x4,0x5,64) 41.32us "
		"CNR:OFF Dyn:1 FastMM:1 TID:0  NThr:50 WDiv:HOST:+0.000\r\n"
		"epoch 3: " SGEMM "1.5s" TAIL SGEMM "250ns" TAIL SGEMM "13,5ms" TAIL SGEMM
		"CNR:OFF Dyn:1 FastMM:1\n"
		/* the transposes of the same, by rows */
		"MKL_VERBOSE "
		"cblas_sgemm(101,111,112,3072,64,3072,0x1,0x2,3072,0x3,3072,0x4,0x5,64) "
		"1ms" TAIL
		"MKL_VERBOSE cblas_sgemm(CblasColMajor,CblasTrans,CblasNoTrans,64,3072,3072,0x1,"
		"0x2,3072,0x3,3072,(nil),0x5,64) 1ms" TAIL);

	assert_counts(&l, 8, 0, 2, 0, 0, 0);
	assert_int_equal(l.calls->distinct, 1);
	assert_row(&l, SGEMM_KEY, "sgemm", 8, SGEMM_FLOPS);
	assert_int_equal(l.calls->rows.v[0].timed, 7);
	assert_int_equal(l.calls->rows.v[0].total_ns,
			 13170000 + 41320 + 1500000000 + 250 + 13500000 + 2 * 1000000);
	assert_string_equal(l.calls->rows.v[0].library, "mkl");
}

TEST(other_functions)
{
	CLEANUP(logged_release)
	struct logged l = logged_of(
		"MKL_VERBOSE DTRSM(L,U,N,N,8,4,0x1,0x2,8,0x3,8) 1us" TAIL
		"MKL_VERBOSE cblas_dtrsm(101,142,122,111,131,4,8,0x1,0x2,8,0x3,8) 1us" TAIL
		"MKL_VERBOSE DDOT(100,0x1,1,0x2,-1) 1us" TAIL
		"MKL_VERBOSE cblas_ddot(100,0x1,1,0x2,-1) 1us" TAIL
		"MKL_VERBOSE DGETRF(1000,1000,0x7f01,1000,0x7f02,0) 13ms" TAIL
		"MKL_VERBOSE FFT(drfo7:8:8x8:1:1,input_strides:{0,8,1},tLim:4,desc:0x5581) 2us" TAIL
		"MKL_VERBOSE SGEMM_BATCH(0x1,0x2,0x3) 2us" TAIL
		"MKL_VERBOSE PDPOTRF(l,1024,(nil),1,1,0x7f,0,nb={1024,1024}) 2us" TAIL
		"MKL_VERBOSE cblas_dger(101,2,3,0x1,0x2,5,0x3,7,0x4,3) 1us" TAIL
		"MKL_VERBOSE ZHERK(U,N,8,4,0x1,0x2,8,0x3,0x4,8) 1us" TAIL
		"MKL_VERBOSE cblas_zherk(101,122,113,8,4,0x1,0x2,8,0x3,0x4,8) 1us" TAIL);

	assert_counts(&l, 11, 0, 0, 0, 0, 0);
	assert_row(&l, "trsm side=L uplo=U trans=N diag=N m=8 n=4 type=f64 lda=8 ldb=8", "dtrsm", 2,
		   8 * 8 * 4);
	assert_row(&l, "dot n=100 type=f64 incx=1 incy=-1", "ddot", 2, 200);
	assert_row(&l, "getrf m=1000 n=1000 type=f64 lda=1000", "dgetrf", 1, 666666666);
	assert_row(&l, "fft args=drfo7:8:8x8:1:1,input_strides:_0,8,1_,tLim:4,desc:*", "fft", 1,
		   -1);
	assert_row(&l, "sgemm_batch args=*,*,*", "sgemm_batch", 1, -1);
	assert_row(&l, "pdpotrf args=l,1024,*,1,1,*,0,nb__1024,1024_", "pdpotrf", 1, -1);
	assert_row(&l, "ger m=3 n=2 type=f64 lda=3 incx=7 incy=5", "dger", 1, 12);
	assert_row(&l, "herk uplo=U trans=N n=8 k=4 type=f64c lda=8 ldc=8", "zherk", 2,
		   4 * 8 * 8 * 4);
}

TEST(no_calls)
{
	static const struct {
		const char *text;
		int records, torn, bad, foreign;
	} cases[] = {
		{ SGEMM "13.17ms", 1, 0, 0, 0 },
		{ SGEMM "13.17m", 0, 1, 0, 0 },
		{ SGEMM "13.17", 0, 1, 0, 0 },
		{ SGEMM "\n", 0, 1, 0, 0 },
		{ "MKL_VERBOSE SGEMM(T,N,64,3072\n", 0, 1, 0, 0 },
		{ "MKL_VERBOSE SGEMM(T,N,64,3072) 1ms\n", 0, 1, 0, 0 },
		{ "MKL_VERBOSE DGEMM(N,N,4096,4096,4096,...) 2.1s CNT=1\n", 0, 1, 0, 0 },
		{ "MKL_VERBOSE SGE" SGEMM "1ms\n", 1, 1, 0, 0 },
		{ "MKL_VERBOSE SGEMM(T,N,-64,3072,3072,0x1,0x2,3072,0x3,3072,0x4,0x5,64) 1ms\n", 0,
		  0, 1, 0 },
		{ "MKL_VERBOSE SGEMM(T,N,64,3072,3072,0x1,0x2,3071,0x3,3072,0x4,0x5,64) 1ms\n", 0,
		  0, 1, 0 },
		{ "# set MKL_VERBOSE to 1\nexport MKL_VERBOSE=1\n", 0, 0, 0, 2 },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(logged_release) struct logged l = logged_of(cases[i].text);

		if ((int)l.n.records != cases[i].records || (int)l.n.torn != cases[i].torn ||
		    (int)l.n.bad != cases[i].bad || (int)l.n.foreign != cases[i].foreign)
			ROW_FAIL(i, "%d records, %d torn, %d bad, %d foreign", (int)l.n.records,
				 (int)l.n.torn, (int)l.n.bad, (int)l.n.foreign);
	}
}

TEST(survives)
{
	assert_survives("MKL_VERBOSE Intel(R) MKL 2019.0\n" SGEMM "13.17ms" TAIL
			"MKL_VERBOSE FFT(dcfi30x30x30,tLim:4,desc:0x5581) 21.43us" TAIL
			"MKL_VERBOSE cblas_ddot(100,0x1,1,0x2,-1) 1us" TAIL,
			1);
}

/* Products of matrices by other names than gemm. */
TEST(products)
{
	static const struct {
		const char *call, *key, *operation;
		int64_t flops;
	} cases[] = {
		{ "CGEMM3M(N,T,8,4,2,0x1,0x2,8,0x3,4,0x4,0x5,8)",
		  "gemm ta=N tb=T m=8 n=4 k=2 a=f32c b=f32c c=f32c d=f32c compute=f32c lda=8 ldb=4 "
		  "ldc=8 ldd=8 algorithm=3m",
		  "cgemm3m", 512 },
		{ "SGEMM_BATCH_STRIDED(N,T,8,4,2,0x1,0x2,8,16,0x3,4,8,0x4,0x5,8,32,3)",
		  "gemm ta=N tb=T m=8 n=4 k=2 batch=3 a=f32 b=f32 c=f32 d=f32 compute=f32 lda=8 "
		  "ldb=4 ldc=8 ldd=8 stride_a=16 stride_b=8 stride_c=32 stride_d=32",
		  "sgemm_batch_strided", 384 },
		{ "GEMM_BF16BF16F32(N,T,8,4,2,0x1,0x2,8,0x3,4,0x4,0x5,8)",
		  "gemm ta=N tb=T m=8 n=4 k=2 a=bf16 b=bf16 c=f32 d=f32 compute=f32 lda=8 ldb=4 "
		  "ldc=8 ldd=8",
		  "gemm_bf16bf16f32", 128 },
		{ "GEMM_S8U8S32(N,T,F,8,4,2,0x1,0x2,8,0x6,0x3,4,0x7,0x4,0x5,8,0x8)",
		  "gemm ta=N tb=T m=8 n=4 k=2 a=i8 b=u8 c=i32 d=i32 compute=i32 lda=8 ldb=4 ldc=8 "
		  "ldd=8",
		  "gemm_s8u8s32", 128 },
		{ "cblas_gemm_s8u8s32(101,111,112,173,8,4,2,0x1,0x2,2,0,0x3,2,0,0x4,0x5,4,0x8)",
		  "gemm ta=T tb=N m=4 n=8 k=2 a=u8 b=i8 c=i32 d=i32 compute=i32 lda=2 ldb=2 ldc=4 "
		  "ldd=4",
		  "gemm_s8u8s32", 128 },
		{ "DGEMMT(U,N,T,8,4,0x1,0x2,8,0x3,8,0x4,0x5,8)",
		  "gemmt uplo=U trans=N n=8 k=4 type=f64 lda=8 ldb=8 ldc=8 transposeB=T", "dgemmt",
		  256 },
		{ "cblas_dgemmt(101,122,111,111,8,4,0x1,0x2,4,0x3,9,0x4,0x5,8)",
		  "gemmt uplo=U trans=N n=8 k=4 type=f64 lda=9 ldb=4 ldc=8 transposeB=N", "dgemmt",
		  256 },
		{ "cblas_dgemmt(101,121,111,112,8,4,0x1,0x2,4,0x3,9,0x4,0x5,8)",
		  "gemmt uplo=L trans=T n=8 k=4 type=f64 lda=9 ldb=4 ldc=8 transposeB=N", "dgemmt",
		  256 },
		{ "ISAMAX(100,0x1,1)", "iamax n=100 type=f32 incx=1", "isamax", 0 },
		{ "cblas_scnrm2(100,0x1,1)", "nrm2 n=100 type=f32c incx=1", "scnrm2", 800 },
		{ "SGEMM_BATCH_STRIDED(N,T,8,4,2,0x1,0x2,8,16,0x3,4,8,0x4,0x5,8,32)", NULL, NULL,
		  0 },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		char line[300];

		snprintf(line, sizeof(line), "MKL_VERBOSE %s 1us" TAIL, cases[i].call);
		CLEANUP(logged_release) struct logged l = logged_of(line);

		if ((l.n.records != 1) == (cases[i].key != NULL) || l.n.torn != !cases[i].key)
			ROW_FAIL(i, "%d records", (int)l.n.records);
		if (cases[i].key)
			assert_row(&l, cases[i].key, cases[i].operation, 1, cases[i].flops);
	}
}
