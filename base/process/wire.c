#include "profrig/base/wire.h"

#include <string.h>

#include "profrig/base/xalloc.h"

void wire_take(struct wire *in, void *to, size_t n)
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

size_t wire_take_count(struct wire *in, size_t size)
{
	size_t nr;

	WIRE_TAKE(in, nr);
	if (nr > (size_t)(in->end - in->at) / size) {
		in->bad = true;
		return 0;
	}
	return nr;
}

void wire_put_text(struct strbuf *sb, const char *text)
{
	size_t n = text ? strlen(text) + 1 : 0;

	WIRE_PUT(sb, n);
	strbuf_add(sb, text, n);
}

char *wire_take_text(struct wire *in)
{
	size_t n = wire_take_count(in, 1);
	char *text;

	if (n == 0)
		return NULL;
	text = xcalloc(n, 1);
	wire_take(in, text, n);
	text[n - 1] = '\0';
	return text;
}
