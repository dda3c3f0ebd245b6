/* A product of matrices as its key tells it: vendor.h. */
#include "vendor.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "profrig/base/text.h"
#include "profrig/base/xalloc.h"

#define OTHER_SCALAR 0.5  /* as bench_op.h has it */
#define OTHER_INTEGER 2.0 /* 0.5 would become 0, for which libraries have shorter ways */

static const char *const names_ld[] = { "lda", "ldb", "ldc", "ldd" };
static const char *const names_stride[] = { "stride_a", "stride_b", "stride_c", "stride_d" };
static const char *const names_type[] = { "a", "b", "c", "d" };
static const char *const names_scale[] = { "scale_a", "scale_b", "scale_c", "scale_d" };

int64_t vendor_gemm_rows(const struct vendor_gemm *g, int matrix)
{
	if (matrix == MATRIX_A)
		return g->ta == 'N' ? g->m : g->k;
	if (matrix == MATRIX_B)
		return g->tb == 'N' ? g->k : g->n;
	return g->m;
}

int64_t vendor_gemm_cols(const struct vendor_gemm *g, int matrix)
{
	if (matrix == MATRIX_A)
		return g->ta == 'N' ? g->k : g->m;
	if (matrix == MATRIX_B)
		return g->tb == 'N' ? g->n : g->k;
	return g->n;
}

bool vendor_gemm_is_packed(const struct vendor_gemm *g)
{
	for (int i = 0; i < MATRICES; i++)
		if (g->ld[i] != vendor_gemm_rows(g, i) ||
		    (g->batch > 1 && g->stride[i] != g->ld[i] * vendor_gemm_cols(g, i)))
			return false;
	return true;
}

static int trans_read(struct bench_key *k, const char *name, char *ret, struct err *err)
{
	const char *v = bench_key_word(k, name);

	if (!v || v[1] || !strchr("NTC", *v))
		return err_set(err, EINVAL, "%s=%.40s is none of N, T, C", name, v ? v : "");
	*ret = *v;
	return 0;
}

static int sizes_read(struct bench_key *k, struct vendor_gemm *g, struct err *err)
{
	int r = vendor_size(k, "m", 0, 1, &g->m, err);

	if (r == 0)
		r = vendor_size(k, "n", 0, 1, &g->n, err);
	if (r == 0)
		r = vendor_size(k, "k", 0, 1, &g->k, err);
	if (r == 0)
		r = vendor_size(k, "batch", 1, 1, &g->batch, err);
	if (r == 0 && g->batch > INT32_MAX)
		r = err_set(err, ERANGE, "batch=%lld is too large", (long long)g->batch);
	return r;
}

/* The elements that a product spans, from the first to the last, stay below 2^50. */
static int matrix_read(struct bench_key *k, struct vendor_gemm *g, int i, struct err *err)
{
	int64_t rows = vendor_gemm_rows(g, i), cols = vendor_gemm_cols(g, i);
	/* d is c unless the key tells more */
	int64_t ld = i == MATRIX_D ? g->ld[MATRIX_C] : rows, packed;
	int r = vendor_size(k, names_ld[i], ld, rows, &g->ld[i], err);

	if (r < 0)
		return r;
	if (__builtin_mul_overflow(g->ld[i], cols, &packed) || packed > VENDOR_SIZE_MAX)
		return err_set(err, ERANGE, "matrix %s is too large", names_type[i]);
	if (i == MATRIX_D && g->ld[i] == g->ld[MATRIX_C])
		packed = g->stride[MATRIX_C];
	r = vendor_size(k, names_stride[i], packed, 0, &g->stride[i], err);
	if (r == 0 && (__int128)g->stride[i] * g->batch > VENDOR_SIZE_MAX)
		r = err_set(err, ERANGE, "the batch of matrix %s is too large", names_type[i]);
	return r;
}

/* What libraries of f32 and the like compute with is not open. */
static const struct vendor_type *compute_natural(const struct vendor_type *a)
{
	return a->integer || a->bits < 32 ? NULL : a;
}

static int types_read(struct bench_key *k, struct vendor_gemm *g, struct err *err)
{
	const struct vendor_type *before = NULL;
	int r = 0;

	for (int i = 0; r == 0 && i < MATRICES; i++) {
		r = vendor_type_read(k, names_type[i], i == MATRIX_B ? g->type[MATRIX_A] : before,
				     &g->type[i], err);
		before = i == MATRIX_B ? g->type[MATRIX_A] : g->type[i];
	}
	if (r == 0)
		r = vendor_type_read(k, "compute", compute_natural(g->type[MATRIX_A]), &g->compute,
				     err);
	return r;
}

static int scalar_read(struct bench_key *k, const char *name, double otherwise, bool integer,
		       double ret[2], struct err *err)
{
	const char *v = bench_key_word(k, name);

	if (!v || strcmp(v, "other") != 0)
		return bench_key_number(k, name, otherwise, ret, err);
	ret[0] = integer ? OTHER_INTEGER : OTHER_SCALAR;
	ret[1] = 0;
	return 0;
}

/* ---- what only the Lt libraries have ---- */

static const char *lt_word(struct bench_key *k, struct vendor_gemm *g, const char *name)
{
	const char *v = bench_key_word(k, name);

	if (v && !g->lt_word)
		g->lt_word = name;
	return v;
}

static int epilogue_part(struct vendor_gemm *g, const char *part, size_t n, struct err *err)
{
	static const char *const activations[] = { "relu", "gelu", "swish" };

	if (n == 4 && !memcmp(part, "bias", n) && !g->bias) {
		g->bias = true;
		return 0;
	}
	if (n == 3 && !memcmp(part, "aux", n) && !g->aux) {
		g->aux = true;
		return 0;
	}
	for (size_t i = 0; i < ARRAY_LEN(activations) && !g->activation; i++)
		if (n == strlen(activations[i]) && !memcmp(part, activations[i], n)) {
			g->activation = activations[i];
			return 0;
		}
	return err_set(err, ENOTSUP, "no program has the epilogue '%.*s'", (int)(n < 40 ? n : 40),
		       part);
}

static int epilogue_read(struct bench_key *k, struct vendor_gemm *g, struct err *err)
{
	const char *at = lt_word(k, g, "epilogue");
	int r = 0;

	for (size_t n; r == 0 && at; at = at[n] ? at + n + 1 : NULL) {
		n = strcspn(at, "+");
		r = epilogue_part(g, at, n, err);
	}
	return r;
}

static int mode_read(struct bench_key *k, struct vendor_gemm *g, struct err *err)
{
	static const char *const modes[] = { "fast_16f", "fast_16bf" };
	const char *v = lt_word(k, g, "compute_mode");

	for (size_t i = 0; v && i < ARRAY_LEN(modes); i++)
		if (!strcmp(v, modes[i]))
			g->mode = modes[i];
	if (v && !g->mode)
		return err_set(err, ENOTSUP, "no program has compute_mode=%.40s", v);
	return 0;
}

static int scales_read(struct bench_key *k, struct vendor_gemm *g, struct err *err)
{
	const char *v = lt_word(k, g, "scaleAlpha_vector");

	if (v && strcmp(v, "1") != 0)
		return err_set(err, ENOTSUP, "no program has scaleAlpha_vector=%.40s", v);
	g->scale_alpha = v != NULL;
	for (int i = 0; i < MATRICES; i++) {
		v = lt_word(k, g, names_scale[i]);
		if (v && (strlen(v) != 1 || !strchr("12", *v)))
			return err_set(err, ENOTSUP, "no program has %s=%.40s", names_scale[i], v);
		g->scale[i] = v ? *v - '0' : 0;
	}
	return 0;
}

/* "bf16_r" as well as "bf16". */
static int bias_type_read(struct bench_key *k, struct vendor_gemm *g, struct err *err)
{
	const char *v = lt_word(k, g, "bias_type");
	char name[16] = "";

	if (!v)
		return 0;
	snprintf(name, sizeof(name), "%s", v);
	if (text_suffix(name, "_r"))
		name[strlen(name) - 2] = 0;
	g->bias_type = vendor_type(name);
	if (!g->bias_type)
		return err_set(err, ENOTSUP, "no program has bias_type=%.40s", v);
	return 0;
}

static int lt_read(struct bench_key *k, struct vendor_gemm *g, struct err *err)
{
	int r = epilogue_read(k, g, err);

	if (r == 0)
		r = mode_read(k, g, err);
	if (r == 0)
		r = scales_read(k, g, err);
	if (r == 0)
		r = bias_type_read(k, g, err);
	if (r == 0 && lt_word(k, g, "scale_type"))
		r = vendor_type_read(k, "scale_type", NULL, &g->scale_type, err);
	return r;
}

/* ---- work: docs/library.md ---- */

static void work(struct vendor_request *r)
{
	const struct vendor_gemm *g = &r->gemm;
	double batch = (double)g->batch, bits = 0;
	bool reads_c = g->beta[0] != 0 || g->beta[1] != 0;

	for (int i = 0; i < MATRICES; i++) {
		double one = (double)vendor_gemm_rows(g, i) * (double)vendor_gemm_cols(g, i) *
			     g->type[i]->bits;

		if (i != MATRIX_C || reads_c)
			bits += g->stride[i] || i == MATRIX_D || g->pointers ? one * batch : one;
	}
	r->bytes = bits / 8;
	r->flops = 2.0 * (double)g->m * (double)g->n * (double)g->k * batch *
		   (g->type[MATRIX_A]->complex ? 4 : 1);
}

static int by_read(struct bench_key *k, struct vendor_gemm *g, struct err *err)
{
	const char *v = bench_key_word(k, "by");

	g->pointers = v && !strcmp(v, "pointers");
	if (v && !g->pointers)
		return err_set(err, ENOTSUP, "no program has by=%.40s", v);
	return 0;
}

int vendor_gemm_read(struct vendor_request *req, struct err *err)
{
	struct vendor_gemm *g = &req->gemm;
	struct bench_key *k = &req->key;
	int r = trans_read(k, "ta", &g->ta, err);

	if (r == 0)
		r = trans_read(k, "tb", &g->tb, err);
	if (r == 0)
		r = sizes_read(k, g, err);
	if (r == 0)
		r = types_read(k, g, err);
	for (int i = 0; r == 0 && i < MATRICES; i++)
		r = matrix_read(k, g, i, err);
	if (r == 0)
		r = scalar_read(k, "alpha", 1, g->compute->integer, g->alpha, err);
	if (r == 0)
		r = scalar_read(k, "beta", 0, g->compute->integer, g->beta, err);
	if (r == 0)
		r = by_read(k, g, err);
	if (r == 0)
		r = lt_read(k, g, err);
	if (r == 0)
		r = vendor_all_read(k, err);
	if (r == 0)
		work(req);
	return r;
}
