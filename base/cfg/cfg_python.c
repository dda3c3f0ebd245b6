/*
 * Literals of Python as a tree: the part of ast.literal_eval's language that a configuration needs
 * (The Python Language Reference 3.12, 2.4 Literals, 6.2 Atoms).
 *
 *	{'k': v, …}			map; keys are strings
 *	[v, …]  (v, …)  (v)		list, list, v itself
 *	'…' "…" '''…''' """…"""		text; prefixes r u; neighbours are joined
 *	17 -3 0x1f 1_000 1.5e-3		numbers, with decimal text
 *	True False None
 *	# …				to the end of the line
 *
 * Refused with a reason: bytes, f-strings, sets, complex numbers, names, calls, \N{…}.
 */
#include "cfg_build.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <string.h>

#include "profrig/base/num.h"
#include "profrig/base/strbuf.h"
#include "profrig/base/text.h"
#include "profrig/base/utf8.h"
#include "profrig/base/xalloc.h"

struct py {
	struct cfg_build *b;
	const char *s, *end;
	int line;
	size_t depth;
	struct err *err;
};

static int py_fail(struct py *p, const char *what)
{
	return err_set(p->err, EINVAL, "%s:%d: %s", p->b->file, p->line, what);
}

static char py_peek(const struct py *p, size_t ahead)
{
	return (size_t)(p->end - p->s) > ahead ? p->s[ahead] : '\0';
}

/* Blanks, line ends, comments and line continuations. */
static void skip_blanks(struct py *p)
{
	while (p->s < p->end) {
		if (*p->s == '#')
			while (p->s < p->end && *p->s != '\n')
				p->s++;
		else if (*p->s == '\\' && py_peek(p, 1) == '\n')
			p->s++;
		else if (!strchr(" \t\r\n\f", *p->s) || !*p->s)
			return;
		else
			p->line += *p->s++ == '\n';
	}
}

/* --- text --- */

static int add_code_point(struct py *p, struct strbuf *out, uint32_t c)
{
	char bytes[4];

	if (c == 0)
		return py_fail(p, "a NUL byte in a string");
	if (c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return py_fail(p, "a string holds half of a character");
	strbuf_add(out, bytes, utf8_put(bytes, c));
	return 0;
}

/* Exactly n digits of base 16, or at most 3 of base 8 (n == 0). */
static int numeric_escape(struct py *p, struct strbuf *out, size_t n)
{
	uint32_t c = 0, base = n ? 16 : 8;
	size_t most = n ? n : 3, have = 0;

	while (have < most && (uint32_t)text_hex_digit(py_peek(p, 0)) < base) {
		c = c * base + (uint32_t)text_hex_digit(*p->s++);
		have++;
	}
	if (n && have < n)
		return py_fail(p, "an escape in a string lacks digits");
	return add_code_point(p, out, c);
}

/* p->s is behind the backslash. */
static int py_escape(struct py *p, struct strbuf *out)
{
	static const char from[] = "\\'\"abfnrtv", to[] = "\\'\"\a\b\f\n\r\t\v";
	char c = py_peek(p, 0);
	const char *at = c ? strchr(from, c) : NULL;

	if (p->s == p->end)
		return py_fail(p, "a string without end");
	if (at) {
		strbuf_addch(out, to[at - from]);
	} else if (c == '\n') {
		p->line++;
	} else if (c >= '0' && c <= '7') {
		return numeric_escape(p, out, 0);
	} else if (c == 'x' || c == 'u' || c == 'U') {
		p->s++;
		return numeric_escape(p, out, c == 'x' ? 2 : c == 'u' ? 4 : 8);
	} else if (c == 'N') {
		return py_fail(p, "\\N{…} in a string: write the character itself");
	} else {
		/* Python keeps an unknown escape as it is. */
		strbuf_addch(out, '\\');
		return 0;
	}
	p->s++;
	return 0;
}

/* One character without a special meaning. */
static int plain_character(struct py *p, struct strbuf *out)
{
	size_t n = utf8_len(p->s, (size_t)(p->end - p->s));

	if (!n)
		return py_fail(p, "no UTF-8 text");
	if (!*p->s)
		return py_fail(p, "a NUL byte in a string");
	p->line += *p->s == '\n';
	strbuf_add(out, p->s, n);
	p->s += n;
	return 0;
}

/* p->s is at the opening quote. */
static int py_quoted(struct py *p, bool raw, struct strbuf *out)
{
	char q = *p->s;
	bool triple = py_peek(p, 1) == q && py_peek(p, 2) == q;
	int r = 0;

	p->s += triple ? 3 : 1;
	while (r == 0) {
		if (p->s == p->end || (*p->s == '\n' && !triple))
			return py_fail(p, "a string without end");
		if (*p->s == q && (!triple || (py_peek(p, 1) == q && py_peek(p, 2) == q))) {
			p->s += triple ? 3 : 1;
			return 0;
		}
		if (*p->s == '\\' && raw) {
			/* In a raw string the backslash keeps a quote from ending the text, and
			 * both stay. */
			strbuf_addch(out, *p->s++);
			if (p->s < p->end && (*p->s != '\n' || triple))
				r = plain_character(p, out);
		} else if (*p->s == '\\') {
			p->s++;
			r = py_escape(p, out);
		} else {
			r = plain_character(p, out);
		}
	}
	return r;
}

/* Length of a prefix with the quote behind it, 0 when the text is no string. */
static size_t string_prefix(struct py *p, bool *ret_raw, bool *ret_refused)
{
	size_t n = 0;

	*ret_raw = *ret_refused = false;
	while (n < 2 && py_peek(p, n) && strchr("rRuUbBfF", py_peek(p, n))) {
		*ret_raw |= tolower((unsigned char)py_peek(p, n)) == 'r';
		*ret_refused |= strchr("bBfF", py_peek(p, n)) != NULL;
		n++;
	}
	return py_peek(p, n) == '\'' || py_peek(p, n) == '"' ? n + 1 : 0;
}

/* Neighbouring strings are joined. Returns 1 when there was a string. */
static int py_strings(struct py *p, char **ret)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;
	bool raw, refused, any = false;
	size_t n;

	while ((n = string_prefix(p, &raw, &refused)) > 0) {
		int r;

		if (refused)
			return py_fail(p, "bytes and f-strings are no text: leave the prefix out");
		p->s += n - 1;
		r = py_quoted(p, raw, &text);
		if (r < 0)
			return r;
		any = true;
		skip_blanks(p);
	}
	if (any)
		*ret = pool_strndup(&p->b->c->pool, text.buf, text.len);
	return any;
}

/* --- numbers --- */

/* Reads the digits of base from s on and leaves out the '_' between them. */
static size_t take_digits(struct py *p, uint32_t base, struct strbuf *out)
{
	size_t n = 0;

	for (;;) {
		bool gap = py_peek(p, 0) == '_' && (n > 0 || base != 10);

		if ((uint32_t)text_hex_digit(py_peek(p, gap)) >= base)
			return n;
		p->s += gap;
		strbuf_addch(out, *p->s++);
		n++;
	}
}

static int based_number(struct py *p, struct cfg_node *n, bool minus)
{
	char kind = (char)tolower((unsigned char)py_peek(p, 1));
	uint32_t base = kind == 'x' ? 16 : kind == 'o' ? 8 : 2;
	CLEANUP(strbuf_release) struct strbuf digits = STRBUF_INIT;
	uint64_t v = 0;
	char text[32];

	p->s += 2;
	if (!take_digits(p, base, &digits))
		return py_fail(p, "a number without digits");
	for (size_t i = 0; i < digits.len; i++) {
		if (v > (uint64_t)INT64_MAX / base)
			return py_fail(p, "a number that is too large");
		v = v * base + (uint64_t)text_hex_digit(digits.buf[i]);
	}
	if (v > INT64_MAX)
		return py_fail(p, "a number that is too large");
	num_fmt_i64(text, minus ? -(int64_t)v : (int64_t)v);
	cfg_build_plain(n, pool_strdup(&p->b->c->pool, text));
	return 0;
}

/* Returns 1 and takes letter, sign and digits when an exponent follows. */
static int py_exponent(struct py *p, struct strbuf *text)
{
	size_t sign = py_peek(p, 1) == '+' || py_peek(p, 1) == '-';

	if (tolower((unsigned char)py_peek(p, 0)) != 'e' ||
	    !isdigit((unsigned char)py_peek(p, 1 + sign)))
		return 0;
	strbuf_add(text, p->s, 1 + sign);
	p->s += 1 + sign;
	take_digits(p, 10, text);
	return 1;
}

static int py_number(struct py *p, struct cfg_node *n, bool minus)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;
	bool whole = true;
	size_t first;
	double v;

	if (py_peek(p, 0) == '0' && py_peek(p, 1) && strchr("xXoObB", py_peek(p, 1)))
		return based_number(p, n, minus);
	if (minus)
		strbuf_addch(&text, '-');
	first = text.len;
	take_digits(p, 10, &text);
	if (py_peek(p, 0) == '.') {
		whole = false;
		strbuf_addch(&text, *p->s++);
		if (isdigit((unsigned char)py_peek(p, 0)))
			take_digits(p, 10, &text);
	}
	if (text.len == first + !whole)
		return py_fail(p, "a sign without a number");
	whole &= !py_exponent(p, &text);
	if (whole && text.buf[first] == '0' && strspn(text.buf + first, "0") < text.len - first)
		return py_fail(p, "a number that begins with 0 (in quotes it is a text)");
	if (tolower((unsigned char)py_peek(p, 0)) == 'j')
		return py_fail(p, "a complex number");
	if (num_f64(text.buf, text.len, &v) < 0 || !isfinite(v))
		return py_fail(p, "a number that is too large");
	cfg_build_plain(n, pool_strdup(&p->b->c->pool, text.buf));
	if (n->kind != (whole ? CFG_INT : CFG_FLOAT))
		return py_fail(p, "a number that is too large");
	return 0;
}

/* --- the rest --- */

static int py_value(struct py *p, struct cfg_node **ret);

static int py_word(struct py *p, struct cfg_node *n)
{
	static const struct {
		const char *name, *text;
	} words[] = { { "True", "true" }, { "False", "false" }, { "None", "null" } };
	static const char *const json[] = { "true", "false", "null" };
	size_t len = 0;

	while (isalnum((unsigned char)py_peek(p, len)) || py_peek(p, len) == '_')
		len++;
	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		if (len == strlen(words[i].name) && !memcmp(p->s, words[i].name, len)) {
			cfg_build_plain(n, words[i].text);
			p->s += len;
			return 0;
		}
		if (len == strlen(json[i]) && !memcmp(p->s, json[i], len))
			return err_set(p->err, EINVAL,
				       "%s:%d: %s is JSON, in Python it is %s; or is all the rest "
				       "JSON but for a quote ' or a comma?",
				       p->b->file, p->line, json[i], words[i].name);
	}
	if (len)
		return err_set(p->err, EINVAL, "%s:%d: '%.*s' is a name, want a text in quotes",
			       p->b->file, p->line, len < 40 ? (int)len : 40, p->s);
	return py_fail(p, p->s == p->end ? "the text ends where a value should be"
					 : "a character that begins no value");
}

/* The separator behind an entry: 1 another entry follows, 0 the end (taken). */
static int next_entry(struct py *p, char close)
{
	skip_blanks(p);
	if (py_peek(p, 0) == ',') {
		p->s++;
		skip_blanks(p);
		if (py_peek(p, 0) == close)
			return p->s++, 0;
		return 1;
	}
	if (py_peek(p, 0) == close && p->s < p->end)
		return p->s++, 0;
	return err_set(p->err, EINVAL, "%s:%d: want , or %c after a value", p->b->file, p->line,
		       close);
}

static int py_member(struct py *p, struct cfg_node *map)
{
	int line = p->line, r;
	char *key = NULL;
	struct cfg_node *kid;

	r = py_strings(p, &key);
	if (r < 0)
		return r;
	if (r == 0)
		return py_fail(p, "want a key, a text in quotes");
	if (!*key)
		return py_fail(p, "an empty key");
	if (py_peek(p, 0) != ':')
		return py_fail(p, "want : after a key");
	p->s++;
	r = py_value(p, &kid);
	if (r < 0)
		return r;
	kid->line = line;
	return cfg_build_attach(p->b, map, key, kid, p->err);
}

/* p->s is behind the opening bracket. (v) is v, (v,) is a list of one. */
static int py_entries(struct py *p, struct cfg_node *n, char close, struct cfg_node **ret_alone)
{
	int r;

	skip_blanks(p);
	if (py_peek(p, 0) == close && p->s < p->end) {
		p->s++;
		return 0;
	}
	do {
		struct cfg_node *kid;

		r = n->kind == CFG_MAP ? py_member(p, n) : py_value(p, &kid);
		if (r < 0)
			return r;
		if (n->kind == CFG_SEQ)
			cfg_append(&p->b->c->pool, n, kid);
		skip_blanks(p);
		if (close == ')' && n->nr == 1 && py_peek(p, 0) == ')')
			*ret_alone = kid;
		r = next_entry(p, close);
	} while (r > 0);
	return r;
}

static int py_container(struct py *p, struct cfg_node **n)
{
	char open = *p->s++, close = open == '{' ? '}' : open == '[' ? ']' : ')';
	struct cfg_node *alone = NULL;
	int r;

	if (++p->depth > CFG_MAX_DEPTH)
		return py_fail(p, "nested too deeply");
	(*n)->kind = open == '{' ? CFG_MAP : CFG_SEQ;
	r = py_entries(p, *n, close, &alone);
	p->depth--;
	if (r == 0 && alone)
		*n = alone;
	return r;
}

static int py_value(struct py *p, struct cfg_node **ret)
{
	struct cfg_node *n;
	char *text = NULL;
	int r;

	skip_blanks(p);
	n = cfg_build_node(p->b, CFG_NULL, p->line, p->err);
	if (!n)
		return -E2BIG;
	*ret = n;
	r = py_strings(p, &text);
	if (r > 0) {
		n->kind = CFG_STR;
		n->s = text;
	}
	if (r != 0)
		return r < 0 ? r : 0;
	if (p->s < p->end && strchr("{[(", *p->s) && *p->s)
		return py_container(p, ret);
	if (py_peek(p, 0) == '-' || py_peek(p, 0) == '+') {
		bool minus = *p->s++ == '-';

		skip_blanks(p);
		return py_number(p, n, minus);
	}
	if (isdigit((unsigned char)py_peek(p, 0)) ||
	    (py_peek(p, 0) == '.' && isdigit((unsigned char)py_peek(p, 1))))
		return py_number(p, n, false);
	return py_word(p, n);
}

int cfg_parse_python(struct cfg_build *b, const char *text, size_t n, struct err *err)
{
	struct py p = { .b = b, .s = text, .end = text + n, .line = 1, .err = err };
	int r = py_value(&p, &b->c->root);

	if (r < 0)
		return r;
	skip_blanks(&p);
	if (p.s < p.end)
		return py_fail(&p, "something follows the value");
	return 0;
}
