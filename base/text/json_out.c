#include "profrig/base/json_out.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "profrig/base/num.h"
#include "profrig/base/strbuf.h"
#include "profrig/base/strvec.h"
#include "profrig/base/utf8.h"
#include "profrig/base/xalloc.h"

void json_out_init(struct json_out *j, FILE *f, int indent)
{
	*j = (struct json_out){ .f = f, .indent = indent };
}

static inline void out_put(struct json_out *j, const char *s, size_t n)
{
	fwrite_unlocked(s, 1, n, j->f);
}

static void new_line(struct json_out *j)
{
	static const char blanks[] = "                                ";
	size_t n = (size_t)j->indent * (size_t)j->depth;

	if (j->indent == 0)
		return;
	putc_unlocked('\n', j->f);
	while (n > 0) {
		size_t k = n < sizeof(blanks) - 1 ? n : sizeof(blanks) - 1;

		out_put(j, blanks, k);
		n -= k;
	}
}

enum {
	PLAIN,
	ESCAPE, /* a quote, a backslash or a control character */
	LESS,   /* '<': the next byte decides */
	HIGH,   /* starts, or breaks, a UTF-8 sequence */
};

/* clang-format off */
static const unsigned char class_of[256] = {
	[0 ... 0x1f] = ESCAPE, ['"'] = ESCAPE, ['\\'] = ESCAPE, ['<'] = LESS,
	[0x80 ... 0xff] = HIGH,
};
/* clang-format on */

/* Where the text of a string goes: a stream or a buffer. */
struct text_to {
	FILE *f;
	struct strbuf *sb;
};

static inline void text_put(const struct text_to *to, const char *s, size_t n)
{
	if (to->f)
		fwrite_unlocked(s, 1, n, to->f);
	else
		strbuf_add(to->sb, s, n);
}

static void put_escape(const struct text_to *to, unsigned char c)
{
	static const char hex[] = "0123456789abcdef";
	static const char names[256] = {
		['"'] = '"',  ['\\'] = '\\', ['\b'] = 'b', ['\f'] = 'f',
		['\n'] = 'n', ['\r'] = 'r',  ['\t'] = 't',
	};
	char e[6] = { '\\', 'u', '0', '0', hex[c >> 4], hex[c & 15] };

	if (names[c]) {
		e[1] = names[c];
		text_put(to, e, 2);
	} else {
		text_put(to, e, 6);
	}
}

static void text_quote(const struct text_to *to, const char *text, size_t n)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t from = 0, i = 0, len;

	text_put(to, "\"", 1);
	while (i < n) {
		unsigned char c = s[i];

		switch (class_of[c]) {
		case PLAIN:
			do {
				i++;
			} while (i < n && class_of[s[i]] == PLAIN);
			continue;
		case HIGH:
			len = utf8_len(text + i, n - i);
			if (len) {
				i += len;
				continue;
			}
			break;
		case LESS:
			/* "</script" ends a script element, and "<!--" can keep it from ending. */
			if (i + 1 == n || (s[i + 1] != '/' && s[i + 1] != '!')) {
				i++;
				continue;
			}
			break;
		}
		text_put(to, text + from, i - from);
		if (class_of[c] == HIGH)
			text_put(to, "\xef\xbf\xbd", 3);
		else if (c == '<' && s[i + 1] == '/')
			text_put(to, "<\\", 2);
		else
			put_escape(to, c);
		from = ++i;
	}
	text_put(to, text + from, n - from);
	text_put(to, "\"", 1);
}

void json_quote(struct strbuf *to, const char *s, size_t n)
{
	text_quote(&(struct text_to){ .sb = to }, s, n);
}

size_t json_quoted_max(const char *s)
{
	size_t n = 2;

	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if (c < ' ' || c == 0x7f)
			n += 6; /* \u001b */
		else if (c >= 0x80)
			n += 3; /* U+FFFD replaces a byte that is no UTF-8 */
		else
			n += c == '"' || c == '\\' ? 2 : 1;
	}
	return n;
}

static void put_string(struct json_out *j, const char *text, size_t n)
{
	text_quote(&(struct text_to){ .f = j->f }, text, n);
}

/* Comma, line end and key in front of a value. */
static void value_begin(struct json_out *j, const char *key)
{
	if (j->depth == 0) {
		assert(!key);
		return;
	}
	assert((j->kind[j->depth - 1] == '{') == (key != NULL));
	if (j->some[j->depth - 1])
		putc_unlocked(',', j->f);
	j->some[j->depth - 1] = true;
	new_line(j);
	if (key) {
		put_string(j, key, strlen(key));
		out_put(j, ": ", j->indent ? 2 : 1);
	}
}

static void open_level(struct json_out *j, const char *key, char kind)
{
	value_begin(j, key);
	assert(j->depth < (int)ARRAY_LEN(j->kind));
	putc_unlocked(kind, j->f);
	j->kind[j->depth] = kind;
	j->some[j->depth] = false;
	j->depth++;
}

void json_obj(struct json_out *j, const char *key)
{
	open_level(j, key, '{');
}

void json_arr(struct json_out *j, const char *key)
{
	open_level(j, key, '[');
}

void json_end(struct json_out *j)
{
	assert(j->depth > 0);
	j->depth--;
	if (j->some[j->depth])
		new_line(j);
	putc_unlocked(j->kind[j->depth] == '{' ? '}' : ']', j->f);
}

void json_strn(struct json_out *j, const char *key, const char *s, size_t n)
{
	value_begin(j, key);
	if (s)
		put_string(j, s, n);
	else
		out_put(j, "null", 4);
}

void json_str(struct json_out *j, const char *key, const char *s)
{
	json_strn(j, key, s, s ? strlen(s) : 0);
}

void json_i64(struct json_out *j, const char *key, int64_t v)
{
	char buf[24];

	value_begin(j, key);
	out_put(j, buf, num_fmt_i64(buf, v));
}

void json_u64(struct json_out *j, const char *key, uint64_t v)
{
	char buf[24];

	value_begin(j, key);
	out_put(j, buf, num_fmt_u64(buf, v));
}

void json_f64(struct json_out *j, const char *key, double v)
{
	char buf[32];

	if (!isfinite(v)) {
		json_nil(j, key);
		return;
	}
	value_begin(j, key);
	out_put(j, buf, num_fmt_f64(buf, v));
}

void json_words(struct json_out *j, const char *key, const struct strvec *v)
{
	json_arr(j, key);
	for (size_t i = 0; i < v->nr; i++)
		json_str(j, NULL, v->v[i]);
	json_end(j);
}

void json_bool(struct json_out *j, const char *key, bool v)
{
	json_raw(j, key, v ? "true" : "false");
}

void json_nil(struct json_out *j, const char *key)
{
	json_raw(j, key, "null");
}

void json_raw(struct json_out *j, const char *key, const char *text)
{
	value_begin(j, key);
	out_put(j, text, strlen(text));
}
