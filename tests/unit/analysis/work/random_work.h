/*
 * random_work: random traces of host threads with nested calls, launches, synchronisations and
 * markers, and of queues with the works they launch: some without launch, some without length, some
 * that overlap, launches without work.
 */
#ifndef PROFRIG_RANDOM_WORK_H
#define PROFRIG_RANDOM_WORK_H

#include "test.h"

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

static inline void random_span(struct random_work *r, track_id t, const char *name, int64_t from,
			       int64_t to, enum span_kind kind, uint64_t correlation)
{
	r->s->ops->span(r->s, &(struct span_def){ .track = t,
						  .start_ns = from,
						  .end_ns = to,
						  .name = sink_puts(r->s, name),
						  .correlation = correlation,
						  .kind = kind,
						  .args = STR_NONE });
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
		else
			random_launch(r, t, a, b);
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
