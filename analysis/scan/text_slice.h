/*
 * text_slice: parts of a text in memory, for readers of formats that are lines. Nothing is copied.
 *
 * A blank is a space, a tab or a carriage return, so that lines may end in CR LF.
 */
#ifndef ANALYSIS_TEXT_SLICE_H
#define ANALYSIS_TEXT_SLICE_H

#include <stdbool.h>
#include <stddef.h>

struct text_slice {
	const char *p;
	size_t n;
};

/* Inline, for names that are constants; of others the first byte mostly decides. */
static inline bool slice_begins(struct text_slice t, const char *s)
{
	if (!__builtin_constant_p(__builtin_strlen(s)) && *s && (t.n == 0 || *t.p != *s))
		return false;
	return t.n >= __builtin_strlen(s) && !__builtin_memcmp(t.p, s, __builtin_strlen(s));
}

static inline bool slice_is(struct text_slice t, const char *s)
{
	if (!__builtin_constant_p(__builtin_strlen(s)) && *s && (t.n == 0 || *t.p != *s))
		return false;
	return t.n == __builtin_strlen(s) && !__builtin_memcmp(t.p, s, __builtin_strlen(s));
}

static inline bool slice_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* Without the blanks behind it. */
static inline struct text_slice slice_rtrim(struct text_slice t)
{
	while (t.n > 0 && slice_blank(t.p[t.n - 1]))
		t.n--;
	return t;
}

/* Without the blanks around it. */
static inline struct text_slice slice_trim(struct text_slice t)
{
	while (t.n > 0 && slice_blank(*t.p))
		t.p++, t.n--;
	return slice_rtrim(t);
}

/* Cuts the first word off rest, and the blanks in front of it. false: there is none. */
static inline bool slice_word(struct text_slice *rest, struct text_slice *ret)
{
	const char *p = rest->p, *end = rest->p + rest->n;

	while (p < end && slice_blank(*p))
		p++;
	ret->p = p;
	while (p < end && !slice_blank(*p))
		p++;
	ret->n = (size_t)(p - ret->p);
	*rest = (struct text_slice){ p, (size_t)(end - p) };
	return ret->n > 0;
}

/* Cuts the last word off t, and the blanks around the word. */
struct text_slice slice_last_word(struct text_slice *t);
/* Cuts the next line off rest, without its line end; *whole: it had one. false: rest is empty. */
bool slice_line(struct text_slice *rest, struct text_slice *line, bool *whole);
/* A text without the byte order mark that it may begin with. */
struct text_slice slice_behind_mark(const void *text, size_t n);

#endif
