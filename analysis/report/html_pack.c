#include "html_private.h"

#include <isa-l/igzip_lib.h>
#include <nettle/base64.h>
#include <stdlib.h>

#include "profrig/strbuf.h"
#include "profrig/xalloc.h"

#define LEVEL 2
#define STEP ((size_t)256 << 10)

/* gzip of n bytes in out; false when the library refuses. */
static bool deflate_all(const char *data, size_t n, struct strbuf *out)
{
	CLEANUP(xfreep) uint8_t *level_buf = xmalloc(ISAL_DEF_LVL2_DEFAULT);
	CLEANUP(xfreep) uint8_t *step = xmalloc(STEP);
	struct isal_zstream zs;

	isal_deflate_init(&zs);
	zs.avail_in = 0; /* it leaves that as it was */
	zs.gzip_flag = IGZIP_GZIP;
	zs.level = LEVEL;
	zs.level_buf = level_buf;
	zs.level_buf_size = ISAL_DEF_LVL2_DEFAULT;
	zs.next_in = (uint8_t *)(uintptr_t)data;
	do {
		/* its counts are 32 bits wide */
		if (zs.avail_in == 0 && n > 0) {
			zs.avail_in = n < UINT32_MAX / 2 ? (uint32_t)n : UINT32_MAX / 2;
			n -= zs.avail_in;
			zs.end_of_stream = n == 0;
		}
		zs.next_out = step;
		zs.avail_out = STEP;
		if (isal_deflate(&zs) != COMP_OK)
			return false;
		strbuf_add(out, step, STEP - zs.avail_out);
	} while (zs.internal_state.state != ZSTATE_END);
	return true;
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
