#include "profrig/base/xalloc.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void (*last_act)(void);
static _Atomic(const char *) last_words;
static atomic_int last_status = 1;
static _Atomic(const struct xalloc_large *) large;

void xalloc_last_act(void (*act)(void))
{
	last_act = act;
}

void xalloc_last_words(const char *words, int status)
{
	atomic_store(&last_words, words);
	atomic_store(&last_status, status);
}

static void stderr_say(const char *text)
{
	ssize_t r = write(STDERR_FILENO, text, strlen(text));

	(void)r;
}

/* No stdio and no exit handlers: either may need memory, or a lock that this thread holds. */
_Noreturn void xalloc_failed(void)
{
	static atomic_flag begun = ATOMIC_FLAG_INIT;
	const char *words = atomic_load(&last_words);

	/* Several threads may run out of memory together: the first one writes the message and ends
	 * the process. */
	while (atomic_flag_test_and_set(&begun))
		pause();
	stderr_say("profrig: error: out of memory");
	if (words)
		stderr_say(": ");
	stderr_say(words ? words : "");
	stderr_say("\n");
	if (last_act)
		last_act();
	_exit(atomic_load(&last_status));
}

void xalloc_place_large(const struct xalloc_large *how)
{
	atomic_store(&large, how);
}

/* How a new block of n bytes is placed; NULL: not at all. */
static const struct xalloc_large *placing(size_t n)
{
	const struct xalloc_large *how =
		n < XALLOC_LARGE ? NULL : atomic_load_explicit(&large, memory_order_acquire);

	return how && how->wanted(n) ? how : NULL;
}

static void *placed(void *p, const struct xalloc_large *how)
{
	if (!p)
		xalloc_failed();
	if (how)
		how->place(p);
	return p;
}

void *xmalloc(size_t n)
{
	const struct xalloc_large *how = placing(n);

	return placed(malloc(n ? n : 1), how);
}

void *xcalloc(size_t n, size_t size)
{
	const struct xalloc_large *how;
	size_t bytes;

	if (__builtin_mul_overflow(n, size, &bytes))
		xalloc_failed();
	how = placing(bytes);
	return placed(bytes ? calloc(n, size) : calloc(1, 1), how);
}

/* Growth of a block that is to be placed: realloc would take the whole of it into memory. */
static void *block_moved(void *p, size_t n, const struct xalloc_large *how)
{
	void *q = placed(malloc(n), how);

	how->move(q, p, how->room(p));
	free(p);
	return q;
}

void *xrealloc(void *p, size_t n)
{
	const struct xalloc_large *how;
	void *q;

	if (!p)
		return xmalloc(n);
	how = placing(n);
	if (how && how->room(p) < n)
		return block_moved(p, n, how);
	q = realloc(p, n ? n : 1);
	if (!q)
		xalloc_failed();
	return q;
}

void *xreallocarray(void *p, size_t n, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(n, size, &bytes))
		xalloc_failed();
	return xrealloc(p, bytes);
}

void *xmemdup(const void *p, size_t n)
{
	void *q = xmalloc(n);

	if (n)
		memcpy(q, p, n);
	return q;
}

void xpopulate(void *p, size_t n)
{
#ifdef MADV_POPULATE_WRITE
	const uintptr_t page = 4096, from = ((uintptr_t)p + page - 1) / page * page;
	const uintptr_t to = ((uintptr_t)p + n) / page * page;

	if (from < to)
		madvise((void *)from, to - from, MADV_POPULATE_WRITE);
#else
	(void)p;
	(void)n;
#endif
}

char *xstrdup(const char *s)
{
	return xmemdup(s, strlen(s) + 1);
}

char *xstrdup_null(const char *s)
{
	return s ? xstrdup(s) : NULL;
}

char *xstrndup(const char *s, size_t n)
{
	size_t len = n ? strnlen(s, n) : 0;
	char *q = xmalloc(len + 1);

	if (len)
		memcpy(q, s, len);
	q[len] = '\0';
	return q;
}

char *xvasprintf(const char *fmt, va_list ap)
{
	char *s;

	if (vasprintf(&s, fmt, ap) < 0 || !s)
		xalloc_failed();
	return s;
}

char *xasprintf(const char *fmt, ...)
{
	va_list ap;
	char *s;

	va_start(ap, fmt);
	s = xvasprintf(fmt, ap);
	va_end(ap);
	return s;
}

/*
 * A cookie, because open_memstream(3) drops text when memory ends and reports that only to the call
 * that wrote it.
 */
struct memstream {
	char **text;
	size_t *n, room;
};

static ssize_t memstream_write(void *cookie, const char *buf, size_t len)
{
	struct memstream *ms = cookie;
	size_t need = *ms->n + len + 1;

	if (need > ms->room) {
		ms->room = need + need / 2;
		*ms->text = xrealloc(*ms->text, ms->room);
	}
	memcpy(*ms->text + *ms->n, buf, len);
	*ms->n += len;
	(*ms->text)[*ms->n] = '\0';
	return (ssize_t)len;
}

static int memstream_seek(void *cookie, off64_t *offset, int whence)
{
	struct memstream *ms = cookie;

	if (*offset != 0 || whence != SEEK_SET)
		return -1;
	*ms->n = 0;
	**ms->text = '\0';
	return 0;
}

static int memstream_close(void *cookie)
{
	free(cookie);
	return 0;
}

FILE *xmemstream(char **text, size_t *n)
{
	struct memstream *ms = xcalloc(1, sizeof(*ms));
	FILE *f;

	*ms = (struct memstream){ text, n, 1 };
	*text = xcalloc(1, 1);
	*n = 0;
	f = fopencookie(ms, "w",
			(cookie_io_functions_t){ .write = memstream_write,
						 .seek = memstream_seek,
						 .close = memstream_close });
	if (!f)
		xalloc_failed();
	return f;
}

FILE *xfdopen(int fd, const char *mode)
{
	FILE *f = fdopen(fd, mode);

	if (!f && errno == ENOMEM)
		xalloc_failed();
	if (!f)
		xclosep(&fd);
	return f;
}

DIR *xfdopendir(int fd)
{
	DIR *d = fdopendir(fd);

	if (!d && errno == ENOMEM)
		xalloc_failed();
	if (!d)
		xclosep(&fd);
	return d;
}

char *xrealpath(const char *path)
{
	char *real = realpath(path, NULL);

	if (!real && errno == ENOMEM)
		xalloc_failed();
	return real;
}

/* The pointer may be of any type: memcpy moves it without breaking the aliasing rules. */
void xfreep(void *pp)
{
	void *p;

	memcpy(&p, pp, sizeof(p));
	free(p);
	p = NULL;
	memcpy(pp, &p, sizeof(p));
}

void xclosep(int *fd)
{
	if (*fd >= 0) {
		int saved = errno;

		close(*fd);
		errno = saved;
	}
	*fd = -1;
}

void xfclosep(void *fpp)
{
	FILE *f;

	memcpy(&f, fpp, sizeof(f));
	if (f) {
		int saved = errno;

		fclose(f);
		errno = saved;
	}
	f = NULL;
	memcpy(fpp, &f, sizeof(f));
}
