#include "profrig/base/pool.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/xalloc.h"

#define BLOCK_MIN ((size_t)4096)
#define BLOCK_MAX ((size_t)1 << 20)

struct pool_block {
	struct pool_block *next;
	size_t used;
	size_t size; /* of data */
	_Alignas(16) char data[];
};

void pool_release(struct pool *p)
{
	struct pool_block *b = p->head;

	while (b) {
		struct pool_block *next = b->next;

		free(b);
		b = next;
	}
	*p = (struct pool)POOL_INIT;
}

/* Blocks are zeroed and never used twice, so allocation clears nothing. */
static struct pool_block *block_new(size_t size)
{
	size_t bytes;
	struct pool_block *b;

	if (__builtin_add_overflow(sizeof(*b), size, &bytes))
		bytes = SIZE_MAX; /* xcalloc dies with the right words */
	b = xcalloc(1, bytes);
	b->size = size;
	return b;
}

static void *take_slow(struct pool *p, size_t n)
{
	struct pool_block *b;
	size_t size = p->head ? p->head->size * 2 : BLOCK_MIN;

	if (size > BLOCK_MAX)
		size = BLOCK_MAX;
	if (size < BLOCK_MIN)
		size = BLOCK_MIN;
	if (p->head && n > size / 4) {
		/* A large block goes behind the head block, whose rest stays in use. */
		b = block_new(n);
		b->next = p->head->next;
		p->head->next = b;
	} else {
		b = block_new(n > size ? n : size);
		b->next = p->head;
		p->head = b;
	}
	b->used = n;
	p->bytes += n;
	return b->data;
}

static inline void *pool_take(struct pool *p, size_t n, size_t align)
{
	struct pool_block *b = p->head;
	size_t at;

	if (b) {
		at = (b->used + align - 1) & ~(align - 1);
		if (at <= b->size && n <= b->size - at) {
			b->used = at + n;
			p->bytes += n;
			return b->data + at;
		}
	}
	return take_slow(p, n);
}

void *pool_alloc(struct pool *p, size_t n)
{
	return pool_take(p, n, 16);
}

char *pool_memdupz(struct pool *p, const void *data, size_t n)
{
	size_t bytes;
	char *s;

	if (__builtin_add_overflow(n, (size_t)1, &bytes))
		bytes = SIZE_MAX;
	s = pool_take(p, bytes, 1);
	if (n)
		memcpy(s, data, n);
	return s;
}

char *pool_strdup(struct pool *p, const char *s)
{
	return pool_memdupz(p, s, strlen(s));
}

char *pool_strndup(struct pool *p, const char *s, size_t n)
{
	return pool_memdupz(p, s, n ? strnlen(s, n) : 0);
}

char *pool_printf(struct pool *p, const char *fmt, ...)
{
	va_list ap;
	char *heap, *s;

	va_start(ap, fmt);
	heap = xvasprintf(fmt, ap);
	va_end(ap);
	s = pool_strdup(p, heap);
	free(heap);
	return s;
}
