#include "profrig/base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* Built beside the error, because arguments may point into its old message. */
struct text {
	char s[sizeof(((struct err *)NULL)->msg)];
	size_t len;
	bool cut;
};

static void text_add(struct text *t, const char *s)
{
	size_t room = sizeof(t->s) - 1 - t->len;
	size_t n = strlen(s);

	if (n > room) {
		n = room;
		t->cut = true;
	}
	memcpy(t->s + t->len, s, n);
	t->len += n;
	t->s[t->len] = '\0';
}

__attribute__((format(printf, 2, 0))) static void text_vaddf(struct text *t, const char *fmt,
							     va_list ap)
{
	size_t room = sizeof(t->s) - t->len;
	int n = vsnprintf(t->s + t->len, room, fmt, ap);

	if (n < 0) {
		t->s[t->len] = '\0';
	} else if ((size_t)n >= room) {
		t->len = sizeof(t->s) - 1;
		t->cut = true;
	} else {
		t->len += (size_t)n;
	}
}

static void text_store(struct text *t, struct err *err, int code)
{
	if (t->cut) {
		size_t at = sizeof(t->s) - 2;

		/* Never leave half of a UTF-8 sequence in front of the mark. */
		while (at > 0 && ((unsigned char)t->s[at] & 0xc0) == 0x80)
			at--;
		t->s[at] = '+';
		t->s[at + 1] = '\0';
		t->len = at + 1;
	}
	memcpy(err->msg, t->s, t->len + 1);
	err->code = code;
}

/* Not strerror: the words must not depend on the locale, and threads may call. */
static const char *code_describe(int code)
{
	const char *s;

	/* The codes of door.h: the system's words for them are about something else. */
	switch (code) {
	case ELOOP:
		return "a symbolic link is in the way";
	case EBADFD:
		return "not a regular file";
	case EMLINK:
		return "the file has a second name (a hard link)";
	case ENOTUNIQ:
		return "nearly all of it is holes, which were never written";
	case EOWNERDEAD:
		return "the file belongs to a user that is not expected here";
	}
	s = strerrordesc_np(code);
	return s ? s : "unknown error";
}

const char *err_words(int code)
{
	return code_describe(code);
}

int err_set(struct err *err, int code, const char *fmt, ...)
{
	if (err) {
		struct text t = { .len = 0 };
		va_list ap;

		va_start(ap, fmt);
		text_vaddf(&t, fmt, ap);
		va_end(ap);
		text_store(&t, err, code);
	}
	return -code;
}

int err_sys(struct err *err, int code, const char *fmt, ...)
{
	if (err) {
		struct text t = { .len = 0 };
		va_list ap;

		va_start(ap, fmt);
		text_vaddf(&t, fmt, ap);
		va_end(ap);
		text_add(&t, ": ");
		text_add(&t, code_describe(code));
		if (code == EFBIG)
			text_add(&t, " for the limit on file sizes ('ulimit -f unlimited' lifts "
				     "it)");
		text_store(&t, err, code);
	}
	return -code;
}

int err_wrap(struct err *err, int r, const char *fmt, ...)
{
	if (err) {
		struct text t = { .len = 0 };
		va_list ap;

		va_start(ap, fmt);
		text_vaddf(&t, fmt, ap);
		va_end(ap);
		text_add(&t, ": ");
		text_add(&t, err->code ? err->msg : code_describe(-r));
		text_store(&t, err, err->code ? err->code : -r);
	}
	return r;
}
