/*
 * cutlass_profiler, of CUTLASS: products of matrices. Source: NVIDIA/cutlass,
 * media/docs/profiler.md, tools/profiler/src/options.cu, performance_report.cpp.
 *
 *	CSV Results:
 *	Problem,Provider,OperationKind,Operation,Disposition,Status,gemm_kind,m,n,k,A,B,C,…,Runtime,
 *	GB/s,GFLOPs
 *	1,CUTLASS,gemm,cutlass_simt_sgemm_128x128_8x2_nn_align1,passed,success,universal,…
 *
 * It measures all kernels that it was built with. The first run finds the fastest, which the others
 * measure alone and check against a reference on the device. Runtime is the mean in ms, by events.
 *
 * Traps: f32 also matches kernels that compute in tf32 or f16, so f32 is asked for as `simt`. With
 * --workspace-count=0 operands change over the last-level cache: cold; 1 is warm. Inputs are
 * integers unless the distribution has scale -1.
 */
#include "vendor.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "profrig/base/num.h"
#include "profrig/base/xalloc.h"

#define PROBE_ITERATIONS 5
#define PROBE_WARMUP 2

static int product_check(const struct vendor_request *r, struct err *err)
{
	const struct vendor_gemm *g = &r->gemm;

	for (int i = 0; i < MATRICES; i++)
		if (!g->type[i]->cutlass)
			return vendor_lacks(r, err, "no type %s", g->type[i]->name);
	if (!g->compute->cutlass)
		return vendor_lacks(r, err, "no arithmetic in %s", g->compute->name);
	if (g->lt_word)
		return vendor_lacks(r, err, "no option for '%s'", g->lt_word);
	if (g->ta == 'C' || g->tb == 'C')
		return vendor_lacks(r, err, "no conjugates");
	if (g->pointers || !vendor_gemm_is_packed(g) || g->type[MATRIX_C] != g->type[MATRIX_D])
		return vendor_lacks(r, err, "only packed matrices, C and D of one type");
	if (g->alpha[1] != 0 || g->beta[1] != 0)
		return vendor_lacks(r, err, "only real scalars");
	return 0;
}

static void tensor_push(struct strvec *to, const char *name, const struct vendor_type *t,
			bool transposed)
{
	strvec_pushf(to, "--%s=%s:%s", name, t->cutlass, transposed ? "row" : "column");
}

static void number_push(struct strvec *to, const char *name, double v)
{
	char text[32];

	num_fmt_f64(text, v);
	strvec_pushf(to, "--%s=%s", name, text);
}

/* Which kernels compute as the key says. */
static void kernels_push(const struct vendor_request *r, struct strvec *to)
{
	const struct vendor_gemm *g = &r->gemm;
	bool tf32 = !strcmp(g->compute->name, "tf32"),
	     f32 = !strcmp(g->type[MATRIX_A]->name, "f32");

	strvec_pushf(to, "--accum=%s", tf32 ? "f32" : g->compute->cutlass);
	if (f32 && !tf32)
		strvec_push(to, "--op_class=simt");
	if (*r->kernel)
		strvec_pushf(to, "--kernels=%s", r->kernel);
	else if (tf32)
		strvec_push(to, "--kernels=tf32gemm");
}

static int argv(struct vendor_request *r, struct strvec *ret, struct err *err)
{
	const struct vendor_gemm *g = &r->gemm;
	int e;

	if (r->family != FAMILY_GEMM)
		return vendor_lacks(r, err, "options for products here, not for '%.40s'",
				    bench_key_operation(&r->key));
	if (r->cache == BENCH_WEIGHTS_COLD)
		return vendor_lacks(r, err, "no cache mode weights-cold, but warm and cold");
	e = product_check(r, err);
	if (e < 0)
		return e;
	strvec_pushl(ret, "--operation=Gemm", "--providers=cutlass", NULL);
	strvec_pushf(ret, "--m=%" PRId64, g->m);
	strvec_pushf(ret, "--n=%" PRId64, g->n);
	strvec_pushf(ret, "--k=%" PRId64, g->k);
	if (g->batch > 1)
		strvec_pushf(ret, "--batch_count=%" PRId64, g->batch);
	tensor_push(ret, "A", g->type[MATRIX_A], g->ta != 'N');
	tensor_push(ret, "B", g->type[MATRIX_B], g->tb != 'N');
	tensor_push(ret, "C", g->type[MATRIX_C], false);
	number_push(ret, "alpha", g->alpha[0]);
	number_push(ret, "beta", g->beta[0]);
	kernels_push(r, ret);
	strvec_pushf(ret, "--profiling-iterations=%" PRIu64,
		     r->probe ? PROBE_ITERATIONS : r->iterations);
	strvec_pushf(ret, "--warmup-iterations=%" PRIu64, r->probe ? PROBE_WARMUP : r->warmup);
	strvec_pushf(ret, "--workspace-count=%d", r->cache == BENCH_WARM ? 1 : 0);
	if (!g->compute->integer)
		strvec_push(ret, "--dist=uniform,min:-1,max:1,scale:-1");
	strvec_pushl(ret, r->probe ? "--verification-enabled=false" : "--verification-enabled=true",
		     r->probe ? NULL : "--verification-providers=device", NULL);
	return 0;
}

/* ---- output ---- */

static bool kernel_copy(const struct vendor_cell *c, char to[200])
{
	if (!c || c->n == 0 || c->n >= 200)
		return false;
	for (size_t i = 0; i < c->n; i++)
		if (!((c->s[i] >= 'a' && c->s[i] <= 'z') || (c->s[i] >= 'A' && c->s[i] <= 'Z') ||
		      (c->s[i] >= '0' && c->s[i] <= '9') || c->s[i] == '_'))
			return false;
	memcpy(to, c->s, c->n);
	to[c->n] = 0;
	return true;
}

static int row_check(const struct vendor_request *r, const struct vendor_table *t, struct err *err)
{
	const struct vendor_gemm *g = &r->gemm;
	int e = vendor_expect(t, "m", g->m, err);

	if (e == 0)
		e = vendor_expect(t, "n", g->n, err);
	if (e == 0)
		e = vendor_expect(t, "k", g->k, err);
	return e < 0 ? e : vendor_expect(t, "batch_count", g->batch, err);
}

static bool cell_is(const struct vendor_table *t, const char *name, const char *word)
{
	const struct vendor_cell *c = vendor_value(t, name);

	return c && vendor_cell_is(*c, word);
}

struct best {
	size_t rows, wrong;
	double ms;
};

/* A row counts when it ran, and when it is of the kernel that was asked for. */
static int row_take(const struct vendor_request *r, const struct vendor_table *t,
		    struct vendor_result *ret, struct best *best, struct err *err)
{
	const struct vendor_cell *runtime = vendor_value(t, "Runtime");
	char kernel[200];
	double ms;
	int e;

	if (!kernel_copy(vendor_value(t, "Operation"), kernel) ||
	    (*r->kernel && strcmp(kernel, r->kernel) != 0))
		return 0;
	if (cell_is(t, "Disposition", "incorrect"))
		best->wrong++;
	if (!cell_is(t, "Status", "success") ||
	    (!cell_is(t, "Disposition", "passed") && !cell_is(t, "Disposition", "not_verified")))
		return 0;
	e = row_check(r, t, err);
	if (e == 0)
		e = vendor_positive(runtime ? *runtime : (struct vendor_cell){ "", 0 }, "Runtime",
				    &ms, err);
	if (e < 0)
		return e;
	if (!best->rows++ || ms < best->ms) {
		best->ms = ms;
		memcpy(ret->kernel, kernel, sizeof(kernel));
	}
	return 0;
}

static int read_output(const struct vendor_request *r, const struct vendor_output *o,
		       struct vendor_result *ret, struct err *err)
{
	struct best best = { 0 };
	struct vendor_table t = { 0 };
	struct vendor_cell line;

	for (const char *at = o->out; vendor_line(&at, &line);) {
		struct vendor_cells c;
		int e = 0;

		vendor_split(line, ',', &c);
		if (c.nr > 5 && vendor_cell_is(c.v[0], "Problem")) {
			t.names = c;
		} else if (t.names.nr && c.nr == t.names.nr) {
			t.values = c;
			e = row_take(r, &t, ret, &best, err);
		}
		if (e < 0)
			return e;
	}
	if (!best.rows && best.wrong)
		return err_set(err, EDOM, "the kernel's result is not that of the reference");
	if (!best.rows && t.names.nr)
		return err_set(err, ENOTSUP, "it was built without a kernel for it");
	if (!best.rows)
		return err_set(err, ENODATA, "it prints no table");
	ret->us = best.ms * 1e3;
	vendor_after(ret->kernel, "", "", ret->version, sizeof(ret->version));
	return 0;
}

static const char *const executables[] = { "cutlass_profiler", NULL };
static const char *const folders[] = { "/usr/local/bin", "/opt/cutlass/bin", NULL };

const struct bench_program bench_program_cutlass_profiler = { .name = "cutlass-profiler",
							      .executables = executables,
							      .folders = folders,
							      .nvidia = true,
							      .checks = true,
							      .timer = "device",
							      .init = "uniform",
							      .patience = 30,
							      .argv = argv,
							      .read = read_output };
