/* Blocks of cuBLAS and cuDNN (library_block.h): lines → blocks → what parse gets. */
#include "library_block.h"

#include <string.h>

#include "profrig/base/num.h"
#include "profrig/base/xalloc.h"

#define BLOCK_NAMES 96 /* arguments of a block that are looked at for repetition */

enum block_library { BLOCK_CUBLAS, BLOCK_CUDNN };

struct block_state {
	bool open, torn;
	bool argued[2]; /* a block of the library had arguments */
	enum block_library library;
	size_t args, depth; /* depth: of the outermost arguments */
	bool status;        /* the only argument is "status" */
	bool orphan;        /* the last line was an argument without a block */
	uint64_t names[BLOCK_NAMES];
	uint64_t asked; /* calls of cuDNN whose status was not logged */
	uint64_t line;
	struct log_facts facts;
	struct strbuf text, raw;
	size_t function_at, function_n; /* in text */
};

/* ---- what starts a line ---- */

static bool name_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '.' || c == '[' || c == ']';
}

/* "i!  name: …", "i!Process=…", "i! COMPILED WITH: …". */
static bool block_starts(struct text_slice line, size_t at)
{
	size_t i = at + 2;

	if (at > 0 && !slice_blank(line.p[at - 1]))
		return false;
	if (line.p[at] < 'a') {
		struct text_slice library = { line.p + at + 3, line.n - at - 3 };

		return slice_begins(library, "cuBLAS (") || slice_begins(library, "CuDNN (") ||
		       slice_begins(library, "cuDNN (");
	}
	while (i < line.n && slice_blank(line.p[i]))
		i++;
	at = i;
	while (i < line.n && name_char(line.p[i]))
		i++;
	if (i == at || i == line.n)
		return false;
	return line.p[i] == ':' || line.p[i] == '=' ||
	       slice_begins((struct text_slice){ line.p + i, line.n - i }, " WITH:");
}

/* ---- blocks ---- */

static void block_emit(struct library_log *log, struct block_state *s)
{
	struct log_record r = { .text = { s->raw.buf, s->raw.len }, .line = s->line };
	struct text_slice function;
	bool cudnn = s->library == BLOCK_CUDNN;
	enum record_is is = RECORD_CALL;

	if (!s->open)
		return; /* the text is no buffer yet */
	function = (struct text_slice){ s->text.buf + s->function_at, s->function_n };
	s->open = false;
	s->argued[s->library] |= s->args > 0;
	if (s->torn) {
		is = RECORD_TORN;
	} else if (cudnn ? cudnn_is_info(function) : cublas_is_info(function)) {
		is = RECORD_INFO;
	} else if (cudnn && s->status) {
		is = s->asked > 0 ? RECORD_DOUBLED : RECORD_TORN;
		s->asked -= is == RECORD_DOUBLED;
	} else if (cudnn) {
		s->asked++;
	}
	s->facts.text = (struct text_slice){ s->text.buf, s->text.len };
	library_log_emit(log, &library_parser_cuda_block, is, &s->facts, &r);
}

static void raw_add(struct block_state *s, struct text_slice t)
{
	if (s->raw.len)
		strbuf_addch(&s->raw, ' ');
	strbuf_add(&s->raw, t.p, t.n);
}

/* "cublasSgemm_v2" of "function cublasStatus_t cublasSgemm_v2(…) called:"; empty: torn. */
static struct text_slice header_function(struct text_slice text)
{
	struct text_slice f = { text.p, 0 };
	const char *at, *open;

	if (text.n < 8 || memcmp(text.p + text.n - 8, " called:", 8) != 0)
		return f;
	text.n -= 8;
	at = memmem(text.p, text.n, " function ", 10);
	if (!at)
		return f;
	f.p = at + 10;
	f.n = (size_t)(text.p + text.n - f.p);
	open = memchr(f.p, '(', f.n);
	if (open) /* else "cublasSgemm called:" */
		f.n = (size_t)(open - f.p);
	f = slice_trim(f);
	while (memchr(f.p, ' ', f.n)) {
		const char *blank = memchr(f.p, ' ', f.n);

		f.n -= (size_t)(blank + 1 - f.p);
		f.p = blank + 1;
	}
	for (size_t i = 0; i < f.n; i++)
		if (!name_char(f.p[i]))
			f.n = 0;
	return f;
}

static void block_open(struct library_log *log, struct block_state *s, const struct log_record *r)
{
	struct text_slice f = header_function(r->text);

	block_emit(log, s);
	if (!s->text.cap) {
		strbuf_init(&s->text);
		strbuf_init(&s->raw);
		strbuf_limit(&s->text, LIBRARY_TEXT_MAX + 1);
		strbuf_limit(&s->raw, LIBRARY_TEXT_MAX);
	}
	strbuf_clear(&s->text);
	strbuf_clear(&s->raw);
	s->text.overflow = s->raw.overflow = false;
	s->open = true;
	s->orphan = s->status = false;
	s->library = r->text.n > 5 && r->text.p[5] == 'B' ? BLOCK_CUBLAS : BLOCK_CUDNN;
	s->args = s->depth = 0;
	s->line = r->line;
	s->torn = f.n == 0 || r->cut;
	library_log_facts(log, &s->facts);
	raw_add(s, r->text);
	strbuf_addstr(&s->text, s->library == BLOCK_CUBLAS ? "cuBLAS " : "cuDNN ");
	s->function_at = s->text.len;
	s->function_n = f.n;
	strbuf_add(&s->text, f.p, f.n);
	strbuf_addch(&s->text, '\n');
}

/* ---- lines of a block ---- */

/* Behind "NAME" of "…; NAME=VALUE; …". */
static struct text_slice process_value(struct text_slice text, const char *name)
{
	const char *at = memmem(text.p, text.n, name, strlen(name)), *end;
	struct text_slice v = { text.p, 0 };

	if (!at)
		return v;
	v.p = at + strlen(name);
	v.n = text.n - (size_t)(v.p - text.p);
	end = memchr(v.p, ';', v.n);
	if (end)
		v.n = (size_t)(end - v.p);
	return slice_trim(v);
}

/* The end of a block. A number at the end of a cut line may have lost digits. */
static void block_close(struct library_log *log, struct block_state *s, struct text_slice t,
			bool cut)
{
	struct text_slice pid = process_value(t, "Process="), tid = process_value(t, "Thread=");
	struct text_slice mode = process_value(t, "MathMode=");
	const char *end = t.p + t.n;

	if (pid.p + pid.n < end || !cut)
		num_i64(pid.p, pid.n, &s->facts.when.pid);
	if (tid.p + tid.n < end || !cut)
		num_i64(tid.p, tid.n, &s->facts.tid);
	if (s->library == BLOCK_CUBLAS && s->args == 0 && !s->argued[BLOCK_CUBLAS])
		strbuf_addstr(&s->text, "bare\n");
	if (mode.n > 0 && !cut && !slice_is(mode, "CUBLAS_DEFAULT_MATH")) {
		strbuf_addstr(&s->text, " MathMode: type=cublasMath_t; val=");
		strbuf_add(&s->text, mode.p, mode.n);
		strbuf_addch(&s->text, '\n');
	}
	block_emit(log, s);
}

/* Whether an outermost argument was there before. */
static bool name_is_twice(struct block_state *s, struct text_slice name)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);
	size_t n = s->args < BLOCK_NAMES ? s->args : BLOCK_NAMES;

	for (size_t i = 0; i < name.n; i++)
		h = (h ^ (unsigned char)name.p[i]) * UINT64_C(0x100000001b3);
	for (size_t i = 0; i < n; i++)
		if (s->names[i] == h)
			return true;
	if (n < BLOCK_NAMES)
		s->names[n] = h;
	return false;
}

static bool is_of_the_run(struct text_slice name)
{
	static const char *const names[] = { "handle",
					     "streamId",
					     "workSpaceSizeInBytes",
					     "workSpace",
					     "reserveSpaceSizeInBytes",
					     "algo" };

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (slice_is(name, names[i]))
			return true;
	return false;
}

static void argument_copy(struct block_state *s, struct text_slice t, const char *value)
{
	size_t kept = t.n;

	if (value) {
		size_t at = (size_t)(value - t.p);
		struct text_slice v = { value, t.n - at };

		if (slice_begins(v, "POINTER") || slice_begins(v, "0x") || slice_begins(v, "0X"))
			kept = at;
	}
	strbuf_add(&s->text, t.p, kept);
	if (kept < t.n)
		strbuf_addch(&s->text, '*');
	strbuf_addch(&s->text, '\n');
}

/* t: behind "i!", with its blanks. */
static void argument_add(struct block_state *s, struct text_slice t, bool cut)
{
	struct text_slice trimmed = slice_trim(t), name = trimmed;
	const char *colon = memchr(trimmed.p, ':', trimmed.n), *value;
	size_t depth = (size_t)(trimmed.p - t.p);
	char last = trimmed.n ? trimmed.p[trimmed.n - 1] : 0;

	name.n = colon ? (size_t)(colon - trimmed.p) : 0;
	value = memmem(trimmed.p, trimmed.n, "val=", 4);
	value = value ? value + 4 : NULL;
	if (!colon || (cut && last != ';' && last != ')') ||
	    (value && value == trimmed.p + trimmed.n) ||
	    (s->library == BLOCK_CUBLAS ? !value : last != ';' && last != ':'))
		s->torn = true;
	if (s->args == 0)
		s->depth = depth;
	if (depth <= s->depth) {
		s->torn |= name_is_twice(s, name);
		s->status = s->args == 0 && slice_is(name, "status");
		s->args++;
	}
	if (!is_of_the_run(name) && !memmem(trimmed.p, trimmed.n, "location=", 9))
		argument_copy(s, t, value);
}

static enum record_is line_add(struct library_log *log, struct block_state *s,
			       const struct log_record *r)
{
	struct text_slice t = { r->text.p + 2, r->text.n - 2 }, trimmed = slice_trim(t);
	bool was_orphan = s->orphan, last = slice_begins(trimmed, "Process=");

	if (slice_begins(trimmed, "COMPILED"))
		return RECORD_INFO;
	s->orphan = !s->open && !last;
	if (!s->open)
		return was_orphan ? RECORD_INFO : RECORD_TORN;
	if (last) {
		block_close(log, s, trimmed, r->cut);
	} else if (slice_begins(trimmed, "Time:")) {
		trimmed = slice_trim((struct text_slice){ trimmed.p + 5, trimmed.n - 5 });
		library_stamp(trimmed, &s->facts.when.t_ns);
	} else {
		raw_add(s, r->text);
		argument_add(s, t, r->cut);
	}
	return RECORD_INFO;
}

static enum record_is block_split(struct library_log *log, void *state, const struct log_record *r,
				  struct log_facts *f)
{
	struct block_state *s = state;

	(void)f;
	if (r->text.p[0] == 'i')
		return line_add(log, s, r);
	block_open(log, s, r);
	return RECORD_PART;
}

static void block_end(struct library_log *log, void *state)
{
	block_emit(log, state);
}

static void block_release(void *state)
{
	struct block_state *s = state;

	if (s->text.cap)
		strbuf_release(&s->text);
	if (s->raw.cap)
		strbuf_release(&s->raw);
}

/* ---- what parse gets ---- */

struct text_slice block_function(struct text_slice *rest, bool *bare)
{
	struct text_slice line = { rest->p, 0 };
	const char *blank;
	bool whole;

	*bare = false;
	if (!slice_line(rest, &line, &whole))
		return line;
	blank = memchr(line.p, ' ', line.n);
	line.n = blank ? line.n - (size_t)(blank + 1 - line.p) : 0;
	line.p = blank ? blank + 1 : line.p;
	if (slice_begins(*rest, "bare\n")) {
		*bare = true;
		rest->p += 5;
		rest->n -= 5;
	}
	return line;
}

static struct text_slice argument_part(struct text_slice line, const char *name)
{
	const char *at = memmem(line.p, line.n, name, strlen(name));
	struct text_slice v = { line.p, 0 };

	if (!at)
		return v;
	v.p = at + strlen(name);
	v.n = line.n - (size_t)(v.p - line.p);
	return v;
}

bool block_next(struct text_slice *rest, struct block_argument *ret)
{
	struct text_slice line;
	const char *colon, *end;
	bool whole;

	if (!slice_line(rest, &line, &whole))
		return false;
	*ret = (struct block_argument){ .name = slice_trim(line) };
	ret->depth = (size_t)(ret->name.p - line.p);
	colon = memchr(ret->name.p, ':', ret->name.n);
	line = ret->name;
	if (colon)
		ret->name.n = (size_t)(colon - ret->name.p);
	ret->value = argument_part(line, "val=");
	ret->type = argument_part(line, "type=");
	end = ret->type.n ? memchr(ret->type.p, ';', ret->type.n) : NULL;
	if (end)
		ret->type.n = (size_t)(end - ret->type.p);
	while (ret->value.n > 0 && ret->value.p[ret->value.n - 1] == ';')
		ret->value.n--;
	while (ret->type.n > 0 && ret->type.p[ret->type.n - 1] == ':')
		ret->type.n--;
	return true;
}

struct text_slice block_word(struct text_slice v)
{
	const char *open = memchr(v.p, '(', v.n);

	if (open)
		v.n = (size_t)(open - v.p);
	return slice_rtrim(v);
}

static enum record_is block_parse(struct text_slice text, struct library_key *k)
{
	bool cublas = slice_begins(text, "cuBLAS ");

	k->library = cublas ? "cublas" : "cudnn";
	return cublas ? cublas_block_key(text, k) : cudnn_block_key(text, k);
}

const struct library_parser library_parser_cuda_block = {
	.name = "cuBLAS and cuDNN",
	.library = "cublas",
	.markers = { { "I! cuBLAS (", false, false },
		     { "I! CuDNN (", false, false },
		     { "I! cuDNN (", false, false },
		     { "i! ", false, false },
		     { "i!Process=", false, false },
		     { "W! C", false, true },
		     { "W! c", false, true },
		     { "E! C", false, true },
		     { "E! c", false, true },
		     { "w! ", false, true },
		     { "e! ", false, true } },
	.starts = block_starts,
	.split = block_split,
	.parse = block_parse,
	.state_size = sizeof(struct block_state),
	.end = block_end,
	.release = block_release,
};
