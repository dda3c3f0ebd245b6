/*
 * library_mangle: a log that is cut at each byte, or has a byte that is wrong: nothing may crash, a
 * line is counted at least once, and no more calls are found than lines are there.
 */
#ifndef LIBRARY_MANGLE_H
#define LIBRARY_MANGLE_H

#include "library_test.h"

#include "profrig/base/xalloc.h"

static inline void mangle_check(const char *text, size_t n)
{
	CLEANUP(logged_release) struct logged l = { .calls = library_calls_new() };
	/* without a byte behind it, so that a sanitiser sees reads past its end */
	CLEANUP(xfreep) char *copy = xmalloc(n ? n : 1);
	struct library_log *log = library_log_new(NULL, l.calls);
	const struct library_counts *c = &l.n;

	memcpy(copy, text, n);
	library_log_text(log, copy, n);
	library_log_end(log, &l.n);
	library_log_free(log);
	assert_true(c->records + c->doubled + c->info + c->torn + c->bad + c->foreign >= c->lines);
	assert_true(c->records + c->doubled <= 2 * c->lines);
	assert_true(library_calls_totals(l.calls).calls == c->records);
}

static inline void mangle_all(const char *text)
{
	static const char bytes[] = { 0,   '\n', '\r', ' ', '=', '[',
				      ']', ';',  ':',  '-', '9', (char)0xff };
	CLEANUP(xfreep) char *copy = xstrdup(text);
	size_t n = strlen(text);

	for (size_t i = 0; i <= n; i++)
		mangle_check(text, i);
	for (size_t i = 0; i < n; i++) {
		copy[i] = bytes[i % sizeof(bytes)];
		mangle_check(copy, n);
		copy[i] = text[i];
	}
}

#endif
