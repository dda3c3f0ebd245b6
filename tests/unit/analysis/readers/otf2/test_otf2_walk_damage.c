/* Event files that no writer makes, byte by byte: where the walk ends, and why. */
#include "otf2_support.h"
#include "tests/fixtures/gen/otf2_gen.c"

#define TIME "\5\1\0\0\0\0\0\0\0"
#define ENTER "\14\1\5"
#define LEAVE "\15\1\5"
#define ATTRIBUTES "\6\1\0"
#define PROGRAM_END "\124\2\1\7"
#define CHUNK_END "\0"
#define FILE_END "\2"

enum { HEADER = 18, CHUNK = 64 };

/* A chunk of `records` records: header, then body. */
static size_t chunk_put(char *to, uint64_t first, uint64_t records, const char *body, size_t n)
{
	uint64_t last = first + records - 1;

	to[0] = 3;
	to[1] = 0x42;
	memcpy(to + 2, &first, 8);
	memcpy(to + 10, &last, 8);
	memcpy(to + HEADER, body, n);
	return HEADER + n;
}

/* Walks to the end, as the reader does: a record whose first number cannot be read is refused. */
static void file_walk(const char *path, struct otf2_walk *w)
{
	struct otf2_record r;

	assert_int_equal(otf2_walk_open(w, path, CHUNK, OTF2_FILE_EVENTS, NULL), 0);
	while (otf2_walk_next(w, &r)) {
		otf2_number(&r.fields, 4);
		if (r.fields.bad)
			otf2_walk_refuse(w);
	}
	/* and it stays there */
	assert_false(otf2_walk_next(w, &r));
	assert_int_equal(w->complete, !*w->why);
	otf2_walk_close(w);
}

/* ---- one chunk ---- */

#define BODY(text) text, sizeof(text) - 1

static const struct {
	const char *body;
	size_t n;
	uint64_t stated, read;
	const char *why; /* without the place, which is `at` */
	uint64_t at;
} bodies[] = {
	ROW(BODY(TIME ENTER LEAVE FILE_END), 2, 2, "", 0),
	ROW(BODY(TIME ENTER LEAVE PROGRAM_END FILE_END), 2, 2,
	    "a chunk has more records than its header states", 35),
	ROW(BODY(TIME ENTER FILE_END), 2, 1, "a chunk has fewer records than its header states",
	    30),
	ROW(BODY(TIME TIME ENTER FILE_END), 1, 0, "a time without an event", 27),
	ROW(BODY(TIME ENTER TIME TIME LEAVE FILE_END), 2, 1, "a time without an event", 39),
	ROW(BODY(TIME ENTER TIME FILE_END), 1, 1, "a time without an event", 39),
	ROW(BODY(TIME ENTER ATTRIBUTES FILE_END), 1, 1, "a time without an event", 33),
	ROW(BODY(TIME ENTER LEAVE), 2, 2, "a chunk without an end", 33),
	ROW(BODY(TIME ENTER CHUNK_END), 1, 1, "the file is cut after a chunk", 30),
	ROW(BODY(TIME ENTER "\1" LEAVE FILE_END), 2, 1, "unknown mark", 30),
	ROW(BODY(TIME ENTER "\3" LEAVE FILE_END), 2, 1, "unknown mark", 30),
	ROW(BODY(TIME ENTER "\11" LEAVE FILE_END), 2, 1, "unknown mark", 30),
	/* numbers of five and nine bytes where four are the most, and one beyond its record */
	ROW(BODY(TIME ENTER "\15\5\1\2\3\4\5" LEAVE FILE_END), 3, 1,
	    "a record that cannot be read ends", 37),
	ROW(BODY(TIME ENTER "\15\11\1\2\3\4\5\6\7\10\11" LEAVE FILE_END), 3, 1,
	    "a record that cannot be read ends", 41),
	ROW(BODY(TIME ENTER "\124\2\4\1" LEAVE FILE_END), 3, 1, "a record that cannot be read ends",
	    34),
	ROW(BODY(TIME ENTER "\124\0" LEAVE FILE_END), 3, 1, "a record that cannot be read ends",
	    32),
	/* lengths beyond the file */
	ROW(BODY(TIME ENTER "\15\376" FILE_END), 2, 1, "the file is cut in a record", 31),
	ROW(BODY(TIME ENTER "\124\376" FILE_END), 2, 1, "the file is cut in a record", 32),
	ROW(BODY(TIME ENTER "\124\377\1" FILE_END), 2, 1, "the file is cut in a record", 30),
	ROW(BODY(TIME ENTER "\124\377\377\377\377\377\377\377\377\377" FILE_END), 2, 1,
	    "the file is cut in a record", 40),
	ROW(BODY(TIME ENTER "\6\377\377\377\377\377\377\377\377\377" FILE_END), 2, 1,
	    "the file is cut in a record", 40),
};

IN_PLACE(one_chunk)
{
	CLEANUP(xfreep) char *path = fs_join(p->dir, "0.evt");

	for (size_t i = 0; i < ARRAY_LEN(bodies); i++) {
		char bytes[CHUNK * 2], why[256] = "";
		struct otf2_walk w;
		size_t n = chunk_put(bytes, 1, bodies[i].stated, bodies[i].body, bodies[i].n);

		assert_true(n <= CHUNK);
		assert_int_equal(fs_write_atomic(path, bytes, n, NULL), 0);
		if (*bodies[i].why)
			snprintf(why, sizeof(why), "%s at byte %" PRIu64 " of %zu", bodies[i].why,
				 bodies[i].at, n);
		file_walk(path, &w);
		if (w.records != bodies[i].read || strcmp(w.why, why) != 0)
			ROW_FAIL(i, "%" PRIu64 " records, '%s', not '%s'", w.records, w.why, why);
	}
}

/* ---- two chunks ---- */

/* All that ends before the cut is read, and the file is not taken for a whole one. */
IN_PLACE(cut_anywhere)
{
	static const size_t ends[] = { 30, 33, 40, CHUNK + 30, CHUNK + 34, CHUNK + 37 };
	CLEANUP(xfreep) char *path = fs_join(p->dir, "0.evt");
	char bytes[CHUNK * 2] = { 0 };
	struct otf2_walk w;
	size_t n;

	chunk_put(bytes, 1, 3, BODY(TIME ENTER LEAVE ATTRIBUTES PROGRAM_END CHUNK_END));
	n = CHUNK + chunk_put(bytes + CHUNK, 4, 3, BODY(TIME ENTER PROGRAM_END LEAVE FILE_END));
	assert_int_equal(fs_write_atomic(path, bytes, n, NULL), 0);
	file_walk(path, &w);
	assert_true(w.complete);
	assert_int_equal(w.records, ARRAY_LEN(ends));
	while (n-- > HEADER) {
		uint64_t whole = 0;

		for (size_t i = 0; i < ARRAY_LEN(ends); i++)
			whole += ends[i] <= n;
		assert_int_equal(truncate(path, (off_t)n), 0);
		file_walk(path, &w);
		if (w.complete || w.records != whole)
			fail_msg("cut at %zu: %" PRIu64 " records, not %" PRIu64, n, w.records,
				 whole);
	}
	for (; n != SIZE_MAX; n--) {
		assert_int_equal(truncate(path, (off_t)n), 0);
		assert_int_equal(otf2_walk_open(&w, path, CHUNK, OTF2_FILE_EVENTS, NULL),
				 n < HEADER ? -EBADMSG : 0);
		otf2_walk_close(&w);
	}
}

/* Each chunk is counted, and read in its own byte order. */
IN_PLACE(chunks)
{
	static const struct {
		size_t at;
		char byte;
		uint64_t read;
		const char *why;
	} cases[] = {
		ROW(10, 4, 3, "a chunk has fewer records than its header states at byte 40 "),
		ROW(10, 2, 2, "a chunk has more records than its header states at byte 38 "),
		ROW(CHUNK, 4, 3, "no chunk header at byte 64 "),
		ROW(CHUNK + 1, 0x24, 3, "no chunk header at byte 64 "),
		/* one record in either order, at another time */
		ROW(CHUNK + 1, 0x23, 4, ""),
		ROW(37, 100, 2, "a record goes beyond its chunk at byte 38 "),
		ROW(34, 100, 2, "a record goes beyond its chunk at byte 35 "),
	};
	CLEANUP(xfreep) char *path = fs_join(p->dir, "0.evt");

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		char bytes[CHUNK * 2] = { 0 };
		struct otf2_walk w;
		size_t n;

		chunk_put(bytes, 1, 3, BODY(TIME ENTER LEAVE ATTRIBUTES PROGRAM_END CHUNK_END));
		n = CHUNK + chunk_put(bytes + CHUNK, 4, 1, BODY(TIME ENTER FILE_END));
		bytes[cases[i].at] = cases[i].byte;
		assert_int_equal(fs_write_atomic(path, bytes, n, NULL), 0);
		file_walk(path, &w);
		if (w.records != cases[i].read ||
		    strncmp(w.why, cases[i].why, strlen(cases[i].why)) != 0)
			ROW_FAIL(i, "%" PRIu64 " records, '%s'", w.records, w.why);
	}
}

/* ---- through the reader ---- */

static void reader_stops(const char *archive, char *data, size_t n, const char *kind)
{
	CLEANUP(xfreep) char *evt = fs_join(archive, "traces/7.evt");

	assert_int_equal(fs_write_atomic(evt, data, n, NULL), 0);
	CLEANUP(model_freep) struct model *m = read_archive(archive, READ_PARTIAL, false);
	assert_int_equal(fact(m, "events"), 2);
	assert_int_equal(fact(m, "enter") + fact(m, "leave"), 2);
	assert_int_equal(fact(m, kind), -1); /* no fact */
	assert_int_equal(m->inputs.v[0].samples, 0);
	assert_non_null(
		strstr(warning_text(m, W_TRUNCATED), "a record that cannot be read ends at byte "));
}

/* More values than a metric's record has, and a value of more than eight bytes: none is used. */
IN_PLACE(metric_beyond_its_record)
{
	enum { METRIC_AT = HEADER + 9 + 3 + 9 + 3 + 9 }; /* after two calls' records */
	CLEANUP(xfreep) char *evt = fs_join(p->archive, "traces/7.evt"), *data = NULL;
	struct otf2_gen *g;
	OTF2_EvtWriter *w = otf2_gen_simple(&g, p->archive, 1000000000);
	size_t n;

	otf2_gen_member(g, 0, "m", OTF2_METRIC_ABSOLUTE_POINT, OTF2_TYPE_UINT64, 0, "#");
	OTF2_GlobalDefWriter_WriteMetricClass(otf2_gen_defs(g), 1, 1, (uint32_t[]){ 0 },
					      OTF2_METRIC_SYNCHRONOUS, OTF2_RECORDER_KIND_CPU);
	otf2_gen_call(w, 1, 2, 1);
	otf2_gen_values(w, 3, 1, 2, (uint64_t[]){ 5, 6 });
	OTF2_EvtWriter_ParameterUnsignedInt(w, NULL, 4, 1, 9);
	otf2_gen_close(g);
	assert_int_equal(fs_read(evt, 4096, &data, &n, NULL), 0);
	/* type, length, metric 1, two values: type, number of one byte */
	assert_memory_equal(data + METRIC_AT, "\37\11\1\1\2\4\1\5\4\1\6", 11);
	data[METRIC_AT + 4] = 3;
	reader_stops(p->archive, data, n, "metric");
	data[METRIC_AT + 4] = 2;
	data[METRIC_AT + 9] = 2;
	reader_stops(p->archive, data, n, "metric");
	data[METRIC_AT + 9] = 9;
	reader_stops(p->archive, data, n, "metric");
}
