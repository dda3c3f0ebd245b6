/*
 * hipblaslt-bench, of hipBLASLt. Source: ROCm/hipBLASLt, clients/bench/README.md,
 * clients/bench/src/client.cpp, clients/common/include/argument_model.hpp.
 *
 *	[0]:transA,transB,grouped_gemm,batch_count,m,n,k,alpha,lda,…,hipblaslt-Gflops,
 *	hipblaslt-GB/s,us
 *	    N,N,0,1,128,128,128,1,128,…,403.298,17.6063,10.4
 *
 * --use_gpu_timer: by events of the device. The heuristic's first kernel is measured, not the
 * kernel of the log; --print_kernel_info tells which it is, on lines behind the values:
 *
 *	    --Solution index: 4993
 *	    --Solution name:  Cijk_Alik_Bljk_…
 *
 * "hipBLASLt version: 1000" and "hipBLASLt git version: a1b2c3" stand in front, and become the
 * version "1000-a1b2c3".
 *
 * Traps: leading dimensions and, without --any_stride, strides below the least are replaced without
 * a word, so the columns are compared with the key; HIPBLASLT_TUNING_FILE means 1000 iterations
 * over all kernels, so it is not in the environment. On gfx942 f8 is its own format (fnuz), which
 * keys do not tell apart. C and D have one type.
 */
#include "vendor.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "profrig/base/num.h"
#include "profrig/base/xalloc.h"
#include "profrig/bench/bench_tuning.h"

#define ROTATE_MB ((int64_t)(BENCH_VENDOR_ROTATE_BYTES >> 20))

/* ---- argv ---- */

static int types_check(const struct vendor_request *r, struct err *err)
{
	const struct vendor_gemm *g = &r->gemm;

	for (int i = 0; i < MATRICES; i++)
		if (!g->type[i]->hipblaslt)
			return vendor_lacks(r, err, "no type %s", g->type[i]->name);
	if (!g->compute->hipblaslt || g->compute->bits < 32)
		return vendor_lacks(r, err, "no arithmetic in %s", g->compute->name);
	if ((g->bias_type && !g->bias_type->hipblaslt) ||
	    (g->scale_type && !g->scale_type->hipblaslt))
		return vendor_lacks(r, err, "no such type of bias or scale");
	if (g->type[MATRIX_C] != g->type[MATRIX_D])
		return vendor_lacks(r, err, "one type for C and D");
	if (g->pointers)
		return vendor_lacks(r, err, "no batches of pointers");
	return 0;
}

static void int_push(struct strvec *to, const char *option, int64_t v)
{
	strvec_push(to, option);
	strvec_pushf(to, "%" PRId64, v);
}

static void number_push(struct strvec *to, const char *option, double v)
{
	char text[32];

	num_fmt_f64(text, v);
	strvec_pushl(to, option, text, NULL);
}

static void sizes_push(const struct vendor_gemm *g, struct strvec *to)
{
	static const char *const lds[] = { "--lda", "--ldb", "--ldc", "--ldd" };
	static const char *const strides[] = { "--stride_a", "--stride_b", "--stride_c",
					       "--stride_d" };
	bool small = false;

	int_push(to, "-m", g->m);
	int_push(to, "-n", g->n);
	int_push(to, "-k", g->k);
	for (int i = 0; i < MATRICES; i++)
		int_push(to, lds[i], g->ld[i]);
	if (g->batch == 1)
		return;
	int_push(to, "--batch_count", g->batch);
	for (int i = 0; i < MATRICES; i++) {
		int_push(to, strides[i], g->stride[i]);
		small |= g->stride[i] < g->ld[i] * vendor_gemm_cols(g, i);
	}
	if (small)
		strvec_push(to, "--any_stride");
}

const char *vendor_hipblaslt_compute(const struct vendor_gemm *g)
{
	if (!g->mode)
		return g->compute->hipblaslt;
	return !strcmp(g->mode, "fast_16f") ? "f32_f16_r" : "f32_bf16_r";
}

static void types_push(const struct vendor_gemm *g, struct strvec *to)
{
	static const char *const options[] = { "--a_type", "--b_type", "--c_type", "--d_type" };

	for (int i = 0; i < MATRICES; i++)
		strvec_pushl(to, options[i], g->type[i]->hipblaslt, NULL);
	strvec_pushl(to, "--compute_type", vendor_hipblaslt_compute(g), NULL);
	if (g->scale_type)
		strvec_pushl(to, "--scale_type", g->scale_type->hipblaslt, NULL);
}

static void epilogue_push(const struct vendor_gemm *g, struct strvec *to)
{
	static const char *const scales[] = { "--scaleA", "--scaleB", "--scaleC", "--scaleD" };

	if (g->activation)
		strvec_pushl(to, "--activation_type", g->activation, NULL);
	if (g->bias)
		strvec_push(to, "--bias_vector");
	if (g->bias_type)
		strvec_pushl(to, "--bias_type", g->bias_type->hipblaslt, NULL);
	if (g->aux)
		strvec_push(to, "--use_e");
	for (int i = 0; i < MATRICES; i++)
		if (g->scale[i])
			int_push(to, scales[i], g->scale[i]);
	if (g->scale_alpha)
		strvec_push(to, "--scaleAlpha_vector");
}

static int argv(struct vendor_request *r, struct strvec *ret, struct err *err)
{
	const struct vendor_gemm *g = &r->gemm;
	const char ta[2] = { g->ta, 0 }, tb[2] = { g->tb, 0 };
	int e;

	if (r->family != FAMILY_GEMM)
		return vendor_lacks(r, err, "no '%.40s'", bench_key_operation(&r->key));
	if (r->cache == BENCH_WEIGHTS_COLD)
		return vendor_lacks(r, err, "no cache mode weights-cold, but warm and cold");
	e = types_check(r, err);
	if (e < 0)
		return e;
	strvec_pushl(ret, "--api_method", "c", "--transA", ta, "--transB", tb, NULL);
	sizes_push(g, ret);
	number_push(ret, "--alpha", g->alpha[0]);
	number_push(ret, "--beta", g->beta[0]);
	types_push(g, ret);
	epilogue_push(g, ret);
	int_push(ret, "-i", (int64_t)r->iterations);
	int_push(ret, "-j", (int64_t)r->warmup);
	strvec_pushl(ret, "--use_gpu_timer", "--print_kernel_info", "--initialization",
		     g->compute->integer ? "rand_int" : "trig_float", NULL);
	if (r->cache == BENCH_COLD)
		int_push(ret, "--rotating", ROTATE_MB);
	return 0;
}

/* ---- output ---- */

static int problem_check(const struct vendor_request *r, const struct vendor_table *t,
			 struct err *err)
{
	const struct vendor_gemm *g = &r->gemm;
	const struct {
		const char *name;
		int64_t want;
	} ints[] = { { "m", g->m },
		     { "n", g->n },
		     { "k", g->k },
		     { "lda", g->ld[MATRIX_A] },
		     { "ldb", g->ld[MATRIX_B] },
		     { "ldc", g->ld[MATRIX_C] },
		     { "ldd", g->ld[MATRIX_D] },
		     { "batch_count", g->batch },
		     { "grouped_gemm", 0 },
		     { "rotating_buffer", r->cache == BENCH_COLD ? ROTATE_MB : 0 } };
	static const char *const strides[] = { "stride_a", "stride_b", "stride_c", "stride_d" };
	const char ta[2] = { g->ta, 0 }, tb[2] = { g->tb, 0 };
	int e = vendor_expect_word(t, "transA", ta, err);

	if (e == 0)
		e = vendor_expect_word(t, "transB", tb, err);
	for (size_t i = 0; e == 0 && i < ARRAY_LEN(ints); i++)
		e = vendor_expect(t, ints[i].name, ints[i].want, err);
	for (int i = 0; e == 0 && i < MATRICES && g->batch > 1; i++)
		e = vendor_expect(t, strides[i], g->stride[i], err);
	return e;
}

static int32_t solution_read(const char *out)
{
	char text[24] = "";
	int64_t n;

	/* one that fills the room may have been cut */
	if (!vendor_after(out, "--Solution index:", "", text, sizeof(text)) ||
	    strlen(text) + 1 == sizeof(text) || num_i64(text, strlen(text), &n) < 0 || n < 0 ||
	    n > INT32_MAX)
		return BENCH_SOLUTION_NONE;
	return (int32_t)n;
}

static void version_read(const char *out, char *to, size_t size)
{
	char revision[BENCH_REVISION_MAX + 1];

	if (!vendor_after(out, "hipBLASLt version: ", "", to, size) ||
	    !vendor_after(out, "hipBLASLt git version: ", "", revision, sizeof(revision)) ||
	    !bench_revision_is_one(revision))
		return;
	snprintf(to + strlen(to), size - strlen(to), "-%s", revision);
}

static int read_output(const struct vendor_request *r, const struct vendor_output *o,
		       struct vendor_result *ret, struct err *err)
{
	struct vendor_table t;
	int e;

	if (vendor_says(o, "no solution found") || vendor_says(o, "algo not found") ||
	    vendor_says(o, "HIPBLAS_STATUS_NOT_SUPPORTED"))
		return err_set(err, ENOTSUP, "hipBLASLt has no kernel for it");
	e = vendor_table_read(o->out, "us", &t, err);
	if (e == 0)
		e = problem_check(r, &t, err);
	if (e == 0)
		e = vendor_positive(*vendor_value(&t, "us"), "us", &ret->us, err);
	if (e < 0)
		return e;
	version_read(o->out, ret->version, sizeof(ret->version));
	ret->solution = solution_read(o->out);
	return 0;
}

static const char *const executables[] = { "hipblaslt-bench", NULL };
static const char *const folders[] = { "/opt/rocm/bin", NULL };

const struct bench_program bench_program_hipblaslt_bench = { .name = "hipblaslt-bench",
							     .executables = executables,
							     .folders = folders,
							     .amd = true,
							     .timer = "device",
							     .init = "trig_float",
							     .patience = 6,
							     .argv = argv,
							     .read = read_output };
