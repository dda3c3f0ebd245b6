#include "profrig/base/strbuf.h"

#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/xalloc.h"

/* Shared by all empty buffers, so never written: cap == 0 marks that buf is not allocated. */
char strbuf_empty[1];

void strbuf_init(struct strbuf *sb)
{
	*sb = (struct strbuf)STRBUF_INIT;
}

void strbuf_release(struct strbuf *sb)
{
	if (sb->cap)
		free(sb->buf);
	strbuf_init(sb);
}

void strbuf_clear(struct strbuf *sb)
{
	sb->len = 0;
	sb->overflow = false;
	if (sb->cap)
		sb->buf[0] = '\0';
}

void strbuf_limit(struct strbuf *sb, size_t max)
{
	sb->max = max;
}

char *strbuf_steal(struct strbuf *sb)
{
	char *s = sb->cap ? sb->buf : xstrdup("");
	size_t max = sb->max;

	strbuf_init(sb);
	sb->max = max;
	return s;
}

void strbuf_reserve(struct strbuf *sb, size_t extra)
{
	size_t need, cap;

	if (__builtin_add_overflow(sb->len, extra, &need) || need == SIZE_MAX)
		need = SIZE_MAX - 1; /* xrealloc dies with the right words */
	if (need < sb->cap)
		return;
	cap = sb->cap + sb->cap / 2 + 32;
	if (cap <= need)
		cap = need + 1;
	sb->buf = xrealloc(sb->cap ? sb->buf : NULL, cap);
	sb->cap = cap;
	sb->buf[sb->len] = '\0';
}

void strbuf_add(struct strbuf *sb, const void *data, size_t n)
{
	if (sb->overflow)
		return;
	if (sb->max) {
		size_t room = sb->max > sb->len ? sb->max - sb->len : 0;

		if (n > room) {
			n = room;
			sb->overflow = true;
		}
	}
	if (n == 0)
		return;
	strbuf_reserve(sb, n);
	memcpy(sb->buf + sb->len, data, n);
	sb->len += n;
	sb->buf[sb->len] = '\0';
}

void strbuf_addstr(struct strbuf *sb, const char *s)
{
	strbuf_add(sb, s, strlen(s));
}

void strbuf_addch(struct strbuf *sb, int c)
{
	char ch = (char)c;

	strbuf_add(sb, &ch, 1);
}

void strbuf_vaddf(struct strbuf *sb, const char *fmt, va_list ap)
{
	char small[256];
	va_list again;
	int n;

	va_copy(again, ap);
	n = vsnprintf(small, sizeof(small), fmt, ap);
	assert(n >= 0);
	if ((size_t)n < sizeof(small)) {
		strbuf_add(sb, small, (size_t)n);
	} else {
		CLEANUP(xfreep) char *big = xvasprintf(fmt, again);

		strbuf_add(sb, big, (size_t)n);
	}
	va_end(again);
}

void strbuf_addf(struct strbuf *sb, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	strbuf_vaddf(sb, fmt, ap);
	va_end(ap);
}

void strbuf_rtrim(struct strbuf *sb)
{
	size_t n = sb->len;

	while (n > 0 && strchr(" \t\r\n", sb->buf[n - 1]) && sb->buf[n - 1])
		n--;
	if (n < sb->len) {
		sb->len = n;
		sb->buf[n] = '\0';
	}
}

void strbuf_add_shell(struct strbuf *sb, const char *s)
{
	static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				   "_@%+=:,./-";
	const char *quote;

	if (*s && !s[strspn(s, safe)]) {
		strbuf_addstr(sb, s);
		return;
	}
	strbuf_addch(sb, '\'');
	while ((quote = strchr(s, '\''))) {
		strbuf_add(sb, s, (size_t)(quote - s));
		strbuf_addstr(sb, "'\\''");
		s = quote + 1;
	}
	strbuf_addstr(sb, s);
	strbuf_addch(sb, '\'');
}
