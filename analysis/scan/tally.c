#include "tally.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

void tally_line(struct tally *t, uint64_t line)
{
	if (t->nr++ == 0)
		t->at = line;
}

void tally_byte(struct tally *t, uint64_t offset)
{
	tally_line(t, offset);
	t->bytes = true;
}

void tally_text(struct tally *t, const char *fmt, ...)
{
	va_list ap;

	if (t->nr++ > 0)
		return;
	va_start(ap, fmt);
	vsnprintf(t->text, sizeof(t->text), fmt, ap);
	va_end(ap);
}

void tally_warn(const struct tally *t, struct sink *s, const char *code, const char *what)
{
	char text[256];

	if (what && t->nr > 0)
		snprintf(text, sizeof(text), "%s, first %s %" PRIu64, what,
			 t->bytes ? "at byte" : "on line", t->at);
	sink_warn(s, code, t->nr, what ? text : t->text);
}
