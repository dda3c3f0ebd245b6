/* The key of a product of matrices, which all libraries share (library_key.h). */
#include "library_parser.h"

void gemm_init(struct gemm *g)
{
	*g = (struct gemm){ .batch = 1 };
	g->m = g->n = g->k = DIM_NONE;
	g->lda = g->ldb = g->ldc = g->ldd = DIM_NONE;
	g->stride_a = g->stride_b = g->stride_c = g->stride_d = DIM_NONE;
}

#define SWAP(a, b) \
	do { \
		__typeof__(a) swap_ = (a); \
		(a) = (b); \
		(b) = swap_; \
	} while (0)

void gemm_row_major(struct gemm *g)
{
	SWAP(g->m, g->n);
	SWAP(g->ta, g->tb);
	SWAP(g->lda, g->ldb);
	SWAP(g->stride_a, g->stride_b);
	SWAP(g->a, g->b);
}

static bool is_trans(char t)
{
	return t == 'T' || t == 'C' || t == 't' || t == 'c';
}

/* The rows of a matrix as stored, which its leading dimension must hold. */
static bool leading_fits(struct library_key *k, const char *name, int64_t ld, int64_t rows)
{
	if (ld == DIM_NONE || ld >= rows)
		return true;
	key_bad(k, "%s=%lld is less than %lld rows", name, (long long)ld, (long long)rows);
	return false;
}

static bool sizes_are_sane(const struct gemm *g, struct library_key *k)
{
	const struct {
		const char *name;
		int64_t v, min;
	} sizes[] = { { "m", g->m, 0 },     { "n", g->n, 0 },        { "k", g->k, 0 },
		      { "lda", g->lda, 0 }, { "ldb", g->ldb, 0 },    { "ldc", g->ldc, 0 },
		      { "ldd", g->ldd, 0 }, { "batch", g->batch, 0 } };

	for (size_t i = 0; i < ARRAY_LEN(sizes); i++)
		if (sizes[i].v != DIM_NONE && (sizes[i].v < sizes[i].min || sizes[i].v > DIM_MAX)) {
			key_bad(k, "%s=%lld is no size", sizes[i].name, (long long)sizes[i].v);
			return false;
		}
	return leading_fits(k, "lda", g->lda, is_trans(g->ta) ? g->k : g->m) &&
	       leading_fits(k, "ldb", g->ldb, is_trans(g->tb) ? g->n : g->k) &&
	       leading_fits(k, "ldc", g->ldc, g->m) && leading_fits(k, "ldd", g->ldd, g->m);
}

static void type_word(struct library_key *k, const char *name, const struct element_type *t)
{
	if (t)
		key_word(k, name, t->name);
}

/* Bits of a matrix read for all of a batch. */
static amount matrix_bits(int64_t rows, int64_t cols, int64_t batch, int64_t stride,
			  const struct element_type *t)
{
	return amount_mul(matrix_elements(rows, cols, batch, stride == 0), t->bits);
}

static bool gemm_work(const struct gemm *g, struct library_key *k)
{
	const struct element_type *b = g->b ? g->b : g->a, *c = g->c ? g->c : g->a;
	const struct element_type *d = g->d ? g->d : c;
	amount flops = gemm_flops(g->m, g->n, g->k, amount_mul(1, g->batch), g->a->complex);
	amount bits = matrix_bits(g->m, g->k, g->batch, g->stride_a, g->a);

	bits = amount_add(bits, matrix_bits(g->k, g->n, g->batch, g->stride_b, b));
	bits = amount_add(bits, matrix_bits(g->m, g->n, g->batch, DIM_NONE, d));
	if (g->beta[0] && !(g->beta[0] == '0' && !g->beta[1]))
		bits = amount_add(bits, matrix_bits(g->m, g->n, g->batch, g->stride_c, c));
	return key_work(k, flops, bits / 8);
}

/* What every level of a log tells. */
static void gemm_common(const struct gemm *g, struct library_key *k)
{
	strbuf_addf(&k->common, "gemm %c%c %lld %lld %lld %lld %s", is_trans(g->ta) ? 'T' : 'N',
		    is_trans(g->tb) ? 'T' : 'N', (long long)g->m, (long long)g->n, (long long)g->k,
		    (long long)g->batch, g->a->name);
}

static char trans_upper(char t)
{
	return t >= 'a' && t <= 'z' ? (char)(t - 32) : t;
}

/* The conjugate of a real matrix is the matrix. */
static void trans_word(struct library_key *k, const char *name, char t,
		       const struct element_type *of)
{
	char word[2] = { trans_upper(t), 0 };

	if (word[0] == 'C' && of && !of->complex)
		word[0] = 'T';
	key_word(k, name, word);
}

enum record_is gemm_key(const struct gemm *g, const char *operation, struct library_key *k)
{
	bool batched = g->batch != 1;

	if (g->m == DIM_NONE || g->n == DIM_NONE || g->k == DIM_NONE || !g->a || !g->ta || !g->tb)
		return RECORD_TORN;
	if (!sizes_are_sane(g, k))
		return RECORD_BAD;
	key_begin(k, "gemm", operation);
	trans_word(k, "ta", g->ta, g->a);
	trans_word(k, "tb", g->tb, g->b ? g->b : g->a);
	key_int(k, "m", g->m);
	key_int(k, "n", g->n);
	key_int(k, "k", g->k);
	if (batched)
		key_int(k, "batch", g->batch);
	if (g->pointers)
		key_word(k, "by", "pointers");
	type_word(k, "a", g->a);
	type_word(k, "b", g->b);
	type_word(k, "c", g->c);
	type_word(k, "d", g->d);
	type_word(k, "compute", g->compute);
	key_int(k, "lda", g->lda);
	key_int(k, "ldb", g->ldb);
	key_int(k, "ldc", g->ldc);
	key_int(k, "ldd", g->ldd);
	if (batched) { /* without a batch strides mean nothing */
		key_int(k, "stride_a", g->stride_a);
		key_int(k, "stride_b", g->stride_b);
		key_int(k, "stride_c", g->stride_c);
		key_int(k, "stride_d", g->stride_d);
	}
	key_word(k, "alpha", g->alpha);
	key_word(k, "beta", g->beta);
	key_word(k, "epilogue", g->epilogue);
	gemm_common(g, k);
	k->inexact = g->lda == DIM_NONE || g->ldb == DIM_NONE || g->ldc == DIM_NONE;
	if (!gemm_work(g, k))
		return RECORD_BAD;
	key_product(k, 0, g->m, g->n, g->k);
	return RECORD_CALL;
}
