/*
 * random_work: random traces of host threads with nested calls, launches, synchronisations and
 * markers, and of queues with the works they launch: some without launch, some without length, some
 * that overlap, launches without work. Events are recorded on queues, and queues and calls wait for
 * them: of some waits it is known what recorded the event, of some on which stream.
 */
#ifndef PROFRIG_RANDOM_WORK_H
#define PROFRIG_RANDOM_WORK_H

#include "test.h"

#include "profrig/model/facts.h"
#include "profrig/model/sink.h"

struct random_work {
	struct sink *s;
	uint64_t state;
	uint64_t correlation;
	track_id threads[6], queues[8];
	int nr_threads, nr_queues;
	int64_t t_ns;
};

static inline int64_t random_to(struct random_work *r, int64_t n)
{
	return (int64_t)(splitmix64(&r->state) % (uint64_t)n);
}

static inline span_id random_span(struct random_work *r, track_id t, const char *name, int64_t from,
				  int64_t to, enum span_kind kind, uint64_t correlation)
{
	return r->s->ops->span(r->s, &(struct span_def){ .track = t,
							 .start_ns = from,
							 .end_ns = to,
							 .name = sink_puts(r->s, name),
							 .correlation = correlation,
							 .kind = kind,
							 .args = STR_NONE });
}

/* What the trace says of a call that waits for an event or a stream, beside the call. */
static inline void random_sync(struct random_work *r, enum sync_kind kind, uint64_t call,
			       uint64_t record, int64_t at)
{
	struct span_facts f = { .kind = FACTS_SYNC, .sync = SYNC_FACTS_NONE };
	int64_t queue = random_to(r, r->nr_queues);

	f.sync.kind = kind;
	f.sync.stream = queue;
	f.sync.call = (int64_t)call;
	if (random_to(r, 4))
		f.sync.event_stream = random_to(r, r->nr_queues);
	if (record && random_to(r, 3))
		f.sync.record = (int64_t)record;
	r->s->ops->facts(
		r->s, random_span(r, r->queues[queue], "sync", at, at + 1, SPAN_ANNOTATION, 0), &f);
}

/* Two calls in [from, to]: one records an event, one waits for it. */
static inline void random_wait(struct random_work *r, track_id t, int64_t from, int64_t to)
{
	static const struct {
		const char *name;
		enum sync_kind kind;
	} waits[] = { { "cudaStreamWaitEvent", SYNC_STREAM_WAIT_EVENT },
		      { "cudaStreamWaitEvent", SYNC_STREAM_WAIT_EVENT },
		      { "cudaEventSynchronize", SYNC_EVENT },
		      { "cudaStreamSynchronize", SYNC_STREAM } };
	int64_t which = random_to(r, 4), mid = from + random_to(r, to - from + 1);
	uint64_t record = ++r->correlation, call = ++r->correlation;

	random_span(r, t, "cudaEventRecord", from, mid, SPAN_HOST, record);
	random_span(r, t, waits[which].name, mid, to, SPAN_HOST, call);
	if (random_to(r, 4) == 0)
		random_sync(r, SYNC_RECORD_EVENT, record, 0, mid);
	random_sync(r, waits[which].kind, call, record, mid);
}

/* A launch inside [from, to], and the work of it some time after its start. */
static inline void random_launch(struct random_work *r, track_id t, int64_t from, int64_t to)
{
	static const char *const works[] = { "gemm", "ncclDevKernel_AllReduce", "relu", "Memcpy" };
	static const char *const calls[] = { "cudaLaunchKernel", "cudaMemcpyAsync", "cudaMemcpy",
					     "cudaGraphLaunch" };
	int64_t which = random_to(r, 4), start = from + random_to(r, to - from + 1);
	int64_t work_ns = start + random_to(r, 60);
	uint64_t c = random_to(r, 8) ? ++r->correlation : 0;

	random_span(r, t, calls[random_to(r, 4)], start, to, SPAN_HOST, c);
	if (random_to(r, 8) == 0)
		return;
	random_span(r, r->queues[random_to(r, r->nr_queues)], works[which], work_ns,
		    work_ns + random_to(r, 30), which == 3 ? SPAN_COPY : SPAN_KERNEL, c);
}

static inline void random_call(struct random_work *r, track_id t, int64_t from, int64_t to,
			       int depth)
{
	static const char *const names[] = {
		"aten::mm",   "DataLoader.next",  "cudaDeviceSynchronize",
		"cudaMalloc", "cuModuleLoadData", "forward"
	};
	int64_t at = from;

	random_span(r, t, names[random_to(r, 6)], from, to, SPAN_HOST, 0);
	for (int k = 0; k < 3 && depth < 4 && at < to; k++) {
		int64_t a = at + random_to(r, to - at + 1), b = a + random_to(r, to - a + 1);

		if (random_to(r, 2))
			random_call(r, t, a, b, depth + 1);
		else if (random_to(r, 3))
			random_launch(r, t, a, b);
		else
			random_wait(r, t, a, b);
		at = b;
	}
}

/* Finished, owned. */
static inline struct model *random_work_model(uint64_t seed)
{
	struct model *m = model_new();
	struct random_work r = { .s = model_sink(m), .state = seed };
	char name[32];

	r.s->ops->input(r.s, "random", "tef");
	r.nr_threads = 1 + (int)random_to(&r, 3);
	r.nr_queues = 1 + (int)random_to(&r, 5);
	for (int i = 0; i < r.nr_threads; i++) {
		struct track_def p = TRACK_DEF_INIT, d = TRACK_DEF_INIT;

		p.kind = TRACK_PROCESS;
		p.pid = 1 + random_to(&r, 2);
		d.parent = r.s->ops->track(r.s, &p);
		d.kind = TRACK_THREAD;
		d.pid = p.pid;
		d.tid = i;
		r.threads[i] = r.s->ops->track(r.s, &d);
	}
	for (int i = 0; i < r.nr_queues; i++) {
		struct track_def d = TRACK_DEF_INIT;

		snprintf(name, sizeof(name), "gpu%d", (int)random_to(&r, 3));
		d.kind = TRACK_QUEUE;
		d.device = name;
		d.pid = 1;
		d.tid = i;
		r.queues[i] = r.s->ops->track(r.s, &d);
	}
	for (int t = 0; t < r.nr_threads; t++) {
		int64_t at = random_to(&r, 50);

		for (int k = (int)random_to(&r, 8); k > 0; k--) {
			int64_t end = at + random_to(&r, 200);

			snprintf(name, sizeof(name), "step_%d", k);
			if (random_to(&r, 3))
				random_span(&r, r.threads[t], name, at, end, SPAN_HOST, 0);
			random_call(&r, r.threads[t], at, end, 0);
			at = end + random_to(&r, 40);
		}
	}
	for (int k = (int)random_to(&r, 4); k > 0; k--) {
		int64_t at = random_to(&r, 1000);

		random_span(&r, r.queues[random_to(&r, r.nr_queues)], "unlinked", at,
			    at + random_to(&r, 50), SPAN_KERNEL, 0);
	}
	r.s->ops->input_end(r.s);
	model_finish(m);
	return m;
}

#endif
