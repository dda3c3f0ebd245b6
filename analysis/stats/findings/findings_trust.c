/*
 * Rules about the recording itself: what the tools took, clocks that contradict each other, rates
 * that no device has.
 */
#include "findings.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/sort.h"
#include "profrig/base/xalloc.h"
#include "profrig/model/warnings.h"
#include "profrig/names/api_names.h"

#define TOOL_SHARE 0.01 /* of the devices' time, by the trace's own account */
#define TOOL_NS 1000000
#define BASELINE_SHARE 0.05 /* of the workload's time, by runs without the tools */
#define ROOFLINE_PCT 100
#define ROOFLINE_SHARE 0.01

/* ---- tools ---- */

/* When a tool was at work, by its own account. Owned. */
static struct intervals tool_times(const struct findings *f)
{
	const struct span_columns *c = &f->m->spans;
	struct u64map known = U64MAP_INIT; /* by name and category: 0 no, 1 yes */
	VEC(struct sort_span) v = VEC_INIT;
	struct intervals ret = INTERVALS_INIT;

	for (size_t i = 0; i < c->nr; i++) {
		uint32_t *is;

		if (c->kind[i] != SPAN_HOST && c->kind[i] != SPAN_ANNOTATION)
			continue;
		is = u64map_at(&known, u64map_pair(c->name[i], c->category[i]));
		if (*is == U64MAP_NONE)
			*is = name_is_of_tool(model_str(f->m, c->name[i]),
					      model_str(f->m, c->category[i]));
		if (*is)
			VEC_PUSH(&v, ((struct sort_span){ c->start_ns[i], c->end_ns[i], i }));
	}
	if (v.nr)
		sort_spans(v.v, v.nr);
	for (size_t i = 0; i < v.nr; i++)
		intervals_join(&ret, v.v[i].start_ns, v.v[i].end_ns);
	VEC_RELEASE(&v);
	u64map_release(&known);
	return ret;
}

static void tool_of_device(struct findings *f, uint32_t device, const struct intervals *tool)
{
	const struct work_device *d = &f->w->devices.v[device];
	const char *name = model_str(f->m, d->name);
	struct intervals wall = INTERVALS_INIT, busy = INTERVALS_INIT;
	int64_t ns, idle_ns;
	double share;

	intervals_join(&wall, d->first_ns, d->last_ns);
	works_union(f->w, device, ~0U, d->first_ns, d->last_ns, &busy);
	ns = intervals_common(tool, &wall);
	idle_ns = ns - intervals_common(tool, &busy);
	share = (double)ns / (double)(d->last_ns - d->first_ns);
	if (share > TOOL_SHARE && ns >= TOOL_NS)
		finding_add(
			f,
			FINDING_AT("tool_overhead", name, "functions", share, TOOL_SHARE, idle_ns),
			"the profiler itself was at work for %.0f %% of the time of %s (%s), and "
			"%s was idle for %s of it",
			100 * share, name, time_words((double)ns).s, name,
			time_words((double)idle_ns).s);
	intervals_release(&wall);
	intervals_release(&busy);
}

/* Runs without the tools tell what these cost. */
static void tool_by_baseline(struct findings *f, const struct table *t)
{
	for (size_t i = 0; i < table_rows(t); i++) {
		double overhead = col_of(t, i, "overhead"), tools_s = col_of(t, i, "tools_s");
		double cost_ns = 1e9 * (tools_s - col_of(t, i, "baseline_s"));

		if (strcmp(text_of(t, i, "set"), "all") == 0 && overhead > BASELINE_SHARE)
			finding_add(f,
				    FINDING_AT("tool_cost", "", "overhead", overhead,
					       BASELINE_SHARE,
					       cost_ns > 0 && cost_ns < 9e18 ? (int64_t)cost_ns
									     : SAVES_UNKNOWN),
				    "the workload takes %.0f %% longer with %s than without",
				    100 * overhead, text_of(t, i, "tools"));
	}
}

void rule_tool_overhead(struct findings *f)
{
	struct intervals tool = tool_times(f);
	const struct table *baseline = table_set_find(f->out, "overhead");

	for (uint32_t d = 0; d < f->w->devices.nr; d++)
		tool_of_device(f, d, &tool);
	if (tool.v.nr == 0)
		findings_skip(f, "tool_overhead", "the trace does not say what its tool did");
	if (baseline)
		tool_by_baseline(f, baseline);
	else
		findings_skip(f, "tool_cost", "needs the table 'overhead'");
	intervals_release(&tool);
}

/* ---- clocks ---- */

void rule_queue_order(struct findings *f)
{
	const struct table *t = findings_table(f, "queue_order", "overlap");

	for (size_t i = 0; t && i < table_rows(t); i++) {
		double overlaps = col_of(t, i, "queue_overlaps");

		if (overlaps > 0)
			finding_add(f,
				    FINDING_AS("queue_order", text_of(t, i, "device"), "overlap",
					       overlaps, 0, SAVES_UNKNOWN, "low"),
				    "%.0f kernels of %s begin before the one before them on the "
				    "same queue has ended: the clocks of the recording are not "
				    "exact",
				    overlaps, text_of(t, i, "device"));
	}
}

void rule_early_work(struct findings *f)
{
	const struct table *t = findings_table(f, "early_work", "launch_latency");

	for (size_t i = 0; t && i < table_rows(t); i++) {
		double early = col_of(t, i, "early");

		if (early > 0)
			finding_add(f,
				    FINDING_AS("early_work", text_of(t, i, "device"),
					       "launch_latency", early, 0, SAVES_UNKNOWN, "low"),
				    "%.0f works of %s begin before they are launched: the clocks "
				    "of host and device are at least %s apart",
				    early, text_of(t, i, "device"),
				    time_words(-col_of(t, i, "min_ns")).s);
	}
}

/* Readers count what goes back in time. */
void rule_backwards(struct findings *f)
{
	uint64_t spans = 0;

	for (size_t i = 0; i < f->m->warnings.nr; i++) {
		const struct warning *w = &f->m->warnings.v[i];

		if (strcmp(w->code, W_NEGATIVE_DURATION) == 0 || strcmp(w->code, W_TIME_ORDER) == 0)
			spans += w->count;
	}
	if (spans)
		finding_add(f,
			    FINDING_AS("backwards", "", "functions", (double)spans, 0,
				       SAVES_UNKNOWN, "low"),
			    "%" PRIu64 " time%s of the recording go%s backwards: ends come from "
			    "another clock than starts",
			    spans, plural(spans), spans == 1 ? "es" : "");
}

void rule_rank_clocks(struct findings *f)
{
	const struct table *t = findings_table(f, "rank_clocks", "alignment");
	double first = INFINITY, last = -INFINITY;
	const char *ahead = "", *behind = "";

	for (size_t i = 0; t && i < table_rows(t); i++) {
		double offset = col_of(t, i, "offset_ns");

		if (strcmp(text_of(t, i, "why"), "aligned") != 0 || isnan(offset))
			continue;
		if (offset < first)
			behind = text_of(t, i, "track");
		if (offset > last)
			ahead = text_of(t, i, "track");
		first = fmin(first, offset);
		last = fmax(last, offset);
	}
	if (last > first)
		finding_add(f,
			    FINDING_AS("rank_clocks", "", "alignment", last - first, 0,
				       SAVES_UNKNOWN, "low"),
			    "the clocks of ranks disagree by %s (%s is ahead of %s): tables of "
			    "collectives have common times, all others do not",
			    time_words(last - first).s, ahead, behind);
}

/* ---- rates ---- */

void rule_above_roofline(struct findings *f)
{
	const struct table *t = findings_table(f, "above_roofline", "perf");
	double all = 0;
	bool any = false;

	for (size_t i = 0; i < f->w->v.nr; i++)
		all += (double)(f->w->v.v[i].end_ns - f->w->v.v[i].start_ns);
	for (size_t i = 0; t && i < table_rows(t); i++) {
		double pct = col_of(t, i, "pct_of_attainable"), ns = col_of(t, i, "total_ns");

		any |= !isnan(pct);
		if (pct > ROOFLINE_PCT && ns > ROOFLINE_SHARE * all)
			finding_add(f,
				    FINDING_AS("above_roofline", "", "perf", pct, ROOFLINE_PCT,
					       SAVES_UNKNOWN, "low"),
				    "%s of %.60s reaches %.0f %% of its roofline: %s",
				    text_of(t, i, "op"), text_of(t, i, "shapes"), pct,
				    strcmp(text_of(t, i, "bound"), "memory") == 0
					    ? "its data stays in caches, or the bandwidth of the "
					      "device is another"
					    : "its precision or the peak of the device is another");
	}
	if (t && !any)
		findings_skip(f, "above_roofline", "the peaks of the device are not known");
}
