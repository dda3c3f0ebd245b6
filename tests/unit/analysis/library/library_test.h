/*
 * library_test: what tests of library logs have in common: a text is read as a log, and rows are
 * looked at by their keys.
 */
#ifndef LIBRARY_TEST_H
#define LIBRARY_TEST_H

#include "../../test.h"

#include <inttypes.h>

#include "profrig/library/library_log.h"

struct logged {
	struct library_calls *calls;
	struct library_counts n;
};

static inline void logged_release(struct logged *l)
{
	library_calls_free(l->calls);
}

static inline struct logged logged_bytes(const char *text, size_t n)
{
	struct logged l = { .calls = library_calls_new() };
	struct library_log *log = library_log_new(NULL, l.calls);

	library_log_text(log, text, n);
	library_log_end(log, &l.n);
	library_log_free(log);
	return l;
}

static inline struct logged logged_of(const char *text)
{
	return logged_bytes(text, strlen(text));
}

/* "3 records, 0 doubled, 0 info, 0 torn, 0 bad, 1 foreign" */
#define assert_counts(l, r, d, i, t, b, f) \
	do { \
		char is_[200], want_[200]; \
		logged_counts((l), is_); \
		snprintf(want_, sizeof(want_), \
			 "%d records, %d doubled, %d info, %d torn, %d bad, %d foreign", (r), (d), \
			 (i), (t), (b), (f)); \
		assert_string_equal(is_, want_); \
	} while (0)

static inline void logged_counts(const struct logged *l, char buf[200])
{
	snprintf(buf, 200,
		 "%" PRIu64 " records, %" PRIu64 " doubled, %" PRIu64 " info, %" PRIu64
		 " torn, %" PRIu64 " bad, %" PRIu64 " foreign",
		 l->n.records, l->n.doubled, l->n.info, l->n.torn, l->n.bad, l->n.foreign);
}

/* The row whose key is this text; fails with all keys when there is none. */
static inline struct library_row row_with(const struct logged *l, const char *key)
{
	for (size_t i = 0; i < l->calls->rows.nr; i++)
		if (!strcmp(l->calls->rows.v[i].key, key))
			return l->calls->rows.v[i];
	print_error("no row '%s' among:\n", key);
	for (size_t i = 0; i < l->calls->rows.nr; i++)
		print_error("  %s\n", l->calls->rows.v[i].key);
	fail();
	abort();
}

#define assert_row(l, key_, operation_, calls_, flops_) \
	do { \
		const struct library_row row_ = row_with((l), (key_)); \
		assert_string_equal(row_.operation, (operation_)); \
		assert_int_equal(row_.calls, (calls_)); \
		assert_int_equal(row_.flops, (flops_)); \
	} while (0)

/* What holds for every log: lines are counted, calls are those of the rows. */
static inline void assert_log_is_sane(const char *text, size_t n)
{
	CLEANUP(logged_release) struct logged l = logged_bytes(text, n);
	uint64_t calls = 0, lines = 0;

	for (size_t i = 0; i < l.calls->rows.nr; i++)
		calls += l.calls->rows.v[i].calls;
	for (size_t i = 0; i < n; i++)
		lines += text[i] == '\n' || i + 1 == n;
	assert_int_equal(l.n.lines, lines);
	assert_int_equal(l.n.records, calls);
	assert_true(l.n.records + l.n.doubled + l.n.info + l.n.torn + l.n.bad + l.n.foreign +
			    l.n.joined >=
		    l.n.lines);
}

/* Every beginning of a log, and the log with each of its bytes changed. */
static inline void assert_damage_is_counted(const char *text)
{
	static const char bytes[] = { 0, '\n', '\r', ' ', '-', '9', '"', (char)0xff };
	size_t n = strlen(text);
	CLEANUP(xfreep) char *copy = NULL;

	for (size_t i = 0; i < n; i++) {
		free(copy);
		copy = xmemdup(text, i ? i : 1); /* so that a sanitizer sees a read behind it */
		assert_log_is_sane(copy, i);
	}
	free(copy);
	copy = xmemdup(text, n);
	for (size_t i = 0; i < n; i++) {
		copy[i] = bytes[i % sizeof(bytes)];
		assert_log_is_sane(copy, n);
		copy[i] = text[i];
	}
}

#endif
