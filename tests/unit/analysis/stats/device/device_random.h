/*
 * Small random traces of two threads and two devices, and where their time went, found one moment
 * at a time by the definitions.
 */
#ifndef DEVICE_RANDOM_H
#define DEVICE_RANDOM_H

#include "device_gaps.h"
#include "dice.h"
#include "stats_test.h"

static const struct {
	const char *name;
	enum idle_cause cause;
} random_calls[] = {
	{ "f", IDLE_HOST_BUSY },
	{ "DataLoader", IDLE_DATA_LOADING },
	{ "cudaMalloc", IDLE_ALLOC },
	{ "cudaStreamSynchronize", IDLE_SYNC },
	{ "cudaMemcpyAsync", IDLE_API },
	{ "cudaGraphLaunch", IDLE_API },
	{ "cuModuleLoad", IDLE_MODULE_LOAD },
	{ "cudaLaunchKernel", IDLE_API },
};

static inline enum idle_cause random_cause(const char *name)
{
	size_t i = 0;

	while (strcmp(random_calls[i].name, name) != 0)
		i++;
	return random_calls[i].cause;
}

/* Long enough for gaps on both sides of QUEUED_SHORT_NS when times are stretched. */
enum { MOMENTS = 60, STRETCH_NS = 700 };

static inline struct model *random_model(struct dice *d)
{
	static const char *const kernels[] = { "gemm", "ncclKernel", "k", "k" };
	static const char *const devices[] = { "gpu0", "gpu1" };
	struct maker k = make_begin();
	track_id threads[2], queues[4];
	uint32_t unit = below(d, 4) ? 1 : STRETCH_NS;

	for (int i = 0; i < 2; i++)
		threads[i] = make_thread(&k, 1, i + 1, RANK_NONE, "t");
	for (int i = 0; i < 4; i++)
		queues[i] = make_queue(&k, devices[i / 2], i);
	for (uint32_t n = below(d, 12) + 1; n > 0; n--) {
		int64_t at = below(d, MOMENTS), len = below(d, 20);

		make_span(&k, threads[below(d, 2)], below(d, 9) ? SPAN_HOST : SPAN_INSTANT,
			  at * unit, (at + len) * unit,
			  random_calls[below(d, ARRAY_LEN(random_calls))].name, below(d, 6));
	}
	for (uint32_t n = below(d, 8) + 1; n > 0; n--) {
		static const enum span_kind kinds[] = { SPAN_KERNEL, SPAN_KERNEL, SPAN_COPY,
							SPAN_FILL, SPAN_ANNOTATION };
		int64_t at = below(d, MOMENTS), len = below(d, 12);

		make_span(&k, queues[below(d, 4)], kinds[below(d, ARRAY_LEN(kinds))], at * unit,
			  (at + len) * unit, kernels[below(d, ARRAY_LEN(kernels))], below(d, 6));
	}
	return make_end(&k);
}

struct moments_of {
	int64_t ns[IDLE_CAUSES];
	int64_t wall, compute, comm, copy, exposed_comm, exposed_copy, idle;
};

/* Whether work of a class runs on the device. */
static inline bool runs(const struct works *w, uint32_t device, enum work_class class, int64_t at)
{
	const struct work_device *d = &w->devices.v[device];

	for (size_t i = d->first; i < d->first + d->nr; i++)
		if (w->v.v[i].class == class && w->v.v[i].start_ns <= at && at < w->v.v[i].end_ns)
			return true;
	return false;
}

/* The end of the gap that a moment lies in, or its start: the nearest edge of any work. */
static inline int64_t gap_edge(const struct works *w, uint32_t device, int64_t at, bool end)
{
	const struct work_device *d = &w->devices.v[device];
	int64_t edge = end ? INT64_MAX : INT64_MIN;

	for (size_t i = d->first; i < d->first + d->nr; i++) {
		const struct work *k = &w->v.v[i];

		if (end && k->start_ns > at && k->start_ns < edge)
			edge = k->start_ns;
		if (!end && k->end_ns <= at && k->end_ns > edge)
			edge = k->end_ns;
	}
	return edge;
}

/* The launch of the work that ends the gap at b; SPAN_NONE. */
static inline uint64_t gap_launch(const struct works *w, uint32_t device, int64_t b)
{
	const struct work_device *d = &w->devices.v[device];
	uint64_t best = SPAN_NONE;

	for (size_t i = d->first; i < d->first + d->nr; i++) {
		uint64_t l = w->v.v[i].launch;

		if (w->v.v[i].start_ns != b || l == SPAN_NONE)
			continue;
		if (best == SPAN_NONE || w->m->spans.start_ns[l] < w->m->spans.start_ns[best])
			best = l;
	}
	return best;
}

static inline bool saw_its_copy_end(const struct works *w, uint64_t call)
{
	for (size_t i = 0; i < w->v.nr; i++)
		if (w->v.v[i].launch == call && w->v.v[i].class == WORK_COPY &&
		    w->v.v[i].end_ns <= w->m->spans.end_ns[call])
			return true;
	return false;
}

static inline enum idle_cause host_cause_at(const struct works *w, track_id thread, int64_t at)
{
	const struct span_columns *c = &w->m->spans;
	uint64_t in = SPAN_NONE;

	for (uint64_t i = 0; i < c->nr; i++)
		if (c->track[i] == thread && c->kind[i] != SPAN_INSTANT && c->start_ns[i] <= at &&
		    at < c->end_ns[i] && (in == SPAN_NONE || c->start_ns[i] >= c->start_ns[in]))
			in = i;
	if (in == SPAN_NONE)
		return IDLE_HOST_UNTRACED;
	for (uint64_t p = in; p != SPAN_NONE; p = span_parent(c, p))
		if (random_cause(model_str(w->m, c->name[p])) == IDLE_DATA_LOADING)
			return IDLE_DATA_LOADING;
	if (strstr(model_str(w->m, c->name[in]), "Memcpy") && saw_its_copy_end(w, in))
		return IDLE_SYNC;
	return random_cause(model_str(w->m, c->name[in]));
}

static inline enum idle_cause cause_at(const struct works *w, uint32_t device, int64_t at)
{
	int64_t a = gap_edge(w, device, at, false), b = gap_edge(w, device, at, true);
	uint64_t launch = gap_launch(w, device, b);
	int64_t s;

	if (launch == SPAN_NONE)
		return IDLE_NO_LAUNCH;
	s = w->m->spans.start_ns[launch];
	if (at < s)
		return host_cause_at(w, w->m->spans.track[launch], at);
	if (strcmp(model_str(w->m, w->m->spans.name[launch]), "cudaGraphLaunch") == 0)
		return IDLE_GRAPH_LAUNCH;
	if (s > a)
		return IDLE_LAUNCH_LATENCY;
	return b - a < 10000 ? IDLE_QUEUED_SHORT : IDLE_QUEUED_LONG;
}

static inline void moments_count(const struct works *w, uint32_t device, struct moments_of *ret)
{
	const struct work_device *d = &w->devices.v[device];
	/* all times are multiples of one unit */
	bool long_ones = true;
	int64_t step;

	for (size_t i = 0; i < w->m->spans.nr; i++)
		long_ones = long_ones && w->m->spans.start_ns[i] % STRETCH_NS == 0 &&
			    w->m->spans.end_ns[i] % STRETCH_NS == 0;
	step = long_ones ? STRETCH_NS : 1;
	ret->wall = d->last_ns - d->first_ns;
	for (int64_t t = d->first_ns; t < d->last_ns; t += step) {
		bool compute = runs(w, device, WORK_COMPUTE, t),
		     comm = runs(w, device, WORK_COLLECTIVE, t),
		     copy = runs(w, device, WORK_COPY, t);

		ret->compute += compute ? step : 0;
		ret->comm += comm ? step : 0;
		ret->copy += copy ? step : 0;
		ret->exposed_comm += comm && !compute ? step : 0;
		ret->exposed_copy += copy && !comm && !compute ? step : 0;
		if (compute || comm || copy)
			continue;
		ret->idle += step;
		ret->ns[cause_at(w, device, t)] += step;
	}
}

/* Of a column in the rows of a device (and cause). */
static inline int64_t cell_of(const struct table *t, const char *device, const char *cause,
			      const char *col)
{
	int64_t sum = 0;

	for (size_t i = 0; t && i < table_rows(t); i++)
		if (strcmp(str_of(t, i, "device"), device) == 0 &&
		    (!cause || strcmp(str_of(t, i, "cause"), cause) == 0))
			sum += (int64_t)num_of(t, i, col);
	return sum;
}

static inline void expect_moments(int round, const struct works *w, uint32_t device,
				  const struct table_set *ts, const struct moments_of *want)
{
	const char *name = model_str(w->m, w->devices.v[device].name);
	const struct table *over = table_set_find(ts, "overlap"),
			   *causes = table_set_find(ts, "idle_causes"),
			   *lengths = table_set_find(ts, "idle");
	const struct {
		const char *col;
		int64_t ns;
	} cells[] = {
		{ "wall_ns", want->wall },
		{ "compute_ns", want->compute },
		{ "comm_ns", want->comm },
		{ "copy_ns", want->copy },
		{ "exposed_comm_ns", want->exposed_comm },
		{ "hidden_comm_ns", want->comm - want->exposed_comm },
		{ "exposed_copy_ns", want->exposed_copy },
		{ "idle_ns", want->idle },
	};

	for (size_t i = 0; i < ARRAY_LEN(cells); i++)
		if (cell_of(over, name, NULL, cells[i].col) != cells[i].ns)
			ROW_FAIL(round, "%s %s is not %lld", name, cells[i].col,
				 (long long)cells[i].ns);
	if (cell_of(lengths, name, NULL, "total_ns") != want->idle)
		ROW_FAIL(round, "%s: gaps are not %lld", name, (long long)want->idle);
	for (size_t c = 0; c < IDLE_CAUSES; c++)
		if (cell_of(causes, name, idle_cause_name((enum idle_cause)c), "total_ns") !=
		    want->ns[c])
			ROW_FAIL(round, "%s %s is not %lld", name,
				 idle_cause_name((enum idle_cause)c), (long long)want->ns[c]);
}

#endif
