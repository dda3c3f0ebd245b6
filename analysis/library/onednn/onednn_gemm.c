/*
 * Products of matrices of oneDNN (onednn_key.h):
 *
 *	matmul		64x128:128x32[:64x32], 16x64x128:16x128x32; b16m64n32k128 before 2.0
 *	gemm_api	64x128:128x32 of dnnl_sgemm; lda:, ldb: where they are not the least,
 *			attr-scales:src:common:ALPHA, attr-post-ops:sum:BETA where not 1 and 0
 *
 * Matrices are in row-major order where their tag is ab or abc. The lines before 3.2 do not tell
 * strides, so leading dimensions are unknown there; later ones tell them unless they are the least.
 */
#include "onednn_call.h"

#include <stdio.h>
#include <string.h>

#include "profrig/base/num.h"
#include "profrig/base/xalloc.h"

struct product {
	struct gemm g; /* row-major: c = a b with a of src, b of wei */
	int dims;      /* 2, 3 */
	const struct onednn_md *src, *wei, *dst;
	bool dst_transposed;
	struct strbuf with;
};

static void product_release(struct product *p)
{
	strbuf_release(&p->with);
}

/* 'N', 'T', 0: the tag is not that of a plain matrix or of a batch of them. */
static char plain_tag(const struct onednn_md *m, int dims)
{
	if (!slice_is(m->kind, "blocked") || m->strides.n > 0 ||
	    (m->rest.n > 0 && !slice_is(m->rest, "f0")))
		return 0;
	if (slice_is(m->tag, dims == 3 ? "abc" : "ab"))
		return 'N';
	return slice_is(m->tag, dims == 3 ? "acb" : "ba") ? 'T' : 0;
}

static bool extents_have(const struct onednn_extents *e, int64_t batch, int64_t rows, int64_t cols)
{
	return e->v[e->nr - 2] == rows && e->v[e->nr - 1] == cols &&
	       (e->nr == 2 || e->v[0] == batch || e->v[0] == 1);
}

/* RECORD_FOREIGN: of more dimensions, or known at run time only. */
static enum record_is sizes_of_lists(const struct onednn_problem *q, struct product *p,
				     struct library_key *k)
{
	const struct onednn_extents *a = &q->list[0], *b = &q->list[1];
	size_t nr = a->nr;

	if (q->lists < 2)
		return RECORD_TORN;
	for (size_t i = 0; i < q->lists; i++) {
		if (q->list[i].nr != nr)
			return RECORD_FOREIGN; /* groups of matrices */
		for (size_t d = 0; d < nr; d++)
			if (q->list[i].v[d] == DIM_NONE)
				return RECORD_FOREIGN;
	}
	if (nr != 2 && nr != 3)
		return RECORD_FOREIGN;
	p->dims = (int)nr;
	p->g.m = a->v[nr - 2];
	p->g.k = a->v[nr - 1];
	p->g.n = b->v[nr - 1];
	p->g.batch = nr == 2 ? 1 : a->v[0] == 1 ? b->v[0] : a->v[0];
	if (!extents_have(b, p->g.batch, p->g.k, p->g.n) ||
	    (q->lists > 2 && !extents_have(&q->list[2], p->g.batch, p->g.m, p->g.n)))
		return key_bad(k, "the extents of its matrices do not fit");
	p->g.stride_a = nr == 3 && a->v[0] == 1 && p->g.batch != 1 ? 0 : DIM_NONE;
	p->g.stride_b = nr == 3 && b->v[0] == 1 && p->g.batch != 1 ? 0 : DIM_NONE;
	return RECORD_CALL;
}

static enum record_is product_sizes(const struct onednn_problem *q, struct product *p,
				    struct library_key *k)
{
	if (q->lists > 0)
		return sizes_of_lists(q, p, k);
	p->g.m = onednn_pair(q, "m", DIM_NONE);
	p->g.n = onednn_pair(q, "n", DIM_NONE);
	p->g.k = onednn_pair(q, "k", DIM_NONE);
	p->g.batch = onednn_pair(q, "b", 1);
	p->dims = onednn_pair(q, "b", DIM_NONE) == DIM_NONE ? 2 : 3;
	return RECORD_CALL;
}

/* Elements from one matrix of a batch to the next, where they follow each other. */
static int64_t matrix_stride(int64_t rows, int64_t cols)
{
	amount n = amount_mul(amount_mul(1, rows), cols);

	return n > DIM_MAX ? DIM_NONE : (int64_t)n;
}

/* The least leading dimensions, which the log would tell otherwise. */
static void product_least(struct product *p, bool a, bool b, bool c)
{
	struct gemm *g = &p->g;

	if (a)
		g->lda = g->ta == 'N' ? g->k : g->m;
	if (b)
		g->ldb = g->tb == 'N' ? g->n : g->k;
	if (c)
		g->ldc = g->ldd = p->dst_transposed ? g->m : g->n;
	if (p->dims == 3 && a && g->stride_a == DIM_NONE)
		g->stride_a = matrix_stride(g->m, g->k);
	if (p->dims == 3 && b && g->stride_b == DIM_NONE)
		g->stride_b = matrix_stride(g->k, g->n);
	if (p->dims == 3 && c)
		g->stride_c = g->stride_d = matrix_stride(g->m, g->n);
}

static bool type_is(const struct element_type *t, const char *name)
{
	return t && !strcmp(t->name, name);
}

/* oneDNN accumulates in f32, or in the integers and doubles that it is given. */
static const struct element_type *compute_type(const struct gemm *g)
{
	const char *name = "f32";

	if (type_is(g->a, "f64"))
		name = "f64";
	else if (type_is(g->a, "i8") || type_is(g->a, "u8"))
		name = type_is(g->b, "i8") || type_is(g->b, "u8") ? "i32" : "";
	return element_type(name, strlen(name));
}

static bool text_has(const struct strbuf *sb, const char *what)
{
	return memmem(sb->buf, sb->len, what, strlen(what)) != NULL;
}

static bool word_number(struct text_slice word, const char *prefix, char *to)
{
	size_t n = strlen(prefix);
	char text[40];
	double d;

	if (!slice_begins(word, prefix) || num_f64(word.p + n, word.n - n, &d) < 0 ||
	    num_fmt_f64(text, d) >= 32)
		return false;
	memcpy(to, text, strlen(text) + 1);
	return true;
}

static bool word_size(struct text_slice word, const char *prefix, int64_t *to)
{
	size_t n = strlen(prefix);

	return slice_begins(word, prefix) && num_i64(word.p + n, word.n - n, to) == 0;
}

/* Of dnnl_sgemm, whose scalars and leading dimensions are attributes. */
static void api_words(const struct onednn_call *c, struct product *p)
{
	struct text_slice t = c->attrs;

	memcpy(p->g.alpha, "1", 2);
	memcpy(p->g.beta, "0", 2);
	product_least(p, true, true, false);
	for (size_t i = 0, n = 0; i <= t.n; i++) {
		struct text_slice word = { t.p + i - n, n };

		if (i < t.n && t.p[i] != ' ') {
			n++;
			continue;
		}
		n = 0;
		if (!word_size(word, "lda:", &p->g.lda) && !word_size(word, "ldb:", &p->g.ldb) &&
		    !word_number(word, "attr-scales:src:common:", p->g.alpha) &&
		    !word_number(word, "attr-oscale:common:", p->g.alpha) &&
		    !word_number(word, "attr-post-ops:sum:", p->g.beta))
			onednn_with_word(&p->with, "", word);
	}
}

static void matmul_words(const struct onednn_call *c, struct product *p)
{
	onednn_with(c, &p->with);
	if (p->with.len == 0)
		memcpy(p->g.alpha, "1", 2);
	if (!text_has(&p->with, "sum"))
		memcpy(p->g.beta, "0", 2);
	for (size_t i = 0; i < c->nr; i++) {
		const struct onednn_md *m = &c->md[i];

		if (m->none || m == p->src || m == p->wei || m == p->dst)
			continue;
		onednn_with_word(&p->with, "", m->name);
		strbuf_addch(&p->with, ':');
		onednn_md_text(m, true, &p->with);
	}
	product_least(p, !p->src->old, !p->wei->old, !p->dst->old);
}

/* Properties ("a": the library chose the format) as a word, for each of the matrices. */
static void props_word(struct product *p, const char *name, const struct onednn_md *m)
{
	char prefix[16];

	snprintf(prefix, sizeof(prefix), "%s:", name);
	onednn_with_word(&p->with, prefix, m->props);
}

static enum record_is product_key(const struct onednn_call *c, struct product *p,
				  struct library_key *k)
{
	enum record_is is;

	p->g.a = p->src->type;
	p->g.b = p->wei->type;
	p->g.c = p->g.d = p->dst->type;
	if (!strcmp(c->kind, "gemm_api"))
		api_words(c, p);
	else
		matmul_words(c, p);
	if (!text_has(&p->with, "fpmath") && !text_has(&p->with, "acc-mode"))
		p->g.compute = compute_type(&p->g);
	props_word(p, "src", p->src);
	props_word(p, "wei", p->wei);
	props_word(p, "dst", p->dst);
	if (p->dst_transposed) { /* columns are consecutive in c: as it is, column-major */
		p->g.ta = p->g.ta == 'N' ? 'T' : 'N';
		p->g.tb = p->g.tb == 'N' ? 'T' : 'N';
	} else {
		gemm_row_major(&p->g);
	}
	is = gemm_key(&p->g, c->kind, k);
	if (is == RECORD_CALL)
		key_wordn(k, "with", p->with.buf, p->with.len);
	return is;
}

enum record_is onednn_gemm_key(const struct onednn_call *c, struct library_key *k)
{
	CLEANUP(product_release) struct product p = { .with = STRBUF_INIT };
	enum record_is is;
	char d;

	if (!c->has_problem)
		return RECORD_TORN;
	gemm_init(&p.g);
	is = product_sizes(&c->problem, &p, k);
	if (is != RECORD_CALL)
		return is;
	p.src = onednn_md_named(c->md, c->nr, "src");
	p.wei = onednn_md_named(c->md, c->nr, "wei");
	p.dst = onednn_md_named(c->md, c->nr, "dst");
	if (!p.src || !p.wei || !p.dst)
		return RECORD_TORN;
	p.g.ta = plain_tag(p.src, p.dims);
	p.g.tb = plain_tag(p.wei, p.dims);
	d = plain_tag(p.dst, p.dims);
	if (!p.g.ta || !p.g.tb || !d || !p.src->type || !p.wei->type || !p.dst->type)
		return RECORD_FOREIGN;
	p.dst_transposed = d == 'T';
	return product_key(c, &p, k);
}

/* Any number of dimensions; an extent of 1 is repeated. */
static bool batch_of(const struct onednn_problem *q, amount *ret)
{
	const struct onednn_extents *a = &q->list[0], *b = &q->list[1];

	*ret = 1;
	for (size_t i = 0; i < q->lists; i++)
		for (size_t d = 0; d < q->list[i].nr; d++)
			if (q->list[i].nr != a->nr || q->list[i].v[d] == DIM_NONE)
				return false;
	for (size_t d = 0; d + 2 < a->nr; d++)
		*ret = amount_mul(*ret, a->v[d] == 1 ? b->v[d] : a->v[d]);
	return a->nr >= 2;
}

static amount matrix_bits(const struct onednn_extents *e, const struct onednn_md *m)
{
	amount n = m->type->bits;

	for (size_t d = 0; d < e->nr; d++)
		n = amount_mul(n, e->v[d]);
	return n / 8;
}

/* The extents of the result, which are mostly those of a third list. */
static struct onednn_extents result_of(const struct onednn_problem *q)
{
	const struct onednn_extents *a = &q->list[0], *b = &q->list[1];
	struct onednn_extents e = *a;

	if (q->lists > 2)
		return q->list[2];
	for (size_t d = 0; d + 2 < a->nr; d++)
		e.v[d] = a->v[d] == 1 ? b->v[d] : a->v[d];
	e.v[a->nr - 1] = b->v[b->nr - 1];
	return e;
}

enum record_is onednn_matmul_work(const struct onednn_call *c, struct library_key *k)
{
	static const char *const names[] = { "src", "wei", "dst" };
	const struct onednn_problem *q = &c->problem;
	const struct onednn_extents *a = &q->list[0], *b = &q->list[1];
	amount flops, bytes = 0;
	struct onednn_extents result;
	bool typed = true;

	if (q->lists < 2 || !batch_of(q, &flops))
		return RECORD_CALL;
	flops = gemm_flops(a->v[a->nr - 2], b->v[b->nr - 1], a->v[a->nr - 1], flops, false);
	result = result_of(q);
	for (size_t i = 0; i < ARRAY_LEN(names) && typed; i++) {
		const struct onednn_md *m = onednn_md_named(c->md, c->nr, names[i]);

		typed = m && m->type;
		if (typed && bytes <= INT64_MAX)
			bytes += matrix_bits(i == 2 ? &result : &q->list[i], m);
	}
	if (!key_work(k, flops, typed ? bytes : 0))
		return RECORD_BAD;
	if (!typed)
		k->bytes = LIBRARY_UNKNOWN;
	return RECORD_CALL;
}
