/*
 * What the tests of the model share: pushing tracks and spans, counting warnings, finding spans by
 * name.
 */
#ifndef MODEL_SUPPORT_H
#define MODEL_SUPPORT_H

#include "expect_model.h"

#include <math.h>

#include "profrig/model/sink.h"
#include "profrig/model/timebase.h"

static inline track_id thread_of(struct sink *s, const char *host, int64_t pid, int64_t tid)
{
	struct track_def d = TRACK_DEF_INIT;

	d.kind = TRACK_THREAD;
	d.host = host;
	d.pid = pid;
	d.tid = tid;
	return s->ops->track(s, &d);
}

static inline track_id queue_of(struct sink *s, const char *device, uint64_t key)
{
	struct track_def d = TRACK_DEF_INIT;

	d.kind = TRACK_QUEUE;
	d.device = device;
	d.key = key;
	return s->ops->track(s, &d);
}

static inline span_id span_put(struct sink *s, track_id t, const char *name, int64_t start,
			       int64_t end, enum span_kind kind, uint64_t correlation)
{
	struct span_def d = { .track = t,
			      .start_ns = start,
			      .end_ns = end,
			      .name = sink_puts(s, name),
			      .correlation = correlation,
			      .kind = kind,
			      .args = STR_NONE };

	return s->ops->span(s, &d);
}

static inline const char *parent_name(const struct model *m, size_t i)
{
	uint64_t parent = span_parent(&m->spans, i);

	return parent == SPAN_NONE ? "" : model_str(m, m->spans.name[parent]);
}

static uint32_t rnd_state;
static inline uint32_t rnd_below(uint32_t below)
{
	rnd_state = rnd_state * 1664525u + 1013904223u;
	return (rnd_state >> 8) % below;
}

#endif
