/*
 * pool: memory that dies together (parse trees, definitions).
 *
 * POOL_INIT → pool_alloc / pool_strdup … → pool_release frees all. Single frees do not exist.
 * Memory is zeroed and aligned to 16.
 */
#ifndef PROFRIG_POOL_H
#define PROFRIG_POOL_H

#include <stddef.h>

struct pool_block;
struct pool {
	struct pool_block *head;
	size_t bytes; /* handed out so far */
};

#define POOL_INIT \
	{ \
		NULL, 0 \
	}

void pool_release(struct pool *p);
void *pool_alloc(struct pool *p, size_t n) __attribute__((returns_nonnull));
char *pool_strdup(struct pool *p, const char *s) __attribute__((returns_nonnull));
char *pool_strndup(struct pool *p, const char *s, size_t n) __attribute__((returns_nonnull));
/*
 * n bytes, NUL bytes among them, and a NUL behind. Unlike pool_alloc, strings are packed without
 * alignment.
 */
char *pool_memdupz(struct pool *p, const void *data, size_t n) __attribute__((returns_nonnull));
char *pool_printf(struct pool *p, const char *fmt, ...)
	__attribute__((format(printf, 2, 3), returns_nonnull));

#endif
