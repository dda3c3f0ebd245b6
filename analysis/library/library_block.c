/* Blocks of cuBLAS and cuDNN (library_block.h): lines → blocks → what parse gets. */
#include "library_block.h"
#include "library_lanes.h"

#include <string.h>
#include <xxhash.h>

#include "profrig/base/num.h"
#include "profrig/base/xalloc.h"

#define BLOCK_NAMES 96 /* arguments of a block that are looked at for repetition */

#define SEEN_SLOTS ((size_t)2048) /* a power of two */
#define SEEN_MAX ((size_t)101)    /* bytes of a line that is remembered */
#define ADDRESS_MAX ((size_t)24)  /* bytes of "0x0x7f12ab" */

enum block_library { BLOCK_CUBLAS, BLOCK_CUDNN };

/* What a line tells of an argument, whatever block it stands in. */
struct argument {
	uint64_t name;   /* hash */
	uint32_t depth;  /* blanks in front */
	uint32_t copied; /* bytes behind "i!" that parse gets, */
	bool starred;    /* and a '*' */
	bool kept;       /* false: parse gets nothing of it */
	bool torn, is_status;
};

/*
 * A line of an argument, up to an address that it ends in. Most of a log's are equal to an earlier
 * one (sizes, types, scalars), so that those are found here, and neither searched for markers nor
 * split. No marker begins, ends or lies in an address.
 */
struct seen_line {
	struct argument is;
	unsigned char n;    /* 0: none */
	unsigned char last; /* the byte behind the address; 0: there is none */
	unsigned char library;
	char text[SEEN_MAX];
};

struct block_state {
	struct seen_line *seen; /* by the hash of their texts; a later one takes the place */
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

/*
 * Whether a line of a block goes on as no other text does. In front of that a prefix need not end
 * in a blank ("<stderr>:i!  m: type=int; …"); other text has the end of a word there ("hi! a: x").
 */
static bool line_is_certain(struct text_slice name, struct text_slice rest)
{
	return slice_begins(rest, ": type=") || slice_begins(rest, ": location=") ||
	       (slice_is(name, "Process") && slice_begins(rest, "=")) ||
	       (slice_is(name, "Time") && slice_begins(rest, ": 2")) ||
	       (slice_is(name, "COMPILED") && slice_begins(rest, " WITH:"));
}

/* "i!  name: …", "i!Process=…", "i! COMPILED WITH: …". */
static bool block_starts(struct text_slice line, size_t at)
{
	bool glued = at > 0 && !slice_blank(line.p[at - 1]);
	struct text_slice name, rest;
	size_t i = at + 2;

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
	name = (struct text_slice){ line.p + at, i - at };
	rest = (struct text_slice){ line.p + i, line.n - i };
	if (glued)
		return line_is_certain(name, rest);
	return *rest.p == ':' || *rest.p == '=' || slice_begins(rest, " WITH:");
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
	s->torn = f.n == 0; /* else " called:" ends it, whatever is glued to that */
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
	const char *at = lanes_find(text.p, text.n, name, strlen(name)), *end;
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
	if (cut && (mode.n < 5 || memcmp(mode.p + mode.n - 5, "_MATH", 5) != 0))
		mode.n = 0;
	if (mode.n > 0 && !slice_is(mode, "CUBLAS_DEFAULT_MATH")) {
		strbuf_addstr(&s->text, " MathMode: type=cublasMath_t; val=");
		strbuf_add(&s->text, mode.p, mode.n);
		strbuf_addch(&s->text, '\n');
	}
	block_emit(log, s);
}

/* Whether an outermost argument was there before. */
static bool name_is_twice(struct block_state *s, uint64_t name)
{
	size_t n = s->args < BLOCK_NAMES ? s->args : BLOCK_NAMES;

	for (size_t i = 0; i < n; i++)
		if (s->names[i] == name)
			return true;
	if (n < BLOCK_NAMES)
		s->names[n] = name;
	return false;
}

static bool is_of_the_run(struct text_slice name)
{
	return slice_is(name, "handle") || slice_is(name, "streamId") ||
	       slice_is(name, "workSpaceSizeInBytes") || slice_is(name, "workSpace") ||
	       slice_is(name, "reserveSpaceSizeInBytes") || slice_is(name, "algo");
}

/* t: behind "i!", with its blanks. */
static void argument_read(enum block_library library, struct text_slice t, bool cut,
			  struct argument *ret)
{
	struct text_slice trimmed = slice_trim(t), name = trimmed, v;
	const char *colon = memchr(trimmed.p, ':', trimmed.n), *value, *end = trimmed.p + trimmed.n;
	char last = trimmed.n ? end[-1] : 0;

	name.n = colon ? (size_t)(colon - trimmed.p) : 0;
	value = lanes_find(trimmed.p, trimmed.n, "val=", 4);
	value = value ? value + 4 : NULL;
	*ret = (struct argument){ .depth = (uint32_t)(trimmed.p - t.p),
				  .name = XXH3_64bits(name.p, name.n),
				  .is_status = slice_is(name, "status"),
				  .copied = (uint32_t)t.n };
	ret->torn = !colon || (cut && last != ';' && last != ')') || value == end ||
		    (library == BLOCK_CUBLAS ? !value : last != ';' && last != ':');
	ret->kept = !is_of_the_run(name) &&
		    !lanes_find(trimmed.p, trimmed.n, "location=", strlen("location="));
	v = (struct text_slice){ value, value ? t.n - (size_t)(value - t.p) : 0 };
	if (slice_begins(v, "POINTER") || slice_begins(v, "0x") || slice_begins(v, "0X")) {
		ret->copied -= (uint32_t)v.n;
		ret->starred = v.n > 0;
	}
}

/* text: of its line, from "i!" on. */
static void argument_add(struct block_state *s, struct text_slice text, const struct argument *a)
{
	raw_add(s, text);
	s->torn |= a->torn;
	if (s->args == 0)
		s->depth = a->depth;
	if (a->depth <= s->depth) {
		s->torn |= name_is_twice(s, a->name);
		s->status = s->args == 0 && a->is_status;
		s->args++;
	}
	if (!a->kept)
		return;
	strbuf_add(&s->text, text.p + 2, a->copied);
	strbuf_add(&s->text, a->starred ? "*\n" : "\n", 1 + a->starred);
}

/* Where the address begins that a line ends in, with a byte behind it; text.n: it ends in none. */
static size_t address_begin(struct text_slice text)
{
	size_t end = text.n - (text.n > 0), at = end;

	if (text.n == 0 || (text.p[end] != ')' && text.p[end] != ';'))
		return text.n;
	while (at > 0 && end - at < ADDRESS_MAX &&
	       ((text.p[at - 1] >= '0' && text.p[at - 1] <= '9') ||
		(text.p[at - 1] >= 'a' && text.p[at - 1] <= 'f') || text.p[at - 1] == 'x'))
		at--;
	return end - at > 2 && text.p[at] == '0' && text.p[at + 1] == 'x' ? at : text.n;
}

/* The slot of a line whose text in front of an address has n bytes. */
static struct seen_line *seen_at(struct block_state *s, struct text_slice text, size_t n)
{
	return &s->seen[XXH3_64bits(text.p, n) & (SEEN_SLOTS - 1)];
}

static void seen_add(struct block_state *s, struct text_slice text, const struct argument *a)
{
	size_t n = address_begin(text);
	struct seen_line *l;

	/* else the address is part of what parse gets */
	if (n < text.n && a->kept && !a->starred)
		n = text.n;
	if (n > SEEN_MAX)
		return;
	if (!s->seen)
		s->seen = xcalloc(SEEN_SLOTS, sizeof(*s->seen));
	l = seen_at(s, text, n);
	l->is = *a;
	l->library = (unsigned char)s->library;
	l->n = (unsigned char)n;
	l->last = n < text.n ? (unsigned char)text.p[text.n - 1] : 0;
	memcpy(l->text, text.p, n);
}

static const struct seen_line *seen_find(struct block_state *s, struct text_slice text, size_t n)
{
	const struct seen_line *l = seen_at(s, text, n);
	unsigned char last = n < text.n ? (unsigned char)text.p[text.n - 1] : 0;

	return n > 0 && l->n == n && l->last == last && l->library == s->library &&
			       !memcmp(l->text, text.p, n)
		       ? l
		       : NULL;
}

static bool block_again(void *state, struct text_slice line)
{
	struct block_state *s = state;
	const struct seen_line *l;
	size_t n;

	if (!s->open || !s->seen)
		return false;
	line = slice_rtrim(line);
	n = address_begin(line);
	l = seen_find(s, line, n);
	if (!l && n < line.n)
		l = seen_find(s, line, line.n);
	if (!l)
		return false;
	argument_add(s, line, &l->is);
	return true;
}

static enum record_is line_add(struct library_log *log, struct block_state *s,
			       const struct log_record *r)
{
	struct text_slice t = { r->text.p + 2, r->text.n - 2 }, trimmed = slice_trim(t);
	bool was_orphan = s->orphan, last = slice_begins(trimmed, "Process=");
	struct argument a;

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
		argument_read(s->library, t, r->cut, &a);
		argument_add(s, r->text, &a);
		if (r->alone && !r->cut)
			seen_add(s, r->text, &a);
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
	free(s->seen);
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
	.again = block_again,
	.parse = block_parse,
	.state_size = sizeof(struct block_state),
	.end = block_end,
	.release = block_release,
};
