/*
 * perf_line: single lines of what `perf script` prints (read_perf.c has the map of the format).
 *
 * Nothing is copied: results are slices of the text.
 */
#ifndef ANALYSIS_PERF_LINE_H
#define ANALYSIS_PERF_LINE_H

#include "text_slice.h"

#include <stdint.h>

#include "profrig/base/strbuf.h"

/* The line above a stack, or a line of its own. */
struct perf_head {
	struct text_slice comm;  /* "" without one */
	struct text_slice event; /* as printed, without its colon; "" without one */
	struct text_slice rest;  /* behind the event: a frame, or a tracepoint's fields */
	int64_t pid, tid;        /* PID_NONE when not there */
	int32_t cpu;             /* -1 */
	bool timed, has_period;
	bool record; /* no sample: event is PERF_RECORD_… */
	int64_t t_ns;
	uint64_t period;
};

struct perf_frame {
	struct text_slice address, symbol, dso; /* dso without its parentheses */
	bool has_dso;
};

/* Whether it begins with a blank or a tab. */
bool perf_is_indented(struct text_slice line);
/* The text behind a word, p NULL without it; the number at the start of a text. */
struct text_slice perf_behind(struct text_slice t, const char *word);
bool perf_leading_number(struct text_slice t, int64_t *ret);

/* false: it has neither a time nor an event. */
bool perf_head_parse(struct text_slice line, struct perf_head *ret);
/* For a line with neither: a command, an id or both. */
void perf_head_bare(struct text_slice line, struct perf_head *ret);
/* The address at the start of a frame, and the rest. */
bool perf_address_parse(struct text_slice line, struct text_slice *ret_address,
			struct text_slice *ret_rest);
bool perf_address_is_kernel(struct text_slice address);
/* "addr symbol+0x.. (object)" with blanks around it. */
bool perf_frame_parse(struct text_slice line, struct perf_frame *ret);

/* The common name of events of one kind: "cpu_core/cycles/P", "cycles:ppp" → "cycles". */
struct text_slice perf_event_base(struct text_slice event);
/*
 * The name of a frame as in flame graphs: without offset, arguments and quotes, ';' as ':', an
 * unknown symbol of a known object as "[object]"; java: without the L in front of a class.
 */
void perf_frame_name(const struct perf_frame *f, bool java, struct strbuf *out);
/* The same as a slice of the line; false where the name differs from the line's text. */
bool perf_frame_slice(const struct perf_frame *f, bool java, struct text_slice *ret);
/* One of STACK_SAMPLED…. */
const char *perf_frame_category(const struct perf_frame *f);

#endif
