/* Texts that are too long to be kept. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "profrig/base/xalloc.h"
#include "profrig/model/sink.h"

#define TAIL_MAX 24 /* "…#0123456789abcdef" */

/* FNV-1a. */
static uint64_t hash_of(const char *text, size_t n)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < n; i++)
		h = (h ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
	return h;
}

/* No further than in front of a character that is cut. */
static size_t whole_characters(const char *text, size_t n)
{
	size_t end = n;

	while (end > 0 && n - end < 4 && ((unsigned char)text[end] & 0xc0) == 0x80)
		end--;
	return n - end < 4 ? end : n;
}

char *sink_text_cut(const char *text, size_t n, uint64_t *ret_hash)
{
	size_t keep = whole_characters(text, SINK_TEXT_MAX - TAIL_MAX);
	char *ret = xcalloc(1, SINK_TEXT_MAX + 1);

	*ret_hash = hash_of(text, n);
	memcpy(ret, text, keep);
	snprintf(ret + keep, TAIL_MAX, "…#%016" PRIx64, *ret_hash);
	return ret;
}
