/*
 * library_parser: one form of a library's log, recognised by markers and turned into calls.
 *
 * A parser is a `const struct library_parser` in a file of its own and a name in
 * LIBRARY_PARSERS. Most have markers and `parse` alone: the text from the marker to the end of the
 * record says all of a call, so equal texts are equal calls, and parse sees each text once. Where
 * texts differ from call to call (times, pointers), `split` separates what differs from what is
 * parsed and remembered. Records of several lines are collected by split, which hands each to
 * library_log_emit when it is complete, and `end` the last one; their first line is RECORD_PART,
 * the others are RECORD_INFO.
 *
 * Splitting is the slow part of a log of many calls, so `mask` tells which records are like one
 * before, and `again` which lines of a block are.
 *
 * A parser never guesses: RECORD_TORN unless the text is whole.
 */
#ifndef ANALYSIS_LIBRARY_PARSER_H
#define ANALYSIS_LIBRARY_PARSER_H

#include "library_key.h"
#include "text_slice.h"

#include "profrig/library/library_log.h"

/*
 * A line may have millions of markers, so what is looked at around each of them is bounded: this
 * far before it.
 */
#define LIBRARY_BEFORE_MAX ((size_t)4096)

enum record_is {
	RECORD_FOREIGN, /* the marker occurs in other text */
	RECORD_INFO,
	RECORD_PART, /* the first line of several: split counts them by library_log_emit */
	RECORD_CALL,
	RECORD_DOUBLED,
	RECORD_TORN,
	RECORD_BAD,
};

/* A record as the scanner finds it. */
struct log_record {
	/* from the marker, or what `back` adds in front of it, to the end of the record; without
	 * blanks behind it */
	struct text_slice text;
	size_t marker;               /* offset of the marker in text */
	struct text_slice before;    /* of its line, at most LIBRARY_BEFORE_MAX bytes */
	struct text_slice last_line; /* the line before, where that had no record; else empty */
	uint64_t line;               /* 1-based */
	/* its last word may have lost its end: the text ends the file without a line end, or
	 * another record follows it without a blank */
	bool cut;
	bool alone; /* its line has nothing else but blanks behind it */
};

struct log_facts {
	struct library_when when;
	struct text_slice text; /* what parse gets; equal for equal configurations */
	int64_t tid;            /* LIBRARY_NO_ID */
	bool odd_time;          /* a time is logged, and out of range: it is unknown */
	bool last_doubled; /* last_line tells the same call: it is doubled instead of foreign */
	bool last_info;    /* last_line is of the same library: it is info instead of foreign */
	/* other text stands in front of the record; preset, by r->before, without split */
	bool prefixed;
};

struct log_mask;

struct log_marker {
	const char *text; /* at least two bytes; NULL ends a list */
	bool line_start;  /* only there */
	/* its line belongs to the library; a record of this parser may follow in the line, and one
	 * before it ends here */
	bool info;
};

struct library_parser {
	const char *name;
	const char *library; /* as library_trace.csv names it */
	struct log_marker markers[12];
	/* Whether a record, or what an info marker marks, begins at the marker; other text may hold
	 * it, too. NULL: always. */
	bool (*starts)(struct text_slice line, size_t at);
	/* Whether the text before a record is more than what the library writes in front of it.
	 * NULL: any text is, and none for a parser that splits. */
	bool (*prefixed)(struct text_slice before);
	/* The line before a record may be the record's text again, without its first words. */
	bool echoes;
	/* How many bytes before the marker at `at` belong to the record (a path). NULL: 0. */
	size_t (*back)(struct text_slice line, size_t at);
	/*
	 * NULL: f->text is r->text. f is preset: one call, no time, the process of the file.
	 * Returns RECORD_CALL when f->text is to be parsed (or is known), else what the record is.
	 */
	enum record_is (*split)(struct library_log *log, void *state, const struct log_record *r,
				struct log_facts *f);
	/*
	 * Of a parser that splits: what is equal in all records of a configuration, and the times
	 * (library_mask.h); so a record like one before is not split again. m is empty before.
	 * false: this record has none. NULL: no record has.
	 */
	bool (*mask)(const void *state, const struct log_record *r, struct log_mask *m);
	/*
	 * Of a parser that splits blocks: whether the line is equal to one that was an `alone`
	 * record of the block, and has been taken into it as that one was: it is info. Called
	 * instead of searching the line for markers. NULL: no line is.
	 */
	bool (*again)(void *state, struct text_slice line);
	/* Changes whenever a record may be split otherwise than before. NULL: never. */
	uint64_t (*version)(const void *state);
	/*
	 * RECORD_CALL with k filled; RECORD_BAD with k->why. k is empty before. when: for a text
	 * that stands for several calls (when->calls).
	 */
	enum record_is (*parse)(struct text_slice text, struct library_key *k);
	/* Whether a line without any record is of the library all the same: info. NULL: none. */
	bool (*owns)(const void *state, struct text_slice line);
	size_t state_size; /* zeroed memory for split, one for each log */
	void (*end)(struct library_log *log, void *state);
	void (*release)(void *state);
};

/* clang-format off */
#define LIBRARY_PARSERS(X) \
	X(rocblas_bench) X(rocblas_profile) X(rocblas_trace) X(miopen) X(tensile) \
	X(hipblaslt_bench) X(hipblaslt_trace) X(cublaslt) X(cuda_block) \
	X(nccl) X(onednn) X(mkl) X(blas)
/* clang-format on */
#define LIBRARY_PARSER_DECLARE(name) extern const struct library_parser library_parser_##name;
LIBRARY_PARSERS(LIBRARY_PARSER_DECLARE)

/*
 * Counts a complete record that split collected from several lines: RECORD_CALL parses f->text.
 * r: text and line, for the row and for examples.
 */
void library_log_emit(struct library_log *log, const struct library_parser *p, enum record_is is,
		      const struct log_facts *f, const struct log_record *r);
/*
 * Every record is split and parsed, as if it was the first of its configuration: slow, and the same
 * rows and counts. For tests, in front of the first text.
 */
void library_log_forgets(struct library_log *log);
/* f as split gets it. */
void library_log_facts(const struct library_log *log, struct log_facts *f);

/* For `back`: a path in front of a program's name ("./", "/opt/rocm/bin/"), which begins behind a
 * blank or the line's start. */
size_t library_path_before(struct text_slice line, size_t at);

/* For `starts`: whether the program's name at `at` stands in a comment of a shell's list: a '#' is
 * all that its line has in front of it and its path. */
bool library_commented(struct text_slice line, size_t at);

/* "2025-02-28 11:24:46.5", or with a T, as UTC: ns since 1970. The text may go on. false: none. */
bool library_stamp(struct text_slice t, int64_t *ret_ns);

#endif
