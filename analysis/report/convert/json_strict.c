/*
 * Strict, because what a trace brought along goes into the JSON parser of another program: readers
 * take arguments as they come, with raw control characters, bare words and all.
 */
#include "tef_out.h"

#include <string.h>

#include "profrig/base/utf8.h"

#define MAX_DEPTH 64

struct cur {
	const char *p, *end;
};

static void blanks(struct cur *c)
{
	while (c->p < c->end && (*c->p == ' ' || *c->p == '\t' || *c->p == '\n' || *c->p == '\r'))
		c->p++;
}

static bool eat(struct cur *c, char ch)
{
	if (c->p == c->end || *c->p != ch)
		return false;
	c->p++;
	return true;
}

static bool is_digit(const struct cur *c)
{
	return c->p < c->end && *c->p >= '0' && *c->p <= '9';
}

static bool digits(struct cur *c)
{
	bool some = is_digit(c);

	while (is_digit(c))
		c->p++;
	return some;
}

static bool number(struct cur *c)
{
	eat(c, '-');
	if (eat(c, '0')) {
		if (is_digit(c))
			return false;
	} else if (!digits(c)) {
		return false;
	}
	if (eat(c, '.') && !digits(c))
		return false;
	if (eat(c, 'e') || eat(c, 'E')) {
		if (!eat(c, '-'))
			eat(c, '+');
		return digits(c);
	}
	return true;
}

static bool escaped(struct cur *c)
{
	if (c->p == c->end)
		return false;
	if (*c->p != 'u')
		return strchr("\"\\/bfnrt", *c->p++) != NULL;
	c->p++;
	for (int i = 0; i < 4; i++, c->p++)
		if (c->p == c->end || !strchr("0123456789abcdefABCDEF", *c->p) || !*c->p)
			return false;
	return true;
}

static bool string(struct cur *c)
{
	if (!eat(c, '"'))
		return false;
	while (c->p < c->end) {
		unsigned char ch = (unsigned char)*c->p;
		size_t len;

		if (ch < 0x20)
			return false;
		len = ch < 0x80 ? 1 : utf8_len(c->p, (size_t)(c->end - c->p));
		if (len == 0)
			return false;
		c->p += len;
		if (ch == '"')
			return true;
		if (ch == '\\' && !escaped(c))
			return false;
	}
	return false;
}

static bool word(struct cur *c, const char *w)
{
	size_t n = strlen(w);

	if ((size_t)(c->end - c->p) < n || memcmp(c->p, w, n) != 0)
		return false;
	c->p += n;
	return true;
}

static bool value(struct cur *c, int depth);

static bool list(struct cur *c, char close, bool keys, int depth)
{
	c->p++;
	blanks(c);
	if (eat(c, close))
		return true;
	if (depth == MAX_DEPTH)
		return false;
	for (;;) {
		blanks(c);
		if (keys) {
			if (!string(c))
				return false;
			blanks(c);
			if (!eat(c, ':'))
				return false;
		}
		if (!value(c, depth + 1))
			return false;
		blanks(c);
		if (eat(c, close))
			return true;
		if (!eat(c, ','))
			return false;
	}
}

static bool value(struct cur *c, int depth)
{
	blanks(c);
	if (c->p == c->end)
		return false;
	switch (*c->p) {
	case '{':
		return list(c, '}', true, depth);
	case '[':
		return list(c, ']', false, depth);
	case '"':
		return string(c);
	case 't':
		return word(c, "true");
	case 'f':
		return word(c, "false");
	case 'n':
		return word(c, "null");
	default:
		return number(c);
	}
}

bool json_object_strict(const char *s, size_t n)
{
	struct cur c = { s, s + n };

	if (n == 0 || *s != '{' || !value(&c, 0))
		return false;
	return c.p == c.end;
}
