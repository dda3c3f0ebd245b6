#include "device_gaps.h"

#include <string.h>

#include "profrig/names/api_names.h"

static const char *const names[IDLE_CAUSES] = {
	[IDLE_DATA_LOADING] = "data_loading",
	[IDLE_SYNC] = "sync",
	[IDLE_ALLOC] = "alloc",
	[IDLE_MODULE_LOAD] = "module_load",
	[IDLE_API] = "api",
	[IDLE_HOST_BUSY] = "host_busy",
	[IDLE_HOST_UNTRACED] = "host_untraced",
	[IDLE_GRAPH_LAUNCH] = "graph_launch",
	[IDLE_LAUNCH_LATENCY] = "launch_latency",
	[IDLE_QUEUED_SHORT] = "queued_short",
	[IDLE_QUEUED_LONG] = "queued_long",
	[IDLE_NO_LAUNCH] = "no_launch",
};

const char *idle_cause_name(enum idle_cause c)
{
	return names[c];
}

enum idle_cause idle_sums_largest(const struct idle_sums *s)
{
	size_t best = 0;

	for (size_t i = 1; i < IDLE_CAUSES; i++)
		if (s->ns[i] > s->ns[best])
			best = i;
	return (enum idle_cause)best;
}

void idle_sums_add(struct idle_sums *to, const struct idle_sums *s)
{
	for (size_t i = 0; i < IDLE_CAUSES; i++) {
		to->ns[i] += s->ns[i];
		to->parts[i] += s->parts[i];
	}
}

static bool is_launched_before(const struct works *w, size_t a, size_t b)
{
	const int64_t *start = w->m->spans.start_ns;
	uint64_t la = w->v.v[a].launch, lb = w->v.v[b].launch;

	if (la == SPAN_NONE || lb == SPAN_NONE)
		return la != SPAN_NONE && lb == SPAN_NONE;
	return start[la] != start[lb] ? start[la] < start[lb] : la < lb;
}

/* Of the rows from i on that start with it. */
static size_t launched_first(const struct works *w, size_t i, size_t end)
{
	size_t best = i;

	for (size_t k = i + 1; k < end && w->v.v[k].start_ns == w->v.v[i].start_ns; k++)
		if (is_launched_before(w, k, best))
			best = k;
	return best;
}

static void cause_put(struct idle_sums *s, enum idle_cause c, int64_t ns)
{
	if (ns <= 0)
		return;
	s->ns[c] += ns;
	s->parts[c]++;
}

static void gap_explain(const struct works *w, struct host_causes *h, struct device_gap *g)
{
	uint64_t launch = w->v.v[g->after].launch;
	int64_t a = g->from_ns, b = g->to_ns, s;
	enum idle_cause c;

	g->launched_ns = a;
	if (launch == SPAN_NONE) {
		cause_put(&g->sums, IDLE_NO_LAUNCH, b - a);
		return;
	}
	s = w->m->spans.start_ns[launch];
	g->launched_ns = s < a ? a : s < b ? s : b;
	host_causes_add(h, w->m->spans.track[launch], a, s < b ? s : b, &g->sums);
	if (host_causes_api(h, launch) == API_GRAPH_LAUNCH)
		c = IDLE_GRAPH_LAUNCH;
	else if (s > a)
		c = IDLE_LAUNCH_LATENCY;
	else
		c = b - a < QUEUED_SHORT_NS ? IDLE_QUEUED_SHORT : IDLE_QUEUED_LONG;
	cause_put(&g->sums, c, b - (s > a ? s : a));
}

void device_gaps(const struct works *w, uint32_t device, struct host_causes *h,
		 void (*take)(void *ctx, const struct device_gap *g), void *ctx)
{
	const struct work_device *d = &w->devices.v[device];
	size_t last = d->first, end = d->first + d->nr;

	for (size_t i = d->first + 1; i < end; i++) {
		if (w->v.v[i].start_ns > w->v.v[last].end_ns) {
			struct device_gap g = { .from_ns = w->v.v[last].end_ns,
						.to_ns = w->v.v[i].start_ns,
						.before = last,
						.after = launched_first(w, i, end) };

			gap_explain(w, h, &g);
			take(ctx, &g);
		}
		if (w->v.v[i].end_ns >= w->v.v[last].end_ns)
			last = i;
	}
}
