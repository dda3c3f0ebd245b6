#include "profrig/names/range_name.h"

#include <ctype.h>
#include <string.h>

#include "profrig/base/text.h"
#include "profrig/base/xalloc.h"
#include "profrig/names/xla_range.h"

/* Bytes of ", input_op_ids = [(7,0), (8,0)]" at p; 0 when it is none. */
static size_t ids_part(const char *p, size_t n)
{
	static const char word[] = ", input_op_ids = [";
	size_t at = sizeof(word) - 1;

	if (n <= at || memcmp(p, word, at) != 0)
		return 0;
	while (at < n && p[at] != '\0' && strchr("0123456789(), ", p[at]))
		at++;
	return at < n && p[at] == ']' ? at + 1 : 0;
}

/* Bytes of ", seq = 5" at p; 0 when it is none. */
static size_t number_part(const char *p, size_t n)
{
	static const char *const words[] = { ", seq = ", ", op_id = " };

	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		size_t len = strlen(words[i]), at = len;

		if (n <= len || memcmp(p, words[i], len) != 0)
			continue;
		while (at < n && isdigit((unsigned char)p[at]))
			at++;
		if (at > len && (at == n || p[at] == ','))
			return at;
	}
	return ids_part(p, n);
}

/* Bytes of "0x7f32" at p, which stands at `at` in its text. */
static size_t address(const char *text, size_t at, size_t n)
{
	size_t end = at + 2;

	if (at + 2 >= n || text[at] != '0' || (text[at + 1] != 'x' && text[at + 1] != 'X'))
		return 0;
	if (at && (isalnum((unsigned char)text[at - 1]) || text[at - 1] == '_'))
		return 0;
	while (end < n && text_hex_digit(text[end]) >= 0)
		end++;
	if (end - at - 2 < RANGE_ADDRESS_DIGITS ||
	    (end < n && (isalnum((unsigned char)text[end]) || text[end] == '_')))
		return 0;
	return end - at;
}

/* Appends the text without its numbers; false: it has none. */
static bool numbers_drop(const char *name, size_t n, struct strbuf *out)
{
	size_t from = 0;
	bool changed = false;

	for (size_t i = 0; i < n;) {
		size_t part = name[i] == ',' ? number_part(name + i, n - i) : 0;
		size_t hex = name[i] == '0' ? address(name, i, n) : 0;

		if (!part && !hex) {
			i++;
			continue;
		}
		changed = true;
		strbuf_add(out, name + from, i - from);
		if (hex)
			strbuf_addstr(out, "0x*");
		i += part + hex;
		from = i;
	}
	if (!changed)
		return false;
	strbuf_add(out, name + from, n - from);
	return true;
}

/* One of the two rules; each makes a name shorter, and leaves something of it. */
static bool name_step(const char *name, size_t n, struct strbuf *out)
{
	return ((memchr(name, '#', n) && xla_range_name(name, n, out)) ||
		numbers_drop(name, n, out)) &&
	       out->len > 0;
}

bool range_name(const char *name, size_t n, struct strbuf *out)
{
	CLEANUP(strbuf_release) struct strbuf now = STRBUF_INIT, next = STRBUF_INIT;

	if (!name_step(name, n, &now))
		return false;
	/* a name without numbers may be one of XLA's */
	while (strbuf_clear(&next), name_step(now.buf, now.len, &next)) {
		struct strbuf had = now;

		now = next;
		next = had;
	}
	strbuf_add(out, now.buf, now.len);
	return true;
}
