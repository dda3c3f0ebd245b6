/*
 * rocblas-bench, of rocBLAS. Source: ROCm/rocBLAS, clients/benchmarks/client.cpp,
 * clients/include/argument_model.hpp.
 *
 * It prints its version, a line of names, a line of values:
 *
 *	transA,transB,M,N,K,alpha,lda,beta,ldb,ldc,rocblas-Gflops,us
 *	N,T,64,32,16,1,64,0,32,64, 1234.5, 8.1
 *
 * us is the mean, by the host's clock around a loop that ends with a synchronisation.
 *
 * Traps: a leading dimension or a stride of c or d below the least is replaced ("INFO: stride_c <
 * min_stride_c, set …") unless --any_stride is there; 10 iterations over the same operands are the
 * default, so only --flush_memory_size makes caches cold. Plain gemm is called where all types are
 * the same, gemm_ex else.
 */
#include "vendor.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "profrig/base/num.h"
#include "profrig/base/xalloc.h"

static bool is_plain(const struct vendor_gemm *g)
{
	static const char *const plain[] = { "f16", "f32", "f64", "f32c", "f64c" };
	bool known = false;

	for (size_t i = 0; i < ARRAY_LEN(plain); i++)
		known |= !strcmp(g->compute->name, plain[i]);
	for (int i = 0; i < MATRICES; i++)
		known &= g->type[i] == g->compute;
	return known && g->ld[MATRIX_D] == g->ld[MATRIX_C] &&
	       (g->batch == 1 || g->stride[MATRIX_D] == g->stride[MATRIX_C]);
}

static int types_check(const struct vendor_request *r, struct err *err)
{
	const struct vendor_gemm *g = &r->gemm;

	for (int i = 0; i < MATRICES; i++)
		if (!g->type[i]->rocblas)
			return vendor_lacks(r, err, "no type %s", g->type[i]->name);
	if (!g->compute->rocblas)
		return vendor_lacks(r, err, "no arithmetic in %s", g->compute->name);
	if (g->lt_word)
		return vendor_lacks(r, err, "no option for '%s'", g->lt_word);
	if (g->pointers && r->cache != BENCH_WARM)
		return vendor_lacks(r, err, "only warm caches for a batch of pointers");
	return 0;
}

static void number_push(struct strvec *to, const char *option, double v)
{
	char text[32];

	num_fmt_f64(text, v);
	strvec_pushl(to, option, text, NULL);
}

static void int_push(struct strvec *to, const char *option, int64_t v)
{
	strvec_push(to, option);
	strvec_pushf(to, "%" PRId64, v);
}

static void types_push(const struct vendor_gemm *g, struct strvec *to)
{
	static const char *const options[] = { "--a_type", "--b_type", "--c_type", "--d_type" };

	if (is_plain(g)) {
		strvec_pushl(to, "-r", g->compute->rocblas, NULL);
		return;
	}
	for (int i = 0; i < MATRICES; i++)
		strvec_pushl(to, options[i], g->type[i]->rocblas, NULL);
	strvec_pushl(to, "--compute_type", g->compute->rocblas, NULL);
	/* c cannot be d where they differ */
	if (g->type[MATRIX_C] != g->type[MATRIX_D] || g->ld[MATRIX_C] != g->ld[MATRIX_D])
		strvec_push(to, "--outofplace");
}

static void sizes_push(const struct vendor_gemm *g, struct strvec *to)
{
	static const char *const lds[] = { "--lda", "--ldb", "--ldc", "--ldd" };
	static const char *const strides[] = { "--stride_a", "--stride_b", "--stride_c",
					       "--stride_d" };
	int nr = is_plain(g) ? MATRIX_D : MATRICES;
	const char ta[2] = { g->ta, 0 }, tb[2] = { g->tb, 0 };
	bool small = false;

	strvec_pushl(to, "--transposeA", ta, "--transposeB", tb, NULL);
	int_push(to, "-m", g->m);
	int_push(to, "-n", g->n);
	int_push(to, "-k", g->k);
	for (int i = 0; i < nr; i++)
		int_push(to, lds[i], g->ld[i]);
	if (g->batch == 1)
		return;
	int_push(to, "--batch_count", g->batch);
	for (int i = 0; i < nr && !g->pointers; i++) {
		int_push(to, strides[i], g->stride[i]);
		small |= i >= MATRIX_C && g->stride[i] < g->ld[i] * g->n;
	}
	if (small)
		strvec_push(to, "--any_stride");
}

static bool needs_64(const struct vendor_gemm *g)
{
	bool large = g->m > INT32_MAX || g->n > INT32_MAX || g->k > INT32_MAX;

	for (int i = 0; i < MATRICES; i++)
		large |= g->ld[i] > INT32_MAX;
	return large;
}

static int argv(struct vendor_request *r, struct strvec *ret, struct err *err)
{
	const struct vendor_gemm *g = &r->gemm;
	int e;

	if (r->family != FAMILY_GEMM)
		return vendor_lacks(r, err, "no '%.40s'", bench_key_operation(&r->key));
	if (r->cache == BENCH_WEIGHTS_COLD)
		return vendor_lacks(r, err, "no cache mode weights-cold, but warm and cold");
	e = types_check(r, err);
	if (e < 0)
		return e;
	if (needs_64(g))
		strvec_pushl(ret, "--api", "1", NULL);
	strvec_push(ret, "-f");
	strvec_pushf(ret, "gemm%s%s",
		     g->batch == 1 ? ""
		     : g->pointers ? "_batched"
				   : "_strided_batched",
		     is_plain(g) ? "" : "_ex");
	types_push(g, ret);
	sizes_push(g, ret);
	number_push(ret, "--alpha", g->alpha[0]);
	number_push(ret, "--beta", g->beta[0]);
	if (g->compute->complex) {
		number_push(ret, "--alphai", g->alpha[1]);
		number_push(ret, "--betai", g->beta[1]);
	}
	int_push(ret, "-i", (int64_t)r->iterations);
	int_push(ret, "-j", (int64_t)r->warmup);
	strvec_pushl(ret, "--initialization", g->compute->integer ? "rand_int" : "trig_float",
		     NULL);
	if (r->cache == BENCH_COLD)
		int_push(ret, "--flush_memory_size", (int64_t)BENCH_VENDOR_ROTATE_BYTES);
	return 0;
}

/* "rocblas-bench INFO: stride_c < min_stride_c, set stride_c = 2048" */
static int info_check(const struct vendor_output *o, struct err *err)
{
	char words[120];

	if (!vendor_after(o->out, "-bench INFO: ", "", words, sizeof(words)))
		return 0;
	return err_set(err, EPROTO, "it measured another problem: %s", words);
}

static int problem_check(const struct vendor_gemm *g, const struct vendor_table *t, struct err *err)
{
	const struct {
		const char *name;
		int64_t want;
	} ints[] = { { "M", g->m },
		     { "N", g->n },
		     { "K", g->k },
		     { "lda", g->ld[MATRIX_A] },
		     { "ldb", g->ld[MATRIX_B] },
		     { "ldc", g->ld[MATRIX_C] },
		     { "ldd", g->ld[MATRIX_D] },
		     { "batch_count", g->batch } };
	static const char *const strides[] = { "stride_a", "stride_b", "stride_c", "stride_d" };
	const char ta[2] = { g->ta, 0 }, tb[2] = { g->tb, 0 };
	int r = vendor_expect_word(t, "transA", ta, err);

	if (r == 0)
		r = vendor_expect_word(t, "transB", tb, err);
	for (size_t i = 0; r == 0 && i < ARRAY_LEN(ints); i++)
		r = vendor_expect(t, ints[i].name, ints[i].want, err);
	for (int i = 0; r == 0 && i < MATRICES && g->batch > 1 && !g->pointers; i++)
		r = vendor_expect(t, strides[i], g->stride[i], err);
	return r;
}

static int read_output(const struct vendor_request *r, const struct vendor_output *o,
		       struct vendor_result *ret, struct err *err)
{
	struct vendor_table t;
	int e;

	if (vendor_says(o, "rocblas_status_not_implemented") ||
	    vendor_says(o, "rocblas_status_invalid_value"))
		return err_set(err, ENOTSUP, "rocBLAS has no such call");
	e = info_check(o, err);
	if (e == 0)
		e = vendor_table_read(o->out, "us", &t, err);
	if (e == 0)
		e = problem_check(&r->gemm, &t, err);
	if (e == 0)
		e = vendor_positive(*vendor_value(&t, "us"), "us", &ret->us, err);
	if (e == 0)
		vendor_after(o->out, "rocBLAS version: ", "", ret->version, sizeof(ret->version));
	return e;
}

static const char *const executables[] = { "rocblas-bench", NULL };
static const char *const folders[] = { "/opt/rocm/bin", NULL };

const struct bench_program bench_program_rocblas_bench = { .name = "rocblas-bench",
							   .executables = executables,
							   .folders = folders,
							   .amd = true,
							   .timer = "host",
							   .init = "trig_float",
							   .patience = 6,
							   .argv = argv,
							   .read = read_output };
