#include "analyses_private.h"
#include "ns.h"
#include "track_names.h"

#include <math.h>
#include <stdlib.h>

#include "profrig/base/sort.h"
#include "profrig/base/u64map.h"
#include "profrig/base/xalloc.h"

/* clang-format off */
#define BUSY(X) \
	X(STR, device) X(I64, spans) X(I64, sum_ns) X(I64, union_ns) X(I64, wall_ns) \
	X(F64, busy) X(I64, idle_ns) X(I64, max_concurrency)
/* clang-format on */
TABLE_FORM(busy, BUSY, "one row per device: how much of the time something ran on it");

struct busy {
	str_id device;
	uint64_t spans, max_concurrency;
	int64_t sum_ns, union_ns, first_ns, last_ns;
	size_t at, nr; /* its pieces of non-zero length in start[] and end[] */
};

struct work {
	VEC(struct busy) devices;
	uint32_t *device_of; /* by span, U64MAP_NONE: not work */
	int64_t *start, *end;
};

static void edges_collect(const struct model *m, struct work *w)
{
	CLEANUP(u64map_release) struct u64map ids = U64MAP_INIT;
	for (size_t i = 0; i < m->spans.nr; i++) {
		w->device_of[i] = U64MAP_NONE;
		if (!span_is_work(m, i))
			continue;
		str_id device = m->tracks.v[m->spans.track[i]].device;
		int64_t start = m->spans.start_ns[i], end = m->spans.end_ns[i];
		uint32_t *id = u64map_at(&ids, device);
		if (*id == U64MAP_NONE) {
			*id = (uint32_t)w->devices.nr;
			VEC_PUSH(&w->devices,
				 ((struct busy){
					 .device = device, .first_ns = start, .last_ns = end }));
		}
		struct busy *b = &w->devices.v[*id];
		w->device_of[i] = *id;
		b->spans++;
		b->nr += end > start;
		b->sum_ns = ns_add(b->sum_ns, span_ns(m, i));
		b->first_ns = start < b->first_ns ? start : b->first_ns;
		b->last_ns = end > b->last_ns ? end : b->last_ns;
	}
}

/* The times of each device side by side. */
static void edges_spread(const struct model *m, struct work *w)
{
	size_t sum = 0;
	for (size_t d = 0; d < w->devices.nr; d++) {
		w->devices.v[d].at = sum;
		sum += w->devices.v[d].nr;
		w->devices.v[d].nr = 0;
	}
	w->start = xreallocarray(NULL, sum + 1, sizeof(*w->start));
	w->end = xreallocarray(NULL, sum + 1, sizeof(*w->end));
	for (size_t i = 0; i < m->spans.nr; i++) {
		if (w->device_of[i] == U64MAP_NONE || m->spans.end_ns[i] <= m->spans.start_ns[i])
			continue;
		struct busy *b = &w->devices.v[w->device_of[i]];
		w->start[b->at + b->nr] = m->spans.start_ns[i];
		w->end[b->at + b->nr++] = m->spans.end_ns[i];
	}
}

/*
 * What runs at a moment depends only on how many pieces have begun and how many have ended, so the
 * starts and the ends may be sorted apart. Ends go first at equal times: pieces that touch do not
 * overlap.
 */
static void busy_sweep(struct busy *b, int64_t *start, int64_t *end)
{
	sort_i64(start, b->nr);
	sort_i64(end, b->nr);
	uint64_t running = 0;
	int64_t since = 0;
	for (size_t i = 0, j = 0; j < b->nr;) {
		if (i < b->nr && start[i] < end[j]) {
			if (running++ == 0)
				since = start[i];
			if (running > b->max_concurrency)
				b->max_concurrency = running;
			i++;
		} else {
			if (--running == 0)
				b->union_ns = ns_add(b->union_ns, end[j] - since);
			j++;
		}
	}
}

static int cmp_device(const void *pa, const void *pb, void *ctx)
{
	const struct busy *a = pa, *b = pb;
	return natural_cmp(model_str(ctx, a->device), model_str(ctx, b->device));
}

static void add_table(struct model *m, struct work *w, struct table_set *out)
{
	struct table *t = table_make(&busy_form);

	qsort_r(w->devices.v, w->devices.nr, sizeof(*w->devices.v), cmp_device, m);
	for (size_t d = 0; d < w->devices.nr; d++) {
		const struct busy *b = &w->devices.v[d];
		int64_t wall = b->last_ns - b->first_ns;

		table_add(t,
			  &(struct busy_row){ model_str(m, b->device), (int64_t)b->spans, b->sum_ns,
					      b->union_ns, wall,
					      wall > 0 ? (double)b->union_ns / (double)wall : NAN,
					      wall - b->union_ns, (int64_t)b->max_concurrency });
	}
	table_set_add(out, t);
}

static int busy_run(struct model *m, const struct analysis_opts *o, struct table_set *out,
		    struct err *err)
{
	(void)o;
	(void)err;
	struct work w = { VEC_INIT, NULL, NULL, NULL };
	w.device_of = xreallocarray(NULL, m->spans.nr + 1, sizeof(*w.device_of));
	edges_collect(m, &w);
	if (w.devices.nr) {
		edges_spread(m, &w);
		for (size_t d = 0; d < w.devices.nr; d++) {
			struct busy *b = &w.devices.v[d];
			busy_sweep(b, w.start + b->at, w.end + b->at);
		}
		add_table(m, &w, out);
	}
	VEC_RELEASE(&w.devices);
	free(w.device_of);
	free(w.start);
	free(w.end);
	return 0;
}

static int busy_run_profile(const struct profile *p, const struct analysis_opts *o,
			    struct table_set *out, struct err *err)
{
	struct work w = { VEC_INIT, NULL, NULL, NULL };

	(void)o;
	(void)err;
	for (size_t i = 0; i < p->devices.nr; i++) {
		const struct profile_device *d = &p->devices.v[i];

		if (d->pieces == 0)
			continue;
		VEC_PUSH(&w.devices, ((struct busy){ .device = d->device,
						     .spans = d->pieces,
						     .max_concurrency = d->max_concurrency,
						     .sum_ns = d->sum_ns,
						     .union_ns = d->union_ns,
						     .first_ns = d->first_ns,
						     .last_ns = d->last_ns }));
	}
	if (w.devices.nr)
		add_table(p->m, &w, out);
	VEC_RELEASE(&w.devices);
	return 0;
}

const struct analysis analysis_busy = {
	.name = "busy",
	.about = "busy and idle time of each device",
	.tables = { &busy_form },
	.run = busy_run,
	.run_profile = busy_run_profile,
};
