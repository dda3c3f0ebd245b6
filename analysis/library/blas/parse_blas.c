/*
 * profrig's own tracer of BLAS (harness/tracers/tracer_blas.c), Trace Event Format, one line for
 * each record:
 *
 *	[
 *	{"ph":"M","pid":77,"tid":77,"ts":0.000,"name":"profrig","args":{"tracer":"blas",…}},
 *	{"ph":"X","pid":77,"tid":78,"ts":3314.453,"dur":9.404,"name":"sgemm","cat":"blas",
 *	 "args":{"m":512,"n":32,"k":256,"ta":"T","tb":"N","flops":8388608,"bytes":688128,
 *	 "lda":256,"ldb":256,"ldc":512,"order":"col","alpha":"1","beta":"0","int":32}},
 *
 * ts and dur in µs, of the monotonic clock. Sizes are those of the call, in its order; one in
 * row-major order is keyed as the column-major one that computes the same. alpha and beta are
 * classes: 0, 1, -1, and x for all else. Older files end behind "bytes". The
 * array is not closed, and the file of a killed process ends in NUL bytes.
 */
#include "library_mask.h"

#include <string.h>

#include "profrig/base/num.h"
#include "profrig/base/xalloc.h"

#define BLAS_CALL "\"cat\":\"blas\",\"args\":{"
#define BLAS_HEADER "\"args\":{\"tracer\":\"blas\","

struct blas_state {
	struct strbuf text;
	bool seen; /* this log is of the tracer */
};

struct json_member {
	struct text_slice name, value; /* a text without its quotes */
	bool text;
};

/* All of the line in front of the marker, when it is an object of its own. */
static size_t blas_before(struct text_slice line, size_t at)
{
	for (size_t i = at; i-- > 0;)
		if (line.p[i] == '{')
			return at - i;
	return 0;
}

/* Cuts the next member off t; 1, 0: t is empty, -1: it is none. Values are texts or numbers. */
static int member_next(struct text_slice *t, struct json_member *ret)
{
	const char *p = t->p, *end = t->p + t->n, *quote;

	if (p < end && *p == ',')
		p++;
	if (p == end)
		return t->n == 0 ? 0 : -1;
	quote = *p == '"' ? memchr(p + 1, '"', (size_t)(end - p - 1)) : NULL;
	if (!quote || end - quote < 3 || quote[1] != ':')
		return -1;
	ret->name = (struct text_slice){ p + 1, (size_t)(quote - p - 1) };
	p = quote + 2;
	ret->text = *p == '"';
	p += ret->text;
	quote = memchr(p, ret->text ? '"' : ',', (size_t)(end - p));
	if (!quote && ret->text)
		return -1;
	quote = quote ? quote : end;
	ret->value = (struct text_slice){ p, (size_t)(quote - p) };
	p = quote + ret->text;
	*t = (struct text_slice){ p, (size_t)(end - p) };
	return 1;
}

/* false: it is no number. */
static bool head_member(const struct json_member *m, struct log_facts *f)
{
	const struct text_slice v = m->value;
	int r = 0;

	if (slice_is(m->name, "ts"))
		r = num_decimal(v.p, v.n, 3, &f->when.t_ns);
	else if (slice_is(m->name, "dur"))
		r = num_decimal(v.p, v.n, 3, &f->when.dur_ns);
	else if (slice_is(m->name, "pid"))
		r = num_i64(v.p, v.n, &f->when.pid);
	else if (slice_is(m->name, "tid"))
		r = num_i64(v.p, v.n, &f->tid);
	return r == 0;
}

/* What stands in front of the marker: the name, and when. false: a part is missing. */
static bool blas_head(struct text_slice t, struct text_slice *name, struct log_facts *f)
{
	struct json_member m;
	int more;

	if (t.n < 2 || *t.p != '{' || t.p[t.n - 1] != ',')
		return false;
	t.p++;
	t.n -= 2;
	while ((more = member_next(&t, &m)) > 0) {
		if (slice_is(m.name, "name"))
			*name = m.value;
		else if (!head_member(&m, f))
			return false;
	}
	return more == 0 && name->n > 0;
}

static enum record_is blas_split(struct library_log *log, void *state, const struct log_record *r,
				 struct log_facts *f)
{
	struct blas_state *s = state;
	struct text_slice name = { NULL, 0 };
	struct text_slice args = { r->text.p + r->marker, r->text.n - r->marker };
	const char *end;

	(void)log;
	s->seen = true;
	f->last_info = slice_is(r->last_line, "[");
	if (slice_begins(args, BLAS_HEADER))
		return RECORD_INFO;
	args.p += strlen(BLAS_CALL);
	args.n -= strlen(BLAS_CALL);
	end = args.n ? memchr(args.p, '}', args.n) : NULL;
	if (!end || end + 1 == args.p + args.n || end[1] != '}' ||
	    !blas_head((struct text_slice){ r->text.p, r->marker }, &name, f))
		return RECORD_TORN;
	if (!s->text.cap) {
		strbuf_init(&s->text);
		strbuf_limit(&s->text, LIBRARY_TEXT_MAX);
	}
	strbuf_clear(&s->text);
	s->text.overflow = false;
	strbuf_add(&s->text, name.p, name.n);
	strbuf_addch(&s->text, ' ');
	strbuf_add(&s->text, args.p, (size_t)(end - args.p));
	if (s->text.overflow)
		return RECORD_TORN;
	f->text = (struct text_slice){ s->text.buf, s->text.len };
	return RECORD_CALL;
}

/* Adds what stands up to the number behind `name`, without that. false: there is none. */
static bool mask_number(struct log_mask *m, struct text_slice *rest, const char *name, int64_t *ret)
{
	const char *p = memmem(rest->p, rest->n, name, strlen(name)), *end = rest->p + rest->n;
	const char *digits;

	if (!p)
		return false;
	p += strlen(name);
	mask_add(m, (struct text_slice){ rest->p, (size_t)(p - rest->p) });
	for (digits = p; p < end && ((*p >= '0' && *p <= '9') || *p == '.');)
		p++;
	if (num_decimal(digits, (size_t)(p - digits), 3, ret) != 0)
		return false;
	mask_word(m);
	*rest = (struct text_slice){ p, (size_t)(end - p) };
	return true;
}

static bool blas_mask(const void *state, const struct log_record *r, struct log_mask *m)
{
	struct text_slice rest = r->text, head;

	(void)state;
	if (!mask_number(m, &rest, "\"ts\":", &m->t_ns) ||
	    !mask_number(m, &rest, "\"dur\":", &m->dur_ns) || rest.p > r->text.p + r->marker)
		return false;
	head = (struct text_slice){ rest.p, (size_t)(r->text.p + r->marker - rest.p) };
	if (memmem(head.p, head.n, "\"ts\":", 5) || memmem(head.p, head.n, "\"dur\":", 6))
		return false; /* twice: the last one counts */
	mask_add(m, rest);
	return true;
}

/* The end of the array, and of a file that was not cut to its length. */
static bool blas_owns(const void *state, struct text_slice line)
{
	const struct blas_state *s = state;
	size_t n = 0;

	if (!s->seen)
		return false;
	while (n < line.n && line.p[n] == 0)
		n++;
	return slice_is(line, "]") || (n > 0 && n == line.n);
}

/* ---- key ---- */

struct blas_record {
	struct gemm g;
	struct blas b;
	int64_t flops, bytes;
	bool row_major;
	struct strbuf rest; /* members that are not known */
};

static void record_release(struct blas_record *r)
{
	strbuf_release(&r->rest);
}

/* 1: it was a size, -1: it is no number. */
static int record_size(struct blas_record *r, const struct json_member *m)
{
	int64_t ignored;
	const struct {
		const char *name;
		int64_t *g, *b;
	} sizes[] = { { "m", &r->g.m, &r->b.m },       { "n", &r->g.n, &r->b.n },
		      { "k", &r->g.k, &r->b.k },       { "lda", &r->g.lda, &r->b.lda },
		      { "ldb", &r->g.ldb, &r->b.ldb }, { "ldc", &r->g.ldc, &r->b.ldc },
		      { "incx", NULL, &r->b.incx },    { "incy", NULL, &r->b.incy },
		      { "flops", NULL, &r->flops },    { "bytes", NULL, &r->bytes },
		      { "int", NULL, &ignored } };

	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		int64_t n;

		if (!slice_is(m->name, sizes[i].name))
			continue;
		if (m->text || num_i64(m->value.p, m->value.n, &n) < 0)
			return -1;
		if (sizes[i].g)
			*sizes[i].g = n;
		*sizes[i].b = n;
		return 1;
	}
	return 0;
}

static int record_letter(struct blas_record *r, const struct json_member *m)
{
	const struct {
		const char *name;
		char *to;
	} letters[] = { { "tb", &r->g.tb },
			{ "side", &r->b.side },
			{ "uplo", &r->b.uplo },
			{ "diag", &r->b.diag } };
	char c = m->text && m->value.n == 1 ? *m->value.p : 0;

	if (slice_is(m->name, "ta")) {
		r->g.ta = r->b.trans = c;
		return c ? 1 : -1;
	}
	for (size_t i = 0; i < ARRAY_LEN(letters); i++)
		if (slice_is(m->name, letters[i].name)) {
			*letters[i].to = c;
			return c ? 1 : -1;
		}
	return 0;
}

/* Of another number than 0, 1 and -1 the value is not known. */
static int record_scalar(struct blas_record *r, const struct json_member *m)
{
	bool alpha = slice_is(m->name, "alpha"), beta = slice_is(m->name, "beta");
	struct text_slice v =
		slice_is(m->value, "x") ? (struct text_slice){ "other", 5 } : m->value;

	if (!alpha && !beta)
		return 0;
	if (!m->text || v.n == 0 || v.n > 8)
		return -1;
	memcpy(alpha ? r->g.alpha : r->g.beta, v.p, v.n);
	memcpy(alpha ? r->b.alpha : r->b.beta, v.p, v.n);
	return 1;
}

static bool record_member(struct blas_record *r, const struct json_member *m)
{
	int is = record_size(r, m);

	if (is == 0)
		is = record_letter(r, m);
	if (is == 0)
		is = record_scalar(r, m);
	if (is != 0)
		return is > 0;
	if (slice_is(m->name, "order")) {
		r->row_major = slice_is(m->value, "row");
		return r->row_major || slice_is(m->value, "col");
	}
	strbuf_addch(&r->rest, ' ');
	strbuf_add(&r->rest, m->name.p, m->name.n);
	strbuf_addch(&r->rest, '=');
	strbuf_add(&r->rest, m->value.p, m->value.n);
	return true;
}

/* "sgemm", as cblas_sgemm and sgemm_ in files of other tracers. dsdot and sdsdot are of f32. */
static struct blas_name record_name(struct text_slice name)
{
	struct blas_name n;

	if (slice_begins(name, "cblas_"))
		name.p += 6, name.n -= 6;
	while (name.n > 1 && name.p[name.n - 1] == '_')
		name.n--;
	n = blas_name(name.p, name.n);
	if (!strcmp(n.function, "dsdot") || !strcmp(n.function, "sdsdot"))
		n.letter = 's';
	return n;
}

static enum record_is record_key(struct blas_record *r, struct text_slice name,
				 struct library_key *k)
{
	struct blas_name n = record_name(name);
	const struct element_type *t = n.letter ? element_type(&n.letter, 1) : NULL;
	char operation[64] = "";

	memcpy(operation, name.p, name.n < sizeof(operation) ? name.n : sizeof(operation) - 1);
	r->g.a = r->g.b = r->g.c = r->g.d = r->g.compute = r->b.type = t;
	r->g.ldd = r->g.ldc;
	memcpy(r->b.function, n.function, sizeof(r->b.function));
	if (r->row_major) {
		gemm_row_major(&r->g);
		blas_row_major(&r->b);
	}
	return strcmp(n.function, "gemm") ? blas_key(&r->b, operation, k)
					  : gemm_key(&r->g, operation, k);
}

/*
 * The tracer's own figures: they know whether the result was read, which old files do not tell
 * otherwise.
 */
static void record_work(const struct blas_record *r, struct library_key *k)
{
	if (r->bytes >= 0)
		k->bytes = (uint64_t)r->bytes;
	if (r->flops >= 0 && k->flops == LIBRARY_UNKNOWN)
		k->flops = (uint64_t)r->flops;
}

static enum record_is blas_parse(struct text_slice text, struct library_key *k)
{
	CLEANUP(record_release) struct blas_record r = { .flops = -1, .bytes = -1 };
	const char *blank = memchr(text.p, ' ', text.n);
	struct text_slice name = { text.p, blank ? (size_t)(blank - text.p) : 0 }, rest;
	struct json_member m;
	enum record_is is;
	int more;

	if (!blank)
		return RECORD_TORN;
	strbuf_init(&r.rest);
	strbuf_limit(&r.rest, LIBRARY_TEXT_MAX);
	gemm_init(&r.g);
	blas_init(&r.b);
	rest = (struct text_slice){ blank + 1, text.n - name.n - 1 };
	while ((more = member_next(&rest, &m)) > 0)
		if (!record_member(&r, &m))
			return RECORD_TORN;
	if (more < 0)
		return RECORD_TORN;
	is = record_key(&r, name, k);
	if (is != RECORD_CALL)
		return is;
	strbuf_add(&k->text, r.rest.buf, r.rest.len);
	record_work(&r, k);
	return is;
}

static void blas_release(void *state)
{
	struct blas_state *s = state;

	if (s->text.cap)
		strbuf_release(&s->text);
}

const struct library_parser library_parser_blas = {
	.name = "profrig BLAS",
	.library = "blas",
	.markers = { { BLAS_CALL, false, false }, { BLAS_HEADER, false, false } },
	.back = blas_before,
	.split = blas_split,
	.mask = blas_mask,
	.owns = blas_owns,
	.parse = blas_parse,
	.state_size = sizeof(struct blas_state),
	.release = blas_release,
};
