#include "capture_call.h"

#include <ctype.h>
#include <string.h>

#include "profrig/base/text.h"

static int digit_of(char c, int base)
{
	return base == 16 ? text_hex_digit(c) : isdigit((unsigned char)c) ? c - '0' : -1;
}

int64_t capture_handle(const char *s, size_t n)
{
	uint64_t v = 0;
	int base = 10;
	size_t at = 0, digits = 0;

	if (n == 5 && memcmp(s, "(nil)", 5) == 0)
		return 0;
	if (n > 2 && s[0] == '0' && (s[1] == 'x' || s[1] == 'X')) {
		base = 16;
		at = 2;
	}
	for (; at < n; at++, digits++) {
		int d = digit_of(s[at], base);

		if (d < 0 || __builtin_mul_overflow(v, (uint64_t)base, &v) ||
		    __builtin_add_overflow(v, (uint64_t)d, &v))
			return FACT_ABSENT;
	}
	return digits ? (int64_t)v : FACT_ABSENT;
}

static int64_t *handle_named(struct capture_facts *to, const char *word, size_t n)
{
	if (n == 6 && memcmp(word, "stream", 6) == 0)
		return &to->stream;
	if (n == 5 && memcmp(word, "graph", 5) == 0)
		return &to->graph;
	if (n == 9 && memcmp(word, "graphExec", 9) == 0)
		return &to->exec;
	return NULL;
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '(' || c == ')';
}

/* Words are names or values; what stands between them says which. */
void capture_call_handles(const char *args, size_t n, struct capture_facts *to)
{
	int64_t *wants = NULL;
	bool set = false;

	for (size_t at = 0; at < n;) {
		size_t from = at;

		if (!is_word(args[at])) {
			set |= args[at] == '=' || args[at] == ':';
			if (args[at] == '|' || args[at] == ',') {
				wants = NULL;
				set = false;
			}
			at++;
			continue;
		}
		while (at < n && is_word(args[at]))
			at++;
		if (wants && set && *wants == FACT_ABSENT)
			*wants = capture_handle(args + from, at - from);
		wants = set ? NULL : handle_named(to, args + from, at - from);
		set = false;
	}
}
