/*
 * strbuf: a growing byte string, always NUL-terminated.
 *
 * STRBUF_INIT → strbuf_add* → use .buf / .len → strbuf_release (or strbuf_steal, which hands the
 * buffer over). buf is never NULL, also when empty. A strbuf fed by input gets a ceiling
 * (strbuf_limit): adding past it keeps what fits, sets .overflow and every later add is dropped, so
 * the caller checks once at the end.
 */
#ifndef PROFRIG_STRBUF_H
#define PROFRIG_STRBUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct strbuf {
	char *buf;
	size_t len;
	size_t cap; /* 0: buf is the shared empty string */
	size_t max; /* ceiling for len, 0 = none */
	bool overflow;
};

extern char strbuf_empty[];
#define STRBUF_INIT \
	{ \
		strbuf_empty, 0, 0, 0, false \
	}

void strbuf_init(struct strbuf *sb);
void strbuf_release(struct strbuf *sb); /* also a CLEANUP function */
void strbuf_clear(struct strbuf *sb);   /* len = 0, keeps the memory and the ceiling */
void strbuf_limit(struct strbuf *sb, size_t max);
char *strbuf_steal(struct strbuf *sb); /* owned by the caller; sb is empty again */
void strbuf_reserve(struct strbuf *sb, size_t extra);
void strbuf_add(struct strbuf *sb, const void *data, size_t n);
void strbuf_addstr(struct strbuf *sb, const char *s);
void strbuf_addch(struct strbuf *sb, int c);
void strbuf_addf(struct strbuf *sb, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void strbuf_vaddf(struct strbuf *sb, const char *fmt, va_list ap)
	__attribute__((format(printf, 2, 0)));
void strbuf_rtrim(struct strbuf *sb); /* blanks and line ends */
/* s as one POSIX shell word: plain when it is safe, else in single quotes. */
void strbuf_add_shell(struct strbuf *sb, const char *s);

#endif
