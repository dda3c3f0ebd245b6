#include "said.h"

#include <stdarg.h>
#include <stdlib.h>

#include "profrig/base/xalloc.h"

void said_add(struct said *s, enum said_level level, const char *fmt, ...)
{
	struct said_line line = { .level = level };
	va_list ap;

	va_start(ap, fmt);
	line.text = xvasprintf(fmt, ap);
	va_end(ap);
	VEC_PUSH(&s->v, line);
}

void said_once(struct said *s, const struct strvec *lines)
{
	for (size_t i = 0; i < lines->nr; i++)
		said_add(s, SAID_WARNING_ONCE, "%s", lines->v[i]);
}

void said_release(struct said *s)
{
	for (size_t i = 0; i < s->v.nr; i++)
		free(s->v.v[i].text);
	VEC_RELEASE(&s->v);
}
