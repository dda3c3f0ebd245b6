/*
 * trace_text: a small trace written as text and pushed into a sink.
 *
 * A line is a track or a series, what it has stands behind a colon:
 *
 *	thread 1/2 rank=0 name=main: main 0-10 f 2-5 launch#7 3-4 mark!i 5
 *	rank 3/1 host=node: main 0-10
 *	queue gpu0/7: gemm 1-9 copy!c 2-3 gemm#7 4-5
 *	stream gpu0/7: gemm 1-9
 *	series energy.gpu0 J cumulative: 0 0 10 1000e6
 *
 * thread PID/TID is a thread. rank PID/TID is one below a process ("process PID"), whose rank is
 * its pid, on the host "node" unless said. queue DEVICE/STREAM has the pid 1 and no name, stream
 * DEVICE/KEY has a key and is called "DEVICE queue KEY". Spans are a name and a time or two; #N is
 * a correlation, ![cfai] makes a copy, a fill, an annotation or an instant of what is else a host
 * call on a thread, a kernel on a queue. A series has a unit, a kind (cumulative, gauge, unknown)
 * and pairs of a time and a value. All may have host=, name=, rank=, device=, pci= and key=, queues
 * owner=PID of a process on "node", series
 * also the words changes and estimated. Times are multiples of unit_ns. What cannot be read fails
 * the test with the line.
 */
#ifndef PROFRIG_TRACE_TEXT_H
#define PROFRIG_TRACE_TEXT_H

#include "test.h"

#include <math.h>

#include "profrig/model/sink.h"

enum { TRACE_WORD_MAX = 128 };

struct trace_line {
	struct sink *s;
	double unit_ns;
	const char *at;
	char word[TRACE_WORD_MAX];
};

#define trace_line_bad(l) \
	fail_msg("trace_text: '%s' before '%.*s'", (l)->word, (int)strcspn((l)->at, "\n"), (l)->at)

/* The next word of the line; a colon is one. */
static inline bool trace_word(struct trace_line *l)
{
	size_t n;

	l->at += strspn(l->at, " \t");
	n = strcspn(l->at, " \t\n");
	if (n >= TRACE_WORD_MAX)
		trace_line_bad(l);
	snprintf(l->word, TRACE_WORD_MAX, "%.*s", (int)n, l->at);
	l->at += n;
	return n > 0;
}

static inline double trace_number(struct trace_line *l, const char *s, size_t n)
{
	double v = 0;

	if (num_f64(s, n, &v) < 0)
		trace_line_bad(l);
	return v;
}

static inline int64_t trace_time(struct trace_line *l, const char *s, size_t n)
{
	return llround(trace_number(l, s, n) * l->unit_ns);
}

/* "gemm!c#7" of a track, and the word behind it, "1-9" or "5". */
static inline void trace_line_span(struct trace_line *l, track_id t, enum span_kind kind)
{
	static const char marks[] = "cfai";
	static const enum span_kind marked[] = { SPAN_COPY, SPAN_FILL, SPAN_ANNOTATION,
						 SPAN_INSTANT };
	struct span_def d = { .track = t, .kind = kind, .args = STR_NONE };
	char *number = strchr(l->word, '#'), *mark = strchr(l->word, '!'), *dash;

	if (number) {
		*number++ = '\0';
		d.correlation = (uint64_t)trace_number(l, number, strlen(number));
	}
	if (mark) {
		*mark++ = '\0';
		if (!*mark || !strchr(marks, *mark))
			trace_line_bad(l);
		d.kind = marked[strchr(marks, *mark) - marks];
	}
	d.name = sink_puts(l->s, l->word);
	if (!trace_word(l))
		trace_line_bad(l);
	dash = strchr(l->word + 1, '-');
	d.start_ns = trace_time(l, l->word, dash ? (size_t)(dash - l->word) : strlen(l->word));
	d.end_ns = dash ? trace_time(l, dash + 1, strlen(dash + 1)) : d.start_ns;
	l->s->ops->span(l->s, &d);
}

/* What stands before the colon, as fields of both; texts lie in buf. */
struct trace_head {
	struct track_def track;
	struct series_def series;
	int64_t owner;
	char buf[12][TRACE_WORD_MAX];
	size_t bufs;
};

static inline const char *trace_keep(struct trace_head *h, const char *text)
{
	assert_true(h->bufs < ARRAY_LEN(h->buf));
	snprintf(h->buf[h->bufs], TRACE_WORD_MAX, "%s", text);
	return h->buf[h->bufs++];
}

static inline void trace_head_word(struct trace_line *l, struct trace_head *h)
{
	char *value = strchr(l->word, '=');

	if (!value) {
		if (strcmp(l->word, "changes") == 0)
			h->series.change_points = true;
		else if (strcmp(l->word, "estimated") == 0)
			h->series.estimated = true;
		else if (strcmp(l->word, "cumulative") == 0)
			h->series.kind = SERIES_CUMULATIVE;
		else if (strcmp(l->word, "gauge") == 0)
			h->series.kind = SERIES_GAUGE;
		else if (strcmp(l->word, "unknown") != 0)
			h->series.unit = trace_keep(h, l->word);
		return;
	}
	*value++ = '\0';
	if (strcmp(l->word, "host") == 0)
		h->track.host = h->series.host = trace_keep(h, value);
	else if (strcmp(l->word, "device") == 0)
		h->track.device = h->series.device = trace_keep(h, value);
	else if (strcmp(l->word, "pci") == 0)
		h->track.pci = h->series.pci = trace_keep(h, value);
	else if (strcmp(l->word, "name") == 0)
		h->track.name = trace_keep(h, value);
	else if (strcmp(l->word, "rank") == 0)
		h->track.rank = (int32_t)trace_number(l, value, strlen(value));
	else if (strcmp(l->word, "owner") == 0)
		h->owner = (int64_t)trace_number(l, value, strlen(value));
	else if (strcmp(l->word, "key") == 0)
		h->track.key = (uint64_t)trace_number(l, value, strlen(value));
	else
		trace_line_bad(l);
}

/* Reads up to the colon, which belongs to the last word. */
static inline void trace_head_read(struct trace_line *l, struct trace_head *h)
{
	bool more = true;

	while (more && trace_word(l)) {
		size_t n = strlen(l->word);

		more = l->word[n - 1] != ':';
		if (!more)
			l->word[n - 1] = '\0';
		if (*l->word)
			trace_head_word(l, h);
	}
}

static inline track_id trace_process(struct trace_line *l, const char *host, int64_t pid)
{
	struct track_def p = TRACK_DEF_INIT;
	char name[64];

	snprintf(name, sizeof(name), "process %d", (int)pid);
	p.kind = TRACK_PROCESS;
	p.host = host;
	p.pid = pid;
	p.name = name;
	return l->s->ops->track(l->s, &p);
}

static inline track_id trace_line_track(struct trace_line *l, const char *kind, const char *id,
					struct trace_head *h)
{
	const char *slash = strchr(id, '/');
	struct track_def *d = &h->track;
	char device[TRACE_WORD_MAX], name[TRACE_WORD_MAX + 64];
	int64_t number;

	if (!slash)
		trace_line_bad(l);
	number = (int64_t)trace_number(l, slash + 1, strlen(slash + 1));
	snprintf(device, sizeof(device), "%.*s", (int)(slash - id), id);
	if (*kind == 'q' || *kind == 's') {
		if (h->owner != PID_NONE)
			d->owner = trace_process(l, "node", h->owner);
		d->kind = TRACK_QUEUE;
		d->device = device;
		if (*kind == 'q') {
			d->pid = 1;
			d->tid = number;
		} else {
			d->key = (uint64_t)number + 1000 * (uint64_t)slash[-1];
			snprintf(name, sizeof(name), "%s queue %d", device, (int)number);
			d->name = d->name ? d->name : name;
		}
		return l->s->ops->track(l->s, d);
	}
	d->kind = TRACK_THREAD;
	d->pid = (int64_t)trace_number(l, id, (size_t)(slash - id));
	d->tid = number;
	if (*kind == 'r') {
		snprintf(name, sizeof(name), "thread %d", (int)number);
		d->host = d->host ? d->host : "node";
		d->parent = trace_process(l, d->host, d->pid);
		d->rank = d->rank == RANK_NONE ? (int32_t)d->pid : d->rank;
		d->name = d->name ? d->name : name;
	}
	return l->s->ops->track(l->s, d);
}

static inline void trace_line_samples(struct trace_line *l, series_id s)
{
	while (trace_word(l)) {
		int64_t at = trace_time(l, l->word, strlen(l->word));

		if (!trace_word(l))
			trace_line_bad(l);
		l->s->ops->sample(l->s, s, at, trace_number(l, l->word, strlen(l->word)));
	}
}

/*
 * Pushes the lines of a text between a sink's input and its end. Returns the id of the last track
 * or series.
 */
static inline uint32_t trace_text(struct sink *s, double unit_ns, const char *text)
{
	struct trace_line l = { .s = s, .unit_ns = unit_ns, .at = text };
	uint32_t id = UINT32_MAX;

	for (; *l.at; l.at += *l.at == '\n') {
		struct trace_head h = { .owner = PID_NONE,
					.track = TRACK_DEF_INIT,
					.series = { .track = TRACK_NONE } };
		char kind[TRACE_WORD_MAX], name[TRACE_WORD_MAX];
		size_t n;

		if (!trace_word(&l))
			continue;
		snprintf(kind, sizeof(kind), "%s", l.word);
		if (!trace_word(&l))
			trace_line_bad(&l);
		n = strlen(l.word);
		snprintf(name, sizeof(name), "%.*s", (int)(n - (l.word[n - 1] == ':')), l.word);
		if (l.word[n - 1] != ':')
			trace_head_read(&l, &h);
		if (strcmp(kind, "series") == 0) {
			h.series.name = name;
			trace_line_samples(&l, id = s->ops->series(s, &h.series));
			continue;
		}
		id = trace_line_track(&l, kind, name, &h);
		while (trace_word(&l))
			trace_line_span(&l, id,
					h.track.kind == TRACK_QUEUE ? SPAN_KERNEL : SPAN_HOST);
	}
	return id;
}

/* A finished model of one input ("hand-made") that the text describes. Owned. */
static inline struct model *model_of_text_with(double unit_ns, const char *text,
					       void (*finish)(struct model *m))
{
	struct model *m = model_new();
	struct sink *s = model_sink(m);

	s->ops->input(s, "hand-made", "test");
	s->ops->clock(s);
	trace_text(s, unit_ns, text);
	s->ops->input_end(s);
	finish(m);
	return m;
}

static inline struct model *model_of_text(double unit_ns, const char *text)
{
	return model_of_text_with(unit_ns, text, model_finish);
}

#endif
