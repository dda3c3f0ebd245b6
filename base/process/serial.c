#include "profrig/base/serial.h"

#include <string.h>

#include "profrig/base/xalloc.h"

void serial_take(struct serial_in *in, void *to, size_t n)
{
	if (n == 0)
		return;
	if (in->bad || (size_t)(in->end - in->at) < n) {
		in->bad = true;
		memset(to, 0, n);
		return;
	}
	memcpy(to, in->at, n);
	in->at += n;
}

size_t serial_take_count(struct serial_in *in, size_t size)
{
	size_t nr;

	SERIAL_TAKE(in, nr);
	if (nr > (size_t)(in->end - in->at) / size) {
		in->bad = true;
		return 0;
	}
	return nr;
}

void serial_put_text(struct strbuf *sb, const char *text)
{
	size_t n = text ? strlen(text) + 1 : 0;

	SERIAL_PUT(sb, n);
	strbuf_add(sb, text, n);
}

char *serial_take_text(struct serial_in *in)
{
	size_t n = serial_take_count(in, 1);
	char *text;

	if (n == 0)
		return NULL;
	text = xcalloc(n, 1);
	serial_take(in, text, n);
	text[n - 1] = '\0';
	return text;
}
