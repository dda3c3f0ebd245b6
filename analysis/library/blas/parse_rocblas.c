/*
 * rocBLAS, by ROCBLAS_LAYER (a sum of bits); each call may be told by all of them:
 *
 *	2  ./rocblas-bench[ --api 1] -f gemm_ex --transposeA N -m 64 … --a_type f32_r --lda 64 …
 *	   -f gemm -r s: the function's type; -f gemm_ex: one type for each matrix
 *	1  rocblas_gemm_ex,N,T,64,512,64,1,0x7f…,f32_r,64,…	arguments in their order
 *	   the last field states whether atomics are allowed (≥ 5.0)
 *	4  - { rocblas_function: "rocblas_sgemm", transA: 'N', …, M: 64, …, call_count: 240 }
 *	   at the end of the process, one row for each configuration and argument type; older
 *	   versions leave the quotes out. alpha and beta are classes: 0, 1, -1, and 2 for all else.
 *
 * A list of bench lines that a shell ran: options that have a default may be missing
 * (library_defaults.h; types: f32), comments are no calls, and what a shell reads as something else
 * ends a line, as does other text behind it.
 *
 * A bench line's options for measuring (-i, -j, --initialization …) and the kernel that was chosen
 * (--algo, --solution_index, --flags) are not of the configuration.
 */
#include "library_args.h"
#include "library_defaults.h"
#include "library_parser.h"
#include "library_words.h"
#include "rocblas_call.h"

#include <stdio.h>
#include <string.h>

#include "profrig/base/num.h"
#include "profrig/base/xalloc.h"

#define RUN_OPTIONS \
	"-i|--iters|-j|--cold_iters|--initialization|-v|--verify|--unit_check|--norm_check|" \
	"--device|--algo|--solution_index|--flags|--workspace|--flush_memory_size|" \
	"--flush_batch_count|--rotating|--parallel_devices|--any_stride|--atomics_allowed|" \
	"--atomics_not_allowed|--fortran|--api|--log_function_name|--function_filter|" \
	"--c_noalias_d|--HMM|--math_mode|--outofplace|--verbose|--timing|--name_filter"

/* A number in its shortest form; false: it is none. */
static bool number_copy(char *buf, struct text_slice v)
{
	double d;

	if (num_f64(v.p, v.n, &d) < 0)
		return false;
	num_fmt_f64(buf, d);
	return true;
}

static bool sizes_read(struct library_words *w, const char *const *names, int64_t *const *to,
		       size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (words_int(w, names[2 * i], names[2 * i + 1], to[i]) < 0)
			return false;
	return true;
}

/* Scalars of complex types have a second part. */
static bool scalar_read(struct library_words *w, const char *name, const char *imaginary,
			char buf[32])
{
	const struct text_slice *v = words_get(w, name, NULL);
	const struct text_slice *i = words_get(w, imaginary, NULL);
	char re[40], im[40] = "";

	if (!v)
		return true;
	if (!number_copy(re, *v))
		return false;
	if (i && !number_copy(im, *i))
		im[0] = 0;
	complex_fmt(buf, re, im);
	return true;
}

/* false: there is one, and it is none of `known`. */
static bool letter_read(struct library_words *w, const char *name, const char *other,
			const char *known, char *ret)
{
	const struct text_slice *v = words_get(w, name, other);

	if (!v)
		return true;
	*ret = v->n == 1 ? v->p[0] : 0;
	return *ret && strchr(known, *ret);
}

#define TRANS_LETTERS "NTCntc"

/* false: there is one, and it is not known. */
static bool type_read(struct library_words *w, const char *name, const struct element_type **ret)
{
	const struct text_slice *v = words_get(w, name, NULL);

	if (!v)
		return true;
	*ret = element_type(v->p, v->n);
	return *ret != NULL;
}

/* "f32", or the types of the factors and the sum, which are no one type: *ret is NULL then. */
static bool composite_read(struct library_words *w, const struct element_type **ret)
{
	const struct text_slice *v = words_get(w, "--composite_compute_type", NULL);

	if (!v)
		return true;
	*ret = element_type(v->p, v->n);
	return *ret || type_is_composite(*v);
}

/* The type of a call that names none: f32, if its function has no letter of a type. */
static const struct element_type *default_type(const struct blas_name *name)
{
	const char letter = name->letter ? name->letter : 's';

	return element_type(&letter, 1);
}

/* A line with some types has lost the others, or has them in a form of a later version. */
static bool bench_types(struct library_words *w, const struct blas_name *name, struct gemm *g)
{
	const struct element_type *all = NULL;

	if (!type_read(w, "-r", &all) || !type_read(w, "--precision", &all))
		return false;
	g->a = g->b = g->c = g->d = g->compute = all;
	if (!type_read(w, "--a_type", &g->a) || !type_read(w, "--b_type", &g->b) ||
	    !type_read(w, "--c_type", &g->c) || !type_read(w, "--d_type", &g->d) ||
	    !type_read(w, "--compute_type", &g->compute) || !composite_read(w, &g->compute))
		return false;
	if (g->a || g->b || g->c || g->d || g->compute)
		return true;
	/* the library begins a line of _ex so, and has its types behind the sizes: they are lost */
	if (name->ex && words_get(w, "--transposeA", NULL) && words_get(w, "--transposeB", NULL))
		return false;
	g->a = g->b = g->c = g->d = g->compute = default_type(name);
	return true;
}

/* What is left of the options is of the configuration: nothing that is logged gets lost. */
static void options_append(const struct library_words *w, struct library_key *k)
{
	const struct library_option *rest[WORDS_MAX];
	size_t nr = words_rest(w, rest);

	for (size_t i = 0; i < nr; i++) {
		CLEANUP(xfreep) char *name = xstrndup(rest[i]->name.p, rest[i]->name.n);
		struct text_slice v = rest[i]->value;

		key_wordn(k, name + strspn(name, "-"), v.n ? v.p : "1", v.n ? v.n : 1);
	}
}

/* "gemm" of type f64 is dgemm, "iamax" idamax, "nrm2" of c scnrm2. */
static void operation_name(char buf[64], const struct blas_name *name, struct text_slice function,
			   const struct element_type *type)
{
	static const char *const letters[][3] = { { "f32", "s", "s" },
						  { "f64", "d", "d" },
						  { "f16", "h", "h" },
						  { "f32c", "c", "sc" },
						  { "f64c", "z", "dz" } };
	bool index = slice_begins(function, "iam"),
	     real = slice_begins(function, "nrm2") || slice_begins(function, "asum");
	const char *letter = "";

	for (size_t i = 0; i < ARRAY_LEN(letters) && !name->ex && !name->letter && type; i++)
		if (!strcmp(letters[i][0], type->name))
			letter = letters[i][real ? 2 : 1];
	if (function.n > 60)
		function.n = 60;
	if (index)
		function.p++, function.n--;
	snprintf(buf, 64, "%s%s%.*s", index ? "i" : "", letter, (int)function.n, function.p);
}

static enum record_is bench_gemm(struct library_words *w, const struct blas_name *name,
				 struct text_slice function, struct library_key *k)
{
	struct gemm g;
	char operation[64];
	const struct text_slice *composite;
	enum record_is is;

	gemm_init(&g);
	static const char *const names[] = {
		"-m",         NULL, "-n",         NULL, "-k",         NULL, "--lda",         NULL,
		"--ldb",      NULL, "--ldc",      NULL, "--ldd",      NULL, "--stride_a",    NULL,
		"--stride_b", NULL, "--stride_c", NULL, "--stride_d", NULL, "--batch_count", NULL
	};
	int64_t *const to[] = {
		&g.m,   &g.n,        &g.k,        &g.lda,      &g.ldb,      &g.ldc,
		&g.ldd, &g.stride_a, &g.stride_b, &g.stride_c, &g.stride_d, &g.batch
	};

	if (!sizes_read(w, names, to, ARRAY_LEN(to)) || !bench_types(w, name, &g) ||
	    !scalar_read(w, "--alpha", "--alphai", g.alpha) ||
	    !scalar_read(w, "--beta", "--betai", g.beta) ||
	    !letter_read(w, "--transposeA", "--transA", TRANS_LETTERS, &g.ta) ||
	    !letter_read(w, "--transposeB", "--transB", TRANS_LETTERS, &g.tb))
		return RECORD_TORN;
	g.pointers = name->batched && !name->strided;
	gemm_defaults(&g);
	if (g.stride_d == DIM_NONE)
		g.stride_d = g.stride_c;
	operation_name(operation, name, function, g.a);
	is = gemm_key(&g, operation, k);
	if (is != RECORD_CALL)
		return is;
	composite = words_get(w, "--composite_compute_type", NULL);
	if (composite && !g.compute)
		key_wordn(k, "composite_compute_type", composite->p, composite->n);
	options_append(w, k);
	return is;
}

static enum record_is bench_other(struct library_words *w, const struct blas_name *name,
				  struct text_slice function, struct library_key *k)
{
	struct blas b;
	char operation[64];
	enum record_is is;

	blas_init(&b);
	static const char *const names[] = { "-m",         NULL,         "-n",
					     NULL,         "-k",         NULL,
					     "--lda",      NULL,         "--ldb",
					     NULL,         "--ldc",      NULL,
					     "--incx",     NULL,         "--incy",
					     NULL,         "--stride_a", NULL,
					     "--stride_b", NULL,         "--stride_c",
					     NULL,         "--stride_x", NULL,
					     "--stride_y", NULL,         "--batch_count",
					     NULL };
	int64_t *const to[] = { &b.m,        &b.n,        &b.k,        &b.lda,      &b.ldb,
				&b.ldc,      &b.incx,     &b.incy,     &b.stride_a, &b.stride_b,
				&b.stride_c, &b.stride_x, &b.stride_y, &b.batch };

	if (!sizes_read(w, names, to, ARRAY_LEN(to)) || !type_read(w, "-r", &b.type) ||
	    !type_read(w, "--precision", &b.type) ||
	    (!b.type && !type_read(w, "--a_type", &b.type)) ||
	    (!b.type && !type_read(w, "--compute_type", &b.type)) ||
	    !scalar_read(w, "--alpha", "--alphai", b.alpha) ||
	    !scalar_read(w, "--beta", "--betai", b.beta) ||
	    !letter_read(w, "--transposeA", "--transA", TRANS_LETTERS, &b.trans) ||
	    !letter_read(w, "--side", NULL, "LRlr", &b.side) ||
	    !letter_read(w, "--uplo", NULL, "ULFulf", &b.uplo) ||
	    !letter_read(w, "--diag", NULL, "NUnu", &b.diag))
		return RECORD_TORN;
	memcpy(b.function, name->function, sizeof(b.function));
	b.pointers = name->batched && !name->strided;
	if (!b.type && !name->ex && blas_is_known(b.function))
		b.type = default_type(name);
	blas_defaults(&b);
	operation_name(operation, name, function, b.type);
	is = blas_key(&b, operation, k);
	if (is != RECORD_CALL)
		return is;
	rocblas_common(name, b.type, k);
	options_append(w, k);
	return is;
}

static enum record_is bench_parse(struct text_slice text, struct library_key *k)
{
	struct library_words w;
	struct text_slice twice;
	const struct text_slice *f;
	struct blas_name name;

	text = words_command(text);
	if (!words_split_options(&w, text))
		return RECORD_TORN;
	k->config = text;
	f = words_get(&w, "-f", "--function");
	if (!f || f->n == 0)
		return RECORD_TORN;
	if (w.too_many)
		return key_bad(k, "more than %d options", WORDS_MAX);
	if (words_conflict(&w, &twice))
		return key_bad(k, "%.*s stands twice", (int)(twice.n < 40 ? twice.n : 40), twice.p);
	words_ignore(&w, RUN_OPTIONS);
	name = blas_name(f->p, f->n);
	return strcmp(name.function, "gemm") == 0 ? bench_gemm(&w, &name, *f, k)
						  : bench_other(&w, &name, *f, k);
}

static bool bench_starts(struct text_slice line, size_t at)
{
	return !library_commented(line, at);
}

const struct library_parser library_parser_rocblas_bench = {
	.name = "rocblas-bench",
	.library = "rocblas",
	.markers = { { "rocblas-bench ", false, false } },
	.starts = bench_starts,
	.back = library_path_before,
	.parse = bench_parse,
};

/* ---- profile: a flow map of YAML on each line ---- */

struct flow {
	struct text_slice rest;
};

/* The next "name: value" of the map; 1, 0 at '}', -1 where it does not go on. */
static int flow_next(struct flow *f, struct text_slice *name, struct text_slice *value)
{
	struct text_slice t = slice_trim(f->rest);
	const char *colon, *end, *stop;

	while (t.n > 0 && (*t.p == ',' || *t.p == '{' || slice_blank(*t.p)))
		t.p++, t.n--;
	if (t.n > 0 && *t.p == '}')
		return 0;
	colon = memchr(t.p, ':', t.n);
	if (!colon)
		return -1;
	*name = slice_trim((struct text_slice){ t.p, (size_t)(colon - t.p) });
	stop = t.p + t.n;
	for (end = colon + 1; end < stop && *end != ',' && *end != '}'; end++)
		;
	if (end == stop)
		return -1;
	*value = slice_trim((struct text_slice){ colon + 1, (size_t)(end - colon - 1) });
	if (value->n > 1 && (*value->p == '"' || *value->p == '\'') &&
	    value->p[value->n - 1] == *value->p) {
		value->p++;
		value->n -= 2;
	}
	f->rest = (struct text_slice){ end, (size_t)(stop - end) };
	return 1;
}

struct profile_row {
	struct gemm g;
	struct blas b;
	struct text_slice function;
	int64_t calls;
	const struct element_type *a, *c, *d, *compute;
	struct text_slice composite; /* instead of compute; n = 0 */
	char alpha[32], beta[32];
	struct strbuf rest; /* members that have no place here */
};

static void profile_release(struct profile_row *p)
{
	strbuf_release(&p->rest);
}

/* true: it was one of those members, -1 a bad number. */
static int profile_size(struct profile_row *p, struct text_slice name, struct text_slice v)
{
	const struct {
		const char *name;
		int64_t *g, *b;
	} sizes[] = { { "M", &p->g.m, &p->b.m },
		      { "N", &p->g.n, &p->b.n },
		      { "K", &p->g.k, &p->b.k },
		      { "lda", &p->g.lda, &p->b.lda },
		      { "ldb", &p->g.ldb, &p->b.ldb },
		      { "ldc", &p->g.ldc, &p->b.ldc },
		      { "ldd", &p->g.ldd, NULL },
		      { "stride_a", &p->g.stride_a, &p->b.stride_a },
		      { "stride_b", &p->g.stride_b, &p->b.stride_b },
		      { "stride_c", &p->g.stride_c, &p->b.stride_c },
		      { "stride_d", &p->g.stride_d, NULL },
		      { "stride_x", NULL, &p->b.stride_x },
		      { "stride_y", NULL, &p->b.stride_y },
		      { "incx", NULL, &p->b.incx },
		      { "incy", NULL, &p->b.incy },
		      { "batch_count", &p->g.batch, &p->b.batch },
		      { "call_count", &p->calls, NULL } };

	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		int64_t n;

		if (!slice_is(name, sizes[i].name))
			continue;
		if (num_i64(v.p, v.n, &n) < 0)
			return -1;
		if (sizes[i].g)
			*sizes[i].g = n;
		if (sizes[i].b)
			*sizes[i].b = n;
		return 1;
	}
	return 0;
}

static int profile_letter(struct profile_row *p, struct text_slice name, struct text_slice v)
{
	char c = v.n == 1 ? v.p[0] : 0;

	if (slice_is(name, "transA") || slice_is(name, "trans"))
		p->g.ta = p->b.trans = c;
	else if (slice_is(name, "transB"))
		p->g.tb = c;
	else if (slice_is(name, "side"))
		p->b.side = c;
	else if (slice_is(name, "uplo"))
		p->b.uplo = c;
	else if (slice_is(name, "diag"))
		p->b.diag = c;
	else
		return 0;
	return c ? 1 : -1;
}

static int profile_type(struct profile_row *p, struct text_slice name, struct text_slice v)
{
	const struct element_type *t = element_type(v.p, v.n);
	bool compute = slice_is(name, "compute_type") || slice_is(name, "composite_compute_type");

	if (compute && !t && type_is_composite(v)) {
		p->composite = v;
		return 1;
	}
	if (slice_is(name, "a_type"))
		p->a = t;
	else if (slice_is(name, "b_type"))
		p->g.b = t;
	else if (slice_is(name, "c_type"))
		p->c = t;
	else if (slice_is(name, "d_type"))
		p->d = t;
	else if (compute)
		p->compute = t;
	else
		return 0;
	return t ? 1 : -1;
}

/* Of alpha and beta the class "2" says only that they are another number. */
static int profile_scalar(struct profile_row *p, struct text_slice name, struct text_slice v)
{
	char *to = slice_is(name, "alpha") ? p->alpha : slice_is(name, "beta") ? p->beta : NULL;
	char number[40];

	if (!to)
		return 0;
	if (!number_copy(number, v))
		return -1;
	if (!strcmp(number, "2"))
		memcpy(to, "other", sizeof("other"));
	else if (strlen(number) < 32)
		memcpy(to, number, strlen(number) + 1);
	return 1;
}

static bool profile_member(struct profile_row *p, struct text_slice name, struct text_slice v)
{
	int r = profile_size(p, name, v);

	if (r == 0)
		r = profile_letter(p, name, v);
	if (r == 0)
		r = profile_type(p, name, v);
	if (r == 0)
		r = profile_scalar(p, name, v);
	if (r == 0 && !slice_is(name, "atomics_mode") && !slice_is(name, "algo") &&
	    !slice_is(name, "solution_index") && !slice_is(name, "flags") && name.n < 64) {
		strbuf_addch(&p->rest, ' ');
		strbuf_add(&p->rest, name.p, name.n);
		strbuf_addch(&p->rest, '=');
		strbuf_add(&p->rest, v.p, v.n);
	}
	return r >= 0;
}

static enum record_is profile_gemm(struct profile_row *p, const struct blas_name *name,
				   const char *operation, struct library_key *k)
{
	enum record_is is;

	p->g.a = p->a ? p->a : name->type;
	p->g.b = p->g.b ? p->g.b : p->g.a;
	p->g.c = p->c ? p->c : p->g.a;
	p->g.d = p->d ? p->d : p->g.c;
	p->g.compute = p->composite.n ? NULL : p->compute ? p->compute : p->g.a;
	p->g.pointers = name->batched && !name->strided;
	p->g.ldd = p->g.ldd == DIM_NONE ? p->g.ldc : p->g.ldd;
	p->g.stride_d = p->g.stride_d == DIM_NONE ? p->g.stride_c : p->g.stride_d;
	memcpy(p->g.alpha, p->alpha, sizeof(p->alpha));
	memcpy(p->g.beta, p->beta, sizeof(p->beta));
	is = gemm_key(&p->g, operation, k);
	if (is == RECORD_CALL)
		key_wordn(k, "composite_compute_type", p->composite.p, p->composite.n);
	return is;
}

static enum record_is profile_other(struct profile_row *p, const struct blas_name *name,
				    const char *operation, struct library_key *k)
{
	const char tb[2] = { p->g.tb, 0 };
	enum record_is is;

	p->b.type = p->a ? p->a : name->type ? name->type : p->compute;
	p->b.untyped = !name->known || name->ex;
	p->b.pointers = name->batched && !name->strided;
	memcpy(p->b.function, name->function, sizeof(p->b.function));
	memcpy(p->b.alpha, p->alpha, sizeof(p->alpha));
	memcpy(p->b.beta, p->beta, sizeof(p->beta));
	is = blas_key(&p->b, operation, k);
	if (is != RECORD_CALL)
		return is;
	rocblas_common(name, p->b.type, k);
	key_word(k, "transposeB", tb);
	return is;
}

/* "rocblas_sgemm" → "sgemm"; empty: it is no name. */
static struct text_slice function_name(struct text_slice f)
{
	if (slice_begins(f, "rocblas_"))
		f.p += 8, f.n -= 8;
	for (size_t i = 0; i < f.n; i++)
		if (!(f.p[i] >= 'a' && f.p[i] <= 'z') && !(f.p[i] >= '0' && f.p[i] <= '9') &&
		    f.p[i] != '_')
			f.n = 0;
	return f;
}

static enum record_is profile_key(struct profile_row *p, struct library_key *k)
{
	struct text_slice f = function_name(p->function);
	struct blas_name name;
	char operation[64];

	if (f.n == 0)
		return RECORD_TORN;
	if (rocblas_is_info(f))
		return RECORD_INFO;
	name = blas_name(f.p, f.n);
	operation_name(operation, &name, f, NULL);
	return strcmp(name.function, "gemm") ? profile_other(p, &name, operation, k)
					     : profile_gemm(p, &name, operation, k);
}

static enum record_is profile_parse(struct text_slice text, struct library_key *k)
{
	CLEANUP(profile_release) struct profile_row p = { .calls = 1, .rest = STRBUF_INIT };
	struct flow f = { text };
	struct text_slice name, value;
	enum record_is is;
	int r;

	gemm_init(&p.g);
	blas_init(&p.b);
	p.composite = (struct text_slice){ text.p, 0 };
	strbuf_limit(&p.rest, LIBRARY_TEXT_MAX);
	while ((r = flow_next(&f, &name, &value)) > 0) {
		if (slice_is(name, "rocblas_function") || slice_is(name, "- { rocblas_function"))
			p.function = value;
		else if (!profile_member(&p, name, value))
			return RECORD_TORN;
	}
	if (r < 0 || p.function.n == 0)
		return RECORD_TORN;
	if (p.calls <= 0)
		return key_bad(k, "call_count=%lld is no count", (long long)p.calls);
	is = profile_key(&p, k);
	k->level = LEVEL_PROFILE;
	k->calls = (uint64_t)p.calls;
	strbuf_add(&k->text, p.rest.buf, p.rest.len);
	return is;
}

/* "- { " belongs to the row. */
static size_t profile_before(struct text_slice line, size_t at)
{
	return at >= 4 && !memcmp(line.p + at - 4, "- { ", 4) ? 4 : 0;
}

const struct library_parser library_parser_rocblas_profile = {
	.name = "rocBLAS profile",
	.library = "rocblas_function",
	.markers = { { "rocblas_function: ", false, false } },
	.back = profile_before,
	.parse = profile_parse,
};
