#include "text_slice.h"

#include <string.h>

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
