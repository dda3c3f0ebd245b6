#include "../../test.h"

#include <math.h>

#include "profrig/base/strbuf.h"
#include "profrig/bench/bench_key.h"
#include "profrig/bench/bench_op.h"

#define GEMM "gemm ta=N tb=T m=64 n=32 k=16 a=f32 b=f32 c=f32 d=f32 compute=f32"

TEST(words)
{
	struct bench_key k;
	struct err err = ERR_INIT;
	int64_t v;
	double z[2];

	assert_int_equal(bench_key_parse("gemm ta=N m=64 alpha=-0.5", &k, &err), 0);
	assert_string_equal(bench_key_operation(&k), "gemm");
	assert_string_equal(bench_key_word(&k, "ta"), "N");
	assert_null(bench_key_word(&k, "tb"));
	assert_string_equal(bench_key_unused(&k), "m");
	assert_int_equal(bench_key_int(&k, "m", 1, &v, &err), 0);
	assert_int_equal(v, 64);
	assert_int_equal(bench_key_int(&k, "lda", 7, &v, &err), 0);
	assert_int_equal(v, 7);
	assert_int_equal(bench_key_number(&k, "alpha", 1, z, &err), 0);
	assert_true(z[0] == -0.5 && z[1] == 0);
	assert_null(bench_key_unused(&k));
	assert_int_equal(bench_key_parse("axpy", &k, &err), 0);
	assert_int_equal(k.nr, 0);
}

TEST(complex_scalars)
{
	static const struct {
		const char *text;
		double re, im;
	} cases[] = LIST({ "a s=1", 1, 0 }, { "a s=1+2i", 1, 2 }, { "a s=1+-2i", 1, -2 },
			 { "a s=1e-3-2.5e+1i", 1e-3, -25 }, { "a s=-1e5+0i", -1e5, 0 });

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct bench_key k;
		double z[2];

		assert_int_equal(bench_key_parse(cases[i].text, &k, NULL), 0);
		if (bench_key_number(&k, "s", 9, z, NULL) < 0 || z[0] != cases[i].re ||
		    z[1] != cases[i].im)
			ROW_FAIL(i, "%g %g", z[0], z[1]);
	}
}

TEST(hostile_keys)
{
	static const char *const keys[] = {
		"",
		" ",
		" m=1",
		"=1",
		"gemm ",
		"gemm  m=1",
		"gemm m",
		"gemm =1",
		"gemm m=",
		"gemm m=1 m=1",
		"gemm m=1\n",
		"gemm m=1\tn=2",
		"gemm m=\xff",
		"gemm m=1 ",
	};
	CLEANUP(xfreep) char *big = xmalloc(1 << 16);
	CLEANUP(strbuf_release) struct strbuf many = STRBUF_INIT;
	struct bench_key k;
	struct err err = ERR_INIT;

	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		if (bench_key_parse(keys[i], &k, &err) != -EINVAL)
			ROW_FAIL(i, "'%s' is taken", keys[i]);
	memset(big, 'a', 1 << 16);
	big[(1 << 16) - 1] = 0;
	assert_int_equal(bench_key_parse(big, &k, &err), -EINVAL);
	strbuf_addstr(&many, "gemm");
	for (int i = 0; i < 100; i++)
		strbuf_addf(&many, " w%d=1", i);
	assert_int_equal(bench_key_parse(many.buf, &k, &err), -EINVAL);
}

TEST(products)
{
	struct bench_op op;
	struct err err = ERR_INIT;

	assert_int_equal(bench_op_parse(GEMM, &op, &err), 0);
	assert_int_equal(op.kind, BENCH_gemm);
	assert_int_equal(op.of[OPERAND_A].ld, 64);
	assert_int_equal(op.of[OPERAND_B].rows, 32);
	assert_int_equal(op.of[OPERAND_B].ld, 32);
	assert_int_equal(op.of[OPERAND_C].elements, 64 * 32);
	assert_true(op.alpha.d[0] == 1 && op.beta.d[0] == 0);
	assert_int_equal(op.flops, 65536);
	assert_int_equal(op.bytes, 4 * (64 * 16 + 16 * 32 + 64 * 32));
	assert_int_equal(bench_op_parse(GEMM " lda=70 ldd=80 ldc=64 beta=0", &op, &err), 0);
	assert_int_equal(op.of[OPERAND_A].ld, 70);
	assert_int_equal(op.of[OPERAND_C].ld, 80);
	assert_int_equal(bench_op_parse(GEMM " batch=3 stride_a=0 beta=2", &op, &err), 0);
	assert_int_equal(op.of[OPERAND_A].elements, 64 * 16);
	assert_int_equal(op.of[OPERAND_C].elements, 3 * 64 * 32);
	assert_int_equal(op.flops, 3 * 65536);
	assert_int_equal(op.bytes, 4 * (64 * 16 + 3 * 16 * 32 + 6 * 64 * 32));
	assert_int_equal(bench_op_parse("gemm ta=C tb=N m=2 n=3 k=4 a=f64c compute=f64 alpha=1+2i",
					&op, &err),
			 0);
	assert_true(op.alpha.f[1] == 2);
	assert_int_equal(op.flops, 8 * 2 * 3 * 4);
	assert_int_equal(bench_op_parse(GEMM " alpha=other beta=other", &op, &err), 0);
	assert_true(op.alpha.d[0] == 0.5 && op.alpha.f[0] == 0.5F && op.alpha.d[1] == 0);
	assert_true(op.beta.d[0] == 0.5 && op.beta.f[0] == 0.5F);
	assert_int_equal(op.bytes, 4 * (64 * 16 + 16 * 32 + 2 * 64 * 32));
	assert_int_equal(
		bench_op_parse("trsm side=R uplo=U trans=N diag=U m=5 n=7 type=f32", &op, &err), 0);
	assert_int_equal(op.k, 7);
	assert_int_equal(op.flops, 5 * 7 * 7);
	assert_int_equal(bench_op_parse("gerc m=5 n=7 lda=6 incx=-2 incy=3 type=f32c", &op, &err),
			 0);
	assert_true(op.conj);
	assert_int_equal(op.of[OPERAND_A].elements, 9);
	assert_int_equal(op.of[OPERAND_B].elements, 19);
	assert_int_equal(op.of[OPERAND_C].elements, 6 * 7);
	assert_int_equal(op.flops, 8 * 5 * 7);
	assert_int_equal(op.bytes, 8 * (5 * 7 + 5 + 7));
	assert_int_equal(bench_op_parse("gerc m=5 n=7 type=f32", &op, &err), 0);
	assert_false(op.conj);
	assert_int_equal(bench_op_parse("dotc n=5 incx=-2 type=f32c", &op, &err), 0);
	assert_true(op.conj);
	assert_int_equal(op.of[OPERAND_A].elements, 9);
}

TEST(what_no_back_end_computes)
{
	static const struct {
		const char *key;
		int r;
	} cases[] = LIST(
		{ "conv dir=fwd n=4", -ENOTSUP }, { "gemm ta=N tb=N m=1 n=1 k=1 a=f8", -ENOTSUP },
		{ "gemm ta=N tb=N m=1 n=1 k=1 a=f32 d=f64", -ENOTSUP },
		{ "gemm ta=N tb=N m=1 n=1 k=1 a=f32 b=f", -ENOTSUP },
		{ GEMM " epilogue=GELU", -ENOTSUP }, { GEMM " ldc=64 ldd=65 beta=1", -ENOTSUP },
		{ GEMM " flush=1", -ENOTSUP }, { GEMM " lda=63", -EINVAL },
		{ GEMM " lda=-64", -EINVAL }, { GEMM " alpha=nan", -EINVAL },
		{ GEMM " alpha=x", -EINVAL }, { GEMM " alpha=others", -EINVAL },
		{ GEMM " batch=0", -EINVAL }, { GEMM " batch=2 stride_c=1", -EINVAL },
		{ GEMM " stride_a=-1", -EINVAL }, { "gemm ta=N tb=N m=-1 n=1 k=1 a=f32", -EINVAL },
		{ "gemm ta=N tb=N m=99999999999999999999 n=1 k=1 a=f32", -EINVAL },
		{ "gemm ta=N tb=N m=1000000000 n=1000000000 k=1 a=f32", -ERANGE },
		{ "gemm ta=X tb=N m=1 n=1 k=1 a=f32", -EINVAL },
		{ "gemm tb=N m=1 n=1 k=1 a=f32", -EINVAL },
		{ "gemm ta=N tb=N m=1 n=1 a=f32", -EINVAL },
		{ "ger m=5 n=7 type=f32 incy=0", -ENOTSUP },
		{ "ger m=5 n=7 type=f32 lda=4", -EINVAL }, { "ger n=7 type=f32", -EINVAL },
		{ "axpy n=5 incx=0 type=f32", -ENOTSUP }, { "axpy n=5", -EINVAL },
		{ "axpy n=1000000000000 incx=1000000000000 type=f64", -ERANGE },
		{ "syrk uplo=U trans=C n=1 k=1 type=f32c", -EINVAL });

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct bench_op op;
		struct err err = ERR_INIT;
		int r = bench_op_parse(cases[i].key, &op, &err);

		if (r != cases[i].r || !*err.msg)
			ROW_FAIL(i, "%s: %d %s", cases[i].key, r, err.msg);
	}
}

/* Cut and flipped keys of every operation: an error or an operation that fits its memory. */
TEST(damaged_keys)
{
	static const char *const keys[] = {
		"gemm ta=N tb=T m=64 n=32 k=16 a=f32 batch=2 lda=64 ldb=32 ldc=64 beta=0.5",
		"gemv trans=T m=30 n=20 type=f64 lda=31 incx=-2 incy=1 alpha=1 beta=1",
		"gerc m=30 n=20 type=f32c lda=31 incx=-2 incy=3 alpha=2",
		"syrk uplo=L trans=T n=30 k=20 type=f32c lda=31 ldc=30 alpha=1 beta=1",
		"trsm side=L uplo=U trans=C diag=N m=12 n=9 type=f64c lda=12 ldb=13 alpha=2",
		"dotu n=9 type=f32c incx=1 incy=3",
	};
	uint64_t seed = 5, cases = test_cases(20000);

	for (uint64_t i = 0; i < cases; i++) {
		CLEANUP(xfreep) char *key = xstrdup(keys[rnd(&seed) % ARRAY_LEN(keys)]);
		struct bench_op op;

		for (uint64_t n = rnd(&seed) % 3 + 1; n; n--)
			key[rnd(&seed) % strlen(key)] = (char)(rnd(&seed) % 96 + 32);
		if (rnd(&seed) % 4 == 0)
			key[rnd(&seed) % strlen(key)] = 0;
		if (bench_op_parse(key, &op, NULL) < 0)
			continue;
		assert_true(bench_op_all_bytes(&op) <= 3 * BENCH_BYTES_MAX);
		for (int o = 0; o < OPERANDS; o++)
			assert_true(op.of[o].stride >= 0 && op.of[o].rows >= 0);
	}
}
