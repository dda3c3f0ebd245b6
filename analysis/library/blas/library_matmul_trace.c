/* Trace lines of Lt libraries (library_matmul.h): what is left of one, and its key. */
#include "library_mask.h"
#include "library_matmul.h"

#include <stdio.h>
#include <string.h>

#include "profrig/base/num.h"
#include "profrig/base/xalloc.h"

#define STAMP_MAX 40 /* bytes of a date */

/* ---- splitting ---- */

void matmul_trace_release(void *state)
{
	struct matmul_trace *s = state;

	if (s->text.cap)
		strbuf_release(&s->text);
}

size_t matmul_stamp_before(struct text_slice line, size_t at)
{
	if (at == 0 || line.p[at - 1] != ']')
		return 0;
	for (size_t n = 1; n < STAMP_MAX && n <= at; n++)
		if (line.p[at - n] == '[')
			return n;
	return 0;
}

/* Cuts "[text]" off the front. */
static bool bracket_next(struct text_slice *rest, struct text_slice *ret)
{
	const char *end;

	if (rest->n < 2 || rest->p[0] != '[')
		return false;
	end = memchr(rest->p, ']', rest->n);
	if (!end)
		return false;
	*ret = (struct text_slice){ rest->p + 1, (size_t)(end - rest->p - 1) };
	rest->n -= ret->n + 2;
	rest->p = end + 1;
	return true;
}

/* Cuts "NAME=VALUE" or "NAME=[…]" off the front; 1, 0 at the end, -1 for anything else. */
static int member_next(struct text_slice *rest, struct text_slice *name, struct text_slice *v)
{
	struct text_slice t = slice_trim(*rest);
	size_t i = 0;

	if (t.n == 0)
		return 0;
	while (i < t.n && t.p[i] != '=' && t.p[i] != '[' && !slice_blank(t.p[i]))
		i++;
	if (i == 0 || i == t.n || t.p[i] != '=')
		return -1;
	*name = (struct text_slice){ t.p, i };
	t.p += i + 1;
	t.n -= i + 1;
	if (t.n > 0 && *t.p == '[') {
		if (!bracket_next(&t, v))
			return -1;
		v->p--; /* with its brackets */
		v->n += 2;
	} else {
		for (i = 0; i < t.n && !slice_blank(t.p[i]); i++)
			;
		*v = (struct text_slice){ t.p, i };
		t.p += i;
		t.n -= i;
	}
	*rest = t;
	return 1;
}

static bool is_address(struct text_slice v)
{
	return slice_begins(v, "0x") || slice_begins(v, "0X") || slice_is(v, "(nil)");
}

static bool is_null(struct text_slice v)
{
	for (size_t i = 2; i < v.n; i++)
		if (v.p[i] != '0')
			return false;
	return true;
}

/* A descriptor, its addresses as '*', those of nothing left out. */
static bool members_copy(struct strbuf *to, struct text_slice inner)
{
	struct text_slice name, v;
	int r;

	strbuf_addch(to, '[');
	while ((r = member_next(&inner, &name, &v)) > 0) {
		bool address = is_address(v);

		if (address && (slice_is(v, "(nil)") || is_null(v)))
			continue;
		strbuf_add(to, name.p, name.n);
		strbuf_addch(to, '=');
		if (address)
			strbuf_addch(to, '*');
		else
			strbuf_add(to, v.p, v.n);
		strbuf_addch(to, ' ');
	}
	strbuf_addch(to, ']');
	return r == 0;
}

static bool is_of_the_run(struct text_slice name)
{
	static const char *const names[] = {
		"A",          "B",         "C", "D", "algo", "workSpace", "workSpaceSizeInBytes",
		"outOfPlace", "preference"
	};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (slice_is(name, names[i]))
			return true;
	return false;
}

/* false: the text is not whole. Behind the stream the record ends. */
static bool trace_copy(struct strbuf *to, struct text_slice rest, bool cut)
{
	struct text_slice name, v;
	int r;

	while ((r = member_next(&rest, &name, &v)) > 0) {
		if (slice_is(name, "stream"))
			return true;
		if (is_of_the_run(name) || is_address(v))
			continue;
		strbuf_add(to, name.p, name.n);
		strbuf_addch(to, '=');
		if (v.n > 0 && *v.p == '[') {
			if (!members_copy(to, (struct text_slice){ v.p + 1, v.n - 2 }))
				return false;
		} else {
			strbuf_add(to, v.p, v.n);
		}
		strbuf_addch(to, ' ');
	}
	return r == 0 && !cut;
}

enum record_is matmul_split(struct matmul_trace *s, const struct log_record *r, struct log_facts *f,
			    bool (*calls)(struct text_slice function))
{
	struct text_slice rest = r->text, stamp, library, level, function;

	if (r->marker > 0 && !bracket_next(&rest, &stamp))
		return RECORD_TORN;
	if (!bracket_next(&rest, &library) || !bracket_next(&rest, &level))
		return RECORD_TORN;
	if (num_i64(level.p, level.n, &f->when.pid) == 0 && !bracket_next(&rest, &level))
		return RECORD_TORN;
	if (!bracket_next(&rest, &function))
		return RECORD_TORN;
	if (!slice_is(level, "Trace") || !calls(function))
		return RECORD_INFO;
	if (r->marker > 0)
		library_stamp(stamp, &f->when.t_ns);
	if (!s->text.cap) {
		strbuf_init(&s->text);
		strbuf_limit(&s->text, LIBRARY_TEXT_MAX + 1);
	}
	strbuf_clear(&s->text);
	s->text.overflow = false;
	strbuf_add(&s->text, function.p, function.n);
	strbuf_addch(&s->text, ' ');
	if (!trace_copy(&s->text, rest, r->cut))
		return RECORD_TORN;
	f->text = (struct text_slice){ s->text.buf, s->text.len };
	return RECORD_CALL;
}

bool matmul_mask(const void *state, const struct log_record *r, struct log_mask *m)
{
	struct text_slice rest = r->text, stamp;

	(void)state;
	if (r->marker > 0) {
		if (!bracket_next(&rest, &stamp))
			return false;
		library_stamp(stamp, &m->t_ns);
		mask_word(m);
	}
	mask_addresses(m, rest, NULL);
	return true;
}

/* ---- keys ---- */

struct trace_matrix {
	const struct element_type *type;
	int64_t rows, cols, ld, batch, stride;
	bool row_major;
	bool tiled; /* its leading dimension is no count of elements of a column */
};

struct trace_call {
	struct matmul m;
	struct trace_matrix of[4]; /* A B C D */
	bool seen[4], compute;
};

static void call_release(struct trace_call *c)
{
	matmul_release(&c->m);
}

static bool name_is(struct text_slice name, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (slice_is(name, names[i]))
			return true;
	return false;
}

static bool size_is(struct trace_matrix *x, struct text_slice name, int64_t **ret)
{
	static const char *const batches[] = { "batchCount", "batch_count", "batch" };
	static const char *const strides[] = { "stridedBatchOffset", "strided_batch_offset",
					       "batch_stride", "batchStride", "stride" };

	*ret = slice_is(name, "rows")                       ? &x->rows
	       : slice_is(name, "cols")                     ? &x->cols
	       : slice_is(name, "ld")                       ? &x->ld
	       : name_is(name, batches, ARRAY_LEN(batches)) ? &x->batch
	       : name_is(name, strides, ARRAY_LEN(strides)) ? &x->stride
							    : NULL;
	return *ret != NULL;
}

static bool matrix_read(struct trace_call *c, int i, struct text_slice inner)
{
	static const char *const prefixes[] = { "a_", "b_", "c_", "d_" };
	struct trace_matrix *x = &c->of[i];
	struct text_slice name, v;
	int64_t *to;
	int r;

	*x = (struct trace_matrix){
		.rows = DIM_NONE, .cols = DIM_NONE, .ld = DIM_NONE, .batch = 1, .stride = DIM_NONE
	};
	while ((r = member_next(&inner, &name, &v)) > 0) {
		if (size_is(x, name, &to)) {
			if (num_i64(v.p, v.n, to) < 0)
				return false;
		} else if (slice_is(name, "type")) {
			x->type = element_type(v.p, v.n);
			if (!x->type)
				return false;
		} else if (slice_is(name, "order") && slice_is(v, "ORDER_ROW")) {
			x->row_major = true;
		} else if (!slice_is(name, "order") || !slice_is(v, "ORDER_COL")) {
			x->tiled |= slice_is(name, "order");
			matmul_more(&c->m, prefixes[i], name, v);
		}
	}
	c->seen[i] = true;
	return r == 0 && x->type && x->rows != DIM_NONE && x->cols != DIM_NONE;
}

/* "OP_T"; 0: it is none. */
static char trans_of(struct text_slice v)
{
	return v.n == 4 && !memcmp(v.p, "OP_", 3) && strchr("NTC", v.p[3]) ? v.p[3] : 0;
}

/* "aScalePointer", "A_scale" …: whose, -1: none of them. */
static int scale_of(struct text_slice name, const char *tail)
{
	static const char *const letters = "abcd";
	const char *at = name.n > 0 && name.p[0] ? strchr(letters, name.p[0]) : NULL;
	struct text_slice rest = { name.p + 1, name.n - 1 };

	return at && slice_is(rest, tail) ? (int)(at - letters) : -1;
}

static bool pointer_read(struct trace_call *c, struct text_slice name)
{
	int i = scale_of(name, "ScalePointer");

	if (i >= 0 && !c->m.scale[i][0])
		memcpy(c->m.scale[i], "1", 2);
	else if (i < 0 && !slice_is(name, "biasPointer") && !slice_is(name, "bias") &&
		 !slice_is(name, "epilogueAuxPointer") && !slice_is(name, "auxPointer"))
		matmul_more(&c->m, "", name, (struct text_slice){ "1", 1 });
	return true;
}

static void scale_mode_read(struct trace_call *c, int i, struct text_slice v)
{
	size_t n = v.n < sizeof(c->m.scale[i]) ? v.n : sizeof(c->m.scale[i]) - 1;

	for (size_t k = 0; k < n; k++)
		c->m.scale[i][k] = v.p[k] >= 'A' && v.p[k] <= 'Z' ? (char)(v.p[k] + 32) : v.p[k];
	c->m.scale[i][n] = 0;
}

static bool compute_member(struct trace_call *c, struct text_slice name, struct text_slice v)
{
	struct gemm *g = &c->m.g;
	int scale = scale_of(name, "ScaleMode");

	if (slice_is(name, "computeType"))
		return (g->compute = compute_type(v, &c->m.mode)) != NULL;
	if (slice_is(name, "scaleType"))
		return (c->m.scale_type = element_type(v.p, v.n)) != NULL;
	if (slice_is(name, "transA") || slice_is(name, "transa"))
		return (g->ta = trans_of(v)) != 0;
	if (slice_is(name, "transB") || slice_is(name, "transb"))
		return (g->tb = trans_of(v)) != 0;
	if (slice_is(name, "epilogue"))
		epilogue_name(v, g->epilogue);
	else if (slice_is(v, "*"))
		pointer_read(c, name);
	else if (scale >= 0)
		scale_mode_read(c, scale, v);
	else if (!slice_is(name, "smCountTarget") && !is_address(v))
		matmul_more(&c->m, "", name, v);
	return true;
}

static bool compute_read(struct trace_call *c, struct text_slice inner)
{
	struct text_slice name, v;
	int r;

	c->m.g.ta = c->m.g.tb = 'N';
	c->compute = true;
	while ((r = member_next(&inner, &name, &v)) > 0)
		if (!compute_member(c, name, v))
			return false;
	return r == 0 && c->m.g.compute;
}

/* "?" and anything else that is no number: unknown. */
static void scalar_read(struct text_slice v, char to[32])
{
	char text[40];
	double d;

	if (num_f64(v.p, v.n, &d) == 0 && num_fmt_f64(text, d) < 32)
		memcpy(to, text, strlen(text) + 1);
}

static bool trace_member(struct trace_call *c, struct text_slice name, struct text_slice v)
{
	static const char *const descriptors[] = { "Adesc", "Bdesc", "Cdesc", "Ddesc" };
	struct text_slice inner = { v.p + 1, v.n - 2 };
	bool list = v.n > 1 && *v.p == '[';

	for (int i = 0; i < 4; i++)
		if (slice_is(name, descriptors[i]))
			return list && !c->seen[i] && matrix_read(c, i, inner);
	if (slice_is(name, "computeDesc"))
		return list && !c->compute && compute_read(c, inner);
	if (slice_is(name, "alpha"))
		scalar_read(v, c->m.g.alpha);
	else if (slice_is(name, "beta"))
		scalar_read(v, c->m.g.beta);
	else
		matmul_more(&c->m, "", name, v);
	return true;
}

static bool matrix_fits(const struct trace_matrix *x, bool trans, int64_t rows, int64_t cols)
{
	return trans ? x->rows == cols && x->cols == rows : x->rows == rows && x->cols == cols;
}

/* A matrix stored by rows is the transposed one stored by columns. */
static char trans_stored(char t, const struct trace_matrix *x, const struct trace_matrix *d)
{
	if (x->row_major == d->row_major)
		return t;
	return t == 'N' ? 'T' : 'N';
}

static enum record_is call_key(struct trace_call *c, const char *operation, struct library_key *k)
{
	const struct trace_matrix *a = &c->of[0], *b = &c->of[1], *o = &c->of[2];
	const struct trace_matrix *d = c->seen[3] ? &c->of[3] : o;
	struct gemm *g = &c->m.g;

	if (!c->seen[0] || !c->seen[1] || !c->compute || (!c->seen[2] && !c->seen[3]))
		return RECORD_TORN;
	g->m = d->rows;
	g->n = d->cols;
	g->k = g->ta == 'N' ? a->cols : a->rows;
	if (!matrix_fits(a, g->ta != 'N', g->m, g->k) ||
	    !matrix_fits(b, g->tb != 'N', g->k, g->n) ||
	    (c->seen[2] && !matrix_fits(o, false, g->m, g->n)))
		return key_bad(k, "rows and columns do not fit each other");
	g->a = a->type;
	g->b = b->type;
	g->c = c->seen[2] ? o->type : d->type;
	g->d = d->type;
	g->batch = d->batch;
	g->lda = a->tiled ? DIM_NONE : a->ld;
	g->ldb = b->tiled ? DIM_NONE : b->ld;
	g->ldd = d->tiled ? DIM_NONE : d->ld;
	g->ldc = c->seen[2] ? (o->tiled ? DIM_NONE : o->ld) : g->ldd;
	g->stride_a = a->stride;
	g->stride_b = b->stride;
	g->stride_d = d->stride;
	g->stride_c = c->seen[2] ? o->stride : d->stride;
	g->ta = trans_stored(g->ta, a, d);
	g->tb = trans_stored(g->tb, b, d);
	if (d->row_major)
		gemm_row_major(g);
	return matmul_key(&c->m, operation, k);
}

enum record_is matmul_parse(struct text_slice text, const char *prefix, struct library_key *k)
{
	CLEANUP(call_release) struct trace_call c = { .compute = false };
	struct text_slice name, v, function = text;
	char operation[64];
	size_t n = 0;
	int r;

	matmul_init(&c.m);
	while (n < text.n && !slice_blank(text.p[n]))
		n++;
	function.n = n;
	text.p += n;
	text.n -= n;
	if (slice_begins(function, prefix)) {
		function.p += strlen(prefix);
		function.n -= strlen(prefix);
	}
	for (n = 0; n < function.n && n < sizeof(operation) - 1; n++)
		operation[n] = function.p[n] >= 'A' && function.p[n] <= 'Z'
				       ? (char)(function.p[n] + 32)
				       : function.p[n];
	operation[n] = 0;
	while ((r = member_next(&text, &name, &v)) > 0)
		if (!trace_member(&c, name, v))
			return RECORD_TORN;
	return r < 0 ? RECORD_TORN : call_key(&c, operation, k);
}
