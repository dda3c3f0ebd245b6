#include "library_mangle.h"

#define HEAD \
	"[\n" \
	"{\"ph\":\"M\",\"pid\":77,\"tid\":77,\"ts\":0.000,\"name\":\"profrig\",\"args\":{" \
	"\"tracer\":" \
	"\"blas\",\"version\":\"0.1.0\",\"clock\":\"CLOCK_MONOTONIC\",\"host\":\"h\",\"exe\":" \
	"\"x\"}},\n"
#define CALL(name, args) \
	"{\"ph\":\"X\",\"pid\":77,\"tid\":78,\"ts\":3314.453,\"dur\":9.404,\"name\":\"" name \
	"\",\"cat\":\"blas\",\"args\":{" args "}},\n"
#define SGEMM_COL \
	CALL("sgemm", \
	     "\"m\":5,\"n\":4,\"k\":6,\"ta\":\"T\",\"tb\":\"N\",\"flops\":240,\"bytes\":296," \
	     "\"lda\":6,\"ldb\":6,\"ldc\":5,\"order\":\"col\",\"alpha\":\"-1\",\"beta\":\"0\"," \
	     "\"int\":32")
#define SGEMM_ROW \
	CALL("sgemm", \
	     "\"m\":4,\"n\":5,\"k\":6,\"ta\":\"N\",\"tb\":\"T\",\"flops\":240,\"bytes\":296," \
	     "\"lda\":6,\"ldb\":6,\"ldc\":5,\"order\":\"row\",\"alpha\":\"-1\",\"beta\":\"0\"," \
	     "\"int\":64")

/* By rows or columns, with 32 or 64 bits: one product. */
TEST(one_configuration)
{
	CLEANUP(logged_release) struct logged l = logged_of(HEAD SGEMM_COL SGEMM_ROW "]\n");
	const struct library_row *r = l.calls->rows.v;

	assert_counts(&l, 2, 0, 3, 0, 0, 0);
	assert_row(&l,
		   "gemm ta=T tb=N m=5 n=4 k=6 a=f32 b=f32 c=f32 d=f32 compute=f32 lda=6 ldb=6 "
		   "ldc=5 ldd=5 alpha=-1 beta=0",
		   "sgemm", 2, 240);
	assert_string_equal(r->library, "blas");
	assert_int_equal(r->bytes, 296);
	assert_int_equal(r->pid, 77);
	assert_int_equal(r->first_ns, 3314453);
	assert_int_equal(r->total_ns, 2 * 9404);
	assert_false(r->inexact);
}

TEST(other_functions)
{
	CLEANUP(logged_release)
	struct logged l = logged_of(
		HEAD CALL("dgemv",
			  "\"m\":2,\"n\":3,\"ta\":\"T\",\"flops\":12,\"bytes\":88,\"lda\":3,"
			  "\"incx\":-1,\"incy\":1,\"order\":\"row\",\"alpha\":\"1\",\"beta\":\"x\","
			  "\"int\":32") CALL("dtrsm", "\"m\":2,\"n\":3,\"ta\":\"N\",\"flops\":12,"
						      "\"bytes\":112,\"lda\":2,"
						      "\"ldb\":3,\"order\":\"row\",\"side\":\"L\","
						      "\"uplo\":\"U\",\"diag\":\"U\","
						      "\"alpha\":\"1\",\"int\":32")
			CALL("ssyrk",
			     "\"n\":4,\"k\":3,\"ta\":\"T\",\"flops\":48,\"bytes\":112,\"lda\":4,"
			     "\"ldc\":4,\"order\":\"row\",\"uplo\":\"L\",\"alpha\":\"1\","
			     "\"beta\":\"1\",\"int\":32") CALL("zdotc",
							       "\"n\":4,\"flops\":32,\"bytes\":128,"
							       "\"incx\":1,\"incy\":2,\"int\":32")
				CALL("dsdot", "\"n\":4,\"flops\":8,\"bytes\":32")
					CALL("cblas_saxpy",
					     "\"n\":4,\"new\":\"thing\",\"flops\":8,\"bytes\":48"));

	assert_counts(&l, 6, 0, 2, 0, 0, 0);
	assert_row(&l, "gemv trans=N m=3 n=2 type=f64 lda=3 incx=-1 incy=1 alpha=1 beta=other",
		   "dgemv", 1, 12);
	assert_row(&l, "trsm side=R uplo=L trans=N diag=U m=3 n=2 type=f64 lda=2 ldb=3 alpha=1",
		   "dtrsm", 1, 12);
	assert_row(&l, "syrk uplo=U trans=N n=4 k=3 type=f32 lda=4 ldc=4 alpha=1 beta=1", "ssyrk",
		   1, 48);
	assert_row(&l, "dotc n=4 type=f64c incx=1 incy=2", "zdotc", 1, 32);
	assert_row(&l, "dsdot n=4 type=f32", "dsdot", 1, 8);
	assert_row(&l, "axpy n=4 type=f32 new=thing", "cblas_saxpy", 1, 8);
}

/* A process that was killed leaves no line end, and NUL bytes behind the last line. */
TEST(parts_of_a_file)
{
	static const char zeros[] = HEAD SGEMM_COL "\0\0\0\0";
	CLEANUP(logged_release) struct logged l = { .calls = library_calls_new() };
	struct library_log *log = library_log_new(NULL, l.calls);

	library_log_text(log, zeros, sizeof(zeros) - 1);
	library_log_end(log, &l.n);
	library_log_free(log);
	assert_counts(&l, 1, 0, 3, 0, 0, 0);

	static const struct {
		const char *text;
		int records, info, torn, bad, foreign;
	} cases[] = {
		{ "[\n]\n", 0, 0, 0, 0, 2 },
		{ SGEMM_COL, 1, 0, 0, 0, 0 },
		{ "[\n" SGEMM_COL SGEMM_COL, 2, 1, 0, 0, 0 },
		{ "\"ts\":1.0,\"name\":\"sgemm\",\"cat\":\"blas\",\"args\":{\"m\":5}},\n", 0, 0, 1,
		  0, 0 },
		{ "{\"ph\":\"X\",\"cat\":\"blas\",\"args\":{\"m\":5}},\n", 0, 0, 1, 0, 0 },
		{ "{\"ph\":\"X\",\"name\":\"sgemm\",\"cat\":\"blas\",\"args\":{\"m\":5,\"n\":4\n",
		  0, 0, 1, 0, 0 },
		{ CALL("sgemm", "\"m\":5,\"n\":4,\"ta\":\"T\",\"tb\":\"N\""), 0, 0, 1, 0, 0 },
		{ CALL("sgemm", "\"m\":5,\"n\":4,\"k\":1e3,\"ta\":\"T\",\"tb\":\"N\""), 0, 0, 1, 0,
		  0 },
		{ CALL("sgemm", "\"m\":-5,\"n\":4,\"k\":3,\"ta\":\"T\",\"tb\":\"N\""), 0, 0, 0, 1,
		  0 },
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(logged_release) struct logged c = logged_of(cases[i].text);

		if ((int)c.n.records != cases[i].records || (int)c.n.info != cases[i].info ||
		    (int)c.n.torn != cases[i].torn || (int)c.n.bad != cases[i].bad ||
		    (int)c.n.foreign != cases[i].foreign)
			ROW_FAIL(i, "%d records, %d info, %d torn, %d bad, %d foreign",
				 (int)c.n.records, (int)c.n.info, (int)c.n.torn, (int)c.n.bad,
				 (int)c.n.foreign);
	}
}

TEST(survives)
{
	assert_survives(
		HEAD SGEMM_COL SGEMM_ROW CALL("dsdot", "\"n\":4,\"flops\":8,\"bytes\":32") "]\n",
		2);
}

TEST(torch_linear)
{
	CLEANUP(xfreep) char *path = test_trace("liblog/blas-torch-linear/blas.json");
	CLEANUP(logged_release) struct logged l = { .calls = library_calls_new() };
	struct library_totals t;

	assert_int_equal(library_log_read(path, l.calls, &l.n, NULL), 0);
	assert_counts(&l, 26, 0, 2, 0, 0, 0);
	assert_int_equal(l.calls->distinct, 6);
	t = library_calls_totals(l.calls);
	assert_int_equal((int64_t)t.flops, 88801284);
	assert_int_equal((int64_t)t.bytes, 7869456);
	assert_row(&l, "gemm ta=T tb=N m=512 n=32 k=256 a=f32 b=f32 c=f32 d=f32 compute=f32",
		   "sgemm", 5, 8388608);
	assert_true(row_with(&l, "dot n=2 type=f32").inexact);
}
