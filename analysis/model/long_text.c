/* Texts that are too long to be kept. */
#include <inttypes.h>

#include "profrig/base/strbuf.h"
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

/* The beginning of a text and a hash of all of it: max bytes at most. */
static str_id text_cut(struct model *m, const char *text, size_t n, size_t max, uint64_t *ret_hash)
{
	CLEANUP(strbuf_release) struct strbuf cut = STRBUF_INIT;

	*ret_hash = hash_of(text, n);
	strbuf_add(&cut, text, whole_characters(text, max - TAIL_MAX));
	strbuf_addf(&cut, "…#%016" PRIx64, *ret_hash);
	return intern_put(m->strings, cut.buf, cut.len);
}

/* Out of line: texts are rarely long. */
static __attribute__((noinline)) str_id long_text_put(struct model *m, const char *text, size_t n,
						      uint64_t *ret_hash)
{
	size_t keep = n < SINK_TEXT_MAX ? n : SINK_TEXT_MAX;
	str_id id = n <= SINK_TEXT_MAX ? intern_find(m->strings, text, n) : STR_NONE;

	if (id != STR_NONE)
		return id;
	if (m->long_texts + keep > SINK_LONG_TEXTS_MAX)
		return text_cut(m, text, n, SINK_TEXT_LONG, ret_hash);
	m->long_texts += keep;
	return n <= SINK_TEXT_MAX ? intern_put(m->strings, text, n)
				  : text_cut(m, text, n, SINK_TEXT_MAX, ret_hash);
}

str_id sink_text_put(struct model *m, const char *text, size_t n, uint64_t *ret_hash)
{
	*ret_hash = 0;
	return __builtin_expect(n > SINK_TEXT_LONG, 0) ? long_text_put(m, text, n, ret_hash)
						       : intern_put(m->strings, text, n);
}
