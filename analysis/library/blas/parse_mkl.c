/*
 * Intel MKL, MKL_VERBOSE=1:
 *
 *	MKL_VERBOSE oneMKL 2024.0 Product build 20231011 for Intel(R) 64 architecture …
 *	MKL_VERBOSE SGEMM(T,N,64,3072,3072,0x7f…,0x7f…,3072,…) 13.17ms CNR:OFF Dyn:1 TID:0  NThr:1
 *	MKL_VERBOSE FFT(dcfi30x30x30,tLim:4,desc:0x5581…) 21.43us CNR:OFF …
 *
 * Arguments are in the order of the Fortran function; buffers and scalars are addresses, so alpha
 * and beta are unknown. Behind them stands the duration in ns, us, ms or s, then the mode of the
 * library, which is not of the configuration. Names of CBLAS begin with an order (101 rows, 102
 * columns) and have numbers for letters.
 *
 * A function that is not of BLAS keeps its arguments as logged, without addresses.
 */
#include "library_args.h"
#include "library_mask.h"

#include <stdio.h>
#include <string.h>

#include "profrig/base/num.h"
#include "profrig/base/xalloc.h"

#define MKL_MARKER "MKL_VERBOSE "
#define ARGS_MAX 64

struct mkl_state {
	struct strbuf text; /* of the last record, without addresses */
};

static bool name_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

/* Bytes of the function's name at the begin of t, when '(' follows it; else 0. */
static size_t function_length(struct text_slice t)
{
	size_t n = 0;

	while (n < t.n && name_char(t.p[n]))
		n++;
	return n < t.n && t.p[n] == '(' ? n : 0;
}

/* The bracket that closes the one at `at`; t.n: it does not. */
static size_t bracket_end(struct text_slice t, size_t at)
{
	size_t depth = 0;

	for (; at < t.n; at++) {
		depth += t.p[at] == '(';
		depth -= t.p[at] == ')';
		if (depth == 0)
			return at;
	}
	return at;
}

/* "13.17ms" → ns; false: there is no unit, or no number. */
static bool duration_read(struct text_slice t, int64_t *ret_ns)
{
	static const struct {
		const char *unit;
		int shift;
	} units[] = { { "ns", 0 }, { "us", 3 }, { "ms", 6 }, { "s", 9 } };
	double v;

	for (size_t i = 0; i < ARRAY_LEN(units); i++) {
		size_t n = strlen(units[i].unit);
		char number[40];

		if (t.n <= n || t.n - n >= sizeof(number) ||
		    memcmp(t.p + t.n - n, units[i].unit, n) != 0)
			continue;
		memcpy(number, t.p, t.n - n);
		for (size_t c = 0; c < t.n - n; c++)
			number[c] = (char)(number[c] == ',' ? '.' : number[c]);
		if (num_f64(number, t.n - n, &v) < 0 || !(v - v == 0))
			return false;
		if (num_decimal(number, t.n - n, units[i].shift, ret_ns) < 0 || *ret_ns < 0)
			*ret_ns = -1;
		return true;
	}
	return false;
}

/* The number behind "TID:". */
static int64_t thread_read(struct text_slice rest)
{
	const char *p = rest.n ? memmem(rest.p, rest.n, " TID:", 5) : NULL;
	size_t n = 0, room;
	int64_t tid = LIBRARY_NO_ID;

	if (!p)
		return tid;
	p += 5;
	room = (size_t)(rest.p + rest.n - p);
	while (n < room && p[n] >= '0' && p[n] <= '9')
		n++;
	if (num_i64(p, n, &tid) < 0)
		return LIBRARY_NO_ID;
	return tid;
}

/* Copies the call; addresses become '*'. */
static void call_copy(struct strbuf *sb, struct text_slice t)
{
	for (size_t i = 0; i < t.n; i++) {
		struct text_slice rest = { t.p + i, t.n - i };

		if (!slice_begins(rest, "0x") && !slice_begins(rest, "(nil)")) {
			strbuf_addch(sb, t.p[i]);
			continue;
		}
		strbuf_addch(sb, '*');
		if (*rest.p == '(') {
			i += 4;
			continue;
		}
		for (i += 1; i + 1 < t.n && name_char(t.p[i + 1]); i++)
			;
	}
}

static enum record_is mkl_split(struct library_log *log, void *state, const struct log_record *r,
				struct log_facts *f)
{
	struct mkl_state *s = state;
	struct text_slice t = { r->text.p + strlen(MKL_MARKER), 0 }, rest, word;
	size_t name, end;

	(void)log;
	if (r->text.n <= strlen(MKL_MARKER))
		return RECORD_TORN;
	t.n = r->text.n - strlen(MKL_MARKER);
	if (slice_begins(t, "oneMKL") || slice_begins(t, "Intel(R)"))
		return RECORD_INFO;
	name = function_length(t);
	if (name == 0) /* a text about it, or a name that is cut */
		return memchr(t.p, ' ', t.n) ? RECORD_FOREIGN : RECORD_TORN;
	end = bracket_end(t, name);
	if (end >= t.n)
		return RECORD_TORN;
	rest = slice_trim((struct text_slice){ t.p + end + 1, t.n - end - 1 });
	word = rest;
	for (word.n = 0; word.n < rest.n && !slice_blank(word.p[word.n]);)
		word.n++;
	if (!slice_begins(word, "CNR:") && !duration_read(word, &f->when.dur_ns))
		return RECORD_TORN;
	f->tid = thread_read(rest);
	if (!s->text.cap) {
		strbuf_init(&s->text);
		strbuf_limit(&s->text, LIBRARY_TEXT_MAX);
	}
	strbuf_clear(&s->text);
	s->text.overflow = false;
	call_copy(&s->text, (struct text_slice){ t.p, end + 1 });
	if (s->text.overflow)
		return RECORD_TORN;
	f->text = (struct text_slice){ s->text.buf, s->text.len };
	return RECORD_CALL;
}

/* The bracket that closes the only one but for "(nil)"; NULL: there is none, or they are nested. */
static const char *bracket_only(struct text_slice t)
{
	const char *end = t.p + t.n, *p = memchr(t.p, '(', t.n), *close, *open;

	for (p = p ? p + 1 : end; p < end; p = open + 5) {
		close = memchr(p, ')', (size_t)(end - p));
		open = close ? memchr(p, '(', (size_t)(close - p)) : NULL;
		if (!open)
			return close;
		if (!slice_begins((struct text_slice){ open, (size_t)(end - open) }, "(nil)"))
			return NULL;
	}
	return NULL;
}

/* "…) 13.17ms CNR:…": the word behind the bracket is the duration. */
static bool mkl_mask(const void *state, const struct log_record *r, struct log_mask *m)
{
	const char *end = r->text.p + r->text.n, *close = bracket_only(r->text), *word;

	(void)state;
	if (!close)
		return false;
	for (word = close + 1; word < end && slice_blank(*word);)
		word++;
	mask_addresses(m, (struct text_slice){ r->text.p, (size_t)(word - r->text.p) }, NULL);
	for (close = word; word < end && !slice_blank(*word);)
		word++;
	if (word == close || *close < '0' || *close > '9' ||
	    !duration_read((struct text_slice){ close, (size_t)(word - close) }, &m->dur_ns))
		return false;
	mask_word(m);
	mask_add(m, (struct text_slice){ word, (size_t)(end - word) });
	return true;
}

/* ---- key ---- */

/* CBLAS's numbers as Fortran's letters; NULL: v is none. */
static const char *cblas_letter(struct text_slice v)
{
	static const struct {
		const char *number, *name, *letter;
	} of[] = { { "111", "CblasNoTrans", "N" },   { "112", "CblasTrans", "T" },
		   { "113", "CblasConjTrans", "C" }, { "121", "CblasUpper", "U" },
		   { "122", "CblasLower", "L" },     { "131", "CblasNonUnit", "N" },
		   { "132", "CblasUnit", "U" },      { "141", "CblasLeft", "L" },
		   { "142", "CblasRight", "R" } };

	for (size_t i = 0; i < ARRAY_LEN(of); i++)
		if (slice_is(v, of[i].number) || slice_is(v, of[i].name))
			return of[i].letter;
	return NULL;
}

/*
 * Arguments of CBLAS as Fortran's. Letters come first: a size of 111 behind them stays one. false:
 * there is no order.
 */
static bool cblas_args(struct text_slice *args, size_t *nr, bool *row_major)
{
	if (*nr == 0)
		return false;
	*row_major = slice_is(args[0], "101") || slice_is(args[0], "CblasRowMajor");
	if (!*row_major && !slice_is(args[0], "102") && !slice_is(args[0], "CblasColMajor"))
		return false;
	memmove(args, args + 1, (*nr - 1) * sizeof(*args));
	--*nr;
	for (size_t i = 0; i < *nr; i++) {
		const char *letter = cblas_letter(args[i]);

		if (!letter)
			break;
		args[i] = (struct text_slice){ letter, 1 };
	}
	return true;
}

/* Functions of CBLAS that have no order: those of vectors. */
static bool function_has_order(const struct blas_name *n)
{
	static const char *const vectors = " axpy dot dotu dotc copy swap rot scal nrm2 asum iamax "
					   "iamin ";
	char word[64];

	snprintf(word, sizeof(word), " %s ", n->function);
	return !strstr(vectors, word);
}

static enum record_is mkl_raw(const char *function, struct text_slice args, struct library_key *k)
{
	key_clear(k);
	key_begin(k, function, function);
	key_wordn(k, "args", args.p, args.n);
	k->inexact = true;
	return RECORD_CALL;
}

static enum record_is mkl_parse(struct text_slice text, struct library_key *k)
{
	size_t n = function_length(text), nr;
	char function[64];
	struct text_slice inner = { text.p + n + 1, text.n - n - 2 }, args[ARGS_MAX], name;
	struct blas_name of;
	enum record_is is;
	bool cblas;

	if (n == 0 || n >= sizeof(function))
		return RECORD_TORN;
	for (size_t i = 0; i < n; i++)
		function[i] =
			(char)(text.p[i] >= 'A' && text.p[i] <= 'Z' ? text.p[i] + 32 : text.p[i]);
	for (; n > 1 && function[n - 1] == '_'; n--)
		;
	function[n] = 0;
	name = (struct text_slice){ function, n };
	cblas = slice_begins(name, "cblas_");
	if (cblas)
		name.p += 6, name.n -= 6;
	of = blas_name(name.p, name.n);
	nr = args_split(inner, args, ARGS_MAX);
	if (nr > ARGS_MAX ||
	    (cblas && function_has_order(&of) && !cblas_args(args, &nr, &of.row_major)))
		return mkl_raw(name.p, inner, k);
	is = args_key(&of, args, nr, name.p, k);
	return is == RECORD_FOREIGN ? mkl_raw(name.p, inner, k) : is;
}

static void mkl_release(void *state)
{
	struct mkl_state *s = state;

	if (s->text.cap)
		strbuf_release(&s->text);
}

const struct library_parser library_parser_mkl = {
	.name = "MKL_VERBOSE",
	.library = "mkl",
	.markers = { { MKL_MARKER, false, false } },
	.split = mkl_split,
	.mask = mkl_mask,
	.parse = mkl_parse,
	.state_size = sizeof(struct mkl_state),
	.release = mkl_release,
};
