#include "profrig/text.h"

#include <string.h>

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
