/*
 * How much launched work waits for a device. The depth of the queue rises by 1 when a call that
 * launches work starts and falls by 1 when the work starts; of equal times the falls come first.
 * Little's law: the area below the depth is the sum of all latencies.
 */
#include "analyses_private.h"

#include <inttypes.h>
#include <math.h>

#include "profrig/base/sort.h"

/* clang-format off */
#define QUEUE(X) \
	X(STR, device) X(I64, max) X(F64, mean) X(I64, area_ns) X(I64, full_ns)
/* clang-format on */
TABLE_FORM(queue, QUEUE, "one row per device: how many pieces of work were launched and waited");

/* CUDA lets a call wait when about 1024 launches of a stream are pending. */
enum { QUEUE_FULL = 1000 };

struct queue_events {
	int64_t *launches, *starts;
	size_t nr;
	__int128 latency;
};

static void events_take(const struct works *w, uint32_t device, struct queue_events *q)
{
	const struct work_device *d = &w->devices.v[device];

	q->nr = 0;
	q->latency = 0;
	for (size_t i = d->first; i < d->first + d->nr; i++) {
		const struct work *k = &w->v.v[i];

		if (k->launch == SPAN_NONE)
			continue;
		q->launches[q->nr] = w->m->spans.start_ns[k->launch];
		q->starts[q->nr] = k->start_ns;
		q->latency += k->start_ns - q->launches[q->nr++];
	}
	sort_i64(q->launches, q->nr);
	sort_i64(q->starts, q->nr);
}

struct depth {
	int64_t from_ns, at_ns;
	int64_t now, max, full_ns;
	__int128 area;
};

static void depth_until(struct depth *de, int64_t at_ns)
{
	de->area += (__int128)de->now * (at_ns - de->at_ns);
	if (de->now >= QUEUE_FULL)
		de->full_ns += at_ns - de->at_ns;
	de->at_ns = at_ns;
}

static struct depth depth_follow(const struct queue_events *q)
{
	int64_t from = q->launches[0] < q->starts[0] ? q->launches[0] : q->starts[0];
	struct depth de = { .from_ns = from, .at_ns = from };

	for (size_t l = 0, s = 0; l < q->nr || s < q->nr;) {
		bool falls = s < q->nr && (l == q->nr || q->starts[s] <= q->launches[l]);

		depth_until(&de, falls ? q->starts[s++] : q->launches[l++]);
		de.now += falls ? -1 : 1;
		if (de.now > de.max)
			de.max = de.now;
	}
	return de;
}

static int64_t clamped(__int128 v)
{
	return v > INT64_MAX ? INT64_MAX : v < INT64_MIN ? INT64_MIN : (int64_t)v;
}

static int queue_run(struct model *m, const struct analysis_opts *o, struct table_set *out,
		     struct err *err)
{
	const struct works *w = analysis_works(m, o);
	CLEANUP(xfreep) int64_t *launches = xreallocarray(NULL, w->v.nr, sizeof(*launches));
	CLEANUP(xfreep) int64_t *starts = xreallocarray(NULL, w->v.nr, sizeof(*starts));
	struct queue_events q = { launches, starts, 0, 0 };
	struct table *t;
	size_t wrong = 0;

	(void)err;
	if (w->linked == 0)
		return table_set_skip(out, "queue", SAY_NO_LAUNCHES);
	t = table_make(&queue_form);
	for (uint32_t d = 0; d < w->devices.nr; d++) {
		struct depth de;
		int64_t ns;

		events_take(w, d, &q);
		if (q.nr == 0)
			continue;
		de = depth_follow(&q);
		ns = de.at_ns - de.from_ns;
		wrong += de.area != q.latency || de.now != 0;
		table_add(t, &(struct queue_row){ model_str(m, w->devices.v[d].name), de.max,
						  ns > 0 ? (double)de.area / (double)ns : NAN,
						  clamped(de.area), de.full_ns });
	}
	table_set_check(out, "queue: the area below the depth is the sum of the latencies",
			wrong == 0, "%zu of %zu devices differ", wrong, table_rows(t));
	table_set_add(out, t);
	return 0;
}

const struct analysis analysis_queue = {
	.name = "queue",
	.about = "depth of each device's queue of launched work",
	.tables = { &queue_form },
	.run = queue_run,
	.needs_work = true,
};
