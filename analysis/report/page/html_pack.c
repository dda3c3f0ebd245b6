#include "html_private.h"

#include <nettle/base64.h>
#include <stdlib.h>

#include "profrig/base/gz.h"
#include "profrig/base/strbuf.h"
#include "profrig/base/xalloc.h"

#define STEP ((size_t)256 << 10)

static void gz_freep(struct gz_deflater **p)
{
	gz_deflater_free(*p);
}

/* gzip of n bytes in out; false when the library refuses. */
static bool deflate_all(const char *data, size_t n, struct strbuf *out)
{
	CLEANUP(gz_freep) struct gz_deflater *z = gz_deflater_new(GZ_SMALL, GZ_WRAPPED);
	CLEANUP(xfreep) char *step = xmalloc(STEP);
	struct gz_io io = { .in = data, .in_left = n };
	enum gz_step now;

	do {
		io.out = step;
		io.out_left = STEP;
		now = gz_deflate(z, &io, true);
		strbuf_add(out, step, STEP - io.out_left);
	} while (now == GZ_MORE);
	return now == GZ_END;
}

void html_write_packed(const char *data, size_t n, FILE *f)
{
	CLEANUP(strbuf_release) struct strbuf gz = STRBUF_INIT;
	CLEANUP(xfreep) char *text = NULL;
	size_t len;

	if (n < HTML_PACK_MIN || !deflate_all(data, n, &gz)) {
		fwrite(data, 1, n, f);
		return;
	}
	len = BASE64_ENCODE_RAW_LENGTH(gz.len);
	text = xmalloc(len + 1);
	base64_encode_raw(text, gz.len, (const uint8_t *)gz.buf);
	fputs("\"gzip:", f);
	fwrite(text, 1, len, f);
	fputs("\"", f);
}
