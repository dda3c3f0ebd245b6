/* How long work waits between the call that launched it and its start. */
#include "analyses_private.h"
#include "graph_captures.h"

#include <math.h>

#include "profrig/base/sort.h"
#include "profrig/model/warnings.h"
#include "profrig/names/api_names.h"

/* clang-format off */
#define LAUNCH_LATENCY(X) \
	X(STR, device) X(I64, linked) X(I64, unlinked) X(F64, min_ns) X(F64, median_ns) \
	X(F64, p95_ns) X(F64, max_ns) X(I64, early) X(I64, before_return)
/* clang-format on */
TABLE_FORM(launch_latency, LAUNCH_LATENCY,
	   "one row per device: time from the start of a launch to the start of its work");

static struct launch_latency_row device_latency(const struct works *w, uint32_t device, int64_t *ns)
{
	const struct work_device *d = &w->devices.v[device];
	struct launch_latency_row row = {
		model_str(w->m, d->name), 0, 0, NAN, NAN, NAN, NAN, 0, 0
	};
	size_t nr = 0;

	for (size_t i = d->first; i < d->first + d->nr; i++) {
		const struct work *k = &w->v.v[i];

		if (k->launch == SPAN_NONE)
			continue;
		ns[nr] = k->start_ns - w->m->spans.start_ns[k->launch];
		row.early += ns[nr++] < 0;
		row.before_return += k->start_ns < w->m->spans.end_ns[k->launch];
	}
	row.linked = (int64_t)nr;
	row.unlinked = (int64_t)(d->nr - nr);
	if (nr) {
		sort_i64(ns, nr);
		row.min_ns = (double)ns[0];
		row.median_ns = sorted_median(ns, nr);
		row.p95_ns = sorted_quantile(ns, nr, 0.95);
		row.max_ns = (double)ns[nr - 1];
	}
	return row;
}

/*
 * Launches whose kernel the trace lacks. Those that were captured into a graph have none. In a
 * window a kernel may lie outside, so none are counted.
 */
static void lost_warn(struct model *m, const struct works *w)
{
	CLEANUP(graph_captures_freep) struct graph_captures *gc = NULL;
	CLEANUP(xfreep) uint8_t *did = NULL, *names = NULL;
	const struct span_columns *c = &m->spans;
	uint64_t nr = 0, first = SPAN_NONE;

	if (m->windows.nr)
		return;
	did = works_launching(w);
	gc = graph_captures_new(w);
	for (size_t i = 0; i < gc->nodes.nr; i++)
		did[gc->nodes.v[i].span] = 1;
	names = xcalloc(intern_count(m->strings) + 1, 1);
	for (str_id i = 0; i < intern_count(m->strings); i++)
		names[i] = api_launches_kernel(model_str(m, i));
	for (uint64_t i = 0; i < c->nr; i++) {
		uint64_t up = span_parent(c, i);

		/* of a call of the driver inside one of the runtime the outer one counts */
		if (c->kind[i] != SPAN_HOST || did[i] || !names[c->name[i]] ||
		    (up != SPAN_NONE && names[c->name[up]]))
			continue;
		first = nr++ == 0 ? i : first;
	}
	if (nr)
		model_warn(m, span_input(c, first), W_LAUNCH_WITHOUT_WORK, nr,
			   "'%s' on %s launched a kernel that is not in the trace",
			   model_str(m, c->name[first]),
			   model_str(m, m->tracks.v[c->track[first]].name));
}

static int launch_latency_run(struct model *m, const struct analysis_opts *o, struct table_set *out,
			      struct err *err)
{
	const struct works *w = analysis_works(m, o);
	CLEANUP(xfreep) int64_t *ns = xreallocarray(NULL, w->v.nr, sizeof(*ns));
	struct table *t;

	(void)err;
	if (w->linked == 0)
		return table_set_skip(out, "launch_latency", SAY_NO_LAUNCHES);
	t = table_make(&launch_latency_form);
	for (uint32_t d = 0; d < w->devices.nr; d++) {
		struct launch_latency_row row = device_latency(w, d, ns);

		table_add(t, &row);
	}
	table_set_add(out, t);
	lost_warn(m, w);
	return 0;
}

const struct analysis analysis_launch_latency = {
	.name = "launch_latency",
	.about = "time between launches and the start of their work",
	.tables = { &launch_latency_form },
	.run = launch_latency_run,
	.needs_work = true,
};
