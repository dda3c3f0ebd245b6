/*
 * xalloc: allocation that cannot return NULL, and scope-owned locals.
 *
 * Out of memory ends the process with one line on stderr: no caller can do better. Sizes that come
 * from input are bounded by the caller before they get here, so that hostile input is an error and
 * not a death.
 *
 * All memory is freed by free(3). Large blocks past a budget lie in files (spill.h); without
 * spill_begin none does.
 *
 *	CLEANUP(xfreep) char *name = xasprintf(…);	freed at the end of the scope
 *	*ret_name = STEAL(name);			handed to the caller instead
 */
#ifndef PROFRIG_XALLOC_H
#define PROFRIG_XALLOC_H

#include <dirent.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/*
 * Sets a function that runs after that line, in the thread that found no memory. Other threads may
 * hold locks, so it may do only what a signal handler may. NULL: none.
 */
void xalloc_last_act(void (*act)(void));
/*
 * Sets the text behind "out of memory" in that line (the state of the user's work, advice) and the
 * exit status. words is not copied; NULL: no text. The default is NULL, 1.
 */
void xalloc_last_words(const char *words, int status);
/* For a library or a system call that finds no memory. */
_Noreturn void xalloc_failed(void);
/*
 * Where blocks of XALLOC_LARGE bytes and more lie, for spill.h. Of each function, n is the size of
 * such a block and p one of malloc's. NULL, as at the beginning: where malloc puts them. Not while
 * other threads allocate.
 */
#define XALLOC_LARGE ((size_t)1 << 20)
struct xalloc_large {
	bool (*wanted)(size_t n); /* whether a block that is about to be made is placed */
	bool (*place)(void *p);   /* one just made, without content or all zeros, which it stays */
	size_t (*room)(void *p);  /* bytes that it holds */
	/* to[0, n) = from[0, n); from is freed next */
	void (*move)(void *to, void *from, size_t n);
};
void xalloc_place_large(const struct xalloc_large *how);
void *xmalloc(size_t n) __attribute__((malloc, returns_nonnull));
void *xcalloc(size_t n, size_t size) __attribute__((malloc, returns_nonnull));
void *xrealloc(void *p, size_t n) __attribute__((returns_nonnull));
/* n elements of size each, dies on overflow of the product. */
void *xreallocarray(void *p, size_t n, size_t size) __attribute__((returns_nonnull));
void *xmemdup(const void *p, size_t n) __attribute__((returns_nonnull));
/*
 * p[0, n) is about to be written: its pages are made in one go, which costs half of making each
 * when it is touched. Nothing where the system cannot (Linux before 5.14).
 */
void xpopulate(void *p, size_t n);
char *xstrdup(const char *s) __attribute__((returns_nonnull));
char *xstrdup_null(const char *s); /* NULL for NULL */
char *xstrndup(const char *s, size_t n) __attribute__((returns_nonnull));
char *xasprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2), returns_nonnull));
char *xvasprintf(const char *fmt, va_list ap)
	__attribute__((format(printf, 1, 0), returns_nonnull));

/*
 * A stream into memory: what open_memstream(3) makes, but a write that finds no memory ends the
 * process. After fflush or fclose, *text (owned, NUL-terminated, never NULL) has all *n bytes;
 * rewind empties it.
 */
FILE *xmemstream(char **text, size_t *n) __attribute__((returns_nonnull));
/* As fdopen(3) and fdopendir(3), but the descriptor is theirs in any case: NULL has closed it. */
FILE *xfdopen(int fd, const char *mode);
DIR *xfdopendir(int fd);
/* As realpath(3) with NULL: owned; NULL with errno where the path leads to nothing. */
char *xrealpath(const char *path);

#define CLEANUP(fn) __attribute__((cleanup(fn)))
#define STEAL(x) \
	({ \
		__typeof__(x) steal_ = (x); \
		(x) = NULL; \
		steal_; \
	})
#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

/* cleanup functions for plain things */
void xfreep(void *pp);    /* pp points to the pointer */
void xclosep(int *fd);    /* closes when >= 0, sets -1 */
void xfclosep(void *fpp); /* FILE ** */

#endif
