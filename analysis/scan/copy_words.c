#include "copy_words.h"

#include <string.h>

#include "profrig/base/xalloc.h"

#define TEXT_MAX 160

static const struct {
	const char *word;
	enum copy_direction direction;
} directions[] = {
	{ "htod", COPY_H2D },
	{ "dtoh", COPY_D2H },
	{ "dtod", COPY_D2D },
	{ "htoh", COPY_H2H },
	{ "ptop", COPY_P2P },
	{ "h2d", COPY_H2D },
	{ "d2h", COPY_D2H },
	{ "d2d", COPY_D2D },
	{ "h2h", COPY_H2H },
	{ "p2p", COPY_P2P },
	{ "hosttodevice", COPY_H2D },
	{ "devicetohost", COPY_D2H },
	{ "devicetodevice", COPY_D2D },
	{ "hosttohost", COPY_H2H },
	{ "peertopeer", COPY_P2P },
};

static const struct {
	const char *word;
	enum memory_kind kind;
} memories[] = {
	{ "pageable", MEMORY_PAGEABLE }, { "pinned", MEMORY_PINNED },   { "device", MEMORY_DEVICE },
	{ "managed", MEMORY_MANAGED },   { "unified", MEMORY_MANAGED }, { "array", MEMORY_ARRAY },
};

/* Letters and digits in lower case; arrows and brackets stay. */
static size_t fold(const char *text, size_t n, char *buf)
{
	size_t len = 0;

	for (size_t i = 0; i < n && i < TEXT_MAX; i++) {
		char c = text[i];

		if (c >= 'A' && c <= 'Z')
			c |= 0x20;
		if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '(' || c == ')' ||
		    c == '>')
			buf[len++] = c;
	}
	buf[len] = '\0';
	return len;
}

static enum memory_kind memory_of(const char *word, size_t n)
{
	for (size_t i = 0; i < ARRAY_LEN(memories); i++)
		if (strlen(memories[i].word) == n && memcmp(memories[i].word, word, n) == 0)
			return memories[i].kind;
	return MEMORY_UNKNOWN;
}

void copy_words_take(const char *text, size_t n, struct copy_facts *f)
{
	char buf[TEXT_MAX + 1], *open, *arrow, *close;

	fold(text, n, buf);
	open = strchr(buf, '(');
	arrow = open ? strchr(open, '>') : NULL;
	close = open ? strchr(open, ')') : NULL;
	if (arrow && close && arrow < close) {
		f->from = memory_of(open + 1, (size_t)(arrow - open - 1));
		f->to = memory_of(arrow + 1, (size_t)(close - arrow - 1));
	} else if (open && close) {
		f->to = memory_of(open + 1, (size_t)(close - open - 1));
	}
	if (open)
		*open = '\0';
	for (size_t i = 0; i < ARRAY_LEN(directions); i++)
		if (strstr(buf, directions[i].word)) {
			f->direction = directions[i].direction;
			return;
		}
}

enum copy_direction copy_direction_of_runtime(int64_t kind)
{
	static const enum copy_direction known[] = { COPY_H2H, COPY_H2D, COPY_D2H, COPY_D2D };

	return kind >= 0 && kind < (int64_t)ARRAY_LEN(known) ? known[kind] : COPY_UNKNOWN;
}
