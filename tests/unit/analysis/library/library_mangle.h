/*
 * library_mangle: a log that was cut at each byte, and one with each byte in turn replaced, read
 * once each: nothing crashes, and no line is counted twice or not at all.
 */
#ifndef LIBRARY_MANGLE_H
#define LIBRARY_MANGLE_H

#include "library_test.h"

/* markers: how many records one line of the log may have. */
static inline void assert_counts_add_up(const char *text, size_t n, uint64_t markers)
{
	CLEANUP(logged_release) struct logged l = { .calls = library_calls_new() };
	struct library_log *log = library_log_new(NULL, l.calls);
	uint64_t all, calls = 0;

	library_log_text(log, text, n);
	library_log_end(log, &l.n);
	library_log_free(log);
	all = l.n.records + l.n.doubled + l.n.info + l.n.torn + l.n.bad + l.n.foreign;
	assert_true(all >= l.n.lines && all <= l.n.lines * (markers + 1));
	for (size_t i = 0; i < l.calls->rows.nr; i++) {
		calls += l.calls->rows.v[i].calls;
		assert_true(l.calls->rows.v[i].key[0]);
	}
	assert_int_equal(calls, l.n.records);
}

static inline void assert_survives(const char *text, uint64_t markers)
{
	static const char bytes[] = { 0,   ' ', '\n', '\r', ',', ':', '-',
				      '9', 'x', '"',  '{',  '(', '*' };
	size_t n = strlen(text);
	char *copy = xmemdup(text, n + 1);

	for (size_t i = 0; i <= n; i++) {
		char *prefix = xmemdup(text, i + 1); /* of its own, for the sanitizer */

		assert_counts_add_up(prefix, i, markers);
		free(prefix);
	}
	for (size_t i = 0; i < n; i++) {
		copy[i] = bytes[i % sizeof(bytes)];
		assert_counts_add_up(copy, n, markers);
		copy[i] = (char)(text[i] ^ 0x15);
		assert_counts_add_up(copy, n, markers);
		copy[i] = text[i];
	}
	free(copy);
}

#endif
