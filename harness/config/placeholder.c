#include "profrig/config/placeholder.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "profrig/base/xalloc.h"

/* Length of the name at s when '}' follows it, else 0. */
static size_t name_length(const char *s)
{
	size_t n = 0;

	if (!isalpha((unsigned char)*s) && *s != '_')
		return 0;
	while (isalnum((unsigned char)s[n]) || (s[n] && strchr("_-.", s[n])))
		n++;
	return s[n] == '}' ? n : 0;
}

int placeholder_expand(struct strbuf *out, const char *text, placeholder_fn *value, void *ctx,
		       char **ret_unknown)
{
	while (*text) {
		size_t plain = strcspn(text, "{"), n;
		const char *v;

		strbuf_add(out, text, plain);
		text += plain;
		if (!*text)
			break;
		n = text[1] == '{' ? name_length(text + 2) : 0;
		if (n && text[n + 3] == '}') {
			strbuf_add(out, text + 1, n + 2);
			text += n + 4;
			continue;
		}
		n = name_length(text + 1);
		if (!n) {
			strbuf_addch(out, *text++);
			continue;
		}
		CLEANUP(xfreep) char *name = xstrndup(text + 1, n);

		v = value(ctx, name);
		if (!v) {
			if (ret_unknown)
				*ret_unknown = STEAL(name);
			return -EINVAL;
		}
		strbuf_addstr(out, v);
		text += n + 2;
	}
	return 0;
}
