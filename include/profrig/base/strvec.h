/*
 * strvec: a NULL-terminated vector of owned strings, the shape execve wants.
 *
 * STRVEC_INIT → strvec_push* → pass .v → strvec_release. .v is never NULL.
 */
#ifndef PROFRIG_STRVEC_H
#define PROFRIG_STRVEC_H

#include <stdbool.h>
#include <stddef.h>

struct strvec {
	char **v; /* v[nr] == NULL */
	size_t nr;
	size_t cap; /* 0: v is the shared empty vector */
};

extern char *strvec_empty[];
#define STRVEC_INIT \
	{ \
		strvec_empty, 0, 0 \
	}

void strvec_init(struct strvec *sv);
void strvec_release(struct strvec *sv); /* also a CLEANUP function */
void strvec_clear(struct strvec *sv);
const char *strvec_push(struct strvec *sv, const char *s);
void strvec_push_take(struct strvec *sv, char *owned);
const char *strvec_pushf(struct strvec *sv, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void strvec_pushv(struct strvec *sv, char *const *v); /* v NULL-terminated, copied */
void strvec_pushl(struct strvec *sv, ...) __attribute__((sentinel));
void strvec_remove(struct strvec *sv, size_t at);
bool strvec_has(const struct strvec *sv, const char *s);
void strvec_sort(struct strvec *sv); /* byte order */
/* Pieces of s between any character of seps, blanks around them trimmed, empty pieces dropped. */
void strvec_split(struct strvec *sv, const char *s, const char *seps);
/* The words, joined by a separator. Owned by the caller. */
char *strvec_join(const struct strvec *sv, const char *between);
/* The words, joined and quoted for a shell (strbuf_add_shell). Owned by the caller. */
char *strvec_shell(const struct strvec *sv);

#endif
