/*
 * Ranges that are started on one thread and stopped on another, or in any order: no thread executes
 * them, so they are annotations beside the threads of their process.
 */
#include "db_scan.h"

#include <string.h>

void db_range_add(struct db_scan *sc, track_id process, const struct span_def *d)
{
	VEC_PUSH(&sc->ranges, (struct db_range){ .process = process,
						 .name = d->name,
						 .category = d->category,
						 .args = d->args,
						 .start_ns = d->start_ns,
						 .end_ns = d->end_ns,
						 .order = (uint32_t)sc->ranges.nr });
}

static int by_place(const void *va, const void *vb)
{
	const struct db_range *a = va, *b = vb;

	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	if (a->category != b->category)
		return a->category < b->category ? -1 : 1;
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

/* A lane and when it is free again; the earliest lies on top of a binary heap. */
struct lane {
	int64_t free_ns;
	track_id track;
	uint32_t number;
};

static bool before(const struct lane *a, const struct lane *b)
{
	return a->free_ns != b->free_ns ? a->free_ns < b->free_ns : a->number < b->number;
}

static void swap(struct lane *a, struct lane *b)
{
	struct lane was = *a;

	*a = *b;
	*b = was;
}

static void heap_down(struct lane *v, size_t nr)
{
	for (size_t i = 0, best;; i = best) {
		best = i;
		for (size_t k = 2 * i + 1; k <= 2 * i + 2 && k < nr; k++)
			if (before(&v[k], &v[best]))
				best = k;
		if (best == i)
			return;
		swap(&v[i], &v[best]);
	}
}

static void heap_up(struct lane *v, size_t i)
{
	for (; i > 0 && before(&v[i], &v[(i - 1) / 2]); i = (i - 1) / 2)
		swap(&v[i], &v[(i - 1) / 2]);
}

static int64_t free_after(const struct db_range *r)
{
	return r->end_ns > r->start_ns ? r->end_ns : r->start_ns;
}

static track_id lane_track(struct db_scan *sc, const struct db_range *r, uint32_t number)
{
	struct track_def d = TRACK_DEF_INIT;
	char name[48];

	if (number == 0)
		snprintf(name, sizeof(name), "ranges");
	else
		snprintf(name, sizeof(name), "ranges #%u", number + 1);
	d.kind = TRACK_THREAD;
	d.parent = r->process;
	d.name = name;
	d.key = db_hash(r->process, r->category, (uint64_t)number << 8 | 'L');
	return db_scan_track(sc, &d);
}

static void push(struct db_scan *sc, const struct db_range *r, track_id lane)
{
	struct span_def d = { .track = lane,
			      .start_ns = r->start_ns,
			      .end_ns = r->end_ns,
			      .name = r->name,
			      .category = r->category,
			      .args = r->args,
			      .kind = SPAN_ANNOTATION };

	sc->sink->ops->span(sc->sink, &d);
}

void db_ranges_push(struct db_scan *sc)
{
	VEC(struct lane) lanes = VEC_INIT;

	if (sc->ranges.nr > 1)
		qsort(sc->ranges.v, sc->ranges.nr, sizeof(*sc->ranges.v), by_place);
	for (size_t i = 0; i < sc->ranges.nr; i++) {
		const struct db_range *r = &sc->ranges.v[i], *last = i > 0 ? r - 1 : r;
		uint32_t number = (uint32_t)lanes.nr;

		if (last->process != r->process || last->category != r->category)
			lanes.nr = number = 0;
		if (lanes.nr > 0 && lanes.v[0].free_ns <= r->start_ns) {
			push(sc, r, lanes.v[0].track);
			lanes.v[0].free_ns = free_after(r);
			heap_down(lanes.v, lanes.nr);
			continue;
		}
		VEC_PUSH(&lanes, (struct lane){ free_after(r), lane_track(sc, r, number), number });
		push(sc, r, lanes.v[lanes.nr - 1].track);
		heap_up(lanes.v, lanes.nr - 1);
	}
	VEC_RELEASE(&lanes);
	VEC_CLEAR(&sc->ranges);
}
