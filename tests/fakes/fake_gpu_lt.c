/*
 * A stand-in for libcublasLt and libhipblaslt (fake_gpu.h) with their functions, argument orders
 * and numbers.
 */
#include "fake_gpu.h"

static const struct vendor hip = { 3, 5, 7, 111, 112, 113, 121, 131, 141, { 0, 1, 2, 14, 4, 5 } };

struct desc {
	int compute, scale, ta, tb;
};
struct layout {
	int type, batch;
	uint64_t rows, cols;
	int64_t ld, stride;
};
struct preference {
	uint64_t workspace;
};
/* Attributes by number: of desc, of layout. */
struct numbers {
	const struct vendor *v;
	int ta, tb, batch, stride;
	int compute_32, compute_tf32, compute_64;
	size_t algo; /* bytes of one */
};
static const struct numbers cuda_lt = { &cuda, 3, 4, 5, 6, 68, 77, 70, 64 };
static const struct numbers hip_lt = { &hip, 0, 1, 0, 1, 2, 6, 7, 24 };
/* An algorithm begins with its number, as those of hipBLASLt do. */
static const char algo_text[12] = "an algorithm";

static int desc_make(const struct numbers *l, void **to, int compute, int scale)
{
	struct desc *d = calloc(1, sizeof(*d));

	*d = (struct desc){ compute, scale, l->v->none, l->v->none };
	*to = d;
	return 0;
}

static int desc_set(const struct numbers *l, struct desc *d, int attribute, const void *value,
		    size_t size)
{
	if (size != 4 || (attribute != l->ta && attribute != l->tb))
		return l->v->invalid;
	memcpy(attribute == l->ta ? &d->ta : &d->tb, value, 4);
	return 0;
}

static int layout_make(void **to, int type, uint64_t rows, uint64_t cols, int64_t ld)
{
	struct layout *l = calloc(1, sizeof(*l));

	*l = (struct layout){ type, 1, rows, cols, ld, 0 };
	*to = l;
	return 0;
}

static int layout_set(const struct numbers *n, struct layout *l, int attribute, const void *value,
		      size_t size)
{
	if (attribute == n->batch && size == 4)
		memcpy(&l->batch, value, 4);
	else if (attribute == n->stride && size == 8)
		memcpy(&l->stride, value, 8);
	else
		return n->v->invalid;
	return 0;
}

static int preference_set(const struct numbers *l, struct preference *p, int attribute,
			  const void *value, size_t size)
{
	if (attribute != 1 || size != 8)
		return l->v->invalid;
	memcpy(&p->workspace, value, 8);
	return 0;
}

/* Behind the algorithm: bytes of workspace, status, waves, four numbers. */
static int heuristic(const struct numbers *l, const struct layout *c, const struct preference *p,
		     int wanted, char *results, int *found)
{
	int32_t index = (int32_t)(c->rows * 1000 + c->cols);

	const struct {
		size_t workspace;
		int state;
		float waves;
		int reserved[4];
	} rest = { p->workspace / 2, 0, 1, { 0 } };

	*found = 0;
	if (wanted < 1)
		return l->v->invalid;
	if (told("noalgo"))
		return l->v->unsupported;
	if (told("varies"))
		index += getpid();
	memcpy(results, &index, sizeof(index));
	memcpy(results + sizeof(index), algo_text, sizeof(algo_text));
	memcpy(results + l->algo, &rest, sizeof(rest));
	*found = 1;
	return 0;
}

static int destroy(void *object)
{
	free(object);
	return 0;
}

static int lt_fast(const struct numbers *l, enum kind k, const struct desc *d)
{
	int twice = k == KIND_D || k == KIND_Z, half = k == KIND_H || k == KIND_B;

	if (k == KIND_NONE || d->scale != l->v->types[half ? KIND_S : k])
		return -1;
	if (d->compute == l->compute_tf32)
		return k == KIND_S ? 1 : -1;
	return d->compute == (twice ? l->compute_64 : l->compute_32) ? 0 : -1;
}

static int matmul(const struct numbers *l, void *h, const struct desc *d, const void *alpha,
		  const void *a, const struct layout *la, const void *b, const struct layout *lb,
		  const void *beta, const void *c, const struct layout *lc, void *to,
		  const struct layout *ld, const char *algo, void *workspace, size_t bytes,
		  void *stream)
{
	enum kind kind = kind_of(l->v, la->type);
	int fast = lt_fast(l, kind, d);
	char ta = trans_of(l->v, d->ta), tb = trans_of(l->v, d->tb);
	uint64_t k = ta == 'N' ? la->cols : la->rows;

	if (fast < 0 || memcmp(algo + 4, algo_text, sizeof(algo_text)) != 0 ||
	    lb->type != la->type || ld->type != la->type || lc->ld != ld->ld ||
	    lb->batch != la->batch || ld->batch != la->batch || !runtime.has(workspace, bytes) ||
	    (ta == 'N' ? la->rows : la->cols) != ld->rows ||
	    (tb == 'N' ? lb->cols : lb->rows) != ld->cols || (tb == 'N' ? lb->rows : lb->cols) != k)
		return l->v->invalid;
	return multiply(l->v,
			(struct product){ .m = (int64_t)ld->rows,
					  .n = (int64_t)ld->cols,
					  .k = (int64_t)k,
					  .batch = la->batch,
					  .kind = kind,
					  .alpha = alpha,
					  .beta = beta,
					  .a = { a, la->ld, ta },
					  .b = { b, lb->ld, tb },
					  .c = { c, ld->ld, 'N' },
					  .stride_a = la->stride,
					  .stride_b = lb->stride,
					  .stride_c = ld->stride,
					  .d = to,
					  .fast = fast },
			h, stream);
}

#define LT(NUMBERS, NAME) \
	int NAME(Create)(void **handle) \
	{ \
		return handle_make(handle); \
	} \
	int NAME(MatmulDescCreate)(void **desc, int compute, int scale) \
	{ \
		return desc_make(&NUMBERS, desc, compute, scale); \
	} \
	int NAME(MatmulDescSetAttribute)(void *desc, int attribute, const void *v, size_t size) \
	{ \
		return desc_set(&NUMBERS, desc, attribute, v, size); \
	} \
	int NAME(MatmulDescDestroy)(void *desc) \
	{ \
		return destroy(desc); \
	} \
	int NAME(MatrixLayoutCreate)(void **layout, int type, uint64_t rows, uint64_t cols, \
				     int64_t ld) \
	{ \
		return layout_make(layout, type, rows, cols, ld); \
	} \
	int NAME(MatrixLayoutSetAttribute)(void *layout, int attribute, const void *v, \
					   size_t size) \
	{ \
		return layout_set(&NUMBERS, layout, attribute, v, size); \
	} \
	int NAME(MatrixLayoutDestroy)(void *layout) \
	{ \
		return destroy(layout); \
	} \
	int NAME(MatmulPreferenceCreate)(void **preference) \
	{ \
		*preference = calloc(1, sizeof(struct preference)); \
		return 0; \
	} \
	int NAME(MatmulPreferenceSetAttribute)(void *preference, int attribute, const void *v, \
					       size_t size) \
	{ \
		return preference_set(&NUMBERS, preference, attribute, v, size); \
	} \
	int NAME(MatmulPreferenceDestroy)(void *preference) \
	{ \
		return destroy(preference); \
	} \
	int NAME(MatmulAlgoGetHeuristic)(void *handle, void *desc, void *a, void *b, void *c, \
					 void *d, void *preference, int wanted, void *results, \
					 int *found) \
	{ \
		if (handle != &the_handle || !desc || !a || !b || !c || !d) \
			return NUMBERS.v->invalid; \
		return heuristic(&NUMBERS, c, preference, wanted, results, found); \
	} \
	int NAME(Matmul)(void *handle, void *desc, const void *alpha, const void *a, void *la, \
			 const void *b, void *lb, const void *beta, const void *c, void *lc, \
			 void *d, void *ld, const void *algo, void *workspace, size_t bytes, \
			 void *stream) \
	{ \
		return matmul(&NUMBERS, handle, desc, alpha, a, la, b, lb, beta, c, lc, d, ld, \
			      algo, workspace, bytes, stream); \
	}
#define CUBLASLT(f) cublasLt##f
#define HIPBLASLT(f) hipblasLt##f
LT(cuda_lt, CUBLASLT)
LT(hip_lt, HIPBLASLT)

int cublasLtGetProperty(int type, int *value)
{
	return property_of(type, value);
}

int hipblasLtGetGitRevision(void *handle, char *revision)
{
	const char *is = told("norevision") ? "a revision,\nno word" : "a1b2c3-dirty";

	memcpy(revision, is, strlen(is) + 1);
	return handle == &the_handle ? 0 : 1;
}

/* hipblaslt_ext::getIndexFromAlgo(hipblasLtMatmulAlgo_t &) */
int index_of_algo(const void *algo) __asm__(
	"_ZN13hipblaslt_ext16getIndexFromAlgoER22_hipblasLtMatmulAlgo_t");
int index_of_algo(const void *algo)
{
	int32_t index;

	memcpy(&index, algo, sizeof(index));
	return told("nonumber") ? -1 : index;
}

int hipblasLtGetVersion(void *handle, int *version)
{
	*version = told("old") ? 300 : 100001;
	return handle == &the_handle ? 0 : 1;
}
