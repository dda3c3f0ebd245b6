#include "profrig/base/shell_words.h"

#include <errno.h>
#include <string.h>

#include "profrig/base/strbuf.h"
#include "profrig/base/xalloc.h"

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* In double quotes a backslash stands for itself unless one of these follows. */
static bool escapes_in_quotes(char c)
{
	return c && strchr("$`\"\\", c);
}

/* From behind the opening quote to behind the closing one; NULL when that is missing. */
static const char *double_quoted(const char *s, struct strbuf *word)
{
	for (; *s && *s != '"'; s++) {
		if (*s == '\\' && !s[1])
			return NULL;
		if (*s == '\\' && s[1] == '\n') {
			s++;
			continue;
		}
		if (*s == '\\' && escapes_in_quotes(s[1]))
			s++;
		strbuf_addch(word, *s);
	}
	return *s ? s + 1 : NULL;
}

static const char *single_quoted(const char *s, struct strbuf *word)
{
	const char *end = strchr(s, '\'');

	if (!end)
		return NULL;
	strbuf_add(word, s, (size_t)(end - s));
	return end + 1;
}

/* One word, s at its first character. NULL with err when a quote is not closed. */
static const char *next_word(const char *s, struct strbuf *word, struct err *err)
{
	while (*s && !is_blank(*s)) {
		char c = *s;

		if (c == '\'' || c == '"') {
			s = c == '"' ? double_quoted(s + 1, word) : single_quoted(s + 1, word);
			if (!s) {
				err_set(err, EINVAL, "a %c without the one that ends it", c);
				return NULL;
			}
			continue;
		}
		if (c == '\\' && !*++s) {
			err_set(err, EINVAL, "a backslash at the end");
			return NULL;
		}
		/* A line continuation. */
		if (c != '\\' || *s != '\n')
			strbuf_addch(word, *s);
		s++;
	}
	return s;
}

int shell_words(const char *text, struct strvec *to, struct err *err)
{
	size_t before = to->nr;

	for (;;) {
		CLEANUP(strbuf_release) struct strbuf word = STRBUF_INIT;
		const char *start;

		while (is_blank(*text))
			text++;
		if (!*text)
			return 0;
		start = text;
		text = next_word(text, &word, err);
		if (!text) {
			while (to->nr > before)
				strvec_remove(to, to->nr - 1);
			return -EINVAL;
		}
		/* A word that is only a line continuation is dropped; empty quotes give "". */
		if (word.len || memchr(start, '\'', (size_t)(text - start)) ||
		    memchr(start, '"', (size_t)(text - start)))
			strvec_push(to, word.buf);
	}
}

char shell_words_special(const char *text)
{
	char quote = 0;

	for (; *text; text++) {
		bool ends = quote && *text == quote;

		if (*text == '\\' && quote != '\'') {
			if (!*++text)
				return 0;
		} else if (ends) {
			quote = 0;
		} else if (!quote && (*text == '"' || *text == '\'')) {
			quote = *text;
		} else if (strchr("$`", *text) ? quote != '\''
					       : !quote && strchr(";&|<>()*?~", *text)) {
			return *text;
		}
	}
	return 0;
}
