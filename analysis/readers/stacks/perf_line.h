/*
 * perf_line: single lines of what `perf script` prints (read_perf.c has the map of the format).
 *
 * Nothing is copied: what comes out are slices of the text.
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
	struct perf_text comm;  /* "" when it is not there */
	struct perf_text event; /* as printed, without its colon; "" when it is not there */
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

/* It begins with a blank or a tab. */
bool perf_is_indented(struct perf_text line);
/* What stands behind a word, p NULL without it; the number that a text begins with. */
struct perf_text perf_behind(struct perf_text t, const char *word);
bool perf_leading_number(struct perf_text t, int64_t *ret);

/* false: it has neither a time nor an event. */
bool perf_head_parse(struct perf_text line, struct perf_head *ret);
/* Of a line that has neither: a command, an id or both. */
void perf_head_bare(struct perf_text line, struct perf_head *ret);
/* The address that a frame begins with, and what stands behind it. */
bool perf_address_parse(struct perf_text line, struct perf_text *ret_address,
			struct perf_text *ret_rest);
bool perf_address_is_kernel(struct perf_text address);
/* "addr symbol+0x.. (object)" with blanks around it. */
bool perf_frame_parse(struct perf_text line, struct perf_frame *ret);

/* "cpu_core/cycles/P", "cycles:ppp" → "cycles": what events of one kind have in common. */
struct perf_text perf_event_base(struct perf_text event);
/*
 * The name a frame is known by, as flame graphs write it: without offset, arguments and quotes, ';'
 * as ':', an unknown symbol of a known object as "[object]"; java: without the L in front of a
 * class.
 */
void perf_frame_name(const struct perf_frame *f, bool java, struct strbuf *out);
/* The same as a part of the line, where it stands in it as it shall be. */
bool perf_frame_slice(const struct perf_frame *f, bool java, struct perf_text *ret);
/* STACK_SAMPLED and its kin. */
const char *perf_frame_category(const struct perf_frame *f);

#endif
