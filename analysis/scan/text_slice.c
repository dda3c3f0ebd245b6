#include "text_slice.h"

#include <string.h>

bool slice_is(struct text_slice t, const char *s)
{
	return t.n == strlen(s) && memcmp(t.p, s, t.n) == 0;
}

bool slice_begins(struct text_slice t, const char *s)
{
	size_t n = strlen(s);

	return t.n >= n && memcmp(t.p, s, n) == 0;
}

struct text_slice slice_last_word(struct text_slice *t)
{
	struct text_slice word;
	size_t end;

	*t = slice_rtrim(*t);
	end = t->n;
	while (t->n > 0 && !slice_blank(t->p[t->n - 1]))
		t->n--;
	word = (struct text_slice){ t->p + t->n, end - t->n };
	*t = slice_rtrim(*t);
	return word;
}

bool slice_word(struct text_slice *rest, struct text_slice *ret)
{
	while (rest->n > 0 && slice_blank(*rest->p))
		rest->p++, rest->n--;
	ret->p = rest->p;
	while (rest->n > 0 && !slice_blank(*rest->p))
		rest->p++, rest->n--;
	ret->n = (size_t)(rest->p - ret->p);
	return ret->n > 0;
}

bool slice_line(struct text_slice *rest, struct text_slice *line, bool *whole)
{
	const char *nl;

	if (rest->n == 0)
		return false;
	nl = memchr(rest->p, '\n', rest->n);
	*whole = nl != NULL;
	*line = (struct text_slice){ rest->p, nl ? (size_t)(nl - rest->p) : rest->n };
	rest->p += line->n + *whole;
	rest->n -= line->n + *whole;
	return true;
}

struct text_slice slice_behind_mark(const void *text, size_t n)
{
	struct text_slice t = { text, n };
	size_t mark = slice_begins(t, "\xef\xbb\xbf") ? 3 : 0;

	return (struct text_slice){ t.p + mark, t.n - mark };
}
