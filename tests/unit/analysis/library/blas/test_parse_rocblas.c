#include "library_test.h"

#define SGEMM_KEY \
	"gemm ta=N tb=T m=64 n=32 k=16 a=f32 b=f32 c=f32 d=f32 compute=f32 lda=64 ldb=32 " \
	"ldc=64 ldd=64 alpha=1 beta=0"
#define SGEMM_OPTIONS \
	" --transposeA N --transposeB T -m 64 -n 32 -k 16 --alpha 1 --lda 64 --ldb 32 --beta 0 " \
	"--ldc 64"
#define SGEMM "./rocblas-bench -f gemm -r f32_r" SGEMM_OPTIONS
#define SGEMM_FLOPS 65536

/* One configuration in several spellings; what measures it and chooses its kernel is not of it. */
TEST(bench_of_one_configuration)
{
	CLEANUP(logged_release)
	struct logged l = logged_of(
		SGEMM "\n"
		      "rocblas-bench -f gemm -r s" SGEMM_OPTIONS " -i 5 -j 2\n"
		      "/opt/rocm/bin/rocblas-bench --api 1 -f gemm -r s" SGEMM_OPTIONS "\n"
		      "./rocblas-bench -f gemm -r s -m 64  -n 32 -k 16 --transposeB T --beta 0.0 "
		      "--alpha 1.000000 --transposeA N --lda 64 --ldb 32 --ldc 64  \r\n"
		      "./rocblas-bench -f gemm_ex --transposeA N --transposeB T -m 64 -n 32 -k 16 "
		      "--alpha 1 --a_type f32_r --lda 64 --b_type f32_r --ldb 32 --beta 0 --c_type "
		      "f32_r --ldc 64 --d_type f32_r --ldd 64 --compute_type f32_r --algo 0 "
		      "--solution_index 7 --flags 0\n");

	assert_counts(&l, 5, 0, 0, 0, 0, 0);
	assert_int_equal(l.calls->distinct, 1);
	assert_row(&l, SGEMM_KEY, "sgemm", 5, SGEMM_FLOPS);
	assert_string_equal(l.calls->rows.v[0].config, SGEMM);
	assert_string_equal(l.calls->rows.v[0].library, "rocblas");
	assert_int_equal(l.calls->rows.v[0].bytes, 4 * (64 * 16 + 16 * 32 + 64 * 32));
}

#define SQUARE_KEY \
	"gemm ta=N tb=T m=64 n=64 k=64 a=f32 b=f32 c=f32 d=f32 compute=f32 lda=64 ldb=64 " \
	"ldc=64 ldd=64 alpha=1 beta=0"
#define SQUARE "-m 64 -n 64 -k 64"

/* What a list leaves out has the benchmark's defaults, and what a shell adds is no part of it. */
TEST(lists)
{
	static const char *const lines[] = {
		"./rocblas-bench -f gemm --transposeB T " SQUARE "\n",
		"./rocblas-bench -f gemm -r s " SQUARE " --transposeB T -v 1\n",
		"./rocblas-bench -f gemm_ex --transposeB T " SQUARE
		" --compute_type f32_r --a_type s "
		"--b_type s --c_type s --d_type s\n",
		"./rocblas-bench -f gemm " SQUARE
		" --transposeA=N --transposeB=T --ldc=64 --beta=0\n",
		"\"./rocblas-bench -f gemm " SQUARE " --transposeB T --ldc 64\"\n",
		"'./rocblas-bench -f gemm " SQUARE " --transposeB T --ldc 64',\n",
		"./rocblas-bench -f gemm " SQUARE " --transposeB T --ldc 64 # first layer\r\n",
		"./rocblas-bench -f gemm " SQUARE " --transposeB T --ldc 64 2>&1 | tee log\n",
		"./rocblas-bench -f gemm " SQUARE " --transposeB T --ldc 64 > out.txt\n",
		"./rocblas-bench -f gemm " SQUARE " --transposeB T --ldc 64 && echo done\n",
		"./rocblas-bench -f gemm " SQUARE " --transposeB T --ldc 64 ;\n",
		"./rocblas-bench -f gemm " SQUARE " --transposeB T --ldc 64;\n",
		"./rocblas-bench -f gemm " SQUARE " --transposeB T --ldc 64 \\\n",
		"./rocblas-bench -f gemm " SQUARE " --transposeB T --ldc 64  50%|##  |\n",
		"./rocblas-bench -f gemm " SQUARE " --transposeB T --ldc 64 12.5% done\n",
		"./rocblas-bench -f gemm " SQUARE " --transposeB T --ldc 64 Epoch 3 - loss -0.5\n",
		"  ##  ./rocblas-bench -f gemm " SQUARE " --transposeB T\n",
		"# 1: ./rocblas-bench -f gemm " SQUARE " --transposeB T\n",
	};

	for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
		CLEANUP(logged_release) struct logged l = logged_of(lines[i]);

		if (l.n.records != 1 || strcmp(l.calls->rows.v[0].key, SQUARE_KEY) != 0)
			ROW_FAIL(i, "%d torn, %d foreign: %s", (int)l.n.torn, (int)l.n.foreign,
				 l.n.records ? l.calls->rows.v[0].key : "");
		assert_null(strpbrk(l.calls->rows.v[0].config, "\"'#|>;&"));
	}
}

/* Each with the line that says the same in full. */
TEST(defaults_of_other_functions)
{
	static const char *const lines[][2] = {
		{ "gemv -m 8 -n 4 --transposeA t",
		  "gemv -r f32_r --transposeA T -m 8 -n 4 --alpha 1 --lda 8 --incx 1 --beta 0 "
		  "--incy 1" },
		{ "gemv -m 8 -n 4 --transposeA n", "gemv -m 8 -n 4 --transposeA N" },
		{ "trsm -r d -m 8 -n 4 --side r", "trsm -r d --side R --uplo U --transposeA N "
						  "--diag N -m 8 -n 4 --alpha 1 --lda 4 --ldb 8" },
		{ "syrk --transposeA T -n 8 -k 4", "syrk -r s --uplo U --transposeA T -n 8 -k 4 "
						   "--alpha 1 --lda 4 --beta 0 --ldc 8" },
		{ "axpy -n 8", "axpy -r s -n 8 --alpha 1 --incx 1 --incy 1" },
		{ "gemm_ex " SQUARE, "gemm -r s " SQUARE },
		{ "dgemm " SQUARE, "dgemm -r d --transposeA N --transposeB N " SQUARE },
		{ "gemm --new 1 --other " SQUARE, "gemm --other --new 1 " SQUARE },
	};

	for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
		CLEANUP(xfreep)
		char *text = xasprintf("./rocblas-bench -f %s\nrocblas-bench -f %s\n", lines[i][0],
				       lines[i][1]);
		CLEANUP(logged_release) struct logged l = logged_of(text);

		if (l.n.records != 2 || l.calls->distinct != 1)
			ROW_FAIL(i, "%d records: %s, %s", (int)l.n.records,
				 l.calls->rows.nr > 0 ? l.calls->rows.v[0].key : "",
				 l.calls->rows.nr > 1 ? l.calls->rows.v[1].key : "");
	}
}

/* In a list; other text may begin like a comment. */
TEST(comments_are_no_calls)
{
	CLEANUP(logged_release)
	struct logged l = logged_of("# ./rocblas-bench -f gemm " SQUARE "\n"
				    "  #./rocblas-bench -f gemm " SQUARE "\r\n"
				    "#rocblas-bench -f gemm " SQUARE "\n"
				    "#\t/opt/rocm/bin/rocblas-bench -f gemm " SQUARE "\n"
				    "#  20%|# | ./rocblas-bench -f gemm " SQUARE "\n");

	assert_counts(&l, 1, 0, 0, 0, 0, 4);
}

/* A trace line, a bench line and a row of the profile tell one call, whichever are there. */
TEST(levels_tell_one_call)
{
	static const char *const levels[] = {
		"rocblas_sgemm,N,T,64,32,16,1,0x7be683213a00,64,0x7be683203000,32,0,0x7b,64,"
		"atomics_allowed\n",
		SGEMM "\n",
		"- { rocblas_function: \"rocblas_sgemm\", atomics_mode: atomics_allowed, transA: "
		"'N', transB: 'T', M: 64, N: 32, K: 16, alpha: 1.0, lda: 64, ldb: 32, beta: 0.0, "
		"ldc: 64, call_count: 1 }\n",
	};

	for (unsigned bits = 1; bits < 8; bits++) {
		char text[1000] = "";
		int n = 0;

		for (size_t i = 0; i < 3; i++)
			if (bits >> i & 1) {
				snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s",
					 levels[i]);
				n++;
			}
		CLEANUP(logged_release) struct logged l = logged_of(text);

		assert_counts(&l, 1, n - 1, 0, 0, 0, 0);
		assert_int_equal(l.calls->rows.nr, 1);
		assert_row(&l, SGEMM_KEY, "sgemm", 1, SGEMM_FLOPS);
	}
}

TEST(profile_counts_calls)
{
	CLEANUP(logged_release)
	struct logged l = logged_of(
		"- { rocblas_function: \"rocblas_gemm_ex\", atomics_mode: atomics_allowed, "
		"a_type: \"f16_r\", b_type: \"f16_r\", c_type: \"f16_r\", d_type: \"f16_r\", "
		"compute_type: \"f32_r\", transA: 'T', transB: 'N', M: 8, N: 4, K: 2, alpha: 1.0, "
		"lda: 2, ldb: 2, beta: 2.0, ldc: 8, ldd: 8, algo: 0, solution_index: 0, flags: 0, "
		"call_count: 41 }\n"
		"- { rocblas_function: rocblas_sgemv, transA: N, M: 8, N: 4, alpha: 1, lda: 8, "
		"incx: 1, beta: 0, incy: 1, call_count: 2 }\n"
		"- { rocblas_function: \"rocblas_sgemm\", transA: 'N', transB: 'T', M: 64, N\n");

	assert_counts(&l, 43, 0, 0, 1, 0, 0);
	assert_row(&l,
		   "gemm ta=T tb=N m=8 n=4 k=2 a=f16 b=f16 c=f16 d=f16 compute=f32 lda=2 ldb=2 "
		   "ldc=8 ldd=8 alpha=1 beta=other",
		   "gemm_ex", 41, 128);
	assert_row(&l, "gemv trans=N m=8 n=4 type=f32 lda=8 incx=1 incy=1 alpha=1 beta=0", "sgemv",
		   2, 64);
	assert_string_equal(l.calls->rows.v[0].library, "rocblas_function");
}

/* What no library executes, or what has lost a part, is no call, and the first one is shown. */
TEST(no_calls)
{
	static const struct {
		const char *text;
		int torn, bad;
		const char *words;
	} cases[] = {
		{ "./rocblas-bench -f gemm -r s --transposeA N --transposeB T -m -64 -n 32 -k 16 "
		  "--lda 64 --ldb 32 --ldc 64\n",
		  0, 1, "m=-64 is no size" },
		{ "./rocblas-bench -f gemm -r s --transposeA N --transposeB T -m 64 -n 32 -k 16 "
		  "--lda 63 --ldb 32 --ldc 64\n",
		  0, 1, "lda=63 is less than 64 rows" },
		{ "./rocblas-bench -f gemm -r s --transposeA N --transposeB T -m 9000000000 -n "
		  "9000000000 -k 16 --lda 9000000000 --ldb 9000000000 --ldc 9000000000\n",
		  0, 1, "more than 2^63" },
		{ "./rocblas-bench -f gemm -r s -m 64 -m 65 -n 32 -k 16\n", 0, 1,
		  "-m stands twice" },
		{ "./rocblas-bench -f gemm -r s --transposeA N --transposeB T -m 64 -n 32\n", 1, 0,
		  "line 1: ./rocblas-bench -f gemm" },
		{ "./rocblas-bench -f gemm -r s --transposeA N --transposeB T -m 6,4 -n 32 -k 16\n",
		  1, 0, "6,4" },
		{ "./rocblas-bench -f gemm -r s --transposeA N --transposeB T -m "
		  "99999999999999999999 "
		  "-n 32 -k 16\n",
		  1, 0, "" },
		{ "./rocblas-bench \n", 1, 0, "" },
		{ "./rocblas-bench -f ge\n", 1, 0, "" },
		/* types are written behind the sizes */
		{ "./rocblas-bench -f gemm_ex --transposeA N --transposeB T " SQUARE " --alpha 1\n",
		  1, 0, "" },
		{ "./rocblas-bench -f axpy_ex -n 8 --alpha 1\n", 1, 0, "" },
		{ "./rocblas-bench -f gemv -m 4\n", 1, 0, "" },
		{ "./rocblas-bench -f gemm " SQUARE " -\n", 1, 0, "" },
		{ "./rocblas-bench -f gemm " SQUARE " -v 1 --\n", 1, 0, "" },
		{ "./rocblas-bench -f gemm " SQUARE " --transposeB\n", 1, 0, "" },
		{ "./rocblas-bench -f gemm " SQUARE " --transposeB X\n", 1, 0, "" },
		{ "./rocblas-bench -f gemm " SQUARE " --lda=\n", 1, 0, "" },
		{ "./rocblas-bench -f gemm " SQUARE " --lda 6450%|##|\n", 1, 0, "" },
		/* the end of the file */
		{ "./rocblas-bench -f gemm " SQUARE, 1, 0, "" },
		{ "./rocblas-bench -f gemm " SQUARE " -", 1, 0, "" },
		{ "./rocblas-bench -f gemm " SQUARE " --transpo", 1, 0, "" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(logged_release) struct logged l = logged_of(cases[i].text);

		if (l.n.records != 0 || (int)l.n.torn != cases[i].torn ||
		    (int)l.n.bad != cases[i].bad || l.calls->rows.nr != 0)
			ROW_FAIL(i, "%d torn, %d bad", (int)l.n.torn, (int)l.n.bad);
		assert_has(cases[i].bad ? l.n.bad_text : l.n.torn_text, cases[i].words);
	}
}

/* k = 0 is a call that computes nothing. */
TEST(empty_product)
{
	CLEANUP(logged_release)
	struct logged l = logged_of("./rocblas-bench -f gemm -r d --transposeA N --transposeB N -m "
				    "4 -n 4 -k 0 --alpha 1 --lda 4 --ldb 1 --beta 1 --ldc 4\n");

	assert_counts(&l, 1, 0, 0, 0, 0, 0);
	assert_int_equal(l.calls->rows.v[0].flops, 0);
}

TEST(other_functions)
{
	CLEANUP(logged_release)
	struct logged l = logged_of(
		"./rocblas-bench -f trsm -r d --side L --uplo U --transposeA N --diag N -m 8 -n 4 "
		"--alpha 1 --lda 8 --ldb 8\n"
		"./rocblas-bench -f syrk -r s --uplo L --transposeA T -n 8 -k 4 --alpha 1 --lda 4 "
		"--beta 1 --ldc 8\n"
		"./rocblas-bench -f axpy -r c -n 100 --alpha 2 --alphai 1 --incx 1 --incy 1\n"
		"rocblas_saxpy,100,2,0x7f,1,0x7f,1,atomics_allowed\n"
		"./rocblas-bench -f unheard_of -r s -n 3 --what 4\n"
		"rocblas_set_stream,0x1,atomics_allowed\n");

	assert_counts(&l, 5, 0, 1, 0, 0, 0);
	assert_row(&l, "trsm side=L uplo=U trans=N diag=N m=8 n=4 type=f64 lda=8 ldb=8 alpha=1",
		   "dtrsm", 1, 8 * 8 * 4);
	assert_row(&l, "syrk uplo=L trans=T n=8 k=4 type=f32 lda=4 ldc=8 alpha=1 beta=1", "ssyrk",
		   1, 8 * 8 * 4);
	assert_row(&l, "axpy n=100 type=f32c incx=1 incy=1 alpha=2+1i", "caxpy", 1, 800);
	assert_row(&l, "axpy n=100 type=f32 incx=1 incy=1 alpha=2", "saxpy", 1, 200);
	assert_true(row_with(&l, "unheard_of n=3 type=f32 what=4").flops == LIBRARY_UNKNOWN);
}
