/*
 * utf8: checks and writes UTF-8. Names in traces are any bytes; profrig writes valid UTF-8.
 */
#ifndef PROFRIG_UTF8_H
#define PROFRIG_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * Bytes of the valid UTF-8 sequence at text (RFC 3629: shortest form, no surrogates, at most
 * U+10FFFF), 0 when there is none. n > 0 bytes may be looked at; ASCII is 1.
 */
static inline size_t utf8_len(const char *text, size_t n)
{
	const unsigned char *s = (const unsigned char *)text;
	unsigned char low = 0x80, high = 0xbf;
	size_t len;

	if (s[0] < 0x80)
		return 1;
	if (s[0] >= 0xc2 && s[0] <= 0xdf)
		len = 2;
	else if ((s[0] & 0xf0) == 0xe0)
		len = 3;
	else if (s[0] >= 0xf0 && s[0] <= 0xf4)
		len = 4;
	else
		return 0;
	if (len > n)
		return 0;
	if (s[0] == 0xe0)
		low = 0xa0;
	else if (s[0] == 0xed)
		high = 0x9f;
	else if (s[0] == 0xf0)
		low = 0x90;
	else if (s[0] == 0xf4)
		high = 0x8f;
	if (s[1] < low || s[1] > high)
		return 0;
	for (size_t i = 2; i < len; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	return len;
}

/* The bytes of a character that is at most U+10FFFF and no surrogate; how many. */
static inline size_t utf8_put(char out[4], uint32_t c)
{
	static const unsigned char first[] = { 0, 0xc0, 0xe0, 0xf0 };
	size_t more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;

	for (size_t i = more; i > 0; i--, c >>= 6)
		out[i] = (char)(0x80 | (c & 0x3f));
	out[0] = (char)(first[more] | c);
	return more + 1;
}

static inline bool utf8_valid(const char *s)
{
	for (size_t n = strlen(s), len; n > 0; s += len, n -= len) {
		len = utf8_len(s, n);
		if (len == 0)
			return false;
	}
	return true;
}

#endif
