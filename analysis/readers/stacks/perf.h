/*
 * perf: the parts of the reader of perf script's text (read_perf.c has the map of the format).
 *
 *	perf_line.c	single lines
 *	perf_survey.c	lines → samples; the event that gives the time, and the weight of a sample
 *	read_perf.c	samples → spans of threads
 */
#ifndef ANALYSIS_PERF_H
#define ANALYSIS_PERF_H

#include "perf_line.h"
#include "stack_spans.h"
#include "tally.h"
#include "track_limit.h"

#include "profrig/base/u64map.h"
#include "profrig/scan/input.h"

/* Bounds of a period, and of the distance of two samples. */
#define PERF_MAX_SAMPLE_NS INT64_C(10000000000)
#define PERF_MAX_TIME_NS (INT64_C(1) << 60)

struct perf_event {
	str_id name; /* of perf->names */
	uint64_t samples;
	int64_t sample_ns; /* 0: not known yet */
	bool clock;
	VEC(int64_t) gaps;
	/* number and sum over the samples that have one */
	uint64_t periods;
	double period_sum;
};

struct perf_thread {
	struct stack_track stack;
	int64_t last_ns; /* of its latest sample, as recorded */
};

/* A frame by its text behind the address: its name as printed and as a java name. */
struct perf_known {
	str_id name[2], category;
};

struct perf {
	const char *path;
	struct sink *sink;
	struct input_map map;
	struct text_slice rest; /* not read yet */
	uint64_t line;          /* of the line before rest */
	bool first_pass;

	char host[256], clockid[32];
	int64_t cmdline_hz;
	struct intern *names; /* events and commands */
	struct u64map event_of, last_of;
	VEC(struct perf_event) events;
	VEC(int64_t) last_ns; /* by event and CPU or thread */
	uint32_t time_event;

	struct intern *texts; /* of frames, up to MAX_TEXT_BYTES of them */
	size_t text_bytes;
	VEC(struct perf_known) known; /* by id of texts */
	struct u64map of_thread, of_cpu, of_comm;
	VEC(struct perf_thread) threads;
	VEC(struct stack_frame) frames; /* leaf first */
	struct stack_limit limit;
	size_t unnamed; /* frames of a sample that the memory budget left out */
	struct track_limit tracks;
	struct strbuf text;
	str_id category[4];
	uint64_t samples, others, records, stackless;
	int64_t behind_ns;
	struct tally bad, strange, numbers, backwards, lost, vague;
	bool cut, open_end;
};

/* A sample or record, and the lines of its stack. */
struct perf_sample {
	struct perf_head head;
	struct text_slice stack;
	uint64_t line;
	bool padded; /* blanks before the command: the frame is on its line */
	bool ended;  /* text follows the stack */
};

/* Drops a last sample whose last line has no end: the loss behind it is unknown. */
void perf_drop_tail(struct perf *p);
/* First pass: counts samples and chooses the event that is the time. */
void perf_survey(struct perf *p);
/* false at the end. A stray line is counted in the first pass. */
bool perf_next_sample(struct perf *p, struct perf_sample *ret);
uint32_t perf_event_at(struct perf *p, struct text_slice event);

#endif
