/*
 * perf_line: single lines of what `perf script` prints (read_perf.c has the map of the format).
 *
 * Nothing is copied: results are slices of the text.
 */
#ifndef ANALYSIS_PERF_LINE_H
#define ANALYSIS_PERF_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profrig/base/strbuf.h"

struct perf_text {
	const char *p;
	size_t n;
};

/* The line above a stack, or a line of its own. */
struct perf_head {
	struct perf_text comm;  /* "" without one */
	struct perf_text event; /* as printed, without its colon; "" without one */
	struct perf_text rest;  /* behind the event: a frame, or a tracepoint's fields */
	int64_t pid, tid;       /* PID_NONE when not there */
	int32_t cpu;            /* -1 */
	bool timed, has_period;
	bool record; /* no sample: event is PERF_RECORD_… */
	int64_t t_ns;
	uint64_t period;
};

struct perf_frame {
	struct perf_text address, symbol, dso; /* dso without its parentheses */
	bool has_dso;
};

bool perf_text_is(struct perf_text t, const char *s);
bool perf_text_begins(struct perf_text t, const char *s);
struct perf_text perf_trim(struct perf_text t);
/* Cuts the next line off rest, without its line end; *whole: it had one. */
bool perf_next_line(struct perf_text *rest, struct perf_text *line, bool *whole);

/* Whether it begins with a blank or a tab. */
bool perf_is_indented(struct perf_text line);
/* The text behind a word, p NULL without it; the number at the start of a text. */
struct perf_text perf_behind(struct perf_text t, const char *word);
bool perf_leading_number(struct perf_text t, int64_t *ret);

/* false: it has neither a time nor an event. */
bool perf_head_parse(struct perf_text line, struct perf_head *ret);
/* For a line with neither: a command, an id or both. */
void perf_head_bare(struct perf_text line, struct perf_head *ret);
/* The address at the start of a frame, and the rest. */
bool perf_address_parse(struct perf_text line, struct perf_text *ret_address,
			struct perf_text *ret_rest);
bool perf_address_is_kernel(struct perf_text address);
/* "addr symbol+0x.. (object)" with blanks around it. */
bool perf_frame_parse(struct perf_text line, struct perf_frame *ret);

/* The common name of events of one kind: "cpu_core/cycles/P", "cycles:ppp" → "cycles". */
struct perf_text perf_event_base(struct perf_text event);
/*
 * The name of a frame as in flame graphs: without offset, arguments and quotes, ';' as ':', an
 * unknown symbol of a known object as "[object]"; java: without the L in front of a class.
 */
void perf_frame_name(const struct perf_frame *f, bool java, struct strbuf *out);
/* The same as a slice of the line; false where the name differs from the line's text. */
bool perf_frame_slice(const struct perf_frame *f, bool java, struct perf_text *ret);
/* One of STACK_SAMPLED…. */
const char *perf_frame_category(const struct perf_frame *f);

#endif
