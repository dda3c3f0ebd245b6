/* Why devices were idle: by length of the gaps, by cause, and the longest gaps. */
#include "analyses_private.h"
#include "device_gaps.h"
#include "gap_lanes.h"
#include "lengths.h"
#include "work_energy.h"

#include <stdlib.h>

/* clang-format off */
#define IDLE(X) \
	X(STR, device) X(STR, gap_ns_bucket) X(I64, count) X(I64, total_ns) X(STR, host_cause)
#define IDLE_CAUSES_LIST(X) \
	X(STR, device) X(STR, cause) X(I64, parts) X(I64, total_ns) X(F64, share) \
	X(F64, joules) X(STR, energy_flags) X(F64, uncertainty_j)
#define IDLE_GAPS(X) \
	X(STR, device) X(I64, start_ns) X(I64, dur_ns) X(STR, cause) X(STR, before) \
	X(STR, after) X(STR, api)
/* clang-format on */
TABLE_FORM(idle, IDLE, "one row per device and length of its gaps: when nothing ran on it");
TABLE_FORM(idle_causes, IDLE_CAUSES_LIST,
	   "one row per device and cause: why nothing ran on it; they add up to its idle time");
TABLE_FORM(idle_gaps, IDLE_GAPS, "the longest gaps of all devices, with their largest cause");

enum { GAPS_SHOWN = 100 };

struct bucket {
	int64_t gaps, ns;
	struct idle_sums sums;
};

struct long_gap {
	int64_t start_ns, dur_ns;
	uint32_t device;
	enum idle_cause cause;
	size_t before, after;
};

struct idling {
	const struct works *w;
	uint32_t device;
	struct bucket buckets[LENGTHS];
	struct idle_sums sums;
	const struct work_energy *we;
	size_t hint; /* of work_energy_idle */
	size_t near; /* of meter_stretch */
	struct joules joules[IDLE_CAUSES];
	struct long_gap longest[GAPS_SHOWN]; /* the longest first */
	size_t nr_longest;
	struct gap_lanes *lanes;
};

/* Devices and gaps come in order, so of equal ones the earlier stays in front. */
static void longest_put(struct idling *id, const struct device_gap *g)
{
	int64_t ns = g->to_ns - g->from_ns;
	size_t at = id->nr_longest;

	if (at == GAPS_SHOWN && id->longest[at - 1].dur_ns >= ns)
		return;
	if (at < GAPS_SHOWN)
		id->nr_longest++;
	else
		at--;
	for (; at > 0 && id->longest[at - 1].dur_ns < ns; at--)
		id->longest[at] = id->longest[at - 1];
	id->longest[at] =
		(struct long_gap){ g->from_ns, ns,      id->device, idle_sums_largest(&g->sums),
				   g->before,  g->after };
}

/* A part of a gap: causes [first, end) have its energy by their time. */
static void part_joules(struct idling *id, const struct device_gap *g, int64_t from_ns,
			int64_t to_ns, size_t first, size_t end)
{
	const struct work_meter *me = work_meter_of(id->we, id->device);
	struct meter_stretch x;
	double j;

	if (from_ns == to_ns)
		return;
	x = meter_stretch(me, from_ns, to_ns, &id->near);
	j = work_energy_idle(id->we, id->device, from_ns, to_ns, &id->hint);
	for (size_t c = first; c < end; c++)
		if (g->sums.ns[c])
			joules_add_stretch(&id->joules[c], me,
					   j * ((double)g->sums.ns[c] / (double)(to_ns - from_ns)),
					   &x);
}

static void gap_take(void *ctx, const struct device_gap *g)
{
	struct idling *id = ctx;
	int64_t ns = g->to_ns - g->from_ns;
	size_t b = length_of(ns);

	id->buckets[b].gaps++;
	id->buckets[b].ns += ns;
	idle_sums_add(&id->buckets[b].sums, &g->sums);
	idle_sums_add(&id->sums, &g->sums);
	part_joules(id, g, g->from_ns, g->launched_ns, 0, HOST_CAUSES);
	part_joules(id, g, g->launched_ns, g->to_ns, HOST_CAUSES, IDLE_CAUSES);
	longest_put(id, g);
	gap_lanes_take(id->lanes, id->device, g);
}

static const char *work_name(const struct works *w, size_t row)
{
	return model_str(w->m, w->m->spans.name[w->v.v[row].span]);
}

static void buckets_add(const struct idling *id, const char *device, struct table *t)
{
	for (size_t b = 0; b < LENGTHS; b++)
		if (id->buckets[b].gaps)
			table_add(t, &(struct idle_row){ device, length_name(b),
							 id->buckets[b].gaps, id->buckets[b].ns,
							 idle_cause_name(idle_sums_largest(
								 &id->buckets[b].sums)) });
}

/* The largest first. */
static void causes_add(const struct idling *id, int64_t idle_ns, const char *device,
		       struct table *t)
{
	struct idle_sums left = id->sums;
	char flags[ENERGY_FLAGS_MAX];

	for (;;) {
		enum idle_cause c = idle_sums_largest(&left);

		if (left.ns[c] == 0)
			return;
		table_add(t, &(struct idle_causes_row){ device, idle_cause_name(c),
							(int64_t)left.parts[c], left.ns[c],
							(double)left.ns[c] / (double)idle_ns,
							joules_value(&id->joules[c]),
							joules_flags(&id->joules[c], flags),
							joules_width(&id->joules[c]) });
		left.ns[c] = 0;
	}
}

static void gaps_add(const struct idling *id, struct table *t)
{
	const struct works *w = id->w;

	for (size_t i = 0; i < id->nr_longest; i++) {
		const struct long_gap *g = &id->longest[i];
		uint64_t launch = w->v.v[g->after].launch;

		table_add(t, &(struct idle_gaps_row){
				     model_str(w->m, w->devices.v[g->device].name),
				     g->start_ns - w->m->first_ns, g->dur_ns,
				     idle_cause_name(g->cause), work_name(w, g->before),
				     work_name(w, g->after),
				     launch == SPAN_NONE
					     ? ""
					     : model_str(w->m, w->m->spans.name[launch]) });
	}
}

static int64_t sums_total(const struct idle_sums *s)
{
	int64_t ns = 0;

	for (size_t i = 0; i < IDLE_CAUSES; i++)
		ns += s->ns[i];
	return ns;
}

/* What device_gaps should have cut up: the wall time without the union of the work. */
static int64_t idle_time(const struct works *w, uint32_t device, struct intervals *iv)
{
	const struct work_device *d = &w->devices.v[device];

	works_union(w, device, ~0u, d->first_ns, d->last_ns, iv);
	return d->last_ns - d->first_ns - intervals_length(iv);
}

static void table_keep(struct table_set *out, struct table *t)
{
	if (table_rows(t))
		table_set_add(out, t);
	else
		table_free(t);
}

static int idle_run(struct model *m, const struct analysis_opts *o, struct table_set *out,
		    struct err *err)
{
	const struct works *w = analysis_works(m, o);
	struct host_causes *h = host_causes_new(w);
	CLEANUP(intervals_release) struct intervals iv = INTERVALS_INIT;
	struct idling id = { .w = w, .we = analysis_work_energy(m, o) };
	struct table *by_length = table_make(&idle_form), *causes = table_make(&idle_causes_form);
	struct table *gaps = table_make(&idle_gaps_form), *lanes;
	size_t wrong = 0;

	(void)err;
	id.lanes = gap_lanes_new(m, w->devices.nr);
	for (uint32_t d = 0; d < w->devices.nr; d++) {
		const char *device = model_str(m, w->devices.v[d].name);
		int64_t idle_ns = idle_time(w, d, &iv);

		id.device = d;
		id.hint = id.near = 0;
		id.sums = (struct idle_sums){ .ns = { 0 } };
		for (size_t c = 0; c < IDLE_CAUSES; c++)
			id.joules[c] = JOULES_INIT;
		for (size_t b = 0; b < LENGTHS; b++)
			id.buckets[b] = (struct bucket){ .gaps = 0 };
		device_gaps(w, d, h, gap_take, &id);
		buckets_add(&id, device, by_length);
		causes_add(&id, idle_ns, device, causes);
		wrong += sums_total(&id.sums) != idle_ns;
	}
	gaps_add(&id, gaps);
	lanes = gap_lanes_write(id.lanes, w);
	gap_lanes_free(id.lanes);
	table_set_check(out, "idle: the causes add up to the idle time", wrong == 0,
			"%zu of %zu devices differ", wrong, w->devices.nr);
	table_keep(out, by_length);
	table_keep(out, causes);
	table_keep(out, gaps);
	table_keep(out, lanes);
	host_causes_free(h);
	return 0;
}

const struct analysis analysis_idle = {
	.name = "idle",
	.about = "gaps in which devices had nothing to do, and what they waited for",
	.nothing = "no device was idle between two pieces of work",
	.tables = { &idle_form, &idle_causes_form, &idle_gaps_form, &lane_idle_form },
	.run = idle_run,
	.needs_work = true,
};
