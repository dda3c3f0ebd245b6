#include "profrig/base/text.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

#include "profrig/base/strbuf.h"
#include "profrig/base/utf8.h"

const char *text_suffix(const char *s, const char *suffix)
{
	size_t n = strlen(s), k = strlen(suffix);

	return n > k && memcmp(s + n - k, suffix, k) == 0 ? s + n - k : NULL;
}

bool text_in_list(const char *list, char sep, const char *word)
{
	size_t n = strlen(word);

	while (n) {
		const char *end = strchrnul(list, sep);

		if ((size_t)(end - list) == n && memcmp(list, word, n) == 0)
			return true;
		if (!*end)
			break;
		list = end + 1;
	}
	return false;
}

void text_no_controls(char *s, char with)
{
	for (; *s; s++)
		if ((unsigned char)*s < ' ' || *s == 0x7f)
			*s = with;
}

/* Characters that are invisible or change the order of the text; joiners of emoji and of Persian
 * stay. */
static bool is_hidden(uint32_t c)
{
	return (c >= 0x80 && c < 0xa0) || c == 0x61c || c == 0x200b || c == 0x200e || c == 0x200f ||
	       (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x2069) || c == 0xfeff ||
	       (c >= 0xe0000 && c <= 0xe007f);
}

static uint32_t code_point(const unsigned char *s, size_t len)
{
	static const unsigned char mask[] = { 0, 0x7f, 0x1f, 0x0f, 0x07 };
	uint32_t c = s[0] & mask[len];

	for (size_t i = 1; i < len; i++)
		c = c << 6 | (s[i] & 0x3f);
	return c;
}

static void escape_byte(struct strbuf *out, unsigned char c)
{
	static const char letters[] = "abtnvfr"; /* 7 to 13 */

	if (c >= 7 && c <= 13)
		strbuf_addf(out, "\\%c", letters[c - 7]);
	else
		strbuf_addf(out, "\\x%02x", c);
}

void text_visible(struct strbuf *out, const char *s, size_t n, const char *keep)
{
	for (size_t at = 0, len; at < n; at += len) {
		unsigned char c = (unsigned char)s[at];
		uint32_t code;

		len = utf8_len(s + at, n - at);
		if (len == 0) {
			escape_byte(out, c);
			len = 1;
			continue;
		}
		code = code_point((const unsigned char *)s + at, len);
		if (len == 1 && (c < ' ' || c == 0x7f) && !(c && strchr(keep, c)))
			escape_byte(out, c);
		else if (len > 1 && is_hidden(code))
			strbuf_addf(out, code > 0xffff ? "\\U%08x" : "\\u%04x", code);
		else
			strbuf_add(out, s + at, len);
	}
}

int text_hex_digit(char c)
{
	static const char digits[] = "0123456789abcdef";
	const char *at = c ? strchr(digits, tolower((unsigned char)c)) : NULL;

	return at ? (int)(at - digits) : -1;
}

bool text_percent_decode(char *s, bool plus)
{
	char *to = s;

	for (; *s; s++) {
		int hi = *s == '%' ? text_hex_digit(s[1]) : -1;
		int lo = hi >= 0 ? text_hex_digit(s[2]) : -1;

		*to = lo >= 0 ? (char)(hi << 4 | lo) : plus && *s == '+' ? ' ' : *s;
		if (!*to++)
			return false;
		s += lo >= 0 ? 2 : 0;
	}
	*to = '\0';
	return true;
}

void text_percent_encode(struct strbuf *to, const char *s, const char *kept, bool capitals)
{
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if ((isascii(c) && isalnum(c)) || strchr("-_.~", c) || strchr(kept, c))
			strbuf_addch(to, c);
		else
			strbuf_addf(to, capitals ? "%%%02X" : "%%%02x", c);
	}
}
