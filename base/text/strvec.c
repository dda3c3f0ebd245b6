#include "profrig/base/strvec.h"

#include <assert.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/strbuf.h"
#include "profrig/base/vec.h"
#include "profrig/base/xalloc.h"

/* Shared by all empty vectors, so never written. */
char *strvec_empty[1];

void strvec_init(struct strvec *sv)
{
	*sv = (struct strvec)STRVEC_INIT;
}

void strvec_clear(struct strvec *sv)
{
	for (size_t i = 0; i < sv->nr; i++)
		free(sv->v[i]);
	sv->nr = 0;
	if (sv->cap)
		sv->v[0] = NULL;
}

void strvec_release(struct strvec *sv)
{
	strvec_clear(sv);
	if (sv->cap)
		free(sv->v);
	strvec_init(sv);
}

void strvec_push_take(struct strvec *sv, char *owned)
{
	assert(owned);
	if (sv->nr + 2 > sv->cap) {
		size_t cap = vec_grow_cap(sv->cap, sv->nr + 2);

		sv->v = xreallocarray(sv->cap ? sv->v : NULL, cap, sizeof(*sv->v));
		sv->cap = cap;
	}
	sv->v[sv->nr++] = owned;
	sv->v[sv->nr] = NULL;
}

const char *strvec_push(struct strvec *sv, const char *s)
{
	strvec_push_take(sv, xstrdup(s));
	return sv->v[sv->nr - 1];
}

const char *strvec_pushf(struct strvec *sv, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	strvec_push_take(sv, xvasprintf(fmt, ap));
	va_end(ap);
	return sv->v[sv->nr - 1];
}

void strvec_pushv(struct strvec *sv, char *const *v)
{
	/* a vector that was zeroed and never initialised is empty */
	for (; v && *v; v++)
		strvec_push(sv, *v);
}

void strvec_pushl(struct strvec *sv, ...)
{
	const char *s;
	va_list ap;

	va_start(ap, sv);
	while ((s = va_arg(ap, const char *)))
		strvec_push(sv, s);
	va_end(ap);
}

void strvec_remove(struct strvec *sv, size_t at)
{
	assert(at < sv->nr);
	free(sv->v[at]);
	/* nr - at counts the final NULL too. */
	memmove(sv->v + at, sv->v + at + 1, (sv->nr - at) * sizeof(*sv->v));
	sv->nr--;
}

bool strvec_has(const struct strvec *sv, const char *s)
{
	for (size_t i = 0; i < sv->nr; i++)
		if (!strcmp(sv->v[i], s))
			return true;
	return false;
}

static int by_bytes(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void strvec_sort(struct strvec *sv)
{
	if (sv->nr > 1)
		qsort(sv->v, sv->nr, sizeof(*sv->v), by_bytes);
}

void strvec_split(struct strvec *sv, const char *s, const char *seps)
{
	static const char blanks[] = " \t\r\n";

	while (*s) {
		size_t n = strcspn(s, seps);
		size_t from = strspn(s, blanks);
		size_t to = n;

		while (to > from && strchr(blanks, s[to - 1]))
			to--;
		if (to > from)
			strvec_push_take(sv, xstrndup(s + from, to - from));
		s += n;
		if (*s)
			s++;
	}
}

char *strvec_join(const struct strvec *sv, const char *between)
{
	struct strbuf sb = STRBUF_INIT;

	for (size_t i = 0; i < sv->nr; i++)
		strbuf_addf(&sb, "%s%s", i ? between : "", sv->v[i]);
	return strbuf_steal(&sb);
}

char *strvec_shell(const struct strvec *sv)
{
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;

	for (size_t i = 0; i < sv->nr; i++) {
		if (i)
			strbuf_addch(&sb, ' ');
		strbuf_add_shell(&sb, sv->v[i]);
	}
	return strbuf_steal(&sb);
}
