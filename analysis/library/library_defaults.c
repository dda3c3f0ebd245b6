#include "library_defaults.h"
#include "library_args.h"

#include <string.h>

static void letter_default(char *c, char otherwise)
{
	if (!*c)
		*c = otherwise;
}

static void number_default(char number[32], const char *otherwise)
{
	if (!number[0])
		memcpy(number, otherwise, strlen(otherwise) + 1);
}

/* rows: of the matrix as stored; a matrix without rows has 1 all the same. */
static void leading_default(int64_t *ld, int64_t rows)
{
	if (*ld == DIM_NONE && rows != DIM_NONE)
		*ld = rows < 1 ? 1 : rows;
}

static bool is_plain(char trans)
{
	return trans == 'N' || trans == 'n';
}

void gemm_defaults(struct gemm *g)
{
	letter_default(&g->ta, 'N');
	letter_default(&g->tb, 'N');
	number_default(g->alpha, "1");
	number_default(g->beta, "0");
	leading_default(&g->lda, is_plain(g->ta) ? g->m : g->k);
	leading_default(&g->ldb, is_plain(g->tb) ? g->k : g->n);
	leading_default(&g->ldc, g->m);
	leading_default(&g->ldd, g->ldc);
}

static bool has(const struct blas *b, const char *arg)
{
	return args_has(b->function, arg);
}

static void blas_leading_defaults(struct blas *b)
{
	bool left = b->side == 'L' || b->side == 'l', ranks = has(b, "t") && has(b, "k");
	int64_t rows = b->side ? (left ? b->m : b->n) : has(b, "m") ? b->m : b->n;

	if (ranks && !is_plain(b->trans))
		rows = b->k;
	if (has(b, "lda"))
		leading_default(&b->lda, rows);
	if (has(b, "ldb"))
		leading_default(&b->ldb, b->side ? b->m : rows);
	if (has(b, "ldc"))
		leading_default(&b->ldc, b->side ? b->m : b->n);
}

void blas_defaults(struct blas *b)
{
	const struct {
		const char *arg;
		char *to, otherwise;
	} letters[] = { { "t", &b->trans, 'N' },
			{ "side", &b->side, 'L' },
			{ "uplo", &b->uplo, 'U' },
			{ "diag", &b->diag, 'N' } };

	for (size_t i = 0; i < ARRAY_LEN(letters); i++)
		if (has(b, letters[i].arg))
			letter_default(letters[i].to, letters[i].otherwise);
	if (has(b, "alpha"))
		number_default(b->alpha, "1");
	if (has(b, "beta"))
		number_default(b->beta, "0");
	if (b->incx == DIM_NONE && has(b, "incx"))
		b->incx = 1;
	if (b->incy == DIM_NONE && has(b, "incy"))
		b->incy = 1;
	blas_leading_defaults(b);
}
