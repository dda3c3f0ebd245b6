/* What the tests of readers share: text in a file of its own, read into a model, and questions to
 * that model. */
#ifndef READERS_TEST_H
#define READERS_TEST_H

#include "expect_model.h"

#include "profrig/base/strbuf.h"
#include "profrig/readers/reader.h"

struct reading {
	struct model *m;
	int r;
	struct err err;
};

static inline char *temp_file(const void *data, size_t n)
{
	char *path = xstrdup("/tmp/profrig-test-XXXXXX");
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, n), (ssize_t)n);
	close(fd);
	return path;
}

/* reader: its name, or name:dialect. */
static inline struct reading read_path(const char *reader, const char *path, bool keep_args)
{
	const struct reader *by = NULL;
	struct reading rd = { .m = model_new(), .err = ERR_INIT };
	struct read_opts o = { .keep_args = keep_args, .facts = true };

	assert_int_equal(reader_parse(reader, &by, &o.dialect, &rd.err), 0);
	rd.r = by->read(path, model_sink(rd.m), &o, &rd.err);
	for (size_t i = 0; i < rd.m->inputs.nr && rd.r == 0; i++)
		rd.r = rd.m->inputs.v[i].partial ? READ_PARTIAL : 0;
	model_finish(rd.m);
	if (rd.r < 0)
		assert_int_equal(rd.err.code, -rd.r);
	return rd;
}

static inline struct reading read_bytes(const char *reader, const void *data, size_t n)
{
	char *path = temp_file(data, n);
	struct reading rd = read_path(reader, path, true);

	unlink(path);
	free(path);
	return rd;
}

static inline struct reading read_text(const char *reader, const char *text)
{
	return read_bytes(reader, text, strlen(text));
}

/* A recording (test_trace): found to be one of the reader's, and read whole. */
static inline struct reading read_recording(const char *reader, const char *rel, bool keep_args)
{
	const char *path = kept(test_trace(rel));
	const struct reader *found = NULL;
	struct reading rd;

	assert_int_equal(reader_detect(path, &found, NULL), 0);
	assert_int_equal(strcspn(reader, ":"), strlen(found->name));
	assert_memory_equal(found->name, reader, strlen(found->name));
	rd = read_path(reader, path, keep_args);
	if (rd.r != 0)
		fail_msg("%s: %d %s", rel, rd.r, rd.err.msg);
	return rd;
}

static inline void reading_release(struct reading *rd)
{
	model_free(rd->m);
	rd->m = NULL;
}

/* Of a local that is released: READING rd = read_text(…). */
#define READING CLEANUP(reading_release) struct reading

/* What the reader said, and what the model holds (expect_model.h). */
#define expect_read(rd, code, text) \
	do { \
		const struct reading *rd_ = (rd); \
		if (rd_->r != (code)) \
			fail_msg("%s:%d: the reader said %d: %s", __FILE__, __LINE__, rd_->r, \
				 rd_->err.msg); \
		expect_model(rd_->m, text); \
	} while (0)

/* A text, or a file, read and released again. */
#define expect_text(reader, bytes, code, text) \
	do { \
		READING of_text = read_text((reader), (bytes)); \
		expect_read(&of_text, code, text); \
	} while (0)
#define expect_file(reader, path, keep_args, code, text) \
	do { \
		CLEANUP(reading_release) \
		struct reading of_file = read_path((reader), (path), (keep_args)); \
		expect_read(&of_file, code, text); \
	} while (0)

/* Texts that a reader refuses, and words of what it says then. */
struct refused {
	const char *text;
	int r;
	const char *words;
};

static inline void expect_refused(const char *reader, const struct refused *cases, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		READING rd = read_text(reader, cases[i].text);

		if (rd.r != cases[i].r || rd.m->spans.nr || !strstr(rd.err.msg, cases[i].words))
			ROW_FAIL(i, "%d '%s'", rd.r, rd.err.msg);
	}
}

static inline void assert_span(const struct model *m, const char *name, int64_t start_ns,
			       int64_t end_ns)
{
	size_t i = span_at(m, name);

	assert_int_equal(m->spans.start_ns[i], start_ns);
	assert_int_equal(m->spans.end_ns[i], end_ns);
}

/* The time of all calls of a name, and how many there are. */
static inline int64_t calls_sum(const struct model *m, const char *name, uint64_t *calls)
{
	int64_t sum = 0;

	*calls = 0;
	for (size_t i = 0; i < m->spans.nr; i++) {
		if (strcmp(span_name(m, i), name) != 0)
			continue;
		++*calls;
		sum += m->spans.end_ns[i] - m->spans.start_ns[i];
	}
	return sum;
}

struct calls_answer {
	const char *name;
	uint64_t calls;
	int64_t ns;
};

static inline void expect_calls(const struct model *m, const struct calls_answer *want, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t calls;

		assert_int_equal(calls_sum(m, want[i].name, &calls), want[i].ns);
		assert_int_equal(calls, want[i].calls);
	}
}

static inline int64_t time_in(const struct model *m, const char *name)
{
	uint64_t calls;

	return calls_sum(m, name, &calls);
}

struct span_interval {
	int64_t start_ns, end_ns;
};

static inline int interval_by_start(const void *va, const void *vb)
{
	const struct span_interval *a = va, *b = vb;

	return a->start_ns < b->start_ns ? -1 : a->start_ns > b->start_ns;
}

/* How long at least one of them is open; sorts them. */
static inline int64_t interval_union(struct span_interval *v, size_t n)
{
	int64_t sum = 0, reach = INT64_MIN;

	if (n > 0)
		qsort(v, n, sizeof(*v), interval_by_start);
	for (size_t i = 0; i < n; i++) {
		int64_t from = v[i].start_ns > reach ? v[i].start_ns : reach;

		sum += v[i].end_ns > from ? v[i].end_ns - from : 0;
		reach = v[i].end_ns > reach ? v[i].end_ns : reach;
	}
	return sum;
}

/*
 * Whatever bytes are overwritten, up to `most` of them at a time: the text is read, in part, or
 * refused. overlap: calls of one track may overlap.
 */
static inline void assert_mutations_read(const char *reader, const char *text, size_t n,
					 uint64_t seed, uint64_t most, bool overlap)
{
	for (uint64_t cases = test_cases(3000); cases > 0; cases--) {
		CLEANUP(xfreep) char *bad = xmemdup(text, n);

		for (uint64_t k = rnd(&seed) % most + 1; k > 0; k--)
			bad[rnd(&seed) % n] = (char)rnd(&seed);
		READING rd = read_bytes(reader, bad, n);
		assert_true(rd.r <= READ_PARTIAL);
		for (size_t k = 0; k < rd.m->spans.nr; k++)
			assert_true(rd.m->spans.end_ns[k] >= rd.m->spans.start_ns[k]);
		if (!overlap)
			assert_int_equal(warned(rd.m, W_SPAN_OVERLAP), 0);
	}
}

#endif
