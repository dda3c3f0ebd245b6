#include "library_mangle.h"

#include "profrig/base/strbuf.h"

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

#define TRACE_OF(m) \
	"rocblas_sgemm,N,T," m ",32,16,1,0x7be683213a00,64,0x7be683203000,32,0,0x7b,64," \
	"atomics_allowed"
#define TRACE TRACE_OF("64")
#define ZGEMM \
	"rocblas_zgemm,N,C,64,32,16,(1,0),0x7f00,64,0x7f01,32,(0,-0.5),0x7f02,64,atomics_" \
	"allowed\n"
#define TAIL ",atomics_allowed\n"
#define PROFILE(function) \
	"- { rocblas_function: \"rocblas_" function "\", atomics_mode: atomics_allowed, "

struct counts_case {
	const char *text;
	int records, doubled, info, torn, foreign;
	const char *key; /* of a row; NULL */
};

static void expect_counts(const struct counts_case *cases, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct counts_case *c = &cases[i];
		CLEANUP(logged_release) struct logged l = logged_of(c->text);
		char is[200];

		logged_counts(&l, is);
		if ((int)l.n.records != c->records || (int)l.n.doubled != c->doubled ||
		    (int)l.n.info != c->info || (int)l.n.torn != c->torn || l.n.bad != 0 ||
		    (int)l.n.foreign != c->foreign)
			ROW_FAIL(i, "%s", is);
		if (c->key)
			row_with(&l, c->key);
	}
}

/* Host scalars of complex types are two numbers in brackets. */
TEST(trace_of_complex_scalars)
{
	static const struct counts_case cases[] = {
		{ ZGEMM, 1, 0, 0, 0, 0,
		  "gemm ta=N tb=C m=64 n=32 k=16 a=f64c b=f64c c=f64c d=f64c compute=f64c lda=64 "
		  "ldb=32 ldc=64 ldd=64 alpha=1 beta=0+-0.5i" },
		{ ZGEMM "./rocblas-bench -f gemm -r f64_c --transposeA N --transposeB C -m 64 -n "
			"32 -k 16 --alpha 1 --alphai 0 --lda 64 --ldb 32 --beta 0 --betai -0.5 "
			"--ldc 64\n",
		  1, 1, 0, 0, 0,
		  "gemm ta=N tb=C m=64 n=32 k=16 a=f64c b=f64c c=f64c d=f64c compute=f64c lda=64 "
		  "ldb=32 ldc=64 ldd=64 alpha=1 beta=0+-0.5i" },
		{ "rocblas_zgemv,T,8,4,(1.5,2),0x1,8,0x2,1,(0,0),0x3,1" TAIL, 1, 0, 0, 0, 0,
		  "gemv trans=T m=8 n=4 type=f64c lda=8 incx=1 incy=1 alpha=1.5+2i beta=0" },
		{ "rocblas_zscal,100,(2,0),0x1,1" TAIL, 1, 0, 0, 0, 0,
		  "scal n=100 type=f64c incx=1 alpha=2" },
		{ "rocblas_caxpy,100,(2,1),0x1,1,0x2,1\n", 1, 0, 0, 0, 0,
		  "axpy n=100 type=f32c incx=1 incy=1 alpha=2+1i" },
		{ "rocblas_ctrsm,L,U,C,N,8,4,(1,0),(nil),8,0x2,8" TAIL, 1, 0, 0, 0, 0,
		  "trsm side=L uplo=U trans=C diag=N m=8 n=4 type=f32c lda=8 ldb=8 alpha=1" },
		{ "rocblas_gemm_ex,N,N,4,5,6,(1,0),0x1,f32_c,4,0x2,f32_c,6,(0,0),0x3,f32_c,4,0x4,"
		  "f32_c,4,f32_c,0,0,none" TAIL,
		  1, 0, 0, 0, 0,
		  "gemm ta=N tb=N m=4 n=5 k=6 a=f32c b=f32c c=f32c d=f32c compute=f32c lda=4 ldb=6 "
		  "ldc=4 ldd=4 alpha=1 beta=0" },
		{ "rocblas_zgemm,N,C,64,32,16,(1,0\n", 0, 0, 0, 1, 0, NULL },
		{ "rocblas_zgemm,N,C,64,32,16,(1,0),0x7f00,64,0x7f01,32,(0\n", 0, 0, 0, 1, 0,
		  NULL },
	};

	expect_counts(cases, ARRAY_LEN(cases));
}

/* What another rank or a progress bar leaves in front of a record, or behind it. */
TEST(trace_glued)
{
	static const struct counts_case cases[] = {
		{ TRACE TRACE "\n", 2, 0, 0, 0, 0, SGEMM_KEY },
		{ TRACE TRACE TRACE_OF("60"), 3, 0, 0, 0, 0, SGEMM_KEY },
		{ "rocblas_sgemm,N,T,64,32" TRACE "\n", 1, 0, 0, 1, 0, SGEMM_KEY },
		{ "rocblas_sgemm,N,T,64,32,atomics_" TRACE "\n", 1, 0, 0, 1, 0, SGEMM_KEY },
		{ "step 5" TRACE "\n", 1, 0, 0, 0, 0, SGEMM_KEY },
		{ "step" TRACE "epoch 7\n", 1, 0, 0, 0, 0, SGEMM_KEY },
		{ TRACE "rocblas_strtri,U,N,8,0x1,8" TAIL, 2, 0, 0, 0, 0, SGEMM_KEY },
		{ TRACE "rocblas_unheard_of,8,0x1,8" TAIL, 2, 0, 0, 0, 0, SGEMM_KEY },
		{ TRACE "rocblas_set_stream,0x1" TAIL, 1, 0, 0, 0, 0, SGEMM_KEY },
		{ "my_rocblas_sgemm(N,T,64)\nlibrocblas_foo\nlibrocblas_foo,5,6\n"
		  "my_rocblas_sgemm,12,34.5\nmy_rocblas_sgemm, N, T, 64\n"
		  "my_rocblas_sgemm,my_rocblas_dgemm\nsee rocblas_foo,bar\nrocblas_,8,0x1,8\n",
		  0, 0, 0, 0, 8, NULL },
	};

	expect_counts(cases, ARRAY_LEN(cases));
}

/* Names are long, and a line has many of them: each is looked at once. */
TEST(trace_of_many_markers)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;

	for (int i = 0; i < 200000; i++)
		strbuf_addstr(&text, "rocblas_");
	strbuf_addstr(&text, "\n");
	CLEANUP(logged_release) struct logged l = logged_bytes(text.buf, text.len);

	assert_counts(&l, 0, 0, 0, 0, 0, 1);
}

TEST(trace_of_other_functions)
{
	static const struct counts_case cases[] = {
		{ "rocblas_strsm_batched,L,U,N,N,8,4,1,0x1,8,0x2,8,3" TAIL, 1, 0, 0, 0, 0,
		  "trsm side=L uplo=U trans=N diag=N m=8 n=4 batch=3 by=pointers type=f32 lda=8 "
		  "ldb=8 alpha=1" },
		{ "rocblas_strsm_strided_batched,L,U,N,N,8,4,1,0x1,8,64,0x2,8,32,3" TAIL, 1, 0, 0,
		  0, 0,
		  "trsm side=L uplo=U trans=N diag=N m=8 n=4 batch=3 type=f32 lda=8 ldb=8 "
		  "stride_a=64 stride_b=32 alpha=1" },
		{ "rocblas_sgeam,N,T,8,4,1,0x1,8,0,0x2,4,0x3,8" TAIL
		  "./rocblas-bench -f geam -r f32_r --transposeA N --transposeB T -m 8 -n 4 "
		  "--alpha 1 --lda 8 --beta 0 --ldb 4 --ldc 8\n" PROFILE(
			  "sgeam") "transA: 'N', transB: 'T', M: 8, N: 4, alpha: 1.0, lda: 8, "
				   "beta: 0.0, ldb: "
				   "4, ldc: 8, call_count: 1 }\n",
		  1, 2, 0, 0, 0,
		  "geam trans=N m=8 n=4 type=f32 lda=8 ldb=4 ldc=8 alpha=1 beta=0 transposeB=T" },
		{ "rocblas_axpy_ex,100,1,f32_r,0x1,f16_r,1,0x2,f16_r,1,f32_r" TAIL
		  "./rocblas-bench -f axpy_ex -n 100 --alpha 1 --a_type f32_r --b_type f16_r "
		  "--incx 1 --c_type f16_r --incy 1 --compute_type f32_r\n",
		  1, 1, 0, 0, 0, NULL },
		{ "rocblas_sdot_strided_batched,100,0x1,1,100,0x2,1,200,3,0x3" TAIL, 1, 0, 0, 0, 0,
		  "dot n=100 batch=3 type=f32 incx=1 incy=1 stride_x=100 stride_y=200" },
		{ "rocblas_isamax,100,0x1,1,0x2" TAIL, 1, 0, 0, 0, 0,
		  "iamax n=100 type=f32 incx=1" },
		{ "rocblas_scnrm2,100,0x1,1,0x2" TAIL, 1, 0, 0, 0, 0,
		  "nrm2 n=100 type=f32c incx=1" },
		{ "rocblas_bfdot,100,0x1,1,0x2,1,0x3" TAIL, 1, 0, 0, 0, 0,
		  "dot n=100 type=bf16 incx=1 incy=1" },
		{ "rocblas_sgemmt,U,N,T,8,4,1,0x1,8,0x2,8,0,0x3,8" TAIL, 1, 0, 0, 0, 0,
		  "gemmt uplo=U trans=N n=8 k=4 type=f32 lda=8 ldb=8 ldc=8 alpha=1 beta=0 "
		  "transposeB=T" },
		{ "rocblas_dsyrkx,U,N,8,4,1,0x1,8,0x2,8,0,0x3,8" TAIL, 1, 0, 0, 0, 0,
		  "syrkx uplo=U trans=N n=8 k=4 type=f64 lda=8 ldb=8 ldc=8 alpha=1 beta=0" },
		{ "rocblas_sdgmm,L,8,4,0x1,8,0x2,1,0x3,8" TAIL, 1, 0, 0, 0, 0,
		  "dgmm side=L m=8 n=4 type=f32 lda=8 ldc=8 incx=1" },
		{ "rocblas_dtrtri,U,N,8,0x1,8,0x2,8" TAIL, 1, 0, 0, 0, 0,
		  "trtri type=f64 args=U,N,8,*,8,*,8" },
		{ "rocblas_dtrtri,U,N,8,0x1,8,0x2,8\n"
		  "./rocblas-bench -f trtri -r f64_r --uplo U --diag N -n 8 --lda 8 --ldb 8\n",
		  1, 1, 0, 0, 0, "trtri uplo=U diag=N n=8 type=f64 lda=8 ldb=8" },
		{ "rocblas_unheard_of,8,0x1,8\n", 1, 0, 0, 0, 0, "unheard_of args=8,*,8" },
		{ "rocblas_set_stream,0x1" TAIL "rocblas_create_handle,0x1" TAIL
		  "rocblas_get_pointer_mode,0" TAIL "rocblas_set_pointer_mode,0\n"
		  "rocblas_gemm_ex_get_solutions,N,N,4,5,6,0x1" TAIL,
		  0, 0, 5, 0, 0, NULL },
		{ "rocblas_dtrtri,U,N\n", 0, 0, 0, 1, 0, NULL },
		{ "rocblas_dtrtri,U,N,8,0x1,8,0x2,8", 0, 0, 0, 1, 0, NULL },
		{ TRACE "\nrocblas_dtrtri,U,N,8,0x1,8\n", 1, 0, 0, 1, 0, NULL },
	};

	expect_counts(cases, ARRAY_LEN(cases));
}

TEST(profile_of_other_functions)
{
	static const struct counts_case cases[] = {
		{ PROFILE("isamax") "N: 64, incx: 1, call_count: 3 }\n", 3, 0, 0, 0, 0,
		  "iamax n=64 type=f32 incx=1" },
		{ PROFILE("scnrm2") "N: 64, incx: 1, call_count: 1 }\n", 1, 0, 0, 0, 0,
		  "nrm2 n=64 type=f32c incx=1" },
		{ PROFILE("sdgmm") "side: 'L', M: 8, N: 4, lda: 8, incx: 1, ldc: 8, call_count: 2 "
				   "}\n",
		  2, 0, 0, 0, 0, "dgmm side=L m=8 n=4 type=f32 lda=8 ldc=8 incx=1" },
		{ PROFILE("unheard_of") "N: 64, what: 5, call_count: 2 }\n", 2, 0, 0, 0, 0,
		  "unheard_of n=64 what=5" },
		{ PROFILE("set_stream") "call_count: 9 }\n", 0, 0, 1, 0, 0, NULL },
		{ PROFILE("isamax") "N: 64, incx: 1, call_cou\n", 0, 0, 0, 1, 0, NULL },
		{ PROFILE("isamax") "call_count: 3 }\n", 0, 0, 0, 1, 0, NULL },
		{ "./rocblas-bench -f iamax -r f32_r -n 64 --incx 1\n" PROFILE(
			  "isamax") "N: 64, incx: 1, call_count: 1 }\n",
		  1, 1, 0, 0, 0, "iamax n=64 type=f32 incx=1" },
		{ "rocblas_strtri,U,N,8,0x1,8,0x2,8" TAIL PROFILE(
			  "strtri") "uplo: 'U', diag: 'N', N: 8, lda: 8, ldb: 8, call_count: 1 }\n",
		  1, 1, 0, 0, 0, NULL },
	};

	expect_counts(cases, ARRAY_LEN(cases));
}

#define EX3_KEY \
	"gemm ta=N tb=N m=4 n=5 k=6 a=f8 b=f8 c=f32 d=f32 lda=4 ldb=6 ldc=4 ldd=4 alpha=1 beta=0 " \
	"composite_compute_type=f8_f8_f32"
#define EX3(compute) \
	"./rocblas-bench -f gemm_ex3 --transposeA N --transposeB N -m 4 -n 5 -k 6 --alpha 1 " \
	"--a_type f8_r --lda 4 --b_type f8_r --ldb 6 --beta 0 --c_type f32_r --ldc 4 --d_type " \
	"f32_r --ldd 4 --composite_compute_type " compute "\n"

/* The factors are converted before they are multiplied. */
TEST(composite_types)
{
	static const struct counts_case cases[] = {
		{ EX3("f8_f8_f32"), 1, 0, 0, 0, 0, EX3_KEY },
		{ EX3("f32"), 1, 0, 0, 0, 0, NULL },
		{ EX3("f8_f8_f"), 0, 0, 0, 1, 0, NULL },
		{ EX3("f8_f8_f32") "rocblas_gemm_ex3,N,N,4,5,6,1,0x1,f8_r,4,0x2,f8_r,6,0,0x3,f32_r,"
				   "4,0x4,f32_r,4,f8_f8_f32,0" TAIL,
		  1, 1, 0, 0, 0, EX3_KEY },
		{ PROFILE("gemm_ex3") "a_type: \"f8_r\", b_type: \"f8_r\", c_type: \"f32_r\", "
				      "d_type: "
				      "\"f32_r\", "
				      "compute_type: \"f8_f8_f32\", transA: 'N', transB: 'N', M: "
				      "4, N: "
				      "5, K: 6, alpha: "
				      "1.0, lda: 4, ldb: 6, beta: 0.0, ldc: 4, ldd: 4, call_count: "
				      "2 "
				      "}\n",
		  2, 0, 0, 0, 0, EX3_KEY },
	};

	expect_counts(cases, ARRAY_LEN(cases));
}

/* A scalar that rocBLAS cannot read is logged as one that is no number. */
TEST(scalars_that_are_no_numbers)
{
	static const struct counts_case cases[] = {
		{ "./rocblas-bench -f scal -r s -n 8 --alpha nan --incx 1\n", 1, 0, 0, 0, 0,
		  "scal n=8 type=f32 incx=1 alpha=nan" },
		{ "./rocblas-bench -f scal -r s -n 8 --alpha -nan --incx 1\n", 1, 0, 0, 0, 0,
		  "scal n=8 type=f32 incx=1 alpha=nan" },
		{ "./rocblas-bench -f scal -r s -n 8 --alpha -inf --incx 1\n", 1, 0, 0, 0, 0,
		  "scal n=8 type=f32 incx=1 alpha=-inf" },
		{ "rocblas_sscal,8,nan,0x1,1" TAIL, 1, 0, 0, 0, 0,
		  "scal n=8 type=f32 incx=1 alpha=nan" },
		{ "./rocblas-bench -f scal -r s -n 8 --alpha --incx 1\n", 0, 0, 0, 1, 0, NULL },
	};

	expect_counts(cases, ARRAY_LEN(cases));
}

TEST(factorisation)
{
	CLEANUP(logged_release)
	struct logged l = logged_of("./rocblas-bench -f getrf -r d -m 1000 -n 1000 --lda 1000\n"
				    "./rocblas-bench -f getrf -r d -m 30 -n 60 --lda 30\n"
				    "./rocblas-bench -f getrf -r d -n 30 --lda 30\n");

	assert_counts(&l, 3, 0, 0, 0, 0, 0);
	assert_row(&l, "getrf m=1000 n=1000 type=f64 lda=1000", "dgetrf", 1, 666666666);
	assert_row(&l, "getrf m=30 n=60 type=f64 lda=30", "dgetrf", 1, 45000);
	assert_row(&l, "getrf n=30 type=f64 lda=30", "dgetrf", 1, 18000);
}

/* A bench line has the function and its type, and a trace line the name that both make. */
TEST(names_of_bench_functions)
{
	static const struct {
		const char *options, *operation;
	} cases[] = {
		{ "-f iamax -r f32_r", "isamax" }, { "-f nrm2 -r f32_c", "scnrm2" },
		{ "-f asum -r z", "dzasum" },      { "-f nrm2 -r d", "dnrm2" },
		{ "-f scal -r c", "cscal" },       { "-f iamax_batched -r z", "izamax_batched" },
		{ "-f geam -r f64_r", "dgeam" },   { "-f nrm2_ex --a_type f32_c", "nrm2_ex" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		char line[100];

		snprintf(line, sizeof(line), "./rocblas-bench %s -n 8 --incx 1\n",
			 cases[i].options);
		CLEANUP(logged_release) struct logged l = logged_of(line);

		assert_int_equal(l.calls->rows.nr, 1);
		if (strcmp(l.calls->rows.v[0].operation, cases[i].operation) != 0)
			ROW_FAIL(i, "%s", l.calls->rows.v[0].operation);
	}
}

TEST(mangled)
{
	assert_survives(TRACE TRACE
			"\n" ZGEMM "rocblas_strtri,U,N,8,0x1,8,0x2,8" TAIL
			"rocblas_strsm_strided_batched,L,U,N,N,8,4,1,0x1,8,64,0x2,8,32,3\n",
			4);
}
