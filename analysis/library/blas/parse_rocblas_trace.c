/*
 * rocBLAS's trace layer (parse_rocblas.c has the others):
 *
 *	rocblas_gemm_ex,N,T,64,512,64,1,0x7f…,f32_r,64,0x7f…,f32_r,…,none,atomics_allowed
 *
 * The function's arguments in their order; buffers, and scalars on the device, are addresses. They
 * differ from call to call, so they are left out of what is remembered. A function that creates,
 * sets, gets or queries (rocblas_set_stream) is no call; one whose arguments are not known has them
 * as its key.
 *
 * The last field, whether atomics are allowed, is that of rocBLAS 5.0 and later. It tells that a
 * record is whole, whatever is glued to it.
 */
#include "library_args.h"
#include "library_mask.h"
#include "rocblas_call.h"

#include <string.h>

#include "profrig/base/xalloc.h"

#define ARGS_MAX 64
#define PREFIX "rocblas_"
#define NAME_LENGTH ((size_t)63)   /* a longer one is none of a function */
#define BEFORE_FIELD ((size_t)512) /* how far behind a name the field of the atomics may be */

struct trace_state {
	char text[LIBRARY_TEXT_MAX]; /* of the last record, without addresses */
	bool tailed;                 /* a record had the field of the atomics */
};

static bool name_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

static bool is_address(const char *p, size_t n)
{
	return (n > 1 && p[0] == '0' && p[1] == 'x') || (n == 5 && !memcmp(p, "(nil)", 5)) ||
	       (n == 3 && !memcmp(p, "nil", 3));
}

/* The name of a function at `at`, without "rocblas_". */
static struct text_slice function_at(struct text_slice line, size_t at)
{
	struct text_slice f = { line.p + at + strlen(PREFIX), 0 };

	while (f.p + f.n < line.p + line.n && name_char(f.p[f.n]) && f.n < NAME_LENGTH)
		f.n++;
	return f;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Bytes of a letter and the comma behind it, or of a number or address; 0: it is none. */
static size_t field_length(struct text_slice t, bool letter)
{
	size_t n = t.n > 0 && (letter || *t.p == '-' || *t.p == '(');

	if (letter && (t.n < 2 || *t.p < 'A' || *t.p > 'Z'))
		return 0;
	if (!letter && (n == t.n || !is_digit(t.p[n])))
		return 0;
	while (!letter && n < t.n && (name_char(t.p[n]) || t.p[n] == '.' || t.p[n] == '+'))
		n++;
	return n < t.n && t.p[n] == ',' ? n + 1 : 0;
}

/*
 * Whether the arguments begin as those of the function do, which an identifier of other text that
 * ends in its name ("my_rocblas_sgemm(", "librocblas_foo") does not have behind it.
 */
static bool arguments_begin(struct text_slice f, struct text_slice args)
{
	struct blas_name name = blas_name(f.p, f.n);
	const char *form = args_of(&name);
	bool letter = form && strchr("tus", *form); /* ta, uplo, side */
	size_t n, near = args.n < BEFORE_FIELD ? args.n : BEFORE_FIELD;

	if (!name.known && !memmem(args.p, near, ",atomics_", 9))
		return false;
	n = field_length(args, letter);
	if (n == 0 && !form)
		n = field_length(args, true);
	args.p += n;
	args.n -= n;
	return n > 0 && (field_length(args, true) > 0 || field_length(args, false) > 0);
}

/* In other text "rocblas_" has no argument behind the name, or is part of a longer word. */
static bool trace_starts(struct text_slice line, size_t at)
{
	struct text_slice f = function_at(line, at), args = { f.p + f.n, 0 };

	args.n = (size_t)(line.p + line.n - args.p);
	if (f.n == 0 || args.n < 2 || *args.p != ',' || slice_blank(args.p[1]))
		return false;
	args.p++, args.n--;
	return at == 0 || !name_char(line.p[at - 1]) || arguments_begin(f, args);
}

/* Copies an argument, an address as '*'. Returns the end. */
static char *arg_copy(char *to, struct text_slice arg)
{
	arg = slice_trim(arg);
	if (is_address(arg.p, arg.n)) {
		*to = '*';
		return to + 1;
	}
	memcpy(to, arg.p, arg.n);
	return to + arg.n;
}

/* The field of the atomics, from its comma on; empty: there is none. */
static struct text_slice atomics_field(struct text_slice text)
{
	static const char *const fields[] = { ",atomics_allowed", ",atomics_not_allowed" };
	struct text_slice none = { text.p + text.n, 0 };

	for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
		const char *p = memmem(text.p, text.n, fields[i], strlen(fields[i]));

		if (p)
			return (struct text_slice){ p, strlen(fields[i]) };
	}
	return none;
}

/*
 * Whether a record of no known form may have lost its end: a log whose other records have the
 * field of the atomics is of a release that writes it always.
 */
static bool end_is_lost(struct trace_state *s, struct text_slice text)
{
	struct text_slice f = function_at(text, 0);
	struct blas_name name;

	if (atomics_field(text).n > 0) {
		s->tailed = true;
		return false;
	}
	if (!s->tailed || rocblas_is_info(f))
		return false;
	name = blas_name(f.p, f.n);
	return name.known && !args_of(&name);
}

static enum record_is trace_split(struct library_log *log, void *state, const struct log_record *r,
				  struct log_facts *f)
{
	struct trace_state *s = state;
	struct text_slice rest = r->text;
	char *to = s->text;
	const char *comma;

	(void)log;
	if ((r->cut && atomics_field(rest).n == 0) || end_is_lost(s, rest))
		return RECORD_TORN;
	if (rest.n > sizeof(s->text))
		return RECORD_CALL; /* which is then bad */
	while ((comma = memchr(rest.p, ',', rest.n)) != NULL) {
		size_t n = (size_t)(comma - rest.p);

		to = arg_copy(to, (struct text_slice){ rest.p, n });
		*to++ = ',';
		rest.p += n + 1;
		rest.n -= n + 1;
	}
	to = arg_copy(to, rest);
	f->text = (struct text_slice){ s->text, (size_t)(to - s->text) };
	return RECORD_CALL;
}

static bool trace_mask(const void *state, const struct log_record *r, struct log_mask *m)
{
	(void)state;
	mask_addresses(m, r->text, NULL);
	return true;
}

static uint64_t trace_version(const void *state)
{
	const struct trace_state *s = state;

	return s->tailed;
}

static bool word_char(char c)
{
	return name_char(c) || (c >= 'A' && c <= 'Z') || (c && strchr("*.+-(,)", c));
}

/* An argument is a word, or a complex number in brackets. */
static bool arguments_are_words(const struct text_slice *args, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (args[i].n == 0)
			return false;
		for (size_t c = 0; c < args[i].n; c++)
			if (!word_char(args[i].p[c]))
				return false;
	}
	return true;
}

/*
 * A call of a function whose arguments are not known. Without the field of the atomics it has to be
 * one of BLAS, or to have a buffer: else it is other text.
 */
static enum record_is raw_key(const struct blas_name *name, const struct text_slice *args, size_t n,
			      bool tailed, const char *operation, struct library_key *k)
{
	bool buffer = false;

	for (size_t i = 0; i < n; i++)
		buffer |= slice_is(args[i], "*");
	if (!arguments_are_words(args, n) || (!tailed && (!buffer || n < 3)))
		return name->known || (tailed && buffer) ? RECORD_TORN : RECORD_FOREIGN;
	key_clear(k);
	key_begin(k, name->function, operation);
	key_word(k, "type", name->type ? name->type->name : "");
	key_wordn(k, "args", args[0].p, (size_t)(args[n - 1].p + args[n - 1].n - args[0].p));
	rocblas_common(name, NULL, k);
	k->inexact = true;
	return RECORD_CALL;
}

static enum record_is trace_parse(struct text_slice text, struct library_key *k)
{
	struct text_slice args[ARGS_MAX], f = function_at(text, 0), tail = atomics_field(text);
	struct blas_name name = blas_name(f.p, f.n);
	char operation[NAME_LENGTH + 1] = "";
	enum record_is is;
	size_t n;

	if (rocblas_is_info(f))
		return RECORD_INFO;
	text.n = (size_t)(tail.p - text.p);
	n = args_split(text, args, ARGS_MAX);
	if (n > ARGS_MAX || n < 2)
		return RECORD_TORN;
	memcpy(operation, f.p, f.n);
	is = args_key(&name, args + 1, n - 1, operation, k);
	if (is == RECORD_FOREIGN)
		is = raw_key(&name, args + 1, n - 1, tail.n > 0, operation, k);
	k->level = LEVEL_TRACE;
	return is;
}

const struct library_parser library_parser_rocblas_trace = {
	.name = "rocBLAS trace",
	.library = "rocblas",
	.markers = { { PREFIX, false, false } },
	.starts = trace_starts,
	.split = trace_split,
	.mask = trace_mask,
	.version = trace_version,
	.parse = trace_parse,
	.state_size = sizeof(struct trace_state),
};
