/* A small trace built by hand: seconds in, J out. */
#ifndef ENERGY_FIXTURE_H
#define ENERGY_FIXTURE_H

#include "trace_text.h"

#include <math.h>

#include "profrig/energy/energy.h"
#include "profrig/model/sink.h"
#include "profrig/model/warnings.h"

struct trace {
	struct model *m;
	struct sink *s;
};

static inline struct trace trace_new(void)
{
	struct trace t;

	t.m = model_new();
	t.s = model_sink(t.m);
	t.s->ops->input(t.s, "hand-made", "test");
	t.s->ops->clock(t.s);
	return t;
}

static inline void trace_finish(struct trace *t)
{
	t->s->ops->input_end(t->s);
	model_finish(t->m);
}

static inline void trace_release(struct trace *t)
{
	model_free(t->m);
	t->m = NULL;
}

static inline int64_t ns(double seconds)
{
	return (int64_t)llround(seconds * 1e9);
}

static inline track_id trace_thread(struct trace *t, const char *host, int64_t pid, int64_t tid)
{
	struct track_def p = TRACK_DEF_INIT, d = TRACK_DEF_INIT;
	char name[64];

	p.kind = TRACK_PROCESS;
	p.host = host;
	p.pid = pid;
	snprintf(name, sizeof(name), "process %d", (int)pid);
	p.name = name;
	d.parent = t->s->ops->track(t->s, &p);
	d.kind = TRACK_THREAD;
	d.host = host;
	d.pid = pid;
	d.tid = tid;
	d.rank = (int32_t)pid;
	snprintf(name, sizeof(name), "thread %d", (int)tid);
	d.name = name;
	return t->s->ops->track(t->s, &d);
}

static inline track_id trace_queue(struct trace *t, const char *device, int64_t stream)
{
	struct track_def d = TRACK_DEF_INIT;
	char name[64];

	d.kind = TRACK_QUEUE;
	d.device = device;
	d.key = (uint64_t)stream + 1000 * (uint64_t)device[strlen(device) - 1];
	snprintf(name, sizeof(name), "%s queue %d", device, (int)stream);
	d.name = name;
	return t->s->ops->track(t->s, &d);
}

static inline void trace_span_ns(struct trace *t, track_id track, const char *name,
				 int64_t start_ns, int64_t end_ns, enum span_kind kind)
{
	struct span_def d = {
		.track = track,
		.start_ns = start_ns,
		.end_ns = end_ns,
		.name = sink_puts(t->s, name),
		.kind = kind,
		.args = STR_NONE,
	};

	t->s->ops->span(t->s, &d);
}

static inline void trace_call(struct trace *t, track_id track, const char *name, double start,
			      double end)
{
	trace_span_ns(t, track, name, ns(start), ns(end), SPAN_HOST);
}

static inline void trace_work(struct trace *t, track_id track, const char *name, double start,
			      double end)
{
	trace_span_ns(t, track, name, ns(start), ns(end), SPAN_KERNEL);
}

/* Lines of trace_text.h, times in seconds. Returns the id of the last track or series. */
static inline uint32_t trace_add(struct trace *t, const char *text)
{
	return trace_text(t->s, 1e9, text);
}

/* kind and unit are what a file would claim. */
static inline series_id trace_series(struct trace *t, const char *name, const char *unit,
				     enum series_kind kind)
{
	struct series_def d = { .name = name, .unit = unit, .kind = kind, .track = TRACK_NONE };

	return t->s->ops->series(t->s, &d);
}

static inline void trace_samples(struct trace *t, series_id id, size_t n, const double (*tv)[2])
{
	for (size_t i = 0; i < n; i++)
		t->s->ops->sample(t->s, id, ns(tv[i][0]), tv[i][1]);
}

/* The n-th span of a name on a track in the order of the columns. */
static inline size_t trace_find(const struct model *m, track_id track, const char *name, int nth)
{
	for (size_t i = 0; i < m->spans.nr; i++) {
		if (m->spans.track[i] == track &&
		    strcmp(model_str(m, m->spans.name[i]), name) == 0 && nth-- == 0)
			return i;
	}
	fail_msg("no span '%s'", name);
	return 0;
}

#define assert_near(got, want, tolerance) \
	do { \
		double got_ = (got), want_ = (want); \
		if (!(fabs(got_ - want_) <= (tolerance))) \
			fail_msg("%s:%d: got %.12g, want %.12g", __FILE__, __LINE__, got_, want_); \
	} while (0)

#endif
